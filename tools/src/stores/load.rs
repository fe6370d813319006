//! Checks the answers of followers while a writer commits and compacts.
//!
//! Some documents share a text, and every commit replaces all of these documents with a new
//! generation. An answer with two generations mixes commits. The remaining documents never change,
//! and neither do the answers about them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cento::search::SearchOptions;
use cento_client::Client;
use cento_client::api::SearchRequest;
use fastrand::Rng;

use super::Stores;
use crate::Result;
use crate::service::Running;

const REPLACED: u64 = 8;
const STAYING: u64 = 2000;
const CLIENTS: u64 = 2;
/// The upper limits of the classes of the histogram, in milliseconds.
const CLASSES: [u64; 10] = [50, 100, 200, 300, 500, 750, 1000, 2000, 5000, 10_000];

#[derive(Default)]
struct Counts {
    answers: AtomicU64,
    failed: AtomicU64,
    mixed: AtomicU64,
    wrong: AtomicU64,
    first: Mutex<Option<String>>,
}

impl Counts {
    fn note(&self, count: &AtomicU64, what: String) {
        count.fetch_add(1, Ordering::Relaxed);
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(what);
    }
}

fn words(seed: u64, count: u64) -> String {
    let words: Vec<String> = (0..count).map(|word| format!("s{seed}w{word}")).collect();
    words.join(" ")
}

fn staying(number: u64) -> String {
    words(1_000_000 + number, 200)
}

/// Returns the common text of the documents of a generation.
fn shared() -> String {
    words(7, 60)
}

fn line(id: &str, text: &str, generation: u64) -> String {
    let meta = serde_json::json!({"generation": generation});
    format!("{}\n", serde_json::json!({"id": id, "text": text, "meta": meta}))
}

impl Stores {
    pub(super) fn load(&self) -> Result {
        let base = (0..STAYING).map(|number| line(&format!("stays{number}"), &staying(number), 0));
        std::fs::write(self.work.join("base.jsonl"), base.collect::<String>())?;
        self.must(&["add", "all", "base.jsonl"])?;
        self.replace(1)?;
        self.must(&["store", "push", "all", &self.url])?;
        let interval = format!("{}ms", self.interval_ms);
        let args = ["--follow", &self.url, "--follow-interval", &interval, "--log", "json"];
        let followers = (0..self.followers)
            .map(|number| {
                Running::start(&self.cento, &self.work.join(format!("copy{number}")), &args)
            })
            .collect::<Result<Vec<Running>>>()?;
        let (is_done, counts) = (AtomicBool::new(false), Counts::default());
        let (mut pushed, mut seen) = (BTreeMap::new(), Vec::new());
        std::thread::scope(|scope| -> Result {
            let mut watchers = Vec::new();
            for (number, follower) in (0..).zip(&followers) {
                for client in 0..CLIENTS {
                    let (is_done, counts) = (&is_done, &counts);
                    let seed = self.seed + CLIENTS * number + client;
                    scope.spawn(move || ask(&follower.url, seed, is_done, counts));
                }
                let is_done = &is_done;
                watchers.push(scope.spawn(move || watch(&follower.url, is_done)));
            }
            let written = self.write(&mut pushed);
            // Every follower must reach the last push, or the test fails.
            let last = pushed.keys().next_back().copied().unwrap_or(1);
            let arrived =
                written.and_then(|()| followers.iter().try_for_each(|one| wait(one, last)));
            is_done.store(true, Ordering::Relaxed);
            for watcher in watchers {
                seen.push(watcher.join().map_err(|_| "a watcher panicked")??);
            }
            arrived
        })?;
        report(&counts, &pushed, &seen)
    }

    fn replace(&self, generation: u64) -> Result {
        let documents = (0..REPLACED).map(|number| {
            let text = format!("{} {}", shared(), words(REPLACED * generation + number + 100, 60));
            line(&format!("shared{number}"), &text, generation)
        });
        std::fs::write(self.work.join("next.jsonl"), documents.collect::<String>())?;
        self.must(&["add", "all", "next.jsonl"])
    }

    /// Commits and pushes until the time is over, and compacts the index before every second push.
    fn write(&self, pushed: &mut BTreeMap<u64, Instant>) -> Result {
        let until = Instant::now() + Duration::from_secs(self.seconds);
        for manifest in 2.. {
            let next = Instant::now() + Duration::from_millis(self.every_ms);
            if next > until {
                break;
            }
            self.replace(manifest)?;
            if manifest.is_multiple_of(2) {
                self.must(&["compact", "all"])?;
            }
            self.must(&[
                "store",
                "push",
                "all",
                &self.url,
                "--keep",
                "10",
                "--keep-min-age",
                "1m",
            ])?;
            pushed.insert(manifest, Instant::now());
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        Ok(())
    }
}

fn ask(url: &str, seed: u64, is_done: &AtomicBool, counts: &Counts) {
    let mut rng = Rng::with_seed(seed);
    let client = match Client::new(url, None) {
        Ok(client) => client,
        Err(error) => return counts.note(&counts.failed, error.to_string()),
    };
    let mut last = 0;
    while !is_done.load(Ordering::Relaxed) {
        let is_shared = rng.bool();
        let number = rng.u64(..STAYING);
        let text = if is_shared { shared() } else { staying(number) };
        let request = SearchRequest {
            text: Some(text),
            options: SearchOptions::default().limit(2 * REPLACED as usize),
            ..SearchRequest::default()
        };
        let answer = match client.search(&request) {
            Ok(answer) => answer,
            Err(error) => {
                counts.note(&counts.failed, error.to_string());
                continue;
            }
        };
        counts.answers.fetch_add(1, Ordering::Relaxed);
        if !is_shared {
            let first = answer.hits.first();
            let is_first = first.is_some_and(|hit| {
                hit.id == format!("stays{number}") && hit.similarity.resemblance == 1.0
            });
            // Two of these documents may share a fingerprint by chance.
            let is_right = is_first && answer.hits[1..].iter().all(|hit| hit.overlap == 1);
            if !is_right {
                counts.note(&counts.wrong, format!("stays{number}: {:?}", answer.hits));
            }
            continue;
        }
        let generations: Vec<u64> =
            answer.hits.iter().filter_map(|hit| hit.meta.get("generation")?.as_u64()).collect();
        let now = generations.first().copied().unwrap_or(0);
        if generations.iter().any(|other| *other != now) {
            counts.note(&counts.mixed, format!("{generations:?}"));
        } else if generations.len() as u64 != REPLACED || now < last {
            counts.note(&counts.wrong, format!("{generations:?} came after {last}"));
        }
        last = now;
    }
}

/// Returns the manifests that a follower served, with the times of their first sight.
fn watch(url: &str, is_done: &AtomicBool) -> std::result::Result<Vec<(u64, Instant)>, String> {
    let client = Client::new(url, None).map_err(|e| e.to_string())?;
    let mut seen: Vec<(u64, Instant)> = Vec::new();
    while !is_done.load(Ordering::Relaxed) {
        let health = client.health().map_err(|e| e.to_string())?;
        let manifest = health.following.map_or(0, |following| following.manifest);
        if seen.last().is_none_or(|last| last.0 < manifest) {
            seen.push((manifest, Instant::now()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(seen)
}

fn wait(follower: &Running, manifest: u64) -> Result {
    let client = Client::new(&follower.url, None)?;
    let until = Instant::now() + Duration::from_secs(60);
    while client.health()?.following.is_none_or(|following| following.manifest < manifest) {
        if Instant::now() > until {
            return Err(format!("a follower does not come to manifest {manifest}").into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn report(
    counts: &Counts,
    pushed: &BTreeMap<u64, Instant>,
    seen: &[Vec<(u64, Instant)>],
) -> Result {
    let mut lags: Vec<u64> = Vec::new();
    for (&manifest, &at) in pushed {
        for follower in seen {
            let served = follower.iter().find(|(served, _)| *served >= manifest);
            let served = served.ok_or("a manifest was never served")?.1;
            lags.push(served.saturating_duration_since(at).as_millis() as u64);
        }
    }
    lags.sort_unstable();
    let at =
        |share: f64| lags.get((share * (lags.len() - 1) as f64) as usize).copied().unwrap_or(0);
    let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
    println!(
        "{} pushes, {} followers, {} answers: {} failed, {} mixed two commits, {} were wrong",
        pushed.len(),
        seen.len(),
        count(&counts.answers),
        count(&counts.failed),
        count(&counts.mixed),
        count(&counts.wrong)
    );
    println!("lag behind the push: median {} ms, p99 {} ms, max {} ms", at(0.5), at(0.99), at(1.0));
    println!("\n| lag, ms, up to | switches |\n|---|---|");
    let mut before = 0;
    for class in CLASSES {
        let until = lags.partition_point(|lag| *lag <= class);
        println!("| {class} | {} |", until - before);
        before = until;
    }
    println!("| more | {} |", lags.len() - before);
    let first = counts.first.lock().unwrap_or_else(PoisonError::into_inner);
    first.as_ref().map_or(Ok(()), |what| Err(what.clone().into()))
}
