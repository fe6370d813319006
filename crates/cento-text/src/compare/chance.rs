//! How many equally good passages occur by chance?
//!
//! The length of a passage alone proves nothing: any two programs share loops, and a large archive
//! contains every phrase. Karlin and Altschul (1990) ask how many equally good matches unrelated
//! sequences of the same lengths have. That number falls exponentially with the score of the match,
//! and rises in proportion to the searched space.
//!
//! The score of a passage is the information of its tokens, in bits ([`background`]), less the cost
//! of its gaps. The best score of two unrelated texts of m and n tokens, less log2(m n), follows an
//! extreme value law (Gumbel 1958). The two parameters are fitted to pairs of texts of the
//! collection, as Pearson (1998) fits them to the scores of a search: by quantiles, which a few
//! related pairs do not move. Pairs with a copy are ignored.
//!
//! [`background`]: super::background

use std::ops::Range;

use super::background::{Background, Repeats};
use super::common_runs::{Sums, TokenPlaces, best_window, disjoint};
use crate::number::{exp, ln, log2};

/// The maximum number of texts whose pairs the law is fitted to: 2,016 pairs.
const CALIBRATED_TEXTS_MAX: usize = 64;

/// The maximum number of tokens of a text that the law is fitted to.
const CALIBRATED_TOKENS_MAX: usize = 600;

/// The lengths of passages that laws of several runs are fitted to, in tokens. The score per token
/// varies more in a short passage, and the best part of two unrelated texts is better than the
/// whole. So one law for whole texts, asked about short passages, shows passages of essays whose
/// sentence frames are equal and nothing else (research/RESULTS.md, "Evidence").
const WINDOWS: [usize; 3] = [CALIBRATED_TOKENS_MAX, 150, 38];

/// The quantiles of the pairs' scores that the law is fitted to. If fewer than 3 % of the pairs are
/// related, they are above both quantiles. Lower quantiles (0.5 and 0.9) predict three times as
/// many passages of programs as there are. Higher quantiles (0.9 and 0.99) move with the first
/// copies in a class.
const QUANTILES: [f64; 2] = [0.7, 0.97];

/// A quantile of the best runs that may be due to chance. Texts with the same sentence frames share
/// runs of a few lengths, and the frames tell nothing about longer runs. So the scale is the
/// greater of the scales below and above the upper quantile, unless copies are above it.
const TAIL: f64 = 0.99;

/// The minimum number of pairs for that quantile: three are above it. Of fewer pairs, it would be
/// the score of a single pair, which a copied sentence may have.
const TAIL_PAIRS_MIN: usize = 300;

/// The minimum number of pairs that a law is fitted to: the pairs of eight texts.
const PAIRS_MIN: usize = 28;

/// The bounds of the scale, in bits. The lower bound, 1 / ln 2, is the scale of texts whose tokens
/// are independent and have the probabilities of the model. Prose has 3 to 5, programs have 7 to 8
/// (docs/concepts/evidence.md). A greater scale means that many pairs are related.
const SCALES: [f64; 2] = [std::f64::consts::LOG2_E, 12.0];

/// The laws of a collection: for passages without gaps, and for passages with gaps and many runs.
///
/// Any two texts of the same kind share short runs. The runs of a passage with gaps add up, so such
/// passages have their own laws: the laws of the best total score of the common runs in two windows
/// of a length, one in each text.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ChanceLaws {
    /// The law of the best run.
    pub of_runs: ChanceLaw,
    /// The laws of several runs, per token of the passage, by descending length of the passage.
    /// `None` in a small collection.
    pub of_gapped: Option<[ChanceLaw; WINDOWS.len()]>,
}

impl ChanceLaws {
    /// Fits the laws to pairs of the first of these texts, which the model has counted.
    #[must_use]
    pub fn of_texts(texts: &[&[u64]], model: &Background) -> ChanceLaws {
        let cut = |text: &&[u64]| text.len().min(CALIBRATED_TOKENS_MAX);
        let texts: Vec<&[u64]> =
            texts.iter().take(CALIBRATED_TEXTS_MAX).map(|text| &text[..cut(text)]).collect();
        let (mut best_runs, mut gapped) = (Vec::new(), WINDOWS.map(|_| Vec::new()));
        // Most runs carry almost no information. A run that exceeds only the place in the shortest
        // window adds at most two bits.
        let least = log2(1.0 + WINDOWS[1] as f64);
        for (at, query) in texts.iter().enumerate() {
            let (bits, repeats) = (Sums::new(&model.bits(query, 2)), Repeats::of(query));
            let bits_of = |run: &Range<usize>| bits.without_repeats(run, &repeats);
            let places = TokenPlaces::new(query);
            for document in &texts[at + 1..] {
                let runs = disjoint(places.runs(document, bits_of), query.len(), least);
                // All documents of a small collection may be versions of the same text.
                if runs.first().is_some_and(|best| model.is_copy(&query[best.query.clone()])) {
                    continue;
                }
                let lens = (query.len(), document.len());
                let best = runs.first().map_or(0.0, |best| best.bits);
                best_runs.push(best - space(lens.0, lens.1));
                for (scores, window) in gapped.iter_mut().zip(WINDOWS) {
                    scores.push(best_window(&runs, window, lens));
                }
            }
        }
        let of_gapped: Option<Vec<ChanceLaw>> = gapped
            .into_iter()
            .map(|scores| ChanceLaw::of_scores(scores, [0.0, f64::INFINITY], 0.0))
            .collect();
        ChanceLaws {
            of_runs: ChanceLaw::of_scores(best_runs, SCALES, SCALES[1]).unwrap_or_default(),
            of_gapped: of_gapped.and_then(|laws| laws.try_into().ok()),
        }
    }

    /// Returns how many of `documents` unrelated texts share as much with a given text: `score`
    /// bits in all passages together, where the longer text has `longer` tokens. The text that two
    /// documents share by chance grows with both lengths, so the score of texts longer than the
    /// fitted texts is scaled down.
    #[must_use]
    pub fn expected_of_pair(&self, score: f64, longer: usize, documents: u64) -> f64 {
        let Some([of_texts, ..]) = self.of_gapped else { return documents as f64 };
        documents as f64 * of_texts.above(per_token(score, longer))
    }

    /// Returns how many of `documents` unrelated texts have a passage with as much evidence, in the
    /// best run or in the sum of the runs.
    #[must_use]
    pub fn expected(&self, passage: &Scored, documents: u64) -> f64 {
        let space = space(passage.lens.0, passage.lens.1);
        let mut above = self.of_runs.above(passage.best_run - space);
        if passage.runs > 1 {
            let gapped = match &self.of_gapped {
                Some(laws) => {
                    let law = law_of_length(laws, passage.tokens);
                    law.above(per_token(passage.score, passage.tokens))
                }
                None => self.of_runs.above(passage.score - space),
            };
            above = above.min(gapped);
        }
        documents as f64 * above
    }
}

/// Returns the score per token of a text or passage. A text longer than the fitted texts shares
/// more by chance, so the score is scaled down.
fn per_token(score: f64, tokens: usize) -> f64 {
    let tokens = tokens.max(1) as f64;
    score / tokens * (CALIBRATED_TOKENS_MAX as f64 / tokens).min(1.0)
}

/// Returns the law of several runs in a passage of this many tokens, between the laws of the next
/// lengths.
fn law_of_length(laws: &[ChanceLaw; WINDOWS.len()], tokens: usize) -> ChanceLaw {
    let Some(longer) = WINDOWS.iter().rposition(|window| *window >= tokens) else {
        return laws[0];
    };
    let Some(&shorter) = WINDOWS.get(longer + 1) else { return laws[longer] };
    let share =
        log2(tokens as f64 / shorter as f64) / log2(WINDOWS[longer] as f64 / shorter as f64);
    let between = |of: fn(&ChanceLaw) -> f64| {
        let (short, long) = (of(&laws[longer + 1]), of(&laws[longer]));
        short + share * (long - short)
    };
    ChanceLaw { mode: between(|law| law.mode), scale: between(|law| law.scale) }
}

/// The evidence of a passage of two texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The score of all runs together, in bits.
    pub score: f64,
    /// The score of the run with the most information, in bits.
    pub best_run: f64,
    /// The number of matched runs.
    pub runs: usize,
    /// The number of tokens of the query in the passage.
    pub tokens: usize,
    /// The numbers of tokens of the query and of the document.
    pub lens: (usize, usize),
}

/// The law of the best score of two unrelated texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChanceLaw {
    /// The most frequent score, in bits above log2 of the product of the lengths.
    pub mode: f64,
    /// The number of bits that make a score e times rarer.
    pub scale: f64,
}

impl Default for ChanceLaw {
    /// The law of a collection that is too small for its own law, between the laws of prose and of
    /// programs.
    fn default() -> ChanceLaw {
        ChanceLaw { mode: 2.0, scale: 6.0 }
    }
}

impl ChanceLaw {
    /// Returns the share of unrelated pairs with a greater score.
    fn above(self, score: f64) -> f64 {
        // 1 - exp(-exp(-x)), without a loss of digits where the inner power is small.
        let rate = exp((self.mode - score) / self.scale);
        if rate < 1e-9 { rate } else { 1.0 - exp(-rate) }
    }

    /// Fits the law to these scores of pairs, or returns `None` if there are too few. A tail with a
    /// scale of more than `tail_max` is ignored.
    fn of_scores(mut scores: Vec<f64>, scales: [f64; 2], tail_max: f64) -> Option<ChanceLaw> {
        if scores.len() < PAIRS_MIN {
            return None;
        }
        scores.sort_unstable_by(f64::total_cmp);
        let at = |quantile: f64| scores[(quantile * (scores.len() - 1) as f64).round() as usize];
        let reduced = |quantile: f64| -ln(-ln(quantile));
        let slope = |low: f64, high: f64| (at(high) - at(low)) / (reduced(high) - reduced(low));
        let [low, high] = QUANTILES;
        let (body, tail) = (slope(low, high), slope(high, TAIL));
        let is_tail = scores.len() >= TAIL_PAIRS_MIN && body < tail && tail <= tail_max;
        // Without a heavy tail, from the lower quantile, which related pairs do not move.
        let (scale, from) = if is_tail { (tail, high) } else { (body, low) };
        let scale = scale.clamp(scales[0], scales[1]);
        let mode = at(from) - reduced(from) * scale;
        Some(ChanceLaw { mode, scale }).filter(|law| law.scale > 0.0)
    }
}

/// Returns the number of bits that specify where in two texts a run begins.
#[must_use]
pub fn space(query: usize, document: usize) -> f64 {
    log2(query.max(1) as f64) + log2(document.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts of independent tokens, where the k-th most frequent token has a share of about 1/k.
    fn texts(seed: u64, count: usize, len: usize) -> Vec<Vec<u64>> {
        let mut state = seed;
        let mut next = || {
            state = crate::hash::mix64(state.wrapping_add(1));
            let uniform = (state >> 11) as f64 / (1u64 << 53) as f64;
            exp(uniform * ln(2000.0)) as u64
        };
        (0..count).map(|_| (0..len).map(|_| next()).collect()).collect()
    }

    /// A passage of a single run, in texts of `len` tokens.
    fn one_run(score: f64, len: usize) -> Scored {
        Scored { score, best_run: score, runs: 1, tokens: 20, lens: (len, len) }
    }

    fn slices(texts: &[Vec<u64>]) -> Vec<&[u64]> {
        texts.iter().map(Vec::as_slice).collect()
    }

    #[test]
    fn passages_of_unrelated_texts_are_as_many_as_expected() {
        let all = texts(7, 460, 200);
        let all = slices(&all);
        let (counted, rest) = all.split_at(60);
        let model = Background::new(counted);
        let law = ChanceLaws::of_texts(counted, &model);
        let (queries, archive) = rest.split_at(100);
        // Runs of independent tokens are rarer than the law predicts, and the rarer the fewer there
        // are.
        for (stated, less) in [(10.0, 3.0), (1.0, 6.0)] {
            let mut observed = 0;
            for query in queries {
                let (bits, places) = (Sums::new(&model.bits(query, 0)), TokenPlaces::new(query));
                observed += archive
                    .iter()
                    .filter(|document| {
                        let runs =
                            disjoint(places.runs(document, |run| bits.of(run)), query.len(), 0.0);
                        let score = runs.first().map_or(0.0, |best| best.bits);
                        law.expected(&one_run(score, query.len()), 300) <= stated
                    })
                    .count();
            }
            let observed = observed as f64 / queries.len() as f64;
            assert!((stated / less..=3.0 * stated).contains(&observed), "{stated}: {observed}");
        }
    }

    #[test]
    fn a_copy_is_no_chance_and_common_text_is() {
        let mut all = texts(3, 40, 300);
        let line = all[0][..20].to_vec();
        let copied = all[1][100..120].to_vec();
        all[2][50..70].copy_from_slice(&copied);
        for text in &mut all[4..] {
            text[10..30].copy_from_slice(&line);
        }
        let slices = slices(&all);
        let model = Background::new(&slices);
        let law = ChanceLaws::of_texts(&slices, &model);
        let expected = |text: usize, run: Range<usize>| {
            let score = Sums::new(&model.bits(slices[text], 2)).score(&[run], 20);
            law.expected(&one_run(score, 300), 40)
        };
        assert!(expected(1, 100..120) < 1e-9, "{}", expected(1, 100..120));
        assert!(expected(4, 10..30) > 1.0, "{}", expected(4, 10..30));
    }

    #[test]
    fn few_related_pairs_do_not_move_the_law() {
        let all = texts(5, 40, 200);
        let law = |all: &[Vec<u64>]| {
            let slices = slices(all);
            ChanceLaws::of_texts(&slices, &Background::new(&slices))
        };
        let mut related = all.clone();
        related[1..20].fill(all[0].clone());
        let (alone, among) = (law(&all), law(&related));
        let number = |law: ChanceLaws| ln(law.expected(&one_run(40.0, 200), 1000));
        assert!((number(alone) - number(among)).abs() < ln(10.0), "{alone:?} {among:?}");
        assert_eq!(law(&all[..7]), ChanceLaws::default());
    }

    proptest! {
        #[test]
        fn more_evidence_is_expected_less_often(
            score in 0.0f64..200.0, more in 0.0f64..50.0, runs in 1usize..5,
            tokens in 1usize..1000, len in 1usize..10_000, documents in 1u64..1 << 40,
            mode in -10.0f64..10.0, scale in 1.5f64..12.0, has_gapped in any::<bool>(),
        ) {
            let of_gapped =
                has_gapped.then_some([0.3, 0.5, 0.7].map(|mode| ChanceLaw { mode, scale: 0.1 }));
            let laws = ChanceLaws { of_runs: ChanceLaw { mode, scale }, of_gapped };
            let scored = |score| Scored { score, best_run: score, runs, tokens, lens: (len, len) };
            let of = |score| laws.expected(&scored(score), documents);
            prop_assert!(of(score + more) <= of(score));
            prop_assert!((0.0..=documents as f64).contains(&of(score)));
            let in_longer = Scored { lens: (2 * len, len), ..scored(score) };
            prop_assert!(laws.expected(&in_longer, documents) >= of(score));
        }

    }
}
