//! Numbers of the documents of an index.

use cento::index::{DocAddress, Snapshot};

/// The numbers of the documents of a snapshot, deleted ones too, in storage order.
#[derive(Debug, Clone)]
pub struct Numbering {
    /// The number of the first document of each segment, and of all documents.
    starts: Vec<u64>,
}

impl Numbering {
    /// Creates the numbering of the documents of `snapshot`.
    pub fn new(snapshot: &Snapshot) -> Numbering {
        let mut starts = vec![0];
        let mut sum = 0;
        for segment in snapshot.segments() {
            sum += u64::from(segment.signatures.header().documents);
            starts.push(sum);
        }
        Numbering { starts }
    }

    /// Returns the number after the last.
    pub fn end(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    /// Returns the document with this number, which is below [`end`](Self::end).
    pub fn address(&self, number: u64) -> DocAddress {
        let segment = self.starts.partition_point(|&start| start <= number) - 1;
        DocAddress { segment: segment as u32, doc: (number - self.starts[segment]) as u32 }
    }

    /// Returns the number of a document.
    pub fn number(&self, address: DocAddress) -> u64 {
        self.starts[address.segment as usize] + u64::from(address.doc)
    }
}
