//! Fuzz targets: cento reads untrusted bytes.
//!
//! Each target is a function that takes any bytes and panics if they break a promise of cento.
//! libFuzzer calls them with generated inputs (`targets/`), and an ordinary test with every input
//! that is kept (`tests/fuzz_replay.rs` of cento).

mod code;
mod http;
mod index;
mod search;
mod sig;
mod source;
mod spec;
mod text;

pub use code::code;
pub use http::http;
pub use index::{frequencies, index};
pub use search::{filter, signature};
pub use sig::{sig, sig_forged};
pub use source::{archive, forms, jsonl};
pub use spec::spec;
pub use text::{charset, markup, stems, tokens};

/// A target, which panics if an input breaks a promise.
pub type Target = fn(&[u8]);

/// Every target, by its name.
pub const TARGETS: [(&str, Target); 16] = [
    ("archive", archive),
    ("charset", charset),
    ("code", code),
    ("filter", filter),
    ("forms", forms),
    ("frequencies", frequencies),
    ("http", http),
    ("index", index),
    ("jsonl", jsonl),
    ("markup", markup),
    ("sig", sig),
    ("sig_forged", sig_forged),
    ("signature", signature),
    ("spec", spec),
    ("stems", stems),
    ("tokens", tokens),
];

/// Inputs of a target that are made by the present cento, by name; not all targets have such.
pub fn made(target: &str) -> Vec<(String, Vec<u8>)> {
    match target {
        "sig" | "sig_forged" => sig::segments(),
        "index" => index::parts(),
        "frequencies" => index::tables(),
        _ => Vec::new(),
    }
}

/// The first byte, which chooses among what a target can do, and the rest.
fn choice(data: &[u8]) -> (usize, &[u8]) {
    data.split_first().map_or((0, data), |(&first, rest)| (usize::from(first), rest))
}
