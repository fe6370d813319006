//! Reads keys and document frequencies of terms with known ordinals.
//!
//! The terms of a signature are spread over the whole dictionary, so that each read would wait for
//! memory or disk separately. Many terms are therefore read together, step by step, and each step
//! requests the bytes that the next step reads.

use super::bits::VARINT_BYTES_MAX;
use super::block::Block;
use super::layout::{BLOCK_TERMS, Section};
use super::postings::List;
use super::prefetch::near;
use super::reader::SegmentReader;
use super::term_index::LocatedBlock;
use crate::error::Corruption;

/// The number of keys that are read together. Their state between the steps stays in the
/// second-level cache.
const KEYS_AT_ONCE: usize = 1 << 12;

impl SegmentReader {
    /// Returns the keys of the terms with these ordinals, in the order of `ordinals`.
    ///
    /// # Errors
    /// When the bytes are damaged, or there is no such term.
    pub fn keys_at(&self, ordinals: &[u32]) -> Result<Vec<u64>, Corruption> {
        let mut keys = Vec::with_capacity(ordinals.len());
        for part in ordinals.chunks(KEYS_AT_ONCE) {
            let located = self.locate(part)?;
            near(located.iter().map(|at| {
                // High parts take 64 to 96 bytes.
                let touch = |at| self.file().touch(Section::Terms, at);
                touch(at.range.0) ^ touch(at.range.0 + 64)
            }));
            let placed = self.place(part, &located)?;
            keys.extend(placed.iter().map(|(block, index, high)| block.key_of(*high, *index)));
        }
        Ok(keys)
    }

    /// Returns the document frequencies of the terms with these ordinals, in the order of
    /// `ordinals`, deleted documents included. Reads no keys.
    ///
    /// # Errors
    /// When the bytes are damaged, or there is no such term.
    pub(crate) fn dfs_at(&self, ordinals: &[u32]) -> Result<Vec<u32>, Corruption> {
        let mut dfs = Vec::with_capacity(ordinals.len());
        let mut lists = Vec::new();
        for part in ordinals.chunks(KEYS_AT_ONCE) {
            let located = self.locate(part)?;
            near(part.iter().zip(&located).map(|(&ordinal, located)| {
                let [flag, entry] = located.flag_and_entry(ordinal as usize % BLOCK_TERMS);
                self.file().touch(Section::Terms, flag) ^ self.file().touch(Section::Terms, entry)
            }));
            lists.clear();
            for (&ordinal, located) in part.iter().zip(&located) {
                let block = self.index().open_block(self.file(), located)?;
                dfs.push(match block.df_or_list(ordinal as usize % BLOCK_TERMS) {
                    Ok(df) => df,
                    Err(list) => {
                        lists.push((dfs.len(), list as usize));
                        0
                    }
                });
            }
            let own = |&(_, list): &(usize, usize)| list..list + VARINT_BYTES_MAX;
            self.file().fetch(Section::Postings, lists.iter().map(own));
            near(lists.iter().map(|&(_, list)| self.file().touch(Section::Postings, list)));
            for &(at, list) in &lists {
                dfs[at] = List::df_at(self.file(), list)?;
            }
        }
        Ok(dfs)
    }

    /// Returns the blocks of the terms.
    fn locate(&self, ordinals: &[u32]) -> Result<Vec<LocatedBlock>, Corruption> {
        let (file, index) = (self.file(), self.index());
        let terms = self.counts().terms;
        if let Some(ordinal) = ordinals.iter().find(|&&ordinal| u64::from(ordinal) >= terms) {
            let what = format!("there is no term {ordinal}");
            return Err(file.corruption(Section::Terms, 0, what));
        }
        let block_of = |&ordinal: &u32| ordinal as usize / BLOCK_TERMS;
        near(
            ordinals
                .iter()
                .map(|ordinal| file.touch(Section::TermIndex, index.entry_at(block_of(ordinal)))),
        );
        let located = index.locate_all(file, ordinals.iter().map(block_of))?;
        file.fetch(Section::Terms, located.iter().map(|at| at.range.0..at.range.1));
        Ok(located)
    }

    /// Returns the places of the terms in their blocks, with the high parts of their keys. Requests
    /// the entries of the terms.
    fn place(
        &self,
        ordinals: &[u32],
        located: &[LocatedBlock],
    ) -> Result<Vec<(Block<'_>, usize, u64)>, Corruption> {
        let mut placed = Vec::with_capacity(ordinals.len());
        for (&ordinal, located) in ordinals.iter().zip(located) {
            let block = self.index().open_block(self.file(), located)?;
            let index = ordinal as usize % BLOCK_TERMS;
            let Some(high) = block.high(index) else {
                let (start, _) = located.range;
                let what = format!("block {} has no term {ordinal}", located.block);
                return Err(self.file().corruption(Section::Terms, start, what));
            };
            placed.push((block, index, high));
        }
        near(placed.iter().map(|(block, index, _)| block.entry(*index)));
        Ok(placed)
    }
}
