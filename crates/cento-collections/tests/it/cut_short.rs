//! After an incomplete search for passages, documents that may have a passage stay and are marked.

use cento::hash::mix64;
use cento::index::{Config, Document, Index, WriterOptions};
use cento::search::{Goal, Query, Searcher};
use cento_collections::pairs::{Pair, PairOptions, pairs};

/// More tokens than any found passage, and fewer than either text.
const TOKENS_MIN: u32 = 2_000;

/// Returns two texts of three-word sentences over sixty words. They have more pairs of similar
/// sentences than a search keeps.
fn alike() -> [String; 2] {
    let text = |words: &mut dyn Iterator<Item = [u64; 3]>| -> String {
        words.map(|[a, b, c]| format!("w{} w{} w{}. ", a % 60, b % 60, c % 60)).collect()
    };
    let drawn = |at: u64, turn: u64| 20 * turn + mix64(3 * at + turn) % 20;
    [
        text(&mut (0..1_024).map(|at| [0, 1, 2].map(|turn| drawn(at, turn)))),
        text(&mut (0..1_200).map(|at| [at, at + 1 + at / 60, at + 40])),
    ]
}

fn searcher(texts: &[String]) -> Searcher {
    let index = Index::in_memory(Config::new("kgram(k=1)", "words", true).unwrap()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for (number, text) in texts.iter().enumerate() {
        writer.add(Document::new(format!("{number}"), text)).unwrap();
    }
    writer.finish().unwrap();
    Searcher::new(index.snapshot().unwrap())
}

#[test]
fn a_pair_whose_search_for_passages_was_cut_short_is_kept_and_marked() {
    // Once the pair was dropped as if it had no passage.
    let searcher = searcher(&alike());
    let options = PairOptions::default().min_passage(TOKENS_MIN);
    let report = |pair: Pair| {
        let report = pair.report(searcher.snapshot(), searcher.snapshot()).unwrap();
        (report.passages.map(|found| found.len()), report.passages_complete)
    };
    let in_order: Vec<_> = pairs(&searcher, &options).map(|pair| report(pair.unwrap())).collect();
    assert_eq!(in_order, [(Some(0), Some(false))]);
    let best = pairs(&searcher, &options).most_similar().unwrap();
    assert_eq!((best.total, best.pairs[0].pair.passages_complete), (1, Some(false)));
}

#[test]
fn a_hit_whose_search_for_passages_was_cut_short_is_kept_and_marked() {
    let [query, document] = alike();
    let searcher = searcher(&[document]);
    for limit in [None, Some(1)] {
        let query = Query::text(&query).min_passage(TOKENS_MIN).limit(limit);
        let answer = searcher.search(&query).unwrap();
        let found: Vec<_> = answer
            .hits
            .iter()
            .map(|hit| (hit.passages.as_ref().map(Vec::len), hit.passages_complete))
            .collect();
        assert_eq!(found, [(Some(0), Some(false))]);
    }
    // A trace is incomplete as well.
    let answer = searcher.search(&Query::text(&query).goal(Goal::Trace)).unwrap();
    assert!(answer.more && answer.hits.is_empty());
}

#[test]
fn a_pair_without_a_long_passage_is_left_out_after_a_complete_search() {
    let texts = ["one two three four five six", "one two three four five seven"];
    let searcher = searcher(&texts.map(str::to_owned));
    let options = PairOptions::default().min_passage(TOKENS_MIN);
    assert_eq!(pairs(&searcher, &options).count(), 0);
    let query = Query::text(texts[0]).min_passage(TOKENS_MIN);
    assert!(searcher.search(&query).unwrap().hits.is_empty());
}
