//! Which documents of an iterator say what one before them has said?
//!
//! One thread owns the run, which decides a batch at a time; the thread of Python feeds it from the iterator and gives
//! each item back with its verdict, in order, once that is there.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Mutex;

use cento::index::Config;
use cento::join::dedup::{DedupOptions, Event, Progress, Record, Verdict};
use cento::{Error, Index, Searcher};
use crossbeam::channel::{Receiver, unbounded};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};
use serde::Serialize;

use crate::convert::{Fields, document_of};
use crate::error::Failure;
use crate::offsets::CodePoints;
use crate::pipeline::{BATCH_BYTES, BATCH_DOCUMENTS, Batch, Made, Pipeline};
use crate::query::Options;
use crate::run;
use crate::writer::ends_at_once;

/// A verdict, the same with offsets in the unit that was asked for, and the text that is kept if passages were cut out.
type Decided = (String, String, Option<String>);

/// A run over an iterator.
#[pyclass(frozen, module = "cento._native")]
pub struct Dedup {
    run: Mutex<Run>,
}

struct Run {
    items: Py<PyIterator>,
    fields: Fields,
    /// Of the next item.
    number: u64,
    /// None once the run has ended.
    pipeline: Option<Pipeline>,
    verdicts: Receiver<cento::Result<Decided>>,
    /// Items without a verdict, in order.
    waiting: VecDeque<Py<PyAny>>,
    /// What the iterator raised, which comes after the verdicts of the items before.
    raised: Option<PyErr>,
    is_fed: bool,
}

/// A line of the report.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    #[serde(flatten)]
    verdict: &'a Verdict,
}

fn decided(id: &str, text: &str, verdict: &Verdict, as_bytes: bool) -> cento::Result<Decided> {
    let json = |verdict| {
        let line = serde_json::to_string(&Line { id, verdict });
        line.map_err(|e| Error::internal("a verdict", e.to_string()))
    };
    let line = json(verdict)?;
    let mut shown = verdict.clone();
    let (Verdict::Kept { cut, .. } | Verdict::Passages { cut }) = &mut shown else {
        return Ok((line.clone(), line, None));
    };
    if cut.is_empty() {
        return Ok((line.clone(), line, None));
    }
    let (mut kept, mut at) = (String::new(), 0);
    let mut code_points = CodePoints::new(text);
    for cut in cut {
        kept += &text[at..cut.bytes.0 as usize];
        at = cut.bytes.1 as usize;
        if !as_bytes {
            cut.bytes = code_points.range(cut.bytes);
        }
    }
    kept += &text[at..];
    Ok((line, json(&shown)?, Some(kept)))
}

/// The memory for documents that are not committed yet, if not said otherwise.
const MEMORY_BYTES: usize = 512 << 20;

#[pymethods]
impl Dedup {
    #[new]
    fn new(
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
        fields: (String, String, String),
        index: Option<PathBuf>,
        against: Vec<PathBuf>,
        as_bytes: bool,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Dedup> {
        let options = Options(options);
        let (scheme, analyzer): (Option<String>, Option<String>) =
            (options.value("scheme")?, options.value("analyzer")?);
        let cut: Option<u32> = options.value("cut_passages")?;
        let store_text: Option<bool> = options.value("store_text")?;
        let is_exact = options.value("exact")?.unwrap_or(false);
        let near_estimated = options.share("min_estimated_resemblance")?;
        let near = options.share("min_resemblance")?.unwrap_or(0.8);
        let dedup = DedupOptions {
            near: (!is_exact && near_estimated.is_none()).then_some(near),
            near_estimated,
            contained: options.share("min_containment")?,
            passage: cut.map(|tokens| tokens as usize),
            boilerplate: Vec::new(),
            threads: options.value("threads")?.unwrap_or_else(cento::available_threads),
            memory_bytes: options.value("memory")?.unwrap_or(MEMORY_BYTES),
            resumable: false,
            strict: true,
        };
        let (index, against, temporary) = run::short(py, || {
            let open = |path| Ok(Searcher::new(Index::open(path)?.snapshot()?));
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
                return Ok((Index::open(&path)?, against, temporary));
            }
            let store_text = store_text.unwrap_or(index.is_some()) || cut.is_some();
            let config = match against.first().map(|first| first.snapshot().config()) {
                Some(config) if scheme.is_none() && analyzer.is_none() => {
                    config.with_text(store_text)?
                }
                _ => Config::new(
                    scheme.as_deref().unwrap_or(cento::scheme::DEFAULT_SPEC),
                    analyzer.as_deref().unwrap_or("words"),
                    store_text,
                )?,
            };
            Ok((Index::create(&path, config)?, against, temporary))
        })?;
        let (sender, verdicts) = unbounded();
        let own = index.clone();
        let pipeline = Pipeline::start(&index, dedup.threads, None, move |results| {
            // Removed at the end of the run.
            let _temporary = temporary;
            let mut sink = |event: Event<'_>| {
                if let Event::Decided(decision) = event {
                    let document = decision.document;
                    let verdict = decided(&document.id, &document.text, decision.verdict, as_bytes);
                    let _ = sender.send(verdict);
                }
                Ok(())
            };
            let mut run = cento::join::dedup::Dedup::new(
                &own,
                &against,
                &dedup,
                Progress::default(),
                &mut sink,
            )?;
            for made in results {
                match made? {
                    Made::Signed(signed) => run.push(Record::Document(signed))?,
                    Made::Known(_) | Made::Numbered(_) => {
                        return Err(Error::internal("dedup", "a document was not signed"));
                    }
                }
            }
            run.finish()
        });
        let (id, text, meta) = fields;
        let run = Run {
            items: items.try_iter()?.unbind(),
            fields: Fields { id, text, meta },
            number: 0,
            pipeline: Some(pipeline),
            verdicts,
            waiting: VecDeque::new(),
            raised: None,
            is_fed: false,
        };
        Ok(Dedup { run: Mutex::new(run) })
    }

    /// The next item with its verdict; none at the end.
    fn read(&self, py: Python<'_>) -> PyResult<Option<(Py<PyAny>, Decided)>> {
        let Ok(mut run) = self.run.try_lock() else {
            return Err(crate::error::refused("another thread is reading verdicts").into());
        };
        run.next(py)
    }

    /// Ends the run; what has not been committed is dropped. It does not wait long for that if `is_patient` is
    /// not set.
    fn close(&self, py: Python<'_>, is_patient: bool) {
        // Another thread that reads has the run, and ends it with its own.
        let pipeline = self.run.try_lock().ok().and_then(|mut run| run.pipeline.take());
        if let Some(pipeline) = pipeline {
            pipeline.abort(py, is_patient);
        }
    }
}

impl Run {
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<(Py<PyAny>, Decided)>> {
        loop {
            if let Ok(verdict) = self.verdicts.try_recv() {
                return self.decided(verdict).map(Some);
            }
            if self.pipeline.is_none() {
                return self.raised.take().map_or(Ok(None), Err);
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

    fn decided(&mut self, verdict: cento::Result<Decided>) -> PyResult<(Py<PyAny>, Decided)> {
        let verdict = verdict.map_err(Failure)?;
        let missing = || Failure(Error::internal("dedup", "a verdict of no item came"));
        Ok((self.waiting.pop_front().ok_or_else(missing)?, verdict))
    }

    /// Hands the next batch over.
    fn feed(&mut self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()?;
        let (mut documents, mut bytes) = (Vec::new(), 0);
        let mut items = self.items.bind(py).clone();
        let mut raised = None;
        while bytes < BATCH_BYTES && documents.len() < BATCH_DOCUMENTS {
            let Some(item) = items.next() else {
                self.is_fed = true;
                break;
            };
            let number = self.number;
            self.number += 1;
            match item.and_then(|item| Ok((document_of(&item, &self.fields, number, true)?, item)))
            {
                Ok((document, item)) => {
                    bytes += document.text.len();
                    documents.push(document);
                    self.waiting.push_back(item.unbind());
                }
                Err(error) => {
                    raised = Some(error);
                    break;
                }
            }
        }
        if let (false, Some(pipeline)) = (documents.is_empty(), &self.pipeline)
            && !pipeline.give(py, Batch::Documents(documents))?
        {
            // The run has ended, and says why.
            self.is_fed = true;
        }
        raised.map_or(Ok(()), Err)
    }

    /// Waits for the end of the run.
    fn end(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(pipeline) = self.pipeline.take() else { return Ok(()) };
        match &self.raised {
            // What has been decided is given; nothing more is committed.
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
