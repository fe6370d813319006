//! Are the events of watches those of a naive matcher, and what do watches cost?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cento::index::{Config, Document, Index, WriterOptions};
use cento::watch::Watches as Open;
use cento::{Query, Searcher, Stop};
use cento_client::Client;
use cento_client::api::{Commit, DocumentBody, WatchRequest};
use clap::Args;
use fastrand::Rng;

use crate::Result;
use crate::corpus::Vocabulary;
use crate::measure::cpu_seconds;
use crate::service::Running;

/// Measure what watches add to commits, or compare the events of a service that is killed again and
/// again with searches of the watches.
#[derive(Debug, Args)]
pub struct Watches {
    /// A directory for the indexes, which are made anew.
    #[arg(long)]
    work: PathBuf,
    /// The program, for a comparison.
    #[arg(long, default_value = "target/release/cento")]
    cento: PathBuf,
    /// Numbers of watches to measure.
    #[arg(long, value_delimiter = ',', default_value = "0,1000,100000")]
    watches: Vec<usize>,
    /// The number of commits, of 1,000 documents to measure, of one document to compare.
    #[arg(long, default_value = "10")]
    commits: usize,
    /// Compare: kill the service within this many milliseconds, again and again.
    #[arg(long, value_name = "MILLISECONDS")]
    kill_within: Option<u64>,
    /// The seed.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// The documents of a measured commit.
const BATCH: usize = 1000;

/// The tokens of a watch and of a document.
const TOKENS: usize = 300;

/// One document in 100 has a passage of a watch.
const MATCHING: usize = 100;

fn fresh(path: &Path) -> Result {
    if path.exists() {
        std::fs::remove_dir_all(path)?;
    }
    Ok(())
}

fn request(number: usize, text: String) -> WatchRequest {
    let name = Some(format!("watch-{number}"));
    WatchRequest { name, text: Some(text), ..WatchRequest::default() }
}

impl Watches {
    pub(crate) fn run(self) -> Result {
        std::fs::create_dir_all(&self.work)?;
        match self.kill_within {
            None => self.measure(),
            Some(milliseconds) => self.compare(milliseconds),
        }
    }

    fn measure(&self) -> Result {
        println!(
            "| watches | documents | adding, s | matching, s | matching a document, us | events |"
        );
        println!("|---|---|---|---|---|---|");
        for &watches in &self.watches {
            self.measured(watches)?;
        }
        Ok(())
    }

    /// Adds the documents to an index with this number of watches, and prints a row.
    fn measured(&self, watches: usize) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        let words = Vocabulary::new(&mut rng);
        let path = self.work.join("watches.idx");
        fresh(&path)?;
        let index = Index::create(&path, Config::new("winnow(k=5,w=10)", "words", true)?)?;
        let mut writer = index.writer(WriterOptions::default())?;
        let texts: Vec<String> = (0..watches).map(|_| words.text(TOKENS, &mut rng)).collect();
        let mut open = None;
        if watches > 0 {
            writer.log_changes()?;
            let mut own = Open::open(&index)?;
            let requests = texts.iter().enumerate();
            own.add_all(requests.map(|(number, text)| request(number, text.clone())).collect())?;
            open = Some(own);
        }
        let (mut adding, mut matching, mut events) = (0.0, 0.0, 0);
        for commit in 0..self.commits {
            let documents: Vec<Document> = (0..BATCH)
                .map(|number| {
                    let mut text = words.text(TOKENS, &mut rng);
                    if number % MATCHING == 0 && !texts.is_empty() {
                        let copied = &texts[rng.usize(..texts.len())];
                        text += copied.get(..copied.len() / 2).unwrap_or(copied);
                    }
                    Document::new(format!("{commit}-{number}"), text)
                })
                .collect();
            let before = cpu_seconds();
            for document in documents {
                writer.add(document)?;
            }
            writer.commit()?;
            adding += cpu_seconds() - before;
            if let Some(open) = &mut open {
                let before = cpu_seconds();
                events += open.match_commits(Stop::NEVER)?;
                matching += cpu_seconds() - before;
            }
        }
        let documents = self.commits * BATCH;
        let each = matching / documents as f64 * 1e6;
        println!(
            "| {watches} | {documents} | {adding:.2} | {matching:.2} | {each:.0} | {events} |"
        );
        Ok(())
    }

    /// Commits documents one by one through a service that is killed at random moments; then
    /// compares the events with the hits of a search of each watch in the index.
    fn compare(&self, milliseconds: u64) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        let words = Vocabulary::new(&mut rng);
        let path = self.work.join("compared.idx");
        fresh(&path)?;
        if !Command::new(&self.cento).arg("create").arg(&path).status()?.success() {
            return Err("the index could not be created".into());
        }
        let texts: Vec<String> = (0..20).map(|_| words.text(TOKENS, &mut rng)).collect();
        let mut service = Running::start(&self.cento, &path, &[])?;
        let client = Client::new(&service.url, None)?;
        for (number, text) in texts.iter().enumerate() {
            client.add_watch(&request(number, text.clone()))?;
        }
        drop(client);
        service.kill()?;
        let (mut acknowledged, mut sent, mut kills) = (0, 0, 0);
        while acknowledged < self.commits {
            let mut service = Running::start(&self.cento, &path, &[])?;
            let url = service.url.clone();
            let until = Instant::now() + Duration::from_millis(rng.u64(..milliseconds));
            std::thread::scope(|scope| -> Result {
                let mut own = rng.fork();
                let (words, texts, sent) = (&words, &texts, &mut sent);
                let adding = scope.spawn(move || {
                    let Ok(client) = Client::new(&url, None) else { return 0 };
                    let mut acknowledged = 0;
                    loop {
                        let copied = &texts[own.usize(..texts.len())];
                        let copied = copied.get(..own.usize(..copied.len())).unwrap_or("");
                        let text = format!("{} {copied}", words.text(50, &mut own));
                        *sent += 1;
                        let id = format!("d{sent}");
                        let body =
                            DocumentBody { id, text, meta: Default::default(), id_place: None };
                        match client.add(&body, Commit::Wait) {
                            Ok(_) => acknowledged += 1,
                            Err(_) => return acknowledged,
                        }
                    }
                });
                std::thread::sleep(until.saturating_duration_since(Instant::now()));
                service.kill()?;
                acknowledged += adding.join().map_err(|_| "a client panicked")?;
                Ok(())
            })?;
            kills += 1;
        }
        let index = Index::open(&path)?;
        let mut open = Open::open(&index)?;
        open.match_commits(Stop::NEVER)?;
        let found = open.reader().events(0, None, usize::MAX)?;
        if found.more || found.missed {
            return Err("the events are not all there".into());
        }
        let mut events: BTreeMap<(String, String), u64> = BTreeMap::new();
        for event in found.events {
            *events.entry((event.watch, event.hit.id)).or_default() += 1;
        }
        if let Some((pair, times)) = events.iter().find(|(_, times)| **times != 1) {
            return Err(format!("{pair:?} has {times} events").into());
        }
        let searcher = Searcher::new(index.snapshot()?);
        let mut expected = BTreeMap::new();
        for (number, text) in texts.iter().enumerate() {
            let query = Query::text(text.as_str()).min_passage(12u32).limit(usize::MAX);
            for hit in searcher.search(&query)?.hits {
                expected.insert((format!("watch-{number}"), hit.id), 1);
            }
        }
        if events != expected {
            let one = events.keys().find(|pair| !expected.contains_key(*pair));
            let other = expected.keys().find(|pair| !events.contains_key(*pair));
            return Err(format!("events differ from searches: {one:?}, {other:?}").into());
        }
        println!(
            "{} documents, {acknowledged} acknowledged commits, {kills} kills: {} events, each of \
             a search once",
            searcher.snapshot().documents(),
            events.len(),
        );
        Ok(())
    }
}
