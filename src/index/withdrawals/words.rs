//! The signatures of all words of withdrawn texts.
//!
//! An analyzer that leaves words out, such as stop words and numbers, leaves the same of texts that
//! say different things. Its signatures find texts that are like a withdrawn one, and must not
//! refuse them. So a record has another signature then: that of the default scheme over all words.

use super::{Evidence, Withdrawals, evidence_of};
use crate::error::Result;
use crate::index::Config;
use crate::overlap::Overlap;
use crate::scheme::{DEFAULT_SPEC, distinct_keys};

impl Config {
    /// Tells whether signatures of this configuration lack words of their texts.
    #[must_use]
    pub fn leaves_words_out(&self) -> bool {
        self.analyzer.of_all_words() != self.analyzer
    }

    /// Returns the configuration of signatures of all words; `None` if those of this one lack none.
    ///
    /// # Errors
    /// None, as the scheme is the default one.
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
    /// Returns the first of these withdrawals whose text a text resembles or contains by all of its
    /// words, which are signed as `words` says. None does if the text or the key is not known.
    pub(super) fn resembling_words(
        &self,
        words: &Config,
        mut those: impl Iterator<Item = u32>,
        text: Option<&str>,
    ) -> Result<Option<(usize, Evidence)>> {
        let lacks_key = words.key().is_some() && words.known_key().is_none();
        let (Some(text), Some(estimator)) = (text.filter(|_| !lacks_key), words.scheme.estimator())
        else {
            return Ok(None);
        };
        let (tokens, signature) = words.sign(text)?;
        let keys = distinct_keys(&signature);
        Ok(those.find_map(|at| {
            let signed = &self.all[at as usize];
            let own_tokens = signed.withdrawal.words.as_ref()?.tokens;
            let (fingerprints, own) = signed.words.as_ref()?;
            let a = ((own_tokens, &fingerprints[..]), &own[..]);
            let overlap = Overlap::of(own, &keys);
            let similarity = estimator.compare_keyed(overlap, a, ((tokens, &signature), &keys));
            Some((at as usize, evidence_of(&signed.withdrawal, own_tokens, &similarity)?))
        }))
    }
}
