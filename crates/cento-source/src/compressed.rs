//! How is this stream compressed?

use std::io::{self, BufReader, Cursor, Read};

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

    /// What `inner` holds, decompressed as it is read.
    pub fn open<'a>(self, inner: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Compression::None => Box::new(inner),
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(inner)),
            Compression::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(BufReader::new(inner))?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
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
    fn the_ending_of_a_name_tells() {
        assert_eq!(Compression::of_name("a.jsonl.gz"), (Compression::Gzip, "a.jsonl"));
        assert_eq!(Compression::of_name("a.zst"), (Compression::Zstd, "a"));
        assert_eq!(Compression::of_name("a.txt"), (Compression::None, "a.txt"));
        assert_eq!(Compression::of_name(".gz"), (Compression::None, ".gz"));
    }
}
