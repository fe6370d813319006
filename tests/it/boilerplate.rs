//! Compares proposed boilerplate with its definition.

use std::collections::{BTreeMap, BTreeSet};

use cento::{
    Boilerplate, BoilerplateShare, CitedPart, Config, Document, Index, Query, RepeatedPassages,
    Searcher, SimilarTo, Snapshot, Stop, WriterOptions,
};
use proptest::prelude::*;

/// The tokens of a run.
const K: usize = 3;

fn snapshot_of(texts: &[String], scheme: &str, documents_a_commit: usize) -> Snapshot {
    let index = Index::in_memory(Config::new(scheme, "words", true).unwrap()).unwrap();
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    let documents: Vec<_> = texts.iter().enumerate().collect();
    for some in documents.chunks(documents_a_commit) {
        for (id, text) in some {
            writer.add(Document::new(format!("{id:03}"), (*text).clone())).unwrap();
        }
        writer.commit().unwrap();
    }
    index.snapshot().unwrap()
}

fn found_in(snapshot: &Snapshot, share: f64) -> RepeatedPassages {
    let share = BoilerplateShare::new(share).unwrap();
    snapshot.repeated_passages(share, 2, Stop::NEVER).unwrap()
}

fn runs_of(text: &str) -> Vec<Vec<String>> {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    match words.len() {
        0 => Vec::new(),
        len => words.windows(K.min(len)).map(<[String]>::to_vec).collect(),
    }
}

/// The runs in enough different texts, with their numbers of documents.
fn common_runs(texts: &[String], share: f64) -> (usize, BTreeMap<Vec<String>, u64>) {
    let different: BTreeSet<Vec<&str>> = texts
        .iter()
        .map(|text| text.split_whitespace().collect::<Vec<_>>())
        .filter(|words| !words.is_empty())
        .collect();
    let mut counts = BTreeMap::new();
    for words in &different {
        let runs: BTreeSet<_> = runs_of(&words.join(" ")).into_iter().collect();
        runs.into_iter().for_each(|run| *counts.entry(run).or_insert(0u64) += 1);
    }
    let least = (share * different.len() as f64 - 1e-9).ceil().max(5.0) as u64;
    counts.retain(|_, count| *count >= least);
    (different.len(), counts)
}

/// Returns the length of the longest stretch of common runs with this run.
fn longest(run: &[String], texts: &[String], common: &BTreeMap<Vec<String>, u64>) -> usize {
    let stretches = texts.iter().flat_map(|text| {
        let runs = runs_of(text);
        let parts = runs.chunk_by(|a, b| common.contains_key(a) == common.contains_key(b));
        parts.map(<[_]>::to_vec).collect::<Vec<_>>()
    });
    stretches.filter(|part| part.iter().any(|one| one == run)).map(|part| part.len()).max().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn repeated_passages_are_the_runs_of_enough_documents(
        texts in prop::collection::vec(
            prop::collection::vec(prop::sample::select(vec!["a b c d", "b c", "e", "f g"]), 0..7),
            0..14,
        ),
        share in prop::sample::select(vec![0.01, 0.4, 0.5, 0.75, 1.0]),
        documents_a_commit in 1usize..9,
    ) {
        let texts: Vec<String> = texts.iter().map(|parts| parts.join(" ")).collect();
        let snapshot = snapshot_of(&texts, "kgram(k=3)", documents_a_commit);
        let found = found_in(&snapshot, share);
        let (different, common) = common_runs(&texts, share);
        prop_assert_eq!(found.of_documents, different as u64);
        let mut seen: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        for passage in &found.passages {
            let runs = runs_of(&passage.text);
            let counts = runs.iter().map(|run| common.get(run).copied());
            prop_assert_eq!(counts.min().unwrap(), Some(passage.documents));
            prop_assert_eq!(passage.tokens as usize, passage.text.split_whitespace().count());
            let distinct: BTreeSet<_> = runs.iter().cloned().collect();
            // The passage is a part of the longest stretch of each of its runs.
            let of_first = longest(&runs[0], &texts, &common);
            for run in distinct {
                prop_assert_eq!(longest(&run, &texts, &common), of_first);
                *seen.entry(run).or_default() += 1;
            }
            let text = &texts[passage.example.parse::<usize>().unwrap()];
            let (start, end) = passage.bytes;
            prop_assert_eq!(&text[start as usize..end as usize], &passage.text);
        }
        // Every common run is in a passage. If a document repeats a run, it may be in several
        // passages.
        prop_assert_eq!(seen.keys().collect::<Vec<_>>(), common.keys().collect::<Vec<_>>());
        // The order of storage does not matter.
        for (scheme, documents_a_commit) in [("kgram(k=3)", 99), ("winnow(k=3,w=4)", 3)] {
            let other = found_in(&snapshot_of(&texts, scheme, documents_a_commit), share);
            prop_assert_eq!(&found.passages, &other.passages);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_group_counts_once_and_so_does_a_text(
        documents in prop::collection::vec(
            (
                prop::collection::vec(
                    prop::sample::select(vec!["a b c d", "b c", "e", "f g"]),
                    0..6,
                ),
                prop::option::of(0u64..8),
            ),
            0..20,
        ),
        share in prop::sample::select(vec![0.01, 0.5, 0.75]),
        documents_a_commit in 1usize..9,
    ) {
        let texts: Vec<String> = documents.iter().map(|(parts, _)| parts.join(" ")).collect();
        let snapshot = snapshot_of(&texts, "kgram(k=3)", documents_a_commit);
        let number = |address| snapshot.id(address).unwrap().parse::<usize>().unwrap();
        let group_of = |address| documents[number(address)].1;
        let found = snapshot
            .repeated_passages_of_groups(
                BoilerplateShare::new(share).unwrap(), &group_of, 2, Stop::NEVER,
            )
            .unwrap();
        // By the definition: the groups and the texts that have a run, whichever are fewer.
        let group = |at: usize| documents[at].1.map_or((1, at as u64), |group| (0, group));
        let with_tokens = || (0..texts.len()).filter(|&at| !texts[at].is_empty());
        let count = |places: &[usize]| {
            let groups: BTreeSet<_> = places.iter().map(|&at| group(at)).collect();
            let texts: BTreeSet<_> = places.iter().map(|&at| &texts[at]).collect();
            groups.len().min(texts.len()) as u64
        };
        let of_documents = count(&with_tokens().collect::<Vec<_>>());
        let mut places: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        for at in with_tokens() {
            let runs: BTreeSet<_> = runs_of(&texts[at]).into_iter().collect();
            runs.into_iter().for_each(|run| places.entry(run).or_default().push(at));
        }
        let least = (share * of_documents as f64 - 1e-9).ceil().max(5.0) as u64;
        let counts = places.into_iter().map(|(run, places)| (run, count(&places)));
        let common: BTreeMap<_, _> = counts.filter(|(_, count)| *count >= least).collect();
        prop_assert_eq!((found.of_documents, found.is_by_group), (of_documents, true));
        let mut seen = BTreeSet::new();
        for passage in &found.passages {
            let runs = runs_of(&passage.text);
            let least = runs.iter().map(|run| common.get(run).copied()).min().unwrap();
            prop_assert_eq!(least, Some(passage.documents));
            seen.extend(runs);
        }
        prop_assert_eq!(seen, common.into_keys().collect::<BTreeSet<_>>());
    }
}

#[test]
fn what_an_author_has_in_many_tries_is_no_boilerplate() {
    // Sixteen authors share the assignment. One author hands in twelve attempts with a text of his
    // own.
    let (sheet, own) = (words(90, 40), words(91, 40));
    let texts = essays(28, |at| match at < 12 {
        true => format!("{sheet} {own} {}", words(at, 20)),
        false => format!("{sheet} {}", words(at, 60)),
    });
    let snapshot = snapshot_of(&texts, "kgram(k=3)", 5);
    let share = BoilerplateShare::new(0.4).unwrap();
    let group_of = |address| (&*snapshot.id(address).unwrap() < "012").then_some(7);
    let groups = snapshot.repeated_passages_of_groups(share, &group_of, 2, Stop::NEVER).unwrap();
    let passages = |found: &RepeatedPassages| -> Vec<(u32, u64)> {
        found.passages.iter().map(|passage| (passage.tokens, passage.documents)).collect()
    };
    assert_eq!((passages(&groups), groups.of_documents), (vec![(40, 17)], 17));
    assert_eq!(passages(&found_in(&snapshot, 0.4)), [(80, 12)]);
}

fn essays(count: usize, own: impl Fn(usize) -> String) -> Vec<String> {
    (0..count).map(own).collect()
}

fn words(seed: usize, count: usize) -> String {
    (0..count).map(|at| format!("w{seed}x{at} ")).collect()
}

#[test]
fn a_group_of_copiers_is_not_boilerplate() {
    let copied = words(99, 50);
    let text = |copiers: usize| {
        let copied = copied.clone();
        move |at: usize| match at < copiers {
            true => format!("{copied} {}", words(at, 20)),
            false => words(at, 70),
        }
    };
    let proposed = |of: usize, copiers: usize| {
        found_in(&snapshot_of(&essays(of, text(copiers)), "kgram(k=3)", 99), 0.75).passages.len()
    };
    // In a class of three or four, a majority is too few people to be evidence.
    assert_eq!([proposed(3, 2), proposed(3, 3), proposed(4, 3), proposed(4, 4)], [0; 4]);
    assert_eq!([proposed(16, 5), proposed(16, 11)], [0; 2]);
    assert_eq!([proposed(16, 12), proposed(16, 16), proposed(5, 5)], [1; 3]);
}

#[test]
fn exact_copies_count_as_one_document() {
    let copied = words(99, 50);
    let texts = essays(16, |at| if at < 13 { copied.clone() } else { words(at, 50) });
    let found = found_in(&snapshot_of(&texts, "kgram(k=3)", 99), 0.75);
    assert_eq!((found.of_documents, found.passages.len()), (4, 0));
}

#[test]
fn the_assignment_is_boilerplate_whatever_is_around_it() {
    let (sheet, stolen) = (words(90, 40), words(91, 40));
    let texts = essays(16, |at| {
        let own = words(at, 60);
        let stolen = if at < 2 { stolen.as_str() } else { "" };
        format!("{} {sheet} {stolen} {own}", words(100 + at, at))
    });
    for scheme in ["kgram(k=3)", "winnow(k=5,w=10)", "pairs(n=100)", "breaking(p=6)"] {
        let snapshot = snapshot_of(&texts, scheme, 5);
        let found = found_in(&snapshot, 0.75);
        assert_eq!(found.passages.len(), 1, "{scheme}");
        assert_eq!(found.passages[0].text, sheet.trim());
        assert_eq!((found.passages[0].documents, found.of_documents), (16, 16));
        let boilerplate = found.added_to(None, &snapshot, Stop::NEVER).unwrap().unwrap();
        let by_text = Boilerplate::new(snapshot.config()).unwrap();
        let by_text = by_text.with_texts([&*found.passages[0].text], Stop::NEVER).unwrap();
        assert_eq!(boilerplate.digest(), by_text.digest());
        let searcher = Searcher::new(snapshot).excluding(boilerplate, Stop::NEVER).unwrap();
        let passages = searcher.search(&Query::id("000").passages(true)).unwrap();
        let of = |id: &str| passages.hits.iter().find(|hit| hit.id == id);
        let passages_of = of("001").unwrap().passages.as_ref().unwrap();
        assert!(passages_of.iter().any(|passage| passage.tokens == 40), "{scheme}");
        assert!(of("002").is_none_or(|hit| hit.passages.as_ref().unwrap().is_empty()));
    }
}

#[test]
fn an_index_without_texts_has_no_proposals() {
    let index = Index::in_memory(Config::new("kgram(k=3)", "words", false).unwrap()).unwrap();
    let snapshot = index.snapshot().unwrap();
    let error = snapshot.repeated_passages(BoilerplateShare::default(), 2, Stop::NEVER);
    assert!(error.unwrap_err().to_string().contains("it stores no texts"));
}

#[test]
fn a_search_for_repeated_passages_can_be_stopped() {
    let snapshot = snapshot_of(&essays(9, |at| words(at, 30)), "kgram(k=3)", 99);
    let stop = Stop::new();
    stop.set();
    assert!(snapshot.repeated_passages(BoilerplateShare::default(), 2, &stop).is_err());
}

#[test]
fn what_is_cited_is_left_out_beside_boilerplate_and_in_every_search() {
    let quoted = "the old harbour sleeps at night under a thin moon";
    let sheet = "name and class of the pupil";
    let texts = [format!("{sheet} {quoted} of silver"), format!("{sheet} nothing else of note")];
    let snapshot = snapshot_of(&texts, "kgram(k=3)", 1);
    let plain = Searcher::new(snapshot.clone());
    let boilerplate = Boilerplate::new(snapshot.config()).unwrap();
    let boilerplate = boilerplate.with_texts([sheet], Stop::NEVER).unwrap();
    let excluding = plain.clone().excluding(boilerplate, Stop::NEVER).unwrap();
    let query = Query::text(format!("{sheet} wrote \"{quoted}\" and stopped there"));
    let without = query.clone().without(vec![CitedPart::Quotations]);
    let hits = |searcher: &Searcher, query: &Query| {
        let hits = searcher.search(query).unwrap().hits;
        let similar = SimilarTo::new(searcher, query).unwrap();
        let collected = tantivy::collector::Count;
        let count = searcher.snapshot().tantivy().search(&similar, &collected).unwrap();
        assert_eq!(count, hits.len());
        hits.len()
    };
    assert_eq!([hits(&plain, &query), hits(&plain, &without)], [2, 2]);
    assert_eq!([hits(&excluding, &query), hits(&excluding, &without)], [1, 0]);
    // The fingerprints of the worksheet still do not count.
    let hit = |query: &Query| excluding.search(query).unwrap().hits[0].fingerprints;
    let other = Query::text(format!("{quoted} of silver"));
    assert_eq!(hit(&other), hit(&other.clone().without(vec![CitedPart::Quotations])));
}
