//! An index without stored signatures answers like one with signatures.

use std::fmt::Debug;
use std::sync::Arc;

use cento::hash::{Digest, mix64};
use cento::index::{
    Config, Document, Index, MaxDf, SignedDocument, Snapshot, Training, Writer, WriterOptions,
};
use cento::search::{Goal, Query, Rank, Searcher, Subject};
use cento::tantivy::directory::RamDirectory;
use cento::{AddIndexesOptions, Analyzer, BoilerplateShare, Error, Stop};
use cento_collections::Thresholds;
use cento_collections::cluster::{ClusterOptions, Prefer, clusters};
use cento_collections::dedup::DedupOptions;
use cento_collections::pairs::{PairOptions, pairs};
use cento_collections::reuse::{ReuseOptions, reuse_statistics};
use proptest::prelude::*;
use serde_json::json;

use crate::common::{stream, words};

const SCHEMES: [(&str, &str); 4] = [
    ("winnow(k=3,w=4)", "words"),
    ("kgram(k=2)", "words"),
    ("minhash(k=3,b=8,r=4)", "words"),
    // Passages use other tokens than signatures.
    ("reuse", "words"),
];

/// Texts with frequent common passages, repeated words, or no words.
fn documents() -> Vec<Document> {
    let text = |i: u64| match i % 10 {
        9 => words(i, i as usize % 3),
        8 => format!("{0} {0}", words(i / 20, 30)),
        _ => format!("{} {} {}", words(i % 6, 40), words(1000 + i, 30), words(77, 12)),
    };
    (0..60).map(|i| Document::new(format!("d{i:02}"), text(i))).collect()
}

fn add_all(writer: &mut Writer, documents: impl IntoIterator<Item = Document>) {
    for document in documents {
        writer.add(document).unwrap();
    }
}

/// An index of these documents, in a single segment.
fn of(config: Config, documents: impl IntoIterator<Item = Document>) -> Index {
    let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    add_all(&mut writer, documents);
    writer.finish().unwrap();
    index
}

/// An index of the whole collection with removed documents.
fn filled(config: Config) -> Index {
    let index = of(config, documents());
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    for number in (0..60).step_by(7) {
        writer.remove(&format!("d{number:02}")).unwrap();
    }
    writer.finish().unwrap();
    index
}

/// The configuration with and without signatures.
fn both((scheme, analyzer): (&str, &str)) -> [Config; 2] {
    let config = || Config::new(scheme, analyzer, true).unwrap();
    [config(), config().without_signatures().unwrap()]
}

/// The answers of an index to operations that read a signature.
fn answers(index: &Index) -> Vec<String> {
    let snapshot = index.snapshot().unwrap();
    let searcher = Searcher::new(snapshot.clone());
    let mut said = Vec::new();
    let mut say = |what: &str, answer: &dyn Debug| said.push(format!("{what}: {answer:?}"));
    let estimates = searcher.estimator().is_some();
    let subjects = documents().into_iter().step_by(4).flat_map(|document| {
        let (tokens, fingerprints) = index.config().sign(&document.text).unwrap();
        let stored = snapshot.find(&document.id).unwrap().is_some();
        let by_id = stored.then_some(Subject::Id(document.id));
        by_id
            .into_iter()
            .chain([Subject::Text(document.text), Subject::Signature { tokens, fingerprints }])
    });
    for subject in subjects {
        let query = Query::new(subject).counts_only(!estimates).max_df(MaxDf::Documents(12));
        for query in [
            query.clone().passages(true),
            query.clone().goal(Goal::Trace),
            query.clone().rank(Rank::Weight),
            query.clone().budget(60),
        ] {
            // A signature has no text to trace.
            let has_text = !matches!(query.subject, Subject::Signature { .. });
            if query.options.goal == Goal::Trace && !has_text {
                continue;
            }
            let answer = searcher.search(&query).unwrap();
            say("search", &json!({ "hits": answer.hits, "query": answer.query }));
        }
        if !matches!(query.subject, Subject::Signature { .. }) {
            let best = query.goal(Goal::Passage);
            // Some schemes cannot estimate the best hits.
            let answer = searcher.search(&best).map(|answer| json!(answer.hits));
            say("best", &answer.map_err(|e| e.to_string()));
        }
    }
    let thresholds = Thresholds::default().min_containment(0.2);
    let options = PairOptions::default().thresholds(thresholds).passages(true).weighted(true);
    let found: Vec<_> = pairs(&searcher, &options).map(Result::unwrap).collect();
    assert!(!found.is_empty());
    say("pairs", &found);
    let options = ClusterOptions::default().thresholds(thresholds).prefer(Prefer::Longest);
    say("clusters", &clusters(&searcher, &options).map(Result::unwrap).collect::<Vec<_>>());
    let options = ReuseOptions::default().limit(20usize);
    say("reuse", &reuse_statistics(&searcher, options, 2, Stop::NEVER, &mut |_, _| {}).unwrap());
    say("distribution", &snapshot.df_distribution().unwrap());
    let share = BoilerplateShare::new(0.1).unwrap();
    say(
        "repeated",
        &snapshot.repeated_passages(share, 2, Stop::NEVER).map(|found| found.passages).ok(),
    );
    for address in snapshot.live() {
        say("keys", &searcher.keys_of(address, Stop::NEVER).unwrap());
    }
    said
}

/// Asserts that two indexes give the same answers to operations that read a signature.
#[track_caller]
fn assert_same(found: &Index, expected: &Index) {
    let [found, expected] = [found, expected].map(answers);
    let differs = found.iter().zip(&expected).find(|(found, expected)| found != expected);
    let start = |answer: &str| answer.chars().take(400).collect::<String>();
    assert_eq!(differs.map(|(found, expected)| (start(found), start(expected))), None);
    assert_eq!(found.len(), expected.len());
}

#[test]
fn an_index_without_signatures_answers_as_one_with_them() {
    for scheme in SCHEMES {
        let [with, without] = both(scheme).map(filled);
        assert_same(&without, &with);
        assert_eq!(without.check().unwrap().problems, [], "{scheme:?}");
        for index in [&with, &without] {
            index.compact(1).unwrap();
            assert_eq!(index.snapshot().unwrap().stats().unwrap().deleted, 0);
        }
        if scheme == SCHEMES[0] {
            assert_same(&without, &with);
        }
        assert_eq!(without.check().unwrap().problems, [], "compacted, {scheme:?}");
        let [with, without] =
            [with, without].map(|index| index.snapshot().unwrap().stats().unwrap());
        assert_eq!((without.terms, without.postings), (with.terms, with.postings));
        assert_eq!((without.fingerprints, with.fingerprints > 0), (0, true));
        assert!(without.bytes.signatures < with.bytes.signatures);
    }
}

#[test]
fn a_union_without_signatures_answers_as_one_with_them() {
    let [with, without] = both(SCHEMES[0]).map(|config| {
        let part = |parity: usize| {
            let config = config.with_text(true).unwrap();
            let part = of(config, documents().into_iter().skip(parity).step_by(2));
            (format!("part {parity}"), part.snapshot().unwrap())
        };
        Searcher::new(Snapshot::union((0..2).map(part).collect()).unwrap())
    });
    assert!(!without.snapshot().config().store_signatures);
    for document in documents() {
        let query = Query::text(document.text).passages(true);
        let [with, without] = [&with, &without].map(|searcher| searcher.search(&query).unwrap());
        assert_eq!(json!(without.hits), json!(with.hits));
    }
}

#[test]
fn a_stream_is_deduplicated_with_stored_signatures_and_without() {
    let options = DedupOptions::default().min_resemblance(0.3).min_containment(0.5);
    // The first half has been committed when the second half is decided on.
    let [with, without] = both(SCHEMES[0]).map(|config| {
        let index = of(config, documents().into_iter().step_by(2));
        let documents: Vec<Document> = documents().into_iter().skip(1).step_by(2).collect();
        stream::verdicts(&index, &options, &documents)
    });
    assert_eq!(without, with);
    let kept = with.iter().filter(|(_, verdict)| verdict.is_kept()).count();
    assert!((1..with.len()).contains(&kept), "{kept}");
}

#[test]
fn an_index_stores_texts_or_signatures() {
    let config = Config::new("winnow(k=3,w=4)", "words", false).unwrap();
    let error = config.without_signatures().unwrap_err().to_string();
    assert!(error.contains("an index stores texts or signatures"), "{error}");
    let [_, without] = both(SCHEMES[0]);
    assert!(!without.with_text(true).unwrap().store_signatures);
    assert!(without.with_text(false).unwrap().store_signatures);
    // Once an index without texts and signatures could be created, found nothing by id, and could
    // not be opened again.
    let neither = Config { store_text: false, ..without };
    let error = Index::in_memory(neither).unwrap_err().to_string();
    assert!(error.contains("an index stores texts or signatures"), "{error}");
}

#[test]
fn signing_a_stored_text_again_stops() {
    // Joins and weighted searches once signed whole texts without checking for a stop.
    let [_, config] = both(SCHEMES[0]);
    let index = of(config, [Document::new("only", words(1, 50))]);
    let searcher = Searcher::new(index.snapshot().unwrap());
    let address = searcher.snapshot().find("only").unwrap().unwrap();
    let stop = Stop::new();
    stop.set();
    let error = searcher.keys_of(address, &stop).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert!(!searcher.keys_of(address, Stop::NEVER).unwrap().is_empty());
}

#[test]
fn the_choice_is_kept_and_indexes_that_made_another_are_not_merged() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    for (name, config) in ["with", "without"].into_iter().zip(both(SCHEMES[0])) {
        let index = Index::create(path(name), config).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        writer.add(Document::new(name, words(1, 30))).unwrap();
        writer.finish().unwrap();
        assert_eq!(Index::open(path(name)).unwrap().config().store_signatures, name == "with");
    }
    let merge = |into: &str, shards: &[&str]| {
        let shards: Vec<_> = shards.iter().map(|name| path(name)).collect();
        Index::add_indexes(path(into), &shards, AddIndexesOptions::default())
    };
    merge("all", &["without"]).unwrap();
    let all = Index::open(path("all")).unwrap();
    assert!(!all.config().store_signatures);
    assert_eq!(all.check().unwrap().problems, []);
    for (into, shards) in [("all", vec!["with"]), ("new", vec!["with", "without"])] {
        let error = merge(into, &shards).unwrap_err().to_string();
        assert!(error.contains("signatures, but"), "{error}");
    }
    let snapshot =
        |name: &str| (name.to_owned(), Index::open(path(name)).unwrap().snapshot().unwrap());
    let error = Snapshot::union(vec![snapshot("with"), snapshot("without")]).unwrap_err();
    assert!(error.to_string().contains("it does not store signatures"), "{error}");
}

#[test]
fn a_retrained_index_keeps_the_choice() {
    let dir = tempfile::tempdir().unwrap();
    let training = Training { analyzer: Analyzer::default(), q: 2, spex: false };
    let mut texts = |each: &mut dyn FnMut(&str) -> cento::Result<()>| {
        documents().iter().try_for_each(|document| each(&document.text))
    };
    let table = Arc::new(training.write(&mut texts, &dir.path().join("table")).unwrap());
    let config = Config::with_frequencies("fbw(q=2,w=6)", "words", true, Some(table)).unwrap();
    let path = dir.path().join("index");
    let index = Index::create(&path, config.without_signatures().unwrap()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    add_all(&mut writer, documents());
    writer.finish().unwrap();
    let retrained = index.retrain().unwrap();
    assert!(!retrained.config().store_signatures);
    assert_eq!(retrained.check().unwrap().problems, []);
}

#[test]
fn fingerprints_that_no_text_has_are_noticed() {
    let [_, config] = both(SCHEMES[0]);
    let index = Index::in_memory(config).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let (tokens, signature) = index.config().sign(&words(1, 50)).unwrap();
    let (_, other) = index.config().sign(&words(2, 50)).unwrap();
    let of = |id: &str, tokens, signature| {
        let text = words(1, 50);
        let digest = Digest::of(text.as_bytes());
        SignedDocument::of(Document::new(id, text), digest, tokens, signature)
    };
    writer.add_signed(of("own", tokens, signature.clone())).unwrap();
    writer.add_signed(of("of another", tokens, other)).unwrap();
    writer.add_signed(of("too many tokens", tokens + 1, signature.clone())).unwrap();
    writer.add_signed(of("too few", tokens, signature[1..].to_vec())).unwrap();
    writer.finish().unwrap();
    let problems = index.check().unwrap().problems;
    let places: Vec<&str> = problems.iter().map(|problem| problem.what.as_str()).collect();
    let other = "the posting lists contain other fingerprints of it than its text has";
    let expected = [
        format!("document 1: {other}"),
        format!("document 2: its row records {} tokens, but its text has {tokens}", tokens + 1),
        format!("document 3: {other}"),
    ];
    assert_eq!(places, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn signatures_are_those_of_the_text(seeds in prop::collection::vec(any::<u64>(), 1..20)) {
        for (scheme, analyzer) in SCHEMES {
            let [with, without] = both((scheme, analyzer)).map(|config| {
                let text = |seed: u64| words(seed, mix64(seed) as usize % 60);
                let documents = seeds.iter().enumerate();
                let index = of(config, documents.map(|(i, seed)| Document::new(i.to_string(), text(*seed))));
                index.snapshot().unwrap()
            });
            for address in with.live() {
                let [with, without] =
                    [&with, &without].map(|index| index.signature(address, Stop::NEVER).unwrap());
                prop_assert_eq!(without, with);
            }
        }
    }
}
