//! Text of editions (Text Encoding Initiative).
//!
//! The reading text lacks the header, running heads and the writer's deletions. A choice or an
//! apparatus contributes a single reading, preferably the regularized reading. Notes come after the
//! text. A word that continues on the next line is joined. Quotations get quotation marks in the
//! line, and quoted lines elsewhere.

use super::out::MarkForm;
use super::{Element, Format, Out, Rule, walk};
use crate::css::is_not_displayed;
use crate::extracted::ExtractedText;
use crate::note_mark::is_note_target;

/// Elements outside the reading text: descriptions, running heads, deletions, entries of an index,
/// readings above characters, annotations of linguists.
const SKIPPED: [&str; 17] = [
    "del",
    "facsimile",
    "figDesc",
    "fs",
    "fvLib",
    "fLib",
    "fw",
    "index",
    "interp",
    "interpGrp",
    "link",
    "rp",
    "rt",
    "spanGrp",
    "standOff",
    "teiHeader",
    "xenoData",
];

const BLOCKS: [&str; 32] = [
    "TEI",
    "TEI.2",
    "ab",
    "argument",
    "body",
    "byline",
    "castList",
    "closer",
    "dateline",
    "div",
    "div1",
    "div2",
    "div3",
    "div4",
    "docTitle",
    "epigraph",
    "figure",
    "floatingText",
    "front",
    "head",
    "lg",
    "list",
    "opener",
    "p",
    "postscript",
    "salute",
    "signed",
    "sp",
    "stage",
    "table",
    "text",
    "trailer",
];

/// Elements of quotations.
const QUOTATIONS: [&str; 3] = ["q", "quote", "said"];

/// Elements with lines of text. A quotation elsewhere is a block.
const WITH_LINES: [&str; 12] =
    ["ab", "bibl", "cell", "desc", "head", "item", "l", "note", "p", "seg", "signed", "u"];

const LINES: [&str; 12] = [
    "bibl",
    "castItem",
    "cell",
    "docAuthor",
    "docImprint",
    "item",
    "label",
    "row",
    "speaker",
    "titlePart",
    "u",
    "zone",
];

/// The maximum nesting of choices, because a text is moved once per level. In deeper choices, every
/// reading is read.
const READINGS_DEPTH_MAX: usize = 16;

/// An open choice between alternative readings.
struct Readings {
    /// The depth of the element with the choice.
    depth: usize,
    /// The best reading so far, with its rank.
    best: Option<(u8, String)>,
}

#[derive(Default)]
struct Tei {
    /// The open choices, innermost last.
    readings: Vec<Readings>,
    /// Whether the transcriptions of page images are read.
    reads_source: bool,
    /// Whether a word has just ended.
    after_word: bool,
    /// The open elements that are raised or refer to a note, with their depths.
    marks: Vec<(usize, MarkForm)>,
    /// The ids of the renditions that the header declares as not displayed.
    hiding: Vec<String>,
    /// The depth of the open element that is not displayed.
    hidden: Option<usize>,
    /// The depth of the outermost open element with lines of text.
    lines: Option<usize>,
    /// The depths of the back matter and of a bibliography in it.
    back: Option<usize>,
    bibliography: Option<usize>,
    /// Whether the bibliography begins here, unless this is its heading.
    begins_bibliography: bool,
}

pub fn text_of(xml: &str) -> ExtractedText {
    let read = |reads_source| {
        let hiding = hiding_renditions(xml);
        let mut tei = Tei { reads_source, hiding, ..Tei::default() };
        let mut out = Out::default();
        let missing = walk(xml, &mut tei, &mut out);
        out.finish(missing)
    };
    let text = read(false);
    let all = match memchr::memmem::find(xml.as_bytes(), b"sourceDoc") {
        Some(_) => read(true),
        None => return text,
    };
    // An edition may consist of transcriptions with a few headings. Otherwise, transcriptions with
    // hardly more words than the text repeat the text.
    let words = |text: &str| text.split_whitespace().count();
    match words(&all.text) > words(&text.text) * SOURCE_SHARE {
        true => all,
        false => text,
    }
}

/// With this many times the words of the text, text and transcriptions are not the same.
const SOURCE_SHARE: usize = 3;

/// Returns the rank of a reading, or `None` for any element except readings.
fn rank(name: &str) -> Option<u8> {
    match name {
        "reg" | "corr" | "expan" | "ex" | "lem" => Some(3),
        "am" => Some(1),
        "note" | "wit" | "witDetail" => None,
        _ => Some(2),
    }
}

impl Format for Tei {
    fn start(&mut self, element: &Element<'_>, depth: usize, out: &mut Out) -> Rule {
        let is_reading = self.readings.last().is_some_and(|open| open.depth + 1 == depth);
        if is_reading {
            if rank(element.name).is_none() {
                return Rule::Skip;
            }
            out.begin();
        }
        self.marks.extend(mark_form(element).map(|form| (depth, form)));
        if self.hidden.is_none() && self.is_hidden(element) {
            self.hidden = Some(depth);
        }
        if std::mem::take(&mut self.begins_bibliography) && element.name != "head" {
            out.begin_bibliography();
        }
        let is_in_lines = self.lines.is_some();
        if WITH_LINES.contains(&element.name) {
            self.lines = self.lines.or(Some(depth));
        }
        match element.name {
            name if QUOTATIONS.contains(&name) => match is_in_lines {
                true => Rule::Quoted,
                false => Rule::BlockQuote,
            },
            "back" => {
                self.back = Some(depth);
                Rule::Block
            }
            "listBibl" => {
                self.begins_bibliography = self.back.is_some() && self.bibliography.is_none();
                self.bibliography = self.bibliography.or(Some(depth));
                Rule::Block
            }
            "choice" | "app" if self.readings.len() < READINGS_DEPTH_MAX => {
                self.readings.push(Readings { depth, best: None });
                Rule::Inline
            }
            "note" => Rule::Aside,
            "lb" | "pb" | "cb" | "gb" | "milestone" => {
                match element.attribute("break").as_deref() {
                    Some("no") => out.join(),
                    Some("yes") => out.line(),
                    // Unlike a line break, a page or column break does not end a word by
                    // itself.
                    _ if element.name == "lb" => out.printed_line(),
                    _ => out.page_break(),
                }
                Rule::Inline
            }
            "w" => {
                let goes_on = ["M", "F"].iter().any(|part| element.has("part", part));
                if self.after_word && !goes_on && element.attribute("join").is_none() {
                    out.space();
                }
                Rule::Inline
            }
            "sourceDoc" if !self.reads_source => Rule::Skip,
            // A title within a sentence does not begin a paragraph, unlike a title page.
            "docTitle" | "titlePage" => Rule::Block,
            name if SKIPPED.contains(&name) && !is_reading => Rule::Skip,
            name if BLOCKS.contains(&name) => Rule::Block,
            "l" | "line" => {
                out.printed_line();
                Rule::Line
            }
            name if LINES.contains(&name) => Rule::Line,
            _ => Rule::Inline,
        }
    }

    fn end(&mut self, name: &str, depth: usize, out: &mut Out) {
        if self.readings.last().is_some_and(|open| open.depth == depth) {
            let best = self.readings.pop().and_then(|open| open.best);
            out.push(&best.map(|(_, text)| text).unwrap_or_default());
        }
        if let Some(open) = self.readings.last_mut()
            && open.depth + 1 == depth
        {
            let text = out.take();
            let rank = rank(name).unwrap_or_default();
            if open.best.as_ref().is_none_or(|(best, _)| *best < rank) {
                open.best = Some((rank, text));
            }
        }
        if self.marks.last().is_some_and(|(open, _)| *open == depth) {
            self.marks.pop();
        }
        let Tei { hidden, lines, back, bibliography, .. } = self;
        for open in [hidden, lines, back, bibliography] {
            open.take_if(|open| *open == depth);
        }
        self.after_word = name == "w";
    }

    fn text(&mut self, text: &str, out: &mut Out) {
        if self.hidden.is_some() {
            out.hide(text);
            return;
        }
        self.after_word = false;
        // White space between readings is not part of the text.
        let has = |form| self.marks.iter().any(|(_, open)| *open == form);
        match (has(MarkForm::Raised), has(MarkForm::Citation)) {
            _ if has(MarkForm::Link) => out.mark(text, MarkForm::Link),
            (true, true) => out.mark(text, MarkForm::Link),
            (true, false) => out.mark(text, MarkForm::Raised),
            _ => out.push(text),
        }
    }
}

impl Tei {
    /// Returns whether an element is marked as not displayed, directly or by a rendition.
    fn is_hidden(&self, element: &Element<'_>) -> bool {
        let style = element.attribute("style");
        let rendition = element.attribute("rendition").filter(|_| !self.hiding.is_empty());
        let ids = rendition.iter().flat_map(|all| all.split_whitespace());
        style.is_some_and(|style| is_not_displayed(&style))
            || ids
                .filter_map(|id| id.strip_prefix('#'))
                .any(|id| self.hiding.iter().any(|it| it == id))
    }
}

/// Returns the ids of the renditions that a header declares as not displayed.
fn hiding_renditions(xml: &str) -> Vec<String> {
    const RENDITION: &str = "<rendition ";
    let mut found = Vec::new();
    for (at, _) in xml.match_indices(RENDITION) {
        let Some((tag, after)) = xml[at + RENDITION.len()..].split_once('>') else { break };
        let style = after.split('<').next().unwrap_or_default();
        let id = tag.split_once("xml:id=").map(|(_, id)| id);
        let id = id.and_then(|id| id.get(1..)?.split(['"', '\'']).next());
        found.extend(id.filter(|_| is_not_displayed(style)).map(str::to_owned));
    }
    found
}

/// The types of references that are the marks of notes.
const NOTE_ANCHORS: [&str; 4] = ["noteAnchor", "note", "noteref", "footnote"];

/// Returns how an element marks notes: raised text, or a reference.
fn mark_form(element: &Element<'_>) -> Option<MarkForm> {
    match element.name {
        "hi" | "seg" => {
            let rend = element.attribute("rend").or(element.attribute("rendition"))?;
            let is_raised = |name: &str| name.trim_start_matches('#').starts_with("sup");
            rend.split_whitespace().any(is_raised).then_some(MarkForm::Raised)
        }
        "ref" => {
            let is_anchor = NOTE_ANCHORS.iter().any(|anchor| element.has("type", anchor));
            let target = element.attribute("target");
            let is_to_note = target.is_some_and(|target| is_note_target(target.as_bytes()));
            Some(if is_anchor || is_to_note { MarkForm::Link } else { MarkForm::Citation })
        }
        "ptr" => Some(MarkForm::Citation),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let header = "<teiHeader><title>Chronicon</title></teiHeader>";
        let xml = format!("<TEI>{header}<text><body>{body}</body></text></TEI>");
        let found = text_of(&xml);
        assert_eq!((&*found.text, found.missing), (expected, None), "{body}");
    }

    #[test]
    fn quotations_have_marks() {
        check(
            "<p>a <quote>b <q>c</q></quote> <said>\u{2014} d</said> \u{ab} <q>e</q> \u{bb}</p>",
            "a \u{201c}b \u{2018}c\u{2019}\u{201d} \u{2014} d \u{ab} e \u{bb}",
        );
        check(
            "<p>a</p><cit><quote><l>b</l><l>c</l></quote><bibl>d</bibl></cit><q><p>e</p></q>\
             <p>f</p>",
            "a\n\n> b\n> c\n\nd\n\n> e\n\nf",
        );
        // A note on a quotation is no part of it.
        check("<quote><p>a<note>b</note></p></quote>", "> a\n\nb");
        check("<p><q>a<lg><l>b</l></lg></q></p>", "\u{201c}a\u{201d}\n\n\u{201c}b\u{201d}");
        check("<p><quote>a<hi rend='sup'>1</hi></quote> b</p>", "\u{201c}a1\u{201d} b");
    }

    #[test]
    fn a_bibliography_without_a_heading_gets_one() {
        let back = |list: &str| {
            format!("<TEI><text><body><p>a</p></body><back>{list}</back></text></TEI>")
        };
        let list = "<listBibl><bibl>b</bibl><listBibl><bibl>c</bibl></listBibl></listBibl>";
        for (list, expected) in [
            (list.to_owned(), "a\n\nReferences\n\nb\n\nc"),
            (list.replacen("<bibl>", "<head>Works</head><bibl>", 1), "a\n\nWorks\n\nb\n\nc"),
            (
                format!("<div><head>Sources cited</head>{list}</div>"),
                "a\n\nSources cited\n\nb\n\nc",
            ),
        ] {
            assert_eq!(text_of(&back(&list)).text, expected);
        }
        check("<listBibl><bibl>b</bibl></listBibl>", "b");
    }

    #[test]
    fn text_that_a_rendition_hides_is_counted_and_left_out() {
        let header = "<teiHeader><tagsDecl><rendition xml:id='h' scheme='css'>display: none;\
            </rendition><rendition xml:id=\"b\">display: block</rendition></tagsDecl></teiHeader>";
        let body = "<p>one <hi rendition='#b #h'>not <hi>this</hi></hi> two \
            <seg style='DISPLAY:none'>nor</seg> <hi rendition='#b'>three</hi></p>";
        let found = text_of(&format!("<TEI>{header}<text><body>{body}</body></text></TEI>"));
        assert_eq!((&*found.text, found.hidden), ("one two three", 10));
    }

    #[test]
    fn a_word_over_two_lines_is_one_word() {
        check("<p>mili<lb n='2' break='no'/>tibus ad</p>", "militibus ad");
        check("<p>fru-<lb break='no'/>mentum</p>", "frumentum");
        check("<p>fru\u{ac}\n  <pb/><lb break='no'/>\n mentum</p>", "frumentum");
        check("<p>pau<pb n='7'/>peres</p>", "pauperes");
        check("<p>des-<lb/>\ntroyed eld\u{ac}<lb/>ers</p>", "destroyed elders");
        check("<p>eld\u{ad}\n  ers, so-\ncalled</p>", "elders, so- called");
        check(
            "<p>des-<pb/>troyed eld- <cb/>\n ers Anglo-<pb/>Saxon</p>",
            "destroyed elders Anglo-Saxon",
        );
        check("<lg><l>des-</l>\n<l>troyed</l><l>eld-</l></lg><p>ers</p>", "destroyed\neld-\n\ners");
        check("<p>ge=<lb/>heim ge\u{2e17}<lb/>heim a=<lb/>B</p>", "geheim geheim a=\nB");
        check("<p>Anglo-<lb/>Saxon and-<lb break='yes'/>so</p>", "Anglo-\nSaxon and-\nso");
        check("<p>one<lb/>two<cb break='yes'/>three <pb/>four</p>", "one\ntwo\nthree four");
        check(
            "<p><w part='I'>mi</w><w part='F'>les</w><w>et</w><w>rex</w><pc>.</pc></p>",
            "miles et rex.",
        );
        check("<p><w>Anno</w> <w>eodem</w>\n<w>rex</w></p>", "Anno eodem rex");
    }

    #[test]
    fn of_several_readings_one_is_read() {
        check("<p>a <choice><orig>ye</orig> <reg>the</reg></choice> b</p>", "a the b");
        check("<p><choice><reg>the</reg><orig>ye</orig></choice></p>", "the");
        check(
            "<p><choice><abbr>d<am>n</am>s</abbr><expan>d<ex>ominus</ex></expan></choice></p>",
            "dominus",
        );
        check("<p><choice><unclear>a</unclear><unclear>b</unclear></choice>c</p>", "ac");
        check(
            "<p>x <app><lem>one</lem><rdg wit='A'>two</rdg><note>n</note></app> y</p>",
            "x one y",
        );
        check(
            "<p><choice><sic>a</sic><corr>b<choice><orig>c</orig><reg>d</reg></choice></corr></choice>e</p>",
            "bde",
        );
        check("<p><subst><del>old</del><add>new</add></subst> word</p>", "new word");
    }

    #[test]
    fn a_raised_number_after_a_word_marks_a_note() {
        let raised = |number: &str| format!("<hi rend='superscript'>{number}</hi>");
        let link = format!("<ref target='#n'>{}</ref>", raised("1"));
        check(
            &format!("<p>gate{link} and{} 10{} m</p>", raised("2"), raised("3")),
            "gate and 103 m",
        );
        check(&format!("<p>the 1{} <ref>page 3</ref></p>", raised("er")), "the 1er page 3");
        check("<p>a gate<ref type='noteAnchor' target='#x'>1</ref> was</p>", "a gate was");
        check("<p>a gate<ref target='#fn12'>12</ref>, see</p>", "a gate, see");
        check("<p>see <ref target='#note3'>the note</ref></p>", "see the note");
    }

    #[test]
    fn notes_come_after_the_text_and_running_heads_not_at_all() {
        check(
            "<p>one<note>a note</note> two</p><fw>12</fw><p>three</p>",
            "one two\n\nthree\n\na note",
        );
        check("<head>H</head><lg><l>one</l><l>two</l></lg>", "H\n\none\ntwo");
        check("<list><item>a</item><item>b</item></list>", "a\nb");
    }

    #[test]
    fn readings_above_characters_and_entries_of_an_index_are_no_text() {
        check("<p><ruby><rb>a</rb><rp>(</rp><rt>b</rt></ruby>c</p>", "ac");
        check("<p>the <index><term>gate</term></index>old gate</p>", "the old gate");
    }

    #[test]
    fn an_edition_of_pages_is_read() {
        let xml = "<TEI><sourceDoc><surface><zone><line>one</line><line>two</line></zone></surface>\
                   </sourceDoc></TEI>";
        assert_eq!(text_of(xml).text, "one\ntwo");
        let xml = "<TEI><sourceDoc><line>des-</line>\n<line>troyed</line></sourceDoc></TEI>";
        assert_eq!(text_of(xml).text, "destroyed");
        let both = |text: &str, lines: &str| {
            let xml = format!(
                "<TEI><sourceDoc><line>{lines}</line></sourceDoc><text><head>{text}</head></text>\
                 </TEI>"
            );
            text_of(&xml).text
        };
        assert_eq!(both("Letters", "one two three"), "one two three\n\nLetters");
        assert_eq!(both("one two three", "one two three"), "one two three");
    }
}
