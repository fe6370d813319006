//! Text of XML in any vocabulary.
//!
//! An element that occurs mostly among words is part of a line. Every other element begins and ends
//! a line. Notes come after the text, and quotations get marks. Descriptions of the document are
//! skipped in laws (Akoma Ntoso), news (NITF, NewsML), articles (JATS), books (DocBook,
//! FictionBook), captions (TTML) and feeds (RSS, Atom). Text that contains HTML tags, as in feeds,
//! is read as a web page.

use std::collections::HashMap;

use super::out::MarkForm;
use super::vocabulary::{self, BLOCK_QUOTES, INLINE, NOTES, RAISED, SKIPPED, Vocabulary};
use super::{Element, Format, Out, Rule, local, walk};
use crate::extracted::ExtractedText;
use crate::html::{Html, text_of_page};
use crate::subtitles;

/// The root of captions (TTML), whose paragraphs are cues.
const CAPTIONS: &str = "tt";

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
    let is_captions = survey.root == CAPTIONS;
    let (mut other, mut out) = (Other::of(survey), Out::default());
    let missing = walk(xml, &mut other, &mut out);
    let mut found = out.finish(missing);
    if is_captions {
        found.text = subtitles::without_repeated(&found.text);
    }
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
    vocabularies: Vec<&'static Vocabulary>,
    /// The open elements that are raised or cite, with their depths.
    marks: Vec<(usize, MarkForm)>,
    /// The number of open elements with readings above their characters.
    rubies: usize,
    /// Text since the last tag. Collected, because the parser may deliver it in several pieces.
    pending: String,
    /// Whether the file has an element for each letter.
    has_letters: bool,
    /// White space here is the layout of the file, because each letter has an element.
    is_between_letters: bool,
    /// Whether a bibliography begins here, unless this is its title.
    begins_bibliography: bool,
}

impl Other {
    fn of(survey: Survey) -> Other {
        let vocabularies = vocabulary::of_root(&survey.root);
        let mut letters = vocabularies.iter().flat_map(|of| of.letters);
        let has_letters = letters.any(|name| survey.counts.contains_key(*name));
        Other {
            vocabularies,
            survey,
            has_letters,
            marks: Vec::new(),
            rubies: 0,
            pending: String::new(),
            is_between_letters: false,
            begins_bibliography: false,
        }
    }

    /// Returns whether the vocabulary lists an element.
    fn lists(&self, list: impl Fn(&Vocabulary) -> &[&'static str], name: &str) -> bool {
        self.vocabularies.iter().any(|vocabulary| list(vocabulary).contains(&name))
    }

    fn is_skipped(&self, name: &str) -> bool {
        let is_reading = self.rubies > 0 && ["rt", "rp"].contains(&name);
        SKIPPED.contains(&name) || is_reading || self.lists(|of| of.skipped, name)
    }

    fn is_inline(&self, name: &str) -> bool {
        let counts = self.survey.counts.get(name);
        INLINE.contains(&name)
            || RAISED.contains(&name)
            || self.lists(|of| of.inline, name)
            || counts.is_some_and(|counts| counts.among_words > counts.elsewhere)
    }

    /// Returns the form of marks at this place, if text here may be a mark.
    fn mark_form(&self) -> Option<MarkForm> {
        let has = |form| self.marks.iter().any(|(_, open)| *open == form);
        match has(MarkForm::Citation) && has(MarkForm::Raised) {
            true => Some(MarkForm::Link),
            false => self.marks.iter().map(|(_, form)| *form).max(),
        }
    }

    /// Writes the text before a tag.
    fn flush(&mut self, out: &mut Out) {
        let text = std::mem::take(&mut self.pending);
        if self.is_between_letters && text.trim().is_empty() {
            return;
        }
        match is_page(&text) {
            true => out.push_paragraphs(&text_of_page(&text, Html::All).0),
            false => match self.mark_form() {
                Some(form) => out.mark(&text, form),
                None => out.push(&text),
            },
        }
    }
}

/// Returns how an element marks notes: raised text, a citation, or the declared mark of a note.
fn mark_form(element: &Element<'_>) -> Option<MarkForm> {
    match element.name {
        name if RAISED.contains(&name) => Some(MarkForm::Raised),
        "xref" => match element.attribute("ref-type").as_deref() {
            Some("bibr" | "fn") => Some(MarkForm::Citation),
            Some("table-fn" | "aff" | "corresp" | "author-notes") => Some(MarkForm::Link),
            _ => None,
        },
        "a" if element.has("type", "note") => Some(MarkForm::Link),
        _ => None,
    }
}

/// Returns whether a text holds the tags of a page.
fn is_page(text: &str) -> bool {
    const TAGS: [&str; 4] = ["</", "<br", "<p>", "<img "];
    text.contains('<') && text.contains('>') && TAGS.iter().any(|tag| text.contains(tag))
}

impl Format for Other {
    fn start(&mut self, element: &Element<'_>, depth: usize, out: &mut Out) -> Rule {
        self.flush(out);
        let form = mark_form(element);
        // A number and metadata may come before the title.
        let may_come_first = ["info", "label"].contains(&element.name);
        if !may_come_first
            && std::mem::take(&mut self.begins_bibliography)
            && element.name != "title"
        {
            out.begin_bibliography();
        }
        self.is_between_letters = self.has_letters && !self.lists(|of| of.letters, element.name);
        match element.name {
            name if self.is_skipped(name) => return Rule::Skip,
            name if NOTES.contains(&name) || self.lists(|of| of.notes, name) => {
                return Rule::Aside;
            }
            "br" | "BR" | "lb" | "eol" => out.line(),
            "p" | "para" => return Rule::Block,
            name if self.lists(|of| of.quoted, name) => return Rule::Quoted,
            name if BLOCK_QUOTES.contains(&name) || self.lists(|of| of.block_quotes, name) => {
                return Rule::BlockQuote;
            }
            name if self.lists(|of| of.bibliographies, name) => {
                self.begins_bibliography = true;
                return Rule::Block;
            }
            name if self.lists(|of| of.lines, name) => return Rule::Line,
            name if self.lists(|of| of.printed, name) => {
                out.printed_line();
                return Rule::Line;
            }
            name if self.lists(|of| of.words, name) => out.space(),
            _ if form.is_some() => self.marks.extend(form.map(|form| (depth, form))),
            "ruby" => self.rubies += 1,
            // Other vocabularies have records of this name.
            "xref" if element.attribute("rid").or(element.attribute("href")).is_some() => {}
            name if self.is_inline(name) => {}
            _ => return Rule::Line,
        }
        Rule::Inline
    }

    fn end(&mut self, name: &str, depth: usize, out: &mut Out) {
        self.flush(out);
        self.is_between_letters = self.has_letters;
        if self.lists(|of| of.words, name) {
            out.space();
        }
        if self.marks.last().is_some_and(|(open, _)| *open == depth) {
            self.marks.pop();
        }
        if name == "ruby" {
            self.rubies = self.rubies.saturating_sub(1);
        }
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
    fn citations_of_articles_are_marks_and_their_elements_are_in_the_line() {
        let bibr = |text: &str| format!("<xref ref-type='bibr' rid='b'>{text}</xref>");
        let article = |text: &str, expected: &str| {
            check(&format!("<article><body><p>{text}</p></body></article>"), expected);
        };
        let (one, four) = (bibr("<sup>1</sup>"), bibr("<sup>4</sup>"));
        article(
            &format!("The end{one}<sup>,</sup>{one}<sup>&#x2013;</sup>{four} is."),
            "The end is.",
        );
        article(
            &format!("10<sup>3</sup> at the coast{one}, H<sub>2</sub>O"),
            "103 at the coast, H2O",
        );
        article(
            &format!("coast [{}, {}&#8211;{}], so", bibr("1"), bibr("2"), bibr("4")),
            "coast, so",
        );
        article(&format!("coast {} so{}.", bibr("[12]"), bibr("3")), "coast so.");
        article("<italic>a</italic><xref ref-type='fig' rid='f'>Fig. 2</xref>", "aFig. 2");
        let written = format!("({}; {}) in Smith ({})", bibr("Smith 1"), bibr("2"), bibr("2010"));
        article(&written, "(Smith 1; 2) in Smith (2010)");
        article("A<xref ref-type='aff' rid='a'>*</xref>", "A");
        check(
            "<FictionBook><body><p>gate<a type='note'>[2]</a> was</p></body></FictionBook>",
            "gate was",
        );
    }

    #[test]
    fn quotations_have_marks() {
        let quotation = "<p>a</p><disp-quote><p>b <xref ref-type='bibr' rid='b'>1</xref></p>\
            <p>c</p><attrib>d</attrib></disp-quote><p>e</p>";
        check(
            &format!("<article><body>{quotation}</body></article>"),
            "a\n\n> b 1\n\n> c\n\n> d\n\ne",
        );
        check(
            "<book><epigraph><para>a</para></epigraph><para>b <quote>c <quote>d</quote></quote>, \
             <quote>\"e\"</quote></para><blockquote><para>f</para></blockquote></book>",
            "> a\n\nb \u{201c}c \u{2018}d\u{2019}\u{201d}, \"e\"\n\n> f",
        );
        check(
            "<topic><p>a <q>b</q></p><lq>c<lq>d</lq></lq></topic>",
            "a \u{201c}b\u{201d}\n\n> c\n\n> d",
        );
        check("<FictionBook><body><cite><p>a</p></cite><p>b</p></body></FictionBook>", "> a\n\nb");
        check("<stocks><quote>7</quote></stocks>", "7");
        check("<osis><p><q sID='a'/>b<q eID='a'/></p></osis>", "b");
    }

    #[test]
    fn a_bibliography_without_a_title_gets_a_heading() {
        let article =
            |list: &str| format!("<article><body><p>a</p></body><back>{list}</back></article>");
        let list = "<ref-list><label>5</label><ref><p>b</p></ref></ref-list>";
        check(&article(list), "a\n\n5\n\nReferences\n\nb");
        let titled = list.replace("<ref>", "<title>Works</title><ref>");
        check(&article(&titled), "a\n\n5\nWorks\n\nb");
        check(
            &article(
                &format!("<sec><title>Literaturverzeichnis</title>{list}</sec>")
                    .replace("<label>5</label>", ""),
            ),
            "a\n\nLiteraturverzeichnis\n\nb",
        );
        check(
            "<book><bibliography><biblioentry>b</biblioentry></bibliography></book>",
            "References\n\nb",
        );
    }

    #[test]
    fn letters_of_a_recognized_page_are_words() {
        let line = |text: &str| {
            let letter = |c: char| format!("<charParams l='1'>{c}</charParams>");
            let letters: String = text.chars().map(letter).collect();
            format!("<line><formatting lang='x'>{letters}</formatting></line>")
        };
        let par = format!("<par>{}{}</par>", line("the old wa\u{ac}"), line("ter gate"));
        let par = format!("{par}<par>{}</par>", line("was"));
        let block = format!("<block blockType='Text'><text>{par}</text></block>");
        check(&format!("<document><page>{block}</page></document>"), "the old water gate\nwas");
        check("<document><line>one</line><line>two</line></document>", "one\ntwo");
    }

    #[test]
    fn entries_of_an_index_and_remarks_are_no_text() {
        let entry = "<indexterm><primary>word</primary></indexterm>";
        let book =
            format!("<chapter><para>the{entry} old<remark>check</remark> gate</para></chapter>");
        check(&book, "the old gate");
        let topic =
            format!("<topic><p>the {entry}<draft-comment>x</draft-comment>gate</p></topic>");
        check(&topic, "the gate");
        check("<article><p>a<index-term><term>b</term></index-term> c</p></article>", "a c");
        check("<records><remark>kept</remark></records>", "kept");
    }

    #[test]
    fn notes_stand_beside_the_verses_of_a_bible() {
        check(
            "<osis><header>x</header><p><verse>In the <w>beginning</w><note>Or when</note> God.\
             </verse><verse>And the</verse></p></osis>",
            "In the beginning God.\nAnd the\n\nOr when",
        );
        check(
            "<osis><chapter><verse sID='a'/>In<note>n</note> God<verse eID='a'/><verse sID='b'/>And\
             <verse eID='b'/></chapter></osis>",
            "In God\nAnd\n\nn",
        );
        check(
            "<usx><para><verse number='1'/>In <note><char>1:1</char> Or</note>the <char>A</char>\
             <verse number='2'/>And</para></usx>",
            "In the A\nAnd\n\n1:1 Or",
        );
        check("<XMLBIBLE><VERS>In<NOTE>n</NOTE> the</VERS></XMLBIBLE>", "In the\n\nn");
    }

    #[test]
    fn elements_of_letters_and_words_make_words_of_printed_lines() {
        let letters = |line: &str| {
            let letter = |c: char| format!("<charParams l='1'>{c}</charParams>\n");
            format!(
                "<line>\n<formatting>\n{}</formatting></line>\n",
                line.chars().map(letter).collect::<String>()
            )
        };
        let lines = [letters("the eld-"), letters("ers came")].concat();
        check(&format!("<document><page><par>{lines}</par></page></document>"), "the elders came");
        check("<document><line><formatting>a b</formatting></line></document>", "a b");
        let words = |line: &str| {
            let word = |word: &str| format!("<WORD coords='1'>{word}</WORD>");
            format!("<LINE>{}</LINE>\n", line.split(' ').map(word).collect::<String>())
        };
        let lines = [words("the eld-"), words("ers came")].concat();
        check(&format!("<DjVuXML><HEAD>x</HEAD><BODY>{lines}</BODY></DjVuXML>"), "the elders came");
        check(
            "<pdf2xml><text top='1'>the eld-</text>\n<text>ers <b>came</b></text></pdf2xml>",
            "the elders came",
        );
    }

    #[test]
    fn descriptions_of_entries_and_units_are_left_out() {
        check(
            "<feed><entry><author><name>x</name></author><content>a</content></entry></feed>",
            "a",
        );
        check("<rss><item><wp:post_id>7</wp:post_id><encoded>a</encoded></item></rss>", "a");
        check("<tmx><header/><tu><prop type='x'>p</prop><tuv><seg>a</seg></tuv></tu></tmx>", "a");
        check("<usx><book code='GEN'>x</book><para>a</para></usx>", "a");
    }

    #[test]
    fn captions_that_roll_are_read_once() {
        let captions = |cues: &[&str]| {
            let cue = |text: &&str| format!("<p begin='0s'>{text}</p>");
            format!("<tt><body><div>{}</div></body></tt>", cues.iter().map(cue).collect::<String>())
        };
        let rolling = captions(&["one", "one<br/>two", "two<br/>three", "three<br/>four"]);
        check(&rolling, "one\n\ntwo\n\nthree\n\nfour");
        check(&captions(&["no", "no", "one", "two", "three"]), "no\n\nno\n\none\n\ntwo\n\nthree");
    }

    #[test]
    fn readings_above_characters_are_no_text() {
        check("<article><p><ruby><rb>a</rb><rp>(</rp><rt>b</rt></ruby>c</p></article>", "ac");
        check("<r><rt>kept</rt></r>", "kept");
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
