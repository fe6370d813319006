//! Laws that hold for every scheme, whatever it selects.

use super::*;
use crate::text::paragraph_break;
use frequency::testing;

/// Returns every family with its defaults, so that no family can be forgotten, and with parameters
/// for several fingerprints of a few tokens.
fn all() -> Vec<String> {
    let specs = families().iter().flat_map(|family| {
        let small = family.laws.small.iter().map(|spec| (*spec).to_owned());
        small.chain([family.name.to_owned()])
    });
    specs.collect()
}

#[test]
fn every_family_describes_itself() {
    let mut names = HashSet::new();
    for family in families() {
        let name = family.name;
        assert!(names.insert(name), "{name} is there twice");
        for text in [family.summary, family.density, family.source, family.example] {
            assert!(!text.is_empty() && !text.contains('\n'), "{name}: {text}");
        }
        let (example, of) = GRAMMAR.parse(family.example).unwrap();
        assert_eq!((of.name, example.to_string()), (name, family.example.to_owned()));
        for parameter in family.parameters {
            let bounds = parameter.min..=parameter.max;
            assert!(bounds.contains(&parameter.default) && !parameter.meaning.is_empty(), "{name}");
        }
        for spec in family.laws.small.iter().chain(family.laws.pins.iter().map(|(spec, ..)| spec)) {
            assert_eq!(GRAMMAR.parse(spec).unwrap().1.name, name);
        }
    }
}

#[test]
fn the_table_of_the_documentation_is_that_of_the_families() {
    let text = include_str!("../mod.rs");
    let rows = text.lines().filter(|line| line.starts_with("//! | `"));
    let expected = families().iter().map(|family| {
        let Family { example, summary, density, .. } = family;
        format!("//! | `{example}` | {summary} | {density} |")
    });
    assert_eq!(rows.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn the_small_parameters_make_several_fingerprints() {
    // Otherwise the laws would be tested with signatures of a single fingerprint.
    let hashes: Vec<u64> = (0..200).map(|i| mix64(mix64(i) % 90)).collect();
    for family in families() {
        for spec in family.laws.small {
            let count = sign(spec, &hashes).len();
            assert_eq!(count > 3, !family.laws.has_one, "{spec}: {count}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_copy_has_the_same_signature_and_another_text_another(
        a in hashes(40..60), b in hashes(40..60),
    ) {
        let texts = [&a, &b].map(|hashes| hashes.iter().collect::<HashSet<_>>());
        let are_strangers = texts[0].is_disjoint(&texts[1]);
        let all = all();
        // The copy is a different value in memory, at a different place in its text. A second
        // instance of the scheme signs the copy, on a second thread, after a different document.
        let copied: Vec<Vec<Fingerprint>> = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let span = |i: u32| Span { start: 7 * i, end: 7 * i + 5 };
                let mut copy = Tokens::default();
                copy.hashes.extend(&a);
                copy.spans.extend((0..a.len() as u32).map(span));
                let sign = |spec: &String| {
                    let scheme = scheme(spec);
                    sign_tokens(&scheme, &tokens_of(b.clone()));
                    sign_tokens(&scheme, &copy)
                };
                all.iter().map(sign).collect()
            });
            thread.join().unwrap()
        });
        for (spec, copied) in all.iter().zip(copied) {
            let original = sign(spec, &a);
            prop_assert!(!original.is_empty(), "{}", spec);
            prop_assert_eq!(&original, &copied, "{}", spec);
            // Codes of few bits, and positions in so short a document, may agree by chance.
            let is_coarse = GRAMMAR.parse(spec).unwrap().1.laws.is_coarse;
            if are_strangers && !is_coarse {
                prop_assert!(keys(&original).is_disjoint(&keys(&sign(spec, &b))), "{}", spec);
            }
        }
    }

    #[test]
    fn signatures_of_any_tokens_are_sound(hashes in hashes(0..120), breaks in any::<u64>()) {
        // `sign` checks the signature. Paragraph breaks are for `syntax`.
        let is_break = |i: usize| breaks >> (i % 64) & 15 == 0;
        let hashes: Vec<u64> = hashes.into_iter().enumerate()
            .map(|(i, hash)| if is_break(i) { paragraph_break() } else { hash }).collect();
        for spec in all() {
            prop_assert_eq!(sign(&spec, &hashes).is_empty(), hashes.is_empty(), "{}", spec);
        }
    }
}

/// Returns specifications with these values of parameters, within bounds, for every family whose
/// schemes take a document part by part.
fn in_parts(values: &[u32]) -> Vec<String> {
    static FAMILIES: LazyLock<Vec<&'static Family>> = LazyLock::new(|| {
        let is_in_parts = |family: &&Family| scheme(family.name).signer().is_some();
        families().iter().copied().filter(is_in_parts).collect()
    });
    let written = |family: &&Family| {
        let parameters = family.parameters.iter().zip(values).map(|(parameter, &value)| {
            let value = value.clamp(parameter.min, parameter.max);
            format!("{}={}", parameter.name, parameter.written(value))
        });
        format!("{}({})", family.name, parameters.collect::<Vec<_>>().join(","))
    };
    FAMILIES.iter().map(written).collect()
}

proptest! {
    #[test]
    fn a_document_that_comes_in_parts_is_signed_as_a_whole(
        hashes in length().prop_flat_map(hashes),
        values in prop::collection::vec(prop_oneof![4 => 1..20u32, 1 => Just(u32::MAX)], 4),
        parts in prop::collection::vec(0..1500usize, 0..8),
    ) {
        let specs = in_parts(&values);
        prop_assert!(specs.len() >= 3, "{:?}", specs);
        for spec in &specs {
            let scheme = scheme(spec);
            let (mut signer, mut signature) = (scheme.signer().unwrap(), Vec::new());
            let mut rest = &hashes[..];
            for part in &parts {
                let (part, after) = rest.split_at(rest.len().min(*part));
                signer.push(part, &mut signature);
                rest = after;
            }
            signer.push(rest, &mut signature);
            signer.finish(&mut signature);
            prop_assert_eq!(signature, sign(spec, &hashes), "{}", spec);
        }
    }
}

#[test]
fn only_a_document_without_tokens_has_no_fingerprint() {
    for spec in &all() {
        assert_eq!(sign(spec, &[]), [], "{spec}");
        for length in 1..30 {
            assert!(!sign(spec, &distinct_hashes(length, length)).is_empty(), "{spec}");
        }
    }
}

fn digest(signature: &[Fingerprint]) -> u64 {
    let add = |sum: u64, f: &Fingerprint| mix64(sum ^ f.key) ^ u64::from(f.position);
    signature.iter().fold(0, add)
}

#[test]
fn keys_of_every_scheme_never_change() {
    // As above. The frequencies come from two sentences, so that some runs are known.
    let text = "It is a truth universally acknowledged, that a single man in possession of a good \
                fortune, must be in want of a wife.";
    let other = "However little known the feelings or views of such a man may be on his first \
                 entering a neighborhood, this truth is so well fixed in the minds of the \
                 surrounding families, that he is considered as the rightful property of some one \
                 or other of their daughters. A single man in possession of a good fortune!";
    let program = "int add(int a, int b) {\n  return a + b;\n}\n\
                   int loop(int n) {\n  int s = 0;\n  while (n-- > 0) s += n * n;\n  return s;\n}\n";
    let sign = |spec: &str, analyzer: &str| {
        let text = if analyzer.starts_with("code") { program } else { text };
        let texts = [text, other, other].map(str::to_owned);
        let table = run_tokens(spec).map(|q| testing::table(analyzer, q, &texts));
        let scheme = parse_with(spec, table.as_ref()).unwrap();
        sign_tokens(&scheme, &testing::tokens(analyzer, text))
    };
    // Reports all changed schemes at once.
    let mut changed = String::new();
    for family in families() {
        if family.laws.pins.is_empty() {
            changed += &format!("{} is not pinned\n", family.name);
        }
        for &(spec, analyzer, expected) in family.laws.pins {
            let signature = sign(spec, analyzer);
            let (found, len) = (digest(&signature), signature.len());
            if found != expected {
                changed += &format!("{spec} over {analyzer}: {found} of {len}, not {expected}\n");
            }
        }
    }
    assert!(changed.is_empty(), "\n{changed}");
}

/// Checks that the fingerprints of a document cover the pieces that [`Extent`] states.
fn check_extents(spec: &str, hashes: &[u64]) {
    let scheme = scheme(spec);
    let Some(extent) = scheme.extent() else { return };
    let signature = sign_tokens(&scheme, &tokens_of(hashes.to_vec()));
    let tokens = hashes.len() as u32;
    if let [only] = &signature[..] {
        // The fingerprint may cover all tokens, because nothing else could be selected.
        assert!(only.position < tokens);
        return;
    }
    for (at, fingerprint) in signature.iter().enumerate() {
        let (start, key) = (fingerprint.position, fingerprint.key);
        let end = extent.end(&signature, at, tokens);
        assert!(start < end && end <= tokens, "{spec}: {start}..{end} of {tokens}");
        let has = |hashes: &[u64], position: u32| {
            let signature = sign_tokens(&scheme, &tokens_of(hashes.to_vec()));
            signature.iter().find(|found| found.position == position).map(|found| found.key)
        };
        if let Extent::Exactly(_) | Extent::Segment = extent {
            // Tokens behind the piece do not affect its key.
            let mut other = hashes.to_vec();
            for (i, hash) in other[end as usize..].iter_mut().enumerate() {
                *hash = mix64(*hash ^ i as u64 ^ 0xdead);
            }
            let found = has(&other, start);
            assert!(found.is_none_or(|found| found == key), "{spec} at {start}: past {end}");
        }
        if let Extent::Exactly(_) | Extent::AtLeast(_) = extent {
            // Every token of the piece affects its key.
            let cut = has(&hashes[..end as usize - 1], start);
            assert_ne!(cut, Some(key), "{spec} at {start}: less than to {end}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_fingerprint_covers_the_piece_that_its_scheme_defines(
        hashes in hashes(0..70), small in prop::collection::vec(0..100u8, 70), breaks: u64,
    ) {
        // With paragraph breaks, and small words.
        let the = crate::hash::hash_bytes(b"the");
        let token = |(i, hash): (usize, u64)| match small[i] {
            _ if breaks >> (i % 64) & 7 == 0 => paragraph_break(),
            0..30 => the,
            _ => hash,
        };
        let hashes: Vec<u64> = hashes.into_iter().enumerate().map(token).collect();
        for spec in all() {
            check_extents(&spec, &hashes);
        }
    }
}

#[test]
fn segments_longer_than_the_mean_and_spots_over_small_words_are_no_shorter_than_they_are() {
    // Five schemes reported the mean length of a piece, or a length without its small words.
    let words = distinct_hashes(400, 9);
    let the = crate::hash::hash_bytes(b"the");
    let longest = |spec: &str, hashes: &[u64]| {
        let signature = sign(spec, hashes);
        let extent = scheme(spec).extent().unwrap();
        let len =
            |at: usize| extent.end(&signature, at, hashes.len() as u32) - signature[at].position;
        (0..signature.len()).map(len).max().unwrap()
    };
    for spec in ["breaking(p=6)", "dct(p=6)", "se(c=6,variance=0)"] {
        assert!(longest(spec, &words) > 6, "{spec}");
    }
    let program = [&words[..30], &[paragraph_break()], &words[30..45]].concat();
    assert!(longest("syntax(min=10)", &program) >= 30);
    assert_eq!(scheme("spotsigs(c=2,d=1)").span(), None);
    let spot = [the, the, words[0], words[1], words[2]];
    assert_eq!(
        sign("spotsigs(c=2,d=1)", &spot)[0].key,
        sign("spotsigs(c=2,d=1)", &spot[..4])[0].key
    );
    assert_eq!(scheme("spotsigs(c=2,d=1)").extent(), Some(Extent::AtLeast(3)));
    for spec in ["winnow(k=7)", "spex(k=7)", "fbw(q=7)", "every(k=7)"] {
        assert_eq!(scheme(spec).span(), Some(7), "{spec}");
    }
}
