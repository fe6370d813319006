//! How is this stream compressed?

use std::cell::Cell;
use std::io::{self, BufReader, Cursor, Read};
use std::rc::Rc;

/// How a stream is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, of one member or several.
    Gzip,
    /// Zstandard, of one frame or several.
    Zstd,
}

/// The largest window of a Zstandard frame that is accepted, as a power of two: what the `zstd`
/// command writes with `--ultra --long=27`. A frame may ask for 2 GiB of memory.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// The maximum number of unpacked bytes for each that was read, beyond [`UNPACKED_BYTES_MIN`]: deflate makes
/// no more of text that is nothing but repetitions.
const UNPACKED_BYTES_A_BYTE: u64 = 1000;

/// The number of bytes that may be unpacked from any input, however small.
const UNPACKED_BYTES_MIN: u64 = 64 << 20;

/// How much may still be unpacked of something.
#[derive(Clone, Default)]
pub struct Unpacking {
    packed: Rc<Cell<u64>>,
    unpacked: Rc<Cell<u64>>,
}

impl Unpacking {
    /// A limit of this many bytes.
    #[cfg(feature = "archives")]
    pub fn of(packed: u64) -> Unpacking {
        let unpacking = Unpacking::default();
        unpacking.packed.set(packed);
        unpacking
    }

    /// Counts what is read of `inner`, which is packed.
    fn packed<'a>(&self, inner: impl Read + 'a) -> impl Read + 'a {
        Counted { inner, unpacking: self.clone(), is_packed: true }
    }

    /// Counts what is read of `inner`, which is unpacked, and ends it with an error where it is too much.
    pub fn unpacked<'a>(&self, inner: impl Read + 'a) -> impl Read + 'a {
        Counted { inner, unpacking: self.clone(), is_packed: false }
    }

    /// Says whether what has been unpacked is within bounds.
    ///
    /// # Errors
    /// When it is not, with what to do.
    pub fn check(&self) -> io::Result<()> {
        let max = self.packed.get().saturating_mul(UNPACKED_BYTES_A_BYTE);
        if self.unpacked.get() <= max.saturating_add(UNPACKED_BYTES_MIN) {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "it unpacks to more than {UNPACKED_BYTES_A_BYTE} times its size and {} MiB; unpack it, and give \
             what was in it",
            UNPACKED_BYTES_MIN >> 20
        )))
    }
}

struct Counted<R> {
    inner: R,
    unpacking: Unpacking,
    is_packed: bool,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Counted { inner, unpacking, is_packed } = self;
        if *is_packed {
            let read = inner.read(buffer)?;
            unpacking.packed.set(unpacking.packed.get().saturating_add(read as u64));
            return Ok(read);
        }
        unpacking.check()?;
        let read = inner.read(buffer)?;
        unpacking.unpacked.set(unpacking.unpacked.get().saturating_add(read as u64));
        Ok(read)
    }
}

impl Compression {
    /// How a file of this name is compressed, and its name without that ending.
    pub fn of_name(name: &str) -> (Compression, &str) {
        let ends = |ending| name.strip_suffix(ending).filter(|rest| !rest.is_empty());
        match (ends(".gz"), ends(".zst")) {
            (Some(inner), _) => (Compression::Gzip, inner),
            (None, Some(inner)) => (Compression::Zstd, inner),
            (None, None) => (Compression::None, name),
        }
    }

    /// How a stream that begins with these bytes is compressed.
    pub fn of_magic(start: &[u8]) -> Compression {
        if start.starts_with(&[0x1f, 0x8b]) {
            Compression::Gzip
        } else if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Compression::Zstd
        } else {
            Compression::None
        }
    }

    /// What `inner` holds, decompressed as it is read. It ends with an error where that is out of proportion to
    /// what is read.
    pub fn open<'a>(self, inner: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
        let unpacking = Unpacking::default();
        Ok(match self {
            Compression::None => Box::new(inner),
            Compression::Gzip => {
                let decoder = flate2::read::MultiGzDecoder::new(unpacking.packed(inner));
                Box::new(unpacking.unpacked(decoder))
            }
            Compression::Zstd => {
                let packed = BufReader::new(unpacking.packed(inner));
                let mut decoder = zstd::Decoder::with_buffer(packed)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(unpacking.unpacked(decoder))
            }
        })
    }
}

/// The first bytes of `inner`, up to `len_max`, and all of it again.
pub fn peek<'a>(
    mut inner: impl Read + 'a,
    len_max: usize,
) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut start = Vec::new();
    (&mut inner).take(len_max as u64).read_to_end(&mut start)?;
    Ok((start.clone(), Box::new(Cursor::new(start).chain(inner))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(compression: Compression, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        compression.open(bytes)?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        let two = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(read(Compression::of_magic(&two), &two).unwrap(), b"one two");
        let frame = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
        let two = [frame(b"one "), frame(b"two")].concat();
        assert_eq!(read(Compression::of_magic(&two), &two).unwrap(), b"one two");
    }

    #[test]
    fn a_stream_that_is_cut_off_is_an_error() {
        let text = vec![b'x'; 100_000];
        let gz = gzip(&text);
        assert!(read(Compression::Gzip, &gz[..gz.len() - 3]).is_err());
        let zst = zstd::encode_all(text.as_slice(), 1).unwrap();
        assert!(read(Compression::Zstd, &zst[..zst.len() - 3]).is_err());
    }

    #[test]
    fn what_unpacks_out_of_proportion_ends_with_an_error() {
        // Of repetitions: 80 MB in some kilobytes.
        let packed = zstd::encode_all(io::repeat(b'x').take(80 << 20), 1).unwrap();
        assert!(packed.len() < 13_000, "{}", packed.len());
        let mut unpacked = Vec::new();
        let mut stream = Compression::Zstd.open(packed.as_slice()).unwrap();
        let error = stream.read_to_end(&mut unpacked).unwrap_err().to_string();
        assert!(error.contains("more than 1000 times its size"), "{error}");
        assert!(unpacked.len() > 64 << 20 && stream.read(&mut [0]).is_err());
        // And as much as deflate can make of it is allowed.
        let packed = gzip(&vec![b'x'; 80 << 20]);
        assert_eq!(read(Compression::Gzip, &packed).unwrap().len(), 80 << 20);
    }

    #[test]
    fn the_ending_of_a_name_tells() {
        assert_eq!(Compression::of_name("a.jsonl.gz"), (Compression::Gzip, "a.jsonl"));
        assert_eq!(Compression::of_name("a.zst"), (Compression::Zstd, "a"));
        assert_eq!(Compression::of_name("a.txt"), (Compression::None, "a.txt"));
        assert_eq!(Compression::of_name(".gz"), (Compression::None, ".gz"));
    }
}
