//! Quotations and bibliographies: parts of a text that quote or list foreign texts.

use serde::{Deserialize, Serialize};

/// A part of a text that quotes or lists other texts. Sharing such a part is no reuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum CitedPart {
    /// Text in quotation marks of any language, up to 2,000 bytes within a paragraph, and lines
    /// that begin with `>`. An apostrophe does not count.
    #[cfg_attr(feature = "clap", value(help = QUOTATIONS))]
    Quotations,
    /// Everything after a heading such as "References" in the second half of the document.
    Bibliography,
}

/// The description of [`CitedPart::Quotations`], which lists the marks.
#[cfg(feature = "clap")]
const QUOTATIONS: &str = "Text in quotation marks, up to 2,000 bytes within a paragraph, and lines \
     that begin with >. The marks: \"x\", \u{201c}x\u{201d}, \u{201d}x\u{201d}, \
     \u{201e}x\u{201c}, \u{201e}x\u{201d}, \u{2018}x\u{2019}, \u{201a}x\u{2018}, \u{ab}x\u{bb}, \
     \u{bb}x\u{ab}, \u{bb}x\u{bb}, \u{2039}x\u{203a}, \u{203a}x\u{2039}, \u{300c}x\u{300d}, \
     \u{300e}x\u{300f}, \u{301d}x\u{301f}. An apostrophe does not count";

impl CitedPart {
    /// Returns the name of the part in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CitedPart::Quotations => "quotations",
            CitedPart::Bibliography => "bibliography",
        }
    }
}
