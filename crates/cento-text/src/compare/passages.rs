//! The common passages of two documents, as shown to the user.
//!
//! If both texts are available, they are aligned. Otherwise `fingerprints` finds the passages.

mod dense;

use std::ops::Range;

use super::align::{
    self, AlignedPassage, Side, TILE_TOKENS_MIN, align_prepared, breaks, similarity, with_misread,
    within, words_by_letters,
};
pub use super::align::{Genre, PASSAGE_TOKENS_MIN, Prepared};
use super::place::{self, Parted};
use super::{Passage, Unit, runs};
use crate::error::Result;
use crate::runtime::Stop;
use crate::text::{Tokens, WORD, is_white_space, word_parts};

/// The passages of a query and a document.
///
/// ```
/// use cento_text::{Analyzer, compare, scheme};
///
/// let oath = "I will support and defend the Constitution of the United States against all \
///     enemies, foreign and domestic; I will bear true faith and allegiance to the same";
/// let text = format!("All stood up and said: {oath}.");
/// let scheme = scheme::parse("winnow(k=5,w=10)")?;
/// let passage = &compare(&scheme, &Analyzer::default(), &text, oath)?.passages[0];
/// let (start, end) = passage.a;
/// assert!(text[start as usize..end as usize].ends_with(oath));
/// assert_eq!(passage.b, (0, oath.len() as u32));
/// # Ok::<(), cento_text::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Passages {
    /// The passages, in the order of the query.
    pub found: Vec<Passage>,
    /// Whether the passages are complete. If not, a complete search would have exceeded the limit
    /// of steps or memory. Equal texts always have equal results.
    pub complete: bool,
    /// The tokens of the query, by passage.
    places: Vec<Range<u32>>,
    /// For each passage, its words of the query: the number of tokens, unless the text is known and
    /// the tokens are letters of a script without spaces.
    words: Vec<u32>,
}

/// The evidence of a passage, and how unlikely the passage is by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// The information of the matched tokens, in bits.
    pub evidence: f64,
    /// The number of unrelated documents that have an equally good passage by chance.
    pub expected: f64,
    /// Whether `expected` is low enough to show the passage.
    pub is_shown: bool,
}

impl Passages {
    /// Makes passages, each given with its tokens of the query.
    pub fn new(found: Vec<(Passage, Range<u32>)>, complete: bool) -> Passages {
        let (found, places): (_, Vec<Range<u32>>) = found.into_iter().unzip();
        let words = places.iter().map(|place| place.len() as u32).collect();
        Passages { found, complete, places, words }
    }

    /// Counts words instead of tokens, for passages of sentences.
    #[must_use]
    pub fn in_words_of(mut self, query: Side<'_>) -> Passages {
        for (words, place) in self.words.iter_mut().zip(&self.places) {
            let place = place.start as usize..place.end as usize;
            let by_letters = words_by_letters(query, place.clone()).map(|words| words as u32);
            *words = by_letters.unwrap_or_else(|| (word_parts(query, place) / WORD) as u32);
        }
        self
    }

    /// Adds parts, pages and lines to passages that are ranges of bytes of these texts.
    #[must_use]
    pub fn placed(mut self, query: Parted<'_>, document: Parted<'_>) -> Passages {
        place::place(&mut self.found, query, document);
        self
    }

    pub(super) fn of_tokens(found: Vec<Passage>, complete: bool) -> Passages {
        let places = found.iter().map(|passage| passage.a.0..passage.a.1);
        let places: Vec<Range<u32>> = places.collect();
        Passages::new(found.into_iter().zip(places).collect(), complete)
    }

    /// Returns an empty set of passages, which is complete.
    pub fn none() -> Passages {
        Passages::of_tokens(Vec::new(), true)
    }

    /// Returns the memory of the passages, in bytes.
    pub fn bytes(&self) -> usize {
        let ranges = self.found.iter().map(|passage| passage.matched_ranges.capacity());
        let names = self.found.iter().flat_map(|passage| [&passage.a_part, &passage.b_part]);
        let names = names.flatten().map(String::capacity).sum::<usize>();
        names
            + self.found.capacity() * size_of::<Passage>()
            + self.places.capacity() * size_of::<Range<u32>>()
            + self.words.capacity() * size_of::<u32>()
            + ranges.sum::<usize>() * size_of::<(u32, u32)>()
    }

    /// Tells whether there is a passage, or may be one because the search was cut short.
    pub fn may_have_any(&self) -> bool {
        !self.found.is_empty() || !self.complete
    }

    /// Returns the number of tokens of the query in passages. A token in several passages, which
    /// may overlap, counts once.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        let mut places = self.places.clone();
        places.sort_unstable_by_key(|place| place.start);
        let (mut tokens, mut end) = (0, 0);
        for place in places {
            tokens += place.end.saturating_sub(place.start.max(end));
            end = end.max(place.end);
        }
        tokens
    }

    /// Keeps only passages with at least `words` words of the query.
    ///
    /// Tokens count as words, with two exceptions: pairs of letters of scripts without spaces count
    /// as the share of a word that a letter is, and in passages found without texts each letter
    /// counts.
    #[must_use]
    pub fn of_at_least(self, words: u32) -> Passages {
        let is_long = self.words.iter().map(|&its| its >= words).collect();
        self.only(is_long)
    }

    /// Gives each passage its evidence and the expected number of equally good passages. `rate`
    /// computes evidence and number from a passage and its tokens of the query, and decides which
    /// passages are kept. A passage of aligned letters is kept without evidence if at most half of
    /// its words are equal, because these say too little.
    #[must_use]
    pub fn rated(mut self, mut rate: impl FnMut(&Passage, &Range<u32>) -> Rating) -> Passages {
        let mut is_kept = Vec::with_capacity(self.found.len());
        for (passage, place) in self.found.iter_mut().zip(&self.places) {
            let Rating { evidence, expected, is_shown } = rate(passage, place);
            if passage.by_letters && 2 * passage.matched <= passage.tokens {
                is_kept.push(true);
                continue;
            }
            (passage.evidence, passage.expected) = (Some(evidence), Some(expected));
            is_kept.push(is_shown);
        }
        self.only(is_kept)
    }

    fn only(mut self, is_kept: Vec<bool>) -> Passages {
        if is_kept.iter().all(|&is_kept| is_kept) {
            return self;
        }
        let mut each = is_kept.iter();
        self.found.retain(|_| each.next() == Some(&true));
        let mut each = is_kept.iter();
        self.places.retain(|_| each.next() == Some(&true));
        let mut each = is_kept.iter();
        self.words.retain(|_| each.next() == Some(&true));
        self
    }
}

/// Returns the passages of two texts. A text shorter than the minimum of a passage ([`tokens_min`])
/// is itself a passage if the second text contains the whole of it.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when `stop` is set.
pub fn between(query: Side<'_>, document: Side<'_>, genre: Genre, stop: &Stop) -> Result<Passages> {
    between_prepared(query, &Prepared::new(query, genre, stop)?, document, stop)
}

/// Returns the minimum length of a passage, in words of prose or tokens of programs. A shorter text
/// can still be a passage.
///
/// ```
/// use cento_text::{Analyzer, compare::passages::{Genre, tokens_min}};
///
/// assert_eq!(tokens_min(Genre::of(&Analyzer::default())), 12);
/// ```
pub fn tokens_min(genre: Genre) -> usize {
    match genre {
        Genre::Prose | Genre::Scan => PASSAGE_TOKENS_MIN,
        Genre::Program => TILE_TOKENS_MIN,
    }
}

/// Finds passages as [`between`] does, for a prepared query.
///
/// # Errors
/// As [`between`].
pub fn between_prepared(
    query: Side<'_>,
    prepared: &Prepared,
    document: Side<'_>,
    stop: &Stop,
) -> Result<Passages> {
    let genre = prepared.genre();
    let alignment = align_prepared(query, prepared, document, stop)?;
    let mut found = alignment.passages;
    if found.is_empty() {
        let breaks = [query, document].map(breaks);
        let is_in_one_part = |aligned: &AlignedPassage| {
            within(&breaks[0], &aligned.query).is_empty()
                && within(&breaks[1], &aligned.hit).is_empty()
        };
        let is_short = words_of_shorter(query, document, genre) < tokens_min(genre);
        if is_short {
            found.extend(whole(
                &query.tokens.hashes,
                &document.tokens.hashes,
                &is_in_one_part,
                stop,
            )?);
        }
    }
    Ok(of_texts(found, alignment.is_complete, query, document, genre))
}

/// Returns the passage of a place of a document, and of the tokens of a query that are also there.
pub fn of_place(
    matched: Vec<Range<usize>>,
    hit: Range<usize>,
    query: Side<'_>,
    document: Side<'_>,
    genre: Genre,
) -> Passages {
    let ends = matched.first().zip(matched.last());
    let in_query = ends.map_or(0..0, |(first, last)| first.start..last.end);
    let similarity =
        similarity(&query.tokens.hashes[in_query.clone()], &document.tokens.hashes[hit.clone()]);
    let found =
        AlignedPassage { similarity, matched, ..AlignedPassage::unmatched(&in_query, &hit) };
    of_texts(vec![found], true, query, document, genre)
}

/// Converts passages of two texts to bytes, and adds their places.
fn of_texts(
    found: Vec<AlignedPassage>,
    complete: bool,
    query: Side<'_>,
    document: Side<'_>,
    genre: Genre,
) -> Passages {
    let passage = |aligned| in_texts(aligned, query, document, genre);
    let mut found = Passages::new(found.into_iter().map(passage).collect(), complete);
    if genre != Genre::Program {
        found = found.in_words_of(query);
    }
    found.placed((query.text, query.parts), (document.text, document.parts))
}

/// Returns the number of words of the text with fewer tokens. In programs, tokens count.
pub fn words_of_shorter(query: Side<'_>, document: Side<'_>, genre: Genre) -> usize {
    let shorter = [query, document].into_iter().min_by_key(|side| side.tokens.hashes.len());
    let shorter = shorter.expect("there are two");
    let tokens = shorter.tokens.hashes.len();
    match genre {
        Genre::Prose | Genre::Scan => (word_parts(shorter, 0..tokens) / WORD) as usize,
        Genre::Program => tokens,
    }
}

/// Returns the copied passages that a text of prose repeats later, in the order of the text.
/// `document` is the same text, but different tokens are hidden in `document` and in `query`.
///
/// # Errors
/// As [`between`].
pub fn repeated(query: Side<'_>, document: Side<'_>, stop: &Stop) -> Result<Passages> {
    let alignment = align::repeated(query, document, stop)?;
    let passage = |aligned| in_texts(aligned, query, document, Genre::Prose);
    let found = alignment.passages.into_iter().map(passage).collect();
    Ok(Passages::new(found, alignment.is_complete).in_words_of(query))
}

/// Returns a passage in bytes of both texts, with its tokens of the query.
fn in_texts(
    mut aligned: AlignedPassage,
    query: Side<'_>,
    document: Side<'_>,
    genre: Genre,
) -> (Passage, Range<u32>) {
    if genre == Genre::Scan {
        aligned.matched = with_misread(&aligned, query, document);
    }
    let in_query = bytes(query.tokens, &aligned.query);
    let in_hit = bytes(document.tokens, &aligned.hit);
    let tokens = aligned.query.len() as u32;
    let passage = Passage::new(in_query, in_hit, Unit::Bytes, tokens, aligned.similarity);
    let matched = matched_bytes(query, &aligned.matched, genre);
    let mut passage = passage.with_matched(aligned.matched_tokens() as u32, matched);
    passage.by_letters = aligned.by_letters;
    (passage, aligned.query.start as u32..aligned.query.end as u32)
}

/// Returns the first place where the longer text contains the whole shorter text, which has fewer
/// words than a passage needs. A partial match of that length would be chance, but a complete match
/// is not. The place must satisfy `is_passage`.
fn whole(
    query: &[u64],
    document: &[u64],
    is_passage: &dyn Fn(&AlignedPassage) -> bool,
    stop: &Stop,
) -> Result<Option<AlignedPassage>> {
    let is_in_document = query.len() <= document.len();
    let (short, long) = if is_in_document { (query, document) } else { (document, query) };
    if short.is_empty() {
        return Ok(None);
    }
    for (at, window) in long.windows(short.len()).enumerate() {
        stop.check_at(at)?;
        if window == short {
            let (query, hit) = if is_in_document { (0, at) } else { (at, 0) };
            let found = AlignedPassage::run(query, hit, short.len());
            if is_passage(&found) {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// Returns the tokens that are entirely in a range of bytes.
pub fn tokens_in(tokens: &Tokens, (start, end): (u32, u32)) -> Range<u32> {
    let first = tokens.spans.partition_point(|span| span.start < start);
    let last = tokens.spans.partition_point(|span| span.end <= end);
    first as u32..last.max(first) as u32
}

/// Converts a passage of tokens to bytes of both texts.
#[must_use]
pub fn in_bytes(passage: Passage, query: &Tokens, document: &Tokens) -> Passage {
    let range = |tokens: &Tokens, (start, end): (u32, u32)| {
        let last = tokens.spans.len();
        bytes(tokens, &((start as usize).min(last)..(end as usize).min(last)))
    };
    let matched = passage.matched_ranges.iter().map(|&matched| range(query, matched));
    Passage {
        matched_ranges: disjoint(matched),
        a: range(query, passage.a),
        b: range(document, passage.b),
        unit: Unit::Bytes,
        ..passage
    }
}

/// Returns the bytes from the first token of a range to the last.
pub fn bytes(tokens: &Tokens, range: &Range<usize>) -> (u32, u32) {
    let spans = &tokens.spans[range.clone()];
    spans.first().zip(spans.last()).map_or((0, 0), |(first, last)| (first.start, last.end))
}

/// Marks these ranges of tokens of the query as matched in a passage, except hidden tokens.
pub fn with_matched_tokens(
    passage: Passage,
    matched: impl Iterator<Item = Range<u32>>,
    query: &Tokens,
) -> Passage {
    let mut places: Vec<Range<usize>> = Vec::new();
    for at in matched.flatten().map(|at| at as usize) {
        if runs::trimmed(at..at + 1, &query.hashes, runs::Place::Query).is_empty() {
            continue;
        }
        match places.last_mut() {
            Some(last) if last.end >= at => last.end = last.end.max(at + 1),
            _ => places.push(at..at + 1),
        }
    }
    let tokens = places.iter().map(Range::len).sum::<usize>() as u32;
    let ranges = disjoint(places.iter().map(|range| bytes(query, range)));
    passage.with_matched(tokens, ranges)
}

/// Returns the bytes of ranges of tokens. The comments of a program are not compared, so their
/// bytes are omitted.
fn matched_bytes(text: Side<'_>, ranges: &[Range<usize>], genre: Genre) -> Vec<(u32, u32)> {
    let tokens = text.tokens;
    match genre {
        Genre::Prose | Genre::Scan => disjoint(ranges.iter().map(|range| bytes(tokens, range))),
        Genre::Program => {
            let all = ranges.iter().flat_map(|range| &tokens.spans[range.clone()]);
            let mut matched: Vec<(u32, u32)> = Vec::new();
            for span in all.filter(|span| span.start < span.end) {
                let is_blank = |from: u32| {
                    let between = text.text.get(from as usize..span.start as usize);
                    from >= span.start
                        || between.is_some_and(|text| text.chars().all(is_white_space))
                };
                match matched.last_mut() {
                    Some(last) if is_blank(last.1) => last.1 = last.1.max(span.end),
                    _ => matched.push((span.start, span.end)),
                }
            }
            matched
        }
    }
}

/// Joins ranges that touch or overlap, whose starts ascend. Tokens of scripts without spaces
/// overlap.
fn disjoint(ranges: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for (start, end) in ranges {
        match found.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => found.push((start, end)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Tokens with these hashes, of `len` bytes each, with `between` bytes after each token. If
    /// `between` is 0, tokens overlap.
    fn tokens(hashes: &[u64], len: u32, between: u32) -> Tokens {
        let step = (len + between).saturating_sub(u32::from(between == 0)).max(1);
        let span = |at: u32| Span { start: at * step, end: at * step + len };
        Tokens { hashes: hashes.to_vec(), spans: (0..hashes.len() as u32).map(span).collect() }
    }

    fn set(ranges: impl IntoIterator<Item = (u32, u32)>) -> BTreeSet<u32> {
        ranges.into_iter().flat_map(|(start, end)| start..end).collect()
    }

    proptest! {
        #[test]
        fn a_token_in_two_passages_counts_once(
            ranges in prop::collection::vec((0u32..40, 0u32..12), 0..8), least in 0u32..12,
        ) {
            let ranges: Vec<(u32, u32)> =
                ranges.into_iter().map(|(start, len)| (start, start + len)).collect();
            let passage = |&(start, end): &(u32, u32)| {
                // In bytes the passages are elsewhere.
                let query = (7 * start, 7 * end);
                (Passage::new(query, (0, 1), Unit::Bytes, end - start, 1.0), start..end)
            };
            let found = Passages::new(ranges.iter().map(passage).collect(), true);
            prop_assert_eq!(found.tokens(), set(ranges.clone()).len() as u32);
            let long = found.of_at_least(least);
            let is_long = |&(start, end): &(u32, u32)| end - start >= least;
            let kept: Vec<_> = ranges.into_iter().filter(is_long).collect();
            let shown: Vec<(u32, u32)> = long.found.iter().map(|passage| passage.a).collect();
            prop_assert_eq!(long.tokens(), set(kept.clone()).len() as u32);
            prop_assert_eq!(shown, kept.iter().map(|&(a, b)| (7 * a, 7 * b)).collect::<Vec<_>>());
        }

        #[test]
        fn a_short_text_is_found_where_the_other_contains_all_of_it(
            one in prop::collection::vec(0u64..2, 0..9),
            other in prop::collection::vec(0u64..2, 0..9),
        ) {
            let is_query = one.len() <= other.len();
            let (short, long) = if is_query { (&one, &other) } else { (&other, &one) };
            let mut expected = None;
            for at in (0..=long.len() - short.len()).rev() {
                let (own, place) = (0..short.len(), at..at + short.len());
                if !short.is_empty() && long[place.clone()] == short[..] {
                    expected = Some(if is_query { (own, place) } else { (place, own) });
                }
            }
            let found = whole(&one, &other, &|_| true, Stop::NEVER).unwrap();
            prop_assert_eq!(found.map(|aligned| (aligned.query, aligned.hit)), expected);
        }

        #[test]
        fn tokens_in_bytes_are_those_that_are_whole_in_them(
            count in 0usize..12, len in 1u32..4, between in 0u32..3,
            start in 0u32..40, bytes in 0u32..40,
        ) {
            let tokens = tokens(&vec![1; count], len, between);
            let all = (0..).zip(&tokens.spans);
            let inside = all.filter(|(_, span)| span.start >= start && span.end <= start + bytes);
            let expected: Vec<u32> = inside.map(|(at, _)| at).collect();
            let range = tokens_in(&tokens, (start, start + bytes));
            prop_assert_eq!(range.clone().collect::<Vec<_>>(), expected.clone());
            if let (Some(&first), Some(&last)) = (expected.first(), expected.last()) {
                let (first, last) = (tokens.spans[first as usize], tokens.spans[last as usize]);
                let range = range.start as usize..range.end as usize;
                prop_assert_eq!(super::bytes(&tokens, &range), (first.start, last.end));
            }
        }

        #[test]
        fn matched_ranges_have_the_bytes_of_the_matched_tokens_that_are_not_hidden(
            mut matched in prop::collection::vec((0u32..20, 0u32..5), 0..6),
            hidden in prop::collection::btree_set(0usize..25, 0..6),
            len in 2u32..4, between in 0u32..2,
        ) {
            let mut query = tokens(&(0..25).collect::<Vec<u64>>(), len, between);
            let places: Vec<Range<usize>> = hidden.iter().map(|&at| at..at + 1).collect();
            runs::hide(&mut query.hashes, &places, runs::Place::Query);
            matched.sort_unstable();
            let ranges: Vec<Range<u32>> =
                matched.into_iter().map(|(start, len)| start..start + len).collect();
            let all: BTreeSet<u32> = ranges.iter().cloned().flatten().collect();
            let all: BTreeSet<u32> =
                all.into_iter().filter(|&at| !hidden.contains(&(at as usize))).collect();
            let query_bytes = (0, query.spans[24].end);
            let passage = Passage::new(query_bytes, (0, 1), Unit::Bytes, 25, 1.0);
            let found = with_matched_tokens(passage, ranges.into_iter(), &query);
            prop_assert_eq!(found.matched, all.len() as u32);
            if !all.is_empty() {
                // Nothing unmatched is between two consecutive matched tokens.
                let with_gap = |at: &u32| {
                    let next = all.contains(&(at + 1)).then(|| query.spans[*at as usize + 1].start);
                    let span = query.spans[*at as usize];
                    (span.start, span.end.max(next.unwrap_or(0)))
                };
                let expected = set(all.iter().map(with_gap));
                prop_assert_eq!(set(found.matched_in_a().iter().copied()), expected);
                let are_apart = |two: &[(u32, u32)]| two[0].1 < two[1].0;
                prop_assert!(found.matched_in_a().windows(2).all(are_apart));
            }
        }
    }
}
