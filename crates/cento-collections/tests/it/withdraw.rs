//! Withdrawn documents: nothing of them is left, nothing else is touched, and they are refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cento::index::{Config, Document, Index, Withdrawals, Writer, WriterOptions};
use cento::text::{Analyzer, Tokens};
use cento::{AddIndexesOptions, Part, Reason, Stop};
use cento_collections::withdraw::{Plan, RemovalReason, WithdrawOptions};
use proptest::prelude::*;

use crate::common::withdrawals::{fill, in_memory, options, withdraw};
use crate::common::{Model, assert_holds, config, contents, words};

#[track_caller]
fn assert_refused(writer: &mut Writer, id: &str, text: &str, expected: &str) {
    let error = writer.add(Document::new(id, text)).unwrap_err();
    assert_eq!(error.reason(), Reason::Withdrawn, "{error}");
    assert!(error.to_string().contains(expected), "{error}");
}

fn model(documents: &[(&str, &str)]) -> Model {
    documents.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn copies_are_removed_and_passages_cut_and_all_else_is_untouched() {
    let text = words(1, 100);
    let near = format!("{} and a few words more", text);
    let quoting = format!("{} {}. {}", words(2, 40), words(1, 30), words(3, 40));
    let wrapped = format!("A preface: {text} The end.");
    let common = format!("{} {}", words(1, 8), words(4, 50));
    let other = words(5, 80);
    let index = in_memory(&[
        ("own", &text),
        ("copy", &text),
        ("near", &near),
        ("quoting", &quoting),
        ("wrapped", &wrapped),
        ("common", &common),
        ("other", &other),
    ]);
    let done = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    let removed: Vec<_> = done.removed.iter().map(|one| (one.id.as_str(), one.reason)).collect();
    let expected = [
        ("own", RemovalReason::Withdrawn),
        ("copy", RemovalReason::Exact),
        ("near", RemovalReason::Near),
        ("wrapped", RemovalReason::Near),
    ];
    assert_eq!(removed, expected);
    assert_eq!(done.cut.len(), 1);
    assert_eq!((done.cut[0].id.as_str(), done.cut[0].cut_tokens), ("quoting", 30));
    assert_eq!((done.left.shorter_documents, done.left.shorter_tokens), (1, 8));
    let cut = format!("{} . {}", words(2, 40), words(3, 40));
    assert_holds(&index, &model(&[("quoting", &cut), ("common", &common), ("other", &other)]));
}

#[test]
fn a_withdrawal_waits_for_merges_in_the_background() {
    // The files of a merge that had not ended were taken for files that could not be removed.
    for round in 0..6 {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::create(dir.path(), config()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        let quoting = format!("{} {} {}", words(2, 60), words(1, 40), words(3, 60));
        writer.add(Document::new("own", words(1, 100))).unwrap();
        writer.add(Document::new("quoting", quoting)).unwrap();
        for other in 0..12 {
            let text = words(100 + other, 60 * (round + 1) as usize);
            writer.add(Document::new(format!("other{other}"), text)).unwrap();
            writer.commit().unwrap();
        }
        let options = WithdrawOptions::default();
        let plan = Plan::new(writer.committed().unwrap(), "own", &options, Stop::NEVER).unwrap();
        match plan.apply(&mut writer, Stop::NEVER) {
            Ok(done) => assert_eq!((done.removed.len(), done.cut.len()), (1, 1)),
            // A merge ended between the plan and its execution.
            Err(error) => assert!(matches!(error.reason(), Reason::Conflict(_)), "{error}"),
        }
    }
}

#[test]
fn a_document_of_which_little_is_left_is_removed() {
    let text = words(1, 400);
    let excerpt = format!("As she says: {}", words(1, 60));
    let index = in_memory(&[("own", &text), ("excerpt", &excerpt)]);
    let done = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    assert_eq!(done.removed[1].reason, RemovalReason::LittleLeft);
    assert_holds(&index, &Model::new());
}

#[test]
fn an_edited_passage_is_cut() {
    let text = words(1, 200);
    let mut edited: Vec<String> = words(1, 60).split(' ').map(str::to_owned).collect();
    for place in (5..60).step_by(9) {
        edited[place] = "edited".into();
    }
    let quoting = format!("{} {} {}", words(2, 100), edited.join(" "), words(3, 100));
    let index = in_memory(&[("own", &text), ("quoting", &quoting)]);
    let done = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    let cut = &done.cut[0];
    assert!((55..=60).contains(&cut.cut_tokens), "{}", cut.cut_tokens);
    let left = contents(&index.snapshot().unwrap())["quoting"].clone();
    assert!(left.starts_with(&words(2, 99)) && left.ends_with(&words(3, 100)), "{left}");
}

#[test]
fn passages_of_earlier_documents_stay_unless_asked_for() {
    let source = words(1, 40);
    let own = format!("{} {source} {}", words(2, 40), words(3, 40));
    let earlier = format!("{} {source}", words(4, 60));
    // It quotes both the source and the withdrawn document's own words.
    let later = format!("{} {source} {} {}", words(5, 30), words(6, 30), words(2, 20));
    let documents = [("earlier", &*earlier), ("own", &own), ("later", &later)];
    let index = in_memory(&documents);
    let done = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    let left: Vec<_> = done.left.earlier.iter().map(|one| (one.id.as_str(), one.tokens)).collect();
    assert_eq!(left, [("earlier", 40), ("later", 40)]);
    let cut = format!("{} {source} {} ", words(5, 30), words(6, 30));
    assert_holds(&index, &model(&[("earlier", &earlier), ("later", &cut)]));

    let index = in_memory(&documents);
    let all = WithdrawOptions::default().cut_earlier(true);
    let done = withdraw(&index, "own", &all).unwrap();
    assert!(done.left.earlier.is_empty() && done.left.is_complete());
    let cut = [format!("{} ", words(4, 60)), format!("{}  {} ", words(5, 30), words(6, 30))];
    assert_holds(&index, &model(&[("earlier", &cut[0]), ("later", &cut[1])]));
}

#[test]
fn a_copy_that_was_added_earlier_is_removed_and_said_to_be_earlier() {
    // The original was called a copy of the later document, like any other.
    let text = words(1, 100);
    let near = format!("{} {}", words(1, 95), words(7, 5));
    let index =
        in_memory(&[("original", &near), ("first", &text), ("own", &text), ("late", &text)]);
    let done = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    let removed: Vec<_> =
        done.removed.iter().map(|one| (one.id.as_str(), one.reason, one.added_earlier)).collect();
    let expected = [
        ("own", RemovalReason::Withdrawn, false),
        ("first", RemovalReason::Exact, true),
        ("late", RemovalReason::Exact, false),
        ("original", RemovalReason::Near, true),
    ];
    assert_eq!(removed, expected);
    assert_holds(&index, &Model::new());
}

#[test]
fn own_words_beside_those_of_an_earlier_document_are_cut() {
    let shared = words(1, 12);
    let own = format!("{} {shared} {}", words(2, 11), words(3, 11));
    let earlier = format!("{} {shared}", words(4, 60));
    // It goes on with one word of the withdrawn document, by chance.
    let next = own.split(' ').nth(23).unwrap();
    let by_chance = format!("{} {shared} {next} {}", words(8, 30), words(9, 30));
    let later = format!("{} {own} {}", words(5, 30), words(6, 30));
    let index = in_memory(&[
        ("earlier", &*earlier),
        ("own", &format!("{} {own}", words(7, 60))),
        ("later", &later),
        ("by_chance", &by_chance),
    ]);
    let done = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    let left = &done.left.earlier;
    let left: Vec<_> = left.iter().map(|one| (one.id.as_str(), one.tokens)).collect();
    assert_eq!(left, [("by_chance", 12), ("earlier", 12), ("later", 12)]);
    assert!(done.left.is_complete(), "{:?}", done.left);
    let cut = format!("{}  {shared}  {}", words(5, 30), words(6, 30));
    let expected = [("earlier", &*earlier), ("later", &cut), ("by_chance", &by_chance)];
    assert_holds(&index, &model(&expected));
}

#[test]
fn a_document_that_is_to_be_kept_is_listed_and_stays() {
    let text = words(1, 100);
    let index = in_memory(&[("own", &text), ("copy", &text)]);
    let keep = WithdrawOptions::default().keep(vec!["copy".to_owned()]);
    let done = withdraw(&index, "own", &keep).unwrap();
    assert_eq!((done.left.kept[0].id.as_str(), done.left.kept[0].tokens), ("copy", 100));
    assert!(!done.left.is_complete());
    assert_holds(&index, &model(&[("copy", &text)]));
    for (id, why) in [("none", "no document has the id `none`"), ("copy", "cannot be kept")] {
        let keep = WithdrawOptions::default().keep(vec![id.to_owned()]);
        let refused = withdraw(&index, "copy", &keep).unwrap_err();
        assert_eq!(refused.reason().code(), "invalid_argument");
        assert!(refused.to_string().contains(why), "{refused}");
    }
}

#[test]
fn the_metadata_and_the_time_of_a_cut_document_stay() {
    let index = Index::in_memory(config()).unwrap();
    let mut writer = index.writer(options()).unwrap();
    writer.add(Document::new("own", words(1, 100))).unwrap();
    let meta = serde_json::json!({"year": 2026}).as_object().unwrap().clone();
    let text = format!("{} {}", words(2, 60), words(1, 30));
    writer.add(Document::new("quoting", text).with_meta(meta.clone())).unwrap();
    writer.finish().unwrap();
    let state = || {
        let snapshot = index.snapshot().unwrap();
        let address = snapshot.find("quoting").unwrap().unwrap();
        let added = snapshot.segment(address).added_micros(address.doc).unwrap();
        (snapshot.meta(address).unwrap(), added)
    };
    let before = state();
    assert_eq!(withdraw(&index, "own", &WithdrawOptions::default()).unwrap().cut.len(), 1);
    assert_eq!(state(), before);
    assert_eq!(before.0, meta);
}

#[test]
fn parts_of_a_cut_document_keep_their_names_and_what_is_left_of_them() {
    let index = Index::in_memory(config()).unwrap();
    let mut writer = index.writer(options()).unwrap();
    let texts = [format!("{} {}", words(2, 60), words(1, 30)), words(3, 60)];
    // The passage goes on in the second part.
    let second =
        format!("{} {}", words(1, 60).split(' ').skip(30).collect::<Vec<_>>().join(" "), texts[1]);
    let text = format!("{}\n{second}", texts[0]);
    let parts = vec![Part::new("a.txt", 0), Part::new("b.txt", texts[0].len() as u32 + 1)];
    writer.add(Document::new("own", words(1, 100))).unwrap();
    writer.add(Document::new("quoting", text).with_parts(parts)).unwrap();
    writer.finish().unwrap();
    assert_eq!(withdraw(&index, "own", &WithdrawOptions::default()).unwrap().cut[0].cut_tokens, 60);
    let snapshot = index.snapshot().unwrap();
    let stored = snapshot.document(snapshot.find("quoting").unwrap().unwrap()).unwrap();
    let text = stored.text.unwrap();
    let starts: Vec<_> = stored.parts.iter().map(|part| (&*part.name, part.start)).collect();
    let expected = [format!("{} ", words(2, 60)), format!(" {}", texts[1])];
    assert_eq!(text, expected.join("\n"));
    assert_eq!(starts, [("a.txt", 0), ("b.txt", expected[0].len() as u32 + 1)]);
    assert!(index.check().unwrap().problems.is_empty());
}

#[test]
fn a_withdrawn_document_is_refused_in_every_form() {
    let text = words(1, 400);
    let quoting = format!("{} {}", words(2, 100), words(1, 30));
    let index = in_memory(&[("own", &text), ("quoting", &quoting)]);
    withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    index.compact(1).unwrap();
    let mut writer = index.writer(options()).unwrap();
    assert_refused(&mut writer, "own", &text, "it is the document `own`");
    assert_refused(&mut writer, "new", &text, "withdrawn on 2");
    assert_refused(&mut writer, "new", &format!("{text} and more"), "a copy of the document `own`");
    let wrapped = format!("{} {text} {}", words(7, 300), words(8, 300));
    let contains = "its text contains that of the document `own`, which was withdrawn on 2";
    assert_refused(&mut writer, "new", &wrapped, contains);
    assert_refused(&mut writer, "quoting", &quoting, "has passages of the document `own`");
    // Another text may have the id.
    writer.add(Document::new("own", words(9, 100))).unwrap();
    writer.finish().unwrap();

    let mut writer = index.writer(options()).unwrap();
    let mut withdrawals = writer.withdrawals().clone();
    assert_eq!((withdrawals.forget("own"), withdrawals.forget("own")), (1, 0));
    writer.commit_withdrawals(withdrawals).unwrap();
    writer.add(Document::new("new", text)).unwrap();
    writer.finish().unwrap();
    assert!(index.withdrawals().unwrap().is_empty());
}

#[test]
fn a_short_text_that_was_withdrawn_does_not_forbid_it_within_others() {
    let index = in_memory(&[("own", "Thank you very much")]);
    withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    let mut writer = index.writer(options()).unwrap();
    assert_refused(&mut writer, "new", "thank you, very much!", "a copy of");
    writer.add(Document::new("new", format!("Thank you very much. {}", words(2, 30)))).unwrap();
}

/// Returns the names of the files in the directory that the list of segments names.
fn listed(path: &Path) -> BTreeSet<String> {
    let list = std::fs::read(path.join("meta.json")).unwrap();
    let list: serde_json::Value = serde_json::from_slice(&list).unwrap();
    list["cento_files"].as_object().unwrap().keys().cloned().collect()
}

fn components(path: &Path) -> BTreeSet<String> {
    let names = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| !name.starts_with('.') && name != "meta.json").collect()
}

#[test]
fn no_file_of_the_directory_has_a_passage_of_a_withdrawn_document() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index");
    let index = Index::create(&path, config()).unwrap();
    let own = words(1, 120);
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for number in 0..200u64 {
        let text = match number {
            100 => own.clone(),
            number if number % 7 == 0 => format!("{} {}", words(number, 60), words(1, 40)),
            number => words(number + 1000, 60),
        };
        writer.add(Document::new(format!("doc{number:03}"), text)).unwrap();
        if number % 50 == 0 {
            writer.commit().unwrap();
        }
    }
    writer.finish().unwrap();
    let all = WithdrawOptions::default().cut_earlier(true);
    assert_eq!(withdraw(&index, "doc100", &all).unwrap().cut.len(), 29);
    drop(index);
    // All files belong to the commit, and no document of their segments is deleted, so that all
    // texts that they have are those of live documents.
    assert_eq!(components(&path), listed(&path));
    let index = Index::open(&path).unwrap();
    assert!(!index.has_removed_documents().unwrap());
    let snapshot = index.snapshot().unwrap();
    assert!(snapshot.segments().iter().all(|segment| segment.deleted_documents() == 0));
    let texts = contents(&snapshot);
    assert_eq!(texts.len(), 199);
    let own: Vec<&str> = own.split(' ').collect();
    let passages: Vec<String> = own.windows(5).map(|words| words.join(" ")).collect();
    for passage in &passages {
        assert!(texts.values().all(|text| !text.contains(passage.as_str())), "{passage}");
    }
    // Those whose bytes are not compressed, such as the file that has the refused documents.
    for name in components(&path) {
        let bytes = std::fs::read(path.join(&name)).unwrap();
        let bytes = String::from_utf8_lossy(&bytes);
        assert!(passages.iter().all(|passage| !bytes.contains(passage.as_str())), "{name}");
    }
    assert!(index.check().unwrap().problems.is_empty());
}

#[test]
fn withdrawals_go_with_the_index_into_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let create = |name: &str, documents: &[(&str, &str)]| {
        let index = Index::create(path(name), config()).unwrap();
        fill(&index, documents);
        index
    };
    let (own, other) = (words(1, 100), words(2, 100));
    let shard = create("shard", &[("own", &own), ("a", &other)]);
    withdraw(&shard, "own", &WithdrawOptions::default()).unwrap();
    drop(shard);
    let refuses = |name: &str| {
        let index = Index::open(path(name)).unwrap();
        assert_refused(&mut index.writer(options()).unwrap(), "x", &own, "withdrawn on");
        assert!(index.check().unwrap().problems.is_empty());
    };
    // Into a new index, and into one that has documents.
    let merge = |into: &str, shards: &[&str]| {
        let shards: Vec<_> = shards.iter().map(|name| path(name)).collect();
        Index::add_indexes(path(into), &shards, AddIndexesOptions::default())
    };
    merge("new", &["shard"]).unwrap();
    refuses("new");
    drop(create("has", &[("b", &words(3, 100))]));
    merge("has", &["shard"]).unwrap();
    refuses("has");
    // An index with the document merges neither with nor into one that refuses it.
    drop(create("holder", &[("c", &own)]));
    for (into, shards) in [("holder", ["shard"]), ("has", ["holder"])] {
        let error = merge(into, &shards).unwrap_err();
        assert_eq!(error.reason(), Reason::Withdrawn, "{error}");
        assert!(error.to_string().contains("the document `c`"), "{error}");
    }
    let error = merge("none", &["shard", "holder"]).unwrap_err();
    assert_eq!(error.reason(), Reason::Withdrawn, "{error}");
    assert!(!Index::exists(path("none")));
    // Recovered with its list and without.
    Index::recover(path("shard"), path("recovered"), None, &[]).unwrap();
    refuses("recovered");
    std::fs::write(path("shard").join("meta.json"), "{").unwrap();
    let like = Index::open(path("has")).unwrap();
    Index::recover(path("shard"), path("again"), Some(&like), &[]).unwrap();
    refuses("again");
}

#[test]
fn a_damaged_file_of_withdrawals_is_refused_and_not_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index");
    let index = Index::create(&path, config()).unwrap();
    fill(&index, &[("own", &words(1, 30)), ("a", &words(2, 30))]);
    withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    let name = components(&path).into_iter().find(|name| name.ends_with(".withdrawn")).unwrap();
    let whole = std::fs::read(path.join(&name)).unwrap();
    for at in (0..whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(path.join(&name), &bytes).unwrap();
        let index = Index::open(&path).unwrap();
        assert!(index.writer(options()).is_err(), "byte {at}");
        assert!(!index.check().unwrap().problems.is_empty(), "byte {at}");
    }
    std::fs::remove_file(path.join(&name)).unwrap();
    assert!(Index::open(&path).unwrap().writer(options()).is_err());
}

#[test]
fn an_index_that_changed_since_the_plan_is_not_changed_by_it() {
    let index = in_memory(&[("own", &words(1, 100)), ("a", &words(2, 100))]);
    let mut writer = index.writer(options()).unwrap();
    let stop = Stop::new();
    let plan = || Plan::new(&index.snapshot()?, "own", &WithdrawOptions::default(), &stop);
    let early = plan().unwrap();
    writer.add(Document::new("b", words(1, 100))).unwrap();
    assert_eq!(early.apply(&mut writer, &stop).unwrap_err().reason().code(), "conflict");
    assert_eq!(index.snapshot().unwrap().documents(), 3);
    // A stop before the commit leaves the index as it was.
    stop.set();
    let mut again = index.clone().writer(options());
    assert!(again.is_err(), "one writer at a time");
    drop(writer);
    again = index.writer(options());
    let plan =
        Plan::new(&index.snapshot().unwrap(), "own", &WithdrawOptions::default(), Stop::NEVER)
            .unwrap();
    let mut writer = again.unwrap();
    assert_eq!(plan.apply(&mut writer, &stop).unwrap_err().reason().code(), "cancelled");
    assert!(writer.commit().is_err());
    drop(writer);
    assert_eq!(index.snapshot().unwrap().documents(), 3);
    assert!(index.withdrawals().unwrap().is_empty());
}

/// What the definition leaves of the documents: tokens in runs of `min` that the withdrawn text
/// has, and not in such runs of the passages of an earlier document, are cut until none are left.
fn naive(own: &str, documents: &[String], earlier: usize, min: usize) -> Vec<Option<String>> {
    const LEAST: f64 = 1.0;
    let analyze = |text: &str| {
        let mut tokens = Tokens::default();
        Analyzer::default().analyze(text, &mut tokens, Stop::NEVER).unwrap();
        tokens
    };
    let source = analyze(own).hashes;
    let runs = |tokens: &[u64]| -> BTreeSet<Vec<u64>> {
        let k = 2.min(tokens.len()).max(1);
        tokens.windows(k).map(<[u64]>::to_vec).collect()
    };
    let is_copy = |text: &str| {
        let (a, b) = (runs(&source), runs(&analyze(text).hashes));
        text == own || (a.union(&b).count() > 0 && a == b)
    };
    let marked = |tokens: &[u64], has: &dyn Fn(&[u64]) -> bool| -> Vec<bool> {
        let mut marked = vec![false; tokens.len()];
        for at in 0..(tokens.len() + 1).saturating_sub(min) {
            if has(&tokens[at..at + min]) {
                marked[at..at + min].fill(true);
            }
        }
        marked
    };
    // The runs of the passages that each earlier document has.
    let mut of_earlier = BTreeSet::new();
    for text in documents[..earlier].iter().filter(|text| !is_copy(text)) {
        let other = analyze(text).hashes;
        let is_shared = marked(&source, &|run| other.windows(min).any(|of| of == run));
        let whole = (0..(source.len() + 1).saturating_sub(min))
            .filter(|at| !is_shared[*at..*at + min].contains(&false));
        of_earlier.extend(whole.map(|at| source[at..at + min].to_vec()));
    }
    let cut_once = |text: &str| -> Option<(String, usize)> {
        let tokens = analyze(text);
        let is_shared = marked(&tokens.hashes, &|run| source.windows(min).any(|of| of == run));
        let is_earlier = marked(&tokens.hashes, &|run| of_earlier.contains(run));
        let mut is_cut: Vec<bool> = is_shared
            .iter()
            .zip(&is_earlier)
            .map(|(shared, earlier)| *shared && !earlier)
            .collect();
        // A few tokens beside a passage are chance.
        let mut at = 0;
        while at < is_cut.len() {
            let len = is_cut[at..].iter().take_while(|is| **is).count();
            if len < 5 {
                is_cut[at..at + len].fill(false);
            }
            at += len.max(1);
        }
        let (mut left, mut end) = (String::new(), 0);
        let mut at = 0;
        while at < is_cut.len() {
            if is_cut[at] {
                left.push_str(&text[end..tokens.spans[at].start as usize]);
                while at + 1 < is_cut.len() && is_cut[at + 1] {
                    at += 1;
                }
                end = tokens.spans[at].end as usize;
            }
            at += 1;
        }
        left.push_str(&text[end..]);
        let count = is_cut.iter().filter(|&&is| is).count();
        (count > 0).then_some((left, count))
    };
    let decide = |text: &String| {
        if is_copy(text) {
            return None;
        }
        let (mut left, mut cut) = (text.clone(), 0);
        while let Some((rest, count)) = cut_once(&left) {
            (left, cut) = (rest, cut + count);
        }
        let share = cut as f64 / analyze(text).hashes.len().max(1) as f64;
        (cut == 0 || share < LEAST).then_some(left)
    };
    documents.iter().map(decide).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn what_is_left_is_what_the_definition_leaves(
        own in prop::collection::vec(0u8..4, 1..30),
        documents in prop::collection::vec(prop::collection::vec(0u8..4, 0..11), 0..8),
        earlier in 0usize..8,
        min in 5usize..8,
    ) {
        let text = |words: &Vec<u8>| {
            let words: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
            words.join(" ")
        };
        let own = text(&own);
        let documents: Vec<String> = documents.iter().map(text).collect();
        let earlier = earlier.min(documents.len());
        let index =
            Index::in_memory(Config::new("kgram(k=2)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(options()).unwrap();
        let id = |at: usize| format!("{at}");
        let mut model = BTreeMap::new();
        let mut wait = std::time::Instant::now();
        for (at, document) in documents.iter().enumerate() {
            if at == earlier {
                // A document of the same microsecond is not earlier.
                while wait.elapsed().as_micros() < 3 {}
                writer.add(Document::new("own", own.as_str())).unwrap();
            }
            wait = std::time::Instant::now();
            writer.add(Document::new(id(at), document.as_str())).unwrap();
        }
        if earlier == documents.len() {
            while wait.elapsed().as_micros() < 3 {}
            writer.add(Document::new("own", own.as_str())).unwrap();
        }
        writer.finish().unwrap();
        let least = WithdrawOptions::default().min_resemblance(1.0).min_passage(min as u32);
        withdraw(&index, "own", &least).unwrap();
        for (at, left) in naive(&own, &documents, earlier, min).into_iter().enumerate() {
            if let Some(left) = left {
                model.insert(id(at), left);
            }
        }
        prop_assert_eq!(contents(&index.snapshot().unwrap()), model);
        prop_assert_eq!(index.withdrawals().unwrap().iter().count(), 1);
        let _: Withdrawals = index.withdrawals().unwrap();
    }
}
