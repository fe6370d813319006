//! Writes the golden segment of the present format version: `cargo run --example golden`.
//!
//! Only after a change of the format and of its version; a released golden file is never changed.

#[path = "../tests/it/common/example.rs"]
mod example;

fn main() -> std::io::Result<()> {
    let path = format!("tests/golden/v{}.sig", cento::segment::FORMAT_VERSION);
    std::fs::write(&path, example::golden())?;
    println!("wrote {path}");
    for line in example::small().chunks(16) {
        println!("{}", line.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
