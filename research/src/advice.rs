//! Advice against truth: every preset beside the best setting of a grid, on data of the same kind.
//!
//! The engine is the engine of `cento method tune`. Half of the queries choose the best setting of
//! the grid and the thresholds. The second half, with different documents, gives every figure. A
//! preset with a threshold is judged twice: with the preset's threshold, and with a chosen
//! threshold.

use std::path::{Path, PathBuf};

use cento::index::{Document, Preset};
use cento::{Rank, Stop};
use cento_collections::tune::{
    By, Cases, LabelledPair, PairText, Sample, Setting, SettingReport, TuneOptions, TuneReport,
    edits, labelled, planted, settings, tune,
};
use cento_source::SourceOptions;
use clap::Args;
use serde_json::Value;

use crate::Result;

/// Compare the settings of each preset with the best of a grid.
#[derive(Debug, Args)]
pub struct Advice {
    /// Articles as JSON lines: edits are planted in them, and in their first words as titles.
    #[arg(long, value_name = "FILE")]
    articles: Option<PathBuf>,
    /// Web pages or license texts as JSON lines, with many near-duplicates: edits are planted.
    #[arg(long, value_name = "FILE")]
    duplicates: Option<PathBuf>,
    /// Pages as JSON lines, each corrected and as recognized: `meta.pair` and `meta.kind`.
    #[arg(long, value_name = "FILE")]
    ocr: Option<PathBuf>,
    /// Sentences as JSON lines: `text`, `rewritten`, and `meta.same`.
    #[arg(long, value_name = "FILE")]
    sentences: Option<PathBuf>,
    /// Java programs as JSON lines.
    #[arg(long, value_name = "FILE", requires = "program_pairs")]
    programs: Option<PathBuf>,
    /// Judged pairs of them: lines of two ids and 1 or 0, with tabs between them.
    #[arg(long, value_name = "FILE")]
    program_pairs: Option<PathBuf>,
    /// Documents of a corpus, and queries or pairs.
    #[arg(long, default_value = "1000")]
    sample: usize,
    /// The seed of the samples, the edits and the halves.
    #[arg(long, default_value = "1")]
    seed: u64,
    /// A directory for the indexes. Default: a temporary one.
    #[arg(long)]
    work: Option<PathBuf>,
}

/// The text of a sample.
const SAMPLE_BYTES_MAX: usize = 32 << 20;

/// The first words of an article that are a title.
const TITLE_WORDS: std::ops::Range<usize> = 5..12;

/// The best of a grid and the preset, for the table at the end.
struct Comparison {
    preset: Preset,
    data: String,
    line: String,
}

impl Advice {
    pub(crate) fn run(self) -> Result {
        let mut compared = Vec::new();
        if let Some(path) = &self.articles {
            let articles = self.sampled(path)?;
            for preset in [Preset::Essays, Preset::Corpus, Preset::Rewritten] {
                self.planted(preset, articles.clone(), "articles", &mut compared)?;
            }
            self.planted(Preset::Rewritten, titles(&articles), "titles", &mut compared)?;
        }
        if let Some(path) = &self.duplicates {
            let duplicates = self.sampled(path)?;
            self.planted(Preset::Corpus, duplicates, "near-duplicates", &mut compared)?;
        }
        if let Some(path) = &self.ocr {
            let (documents, pairs) = self.pages(path)?;
            self.labelled(Preset::Ocr, documents, &pairs, "OCR", &mut compared)?;
        }
        if let Some(path) = &self.sentences {
            let (documents, pairs) = self.sentences_of(path)?;
            self.labelled(Preset::Rewritten, documents, &pairs, "sentences", &mut compared)?;
        }
        if let (Some(path), Some(pairs)) = (&self.programs, &self.program_pairs) {
            let documents = read(path)?.into_iter().map(|(document, _)| document).collect();
            let pairs = judged(pairs)?;
            self.labelled(Preset::Code, documents, &pairs, "programs", &mut compared)?;
        }
        println!("\n## Presets and the best of the grid\n");
        println!(
            "| `--for` | data | best of the grid | F1: best | preset | preset, own threshold | \
             first: best | preset |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        for Comparison { preset, data, line } in compared {
            println!("| `{preset}` | {data} | {line} |");
        }
        Ok(())
    }

    fn sampled(&self, path: &Path) -> Result<Vec<Document>> {
        let mut sample = Sample::new(self.sample, SAMPLE_BYTES_MAX, self.seed);
        for (document, _) in read(path)? {
            sample.offer(document)?;
        }
        Ok(sample.into_documents())
    }

    fn planted(
        &self,
        preset: Preset,
        documents: Vec<Document>,
        data: &str,
        compared: &mut Vec<Comparison>,
    ) -> Result {
        let cases = planted(documents, &edits(Some(preset)), None, self.seed, Stop::NEVER)?;
        self.compare(preset, &cases, &format!("{data}, planted edits"), compared)
    }

    fn labelled(
        &self,
        preset: Preset,
        documents: Vec<Document>,
        pairs: &[LabelledPair],
        data: &str,
        compared: &mut Vec<Comparison>,
    ) -> Result {
        self.compare(preset, &labelled(documents, pairs, self.seed)?, data, compared)
    }

    /// Tries the grid on some queries, and prints its table.
    fn compare(
        &self,
        preset: Preset,
        cases: &Cases,
        data: &str,
        compared: &mut Vec<Comparison>,
    ) -> Result {
        let language = (preset == Preset::Code).then_some("java");
        let mut grid = settings(Some(preset), language);
        let own = Setting::of_preset(preset, language);
        if let Some(threshold) = preset.min_resemblance() {
            let place = grid.iter().position(|setting| setting.preset == Some(preset));
            let place = place.ok_or("the grid lacks the preset")?;
            grid.insert(place, own.with_threshold(threshold));
        }
        let by = match preset {
            Preset::Essays | Preset::Rewritten => By::Containment,
            _ => By::Resemblance,
        };
        let temporary = tempfile::tempdir()?;
        let work = self.work.as_deref().unwrap_or(temporary.path());
        eprintln!("{data}: --for {preset}");
        let report = tune(cases, &TuneOptions::new(&grid, by, work), &mut |_| {})?;
        print(preset, data, &report);
        let data = data.to_owned();
        compared.push(Comparison { preset, data, line: line(preset, &report)? });
        Ok(())
    }

    /// Reads OCR pages as documents, and the corrected ones as texts to search for.
    fn pages(&self, path: &Path) -> Result<(Vec<Document>, Vec<LabelledPair>)> {
        let (mut documents, mut pairs) = (Vec::new(), Vec::new());
        for (number, (document, _)) in read(path)?.into_iter().enumerate() {
            match document.id.strip_suffix(":corrected") {
                Some(pair) if number < 2 * self.sample => pairs.push(LabelledPair {
                    a: PairText::Text(document.text.clone()),
                    b: PairText::Id(format!("{pair}:raw")),
                    is_same: true,
                    kind: Some(error_rate(&document)),
                }),
                Some(_) => {}
                None => documents.push(document),
            }
        }
        Ok((documents, pairs))
    }

    /// Reads sentences as documents, and the rewritten ones as texts to search for.
    fn sentences_of(&self, path: &Path) -> Result<(Vec<Document>, Vec<LabelledPair>)> {
        let (mut documents, mut pairs) = (Vec::new(), Vec::new());
        for (document, record) in read(path)? {
            let record: Value = serde_json::from_str(&record)?;
            let text = record["rewritten"].as_str().ok_or("a sentence that was not rewritten")?;
            if pairs.len() < self.sample {
                pairs.push(LabelledPair {
                    a: PairText::Text(text.to_owned()),
                    b: PairText::Id(document.id.clone()),
                    is_same: record["meta"]["same"] == Value::Bool(true),
                    kind: None,
                });
            }
            documents.push(document);
        }
        Ok((documents, pairs))
    }
}

/// Reads the documents of JSON lines, and keeps the lines.
fn read(path: &Path) -> Result<Vec<(Document, String)>> {
    let options = SourceOptions { keeps_records: true, ..SourceOptions::default() };
    let mut all = Vec::new();
    for document in cento_source::documents(&[path.to_owned()], &options) {
        let (mut document, _) = document?;
        let record = document.record.take().map(String::from).unwrap_or_default();
        all.push((document, record));
    }
    Ok(all)
}

/// Returns the group of a page by its word error rate.
fn error_rate(document: &Document) -> String {
    let rate = document.meta.get("word_error_rate").and_then(Value::as_f64).unwrap_or(0.0);
    let group = match rate {
        ..0.1 => "below .1",
        0.1..0.3 => ".1 to .3",
        0.3..0.5 => ".3 to .5",
        0.5..0.7 => ".5 to .7",
        _ => ".7 and more",
    };
    format!("word error rate {group}")
}

/// Makes titles of the first words of texts.
fn titles(articles: &[Document]) -> Vec<Document> {
    let title = |(number, document): (usize, &Document)| {
        let length = TITLE_WORDS.start + number % TITLE_WORDS.len();
        let words: Vec<&str> = document.text.split_whitespace().take(length).collect();
        (words.len() == length).then(|| Document::new(document.id.clone(), words.join(" ")))
    };
    articles.iter().enumerate().filter_map(title).collect()
}

fn judged(path: &Path) -> Result<Vec<LabelledPair>> {
    let text = std::fs::read_to_string(path)?;
    let pair = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [a, b, label, ..] = fields[..] else { return Err(format!("not a pair: {line}")) };
        let id = |id: &str| PairText::Id(id.to_owned());
        Ok(LabelledPair { a: id(a), b: id(b), is_same: label == "1", kind: None })
    };
    Ok(text.lines().skip(1).map(pair).collect::<std::result::Result<_, _>>()?)
}

/// Returns the name of a setting in a table.
fn name(setting: &SettingReport) -> String {
    let Setting { preset, scheme, analyzer, rank, threshold } = &setting.setting;
    let rank = if *rank == Rank::Overlap { "" } else { ", by weight" };
    let preset = preset.map_or(String::new(), |preset| format!("`--for {preset}`: "));
    let threshold = if threshold.is_some() { ", own threshold" } else { "" };
    format!("{preset}`{scheme}` over `{analyzer}`{rank}{threshold}")
}

/// Prints the table of a grid.
fn print(preset: Preset, data: &str, report: &TuneReport) {
    println!("\n## `--for {preset}`: {data}\n");
    println!(
        "{} documents; {} queries to choose, {} to judge.\n",
        report.documents, report.queries_to_choose, report.queries_to_judge
    );
    for warning in &report.warnings {
        println!("Note: {warning}.\n");
    }
    let kinds = report.settings.first().map(|first| &first.kinds[..]).unwrap_or_default();
    let heads: Vec<String> =
        kinds.iter().map(|kind| format!("{} ({})", kind.kind, kind.recall.of)).collect();
    let heads = if heads.len() > 1 { heads } else { Vec::new() };
    println!(
        "| setting | threshold | recall | first | false hits a query | F1 | fingerprints | adding \
         | search |{}",
        heads.iter().map(|head| format!(" {head} |")).collect::<String>()
    );
    println!("|---|---|---|---|---|---|---|---|---|{}", "---|".repeat(heads.len()));
    for setting in &report.settings {
        let kinds = setting.kinds.iter().take(heads.len());
        println!(
            "| {} | {} | {:.3} ({:.2}-{:.2}) | {:.3} | {:.3} | {:.3} | {:.2} | {:.1} | {:.1} |{}",
            name(setting),
            setting.threshold,
            setting.recall.value,
            setting.recall.low,
            setting.recall.high,
            setting.first.value,
            setting.false_hits_a_query(),
            setting.f1,
            setting.fingerprints_ratio,
            setting.add_ratio,
            setting.search_ratio,
            kinds.map(|kind| format!(" {:.3} |", kind.recall.value)).collect::<String>()
        );
    }
}

/// Returns the row of a preset in the last table: the best of the grid, chosen by its half.
fn line(preset: Preset, report: &TuneReport) -> Result<String> {
    let chosen = report.settings.iter().filter(|setting| setting.setting.threshold.is_none());
    let best = |of: fn(&SettingReport) -> f64| {
        // If settings are equal, the fewest fingerprints decide.
        chosen.clone().min_by(|a, b| {
            of(b).total_cmp(&of(a)).then_with(|| a.fingerprints.cmp(&b.fingerprints))
        })
    };
    let by_f1 = best(|setting| setting.f1_to_choose).ok_or("an empty grid")?;
    let by_first = best(|setting| setting.first_to_choose.value).ok_or("an empty grid")?;
    let is_own = |setting: &&SettingReport| setting.setting.preset == Some(preset);
    let own = chosen.clone().find(is_own).ok_or("the grid lacks the preset")?;
    let fixed = report.settings.iter().filter(is_own);
    let fixed = fixed.filter(|setting| setting.setting.threshold.is_some());
    let fixed: Vec<String> =
        fixed.map(|setting| format!("{:.3} (at {})", setting.f1, setting.threshold)).collect();
    Ok(format!(
        "{}, {:.1} times the fingerprints of the preset | {:.3} | {:.3} | {} | {:.3} ({}) | {:.3}",
        name(by_f1),
        by_f1.fingerprints as f64 / own.fingerprints.max(1) as f64,
        by_f1.f1,
        own.f1,
        fixed.join(", "),
        by_first.first.value,
        name(by_first),
        own.first.value
    ))
}
