//! Encodings of small integers.
//!
//! Every section uses the same three encodings: columns of bit-packed integers with a fixed width,
//! varints, and little-endian integers. Layout: segments-format.md, "Conventions".

/// Returns the number of bits that `value` needs. 0 needs no bits.
pub fn width_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// Returns the bytes of a column of `count` values with `width` bits each. A hostile count leads to
/// more bytes than any file has.
pub fn column_bytes(count: usize, width: u32) -> usize {
    count.saturating_mul(width as usize).div_ceil(8)
}

/// Returns value `index` of a column of `width`-bit values at the beginning of `bytes`.
///
/// Bits outside `bytes` read as zero, so a hostile length leads to a wrong value, never a panic.
#[inline]
pub fn get(bytes: &[u8], index: usize, width: u32) -> u64 {
    get_bits(bytes, index * width as usize, width)
}

/// Returns the `width` bits of `bytes` from bit `bit` on. Bits outside `bytes` read as zero.
#[inline]
pub fn get_bits(bytes: &[u8], bit: usize, width: u32) -> u64 {
    if width == 0 {
        return 0;
    }
    let (first, shift) = (bit / 8, (bit % 8) as u32);
    let mask = u64::MAX >> (64 - width);
    if let Some(word) = bytes.get(first..first + 8).and_then(|eight| eight.try_into().ok()) {
        let mut value = u64::from_le_bytes(word) >> shift;
        if shift + width > 64 {
            value |= u64::from(bytes.get(first + 8).copied().unwrap_or(0)) << (64 - shift);
        }
        return value & mask;
    }
    get_near_end(bytes, first, shift) & mask
}

#[cold]
fn get_near_end(bytes: &[u8], first: usize, shift: u32) -> u64 {
    let mut word = [0; 16];
    let tail = bytes.get(first..).unwrap_or(&[]);
    let len = tail.len().min(word.len());
    word[..len].copy_from_slice(&tail[..len]);
    (u128::from_le_bytes(word) >> shift) as u64
}

/// Appends bit-packed values to a byte buffer, least significant bit first.
pub struct BitWriter<'a> {
    bytes: &'a mut Vec<u8>,
    pending: u64,
    pending_bits: u32,
}

impl<'a> BitWriter<'a> {
    /// Creates a writer whose first value starts at the current end of `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>) -> BitWriter<'a> {
        BitWriter { bytes, pending: 0, pending_bits: 0 }
    }

    /// Appends the low `width` bits of `value`. Higher bits must be zero.
    #[inline]
    pub fn put(&mut self, value: u64, width: u32) {
        debug_assert!(width_of(value) <= width, "value wider than its column");
        if width == 0 {
            return;
        }
        self.pending |= value << self.pending_bits;
        let filled = self.pending_bits + width;
        if filled < 64 {
            self.pending_bits = filled;
            return;
        }
        self.bytes.extend_from_slice(&self.pending.to_le_bytes());
        let written = 64 - self.pending_bits;
        self.pending = if written < 64 { value >> written } else { 0 };
        self.pending_bits = filled - 64;
    }

    /// Pads the column with zero bits to a whole byte.
    pub fn finish(self) {
        let len = self.pending_bits.div_ceil(8) as usize;
        self.bytes.extend_from_slice(&self.pending.to_le_bytes()[..len]);
    }
}

/// Appends `values` as a column of `width` bits each.
pub fn put_column(bytes: &mut Vec<u8>, values: impl IntoIterator<Item = u64>, width: u32) {
    let mut writer = BitWriter::new(bytes);
    for value in values {
        writer.put(value, width);
    }
    writer.finish();
}

/// The most bytes of a varint.
pub const VARINT_BYTES_MAX: usize = 10;

/// Appends `value` as a varint: seven bits a byte, low bits first. The high bit is set on every
/// byte except the last.
#[inline]
pub fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Takes a varint off the front of `bytes`. `None` for a varint that is cut off or longer than 64
/// bits.
#[inline]
pub fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (i, &byte) in bytes.iter().take(VARINT_BYTES_MAX).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if i == VARINT_BYTES_MAX - 1 && bits > 1 {
            return None;
        }
        value |= bits << (7 * i);
        if byte < 0x80 {
            *bytes = &bytes[i + 1..];
            return Some(value);
        }
    }
    None
}

/// Takes `N` bytes off the front of `bytes`.
pub fn take_array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = bytes.split_at_checked(N)?;
    *bytes = tail;
    head.try_into().ok()
}

/// Returns the unsigned little-endian integer in at most eight bytes.
#[inline]
pub fn uint_le(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_column_gives_back_its_values(
            width in 0u32..=64,
            values in proptest::collection::vec(any::<u64>(), 0..300),
            lead in 0usize..9,
        ) {
            let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
            let values: Vec<u64> = values.into_iter().map(|v| v & mask).collect();
            let mut bytes = vec![0xAA; lead];
            put_column(&mut bytes, values.iter().copied(), width);
            prop_assert_eq!(bytes.len() - lead, column_bytes(values.len(), width));
            for (i, &value) in values.iter().enumerate() {
                prop_assert_eq!(get(&bytes[lead..], i, width), value);
            }
        }

        #[test]
        fn a_varint_gives_back_its_value(value: u64, small in 0u64..300) {
            for value in [value, small, value >> 32] {
                let mut bytes = Vec::new();
                put_varint(&mut bytes, value);
                bytes.push(7);
                let mut rest = bytes.as_slice();
                prop_assert_eq!(take_varint(&mut rest), Some(value));
                prop_assert_eq!(rest, &[7u8][..]);
            }
        }

        #[test]
        fn a_column_read_past_its_end_is_no_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..40), index in 0usize..1000, width in 0u32..=64,
        ) {
            get(&bytes, index, width);
        }
    }

    #[test]
    fn a_column_of_a_hostile_count_is_longer_than_any_file() {
        // In 64 bits, the product once was 0.
        assert_eq!(column_bytes(1 << 59, 32), usize::MAX.div_ceil(8));
        assert_eq!(column_bytes(usize::MAX, 0), 0);
    }

    #[test]
    fn a_varint_that_is_cut_off_or_too_long_is_refused() {
        assert_eq!(take_varint(&mut &[0x80u8, 0x80][..]), None);
        assert_eq!(take_varint(&mut &[0xffu8; 11][..]), None);
        let mut longest = vec![0xff; 9];
        longest.push(1);
        assert_eq!(take_varint(&mut longest.as_slice()), Some(u64::MAX));
    }
}
