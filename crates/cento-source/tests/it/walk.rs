//! Tests of directories: ignored files, links, odd names, and misleading extensions.

#[cfg(unix)]
use crate::common::make_pipe;
use crate::common::{Dir, line, read, read_one, words};
use cento_source::SourceOptions;
use serde_json::json;

fn obeying() -> SourceOptions {
    SourceOptions { obeys_ignore_files: true, ..SourceOptions::default() }
}

#[test]
fn a_named_file_is_read_even_if_git_ignores_it() {
    let dir = Dir::new();
    dir.write("repo/.gitignore", "data/\n*.jsonl\n");
    dir.write("repo/.git/config", "[core]");
    dir.write("repo/data/a.jsonl", line("a", &words(1, 60), json!({})));
    dir.write("repo/b.txt", words(9, 60));
    let found = read_one(&dir, "repo");
    assert_eq!(found.ids(), ["a", "repo/b.txt"]);
    let hidden: Vec<&str> =
        found.left_out.iter().map(|left| left.split(": ").next().unwrap()).collect();
    assert_eq!(hidden, ["repo/.git", "repo/.gitignore"]);
    assert_eq!(read(&dir, &["repo"], &obeying()).ids(), ["repo/b.txt"]);
    assert_eq!(read(&dir, &["repo/data/a.jsonl"], &obeying()).ids(), ["a"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_where_they_are_named_or_if_asked() {
    use std::os::unix::fs::symlink;

    let dir = Dir::new();
    dir.write("blobs/abc", line("a", &words(1, 60), json!({})));
    std::fs::create_dir_all(dir.path("snapshots/r1")).unwrap();
    symlink("../../blobs/abc", dir.path("snapshots/r1/train.jsonl")).unwrap();
    symlink("snapshots", dir.path("latest")).unwrap();
    let followed = SourceOptions { follow_links: true, ..SourceOptions::default() };
    let left_out = read_one(&dir, "snapshots");
    assert_eq!(left_out.counts(), [0, 0, 1, 0], "{left_out:?}");
    assert_eq!(read_one(&dir, "snapshots/r1/train.jsonl").ids(), ["a"]);
    assert_eq!(read(&dir, &["latest"], &followed).counts(), [1, 0, 0, 0]);
    symlink(".", dir.path("snapshots/loop")).unwrap();
    let found = read(&dir, &["latest"], &followed);
    assert_eq!(found.ids(), ["a"]);
    assert!(found.unread.len() == 1 && found.unread[0].contains("loop"), "{found:?}");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_or_around_is_named_itself() {
    use std::os::unix::fs::symlink;

    // The parent directory was reported, although its files were read.
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 60));
    symlink("nowhere", dir.path("in/dangling")).unwrap();
    symlink("nowhere", dir.path("in/.hidden")).unwrap();
    symlink(".", dir.path("in/loop")).unwrap();
    symlink("self", dir.path("in/self")).unwrap();
    symlink("in", dir.path("link")).unwrap();
    let followed = SourceOptions { follow_links: true, ..SourceOptions::default() };
    for name in ["in", "link"] {
        let found = read(&dir, &[name], &followed);
        assert_eq!(found.text(&format!("{name}/a.txt")), words(1, 60));
        assert_eq!(found.left_out, [format!("{name}/.hidden: it is hidden")]);
        let said = found.unread.join("\n");
        assert!(said.contains(&format!("{name}/dangling: the link leads nowhere")), "{said}");
        let around = "the link leads to a directory above it";
        assert!(said.contains(&format!("{name}/loop: {around}")), "{said}");
        assert!(said.contains(&format!("cannot read {name}/self: ")), "{said}");
        assert!(!said.contains(&format!("cannot read {name}: ")), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_are_different_ids() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let dir = Dir::new();
    std::fs::create_dir(dir.path("in")).unwrap();
    let names = [&b"\xfe.txt"[..], b"\xff.txt", b"caf\xe9.txt", b"%FE.txt", b"a\nb.txt"];
    for (i, name) in (1..).zip(names) {
        std::fs::write(dir.path("in").join(OsStr::from_bytes(name)), words(i, 60)).unwrap();
    }
    let found = read_one(&dir, "in");
    let expected = ["in/%25FE.txt", "in/%FE.txt", "in/%FF.txt", "in/a%0Ab.txt", "in/caf%E9.txt"];
    assert_eq!(found.ids(), expected);
    assert_eq!(found.text("in/%FE.txt"), words(1, 60));
}

#[test]
fn a_file_that_contradicts_its_name_is_refused() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
    for (name, bytes, says) in [
        ("a.parquet", pointer, "git lfs pull"),
        ("b.jsonl", pointer, "git lfs pull"),
        ("c.pdf", "<!doctype html><p>404", "its name ends in .pdf, but it is a web page"),
        ("d.zip", "some text", "its name ends in .zip, but it is text"),
        ("e.docx", "{\"error\": 404}", "its name ends in .docx, but it is JSON"),
        ("f.tar", "some text", "its name ends in .tar, but it is text"),
    ] {
        let dir = Dir::new();
        dir.write(name, bytes);
        let found = read_one(&dir, name);
        assert_eq!(found.counts(), [0, 0, 0, 1], "{name}: {found:?}");
        assert!(found.unread[0].contains(says), "{found:?}");
    }
}

#[test]
fn an_empty_file_is_left_out_as_empty_whatever_its_name_promises() {
    // Some empty files were reported as failures, because empty contents counted as text.
    let endings = "pdf docx epub odt pptx parquet arrow zip tar tgz tar.gz rtf xlsx eml gz json \
                   csv jsonl mbox html txt warc pdf.zst";
    for ending in endings.split_whitespace() {
        for bytes in ["", " \n"] {
            let dir = Dir::new();
            let name = format!("a.{ending}");
            dir.write(&name, bytes);
            let found = read_one(&dir, &name);
            assert_eq!(found.counts(), [0, 0, 1, 0], "{name}: {found:?}");
            assert_eq!(found.left_out, [format!("{name}: it is empty")]);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_list_of_braces_ends_no_walk() {
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 60));
    let braces = format!("{}x{}\n", "{".repeat(100_000), "}".repeat(100_000));
    dir.write("in/sub/.gitignore", &braces);
    dir.write("in/sub/b.txt", words(2, 60));
    let said = "in/sub/.gitignore: a line of its rules for ignored files has more than 64 braces";
    let found = read(&dir, &["in"], &obeying());
    assert_eq!(found.ids(), ["in/a.txt"]);
    assert!(found.unread[0].contains(said), "{found:?}");
    let found = read(&dir, &["in/sub"], &obeying());
    assert!(found.documents.is_empty() && found.unread[0].contains(said), "{found:?}");
    // Opening a pipe would wait without end.
    std::fs::remove_file(dir.path("in/sub/.gitignore")).unwrap();
    make_pipe(&dir.path("in/sub/.gitignore"));
    let found = read(&dir, &["in"], &obeying());
    let said = "in/sub/.gitignore: it is not a regular file";
    assert!(found.unread.len() == 1 && found.unread[0].contains(said), "{found:?}");
}

#[cfg(unix)]
#[test]
fn a_git_file_leads_a_walk_nowhere() {
    // Braces in the list of exclusions led to deep recursion, and a pipe to an endless wait.
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 60));
    dir.write("in/.git", "gitdir: real\n");
    dir.write("real/commondir", ".\n");
    dir.write("real/info/exclude", format!("{}a{}\n", "{".repeat(60_000), "}".repeat(60_000)));
    assert_eq!(read_one(&dir, "in").ids(), ["in/a.txt"]);
    std::fs::remove_file(dir.path("real/info/exclude")).unwrap();
    make_pipe(&dir.path("real/info/exclude"));
    assert_eq!(read_one(&dir, "in").ids(), ["in/a.txt"]);
}
