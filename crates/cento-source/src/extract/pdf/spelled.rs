//! Text that a file spells out beside the glyphs (`ActualText`).
//!
//! Used only where a font does not identify its letters. A reader sees the glyphs, so a text that
//! contradicts readable glyphs is not believed.

use hayro_interpret::hayro_syntax::object::{Dict, String as Bytes};

use super::text_string::decoded;

/// The maximum number of letters a glyph, on average. A longer text describes a picture, or is an
/// attempt to fill the memory.
const LETTERS_A_GLYPH_MAX: usize = 4;

/// A marked content of a page, with its text.
pub struct Spelling {
    /// The number of letters of the page before it.
    pub from: usize,
    text: Option<Box<str>>,
}

impl Spelling {
    /// Reads the properties of a marked content that begins after `from` letters.
    pub fn of(properties: Option<&Dict<'_>>, from: usize) -> Spelling {
        let text = properties.and_then(|all| all.get::<Bytes<'_>>("ActualText"));
        Spelling { from, text: text.map(|text| decoded(text.as_bytes()).into()) }
    }

    /// Returns the text, unless it is too long for this number of glyphs.
    pub fn of_glyphs(&self, glyphs: usize) -> Option<String> {
        let text = self.text.as_ref()?.chars().filter(|c| !c.is_control() || c.is_whitespace());
        let text: String = text.collect();
        (text.chars().count() <= LETTERS_A_GLYPH_MAX * glyphs).then_some(text)
    }
}
