//! How much shorter are two texts when they are compressed together?

use std::io::{self, Write};

/// The symmetric similarity of Finkel et al. (2002), section 4.3: 2 - 2 c(a + b) / (c(a) + c(b)).
pub fn similarity(a: &str, b: &str, compress: fn(&[u8]) -> io::Result<usize>) -> f64 {
    let len = |text: &str| compress(text.as_bytes()).expect("writing to memory does not fail");
    let (alone, together) = (len(a) + len(b), len(&[a, b].concat()));
    if a.is_empty() && b.is_empty() { 0.0 } else { 2.0 - 2.0 * together as f64 / alone as f64 }
}

/// The bytes that gzip makes of `bytes`, at its best.
pub fn gzip(bytes: &[u8]) -> io::Result<usize> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

/// The bytes that bzip2 makes of `bytes`, at its best.
pub fn bzip2(bytes: &[u8]) -> io::Result<usize> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

/// The contexts that the model remembers take so many bytes.
const PPM_MEMORY_BYTES: u32 = 64 << 20;

/// A context is at most so many bytes long.
const PPM_ORDER: u32 = 16;

/// The bytes that prediction by partial matching (PPMd variant H) makes of `bytes`.
pub fn ppm(bytes: &[u8]) -> io::Result<usize> {
    let encoder = ppmd_rust::Ppmd7Encoder::new(Vec::new(), PPM_ORDER, PPM_MEMORY_BYTES);
    let mut encoder = encoder.map_err(|e| io::Error::other(e.to_string()))?;
    encoder.write_all(bytes)?;
    Ok(encoder.finish(true)?.len())
}
