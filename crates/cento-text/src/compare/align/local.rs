//! Aligns letters around a place that two texts share.
//!
//! Gapped extension with an X-drop, as in Altschul et al. 1997 ("Gapped BLAST and PSI-BLAST", page
//! 3392): an alignment grows in both directions from a pair of equal letters, and gives up cells of
//! the dynamic program whose score is far below the best. Two texts that merely use the same
//! alphabet agree in fewer than half of their letters, whatever the alignment, so their scores fall
//! and the extension ends soon.
//!
//! The cells of an antidiagonal do not depend on each other, so the compiler computes several at
//! once (Zhang, Schwartz, Wagner and Miller 2000, "A greedy algorithm for aligning DNA sequences",
//! figure 2, order the cells like this). Row by row, each cell would wait for its neighbor, which
//! takes 8 times as long.

use std::ops::Range;

use super::{COMPARED_A_STEP, TextPair};
use crate::error::Result;
use crate::runtime::Steps;

/// A cell is given up if its score is this much below the best, so a stretch of as many wrong
/// letters ends an alignment. A trial uses a third of the drop and takes a tenth of the time. The
/// alignment goes on only if the trial scores half of the drop. Bounds work.
pub const DROP: i16 = 32;

/// The maximum number of letters of the query that are aligned in one direction, which bounds the
/// memory and lets scores fit into 16 bits.
const ROWS_MAX: usize = 1 << 14;

/// The number of cells that are computed at once.
const LANES: usize = 16;

/// The score of an abandoned or missing cell, too low for any addition to matter.
const GIVEN_UP: i16 = i16::MIN / 2;

/// The places of two equal letters, in the query and in the document.
pub type Pair = (u32, u32);

/// Aligns letters, and keeps its buffers for the next alignment.
#[derive(Default)]
pub struct Aligner {
    /// A filler, and the letters of the query in the direction of the extension.
    query: Vec<u16>,
    /// The letters of the document, the last letter first, and a filler. In this order the letters
    /// that meet in the cells of an antidiagonal ascend in both buffers.
    document: Vec<u16>,
    /// Scores of three antidiagonals in a row. The index of a cell is the number of its letters of
    /// the query, plus one.
    scores: [Vec<i16>; 3],
    /// The move to each cell, to trace the alignment back.
    moves: Vec<Move>,
    antidiagonals: Vec<Antidiagonal>,
}

/// The preceding cell on the best path to a cell.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Move {
    /// From the letters before in both texts.
    Both,
    /// From the letter before in the query.
    Query,
    /// From the letter before in the document.
    Document,
}

/// The computed cells of an antidiagonal: the letters of both texts add up to the same number.
#[derive(Clone, Copy)]
struct Antidiagonal {
    /// The number of letters of the query of the first cell.
    first: usize,
    /// The index in `moves` of the first cell.
    at: usize,
}

/// The letters and scores that consecutive cells of an antidiagonal are computed from.
struct Cells<'a> {
    query: &'a [u16],
    document: &'a [u16],
    /// The cells before in both texts.
    diagonal: &'a [i16],
    /// The cells before in the query.
    up: &'a [i16],
    /// The cells before in the document.
    left: &'a [i16],
    /// Lower scores are given up.
    least: i16,
}

impl Cells<'_> {
    /// Returns [`LANES`] of the cells.
    #[inline(always)]
    fn lanes(&self, from: usize) -> Cells<'_> {
        Cells {
            query: &self.query[from..][..LANES],
            document: &self.document[from..][..LANES],
            diagonal: &self.diagonal[from..][..LANES],
            up: &self.up[from..][..LANES],
            left: &self.left[from..][..LANES],
            least: self.least,
        }
    }

    /// Computes the scores of the cells, and the moves if `TRACED`. Returns the best score.
    #[inline(always)]
    fn compute<const TRACED: bool>(&self, now: &mut [i16], moves: &mut [Move]) -> i16 {
        let Cells { query, document, diagonal, up, left, least } = *self;
        let mut most = GIVEN_UP;
        for at in 0..now.len() {
            // A mismatch or an unpaired letter costs as much as two equal letters score.
            let same = if query[at] == document[at] { 1 } else { -1 };
            let both = diagonal[at] + same;
            let one = up[at].max(left[at]) - 1;
            let score = both.max(one);
            if TRACED {
                let by_one = if left[at] > up[at] { Move::Document } else { Move::Query };
                moves[at] = if both >= one { Move::Both } else { by_one };
            }
            let score = if score < least { GIVEN_UP } else { score };
            now[at] = score;
            most = most.max(score);
        }
        most
    }
}

impl Aligner {
    /// Returns the best alignment through the two letters at `start`, with its score, or `None`
    /// after too many steps.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn around(
        &mut self,
        TextPair { a: query, b: document }: TextPair<&[u16]>,
        start: Pair,
        pairs: &mut Vec<Pair>,
        steps: &mut Steps<'_>,
    ) -> Result<Option<u32>> {
        let (i, j) = (start.0 as usize, start.1 as usize);
        let before = TextPair::new(&query[..i], &document[..j]);
        let after = TextPair::new(&query[i..], &document[j..]);
        pairs.clear();
        let Some(on) = self.extend::<false, false>(after, DROP / 3, steps)? else {
            return Ok(None);
        };
        let Some(back) = self.extend::<true, false>(before, DROP / 3, steps)? else {
            return Ok(None);
        };
        if back.score + on.score < i32::from(DROP / 2) {
            return Ok(Some(0));
        }
        let Some(back) = self.extend::<true, true>(before, DROP, steps)? else { return Ok(None) };
        let mut push = |a: usize, b: usize| {
            if query[a] == document[b] {
                pairs.push((a as u32, b as u32));
            }
        };
        self.trace(back, |a, b| push(i - 1 - a, j - 1 - b));
        let first = pairs.len();
        let Some(on) = self.extend::<false, true>(after, DROP, steps)? else { return Ok(None) };
        let mut push = |a: usize, b: usize| {
            if query[a] == document[b] {
                pairs.push((a as u32, b as u32));
            }
        };
        self.trace(on, |a, b| push(i + a, j + b));
        pairs[first..].reverse();
        Ok(Some((back.score + on.score) as u32))
    }

    /// Returns the best alignment of beginnings of both texts, or of ends if `BACK`, or `None`
    /// after too many steps. With equal scores, fewer letters win. The moves are recorded only if
    /// `TRACED`.
    fn extend<const BACK: bool, const TRACED: bool>(
        &mut self,
        sides: TextPair<&[u16]>,
        drop: i16,
        steps: &mut Steps<'_>,
    ) -> Result<Option<Extension>> {
        let ends = LetterEnds { query: sides.a.len().min(ROWS_MAX), document: sides.b.len() };
        self.begin(ends.query);
        let (mut best, mut letters) = (0, (0, 0));
        let (mut kept, mut before) = (0..1, 0..0);
        for sum in 1..=ends.query + ends.document {
            let cells = ends.cells(sum, [&kept, &before]);
            if cells.is_empty() {
                break;
            }
            if !steps.take((cells.len() / COMPARED_A_STEP) as u64 + 1)? {
                return Ok(None);
            }
            self.read::<BACK>(sum, sides, &ends);
            let most = self.compute::<TRACED>(sum, cells.clone(), best - drop);
            let scores = &self.scores[0][cells.start + 1..=cells.end];
            if most > best && !TRACED {
                best = most;
            } else if most > best {
                let at = scores.iter().position(|&score| score == most).unwrap_or(0) + cells.start;
                (best, letters) = (most, (at, sum - at));
            }
            let is_kept = |&score: &i16| score > GIVEN_UP;
            before = kept;
            kept = match scores.iter().position(is_kept) {
                None => 0..0,
                Some(first) => {
                    let after = scores.iter().rev().take_while(|score| !is_kept(score)).count();
                    cells.start + first..cells.end - after
                }
            };
        }
        Ok(Some(Extension { score: best.into(), letters }))
    }

    /// Begins an extension of at most this many letters of the query: the first antidiagonal is
    /// the cell without a letter, whose score is 0.
    fn begin(&mut self, rows: usize) {
        self.query.clear();
        self.query.push(0);
        self.document.clear();
        self.document.push(0);
        self.moves.clear();
        self.moves.push(Move::Both);
        self.antidiagonals.clear();
        self.antidiagonals.push(Antidiagonal { first: 0, at: 0 });
        for scores in &mut self.scores {
            scores.resize(scores.len().max(rows + 3), GIVEN_UP);
            scores[..3].fill(GIVEN_UP);
        }
        self.scores[0][1] = 0;
    }

    /// Reads letters as far as an antidiagonal with `sum` letters of both needs them.
    fn read<const BACK: bool>(
        &mut self,
        sum: usize,
        TextPair { a: query, b: document }: TextPair<&[u16]>,
        ends: &LetterEnds,
    ) {
        let count = |read: usize, end: usize| {
            (read <= sum && read <= end).then(|| (2 * sum).max(2 * DROP as usize).min(end))
        };
        if let Some(count) = count(self.query.len(), ends.query) {
            self.query.truncate(1);
            match BACK {
                true => self.query.extend(query[query.len() - count..].iter().rev()),
                false => self.query.extend_from_slice(&query[..count]),
            }
        }
        if let Some(count) = count(self.document.len(), ends.document) {
            self.document.clear();
            match BACK {
                true => self.document.extend_from_slice(&document[document.len() - count..]),
                false => self.document.extend(document[..count].iter().rev()),
            }
            self.document.push(0);
        }
    }

    /// Computes these cells with `sum` letters of both texts, abandons scores below `least`, and
    /// returns the best score.
    fn compute<const TRACED: bool>(&mut self, sum: usize, cells: Range<usize>, least: i16) -> i16 {
        let [now, before, both_before] = &mut self.scores;
        std::mem::swap(before, both_before);
        std::mem::swap(now, before);
        // Neighboring cells that were not computed count as given up.
        now[cells.start] = GIVEN_UP;
        now[cells.end + 1] = GIVEN_UP;
        let (count, at) = (cells.len(), self.moves.len());
        if TRACED {
            self.antidiagonals.push(Antidiagonal { first: cells.start, at });
            self.moves.resize(at + count, Move::Both);
        }
        let (first, moves) = (cells.start, &mut self.moves[at..]);
        let cells = Cells {
            query: &self.query[cells.start..][..count],
            document: &self.document[self.document.len() - 1 - (sum - cells.start)..][..count],
            diagonal: &both_before[cells.start..][..count],
            up: &before[cells.start..][..count],
            left: &before[cells.start + 1..][..count],
            least,
        };
        let now = &mut now[first + 1..][..count];
        if count < LANES {
            return cells.compute::<TRACED>(now, moves);
        }
        let mut most = GIVEN_UP;
        let mut compute = |from: usize| {
            let moves = if TRACED { &mut moves[from..][..LANES] } else { &mut [] };
            let lanes = cells.lanes(from);
            most = most.max(lanes.compute::<TRACED>(&mut now[from..][..LANES], moves));
        };
        (0..=count - LANES).step_by(LANES).for_each(&mut compute);
        // Whole lanes again: the cells computed twice get the same scores.
        if !count.is_multiple_of(LANES) {
            compute(count - LANES);
        }
        most
    }

    /// Passes the pairs of an extension to `pair`, the last first.
    fn trace(&self, extension: Extension, mut pair: impl FnMut(usize, usize)) {
        let (mut i, mut j) = extension.letters;
        while (i, j) != (0, 0) {
            let Antidiagonal { first, at } = self.antidiagonals[i + j];
            match self.moves[at + i - first] {
                Move::Both => {
                    (i, j) = (i - 1, j - 1);
                    pair(i, j);
                }
                Move::Query => i -= 1,
                Move::Document => j -= 1,
            }
        }
    }
}

/// The end of the best alignment of beginnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Extension {
    score: i32,
    /// The letters of the query and of the document in it.
    letters: (usize, usize),
}

/// The numbers of letters that may be aligned.
struct LetterEnds {
    query: usize,
    document: usize,
}

impl LetterEnds {
    /// Returns the cells with `sum` letters that can be reached from the kept cells of the two
    /// antidiagonals before. The range may be empty.
    #[inline]
    fn cells(&self, sum: usize, [before, both_before]: [&Range<usize>; 2]) -> Range<usize> {
        // An empty range is reached from nowhere.
        let (start, end) = match (before.is_empty(), both_before.is_empty()) {
            (false, false) => {
                (before.start.min(both_before.start + 1), before.end.max(both_before.end) + 1)
            }
            (false, true) => (before.start, before.end + 1),
            (true, false) => (both_before.start + 1, both_before.end + 1),
            (true, true) => return 0..0,
        };
        start.max(sum.saturating_sub(self.document))..end.min(self.query.min(sum) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::runtime::Stop;
    use crate::runtime::stop::testing::After;
    use proptest::prelude::*;

    /// Computes the best score of all beginnings by definition.
    fn naive(a: &[u16], b: &[u16]) -> i32 {
        let mut scores = vec![vec![0; b.len() + 1]; a.len() + 1];
        let mut best = 0;
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                let both = (i > 0 && j > 0).then(|| {
                    let same = if a[i - 1] == b[j - 1] { 1 } else { -1 };
                    scores[i - 1][j - 1] + same
                });
                let up = (i > 0).then(|| scores[i - 1][j] - 1);
                let left = (j > 0).then(|| scores[i][j - 1] - 1);
                scores[i][j] = [both, up, left].into_iter().flatten().max().unwrap_or(0);
                best = best.max(scores[i][j]);
            }
        }
        best
    }

    fn reversed(letters: &[u16]) -> Vec<u16> {
        letters.iter().rev().copied().collect()
    }

    fn around(q: &[u16], d: &[u16], start: Pair) -> (u32, Vec<Pair>) {
        let mut pairs = vec![(7, 7)];
        let steps = &mut Steps::unbounded(Stop::NEVER);
        let score =
            Aligner::default().around(TextPair::new(q, d), start, &mut pairs, steps).unwrap();
        (score.unwrap(), pairs)
    }

    fn letters() -> impl Strategy<Value = Vec<u16>> {
        proptest::collection::vec(0u16..3, 0..24)
    }

    proptest! {
        #[test]
        fn extensions_have_the_best_score_where_nothing_is_given_up(
            a in letters(), b in letters(),
        ) {
            let steps = &mut Steps::unbounded(Stop::NEVER);
            let mut aligner = Aligner::default();
            let sides = TextPair::new(&a[..], &b[..]);
            let drop = (a.len() + b.len()) as i16;
            let on = aligner.extend::<false, true>(sides, drop, steps).unwrap().unwrap();
            prop_assert_eq!(on.score, naive(&a, &b));
            let trial = aligner.extend::<false, false>(sides, drop, steps).unwrap().unwrap();
            prop_assert_eq!(trial.score, on.score);
            let back = aligner.extend::<true, true>(sides, drop, steps).unwrap().unwrap();
            prop_assert_eq!(back.score, naive(&reversed(&a), &reversed(&b)));
            // A smaller drop may find less, but never more.
            let less = aligner.extend::<false, true>(sides, 2, steps).unwrap().unwrap();
            prop_assert!(less.score <= on.score);
        }

        #[test]
        fn an_alignment_has_pairs_of_letters_that_are_the_same_in_order(
            a in letters(), b in letters(), before in letters(), after in letters(),
        ) {
            // The two texts share 20 letters.
            let common: Vec<u16> = (10..30).collect();
            let q = [&a[..], &common, &after].concat();
            let d = [&b[..], &common, &before].concat();
            let start = (a.len() as u32 + 3, b.len() as u32 + 3);
            let (score, pairs) = around(&q, &d, start);
            prop_assert!(pairs.iter().all(|&(i, j)| q[i as usize] == d[j as usize]));
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
            let mut of_common = (0..20).map(|at| (a.len() as u32 + at, b.len() as u32 + at));
            prop_assert!(of_common.all(|pair| pairs.contains(&pair)));
            let (back, on) = (naive(&reversed(&a), &reversed(&b)), naive(&after, &before));
            prop_assert_eq!(score, (20 + back + on) as u32);
        }
    }

    #[test]
    fn wrong_lost_and_added_letters_are_passed_over() {
        let letters = |text: &str| text.bytes().map(u16::from).collect::<Vec<_>>();
        let q = letters("thereckoningsoftheancientsailors");
        let d = letters("tbereckouingsofheaneienltsailors");
        let (score, pairs) = around(&q, &d, (3, 3));
        // Three letters are wrong, one is lost and one is added. Of equally good ends, the nearest
        // end wins: the first letter is worth no more than the following wrong letter costs.
        assert_eq!((score, pairs.len()), (28 - 5, 27));
        assert_eq!((pairs.first(), pairs.last()), (Some(&(2, 2)), Some(&(31, 31))));
    }

    #[test]
    fn letters_that_differ_are_no_alignment_of_any_length() {
        let q: Vec<u16> = (100..1100).collect();
        let d: Vec<u16> = (2000..3000).collect();
        let steps = &mut Steps::unbounded(Stop::NEVER);
        let mut pairs = Vec::new();
        let found = Aligner::default()
            .around(TextPair::new(&q, &d), (500, 500), &mut pairs, steps)
            .unwrap();
        assert_eq!((found, pairs.len()), (Some(0), 0));
        assert!(steps.taken() < 1000, "{}", steps.taken());
    }

    #[test]
    fn an_alignment_is_cut_and_stopped() {
        let text: Vec<u16> = (0..100_000).map(|at| at as u16).collect();
        let mut pairs = Vec::new();
        let mut steps = Steps::new(10_000, Stop::NEVER);
        let sides = TextPair::new(&text[..], &text[..]);
        let found = Aligner::default().around(sides, (0, 0), &mut pairs, &mut steps).unwrap();
        assert_eq!((found, steps.is_complete()), (None, false));
        let flag = After::looks(1);
        let mut steps = Steps::unbounded(flag.stop());
        let stopped = Aligner::default().around(sides, (0, 0), &mut pairs, &mut steps);
        assert!(matches!(stopped, Err(Error::Cancelled)));
        // The memory has a fixed bound, however many letters are equal.
        let (score, pairs) = around(&text, &text, (0, 0));
        assert_eq!((score as usize, pairs.len()), (ROWS_MAX, ROWS_MAX));
    }
}
