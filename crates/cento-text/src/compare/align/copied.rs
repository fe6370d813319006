//! Finds copied passages with few edits or none, as chains of runs of equal tokens.

use std::ops::Range;

use super::chain::{
    Chain, CoveredRanges, Match, TOKEN_SCORE, chaining_bytes, chains_where, distinct,
};
use super::equal_runs::{GROWTH, KnownSeeds, Limits, Seeds, matches};
use super::{LOOKUP_STEPS, PASSAGE_TOKENS_MIN, TextPair};
use crate::error::Result;
use crate::runtime::{Steps, Stop};

/// Length of a seed, a run of equal tokens. With 5 tokens, the default of an index, a passage with
/// every fifth word changed falls apart.
const SEED_TOKENS: usize = 3;

/// A run that occurs more often in the document is no seed, except at a single place where nothing
/// else is found.
pub const SEED_OCCURRENCES_MAX: u32 = 16;

/// Maximum number of changed tokens in a row, on either side.
pub const GAP_TOKENS_MAX: usize = 20;

/// Maximum number of runs to chain, plus one run for each token of the query. Two volumes of RFCs
/// of 8 MB, 1.2 million tokens each, have 0.75 million runs.
const RUNS_MAX: usize = 1 << 20;

/// Returns the maximum memory, in bytes, for the runs of a query of this many tokens.
#[must_use]
pub fn runs_bytes(query_tokens: usize) -> usize {
    let runs = (SEED_OCCURRENCES_MAX as usize + 1).saturating_mul(query_tokens);
    let runs = runs.min(runs_max(query_tokens));
    (runs + runs / GROWTH).saturating_mul(size_of::<Match>()) + chaining_bytes(runs)
}

fn runs_max(query_tokens: usize) -> usize {
    RUNS_MAX.saturating_add(query_tokens)
}

/// A copied passage, whose ends are the first and the last run of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedPassage {
    /// Tokens from the first run to the last run, in the query.
    pub query: Range<usize>,
    /// Tokens from the first run to the last run, in the document.
    pub hit: Range<usize>,
    /// Tokens of `query` that are in `hit` too, in the same order, or copied from `hit` once more.
    /// Ascending and disjoint.
    pub matched: Vec<Range<usize>>,
    /// Tokens of `hit` that are in `query` too, by the rules of `matched`.
    pub matched_in_hit: Vec<Range<usize>>,
    /// Number of tokens in the runs of the chain.
    pub in_runs: usize,
    /// Length of the longest run, in tokens.
    pub longest: usize,
}

/// Finds the seeds of a query once, for all documents.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn seeds(query: &[u64], stop: &Stop) -> Result<Seeds> {
    Seeds::of_length::<SEED_TOKENS>(query, stop)
}

/// Returns the copied passages of two sequences of token hashes, the longest first.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn passages(
    tokens: TextPair<&[u64]>,
    known: KnownSeeds<'_>,
    steps: &mut Steps<'_>,
) -> Result<Vec<CopiedPassage>> {
    let matches = runs(tokens, known, steps)?;
    of_matches(&matches, tokens, &|_| true, steps)
}

/// Removes phrases of longer passages. `copied` must have the longest passage first, and keeps the
/// order.
///
/// The query may copy a place of the document several times, but a copy of less than half of a run
/// in a longer passage is only a repeated phrase. Removing phrases raises plagdet of PAN 2013 from
/// .9186 to .9229.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn without_phrases(
    copied: Vec<CopiedPassage>,
    steps: &mut Steps<'_>,
) -> Result<Vec<CopiedPassage>> {
    let mut in_hit = CoveredRanges::default();
    let mut kept = Vec::with_capacity(copied.len());
    for passage in copied {
        if !steps.take(2 * LOOKUP_STEPS * (1 + passage.matched_in_hit.len() as u64))? {
            break;
        }
        let hit = &passage.hit;
        let is_phrase = in_hit.touching(hit).any(|(start, end)| {
            let shared = hit.end.min(end) - hit.start.max(start);
            2 * shared > hit.len() && end - start > 2 * hit.len()
        });
        if !is_phrase {
            passage.matched_in_hit.iter().for_each(|run| in_hit.insert(run.clone()));
            kept.push(passage);
        }
    }
    Ok(kept)
}

/// Finds the runs of equal tokens that copied passages consist of.
fn runs(
    tokens: TextPair<&[u64]>,
    known: KnownSeeds<'_>,
    steps: &mut Steps<'_>,
) -> Result<Vec<Match>> {
    // The limit is the same whichever text is the query.
    let runs_max = runs_max(tokens.a.len().min(tokens.b.len()));
    let limits = Limits { runs_max, occurrences_max: SEED_OCCURRENCES_MAX, places_max: 1 };
    matches::<SEED_TOKENS>(tokens, known, limits, steps)
}

/// Returns the passages that a text repeats further on, adjacent or not, the longest first.
/// The
/// second tokens are the first, except hidden tokens.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn repeated(tokens: TextPair<&[u64]>, steps: &mut Steps<'_>) -> Result<Vec<CopiedPassage>> {
    let seeds = seeds(tokens.a, steps.stop())?;
    let mut matches = runs(tokens, KnownSeeds::OfQuery(&seeds), steps)?;
    // Drop the match of the text with itself, and the second of the two matches of each pair of
    // places.
    matches.retain(|found| found.query < found.hit);
    let is_apart = |chain: &Chain| chain.query.end <= chain.hit.start;
    of_matches(&matches, tokens, &is_apart, steps)
}

/// Chains runs of equal tokens and returns the chains that `is_wanted` accepts as passages.
fn of_matches(
    matches: &[Match],
    TextPair { a: query, b: document }: TextPair<&[u64]>,
    is_wanted: &dyn Fn(&Chain) -> bool,
    steps: &mut Steps<'_>,
) -> Result<Vec<CopiedPassage>> {
    let is_passage = |chain: &Chain| chain.matched >= PASSAGE_TOKENS_MIN && is_wanted(chain);
    let mut chained = chains_where(matches, GAP_TOKENS_MAX, &is_passage, steps)?;
    let found = distinct(std::mem::take(&mut chained.chains), steps)?;
    let mut copied = Vec::with_capacity(found.len());
    for chain in found {
        let runs = chained.parts(&chain, matches);
        let runs = best_stretch(&runs);
        let (first, last) = (runs[0], runs[runs.len() - 1]);
        let chain = Chain {
            query: first.query..last.query + last.len,
            hit: first.hit..last.hit + last.len,
            matched: runs.iter().map(|run| run.len).sum(),
            last: chain.last,
        };
        if !is_passage(&chain) {
            continue;
        }
        let [matched, matched_in_hit] =
            with_copied_again(matched(runs, query, document), &chain, matches, steps)?;
        copied.push(CopiedPassage {
            matched,
            matched_in_hit,
            query: chain.query,
            hit: chain.hit,
            in_runs: chain.matched,
            longest: runs.iter().map(|run| run.len).max().unwrap_or(0),
        });
    }
    Ok(copied)
}

/// Cuts runs off the ends of a chain if a run is shorter than its gap deserves: three shared words
/// after a dozen different words are chance.
///
/// The result is the stretch of runs with the maximum score. A token of a run scores
/// [`TOKEN_SCORE`], and each token of a gap, on its longer side, costs 1 (Smith and Waterman 1981,
/// "Identification of common molecular subsequences").
fn best_stretch(runs: &[Match]) -> &[Match] {
    let mut best = (0, 0..0);
    let (mut score, mut start) = (0, 0);
    for (at, run) in runs.iter().enumerate() {
        if let Some(before) = at.checked_sub(1).map(|before| runs[before]) {
            let query = run.query - before.query - before.len;
            let hit = run.hit - before.hit - before.len;
            score -= query.max(hit) as i64;
        }
        if score <= 0 {
            (score, start) = (0, at);
        }
        score += TOKEN_SCORE * run.len as i64;
        if score > best.0 {
            best = (score, start..at + 1);
        }
    }
    &runs[best.1]
}

/// Adds runs that are more frequent in one text, such as a clause or a refrain. Runs in a chain
/// pair up, so the chain holds only as many copies as the text with fewer copies.
fn with_copied_again(
    matched: [Vec<Range<usize>>; 2],
    chain: &Chain,
    matches: &[Match],
    steps: &mut Steps<'_>,
) -> Result<[Vec<Range<usize>>; 2]> {
    let is_gap = |two: &[Range<usize>]| two[1].start - two[0].end >= PASSAGE_TOKENS_MIN;
    if !matched.iter().any(|matched| matched.windows(2).any(is_gap)) {
        return Ok(matched);
    }
    let mut covered = matched.map(|matched| {
        let mut covered = CoveredRanges::default();
        matched.into_iter().for_each(|range| covered.insert(range));
        covered
    });
    let from = matches.partition_point(|run| run.query < chain.query.start);
    let to = matches.partition_point(|run| run.query < chain.query.end);
    for run in &matches[from..to] {
        if !steps.take(1)? {
            break;
        }
        let (in_query, in_hit) = (run.query..run.query + run.len, run.hit..run.hit + run.len);
        let is_inside = in_query.end <= chain.query.end
            && chain.hit.start <= in_hit.start
            && in_hit.end <= chain.hit.end;
        if run.len < PASSAGE_TOKENS_MIN || !is_inside || !steps.take(4 * LOOKUP_STEPS)? {
            continue;
        }
        for (covered, run) in covered.iter_mut().zip([in_query, in_hit]) {
            if run.len() - covered.covered(&run) >= PASSAGE_TOKENS_MIN {
                covered.insert(run);
            }
        }
    }
    Ok(covered.map(CoveredRanges::ranges))
}

/// Returns the matched tokens of the two texts: the tokens of the runs and, between two runs that
/// are equally far apart in both texts, equal tokens at the same distance.
fn matched(runs: &[Match], query: &[u64], document: &[u64]) -> [Vec<Range<usize>>; 2] {
    let mut matched = [(); 2].map(|()| Vec::<Range<usize>>::with_capacity(runs.len()));
    let mut add = |query: usize, hit: usize, len: usize| {
        for (matched, start) in matched.iter_mut().zip([query, hit]) {
            match matched.last_mut() {
                Some(last) if last.end == start => last.end += len,
                _ => matched.push(start..start + len),
            }
        }
    };
    let mut ends = None;
    for run in runs {
        let (from, of_hit) = ends.unwrap_or((run.query, run.hit));
        if run.query - from == run.hit - of_hit {
            for at in (from..run.query).filter(|&at| query[at] == document[at - from + of_hit]) {
                add(at, at - from + of_hit, 1);
            }
        }
        add(run.query, run.hit, run.len);
        ends = Some((run.query + run.len, run.hit + run.len));
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(query: &[u64]) -> Seeds {
        super::seeds(query, Stop::NEVER).unwrap()
    }

    fn passages(query: &[u64], document: &[u64]) -> Vec<CopiedPassage> {
        let steps = &mut Steps::unbounded(Stop::NEVER);
        let seeds = seeds(query);
        super::passages(TextPair::new(query, document), KnownSeeds::OfQuery(&seeds), steps).unwrap()
    }

    fn whole(query: Range<usize>, hit: Range<usize>) -> [CopiedPassage; 1] {
        [CopiedPassage {
            matched: [query.clone()].into(),
            matched_in_hit: [hit.clone()].into(),
            in_runs: query.len(),
            longest: query.len(),
            query,
            hit,
        }]
    }

    #[test]
    fn a_text_that_repeats_itself_is_a_copy_of_itself() {
        let text: Vec<u64> = (0..50_000).map(|i| i % 7).collect();
        let found = passages(&text, &text);
        assert_eq!(found, whole(0..50_000, 0..50_000));
    }

    #[test]
    fn a_copy_of_repeated_lines_is_found_between_other_words() {
        let lines: Vec<u64> = (0..700).map(|i| i % 10).collect();
        let query = [&[100, 101], &lines[..], &[102]].concat();
        let document = [&[200], &lines[..], &[201, 202]].concat();
        let found = passages(&query, &document);
        assert_eq!(found, whole(2..702, 1..701));
    }

    #[test]
    fn changed_words_of_a_passage_are_not_matched() {
        // Only tokens below 100 occur in the document.
        let check = |query: &[u64], expected: &[(usize, usize)]| {
            let document: Vec<u64> = (0..40).collect();
            let found = passages(query, &document);
            assert_eq!(found.len(), 1, "{query:?}");
            let matched: Vec<_> = found[0].matched.iter().map(|m| (m.start, m.end)).collect();
            assert_eq!(matched, expected, "{query:?}");
        };
        let replaced = |places: &[usize]| {
            let mut query: Vec<u64> = (0..40).collect();
            places.iter().for_each(|&place| query[place] = 100 + place as u64);
            query
        };
        check(&replaced(&[]), &[(0, 40)]);
        check(&replaced(&[10, 11, 20]), &[(0, 10), (12, 20), (21, 40)]);
        // A single token between two replaced ones keeps its position.
        check(&replaced(&[10, 12]), &[(0, 10), (11, 12), (13, 40)]);
        let inserted = [&replaced(&[])[..10], &[100, 101, 102], &replaced(&[])[10..]].concat();
        check(&inserted, &[(0, 10), (13, 43)]);
        let left_out = [&replaced(&[])[..10], &replaced(&[])[15..]].concat();
        check(&left_out, &[(0, 35)]);
    }

    #[test]
    fn three_words_in_common_after_a_dozen_others_are_no_part_of_a_passage() {
        let copied: Vec<u64> = (0..30).collect();
        let with = |between: u64, run: u64| {
            let own: Vec<u64> = (100..100 + between).collect();
            let other: Vec<u64> = (200..200 + between).collect();
            let chance: Vec<u64> = (50..50 + run).collect();
            let [a, b] = [own, other].map(|other| [&copied[..], &other, &chance].concat());
            let reversed = [&a, &b].map(|text| text.iter().rev().copied().collect::<Vec<u64>>());
            let [found, mirrored] = [[a, b], reversed].map(|[a, b]| passages(&a, &b));
            let [found, mirrored] = [found, mirrored].map(|found| match &found[..] {
                [one] => [one.query.len(), one.hit.len()],
                _ => panic!("{found:?}"),
            });
            assert_eq!(found, mirrored);
            found
        };
        assert_eq!(with(13, 3), [30; 2]);
        assert_eq!(with(12, 3), [30; 2]);
        assert_eq!(with(11, 3), [44; 2]);
        assert_eq!(with(17, 4), [30; 2]);
        assert_eq!(with(17, 5), [52; 2]);
        assert_eq!(with(20, 12), [62; 2]);
    }

    #[test]
    fn a_clause_copied_again_is_a_passage_and_a_phrase_of_it_is_none() {
        let clause: Vec<u64> = (0..40).collect();
        let own: Vec<u64> = (100..140).collect();
        let check = |again: Range<usize>, expected: usize| {
            let query = [&clause[..], &own, &clause[again.clone()]].concat();
            let steps = &mut Steps::unbounded(Stop::NEVER);
            let found = without_phrases(passages(&query, &clause), steps).unwrap();
            assert_eq!(found.len(), expected, "{again:?}");
            // If the document has the clause several times, only a single place is the source.
            let found = without_phrases(passages(&clause, &query), steps).unwrap();
            assert_eq!(found.len(), 1, "{again:?}");
        };
        check(0..40, 2);
        check(5..25, 2);
        check(5..24, 1);
        check(28..40, 1);
    }

    #[test]
    fn lines_that_differ_in_a_number_take_no_quadratic_time() {
        // Seeds are alternately frequent and rare, and every rare one is in the same run.
        for len in [4_000, 400_000] {
            let text: Vec<u64> =
                (0..len).map(|i| if i % 8 == 0 { 100 + i } else { i % 8 }).collect();
            let mut steps = Steps::unbounded(Stop::NEVER);
            let seeds = seeds(&text);
            let known = KnownSeeds::OfQuery(&seeds);
            let found = super::passages(TextPair::new(&text, &text), known, &mut steps).unwrap();
            assert_eq!(found.len(), 1);
            assert!(steps.taken() <= 64 * len, "{} steps for {len} tokens", steps.taken());
        }
    }

    #[test]
    fn a_line_that_the_longer_text_repeats_is_not_extended_at_each_of_its_places() {
        // The shorter text has few of these lines, and the longer text has many.
        let lines = |from: u64, count: u64| -> Vec<u64> {
            (from..from + count).flat_map(|n| [1, 2, 3, 4, 5, 6, 7, 1000 + n]).collect()
        };
        let (longer, shorter) = (lines(0, 10_000), lines(20_000, 16));
        let seeds_of_longer = seeds(&longer);
        let seeds_of_shorter = seeds(&shorter);
        for known in
            [KnownSeeds::OfQuery(&seeds_of_longer), KnownSeeds::OfDocument(&seeds_of_shorter)]
        {
            let mut steps = Steps::unbounded(Stop::NEVER);
            let tokens = TextPair::new(&longer[..], &shorter[..]);
            let found = matches::<SEED_TOKENS>(
                tokens,
                known,
                Limits { runs_max: usize::MAX, occurrences_max: 16, places_max: 1 },
                &mut steps,
            );
            // One run for each line of the longer text, not sixteen.
            let found = found.unwrap();
            assert!(found.len() <= 10_000, "{} runs", found.len());
            assert!(steps.taken() <= 64 * 80_000, "{} steps", steps.taken());
        }
    }

    #[test]
    fn a_passage_that_a_text_has_again_is_found_at_both_places() {
        let repeated = |text: &[u64]| {
            let steps = &mut Steps::unbounded(Stop::NEVER);
            let found = repeated(TextPair::new(text, text), steps).unwrap();
            found.into_iter().map(|found| (found.query, found.hit)).collect::<Vec<_>>()
        };
        let passage: Vec<u64> = (0..30).collect();
        let own: Vec<u64> = (100..140).collect();
        let other: Vec<u64> = (200..240).collect();
        assert_eq!(repeated(&[&own[..], &passage, &other].concat()), []);
        let twice = [&passage[..], &own, &passage].concat();
        assert_eq!(repeated(&twice), [(0..30, 70..100)]);
        // Two pairs are enough to find all three places.
        let three = [&passage[..], &own, &passage, &other, &passage].concat();
        let found = repeated(&three);
        assert_eq!(found.len(), 2, "{found:?}");
        let places: std::collections::BTreeSet<usize> =
            found.iter().flat_map(|(one, other)| [one.start, other.start]).collect();
        assert_eq!(places, [0, 70, 140].into());
        // A repeated word does not match itself one place further.
        assert_eq!(repeated(&[7; 20]), []);
    }
}
