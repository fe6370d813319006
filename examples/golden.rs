//! You changed the format and its version: this writes the golden segment of the new version.
//!
//! `cargo run --example golden`. Never change a released golden file, because it shows that old
//! files stay readable.

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
