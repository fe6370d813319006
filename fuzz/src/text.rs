//! Fuzzes texts: tokens are where their ranges say, in order, for any text and analyzer. Signatures
//! belong to these tokens, and bytes in any encoding become a text.

use std::sync::{LazyLock, OnceLock};

use cento::Stop;
use cento::hash::hash_bytes;
use cento::scheme::{self, Fingerprint, Scheme};
use cento::text::{self, Analyzer, Tokens};
use cento_source::charset;

use super::{chosen, one_of, specs};

/// Specifications of every analyzer that this build has.
static ANALYZERS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let built = text::analyzer::families().iter().filter(|family| {
        // `code` has its own target.
        family.name != "code" && family.name.parse::<Analyzer>().is_ok()
    });
    let of_family = |family: &&text::Family| {
        let bounds =
            family.parameters.iter().map(|it| (it.name, [it.written(it.min), it.written(it.max)]));
        specs(family.name, family.example, &bounds.collect::<Vec<_>>())
    };
    built.flat_map(of_family).collect()
});

/// Specifications of every scheme that needs no table.
static SCHEMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let alone = scheme::families().iter().filter(|family| family.table().is_none());
    let of_family = |family: &&scheme::Family| {
        let bounds =
            family.parameters.iter().map(|it| (it.name, [it.written(it.min), it.written(it.max)]));
        specs(family.name, family.example, &bounds.collect::<Vec<_>>())
    };
    alone.flat_map(of_family).collect()
});

/// A text for every analyzer, and for every scheme.
pub fn of_all() -> Vec<Vec<u8>> {
    let text = "The <b>sea</b> rises and falls twice a day, \
                \u{434}\u{432}\u{430}\u{436}\u{434}\u{44b} \u{6f22}\u{5b57}: x1 the sea rises.";
    let of = |analyzer: &str, scheme: &str| format!("{analyzer}\n{scheme}\n{text}").into_bytes();
    let analyzers = ANALYZERS.iter().map(|analyzer| of(analyzer, "winnow"));
    analyzers.chain(SCHEMES.iter().map(|scheme| of("words", scheme))).collect()
}

/// Converts an input to a text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the tokens that an analyzer makes of a text. They must be the same at every call, and
/// lie within the text, on characters, in order.
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

/// Signs a text by the analyzer and the scheme in its first two lines.
pub fn tokens(data: &[u8]) {
    let is_one = |spec: &str| spec.parse::<Analyzer>().ok().map(|_| spec.to_owned());
    let (analyzer, rest) = chosen(data, is_one, &ANALYZERS);
    let is_one = |spec: &str| scheme::parse(spec).ok().map(|_| spec.to_owned());
    let (scheme, rest) = chosen(rest, is_one, &SCHEMES);
    let analyzer = analyzer.parse().expect("the specification is right");
    let scheme = scheme::parse(&scheme).expect("the specification is right");
    let text = text(rest);
    let tokens = analyzed(&analyzer, &text);
    sign(&scheme, &tokens);
}

/// The letters of the languages with a stemmer. All Latin alphabets are one set.
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
    static PARSED: OnceLock<Vec<(&str, Analyzer, Vec<char>)>> = OnceLock::new();
    let languages = PARSED.get_or_init(|| {
        let of_each = LETTERS.iter().flat_map(|(names, letters)| {
            names.split(' ').map(|name| {
                let spec = format!("avtor(language={name},stop=0,filter=0)");
                let analyzer = spec.parse().expect("the specification is right");
                (name, analyzer, letters.chars().collect())
            })
        });
        of_each.collect()
    });
    let places: Vec<usize> = (0..languages.len()).collect();
    let named = |name: &str| languages.iter().position(|(language, ..)| *language == name);
    let (language, rest) = chosen(data, named, &places);
    let (_, analyzer, letters) = &languages[language];
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

/// Analyzes a page. Only the words between tags count.
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
    // An unchanged word of the text keeps its hash.
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

const LABELS: [&str; 10] = [
    UNDECLARED,
    "utf-8",
    "utf-16le",
    "utf-16be",
    "windows-1251",
    "shift_jis",
    "gb18030",
    "iso-2022-jp",
    "euc-kr",
    "no such thing",
];

/// A name that no encoding has.
const UNDECLARED: &str = "undeclared";

/// Decodes bytes in some encoding, declared or not.
pub fn charset(data: &[u8]) {
    let (label, bytes) = chosen(data, one_of(&LABELS), &LABELS);
    let declared = (label != UNDECLARED).then_some(label);
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
    analyzed(&Analyzer::default(), &decoded.text);
}
