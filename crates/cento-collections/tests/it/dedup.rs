//! Deduplication of a stream with the library.

use cento::hash::mix64;
use cento::index::{Config, Document, Index};
use cento::tantivy::directory::RamDirectory;
use cento_collections::dedup::{DedupOptions, Verdict};
use proptest::prelude::*;

use crate::common::stream;

/// A document of few words, so that many documents are similar. Ids come twice.
fn document(seed: u64) -> Document {
    let family = seed / 3;
    let word =
        |i: u64| format!("w{}", mix64(if i == 0 { seed } else { family } ^ i << 40) % 50_000);
    let text: Vec<String> = (0..5 + mix64(family) % 8).map(word).collect();
    Document::new(format!("doc{}", seed % 1998), text.join(" "))
}

/// The verdicts on the documents, and the number of documents in the index afterwards.
fn verdicts(
    documents: &[Document],
    options: &DedupOptions,
    how: (usize, bool),
) -> (Vec<Verdict>, u64) {
    let config = Config::new("kgram(k=1)", "words", options.cut_passages.is_some()).unwrap();
    let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
    let verdicts = stream::verdicts_with(&index, options, how, documents);
    let verdicts = verdicts.into_iter().map(|(_, verdict)| verdict).collect();
    (verdicts, index.snapshot().unwrap().documents())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn a_temporary_index_changes_no_verdict_and_is_written_if_memory_is_used_up(
        first in 0u64..1_000_000,
        contained in prop::option::of(0.5f64..1.0),
        passage in prop::option::of(Just(5u32)),
    ) {
        let documents: Vec<Document> = (first..first + 3000).map(document).collect();
        let kept =
            DedupOptions::default().min_resemblance(0.6).min_containment(contained).cut_passages(passage);
        let (expected, count) = verdicts(&documents, &kept, (64 << 20, false));
        prop_assert_eq!(expected.iter().filter(|verdict| verdict.is_kept()).count() as u64, count);
        prop_assert!(count < 3000);
        let is_renamed = |verdict: &Verdict| matches!(verdict, Verdict::Kept { kept_as: Some(_), .. });
        prop_assert!(expected.iter().any(is_renamed));
        let (found, written) = verdicts(&documents, &kept, (64 << 20, true));
        prop_assert_eq!((&found, written), (&expected, 0));
        // Every batch uses up the memory.
        let (found, written) = verdicts(&documents, &kept, (1 << 16, true));
        prop_assert_eq!(&found, &expected);
        prop_assert!((1..=count).contains(&written), "{} of {}", written, count);
    }
}

#[test]
fn texts_of_the_same_few_runs_are_duplicates_if_they_have_them_as_often() {
    // Two sheets of true and false that agree in half of the places have 31 of 32 runs in common.
    let sheet = |seed: u64| -> String {
        let word = |at: u64| ["true ", "false "][(mix64(seed << 32 | at) % 2) as usize];
        (0..150).map(word).collect()
    };
    let changed = format!("{} true false", sheet(1).trim_end());
    let documents = [("a", sheet(1)), ("b", sheet(2)), ("c", changed)];
    let documents = documents.map(|(id, text)| Document::new(id, text));
    let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
    let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
    let options = DedupOptions::default().min_resemblance(0.8);
    let verdicts = stream::verdicts_with(&index, &options, (64 << 20, false), &documents);
    let kept: Vec<bool> = verdicts.iter().map(|(_, verdict)| verdict.is_kept()).collect();
    assert_eq!(kept, [true, true, false], "{verdicts:?}");
    // The same holds for sheets in an index.
    let other = [("d", sheet(3)), ("e", sheet(2) + "true")];
    let other = other.map(|(id, text)| Document::new(id, text));
    let verdicts = stream::verdicts_with(&index, &options, (64 << 20, false), &other);
    let kept: Vec<bool> = verdicts.iter().map(|(_, verdict)| verdict.is_kept()).collect();
    assert_eq!(kept, [true, false], "{verdicts:?}");
}

#[test]
fn a_text_that_repeats_itself_is_dropped_whatever_the_order() {
    // The first text repeats most runs, the second text repeats some runs less often.
    let words: Vec<String> = (0..200).map(|at| format!("word{at}")).collect();
    let twice = [&words[..], &words, &words[..10]].concat();
    let mut changed = twice.clone();
    changed[300] = "other".to_owned();
    let around: Vec<String> = (0..600).map(|at| format!("around{at}")).collect();
    let long = [&around[..], &twice, &around[..9]].concat();
    let [twice, changed, long] = [twice, changed, long].map(|words| words.join(" "));
    let kept = |options: &DedupOptions, texts: [&str; 2]| -> Vec<bool> {
        let documents = [("a", texts[0]), ("b", texts[1])];
        let documents = documents.map(|(id, text)| Document::new(id, text));
        let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
        let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
        let verdicts = stream::verdicts_with(&index, options, (64 << 20, false), &documents);
        verdicts.iter().map(|(_, verdict)| verdict.is_kept()).collect()
    };
    let near = DedupOptions::default().min_resemblance(0.8);
    assert_eq!(kept(&near, [&twice, &changed]), [true, false]);
    assert_eq!(kept(&near, [&changed, &twice]), [true, false]);
    let contained = DedupOptions::default().min_resemblance(0.8).min_containment(0.9);
    assert_eq!(kept(&contained, [&long, &twice]), [true, false]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_is_left_to_cut_in_what_is_kept(
        stretches in prop::collection::vec((0u32..9, 2u32..9), 6),
        drawn in prop::collection::vec(prop::collection::vec(0usize..6, 1..6), 2..14),
        memory in prop::sample::select(vec![1usize << 16, 64 << 20]),
    ) {
        // Documents made of the same few stretches, in any order and nested.
        let stretch = |at: usize| {
            let (first, count) = stretches[at];
            (first..first + count).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ")
        };
        let documents: Vec<Document> = (0..).zip(&drawn).map(|(number, places): (u32, _)| {
            let places: Vec<String> = places.iter().map(|&at| stretch(at)).collect();
            Document::new(number.to_string(), places.join(" "))
        }).collect();
        let options = DedupOptions::default().cut_passages(5u32);
        let (found, count) = verdicts(&documents, &options, (memory, false));
        let kept: Vec<Document> = documents.iter().zip(&found)
            .filter(|(_, verdict)| verdict.is_kept())
            .map(|(document, verdict)| {
                let cut: Vec<(u32, u32)> = verdict.cut().iter().map(|cut| cut.bytes).collect();
                Document::new(document.id.clone(), cento_collections::cut_out(document, &cut).0)
            })
            .collect();
        prop_assert_eq!(kept.len() as u64, count);
        let (again, _) = verdicts(&kept, &options, (memory, false));
        for (document, verdict) in kept.iter().zip(again) {
            let is_whole = verdict.is_kept() && verdict.cut().is_empty();
            prop_assert!(is_whole, "{:?} of {:?}: {:?}", document, documents, verdict);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn a_repeated_stream_is_kept_again(
        first in 0u64..1_000_000,
        contained in prop::option::of(0.5f64..1.0),
        small in 0usize..3,
    ) {
        let documents: Vec<Document> = (first..first + 3000).map(document).collect();
        let options = DedupOptions::default().min_resemblance(0.6).min_containment(contained);
        let config = Config::new("kgram(k=1)", "words", false).unwrap();
        let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
        // A small run commits after every batch.
        let [once, twice] = [0, 1].map(|run| {
            let bytes = if run == small { 1 << 16 } else { 64 << 20 };
            stream::verdicts_with(&index, &options, (bytes, false), &documents)
        });
        for ((id, first), (_, again)) in once.iter().zip(&twice) {
            match first {
                Verdict::Kept { kept_as: before, .. } => {
                    let is_unchanged =
                        matches!(again, Verdict::Unchanged { kept_as, .. } if kept_as == before);
                    prop_assert!(is_unchanged, "{}: {:?}, then {:?}", id, first, again);
                }
                _ => prop_assert!(!again.is_kept(), "{}: {:?}, then {:?}", id, first, again),
            }
        }
    }

    #[test]
    fn a_stream_with_corrections_depends_on_neither_commits_nor_batches(
        first in 0u64..1_000_000,
    ) {
        // A third of the ids get new texts, and a third get old texts of the previous id.
        let old: Vec<Document> = (first..first + 3000).map(document).collect();
        let new: Vec<Document> = old.iter().enumerate().map(|(at, own)| {
            let text = match at % 3 {
                0 => document(first + 5000 + at as u64 / 2).text,
                1 => old[at - 1].text.clone(),
                _ => own.text.clone(),
            };
            Document::new(own.id.clone(), text)
        }).collect();
        let options = DedupOptions::default().min_resemblance(0.6);
        let found = [64usize << 20, 1 << 16].map(|bytes| {
            let config = Config::new("kgram(k=1)", "words", false).unwrap();
            let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
            stream::verdicts_with(&index, &options, (64 << 20, false), &old);
            let verdicts = stream::verdicts_with(&index, &options, (bytes, false), &new);
            let snapshot = index.snapshot().unwrap();
            let ids = snapshot.live().map(|address| snapshot.id(address).unwrap());
            let mut ids: Vec<String> = ids.collect();
            ids.sort_unstable();
            (verdicts, ids)
        });
        let replaces = |verdict: &Verdict| matches!(verdict, Verdict::Kept { replaces: true, .. });
        prop_assert!(found[0].0.iter().any(|(_, verdict)| replaces(verdict)));
        prop_assert_eq!(&found[0], &found[1]);
    }
}
