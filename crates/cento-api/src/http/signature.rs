//! Signatures in JSON.

use serde::{Deserialize, Serialize};

use crate::whole;

/// A signature, with the specifications that it was made by. Keys are strings of decimal digits,
/// because many readers of JSON round large numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Signature))]
pub struct SignatureBody {
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
    /// The check value of the key, if the fingerprints depend on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The tokens of the text.
    #[serde(deserialize_with = "whole::number")]
    pub tokens: u32,
    /// Keys and the positions of their tokens, which do not descend.
    #[serde(deserialize_with = "whole::pairs")]
    pub fingerprints: Vec<(String, u32)>,
}
