//! Writes the conformance kit of the `.sig` format: `cargo run --package cento --example
//! conformance`.
//!
//! Only after a change of the format, or to add a file to the kit.

mod kit;

use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = Path::new("conformance");
    for dir in ["valid", "damaged"] {
        match fs::remove_dir_all(root.join(dir)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir_all(root.join(dir))?,
        }
    }
    let files = kit::Kit::new().files();
    for (name, bytes) in &files {
        fs::write(root.join(name), bytes)?;
    }
    println!("wrote {} files", files.len());
    Ok(())
}
