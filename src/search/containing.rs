//! The documents with a short text, word for word.
//!
//! A text of a few words has no passage that says more than chance, and perhaps no fingerprint in
//! common with a document around the text. A [trace](super::trace) therefore also counts the
//! documents exactly: as infini-gram does for n-grams, but from the stored texts.

use std::collections::BinaryHeap;

use cento_api::{ContainingDocuments, ShardContaining};

use super::filter::{Filter, Phrase};
use super::retrieve::Search;
use crate::error::Result;
use crate::index::DocAddress;

/// The most words of a text whose documents are counted. Spans describe longer texts.
const WORDS_MAX: usize = 20;

/// The most documents that are listed.
const LISTED_MAX: usize = 10;

impl Search<'_> {
    /// Counts the documents that contain the whole query. `None` if the query has less than two or
    /// more than 20 words, or leaves out citations, or the index stores no texts.
    ///
    /// # Errors
    /// When a document cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after the
    /// query is stopped.
    pub(super) fn containing(&self) -> Result<Option<ContainingDocuments>> {
        let own = self.containing_here(false)?;
        Ok(own.map(|own| first_of(vec![own])))
    }

    /// Counts the documents of a shard, or else of the whole index, that contain the whole query.
    ///
    /// # Errors
    /// The errors of [`containing`](Self::containing).
    pub(super) fn containing_here(&self, is_shard: bool) -> Result<Option<ShardContaining>> {
        let Search { searcher, query, subject, .. } = self;
        let (snapshot, stop) = (searcher.snapshot(), query.stop());
        let is_whole = query.options.without.is_empty();
        let text = subject.text(snapshot, query)?.filter(|_| is_whole);
        let Some(text) = text.filter(|_| snapshot.config().store_text) else { return Ok(None) };
        let phrase = Phrase::new(snapshot, &text, stop)?.filter(is_counted);
        let Some(phrase) = phrase else { return Ok(None) };
        let excluded = subject.excluded(snapshot, &query.options.exclude_id)?;
        let filter = query.options.filter.as_deref();
        let filter = filter.map(|text| match is_shard {
            // Documents of other shards may have fields that this shard lacks.
            true => Filter::standing(snapshot, text),
            false => Filter::new(snapshot, text),
        });
        let filter = filter.transpose()?;
        let mut documents = 0;
        // The earliest documents, with the latest of them on top.
        let mut first = BinaryHeap::new();
        for (segment, view) in (0u32..).zip(snapshot.segments()) {
            let is_other =
                |doc: &u32| excluded.binary_search(&DocAddress { segment, doc: *doc }).is_err();
            let mut docs: Vec<u32> = view.live().filter(is_other).collect();
            if let Some(filter) = &filter {
                filter.retain(segment as usize, &mut docs, stop)?;
            }
            phrase.retain(snapshot, segment, &mut docs, stop)?;
            documents += docs.len() as u64;
            for doc in docs {
                // No clock was before 1970.
                let added = view.added_micros(doc)?.max(0).unsigned_abs();
                let is_full = first.len() == LISTED_MAX;
                if is_full && first.peek().is_some_and(|(latest, _)| added > *latest) {
                    continue;
                }
                first.push((added, snapshot.id(DocAddress { segment, doc })?));
                if is_full {
                    first.pop();
                }
            }
        }
        let first = first.into_sorted_vec();
        Ok(Some(ShardContaining { documents, first }))
    }
}

/// Adds up the documents of shards that contain a text.
pub(super) fn first_of(shards: Vec<ShardContaining>) -> ContainingDocuments {
    let documents = shards.iter().map(|shard| shard.documents).sum();
    let mut first: Vec<(u64, String)> = shards.into_iter().flat_map(|shard| shard.first).collect();
    first.sort();
    ContainingDocuments {
        documents,
        ids: first.into_iter().map(|(_, id)| id).take(LISTED_MAX).collect(),
    }
}

/// Returns whether a text is short enough to count the documents that contain it.
pub(super) fn is_counted(phrase: &Phrase) -> bool {
    (2..=WORDS_MAX).contains(&phrase.words())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::index::{Config, Document, Index, WriterOptions};
    use crate::search::{ContainingDocuments, Goal, Query, Searcher};

    fn searcher(store_text: bool) -> Searcher {
        let config = Config::new("winnow(k=5,w=10)", "words", store_text).unwrap();
        let index = Index::in_memory(config).unwrap();
        let options = WriterOptions::default().memory_bytes(0usize).merge(false);
        let mut writer = index.writer(options).unwrap();
        for (id, text) in [
            ("z", "Half of the light\nwent up; the chimney."),
            ("y", "The light went up."),
            ("gone", "the light went up"),
            ("x", "The lights went up, and the light went down."),
            ("w", "He saw the LIGHT -- went up"),
        ] {
            let meta = json!({"of": id}).as_object().unwrap().clone();
            writer.add(Document::new(id, text).with_meta(meta)).unwrap();
            writer.commit().unwrap();
        }
        assert!(writer.remove("gone").unwrap());
        writer.finish().unwrap();
        Searcher::new(index.snapshot().unwrap())
    }

    fn containing(searcher: &Searcher, query: Query) -> Option<ContainingDocuments> {
        searcher.search(&query.goal(Goal::Trace)).unwrap().trace.unwrap().containing
    }

    #[test]
    fn documents_with_the_whole_text_are_counted_word_for_word() {
        let searcher = searcher(true);
        let check = |query: Query, ids: &[&str]| {
            let expected = ContainingDocuments {
                documents: ids.len() as u64,
                ids: ids.iter().map(|&id| id.to_owned()).collect(),
            };
            assert_eq!(containing(&searcher, query), Some(expected));
        };
        check(Query::text("light went up"), &["z", "y", "w"]);
        check(Query::text("the light, went"), &["z", "y", "x", "w"]);
        check(Query::text("the light of"), &[]);
        check(Query::text("light went up").exclude_id(vec!["z".to_owned()]), &["y", "w"]);
        check(Query::text("light went up").filter("of: IN [z x]"), &["z"]);
        check(Query::id("y"), &["z", "w"]);
        for text in ["light".to_owned(), "light went up ".repeat(7)] {
            assert_eq!(containing(&searcher, Query::text(text)), None);
        }
    }

    #[test]
    fn the_first_of_many_documents_are_listed_and_all_are_counted() {
        let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true).unwrap());
        let index = index.unwrap();
        let options = WriterOptions::default().memory_bytes(0usize).merge(false);
        let mut writer = index.writer(options).unwrap();
        for ids in [["m", "l"].as_slice(), &["z", "y", "x", "w", "v", "u", "t", "s"], &["b", "a"]] {
            for &id in ids {
                writer.add(Document::new(id, "The light went up.")).unwrap();
            }
            writer.commit().unwrap();
        }
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let found = containing(&searcher, Query::text("light went")).unwrap();
        assert_eq!(found.documents, 12);
        assert_eq!(found.ids, ["m", "l", "z", "y", "x", "w", "v", "u", "t", "s"]);
    }

    #[test]
    fn without_texts_or_with_parts_left_out_nothing_is_counted() {
        assert_eq!(containing(&searcher(false), Query::text("light went up")), None);
        let without = Query::text("\"light went up\"").without(vec![crate::CitedPart::Quotations]);
        assert_eq!(containing(&searcher(true), without), None);
    }
}
