//! Prints the document of the API, as `docs/openapi.json` has it:
//! `cargo run -p cento-serve --example openapi > docs/openapi.json`.

fn main() {
    print!("{}", cento_serve::openapi());
}
