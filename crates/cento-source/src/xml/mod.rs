//! Text of XML files.
//!
//! One pull parser ([`walk`]) reads editions (TEI), OCR output (ALTO, PAGE), and office documents,
//! which are XML files, plain or zipped. A [`Format`] defines how an element affects the text. The
//! parser keeps only a stack of these effects, so deep nesting costs memory in proportion to the
//! file, and no recursion. [`root::kind`] recognizes a format by the root element and namespace.
//! For other XML, the positions of elements decide.

mod alto;
mod docx;
mod entity;
mod epub;
pub(crate) mod included;
mod odf;
mod other;
mod out;
mod package;
mod page;
pub(crate) mod root;
mod slides;
mod styles;
mod tei;
mod vocabulary;
mod word;
#[cfg(test)]
mod zipped;

use quick_xml::events::{BytesStart, Event};

use crate::charset::EncodingLabel;
use crate::extracted::ExtractedText;
use crate::format::{FileFormat, Markup, TextOf};
use crate::html;

use entity::Entities;
pub use out::Out;
use root::{Kind, kind, reader, split};

/// XML with a text: an edition, OCR output, an office document, or any other XML.
pub static FORMAT: FileFormat = FileFormat {
    name: "xml",
    endings: &[".xml", ".fodt", ".ttml", ".dfxp", ".svg", ".svgz"],
    documents: "the text of an edition (TEI), an OCR page (ALTO, PAGE), a document of Word \
         or OpenDocument, or any other XML",
    feature: None,
    is_built: true,
    keeps_lines: false,
    example: b"<TEI.2><text><body><p>Twice a day the <hi>sea</hi> rises.</p></body></text></TEI.2>",
    markup: Some(Markup {
        is: "it is XML",
        begins: |start| {
            start.text.starts_with(DECLARATION)
                || (start.text.starts_with(b"<")
                    && (kind(start.bytes).is_some() || root::is_declared(start.bytes)))
        },
        named_begins: Some(b"<"),
        text_of: TextOf::Bytes(|bytes, options| Ok((text_of(bytes, options.label())?, None))),
        has_source: true,
    }),
};

/// The first bytes of most XML files.
const DECLARATION: &[u8] = b"<?xml";

/// The effect of an element on the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// No effect: the text continues the surrounding text.
    Inline,
    /// Skips the element with its contents.
    Skip,
    /// Begins and ends a line.
    Line,
    /// Begins and ends a paragraph.
    Block,
    /// Moves the text behind the main text, as for a note.
    Aside,
    /// A quotation in the line, which gets quotation marks.
    Quoted,
    /// Begins and ends a paragraph or several, whose lines are quoted.
    BlockQuote,
}

/// The effects of the elements of a format.
pub trait Format {
    /// Returns the effect of an element at this depth. The root has depth 0.
    fn start(&mut self, element: &Element<'_>, depth: usize, out: &mut Out) -> Rule;

    /// Handles the end of an element that was not skipped.
    fn end(&mut self, name: &str, depth: usize, out: &mut Out) {
        let _ = (name, depth, out);
    }

    /// Handles text outside of skipped elements.
    fn text(&mut self, text: &str, out: &mut Out) {
        out.push(text);
    }
}

/// A start tag of XML.
pub struct Element<'a> {
    tag: &'a BytesStart<'a>,
    /// The namespace prefix, which most programs choose alike.
    pub prefix: &'a str,
    /// The name without the namespace prefix.
    pub name: &'a str,
}

impl Element<'_> {
    /// Returns the value of an attribute. `name` has no prefix.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.tag.attributes();
        attributes.with_checks(false);
        let found = attributes.flatten().find(|found| local(found.key.as_ref()) == name)?;
        Some(decoded(&found.value))
    }

    /// Returns the value of an attribute with a namespace prefix. `name` has no prefix.
    pub fn prefixed(&self, name: &str) -> Option<String> {
        let mut attributes = self.tag.attributes();
        attributes.with_checks(false);
        let is_it = |key: &str| key.contains(':') && local(key) == name;
        let found = attributes.flatten().find(|found| is_it(found.key.as_ref()))?;
        Some(decoded(&found.value))
    }

    /// Returns whether an attribute has this value.
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.attribute(name).is_some_and(|found| found == value)
    }
}

/// Returns a name without the namespace prefix.
fn local(name: &str) -> &str {
    split(name).1
}

/// Decodes the references of a text. HTML's names of characters are decoded, too, because many
/// editions use the names and declare them in a separate file.
fn decoded(text: &str) -> String {
    match memchr::memchr(b'&', text.as_bytes()) {
        Some(_) => html::decoded(text),
        None => text.to_owned(),
    }
}

/// Returns the text of a file.
///
/// Text before damage is read, and the damage is reported as missing.
///
/// # Errors
/// When its encoding is unknown, or it has no text, with the reason as a clause.
fn text_of(bytes: &[u8], label: EncodingLabel<'_>) -> Result<ExtractedText, String> {
    let xml = html::decoded_xml(bytes, label)?;
    Ok(match kind(bytes) {
        Some(Kind::Tei) => tei::text_of(&xml),
        Some(Kind::Alto) => alto::text_of(&xml),
        Some(Kind::Page) => page::text_of(&xml),
        Some(Kind::Odf) => odf::text_of_file(&xml),
        Some(Kind::Word) => word::text_of_file(&xml),
        None => match other::unread(bytes) {
            Some(why) => return Err(why.into()),
            None => other::text_of(&xml)?,
        },
    })
}

/// Returns the text of a document that is a zip file: of an office program, or an e-book.
///
/// # Errors
/// When it cannot be read, with the reason as a clause.
pub fn text_of_zip(bytes: &[u8]) -> Result<ExtractedText, String> {
    let mut package = package::Package::open(bytes)?;
    if package.has("[Content_Types].xml") || package.has("word/document.xml") {
        let has = |dir: &str| !package.names(dir).is_empty();
        return match (has("word/"), has("ppt/"), has("xl/")) {
            (false, true, _) => slides::text_of(bytes),
            (false, false, true) => Err("it is a spreadsheet; export it as .csv".into()),
            _ => docx::text_of(bytes),
        };
    }
    let mimetype = package.part("mimetype").unwrap_or_default();
    let mimetype = String::from_utf8_lossy(&mimetype);
    match mimetype.trim() {
        kind if kind.starts_with("application/vnd.oasis.opendocument.spreadsheet") => {
            Err("it is a spreadsheet; export it as .csv".into())
        }
        kind if kind.starts_with("application/vnd.oasis.opendocument.") => odf::text_of(bytes),
        _ if package.has("META-INF/container.xml") => epub::text_of(bytes),
        _ if package.has("content.xml") => odf::text_of(bytes),
        _ => Err("it is damaged or no document: it has no text that is known".into()),
    }
}

/// Reads XML by the rules of a format. Returns a defect as a clause.
pub fn walk(xml: &str, format: &mut impl Format, out: &mut Out) -> Option<String> {
    let mut elements = OpenElements::default();
    let mut reader = reader(xml);
    loop {
        match reader.read_event() {
            Ok(Event::Eof) if elements.is_empty() => return None,
            Ok(Event::Eof) => return Some("it is cut short: its end is missing".into()),
            Ok(event) => elements.take(event, format, out),
            Err(error) => {
                return Some(format!("it is damaged at byte {}: {error}", reader.error_position()));
            }
        }
    }
}

/// The elements that are open at a place of a file.
#[derive(Default)]
struct OpenElements {
    rules: Vec<Rule>,
    /// The nesting depth within a skipped element, which itself counts as 1.
    skipped: usize,
    entities: Entities,
}

impl OpenElements {
    fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.skipped == 0
    }

    fn take(&mut self, event: Event<'_>, format: &mut impl Format, out: &mut Out) {
        match event {
            Event::Start(_) if self.skipped > 0 => self.skipped += 1,
            Event::Start(tag) => {
                let qualified = tag.name();
                let (prefix, name) = split(qualified.as_ref());
                let element = Element { tag: &tag, prefix, name };
                let rule = format.start(&element, self.rules.len(), out);
                out.enter(rule);
                match rule {
                    Rule::Skip => self.skipped = 1,
                    rule => self.rules.push(rule),
                }
            }
            Event::End(_) if self.skipped > 0 => self.skipped -= 1,
            Event::End(tag) => {
                if let Some(rule) = self.rules.pop() {
                    format.end(local(tag.name().as_ref()), self.rules.len(), out);
                    out.leave(rule);
                }
            }
            Event::Text(text) if self.skipped == 0 => format.text(&text, out),
            Event::CData(text) if self.skipped == 0 => format.text(&text, out),
            Event::GeneralRef(name) if self.skipped == 0 => self.refer(&name, format, out),
            Event::DocType(declarations) => self.entities.declare(&declarations),
            _ => {}
        }
    }

    /// Reads the text of a reference, which may have elements if the file declares it.
    fn refer(&mut self, name: &str, format: &mut impl Format, out: &mut Out) {
        match self.entities.text_of(name) {
            None => format.text(&decoded(&format!("&{name};")), out),
            Some(Err(why)) => out.defect = Some(why),
            Some(Ok(text)) => match events_of(&text) {
                None => format.text(&decoded(&text), out),
                Some(events) => {
                    for event in events {
                        match event {
                            Event::GeneralRef(name) if self.skipped == 0 => {
                                format.text(&decoded(&format!("&{};", &*name)), out);
                            }
                            event => self.take(event, format, out),
                        }
                    }
                }
            },
        }
    }
}

/// Returns the elements and texts of a text, or `None` if there are no elements, or unclosed
/// elements.
fn events_of(text: &str) -> Option<Vec<Event<'_>>> {
    let (mut reader, mut events, mut open) = (reader(text), Vec::new(), 0usize);
    if !text.contains('<') {
        return None;
    }
    loop {
        let event = reader.read_event().ok()?;
        match event {
            Event::Eof => return (open == 0).then_some(events),
            Event::Start(_) => open += 1,
            Event::End(_) => open = open.checked_sub(1)?,
            _ => {}
        }
        events.push(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tags and text fragments of all formats.
    const PIECES: &str = "<TEI.2>|</TEI.2>|<alto>|</alto>|<text>|</text>|<choice>|</choice>|<reg>|</reg>|<orig>|<note>|\
        </note>|<lb break='no'/>|<w>|</w>|fru-|word |<Page>|</Page>|<TextLine>|</TextLine>|<Word>|</Word>|<TextEquiv>|\
        </TextEquiv>|<Unicode>|</Unicode>|<TextRegion id='a'>|</TextRegion>|<RegionRef regionRef='a'/>|\
        <String CONTENT='a' SUBS_TYPE='HypPart1'/>|<HYP/>|&amp;|&x;|&#0;|<![CDATA[|]]>|<!--|-->|<a b|='>";

    proptest! {
        #[test]
        fn any_xml_is_read_to_some_end(
            root in "TEI\\.2|alto|PcGts", pieces in proptest::collection::vec(0..39usize, 0..40)
        ) {
            let all: Vec<&str> = PIECES.split('|').collect();
            let body = pieces.iter().map(|&at| all[at % all.len()]).collect::<String>();
            let space = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15";
            let space = if root == "PcGts" { format!(" xmlns='{space}'") } else { String::new() };
            let xml = format!("<{root}{space}>{body}</{root}>");
            prop_assert!(kind(xml.as_bytes()).is_some());
            text_of(xml.as_bytes(), EncodingLabel::Missing).unwrap();
        }
    }

    #[test]
    fn nested_elements_take_time_in_proportion_to_the_file() {
        let deep = 20_000;
        for (root, open, close) in [
            ("TEI.2", "<choice><reg>", "</reg></choice>"),
            ("TEI.2", "<note>", "</note>"),
            ("alto", "<TextBlock>", "</TextBlock>"),
        ] {
            let body = "word ".repeat(10_000);
            let xml = format!("<{root}>{}{body}{}</{root}>", open.repeat(deep), close.repeat(deep));
            assert_eq!(text_of(xml.as_bytes(), EncodingLabel::Missing).unwrap().missing, None);
        }
        let words = "<Unicode>word</Unicode>".repeat(10_000);
        let space = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15";
        let (open, close) = ("<Word>".repeat(deep), "</Word>".repeat(deep));
        let xml = format!("<PcGts xmlns='{space}'>{open}{words}{close}</PcGts>");
        assert_eq!(text_of(xml.as_bytes(), EncodingLabel::Missing).unwrap().missing, None);
    }

    #[track_caller]
    fn check(start: &str, expected: Option<Kind>) {
        assert_eq!(kind(start.as_bytes()), expected, "{start}");
    }

    #[test]
    fn a_format_is_known_by_its_root_element_and_its_namespace() {
        check("<?xml version='1.0'?><TEI xmlns='http://www.tei-c.org/ns/1.0'>", Some(Kind::Tei));
        check(
            "\u{feff}<!-- <a> --><t:TEI n='1' xmlns:t=\"http://www.tei-c.org/ns/1.0\"/>",
            Some(Kind::Tei),
        );
        check("<!DOCTYPE TEI.2 [<!ENTITY a 'b>'>]>\n<TEI.2>", Some(Kind::Tei));
        check("<alto xmlns=\"http://www.loc.gov/standards/alto/ns-v4#\">", Some(Kind::Alto));
        check("<alto>", Some(Kind::Alto));
        let page = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15";
        check(&format!("<PcGts xmlns='{page}'>"), Some(Kind::Page));
        check("<TEI>", None);
        check("<PcGts>", None);
        check("<rss><alto>", None);
        check("x <alto>", None);
        check("", None);
        check("<", None);
        let page = |space: &str| {
            root::is_page(format!("<?xml?><!DOCTYPE html><html xmlns='{space}'>").as_bytes())
        };
        assert!(page("http://www.w3.org/1999/xhtml") && !page("x"));
        let is_declared = |start: &str| root::is_declared(start.as_bytes());
        assert!(is_declared("<tt xmlns='http://www.w3.org/ns/ttml'>"));
        assert!(is_declared("<!-- x --><an:act xmlns:an='http://x'>"));
        assert!(!is_declared("<svg xmlns='http://www.w3.org/2000/svg'>") && !is_declared("<p>"));
        assert!(!is_declared("<html xmlns='http://www.w3.org/TR/REC-html40'>"));
    }

    #[test]
    fn text_before_damage_is_read_and_the_damage_is_named() {
        let tei = |rest: &str| {
            let xml = format!("<TEI xmlns='http://www.tei-c.org/ns/1.0'><text>{rest}");
            let ExtractedText { text, missing, .. } =
                text_of(xml.as_bytes(), EncodingLabel::Missing).unwrap();
            (text, missing.unwrap_or_default())
        };
        let (text, missing) = tei("<p>one</p><p>two</text></TEI>");
        assert_eq!(text, "one\n\ntwo");
        assert!(missing.starts_with("it is damaged at byte 6"), "{missing}");
        let (text, missing) = tei("<p>one</p><p>two");
        assert_eq!((&*text, &*missing), ("one\n\ntwo", "it is cut short: its end is missing"));
        assert_eq!(tei("a &amp; b</text></TEI>"), ("a & b".into(), String::new()));
    }

    #[test]
    fn entities_of_the_file_are_read_and_those_of_other_files_are_not_words() {
        let text = |body: &str| {
            let declared = "<!DOCTYPE b [<!ENTITY co 'Company'><!ENTITY em '<i>&co;</i> &mdash; x'>\
                            <!ENTITY ch SYSTEM 'ch.xml'><!ENTITY bad '</b>'>]>";
            let xml = format!("<?xml version='1.0'?>{declared}<b><p>{body}</p></b>");
            text_of(xml.as_bytes(), EncodingLabel::Missing).unwrap()
        };
        assert_eq!(text("a &co; b &ch; &em;").text, "a Company b Company \u{2014} x");
        assert_eq!(text("a &bad; b").missing, None);
        let many = (1..16).fold("<!ENTITY a0 'some words '>".to_owned(), |all, level| {
            let below = format!("&a{};", level - 1).repeat(10);
            format!("{all}<!ENTITY a{level} '{below}'>")
        });
        let xml = format!("<!DOCTYPE b [{many}]><b>one &a15; two</b>");
        let found = text_of(xml.as_bytes(), EncodingLabel::Missing).unwrap();
        assert_eq!(found.text, "one two");
        assert!(found.missing.unwrap().contains("entities"));
    }

    #[test]
    fn an_encoding_is_declared_and_references_have_names_of_html() {
        let start = "<?xml version='1.0' encoding='iso-8859-1'?><TEI.2><text>";
        let mut bytes = start.as_bytes().to_vec();
        bytes.extend(b"Fr\xfch &eacute;t&#233; &#x2014; & &unknown;</text></TEI.2>");
        let text = text_of(&bytes, EncodingLabel::Missing).unwrap().text;
        assert_eq!(text, "Fr\u{fc}h \u{e9}t\u{e9} \u{2014} & &unknown;");
    }
}
