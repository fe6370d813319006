use cento::index::{DocAddress, Snapshot};

/// Numbers the documents of a snapshot from 0 in stored order, including deleted documents.
#[derive(Debug, Clone)]
pub struct Numbering {
    /// The number of the first document of each segment, then the number of all documents.
    starts: Vec<u64>,
}

impl Numbering {
    pub fn new(snapshot: &Snapshot) -> Numbering {
        let mut starts = vec![0];
        let mut sum = 0;
        for segment in snapshot.segments() {
            sum += u64::from(segment.signatures.header().documents);
            starts.push(sum);
        }
        Numbering { starts }
    }

    pub fn end(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    /// Returns the address of the document with this number, which is below [`end`](Self::end).
    pub fn address(&self, number: u64) -> DocAddress {
        let segment = self.starts.partition_point(|&start| start <= number) - 1;
        DocAddress { segment: segment as u32, doc: (number - self.starts[segment]) as u32 }
    }

    pub fn number(&self, address: DocAddress) -> u64 {
        self.starts[address.segment as usize] + u64::from(address.doc)
    }
}
