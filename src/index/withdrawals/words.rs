//! Signatures of withdrawn texts over every word.
//!
//! An analyzer that leaves out stop words or numbers can make the same tokens of texts with
//! different meanings. The signatures find texts like a withdrawn text, but are too weak to refuse
//! a text. The record of a withdrawal then has a second signature: the default scheme over every
//! word.

use super::{RefusalEvidence, Withdrawals, evidence_of};
use crate::error::Result;
use crate::index::Config;
use crate::overlap::Overlap;
use crate::scheme::{DEFAULT_SPEC, KeyedSignature, distinct_keys};

impl Config {
    /// Returns whether signatures of this configuration ignore some words of a text.
    #[must_use]
    pub fn leaves_words_out(&self) -> bool {
        self.analyzer.of_all_words() != self.analyzer
    }

    /// Returns the configuration for signatures of all words, or `None` if no word is left out.
    ///
    /// # Errors
    /// Never in practice, because the scheme is the default scheme.
    pub fn of_all_words(&self) -> Result<Option<Config>> {
        if !self.leaves_words_out() {
            return Ok(None);
        }
        let analyzer = self.analyzer.of_all_words().to_string();
        let config = Config::new(DEFAULT_SPEC, &analyzer, self.store_text)?;
        config.locked_as(self).map(Some)
    }
}

impl Withdrawals {
    /// Returns the first of the withdrawals `those` whose text is resembled or contained by `text`,
    /// comparing every word, signed with `words`. `None` if the text or the key is unknown.
    pub(super) fn resembling_words(
        &self,
        words: &Config,
        mut those: impl Iterator<Item = u32>,
        text: Option<&str>,
    ) -> Result<Option<(usize, RefusalEvidence)>> {
        let lacks_key = words.key().is_some() && words.known_key().is_none();
        let (Some(text), Some(estimator)) = (text.filter(|_| !lacks_key), words.scheme.estimator())
        else {
            return Ok(None);
        };
        let (tokens, signature) = words.sign(text)?;
        let keys = distinct_keys(&signature);
        let other = KeyedSignature { tokens, fingerprints: &signature, keys: &keys };
        Ok(those.find_map(|at| {
            let signed = &self.all[at as usize];
            let own_tokens = signed.withdrawal.words.as_ref()?.tokens;
            let (fingerprints, own) = signed.words.as_ref()?;
            let a = KeyedSignature { tokens: own_tokens, fingerprints, keys: own };
            let similarity = estimator.compare(Overlap::of(own, &keys), a, other);
            Some((at as usize, evidence_of(&signed.withdrawal, own_tokens, &similarity)?))
        }))
    }
}
