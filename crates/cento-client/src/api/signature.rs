//! Signatures in JSON.

use cento::Stop;
use serde::{Deserialize, Serialize};

use cento::index::Config;
use cento::scheme::Fingerprint;
use cento::search::Subject;
use cento::text::Tokens;
use cento::whole;
use cento::{Error, Result};

/// A signature, with the specifications that it was made by. Keys are strings of decimal digits,
/// because many readers of JSON round large numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Signature {
    /// The specification of the scheme.
    pub scheme: String,
    /// The specification of the analyzer.
    pub analyzer: String,
    /// The bits of a key.
    #[serde(deserialize_with = "whole::number")]
    pub key_bits: u8,
    /// The digest of the frequency table, if the scheme reads one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequencies: Option<String>,
    /// The tokens of the text.
    #[serde(deserialize_with = "whole::number")]
    pub tokens: u32,
    /// Keys and the positions of their tokens, which do not descend.
    #[serde(deserialize_with = "whole::pairs")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schema::fingerprints))]
    pub fingerprints: Vec<(String, u32)>,
}

impl Signature {
    /// Returns the signature of a text; `tokens` is overwritten.
    ///
    /// # Errors
    /// When the text is too large to be analyzed.
    pub fn new(config: &Config, text: &str, tokens: &mut Tokens) -> Result<Signature> {
        let signature = config.sign_into(text, tokens, Stop::NEVER)?;
        Ok(Signature {
            scheme: config.scheme.to_string(),
            analyzer: config.analyzer.to_string(),
            key_bits: config.scheme.key_bits(),
            frequencies: config.frequencies_digest(),
            tokens: tokens.hashes.len() as u32,
            fingerprints: signature.iter().map(|f| (f.key.to_string(), f.position)).collect(),
        })
    }

    /// Returns the signature as the subject of a search, if it was made as `config` specifies.
    ///
    /// # Errors
    /// When it was made otherwise, or is not a signature.
    pub fn subject(self, config: &Config) -> Result<Subject> {
        let refused = |what: String| Error::argument("signature", format!("the signature: {what}"));
        let made = (self.scheme.as_str(), self.analyzer.as_str());
        let (scheme, analyzer) = (config.scheme.to_string(), config.analyzer.to_string());
        if made != (&scheme, &analyzer) || self.key_bits != config.scheme.key_bits() {
            return Err(refused(format!(
                "it was made with {} and {}, but the index has {scheme} and {analyzer}; make it \
                 again with `cento fingerprint --scheme '{scheme}' --analyzer '{analyzer}'`",
                made.0, made.1
            )));
        }
        if self.frequencies != config.frequencies_digest() {
            let what = "it was made with another frequency table than the index has; make it again \
                        with `cento fingerprint --index`, or with the index's frequencies.cento";
            return Err(refused(what.into()));
        }
        let mut fingerprints = Vec::with_capacity(self.fingerprints.len());
        let mut last = 0;
        for (key, position) in self.fingerprints {
            let fits = |key: &u64| self.key_bits == 64 || key >> self.key_bits == 0;
            let Some(number) = key.parse().ok().filter(fits) else {
                return Err(refused(format!("`{key}` is not a key of {} bits", self.key_bits)));
            };
            if position < last || position >= self.tokens {
                let tokens = self.tokens;
                return Err(refused(format!(
                    "the position {position} is not in order, or beyond {tokens} tokens"
                )));
            }
            last = position;
            fingerprints.push(Fingerprint { key: number, position });
        }
        Ok(Subject::Signature { tokens: self.tokens, fingerprints })
    }
}
