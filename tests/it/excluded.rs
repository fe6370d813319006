//! A search treats excluded documents as if they were not stored.

use crate::common::words;
use cento::index::{Config, Document, Index, Snapshot, WriterOptions};
use cento::search::{Goal, Query, Searcher};
use cento::tantivy::directory::RamDirectory;

/// Returns an index of documents, each with a number of words of a common text and words of its
/// own.
fn index(shared: &[(&str, usize)]) -> Index {
    let config = Config::new("winnow(k=3,w=4)", "words", true).unwrap();
    let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let text = words(1, 200);
    for &(id, count) in shared {
        let part: Vec<&str> = text.split(' ').take(count).collect();
        let own = id.bytes().map(u64::from).sum::<u64>();
        let text = format!("{} {}", part.join(" "), words(1000 + own, 60));
        writer.add(Document::new(id, text)).unwrap();
    }
    writer.finish().unwrap();
    index
}

const ALL: [(&str, usize); 5] = [("a", 200), ("b", 160), ("c", 120), ("d", 80), ("e", 40)];

fn searcher(shared: &[(&str, usize)]) -> Searcher {
    Searcher::new(index(shared).snapshot().unwrap())
}

fn ids(searcher: &Searcher, query: &Query) -> Vec<String> {
    searcher.search(query).unwrap().hits.into_iter().map(|hit| hit.id).collect()
}

#[test]
fn excluded_documents_count_as_not_stored() {
    let (all, left) = (searcher(&ALL), searcher(&[ALL[1], ALL[3], ALL[4]]));
    let excluding =
        |query: &Query| query.clone().exclude_id(["c", "nobody", "a"].map(str::to_owned));
    for subject in [Query::text(words(1, 200)), Query::id("d")] {
        for query in [
            subject.clone(),
            subject.clone().limit(1),
            subject.clone().min_containment(0.1),
            subject.clone().passages(true),
            subject.clone().min_passage(20),
            subject.clone().goal(Goal::Trace),
            subject.clone().goal(Goal::Passage),
        ] {
            let excluded = excluding(&query);
            let search = |searcher: &Searcher, query: &Query| {
                let mut answer = searcher.search(query).unwrap();
                // Evidence and chance of a passage are computed from all documents, including
                // excluded documents.
                for passage in answer.hits.iter_mut().flat_map(|hit| &mut hit.passages).flatten() {
                    (passage.evidence, passage.expected) = (None, None);
                }
                answer
            };
            let (found, expected) = (search(&all, &excluded), search(&left, &query));
            assert!(!expected.hits.is_empty(), "{query:?}");
            assert_eq!(found.hits, expected.hits, "{query:?}");
            assert_eq!((found.more, found.total), (expected.more, expected.total), "{query:?}");
            assert_eq!(found.query.global, expected.query.global, "{query:?}");
            assert_ne!(ids(&all, &query), ids(&all, &excluded), "{query:?}");
        }
    }
}

#[test]
fn all_documents_of_a_union_with_an_excluded_id_are_excluded() {
    let parts = [index(&ALL), index(&[("a", 150), ("f", 90)])];
    let parts = ["one", "two"].into_iter().zip(parts);
    let parts = parts.map(|(name, part)| (name.to_owned(), part.snapshot().unwrap()));
    let searcher = Searcher::new(Snapshot::union(parts.collect()).unwrap());
    let query = Query::text(words(1, 200)).min_overlap(2);
    let found = ids(&searcher, &query);
    assert_eq!(found.iter().filter(|id| *id == "a").count(), 2);
    let expected: Vec<String> = found.into_iter().filter(|id| id != "a").collect();
    assert_eq!(ids(&searcher, &query.exclude_id(["a".to_owned()])), expected);
}
