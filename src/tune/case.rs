//! The queries of a run, with the documents that each is to find.

use std::collections::{BTreeMap, HashMap};

use super::edit::{Change, Edit, Editor, Extent};
use super::random::Random;
use super::words::{split, words};
use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::index::{Document, Preset};
use crate::runtime::Stop;
use crate::text::Analyzer;

/// A query, and the known judgements of its hits.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The text to search for.
    pub query: String,
    /// The kind of the query; results are grouped by it.
    pub kind: String,
    /// The documents that it is to find.
    pub same: Vec<String>,
    /// Documents that are false hits.
    pub different: Vec<String>,
    /// The document that is the query itself, which is no hit.
    pub itself: Option<String>,
    /// The text whose copies are no false hits; `None` for the query.
    pub unedited: Option<String>,
    /// Whether thresholds are chosen on it; if not, they are judged on it.
    pub is_for_choosing: bool,
}

/// The kind of a query that is a document which the index does not have.
pub const UNRELATED: &str = "unrelated";

/// The documents to index, and the queries.
#[derive(Debug, Clone, Default)]
pub struct Cases {
    /// The documents.
    pub documents: Vec<Document>,
    /// The queries.
    pub cases: Vec<Case>,
    /// Whether the labels name documents that are false hits. If not, texts are compared to tell.
    pub has_different: bool,
}

/// The edits that are planted for a purpose; those of all kinds without one.
#[must_use]
pub fn edits(purpose: Option<Preset>) -> Vec<Edit> {
    use Change::{Letters, Names, Rewritten, Words};
    let of = |extent, change, strengths: &[u32]| {
        let all = strengths.iter().map(|&percent| Edit::new(extent, change, percent));
        all.collect::<Vec<_>>()
    };
    match purpose {
        Some(Preset::Essays) => {
            [of(Extent::Passage, Words, &[0, 5, 10, 20]), of(Extent::Copy, Words, &[10, 20])]
                .concat()
        }
        Some(Preset::Web | Preset::Corpus) => of(Extent::Copy, Words, &[2, 5, 10, 20]),
        Some(Preset::Ocr) => of(Extent::Copy, Letters, &[10, 30, 50, 70]),
        Some(Preset::Rewritten) => {
            [of(Extent::Copy, Rewritten, &[20, 40]), of(Extent::Passage, Rewritten, &[20, 40])]
                .concat()
        }
        Some(Preset::Titles) => of(Extent::Copy, Words, &[10, 20, 30]),
        Some(Preset::Code) => of(Extent::Copy, Names, &[50, 100]),
        _ => [
            of(Extent::Copy, Words, &[10, 20]),
            of(Extent::Passage, Words, &[0, 10]),
            of(Extent::Passage, Rewritten, &[20]),
            of(Extent::Copy, Letters, &[20, 40]),
        ]
        .concat(),
    }
}

/// The maximum number of planted queries.
const PLANTED_MAX: usize = 400;

/// One in this many documents is not in the index, but is a query that has no original, and
/// surrounds passages.
const LEFT_OUT_EVERY: usize = 8;

/// The maximum number of these.
const LEFT_OUT_MAX: usize = 100;

/// The minimum number of documents for any conclusion.
pub(super) const DOCUMENTS_MIN: usize = 10;

/// The number of words of other documents that replace words.
const OTHERS_MAX: usize = 20_000;

/// Plants edits: copies of `documents`, each with one of `edits`, and documents that are not in the
/// index. `programs` is the analyzer of programs, for the edits of names.
///
/// All queries from one document are for choosing thresholds, or all are for judging them.
///
/// # Errors
/// When there are too few documents; [`Error::Cancelled`] soon after `stop`.
pub fn planted(
    mut documents: Vec<Document>,
    edits: &[Edit],
    programs: Option<&Analyzer>,
    seed: u64,
    stop: &Stop,
) -> Result<Cases> {
    if documents.len() < DOCUMENTS_MIN {
        let what = format!(
            "{} documents to plant edits in; at least {DOCUMENTS_MIN} are needed",
            documents.len()
        );
        return Err(Error::argument("paths", what));
    }
    let left_out = (documents.len() / LEFT_OUT_EVERY).clamp(2, LEFT_OUT_MAX);
    let left_out = documents.split_off(documents.len() - left_out);
    let others = other_words(&left_out, stop)?;
    let editor = Editor { others: &others, programs };
    let mut cases = Vec::new();
    'planting: for round in 0..edits.len() {
        for (number, document) in documents.iter().enumerate() {
            if cases.len() == PLANTED_MAX {
                break 'planting;
            }
            let edit = edits[(number / 2 + round) % edits.len()];
            let random = &mut Random::new(seed, (round * documents.len() + number) as u64);
            let host = &left_out[random.below(left_out.len())].text;
            let Some(copy) = editor.copy(&document.text, host, edit, random, stop)? else {
                continue;
            };
            cases.push(Case {
                query: copy.text,
                kind: edit.name(),
                same: vec![document.id.clone()],
                different: Vec::new(),
                itself: None,
                unedited: Some(copy.before),
                is_for_choosing: number.is_multiple_of(2),
            });
        }
    }
    cases.extend(left_out.into_iter().enumerate().map(|(number, document)| Case {
        query: document.text,
        kind: UNRELATED.to_owned(),
        same: Vec::new(),
        different: Vec::new(),
        itself: None,
        unedited: None,
        is_for_choosing: number.is_multiple_of(2),
    }));
    Ok(Cases { documents, cases, has_different: false })
}

fn other_words(documents: &[Document], stop: &Stop) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for document in documents {
        let found = words(&document.text, stop)?;
        all.extend(
            found.iter().map(|word| split(word).0.to_owned()).filter(|word| !word.is_empty()),
        );
        if all.len() >= OTHERS_MAX {
            break;
        }
    }
    Ok(all)
}

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
        let text = |of: usize| {
            (0..80).map(|at| format!("w{} ", (of * 31 + at * 7) % 997)).collect::<String>()
        };
        (0..number).map(|of| Document::new(format!("d{of}"), text(of))).collect()
    }

    #[test]
    fn every_document_is_planted_or_left_out_and_its_queries_are_in_one_half() {
        let edits = edits(None);
        let found = planted(documents(40), &edits, None, 1, Stop::NEVER).unwrap();
        assert_eq!(found.documents.len(), 35);
        let unrelated = found.cases.iter().filter(|case| case.kind == UNRELATED);
        assert_eq!(unrelated.count(), 5);
        for edit in &edits {
            for is_for_choosing in [true, false] {
                let of_kind = found.cases.iter().filter(|case| {
                    case.kind == edit.name() && case.is_for_choosing == is_for_choosing
                });
                assert!((10..30).contains(&of_kind.count()), "{}", edit.name());
            }
        }
        let mut halves = BTreeMap::new();
        for case in found.cases.iter().filter(|case| !case.same.is_empty()) {
            let half = *halves.entry(&case.same[0]).or_insert(case.is_for_choosing);
            assert_eq!(half, case.is_for_choosing);
        }
        assert_eq!(
            found.cases,
            planted(documents(40), &edits, None, 1, Stop::NEVER).unwrap().cases
        );
        assert!(planted(documents(9), &edits, None, 1, Stop::NEVER).is_err());
    }

    #[test]
    fn there_are_no_more_queries_than_a_run_may_have() {
        let found = planted(documents(900), &edits(None), None, 1, Stop::NEVER).unwrap();
        assert_eq!(found.cases.len(), PLANTED_MAX + LEFT_OUT_MAX);
    }

    #[test]
    fn the_pairs_of_one_text_are_one_query() {
        let id = |id: &str| PairText::Id(id.into());
        let text = |text: &str| PairText::Text(text.into());
        let pair = |a: PairText, b: PairText, is_same| LabelledPair { a, b, is_same, kind: None };
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
}
