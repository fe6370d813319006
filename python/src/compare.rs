//! Comparisons of two texts, signatures, and the lists of families.

use cento::compare::measure;
use cento::spec::Family;
use cento::text::analyzer;
use cento::{CompareOptions, Config, Measure, Preset, PresetRank, TextPair, scheme};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{text_of, to_json};
use crate::error::Failure;
use crate::offsets::convert;
use crate::query::Options;
use crate::run;
use crate::search::SignatureTuple;
use crate::settings::{config, preset_of};

/// Compares two texts; returns JSON with offsets in the requested unit, and as the library gives
/// it.
#[pyfunction]
#[pyo3(signature = (a, b, preset, scheme, analyzer, as_bytes, options))]
#[expect(clippy::too_many_arguments, reason = "the Python half gives them all, by name")]
pub fn compare(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    preset: Option<String>,
    scheme: Option<String>,
    analyzer: Option<String>,
    as_bytes: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<(String, String, String)> {
    let (a, b) = (text_of(a, "a", "text")?, text_of(b, "b", "text")?);
    let options: CompareOptions = Options(options).read(&[])?;
    options.check().map_err(Failure)?;
    let (comparison, shown, analyzer) = run::long(py, |stop| {
        let preset = preset_of(preset)?;
        let (scheme, analyzer) = (scheme.as_deref(), analyzer.as_deref());
        let config = config(preset, scheme, analyzer, false, None, None)?;
        let Config { scheme, analyzer, .. } = config;
        let measures = Measure::parse_all(&options.measures, None, &analyzer)?;
        let found =
            cento::compare_by(&scheme, &analyzer, TextPair::new(a, b), &measures, &options, stop)?;
        let mut shown = found.clone();
        if !as_bytes {
            convert(&mut shown.passages, a, b);
        }
        Ok((found, shown, analyzer.to_string()))
    })?;
    Ok((to_json(&shown)?, to_json(&comparison)?, analyzer))
}

/// Makes the signature of a text.
#[pyfunction]
pub fn sign(
    py: Python<'_>,
    text: &Bound<'_, PyAny>,
    preset: Option<String>,
    scheme: Option<String>,
    analyzer: Option<String>,
    frequencies: Option<std::path::PathBuf>,
    key_file: Option<std::path::PathBuf>,
) -> PyResult<SignatureTuple> {
    let preset = preset_of(preset).map_err(Failure)?;
    let (scheme, analyzer) = (scheme.as_deref(), analyzer.as_deref());
    let config = config(preset, scheme, analyzer, false, None, frequencies);
    let keyed = config.and_then(|config| match key_file {
        Some(file) => config.with_key(&cento::Key::read(file)?),
        None => Ok(config),
    });
    let config = keyed.map_err(Failure)?;
    sign_with(py, &config, text)
}

/// Makes the signature of a text with `config`.
pub fn sign_with(
    py: Python<'_>,
    config: &Config,
    text: &Bound<'_, PyAny>,
) -> PyResult<SignatureTuple> {
    let text = text_of(text, "the text", "text")?;
    let (tokens, signature) = run::long(py, |stop| {
        let mut tokens = cento::Tokens::default();
        let signature = config.sign_into(text, &mut tokens, stop)?;
        Ok((tokens.hashes.len() as u32, signature))
    })?;
    let fingerprints = signature.into_iter().map(|f| (f.key, f.position)).collect();
    let (scheme, analyzer) = (config.scheme.to_string(), config.analyzer.to_string());
    let key = config.key().map(|value| value.to_string());
    Ok((scheme, analyzer, config.frequencies_digest(), key, tokens, fingerprints))
}

/// The name of a preset, its purpose, scheme, analyzer, ranking and least resemblance.
type PresetRow =
    (&'static str, &'static str, &'static str, &'static str, Option<&'static str>, Option<f64>);

/// Returns the settings of the presets.
#[pyfunction]
pub fn presets() -> Vec<PresetRow> {
    let row = |preset: &Preset| {
        let rank = preset.rank().map(PresetRank::name);
        let (name, purpose) = (preset.name(), preset.purpose());
        (name, purpose, preset.scheme(), preset.analyzer(), rank, preset.min_resemblance())
    };
    Preset::ALL.iter().map(row).collect()
}

/// Returns the description of each scheme, analyzer or measure.
#[pyfunction]
pub fn families<'py>(py: Python<'py>, kind: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let described: Vec<_> = match kind {
        "schemes" => scheme::families().iter().map(|family| family.describe()).collect(),
        "analyzers" => analyzer::families().iter().map(|family| family.describe()).collect(),
        _ => measure::families().iter().map(|family| family.describe()).collect(),
    };
    let entry = |family: cento::spec::Description| {
        let parameters = family.parameters.iter().map(|parameter| {
            let entry = PyDict::new(py);
            entry.set_item("name", parameter.name)?;
            let default = (!parameter.is_required).then(|| parameter.written(parameter.default));
            entry.set_item("default", default)?;
            let is_number = parameter.names.is_empty();
            entry.set_item("min", is_number.then_some(parameter.min))?;
            entry.set_item("max", is_number.then_some(parameter.max))?;
            entry.set_item("values", parameter.names)?;
            entry.set_item("meaning", parameter.meaning)?;
            Ok(entry)
        });
        let parameters = parameters.collect::<PyResult<Vec<_>>>()?;
        let entry = PyDict::new(py);
        entry.set_item("name", family.name)?;
        entry.set_item("summary", family.summary)?;
        entry.set_item("source", family.source)?;
        entry.set_item("example", family.example)?;
        entry.set_item("parameters", parameters)?;
        Ok(entry)
    };
    described.into_iter().map(entry).collect()
}
