//! Which documents are there?

use super::Searcher;
use super::filter::Filter;
use crate::error::Result;
use crate::index::DocAddress;
use crate::stop::Stop;

/// The number of documents that are compared with a filter at a time.
const BATCH_DOCUMENTS: usize = 4096;

impl Searcher {
    /// Calls `each` with the live documents that pass `filter`, or all, in the order in which they are stored: by
    /// segment, and within it as they were added. Takes little memory.
    ///
    /// # Errors
    /// When the filter is none, or the index cannot be read; those of `each`, which end it;
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn for_each_document(
        &self,
        filter: Option<&str>,
        stop: Stop<'_>,
        each: &mut dyn FnMut(DocAddress) -> Result<()>,
    ) -> Result<()> {
        let snapshot = self.snapshot();
        let filter = filter.map(|text| Filter::new(snapshot, text)).transpose()?;
        for (segment, view) in (0u32..).zip(snapshot.segments()) {
            let mut live = view.live();
            loop {
                let mut docs: Vec<u32> = live.by_ref().take(BATCH_DOCUMENTS).collect();
                if docs.is_empty() {
                    break;
                }
                stop.check()?;
                if let Some(filter) = &filter {
                    filter.retain(segment as usize, &mut docs, stop)?;
                }
                for doc in docs {
                    each(DocAddress { segment, doc })?;
                }
            }
        }
        Ok(())
    }
}
