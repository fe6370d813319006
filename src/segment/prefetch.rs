//! Loads memory into the cache before it is needed.

/// Reads these bytes, which loads their cache lines.
pub fn near(bytes: impl Iterator<Item = u8>) {
    std::hint::black_box(bytes.fold(0, |all, byte| all ^ byte));
}
