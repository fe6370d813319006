//! The hash function of cento, permanent and equal on every machine.
//!
//! There is a single hash function with a version: every index stores [`HASH_VERSION`], and cento
//! refuses an index with another version. XXH3 (64 bits, seed 0) hashes the normalized UTF-8 bytes
//! of tokens, and [`mix64`] mixes numbers. A [`Digest`] of 128 bits decides whether two texts or
//! two ids are equal.

use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

/// The version of this module's functions. Raise it whenever any output changes.
pub const HASH_VERSION: u32 = 1;

/// Returns the hash of a byte string: XXH3, 64 bits, seed 0.
///
/// ```
/// use cento_text::hash::hash_bytes;
///
/// // The hash is permanent: an index from any machine has the same numbers.
/// assert_eq!(hash_bytes(b""), 0x2d06_8005_38d3_94c2);
/// ```
#[inline]
#[must_use]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// A bijection of the 64-bit integers, whose output bits all depend on every input bit (the
/// finalizer of SplitMix64).
#[inline]
#[must_use]
pub fn mix64(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Identifies a text, an id, or several of them: XXH3, 128 bits, seed 0.
///
/// The probability that any two of 10^9 different texts have the same digest is 1.5e-21. With 64
/// bits it would be 2.7 %. A digest does not protect against an attacker who looks for two texts
/// with the same digest, because XXH3 is no cryptographic hash.
///
/// ```
/// use cento_text::hash::Digest;
///
/// assert_eq!(Digest::of(b"the same text"), Digest::of(b"the same text"));
/// // Lists are hashed with lengths, so moving a byte to the next part changes the digest.
/// assert_ne!(Digest::of_parts(&[b"ab", b"c"]), Digest::of_parts(&[b"a", b"bc"]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Digest {
    /// The low half of the 128 bits.
    pub low: u64,
    /// The high half of the 128 bits.
    pub high: u64,
}

impl Digest {
    /// Returns the digest of a byte string.
    #[inline]
    #[must_use]
    pub fn of(bytes: &[u8]) -> Digest {
        Digest::from(xxh3_128(bytes))
    }

    /// Returns the digest of a list of byte strings. The length of a string as a little-endian
    /// `u64` precedes its bytes, so two different lists never hash the same bytes.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Digest {
        let mut hash = Xxh3::new();
        for part in parts {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Digest::from(hash.digest128())
    }

    /// Returns the 16 bytes of the digest, little-endian.
    #[must_use]
    pub fn to_le_bytes(self) -> [u8; 16] {
        (u128::from(self.high) << 64 | u128::from(self.low)).to_le_bytes()
    }
}

impl From<u128> for Digest {
    fn from(number: u128) -> Digest {
        Digest { low: number as u64, high: (number >> 64) as u64 }
    }
}

impl Hash for Digest {
    /// Hashes the low half, because 64 bits are enough to find a place in a map.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.low);
    }
}

/// Returns the hash of named values: XXH3 (64 bits, seed 0) of every name and its value, in the
/// order of the names' bytes. A length precedes every string, as in [`Digest::of_parts`].
///
/// The map is sorted and has texts as values, so that the hash depends neither on the order of the
/// members of a JSON object, which a feature of `serde_json` changes, nor on a derived `Debug`.
#[must_use]
pub fn hash_fields(fields: &BTreeMap<&str, String>) -> u64 {
    let mut hash = Xxh3::new();
    for part in fields.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]) {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.digest()
}

/// The [`hash_bytes`] of a byte string that arrives in pieces.
///
/// For words too long to hold in memory. `finish` returns exactly the hash of the joined pieces.
#[derive(Clone, Default)]
pub(crate) struct HashStream(Xxh3);

impl std::fmt::Debug for HashStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HashStream").finish_non_exhaustive()
    }
}

impl HashStream {
    /// Creates a stream without bytes.
    #[must_use]
    pub fn new() -> HashStream {
        HashStream(Xxh3::new())
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of the bytes written so far. More bytes may follow.
    #[must_use]
    pub fn finish(&self) -> u64 {
        self.0.digest()
    }
}

/// The hasher of maps whose keys are hashes already. A map finds the place of a key by the low
/// bits, and compares the highest seven bits before the key. A fingerprint has only 40 bits, so the
/// hasher spreads the key over all 64 bits.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeyHasher(u64);

/// Builds the hashers of maps whose keys are hashes already.
pub type BuildKeyHasher = BuildHasherDefault<KeyHasher>;

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash_bytes(bytes);
    }

    fn write_u64(&mut self, key: u64) {
        // The golden ratio, as in Fibonacci hashing (Knuth, TAOCP 3, section 6.4).
        self.0 = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::BuildHasher;

    #[test]
    fn keys_of_40_bits_differ_in_the_bits_that_a_map_compares() {
        let hashes = || (0..1000u64).map(|i| BuildKeyHasher::default().hash_one(mix64(i) >> 24));
        let places: std::collections::BTreeSet<u64> = hashes().map(|hash| hash & 0x7f).collect();
        let tags: std::collections::BTreeSet<u64> = hashes().map(|hash| hash >> 57).collect();
        assert_eq!((places.len(), tags.len()), (128, 128));
    }

    #[test]
    fn a_stream_hashes_as_the_whole() {
        let bytes: Vec<u8> = (0..5000u32).map(|i| mix64(u64::from(i)) as u8).collect();
        for length in [0, 1, 3, 8, 16, 17, 128, 129, 240, 241, 1024, 4999] {
            let mut stream = HashStream::new();
            for piece in bytes[..length].chunks(97) {
                stream.write(piece);
            }
            assert_eq!(stream.finish(), hash_bytes(&bytes[..length]), "{length}");
        }
    }

    #[test]
    fn the_hashes_are_those_of_version_1() {
        assert_eq!(HASH_VERSION, 1);
        assert_eq!(hash_bytes(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(hash_bytes(b"cento"), 0xfed7_fee2_0736_1dc8);
        assert_eq!(mix64(1), 0x5692_161d_100b_05e5);
        // The value of no bytes, from the specification of XXH3.
        let empty = Digest { low: 0x6001_c324_468d_497f, high: 0x99aa_06d3_0147_98d8 };
        assert_eq!(Digest::of(b""), empty);
        assert_eq!(Digest::of(b"cento").low, 10268597250323401165);
    }

    #[test]
    fn parts_with_the_same_bytes_have_digests_of_their_own() {
        let lists: [&[&[u8]]; 5] = [&[b"ab", b"c"], &[b"a", b"bc"], &[b"abc"], &[b"abc", b""], &[]];
        let digests: BTreeMap<Digest, _> =
            lists.iter().map(|parts| (Digest::of_parts(parts), parts)).collect();
        assert_eq!(digests.len(), lists.len());
        assert_ne!(Digest::of_parts(&[b"abc"]), Digest::of(b"abc"));
        let swapped = [Digest::of_parts(&[b"a", b"b"]), Digest::of_parts(&[b"b", b"a"])];
        assert_ne!(swapped[0], swapped[1]);
    }

    #[test]
    fn fields_are_hashed_in_the_order_of_their_names() {
        let fields = [("scheme", "kgram(k=5)"), ("analyzer", "words"), ("text", "true")];
        let hash = |fields: &mut dyn Iterator<Item = &(&'static str, &str)>| {
            hash_fields(&fields.map(|(name, value)| (*name, (*value).to_owned())).collect())
        };
        let expected = hash(&mut fields.iter());
        assert_eq!(hash(&mut fields.iter().rev()), expected);
        // As segments-format.md specifies.
        let mut bytes = Vec::new();
        for part in ["analyzer", "words", "scheme", "kgram(k=5)", "text", "true"] {
            bytes.extend([part.len() as u8, 0, 0, 0, 0, 0, 0, 0]);
            bytes.extend(part.as_bytes());
        }
        assert_eq!(expected, hash_bytes(&bytes));
        let moved = BTreeMap::from([("a", "bc".to_owned())]);
        assert_ne!(hash_fields(&moved), hash_fields(&BTreeMap::from([("ab", "c".to_owned())])));
    }
}
