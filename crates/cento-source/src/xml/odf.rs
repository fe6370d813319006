//! Text of OpenDocument texts and presentations.
//!
//! The text is the final text, without deletions, comments and sources of indexes. Notes, text
//! boxes within paragraphs and descriptions of pictures come after the text. Slides are pages.
//! Invisible text is counted and left out, as in Word documents.

use super::styles::{Look, Styles};
use super::{Element, Format, Out, Rule, walk};
use crate::extracted::ExtractedText;

/// Elements outside the text of the document.
const SKIPPED: [&str; 17] = [
    "annotation",
    "binary-data",
    "event-listeners",
    "font-face-decls",
    "forms",
    "meta",
    "note-citation",
    "number",
    "page-thumbnail",
    "rdf",
    "ruby-text",
    "scripts",
    "settings",
    "tracked-changes",
    "variable-decls",
    "sequence-decls",
    "user-field-decls",
];

#[derive(Default)]
pub struct Odf {
    styles: Styles,
    /// The looks of the open elements with their depths, innermost last.
    looks: Vec<(usize, Look)>,
    /// The number of open paragraphs.
    paragraphs: usize,
    /// The number of open shapes, which may be filled.
    shapes: usize,
    /// The number of open links.
    links: usize,
    /// Whether text is read: in styles, only headers and footers are.
    is_body: bool,
    /// The depth of the open page styles, if any.
    masters: Option<usize>,
    /// The number of slides begun.
    slides: usize,
}

/// Returns the text of a document in a single XML file.
pub fn text_of_file(xml: &str) -> ExtractedText {
    let (mut odf, mut out) = (Odf::default(), Out::default());
    let missing = walk(xml, &mut odf, &mut out);
    out.finish(missing)
}

/// Returns the text of a document.
///
/// # Errors
/// When it cannot be read, with the reason as a clause.
pub fn text_of(bytes: &[u8]) -> Result<ExtractedText, String> {
    let mut package = super::package::Package::open(bytes)?;
    let manifest = package.xml("META-INF/manifest.xml").unwrap_or_default();
    if manifest.contains("encryption-data") {
        return Err("it is encrypted; remove the password".into());
    }
    let (mut odf, mut out) = (Odf::default(), Out::default());
    let styles = match package.has("styles.xml") {
        true => walk(&package.xml("styles.xml")?, &mut odf, &mut out),
        false => None,
    };
    let text = walk(&package.xml("content.xml")?, &mut odf, &mut out);
    Ok(out.finish(text.or(styles)))
}

impl Format for Odf {
    fn start(&mut self, element: &Element<'_>, depth: usize, out: &mut Out) -> Rule {
        match element.name {
            // Only descriptions, not fields of this name.
            "title" | "desc" if element.prefix == "svg" => return self.beside(),
            name if SKIPPED.contains(&name) || name.ends_with("-source") => return Rule::Skip,
            "automatic-styles" | "styles" => self.is_body = false,
            "master-styles" => self.masters = Some(depth),
            "body" => self.is_body = true,
            "style" | "default-style" => self.styles.begin_odf(element),
            "text-properties" | "paragraph-properties" | "table-cell-properties" => {
                self.styles.properties_odf(element);
            }
            "header" | "footer" | "header-left" | "footer-left" | "header-first"
            | "footer-first"
                if self.masters.is_some() =>
            {
                self.is_body = true;
                return Rule::Aside;
            }
            "p" | "h" => {
                self.paragraphs += 1;
                self.look(element, depth);
                return Rule::Block;
            }
            "span" | "section" | "table-cell" | "a" | "hidden-text" | "hidden-paragraph" => {
                self.links += usize::from(element.name == "a");
                self.look(element, depth);
            }
            "s" | "tab" => out.space(),
            "line-break" => out.line(),
            "page" if self.is_body && self.masters.is_none() => {
                self.slides += 1;
                if self.slides > 1 {
                    out.page();
                }
            }
            "note-body" => return Rule::Aside,
            "text-box" | "custom-shape" | "rect" | "ellipse" => {
                self.shapes += 1;
                return if self.paragraphs > 0 { Rule::Aside } else { Rule::Block };
            }
            _ => {}
        }
        Rule::Inline
    }

    fn end(&mut self, name: &str, depth: usize, _: &mut Out) {
        match name {
            "style" | "default-style" => self.styles.end(),
            "header" | "footer" | "header-left" | "footer-left" | "header-first"
            | "footer-first"
                if self.masters.is_some() =>
            {
                self.is_body = false;
            }
            "master-styles" => self.masters = None,
            "a" => self.links = self.links.saturating_sub(1),
            "p" | "h" => self.paragraphs = self.paragraphs.saturating_sub(1),
            "text-box" | "custom-shape" | "rect" | "ellipse" => {
                self.shapes = self.shapes.saturating_sub(1);
            }
            _ => {}
        }
        if self.looks.last().is_some_and(|(open, _)| *open == depth) {
            self.looks.pop();
        }
    }

    fn text(&mut self, text: &str, out: &mut Out) {
        let is_text = self.is_body && self.paragraphs > 0;
        if !is_text && !out.is_in_part() {
            return;
        }
        let look = self.looks.last().map_or(Look::default(), |(_, look)| *look);
        look.write(text, self.shapes > 0, self.links > 0, out);
    }
}

impl Odf {
    fn beside(&self) -> Rule {
        if self.is_body { Rule::Aside } else { Rule::Skip }
    }

    /// Records the look of an element.
    fn look(&mut self, element: &Element<'_>, depth: usize) {
        let style = element.attribute("style-name").map(|style| self.styles.of(&style));
        let around = self.looks.last().map_or(Look::default(), |(_, look)| *look);
        let mut look = style.unwrap_or_default();
        // Styles of words have such names, too.
        look.is_quoted = look.is_quoted.filter(|_| element.name != "span");
        let is_hidden = element.has("is-hidden", "true")
            || (element.name == "section" && element.has("display", "none"));
        if is_hidden {
            look.vanishes = Some(true);
        }
        self.looks.push((depth, look.over(around)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &str, hidden: usize) {
        let space = "urn:oasis:names:tc:opendocument:xmlns:office:1.0";
        let xml = format!(
            "<office:document xmlns:office='{space}'><office:meta><dc:title>T</dc:title></office:meta>\
             <office:automatic-styles><style:style style:name='Secret'><style:text-properties text:display='none'/>\
             </style:style><style:style style:name='Child' style:parent-style-name='Secret'/>\
             <style:style style:name='White'><style:text-properties fo:color='#ffffff'/></style:style>\
             <style:style style:name='Dark'><style:table-cell-properties fo:background-color='#000080'/></style:style>\
             <style:style style:name='Raised'>\
             <style:text-properties style:text-position='super 58%'/></style:style>\
             <style:style style:name='Small'><style:text-properties fo:font-size='1pt'/></style:style>\
             <style:style style:name='P1' style:parent-style-name='Quotations'/>\
             <style:style style:name='Own' style:display-name='Langes Zitat'/>\
             </office:automatic-styles><office:master-styles><style:master-page><style:header><text:p>Head</text:p>\
             </style:header><draw:frame><draw:text-box><text:p>no</text:p></draw:text-box></draw:frame>\
             </style:master-page></office:master-styles><office:body><office:text>{body}</office:text></office:body>\
             </office:document>"
        );
        assert_eq!(crate::xml::root::kind(xml.as_bytes()), Some(crate::xml::root::Kind::Odf));
        let found = text_of_file(&xml);
        let expected = match expected {
            "" => "Head".to_owned(),
            text => format!(
                "{}\n\nHead{}",
                text.split("\n\n~").next().unwrap(),
                text.split_once("\n\n~").map_or(String::new(), |(_, aside)| format!("\n\n{aside}"))
            ),
        };
        assert_eq!((found.text, found.hidden, found.missing), (expected, hidden, None), "{body}");
    }

    #[test]
    fn the_final_text_is_read() {
        check(
            "<text:h>One</text:h><text:p>two<text:s text:c='9'/>three<text:line-break/>four</text:p>",
            "One\n\ntwo three\nfour",
            0,
        );
        let comment = "<office:annotation><dc:creator>T</dc:creator><text:p>Where?</text:p></office:annotation>";
        check(&format!("<text:p>was{comment} here</text:p>"), "was here", 0);
        check(
            "<text:tracked-changes><text:p>old</text:p></text:tracked-changes><text:p>new</text:p>",
            "new",
            0,
        );
        check(
            "<text:p><text:ruby><text:ruby-base>b</text:ruby-base><text:ruby-text>t</text:ruby-text></text:ruby></text:p>",
            "b",
            0,
        );
        check("<text:p><text:title>A field</text:title></text:p>", "A field", 0);
    }

    #[test]
    fn paragraphs_with_a_style_for_quotations_are_quoted() {
        let styled =
            |style: &str, text: &str| format!("<text:p text:style-name='{style}'>{text}</text:p>");
        let quoted =
            styled("P1", "b<text:line-break/><text:span text:style-name='Raised'>c</text:span> d");
        check(
            &format!("{}{quoted}{}{}", styled("x", "a"), styled("Own", "e"), styled("y", "f")),
            "a\n\n> b\n> c d\n\n> e\n\nf",
            0,
        );
        check("<text:p><text:span text:style-name='Citation'>a</text:span></text:p>", "a", 0);
    }

    #[test]
    fn raised_numbers_mark_notes() {
        let raised = |text: &str| format!("<text:span text:style-name='Raised'>{text}</text:span>");
        let link = format!("<text:a>{}</text:a>", raised("1"));
        let text = format!("gate{} and 10{} m{link} is", raised("1"), raised("3"));
        check(&format!("<text:p>{text}</text:p>"), "gate and 103 m is", 0);
    }

    #[test]
    fn text_beside_the_text_comes_after_it() {
        let note = "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>note</text:p></text:note-body></text:note>";
        check(&format!("<text:p>one{note} two</text:p>"), "one two\n\n~note", 0);
        let frame = "<draw:frame><draw:text-box><text:p>box</text:p></draw:text-box><svg:desc>A picture</svg:desc></draw:frame>";
        check(&format!("<text:p>one{frame} two</text:p>"), "one two\n\n~box\n\nA picture", 0);
    }

    #[test]
    fn a_slide_without_text_is_a_page() {
        let slide = |text: &str| {
            format!("<draw:page><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:page>")
        };
        let space = "urn:oasis:names:tc:opendocument:xmlns:office:1.0";
        let slides = [slide("one"), slide(""), slide("three")].concat();
        let xml = format!(
            "<office:document xmlns:office='{space}'><office:body>{slides}</office:body></office:document>"
        );
        assert_eq!(text_of_file(&xml).text, "one\u{c}\u{c}three");
    }

    #[test]
    fn invisible_text_is_counted_and_left_out() {
        for style in ["Secret", "Child", "White", "Small"] {
            check(
                &format!(
                    "<text:p>se<text:span text:style-name='{style}'>not <text:span>here</text:span></text:span>en</text:p>"
                ),
                "seen",
                7,
            );
        }
        check(
            "<table:table-cell table:style-name='Dark'><text:p text:style-name='White'>head</text:p></table:table-cell>",
            "head",
            0,
        );
        check("<text:section text:display='none'><text:p>no</text:p></text:section>", "", 2);
        check(
            "<text:p><text:hidden-text text:is-hidden='true'>no</text:hidden-text></text:p>",
            "",
            2,
        );
    }
}
