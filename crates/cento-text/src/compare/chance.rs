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
//! collection, as Pearson (1998) fits them to the scores of a search: by two quantiles, which a few
//! related pairs do not move. Pairs with a copy are ignored.
//!
//! [`background`]: super::background

use std::ops::Range;

use super::align::CoveredRanges;
use super::background::Background;
use crate::number::{exp, ln, log2};

/// The maximum number of texts whose pairs the law is fitted to: 2,016 pairs.
const CALIBRATED_TEXTS_MAX: usize = 64;

/// The maximum number of tokens of a text that the law is fitted to.
const CALIBRATED_TOKENS_MAX: usize = 600;

/// The maximum number of places of a token that are looked up in a text.
const PLACES_MAX: usize = 8;

/// The quantiles of the pairs' scores that the law is fitted to. If fewer than 3 % of the pairs are
/// related, they are above both quantiles. Lower quantiles (0.5 and 0.9) predict three times as
/// many passages of programs as there are. Higher quantiles (0.9 and 0.99) move with the first
/// copies in a class.
const QUANTILES: [f64; 2] = [0.7, 0.97];

/// The minimum number of pairs that a law is fitted to: the pairs of eight texts.
const PAIRS_MIN: usize = 28;

/// The bounds of the scale, in bits. The lower bound, 1 / ln 2, is the scale of texts whose tokens
/// are independent and have the probabilities of the model. Prose has 3 to 5, programs have 7 to 8
/// (docs/concepts/evidence.md). A greater scale means that many pairs are related.
const SCALES: [f64; 2] = [std::f64::consts::LOG2_E, 12.0];

/// The laws of a collection: for passages without gaps, and for passages with gaps and many runs.
///
/// Any two texts of the same kind share short runs. The runs of a passage with gaps add up, so such
/// passages have their own law: the law of the total score of all common runs of two texts,
/// wherever the runs are.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ChanceLaws {
    /// The law of the best run.
    pub of_runs: ChanceLaw,
    /// The law of several runs, per token of the passage. `None` in a small collection.
    pub of_gapped: Option<ChanceLaw>,
}

impl ChanceLaws {
    /// Fits the laws to pairs of the first of these texts, which the model has counted.
    #[must_use]
    pub fn of_texts(texts: &[&[u64]], model: &Background) -> ChanceLaws {
        let cut = |text: &&[u64]| text.len().min(CALIBRATED_TOKENS_MAX);
        let texts: Vec<&[u64]> =
            texts.iter().take(CALIBRATED_TEXTS_MAX).map(|text| &text[..cut(text)]).collect();
        let (mut runs, mut gapped) = (Vec::new(), Vec::new());
        for (at, query) in texts.iter().enumerate() {
            let bits = Sums::new(&model.bits(query, 2));
            let places = TokenPlaces::new(query);
            for document in &texts[at + 1..] {
                let space = space(query.len(), document.len());
                let least = log2(1.0 + document.len() as f64);
                let found = disjoint(places.runs(document), &bits, least);
                // All documents of a small collection may be versions of the same text.
                if found.first().is_some_and(|best| model.is_copy(&query[best.clone()])) {
                    continue;
                }
                runs.push(found.first().map_or(0.0, |best| bits.of(best)) - space);
                gapped.push(bits.score(&found, document.len()) / query.len().max(1) as f64);
            }
        }
        ChanceLaws {
            of_runs: ChanceLaw::of_scores(runs, SCALES).unwrap_or_default(),
            of_gapped: ChanceLaw::of_scores(gapped, [0.0, f64::INFINITY]),
        }
    }

    /// Returns how many of `documents` unrelated texts share as much with a given text: `score`
    /// bits in all passages together, where the longer text has `longer` tokens. The text that two
    /// documents share by chance grows with both lengths, so the score of texts longer than the
    /// fitted texts is scaled down.
    #[must_use]
    pub fn expected_of_pair(&self, score: f64, longer: usize, documents: u64) -> f64 {
        let Some(law) = self.of_gapped else { return documents as f64 };
        let longer = longer.max(1) as f64;
        let per_token = score / longer * (CALIBRATED_TOKENS_MAX as f64 / longer).min(1.0);
        documents as f64 * law.above(per_token)
    }

    /// Returns how many of `documents` unrelated texts have a passage with as much evidence, by its
    /// best run or by all of its runs together.
    #[must_use]
    pub fn expected(&self, passage: &Scored, documents: u64) -> f64 {
        let space = space(passage.lens.0, passage.lens.1);
        let mut above = self.of_runs.above(passage.best_run - space);
        if passage.runs > 1 {
            let gapped = match self.of_gapped {
                Some(law) => law.above(passage.score / passage.tokens.max(1) as f64),
                None => self.of_runs.above(passage.score - space),
            };
            above = above.min(gapped);
        }
        documents as f64 * above
    }
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

    /// Fits the law to these scores of pairs, or returns `None` if there are too few.
    fn of_scores(mut scores: Vec<f64>, scales: [f64; 2]) -> Option<ChanceLaw> {
        if scores.len() < PAIRS_MIN {
            return None;
        }
        scores.sort_unstable_by(f64::total_cmp);
        let at = |quantile: f64| scores[(quantile * (scores.len() - 1) as f64).round() as usize];
        let [low, high] = QUANTILES.map(at);
        let [at_low, at_high] = QUANTILES.map(|quantile| -ln(-ln(quantile)));
        let scale = ((high - low) / (at_high - at_low)).clamp(scales[0], scales[1]);
        // From the lower quantile, which related pairs do not move.
        Some(ChanceLaw { mode: low - at_low * scale, scale }).filter(|law| law.scale > 0.0)
    }
}

/// Returns the number of bits that specify where in two texts a run begins.
#[must_use]
pub fn space(query: usize, document: usize) -> f64 {
    log2(query.max(1) as f64) + log2(document.max(1) as f64)
}

/// The sums of the information of a text's first tokens, for the information of any range.
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

    /// Returns the information of the tokens in a range.
    #[must_use]
    pub fn of(&self, range: &Range<usize>) -> f64 {
        self.0[range.end] - self.0[range.start]
    }

    /// Returns the score of a passage, in bits: the information of the matched tokens of the query.
    /// Each run after the best could be at any of `hit` places in the document, so log2 of their
    /// number is subtracted from its information. A run with less information than that does not
    /// count.
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
///
/// Places whose hashes end in the same bits form a linked list. Most passages need the places only
/// once, and a map of lists takes ten times as long to make.
struct TokenPlaces<'a> {
    text: &'a [u64],
    /// For each ending of hashes, the first place.
    first: Vec<u32>,
    /// For each place, the next place with the same ending.
    next: Vec<u32>,
}

/// Marks the end of a list.
const NONE: u32 = u32::MAX;

impl<'a> TokenPlaces<'a> {
    fn new(text: &'a [u64]) -> TokenPlaces<'a> {
        let first = vec![NONE; text.len().next_power_of_two()];
        let mut places = TokenPlaces { text, first, next: vec![NONE; text.len()] };
        for (at, &token) in text.iter().enumerate() {
            let (mut last, mut count) = (NONE, 0);
            for other in places.linked(token) {
                last = other;
                count += usize::from(text[other as usize] == token);
            }
            let ending = places.ending(token);
            match places.next.get_mut(last as usize) {
                None => places.first[ending] = at as u32,
                // Further places would never be looked up.
                Some(next) if count < PLACES_MAX => *next = at as u32,
                Some(_) => {}
            }
        }
        places
    }

    fn ending(&self, token: u64) -> usize {
        token as usize & (self.first.len() - 1)
    }

    /// Returns the places whose hashes have the same ending as a token, ascending.
    fn linked(&self, token: u64) -> impl Iterator<Item = u32> + use<'_> {
        let is_place = |place: &u32| *place != NONE;
        let first = Some(self.first[self.ending(token)]).filter(is_place);
        std::iter::successors(first, move |&place| Some(self.next[place as usize]).filter(is_place))
    }

    /// Returns the first places of a token, ascending.
    fn of(&self, token: u64) -> impl Iterator<Item = usize> + use<'_> {
        let places = self.linked(token).map(|place| place as usize);
        places.filter(move |&place| self.text[place] == token)
    }

    /// Returns the longest equal runs with another text, as ranges of this text. A run that only
    /// continues an earlier run is not returned.
    fn runs(&self, other: &[u64]) -> Vec<Range<usize>> {
        let mut runs = Vec::new();
        for (hit, token) in other.iter().enumerate() {
            for at in self.of(*token) {
                if at > 0 && hit > 0 && self.text[at - 1] == other[hit - 1] {
                    continue;
                }
                let (rest, of_other) = (&self.text[at..], &other[hit..]);
                let len = rest.iter().zip(of_other).take_while(|(a, b)| a == b).count();
                runs.push(at..at + len);
            }
        }
        runs
    }
}

/// Returns the longest consecutive runs of the matched tokens of a text that `hit` also contains.
/// The matched words of a rewritten passage may be anywhere in `hit`.
#[must_use]
pub fn equal_runs(text: &[u64], matched: &[Range<usize>], hit: &[u64]) -> Vec<Range<usize>> {
    let places = TokenPlaces::new(hit);
    let mut runs = Vec::new();
    for range in matched {
        let mut at = range.start;
        while at < range.end {
            let rest = &text[at..range.end];
            let equal =
                |place: usize| rest.iter().zip(&hit[place..]).take_while(|(a, b)| a == b).count();
            let len = places.of(text[at]).map(equal).max();
            if let Some(len) = len {
                runs.push(at..at + len);
            }
            at += len.unwrap_or(1);
        }
    }
    runs
}

/// Returns the runs of at least `least` bits that do not overlap, in descending order of
/// information. The best run is always included.
fn disjoint(mut runs: Vec<Range<usize>>, bits: &Sums, least: f64) -> Vec<Range<usize>> {
    let order = |a: &Range<usize>, b: &Range<usize>| {
        bits.of(b).total_cmp(&bits.of(a)).then(a.start.cmp(&b.start)).then(a.end.cmp(&b.end))
    };
    let Some(best) = runs.iter().min_by(|a, b| order(a, b)).cloned() else { return runs };
    // Most runs carry almost no information.
    runs.retain(|run| bits.of(run) >= least);
    runs.sort_unstable_by(order);
    let mut taken = CoveredRanges::default();
    taken.insert(best.clone());
    let mut found = vec![best];
    for run in runs {
        if taken.covered(&run) == 0 {
            taken.insert(run.clone());
            found.push(run);
        }
    }
    found
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
                        let runs = disjoint(places.runs(document), &bits, 0.0);
                        let score = runs.first().map_or(0.0, |best| bits.of(best));
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
        fn places_are_the_first_of_each_token(text in prop::collection::vec(0u64..9, 0..90)) {
            // Some tokens share an ending.
            let text: Vec<u64> = text.iter().map(|token| token * 64 / 3).collect();
            let places = TokenPlaces::new(&text);
            for token in 0..200 {
                let all = text.iter().enumerate().filter(|(_, other)| **other == token);
                let expected: Vec<usize> = all.map(|(at, _)| at).take(PLACES_MAX).collect();
                prop_assert_eq!(places.of(token).collect::<Vec<_>>(), expected);
            }
        }

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
            // If a text has a token more often, only the first places are looked up.
            let is_exact = (0..5).all(|token| one.iter().filter(|&&t| t == token).count() <= 8);
            let found = disjoint(TokenPlaces::new(&one).runs(&other), &sums, 0.0);
            let found = found.first().map_or(0.0, |best| sums.of(best));
            prop_assert!(found == best || (!is_exact && found < best));
        }

        #[test]
        fn more_evidence_is_expected_less_often(
            score in 0.0f64..200.0, more in 0.0f64..50.0, runs in 1usize..5,
            tokens in 1usize..1000, len in 1usize..10_000, documents in 1u64..1 << 40,
            mode in -10.0f64..10.0, scale in 1.5f64..12.0, has_gapped in any::<bool>(),
        ) {
            let of_gapped = has_gapped.then_some(ChanceLaw { mode: 0.3, scale: 0.1 });
            let laws = ChanceLaws { of_runs: ChanceLaw { mode, scale }, of_gapped };
            let scored = |score| Scored { score, best_run: score, runs, tokens, lens: (len, len) };
            let of = |score| laws.expected(&scored(score), documents);
            prop_assert!(of(score + more) <= of(score));
            prop_assert!((0.0..=documents as f64).contains(&of(score)));
            let in_longer = Scored { lens: (2 * len, len), ..scored(score) };
            prop_assert!(laws.expected(&in_longer, documents) >= of(score));
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

        #[test]
        fn equal_runs_are_in_the_other_text_and_hold_all_matched_tokens_that_are(
            text in prop::collection::vec(0u64..5, 1..20),
            hit in prop::collection::vec(0u64..5, 0..8),
            (start, len) in (0usize..20, 0usize..20),
        ) {
            let matched = start.min(text.len())..(start + len).min(text.len());
            let runs = equal_runs(&text, std::slice::from_ref(&matched), &hit);
            let is_in = |run: &[u64]| hit.windows(run.len()).any(|window| window == run);
            prop_assert!(runs.iter().all(|run| is_in(&text[run.clone()])));
            prop_assert!(runs.windows(2).all(|two| two[0].end <= two[1].start));
            let held = runs.iter().map(Range::len).sum::<usize>();
            prop_assert_eq!(held, text[matched].iter().filter(|token| hit.contains(token)).count());
        }
    }
}
