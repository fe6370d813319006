//! The signatures of documents.
//!
//! The forward list of a document has its fingerprints as term ordinals with their positions. It is
//! the input of alignment, exact overlap, containment of the hit in the query, and merging. Layout:
//! segments-format.md, "Forward".

use super::bits::{BitWriter, VARINT_BYTES_MAX, column_bytes, get, put_varint, take_varint};
use super::file::SigFile;
use super::layout::Section;
use crate::error::Corruption;

/// The longest list that takes no bytes per occurrence: occurrences of a single term at position 0,
/// in a segment without other terms.
const EMPTY_OCCURRENCES_MAX: usize = 1 << 16;

/// Appends a forward list: pairs of a term ordinal and a position, ordered by position.
pub fn put_list(
    bytes: &mut Vec<u8>,
    ordinals: impl ExactSizeIterator<Item = u32>,
    positions: &[u32],
    ordinal_bits: u32,
) {
    assert_eq!(ordinals.len(), positions.len(), "an ordinal for each position");
    // A single pass finds the width: the OR of all values is as wide as the largest value.
    let mut all_deltas = positions.first().copied().unwrap_or(0);
    for pair in positions.windows(2) {
        all_deltas |= pair[1] - pair[0];
    }
    let delta_bits = u32::BITS - all_deltas.leading_zeros();
    put_ordinals(bytes, ordinals, ordinal_bits, delta_bits);
    let mut writer = BitWriter::new(bytes);
    let mut last = 0;
    for &position in positions {
        writer.put(u64::from(position - last), delta_bits);
        last = position;
    }
    writer.finish();
}

/// Appends the part of a list before its positions.
fn put_ordinals(
    bytes: &mut Vec<u8>,
    ordinals: impl ExactSizeIterator<Item = u32>,
    ordinal_bits: u32,
    delta_bits: u32,
) {
    put_varint(bytes, ordinals.len() as u64);
    if ordinals.len() == 0 {
        return;
    }
    bytes.push(delta_bits as u8);
    let mut writer = BitWriter::new(bytes);
    for ordinal in ordinals {
        writer.put(u64::from(ordinal), ordinal_bits);
    }
    writer.finish();
}

/// A forward list, read in place.
#[derive(Debug, Clone, Copy)]
pub struct ForwardList<'a> {
    len: usize,
    ordinal_bits: u32,
    delta_bits: u32,
    ordinals: &'a [u8],
    deltas: &'a [u8],
    at: usize,
}

impl<'a> ForwardList<'a> {
    /// Returns the list that begins at byte `at` of the forward section.
    ///
    /// # Errors
    /// When the bytes are damaged or reach beyond the section.
    pub fn open(file: &'a SigFile, at: usize) -> Result<ForwardList<'a>, Corruption> {
        let damage = |what| file.corruption(Section::Forward, at, what);
        let mut head = file.read_up_to(Section::Forward, at, VARINT_BYTES_MAX + 1)?;
        let before = head.len();
        let len = take_varint(&mut head)
            .filter(|&len| len <= file.footer.counts.occurrences)
            .ok_or_else(|| damage("a list is longer than all lists together"))?
            as usize;
        let ordinal_bits = u32::from(file.footer.widths.ordinal);
        if len == 0 {
            return Ok(ForwardList {
                len,
                ordinal_bits,
                delta_bits: 0,
                ordinals: &[],
                deltas: &[],
                at,
            });
        }
        let delta_bits = head.first().copied().map(u32::from).filter(|&bits| bits <= 32);
        let delta_bits = delta_bits.ok_or_else(|| damage("positions are wider than 32 bits"))?;
        // Columns of width 0 take no bytes, so the file size does not limit their cost.
        if ordinal_bits + delta_bits == 0 && len > EMPTY_OCCURRENCES_MAX {
            return Err(damage("a list has too many equal fingerprints at position 0"));
        }
        let start = at + (before - head.len()) + 1;
        let ordinals_len = column_bytes(len, ordinal_bits);
        let deltas_len = column_bytes(len, delta_bits);
        let columns = file.read(Section::Forward, start, ordinals_len + deltas_len)?;
        let (ordinals, deltas) = columns.split_at(ordinals_len);
        Ok(ForwardList { len, ordinal_bits, delta_bits, ordinals, deltas, at })
    }

    /// Returns the offset of the end of the list in its section.
    pub fn end(&self) -> usize {
        let mut count = Vec::new();
        put_varint(&mut count, self.len as u64);
        let width = usize::from(self.len > 0);
        self.at + count.len() + width + self.ordinals.len() + self.deltas.len()
    }

    /// Returns the number of fingerprints.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the term ordinals in order, without checking that the segment has such terms.
    pub fn ordinals(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len).map(|i| get(self.ordinals, i, self.ordinal_bits) as u32)
    }

    /// Returns the distance of the position at `place` from the previous position, or from 0.
    pub fn gap(&self, place: usize) -> u32 {
        get(self.deltas, place, self.delta_bits) as u32
    }

    /// Returns the last position, or 0 for an empty list.
    pub fn last_position(&self) -> u64 {
        (0..self.len).map(|place| u64::from(self.gap(place))).sum()
    }

    /// Appends the list in the form for a segment where its terms have these `ordinals`. The
    /// encoded positions are copied unchanged.
    pub fn put_renumbered(&self, bytes: &mut Vec<u8>, ordinals: &[u32], ordinal_bits: u32) {
        assert_eq!(ordinals.len(), self.len, "an ordinal for each of its own");
        put_ordinals(bytes, ordinals.iter().copied(), ordinal_bits, self.delta_bits);
        bytes.extend_from_slice(self.deltas);
    }

    /// Refuses a list with a position of more than 32 bits.
    ///
    /// # Errors
    /// When there is such a position.
    pub fn check_positions(&self, file: &SigFile) -> Result<(), Corruption> {
        let gap_max = (1u64 << self.delta_bits) - 1;
        // Few lists are long enough, or have gaps wide enough, to need a pass.
        let may_exceed = gap_max.saturating_mul(self.len as u64) > u64::from(u32::MAX);
        if may_exceed && self.last_position() > u64::from(u32::MAX) {
            return Err(self.is_beyond(file));
        }
        Ok(())
    }

    #[cold]
    fn is_beyond(&self, file: &SigFile) -> Corruption {
        file.corruption(Section::Forward, self.at, "a position exceeds 32 bits")
    }

    /// Fills `ordinals` and `positions`, replacing their contents.
    ///
    /// # Errors
    /// When the segment has no term with such an ordinal, or a position has more than 32 bits.
    pub fn decode(
        &self,
        file: &SigFile,
        ordinals: &mut Vec<u32>,
        positions: &mut Vec<u32>,
    ) -> Result<(), Corruption> {
        ordinals.clear();
        self.decode_positions(file, positions)?;
        self.decode_ordinals(file, ordinals)
    }

    /// Appends the term ordinals to `ordinals`.
    ///
    /// # Errors
    /// When the segment has no term with such an ordinal. Some ordinals have been appended then.
    pub fn decode_ordinals(
        &self,
        file: &SigFile,
        ordinals: &mut Vec<u32>,
    ) -> Result<(), Corruption> {
        let before = ordinals.len();
        ordinals.extend(self.ordinals());
        let terms = file.footer.counts.terms;
        if ordinals[before..].iter().any(|&ordinal| u64::from(ordinal) >= terms) {
            let what = "a term ordinal is beyond the last term";
            return Err(file.corruption(Section::Forward, self.at, what));
        }
        Ok(())
    }

    /// Fills `positions`, replacing its contents.
    ///
    /// # Errors
    /// When a position has more than 32 bits.
    fn decode_positions(&self, file: &SigFile, positions: &mut Vec<u32>) -> Result<(), Corruption> {
        positions.clear();
        let (mut position, mut is_beyond) = (0u32, false);
        positions.extend((0..self.len).map(|i| {
            let delta = get(self.deltas, i, self.delta_bits) as u32;
            let (next, overflows) = position.overflowing_add(delta);
            (position, is_beyond) = (next, is_beyond | overflows);
            position
        }));
        if is_beyond {
            return Err(self.is_beyond(file));
        }
        Ok(())
    }
}
