//! Texts, and documents as lines of JSON.

use cento::hash::mix64;
use serde_json::{Value, json};

/// `count` words of a vocabulary of 2,000, the same for the same seed.
pub fn words(seed: u64, count: usize) -> String {
    let word = |i: u64| format!("w{}", mix64(mix64(seed) ^ i) % 2000);
    (0..count as u64).map(word).collect::<Vec<_>>().join(" ")
}

/// A document as a line of JSON.
pub fn line(id: &str, text: &str, meta: Value) -> String {
    format!("{}\n", json!({"id": id, "text": text, "meta": meta}))
}

/// Three documents, as lines of JSON: `b` has a passage of `a`, `c` shares nothing.
pub fn corpus() -> String {
    let a = words(1, 200);
    let b = format!("{} {}", words(2, 60), words(1, 80));
    [
        line("a", &a, json!({"lang": "en", "year": 2019})),
        line("b", &b, json!({"lang": "de", "year": 2021})),
        line("c", &words(3, 100), json!({})),
    ]
    .concat()
}
