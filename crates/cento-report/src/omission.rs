//! Which inputs are in none of the numbers of a report, and why?

use serde::{Deserialize, Serialize};

/// A file or document that was given and not compared, or read only in part, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotCompared {
    /// Its name, in an archive after that of the archive.
    pub name: String,
    /// Why, as a clause.
    pub reason: String,
}

/// Why a document without a word is not compared.
pub const NO_WORDS: &str = "there is nothing to compare: it has no words";

/// Why a program without a token is not compared.
pub const NO_TOKENS: &str =
    "there is nothing to compare: without comments and layout nothing is left of it";

/// Why a document is not compared that consists of boilerplate.
pub const ONLY_BOILERPLATE: &str =
    "there is nothing to compare: without the boilerplate nothing is left of it";

impl NotCompared {
    /// Notes an input that was not compared.
    pub fn new(name: impl Into<String>, reason: impl Into<String>) -> NotCompared {
        NotCompared { name: name.into(), reason: reason.into() }
    }

    /// Takes the name out, and puts a number in its place.
    pub(crate) fn numbered(self, number: usize) -> NotCompared {
        // Reasons name parts of archives and columns, seldom the file; where they do, it has no name.
        let reason = match self.name.is_empty() {
            true => self.reason,
            false => self.reason.replace(&self.name, "it"),
        };
        NotCompared { name: format!("Not compared {number}"), reason }
    }
}
