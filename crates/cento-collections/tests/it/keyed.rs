//! Indexes whose fingerprints depend on a secret.

use std::collections::HashSet;

use cento::search::{ForeignSignature, Query};
use cento::{
    AddIndexesOptions, Config, Digest, Document, Index, Key, Reason, Searcher, Snapshot, Stop,
    Tokens, WriterOptions,
};
use cento_api::PartText;
use cento_api::http::WatchRequest;
use cento_collections::Thresholds;
use cento_collections::pairs::{PairOptions, pairs};
use cento_collections::watch::Watches;
use cento_collections::withdraw::{Plan, WithdrawOptions};
use proptest::prelude::*;

use crate::common::words;

fn key(seed: u8) -> Key {
    Key::new(std::array::from_fn(|at| seed.wrapping_mul(37).wrapping_add(at as u8)))
}

fn config(seed: u8, store_text: bool) -> Config {
    let config = Config::new("winnow(k=5,w=10)", "words", store_text).unwrap();
    config.with_key(&key(seed)).unwrap()
}

fn fill(index: &Index, texts: &[(&str, String)]) {
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for (id, text) in texts {
        writer.add(Document::new(*id, text.as_str())).unwrap();
    }
    writer.finish().unwrap();
}

/// All fingerprints and digests of an index.
fn everything(snapshot: &Snapshot) -> (HashSet<u64>, HashSet<[u8; 16]>) {
    let (mut keys, mut digests) = (HashSet::new(), HashSet::new());
    for address in snapshot.live() {
        let signature = snapshot.signature(address, Stop::NEVER).unwrap();
        keys.extend(signature.iter().map(|fingerprint| fingerprint.key));
        let digest = snapshot.segment(address).signatures.digest(address.doc).unwrap();
        digests.insert(digest.to_le_bytes());
    }
    (keys, digests)
}

#[test]
fn two_parties_with_one_key_compare_without_texts() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (dir.path().join("ours"), dir.path().join("theirs"));
    let shared = words(1, 80);
    fill(
        &Index::create(&ours, config(1, false)).unwrap(),
        &[("a", format!("{} {shared}", words(2, 60))), ("b", words(3, 90))],
    );
    fill(
        &Index::create(&theirs, config(1, false)).unwrap(),
        &[("c", format!("{shared} {}", words(4, 60))), ("d", words(5, 90))],
    );
    // Neither handle has the key, like a third party.
    let [ours, theirs] = [&ours, &theirs].map(|path| Index::open(path).unwrap());
    let searcher = |index: &Index| Searcher::new(index.snapshot().unwrap());
    let thresholds = Thresholds::default().min_containment(0.3);
    let options = PairOptions::default().thresholds(thresholds);
    let found = pairs(&searcher(&ours), &options).against(&searcher(&theirs));
    let found: Vec<_> = found.map(Result::unwrap).collect();
    assert_eq!(found.len(), 1);
    let pair = found[0].clone().report(searcher(&ours).snapshot(), searcher(&theirs).snapshot());
    let pair = pair.unwrap();
    assert_eq!((pair.a.as_str(), pair.b.as_str()), ("a", "c"));
    // If only one side has the text, a signature is enough.
    let signature =
        ForeignSignature::new(&config(1, false), &words(3, 90), &mut Tokens::default()).unwrap();
    let body = signature.body(&config(1, false));
    assert_eq!(body.key, Some(key(1).check_value().to_string()));
    let query = Query::new(ForeignSignature::subject_of(body, ours.config()).unwrap());
    assert_eq!(searcher(&ours).search(&query).unwrap().hits[0].id, "b");
}

#[test]
fn nothing_of_a_text_is_found_with_another_key() {
    let texts: Vec<(String, String)> =
        (0..40).map(|at| (format!("d{at}"), words(at, 400))).collect();
    let texts: Vec<(&str, String)> =
        texts.iter().map(|(id, text)| (id.as_str(), text.clone())).collect();
    let of = |config: Config| {
        let index = Index::in_memory(config).unwrap();
        fill(&index, &texts);
        everything(&index.snapshot().unwrap())
    };
    let plain = Config::new("winnow(k=5,w=10)", "words", false).unwrap();
    let all = [of(config(1, false)), of(config(2, false)), of(plain)];
    assert!(all.iter().all(|(keys, digests)| keys.len() > 2_000 && digests.len() == 40));
    for (at, (keys, digests)) in all.iter().enumerate() {
        for (other_keys, other_digests) in &all[..at] {
            // Of 3,000 keys of 40 bits on either side, 8e-6 are equal by chance.
            assert_eq!(keys.intersection(other_keys).count(), 0);
            assert_eq!(digests.intersection(other_digests).count(), 0);
        }
    }
    let known = Digest::of(texts[0].1.as_bytes()).to_le_bytes();
    assert_eq!(all.map(|(_, digests)| digests.contains(&known)), [false, false, true]);
    assert_eq!(of(config(1, false)), of(config(1, false)));
}

#[test]
fn another_key_is_refused_by_name_and_so_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("idx");
    fill(&Index::create(&path, config(1, true)).unwrap(), &[("a", words(1, 50))]);
    let index = Index::open(&path).unwrap();
    let values = [key(1), key(2)].map(|key| key.check_value().to_string());
    let text = Query::text(words(1, 50));
    let searcher = Searcher::new(index.snapshot().unwrap());
    let snapshot = searcher.snapshot();
    let address = snapshot.find("a").unwrap().unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for error in [
        searcher.search(&text).unwrap_err(),
        snapshot.document(address).unwrap_err(),
        writer.add(Document::new("b", "some text")).unwrap_err(),
        index.config().sign("some text").unwrap_err(),
    ] {
        assert_eq!(error.reason(), Reason::NeedsKey, "{error}");
        assert!(error.to_string().contains(&values[0]), "{error}");
    }
    drop(writer);
    let error = index.unlock(&key(2)).unwrap_err();
    assert_eq!(error.reason(), Reason::OtherKey);
    assert!(values.iter().all(|value| error.to_string().contains(value)), "{error}");
    assert!(error.to_string().contains("idx"), "{error}");
    // A search for a stored document compares signatures, so it needs no key.
    assert_eq!(searcher.search(&Query::id("a")).unwrap().hits.len(), 0);
    index.unlock(&key(1)).unwrap();
    assert_eq!(searcher.search(&text).unwrap().hits.len(), 1);
    assert_eq!(snapshot.document(address).unwrap().text, Some(words(1, 50)));
    assert!(index.check().unwrap().problems.is_empty());
    // An index without a key does not accept a key.
    let plain = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", false).unwrap()).unwrap();
    assert_eq!(plain.unlock(&key(1)).unwrap_err().reason(), Reason::OtherKey);
    let signature =
        ForeignSignature::new(&config(2, false), "some text", &mut Tokens::default()).unwrap();
    for index in [&index, &plain] {
        let error = signature.clone().subject(index.config(), "it").unwrap_err().to_string();
        assert!(error.contains(&values[1]), "{error}");
    }
}

#[test]
fn indexes_of_different_keys_are_neither_merged_nor_compared() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    for (name, config) in [
        ("one", config(1, false)),
        ("same", config(1, false)),
        ("other", config(2, false)),
        ("plain", Config::new("winnow(k=5,w=10)", "words", false).unwrap()),
    ] {
        fill(&Index::create(path(name), config).unwrap(), &[(name, words(1, 50))]);
    }
    let merge = |other: &str| {
        let options = AddIndexesOptions::default();
        Index::add_indexes(path("one"), &[path(other)], options).map_err(|error| error.to_string())
    };
    for other in ["other", "plain"] {
        let error = merge(other).unwrap_err();
        assert!(error.contains(&key(1).check_value().to_string()), "{error}");
        let named = ["one", other]
            .map(|name| (name.to_owned(), Index::open(path(name)).unwrap().snapshot().unwrap()));
        assert_eq!(Snapshot::union(named.to_vec()).unwrap_err().reason(), Reason::OtherScheme);
    }
    merge("same").unwrap();
    assert_eq!(Index::open(path("one")).unwrap().snapshot().unwrap().documents(), 2);
}

#[test]
fn what_is_made_of_a_text_has_its_keyed_digest() {
    // The name of a watch was once made of the digest of its text without the key.
    let dir = tempfile::tempdir().unwrap();
    let plain = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
    let configs = [config(1, true), config(1, true), config(2, true), plain];
    let made = configs.iter().enumerate().map(|(at, config)| {
        let index = Index::create(dir.path().join(at.to_string()), config.clone()).unwrap();
        let quoting = format!("{} {}", words(1, 40), words(2, 60));
        fill(&index, &[("own", words(1, 80)), ("copy", words(1, 80)), ("quoting", quoting)]);
        let request = WatchRequest { text: Some(words(3, 50)), ..WatchRequest::default() };
        let mut watches = Watches::begin(&index).unwrap();
        let watch = watches.add(request.clone()).unwrap();
        assert_eq!(watches.add(request).unwrap(), watch, "an equal one changes nothing");
        let part = PartText { name: "part".into(), text: words(3, 50) };
        let request = WatchRequest { parts: Some(vec![part]), ..WatchRequest::default() };
        let of_parts = watches.add(request).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        let stop = Stop::default();
        let plan =
            Plan::new(writer.committed().unwrap(), "own", &WithdrawOptions::default(), &stop);
        let record = plan.unwrap().apply(&mut writer, &stop).unwrap();
        let of_removed = record.removed.iter().map(|removed| removed.digest.clone());
        let of_quoting = record.quoting.iter().map(|quoting| quoting.digest.clone());
        let fingerprints: Vec<String> =
            record.signature.fingerprints.iter().map(|(key, _)| key.clone()).collect();
        let mut all: Vec<String> =
            of_removed.chain(of_quoting).chain([watch.name, of_parts.name]).collect();
        all.push(record.digest);
        (all, fingerprints)
    });
    let made: Vec<_> = made.collect();
    assert_eq!(made[0], made[1], "two parties with one key have the same");
    assert!(made[0].0.len() >= 6 && made[0].1.len() > 5, "{made:?}");
    for (one, other) in [(0, 2), (0, 3), (2, 3)] {
        assert!(made[one].0.iter().all(|text| !made[other].0.contains(text)), "{made:?}");
        assert!(made[one].1.iter().all(|each| !made[other].1.contains(each)), "{made:?}");
    }
}

/// Parts of small texts.
const PARTS: [&str; 4] = ["a b c d e f", "g h i", "j", "k l"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_keyed_index_answers_as_one_without_a_key(
        texts in prop::collection::vec(
            prop::collection::vec(prop::sample::select(PARTS.to_vec()), 1..9),
            1..9,
        ),
        query in prop::collection::vec(prop::sample::select(PARTS[..3].to_vec()), 1..9),
        scheme in prop::sample::select(vec!["kgram(k=3)", "pairs(n=9)"]),
    ) {
        // These schemes keep all runs, so the key does not change which runs are kept.
        let answers = [None, Some(key(1))].map(|key| {
            let config = Config::new(scheme, "words", true).unwrap();
            let config = match &key {
                Some(key) => config.with_key(key).unwrap(),
                None => config,
            };
            let index = Index::in_memory(config).unwrap();
            let ids: Vec<String> = (0..texts.len()).map(|id| id.to_string()).collect();
            let texts: Vec<(&str, String)> =
                ids.iter().zip(&texts).map(|(id, text)| (id.as_str(), text.join(" "))).collect();
            fill(&index, &texts);
            let query = Query::text(query.join(" ")).limit(99).passages(true);
            let answer = Searcher::new(index.snapshot().unwrap()).search(&query).unwrap();
            answer.hits
        });
        prop_assert_eq!(&answers[0], &answers[1]);
    }
}
