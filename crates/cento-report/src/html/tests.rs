use base64::Engine as _;
use html5gum::{DefaultEmitter, Token, Tokenizer};
use proptest::prelude::*;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::*;
use crate::DocumentReport;
use crate::pairs::tests::{joined, pair};
use crate::reuse::{Counting, MeasuredDocument, Place, ReuseSource};
use cento::CitedPart;

fn hash(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text))
}

#[test]
fn the_policy_allows_the_style_and_the_script_of_the_page() {
    assert_eq!(hash(STYLE), STYLE_SHA256, "put the left one into html/mod.rs");
    assert_eq!(hash(SCRIPT), SCRIPT_SHA256, "put the left one into html/mod.rs");
    // Neither file may contain the end of its element.
    assert!(!STYLE.contains("</") && !SCRIPT.contains("</"));
    assert!(SCRIPT.contains(&format!("const colors = {COLORS};")));
}

/// A page as a browser reads it: its elements with their attributes, and the text.
struct Read {
    elements: Vec<(String, Vec<(String, String)>)>,
    /// The text of the element with the class `text`, without the numbers of sources.
    text: String,
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn read(page: &str) -> Read {
    let mut read = Read { elements: Vec::new(), text: String::new() };
    // The depth in the text, and whether within a link.
    let (mut depth, mut is_link) = (0, false);
    let mut emitter = DefaultEmitter::default();
    // In a browser, too, a script has no elements.
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(page, emitter) {
        let token = token.unwrap();
        match token {
            Token::StartTag(tag) => {
                let name = text_of(&tag.name);
                let attributes: Vec<(String, String)> =
                    tag.attributes.iter().map(|(n, v)| (text_of(n), text_of(v))).collect();
                let is_text = attributes.iter().any(|(name, value)| {
                    name == "class" && value.split(' ').any(|class| class == "text")
                });
                if is_text || depth > 0 {
                    depth += 1;
                    is_link = name == "a";
                }
                read.elements.push((name, attributes));
            }
            Token::EndTag(_) if depth > 0 => (depth, is_link) = (depth - 1, false),
            Token::String(text) if depth > 0 && !is_link => read.text += &text_of(&text),
            Token::Error(error) => panic!("{error:?}"),
            _ => {}
        }
    }
    read
}

/// The allowed parts of a page.
const ELEMENTS: [&str; 42] = [
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "h4", "bdi",
    "main", "section", "div", "p", "span", "svg", "rect", "table", "caption", "thead", "tbody",
    "tr", "th", "td", "label", "input", "a", "mark", "u", "ins", "del", "dl", "dt", "dd", "footer",
    "script", "g", "line", "circle", "text",
];

fn check(page: &str) -> Result<Read, TestCaseError> {
    let read = read(page);
    let count = |name: &str| read.elements.iter().filter(|element| element.0 == name).count();
    prop_assert_eq!((count("script"), count("style"), count("meta")), (1, 1, 6));
    prop_assert!(page.contains(SCRIPT) && page.contains(STYLE));
    let mut ids = std::collections::HashSet::new();
    for (name, attributes) in &read.elements {
        prop_assert!(ELEMENTS.contains(&name.as_str()), "{}", name);
        for (attribute, value) in attributes {
            prop_assert!(!attribute.starts_with("on") && attribute != "style", "{}", attribute);
            let is_address = value.starts_with('#')
                || value.to_ascii_lowercase().starts_with("http://")
                || value.to_ascii_lowercase().starts_with("https://");
            prop_assert!(attribute != "href" || is_address, "{}", value);
            prop_assert!(attribute != "src", "{}", value);
            prop_assert!(attribute != "id" || ids.insert(value.clone()), "{} twice", value);
        }
    }
    for (_, attributes) in &read.elements {
        for (_, value) in attributes.iter().filter(|(name, _)| name == "href") {
            let target = value.strip_prefix('#');
            prop_assert!(target.is_none_or(|target| ids.contains(target)), "{} is nowhere", value);
        }
    }
    Ok(read)
}

/// A text as the page shows it.
fn expected(text: &str) -> String {
    let mut shown = String::new();
    let mut page = 1;
    for c in text.replace("\r\n", "\n").replace('\r', "\n").chars() {
        match c {
            '\u{c}' => {
                page += 1;
                shown += &format!("page {page}");
            }
            '\n' | '\t' => shown.push(c),
            c if c.is_control()
                || "\u{202a}\u{202b}\u{202d}\u{202e}\u{2066}\u{2069}".contains(c) =>
            {
                shown += &format!("U+{:04X}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    shown
}

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<script>alert(1)</script>".to_owned()),
        Just("</script><img src=x onerror=alert(1)>".to_owned()),
        Just("\"><svg onload=alert(1)>".to_owned()),
        Just("' autofocus onfocus='alert(1)".to_owned()),
        Just("</style></title></textarea>-->".to_owned()),
        Just("<!--".to_owned()),
        Just("<![CDATA[".to_owned()),
        Just("&lt;&#x3c;&amp".to_owned()),
        Just("\u{202e}\u{2066}\u{2069}\u{202a}".to_owned()),
        Just("\0\u{1b}\u{7f}\u{9b}".to_owned()),
        Just("\r\n\r\u{c}\t".to_owned()),
        Just("{{7*7}}${1}`".to_owned()),
        Just("javascript:alert(1)".to_owned()),
        Just("https://example.org/?a=<b>\"".to_owned()),
        Just("https://example.org/good?x=1&y=2".to_owned()),
        "[a-z \u{e9}\u{4e00}\u{5d0}\n]{1,12}".prop_map(|text| text),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn place_in(text: &str, other: &str, (start, end): (usize, usize)) -> Place {
    let at = |text: &str, n: usize| {
        let starts: Vec<usize> = text.char_indices().map(|c| c.0).chain([text.len()]).collect();
        starts[n.min(starts.len() - 1)] as u32
    };
    Place {
        document: (at(text, start), at(text, start + end)),
        source: Some((at(other, end), at(other, end + start))),
        tokens: 3,
        matched: 3,
        matched_ranges: Vec::new(),
        by_letters: false,
        similarity: 0.5,
        part: None,
        page: Some(7),
        line: Some(1234),
        source_part: None,
        source_page: None,
        source_line: None,
        origin: None,
        source_origin: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_of_a_hostile_document_acts(
        name in hostile(),
        text in hostile(),
        sources in prop::collection::vec((hostile(), hostile(), (0..40usize, 0..40usize)), 0..5),
        quotations in any::<bool>(),
        is_code in any::<bool>(),
    ) {
        let found = |(id, source, place): (String, String, (usize, usize))| ReuseSource {
            meta: Map::from_iter([(id.clone(), Value::String(source.clone()))]),
            id,
            passages: vec![place_in(&text, &source, place)],
            text: Some(source.into()),
            complete: false,
        };
        let sources = sources.into_iter().map(found).collect();
        let cited = [CitedPart::Bibliography, CitedPart::Quotations];
        let by = &cited[..1 + usize::from(quotations)];
        let run =
            Run { title: Some(name.clone()), date: Some(name.clone()), is_code, ..Run::new(&name) };
        let run = run.with(&name, &text);
        let searched = MeasuredDocument {
            name,
            text: text.as_str().into(),
            sources,
            counting: Counting::default(),
            more: true,
            complete: false,
        };
        let document = DocumentReport::new(searched, by).unwrap();
        let documents = vec![document.clone(), document];
        let missing = NotCompared::new(documents[0].name.clone(), documents[0].text.text.clone());
        let report = ReuseReport { run, documents, not_compared: vec![missing], warnings: Vec::new() };
        let read = check(&report.html())?;
        // The page contains the whole text, unchanged.
        prop_assert_eq!(read.text, expected(&text).repeat(2));
    }

    #[test]
    fn nothing_of_a_hostile_pair_acts(ids in prop::collection::vec(hostile(), 2..6)) {
        let pairs = ids.windows(2).map(|ids| pair(&ids[0], &ids[1], 0.7)).collect();
        let mut found = joined(pairs);
        found.texts.values_mut().for_each(|text| *text = (ids.concat() + "0123456").into());
        let report = PairsReport::new(Run::new("pairs"), found, false);
        check(&report.html())?;
    }
}

#[test]
fn a_report_says_how_it_was_made() {
    let index =
        IndexState { place: "essays.idx".into(), generation: Some("7".into()), documents: 1234 };
    let run = Run { index: Some(index), date: Some("2026-01-31".into()), ..Run::new("search") };
    let run = run.with("min-passage", 20);
    let report =
        ReuseReport { run, documents: Vec::new(), not_compared: Vec::new(), warnings: Vec::new() };
    let page = report.html();
    for expected in
        ["essays.idx", "<dd>7</dd>", "1,234", "2026-01-31", "min-passage", "<bdi>20</bdi>"]
    {
        assert!(page.contains(expected), "{expected}");
    }
}
