//! A sample of texts in JSON form.

use cento_api::{SampledText, ShardSample};

use super::super::sample::{Sample, SampleText};
use crate::error::{Error, Result};
use crate::hash::Digest;

/// The hexadecimal digits of a 64-bit number.
const DIGITS: usize = 16;

/// Formats a digest as 32 hexadecimal digits.
pub fn hex_of(digest: Digest) -> String {
    format!("{:016x}{:016x}", digest.high, digest.low)
}

pub fn to_json(sample: &Sample) -> ShardSample {
    let text = |text: &SampleText| SampledText {
        digest: hex_of(text.digest),
        hash: format!("{:016x}", text.hash),
        tokens: text.tokens.iter().map(|token| format!("{token:016x}")).collect(),
    };
    ShardSample { digest: hex_of(sample.digest()), texts: sample.texts.iter().map(text).collect() }
}

/// Parses a sample.
///
/// # Errors
/// When the JSON is not a sample, or does not match its digest.
pub fn of_json(json: &ShardSample) -> Result<Sample> {
    let text = |text: &SampledText| -> Result<SampleText> {
        let digest = digest_of(&text.digest);
        let (Some(digest), Some(&[hash])) = (digest, numbers(&text.hash).as_deref()) else {
            return Err(refused("a digest or a hash is not one of hexadecimal digits"));
        };
        let tokens = numbers(&text.tokens);
        let tokens =
            tokens.ok_or_else(|| refused("its numbers have 16 hexadecimal digits each"))?;
        Ok(SampleText { digest, hash, tokens })
    };
    let texts = json.texts.iter().map(text).collect::<Result<_>>()?;
    let sample = Sample::of_all([Sample { texts }]);
    if hex_of(sample.digest()) != json.digest {
        return Err(refused("its digest is that of other texts"));
    }
    Ok(sample)
}

/// Parses a digest of 32 hexadecimal digits.
pub fn digest_of(hex: &str) -> Option<Digest> {
    match numbers(hex)?[..] {
        [high, low] => Some(Digest { low, high }),
        _ => None,
    }
}

fn numbers(hex: &str) -> Option<Vec<u64>> {
    let is_hex = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    if !hex.len().is_multiple_of(DIGITS) || !hex.as_bytes().iter().all(is_hex) {
        return None;
    }
    let number = |at: usize| u64::from_str_radix(&hex[at..at + DIGITS], 16).ok();
    (0..hex.len()).step_by(DIGITS).map(number).collect()
}

fn refused(what: &str) -> Error {
    Error::argument("sample", format!("the sample cannot be read: {what}"))
}
