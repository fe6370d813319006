//! Text of OCR output in the format PAGE.
//!
//! The text has the lines of the regions, in reading order. A line either has a text, or consists
//! of words with texts. Among several readings, the first counts. Running heads and numbers of
//! pages are no text.

use std::collections::HashMap;

use super::{Element, Format, Out, Rule, walk};
use crate::broken_word;
use crate::extracted::ExtractedText;

/// Maximum nesting of elements with a text: regions may be nested. A text is moved once per level.
const LEVELS_MAX: usize = 16;

/// The types of regions outside the text.
const SKIPPED: [&str; 5] = ["header", "footer", "page-number", "signature-mark", "catch-word"];

/// Returns whether a region is outside the text. Transkribus writes the type as `custom`, too.
fn is_skipped(region: &Element<'_>) -> bool {
    let is_type = |name: &str| SKIPPED.contains(&name);
    let custom = region.attribute("custom").unwrap_or_default();
    let types = custom.split("type:").skip(1);
    let mut types = types.map(|rest| rest.split([';', '}']).next().unwrap_or_default().trim());
    region.attribute("type").is_some_and(|name| is_type(&name)) || types.any(is_type)
}

/// An element that has a text: a region, a line, a word or a sign.
struct OpenElement {
    level: PageLevel,
    /// The nesting depth of the element.
    depth: usize,
    /// The element's own text, with the number of the reading.
    reading: Option<(i64, String)>,
    /// The texts of child elements.
    parts: Vec<String>,
    /// The index of a region in `regions`.
    region: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PageLevel {
    Region,
    Line,
    Word,
    Sign,
}

#[derive(Default)]
struct PageReader {
    open: Vec<OpenElement>,
    /// The number of the reading whose text is collected.
    reading: i64,
    /// The regions of a page: their ids and texts.
    regions: Vec<(String, String)>,
    /// The open places in the reading order.
    groups: Vec<i64>,
    /// The position of each region in the reading order, as a path of indices.
    order: HashMap<String, Vec<i64>>,
}

pub fn text_of(xml: &str) -> ExtractedText {
    let (mut page, mut out) = (PageReader::default(), Out::default());
    let missing = walk(xml, &mut page, &mut out);
    page.write(&mut out);
    out.finish(missing)
}

fn level(name: &str) -> Option<PageLevel> {
    match name {
        "TextLine" => Some(PageLevel::Line),
        "Word" => Some(PageLevel::Word),
        "Glyph" => Some(PageLevel::Sign),
        name if name.ends_with("Region") => Some(PageLevel::Region),
        _ => None,
    }
}

impl Format for PageReader {
    fn start(&mut self, element: &Element<'_>, depth: usize, out: &mut Out) -> Rule {
        if element.name == "TextRegion" && is_skipped(element) {
            return Rule::Skip;
        }
        let index = || element.attribute("index").and_then(|index| index.parse().ok());
        if let Some(level) = level(element.name)
            && self.open.len() < LEVELS_MAX
        {
            let region = self.regions.len();
            if level == PageLevel::Region {
                let id = element.attribute("id").unwrap_or_default();
                self.regions.push((id, String::new()));
            }
            self.open.push(OpenElement { level, depth, reading: None, parts: Vec::new(), region });
            return Rule::Inline;
        }
        match element.name {
            "TextEquiv" => self.reading = index().unwrap_or_default(),
            "Unicode" => out.begin(),
            name if name.starts_with("OrderedGroup") || name.starts_with("UnorderedGroup") => {
                self.groups.push(index().unwrap_or_default());
            }
            name if name.starts_with("RegionRef") => {
                let place = [&self.groups[..], &[index().unwrap_or_default()]].concat();
                let id = element.attribute("regionRef").unwrap_or_default();
                self.order.entry(id).or_insert(place);
            }
            _ => {}
        }
        Rule::Inline
    }

    fn end(&mut self, name: &str, depth: usize, out: &mut Out) {
        if self.open.last().is_some_and(|open| open.depth == depth) {
            self.close();
            return;
        }
        match name {
            "Unicode" => {
                let text = out.take();
                if let Some(open) = self.open.last_mut()
                    && open.reading.as_ref().is_none_or(|(best, _)| self.reading < *best)
                {
                    open.reading = Some((self.reading, text));
                }
            }
            "Page" => self.write(out),
            name if name.starts_with("OrderedGroup") || name.starts_with("UnorderedGroup") => {
                self.groups.pop();
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, out: &mut Out) {
        // Outside of open parts, there is only white space between elements. The text of a region
        // has lines.
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 && out.is_in_part() {
                out.printed_line();
            }
            out.push_to_part(line);
        }
    }
}

impl PageReader {
    /// Passes the text of a closed element to the surrounding element.
    fn close(&mut self) {
        let Some(OpenElement { level, reading, parts, region, .. }) = self.open.pop() else {
            return;
        };
        let own = reading.map(|(_, text)| text).unwrap_or_default();
        let has_parts = parts.iter().any(|part| !part.is_empty());
        let text = match level {
            PageLevel::Region if has_parts => joined(&parts),
            PageLevel::Line if own.is_empty() => parts.join(" "),
            PageLevel::Word if own.is_empty() => parts.concat(),
            _ => own,
        };
        match self.open.last_mut() {
            Some(around) if level != PageLevel::Region => around.parts.push(text),
            // A nested region follows the outer region, unless the reading order says otherwise.
            _ if level == PageLevel::Region => self.regions[region].1 = text,
            _ => self.regions.push((String::new(), text)),
        }
    }

    /// Writes the regions of a page.
    fn write(&mut self, out: &mut Out) {
        let mut regions = std::mem::take(&mut self.regions);
        let order = std::mem::take(&mut self.order);
        // Regions outside the reading order come last and keep their order.
        regions.sort_by_key(|(id, _)| order.get(id).map_or((true, &[][..]), |at| (false, at)));
        self.open.clear();
        for (_, text) in regions {
            for line in text.lines() {
                out.push(line);
                out.printed_line();
            }
            out.block();
        }
        out.page();
    }
}

/// Joins lines, and the two halves of words that continue on the next line.
fn joined(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines.iter().filter(|line| !line.is_empty()) {
        if let Some(begun) = broken_word::begun_in_print(&text, line) {
            text.truncate(begun.len());
        } else if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: &str, expected: &str) {
        let xml = format!(
            "<PcGts><Metadata><Creator>x</Creator></Metadata><Page>\n{page}</Page></PcGts>"
        );
        let found = text_of(&xml);
        assert_eq!((&*found.text, found.missing), (expected, None), "{page}");
    }

    fn line(text: &str) -> String {
        format!("<TextLine>{}</TextLine>", equiv(text))
    }

    fn equiv(text: &str) -> String {
        format!("<TextEquiv><PlainText>x</PlainText><Unicode>{text}</Unicode></TextEquiv>")
    }

    #[test]
    fn a_line_is_read_once_whatever_its_levels() {
        let region = equiv("Anno eodem rex");
        check(
            &format!("<TextRegion>{}{}{region}</TextRegion>", line("Anno"), line("eodem rex")),
            "Anno\neodem rex",
        );
        check(&format!("<TextRegion>{region}</TextRegion>"), "Anno eodem rex");
        let region = equiv("\nAnno eo-\ndem rex\nalbus\n");
        check(&format!("<TextRegion>{region}</TextRegion>"), "Anno eodem rex\nalbus");
        let words = format!(
            "<Word>{}</Word><Word><Glyph>{}</Glyph><Glyph>{}</Glyph></Word>",
            equiv("a"),
            equiv("b"),
            equiv("c")
        );
        check(&format!("<TextRegion><TextLine>{words}</TextLine></TextRegion>"), "a bc");
        check(
            &format!("<TextRegion><TextLine>{words}{}</TextLine></TextRegion>", equiv("a bc d")),
            "a bc d",
        );
        let readings = "<TextEquiv index='1'><Unicode>no</Unicode></TextEquiv><TextEquiv index='0'><Unicode>yes</Unicode></TextEquiv>";
        check(&format!("<TextRegion><TextLine>{readings}</TextLine></TextRegion>"), "yes");
        check(
            &format!("<TextRegion>{}{}</TextRegion>", line("vec\u{ac}"), line("tigal")),
            "vectigal",
        );
        let column = |text: &str| format!("<TextRegion>{}</TextRegion>", line(text));
        check(&[column("the eld-"), column("ers came")].concat(), "the elders\n\ncame");
        check(
            &format!("{}</Page><Page>{}", column("the eld-"), column("ers came")),
            "the elders\u{c}came",
        );
        let lines = [line("eld-"), line("ers, Anglo-"), line("Saxon")].concat();
        check(&format!("<TextRegion>{lines}</TextRegion>"), "elders, Anglo-\nSaxon");
    }

    #[test]
    fn regions_come_in_reading_order() {
        let region = |id: &str| format!("<TextRegion id='{id}'>{}</TextRegion>", line(id));
        let order = "<ReadingOrder><OrderedGroup id='g'><RegionRefIndexed index='1' regionRef='a'/>\
                     <OrderedGroupIndexed index='0'><RegionRefIndexed index='1' regionRef='d'/>\
                     <RegionRefIndexed index='0' regionRef='c'/></OrderedGroupIndexed></OrderedGroup></ReadingOrder>";
        let regions = ["a", "b", "c", "d"].map(region).concat();
        check(&format!("{order}{regions}"), "c\n\nd\n\na\n\nb");
        check(&regions, "a\n\nb\n\nc\n\nd");
    }

    #[test]
    fn running_heads_are_no_text() {
        let region = |of: &str| format!("<TextRegion {of}>{}</TextRegion>", line(of));
        for of in ["type='header'", "type='page-number'", "custom='structure {type:footer;}'"] {
            check(
                &format!("{}<TextRegion type='heading'>{}</TextRegion>", region(of), line("a")),
                "a",
            );
        }
        let lines = [line("ge="), line("heim")].concat();
        check(&format!("<TextRegion>{lines}</TextRegion>"), "geheim");
    }
}
