//! The settings of an index, as Python gives them.

use std::path::PathBuf;
use std::sync::Arc;

use cento::index::Config;
use cento::scheme::frequency::FrequencyTable;
use cento::{Error, MaxDf, Preset, Reason};
use pyo3::prelude::*;

use crate::error::Failure;

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

/// Refuses an index with other settings than the requested ones.
pub fn check_settings(
    index: &cento::Index,
    preset: Option<Preset>,
    scheme: Option<String>,
    analyzer: Option<String>,
    store_text: Option<bool>,
    store_signatures: Option<bool>,
    novelty: Option<bool>,
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
        ("novelty", config.records_novelty, novelty),
    ] {
        if let Some(asked) = asked.filter(|asked| *asked != own) {
            return differs(what, written(own), written(asked));
        }
    }
    Ok(())
}
