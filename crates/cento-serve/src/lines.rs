//! Answers of many lines, sent while they are computed.
//!
//! An answer begins with its first lines, so an error before them is an ordinary refusal. After a
//! later error the connection is closed before the end of the answer, which clients notice.
//!
//! A computation pauses while a few parts wait for its client, so a slow reader delays only the
//! reader's own computation. A paused computation gives its turn away. The time limit of requests
//! applies, without the time of waiting for the client.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::app::{App, StopOnDrop};
use crate::failure::Failure;
use crate::priority;
use crate::turns::{Client, Job};
use cento::{Error, Result, Stop};

/// The number of bytes of lines to send together.
const PART_BYTES: usize = 64 << 10;

/// The maximum number of parts waiting for the client.
const PARTS_WAITING: usize = 4;

/// Writes the lines of an answer.
pub struct Lines {
    buffer: Vec<u8>,
    parts: mpsc::Sender<Result<Bytes>>,
    job: Job,
    stop: Stop,
    waited: WaitedTime,
}

/// The time in microseconds that a computation has waited for the client and for its turn.
#[derive(Clone, Default)]
struct WaitedTime(Arc<AtomicU64>);

impl WaitedTime {
    fn add(&self, time: Duration) {
        self.0.fetch_add(time.as_micros() as u64, Ordering::Relaxed);
    }

    fn time(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }
}

impl Lines {
    /// Adds a value as a line of JSON.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when the client has gone.
    pub fn write(&mut self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.buffer, value).expect("memory takes every byte");
        self.buffer.push(b'\n');
        if self.buffer.len() >= PART_BYTES { self.send() } else { Ok(()) }
    }

    /// Sends the remaining lines.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when the client has gone.
    pub fn finish(mut self) -> Result<()> {
        self.send()
    }

    fn send(&mut self) -> Result<()> {
        let part = std::mem::take(&mut self.buffer).into();
        let part = match self.parts.try_send(Ok(part)) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Closed(_)) => return Err(Error::Cancelled),
            Err(TrySendError::Full(part)) => part,
        };
        self.job.give_away();
        let since = Instant::now();
        self.parts.blocking_send(part).map_err(|_| Error::Cancelled)?;
        self.job.wait(&self.stop)?;
        self.waited.add(since.elapsed());
        Ok(())
    }
}

impl App {
    /// Does work about all documents on a separate thread, in turn with other clients, and answers
    /// with the lines of the work. Searches go first. The work ends when the client has gone, the
    /// time is over, or the service stops.
    pub async fn lines(
        &self,
        client: Client,
        job: impl FnOnce(Stop, Lines) -> Result<()> + Send + 'static,
    ) -> std::result::Result<Response, Failure> {
        let mut turn = self.collections.enter(client)?;
        let (unwanted, waited) = (StopOnDrop(Stop::new()), WaitedTime::default());
        let stop = self.until_the_time_is_over(&unwanted, waited.clone());
        let (metrics, computing) = (self.metrics.clone(), self.metrics.computing());
        let (parts, mut sent) = mpsc::channel(PARTS_WAITING);
        let work = move || {
            priority::give_way();
            let _computing = computing;
            let done = Error::catch("an answer of lines", || {
                turn.wait(&stop)?;
                let parts = parts.clone();
                let lines =
                    Lines { buffer: Vec::new(), parts, job: turn, stop: stop.clone(), waited };
                job(stop, lines)
            });
            if let Err(error) = done {
                if matches!(error, Error::Cancelled) {
                    metrics.stopped_computations.inc();
                }
                // Sending fails if the client has gone, which is no error.
                let _ = parts.blocking_send(Err(error));
            }
        };
        let started = std::thread::Builder::new().name("cento-collection".into()).spawn(work);
        started.map_err(|e| Failure::from(&Error::io("start", "a thread", e)))?;
        let first = match sent.recv().await {
            Some(Err(Error::Cancelled)) if self.stopping.is_set() => {
                return Err(Failure::stopping());
            }
            Some(part) => part?,
            None => return Err(Failure::internal()),
        };
        let rest =
            stream::unfold((Some(first), sent, unwanted), |(first, mut sent, unwanted)| async {
                let part = match first {
                    Some(first) => Ok(first),
                    None => sent.recv().await?.map_err(io::Error::other),
                };
                Some((part, (None, sent, unwanted)))
            });
        let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
        Ok((kind, Body::from_stream(rest)).into_response())
    }

    /// Returns a stop that is set when the client has gone, the service stops, or the time limit is
    /// over. Time of waiting for the client does not count.
    fn until_the_time_is_over(&self, unwanted: &StopOnDrop, waited: WaitedTime) -> Stop {
        let (unwanted, stopping) = (unwanted.0.clone(), self.stopping.clone());
        let (since, timeout) = (Instant::now(), self.settings.timeout);
        Stop::when(move || {
            unwanted.is_set() || stopping.is_set() || since.elapsed() > timeout + waited.time()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::{COLLECTIONS, Turns};

    fn lines(parts: mpsc::Sender<Result<Bytes>>, turns: &Arc<Turns>) -> Lines {
        let mut job = turns.enter(Client::Unknown).unwrap();
        job.wait(Stop::NEVER).unwrap();
        let (stop, waited) = (Stop::new(), WaitedTime::default());
        Lines { buffer: Vec::new(), parts, job, stop, waited }
    }

    #[test]
    fn a_computation_that_waits_for_its_client_gives_its_turn_away() {
        let turns = Turns::new(COLLECTIONS, 1);
        let (parts, mut sent) = mpsc::channel(1);
        let mut lines = lines(parts, &turns);
        let waited = lines.waited.clone();
        let long = "x".repeat(PART_BYTES);
        let job = std::thread::spawn(move || {
            lines.write(&long)?;
            lines.write(&long)?;
            lines.write(&1)?;
            lines.finish()
        });
        // The second part waits for the client. Meanwhile another computation gets the turn.
        let mut other = turns.enter(Client::Unknown).unwrap();
        other.wait(Stop::NEVER).unwrap();
        let mut bytes = Vec::new();
        for _ in 0..2 {
            bytes.extend(sent.blocking_recv().unwrap().unwrap());
        }
        assert!(!job.is_finished());
        drop(other);
        while let Some(part) = sent.blocking_recv() {
            bytes.extend(part.unwrap());
        }
        job.join().unwrap().unwrap();
        assert!(waited.time() > Duration::ZERO);
        let long = format!("\"{}\"", "x".repeat(PART_BYTES));
        assert_eq!(String::from_utf8(bytes).unwrap(), format!("{long}\n{long}\n1\n"));
    }

    #[test]
    fn a_client_that_has_gone_ends_the_computation() {
        let turns = Turns::new(COLLECTIONS, 1);
        let (parts, sent) = mpsc::channel(1);
        let mut lines = lines(parts, &turns);
        drop(sent);
        lines.write(&1).unwrap();
        assert!(matches!(lines.finish(), Err(Error::Cancelled)));
        turns.enter(Client::Unknown).unwrap().wait(Stop::NEVER).unwrap();
    }
}
