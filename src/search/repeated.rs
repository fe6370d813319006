//! Finds the passages that most documents of a collection repeat.
//!
//! Assignments, licenses, templates and navigation are in nearly every document, so sharing such
//! text is no evidence. Documents are compared by runs of words as signed, so the answer is exact
//! and depends neither on the scheme nor on storage. Exact copies count as one document, so that a
//! text submitted twenty times is not common because of that. The documents of a group count once,
//! so that twenty attempts of an author make no text common. Programs are compared by words as
//! written, like boilerplate.
//!
//! The texts are read three times, and the memory depends on the length of a document, not on the
//! number of documents. In the first pass, each document increments a counter for each of its runs.
//! Several runs share a counter, so a counter is an upper bound of the number of documents with the
//! run (Park, Chen and Yu 1995). The second pass counts the runs with sufficient counters exactly,
//! and the third pass finds the longest passage of each of those runs.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap, HashSet};

use cento_api::{BoilerplateShare, RepeatedPassage};

use super::boilerplate::{Boilerplate, is_as_written, run_tokens_of};
use crate::compare::runs::hashes_of;
use crate::error::{Error, Result};
use crate::hash::{BuildKeyHasher, Digest};
use crate::index::{DocAddress, Snapshot};
use crate::reason::Reason;
use crate::runtime::Stop;
use crate::runtime::ordered::in_order;
use crate::scheme::run_values;
use crate::text::Tokens;
use crate::text::written::WrittenTokens;

/// A passage in fewer documents is not proposed, because a few people may have copied among
/// themselves or from a common source, and boilerplate would hide the copying.
const DOCUMENTS_MIN: u64 = 5;

/// The number of counters per run that may be in enough documents. A counter gets full by chance
/// only if a document has that many times more runs than the average.
const COUNTERS_A_RUN: f64 = 8.0;

/// The minimum and maximum number of counters, at 8 bytes each.
const COUNTERS: (usize, usize) = (1 << 16, 1 << 25);

/// The passages that most documents of a snapshot repeat.
///
/// Every run of words in enough different documents is in exactly one passage.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RepeatedPassages {
    /// The passages, most documents first, then longest first.
    pub passages: Vec<RepeatedPassage>,
    /// The number of different documents. Exact copies count once, as do documents of a group.
    pub of_documents: u64,
    /// The number of documents that a passage must be in.
    pub documents_min: u64,
    /// Whether the documents of a group count once.
    pub is_by_group: bool,
    /// For each passage, a document with it.
    examples: Vec<DocAddress>,
}

impl RepeatedPassages {
    /// Combines the passages of several groups of documents of a snapshot. A text that is a passage
    /// of several groups is kept once, with the number of documents of the group where most have
    /// it.
    #[must_use]
    pub fn of_groups(groups: Vec<RepeatedPassages>) -> RepeatedPassages {
        let mut joined = RepeatedPassages {
            passages: Vec::new(),
            of_documents: 0,
            documents_min: DOCUMENTS_MIN,
            is_by_group: false,
            examples: Vec::new(),
        };
        let mut all = Vec::new();
        for of_group in groups {
            joined.of_documents += of_group.of_documents;
            all.extend(of_group.passages.into_iter().zip(of_group.examples));
        }
        all.sort_by(|(a, _), (b, _)| in_order_of_proposal(a, b));
        let mut seen = HashSet::new();
        all.retain(|(passage, _)| seen.insert(Digest::of(passage.text.as_bytes())));
        (joined.passages, joined.examples) = all.into_iter().unzip();
        joined
    }

    /// Adds the passages to `boilerplate`. `snapshot` must be the searched snapshot. Without
    /// passages, `None` stays `None`.
    ///
    /// # Errors
    /// When a text cannot be read. [`Error::Cancelled`] soon after `stop`.
    pub fn added_to(
        &self,
        boilerplate: Option<Boilerplate>,
        snapshot: &Snapshot,
        stop: &Stop,
    ) -> Result<Option<Boilerplate>> {
        if self.passages.is_empty() {
            return Ok(boilerplate);
        }
        let new = || Boilerplate::new(snapshot.config());
        let mut boilerplate = boilerplate.map_or_else(new, Ok)?;
        for (&address, passage) in self.examples.iter().zip(&self.passages) {
            let text = snapshot.text(address)?.unwrap_or_default();
            let (start, end) = passage.bytes;
            boilerplate.add_part(&text, start as usize..end as usize, stop)?;
        }
        Ok(Some(boilerplate))
    }
}

/// Orders passages: most documents first, then longest first.
fn in_order_of_proposal(a: &RepeatedPassage, b: &RepeatedPassage) -> Ordering {
    let of = |one: &RepeatedPassage| (Reverse(one.documents), Reverse(one.tokens));
    of(a).cmp(&of(b)).then_with(|| (&a.example, a.bytes).cmp(&(&b.example, b.bytes)))
}

/// The place of a passage in a document, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PassagePlace {
    /// The number of runs of the passage.
    runs: u32,
    address: DocAddress,
    /// The first run of the passage.
    start: u32,
}

/// Reads the texts of a snapshot as tokens.
struct TokenReader<'a> {
    snapshot: &'a Snapshot,
    /// The number of tokens of a run.
    k: usize,
    threads: usize,
    stop: &'a Stop,
}

impl TokenReader<'_> {
    /// Reads documents, and passes the tokens of each to `sink`, in the given order.
    fn read(
        &self,
        addresses: &[DocAddress],
        sink: &mut dyn FnMut(usize, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let read = |number: u64| self.tokens(addresses[number as usize]);
        in_order(
            self.threads,
            0..addresses.len() as u64,
            self.stop,
            &read,
            &mut |number, tokens| sink(number as usize, &tokens),
        )
    }

    fn tokens(&self, address: DocAddress) -> Result<Vec<u64>> {
        let text = self.snapshot.text(address)?.unwrap_or_default();
        if is_as_written(self.snapshot.config()) {
            return Ok(self.analyzed(&text)?.hashes);
        }
        hashes_of(&text, &self.snapshot.config().analyzer, self.stop)
    }

    /// Returns the tokens of a text. For a program, its words and signs as written.
    fn analyzed(&self, text: &str) -> Result<Tokens> {
        let (config, mut tokens) = (self.snapshot.config(), Tokens::default());
        config.analyzer.analyze(text, &mut tokens, self.stop)?;
        Ok(if is_as_written(config) { WrittenTokens::of(text, &tokens).pieces } else { tokens })
    }

    /// Returns the hashes of the runs of these tokens.
    fn runs<'t>(&self, tokens: &'t [u64]) -> impl Iterator<Item = u64> + use<'t> {
        run_values(tokens, self.k)
    }
}

/// Returns a digest of the tokens of a document.
fn digest(tokens: &[u64]) -> Digest {
    let bytes: Vec<[u8; 8]> = tokens.iter().map(|token| token.to_le_bytes()).collect();
    Digest::of(bytes.as_flattened())
}

/// Counters of documents by the hashes of runs. Several runs share a counter.
struct RunCounters {
    /// The number of documents, and the number of the last counted document.
    counts: Vec<(u32, u32)>,
}

impl RunCounters {
    fn new(tokens: u64, documents: u64, share: BoilerplateShare) -> RunCounters {
        let mean = tokens as f64 / documents.max(1) as f64;
        // More counters than runs would stay empty.
        let wanted = ((COUNTERS_A_RUN * mean / share.get()) as u64).min(2 * tokens) as usize;
        let count = wanted.clamp(COUNTERS.0, COUNTERS.1).next_power_of_two();
        RunCounters { counts: vec![(0, 0); count] }
    }

    fn of(&mut self, run: u64) -> &mut (u32, u32) {
        let mask = self.counts.len() - 1;
        &mut self.counts[run as usize & mask]
    }

    /// Counts a run of the document with this number, which is at least 1.
    fn add(&mut self, run: u64, document: u32) {
        let counter = self.of(run);
        if counter.1 != document {
            *counter = (counter.0 + 1, document);
        }
    }
}

/// A document whose runs are counted.
#[derive(Clone, Copy)]
struct CountedDocument {
    address: DocAddress,
    /// The number of the group, from 1.
    group: u32,
    /// The number of the text, from 1, or 0 if an earlier document has the same text.
    text: u32,
}

/// Counts the documents with a run: groups or different texts with it, whichever are fewer.
#[derive(Default)]
struct HolderCount {
    /// The number of groups with the run.
    documents: u32,
    last: u32,
    texts: u32,
    last_text: u32,
    /// The longest passage with the run.
    longest: Option<PassagePlace>,
}

type Counts = HashMap<u64, HolderCount, BuildKeyHasher>;

impl Snapshot {
    /// Finds the passages that at least `share` of the different documents have, and at least five
    /// documents. `threads` threads read the texts.
    ///
    /// ```
    /// # use cento::{BoilerplateShare, Config, Document, Index, Stop, WriterOptions};
    /// # let index = Index::in_memory(Config::new("kgram(k=3)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// for (id, answer) in ["moons", "stars", "rocks", "bees", "tides"].iter().enumerate() {
    ///     let text = format!("Write about things that you like: {answer}");
    ///     writer.add(Document::new(id.to_string(), text))?;
    /// }
    /// writer.commit()?;
    /// let snapshot = index.snapshot()?;
    /// let found = snapshot.repeated_passages(BoilerplateShare::default(), 2, Stop::NEVER)?;
    /// assert_eq!(found.passages[0].text, "Write about things that you like");
    /// assert_eq!(found.passages[0].documents, 5);
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the index stores no texts, or a file is damaged. [`Error::Cancelled`] soon after
    /// `stop`.
    pub fn repeated_passages(
        &self,
        share: BoilerplateShare,
        threads: usize,
        stop: &Stop,
    ) -> Result<RepeatedPassages> {
        self.repeated_in(&self.live().collect::<Vec<_>>(), share, None, threads, stop)
    }

    /// Finds the passages that at least `share` of the groups of documents have, and at least five
    /// groups. `group_of` returns the number of a document's group. A document without a group is a
    /// group of its own.
    ///
    /// The number of documents of a passage is the number of groups with it, or of different texts
    /// with it, whichever is smaller.
    ///
    /// # Errors
    /// The errors of [`repeated_passages`](Self::repeated_passages).
    pub fn repeated_passages_of_groups(
        &self,
        share: BoilerplateShare,
        group_of: &dyn Fn(DocAddress) -> Option<u64>,
        threads: usize,
        stop: &Stop,
    ) -> Result<RepeatedPassages> {
        let addresses: Vec<DocAddress> = self.live().collect();
        self.repeated_in(&addresses, share, Some(group_of), threads, stop)
    }

    /// Finds the passages in at least `share` of these documents, and in at least five documents.
    /// Use this for a small part of a collection, such as the pages of a site.
    ///
    /// # Errors
    /// The errors of [`repeated_passages`](Self::repeated_passages).
    pub fn repeated_passages_among(
        &self,
        addresses: &[DocAddress],
        share: BoilerplateShare,
        threads: usize,
        stop: &Stop,
    ) -> Result<RepeatedPassages> {
        self.repeated_in(addresses, share, None, threads, stop)
    }

    fn repeated_in(
        &self,
        addresses: &[DocAddress],
        share: BoilerplateShare,
        group_of: Option<&dyn Fn(DocAddress) -> Option<u64>>,
        threads: usize,
        stop: &Stop,
    ) -> Result<RepeatedPassages> {
        if !self.config().store_text {
            let what = "it stores no texts, so the passages that its documents repeat cannot be \
                        found; name files with the boilerplate instead";
            return Err(Error::index(self.index().path(), Reason::Unsuitable, what));
        }
        let k = run_tokens_of(self.config());
        let reader = &TokenReader { snapshot: self, k, threads, stop };
        let (counted, mut counters) = self.count_roughly(addresses, share, group_of, reader)?;
        let greatest = |of: fn(&CountedDocument) -> u32| counted.iter().map(of).max().unwrap_or(0);
        let of_documents =
            u64::from(greatest(|counted| counted.group).min(greatest(|counted| counted.text)));
        // Rounding must not exclude a passage with exactly this share.
        let least = (share.get() * of_documents as f64 - 1e-9).ceil() as u64;
        let documents_min = least.max(DOCUMENTS_MIN);
        let mut found = RepeatedPassages {
            passages: Vec::new(),
            of_documents,
            documents_min,
            is_by_group: group_of.is_some(),
            examples: Vec::new(),
        };
        if of_documents < documents_min {
            return Ok(found);
        }
        let mut counts = count_exactly(&counted, &mut counters, documents_min, reader)?;
        counts.retain(|_, count| u64::from(count.documents) >= documents_min);
        drop(counters);
        self.place(addresses, &mut counts, reader)?;
        let mut passages = self.passages(&counts, of_documents, reader)?;
        // A stable sort: equal ids in a union stay in the order of the indexes.
        passages.sort_by(|(_, a), (_, b)| in_order_of_proposal(a, b));
        (found.examples, found.passages) = passages.into_iter().unzip();
        Ok(found)
    }

    /// Finds the documents that count, and counts their runs with shared counters.
    fn count_roughly(
        &self,
        addresses: &[DocAddress],
        share: BoilerplateShare,
        group_of: Option<&dyn Fn(DocAddress) -> Option<u64>>,
        reader: &TokenReader<'_>,
    ) -> Result<(Vec<CountedDocument>, RunCounters)> {
        let mut tokens = 0;
        let mut all = Vec::new();
        for &address in addresses {
            tokens += u64::from(self.segment(address).signatures.document(address.doc)?.tokens);
            all.push((group_of.and_then(|group_of| group_of(address)), address));
        }
        // The documents of a group must be consecutive, so that the group is counted once.
        all.sort_by_key(|(group, _)| *group);
        let mut counters = RunCounters::new(tokens, addresses.len() as u64, share);
        let (mut counted, mut seen, mut texts) = (Vec::new(), HashSet::new(), HashSet::new());
        let (mut number, mut last) = (0, None);
        let addresses: Vec<DocAddress> = all.iter().map(|&(_, address)| address).collect();
        reader.read(&addresses, &mut |at, tokens| {
            if tokens.is_empty() {
                return Ok(());
            }
            let (group, address) = all[at];
            let digest = digest(tokens);
            let is_new_text = texts.insert(digest);
            // Without groups, an exact copy does not count at all.
            let is_same_group = group.is_some() && group == last;
            if group_of.is_none() && !is_new_text {
                return Ok(());
            }
            if !is_same_group {
                number += 1;
                seen.clear();
                last = group;
            }
            if seen.insert(digest) {
                let text = if is_new_text { texts.len() as u32 } else { 0 };
                counted.push(CountedDocument { address, group: number, text });
                reader.runs(tokens).for_each(|run| counters.add(run, number));
            }
            Ok(())
        })?;
        Ok((counted, counters))
    }

    /// Finds the longest passage of each run, which is a maximal sequence of common runs. Ties go
    /// to the smallest id, then to the first place.
    fn place(
        &self,
        addresses: &[DocAddress],
        counts: &mut Counts,
        reader: &TokenReader<'_>,
    ) -> Result<()> {
        if counts.is_empty() {
            return Ok(());
        }
        let mut ids = DocumentIds { snapshot: self, last: None };
        reader.read(addresses, &mut |at, tokens| {
            let runs: Vec<u64> = reader.runs(tokens).collect();
            for (start, runs) in common(&runs, counts) {
                let place = PassagePlace { runs: runs.len() as u32, address: addresses[at], start };
                for run in runs {
                    let count = counts.get_mut(run).expect("it is common");
                    if ids.is_better(place, count.longest)? {
                        count.longest = Some(place);
                    }
                }
            }
            Ok(())
        })
    }

    /// Returns the passages: the consecutive runs of each place.
    fn passages(
        &self,
        counts: &Counts,
        of_documents: u64,
        reader: &TokenReader<'_>,
    ) -> Result<Vec<(DocAddress, RepeatedPassage)>> {
        let mut places: BTreeMap<DocAddress, Vec<PassagePlace>> = BTreeMap::new();
        for place in counts.values().filter_map(|count| count.longest) {
            let of_document = places.entry(place.address).or_default();
            if !of_document.contains(&place) {
                of_document.push(place);
            }
        }
        let mut found = Vec::new();
        for (address, places) in places {
            let stored = self.document(address)?;
            let text = stored.text.unwrap_or_default();
            let tokens = reader.analyzed(&text)?;
            let runs: Vec<u64> = run_values(&tokens.hashes, reader.k).collect();
            for place in places {
                let first = place.start as usize;
                let own = |run: &u64| {
                    counts.get(run).filter(|count| count.longest == Some(place)).is_some()
                };
                let of_place = &runs[first..first + place.runs as usize];
                for (start, of_passage) in stretches(of_place, own) {
                    let start = first + start as usize;
                    let end = (start + of_passage.len() - 1 + reader.k).min(tokens.hashes.len());
                    let documents = of_passage.iter().map(|run| counts[run].documents).min();
                    let bytes = (tokens.spans[start].start, tokens.spans[end - 1].end);
                    let passage = RepeatedPassage::new(
                        [documents.map_or(0, u64::from), of_documents],
                        (end - start) as u32,
                        stored.id.clone(),
                        bytes,
                        text[bytes.0 as usize..bytes.1 as usize].to_owned(),
                    );
                    found.push((address, passage));
                }
            }
        }
        Ok(found)
    }
}

/// Counts the documents of the runs whose counters are sufficient.
fn count_exactly(
    counted: &[CountedDocument],
    counters: &mut RunCounters,
    documents_min: u64,
    reader: &TokenReader<'_>,
) -> Result<Counts> {
    let mut counts = Counts::default();
    let addresses: Vec<DocAddress> = counted.iter().map(|counted| counted.address).collect();
    reader.read(&addresses, &mut |at, tokens| {
        let CountedDocument { group, text, .. } = counted[at];
        for run in reader.runs(tokens) {
            if u64::from(counters.of(run).0) >= documents_min {
                let count = counts.entry(run).or_default();
                if count.last != group {
                    count.documents += 1;
                    count.last = group;
                }
                if text > 0 && count.last_text != text {
                    count.texts += 1;
                    count.last_text = text;
                }
            }
        }
        Ok(())
    })?;
    counts.values_mut().for_each(|count| count.documents = count.documents.min(count.texts));
    Ok(counts)
}

/// Returns the maximal stretches of runs in enough documents, with the place of their first run.
fn common<'a>(runs: &'a [u64], counts: &Counts) -> Vec<(u32, &'a [u64])> {
    stretches(runs, |run| counts.contains_key(run))
}

/// Returns the maximal stretches of runs that satisfy `is_in`, with the place of their first run.
fn stretches(runs: &[u64], is_in: impl Fn(&u64) -> bool) -> Vec<(u32, &[u64])> {
    let (mut found, mut start) = (Vec::new(), 0);
    for part in runs.chunk_by(|one, next| is_in(one) == is_in(next)) {
        if is_in(&part[0]) {
            found.push((start, part));
        }
        start += part.len() as u32;
    }
    found
}

/// Reads the ids of documents for comparing places.
struct DocumentIds<'a> {
    snapshot: &'a Snapshot,
    /// The last comparison, which is usually the same for most runs of a document.
    last: Option<([DocAddress; 2], bool)>,
}

impl DocumentIds<'_> {
    /// Returns whether `place` is better than `than`.
    fn is_better(&mut self, place: PassagePlace, than: Option<PassagePlace>) -> Result<bool> {
        let Some(than) = than else { return Ok(true) };
        if place.runs != than.runs || place.address == than.address {
            return Ok((Reverse(place.runs), place.start) < (Reverse(than.runs), than.start));
        }
        let both = [place.address, than.address];
        if let Some((_, is_less)) = self.last.filter(|(last, _)| *last == both) {
            return Ok(is_less);
        }
        let is_less = self.snapshot.id(place.address)? < self.snapshot.id(than.address)?;
        self.last = Some((both, is_less));
        Ok(is_less)
    }
}
