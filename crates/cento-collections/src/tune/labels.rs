//! Makes queries from pairs that a person has labeled.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::case::{Case, Cases};
use super::copies::TrialTexts;
use super::random::Random;
use cento::index::Document;
use cento_api::error::{Error, Result};
use cento_text::hash::Digest;

/// A text of a pair.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PairText {
    /// The text of the document with this id.
    Id(String),
    /// A text given in the pair.
    Text(String),
}

impl fmt::Display for PairText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PairText::Id(id) => write!(f, "`{id}`"),
            PairText::Text(_) => f.write_str("a text"),
        }
    }
}

/// Two texts, and whether a person calls them the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledPair {
    /// The text to search for.
    pub a: PairText,
    /// The text to find or not to find.
    pub b: PairText,
    /// Whether `b` should be found.
    pub is_same: bool,
    /// The kind of the pair. Results are grouped by kind.
    pub kind: Option<String>,
}

/// A fault in the labels. Pairs are numbered in order, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelFault {
    /// A document is paired with itself, but never is a hit of its own search.
    Itself {
        /// The number of the pair.
        pair: usize,
        /// The id of the document.
        id: String,
    },
    /// Two texts are labeled the same and also different, in either order.
    Both {
        /// The number of the first pair of the texts.
        first: usize,
        /// The number of the first later pair with the opposite label.
        second: usize,
        /// The texts of both pairs.
        texts: [PairText; 2],
    },
}

impl fmt::Display for LabelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabelFault::Itself { id, .. } => write!(
                f,
                "`{id}` is paired with itself: a search for a document never finds the document"
            ),
            LabelFault::Both { texts: [a, b], .. } => {
                write!(f, "{a} and {b} are labelled the same and different; keep one label")
            }
        }
    }
}

/// Returns the first fault of the labels, which no search could satisfy.
///
/// ```
/// use cento_collections::tune::{LabelFault, LabelledPair, PairText, label_fault};
///
/// let id = |id: &str| PairText::Id(id.to_owned());
/// let pair = LabelledPair { a: id("essay"), b: id("essay"), is_same: true, kind: None };
/// assert!(matches!(label_fault([&pair]), Some(LabelFault::Itself { .. })));
/// ```
pub fn label_fault<'a>(pairs: impl IntoIterator<Item = &'a LabelledPair>) -> Option<LabelFault> {
    let mut labels: HashMap<[&PairText; 2], (usize, bool)> = HashMap::new();
    for (number, pair) in pairs.into_iter().enumerate() {
        let LabelledPair { a, b, is_same, .. } = pair;
        if let (PairText::Id(one), PairText::Id(other)) = (a, b)
            && one == other
        {
            return Some(LabelFault::Itself { pair: number, id: one.clone() });
        }
        let key = if a <= b { [a, b] } else { [b, a] };
        let &mut (first, label) = labels.entry(key).or_insert((number, *is_same));
        if label != *is_same {
            let texts = [a.clone(), b.clone()];
            return Some(LabelFault::Both { first, second: number, texts });
        }
    }
    None
}

/// The kind of a query whose pair gives no kind.
const LABELLED: &str = "labelled pair";

/// Makes queries of labeled pairs, one for each distinct first text. Texts that are no documents
/// are added to `documents`. Half of the queries are for choosing thresholds.
///
/// # Errors
/// [`Error::UnknownId`] when no document has an id. An error when a pair is a document and itself,
/// or has both labels ([`label_fault`]), also by way of another document with the same text.
pub fn labelled(mut documents: Vec<Document>, pairs: &[LabelledPair], seed: u64) -> Result<Cases> {
    if let Some(fault) = label_fault(pairs) {
        return Err(Error::argument("pairs", fault.to_string()));
    }
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
    let cases = Cases { documents, cases: cases.into_values().collect(), has_different };
    check_copies(&cases)?;
    Ok(cases)
}

/// Refuses labels that call one document the same as a query and a copy of the document different.
/// A search cannot tell copies apart, neither documents nor queries.
fn check_copies(cases: &Cases) -> Result<()> {
    let texts = TrialTexts::of(&cases.documents);
    let mut all_same = HashMap::new();
    for Case { query, same, .. } in &cases.cases {
        all_same.extend(same.iter().map(|id| ((query.as_str(), texts.number(id)), id)));
    }
    for Case { query, different, itself, .. } in &cases.cases {
        for other in different {
            if let Some(one) = all_same.get(&(query.as_str(), texts.number(other))) {
                let query = itself.as_ref().map_or("a text".to_owned(), |id| format!("`{id}`"));
                let what = format!(
                    "{query}, or another query with its text, is labelled the same as `{one}` and \
                     different from `{other}`; documents with one text need one label"
                );
                return Err(Error::argument("pairs", what));
            }
        }
    }
    Ok(())
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
    fn a_pair_with_both_labels_or_with_itself_is_refused() {
        let check = |pairs: &[LabelledPair], expected: Option<&str>| {
            let found = labelled(documents(4), pairs, 1).err().map(|error| error.to_string());
            assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
            let found = found.unwrap_or_default();
            assert!(found.contains(expected.unwrap_or_default()), "{found}");
        };
        let [one, other] = [true, false].map(|is_same| pair(id("d1"), id("d2"), is_same));
        let turned = pair(id("d2"), id("d1"), false);
        let both = Some("`d1` and `d2` are labelled the same and different");
        check(&[one.clone(), other.clone()], both);
        check(&[other, one.clone()], both);
        check(&[one.clone(), turned], Some("`d2` and `d1` are labelled the same and different"));
        let by_text = [true, false].map(|is_same| pair(text("text 1"), id("d2"), is_same));
        check(&by_text, Some("a text and `d2`"));
        check(&[one.clone(), pair(id("d1"), id("d1"), true)], Some("`d1` is paired with itself"));
        check(&[one.clone(), one.clone(), pair(id("d2"), id("d1"), true)], None);
        let mut copies = documents(3);
        copies.push(Document::new("copy", "text 2"));
        let pairs = [one.clone(), pair(id("d1"), id("copy"), false)];
        let error = labelled(copies.clone(), &pairs, 1).unwrap_err().to_string();
        assert!(error.contains("as `d2` and different from `copy`"), "{error}");
        // The copy can also be the query.
        let pairs = [pair(id("d2"), id("d1"), true), pair(id("copy"), id("d1"), false)];
        assert!(labelled(copies.clone(), &pairs, 1).is_err());
        let pairs = [one, pair(id("d1"), id("copy"), true)];
        assert_eq!(labelled(copies, &pairs, 1).unwrap().cases[0].same.len(), 2);
    }

    #[test]
    fn a_repeated_pair_counts_once() {
        let one = pair(id("d1"), id("d2"), true);
        let found = labelled(documents(4), &[one.clone(), one], 1).unwrap();
        assert_eq!((found.cases.len(), &*found.cases[0].same), (1, &["d2".to_owned()][..]));
    }
}
