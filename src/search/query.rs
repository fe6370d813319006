//! What is searched for, and what counts as a hit?

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::scheme::Fingerprint;

/// A search.
///
/// ```
/// use cento::search::Query;
///
/// let query = Query { min_containment: 0.3, limit: 5, ..Query::text("the text to look for") };
/// ```
#[derive(Debug, Clone)]
pub struct Query {
    /// What is searched for.
    pub subject: Subject,
    /// Hits have at least this C(Q,D), 0 to 1.
    pub min_containment: f64,
    /// Hits have at least this resemblance, 0 to 1.
    pub min_resemblance: f64,
    /// Hits have at least so many distinct fingerprints in common; at least 1.
    pub min_overlap: u32,
    /// At most so many hits, the best.
    pub limit: usize,
    /// Only documents that match this tantivy query on `meta`, `added` and `id`.
    pub filter: Option<String>,
    /// Fingerprints in more documents are stop-fingerprints; the index's default if `None`.
    pub max_df: Option<MaxDf>,
}

/// What is searched for.
#[derive(Debug, Clone)]
pub enum Subject {
    /// A text, to be analysed and signed as the index's documents were.
    Text(String),
    /// A signature that was made elsewhere with the index's scheme and analyser.
    Signature {
        /// The tokens of the document.
        tokens: u32,
        /// Its fingerprints.
        fingerprints: Vec<Fingerprint>,
    },
    /// A stored document, which is not among the hits.
    Id(String),
}

impl Query {
    /// A search for a text: the ten documents that share most with it.
    pub fn text(text: impl Into<String>) -> Query {
        Query::new(Subject::Text(text.into()))
    }

    /// A search for the documents like a stored one.
    pub fn id(id: impl Into<String>) -> Query {
        Query::new(Subject::Id(id.into()))
    }

    /// A search for `subject`: the ten documents that share most with it.
    pub fn new(subject: Subject) -> Query {
        Query {
            subject,
            min_containment: 0.0,
            min_resemblance: 0.0,
            min_overlap: 1,
            limit: 10,
            filter: None,
            max_df: None,
        }
    }
}

/// The document frequency above which a fingerprint is a stop-fingerprint (Seo & Croft 2008,
/// section 4).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum MaxDf {
    /// So many documents.
    Documents(u64),
    /// This share of all documents, 0 to 1.
    Share(f64),
    /// The larger of 1,000 documents and a thousandth of all.
    #[default]
    Default,
}

impl MaxDf {
    /// The limit in an index of `documents` documents.
    pub fn limit(self, documents: u64) -> u64 {
        match self {
            MaxDf::Documents(limit) => limit,
            MaxDf::Share(share) => (share * documents as f64).ceil() as u64,
            MaxDf::Default => (documents / 1000).max(1000),
        }
    }
}

impl FromStr for MaxDf {
    type Err = Error;

    /// A whole number is a count of documents; a number with a point is a share of them.
    fn from_str(text: &str) -> Result<MaxDf, Error> {
        let share = || text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        if let Ok(documents) = text.parse() {
            return Ok(MaxDf::Documents(documents));
        }
        share().map(MaxDf::Share).ok_or_else(|| {
            let what = "give a whole number of documents, or a share of them from 0.0 to 1.0";
            Error::spec(text, what)
        })
    }
}

impl fmt::Display for MaxDf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaxDf::Documents(limit) => write!(f, "{limit}"),
            MaxDf::Share(share) => write!(f, "{share:?}"),
            MaxDf::Default => f.write_str("default"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_count_or_a_share() {
        let limit = |text: &str| text.parse::<MaxDf>().map(|max_df| max_df.limit(50_000)).ok();
        assert_eq!(limit("7"), Some(7));
        assert_eq!(limit("1"), Some(1));
        assert_eq!(limit("1.0"), Some(50_000));
        assert_eq!(limit("0.01"), Some(500));
        assert_eq!(limit("1.5"), None);
        assert_eq!(limit("-1"), None);
        assert_eq!(limit("many"), None);
        assert_eq!(MaxDf::Default.limit(50_000), 1000);
        assert_eq!(MaxDf::Default.limit(5_000_000), 5000);
    }
}
