//! Deduplication of the documents of an iterator.
//!
//! One thread owns the run, which decides a batch at a time. The Python thread feeds the run from
//! the iterator and returns each item with its verdict, in order, once the verdict is there. Rows
//! of Arrow data come back as batches of the kept rows ([`stream`](crate::stream)).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use cento::index::IdSource;
use cento::{Error, Index, Key, LockWait, Searcher};
use cento_api::part::part_texts;
use cento_collections::dedup::{Decision, DedupOptions, Event, Record, Verdict};
use crossbeam::channel::{Receiver, Sender, unbounded};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};
use serde::Serialize;

use crate::arrow::{Columns, Tables};
use crate::convert::{Fields, Numbering, to_json};
use crate::entry::{BATCH_BYTES, BATCH_DOCUMENTS, Refusal};
use crate::error::{Failure, refused};
use crate::meta::{FieldUse, MetaArgument};
use crate::offsets::CodePoints;
use crate::own_writers::OwnWriter;
use crate::pipeline::{Batch, Pipeline, Results, SignOutcome};
use crate::query::Options;
use crate::run;
use crate::settings::{check_settings, config, preset_of};
use crate::writer::{ends_at_once, entry_of};

/// The decision on a document.
pub struct DocumentDecision {
    /// The id of the document, or the place of a refused item.
    id: String,
    /// The verdict with offsets in bytes, or the reason why the item is not a document.
    pub verdict: Result<Verdict, Refusal>,
    /// The verdict with offsets in the requested unit, if it has any offsets.
    shown: Option<Verdict>,
    /// The kept text, if passages were cut out.
    pub text: Option<String>,
    /// The kept texts of its parts, if it has any.
    pub parts: Vec<String>,
}

/// A verdict, the verdict with offsets in the requested unit, and the kept text if passages were
/// cut out.
type DecisionRow = (String, String, Option<String>);

impl DocumentDecision {
    fn new(decision: &Decision, as_bytes: bool) -> DocumentDecision {
        let Decision { document, verdict, .. } = decision;
        let id = document.id.clone();
        let verdict = verdict.clone();
        let mut decided = DocumentDecision {
            id,
            verdict: Ok(verdict),
            shown: None,
            text: None,
            parts: Vec::new(),
        };
        let Ok(verdict) = &decided.verdict else { return decided };
        if verdict.cut().is_empty() {
            return decided;
        }
        let (text, parts) = decision.kept_text();
        decided.parts = part_texts(&parts, &text).map(|(_, text)| text.to_owned()).collect();
        decided.text = Some(text);
        if !as_bytes {
            let mut shown = verdict.clone();
            let mut code_points = CodePoints::new(&document.text);
            if let Verdict::Kept { cut, .. }
            | Verdict::Unchanged { cut, .. }
            | Verdict::Passages { cut } = &mut shown
            {
                cut.iter_mut().for_each(|cut| cut.bytes = code_points.range(cut.bytes));
            }
            decided.shown = Some(shown);
        }
        decided
    }

    /// Makes the decision on an item that is not a document.
    fn refused(refusal: Refusal) -> DocumentDecision {
        let id = format!("item {}", refusal.number);
        DocumentDecision { id, verdict: Err(refusal), shown: None, text: None, parts: Vec::new() }
    }

    fn said(self) -> PyResult<DecisionRow> {
        let id = &self.id;
        let line = match &self.verdict {
            Ok(verdict) => to_json(&DroppedRow { id, verdict })?,
            Err(Refusal { reason, .. }) => to_json(&FailedLine { id, verdict: "failed", reason })?,
        };
        let shown = match &self.shown {
            Some(verdict) => to_json(&DroppedRow { id, verdict })?,
            None => line.clone(),
        };
        Ok((line, shown, self.text))
    }
}

/// A deduplication of the items of an iterator.
#[pyclass(frozen, module = "cento._native")]
pub struct Dedup {
    run: Mutex<DeduperRun>,
}

/// The documents to deduplicate.
enum DedupInput {
    /// Items, with the number of the next one.
    Items { items: Py<PyIterator>, fields: Fields, number: u64, skips: bool },
    /// Rows of Arrow data.
    Tables(Tables),
}

impl DedupInput {
    /// Warns of fields that became no part of a document.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        match self {
            DedupInput::Items { fields, .. } => fields.field_use.warn(py),
            DedupInput::Tables(tables) => tables.warn(py),
        }
    }
}

/// A batch of Arrow data, waiting for its verdicts.
struct PendingBatch {
    batch: RecordBatch,
    decided: Vec<DocumentDecision>,
}

impl PendingBatch {
    fn is_complete(&self) -> bool {
        self.decided.len() == self.batch.num_rows()
    }
}

struct DeduperRun {
    input: DedupInput,
    /// `None` once the run has ended.
    pipeline: Option<Pipeline>,
    verdicts: Receiver<DocumentDecision>,
    /// Items of Python without a verdict, in order.
    waiting: VecDeque<Py<PyAny>>,
    /// Batches that still lack verdicts, in order.
    batches: VecDeque<PendingBatch>,
    /// The exception of the iterator, raised after the verdicts of the items before it.
    raised: Option<PyErr>,
    is_fed: bool,
}

/// A line about a dropped document.
#[derive(Serialize)]
struct DroppedRow<'a> {
    id: &'a str,
    #[serde(flatten)]
    verdict: &'a Verdict,
}

/// A line about an item that is not a document.
#[derive(Serialize)]
struct FailedLine<'a> {
    id: &'a str,
    verdict: &'a str,
    reason: &'a str,
}

/// Keywords of a run that do not say what a duplicate is.
const OTHERS: [&str; 10] = [
    "against",
    "preset",
    "scheme",
    "analyzer",
    "store_text",
    "key_file",
    "memory",
    "threads",
    "on_error",
    "wait",
];

/// Reads the options that define a duplicate from the arguments of a call; refuses contradictions.
fn dedup_options(options: &Options<'_, '_>, store_text: Option<bool>) -> PyResult<DedupOptions> {
    let read: DedupOptions = options.read(&OTHERS)?;
    read.check().map_err(Failure)?;
    if read.prefer.is_some() && options.get("wait")?.is_some() {
        let what = "`prefer` reads all documents before it takes the lock; give it without `wait`, \
                    and try again while the index is locked";
        return Err(refused(what).into());
    }
    if read.cut_passages.is_some() && store_text == Some(false) {
        let what = "`cut_passages` looks for passages in stored texts; give it without \
                    `store_text=False`";
        return Err(refused(what).into());
    }
    Ok(read)
}

#[pymethods]
impl Dedup {
    #[new]
    #[pyo3(signature = (items, fields, index, against, as_bytes, gives_batches, options))]
    #[expect(clippy::too_many_arguments, reason = "the Python half gives them all, by name")]
    fn new(
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
        fields: (Option<String>, String, Option<MetaArgument>),
        index: Option<PathBuf>,
        against: Vec<PathBuf>,
        as_bytes: bool,
        gives_batches: bool,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Dedup> {
        let (id, text, meta) = fields;
        let options = Options(options);
        let skips = options.skips()?;
        let (meta, field_use) = (meta.into(), FieldUse::default());
        let input = if gives_batches {
            let columns = Columns { id, id_prefix: None, numbered: "", text, meta, field_use };
            DedupInput::Tables(Tables::new(items, columns)?)
        } else {
            let fields = Fields { id, text, meta, field_use };
            DedupInput::Items { items: items.try_iter()?.unbind(), fields, number: 0, skips }
        };
        let (scheme, analyzer): (Option<String>, Option<String>) =
            (options.value("scheme")?, options.value("analyzer")?);
        let store_text: Option<bool> = options.value("store_text")?;
        let dedup = dedup_options(&options, store_text)?;
        let preset = preset_of(options.value("preset")?).map_err(Failure)?;
        let threads = options.value("threads")?.unwrap_or_else(cento::available_threads);
        let memory: Option<usize> = options.value("memory")?;
        let wait: Option<f64> = options.value("wait")?;
        let key_file: Option<PathBuf> = options.value("key_file")?;
        let is_temporary = index.is_none();
        let (index, against, temporary) = run::short(py, || {
            let key = key_file.map(Key::read).transpose()?;
            let unlocked = |path: &PathBuf| {
                let index = Index::open(path)?;
                key.iter().try_for_each(|key| index.unlock(key))?;
                Ok::<_, Error>(index)
            };
            let open = |path| Ok(Searcher::new(unlocked(&path)?.snapshot()?));
            let against = against.into_iter().map(open).collect::<cento::Result<Vec<_>>>()?;
            let temporary = match index {
                Some(_) => None,
                None => Some(
                    tempfile::tempdir()
                        .map_err(|e| Error::io("create", "a temporary directory", e))?,
                ),
            };
            let path = match (&index, &temporary) {
                (Some(path), _) => path.clone(),
                (None, Some(dir)) => dir.path().join("index"),
                (None, None) => return Err(Error::internal("dedup", "it has no index")),
            };
            if Index::exists(&path) {
                let index = unlocked(&path)?;
                check_settings(&index, preset, scheme, analyzer, store_text, None, None)?;
                return Ok((index, against, temporary));
            }
            // The key does not protect these values.
            let keeps_text = index.is_some() && key.is_none();
            let store_text = store_text.unwrap_or(keeps_text || dedup.cut_passages.is_some());
            let config = match against.first().map(|first| first.snapshot().config()) {
                Some(config) if preset.is_none() && scheme.is_none() && analyzer.is_none() => {
                    config.with_text(store_text)?
                }
                _ => {
                    let (scheme, analyzer) = (scheme.as_deref(), analyzer.as_deref());
                    let config = config(preset, scheme, analyzer, store_text, None, None)?;
                    key.as_ref().map_or(Ok(config.clone()), |key| config.with_key(key))?
                }
            };
            Ok((Index::create(&path, config)?, against, temporary))
        })?;
        let (sender, verdicts) = unbounded();
        let settings = RunSettings {
            index: index.clone(),
            against,
            dedup,
            is_temporary,
            threads,
            memory,
            skips,
            as_bytes,
            wait: wait.map_or(Duration::ZERO, seconds_of),
        };
        let pipeline = Pipeline::start(&index, threads, None, skips, move |results| {
            // The directory is removed at the end of the run.
            let _temporary = temporary;
            settings.run(results, &sender)
        });
        let run = DeduperRun {
            input,
            pipeline: Some(pipeline),
            verdicts,
            waiting: VecDeque::new(),
            batches: VecDeque::new(),
            raised: None,
            is_fed: false,
        };
        Ok(Dedup { run: Mutex::new(run) })
    }

    /// Returns the next item with its verdict, or `None` at the end.
    fn read(&self, py: Python<'_>) -> PyResult<Option<(Py<PyAny>, DecisionRow)>> {
        let mut run = self.alone()?;
        let Some(decided) = run.next(py)? else { return Ok(None) };
        let missing = || Failure(Error::internal("dedup", "a verdict of no item came"));
        let item = run.waiting.pop_front().ok_or_else(missing)?;
        Ok(Some((item, decided.said()?)))
    }

    /// Ends the run and drops everything uncommitted, waiting only briefly unless `is_patient` is
    /// set.
    pub fn close(&self, py: Python<'_>, is_patient: bool) {
        // A reading thread has the run, and ends it together with its own work.
        let pipeline = self.run.try_lock().ok().and_then(|mut run| run.pipeline.take());
        if let Some(pipeline) = pipeline {
            pipeline.abort(py, is_patient);
        }
    }
}

/// How long to wait for a lock.
fn seconds_of(seconds: f64) -> Duration {
    // A hundred years mean no limit.
    Duration::try_from_secs_f64(seconds.clamp(0.0, 3.2e9)).unwrap_or_default()
}

/// The inputs and options of a run.
struct RunSettings {
    index: Index,
    against: Vec<Searcher>,
    dedup: DedupOptions,
    is_temporary: bool,
    threads: usize,
    memory: Option<usize>,
    skips: bool,
    as_bytes: bool,
    /// How long to wait for a lock.
    wait: Duration,
}

impl RunSettings {
    /// Decides about all documents and sends the decisions in the order of the items.
    fn run(&self, results: Results, sender: &Sender<DocumentDecision>) -> cento::Result<()> {
        let stop = results.stop();
        // Refusals of items after the next decision.
        let refused = RefCell::new(VecDeque::new());
        let numbers_all = self.dedup.prefer.is_some();
        let records = results.map(|made| record(made?, numbers_all, &refused));
        // Decisions come in the order of preference, but are returned in the order of the items.
        let mut decisions = Vec::new();
        let mut own = None;
        let index = self.index.clone().with_lock_wait(LockWait::new(self.wait, stop));
        for event in self.begin(&index, records) {
            let event = event?;
            own.get_or_insert_with(|| OwnWriter::new(self.index.path()));
            let (number, decided) = match event {
                Event::Decided(decision) => {
                    let record = decision.document.record.as_deref();
                    let number = record.and_then(|number| number.parse().ok());
                    (number.unwrap_or(0), DocumentDecision::new(&decision, self.as_bytes))
                }
                Event::Failed(_) => match refused.borrow_mut().pop_front() {
                    Some(refusal) => (refusal.number, DocumentDecision::refused(refusal)),
                    None => continue,
                },
                _ => continue,
            };
            match numbers_all {
                true => decisions.push((number, decided)),
                false => drop(sender.send(decided)),
            }
        }
        decisions.sort_by_key(|(number, _)| *number);
        decisions.into_iter().for_each(|(_, decided)| drop(sender.send(decided)));
        Ok(())
    }

    /// Prepares a run over these records. The run takes the lock before the first record, unless it
    /// has to know all records first.
    fn begin<R: Iterator<Item = cento::Result<Record>>>(
        &self,
        index: &Index,
        records: R,
    ) -> cento_collections::dedup::Dedup<R> {
        let run = cento_collections::dedup::Dedup::new(index, &self.dedup, records);
        let run = run.against(&self.against).threads(self.threads);
        let run = run.temporary(self.is_temporary).strict(!self.skips);
        match self.memory {
            Some(bytes) => run.memory_bytes(bytes),
            None => run,
        }
    }
}

/// Makes a record of a signed document, with its number if decisions do not come in order.
fn record(
    made: SignOutcome,
    is_numbered: bool,
    refused: &RefCell<VecDeque<Refusal>>,
) -> cento::Result<Record> {
    let (number, mut signed) = match made {
        SignOutcome::Signed(number, signed) => (number, signed),
        // A later run may have a different document under the same number.
        SignOutcome::Numbered(number, mut signed) => {
            signed.document.id_source = IdSource::STREAM;
            (number, signed)
        }
        SignOutcome::Refused(refusal) => {
            let place = format!("item {}", refusal.number);
            let error = Error::input(place, refusal.reason.clone());
            refused.borrow_mut().push_back(refusal);
            return Ok(Record::Failed(error));
        }
        SignOutcome::Known(..) => {
            return Err(Error::internal("dedup", "a document was not signed"));
        }
    };
    if is_numbered {
        signed.document.record = Some(number.to_string().into());
    }
    Ok(Record::Document(signed))
}

impl Dedup {
    fn alone(&self) -> PyResult<MutexGuard<'_, DeduperRun>> {
        match self.run.try_lock() {
            Ok(run) => Ok(run),
            Err(TryLockError::Poisoned(run)) => Ok(run.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(refused("another thread is reading verdicts").into())
            }
        }
    }

    /// Returns the columns of the incoming Arrow data, or `None` if there is no batch.
    pub fn schema(&self, py: Python<'_>) -> PyResult<Option<SchemaRef>> {
        match &mut self.alone()?.input {
            DedupInput::Tables(tables) => tables.schema(py),
            DedupInput::Items { .. } => Ok(None),
        }
    }

    /// Returns the name of the column of the texts.
    pub fn text(&self) -> PyResult<String> {
        Ok(match &self.alone()?.input {
            DedupInput::Tables(tables) => tables.text().into(),
            DedupInput::Items { fields, .. } => fields.text.clone(),
        })
    }

    /// Returns the next incoming batch with a verdict for each row, or `None` at the end.
    pub fn batch(&self, py: Python<'_>) -> PyResult<Option<(RecordBatch, Vec<DocumentDecision>)>> {
        let mut run = self.alone()?;
        loop {
            if run.batches.front().is_some_and(PendingBatch::is_complete) {
                return Ok(run.batches.pop_front().map(|front| (front.batch, front.decided)));
            }
            let Some(decided) = run.next(py)? else { return Ok(None) };
            let missing = || Failure(Error::internal("dedup", "a verdict of no row came"));
            run.batches.front_mut().ok_or_else(missing)?.decided.push(decided);
        }
    }
}

impl Drop for Dedup {
    /// Waits briefly for the end of an abandoned run, so that its index has no writer afterwards.
    fn drop(&mut self) {
        let run = self.run.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = run.pipeline.take() {
            Python::attach(|py| pipeline.abort(py, false));
        }
    }
}

impl DeduperRun {
    /// Returns the next verdict, or `None` at the end.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<DocumentDecision>> {
        loop {
            if let Ok(decided) = self.verdicts.try_recv() {
                return Ok(Some(decided));
            }
            if self.pipeline.is_none() {
                return match self.raised.take() {
                    Some(raised) => Err(raised),
                    None => self.input.warn(py).map(|()| None),
                };
            }
            if !self.is_fed {
                let fed = self.feed(py);
                if let Err(error) = fed {
                    self.is_fed = true;
                    self.raised = Some(error);
                }
                continue;
            }
            self.end(py)?;
        }
    }

    /// Hands the next batch to the run.
    fn feed(&mut self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()?;
        let (batch, raised) = match &mut self.input {
            DedupInput::Items { items, fields, number, skips } => {
                let (mut documents, mut bytes, mut raised) = (Vec::new(), 0, None);
                let mut items = items.bind(py).clone();
                while bytes < BATCH_BYTES && documents.len() < BATCH_DOCUMENTS {
                    let Some(item) = items.next() else {
                        self.is_fed = true;
                        break;
                    };
                    let kept = item.as_ref().ok().map(|item| item.clone().unbind());
                    match entry_of(py, item, fields, *number, Numbering::All, *skips) {
                        Ok(entry) => {
                            *number += 1;
                            bytes += entry.document.as_ref().map_or(0, |made| made.text.len());
                            documents.push(entry);
                            self.waiting.extend(kept);
                        }
                        Err(error) => {
                            raised = Some(error);
                            break;
                        }
                    }
                }
                ((!documents.is_empty()).then_some(Batch::Documents(documents)), raised)
            }
            DedupInput::Tables(tables) => match tables.next(py)? {
                None => {
                    self.is_fed = true;
                    (None, None)
                }
                Some(mut rows) => {
                    let whole = rows.take_whole();
                    let waiting = whole.map(|batch| PendingBatch { batch, decided: Vec::new() });
                    self.batches.extend(waiting);
                    (Some(Batch::Rows(rows)), None)
                }
            },
        };
        if let (Some(batch), Some(pipeline)) = (batch, &mut self.pipeline)
            && !pipeline.give(py, batch)?
        {
            // The run has ended, and says why.
            self.is_fed = true;
        }
        raised.map_or(Ok(()), Err)
    }

    /// Waits until the run has ended.
    fn end(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(pipeline) = self.pipeline.take() else { return Ok(()) };
        match &self.raised {
            // Verdicts already reached are returned, but nothing more is committed.
            Some(raised) => pipeline.abort(py, !ends_at_once(py, raised)),
            None => {
                if let Err(error) = pipeline.end(py) {
                    if ends_at_once(py, &error) {
                        return Err(error);
                    }
                    self.raised = Some(error);
                }
            }
        }
        Ok(())
    }
}
