//! A report on the lineage of documents.

use serde::Serialize;

use cento::{Error, Result};
use cento_collections::lineage::Descent;

use crate::rows::{Delimiter, Rows};
use crate::run::Run;

/// The trees of versions of a collection.
#[derive(Debug, Clone, Serialize)]
pub struct LineageReport {
    /// The origin of the numbers.
    pub run: Run,
    /// The number of trees, including trees that are not shown.
    pub trees: u64,
    /// The number of documents with an ancestor.
    pub versions: u64,
    /// The number of these documents with a later date than the ancestor.
    pub dated: u64,
    /// The documents of the trees, each after its ancestor.
    pub documents: Vec<Descent>,
}

impl LineageReport {
    /// The columns of a table of documents.
    pub const COLUMNS: &'static [&'static str] = &[
        "tree",
        "depth",
        "id",
        "date",
        "time",
        "tokens",
        "ancestor",
        "direction_by",
        "containment_of_a",
        "containment_of_b",
        "resemblance",
        "standard_error",
        "exact",
    ];

    /// Writes the documents as rows of a table.
    ///
    /// # Errors
    /// When a number has no form in JSON.
    pub fn csv(&self) -> Result<String> {
        let mut out = Vec::new();
        let failed = |error| Error::io("write", "the report", error);
        let mut rows = Rows::new(&mut out, Delimiter::Comma, Self::COLUMNS).map_err(failed)?;
        for row in &self.documents {
            rows.write(row).map_err(failed)?;
        }
        rows.finish().map_err(failed)?;
        Ok(String::from_utf8(out).expect("cells are UTF-8"))
    }
}
