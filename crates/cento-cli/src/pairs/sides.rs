//! The documents of pairs of files: new ones, and those of the index that these are compared with.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::known::Known;
use crate::output::named;
use cento::index::{DocAddress, Snapshot};
use cento::join::most_similar::SymmetricPair;
use cento::join::pairs::PairReport;
use cento::search::Searcher;
use cento::{Error, Overlap, Stop, Tokens, Unit};
use cento_report::{Joined, PartedText, ReportMemory, Sources};

/// Two files of two documents that have fingerprints in common.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct FilePair {
    /// The file of the one.
    pub a: String,
    /// The file of the other.
    pub b: String,
    /// Distinct fingerprints in common.
    pub overlap: u32,
}

/// The number of pairs of files that are shown of a pair of documents.
const FILE_PAIRS_MAX: usize = 5;

/// The files of a document, each with its distinct fingerprints, ascending.
type Files = Vec<(String, Vec<u64>)>;

/// The documents of pairs.
pub struct Sides<'a> {
    searcher: &'a Searcher,
    new: &'a Snapshot,
    known: Option<&'a Snapshot>,
    /// The files of the documents of shown pairs.
    files: HashMap<DocAddress, Files>,
}

impl<'a> Sides<'a> {
    /// Takes the searcher over all documents, and the snapshots that it has them from.
    pub fn new(searcher: &'a Searcher, new: &'a Snapshot, known: Option<&'a Known>) -> Sides<'a> {
        Sides { searcher, new, known: known.map(Known::snapshot), files: HashMap::new() }
    }

    /// Returns the document with this id, of the index if it is named.
    fn address(&self, id: &str, index: Option<&str>) -> cento::Result<DocAddress> {
        let found = match self.known.filter(|_| index.is_some()) {
            // The new documents come first in the snapshot of both.
            Some(known) => known.find(id)?.map(|address| DocAddress {
                segment: address.segment + self.new.segments().len() as u32,
                ..address
            }),
            None => self.new.find(id)?,
        };
        found.ok_or_else(|| Error::UnknownId { id: id.to_owned() })
    }

    /// Returns the pairs of files of two documents with most in common, and the number of pairs
    /// with something in common. Boilerplate does not count.
    ///
    /// # Errors
    /// When a text cannot be read or signed.
    pub fn files(&mut self, pair: &PairReport) -> cento::Result<(Vec<FilePair>, usize)> {
        let a = self.address(&pair.a, pair.index_a.as_deref())?;
        let b = self.address(&pair.b, pair.index_b.as_deref())?;
        for address in [a, b] {
            if !self.files.contains_key(&address) {
                self.files.insert(address, files_of(self.searcher, address)?);
            }
        }
        let mut pairs = Vec::new();
        for (one, keys) in &self.files[&a] {
            for (other, other_keys) in &self.files[&b] {
                let overlap = Overlap::of(keys, other_keys).shared;
                if overlap > 0 {
                    pairs.push(FilePair { a: one.clone(), b: other.clone(), overlap });
                }
            }
        }
        // Stable: of equals the first names.
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.overlap));
        let total = pairs.len();
        pairs.truncate(FILE_PAIRS_MAX);
        Ok((pairs, total))
    }

    /// Returns what each new document has from where, according to the passages of these pairs;
    /// none if they are compared with no index, or without their texts.
    ///
    /// # Errors
    /// When a text cannot be read.
    pub fn sources(&self, pairs: &[SymmetricPair], stop: &Stop) -> cento::Result<Vec<Sources>> {
        let config = self.new.config();
        if self.known.is_none() || !config.store_text {
            return Ok(Vec::new());
        }
        let mut ranges: BTreeMap<&str, [Vec<(u32, u32)>; 2]> = BTreeMap::new();
        for SymmetricPair { pair, .. } in pairs {
            for passage in pair.passages.iter().flatten().filter(|p| p.unit == Unit::Bytes) {
                let is_known = pair.index_a.is_some() || pair.index_b.is_some();
                let kind = usize::from(!is_known);
                if pair.index_a.is_none() {
                    let own = &mut ranges.entry(&pair.a).or_default()[kind];
                    own.extend(passage.matched_in_a());
                }
                if pair.index_b.is_none() {
                    ranges.entry(&pair.b).or_default()[kind].push(passage.b);
                }
            }
        }
        let mut all = Vec::new();
        for address in self.new.live() {
            let document = self.new.document(address)?;
            let text = document.text.unwrap_or_default();
            let mut tokens = Tokens::default();
            config.analyzer.of_passages().analyze(&text, &mut tokens, stop)?;
            let boilerplate = match self.searcher.boilerplate() {
                Some(boilerplate) => boilerplate.ranges_in(&text, stop)?,
                None => Vec::new(),
            };
            let [known, shared] = ranges.remove(document.id.as_str()).unwrap_or_default();
            let starts = tokens.spans.iter().map(|span| span.start);
            all.push(Sources::of(document.id, starts, [boilerplate, known, shared]));
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// Reads what a report shows of pairs; the last are left out if everything would take more than
    /// about `bytes_max` bytes of memory. A document of the index is named with it.
    ///
    /// # Errors
    /// When a text cannot be read.
    pub fn joined(&self, pairs: Vec<(PairReport, f64)>, bytes_max: usize) -> cento::Result<Joined> {
        if self.known.is_none() {
            return Joined::read(pairs, self.searcher, Stop::NEVER, bytes_max);
        }
        let mut room = ReportMemory::of(bytes_max);
        let mut joined = Joined::default();
        for (mut pair, similarity) in pairs {
            let sides =
                [(&mut pair.a, pair.index_a.as_deref()), (&mut pair.b, pair.index_b.as_deref())];
            for (id, index) in sides {
                let address = self.address(id, index)?;
                let name = named(id, index);
                if !joined.texts.contains_key(&name)
                    && let Some(text) = PartedText::of(self.searcher.snapshot().document(address)?)
                {
                    if let Some(boilerplate) = self.searcher.boilerplate() {
                        let ranges = boilerplate.ranges_in(&text, Stop::NEVER)?;
                        joined.boilerplate.insert(name.clone(), ranges);
                    }
                    room.take_text(&text);
                    joined.texts.insert(name.clone(), text);
                }
                *id = name;
            }
            room.take_passages(&pair);
            if !room.suffices() {
                break;
            }
            joined.pairs.push((pair, similarity));
        }
        Ok(joined)
    }
}

/// Returns the files of a document; the document itself if it has no parts.
fn files_of(searcher: &Searcher, address: DocAddress) -> cento::Result<Vec<(String, Vec<u64>)>> {
    let snapshot = searcher.snapshot();
    let document = snapshot.document(address)?;
    let id = document.id;
    let text = document.text.unwrap_or_default();
    let parts: Vec<(String, &str)> = match document.parts.is_empty() {
        true => vec![(id, &text)],
        false => cento_api::part::part_texts(&document.parts, &text)
            .map(|(name, text)| (format!("{id}/{name}"), text))
            .collect(),
    };
    let keys = |text: &str| -> cento::Result<Vec<u64>> {
        let mut keys: Vec<u64> =
            snapshot.config().sign(text)?.1.iter().map(|found| found.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let boilerplate = searcher.boilerplate();
        keys.retain(|&key| boilerplate.is_none_or(|boilerplate| !boilerplate.has(key)));
        Ok(keys)
    };
    parts.into_iter().map(|(name, text)| Ok((name, keys(text)?))).collect()
}
