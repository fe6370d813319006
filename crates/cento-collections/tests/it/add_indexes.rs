//! Merged indexes answer like an index built of the same documents, whatever happens in between.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cento::hash::{hash_bytes, mix64};
use cento::index::{Config, Document, Index, WriterOptions};
use cento::search::{Query, Searcher};
use cento::{AddIndexesOptions, AddedIndexes, Error, OnConflict};
use cento_collections::Thresholds;
use cento_collections::pairs::{PairOptions, pairs};
use proptest::prelude::*;
use serde_json::json;

use crate::common::sim::{Fault, SimDirectory};
use crate::common::{Model, add, assert_holds, config, contents, holds, words};

fn later() -> AddIndexesOptions {
    AddIndexesOptions::default().on_conflict(OnConflict::Later)
}

fn moving() -> AddIndexesOptions {
    AddIndexesOptions::default().remove(true)
}

/// Fills an index with these documents, one per commit, and then removes the documents in
/// `removed`.
fn shard(index: Index, documents: &[(&str, u64)], removed: &[&str]) -> Index {
    let options = WriterOptions::default().merge(false);
    let mut writer = index.writer(options).unwrap();
    for (id, seed) in documents {
        add(&mut writer, id, &words(*seed, 60)).unwrap();
        writer.commit().unwrap();
    }
    for id in removed {
        assert!(writer.remove(id).unwrap(), "{id}");
    }
    writer.finish().unwrap();
    index
}

fn in_memory(documents: &[(&str, u64)], removed: &[&str]) -> Index {
    shard(Index::in_memory(config()).unwrap(), documents, removed)
}

fn on_disk(path: &Path, documents: &[(&str, u64)]) -> PathBuf {
    drop(shard(Index::create(path, config()).unwrap(), documents, &[]));
    path.to_owned()
}

fn model(documents: &[(&str, u64)]) -> Model {
    documents.iter().map(|(id, seed)| ((*id).to_owned(), words(*seed, 60))).collect()
}

fn merge(
    index: &Index,
    shards: &[Index],
    options: AddIndexesOptions,
) -> cento::Result<AddedIndexes> {
    let mut writer = index.writer(WriterOptions::default())?;
    let merged = writer.add_indexes(shards, options)?;
    writer.finish()?;
    Ok(merged)
}

/// Texts with frequent common passages.
fn collection() -> Vec<Document> {
    let part = |seed: u64, count| words(mix64(seed) % 17, count);
    let text = |i: u64| format!("{} {} {}", part(i, 40), words(1000 + i, 30), part(i / 3, 60));
    (0..48).map(|i| Document::new(format!("d{i:02}"), text(i))).collect()
}

fn built(path: &Path, documents: impl Iterator<Item = Document>) {
    let config = Config::new("winnow(k=3,w=4)", "words", true).unwrap();
    let index = Index::create(path, config).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for (i, document) in documents.enumerate() {
        writer.add(document).unwrap();
        if i % 7 == 6 {
            writer.commit().unwrap();
        }
    }
    writer.finish().unwrap();
}

/// The answers of an index about its documents: the hits of each document as a query, with numbers
/// and passages, and the pairs.
fn answers(index: &Index) -> (BTreeMap<String, serde_json::Value>, Vec<String>) {
    let searcher = Searcher::new(index.snapshot().unwrap());
    let mut hits = BTreeMap::new();
    for document in collection() {
        let query = Query::text(document.text).limit(200).passages(true);
        let answer = searcher.search(&query).unwrap();
        hits.insert(document.id, json!({ "hits": answer.hits, "query": answer.query }));
    }
    let id = |address| searcher.snapshot().id(address).unwrap();
    let all = PairOptions::default().thresholds(Thresholds::default().min_overlap(1));
    let shown = pairs(&searcher, &all).map(|pair| {
        let pair = pair.unwrap();
        // The storage decides which document is `a`.
        let mut sides = [(id(pair.a), pair.overlap.in_a), (id(pair.b), pair.overlap.in_b)];
        sides.sort();
        format!("{sides:?} {}", pair.overlap.shared)
    });
    let mut found: Vec<_> = shown.collect();
    found.sort();
    (hits, found)
}

#[test]
fn merged_indexes_answer_as_one_that_was_built_of_all_documents() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    built(&path("whole"), collection().into_iter());
    let expected = answers(&Index::open(path("whole")).unwrap());
    assert!(expected.1.len() > 100, "{} pairs", expected.1.len());
    for count in [1, 4, 16] {
        let shards: Vec<PathBuf> = (0..count).map(|i| path(&format!("{count}-{i}"))).collect();
        for (number, shard) in (0..).zip(&shards) {
            let own = |document: &Document| hash_bytes(document.id.as_bytes()) % count == number;
            built(shard, collection().into_iter().filter(own));
        }
        let all = path(&format!("all{count}"));
        let merged = Index::add_indexes(&all, &shards, AddIndexesOptions::default()).unwrap();
        assert_eq!((merged.documents, merged.replaced, merged.known), (48, 0, 0));
        let index = Index::open(&all).unwrap();
        assert_eq!(index.check().unwrap().problems, []);
        assert_eq!(index.snapshot().unwrap().segments().len(), merged.segments);
        let found = answers(&index);
        let differing = found.1.iter().zip(&expected.1).find(|(found, expected)| found != expected);
        assert_eq!((differing, found.1.len()), (None, expected.1.len()), "{count} shards");
        for (id, expected) in &expected.0 {
            assert_eq!(&found.0[id], expected, "{id}, {count} shards");
        }
        index.compact(1).unwrap();
        assert!(answers(&index) == expected, "{count} shards, compacted");
    }
}

#[test]
fn an_id_that_occurs_twice_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let shards = [
        on_disk(&path("a"), &[("x", 1), ("y", 2)]),
        on_disk(&path("b"), &[("z", 3)]),
        on_disk(&path("c"), &[("y", 2), ("w", 4), ("z", 9)]),
    ];
    let error = Index::add_indexes(path("all"), &shards, AddIndexesOptions::default())
        .unwrap_err()
        .to_string();
    for part in ["`y`", &shards[0].display().to_string(), &shards[2].display().to_string()] {
        assert!(error.contains(part), "{error}");
    }
    assert!(!path("all").exists());
    // The same holds for ids that the target index has.
    Index::add_indexes(path("all"), &shards[..2], AddIndexesOptions::default()).unwrap();
    let before = fs::read(path("all/meta.json")).unwrap();
    let error =
        Index::add_indexes(path("all"), &shards[2..], AddIndexesOptions::default()).unwrap_err();
    let error = error.to_string();
    assert!(error.contains(&path("all").display().to_string()), "{error}");
    assert!(error.contains("`y`") && error.contains(&shards[2].display().to_string()), "{error}");
    assert!(fs::read(path("all/meta.json")).unwrap() == before);
}

#[test]
fn later_shards_win_if_they_may_and_that_is_counted() {
    let index = in_memory(&[("old", 1), ("x", 2), ("y", 3)], &[]);
    let shards = [in_memory(&[("x", 4), ("y", 5), ("a", 6)], &[]), in_memory(&[("y", 7)], &[])];
    let merged = merge(&index, &shards, later()).unwrap();
    assert_eq!((merged.documents, merged.replaced, merged.segments), (3, 3, 3));
    let expected = model(&[("old", 1), ("x", 4), ("y", 7), ("a", 6)]);
    assert_holds(&index, &expected);
    // A segment is not taken, now or later, if a later shard replaces its documents.
    let again = merge(&index, &shards, later()).unwrap();
    assert_eq!((again.documents, again.segments, again.known), (0, 0, 4));
    assert_holds(&index, &expected);
    index.compact(1).unwrap();
    assert_holds(&index, &expected);
    assert_eq!(merge(&index, &shards, later()).unwrap().known, 4);
}

#[test]
fn a_merge_after_adopting_deletes_replaced_documents_and_nothing_else() {
    // The deletion of older documents still waits in tantivy's queue when new segments are merged.
    let ids: Vec<String> = (0..12).map(|i| format!("d{i:02}")).collect();
    let of = |from: u64| ids.iter().map(String::as_str).zip(from..).collect::<Vec<_>>();
    let index = in_memory(&of(0), &[]);
    let shards = [in_memory(&of(100), &[]), in_memory(&of(200)[..6], &[])];
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    add(&mut writer, "before", &words(1, 60)).unwrap();
    add(&mut writer, "d00", &words(2, 60)).unwrap();
    let merged = writer.add_indexes(&shards, later()).unwrap();
    assert_eq!(merged.replaced, 12 + 6);
    add(&mut writer, "after", &words(3, 60)).unwrap();
    writer.commit().unwrap();
    writer.finish().unwrap();
    assert!(index.merges() > 0);
    let mut expected = model(&of(100));
    expected.extend(model(&of(200)[..6]));
    expected.extend([("before".into(), words(1, 60)), ("after".into(), words(3, 60))]);
    assert_holds(&index, &expected);
}

#[test]
fn deleted_documents_stay_deleted() {
    let one = Index::in_memory(config()).unwrap();
    let mut writer = one.writer(WriterOptions::default()).unwrap();
    for (id, seed) in [("a", 1), ("b", 2), ("c", 3)] {
        add(&mut writer, id, &words(seed, 60)).unwrap();
    }
    writer.commit().unwrap();
    add(&mut writer, "b", &words(4, 60)).unwrap();
    writer.remove("c").unwrap();
    writer.finish().unwrap();
    let index = in_memory(&[("c", 9)], &[]);
    let merged = merge(&index, &[one], AddIndexesOptions::default()).unwrap();
    assert_eq!((merged.documents, merged.segments), (2, 2));
    assert_holds(&index, &model(&[("a", 1), ("b", 4), ("c", 9)]));
}

#[test]
fn documents_removed_from_a_shard_after_its_merge_are_counted() {
    let one = in_memory(&[("a", 1), ("b", 2)], &[]);
    let index = Index::in_memory(config()).unwrap();
    assert_eq!(
        merge(&index, std::slice::from_ref(&one), AddIndexesOptions::default()).unwrap().documents,
        2
    );
    let one = shard(one, &[("c", 3), ("d", 3)], &["d"]);
    let one = shard(one, &[("e", 4)], &[]);
    // Two documents in a segment, so that the segment stays when a document is removed.
    one.compact(1).unwrap();
    let error = merge(&index, std::slice::from_ref(&one), AddIndexesOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("`a`"), "{error}");
    let merged = merge(&index, std::slice::from_ref(&one), later()).unwrap();
    assert_eq!((merged.documents, merged.replaced, merged.removed_since), (4, 2, 0));
    let one = shard(one, &[], &["c"]);
    let merged = merge(&index, &[one], later()).unwrap();
    assert_eq!((merged.documents, merged.known, merged.removed_since), (0, 1, 1));
    assert_holds(&index, &model(&[("a", 1), ("b", 2), ("c", 3), ("e", 4)]));
}

#[test]
fn an_index_that_signs_otherwise_is_refused() {
    let index = in_memory(&[("a", 1)], &[]);
    let other = |scheme: &str, analyzer: &str, text| {
        Index::in_memory(Config::new(scheme, analyzer, text).unwrap()).unwrap()
    };
    let check = |other: Index, parts: [&str; 2]| {
        let error = merge(&index, &[other], later()).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    check(other("winnow(k=4,w=10)", "words", true), ["k=4", "k=5"]);
    check(other("winnow(k=5,w=10)", "chars", true), ["chars", "words"]);
    check(other("winnow(k=5,w=10)", "words", false), ["does not store texts", "stores them"]);
    assert_holds(&index, &model(&[("a", 1)]));
    // Nothing is created for shards that do not fit together.
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    on_disk(&path("one"), &[("a", 1)]);
    Index::create(path("two"), Config::new("kgram(k=5)", "words", true).unwrap()).unwrap();
    let shards = [path("one"), path("two")];
    assert!(Index::add_indexes(path("all"), &shards, later()).is_err());
    assert!(!path("all").exists());
}

#[test]
fn a_shard_that_is_being_written_is_refused() {
    let one = in_memory(&[("a", 1)], &[]);
    let index = Index::in_memory(config()).unwrap();
    let writer = one.writer(WriterOptions::default()).unwrap();
    let error = merge(&index, std::slice::from_ref(&one), later()).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    drop(writer);
    merge(&index, &[one], later()).unwrap();
    assert_holds(&index, &model(&[("a", 1)]));
}

#[test]
fn an_index_that_is_refused_its_shards_is_not_created() {
    // Once an empty index was created before a shard was found to be locked, damaged or in
    // conflict.
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let shards =
        [on_disk(&path("a"), &[("a", 1)]), on_disk(&path("b"), &[("b", 2)]), path("again")];
    on_disk(&shards[2], &[("b", 3)]);
    let refused = |shards: &[PathBuf], options| {
        let error = Index::add_indexes(path("all"), shards, options).unwrap_err();
        assert!(!path("all").exists(), "{error}");
        error
    };
    let locked = Index::open(&shards[1]).unwrap();
    let writer = locked.writer(WriterOptions::default()).unwrap();
    assert!(matches!(refused(&shards[..2], later()), Error::Locked { .. }));
    drop(writer);
    let error = refused(&shards, AddIndexesOptions::default()).to_string();
    assert!(error.contains("the document `b` is in"), "{error}");
    let twice = [shards[0].clone(), shards[0].clone()];
    assert!(refused(&twice, later()).to_string().contains("named twice"));
    let merged = Index::add_indexes(path("all"), &shards, later()).unwrap();
    assert_eq!((merged.documents, merged.replaced), (2, 1));
    assert_holds(&Index::open(path("all")).unwrap(), &model(&[("a", 1), ("b", 3)]));
}

#[test]
fn a_shard_is_not_merged_with_itself_or_twice() {
    let dir = tempfile::tempdir().unwrap();
    let path = on_disk(&dir.path().join("a"), &[("a", 1)]);
    let error = Index::add_indexes(&path, &[&path], later()).unwrap_err().to_string();
    assert!(error.contains("with itself"), "{error}");
    let all = dir.path().join("all");
    let error = Index::add_indexes(&all, &[&path, &dir.path().join("./a")], later()).unwrap_err();
    assert!(error.to_string().contains("named twice"), "{error}");
}

#[test]
fn a_damaged_shard_is_refused_whatever_file_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let shards = [on_disk(&path("a"), &[("a", 1)]), on_disk(&path("b"), &[("b", 2)])];
    let files = fs::read_dir(&shards[1]).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files.filter(|file| file.extension().is_some()).collect();
    let is_of_segment = |file: &&PathBuf| file.file_stem().is_some_and(|stem| stem.len() == 32);
    let files: Vec<&PathBuf> = files.iter().filter(is_of_segment).collect();
    assert_eq!(files.len(), 7);
    let mut seen = 0;
    for file in files {
        for options in [later(), moving()] {
            let whole = fs::read(file).unwrap();
            for at in [0, whole.len() / 3, whole.len() - 9] {
                let mut damaged = whole.clone();
                damaged[at] ^= 0x10;
                fs::write(file, damaged).unwrap();
                let error = Index::add_indexes(path("all"), &shards, options).unwrap_err();
                assert!(matches!(error, Error::Corrupt(_)), "{}: {error}", file.display());
                let name = file.display().to_string();
                assert!(error.to_string().contains(&name), "{name}: {error}");
                seen += 1;
            }
            fs::write(file, whole).unwrap();
        }
    }
    assert_eq!(seen, 42);
    let index = Index::open(path("all")).unwrap();
    assert_holds(&index, &Model::new());
    // The copied files are gone.
    let left = fs::read_dir(path("all")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| !name.to_string_lossy().starts_with('.')).collect();
    assert_eq!(left, ["meta.json"]);
    Index::add_indexes(path("all"), &shards, moving()).unwrap();
    assert_holds(&index, &model(&[("a", 1), ("b", 2)]));
}

#[test]
fn a_moved_shard_is_linked_and_removed_and_a_removal_that_was_cut_off_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let shards = [on_disk(&path("a"), &[("a", 1), ("b", 2)]), on_disk(&path("c"), &[("c", 3)])];
    fs::write(shards[0].join("notes.txt"), "mine").unwrap();
    let error = Index::add_indexes(path("all"), &shards, moving()).unwrap_err().to_string();
    assert!(error.contains("notes.txt"), "{error}");
    fs::remove_file(shards[0].join("notes.txt")).unwrap();

    Index::add_indexes(path("all"), &shards[..1], AddIndexesOptions::default()).unwrap();
    let is_component = |path: &Path| path.extension().is_some_and(|e| e == "sig" || e == "fast");
    for entry in fs::read_dir(&shards[0]).unwrap() {
        let path = entry.unwrap().path();
        if is_component(&path) {
            fs::remove_file(path).unwrap();
        }
    }
    // Without the list, nothing would say that the shard may be removed.
    let merged = Index::add_indexes(path("all"), &shards, moving()).unwrap();
    assert_eq!((merged.documents, merged.known, merged.removed, merged.linked), (1, 2, 2, 7));
    assert!(!shards[0].exists() && !shards[1].exists());
    let index = Index::open(path("all")).unwrap();
    assert_holds(&index, &model(&[("a", 1), ("b", 2), ("c", 3)]));
    index.compact(1).unwrap();
    assert_holds(&index, &model(&[("a", 1), ("b", 2), ("c", 3)]));
}

#[test]
fn a_note_and_the_record_of_merges_are_separate() {
    let one = in_memory(&[("a", 1)], &[]);
    let index = in_memory(&[("b", 2)], &[]);
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.commit_with("a note").unwrap();
    writer.add_indexes(std::slice::from_ref(&one), later()).unwrap();
    assert_eq!(index.note().unwrap().as_deref(), Some("a note"));
    writer.commit_with("another").unwrap();
    assert_eq!(writer.add_indexes(&[one], later()).unwrap().known, 1);
}

/// The shards for tests of faults, with deletions and replaced documents.
fn shards_of_faults() -> [Index; 2] {
    [
        in_memory(&[("a", 1), ("b", 2), ("x", 3)], &["b"]),
        in_memory(&[("x", 4), ("c", 5), ("own1", 6)], &[]),
    ]
}

/// Fails every operation if `CENTO_FAULT_SEEDS` is set, as in `crash.rs`, which takes minutes.
#[test]
fn a_merge_that_was_cut_off_at_any_operation_can_be_repeated() {
    let stride = if std::env::var_os("CENTO_FAULT_SEEDS").is_some() { 1 } else { 23 };
    let shards = shards_of_faults();
    let old = model(&[("own0", 7), ("own1", 8)]);
    let new = model(&[("own0", 7), ("own1", 6), ("a", 1), ("x", 4), ("c", 5)]);
    let faults: [fn(usize) -> Fault; 4] =
        [Fault::PowerCut, Fault::NoSpace, Fault::WriteError, Fault::SyncError];
    let mut seen = [0, 0];
    for fault in faults {
        for at in (0..).step_by(stride) {
            let directory = SimDirectory::default();
            let index = Index::create_in(directory.clone(), "sim", config()).unwrap();
            let index = shard(index, &[("own0", 7), ("own1", 8)], &[]);
            directory.inject(fault(at));
            let merged = merge(&index, &shards, later());
            let (has_failed, counted) = (directory.has_failed(), directory.counted());
            assert_eq!(directory.deleted_too_early(), Vec::<PathBuf>::new());
            directory.repair();
            let seed = mix64(at as u64);
            for after in [directory.after_kill(), directory.after_power_cut(seed)] {
                let place = format!("{:?}", fault(at));
                let index = Index::open_in(after, "sim").unwrap();
                let found = contents(&index.snapshot().unwrap());
                assert!(found == old || found == new, "{place}: {:?}", found.keys());
                assert!(merged.is_err() || found == new, "{place}: it was acknowledged");
                seen[usize::from(found == new)] += 1;
                let again = merge(&index, &shards, later()).unwrap();
                assert_eq!(again.known, if found == new { 5 } else { 0 }, "{place}");
                holds(&index, &new).unwrap_or_else(|what| panic!("{place}: {what}"));
            }
            if !has_failed && counted <= at {
                assert!(at > 40, "only {at} operations: too few to cover a merge");
                break;
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 4), "{seen:?}");
}

fn documents() -> impl Strategy<Value = Vec<(u8, u8, bool)>> {
    prop::collection::vec((0u8..14, 0u8..6, any::<bool>()), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_last_of_merged_indexes_decides_about_an_id(
        indexes in prop::collection::vec((documents(), prop::collection::vec(0u8..14, 0..4)), 1..5),
        batch in 1usize..4,
    ) {
        let mut expected = Model::new();
        let mut all = Vec::new();
        for (documents, removed) in &indexes {
            let index = Index::in_memory(config()).unwrap();
            let options = WriterOptions::default().merge(false);
            let mut writer = index.writer(options).unwrap();
            let mut own = Model::new();
            for (id, seed, is_committed) in documents {
                add(&mut writer, &id.to_string(), &words((*seed).into(), 40)).unwrap();
                own.insert(id.to_string(), words((*seed).into(), 40));
                if *is_committed {
                    writer.commit().unwrap();
                }
            }
            for id in removed {
                prop_assert_eq!(writer.remove(&id.to_string()).unwrap(), own.remove(&id.to_string()).is_some());
            }
            writer.finish().unwrap();
            expected.extend(own);
            all.push(index);
        }
        let (first, shards) = all.split_first().unwrap();
        for shards in shards.chunks(batch) {
            merge(first, shards, later()).unwrap();
            // Merging the shards again in turn brings nothing new.
            for shard in shards {
                let again = merge(first, std::slice::from_ref(shard), later()).unwrap();
                prop_assert_eq!((again.documents, again.replaced), (0, 0));
            }
        }
        assert_holds(first, &expected);
    }
}
