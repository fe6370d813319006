//! Finds the passages that two texts share, with exact ranges.
//!
//! The input is the tokens of two texts, and the output is passages, as ranges of tokens in both
//! texts. Prose has four finders, in this order of precedence:
//!
//! 1. `copied`: text with few edits or none. Runs of equal tokens are chained if the gaps between
//!    them are bounded (Sun et al. 2013, section 5, with finer seeds than an index holds).
//! 2. `noisy`: text with wrong letters, or with words joined or cut. Hardly a run of words is left,
//!    so runs of letters are aligned.
//! 3. `rewritten`: text rewritten so thoroughly that hardly any run is left. Sentences that share
//!    rare words are clustered.
//! 4. `summarized`: a short text that sums up a long text. The words of the summary crowd in one
//!    place of the long text.
//!
//! If two passages share more than half of their places in the longer text, the earlier finder
//! wins, because its ends are more exact. But a later finder sees larger and vaguer places. So a
//! copied passage mostly inside another passage is a part of it, and so is a rewritten passage
//! inside a summary. Such a part comes last, in case the passage around it is refused. A rewritten
//! passage that shares only copied passages is refused. `chosen` implements this rule.
//!
//! `cento-research ablation` measures each constant of this module, unless the constant bounds work
//! or memory. research/RESULTS.md has a row for each constant.
//!
//! Programs use only `tiles`, which finds runs of equal tokens: two programs in one language share
//! most of their words, so shared words prove nothing.
//!
//! The passages do not depend on which text is the query, because inside this module the longer
//! text always is (`order`).
//!
//! This module knows neither indexes nor fingerprints. Only `chain` also serves where no text is
//! kept.

mod adjoining;
mod alike;
mod around;
mod bands;
mod candidates;
mod chain;
mod common;
mod copied;
mod equal_runs;
mod few_words;
#[cfg(test)]
mod formulaic;
mod groups;
mod hash_filter;
#[cfg(test)]
mod hostile;
mod joined;
mod letter_runs;
mod local;
mod noise;
mod noisy;
mod order;
mod parted;
mod places;
mod rewritten;
mod scan;
mod sentences;
mod spacing;
mod summarized;
mod sums;
mod tables;
#[cfg(test)]
mod testing;
mod tiles;
mod vocabulary;

use std::cell::OnceCell;
use std::ops::Range;

use super::TextPair;
use super::runs::trimmed;
use crate::error::Result;
use crate::runtime::{Steps, Stop};
pub use crate::text::Side;
use crate::text::{Analyzer, WORD, word_parts};

use adjoining::Part;
use around::{Around, copies, trim_ends};
use candidates::Candidates;
pub(super) use chain::CoveredRanges;
pub use chain::{Chain, Match, MatchChains, chaining_bytes, chains, distinct};
pub use common::similarity;
use common::{similarity_steps, words_of_both};
use copied::CopiedPassage;
pub use copied::runs_bytes;
use equal_runs::{KnownSeeds, Seeds};
pub(super) use noise::with_misread;
use noisy::QueryNoise;
use order::OrderedPair;
pub use parted::{breaks, within};
pub(crate) use spacing::words_by_letters;
pub(crate) use tiles::TILE_TOKENS_MIN;
use vocabulary::KnownWords;

/// A range of tokens in the query and the range in the document that corresponds to it.
#[derive(Debug, Clone, PartialEq)]
pub struct AlignedPassage {
    /// The tokens of the query.
    pub query: Range<usize>,
    /// The tokens of the document.
    pub hit: Range<usize>,
    /// Tokens common to the two ranges, in any order, as a share of their mean length: 1 if nothing
    /// was changed. A word with a wrong letter counts as a different word. Where words were joined
    /// or cut, and no other passage adjoins, this is the share of letters in common, in order.
    pub similarity: f64,
    /// Tokens of `query` that also occur in `hit`, ascending and disjoint. A copied passage, with
    /// or without wrong letters, has the tokens in the order of the document, except for runs that
    /// either text repeats. Nearly equal words are not matched. A rewritten passage or a summary
    /// has the runs copied within the passage, and the common tokens outside the runs, with
    /// multiplicity.
    pub matched: Vec<Range<usize>>,
    /// Tokens of `hit` that also occur in `query`, by the rules of `matched`.
    pub matched_in_hit: Vec<Range<usize>>,
    /// Whether letters were aligned instead of words, because many words have wrong letters, or
    /// were joined or cut.
    pub by_letters: bool,
}

/// The kind of a text, which decides how to find passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Genre {
    /// Sentences: a passage may be edited, rewritten or summed up.
    Prose,
    /// Sentences with letters that may be misread, so letters are compared: a word with a wrong
    /// letter is the same word.
    Scan,
    /// A program: a passage is a run of equal tokens.
    Program,
}

impl Genre {
    /// Returns the kind of text that this analyzer reads.
    #[must_use]
    pub fn of(analyzer: &Analyzer) -> Genre {
        match analyzer.tokens_a_word() {
            _ if analyzer.is_of_programs() => Genre::Program,
            1 => Genre::Prose,
            _ => Genre::Scan,
        }
    }
}

/// The minimum length of a passage, because shorter matches are chance. The default scheme
/// guarantees to find 14 tokens in a row. Where tokens are letters of scripts without spaces, a
/// passage also needs this many words.
pub const PASSAGE_TOKENS_MIN: usize = 12;

/// Later finders do not search inside a copied passage of at least this many tokens.
const COPIED_TOKENS_MIN: usize = 40;

/// The minimum similarity of a passage of a single pair of sentences. Less similar pairs are
/// chance.
const SIMILARITY_OF_ONE_MIN: f64 = 0.6;

/// Number of look-ups whose steps are taken together, because checking the steps takes longer than
/// a look-up.
const LOOKUPS_AT_ONCE: usize = 1 << 10;

/// Steps of one look-up in a map too large for a cache. Finding or taking a range among
/// [`CoveredRanges`] takes as long as two look-ups: the range contains few stored ranges, because
/// stored ranges are about as long as the match in the range, or longer.
const LOOKUP_STEPS: u64 = 8;

/// Tokens, or cells of an alignment of letters, that are compared in the time of one step.
const COMPARED_A_STEP: usize = 4;

/// Stands for a missing place, match, sentence or word, because every valid number is less.
const NONE: u32 = u32::MAX;

/// The shared passages of two texts, and whether the search for them was complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// The passages, in the order of the query.
    pub passages: Vec<AlignedPassage>,
    /// Whether `passages` is complete. If not, the search reached its limit of steps or of pairs of
    /// alike sentences. The limits count work, not time, so the result is the same on every
    /// machine.
    pub is_complete: bool,
    /// Steps of the longest stage, because the limit applies to each stage.
    pub steps: u64,
}

/// Maximum steps of one stage of an alignment, plus eight look-ups for each token: a few seconds.
/// The stages are: copied passages, pairs of sentences, groups of sentences (summaries and
/// rewritten passages), nearly equal words and letters, the similarity of a passage's sides, and
/// the final selection. Two volumes of RFCs of 8 MB take 88 million steps in the longest stage, of
/// 700 million allowed.
const STAGE_STEPS_MAX: u64 = 1 << 29;

/// Data about a query that are computed once, before it is aligned with documents.
pub struct Prepared {
    genre: Genre,
    /// Seeds of copied passages, or of tiles if the query is a program.
    seeds: Seeds,
    /// Token ranges of the sentences, empty for a program.
    sentences: Vec<Range<usize>>,
    /// Computed at the first document that is not merely a copy, because many queries meet no such
    /// document.
    words: OnceCell<KnownWords>,
    /// Computed at the first document that is not a clean copy.
    noise: QueryNoise,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

impl Prepared {
    /// Prepares a query.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after it is stopped.
    pub fn new(query: Side<'_>, genre: Genre, stop: &Stop) -> Result<Prepared> {
        let tokens = &query.tokens.hashes[..];
        let (seeds, sentences) = match genre {
            Genre::Prose | Genre::Scan => {
                (copied::seeds(tokens, stop)?, sentences::ranges(query, stop)?)
            }
            Genre::Program => (tiles::seeds(tokens, stop)?, Vec::new()),
        };
        Ok(Prepared {
            genre,
            seeds,
            sentences,
            words: OnceCell::new(),
            noise: QueryNoise::default(),
        })
    }

    /// Returns the kind that the query was prepared as.
    #[must_use]
    pub fn genre(&self) -> Genre {
        self.genre
    }

    /// Returns the seeds of the query, on the side of `pair` that the query is on.
    fn seeds_in(&self, pair: OrderedPair<'_>) -> KnownSeeds<'_> {
        match pair.is_turned {
            false => KnownSeeds::OfQuery(&self.seeds),
            true => KnownSeeds::OfDocument(&self.seeds),
        }
    }

    /// Returns the words of the query, computing them on the first call. `tokens` must be the
    /// query's.
    fn words(&self, tokens: &[u64], stop: &Stop) -> Result<&KnownWords> {
        if let Some(words) = self.words.get() {
            return Ok(words);
        }
        let words = KnownWords::new(self.sentences.clone(), tokens, stop)?;
        Ok(self.words.get_or_init(|| words))
    }
}

/// Aligns two texts and returns the passages that they share. Exchanging the texts only exchanges
/// the sides of the passages.
///
/// Passages of programs are disjoint in both texts. In prose, if two passages share more than half
/// of their places in the longer text, only the better passage is returned. A place in the shorter
/// text may be copied several times.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) soon after it is stopped.
pub fn align(query: Side<'_>, document: Side<'_>, genre: Genre, stop: &Stop) -> Result<Alignment> {
    align_prepared(query, &Prepared::new(query, genre, stop)?, document, stop)
}

/// Aligns like [`align`], for a prepared query. `Prepared` must come from the same text.
///
/// # Errors
/// As [`align`].
pub(crate) fn align_prepared(
    query: Side<'_>,
    prepared: &Prepared,
    document: Side<'_>,
    stop: &Stop,
) -> Result<Alignment> {
    let tokens = (query.tokens.hashes.len() + document.tokens.hashes.len()) as u64;
    let mut steps = Steps::new(STAGE_STEPS_MAX + 8 * LOOKUP_STEPS * tokens, stop);
    align_within(query, prepared, document, &mut steps)
}

/// Returns the copied passages that a text repeats further on, in the order of the text. `document`
/// must be the same text, with different tokens in place of hidden tokens, so that hidden tokens
/// never match.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) soon after it is stopped.
pub fn repeated(query: Side<'_>, document: Side<'_>, stop: &Stop) -> Result<Alignment> {
    let tokens = TextPair::new(&query.tokens.hashes[..], &document.tokens.hashes[..]);
    let mut steps = Steps::new(STAGE_STEPS_MAX + 8 * LOOKUP_STEPS * tokens.a.len() as u64, stop);
    steps.begin_stage();
    let found = copied::repeated(tokens, &mut steps)?;
    let passage = |CopiedPassage { query, hit, matched, matched_in_hit, .. }: CopiedPassage| {
        AlignedPassage { matched, matched_in_hit, ..AlignedPassage::of(query, hit, tokens) }
    };
    let mut passages: Vec<AlignedPassage> = found.into_iter().map(passage).collect();
    passages.sort_by_key(|passage| (passage.query.start, passage.hit.start));
    Ok(Alignment { passages, is_complete: steps.is_complete(), steps: steps.most() })
}

/// Aligns a prepared query within the given bounds.
fn align_within(
    query: Side<'_>,
    prepared: &Prepared,
    document: Side<'_>,
    steps: &mut Steps<'_>,
) -> Result<Alignment> {
    let pair = OrderedPair::new(query, document);
    steps.begin_stage();
    let mut passages = match prepared.genre {
        Genre::Program => of_programs(pair, prepared, steps)?,
        Genre::Prose | Genre::Scan => of_prose(pair, prepared, steps)?,
    };
    if pair.is_turned {
        passages = passages.into_iter().map(AlignedPassage::mirrored).collect();
        passages.sort_by_key(|passage| (passage.query.start, passage.hit.start));
    }
    Ok(Alignment { passages, is_complete: steps.is_complete(), steps: steps.most() })
}

/// Finds the passages of two programs.
fn of_programs(
    pair: OrderedPair<'_>,
    prepared: &Prepared,
    steps: &mut Steps<'_>,
) -> Result<Vec<AlignedPassage>> {
    let OrderedPair { query, document, .. } = pair;
    let [of_query, of_document] = [query, document].map(breaks);
    let breaks = [&of_query[..], &of_document];
    let tiles = tiles::tiles(pair.tokens(), prepared.seeds_in(pair), breaks, steps)?.into_iter();
    let tiles = tiles.flat_map(|tile| tables::without_other_tables(tile, query, document));
    Ok(tiles.map(|Match { query, hit, len }| AlignedPassage::run(query, hit, len)).collect())
}

/// Finds the passages of two texts in prose.
fn of_prose(
    pair: OrderedPair<'_>,
    prepared: &Prepared,
    steps: &mut Steps<'_>,
) -> Result<Vec<AlignedPassage>> {
    let (OrderedPair { query, document, .. }, tokens) = (pair, pair.tokens());
    let mut copied = copied::passages(tokens, prepared.seeds_in(pair), steps)?;
    copied.retain(|copied| {
        has_words_enough(query, &copied.matched) && few_words::is_evident(copied, query, document)
    });
    let copied = copied::without_phrases(copied, steps)?;
    let candidates = Candidates::new(pair, prepared, &copied, steps)?;
    steps.begin_stage();
    let noisy = noisy::passages(pair, &prepared.noise, &copied, steps)?;
    let mut passages = chosen(copied, noisy, candidates, pair, steps)?;
    passages.retain(|passage| {
        has_words_enough(query, std::slice::from_ref(&passage.query))
            && has_words_enough(document, std::slice::from_ref(&passage.hit))
    });
    // Most texts have no parts.
    let [of_query, of_document] = [query, document].map(breaks);
    let breaks = [&of_query[..], &of_document];
    let again = |in_query, in_hit, steps: &mut Steps<'_>| {
        parted::aligned_again(pair, in_query, in_hit, steps)
    };
    parted::divided(passages, breaks, tokens.a.len() + tokens.b.len(), &again, steps)
}

/// Returns whether these tokens have as many words as a passage needs. Fewer tokens than a passage
/// needs must only have a word each, because earlier checks decided about short passages.
fn has_words_enough(side: Side<'_>, places: &[Range<usize>]) -> bool {
    let tokens: usize = places.iter().map(Range::len).sum();
    let words: u64 = places.iter().map(|place| word_parts(side, place.clone())).sum();
    words >= tokens.min(PASSAGE_TOKENS_MIN) as u64 * WORD
}

/// Chooses among the passages of all finders, by the precedence in the head of this module.
fn chosen(
    copied: Vec<CopiedPassage>,
    mut noisy: Vec<AlignedPassage>,
    candidates: Candidates,
    pair: OrderedPair<'_>,
    steps: &mut Steps<'_>,
) -> Result<Vec<AlignedPassage>> {
    let tokens = pair.tokens();
    let TextPair { a: q, b: d } = tokens;
    let aligned = |query, hit| AlignedPassage::of(query, hit, tokens);
    let Candidates { mut rewritten, summarized: summaries } = candidates;
    steps.begin_stage();
    let mut is_copy = copies(&rewritten, &copied, steps)?.into_iter();
    rewritten.retain(|_| is_copy.next() != Some(true));
    let places = copied.iter().map(|one| (&one.query, &one.hit));
    let places: Vec<_> = places.chain(noisy.iter().map(|one| (&one.query, &one.hit))).collect();
    trim_ends(&mut rewritten, &places, tokens, steps)?;
    let (rewritten, inside) = Around::new(&summaries).parted(rewritten, steps)?;
    for at in 0..noisy.len() {
        let passage = &mut noisy[at];
        if passage.similarity > 0.0 {
            continue;
        }
        if !steps.take(similarity_steps(&passage.query, &passage.hit))? {
            noisy.truncate(at);
            break;
        }
        passage.similarity = aligned(passage.query.clone(), passage.hit.clone()).similarity;
    }
    let whole = [&rewritten[..], &summaries[..], &noisy[..]].concat();
    let around = Around::new(&whole);
    let changed = |passage| Part { passage, is_copied: false };
    let mut inside: Vec<Part> = inside.into_iter().map(changed).collect();
    let mut parts: Vec<Part> = Vec::new();
    let mut copied_inside: Vec<AlignedPassage> = Vec::new();
    for CopiedPassage { query, hit, matched, matched_in_hit, .. } in copied {
        if !steps.take(similarity_steps(&query, &hit))? {
            break;
        }
        let passage = AlignedPassage { matched, matched_in_hit, ..aligned(query, hit) };
        let is_inside = around.holds(&passage, steps)?;
        if is_inside {
            copied_inside.push(passage.clone());
        }
        // A copy inside a refused passage is still reported, as a copy.
        let part = Part { passage, is_copied: true };
        if is_inside { &mut inside } else { &mut parts }.push(part);
    }
    let mut taken = CoveredRanges::default();
    parts.iter().for_each(|part| _ = taken.take(&part.passage.query));
    let others = noisy.into_iter().chain(rewritten).chain(summaries);
    for part in others.map(changed).chain(inside) {
        if steps.take(2 * LOOKUP_STEPS)? && taken.take(&part.passage.query) {
            parts.push(part);
        }
    }
    copied_inside.sort_by_key(|copied| copied.query.start);
    let mut passages = Vec::new();
    for (mut passage, mut is_joined) in adjoining::joined(parts) {
        is_joined |= trim(&mut passage, pair);
        if passage.query.is_empty() || passage.hit.is_empty() {
            continue;
        }
        // Only copied passages know their common tokens yet.
        let is_changed = passage.matched.is_empty();
        let both = if is_joined { 3 } else { 2 * u64::from(is_changed) };
        if !steps.take(both * similarity_steps(&passage.query, &passage.hit))? {
            continue;
        }
        if is_joined {
            let (query, hit) = (passage.query.clone(), passage.hit.clone());
            passage.similarity = aligned(query, hit).similarity;
        }
        if is_changed {
            let Some([copied, copied_in_hit]) = places_in(&copied_inside, &passage, steps)? else {
                continue;
            };
            let (in_q, in_d) = (&q[passage.query.clone()], &d[passage.hit.clone()]);
            passage.matched = words_of_both(&copied, q, &passage.query, in_d);
            passage.matched_in_hit = words_of_both(&copied_in_hit, d, &passage.hit, in_q);
        }
        // A pair of places without a word in common is not a passage.
        if !passage.matched.is_empty() {
            passages.push(passage);
        }
    }
    Ok(passages)
}

/// Removes hidden tokens, which may be whole sentences, from the ends of a passage. Returns whether
/// there were any.
fn trim(passage: &mut AlignedPassage, pair: OrderedPair<'_>) -> bool {
    let (TextPair { a: q, b: d }, [of_query, of_document]) = (pair.tokens(), pair.places());
    let (in_query, in_hit) =
        (trimmed(passage.query.clone(), q, of_query), trimmed(passage.hit.clone(), d, of_document));
    let is_shorter = in_query != passage.query || in_hit != passage.hit;
    (passage.query, passage.hit) = (in_query, in_hit);
    is_shorter
}

/// Returns the places copied within a passage, in both texts, or `None` if no steps are left.
/// `copied` must be in the order of the query.
fn places_in(
    copied: &[AlignedPassage],
    passage: &AlignedPassage,
    steps: &mut Steps<'_>,
) -> Result<Option<[CoveredRanges; 2]>> {
    let mut places = [(); 2].map(|()| CoveredRanges::default());
    let from = copied.partition_point(|copied| copied.query.start < passage.query.start);
    for copied in &copied[from..] {
        if copied.query.start >= passage.query.end {
            break;
        }
        let matched = [&copied.matched, &copied.matched_in_hit];
        if !steps.take(2 * LOOKUP_STEPS * (matched[0].len() + matched[1].len()) as u64)? {
            return Ok(None);
        }
        let is_inside =
            |one: &Range<usize>, of: &Range<usize>| of.start <= one.start && one.end <= of.end;
        if is_inside(&copied.query, &passage.query) && is_inside(&copied.hit, &passage.hit) {
            for (places, matched) in places.iter_mut().zip(matched) {
                matched.iter().for_each(|range| places.insert(range.clone()));
            }
        }
    }
    Ok(Some(places))
}

impl AlignedPassage {
    /// Makes a passage of a run of equal tokens, which needs no measuring.
    pub(super) fn run(query: usize, hit: usize, len: usize) -> AlignedPassage {
        let query = query..query + len;
        AlignedPassage {
            matched: vec![query.clone()],
            matched_in_hit: std::iter::once(hit..hit + len).collect(),
            query,
            hit: hit..hit + len,
            similarity: 1.0,
            by_letters: false,
        }
    }

    /// Makes a passage of two places and measures their similarity. `matched` stays empty.
    fn of(query: Range<usize>, hit: Range<usize>, tokens: TextPair<&[u64]>) -> AlignedPassage {
        let similarity = similarity(&tokens.a[query.clone()], &tokens.b[hit.clone()]);
        AlignedPassage { similarity, ..AlignedPassage::unmatched(&query, &hit) }
    }

    /// Makes a passage of two places whose similarity and common tokens are not yet known.
    pub(super) fn unmatched(query: &Range<usize>, hit: &Range<usize>) -> AlignedPassage {
        AlignedPassage {
            query: query.clone(),
            hit: hit.clone(),
            similarity: 1.0,
            matched: Vec::new(),
            matched_in_hit: Vec::new(),
            by_letters: false,
        }
    }

    /// Returns the number of matched tokens.
    #[must_use]
    pub fn matched_tokens(&self) -> usize {
        self.matched.iter().map(Range::len).sum()
    }
}
