//! Parsing of programs with bounded time and memory.
//!
//! The limits count steps, bytes and places, not time, so that every machine parses the same texts.

use super::grammar::NodeGrammar;
use super::meter::Meter;
use crate::runtime::Stop;
use crate::{Error, Result};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::thread;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// Returns the tree of a program, or `None` if parsing takes too many steps or too much memory.
///
/// The parser releases and merges its stack by recursion where a program can be read in two ways.
/// For example, each type assertion of TypeScript before a further assertion, as in `<a><a><a>x`,
/// takes three levels. There are no more levels than bytes, so a stack proportional to the text is
/// enough. Unneeded pages of the stack are never touched.
pub fn parsed(text: &str, grammar: &NodeGrammar, stop: &Stop) -> Result<Option<Tree>> {
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

/// Returns the error for a text of this many bytes when no stack to parse the text can be
/// allocated.
fn no_stack(text_bytes: usize, source: &std::io::Error) -> Error {
    let stack = (STACK_BYTES_MIN + STACK_BYTES_A_BYTE * text_bytes) >> 20;
    let what = format!(
        "no thread with a stack of {stack} MiB can be started to parse a program of {text_bytes} \
         bytes: {source}"
    );
    Error::Memory { what, is_for_now: true }
}

/// The maximum length of a text that is parsed on the caller's thread, whose stack has enough room
/// for the text.
const PARSED_IN_PLACE_BYTES_MAX: usize = 512;

/// The number of bytes of stack that the parser takes for any text.
const STACK_BYTES_MIN: usize = 256 << 10;

/// The stack for each byte of a text: 128 bytes a level without optimization, doubled.
pub const STACK_BYTES_A_BYTE: usize = 256;

/// The ratio of the reserved stack to the stack that can be filled.
pub const STACK_RESERVE: usize = 2;

/// Parses as [`parsed`] does, on this thread.
fn parsed_here(text: &str, grammar: &NodeGrammar, stop: &Stop) -> Result<Option<Tree>> {
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

/// The minimum number of bytes per question of the parser, which asks after every hundred of its
/// steps whether to continue. If the parser asks more often, the text is not parsed, so that the
/// outcome does not depend on the machine. In 270 MB of programs in five languages it asked at most
/// once per 34 bytes, and once per 150 bytes on average.
const BYTES_A_PARSER_LOOK: usize = 8;

/// See [`BYTES_A_PARSER_LOOK`].
const PARSER_LOOKS_MIN: usize = 1 << 12;

/// The maximum number of places of the parser's stack. At the end of a text with errors, a single
/// step of the parser takes time and memory that grow with the square of the number of places. The
/// maximum found with 3,000 places was 52 MiB and a quarter of a second. In 32 MB of programs, one
/// program took 2,080 places, five took more than 500, and the other programs fewer.
const STACK_PLACES_MAX: usize = 3_000;

/// The maximum number of bytes of memory that the parser may request per byte of a text, including
/// released bytes. The work for some errors grows with the square of their number. The same
/// programs took at most 145.
const TAKEN_BYTES_A_BYTE: u64 = 400;

/// See [`TAKEN_BYTES_A_BYTE`].
const TAKEN_BYTES_MIN: u64 = 4 << 20;

/// The parser reads a text in parts of this many bytes. Some scanners look ahead to the end of the
/// text, again at every place, as Kotlin's scanner does within strings.
const PART_BYTES: usize = 1 << 10;

/// A text whose parts are read more often on average is not parsed.
const READS_A_PART: usize = 64;

/// See [`READS_A_PART`].
const READS_MIN: usize = 1 << 12;
