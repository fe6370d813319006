//! Text of OCR output in the format ALTO.
//!
//! Lines are read in the reading order of the page, if the file has a reading order. A word that
//! continues on the next line is joined, and pages are separated. Running heads and numbers of
//! pages are no text.

use std::collections::HashMap;

use super::{Element, Format, Out, Rule, walk};
use crate::extracted::ExtractedText;

/// The margins with running heads and numbers of pages. Notes may be at the sides.
const MARGINS: [&str; 2] = ["TopMargin", "BottomMargin"];

/// The names of tags for blocks in a margin, of the vocabulary SegmOnto.
const TAGS: [&str; 3] = ["RunningTitleZone", "NumberingZone", "QuireMarksZone"];

/// The element with the reading order, since version 4.3.
const ORDER: &str = "ReadingOrder";

#[derive(Default)]
struct Alto {
    /// Whether the file has a reading order.
    is_ordered: bool,
    /// The position of each element in the reading order.
    order: HashMap<String, usize>,
    /// Blocks to be sorted by the reading order.
    blocks: Vec<AltoBlock>,
    /// The ids of the tags of blocks that are no text.
    tags: Vec<String>,
    /// The number of pages begun.
    pages: usize,
    /// Whether the first part of a broken word supplied the whole word.
    is_read: bool,
}

pub fn text_of(xml: &str) -> ExtractedText {
    let mut out = Out::default();
    let is_ordered = memchr::memmem::find(xml.as_bytes(), ORDER.as_bytes()).is_some();
    let mut alto = Alto { is_ordered, ..Alto::default() };
    let missing = walk(xml, &mut alto, &mut out);
    alto.write(&mut out);
    out.finish(missing)
}

/// A block of text.
struct AltoBlock {
    id: String,
    page: usize,
    text: String,
}

impl Format for Alto {
    fn start(&mut self, element: &Element<'_>, _: usize, out: &mut Out) -> Rule {
        match element.name {
            "Page" => {
                self.pages += 1;
                if self.pages > 1 && !self.is_ordered {
                    out.page();
                }
                Rule::Inline
            }
            name if MARGINS.contains(&name) => Rule::Skip,
            "OtherTag" | "LayoutTag" | "StructureTag" => {
                if element.attribute("LABEL").is_some_and(|label| is_margin(&label)) {
                    self.tags.extend(element.attribute("ID"));
                }
                Rule::Inline
            }
            "TextBlock" => {
                let tags = element.attribute("TAGREFS").unwrap_or_default();
                if tags.split_whitespace().any(|tag| self.tags.iter().any(|of| of == tag)) {
                    return Rule::Skip;
                }
                if self.is_ordered {
                    let id = element.attribute("ID").unwrap_or_default();
                    self.blocks.push(AltoBlock { id, page: self.pages, text: String::new() });
                    out.begin();
                }
                Rule::Block
            }
            name if name.starts_with("ElementRef") => {
                let (id, at) = (element.attribute("REF").unwrap_or_default(), self.order.len());
                self.order.entry(id).or_insert(at);
                Rule::Inline
            }
            "TextLine" => {
                out.printed_line();
                Rule::Line
            }
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

    fn end(&mut self, name: &str, _: usize, out: &mut Out) {
        if name == "TextBlock" && self.is_ordered {
            let text = out.take();
            if let Some(block) = self.blocks.last_mut() {
                block.text = text;
            }
        }
    }

    fn text(&mut self, _: &str, _: &mut Out) {}
}

/// Returns whether a tag with this label is of a margin. A label may end with a subtype.
fn is_margin(label: &str) -> bool {
    TAGS.contains(&label.split([':', '#']).next().unwrap_or_default())
}

impl Alto {
    /// Writes the blocks in the reading order, then blocks that the order lacks.
    fn write(self, out: &mut Out) {
        let (order, mut blocks) = (self.order, self.blocks);
        let place = |block: &AltoBlock| order.get(&block.id).copied().unwrap_or(usize::MAX);
        blocks.sort_by_key(|block| (block.page, place(block)));
        let mut page = 1;
        for block in blocks {
            if block.page > page {
                out.page();
                page = block.page;
            }
            out.block();
            for line in block.text.lines() {
                out.printed_line();
                out.push(line);
            }
        }
    }

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
    fn blocks_come_in_reading_order() {
        let block = |id: &str| {
            format!(
                "<TextBlock ID='{id}'><TextLine><String CONTENT='{id}'/></TextLine></TextBlock>"
            )
        };
        let order = "<ReadingOrder><OrderedGroup ID='g'><ElementRef ID='x' REF='b'/>\
                     <ElementRef ID='y' REF='a'/><ElementRef ID='z' REF='d'/></OrderedGroup>\
                     </ReadingOrder>";
        let page = |ids: &[&str]| {
            format!("<Page>{}</Page>", ids.iter().map(|id| block(id)).collect::<String>())
        };
        let pages = [page(&["c", "a", "b"]), page(&["d"])].concat();
        check(&format!("{order}{pages}"), "b\n\na\n\nc\u{c}d");
        check(&format!("{pages}{order}"), "b\n\na\n\nc\u{c}d");
        check(&pages, "c\n\na\n\nb\u{c}d");
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
        // Tesseract writes the hyphen as a part of the word.
        let line = |first: &str, second: &str| {
            format!(
                "<TextLine><String CONTENT='{first}'/></TextLine>\
                 <TextLine><String CONTENT='{second}'/></TextLine>"
            )
        };
        check(&line("eld-", "ers"), "elders");
        check(&line("eld=", "ers"), "elders");
        check(&line("eld\u{ad}", "ers"), "elders");
        check(&line("Anglo-", "Saxon"), "Anglo-\nSaxon");
        // The next line may be in the next column or on the next page.
        let line = |words: &str| {
            let word = |word: &str| format!("<String CONTENT='{word}'/>");
            let words: Vec<String> = words.split(' ').map(word).collect();
            format!("<TextBlock><TextLine>{}</TextLine></TextBlock>", words.join("<SP/>"))
        };
        let across =
            |between: &str| format!("<Page>{}{between}{}</Page>", line("eld-"), line("ers came"));
        check(&across(""), "elders\n\ncame");
        check(&across("</Page><Page>"), "elders\u{c}came");
        check(&across("</Page><Page></Page><Page>"), "elders\u{c}\u{c}came");
        check(&format!("<ReadingOrder/>{}", across("</Page><Page>")), "elders\u{c}came");
    }

    #[test]
    fn running_heads_are_no_text() {
        let block = |of: &str, word: &str| {
            format!("<TextBlock {of}><TextLine><String CONTENT='{word}'/></TextLine></TextBlock>")
        };
        let (head, text) = (block("", "HEAD"), block("", "one"));
        check(
            &format!("<Page><TopMargin>{head}</TopMargin><PrintSpace>{text}</PrintSpace></Page>"),
            "one",
        );
        let tags = "<Tags><OtherTag ID='t' LABEL='RunningTitleZone'/><OtherTag ID='m' \
                    LABEL='MainZone:column'/></Tags>";
        let blocks = [block("TAGREFS='x t'", "HEAD"), block("TAGREFS='m'", "one")].concat();
        check(&format!("{tags}<Page>{blocks}</Page>"), "one");
    }
}
