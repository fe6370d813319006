//! Which tokens does this text have, by this index's rules?

use std::fmt;
use std::str::FromStr;

use super::Tokens;
use super::normalize::Normalization;
use super::tokenize::Tokenizer;
use crate::error::{Error, Result};
use crate::hash::{hash_bytes, mix64};
use crate::spec::{self, Parameter, Spec};

/// Text in, tokens out, as a specification such as `words(nfkc=1,fold=1,cjk=2)` says.
///
/// `nfkc`: compatibility composition, 0 or 1. `fold`: case folding, 0 or 1. `cjk`: the characters
/// in a token of a script that is written without spaces, 1 or 2.
///
/// ```
/// use cento::text::{Analyzer, Tokens};
///
/// let mut tokens = Tokens::default();
/// Analyzer::default().analyze("Caf\u{e9} CAFE\u{301}", &mut tokens)?;
/// assert_eq!(tokens.hashes[0], tokens.hashes[1]);
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analyzer {
    tokenizer: Tokenizer,
}

const NAME: &str = "words";

const PARAMETERS: [Parameter; 3] = [
    Parameter { key: "nfkc", default: 1, min: 0, max: 1 },
    Parameter { key: "fold", default: 1, min: 0, max: 1 },
    Parameter { key: "cjk", default: 2, min: 1, max: 2 },
];

/// A text in many scripts. Its tokens tell whether two builds of cento analyse alike.
const SAMPLE: &str = include_str!("sample.txt");

impl Analyzer {
    /// Clears and fills `tokens` with the tokens of `text`.
    ///
    /// # Errors
    /// When the text is 4 GiB or longer.
    pub fn analyze(&self, text: &str, tokens: &mut Tokens) -> Result<()> {
        tokens.clear();
        if u32::try_from(text.len()).is_err() {
            let what = format!("{} bytes of text; a document has less than 4 GiB", text.len());
            return Err(Error::input("document", what));
        }
        self.tokenizer.run(text, tokens);
        Ok(())
    }

    /// Identifies what the analyser does: a hash of its tokens of a fixed multilingual sample.
    ///
    /// It changes when the rules, the Unicode tables behind them or the hash change.
    pub fn digest(&self) -> u64 {
        let mut tokens = Tokens::default();
        self.tokenizer.run(SAMPLE, &mut tokens);
        let spans = tokens.spans.iter().map(|s| u64::from(s.start) << 32 | u64::from(s.end));
        let start = hash_bytes(self.to_string().as_bytes());
        tokens
            .hashes
            .iter()
            .copied()
            .zip(spans)
            .fold(start, |digest, (hash, span)| mix64(mix64(digest ^ hash) ^ span))
    }
}

impl Default for Analyzer {
    fn default() -> Analyzer {
        NAME.parse().expect("every parameter has a default")
    }
}

impl FromStr for Analyzer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Analyzer> {
        let spec = Spec::parse(text)?;
        if spec.name != NAME {
            return Err(spec.unknown("analyser", &[NAME]));
        }
        let [nfkc, fold, unit_chars] = spec.values(&PARAMETERS)?;
        let normalization = Normalization { nfkc: nfkc == 1, fold: fold == 1 };
        Ok(Analyzer { tokenizer: Tokenizer { normalization, unit_chars } })
    }
}

impl fmt::Display for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tokenizer { normalization: Normalization { nfkc, fold }, unit_chars } = self.tokenizer;
        spec::write(f, NAME, &PARAMETERS, [nfkc.into(), fold.into(), unit_chars])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_prints_what_it_was_parsed_from() {
        let default = Analyzer::default();
        assert_eq!(default.to_string(), "words(nfkc=1,fold=1,cjk=2)");
        for text in ["words(nfkc=0,fold=1,cjk=2)", "words(nfkc=1,fold=0,cjk=1)"] {
            assert_eq!(text.parse::<Analyzer>().unwrap().to_string(), text);
        }
        assert!("letters".parse::<Analyzer>().is_err());
    }

    #[test]
    fn every_option_changes_the_digest() {
        let specs = ["words", "words(nfkc=0)", "words(fold=0)", "words(cjk=1)"];
        let digests = specs.map(|spec| spec.parse::<Analyzer>().unwrap().digest());
        for (i, digest) in digests.iter().enumerate() {
            assert!(!digests[..i].contains(digest), "{}", specs[i]);
        }
    }

    #[test]
    fn the_default_analyser_does_what_it_always_did() {
        // Indexes record this number. If it changes, they can no longer be opened: then the
        // change needs a new analyser name or a new HASH_VERSION, and a line in CHANGELOG.md.
        assert_eq!(Analyzer::default().digest(), 18_346_577_176_703_912_669);
    }
}
