use super::*;
use crate::hash::mix64;
use crate::runtime::Stop;
use crate::scheme::{self, distinct_keys};
use proptest::prelude::*;

/// Pseudorandom numbers, equal in every run of the tests.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        mix64(self.0)
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn length(&mut self, mean: f64) -> usize {
        match mean > 1.0 {
            true => 1 + (self.share().ln() / (1.0 - 1.0 / mean).ln()) as usize,
            false => 1,
        }
    }
}

/// Makes two texts of common passages, and edits between them. An edit has different tokens in the
/// two texts, and in a quarter of the cases no tokens. Lengths are geometric, with these means in
/// tokens.
fn revisions(random: &mut Random, passage: f64, edit: f64, tokens: usize) -> [Vec<u64>; 2] {
    let mut texts = [Vec::new(), Vec::new()];
    while texts[0].len() < tokens {
        for _ in 0..random.length(passage) {
            let token = random.next();
            texts.iter_mut().for_each(|text| text.push(token));
        }
        for text in &mut texts {
            if random.share() >= 0.25 {
                (0..random.length(edit)).for_each(|_| text.push(random.next()));
            }
        }
    }
    texts
}

/// The resemblance of the texts, the resemblance of their fingerprints, and the estimate.
fn measured(spec: &str, texts: &[Vec<u64>; 2]) -> (f64, f64, Similarity) {
    let scheme = scheme::parse(spec).unwrap();
    let signed = |scheme: &scheme::Scheme| {
        texts.each_ref().map(|text| {
            let mut signature = Vec::new();
            scheme.sign(text, &mut signature, Stop::NEVER).unwrap();
            signature
        })
    };
    let overlap = |signed: &[Vec<Fingerprint>; 2]| {
        let [a, b] = signed.each_ref().map(|signature| distinct_keys(signature));
        Overlap::of(&a, &b).resemblance()
    };
    let whole = scheme::parse(&format!("kgram(k={})", scheme.spec().get("k"))).unwrap();
    let sampled = signed(&scheme);
    let keys = sampled.each_ref().map(|signature| distinct_keys(signature));
    let [a, b] = [0, 1].map(|i| KeyedSignature {
        tokens: texts[i].len() as u32,
        fingerprints: &sampled[i],
        keys: &keys[i],
    });
    let overlap_of_keys = Overlap::of(&keys[0], &keys[1]);
    let estimate = scheme.estimator().unwrap().compare(overlap_of_keys, a, b);
    (overlap(&signed(&whole)), overlap_of_keys.resemblance(), estimate)
}

#[test]
fn simulated_texts_are_estimated_without_bias() {
    // The data that the formula of `edge` was fitted to. A failure shows the table.
    let mut table = String::new();
    for (spec, bias_max) in [
        ("winnow(k=3,w=4)", 0.010),
        ("winnow(k=5,w=4)", 0.010),
        ("winnow(k=3,w=10)", 0.016),
        ("winnow(k=5,w=10)", 0.016),
        ("winnow(k=10,w=10)", 0.016),
        ("winnow(k=5,w=20)", 0.025),
        ("winnow(k=5,w=50)", 0.040),
        ("mod(k=5,p=6)", 0.016),
    ] {
        let (mut sum, mut sum_before, mut count) = (0.0, 0.0, 0.0);
        for (seed, passage) in (1u64..).zip([15.0, 40.0, 100.0]) {
            for edit in [1.0, 4.0, 20.0] {
                let mut random = Random(mix64(seed) ^ mix64(edit as u64));
                let texts = revisions(&mut random, passage, edit, 30_000);
                let (truth, found, estimate) = measured(spec, &texts);
                let (said, error) = (estimate.resemblance, estimate.standard_error.unwrap());
                table += &format!(
                    "{spec}, {passage}, {edit}: {truth:.3} {found:.3} {said:.3} +- {error:.3}\n"
                );
                let off = estimate.resemblance - truth;
                assert!(off.abs() < bias_max, "{off:+.4}\n{table}");

                sum += off;
                sum_before += found - truth;
                count += 1.0;
            }
        }
        assert!((sum / count).abs() < bias_max / 2.0, "{:+.4}\n{table}", sum / count);
        // Without positions, every estimate is too low, except for `mod`.
        assert!(spec.starts_with("mod") || sum_before < 2.0 * -sum.abs(), "{table}");
    }
}

proptest! {
    #[test]
    fn shared_places_alone_say_how_a_text_is_covered(
        fingerprints in prop::collection::vec((0u32..30, any::<bool>()), 0..60), rest in 0u32..20,
    ) {
        let estimator = Estimator::of_windows(5, 10, 30);
        let mut at = 0;
        let places: Vec<(u32, bool)> = fingerprints
            .iter()
            .map(|&(gap, shares)| {
                at += gap;
                (at, shares)
            })
            .collect();
        let tokens = at + 5 + rest;
        let shared: Vec<u32> =
            (0..).zip(&places).filter(|(_, place)| place.1).map(|(i, _)| i).collect();
        let of_shared = estimator.coverage_of_shared(
            tokens,
            places.len(),
            &shared,
            |place| fingerprints[place].0,
            || u64::from(at),
        );
        prop_assert_eq!(of_shared, estimator.coverage(tokens, places));
    }
}

#[test]
fn a_text_of_any_number_of_tokens_has_a_run() {
    // The signature of a client may claim 4294967295 tokens, and adding 1 overflowed.
    let estimator = Estimator::of_windows(5, 10, 30);
    for (tokens, runs) in [(0, 1.0), (4, 1.0), (5, 1.0), (6, 2.0), (u32::MAX, 4_294_967_291.0)] {
        assert_eq!(estimator.coverage(tokens, [(0, true)]).runs, runs, "{tokens}");
    }
}

/// Asserts that two in three estimates are off by less than their error, and nearly all by less
/// than twice their error.
#[track_caller]
fn assert_standard_errors(found: &[(f64, Similarity)]) {
    let within = |errors: f64| {
        let is_within = |(truth, estimate): &&(f64, Similarity)| {
            (estimate.resemblance - truth).abs() < errors * estimate.standard_error.unwrap()
        };
        found.iter().filter(is_within).count()
    };
    let (one, two, all) = (within(1.0), within(2.0), found.len());
    assert!(one * 100 > all * 60 && two * 100 > all * 92, "{one} and {two} of {all}");
}

#[test]
fn errors_are_standard_errors() {
    let mut random = Random(7);
    let mut found = Vec::new();
    for _ in 0..200 {
        let texts = revisions(&mut random, 40.0, 4.0, 2000);
        let (truth, _, estimate) = measured("winnow(k=5,w=10)", &texts);
        found.push((truth, estimate));
    }
    assert_standard_errors(&found);
}

#[test]
fn schemes_that_keep_everything_are_exact() {
    for spec in ["kgram(k=5)", "mod(k=5,p=1)", "winnow(k=5,w=1)"] {
        for seed in 0..10 {
            let texts = revisions(&mut Random(seed << 32), 10.0, 4.0, 300);
            let (truth, found, estimate) = measured(spec, &texts);
            assert_eq!((found, estimate.resemblance), (truth, truth));
            assert!(estimate.exact && estimate.standard_error == Some(0.0));
        }
    }
}

#[test]
fn errors_are_standard_errors_of_short_texts_beside_long_ones_too() {
    // The first text keeps every run. The second text has a few words more.
    let mut random = Random(11);
    let mut found = Vec::new();
    for _ in 0..400 {
        let tokens = 20 + (random.next() % 14) as usize;
        let mut texts = revisions(&mut random, 12.0, 2.0, tokens);
        texts[0].truncate(34);
        let more = 35usize.saturating_sub(texts[1].len()) + (random.next() % 12) as usize;
        texts[1].extend((0..more).map(|_| random.next()));
        let (truth, _, estimate) = measured("winnow(k=5,w=10)", &texts);
        assert!(!estimate.exact);
        found.push((truth, estimate));
    }
    assert_standard_errors(&found);
}

#[test]
fn counts_alone_estimate_with_a_larger_error() {
    let mut random = Random(13);
    let (mut two, mut all) = (0, 0);
    for round in 0..300u64 {
        let tokens = if round.is_multiple_of(3) { 40 } else { 600 };
        let texts = revisions(&mut random, 25.0, 4.0, tokens);
        let scheme = scheme::parse("winnow(k=5,w=10)").unwrap();
        let estimator = scheme.estimator().unwrap();
        let [a, b] = texts.each_ref().map(|text| {
            let mut signature = Vec::new();
            scheme.sign(text, &mut signature, Stop::NEVER).unwrap();
            distinct_keys(&signature)
        });
        let lens = texts.each_ref().map(|text| text.len() as u32);
        let estimate = estimator.of_counts(Overlap::of(&a, &b), lens[0], lens[1]);
        let (truth, _, closer) = measured("winnow(k=5,w=10)", &texts);
        let off = (estimate.resemblance - truth).abs();
        two += usize::from(off < 2.0 * estimate.standard_error.unwrap() + 1e-9);
        assert!(closer.exact == estimate.exact);
        all += 1;
    }
    assert!(two * 100 > all * 85, "{two} of {all}");
}

#[test]
fn schemes_without_an_estimator_say_so() {
    for spec in ["every(k=5,l=6)", "random(k=5,l=6)", "breaking(p=6)", "minhash(k=5,b=16,r=8)"] {
        assert_eq!(scheme::parse(spec).unwrap().estimator(), None, "{spec}");
    }
}

/// Two texts of few distinct tokens, so that runs repeat, and of any length.
fn texts() -> impl Strategy<Value = [Vec<u64>; 2]> {
    let text = || prop::collection::vec((0u64..6).prop_map(mix64), 0..80);
    let revised = text().prop_flat_map(move |a| (Just(a), text(), 0usize..80));
    revised.prop_map(|(a, b, at)| {
        let kept = at.min(a.len());
        let revised = a[..kept].iter().chain(&b).copied().collect();
        [a, revised]
    })
}

proptest! {
    #[test]
    fn estimates_are_shares_that_thresholds_of_fingerprints_bound(
        texts in texts(),
        spec in prop::sample::select(vec![
            "winnow(k=2,w=4)", "winnow(k=5,w=10)", "mod(k=2,p=3)", "kgram(k=2)",
        ]),
    ) {
        let (_, found, estimate) = measured(spec, &texts);
        let estimator = scheme::parse(spec).unwrap().estimator().unwrap();
        let Similarity { resemblance, containment_of_a, containment_of_b, .. } = estimate;
        for share in [resemblance, containment_of_a, containment_of_b] {
            prop_assert!((0.0..=1.0).contains(&share));
        }
        let error = estimate.standard_error.unwrap();
        prop_assert!(error >= 0.0 && error.is_finite());
        let all = texts.each_ref().map(|text| estimator.keeps_all(text.len() as u32));
        prop_assert_eq!(estimate.exact, all == [true, true]);
        prop_assert!(!estimate.exact || error == 0.0);
        if all == [false, false] {
            prop_assert!(resemblance <= estimator.greatest(found));
            prop_assert!(found >= estimator.least(resemblance));
            prop_assert_eq!(found == 0.0, estimator.greatest(found) == 0.0);
        }
        let [a, b] = &texts;
        let swapped = measured(spec, &[b.clone(), a.clone()]).2;
        prop_assert_eq!(swapped, estimate.swapped());
        let same = measured(spec, &[a.clone(), a.clone()]).2;
        prop_assert_eq!(same.resemblance, if a.is_empty() { 0.0 } else { 1.0 });
    }

    #[test]
    fn the_bound_grows_and_has_an_inverse(
        a in 0.0f64..=1.0, b in 0.0f64..=1.0, w in 1u32..=512,
    ) {
        for estimator in [Estimator::of_windows(5, w, 3 * w), Estimator::of_values(5, w)] {
            prop_assert!((0.5..1.0).contains(&estimator.edge()));
            let (less, more) = (a.min(b), a.max(b));
            prop_assert!(estimator.greatest(less) <= estimator.greatest(more));
            prop_assert!(estimator.least(less) <= estimator.least(more));
            prop_assert!(estimator.least(a) <= a && a <= estimator.greatest(a) + 1e-15);
            prop_assert!((estimator.greatest(estimator.least(a)) - a).abs() < 1e-9);
            prop_assert!((estimator.least(estimator.greatest(a)) - a).abs() < 1e-9);
            for end in [0.0, 1.0] {
                prop_assert_eq!(estimator.greatest(end), end);
                prop_assert!((estimator.least(end) - end).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn a_larger_overlap_gives_a_larger_estimate(
        shared in prop::collection::vec(any::<bool>(), 1..40), at in 0usize..40, w in 2u32..60,
    ) {
        let estimator = Estimator::of_windows(5, w, 3 * w);
        let covered = |shared: &[bool]| {
            let places = (0u32..).step_by(3).zip(shared.iter().copied());
            let coverage = estimator.coverage(3 * shared.len() as u32 + 10, places);
            coverage.inside + estimator.edge * coverage.between
        };
        let mut more = shared.clone();
        let at = at % shared.len();
        more[at] = true;
        prop_assert!(covered(&shared) <= covered(&more) + 1e-9);
    }
}
