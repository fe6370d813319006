//! Texts: tokens stand where they say, in order, whatever the text and the analyzer; signatures
//! are of these tokens; bytes in any encoding become a text.

use std::sync::OnceLock;

use cento::Stop;
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

/// The tokens that an analyzer makes of a text. They must be the same at every call, and lie
/// within the text, on characters, in order.
pub fn analyzed(analyzer: &Analyzer, text: &str) -> Tokens {
    let (mut tokens, mut again) = (Tokens::default(), Tokens::default());
    again.hashes.push(1);
    analyzer.analyze(text, &mut tokens, Stop::NEVER).expect("a short text can be analyzed");
    analyzer.analyze(text, &mut again, Stop::NEVER).expect("a short text can be analyzed");
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

/// Asserts that a signature fits a text of `tokens` tokens, and its scheme.
pub fn assert_signed(scheme: &Scheme, tokens: u32, signature: &[Fingerprint]) {
    let bits = scheme.key_bits();
    assert_eq!(signature.is_empty(), tokens == 0, "{scheme}: {} of {tokens}", signature.len());
    assert!(signature.is_sorted_by_key(|f| f.position), "{scheme} is out of order");
    for fingerprint in signature {
        assert!(fingerprint.position < tokens, "{scheme}: {fingerprint:?} of {tokens} tokens");
        assert!(bits == 64 || fingerprint.key >> bits == 0, "{scheme}: {fingerprint:?}");
    }
}

/// A text, by an analyzer and a scheme that its first two bytes choose.
pub fn tokens(data: &[u8]) {
    let (analyzer, rest) = choice(data);
    let (scheme, rest) = choice(rest);
    let analyzer = &analyzers()[analyzer % ANALYZERS.len()];
    let scheme = &schemes()[scheme % SCHEMES.len()];
    let text = text(rest);
    let tokens = analyzed(analyzer, &text);
    sign(scheme, &tokens);
}

/// The letters of the languages that have a stemmer; those of Latin ones together.
const LETTERS: [(&str, &str); 5] = [
    (
        "da de en es fi fr hu it nl no pt ro sv tr",
        "abcdefghijklmnopqrstuvwxyz\
        \u{e0}\u{e1}\u{e2}\u{e3}\u{e4}\u{e5}\u{e6}\u{e7}\u{e8}\u{e9}\u{ea}\u{eb}\u{ec}\u{ed}\u{ee}\u{ef}\u{f1}\u{f2}\u{f3}\u{f4}\
        \u{f5}\u{f6}\u{f8}\u{f9}\u{fa}\u{fb}\u{fc}\u{df}\u{103}\u{11f}\u{131}\u{151}\u{15f}\u{163}\u{171}\u{219}\u{21b}'",
    ),
    (
        "el",
        "\u{3b1}\u{3b2}\u{3b3}\u{3b4}\u{3b5}\u{3b6}\u{3b7}\u{3b8}\u{3b9}\u{3ba}\u{3bb}\u{3bc}\u{3bd}\u{3be}\u{3bf}\u{3c0}\
        \u{3c1}\u{3c2}\u{3c3}\u{3c4}\u{3c5}\u{3c6}\u{3c7}\u{3c8}\u{3c9}\u{3ac}\u{3ad}\u{3ae}\u{3af}\u{3cc}\u{3cd}\u{3ce}\u{3ca}\u{390}",
    ),
    (
        "ru",
        "\u{430}\u{431}\u{432}\u{433}\u{434}\u{435}\u{436}\u{437}\u{438}\u{439}\u{43a}\u{43b}\u{43c}\u{43d}\u{43e}\u{43f}\
        \u{440}\u{441}\u{442}\u{443}\u{444}\u{445}\u{446}\u{447}\u{448}\u{449}\u{44a}\u{44b}\u{44c}\u{44d}\u{44e}\u{44f}\u{451}",
    ),
    (
        "ar",
        "\u{621}\u{622}\u{623}\u{624}\u{625}\u{626}\u{627}\u{628}\u{629}\u{62a}\u{62b}\u{62c}\u{62d}\u{62e}\u{62f}\u{630}\
        \u{631}\u{632}\u{633}\u{634}\u{635}\u{636}\u{637}\u{638}\u{639}\u{63a}\u{640}\u{641}\u{642}\u{643}\u{644}\u{645}\u{646}\
        \u{647}\u{648}\u{649}\u{64a}\u{64b}\u{64c}\u{651}",
    ),
    (
        "ta",
        "\u{b85}\u{b86}\u{b87}\u{b88}\u{b89}\u{b95}\u{b99}\u{b9a}\u{b9e}\u{b9f}\u{ba3}\u{ba4}\u{ba8}\u{ba9}\u{baa}\u{bae}\
        \u{baf}\u{bb0}\u{bb2}\u{bb5}\u{bb3}\u{bbe}\u{bbf}\u{bc0}\u{bc1}\u{bc6}\u{bc7}\u{bc8}\u{bca}\u{bcd}",
    ),
];

/// Words of the letters of a language: its first byte says which has a stemmer, the others are
/// letters.
pub fn stems(data: &[u8]) {
    static PARSED: OnceLock<Vec<(Analyzer, Vec<char>)>> = OnceLock::new();
    let languages = PARSED.get_or_init(|| {
        let of_each = LETTERS.iter().flat_map(|(names, letters)| {
            names.split(' ').map(|name| {
                let spec = format!("avtor(language={name},stop=0,filter=0)");
                (spec.parse().expect("the specification is right"), letters.chars().collect())
            })
        });
        of_each.collect()
    });
    let (language, rest) = choice(data);
    let (analyzer, letters) = &languages[language % languages.len()];
    let letter = |&byte: &u8| match byte {
        0xf0.. => ' ',
        byte => letters[usize::from(byte) % letters.len()],
    };
    analyzed(analyzer, &rest.iter().map(letter).collect::<String>());
}

/// Signs tokens, twice; in parts too, if the scheme can.
pub fn sign(scheme: &Scheme, tokens: &Tokens) {
    let (mut signature, mut again) = (Vec::new(), Vec::new());
    scheme.sign(&tokens.hashes, &mut signature, Stop::NEVER).unwrap();
    scheme.sign(&tokens.hashes, &mut again, Stop::NEVER).unwrap();
    assert_eq!(signature, again, "{scheme}");
    if let Some(mut signer) = scheme.signer() {
        again.clear();
        tokens.hashes.chunks(7).for_each(|part| signer.push(part, &mut again));
        signer.finish(&mut again);
        assert_eq!(signature, again, "{scheme} in parts");
    }
    assert_signed(scheme, tokens.hashes.len() as u32, &signature);
}

/// A page; the words between its tags are taken.
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
    // A word that the text has unchanged has its own hash.
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
    // The decoded text, written as UTF-8, decodes to itself.
    let again = charset::decode(decoded.text.as_bytes(), Some("utf-8"));
    assert_eq!(again.text, decoded.text.strip_prefix('\u{feff}').unwrap_or(&decoded.text));
    analyzed(&analyzers()[0], &decoded.text);
}
