//! Compares the lineage of documents with known versions.
//!
//! Revisions of files have a known order: the direct ancestor of a revision is the revision before.
//! An RFC lists the RFCs that it obsoletes. A listed RFC is a direct ancestor unless the list also
//! has an RFC that obsoletes the first. Documents are added in random order, so that the order of
//! addition says nothing.

mod rfc;
mod tally;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use cento::index::{Config, Document, Index, WriterOptions};
use cento::search::Searcher;
use cento_collections::lineage::{Descent, LineageOptions, lineage};
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Result;
use crate::cento::json_lines;
use crate::measure::cpu_seconds;
use tally::Tally;

/// Measure the direct ancestors that `lineage` finds, and their directions.
#[derive(Debug, Args)]
pub struct Lineage {
    /// Revisions of files, with `meta.series` and `meta.rev`: a JSON lines file.
    #[arg(long)]
    revisions: Option<PathBuf>,
    /// RFCs, with `meta.number`: a JSON lines file.
    #[arg(long)]
    rfcs: Option<PathBuf>,
    /// Documents without a truth, with dates in `meta.number`, to measure the time of a large
    /// collection: a JSON lines file.
    #[arg(long)]
    large: Option<PathBuf>,
    /// A new directory for indexes.
    #[arg(long)]
    work: PathBuf,
    /// The scheme of the indexes.
    #[arg(long, default_value = "winnow(k=5,w=10)")]
    scheme: String,
    /// The least share that an ancestor explains. Can be repeated.
    #[arg(long, value_name = "X", default_values_t = [LineageOptions::default().min_explained])]
    min_explained: Vec<f64>,
    /// Print the answers that differ from the truth, with their similarity, to standard error.
    #[arg(long)]
    show: bool,
    /// The seed of the order of addition.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// A line of a corpus.
#[derive(Debug, Deserialize)]
struct Line {
    id: String,
    text: String,
    #[serde(default)]
    meta: Map<String, Value>,
}

/// The known history of a document.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Position in time within the document's history.
    pub order: u64,
    /// The first document of the history, which consists of versions of the same text.
    pub history: String,
    /// The direct ancestors, without documents between.
    pub direct: Vec<String>,
    /// Whether the document is in the half that chose the options.
    pub chosen_by: bool,
}

/// The documents of a corpus, by id.
pub type Truth = BTreeMap<String, Known>;

impl Lineage {
    pub(crate) fn run(self) -> Result {
        println!(
            "| documents | date | min_explained | half | versions | direct ancestor | other of the \
             history | another | none | without ancestor | given one | right direction | wrong |"
        );
        println!("|---|---|{}", "---:|".repeat(11));
        if let Some(path) = &self.revisions {
            let (mut lines, mut of_series) = (Vec::new(), BTreeMap::<String, Vec<_>>::new());
            for line in json_lines::<Line>(path)? {
                let mut line = line?;
                let series = line.meta.get("series").and_then(Value::as_str);
                let series = series.ok_or_else(|| format!("{}: no meta.series", line.id))?;
                let rev = line.meta.get("rev").and_then(Value::as_u64);
                let rev = rev.ok_or_else(|| format!("{}: no meta.rev", line.id))?;
                of_series.entry(series.to_owned()).or_default().push((rev, line.id.clone()));
                line.meta.insert("date".into(), json!(rev));
                lines.push(line);
            }
            self.measure("revisions", lines, &revisions(of_series))?;
        }
        if let Some(path) = &self.rfcs {
            let mut lines = json_lines::<Line>(path)?.collect::<Result<Vec<Line>>>()?;
            for line in &mut lines {
                if let Some(date) = rfc::date(&line.text) {
                    line.meta.insert("date".into(), json!(date));
                }
            }
            let texts = lines.iter().map(|line| (line.id.as_str(), line.text.as_str()));
            let truth = rfc::truth(texts)?;
            self.measure("RFCs", lines, &truth)?;
        }
        if let Some(path) = &self.large {
            self.time(json_lines::<Line>(path)?.collect::<Result<Vec<Line>>>()?)?;
        }
        Ok(())
    }

    /// Prints the time for a collection, with and without dates, beside the time of adding it.
    fn time(&self, lines: Vec<Line>) -> Result {
        let started = cpu_seconds();
        let searcher = self.index("large", lines)?;
        println!("added: {:.1} s of processor time", cpu_seconds() - started);
        for date in [Some("number"), None] {
            let mut options = LineageOptions::default();
            options.date = date.map(str::to_owned);
            let started = cpu_seconds();
            let mut found = lineage(&searcher, &options);
            found.by_ref().try_for_each(|row| row.map(drop))?;
            let (seconds, summary) = (cpu_seconds() - started, found.summary());
            println!("dates {date:?}: {seconds:.1} s of processor time, {summary:?}");
        }
        Ok(())
    }

    /// Prints the rows of a corpus, with and without dates.
    fn measure(&self, name: &str, lines: Vec<Line>, truth: &Truth) -> Result {
        let searcher = self.index(name, lines)?;
        for date in [Some("date"), None] {
            for &least in &self.min_explained {
                let mut options = LineageOptions::default().min_explained(least);
                options.date = date.map(str::to_owned);
                let started = Instant::now();
                let mut found = lineage(&searcher, &options);
                let answer = found.by_ref().collect::<cento::Result<Vec<Descent>>>()?;
                eprintln!(
                    "{name}: {:.1} s, {:?}",
                    started.elapsed().as_secs_f64(),
                    found.summary()
                );
                for chosen_by in [true, false] {
                    let tally = Tally::new(truth, &answer, chosen_by);
                    let half = if chosen_by { "chosen by" } else { "other" };
                    let date = if date.is_some() { "known" } else { "none" };
                    println!("| {name} | {date} | {least} | {half} | {tally} |");
                    if self.show {
                        tally.differences.iter().for_each(|shown| eprintln!("{shown}"));
                    }
                }
            }
        }
        Ok(())
    }

    fn index(&self, name: &str, mut lines: Vec<Line>) -> Result<Searcher> {
        fastrand::Rng::with_seed(self.seed).shuffle(&mut lines);
        let path = self.work.join(name);
        std::fs::create_dir_all(&path)?;
        let index = Index::create(&path, Config::new(&self.scheme, "words", true)?)?;
        let mut writer = index.writer(WriterOptions::default())?;
        for Line { id, text, meta } in &lines {
            writer.add(Document::new(id, text).with_meta(meta.clone()))?;
        }
        writer.finish()?;
        Ok(Searcher::new(index.snapshot()?))
    }
}

/// Returns the truth of revisions. Every second file belongs to the half that chooses.
fn revisions(of_series: BTreeMap<String, Vec<(u64, String)>>) -> Truth {
    let mut truth = Truth::new();
    for (at, (series, mut revisions)) in of_series.into_iter().enumerate() {
        revisions.sort();
        let mut before = None;
        for (order, id) in revisions {
            let direct = before.replace(id.clone()).into_iter().collect();
            let known = Known { order, history: series.clone(), direct, chosen_by: at % 2 == 0 };
            truth.insert(id, known);
        }
    }
    truth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ancestor_of_a_revision_is_the_one_before_it() {
        let series = |name: &str| (name.to_owned(), vec![(7, "b".to_owned()), (3, "a".to_owned())]);
        let truth = revisions(BTreeMap::from([series("s")]));
        assert_eq!(truth["b"].direct, ["a"]);
        assert!(truth["a"].direct.is_empty());
    }
}
