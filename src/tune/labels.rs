//! The queries of pairs that a person has labelled.

use std::collections::{BTreeMap, HashMap};

use super::case::{Case, Cases};
use super::random::Random;
use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::index::Document;

/// A text of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairText {
    /// The text of the document with this id.
    Id(String),
    /// This text.
    Text(String),
}

/// Two texts, and whether the one was made from the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledPair {
    /// The text to search for.
    pub a: PairText,
    /// The text to be found, or not.
    pub b: PairText,
    /// Whether it is to be found.
    pub is_same: bool,
    /// The kind of the pair; results are grouped by it.
    pub kind: Option<String>,
}

/// The kind of a query of a pair that names none.
const LABELLED: &str = "labelled pair";

/// Makes the queries of labelled pairs: one for each first text. Texts that are no documents are
/// added to `documents`. Half of the queries are for choosing thresholds.
///
/// # Errors
/// [`Error::UnknownId`] when no document has an id.
pub fn labelled(mut documents: Vec<Document>, pairs: &[LabelledPair], seed: u64) -> Result<Cases> {
    let texts: HashMap<String, usize> =
        documents.iter().enumerate().map(|(at, document)| (document.id.clone(), at)).collect();
    let known =
        |id: &String| texts.get(id).copied().ok_or_else(|| Error::UnknownId { id: id.clone() });
    let mut added: HashMap<Digest, String> = HashMap::new();
    let mut cases: BTreeMap<(bool, Digest), Case> = BTreeMap::new();
    for pair in pairs {
        let (query, itself) = match &pair.a {
            PairText::Id(id) => (documents[known(id)?].text.clone(), Some(id.clone())),
            PairText::Text(text) => (text.clone(), None),
        };
        let other = match &pair.b {
            PairText::Id(id) => known(id).map(|_| id.clone())?,
            PairText::Text(text) => {
                let number = added.len() + 1;
                let digest = Digest::of(text.as_bytes());
                let id = added.entry(digest).or_insert_with(|| {
                    let id = format!("text {number} of the pairs");
                    documents.push(Document::new(id.clone(), text.clone()));
                    id
                });
                id.clone()
            }
        };
        let key = itself.as_deref().unwrap_or(&query);
        let digest = Digest::of(key.as_bytes());
        let case = cases.entry((itself.is_none(), digest)).or_insert_with(|| Case {
            query,
            kind: pair.kind.clone().unwrap_or_else(|| LABELLED.to_owned()),
            same: Vec::new(),
            different: Vec::new(),
            itself,
            unedited: None,
            is_for_choosing: Random::new(seed, digest.low).percent(50),
        });
        let list = if pair.is_same { &mut case.same } else { &mut case.different };
        if !list.contains(&other) {
            list.push(other);
        }
    }
    let has_different = pairs.iter().any(|pair| !pair.is_same);
    Ok(Cases { documents, cases: cases.into_values().collect(), has_different })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(number: usize) -> Vec<Document> {
        (0..number).map(|of| Document::new(format!("d{of}"), format!("text {of}"))).collect()
    }

    fn id(id: &str) -> PairText {
        PairText::Id(id.into())
    }

    fn text(text: &str) -> PairText {
        PairText::Text(text.into())
    }

    fn pair(a: PairText, b: PairText, is_same: bool) -> LabelledPair {
        LabelledPair { a, b, is_same, kind: None }
    }

    #[test]
    fn the_pairs_of_one_text_are_one_query() {
        let pairs = [
            pair(id("d1"), id("d2"), true),
            pair(id("d1"), id("d3"), false),
            pair(text("a query"), text("its copy"), true),
            pair(text("another query"), text("its copy"), false),
        ];
        let found = labelled(documents(4), &pairs, 1).unwrap();
        assert_eq!((found.documents.len(), found.cases.len()), (5, 3));
        let of_id = found.cases.iter().find(|case| case.itself.is_some()).unwrap();
        assert_eq!((&*of_id.same, &*of_id.different), (&["d2".into()][..], &["d3".into()][..]));
        assert!(found.has_different);
        let unknown = labelled(documents(4), &[pair(id("d1"), id("e"), true)], 1);
        assert!(matches!(unknown, Err(Error::UnknownId { .. })));
    }

    #[test]
    fn a_repeated_pair_counts_once() {
        let one = pair(id("d1"), id("d2"), true);
        let found = labelled(documents(4), &[one.clone(), one], 1).unwrap();
        assert_eq!((found.cases.len(), &*found.cases[0].same), (1, &["d2".to_owned()][..]));
    }
}
