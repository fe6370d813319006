//! Shards together answer like a single index with all documents. The three calls are composed
//! naively.

use std::sync::LazyLock;

use cento::hash::mix64;
use cento::index::{Config, Document, Index, WriterOptions};
use cento::search::{
    Answer, Goal, Query, Rank, Searcher, ShardAnswers, ShardFrequencies, ShardStep, ShardWinners,
    Subject, add_up_frequencies, next_step,
};
use cento::{Key, MaxDf, Reason, Result};
use cento_api::CitedPart;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

const DOCUMENTS: u64 = 240;
const SHARDS: [usize; 4] = [1, 2, 7, 40];

/// Sends a message as JSON.
fn sent<T: Serialize + DeserializeOwned>(message: &T) -> T {
    serde_json::from_slice(&serde_json::to_vec(message).unwrap()).unwrap()
}

pub fn words(seed: u64, count: u64, of: u64) -> String {
    let word = |at: u64| format!("w{}", mix64(mix64(seed) ^ at) % of);
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// Returns a text with a common phrase, a rare phrase, and words of its own. Some texts are copies
/// or near-duplicates of earlier texts.
fn text(number: u64) -> String {
    match number % 12 {
        3 => text(number - 3),
        5 => format!("{} {}", text(number - 5), words(number, 3, 900)),
        7 => words(number, 4, 60),
        other => format!(
            "{} {} {} \"{}\" {}",
            words(9_000, 14, 60),
            words(number, 20 + number % 50, 900),
            words(8_000 + number % 20, 24, 300),
            words(7_000 + other, 16, 300),
            words(number + 500, 30, 40),
        ),
    }
}

/// An index, and the same documents spread over 1, 2, 7 and 40 shards.
struct World {
    config: Config,
    whole: Searcher,
    shards: Vec<Vec<Searcher>>,
}

fn index(config: &Config, is_own: impl Fn(u64) -> bool) -> Searcher {
    let index = Index::in_memory(config.clone()).unwrap();
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    for number in (0..DOCUMENTS).filter(|&number| is_own(number)) {
        let mut meta = json!({ "lang": if number % 3 == 0 { "de" } else { "en" }, "n": number });
        if number == 17 {
            meta["rare"] = 1.into();
        }
        let meta = meta.as_object().unwrap().clone();
        writer.add(Document::new(id(number), text(number)).with_meta(meta)).unwrap();
        if number % 100 == 99 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    // Deleted documents still use space, and some fingerprints are only in deleted documents.
    for number in (0..DOCUMENTS).filter(|&number| is_own(number) && is_removed(number)) {
        assert!(writer.remove(&id(number)).unwrap());
    }
    writer.finish().unwrap();
    Searcher::new(index.snapshot().unwrap())
}

fn id(number: u64) -> String {
    format!("doc{}", mix64(number) % 100_000)
}

fn is_removed(number: u64) -> bool {
    number % 9 == 4 || (60..75).contains(&number)
}

fn world(config: Config) -> World {
    let shard = |count: u64| {
        let shards = 0..count;
        let own = |shard| index(&config, |number| mix64(number ^ 77) % count == shard);
        shards.map(own).collect()
    };
    let shards = SHARDS.iter().map(|&count| shard(count as u64)).collect();
    World { whole: index(&config, |_| true), shards, config }
}

/// Indexes with stop-fingerprints, with a key, without texts, and with ranking by weight.
static WORLDS: LazyLock<Vec<World>> = LazyLock::new(|| {
    let winnow = |text| Config::new("winnow(k=3,w=4)", "words", text).unwrap();
    let key = Key::new(std::array::from_fn(|at| at as u8 + 1));
    vec![
        world(winnow(true).with_max_df(MaxDf::Documents(30))),
        world(Config::new("kgram(k=2)", "words", true).unwrap().with_key(&key).unwrap()),
        world(winnow(false)),
        world(winnow(true).with_preset(Some("rewritten".parse().unwrap()))),
    ]
});

/// Searches shards by the three calls alone.
fn search(shards: &[Searcher], query: &Query) -> Result<Answer> {
    Ok(search_in_steps(shards, query)?.0)
}

/// Searches shards by the three calls alone. Also returns the number of rounds of requests.
pub fn search_in_steps(shards: &[Searcher], query: &Query) -> Result<(Answer, usize)> {
    let ask = |query: &Query, with_sample: bool| -> Result<ShardFrequencies> {
        let each = shards.iter().map(|shard| Ok(sent(&shard.frequencies(query, with_sample)?)));
        add_up_frequencies(each.collect::<Result<_>>()?)
    };
    let mut frequencies = sent(&ask(query, true)?);
    let sample = frequencies.sample.take();
    let mut answers =
        ShardAnswers { frequencies, candidates: Vec::new(), hits: Vec::new(), weights: None };
    for step in 1..100 {
        match sent(&next_step(query, &answers)?) {
            ShardStep::Answer(answer) => return Ok((*answer, step)),
            ShardStep::Candidates(most) => {
                let of = |shard: &Searcher| shard.candidates(query, &answers.frequencies, most);
                let each = shards.iter().map(|shard| Ok(sent(&of(shard)?)));
                answers.candidates = each.collect::<Result<_>>()?;
            }
            ShardStep::Spans(winners) => {
                for (shard, winners) in shards.iter().zip(winners) {
                    let mut winners = ShardWinners {
                        commit: shard.commit().to_owned(),
                        documents: answers.frequencies.documents,
                        preset: answers.frequencies.preset,
                        sample_digest: sample.as_ref().map(|sample| sample.digest.clone()),
                        sample: None,
                        winners,
                    };
                    let mut spans = shard.spans(query, &winners)?;
                    if spans.needs_sample {
                        winners.sample = sample.clone();
                        spans = shard.spans(query, &sent(&winners))?;
                    }
                    assert!(!spans.needs_sample);
                    answers.hits.extend(sent(&spans).hits);
                }
            }
            ShardStep::Weights(signature) => {
                let config = shards[0].snapshot().config();
                let subject = cento::search::ForeignSignature::subject_of(signature, config)?;
                answers.weights = Some(ask(&Query::new(subject), false)?);
            }
        }
    }
    panic!("the search does not end");
}

/// Returns an answer, or an error, as text to compare.
pub fn shown(answer: Result<Answer>) -> String {
    match answer {
        Ok(answer) => serde_json::to_string(&Answer { took_us: 0, ..answer }).unwrap(),
        Err(error) => error.to_string(),
    }
}

fn check(world: &World, query: &Query) {
    let expected = shown(world.whole.search(query));
    for (count, shards) in SHARDS.iter().zip(&world.shards) {
        let found = shown(search(shards, query));
        assert_eq!(found, expected, "{count} shards, {:?} {:?}", query.options, query.thresholds);
    }
}

fn query_text(seed: u64) -> String {
    match seed % 4 {
        0 => text(seed % DOCUMENTS),
        1 => format!("{} {}", text(seed % DOCUMENTS), text((seed + 31) % DOCUMENTS)),
        2 => words(8_000 + seed % 20, 24, 300),
        _ => format!("{} {}", words(seed, 30, 200), text(seed % 12)),
    }
}

/// Chooses an element by the bits of a number.
pub fn one_of<T: Clone>(bits: &mut u64, of: &[T]) -> T {
    let place = *bits % of.len() as u64;
    *bits = mix64(*bits);
    of[place as usize].clone()
}

/// Returns a query with some of the options that shards support.
fn query(seed: u64, config: &Config) -> Query {
    let bits = &mut mix64(seed);
    let mut query = Query::text(query_text(seed));
    if one_of(bits, &[false, false, false, true]) {
        let Subject::Text(text) = &query.subject else { unreachable!() };
        let (tokens, fingerprints) = config.sign(text).unwrap();
        query = Query::new(Subject::Signature { tokens, fingerprints });
    }
    query = query.limit(one_of(bits, &[None, Some(0), Some(1), Some(3), Some(10), Some(1000)]));
    query = query.rank(one_of(bits, &[None, None, Some(Rank::Weight), Some(Rank::Passages)]));
    query = query.passages(one_of(bits, &[false, true]));
    query = query.min_passage(one_of(bits, &[None, None, None, Some(5), Some(14)]));
    query = query.min_containment(one_of(bits, &[None, None, Some(0.1), Some(0.45)]));
    query = query.min_resemblance(one_of(bits, &[None, None, None, Some(0.2), Some(0.6)]));
    query = query.min_weighted_containment(one_of(bits, &[None, None, None, Some(0.2)]));
    query = query.min_overlap(one_of(bits, &[None, None, Some(2), Some(9)]));
    query = query.max_df(one_of(
        bits,
        &[
            None,
            None,
            Some(MaxDf::Documents(3)),
            Some(MaxDf::Documents(26)),
            Some(MaxDf::Share(0.15)),
        ],
    ));
    query = query.counts_only(one_of(bits, &[false, false, true]));
    query = query.candidates(one_of(bits, &[None, None, Some(5), Some(40)]));
    query = query.max_expected(one_of(bits, &[None, None, Some(1e-6), Some(100.0)]));
    let filters =
        [None, None, None, Some("lang:de"), Some("NOT lang:de"), Some("rare:1 OR n:[* TO 90]")];
    if let Some(filter) = one_of(bits, &filters) {
        query = query.filter(filter);
    }
    query = query.exclude_id(one_of(bits, &[vec![], vec![], vec![id(seed % DOCUMENTS), id(12)]]));
    let has_texts = config.store_text && matches!(query.subject, Subject::Text(_));
    if has_texts && one_of(bits, &[false, false, false, true]) {
        query = query.verify("resemblance(k=3)").min_similarity(one_of(bits, &[None, Some(0.3)]));
    }
    if config.store_text && one_of(bits, &[false, false, false, false, true]) {
        query = query.without([CitedPart::Quotations]);
    }
    query
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn shards_answer_to_the_byte_as_one_index(seed in any::<u64>(), world in 0usize..4) {
        let world = &WORLDS[world];
        check(world, &query(seed, &world.config));
    }
}

#[test]
fn the_queries_of_the_test_above_meet_all_that_shards_must_add_up() {
    let mut seen = std::collections::BTreeMap::new();
    let mut see =
        |what: &'static str, is_seen: bool| *seen.entry(what).or_insert(0) += u32::from(is_seen);
    for seed in 0..200 {
        let world = &WORLDS[seed as usize % 4];
        let query = query(mix64(seed), &world.config);
        let answer = match world.whole.search(&query) {
            Ok(answer) => answer,
            Err(error) => panic!("{error} {query:?}"),
        };
        let hits = &answer.hits;
        let passages = || hits.iter().flat_map(|hit| hit.passages.iter().flatten());
        see("hits", !hits.is_empty());
        see("stopped", answer.query.stopped > 0);
        see("pruned", answer.total.is_none());
        see("more", answer.more);
        see("global", answer.query.global < 1.0);
        see("weighted", hits.iter().any(|hit| hit.weighted.is_some()));
        see("rated", passages().any(|passage| passage.expected.is_some()));
        see("passages", passages().next().is_some());
        see("exact", hits.iter().any(|hit| hit.similarity.exact));
        see("estimated", hits.iter().any(|hit| !hit.similarity.exact));
        see("verified", hits.iter().any(|hit| hit.verified.is_some()));
        see("of texts", query.thresholds.min_containment.is_some() && !hits.is_empty());
        see("by passages", hits.iter().any(|hit| hit.passage_tokens > Some(0)));
        see("defaults", answer.defaults.is_some());
        see("without", !query.options.without.is_empty() && !hits.is_empty());
        see("filter", query.options.filter.is_some() && !hits.is_empty());
    }
    println!("{seen:?}");
    assert!(seen.values().all(|&times| times >= 8), "{seen:?}");
}

/// Returns a text with some words replaced, so that few fingerprints of documents remain.
fn edited(text: &str) -> String {
    let words = text.split(' ').zip(0..);
    let is_edited = |at| mix64(text.len() as u64 ^ at).is_multiple_of(6);
    let edited = words.map(|(word, at)| if is_edited(at) { format!("v{at}") } else { word.into() });
    edited.collect::<Vec<_>>().join(" ")
}

#[test]
fn ties_of_all_shards_are_ordered_by_their_texts() {
    let world = &WORLDS[0];
    let (mut by_texts, mut by_counts) = (0, 0);
    for seed in 0..40 {
        let own = [97, 89, 83, 79, 73].map(|of| words(mix64(seed) % of, 10, 900));
        let query = Query::text(edited(&own.join(" "))).limit([1, 2, 10][seed as usize % 3]);
        check(world, &query);
        let ids = |query: &Query| -> Vec<String> {
            world.whole.search(query).unwrap().hits.into_iter().map(|hit| hit.id).collect()
        };
        let query = query.limit(10);
        let is_by_counts = ids(&query) == ids(&query.clone().counts_only(true));
        *(if is_by_counts { &mut by_counts } else { &mut by_texts }) += 1;
    }
    assert!(by_texts >= 5 && by_counts >= 5, "{by_texts} {by_counts}");
}

#[test]
fn a_shard_with_another_commit_refuses_to_continue() {
    let config = Config::new("kgram(k=2)", "words", true).unwrap();
    let index = Index::in_memory(config).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add(Document::new("a", text(0))).unwrap();
    writer.commit().unwrap();
    let before = Searcher::new(index.snapshot().unwrap());
    let query = Query::text(text(0)).passages(true);
    let frequencies = before.frequencies(&query, true).unwrap();
    let found = before.candidates(&query, &frequencies, 10).unwrap();
    writer.add(Document::new("b", text(1))).unwrap();
    writer.finish().unwrap();
    let after = Searcher::new(index.snapshot().unwrap());
    let error = after.candidates(&query, &frequencies, 10).unwrap_err();
    assert_eq!(error.reason().code(), "conflict");
    let winners = ShardWinners {
        commit: before.commit().to_owned(),
        documents: 1,
        preset: None,
        sample_digest: frequencies.sample.as_ref().map(|sample| sample.digest.clone()),
        sample: frequencies.sample.clone(),
        winners: found.candidates.clone(),
    };
    assert_eq!(after.spans(&query, &winners).unwrap_err().reason().code(), "conflict");
    assert_eq!(before.spans(&query, &winners).unwrap().hits.len(), 1);
    // Answers of a shard in two states must not be combined.
    let later = after.frequencies(&query, false).unwrap();
    let answers =
        ShardAnswers { frequencies: later, candidates: vec![found], hits: vec![], weights: None };
    assert_eq!(next_step(&query, &answers).unwrap_err().reason().code(), "conflict");
}

#[test]
fn what_shards_cannot_add_up_is_refused_by_name() {
    let searcher = &WORLDS[0].whole;
    let refused = |query: Query| {
        let error = searcher.frequencies(&query, false).unwrap_err();
        match error.reason() {
            Reason::InvalidArgument { argument } => argument.map(str::to_owned),
            reason => panic!("{reason:?}"),
        }
    };
    let plain = || Query::text("some text");
    assert_eq!(refused(Query::id(id(1))).unwrap(), "id");
    assert_eq!(refused(plain().goal(Goal::Passage)).unwrap(), "goal");
    assert_eq!(refused(plain().budget(9u64)).unwrap(), "budget");
    assert_eq!(refused(plain().goal(Goal::Trace).budget(9u64)).unwrap(), "budget");
    let weighed = plain().min_weighted_resemblance(0.5);
    assert_eq!(refused(weighed).unwrap(), "min_weighted_resemblance");
    let unknown = plain().filter("nowhere:1");
    for shards in &WORLDS[0].shards {
        let error = search(shards, &unknown).unwrap_err().to_string();
        assert!(error.contains("`meta.nowhere`"), "{error}");
    }
}

#[test]
fn frequencies_of_different_shards_or_queries_are_not_added_up() {
    let of = |world: usize, shard: usize, text: &str| {
        WORLDS[world].shards[1][shard].frequencies(&Query::text(text), false).unwrap()
    };
    let refused = |all: Vec<ShardFrequencies>, what: &str| {
        let error = add_up_frequencies(all).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    let text = &text(0);
    refused(Vec::new(), "no shard");
    refused(vec![of(0, 0, text), of(1, 1, text)], "differ in scheme");
    refused(vec![of(0, 0, text), of(0, 1, "another text of some words")], "different queries");
    refused(vec![of(0, 0, text), of(0, 0, text)], "the same commit");
    refused(vec![of(0, 0, text), of(3, 1, text)], "different limits");
    let sum = add_up_frequencies(vec![of(0, 1, text), of(0, 0, text)]).unwrap();
    let other = Query::text("another text of some words");
    let error = WORLDS[0].shards[1][0].candidates(&other, &sum, 10).unwrap_err();
    assert!(error.to_string().contains("not those of this query"), "{error}");
}

#[test]
fn an_id_in_two_shards_is_refused() {
    let config = Config::new("kgram(k=2)", "words", true).unwrap();
    let shards: Vec<Searcher> = (0..2)
        .map(|number| {
            let index = Index::in_memory(config.clone()).unwrap();
            let mut writer = index.writer(WriterOptions::default()).unwrap();
            writer.add(Document::new("twice", format!("{} {number}", text(0)))).unwrap();
            writer.finish().unwrap();
            Searcher::new(index.snapshot().unwrap())
        })
        .collect();
    let error = search(&shards, &Query::text(text(0))).unwrap_err().to_string();
    assert!(error.contains("`twice`"), "{error}");
}
