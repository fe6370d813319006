//! Tests that a killed service keeps all acknowledged commits.
//!
//! Several clients add documents in bulk until the service is killed at a random moment. The index
//! is then checked and compared with the acknowledged documents, and the service starts again.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use cento::index::Index;
use cento_client::Client;
use cento_client::api::{Commit, DocumentBody};
use clap::Args;
use fastrand::Rng;

use crate::Result;
use crate::service::Running;

/// Kill a service in the middle of bulk additions, again and again.
#[derive(Debug, Args)]
pub struct Kills {
    /// A directory for the index, which is made anew.
    #[arg(long)]
    work: PathBuf,
    /// Path of the cento program to test.
    #[arg(long, default_value = "target/release/cento")]
    cento: PathBuf,
    /// How often the service is killed.
    #[arg(long, default_value = "50")]
    times: u64,
    /// Clients that add at a time.
    #[arg(long, default_value = "3")]
    clients: u64,
    /// The service is killed within this many milliseconds.
    #[arg(long, default_value = "1500")]
    within: u64,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

const BATCH: u64 = 200;

impl Kills {
    pub(crate) fn run(self) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        let index = self.work.join("kills.idx");
        if index.exists() {
            std::fs::remove_dir_all(&index)?;
        }
        std::fs::create_dir_all(&self.work)?;
        if !Command::new(&self.cento).arg("create").arg(&index).status()?.success() {
            return Err("the index could not be created".into());
        }
        let (mut committed, mut unacknowledged) = (BTreeSet::new(), 0);
        for round in 0..self.times {
            let mut service = Running::start(&self.cento, &index, &["--commit-interval", "50ms"])?;
            let acknowledged = Mutex::new(Vec::new());
            let url = service.url.clone();
            std::thread::scope(|scope| -> Result {
                for number in 0..self.clients {
                    let (url, acknowledged) = (&url, &acknowledged);
                    let seed = rng.u64(..);
                    scope.spawn(move || add(url, round, number, seed, acknowledged));
                }
                std::thread::sleep(Duration::from_millis(rng.u64(..self.within)));
                service.kill()
            })?;
            committed.extend(acknowledged.into_inner().map_err(|_| "a client panicked")?);
            let opened = Index::open(&index)?;
            let found = ids(&opened)?;
            if let Some(missing) = committed.difference(&found).next() {
                return Err(format!("round {round}: {missing} was committed and is gone").into());
            }
            let problems = opened.check()?.problems;
            if !problems.is_empty() {
                return Err(format!("round {round}: {problems:?}").into());
            }
            unacknowledged = found.len() - committed.len();
        }
        if committed.is_empty() {
            return Err("nothing was acknowledged before a kill: raise --within".into());
        }
        println!(
            "killed {} times: {} documents were acknowledged as committed, all are there, none \
             twice; {unacknowledged} others are there too; check is clean",
            self.times,
            committed.len()
        );
        Ok(())
    }
}

/// Adds documents until the service stops, and notes the ids whose commit was acknowledged.
fn add(url: &str, round: u64, number: u64, seed: u64, acknowledged: &Mutex<Vec<String>>) {
    let Ok(client) = Client::new(url, None) else { return };
    let mut rng = Rng::with_seed(seed);
    for batch in 0.. {
        let mut lines = String::new();
        let mut ids = Vec::new();
        for i in 0..BATCH {
            // One id in four is used again later, so the new version replaces an earlier version.
            let id = match rng.u8(..4) {
                0 => format!("again-{number}-{}", rng.u64(..500)),
                _ => format!("{round}-{number}-{batch}-{i}"),
            };
            let words = (0..60).map(|_| format!("w{}", rng.u32(..5000)));
            let text = words.collect::<Vec<_>>().join(" ");
            let meta = serde_json::Map::new();
            let document = DocumentBody { id: id.clone(), text, meta, id_place: None };
            lines += &serde_json::to_string(&document).unwrap_or_default();
            lines.push('\n');
            ids.push(id);
        }
        let commit = if rng.bool() { Commit::Wait } else { Commit::Auto };
        match client.add_lines(lines.as_bytes(), commit) {
            Ok(response) if response.committed => {
                if let Ok(mut acknowledged) = acknowledged.lock() {
                    acknowledged.extend(ids);
                }
            }
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

/// Returns the ids of all documents, or an error if an id occurs twice.
fn ids(index: &Index) -> Result<BTreeSet<String>> {
    let snapshot = index.snapshot()?;
    let mut ids = BTreeSet::new();
    for address in snapshot.live() {
        if let Some(twice) = ids.replace(snapshot.id(address)?) {
            return Err(format!("{twice} is there twice").into());
        }
    }
    Ok(ids)
}
