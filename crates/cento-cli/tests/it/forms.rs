//! Texts in special formats, as shown by the verbs: places in pages and files, counts of invisible
//! characters.

use crate::common::run::Dir;
use crate::common::{words, zip};
use cento_testing::markup;
use serde_json::{Value, json};

#[test]
fn a_row_that_is_kept_has_its_other_columns() {
    let dir = Dir::new();
    dir.write("in.csv", format!("id,text,lang\nc1,\"{}\",de\n", words(1, 60)));
    let run = dir.run(&["dedup", "in.csv", "--exact"]);
    let row: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    assert_eq!(row, json!({"id": "c1", "text": words(1, 60), "lang": "de"}));
}

#[test]
fn the_field_of_the_text_and_the_part_of_a_page_are_options() {
    let dir = Dir::new();
    dir.write("a.csv", "title,body\nx,y\n");
    let run = dir.run(&["add", "idx", "a.csv"]);
    let said = "a.csv: there is no column `text`; its columns are `title`, `body`";
    assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
    let named = dir.json(&["add", "idx", "a.csv", "--text-field", "body"]);
    assert_eq!((&named["added"], &named["failed"]), (&json!(1), &json!(0)));
    let menu: String = (0..40).map(|i| format!("<li><a href='/{i}'>menu{i}</a></li>")).collect();
    dir.write("a.html", format!("<html><ul>{menu}</ul><p>{}</p></html>", words(1, 80)));
    dir.write("content.txt", words(1, 80));
    assert_eq!(dir.json(&["compare", "a.html", "content.txt"])["resemblance"], 1.0);
    for part in ["all", "source"] {
        let whole = dir.json(&["compare", "a.html", "content.txt", "--html", part]);
        assert!(whole["resemblance"].as_f64().unwrap() < 0.9, "{part}: {whole}");
    }
}

#[test]
fn a_file_of_many_texts_is_not_compared_as_one() {
    // Attachments would be passed over without a word.
    let dir = Dir::new();
    let text = words(1, 60);
    let mail = format!("From: a@b\nMessage-ID: <1>\nSubject: s\n\n{text}\n");
    dir.write("a.eml", &mail);
    dir.write("a.txt", &text);
    dir.write("c.mbox", format!("From a@b Mon Jan  1 12:00:00 2024\n{mail}"));
    let head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n";
    let part = format!("--x\nContent-Type: text/plain; name=d.txt\n\n{text}\n");
    dir.write("d.eml", format!("From: a@b\nMessage-ID: <1>\n{head}{part}{part}--x--\n"));
    dir.write("e.zip", zip(&[("e.txt", text.as_bytes())]));
    let whole = dir.json(&["compare", "a.eml", "a.txt"]);
    assert!(whole["containment_of_b"].as_f64() > Some(0.9), "{whole}");
    for (name, what) in [
        ("d.eml", "a mail with attachments"),
        ("c.mbox", "a mailbox"),
        ("e.zip", "it is an archive"),
    ] {
        let run = dir.run(&["compare", "a.txt", name]);
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{name}");
        assert!(run.err.contains(what), "{}", run.err);
    }
}

#[test]
fn a_file_with_one_record_is_compared_by_the_text_of_the_record() {
    // Regression: the source was compared, where letters are escapes and names of fields are words.
    let dir = Dir::new();
    let text = words(1, 60).replace('1', "\u{fc}");
    let record = json!({"id": "a", "text": text}).to_string().replace('\u{fc}', "\\u00fc");
    dir.write("t.txt", &text);
    dir.write("a.json", &record);
    dir.write("a.jsonl", &record);
    dir.write("a.csv", format!("id,text\na,\"{text}\"\n"));
    let fingerprint = |name| dir.run(&["method", "fingerprint", name, "--format", "json"]).out;
    for name in ["a.json", "a.jsonl", "a.csv"] {
        assert_eq!(dir.json(&["compare", "t.txt", name])["resemblance"], 1.0, "{name}");
        assert_eq!(fingerprint(name), fingerprint("t.txt"), "{name}");
    }
    let piped = ["compare", "t.txt", "-", "--format", "json"];
    assert_eq!(dir.run_with(&piped, record.as_bytes()).json()["resemblance"], 1.0);
    // JSON without records is a text, and so is every file with this option.
    dir.write("no.json", json!([text]).to_string());
    let whole = dir.json(&["compare", "t.txt", "no.json"]);
    assert!(whole["resemblance"].as_f64() > Some(0.9), "{whole}");
    let source = dir.run(&["compare", "t.txt", "a.json", "--html", "source", "--format", "json"]);
    assert!(source.json()["resemblance"].as_f64() < Some(0.9), "{}", source.out);
    let list = "it is a list of records; each of them is a text";
    for (name, content, why) in [
        ("two.jsonl", format!("{record}\n{record}\n"), list),
        ("two.json", format!("[{record},{record}]"), list),
        ("two.csv", "id,text\na,x\nb,y\n".into(), list),
        ("head.csv", "id,text\n".into(), "it has no documents"),
        ("other.csv", "id,content\na,x\n".into(), "this verb reads the field `text`"),
    ] {
        dir.write(name, content);
        for args in [&["compare", "t.txt", name][..], &["method", "fingerprint", name]] {
            let run = dir.run(args);
            assert_eq!((run.status, run.out.as_str()), (2, ""), "{args:?}");
            assert!(run.err.contains(why) && !run.err.contains("--text-field"), "{}", run.err);
        }
    }
}

#[test]
fn an_archive_too_deep_is_left_out_and_fails_a_strict_run() {
    let dir = Dir::new();
    let text = words(1, 60);
    let third = zip(&[("c.txt", text.as_bytes())]);
    let second = zip(&[("b.txt", text.as_bytes()), ("third.zip", &third)]);
    dir.write("first.zip", zip(&[("a.txt", text.as_bytes()), ("second.zip", &second)]));
    let added = dir.json(&["add", "idx", "first.zip"]);
    assert_eq!((&added["added"], &added["skipped"]), (&json!(2), &json!(1)));
    assert_eq!(added["left_out"][0]["path"], "first.zip/second.zip/third.zip");
    assert_eq!(dir.run(&["add", "idx", "first.zip", "--strict"]).status, 3);
}

#[test]
fn a_passage_has_its_place_in_the_web_page() {
    let dir = Dir::new();
    let (before, passage) = (words(2, 50), words(1, 40));
    // With references, tags and lines in the passage.
    let marked =
        passage.replacen(' ', "&nbsp;", 1).replacen(' ', " <b>", 1).replacen(' ', "</b>\r\n", 1);
    let page =
        format!("<html><ul><li>Menu</ul>\n<p>{before}</p>\n<p>{marked} {}</p>", words(3, 50));
    dir.write("page.html", &page);
    dir.write("plain.txt", format!("{} {passage}", words(4, 50)));
    let start = page.find(&marked).unwrap();
    let expected = json!({"start": start, "end": start + marked.len(), "line": 3});
    let compared = &dir.json(&["compare", "page.html", "plain.txt"])["passages"][0];
    assert_eq!((&compared["a_origin"], compared.get("b_origin")), (&expected, None), "{compared}");
    let compared = &dir.json(&["compare", "plain.txt", "page.html"])["passages"][0];
    assert_eq!((&compared["b_origin"], compared.get("a_origin")), (&expected, None), "{compared}");
    let shown = format!("in the page {start}..{}, line 3", start + marked.len());
    let run = dir.run(&["compare", "page.html", "plain.txt", "--report", "r.html"]);
    assert!(run.out.contains(&shown), "{}", run.out);
    let report = std::fs::read_to_string(dir.path("r.html")).unwrap();
    assert!(report.contains("; in the web page line 3<"), "{report}");
    dir.run(&["add", "idx", "plain.txt", "page.html"]);
    let search = ["search", "idx", "page.html", "--passages"];
    let hits = dir.json(&search)["hits"].clone();
    let hit = hits.as_array().unwrap().iter().find(|hit| hit["id"] == "plain.txt").unwrap();
    assert_eq!(hit["passages"][0]["a_origin"], expected, "{hit}");
    assert!(
        dir.run(&search).out.contains(&format!(" ({shown}) \u{2194} ")),
        "{}",
        dir.run(&search).out
    );
    // An index stores the text of a page without the page, so there are no places in the page.
    let found = dir.json(&["search", "idx", "--id", "page.html", "--passages"]);
    assert!(!found.to_string().contains("origin"), "{found}");
    // A page read as source has no second place to show.
    let source = dir.json(&["compare", "page.html", "plain.txt", "--html", "source"]);
    assert!(!source.to_string().contains("origin"), "{source}");
}

#[test]
fn a_passage_tells_its_page_where_texts_have_pages() {
    let dir = Dir::new();
    let passage = words(1, 40);
    let pages =
        format!("{}\u{c}{}\u{c}{passage} {}\u{c}end", words(2, 50), words(3, 50), words(4, 50));
    dir.write("pages.txt", &pages);
    dir.write("plain.txt", format!("{} {passage}", words(5, 50)));
    dir.run(&["add", "idx", "pages.txt"]);
    let search = ["search", "idx", "plain.txt", "--passages"];
    let found = &dir.json(&search)["hits"][0]["passages"][0];
    assert_eq!((&found["b_page"], found.get("a_page")), (&json!(3), None));
    assert!(
        dir.run(&search).out.contains(" \u{2194} page 3: 40 words"),
        "{}",
        dir.run(&search).out
    );
    let compared = &dir.json(&["compare", "pages.txt", "plain.txt"])["passages"][0];
    assert_eq!((&compared["a_page"], compared.get("b_page")), (&json!(3), None));
    assert!(dir.run(&["compare", "pages.txt", "plain.txt"]).out.contains(", page 3"));
    let best = dir.json(&["search", "idx", "--text", &passage, "--goal", "passage"]);
    // The passage of a candidate may begin before the common text.
    let best = &best["hits"][0]["passages"][0];
    let start = best["b"][0].as_u64().unwrap() as usize;
    assert_eq!(best["b_page"], 1 + pages[..start].matches('\u{c}').count(), "{best}");
    let pairs = dir.run(&["pairs", "pages.txt", "plain.txt", "--min-passage", "20"]);
    assert!(pairs.out.contains("page 3 \u{2194} "), "{}", pairs.out);
}

#[test]
fn a_passage_tells_its_line_where_texts_have_lines() {
    let dir = Dir::new();
    let program = |seed: u64| {
        let lines =
            (0..30).map(|line| format!("{} = {};\n", words(seed, 2), words(seed + line, 3)));
        lines.collect::<String>()
    };
    let copied = program(500);
    dir.write("a.c", format!("{}{copied}", program(100)));
    dir.write("b.c", format!("{}\n{copied}{}", words(9, 5), program(300)));
    dir.run(&["add", "idx", "a.c"]);
    let search = ["search", "idx", "b.c", "--passages"];
    let found = &dir.json(&search)["hits"][0]["passages"][0];
    assert_eq!((&found["b_line"], &found["a_line"]), (&json!(31), &json!(2)), "{found}");
    assert_eq!(found.get("b_page"), None);
    let shown = dir.run(&search).out;
    assert!(shown.contains(" line 2 \u{2194} line 31: "), "{shown}");
    let compared = &dir.json(&["compare", "a.c", "b.c"])["passages"][0];
    assert_eq!((&compared["a_line"], &compared["b_line"]), (&json!(31), &json!(2)));
    // A short text, found by its fingerprints.
    let short = copied.lines().next().unwrap();
    dir.run(&["add", "dense", "a.c", "--scheme", "winnow(k=3,w=1)"]);
    let found = dir.json(&["search", "dense", "--text", short, "--passages"]);
    let passage = &found["hits"][0]["passages"][0];
    assert_eq!((&passage["b_line"], passage.get("a_line")), (&json!(31), None), "{found}");
}

#[test]
fn a_passage_is_found_in_files_of_markup_with_its_line() {
    let dir = Dir::new();
    let passage = markup::files(&dir);
    let run = dir.run(&["add", "idx", "in", "--strict"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let found = dir.json(&["search", "idx", "--text", &passage, "--passages", "-n", "9"]);
    let mut places: Vec<(&str, &Value, bool)> = Vec::new();
    for hit in found["hits"].as_array().unwrap() {
        let is_whole = hit["containment_of_a"] == 1.0;
        places.push((hit["id"].as_str().unwrap(), &hit["passages"][0]["b_line"], is_whole));
    }
    places.sort_unstable_by_key(|place| place.0);
    let expected = [("in/a.md", 5), ("in/b.tex", 3), ("in/c.ipynb", 4), ("in/d", 2)];
    let expected = expected.map(|(id, line)| (id, json!(line)));
    let expected: Vec<_> = expected.iter().map(|(id, line)| (*id, line, true)).collect();
    assert_eq!(places, expected);
    // Read as source, the address of the link is part of the text.
    let raw = dir.json(&["compare", "in/a.md", "in/a.md", "--html", "source"]);
    let text = dir.json(&["compare", "in/a.md", "in/a.md"]);
    let tokens = |compared: &Value| compared["passages"][0]["tokens"].as_u64().unwrap();
    // The four words `http`, `x`, `org` and `y`.
    assert_eq!(tokens(&raw), tokens(&text) + 4, "{raw}");
}

#[test]
fn characters_that_a_reader_does_not_see_are_left_out_and_counted() {
    let dir = Dir::new();
    let text = words(1, 60).replace('w', "wore");
    dir.write("base.txt", &text);
    // Invisible words between the words, and characters without width inside the words.
    let hidden = text.replace(' ', "<span style='font-size:0'> unseen </span> ");
    dir.write("trick.html", format!("<html><p>{hidden}</p>"));
    let spread = |c: char| if c == ' ' { c.to_string() } else { format!("{c}\u{200b}") };
    dir.write("width.txt", text.chars().map(spread).collect::<String>());
    dir.json(&["add", "idx", "base.txt"]);
    let compared = dir.json(&["compare", "base.txt", "trick.html"]);
    let unseen = |hidden: u64| json!({"hidden_characters": hidden, "mixed_words": 0});
    assert_eq!(
        (&compared["resemblance"], &compared["unseen"]),
        (&json!(1.0), &json!([unseen(0), unseen(59 * 6)]))
    );
    let run =
        dir.run(&["search", "idx", "trick.html", "width.txt", "base.txt", "--report", "r.html"]);
    assert!(
        run.out.contains("trick.html contains 354 characters that a reader does not see"),
        "{}",
        run.out
    );
    assert!(run.out.contains("width.txt contains "), "{}", run.out);
    assert!(!run.out.contains("base.txt contains "), "{}", run.out);
    let report = std::fs::read_to_string(dir.path("r.html")).unwrap();
    assert!(report.contains("contains 354 characters that a reader does not see"));
    let found = dir.json(&["search", "idx", "width.txt"]);
    assert_eq!(found["hits"][0]["containment_of_a"], 1.0);
    assert!(found["query"]["unseen"]["hidden_characters"].as_u64() > Some(10), "{found}");
    assert!(dir.json(&["search", "idx", "base.txt"])["query"].get("unseen").is_none());
    // Letters of a different script hide the copy as well, so that no pair shows the text.
    dir.write("hand/ann/a.html", format!("<html><p>{hidden}</p>"));
    dir.write("hand/bob/a.txt", words(2, 60));
    let alike = |c: char| if matches!(c, 'e' | 'o') { '\u{43e}' } else { c };
    dir.write("hand/eve/a.txt", text.chars().map(alike).collect::<String>());
    let of_eve = "eve contains 60 words with letters of another script that look the same";
    for by in ["file", "directory"] {
        let name = |name: &str| match by {
            "file" => format!("hand/{name}/a.{}", if name == "ann" { "html" } else { "txt" }),
            _ => format!("hand/{name}"),
        };
        let asked = ["pairs", "hand", "--by", by, "--report", "p.html"];
        let run = dir.run(&asked);
        let hidden = "contains 354 characters that a reader does not see";
        assert!(run.out.contains(&format!("{} {hidden}", name("ann"))), "{}", run.out);
        assert!(run.out.contains(&of_eve.replace("eve", &name("eve"))), "{}", run.out);
        let report = std::fs::read_to_string(dir.path("p.html")).unwrap();
        assert!(report.contains(hidden) && !report.contains("bob contains"));
        let run = dir.run(&[&asked[..], &["--format", "json"]].concat());
        let end: Value = serde_json::from_str(run.out.lines().last().unwrap()).unwrap();
        assert_eq!(end["warnings"][0], json!({"name": name("ann"), "reason": hidden}));
        assert_eq!(end["warnings"].as_array().unwrap().len(), 2, "{end}");
    }
}
