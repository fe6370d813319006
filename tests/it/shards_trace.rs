//! A trace over shards is the trace of a single index with all documents.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use cento::hash::mix64;
use cento::index::{AddIndexesOptions, Config, Document, Index, WriterOptions};
use cento::search::{
    Boilerplate, Goal, Query, Searcher, ShardAnswers, ShardCandidate, ShardCandidates,
    ShardWinners, next_step,
};
use cento::{Key, MaxDf, Result, Stop};
use cento_api::{CitedPart, DocumentFacts, TimeOrder};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::shards::{one_of, search_in_steps, shown, words};

const DOCUMENTS: u64 = 120;

/// The genre of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Genre {
    Prose,
    Program,
}

/// Returns a block of words or statements, which several documents have. `edits` of 100 words are
/// others.
fn block(genre: Genre, number: u64, edits: u64, own: u64) -> String {
    let edited = |at: u64| mix64(own << 16 | at) % 100 < edits;
    let word = |at: u64| match edited(at) {
        true => format!("x{own}y{at}"),
        false => format!("w{}", mix64(number << 20 | at) % 100_000),
    };
    match genre {
        Genre::Prose => (0..60).map(word).collect::<Vec<_>>().join(" "),
        Genre::Program => {
            // Of many kinds: what a program repeats, as a list of imports does, says nothing again.
            let sign = |at: u64, of: u64| {
                let drawn = mix64(mix64(number << 20 | at) + of) as usize;
                ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"][drawn % 10]
            };
            let statement = |at: u64| {
                let (x, y) = (sign(at, 1), sign(at, 2));
                match (mix64(number << 20 | at) % 5, edited(at)) {
                    (_, true) => format!("return a{at} ? b : {own};"),
                    (0, _) => format!("int a{at} = f(b {x} {at}, c[{at}] {y} b);"),
                    (1, _) => format!("if (a{at} {x} b < c) {{ c[{at} {y} b]++; }}"),
                    (2, _) => format!("while (!a{at}) b = b {x} c {y} a{at};"),
                    (3, _) => format!("a{at} -= g(\"{number}\" {x} b) {y} c;"),
                    _ => format!("for (int i = 0; i {x} b < a{at}; i++) h(&c[i {y} b]);"),
                }
            };
            let body: Vec<String> = (0..30).map(statement).collect();
            format!("void f{number}(int b, int *c) {{\n{}\n}}\n", body.join("\n"))
        }
    }
}

/// Returns a text with blocks of earlier documents, and new words. Most documents have the first
/// block. Some texts are copies.
fn text(genre: Genre, number: u64) -> String {
    if number % 12 == 7 {
        return text(genre, number - 7);
    }
    let mut parts = vec![match genre {
        Genre::Prose => words(number, 20 + number % 30, 900),
        Genre::Program => block(genre, 900 + number, 0, 0),
    }];
    if !number.is_multiple_of(3) {
        parts.push(block(genre, 0, 0, number));
    }
    for at in 0..number % 3 {
        let edits = [0, 0, 8, 25][(mix64(number << 3 | at) % 4) as usize];
        parts.push(block(genre, 1 + mix64(number << 4 | at) % 11, edits, number));
    }
    parts.join(if number.is_multiple_of(2) { "\n" } else { " \u{c}" })
}

/// Returns the date of a document: none, a day, a month, a year as text or as a number.
fn date(number: u64) -> Value {
    let bits = mix64(number ^ 5);
    let (year, month, day) = (1980 + bits % 30, 1 + bits / 64 % 12, 1 + bits / 4096 % 28);
    match number % 5 {
        0 => Value::Null,
        1 => json!(format!("{year}-{month:02}-{day:02}")),
        2 => json!(format!("{year}-{month:02}")),
        3 => json!(year.to_string()),
        _ => json!(year),
    }
}

fn id(number: u64) -> String {
    format!("doc{}", mix64(number) % 100_000)
}

fn is_removed(number: u64) -> bool {
    number % 11 == 4
}

fn shard(config: &Config, genre: Genre, path: &Path, is_own: impl Fn(u64) -> bool) -> Searcher {
    let index = Index::create(path, config.clone()).unwrap();
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    for number in (0..DOCUMENTS).filter(|&number| is_own(number)) {
        let lang = if number % 3 == 0 { "de" } else { "en" };
        let meta = json!({"lang": lang, "date": date(number), "work": {"n": number}});
        let meta = meta.as_object().unwrap().clone();
        writer.add(Document::new(id(number), text(genre, number)).with_meta(meta)).unwrap();
        if number % 50 == 49 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    for number in (0..DOCUMENTS).filter(|&number| is_own(number) && is_removed(number)) {
        assert!(writer.remove(&id(number)).unwrap());
    }
    writer.finish().unwrap();
    Searcher::new(index.snapshot().unwrap())
}

/// Documents spread over shards, and an index with the documents of all shards, which has the same
/// times of addition.
struct Archive {
    shards: Vec<Searcher>,
    whole: Searcher,
    _dir: tempfile::TempDir,
}

/// Archives of the same documents in several numbers of shards.
struct World {
    genre: Genre,
    has_texts: bool,
    archives: Vec<Archive>,
}

fn archive(
    config: &Config,
    genre: Genre,
    count: u64,
    ignored: Option<&Arc<Boilerplate>>,
) -> Archive {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..count).map(|at| dir.path().join(at.to_string())).collect();
    let own = |(at, path): (u64, &std::path::PathBuf)| {
        shard(config, genre, path, |number| mix64(number ^ 77) % count == at)
    };
    let shards: Vec<Searcher> = (0..).zip(&paths).map(own).collect();
    let all = dir.path().join("all");
    let index = Index::create(&all, config.clone()).unwrap();
    Index::add_indexes(&all, &paths, AddIndexesOptions::default()).unwrap();
    let whole = Searcher::new(index.snapshot().unwrap());
    let without = |searcher: Searcher| match ignored {
        Some(ignored) => searcher.excluding(ignored.clone(), Stop::NEVER).unwrap(),
        None => searcher,
    };
    Archive { shards: shards.into_iter().map(without).collect(), whole: without(whole), _dir: dir }
}

/// Makes archives of the same documents in these numbers of shards.
fn world<const N: usize>(
    config: &Config,
    genre: Genre,
    counts: [u64; N],
    ignored: Option<&Arc<Boilerplate>>,
) -> World {
    let archives = counts.iter().map(|&count| archive(config, genre, count, ignored));
    World { genre, has_texts: config.store_text, archives: archives.collect() }
}

/// Archives with stop-fingerprints, with a key and without texts, with passages of other words than
/// signatures, of programs, and with boilerplate.
static WORLDS: LazyLock<Vec<World>> = LazyLock::new(|| {
    let winnow = |text| Config::new("winnow(k=3,w=4)", "words", text).unwrap();
    let key = Key::new(std::array::from_fn(|at| at as u8 + 1));
    let keyed = winnow(false).with_key(&key).unwrap();
    let stems = Config::new("kgram(k=2)", "avtor(stop=2)", true).unwrap();
    let programs = Config::new("winnow(k=6,w=5)", "code(language=c)", true).unwrap();
    let template = Boilerplate::new(&winnow(true)).unwrap();
    let template = template.with_texts([&*block(Genre::Prose, 3, 0, 0)], Stop::NEVER).unwrap();
    let stopped = winnow(true).with_max_df(MaxDf::Documents(40));
    vec![
        world(&stopped, Genre::Prose, [1, 3], None),
        world(&keyed, Genre::Prose, [2], None),
        world(&stems, Genre::Prose, [7], None),
        world(&programs, Genre::Program, [2, 3], None),
        world(&winnow(true), Genre::Prose, [2, 7], Some(&Arc::new(template))),
    ]
});

/// Compares the traces of shards with the trace of the whole. Returns how often all shards were
/// asked at most, and the least number of spans.
fn check(world: &World, query: &Query) -> (usize, usize) {
    let (mut steps_max, mut spans_min) = (0, usize::MAX);
    for Archive { shards, whole, .. } in &world.archives {
        let expected = whole.search(query).unwrap();
        spans_min = spans_min.min(expected.trace.as_ref().unwrap().spans.len());
        let (found, steps) = search_in_steps(shards, query).unwrap();
        steps_max = steps_max.max(steps);
        let count = shards.len();
        let options = (&query.options, &query.thresholds);
        assert_eq!(shown(Ok(found)), shown(Ok(expected)), "{count} shards, {options:?}");
    }
    (steps_max, spans_min)
}

/// Returns a query with some of the options that a trace has.
fn query(seed: u64, world: &World) -> Query {
    let bits = &mut mix64(seed);
    let genre = world.genre;
    let mut parts: Vec<String> = Vec::new();
    for at in 0..one_of(bits, &[1, 2, 3, 4]) {
        let number = one_of(bits, &[0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let edits = one_of(bits, &[0, 0, 10, 30]);
        let copied = block(genre, number, edits, seed % 1000 + at);
        parts.push(match (genre, one_of(bits, &[false, false, true])) {
            (Genre::Prose, true) => format!("\"{copied}\" {}", words(seed ^ at, 12, 900)),
            _ => copied,
        });
        if one_of(bits, &[true, false]) {
            parts.push(text(genre, *bits % DOCUMENTS));
        }
    }
    if one_of(bits, &[true, false, false, false, false]) {
        // So few words that the documents with every word are counted.
        let common = block(genre, one_of(bits, &[0, 0, 1, 3]), 0, 0);
        parts = vec![common.split(' ').skip(7).take(6).collect::<Vec<_>>().join(" ")];
    }
    let mut query = match one_of(bits, &[false, false, true]) {
        true => {
            Query::of_parts((0..).zip(parts).map(|(at, text): (u32, _)| (at.to_string(), text)))
        }
        false => Query::text(parts.join(one_of(bits, &["\n", " ", "\n\u{c}"]))),
    };
    query = query.goal(Goal::Trace);
    if let Some(field) = one_of(bits, &[None, Some("date"), Some("date"), Some("work.n")]) {
        query = query.date(field);
    }
    query = query.carriers(one_of(bits, &[None, Some(2), Some(1000)]));
    query = query.limit(one_of(bits, &[None, None, Some(0), Some(1), Some(3)]));
    query = query.candidates(one_of(bits, &[None, None, None, Some(1), Some(5), Some(40)]));
    query = query.passages(one_of(bits, &[false, false, true]));
    query = query.min_passage(one_of(bits, &[None, None, None, Some(5), Some(20)]));
    query = query.min_overlap(one_of(bits, &[None, None, None, Some(9)]));
    query = query.min_containment(one_of(bits, &[None, None, None, None, Some(0.1)]));
    query = query.min_weighted_containment(one_of(bits, &[None, None, None, Some(0.05)]));
    query = query.max_df(one_of(
        bits,
        &[None, None, None, Some(MaxDf::Documents(12)), Some(MaxDf::Share(0.3))],
    ));
    query = query.max_expected(one_of(bits, &[None, None, Some(1e-6), Some(100.0)]));
    if let Some(filter) = one_of(bits, &[None, None, Some("lang:de"), Some("work.n:[20 TO 90]")]) {
        query = query.filter(filter);
    }
    let number = *bits % DOCUMENTS;
    query = query.exclude_id(one_of(bits, &[vec![], vec![], vec![id(number), id(number / 2)]]));
    if world.has_texts && genre == Genre::Prose {
        if one_of(bits, &[false, false, false, true]) {
            let least = one_of(bits, &[None, Some(0.02)]);
            query = query.verify("containment(k=3)").min_similarity(least);
        }
        if one_of(bits, &[false, false, false, true]) {
            query = query.without([CitedPart::Quotations]);
        }
    }
    query
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn shards_trace_a_text_to_the_byte_as_one_index(seed in any::<u64>(), world in 0usize..5) {
        let world = &WORLDS[world];
        check(world, &query(seed, world));
    }
}

#[test]
fn the_queries_of_the_test_above_meet_all_that_a_trace_distinguishes() {
    let mut seen = std::collections::BTreeMap::new();
    let mut see =
        |what: &'static str, is_seen: bool| *seen.entry(what).or_insert(0) += u32::from(is_seen);
    for seed in 0..120 {
        let world = &WORLDS[seed as usize % 5];
        let query = query(mix64(seed), world);
        let answer = world.archives[0].whole.search(&query).unwrap();
        let trace = answer.trace.as_ref().unwrap();
        let spans = || trace.spans.iter();
        see("spans", spans().count() > 1);
        see("hits", !answer.hits.is_empty());
        see("several carriers", spans().any(|span| span.carriers > 2));
        see("not exact", spans().any(|span| !span.carriers_exact));
        let most = query.options.candidates.unwrap_or(Query::CARRIERS) as u64;
        see("not compared", spans().any(|span| span.carriers > most));
        see("common", trace.common > 0.0);
        see("cited", trace.cited > 0.0);
        see("new", trace.new > 0.0);
        see("dated", trace.order == TimeOrder::Date);
        see("first is another", spans().any(|span| span.first.id != span.best.id));
        see("others", spans().any(|span| !span.others.is_empty()));
        see("texts", spans().any(|span| span.best.text.is_some() && span.first.text.is_some()));
        see("without texts", spans().any(|span| span.best.text.is_none()));
        see("weighted", answer.hits.iter().any(|hit| hit.weighted.is_some()));
        see("passages", answer.hits.iter().any(|hit| hit.passages.is_some()));
        see("verified", answer.hits.iter().any(|hit| hit.verified.is_some()));
        see("boilerplate", !answer.query.boilerplate.is_empty());
        see("stopped", answer.query.stopped > 0 && !trace.spans.is_empty());
        see("parts", spans().any(|span| span.a_part.is_some()));
        see("pages", spans().any(|span| span.a_page.is_some() && span.a_line.is_some()));
        see("more", answer.more);
        see("containing", trace.containing.as_ref().is_some_and(|found| found.documents > 10));
    }
    println!("{seen:?}");
    assert!(seen.values().all(|&times| times >= 4), "{seen:?}");
}

#[test]
fn documents_with_a_short_text_add_up_over_shards() {
    let mut found = 0;
    for world in &WORLDS[..] {
        for (number, count) in [(0, 3), (2, 20), (5, 21)] {
            let block = block(world.genre, number, 0, 0);
            let words: Vec<&str> = block.split(' ').skip(4).take(count).collect();
            let query = Query::text(words.join(" ")).goal(Goal::Trace);
            check(world, &query);
            let trace = world.archives[0].whole.search(&query).unwrap().trace.unwrap();
            found += trace.containing.map_or(0, |containing| containing.documents);
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn a_trace_over_shards_needs_few_requests() {
    for (number, world) in WORLDS.iter().enumerate() {
        let blocks = (0..4).map(|number| block(world.genre, number, 0, 0)).collect::<Vec<_>>();
        let query = Query::text(blocks.join("\n")).goal(Goal::Trace).date("date");
        let (steps, spans) = check(world, &query);
        println!("{number}: {steps} steps, {spans} spans");
        assert!(steps <= 8 && spans >= 2, "{number}: {steps} steps, {spans} spans");
    }
}

#[test]
fn a_trace_of_another_text_than_the_shards_have_compared_is_refused() {
    let shards = &WORLDS[0].archives[0].shards;
    let query = Query::text(block(Genre::Prose, 1, 0, 0)).goal(Goal::Trace);
    let frequencies = shards[0].frequencies(&query, true).unwrap();
    let found = shards[0].candidates(&query, &frequencies, usize::MAX).unwrap();
    let refused = |query: &Query, found: ShardCandidates, what: &str| {
        let frequencies = frequencies.clone();
        let answers =
            ShardAnswers { frequencies, candidates: vec![found], hits: vec![], weights: None };
        let error = next_step(query, &answers).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    let other = Query::text("some words").goal(Goal::Trace);
    refused(&other, found.clone(), "those of another text");
    let candidates = found.candidates[1..].to_vec();
    refused(&query, ShardCandidates { candidates, ..found.clone() }, "needs every candidate");
    let mut unknown = found.clone();
    unknown.candidates[0].shared.push(1000);
    refused(&query, unknown, "shares fingerprint 1000");
    refused(&query, ShardCandidates { tokens: None, ..found }, "not named the query's tokens");
}

#[test]
fn an_excerpt_that_a_text_does_not_have_is_refused() {
    for (world, has_texts) in [(0, true), (1, false)] {
        let shard = &WORLDS[world].archives[0].shards[0];
        let query = Query::text(block(Genre::Prose, 1, 0, 0)).goal(Goal::Trace);
        let frequencies = shard.frequencies(&query, true).unwrap();
        let found = shard.candidates(&query, &frequencies, usize::MAX).unwrap();
        let sample = frequencies.sample.as_ref();
        let facts = |ranges: &[(u32, u32)]| {
            let excerpts = Some(ranges.to_vec());
            let winners = ShardWinners {
                commit: shard.commit().to_owned(),
                documents: frequencies.documents,
                preset: None,
                sample_digest: sample.map(|sample| sample.digest.clone()),
                sample: sample.cloned(),
                winners: vec![ShardCandidate { excerpts, ..found.candidates[0].clone() }],
            };
            Ok(shard.spans(&query, &winners)?.hits[0].facts.clone().unwrap())
        };
        let whole: Result<DocumentFacts> = facts(&[(0, 5)]);
        assert_eq!(whole.is_ok_and(|facts| facts.excerpts[0].text.len() == 5), has_texts);
        assert!(facts(&[]).unwrap().added > 1_700_000_000_000_000);
        for range in [(5, 0), (0, 1 << 30)] {
            let error = facts(&[range]).unwrap_err().to_string();
            assert!(error.contains("no part of a stored text"), "{error}");
        }
    }
}
