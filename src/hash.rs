//! Which hash does cento use, everywhere and for ever?
//!
//! One hash, versioned: [`HASH_VERSION`] is stored in every index, and an index with another
//! version is refused. Tokens are hashed with XXH3 (64 bits, seed 0) over their normalised UTF-8
//! bytes; numbers are mixed with [`mix64`].

use xxhash_rust::xxh3::xxh3_64;

/// The version of everything in this module; it changes when any output changes.
pub const HASH_VERSION: u32 = 1;

/// The hash of a byte string: XXH3, 64 bits, seed 0.
#[inline]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// A bijection of the 64-bit integers whose output bits all depend on all input bits
/// (the finaliser of SplitMix64).
#[inline]
pub fn mix64(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
