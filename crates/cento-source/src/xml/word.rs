//! Text of Word documents.
//!
//! The text is the final text that Word shows, with rows in content controls and text boxes, but
//! without deletions and comments. Notes, text boxes, descriptions of pictures, headers and footers
//! come after the text, where they do not split a sentence. Invisible text is counted and left out:
//! hidden text, text of at most 2 points, and white text, unless the background may be colored.
//!
//! The same elements occur in the parts of a .docx file, in a single XML file with all parts, and
//! in Word 2003 XML. Only the namespaces differ.

use std::collections::HashMap;

use super::styles::{Look, Styles};
use super::{Element, Format, Out, Rule, walk};
use crate::css::is_white;
use crate::extracted::ExtractedText;

/// Elements outside the text: deletions, readings above characters, codes of fields, properties.
const SKIPPED: [&str; 16] = [
    "DocumentProperties",
    "Fallback",
    "binData",
    "del",
    "delText",
    "docOleData",
    "fonts",
    "instrText",
    "lists",
    "moveFrom",
    "numbering",
    "rt",
    "rubyPr",
    "sdtPr",
    "settings",
    "tblGrid",
];

/// Reads the elements of a document.
#[derive(Default)]
pub struct Word {
    /// The styles of the document.
    pub styles: Styles,
    /// The texts of embedded files, by their ids.
    pub embedded: HashMap<String, ExtractedText>,
    /// The looks of the open paragraphs and runs, the innermost last.
    paragraphs: Vec<Look>,
    runs: Vec<Look>,
    /// For each open table and cell, whether its background may be colored.
    behind: Vec<bool>,
    /// The number of open shapes, which may be filled.
    shapes: usize,
    /// The number of open elements with text.
    texts: usize,
    /// The number of open links.
    links: usize,
    /// The owners of the open properties.
    properties: Vec<Properties>,
    /// For each open paragraph, whether its end is deleted.
    continued: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Properties {
    Paragraph,
    Run,
    /// The mark at the end of a paragraph.
    ParagraphEnd,
    Other,
}

impl Format for Word {
    fn start(&mut self, element: &Element<'_>, _: usize, out: &mut Out) -> Rule {
        match element.name {
            "del" | "moveFrom" if self.properties.last() == Some(&Properties::ParagraphEnd) => {
                if let Some(continued) = self.continued.last_mut() {
                    *continued = true;
                }
                return Rule::Skip;
            }
            name if SKIPPED.contains(&name) => return Rule::Skip,
            // Word 2003 marks deletions as annotations.
            "annotation" => {
                let kind = element.attribute("type").unwrap_or_default();
                if ["Deletion", "Comment"].iter().any(|skipped| kind.ends_with(skipped)) {
                    return Rule::Skip;
                }
            }
            "styles" => return Rule::Inline,
            "style" => {
                self.styles.begin(element);
                return Rule::Inline;
            }
            "rPr" | "pPr" | "tblPr" | "tcPr" | "trPr" => {
                return self.begin_properties(element.name);
            }
            _ if !self.properties.is_empty() || self.styles.is_open() => {
                self.property(element);
                return Rule::Inline;
            }
            "p" => {
                self.paragraphs.push(Look::default());
                self.continued.push(false);
                return Rule::Block;
            }
            "r" => self.runs.push(Look::default()),
            "t" => self.texts += 1,
            "hyperlink" | "hlink" => self.links += 1,
            "tbl" | "tc" => self.behind.push(false),
            "tab" | "ptab" => out.space(),
            "br" | "cr" => out.line(),
            "sym" => self.symbol(element, out),
            "noBreakHyphen" => self.text_of("-", out),
            "txbxContent" => {
                self.shapes += 1;
                return Rule::Aside;
            }
            "docPr" => out.aside(element.attribute("descr").unwrap_or_default().trim().to_owned()),
            "footnote" | "endnote" | "hdr" | "ftr" => return Rule::Aside,
            "altChunk" => self.embed(element, out),
            "background" => {
                self.behind.push(element.attribute("color").is_some_and(|c| !is_white(&c)))
            }
            _ => {}
        }
        Rule::Inline
    }

    fn end(&mut self, name: &str, _: usize, out: &mut Out) {
        match name {
            "rPr" | "pPr" | "tblPr" | "tcPr" | "trPr" => {
                self.properties.pop();
            }
            "style" => self.styles.end(),
            _ if !self.properties.is_empty() || self.styles.is_open() => {}
            "p" => {
                self.paragraphs.pop();
                if self.continued.pop() == Some(true) {
                    out.continue_paragraph();
                }
            }
            "r" => {
                self.runs.pop();
            }
            "t" => self.texts = self.texts.saturating_sub(1),
            "hyperlink" | "hlink" => self.links = self.links.saturating_sub(1),
            "tbl" | "tc" => {
                self.behind.pop();
            }
            "txbxContent" => self.shapes = self.shapes.saturating_sub(1),
            _ => {}
        }
    }

    fn text(&mut self, text: &str, out: &mut Out) {
        // Everything else is white space between elements, or not part of the text.
        if self.texts > 0 && self.properties.is_empty() {
            self.text_of(text, out);
        }
    }
}

impl Word {
    fn begin_properties(&mut self, name: &str) -> Rule {
        let is_of_paragraph = self.properties.last() == Some(&Properties::Paragraph);
        self.properties.push(match name {
            // These do not apply to the text of the paragraph.
            "rPr" if is_of_paragraph => Properties::ParagraphEnd,
            "rPr" => Properties::Run,
            "pPr" => Properties::Paragraph,
            _ => Properties::Other,
        });
        Rule::Inline
    }

    /// Reads a property of the open style, run, paragraph, table or cell.
    fn property(&mut self, element: &Element<'_>) {
        if self.properties.last() == Some(&Properties::ParagraphEnd) {
            return;
        }
        if self.styles.is_open() {
            self.styles.property(element);
            return;
        }
        let look = match self.properties.last() {
            Some(Properties::Run) => self.runs.last_mut(),
            Some(Properties::Paragraph) => self.paragraphs.last_mut(),
            _ => None,
        };
        let value = || element.attribute("val").unwrap_or_default();
        match (element.name, look) {
            ("rStyle" | "pStyle", Some(look)) => {
                let style = self.styles.of(&value());
                *look = look.over(style);
            }
            (_, Some(look)) => look.read(element),
            ("tblStyle", None) => {
                let is_colored = self.styles.of(&value()).is_behind == Some(true);
                self.color_behind(is_colored);
            }
            ("shd", None) => {
                let mut look = Look::default();
                look.read(element);
                self.color_behind(look.is_behind == Some(true));
            }
            _ => {}
        }
    }

    fn color_behind(&mut self, is_colored: bool) {
        if let Some(behind) = self.behind.last_mut() {
            *behind |= is_colored;
        }
    }

    /// Adds text with the look of its run.
    fn text_of(&mut self, text: &str, out: &mut Out) {
        let mut of_run = self.runs.last().copied().unwrap_or_default();
        // Styles of words have such names, too.
        of_run.is_quoted = None;
        let of_paragraph = self.paragraphs.last().copied().unwrap_or_default();
        let look = of_run.over(of_paragraph);
        let may_lie_behind = self.shapes > 0 || self.behind.iter().any(|&behind| behind);
        look.write(text, may_lie_behind, self.links > 0, out);
    }

    /// Adds a character by its code in a font. Pictures from unknown symbol fonts are no text.
    fn symbol(&mut self, element: &Element<'_>, out: &mut Out) {
        let code = element.attribute("char").unwrap_or_default();
        let Ok(code) = u32::from_str_radix(&code, 16) else { return };
        let character = match code {
            0xf020..=0xf0ff if element.has("font", "Symbol") => symbol_of(code - 0xf000),
            0xe000..=0xf8ff => None,
            code => char::from_u32(code),
        };
        if let Some(character) = character {
            self.text_of(character.encode_utf8(&mut [0; 4]), out);
        }
    }

    /// Adds the text of an embedded file.
    fn embed(&mut self, element: &Element<'_>, out: &mut Out) {
        let id = element.attribute("id").unwrap_or_default();
        if let Some(ExtractedText { text, hidden, .. }) = self.embedded.remove(&id) {
            out.quote_lines(false);
            out.push_paragraphs(&text);
            out.hidden += hidden;
        }
    }
}

/// The letters of the font Symbol in the places of A to Z and a to z.
const CAPITALS: &str = "\
    \u{391}\u{392}\u{3a7}\u{394}\u{395}\u{3a6}\u{393}\u{397}\u{399}\
    \u{3d1}\u{39a}\u{39b}\u{39c}\u{39d}\u{39f}\u{3a0}\u{398}\u{3a1}\
    \u{3a3}\u{3a4}\u{3a5}\u{3c2}\u{3a9}\u{39e}\u{3a8}\u{396}";
const SMALL: &str = "\
    \u{3b1}\u{3b2}\u{3c7}\u{3b4}\u{3b5}\u{3c6}\u{3b3}\u{3b7}\u{3b9}\
    \u{3d5}\u{3ba}\u{3bb}\u{3bc}\u{3bd}\u{3bf}\u{3c0}\u{3b8}\u{3c1}\
    \u{3c3}\u{3c4}\u{3c5}\u{3d6}\u{3c9}\u{3be}\u{3c8}\u{3b6}";

/// Returns the character of the font Symbol with this code: a Greek letter, a digit or a sign.
fn symbol_of(code: u32) -> Option<char> {
    let letter = |letters: &str, first: char| letters.chars().nth((code - first as u32) as usize);
    match char::from_u32(code)? {
        'A'..='Z' => letter(CAPITALS, 'A'),
        'a'..='z' => letter(SMALL, 'a'),
        c if c.is_ascii_digit() || "!%&()+,./:;<=>?[]_{|} ".contains(c) => Some(c),
        '-' => Some('\u{2212}'),
        '\u{a3}' => Some('\u{2264}'),
        '\u{b3}' => Some('\u{2265}'),
        '\u{b0}' | '\u{b1}' => char::from_u32(code),
        '\u{b4}' => Some('\u{d7}'),
        _ => None,
    }
}

/// Returns the text of a document in a single XML file: Word 2003, or all parts of a .docx.
pub fn text_of_file(xml: &str) -> ExtractedText {
    let (mut word, mut out) = (Word::default(), Out::default());
    let missing = walk(xml, &mut Flat { word: &mut word, pass: Pass::Styles }, &mut out);
    drop(missing);
    let mut out = Out::default();
    let missing = walk(xml, &mut Flat { word: &mut word, pass: Pass::Text }, &mut out);
    out.finish(missing)
}

/// A pass over a document in a single XML file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Styles, which the file may define after the text that uses the styles.
    Styles,
    Text,
}

struct Flat<'a> {
    word: &'a mut Word,
    pass: Pass,
}

impl Format for Flat<'_> {
    fn start(&mut self, element: &Element<'_>, depth: usize, out: &mut Out) -> Rule {
        let is_styles = match element.name {
            "part" => {
                let name = element.attribute("name").unwrap_or_default();
                let file = name.rsplit('/').next().unwrap_or_default();
                let is_text = ["document", "footnotes", "endnotes", "header", "footer"]
                    .iter()
                    .any(|start| file.starts_with(start) && file.ends_with(".xml"));
                if name.contains("/glossary/") || !(is_text || file.starts_with("styles")) {
                    return Rule::Skip;
                }
                return Rule::Inline;
            }
            "xmlData" | "package" | "wordDocument" => return Rule::Inline,
            "styles" => true,
            "document" | "body" | "footnotes" | "endnotes" => false,
            _ => return self.word.start(element, depth, out),
        };
        match is_styles == (self.pass == Pass::Styles) {
            true => Rule::Inline,
            false => Rule::Skip,
        }
    }

    fn end(&mut self, name: &str, depth: usize, out: &mut Out) {
        self.word.end(name, depth, out);
    }

    fn text(&mut self, text: &str, out: &mut Out) {
        if self.pass == Pass::Text {
            self.word.text(text, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::root::Kind;

    #[track_caller]
    fn check(body: &str, expected: &str, hidden: usize) {
        let xml = format!(
            "<w:wordDocument xmlns:w='http://schemas.microsoft.com/office/word/2003/wordml' \
             xmlns:aml='x' xmlns:mc='y' xmlns:wp='z'><w:styles><w:style w:styleId='Secret'><w:rPr>\
             <w:vanish/></w:rPr></w:style><w:style w:styleId='Child'><w:basedOn w:val='Secret'/></w:style>\
             <w:style w:styleId='Dark'><w:tblStylePr><w:tcPr><w:shd w:val='clear' w:fill='000080'/>\
             </w:tcPr></w:tblStylePr></w:style>\
             <w:style w:styleId='Zitat1'><w:name w:val='Quote'/></w:style>\
             <w:style w:styleId='Long'><w:basedOn w:val='Zitat1'/></w:style></w:styles>\
             <w:body>{body}</w:body></w:wordDocument>"
        );
        assert_eq!(crate::xml::root::kind(xml.as_bytes()), Some(Kind::Word), "{body}");
        let found = text_of_file(&xml);
        assert_eq!((&*found.text, found.hidden, found.missing), (expected, hidden, None), "{body}");
    }

    fn run(properties: &str, text: &str) -> String {
        format!("<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>")
    }

    #[test]
    fn the_final_text_is_read() {
        let row = |text: &str| format!("<w:tr><w:tc><w:p>{}</w:p></w:tc></w:tr>", run("", text));
        check(
            &format!(
                "<w:tbl>{}<w:sdt><w:sdtPr><w:t>x</w:t></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt></w:tbl>",
                row("one"),
                row("two")
            ),
            "one\n\ntwo",
            0,
        );
        let ruby = format!(
            "<w:p><w:r><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r></w:p>",
            run("", "above"),
            run("", "base")
        );
        check(&ruby, "base", 0);
        check(
            "<w:p><w:r><w:t>well</w:t><w:noBreakHyphen/><w:t>known</w:t><w:softHyphen/></w:r></w:p>",
            "well-known",
            0,
        );
        let changed = format!(
            "<w:p>{}<w:del>{}</w:del><w:moveFrom>{}</w:moveFrom><w:ins>{}</w:ins>\
             <aml:annotation w:type='Word.Deletion'>{}</aml:annotation>\
             <aml:annotation w:type='Word.Insertion'>{}</aml:annotation></w:p>",
            run("", "a "),
            run("", "no "),
            run("", "no "),
            run("", "b "),
            run("", "no "),
            run("", "c"),
        );
        check(&changed, "a b c", 0);
    }

    #[test]
    fn paragraphs_with_a_style_for_quotations_are_quoted() {
        let styled = |style: &str, text: &str| {
            let style = format!("<w:pPr><w:pStyle w:val='{style}'/></w:pPr>");
            format!("<w:p>{style}{}</w:p>", run("", text))
        };
        let broken = styled("Zitat1", "b<w:br/>c").replace("<w:br/>", "</w:t><w:br/><w:t>");
        check(
            &format!("{}{broken}{}{}", styled("x", "a"), styled("Long", "d"), styled("y", "e")),
            "a\n\n> b\n> c\n\n> d\n\ne",
            0,
        );
        // Styles that the file does not define, and a style of words.
        check(
            &format!("{}{}", styled("IntenseQuote", "a"), styled("QuoteChar", "b")),
            "> a\n\nb",
            0,
        );
        check(&format!("<w:p>{}</w:p>", run("<w:rStyle w:val='Citation'/>", "a")), "a", 0);
    }

    #[test]
    fn raised_numbers_mark_notes_or_verses() {
        let raised = |text: &str| run("<w:vertAlign w:val='superscript'/>", text);
        let paragraph = |runs: &[String]| format!("<w:p>{}</w:p>", runs.concat());
        let link = format!("<w:hyperlink>{}</w:hyperlink>", raised("[a]"));
        check(
            &paragraph(&[
                run("", "gate"),
                raised("1"),
                run("", " and"),
                raised("2,3"),
                run("", ", 10"),
                raised("3"),
                run("", " m"),
                raised("2"),
                run("", " of wall"),
                link,
                run("", " the 2"),
                raised("nd"),
            ]),
            "gate and, 103 m2 of wall the 2nd",
            0,
        );
        // Raised by a length, beside a declaration of the base line. Lowered text is no mark.
        let lifted = |by: &str, text: &str| {
            let base = "<w:vertAlign w:val='baseline'/>";
            run(&format!("<w:position w:val='{by}'/>{base}"), text)
        };
        let runs = [run("", "gate"), lifted("6", "1"), run("", " and"), lifted("-6", "2")];
        check(
            &paragraph(&[&runs[..], &[run("", " m"), lifted("6pt", "2")]].concat()),
            "gate and2 m2",
            0,
        );
        let verse = |number: &str| paragraph(&[raised(number), run("", "In the")]);
        check(&["1", "2", "3"].map(verse).concat(), "In the\n\nIn the\n\nIn the", 0);
        check(&["12", "14"].map(verse).concat(), "12In the\n\n14In the", 0);
    }

    #[test]
    fn a_paragraph_whose_end_is_deleted_goes_on_in_the_next() {
        let deleted = "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>";
        let paragraph =
            |properties: &str, text: &str| format!("<w:p>{properties}{}</w:p>", run("", text));
        let check_ends = |first: &str, second: &str, expected: &str| {
            check(&format!("{}{}", paragraph(deleted, first), paragraph("", second)), expected, 0);
        };
        check_ends("docu", "ment ends", "document ends");
        check_ends("one ", "two", "one two");
        check_ends("one", " two", "one two");
        let empty = [paragraph("", "one"), format!("<w:p>{deleted}</w:p>"), paragraph("", "two")];
        check(&empty.concat(), "one\n\ntwo", 0);
    }

    #[test]
    fn symbols_are_letters_of_their_font() {
        let symbol =
            |font: &str, code: &str| format!("<w:r><w:sym w:font='{font}' w:char='{code}'/></w:r>");
        let symbols = [
            symbol("Symbol", "F061"),
            symbol("Symbol", "F057"),
            symbol("Symbol", "F07A"),
            symbol("Wingdings", "F04A"),
            symbol("Times", "00B0"),
            symbol("Symbol", "x"),
        ];
        check(&format!("<w:p>{}</w:p>", symbols.concat()), "\u{3b1}\u{3a9}\u{3b6}\u{b0}", 0);
    }

    #[test]
    fn text_beside_the_text_comes_after_it() {
        let shape = |text: &str| {
            format!(
                "<w:txbxContent><w:p>{}</w:p></w:txbxContent>",
                run("<w:color w:val='FFFFFF'/>", text)
            )
        };
        let alternatives = format!(
            "<w:p>{}<w:r><mc:AlternateContent><mc:Choice>{}<wp:docPr descr=' A picture '/></mc:Choice>\
             <mc:Fallback>{}</mc:Fallback></mc:AlternateContent></w:r>{}</w:p>",
            run("", "one "),
            shape("box"),
            shape("box"),
            run("", "two")
        );
        check(&alternatives, "one two\n\nbox\n\nA picture", 0);
        let note = format!(
            "<w:p>{}<w:r><w:footnote><w:p>{}</w:p></w:footnote></w:r>{}</w:p>",
            run("", "one"),
            run("", "note"),
            run("", " two")
        );
        check(&note, "one two\n\nnote", 0);
    }

    #[test]
    fn invisible_text_is_counted_and_left_out() {
        let paragraph = |properties: &str| {
            format!("<w:p>{}{}{}</w:p>", run("", "se"), run(properties, "not here"), run("", "en"))
        };
        for properties in [
            "<w:vanish/>",
            "<w:vanish w:val='true'/>",
            "<w:color w:val='FFFFFF'/>",
            "<w:color w:val='fefefe'/>",
            "<w:sz w:val='2'/>",
            "<w:rStyle w:val='Child'/>",
        ] {
            check(&paragraph(properties), "seen", 7);
        }
        for properties in [
            "<w:vanish w:val='0'/>",
            "<w:color w:val='auto'/>",
            "<w:sz w:val='20'/>",
            "<w:color w:val='FFFFFF'/><w:highlight w:val='black'/>",
            "<w:color w:val='FFFFFF'/><w:shd w:val='clear' w:fill='000000'/>",
            "<w:rStyle w:val='Child'/><w:vanish w:val='off'/>",
        ] {
            check(&paragraph(properties), "senot hereen", 0);
        }
        // The mark at the end of a paragraph may be hidden.
        check(
            &format!("<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{}</w:p>", run("", "seen")),
            "seen",
            0,
        );
        check(
            &format!("<w:p><w:pPr><w:pStyle w:val='Secret'/></w:pPr>{}</w:p>", run("", "no")),
            "",
            2,
        );
        let white = run("<w:color w:val='FFFFFF'/>", "head");
        for (table, cell, expected, hidden) in [
            ("<w:tblStyle w:val='Dark'/>", "", "head", 0),
            ("", "<w:shd w:val='clear' w:fill='404040'/>", "head", 0),
            ("", "<w:shd w:val='clear' w:fill='auto'/>", "", 4),
        ] {
            let table = format!(
                "<w:tbl><w:tblPr>{table}</w:tblPr><w:tr><w:tc><w:tcPr>{cell}</w:tcPr><w:p>{white}</w:p></w:tc>\
                 </w:tr></w:tbl>"
            );
            check(&table, expected, hidden);
        }
    }

    #[test]
    fn a_document_with_all_its_parts_in_one_file_is_read() {
        let part = |name: &str, body: &str| {
            format!(
                "<pkg:part pkg:name='/word/{name}'><pkg:xmlData>{body}</pkg:xmlData></pkg:part>"
            )
        };
        let body =
            |properties: &str| format!("<w:p>{}{}</w:p>", run("", "one"), run(properties, "two"));
        let xml = format!(
            "<pkg:package xmlns:pkg='http://schemas.microsoft.com/office/2006/xmlPackage' xmlns:w='w'>{}{}{}{}\
             </pkg:package>",
            part(
                "document.xml",
                &format!(
                    "<w:document><w:body>{}</w:body></w:document>",
                    body("<w:rStyle w:val='S'/>")
                )
            ),
            part(
                "styles.xml",
                "<w:styles><w:style w:styleId='S'><w:rPr><w:vanish/></w:rPr></w:style></w:styles>"
            ),
            part("comments.xml", &body("")),
            part(
                "footnotes.xml",
                &format!("<w:footnotes><w:footnote>{}</w:footnote></w:footnotes>", body(""))
            ),
        );
        assert_eq!(crate::xml::root::kind(xml.as_bytes()), Some(Kind::Word));
        let found = text_of_file(&xml);
        assert_eq!((&*found.text, found.hidden), ("one\n\nonetwo", 3));
    }
}
