//! Writes `openapi.json`, the document of the API that the service answers with:
//! `cargo run -p cento-serve --example openapi`.

fn main() -> std::io::Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    std::fs::write(path, cento_serve::derive_openapi())
}
