//! The result of every reader of a file format.

/// The text of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtractedText {
    /// The text, with a form feed between pages.
    pub text: String,
    /// The parts of the file that are missing from the text, as a clause.
    pub missing: Option<String>,
    /// The number of characters, such as white letters, that a reader does not see and the text
    /// lacks.
    pub hidden: usize,
}
