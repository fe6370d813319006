//! Hash-breaking: pieces of a document that do not overlap.
//!
//! Hash-breaking (Seo and Croft 2008, section 4.2.1; Brin et al. 1995): a token whose hash is
//! divisible by `p` ends a segment, and every segment is a fingerprint. A change of one token
//! changes the fingerprint of one segment or two. The revised form drops segments shorter than `p`,
//! which consist mostly of frequent words.
//!
//! `dct` and `se` use the same segments ([`segments`]).

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, L_MAX, SEGMENTS, SchemeBuilder};
use super::ngram;
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::hash::mix64;
use crate::runtime::Stop;
use crate::spec::Parameter;
use std::ops::Range;

pub(super) const FAMILY: Family = Family {
    name: "breaking",
    parameters: &[
        Parameter::number("p", 6, 1, L_MAX, "one word in `p` ends a segment"),
        Parameter::switch("revised", 1, "1 leaves out segments of fewer than `p` tokens"),
    ],
    summary: "segments between words whose hash is divisible by `p`",
    density: "1 / p",
    source: "Seo and Croft 2008, section 4.2.1; Brin et al. 1995",
    example: "breaking(p=6,revised=1)",
    kind: SEGMENTS,
    build: SchemeBuilder::Alone(|spec| {
        Box::new(Breaking { p: spec.get("p") as usize, is_revised: spec.is_on("revised") })
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["breaking(p=3)", "breaking(p=3,revised=0)"],
        pins: &[
            ("breaking", "words", 12913947554231010893),
            ("breaking(revised=0)", "words", 9286389203141866209),
        ],
        ..Laws::NONE
    },
};

/// `breaking(p,revised)`: every segment, or every segment of at least `p` tokens. If all segments
/// are shorter, the rightmost of the longest segments.
#[derive(Debug)]
struct Breaking {
    p: usize,
    is_revised: bool,
}

/// Mixed into token hashes before the test, because the low bits of the hashes also decide
/// elsewhere.
const BREAK: u64 = 0x0062_7265_616b;

/// Returns the segments of a document. A segment ends with a token whose mixed hash is divisible by
/// `p`, or with the document.
pub(super) fn segments(hashes: &[u64], p: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    let is_break = move |hash: u64| mix64(hash ^ BREAK).is_multiple_of(p as u64);
    std::iter::from_fn(move || {
        let len = hashes[start..].iter().position(|&hash| is_break(hash));
        let end = len.map_or(hashes.len(), |len| start + len + 1);
        let segment = start..end;
        start = end;
        (!segment.is_empty()).then_some(segment)
    })
}

/// Returns the segments of at least `len_min` tokens. If all segments are shorter, returns the
/// rightmost of the longest segments, so that no document is without a segment.
pub(super) fn long_segments(hashes: &[u64], p: usize, len_min: usize) -> Vec<Range<usize>> {
    let mut kept: Vec<Range<usize>> =
        segments(hashes, p).filter(|segment| segment.len() >= len_min).collect();
    if kept.is_empty() {
        kept.extend(segments(hashes, p).max_by_key(Range::len));
    }
    kept
}

impl SchemeMethod for Breaking {
    fn segment_tokens(&self) -> Option<u32> {
        // A segment has `p` tokens on average. The segments of `p` or more tokens have twice as
        // many.
        Some(if self.is_revised { 2 * self.p as u32 } else { self.p as u32 })
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        let len_min = if self.is_revised { self.p } else { 1 };
        let segments = long_segments(hashes, self.p, len_min).into_iter();
        signature.extend(segments.map(|segment| {
            ngram::fingerprint(ngram::value(&hashes[segment.clone()]), segment.start)
        }));
        Ok(())
    }
}
