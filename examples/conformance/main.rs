//! You changed the `.sig` format, or add a file to its conformance kit: this writes the kit anew.
//!
//! `cargo run --package cento --example conformance`

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
