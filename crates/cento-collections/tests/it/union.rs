//! Searches several indexes like a single index.

use cento::hash::hash_bytes;
use cento::index::{Config, Document, Index, MaxDf, Snapshot, WriterOptions};
use cento::search::{Query, Searcher, SimilarTo, Subject};
use cento::{AddIndexesOptions, Error};
use cento_collections::Thresholds;
use cento_collections::pairs::{PairOptions, PairReport, pairs};
use serde_json::{Value, json};

use crate::common::words;

/// Texts with frequent common passages, and a passage that the whole collection shares.
fn collection() -> Vec<Document> {
    let document = |i: u64| {
        let text = format!("{} {} {}", words(i % 7, 40), words(1000 + i, 30), words(77, 30));
        let meta = json!({ "parity": i % 2 }).as_object().unwrap().clone();
        Document::new(format!("d{i:02}"), text).with_meta(meta)
    };
    (0..40).map(document).collect()
}

fn index(documents: impl Iterator<Item = Document>) -> Index {
    let config = Config::new("winnow(k=3,w=4)", "words", true).unwrap();
    filled(Index::in_memory(config).unwrap(), documents)
}

fn filled(index: Index, documents: impl Iterator<Item = Document>) -> Index {
    let options = WriterOptions::default().merge(false);
    let mut writer = index.writer(options).unwrap();
    for (number, document) in documents.enumerate() {
        writer.add(document).unwrap();
        if number % 5 == 4 {
            writer.commit().unwrap();
        }
    }
    writer.finish().unwrap();
    index
}

/// Indexes that divide the collection, and an empty index. [`part_of`] tells where an id is.
fn parts() -> Vec<(String, Index)> {
    let own = |number: u64| {
        collection().into_iter().filter(move |document| part_of(&document.id) == number)
    };
    let empty = ("none".to_owned(), index(std::iter::empty()));
    let parts = (0..3).map(|number| (format!("part {number}"), index(own(number))));
    let mut parts: Vec<(String, Index)> = parts.collect();
    parts.insert(1, empty);
    parts
}

fn part_of(id: &str) -> u64 {
    hash_bytes(id.as_bytes()) % 3
}

fn union(parts: &[(String, Index)]) -> cento::Result<Searcher> {
    let named = parts.iter().map(|(name, index)| (name.clone(), index.snapshot().unwrap()));
    Snapshot::union(named.collect()).map(Searcher::new)
}

/// The answers to the documents as queries, and separately the names of indexes in the answers.
fn answers(searcher: &Searcher) -> (Vec<Value>, Vec<(String, Option<String>)>) {
    let (mut answers, mut names) = (Vec::new(), Vec::new());
    for (number, document) in collection().into_iter().enumerate() {
        let mut query = Query::text(document.text)
            .limit(5 + number)
            .passages(true)
            .max_df(MaxDf::Documents(20))
            .min_containment(if number % 5 == 0 { 0.2 } else { 0.0 });
        query.options.filter = (number % 3 == 0).then(|| "parity:1".to_owned());
        let mut answer = searcher.search(&query).unwrap();
        for hit in &mut answer.hits {
            names.push((hit.id.clone(), hit.index.take()));
        }
        answers.push(json!({ "hits": answer.hits, "query": answer.query }));
    }
    (answers, names)
}

/// The pairs with their numbers, in sorted order.
fn all_pairs(searcher: &Searcher) -> Vec<Value> {
    let mut found = Vec::new();
    let thresholds = Thresholds::default().min_overlap(1);
    let options = PairOptions::default().thresholds(thresholds).max_df(MaxDf::Documents(20));
    let snapshot = searcher.snapshot();
    for pair in pairs(searcher, &options) {
        let PairReport { mut a, mut b, overlap, similarity, index_a, index_b, .. } =
            pair.unwrap().report(snapshot, snapshot).unwrap();
        for (id, index) in [(&a, index_a), (&b, index_b)] {
            let expected = snapshot.is_union().then(|| format!("part {}", part_of(id)));
            assert_eq!(index, expected, "{id}");
        }
        // The storage decides which document is `a`.
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        found.push(json!([a, b, overlap, similarity.resemblance]));
    }
    found.sort_by_key(Value::to_string);
    found
}

#[test]
fn several_indexes_answer_as_one_that_has_all_their_documents() {
    let whole = Searcher::new(index(collection().into_iter()).snapshot().unwrap());
    let (expected, names) = answers(&whole);
    assert!(names.len() > 100 && names.iter().all(|(_, index)| index.is_none()));
    let parts = parts();
    let together = union(&parts).unwrap();
    let (found, names) = answers(&together);
    assert_eq!(found, expected);
    for (id, index) in names {
        assert_eq!(index, Some(format!("part {}", part_of(&id))), "{id}");
    }
    let pairs = all_pairs(&whole);
    assert!(pairs.len() > 50, "{} pairs", pairs.len());
    assert_eq!(all_pairs(&together), pairs);
    // A single part stops different fingerprints, so the summed frequencies make the answers equal.
    let stopped = |searcher: &Searcher| {
        let query = Query::text(collection()[0].text.clone()).max_df(MaxDf::Documents(20));
        searcher.search(&query).unwrap().query.stopped
    };
    let alone = Searcher::new(parts[0].1.snapshot().unwrap());
    assert!(stopped(&together) > stopped(&alone), "{}", stopped(&alone));
    // Merging the indexes gives the same answers.
    let merged = index(std::iter::empty());
    let mut writer = merged.writer(WriterOptions::default()).unwrap();
    let shards: Vec<Index> = parts.into_iter().map(|(_, part)| part).collect();
    writer.add_indexes(&shards, AddIndexesOptions::default()).unwrap();
    writer.finish().unwrap();
    assert_eq!(answers(&Searcher::new(merged.snapshot().unwrap())).0, found);
}

#[test]
fn an_id_of_two_indexes_is_ambiguous_and_not_guessed() {
    let one = |id: &str, seed| index([Document::new(id, words(seed, 50))].into_iter());
    let parts = [("a".to_owned(), one("x", 1)), ("b".to_owned(), one("x", 1))];
    let searcher = union(&parts).unwrap();
    let answer = searcher.search(&Query::text(words(1, 50))).unwrap();
    let hits: Vec<_> = answer.hits.iter().map(|hit| (&*hit.id, hit.index.as_deref())).collect();
    assert_eq!(hits, [("x", Some("a")), ("x", Some("b"))]);
    let error = searcher.search(&Query::new(Subject::Id("x".into()))).unwrap_err().to_string();
    assert!(error.contains("`x` is in a and in b"), "{error}");
    assert_eq!(searcher.snapshot().documents(), 2);
    assert!(searcher.snapshot().is_current().unwrap());
    add_one(&parts[1].1);
    assert!(!searcher.snapshot().is_current().unwrap());
    let error = SimilarTo::new(&searcher, &Query::text("a text")).err().unwrap().to_string();
    assert!(error.contains("one index"), "{error}");
}

fn add_one(index: &Index) {
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add(Document::new("later", "another text of its own")).unwrap();
    writer.finish().unwrap();
}

#[test]
fn indexes_that_do_not_fit_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let create = |name: &str, scheme: &str, text: bool| {
        let config = Config::new(scheme, "words", text).unwrap();
        (name.to_owned(), Index::create(dir.path().join(name), config).unwrap())
    };
    let first = create("first", "winnow(k=3,w=4)", true);
    let check = |other: (String, Index), expected: &str| {
        let error = union(&[first.clone(), other]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(create("scheme", "kgram(k=3)", true), "kgram(k=3)");
    check(create("text", "winnow(k=3,w=4)", false), "does not store texts");
    check(first.clone(), "named twice");
    assert!(matches!(Snapshot::union(Vec::new()), Err(Error::InvalidArgument { .. })));
    let alone = union(std::slice::from_ref(&first)).unwrap();
    assert!(!alone.snapshot().is_union());
}
