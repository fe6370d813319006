//! Reads exact similarities of pairs of documents from files.

use std::path::Path;

use crate::Result;

/// A pair with its exact similarities.
pub struct Truth {
    /// The id of the first document.
    pub a: String,
    /// The id of the second document.
    pub b: String,
    /// The resemblance of the two documents.
    pub resemblance: f64,
    /// The share of the first document that is in the second.
    pub containment: f64,
    /// The share of the second document that is in the first.
    pub containment_back: f64,
}

/// Reads the pairs of a file named `revisions-dev-SERIES-sims.tsv`.
pub fn truths(path: &Path) -> Result<Vec<Truth>> {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or("");
    let series = name.trim_start_matches("revisions-dev-").trim_end_matches("-sims");
    let text = std::fs::read_to_string(path)?;
    let pairs = text.lines().skip(1).map(|line| {
        truth(line, series).ok_or_else(|| format!("{}: not a pair: {line}", path.display()).into())
    });
    pairs.collect()
}

fn truth(line: &str, series: &str) -> Option<Truth> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [document, a, b, resemblance, containment, back, ..] = fields[..] else { return None };
    let id = |revision: &str| format!("{series}/{document}/{}", revision.trim_end_matches(".txt"));
    Some(Truth {
        a: id(a),
        b: id(b),
        resemblance: resemblance.parse().ok()?,
        containment: containment.parse().ok()?,
        containment_back: back.parse().ok()?,
    })
}
