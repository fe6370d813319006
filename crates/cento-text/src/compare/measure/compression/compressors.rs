//! Compressors, and the similarity of texts by compressed size.

use std::io::{self, Write};

use crate::compare::measure::family::MeasuredTexts;
use crate::error::Result;
use crate::runtime::Stop;

/// A compressor: returns the compressed size of the joined parts, in bytes.
pub type Compress = fn(&[&[u8]], &Stop) -> Result<usize>;

/// Returns the symmetric similarity of Finkel et al. (2002), section 4.3:
/// 2 - 2 c(a + b) / (c(a) + c(b)).
pub fn similarity(texts: &MeasuredTexts<'_>, compress: Compress) -> Result<f64> {
    let ([a, b], stop) = ([texts.a, texts.b].map(|side| side.text.as_bytes()), texts.stop);
    let alone = compress(&[a], stop)? + compress(&[b], stop)?;
    let together = compress(&[a, b], stop)?;
    let is_empty = a.is_empty() && b.is_empty();
    Ok(if is_empty { 0.0 } else { 2.0 - 2.0 * together as f64 / alone as f64 })
}

/// Returns the number of bytes after compression by gzip, at its best level.
pub fn gzip(parts: &[&[u8]], stop: &Stop) -> Result<usize> {
    let mut encoder = flate2::write::GzEncoder::new(CountingWriter(0), flate2::Compression::best());
    write(parts, &mut encoder, stop)?;
    Ok(in_memory(encoder.finish()).0)
}

/// Returns the number of bytes after compression by bzip2, at its best level.
pub fn bzip2(parts: &[&[u8]], stop: &Stop) -> Result<usize> {
    let mut encoder = bzip2::write::BzEncoder::new(CountingWriter(0), bzip2::Compression::best());
    write(parts, &mut encoder, stop)?;
    Ok(in_memory(encoder.finish()).0)
}

/// The memory for the contexts of the model, in bytes.
const PPM_MEMORY_BYTES: u32 = 64 << 20;

/// The maximum length of a context, in bytes.
const PPM_ORDER: u32 = 16;

/// Returns the number of bytes after prediction by partial matching (PPMd variant H).
pub fn ppm(parts: &[&[u8]], stop: &Stop) -> Result<usize> {
    let encoder = ppmd_rust::Ppmd7Encoder::new(CountingWriter(0), PPM_ORDER, PPM_MEMORY_BYTES);
    let mut encoder = encoder.expect("order and memory are within the bounds of the model");
    write(parts, &mut encoder, stop)?;
    Ok(in_memory(encoder.finish(true)).0)
}

/// The number of bytes that are compressed between two checks of the stop flag.
const PART_BYTES: usize = 64 << 10;

fn write(parts: &[&[u8]], encoder: &mut impl Write, stop: &Stop) -> Result<()> {
    for part in parts.iter().flat_map(|part| part.chunks(PART_BYTES)) {
        stop.check()?;
        in_memory(encoder.write_all(part));
    }
    stop.check()
}

fn in_memory<T>(written: io::Result<T>) -> T {
    written.expect("writing to memory does not fail")
}

/// Counts the bytes written, without keeping them.
struct CountingWriter(usize);

impl Write for CountingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
