//! Kept documents of a temporary index that have not been passed to the writer.
//!
//! A temporary index is only needed to find documents that no longer fit into memory. So documents
//! wait here until the memory is needed, and usually nothing is written at all.

use std::collections::HashSet;
use std::sync::Arc;

use cento::index::{DocAddress, Document, SignedDocument, Snapshot, Writer};
use cento_api::error::Result;
use cento_text::hash::{BuildKeyHasher, Digest};
use serde_json::{Map, Value};

/// Kept documents in order, without the parts that are never read again: meta objects, records, and
/// texts that the index does not store.
#[derive(Debug, Default)]
pub struct UnwrittenRecords {
    documents: Vec<SignedDocument>,
    /// The place of each text in the spool, if spooled.
    places: Vec<Option<u64>>,
    ids: HashSet<Digest, BuildKeyHasher>,
    bytes: usize,
}

/// The member of a meta object that holds the place of the spooled text.
const PLACE: &str = "spooled_at";

/// Returns the place of the spooled text of a document in a temporary index.
///
/// # Errors
/// When its meta object cannot be read.
pub fn place_of(snapshot: &Snapshot, address: DocAddress) -> Result<Option<u64>> {
    Ok(snapshot.meta(address)?.get(PLACE).and_then(Value::as_u64))
}

impl UnwrittenRecords {
    /// Adds a document with a new id. The text is dropped unless `stores_text`, and the meta object
    /// becomes `group`. `place` is the place of the spooled text, if any.
    pub fn push(
        &mut self,
        mut signed: SignedDocument,
        stores_text: bool,
        place: Option<u64>,
        group: Map<String, Value>,
    ) {
        let Document { id, text, parts: _, meta: _, record: _, id_source: _ } = signed.document;
        signed.document = Document::new(id, if stores_text { text } else { String::new() });
        self.bytes += if group.is_empty() { 0 } else { 200 };
        signed.document.meta = group;
        self.ids.insert(Digest::of(signed.document.id.as_bytes()));
        self.bytes += signed.document.text.len() + 200;
        // A shared signature is counted by the recent document that shares it.
        if Arc::strong_count(&signed.signature) == 1 {
            self.bytes += size_of_val(&signed.signature[..]);
        }
        self.documents.push(signed);
        self.places.push(place);
    }

    /// Returns the approximate memory of the documents, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Tells whether a waiting document has this id.
    pub fn has(&self, id: &str) -> bool {
        !self.ids.is_empty() && self.ids.contains(&Digest::of(id.as_bytes()))
    }

    /// Passes all documents to the writer.
    ///
    /// # Errors
    /// When the writer cannot add a document.
    pub fn write(&mut self, writer: &mut Writer) -> Result<()> {
        let UnwrittenRecords { documents, places, .. } = std::mem::take(self);
        for (mut signed, place) in documents.into_iter().zip(places) {
            signed.document.meta.extend(place.map(|place| (PLACE.into(), place.into())));
            writer.add_signed(signed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_without_a_reader_is_not_held() {
        let meta = serde_json::json!({ "a": 1 });
        let meta = meta.as_object().expect("it is one").clone();
        let mut document = Document::new("a", "some text").with_meta(meta);
        document.record = Some("the whole line".into());
        for stores_text in [false, true] {
            let mut unwritten = UnwrittenRecords::default();
            let digest = Digest::of(document.text.as_bytes());
            unwritten.push(
                SignedDocument::of(document.clone(), digest, 2, Vec::new()),
                stores_text,
                None,
                Map::new(),
            );
            let text = if stores_text { "some text" } else { "" };
            assert_eq!(unwritten.documents[0].document, Document::new("a", text));
            assert!(unwritten.has("a") && !unwritten.has("b"));
        }
    }
}
