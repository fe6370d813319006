//! Which inputs are in none of the numbers of a report, and why?

use cento::Analyzer;
use cento::join::most_similar::NothingLeft;
use cento::text::unseen::Unseen;
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
const NO_WORDS: &str = "there is nothing to compare: it has no words";

/// Why a program without a token is not compared.
const NO_TOKENS: &str =
    "there is nothing to compare: without comments and layout nothing is left of it";

/// Why a document is not compared that consists of boilerplate.
const ONLY_BOILERPLATE: &str =
    "there is nothing to compare: without the boilerplate nothing is left of it";

/// What a reader of a text is to be told of it.
#[must_use]
pub fn warnings(name: &str, unseen: &Unseen) -> Vec<NotCompared> {
    unseen.warnings().into_iter().map(|what| NotCompared::new(name, what)).collect()
}

impl NotCompared {
    /// Notes a document of which nothing can be compared, of an index with this analyzer.
    #[must_use]
    pub fn nothing_left(left: NothingLeft, analyzer: &Analyzer) -> NotCompared {
        let NothingLeft { id, has_tokens, .. } = left;
        let reason = match has_tokens {
            true => ONLY_BOILERPLATE,
            false if analyzer.spec().name() == "code" => NO_TOKENS,
            false => NO_WORDS,
        };
        NotCompared::new(id, reason)
    }

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
