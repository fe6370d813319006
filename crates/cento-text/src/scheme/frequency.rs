//! Frequency tables: the number of occurrences of q-grams in a collection.
//!
//! `cento method train` makes a table once, and nothing changes it afterwards. Schemes that look at
//! frequencies must always see the same numbers, or the same text would have two signatures. An
//! index keeps its own copy, and the digest of the table is part of the index's identity.
//!
//! The file is a line of JSON that describes the grams, and an FST from the 8 bytes of a gram's
//! key, big-endian, to its count.

use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::grams::Grams;
use super::spex::{self, RepeatedChunks};
use crate::automaton;
use crate::error::{Error, Result};
use crate::hash::{BuildKeyHasher, hash_bytes};
use crate::reason::{Reason, Refusal};
use crate::text::Tokens;

/// The header of a table, which describes its grams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of this file format: 1.
    cento_frequencies: u32,
    /// The number of tokens of a gram.
    pub q: usize,
    /// The specification of the analyzer that made the tokens.
    pub analyzer: String,
    /// The number of documents counted.
    pub documents: u64,
    /// The number of grams counted, repeated grams included.
    pub grams: u64,
}

const KEY_BYTES: usize = 8;

/// A finished table of frequencies.
pub struct FrequencyTable {
    header: Header,
    counts: fst::Map<Vec<u8>>,
    digest: u64,
    head: Vec<u8>,
}

impl fmt::Debug for FrequencyTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrequencyTable({:?}, {:016x})", self.header, self.digest)
    }
}

impl FrequencyTable {
    /// Reads the table in the file `path`.
    ///
    /// # Errors
    /// When the file cannot be read or is not a table.
    pub fn open(path: &Path) -> Result<FrequencyTable> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        FrequencyTable::new(&path.display().to_string(), bytes)
    }

    /// Reads the table in `bytes`, which come from `place`.
    ///
    /// # Errors
    /// When the bytes are not a table.
    pub fn new(place: &str, bytes: Vec<u8>) -> Result<FrequencyTable> {
        let refused = |why: &str| {
            let what = format!("it is not a frequency table ({why})");
            Error::input(place, Refusal::new(Reason::NotAFrequencyTable, what))
        };
        let digest = hash_bytes(&bytes);
        let end =
            bytes.iter().position(|&byte| byte == b'\n').ok_or_else(|| refused("no header"))?;
        let header: Header =
            serde_json::from_slice(&bytes[..end]).map_err(|e| refused(&e.to_string()))?;
        if header.cento_frequencies != 1 || header.q == 0 {
            return Err(refused("it has another version"));
        }
        let (head, map) = bytes.split_at(end + 1);
        let (head, map) = (head.to_vec(), map.to_vec());
        // fst would panic on hostile bytes. The checksum reveals a damaged file, the check of the
        // nodes a forged file.
        if automaton::keys(&map, KEY_BYTES).is_none() {
            return Err(refused("its counts cannot be read"));
        }
        let counts = fst::Map::new(map).map_err(|e| refused(&e.to_string()))?;
        counts.as_fst().verify().map_err(|e| refused(&e.to_string()))?;
        Ok(FrequencyTable { header, counts, digest, head })
    }

    /// Returns the header, which describes the grams.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns a number that identifies the table.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Returns the bytes of the table's file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        [&self.head, self.counts.as_fst().as_bytes()].concat()
    }

    /// Calls `each` with the key and the count of every gram, in the order of the keys.
    pub fn for_each(&self, each: &mut dyn FnMut(u64, u64)) {
        let mut grams = self.counts.stream();
        while let Some((key, count)) = fst::Streamer::next(&mut grams) {
            // `FrequencyCounter` writes only keys of 8 bytes.
            each(u64::from_be_bytes(key.try_into().unwrap_or_default()), count);
        }
    }

    /// Returns the number of occurrences of a gram, given its key. 0 if the table lacks the gram.
    #[must_use]
    pub fn count(&self, key: u64) -> u64 {
        self.counts.get(key.to_be_bytes()).unwrap_or(0)
    }
}

impl FrequencyTable {
    /// Returns how often the grams of a text occur in the collection, in sum. The analyzer of the
    /// table must have made the tokens.
    #[must_use]
    pub fn occurrences(&self, tokens: &Tokens) -> u64 {
        let grams = Grams::new(self.header.q, &self.header.analyzer);
        grams.keys(&tokens.hashes).map(|key| self.count(key)).fold(0, u64::saturating_add)
    }
}

/// Counts the grams of a collection that may be larger than memory.
pub struct FrequencyCounter {
    header: Header,
    grams: Grams,
    counts: HashMap<u64, u64, BuildKeyHasher>,
    /// Files of sorted keys and counts, 16 bytes a gram, that did not fit into memory.
    runs: Vec<File>,
    held_max: usize,
    count_min: u64,
}

impl fmt::Debug for FrequencyCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrequencyCounter").finish_non_exhaustive()
    }
}

/// The maximum number of distinct grams in memory, in about 500 MB.
const HELD_MAX: usize = 16 << 20;

impl FrequencyCounter {
    /// Counts grams of `q` tokens that the analyzer of this specification makes.
    #[must_use]
    pub fn new(q: usize, analyzer: &str) -> FrequencyCounter {
        let header =
            Header { cento_frequencies: 1, q, analyzer: analyzer.into(), documents: 0, grams: 0 };
        let grams = Grams::new(q, analyzer);
        FrequencyCounter {
            header,
            grams,
            counts: HashMap::default(),
            runs: Vec::new(),
            held_max: HELD_MAX,
            count_min: 1,
        }
    }

    /// Omits grams that occur fewer than `count_min` times.
    #[must_use]
    pub fn at_least(self, count_min: u64) -> FrequencyCounter {
        FrequencyCounter { count_min, ..self }
    }

    /// Adds the grams of a document that may occur twice according to the pass `before`. Without an
    /// earlier pass, adds every gram.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn add(&mut self, tokens: &Tokens, before: Option<&RepeatedChunks>) -> io::Result<()> {
        self.header.documents += 1;
        let keys = self.grams.keys(&tokens.hashes);
        let is_candidate = before.map(|before| spex::candidates(&tokens.hashes, Some(before)));
        let mut is_candidate = is_candidate.into_iter().flatten();
        for key in keys {
            self.header.grams += 1;
            if before.is_none() || is_candidate.next() == Some(true) {
                *self.counts.entry(key).or_default() += 1;
            }
        }
        if self.counts.len() >= self.held_max {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        let mut out = BufWriter::new(tempfile::tempfile()?);
        for (key, count) in sorted(&mut self.counts) {
            out.write_all(&key.to_le_bytes())?;
            out.write_all(&count.to_le_bytes())?;
        }
        let mut file = out.into_inner()?;
        file.seek(SeekFrom::Start(0))?;
        self.runs.push(file);
        Ok(())
    }

    /// Merges the counts in files and in memory, and writes the table.
    ///
    /// # Errors
    /// When the table cannot be written, or a temporary file cannot be read.
    pub fn write(mut self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", serde_json::to_string(&self.header).map_err(io::Error::other)?)?;
        let mut map = fst::MapBuilder::new(out).map_err(cause_of)?;
        let held = sorted(&mut self.counts).into_iter().map(Ok);
        let mut sources: Vec<Source<'_>> = vec![Box::new(held)];
        for run in self.runs {
            sources.push(Box::new(SortedRun(BufReader::new(run))));
        }
        let mut heads = BinaryHeap::new();
        for (i, source) in sources.iter_mut().enumerate() {
            if let Some(next) = source.next().transpose()? {
                heads.push(std::cmp::Reverse((next, i)));
            }
        }
        let mut current: Option<(u64, u64)> = None;
        while let Some(std::cmp::Reverse(((key, count), i))) = heads.pop() {
            if let Some(next) = sources[i].next().transpose()? {
                heads.push(std::cmp::Reverse((next, i)));
            }
            match &mut current {
                Some((last, sum)) if *last == key => *sum += count,
                _ => {
                    let last = current.replace((key, count));
                    if let Some((last, sum)) = last.filter(|(_, sum)| *sum >= self.count_min) {
                        map.insert(last.to_be_bytes(), sum).map_err(cause_of)?;
                    }
                }
            }
        }
        if let Some((last, sum)) = current.filter(|(_, sum)| *sum >= self.count_min) {
            map.insert(last.to_be_bytes(), sum).map_err(cause_of)?;
        }
        map.finish().map_err(cause_of)
    }
}

/// Returns the error of the file, such as a full disk, which the message of `error` does not name.
fn cause_of(error: fst::Error) -> io::Error {
    match error {
        fst::Error::Io(cause) => cause,
        fst::Error::Fst(_) => io::Error::other(error),
    }
}

type Source<'a> = Box<dyn Iterator<Item = io::Result<(u64, u64)>> + 'a>;

/// Takes all counts out of the map, in the order of their keys.
fn sorted(counts: &mut HashMap<u64, u64, BuildKeyHasher>) -> Vec<(u64, u64)> {
    let mut sorted: Vec<(u64, u64)> = counts.drain().collect();
    sorted.sort_unstable();
    sorted
}

/// A file of sorted keys and counts.
struct SortedRun(BufReader<File>);

impl Iterator for SortedRun {
    type Item = io::Result<(u64, u64)>;

    fn next(&mut self) -> Option<io::Result<(u64, u64)>> {
        let mut pair = [[0; 8]; 2];
        for number in &mut pair {
            match self.0.read_exact(number) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return None,
                Err(e) => return Some(Err(e)),
            }
        }
        Some(Ok((u64::from_le_bytes(pair[0]), u64::from_le_bytes(pair[1]))))
    }
}

/// Helpers for tests of schemes with a table.
#[cfg(test)]
pub mod testing {
    use super::*;
    use crate::runtime::Stop;
    use crate::scheme::{Fingerprint, parse_with};
    use crate::text::Analyzer;
    use std::sync::Arc;

    /// Returns the tokens of a text by the analyzer of this specification.
    pub fn tokens(analyzer: &str, text: &str) -> Tokens {
        let mut tokens = Tokens::default();
        let analyzer: Analyzer = analyzer.parse().expect("the specification is one");
        analyzer.analyze(text, &mut tokens, Stop::NEVER).expect("the text is short");
        tokens
    }

    /// Returns the signature of the words of a text by a scheme that reads this table.
    pub fn sign(spec: &str, table: &Arc<FrequencyTable>, text: &str) -> Vec<Fingerprint> {
        let mut signature = Vec::new();
        let scheme = parse_with(spec, Some(table)).expect("the specification is one");
        scheme.sign(&tokens("words", text).hashes, &mut signature, Stop::NEVER).unwrap();
        signature
    }

    /// Returns the table of the runs of `q` tokens of these texts.
    pub fn table(analyzer: &str, q: usize, texts: &[String]) -> Arc<FrequencyTable> {
        let canonical = analyzer.parse::<Analyzer>().expect("the specification is one").to_string();
        let mut counter = FrequencyCounter::new(q, &canonical);
        for text in texts {
            counter.add(&tokens(analyzer, text), None).expect("the counts fit into memory");
        }
        let mut bytes = Vec::new();
        counter.write(&mut bytes).expect("writing to memory does not fail");
        Arc::new(FrequencyTable::new("test", bytes).expect("a table was written"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn tokens(text: &str) -> Tokens {
        testing::tokens("chars", text)
    }

    #[test]
    fn a_full_disk_is_named_when_a_table_is_written() {
        // The message was "I/O error".
        struct FullDisk;
        impl Write for FullDisk {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let text = tokens("ab");
        let mut counter = FrequencyCounter::new(1, "chars()");
        counter.add(&text, None).unwrap();
        let error = counter.write(&mut BufWriter::with_capacity(64, FullDisk)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    proptest! {
        #[test]
        fn passes_find_keys_that_occur_twice(
            texts in prop::collection::vec("[ab]{0,12}", 1..5), q in 1usize..5,
        ) {
            let write = |mut counter: FrequencyCounter, before: Option<&RepeatedChunks>| {
                texts.iter().for_each(|text| counter.add(&tokens(text), before).unwrap());
                let mut bytes = Vec::new();
                counter.write(&mut bytes).unwrap();
                bytes
            };
            let mut before = None;
            for length in 1..q {
                let mut pass = RepeatedChunks::new(length, "chars()");
                texts.iter().for_each(|text| pass.add(&tokens(text).hashes, before.as_ref()));
                before = Some(pass);
            }
            let counter = || FrequencyCounter::new(q, "chars()").at_least(2);
            prop_assert_eq!(write(counter(), before.as_ref()), write(counter(), None));
        }
    }

    #[test]
    fn counts_are_the_same_whether_they_fit_into_memory_or_not() {
        let texts = ["the quick brown fox", "the lazy dog", "a quick dog, the quickest of all"];
        let table = |held_max| {
            let mut counter = FrequencyCounter::new(2, "chars()");
            counter.held_max = held_max;
            texts.iter().for_each(|text| counter.add(&tokens(text), None).unwrap());
            let mut bytes = Vec::new();
            counter.write(&mut bytes).unwrap();
            bytes
        };
        let bytes = table(usize::MAX);
        assert_eq!(table(3), bytes);
        let table = FrequencyTable::new("test", bytes.clone()).unwrap();
        assert_eq!(table.bytes(), bytes);
        assert_eq!((table.header().documents, table.header().q), (3, 2));
        let grams = Grams::new(2, "chars()");
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for text in texts {
            grams.keys(&tokens(text).hashes).for_each(|key| *counts.entry(key).or_default() += 1);
        }
        for key in 0..37 * 37 {
            assert_eq!(table.count(key), counts.get(&key).copied().unwrap_or(0));
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            let other = FrequencyTable::new("test", damaged);
            assert!(other.is_err() || other.unwrap().digest() != table.digest());
        }
    }
}
