//! Removes the documents that match a filter.

use super::searcher::Searcher;
use crate::error::Result;
use crate::index::Writer;
use crate::runtime::Stop;

impl Searcher {
    /// Counts the live documents that [`Writer::remove_matching`] would remove.
    ///
    /// # Errors
    /// When the filter is invalid, or the index cannot be read.
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn count_matching(&self, filter: &str, stop: &Stop) -> Result<u64> {
        let mut count = 0;
        self.for_each_document(Some(filter), stop, &mut |_| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }
}

impl Writer {
    /// Removes the documents that match `filter`, a query such as `meta.lang:de`. Returns their
    /// number. Earlier changes are committed first, because a filter only sees committed documents.
    ///
    /// ```
    /// use cento::{Config, Document, Index, Stop, WriterOptions};
    /// use serde_json::{Value, json};
    ///
    /// let Value::Object(meta) = json!({"year": 2021}) else { unreachable!() };
    /// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// let mut writer = index.writer(WriterOptions::default())?;
    /// writer.add(Document::new("old", "an old text").with_meta(meta))?;
    /// writer.add(Document::new("new", "a new text"))?;
    /// assert_eq!(writer.remove_matching("meta.year:[* TO 2023]", Stop::NEVER)?, 1);
    /// writer.finish()?;
    /// assert_eq!(index.snapshot()?.documents(), 1);
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the filter is invalid, or the index cannot be read or written.
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`. In either case, the next
    /// commit removes some of the documents. To keep all of them, drop the writer instead of
    /// committing.
    pub fn remove_matching(&mut self, filter: &str, stop: &Stop) -> Result<u64> {
        self.commit()?;
        let searcher = Searcher::new(self.committed()?.clone());
        let mut removed = 0;
        searcher.for_each_document(Some(filter), stop, &mut |address| {
            let id = searcher.snapshot().id(address)?;
            removed += u64::from(self.remove(&id)?);
            Ok(())
        })?;
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::index::{Config, Document, Index, WriterOptions};
    use serde_json::json;

    fn index_of_years() -> Index {
        let index = Index::in_memory(Config::new("kgram(k=2)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for year in 2020..2030 {
            let meta = json!({"year": year}).as_object().unwrap().clone();
            writer.add(Document::new(year.to_string(), "some words").with_meta(meta)).unwrap();
        }
        writer.finish().unwrap();
        index
    }

    #[test]
    fn a_filter_removes_what_it_lists_and_what_was_added_a_moment_ago() {
        let index = index_of_years();
        let filter = "meta.year:[* TO 2023]";
        let searcher = Searcher::new(index.snapshot().unwrap());
        assert_eq!(searcher.count_matching(filter, Stop::NEVER).unwrap(), 4);
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        let meta = json!({"year": 1999}).as_object().unwrap().clone();
        writer.add(Document::new("a", "some words").with_meta(meta)).unwrap();
        assert_eq!(writer.remove_matching(filter, Stop::NEVER).unwrap(), 5);
        assert_eq!(writer.remove_matching(filter, Stop::NEVER).unwrap(), 0);
        writer.finish().unwrap();
        assert_eq!(index.snapshot().unwrap().documents(), 6);
    }

    #[test]
    fn an_invalid_filter_or_a_stop_removes_nothing() {
        let index = index_of_years();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        assert!(writer.remove_matching("meta.year:[", Stop::NEVER).is_err());
        let stop = Stop::new();
        stop.set();
        assert!(matches!(writer.remove_matching("*", &stop), Err(Error::Cancelled)));
        writer.finish().unwrap();
        assert_eq!(index.snapshot().unwrap().documents(), 10);
    }
}
