//! Which of the documents that are kept has the writer not got yet?
//!
//! An index that is removed after the run serves only to find what no longer fits in memory. So its documents
//! wait here until they have to make room, and mostly nothing is ever written.

use std::collections::HashSet;
use std::sync::Arc;

use crate::error::Result;
use crate::hash::{BuildKeyHasher, Digest};
use crate::index::{Document, Signed, Writer};

/// Documents that are kept, in their order, without what nobody reads of them: meta objects, records, and texts
/// that the index does not store.
#[derive(Debug, Default)]
pub struct Unwritten {
    documents: Vec<Signed>,
    /// Digests of their ids.
    ids: HashSet<Digest, BuildKeyHasher>,
    bytes: usize,
}

impl Unwritten {
    /// Takes a document whose id no other has; the text only if it is to be stored.
    pub fn push(&mut self, mut signed: Signed, stores_text: bool) {
        let Document { id, text, meta: _, record: _ } = signed.document;
        signed.document = Document::new(id, if stores_text { text } else { String::new() });
        self.ids.insert(Digest::of(signed.document.id.as_bytes()));
        self.bytes += signed.document.text.len() + 200;
        // One that is shared is counted by whoever has it too.
        if Arc::strong_count(&signed.signature) == 1 {
            self.bytes += size_of_val(&signed.signature[..]);
        }
        self.documents.push(signed);
    }

    /// Returns the approximate memory that they take, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns their number.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns whether one of them has this id.
    pub fn has(&self, id: &str) -> bool {
        !self.ids.is_empty() && self.ids.contains(&Digest::of(id.as_bytes()))
    }

    /// Hands them over.
    ///
    /// # Errors
    /// When the writer cannot write one.
    pub fn write(&mut self, writer: &mut Writer) -> Result<()> {
        for signed in std::mem::take(self).documents {
            writer.add_signed(signed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reads_is_not_held() {
        let meta = serde_json::json!({ "a": 1 });
        let meta = meta.as_object().expect("it is one").clone();
        let mut document = Document::new("a", "some text").with_meta(meta);
        document.record = Some("the whole line".into());
        for stores_text in [false, true] {
            let mut unwritten = Unwritten::default();
            let digest = Digest::of(document.text.as_bytes());
            unwritten.push(Signed::of(document.clone(), digest, 2, Vec::new()), stores_text);
            let text = if stores_text { "some text" } else { "" };
            assert_eq!(unwritten.documents[0].document, Document::new("a", text));
            assert!(unwritten.has("a") && !unwritten.has("b"));
        }
    }
}
