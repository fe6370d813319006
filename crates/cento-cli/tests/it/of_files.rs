//! The real binary: files where an index is expected.

use serde_json::json;

use crate::common::run::Dir;
use crate::common::words;

/// A directory with a text, a version, a quotation and an unrelated text, and an index of the
/// files.
fn collection() -> Dir {
    let dir = Dir::new();
    let (text, more) = (words(1, 120), words(2, 40));
    std::fs::create_dir(dir.path("in")).unwrap();
    dir.write("in/first.txt", &text);
    dir.write("in/second.txt", format!("{text} {more}"));
    dir.write("in/quotes.txt", format!("{} {} {}", words(3, 300), words(1, 60), words(4, 300)));
    dir.write("in/other.txt", words(5, 150));
    assert_eq!(dir.run(&["add", "x.idx", "in"]).status, 0);
    dir
}

#[test]
fn files_have_the_answers_of_an_index_of_them() {
    let dir = collection();
    for verb in ["families", "lineage", "cluster"] {
        let of = |input: &str| {
            let run = dir.run(&[verb, input, "--format", "json"]);
            assert_eq!(run.status, 0, "{verb} {input}: {}", run.err);
            run.out
        };
        assert_eq!(of("in"), of("x.idx"), "{verb}");
        assert!(of("in").contains("in/second.txt"), "{verb}");
        // Nothing is kept beside the files.
        let left = std::fs::read_dir(dir.path("in")).unwrap().count();
        assert_eq!(left, 4, "{verb}");
    }
    // A cursor would be of no use: the files are read anew.
    let run = dir.run(&["families", "in"]);
    assert_eq!(run.err, "1 family\n");
}

#[test]
fn records_of_files_have_the_fields_that_order_them() {
    let dir = Dir::new();
    let row = |id: &str, text: String, date: &str| {
        format!("{}\n", json!({"name": id, "body": text, "meta": {"date": date}}))
    };
    let text = words(1, 120);
    let later = row("later", format!("{text} {}", words(2, 40)), "2003");
    dir.write("versions.jsonl", later + &row("earlier", text, "2001"));
    let fields = ["--id-field", "name", "--text-field", "body", "--date", "date"];
    let run = dir.run(&[&["lineage", "versions.jsonl"], &fields[..]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.out.starts_with("2001  earlier\n    2003  later  of earlier: "), "{}", run.out);
}

#[test]
fn inputs_that_cannot_be_read_are_reported_and_the_others_joined() {
    let dir = collection();
    dir.write("in/program.bin", b"\0\x01\x02\x03\xff\0\0\0");
    for verb in ["families", "lineage", "cluster"] {
        let run = dir.run(&[verb, "in"]);
        assert_eq!(run.status, 3, "{verb}: {}", run.err);
        assert!(run.out.contains("second.txt"), "{verb}: {}", run.out);
        assert!(run.err.contains("program.bin") && run.err.contains("1 text not compared"));
        std::fs::create_dir_all(dir.path("none")).unwrap();
        let run = dir.run(&[verb, "none"]);
        assert!(run.status == 2 && run.err.contains("no document"), "{verb}: {}", run.err);
    }
}

#[test]
fn options_of_files_are_refused_for_an_index_and_the_reverse() {
    let dir = collection();
    let refused = |args: &[&str], why: &str| {
        let run = dir.run(args);
        assert!(run.status == 2 && run.err.contains(why), "{args:?}: {}", run.err);
    };
    for verb in ["families", "lineage", "cluster"] {
        refused(&[verb, "x.idx", "--for", "code"], "of files, and x.idx is an index");
        refused(&[verb, "x.idx", "in"], "x.idx is an index, and in is not");
    }
    refused(&["families", "in", "--since", "0"], "--since is for families of indexes");
    assert_eq!(dir.run(&["add", "y.idx", "in"]).status, 0);
    refused(&["cluster", "x.idx", "y.idx"], "`cento merge` makes one index of several");
    refused(&["lineage", "x.idx", "y.idx"], "`cento merge` makes one index of several");
    // Files may be several.
    assert_eq!(dir.run(&["cluster", "in/first.txt", "in/second.txt"]).status, 0);
}
