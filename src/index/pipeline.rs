//! How do many threads turn what is read into signatures, in order and in bounded memory?
//!
//! One thread reads, several parse, analyse and sign, the caller's thread takes the results in
//! the order of the input, whatever the number of threads. The bytes on their way are bounded,
//! not the items: one document larger than the bound passes alone.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::Config;
use crate::error::{Error, Result};
use crate::hash::hash_bytes;
use crate::scheme::Fingerprint;
use crate::source::{self, Chunk, Document, Item, SourceOptions};
use crate::text::Tokens;

/// A document with its signature.
#[derive(Debug, Clone)]
pub struct Signed {
    /// The document.
    pub document: Document,
    /// The digest of its text.
    pub digest: u64,
    /// The number of its tokens.
    pub token_count: u32,
    /// Its fingerprints, ordered by position.
    pub signature: Vec<Fingerprint>,
}

impl Signed {
    /// Signs a document as `config` says.
    ///
    /// # Errors
    /// When its text is too large.
    pub fn new(document: Document, config: &Config) -> Result<Signed> {
        let digest = hash_bytes(document.text.as_bytes());
        let (token_count, signature) = config.sign(&document.text)?;
        Ok(Signed { document, digest, token_count, signature })
    }
}

/// What comes out of the pipeline, in the order of the input.
#[derive(Debug)]
pub enum Output {
    /// A document and its signature.
    Signed(Signed),
    /// A document that `is_known` knew already, and the digest of its text.
    Known(Document, u64),
    /// A file that was left out, and why.
    Skipped {
        /// The path.
        place: String,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A record that is no document.
    Failed(Error),
}

/// How the pipeline works.
#[derive(Debug, Clone)]
pub struct PipelineOptions {
    /// Threads that parse, analyse and sign; at least one.
    pub threads: usize,
    /// The bytes read and not yet taken, at most.
    pub bytes_max: usize,
    /// How sources are read.
    pub source: SourceOptions,
}

/// The share of the budget that a byte of input is counted with: the chunk, its text, 16 bytes a
/// token and 16 a fingerprint.
const BYTES_A_BYTE: usize = 6;

/// How often a waiting caller looks whether it is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// Runs `inputs` through the pipeline into `sink`, until the end, the sink's first error, or
/// `stop`.
///
/// Documents that `is_known` says are in the index already are not signed.
///
/// # Errors
/// The sink's error; [`Error::Interrupted`] after `stop`.
pub fn run(
    inputs: &[PathBuf],
    config: &Config,
    options: &PipelineOptions,
    stop: &AtomicBool,
    is_known: &(dyn Fn(&Document, u64) -> bool + Sync),
    sink: &mut dyn FnMut(Output) -> Result<()>,
) -> Result<()> {
    let threads = options.threads.max(1);
    let (read_tx, read_rx) = bounded(2 * threads);
    let (done_tx, done_rx) = bounded(2 * threads);
    let gate = Arc::new(Gate::default());
    spawn_reader(inputs.to_vec(), options.clone(), gate.clone(), read_tx);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (read_rx, done_tx) = (read_rx.clone(), done_tx.clone());
            let worker = Worker { config, source: &options.source, is_known };
            scope.spawn(move || worker.run(&read_rx, &done_tx));
        }
        drop((read_rx, done_tx));
        let taken = take_in_order(&done_rx, &gate, stop, sink);
        // Whatever still waits gives up: the reader at the gate, the workers at their channel.
        gate.close();
        drop(done_rx);
        taken
    })
}

struct Numbered<T> {
    number: u64,
    /// What the item is counted with at the gate.
    weight: usize,
    item: T,
}

/// Not joined when the pipeline stops early: it may be waiting for standard input.
fn spawn_reader(
    inputs: Vec<PathBuf>,
    options: PipelineOptions,
    gate: Arc<Gate>,
    out: Sender<Numbered<Item>>,
) {
    std::thread::spawn(move || {
        let mut number = 0;
        source::read(&inputs, &options.source, &mut |item| {
            let weight = match &item {
                Item::Chunk(chunk) => BYTES_A_BYTE * chunk.bytes.len(),
                _ => 0,
            };
            let is_open = gate.enter(weight, options.bytes_max);
            if !is_open || out.send(Numbered { number, weight, item }).is_err() {
                return ControlFlow::Break(());
            }
            number += 1;
            ControlFlow::Continue(())
        });
    });
}

struct Worker<'a> {
    config: &'a Config,
    source: &'a SourceOptions,
    is_known: &'a (dyn Fn(&Document, u64) -> bool + Sync),
}

impl Worker<'_> {
    fn run(&self, input: &Receiver<Numbered<Item>>, out: &Sender<Numbered<Vec<Output>>>) {
        let mut tokens = Tokens::default();
        for Numbered { number, weight, item } in input {
            let outputs = match item {
                Item::Chunk(chunk) => self.chunk(&chunk, &mut tokens),
                Item::Skipped { place, why } => vec![Output::Skipped { place, why }],
                Item::Failed(error) => vec![Output::Failed(error)],
            };
            if out.send(Numbered { number, weight, item: outputs }).is_err() {
                return;
            }
        }
    }

    fn chunk(&self, chunk: &Chunk, tokens: &mut Tokens) -> Vec<Output> {
        let mut outputs = Vec::new();
        chunk.documents(self.source, |document| {
            outputs.push(match document {
                Ok(document) => self.document(document, tokens),
                Err(error) => Output::Failed(error),
            });
        });
        outputs
    }

    fn document(&self, document: Document, tokens: &mut Tokens) -> Output {
        let digest = hash_bytes(document.text.as_bytes());
        if (self.is_known)(&document, digest) {
            return Output::Known(document, digest);
        }
        // A defect that one document brings out must not take the others with it.
        let signed = catch_unwind(AssertUnwindSafe(|| {
            self.config.analyzer.analyze(&document.text, tokens)?;
            let mut signature = Vec::new();
            self.config.scheme.sign(tokens, &mut signature);
            Ok((tokens.hashes.len() as u32, signature))
        }));
        match signed {
            Ok(Ok((token_count, signature))) => {
                Output::Signed(Signed { document, digest, token_count, signature })
            }
            Ok(Err(error)) => Output::Failed(error),
            Err(_) => Output::Failed(Error::input(
                document.id,
                "cento has a defect that this document brings out; please report it",
            )),
        }
    }
}

fn take_in_order(
    done: &Receiver<Numbered<Vec<Output>>>,
    gate: &Gate,
    stop: &AtomicBool,
    sink: &mut dyn FnMut(Output) -> Result<()>,
) -> Result<()> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        match done.recv_timeout(STOP_INTERVAL) {
            Ok(batch) => {
                early.insert(batch.number, batch);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                assert!(early.is_empty(), "every number below the last has arrived");
                return Ok(());
            }
        }
        while let Some(batch) = early.remove(&next) {
            for output in batch.item {
                if stop.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                sink(output)?;
            }
            gate.leave(batch.weight);
            next += 1;
        }
    }
}

/// Lets so many bytes pass at a time.
#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    bytes: usize,
    is_closed: bool,
}

impl Gate {
    /// Waits until `bytes` more are within `bytes_max`, or nothing else is inside; false when
    /// closed.
    fn enter(&self, bytes: usize, bytes_max: usize) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.bytes > 0 && state.bytes + bytes > bytes_max && !state.is_closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.bytes += bytes;
        !state.is_closed
    }

    fn leave(&self, bytes: usize) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).bytes -= bytes;
        self.changed.notify_all();
    }

    fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
        self.changed.notify_all();
    }
}
