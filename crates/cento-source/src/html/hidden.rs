//! Invisible elements of a page.
//!
//! Some elements hold no text of the page, such as scripts. Others declare themselves not
//! displayed, outside of the page, in a box without size, or in letters without size or opacity or
//! in the color of the background. Style sheets within the page may hide elements, too (`style`).
//! The effects of other sheets and of scripts are unknown. In a drawing (SVG), only `text` elements
//! are text.

use html5gum::StartTag;

use super::style::PageStyle;
use super::{HIDDEN, PagePiece, is_within_line, joined, letters_of, pieces as pieces_of};
use crate::css::{declared, is_css_white};

/// Elements without an end tag.
pub(super) const VOID: [&[u8]; 14] = [
    b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"param",
    b"source", b"track", b"wbr",
];

/// Elements whose end tag is implied where a sibling of the same group begins.
const SIBLINGS: [&[&[u8]]; 4] =
    [&[b"li"], &[b"dt", b"dd"], &[b"td", b"th", b"tr"], &[b"option", b"optgroup"]];

/// The elements that enclose these groups.
const LISTS: [&[u8]; 5] = [b"ul", b"ol", b"dl", b"table", b"select"];

/// How many open elements are searched for the list around an item. Bounds the work for deep
/// nesting.
const ITEM_DEPTH_MAX: usize = 64;

/// The size of unreadable text, in pixels.
const SIZE_HIDDEN: f64 = 1.5;

/// The opacity of unreadable text.
const OPACITY_HIDDEN: f64 = 0.05;

/// Text at this offset from the left or top edge, in pixels, is outside of the page.
const OUTSIDE: f64 = -500.0;

/// The readings of characters, whose end tags may be missing, and what ends them.
const READINGS: [&[u8]; 3] = [b"rt", b"rp", b"rtc"];
const AFTER_READINGS: [&[u8]; 5] = [b"rt", b"rp", b"rtc", b"rb", b"ruby"];

/// Follows the tags of a page.
#[derive(Default)]
pub struct Sight {
    /// The open elements from the outermost invisible element inwards. Empty where text is visible.
    open: Vec<OpenElement>,
    /// The number of open drawings, and of open text elements in drawings.
    drawings: usize,
    drawn_texts: usize,
    style: PageStyle,
}

/// An open element that is invisible, or within an invisible element.
struct OpenElement {
    name: Vec<u8>,
    hidden: HiddenBy,
    /// Whether the contents are text, which only declarations hide.
    is_text: bool,
}

/// How an element is hidden. An element within it can have letters of a size or a color again, and
/// be visible again, but nothing else undoes the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct HiddenBy {
    size: bool,
    visibility: bool,
    /// By a rule of a style sheet.
    rule: bool,
    /// In white letters on a page without backgrounds.
    white: bool,
    other: bool,
}

/// Elements of a drawing with text, as the tokenizer writes their names.
const DRAWN_TEXTS: [&[u8]; 2] = [b"text", b"foreignobject"];

/// The visibility of a place in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// The text is visible.
    Yes,
    /// The contents are not text of the page.
    NoText,
    /// The contents are a fallback, for browsers without scripts, frames or films.
    Fallback,
    /// The text is invisible.
    Hidden,
}

/// Elements whose contents are fallbacks.
const FALLBACKS: [&[u8]; 6] = [b"audio", b"canvas", b"iframe", b"noembed", b"noscript", b"video"];

/// Returns whether the contents of an element are text. A template is a part of the page if it is
/// declared to be the inside of a component, as programs that save pages write it.
fn is_text<S: html5gum::SpanBound>(tag: &StartTag<S>) -> bool {
    let name = tag.name.as_slice();
    let is_source = HIDDEN.contains(&name) || FALLBACKS.contains(&name);
    !is_source || tag.attributes.contains_key(&b"shadowrootmode"[..])
}

impl Sight {
    pub fn with_style(style: PageStyle) -> Sight {
        Sight { style, ..Sight::default() }
    }

    pub fn style(&self) -> &PageStyle {
        &self.style
    }

    /// Returns the visibility of a text at this place.
    pub fn seen(&self) -> Visibility {
        match self.open.last() {
            Some(OpenElement { is_text: false, name, .. }) if FALLBACKS.contains(&&**name) => {
                Visibility::Fallback
            }
            Some(OpenElement { is_text: false, .. }) => Visibility::NoText,
            Some(open) if open.hidden != HiddenBy::default() => Visibility::Hidden,
            _ if self.drawings > 0 && self.drawn_texts == 0 => Visibility::NoText,
            _ => Visibility::Yes,
        }
    }

    /// Returns whether no declaration hides the place.
    pub fn is_declared_visible(&self) -> bool {
        self.open.last().is_none_or(|open| !open.hidden.is_hidden())
    }

    /// Returns whether nothing but a style sheet hides the place.
    pub fn is_hidden_by_rule(&self) -> bool {
        let by_rule = HiddenBy { rule: true, ..HiddenBy::default() };
        self.open.last().is_some_and(|open| open.hidden == by_rule)
    }

    /// Takes a start tag.
    pub fn start<S: html5gum::SpanBound>(&mut self, tag: &StartTag<S>) {
        let name = tag.name.as_slice();
        let has_end = !tag.self_closing && !VOID.contains(&name);
        if self.ends_before(name) {
            self.open.clear();
        }
        if self.is_reading() && AFTER_READINGS.contains(&name) {
            self.open.pop();
        }
        let (hidden, is_text) = match self.open.last() {
            // In an element without text, only the end tag of the same element counts.
            Some(open) if !open.is_text => (open.hidden, open.name != name),
            Some(open) => (open.hidden.within(tag, &self.style), is_text(tag)),
            None => (HiddenBy::default().within(tag, &self.style), is_text(tag)),
        };
        let is_within_text = self.open.last().is_some_and(|open| open.is_text);
        if has_end && (is_within_text || !is_text || self.open.is_empty() && hidden.is_hidden()) {
            self.open.push(OpenElement { name: name.to_vec(), hidden, is_text });
        } else if has_end && self.open.is_empty() {
            self.drawings += usize::from(name == b"svg");
            let is_drawn = self.drawings > 0 && DRAWN_TEXTS.contains(&name);
            self.drawn_texts += usize::from(is_drawn);
        }
    }

    /// Takes an end tag.
    pub fn end(&mut self, name: &[u8]) {
        if self.open.is_empty() && self.drawings > 0 {
            if name == b"svg" {
                self.drawings -= 1;
                self.drawn_texts = 0;
            } else if DRAWN_TEXTS.contains(&name) {
                self.drawn_texts = self.drawn_texts.saturating_sub(1);
            }
        }
        if self.is_reading() && (name == b"ruby" || !is_within_line(name)) {
            self.open.pop();
        }
        let is_text = self.open.last().is_some_and(|open| open.is_text);
        match self.open.iter().rposition(|open| open.name == name) {
            Some(at) => self.open.truncate(at),
            // The end tag of an outer element also ends the elements inside. `</p>` is excluded,
            // because a stray end of a paragraph may occur anywhere.
            None if is_text && name != b"p" && !is_within_line(name) => self.open.clear(),
            None => {}
        }
    }

    /// Returns whether the innermost element is the reading of characters.
    fn is_reading(&self) -> bool {
        self.open.last().is_some_and(|open| READINGS.contains(&open.name.as_slice()))
    }

    /// Returns whether `name` implies the end of the invisible element, which lacks an end tag.
    fn ends_before(&self, name: &[u8]) -> bool {
        let is_text = self.open.last().is_some_and(|open| open.is_text);
        let Some(first) = self.open.first().filter(|_| is_text) else { return false };
        if first.name == b"p" {
            return self.open.len() == 1 && !is_within_line(name) && !VOID.contains(&name);
        }
        let is_sibling =
            |group: &&&[&[u8]]| group.contains(&first.name.as_slice()) && group.contains(&name);
        let in_list = || {
            let inner = self.open.iter().rev().take(ITEM_DEPTH_MAX);
            inner.into_iter().any(|open| LISTS.contains(&open.name.as_slice()))
        };
        SIBLINGS.iter().any(|group| is_sibling(&group)) && !in_list()
    }
}

/// Classes of formulas as markup. The page also shows these formulas in a different form.
const FORMULAS: [&str; 2] = ["katex-mathml", "mjx_assistive_mathml"];

impl HiddenBy {
    fn is_hidden(self) -> bool {
        self != HiddenBy::default()
    }

    /// Returns how an element within one that is hidden in this way is hidden. Declarations of a
    /// whole page do not count, because a script usually reveals the page.
    fn within<S: html5gum::SpanBound>(self, tag: &StartTag<S>, style: &PageStyle) -> HiddenBy {
        let has = |name: &[u8]| tag.attributes.contains_key(name);
        let of = |name: &[u8]| {
            let value = tag.attributes.get(name).map(|value| value.to_vec());
            value.map(|value| String::from_utf8_lossy(&value).to_ascii_lowercase())
        };
        if [&b"html"[..], b"body"].contains(&tag.name.as_slice()) {
            return self;
        }
        let mut hidden = self;
        let name = tag.name.as_slice();
        let is_closed = name == b"noframes" || (name == b"dialog" && !has(b"open"));
        let is_formula = |class: String| class.split_whitespace().any(|it| FORMULAS.contains(&it));
        hidden.other |= has(b"hidden") || is_closed || of(b"class").is_some_and(is_formula);
        let own = of(b"style").map(|own| own.split_whitespace().collect::<String>());
        // The style of the element takes precedence.
        let declares = |name| own.as_ref().is_some_and(|own| declared(own, name).is_some());
        let is_displayed = declares("display") || declares("visibility");
        hidden.rule |= !is_displayed && style.hides(tag);
        let of_font = of(b"color").filter(|_| tag.name.as_slice() == b"font");
        let color = own.as_ref().and_then(|own| declared(own, "color")).or(of_font.as_deref());
        if let Some(color) = color {
            hidden.white = style.hides_white() && is_css_white(color);
        }
        if let Some(own) = &own {
            hidden.take(own);
        }
        hidden
    }

    /// Takes a style, in small letters without white space.
    fn take(&mut self, style: &str) {
        let value = |name: &str| declared(style, name);
        let is_one =
            |name: &str, values: &[&str]| value(name).is_some_and(|value| values.contains(&value));
        let background = value("background-color").or_else(|| value("background"));
        if let Some(visibility) = value("visibility").filter(|&value| value != "inherit") {
            self.visibility = ["hidden", "collapse"].contains(&visibility);
        }
        if let Some(size) = value("font-size").filter(|&value| !is_relative(value) || !self.size) {
            self.size = pixels(size).is_some_and(|size| size < SIZE_HIDDEN);
        }
        self.other |= is_one("display", &["none"])
            || is_one("content-visibility", &["hidden"])
            || value("opacity").and_then(number).is_some_and(|opacity| opacity < OPACITY_HIDDEN)
            || is_one("color", &["transparent"])
            || value("color").is_some_and(|color| background == Some(color))
            || is_outside(&value)
            || is_without_size(&value);
    }
}

/// Returns whether a size of letters is relative to the size around it.
fn is_relative(size: &str) -> bool {
    let is_of_parent = size.ends_with("em") && !size.ends_with("rem") || size.ends_with('%');
    is_of_parent || ["inherit", "smaller", "larger", "unset"].contains(&size)
}

/// Returns the number at the beginning of a style value. A percentage becomes a fraction.
fn number(value: &str) -> Option<f64> {
    let digits = value.trim_start_matches(|c: char| c.is_ascii_digit() || ".-+".contains(c));
    let number: f64 = value[..value.len() - digits.len()].parse().ok()?;
    Some(if digits == "%" { number / 100.0 } else { number })
}

/// Returns a length in pixels.
fn pixels(value: &str) -> Option<f64> {
    let digits = value.trim_start_matches(|c: char| c.is_ascii_digit() || ".-+".contains(c));
    let by = match digits {
        "" | "px" => 1.0,
        "pt" => 4.0 / 3.0,
        "em" | "rem" | "ex" => 16.0,
        "%" => 0.16,
        "vw" | "vh" => 10.0,
        _ => return None,
    };
    let number: f64 = value[..value.len() - digits.len()].parse().ok()?;
    Some(number * by)
}

/// Returns whether a style puts text outside of the page.
fn is_outside<'a>(value: &dyn Fn(&str) -> Option<&'a str>) -> bool {
    let is_far = |name: &str| value(name).and_then(pixels).is_some_and(|at| at <= OUTSIDE);
    let is_placed = value("position").is_some_and(|place| ["absolute", "fixed"].contains(&place));
    is_far("text-indent")
        || (is_placed && ["left", "top", "right", "bottom"].into_iter().any(is_far))
}

/// Returns whether a style gives text a box without size.
fn is_without_size<'a>(value: &dyn Fn(&str) -> Option<&'a str>) -> bool {
    let is_small = |name: &str| value(name).and_then(pixels).is_some_and(|size| size <= 1.0);
    let is_cut = value("overflow").is_some_and(|overflow| ["hidden", "clip"].contains(&overflow));
    let is_clipped = value("clip")
        .is_some_and(|clip| clip.starts_with("rect(0") || clip.starts_with("rect(1px,1px,1px,1px"));
    let clip_path = value("clip-path").unwrap_or_default();
    is_clipped
        || ["inset(50%", "inset(100%", "circle(0"].iter().any(|it| clip_path.starts_with(it))
        || value("transform").is_some_and(|transform| transform == "scale(0)")
        || (is_cut && ["height", "max-height", "width", "max-width"].into_iter().any(is_small))
}

/// Members of the data in a page with a whole text: of search engines (JSON-LD), and of scripts.
const TEXTS: [&[u8]; 4] = [b"\"articleBody\"", b"\"reviewBody\"", b"\"text\"", b"\"body\""];

/// Returns the number of letters of the longest text that only the data in the page, or one of its
/// templates, contains, or 0 if the page itself shows as many words.
pub fn article_in_data(page: &str, pieces: &[PagePiece]) -> usize {
    let shown = pieces.iter().map(|piece| match piece {
        PagePiece::Text { words, .. } => *words,
        PagePiece::Tag { .. } | PagePiece::Hidden(_) => 0,
    });
    let shown: i64 = shown.sum();
    let text_at = |at: usize| {
        let rest = page[at..].trim_start().strip_prefix(':')?.trim_start();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        rest.starts_with('"').then(|| values.next()?.ok()).flatten()
    };
    let in_data = TEXTS.iter().flat_map(|name| {
        memchr::memmem::find_iter(page.as_bytes(), *name)
            .filter_map(move |at| text_at(at + name.len()))
    });
    let in_templates = templates(page).into_iter().map(|inner| joined(inner, &pieces_of(inner)).0);
    let longer = in_data.chain(in_templates).filter(|text| super::words(text) > shown);
    longer.map(|text| letters_of(&text)).max().unwrap_or_default()
}

/// Returns the contents of the templates of a page.
fn templates(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, from)) = rest.split_once("<template") {
        let Some((tag, from)) = from.split_once('>') else { break };
        let Some((inner, after)) = from.split_once("</template") else { break };
        if !tag.contains("shadowrootmode") {
            found.push(inner);
        }
        rest = after;
    }
    found
}

/// Returns the total number of invisible characters.
pub fn hidden_in(pieces: &[PagePiece]) -> usize {
    let hidden = pieces.iter().map(|piece| match piece {
        PagePiece::Hidden(letters) => *letters,
        PagePiece::Text { .. } | PagePiece::Tag { .. } => 0,
    });
    hidden.sum()
}
