//! A value for each of two texts.

/// A value for each of two texts that are compared, for example their tokens. In a search, `a` is
/// the query and `b` the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPair<T> {
    /// The value of the first text.
    pub a: T,
    /// The value of the second text.
    pub b: T,
}

impl<T> TextPair<T> {
    /// Joins the values of two texts.
    pub fn new(a: T, b: T) -> TextPair<T> {
        TextPair { a, b }
    }
}
