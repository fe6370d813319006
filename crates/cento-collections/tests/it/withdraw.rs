//! Withdrawn documents are removed with their copies and refused from then on. Quotations are
//! listed, and nothing else is touched.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cento::index::{Config, Document, Index, SignedDocument, Writer, WriterOptions};
use cento::text::{Analyzer, Tokens};
use cento::{AddIndexesOptions, Reason, Stop};
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
fn copies_are_removed_and_quotations_listed_and_all_else_is_untouched() {
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
    // Runs shorter than a passage are chance.
    let [found] = &done.quoting[..] else { panic!("{:?}", done.quoting) };
    assert_eq!((found.id.as_str(), found.tokens, found.quoted_tokens), ("quoting", 110, 30));
    let start = words(2, 40).len() as u32 + 1;
    assert_eq!(found.passages, [(start, start + words(1, 30).len() as u32)]);
    assert!(!done.is_complete());
    assert_holds(&index, &model(&[("quoting", &quoting), ("common", &common), ("other", &other)]));
}

#[test]
fn a_withdrawal_waits_for_merges_in_the_background() {
    // Once the files of an unfinished merge were taken for files that could not be removed.
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
            Ok(done) => assert_eq!((done.removed.len(), done.quoting.len()), (1, 1)),
            // A merge has ended between the plan and its execution.
            Err(error) => assert!(matches!(error.reason(), Reason::Conflict(_)), "{error}"),
        }
    }
}

#[test]
fn an_excerpt_is_no_copy_and_is_listed() {
    let text = words(1, 400);
    let excerpt = format!("As she says: {}", words(1, 60));
    let index = in_memory(&[("own", &text), ("excerpt", &excerpt)]);
    let done = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    assert_eq!(done.removed.len(), 1);
    assert_eq!((done.quoting[0].tokens, done.quoting[0].quoted_tokens), (63, 60));
    assert_holds(&index, &model(&[("excerpt", &excerpt)]));
}

#[test]
fn an_edited_passage_is_listed() {
    let text = words(1, 200);
    let mut edited: Vec<String> = words(1, 60).split(' ').map(str::to_owned).collect();
    for place in (5..60).step_by(9) {
        edited[place] = "edited".into();
    }
    let quoting = format!("{} {} {}", words(2, 100), edited.join(" "), words(3, 100));
    let index = in_memory(&[("own", &text), ("quoting", &quoting)]);
    let done = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    let found = &done.quoting[0];
    assert!((55..=60).contains(&found.quoted_tokens), "{found:?}");
    let [(start, end)] = found.passages[..] else { panic!("{found:?}") };
    let begin = words(2, 100).len() as u32 + 1;
    assert!(start >= begin && end <= begin + edited.join(" ").len() as u32, "{found:?}");
}

#[test]
fn a_document_that_was_added_earlier_quotes_nothing_that_is_certainly_the_withdrawn_one_s() {
    let source = words(1, 40);
    let own = format!("{} {source} {}", words(2, 40), words(3, 40));
    let earlier = format!("{} {source}", words(4, 60));
    let later = format!("{} {source} {} {}", words(5, 30), words(6, 30), words(2, 20));
    let of = |documents: &[(&str, &str)]| {
        let index = in_memory(documents);
        withdraw(&index, "own", &WithdrawOptions::default()).unwrap()
    };
    let done = of(&[("earlier", &earlier), ("own", &own), ("later", &later)]);
    let found: Vec<_> = done.quoting.iter().map(|one| (&*one.id, one.added_earlier)).collect();
    assert_eq!(found, [("earlier", true), ("later", false)]);
    assert_eq!(done.quoting[1].quoted_tokens, 60);
    assert!(!done.is_complete());
    // The passages may come from the earlier document.
    assert!(of(&[("earlier", &earlier), ("own", &own)]).is_complete());
}

#[test]
fn a_document_that_was_added_at_the_same_time_was_not_added_earlier() {
    let index = in_memory(&[("z-source", &words(1, 60))]);
    let snapshot = index.snapshot().unwrap();
    let quoter = Document::new("a-quoter", format!("{} {}", words(2, 30), words(1, 40)));
    let quoter = SignedDocument::new(quoter, index.config(), Stop::NEVER).unwrap();
    let source = snapshot.find("z-source").unwrap().unwrap();
    let mut writer = index.writer(options()).unwrap();
    writer.add_at(quoter, &snapshot, source).unwrap();
    writer.finish().unwrap();
    let snapshot = index.snapshot().unwrap();
    for (id, other) in [("z-source", "a-quoter"), ("a-quoter", "z-source")] {
        let plan = Plan::new(&snapshot, id, &WithdrawOptions::default(), Stop::NEVER).unwrap();
        let found = &plan.withdrawal().quoting[0];
        assert_eq!((&*found.id, found.quoted_tokens, found.added_earlier), (other, 40, false));
        assert!(!plan.withdrawal().is_complete(), "{id}");
    }
}

#[test]
fn a_copy_that_was_added_earlier_is_removed_and_said_to_be_earlier() {
    // Once the original was called a copy of the later document.
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
fn a_document_that_is_to_be_kept_is_listed_and_stays() {
    let text = words(1, 100);
    let index = in_memory(&[("own", &text), ("copy", &text)]);
    let keep = WithdrawOptions::default().keep_copy(vec!["copy".to_owned()]);
    let done = withdraw(&index, "own", &keep).unwrap();
    assert_eq!((done.quoting[0].id.as_str(), done.quoting[0].quoted_tokens), ("copy", 100));
    assert!(!done.is_complete());
    assert_holds(&index, &model(&[("copy", &text)]));
    for (id, why) in [("none", "no document has the id `none`"), ("copy", "cannot be kept")] {
        let keep = WithdrawOptions::default().keep_copy(vec![id.to_owned()]);
        let refused = withdraw(&index, "copy", &keep).unwrap_err();
        assert_eq!(refused.reason().code(), "invalid_argument");
        assert!(refused.to_string().contains(why), "{refused}");
    }
}

#[test]
fn a_withdrawn_document_is_refused_in_every_form() {
    let text = words(1, 400);
    let near = format!("{text} and more");
    let index = in_memory(&[("own", &text), ("near", &near)]);
    withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    index.compact(1).unwrap();
    let mut writer = index.writer(options()).unwrap();
    assert_refused(&mut writer, "own", &text, "it is the document `own`");
    assert_refused(&mut writer, "new", &text, "withdrawn on 2");
    assert_refused(&mut writer, "new", &format!("{text} or less"), "a copy of the document `own`");
    let wrapped = format!("{} {text} {}", words(7, 300), words(8, 300));
    let contains = "its text contains that of the document `own`, which was withdrawn on 2";
    assert_refused(&mut writer, "new", &wrapped, contains);
    assert_refused(&mut writer, "near", &near, "was removed with the document `own`");
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
fn a_document_that_contains_the_withdrawn_text_stays_and_is_not_refused() {
    let dir = tempfile::tempdir().unwrap();
    let own = words(1, 100);
    let anthology = |seed: u64| format!("{} {own} {}", words(seed, 300), words(seed + 1, 300));
    let create = |name: &str, seed: u64| {
        let path = dir.path().join(name);
        let index = Index::create(&path, config()).unwrap();
        fill(&index, &[("own", &own), (name, &anthology(seed))]);
        let done = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
        assert_eq!((done.removed.len(), done.quoting[0].quoted_tokens), (1, 100));
        (index, path)
    };
    let (first, path) = create("first", 10);
    let mut writer = first.writer(options()).unwrap();
    let meta = serde_json::json!({"year": 2026}).as_object().unwrap().clone();
    writer.add(Document::new("first", anthology(10)).with_meta(meta)).unwrap();
    writer.add(Document::new("renamed", anthology(10))).unwrap();
    assert_refused(&mut writer, "new", &anthology(12), "its text contains that of");
    writer.finish().unwrap();
    drop(first);
    // Both indexes have withdrawn the text, and have a document that contains the text.
    let (second, other) = create("second", 14);
    drop(second);
    Index::add_indexes(&path, &[other], AddIndexesOptions::default()).unwrap();
    let index = Index::open(&path).unwrap();
    assert_eq!(index.snapshot().unwrap().documents(), 3);
    let withdrawals = index.withdrawals().unwrap();
    let quoting = withdrawals.find("own").unwrap().quoting.iter().map(|one| &*one.id);
    assert_eq!(quoting.collect::<Vec<_>>(), ["first", "second"]);
    assert!(index.check().unwrap().problems.is_empty());
}

#[test]
fn a_short_text_that_was_withdrawn_does_not_forbid_it_within_others() {
    let index = in_memory(&[("own", "Thank you very much")]);
    withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    let mut writer = index.writer(options()).unwrap();
    assert_refused(&mut writer, "new", "thank you, very much!", "a copy of");
    writer.add(Document::new("new", format!("Thank you very much. {}", words(2, 30)))).unwrap();
}

/// Returns the file names in the list of segments.
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
            number if number % 7 == 0 => format!("{own} {}", words(number, 20)),
            number => words(number + 1000, 60),
        };
        writer.add(Document::new(format!("doc{number:03}"), text)).unwrap();
        if number % 50 == 0 {
            writer.commit().unwrap();
        }
    }
    writer.finish().unwrap();
    let done = withdraw(&index, "doc100", &WithdrawOptions::default()).unwrap();
    assert_eq!((done.removed.len(), done.quoting.len()), (30, 0));
    drop(index);
    // The files belong to the commit, and no document of their segments is deleted. So the texts in
    // the files are texts of live documents.
    assert_eq!(components(&path), listed(&path));
    let index = Index::open(&path).unwrap();
    assert!(!index.has_removed_documents().unwrap());
    let snapshot = index.snapshot().unwrap();
    assert!(snapshot.segments().iter().all(|segment| segment.deleted_documents() == 0));
    let texts = contents(&snapshot);
    assert_eq!(texts.len(), 170);
    let own: Vec<&str> = own.split(' ').collect();
    let passages: Vec<String> = own.windows(5).map(|words| words.join(" ")).collect();
    for passage in &passages {
        assert!(texts.values().all(|text| !text.contains(passage.as_str())), "{passage}");
    }
    // Files without compression can be searched directly, such as the file of refused documents.
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
    // Merge into a new index, and into an index with documents.
    let merge = |into: &str, shards: &[&str]| {
        let shards: Vec<_> = shards.iter().map(|name| path(name)).collect();
        Index::add_indexes(path(into), &shards, AddIndexesOptions::default())
    };
    merge("new", &["shard"]).unwrap();
    refuses("new");
    drop(create("has", &[("b", &words(3, 100))]));
    merge("has", &["shard"]).unwrap();
    refuses("has");
    // An index with the document can neither take nor join an index that refuses the document.
    drop(create("holder", &[("c", &own)]));
    for (into, shards) in [("holder", ["shard"]), ("has", ["holder"])] {
        let error = merge(into, &shards).unwrap_err();
        assert_eq!(error.reason(), Reason::Withdrawn, "{error}");
        assert!(error.to_string().contains("the document `c`"), "{error}");
    }
    let error = merge("none", &["shard", "holder"]).unwrap_err();
    assert_eq!(error.reason(), Reason::Withdrawn, "{error}");
    assert!(!Index::exists(path("none")));
    // A removed document still has its bytes in files, which a merge would take over.
    let holder = create("kept", &[]);
    let mut writer = holder.writer(options().merge(false)).unwrap();
    writer.add(Document::new("c", own.as_str())).unwrap();
    writer.add(Document::new("d", words(5, 100))).unwrap();
    writer.commit().unwrap();
    assert!(writer.remove("c").unwrap());
    writer.finish().unwrap();
    for (into, shards) in [("kept", ["shard"]), ("has", ["kept"])] {
        let error = merge(into, &shards).unwrap_err().to_string();
        assert!(error.contains("compact this index"), "{error}");
    }
    holder.compact(1).unwrap();
    drop(holder);
    merge("has", &["kept"]).unwrap();
    refuses("has");
    // Recover with the list of segments and without.
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
    // A stop before the commit leaves the index unchanged.
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

/// The definition: `None` for a copy, otherwise the tokens of a document in runs of `min` tokens
/// that the withdrawn text has. A shorter withdrawn text counts as a whole.
fn naive(own: &str, text: &str, min: usize) -> Option<Vec<usize>> {
    let analyze = |text: &str| {
        let mut tokens = Tokens::default();
        Analyzer::default().analyze(text, &mut tokens, Stop::NEVER).unwrap();
        tokens.hashes
    };
    let (source, tokens) = (analyze(own), analyze(text));
    let runs = |tokens: &[u64]| -> BTreeSet<Vec<u64>> {
        let k = 2.min(tokens.len()).max(1);
        tokens.windows(k).map(<[u64]>::to_vec).collect()
    };
    let (a, b) = (runs(&source), runs(&tokens));
    if text == own || (a.union(&b).count() > 0 && a == b) {
        return None;
    }
    let min = min.min(source.len()).max(5);
    let mut quoted = BTreeSet::new();
    for at in 0..(tokens.len() + 1).saturating_sub(min) {
        if source.windows(min).any(|run| run == &tokens[at..at + min]) {
            quoted.extend(at..at + min);
        }
    }
    Some(quoted.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn copies_and_equal_passages_are_those_of_the_definition(
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
        for (at, document) in documents.iter().enumerate() {
            if at == earlier {
                writer.add(Document::new("own", own.as_str())).unwrap();
            }
            writer.add(Document::new(id(at), document.as_str())).unwrap();
        }
        if earlier == documents.len() {
            writer.add(Document::new("own", own.as_str())).unwrap();
        }
        writer.finish().unwrap();
        let least = WithdrawOptions::default().min_resemblance(1.0).min_passage(min as u32);
        let done = withdraw(&index, "own", &least).unwrap();
        for (at, document) in documents.iter().enumerate() {
            let found = done.quoting.iter().find(|one| one.id == id(at));
            let Some(quoted) = naive(&own, document, min) else {
                prop_assert!(found.is_none());
                continue;
            };
            model.insert(id(at), document.clone());
            // Words have two bytes and a space, so bytes tell which words are quoted.
            let passages = found.map(|one| &one.passages[..]).unwrap_or_default();
            let is_quoted = |word: &usize| {
                passages.iter().any(|(start, end)| (*start..*end).contains(&(3 * *word as u32)))
            };
            prop_assert!(quoted.iter().all(is_quoted), "{:?} {:?}", quoted, found);
            prop_assert!(found.is_none() || !passages.is_empty() || found.unwrap().cut_short);
        }
        prop_assert_eq!(contents(&index.snapshot().unwrap()), model);
        prop_assert_eq!(index.withdrawals().unwrap().len(), 1);
    }
}
