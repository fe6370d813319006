//! What holds for every scheme, whatever it selects.

use super::*;
use crate::text::paragraph_break;
use frequency::testing;

/// All families as they are by default, so that none can be forgotten, and some with parameters at
/// which few tokens make several fingerprints.
fn all() -> Vec<String> {
    let defaults = GRAMMAR.families.iter().map(Family::to_string);
    defaults.chain(SMALL.map(str::to_owned)).collect()
}

/// The schemes by segment or place, for short documents.
const SMALL: [&str; 22] = [
    "kgram(k=3)",
    "mod(k=3,p=3)",
    "winnow(k=3,w=4)",
    "fbw(q=2,w=4)",
    "rare(k=2)",
    "spex(k=1)",
    "imatch(min=1,ppm=50000)",
    "keywords(min=1,ppm=50000)",
    "every(k=3,l=3)",
    "random(k=3,l=3)",
    "extremum(k=3,h=2)",
    "anchor(k=3,p=3)",
    "infrequent(k=3)",
    "breaking(p=3)",
    "breaking(p=3,revised=0)",
    "dct(p=3)",
    "se(c=3)",
    "se(c=3,variance=0)",
    "syntax(min=3)",
    "minhash(k=3)",
    "supershingle(k=3)",
    "megashingle(k=3)",
];

#[test]
fn the_small_parameters_make_several_fingerprints() {
    // Or the laws above would be about signatures of one.
    let hashes: Vec<u64> = (0..200).map(|i| mix64(mix64(i) % 90)).collect();
    for spec in SMALL.into_iter().filter(|spec| !["keywords", "syntax"].contains(&name(spec))) {
        assert!(sign(spec, &hashes).len() > 3, "{spec}");
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
        // The copy is another value in memory, stands elsewhere in its text, and is signed by
        // another scheme on another thread, after another document.
        let copied: Vec<Vec<Fingerprint>> = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let span = |i: u32| Span { start: 7 * i, end: 7 * i + 5 };
                let mut copy = Tokens::default();
                copy.hashes.extend(&a);
                copy.spans.extend((0..a.len() as u32).map(span));
                let sign = |spec: &String| {
                    let scheme = scheme(spec);
                    sign_tokens(&*scheme, &tokens_of(b.clone()));
                    sign_tokens(&*scheme, &copy)
                };
                all.iter().map(sign).collect()
            });
            thread.join().unwrap()
        });
        for (spec, copied) in all.iter().zip(copied) {
            let original = sign(spec, &a);
            prop_assert!(!original.is_empty(), "{}", spec);
            prop_assert_eq!(&original, &copied, "{}", spec);
            // Codes of few bits, and places of so short a document, may agree by chance.
            let is_coarse = ["dct", "simhash", "lsh", "fuzzy"].contains(&name(spec));
            if are_strangers && !is_coarse {
                prop_assert!(keys(&original).is_disjoint(&keys(&sign(spec, &b))), "{}", spec);
            }
        }
    }

    #[test]
    fn signatures_of_any_tokens_are_sound(hashes in hashes(0..120), breaks in any::<u64>()) {
        // `sign` looks at them. With paragraph breaks, for `syntax`.
        let is_break = |i: usize| breaks >> (i % 64) & 15 == 0;
        let hashes: Vec<u64> = hashes.into_iter().enumerate()
            .map(|(i, hash)| if is_break(i) { paragraph_break() } else { hash }).collect();
        for spec in all() {
            prop_assert_eq!(sign(&spec, &hashes).is_empty(), hashes.is_empty(), "{}", spec);
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

/// What a signature is, in one number.
fn digest(signature: &[Fingerprint]) -> u64 {
    let add = |sum: u64, f: &Fingerprint| mix64(sum ^ f.key) ^ u64::from(f.position);
    signature.iter().fold(0, add)
}

#[test]
fn keys_of_every_scheme_never_change() {
    // As above. The frequencies are those of two sentences, so that some runs are known.
    let text = "It is a truth universally acknowledged, that a single man in possession of a good \
                fortune, must be in want of a wife.";
    let other = "However little known the feelings or views of such a man may be on his first \
                 entering a neighbourhood, this truth is so well fixed in the minds of the \
                 surrounding families, that he is considered as the rightful property of some one \
                 or other of their daughters. A single man in possession of a good fortune!";
    let program = "int add(int a, int b) {\n  return a + b;\n}\n\
                   int loop(int n) {\n  int s = 0;\n  while (n-- > 0) s += n * n;\n  return s;\n}\n";
    let pins: &[(&str, &str, u64)] = &[
        ("every", "words", 7275197307572920287),
        ("random", "words", 827601387339841726),
        ("extremum", "words", 1857073579753043139),
        ("anchor", "words", 6328823692697375295),
        ("infrequent", "words", 9617072565425126944),
        ("breaking", "words", 12913947554231010893),
        ("dct", "words", 12723761042333237180),
        ("se", "words", 2994561618750700487),
        ("spotsigs", "words", 14127132765144050559),
        ("minhash", "words", 17072807482242377637),
        ("megashingle", "words", 3393743742269838500),
        ("simhash", "words", 411890099533233969),
        ("lsh", "words", 557434627000960003),
        ("kgram", "words", 1878468975791577025),
        ("mod", "words", 11760955678119557914),
        ("winnow", "words", 17277557228391832725),
        ("supershingle", "words", 3894801925132434354),
        ("fbw(q=2,w=4)", "words", 13111225918276004778),
        ("rare(k=2)", "words", 12944545074934687255),
        ("spex(k=2)", "words", 374401932380666282),
        ("imatch", "words", 17323700433483141484),
        ("imatch(min=1,ppm=50000)", "words", 8277105190860421120),
        ("keywords", "words", 3580146687545192618),
        ("keywords(min=1,ppm=50000,t=1)", "words", 1604320277456730629),
        ("fuzzy", "words", 8483388599311222461),
        ("breaking(revised=0)", "words", 9286389203141866209),
        ("se(variance=0)", "words", 2994561618750700487),
        ("spotsigs(c=1,d=2)", "words", 11573614951948710074),
        ("fbw(q=4,w=10)", "chars", 10900617072527885578),
        ("fbw(q=9,w=10)", "chars", 6105564080698840981),
        ("rare(k=4,f=2)", "chars", 583964147300452261),
        ("fuzzy", "prefixes", 7369845210914142180),
        ("syntax(min=3)", "code(language=c)", 15530761461153668865),
    ];
    let sign = |spec: &str, analyzer: &str| {
        let text = if analyzer.starts_with("code") { program } else { text };
        let grams = counted_grams(&Spec::parse(spec, &GRAMMAR).unwrap());
        let texts = [text, other, other].map(str::to_owned);
        let table = grams.map(|q| testing::table(analyzer, q, &texts));
        let scheme = parse_with(spec, table.as_ref()).unwrap();
        sign_tokens(&*scheme, &testing::tokens(analyzer, text))
    };
    for &(spec, analyzer, expected) in pins {
        let signature = sign(spec, analyzer);
        let digest = digest(&signature);
        assert_eq!(digest, expected, "{spec} over {analyzer}: {digest} of {}", signature.len());
    }
    for family in GRAMMAR.families {
        assert!(pins.iter().any(|(spec, ..)| name(spec) == family.name), "{family} is not pinned");
    }
}
