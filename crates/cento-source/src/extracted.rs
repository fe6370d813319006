//! The text of a file, as all readers return it.

/// The text of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extracted {
    /// The text, with a form feed between pages.
    pub text: String,
    /// The parts of the file that the text lacks, as a clause.
    pub missing: Option<String>,
    /// The number of characters left out because a reader does not see them, such as white letters.
    pub hidden: usize,
}
