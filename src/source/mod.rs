//! Where do documents come from?
use serde_json::{Map, Value};
/// A document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The caller's id.
    pub id: String,
    /// The text.
    pub text: String,
    /// What the caller knows of it.
    pub meta: Map<String, Value>,
}
