//! Proposes boilerplate: passages that most documents of a collection repeat.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A passage that many documents have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct RepeatedPassage {
    /// The number of different documents with the passage. At least as many documents have each run
    /// of words in the passage.
    pub documents: u64,
    /// The number of different documents that were compared; exact copies count once.
    pub of_documents: u64,
    /// The length of the passage, in tokens.
    pub tokens: u32,
    /// The id of a document that has it.
    pub example: String,
    /// The range of the passage in the example document, in bytes, half-open.
    pub bytes: (u32, u32),
    /// The text of the passage in the example document.
    pub text: String,
}

impl RepeatedPassage {
    /// Returns a passage with these values.
    #[must_use]
    pub fn new(
        [documents, of_documents]: [u64; 2],
        tokens: u32,
        example: String,
        bytes: (u32, u32),
        text: String,
    ) -> RepeatedPassage {
        RepeatedPassage { documents, of_documents, tokens, example, bytes, text }
    }
}

/// The share of the different documents of a collection that a passage of boilerplate is in.
///
/// ```
/// use cento_api::BoilerplateShare;
///
/// assert_eq!(BoilerplateShare::default().get(), 0.75);
/// assert_eq!(BoilerplateShare::of_auto("auto:0.5")?.map(BoilerplateShare::get), Some(0.5));
/// assert_eq!(BoilerplateShare::of_auto("template.txt")?, None);
/// # Ok::<(), cento_api::Error>(())
/// ```
#[doc(alias = "boilerplate")]
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = f64, minimum = 0.01, maximum = 1))]
pub struct BoilerplateShare(f64);

impl BoilerplateShare {
    /// The least share. The number of distinct runs in this share of the documents is at most a
    /// hundred times that of a document, which bounds the memory of the search for them.
    pub const MIN: f64 = 0.01;

    /// Makes a share.
    ///
    /// # Errors
    /// When it is less than [`MIN`](Self::MIN) or more than 1.
    pub fn new(share: f64) -> Result<BoilerplateShare> {
        if (BoilerplateShare::MIN..=1.0).contains(&share) {
            return Ok(BoilerplateShare(share));
        }
        let what = format!(
            "the share of documents with a passage of boilerplate must be {} to 1, not {share}",
            BoilerplateShare::MIN
        );
        Err(Error::argument("min_share", what))
    }

    /// Returns the number, 0 to 1.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// Parses `auto` or `auto:SHARE`, a special name of boilerplate. Returns `None` for any other
    /// name.
    ///
    /// # Errors
    /// When the share is invalid.
    pub fn of_auto(name: &str) -> Result<Option<BoilerplateShare>> {
        match name.strip_prefix("auto") {
            Some("") => Ok(Some(BoilerplateShare::default())),
            Some(rest) => rest.strip_prefix(':').map(str::parse).transpose(),
            None => Ok(None),
        }
    }
}

impl Default for BoilerplateShare {
    /// Three of four documents. Text that most documents have distinguishes no two of them, and
    /// people who copied from each other are rarely so large a part of a class.
    fn default() -> BoilerplateShare {
        BoilerplateShare(0.75)
    }
}

impl fmt::Display for BoilerplateShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for BoilerplateShare {
    type Err = Error;

    fn from_str(text: &str) -> Result<BoilerplateShare> {
        let share = text.parse().map_err(|_| {
            let what = format!("`{text}` is not a share of documents, such as 0.75");
            Error::argument("min_share", what)
        })?;
        BoilerplateShare::new(share)
    }
}

impl TryFrom<f64> for BoilerplateShare {
    type Error = Error;

    fn try_from(share: f64) -> Result<BoilerplateShare> {
        BoilerplateShare::new(share)
    }
}

impl From<BoilerplateShare> for f64 {
    fn from(share: BoilerplateShare) -> f64 {
        share.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_read_with_and_without_a_share() {
        let read = |name: &str| BoilerplateShare::of_auto(name).map_err(|error| error.to_string());
        assert_eq!(read("auto"), Ok(Some(BoilerplateShare::default())));
        assert_eq!(read("auto:0.5"), Ok(Some(BoilerplateShare(0.5))));
        assert_eq!(read("auto:1"), Ok(Some(BoilerplateShare(1.0))));
        for path in ["automatic.txt", "./auto", "sheet.txt", "auto.txt", ""] {
            assert_eq!(read(path), Ok(None), "{path}");
        }
        for (name, said) in [
            ("auto:", "not a share"),
            ("auto:half", "`half`"),
            ("auto:0", "0.01 to 1"),
            ("auto:1.5", "1.5"),
            ("auto:NaN", "NaN"),
        ] {
            assert!(read(name).unwrap_err().contains(said), "{name}");
        }
    }

    #[test]
    fn a_share_out_of_bounds_is_refused_in_json() {
        let read = |json: &str| serde_json::from_str::<BoilerplateShare>(json);
        assert_eq!(read("0.5").unwrap().get(), 0.5);
        assert!(read("0").is_err() && read("2").is_err() && read("\"auto\"").is_err());
    }
}
