//! Decides from its style whether text is visible, and whether it is a quotation.

use std::collections::HashMap;

use super::out::MarkForm;
use super::{Element, Out};
use crate::css::is_white;

/// The maximum length of a chain of styles, because damaged files may have cycles.
const CHAIN_MAX: usize = 32;

/// The largest size of unreadable text, in points.
const POINTS_HIDDEN: f32 = 2.0;

/// The look of text. `None` means that the style does not specify a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    /// Declared as not displayed.
    pub vanishes: Option<bool>,
    /// As white as paper.
    pub is_white: Option<bool>,
    /// Too small to be read.
    pub is_small: Option<bool>,
    /// On a colored background.
    pub is_behind: Option<bool>,
    /// Above the line, as the mark of a note.
    pub is_raised: Option<bool>,
    /// Above the line by a length. Word has this beside the property above.
    pub is_lifted: Option<bool>,
    /// In a paragraph with a style for block quotations.
    pub is_quoted: Option<bool>,
}

/// Names of styles for block quotations, in small letters without spaces and signs: those of Word
/// and LibreOffice, by which a file knows the style in every language, and those that people give
/// their own styles.
const QUOTING: [&str; 28] = [
    "bloccodicitazione",
    "blockquotation",
    "blockquote",
    "blocktext",
    "blockzitat",
    "bloquedecita",
    "cita",
    "citaci\u{f3}n",
    "citat",
    "citation",
    "citazione",
    "cita\u{e7}\u{e3}o",
    "citadestacada",
    "citazioneintensa",
    "cytat",
    "intensequote",
    "intensiveszitat",
    "intensieveciteren",
    "langeszitat",
    "longquotation",
    "longquote",
    "quotation",
    "quotations",
    "quote",
    "zitat",
    "\u{446}\u{438}\u{442}\u{430}\u{442}\u{430}",
    "\u{5f15}\u{7528}",
    "\u{5f15}\u{7528}\u{6587}",
];

/// Returns whether a style of this name is for block quotations.
fn is_quoting(name: &str) -> bool {
    // OpenDocument escapes spaces.
    let name = name.replace("_20_", "");
    let letters = name.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase);
    QUOTING.contains(&&*letters.collect::<String>())
}

impl Look {
    /// Returns this look, with unspecified properties taken from `other`.
    #[must_use]
    pub fn over(self, other: Look) -> Look {
        Look {
            vanishes: self.vanishes.or(other.vanishes),
            is_white: self.is_white.or(other.is_white),
            is_small: self.is_small.or(other.is_small),
            // Not replaced but combined: the background of a paragraph is also behind its words.
            is_behind: self.is_behind.max(other.is_behind),
            is_raised: self.is_raised.or(other.is_raised),
            is_lifted: self.is_lifted.or(other.is_lifted),
            is_quoted: self.is_quoted.or(other.is_quoted),
        }
    }

    /// Adds visible text, or counts invisible text.
    pub fn write(self, text: &str, may_lie_behind: bool, is_link: bool, out: &mut Out) {
        let is_raised = self.is_raised == Some(true) || self.is_lifted == Some(true);
        out.quote_lines(self.is_quoted == Some(true));
        match (self.is_hidden(may_lie_behind), is_raised) {
            (true, _) => out.hide(text),
            (false, true) if is_link => out.mark(text, MarkForm::Link),
            (false, true) => out.mark(text, MarkForm::Raised),
            (false, false) => out.push(text),
        }
    }

    /// Returns whether text with this look is invisible. `may_lie_behind` says that an enclosing
    /// element may have a colored background.
    fn is_hidden(self, may_lie_behind: bool) -> bool {
        let yes = |what: Option<bool>| what == Some(true);
        let is_on_paper = !may_lie_behind && !yes(self.is_behind);
        yes(self.vanishes) || yes(self.is_small) || (yes(self.is_white) && is_on_paper)
    }

    /// Reads a property of Word.
    pub fn read(&mut self, element: &Element<'_>) {
        let value = element.attribute("val");
        let value = value.as_deref();
        match element.name {
            "vanish" => {
                self.vanishes = Some(!matches!(value, Some("0" | "false" | "off" | "none")));
            }
            "vertAlign" => self.is_raised = Some(value == Some("superscript")),
            "position" => {
                let height =
                    value.and_then(|height| height.trim_end_matches("pt").parse::<f32>().ok());
                self.is_lifted = height.map(|height| height > 0.0);
            }
            "color" => self.is_white = Some(value.is_some_and(is_white)),
            // The unit is half a point.
            "sz" => {
                let size = value.and_then(|size| size.parse::<f32>().ok());
                self.is_small = size.map(|size| size / 2.0 <= POINTS_HIDDEN);
            }
            "highlight" => self.is_behind = Some(!matches!(value, Some("none" | "white"))),
            "shd" => {
                let fill = element.attribute("fill").unwrap_or_default();
                let is_filled = !matches!(&*fill, "" | "auto") && !is_white(&fill);
                let is_pattern = !matches!(value, None | Some("clear" | "nil"));
                self.is_behind = Some(is_filled || is_pattern);
            }
            _ => {}
        }
    }

    /// Reads the properties of text in an OpenDocument style.
    pub fn read_odf(&mut self, element: &Element<'_>) {
        if let Some(display) = element.attribute("display") {
            self.vanishes = Some(display == "none");
        }
        // The height comes first: by name, or in percent of the line.
        if let Some(position) = element.attribute("text-position") {
            let height = position.split_whitespace().next().unwrap_or_default();
            let percent = height.strip_suffix('%').and_then(|height| height.parse::<f32>().ok());
            self.is_raised = Some(height == "super" || percent.is_some_and(|height| height > 0.0));
        }
        if let Some(color) = element.attribute("color") {
            self.is_white = Some(is_white(&color));
        }
        if let Some(size) = element.attribute("font-size") {
            let points = size.strip_suffix("pt").and_then(|size| size.parse::<f32>().ok());
            self.is_small = points.map(|points| points <= POINTS_HIDDEN);
        }
        if let Some(color) = element.attribute("background-color") {
            self.is_behind = Some(color != "transparent" && !is_white(&color));
        }
    }
}

/// The styles of a document.
#[derive(Debug, Default)]
pub struct Styles {
    by_id: HashMap<String, ParagraphStyle>,
    /// The open style, with its id.
    open: Option<(String, ParagraphStyle)>,
}

#[derive(Debug, Default)]
struct ParagraphStyle {
    look: Look,
    parent: Option<String>,
}

impl Styles {
    /// Begins a style of Word.
    pub fn begin(&mut self, element: &Element<'_>) {
        let id = element.attribute("styleId").unwrap_or_default();
        self.open = Some((id, ParagraphStyle::default()));
    }

    /// Begins a style of OpenDocument.
    pub fn begin_odf(&mut self, element: &Element<'_>) {
        let id = element.attribute("name").unwrap_or_default();
        let parent = element.attribute("parent-style-name");
        let shown = element.attribute("display-name").unwrap_or_default();
        let is_quoting = is_quoting(&id) || is_quoting(&shown);
        let look = Look { is_quoted: is_quoting.then_some(true), ..Look::default() };
        self.open = Some((id, ParagraphStyle { look, parent }));
    }

    /// Whether a style is being read.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Reads a property of Word in the open style.
    pub fn property(&mut self, element: &Element<'_>) {
        let Some((_, style)) = &mut self.open else { return };
        match element.name {
            "basedOn" => style.parent = element.attribute("val"),
            "name" if element.attribute("val").is_some_and(|name| is_quoting(&name)) => {
                style.look.is_quoted = Some(true);
            }
            // A table style has a background if a condition sets a background.
            "shd" if style.look.is_behind == Some(true) => {}
            _ => style.look.read(element),
        }
    }

    /// Reads properties of OpenDocument in the open style.
    pub fn properties_odf(&mut self, element: &Element<'_>) {
        if let Some((_, style)) = &mut self.open {
            style.look.read_odf(element);
        }
    }

    /// Ends the open style.
    pub fn end(&mut self) {
        if let Some((id, style)) = self.open.take() {
            self.by_id.insert(id, style);
        }
    }

    /// Returns the look of text of a style. A style that the file does not define is known by its
    /// name.
    pub fn of(&self, id: &str) -> Look {
        let (mut look, mut next) = (Look::default(), Some(id));
        for _ in 0..CHAIN_MAX {
            let Some(id) = next else { break };
            let Some(style) = self.by_id.get(id) else {
                look.is_quoted = look.is_quoted.or(is_quoting(id).then_some(true));
                break;
            };
            look = look.over(style.look);
            next = style.parent.as_deref();
        }
        look
    }
}
