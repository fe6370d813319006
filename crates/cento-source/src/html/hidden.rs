//! Which elements of a page does a reader not see?
//!
//! Those whose contents are no text of the page (scripts), and those that say of themselves that they are not
//! displayed, or in letters without size, without opacity or in the colour of their background. What style sheets and
//! scripts make of an element is not known.

use html5gum::StartTag;

use super::{HIDDEN, Piece, WITHIN_LINES};

/// Elements without an end.
const VOID: [&[u8]; 14] = [
    b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"param",
    b"source", b"track", b"wbr",
];

/// Groups of elements that end where one of the same group begins.
const SIBLINGS: [&[&[u8]]; 4] =
    [&[b"li"], &[b"dt", b"dd"], &[b"td", b"th", b"tr"], &[b"option", b"optgroup"]];

/// What such elements are in.
const LISTS: [&[u8]; 5] = [b"ul", b"ol", b"dl", b"table", b"select"];

/// So many open elements are looked at for the list that an item is in.
const ITEM_DEPTH_MAX: usize = 64;

/// Sizes in which nothing can be read.
const SIZES: [&str; 10] = ["0", "0px", "0pt", "0em", "0rem", "0%", "1px", "1pt", "0.1px", "0.1em"];

/// Follows the tags of a page.
#[derive(Default)]
pub struct Sight {
    /// The open elements within one that is not seen, which is the first.
    open: Vec<Vec<u8>>,
    /// Whether its text would be seen if it did not say otherwise.
    is_text: bool,
}

/// What a reader sees of a place in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Its text.
    Yes,
    /// Nothing, and its text is none of the page.
    NoText,
    /// Nothing, although it has text.
    Hidden,
}

impl Sight {
    /// What is seen of a text that stands here.
    pub fn seen(&self) -> Visibility {
        match (self.open.is_empty(), self.is_text) {
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
        if !self.open.is_empty() {
            // In what is no text, only its own end counts.
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
        match self.open.iter().rposition(|open| open == name) {
            Some(at) => self.open.truncate(at),
            // It ends an element around, and with it what is in there; the end of a paragraph may be anywhere.
            None if self.is_text && name != b"p" && !WITHIN_LINES.contains(&name) => {
                self.open.clear()
            }
            None => {}
        }
    }

    /// Whether the element that is not seen has ended where another begins, without an end tag.
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

/// Whether an element says that a reader does not see it. Scripts reveal whole pages that are hidden at first.
fn hides<S: html5gum::SpanBound>(tag: &StartTag<S>) -> bool {
    let is_page = [&b"html"[..], b"body"].contains(&tag.name.as_slice());
    let has = |name: &[u8]| tag.attributes.contains_key(name);
    let style = tag.attributes.get(&b"style"[..]).map(|style| style.to_vec());
    let is_closed = tag.name.as_slice() == b"dialog" && !has(b"open");
    let hides = style.is_some_and(|style| hides_by(&String::from_utf8_lossy(&style)));
    !is_page && (has(b"hidden") || is_closed || hides)
}

/// Whether a style hides text.
fn hides_by(style: &str) -> bool {
    let style: String = style.to_ascii_lowercase().split_whitespace().collect();
    let value = |name: &str| {
        let mut declarations =
            style.rsplit(';').filter_map(|declaration| declaration.split_once(':'));
        // Of several the last counts.
        let value = declarations.find(|(found, _)| *found == name);
        value.map(|(_, value)| value.trim_end_matches("!important"))
    };
    let is_one =
        |name: &str, values: &[&str]| value(name).is_some_and(|value| values.contains(&value));
    let background = value("background-color").or_else(|| value("background"));
    is_one("display", &["none"])
        || is_one("visibility", &["hidden", "collapse"])
        || is_one("opacity", &["0", "0.0", "0%"])
        || is_one("font-size", &SIZES)
        || is_one("color", &["transparent"])
        || value("color").is_some_and(|colour| background == Some(colour))
}

/// The number of characters in some pieces that a reader does not see.
pub fn hidden_in(pieces: &[Piece]) -> usize {
    let hidden = pieces.iter().map(|piece| match piece {
        Piece::Hidden(letters) => *letters,
        Piece::Text { .. } | Piece::Tag { .. } => 0,
    });
    hidden.sum()
}
