//! Which of the documents that are kept has the writer not got yet?
//!
//! An index that is removed after the run serves only to find what no longer fits in memory. So its documents
//! wait here until they have to make room, and mostly nothing is ever written.

use std::collections::HashSet;
use std::sync::Arc;

use crate::error::Result;
use crate::hash::{BuildKeyHasher, Digest};
use crate::index::{Signed, Writer};

/// Documents that are kept, in their order, without the texts that the index does not store.
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
        if !stores_text {
            signed.document.text = String::new();
        }
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
