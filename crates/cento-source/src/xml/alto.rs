//! Text of recognised pages (ALTO).
//!
//! The words of the lines, in the order of the file. A word that continues on the next line is one
//! word, and pages are separated.

use super::{Element, Format, Out, Rule, walk};
use crate::extracted::Extracted;

#[derive(Default)]
struct Alto {
    /// The number of pages begun.
    pages: usize,
    /// Whether the whole word has been read at its first part.
    is_read: bool,
}

pub fn text_of(xml: &str) -> Extracted {
    let mut out = Out::default();
    let missing = walk(xml, &mut Alto::default(), &mut out);
    out.finish(missing)
}

impl Format for Alto {
    fn start(&mut self, element: &Element<'_>, _: usize, out: &mut Out) -> Rule {
        match element.name {
            "Page" => {
                self.pages += 1;
                if self.pages > 1 {
                    out.page();
                }
                Rule::Inline
            }
            "TextBlock" => Rule::Block,
            "TextLine" => Rule::Line,
            "SP" => {
                out.space();
                Rule::Inline
            }
            // If the whole word has been read, there is no hyphen.
            "HYP" if self.is_read => Rule::Inline,
            "HYP" => {
                out.join();
                Rule::Inline
            }
            "String" => {
                self.word(element, out);
                Rule::Inline
            }
            _ => Rule::Inline,
        }
    }

    fn text(&mut self, _: &str, _: &mut Out) {}
}

impl Alto {
    fn word(&mut self, element: &Element<'_>, out: &mut Out) {
        let content = || element.attribute("CONTENT").unwrap_or_default();
        out.space();
        match element.attribute("SUBS_TYPE").as_deref() {
            Some("HypPart1") => match element.attribute("SUBS_CONTENT") {
                Some(whole) => {
                    out.push(&whole);
                    self.is_read = true;
                    return;
                }
                None => {
                    out.push(&content());
                    out.join();
                }
            },
            Some("HypPart2") if self.is_read => {}
            _ => out.push(&content()),
        }
        self.is_read = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &str, expected: &str) {
        let xml = format!("<alto><Description>x</Description><Layout>{lines}</Layout></alto>");
        assert_eq!(text_of(&xml).text, expected, "{lines}");
    }

    #[test]
    fn words_are_in_lines_and_a_hyphenated_word_is_one() {
        check(
            "<Page><TextBlock><TextLine><String CONTENT='Anno'/><SP/><String CONTENT='&amp;'/></TextLine>\
             <TextLine><String CONTENT='rex'/><String CONTENT='cum'/></TextLine></TextBlock></Page>\
             <Page><TextBlock><TextLine><String CONTENT='two'/></TextLine></TextBlock></Page>",
            "Anno &\nrex cum\u{c}two",
        );
        let line = |first: &str, second: &str| {
            format!(
                "<TextLine><String CONTENT='a'/><SP/><String CONTENT='fru' {first}/></TextLine>\
                 <TextLine><String CONTENT='mentum' {second}/><SP/><String CONTENT='b'/></TextLine>"
            )
        };
        let whole = "SUBS_CONTENT='frumentum'";
        check(
            &line(
                &format!("SUBS_TYPE='HypPart1' {whole}"),
                &format!("SUBS_TYPE='HypPart2' {whole}"),
            ),
            "a frumentum\nb",
        );
        check(&line("SUBS_TYPE='HypPart1'", "SUBS_TYPE='HypPart2'"), "a frumentum b");
        check(&line("/><HYP CONTENT='-'", ""), "a frumentum b");
    }
}
