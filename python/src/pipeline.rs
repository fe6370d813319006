//! Signs documents from one Python thread on several threads, in order and in bounded memory.
//!
//! The Python thread collects batches and feeds the pipeline of the library. A further thread takes
//! the results in the order of the batches.

use std::sync::Arc;
use std::thread;

use cento::runtime::pipeline::{Feed, pipeline};
use cento::{Document, Error, Index, Result, SignedDocument, Snapshot, Stop};
use crossbeam::channel::{Receiver, bounded};
use pyo3::prelude::*;

use crate::arrow::Rows;
use crate::entry::{Entry, Refusal};
use crate::error::Failure;
use crate::run;

/// The number of batches in progress for each worker.
const BATCHES_PER_THREAD: usize = 4;

/// Documents to be signed.
pub enum Batch {
    /// Documents made by the Python thread.
    Documents(Vec<Entry>),
    /// Rows of a table; the workers make documents of them.
    Rows(Rows),
}

/// The result of signing a document.
pub enum SignOutcome {
    /// The number and the signature of the document.
    Signed(u64, SignedDocument),
    /// The number and the signature of a document whose id was made of the number, so it must not
    /// replace a document.
    Numbered(u64, SignedDocument),
    /// No signature: the last commit holds the same document.
    Known(u64, Document),
    /// No signature: the item is not a document or could not be signed. Later documents are still
    /// expected.
    Refused(Refusal),
}

type Signatures = Vec<Result<SignOutcome>>;

/// The threads that sign, and the thread that takes the results.
pub struct Pipeline {
    /// `None` once the input has ended.
    feed: Option<Feed<Batch>>,
    done: Receiver<Result<()>>,
    stop: Stop,
}

/// The results, in the order of the input; an error is the last.
pub struct Results {
    batches: cento::runtime::pipeline::Results<Signatures>,
    current: std::vec::IntoIter<Result<SignOutcome>>,
    stop: Stop,
}

impl Results {
    /// Returns what ends the work early.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }
}

impl Iterator for Results {
    type Item = Result<SignOutcome>;

    fn next(&mut self) -> Option<Result<SignOutcome>> {
        loop {
            if self.stop.is_set() {
                return Some(Err(Error::Cancelled));
            }
            if let Some(made) = self.current.next() {
                return Some(made);
            }
            match self.batches.next()? {
                Ok(made) => self.current = made.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Pipeline {
    /// Starts threads that sign like `index`, except documents that `known` holds, and a thread for
    /// `take`, whose result [`end`](Self::end) returns. If `skips` is set, items that are not
    /// documents do not end the input.
    pub fn start(
        index: &Index,
        threads: usize,
        known: Option<Snapshot>,
        skips: bool,
        take: impl FnOnce(Results) -> Result<()> + Send + 'static,
    ) -> Pipeline {
        let threads = threads.max(1);
        let stop = Stop::new();
        let (done_in, done) = bounded(1);
        let known = known.map(Arc::new);
        // Every batch takes one place.
        let (feed, batches) = pipeline(threads, threads * BATCHES_PER_THREAD, &stop, |stop| {
            let (index, known, stop) = (index.clone(), known.clone(), stop.clone());
            move |batch| {
                let signed = Error::catch("signing", || {
                    Ok(sign(batch, &index, known.as_deref(), skips, &stop))
                });
                signed.unwrap_or_else(|error| vec![Err(error)])
            }
        });
        let results = Results { batches, current: Vec::new().into_iter(), stop: stop.clone() };
        thread::spawn(move || {
            let _ = done_in.send(Error::catch("a call from Python", || take(results)));
        });
        Pipeline { feed: Some(feed), done, stop }
    }

    /// Hands a batch over, waiting for room. Returns `false` if no more batches are taken.
    /// [`end`](Self::end) returns the reason.
    pub fn give(&mut self, py: Python<'_>, batch: Batch) -> PyResult<bool> {
        match &mut self.feed {
            Some(feed) => run::feed(py, feed, batch),
            None => Ok(false),
        }
    }

    /// Ends the input, without waiting.
    pub fn close(&mut self) {
        self.feed = None;
    }

    /// Waits until all results have been taken.
    pub fn end(mut self, py: Python<'_>) -> PyResult<()> {
        self.close();
        Ok(run::wait(py, &self.done, &self.stop)?.map_err(Failure)?)
    }

    /// Stops as soon as possible, and waits for the end, only briefly unless `is_patient` is set.
    pub fn abort(mut self, py: Python<'_>, is_patient: bool) {
        self.stop.set();
        self.close();
        run::settle(py, &self.done, is_patient);
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // Set before dropping the feed, because the end of the feed would look like the end of the
        // input.
        if self.feed.is_some() {
            self.stop.set();
        }
    }
}

fn sign(
    batch: Batch,
    index: &Index,
    known: Option<&Snapshot>,
    skips: bool,
    stop: &Stop,
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
            // The error that ends the input was raised at its origin, or is the last error here.
            Err(refusal) => match skips {
                true => Ok(SignOutcome::Refused(refusal)),
                false => Err(Error::input(format!("row {number}"), refusal.reason)),
            },
            Ok(document) => match sign_one(number, document, index, known, stop) {
                Ok(SignOutcome::Signed(_, signed)) if is_numbered => {
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

/// Signs a document. A panic in a library on one text does not affect the others.
fn sign_one(
    number: u64,
    document: Document,
    index: &Index,
    known: Option<&Snapshot>,
    stop: &Stop,
) -> Result<SignOutcome> {
    let digest = index.config().text_digest(&document.text)?;
    // The error can be ignored: the writer cannot read the index either, and returns the error.
    if known.is_some_and(|known| known.holds(&document, digest).unwrap_or(false)) {
        return Ok(SignOutcome::Known(number, document));
    }
    Error::catch(&format!("document {number}, which was being analyzed"), || {
        let signed = SignedDocument::new(document, index.config(), stop)?;
        Ok(SignOutcome::Signed(number, signed))
    })
}
