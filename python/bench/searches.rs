//! How many queries a second does the library answer, without Python?
//!
//!     searches INDEX QUERIES.jsonl THREADS
//!
//! For each line of standard input it searches for all texts once and prints the seconds, so that
//! `measure.py` can take turns with it.

use std::io::BufRead;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use cento::{Index, Query, Searcher};

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
        line?;
        let started = Instant::now();
        let next = AtomicUsize::new(0);
        let hits: usize = std::thread::scope(|scope| {
            let search = || {
                let mut hits = 0;
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(text) = texts.get(at) else { return Ok::<_, cento::Error>(hits) };
                    hits += searcher.search(&Query::text(text.clone()))?.hits.len();
                }
            };
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(search)).collect();
            let mut hits = 0;
            for thread in threads {
                hits += thread.join().map_err(|_| "a search panicked")??;
            }
            Ok::<_, Box<dyn std::error::Error>>(hits)
        })?;
        println!("{} {hits}", started.elapsed().as_secs_f64());
    }
    Ok(())
}
