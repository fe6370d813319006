use super::*;

fn record(kind: &str, address: &str, content_type: &str, body: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: <{address}>\r\nContent-Type: \
         {content_type}\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
        body.len()
    )
}

fn answer(address: &str, head: &str, body: &str) -> String {
    let body = format!("HTTP/1.1 {head}\r\n\r\n{body}");
    record("response", address, "application/http; msgtype=response", &body)
}

/// Returns the addresses in an archive, each with name and content, and the error at the end,
/// if any.
fn all(archive: &str) -> (Vec<String>, Option<String>) {
    all_of(archive.as_bytes(), Kind::Warc)
}

fn all_of(archive: impl Read, kind: Kind) -> (Vec<String>, Option<String>) {
    let mut found = Vec::new();
    let end = pages(archive, kind, &mut |address, entry| {
        let what = match entry {
            Entry::Page(stream, name) => {
                let mut text = String::new();
                match stream.read_to_string(&mut text) {
                    Ok(_) => format!("{name}: {text}"),
                    Err(error) => format!("error: {error}"),
                }
            }
            Entry::LeftOut(why) => why.to_owned(),
            Entry::Bad(why) => why,
            Entry::Lost(what) => format!("lost: {what}"),
            _ => unreachable!("there are no others"),
        };
        found.push(format!("{address} {what}"));
        ControlFlow::Continue(())
    });
    (found, end.err().map(|error| error.to_string()))
}

#[test]
fn the_pages_of_an_archive_are_the_answers_of_servers() {
    let page = "200 OK\r\nContent-Type: text/html";
    let chunked = format!("{page}\r\nTransfer-Encoding: chunked");
    let archive = [
        record("warcinfo", "", "application/warc-fields", "software: x\r\n"),
        record("request", "http://a", "application/http", "GET / HTTP/1.1\r\n\r\n"),
        answer("http://a", page, "<p>one\r\n\r\n"),
        answer("http://b", &chunked, "3\r\ntwo\r\n4;x=y\r\n and\r\n0\r\n\r\n"),
        answer("http://c", &chunked, "three"),
        answer("http://d", "404 Not Found\r\nContent-Type: text/html", "no"),
        answer("http://e", "200 OK\r\nContent-Type: text/css", "p {}"),
        answer("http://f", &format!("{page}\r\nContent-Encoding: br"), "?"),
        answer("http://g", &chunked, "9\r\ntwo\r\n"),
        record("response", "http://h", "application/http", "no head"),
        record("conversion", "http://i", "text/plain", "four"),
        record("resource", "file:///j", "image/png", "?"),
        record("response", "dns:a", "text/dns", "20230101000000\na. 300 IN A 10.0.0.1\n"),
    ];
    let expected = [
        "http://a page.html: <p>one\r\n\r\n".to_owned(),
        "http://b page.html: two and".into(),
        "http://c page.html: three".into(),
        format!("http://d {NO_SUCCESS}"),
        format!("http://e {NO_PAGE}"),
        "http://f its content is encoded as `br`, which is not read".into(),
        "http://g error: its chunks end too early".into(),
        "http://h the head of the server's answer is damaged".into(),
        "http://i page.txt: four".into(),
        format!("file:///j {NO_PAGE}"),
    ];
    assert_eq!(all(&archive.concat()), (expected.to_vec(), None));
}

#[test]
fn an_archive_that_is_damaged_or_cut_short_says_so() {
    let page = answer("http://a", "200 OK\r\nContent-Type: text/plain", "one two");
    let (found, error) = all(&page[..page.len() - 8]);
    assert!(found[0].contains("cut short") && error.is_none(), "{found:?}");
    for damaged in
        ["WARC/1.0\r\nX: y\r\n\r\n", "WARC/1.0\r\nContent-Length: x\r\n\r\n", "WARC/1.0\r\nX"]
    {
        let (found, error) = all(&format!("{page}{damaged}"));
        assert_eq!((&*found[0], error), ("http://a page.txt: one two", None));
        assert!(found[1].contains("the head of a record in it is damaged"), "{found:?}");
    }
    let (found, _) = all(&format!("{page}nothing\r\n\r\n"));
    assert_eq!(
        found[1],
        " lost: 7 bytes after the record of http://a belong to no record and are skipped"
    );
    let endless = format!("WARC/1.0\r\nX: {}\n\n{page}", "y".repeat(100_000));
    let (found, error) = all(&endless);
    assert!(found[0].contains("damaged") && error.is_none());
    assert_eq!(found.last().unwrap(), "http://a page.txt: one two");
}

/// Returns an archive of five pages. `change` alters the second page.
fn five(change: impl Fn(&str) -> String) -> String {
    let page = |n: usize| {
        let text = format!("<p>the text of page {n}</p>");
        answer(&format!("http://{n}"), "200 OK\r\nContent-Type: text/html", &text)
    };
    [page(0), change(&page(1)), page(2), page(3), page(4)].concat()
}

#[test]
fn a_record_that_is_damaged_does_not_affect_the_others() {
    let whole: Vec<String> =
        (0..5).map(|n| format!("http://{n} page.html: <p>the text of page {n}</p>")).collect();
    assert_eq!(all(&five(str::to_owned)), (whole.clone(), None));
    let length = |page: &str, by: i64| {
        let len: i64 = page.split("Content-Length: ").nth(1).unwrap()[..2].parse().unwrap();
        page.replace(&format!("Content-Length: {len}"), &format!("Content-Length: {}", len + by))
    };
    let others = |found: &[String]| -> Vec<String> {
        whole.iter().filter(|page| found.contains(page)).cloned().collect()
    };
    for by in [-60, -20, -1, 1, 2, 3, 4, 5, 60, 300, 5_000, 60_000, 1 << 40] {
        let (found, error) = all(&five(|page| length(page, by)));
        let expected: Vec<String> =
            whole.iter().filter(|page| !page.contains("//1")).cloned().collect();
        let others: Vec<String> =
            others(&found).into_iter().filter(|page| !page.contains("//1")).collect();
        assert_eq!((others, error), (expected, None), "{by}: {found:?}");
        let said = found.iter().filter(|it| it.contains("lost: ")).count();
        // The lines between two records may be counted as content.
        assert_eq!(said, usize::from(!(1..=4).contains(&by)), "{by}: {found:?}");
        let is_invented = |it: &String| it.contains("page.html") && it.contains("WARC/");
        assert!(!found.iter().any(is_invented), "{by}: {found:?}");
    }
    for stray in ["a line\r\n", "a line\r\n\r\n", "\n\n\n", "WARC/\r\n"] {
        let (found, error) = all(&five(|page| format!("{page}{stray}")));
        assert_eq!((others(&found), error), (whole.clone(), None), "{stray:?}");
        assert_eq!(found.len(), if stray.trim().is_empty() { 5 } else { 6 }, "{found:?}");
    }
}

#[test]
fn a_damaged_member_of_gzip_costs_its_record_alone() {
    use crate::compressed::{Compression, WINDOW_BYTES_MAX};
    use std::io::Write;
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let text = |n: u64| format!("<p>the text of page {n}, {}", n.pow(9).to_string().repeat(9));
    let page = |n| answer(&format!("http://{n}"), "200 OK\r\nContent-Type: text/html", &text(n));
    let members: Vec<Vec<u8>> = (5..9).map(|n| gzip(&page(n))).collect();
    for at in 0..members[1].len() {
        for change in [0x01, 0x40] {
            let mut damaged = members.clone();
            damaged[1][at] ^= change;
            let bytes = io::Cursor::new(damaged.concat());
            let (stream, resumption) = Compression::Gzip.open_resumable(bytes, WINDOW_BYTES_MAX);
            resumption.set(true);
            let (found, _) = all_of(stream, Kind::Warc);
            let has = |n: u64| found.contains(&format!("http://{n} page.html: {}", text(n)));
            assert!(has(5) && has(7) && has(8), "{at}: {found:?}");
        }
    }
}

#[test]
fn a_byte_order_mark_and_empty_lines_before_the_first_record_cost_no_page() {
    let page = answer("http://a", "200 OK\r\nContent-Type: text/html", "<p>one");
    let expected = (vec!["http://a page.html: <p>one".to_owned()], None);
    for before in ["\u{feff}", "\n\r\n", "\u{feff}\r\n"] {
        assert_eq!(all(&format!("{before}{page}")), expected, "{before:?}");
    }
}

#[test]
fn a_page_may_have_lines_that_look_like_heads() {
    let text = "<pre>\r\n\r\nWARC/1.0\r\nWARC-Type: response\r\n\r\n</pre>";
    let page = answer("http://a", "200 OK\r\nContent-Type: text/html", text);
    let (found, error) = all(&page.repeat(2));
    assert_eq!((found, error), (vec![format!("http://a page.html: {text}"); 2], None));
}

#[test]
fn the_pages_of_an_arc_archive_are_read() {
    let record = |address: &str, kind: &str, content: &str| {
        format!("{address} 10.0.0.1 20080430204825 {kind} {}\n{content}\n", content.len())
    };
    let page = |text: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{text}");
    let archive = |stray: &str| {
        let version = "1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n";
        [
            record("filedesc://x.arc", "text/plain", version),
            record("dns:site.example", "text/dns", "20080430 site.example"),
            record("http://site.example/0", "text/html", &page("<p>one")),
            stray.to_owned(),
            record("http://site.example/1", "text/html", &page("<p>two\n\nthree")),
            record("http://site.example/2", "image/png", "HTTP/1.1 404 No\r\n\r\n"),
            record("http://site.example/3", "text/plain", "four"),
            record("http://site.example/a page 2", "text/plain", "five"),
        ]
        .concat()
    };
    let expected = [
        "http://site.example/0 page.html: <p>one".to_owned(),
        "http://site.example/1 page.html: <p>two\n\nthree".into(),
        format!("http://site.example/2 {NO_SUCCESS}"),
        "http://site.example/3 page.txt: four".into(),
        "http://site.example/a page 2 page.txt: five".into(),
    ];
    assert_eq!(all_of(archive("").as_bytes(), Kind::Arc), (expected.to_vec(), None));
    // An address may have any scheme. Such records were skipped without a word.
    let others = [
        record("ftp://site.example/six", "text/plain", "six"),
        record("gopher://site.example/seven", "no-type", "seven"),
        record("rtsp://site.example/v", "video/mp4", "eight"),
    ];
    let (mut found, error) = all_of(archive(&others.concat()).as_bytes(), Kind::Arc);
    let found_others: Vec<String> = found.drain(1..4).collect();
    assert_eq!(
        found_others,
        [
            "ftp://site.example/six page.txt: six".to_owned(),
            "gopher://site.example/seven page: seven".into(),
            format!("rtsp://site.example/v {NO_PAGE}"),
        ]
    );
    assert_eq!((found, error), (expected.to_vec(), None));
    let (mut found, error) = all_of(archive("a stray line\n").as_bytes(), Kind::Arc);
    assert!(found.remove(1).contains("belong to no record"), "{found:?}");
    assert_eq!((found, error), (expected.to_vec(), None));
    // A length that is too great cut the beginning off the address of the next record, which
    // then was no page.
    for by in [-7, -1, 2, 3, 9, 40, 70] {
        let whole = archive("");
        let len = page("<p>one").len();
        let wrong = format!("text/html {}", len as i64 + by);
        let wrong = whole.replacen(&format!("text/html {len}"), &wrong, 1);
        let (found, error) = all_of(wrong.as_bytes(), Kind::Arc);
        let pages = found.iter().filter(|it| expected[1..].contains(it)).count();
        assert_eq!((pages, error), (4, None), "{by}: {found:?}");
        assert!(found.iter().any(|it| it.contains("lost: ")), "{by}: {found:?}");
    }
}
