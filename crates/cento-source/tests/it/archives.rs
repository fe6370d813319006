//! Archives: nested, damaged, cut short.

use std::io::Write as _;

use cento_testing::archive::{central, ends, entry, stored};

use crate::common::{Dir, gzip, read_one, read_stream, words, zip};

fn file(name: &str, seed: u64) -> Vec<u8> {
    entry(tar::EntryType::Regular, name, words(seed, 60).as_bytes())
}

/// Reads an archive and checks the reports about bad entries. Everything else must be complete:
/// `last.txt` is read.
#[track_caller]
fn check(name: &str, archive: &[u8], documents: usize, unread: usize, said: &str) {
    let found = read_stream(name, archive);
    assert_eq!(found.counts(), [documents, 0, 0, unread], "{name}: {found:?}");
    assert!(found.unread.iter().any(|one| one.contains(said)) || said.is_empty(), "{found:?}");
    assert_eq!(found.text(&format!("{name}/last.txt")), words(9, 60));
}

/// A zip archive of three files: `first.txt`, `bad.txt`, `last.txt`.
fn three() -> Vec<u8> {
    let texts = [words(1, 60), words(2, 60), words(9, 60)];
    stored(&[("first.txt", &texts[0]), ("bad.txt", &texts[1]), ("last.txt", &texts[2])])
}

#[test]
fn a_bad_entry_of_a_zip_archive_ends_it_not() {
    let whole = three();
    check("whole.zip", &whole, 3, 0, "");
    let at = central(&whole, "bad.txt");
    for (name, changes, said) in [
        ("locked.zip", &[(at + 8, 1)][..], "cannot read locked.zip/bad.txt: "),
        ("method.zip", &[(at + 10, 97)], "method.zip/bad.txt"),
        ("offset.zip", &[(at + 42, 7)], "offset.zip/bad.txt"),
        // Fifty entries with shared contents became fifty documents, 400 MiB from 27 KB.
        (
            "shared.zip",
            &[(at + 42, 0), (at + 43, 0)],
            "shared.zip/bad.txt: another file of the archive",
        ),
        // The contents contradict the checksum.
        ("damaged.zip", &[(at + 16, whole[at + 16] ^ 1)], "damaged.zip/bad.txt"),
    ] {
        let mut bytes = whole.clone();
        changes.iter().for_each(|&(at, byte)| bytes[at] = byte);
        check(name, &bytes, 2, 1, said);
    }
}

#[test]
fn a_second_entry_of_the_same_name_is_not_read() {
    let texts = [words(1, 60), words(2, 60), words(9, 60)];
    let mut twins =
        stored(&[("same1.txt", &texts[0]), ("same2.txt", &texts[1]), ("last.txt", &texts[2])]);
    let local = twins.windows(9).position(|name| name == b"same2.txt").unwrap();
    let at = central(&twins, "same2.txt");
    (twins[local + 4], twins[at + 46 + 4]) = (b'1', b'1');
    check("twins.zip", &twins, 2, 1, "the same name");
}

#[test]
fn an_entry_whose_name_is_too_long_for_an_id_is_refused() {
    let long = "n".repeat(4096);
    let archive = stored(&[(&long, &words(1, 60)), ("last.txt", &words(9, 60))]);
    let found = read_stream("long.zip", &archive);
    assert_eq!((found.ids(), found.refused.len()), (vec!["long.zip/last.txt"], 1));
    assert!(found.refused[0].contains("the id has 4105 bytes"), "{:.200}", found.refused[0]);
}

#[test]
fn an_entry_whose_name_is_longer_than_any_path_is_refused_and_named_by_its_beginning() {
    // The directory names of this single path took gigabytes.
    let long = "d/".repeat(32_000) + "n";
    let archive = stored(&[(&long, &words(1, 60)), ("last.txt", &words(9, 60))]);
    check("long.zip", &archive, 1, 1, "/d/d/: its name has 64001 bytes; the maximum is 4096");
}

/// Returns a tar archive of `first.txt`, `middle`, and `last.txt`.
fn tar_with(middle: &[u8]) -> Vec<u8> {
    [&file("first.txt", 1)[..], middle, &file("last.txt", 9), &ends()].concat()
}

#[test]
fn a_bad_header_of_a_tar_archive_ends_it_not() {
    check("whole.tar", &tar_with(&file("middle.txt", 2)), 3, 0, "");
    let mut damaged = file("middle.txt", 2);
    let len = damaged.len();
    damaged[0] ^= 1;
    let said = format!("header.tar: {len} bytes in it belong to no entry");
    check("header.tar", &tar_with(&damaged), 2, 1, &said);
}

#[test]
fn a_bad_extension_of_a_tar_archive_ends_it_not() {
    let long = |kind, contents: &[u8]| {
        tar_with(&[entry(kind, "x", contents), file("middle.txt", 2)].concat())
    };
    let fields = |key: &str, len: usize| {
        let rest = format!(" {key}={}\n", "v".repeat(len));
        let digits = (rest.len() + 7).to_string().len();
        format!("{}{rest}", rest.len() + digits).into_bytes()
    };
    let name = vec![b'n'; 70 << 10];
    let named = long(tar::EntryType::GNULongName, &name);
    check("name.tar", &named, 2, 1, "name.tar/middle.txt: its name has 71680 bytes");
    // A large extended header is read up to a maximum, and skipped beyond it.
    let large = long(tar::EntryType::XHeader, &fields("comment", 200_000));
    check("large.tar", &large, 3, 0, "");
    let larger = long(tar::EntryType::XHeader, &fields("comment", 2_000_000));
    check("larger.tar", &larger, 2, 1, "larger.tar/middle.txt: its extended header has ");
    let torn = long(tar::EntryType::XHeader, b"99 path=x\n");
    check("torn.tar", &torn, 2, 1, "torn.tar/middle.txt: its extended header is damaged");
    let lines = long(tar::EntryType::XHeader, b"15 comment=a\nb\n20 path=renamed.txt\n");
    check("lines.tar", &lines, 3, 0, "");
}

#[test]
fn archives_one_after_the_other_are_read_and_what_follows_the_end_is_not() {
    let two = [&file("first.txt", 1)[..], &ends(), &file("last.txt", 9), &ends()].concat();
    check("two.tar", &two, 2, 0, "");
    check("tail.tar", &[tar_with(b""), vec![b'?'; 5000]].concat(), 2, 0, "");
}

#[test]
fn an_archive_that_is_cut_short_is_a_failure() {
    let whole = [file("last.txt", 9), file("next.txt", 1), ends()].concat();
    let entry = whole.len() / 2 - 512;
    for (cut, documents, unread) in
        [(entry + 10, 1, 1), (entry + 600, 1, 2), (whole.len() - 1024, 2, 1)]
    {
        let said = "cannot read all of cut.tar: it is cut short";
        check("cut.tar", &whole[..cut], documents, unread, said);
    }
    // Nothing was added, but the message said "the rest of it is added".
    let one = read_stream("one.tar", &whole[..600]);
    assert_eq!(one.counts(), [0, 0, 0, 2], "{one:?}");
    assert!(one.unread.iter().any(|said| said.contains("cannot read one.tar: it is cut short")));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gz.write_all(&whole).unwrap();
    let gz = gz.finish().unwrap();
    check("cut.tar.gz", &gz[..entry + 100], 1, 1, "cannot read all of cut.tar.gz: ");
}

fn tar(name: &str, contents: &[u8]) -> Vec<u8> {
    [entry(tar::EntryType::Regular, name, contents), ends()].concat()
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
    let bytes = text.as_bytes();
    let tar_gz = |name: &str| gzip(&tar(name, bytes));
    dir.write("in/a.txt", gzip(bytes));
    dir.write("in/b.txt.xz", XZ);
    dir.write("in/c", tar_gz("x/y.txt"));
    let files = [("e.txt", bytes), ("f.tar.gz", &tar_gz("g.txt"))];
    dir.write("in/d.zip", zip(&files));
    dir.write("in/h", zip(&[("i.txt", bytes)]));
    dir.write("in/j.tar", tar("k.zip", &zip(&[("l.txt", bytes)])));
    let found = read_one(&dir, "in");
    let same = [
        "in/a.txt",
        "in/c/x/y.txt",
        "in/d.zip/e.txt",
        "in/d.zip/f.tar.gz/g.txt",
        "in/h/i.txt",
        "in/j.tar/k.zip/l.txt",
    ];
    assert_eq!(found.counts(), [7, 0, 0, 0], "{found:?}");
    for id in same {
        assert_eq!(found.text(id), text, "{id}");
    }
    assert_eq!(found.text("in/b.txt.xz"), "text ".repeat(50));
}

#[test]
fn archives_within_archives_end_at_the_second() {
    let text = words(1, 60);
    let third = zip(&[("c.txt", text.as_bytes())]);
    let second = zip(&[("b.txt", text.as_bytes()), ("third.zip", &third)]);
    let first = zip(&[("a.txt", text.as_bytes()), ("second.zip", &second)]);
    let found = read_stream("first.zip", &first);
    assert_eq!(found.ids(), ["first.zip/a.txt", "first.zip/second.zip/b.txt"]);
    let said =
        "first.zip/second.zip/third.zip: it is an archive within an archive within an archive";
    assert_eq!(found.left_out, [said]);
}

#[test]
fn an_archive_without_files_is_left_out() {
    let none = zip(&[]);
    assert_eq!(read_stream("none.zip", &none).left_out, ["none.zip: it is an empty zip archive"]);
}

/// Returns the record of a page that a server sent.
fn page_record(address: &str, page: &str) -> String {
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
    format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {address}\r\nContent-Type: \
         application/http\r\nContent-Length: {}\r\n\r\n{answer}\r\n\r\n",
        answer.len()
    )
}

#[test]
fn the_pages_of_an_archive_of_the_web_are_documents() {
    let text = words(1, 60);
    let archive = [
        page_record("http://a.org/", &format!("<html><p>{text}</html>")),
        page_record("http://a.org/b.gz", &format!("<p>{text}")),
    ]
    .concat();
    for (name, bytes) in
        [("a.warc", archive.clone().into_bytes()), ("b.warc.gz", gzip(archive.as_bytes()))]
    {
        let found = read_stream(name, &bytes);
        assert_eq!(found.counts(), [2, 0, 0, 0], "{found:?}");
        for address in ["http://a.org/", "http://a.org/b.gz"] {
            assert_eq!(found.text(&format!("{name}/{address}")).trim(), text);
        }
    }
    let cut = read_stream("cut.warc", &archive.as_bytes()[..archive.len() - 50]);
    assert_eq!(cut.ids(), ["cut.warc/http://a.org/"]);
    assert!(cut.unread[0].contains("it is cut short"), "{cut:?}");
}

#[test]
fn a_web_archive_with_its_files_gives_its_pages_and_not_what_is_about_them() {
    // The list of pages repeats their texts, and its first line is no record.
    let text = words(1, 60);
    let pages = gzip(page_record("http://a.org/", &format!("<p>{text}")).as_bytes());
    let list = format!(
        "{{\"format\":\"json-pages-1.0\",\"id\":\"pages\"}}\n{{\"id\":\"1\",\"text\":\"{text}\"}}\n"
    );
    let files: [(&str, &[u8]); 5] = [
        ("archive/data.warc.gz", &pages),
        ("indexes/index.cdxj", b"org,a)/ 20240101000000 {\"url\":\"http://a.org/\"}\n"),
        ("pages/pages.jsonl", list.as_bytes()),
        ("logs/crawl.log", b"{\"logLevel\":\"info\",\"message\":\"crawled\"}\n"),
        ("datapackage.json", b"{\"profile\":\"data-package\",\"resources\":[]}"),
    ];
    for name in ["a.wacz", "a.zip"] {
        let found = read_stream(name, &zip(&files));
        assert_eq!(found.counts(), [1, 0, 4, 0], "{found:?}");
        assert_eq!(found.text(&format!("{name}/archive/data.warc.gz/http://a.org/")).trim(), text);
        assert!(found.left_out.iter().all(|one| one.contains("web archive (WACZ)")), "{found:?}");
    }
    // Another archive may have a data package beside its texts.
    let others = zip(&[("datapackage.json", b"{}"), ("archive/a.txt", text.as_bytes())]);
    assert_eq!(read_stream("b.zip", &others).ids(), ["b.zip/archive/a.txt"]);
}

#[test]
fn an_archive_without_documents_is_named() {
    let warc = "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 2\r\n\r\nab\r\n\r\n";
    let dirs = zip(&[("d/", b"")]);
    let files: [(&str, &[u8]); 4] = [
        ("a.tar", &[0; 1024]),
        ("b.zip", &dirs),
        ("c.warc", warc.as_bytes()),
        ("d.tar.gz", &gzip(&[0; 1024])),
    ];
    for (name, bytes) in files {
        let found = read_stream(name, bytes);
        assert_eq!(found.left_out, [format!("{name}: it has no documents")], "{found:?}");
        assert_eq!(found.counts(), [0, 0, 1, 0], "{name}: {found:?}");
        let found = read_stream("o.zip", &zip(&[(name, bytes)]));
        assert_eq!(found.left_out, [format!("o.zip/{name}: it has no documents")], "{found:?}");
    }
}
