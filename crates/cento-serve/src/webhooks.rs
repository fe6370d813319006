//! Posts events to the receivers of watches.
//!
//! The events of a watch are posted in order, a few at a time. The next events follow only after
//! the receiver has accepted them. Accepted cursors are recorded beside the events within a second,
//! so after a crash events may be posted again (at least once). A failing receiver is tried again
//! after a time that doubles up to an hour, and delays no other receiver.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use sha2::Sha256;

use super::matching::Matching;
use cento::runtime::replace;
use cento::{Error, Result, Stop};
use cento_api::{Refusal, WatchEvent, Webhook};
use cento_collections::watch::WatchReader;

/// Sends posts to receivers.
pub trait Poster: Send + Sync {
    /// Refuses an address that must not receive posts.
    ///
    /// # Errors
    /// The reason, as a clause.
    fn check(&self, url: &str) -> std::result::Result<(), Refusal>;

    /// Posts JSON with an additional header, and returns the status. Must follow no redirect and
    /// must take a bounded time, whatever the receiver does.
    ///
    /// # Errors
    /// The reason, as a clause.
    fn post(
        &self,
        url: &str,
        header: &str,
        value: &str,
        body: &[u8],
    ) -> std::result::Result<u16, String>;
}

/// The header with the time and the signature of a post.
const SIGNATURE: &str = "Cento-Signature";

/// The file with the cursors of accepted events, by name of the watch.
const DELIVERED: &str = ".watches/delivered.json";

/// The maximum number of events to read from the log at a time.
const EVENTS_LOOKED_AT: usize = 1000;

/// The maximum number of events in a post.
const EVENTS_MAX: usize = 100;

/// The maximum number of posts at a time.
const POSTS_MAX: usize = 64;

/// The maximum number of posts to a host at a time, so that a hanging host takes no further places,
/// whatever its number of watches.
const POSTS_OF_HOST_MAX: usize = 8;

/// The maximum number of posts to failing receivers at a time, so that good receivers get places.
const POSTS_AGAIN_MAX: usize = POSTS_MAX / 2;

/// The maximum time between two checks for due posts, and the minimum time between two records of
/// accepted cursors.
const TICK: Duration = Duration::from_secs(1);

/// Returns the scheme and the host of a URL. The remaining URL often is a secret.
pub fn origin_of(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}")
}

/// The body of a post.
#[derive(Serialize)]
struct Post<'a> {
    watch: &'a str,
    events: &'a [WatchEvent],
}

/// The progress of a receiver.
#[derive(Debug, Clone, Copy)]
struct Delivery {
    /// The cursor of the last accepted event.
    accepted: u64,
    /// The cursor of the last event to deliver.
    last: u64,
    failures: u32,
    /// When to try again.
    due: Instant,
    is_running: bool,
}

/// The thread of the posts.
pub struct Webhooks {
    thread: JoinHandle<()>,
    stop: Stop,
}

struct Dispatcher {
    matching: Arc<Matching>,
    poster: Arc<dyn Poster>,
    file: PathBuf,
    deliveries: Mutex<HashMap<String, Delivery>>,
    backoff: WebhookBackoff,
    stop: Stop,
    /// The thread to wake for new events.
    thread: OnceLock<Thread>,
}

impl Delivery {
    fn new() -> Delivery {
        Delivery { accepted: 0, last: 0, failures: 0, due: Instant::now(), is_running: false }
    }
}

impl Webhooks {
    /// Starts the thread for the index in the directory `dir`. The first retry of a failed post
    /// comes after `backoff.first`, and the time doubles up to `backoff.longest`.
    ///
    /// # Errors
    /// When the thread cannot be started, or the record of accepted events cannot be read.
    pub fn start(
        dir: &std::path::Path,
        matching: Arc<Matching>,
        poster: Arc<dyn Poster>,
        backoff: WebhookBackoff,
    ) -> Result<Webhooks> {
        let file = dir.join(DELIVERED);
        let accepted: BTreeMap<String, u64> = match std::fs::read(&file) {
            Ok(json) => serde_json::from_slice(&json)
                .map_err(|e| Error::io("read", &file, std::io::Error::other(e)))?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(e) => return Err(Error::io("read", &file, e)),
        };
        // The log may have begun anew, with smaller cursors than the record.
        let last = matching.reader().map_or(u64::MAX, |reader| reader.log().next() - 1);
        let begun = |accepted: u64| {
            let accepted = accepted.min(last);
            Delivery { accepted, last: accepted, ..Delivery::new() }
        };
        let deliveries = accepted.into_iter().map(|(name, cursor)| (name, begun(cursor)));
        let stop = Stop::new();
        let dispatcher = Arc::new(Dispatcher {
            deliveries: Mutex::new(deliveries.collect()),
            matching,
            poster,
            file,
            backoff,
            stop: stop.clone(),
            thread: OnceLock::new(),
        });
        let own = dispatcher.clone();
        let thread = std::thread::Builder::new().name("webhooks".into()).spawn(move || own.run());
        let thread = thread.map_err(|e| Error::io("start", "the thread of webhooks", e))?;
        let _ = dispatcher.thread.set(thread.thread().clone());
        let waked = thread.thread().clone();
        dispatcher.matching.tell(move || waked.unpark());
        Ok(Webhooks { thread, stop })
    }

    /// Ends the thread. Posts on their way may end later, and are then posted again.
    pub fn join(self) {
        self.stop.set();
        self.thread.thread().unpark();
        // The thread has reported a panic already.
        let _ = self.thread.join();
    }
}

impl Dispatcher {
    fn run(self: Arc<Self>) {
        let (mut recorded, mut due) = (BTreeMap::new(), Instant::now());
        let mut seen = 0;
        while !self.stop.is_set() {
            if let Some(reader) = self.matching.reader() {
                let looked = Error::catch("webhooks", || self.look(&reader, &mut seen));
                if let Err(error) = looked {
                    tracing::error!(%error, "events cannot be posted at present");
                }
            }
            if due <= Instant::now() {
                self.record(&mut recorded);
                due = Instant::now() + TICK;
            }
            std::thread::park_timeout(self.pause());
        }
        self.record(&mut recorded);
    }

    /// Starts the due posts. Events up to `seen` are known already.
    fn look(self: &Arc<Self>, reader: &WatchReader, seen: &mut u64) -> Result<()> {
        let mut is_more = true;
        while is_more && !self.stop.is_set() {
            let found = reader.log().read(*seen, None, EVENTS_LOOKED_AT, Stop::NEVER)?;
            let mut deliveries = self.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
            for event in found.events {
                if reader.webhook(&event.watch).is_some() {
                    let delivery = deliveries.entry(event.watch).or_insert_with(Delivery::new);
                    delivery.last = delivery.last.max(event.cursor);
                }
            }
            (*seen, is_more) = (found.next, found.more);
        }
        let now = Instant::now();
        let mut due = Vec::new();
        let mut deliveries = self.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
        let running = |is_again: bool| {
            let running = deliveries.values().filter(|delivery| delivery.is_running);
            running.filter(|delivery| (delivery.failures > 0) == is_again).count()
        };
        let mut of_hosts: HashMap<String, usize> = HashMap::new();
        let running_to = deliveries.iter().filter(|(_, delivery)| delivery.is_running);
        for webhook in running_to.filter_map(|(name, _)| reader.webhook(name)) {
            *of_hosts.entry(origin_of(&webhook.url)).or_default() += 1;
        }
        let mut free_again = POSTS_AGAIN_MAX.saturating_sub(running(true));
        let mut free = POSTS_MAX.saturating_sub(running(true) + running(false));
        let is_due = |delivery: &Delivery| {
            delivery.accepted < delivery.last && delivery.due <= now && !delivery.is_running
        };
        let mut waiting: Vec<(&String, &mut Delivery)> =
            deliveries.iter_mut().filter(|(_, delivery)| is_due(delivery)).collect();
        waiting.sort_by_key(|(_, delivery)| (delivery.failures > 0, delivery.due));
        for (name, delivery) in waiting {
            let is_again = delivery.failures > 0;
            if free == 0 || (is_again && free_again == 0) {
                break;
            }
            let Some(webhook) = reader.webhook(name) else { continue };
            let of_host = of_hosts.entry(origin_of(&webhook.url)).or_default();
            if *of_host == POSTS_OF_HOST_MAX {
                continue;
            }
            *of_host += 1;
            delivery.is_running = true;
            free -= 1;
            free_again -= usize::from(is_again);
            due.push((name.clone(), webhook, delivery.accepted));
        }
        drop(deliveries);
        for (name, webhook, accepted) in due {
            let (own, reader) = (self.clone(), reader.clone());
            let post = move || {
                let posted =
                    Error::catch("a post", || own.post(&reader, &name, &webhook, accepted));
                own.posted(&name, posted);
            };
            let started = std::thread::Builder::new().name("webhook".into()).spawn(post);
            started.map_err(|e| Error::io("start", "the thread of a post", e))?;
        }
        Ok(())
    }

    /// Returns the time until a failed post is due, at most a tick.
    fn pause(&self) -> Duration {
        let deliveries = self.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let waiting = deliveries.values().filter(|one| !one.is_running && one.due > now);
        waiting.map(|one| one.due - now).min().map_or(TICK, |time| time.min(TICK))
    }

    /// Posts the next events of a watch. Returns the last accepted cursor.
    fn post(
        &self,
        reader: &WatchReader,
        name: &str,
        webhook: &Webhook,
        accepted: u64,
    ) -> Result<std::result::Result<u64, String>> {
        if reader.get(name).is_none() {
            return Ok(Ok(accepted));
        }
        let found = reader.events(accepted, Some(name), EVENTS_MAX, Stop::NEVER)?;
        if found.missed && accepted > 0 {
            tracing::warn!(watch = name, "events were not posted before they were forgotten");
        }
        if found.events.is_empty() {
            return Ok(Ok(found.next));
        }
        let post = Post { watch: name, events: &found.events };
        let body = serde_json::to_vec(&post).expect("events are JSON");
        // The values may take a hundred times the bytes of the JSON, and many posts run at a time.
        let next = found.next;
        drop(found);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
        let signature = signature(webhook.secret.as_bytes(), time, &body);
        let posted = self.poster.post(&webhook.url, SIGNATURE, &signature, &body);
        Ok(match posted {
            Ok(200..=299) => Ok(next),
            Ok(status) => Err(format!("it answered with status {status}")),
            Err(why) => Err(why),
        })
    }

    /// Records the result of a post, and wakes the thread for the next post.
    fn posted(&self, name: &str, posted: Result<std::result::Result<u64, String>>) {
        self.note(name, posted);
        self.thread.get().inspect(|thread| thread.unpark());
    }

    fn note(&self, name: &str, posted: Result<std::result::Result<u64, String>>) {
        let mut deliveries = self.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(delivery) = deliveries.get_mut(name) else { return };
        delivery.is_running = false;
        let why = match posted {
            Ok(Ok(accepted)) => {
                if delivery.failures > 0 {
                    tracing::info!(watch = name, "events are posted again");
                }
                (delivery.accepted, delivery.failures) = (accepted, 0);
                delivery.due = Instant::now();
                return;
            }
            Ok(Err(why)) => why,
            Err(error) => error.to_string(),
        };
        if delivery.failures == 0 {
            tracing::warn!(watch = name, why, "events could not be posted; it is tried again");
        }
        delivery.due = Instant::now() + self.backoff.after(delivery.failures);
        delivery.failures = delivery.failures.saturating_add(1);
    }

    /// Records changed cursors, and forgets removed watches.
    fn record(&self, recorded: &mut BTreeMap<String, u64>) {
        let Some(reader) = self.matching.reader() else { return };
        let mut deliveries = self.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
        deliveries.retain(|name, delivery| delivery.is_running || reader.get(name).is_some());
        let accepted = deliveries.iter().map(|(name, one)| (name.clone(), one.accepted));
        let accepted: BTreeMap<String, u64> = accepted.collect();
        drop(deliveries);
        if accepted == *recorded {
            return;
        }
        let json = serde_json::to_vec(&accepted).expect("numbers are JSON");
        match replace::file(&self.file, &json) {
            Ok(()) => *recorded = accepted,
            Err(error) => {
                tracing::error!(%error, "cannot record which events were posted; they may be \
                                         posted again");
            }
        }
    }
}

/// How long to wait before a failed post is repeated.
#[derive(Debug, Clone, Copy)]
pub struct WebhookBackoff {
    /// The wait after the first failure. Each further failure doubles the wait.
    pub first: Duration,
    /// No wait is longer, however many failures there were.
    pub longest: Duration,
}

impl WebhookBackoff {
    /// Returns the time before the next attempt after this number of failures.
    fn after(self, failures: u32) -> Duration {
        self.first.saturating_mul(1 << failures.min(12)).min(self.longest)
    }
}

/// Returns the header of a post: the time, and HMAC-SHA256 of the time, a period and the body.
fn signature(secret: &[u8], time: u64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key of any length is one");
    mac.update(format!("{time}.").as_bytes());
    mac.update(body);
    let bytes = mac.finalize().into_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={time},v1={hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_other_programs() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef
        let expected =
            "t=1700000000,v1=9eb18f493f8ec135d9eb2dad817c369bb4e9cbfa818657897a7437c1cd8c3a23";
        assert_eq!(signature(b"0123456789abcdef", 1_700_000_000, b"{\"a\":1}"), expected);
    }

    #[test]
    fn attempts_come_later_and_later_and_at_least_every_hour() {
        let backoff = crate::Settings::default().webhook_backoff;
        let seconds: Vec<u64> = [0, 1, 2, 11, 12, 40].map(|n| backoff.after(n).as_secs()).to_vec();
        assert_eq!(seconds, [1, 2, 4, 2048, 3600, 3600]);
    }
}
