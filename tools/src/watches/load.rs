//! Measures the cost of watches in a service. Passages of real texts are watched or posted.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::Command;
use std::time::Instant;

use cento_client::Client;
use cento_client::api::{Commit, EventsRequest};
use fastrand::Rng;
use serde_json::json;

use super::{Watches, fresh};
use crate::Result;
use crate::cento::{Cento, documents};
use crate::hostile::processor_seconds;
use crate::service::Running;

const BATCH: usize = 1000;

/// Returns whether most words have letters and no character is a control character. Tables of
/// numbers and damaged bytes are no passages.
fn is_prose(passage: &str) -> bool {
    let has_letter = |word: &&str| word.chars().any(char::is_alphabetic);
    let words = passage.split(' ').count();
    let lettered = passage.split(' ').filter(has_letter).count();
    !passage.chars().any(char::is_control) && lettered * 2 > words
}

impl Watches {
    /// Prints a row for each number of watches. Every row posts the same documents.
    pub(super) fn load(&self) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        let mut passages = self.passages()?;
        rng.shuffle(&mut passages);
        let posted = self.commits * BATCH;
        let watches = self.watches.iter().copied().max().unwrap_or(0);
        if passages.len() < posted + watches {
            let what = (passages.len(), posted + watches);
            return Err(format!("{} passages, and {} are needed", what.0, what.1).into());
        }
        let (posted, watched) = passages.split_at(posted);
        println!(
            "| watches | documents | time, s | documents a second | processor, s | a document, us \
             | events |"
        );
        println!("|---|---|---|---|---|---|---|");
        for &watches in &self.watches {
            self.loaded(posted, &watched[..watches])?;
        }
        Ok(())
    }

    fn passages(&self) -> Result<Vec<String>> {
        let mut passages = Vec::new();
        for path in &self.corpus {
            for document in documents(path)? {
                let text = document?.text;
                let words: Vec<&str> = text.split_whitespace().collect();
                let passage = words.chunks_exact(self.words).map(|words| words.join(" "));
                passages.extend(passage.filter(|passage| is_prose(passage)));
            }
        }
        Ok(passages)
    }

    fn loaded(&self, posted: &[String], watched: &[String]) -> Result {
        let path = self.work.join("loaded.idx");
        fresh(&path)?;
        let own = path.to_string_lossy().into_owned();
        if !Command::new(&self.cento).arg("create").arg(&path).status()?.success() {
            return Err("the index could not be created".into());
        }
        if !watched.is_empty() {
            let lines = self.work.join("watches.jsonl");
            let mut out = BufWriter::new(File::create(&lines)?);
            for (number, text) in watched.iter().enumerate() {
                writeln!(out, "{}", json!({"id": format!("watch-{number}"), "text": text}))?;
            }
            out.into_inner()?;
            Cento::at(&self.cento).json(&["watch", "add", &own, &lines.to_string_lossy()])?;
        }
        let service = Running::start(&self.cento, &path, &[])?;
        let client = Client::new(&service.url, None)?;
        let before = processor_seconds(&service)?;
        let started = Instant::now();
        for (commit, batch) in posted.chunks(BATCH).enumerate() {
            let line = |(number, text): (usize, &String)| {
                format!("{}\n", json!({"id": format!("{commit}-{number}"), "text": text}))
            };
            let lines: String = batch.iter().enumerate().map(line).collect();
            client.add_lines(lines.as_bytes(), Commit::Wait)?;
        }
        // The last commit returns after the previous commit has been matched.
        client.add_lines(b"{\"id\": \"end\", \"text\": \"the end\"}\n", Commit::Wait)?;
        let (seconds, used) = (started.elapsed().as_secs_f64(), processor_seconds(&service)?);
        let used = used - before;
        let events = match watched.is_empty() {
            true => 0,
            false => {
                let after = Some(u64::MAX >> 1);
                let request = EventsRequest { after, limit: Some(1), wait: None };
                client.events(None, &request)?.next
            }
        };
        let documents = posted.len() as f64;
        println!(
            "| {} | {documents} | {seconds:.2} | {:.0} | {used:.2} | {:.0} | {events} |",
            watched.len(),
            documents / seconds,
            used / documents * 1e6,
        );
        Ok(())
    }
}
