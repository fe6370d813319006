//! How do many threads turn what is read into signatures, in order and in bounded memory?
//!
//! One thread reads, several parse, analyse and sign, the caller's thread takes the results in
//! the order of the input, whatever the number of threads. The bytes on their way are bounded,
//! not the items: one document larger than the bound passes alone.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded, select};

use super::Config;
use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::scheme::Fingerprint;
use crate::source::{self, Chunk, ChunkKind, Document, Item, SourceOptions};
use crate::text::Tokens;

/// A document with its signature.
#[derive(Debug, Clone)]
pub struct Signed {
    /// The document.
    pub document: Document,
    /// The digest of its text.
    pub digest: Digest,
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
        let digest = Digest::of(document.text.as_bytes());
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
    Known(Document, Digest),
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

/// So many chunks of each worker wait for the caller.
const DONE_PER_THREAD: usize = 16;

/// How often a waiting caller looks whether it is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// Runs `inputs` through the pipeline into `sink`, until the end, the sink's first error, or
/// `stop`.
///
/// Documents that `is_known` says are in the index already are not signed.
///
/// # Errors
/// The sink's error; [`Error::Cancelled`] after `stop`; [`Error::Internal`] when a thread panics outside
/// of a document, because what it had in hand is then unknown.
pub fn run(
    inputs: &[PathBuf],
    config: &Config,
    options: &PipelineOptions,
    stop: &AtomicBool,
    is_known: &(dyn Fn(&Document, Digest) -> bool + Sync),
    sink: &mut dyn FnMut(Output) -> Result<()>,
) -> Result<()> {
    let threads = options.threads.max(1);
    let (read_tx, read_rx) = bounded(2 * threads);
    // Bytes are bounded by the gate; so that the workers go on while the caller is busy.
    let (done_tx, done_rx) = bounded(DONE_PER_THREAD * threads);
    // Never sent to: its end tells the workers to stop, even while the reader waits for input.
    let (work_tx, work_rx) = bounded::<()>(0);
    let gate = Arc::new(Gate::default());
    spawn_reader(inputs.to_vec(), options.clone(), gate.clone(), read_tx);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (read_rx, work_rx, done_tx) = (read_rx.clone(), work_rx.clone(), done_tx.clone());
            let worker = Worker { config, source: &options.source, is_known };
            scope.spawn(move || worker.run(&read_rx, &work_rx, &done_tx));
        }
        drop((read_rx, done_tx));
        let taken = take_in_order(&done_rx, &gate, stop, sink);
        // Whatever still waits gives up: the reader at the gate, the workers at their channels.
        gate.close();
        drop((done_rx, work_tx));
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
    out: Sender<Numbered<Result<Item>>>,
) {
    std::thread::spawn(move || {
        let mut number = 0;
        let read = Error::catch("the thread that reads the input", || {
            source::read(&inputs, &options.source, &mut |item| {
                let weight = match &item {
                    Item::Chunk(chunk) => BYTES_A_BYTE * chunk.bytes.len(),
                    _ => 0,
                };
                let is_open = gate.enter(weight, options.bytes_max);
                if !is_open || out.send(Numbered { number, weight, item: Ok(item) }).is_err() {
                    return ControlFlow::Break(());
                }
                number += 1;
                ControlFlow::Continue(())
            });
            Ok(())
        });
        // Without a word the rest of the input would be taken for not there.
        if let Err(error) = read {
            let _ = out.send(Numbered { number, weight: 0, item: Err(error) });
        }
    });
}

struct Worker<'a> {
    config: &'a Config,
    source: &'a SourceOptions,
    is_known: &'a (dyn Fn(&Document, Digest) -> bool + Sync),
}

impl Worker<'_> {
    fn run(
        &self,
        input: &Receiver<Numbered<Result<Item>>>,
        work: &Receiver<()>,
        out: &Sender<Numbered<Result<Vec<Output>>>>,
    ) {
        let mut tokens = Tokens::default();
        loop {
            let received = select! {
                recv(input) -> received => received,
                recv(work) -> _ => return,
            };
            let Ok(Numbered { number, weight, item }) = received else { return };
            // A number that does not come would be waited for for ever.
            let item = item.and_then(|item| match item {
                Item::Chunk(chunk) => {
                    Error::catch(&place_of(&chunk), || Ok(self.chunk(&chunk, &mut tokens)))
                }
                Item::Skipped { place, why } => Ok(vec![Output::Skipped { place, why }]),
                Item::Failed(error) => Ok(vec![Output::Failed(error)]),
            });
            if out.send(Numbered { number, weight, item }).is_err() {
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
        let digest = Digest::of(document.text.as_bytes());
        if (self.is_known)(&document, digest) {
            return Output::Known(document, digest);
        }
        // A defect that one document brings out must not take the others with it.
        let signed = Error::catch(&document_place(&document), || {
            let signature = self.config.sign_into(&document.text, tokens)?;
            Ok((tokens.hashes.len() as u32, signature))
        });
        match signed {
            Ok((token_count, signature)) => {
                Output::Signed(Signed { document, digest, token_count, signature })
            }
            Err(error) => Output::Failed(error),
        }
    }
}

/// How errors name a document.
pub(crate) fn document_place(document: &Document) -> String {
    format!("document `{}`", document.id)
}

/// How errors name a part of the input.
fn place_of(chunk: &Chunk) -> String {
    match chunk.kind {
        ChunkKind::File => chunk.path.to_string(),
        ChunkKind::Lines { first_line } => format!("{}, from line {first_line} on", chunk.path),
    }
}

fn take_in_order(
    done: &Receiver<Numbered<Result<Vec<Output>>>>,
    gate: &Gate,
    stop: &AtomicBool,
    sink: &mut dyn FnMut(Output) -> Result<()>,
) -> Result<()> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        match done.recv_timeout(STOP_INTERVAL) {
            Ok(batch) => {
                early.insert(batch.number, batch);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                if early.is_empty() {
                    return Ok(());
                }
                return Err(Error::internal(format!("part {next} of the input"), "it was lost"));
            }
        }
        while let Some(batch) = early.remove(&next) {
            for output in batch.item? {
                if stop.load(Ordering::Relaxed) {
                    return Err(Error::Cancelled);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::Scheme;
    use std::fmt;

    fn config() -> Config {
        Config::new("winnow(k=5,w=10)", "words", true).unwrap()
    }

    fn options(threads: usize, bytes_max: usize) -> PipelineOptions {
        PipelineOptions { threads, bytes_max, source: SourceOptions::default() }
    }

    /// A JSON lines file of `count` documents.
    fn corpus(dir: &tempfile::TempDir, count: usize) -> Vec<PathBuf> {
        let line = |i: usize| {
            format!("{{\"id\":\"{i}\",\"text\":\"{}\"}}\n", "some words ".repeat(i % 50))
        };
        let path = dir.path().join("corpus.jsonl");
        std::fs::write(&path, (0..count).map(line).collect::<String>()).unwrap();
        vec![path]
    }

    fn run_all(config: &Config, options: &PipelineOptions, inputs: &[PathBuf]) -> Vec<String> {
        let mut taken = Vec::new();
        let stop = AtomicBool::new(false);
        run(inputs, config, options, &stop, &|_, _| false, &mut |output| {
            taken.push(match output {
                Output::Signed(signed) => {
                    format!("{} {:?}", signed.document.id, signed.signature)
                }
                other => format!("{other:?}"),
            });
            Ok(())
        })
        .unwrap();
        taken
    }

    #[test]
    fn results_come_in_the_order_of_the_input_whatever_the_number_of_threads() {
        let dir = tempfile::tempdir().unwrap();
        let inputs = corpus(&dir, 20_000);
        let one = run_all(&config(), &options(1, 1 << 30), &inputs);
        assert_eq!(one.len(), 20_000);
        assert!(one.iter().enumerate().all(|(i, line)| line.starts_with(&format!("{i} "))));
        assert_eq!(run_all(&config(), &options(4, 1 << 30), &inputs), one);
        // So little that every chunk passes alone.
        assert_eq!(run_all(&config(), &options(4, 1), &inputs), one);
    }

    #[test]
    fn a_gate_lets_no_more_in_than_it_holds_but_one_thing_always() {
        let gate = Gate::default();
        assert!(gate.enter(100, 10), "alone, whatever its size");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| gate.enter(5, 10));
            assert_eq!(gate.state.lock().unwrap().bytes, 100, "the second waits");
            gate.leave(100);
            assert!(second.join().unwrap());
        });
        assert!(gate.enter(5, 10));
        gate.close();
        assert!(!gate.enter(5, 10));
    }

    #[test]
    fn a_run_that_is_stopped_ends_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let inputs = corpus(&dir, 20_000);
        let stop = AtomicBool::new(false);
        let mut taken = 0;
        let outcome =
            run(&inputs, &config(), &options(2, 1 << 20), &stop, &|_, _| false, &mut |_| {
                taken += 1;
                stop.store(true, Ordering::Relaxed);
                Ok(())
            });
        assert!(matches!(outcome, Err(Error::Cancelled)));
        assert_eq!(taken, 1);
    }

    #[test]
    fn the_error_of_the_sink_ends_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let inputs = corpus(&dir, 20_000);
        let stop = AtomicBool::new(false);
        let refuse = &mut |_| Err(Error::input("here", "no"));
        let outcome = run(&inputs, &config(), &options(2, 1 << 20), &stop, &|_, _| false, refuse);
        assert_eq!(outcome.unwrap_err().to_string(), "here: no");
    }

    /// Panics at a document of three tokens.
    #[derive(Debug)]
    struct Fragile;

    impl fmt::Display for Fragile {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("fragile")
        }
    }

    impl Scheme for Fragile {
        fn key_bits(&self) -> u8 {
            40
        }

        fn span(&self) -> usize {
            1
        }

        fn sign(&self, tokens: &Tokens, signature: &mut Vec<Fingerprint>) {
            signature.clear();
            assert_ne!(tokens.hashes.len(), 3, "three tokens");
        }
    }

    #[test]
    fn a_panic_outside_of_a_document_ends_the_run_with_an_error() {
        // The part that the thread had in hand never came, and the run waited for it for ever.
        let dir = tempfile::tempdir().unwrap();
        let inputs = corpus(&dir, 20_000);
        let is_known = |document: &Document, _| {
            assert_ne!(document.id, "5000", "five thousand");
            false
        };
        for threads in [1, 3] {
            let stop = AtomicBool::new(false);
            let options = options(threads, 1 << 20);
            let mut taken = 0;
            let outcome = run(&inputs, &config(), &options, &stop, &is_known, &mut |_| {
                taken += 1;
                Ok(())
            });
            let error = outcome.unwrap_err();
            assert!(matches!(error, Error::Internal { .. }), "{error:?}");
            assert!(error.to_string().contains(", from line "), "{error}");
            assert!(taken < 5000, "{taken}");
        }
    }

    #[test]
    fn a_document_that_brings_out_a_defect_takes_no_other_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.jsonl");
        let lines = ["one two", "one two three", "four"].map(|t| format!("{{\"text\":\"{t}\"}}\n"));
        std::fs::write(&path, lines.concat()).unwrap();
        let config = Config { scheme: Box::new(Fragile), ..config() };
        let taken = run_all(&config, &options(2, 1 << 20), &[path]);
        assert_eq!(taken.len(), 3);
        assert!(taken[1].contains("x.jsonl:2") && taken[1].contains("Internal"), "{}", taken[1]);
        assert!(taken[0].contains("x.jsonl:1") && taken[2].contains("x.jsonl:3"));
    }
}
