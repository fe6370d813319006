//! Documents in the order of their ids.
//!
//! The id dictionary of every segment is sorted, so merging the dictionaries in one pass visits
//! every id once. The order depends neither on commits nor on segment merges.

use std::io;

use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermMerger;
use tantivy::{DocSet, TERMINATED, Term};

use super::{DocAddress, Snapshot};
use crate::error::Result;

impl Snapshot {
    /// Calls `each` for every id above `after` (or for every id, without `after`), in byte order,
    /// with the live documents of this id, until `each` returns false. Several documents can share
    /// an id only in a snapshot of several indexes.
    ///
    /// # Errors
    /// When a dictionary cannot be read, and the errors of `each`.
    pub(crate) fn for_each_id(
        &self,
        after: Option<&str>,
        each: &mut dyn FnMut(&[DocAddress]) -> Result<bool>,
    ) -> Result<()> {
        let field = self.index().fields().id;
        let failed = |error| self.index().error("read the ids of", error);
        let segments = 0..self.segments().len() as u32;
        let dictionaries = segments.map(|segment| self.reader(segment).1.inverted_index(field));
        let dictionaries = dictionaries.collect::<tantivy::Result<Vec<_>>>().map_err(failed)?;
        let streams = dictionaries.iter().map(|dictionary| {
            let range = dictionary.terms().range();
            match after {
                Some(after) => range.gt(after.as_bytes()).into_stream(),
                None => range.into_stream(),
            }
        });
        let streams = streams.collect::<io::Result<_>>().map_err(|e| failed(e.into()))?;
        let mut merged = TermMerger::new(streams);
        let mut documents = Vec::new();
        while merged.advance() {
            let id = String::from_utf8_lossy(merged.key());
            let term = Term::from_field_text(field, &id);
            documents.clear();
            for (segment, _) in merged.matching_segments() {
                let postings = dictionaries[segment].read_postings(&term, IndexRecordOption::Basic);
                let Some(mut found) = postings.map_err(|e| failed(e.into()))? else { continue };
                while found.doc() != TERMINATED {
                    if self.segments()[segment].is_alive(found.doc()) {
                        documents.push(DocAddress { segment: segment as u32, doc: found.doc() });
                    }
                    found.advance();
                }
            }
            if !documents.is_empty() && !each(&documents)? {
                break;
            }
        }
        Ok(())
    }
}
