//! Verification of a segment.
//!
//! The check reads the whole file: every checksum, then every term, list, signature and count, and
//! whether dictionary and signatures agree. The invariants are numbered in segments-format.md,
//! "Invariants".

use super::block::Block;
use super::forward::ForwardList;
use super::layout::{Counts, GROUP_BLOCKS, GROUP_TERMS, Header, Section};
use super::postings::{List, Postings};
use super::reader::{SegmentReader, inline_docs};
use super::{documents, ids};
use crate::error::Corruption;
use crate::hash::mix64;

/// The most problems that are listed.
const PROBLEMS_MAX: usize = 100;

impl SegmentReader {
    /// Returns the problems of the segment, at most a hundred. Empty for a sound segment. Takes 4
    /// bytes of memory per document, and in addition either 4 bytes per document of the longest
    /// posting list, or 8 bytes per fingerprint of the longest signature.
    #[must_use]
    pub fn check(&self) -> Vec<Corruption> {
        let mut problems: Vec<Corruption> = Vec::new();
        for offset in self.file().damaged_pages() {
            let section = self.file().section_at(offset as u64);
            let what = "the page that begins here does not match its checksum";
            problems.push(Corruption::new(self.file().name(), section, offset as u64, what));
        }
        if problems.is_empty() {
            let mut checker =
                Checker { reader: self, problems: &mut problems, terms_of: Vec::new() };
            if let Err(problem) = checker.run() {
                problems.push(problem);
            }
        }
        problems.truncate(PROBLEMS_MAX);
        problems
    }
}

struct Checker<'a> {
    reader: &'a SegmentReader,
    problems: &'a mut Vec<Corruption>,
    /// The number of terms of each document according to the dictionary. Empty if stored signatures
    /// provide the number.
    terms_of: Vec<u32>,
}

/// Sums over the dictionary and over the signatures, which must be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct PostingsChecksum {
    postings: u64,
    /// The sum of a hash of every (term, document) pair.
    pairs: u64,
}

impl PostingsChecksum {
    fn add(&mut self, ordinal: u32, doc: u32) {
        self.postings += 1;
        self.pairs = self.pairs.wrapping_add(mix64(u64::from(ordinal) << 32 | u64::from(doc)));
    }
}

impl Checker<'_> {
    fn problem(&mut self, section: Section, what: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(self.reader.file().corruption(section, 0, what));
        }
    }

    fn run(&mut self) -> Result<(), Corruption> {
        self.ids()?;
        self.digests()?;
        let Header { signatures, documents, .. } = *self.reader.header();
        if !signatures {
            self.terms_of.resize(documents as usize, 0);
        }
        let told = self.terms()?;
        let shown = match signatures {
            true => self.documents()?,
            false => {
                self.documents_without_signatures()?;
                told
            }
        };
        if told != shown {
            let what = "the signatures contain other fingerprints than the posting lists";
            self.problem(Section::Forward, what.into());
        }
        Ok(())
    }

    fn terms(&mut self) -> Result<PostingsChecksum, Corruption> {
        let (file, index) = (self.reader.file(), self.reader.index());
        let mut checksum = PostingsChecksum::default();
        let key_max = u64::MAX >> (64 - file.header.key_bits);
        let (mut keys, mut postings, mut docs) = (Vec::new(), Vec::new(), Vec::new());
        let mut last_key = None;
        let mut group_keys = Vec::new();
        let mut ordinal = 0u32;
        let (mut blocks_end, mut lists_end) = (0, 0);
        for block_at in 0..index.blocks() {
            let located = index.locate(file, block_at)?;
            let (start, end) = located.range;
            if start != blocks_end {
                let what = format!("block {block_at} is not where the one before ends");
                self.problem(Section::TermIndex, what);
            }
            blocks_end = end;
            let block = index.open_block(file, &located)?;
            keys.clear();
            postings.clear();
            block.keys(&mut keys);
            block.all_postings(&mut postings);
            self.block(block_at, &block);
            for (&key, &postings) in keys.iter().zip(&postings) {
                docs.clear();
                let mut section = Section::Terms;
                match postings {
                    Postings::List(at) => {
                        section = Section::Postings;
                        let list = List::open(file, at)?;
                        list.decode(file, &mut docs)?;
                        if at != lists_end {
                            let what = format!("bytes before the list of key {key} are of no list");
                            self.problem(section, what);
                        }
                        lists_end = at + list.encoded_bytes(&docs) as u64;
                    }
                    inline => docs.extend(inline_docs(&inline)),
                }
                if last_key.is_some_and(|last| last >= key) || key > key_max {
                    self.problem(Section::Terms, format!("key {key} is out of order"));
                } else if !self.leads_to(key, block_at)? {
                    let what = format!("a look-up of key {key} leads to another block");
                    self.problem(Section::TermIndex, what);
                }
                let ascend = docs.windows(2).all(|pair| pair[0] < pair[1]);
                if !ascend || docs[docs.len() - 1] >= file.header.documents {
                    self.problem(section, format!("the list of key {key} cannot be read"));
                }
                for &doc in &docs {
                    checksum.add(ordinal, doc);
                    if let Some(terms) = self.terms_of.get_mut(doc as usize) {
                        *terms += 1;
                    }
                }
                last_key = Some(key);
                ordinal += 1;
            }
            group_keys.extend_from_slice(&keys);
            if (block_at + 1).is_multiple_of(GROUP_BLOCKS) || block_at + 1 == index.blocks() {
                self.filter(block_at / GROUP_BLOCKS, &group_keys)?;
                group_keys.clear();
            }
        }
        if lists_end != file.len(Section::Postings) as u64 {
            self.problem(Section::Postings, "bytes after the last list".into());
        }
        let Counts { terms, postings, .. } = *self.reader.counts();
        if (u64::from(ordinal), checksum.postings) != (terms, postings) {
            self.problem(
                Section::Terms,
                "the numbers of terms and postings differ from those of the header".into(),
            );
        }
        Ok(checksum)
    }

    /// Returns whether the term index leads from `key` to the block `block_at`.
    fn leads_to(&self, key: u64, block_at: usize) -> Result<bool, Corruption> {
        let (file, index) = (self.reader.file(), self.reader.index());
        let Some(group) = index.group_of(key) else { return Ok(false) };
        Ok(index.block_of(file, group, key)? == Some(block_at))
    }

    /// Checks that the filter of a group was made from its keys.
    fn filter(&mut self, group: usize, keys: &[u64]) -> Result<(), Corruption> {
        let (file, filters) = (self.reader.file(), self.reader.filters());
        let terms = file.footer.counts.terms as usize - group * GROUP_TERMS;
        // If a block lacks keys, its terms are reported instead.
        if keys.len() == terms.min(GROUP_TERMS) && !filters.is_of(file, group, keys)? {
            self.problem(Section::Filter, format!("that of group {group} is of other keys"));
        }
        if group == 0 && !filters.is_padded(file)? {
            self.problem(Section::Filter, "the bytes before its first line are not zero".into());
        }
        Ok(())
    }

    /// Checks that a block has the right keys and the right number of bytes.
    fn block(&mut self, block_at: usize, block: &Block<'_>) {
        let index = self.reader.index();
        if block.keys_marked() != block.len() {
            let what = format!("block {block_at} has {} keys", block.keys_marked());
            self.problem(Section::Terms, what);
        } else if !block.is_whole() && block_at + 1 == index.blocks() {
            let what = format!("block {block_at} does not end where the section does");
            self.problem(Section::Terms, what);
        } else if !block.is_whole() {
            let what = format!("block {} is not where block {block_at} ends", block_at + 1);
            self.problem(Section::TermIndex, what);
        }
    }

    /// Checks that the ids are encoded like the writer does, without gaps.
    fn ids(&mut self) -> Result<(), Corruption> {
        let file = self.reader.file();
        let mut end = 0;
        for group in 0..documents::id_groups(file) {
            let place = documents::ids_of_group(file, group)?;
            if place.start != end {
                let what = format!("group {group} is not where the one before ends");
                return Err(file.corruption(Section::Ids, place.start, what));
            }
            if !ids::is_as_written(file, group)? {
                self.problem(Section::Ids, format!("group {group} is not as it is written"));
            }
            end = place.end;
        }
        if end != file.len(Section::Ids) {
            self.problem(Section::Ids, "bytes after the last group".into());
        }
        Ok(())
    }

    /// Checks that the digests lead to their documents, each document once and in order.
    fn digests(&mut self) -> Result<(), Corruption> {
        let file = self.reader.file();
        let documents = 0..file.header.documents;
        // In document order, because neighbors in the column belong to distant documents.
        let mut knowns = Vec::with_capacity(documents.len());
        for doc in documents.clone() {
            knowns.push(documents::known_of(self.reader.digest(doc)?) as u32);
        }
        let mut last = None;
        for place in documents {
            let (known, doc) = documents::digest_at(file, place)?;
            documents::check_exists(file, doc)?;
            if last.is_some_and(|last| last >= (known, doc)) {
                let what = format!("the digest at place {place} is out of order");
                self.problem(Section::Documents, what);
            } else if u64::from(knowns[doc as usize]) != known {
                let what = format!("the digest at place {place} is not that of document {doc}");
                self.problem(Section::Documents, what);
            }
            last = Some((known, doc));
        }
        Ok(())
    }

    fn documents(&mut self) -> Result<PostingsChecksum, Corruption> {
        let mut checksum = PostingsChecksum::default();
        let (mut ordinals, mut positions) = (Vec::new(), Vec::new());
        let (mut occurrences, mut tokens, mut end) = (0, 0, 0);
        let file = self.reader.file();
        for doc in 0..self.reader.header().documents {
            let row = self.reader.document(doc)?;
            let at = usize::try_from(row.forward_at).unwrap_or(usize::MAX);
            let list = ForwardList::open(file, at)?;
            list.decode(file, &mut ordinals, &mut positions)?;
            if at != end {
                let what = format!("bytes before the signature of document {doc} are of none");
                self.problem(Section::Forward, what);
            }
            end = list.end();
            occurrences += ordinals.len() as u64;
            tokens += u64::from(row.tokens);
            let in_text = positions.iter().all(|&position| position < row.tokens);
            let in_order = positions.windows(2).all(|pair| pair[0] <= pair[1]);
            if !in_text || !in_order {
                self.problem(Section::Forward, format!("document {doc} has impossible positions"));
            }
            ordinals.sort_unstable();
            ordinals.dedup();
            ordinals.iter().for_each(|&ordinal| checksum.add(ordinal, doc));
            if ordinals.len() as u64 != u64::from(row.distinct) {
                let what = format!("document {doc} has {} fingerprints", ordinals.len());
                self.problem(Section::Documents, what);
            }
        }
        if end != file.len(Section::Forward) {
            self.problem(Section::Forward, "bytes after the last signature".into());
        }
        self.totals(occurrences, tokens);
        Ok(checksum)
    }

    /// Checks the rows of documents against the posting lists, in a segment without signatures.
    fn documents_without_signatures(&mut self) -> Result<(), Corruption> {
        let mut tokens = 0;
        for (doc, terms) in (0..).zip(std::mem::take(&mut self.terms_of)) {
            let row = self.reader.document(doc)?;
            tokens += u64::from(row.tokens);
            if row.distinct != terms {
                let what = format!("document {doc} has {terms} fingerprints");
                self.problem(Section::Documents, what);
            }
        }
        self.totals(0, tokens);
        Ok(())
    }

    /// Checks that the documents add up to the counts of the segment.
    fn totals(&mut self, occurrences: u64, tokens: u64) {
        let counts = self.reader.counts();
        if (occurrences, tokens) != (counts.occurrences, counts.tokens) {
            self.problem(
                Section::Documents,
                "the numbers of fingerprints and tokens differ from those of the header".into(),
            );
        }
    }
}
