use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::filter::{LIST, PathFilter};
use crate::{ReadError, documents};
use serde_json::Value;

/// Writes files below a directory, and archives for paths through `.zip`.
fn written(files: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut zips: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files {
        match file.split_once(".zip/") {
            Some((zip, inner)) => zips.entry(&file[..zip.len() + 4]).or_default().push(inner),
            None => {
                let path = dir.path().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, format!("text of {file}")).unwrap();
            }
        }
    }
    for (zip, inner) in zips {
        let path = dir.path().join(zip);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, zipped(&inner)).unwrap();
    }
    dir
}

/// Returns a zip archive of these files. Paths through `.zip` become inner archives.
fn zipped(files: &[&str]) -> Vec<u8> {
    let mut inner: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    let mut add = |name: &str, bytes: &[u8]| {
        zip.start_file(name, options).unwrap();
        std::io::Write::write_all(&mut zip, bytes).unwrap();
    };
    for file in files {
        match file.split_once(".zip/") {
            Some((name, rest)) => inner.entry(&file[..name.len() + 4]).or_default().push(rest),
            None => add(file, format!("text of {file}").as_bytes()),
        }
    }
    for (name, files) in inner {
        add(name, &zipped(&files));
    }
    zip.finish().unwrap().into_inner()
}

/// Returns the documents of inputs below a directory, and the omissions.
fn read(dir: &Path, inputs: &[&str], by: &str) -> (Vec<cento::Document>, Vec<String>) {
    let inputs: Vec<PathBuf> = inputs.iter().map(|input| dir.join(input)).collect();
    let options =
        SourceOptions { filter: PathFilter::default().without_data(), ..SourceOptions::default() };
    let by: By = by.parse().unwrap();
    let grouping = Grouping::of(&by, &inputs, &options, Stop::NEVER).unwrap();
    let options = SourceOptions { grouping: grouping.map(Arc::new), ..options };
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    for read in documents(&inputs, &options) {
        match read {
            Ok((document, _)) => found.push(document),
            Err(ReadError::LeftOut { place, why, .. }) => left_out.push(format!("{place}: {why}")),
            Err(error) => left_out.push(error.to_string()),
        }
    }
    let root = format!("{}/", dir.display());
    for document in &mut found {
        document.id = document.id.replacen(&root, "", 1);
        // Files of archives have no directories in their texts.
        document.text = document.text.replace(&root, "");
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    (found, left_out.iter().map(|what| what.replace(&root, "")).collect())
}

#[track_caller]
fn check(files: &[&str], inputs: &[&str], by: &str, expected: &[(&str, usize)]) {
    let dir = written(files);
    let (found, left_out) = read(dir.path(), inputs, by);
    let found: Vec<(&str, usize)> =
        found.iter().map(|one| (&*one.id, one.text.matches("text of").count())).collect();
    assert_eq!(found, expected, "{by} {inputs:?}; left out: {left_out:?}");
    assert_eq!(left_out, [""; 0]);
}

#[test]
fn directories_of_one_input_are_documents_and_loose_files_are_too() {
    let students = ["s/ann/A.java", "s/ann/src/B.java", "s/bob/A.java", "s/notes.txt"];
    let expected = [("s/ann", 2), ("s/bob", 1), ("s/notes.txt", 1)];
    check(&students, &["s"], "directory", &expected);
    check(&students, &["s/"], "directory", &expected);
    // Some learning platforms add a directory around all submissions.
    let wrapped = ["h.zip/hw1/ann/A.java", "h.zip/hw1/ann/B.java", "h.zip/hw1/bob/A.java"];
    check(&wrapped, &["h.zip"], "directory", &[("h.zip/hw1/ann", 2), ("h.zip/hw1/bob", 1)]);
    // An archive counts as a directory.
    let zips = ["s/ann.zip/A.java", "s/ann.zip/B.java", "s/bob.zip/b/A.java"];
    check(&zips, &["s"], "directory", &[("s/ann.zip", 2), ("s/bob.zip", 1)]);
}

#[test]
fn each_of_several_inputs_is_a_document_unless_most_hold_directories_alone() {
    let students = ["s/ann/A.java", "s/ann/src/B.java", "s/bob/A.java", "s/notes.txt"];
    let named = ["s/ann", "s/bob", "s/notes.txt"];
    check(&students, &named, "directory", &[("s/ann", 2), ("s/bob", 1), ("s/notes.txt", 1)]);
    let zips = ["ann.zip/A.java", "ann.zip/B.java", "bob.zip/b/A.java", "cas.zip/src/C.java"];
    let named = ["ann.zip", "bob.zip", "cas.zip"];
    check(&zips, &named, "directory", &[("ann.zip", 2), ("bob.zip", 1), ("cas.zip", 1)]);
    let years = ["23/g1/src/A", "23/g1/src/B", "23/g2/src/A", "22/g1/src/A", "22/g3/A", "21/g1/A"];
    let expected = [("21/g1", 1), ("22/g1", 1), ("22/g3", 1), ("23/g1", 2), ("23/g2", 1)];
    check(&years, &["23", "22", "21"], "directory", &expected);
    // Most inputs hold only directories, although one holds a single directory.
    let expected = [("21/g1", 1), ("23/g1", 1), ("23/g2", 1)];
    check(&years[1..], &["23", "21"], "directory", &expected);
    // The directories within programs do not separate documents.
    let programs = ["a/src/m/A", "a/test/B", "b/src/A", "b/test/B", "c/main/java/x/A"];
    check(&programs, &["a", "b", "c"], "directory", &[("a", 2), ("b", 2), ("c", 1)]);
}

#[test]
fn archives_are_documents_wherever_they_are() {
    let found = ["t/g1/ann.zip/A", "t/g1/ann.zip/src/B", "t/bob.zip/A", "t/loose"];
    let expected = [("t/bob.zip", 1), ("t/g1/ann.zip", 2), ("t/loose", 1)];
    check(&found, &["t"], "archive", &expected);
    check(&found, &["t/g1/ann.zip", "t/bob.zip"], "archive", &[expected[0], expected[1]]);
    let all = ["all.zip/ann.zip/A", "all.zip/ann.zip/B", "all.zip/x/bob.zip/A"];
    check(&all, &["all.zip"], "archive", &[("all.zip/ann.zip", 2), ("all.zip/x/bob.zip", 1)]);
}

#[test]
fn a_pattern_reads_the_names_of_learning_platforms() {
    let canvas = ["c/ada_91_50_A.java", "c/ada_91_51_B.java", "c/bo_LATE_92_52_A.java"];
    let expected = [("c/ada", 2), ("c/bo", 1)];
    let named: Vec<&str> = canvas.to_vec();
    for by in ["{document}{_LATE?}_{*}_{*}_{part}", "{document}_{*}_{*}_{part}"] {
        check(&canvas, &["c"], by, &expected);
        check(&canvas, &named, by, &expected);
    }
    let moodle =
        ["m.zip/Ada L_12_assignsubmission_file_/A", "m.zip/Bo_13_assignsubmission_file_/A"];
    let by = "{document}_{user}_assignsubmission_file_/{part}";
    check(&moodle, &["m.zip"], by, &[("m.zip/Ada L", 1), ("m.zip/Bo", 1)]);
    let years = ["23/g1/src/A", "23/g2/src/A", "22/g1/src/A"];
    let expected = [("22/g1", 1), ("23/g1", 1), ("23/g2", 1)];
    check(&years, &["23", "22"], "{term}/{document}/{part}", &expected);
    // Named fields before the document distinguish documents. Unnamed fields do not.
    let flat = ["f/hal_1_a.py", "f/hal_1_b.py", "f/hal_2_a.py", "f/ivy_1_a.py"];
    let expected = [("f/hal_1", 2), ("f/hal_2", 1), ("f/ivy_1", 1)];
    check(&flat, &["f"], "{student}_{document}_{part}", &expected);
    let numbered = ["f/701_hal_a.py", "f/702_hal_b.py", "f/703_ivy_a.py"];
    check(&numbered, &["f"], "{*}_{document}_{part}", &[("f/hal", 2), ("f/ivy", 1)]);
    // The pattern decides whether inputs are documents or contain documents.
    let wide = ["a/x/A", "a/y/B", "b/x/A", "b/y/B"];
    check(&wide, &["a", "b"], "{document}/{part}", &[("a", 2), ("b", 2)]);
    let expected = [("a/x", 1), ("a/y", 1), ("b/x", 1), ("b/y", 1)];
    check(&wide, &["a", "b"], "{*}/{document}/{part}", &expected);
}

#[test]
fn fields_of_a_pattern_become_meta_and_a_file_that_does_not_fit_is_named() {
    let dir = written(&["c/ada_91_50_A.java", "c/ada_91_51_B.java", "c/README"]);
    let (found, left_out) = read(dir.path(), &["c"], "{document}_{user}_{file}_{part}");
    let meta = serde_json::json!({"user": "91", "file": ["50", "51"]});
    assert_eq!(Value::Object(found[0].meta.clone()), meta);
    assert_eq!(left_out, [format!("c/README: {NO_MATCH}")]);
}

#[test]
fn lists_are_left_out_and_named_and_alone_they_are_an_error() {
    let dir = written(&["s/ann/A.java", "s/bob/A.java", "s/grades.csv", "s/bob/stock.json"]);
    let (found, left_out) = read(dir.path(), &["s/ann", "s/bob", "s/grades.csv"], "directory");
    assert_eq!(found.len(), 2);
    assert!(left_out.contains(&format!("s/grades.csv: {LIST}")), "{left_out:?}");
    assert!(left_out.iter().any(|what| what.starts_with("s/bob/stock.json: it holds data")));
    for inputs in [vec![dir.path().join("s/grades.csv")], vec!["-".into()]] {
        let found = Grouping::of(&By::Directory, &inputs, &SourceOptions::default(), Stop::NEVER);
        assert!(matches!(found, Err(Error::Input { .. })), "{found:?}");
    }
}

#[test]
fn a_file_in_two_inputs_is_in_its_document_once() {
    let files = ["s/ann/A.java", "s/ann/B.java", "s/bob/A.java"];
    check(&files, &["s/ann", "s/ann/B.java", "s/bob"], "directory", &[("s/ann", 2), ("s/bob", 1)]);
}

#[test]
fn what_is_no_unit_is_refused_with_the_reason() {
    let check = |text: &str, why: &str| {
        let error = text.parse::<By>().unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    };
    check("student", "expected file, directory, archive");
    check("{name}_{part}", "no field {document}");
    check("{document", "has no `}`");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// In any order of an archive, every document gets all of its files, sorted by name.
    #[test]
    fn documents_are_whole_in_whatever_order_files_come(
        order in Just((0..12usize).collect::<Vec<_>>()).prop_shuffle(), people in 2usize..5,
    ) {
        let names: Vec<String> =
            order.iter().map(|n| format!("all.zip/p{}/f{n:02}.txt", n % people)).collect();
        let files: Vec<&str> = names.iter().map(String::as_str).collect();
        let dir = written(&files);
        let (found, left_out) = read(dir.path(), &["all.zip"], "directory");
        prop_assert_eq!(left_out, [""; 0]);
        prop_assert_eq!(found.len(), people);
        for (person, document) in found.iter().enumerate() {
            let own = (0..12).filter(|n| n % people == person);
            let expected: Vec<String> =
                own.map(|n| format!("text of p{person}/f{n:02}.txt")).collect();
            prop_assert_eq!(&document.text, &expected.join("\n"));
        }
    }
}
