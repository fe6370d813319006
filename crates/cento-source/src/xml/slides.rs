//! Text of presentations (.pptx).
//!
//! Each slide is a page, with the speaker's notes at the end.

use super::out::MarkForm;
use super::package::Package;
use super::{Element, Format, Out, Rule, walk};
use crate::extracted::ExtractedText;

/// Returns the text of a presentation.
///
/// # Errors
/// When it cannot be read, with the reason as a clause.
pub fn text_of(bytes: &[u8]) -> Result<ExtractedText, String> {
    let package = &mut Package::open(bytes)?;
    let main = package.relations("");
    let main = main.into_values().find(|relation| relation.kind == "officeDocument");
    let main = main.map_or_else(|| "ppt/presentation.xml".to_owned(), |relation| relation.target);
    let relations = package.relations(&main);
    let (presentation, mut list) = (package.xml(&main)?, SlideList::default());
    let mut missing = walk(&presentation, &mut list, &mut Out::default());
    let (mut pages, mut hidden) = (Vec::new(), 0);
    for slide in list.ids.iter().filter_map(|id| relations.get(id)) {
        let mut out = Out::default();
        let mut beside: Vec<(bool, String)> = Vec::new();
        for relation in package.relations(&slide.target).into_values() {
            match relation.kind.as_str() {
                "diagramData" => beside.push((false, relation.target)),
                "notesSlide" => beside.push((true, relation.target)),
                _ => {}
            }
        }
        beside.sort();
        let parts = beside.into_iter().map(|(_, part)| part);
        for part in std::iter::once(slide.target.clone()).chain(parts) {
            let damage = match package.xml(&part) {
                Ok(xml) => walk(&xml, &mut Slide::default(), &mut out),
                Err(why) => Some(why),
            };
            missing = missing.or(damage);
            out.block();
        }
        let page = out.finish(None);
        hidden += page.hidden;
        pages.push(page.text);
    }
    Ok(ExtractedText { text: pages.join("\u{c}"), missing, hidden })
}

/// Reads the list of slides.
#[derive(Default)]
struct SlideList {
    ids: Vec<String>,
}

impl Format for SlideList {
    fn start(&mut self, element: &Element<'_>, _: usize, _: &mut Out) -> Rule {
        if element.name == "sldId" {
            // The attribute `id` without a prefix is a number, not a relation.
            self.ids.extend(element.prefixed("id"));
        }
        Rule::Inline
    }
}

#[derive(Default)]
struct Slide {
    /// The number of open elements with text.
    texts: usize,
    /// Whether the open run is too small to be read.
    is_small: bool,
    /// Whether the open run is above the line.
    is_raised: bool,
}

/// The largest size of unreadable text, in hundredths of a point.
const SIZE_HIDDEN: u32 = 200;

impl Format for Slide {
    fn start(&mut self, element: &Element<'_>, _: usize, out: &mut Out) -> Rule {
        match element.name {
            "Fallback" | "rt" => return Rule::Skip,
            // The number of the slide, and the date.
            "fld" => return Rule::Skip,
            "p" => return Rule::Block,
            "br" => out.line(),
            "tab" => out.space(),
            "r" => (self.is_small, self.is_raised) = (false, false),
            "rPr" => {
                let size = element.attribute("sz").and_then(|size| size.parse::<u32>().ok());
                self.is_small = size.is_some_and(|size| size <= SIZE_HIDDEN);
                let baseline = element.attribute("baseline").unwrap_or_default();
                let baseline = baseline.trim_end_matches('%').parse::<f32>();
                self.is_raised = baseline.is_ok_and(|baseline| baseline > 0.0);
            }
            "t" => self.texts += 1,
            "cNvPr" => out.aside(element.attribute("descr").unwrap_or_default().trim().to_owned()),
            _ => {}
        }
        Rule::Inline
    }

    fn end(&mut self, name: &str, _: usize, _: &mut Out) {
        if name == "t" {
            self.texts = self.texts.saturating_sub(1);
        }
    }

    fn text(&mut self, text: &str, out: &mut Out) {
        match self.texts > 0 {
            true if self.is_small => out.hide(text),
            true if self.is_raised => out.mark(text, MarkForm::Raised),
            true => out.push(text),
            false => {}
        }
    }
}
