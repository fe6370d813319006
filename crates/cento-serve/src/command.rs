//! Messages between requests, the threads that sign, and the writer.
//!
//! A request with documents goes to the threads of [`ingest`](crate::ingest) as [`Unsigned`], and
//! from there to the [`writer`](crate::writer) as a [`Command`]; all others go to the writer
//! directly. The answer comes back by a [`Reply`]. Senders and receivers know this module, and not
//! each other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::failure::Failure;
use crate::metrics::Metrics;
use cento::index::{Compaction, SignedDocument};
use cento::runtime::Permit;
use cento::{AddIndexesOptions, AddedIndexes, Result, Stop};
use cento_api::http::{
    AddResponse, Commit, CommitResponse, CompactResponse, ForgetResponse, PatchResponse,
    RemoveResponse, WithdrawRequest, WithdrawResponse,
};

/// An answer names at most this number of records that were not added.
pub const ERRORS_MAX: usize = 100;

/// The way back to a request.
pub struct Reply<T>(oneshot::Sender<std::result::Result<T, Failure>>);

impl<T> Reply<T> {
    /// Returns a reply, and its receiver.
    pub fn new() -> (Reply<T>, oneshot::Receiver<std::result::Result<T, Failure>>) {
        let (sender, receiver) = oneshot::channel();
        (Reply(sender), receiver)
    }

    /// Returns whether the request that waited for it has gone.
    pub fn is_unwanted(&self) -> bool {
        self.0.is_closed()
    }

    /// Sends it, if the request still waits.
    pub fn send(self, result: std::result::Result<T, Failure>) {
        let _ = self.0.send(result);
    }
}

/// Documents that have arrived.
pub struct Unsigned {
    /// The body of the request.
    pub body: Bytes,
    /// Whether the body is JSON lines; one document if not.
    pub is_lines: bool,
    /// When searches should see them.
    pub commit: Commit,
    /// Their place in the queue.
    pub room: QueueReservation,
    /// The channel for the answer.
    pub reply: Reply<AddResponse>,
}

/// A document that was sent, signed.
pub struct Received {
    /// Its line, counted from 1, if it was one of several.
    pub line: Option<u64>,
    /// The document.
    pub signed: SignedDocument,
}

/// A command to the writer.
pub enum Command {
    /// To add documents.
    Add {
        /// The documents.
        documents: Vec<Received>,
        /// The response so far, with the records that were not added.
        response: AddResponse,
        /// When searches should see them.
        commit: Commit,
        /// When their processing began.
        started: Instant,
        /// Their place in the queue.
        room: QueueReservation,
        /// The channel for the answer.
        reply: Reply<AddResponse>,
    },
    /// To remove documents.
    Remove {
        /// Their ids.
        ids: Vec<String>,
        /// When searches should no longer see them.
        commit: Commit,
        /// Their place in the queue.
        room: QueueReservation,
        /// The channel for the answer.
        reply: Reply<RemoveResponse>,
    },
    /// To remove the documents that a filter finds.
    RemoveMatching {
        /// The filter.
        filter: String,
        /// When searches should no longer see them.
        commit: Commit,
        /// Set when the client has gone.
        stop: Stop,
        /// The channel for the answer.
        reply: Reply<RemoveResponse>,
    },
    /// To change the meta object of a document.
    Patch {
        /// The id of the document.
        id: String,
        /// The merge patch.
        patch: Map<String, Value>,
        /// When searches should see it.
        commit: Commit,
        /// Its place in the queue.
        room: QueueReservation,
        /// The channel for the answer.
        reply: Reply<PatchResponse>,
    },
    /// To commit.
    Commit(Reply<CommitResponse>),
    /// To compact.
    Compact {
        /// Into at most this number of segments.
        segments: usize,
        /// The receiver of the answer; at the end, or only at the beginning.
        reply: Reply<CompactResponse>,
        /// Whether it is the end.
        wait: bool,
    },
    /// To take finished indexes into this one.
    Merge {
        /// Their directories.
        shards: Vec<PathBuf>,
        /// The handling of ids that occur twice.
        options: AddIndexesOptions,
        /// The receiver of the answer; a failure names the paths of the shards.
        reply: Reply<Result<AddedIndexes>>,
    },
    /// To log the documents of each later commit, for watches.
    LogChanges(Reply<()>),
    /// To withdraw a document.
    Withdraw {
        /// The document, and what copies and passages of it are.
        request: WithdrawRequest,
        /// Set when the client has gone.
        stop: Stop,
        /// The receiver of the answer.
        reply: Reply<WithdrawResponse>,
    },
    /// To lift the withdrawal of a document.
    Forget {
        /// The id of the document.
        id: String,
        /// The receiver of the answer.
        reply: Reply<ForgetResponse>,
    },
    /// A compaction has ended.
    Compacted(Result<Compaction>),
    /// To commit all changes, and end.
    Stop,
}

/// The room of documents on their way, until the writer has them; kept even after the request has
/// stopped waiting for the answer.
pub struct QueueReservation {
    bytes: i64,
    /// The metrics that count it.
    pub metrics: Arc<Metrics>,
    _permit: Permit,
    /// For signatures that take more than others.
    pub signatures: Option<Permit>,
}

impl QueueReservation {
    /// For a body of this size in bytes, which `permit` let in.
    pub fn new(permit: Permit, bytes: usize, metrics: Arc<Metrics>) -> QueueReservation {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        metrics.queue_requests.inc();
        metrics.queue_bytes.inc_by(bytes);
        QueueReservation { bytes, metrics, _permit: permit, signatures: None }
    }
}

impl Drop for QueueReservation {
    fn drop(&mut self) {
        self.metrics.queue_requests.dec();
        self.metrics.queue_bytes.dec_by(self.bytes);
    }
}
