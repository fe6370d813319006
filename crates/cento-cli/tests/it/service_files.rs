//! The service reads Office documents and PDF by processes of the program.

use crate::common::run::{Dir, indexed};
use crate::common::service::Service;
use crate::common::{words, zip};
use cento::search::SearchOptions;
use cento_client::api::{Commit, FileBody, SearchRequest};

fn file<'a>(name: &'a str, bytes: &'a [u8]) -> FileBody<'a> {
    FileBody { part: "file", name, bytes }
}

#[test]
fn documents_are_extracted_by_the_service() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    let service = Service::start(&dir, &[]);
    let client = service.client();
    let document = crate::documents::docx(&words(1, 60));
    let pages = crate::documents::pdf(&[&words(2, 30), &words(1, 60)]);
    let archive = zip(&[("a.docx", &document), ("b.pdf", b"%PDF-1.4\n1 0 obj\n")]);
    let files = [file("in.zip", &archive), file("c.pdf", &pages)];
    let texts = client.texts(&files).unwrap();
    assert_eq!(texts.documents[0].text.trim(), words(1, 60));
    assert!(texts.documents[1].text.contains('\u{c}'));
    let unread = &texts.not_read.unread_files[0];
    assert_eq!(unread.path, "in.zip/b.pdf");
    assert!(unread.reason.contains("damaged or no PDF"), "{unread:?}");
    assert_eq!(client.add_files(&files[1..], Commit::Wait).unwrap().report.added, 1);
    let request = SearchRequest {
        options: SearchOptions::default().passages(true),
        ..SearchRequest::default()
    };
    let found = client.search_files(&files[..1], &request).unwrap();
    let hit = &found.answers[0].answer.hits[0];
    assert_eq!(hit.passages.as_ref().unwrap()[0].b_page, Some(2), "{hit:?}");
    assert!(service.stop());
}

/// The process ids of running children of this process.
#[cfg(target_os = "linux")]
fn children(process: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{process}/task")).unwrap() {
        // A thread may have ended.
        let children = std::fs::read_to_string(task.unwrap().path().join("children"));
        let children = children.unwrap_or_default();
        found.extend(children.split_whitespace().map(|number| number.parse::<u32>().unwrap()));
    }
    found
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_hangs_up_ends_the_process_that_reads_its_file() {
    use std::io::Write;
    use std::net::TcpStream;
    use std::process::Command;

    let dir = indexed();
    let service = Service::start(&dir, &["--threads", "3"]);
    let document = super::documents::docx(&words(1, 40));
    let body = [
        b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.docx\"\r\n\r\n"
            .as_slice(),
        &document,
        b"\r\n--x--\r\n",
    ]
    .concat();
    let asked = || {
        let mut stream = TcpStream::connect(service.address()).unwrap();
        let head = format!(
            "POST /v1/texts HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: \
             multipart/form-data; boundary=x\r\nContent-Length: {}\r\n\r\n",
            service.address(),
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body).unwrap();
        stream
    };
    let answered = || {
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut asked(), &mut answer).unwrap();
        assert!(answer.contains(&words(1, 40)), "{answer}");
    };
    let stop = |process: u32| {
        let number = process.to_string();
        assert!(Command::new("kill").args(["-STOP", &number]).status().unwrap().success());
    };
    let busy = |wanted: f64| while service.metric("cento_computations") != wanted {};
    let number = service.process();
    // After an answer, the process waits for the next file. Stopping the process while it waits
    // guarantees that the next request gets no answer.
    answered();
    let [first] = children(number)[..] else { panic!("{:?}", children(number)) };
    stop(first);
    // One request goes to the stopped process, and the second request to a new process, which
    // answers.
    let waiting = [asked(), asked()];
    let second = loop {
        let new = children(number).into_iter().find(|&child| child != first);
        if let Some(second) = new {
            break second;
        }
    };
    busy(1.0);
    stop(second);
    let unwanted = asked();
    busy(2.0);
    drop(unwanted);
    while children(number).contains(&second) {}
    // The time limit has not passed: the first process began earlier and still runs.
    assert!(children(number).contains(&first));
    drop(waiting);
    while children(number).contains(&first) {}
    // The next file has a new process.
    answered();
    assert!(service.stop());
}
