//! How do several threads sign what one thread of Python hands over, in order and in bounded memory?
//!
//! The thread of Python collects batches; workers sign them; one more thread takes the results in the order of the
//! batches. For each batch a place in the queue of turns is taken before it is handed to the workers, so
//! the length of that queue bounds what is under way, and the batch whose turn it is is always being
//! worked on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cento::{Document, Error, Index, Result, SignedDocument, Snapshot, Stop};
use crossbeam::channel::{Receiver, Sender, bounded};
use pyo3::prelude::*;

use crate::arrow::Rows;
use crate::error::Failure;
use crate::run::{self, Flag};

/// A batch is handed over when it has about so many bytes of text.
pub const BATCH_BYTES: usize = 256 << 10;

/// Or so many documents.
pub const BATCH_DOCUMENTS: usize = 512;

/// So many batches of each worker are under way.
const BATCHES_PER_THREAD: usize = 4;

/// An item or a row that is no document.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// Its number, from 0.
    pub number: u64,
    /// Why, as a clause.
    pub reason: String,
}

impl Refusal {
    /// Of an error about the item or row with this number; gives an error back that is not about it alone.
    pub fn of(number: u64, error: Error) -> Result<Refusal> {
        let reason = match error {
            Error::Cancelled => return Err(Error::Cancelled),
            Error::Input { what, .. } => what,
            Error::Internal { what, .. } => format!("a defect: {what}"),
            error => error.to_string(),
        };
        Ok(Refusal { number, reason })
    }
}

/// A document with its number, or why there is none.
pub struct Entry {
    /// The number of the item or row, from 0.
    pub number: u64,
    /// The document.
    pub document: std::result::Result<Document, Refusal>,
    /// Its id is its number, which nobody has chosen.
    pub is_numbered: bool,
}

/// Documents to be signed.
pub enum Batch {
    /// As they are.
    Documents(Vec<Entry>),
    /// Rows of a table, of which the workers make documents.
    Rows(Rows),
}

/// What has been made of a document.
pub enum SignOutcome {
    /// Its signature.
    Signed(SignedDocument),
    /// The same, of a document whose id is its number, which is here: it must not replace another.
    Numbered(u64, SignedDocument),
    /// Nothing: the last commit holds the same.
    Known(Document),
    /// Nothing: it is no document, or could not be signed, and others are to follow.
    Refused(Refusal),
}

type Signatures = Vec<Result<SignOutcome>>;

struct Job {
    batch: Batch,
    out: Sender<Signatures>,
}

/// Threads that sign, and one that takes.
pub struct Pipeline {
    /// Both none once the input has ended.
    queues: Option<(Sender<Receiver<Signatures>>, Sender<Job>)>,
    done: Receiver<Result<()>>,
    stop: Flag,
}

/// The results, in the order of the input; an error is the last.
pub struct Results {
    turns: Receiver<Receiver<Signatures>>,
    current: std::vec::IntoIter<Result<SignOutcome>>,
    stop: Flag,
}

impl Iterator for Results {
    type Item = Result<SignOutcome>;

    fn next(&mut self) -> Option<Result<SignOutcome>> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Some(Err(Error::Cancelled));
            }
            if let Some(made) = self.current.next() {
                return Some(made);
            }
            // Its end is that of the input only if nobody has stopped: that is looked at once more.
            match self.turns.recv() {
                Ok(turn) => match turn.recv() {
                    Ok(made) => self.current = made.into_iter(),
                    Err(_) => {
                        return Some(Err(Error::internal(
                            "signing",
                            "a thread ended before its work",
                        )));
                    }
                },
                Err(_) if self.stop.load(Ordering::Relaxed) => {}
                Err(_) => return None,
            }
        }
    }
}

impl Pipeline {
    /// Starts threads that sign as `index` does and leave alone what `known` holds, and one for `take`, whose result is
    /// that of [`end`](Self::end). If `skips` is set, what is no document does not end the input.
    pub fn start(
        index: &Index,
        threads: usize,
        known: Option<Snapshot>,
        skips: bool,
        take: impl FnOnce(Results) -> Result<()> + Send + 'static,
    ) -> Pipeline {
        let threads = threads.max(1);
        let stop = Flag::default();
        let (turns_in, turns) = bounded(threads * BATCHES_PER_THREAD);
        let (jobs_in, jobs) = bounded::<Job>(threads * BATCHES_PER_THREAD);
        let (done_in, done) = bounded(1);
        let known = known.map(Arc::new);
        for _ in 0..threads {
            let (jobs, index, known, stop) =
                (jobs.clone(), index.clone(), known.clone(), stop.clone());
            thread::spawn(move || {
                while let Ok(Job { batch, out }) = jobs.recv() {
                    let signed = Error::catch("signing", || {
                        Ok(sign(batch, &index, known.as_deref(), skips, &stop))
                    });
                    let _ = out.send(signed.unwrap_or_else(|error| vec![Err(error)]));
                }
            });
        }
        let results = Results { turns, current: Vec::new().into_iter(), stop: stop.clone() };
        thread::spawn(move || {
            let _ = done_in.send(Error::catch("a call from Python", || take(results)));
        });
        Pipeline { queues: Some((turns_in, jobs_in)), done, stop }
    }

    /// Hands a batch over; waits for room. `false` if no more is taken: [`end`](Self::end) says why.
    pub fn give(&self, py: Python<'_>, batch: Batch) -> PyResult<bool> {
        let Some((turns, jobs)) = &self.queues else { return Ok(false) };
        let (out, turn) = bounded(1);
        Ok(run::send(py, turns, turn)? && run::send(py, jobs, Job { batch, out })?)
    }

    /// Says that there is no more input, without waiting.
    pub fn close(&mut self) {
        self.queues = None;
    }

    /// Waits until everything has been taken.
    pub fn end(mut self, py: Python<'_>) -> PyResult<()> {
        self.close();
        Ok(run::wait(py, &self.done, &self.stop)?.map_err(Failure)?)
    }

    /// Ends as soon as possible, and waits for that; not long, if `is_patient` is not set.
    pub fn abort(mut self, py: Python<'_>, is_patient: bool) {
        self.stop.store(true, Ordering::Relaxed);
        self.close();
        run::settle(py, &self.done, is_patient);
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // Before the queues close, whose end would be taken for that of the input.
        if self.queues.is_some() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn sign(
    batch: Batch,
    index: &Index,
    known: Option<&Snapshot>,
    skips: bool,
    stop: &AtomicBool,
) -> Signatures {
    let documents = match batch {
        Batch::Documents(documents) => documents,
        Batch::Rows(rows) => match rows.documents(skips) {
            Ok(documents) => documents,
            Err(error) => return vec![Err(error)],
        },
    };
    let mut made = Vec::with_capacity(documents.len());
    for Entry { number, document, is_numbered } in documents {
        let result = match document {
            // What ends the input has been raised where it was found, or is the last here.
            Err(refusal) => match skips {
                true => Ok(SignOutcome::Refused(refusal)),
                false => Err(Error::input(format!("row {number}"), refusal.reason)),
            },
            Ok(document) => match sign_one(number, document, index, known, stop) {
                Ok(SignOutcome::Signed(signed)) if is_numbered => {
                    Ok(SignOutcome::Numbered(number, signed))
                }
                Err(error) if skips => Refusal::of(number, error).map(SignOutcome::Refused),
                result => result,
            },
        };
        let is_over = result.is_err();
        made.push(result);
        if is_over {
            break;
        }
    }
    made
}

/// Signs a document. What a library does with a text costs no other one.
fn sign_one(
    number: u64,
    document: Document,
    index: &Index,
    known: Option<&Snapshot>,
    stop: &AtomicBool,
) -> Result<SignOutcome> {
    let digest = cento::Digest::of(document.text.as_bytes());
    // What cannot be read now cannot be read by the writer, which says so.
    if known.is_some_and(|known| known.holds(&document, digest).unwrap_or(false)) {
        return Ok(SignOutcome::Known(document));
    }
    Error::catch(&format!("document {number}, which was being analyzed"), || {
        SignedDocument::until(document, index.config(), Stop::on(stop)).map(SignOutcome::Signed)
    })
}
