//! The queries of a run, and the documents that they should find.

use cento_api::number::counted;

use super::copies::{first_of_each_text, split_off_texts};
use super::edit::{Change, Edit, Editor, Extent};
use super::random::Random;
use super::words::{split, words};
use cento::index::{Document, Preset};
use cento_api::error::{Error, Result};
use cento_text::runtime::Stop;
use cento_text::text::Analyzer;

/// A query with known judgments of hits.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The text to search for.
    pub query: String,
    /// The kind of the query. Results are grouped by kind.
    pub kind: String,
    /// The documents to find. A document also counts as found by a copy with the same text.
    pub same: Vec<String>,
    /// Documents that are false hits. Copies with the same text are false hits too.
    pub different: Vec<String>,
    /// The document that is the query, if any. The document is no hit, and neither are copies
    /// without a label.
    pub itself: Option<String>,
    /// The text whose copies are no false hits. `None` means the query.
    pub unedited: Option<String>,
    /// Whether the query helps to choose thresholds, instead of judging them.
    pub is_for_choosing: bool,
}

/// The kind of a query whose document is not in the index.
pub const UNRELATED: &str = "unrelated";

/// What a run indexes and searches for.
#[derive(Debug, Clone, Default)]
pub struct Cases {
    /// The documents to index.
    pub documents: Vec<Document>,
    /// The queries in the order of their trial.
    pub cases: Vec<Case>,
    /// Whether some label calls a document different. If not, texts are compared to find false
    /// hits.
    pub has_different: bool,
}

/// Returns the edits to plant for a purpose. Without a purpose, returns edits of several kinds.
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
        Some(Preset::Corpus) => of(Extent::Copy, Words, &[2, 5, 10, 20]),
        Some(Preset::Ocr) => of(Extent::Copy, Letters, &[10, 30, 50, 70]),
        Some(Preset::Rewritten) => {
            [of(Extent::Copy, Rewritten, &[20, 40]), of(Extent::Passage, Rewritten, &[20, 40])]
                .concat()
        }
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

const PLANTED_MAX: usize = 400;

/// One in this many documents is not indexed. The document becomes a query without an original, and
/// its text surrounds passages.
const LEFT_OUT_EVERY: usize = 8;

/// The maximum number of documents that are not indexed.
const LEFT_OUT_MAX: usize = 100;

/// The minimum number of documents for any conclusion.
pub(super) const DOCUMENTS_MIN: usize = 10;

/// The maximum number of words of other documents that may replace words.
const OTHERS_MAX: usize = 20_000;

/// Plants edits: makes copies of `documents` with `edits`, and queries from unindexed documents.
/// `programs` is the analyzer for edits of names in programs.
///
/// The queries from a document either all choose thresholds or all judge thresholds. If several
/// documents have the same text, only the first is edited. The index lacks every copy of an
/// unindexed document.
///
/// # Errors
/// When too few documents have different texts. [`Error::Cancelled`] soon after `stop`.
pub fn planted(
    documents: Vec<Document>,
    edits: &[Edit],
    programs: Option<&Analyzer>,
    seed: u64,
    stop: &Stop,
) -> Result<Cases> {
    let texts = first_of_each_text(&documents).len();
    if texts < DOCUMENTS_MIN {
        let number = counted(documents.len() as u64, "document");
        let of = if texts < documents.len() {
            format!(" with {}", counted(texts as u64, "different text"))
        } else {
            String::new()
        };
        let what = format!("{number}{of} to plant edits in; at least {DOCUMENTS_MIN} are needed");
        return Err(Error::argument("paths", what));
    }
    let left_out = (texts / LEFT_OUT_EVERY).clamp(2, LEFT_OUT_MAX);
    let (documents, left_out) = split_off_texts(documents, left_out);
    let planted_in: Vec<&Document> =
        first_of_each_text(&documents).into_iter().map(|at| &documents[at]).collect();
    let others = other_words(&left_out, stop)?;
    let editor = Editor { others: &others, programs };
    let mut cases = Vec::new();
    'planting: for round in 0..edits.len() {
        for (number, &document) in planted_in.iter().enumerate() {
            if cases.len() == PLANTED_MAX {
                break 'planting;
            }
            let edit = edits[(number / 2 + round) % edits.len()];
            let random = &mut Random::new(seed, (round * planted_in.len() + number) as u64);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

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
    fn edits_are_planted_in_one_of_identical_documents() {
        let once = documents(40);
        let copy = |document: &Document, of: usize| {
            Document::new(format!("{}-{of}", document.id), document.text.clone())
        };
        // Copies are spread among the other documents, also after the last distinct text.
        let copies = once.iter().flat_map(|document| (0..3).map(|of| copy(document, of)));
        let all: Vec<Document> = once.iter().cloned().chain(copies).collect();
        let edits = edits(None);
        let expected = planted(once, &edits, None, 1, Stop::NEVER).unwrap();
        let found = planted(all.clone(), &edits, None, 1, Stop::NEVER).unwrap();
        assert_eq!(found.cases, expected.cases);
        assert_eq!(found.documents.len(), 4 * expected.documents.len());
        let unrelated = found.cases.iter().filter(|case| case.kind == UNRELATED);
        for case in unrelated {
            assert!(found.documents.iter().all(|document| document.text != case.query));
        }
        // Nine distinct texts are too few, in however many documents.
        let few = planted(
            all[..9].iter().chain(&all[40..67]).cloned().collect(),
            &edits,
            None,
            1,
            Stop::NEVER,
        );
        let error = few.unwrap_err().to_string();
        assert!(error.contains("36 documents with 9 different texts"), "{error}");
    }

    #[test]
    fn there_are_no_more_queries_than_a_run_may_have() {
        let found = planted(documents(900), &edits(None), None, 1, Stop::NEVER).unwrap();
        assert_eq!(found.cases.len(), PLANTED_MAX + LEFT_OUT_MAX);
    }
}
