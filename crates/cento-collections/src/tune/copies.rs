//! Finds documents of a trial with the same text.
//!
//! A search cannot distinguish copies, so they count as a single document. Texts are compared byte
//! for byte, by digest, so a space makes a difference.

use std::collections::{HashMap, HashSet};

use cento::index::Document;
use cento_text::hash::Digest;

/// The distinct texts of the documents of a trial, numbered from 0.
#[derive(Debug, Default)]
pub(super) struct TrialTexts {
    /// The number of the text, by id of the document.
    numbers: HashMap<String, usize>,
    /// The number of documents with each text.
    copies: Vec<usize>,
    /// The values of `copies`, greatest first.
    most: Vec<usize>,
}

impl TrialTexts {
    pub fn of(documents: &[Document]) -> TrialTexts {
        let mut found = TrialTexts::default();
        let mut known: HashMap<Digest, usize> = HashMap::new();
        for document in documents {
            let digest = Digest::of(document.text.as_bytes());
            let number = *known.entry(digest).or_insert(found.copies.len());
            if number == found.copies.len() {
                found.copies.push(0);
            }
            if found.numbers.insert(document.id.clone(), number).is_none() {
                found.copies[number] += 1;
            }
        }
        found.most = found.copies.clone();
        found.most.sort_unstable_by(|a, b| b.cmp(a));
        found
    }

    /// Returns the number of the text of a document.
    pub fn number(&self, id: &str) -> Option<usize> {
        self.numbers.get(id).copied()
    }

    /// Returns a number of hits that includes `texts` distinct texts, if there are that many,
    /// without copies of the query's document.
    pub fn hits(&self, texts: usize, itself: Option<usize>) -> usize {
        let others = itself.map_or(0, |number| self.copies[number] - 1);
        // Every text has at least one document, so texts that do not exist count once.
        let lacking = texts.saturating_sub(self.most.len());
        self.most.iter().take(texts).sum::<usize>() + lacking + others
    }
}

/// Splits off a document for each of the last `count` texts. The first part has the documents with
/// other texts. Neither part has copies of a document in the second part.
pub(super) fn split_off_texts(
    documents: Vec<Document>,
    count: usize,
) -> (Vec<Document>, Vec<Document>) {
    let firsts = first_of_each_text(&documents);
    let left_out: Vec<usize> = firsts[firsts.len().saturating_sub(count)..].to_vec();
    let digest = |document: &Document| Digest::of(document.text.as_bytes());
    let texts: HashSet<Digest> = left_out.iter().map(|&at| digest(&documents[at])).collect();
    let (mut kept, mut left) = (Vec::new(), Vec::new());
    for (at, document) in documents.into_iter().enumerate() {
        if left_out.binary_search(&at).is_ok() {
            left.push(document);
        } else if !texts.contains(&digest(&document)) {
            kept.push(document);
        }
    }
    (kept, left)
}

/// Returns the places of documents whose text no earlier document has.
pub(super) fn first_of_each_text(documents: &[Document]) -> Vec<usize> {
    let mut known = HashSet::new();
    let is_first = |&at: &usize| known.insert(Digest::of(documents[at].text.as_bytes()));
    (0..documents.len()).filter(is_first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(texts: &str) -> Vec<Document> {
        let of = |(at, text): (usize, char)| Document::new(format!("d{at}"), text.to_string());
        texts.chars().enumerate().map(of).collect()
    }

    #[test]
    fn as_many_hits_are_asked_for_as_may_be_copies() {
        let texts = TrialTexts::of(&documents("abacada"));
        assert_eq!(texts.number("d0"), texts.number("d6"));
        assert_ne!(texts.number("d0"), texts.number("d1"));
        assert_eq!(texts.number("none"), None);
        assert_eq!([1, 2, 4, 10].map(|count| texts.hits(count, None)), [4, 5, 7, 13]);
        assert_eq!(texts.hits(2, texts.number("d0")), 8);
        // Without copies, the number of hits is the number of texts.
        let texts = TrialTexts::of(&documents("abc"));
        assert_eq!([1, 3, 10].map(|count| texts.hits(count, texts.number("d1"))), [1, 3, 10]);
    }

    #[test]
    fn the_last_texts_are_split_off_with_all_their_copies() {
        let ids = |all: &[Document]| {
            all.iter().map(|document| document.id.clone()).collect::<Vec<_>>().join(" ")
        };
        let (kept, left) = split_off_texts(documents("abcabddc"), 2);
        assert_eq!((&*ids(&kept), &*ids(&left)), ("d0 d1 d3 d4", "d2 d5"));
        let (kept, left) = split_off_texts(documents("abcd"), 2);
        assert_eq!((&*ids(&kept), &*ids(&left)), ("d0 d1", "d2 d3"));
    }
}
