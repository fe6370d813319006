//! A merge that moves its shards can be repeated after an interruption at any point.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cento::AddIndexesOptions;
use cento::index::{Index, WriterOptions};
use cento::runtime::{Faults, Point};

use crate::common::{Model, add, assert_holds, words};
use crate::crash::config_with_table;

fn moving() -> AddIndexesOptions {
    AddIndexesOptions::default().remove(true)
}

/// A shard of a document. The frequency table is a further file to remove.
fn shard(path: &Path, id: &str, seed: u64) {
    let index = Index::create(path, config_with_table()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    add(&mut writer, id, &words(seed, 60)).unwrap();
    writer.finish().unwrap();
}

/// Two shards in `dir`, and the index that takes the shards.
fn shards(dir: &Path) -> [PathBuf; 2] {
    let paths = [dir.join("a"), dir.join("b")];
    shard(&paths[0], "a", 1);
    shard(&paths[1], "b", 2);
    Index::create(dir.join("all"), config_with_table()).unwrap();
    paths
}

fn expected() -> Model {
    [("a", 1), ("b", 2)].into_iter().map(|(id, seed)| (id.to_owned(), words(seed, 60))).collect()
}

/// Merges and fails at the step with this number. Returns whether the step exists.
fn cut_off(dir: &Path, shards: &[PathBuf], step: u64) -> bool {
    let index = Index::open(dir.join("all")).unwrap();
    let steps = AtomicU64::new(0);
    index.set_faults(Faults::new(move |point, _| {
        let is_it = point == Point::RemoveOfShard && steps.fetch_add(1, Ordering::SeqCst) == step;
        if is_it { Err(io::Error::other("the power is off")) } else { Ok(()) }
    }));
    let opened: Vec<Index> = shards.iter().map(|shard| Index::open(shard).unwrap()).collect();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add_indexes(&opened, moving()).is_err()
}

/// Once this failed with "there is no index" if the list or the directory of the first shard was
/// gone.
#[test]
fn a_move_that_was_cut_off_at_any_step_is_finished_by_a_repetition() {
    let (mut step, mut gone) = (0, 0);
    loop {
        let dir = tempfile::tempdir().unwrap();
        let shards = shards(dir.path());
        if !cut_off(dir.path(), &shards, step) {
            break;
        }
        assert!(!shards.iter().all(|shard| !shard.exists()), "step {step}");
        gone += u64::from(!shards[0].exists());
        let merged = Index::add_indexes(dir.path().join("all"), &shards, moving()).unwrap();
        assert_eq!((merged.documents, merged.removed), (0, 2), "step {step}");
        assert!(shards.iter().all(|shard| !shard.exists()), "step {step}");
        let index = Index::open(dir.path().join("all")).unwrap();
        assert_holds(&index, &expected());
        assert!(!dir.path().join("all/.moving.json").exists(), "step {step}");
        // Without the note, a shard that never existed is refused.
        assert!(Index::add_indexes(dir.path().join("all"), &shards, moving()).is_err());
        step += 1;
    }
    assert!(step > 20 && gone > 8, "{step} steps, {gone} after the first shard");
}

#[test]
fn a_shard_that_was_made_anew_in_the_same_place_is_merged() {
    let dir = tempfile::tempdir().unwrap();
    let shards = shards(dir.path());
    assert!(cut_off(dir.path(), &shards, 5));
    fs::remove_dir_all(&shards[0]).unwrap();
    shard(&shards[0], "c", 3);
    let merged = Index::add_indexes(dir.path().join("all"), &shards, moving()).unwrap();
    assert_eq!((merged.documents, merged.removed), (1, 2));
    let mut expected = expected();
    expected.insert("c".into(), words(3, 60));
    assert_holds(&Index::open(dir.path().join("all")).unwrap(), &expected);
}

#[test]
fn a_shard_that_never_was_is_refused_and_nothing_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let [first, second] = shards(dir.path());
    let error = Index::add_indexes(
        dir.path().join("all"),
        &[first.clone(), dir.path().join("x")],
        moving(),
    );
    assert!(error.unwrap_err().to_string().contains("no index"));
    assert!(first.join("meta.json").exists() && second.join("meta.json").exists());
}

/// The shards may be given again in turn, or beside further shards.
#[test]
fn an_interrupted_merge_is_finished_in_parts() {
    let dir = tempfile::tempdir().unwrap();
    let shards = shards(dir.path());
    assert!(cut_off(dir.path(), &shards, 3));
    shard(&dir.path().join("c"), "c", 3);
    let all = dir.path().join("all");
    let merged = Index::add_indexes(&all, &[dir.path().join("c")], moving()).unwrap();
    assert_eq!((merged.documents, merged.removed), (1, 1));
    for shard in &shards {
        assert_eq!(Index::add_indexes(&all, &[shard], moving()).unwrap().removed, 1);
    }
    assert!(shards.iter().all(|shard| !shard.exists()));
    assert!(!all.join(".moving.json").exists());
}
