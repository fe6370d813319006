//! An index, as one commit has it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use cento::index::Config;
use cento::scheme::frequency::FrequencyTable;
use cento::{Error, MaxDf, Preset, Reason, Searcher, Snapshot};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer::{Answer, Answers};
use crate::convert::{id_of, to_json};
use crate::error::{Failure, refused};
use crate::pairs::{self, Pairs};
use crate::run;
use crate::search;
use crate::writer::Writer;

/// An index that is open in this process.
#[pyclass(frozen, module = "cento._native")]
pub struct Index {
    path: PathBuf,
    /// Locked no longer than it takes to copy: a fork may come at any time.
    open: Mutex<Open>,
}

/// File, section, offset, and the problem there.
type Problem = (String, String, u64, String);

struct Open {
    /// The process that opened it.
    process: u32,
    index: cento::Index,
    /// A searcher over the commit that it shows; `None` while that cannot be read.
    searcher: Option<Searcher>,
}

impl Open {
    /// Shows the last commit. An index with a damaged file opens, so that `check` can name the
    /// file; whatever needs the commit tries again, and says why it cannot be read.
    fn new(index: cento::Index) -> Open {
        let searcher = index.snapshot().ok().map(Searcher::new);
        Open { process: std::process::id(), index, searcher }
    }
}

/// Finds the preset with this name.
pub fn preset_of(name: Option<String>) -> cento::Result<Option<Preset>> {
    name.map(|name| name.parse()).transpose()
}

/// Makes the settings of a new index.
pub fn config(
    preset: Option<Preset>,
    scheme: Option<&str>,
    analyzer: Option<&str>,
    store_text: bool,
    max_df: Option<MaxDf>,
    frequencies: Option<PathBuf>,
) -> cento::Result<Config> {
    let table = frequencies.as_deref().map(FrequencyTable::open).transpose()?.map(Arc::new);
    let (scheme, analyzer) =
        (Preset::scheme_or(preset, scheme), Preset::analyzer_or(preset, analyzer));
    let config = Config::with_frequencies(scheme, analyzer, store_text, table)?;
    Ok(config.with_max_df(max_df.unwrap_or_default()).with_preset(preset))
}

/// Reads the limit of document frequency: a number of documents, a share of them, or text of
/// either.
pub fn max_df_of(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<MaxDf>> {
    let Some(value) = value.filter(|value| !value.is_none()) else { return Ok(None) };
    let parsed: cento::Result<MaxDf> = value.str()?.to_str()?.parse();
    Ok(Some(parsed.map_err(Failure)?))
}

impl Index {
    /// Returns the index; opens it again if another process opened it.
    pub fn index(&self) -> cento::Result<cento::Index> {
        Ok(self.opened()?.0)
    }

    fn opened(&self) -> cento::Result<(cento::Index, Option<Searcher>)> {
        let process = std::process::id();
        {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if open.process == process {
                return Ok((open.index.clone(), open.searcher.clone()));
            }
        }
        let new = Open::new(cento::Index::open(&self.path)?);
        let opened = (new.index.clone(), new.searcher.clone());
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Its locks may be held by threads that are in the other process only.
        std::mem::forget(std::mem::replace(&mut *open, new));
        Ok(opened)
    }

    /// Returns a searcher over the commit that the index shows.
    pub fn searcher(&self) -> cento::Result<Searcher> {
        let (index, searcher) = self.opened()?;
        if let Some(searcher) = searcher {
            return Ok(searcher);
        }
        let searcher = Searcher::new(index.snapshot()?);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(open.searcher.get_or_insert(searcher).clone())
    }

    /// Shows this commit from now on.
    pub fn show(&self, snapshot: Snapshot) {
        let searcher = Some(Searcher::new(snapshot));
        self.open.lock().unwrap_or_else(PoisonError::into_inner).searcher = searcher;
    }
}

#[pymethods]
impl Index {
    #[new]
    #[pyo3(signature = (
        path, create, preset, scheme, analyzer, store_text, store_signatures, max_df, frequencies,
    ))]
    #[expect(clippy::too_many_arguments, reason = "the Python half gives them all, by name")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        create: bool,
        preset: Option<String>,
        scheme: Option<String>,
        analyzer: Option<String>,
        store_text: Option<bool>,
        store_signatures: Option<bool>,
        max_df: Option<&Bound<'_, PyAny>>,
        frequencies: Option<PathBuf>,
    ) -> PyResult<Index> {
        let max_df = max_df_of(max_df)?;
        run::short(py, || {
            let preset = preset_of(preset)?;
            let index = if create && !cento::Index::exists(&path) {
                let (scheme, analyzer) = (scheme.as_deref(), analyzer.as_deref());
                let store_text = store_text.unwrap_or(true);
                let config = config(preset, scheme, analyzer, store_text, max_df, frequencies)?;
                let config = match store_signatures {
                    Some(false) => config.without_signatures()?,
                    _ => config,
                };
                cento::Index::create(&path, config)?
            } else {
                let index = cento::Index::open(&path)?;
                check_settings(&index, preset, scheme, analyzer, store_text, store_signatures)?;
                index
            };
            Ok(Index { path, open: Mutex::new(Open::new(index)) })
        })
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn settings(&self) -> PyResult<(String, String, bool, bool, Option<&'static str>)> {
        let index = self.index().map_err(Failure)?;
        let config = index.config();
        let (scheme, analyzer) = (config.scheme.to_string(), config.analyzer.to_string());
        let preset = config.preset.map(Preset::name);
        Ok((scheme, analyzer, config.store_text, config.store_signatures, preset))
    }

    fn reload(&self, py: Python<'_>) -> PyResult<()> {
        run::long(py, |_| {
            self.show(self.index()?.snapshot()?);
            Ok(())
        })
    }

    fn documents(&self, py: Python<'_>) -> PyResult<u64> {
        run::short(py, || Ok(self.searcher()?.snapshot().documents()))
    }

    fn has(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = id_of(id, "the id")?;
        run::short(py, || Ok(self.searcher()?.snapshot().find(&id)?.is_some()))
    }

    /// Returns the id, the text and the meta object as JSON of a stored document; `None` if it is
    /// missing.
    fn document(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
    ) -> PyResult<Option<(String, Option<String>, String)>> {
        let id = id_of(id, "the id")?;
        let found = run::short(py, || {
            let searcher = self.searcher()?;
            let snapshot = searcher.snapshot();
            snapshot.find(&id)?.map(|address| snapshot.document(address)).transpose()
        })?;
        found.map(|found| Ok((found.id, found.text, to_json(&found.meta)?))).transpose()
    }

    /// Returns the ids of all documents, in stored order.
    fn ids(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        run::long(py, |stop| {
            let searcher = self.searcher()?;
            let snapshot = searcher.snapshot();
            let id = |address| stop.check().and_then(|()| snapshot.id(address));
            snapshot.live().map(id).collect()
        })
    }

    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        let stats = run::short(py, || self.searcher()?.snapshot().stats())?;
        to_json(&stats)
    }

    /// Returns the number of segments, and the problem at each damaged place.
    fn check(&self, py: Python<'_>) -> PyResult<(usize, Vec<Problem>)> {
        // The library reads on to the end of it; only the waiting ends at a signal.
        let report = apart(py, self.index().map_err(Failure)?, |index| index.check())?;
        let problems = report.problems.into_iter();
        let problems = problems.map(|p| (p.file, p.section.to_owned(), p.offset, p.what));
        Ok((report.segments, problems.collect()))
    }

    /// Returns the numbers of segments before and after, and that of deleted documents removed for
    /// good.
    fn compact(&self, py: Python<'_>, segments: usize) -> PyResult<(usize, usize, u64)> {
        let (done, snapshot) = apart(py, self.index().map_err(Failure)?, move |index| {
            let done = index.compact(segments)?;
            Ok((done, index.snapshot()?))
        })?;
        self.show(snapshot);
        Ok((done.segments_before, done.segments_after, done.purged))
    }

    #[pyo3(signature = (text, id, signature, as_bytes, options))]
    fn search(
        &self,
        py: Python<'_>,
        text: Option<&Bound<'_, PyAny>>,
        id: Option<&Bound<'_, PyAny>>,
        signature: Option<search::ForeignSignature>,
        as_bytes: bool,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Answer> {
        search::one(py, self, (text, id, signature), as_bytes, options)
    }

    fn search_many(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        threads: Option<usize>,
        as_bytes: bool,
        skips: bool,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Answers> {
        search::many(py, self, texts, threads, (as_bytes, skips), options)
    }

    fn writer(slf: &Bound<'_, Index>, memory: Option<usize>) -> PyResult<Writer> {
        Writer::open(slf, memory)
    }

    fn pairs(
        &self,
        py: Python<'_>,
        against: Option<&Bound<'_, Index>>,
        as_bytes: bool,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Pairs> {
        let against = against.map(|other| other.get());
        pairs::start(py, self, against, as_bytes, options)
    }

    /// Returns the clusters as JSON, one each.
    fn clusters(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
        pairs::clusters(py, self, options)
    }

    fn sign(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<search::ForeignSignature> {
        let index = self.index().map_err(Failure)?;
        crate::compare::sign_with(py, index.config(), text)
    }
}

/// Does work that the library cannot end early on a thread that is left behind at a signal; a
/// change of an index is done whole or not at all.
fn apart<T: Send + 'static>(
    py: Python<'_>,
    index: cento::Index,
    work: impl FnOnce(cento::Index) -> cento::Result<T> + Send + 'static,
) -> PyResult<T> {
    run::apart(py, move || work(index))
}

/// Refuses an index with other settings than the requested ones.
pub fn check_settings(
    index: &cento::Index,
    preset: Option<Preset>,
    scheme: Option<String>,
    analyzer: Option<String>,
    store_text: Option<bool>,
    store_signatures: Option<bool>,
) -> cento::Result<()> {
    let config = index.config();
    let differs = |what: &str, own: &str, asked: &str| {
        let what = format!(
            "the index has the {what} {own}, not {asked}; leave the setting out, or create another \
             index"
        );
        Err(Error::index(index.path(), Reason::OtherSettings, what))
    };
    let (own_scheme, own_analyzer) = (config.scheme.to_string(), config.analyzer.to_string());
    if scheme.is_some() || analyzer.is_some() {
        let asked = Config::with_frequencies(
            scheme.as_deref().unwrap_or(&own_scheme),
            analyzer.as_deref().unwrap_or(&own_analyzer),
            config.store_text,
            config.frequencies.clone(),
        )?;
        let (scheme, analyzer) = (asked.scheme.to_string(), asked.analyzer.to_string());
        if scheme != own_scheme {
            return differs("scheme", &own_scheme, &scheme);
        }
        if analyzer != own_analyzer {
            return differs("analyzer", &own_analyzer, &analyzer);
        }
    }
    if let Some(asked) = preset.filter(|asked| config.preset != Some(*asked)) {
        return differs("preset", config.preset.map_or("none", Preset::name), asked.name());
    }
    let written = |stores: bool| if stores { "True" } else { "False" };
    for (what, own, asked) in [
        ("store_text", config.store_text, store_text),
        ("store_signatures", config.store_signatures, store_signatures),
    ] {
        if let Some(asked) = asked.filter(|asked| *asked != own) {
            return differs(what, written(own), written(asked));
        }
    }
    Ok(())
}

/// Makes the error for a writer that another process opened.
pub fn forked(process: u32) -> Failure {
    refused(format!(
        "this writer was opened by process {process}, and its threads are not in this one; open a \
         writer in the process that writes"
    ))
}
