//! The real binary: Parquet and Arrow files in, Parquet files out.
//!
//! `tables/make.py` wrote the samples with another program, which names itself in them.

use std::fs;

use serde_json::json;

use crate::common::run::{Dir, line};
use crate::common::words;

#[cfg(feature = "parquet")]
mod with_the_feature {
    use std::fs;
    use std::io::Write;

    use crate::common::run::Dir;
    use serde_json::{Value, json};

    const PARQUET: &[u8] = include_bytes!("tables/sample.parquet");
    const FEATHER: &[u8] = include_bytes!("tables/sample.feather");
    const STREAM: &[u8] = include_bytes!("tables/sample.arrow");
    const LINES: &str = include_str!("tables/sample.jsonl");
    const ROWS: u64 = 90;

    /// The columns of the samples.
    const COLUMNS: [&str; 4] = ["--text-field", "content", "--id-field", "url"];

    fn dir() -> Dir {
        let dir = Dir::new();
        dir.write("in/a.parquet", PARQUET);
        dir.write("a.feather", FEATHER);
        dir.write("a.arrow", STREAM);
        dir.write("a.jsonl", LINES);
        dir
    }

    fn with<'a>(args: &[&'a str]) -> Vec<&'a str> {
        [args, &COLUMNS].concat()
    }

    fn lines(dir: &Dir, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(dir.path(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Every row of a Parquet file, with every column.
    fn rows(dir: &Dir, name: &str, out: &str) -> Vec<Value> {
        dir.run(&with(&["dedup", name, "--annotate", "--exact", "--out", out]));
        let mut found = lines(dir, out);
        for row in &mut found {
            row.as_object_mut().unwrap().remove("dedup");
        }
        found
    }

    #[test]
    fn a_parquet_file_without_rows_is_named() {
        let dir = Dir::new();
        assert_eq!(dir.run(&["create", "idx"]).status, 0);
        let none = dir.passages(&["--out", "none.parquet"]);
        assert_eq!(none.status, 1, "{}", none.err);
        let run = dir.run(&["add", "other", "none.parquet", "--text-field", "a_text"]);
        assert_eq!(run.status, 2, "{}", run.err);
        let said = "none.parquet: skipped: it has no documents";
        assert!(run.err.contains(said), "{}", run.err);
    }

    #[test]
    fn passages_are_written_as_parquet_with_both_sides_and_their_context() {
        let dir = super::passages();
        let run = dir.passages(&["--out", "out.parquet"]);
        assert_eq!((run.status, &*run.out), (0, ""), "{}", run.err);
        // The rows are records like the rows of any Parquet file.
        let read = ["dedup", "out.parquet", "--exact", "--out", "rows.jsonl"];
        let columns = ["--text-field", "a_text", "--id-field", "NONE"];
        assert_eq!(dir.run(&[&read[..], &columns].concat()).status, 0);
        let found = lines(&dir, "rows.jsonl");
        let expected = dir.passages(&["--format", "json"]).out;
        let expected: Value = serde_json::from_str(&expected).unwrap();
        assert_eq!(found.len(), 1);
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(found[0][field], *value, "{field}: {found:?}");
        }
        assert!(found[0]["a_line"].is_u64() && found[0]["b_line"].is_null(), "{found:?}");
        // Existing files are not overwritten, and incomplete files are removed.
        let again = dir.passages(&["--out", "out.parquet"]);
        assert!(again.status == 2 && again.err.contains("out.parquet"), "{}", again.err);
        let wrong = dir.passages(&["--out", "x.parquet", "--format", "csv"]);
        assert!(wrong.status == 2 && wrong.err.contains("promises Parquet"), "{}", wrong.err);
        assert_eq!(
            dir.run(&[
                "pairs",
                "none",
                "--min-passage",
                "20",
                "--context",
                "40",
                "--out",
                "y.parquet"
            ])
            .status,
            2
        );
        assert!(!dir.path("x.parquet").exists() && !dir.path("y.parquet").exists());
        let none = dir.run(&[
            "pairs",
            "idx",
            "--min-passage",
            "900",
            "--context",
            "40",
            "--out",
            "none.parquet",
        ]);
        assert_eq!(none.status, 1);
        assert!(fs::read(dir.path("none.parquet")).unwrap().starts_with(b"PAR1"));
    }

    #[test]
    fn rows_are_the_documents_that_another_program_wrote() {
        let dir = dir();
        let compressed = {
            let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gz.write_all(PARQUET).unwrap();
            gz.finish().unwrap()
        };
        dir.write("b.parquet.gz", compressed);
        // The JSON lines lack the other columns.
        let with = |args: &[&'static str]| [&with(args)[..], &["--meta-field", "meta"]].concat();
        assert_eq!(dir.run(&["create", "i"]).status, 0);
        let added = dir.json(&with(&["add", "i", "a.jsonl"]));
        assert_eq!(added["added"], ROWS);
        for name in ["in/a.parquet", "a.feather", "a.arrow", "b.parquet.gz", "in"] {
            let added = dir.json(&with(&["add", "i", name]));
            assert_eq!(
                (&added["unchanged"], &added["failed"]),
                (&json!(ROWS), &json!(0)),
                "{name}"
            );
        }
        let args = with(&["add", "i", "-", "--format", "json"]);
        assert_eq!(dir.run_with(&args, PARQUET).json()["unchanged"], ROWS);
        // Without an id column, the id is the place.
        assert_eq!(dir.run(&["create", "places"]).status, 0);
        dir.json(&["add", "places", "in/a.parquet", "--text-field", "content"]);
        let found = dir.json(&["search", "places", "--id", "in/a.parquet:1"]);
        assert_eq!(found["hits"].as_array().unwrap().len(), 10);
    }

    #[test]
    fn rows_that_are_kept_are_unchanged_in_every_column() {
        let dir = dir();
        let summary =
            dir.json(&with(&["dedup", "in/a.parquet", "--out", "out/", "--dropped", "r"]));
        assert_eq!((&summary["kept"], &summary["exact"]), (&json!(73), &json!(17)));
        let dropped: Vec<Value> = lines(&dir, "r").into_iter().map(|r| r["id"].clone()).collect();
        let before = rows(&dir, "in/a.parquet", "before");
        assert_eq!(before.len() as u64, ROWS);
        assert_eq!(before[5]["deep"], json!({"a": 5, "b": [{"c": "5"}, null]}));
        let kept: Vec<Value> =
            before.into_iter().filter(|row| !dropped.contains(&row["url"])).collect();
        assert_eq!(rows(&dir, "out/a.parquet", "after"), kept);
        let names = fs::read_dir(dir.path("out")).unwrap();
        assert_eq!(names.count(), 1, "nothing is left beside the copy");
        // The same again is refused.
        let again = dir.run(&with(&["dedup", "in/a.parquet", "--out", "out"]));
        assert_eq!(again.status, 2);
        assert!(again.err.contains("out/a.parquet: the file exists already"), "{}", again.err);
    }

    #[test]
    fn annotations_and_cut_texts_are_columns() {
        let dir = dir();
        let args = with(&["dedup", "in/a.parquet", "--annotate", "--min-containment", "0.5"]);
        dir.json(&[&args[..], &["--out", "out/"]].concat());
        dir.json(&[&args[..], &["--out", "lines"]].concat());
        let whole = |row: &Value| row["dedup"].clone();
        let expected: Vec<Value> = lines(&dir, "lines").iter().map(whole).collect();
        let args = with(&["dedup", "out/a.parquet", "--exact", "--out", "found"]);
        dir.run(&[&args[..], &["--index", "other", "--no-text"]].concat());
        let found = lines(&dir, "found");
        assert!(found.len() > 70);
        assert!(found.iter().all(|row| row["dedup"]["verdict"] == "kept"));
        assert_eq!(expected.iter().filter(|verdict| verdict["verdict"] == "exact").count(), 17);
        let again = dir.run(&with(&["dedup", "out/a.parquet", "--annotate", "--out", "twice/"]));
        assert_eq!(again.status, 2);
        assert!(again.err.contains("it has a column `dedup` already"), "{}", again.err);

        let args = with(&["dedup", "in/a.parquet", "--cut-passages", "8"]);
        let summary = dir.json(&[&args[..], &["--out", "cut/"]].concat());
        dir.json(&[&args[..], &["--out", "cut.lines"]].concat());
        assert_eq!(summary["passages"], json!(0));
        assert_eq!(rows(&dir, "cut/a.parquet", "after"), lines(&dir, "cut.lines"));
    }

    #[test]
    fn a_run_that_was_killed_writes_the_same_when_it_is_resumed() {
        let dir = dir();
        for name in ["in/b.parquet", "in/c.parquet"] {
            dir.write(name, PARQUET);
        }
        let inputs = ["dedup", "in/a.parquet", "in/b.parquet", "in/c.parquet"];
        let args = with(&inputs);
        let args = [&args[..], &["--memory", "64KB", "--threads", "1"]].concat();
        dir.json(&[&args[..], &["--out", "whole/", "--index", "other"]].concat());
        let args = [&args[..], &["--out", "out/", "--index", "i"]].concat();
        for (attempt, point) in
            ["commit:1", "document:30", "commit:2", "document:50", "commit:2", "document:40"]
                .iter()
                .enumerate()
        {
            let resume: &[&str] = if attempt == 0 { &[] } else { &["--resume"] };
            dir.paused(point, &[&args[..], resume].concat()).kill();
        }
        dir.json(&[&args[..], &["--resume"]].concat());
        for name in ["a", "b", "c"] {
            let [whole, out] = ["whole", "out"].map(|d| dir.path(&format!("{d}/{name}.parquet")));
            assert!(fs::read(whole).unwrap() == fs::read(out).unwrap(), "{name}");
        }
        assert_eq!(fs::read_dir(dir.path("out")).unwrap().count(), 3);
    }

    #[test]
    fn a_table_that_cannot_be_copied_is_refused() {
        let dir = dir();
        dir.write("other/a.parquet", PARQUET);
        #[track_caller]
        fn check(dir: &Dir, args: &[&str], what: &str) {
            let run = dir.run(&with(args));
            assert_eq!(run.status, 2, "{}", run.err);
            assert!(run.err.contains(what), "{}", run.err);
        }
        check(&dir, &["dedup", "a.jsonl", "--out", "o/"], "a.jsonl: it is no Parquet file");
        let twice = ["dedup", "in/a.parquet", "./in/a.parquet", "--out", "o/"];
        check(&dir, &twice, "named twice");
        fs::create_dir(dir.path("none")).unwrap();
        check(&dir, &["dedup", "none", "--out", "o/"], "none: there is no Parquet file in it");
        assert!(!dir.path("o").exists());
    }

    #[test]
    fn a_partitioned_data_set_is_mirrored() {
        let dir = Dir::new();
        for year in [2023, 2024] {
            dir.write(&format!("hive/year={year}/part-0.parquet"), PARQUET);
        }
        dir.write("hive/_SUCCESS", "");
        let run =
            dir.run(&with(&["dedup", "hive", "--exact", "--out", "out/", "--format", "json"]));
        assert_eq!(run.status, 0, "{}", run.err);
        let summary = run.json();
        assert_eq!(summary["left_out"][0]["path"], "hive/_SUCCESS", "{summary}");
        // The second is a copy of the first.
        let kept = |out: &str, year: u64| {
            let name = format!("{out}/year={year}/part-0.parquet");
            rows(&dir, &name, &format!("{out}-{year}")).len() as u64
        };
        let first = summary["kept"].as_u64().unwrap();
        assert_eq!((kept("out", 2023), kept("out", 2024)), (first, 0));
        // The same files as separate inputs, and an interrupted run.
        let files = ["hive/year=2023/part-0.parquet", "hive/year=2024/part-0.parquet"];
        let args = with(&["dedup", files[0], files[1], "--exact", "--out", "named/"]);
        let args = [&args[..], &["--index", "kept.idx"]].concat();
        dir.paused("document:100", &args).kill();
        let run = dir.run(&[&args[..], &["--resume"]].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        assert_eq!((kept("named", 2023), kept("named", 2024)), (first, 0));
        for (path, names) in [("named", 2), ("named/year=2023", 1), ("named/year=2024", 1)] {
            assert_eq!(fs::read_dir(dir.path(path)).unwrap().count(), names, "{path}");
        }
        // A pattern chooses partitions.
        let one = with(&["dedup", "hive", "--include", "year=2024", "--exact", "--out", "one/"]);
        assert_eq!(dir.run(&one).status, 0);
        assert_eq!(kept("one", 2024), first);
        assert!(!dir.path("one/year=2023").exists());
        // What the directories say is known of the rows.
        dir.json(&["add", "idx", "hive/year=2024", "--text-field", "content"]);
        let id = "hive/year=2024/part-0.parquet:1";
        for (year, status) in [(2024, 0), (2023, 1)] {
            let run = dir.run(&["search", "idx", "--id", id, "--filter", &format!("year:{year}")]);
            assert_eq!(run.status, status, "{}", run.err);
        }
    }

    #[test]
    fn partitions_whose_names_are_escaped_are_copied() {
        let dir = Dir::new();
        let name = "hive/city=Z%C3%BCrich/part-0.parquet";
        dir.write(name, PARQUET);
        for input in ["hive", name] {
            let out = format!("out-{}/", input.len());
            let run = dir.run(&with(&["dedup", input, "--exact", "--out", &out]));
            assert_eq!(run.status, 0, "{}", run.err);
            assert!(dir.path(&out).join("city=Z%C3%BCrich/part-0.parquet").is_file(), "{input}");
        }
    }

    #[test]
    fn columns_that_cannot_be_texts_or_ids_are_refused_by_name() {
        let dir = dir();
        assert_eq!(dir.run(&["create", "i"]).status, 0);
        for (text, id, meta, what) in [
            ("deep", "url", "meta", "a.parquet: the column `deep` is a struct"),
            ("deep.x", "url", "meta", "a.parquet: there is no `deep.x`; the column `deep` is of"),
            ("share.x", "url", "meta", "there is no `share.x`; the column `share` is of Float64"),
            ("share", "url", "meta", "a.parquet: the column `share` is of Float64"),
            ("x", "url", "meta", "there is no column `x`; its columns are `url`, `content`"),
            ("content", "lists", "meta", "or number the records with --id-field NONE"),
        ] {
            let fields = ["--text-field", text, "--id-field", id, "--meta-field", meta];
            let run = dir.run(&[&["add", "i", "in/a.parquet"][..], &fields].concat());
            assert!(run.err.contains(what), "{what}: {}", run.err);
            assert!(run.err.contains("1 failed"), "{}", run.err);
        }
    }

    const TYPES: &[u8] = include_bytes!("tables/types.parquet");
    const TYPES_FEATHER: &[u8] = include_bytes!("tables/types.feather");
    const BARE: &[u8] = include_bytes!("tables/bare.parquet");

    /// The ids of the documents made from a file, and the messages.
    #[track_caller]
    fn ids(dir: &Dir, name: &str, fields: [&str; 2]) -> (Vec<String>, String) {
        let index = format!("{name}.{}.idx", fields.concat());
        let [text, id] = fields;
        let fields = ["--text-field", text, "--id-field", id, "--meta-field", "info"];
        let run = dir.run(&[&["add", &index, name][..], &fields].concat());
        let mut ids = Vec::new();
        if let Ok(index) = cento::Index::open(dir.path(&index)) {
            let snapshot = index.snapshot().unwrap();
            ids.extend(snapshot.live().map(|address| snapshot.id(address).unwrap()));
        }
        (ids, run.err)
    }

    #[test]
    fn texts_that_are_bytes_are_read_and_those_that_are_not_utf_8_named() {
        let dir = Dir::new();
        dir.write("a.parquet", TYPES);
        dir.write("a.feather", TYPES_FEATHER);
        dir.write("bare.parquet", BARE);
        for name in ["a.parquet", "a.feather"] {
            assert_eq!(dir.run(&["create", name.split('.').next_back().unwrap()]).status, 0);
            let index = name.split('.').next_back().unwrap();
            for (text, unchanged) in [("large", 0), ("view", 6), ("fixed", 6), ("dictionary", 6)] {
                let args = ["add", index, name, "--text-field", text, "--id-field", "day"];
                let added = dir.json(&args);
                assert_eq!(
                    (&added["failed"], &added["unchanged"]),
                    (&json!(0), &json!(unchanged)),
                    "{name} {text}"
                );
            }
            let args = ["add", index, name, "--text-field", "binary", "--id-field", "day"];
            let run = dir.run(&[&args[..], &["--format", "json"]].concat());
            assert_eq!((&run.json()["unchanged"], &run.json()["failed"]), (&json!(4), &json!(2)));
            let said = format!("{name}:4: the text in \"binary\" is not UTF-8: byte 3 is 0xff");
            assert!(run.err.contains(&said), "{}", run.err);
            assert!(run.err.contains(&format!("{name}:5: there is no `binary`")), "{}", run.err);
        }
        // Files of further programs lack Arrow's description of the columns.
        let (found, err) = ids(&dir, "bare.parquet", ["large", "uuid"]);
        assert_eq!(found.len(), 6, "{err}");
        assert_eq!(found[3], "00000000-0000-0000-0000-000000000003");
    }

    #[test]
    fn ids_of_every_single_value_are_those_of_json_lines() {
        let dir = Dir::new();
        dir.write("a.parquet", TYPES);
        dir.write("a.feather", TYPES_FEATHER);
        for name in ["a.parquet", "a.feather"] {
            let row = |number: u64| format!("{name}:{number}");
            for (id, expected) in [
                ("double", ["0", "1", "2.5", &row(4), &row(5), "1.0e20"]),
                ("single", ["0", "1", "2.5", "0.1", &row(5), "5"]),
                ("decimal", ["0", "0.500", "1", "1.500", "2", "2.500"]),
                ("NONE", [&row(1), &row(2), &row(3), &row(4), &row(5), &row(6)]),
            ] {
                let (found, err) = ids(&dir, name, ["large", id]);
                assert_eq!(found, expected, "{name} {id}: {err}");
            }
            for (id, third) in [
                ("number", "1000000000000000000000000000002"),
                ("uuid", "00000000-0000-0000-0000-000000000002"),
                ("digest", "02ff02ff02ff02ff02ff02ff02ff02ff"),
                ("when", "2024-01-03T12:30:00Z"),
                ("day", "2024-01-03"),
            ] {
                let (found, err) = ids(&dir, name, ["large", id]);
                assert_eq!((found.len(), found[2].as_str()), (6, third), "{name} {id}: {err}");
            }
            // An empty id is refused, and a missing id becomes the number of the row.
            let (found, err) = ids(&dir, name, ["large", "key"]);
            assert_eq!(found, ["k0", "k1", "6bff", &row(5), "k5"], "{name}: {err}");
            assert!(err.contains(&format!("{name}:4: `key` is empty")), "{err}");
            let (found, err) = ids(&dir, name, ["large", "is_even"]);
            assert_eq!(found, ["true", "false"], "{name}: {err}");
            let (found, err) = ids(&dir, name, ["large", "list"]);
            assert!(found.is_empty() && err.contains("with --id-field NONE"), "{err}");
        }
    }

    #[test]
    fn rows_that_are_no_records_are_left_out_of_a_copy_and_named() {
        let dir = Dir::new();
        dir.write("a.parquet", TYPES);
        let fields = ["--text-field", "binary", "--id-field", "day", "--exact"];
        let run = dir.run(&[&["dedup", "a.parquet", "--out", "out/"][..], &fields].concat());
        assert!(
            run.err.contains("a.parquet:4: the text in \"binary\" is not UTF-8"),
            "{}",
            run.err
        );
        let (kept, err) = ids(&dir, "out/a.parquet", ["large", "day"]);
        assert_eq!(kept, ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-06"], "{err}");
    }

    #[test]
    fn damaged_files_are_failures_that_are_named() {
        let dir = dir();
        assert_eq!(dir.run(&["create", "i"]).status, 0);
        for (whole, name) in [(PARQUET, "x.parquet"), (FEATHER, "x.feather"), (STREAM, "x.arrow")] {
            // Files truncated at several lengths, and files with changed bytes, including the
            // footer.
            let cut = (0..4).map(|at| whole[..8 + at * (whole.len() - 9) / 4].to_vec());
            let changed = (0..14).map(|at| {
                let mut bytes = whole.to_vec();
                let place = match at % 2 {
                    0 => 8 + at * (whole.len() - 9) / 14,
                    _ => whole.len() - 9 - at * 7,
                };
                bytes[place] ^= 0xff;
                bytes
            });
            for bytes in cut.chain(changed) {
                dir.write(name, bytes);
                let run = dir.run(&with(&["add", "i", name]));
                let is_read = run.status < 2;
                assert!(is_read || [2, 3].contains(&run.status), "{}: {}", run.status, run.err);
                assert!(is_read || run.err.contains(name), "{}", run.err);
                assert!(!run.err.contains("panicked"), "{}", run.err);
            }
        }
        dir.write("x.parquet", &PARQUET[..PARQUET.len() - 9]);
        let run = dir.run(&with(&["dedup", "x.parquet", "--out", "out/"]));
        assert_eq!(run.status, 2);
        assert!(run.err.contains("cannot read x.parquet: "), "{}", run.err);
        assert!(run.err.contains("and so not be copied"), "{}", run.err);
        assert_eq!(fs::read_dir(dir.path("out")).unwrap().count(), 0);
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_the_feature_such_files_are_refused_by_their_names() {
    let dir = Dir::new();
    dir.write("a.parquet", include_bytes!("tables/sample.parquet"));
    dir.write("a.feather", include_bytes!("tables/sample.feather"));
    dir.write("a.arrow", include_bytes!("tables/sample.arrow"));
    assert_eq!(dir.run(&["create", "i"]).status, 0);
    for (name, what) in
        [("a.parquet", "a Parquet"), ("a.feather", "an Arrow"), ("a.arrow", "an Arrow")]
    {
        let run = dir.run(&["add", "i", name, "--text-field", "content"]);
        assert_eq!(run.status, 2);
        let said = format!("cannot read {name}: it is {what}");
        assert!(run.err.contains(&said) && run.err.contains("feature `parquet`"), "{}", run.err);
    }
    let run = dir.run(&["dedup", "a.parquet", "--out", "out/"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("--features parquet"), "{}", run.err);
}

/// An index of two documents with a passage in common, which begins in the second line of one.
fn passages() -> Dir {
    let dir = Dir::new();
    let shared = words(1, 40);
    let a = format!("{}\n{shared} {}", words(2, 30), words(3, 30));
    let b = format!("{} {shared}", words(4, 20));
    dir.write("in.jsonl", [line("a", &a, json!({})), line("b", &b, json!({}))].concat());
    assert_eq!(dir.run(&["add", "idx", "in.jsonl"]).status, 0);
    dir
}

#[test]
fn passages_are_written_to_a_file_in_every_format() {
    let dir = passages();
    for (name, format) in [("a.csv", "csv"), ("a.jsonl", "json"), ("a.txt", "human")] {
        let run = dir.passages(&["--format", format, "--out", name]);
        assert_eq!((run.status, &*run.out), (0, ""), "{}", run.err);
        let shown = dir.passages(&["--format", format]).out;
        assert_eq!(fs::read_to_string(dir.path(name)).unwrap(), shown, "{name}");
        assert_eq!(dir.passages(&["--format", format, "--out", name]).status, 2);
    }
    let run = dir.passages(&["--format", "csv", "--out", "a.csv.zst"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let packed = fs::read(dir.path("a.csv.zst")).unwrap();
    assert_eq!(zstd::decode_all(&*packed).unwrap(), fs::read(dir.path("a.csv")).unwrap());
    let wrong = dir.passages(&["--out", "b.csv"]);
    assert!(wrong.status == 2 && wrong.err.contains("--format csv"), "{}", wrong.err);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn passages_as_parquet_need_a_feature_that_is_named() {
    let run = passages().passages(&["--out", "out.parquet"]);
    assert_eq!(run.status, 2);
    for part in ["out.parquet", "`parquet`", "`cento-cli`", "cargo install --locked"] {
        assert!(run.err.contains(part), "{}", run.err);
    }
}
