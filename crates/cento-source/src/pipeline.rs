//! The pipeline from files to signatures: many threads, input order, bounded memory.
//!
//! One thread reads, several threads parse, analyze and sign, and the caller's thread takes the
//! results in input order, so the output does not depend on the number of threads. The bound is on
//! bytes, not on items, because documents differ in size. The memory for reading, parsing
//! and signing a chunk is reserved before the chunk is passed on. A chunk larger than the bound
//! passes alone.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::vec;

use cento::hash::Digest;
use cento::index::{Config, Document, DocumentSigner, IsKnown, Prepared, SignOutcome};
use cento::runtime::Faults;
use cento::runtime::pipeline::{Feed, Results, pipeline};
use cento::{Error, Map, Result, Stop, UnseenText};
use serde_json::Value;

use crate::{Chunk, ChunkKind, ReadChunk, ReadError, SourceOptions, grouped, walk};

/// An output of the pipeline, in the order of the input.
#[derive(Debug)]
pub enum Output {
    /// A document, signed unless the index has it already.
    Document(SignOutcome),
    /// A file that was skipped.
    Skipped {
        /// The path of the file.
        place: String,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A record that is not a document.
    Failed(Error),
    /// The meta object of the stored document of this id is to be changed. Only if requested.
    Patch {
        /// The place of the record.
        place: String,
        /// The id of the stored document.
        id: String,
        /// The JSON merge patch of the meta object.
        patch: Map<String, Value>,
    },
    /// The next document has text that a reader does not see. Reported only if requested.
    Unseen {
        /// The id of the document.
        id: String,
        /// The unseen text, by kind.
        unseen: UnseenText,
    },
}

impl Output {
    fn of(outcome: Result<SignOutcome>) -> Result<Output> {
        match outcome {
            Ok(outcome) => Ok(Output::Document(outcome)),
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(error) => Ok(Output::Failed(error)),
        }
    }
}

/// Options for the pipeline.
#[derive(Debug, Clone)]
pub struct PipelineOptions {
    /// The number of threads that parse, analyze and sign, at least 1.
    pub threads: usize,
    /// The maximum memory for input between reading and the caller, in bytes. A single document may
    /// exceed it.
    pub bytes_max: usize,
    /// The memory for a document that needs more than usual for its size, in bytes. Beyond this
    /// limit, a document is refused.
    pub document_bytes_max: usize,
    /// Whether signed documents keep their texts.
    pub keeps_texts: bool,
    /// How sources are read.
    pub source: SourceOptions,
    /// Faults that a test injects into signing.
    #[doc(hidden)]
    pub faults: Faults,
}

/// The memory per byte of input before it is signed: the chunk, the text, and the text again while
/// a JSON string is read.
const READ_BYTES_A_BYTE: usize = 3;

/// The outputs of the pipeline. Dropping the iterator ends the threads.
///
/// Documents that `is_known` finds in the index are not signed.
///
/// # Errors
/// The iterator gives an error and ends: [`Error::Cancelled`] after `stop`, [`Error::Internal`]
/// when a thread panics outside of a document, because the lost item is then unknown.
pub struct Outputs {
    batches: Results<Result<Vec<PipelinePart>>>,
    /// The unread part of the current batch.
    current: vec::IntoIter<PipelinePart>,
    signer: DocumentSigner,
    stop: Stop,
    is_over: bool,
}

/// What a thread made of a part of the input.
enum PipelinePart {
    Output(Output),
    Prepared(Prepared),
}

impl Outputs {
    /// Starts the threads of the pipeline.
    pub fn new(
        inputs: &[PathBuf],
        config: &Config,
        options: &PipelineOptions,
        stop: &Stop,
        is_known: Option<IsKnown>,
    ) -> Outputs {
        let signer = DocumentSigner::new(config, options.faults.clone())
            .is_known(is_known)
            .keeps_texts(options.keeps_texts)
            .document_bytes_max(options.document_bytes_max)
            .stop(stop.clone());
        let work = |stop: &Stop| {
            let (signer, source) = (signer.clone().stop(stop.clone()), options.source.clone());
            let mut worker = SigningWorker { signer, source, part: Vec::new() };
            move |batch: Batch| worker.batch(batch)
        };
        let (feed, batches) = pipeline(options.threads, options.bytes_max, stop, work);
        let share = READ_BYTES_A_BYTE + signer.bytes_a_byte();
        let (inputs, source) = (inputs.to_vec(), options.source.clone());
        // Not joined, because the thread may be waiting for standard input.
        std::thread::spawn(move || Hand::new(feed, share).read(inputs, &source));
        let (current, stop) = (Vec::new().into_iter(), stop.clone());
        Outputs { batches, current, signer, stop, is_over: false }
    }

    /// Signs, in this thread, a document that was reported as known.
    ///
    /// # Errors
    /// [`Error::Cancelled`] after the pipeline was stopped.
    pub fn sign_alone(&self, document: Document, digest: Digest) -> Result<Output> {
        Output::of(self.signer.sign_alone(document, digest))
    }

    fn step(&mut self) -> Result<Option<Output>> {
        loop {
            self.stop.check()?;
            match self.current.next() {
                Some(PipelinePart::Output(output)) => return Ok(Some(output)),
                Some(PipelinePart::Prepared(prepared)) => {
                    return Output::of(self.signer.finish(prepared)).map(Some);
                }
                None => match self.batches.next() {
                    Some(batch) => self.current = batch??.into_iter(),
                    None => return Ok(None),
                },
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
        if self.is_over {
            return None;
        }
        let output = self.step().transpose();
        self.is_over = !matches!(output, Some(Ok(_)));
        output
    }
}

/// The unit of work of a thread: a chunk, or several small files. An error says that the remaining
/// input is missing.
type Batch = Result<Vec<ReadChunk>>;

/// The maximum number of files, and of bytes, in a batch. Small files are batched because passing
/// on a chunk costs more than reading and signing a small file.
const BATCH_MAX: (usize, usize) = (32, 64 << 10);

/// Batches the chunks that are read.
struct Hand {
    batch: Vec<ReadChunk>,
    /// The size of the batch, in bytes.
    bytes: usize,
    feed: Feed<Batch>,
    /// The memory to reserve for each byte of input.
    share: usize,
}

impl Hand {
    fn new(feed: Feed<Batch>, share: usize) -> Hand {
        Hand { batch: Vec::new(), bytes: 0, feed, share }
    }

    fn read(self, inputs: Vec<PathBuf>, source: &SourceOptions) {
        let hand = RefCell::new(self);
        let read = Error::catch("the thread that reads the input", || {
            let mut emit = |chunk| hand.borrow_mut().push(chunk);
            // The batch is not held while the next input is awaited.
            let mut ended = || hand.borrow_mut().send();
            match source.grouping {
                Some(_) => grouped::read(&inputs, source, &mut emit),
                None => walk::read_each(&inputs, source, &mut emit, &mut ended),
            }
            let _ = ended();
            Ok(())
        });
        // Without this error, the remaining input would silently be missing.
        if let Err(error) = read {
            let mut hand = hand.into_inner();
            let _ = hand.send();
            hand.feed.send(Err(error), 0);
        }
    }

    /// Passes a chunk on, immediately or in a batch.
    fn push(&mut self, chunk: ReadChunk) -> ControlFlow<()> {
        let (bytes, waits) = match &chunk {
            // Not batched: a separate process extracts every such file, which is slow, so the files
            // should spread over threads.
            Ok(chunk) => (chunk.len(), chunk.kind.is_whole_file() && !chunk.needs_process()),
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

    /// Passes on the current batch, unless it is empty.
    fn send(&mut self) -> ControlFlow<()> {
        let batch = std::mem::take(&mut self.batch);
        let bytes = self.share.saturating_mul(std::mem::take(&mut self.bytes));
        let is_over = match batch.is_empty() {
            true => self.feed.is_closed(),
            false => !self.feed.send(Ok(batch), bytes),
        };
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Parses, analyzes and signs on one thread.
struct SigningWorker {
    signer: DocumentSigner,
    source: SourceOptions,
    /// A buffer that is reused from text to text.
    part: Vec<u64>,
}

impl SigningWorker {
    fn batch(&mut self, batch: Batch) -> Result<Vec<PipelinePart>> {
        let mut made = Vec::new();
        for chunk in batch? {
            match chunk {
                Ok(chunk) => Error::catch(&place_of(&chunk), || {
                    self.chunk(&chunk, &mut made);
                    Ok(())
                })?,
                Err(ReadError::LeftOut { place, why, .. }) => {
                    made.push(PipelinePart::Output(Output::Skipped { place, why }));
                }
                Err(ReadError::Refused(error) | ReadError::Unread(error)) => {
                    made.push(PipelinePart::Output(Output::Failed(error)));
                }
            }
        }
        Ok(made)
    }

    fn chunk(&mut self, chunk: &Chunk, made: &mut Vec<PipelinePart>) {
        let mut bytes_left = self.signer.reserved(chunk.len());
        for document in chunk.documents(&self.source) {
            let document = match document {
                Ok((Document { id, meta, record, .. }, in_file)) if in_file.is_meta_only => {
                    let place = record.unwrap_or_default().into();
                    made.push(PipelinePart::Output(Output::Patch { place, id, patch: meta }));
                    continue;
                }
                document => document,
            };
            let prepared = document.and_then(|(document, in_file)| {
                if self.source.tells_unseen {
                    let (id, unseen) = (document.id.clone(), in_file.unseen(&document.text));
                    let is_all = unseen.is_none();
                    made.extend(
                        (!is_all).then_some(PipelinePart::Output(Output::Unseen { id, unseen })),
                    );
                }
                self.signer.prepare(document, &mut bytes_left, &mut self.part)
            });
            made.push(match prepared {
                Ok(prepared) => PipelinePart::Prepared(prepared),
                Err(error) => PipelinePart::Output(Output::Failed(error)),
            });
        }
    }
}

/// Returns the name of a part of the input in errors.
fn place_of(chunk: &Chunk) -> String {
    match chunk.kind {
        ChunkKind::Lines { first_line, .. } => format!("{}, from line {first_line} on", chunk.path),
        _ => chunk.path.to_string(),
    }
}

#[cfg(test)]
mod tests;
