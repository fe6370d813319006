//! `cento info presets` lists the presets with their settings.

use std::io;

use clap::Args;
use serde::Serialize;

use crate::list_format::{ListFormat, ListOut};
use crate::terminal::line;
use crate::{Result, VerbOutcome};
use cento::{Preset, PresetRank};

/// List the presets: what --for sets.
///
/// You see the scheme and the analyzer of each preset, and its defaults: the rank of searches and
/// pairs, the minimum resemblance of near-duplicates for `pairs` and `cluster`, and the minimum
/// resemblance of duplicates that `dedup` drops. Searches have no threshold by default.
#[derive(Debug, Args)]
pub struct Presets {
    /// Show only these names.
    names: Vec<String>,
    /// Output format. The columns of csv and tsv are the JSON fields.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

/// The columns of a table of presets.
const COLUMNS: &[&str] =
    &["name", "purpose", "scheme", "analyzer", "rank", "min_resemblance", "dedup_min_resemblance"];

#[derive(Serialize)]
struct PresetEntry {
    name: &'static str,
    /// The texts that the preset suits.
    purpose: &'static str,
    scheme: &'static str,
    analyzer: &'static str,
    rank: Option<PresetRank>,
    min_resemblance: Option<f64>,
    /// The default minimum resemblance of `cento dedup`.
    dedup_min_resemblance: Option<f64>,
}

impl PresetEntry {
    fn new(preset: Preset) -> PresetEntry {
        PresetEntry {
            name: preset.name(),
            purpose: preset.purpose(),
            scheme: preset.scheme(),
            analyzer: preset.analyzer(),
            rank: preset.rank(),
            min_resemblance: preset.min_resemblance(),
            dedup_min_resemblance: preset.dedup_min_resemblance(),
        }
    }

    fn settings(&self) -> String {
        let mut said = format!("{} over {}", self.scheme, self.analyzer);
        if let Some(rank) = self.rank {
            said += &format!("; --rank {}", rank.name());
        }
        if let Some(least) = self.min_resemblance {
            said += &format!("; near-duplicates by --min-resemblance {least}");
            let of_dedup = self.dedup_min_resemblance.filter(|of_dedup| *of_dedup != least);
            if let Some(of_dedup) = of_dedup {
                said += &format!(", in dedup {of_dedup}");
            }
        }
        said
    }
}

impl Presets {
    pub(super) fn run(self) -> Result {
        let named = self.names.iter().map(|name| name.parse());
        let named = named.collect::<cento::Result<Vec<Preset>>>()?;
        let is_asked = |preset: &&Preset| named.is_empty() || named.contains(*preset);
        let out = io::BufWriter::new(io::stdout().lock());
        let mut out = ListOut::new(out, self.format, COLUMNS)?;
        for preset in Preset::ALL.iter().filter(is_asked) {
            let entry = PresetEntry::new(*preset);
            out.write(&entry, |out| {
                line!(out, "{:<10} {}", entry.name, entry.purpose)?;
                line!(out, "           {}", entry.settings())
            })?;
        }
        out.flush()?;
        Ok(VerbOutcome::Found)
    }
}
