//! How is this stream compressed?

use std::cell::Cell;
use std::io::{self, BufReader, Cursor, Read};
use std::rc::Rc;

use lzma_rust2::XzReader;

use crate::sniff::has_ending;

/// How a stream is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, of one member or several.
    Gzip,
    /// Zstandard, of one frame or several.
    Zstd,
    /// bzip2, of one stream or several.
    Bzip2,
    /// xz, of one stream or several.
    Xz,
}

/// How names end, and what they promise.
const ENDINGS: [(&str, Compression); 4] = [
    (".gz", Compression::Gzip),
    (".zst", Compression::Zstd),
    (".bz2", Compression::Bzip2),
    (".xz", Compression::Xz),
];

/// How streams begin. bzip2 is followed by the size of its blocks, a digit.
const MAGICS: [(&[u8], Compression); 4] = [
    (&[0x1f, 0x8b, 8], Compression::Gzip),
    (&[0x28, 0xb5, 0x2f, 0xfd], Compression::Zstd),
    (b"BZh", Compression::Bzip2),
    (b"\xfd7zXZ\0", Compression::Xz),
];

/// What follows the digit in a stream of bzip2, or in one of nothing.
const BZIP2_BLOCKS: [&[u8]; 2] = [b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"];

/// The memory that a stream of xz may ask for, in KiB: as for Zstandard, what `xz -9` writes twice.
const XZ_MEMORY_KIB_MAX: u32 = 128 << 10;

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
        let found = ENDINGS.iter().find_map(|(ending, compression)| {
            let at = name.len().checked_sub(ending.len()).filter(|&at| at > 0)?;
            has_ending(name, &[ending]).then(|| (*compression, &name[..at]))
        });
        found.unwrap_or((Compression::None, name))
    }

    /// How a stream that begins with these bytes is compressed.
    pub fn of_magic(start: &[u8]) -> Compression {
        let found = MAGICS.iter().find(|(magic, _)| start.starts_with(magic));
        match found.map(|(_, compression)| *compression) {
            Some(Compression::Bzip2) if !start.get(4..).is_some_and(is_bzip2) => Compression::None,
            Some(compression) => compression,
            None => Compression::None,
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
            Compression::Bzip2 => {
                let decoder = bzip2::read::MultiBzDecoder::new(unpacking.packed(inner));
                Box::new(unpacking.unpacked(decoder))
            }
            Compression::Xz => {
                let packed = BufReader::new(unpacking.packed(inner));
                let decoder = XzReader::new_mem_limit(packed, true, XZ_MEMORY_KIB_MAX);
                Box::new(unpacking.unpacked(decoder))
            }
        })
    }
}

fn is_bzip2(after_digit: &[u8]) -> bool {
    BZIP2_BLOCKS.iter().any(|block| after_digit.starts_with(block))
}

/// The first bytes of `inner`, up to `len_max`, and all of it again. Where it breaks off after some
/// bytes, these are the first, and the error comes again after them.
pub fn peek<'a>(
    mut inner: impl Read + 'a,
    len_max: usize,
) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut start = Vec::new();
    match (&mut inner).take(len_max as u64).read_to_end(&mut start) {
        Err(error) if start.is_empty() => Err(error),
        Err(error) => {
            let broken = Broken(error.kind(), error.to_string());
            Ok((start.clone(), Box::new(Cursor::new(start).chain(broken))))
        }
        Ok(_) => Ok((start.clone(), Box::new(Cursor::new(start).chain(inner)))),
    }
}

/// The end of a stream that cannot be read on.
struct Broken(io::ErrorKind, String);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(self.0, self.1.clone()))
    }
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

    /// "one ", by `xz` with its default check.
    const XZ: &[u8] = &[
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21,
        0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x03, 0x6f, 0x6e, 0x65,
        0x20, 0x00, 0x5a, 0x8c, 0x83, 0xa3, 0x31, 0x35, 0xef, 0x7e, 0x00, 0x01, 0x1c, 0x04, 0x6f,
        0x2c, 0x9c, 0xc1, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
    ];

    #[test]
    fn bzip2_and_xz_are_read_and_damage_is_seen() {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(b"one ").unwrap();
        let bz = encoder.finish().unwrap();
        for (packed, compression) in [(&*bz, Compression::Bzip2), (XZ, Compression::Xz)] {
            assert_eq!(Compression::of_magic(packed), compression);
            let two = [packed, packed].concat();
            assert_eq!(read(compression, &two).unwrap(), b"one one ");
            assert!(read(compression, &packed[..packed.len() - 3]).is_err());
            let mut damaged = packed.to_vec();
            damaged[packed.len() / 2] ^= 0x10;
            assert!(read(compression, &damaged).is_err());
        }
        assert_eq!(Compression::of_magic(b"BZh is how bzip2 begins"), Compression::None);
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
        assert_eq!(Compression::of_name("a.tar.BZ2"), (Compression::Bzip2, "a.tar"));
        assert_eq!(Compression::of_name("a.xz"), (Compression::Xz, "a"));
        assert_eq!(Compression::of_name("a.txt"), (Compression::None, "a.txt"));
        assert_eq!(Compression::of_name(".gz"), (Compression::None, ".gz"));
    }
}
