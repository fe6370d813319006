//! Files as bodies of requests.

use crate::common::{Ask, Reply, Routes, Service, indexed, words, zip};
use cento::index::Index;
use cento::search::{SearchOptions, Thresholds};
use cento::{CompareOptions, Origin, Stop};
use cento_client::api::{
    Commit, CompareRequest, FileBody, FileReason, PairsRequest, SearchRequest, TextOrId,
};
use cento_collections::pairs::PairOptions;
use cento_serve::Settings;
#[cfg(target_os = "linux")]
use cento_source::Readers;
use cento_source::{AddOptions, AddReport, add};
use serde_json::json;

fn file<'a>(name: &'a str, bytes: &'a [u8]) -> FileBody<'a> {
    FileBody { part: "file", name, bytes }
}

/// A folder of submissions, packed by a learning platform.
fn submissions() -> Vec<u8> {
    let page = format!("<!doctype html><p>{} {}</p>", words(1, 80), words(7, 20));
    zip(&[
        ("ann/essay.html", page.as_bytes()),
        ("bob/essay.md", format!("# Essay\n\n*{}*\n", words(1, 80)).as_bytes()),
        ("cat/essay.txt", words(8, 60).as_bytes()),
        ("dan/picture.png", b"\x89PNG\r\n\x1a\n\0"),
    ])
}

fn picture() -> FileReason {
    let path = "in.zip/dan/picture.png".into();
    FileReason { path, reason: "it is an image".into() }
}

#[test]
fn files_become_texts() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let archive = submissions();
    let files = [file("in.zip", &archive), file("x.csv", b"id,text\nr1,row one\nr2,row two\n")];
    let texts = client.texts(&files).unwrap();
    let ids: Vec<&str> = texts.documents.iter().map(|found| found.id.as_str()).collect();
    let expected =
        ["in.zip/ann/essay.html", "in.zip/bob/essay.md", "in.zip/cat/essay.txt", "r1", "r2"];
    assert_eq!(ids, expected);
    assert_eq!(texts.documents[1].text.trim(), format!("Essay\n\n{}", words(1, 80)));
    assert_eq!((texts.not_read.left_out, texts.not_read.unread_files), (vec![picture()], vec![]));
}

#[test]
fn files_are_searched_for() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let archive = submissions();
    // The documents `a` and `b` of the index have the same words.
    let request = SearchRequest {
        thresholds: Thresholds::default().min_containment(0.5),
        ..SearchRequest::default()
    };
    let found = client.search_files(&[file("in.zip", &archive)], &request).unwrap();
    let hits: Vec<(&str, Vec<&str>)> = found
        .answers
        .iter()
        .map(|found| {
            let hits = found.answer.hits.iter().map(|hit| hit.id.as_str());
            (found.id.as_str(), hits.collect())
        })
        .collect();
    let expected = [
        ("in.zip/ann/essay.html", vec!["a", "b"]),
        ("in.zip/bob/essay.md", vec!["a", "b"]),
        ("in.zip/cat/essay.txt", vec![]),
    ];
    let mut hits = hits;
    hits.iter_mut().for_each(|hit| hit.1.sort_unstable());
    assert_eq!((hits.as_slice(), found.not_read.left_out), (&expected[..], vec![picture()]));
}

#[test]
fn files_are_added() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let archive = submissions();
    let files = [file("in.zip", &archive), file("x.csv", b"id,text\nr1,row one\nr2,row two\n")];
    let added = client.add_files(&files, Commit::Wait).unwrap();
    assert_eq!((added.report.added, added.committed), (5, true));
    assert_eq!(added.not_read.left_out, [picture()]);
    let text = client.document("in.zip/bob/essay.md").unwrap().text.unwrap();
    assert_eq!(text.trim(), format!("Essay\n\n{}", words(1, 80)));
    assert_eq!(client.add_files(&files, Commit::Wait).unwrap().report.unchanged, 5);
    // Fields of records are kept. Fields that do not fit are reported.
    let record = json!({"id": "k", "text": "x y z", "lang": "de", "html": "x".repeat(100_000)});
    let added = client.add_files(&[file("k.jsonl", record.to_string().as_bytes())], Commit::Wait);
    assert_eq!(added.unwrap().fields_not_kept, ["html"]);
    assert_eq!(json!(client.document("k").unwrap().meta), json!({"lang": "de"}));
}

#[test]
fn refused_files_are_counted_as_the_command_counts_them() {
    // Once the refused files were listed, but the counts were 0.
    let mut cut = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    cut.extend(b"no deflate");
    let archive = zip(&[
        ("a.txt", words(1, 60).as_bytes()),
        ("b.pdf", b"some text"),
        ("c.jsonl", b"{bad\n"),
        (".hidden", b"some text"),
        ("d.png", b"\x89PNG\r\n\x1a\n\0"),
    ]);
    let files: [(&str, &[u8], [u64; 4]); 6] = [
        ("r.jsonl", b"{\"id\":\"r\",\"text\":\"x y z\"}\n{bad\n", [0, 0, 1, 0]),
        ("cut.gz", &cut, [0, 0, 1, 1]),
        ("text.pdf", b"some text", [0, 0, 1, 1]),
        ("in.zip", &archive, [2, 1, 2, 1]),
        ("image.png", b"\x89PNG\r\n\x1a\n\0", [1, 0, 0, 0]),
        ("rows.csv", b"id,text\n", [1, 0, 0, 0]),
    ];
    let dir = indexed();
    let service = Service::start(&dir);
    let counts =
        |report: AddReport| [report.skipped, report.skipped_by_name, report.failed, report.unread];
    let command = indexed();
    let index = Index::open(command.path("idx")).unwrap();
    for (name, bytes, expected) in files {
        let answer = service.client().add_files(&[file(name, bytes)], Commit::Wait).unwrap();
        assert_eq!(counts(answer.report), expected, "{name}: {:?}", answer.not_read);
        command.write(name, bytes);
        let inputs = [command.path(name)];
        let stop = Stop::default();
        let added = add(&index, &inputs, &AddOptions::default(), &stop, &mut |_| {}).unwrap();
        assert_eq!(counts(added), expected, "{name}");
    }
    let metrics = service.ask("GET", "/metrics", "", "").body;
    assert!(metrics.contains("outcome=\"failed\"} 5"), "{metrics}");
}

fn side<'a>(part: &'a str, name: &'a str, bytes: &'a [u8]) -> FileBody<'a> {
    FileBody { part, name, bytes }
}

fn comparison() -> CompareRequest {
    let none = || TextOrId::Text(String::new());
    CompareRequest { a: none(), b: none(), options: CompareOptions::default() }
}

/// A page of 80 words, and the place of the words in the page.
fn page() -> (String, Option<Origin>) {
    let page = format!("<html><p>{}", words(1, 80));
    let end = page.len() as u32;
    let origin = Origin { start: end - words(1, 80).len() as u32, end, line: 1 };
    (page, Some(origin))
}

#[test]
fn files_are_compared_and_passages_have_their_places() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let (page, origin) = page();
    let other = format!("{}\n{}", words(3, 20), words(1, 80));
    let sides = [side("a", "a.html", page.as_bytes()), side("b", "b.txt", other.as_bytes())];
    let compared = client.compare_files(&sides, &comparison()).unwrap().comparison;
    assert!(compared.similarity.containment_of_a > 0.9, "{compared:?}");
    let passage = &compared.passages[0];
    assert_eq!(passage.b_line, Some(2));
    assert_eq!((passage.a_origin, passage.b_origin), (origin, None));
    let with_document = CompareRequest { b: TextOrId::Id("b".into()), ..comparison() };
    let compared = client.compare_files(&sides[..1], &with_document).unwrap();
    assert_eq!((compared.a, compared.b), (None, Some("b".into())));
}

#[test]
fn the_passages_of_a_file_have_their_places_in_it() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let (page, origin) = page();
    let request = SearchRequest {
        options: SearchOptions::default().passages(true),
        ..SearchRequest::default()
    };
    let found = client.search_files(&[file("a.html", page.as_bytes())], &request).unwrap();
    let passages = found.answers[0].answer.hits[0].passages.as_ref().unwrap();
    assert_eq!(passages[0].a_origin, origin, "{passages:?}");
}

#[test]
fn text_of_files_that_a_reader_does_not_see_is_counted() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let white = page().0.replace(' ', " <i style='font-size:0'>x</i>");
    let hidden = white.matches("<i").count() as u64;
    let file = file("w.html", white.as_bytes());
    let found = client.search_files(&[file], &SearchRequest::default()).unwrap();
    assert_eq!(found.answers[0].answer.query.unseen.hidden_characters, hidden);
    let sides = [side("a", "w.html", white.as_bytes()), side("b", "b.txt", b"some words")];
    let compared = client.compare_files(&sides, &comparison()).unwrap().comparison;
    assert_eq!(compared.unseen.map(|unseen| unseen.hidden_characters), [hidden, 0]);
    let request: PairsRequest = serde_json::from_value(json!({
        "documents": [{"id": "t", "text": "a w\u{200b}ord"}],
    }))
    .unwrap();
    let pairs = client.pairs_of_files(&[file], &request).unwrap();
    let what =
        |number: u64, s: &str| format!("contains {number} character{s} that a reader does not see");
    let told: Vec<_> = pairs.warnings.into_iter().map(|told| (told.path, told.reason)).collect();
    assert_eq!(told, [("t".into(), what(1, "")), ("w.html".into(), what(hidden, "s"))]);
}

#[test]
fn pairs_are_found_among_files() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let archive = submissions();
    let files = [file("in.zip", &archive)];
    let request: PairsRequest = serde_json::from_value(json!({"documents": []})).unwrap();
    let pairs = client.pairs_of_files(&files, &request).unwrap();
    let found: Vec<_> =
        pairs.pairs.iter().map(|found| (found.pair.a.as_str(), found.pair.b.as_str())).collect();
    assert_eq!(
        (found, pairs.not_read.left_out),
        (vec![("in.zip/ann/essay.html", "in.zip/bob/essay.md")], vec![picture()])
    );
    assert_eq!((pairs.more, pairs.total), (false, 1));
    let none = PairsRequest { options: PairOptions::default().limit(0usize), ..request.clone() };
    let pairs = client.pairs_of_files(&files, &none).unwrap();
    assert_eq!((pairs.pairs.len(), pairs.more, pairs.total), (0, true, 1));
    let handed_out = words(1, 80);
    let boilerplate = side("boilerplate", "template.txt", handed_out.as_bytes());
    let pairs = client.pairs_of_files(&[files[0], boilerplate], &request).unwrap();
    assert!(pairs.pairs.is_empty(), "{:?}", pairs.pairs);
}

/// Posts a body in parts, given by their heads and bodies.
fn post(service: &impl Ask, path: &str, parts: &[(&str, &str)]) -> Reply {
    let body: String = parts
        .iter()
        .map(|(head, body)| {
            format!("--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{body}\r\n")
        })
        .collect();
    let headers = "Content-Type: multipart/form-data; boundary=x\r\n";
    service.ask("POST", path, headers, &format!("{body}--x--\r\n"))
}

/// Sets small limits for bodies and batches.
fn small(settings: &mut Settings) {
    settings.body_bytes_max = 64 << 10;
    settings.batch_max = 3;
}

#[test]
fn files_that_make_no_sense_are_refused() {
    let dir = indexed();
    let service = Routes::with(&dir, small);
    let check = |path: &str, parts: &[(&str, &str)], status: u16, what: &str| {
        let reply = post(&service, path, parts);
        assert_eq!((reply.status, reply.body.contains(what)), (status, true), "{reply:?}");
    };
    let text = words(1, 30);
    let one = ("name=file; filename=a.txt", text.as_str());
    check("/v1/texts", &[one], 200, "\"id\":\"a.txt\"");
    // The name of the part replaces an empty file name.
    check("/v1/texts", &[("name=file; filename=\"\"", &text)], 200, "\"id\":\"file\"");
    check("/v1/texts", &[], 400, "there is no part `file`");
    check("/v1/texts", &[("name=other", "x")], 400, "the part `other` is unknown");
    check("/v1/texts", &[one; 4], 413, "at most 3 files");
    check("/v1/search", &[one, ("name=request", "{\"limit\": 0.5}")], 400, "`request`");
    check("/v1/search", &[one, ("name=request", "{\"verify\": \"x\"}")], 400, "invalid_spec");
    check("/v1/search", &[one, ("name=request", "[]")], 400, "expected a JSON object");
    check("/v1/search", &[one, ("name=request", "{\"id\": \"a\"}")], 400, "neither text");
    check("/v1/search", &[one, ("name=request", "{\"limit\": 1}")], 200, "\"answers\":[{");
    let rows = "id,text\n1,x\n2,y\n";
    let sides = [("name=a; filename=a.csv", rows), ("name=b; filename=b.txt", text.as_str())];
    check("/v1/compare", &sides, 400, "holds several texts");
    let sides = [("name=a; filename=a.txt", "\x7fELF"), ("name=b; filename=b.txt", &text)];
    check("/v1/compare", &sides, 400, "a.txt: it is a program");
    // The file has four rows, but three texts are the limit.
    let many = ("name=file; filename=a.csv", "id,text\n1,a\n2,b\n3,c\n4,d\n");
    check("/v1/search", &[many], 413, "at most 3 documents");
    check("/v1/passages", &[one], 415, "does not accept");
    check("/v1/remove", &[one], 415, "does not accept");
    assert_eq!(service.post("/v1/texts", "{}").status, 415);
    let none = service.ask("POST", "/v1/texts", "Content-Type: multipart/form-data\r\n", "x");
    assert_eq!((none.status, none.code().as_str()), (400, "bad_request"));
    let headers = "Content-Type: multipart/form-data; boundary=x\r\n";
    let cut = service.ask("POST", "/v1/texts", headers, "--x\r\nContent-Disposition: form-data");
    assert_eq!((cut.status, cut.code().as_str()), (400, "bad_request"));
}

#[test]
fn a_request_beside_files_is_refused_where_nothing_reads_it() {
    // Regression: the documents were added without the meta object, and without a message.
    let dir = indexed();
    let service = Routes::of(&dir);
    let text = words(1, 30);
    let file = ("name=file; filename=new.txt", text.as_str());
    for path in ["/v1/documents?commit=wait", "/v1/texts"] {
        for field in ["meta", "commti"] {
            let json = json!({field: {"year": 2024}}).to_string();
            let reply = post(&service, path, &[file, ("name=request", &json)]);
            assert_eq!((reply.status, reply.code().as_str()), (400, "bad_request"), "{path}");
            for said in [field, "application/x-ndjson"] {
                assert!(reply.body.contains(said), "{}", reply.body);
            }
        }
    }
    assert_eq!(service.ask("GET", "/v1/documents/new.txt", "", "").status, 404);
    let empty = ("name=request", "{}");
    assert_eq!(post(&service, "/v1/documents?commit=wait", &[file, empty]).status, 200);
}

#[test]
fn a_side_of_a_comparison_that_is_missing_or_repeated_is_called_so() {
    // Once the messages were "a text is empty" and "holds several texts".
    let dir = indexed();
    let service = Routes::of(&dir);
    let text = words(1, 30);
    let [a, b] = ["a", "b"].map(|part| (format!("name={part}; filename={part}.txt"), text.clone()));
    let request = |json: &str| ("name=request".to_owned(), json.to_owned());
    let stored = request("{\"b\": {\"id\": \"b\"}}");
    let check = |parts: &[&(String, String)], status: u16, said: &str| {
        let parts: Vec<(&str, &str)> =
            parts.iter().map(|(name, text)| (&**name, &**text)).collect();
        let reply = post(&service, "/v1/compare", &parts);
        assert_eq!((reply.status, reply.body.contains(said)), (status, true), "{reply:?}");
    };
    check(&[&a], 400, "there is no part `b`");
    check(&[&b], 400, "there is no part `a`");
    check(&[&a, &request("{}")], 400, "there is no part `b`");
    check(&[&a, &b, &b], 400, "the part `b` was sent more than once");
    check(&[&a, &a, &b], 400, "the part `a` was sent more than once");
    check(&[&a, &b, &stored], 400, "`b` is sent as a file, and is in the part `request` too");
    check(&[&a, &stored, &stored], 400, "the part `request` was sent more than once");
    check(&[&a, &b, &request("{\"foo\": 1}")], 400, "`request`: `foo`: unknown field");
    let empty = ("name=b; filename=b.csv".to_owned(), "id,text\n".to_owned());
    check(&[&a, &empty], 400, "b");
    check(&[&a, &stored], 200, "\"resemblance\"");
    check(&[&a, &b], 200, "\"resemblance\"");
}

#[test]
fn a_text_that_is_too_long_once_unpacked_is_refused() {
    let dir = indexed();
    let service = Service::with(&dir, small);
    // A kilobyte of an archive unpacks to a megabyte of text. That is beyond the limits for a file
    // and for all files together.
    let long = "words and ".repeat(100_000);
    let texts = service.client().texts(&[file("a.zip", &zip(&[("a.txt", long.as_bytes())]))]);
    let unread = &texts.unwrap().not_read.unread_files[0];
    assert!(unread.reason.contains("longer than 65536 bytes"), "{unread:?}");
    let half = &long.as_bytes()[..40_000];
    let two = zip(&[("a.txt", half), ("b.txt", half)]);
    let refused = service.client().texts(&[file("a.zip", &two)]).unwrap_err().to_string();
    assert!(refused.contains("the texts of the files exceed 65536 bytes"), "{refused}");
}

#[test]
fn a_name_that_cannot_be_an_id_is_reported_and_nothing_is_added() {
    let dir = indexed();
    let service = Routes::with(&dir, small);
    let text = words(1, 30);
    let long = format!("name=file; filename={}.txt", "n".repeat(5000));
    let reply = post(&service, "/v1/documents?commit=wait", &[(&long, &text)]);
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(reply.body.contains("\"added\":0") && reply.body.contains("unread_files"), "{reply:?}");
}

#[test]
fn a_file_of_a_name_that_is_taken_replaces_nothing_and_the_others_are_added() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let (first, second, other) = (words(21, 60), words(22, 60), words(23, 60));
    let report = client.add_files(&[file("essay.txt", first.as_bytes())], Commit::Wait).unwrap();
    assert_eq!(report.report.added, 1);
    let files = [file("essay.txt", second.as_bytes()), file("other.txt", other.as_bytes())];
    let report = client.add_files(&files, Commit::Wait).unwrap();
    assert_eq!((report.report.added, report.report.replaced, report.report.failed), (1, 0, 1));
    assert!(report.errors[0].message.contains("essay.txt"), "{:?}", report.errors);
    assert_eq!(report.report.bytes, other.len() as u64);
    assert_eq!(client.document("essay.txt").unwrap().text.unwrap(), first);
    // A file refused for lack of words does not count as an empty document.
    let empty = file("essay.txt", b"...");
    let report = client.add_files(&[empty], Commit::Wait).unwrap().report;
    assert_eq!((report.failed, report.empty, report.bytes), (1, 0, 0));
}

#[cfg(target_os = "linux")]
#[test]
fn searches_do_not_wait_for_files_that_are_read() {
    // Once 100 Office documents of a client blocked all other searches for 30 s.
    let dir = indexed();
    let gate = dir.path("gate");
    let made = std::process::Command::new("mkfifo").arg(&gate).status().unwrap();
    assert!(made.success());
    let reader = format!("slow=cat '{}'", gate.display());
    let service = Service::with(&dir, |settings| {
        settings.source.readers = Readers::parse([reader.as_str()]).unwrap();
    });
    let at_a_time = std::thread::available_parallelism().unwrap().get();
    std::thread::scope(|scope| {
        for _ in 0..=at_a_time {
            scope.spawn(|| service.client().texts(&[file("a.slow", b"x")]).unwrap());
        }
        // Send one file more than are read at a time, so the last file waits.
        while service.metric("cento_computations") <= at_a_time as f64 {
            std::thread::yield_now();
        }
        let request = SearchRequest {
            text: Some(words(1, 80)),
            options: SearchOptions::default().passages(true),
            ..SearchRequest::default()
        };
        assert!(!service.client().search(&request).unwrap().hits.is_empty());
        // Open the gate repeatedly, because every waiting task must see an open and a close.
        scope.spawn(|| {
            while service.metric("cento_computations") > 0.0 {
                // Open for reading as well, so that opening never waits for a reader.
                drop(std::fs::OpenOptions::new().read(true).write(true).open(&gate));
            }
        });
    });
}
