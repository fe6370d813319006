//! Fingerprints and verdicts for engines that share out the documents of a collection.
//!
//! No process has an index of all documents. Each signs its own texts, an engine brings those
//! together that share fingerprints, and each decides about the pairs that it then has.

use std::path::PathBuf;

use cento::index::{Config, Document, SignedDocument};
use cento::{MaxDf, scheme::distinct_keys};
use cento_collections::dedup::{DedupOptions, DuplicateJudge};
use cento_collections::{OverlapMinimum, PairOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::convert::text_of;
use crate::error::Failure;
use crate::query::Options;
use crate::run;
use crate::settings::{config, preset_of};

/// The arguments that are settings of an index.
const SETTINGS: [&str; 4] = ["preset", "scheme", "analyzer", "frequencies"];

fn config_of(options: &Options<'_, '_>) -> PyResult<Config> {
    let preset = preset_of(options.value("preset")?).map_err(Failure)?;
    let (scheme, analyzer): (Option<String>, Option<String>) =
        (options.value("scheme")?, options.value("analyzer")?);
    let frequencies: Option<PathBuf> = options.value("frequencies")?;
    let config = config(preset, scheme.as_deref(), analyzer.as_deref(), true, None, frequencies);
    Ok(config.map_err(Failure)?)
}

/// The fingerprints of texts, one after the other, and for each text how many it has, its tokens,
/// and the minimum overlap with its partners: numbers of 8, 4, 4 and 4 bytes, the lowest byte
/// first.
type SignedTexts<'py> =
    (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Signs texts for a join.
#[pyclass(frozen, module = "cento._native")]
pub struct TextSigner {
    config: Config,
    minimum: OverlapMinimum,
    max_df: MaxDf,
}

#[pymethods]
impl TextSigner {
    /// Prepares for pairs with these options or, if `is_dedup`, for duplicates.
    #[new]
    fn new(options: &Bound<'_, PyDict>, is_dedup: bool) -> PyResult<TextSigner> {
        let options = Options(options);
        let config = config_of(&options)?;
        let (minimum, max_df) = if is_dedup {
            let dedup: DedupOptions = options.read(&SETTINGS)?;
            // A run stops no fingerprint.
            let judge = DuplicateJudge::new(&config, &dedup);
            (judge.map(|judge| judge.overlap_minimum()), Some(MaxDf::Documents(u64::MAX)))
        } else {
            let pairs: PairOptions = options.read(&SETTINGS)?;
            (OverlapMinimum::of_pairs(&config, &pairs), pairs.max_df)
        };
        let minimum = minimum.map_err(Failure)?;
        Ok(TextSigner { config, minimum, max_df: max_df.unwrap_or_default() })
    }

    /// Returns the number of documents that a fingerprint may be in and still count, of this number
    /// of documents.
    fn df_limit(&self, documents: u64) -> u64 {
        self.max_df.limit(documents)
    }

    /// Tells whether both documents of a pair share at least their own minimum overlap.
    fn is_mutual(&self) -> bool {
        self.minimum.is_mutual()
    }

    /// Signs texts. A text without partners has the minimum 0.
    fn sign<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyAny>>,
        ids: Vec<String>,
    ) -> PyResult<SignedTexts<'py>> {
        let texts = texts_of(&texts, &ids)?;
        let mut made = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        run::long(py, |stop| {
            for (text, id) in texts.iter().zip(&ids) {
                let signed = SignedDocument::new(Document::new(id, *text), &self.config, stop)?;
                let keys = distinct_keys(&signed.signature);
                let size = keys.len() as u32;
                let least = self.minimum.of(size, signed.token_count).unwrap_or(0);
                made.0.extend(keys.iter().flat_map(|key| key.to_le_bytes()));
                made.1.extend(size.to_le_bytes());
                made.2.extend(signed.token_count.to_le_bytes());
                made.3.extend(least.to_le_bytes());
            }
            Ok(())
        })?;
        let [keys, sizes, tokens, least] =
            [made.0, made.1, made.2, made.3].map(|bytes| PyBytes::new(py, &bytes));
        Ok((keys, sizes, tokens, least))
    }
}

/// Borrows texts of Python, each with an id for the error that it is none.
fn texts_of<'a>(texts: &'a [Bound<'_, PyAny>], ids: &[String]) -> PyResult<Vec<&'a str>> {
    texts.iter().zip(ids).map(|(text, id)| text_of(text, id, "text")).collect()
}

/// Decides which texts of pairs are duplicates.
#[pyclass(frozen, module = "cento._native")]
pub struct TextJudge {
    config: Config,
    judge: DuplicateJudge,
}

#[pymethods]
impl TextJudge {
    #[new]
    fn new(options: &Bound<'_, PyDict>) -> PyResult<TextJudge> {
        let options = Options(options);
        let config = config_of(&options)?;
        let judge = DuplicateJudge::new(&config, &options.read(&SETTINGS)?).map_err(Failure)?;
        Ok(TextJudge { config, judge })
    }

    /// Tells for each pair, by the places of two different texts, whether the first duplicates the
    /// second.
    fn duplicates(
        &self,
        py: Python<'_>,
        texts: Vec<Bound<'_, PyAny>>,
        ids: Vec<String>,
        pairs: Vec<(usize, usize)>,
    ) -> PyResult<Vec<bool>> {
        let texts = texts_of(&texts, &ids)?;
        run::long(py, |stop| {
            let sign = |(text, id): (&&str, &String)| {
                SignedDocument::new(Document::new(id, *text), &self.config, stop)
            };
            let signed = texts.iter().zip(&ids).map(sign).collect::<cento::Result<Vec<_>>>()?;
            self.judge.duplicates(&signed, &pairs, stop)
        })
    }
}
