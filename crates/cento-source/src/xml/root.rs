//! Recognizes the format of an XML file by the root element and namespace.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::charset;

/// A format whose text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An edition: Text Encoding Initiative.
    Tei,
    /// OCR output in the format ALTO.
    Alto,
    /// OCR output in the format PAGE.
    Page,
    /// A Word document: Word 2003 XML, or all parts of a .docx in one file.
    Word,
    /// An OpenDocument text or presentation in a single file.
    Odf,
}

/// Returns the format of a file with this beginning, or `None` for unknown XML and for files
/// without XML.
pub fn kind(start: &[u8]) -> Option<Kind> {
    with_root(start, kind_of_root)
}

/// Returns whether a file with this beginning is a web page written as XML.
pub fn is_page(start: &[u8]) -> bool {
    let is_page = |_: &str, name: &str, space: &str| {
        (name == "html" && space == "http://www.w3.org/1999/xhtml").then_some(())
    };
    with_root(start, is_page).is_some()
}

/// Namespaces of elements that may begin a web page or a Markdown file, too.
const OF_PAGES: [&str; 3] = [
    "http://www.w3.org/1999/xhtml",
    "http://www.w3.org/2000/svg",
    "http://www.w3.org/1998/Math/MathML",
];

/// Returns whether the root element declares a namespace, as only XML does.
pub fn is_declared(start: &[u8]) -> bool {
    let is_xml = |_: &str, name: &str, space: &str| {
        (name != "html" && !space.is_empty() && !OF_PAGES.contains(&space)).then_some(())
    };
    with_root(start, is_xml).is_some()
}

/// Returns the name of the root element.
pub fn name_of_root(start: &[u8]) -> Option<String> {
    with_root(start, |_, name, _| Some(name.to_owned()))
}

/// Calls `of` with the prefix, name and declared namespace of the root element.
fn with_root<T>(start: &[u8], of: impl FnOnce(&str, &str, &str) -> Option<T>) -> Option<T> {
    let start = charset::decode(start, None).text;
    let mut reader = reader(&start);
    let root = loop {
        match reader.read_event().ok()? {
            Event::Start(tag) | Event::Empty(tag) => break tag,
            Event::Text(text) if !text.trim_ascii().is_empty() => return None,
            Event::End(_) | Event::Eof | Event::CData(_) | Event::GeneralRef(_) => return None,
            _ => {}
        }
    };
    let qualified = root.name();
    let (prefix, name) = split(qualified.as_ref());
    let declaration = if prefix.is_empty() { "xmlns".into() } else { format!("xmlns:{prefix}") };
    let mut attributes = root.attributes();
    attributes.with_checks(false);
    let space = attributes.flatten().find(|found| found.key.as_ref() == declaration);
    of(prefix, name, &space.map_or(Cow::Borrowed(""), |found| found.value))
}

fn kind_of_root(_: &str, name: &str, space: &str) -> Option<Kind> {
    match name {
        "TEI" | "teiCorpus" if space == "http://www.tei-c.org/ns/1.0" => Some(Kind::Tei),
        // Older TEI, without namespaces.
        "TEI.2" | "teiCorpus.2" => Some(Kind::Tei),
        "alto" if space.is_empty() || space.to_ascii_lowercase().contains("alto") => {
            Some(Kind::Alto)
        }
        "document" if space == "urn:oasis:names:tc:opendocument:xmlns:office:1.0" => {
            Some(Kind::Odf)
        }
        "wordDocument" if space == "http://schemas.microsoft.com/office/word/2003/wordml" => {
            Some(Kind::Word)
        }
        "package" if space == "http://schemas.microsoft.com/office/2006/xmlPackage" => {
            Some(Kind::Word)
        }
        "PcGts" if space.contains("primaresearch.org/PAGE") => Some(Kind::Page),
        _ => None,
    }
}

/// Splits a qualified name into its namespace prefix and local name.
pub fn split(name: &str) -> (&str, &str) {
    name.rsplit_once(':').unwrap_or(("", name))
}

/// Returns a parser that tolerates stray ampersands.
pub fn reader(xml: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.expand_empty_elements = true;
    reader
}
