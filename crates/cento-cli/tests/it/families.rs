//! The real binary: families of passages as tables, as networks, as a page, and from a service.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::words;

/// The index `idx` of a passage in three wordings, and one in a single wording. The letter is the
/// earliest document, and was added last.
fn press() -> Dir {
    let dir = Dir::new();
    let text = |own: u64, passage: &str| format!("{}. {passage}.", words(own, 30));
    let (resolution, rules) = (words(1, 60), words(2, 40));
    let word = |at: usize| words(1, at + 1)[words(1, at).len()..].to_owned();
    let later = resolution.replacen(&word(30), " lantern", 1);
    let latest = later.replacen(&word(40), " of any size", 1);
    let lines = [
        line("courier, \"evening\"", &text(11, &later), json!({"date": "1884-03-09"})),
        line("almanac", &text(12, &format!("{latest}. {rules}")), json!({"date": "1885"})),
        line("rules", &text(13, &rules), json!({"date": "1883-01-01"})),
        line("alone", &words(14, 80), json!({"date": "1880"})),
        line("letter", &text(15, &resolution), json!({"date": "1884-03-02"})),
    ];
    dir.write("in.jsonl", lines.concat());
    assert_eq!(dir.json(&["add", "idx", "in.jsonl"])["added"], 5);
    dir
}

const FAMILIES: [&str; 4] = ["families", "idx", "--date", "date"];

fn run(dir: &Dir, args: &[&str]) -> String {
    let run = dir.run(&[&FAMILIES[..], args].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    run.out
}

fn found(dir: &Dir) -> Vec<Value> {
    let found = run(dir, &["--format", "json"]);
    found.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn carriers(family: &Value) -> &[Value] {
    family["carriers"].as_array().unwrap()
}

#[test]
fn families_are_told_with_who_was_first_and_what_each_changed() {
    let dir = press();
    let families = found(&dir);
    let ids = |family: &Value| -> Vec<String> {
        carriers(family).iter().map(|carrier| carrier["id"].as_str().unwrap().into()).collect()
    };
    assert_eq!(families.len(), 2);
    assert_eq!(ids(&families[0]), ["letter", "courier, \"evening\"", "almanac"]);
    assert_eq!(ids(&families[1]), ["rules", "almanac"]);
    assert_eq!((&families[0]["versions"], &families[1]["versions"]), (&json!(3), &json!(1)));
    assert!(families.iter().all(|family| family["first_is_certain"] == true));
    let changes = &carriers(&families[0])[1]["changes"];
    assert_eq!(changes[0]["added"], "lantern", "{changes}");
    let told = run(&dir, &[]);
    assert!(told.contains("letter, first"), "{told}");
}

#[test]
fn places_that_only_the_shorter_document_has_are_in_the_family_and_in_no_other_row_of_passages() {
    let (story, between) = (words(1, 30), words(2, 30));
    let article = line("article", &story, json!({}));
    let longer = line("longer", &format!("{story}.\n{}.", words(3, 90)), json!({}));
    let volume = line("volume", &format!("{story}.\n{between}.\n{story}."), json!({}));
    let lines = |out: &str| -> Vec<Value> {
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    for (texts, rows) in [
        ([&article, &volume], 2),
        ([&volume, &article], 2),
        ([&longer, &volume], 1),
        ([&volume, &longer], 1),
    ] {
        let dir = Dir::new();
        dir.write("in.jsonl", format!("{}{}", texts[0], texts[1]));
        assert_eq!(dir.json(&["add", "idx", "in.jsonl"])["added"], 2);
        let passages = lines(&dir.passages(&["--format", "json"]).out);
        assert_eq!(passages.len(), rows, "{passages:?}");
        let families = lines(&dir.run(&["families", "idx", "--format", "json"]).out);
        let in_volume = carriers(&families[0]).iter().filter(|carrier| carrier["id"] == "volume");
        let in_volume: Vec<&Value> = in_volume.map(|carrier| &carrier["line"]).collect();
        assert_eq!((families.len(), in_volume), (1, vec![&json!(1), &json!(3)]), "{families:?}");
    }
}

#[test]
fn carriers_are_rows_of_a_table() {
    let dir = press();
    let expected: Vec<Value> =
        found(&dir).iter().flat_map(|family| carriers(family).to_vec()).collect();
    let csv = run(&dir, &["--format", "csv"]);
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(header[..3], ["family", "documents", "tokens"]);
    assert_eq!(lines.count(), expected.len());
    assert!(csv.contains("\"courier, \"\"evening\"\"\""), "{csv}");
    // The same rows, separated by tabs, in a file. Existing files are not overwritten.
    assert_eq!(run(&dir, &["--format", "tsv", "--out", "out.tsv"]), "");
    let tsv = fs::read_to_string(dir.path("out.tsv")).unwrap();
    assert_eq!(tsv.lines().next().unwrap().split('\t').collect::<Vec<_>>(), header);
    assert_eq!(tsv.lines().count(), expected.len() + 1);
    let again = dir.run(&[&FAMILIES[..], &["--format", "tsv", "--out", "out.tsv"]].concat());
    assert!(again.status == 2 && again.err.contains("out.tsv"), "{}", again.err);
}

#[test]
fn the_network_leads_from_each_carrier_to_the_next() {
    let dir = press();
    let expected: BTreeSet<(&str, &str)> = [
        ("letter", "courier, \"evening\""),
        ("courier, \"evening\"", "almanac"),
        ("rules", "almanac"),
    ]
    .into();
    run(&dir, &["--graph", "n.graphml"]);
    let network = fs::read_to_string(dir.path("n.graphml")).unwrap();
    let value = |line: &str, attribute: &str| -> String {
        let (_, rest) = line.split_once(attribute).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    assert!(network.contains("directed"), "{network}");
    let nodes: Vec<(String, String)> = network
        .split("<node ")
        .skip(1)
        .map(|node| {
            let (_, label) = node.split_once("<data ").unwrap();
            let label = label.split(['>', '<']).nth(1).unwrap();
            (value(node, "id=\""), label.replace("&quot;", "\""))
        })
        .collect();
    let named = |id: &str| &nodes.iter().find(|node| node.0 == id).unwrap().1;
    let edges: Vec<(String, String)> = network
        .split("<edge ")
        .skip(1)
        .map(|edge| (value(edge, "source=\""), value(edge, "target=\"")))
        .collect();
    let edges: BTreeSet<(&str, &str)> =
        edges.iter().map(|(a, b)| (&**named(a), &**named(b))).collect();
    assert_eq!(edges, expected, "{network}");
}

#[test]
fn a_document_whose_date_does_not_tell_is_no_earlier_one() {
    // Two notices of a year, a notice without a date, a notice of a month of that year, and a late
    // notice, in either order of addition.
    let notice = words(1, 40);
    let all = [
        ("mine", json!("1885")),
        ("twin", json!("1885")),
        ("undated", json!(null)),
        ("month", json!("1885-03")),
        ("late", json!("1890")),
    ];
    let texts: Vec<String> = (0..)
        .zip(&all)
        .map(|(at, (id, date))| {
            line(id, &format!("{notice}. {}", words(10 + at, 20)), json!({ "date": date }))
        })
        .collect();
    for is_turned in [false, true] {
        let (dir, mut texts) = (Dir::new(), texts.clone());
        if is_turned {
            texts.reverse();
        }
        dir.write("in.jsonl", texts.concat());
        assert_eq!(dir.json(&["add", "idx", "in.jsonl"])["added"], 5);
        let of = ["--document", "mine", "--format", "json"];
        let check = |family: &str, expected: [(&str, &str); 4]| {
            let family: Value = serde_json::from_str(family).unwrap();
            for (id, relation) in expected {
                let found = carriers(&family).iter().find(|carrier| carrier["id"] == id);
                assert_eq!(found.unwrap()["relation"], relation, "{id}: {family}");
            }
            let own = carriers(&family).iter().find(|carrier| carrier["id"] == "mine");
            assert!(own.unwrap().get("relation").is_none(), "{family}");
        };
        let by_date = [
            ("twin", "same_date"),
            ("undated", "unknown"),
            ("month", "unknown"),
            ("late", "later"),
        ];
        check(&run(&dir, &of), by_date);
        check(
            &dir.run(&[&["families", "idx"], &of[..]].concat()).out,
            by_date.map(|(id, _)| (id, "unknown")),
        );
        let csv = run(&dir, &["--document", "mine", "--format", "csv", "--graph", "n.dot"]);
        assert!(csv.contains("same_date") && csv.contains("direction_by"), "{csv}");
        let network = fs::read_to_string(dir.path("n.dot")).unwrap();
        assert!(network.contains("dir=none"), "{network}");
        run(&dir, &["--document", "mine", "--report", "mine.html"]);
        let page = fs::read_to_string(dir.path("mine.html")).unwrap();
        assert!(page.contains("0.0\u{a0}% of its text is in earlier documents"), "{page}");
        assert!(page.contains("<td>same date</td>") && !page.contains("<td>earlier</td>"));
        run(&dir, &["--document", "late", "--report", "late.html"]);
        let page = fs::read_to_string(dir.path("late.html")).unwrap();
        assert!(page.contains("<td>earlier</td>"), "{page}");
    }
}

#[test]
fn the_report_shows_each_family_and_where_a_document_comes_from() {
    let dir = press();
    run(&dir, &["--report", "all.html"]);
    let page = fs::read_to_string(dir.path("all.html")).unwrap();
    for expected in ["2 families of passages", "Family 1: ", "First in ", "<ins>lantern</ins>"] {
        assert!(page.contains(expected), "{expected}");
    }
    assert_eq!(page.matches("<svg class=\"graph\"").count(), 2);
    run(&dir, &["--document", "almanac", "--report", "one.html"]);
    let page = fs::read_to_string(dir.path("one.html")).unwrap();
    assert!(page.contains("Where the parts of ") && page.contains("Sources by place"));
}

#[test]
fn a_report_of_many_families_shows_those_of_most_documents_and_says_so() {
    let dir = Dir::new();
    let text = |at: u64| format!("{}. {}", words(1000 + at / 2, 40), words(at, 40));
    let lines = (0..420).map(|at| line(&format!("d{at}"), &text(at), json!({"n": at})));
    dir.write("in.jsonl", lines.collect::<String>());
    dir.json(&["add", "idx", "in.jsonl"]);
    let args = ["families", "idx", "--date", "n", "--format", "json", "--report", "r.html"];
    let run = dir.run(&args);
    assert_eq!((run.status, run.out.lines().count()), (0, 210), "{}", run.err);
    let page = fs::read_to_string(dir.path("r.html")).unwrap();
    assert!(page.contains("210 families of passages; the 200 with most documents are shown"));
    assert_eq!(page.matches("<section class=\"card\"").count(), 200);
}

#[test]
#[cfg(feature = "parquet")]
fn a_parquet_file_has_the_carriers_that_json_lines_have() {
    let dir = press();
    assert_eq!(run(&dir, &["--out", "rows.parquet"]), "");
    let args = ["dedup", "rows.parquet", "--annotate", "--exact", "--out", "rows.jsonl"];
    dir.run(&[&args[..], &["--text-field", "id", "--id-field", "NONE"]].concat());
    let rows = fs::read_to_string(dir.path("rows.jsonl")).unwrap();
    let mut rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    for family in found(&dir) {
        for (at, carrier) in carriers(&family).iter().enumerate() {
            let mut row = rows.next().unwrap();
            // A list is text in a column.
            let changes = row["changes"].as_str().map(|text| serde_json::from_str(text).unwrap());
            row["changes"] = changes.unwrap_or(Value::Null);
            let mut expected = family.as_object().unwrap().clone();
            expected.remove("carriers");
            if at > 0 {
                expected.insert("text".into(), Value::Null);
            }
            expected.extend(carrier.as_object().unwrap().clone());
            let columns = row.as_object_mut().unwrap();
            columns.remove("dedup");
            // A cell without a value is absent in JSON.
            columns.retain(|_, value| !value.is_null());
            expected.retain(|_, value| !value.is_null());
            assert_eq!(*columns, expected, "carrier {at} of {}", family["family"]);
        }
    }
    assert_eq!(rows.count(), 0);
}

#[test]
fn a_service_finds_the_families_and_the_lineage_that_the_command_finds() {
    use crate::common::service::Service;
    use cento_client::api::ErrorBody;
    use cento_collections::{FamilyOptions, LineageOptions};

    let dir = press();
    let of = |args: &[&str]| -> Vec<Value> {
        let out = dir.run(&[args, &["--format", "json"]].concat()).out;
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let service = Service::start(&dir, &[]);
    let client = service.client();
    let options = FamilyOptions::default().date("date");
    for (options, args) in [
        (options.clone(), &FAMILIES[..]),
        (options.clone().document("rules"), &[&FAMILIES[..], &["--document", "rules"]].concat()),
        (options.clone().min_documents(3u64), &[&FAMILIES[..], &["--min-documents", "3"]].concat()),
        (
            FamilyOptions { limit: Some(1), ..options.clone() },
            &[&FAMILIES[..], &["-n", "1"]].concat(),
        ),
        (
            options.clone().since(u64::MAX / 2),
            &[&FAMILIES[..], &["--since", "9000000000000000000"]].concat(),
        ),
    ] {
        let answer = client.families(&options.clone().into()).unwrap();
        let families: Vec<Value> =
            answer.families.iter().map(|family| serde_json::to_value(family).unwrap()).collect();
        assert_eq!(families, of(args), "{options:?}");
        assert_eq!(answer.summary.lines as usize, families.len());
    }
    let answer = client.families(&options.into()).unwrap();
    assert_eq!((answer.summary.families, answer.summary.cut_pairs), (2, 0));
    let answer = client.lineage(&LineageOptions::default().date("date").into()).unwrap();
    let documents: Vec<Value> =
        answer.documents.iter().map(|row| serde_json::to_value(row).unwrap()).collect();
    assert_eq!(documents, of(&["lineage", "idx", "--date", "date"]));
    assert_eq!(answer.summary.lines as usize, documents.len());
    // Refusals come before the first line.
    for (path, body, code) in [
        ("/v1/families", r#"{"document": "nobody"}"#, "unknown_id"),
        ("/v1/families", r#"{"date": "day"}"#, "invalid_argument"),
        ("/v1/families", r#"{"min_documents": 1}"#, "invalid_argument"),
        ("/v1/lineage", r#"{"date": "day"}"#, "invalid_argument"),
        ("/v1/lineage", r#"{"minimum": 1}"#, "invalid_argument"),
    ] {
        let reply = service.post(path, body);
        let refused: ErrorBody = serde_json::from_str(&reply.body).unwrap();
        assert_eq!(refused.error.code, code, "{body}: {}", refused.error.message);
    }
}
