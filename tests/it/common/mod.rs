//! Shared parts of tests: documents, and ways to look at an index.

#![allow(dead_code, reason = "every test uses a part of it")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

pub mod example;
pub mod fault;
pub mod naive;
pub mod sim;
pub mod stream;
pub mod udhr;

use std::collections::BTreeMap;

use cento::Stop;
use cento::hash::mix64;
use cento::index::{Config, Document, Index, Snapshot, Writer};

/// The expected content of an index: the text of each document by its id.
pub type Model = BTreeMap<String, String>;

/// The default configuration.
pub fn config() -> Config {
    Config::new("winnow(k=5,w=10)", "words", true).unwrap()
}

/// A file as section 3 leaves it: without tantivy's footer.
pub fn without_footer(bytes: &[u8]) -> &[u8] {
    let end = bytes.len();
    assert_eq!(naive::uint(&bytes[end - 4..]), 1337);
    let footer = naive::uint(&bytes[end - 8..end - 4]) as usize;
    &bytes[..end - 8 - footer]
}

/// `count` words of a vocabulary of 2,000, the same for the same seed.
pub fn words(seed: u64, count: usize) -> String {
    let word = |i: u64| format!("w{}", mix64(mix64(seed) ^ i) % 2000);
    (0..count as u64).map(word).collect::<Vec<_>>().join(" ")
}

/// A document without meta.
pub fn document(id: &str, text: &str) -> Document {
    Document::new(id, text)
}

/// Adds a document.
pub fn add(writer: &mut Writer, id: &str, text: &str) -> cento::Result<()> {
    writer.add(document(id, text)).map(|_| ())
}

/// Asserts that the index holds exactly the documents of the model, and is sound.
pub fn assert_holds(index: &Index, model: &Model) {
    holds(index, model).unwrap_or_else(|what| panic!("{what}"));
}

/// Checks that the index holds exactly the documents of the model, and is sound.
pub fn holds(index: &Index, model: &Model) -> Result<(), String> {
    let snapshot = index.snapshot().map_err(|e| e.to_string())?;
    if &contents(&snapshot) != model {
        return Err("it holds other documents".into());
    }
    for (id, text) in model {
        let address = snapshot.find(id).map_err(|e| e.to_string())?;
        let address = address.ok_or_else(|| format!("{id} is not found"))?;
        let (_, signature) = snapshot.config().sign(text).unwrap();
        if snapshot.signature(address, Stop::NEVER).map_err(|e| e.to_string())? != signature {
            return Err(format!("{id} has another signature"));
        }
    }
    match index.check().map_err(|e| e.to_string())?.problems {
        problems if problems.is_empty() => Ok(()),
        problems => Err(format!("{problems:?}")),
    }
}

/// The text of each live document by its id.
pub fn contents(snapshot: &Snapshot) -> Model {
    let mut contents = Model::new();
    for address in snapshot.live() {
        let stored = snapshot.document(address).unwrap();
        assert!(contents.insert(stored.id, stored.text.unwrap()).is_none(), "an id twice");
    }
    contents
}
