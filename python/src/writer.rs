//! The writer of an index. An index has one writer at a time.

use std::sync::{Arc, Mutex, PoisonError};

use cento::index::{Outcome, WriterOptions};
use cento::{Document, Error, Reason, SignedDocument, Stop};
use crossbeam::channel::bounded;
use pyo3::prelude::*;

use crate::arrow::{self, Columns};
use crate::convert::{
    Fields, Numbering, checked, document_of, document_of_parts, id_of, meta_of, refusal_of, text_of,
};
use crate::entry::{BATCH_BYTES, BATCH_DOCUMENTS, Entry, Refusal};
use crate::error::{Failure, refused};
use crate::meta::{FieldUse, MetaArgument};
use crate::open_index::OpenIndex;
use crate::own_writers::OwnWriter;
use crate::pipeline::{Batch, Pipeline, SignOutcome};
use crate::run;

/// A writer, open from the start of its block to the end.
#[pyclass(frozen, module = "cento._native")]
pub struct Writer {
    index: Arc<OpenIndex>,
    memory_bytes: usize,
    process: u32,
    open: Arc<Mutex<WriterState>>,
}

/// Whether a writer is open.
#[derive(Default)]
enum WriterState {
    /// The block has not begun.
    #[default]
    New,
    /// The writer is open. Its lock is released before the index is forgotten.
    Open(Box<cento::Writer>, OwnWriter),
    /// The block has ended.
    Closed,
}

impl WriterState {
    fn writer(&mut self) -> cento::Result<&mut cento::Writer> {
        let what = match self {
            WriterState::Open(writer, _) => return Ok(writer),
            WriterState::New => {
                "the writer is not open yet: use it in a `with` block, `with index.writer() as \
                 w:`, or open one by name, `w = index.open_writer()`"
            }
            WriterState::Closed => {
                "the writer is closed; open another one, with `with index.writer() as w:` or \
                 `index.open_writer()`"
            }
        };
        Err(Error::arguments(what))
    }

    /// Closes the writer and returns it, if it was open, to be dropped or finished.
    fn close(&mut self) -> Option<(Box<cento::Writer>, OwnWriter)> {
        match std::mem::replace(self, WriterState::Closed) {
            WriterState::Open(writer, own) => Some((writer, own)),
            WriterState::New | WriterState::Closed => None,
        }
    }
}

/// The default memory for everything in progress.
const MEMORY_BYTES: usize = 512 << 20;

/// The result of an addition: counts of added, replaced and unchanged documents, and refusals.
#[derive(Default)]
struct AdditionCounts {
    documents: [u64; 3],
    failed: u64,
    /// The first refusals, at most [`REFUSALS_MAX`].
    refusals: Vec<Refusal>,
}

/// Maximum number of refusals to keep. All refusals are counted.
pub const REFUSALS_MAX: usize = 10_000;

/// The counts for Python: added, replaced, unchanged and failed, and numbers and reasons of the
/// first that failed.
type AddCounts = ([u64; 4], Vec<(u64, String)>);

impl AdditionCounts {
    fn refuse(&mut self, refusal: Refusal) {
        self.failed += 1;
        if self.refusals.len() < REFUSALS_MAX {
            self.refusals.push(refusal);
        }
    }

    fn report(&self) -> AddCounts {
        let [added, replaced, unchanged] = self.documents;
        let refusals = self.refusals.iter().map(|each| (each.number, each.reason.clone()));
        ([added, replaced, unchanged, self.failed], refusals.collect())
    }
}

fn count(counts: &mut AdditionCounts, outcome: Outcome) {
    counts.documents[match outcome {
        Outcome::Added => 0,
        Outcome::Replaced => 1,
        Outcome::Unchanged => 2,
    }] += 1;
}

/// Refuses a document without an id if an existing document has its number as id.
fn check_new(writer: &cento::Writer, signed: &SignedDocument) -> cento::Result<()> {
    let Document { id, .. } = &signed.document;
    if !writer.has(id)? || writer.holds(&signed.document, signed.digest)? {
        return Ok(());
    }
    let what = "it has no id, and its number is the id of another document; give it an id, name \
                the field or column with `id`, or choose an `id_prefix`";
    Err(Error::input(id.clone(), cento::Refusal::new(Reason::IdTaken, what)))
}

/// Calls `work` with the open writer.
fn with<T>(
    open: &Mutex<WriterState>,
    work: impl FnOnce(&mut cento::Writer) -> cento::Result<T>,
) -> cento::Result<T> {
    let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
    work(open.writer()?)
}

impl Writer {
    /// Makes a writer of an index. It opens when its block begins.
    pub fn open(index: Arc<OpenIndex>, memory: Option<usize>) -> PyResult<Writer> {
        Ok(Writer {
            index,
            memory_bytes: memory.unwrap_or(MEMORY_BYTES),
            process: std::process::id(),
            open: Arc::default(),
        })
    }

    fn check_process(&self) -> PyResult<()> {
        match self.process == std::process::id() {
            true => Ok(()),
            false => Err(forked(self.process).into()),
        }
    }

    /// Adds the batches of `feed` until it has no more.
    fn add_batches(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        skips: bool,
        mut feed: impl FnMut() -> PyResult<Option<Batch>>,
    ) -> PyResult<AddCounts> {
        self.check_process()?;
        let open = self.open.clone();
        let index = self.index.index().map_err(Failure)?;
        let known = run::short(py, || with(&open, |writer| Ok(writer.committed()?.clone())))?;
        let counts = Arc::new(Mutex::new(AdditionCounts::default()));
        let counted = counts.clone();
        let threads = threads.unwrap_or_else(cento::available_threads);
        let mut pipeline = Pipeline::start(&index, threads, Some(known), skips, move |results| {
            // Locked for each document separately, because the iterator may use the writer too.
            for made in results {
                let made = made?;
                let outcome = with(&open, |writer| {
                    let (number, added) = match made {
                        SignOutcome::Signed(number, signed) => (number, writer.add_signed(signed)),
                        SignOutcome::Numbered(number, signed) => {
                            let is_new = check_new(writer, &signed);
                            (number, is_new.and_then(|()| writer.add_signed(signed)))
                        }
                        // The document is signed here if this writer changed it since the commit.
                        SignOutcome::Known(number, document) => (number, writer.add(document)),
                        SignOutcome::Refused(refusal) => return Ok(Err(refusal)),
                    };
                    match added {
                        // Such as one that was withdrawn.
                        Err(error @ Error::Input { .. }) if skips => {
                            Refusal::of(number, error).map(Err)
                        }
                        added => added.map(Ok),
                    }
                })?;
                let mut counts = counted.lock().unwrap_or_else(PoisonError::into_inner);
                match outcome {
                    Ok(outcome) => count(&mut counts, outcome),
                    Err(refusal) => counts.refuse(refusal),
                }
            }
            Ok(())
        });
        let fed = feed_all(py, &mut pipeline, &mut feed);
        match fed {
            Ok(()) => pipeline.end(py)?,
            // Documents before the exception are added, whatever state the threads are in.
            Err(error) if !ends_at_once(py, &error) => {
                pipeline.end(py)?;
                return Err(error);
            }
            Err(error) => {
                pipeline.abort(py, false);
                return Err(error);
            }
        }
        let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(counts.report())
    }
}

/// Returns whether this is a signal, such as Ctrl-C, rather than a bad document.
pub fn ends_at_once(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<pyo3::exceptions::PyException>(py)
}

fn feed_all(
    py: Python<'_>,
    pipeline: &mut Pipeline,
    feed: &mut dyn FnMut() -> PyResult<Option<Batch>>,
) -> PyResult<()> {
    while let Some(batch) = feed()? {
        py.check_signals()?;
        if !pipeline.give(py, batch)? {
            break;
        }
    }
    Ok(())
}

/// Makes a document of an item. If `skips` is set, returns the reason why an item is not a
/// document.
///
/// # Errors
/// The exception of the iterator, and, unless `skips` is set, the reason why the item is not a
/// document.
pub fn entry_of(
    py: Python<'_>,
    item: PyResult<Bound<'_, PyAny>>,
    fields: &Fields,
    number: u64,
    numbering: Numbering,
    skips: bool,
) -> PyResult<Entry> {
    let item = item?;
    match document_of(&item, fields, number, numbering) {
        Err(error) if skips => match refusal_of(py, number, &error)? {
            Some(refusal) => Ok(Entry { number, document: Err(refusal), is_numbered: false }),
            None => Err(error),
        },
        entry => entry,
    }
}

/// Collects documents from an iterator into batches. An exception comes after the documents before
/// it.
pub struct Batches<'a, 'py> {
    items: &'a Bound<'py, PyAny>,
    fields: &'a Fields,
    /// Whether items that are not documents are skipped, and do not end the batches.
    skips: bool,
    /// The number of the next item.
    number: u64,
    raised: Option<PyErr>,
}

impl<'a, 'py> Batches<'a, 'py> {
    /// Creates batches of this iterator.
    pub fn new(items: &'a Bound<'py, PyAny>, fields: &'a Fields, skips: bool) -> Batches<'a, 'py> {
        Batches { items, fields, skips, number: 0, raised: None }
    }

    /// Returns the next batch, or `None` at the end.
    pub fn next(&mut self) -> PyResult<Option<Batch>> {
        if let Some(error) = self.raised.take() {
            return Err(error);
        }
        let (mut documents, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES && documents.len() < BATCH_DOCUMENTS {
            let mut iterator = self.items.cast::<pyo3::types::PyIterator>()?.clone();
            let Some(item) = iterator.next() else { break };
            let number = self.number;
            self.number += 1;
            let py = self.items.py();
            match entry_of(py, item, self.fields, number, Numbering::Nulls, self.skips) {
                Ok(entry) => {
                    bytes += entry.document.as_ref().map_or(0, |document| document.text.len());
                    documents.push(entry);
                }
                Err(error) if documents.is_empty() => return Err(error),
                Err(error) => {
                    self.raised = Some(error);
                    break;
                }
            }
        }
        Ok((!documents.is_empty()).then_some(Batch::Documents(documents)))
    }
}

#[pymethods]
impl Writer {
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.check_process()?;
        let index = self.index.index().map_err(Failure)?;
        // Half for the writer. Documents being signed, and sometimes merges, need the second half.
        let options = WriterOptions::default().memory_bytes(self.memory_bytes / 2);
        run::short(py, || {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(*open, WriterState::Open(..)) {
                return Err(Error::arguments("the writer is open already"));
            }
            let writer = Box::new(index.writer(options)?);
            *open = WriterState::Open(writer, OwnWriter::new(self.index.path()));
            Ok(())
        })
    }

    fn add(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        text: Option<&Bound<'_, PyAny>>,
        meta: &Bound<'_, PyAny>,
        parts: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<&'static str> {
        self.check_process()?;
        let id = id_of(id, "the document")?;
        let place = format!("document {:?}", id.chars().take(64).collect::<String>());
        let document = match (text, parts) {
            (Some(text), None) => Document::new(id, text_of(text, &place, "text")?),
            (None, Some(parts)) => document_of_parts(id, parts, &place)?,
            _ => return Err(refused("give a text or `parts`, one of them").into()),
        };
        let document = checked(document.with_meta(meta_of(meta, &place)?), &place)?;
        let outcome = run::short(py, || with(&self.open, |writer| writer.add(document)))?;
        Ok(match outcome {
            Outcome::Added => "added",
            Outcome::Replaced => "replaced",
            Outcome::Unchanged => "unchanged",
        })
    }

    fn add_many(
        &self,
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
        fields: (String, String, Option<MetaArgument>),
        threads: Option<usize>,
        skips: bool,
    ) -> PyResult<AddCounts> {
        let (id, text, meta) = fields;
        let (id, meta) = (Some(id), meta.into());
        let fields = Fields { id, text, meta, field_use: FieldUse::default() };
        let items = items.try_iter()?.into_any();
        let mut batches = Batches::new(&items, &fields, skips);
        let counts = self.add_batches(py, threads, skips, || batches.next())?;
        fields.field_use.warn(py)?;
        if counts.0.iter().any(|count| *count > 0) {
            fields.field_use.warn_of_missing(py, &fields.meta)?;
        }
        Ok(counts)
    }

    fn add_arrow(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        columns: (Option<String>, Option<String>, String, Option<MetaArgument>),
        threads: Option<usize>,
        skips: bool,
    ) -> PyResult<AddCounts> {
        let (id, id_prefix, text, meta) = columns;
        let (meta, field_use) = (meta.into(), FieldUse::default());
        let columns = Columns { id, id_prefix, numbered: "row/", text, meta, field_use };
        let mut tables = arrow::Tables::new(table, columns)?;
        let feed = || Ok(tables.next(py)?.map(Batch::Rows));
        let counts = self.add_batches(py, threads, skips, feed)?;
        tables.warn(py)?;
        Ok(counts)
    }

    fn remove(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.check_process()?;
        let id = id_of(id, "the id")?;
        run::short(py, || with(&self.open, |writer| writer.remove(&id)))
    }

    fn remove_matching(&self, py: Python<'_>, filter: &str) -> PyResult<u64> {
        self.check_process()?;
        let open = self.open.clone();
        run::long(py, |stop| with(&open, |writer| writer.remove_matching(filter, stop)))
    }

    fn patch_meta(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        meta: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        self.check_process()?;
        let (id, patch) = (id_of(id, "the id")?, meta_of(meta, "the meta object")?);
        let open = self.open.clone();
        let patched = |stop: &Stop| with(&open, |writer| writer.patch_meta(&id, &patch, stop));
        Ok(run::long(py, patched)?.is_some())
    }

    fn uncommitted(&self, py: Python<'_>) -> PyResult<usize> {
        self.check_process()?;
        run::short(py, || with(&self.open, |writer| Ok(writer.uncommitted())))
    }

    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.check_process()?;
        let open = self.open.clone();
        let committed = |writer: &mut cento::Writer| {
            writer.commit()?;
            Ok(writer.committed()?.clone())
        };
        // Show this commit, not the last commit, because another process may have written
        // meanwhile.
        let snapshot = run::long(py, |_| with(&open, committed))?;
        self.index.show(snapshot);
        Ok(())
    }

    /// Commits and waits for merges. A signal ends the waiting, not the merges.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.commit(py)?;
        let open = self.open.clone();
        run::apart(py, move || {
            let closed = open.lock().unwrap_or_else(PoisonError::into_inner).close();
            closed.map_or(Ok(()), |(writer, _own)| writer.finish())
        })
    }

    /// Drops everything uncommitted and releases the lock, waiting only briefly unless `is_patient`
    /// is set.
    fn discard(&self, py: Python<'_>, is_patient: bool) {
        if self.process != std::process::id() {
            return;
        }
        let open = self.open.clone();
        let (sender, done) = bounded(1);
        std::thread::spawn(move || {
            drop(open.lock().unwrap_or_else(PoisonError::into_inner).close());
            let _ = sender.send(());
        });
        run::settle(py, &done, is_patient);
    }

    /// Returns whether the writer is open, or `None` if it has not been opened.
    fn is_open(&self) -> Option<bool> {
        // A writer in use is open.
        self.open.try_lock().map_or(Some(true), |open| match *open {
            WriterState::New => None,
            WriterState::Open(..) => Some(true),
            WriterState::Closed => Some(false),
        })
    }

    fn __reduce__(&self) -> PyResult<()> {
        let what = "a writer is neither copied nor sent to another process; share it among the \
                    threads of this one, and open one in the other";
        Err(refused(what).into())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // Dropping it would wait for threads that exist only in the other process, like its
            // lock.
            std::mem::forget(std::mem::take(&mut self.open));
        }
    }
}

/// Makes the error for a writer that another process opened.
pub fn forked(process: u32) -> Failure {
    refused(format!(
        "this writer was opened by process {process}, and its threads are not in this one; open a \
         writer in the process that writes"
    ))
}
