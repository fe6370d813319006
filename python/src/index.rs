//! The class of an index, which shows a single commit.

use std::path::PathBuf;
use std::sync::Arc;

use cento::index::WriterOptions;
use cento::{Error, Preset};
use cento_collections::watch::Watches;
use cento_collections::withdraw::{self, Plan, WithdrawOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::answer::{Answer, Answers};
use crate::convert::{id_of, to_json};
use crate::error::Failure;
use crate::families;
use crate::listing::{self, DocumentTuple, Documents, Ids};
use crate::open_index::{KeyFile, OpenIndex};
use crate::pairs::{self, Pairs};
use crate::query::Options;
use crate::run;
use crate::search;
use crate::settings::{check_settings, config, max_df_of, preset_of};
use crate::shards;
use crate::stream::Stream;
use crate::watch;
use crate::writer::Writer;

/// An index that is open in this process.
#[pyclass(frozen, module = "cento._native")]
pub struct Index {
    open: Arc<OpenIndex>,
}

/// File, section, offset, and the problem there.
type Problem = (String, String, u64, String);

#[pymethods]
impl Index {
    #[new]
    #[pyo3(signature = (
        path, create, preset, scheme, analyzer, store_text, store_signatures, novelty, max_df,
        frequencies, key_file,
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
        novelty: Option<bool>,
        max_df: Option<&Bound<'_, PyAny>>,
        frequencies: Option<PathBuf>,
        key_file: Option<PathBuf>,
    ) -> PyResult<Index> {
        let max_df = max_df_of(max_df)?;
        run::short(py, || {
            let preset = preset_of(preset)?;
            let key = key_file.map(KeyFile::read).transpose()?;
            let index = if create && !cento::Index::exists(&path) {
                let (scheme, analyzer) = (scheme.as_deref(), analyzer.as_deref());
                // The key does not protect these values.
                let store_text = store_text.unwrap_or(key.is_none());
                let config = config(preset, scheme, analyzer, store_text, max_df, frequencies)?;
                let config = match store_signatures {
                    Some(false) => config.without_signatures()?,
                    _ => config,
                };
                let config = match novelty {
                    Some(true) => config.with_novelty()?,
                    _ => config,
                };
                let config = match &key {
                    Some(file) => config.with_key(&file.key)?,
                    None => config,
                };
                cento::Index::create(&path, config)?
            } else {
                let index = cento::Index::open(&path)?;
                check_settings(
                    &index,
                    preset,
                    scheme,
                    analyzer,
                    store_text,
                    store_signatures,
                    novelty,
                )?;
                key.iter().try_for_each(|file| index.unlock(&file.key))?;
                index
            };
            Ok(Index { open: Arc::new(OpenIndex::new(path, key, index)) })
        })
    }

    #[getter]
    fn key_file(&self) -> Option<PathBuf> {
        self.open.key_file().map(|file| file.path.clone())
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.open.path().to_owned()
    }

    #[getter]
    fn preset(&self) -> PyResult<Option<&'static str>> {
        Ok(self.open.index().map_err(Failure)?.config().preset.map(Preset::name))
    }

    #[getter]
    fn scheme(&self) -> PyResult<String> {
        Ok(self.open.index().map_err(Failure)?.config().scheme.to_string())
    }

    #[getter]
    fn analyzer(&self) -> PyResult<String> {
        Ok(self.open.index().map_err(Failure)?.config().analyzer.to_string())
    }

    #[getter]
    fn stores_text(&self) -> PyResult<bool> {
        Ok(self.open.index().map_err(Failure)?.config().store_text)
    }

    #[getter]
    fn stores_signatures(&self) -> PyResult<bool> {
        Ok(self.open.index().map_err(Failure)?.config().store_signatures)
    }

    #[getter]
    fn records_novelty(&self) -> PyResult<bool> {
        Ok(self.open.index().map_err(Failure)?.config().records_novelty)
    }

    fn reload(&self, py: Python<'_>) -> PyResult<()> {
        run::long(py, |_| {
            self.open.show(self.open.index()?.snapshot()?);
            Ok(())
        })
    }

    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        run::short(py, || Ok(self.open.searcher()?.snapshot().documents()))
    }

    fn has(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = id_of(id, "the id")?;
        run::short(py, || Ok(self.open.searcher()?.snapshot().find(&id)?.is_some()))
    }

    /// Returns a stored document, or `None` if the id is missing.
    fn document(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Option<DocumentTuple>> {
        let id = id_of(id, "the id")?;
        let found = run::short(py, || {
            let searcher = self.open.searcher()?;
            let snapshot = searcher.snapshot();
            snapshot.find(&id)?.map(|address| snapshot.document(address)).transpose()
        })?;
        Ok(found.map(listing::values_of).transpose().map_err(Failure)?)
    }

    /// Starts to read the documents that pass a filter, or all documents, in stored order.
    fn documents(&self, py: Python<'_>, filter: Option<String>) -> PyResult<Documents> {
        listing::documents(py, &self.open, filter)
    }

    /// Makes an Arrow stream of the documents that pass a filter.
    fn rows(&self, py: Python<'_>, filter: Option<String>) -> PyResult<Stream> {
        listing::rows(py, &self.open, filter)
    }

    /// Starts to read the ids of all documents, in stored order.
    fn each_id(&self, py: Python<'_>) -> PyResult<Ids> {
        listing::ids(py, &self.open)
    }

    /// Returns the ids of all documents, in stored order.
    fn ids(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        run::long(py, |stop| {
            let searcher = self.open.searcher()?;
            let snapshot = searcher.snapshot();
            let id = |address| stop.check().and_then(|()| snapshot.id(address));
            snapshot.live().map(id).collect()
        })
    }

    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        let stats = run::short(py, || self.open.searcher()?.snapshot().stats())?;
        to_json(&stats)
    }

    /// Returns the numbers of segments and of damaged segments, the problem at each damaged place,
    /// and the files that no commit uses.
    fn check(&self, py: Python<'_>) -> PyResult<(usize, usize, Vec<Problem>, Vec<String>)> {
        // A signal ends only the waiting. The library reads on to the end.
        let report = apart(py, self.open.index().map_err(Failure)?, |index| index.check())?;
        let problems = report.problems.into_iter();
        let problems = problems.map(|p| (p.file, p.section.to_owned(), p.offset, p.what));
        Ok((report.segments, report.damaged, problems.collect(), report.unlisted))
    }

    /// Returns the numbers of segments before and after, and the number of deleted documents
    /// removed for good.
    fn compact(&self, py: Python<'_>, segments: usize) -> PyResult<(usize, usize, u64)> {
        let (done, snapshot) = apart(py, self.open.index().map_err(Failure)?, move |index| {
            let done = index.compact(segments)?;
            Ok((done, index.snapshot()?))
        })?;
        self.open.show(snapshot);
        Ok((done.segments_before, done.segments_after, done.purged))
    }

    /// Returns the record of a withdrawal as JSON, and whether it was made before.
    fn withdraw(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        dry_run: bool,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<(String, bool)> {
        let id = id_of(id, "the id")?;
        let options: WithdrawOptions = Options(options).read(&[])?;
        options.check().map_err(Failure)?;
        let index = self.open.index().map_err(Failure)?;
        let (withdrawal, again, snapshot) = run::long(py, move |stop| {
            if dry_run {
                let snapshot = index.snapshot()?;
                return match Plan::new(&snapshot, &id, &options, stop) {
                    Err(Error::UnknownId { .. }) => {
                        Ok((withdraw::earlier_record(&snapshot, &id, stop)?, true, None))
                    }
                    plan => Ok((plan?.withdrawal().clone(), false, None)),
                };
            }
            let mut writer = index.writer(WriterOptions::default().merge(false))?;
            let (withdrawal, again) = match Plan::new(writer.committed()?, &id, &options, stop) {
                Err(Error::UnknownId { .. }) => (withdraw::complete(&mut writer, &id, stop)?, true),
                plan => (plan?.apply(&mut writer, stop)?, false),
            };
            if let Some(mut watches) = Watches::open_if_any(&index)? {
                watches.forget_withdrawn()?;
            }
            writer.finish()?;
            Ok((withdrawal, again, Some(index.snapshot()?)))
        })?;
        if let Some(snapshot) = snapshot {
            self.open.show(snapshot);
        }
        Ok((to_json(&withdrawal)?, again))
    }

    /// Returns each withdrawal as JSON.
    fn withdrawals(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let index = self.open.index().map_err(Failure)?;
        let all = run::short(py, || index.withdrawals())?;
        all.iter().map(to_json).collect()
    }

    fn forget_withdrawal(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<u64> {
        let id = id_of(id, "the id")?;
        apart(py, self.open.index().map_err(Failure)?, move |index| {
            let mut writer = index.writer(WriterOptions::default().merge(false))?;
            let forgotten = withdraw::forget(&mut writer, &id)?;
            writer.finish()?;
            Ok(forgotten)
        })
    }

    #[pyo3(signature = (text, parts, id, signature, as_bytes, options))]
    #[expect(clippy::too_many_arguments, reason = "the arguments of the call in Python")]
    fn search(
        &self,
        py: Python<'_>,
        text: Option<&Bound<'_, PyAny>>,
        parts: Option<&Bound<'_, PyAny>>,
        id: Option<&Bound<'_, PyAny>>,
        signature: Option<search::SignatureTuple>,
        as_bytes: bool,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Answer> {
        search::one(py, &self.open, (text, parts, id, signature), as_bytes, options)
    }

    fn shard(&self, py: Python<'_>, call: &str, request: &str) -> PyResult<String> {
        shards::answer(py, &self.open, call, request)
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
        search::many(py, &self.open, texts, threads, as_bytes, skips, options)
    }

    fn writer(&self, memory: Option<usize>) -> PyResult<Writer> {
        Writer::open(self.open.clone(), memory)
    }

    fn pairs(
        &self,
        py: Python<'_>,
        against: Option<&Bound<'_, Index>>,
        as_bytes: bool,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Pairs> {
        let against = against.map(|other| &*other.get().open);
        pairs::start(py, &self.open, against, as_bytes, options)
    }

    /// Returns each cluster as JSON.
    fn clusters(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
        pairs::clusters(py, &self.open, options)
    }

    /// Returns each family of passages as JSON, and numbers about the search.
    fn families(
        &self,
        py: Python<'_>,
        as_bytes: bool,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<(Vec<String>, [u64; 5])> {
        families::of_passages(py, &self.open, as_bytes, options)
    }

    /// Returns each version as JSON, and numbers about all versions.
    fn lineage(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<(Vec<String>, [u64; 4])> {
        families::of_documents(py, &self.open, options)
    }

    fn add_watches(
        &self,
        py: Python<'_>,
        watched: &Bound<'_, PyList>,
        webhook: Option<(String, String)>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Vec<String>> {
        watch::add(py, &self.open, watched, webhook, options)
    }

    fn watches(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        watch::list(py, &self.open)
    }

    fn remove_watch(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        watch::remove(py, &self.open, name)
    }

    fn watch_events(
        &self,
        py: Python<'_>,
        after: u64,
        watch: Option<&str>,
        limit: usize,
    ) -> PyResult<String> {
        watch::events(py, &self.open, after, watch, limit)
    }

    /// Returns the passages that this share of the documents has, each as JSON.
    fn repeated_passages(&self, py: Python<'_>, min_share: f64) -> PyResult<Vec<String>> {
        let share = cento::BoilerplateShare::new(min_share).map_err(Failure)?;
        let threads = cento::available_threads();
        let found = run::long(py, |stop| {
            self.open.searcher()?.snapshot().repeated_passages(share, threads, stop)
        })?;
        found.passages.iter().map(to_json).collect()
    }

    fn sign(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<search::SignatureTuple> {
        let index = self.open.index().map_err(Failure)?;
        crate::compare::sign_with(py, index.config(), text)
    }
}

/// Does work that the library cannot end early. A signal leaves the thread behind, which is safe
/// because a change of an index is done whole or not at all.
fn apart<T: Send + 'static>(
    py: Python<'_>,
    index: cento::Index,
    work: impl FnOnce(cento::Index) -> cento::Result<T> + Send + 'static,
) -> PyResult<T> {
    run::apart(py, move || work(index))
}
