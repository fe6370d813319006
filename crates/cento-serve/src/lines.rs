//! Answers of many lines, sent while they are computed.
//!
//! An answer begins once its first lines are there, so an error before them is an ordinary refusal.
//! After an error the connection is closed before the end of the answer, which clients notice. A
//! client that reads slowly slows the computation down: few lines wait for it. Other searches go
//! on, since a computation that waits for its client gives its turn away.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::app::{App, StopOnDrop};
use crate::failure::Failure;
use crate::priority;
use cento::{Error, Result, Stop};

/// Lines are sent when they have this many bytes.
const PART_BYTES: usize = 64 << 10;

/// The number of parts that wait for the client.
const PARTS_WAITING: usize = 4;

/// The lines of an answer.
pub struct Lines {
    buffer: Vec<u8>,
    parts: mpsc::Sender<Result<Bytes>>,
    running: Arc<Semaphore>,
    turn: Option<OwnedSemaphorePermit>,
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

    /// Sends the rest.
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
        self.turn = None;
        self.parts.blocking_send(part).map_err(|_| Error::Cancelled)?;
        let turn = Handle::current().block_on(self.running.clone().acquire_owned());
        self.turn = Some(turn.map_err(|_| Error::Cancelled)?);
        Ok(())
    }
}

impl App {
    /// Runs slow work like [`run`](Self::run), and answers with the lines that it writes.
    pub async fn lines(
        &self,
        job: impl FnOnce(Stop, Lines) -> Result<()> + Send + 'static,
    ) -> std::result::Result<Response, Failure> {
        let _place = self.place()?;
        let turn = self.turn().await?;
        let running = self.running.clone();
        let stop = StopOnDrop(Stop::new());
        let is_unwanted = stop.0.clone();
        let (metrics, computing) = (self.metrics.clone(), self.metrics.computing());
        let (parts, mut sent) = mpsc::channel(PARTS_WAITING);
        tokio::task::spawn_blocking(move || {
            priority::let_quick_ones_go_first();
            let _computing = computing;
            let lines =
                Lines { buffer: Vec::new(), parts: parts.clone(), running, turn: Some(turn) };
            if let Err(error) = Error::catch("an answer of lines", || job(is_unwanted, lines)) {
                if matches!(error, Error::Cancelled) {
                    metrics.stopped_computations.inc();
                }
                // A client that has gone reads no error.
                let _ = parts.blocking_send(Err(error));
            }
        });
        let first = match sent.recv().await {
            Some(part) => part?,
            // Only a stopping service ends a computation before its first lines.
            None => return Err(Failure::internal()),
        };
        let rest = stream::unfold((Some(first), sent, stop), |(first, mut sent, stop)| async {
            let part = match first {
                Some(first) => Ok(first),
                None => sent.recv().await?.map_err(io::Error::other),
            };
            Some((part, (None, sent, stop)))
        });
        let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
        Ok((kind, Body::from_stream(rest)).into_response())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(parts: mpsc::Sender<Result<Bytes>>, running: &Arc<Semaphore>) -> Lines {
        let turn = running.clone().try_acquire_owned().ok();
        assert!(turn.is_some());
        Lines { buffer: Vec::new(), parts, running: running.clone(), turn }
    }

    #[tokio::test]
    async fn a_computation_that_waits_for_its_client_gives_its_turn_away() {
        let running = Arc::new(Semaphore::new(1));
        let (parts, mut sent) = mpsc::channel(1);
        let mut lines = lines(parts, &running);
        let long = "x".repeat(PART_BYTES);
        let job = tokio::task::spawn_blocking(move || {
            lines.write(&long)?;
            lines.write(&long)?;
            lines.write(&1)?;
            lines.finish()
        });
        // The second part waits, so that another computation has its turn.
        let other = running.acquire().await.unwrap();
        let mut bytes = Vec::new();
        for _ in 0..2 {
            bytes.extend(sent.recv().await.unwrap().unwrap());
        }
        assert!(!job.is_finished());
        drop(other);
        while let Some(part) = sent.recv().await {
            bytes.extend(part.unwrap());
        }
        job.await.unwrap().unwrap();
        assert_eq!(running.available_permits(), 1);
        let long = format!("\"{}\"", "x".repeat(PART_BYTES));
        assert_eq!(String::from_utf8(bytes).unwrap(), format!("{long}\n{long}\n1\n"));
    }

    #[tokio::test]
    async fn a_client_that_has_gone_ends_the_computation() {
        let running = Arc::new(Semaphore::new(1));
        let (parts, sent) = mpsc::channel(1);
        let mut lines = lines(parts, &running);
        drop(sent);
        lines.write(&1).unwrap();
        assert!(matches!(lines.finish(), Err(Error::Cancelled)));
        assert_eq!(running.available_permits(), 1);
    }
}
