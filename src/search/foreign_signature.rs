//! Signatures that were made elsewhere.
//!
//! Every interface uses this check. A signature made with different settings would find wrong
//! documents, or nothing.

use cento_api::http::SignatureBody;

use super::Subject;
use crate::error::{Error, Result};
use crate::index::Config;
use crate::runtime::Stop;
use crate::scheme::Fingerprint;
use crate::text::Tokens;

/// A signature with the specifications that it was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignSignature {
    /// The specification of the scheme.
    pub scheme: String,
    /// The specification of the analyzer.
    pub analyzer: String,
    /// The digest of the frequency table, if the scheme reads a table.
    pub frequencies: Option<String>,
    /// The check value of the key, if the fingerprints depend on a key.
    pub key: Option<String>,
    /// The number of tokens of the text.
    pub tokens: u32,
    /// The fingerprints, ordered by position.
    pub fingerprints: Vec<Fingerprint>,
}

impl ForeignSignature {
    /// Signs a text like documents of an index with this configuration. Overwrites `tokens`.
    ///
    /// # Errors
    /// When the text is too large to be analyzed.
    pub fn new(config: &Config, text: &str, tokens: &mut Tokens) -> Result<ForeignSignature> {
        let fingerprints = config.sign_into(text, tokens, Stop::NEVER)?;
        Ok(ForeignSignature::of(config, tokens.hashes.len() as u32, fingerprints))
    }

    /// Wraps a signature made with this configuration, of a text with this number of tokens.
    #[must_use]
    pub fn of(config: &Config, tokens: u32, fingerprints: Vec<Fingerprint>) -> ForeignSignature {
        ForeignSignature {
            scheme: config.scheme.to_string(),
            analyzer: config.analyzer.to_string(),
            frequencies: config.frequencies_digest(),
            key: key_of(config),
            tokens,
            fingerprints,
        }
    }

    /// Returns the signature in JSON form, with the key size of this configuration.
    #[must_use]
    pub fn body(&self, config: &Config) -> SignatureBody {
        let pairs = self.fingerprints.iter().map(|f| (f.key.to_string(), f.position));
        SignatureBody {
            scheme: self.scheme.clone(),
            analyzer: self.analyzer.clone(),
            key_bits: config.scheme.key_bits(),
            frequencies: self.frequencies.clone(),
            key: self.key.clone(),
            tokens: self.tokens,
            fingerprints: pairs.collect(),
        }
    }

    /// Returns the signature as the subject of a search, after checking the signature against
    /// `config`. `remake` tells the caller how to make a valid signature, as in "make it again with
    /// {remake}".
    ///
    /// # Errors
    /// When the signature was made with different settings, or is invalid.
    pub fn subject(self, config: &Config, remake: &str) -> Result<Subject> {
        self.check_settings(config, remake)?;
        let ForeignSignature { tokens, fingerprints, .. } = self;
        let bits = config.scheme.key_bits();
        let mut last = 0;
        for &Fingerprint { key, position } in &fingerprints {
            if bits < 64 && key >> bits != 0 {
                return Err(refused(format!("`{key}` is not a key of {bits} bits")));
            }
            if position < last || position >= tokens {
                return Err(refused(format!(
                    "the position {position} is not in order, or beyond {tokens} tokens"
                )));
            }
            last = position;
        }
        Ok(Subject::Signature { tokens, fingerprints })
    }

    /// Converts a signature in JSON form, as printed by `cento method fingerprint`, into the
    /// subject of a search.
    ///
    /// # Errors
    /// The errors of [`subject`](ForeignSignature::subject).
    pub fn subject_of(body: SignatureBody, config: &Config) -> Result<Subject> {
        let SignatureBody { scheme, analyzer, key_bits, frequencies, key, tokens, fingerprints } =
            body;
        let remake = &match &config.frequencies {
            None => format!(
                "`cento method fingerprint --scheme '{}' --analyzer '{}'{}`",
                config.scheme,
                config.analyzer,
                if config.key().is_some() { " --key-file FILE" } else { "" }
            ),
            Some(_) => "`cento method fingerprint --like`, or with the index's frequencies.cento"
                .to_owned(),
        };
        let none = Vec::new();
        let mut signature =
            ForeignSignature { scheme, analyzer, frequencies, key, tokens, fingerprints: none };
        signature.check_settings(config, remake)?;
        if key_bits != config.scheme.key_bits() {
            return Err(signature.other_scheme(config, remake));
        }
        let parsed = fingerprints.into_iter().map(|(key, position)| match key.parse() {
            Ok(key) => Ok(Fingerprint { key, position }),
            Err(_) => Err(refused(format!("`{key}` is not a key of {key_bits} bits"))),
        });
        signature.fingerprints = parsed.collect::<Result<_>>()?;
        signature.subject(config, remake)
    }

    /// Refuses a signature made with a different specification, frequency table or key.
    fn check_settings(&self, config: &Config, remake: &str) -> Result<()> {
        let (scheme, analyzer) = (config.scheme.to_string(), config.analyzer.to_string());
        if self.scheme != scheme || self.analyzer != analyzer {
            return Err(self.other_scheme(config, remake));
        }
        if self.frequencies.as_deref() != config.frequencies_digest().as_deref() {
            return Err(refused(format!(
                "it was made with another frequency table than the index has; make it again with \
             {remake}"
            )));
        }
        let key = self.key.as_deref();
        if key != key_of(config).as_deref() {
            let name = |key: Option<&str>| {
                key.map_or("no key".to_owned(), |value| {
                    format!("the key with the check value {value}")
                })
            };
            return Err(refused(format!(
                "it was made with {}, but the index has {}; make it again with {remake}",
                name(key),
                name(key_of(config).as_deref())
            )));
        }
        Ok(())
    }

    fn other_scheme(&self, config: &Config, remake: &str) -> Error {
        refused(format!(
            "it was made with {} and {}, but the index has {} and {}; make it again with \
         {remake}",
            self.scheme, self.analyzer, config.scheme, config.analyzer
        ))
    }
}

fn refused(what: impl AsRef<str>) -> Error {
    Error::argument("signature", format!("the signature: {}", what.as_ref()))
}

/// Returns the check value of the key of a configuration in the form for signatures.
fn key_of(config: &Config) -> Option<String> {
    config.key().map(|value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl Fn(&mut SignatureBody), expected: &str) {
        let config = Config::new("kgram(k=2)", "words", true).unwrap();
        let mut tokens = Tokens::default();
        let signature = ForeignSignature::new(&config, "one two three", &mut tokens).unwrap();
        let mut body = signature.body(&config);
        let subject = ForeignSignature::subject_of(body.clone(), &config).unwrap();
        assert!(matches!(
            subject,
            Subject::Signature { tokens: 3, fingerprints } if fingerprints == signature.fingerprints
        ));
        change(&mut body);
        let refused = ForeignSignature::subject_of(body, &config).unwrap_err();
        assert!(refused.to_string().contains(expected), "{refused}");
    }

    #[test]
    fn a_signature_that_was_made_otherwise_is_refused_with_the_way_to_make_it() {
        let own = "but the index has kgram(k=2) and words(nfkc=1,fold=1,cjk=2); make it again with \
                   `cento method fingerprint --scheme 'kgram(k=2)'";
        check(|body| body.scheme = "kgram(k=3)".into(), own);
        check(|body| body.analyzer = "chars()".into(), own);
        check(|body| body.key_bits = 41, own);
        check(|body| body.frequencies = Some("a digest".into()), "another frequency table");
        check(
            |body| body.key = Some("0123456789abcdef".into()),
            "it was made with the key with the check value 0123456789abcdef, but the index has no \
             key; make it again",
        );
    }

    #[test]
    fn keys_and_positions_that_no_text_has_are_refused() {
        check(|body| body.fingerprints[0].0 = "a".into(), "`a` is not a key of 40 bits");
        let large = (1u64 << 40).to_string();
        check(|body| body.fingerprints[0].0.clone_from(&large), "is not a key of 40 bits");
        check(|body| body.fingerprints[1].1 = 3, "the position 3 is not in order, or beyond 3");
        check(|body| body.fingerprints.swap(0, 1), "the position 0 is not in order");
    }
}
