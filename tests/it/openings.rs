//! Processes open an index while a different process adds and merges. Every opening succeeds.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::{add, config, words};
use cento::Stop;
use cento::index::{Index, WriterOptions};

/// The total number of openings by all readers.
const OPENINGS: usize = 2000;
/// The number of processes that read.
const READERS: usize = 2;
/// The number of documents. Each commit replaces a document, so every segment keeps a live
/// document, and merging never ends.
const DOCUMENTS: u64 = 24;
/// The environment variable that makes this test a reader of an index, in a separate process.
const INDEX_OF_READER: &str = "CENTO_TEST_OPENINGS_INDEX";

#[test]
fn readers_open_an_index_while_another_process_merges() {
    match std::env::var_os(INDEX_OF_READER) {
        Some(path) => read(Path::new(&path)),
        None => open_while_merging(),
    }
}

/// Opens an index again and again, and reads everything.
fn read(path: &Path) {
    let mut failed = Vec::new();
    for opening in 0..OPENINGS.div_ceil(READERS) {
        let index = Index::open(path);
        // Every tenth opening looks at every byte.
        let result = index.and_then(|index| match opening % 10 {
            0 => index.check().map(|report| report.problems.len() as u64 + DOCUMENTS),
            _ => index.snapshot().map(|snapshot| snapshot.documents()),
        });
        match result {
            Ok(DOCUMENTS) => {}
            Ok(other) => failed.push(format!("opening {opening}: {other}, not {DOCUMENTS}")),
            Err(error) => failed.push(format!("opening {opening}: {error}")),
        }
    }
    assert!(failed.is_empty(), "{} failed: {:#?}", failed.len(), &failed[..failed.len().min(20)]);
}

/// Starts this test again as a reader.
fn start_reader(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "openings::readers_open_an_index_while_another_process_merges"])
        .env(INDEX_OF_READER, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn open_while_merging() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for doc in 0..DOCUMENTS {
        add(&mut writer, &format!("doc{doc}"), &words(doc, 80)).unwrap();
    }
    writer.commit().unwrap();
    let readers: Vec<Child> = (0..READERS).map(|_| start_reader(dir.path())).collect();
    let stop = Stop::new();
    let (commits, ended) = std::thread::scope(|scope| {
        let stop = &stop;
        let adding = scope.spawn(move || {
            let mut commits = 0;
            while !stop.is_set() {
                let id = format!("doc{}", commits % DOCUMENTS);
                commits += 1;
                add(&mut writer, &id, &words(DOCUMENTS + commits, 80)).unwrap();
                writer.commit().unwrap();
            }
            writer.finish().unwrap();
            commits
        });
        let ended: Vec<_> =
            readers.into_iter().map(|reader| reader.wait_with_output().unwrap()).collect();
        stop.set();
        (adding.join().unwrap(), ended)
    });
    for reader in ended {
        let said = String::from_utf8_lossy(&reader.stdout);
        assert!(reader.status.success(), "{said}");
        // Without this check, a misspelled name of the test would run nothing and succeed.
        assert!(said.contains("1 passed"), "{said}");
    }
    let merged = index.merges();
    assert!(commits > 2 && merged > 2, "{commits} commits, {merged} merged: nothing happened");
}
