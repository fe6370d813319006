//! Reports: what `--report` of four verbs writes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::run::{Dir, Run, indexed, line};
use crate::common::service::Service;
use crate::common::{words, zip};

/// Runs a command at a fixed time.
fn run(dir: &Dir, args: &[&str]) -> Run {
    dir.command(args).env("SOURCE_DATE_EPOCH", "1769817600").output().unwrap().into()
}

fn read(dir: &Dir, name: &str) -> String {
    fs::read_to_string(dir.path(name)).unwrap()
}

fn read_json(dir: &Dir, name: &str) -> Value {
    serde_json::from_str(&read(dir, name)).unwrap()
}

#[test]
fn a_search_reports_shares_sources_and_text() {
    let dir = indexed();
    // Forty words found nowhere else, then 120 words of `a`. `b` has the first eighty of the 120
    // words.
    let essay = format!("{}\n\n{}", words(9, 40), words(1, 120));
    dir.write("essay.txt", &essay);
    let args = ["search", "idx", "essay.txt", "--report", "r.html", "--report", "r.json"];
    let args = [&args[..], &["--report", "r.csv", "--title", "Essays <b>"]].concat();
    let ran = run(&dir, &args);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let report = read_json(&dir, "r.json");
    assert_eq!(report["run"]["date"], "2026-01-31 00:00 UTC");
    assert_eq!(report["run"]["index"]["documents"], 3);
    let document = &report["documents"][0];
    assert_eq!(document["name"], "essay.txt");
    let ids: Vec<_> = document["sources"].as_array().unwrap().iter().map(|s| &s["id"]).collect();
    assert_eq!(ids, ["a", "b"]);
    // The numbers once more, from the passages.
    let share = |passages: &Value| {
        let counts = |range: &Value| {
            let [start, end] = [0, 1].map(|n| range[n].as_u64().unwrap() as usize);
            essay[start..end].bytes().filter(|b| !b.is_ascii_whitespace()).count()
        };
        let bytes: usize =
            passages.as_array().unwrap().iter().map(|passage| counts(&passage["document"])).sum();
        bytes as f64 / essay.bytes().filter(|b| !b.is_ascii_whitespace()).count() as f64
    };
    let (a, b) = (&document["sources"][0], &document["sources"][1]);
    let (of_a, of_b) = (share(&a["passages"]), share(&b["passages"]));
    assert!(of_a > of_b && of_b > 0.3, "{document}");
    assert_eq!((&a["share_in_report"], &a["share_in_text"]), (&json!(of_a), &json!(of_a)));
    assert_eq!((&b["share_in_report"], &b["share_in_text"]), (&json!(0.0), &json!(of_b)));
    assert_eq!(document["reused"], json!(of_a));
    let html = read(&dir, "r.html");
    assert!(html.contains("Essays &lt;b&gt;") && html.contains(&words(9, 40)));
    assert!(html.contains(&format!("{:.1}\u{a0}%</span> reused", 100.0 * of_a)), "{of_a}");
    let csv = read(&dir, "r.csv");
    assert!(csv.lines().nth(1).unwrap().starts_with("essay.txt,"), "{csv}");
    // Equal input gives equal reports.
    let before = [html, csv, read(&dir, "r.json")];
    assert_eq!(run(&dir, &args).status, 0);
    assert_eq!(["r.html", "r.csv", "r.json"].map(|name| read(&dir, name)), before);
}

#[test]
fn quotations_and_bibliography_are_excluded_on_request() {
    let dir = indexed();
    let essay = format!("{}\n\n\"{}\"\n\nReferences\n{}", words(9, 60), words(1, 40), words(3, 30));
    dir.write("essay.txt", &essay);
    let report = |args: &[&str]| {
        let base = ["search", "idx", "essay.txt", "--report", "r.json"];
        assert!(run(&dir, &[&base[..], args].concat()).status <= 1);
        read_json(&dir, "r.json")["documents"][0].clone()
    };
    let all = report(&[]);
    assert_eq!(all["sources"].as_array().unwrap().len(), 3, "{all}");
    let less = report(&["--without", "quotations", "--without", "bibliography"]);
    assert_eq!((&less["reused"], &less["originality"]), (&json!(0.0), &json!(1.0)));
    assert_eq!(less["without_passages"], 0);
    assert!(less["excluded"]["quotations"].as_u64().unwrap() > 100);
    let one = report(&["--without", "bibliography"]);
    assert_eq!(one["excluded"]["quotations"], 0);
    assert_eq!(one["sources"].as_array().unwrap().len(), 2, "{one}");
}

#[test]
fn quotations_in_the_marks_of_a_format_are_excluded_on_request() {
    // Readers dropped these marks, and whoever quoted by them had copied.
    let dir = indexed();
    let [own, after, quoted] = [words(9, 60), words(10, 60), words(1, 40)];
    let latex = |quotation: &str| {
        format!(
            "\\documentclass{{article}}\n\\begin{{document}}\n{own}\n\n{quotation}\n\n{after}\n\
             \\end{{document}}\n"
        )
    };
    let page = |quotation: &str| format!("<html><body><p>{own}</p>{quotation}<p>{after}</p>");
    let paragraph = |style: &str, text: &str| {
        let style = format!("<w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr>");
        format!("<w:p>{style}<w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let word = format!(
        "<w:wordDocument xmlns:w=\"http://schemas.microsoft.com/office/word/2003/wordml\"><w:body>\
         {}{}{}</w:body></w:wordDocument>",
        paragraph("Normal", &own),
        paragraph("Quote", &quoted),
        paragraph("Normal", &after)
    );
    for (name, essay) in [
        ("a.md", format!("{own}\n\n> *{quoted}*\n\n{after}\n").into_bytes()),
        ("b.html", page(&format!("<blockquote><p>{quoted}</p></blockquote>")).into_bytes()),
        ("c.html", page(&format!("<p>As <q>{quoted}</q></p>")).into_bytes()),
        ("d.tex", latex(&format!("\\begin{{quote}}\n{quoted}\n\\end{{quote}}")).into_bytes()),
        ("e.tex", latex(&format!("As \\enquote{{{quoted}}}")).into_bytes()),
        ("f.xml", word.into_bytes()),
    ] {
        dir.write(name, essay);
        let report = |more: &[&str]| {
            let base = ["search", "idx", name, "--report", "r.json"];
            assert!(run(&dir, &[&base[..], more].concat()).status <= 1);
            read_json(&dir, "r.json")["documents"][0].clone()
        };
        assert!(report(&[])["reused"].as_f64().unwrap() > 0.2, "{name}");
        let less = report(&["--without", "quotations"]);
        assert_eq!(less["reused"], json!(0.0), "{name}: {less}");
        assert!(less["excluded"]["quotations"].as_u64().unwrap() > 100, "{name}");
    }
}

#[test]
fn the_book_lists_the_headings_of_bibliographies() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let book = fs::read_to_string(root.join("docs/howto/reports.md")).unwrap();
    let book = book.split_whitespace().collect::<Vec<_>>().join(" ");
    let headings =
        fs::read_to_string(root.join("crates/cento-text/src/text/headings.txt")).unwrap();
    let (doubtful, certain): (Vec<&str>, Vec<&str>) =
        headings.lines().partition(|heading| heading.starts_with("? "));
    let doubtful: Vec<&str> = doubtful.iter().map(|heading| &heading[2..]).collect();
    for listed in [certain, doubtful] {
        let listed = format!(" {}. ", listed.join(", "));
        assert!(book.contains(&listed), "docs/howto/reports.md lacks:{listed}");
    }
}

#[test]
fn headings_of_prose_leave_the_text_below_them() {
    // Regression: "Sources" above a story about the sources of a river excluded the following text.
    let dir = indexed();
    let excluded = |heading: &str, rest: &str| {
        let body = format!("{}\n\n{heading}\n{rest}\n", words(9, 400));
        dir.write("essay.txt", body);
        let args = ["search", "idx", "essay.txt", "--without", "bibliography"];
        assert!(run(&dir, &[&args[..], &["--report", "r.json"]].concat()).status <= 1);
        read_json(&dir, "r.json")["documents"][0]["excluded"]["bibliography"].as_u64().unwrap()
    };
    let (story, entries) = (words(1, 60), "Smith, J. (2001). Rivers. London: Water, 3-5.");
    assert_eq!(excluded("Sources", &story), 0);
    assert!(excluded("Sources", entries) > 20);
    assert!(excluded("VI. References", &story) > 100);
}

#[test]
fn a_report_without_a_limit_shows_all_sources() {
    // The ten best were shown, and less than half of the text was "reused".
    let dir = Dir::new();
    let documents = (0..24).map(|n| {
        let text = format!("{} {}", words(100 + n, 30), words(500 + n, 200));
        json!({"id": format!("d{n}"), "text": text}).to_string() + "\n"
    });
    dir.write("sources.jsonl", documents.collect::<String>());
    dir.write("essay.txt", (0..24).map(|n| words(100 + n, 30) + "\n\n").collect::<String>());
    assert_eq!(run(&dir, &["add", "idx", "sources.jsonl"]).status, 0);
    for (limit, sources, reused) in [(None, 24, 1.0), (Some("10"), 10, 10.0 / 24.0)] {
        for more in [&[][..], &["--goal", "trace"], &["--rank", "weight"], &["--rank", "passages"]]
        {
            let args = ["search", "idx", "essay.txt", "--report", "all.json"];
            let limit: Vec<&str> = limit.into_iter().flat_map(|limit| ["--limit", limit]).collect();
            assert_eq!(run(&dir, &[&args[..], more, &limit[..]].concat()).status, 0);
            let report = read_json(&dir, "all.json");
            fs::remove_file(dir.path("all.json")).unwrap();
            let document = &report["documents"][0];
            assert_eq!(document["sources"].as_array().unwrap().len(), sources, "{more:?}");
            let share = document["reused"].as_f64().unwrap();
            assert!((share - reused).abs() < 0.03, "{more:?}: {share}");
        }
    }
}

#[test]
fn a_report_of_an_index_without_texts_has_the_places_in_the_document() {
    let dir = indexed();
    assert_eq!(dir.run(&["add", "bare", "corpus.jsonl", "--no-text"]).status, 0);
    let essay = format!("{} {}", words(9, 40), words(1, 120));
    dir.write("essay.txt", &essay);
    let ran =
        run(&dir, &["search", "bare", "essay.txt", "--report", "r.json", "--report", "r.html"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let place = &read_json(&dir, "r.json")["documents"][0]["sources"][0]["passages"][0];
    assert_eq!(place.get("source"), None);
    let [start, end] = [0, 1].map(|n| place["document"][n].as_u64().unwrap() as usize);
    assert!(words(1, 120).contains(&essay[start..end]) && end - start > 200, "{place}");
    assert!(read(&dir, "r.html").contains("The text of this source is not stored."));
    // A document without stored text cannot be shown.
    let ran = run(&dir, &["search", "bare", "--id", "a", "--report", "r.html"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("its text is not stored"), "{}", ran.err);
}

#[test]
fn a_service_gives_the_same_report() {
    let dir = indexed();
    dir.write("essay.txt", format!("{} {}", words(9, 40), words(1, 120)));
    let report = |args: &[&str]| {
        let ran = run(&dir, &[args, &["--report", "r.json"]].concat());
        assert_eq!(ran.status, 0, "{}", ran.err);
        read_json(&dir, "r.json")["documents"].clone()
    };
    let here = report(&["search", "idx", "essay.txt", "--goal", "trace"]);
    let service = Service::start(&dir, &[]);
    let there = report(&["search", "--url", &service.url, "essay.txt", "--goal", "trace"]);
    assert_eq!(here, there);
    assert!(service.stop());
}

#[test]
fn several_queries_are_one_report() {
    let dir = indexed();
    dir.write("one.txt", words(1, 60));
    dir.write("two.jsonl", line("record", &words(3, 60), json!({})));
    let ran = run(&dir, &["search", "idx", "one.txt", "two.jsonl", "--report", "r.html"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let html = read(&dir, "r.html");
    for expected in ["<h2>2 documents</h2>", "href=\"#d2\"", "id=\"d2\"", "record"] {
        assert!(html.contains(expected), "{expected}");
    }
}

#[test]
fn compare_reports_the_first_file_with_the_second_as_its_source() {
    let dir = Dir::new();
    dir.write("a.txt", format!("{} {}", words(1, 50), words(2, 50)));
    dir.write("b.txt", words(1, 80));
    let ran = run(&dir, &["compare", "a.txt", "b.txt", "--report", "r.json", "--report", "r.html"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let document = &read_json(&dir, "r.json")["documents"][0];
    assert_eq!(
        (&document["name"], &document["sources"][0]["id"]),
        (&json!("a.txt"), &json!("b.txt"))
    );
    let reused = document["reused"].as_f64().unwrap();
    assert!((0.4..0.6).contains(&reused), "{reused}");
}

/// Six submissions: a copy, a copy with words of their own, and two that were not copied.
fn submissions() -> Dir {
    let dir = Dir::new();
    let students = [("ann", 1), ("bob", 1), ("cat", 2), ("dan", 2), ("eve", 3), ("fay", 4)];
    for (at, (name, seed)) in (0..).zip(students) {
        let own = if seed == 1 { String::new() } else { words(100 + at, 30) };
        dir.write(&format!("in/{name}.txt"), format!("{} {own}", words(seed, 80)));
    }
    dir
}

#[test]
fn pairs_reports_pairs_clusters_and_all_similarities() {
    let dir = submissions();
    let ran = run(&dir, &["pairs", "in", "--report", "r.html", "--report", "r.json", "-n", "1"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    // The heading, and the pair.
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);
    let report = read_json(&dir, "r.json");
    assert_eq!(report["compared"], 6);
    // The report shows a single pair, and the histogram counts all fifteen pairs.
    assert_eq!(report["pairs"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&report["histogram"]["pairs"][9], &report["histogram"]["none"]),
        (&json!(1), &json!(13))
    );
    assert_eq!(report["clusters"][0]["members"], json!(["in/ann.txt", "in/bob.txt"]));
    assert!(!report["pairs"][0]["passages"].as_array().unwrap().is_empty());
    let html = read(&dir, "r.html");
    assert!(html.contains(&words(1, 80)) && html.contains("in/ann.txt"));
}

#[test]
fn an_anonymous_report_has_no_names() {
    let dir = submissions();
    let files = ["--report", "r.html", "--report", "r.json", "--report", "r.csv"];
    let ran = run(&dir, &[&["pairs", "in", "--anonymous"], &files[..]].concat());
    assert_eq!(ran.status, 0, "{}", ran.err);
    for name in ["r.html", "r.json", "r.csv"] {
        let report = read(&dir, name);
        assert!(report.contains("Document 1"), "{name}");
        for person in ["in/ann", "in/bob", "in/cat", "in/dan"] {
            assert!(!report.contains(person), "{person} in {name}");
        }
    }
    // `auto` names no person, so an anonymous report may show it. Regression: shown as "1 path".
    dir.write("sheet-of-ann.txt", words(90, 20));
    for (more, shown) in [(&[][..], "auto"), (&["-b", "sheet-of-ann.txt"], "auto, 1 path")] {
        let args = [&["pairs", "in", "--anonymous", "-b", "auto", "--report", "b.json"], more];
        assert!(run(&dir, &args.concat()).status < 2);
        assert_eq!(read_json(&dir, "b.json")["run"]["parameters"]["boilerplate"], shown);
    }
}

#[test]
fn pairs_report_the_best_pairs_and_tell_equal_ids_apart() {
    let dir = indexed();
    let ran = run(&dir, &["pairs", "idx", "--report", "r.json"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let report = read_json(&dir, "r.json");
    assert_eq!(report["documents"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(report["run"]["parameters"]["rank"], "overlap");
    // Equal ids in two indexes are different documents.
    assert_eq!(dir.run(&["add", "other", "corpus.jsonl"]).status, 0);
    let against =
        ["pairs", "idx", "--against", "other", "--report", "r.json", "--report", "r.html"];
    assert_eq!(run(&dir, &against).status, 0);
    let report = read_json(&dir, "r.json");
    let names: Vec<_> = report["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"a") && names.contains(&"a (in other)"), "{names:?}");
    assert_eq!(report["run"]["index"]["documents"], 3);
}

#[test]
fn a_report_that_cannot_be_made_is_refused() {
    let dir = indexed();
    let check = |args: &[&str], expected: &str| {
        let ran = dir.run(args);
        assert_eq!(ran.status, 2, "{args:?}");
        assert!(ran.err.contains(expected), "{}", ran.err);
    };
    check(&["search", "idx", "--id", "a", "--report", "r.txt"], "ends in .html, .json or .csv");
    check(&["search", "idx", "--id", "a", "--report", "no/r.html"], "r.html");
    check(&["search", "idx", "--id", "a", "--goal", "passage", "--report", "r.html"], "--goal");
    check(&["pairs", "idx", "--out", "p", "--report", "r.html"], "--out");
    dir.write("essay.txt", words(1, 60));
    let signature = dir.run(&["method", "fingerprint", "essay.txt", "--format", "json"]).out;
    dir.write("signature.json", signature.lines().next().unwrap());
    check(
        &["search", "idx", "--signature", "signature.json", "--report", "r.html"],
        "a signature has no text",
    );
    let ran: Run = dir
        .command(&["search", "idx", "--id", "a", "--report", "r.html"])
        .env("SOURCE_DATE_EPOCH", "yesterday")
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("SOURCE_DATE_EPOCH"), "{}", ran.err);
}

#[test]
fn passages_have_their_pages_and_lines() {
    let dir = Dir::new();
    let source = format!("{}\n\n{}\u{c}{}", words(3, 30), words(4, 30), words(1, 60));
    dir.write("source.txt", source);
    dir.write("essay.txt", format!("{}\n\n{}", words(9, 40), words(1, 60)));
    assert_eq!(dir.run(&["add", "idx", "source.txt"]).status, 0);
    let args = ["search", "idx", "essay.txt", "--report", "r.html", "--report", "r.json"];
    assert_eq!(run(&dir, &args).status, 0);
    let passage = &read_json(&dir, "r.json")["documents"][0]["sources"][0]["passages"][0];
    let places = ["page", "line", "source_page", "source_line"].map(|name| passage.get(name));
    assert_eq!(places, [None, Some(&json!(3)), Some(&json!(2)), Some(&json!(3))], "{passage}");
    let html = read(&dir, "r.html");
    assert!(html.contains("</bdi>, line 3<") && html.contains("</bdi>, page 2, line 3<"), "{html}");
    // The same holds for pairs.
    let args = ["pairs", "source.txt", "essay.txt", "--report", "p.html"];
    assert_eq!(run(&dir, &args).status, 0);
    let html = read(&dir, "p.html");
    assert!(html.contains("</bdi>, page 2, line 3<"), "{html}");
}

#[test]
fn pairs_of_files_have_headings_and_take_the_archive_of_a_platform() {
    let dir = submissions();
    let ran = run(&dir, &["pairs", "in", "-n", "2"]);
    let heads: Vec<&str> = ran.out.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(heads, ["share", "words", "words", "documents"]);
    assert_eq!(ran.out.lines().count(), 3, "{}", ran.out);
    // A directory that contains every submission.
    let (copied, own) = (words(1, 80), words(2, 80));
    let files = [
        ("Task 1/ann_17_file/a.txt", copied.as_bytes()),
        ("Task 1/bob_18_file/deep/b.txt", copied.as_bytes()),
        ("Task 1/cat_19_file/c.txt", own.as_bytes()),
    ];
    dir.write("submissions.zip", zip(&files));
    let args = ["pairs", "submissions.zip", "--by", "directory", "--format", "json"];
    let found = run(&dir, &args).json();
    assert_eq!(found["a"], "submissions.zip/Task 1/ann_17_file");
    assert_eq!(found["b"], "submissions.zip/Task 1/bob_18_file");
    assert_eq!(found["files"][0]["b"], "submissions.zip/Task 1/bob_18_file/deep/b.txt");
}

#[test]
fn a_handed_out_question_sheet_is_no_reuse() {
    let dir = Dir::new();
    let sheet = words(1, 130);
    dir.write("sheet.txt", &sheet);
    let submission = |seed: u64| format!("{sheet}\n\n{}", words(seed, 80));
    dir.write("submissions/ann.txt", submission(10));
    dir.write("submissions/bob.txt", submission(20));
    dir.write("cas.txt", format!("{} {}", submission(30), words(20, 40)));
    assert_eq!(dir.run(&["add", "idx", "submissions"]).status, 0);
    let report = |args: &[&str]| {
        let base = ["search", "idx", "cas.txt", "--report", "r.json", "--report", "r.html"];
        let ran = run(&dir, &[&base[..], args].concat());
        assert_eq!(ran.status, 0, "{}", ran.err);
        read_json(&dir, "r.json")["documents"][0].clone()
    };
    assert!(report(&[])["reused"].as_f64().unwrap() > 0.6);
    // Forty words of the hundred and twenty are another's.
    let found = report(&["-b", "sheet.txt"]);
    let reused = found["reused"].as_f64().unwrap();
    assert!((reused - 1.0 / 3.0).abs() < 0.03, "{found}");
    let ids: Vec<_> = found["sources"].as_array().unwrap().iter().map(|s| &s["id"]).collect();
    assert_eq!(ids, ["submissions/bob.txt"]);
    let letters = sheet.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    assert_eq!(found["excluded"]["boilerplate"], letters);
    assert!(read(&dir, "r.html").contains("Boilerplate</span>, shown so: "));
    // A service shows the same, and says where the worksheet is.
    let service = Service::start(&dir, &[]);
    let args =
        ["search", "--url", &service.url, "cas.txt", "-b", "sheet.txt", "--report", "s.json"];
    assert_eq!(run(&dir, &args).status, 0);
    assert_eq!(read_json(&dir, "s.json")["documents"][0]["reused"], found["reused"]);
    assert!(service.stop());
    // Pairs show the same.
    let args =
        ["pairs", "submissions", "cas.txt", "--boilerplate", "sheet.txt", "--report", "p.json"];
    assert_eq!(run(&dir, &args).status, 0);
    let pairs = read_json(&dir, "p.json");
    assert_eq!(pairs["pairs"].as_array().unwrap().len(), 1, "{pairs}");
    let passages = pairs["pairs"][0]["passages"].as_array().unwrap();
    assert_eq!((passages.len(), &passages[0]["matched"]), (1, &json!(40)), "{pairs}");
    assert_eq!(pairs["documents"][0]["boilerplate"], json!([[0, sheet.len()]]));
}

#[test]
fn a_report_of_a_program_counts_neither_comments_nor_differing_parts() {
    let dir = Dir::new();
    let program = |name: &str, comment: &str, more: &str| {
        format!(
            "/* {comment} */\nclass {name} {{\n  int {name}(int[] values) {{\n    int best = 0;\n    \
             for (int i = 0; i < values.length; i++) {{\n      if (values[i] > best) {{ best = values[i]; \
             }}\n    }}\n{more}    return best;\n  }}\n}}\n"
        )
    };
    dir.write("in/One.java", program("One", "The first of them", ""));
    let other = "interface Two extends Runnable {\n  String text();\n  default boolean is(char c) {\n    \
                 return text().indexOf(c) >= 0 && c != '\\0';\n  }\n}\n";
    dir.write("in/Two.java", other);
    dir.write("Copy.java", program("Copy", "All of this is mine, and my work alone", ""));
    assert_eq!(dir.run(&["add", "idx", "in", "--analyzer", "code(language=java)"]).status, 0);
    let report = |name: &str| {
        let ran = run(&dir, &["search", "idx", name, "--passages", "--report", "r.json"]);
        assert!(ran.status < 2, "{}", ran.err);
        read_json(&dir, "r.json")["documents"][0].clone()
    };
    let copy = report("Copy.java");
    assert_eq!((&copy["reused"], &copy["originality"]), (&json!(1.0), &json!(0.0)), "{copy}");
    assert_eq!(copy["unit"], "tokens");
    let more = "    while (best > 9) { best = best / 10 + Math.abs(best % 10); }\n";
    dir.write("Longer.java", program("Longer", "Mine", more));
    let longer = report("Longer.java");
    // Neither the added statement of 23 tokens nor the following five tokens, which are too few,
    // are reused. Two breaks between parts of the program are tokens, and one break is in the
    // passage.
    assert_eq!(longer["size"], 83);
    assert_eq!(longer["reused"], json!(54.0 / 83.0), "{longer}");
    // A program with a different purpose shares next to nothing.
    dir.write("Mine.java", other.replace("Two", "Mine").replace("char", "int"));
    let args = ["compare", "Mine.java", "in/One.java", "--analyzer", "code", "--report", "c.json"];
    assert!(run(&dir, &args).status < 2);
    let found = read_json(&dir, "c.json")["documents"][0].clone();
    assert!(found["reused"].as_f64().unwrap() < 0.2, "{found}");
}
