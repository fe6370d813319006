//! Finds the passages that two programs share.
//!
//! Greedy string tiling, as in YAP3 (Wise 1996) and JPlag (Prechelt, Malpohl and Philippsen 2002):
//! the longest run of equal tokens is a tile, then the longest run of the remaining tokens, and so
//! on. Tiles overlap on neither side and contain no difference. Tiles cover a program whose parts
//! were reordered completely, but not two programs that merely use the same language.
//!
//! By definition, each tile needs a new search. Here the maximal runs are found once and taken from
//! a heap, the longest run first. If earlier tiles cover part of a run, its free parts return to
//! the heap. The tiles are the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::chain::{CoveredRanges, Match};
use super::copied::SEED_OCCURRENCES_MAX;
use super::equal_runs::{KnownSeeds, Limits, Seeds, matches};
use super::parted::within;
use super::{LOOKUP_STEPS, TextPair};
use crate::error::Result;
use crate::runtime::{Steps, Stop};

/// Minimum length of a tile. Shorter runs are chance.
///
/// Chosen on half of the pairs of independent programs of IR-Plag. The share of a program in tiles
/// is on average .017 more than its containment (runs of 5 tokens), and within .1 of the
/// containment for 82 % of the pairs (second half: .016 and 81 %). With 8 tokens the figures are
/// .041 and 73 %, with 10 tokens -.013 and 79 %, with 12 tokens -.072 and 62 %.
pub const TILE_TOKENS_MIN: usize = 9;

/// Returns the seeds of a program.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn seeds(query: &[u64], stop: &Stop) -> Result<Seeds> {
    Seeds::of_length::<TILE_TOKENS_MIN>(query, stop)
}

/// Returns the tiles of two programs, in the order of the query. Among equally long runs, the first
/// in the query is taken first, then the first in the document. No tile crosses a break, where a
/// part of a program begins.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn tiles(
    tokens: TextPair<&[u64]>,
    known: KnownSeeds<'_>,
    breaks: [&[usize]; 2],
    steps: &mut Steps<'_>,
) -> Result<Vec<Match>> {
    // More frequent runs are looked up at this many places.
    let places_max = SEED_OCCURRENCES_MAX as usize;
    let runs_max = (tokens.a.len().min(tokens.b.len()) * places_max).max(1 << 10);
    let limits = Limits { runs_max, occurrences_max: SEED_OCCURRENCES_MAX, places_max };
    let runs = matches::<TILE_TOKENS_MIN>(tokens, known, limits, steps)?;
    steps.begin_stage();
    let runs = match breaks {
        [[], []] => runs,
        breaks => runs.iter().flat_map(|run| within_parts(run, breaks)).collect(),
    };
    tiled(runs, TILE_TOKENS_MIN, steps)
}

/// Cuts a run at the breaks of the two texts.
fn within_parts(run: &Match, [of_query, of_document]: [&[usize]; 2]) -> Vec<Match> {
    let Match { query, hit, len } = *run;
    let in_query = within(of_query, &(query..query + len)).iter().map(|at| at - query);
    let in_hit = within(of_document, &(hit..hit + len)).iter().map(|at| at - hit);
    let mut ends: Vec<usize> = in_query.chain(in_hit).chain([len]).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut from = 0;
    let piece = |end: usize| {
        let start = std::mem::replace(&mut from, end);
        Match { query: query + start, hit: hit + start, len: end - start }
    };
    ends.into_iter().map(piece).filter(|piece| piece.len >= TILE_TOKENS_MIN).collect()
}

/// Takes tiles of at least `len_min` tokens from maximal runs.
fn tiled(runs: Vec<Match>, len_min: usize, steps: &mut Steps<'_>) -> Result<Vec<Match>> {
    let open_max = runs.len().saturating_mul(2);
    let mut open: BinaryHeap<OpenTile> = runs.into_iter().map(OpenTile::new).collect();
    let (mut in_query, mut in_document) = (CoveredRanges::default(), CoveredRanges::default());
    let mut tiles = Vec::new();
    while let Some(OpenTile { len, query: Reverse(query), hit: Reverse(hit) }) = open.pop() {
        let mut taken: Vec<Range<usize>> = Vec::new();
        let offset = |start: usize, end: usize, from: usize| {
            start.saturating_sub(from)..end.saturating_sub(from).min(len)
        };
        taken.extend(in_query.touching(&(query..query + len)).map(|(s, e)| offset(s, e, query)));
        taken.extend(in_document.touching(&(hit..hit + len)).map(|(s, e)| offset(s, e, hit)));
        if !steps.take(4 * LOOKUP_STEPS * (1 + taken.len() as u64))? {
            break;
        }
        if taken.is_empty() {
            in_query.insert(query..query + len);
            in_document.insert(hit..hit + len);
            tiles.push(Match { query, hit, len });
            continue;
        }
        taken.sort_unstable_by_key(|range| range.start);
        taken.push(len..len);
        let mut from = 0;
        for range in taken {
            if range.start >= from + len_min {
                if open.len() >= open_max {
                    steps.cut();
                    break;
                }
                let (query, hit, len) = (query + from, hit + from, range.start - from);
                open.push(OpenTile::new(Match { query, hit, len }));
            }
            from = from.max(range.end);
        }
    }
    tiles.sort_unstable();
    Ok(tiles)
}

/// A run that may become a tile. The order puts the longest run first, then the first in the query,
/// then the first in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OpenTile {
    len: usize,
    query: Reverse<usize>,
    hit: Reverse<usize>,
}

impl OpenTile {
    fn new(Match { query, hit, len }: Match) -> OpenTile {
        OpenTile { len, query: Reverse(query), hit: Reverse(hit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::runtime::stop::testing::After;
    use proptest::prelude::*;

    fn found(query: &[u64], document: &[u64]) -> (Vec<Match>, u64, bool) {
        let steps = &mut Steps::unbounded(Stop::NEVER);
        let seeds = seeds(query, Stop::NEVER).unwrap();
        let known = KnownSeeds::OfQuery(&seeds);
        let tiles = tiles(TextPair::new(query, document), known, [&[], &[]], steps).unwrap();
        (tiles, steps.taken(), steps.is_complete())
    }

    fn tile(query: usize, hit: usize, len: usize) -> Match {
        Match { query, hit, len }
    }

    /// Follows the definition: takes the longest run of tokens outside all tiles, again and again.
    fn naive(
        (query, document): (&[u64], &[u64]),
        breaks: [&[usize]; 2],
        len_min: usize,
    ) -> Vec<Match> {
        let end = |of: usize, from: usize, len: usize| {
            breaks[of].iter().copied().find(|&at| at > from).unwrap_or(len).min(len) - from
        };
        let (mut q, mut d) = (vec![false; query.len()], vec![false; document.len()]);
        let mut tiles = Vec::new();
        loop {
            let mut longest = tile(0, 0, 0);
            for at in 0..query.len() {
                for hit in 0..document.len() {
                    let is_free = |i: &usize| !q[at + i] && !d[hit + i];
                    let is_same = |i: &usize| query[at + i] == document[hit + i];
                    let ends = end(0, at, query.len()).min(end(1, hit, document.len()));
                    let len = (0..ends).take_while(|i| is_free(i) && is_same(i)).count();
                    if len > longest.len {
                        longest = tile(at, hit, len);
                    }
                }
            }
            if longest.len < len_min {
                break;
            }
            q[longest.query..longest.query + longest.len].fill(true);
            d[longest.hit..longest.hit + longest.len].fill(true);
            tiles.push(longest);
        }
        tiles.sort_unstable();
        tiles
    }

    proptest! {
        #[test]
        fn tiles_are_those_of_the_definition(
            query in proptest::collection::vec(0u64..3, 0..70),
            document in proptest::collection::vec(0u64..3, 0..70),
            (from, to, len) in (0usize..70, 0usize..70, 0usize..50),
            breaks in prop::array::uniform2(prop::collection::btree_set(1usize..70, 0..3)),
        ) {
            // Part of the query is copied into the document, so that there are long tiles.
            let part: Vec<u64> = query.iter().skip(from).take(len).copied().collect();
            let mut document = document;
            let to = to.min(document.len());
            document.splice(to..to, part);
            let texts = (&query[..], &document[..]);
            let expected = naive(texts, [&[], &[]], TILE_TOKENS_MIN);
            prop_assert_eq!(found(&query, &document).0, expected);
            // No tile crosses a break.
            let breaks = breaks.map(|breaks| breaks.into_iter().collect::<Vec<_>>());
            let breaks = breaks.each_ref().map(|breaks| &breaks[..]);
            let seeds = seeds(&query, Stop::NEVER).unwrap();
            let steps = &mut Steps::unbounded(Stop::NEVER);
            let known = KnownSeeds::OfQuery(&seeds);
            let found = tiles(TextPair::new(&query, &document), known, breaks, steps).unwrap();
            prop_assert_eq!(found, naive(texts, breaks, TILE_TOKENS_MIN));
        }

        #[test]
        fn short_tiles_are_those_of_the_definition(
            query in proptest::collection::vec(0u64..3, 0..30),
            document in proptest::collection::vec(0u64..3, 0..30),
        ) {
            let mut runs = Vec::new();
            for at in 0..query.len() {
                for hit in 0..document.len() {
                    let begins = at == 0 || hit == 0 || query[at - 1] != document[hit - 1];
                    let same = query[at..].iter().zip(&document[hit..]);
                    let len = same.take_while(|(a, b)| a == b).count();
                    if begins && len >= 2 {
                        runs.push(tile(at, hit, len));
                    }
                }
            }
            let tiles = tiled(runs, 2, &mut Steps::unbounded(Stop::NEVER)).unwrap();
            prop_assert_eq!(tiles, naive((&query, &document), [&[], &[]], 2));
        }
    }

    fn distinct(from: u64, len: u64) -> Vec<u64> {
        (from..from + len).collect()
    }

    #[test]
    fn parts_in_another_order_are_tiles_and_differing_parts_are_not() {
        let (a, b, c) = (distinct(0, 20), distinct(100, 30), distinct(200, 8));
        let query = [&a[..], &[7], &b, &c].concat();
        let document = [&b[..], &[8], &a, &[9], &c].concat();
        assert_eq!(found(&query, &document).0, [tile(0, 31, 20), tile(21, 0, 30)]);
    }

    #[test]
    fn a_place_of_the_document_is_the_source_of_one_place_of_the_query() {
        let a = distinct(0, 20);
        let twice = [&a[..], &[7], &a].concat();
        assert_eq!(found(&twice, &a).0, [tile(0, 0, 20)]);
        assert_eq!(found(&twice, &twice).0, [tile(0, 0, 41)]);
    }

    #[test]
    fn programs_that_repeat_themselves_are_tiled_in_few_steps() {
        // Two tables of thousands of entries, in both, after different beginnings.
        let table = |entries: u64, end: u64| {
            let mut table: Vec<u64> = (0..2 * entries).map(|i| i % 2).collect();
            table.push(end);
            table
        };
        for entries in [2_000, 100_000] {
            let query =
                [&distinct(100, 50)[..], &table(entries, 50), &table(entries / 2, 51)].concat();
            let document =
                [&distinct(900, 70)[..], &table(entries, 50), &table(entries / 2, 51)].concat();
            let (tiles, steps, is_complete) = found(&query, &document);
            assert_eq!(tiles, [tile(50, 70, 3 * entries as usize + 2)]);
            assert!(steps < 200 * query.len() as u64 && is_complete, "{steps}");
            // If one table precedes a second table, there are two tiles.
            let document =
                [&distinct(900, 70)[..], &table(entries / 2, 51), &table(entries, 50)].concat();
            let (tiles, steps, _) = found(&query, &document);
            let covered: usize = tiles.iter().map(|tile| tile.len).sum();
            assert!(covered >= 3 * entries as usize, "{tiles:?}");
            assert!(steps < 200 * query.len() as u64, "{steps}");
        }
    }

    #[test]
    fn long_programs_take_steps_in_proportion_to_their_length() {
        for len in [10_000, 300_000] {
            let program = distinct(0, len);
            let mut changed = program.clone();
            (0..len as usize).step_by(50).for_each(|at| changed[at] = 1 << 40);
            let (tiles, steps, is_complete) = found(&changed, &program);
            assert_eq!(tiles.len(), len as usize / 50);
            assert!(steps <= 64 * len && is_complete, "{steps} steps for {len} tokens");
        }
    }

    #[test]
    fn tiling_is_stopped() {
        let flag = After::looks(3);
        let program = distinct(0, 1 << 18);
        let seeds = seeds(&program, Stop::NEVER).unwrap();
        let steps = &mut Steps::unbounded(flag.stop());
        let known = KnownSeeds::OfQuery(&seeds);
        let stopped = tiles(TextPair::new(&program, &program), known, [&[], &[]], steps);
        assert!(matches!(stopped, Err(Error::Cancelled)));
    }
}
