//! The part of an answer about documents that are not shown.

use crate::common::words;
use cento::Measure;
use cento::index::{Config, Document, Index, WriterOptions};
use cento::search::{Goal, Query, Rank, Searcher};
use cento::tantivy::directory::RamDirectory;

/// Returns a searcher of documents with `shared[i]` words of a common text each, and that text.
fn searcher(shared: &[usize]) -> (Searcher, String) {
    let config = Config::new("kgram(k=3)", "words", true).unwrap();
    let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let text = words(1, 200);
    for (number, &count) in (0u64..).zip(shared) {
        let part: Vec<&str> = text.split(' ').take(count).collect();
        let text = format!("{} {}", part.join(" "), words(1000 + number, 60));
        writer.add(Document::new(format!("doc{number:02}"), text)).unwrap();
    }
    writer.finish().unwrap();
    (Searcher::new(index.snapshot().unwrap()), text)
}

/// The hits, whether there are more, and how many there are.
#[track_caller]
fn check(searcher: &Searcher, query: &Query, expected: (usize, bool, Option<u64>)) {
    let answer = searcher.search(query).unwrap();
    assert!(answer.complete);
    assert_eq!((answer.hits.len(), answer.more, answer.total), expected, "{query:?}");
}

#[test]
fn a_plain_answer_says_whether_there_are_more_and_how_many_if_it_saw_them_all() {
    let (searcher, text) = searcher(&[60; 12]);
    let query = |limit| Query::text(&text).limit(limit);
    check(&searcher, &query(10), (10, true, None));
    check(&searcher, &query(11), (11, true, None));
    check(&searcher, &query(12), (12, false, Some(12)));
    check(&searcher, &query(0), (0, true, None));
    check(&searcher, &Query::text(words(2, 50)).limit(10), (0, false, Some(0)));
    let all_counted = query(10).min_resemblance(0.01);
    check(&searcher, &all_counted, (10, true, Some(12)));
    let by_weight = |limit| query(limit).rank(Rank::Weight);
    check(&searcher, &by_weight(0), (0, true, None));
    check(&searcher, &by_weight(11), (11, true, None));
    check(&searcher, &by_weight(12), (12, false, Some(12)));
    // A stored document is not its own hit.
    let like = |limit| Query::id("doc03").limit(limit);
    check(&searcher, &like(10), (10, true, None));
    check(&searcher, &like(11), (11, false, Some(11)));
}

#[test]
fn a_budget_leaves_the_number_of_hits_unknown() {
    let (searcher, text) = searcher(&[60; 12]);
    let query = Query::text(&text).budget(100).min_resemblance(0.01);
    let answer = searcher.search(&query).unwrap();
    assert!(!answer.complete && answer.more);
    assert_eq!((answer.hits.len(), answer.total), (10, None));
}

#[test]
fn hits_that_must_pass_are_looked_at_until_one_more_does() {
    // Six of 14 documents that share text with the query have a passage of 30 words.
    let mut shared = [20; 14];
    for at in [0, 2, 5, 7, 9, 13] {
        shared[at] = 60;
    }
    let (searcher, text) = searcher(&shared);
    let long = |limit| Query::text(&text).limit(limit).min_passage(30);
    check(&searcher, &long(5), (5, true, None));
    check(&searcher, &long(6), (6, false, Some(6)));
    check(&searcher, &long(7), (6, false, Some(6)));
    let alike = |limit| {
        let verify: Measure = "containment".parse().unwrap();
        Query::text(&text).limit(limit).verify(verify).min_similarity(0.2)
    };
    check(&searcher, &alike(5), (5, true, None));
    check(&searcher, &alike(6), (6, false, Some(6)));
    let trace = |limit| long(limit).goal(Goal::Trace);
    // A trace lists a single document here, whose passage includes all passages of the remaining
    // documents.
    check(&searcher, &trace(6), (1, false, Some(1)));
}

#[test]
fn candidates_that_are_not_looked_at_for_passages_are_more() {
    let (searcher, text) = searcher(&[60; 12]);
    let query = |limit, candidates| {
        Query::text(&text).limit(limit).candidates(candidates).rank(Rank::Passages).passages(true)
    };
    check(&searcher, &query(4, 12), (4, true, Some(12)));
    check(&searcher, &query(12, 12), (12, false, Some(12)));
    check(&searcher, &query(4, 8), (4, true, None));
    // With fewer candidates than hits, the candidates are the limit.
    let long = |limit, candidates| query(limit, candidates).min_passage(30);
    check(&searcher, &long(4, 8), (4, true, None));
    check(&searcher, &long(12, 12), (12, false, Some(12)));
    let none = query(4, 8).min_passage(100);
    check(&searcher, &none, (0, true, None));
    check(&searcher, &none.candidates(12), (0, false, Some(0)));
}
