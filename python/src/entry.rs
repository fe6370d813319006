//! Documents from Python, each numbered by its place in the input.

use cento::{Document, Error, Result};

/// Approximate bytes of text of a batch.
pub const BATCH_BYTES: usize = 256 << 10;

/// The number of documents of a batch.
pub const BATCH_DOCUMENTS: usize = 512;

/// An item or a row that is not a document.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The number of the item or row, from 0.
    pub number: u64,
    /// The reason, as a clause.
    pub reason: String,
}

impl Refusal {
    /// Makes the refusal of an item or row. Returns an error if the problem does not concern this
    /// item alone.
    pub fn of(number: u64, error: Error) -> Result<Refusal> {
        let reason = match error {
            Error::Cancelled => return Err(Error::Cancelled),
            Error::Input { what, .. } => what,
            Error::Internal { what, .. } => format!("a defect: {what}"),
            error => error.to_string(),
        };
        Ok(Refusal { number, reason })
    }
}

/// A document with its number, or the reason why it was refused.
pub struct Entry {
    /// The number of the item or row, from 0.
    pub number: u64,
    /// The document, or the reason for refusing the item.
    pub document: std::result::Result<Document, Refusal>,
    /// Whether its id is its number, which the caller did not choose.
    pub is_numbered: bool,
}
