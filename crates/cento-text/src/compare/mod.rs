//! The comparison of two texts.
//!
//! No index is needed: this module signs and aligns both texts itself. [`measure`] computes how
//! alike the texts are, [`align`] finds their common passages.

pub mod align;
pub mod background;
pub mod chance;
pub mod common_runs;
pub mod difference;
mod fingerprints;
pub mod measure;
pub mod passages;
pub mod place;
pub mod programs;
pub mod runs;
pub mod shares;
mod text_pair;
pub mod variants;

use std::ops::Range;

use crate::UnseenText;
use crate::error::{Error, Result};
use crate::overlap::Overlap;
use crate::runtime::Stop;
use crate::scheme::{Fingerprint, Scheme, distinct_keys};
use crate::similarity::Similarity;
use crate::text::cited::cited;
use crate::text::{Analyzer, Side, Tokens};
pub use cento_api::{CitedPart, CompareOptions, Comparison, Origin, Passage, Unit};
pub use fingerprints::SharedKeys;
use measure::Measure;
use passages::tokens_in;
pub use passages::{Passages, in_bytes};
use runs::{Place, RunSet, Runs, hide};
pub use text_pair::TextPair;

/// Compares two texts as an index with this scheme and analyzer would compare its documents.
///
/// No index is needed. The similarity is exact, because the runs of the texts are compared and not
/// their fingerprints, unless the scheme has no runs. Time and memory are proportional to both
/// texts. The search for passages has a budget of steps, and [`Comparison::complete`] tells whether
/// the budget was enough.
///
/// ```
/// use cento_text::text::Analyzer;
///
/// let scheme = cento_text::scheme::parse("winnow(k=5,w=10)")?;
/// let a = "The quick brown fox jumps over the lazy dog near the old mill by the river.";
/// let b = "They said: the quick brown fox jumps over the lazy dog near the old mill.";
/// let found = cento_text::compare(&scheme, &Analyzer::default(), a, b)?;
/// assert!(found.similarity.exact && found.similarity.containment_of_b > 0.6);
/// let (start, end) = found.passages[0].b;
/// assert!(b[start as usize..end as usize].starts_with("the quick brown fox"));
/// # Ok::<(), cento_text::Error>(())
/// ```
/// # Errors
/// When a text is too large to be analyzed, or has no token, as a program of comments: such a text
/// would seem to have nothing in common with any text.
pub fn compare(scheme: &Scheme, analyzer: &Analyzer, a: &str, b: &str) -> Result<Comparison> {
    let texts = TextPair::new(a, b);
    compare_by(scheme, analyzer, texts, &[], &CompareOptions::default(), Stop::NEVER)
}

/// The places in errors of a comparison. Callers who have names for the texts can replace them.
pub const COMPARED: [&str; 2] = ["the first text", "the second text"];

/// Compares as [`compare`] does, with these options. `measures` must be the measures that the
/// options name, already parsed.
///
/// ```
/// use cento_text::compare::{CompareOptions, TextPair, compare_by};
/// use cento_text::{Analyzer, Measure, Stop, scheme};
///
/// let texts = TextPair::new("one two three four five", "five four three two one");
/// let measures = ["hamming".parse::<Measure>()?, "cosine".parse()?];
/// let options = CompareOptions::default();
/// let (scheme, words) = (scheme::parse("kgram(k=2)")?, Analyzer::default());
/// let found = compare_by(&scheme, &words, texts, &measures, &options, Stop::NEVER)?;
/// // The words are equal, and their order is reversed.
/// assert_eq!(found.similarity.resemblance, 0.0);
/// let mut values = found.measures.iter();
/// let mut value = |name| *values.find(|(spec, _)| spec.starts_with(name)).unwrap().1;
/// assert!(value("cosine") > 0.99 && value("hamming") == 0.2);
/// # Ok::<(), cento_text::Error>(())
/// ```
///
/// # Errors
/// As [`compare`], with a place of [`COMPARED`], and when a text needs more steps than a measure
/// allows. [`Error::Cancelled`] soon after `stop`.
pub fn compare_by(
    scheme: &Scheme,
    analyzer: &Analyzer,
    TextPair { a, b }: TextPair<&str>,
    measures: &[Measure],
    options: &CompareOptions,
    stop: &Stop,
) -> Result<Comparison> {
    let (min_passage, without) = (options.min_passage.unwrap_or(0), &options.without[..]);
    let signed = |text| SignedText::new(scheme, analyzer, text, without, stop);
    let (a_signed, b_signed) = (signed(a)?, signed(b)?);
    for (place, signed) in COMPARED.into_iter().zip([&a_signed, &b_signed]) {
        if signed.tokens.hashes.is_empty() {
            return Err(Error::input(place, analyzer.nothing_to_compare()));
        }
    }
    let overlap = Overlap::of(&a_signed.keys, &b_signed.keys);
    let similarity = match scheme.compared_run_tokens(analyzer.is_of_programs()) {
        Some(k) => {
            let runs = |signed: &SignedText| {
                if signed.cited.is_empty() {
                    return RunSet::new(&signed.tokens.hashes, k);
                }
                let mut left_out = Runs::new(k);
                let hashes = &signed.tokens.hashes;
                signed.cited.iter().for_each(|range| left_out.add(&hashes[range.clone()]));
                RunSet::without(hashes, k, |run| left_out.has(run))
            };
            Similarity::exact(runs(&a_signed).overlap(&runs(&b_signed)))
        }
        None => Similarity::of_sketches(overlap),
    };
    let [a, b] = [(a, &a_signed), (b, &b_signed)].map(|(text, signed)| Side {
        text,
        tokens: &signed.tokens,
        parts: &[],
    });
    let measures = measures.iter().map(|by| Ok((by.to_string(), by.try_of(a, b, stop)?)));
    let measures = measures.collect::<Result<_>>()?;
    let of_passages = analyzer.of_passages();
    let mut others = [Tokens::default(), Tokens::default()];
    let mut sides = [a, b];
    if of_passages != *analyzer || !without.is_empty() {
        let places = [Place::Query, Place::Document];
        for ((side, tokens), place) in sides.iter_mut().zip(&mut others).zip(places) {
            *tokens = tokens_of(&of_passages, side.text, stop)?;
            let ranges = tokens_between(tokens, &cited(side.text, without));
            hide(&mut tokens.hashes, &ranges, place);
            side.tokens = tokens;
        }
    }
    let genre = passages::Genre::of(analyzer);
    let passages = passages::between(sides[0], sides[1], genre, stop)?.of_at_least(min_passage);
    Ok(Comparison {
        overlap: overlap.shared,
        similarity,
        category: similarity.category(),
        measures,
        passages: passages.found,
        complete: passages.complete,
        unseen: [a.text, b.text].map(UnseenText::of),
    })
}

/// Returns the tokens that are entirely in these ranges of bytes, without empty ranges.
#[must_use]
pub fn tokens_between(tokens: &Tokens, bytes: &[Range<u32>]) -> Vec<Range<usize>> {
    let between = |bytes: &Range<u32>| {
        let found = tokens_in(tokens, (bytes.start, bytes.end));
        found.start as usize..found.end as usize
    };
    bytes.iter().map(between).filter(|range| !range.is_empty()).collect()
}

/// Removes the fingerprints of runs that are entirely in a range of tokens.
pub fn remove_within(
    fingerprints: &mut Vec<Fingerprint>,
    ranges: &[Range<usize>],
    run_tokens: Option<usize>,
) {
    if ranges.is_empty() {
        return;
    }
    let len = run_tokens.unwrap_or(1);
    fingerprints.retain(|fingerprint| {
        let at = fingerprint.position as usize;
        let next = ranges.partition_point(|range| range.end < at + len);
        ranges.get(next).is_none_or(|range| at < range.start)
    });
}

/// Analyzes a text and releases spare memory. The number of tokens was not known in advance, so
/// half of the memory may be unused, and aligning needs that memory.
fn tokens_of(by: &Analyzer, text: &str, stop: &Stop) -> Result<Tokens> {
    let mut tokens = Tokens::default();
    by.analyze(text, &mut tokens, stop)?;
    tokens.shrink_to_fit();
    Ok(tokens)
}

struct SignedText {
    tokens: Tokens,
    /// The distinct keys, ascending.
    keys: Vec<u64>,
    /// The tokens of cited parts, which do not count: ascending, disjoint ranges.
    cited: Vec<Range<usize>>,
}

impl SignedText {
    fn new(
        scheme: &Scheme,
        by: &Analyzer,
        text: &str,
        without: &[CitedPart],
        stop: &Stop,
    ) -> Result<SignedText> {
        let (tokens, mut fingerprints) = (tokens_of(by, text, stop)?, Vec::new());
        scheme.sign(&tokens.hashes, &mut fingerprints, stop)?;
        let cited = tokens_between(&tokens, &cited(text, without));
        remove_within(&mut fingerprints, &cited, scheme.run_tokens());
        let keys = distinct_keys(&fingerprints);
        Ok(SignedText { tokens, keys, cited })
    }
}
