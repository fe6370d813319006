//! Misplaced files and files with the wrong content are noticed (segments-format.md, section 9).

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{add, config, words};
use cento::Error;
use cento::index::{Index, WriterOptions};

const EXTENSIONS: [&str; 8] = ["del", "fast", "fieldnorm", "idx", "pos", "sig", "store", "term"];

/// Returns an index of two segments that are as alike as possible: equally many documents with the
/// same number of words, and a removed document in each.
fn twin_segments() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    for commit in 0..2 {
        for doc in 0..5 {
            let seed = commit * 10 + doc;
            add(&mut writer, &format!("doc{seed:02}"), &words(seed, 40)).unwrap();
        }
        writer.commit().unwrap();
    }
    writer.remove("doc02").unwrap();
    writer.remove("doc13").unwrap();
    writer.finish().unwrap();
    assert_eq!(index.snapshot().unwrap().segments().len(), 2);
    assert_eq!(index.check().unwrap().problems, []);
    dir
}

/// The files of the two segments with this extension.
fn pair(dir: &Path, extension: &str) -> [PathBuf; 2] {
    let mut found: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    found.sort();
    found.try_into().unwrap_or_else(|found| panic!("{extension}: {found:?}"))
}

/// Asserts that a check reports each file, and that a search of the index fails.
fn assert_noticed(dir: &Path, files: &[&PathBuf], what: &str) {
    let index = Index::open(dir).unwrap();
    let problems = index.check().unwrap().problems;
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        assert!(problems.iter().any(|problem| problem.file == name), "{what} {name}: {problems:?}");
    }
    let error = index.snapshot().err().unwrap_or_else(|| panic!("{what}: it opens"));
    let is_named = matches!(&error, Error::Corrupt(problem)
        if files.iter().any(|file| file.ends_with(&problem.file)));
    assert!(is_named, "{what} {files:?}: {error:?}");
}

#[test]
fn a_component_of_another_segment_is_noticed() {
    let dir = twin_segments();
    for extension in EXTENSIONS {
        let [a, b] = &pair(dir.path(), extension);
        let bytes = [fs::read(a).unwrap(), fs::read(b).unwrap()];
        // Equal files in each other's place are no damage: a `.fieldnorm` of no field, or an `.idx`
        // of as many documents.
        if bytes[0] == bytes[1] {
            assert!(["fieldnorm", "idx", "pos"].contains(&extension), "{extension} are equal");
            continue;
        }
        fs::write(a, &bytes[1]).unwrap();
        assert_noticed(dir.path(), &[a], "copied");
        fs::write(b, &bytes[0]).unwrap();
        assert_noticed(dir.path(), &[a, b], "exchanged");
        fs::write(a, &bytes[0]).unwrap();
        fs::write(b, &bytes[1]).unwrap();
        assert_eq!(Index::open(dir.path()).unwrap().check().unwrap().problems, []);
    }
}

#[test]
fn a_component_of_another_kind_is_noticed() {
    let dir = twin_segments();
    for extension in EXTENSIONS {
        let [a, _] = &pair(dir.path(), extension);
        let whole = fs::read(a).unwrap();
        for other in EXTENSIONS.into_iter().filter(|other| *other != extension) {
            let [other, _] = &pair(dir.path(), other);
            fs::copy(other, a).unwrap();
            assert_noticed(dir.path(), &[a], "copied");
        }
        fs::write(a, &whole).unwrap();
    }
}

#[test]
fn a_component_that_is_cut_zeroed_longer_or_missing_is_noticed() {
    let dir = twin_segments();
    for extension in EXTENSIONS {
        let [a, _] = &pair(dir.path(), extension);
        let whole = fs::read(a).unwrap();
        let lengths = (0..12).chain([whole.len() / 2, whole.len() - 9, whole.len() - 1]);
        for len in lengths {
            fs::write(a, &whole[..len]).unwrap();
            assert_noticed(dir.path(), &[a], &format!("cut to {len}"));
        }
        fs::write(a, vec![0; whole.len()]).unwrap();
        assert_noticed(dir.path(), &[a], "zeroed");
        fs::write(a, [&whole[..], b"\0"].concat()).unwrap();
        assert_noticed(dir.path(), &[a], "longer");
        fs::remove_file(a).unwrap();
        let index = Index::open(dir.path()).unwrap();
        let problems = index.check().unwrap().problems;
        assert!(problems.iter().any(|problem| problem.what == "it is missing"), "{problems:?}");
        let error = index.snapshot().err().unwrap().to_string();
        assert!(error.contains(a.file_name().unwrap().to_str().unwrap()), "{error}");
        fs::write(a, &whole).unwrap();
    }
}

#[test]
fn a_list_of_segments_that_is_cut_zeroed_or_missing_is_noticed() {
    let dir = twin_segments();
    let list = dir.path().join("meta.json");
    let whole = fs::read(&list).unwrap();
    for damaged in [&[][..], &whole[..7], &whole[..whole.len() - 1], &vec![0; whole.len()]] {
        fs::write(&list, damaged).unwrap();
        let error = Index::open(dir.path()).err().unwrap().to_string();
        assert!(error.contains("meta.json"), "{} bytes: {error}", damaged.len());
    }
    fs::remove_file(&list).unwrap();
    let error = Index::open(dir.path()).err().unwrap().to_string();
    assert!(error.contains("meta.json") && error.contains("it is missing"), "{error}");
}
