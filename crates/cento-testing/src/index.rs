//! Indexes, and their expected content.

use std::collections::BTreeMap;
use std::path::Path;

use cento::Stop;
use cento::index::{Config, Document, Index, Snapshot, Writer, WriterOptions};
use serde_json::Value;

use crate::naive;

/// The expected content of an index: texts of documents by id.
pub type Model = BTreeMap<String, String>;

/// Returns the configuration of essays: `winnow(k=5,w=10)` over words, with texts.
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

/// A document without meta.
pub fn document(id: &str, text: &str) -> Document {
    Document::new(id, text)
}

/// Adds a document without metadata or parts.
pub fn add(writer: &mut Writer, id: &str, text: &str) -> cento::Result<()> {
    writer.add(document(id, text)).map(|_| ())
}

/// Adds documents, written as lines of JSON, to the index at `path`, which is made with the default
/// configuration if it does not exist.
pub fn fill(path: &Path, lines: &str) {
    let index = match Index::exists(path) {
        true => Index::open(path).unwrap(),
        false => Index::create(path, config()).unwrap(),
    };
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| line[name].as_str().unwrap();
        let meta = line["meta"].as_object().cloned().unwrap_or_default();
        writer.add(Document::new(text("id"), text("text")).with_meta(meta)).unwrap();
    }
    writer.finish().unwrap();
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

/// The texts of live documents by id.
pub fn contents(snapshot: &Snapshot) -> Model {
    let mut contents = Model::new();
    for address in snapshot.live() {
        let stored = snapshot.document(address).unwrap();
        assert!(contents.insert(stored.id, stored.text.unwrap()).is_none(), "an id twice");
    }
    contents
}
