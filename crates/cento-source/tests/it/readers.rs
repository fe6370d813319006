//! Tests of user-defined commands that read files.
#![cfg(unix)]

use crate::common::{Dir, gzip, read, read_one, words, zip};
use cento_source::{Readers, SourceOptions};

/// Returns a file that is not text: every space becomes a zero byte.
fn packed(text: &str) -> Vec<u8> {
    text.replace(' ', "\0").into_bytes()
}

fn with_reader(reader: &str) -> SourceOptions {
    SourceOptions { readers: Readers::parse([reader]).unwrap(), ..SourceOptions::default() }
}

#[test]
fn files_are_read_by_a_command_wherever_they_are() {
    let dir = Dir::new();
    let (one, two) = (words(1, 60), words(2, 60));
    dir.write("in/a.djvu", packed(&one));
    dir.write("in/z.zip", zip(&[("b.djvu", &packed(&two))]));
    dir.write("in/c.djvu.gz", gzip(&packed(&format!("{one} {two}"))));
    assert!(read_one(&dir, "in").documents.is_empty());
    let found = read(&dir, &["in"], &with_reader("djvu=tr '\\000' ' '"));
    assert_eq!(found.counts(), [3, 0, 0, 0], "{found:?}");
    for (id, text) in
        [("in/a.djvu", &one), ("in/z.zip/b.djvu", &two), ("in/c.djvu.gz", &format!("{one} {two}"))]
    {
        assert_eq!(found.text(id), text, "{id}");
    }
}

#[test]
fn a_command_that_fails_costs_its_file() {
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 60));
    dir.write("in/b.djvu", "x");
    let found = read(&dir, &["in"], &with_reader("djvu=sh -c 'echo broken >&2; exit 4'"));
    assert_eq!(found.ids(), ["in/a.txt"]);
    let said = [&found.refused[..], &found.unread].concat().join("\n");
    assert!(said.contains("in/b.djvu: the reader of .djvu files failed"), "{said}");
    assert!(said.contains("broken"), "{said}");
}
