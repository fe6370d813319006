//! Documents in the formats that people hand in: each format yields the same passage.
//!
//! The tests are here and not with the readers, because processes of the command read the
//! documents.

use std::io::Write;

use crate::common::run::{Dir, Run};
use crate::common::{words, zip};
use serde_json::json;

const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const ODF: &str = "urn:oasis:names:tc:opendocument:xmlns";

fn relations(all: &[(&str, &str)]) -> String {
    let one = |(kind, target): &(&str, &str)| {
        format!(
            "<Relationship Id=\"r{}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>",
            target.len()
        )
    };
    let all: String = all.iter().map(one).collect();
    format!("<Relationships xmlns=\"{PACKAGE}/relationships\">{all}</Relationships>")
}

fn types(part: &str, kind: &str) -> String {
    let main = format!("application/vnd.openxmlformats-officedocument.{kind}.main+xml");
    format!(
        "<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"xml\" \
         ContentType=\"application/xml\"/><Override PartName=\"/{part}\" ContentType=\"{main}\"/></Types>"
    )
}

pub fn docx(text: &str) -> Vec<u8> {
    let document = format!(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>\
         <w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"
    );
    zip(&[
        ("[Content_Types].xml", types("word/document.xml", "wordprocessingml.document").as_bytes()),
        ("_rels/.rels", relations(&[("officeDocument", "word/document.xml")]).as_bytes()),
        ("word/document.xml", document.as_bytes()),
    ])
}

/// A presentation with one slide per text.
fn pptx(texts: &[&str]) -> Vec<u8> {
    let p = "http://schemas.openxmlformats.org/presentationml/2006/main";
    let a = "http://schemas.openxmlformats.org/drawingml/2006/main";
    let names: Vec<String> =
        (0..texts.len()).map(|i| format!("slides/{}.xml", "s".repeat(i + 1))).collect();
    let slides: Vec<(&str, &str)> = names.iter().map(|name| ("slide", name.as_str())).collect();
    let ids = names.iter().map(|name| format!("<p:sldId id=\"256\" r:id=\"r{}\"/>", name.len()));
    let presentation = format!(
        "<p:presentation xmlns:p=\"{p}\" xmlns:r=\"{OFFICE}\"><p:sldIdLst>{}</p:sldIdLst></p:presentation>",
        ids.collect::<String>()
    );
    let mut files = vec![
        (
            "[Content_Types].xml".to_owned(),
            types("ppt/presentation.xml", "presentationml.presentation"),
        ),
        ("_rels/.rels".to_owned(), relations(&[("officeDocument", "ppt/presentation.xml")])),
        ("ppt/presentation.xml".to_owned(), presentation),
        ("ppt/_rels/presentation.xml.rels".to_owned(), relations(&slides)),
    ];
    for (name, text) in names.iter().zip(texts) {
        let slide = format!(
            "<p:sld xmlns:p=\"{p}\" xmlns:a=\"{a}\"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>\
             {text}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
        );
        files.push((format!("ppt/{name}"), slide));
        let relations_of = name.replace("slides/", "ppt/slides/_rels/") + ".rels";
        files.push((relations_of, relations(&[])));
    }
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    zip(&files)
}

fn opendocument(kind: &str, body: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content xmlns:office=\"{ODF}:office:1.0\" xmlns:text=\"{ODF}:text:1.0\" \
         xmlns:draw=\"{ODF}:drawing:1.0\"><office:body><office:{kind}>{body}</office:{kind}></office:body>\
         </office:document-content>"
    );
    let mimetype = format!("application/vnd.oasis.opendocument.{kind}");
    zip(&[("mimetype", mimetype.as_bytes()), ("content.xml", content.as_bytes())])
}

fn odt(text: &str) -> Vec<u8> {
    opendocument("text", &format!("<text:p>{text}</text:p>"))
}

fn odp(texts: &[&str]) -> Vec<u8> {
    let page = |text: &&str| match text.is_empty() {
        true => "<draw:page draw:name=\"empty\"/>".to_owned(),
        false => format!(
            "<draw:page draw:name=\"x\"><draw:frame><draw:text-box><text:p>{text}</text:p>\
             </draw:text-box></draw:frame></draw:page>"
        ),
    };
    opendocument("presentation", &texts.iter().map(page).collect::<String>())
}

fn epub(text: &str) -> Vec<u8> {
    let container = "<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfiles>\
                     <rootfile full-path=\"b.opf\" media-type=\"application/oebps-package+xml\"/>\
                     </rootfiles></container>";
    let package = "<package xmlns=\"http://www.idpf.org/2007/opf\" version=\"3.0\"><manifest><item id=\"c\" \
                   href=\"c.xhtml\" media-type=\"application/xhtml+xml\"/></manifest><spine><itemref \
                   idref=\"c\"/></spine></package>";
    let chapter = format!(
        "<html xmlns=\"http://www.w3.org/1999/xhtml\"><body><h1>One</h1><p>{text}</p></body></html>"
    );
    zip(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container.as_bytes()),
        ("b.opf", package.as_bytes()),
        ("c.xhtml", chapter.as_bytes()),
    ])
}

/// A PDF with these pages. No stream is compressed, but `filter` may claim compression.
pub fn pdf_with(pages: &[Vec<u8>], filter: &str) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    let kids: String = (0..pages.len()).map(|i| format!("{} 0 R ", 4 + 2 * i)).collect();
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Kids[{kids}]/Count {}>>", pages.len()).into_bytes(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
    ];
    for (i, page) in pages.iter().enumerate() {
        let contents = 5 + 2 * i;
        let dictionary = format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>/Contents \
             {contents} 0 R>>"
        );
        objects.push(dictionary.into_bytes());
        let head = format!("<</Length {}{filter}>>\nstream\n", page.len());
        objects.push([head.as_bytes(), page, b"\nendstream"].concat());
    }
    for (i, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        out.extend_from_slice(format!("{} 0 obj\n", i + 1).as_bytes());
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let start = out.len();
    out.extend_from_slice(
        format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes(),
    );
    for offset in offsets {
        out.extend_from_slice(format!("{offset:010} 00000 n \n").as_bytes());
    }
    let size = objects.len() + 1;
    out.extend_from_slice(
        format!("trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n").as_bytes(),
    );
    out
}

pub fn pdf(pages: &[&str]) -> Vec<u8> {
    let page = |text: &&str| {
        let words: Vec<&str> = text.split(' ').collect();
        let lines = words.chunks(10).map(|line| format!("({}) Tj T*\n", line.join(" ")));
        format!("BT /F 12 Tf 14 TL 50 740 Td\n{}ET", lines.collect::<String>()).into_bytes()
    };
    pdf_with(&pages.iter().map(page).collect::<Vec<_>>(), "")
}

/// A mail with nothing but a file.
fn mail_with(name: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!(
        "MIME-Version: 1.0\nContent-Type: application/octet-stream; name={name}\n\
         Content-Disposition: attachment\nContent-Transfer-Encoding: quoted-printable\n\n"
    );
    let bytes = bytes.iter().map(|byte| format!("={byte:02X}"));
    [head].into_iter().chain(bytes).collect::<String>().into_bytes()
}

/// The passage planted in every document, and the surrounding text of a document.
fn planted(seed: u64) -> (String, String) {
    let passage = words(1, 60);
    let text = format!("{} {passage} {}", words(seed, 60), words(seed + 100, 60));
    (passage, text)
}

/// A folder with a document of each format.
fn folder() -> (Dir, Vec<String>) {
    let dir = Dir::new();
    let (_, text) = planted(2);
    let html =
        |text: &str| format!("<!doctype html><html><body><ul><li>Menu</ul><p>{text}</p></html>");
    let (first, rest) = text.split_at(text.len() / 3);
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("a.docx", docx(&text)),
        ("b.odt", odt(&text)),
        ("c.rtf", format!("{{\\rtf1\\ansi {text}\\par}}").into_bytes()),
        ("d.pdf", pdf(&[first, rest])),
        ("e.epub", epub(&text)),
        ("f.pptx", pptx(&[&words(9, 20), &text])),
        ("g.odp", odp(&[&words(9, 20), &text])),
        ("h.html", html(&text).into_bytes()),
        // Their names do not fit their contents.
        ("i.doc", format!("{{\\rtf1\\ansi {text}\\par}}").into_bytes()),
        ("j.txt", docx(&text)),
        ("k", pdf(&[&text])),
        ("l.doc", text.clone().into_bytes()),
        ("m.zip", zip(&[("n/o.docx", &docx(&text)), ("p.zip", &zip(&[("q.odt", &odt(&text))]))])),
        ("n.eml", mail_with("o.docx", &docx(&text))),
        ("r.docx.zst", zstd::encode_all(&docx(&text)[..], 1).unwrap()),
    ];
    let mut ids = Vec::new();
    // Old formats need a feature of their own.
    let is_read =
        |(_, bytes): &(&str, Vec<u8>)| cfg!(feature = "office") || !bytes.starts_with(b"{\\rtf");
    for (name, bytes) in files.into_iter().filter(is_read) {
        dir.write(&format!("in/{name}"), bytes);
        match name {
            "m.zip" => ids.extend(["in/m.zip/n/o.docx".into(), "in/m.zip/p.zip/q.odt".into()]),
            "n.eml" => ids.push("in/n.eml/o.docx".into()),
            name => ids.push(format!("in/{name}")),
        }
    }
    (dir, ids)
}

#[test]
fn a_passage_is_found_in_every_form() {
    let (dir, ids) = folder();
    let run = dir.run(&["add", "idx", "in", "--format", "json", "--strict"]);
    assert_eq!((run.status, &run.json()["added"]), (0, &json!(ids.len())), "{}", run.err);
    assert_eq!((&run.json()["left_out"], &run.json()["unread_files"]), (&json!([]), &json!([])));
    let (passage, text) = planted(2);
    let found = dir.json(&["search", "idx", "--text", &passage, "-n", "50"]);
    let hits = found["hits"].as_array().unwrap();
    let mut found: Vec<&str> = hits.iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    found.sort_unstable();
    let mut expected: Vec<&str> = ids.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    for hit in hits {
        // A page may end within the passage.
        assert!(hit["containment_of_a"].as_f64().unwrap() > 0.8, "{hit}");
    }
    // Further verbs read the same text.
    dir.write("text.txt", &text);
    for id in ["in/a.docx", "in/d.pdf", "in/h.html", "in/r.docx.zst"] {
        let compared = dir.json(&["compare", id, "text.txt"]);
        assert!(compared["resemblance"].as_f64().unwrap() > 0.8, "{id}: {compared}");
        assert!(
            dir.json(&["search", "idx", id, "-n", "1"])["hits"][0]["containment_of_a"].as_f64()
                > Some(0.8)
        );
    }
    let run = dir.run(&["pairs", "in", "--format", "json", "-n", "200"]);
    assert_eq!(
        (run.status, run.out.lines().count()),
        (0, ids.len() * (ids.len() - 1) / 2),
        "{}",
        run.err
    );
    let run = dir.run(&["pairs", "in", "--by", "directory", "--format", "json", "-n", "200"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let run = dir.run(&["dedup", "in", "--out", "new.jsonl", "--format", "json"]);
    assert_eq!((run.status, &run.json()["failed"]), (0, &json!(0)), "{}", run.err);
    let kept = run.json()["kept"].as_u64().unwrap();
    assert!(kept < 4, "{kept}");
    let stdin = dir.run_with(&["search", "idx", "-", "-n", "1", "--format", "json"], &docx(&text));
    assert_eq!(stdin.json()["hits"][0]["containment_of_a"], 1.0, "{}", stdin.err);
}

#[test]
fn pages_and_slides_are_joined_by_form_feeds() {
    let dir = Dir::new();
    dir.write("in/a.pdf", pdf(&["first page of it", "", "third page of it"]));
    dir.write("in/b.pptx", pptx(&["first slide", "second slide", "third slide"]));
    dir.write("in/c.odp", odp(&["first slide", "", "third one"]));
    let run = dir.run(&["dedup", "in", "--exact"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let texts: Vec<String> = run
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].to_string())
        .map(|text| text.replace("\\n", ""))
        .collect();
    assert_eq!(
        texts,
        [
            "\"first page of it\\f\\fthird page of it\"",
            "\"first slide\\fsecond slide\\fthird slide\"",
            "\"first slide\\f\\fthird one\""
        ]
    );
}

#[track_caller]
fn fails(dir: &Dir, name: &str, bytes: &[u8], why: &str) -> Run {
    dir.write(name, bytes);
    let run = dir.run(&["add", "idx", name, "a.txt", "--format", "json"]);
    let report = run.json();
    assert_eq!((run.status, &report["unread"]), (3, &json!(1)), "{name}: {}", run.err);
    assert_eq!(report["unread_files"][0]["path"], name);
    let reason = report["unread_files"][0]["reason"].as_str().unwrap();
    assert!(reason.contains(why) && run.err.contains(why), "{name}: {reason}");
    // And nothing is compared with a binary file.
    let compared = dir.run(&["compare", name, "a.txt"]);
    assert_eq!((compared.status, compared.out.as_str()), (2, ""), "{name}");
    assert!(compared.err.contains(why), "{name}: {}", compared.err);
    run
}

#[test]
fn a_document_that_cannot_be_extracted_is_named_with_the_reason() {
    let dir = Dir::new();
    let (_, text) = planted(2);
    dir.write("a.txt", &text);
    let whole = docx(&text);
    fails(&dir, "cut.docx", &whole[..whole.len() / 2], "it is damaged or no document");
    fails(&dir, "cut.pdf", b"%PDF-1.4\n1 0 obj\n", "it is damaged or no PDF");
    #[cfg(feature = "office")]
    fails(&dir, "cut.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "it is damaged or no document");
    let mut damaged = whole.clone();
    let at = whole.windows(5).rposition(|bytes| bytes == b"PK\x03\x04\x14").unwrap();
    damaged[at + 60..at + 80].fill(0);
    fails(&dir, "damaged.docx", &damaged, "");
    // A document without text is added, but matches nothing.
    dir.write("empty.docx", docx(""));
    let run = dir.run(&["add", "idx", "empty.docx"]);
    assert_eq!(run.status, 0);
    assert!(run.err.contains("empty.docx: it has no words"), "{}", run.err);
    assert_eq!(dir.run(&["compare", "empty.docx", "a.txt"]).status, 2);
    let run = dir.run(&["add", "idx", "cut.pdf", "a.txt", "--strict"]);
    assert_eq!(run.status, 2);
    // A spreadsheet is skipped, which is not a failure.
    let sheet = zip(&[("[Content_Types].xml", b"<x/>"), ("xl/workbook.xml", b"<x/>")]);
    dir.write("sheet.xlsx", &sheet);
    let run = dir.run(&["add", "idx", "sheet.xlsx", "a.txt", "--format", "json"]);
    assert_eq!((run.status, &run.json()["skipped"]), (0, &json!(1)));
    assert!(run.err.contains("sheet.xlsx: skipped: it is an Excel document"), "{}", run.err);
    assert_eq!(dir.run(&["add", "idx", "sheet.xlsx", "a.txt", "--strict"]).status, 3);
    assert_eq!(dir.run(&["dedup", "sheet.xlsx", "a.txt", "--strict", "--out", "o"]).status, 3);
}

/// A deflated stream of `mebibytes` MiB of spaces, in a few kilobytes: the same block repeated.
#[cfg(target_os = "linux")]
fn bomb(mebibytes: usize) -> Vec<u8> {
    let mut packed = flate2::Compress::new(flate2::Compression::best(), true);
    let spaces = vec![b' '; 1 << 20];
    let mut block = || {
        let mut out = Vec::with_capacity(1 << 16);
        packed.compress_vec(&spaces, &mut out, flate2::FlushCompress::Sync).unwrap();
        out
    };
    // The second block refers back to earlier bytes, and so does each repetition.
    let (first, second) = (block(), block());
    [first, second.repeat(mebibytes - 1)].concat()
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_exceeds_the_memory_of_the_worker_takes_no_other_with_it() {
    let dir = Dir::new();
    let (passage, text) = planted(2);
    dir.write("a.txt", &text);
    dir.write("in/a.docx", docx(&text));
    let mut twice = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    twice.write_all(&bomb(1100)).unwrap();
    let bomb = pdf_with(&[twice.finish().unwrap()], "/Filter[/FlateDecode/FlateDecode]");
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    dir.write("in/b.pdf", &bomb);
    dir.write("in/c.odt", odt(&text));
    let run = dir.run(&["add", "idx", "in", "--format", "json", "--threads", "1"]);
    assert_eq!((run.status, &run.json()["added"]), (3, &json!(2)), "{}", run.err);
    let unread = &run.json()["unread_files"][0];
    assert_eq!(unread["path"], "in/b.pdf");
    assert!(unread["reason"].as_str().unwrap().contains("memory"), "{unread}");
    let found = dir.json(&["search", "idx", "--text", &passage]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 2);
}

#[test]
fn the_worker_is_no_verb_for_people() {
    let dir = Dir::new();
    assert!(!dir.run(&["--help"]).out.contains("extract-worker"));
}
