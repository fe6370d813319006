//! Reads a compressed stream member by member, from the first to the last byte.
//!
//! gzip calls the parts members, Zstandard frames, bzip2 and xz streams. The decoders of the
//! libraries read a single member, and this module reads the bytes between and after members. Zero
//! bytes are ignored, because tapes and block devices pad files with them. Other bytes that begin
//! no member are an error, as is a truncated member, so that no text ends early unnoticed.
//!
//! Web archives have a member for each record. Their reader sets [`Resumption`], so that reading
//! continues with the next gzip member after a damaged member.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::mem;
use std::rc::Rc;

use bzip2::bufread::BzDecoder;
use cento::{Reason, Refusal};
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::Compression;

/// Whether a stream continues after a damaged member. Set after the beginning has been read,
/// because only then the kind of the file is known.
pub type Resumption = Rc<Cell<bool>>;

/// Unpacks all members of a stream in sequence.
pub struct Members<R: Read> {
    resumption: Resumption,
    /// The number of members begun, and of bytes unpacked from the current member.
    begun: u64,
    given: u64,
    compression: Compression,
    /// The maximum memory for the window of a member, in bytes.
    window_bytes_max: u64,
    state: MemberState<R>,
}

enum MemberState<R: Read> {
    /// The first member has not begun.
    Before(PeekedInput<R>),
    Gzip(Box<GzDecoder<PeekedInput<R>>>),
    Bzip2(BzDecoder<PeekedInput<R>>),
    Xz(Box<XzReader<PeekedInput<R>>>),
    Zstd(Frames<R>),
    /// The last member has ended.
    Over,
    /// The stream failed for this reason. Later reads fail, too, so that the error is not mistaken
    /// for the end. The input is kept if the stream may be resumed.
    Failed(io::ErrorKind, Refusal, Option<PeekedInput<R>>),
}

impl<R: Read> Members<R> {
    /// Reads the members of `inner`. `window_bytes_max` bounds the memory for the window of a
    /// member.
    pub fn new(inner: R, compression: Compression, window_bytes_max: usize) -> Members<R> {
        let resumption = Resumption::default();
        let state = MemberState::Before(PeekedInput::new(inner, resumption.clone()));
        Members {
            resumption,
            begun: 0,
            given: 0,
            compression,
            window_bytes_max: window_bytes_max as u64,
            state,
        }
    }

    /// Returns the switch that resumes the stream after a damaged member.
    pub fn resumption(&self) -> Resumption {
        self.resumption.clone()
    }

    /// Goes to the next member after an error, if resumption is on and there is a next member.
    fn resume(&mut self) {
        let MemberState::Failed(_, _, input) = &mut self.state else { return };
        let wanted = input.take_if(|_| self.resumption.get());
        if let Some(mut input) = wanted
            && input.go_to_member()
        {
            self.state = MemberState::Before(input);
        }
    }

    /// Ends the stream with an error. Only gzip keeps the input for a resumption.
    fn fail(&mut self, error: &io::Error) {
        let input = match mem::replace(&mut self.state, MemberState::Over) {
            MemberState::Gzip(member) => Some(member.into_inner()),
            MemberState::Before(input) if self.compression == Compression::Gzip => Some(input),
            MemberState::Failed(_, _, input) => input,
            _ => None,
        };
        let input = input.filter(|input| !input.is_broken);
        self.state = MemberState::Failed(error.kind(), Refusal::of(error), input);
    }

    /// Advances to the next member, or returns `false` at the end of the stream.
    fn advance(&mut self) -> io::Result<bool> {
        let mut decoder = None;
        let mut input = match mem::replace(&mut self.state, MemberState::Over) {
            MemberState::Before(input) => input,
            MemberState::Gzip(member) => member.into_inner(),
            MemberState::Bzip2(member) => member.into_inner(),
            MemberState::Xz(member) => member.into_inner(),
            MemberState::Zstd(frames) => {
                decoder = Some(frames.decoder);
                frames.input
            }
            ended @ (MemberState::Over | MemberState::Failed(..)) => {
                self.state = ended;
                return Ok(false);
            }
        };
        input.kept.clear();
        (self.begun, self.given) = (self.begun + 1, 0);
        let (name, ended_at) = (self.compression.name(), input.at);
        if ended_at > 0 {
            input.skip_zeros()?;
        }
        let start = input.peek(FRAME_HEADER_BYTES_MAX)?;
        if start.is_empty() {
            return Ok(false);
        }
        if ended_at > 0 && !self.compression.begins(start) {
            let what = format!(
                "what follows the {name} data, which ends at byte {ended_at}, is neither {name} \
                 nor zero padding"
            );
            self.state = MemberState::Before(input);
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let max = self.window_bytes_max;
        self.state = match self.compression {
            Compression::Zstd => MemberState::Zstd(Frames::begin(input, decoder, max)?),
            Compression::Bzip2 => MemberState::Bzip2(BzDecoder::new(input)),
            Compression::Xz => {
                // The decoder's own tables are not part of the window.
                let kib = u32::try_from(max >> 10).unwrap_or(u32::MAX);
                let kib = kib.saturating_add(XZ_TABLES_KIB);
                MemberState::Xz(Box::new(XzReader::new_mem_limit(input, false, kib)))
            }
            Compression::Gzip | Compression::None => {
                MemberState::Gzip(Box::new(GzDecoder::new(input)))
            }
        };
        Ok(true)
    }

    /// Reads bytes of the current member. Returns zero at its end.
    fn read_member(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.state {
            MemberState::Before(_) | MemberState::Over => Ok(0),
            MemberState::Gzip(decoder) => decoder.read(buffer),
            MemberState::Bzip2(decoder) => decoder.read(buffer),
            MemberState::Xz(decoder) => decoder.read(buffer),
            MemberState::Zstd(frames) => frames.read(buffer, self.window_bytes_max),
            MemberState::Failed(kind, why, _) => Err(io::Error::new(*kind, why.clone())),
        }
    }

    /// Adds compression and offset to an error of a decoder.
    fn explained(&self, error: io::Error) -> io::Error {
        let input = match &self.state {
            MemberState::Gzip(decoder) => decoder.get_ref(),
            MemberState::Bzip2(decoder) => decoder.get_ref(),
            MemberState::Xz(decoder) => decoder.inner(),
            MemberState::Zstd(frames) => &frames.input,
            MemberState::Before(_) | MemberState::Over | MemberState::Failed(..) => {
                return self.of_next(error);
            }
        };
        // The underlying stream failed, not the decoder.
        if input.is_broken {
            return error;
        }
        let (name, at) = (self.compression.name(), input.at);
        let what: Refusal = match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                format!("the {name} data is cut off: it ends after {at} bytes, before its end mark")
                    .into()
            }
            io::ErrorKind::OutOfMemory => too_far_back(self.compression, self.window_bytes_max),
            _ if error.to_string() == "Dictionary mismatch" => {
                format!("the {name} data needs a dictionary that is not at its beginning").into()
            }
            _ => format!("the {name} data is damaged before byte {at}: {error}").into(),
        };
        self.of_next(io::Error::new(error.kind(), what))
    }

    /// Marks an error of a member that unpacked nothing after complete members.
    fn of_next(&self, error: io::Error) -> io::Error {
        let is_next = self.given == 0 && self.begun > 1 && self.compression == Compression::Gzip;
        match is_next {
            true => io::Error::new(OF_NEXT_MEMBER, Refusal::of(&error)),
            false => error,
        }
    }
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.resume();
        loop {
            let read = match self.read_member(buffer) {
                Ok(0) if !buffer.is_empty() => match self.advance() {
                    Ok(true) => continue,
                    Ok(false) => Ok(0),
                    Err(error) => Err(self.of_next(error)),
                },
                Ok(read) => Ok(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
                Err(error) => Err(self.explained(error)),
            };
            match &read {
                Ok(read) => self.given += *read as u64,
                Err(error) => self.fail(error),
            }
            return read;
        }
    }
}

/// The maximum memory of the decoder of xz beside the window, in KiB.
const XZ_TABLES_KIB: u32 = 1 << 10;

/// The maximum length of the header of a frame of Zstandard.
const FRAME_HEADER_BYTES_MAX: usize = 18;

/// Reads Zstandard frames one at a time. The decoder is reused from frame to frame.
struct Frames<R> {
    input: PeekedInput<R>,
    decoder: Decoder<'static>,
    /// The window size of the frame. The decoder takes this memory only as bytes are unpacked.
    window_bytes: u64,
    unpacked: u64,
    is_over: bool,
}

impl<R: Read> Frames<R> {
    /// Begins the next frame in `input`.
    fn begin(
        mut input: PeekedInput<R>,
        decoder: Option<Decoder<'static>>,
        window_bytes_max: u64,
    ) -> io::Result<Frames<R>> {
        let dictionary = match decoder {
            None => read_dictionary(&mut input)?,
            Some(_) => None,
        };
        let (window, content) = sizes(input.peek(FRAME_HEADER_BYTES_MAX)?);
        let window_bytes = window.min(content.unwrap_or(u64::MAX));
        // If the content size is unknown, the content may be smaller than the window. Reading will
        // show.
        if content.is_some() && window_bytes > window_bytes_max {
            let why = too_far_back(Compression::Zstd, window_bytes_max);
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, why));
        }
        let decoder = match decoder {
            Some(decoder) => decoder,
            None => {
                let mut decoder = Decoder::with_dictionary(&dictionary.unwrap_or_default())?;
                // The maximum of the format. This module itself refuses windows that are too large.
                let log_max = if cfg!(target_pointer_width = "64") { 31 } else { 30 };
                decoder.set_parameter(DParameter::WindowLogMax(log_max))?;
                decoder
            }
        };
        Ok(Frames { input, decoder, window_bytes, unpacked: 0, is_over: false })
    }

    /// Reads bytes of the current frame. Returns zero at its end.
    fn read(&mut self, buffer: &mut [u8], window_bytes_max: u64) -> io::Result<usize> {
        while !self.is_over && !buffer.is_empty() {
            let packed = self.input.fill_buf()?;
            let is_cut_off = packed.is_empty();
            let (mut source, mut out) = (InBuffer::around(packed), OutBuffer::around(&mut *buffer));
            self.is_over = self.decoder.run(&mut source, &mut out)? == 0;
            let (read, consumed) = (out.pos(), source.pos());
            self.input.consume(consumed);
            self.unpacked += read as u64;
            // The system provides memory only on writing, so this amount is in use by now.
            if self.window_bytes.min(self.unpacked) > window_bytes_max {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            if read > 0 {
                return Ok(read);
            }
            if is_cut_off && !self.is_over {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}

/// The first bytes of the skippable frame with a dictionary, of a dictionary, and of a frame.
const DICTIONARY_FRAME: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];
const DICTIONARY: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The maximum length of a dictionary. Web archives have dictionaries of 1 MiB.
const DICTIONARY_BYTES_MAX: usize = 16 << 20;

/// Reads the dictionary at the beginning of a web archive (`.warc.zst`), which may be compressed
/// itself. Returns `None` if the data begins with something else.
fn read_dictionary(input: &mut PeekedInput<impl Read>) -> io::Result<Option<Vec<u8>>> {
    let start = input.peek(12)?;
    let Some([magic, len, inner]) = start.as_chunks::<4>().0.first_chunk() else { return Ok(None) };
    let len = u32::from_le_bytes(*len) as usize;
    let is_dictionary = *magic == DICTIONARY_FRAME && [DICTIONARY, FRAME].contains(inner);
    if !is_dictionary || len > DICTIONARY_BYTES_MAX {
        return Ok(None);
    }
    let is_packed = *inner == FRAME;
    input.consume(8);
    let mut dictionary = Vec::new();
    input.take(len as u64).read_to_end(&mut dictionary)?;
    if !is_packed {
        return Ok(Some(dictionary));
    }
    let mut unpacked = Vec::new();
    let frame = zstd::Decoder::new(&*dictionary)?;
    frame.take(DICTIONARY_BYTES_MAX as u64).read_to_end(&mut unpacked)?;
    Ok(Some(unpacked))
}

/// Returns the window size of a frame, and the content size if the header has it. A truncated
/// header gives 0, because the decoder then refuses the frame.
fn sizes(header: &[u8]) -> (u64, Option<u64>) {
    let Some((&descriptor, rest)) = header.get(4..).and_then(<[u8]>::split_first) else {
        return (0, None);
    };
    let is_single = descriptor & 0x20 != 0;
    let (window, rest) = match rest.split_first() {
        Some((byte, rest)) if !is_single => {
            let base = 1_u64 << (10 + (byte >> 3));
            (base + base / 8 * u64::from(byte & 7), rest)
        }
        _ => (u64::MAX, rest),
    };
    let rest = rest.get([0, 1, 2, 4][usize::from(descriptor & 3)]..).unwrap_or_default();
    let (len, more) = match descriptor >> 6 {
        0 if is_single => (1, 0),
        0 => return (window, None),
        1 => (2, 256),
        2 => (4, 0),
        _ => (8, 0),
    };
    let content = rest.get(..len).map(|bytes| {
        let mut number = [0; 8];
        number[..len].copy_from_slice(bytes);
        u64::from_le_bytes(number).saturating_add(more)
    });
    (window, content)
}

/// Returns the refusal of a stream whose window is larger than allowed.
fn too_far_back(compression: Compression, bytes_max: u64) -> Refusal {
    let name = compression.name();
    let mib = bytes_max >> 20;
    let what = format!(
        "the {name} data refers back to more than the {mib} MiB of memory that it may take"
    );
    Refusal::new(Reason::WindowTooLarge { format: name }, what)
}

/// A stream with lookahead, which counts consumed bytes.
struct PeekedInput<R> {
    inner: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at: u64,
    /// The underlying stream could not be read further.
    is_broken: bool,
    resumption: Resumption,
    /// Consumed bytes of the current member, if the stream may be resumed.
    kept: Vec<u8>,
}

/// The maximum number of consumed bytes that are kept for a resumption. The next members may be
/// among consumed bytes, because a decoder may read them as part of a damaged member.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// The number of bytes kept at the beginning, before the reader has decided about resumption.
const EARLY_BYTES: u64 = 64 << 10;

/// The error kind of a member that unpacked nothing. The members before are complete.
pub const OF_NEXT_MEMBER: io::ErrorKind = io::ErrorKind::InvalidInput;

/// The number of bytes in the test of a possible member.
const TRIED_BYTES: usize = 4 << 10;

impl<R: Read> PeekedInput<R> {
    /// The size of a read, in bytes.
    const BYTES: usize = 32 << 10;

    fn new(inner: R, resumption: Resumption) -> PeekedInput<R> {
        PeekedInput {
            inner,
            resumption,
            kept: Vec::new(),
            buffer: vec![0; PeekedInput::<R>::BYTES],
            start: 0,
            end: 0,
            at: 0,
            is_broken: false,
        }
    }

    /// Reads available bytes into the buffer. Returns whether there were any.
    fn fill(&mut self) -> io::Result<bool> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let read = self.inner.read(&mut self.buffer[self.end..]);
        self.is_broken = read.is_err();
        let read = read?;
        self.end += read;
        Ok(read > 0)
    }

    /// Returns the next bytes, at least `len` unless the stream ends.
    fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        while self.end - self.start < len {
            match self.fill() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Goes to the beginning of the next gzip member, which may be among kept bytes. Returns
    /// whether there is a next member.
    fn go_to_member(&mut self) -> bool {
        let mut bytes = mem::take(&mut self.kept);
        // The first byte began the damaged member.
        let mut from = 1;
        loop {
            let is_over = !self.top_up(&mut bytes, from + TRIED_BYTES);
            let rest = bytes.get(from..).unwrap_or_default();
            let found = memchr::memmem::find(rest, &[0x1f, 0x8b, 8]);
            if found.is_none() && is_over {
                return false;
            }
            // The last bytes may be the beginning of a member.
            from = found.map_or(from.max(bytes.len().saturating_sub(2)), |found| from + found);
            if found.is_none() {
                continue;
            }
            self.top_up(&mut bytes, from + TRIED_BYTES);
            let mut tried = [0];
            if GzDecoder::new(&bytes[from..]).read(&mut tried).is_ok_and(|read| read > 0) {
                break;
            }
            from += 1;
        }
        let rest = bytes.split_off(from);
        self.give_again(rest);
        true
    }

    /// Moves bytes of the stream to `bytes` up to a length of `len`. Returns whether that
    /// succeeded.
    fn top_up(&mut self, bytes: &mut Vec<u8>, len: usize) -> bool {
        while bytes.len() < len {
            if self.start == self.end && !self.fill().unwrap_or(false) {
                return false;
            }
            bytes.extend_from_slice(&self.buffer[self.start..self.end]);
            (self.start, self.end) = (0, 0);
        }
        true
    }

    /// Puts bytes back before the unconsumed bytes.
    fn give_again(&mut self, mut bytes: Vec<u8>) {
        self.at = self.at.saturating_sub(bytes.len() as u64);
        bytes.extend_from_slice(&self.buffer[self.start..self.end]);
        (self.start, self.end) = (0, bytes.len());
        bytes.resize(bytes.len().max(PeekedInput::<R>::BYTES), 0);
        self.buffer = bytes;
    }

    /// Skips the zero bytes that pad files on tapes and block devices.
    fn skip_zeros(&mut self) -> io::Result<()> {
        loop {
            let next = self.peek(1)?;
            let zeros = next.iter().take_while(|&&byte| byte == 0).count();
            let is_end = zeros < next.len() || next.is_empty();
            self.consume(zeros);
            if is_end {
                return Ok(());
            }
        }
    }
}

impl<R: Read> BufRead for PeekedInput<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.fill()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, len: usize) {
        assert!(len <= self.end - self.start, "more is consumed than was read");
        let is_kept = self.resumption.get() || self.at < EARLY_BYTES;
        if is_kept && self.kept.len() < KEPT_BYTES_MAX {
            self.kept.extend_from_slice(&self.buffer[self.start..self.start + len]);
        }
        self.start += len;
        self.at += len as u64;
    }
}

impl<R: Read> Read for PeekedInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut next = self.fill_buf()?;
        let read = next.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}
