//! Queries a second that the library answers, without Python.
//!
//!     searches INDEX QUERIES.jsonl THREADS
//!
//! For each line of standard input it searches for all texts once and prints the seconds, so that
//! `measure.py` can take turns with it. If the line is `keep`, it keeps all answers until the last
//! has come.

use std::io::BufRead;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use cento::{Error, Index, Query, Searcher};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, index, queries, threads] = &arguments[..] else {
        return Err("usage: searches INDEX QUERIES.jsonl THREADS".into());
    };
    let threads: usize = threads.parse()?;
    let mut texts = Vec::new();
    for line in std::fs::read_to_string(queries)?.lines() {
        let row: serde_json::Value = serde_json::from_str(line)?;
        texts.push(row["text"].as_str().unwrap_or_default().to_owned());
    }
    let searcher = Searcher::new(Index::open(index)?.snapshot()?);
    for line in std::io::stdin().lock().lines() {
        let keeps = line? == "keep";
        let started = Instant::now();
        let next = AtomicUsize::new(0);
        let parts = std::thread::scope(|scope| {
            let search = || {
                let (mut hits, mut kept) = (0, Vec::new());
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(text) = texts.get(at) else { return Ok::<_, Error>((hits, kept)) };
                    let answer = searcher.search(&Query::text(text.clone()).counts_only(true))?;
                    hits += answer.hits.len();
                    if keeps {
                        kept.push(answer);
                    }
                }
            };
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(search)).collect();
            let parts = threads.into_iter().map(|thread| match thread.join() {
                Ok(part) => Ok(part?),
                Err(_) => Err("a search panicked".into()),
            });
            parts.collect::<Result<Vec<_>, Box<dyn std::error::Error>>>()
        })?;
        let seconds = started.elapsed().as_secs_f64();
        let hits: usize = parts.iter().map(|(hits, _)| hits).sum();
        // Before the caller goes on with something else.
        drop(parts);
        println!("{seconds} {hits}");
    }
    Ok(())
}
