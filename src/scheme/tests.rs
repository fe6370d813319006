//! The schemes against their definitions, written down naively once more.

use super::*;
use crate::Error;
use crate::hash::mix64;
use crate::text::Span;
use crate::text::analyzer::Analyzer;
use proptest::prelude::*;
use std::collections::HashSet;

fn tokens_of(hashes: Vec<u64>) -> Tokens {
    let spans = vec![Span { start: 0, end: 0 }; hashes.len()];
    Tokens { hashes, spans }
}

fn sign(spec: &str, hashes: &[u64]) -> Vec<Fingerprint> {
    // A signature that is not empty must be replaced.
    let stale = Fingerprint { key: 1, position: 2 };
    let mut signature = vec![stale];
    let scheme = parse(spec).unwrap();
    scheme.sign(&tokens_of(hashes.to_vec()), &mut signature);
    let limit = 1 << scheme.key_bits();
    assert!(signature.iter().all(|fingerprint| fingerprint.key < limit));
    assert!(signature.is_sorted_by(|a, b| a.position < b.position));
    signature
}

fn keys(signature: &[Fingerprint]) -> HashSet<u64> {
    signature.iter().map(|fingerprint| fingerprint.key).collect()
}

/// The value of one k-gram, from its definition: a sum of powers.
fn naive_value(gram: &[u64]) -> u64 {
    let base = 0x9e37_79b9_7f4a_7c15u64;
    let powers = gram.iter().rev().enumerate();
    let terms = powers.map(|(power, hash)| hash.wrapping_mul(base.wrapping_pow(power as u32)));
    mix64(terms.fold(0, u64::wrapping_add))
}

fn naive_key(value: u64) -> u64 {
    let step = |value: u64, factor: u64| (value ^ (value >> 33)).wrapping_mul(factor);
    let value = step(step(value, 0xff51_afd7_ed55_8ccd), 0xc4ce_b9fe_1a85_ec53);
    (value ^ (value >> 33)) >> 24
}

fn rightmost_least(values: &[u64], range: std::ops::Range<usize>) -> usize {
    let least = range.clone().map(|i| values[i]).min().unwrap();
    range.rev().find(|&i| values[i] == least).unwrap()
}

/// The signature by definition: `select` chooses positions among the values, at least one.
fn naive(hashes: &[u64], k: usize, select: impl Fn(&[u64]) -> Vec<usize>) -> Vec<Fingerprint> {
    let values: Vec<u64> = hashes.windows(k).map(naive_value).collect();
    if values.is_empty() {
        return Vec::new();
    }
    let mut positions = select(&values);
    if positions.is_empty() {
        positions.push(rightmost_least(&values, 0..values.len()));
    }
    let fingerprint =
        |position| Fingerprint { key: naive_key(values[position]), position: position as u32 };
    positions.into_iter().map(fingerprint).collect()
}

fn winnowed(values: &[u64], w: usize) -> Vec<usize> {
    let starts = 0..(values.len() + 1).saturating_sub(w);
    let mut positions: Vec<usize> = starts.map(|i| rightmost_least(values, i..i + w)).collect();
    positions.dedup();
    positions
}

/// Token hashes: of few distinct tokens, so that values repeat, or of many.
fn hashes(length: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Vec<u64>> {
    let distinct = prop::sample::select(vec![1u64, 2, 3, 50, u64::MAX]);
    (distinct, prop::collection::vec(any::<u64>(), length)).prop_map(|(distinct, numbers)| {
        let token = |number| mix64(number % distinct);
        numbers.into_iter().map(token).collect()
    })
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..80usize, 1 => 1000..3500usize]
}

proptest! {
    #[test]
    fn schemes_select_what_they_say(
        hashes in length().prop_flat_map(hashes),
        k in 1..12usize,
        p in 1..9u64,
        w in prop_oneof![1..20usize, Just(512usize)],
    ) {
        prop_assume!(hashes.len() >= k);
        let all = |values: &[u64]| (0..values.len()).collect();
        prop_assert_eq!(sign(&format!("kgram(k={k})"), &hashes), naive(&hashes, k, all));
        let multiples = |values: &[u64]| (0..values.len()).filter(|&i| values[i].is_multiple_of(p)).collect();
        prop_assert_eq!(sign(&format!("mod(k={k},p={p})"), &hashes), naive(&hashes, k, multiples));
        let least = |values: &[u64]| winnowed(values, w);
        prop_assert_eq!(sign(&format!("winnow(k={k},w={w})"), &hashes), naive(&hashes, k, least));
    }

    #[test]
    fn winnowing_finds_every_shared_run(
        k in 1..8usize,
        w in 1..15usize,
        run in hashes(21),
        a in (hashes(0..2000), hashes(0..30)),
        b in (hashes(0..30), hashes(0..2000)),
    ) {
        let run = &run[..w + k - 1];
        let spec = format!("winnow(k={k},w={w})");
        let a = sign(&spec, &[&a.0, run, &a.1].concat());
        let b = sign(&spec, &[&b.0, run, &b.1].concat());
        prop_assert!(!keys(&a).is_disjoint(&keys(&b)));
    }
}

/// `count` different tokens.
fn distinct_hashes(count: u64, seed: u64) -> Vec<u64> {
    (0..count).map(|i| mix64(seed << 32 | i)).collect()
}

#[test]
fn winnowing_keeps_two_in_w_plus_one() {
    let hashes = distinct_hashes(200_000, 1);
    for w in [1, 2, 5, 10, 20, 50, 100] {
        let expected = 2.0 / (f64::from(w) + 1.0);
        let density = sign(&format!("winnow(w={w})"), &hashes).len() as f64 / 200_000.0;
        assert!((density / expected - 1.0).abs() < 0.02, "w={w}: {density}, not {expected}");
    }
}

#[test]
fn modulo_keeps_one_in_p() {
    let hashes = distinct_hashes(200_000, 2);
    for p in [1, 2, 3, 6, 10, 64] {
        let expected = 200_000.0 / f64::from(p);
        let kept = sign(&format!("mod(p={p})"), &hashes).len() as f64;
        assert!((kept / expected - 1.0).abs() < 0.05, "p={p}: {kept}, not {expected}");
    }
}

#[test]
fn selected_keys_are_spread_evenly() {
    // Values of window minima crowd the low end; keys must not.
    for spec in ["winnow(w=50)", "mod(p=64)"] {
        let signature = sign(spec, &distinct_hashes(400_000, 3));
        let mut sixteenths = [0; 16];
        for fingerprint in &signature {
            sixteenths[(fingerprint.key >> 36) as usize] += 1;
        }
        let expected = signature.len() as f64 / 16.0;
        for count in sixteenths {
            assert!((f64::from(count) / expected - 1.0).abs() < 0.2, "{spec}: {sixteenths:?}");
        }
    }
}

#[test]
fn short_documents_are_signed_and_differ() {
    for spec in ["kgram", "mod(p=1000000)", "winnow", "winnow(w=512)", "kgram(k=64)"] {
        assert_eq!(sign(spec, &[]), [], "{spec}");
        let mut seen = HashSet::new();
        for length in 1..30 {
            for seed in 0..20 {
                let signature = sign(spec, &distinct_hashes(length, length * 20 + seed));
                assert!(!signature.is_empty(), "{spec}");
                if length < 5 || spec.contains("k=64") {
                    assert_eq!(signature.len(), 1, "{spec}");
                }
                assert!(seen.insert(signature), "{spec}: {length} tokens");
            }
        }
    }
}

#[test]
fn a_short_document_is_not_the_beginning_of_another() {
    // A token of hash 0 adds nothing to a sum; the number of tokens must.
    let documents: [&[u64]; 4] = [&[7], &[0, 7], &[0, 0, 7], &[0, 0, 0, 7]];
    let keys = documents.map(|document| sign("winnow", document)[0].key);
    assert_eq!(HashSet::from(keys).len(), 4);
}

#[test]
fn the_order_of_tokens_matters() {
    let mut hashes = distinct_hashes(5, 4);
    let forward = sign("kgram", &hashes);
    hashes.reverse();
    assert_ne!(forward, sign("kgram", &hashes));
}

#[test]
fn specifications_print_canonically() {
    let check = |spec, canonical| assert_eq!(parse(spec).unwrap().to_string(), canonical);
    check(DEFAULT_SPEC, DEFAULT_SPEC);
    check("winnow", DEFAULT_SPEC);
    check("winnow( w=4 )", "winnow(k=5,w=4)");
    check("kgram", "kgram(k=5)");
    check("mod(p=3,k=1)", "mod(k=1,p=3)");
}

#[test]
fn impossible_specifications_are_errors() {
    for spec in [
        "",
        "minhash",
        "winnow(k=0)",
        "winnow(w=0)",
        "winnow(w=513)",
        "mod(p=0)",
        "kgram(p=1)",
        "kgram(k=65)",
    ] {
        assert!(matches!(parse(spec), Err(Error::Spec { .. })), "{spec}");
    }
}

#[test]
fn keys_of_a_text_never_change() {
    // An index written yesterday must be found by the cento of tomorrow. If this fails, the hash,
    // the analyser or the scheme has changed: undo it, or raise HASH_VERSION.
    let text = "It is a truth universally acknowledged, that a single man in possession of a good \
                fortune, must be in want of a wife.";
    let mut tokens = Tokens::default();
    Analyzer::default().analyze(text, &mut tokens).unwrap();
    let check = |spec, expected: &[(u64, u32)]| {
        let signature = sign(spec, &tokens.hashes);
        let pairs: Vec<_> = signature.iter().map(|f| (f.key, f.position)).collect();
        assert_eq!(pairs, expected, "{spec}");
    };
    check(DEFAULT_SPEC, &[(836_674_790_954, 8), (152_415_897_522, 15)]);
    check("kgram(k=22)", &[(661_835_270_040, 0), (996_664_559_769, 1)]);
    check(
        "mod(k=1,p=6)",
        &[
            (1_059_509_132_119, 1),
            (737_529_802_212, 2),
            (402_134_352_259, 3),
            (135_381_824_366, 5),
            (737_529_802_212, 7),
            (737_529_802_212, 13),
            (900_683_192_909, 17),
            (737_529_802_212, 21),
            (81_189_157_963, 22),
        ],
    );
    check("kgram(k=30)", &[(872_332_218_152, 0)]);
}
