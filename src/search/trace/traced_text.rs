//! The text of a traced query: what counts in it, and where its fingerprints begin.

use std::ops::Range;

use cento_api::{CountUnit, Part};

use crate::compare::shares::{CountedText, Ranges};
use crate::text::Tokens;

/// The text of a traced query.
pub struct TracedText {
    pub text: String,
    /// The parts of the text. Empty for most texts.
    pub parts: Vec<Part>,
    /// The first byte of each fingerprint, and its place among the distinct fingerprints, ordered
    /// by byte.
    pub places: Vec<(u32, u32)>,
    /// The number of distinct fingerprints.
    pub fingerprints: usize,
    /// The characters or tokens that count.
    pub counted: CountedText,
    pub is_program: bool,
}

impl TracedText {
    /// Makes the text of `tokens`, which signatures use. Text in the ranges of `left_out` does not
    /// count. `signature` has the token of each fingerprint, and its place among the distinct
    /// `fingerprints`.
    pub fn new(
        (text, parts): (String, Vec<Part>),
        tokens: &Tokens,
        left_out: &[(u32, u32)],
        is_program: bool,
        (signature, fingerprints): (impl Iterator<Item = (u32, u32)>, usize),
    ) -> TracedText {
        let left_out: Vec<Range<u32>> = left_out.iter().map(|&(a, b)| a..b).collect();
        let counted = match is_program {
            true => CountedText::of_tokens(&tokens.places(), &left_out),
            false => CountedText::new(&text, &left_out),
        };
        let place = |(token, at): (u32, u32)| Some((tokens.spans.get(token as usize)?.start, at));
        let mut places: Vec<(u32, u32)> = signature.filter_map(place).collect();
        places.sort_unstable();
        TracedText { text, parts, places, fingerprints, counted, is_program }
    }

    /// Returns the number of counted characters or tokens in these bytes.
    pub fn size_of(&self, bytes: &Ranges) -> u32 {
        bytes.as_slice().iter().map(|range| self.size_in(range)).sum()
    }

    fn size_in(&self, bytes: &Range<u32>) -> u32 {
        self.counted.before(bytes.end) - self.counted.before(bytes.start)
    }

    /// Returns what the text counts.
    pub fn unit(&self) -> CountUnit {
        if self.is_program { CountUnit::Tokens } else { CountUnit::Characters }
    }

    /// Returns the distinct fingerprints that begin in a span, ascending.
    pub fn fingerprints_in(&self, span: &Range<u32>) -> Vec<u32> {
        let first = self.places.partition_point(|place| place.0 < span.start);
        let within = self.places[first..].iter().take_while(|place| place.0 < span.end);
        let mut found: Vec<u32> = within.map(|&(_, fingerprint)| fingerprint).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
