//! Compares traces with a reference that compares every document, byte by byte.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use cento_api::TimeOrder;
use proptest::prelude::*;
use serde_json::json;

use crate::hash::mix64;
use crate::index::{Config, Document, Index, WriterOptions};
use crate::search::{Goal, Query, Searcher, Subject, Trace, TracedSpan};

fn words(seed: u64, count: u64) -> Vec<String> {
    (0..count).map(|at| format!("w{:x}", mix64(seed << 20 | at) % 100_000)).collect()
}

/// A block of words that documents and the query consist of.
#[derive(Debug, Clone, Copy)]
struct Block {
    number: u64,
    from: u64,
    count: u64,
    /// Words at multiples of this number are replaced.
    edits: u64,
}

fn text(blocks: &[Block], own: u64) -> String {
    let mut text = Vec::new();
    for (at, block) in (0..).zip(blocks) {
        text.extend(words(1000 + own * 50 + at, 20));
        let copied = words(block.number, 90).into_iter();
        let copied = copied.skip(block.from as usize).take(block.count as usize);
        text.extend((0..).zip(copied).map(|(at, word)| match (at + 1) % block.edits {
            0 => format!("x{own}x{at}"),
            _ => word,
        }));
    }
    text.join(" ")
}

const SCHEME: &str = "winnow(k=3,w=4)";

/// Returns the fingerprints of a text.
fn keys(scheme: &str, text: &str) -> HashSet<u64> {
    let config = Config::new(scheme, "words", true).unwrap();
    config.sign(text).unwrap().1.iter().map(|fingerprint| fingerprint.key).collect()
}

fn searcher(documents: &[(String, String, u64)], commit: usize, store_text: bool) -> Searcher {
    let config = Config::new(SCHEME, "words", store_text).unwrap();
    let index = Index::in_memory(config).unwrap();
    for some in documents.chunks(commit) {
        let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
        for (id, text, year) in some {
            let meta = json!({"year": year}).as_object().unwrap().clone();
            writer.add(Document::new(id.clone(), text.clone()).with_meta(meta)).unwrap();
        }
        writer.finish().unwrap();
    }
    Searcher::new(index.snapshot().unwrap())
}

fn trace(searcher: &Searcher, query: Query) -> Trace {
    searcher.search(&query.goal(Goal::Trace)).unwrap().trace.unwrap()
}

/// Returns, for each byte of a text, whether it is a letter or digit.
fn counts(text: &str) -> Vec<bool> {
    text.bytes().map(|byte| byte.is_ascii_alphanumeric()).collect()
}

/// A passage in terms of bytes: its place, which bytes are matched, its information.
struct Painted {
    id: String,
    place: Range<usize>,
    matched: Vec<bool>,
    says: f64,
    similarity: f64,
}

/// The expected span: its place, the best and the first document, the number of carriers.
type Expected = (Range<usize>, String, String, u64);

/// Compares the text with every document.
fn reference(
    searcher: &Searcher,
    documents: &[(String, String, u64)],
    text: &str,
) -> Vec<Expected> {
    let counted = counts(text);
    let mut painted: Vec<Painted> = Vec::new();
    let runs = keys("kgram(k=3)", text);
    for (id, document, _) in documents {
        // A document is not found if no run of the text is among its fingerprints.
        if runs.is_disjoint(&keys(SCHEME, document)) {
            continue;
        }
        let query = Query::new(Subject::Text(text.to_owned()));
        for passage in searcher.passages_of(&query, id).unwrap().found {
            let mut matched = vec![false; text.len()];
            for &(start, end) in passage.matched_in_a() {
                matched[start as usize..end as usize].fill(true);
            }
            matched.iter_mut().zip(&counted).for_each(|(matched, counts)| *matched &= counts);
            // A span is from the first matched word to the last.
            let ends = [passage.matched_in_a().first(), passage.matched_in_a().last()];
            let [start, end] = [ends[0].unwrap().0, ends[1].unwrap().1];
            let place = start as usize..end as usize;
            let (says, similarity) = (passage.evidence.unwrap(), passage.similarity);
            painted.push(Painted { id: id.clone(), place, matched, says, similarity });
        }
    }
    let size = |painted: &Painted, range: Range<usize>| {
        painted.matched[range].iter().filter(|&&matched| matched).count()
    };
    let mut order: Vec<usize> = (0..painted.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&painted[a], &painted[b]);
        let sizes = size(b, 0..text.len()).cmp(&size(a, 0..text.len()));
        let places = (a.place.start, a.place.end).cmp(&(b.place.start, b.place.end));
        b.says.total_cmp(&a.says).then(sizes).then(places)
    });
    let mut owner: Vec<Option<usize>> = vec![None; text.len()];
    let mut spans = 0;
    for at in order {
        let passage = &painted[at];
        let mut start = passage.place.start;
        while start < passage.place.end {
            if owner[start].is_some() {
                start += 1;
                continue;
            }
            let free = owner[start..passage.place.end].iter();
            let mut end = start + free.take_while(|owner| owner.is_none()).count();
            let next = end;
            let bytes = text.as_bytes();
            while start < end && bytes[start] == b' ' {
                start += 1;
            }
            while start < end && bytes[end - 1] == b' ' {
                end -= 1;
            }
            let own = size(passage, start..end);
            if own > 0 && 2 * own > size(passage, 0..text.len()) {
                owner[start..end].fill(Some(spans));
                spans += 1;
            } else if own > 0 {
                let before = owner[..start].iter().rposition(Option::is_some);
                let after = (end..text.len()).find(|&at| owner[at].is_some());
                let is_before = match (before, after) {
                    (Some(before), Some(after)) => start - before - 1 <= after - end,
                    (before, _) => before.is_some(),
                };
                let (range, span) = match is_before {
                    true => (before.unwrap()..end, owner[before.unwrap()]),
                    false => (start..after.unwrap(), owner[after.unwrap()]),
                };
                owner[range].fill(span);
            }
            start = next;
        }
    }
    let mut found: Vec<Expected> = Vec::new();
    let year = |id: &str| documents.iter().find(|document| document.0 == id).unwrap().2;
    for span in 0..spans {
        let start = owner.iter().position(|owner| *owner == Some(span)).unwrap();
        let end = owner.iter().rposition(|owner| *owner == Some(span)).unwrap() + 1;
        let mut of: BTreeMap<&str, Vec<&Painted>> = BTreeMap::new();
        for passage in painted.iter().filter(|passage| size(passage, start..end) > 0) {
            of.entry(&passage.id).or_default().push(passage);
        }
        // A word in two passages of a document counts once.
        let has = |passages: &[&Painted]| {
            (start..end).filter(|&at| passages.iter().any(|passage| passage.matched[at])).count()
        };
        let most = of.values().map(|passages| has(passages)).max().unwrap();
        of.retain(|_, passages| 2 * has(passages) >= most);
        let similarity = |passages: &[&Painted]| {
            let best = passages.iter().map(|passage| size(passage, start..end)).max();
            let first = passages.iter().find(|passage| Some(size(passage, start..end)) == best);
            first.unwrap().similarity
        };
        let best = of.iter().min_by(|(a, of_a), (b, of_b)| {
            let by_similarity = similarity(of_b).total_cmp(&similarity(of_a));
            has(of_b).cmp(&has(of_a)).then(by_similarity).then(year(a).cmp(&year(b)))
        });
        let best = best.unwrap().0.to_string();
        let first = of.keys().min_by_key(|id| year(id)).unwrap().to_string();
        found.push((start..end, best, first, of.len() as u64));
    }
    found.sort_by_key(|span| span.0.start);
    found
}

fn expected(span: &TracedSpan) -> Expected {
    let (best, first) = (span.best.id.clone(), span.first.id.clone());
    (span.a.0 as usize..span.a.1 as usize, best, first, span.carriers)
}

fn block() -> impl Strategy<Value = Block> {
    (
        0u64..4,
        prop_oneof![3 => Just(0u64), 1 => 0u64..60],
        14u64..90,
        prop_oneof![2 => Just(99u64), 1 => 4u64..12],
    )
        .prop_map(|(number, from, count, edits)| Block { number, from, count, edits })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_trace_is_that_of_comparing_every_document(
        blocks in prop::collection::vec(prop::collection::vec(block(), 0..4), 8..26),
        own in prop::collection::vec(block(), 1..5),
        years in Just((0..26u64).map(|at| 1900 + at).collect::<Vec<_>>()).prop_shuffle(),
        commit in 1usize..26,
    ) {
        let mut documents: Vec<(String, String, u64)> = (0..).zip(&blocks).zip(years)
            .map(|((at, blocks), year)| (format!("d{at:02}"), text(blocks, at), year))
            .collect();
        let query = text(&own, 999);
        let whole = searcher(&documents, documents.len(), true);
        let found = trace(&whole, Query::text(&query).date("year"));
        let spans: Vec<Expected> = found.spans.iter().map(expected).collect();
        prop_assert_eq!(&spans, &reference(&whole, &documents, &query));
        prop_assert!(found.spans.iter().all(|span| span.carriers_exact));
        for span in &found.spans {
            prop_assert_eq!(&span.text, &query[span.a.0 as usize..span.a.1 as usize]);
            let of_best = &documents.iter().find(|one| one.0 == span.best.id).unwrap().1;
            let place = span.best.b.0 as usize..span.best.b.1 as usize;
            prop_assert_eq!(span.best.text.as_deref(), of_best.get(place));
        }
        let sum = found.reused + found.common + found.cited + found.new;
        prop_assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        // Neither the order of addition nor segments make a difference.
        documents.reverse();
        let others = searcher(&documents, commit, true);
        let mut other = trace(&others, Query::text(&query).date("year"));
        let added = |trace: &mut Trace| for span in &mut trace.spans {
            (span.best.added, span.first.added) = (String::new(), String::new());
        };
        let mut found = found;
        added(&mut found);
        added(&mut other);
        prop_assert_eq!(other, found);
    }
}

/// Documents with a block each, and many documents of a common text.
fn archive(carriers: u64, others: u64) -> Vec<(String, String, u64)> {
    let block = |number| Block { number, from: 0, count: 60, edits: 999 };
    let of = |blocks: &[Block], at| (format!("d{at:03}"), text(blocks, at), 2000 - at);
    let mut documents: Vec<_> = (0..carriers).map(|at| of(&[block(1)], at)).collect();
    documents.extend((carriers..carriers + others).map(|at| of(&[], at)));
    documents.push(of(&[block(2)], carriers + others));
    for (_, text, _) in &mut documents {
        text.push_str(" the end of it");
    }
    documents
}

fn of_blocks(numbers: &[u64]) -> String {
    let block = |&number| Block { number, from: 0, count: 60, edits: 999 };
    text(&numbers.iter().map(block).collect::<Vec<_>>(), 77)
}

#[test]
fn what_more_than_half_of_the_documents_have_is_common_from_eight_on() {
    let query = || Query::text(of_blocks(&[1, 2])).date("year");
    for (carriers, others, is_common) in [(8, 4, true), (7, 0, false), (8, 30, false)] {
        let found = trace(&searcher(&archive(carriers, others), 99, true), query());
        let spans: Vec<_> =
            found.spans.iter().map(|span| (span.carriers, span.is_common)).collect();
        assert_eq!(spans, [(carriers, is_common), (1, false)], "{carriers} {others}");
        assert_eq!(found.common > 0.0, is_common);
        assert!(found.reused > 0.2 && found.cited == 0.0);
        // Years descend with the order of addition.
        assert_eq!(found.spans[0].first.id, format!("d{:03}", carriers - 1));
        assert_eq!(found.spans[0].first.date, Some((2001 - carriers).to_string()));
    }
}

#[test]
fn an_edited_copy_without_a_common_fingerprint_is_traced_by_its_runs() {
    let searcher = searcher(&archive(1, 20), 99, true);
    let source = keys(SCHEME, &archive(1, 0)[0].1);
    let copy = Block { number: 1, from: 0, count: 24, edits: 4 };
    let mut copies = (77..5_000).map(|own| text(&[copy], own));
    let text = copies.find(|text| source.is_disjoint(&keys(SCHEME, text))).unwrap();
    assert!(!source.is_disjoint(&keys("kgram(k=3)", &text)));
    assert_eq!(searcher.search(&Query::text(&text)).unwrap().hits, []);
    let of_text = searcher.search(&Query::text(&text).goal(Goal::Trace)).unwrap();
    assert_eq!(of_text.trace.unwrap().spans[0].best.id, "d000");
    // The numbers of the query are those of a document with this text.
    assert_eq!(of_text.query.fingerprints as usize, keys(SCHEME, &text).len());
    assert_eq!(of_text.query.global, 0.0);
    // A stored text is traced like the same text from outside.
    let mut documents = archive(1, 20);
    documents.push(("copy".into(), text, 2001));
    let stored = trace(&self::searcher(&documents, 99, true), Query::id("copy"));
    assert_eq!(stored.spans[0].best.id, "d000");
}

#[test]
fn a_number_of_carriers_that_was_cut_says_so_and_the_first_is_looked_for() {
    let searcher = searcher(&archive(60, 70), 200, true);
    let query = || Query::text(of_blocks(&[1, 2])).date("year");
    let cut = trace(&searcher, query().candidates(5usize).carriers(2usize));
    assert_eq!((cut.spans[0].carriers, cut.spans[0].carriers_exact), (60, false));
    assert_eq!(cut.spans[0].first.id, "d059");
    assert_eq!(cut.spans[0].others.len(), 2);
    let all = trace(&searcher, query());
    assert_eq!((all.spans[0].carriers, all.spans[0].carriers_exact), (60, true));
    assert_eq!(all.spans[0].others, []);
}

#[test]
fn a_number_of_carriers_is_exact_only_if_all_that_share_fingerprints_were_compared() {
    // Documents with a few of the words were once skipped, and yet the number was called exact.
    let few = |at| Block { number: 1, from: 20, count: 8, edits: 999 + at };
    let with = |count: u64| {
        let mut documents = archive(3, 20);
        let of = |at| (format!("few{at:03}"), text(&[few(at)], 5000 + at), 1800);
        documents.extend((0..count).map(of));
        trace(&searcher(&documents, 99, true), Query::text(of_blocks(&[1])))
    };
    for (count, is_exact) in [(20, true), (40, false)] {
        let found = with(count);
        assert_eq!(found.spans.len(), 1);
        assert_eq!((found.spans[0].carriers, found.spans[0].carriers_exact), (3, is_exact));
    }
}

#[test]
fn the_order_is_that_of_the_dates_of_a_field_that_documents_have() {
    let searcher = searcher(&archive(3, 20), 99, true);
    let query = Query::text(of_blocks(&[1]));
    for (query, order) in
        [(query.clone().date("year"), TimeOrder::Date), (query.clone(), TimeOrder::Added)]
    {
        let found = trace(&searcher, query);
        assert_eq!(found.order, order);
        assert_eq!(found.spans[0].first.date.is_some(), order == TimeOrder::Date);
    }
    let error = searcher.search(&query.goal(Goal::Trace).date("yaer")).unwrap_err();
    assert!(error.to_string().contains("yaer"), "{error}");
}

#[test]
fn words_in_quotation_marks_are_cited() {
    let searcher = searcher(&archive(3, 20), 99, true);
    let quoted = words(1, 60).join(" ");
    let text = format!("{} \"{quoted}\" {}", words(70, 30).join(" "), words(71, 30).join(" "));
    let found = trace(&searcher, Query::text(text));
    assert_eq!(found.spans.len(), 1);
    assert!(found.cited > 0.4 && found.reused == 0.0, "{found:?}");
}

#[test]
fn without_stored_texts_fingerprints_tell_the_spans() {
    let documents = archive(3, 20);
    let text = of_blocks(&[1, 2]);
    let found = trace(&searcher(&documents, 99, false), Query::text(text.clone()));
    let exact = trace(&searcher(&documents, 99, true), Query::text(text));
    assert_eq!(found.spans.len(), 2);
    for (found, exact) in found.spans.iter().zip(&exact.spans) {
        assert_eq!((found.carriers, &found.best.text), (exact.carriers, &None));
        assert!(found.a.0.abs_diff(exact.a.0) < 20 && found.a.1.abs_diff(exact.a.1) < 20);
    }
    let signature = Subject::Signature { tokens: 9, fingerprints: Vec::new() };
    let error = searcher(&documents, 99, true).search(&Query::new(signature).goal(Goal::Trace));
    assert!(error.unwrap_err().to_string().contains("text of the query"));
}

#[test]
fn what_all_of_a_few_short_texts_have_is_reused() {
    // Regression: a sentence of two documents was due to chance, because either document made the
    // sentence easy to guess.
    let sentence = "Twice a day the sea rises and falls along most coasts, and harbours are built \
                    so that ships can wait for the water.";
    let own = [
        "The ferry at Aldmoor carried farmers and sheep for two hundred years before the bridge.",
        "Nobody in the village remembered who had planted the orchard behind the old station.",
        "A clock that stands still is right twice a day, and nobody thanks it for that.",
        "In spring the salt is washed out of the meadows, and cattle are driven down to them.",
        "Letters took nine days by coach, and three by the new railway over the moor.",
    ];
    for (carriers, others) in [(1, 0), (1, 3), (2, 0), (2, 1), (2, 3), (3, 0), (3, 2)] {
        let document = |at: usize| match at < carriers {
            true => (at.to_string(), format!("{} {sentence}", own[at]), 0),
            false => (at.to_string(), own[at].to_owned(), 0),
        };
        let documents: Vec<_> = (0..carriers + others).map(document).collect();
        let trace = trace(&searcher(&documents, 10, true), Query::text(sentence));
        let found = (trace.new, trace.spans.first().map(|span| span.carriers));
        assert_eq!(found, (0.0, Some(carriers as u64)), "{carriers} of {}", documents.len());
    }
}
