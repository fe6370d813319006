//! Signs texts within a known amount of memory.
//!
//! Most schemes sign a text while it is analyzed, without holding its tokens. The memory is then
//! the size of the signature: usually a tenth of the text, but ten times the text for a text
//! crafted to be expensive. Callers therefore set a limit. Beyond the limit only the size is
//! counted, and the caller can use the exact number to sign the text again or to refuse it.

use super::Config;
use crate::error::Result;
use crate::runtime::Stop;
use crate::scheme::{Fingerprint, Scheme, Signer, TOKEN_BYTES};
use crate::text::PART_TOKENS;

/// The bytes of a fingerprint in a signature.
pub const FINGERPRINT_BYTES: usize = size_of::<Fingerprint>();

/// The bytes of a short token in the text, with the gap to the next token. Few tokens take less.
const TOKEN_TEXT_BYTES: usize = 4;

/// A sample of ordinary prose.
const PROSE: &str = "It was the best of times, it was the worst of times, it was the age of \
                     wisdom, it was the age of foolishness, it was the epoch of belief, it was the \
                     epoch of incredulity, it was the season of Light, it was the season of \
                     Darkness, it was the spring of hope, it was the winter of despair, we had \
                     everything before us, we had nothing before us.";

/// A signed text, or the cost of signing it.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The number of tokens.
    pub tokens: u32,
    /// The number of fingerprints. If the scheme needs every token at once and the limit does not
    /// allow holding them, an upper bound.
    pub count: usize,
    /// The bytes that signing needs.
    pub bytes: usize,
    /// The fingerprints, or `None` if they exceed the limit.
    pub fingerprints: Option<Vec<Fingerprint>>,
}

impl Config {
    /// Signs a text if that takes at most `bytes_max`, plus the tokens of one part. `part` is
    /// scratch memory that is reused between texts.
    ///
    /// # Errors
    /// When the text is too large to be analyzed. [`Error::Cancelled`](crate::Error::Cancelled)
    /// soon after `stop`.
    pub fn sign_within(
        &self,
        text: &str,
        bytes_max: usize,
        part: &mut Vec<u64>,
        stop: &Stop,
    ) -> Result<Signature> {
        self.sign_by(&self.scheme, text, bytes_max, part, stop)
    }

    /// Like [`sign_within`](Self::sign_within), with another scheme for the same tokens.
    ///
    /// # Errors
    /// The errors of [`sign_within`](Self::sign_within).
    pub fn sign_by(
        &self,
        scheme: &Scheme,
        text: &str,
        bytes_max: usize,
        part: &mut Vec<u64>,
        stop: &Stop,
    ) -> Result<Signature> {
        let mut signing = SigningThreads { scheme, bytes_max, state: SigningState::Begun };
        let tokens =
            self.analyzer.for_each_part(text, part, &mut |part| signing.push(part), stop)?;
        signing.finish(part, tokens, stop)
    }

    /// Returns the bytes to reserve for signing each byte of text: a little more than twice the
    /// need of ordinary prose, so that nearly every text fits.
    #[must_use]
    pub fn signing_bytes_a_byte(&self) -> usize {
        let fingerprints = self.sign(PROSE).map_or(0, |(_, signature)| signature.len());
        let typical = (2 * FINGERPRINT_BYTES * fingerprints).div_ceil(PROSE.len());
        let is_held = self.scheme.signer().is_none();
        let held = if is_held { TOKEN_BYTES.div_ceil(TOKEN_TEXT_BYTES) } else { 0 };
        typical + held + 2
    }

    /// Computes the memory needed to sign a text, using little memory itself.
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

struct SigningThreads<'a> {
    scheme: &'a Scheme,
    bytes_max: usize,
    state: SigningState<'a>,
}

enum SigningState<'a> {
    /// No whole part has arrived yet.
    Begun,
    /// The scheme signs incrementally: the tokens so far are signed.
    SignedDocument { signer: Box<dyn Signer + 'a>, fingerprints: Vec<Fingerprint>, counted: usize },
    /// The scheme needs every token at once: the tokens so far are held.
    HeldDirectory(Vec<u64>),
    /// There are too many tokens to hold.
    TooMany,
}

impl SigningThreads<'_> {
    fn push(&mut self, part: &[u64]) {
        if let SigningState::Begun = self.state {
            self.state = match self.scheme.signer() {
                Some(signer) => {
                    SigningState::SignedDocument { signer, fingerprints: Vec::new(), counted: 0 }
                }
                None => SigningState::HeldDirectory(Vec::new()),
            };
        }
        match &mut self.state {
            SigningState::Begun | SigningState::TooMany => {}
            SigningState::SignedDocument { signer, fingerprints, counted } => {
                // Grow by an eighth instead of doubling, to use less memory.
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
            SigningState::HeldDirectory(hashes) => {
                if (hashes.len() + part.len()) * TOKEN_BYTES > self.bytes_max {
                    self.state = SigningState::TooMany;
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
        if !matches!(self.state, SigningState::Begun) {
            self.push(rest);
        }
        let scheme = self.scheme;
        let sign = |hashes: &[u64]| -> Result<Vec<Fingerprint>> {
            let mut fingerprints = Vec::new();
            scheme.sign(hashes, &mut fingerprints, stop)?;
            Ok(fingerprints)
        };
        let (fingerprints, counted) = match self.state {
            SigningState::Begun => (sign(rest)?, 0),
            SigningState::HeldDirectory(hashes) => (sign(&hashes)?, 0),
            SigningState::SignedDocument { signer, mut fingerprints, counted } => {
                signer.finish(&mut fingerprints);
                (fingerprints, counted)
            }
            SigningState::TooMany => {
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
        // Each text has several parts of tokens.
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
                // With the reported number of bytes, the text can be signed.
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
