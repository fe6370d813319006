//! `cento stats` describes an index in numbers.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use super::key;
use super::output::{self, Format, bytes, count, percent};
use super::progress::Progress;
use super::target::{Target, TargetArgs};
use super::terminal::line;
use super::{Result, VerbOutcome};
use cento::NewText;
use cento::index::{self, DfDistribution, PASSAGE_TOKENS};

/// Show the size and contents of an index.
#[derive(Debug, Args)]
pub struct Stats {
    #[command(flatten)]
    target: TargetArgs,
    /// Omit what takes long: the distribution of document frequencies, and the new text of each day
    /// (of an index created with --novelty). Services always omit both.
    #[arg(long)]
    quick: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Serialize)]
struct StatsReport {
    #[serde(flatten)]
    stats: index::Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequencies: Option<DfDistribution>,
    /// New text per day. Empty if the index does not record new text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    new_text: Vec<NewText>,
}

impl Stats {
    pub(super) fn run(mut self) -> Result {
        let report = match self.target.only_target()? {
            Target::Index(path) => {
                let snapshot = key::open(&path)?.snapshot()?;
                let stats = snapshot.stats()?;
                let (frequencies, new_text) = match self.quick {
                    true => (None, Vec::new()),
                    false => {
                        let progress = Progress::new(stats.postings, "postings");
                        let counted = snapshot.df_distribution_with(&|done| progress.set(done))?;
                        progress.finish();
                        (Some(counted), snapshot.new_text()?)
                    }
                };
                StatsReport { stats, frequencies, new_text }
            }
            Target::Service(client) => {
                let stats = client.stats()?;
                if self.format == Format::Json {
                    output::print_json(&stats)?;
                    return Ok(VerbOutcome::Found);
                }
                StatsReport { stats: stats.index, frequencies: None, new_text: Vec::new() }
            }
        };
        if self.format == Format::Json {
            output::print_json(&report)?;
            return Ok(VerbOutcome::Found);
        }
        let StatsReport { stats, frequencies, new_text } = report;
        let mut out = io::stdout().lock();
        let preset = stats.preset.map(|preset| ("preset", preset.to_string()));
        let key = stats.key.map(|value| ("key", value));
        let rows = [
            ("documents", count(stats.documents)),
            ("deleted", count(stats.deleted)),
            ("segments", count(stats.segments as u64)),
            ("tokens", count(stats.tokens)),
            ("fingerprints", count(stats.fingerprints)),
            ("postings", count(stats.postings)),
            ("terms", count(stats.terms)),
            ("scheme", stats.scheme),
            ("analyzer", stats.analyzer),
        ];
        let sizes = [
            ("signatures", bytes(stats.bytes.signatures)),
            ("text", bytes(stats.bytes.text)),
            ("other", bytes(stats.bytes.other)),
        ];
        for (name, value) in rows.into_iter().chain(preset).chain(key).chain(sizes) {
            line!(out, "{name:<13} {value}")?;
        }
        print_new_text(&mut out, &new_text)?;
        if let Some(frequencies) = frequencies {
            print_frequencies(&mut out, &frequencies)?;
        }
        Ok(VerbOutcome::Found)
    }
}

/// Prints the new text of each day, if any.
fn print_new_text(out: &mut impl Write, days: &[NewText]) -> io::Result<()> {
    if days.is_empty() {
        return Ok(());
    }
    line!(out)?;
    line!(out, "{:<10} {:>12} {:>14} {:>7} {:>7}", "day", "documents", "tokens", "new", "common")?;
    for NewText { day, documents, tokens, new, common } in days {
        let share = |part: u64| percent(part as f64 / (*tokens).max(1) as f64);
        let (new, common) = (share(*new), share(*common));
        line!(out, "{day} {:>12} {:>14} {new:>7} {common:>7}", count(*documents), count(*tokens))?;
    }
    Ok(())
}

fn print_frequencies(out: &mut impl Write, frequencies: &DfDistribution) -> io::Result<()> {
    let all: u64 = frequencies.distribution.iter().map(|bucket| bucket.postings).sum();
    let share = |postings: u64| 100.0 * postings as f64 / all.max(1) as f64;
    line!(out)?;
    line!(out, "{:>12} {:>14} {:>14} {:>7}", "df up to", "terms", "postings", "share")?;
    for bucket in &frequencies.distribution {
        line!(
            out,
            "{:>12} {:>14} {:>14} {:>5.1} %",
            count(bucket.df_max),
            count(bucket.terms),
            count(bucket.postings),
            share(bucket.postings)
        )?;
    }
    let DfDistribution { max_df, stopped, .. } = frequencies;
    writeln!(
        out,
        "\nmax-df {}: {} stop-fingerprints, {:.1} % of the postings. Of {} sampled documents, \
         {:.2} %\ncontain only stop-fingerprints, as do {:.2} % of their passages of \
         {PASSAGE_TOKENS} tokens:\ncopies of these are missed.",
        count(*max_df),
        count(stopped.terms),
        share(stopped.postings),
        count(frequencies.sampled_documents),
        100.0 * frequencies.documents_lost,
        100.0 * frequencies.passages_lost
    )
}
