//! An interrupted creation or write leaves an index that can be used or cleaned up.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::common::{add, assert_holds, config, words};
use cento::Error;
use cento::index::{Config, Index, Training, WriterOptions};

/// A configuration whose scheme reads a table of `text`.
fn config_with_table(dir: &Path, text: &str) -> Config {
    let training = Training { analyzer: "chars".parse().unwrap(), q: 3, spex: false };
    let mut texts = |add: &mut dyn FnMut(&str) -> cento::Result<()>| add(text);
    let table = training.write(&mut texts, &dir.join("table")).unwrap();
    Config::with_frequencies("fbw(q=3,w=4)", "chars", true, Some(Arc::new(table))).unwrap()
}

#[test]
fn a_creation_that_was_cut_off_after_the_table_is_resumed() {
    let work = tempfile::tempdir().unwrap();
    let config = || config_with_table(work.path(), &words(1, 300));
    let path = work.path().join("index");
    Index::create(&path, config()).unwrap();
    // What a kill between the table and the list of segments leaves.
    fs::remove_file(path.join("meta.json")).unwrap();
    fs::write(path.join(".tmpAb12Cd"), "{").unwrap();
    let other = config_with_table(work.path(), &words(2, 300));
    let error = Index::create(&path, other).err().unwrap().to_string();
    assert!(error.contains("frequencies.cento") && error.contains("delete it"), "{error}");
    let index = Index::create(&path, config()).unwrap();
    assert_eq!(index.check().unwrap().problems, []);
    assert!(matches!(Index::create(&path, config()), Err(Error::Index { .. })));
}

#[test]
fn a_writer_removes_the_rest_of_interrupted_writes() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let left = [".tmpAb12Cd", ".tmp0zZ9qQ"];
    let others = [".tmpfile", ".tmpAb12Cde", "frequencies.cento", ".mine"];
    for name in left.iter().chain(&others) {
        fs::write(dir.path().join(name), "left").unwrap();
    }
    fs::create_dir(dir.path().join(".tmpFolde1")).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for name in left {
        assert!(!dir.path().join(name).exists(), "{name}");
    }
    for name in others.iter().chain(&[".tmpFolde1"]) {
        assert!(dir.path().join(name).exists(), "{name}");
    }
    add(&mut writer, "a", &words(1, 40)).unwrap();
    writer.finish().unwrap();
    assert_holds(&index, &[("a".to_owned(), words(1, 40))].into());
}

#[test]
fn a_writer_collects_segments_that_came_between_its_opening_and_its_lock() {
    // The writer knew only the files of the time when the index was opened. Segments that a
    // different writer committed in between stayed on disk after a merge. Only a withdrawal looked
    // at them, and failed.
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let early = [Index::open(dir.path()).unwrap(), Index::open(dir.path()).unwrap()];
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    for id in ["a", "b"] {
        add(&mut writer, id, &words(1, 40)).unwrap();
        writer.commit().unwrap();
    }
    writer.finish().unwrap();
    let [purged, compacted] = early;
    let mut writer = purged.writer(WriterOptions::default().merge(false)).unwrap();
    assert!(writer.remove("a").unwrap());
    writer.commit().unwrap();
    assert_eq!(writer.purge().unwrap(), 0);
    writer.finish().unwrap();
    assert_eq!(purged.check().unwrap().unlisted, [""; 0]);
    compacted.compact(1).unwrap();
    assert_eq!(compacted.check().unwrap().unlisted, [""; 0]);
    assert_holds(&compacted, &[("b".to_owned(), words(1, 40))].into());
}
