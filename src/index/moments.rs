//! The times that documents are added at.
//!
//! A document is later than those that were added before it, whatever the clock says: several
//! documents a microsecond are added, and clocks are set back. So a time is that of the clock, but
//! later than all in the index. Times are whole microseconds, as the index stores them.

use std::time::SystemTime;

use tantivy::DateTime;

use super::Snapshot;
use super::written::date;
use crate::error::Result;

/// The last time that can be stored: the times of documents of that microsecond are equal.
const LAST: i64 = i64::MAX / 1000;

/// Gives each document of a writer the time that it is added at.
#[derive(Debug, Default)]
pub struct Moments {
    /// The latest time, in microseconds since 1970.
    latest: Option<i64>,
    /// Whether `latest` is no earlier than that of any document in the index.
    is_known: bool,
}

impl Moments {
    /// Returns the time of a document that is added now: later than those given before, and than
    /// those of the documents in `committed`.
    ///
    /// # Errors
    /// When the times in the index cannot be read.
    pub fn next(&mut self, committed: &Snapshot) -> Result<DateTime> {
        self.after(committed, SystemTime::now())
    }

    fn after(&mut self, committed: &Snapshot, now: SystemTime) -> Result<DateTime> {
        if !self.is_known {
            for segment in committed.segments() {
                self.latest = self.latest.max(segment.latest_micros()?);
            }
            self.is_known = true;
        }
        let next = self.latest.map_or(i64::MIN, |latest| latest.saturating_add(1));
        let micros = date(now).into_timestamp_micros().max(next).min(LAST);
        self.latest = Some(micros);
        Ok(DateTime::from_timestamp_micros(micros))
    }

    /// Reads the times in the index again: documents of another index may have come.
    pub fn forget(&mut self) {
        self.is_known = false;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::index::{AddIndexesOptions, Config, Document, Index, SignedDocument, WriterOptions};
    use crate::runtime::Stop;

    #[test]
    fn a_time_is_later_than_all_before_it_whatever_the_clock_says() {
        let index = Index::in_memory(Config::new("kgram(k=2)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        writer.add(Document::new("a", "some words")).unwrap();
        writer.commit().unwrap();
        let snapshot = index.snapshot().unwrap();
        let added = snapshot.segments()[0].added_micros(0).unwrap();
        let hour = Duration::from_secs(3600);
        let now = SystemTime::UNIX_EPOCH + Duration::from_micros(added as u64);
        let check = |clocks: &[SystemTime], expected: &[i64]| {
            let mut moments = Moments::default();
            let mut micros =
                |&clock| moments.after(&snapshot, clock).unwrap().into_timestamp_micros();
            assert_eq!(clocks.iter().map(&mut micros).collect::<Vec<_>>(), expected);
        };
        check(&[now, now, now + hour], &[added + 1, added + 2, added + 3_600_000_000]);
        check(&[now - hour, now - hour], &[added + 1, added + 2]);
        // The end of time.
        let end = SystemTime::UNIX_EPOCH + Duration::from_secs(365 * 86_400 * 8100);
        check(&[end, now], &[LAST, LAST]);
    }

    #[test]
    fn a_document_is_later_than_those_of_indexes_that_were_merged_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let index = |name: &str| {
            let config = Config::new("kgram(k=2)", "words", true).unwrap();
            Index::create(dir.path().join(name), config).unwrap()
        };
        let (own, shard) = (index("own"), index("shard"));
        // The clock of another machine is fast.
        let fast = date(SystemTime::now() + Duration::from_secs(3600));
        let mut writer = shard.writer(WriterOptions::default()).unwrap();
        let document = Document::new("fast", "some words");
        let signed = SignedDocument::new(document, shard.config(), Stop::NEVER).unwrap();
        writer.add_as_of(signed, fast).unwrap();
        writer.finish().unwrap();
        let mut writer = own.writer(WriterOptions::default()).unwrap();
        writer.add(Document::new("before", "other words")).unwrap();
        writer.add_indexes(&[shard], AddIndexesOptions::default()).unwrap();
        writer.add(Document::new("after", "more words")).unwrap();
        writer.finish().unwrap();
        let snapshot = own.snapshot().unwrap();
        let added = |id: &str| {
            let address = snapshot.find(id).unwrap().unwrap();
            snapshot.segment(address).added_micros(address.doc).unwrap()
        };
        assert_eq!(added("after"), fast.into_timestamp_micros() + 1);
        assert!(added("before") < added("fast"));
    }
}
