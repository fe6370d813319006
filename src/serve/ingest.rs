//! How do documents get from a request to the writer?
//!
//! A few threads parse and sign; the writer's thread takes what they made. All of them give way to
//! threads that search. Bytes on their way are bounded by whoever hands in requests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use axum::body::Bytes;
use crossbeam::channel::{Receiver, Sender, bounded};
use tokio::sync::OwnedSemaphorePermit;

use super::failure::Failure;
use super::metrics::Metrics;
use super::priority;
use super::writer::kept::Received;
use super::writer::{Command, Reply};
use crate::api::{AddResponse, Commit, RecordError};
use crate::error::Error;
use crate::fault::Point;
use crate::index::pipeline::{Signed, document_place};
use crate::index::{AddReport, Index};
use crate::source::{Document, SourceOptions, for_each_record, parse_record};

/// Of the records that are no documents, so many are told.
pub const ERRORS_MAX: usize = 100;

/// Documents as they came in.
pub struct Unsigned {
    /// The body of the request.
    pub body: Bytes,
    /// Whether the body is JSON lines; one document if not.
    pub is_lines: bool,
    /// When they are to be seen.
    pub commit: Commit,
    /// Their place in the queue.
    pub room: Room,
    /// Who waits.
    pub reply: Reply<AddResponse>,
}

/// The room that documents take on their way, until the writer has them; also when nobody waits for
/// the answer any more.
pub struct Room {
    bytes: i64,
    metrics: Arc<Metrics>,
    _permit: OwnedSemaphorePermit,
}

impl Room {
    /// For a body of so many bytes, which `permit` let in.
    pub fn new(permit: OwnedSemaphorePermit, bytes: usize, metrics: Arc<Metrics>) -> Room {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        metrics.queue_requests.inc();
        metrics.queue_bytes.inc_by(bytes);
        Room { bytes, metrics, _permit: permit }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.metrics.queue_requests.dec();
        self.metrics.queue_bytes.dec_by(self.bytes);
    }
}

/// The threads that sign.
pub struct Signers {
    threads: Vec<JoinHandle<()>>,
}

impl Signers {
    /// Starts so many threads, which hand on what they make to `commands`, and end when nobody can hand
    /// in requests any more.
    pub fn start(
        threads: usize,
        index: &Index,
        commands: &Sender<Command>,
    ) -> (Signers, Sender<Unsigned>) {
        let (sender, receiver) = bounded(QUEUE_REQUESTS_MAX);
        let start = |_| {
            let (index, commands, receiver) = (index.clone(), commands.clone(), receiver.clone());
            std::thread::spawn(move || {
                priority::give_way();
                sign_all(&index, &receiver, &commands);
            })
        };
        (Signers { threads: (0..threads.max(1)).map(start).collect() }, sender)
    }

    /// Waits until all is signed.
    pub fn join(self) {
        for thread in self.threads {
            // A panic has been answered where it happened.
            let _ = thread.join();
        }
    }
}

/// So many requests with documents wait; further ones are turned away.
const QUEUE_REQUESTS_MAX: usize = 256;

fn sign_all(index: &Index, requests: &Receiver<Unsigned>, commands: &Sender<Command>) {
    for Unsigned { body, is_lines, commit, room, reply } in requests {
        let started = Instant::now();
        let signed = catch_unwind(AssertUnwindSafe(|| sign(index, &body, is_lines)));
        let signed = signed.unwrap_or_else(|_| {
            tracing::error!("a request brought out a defect; please report it");
            Err(Failure::internal())
        });
        drop(body);
        match signed {
            Ok((documents, response)) => {
                let command = Command::Add { documents, response, commit, started, room, reply };
                // When nobody writes any more the reply is dropped with it, which tells who waits.
                let _ = commands.send(command);
            }
            Err(failure) => reply.send(Err(failure)),
        }
    }
}

/// What is wrong with a record, without its place, which is told apart.
fn unplaced(error: Error) -> Failure {
    match error {
        Error::Input { what, .. } => Failure::bad_request(what),
        error => Failure::from(error),
    }
}

/// The documents of a request, and a report of what are none.
fn sign(
    index: &Index,
    body: &[u8],
    is_lines: bool,
) -> Result<(Vec<Received>, AddResponse), Failure> {
    let options = SourceOptions {
        requires_id: true,
        record_bytes_max: usize::MAX,
        ..SourceOptions::default()
    };
    let faults = index.faults();
    // A defect that one document brings out must not take the others with it.
    let sign = |document: Document| {
        let id = document.id.clone();
        let signed = Error::catch(&document_place(&document), || {
            faults.at(Point::Sign, &id).map_err(|e| Error::io("sign", &id, e))?;
            Signed::new(document, index.config())
        });
        signed.map_err(|error| match error {
            Error::Internal { .. } => {
                tracing::error!(%error, "a document brings out a defect");
                Failure::poisonous(&id)
            }
            error if is_lines => unplaced(error),
            error => Failure::from(error),
        })
    };
    if !is_lines {
        let signed = parse_record(body, &options).map_err(Failure::from).and_then(sign)?;
        let bytes = signed.document.text.len() as u64;
        let empty = u64::from(signed.token_count == 0);
        let report = AddReport { bytes, empty, ..AddReport::default() };
        let documents = vec![Received { line: None, signed }];
        return Ok((documents, AddResponse { report, ..AddResponse::default() }));
    }
    let mut documents = Vec::new();
    let mut response = AddResponse::default();
    let place = |line| format!("line {line}");
    for_each_record(body, 1, &options, &place, &mut |line, document| match document
        .map_err(unplaced)
        .and_then(sign)
    {
        Ok(signed) => {
            response.report.bytes += signed.document.text.len() as u64;
            response.report.empty += u64::from(signed.token_count == 0);
            documents.push(Received { line: Some(line), signed });
        }
        Err(Failure { message, .. }) => {
            response.report.failed += 1;
            if response.errors.len() < ERRORS_MAX {
                response.errors.push(RecordError { line, message });
            }
        }
    });
    Ok((documents, response))
}
