//! The stored form of the parts of a text.
//!
//! Layout: segments-format.md, "The directory".

use cento_api::Part;

use super::Config;
use crate::error::Result;
use crate::hash::Digest;
use crate::runtime::Stop;
use crate::text::Tokens;

/// Returns the parts in stored form.
pub fn stored(parts: &[Part]) -> String {
    fn part(part: &Part) -> (&str, u32, Option<u32>) {
        (&part.name, part.start, part.first_token)
    }
    let parts: Vec<_> = parts.iter().map(part).collect();
    serde_json::to_string(&parts).expect("names and numbers are JSON")
}

/// Decodes parts from their stored form. `None` if the digest does not match.
pub fn read(stored: &str, of: u64) -> Option<Vec<Part>> {
    let parts: Vec<(String, u32, Option<u32>)> = serde_json::from_str(stored).ok()?;
    let part = |(name, start, first_token)| Part { name, start, first_token };
    Some(parts.into_iter().map(part).collect()).filter(|parts: &Vec<_>| digest(parts) == Some(of))
}

/// Returns the digest of the names and start offsets of parts, or `None` without parts.
pub fn digest(parts: &[Part]) -> Option<u64> {
    if parts.is_empty() {
        return None;
    }
    let starts: Vec<[u8; 4]> = parts.iter().map(|part| part.start.to_le_bytes()).collect();
    let fields = parts.iter().zip(&starts);
    let fields: Vec<&[u8]> =
        fields.flat_map(|(part, start)| [part.name.as_bytes(), &start[..]]).collect();
    Some(Digest::of_parts(&fields).low)
}

impl Config {
    /// Records the first token of each part if the index does not store the text, because the
    /// numbers cannot be counted later.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub(crate) fn count_tokens_of_parts(
        &self,
        parts: &mut [Part],
        text: &str,
        stop: &Stop,
    ) -> Result<()> {
        if parts.is_empty() || self.store_text {
            return Ok(());
        }
        let mut tokens = Tokens::default();
        self.analyzer.analyze(text, &mut tokens, stop)?;
        for part in parts {
            let first = tokens.spans.partition_point(|span| span.start < part.start);
            part.first_token = Some(first as u32);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_are_stored_as_the_format_describes() {
        let one = Part::new("a \"b\".c", 0);
        let other = Part { first_token: Some(7), ..Part::new("d", 300) };
        assert_eq!(stored(&[one, other]), r#"[["a \"b\".c",0,null],["d",300,7]]"#);
        assert_eq!(digest(&[]), None);
    }

    proptest! {
        #[test]
        fn what_is_stored_is_read_if_it_is_that_of_the_digest(
            names in prop::collection::vec((".{1,5}", any::<u32>(), any::<Option<u32>>()), 1..5),
        ) {
            let part = |(name, start, first_token)| Part { first_token, ..Part::new(name, start) };
            let mut parts: Vec<Part> = names.into_iter().map(part).collect::<Vec<_>>();
            let (json, of) = (stored(&parts), digest(&parts).unwrap());
            prop_assert_eq!(read(&json, of), Some(parts.clone()));
            prop_assert_eq!(read(&json[1..], of), None);
            parts[0].start ^= 1;
            prop_assert_eq!(read(&stored(&parts), of), None);
        }
    }
}
