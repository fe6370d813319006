//! An index against a model: add, replace, remove, commit, compact, reopen.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Model, add, assert_holds, config, document, words};
use cento::Stop;
use cento::hash::Digest;
use cento::index::SignedDocument;
use cento::index::{Config, Index, Outcome, SegmentFiles, SegmentView, WriterOptions};
use cento::search::{MaxDf, Query, Searcher};
use cento::{Error, Reason};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Add {
        id: u8,
        text: u8,
    },
    Remove {
        id: u8,
    },
    Commit,
    Compact {
        segments: usize,
    },
    /// Drops the writer with all uncommitted changes.
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0u8..12, 0u8..8).prop_map(|(id, text)| Step::Add { id, text }),
        3 => (0u8..12).prop_map(|id| Step::Remove { id }),
        4 => Just(Step::Commit),
        1 => (1usize..3).prop_map(|segments| Step::Compact { segments }),
        1 => Just(Step::Reopen),
    ]
}

/// Returns a text. Texts share passages, some are short, and one has no words.
fn text(number: u8) -> String {
    match number {
        0 => "only four words here".into(),
        1 => "!!!".into(),
        n => format!("{} {} {}", words(n.into(), 20), words(50, 30), words(u64::from(n) + 9, 20)),
    }
}

/// Overlaps by definition: distinct keys in common, of every document.
fn brute_force(config: &Config, model: &Model, query: &str) -> BTreeMap<String, u32> {
    let keys = |text: &str| -> BTreeSet<u64> {
        config.sign(text).unwrap().1.into_iter().map(|f| f.key).collect()
    };
    let wanted = keys(query);
    model
        .iter()
        .map(|(id, text)| (id.clone(), keys(text).intersection(&wanted).count() as u32))
        .filter(|(_, overlap)| *overlap > 0)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_index_holds_what_a_map_would(steps in proptest::collection::vec(step(), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::create(dir.path().join("index"), config()).unwrap();
        let (mut committed, mut current) = (Model::new(), Model::new());
        let mut writer = Some(index.writer(WriterOptions::default()).unwrap());
        for step in steps {
            let open = || index.writer(WriterOptions::default()).unwrap();
            match step {
                Step::Add { id, text: number } => {
                    let (id, text) = (format!("doc{id}"), text(number));
                    let signed = SignedDocument::new(document(&id, &text), index.config(), Stop::NEVER).unwrap();
                    let outcome = writer.get_or_insert_with(open).add_signed(signed).unwrap();
                    let expected = match current.insert(id, text.clone()) {
                        None => Outcome::Added,
                        Some(before) if before == text => Outcome::Unchanged,
                        Some(_) => Outcome::Replaced,
                    };
                    prop_assert_eq!(outcome, expected);
                }
                Step::Remove { id } => {
                    let id = format!("doc{id}");
                    let removed = writer.get_or_insert_with(open).remove(&id).unwrap();
                    prop_assert_eq!(removed, current.remove(&id).is_some());
                }
                Step::Commit => {
                    writer.get_or_insert_with(open).commit().unwrap();
                    committed = current.clone();
                }
                Step::Compact { segments } => {
                    drop(writer.take());
                    current = committed.clone();
                    index.compact(segments).unwrap();
                    let snapshot = index.snapshot().unwrap();
                    prop_assert!(snapshot.segments().len() <= segments);
                    prop_assert_eq!(snapshot.stats().unwrap().deleted, 0);
                }
                Step::Reopen => {
                    drop(writer.take());
                    current = committed.clone();
                }
            }
            prop_assert_eq!(&crate::common::contents(&index.snapshot().unwrap()), &committed);
        }
        drop(writer);
        let reopened = Index::open(dir.path().join("index")).unwrap();
        assert_holds(&reopened, &committed);
        let searcher = Searcher::new(reopened.snapshot().unwrap());
        for query in (0..8).map(text) {
            let query = Query::text(query).limit(100).max_df(MaxDf::Documents(1000));
            let cento::search::Subject::Text(text) = &query.subject else { unreachable!() };
            let hits = searcher.search(&query).unwrap().hits;
            let found: BTreeMap<String, u32> =
                hits.iter().map(|hit| (hit.id.clone(), hit.overlap)).collect();
            prop_assert_eq!(found, brute_force(reopened.config(), &committed, text));
        }
    }
}

#[test]
fn a_second_writer_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let _writer = index.writer(WriterOptions::default()).unwrap();
    let other = Index::open(dir.path()).unwrap();
    assert!(matches!(other.writer(WriterOptions::default()), Err(Error::Locked { .. })));
    assert!(matches!(other.compact(1), Err(Error::Locked { .. })));
}

#[test]
fn a_snapshot_outlives_commits_and_compactions() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    add(&mut writer, "a", &words(1, 50)).unwrap();
    add(&mut writer, "b", &words(2, 50)).unwrap();
    writer.commit().unwrap();
    let before = index.snapshot().unwrap();
    writer.remove("a").unwrap();
    add(&mut writer, "b", &words(3, 50)).unwrap();
    writer.finish().unwrap();
    index.compact(1).unwrap();
    let contents = crate::common::contents(&before);
    assert_eq!(contents["a"], words(1, 50));
    assert_eq!(contents["b"], words(2, 50));
    assert_eq!(crate::common::contents(&index.snapshot().unwrap()).len(), 1);
}

#[test]
fn snapshots_share_the_segments_that_a_commit_left_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let options = WriterOptions::default().merge(false);
    let mut writer = index.writer(options).unwrap();
    add(&mut writer, "a", &words(1, 50)).unwrap();
    add(&mut writer, "b", &words(2, 50)).unwrap();
    writer.commit().unwrap();
    let before = index.snapshot().unwrap();
    writer.remove("a").unwrap();
    add(&mut writer, "c", &words(3, 50)).unwrap();
    writer.commit().unwrap();
    let after = index.snapshot().unwrap();
    let shared = |view: &SegmentView| std::ptr::eq::<SegmentFiles>(&**view, &*before.segments()[0]);
    let found: Vec<bool> = after.segments().iter().map(shared).collect();
    assert_eq!(found.iter().filter(|&&is_shared| is_shared).count(), 1, "{found:?}");
    // Documents removed since are live in the earlier snapshot alone.
    assert_eq!((before.segments()[0].live_documents(), before.documents()), (2, 2));
    assert_eq!(crate::common::contents(&after).into_keys().collect::<Vec<_>>(), ["b", "c"]);
    // Segments are shared only within the same handle.
    let other = Index::open(dir.path()).unwrap().snapshot().unwrap();
    assert!(!other.segments().iter().any(shared));
}

#[test]
fn live_documents_come_in_stored_order_without_removed_and_replaced_ones() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let options = WriterOptions::default().merge(false);
    let mut writer = index.writer(options).unwrap();
    for (ids, seed) in [(["a", "b", "c"], 0), (["d", "b", "e"], 9)] {
        for id in ids {
            add(&mut writer, id, &words(seed, 20)).unwrap();
        }
        writer.commit().unwrap();
    }
    assert!(writer.remove("d").unwrap());
    writer.commit().unwrap();
    let snapshot = index.snapshot().unwrap();
    let mut live: Vec<_> = snapshot.live().collect();
    assert!(live.is_sorted() && snapshot.segments().len() == 2);
    live.sort_unstable_by_key(|&address| snapshot.id(address).unwrap());
    assert_eq!(live, ["a", "b", "c", "e"].map(|id| snapshot.find(id).unwrap().unwrap()));
}

#[test]
fn equally_good_hits_come_in_the_order_of_their_ids_wherever_they_are_stored() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let text = words(1, 80);
    for id in ["m", "c", "z", "a", "q"] {
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        add(&mut writer, id, &text).unwrap();
        writer.finish().unwrap();
    }
    let ids = |limit: usize| -> Vec<String> {
        let searcher = Searcher::new(index.snapshot().unwrap());
        let query = Query::text(&text).limit(limit);
        searcher.search(&query).unwrap().hits.into_iter().map(|hit| hit.id).collect()
    };
    assert_eq!(ids(3), ["a", "c", "m"]);
    index.compact(1).unwrap();
    assert_eq!(ids(3), ["a", "c", "m"]);
    assert_eq!(ids(10), ["a", "c", "m", "q", "z"]);
    assert_eq!(ids(0), [""; 0]);
}

#[test]
fn a_stop_fingerprint_finds_nothing_alone_but_still_counts() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let (common, rare) = (words(1, 60), words(2, 60));
    for doc in 0..20 {
        add(&mut writer, &format!("common{doc}"), &common).unwrap();
    }
    let both = format!("{common} {rare}");
    add(&mut writer, "both", &both).unwrap();
    writer.finish().unwrap();
    let searcher = Searcher::new(index.snapshot().unwrap());
    let search = |max_df| searcher.search(&Query::text(&both).max_df(max_df).limit(50)).unwrap();
    let all = search(Some(MaxDf::Documents(100)));
    assert_eq!((all.query.stopped, all.hits.len()), (0, 21));
    let pruned = search(Some(MaxDf::Documents(10)));
    assert!(pruned.query.stopped > 0);
    assert_eq!(pruned.hits.len(), 1);
    assert_eq!(pruned.hits[0], all.hits[0]);
    assert_eq!(pruned.hits[0].similarity.containment_of_a, 1.0);
}

#[test]
fn stop_fingerprints_do_not_depend_on_deleted_documents() {
    // Document frequencies of a segment include deleted documents until the segment is merged.
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    for doc in 0..20 {
        add(&mut writer, &format!("doc{doc}"), &words(1, 60)).unwrap();
    }
    writer.commit().unwrap();
    (0..11).for_each(|doc| assert!(writer.remove(&format!("doc{doc}")).unwrap()));
    writer.finish().unwrap();
    let search = || {
        let searcher = Searcher::new(index.snapshot().unwrap());
        let query = Query::text(words(1, 60)).max_df(MaxDf::Documents(10));
        let answer = searcher.search(&query).unwrap();
        (answer.query, answer.hits)
    };
    let before = search();
    assert_eq!((before.0.stopped, before.1.len()), (0, 9));
    index.compact(1).unwrap();
    assert_eq!(search(), before);
}

#[test]
fn compaction_leaves_only_the_files_of_the_segments_that_are() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    for doc in 0..3 {
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        add(&mut writer, &format!("doc{doc}"), &words(doc, 60)).unwrap();
        writer.finish().unwrap();
    }
    assert_eq!(index.snapshot().unwrap().segments().len(), 3);
    let done = index.compact(1).unwrap();
    assert_eq!((done.segments_before, done.segments_after), (3, 1));
    let sigs = std::fs::read_dir(dir.path()).unwrap().filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "sig")
    });
    assert_eq!(sigs.count(), 1);
}

#[test]
fn an_index_of_another_analyser_is_refused_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    Index::create(dir.path(), config()).unwrap();
    let meta = dir.path().join("meta.json");
    let text = std::fs::read_to_string(&meta).unwrap();
    let (json, _) = text.rsplit_once(",\"cento_crc32\"").unwrap();
    let at = json.find("\"analyzer_digest\": \"").unwrap() + 20;
    let damaged = format!("{}0000000000000000{}}}", &json[..at], &json[at + 16..]);
    let crc = crc32fast::hash(damaged.as_bytes());
    let sealed = format!("{},\"cento_crc32\":{crc}}}", &damaged[..damaged.len() - 1]);
    std::fs::write(&meta, sealed).unwrap();
    let error = Index::open(dir.path()).err().unwrap().to_string();
    assert!(error.contains("analyzer_digest") && error.contains("create a new index"), "{error}");
}

#[test]
fn texts_whose_digests_share_a_half_are_not_the_same() {
    // Among 10^9 texts, two share 64 bits with a probability of 2.7 %, so this test forges digests.
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let signed = |id: &str, low, high| {
        let signed =
            SignedDocument::new(document(id, &words(high, 20)), index.config(), Stop::NEVER)
                .unwrap();
        SignedDocument { digest: Digest { low, high }, ..signed }
    };
    assert_eq!(writer.add_signed(signed("a", 1, 1)).unwrap(), Outcome::Added);
    assert_eq!(writer.add_signed(signed("a", 1, 2)).unwrap(), Outcome::Replaced);
    assert_eq!(writer.add_signed(signed("a", 1, 2)).unwrap(), Outcome::Unchanged);
    assert_eq!(writer.add_signed(signed("b", 1, 3)).unwrap(), Outcome::Added);
    writer.commit().unwrap();
    assert_eq!(writer.add_signed(signed("a", 1, 2)).unwrap(), Outcome::Unchanged);
    assert_eq!(writer.add_signed(signed("c", 3, 3)).unwrap(), Outcome::Added);
    writer.finish().unwrap();
    for segments in [2, 1] {
        let snapshot = index.snapshot().unwrap();
        assert_eq!(snapshot.segments().len(), segments);
        let found = |low, high| snapshot.find_digest(Digest { low, high }).unwrap();
        assert_eq!(found(1, 1), None);
        assert_eq!(found(1, 2).as_deref(), Some("a"));
        assert_eq!(found(1, 3).as_deref(), Some("b"));
        assert_eq!(found(3, 3).as_deref(), Some("c"));
        let holds = |low, high| snapshot.holds(&document("a", ""), Digest { low, high }).unwrap();
        assert!(holds(1, 2) && !holds(1, 3) && !holds(2, 2));
        index.compact(1).unwrap();
    }
}

#[test]
fn of_documents_with_one_digest_the_live_one_of_the_least_id_is_found() {
    let index = Index::in_memory(config()).unwrap();
    let text = words(1, 20);
    let found = || index.snapshot().unwrap().find_digest(Digest::of(text.as_bytes())).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for id in ["c", "a", "d", "b"] {
        writer.add(document(id, &text)).unwrap();
    }
    writer.commit().unwrap();
    for expected in ["a", "b", "c", "d"] {
        assert_eq!(found().as_deref(), Some(expected));
        writer.remove(expected).unwrap();
        writer.commit().unwrap();
    }
    assert_eq!(found(), None);
}

#[cfg(unix)]
#[test]
fn a_copy_that_was_removed_while_it_is_searched_has_statistics() {
    // A follower removes an old copy while requests still read the copy.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("copy");
    let index = Index::create(&path, config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add(document("a", &words(1, 50))).unwrap();
    writer.finish().unwrap();
    let snapshot = index.snapshot().unwrap();
    let before = snapshot.stats().unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    let after = snapshot.stats().unwrap();
    assert_eq!(after.bytes.signatures, before.bytes.signatures);
    assert_eq!(after.bytes.text, before.bytes.text);
    assert_eq!((after.documents, after.postings), (before.documents, before.postings));
}

#[test]
fn every_fault_of_a_directory_has_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("idx");
    let new = || Config::new("winnow", "words", true).unwrap();
    let reason = |result: cento::Result<Index>| result.err().unwrap().reason().code();
    assert_eq!(reason(Index::open(&path)), "not_found");
    let index = Index::create(&path, new()).unwrap();
    assert_eq!(reason(Index::create(&path, new())), "already_exists");
    let full = dir.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("notes.txt"), "notes").unwrap();
    assert_eq!(reason(Index::create(&full, new())), "not_empty");
    assert_eq!(reason(Index::open(&full)), "not_found");
    let kgram = Config::new("kgram", "words", true).unwrap();
    let other = index.config().check_signs_as(&kgram, &path).unwrap_err();
    assert_eq!(other.reason(), Reason::OtherScheme);
    let writer = index.writer(WriterOptions::default()).unwrap();
    let second = index.writer(WriterOptions::default()).unwrap_err();
    assert_eq!(second.reason(), Reason::Locked);
    // The index is replaced while it is open.
    drop(writer);
    std::fs::remove_dir_all(&path).unwrap();
    Index::create(&path, kgram).unwrap();
    let moved = index.writer(WriterOptions::default()).unwrap_err();
    assert_eq!(moved.reason(), Reason::Replaced);
}

#[test]
fn a_check_and_a_count_report_how_far_they_are() {
    use std::cell::RefCell;

    use cento::index::CheckProgress;
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for number in 0..300u64 {
        add(&mut writer, &format!("d{number}"), &words(number, 200)).unwrap();
    }
    writer.finish().unwrap();
    let seen = RefCell::new(Vec::new());
    assert!(index.check_with(&|at| seen.borrow_mut().push(at)).unwrap().problems.is_empty());
    let seen = seen.into_inner();
    let is_bytes = |at: &CheckProgress| matches!(at, CheckProgress::Bytes { .. });
    let (bytes, documents) = seen.split_at(seen.iter().filter(|at| is_bytes(at)).count());
    assert!(bytes.len() > 1 && bytes.iter().all(is_bytes), "{seen:?}");
    assert!(matches!(bytes.last(), Some(CheckProgress::Bytes { done, of }) if done == of));
    let expected = (1..=300).map(|done| CheckProgress::Documents { done, of: 300 });
    assert!(expected.eq(documents.iter().copied()), "{documents:?}");
    let snapshot = index.snapshot().unwrap();
    let (told, all) = (RefCell::new(Vec::new()), snapshot.stats().unwrap());
    let counted = snapshot.df_distribution_with(&|done| told.borrow_mut().push(done)).unwrap();
    assert_eq!(counted, snapshot.df_distribution().unwrap());
    let told = told.into_inner();
    assert_eq!(told.len() as u64, all.terms / 4096);
    assert!(told.is_sorted() && told.iter().all(|done| *done <= all.postings), "{told:?}");
}
