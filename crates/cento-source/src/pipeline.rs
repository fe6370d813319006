//! The pipeline from files to signatures: many threads, input order, bounded memory.
//!
//! One thread reads, several parse, analyze and sign, and the caller's thread takes the results in
//! the order of the input, whatever the number of threads. The bytes in the pipeline are bounded,
//! not the items: the memory for reading, parsing and signing a chunk is reserved before it is
//! passed on, and a chunk larger than the bound passes alone.
//!
//! The size of a signature is known only when it has been made. A document whose signature turns
//! out to take more than was reserved is not signed by the worker, but by the caller's thread when
//! its turn has come: so there is one such document at a time, and no thread waits for memory while
//! it holds some.

mod signing;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use std::vec;

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded, select};

use signing::{Large, sign};

pub use signing::document_place;
pub(crate) use signing::sign_alone;

use crate::{Chunk, ChunkKind, ReadChunk, ReadError, SourceOptions, walk};
use cento::Stop;
use cento::budget::{ByteBudget, Permit};
use cento::fault::Faults;
use cento::hash::Digest;
use cento::index::{Config, Document, Signature, SignedDocument};
use cento::text::PART_TOKENS;
use cento::text::unseen::Unseen;
use cento::{Error, Result};

/// An output of the pipeline, in the order of the input.
#[derive(Debug)]
pub enum Output {
    /// A document and its signature.
    Signed {
        /// Both; without the text if it is not kept.
        signed: SignedDocument,
        /// The length of the text.
        text_bytes: usize,
    },
    /// A document that `is_known` reported as known, and the digest of its text.
    Known(Document, Digest),
    /// A file that was left out, and why.
    Skipped {
        /// The path.
        place: String,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A record that is not a document.
    Failed(Error),
    /// The next document has text that a reader does not see. Reported only if requested.
    Unseen {
        /// Its id.
        id: String,
        /// The unseen content.
        unseen: Unseen,
    },
}

/// Options for the pipeline.
#[derive(Debug, Clone)]
pub struct PipelineOptions {
    /// The number of threads that parse, analyze and sign; at least one.
    pub threads: usize,
    /// The maximum memory for input that has been read and not yet taken, except for a document
    /// that takes more.
    pub bytes_max: usize,
    /// The memory for one document that takes more than others of its size; one that would take
    /// still more is refused.
    pub document_bytes_max: usize,
    /// Whether documents are passed on with their texts once they are signed: memory freed by a
    /// thread other than the one that allocated it costs both of them time.
    pub keeps_texts: bool,
    /// How sources are read.
    pub source: SourceOptions,
    /// The faults that a test injects into signing.
    #[doc(hidden)]
    pub faults: Faults,
}

/// The memory per byte of input before it is signed: the chunk, the text, and the text again while
/// a JSON string is read.
const READ_BYTES_A_BYTE: usize = 3;

/// The memory that is reserved for each byte of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Share {
    /// For signing it.
    signing: usize,
    /// For everything.
    all: usize,
}

impl Share {
    fn of(config: &Config) -> Share {
        let signing = config.signing_bytes_a_byte();
        let scratch = config.analyzer.scratch_bytes(1 << 10) >> 10;
        Share { signing, all: READ_BYTES_A_BYTE + signing + scratch }
    }
}

/// The maximum number of chunks of each worker that wait for the caller.
const DONE_PER_THREAD: usize = 16;

/// The time between checks of a waiting caller whether to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// Tells whether a document is in the index already.
pub type IsKnown = Arc<dyn Fn(&Document, Digest) -> bool + Send + Sync>;

/// The outputs of the pipeline: an iterator, which ends its threads when it is dropped.
///
/// Documents that are in the index already, according to `is_known`, are not signed.
///
/// # Errors
/// The iterator gives an error, and ends: [`Error::Cancelled`] after it was stopped,
/// [`Error::Internal`] when a thread panics outside of a document, because the item that it held is
/// then unknown.
pub struct Outputs {
    /// The channels to the threads; `None` once these are to end.
    running: Option<Running>,
    workers: Vec<JoinHandle<()>>,
    gate: Arc<ByteBudget>,
    shared: Arc<Shared>,
    stop: Stop,
    /// Batches that came before their turn.
    early: BTreeMap<u64, Done>,
    turn: u64,
    /// The rest of the batch whose turn it is, and the memory that is reserved for it.
    current: vec::IntoIter<Prepared>,
    permit: Option<Permit>,
}

/// A batch that a worker has gone through.
type Done = Numbered<Result<Vec<Prepared>>>;

/// The caller's ends of the channels: dropping them ends the workers.
struct Running {
    done: Receiver<Done>,
    /// Never sent to: its end tells the workers to stop, even while the reader waits for input.
    _work: Sender<()>,
}

/// The settings of the workers.
struct Shared {
    config: Config,
    options: PipelineOptions,
    share: Share,
    is_known: IsKnown,
}

impl Outputs {
    /// Starts the pipeline.
    pub fn new(
        inputs: &[PathBuf],
        config: &Config,
        options: &PipelineOptions,
        stop: &Stop,
        is_known: IsKnown,
    ) -> Outputs {
        let threads = options.threads.max(1);
        let (read_tx, read_rx) = bounded(2 * threads);
        // The gate bounds bytes; this capacity lets the workers go on while the caller is busy.
        let (done_tx, done) = bounded(DONE_PER_THREAD * threads);
        let (work, work_rx) = bounded::<()>(0);
        let gate = ByteBudget::new(options.bytes_max);
        let share = Share::of(config);
        spawn_reader(inputs.to_vec(), options.source.clone(), gate.clone(), share, read_tx);
        let (config, options) = (config.clone(), options.clone());
        let shared = Arc::new(Shared { config, options, share, is_known });
        let workers = (0..threads).map(|_| {
            let (read_rx, work_rx, done_tx) = (read_rx.clone(), work_rx.clone(), done_tx.clone());
            let shared = shared.clone();
            std::thread::spawn(move || shared.run(&read_rx, &work_rx, &done_tx))
        });
        Outputs {
            workers: workers.collect(),
            running: Some(Running { done, _work: work }),
            gate,
            shared,
            stop: stop.clone(),
            early: BTreeMap::new(),
            turn: 0,
            current: Vec::new().into_iter(),
            permit: None,
        }
    }

    /// Tells the threads to end: the reader at the gate, the workers at their channels.
    fn close(&mut self) {
        self.gate.close();
        (self.running, self.permit) = (None, None);
        self.early.clear();
    }

    fn step(&mut self) -> Result<Option<Output>> {
        let Some(running) = &self.running else { return Ok(None) };
        loop {
            self.stop.check()?;
            if let Some(prepared) = self.current.next() {
                let Shared { config, options, .. } = &*self.shared;
                return Ok(Some(match prepared {
                    Prepared::Output(output) => output,
                    Prepared::Large(document, digest, cost) => {
                        Large { config, options }.sign(document, digest, &cost)
                    }
                }));
            }
            self.permit = None;
            if let Some(Numbered { permit, item, .. }) = self.early.remove(&self.turn) {
                self.turn += 1;
                (self.current, self.permit) = (item?.into_iter(), Some(permit));
                continue;
            }
            match running.done.recv_timeout(STOP_INTERVAL) {
                Ok(batch) => {
                    self.early.insert(batch.number, batch);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.early.is_empty() => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    let place = format!("part {} of the input", self.turn);
                    return Err(Error::internal(place, "it was lost"));
                }
            }
        }
    }
}

impl std::fmt::Debug for Outputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outputs").finish_non_exhaustive()
    }
}

impl Iterator for Outputs {
    type Item = Result<Output>;

    fn next(&mut self) -> Option<Result<Output>> {
        let output = self.step().transpose();
        if !matches!(output, Some(Ok(_))) {
            self.close();
        }
        output
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        self.close();
        for worker in self.workers.drain(..) {
            // A panic of a worker has been reported as the loss of its part.
            let _ = worker.join();
        }
    }
}

struct Numbered<T> {
    number: u64,
    /// The memory that is reserved for the item.
    permit: Permit,
    item: T,
}

/// The result of a worker for a document.
enum Prepared {
    Output(Output),
    /// It is left to the caller's thread, because signing it takes too much memory.
    Large(Document, Digest, Signature),
}

/// The unit of work of a worker: a chunk, or several small files.
type Batch = Vec<ReadChunk>;

/// The maximum number of files, and of their bytes, that are passed on together: passing one on
/// costs more than reading and signing a small one.
const BATCH_MAX: (usize, usize) = (32, 64 << 10);

/// Not joined when the pipeline stops early: it may be waiting for standard input.
fn spawn_reader(
    inputs: Vec<PathBuf>,
    source: SourceOptions,
    gate: Arc<ByteBudget>,
    share: Share,
    out: Sender<Numbered<Batch>>,
) {
    std::thread::spawn(move || {
        let (batch, bytes, number, is_over) = (Vec::new(), 0, 0, false);
        let mut hand = Hand { batch, bytes, number, is_over, gate, share, out };
        let read = Error::catch("the thread that reads the input", || {
            for input in inputs {
                walk::read(&[input], &source, &mut |chunk| hand.push(chunk));
                // The batch is not held while the next input is awaited.
                if hand.send().is_break() {
                    break;
                }
            }
            Ok(())
        });
        // Without an error the rest of the input would silently be missing.
        if let Err(error) = read {
            hand.batch.push(Err(ReadError::Unread(error)));
            let _ = hand.send();
        }
    });
}

/// Passes on the items that are read.
struct Hand {
    batch: Batch,
    /// The number of bytes of its chunks.
    bytes: usize,
    number: u64,
    /// Whether no receiver is left.
    is_over: bool,
    gate: Arc<ByteBudget>,
    share: Share,
    out: Sender<Numbered<Batch>>,
}

impl Hand {
    /// Passes a chunk on, immediately or with the next ones.
    fn push(&mut self, chunk: ReadChunk) -> ControlFlow<()> {
        let (bytes, waits) = match &chunk {
            // Each thread extracts documents in a process of its own, which takes long.
            Ok(Chunk { kind: ChunkKind::Document | ChunkKind::Reader(_), bytes, .. }) => {
                (bytes.len(), false)
            }
            Ok(Chunk { kind, bytes, .. }) => (bytes.len(), kind.is_whole_file()),
            Err(_) => (0, true),
        };
        let (items_max, bytes_max) = BATCH_MAX;
        if self.bytes + bytes > bytes_max {
            self.send()?;
        }
        self.batch.push(chunk);
        self.bytes += bytes;
        if waits && self.batch.len() < items_max && self.bytes < bytes_max {
            return ControlFlow::Continue(());
        }
        self.send()
    }

    /// Passes on the batch that has been read, unless it is empty.
    fn send(&mut self) -> ControlFlow<()> {
        let item = std::mem::take(&mut self.batch);
        let bytes = self.share.all.saturating_mul(std::mem::take(&mut self.bytes));
        if !self.is_over && !item.is_empty() {
            let numbered = |permit| Numbered { number: self.number, permit, item };
            let sent = self.gate.enter(bytes).map(|permit| self.out.send(numbered(permit)));
            self.is_over = !matches!(sent, Some(Ok(())));
            self.number += 1;
        }
        if self.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Shared {
    fn run(
        &self,
        input: &Receiver<Numbered<Batch>>,
        work: &Receiver<()>,
        out: &Sender<Numbered<Result<Vec<Prepared>>>>,
    ) {
        let mut part = Vec::new();
        loop {
            let received = select! {
                recv(input) -> received => received,
                recv(work) -> _ => return,
            };
            let Ok(Numbered { number, permit, item }) = received else { return };
            // The caller would wait forever for a number that never comes.
            let mut made = Vec::new();
            let all = item.into_iter().try_for_each(|chunk| {
                match chunk {
                    Ok(chunk) => made.extend(Error::catch(&place_of(&chunk), || {
                        Ok(self.chunk(&chunk, &mut part))
                    })?),
                    Err(ReadError::LeftOut { place, why, .. }) => {
                        made.push(Prepared::Output(Output::Skipped { place, why }));
                    }
                    // The thread that reads has ended, and the rest of the input is missing.
                    Err(ReadError::Unread(error @ Error::Internal { .. })) => return Err(error),
                    Err(ReadError::Refused(error) | ReadError::Unread(error)) => {
                        made.push(Prepared::Output(Output::Failed(error)));
                    }
                }
                Ok(())
            });
            let item = all.map(|()| made);
            if out.send(Numbered { number, permit, item }).is_err() {
                return;
            }
        }
    }

    fn chunk(&self, chunk: &Chunk, part: &mut Vec<u64>) -> Vec<Prepared> {
        let mut made = Vec::new();
        // The memory reserved for signing, and for one document of any kind.
        let mut bytes_left = self.share.signing * chunk.bytes.len() + PART_TOKENS;
        for document in chunk.documents(&self.options.source) {
            let (document, in_file) = match document {
                Ok(read) => read,
                Err(error) => {
                    made.push(Prepared::Output(Output::Failed(error)));
                    continue;
                }
            };
            if self.options.source.tells_unseen {
                let unseen = in_file.unseen(&document.text);
                let id = document.id.clone();
                let is_all = unseen.is_none();
                made.extend((!is_all).then_some(Prepared::Output(Output::Unseen { id, unseen })));
            }
            made.push(self.document(document, &mut bytes_left, part));
        }
        made
    }

    fn document(
        &self,
        document: Document,
        bytes_left: &mut usize,
        part: &mut Vec<u64>,
    ) -> Prepared {
        let digest = Digest::of(document.text.as_bytes());
        if (self.is_known)(&document, digest) {
            return Prepared::Output(Output::Known(document, digest));
        }
        match sign((&self.config, &self.options.faults), &document, *bytes_left, part) {
            Ok(Signature { tokens, bytes, fingerprints: Some(signature), .. }) => {
                *bytes_left = bytes_left.saturating_sub(bytes);
                let signed = (tokens, signature);
                Prepared::Output(Output::of(document, digest, signed, self.options.keeps_texts))
            }
            Ok(cost) => Prepared::Large(document, digest, cost),
            Err(error) => Prepared::Output(Output::Failed(error)),
        }
    }
}

/// Returns the name of a part of the input in errors.
fn place_of(chunk: &Chunk) -> String {
    match chunk.kind {
        ChunkKind::Lines { first_line } => format!("{}, from line {first_line} on", chunk.path),
        _ => chunk.path.to_string(),
    }
}

#[cfg(test)]
mod tests;
