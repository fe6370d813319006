//! The local alignment of letters around a place that two texts have in common.
//!
//! Gapped extension with an X-drop, as in Altschul et al. 1997 ("Gapped BLAST and PSI-BLAST", page
//! 3392): from a pair of equal letters the alignment grows in both directions, a cell of the
//! dynamic programme at a time, and cells whose score is far below the best are given up. Two texts
//! that merely use the same alphabet agree in fewer than half of their letters however they are
//! aligned, so that their scores fall and the extension ends soon.

use crate::error::Result;
use crate::runtime::Steps;

/// The score of two letters that are the same; two that are not, or one alone, have its negative.
const SAME: i32 = 1;

/// A cell is given up if its score is this much below the best: a stretch of as many wrong letters
/// ends an alignment.
const DROP: i32 = 32;

/// An alignment is first tried with this drop, which takes a tenth of the time, and goes on if it
/// has at least this score.
const TRIAL: (i32, i32) = (10, 16);

/// The maximum number of letters of the query that are aligned in one direction, which bounds the
/// memory: [`CELLS_MAX`] bytes.
const ROWS_MAX: usize = 1 << 14;

/// The number of cells that are computed in the time of a step.
const CELLS_A_STEP: usize = 2;

const GIVEN_UP: i32 = i32::MIN / 2;

/// Two letters that are the same: their places in the query and in the document.
pub type Pair = (u32, u32);

/// Aligns letters; the buffers serve one alignment after the other.
#[derive(Default)]
pub struct Aligner {
    before: Vec<i32>,
    now: Vec<i32>,
    /// How each cell was reached.
    moves: Vec<Move>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Move {
    /// From the letters before in both texts.
    Both,
    /// From the letter before in the query.
    Query,
    /// From the letter before in the document.
    Document,
}

/// The cells of a letter of the query.
#[derive(Clone, Copy)]
struct Row {
    /// The first letter of the document that has a cell.
    first: usize,
    /// Where the cells begin.
    at: usize,
}

impl Aligner {
    /// Returns the best alignment that has the two letters at `start`, with its score; `None` if
    /// that takes too many steps.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn around(
        &mut self,
        (query, document): (&[u16], &[u16]),
        start: Pair,
        pairs: &mut Vec<Pair>,
        steps: &mut Steps<'_>,
    ) -> Result<Option<u32>> {
        let (i, j) = (start.0 as usize, start.1 as usize);
        let (before, after) = ((&query[..i], &document[..j]), (&query[i..], &document[j..]));
        pairs.clear();
        let Some(on) = self.extend::<false>(after, TRIAL.0, steps)? else { return Ok(None) };
        let Some(back) = self.extend::<true>(before, TRIAL.0, steps)? else { return Ok(None) };
        if back.0 + on.0 < TRIAL.1 {
            return Ok(Some(0));
        }
        let Some(back) = self.extend::<true>(before, DROP, steps)? else { return Ok(None) };
        let mut push = |a: usize, b: usize| {
            if query[a] == document[b] {
                pairs.push((a as u32, b as u32));
            }
        };
        self.trace(back.1, |a, b| push(i - 1 - a, j - 1 - b));
        let first = pairs.len();
        let Some(on) = self.extend::<false>(after, DROP, steps)? else { return Ok(None) };
        let mut push = |a: usize, b: usize| {
            if query[a] == document[b] {
                pairs.push((a as u32, b as u32));
            }
        };
        self.trace(on.1, |a, b| push(i + a, j + b));
        pairs[first..].reverse();
        Ok(Some((back.0 + on.0) as u32))
    }

    /// Returns the best score of an alignment of beginnings of both, and how many letters of each
    /// are aligned; of ends, if it goes `BACK`.
    fn extend<const BACK: bool>(
        &mut self,
        (query, document): (&[u16], &[u16]),
        drop: i32,
        steps: &mut Steps<'_>,
    ) -> Result<Option<(i32, (usize, usize))>> {
        let letter =
            |letters: &[u16], at: usize| letters[if BACK { letters.len() - 1 - at } else { at }];
        self.moves.clear();
        self.rows.clear();
        self.before.clear();
        self.before.extend((0..).take(document.len().min(drop as usize) + 1).map(|gap: i32| -gap));
        self.moves.resize(self.before.len(), Move::Document);
        self.rows.push(Row { first: 0, at: 0 });
        let (mut best, mut best_at, mut first) = (0, (0, 0), 0);
        for i in 1..=query.len().min(ROWS_MAX) {
            let of_query = letter(query, i - 1);
            let least = best - drop;
            self.rows.push(Row { first, at: self.moves.len() });
            let (mut left, mut diagonal) = (GIVEN_UP, GIVEN_UP);
            let mut cell = |j: usize, up: i32| {
                let is_same = j > 0 && letter(document, j - 1) == of_query;
                let both = diagonal + if is_same { SAME } else { -SAME };
                let (one, by_one) =
                    if up >= left { (up, Move::Query) } else { (left, Move::Document) };
                let (score, by) =
                    if both >= one - SAME { (both, Move::Both) } else { (one - SAME, by_one) };
                diagonal = up;
                left = if score < least { GIVEN_UP } else { score };
                if score > best {
                    (best, best_at) = (score, (i, j));
                }
                (left, by)
            };
            // Most cells have one above, and take places that are there.
            let above = self.before.len().min(document.len() + 1 - first);
            let moves = self.moves.len();
            self.now.resize(above, GIVEN_UP);
            self.moves.resize(moves + above, Move::Both);
            let places = self.now.iter_mut().zip(&mut self.moves[moves..]);
            for ((place, &up), j) in places.zip(&self.before).zip(first..) {
                (*place.0, *place.1) = cell(j, up);
            }
            // Those after it are reached from the letter before in the document alone.
            for j in first + above..=document.len() {
                let (score, by) = cell(j, GIVEN_UP);
                self.now.push(score);
                self.moves.push(by);
                if score == GIVEN_UP {
                    break;
                }
            }
            if !steps.take((self.now.len() / CELLS_A_STEP) as u64 + 1)? {
                return Ok(None);
            }
            while self.now.last() == Some(&GIVEN_UP) {
                self.now.pop();
            }
            let given_up = self.now.iter().take_while(|&&score| score == GIVEN_UP).count();
            self.now.drain(..given_up);
            first += given_up;
            if self.now.is_empty() {
                break;
            }
            std::mem::swap(&mut self.before, &mut self.now);
        }
        Ok(Some((best, best_at)))
    }

    /// Passes the pairs of an extension to `pair`, the last first.
    fn trace(&self, (mut i, mut j): (usize, usize), mut pair: impl FnMut(usize, usize)) {
        while (i, j) != (0, 0) {
            let row = self.rows[i];
            match self.moves[row.at + j - row.first] {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::runtime::Stop;
    use crate::runtime::stop::testing::After;
    use proptest::prelude::*;

    /// Follows the definition: the best score of all beginnings of both.
    fn naive(a: &[u16], b: &[u16]) -> i32 {
        let mut scores = vec![vec![0; b.len() + 1]; a.len() + 1];
        let mut best = 0;
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                let both = (i > 0 && j > 0).then(|| {
                    let same = if a[i - 1] == b[j - 1] { SAME } else { -SAME };
                    scores[i - 1][j - 1] + same
                });
                let up = (i > 0).then(|| scores[i - 1][j] - SAME);
                let left = (j > 0).then(|| scores[i][j - 1] - SAME);
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
        let score = Aligner::default().around((q, d), start, &mut pairs, steps).unwrap();
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
            let drop = (a.len() + b.len()) as i32;
            let on = aligner.extend::<false>((&a, &b), drop, steps).unwrap().unwrap();
            prop_assert_eq!(on.0, naive(&a, &b));
            let back = aligner.extend::<true>((&a, &b), drop, steps).unwrap().unwrap();
            prop_assert_eq!(back.0, naive(&reversed(&a), &reversed(&b)));
            // With a smaller drop less may be found, and never more.
            let less = aligner.extend::<false>((&a, &b), 2, steps).unwrap().unwrap();
            prop_assert!(less.0 <= on.0);
        }

        #[test]
        fn an_alignment_has_pairs_of_letters_that_are_the_same_in_order(
            a in letters(), b in letters(), before in letters(), after in letters(),
        ) {
            // Both have 20 letters in common.
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
        // Three letters are wrong, one is lost and one is added. Of equally good ends the nearest
        // one is taken: the first letter is worth no more than the wrong one after it costs.
        assert_eq!((score, pairs.len()), (28 - 5, 27));
        assert_eq!((pairs.first(), pairs.last()), (Some(&(2, 2)), Some(&(31, 31))));
    }

    #[test]
    fn letters_that_differ_are_no_alignment_of_any_length() {
        let q: Vec<u16> = (100..1100).collect();
        let d: Vec<u16> = (2000..3000).collect();
        let steps = &mut Steps::unbounded(Stop::NEVER);
        let mut pairs = Vec::new();
        let found = Aligner::default().around((&q, &d), (500, 500), &mut pairs, steps).unwrap();
        assert_eq!((found, pairs.len()), (Some(0), 0));
        assert!(steps.taken() < 1000, "{}", steps.taken());
    }

    #[test]
    fn an_alignment_is_cut_and_stopped() {
        let text: Vec<u16> = (0..100_000).map(|at| at as u16).collect();
        let mut pairs = Vec::new();
        let mut steps = Steps::new(10_000, Stop::NEVER);
        let sides = (&text[..], &text[..]);
        let found = Aligner::default().around(sides, (0, 0), &mut pairs, &mut steps).unwrap();
        assert_eq!((found, steps.is_complete()), (None, false));
        let flag = After::looks(1);
        let mut steps = Steps::unbounded(flag.stop());
        let stopped = Aligner::default().around(sides, (0, 0), &mut pairs, &mut steps);
        assert!(matches!(stopped, Err(Error::Cancelled)));
        // The memory is that of some letters, however many are the same.
        let (score, pairs) = around(&text, &text, (0, 0));
        assert_eq!((score as usize, pairs.len()), (ROWS_MAX, ROWS_MAX));
    }
}
