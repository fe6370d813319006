//! What is the signature of this document, in order?
//!
//! For each document its fingerprints as term ordinals with the positions where they were taken:
//! what alignment, exact overlap, containment of the hit in the query and merging read. Layout:
//! segments-format.md, "Forward".

use super::bits::{BitWriter, VARINT_BYTES_MAX, column_bytes, get, put_varint, take_varint};
use super::file::SigFile;
use super::layout::Section;
use crate::error::Corruption;

/// A document has at most this many occurrences of one term at position 0 and of nothing else, in a
/// segment without another term.
const EMPTY_OCCURRENCES_MAX: usize = 1 << 16;

/// Appends the forward list of a document: pairs of a term ordinal and a position, positions not
/// descending.
pub fn put_list(
    bytes: &mut Vec<u8>,
    ordinals: impl ExactSizeIterator<Item = u32>,
    positions: &[u32],
    ordinal_bits: u32,
) {
    assert_eq!(ordinals.len(), positions.len(), "an ordinal for each position");
    put_varint(bytes, positions.len() as u64);
    if positions.is_empty() {
        return;
    }
    // One pass for the width: OR has the width of the greatest.
    let mut all_deltas = positions[0];
    for pair in positions.windows(2) {
        all_deltas |= pair[1] - pair[0];
    }
    let delta_bits = u32::BITS - all_deltas.leading_zeros();
    bytes.push(delta_bits as u8);
    let mut writer = BitWriter::new(bytes);
    for ordinal in ordinals {
        writer.put(u64::from(ordinal), ordinal_bits);
    }
    writer.finish();
    let mut writer = BitWriter::new(bytes);
    let mut last = 0;
    for &position in positions {
        writer.put(u64::from(position - last), delta_bits);
        last = position;
    }
    writer.finish();
}

/// A forward list where it lies.
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
    /// The list that begins at byte `at` of the forward section.
    ///
    /// # Errors
    /// When its bytes are damaged or reach beyond the section.
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
        // Columns without a bit take no bytes, so nothing else bounds what decoding them takes.
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

    /// Where the list ends in its section.
    pub fn end(&self) -> usize {
        let mut count = Vec::new();
        put_varint(&mut count, self.len as u64);
        let width = usize::from(self.len > 0);
        self.at + count.len() + width + self.ordinals.len() + self.deltas.len()
    }

    /// How many fingerprints it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The term ordinals, in order. That they are of terms of the segment is not checked.
    pub fn ordinals(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len).map(|i| get(self.ordinals, i, self.ordinal_bits) as u32)
    }

    /// How far the position at `place` is from the one before it, or from 0.
    pub fn gap(&self, place: usize) -> u32 {
        get(self.deltas, place, self.delta_bits) as u32
    }

    /// The last position, or 0.
    pub fn last_position(&self) -> u64 {
        (0..self.len).map(|place| u64::from(self.gap(place))).sum()
    }

    /// Clears and fills `ordinals` and `positions`.
    ///
    /// # Errors
    /// When an ordinal is not of a term of the segment, or a position has more than 32 bits.
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
    /// When one is not of a term of the segment; some have been appended then.
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

    /// Clears and fills `positions`.
    ///
    /// # Errors
    /// When one has more than 32 bits.
    pub fn decode_positions(
        &self,
        file: &SigFile,
        positions: &mut Vec<u32>,
    ) -> Result<(), Corruption> {
        positions.clear();
        let (mut position, mut is_beyond) = (0u32, false);
        positions.extend((0..self.len).map(|i| {
            let delta = get(self.deltas, i, self.delta_bits) as u32;
            let (next, overflows) = position.overflowing_add(delta);
            (position, is_beyond) = (next, is_beyond | overflows);
            position
        }));
        // A merge writes differences of positions, which must not descend.
        if is_beyond {
            let what = "a position exceeds 32 bits";
            return Err(file.corruption(Section::Forward, self.at, what));
        }
        Ok(())
    }
}
