//! Texts: tokens stand where they say, in order, whatever the text and the analyser; signatures
//! are of these tokens; bytes in any encoding become a text.

use std::sync::OnceLock;

use cento::hash::hash_bytes;
use cento::scheme::{self, Fingerprint, Scheme};
use cento::text::{Analyzer, Tokens};
use cento_source::charset;

use super::choice;

const ANALYZERS: [&str; 16] = [
    "words",
    "words(nfkc=0)",
    "words(fold=0,cjk=0)",
    "words(nfkc=0,fold=0,cjk=4)",
    "words(cjk=1)",
    "prefixes",
    "prefixes(n=3)",
    "chars",
    "consonants",
    "bytes",
    "avtor",
    "avtor(language=ru)",
    "avtor(language=en,markup=0)",
    "avtor(language=none,markup=0,homoglyphs=1,stop=0,filter=0,stem=0)",
    "avtor(stem=0,stop=0)",
    "avtor(language=de,homoglyphs=0)",
];

const SCHEMES: [&str; 24] = [
    "winnow",
    "winnow(k=1,w=1)",
    "winnow(k=2,w=512)",
    "kgram",
    "kgram(k=64)",
    "mod(k=3,p=2)",
    "every",
    "every(k=1,l=1)",
    "random(k=2,l=3)",
    "extremum",
    "extremum(k=1,h=512)",
    "anchor(k=2,p=2)",
    "infrequent",
    "breaking(p=2)",
    "breaking(p=3,revised=0)",
    "dct(p=2)",
    "se(c=2)",
    "se(c=3,variance=0)",
    "syntax(min=2)",
    "spotsigs",
    "minhash(k=2,b=3,r=2)",
    "simhash(k=1,d=4)",
    "lsh(b=2,r=2,w=3)",
    "megashingle(k=2)",
];

fn analyzers() -> &'static [Analyzer] {
    static PARSED: OnceLock<Vec<Analyzer>> = OnceLock::new();
    PARSED.get_or_init(|| {
        ANALYZERS.iter().map(|spec| spec.parse().expect("the specification is right")).collect()
    })
}

fn schemes() -> &'static [Scheme] {
    static PARSED: OnceLock<Vec<Scheme>> = OnceLock::new();
    PARSED.get_or_init(|| {
        let parse = |spec: &&str| scheme::parse(spec).expect("the specification is right");
        SCHEMES.iter().map(parse).collect()
    })
}

/// The text of an input.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The tokens that an analyser makes of a text, which must be the same whenever it is asked, and
/// stand in the text, on characters, in order.
pub fn analyzed(analyzer: &Analyzer, text: &str) -> Tokens {
    let (mut tokens, mut again) = (Tokens::default(), Tokens::default());
    again.hashes.push(1);
    analyzer.analyze(text, &mut tokens).expect("a short text can be analysed");
    analyzer.analyze(text, &mut again).expect("a short text can be analysed");
    assert_eq!(tokens, again, "{analyzer}");
    assert_eq!(tokens.hashes.len(), tokens.spans.len(), "{analyzer}");
    let (mut start, mut end) = (0, 0);
    for span in &tokens.spans {
        assert!(start <= span.start && end <= span.end, "{analyzer}: {span:?} is out of order");
        let written = text.get(span.start as usize..span.end as usize);
        // `bytes` cuts characters into bytes.
        let is_bytes = analyzer.to_string() == "bytes()";
        let is_there = is_bytes && span.start < span.end && span.end as usize <= text.len();
        assert!(written.is_some() || is_there, "{analyzer}: {span:?} is not in the text");
        (start, end) = (span.start, span.end);
    }
    tokens
}

/// A signature is of a text of so many tokens, and of its scheme.
pub fn assert_signed(scheme: &Scheme, tokens: u32, signature: &[Fingerprint]) {
    let bits = scheme.key_bits();
    assert_eq!(signature.is_empty(), tokens == 0, "{scheme}: {} of {tokens}", signature.len());
    assert!(signature.is_sorted_by_key(|f| f.position), "{scheme} is out of order");
    for fingerprint in signature {
        assert!(fingerprint.position < tokens, "{scheme}: {fingerprint:?} of {tokens} tokens");
        assert!(bits == 64 || fingerprint.key >> bits == 0, "{scheme}: {fingerprint:?}");
    }
}

/// A text, by an analyser and a scheme that its first two bytes choose.
pub fn tokens(data: &[u8]) {
    let (analyzer, rest) = choice(data);
    let (scheme, rest) = choice(rest);
    let analyzer = &analyzers()[analyzer % ANALYZERS.len()];
    let scheme = &schemes()[scheme % SCHEMES.len()];
    let text = text(rest);
    let tokens = analyzed(analyzer, &text);
    sign(scheme, &tokens);
}

/// Signs tokens, twice; in parts too, if the scheme can.
pub fn sign(scheme: &Scheme, tokens: &Tokens) {
    let (mut signature, mut again) = (Vec::new(), Vec::new());
    scheme.sign(&tokens.hashes, &mut signature);
    scheme.sign(&tokens.hashes, &mut again);
    assert_eq!(signature, again, "{scheme}");
    if let Some(mut signer) = scheme.signer() {
        again.clear();
        tokens.hashes.chunks(7).for_each(|part| signer.push(part, &mut again));
        signer.finish(&mut again);
        assert_eq!(signature, again, "{scheme} in parts");
    }
    assert_signed(scheme, tokens.hashes.len() as u32, &signature);
}

/// A page, of which the words between the tags are taken.
pub fn markup(data: &[u8]) {
    static PARSED: OnceLock<[Analyzer; 3]> = OnceLock::new();
    let [bare, with_tags, all] = PARSED.get_or_init(|| {
        [
            "language=none,homoglyphs=0,stop=0,filter=0,stem=0",
            "language=none,markup=0,homoglyphs=0,stop=0,filter=0,stem=0",
            "language=en",
        ]
        .map(|steps| format!("avtor({steps})").parse().expect("it is right"))
    });
    let text = text(data);
    let stripped = analyzed(bare, &text);
    analyzed(all, &text);
    if !text.contains(['<', '&']) {
        assert_eq!(stripped, analyzed(with_tags, &text), "a text without markup is left alone");
    }
    // A word that stands in the text as it is, is there with its own hash.
    for (hash, span) in stripped.hashes.iter().zip(&stripped.spans) {
        let written = &text[span.start as usize..span.end as usize];
        let is_plain =
            written.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        assert!(
            !is_plain || written.is_empty() || *hash == hash_bytes(written.as_bytes()),
            "{written}"
        );
    }
}

const LABELS: [Option<&str>; 10] = [
    None,
    Some("utf-8"),
    Some("utf-16le"),
    Some("utf-16be"),
    Some("windows-1251"),
    Some("shift_jis"),
    Some("gb18030"),
    Some("iso-2022-jp"),
    Some("euc-kr"),
    Some("no such thing"),
];

/// Bytes in some encoding, declared or not.
pub fn charset(data: &[u8]) {
    let (label, bytes) = choice(data);
    let declared = LABELS[label % LABELS.len()];
    let decoded = charset::decode(bytes, declared);
    assert!(charset::is_known(decoded.charset), "{}", decoded.charset);
    assert!(!decoded.lossy || decoded.text.contains(char::REPLACEMENT_CHARACTER));
    assert!(decoded.text.len() <= 3 * bytes.len(), "{} of {}", decoded.text.len(), bytes.len());
    assert!(bytes.contains(&0) || !charset::looks_binary(bytes));
    if declared.is_none()
        && let Ok(text) = std::str::from_utf8(bytes)
        && !bytes.contains(&0)
        && !bytes.contains(&0x1b)
    {
        assert_eq!(decoded.text, text.strip_prefix('\u{feff}').unwrap_or(text));
    }
    // What was read is read alike when it is written as UTF-8.
    let again = charset::decode(decoded.text.as_bytes(), Some("utf-8"));
    assert_eq!(again.text, decoded.text.strip_prefix('\u{feff}').unwrap_or(&decoded.text));
    analyzed(&analyzers()[0], &decoded.text);
}
