//! The names of documents in reports.

/// Names a document, with its index if the documents come from several indexes.
#[must_use]
pub fn named(id: &str, index: Option<&str>) -> String {
    index.map_or(id.to_owned(), |index| format!("{id} in {index}"))
}
