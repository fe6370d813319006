//! Requests with compressed bodies.

use std::io::Write;

use crate::common::{Ask, JSON, LINES, Routes, indexed, words};
use flate2::write::GzEncoder;
use serde_json::{Value, json};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 19).unwrap()
}

#[test]
fn bodies_come_compressed() {
    let dir = indexed();
    let service = Routes::of(&dir);
    let search = json!({"text": words(1, 200)}).to_string();
    let lines: String = (0..50)
        .map(|i| format!("{}\n", json!({"id": format!("n{i}"), "text": words(i, 40)})))
        .collect();
    for (name, pack) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("zstd", zstd)] {
        let encoding = format!("Content-Encoding: {name}\r\n");
        let headers = format!("{JSON}{encoding}");
        let reply = service.send("POST", "/v1/search", &headers, &pack(search.as_bytes()));
        assert_eq!(reply.status, 200, "{reply:?}");
        let answer: Value = serde_json::from_str(&reply.body).unwrap();
        assert_eq!(answer["hits"][0]["id"], "a");
        let headers = format!("{LINES}{encoding}");
        let reply =
            service.send("POST", "/v1/documents?commit=wait", &headers, &pack(lines.as_bytes()));
        assert_eq!(reply.status, 200, "{reply:?}");
        let multipart = format!("{encoding}Content-Type: multipart/form-data; boundary=xx\r\n");
        let files = "--xx\r\nContent-Disposition: form-data; name=\"file\"; \
                     filename=\"a.txt\"\r\n\r\n\
                     some words of a file\r\n--xx--\r\n";
        let reply = service.send("POST", "/v1/texts", &multipart, &pack(files.as_bytes()));
        assert!(reply.status == 200 && reply.body.contains("some words of a file"), "{reply:?}");
    }
    assert_eq!(service.ask("GET", "/v1/stats", "", "").json()["documents"], 53);
}

#[test]
fn a_body_of_an_unknown_encoding_is_refused_with_those_that_are_known() {
    let dir = indexed();
    let service = Routes::of(&dir);
    for other in ["br", "gzip, gzip", "zstd, gzip"] {
        let headers = format!("{JSON}Content-Encoding: {other}\r\n");
        let reply = service.send("POST", "/v1/search", &headers, b"{}");
        assert_eq!((reply.status, reply.code().as_str()), (415, "unsupported_media_type"));
        assert!(reply.head.contains("accept-encoding: gzip, zstd"), "{reply:?}");
    }
}

#[test]
fn a_body_that_cannot_be_unpacked_is_refused() {
    let dir = indexed();
    let service = Routes::of(&dir);
    let search = json!({"text": words(1, 200)}).to_string();
    for (name, pack) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("zstd", zstd)] {
        let encoding = format!("Content-Encoding: {name}\r\n");
        // The body is not in the declared encoding, or is cut off.
        let headers = format!("{JSON}{encoding}");
        for damaged in [search.as_bytes(), &pack(search.as_bytes())[..40]] {
            let reply = service.send("POST", "/v1/search", &headers, damaged);
            assert_eq!((reply.status, reply.code().as_str()), (400, "bad_request"));
            assert!(reply.body.contains(&format!("no valid {name}")), "{reply:?}");
        }
    }
}

#[test]
fn a_body_that_is_too_large_when_it_is_unpacked_is_refused() {
    let dir = indexed();
    let service = Routes::with(&dir, |settings| settings.body_bytes_max = 1 << 20);
    let fits = json!({"text": format!("a{}", " ".repeat((1 << 20) - 12))}).to_string();
    assert_eq!(fits.len(), 1 << 20);
    // 1 GiB of spaces. The service unpacks only the permitted part.
    let mut bomb = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let spaces = vec![b' '; 1 << 20];
    (0..1024).for_each(|_| bomb.write_all(&spaces).unwrap());
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let check = |encoding: &str, body: &[u8], status: u16, said: &str| {
        let headers = format!("{JSON}Content-Encoding: {encoding}\r\n");
        let reply = service.send("POST", "/v1/search", &headers, body);
        assert!(reply.status == status && reply.body.contains(said), "{encoding}: {reply:?}");
    };
    let larger = format!("{fits} ");
    for (name, pack) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("zstd", zstd)] {
        check(name, &pack(fits.as_bytes()), 200, "\"hits\":[]");
        check(name, &pack(larger.as_bytes()), 413, "exceeds 1048576 bytes when it is unpacked");
    }
    check("zstd", &bomb, 413, "exceeds 1048576 bytes when it is unpacked");
    // A long series of empty members.
    check("gzip", &gzip(b"").repeat(60_000), 413, "exceeds 1048576 bytes");
}

#[test]
fn a_body_that_may_be_sent_finds_room_though_the_memory_is_small() {
    // There was room for as many bytes as a body may have, and a decoder or a copy of the parts
    // takes more. So a body was turned away as if others were in flight, however often it came.
    let dir = indexed();
    let service = Routes::with(&dir, |settings| {
        (settings.body_bytes_max, settings.memory_bytes) = (1 << 20, 8 << 20);
    });
    let fits = json!({"text": format!("a{}", " ".repeat((1 << 20) - 12))}).to_string();
    let larger = format!("{fits}{}", " ".repeat(1 << 20));
    for (name, pack) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("zstd", zstd)] {
        let headers = format!("{JSON}Content-Encoding: {name}\r\n");
        let send =
            |body: &str| service.send("POST", "/v1/search", &headers, &pack(body.as_bytes()));
        assert_eq!(send(&fits).status, 200, "{name}");
        let reply = send(&larger);
        assert_eq!((reply.status, reply.code().as_str()), (413, "too_large"), "{name}");
        assert!(reply.body.contains("exceeds 1048576 bytes when it is unpacked"), "{reply:?}");
    }
    let multipart = "Content-Type: multipart/form-data; boundary=xx\r\n";
    let files = format!(
        "--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n{}\
         \r\n--xx--\r\n",
        "words of a file \n".repeat(50_000)
    );
    let reply = service.send("POST", "/v1/texts", multipart, files.as_bytes());
    assert_eq!(reply.status, 200, "{}", reply.head);
}
