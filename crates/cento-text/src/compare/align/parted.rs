//! Divides passages so that no passage spans two parts of a text.
//!
//! Two submissions of many files, copied whole, make one passage of the joined texts, and a reader
//! would have to find the files in it. So a passage in several parts is divided: the side with more
//! parts is halved at a break, each half is aligned with the other side again, and the new passages
//! are divided in turn. A half has half as many parts, and so has the other side if text was copied
//! in order. So the time is the time of aligning the passage, times the logarithm of the number of
//! parts.

use std::cmp::Reverse;
use std::ops::Range;

use super::chain::CoveredRanges;
use super::order::OrderedPair;
use super::{AlignedPassage, Genre, LOOKUP_STEPS, Side, align};
use crate::compare::runs::{Place, hide, is_hidden};
use crate::error::Result;
use crate::runtime::Steps;
use crate::text::Tokens;

/// Maximum number of tokens to align again, per token of both texts: twice the number of halvings
/// allowed by the maximum number of parts.
const ALIGNED_TOKENS_MAX: usize = 32;

/// Returns the first token of each part but the first. Parts without tokens have no break.
pub fn breaks(side: Side<'_>) -> Vec<usize> {
    let spans = &side.tokens.spans;
    let first = |part: &cento_api::Part| spans.partition_point(|span| span.start < part.start);
    let mut breaks: Vec<usize> = side.parts.iter().map(first).collect();
    breaks.retain(|&at| at > 0 && at < spans.len());
    breaks.dedup();
    breaks
}

/// Returns the breaks inside a range of tokens, none if the range is in a single part.
pub fn within<'a>(breaks: &'a [usize], range: &Range<usize>) -> &'a [usize] {
    let first = breaks.partition_point(|&at| at <= range.start);
    let end = breaks.partition_point(|&at| at < range.end);
    &breaks[first..end.max(first)]
}

/// Aligns a range of the query with a range of the document.
pub type Again<'a> =
    &'a dyn Fn(Range<usize>, Range<usize>, &mut Steps<'_>) -> Result<Vec<AlignedPassage>>;

/// Divides the passages at the `breaks` of either text, and returns the passages in the order of
/// the query. `tokens` is the number of tokens of both texts. `again` aligns the pieces of a
/// passage.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn divided(
    passages: Vec<AlignedPassage>,
    breaks: [&[usize]; 2],
    tokens: usize,
    again: Again<'_>,
    steps: &mut Steps<'_>,
) -> Result<Vec<AlignedPassage>> {
    let parts = |passage: &AlignedPassage| {
        [within(breaks[0], &passage.query), within(breaks[1], &passage.hit)]
    };
    let is_whole = |passage: &AlignedPassage| parts(passage).iter().all(|breaks| breaks.is_empty());
    let (mut done, mut open): (Vec<AlignedPassage>, Vec<AlignedPassage>) =
        passages.into_iter().partition(is_whole);
    if open.is_empty() {
        return Ok(done);
    }
    let mut left = tokens.saturating_mul(ALIGNED_TOKENS_MAX);
    let mut pieces = Vec::new();
    while let Some(passage) = open.pop() {
        let [in_query, in_hit] = parts(&passage);
        let of_query = in_query.len() >= in_hit.len();
        let breaks = if of_query { in_query } else { in_hit };
        let Some(&middle) = breaks.get(breaks.len() / 2) else {
            pieces.push(passage);
            continue;
        };
        let AlignedPassage { query: q, hit: d, .. } = passage;
        let halves = match of_query {
            true => [(q.start..middle, d.clone()), (middle..q.end, d)],
            false => [(q.clone(), d.start..middle), (q, middle..d.end)],
        };
        for (q, d) in halves {
            let Some(rest) = left.checked_sub(q.len() + d.len()) else {
                steps.cut();
                break;
            };
            left = rest;
            open.extend(again(q, d, steps)?);
        }
    }
    // Pieces of two passages may overlap in the query, because passages may share less than half of
    // their text.
    pieces.sort_unstable_by_key(|piece| {
        (Reverse(piece.matched_tokens()), piece.query.start, piece.hit.start)
    });
    let mut taken = CoveredRanges::default();
    done.iter().for_each(|passage| _ = taken.take(&passage.query));
    for piece in pieces {
        if steps.take(2 * LOOKUP_STEPS)? && taken.take(&piece.query) {
            done.push(piece);
        }
    }
    done.sort_unstable_by_key(|passage| (passage.query.start, passage.hit.start));
    Ok(done)
}

/// Aligns stretches of two texts in prose, as if they were the whole texts.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn aligned_again(
    pair: OrderedPair<'_>,
    in_query: Range<usize>,
    in_hit: Range<usize>,
    steps: &mut Steps<'_>,
) -> Result<Vec<AlignedPassage>> {
    let [of_query, of_document] = pair.places();
    let q = stretch(pair.query.tokens, &in_query, of_query, Place::Query);
    let d = stretch(pair.document.tokens, &in_hit, of_document, Place::Document);
    let q = Side { tokens: &q, parts: &[], ..pair.query };
    let d = Side { tokens: &d, parts: &[], ..pair.document };
    let alignment = align(q, d, Genre::Prose, steps.stop())?;
    if !alignment.is_complete {
        steps.cut();
    }
    let passages = alignment.passages.into_iter();
    Ok(passages.map(|passage| passage.moved(in_query.start, in_hit.start)).collect())
}

impl AlignedPassage {
    /// Moves a passage of stretches that begin at these tokens to its place in the whole texts.
    fn moved(self, in_query: usize, in_hit: usize) -> AlignedPassage {
        let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        let each = |ranges: Vec<Range<usize>>, by: usize| {
            ranges.into_iter().map(|range| moved(range, by)).collect()
        };
        AlignedPassage {
            query: moved(self.query, in_query),
            hit: moved(self.hit, in_hit),
            matched: each(self.matched, in_query),
            matched_in_hit: each(self.matched_in_hit, in_hit),
            ..self
        }
    }
}

/// Copies a range of tokens. Tokens hidden as of side `from` become hidden at their new places as
/// of side `to`.
fn stretch(tokens: &Tokens, range: &Range<usize>, from: Place, to: Place) -> Tokens {
    let mut hashes = tokens.hashes[range.clone()].to_vec();
    for at in range.clone() {
        if is_hidden(tokens.hashes[at], at, from) {
            let place = at - range.start;
            hide(&mut hashes, std::slice::from_ref(&(place..place + 1)), to);
        }
    }
    Tokens { hashes, spans: tokens.spans[range.clone()].to_vec() }
}

#[cfg(test)]
mod tests {
    use super::super::TextPair;
    use super::super::copied::{self, CopiedPassage};
    use super::super::equal_runs::KnownSeeds;
    use super::super::testing::analyzed;
    use super::*;
    use crate::hash::mix64;
    use crate::runtime::Stop;
    use crate::text::AnalyzedText;
    use cento_api::Part;
    use proptest::prelude::*;

    /// A text of parts of these words. Some words end sentences.
    fn text(parts: &[Vec<u64>]) -> AnalyzedText {
        let word = |word: &u64| -> String {
            let letters = (0..6).map(|at| (mix64(*word) >> (5 * at) & 31) as u8);
            let letters = letters.map(|letter| char::from(b'a' + letter % 26));
            let end = if word.is_multiple_of(7) { "." } else { "" };
            letters.collect::<String>() + end
        };
        let (mut text, mut all) = (String::new(), Vec::new());
        for (number, words) in parts.iter().enumerate() {
            if number > 0 {
                text.push('\n');
            }
            all.push(Part::new(number.to_string(), text.len() as u32));
            text.push_str(&words.iter().map(word).collect::<Vec<_>>().join(" "));
        }
        analyzed(text).with_parts(all)
    }

    /// Returns the copied passages of stretches of two texts.
    fn copied_of(
        [query, document]: [&AnalyzedText; 2],
        (in_query, in_hit): (Range<usize>, Range<usize>),
    ) -> Vec<AlignedPassage> {
        let q = &query.tokens.hashes[in_query.clone()];
        let d = &document.tokens.hashes[in_hit.clone()];
        let tokens = TextPair::new(q, d);
        let seeds = copied::seeds(q, Stop::NEVER).unwrap();
        let known = KnownSeeds::OfQuery(&seeds);
        let steps = &mut Steps::unbounded(Stop::NEVER);
        let found = copied::passages(tokens, known, steps).unwrap();
        let aligned = |CopiedPassage { query, hit, matched, matched_in_hit, .. }| {
            AlignedPassage { matched, matched_in_hit, ..AlignedPassage::unmatched(&query, &hit) }
                .moved(in_query.start, in_hit.start)
        };
        found.into_iter().map(aligned).collect()
    }

    /// Aligns each part of the query with each part of the document.
    fn naive(texts: [&AnalyzedText; 2]) -> Vec<AlignedPassage> {
        let [of_query, of_document] = texts.map(|text| {
            let breaks = breaks(text.side());
            let ends: Vec<usize> =
                breaks.iter().copied().chain([text.tokens.hashes.len()]).collect();
            [0].into_iter().chain(breaks).zip(ends).map(|(from, to)| from..to).collect::<Vec<_>>()
        });
        let pairs = of_query.iter().flat_map(|q| of_document.iter().map(move |d| (q, d)));
        pairs.flat_map(|(q, d)| copied_of(texts, (q.clone(), d.clone()))).collect()
    }

    /// The words of a text in as many parts, divided at the ends.
    fn in_parts(words: &[u64], ends: &[usize]) -> Vec<Vec<u64>> {
        let mut ends: Vec<usize> = ends.iter().map(|end| end % (words.len() + 1)).collect();
        ends.extend([0, words.len()]);
        ends.sort_unstable();
        ends.windows(2).map(|two| words[two[0]..two[1]].to_vec()).collect()
    }

    proptest! {
        #[test]
        fn copied_passages_are_those_of_each_part_with_each_part(
            copied in prop::collection::vec((0usize..250, 1usize..80, 21usize..60), 1..5),
            of_query in prop::collection::vec(0usize..500, 0..5),
            of_document in prop::collection::vec(0usize..500, 0..5),
        ) {
            // Between two copied stretches are more tokens than in a gap of one passage.
            let source: Vec<u64> = (0..250).collect();
            let (mut words, mut own) = (Vec::new(), 1_000..);
            for (from, len, between) in copied {
                words.extend(&source[from..(from + len).min(source.len())]);
                words.extend(own.by_ref().take(between));
            }
            let query = text(&in_parts(&words, &of_query));
            let document = text(&in_parts(&source, &of_document));
            let texts = [&query, &document];
            let breaks = texts.map(|text| breaks(text.side()));
            let breaks = breaks.each_ref().map(|breaks| &breaks[..]);
            let [q, d] = texts.map(|text| text.tokens.hashes.len());
            let steps = &mut Steps::unbounded(Stop::NEVER);
            let again = |q, d, _: &mut Steps<'_>| Ok(copied_of(texts, (q, d)));
            let whole = copied_of(texts, (0..q, 0..d));
            let mut found = divided(whole, breaks, q + d, &again, steps).unwrap();
            prop_assert!(steps.is_complete());
            found.sort_by_key(|passage| (passage.query.start, passage.hit.start));
            let mut expected = naive(texts);
            expected.sort_by_key(|passage| (passage.query.start, passage.hit.start));
            prop_assert_eq!(found, expected);

            // No passage of any other kind is in two parts.
            let found = align(query.side(), document.side(), Genre::Prose, Stop::NEVER).unwrap();
            prop_assert!(found.is_complete);
            for passage in &found.passages {
                prop_assert!(within(breaks[0], &passage.query).is_empty(), "{:?}", passage);
                prop_assert!(within(breaks[1], &passage.hit).is_empty(), "{:?}", passage);
            }
        }
    }
}
