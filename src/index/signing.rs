//! Signing of texts within a known amount of memory.
//!
//! Most schemes sign a text while it is analyzed, so that its tokens are not held. The remaining
//! memory is that of the signature, which is a tenth of the text or, for a text crafted to be
//! large, ten times the text. Callers therefore set a limit. Beyond it only the count is held, and
//! with the exact number the text can be signed again or refused.

use super::Config;
use crate::error::Result;
use crate::runtime::Stop;
use crate::scheme::{Fingerprint, Signer, TOKEN_BYTES};
use crate::text::PART_TOKENS;

/// The size of a fingerprint in a signature.
pub const FINGERPRINT_BYTES: usize = size_of::<Fingerprint>();

/// The number of bytes of a short token, with the text up to the next; few tokens take less.
const TOKEN_TEXT_BYTES: usize = 4;

/// Text as it usually is.
const PROSE: &str = "It was the best of times, it was the worst of times, it was the age of \
                     wisdom, it was the age of foolishness, it was the epoch of belief, it was the \
                     epoch of incredulity, it was the season of Light, it was the season of \
                     Darkness, it was the spring of hope, it was the winter of despair, we had \
                     everything before us, we had nothing before us.";

/// A text that has been signed, or how much that would take.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The number of the tokens.
    pub tokens: u32,
    /// The number of the fingerprints; of a scheme that has to see all tokens, and was not let to,
    /// an upper bound.
    pub count: usize,
    /// The memory that it takes to sign, in bytes.
    pub bytes: usize,
    /// The fingerprints, unless they would have taken more than was allowed.
    pub fingerprints: Option<Vec<Fingerprint>>,
}

impl Config {
    /// Signs a text if that takes at most `bytes_max`, or not much more: what the tokens of one
    /// part take. `part` is memory that one text leaves to the next.
    ///
    /// # Errors
    /// When the text is too large to be analyzed; [`Error::Cancelled`](crate::Error::Cancelled)
    /// soon after `stop`.
    pub fn sign_within(
        &self,
        text: &str,
        bytes_max: usize,
        part: &mut Vec<u64>,
        stop: &Stop,
    ) -> Result<Signature> {
        let mut signing = Signing { config: self, bytes_max, state: State::Begun };
        let tokens =
            self.analyzer.for_each_part(text, part, &mut |part| signing.push(part), stop)?;
        signing.finish(part, tokens, stop)
    }

    /// Returns the memory to be reserved for signing, for each byte of a text: twice the memory for
    /// usual text, and some more, so that nearly every text has enough.
    #[must_use]
    pub fn signing_bytes_a_byte(&self) -> usize {
        let fingerprints = self.sign(PROSE).map_or(0, |(_, signature)| signature.len());
        let typical = (2 * FINGERPRINT_BYTES * fingerprints).div_ceil(PROSE.len());
        let is_held = self.scheme.signer().is_none();
        let held = if is_held { TOKEN_BYTES.div_ceil(TOKEN_TEXT_BYTES) } else { 0 };
        typical + held + 2
    }

    /// Returns the memory needed to sign a text; computes it in little memory.
    ///
    /// # Errors
    /// The errors of [`sign_within`](Self::sign_within).
    pub fn cost_of_signing(
        &self,
        text: &str,
        part: &mut Vec<u64>,
        stop: &Stop,
    ) -> Result<Signature> {
        self.sign_within(text, 0, part, stop)
    }
}

struct Signing<'a> {
    config: &'a Config,
    bytes_max: usize,
    state: State<'a>,
}

enum State<'a> {
    /// There has been no whole part.
    Begun,
    /// The tokens so far are signed.
    SignedDocument { signer: Box<dyn Signer + 'a>, fingerprints: Vec<Fingerprint>, counted: usize },
    /// The tokens so far are held, because the scheme has to see all of them.
    HeldDirectory(Vec<u64>),
    /// There are too many tokens to hold.
    TooMany,
}

impl Signing<'_> {
    fn push(&mut self, part: &[u64]) {
        if let State::Begun = self.state {
            self.state = match self.config.scheme.signer() {
                Some(signer) => {
                    State::SignedDocument { signer, fingerprints: Vec::new(), counted: 0 }
                }
                None => State::HeldDirectory(Vec::new()),
            };
        }
        match &mut self.state {
            State::Begun | State::TooMany => {}
            State::SignedDocument { signer, fingerprints, counted } => {
                // Grows by less than doubling, which is how a vector grows by itself.
                if fingerprints.capacity() - fingerprints.len() < part.len() {
                    fingerprints.reserve_exact(part.len().max(fingerprints.len() / 8));
                }
                signer.push(part, fingerprints);
                if *counted > 0 || fingerprints.len() * FINGERPRINT_BYTES > self.bytes_max {
                    *counted += fingerprints.len();
                    fingerprints.clear();
                    fingerprints.shrink_to(PART_TOKENS);
                }
            }
            State::HeldDirectory(hashes) => {
                if (hashes.len() + part.len()) * TOKEN_BYTES > self.bytes_max {
                    self.state = State::TooMany;
                    return;
                }
                if hashes.capacity() - hashes.len() < part.len() {
                    hashes.reserve_exact(part.len().max(hashes.len() / 8));
                }
                hashes.extend_from_slice(part);
            }
        }
    }

    fn finish(mut self, rest: &[u64], tokens: u32, stop: &Stop) -> Result<Signature> {
        let all = tokens as usize;
        if !matches!(self.state, State::Begun) {
            self.push(rest);
        }
        let scheme = &self.config.scheme;
        let sign = |hashes: &[u64]| -> Result<Vec<Fingerprint>> {
            let mut fingerprints = Vec::new();
            scheme.sign(hashes, &mut fingerprints, stop)?;
            Ok(fingerprints)
        };
        let (fingerprints, counted) = match self.state {
            State::Begun => (sign(rest)?, 0),
            State::HeldDirectory(hashes) => (sign(&hashes)?, 0),
            State::SignedDocument { signer, mut fingerprints, counted } => {
                signer.finish(&mut fingerprints);
                (fingerprints, counted)
            }
            State::TooMany => {
                let bytes = all.saturating_mul(TOKEN_BYTES + FINGERPRINT_BYTES);
                return Ok(Signature { tokens, count: all, bytes, fingerprints: None });
            }
        };
        let count = counted + fingerprints.len();
        let is_held = all > PART_TOKENS && scheme.signer().is_none();
        let held = if is_held { all * TOKEN_BYTES } else { 0 };
        let bytes = held + count * FINGERPRINT_BYTES;
        let is_within = counted == 0 && bytes - held <= self.bytes_max;
        Ok(Signature { tokens, count, bytes, fingerprints: is_within.then_some(fingerprints) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn config(scheme: &str) -> Config {
        Config::new(scheme, "words", false).unwrap()
    }

    #[test]
    fn a_signature_beyond_its_limit_is_counted_and_not_held() {
        // Tokens of several parts.
        let texts = [".".repeat(200_000), "a ".repeat(150_000), "\u{fdfa}".repeat(50_000)];
        for scheme in ["winnow", "kgram", "mod", "minhash"] {
            let config = config(scheme);
            for text in &texts {
                let mut part = Vec::new();
                let whole = config.sign_within(text, usize::MAX, &mut part, Stop::NEVER).unwrap();
                let cost = config.cost_of_signing(text, &mut part, Stop::NEVER).unwrap();
                assert_eq!(cost.fingerprints, None);
                assert_eq!(cost.tokens, whole.tokens);
                assert!(cost.bytes >= whole.bytes && cost.count >= whole.count, "{scheme}");
                if config.scheme.signer().is_some() {
                    assert_eq!((cost.count, cost.bytes), (whole.count, whole.bytes), "{scheme}");
                }
                // With the reported number of bytes, it is signed.
                let again = config.sign_within(text, cost.bytes, &mut part, Stop::NEVER).unwrap();
                assert_eq!(again.fingerprints, whole.fingerprints, "{scheme}");
                let (_, fingerprints) = config.sign(text).unwrap();
                assert_eq!(whole.fingerprints, Some(fingerprints), "{scheme}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_text_is_signed_as_its_tokens_are(
            words in prop::collection::vec("[a-c.]{0,3}", 1..40), repeats in 1usize..5_000,
        ) {
            let text = words.join(" ").repeat(repeats);
            for scheme in ["winnow(k=3,w=4)", "simhash"] {
                let config = config(scheme);
                let mut tokens = crate::text::Tokens::default();
                let expected = config.sign_into(&text, &mut tokens, Stop::NEVER).unwrap();
                let (count, signature) = config.sign(&text).unwrap();
                prop_assert_eq!(count as usize, tokens.hashes.len());
                prop_assert!(signature == expected);
            }
        }
    }
}
