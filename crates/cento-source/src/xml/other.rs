//! Text of XML in any vocabulary.
//!
//! An element that occurs mostly among words is part of a line. Every other element begins and ends
//! a line. Notes come after the text. Descriptions of the document are skipped in laws (Akoma
//! Ntoso), news (NITF, NewsML), articles (JATS), books (DocBook, FictionBook), captions (TTML) and
//! feeds (RSS, Atom). Text that contains HTML tags, as in feeds, is read as a web page.

use std::collections::HashMap;

use super::{Element, Format, Out, Rule, local, walk};
use crate::extracted::ExtractedText;
use crate::html::{Html, text_of_page};

/// Elements outside the text in any vocabulary.
const SKIPPED: [&str; 3] = ["script", "style", "binary"];

/// Elements whose text comes after everything else.
const NOTES: [&str; 4] = ["footnote", "fn", "authorialNote", "endnote"];

/// The names of elements without text of the document, by the name of the root.
const DESCRIPTIONS: [(&[&str], &[&str]); 8] = [
    (&["akomaNtoso"], &["meta"]),
    (&["nitf"], &["head"]),
    (
        &["NewsML", "newsItem", "newsMessage", "packageItem"],
        &[
            "NewsEnvelope",
            "NewsManagement",
            "Identification",
            "AdministrativeMetadata",
            "RightsMetadata",
            "header",
            "catalogRef",
            "itemMeta",
            "rightsInfo",
            "contentMeta",
        ],
    ),
    (
        &["article", "book"],
        &[
            "journal-meta",
            "article-id",
            "article-categories",
            "pub-date",
            "permissions",
            "history",
            "counts",
            "custom-meta-group",
            "pubdate",
            "copyright",
            "releaseinfo",
            "tex-math",
        ],
    ),
    (&["FictionBook"], &["description"]),
    (&["tt"], &["head", "metadata"]),
    (
        &["rss", "feed", "RDF"],
        &[
            "link",
            "guid",
            "pubDate",
            "lastBuildDate",
            "generator",
            "ttl",
            "id",
            "updated",
            "published",
            "language",
            "url",
            "uri",
        ],
    ),
    (&["svg"], &["metadata", "defs"]),
];

/// Returns the text of a file.
///
/// # Errors
/// When its elements hold no text, as a clause.
pub fn text_of(xml: &str) -> Result<ExtractedText, String> {
    let mut survey = Survey::default();
    if walk(xml, &mut survey, &mut Out::default()).is_some() {
        // The file only resembles XML. A page is read more tolerantly.
        let (text, _, hidden) = text_of_page(xml, Html::All);
        return Ok(ExtractedText { text, hidden, missing: None });
    }
    let (mut other, mut out) = (Other::of(survey), Out::default());
    let missing = walk(xml, &mut other, &mut out);
    let found = out.finish(missing);
    match found.text.is_empty() {
        true => Err("it is XML whose elements hold no text; values of attributes are not read; \
                     `--html source` reads the file as it is"
            .into()),
        false => Ok(found),
    }
}

/// The places of elements, by their names.
#[derive(Default)]
struct Survey {
    open: Vec<ElementContent>,
    /// How often elements of a name are among words, and elsewhere.
    counts: HashMap<String, ElementCounts>,
    /// The name of the root.
    root: String,
}

/// The contents of an open element.
#[derive(Default)]
struct ElementContent {
    has_words: bool,
    elements: HashMap<String, usize>,
}

#[derive(Default)]
struct ElementCounts {
    among_words: usize,
    elsewhere: usize,
}

impl Format for Survey {
    fn start(&mut self, element: &Element<'_>, depth: usize, _: &mut Out) -> Rule {
        if depth == 0 {
            element.name.clone_into(&mut self.root);
        }
        if let Some(around) = self.open.last_mut() {
            *around.elements.entry(element.name.to_owned()).or_default() += 1;
        }
        self.open.push(ElementContent::default());
        Rule::Inline
    }

    fn end(&mut self, _: &str, _: usize, _: &mut Out) {
        let Some(ElementContent { has_words, elements }) = self.open.pop() else { return };
        for (name, count) in elements {
            let counts = self.counts.entry(name).or_default();
            match has_words {
                true => counts.among_words += count,
                false => counts.elsewhere += count,
            }
        }
    }

    fn text(&mut self, text: &str, _: &mut Out) {
        if let Some(around) = self.open.last_mut() {
            around.has_words |= text.chars().any(char::is_alphanumeric);
        }
    }
}

/// Writes the text, as the survey decides.
struct Other {
    survey: Survey,
    descriptions: &'static [&'static str],
    /// Text since the last tag. Collected, because the parser may deliver it in several pieces.
    pending: String,
}

impl Other {
    fn of(survey: Survey) -> Other {
        let root = survey.root.as_str();
        let found = DESCRIPTIONS.iter().find(|(roots, _)| roots.contains(&root));
        let descriptions = found.map_or(&[][..], |(_, descriptions)| descriptions);
        Other { survey, descriptions, pending: String::new() }
    }

    fn is_inline(&self, name: &str) -> bool {
        let counts = self.survey.counts.get(name);
        counts.is_some_and(|counts| counts.among_words > counts.elsewhere)
    }

    /// Writes the text before a tag.
    fn flush(&mut self, out: &mut Out) {
        let text = std::mem::take(&mut self.pending);
        match is_page(&text) {
            true => out.push_paragraphs(&text_of_page(&text, Html::All).0),
            false => out.push(&text),
        }
    }
}

/// Returns whether a text holds the tags of a page.
fn is_page(text: &str) -> bool {
    const TAGS: [&str; 4] = ["</", "<br", "<p>", "<img "];
    text.contains('<') && text.contains('>') && TAGS.iter().any(|tag| text.contains(tag))
}

impl Format for Other {
    fn start(&mut self, element: &Element<'_>, _: usize, out: &mut Out) -> Rule {
        self.flush(out);
        match element.name {
            name if SKIPPED.contains(&name) || self.descriptions.contains(&name) => Rule::Skip,
            name if NOTES.contains(&name) => Rule::Aside,
            "br" | "lb" | "eol" => {
                out.line();
                Rule::Inline
            }
            "p" | "para" => Rule::Block,
            name if self.is_inline(name) => Rule::Inline,
            _ => Rule::Line,
        }
    }

    fn end(&mut self, _: &str, _: usize, out: &mut Out) {
        self.flush(out);
    }

    fn text(&mut self, text: &str, _: &mut Out) {
        self.pending.push_str(text);
    }
}

/// Returns why XML with this root is not read, as a clause.
pub fn unread(start: &[u8]) -> Option<&'static str> {
    super::root::name_of_root(start).and_then(|name| match local(&name) {
        "mediawiki" => Some(
            "it is a dump of MediaWiki, whose pages are marked up as wiki text; convert it to \
             JSON lines first, for example with WikiExtractor",
        ),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(xml: &str, expected: &str) {
        let found = text_of(xml).unwrap();
        assert_eq!((&*found.text, found.missing), (expected, None), "{xml}");
    }

    #[test]
    fn elements_among_words_are_in_a_line_and_others_are_lines() {
        check("<law><p>a <term id='1'>b</term>, c</p><p><term>d</term>e</p></law>", "a b, c\n\nde");
        check("<r><row><a>1</a><b>two</b></row><row><a>3</a></row></r>", "1\ntwo\n3");
        check("<r><t>one<br/>two &amp; three</t></r>", "one\ntwo & three");
        check("<r><p>one<fn>a note</fn> two</p><p>three</p></r>", "one two\n\nthree\n\na note");
        check("<r><script>x</script><a><![CDATA[a < b]]></a></r>", "a < b");
    }

    #[test]
    fn descriptions_of_known_vocabularies_are_left_out() {
        check(
            "<akomaNtoso><act><meta><identification>x</identification></meta><body><section><num>1.\
             </num><heading>Part</heading><content><p>Text.</p></content></section></body></act>\
             </akomaNtoso>",
            "1.\nPart\n\nText.",
        );
        check("<nitf><head><title>x</title></head><body><p>Text.</p></body></nitf>", "Text.");
        check(
            "<tt><head>x</head><body><div><p>One</p><p>two<br/>three</p></div></body></tt>",
            "One\n\ntwo\nthree",
        );
        check(
            "<article><front><journal-meta>x</journal-meta><title-group><article-title>T\
             </article-title></title-group></front><body><p>A <italic>b</italic> c.</p></body>\
             </article>",
            "T\n\nA b c.",
        );
        check(
            "<rss><channel><title>News</title><link>http://x</link><item><guid>1</guid>\
             <description>&lt;p&gt;One &lt;b&gt;two&lt;/b&gt;&lt;/p&gt;</description></item>\
             </channel></rss>",
            "News\n\nOne two",
        );
    }

    #[test]
    fn xml_without_text_or_without_form_has_no_tags_as_words() {
        assert!(text_of("<rows><row text='a b'/></rows>").unwrap_err().contains("attributes"));
        check("<r><p>one</p><p>two</r>", "one\ntwo");
        check("<p>one</p><p>two", "one\ntwo");
    }

    #[test]
    fn a_dump_of_a_wiki_is_named() {
        assert!(unread(b"<?xml version='1.0'?><mediawiki xmlns='x'>").is_some());
        assert!(unread(b"<law>").is_none() && unread(b"text").is_none());
    }
}
