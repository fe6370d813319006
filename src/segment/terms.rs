//! The order of terms in the file, and their index and filter.
//!
//! Terms are written in key order into blocks, and 64 blocks form a group. For each group the
//! writer records the places and encodings of its blocks, and makes the filter of its keys. An FST
//! has the separators between all groups. An FST with an entry per key would take three times the
//! bytes, because random keys share almost nothing. Layout: segments-format.md, "Terms", "Term
//! index" and "Filter".

use std::io::{self, Write};

use super::block::BlockBuilder;
use super::filter;
use super::layout::{BLOCK_TERMS, GROUP_TERMS, Header};
use super::postings::{Postings, Spool};
use super::term_index::{Entry, GroupHead};

/// Writes terms in key order, group by group.
pub struct TermsWriter {
    header: Header,
    block: BlockBuilder,
    group: TermGroup,
    lists: Spool,
    filter: Spool,
    directory: Vec<u8>,
    separators: fst::MapBuilder<Vec<u8>>,
    /// The blocks of the current group, not written yet.
    blocks: Vec<u8>,
    written: u64,
    /// The last key of the previous group.
    last_key: Option<u64>,
    terms: u64,
}

/// The group whose terms are being collected.
#[derive(Default)]
struct TermGroup {
    keys: Vec<u64>,
    entries: Vec<Entry>,
    /// The offset of the group's first list.
    lists_base: Option<u64>,
}

/// The parts to be written after the last block.
pub struct TermsEnd {
    /// The term index: the records of the groups, and the finished FST.
    pub index: Vec<u8>,
    /// The filters of the groups.
    pub filter: Spool,
    /// The posting lists, for the section that follows.
    pub lists: Spool,
    /// The number of terms.
    pub terms: u64,
}

impl TermsWriter {
    /// Creates a writer of the terms of a segment with this `header`. Posting lists go to `lists`.
    pub fn new(header: Header, lists: Spool) -> TermsWriter {
        TermsWriter {
            header,
            block: BlockBuilder::default(),
            group: TermGroup::default(),
            filter: lists.beside(),
            lists,
            directory: Vec::new(),
            separators: fst::MapBuilder::memory(),
            blocks: Vec::new(),
            written: 0,
            last_key: None,
            terms: 0,
        }
    }

    /// Appends a term and its ascending documents. `key` must be larger than the last key.
    #[inline]
    pub fn push(&mut self, out: &mut impl Write, key: u64, docs: &[u32]) -> io::Result<()> {
        if self.block.len() == BLOCK_TERMS {
            self.end_block();
            if self.group.keys.len() == GROUP_TERMS {
                self.end_group(out)?;
            }
        }
        let postings = match *docs {
            [] => unreachable!("a term occurs in a document"),
            [doc] => Postings::One(doc),
            [first, second] => Postings::Two(first, second),
            _ => {
                let at = self.lists.push(docs)?;
                self.group.lists_base.get_or_insert(at);
                Postings::List(at)
            }
        };
        self.block.push(key, postings);
        Ok(())
    }

    /// Writes the last group. Returns the parts that belong elsewhere in the file.
    pub fn finish(mut self, out: &mut impl Write) -> io::Result<TermsEnd> {
        if self.block.len() > 0 {
            self.end_block();
        }
        if !self.group.keys.is_empty() {
            self.end_group(out)?;
        }
        let mut index = self.directory;
        index.extend(self.separators.into_inner().map_err(io::Error::other)?);
        Ok(TermsEnd { index, filter: self.filter, lists: self.lists, terms: self.terms })
    }

    fn end_block(&mut self) {
        let offset = self.blocks.len();
        self.group.keys.extend_from_slice(self.block.keys());
        let lists_base = self.group.lists_base.unwrap_or(0);
        let shape = self.block.write(&mut self.blocks, self.header.doc_bits(), lists_base);
        self.group.entries.push(Entry { shape, offset });
    }

    fn end_group(&mut self, out: &mut impl Write) -> io::Result<()> {
        let TermGroup { keys, entries, lists_base } = &mut self.group;
        let key_bytes = self.header.key_bytes();
        let separator = separator(self.last_key, keys[0], key_bytes);
        let record = self.directory.len() as u64;
        self.separators.insert(&separator, record).map_err(io::Error::other)?;
        let head = GroupHead { terms_base: self.written, lists_base: lists_base.unwrap_or(0) };
        head.put(&mut self.directory);
        entries.iter().for_each(|entry| entry.put(&mut self.directory, key_bytes));
        self.filter.append(&filter::of_keys(keys))?;
        out.write_all(&self.blocks)?;

        self.written += self.blocks.len() as u64;
        self.terms += keys.len() as u64;
        self.last_key = keys.last().copied();
        self.blocks.clear();
        keys.clear();
        entries.clear();
        *lists_base = None;
        Ok(())
    }
}

/// Returns the shortest string that is greater than the big-endian form of `last` and at most the
/// big-endian form of `first`. Empty before the first group.
fn separator(last: Option<u64>, first: u64, key_bytes: usize) -> Vec<u8> {
    let bytes = |key: u64| key.to_be_bytes()[8 - key_bytes..].to_vec();
    let Some(last) = last else { return Vec::new() };
    let (last, mut first) = (bytes(last), bytes(first));
    let common = last.iter().zip(&first).take_while(|(a, b)| a == b).count();
    first.truncate(common + 1);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_separator_separates(last: u64, first: u64) {
            let (last, first) = (last.min(first) >> 8, last.max(first) >> 8);
            prop_assume!(last < first);
            let separator = separator(Some(last), first, 7);
            prop_assert!(separator.as_slice() > &last.to_be_bytes()[1..]);
            prop_assert!(separator.as_slice() <= &first.to_be_bytes()[1..]);
        }
    }
}
