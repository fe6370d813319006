//! Messages between requests, the threads that sign, and the writer.
//!
//! A request with documents goes to the threads of [`ingest`](crate::ingest) as
//! [`ArrivedDocuments`], and
//! from there to the [`writer`](crate::writer) as a [`Command`]. Other commands go to the writer
//! directly. A [`Reply`] returns the answer. Senders and receivers depend on this module only.

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

/// The maximum number of rejected records in an answer.
pub const ERRORS_MAX: usize = 100;

/// Returns an answer to a request.
pub struct Reply<T>(oneshot::Sender<std::result::Result<T, Failure>>);

impl<T> Reply<T> {
    /// Returns a reply and its receiver.
    pub fn new() -> (Reply<T>, oneshot::Receiver<std::result::Result<T, Failure>>) {
        let (sender, receiver) = oneshot::channel();
        (Reply(sender), receiver)
    }

    /// Tells whether the client has gone and no longer needs the answer.
    pub fn is_unwanted(&self) -> bool {
        self.0.is_closed()
    }

    /// Sends the answer, if the request still waits.
    pub fn send(self, result: std::result::Result<T, Failure>) {
        let _ = self.0.send(result);
    }
}

/// Arrived documents before signing.
pub struct ArrivedDocuments {
    /// The body of the request.
    pub body: Bytes,
    /// Whether the body is JSON lines, instead of a single document.
    pub is_lines: bool,
    /// When searches should see the documents.
    pub commit: Commit,
    /// The room that the documents take in the queue.
    pub room: QueueReservation,
    pub reply: Reply<AddResponse>,
}

/// A signed document of a request.
pub struct ReceivedDocument {
    /// The line of the document, from 1, if the body was JSON lines.
    pub line: Option<u64>,
    pub signed: SignedDocument,
}

/// A command to the writer.
pub enum Command {
    Add {
        documents: Vec<ReceivedDocument>,
        /// The response so far, with the rejected records.
        response: AddResponse,
        /// When searches should see the documents.
        commit: Commit,
        /// When the request's processing began.
        started: Instant,
        /// The room that the documents take in the queue.
        room: QueueReservation,
        reply: Reply<AddResponse>,
    },
    /// Remove documents by id.
    Remove {
        /// The ids of the documents.
        ids: Vec<String>,
        /// When searches should no longer see the documents.
        commit: Commit,
        /// The room that the request takes in the queue.
        room: QueueReservation,
        reply: Reply<RemoveResponse>,
    },
    /// Remove all documents matching a filter.
    RemoveMatching {
        filter: String,
        /// When searches should no longer see the documents.
        commit: Commit,
        /// Set when the client has gone.
        stop: Stop,
        reply: Reply<RemoveResponse>,
    },
    /// Change the meta object of a document.
    Patch {
        /// The id of the document.
        id: String,
        /// The JSON merge patch (RFC 7396).
        patch: Map<String, Value>,
        /// When searches should see the change.
        commit: Commit,
        /// The room that the request takes in the queue.
        room: QueueReservation,
        reply: Reply<PatchResponse>,
    },
    /// Commit all changes now.
    Commit(Reply<CommitResponse>),
    /// Compact the index while the writer goes on.
    Compact {
        /// The maximum number of segments afterwards.
        segments: usize,
        /// Answers the request, at the beginning or at the end.
        reply: Reply<CompactResponse>,
        /// Whether to answer at the end.
        wait: bool,
    },
    /// Merge finished indexes into this index.
    Merge {
        /// The directories of the indexes.
        shards: Vec<PathBuf>,
        /// How to handle repeated ids.
        options: AddIndexesOptions,
        /// A failure in the reply may contain the paths of the shards.
        reply: Reply<Result<AddedIndexes>>,
    },
    /// Log the documents of later commits, for watches.
    LogChanges(Reply<()>),
    Withdraw {
        /// The document, and the definition of its copies and passages.
        request: WithdrawRequest,
        /// Set when the client has gone.
        stop: Stop,
        reply: Reply<WithdrawResponse>,
    },
    /// Lift the withdrawal of a document.
    Forget {
        /// The id of the document.
        id: String,
        reply: Reply<ForgetResponse>,
    },
    /// A compaction has ended.
    Compacted(Result<Compaction>),
    /// Commit all changes, then end the writer.
    Stop,
}

/// The room of documents in the queue. Only the writer returns it, even if the client has gone.
pub struct QueueReservation {
    bytes: i64,
    /// The metrics that count the room.
    pub metrics: Arc<Metrics>,
    _permit: Permit,
    /// The memory of signatures beyond the usual size.
    pub signatures: Option<Permit>,
}

impl QueueReservation {
    /// Counts a body of `bytes` bytes, with the room from `permit`.
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
