//! Parsing of programs with bounded time and memory.
//!
//! All limits are numbers of steps, bytes and places, so that a text is parsed everywhere or
//! nowhere.

use super::grammar::Grammar;
use super::meter::Meter;
use crate::runtime::Stop;
use crate::{Error, Result};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::thread;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// Returns the tree of a program; `None` if parsing it takes too many steps or too much memory.
///
/// The parser releases and merges its stack by recursion where a program can be read in two ways: a
/// type assertion of TypeScript before another, `<a><a><a>x`, takes three levels. There are no more
/// levels than bytes, so a stack in proportion to the text suffices; the pages that are not needed
/// are never touched.
pub fn parsed(text: &str, grammar: &Grammar, stop: &Stop) -> Result<Option<Tree>> {
    if text.len() <= PARSED_IN_PLACE_BYTES_MAX {
        return parsed_here(text, grammar, stop);
    }
    let parser =
        thread::Builder::new().stack_size(STACK_BYTES_MIN + STACK_BYTES_A_BYTE * text.len());
    thread::scope(|scope| {
        let parsing = parser
            .spawn_scoped(scope, || parsed_here(text, grammar, stop))
            .map_err(|source| no_stack(text.len(), &source))?;
        parsing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Returns the error for a text of this many bytes when no stack to parse it can be allocated.
fn no_stack(text_bytes: usize, source: &std::io::Error) -> Error {
    let stack = (STACK_BYTES_MIN + STACK_BYTES_A_BYTE * text_bytes) >> 20;
    let what = format!(
        "no thread with a stack of {stack} MiB can be started to parse a program of {text_bytes} \
         bytes: {source}"
    );
    Error::Memory { what, is_for_now: true }
}

/// Texts of up to this many bytes are parsed in the thread of the caller, whose stack has room for
/// them.
const PARSED_IN_PLACE_BYTES_MAX: usize = 512;

/// The number of bytes of stack that the parser takes for any text.
const STACK_BYTES_MIN: usize = 256 << 10;

/// The space for it for each byte of a text: 128 bytes a level without optimisation, doubled.
pub const STACK_BYTES_A_BYTE: usize = 256;

/// The ratio of the reserved space to the stack that can be filled.
pub const STACK_RESERVE: usize = 2;

/// Parses like [`parsed`], in this thread.
fn parsed_here(text: &str, grammar: &Grammar, stop: &Stop) -> Result<Option<Tree>> {
    let meter = Meter::begin();
    let mut parser = Parser::new();
    parser
        .set_language(&grammar.language.into())
        .expect("grammar and parser are of matching versions");
    let bytes_max = TAKEN_BYTES_MIN + TAKEN_BYTES_A_BYTE * text.len() as u64;
    let (mut looks, mut stopped) = (0, Ok(()));
    let looks_max = PARSER_LOOKS_MIN + text.len() / BYTES_A_PARSER_LOOK;
    let reads = Cell::new(0);
    let reads_max = READS_MIN + READS_A_PART * text.len() / PART_BYTES;
    let mut progress = |_: &ParseState| {
        looks += 1;
        stopped = stop.check();
        let taken = meter.taken();
        let is_bounded = taken.places <= STACK_PLACES_MAX && taken.bytes <= bytes_max;
        let is_bounded = is_bounded && looks <= looks_max && reads.get() <= reads_max;
        let goes_on = stopped.is_ok() && is_bounded;
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |at: usize, _| {
        reads.set(reads.get() + 1);
        match text.as_bytes().get(at..) {
            Some(rest) if !rest.is_empty() => &rest[..rest.len().min(PART_BYTES)],
            _ => grammar.tail.get(at - text.len()..).unwrap_or_default(),
        }
    };
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    stopped.map(|()| tree)
}

/// The parser asks after every hundred of its steps whether to go on. If it asks more often than
/// once for this many bytes, the text is not parsed, so that the outcome does not depend on the
/// machine. In 270 MB of programs in five languages it asked at most once for 34 bytes, and once
/// for 150 on average.
const BYTES_A_PARSER_LOOK: usize = 8;

/// See [`BYTES_A_PARSER_LOOK`].
const PARSER_LOOKS_MIN: usize = 1 << 12;

/// A text that gives the stack of the parser more places than this is not parsed: at the end of a
/// text with errors the parser takes time and memory that grow with the square of their number, in
/// one step. With 3,000 places the maximum found was 52 MiB and a quarter of a second. In 32 MB of
/// programs, one took 2,080, five more than 500, and all others fewer.
const STACK_PLACES_MAX: usize = 3_000;

/// If the parser requests more bytes of memory than this for each byte of a text, including those
/// that it has released again, the text is not parsed: some errors take work that grows with the
/// square of their number. The same programs took at most 145.
const TAKEN_BYTES_A_BYTE: u64 = 400;

/// See [`TAKEN_BYTES_A_BYTE`].
const TAKEN_BYTES_MIN: u64 = 4 << 20;

/// The parser reads a text in parts of this many bytes. Some scanners look ahead to the end of the
/// text, and do it again at the next place: Kotlin's within strings.
const PART_BYTES: usize = 1 << 10;

/// A text whose parts are read more often than this on average is not parsed.
const READS_A_PART: usize = 64;

/// See [`READS_A_PART`].
const READS_MIN: usize = 1 << 12;
