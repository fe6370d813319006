//! The compression of a stream.

mod members;

use cento::Refusal;
use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::rc::Rc;

use crate::format::has_ending;
use members::Members;
pub use members::{OF_NEXT_MEMBER, Resumption};

/// The compression of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// The data is stored uncompressed.
    None,
    /// gzip, in one or several members.
    Gzip,
    /// Zstandard, in one or several frames.
    Zstd,
    /// bzip2, in one or several streams.
    Bzip2,
    /// xz, in one or several streams.
    Xz,
}

/// File-name extensions of compressed files.
const ENDINGS: [(&str, Compression); 4] = [
    (".gz", Compression::Gzip),
    (".zst", Compression::Zstd),
    (".bz2", Compression::Bzip2),
    (".xz", Compression::Xz),
];

/// The first bytes of streams. In bzip2, a digit for the block size follows.
const MAGICS: [(&[u8], Compression); 4] = [
    (&[0x1f, 0x8b, 8], Compression::Gzip),
    (&[0x28, 0xb5, 0x2f, 0xfd], Compression::Zstd),
    (b"BZh", Compression::Bzip2),
    (b"\xfd7zXZ\0", Compression::Xz),
];

/// The bytes after the digit in a bzip2 stream with blocks, and in an empty stream.
const BZIP2_BLOCKS: [&[u8]; 2] = [b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"];

/// A skippable frame of Zstandard begins with a byte from 0x50 to 0x5f and these bytes. `pzstd`
/// writes a skippable frame before each data frame.
const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

/// The default maximum memory for the window of a stream, in bytes. Enough for
/// `zstd --ultra --long=27`, and twice the dictionary of `xz -9`. A stream may ask for 2 GiB.
pub const WINDOW_BYTES_MAX: usize = 128 << 20;

/// The maximum number of unpacked bytes per byte read, beyond [`UNPACKED_BYTES_MIN`]: deflate makes
/// no more even of pure repetition.
const UNPACKED_BYTES_A_BYTE: u64 = 1000;

/// The number of bytes that any input may unpack to, however small.
const UNPACKED_BYTES_MIN: u64 = 64 << 20;

/// The limit of the bytes unpacked from an input.
#[derive(Clone, Default)]
pub struct Unpacking {
    packed: Rc<Cell<u64>>,
    unpacked: Rc<Cell<u64>>,
}

impl Unpacking {
    /// Returns the limit for an input of `packed` bytes.
    pub fn of(packed: u64) -> Unpacking {
        let unpacking = Unpacking::default();
        unpacking.packed.set(packed);
        unpacking
    }

    /// Counts the bytes read from `inner`, which is packed.
    fn packed<'a>(&self, inner: impl Read + 'a) -> impl Read + 'a {
        CountedReader { inner, unpacking: self.clone(), is_packed: true }
    }

    /// Counts unpacked bytes during reads from `inner`, and fails when the limit is exceeded.
    pub fn unpacked<'a>(&self, inner: impl Read + 'a) -> impl Read + 'a {
        CountedReader { inner, unpacking: self.clone(), is_packed: false }
    }

    /// Checks whether the unpacked bytes are within bounds.
    ///
    /// # Errors
    /// When they are not, with the way out.
    pub fn check(&self) -> io::Result<()> {
        let max = self.packed.get().saturating_mul(UNPACKED_BYTES_A_BYTE);
        if self.unpacked.get() <= max.saturating_add(UNPACKED_BYTES_MIN) {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "it unpacks to more than {UNPACKED_BYTES_A_BYTE} times its size and {} MiB; unpack it, \
             and give what was in it",
            UNPACKED_BYTES_MIN >> 20
        )))
    }
}

struct CountedReader<R> {
    inner: R,
    unpacking: Unpacking,
    is_packed: bool,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let CountedReader { inner, unpacking, is_packed } = self;
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
    /// Returns the compression that a file name promises, and the name without the extension.
    pub fn of_name(name: &str) -> (Compression, &str) {
        let found = ENDINGS.iter().find_map(|(ending, compression)| {
            let at = name.len().checked_sub(ending.len()).filter(|&at| at > 0)?;
            has_ending(name, &[ending]).then(|| (*compression, &name[..at]))
        });
        found.unwrap_or((Compression::None, name))
    }

    /// Returns the compression of a stream with this beginning.
    pub fn of_magic(start: &[u8]) -> Compression {
        let found = MAGICS.iter().find(|(magic, _)| start.starts_with(magic));
        match found.map(|(_, compression)| *compression) {
            Some(Compression::Bzip2) if !start.get(4..).is_some_and(is_bzip2) => Compression::None,
            Some(compression) => compression,
            None if start.get(1..4) == Some(&SKIPPABLE) && start[0] & 0xf0 == 0x50 => {
                Compression::Zstd
            }
            None => Compression::None,
        }
    }

    /// Returns whether these bytes are a truncated header of this compression.
    pub fn is_begun_by(self, start: &[u8]) -> bool {
        if self == Compression::Bzip2
            && let Some([digit, block @ ..]) = start.strip_prefix(b"BZh")
        {
            return digit.is_ascii_digit() && BZIP2_BLOCKS.iter().any(|b| b.starts_with(block));
        }
        let mut magics = MAGICS.iter().filter(|(_, compression)| *compression == self);
        !start.is_empty() && magics.any(|(magic, _)| magic.starts_with(start))
    }

    /// Returns the compression of a stream. The first bytes decide. If they are a truncated header,
    /// the compression `promised` by the file name counts.
    pub fn of_start(start: &[u8], promised: Compression) -> Compression {
        match Compression::of_magic(start) {
            Compression::None if promised.is_begun_by(start) => promised,
            found => found,
        }
    }

    /// Returns whether a member may begin with these bytes, even if truncated.
    fn begins(self, start: &[u8]) -> bool {
        Compression::of_magic(start) == self || self.is_begun_by(start)
    }

    /// Returns the name of the compression for messages.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "uncompressed",
            Compression::Gzip => "gzip",
            Compression::Zstd => "Zstandard",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
        }
    }

    /// Returns the decompressed contents of `inner`, with at most `window_bytes_max` bytes of
    /// memory for the window. The stream fails if the contents are out of proportion to the
    /// compressed bytes.
    pub fn open<'a>(self, inner: impl Read + 'a, window_bytes_max: usize) -> Box<dyn Read + 'a> {
        self.open_resumable(inner, window_bytes_max).0
    }

    /// Like [`Self::open`], but also returns the switch that resumes the stream after a damaged
    /// member.
    pub fn open_resumable<'a>(
        self,
        inner: impl Read + 'a,
        window_bytes_max: usize,
    ) -> (Box<dyn Read + 'a>, Resumption) {
        if self == Compression::None {
            return (Box::new(inner), Resumption::default());
        }
        let unpacking = Unpacking::default();
        let members = Members::new(unpacking.packed(inner), self, window_bytes_max);
        let resumption = members.resumption();
        (Box::new(unpacking.unpacked(members)), resumption)
    }
}

fn is_bzip2(after_digit: &[u8]) -> bool {
    BZIP2_BLOCKS.iter().any(|block| after_digit.starts_with(block))
}

/// Returns the first `len_max` bytes of `inner`, and a stream of everything. If `inner` fails
/// early, the stream repeats the bytes read so far, then the error, and then continues with
/// `inner`.
pub fn peek<'a>(
    mut inner: impl Read + 'a,
    len_max: usize,
) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut start = Vec::new();
    match (&mut inner).take(len_max as u64).read_to_end(&mut start) {
        Err(error) if start.is_empty() => Err(error),
        Err(error) => {
            let broken = Broken(Some((error.kind(), Refusal::of(&error))), inner);
            Ok((start.clone(), Box::new(Cursor::new(start).chain(broken))))
        }
        Ok(_) => Ok((start.clone(), Box::new(Cursor::new(start).chain(inner)))),
    }
}

/// A stream that first repeats an earlier error.
struct Broken<R>(Option<(io::ErrorKind, Refusal)>, R);

impl<R: Read> Read for Broken<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.take() {
            Some((kind, why)) => Err(io::Error::new(kind, why)),
            None => self.1.read(buffer),
        }
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
        compression.open(bytes, WINDOW_BYTES_MAX).read_to_end(&mut out)?;
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

    /// "one ", compressed by `xz` with the default check.
    const XZ: &[u8] = &[
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21,
        0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x03, 0x6f, 0x6e, 0x65,
        0x20, 0x00, 0x5a, 0x8c, 0x83, 0xa3, 0x31, 0x35, 0xef, 0x7e, 0x00, 0x01, 0x1c, 0x04, 0x6f,
        0x2c, 0x9c, 0xc1, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
    ];

    #[test]
    fn members_after_a_damaged_one_are_read_if_that_is_wanted() {
        let text = |n: usize| format!("the text of member {n}, ").repeat(20).into_bytes();
        let members: Vec<Vec<u8>> = (0..4).map(|n| gzip(&text(n))).collect();
        let len = members[1].len();
        for at in [3, 12, len / 2, len - 6] {
            let mut damaged = members.clone();
            damaged[1][at] ^= 0x55;
            let (mut stream, resumption) =
                Compression::Gzip.open_resumable(Cursor::new(damaged.concat()), WINDOW_BYTES_MAX);
            resumption.set(true);
            let mut found = Vec::new();
            assert!(stream.read_to_end(&mut found).is_err(), "{at}");
            found.clear();
            stream.read_to_end(&mut found).unwrap();
            assert_eq!(found, [text(2), text(3)].concat(), "{at}");
            let mut stream =
                Compression::Gzip.open(Cursor::new(damaged.concat()), WINDOW_BYTES_MAX);
            assert!((0..3).all(|_| stream.read_to_end(&mut found).is_err()), "{at}");
        }
    }

    #[test]
    fn bzip2_and_xz_are_read_and_damage_is_seen() {
        for (packed, compression) in [(&*bzip2(b"one "), Compression::Bzip2), (XZ, Compression::Xz)]
        {
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

    fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// "one " in every compression.
    fn all_forms() -> [(Compression, Vec<u8>); 4] {
        [
            (Compression::Gzip, gzip(b"one ")),
            (Compression::Zstd, zstd::encode_all(&b"one "[..], 1).unwrap()),
            (Compression::Bzip2, bzip2(b"one ")),
            (Compression::Xz, XZ.to_vec()),
        ]
    }

    #[test]
    fn zero_bytes_after_a_member_are_padding() {
        for (compression, packed) in all_forms() {
            for zeros in [1, 3, 4, 511, 70_000] {
                let padded = [&packed[..], &vec![0; zeros]].concat();
                assert_eq!(read(compression, &padded).unwrap(), b"one ", "{compression:?}");
                let goes_on = [&padded[..], &packed].concat();
                assert_eq!(read(compression, &goes_on).unwrap(), b"one one ", "{compression:?}");
            }
        }
    }

    #[test]
    fn bytes_that_are_neither_member_nor_padding_are_an_error_with_their_place() {
        for (compression, packed) in all_forms() {
            for rest in [&b"rest"[..], b"\0\0rest", b"\x1f\x8a", b"PK\x03\x04"] {
                let bytes = [&packed, rest].concat();
                let mut stream = compression.open(&*bytes, WINDOW_BYTES_MAX);
                let mut out = Vec::new();
                let error = stream.read_to_end(&mut out).unwrap_err().to_string();
                let at = format!("ends at byte {}, is neither", packed.len());
                assert!(error.contains(&at) && error.contains(compression.name()), "{error}");
                assert_eq!(out, b"one ");
                // An error must not become an end of file.
                assert!(stream.read(&mut [0; 8]).is_err());
            }
        }
    }

    #[test]
    fn a_stream_that_is_cut_off_anywhere_is_an_error() {
        for (compression, packed) in all_forms() {
            let two = [&packed[..], &packed].concat();
            for len in (1..packed.len()).chain(packed.len() + 1..two.len()) {
                let cut = &two[..len];
                let is_known = Compression::of_magic(cut) == compression;
                assert!(is_known || compression.is_begun_by(cut), "{compression:?} of {len} bytes");
                let error = read(compression, cut).unwrap_err().to_string();
                let expected = format!("{} data is cut off", compression.name());
                assert!(error.contains(&expected), "{len} bytes: {error}");
            }
            assert_eq!(read(compression, b"").unwrap(), b"");
        }
        let text: Vec<u8> = (0..50_000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
        let frames = zstd::encode_all(text.as_slice(), 1).unwrap();
        for (compression, packed) in [
            (Compression::Gzip, gzip(&text)),
            (Compression::Zstd, frames),
            (Compression::Bzip2, bzip2(&text)),
        ] {
            assert_eq!(read(compression, &packed).unwrap(), text);
            for len in [packed.len() / 2, packed.len() - 9, packed.len() - 3] {
                assert!(read(compression, &packed[..len]).is_err());
            }
        }
    }

    #[test]
    fn texts_that_begin_like_a_stream_are_not_taken_for_one() {
        assert!(!Compression::Bzip2.is_begun_by(b"BZh is how bzip2 begins"));
        assert!(!Compression::Gzip.is_begun_by(b"a text"));
        assert!(!Compression::None.is_begun_by(b""));
        assert_eq!(Compression::of_magic(b"P*M\x19"), Compression::None);
    }

    #[test]
    fn frames_that_are_skipped_may_stand_anywhere() {
        let skipped = b"\x53\x2a\x4d\x18\x05\0\0\0hello";
        let frame = zstd::encode_all(&b"one "[..], 1).unwrap();
        let all = [&skipped[..], &frame, skipped, &frame, skipped, &[0; 9]].concat();
        assert_eq!(Compression::of_magic(&all), Compression::Zstd);
        assert_eq!(read(Compression::Zstd, &all).unwrap(), b"one one ");
        assert!(read(Compression::Zstd, &all[..10]).is_err());
    }

    #[test]
    fn a_dictionary_at_the_beginning_is_used() {
        // As in the web archives of the Archive Team: a dictionary, compressed or not, and frames.
        let packed = include_bytes!("../tests/data/dictionary.zst");
        let text = "the record of a page with some words about whales\n\
                    and clocks and lamps and tides in harbors\n";
        assert_eq!(read(Compression::Zstd, packed).unwrap(), text.as_bytes());
        let end = 8 + u32::from_le_bytes(packed[4..8].try_into().unwrap()) as usize;
        let dictionary = zstd::decode_all(&packed[8..end]).unwrap();
        let len = (dictionary.len() as u32).to_le_bytes();
        let plain = [&packed[..4], &len, &dictionary, &packed[end..]].concat();
        assert_eq!(read(Compression::Zstd, &plain).unwrap(), text.as_bytes());
        let error = read(Compression::Zstd, &packed[end..]).unwrap_err().to_string();
        assert!(error.contains("needs a dictionary that is not at its beginning"), "{error}");
        for cut in [4, 9, 40, end] {
            assert!(read(Compression::Zstd, &packed[..cut]).is_err(), "{cut}");
        }
    }

    /// Zstandard with a window of `1 << log` bytes, and the content size in the header on request.
    fn with_window(bytes: &[u8], log: u32, has_size: bool) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.long_distance_matching(true).unwrap();
        encoder.window_log(log).unwrap();
        encoder.include_contentsize(has_size).unwrap();
        encoder.set_pledged_src_size(has_size.then_some(bytes.len() as u64)).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_window_counts_only_as_far_as_it_is_filled() {
        let max = 1 << 20;
        let read = |packed: &[u8]| {
            let mut out = Vec::new();
            Compression::Zstd.open(packed, max).read_to_end(&mut out).map(|_| out)
        };
        let small = vec![b'x'; 900_000];
        let large: Vec<u8> =
            (0..600_000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
        for has_size in [true, false] {
            // The header asks for a window of 2 GiB.
            let packed = with_window(&small, 31, has_size);
            assert_eq!(read(&packed).unwrap(), small);
            assert_eq!(read(&[&packed[..], &packed].concat()).unwrap().len(), 2 * small.len());
            let error = read(&with_window(&large, 31, has_size)).unwrap_err().to_string();
            assert!(error.contains("refers back to more than the 1 MiB of memory"), "{error}");
            assert_eq!(read(&with_window(&large, 20, has_size)).unwrap(), large);
        }
        // "one ", with a dictionary size of 512 MiB in the header.
        let mut xz = XZ.to_vec();
        xz[16] = 34;
        let crc = crc32(&xz[12..20]).to_le_bytes();
        xz[20..24].copy_from_slice(&crc);
        let opened = |max| {
            let mut out = Vec::new();
            Compression::Xz.open(&*xz, max).read_to_end(&mut out).map(|_| out)
        };
        assert_eq!(opened(512 << 20).unwrap(), b"one ");
        let error = opened(WINDOW_BYTES_MAX).unwrap_err().to_string();
        assert!(error.contains("refers back to more than the 128 MiB of memory"), "{error}");
    }

    fn crc32(bytes: &[u8]) -> u32 {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum()
    }

    #[test]
    fn a_stream_that_unpacks_out_of_proportion_ends_with_an_error() {
        // 80 MB of repetition take a few kilobytes in Zstandard.
        let packed = zstd::encode_all(io::repeat(b'x').take(80 << 20), 1).unwrap();
        assert!(packed.len() < 13_000, "{}", packed.len());
        let mut unpacked = Vec::new();
        let mut stream = Compression::Zstd.open(packed.as_slice(), WINDOW_BYTES_MAX);
        let error = stream.read_to_end(&mut unpacked).unwrap_err().to_string();
        assert!(error.contains("more than 1000 times its size"), "{error}");
        assert!(unpacked.len() > 64 << 20 && stream.read(&mut [0]).is_err());
        // deflate cannot exceed the limit.
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
