//! Compares the schemes with naive implementations of their definitions.

mod laws;

use super::*;
use crate::Error;
use crate::hash::mix64;
use crate::text::analyzer::Analyzer;
use crate::text::{Span, Tokens};
use frequency::FrequencyCounter;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex};

fn tokens_of(hashes: Vec<u64>) -> Tokens {
    let spans = vec![Span { start: 0, end: 0 }; hashes.len()];
    Tokens { hashes, spans }
}

fn sign(spec: &str, hashes: &[u64]) -> Vec<Fingerprint> {
    sign_tokens(&scheme(spec), &tokens_of(hashes.to_vec()))
}

/// Signs a text, and checks what holds for every signature.
fn sign_tokens(scheme: &Scheme, tokens: &Tokens) -> Vec<Fingerprint> {
    // A signature that is not empty must be replaced.
    let mut signature = vec![Fingerprint { key: 1, position: 2 }];
    scheme.sign(&tokens.hashes, &mut signature, Stop::NEVER).unwrap();
    let limit = u64::MAX >> (64 - scheme.key_bits());
    assert!(signature.iter().all(|fingerprint| fingerprint.key <= limit), "{scheme}");
    let count = tokens.hashes.len() as u32;
    assert!(signature.iter().all(|fingerprint| fingerprint.position < count), "{scheme}");
    if scheme.extent().is_none() {
        assert!(signature.iter().all(|fingerprint| fingerprint.position == 0), "{scheme}");
    } else {
        // A token may come before the pair that begins with it.
        let is_pair_of = |a: &Fingerprint, b: &Fingerprint| {
            let is_of_token = |fingerprint: &Fingerprint| fingerprint.key & 1 == 1;
            scheme.family().name == "pairs"
                && a.position == b.position
                && is_of_token(a)
                && !is_of_token(b)
        };
        let is_after =
            |a: &Fingerprint, b: &Fingerprint| a.position < b.position || is_pair_of(a, b);
        assert!(signature.is_sorted_by(is_after), "{scheme}");
    }
    signature
}

/// The scheme, with the table of some collection if the scheme reads one.
fn scheme(spec: &str) -> Scheme {
    static TABLES: LazyLock<Mutex<HashMap<usize, Arc<FrequencyTable>>>> =
        LazyLock::new(Mutex::default);
    let table = run_tokens(spec).map(|q| {
        let mut tables = TABLES.lock().unwrap();
        tables.entry(q).or_insert_with(|| table_of(q)).clone()
    });
    parse_with(spec, table.as_ref()).unwrap()
}

/// For a scheme that reads a table, the number of tokens of the runs in the table.
fn run_tokens(spec: &str) -> Option<usize> {
    let (spec, family) = GRAMMAR.parse(spec).unwrap();
    family.table().map(|table| table.run_tokens(&spec))
}

/// The runs of `q` tokens of documents with fifty distinct tokens of [`hashes`]: some are frequent,
/// some occur once, most never.
fn table_of(q: usize) -> Arc<FrequencyTable> {
    let mut counter = FrequencyCounter::new(q, "words(nfkc=1,fold=1,cjk=2)");
    for document in 0..20u64 {
        let token = |i: u64| {
            let drawn = mix64(document << 32 | i);
            mix64((drawn % 50).min(drawn >> 32 & 63))
        };
        counter.add(&tokens_of((0..60).map(token).collect()), None).unwrap();
    }
    let mut bytes = Vec::new();
    counter.write(&mut bytes).unwrap();
    Arc::new(FrequencyTable::new("test", bytes).unwrap())
}

fn keys(signature: &[Fingerprint]) -> HashSet<u64> {
    signature.iter().map(|fingerprint| fingerprint.key).collect()
}

/// The value of a k-gram from its definition: a sum of powers.
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

/// The signature by definition. `select` chooses at least one position among the values.
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
    let mut positions: Vec<usize> = Vec::new();
    for start in 0..(values.len() + 1).saturating_sub(w) {
        let least = rightmost_least(values, start..start + w);
        let last = positions.last().filter(|last| **last >= start);
        if last.is_none_or(|last| values[*last] != values[least]) {
            positions.push(least);
        }
    }
    positions
}

/// Hashes of tokens, with few distinct tokens, so that values repeat, or many.
fn hashes(length: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Vec<u64>> {
    let distinct = prop::sample::select(vec![1u64, 2, 3, 50, u64::MAX]);
    (distinct, prop::collection::vec(any::<u64>(), length)).prop_map(|(distinct, numbers)| {
        // No token has the hash of a small number: a document shorter than a k-gram is signed with
        // the hash of its length, and would share a key with a k-gram of such tokens.
        let token = |number: u64| mix64((number % distinct).wrapping_add(1 << 32));
        numbers.into_iter().map(token).collect()
    })
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..80usize, 1 => 1000..3500usize]
}

proptest! {
    #[test]
    fn schemes_select_as_their_papers_define(
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
        // A short text keeps all k-grams.
        let least = |values: &[u64]| match values.len() <= 3 * w {
            true => (0..values.len()).collect(),
            false => winnowed(values, w),
        };
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

/// The segments of hash-breaking, by definition.
fn naive_segments(hashes: &[u64], p: u64) -> Vec<std::ops::Range<usize>> {
    let ends =
        |i: usize| mix64(hashes[i] ^ 0x0062_7265_616b).is_multiple_of(p) || i + 1 == hashes.len();
    let mut starts = vec![0];
    starts.extend((0..hashes.len()).filter(|&i| ends(i)).map(|i| i + 1));
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// The key of a segment, by definition.
fn naive_segment_key(segment: &[u64]) -> u64 {
    let base = 0x9e37_79b9_7f4a_7c15u64;
    let sum = segment.iter().fold(0u64, |sum, hash| sum.wrapping_mul(base).wrapping_add(*hash));
    naive_key(mix64(sum ^ mix64(segment.len() as u64)))
}

fn of_segments(hashes: &[u64], segments: &[std::ops::Range<usize>]) -> Vec<Fingerprint> {
    let fingerprint = |segment: &std::ops::Range<usize>| Fingerprint {
        key: naive_segment_key(&hashes[segment.clone()]),
        position: segment.start as u32,
    };
    segments.iter().map(fingerprint).collect()
}

/// Section 2.2 of Finkel et al., word for word.
fn naive_cull(segments: &[std::ops::Range<usize>], variance: bool) -> Vec<std::ops::Range<usize>> {
    let n = segments.len();
    let mut lengths: Vec<f64> = segments.iter().map(|segment| segment.len() as f64).collect();
    lengths.sort_by(f64::total_cmp);
    let median = (lengths[(n - 1) / 2] + lengths[n / 2]) / 2.0;
    let off = |segment: &std::ops::Range<usize>| (segment.len() as f64 - median).abs();
    let mut by_distance: Vec<_> = segments.to_vec();
    by_distance.sort_by(|a, b| off(a).total_cmp(&off(b)).then(a.start.cmp(&b.start)));
    let kept: Vec<_> = if variance {
        let mean = lengths.iter().sum::<f64>() / n as f64;
        let deviation =
            (lengths.iter().map(|len| (len - mean) * (len - mean)).sum::<f64>() / n as f64).sqrt();
        let within = |tenths: i32| {
            let bound = f64::from(tenths) / 10.0 * deviation;
            by_distance.iter().filter(|segment| off(segment) <= bound).cloned().collect::<Vec<_>>()
        };
        let enough = |kept: &Vec<_>| kept.len() as f64 >= (n as f64).sqrt();
        (1..).map(within).find(enough).unwrap()
    } else {
        by_distance[..(n as f64).sqrt().ceil() as usize].to_vec()
    };
    segments.iter().filter(|segment| kept.contains(segment)).cloned().collect()
}

proptest! {
    #[test]
    fn selections_by_place_are_as_defined(
        hashes in length().prop_flat_map(hashes), k in 1..8usize, n in 1..20usize, seed: u32,
    ) {
        prop_assume!(hashes.len() >= k);
        let check = |spec: String, select: &dyn Fn(&[u64], usize) -> bool| {
            let positions = |values: &[u64]| (0..values.len()).filter(|&i| select(values, i)).collect();
            assert_eq!(sign(&spec, &hashes), naive(&hashes, k, positions), "{spec}");
        };
        check(format!("every(k={k},l={n})"), &|_, i| i % n == 0);
        check(format!("random(k={k},l={n},seed={seed})"), &|_, i| {
            let start = i / n * n;
            let drawn = mix64(u64::from(seed) ^ mix64(start as u64)) as usize;
            i == start + (drawn as u64 as usize) % n
        });
        check(format!("extremum(k={k},h={n})"), &|values, i| {
            let near = i.saturating_sub(n)..values.len().min(i + n + 1);
            near.into_iter().all(|j| j == i || values[j] < values[i])
        });
        check(format!("anchor(k={k},p={n})"), &|_, i| {
            mix64(hashes[i] ^ 0x616e_6368_6f72).is_multiple_of(n as u64)
        });
        check(format!("infrequent(k={k},f={n})"), &|_, i| {
            hashes.iter().filter(|hash| **hash == hashes[i]).count() <= n
        });
    }

    #[test]
    fn segments_are_as_defined(hashes in length().prop_flat_map(hashes), p in 2..12usize) {
        prop_assume!(!hashes.is_empty());
        let segments = naive_segments(&hashes, p as u64);
        let longest = || segments.iter().max_by_key(|segment| segment.len()).unwrap().clone();
        prop_assert_eq!(
            sign(&format!("breaking(p={p},revised=0)"), &hashes),
            of_segments(&hashes, &segments)
        );
        let mut long: Vec<_> = segments.iter().filter(|s| s.len() >= p).cloned().collect();
        if long.is_empty() {
            long.push(longest());
        }
        let revised = sign(&format!("breaking(p={p})"), &hashes);
        prop_assert_eq!(&revised, &of_segments(&hashes, &long));
        let dct = sign(&format!("dct(p={p})"), &hashes);
        let positions = |signature: &[Fingerprint]| -> Vec<u32> {
            signature.iter().map(|fingerprint| fingerprint.position).collect()
        };
        prop_assert_eq!(positions(&dct), positions(&revised), "as many as hash-breaking");
        for variance in [false, true] {
            let spec = format!("se(c={p},variance={})", u8::from(variance));
            let kept = naive_cull(&segments, variance);
            prop_assert_eq!(sign(&spec, &hashes), of_segments(&hashes, &kept), "{}", spec);
        }
    }
}

#[test]
fn spots_are_antecedents_with_the_words_after_them() {
    let text = "The quick brown fox is in the big house. A";
    let mut tokens = Tokens::default();
    Analyzer::default().analyze(text, &mut tokens, Stop::NEVER).unwrap();
    let hash = |word: &str| crate::hash::hash_bytes(word.as_bytes());
    let spot = |words: &[&str]| {
        naive_segment_key(&words.iter().map(|word| hash(word)).collect::<Vec<_>>())
    };
    let expected = [
        (spot(&["the", "quick", "brown"]), 0),
        (spot(&["is", "in", "big"]), 4),
        (spot(&["the", "big", "house"]), 6),
    ];
    let found: Vec<_> =
        sign("spotsigs", &tokens.hashes).iter().map(|f| (f.key, f.position)).collect();
    assert_eq!(found, expected);
    let second = sign("spotsigs(c=1,d=2)", &tokens.hashes)[0].key;
    assert_eq!(second, spot(&["the", "brown"]));
}

#[test]
fn near_duplicates_share_sketches_and_strangers_do_not() {
    let original = distinct_hashes(1000, 1);
    let mut edited = original.clone();
    edited[500] = mix64(77);
    let stranger = distinct_hashes(1000, 2);
    for spec in ["minhash", "supershingle", "megashingle", "simhash", "lsh(r=4)"] {
        let [a, b, c] = [&original, &edited, &stranger].map(|hashes| keys(&sign(spec, hashes)));
        assert!(!a.is_disjoint(&b), "{spec}");
        assert!(a.is_disjoint(&c), "{spec}");
    }
}

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
fn winnowing_keeps_one_in_w_of_repeated_text() {
    // A line of dots had a fingerprint per token, sixteen times its size in memory.
    for period in [1, 2, 3, 7] {
        let hashes: Vec<u64> = (0..10_000).map(|i| mix64(i % period)).collect();
        let count = sign("winnow", &hashes).len();
        assert!(count <= 10_000 / 7 + 1, "period {period}: {count}");
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
    // Values of window minimums crowd the low end, but keys must not.
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
    let long = ["kgram", "mod(p=1000000)", "winnow", "winnow(w=512)", "kgram(k=64)"];
    for spec in long {
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
    // A token of hash 0 adds nothing to a sum, so the number of tokens must be hashed too.
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
        "shingle",
        "dct(p=1)",
        "minhash(b=0)",
        "simhash(d=5)",
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
    // Tomorrow's cento must find an index written yesterday. If this test fails, the hash, the
    // analyzer or the scheme has changed: undo the change, or raise HASH_VERSION.
    let text = "It is a truth universally acknowledged, that a single man in possession of a good \
                fortune, must be in want of a wife.";
    let mut tokens = Tokens::default();
    Analyzer::default().analyze(text, &mut tokens, Stop::NEVER).unwrap();
    let check = |spec, expected: &[(u64, u32)]| {
        let signature = sign(spec, &tokens.hashes);
        let pairs: Vec<_> = signature.iter().map(|f| (f.key, f.position)).collect();
        assert_eq!(pairs, expected, "{spec}");
    };
    // A short text keeps all of its runs. Windows of 10 would keep two.
    check(
        DEFAULT_SPEC,
        &[
            (60_673_031_598, 0),
            (827_537_509_898, 1),
            (409_805_606_468, 2),
            (403_621_879_417, 3),
            (860_513_557_912, 4),
            (593_383_749_727, 5),
            (555_573_668_147, 6),
            (692_553_484_886, 7),
            (836_674_790_954, 8),
            (27_947_061_794, 9),
            (244_892_468_566, 10),
            (541_488_283_862, 11),
            (7_770_223_221, 12),
            (73_603_604_050, 13),
            (242_477_543_040, 14),
            (152_415_897_522, 15),
            (631_725_421_557, 16),
            (682_046_420_471, 17),
            (157_152_883_739, 18),
        ],
    );
    check(
        "winnow(k=5,w=6)",
        &[(403_621_879_417, 3), (836_674_790_954, 8), (27_947_061_794, 9), (152_415_897_522, 15)],
    );
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

#[test]
fn signing_ends_at_the_look_at_which_nobody_waits_any_more() {
    use crate::runtime::stop::testing::After;
    let different: Vec<u64> = (0..20_000).map(mix64).collect();
    // A text without a word that ends a segment.
    let one_segment = vec![1; 20_000];
    for (spec, hashes, looks_min) in [
        ("lsh", &different, 300),
        ("dct(p=4096)", &one_segment, 9),
        ("winnow", &different, 2),
        ("minhash", &different, 2),
    ] {
        let tokens = tokens_of(hashes.clone());
        let (scheme, mut signature) = (parse(spec).unwrap(), Vec::new());
        let flag = After::looks(u64::MAX);
        scheme.sign(&tokens.hashes, &mut signature, flag.stop()).unwrap();
        let looks = flag.count();
        assert!(looks >= looks_min, "{spec}: {looks} looks");
        for looks_max in [0, looks / 2, looks - 1] {
            let flag = After::looks(looks_max);
            let stopped = scheme.sign(&tokens.hashes, &mut signature, flag.stop());
            assert!(matches!(stopped, Err(Error::Cancelled)), "{spec}");
            assert_eq!(flag.count(), looks_max + 1, "{spec}");
        }
    }
}

#[test]
fn a_text_of_small_words_alone_is_signed_in_one_pass() {
    // The search for the next large word went through all following words, from every small word.
    let the = crate::hash::hash_bytes(b"the");
    assert_eq!(sign("spotsigs", &vec![the; 1 << 20]).len(), 1);
}
