//! Processes that open an index while another adds to it and merges: every opening succeeds.
//!
//!     cargo test --test openings -- [--openings N]
//!
//! A program of its own, without the test harness: it starts itself again as the readers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "it/common/mod.rs"]
mod common;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use cento::Stop;
use cento::index::{Index, WriterOptions};
use common::{add, config, words};

/// The number of times that all readers together open the index by default.
const OPENINGS: usize = 2000;
/// Processes that read.
const READERS: usize = 2;
/// Documents that are there all the time. Each commit replaces one, so that there are as many
/// segments with a live document, and merges of them without end.
const DOCUMENTS: u64 = 24;

fn main() {
    let mut args = std::env::args().skip(1);
    let mut openings = OPENINGS;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--read" => return read(Path::new(&args.next().unwrap()), openings),
            "--openings" => openings = args.next().unwrap().parse().unwrap(),
            // What the test harness takes, as in `cargo test -- --nocapture`.
            _ => {}
        }
    }
    readers_open_while_another_process_merges(openings);
    println!("\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n");
}

/// A reader: opens the index again and again, each time in full, and prints what failed.
fn read(path: &Path, openings: usize) {
    for opening in 0..openings {
        let index = Index::open(path);
        // Every tenth opening looks at every byte.
        let result = index.and_then(|index| match opening % 10 {
            0 => index.check().map(|report| report.problems.len() as u64 + DOCUMENTS),
            _ => index.snapshot().map(|snapshot| snapshot.documents()),
        });
        match result {
            Ok(DOCUMENTS) => {}
            Ok(other) => println!("opening {opening}: {other} instead of {DOCUMENTS}"),
            Err(error) => println!("opening {opening}: {error}"),
        }
    }
    println!("done");
    std::io::stdout().flush().unwrap();
}

fn spawn_reader(path: &Path, openings: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--openings", &openings.to_string(), "--read"])
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn readers_open_while_another_process_merges(openings: usize) {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for doc in 0..DOCUMENTS {
        add(&mut writer, &format!("doc{doc}"), &words(doc, 80)).unwrap();
    }
    writer.commit().unwrap();
    let mut readers: Vec<Child> =
        (0..READERS).map(|_| spawn_reader(dir.path(), openings.div_ceil(READERS))).collect();
    let stop = Stop::new();
    let mut failed = Vec::new();
    let (commits, merged) = std::thread::scope(|scope| {
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
        for reader in &mut readers {
            let lines = BufReader::new(reader.stdout.take().unwrap()).lines();
            failed.extend(lines.map(|line| line.unwrap()).filter(|line| line != "done"));
            assert!(reader.wait().unwrap().success());
        }
        stop.set();
        let commits = adding.join().unwrap();
        (commits, index.merges())
    });
    println!(
        "{openings} openings in {READERS} processes, {} failed; {commits} commits and {merged} \
         merged segments meanwhile",
        failed.len()
    );
    assert!(commits > 2 && merged > 2, "{commits} commits, {merged} merged: nothing happened");
    assert!(failed.is_empty(), "{:#?}", &failed[..failed.len().min(20)]);
}
