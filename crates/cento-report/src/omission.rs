//! Inputs that are missing from the numbers of a report, with the reasons.

use cento::Analyzer;
use cento::UnseenText;
use cento_collections::most_similar::NothingLeft;
use serde::{Deserialize, Serialize};

/// An input file or document that was not compared, or only in part, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotCompared {
    /// The name, in an archive after the name of the archive.
    pub name: String,
    /// The reason, as a clause.
    pub reason: String,
}

/// The reason why a document that consists of boilerplate is not compared.
const ONLY_BOILERPLATE: &str =
    "there is nothing to compare: without the boilerplate nothing is left of it";

/// Returns the warnings about a text for its reader.
#[must_use]
pub fn warnings(name: &str, unseen: &UnseenText) -> Vec<NotCompared> {
    unseen.warnings().into_iter().map(|what| NotCompared::new(name, what)).collect()
}

impl NotCompared {
    /// Records a document that has nothing to compare, in an index with this analyzer.
    #[must_use]
    pub fn nothing_left(left: NothingLeft, analyzer: &Analyzer) -> NotCompared {
        let NothingLeft { id, has_tokens, .. } = left;
        let reason = match has_tokens {
            true => ONLY_BOILERPLATE,
            false => analyzer.nothing_to_compare(),
        };
        NotCompared::new(id, reason)
    }

    /// Records an input that was not compared.
    pub fn new(name: impl Into<String>, reason: impl Into<String>) -> NotCompared {
        NotCompared { name: name.into(), reason: reason.into() }
    }

    /// Replaces the names by numbers, in the order of the reasons, so that the order reveals no
    /// name.
    pub(crate) fn numbered(list: Vec<NotCompared>) -> Vec<NotCompared> {
        let mut reasons: Vec<String> = list.into_iter().map(NotCompared::unnamed).collect();
        reasons.sort_unstable();
        let named = |(number, reason)| NotCompared::new(format!("Not compared {number}"), reason);
        (1..).zip(reasons).map(named).collect()
    }

    /// Returns the reason without the file name. A reason sometimes contains the path of the file,
    /// or its end.
    fn unnamed(self) -> String {
        let mut reason = self.reason;
        let mut name = self.name.as_str();
        while !name.is_empty() {
            reason = replaced(&reason, name);
            name = name.split_once('/').map_or("", |(_, rest)| rest);
        }
        reason
    }
}

/// Replaces a name by `it`, except within a longer word: a document may be called `ann`, and
/// "cannot" must stay.
fn replaced(reason: &str, name: &str) -> String {
    let mut replaced = String::with_capacity(reason.len());
    let mut rest = reason;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let is_in_word = {
            let last = before.chars().next_back().or_else(|| replaced.chars().next_back());
            let ends = [last, name.chars().next()];
            let begins = [name.chars().next_back(), after.chars().next()];
            let is_one =
                |two: [Option<char>; 2]| two.iter().all(|c| c.is_some_and(char::is_alphanumeric));
            is_one(ends) || is_one(begins)
        };
        replaced += before;
        replaced += if is_in_word { name } else { "it" };
        rest = after;
    }
    replaced + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_within_a_word_of_the_reason_stays_and_each_other_one_is_replaced() {
        let shown = |name: &str, reason: &str| NotCompared::new(name, reason).unnamed();
        // The result was "citot be opened".
        assert_eq!(shown("hw/ann", "it cannot be opened"), "it cannot be opened");
        assert_eq!(shown("e", "there is nothing to compare"), "there is nothing to compare");
        assert_eq!(
            shown("hw/ann", "cannot open hw/ann, ann.zip: ann"),
            "cannot open it, it.zip: it"
        );
        assert_eq!(
            shown("bob.zip", "cannot open x/bob.zip: cut short"),
            "cannot open x/it: cut short"
        );
    }
}
