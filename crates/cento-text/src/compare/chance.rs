//! How many passages as good as one occur by chance?
//!
//! A long passage is no evidence by itself, and neither is a short one: any two programs share
//! loops, and a large archive has every phrase. Karlin and Altschul (1990) ask for the number of
//! matches as good as this one that unrelated sequences of these lengths have. It falls
//! exponentially with the score of the match, and in proportion to the space that was searched.
//!
//! The score of a passage is the information of its tokens, in bits ([`background`]), less what
//! its gaps cost. The best score of two unrelated texts of m and n tokens, less log2(m n), follows
//! an extreme value law (Gumbel 1958). Its two parameters come from pairs of texts of the
//! collection, as Pearson (1998) fits them to the scores of a search: by two quantiles, which the
//! few pairs that are related do not move.
//!
//! [`background`]: super::background

use std::collections::HashMap;
use std::ops::Range;

use super::background::Background;
use crate::number::{exp, ln, log2};

/// The texts whose pairs the law is fitted to: 2,016 pairs.
const CALIBRATED_TEXTS_MAX: usize = 64;

/// The tokens of each of them that count.
const CALIBRATED_TOKENS_MAX: usize = 600;

/// The places of a text where a token is looked up.
const PLACES_MAX: usize = 8;

/// The quantiles of the scores of pairs that the law is fitted to. If fewer than 3 % of the pairs
/// are related, they are above both. Lower ones (.5 and .9) state three times as many passages of
/// programs as there are, higher ones (.9 and .99) are moved by the first copies of a class.
const QUANTILES: [f64; 2] = [0.7, 0.97];

/// The least number of pairs that a law is fitted to: those of eight texts.
const PAIRS_MIN: usize = 28;

/// The bounds of the scale, in bits. Texts whose tokens are independent and have the probabilities
/// of the model have the lower one, 1 / ln 2. Prose has 3 to 4, programs and licences 6 to 9
/// (research/RESULTS.md, "Evidence"); a greater scale means that many pairs are related.
const SCALES: [f64; 2] = [std::f64::consts::LOG2_E, 12.0];

/// The law of the best score of two unrelated texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChanceLaw {
    /// The most frequent score, in bits above log2 of the lengths' product.
    pub mode: f64,
    /// The bits that make a score as good e times rarer.
    pub scale: f64,
}

impl Default for ChanceLaw {
    /// The law of a collection that is too small to have one of its own: between those of prose and
    /// of programs.
    fn default() -> ChanceLaw {
        ChanceLaw { mode: 2.0, scale: 6.0 }
    }
}

impl ChanceLaw {
    /// Fits the law to pairs of the first of these texts, which the model has counted.
    #[must_use]
    pub fn of_texts(texts: &[&[u64]], model: &Background) -> ChanceLaw {
        let cut = |text: &&[u64]| text.len().min(CALIBRATED_TOKENS_MAX);
        let texts: Vec<&[u64]> =
            texts.iter().take(CALIBRATED_TEXTS_MAX).map(|text| &text[..cut(text)]).collect();
        let mut scores = Vec::new();
        for (at, query) in texts.iter().enumerate() {
            let bits = Sums::new(&model.bits(query, 2));
            let places = Places::new(query);
            for document in &texts[at + 1..] {
                scores.push(places.best(&bits, document) - space(query.len(), document.len()));
            }
        }
        ChanceLaw::of_scores(scores)
    }

    /// Fits the law to these scores of pairs.
    fn of_scores(mut scores: Vec<f64>) -> ChanceLaw {
        if scores.len() < PAIRS_MIN {
            return ChanceLaw::default();
        }
        scores.sort_unstable_by(f64::total_cmp);
        let at = |quantile: f64| scores[(quantile * (scores.len() - 1) as f64).round() as usize];
        let [low, high] = QUANTILES.map(at);
        let [at_low, at_high] = QUANTILES.map(|quantile| -ln(-ln(quantile)));
        let scale = ((high - low) / (at_high - at_low)).clamp(SCALES[0], SCALES[1]);
        // By the lower one, which related pairs do not move.
        ChanceLaw { mode: low - at_low * scale, scale }
    }

    /// Returns how many of `documents` unrelated texts, with `document` tokens each, have a passage
    /// of at least this score in common with a text of `query` tokens.
    #[must_use]
    pub fn expected(&self, score: f64, (query, document): (usize, usize), documents: u64) -> f64 {
        let above = (score - space(query, document) - self.mode) / self.scale;
        // 1 - exp(-exp(-x)), without the loss of digits where the second power is small.
        let rate = exp(-above);
        let share = if rate < 1e-9 { rate } else { 1.0 - exp(-rate) };
        documents as f64 * share
    }
}

/// Returns the bits that say where in two texts a run begins.
fn space(query: usize, document: usize) -> f64 {
    log2(query.max(1) as f64) + log2(document.max(1) as f64)
}

/// The information of the first tokens of a text, for that of any range.
#[derive(Debug)]
pub struct Sums(Vec<f64>);

impl Sums {
    /// Adds up the information of each token.
    #[must_use]
    pub fn new(bits: &[f64]) -> Sums {
        let mut sum = 0.0;
        let sums = bits.iter().map(|bits| {
            sum += bits;
            sum
        });
        Sums(std::iter::once(0.0).chain(sums).collect())
    }

    /// Returns the information of these tokens.
    #[must_use]
    pub fn of(&self, range: &Range<usize>) -> f64 {
        self.0[range.end] - self.0[range.start]
    }

    /// Returns the score of a passage, in bits: the information of the matched tokens of the query,
    /// which are in `hit` tokens of the document. Each run after the first could also be at another
    /// of these places, and where it is says log2 of their number less. A run that says less than
    /// that does not count.
    #[must_use]
    pub fn score(&self, matched: &[Range<usize>], hit: usize) -> f64 {
        let place = log2(1.0 + hit as f64);
        let runs: Vec<f64> = matched.iter().map(|run| self.of(run)).collect();
        let best = runs.iter().copied().fold(0.0, f64::max);
        let others: f64 = runs.iter().map(|bits| (bits - place).max(0.0)).sum();
        best + others - (best - place).max(0.0)
    }
}

/// The places of the tokens of a text.
struct Places<'a> {
    text: &'a [u64],
    of: HashMap<u64, Vec<usize>>,
}

impl<'a> Places<'a> {
    fn new(text: &'a [u64]) -> Places<'a> {
        let mut of: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, &token) in text.iter().enumerate() {
            let places = of.entry(token).or_default();
            if places.len() < PLACES_MAX {
                places.push(at);
            }
        }
        Places { text, of }
    }

    /// Returns the information of the run that says most of those that the other text has too.
    fn best(&self, bits: &Sums, other: &[u64]) -> f64 {
        let mut best = 0.0f64;
        for (hit, token) in other.iter().enumerate() {
            for &at in self.of.get(token).into_iter().flatten() {
                if at > 0 && hit > 0 && self.text[at - 1] == other[hit - 1] {
                    continue;
                }
                let (rest, of_other) = (&self.text[at..], &other[hit..]);
                let len = rest.iter().zip(of_other).take_while(|(a, b)| a == b).count();
                best = best.max(bits.of(&(at..at + len)));
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts of independent tokens, the k-th most frequent of which has a share of about 1/k.
    fn texts(seed: u64, count: usize, len: usize) -> Vec<Vec<u64>> {
        let mut state = seed;
        let mut next = || {
            state = crate::hash::mix64(state.wrapping_add(1));
            let uniform = (state >> 11) as f64 / (1u64 << 53) as f64;
            exp(uniform * ln(2000.0)) as u64
        };
        (0..count).map(|_| (0..len).map(|_| next()).collect()).collect()
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
        let law = ChanceLaw::of_texts(counted, &model);
        let (queries, archive) = rest.split_at(100);
        // The runs of independent tokens are rarer than the law says, the more the fewer there are.
        for (stated, less) in [(10.0, 3.0), (1.0, 6.0)] {
            let mut observed = 0;
            for query in queries {
                let (bits, places) = (Sums::new(&model.bits(query, 0)), Places::new(query));
                observed += archive
                    .iter()
                    .filter(|document| {
                        let score = places.best(&bits, document);
                        law.expected(score, (query.len(), document.len()), 300) <= stated
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
        let law = ChanceLaw::of_texts(&slices, &model);
        let expected = |text: usize, run: Range<usize>| {
            let score = Sums::new(&model.bits(slices[text], 2)).score(&[run], 20);
            law.expected(score, (300, 300), 40)
        };
        assert!(expected(1, 100..120) < 1e-9, "{}", expected(1, 100..120));
        assert!(expected(4, 10..30) > 1.0, "{}", expected(4, 10..30));
    }

    #[test]
    fn few_related_pairs_do_not_move_the_law() {
        let all = texts(5, 40, 200);
        let law = |all: &[Vec<u64>]| {
            let slices = slices(all);
            ChanceLaw::of_texts(&slices, &Background::new(&slices))
        };
        let mut related = all.clone();
        for at in 1..5 {
            related[at] = all[0].clone();
        }
        let (alone, among) = (law(&all), law(&related));
        let number = |law: ChanceLaw| ln(law.expected(40.0, (200, 200), 1000));
        assert!((number(alone) - number(among)).abs() < ln(10.0), "{alone:?} {among:?}");
        assert_eq!(law(&all[..7]), ChanceLaw::default());
    }

    proptest! {
        #[test]
        fn the_best_run_is_that_of_all_runs(
            one in prop::collection::vec(0u64..5, 0..12),
            other in prop::collection::vec(0u64..5, 0..12),
            bits in prop::collection::vec(0.0f64..9.0, 12),
        ) {
            let sums = Sums::new(&bits);
            let mut best = 0.0f64;
            for at in 0..one.len() {
                for hit in 0..other.len() {
                    let pairs = one[at..].iter().zip(&other[hit..]);
                    let len = pairs.take_while(|(a, b)| a == b).count();
                    best = best.max(sums.of(&(at..at + len)));
                }
            }
            // Of a token that a text has more often, the first places are looked up.
            let is_exact = (0..5).all(|token| one.iter().filter(|&&t| t == token).count() <= 8);
            let found = Places::new(&one).best(&sums, &other);
            prop_assert!(found == best || (!is_exact && found < best));
        }

        #[test]
        fn more_evidence_is_expected_less_often(
            score in 0.0f64..200.0, more in 0.0f64..50.0,
            query in 1usize..10_000, document in 1usize..10_000, documents in 1u64..1 << 40,
            mode in -10.0f64..10.0, scale in 1.5f64..12.0,
        ) {
            let law = ChanceLaw { mode, scale };
            let of = |score| law.expected(score, (query, document), documents);
            prop_assert!(of(score + more) <= of(score));
            prop_assert!((0.0..=documents as f64).contains(&of(score)));
            prop_assert!(law.expected(score, (2 * query, document), documents) >= of(score));
        }

        #[test]
        fn a_run_adds_what_it_says_beyond_its_place(
            bits in prop::collection::vec(0.0f64..20.0, 9), hit in 1usize..1000,
        ) {
            let (sums, place) = (Sums::new(&bits), log2(1.0 + hit as f64));
            let runs = [0..3, 4..6, 7..9];
            let mut of = runs.clone().map(|run| sums.of(&run));
            of.sort_unstable_by(f64::total_cmp);
            let expected = of[2] + (of[1] - place).max(0.0) + (of[0] - place).max(0.0);
            prop_assert!((sums.score(&runs, hit) - expected).abs() < 1e-9);
            prop_assert_eq!(sums.score(&[], hit), 0.0);
        }
    }
}
