//! The time of addition of each document.
//!
//! A document is later than every document added before, whatever the clock says: several documents
//! are added per microsecond, and clocks are set back. A time is therefore read from the clock, but
//! at least a microsecond after every time in the index. Times are whole microseconds, as stored in
//! the index.
//!
//! A clock that is far ahead must not decide the times of documents added later with a correct
//! clock. Times from [`UNBELIEVED`] on are therefore ignored, in the index and from the clock. A
//! document added under a wrong clock gets the next time after its predecessor.

use std::time::SystemTime;

use tantivy::DateTime;

use super::Snapshot;
use super::written::date;
use crate::error::Result;

/// The beginning of 2100 in microseconds since 1970. Later times count as errors of the clock.
const UNBELIEVED: i64 = 4_102_444_800 * 1_000_000;

/// Assigns the time of addition to each document of a writer.
#[derive(Debug, Default)]
pub struct Moments {
    /// The latest believable time, in microseconds since 1970.
    latest: Option<i64>,
    /// Whether `latest` includes every document of the index.
    is_known: bool,
}

impl Moments {
    /// Returns the time for a document that is added now: later than every time assigned before,
    /// and than the documents in `committed`.
    ///
    /// # Errors
    /// When the times in the index cannot be read.
    pub fn next(&mut self, committed: &Snapshot) -> Result<DateTime> {
        self.after(committed, SystemTime::now())
    }

    fn after(&mut self, committed: &Snapshot, now: SystemTime) -> Result<DateTime> {
        if !self.is_known {
            for segment in committed.segments() {
                self.latest = self.latest.max(segment.latest_micros(UNBELIEVED)?);
            }
            self.is_known = true;
        }
        let next = self.latest.map(|latest| latest.saturating_add(1));
        let clock = Some(date(now).into_timestamp_micros()).filter(|clock| *clock < UNBELIEVED);
        // Without any believable time, start at 1970, before any time of a later document.
        let micros = clock.max(next).unwrap_or_default();
        self.latest = Some(micros);
        Ok(DateTime::from_timestamp_micros(micros))
    }

    /// Makes the next call read the times of the index again, because documents of another index
    /// may have been added.
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
        // A clock far ahead decides neither its own time nor a later one.
        let end = SystemTime::UNIX_EPOCH + Duration::from_secs(365 * 86_400 * 8100);
        check(&[end, end, now + hour], &[added + 1, added + 2, added + 3_600_000_000]);
    }

    #[test]
    fn a_clock_that_is_far_ahead_decides_no_later_time() {
        let index = Index::in_memory(Config::new("kgram(k=2)", "words", true).unwrap()).unwrap();
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(365 * 86_400 * 8029);
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        let mut add = |id: &str, time| {
            let document = Document::new(id, format!("some words of {id}"));
            let signed = SignedDocument::new(document, index.config(), Stop::NEVER).unwrap();
            writer.add_as_of(signed, date(time)).unwrap();
        };
        let hour = Duration::from_secs(3600);
        let now = SystemTime::UNIX_EPOCH + 400_000 * hour;
        add("before", now);
        // Older versions stored such times, and other writers of the format may.
        add("ahead", far);
        writer.commit().unwrap();
        let snapshot = index.snapshot().unwrap();
        let mut moments = Moments::default();
        let mut micros = |clock| moments.after(&snapshot, clock).unwrap().into_timestamp_micros();
        let now_micros = 400_000 * 3_600_000_000;
        assert_eq!(micros(far), now_micros + 1);
        assert_eq!(micros(now + hour), now_micros + 3_600_000_000);
        assert_eq!(micros(now), now_micros + 3_600_000_001);
        // The wrong clock is the only source of a time here.
        let empty = Index::in_memory(Config::new("kgram(k=2)", "words", true).unwrap()).unwrap();
        let (mut moments, empty) = (Moments::default(), empty.snapshot().unwrap());
        let mut micros = |clock| moments.after(&empty, clock).unwrap().into_timestamp_micros();
        assert_eq!((micros(far), micros(far), micros(now)), (0, 1, now_micros));
    }

    #[test]
    fn a_document_is_later_than_those_of_indexes_that_were_merged_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let index = |name: &str| {
            let config = Config::new("kgram(k=2)", "words", true).unwrap();
            Index::create(dir.path().join(name), config).unwrap()
        };
        let (own, shard) = (index("own"), index("shard"));
        // The clock of the other machine is fast.
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
