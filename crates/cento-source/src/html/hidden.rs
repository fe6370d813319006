//! Invisible elements of a page.
//!
//! Some elements hold no text of the page, such as scripts. Others declare themselves not
//! displayed, outside of the page, in a box without size, or in letters without size or opacity or
//! in the color of the background. The effects of style sheets and scripts are unknown. In a
//! drawing (SVG), only `text` elements are text.

use html5gum::StartTag;

use super::{HIDDEN, PagePiece, WITHIN_LINES};

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

/// Follows the tags of a page.
#[derive(Default)]
pub struct Sight {
    /// The open elements from the outermost invisible element inwards. Empty where text is visible.
    open: Vec<Vec<u8>>,
    /// Whether the contents are text, which only the declaration of the element hides.
    is_text: bool,
    /// The number of open drawings, and of open text elements in drawings.
    drawings: usize,
    drawn_texts: usize,
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
    /// The text is invisible.
    Hidden,
}

impl Sight {
    /// Returns the visibility of a text at this place.
    pub fn seen(&self) -> Visibility {
        match (self.open.is_empty(), self.is_text) {
            (true, _) if self.drawings > 0 && self.drawn_texts == 0 => Visibility::NoText,
            (true, _) => Visibility::Yes,
            (false, true) => Visibility::Hidden,
            (false, false) => Visibility::NoText,
        }
    }

    /// Takes a start tag.
    pub fn start<S: html5gum::SpanBound>(&mut self, tag: &StartTag<S>) {
        let name = tag.name.as_slice();
        let has_end = !tag.self_closing && !VOID.contains(&name);
        if self.ends_before(name) {
            self.open.clear();
        }
        if has_end && self.open.is_empty() {
            self.drawings += usize::from(name == b"svg");
            let is_text = self.drawings > 0 && DRAWN_TEXTS.contains(&name);
            self.drawn_texts += usize::from(is_text);
        }
        if !self.open.is_empty() {
            // In an element without text, only the end tag of the same element counts.
            if has_end && (self.is_text || self.open[0] == name) {
                self.open.push(name.to_vec());
            }
        } else if has_end && HIDDEN.contains(&name) {
            (self.open, self.is_text) = (vec![name.to_vec()], false);
        } else if has_end && hides(tag) {
            (self.open, self.is_text) = (vec![name.to_vec()], true);
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
        match self.open.iter().rposition(|open| open == name) {
            Some(at) => self.open.truncate(at),
            // The end tag of an outer element also ends the elements inside. `</p>` is excluded,
            // because a stray end of a paragraph may occur anywhere.
            None if self.is_text && name != b"p" && !WITHIN_LINES.contains(&name) => {
                self.open.clear()
            }
            None => {}
        }
    }

    /// Returns whether `name` implies the end of the invisible element, which lacks an end tag.
    fn ends_before(&self, name: &[u8]) -> bool {
        let Some(first) = self.open.first().filter(|_| self.is_text) else { return false };
        if first == b"p" {
            return self.open.len() == 1 && !WITHIN_LINES.contains(&name) && !VOID.contains(&name);
        }
        let is_sibling =
            |group: &&&[&[u8]]| group.contains(&first.as_slice()) && group.contains(&name);
        let in_list = || {
            let inner = self.open.iter().rev().take(ITEM_DEPTH_MAX);
            inner.into_iter().any(|open| LISTS.contains(&open.as_slice()))
        };
        SIBLINGS.iter().any(|group| is_sibling(&group)) && !in_list()
    }
}

/// Returns whether an element declares itself invisible. Does not apply to a whole page, because a
/// script usually reveals the page.
fn hides<S: html5gum::SpanBound>(tag: &StartTag<S>) -> bool {
    let is_page = [&b"html"[..], b"body"].contains(&tag.name.as_slice());
    let has = |name: &[u8]| tag.attributes.contains_key(name);
    let style = tag.attributes.get(&b"style"[..]).map(|style| style.to_vec());
    let is_closed = tag.name.as_slice() == b"dialog" && !has(b"open");
    let hides = style.is_some_and(|style| hides_by(&String::from_utf8_lossy(&style)));
    !is_page && (has(b"hidden") || is_closed || hides)
}

/// Returns whether a style hides text.
fn hides_by(style: &str) -> bool {
    let style: String = style.to_ascii_lowercase().split_whitespace().collect();
    let value = |name: &str| {
        let mut declarations =
            style.rsplit(';').filter_map(|declaration| declaration.split_once(':'));
        // The last declaration of a property counts.
        let value = declarations.find(|(found, _)| *found == name);
        value.map(|(_, value)| value.trim_end_matches("!important"))
    };
    let is_one =
        |name: &str, values: &[&str]| value(name).is_some_and(|value| values.contains(&value));
    let background = value("background-color").or_else(|| value("background"));
    is_one("display", &["none"])
        || is_one("visibility", &["hidden", "collapse"])
        || is_one("content-visibility", &["hidden"])
        || value("opacity").and_then(number).is_some_and(|opacity| opacity < OPACITY_HIDDEN)
        || value("font-size").and_then(pixels).is_some_and(|size| size < SIZE_HIDDEN)
        || is_one("color", &["transparent"])
        || value("color").is_some_and(|color| background == Some(color))
        || is_outside(&value)
        || is_without_size(&value)
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

/// Returns the number of letters of an article that only the page's data for search engines
/// (JSON-LD) contains, or 0 if the page itself shows as many words.
pub fn article_in_data(page: &str, pieces: &[PagePiece]) -> usize {
    const ARTICLE: &[u8] = b"\"articleBody\"";
    let Some(at) = memchr::memmem::find(page.as_bytes(), ARTICLE) else { return 0 };
    let rest = page[at + ARTICLE.len()..].trim_start();
    let Some(rest) = rest.strip_prefix(':') else { return 0 };
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let Some(Ok(article)) = values.next() else { return 0 };
    let shown = pieces.iter().map(|piece| match piece {
        PagePiece::Text { words, .. } => *words,
        PagePiece::Tag { .. } | PagePiece::Hidden(_) => 0,
    });
    match super::words(&article) > shown.sum() {
        true => article.chars().filter(|c| !c.is_whitespace()).count(),
        false => 0,
    }
}

/// Returns the total number of invisible characters.
pub fn hidden_in(pieces: &[PagePiece]) -> usize {
    let hidden = pieces.iter().map(|piece| match piece {
        PagePiece::Hidden(letters) => *letters,
        PagePiece::Text { .. } | PagePiece::Tag { .. } => 0,
    });
    hidden.sum()
}
