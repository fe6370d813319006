//! Texts in forms that are not plain: lists of records, pages of the web, compressed and nested
//! files.

use std::io::Write;

use crate::common::run::Dir;
use crate::common::{words, zip};
use serde_json::{Value, json};

fn tar(name: &str, contents: &[u8]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(contents.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, name, contents).unwrap();
    archive.into_inner().unwrap()
}

/// The ids that are found with a text.
fn found(dir: &Dir, text: &str) -> Vec<String> {
    let found = dir.json(&["search", "idx", "--text", text, "-n", "50"]);
    let hits = found["hits"].as_array().unwrap();
    let mut ids: Vec<String> =
        hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn records_are_documents_in_every_form_of_a_list() {
    let dir = Dir::new();
    let text = |seed| words(seed, 60);
    let record =
        |id: &str, seed| json!({"id": id, "text": text(seed), "meta": {"n": seed}}).to_string();
    dir.write("in/a.json", format!("[\n{},\n  {}]", record("a1", 1), record("a2", 2)));
    dir.write("in/b.json", format!("{}\n{}\n", record("b1", 1), record("b2", 2)));
    dir.write("in/c.csv", format!("id,text,lang\nc1,\"{}\",de\n,{},en\n", text(1), text(2)));
    dir.write("in/d.tsv", format!("text\tid\n{}\td1\n", text(1)));
    let packed = zstd::encode_all(format!("[{}]", record("e1", 1)).as_bytes(), 1).unwrap();
    dir.write("in/e.json.zst", packed);
    // The settings of a program are no record.
    dir.write("in/f.json", json!({"name": text(1)}).to_string());
    let added = dir.json(&["add", "idx", "in"]);
    assert_eq!((&added["added"], &added["failed"]), (&json!(8), &json!(0)));
    assert_eq!(found(&dir, &text(1)), ["a1", "b1", "c1", "d1", "e1"]);
    assert_eq!(found(&dir, &text(2)), ["a2", "b2", "in/c.csv:3"]);
    let filtered = ["search", "idx", "--text", &text(1), "--filter", "n:1"];
    assert_eq!(dir.json(&filtered)["hits"].as_array().unwrap().len(), 3);
    let run = dir.run_with(&["add", "other", "-"], format!("[{}]", record("x", 3)).as_bytes());
    assert_eq!(run.status, 0, "{}", run.err);
    // A row keeps its other columns.
    let run = dir.run(&["dedup", "in/c.csv", "--exact"]);
    let row: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    assert_eq!(row, json!({"id": "c1", "text": text(1), "lang": "de"}));
}

#[test]
fn the_refusal_of_a_list_without_texts_names_its_fields() {
    let dir = Dir::new();
    dir.write("a.csv", "title,body\nx,y\n");
    dir.write("b.json", "[{\"body\":\"x\"},{\"body\":\"y\"}]");
    let run = dir.run(&["add", "idx", "a.csv", "b.json"]);
    assert_eq!(run.status, 2);
    assert!(
        run.err.contains("a.csv: there is no column `text`; its columns are `title`, `body`"),
        "{}",
        run.err
    );
    assert!(run.err.contains("b.json:1: there is no `text`"), "{}", run.err);
    let named = dir.json(&["add", "idx", "a.csv", "b.json", "--text-field", "body"]);
    assert_eq!((&named["added"], &named["failed"]), (&json!(3), &json!(0)));
    dir.write("c.json", "[{\"text\":\"x\"}, {\"text\":\"y");
    let run = dir.run(&["add", "idx", "c.json"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("c.json: it is cut short: the JSON array"), "{}", run.err);
}

#[test]
fn the_content_of_a_page_is_read_unless_all_is_requested() {
    let dir = Dir::new();
    let menu: String = (0..40).map(|i| format!("<li><a href='/{i}'>menu{i}</a></li>")).collect();
    let content = words(1, 80);
    let page = format!("<html><body><ul>{menu}</ul><p>{content}</p><ul>{menu}</ul></body></html>");
    dir.write("in/a.txt", &page);
    dir.write("in/b.html", "<p>no declaration, and so it is known by its name</p>");
    let text = |args: &[&str]| {
        let run = dir.run(&[&["dedup", "in", "--exact"], args].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        let first: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
        first["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(text(&[]), content);
    let all = text(&["--html", "all"]);
    assert!(all.starts_with("menu0\nmenu1\n") && all.contains(&content), "{all}");
    assert_eq!(text(&["--html", "source"]), page);
    dir.write("content.txt", &content);
    assert_eq!(dir.json(&["compare", "in/a.txt", "content.txt"])["resemblance"], 1.0);
    let whole = dir.json(&["compare", "in/a.txt", "content.txt", "--html", "all"]);
    assert!(whole["resemblance"].as_f64().unwrap() < 0.9, "{whole}");
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
    assert_eq!(hit["passages"][0]["query_origin"], expected, "{hit}");
    assert!(dir.run(&search).out.contains(&format!(" ({shown}) are ")), "{}", dir.run(&search).out);
    // Of a stored page there is the text.
    let found = dir.json(&["search", "idx", "--id", "page.html", "--passages"]);
    assert!(!found.to_string().contains("origin"), "{found}");
    // A page that is read as it is has its places by itself.
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
    assert_eq!((&found["hit_page"], found.get("query_page")), (&json!(3), None));
    assert!(
        dir.run(&search).out.contains(" of the hit, page 3: 40 tokens"),
        "{}",
        dir.run(&search).out
    );
    let compared = &dir.json(&["compare", "pages.txt", "plain.txt"])["passages"][0];
    assert_eq!((&compared["a_page"], compared.get("b_page")), (&json!(3), None));
    assert!(dir.run(&["compare", "pages.txt", "plain.txt"]).out.contains(", page 3"));
    let best = dir.json(&["search", "idx", "--text", &passage, "--goal", "passage"]);
    // The passage of a candidate may begin before what both have.
    let best = &best["hits"][0]["passages"][0];
    let start = best["hit"][0].as_u64().unwrap() as usize;
    assert_eq!(best["hit_page"], 1 + pages[..start].matches('\u{c}').count(), "{best}");
    let pairs = dir.run(&["pairs", "pages.txt", "plain.txt", "--min-passage", "20"]);
    assert!(pairs.out.contains(" of the one, page 3 are "), "{}", pairs.out);
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
    assert_eq!((&found["hit_line"], &found["query_line"]), (&json!(31), &json!(2)), "{found}");
    assert_eq!(found.get("hit_page"), None);
    let shown = dir.run(&search).out;
    assert!(
        shown.contains(" of the query, line 2 are ") && shown.contains(", line 31: "),
        "{shown}"
    );
    let compared = &dir.json(&["compare", "a.c", "b.c"])["passages"][0];
    assert_eq!((&compared["a_line"], &compared["b_line"]), (&json!(31), &json!(2)));
    // A short text, which is found by its fingerprints.
    let short = copied.lines().next().unwrap();
    dir.run(&["add", "dense", "a.c", "--scheme", "winnow(k=3,w=1)"]);
    let found = dir.json(&["search", "dense", "--text", short, "--passages"]);
    let passage = &found["hits"][0]["passages"][0];
    assert_eq!((&passage["hit_line"], passage.get("query_line")), (&json!(31), None), "{found}");
}

/// A record of a web archive: a page that a server answered with.
fn page_record(address: &str, page: &str) -> String {
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
    format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {address}\r\nContent-Type: \
         application/http\r\nContent-Length: {}\r\n\r\n{answer}\r\n\r\n",
        answer.len()
    )
}

#[test]
fn a_passage_is_found_in_files_of_markup_with_its_line() {
    let dir = Dir::new();
    let lines: Vec<String> = (0..6).map(|line| words(100 + line, 10)).collect();
    let passage = lines.join("\n");
    dir.write("in/a.md", format!("# Title\n\n[link](http://x.org/y)\n\n{passage}\n"));
    let body = passage.replace("w1", "\\emph{w}1");
    dir.write("in/b.tex", format!("\\documentclass{{x}}\n\\begin{{document}}\n{body}\n"));
    let cell = |kind: &str, source: &str| json!({"cell_type": kind, "source": [source]});
    let cells = [cell("markdown", "# One\ntwo"), cell("code", &passage)];
    dir.write("in/c.ipynb", json!({"cells": cells, "nbformat": 4}).to_string());
    // The names of files do not fit their contents.
    dir.write("in/d", format!("\\documentclass{{x}}\n{passage}\n"));
    let run = dir.run(&["add", "idx", "in", "--strict"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let found = dir.json(&["search", "idx", "--text", &passage, "--passages", "-n", "9"]);
    let mut places: Vec<(&str, &Value, bool)> = Vec::new();
    for hit in found["hits"].as_array().unwrap() {
        let is_whole = hit["containment_of_query"] == 1.0;
        places.push((hit["id"].as_str().unwrap(), &hit["passages"][0]["hit_line"], is_whole));
    }
    places.sort_unstable_by_key(|place| place.0);
    let expected = [("in/a.md", 5), ("in/b.tex", 3), ("in/c.ipynb", 4), ("in/d", 2)];
    let expected = expected.map(|(id, line)| (id, json!(line)));
    let expected: Vec<_> = expected.iter().map(|(id, line)| (*id, line, true)).collect();
    assert_eq!(places, expected);
    // As it is, the address of the link is text.
    let raw = dir.json(&["compare", "in/a.md", "in/a.md", "--html", "source"]);
    let text = dir.json(&["compare", "in/a.md", "in/a.md"]);
    let tokens = |compared: &Value| compared["passages"][0]["tokens"].as_u64().unwrap();
    // `http`, `x`, `org` and `y`.
    assert_eq!(tokens(&raw), tokens(&text) + 4, "{raw}");
}

#[cfg(feature = "archives")]
#[test]
fn a_passage_is_found_in_archives_of_the_web() {
    let dir = Dir::new();
    let passage = words(1, 60);
    let pages = [
        page_record("http://a.org/", &format!("<html><p>{passage}</html>")),
        page_record("http://a.org/b.gz", &format!("<p>{} {passage}", words(2, 30))),
    ];
    let archive = pages.concat();
    dir.write("in/a.warc", &archive);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(archive.as_bytes()).unwrap();
    dir.write("in/b.warc.gz", packed.finish().unwrap());
    let run = dir.run(&["add", "idx", "in", "--strict"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let expected = [
        "in/a.warc/http://a.org/",
        "in/a.warc/http://a.org/b.gz",
        "in/b.warc.gz/http://a.org/",
        "in/b.warc.gz/http://a.org/b.gz",
    ];
    assert_eq!(found(&dir, &passage), expected);
    dir.write("cut.warc", &archive[..archive.len() - 50]);
    let run = dir.run(&["add", "idx", "cut.warc", "--format", "json"]);
    assert_eq!((run.status, &run.json()["added"]), (2, &json!(1)), "{}", run.err);
    assert!(run.err.contains("it is cut short"), "{}", run.err);
    let compared = dir.run(&["compare", "in/a.warc", "cut.warc"]);
    assert_eq!(compared.status, 2);
    assert!(compared.err.contains("each of its files is a text"), "{}", compared.err);
}

#[cfg(feature = "mail")]
#[test]
fn mails_are_documents_and_so_are_attachments() {
    let dir = Dir::new();
    let passage = words(1, 60);
    let mail = |body: &str| format!("From: a@b\nMessage-ID: <1>\nSubject: s\n\n{body}\n");
    dir.write("in/a.eml", mail(&passage));
    dir.write("in/b", mail(&passage));
    let separator = "From a@b Mon Jan  1 12:00:00 2024\n";
    let mails = [mail(&passage), mail(&format!("{} {passage}", words(2, 30)))];
    dir.write("in/c.mbox", format!("{separator}{}\n{separator}{}", mails[0], mails[1]));
    let attached = |name: &str, bytes: &[u8]| {
        let bytes: String = bytes.iter().map(|byte| format!("={byte:02X}")).collect();
        format!(
            "--x\nContent-Type: application/octet-stream; name={name}\nContent-Transfer-Encoding: \
             quoted-printable\n\n{bytes}\n"
        )
    };
    let archive = zip(&[("inner.txt", passage.as_bytes()), ("n.zip", &zip(&[("x", b"y")]))]);
    let parts = [
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n".to_owned(),
        format!("--x\nContent-Type: text/plain\n\n{}\n", words(3, 20)),
        attached("d.txt", passage.as_bytes()),
        attached("e.zip", &archive),
        format!("--x\nContent-Type: message/rfc822\n\n{}", mail(&passage)),
        "--x--\n".into(),
    ];
    dir.write("in/d.eml", parts.concat());
    dir.write("in/e.zip", zip(&[("f.eml", parts.concat().as_bytes())]));
    let run = dir.run(&["add", "idx", "in", "--format", "json"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let expected = [
        "in/a.eml",
        "in/b",
        "in/c.mbox/1",
        "in/c.mbox/2",
        "in/d.eml/d.txt",
        "in/d.eml/e.zip/inner.txt",
        "in/d.eml/part 3.eml",
        "in/e.zip/f.eml/d.txt",
        "in/e.zip/f.eml/part 3.eml",
    ];
    assert_eq!(found(&dir, &passage), expected);
    // One archive within another is as deep as it goes.
    let report = run.json();
    let left: Vec<&str> = report["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| left["path"].as_str().unwrap())
        .collect();
    assert_eq!(left, ["in/d.eml/e.zip/n.zip", "in/e.zip/f.eml/e.zip"]);
    // Attachments would be passed over without a word.
    assert_eq!(dir.json(&["compare", "in/a.eml", "in/b"])["resemblance"], 1.0);
    for (name, what) in [("in/d.eml", "a mail with attachments"), ("in/c.mbox", "a mailbox")] {
        let run = dir.run(&["compare", "in/a.eml", name]);
        assert_eq!((run.status, run.err.contains(what)), (2, true), "{}", run.err);
    }
}

#[cfg(feature = "mail")]
#[test]
fn a_file_of_a_mail_that_cannot_be_decoded_is_named() {
    let dir = Dir::new();
    let head = "Subject: s\nContent-Type: multipart/mixed; boundary=x\n\n";
    let part = "--x\nContent-Type: text/plain; name=a.txt\nContent-Transfer-Encoding: base64\n\n";
    dir.write("a.eml", format!("{head}--x\n\n{}\n{part}dGhlIGZpcnN0\nIHdvcmRz", words(1, 60)));
    let run = dir.run(&["add", "idx", "a.eml", "--format", "json"]);
    let report = run.json();
    assert_eq!((run.status, &report["added"], &report["unread"]), (2, &json!(1), &json!(1)));
    let expected = json!([{"path": "a.eml/a.txt", "reason": "its base64 is cut short or invalid"}]);
    assert_eq!(report["unread_files"], expected, "{}", run.err);
    assert!(run.err.contains("a.eml/a.txt: its base64 is cut short"), "{}", run.err);
}

/// "text " fifty times, by `xz`.
const XZ: &[u8] = &[
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
    0x1c, 0x00, 0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc, 0xe0, 0x00, 0xf9, 0x00, 0x0b, 0x5d, 0x00, 0x3a,
    0x19, 0x4b, 0x78, 0x10, 0x3c, 0x08, 0x0d, 0x10, 0x40, 0x00, 0x00, 0x00, 0xa7, 0x11, 0x3a, 0xce,
    0x04, 0x0a, 0x35, 0xe5, 0x00, 0x01, 0x27, 0xfa, 0x01, 0x00, 0x00, 0x00, 0xca, 0xce, 0xc4, 0x63,
    0xb1, 0xc4, 0x67, 0xfb, 0x02, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
];

#[test]
fn files_are_unpacked_whatever_they_are_called() {
    let dir = Dir::new();
    let text = words(1, 60);
    let gz = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    dir.write("in/a.txt", gz(text.as_bytes()));
    dir.write("in/b.txt.xz", XZ);
    dir.write("in/c", gz(&tar("x/y.txt", text.as_bytes())));
    dir.write(
        "in/d.zip",
        zip(&[("e.txt", text.as_bytes()), ("f.tar.gz", &gz(&tar("g.txt", text.as_bytes())))]),
    );
    dir.write("in/h", zip(&[("i.txt", text.as_bytes())]));
    dir.write("in/j.tar", tar("k.zip", &zip(&[("l.txt", text.as_bytes())])));
    let added = dir.json(&["add", "idx", "in"]);
    assert_eq!((&added["added"], &added["skipped"]), (&json!(7), &json!(0)), "{added}");
    let expected = [
        "in/a.txt",
        "in/c/x/y.txt",
        "in/d.zip/e.txt",
        "in/d.zip/f.tar.gz/g.txt",
        "in/h/i.txt",
        "in/j.tar/k.zip/l.txt",
    ];
    assert_eq!(found(&dir, &text), expected);
    assert_eq!(found(&dir, &"text ".repeat(50)), ["in/b.txt.xz"]);
    // compare takes one text.
    let run = dir.run(&["compare", "in/d.zip", "in/a.txt"]);
    assert_eq!((run.status, run.out.as_str()), (2, ""));
    assert!(run.err.contains("in/d.zip: it is an archive"), "{}", run.err);
}

#[test]
fn archives_within_archives_end_at_the_second() {
    let dir = Dir::new();
    let text = words(1, 60);
    let third = zip(&[("c.txt", text.as_bytes())]);
    let second = zip(&[("b.txt", text.as_bytes()), ("third.zip", &third)]);
    dir.write("first.zip", zip(&[("a.txt", text.as_bytes()), ("second.zip", &second)]));
    let added = dir.json(&["add", "idx", "first.zip"]);
    assert_eq!((&added["added"], &added["skipped"]), (&json!(2), &json!(1)));
    let left_out = &added["left_out"][0];
    assert_eq!(left_out["path"], "first.zip/second.zip/third.zip");
    assert_eq!(left_out["reason"], "it is an archive within an archive within an archive");
    assert_eq!(dir.run(&["add", "idx", "first.zip", "--strict"]).status, 3);
    dir.write("none.zip", zip(&[]));
    let run = dir.run(&["add", "idx", "none.zip", "first.zip"]);
    assert!(run.err.contains("none.zip: left out: it is an empty zip archive"), "{}", run.err);
}

#[test]
fn characters_that_a_reader_does_not_see_are_left_out_and_counted() {
    let dir = Dir::new();
    let text = words(1, 60).replace('w', "wore");
    dir.write("base.txt", &text);
    // Words in white between the words, and characters without width in them.
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
    assert_eq!(found["hits"][0]["containment_of_query"], 1.0);
    assert!(found["query"]["unseen"]["hidden_characters"].as_u64() > Some(10), "{found}");
    assert!(dir.json(&["search", "idx", "base.txt"])["query"].get("unseen").is_none());
    // Also where letters of another script hide the copy, so that no pair shows the text.
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
