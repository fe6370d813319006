//! Filters many keys, one segment after another.
//!
//! Few keys of a query are in a segment, but every key is looked up in every segment, so the cost
//! per key here is most of the cost of an additional segment. A step therefore does a single thing
//! for every key, and decisions are made once where possible, not per key.

use super::filter::{EMPTY_LINE, Filters, KeyHash, Line};
use super::layout::Section;
use super::prefetch::near;
use super::reader::SegmentReader;
use crate::error::Corruption;

/// Ascending keys, and the lines of the filters of one segment after another.
pub struct Sieve<'k, 'a> {
    keys: &'k [u64],
    hashes: Vec<KeyHash>,
    /// The number of the line of each key.
    numbers: Vec<u32>,
    lines: Vec<&'a Line>,
}

impl<'k, 'a> Sieve<'k, 'a> {
    /// Creates a sieve for these ascending keys.
    pub fn new(keys: &'k [u64]) -> Sieve<'k, 'a> {
        let hashes = keys.iter().map(|&key| KeyHash::of(key)).collect();
        let (numbers, lines) = (Vec::with_capacity(keys.len()), Vec::with_capacity(keys.len()));
        Sieve { keys, hashes, numbers, lines }
    }

    /// Takes the lines of a segment and returns true, if all their pages are verified. Otherwise
    /// requests the lines from the system.
    pub fn take_known(&mut self, reader: &'a SegmentReader) -> bool {
        self.number(reader);
        let (file, filters) = (reader.file(), reader.filters());
        let Sieve { numbers, lines, .. } = self;
        let mut are_known = true;
        lines.clear();
        lines.extend(numbers.iter().map(|&number| {
            let line = filters.known(file, number);
            are_known &= line.is_some();
            line.unwrap_or(&EMPTY_LINE)
        }));
        if !are_known {
            file.fetch(Section::Filter, numbers.iter().map(|&number| filters.place(number)));
        }
        are_known
    }

    /// Takes the lines of a segment.
    ///
    /// # Errors
    /// When a line is damaged.
    pub fn take(&mut self, reader: &'a SegmentReader) -> Result<(), Corruption> {
        self.number(reader);
        self.lines.clear();
        for &number in &self.numbers {
            self.lines.push(reader.filters().read(reader.file(), number)?);
        }
        Ok(())
    }

    /// Finds the lines of the keys in a segment. Empty if the segment has no terms.
    fn number(&mut self, reader: &SegmentReader) {
        let (index, filters) = (reader.index(), reader.filters());
        let keys = if reader.counts().terms == 0 { &[] } else { self.keys };
        self.numbers.clear();
        self.numbers.extend(
            keys.iter().zip(&self.hashes).map(|(&key, &hash)| {
                filters.line_of(hash, index.group_of(key).unwrap_or_default())
            }),
        );
    }

    /// Returns the keys that pass the lines: the place of the key, the key, and the possible group
    /// of terms.
    pub fn passing(&self) -> impl Iterator<Item = (u32, u64, u32)> {
        near(self.lines.iter().map(|line| line[0]));
        let tested = (0..).zip(self.hashes.iter().zip(&self.lines));
        let passing = tested.filter(|(_, (hash, line))| hash.may_be_in(line));
        passing.map(|(i, _)| (i as u32, self.keys[i], Filters::group_of(self.numbers[i])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Digest, mix64};
    use crate::scheme::Fingerprint;
    use crate::segment::{Header, Identity, SegmentBuilder};
    use ownedbytes::OwnedBytes;

    fn key(i: u64) -> u64 {
        1 << 38 | mix64(i) >> 25
    }

    fn reader(terms: u64) -> SegmentReader {
        let signature: Vec<_> =
            (0..terms).map(|i| Fingerprint { key: key(i), position: i as u32 }).collect();
        let mut builder = SegmentBuilder::new();
        let identity = Identity { id: "a", digest: Digest::of(b"") };
        builder.push(identity, terms as u32, &signature);
        let header = Header { key_bits: 40, documents: 1, config: 1, signatures: true };
        let (_, bytes) = builder.write(Vec::new(), header, None).unwrap();
        SegmentReader::open("f.sig", OwnedBytes::new(bytes)).unwrap()
    }

    /// Returns the places of the keys that pass.
    fn places(sieve: &Sieve<'_, '_>) -> Vec<u32> {
        sieve.passing().map(|(i, ..)| i).collect()
    }

    #[test]
    fn keys_of_a_segment_pass_and_few_others_whether_its_lines_were_read_before_or_not() {
        // Every other key of the largest segment, and as many keys in between.
        let mut keys: Vec<u64> = (0..40_000).step_by(2).map(key).collect();
        keys.extend((0..20_000).map(|i| 1 << 38 | mix64(!i) >> 25));
        // Keys below and above the segments' keys, the last with more bits than the segments' keys.
        keys.extend((0..1000).chain((1 << 40) - 1000..(1 << 40) + 1000).chain([u64::MAX]));
        keys.sort_unstable();
        keys.dedup();
        let segments = [0, 1, 300, 40_000].map(reader);
        let mut sieve = Sieve::new(&keys);
        for reader in &segments {
            // The filters of small segments are in pages that opening has read.
            assert_eq!(sieve.take_known(reader), reader.counts().terms < 1000);
            sieve.take(reader).unwrap();
            let passing = places(&sieve);
            assert!(sieve.take_known(reader));
            assert_eq!(places(&sieve), passing);
            let is_there = |&i: &u32| reader.find(keys[i as usize]).unwrap().is_some();
            let there = (0..keys.len() as u32).filter(is_there);
            let (passed, there) = (passing.len(), there.collect::<Vec<_>>());
            assert!(there.iter().all(|i| passing.binary_search(i).is_ok()));
            assert!(passed - there.len() <= keys.len() / 14, "{passed} of {}", keys.len());
            for (_, key, group) in sieve.passing() {
                assert_eq!(reader.index().group_of(key), Some(group as usize));
            }
        }
    }
}
