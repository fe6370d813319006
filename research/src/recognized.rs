//! Finds the copies of OCR pages (OCR).
//!
//! The corpus has each page twice: corrected by people (`meta.kind` is `corrected`), and as a
//! program recognized it (`raw`), with the share of wrong words (`meta.word_error_rate`). For each
//! setting the tables show how often the copy is the first hit in each direction, near-duplicates
//! by threshold, the share of a page in passages with its copy, and the cost relative to the first
//! setting.

mod wrong;

use std::collections::HashMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Instant;

use cento::index::{Config, MaxDf};
use cento::search::{Query, Rank, Searcher};
use cento::text::Analyzer;
use cento_collections::Thresholds;
use cento_collections::pairs::{PairOptions, pairs};
use clap::{Args, ValueEnum};
use serde::Deserialize;

use crate::Result;
use crate::cento::{Document, json_lines};
use crate::measure::{Times, cpu_seconds, index};

/// Measure OCR pages (OCR) against their corrected copies.
#[derive(Debug, Args)]
pub struct Recognized {
    /// The pages: a JSON lines file.
    #[arg(long)]
    corpus: PathBuf,
    /// A new directory for indexes.
    #[arg(long)]
    work: PathBuf,
    /// A setting, as `SCHEME over ANALYZER by RANK`. Can be repeated; the first one is the measure
    /// of sizes and times.
    #[arg(long, default_values_t = SETTINGS.map(str::to_owned))]
    setting: Vec<String>,
    /// Only pages of this half: even or odd numbers.
    #[arg(long, value_enum)]
    half: Option<Half>,
    /// Only every n-th page.
    #[arg(long, default_value = "1")]
    every: usize,
    /// Other documents, which are added to the indexes of queries: a JSON lines file.
    #[arg(long)]
    among: Option<PathBuf>,
    /// Only make these tables. Can be repeated.
    #[arg(long, value_enum)]
    table: Vec<Table>,
}

/// The default, and presets.
const SETTINGS: [&str; 2] = ["winnow(k=5,w=10) over words by overlap", "ocr"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Half {
    Even,
    Odd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    First,
    Duplicates,
    Passages,
}

/// A line of the corpus.
#[derive(Debug, Deserialize)]
struct Line {
    id: String,
    text: String,
    meta: Meta,
}

#[derive(Debug, Deserialize)]
struct Meta {
    lang: String,
    kind: String,
    pair: String,
    word_error_rate: f64,
}

/// A page, corrected and as recognized.
struct Page {
    corrected: Document,
    raw: Document,
    language: String,
    word_error_rate: f64,
}

/// A scheme over an analyzer, and a ranking.
struct Setting {
    name: String,
    scheme: String,
    analyzer: String,
    rank: Rank,
}

impl FromStr for Setting {
    type Err = Box<dyn std::error::Error>;

    fn from_str(name: &str) -> Result<Setting> {
        if let Ok(preset) = name.parse::<cento::Preset>() {
            let rank = match preset.rank() {
                Some(cento::PresetRank::Weight) => Rank::Weight,
                _ => Rank::Overlap,
            };
            let (scheme, analyzer) = (preset.scheme().to_owned(), preset.analyzer().to_owned());
            return Ok(Setting { name: name.to_owned(), scheme, analyzer, rank });
        }
        let parts = name.split_once(" over ").and_then(|(scheme, rest)| {
            let (analyzer, rank) = rest.split_once(" by ").unwrap_or((rest, "overlap"));
            Some((scheme.to_owned(), analyzer.to_owned(), rank))
        });
        let (scheme, analyzer, rank) =
            parts.ok_or_else(|| format!("`{name}` is not `SCHEME over ANALYZER by RANK`"))?;
        let rank: Rank = serde_json::from_value(rank.into())?;
        Ok(Setting { name: name.to_owned(), scheme, analyzer, rank })
    }
}

/// The least rates of wrong words of the rows.
const RATES: [f64; 6] = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9];

const THRESHOLDS: [f64; 11] = [0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8];

impl Recognized {
    pub(crate) fn run(self) -> Result {
        let pages = self.pages()?;
        let settings: Vec<Setting> =
            self.setting.iter().map(|name| name.parse()).collect::<Result<_>>()?;
        let others = self.among.as_deref().map(crate::measure::texts).transpose()?;
        let others = others.unwrap_or_default();
        let has = |table| self.table.is_empty() || self.table.contains(&table);
        if has(Table::First) {
            println!("{} pages, and {} other documents.", pages.len(), others.len());
            println!();
            self.first(&pages, &others, &settings)?;
        }
        if has(Table::Duplicates) {
            self.duplicates(&pages, &settings)?;
        }
        if has(Table::Passages) {
            self.passages(&pages, &settings)?;
        }
        Ok(())
    }

    fn pages(&self) -> Result<Vec<Page>> {
        let mut open: HashMap<String, Line> = HashMap::new();
        let mut pages = Vec::new();
        let mut count = 0usize;
        for line in json_lines(&self.corpus)? {
            let line: Line = line?;
            let Some(other) = open.remove(&line.meta.pair) else {
                open.insert(line.meta.pair.clone(), line);
                continue;
            };
            count += 1;
            let is_in_half = match self.half {
                None => true,
                Some(Half::Even) => count % 2 == 1,
                Some(Half::Odd) => count % 2 == 0,
            };
            if !is_in_half || !((count - 1) / 2).is_multiple_of(self.every.max(1)) {
                continue;
            }
            let (corrected, raw) = match line.meta.kind.as_str() {
                "raw" => (other, line),
                _ => (line, other),
            };
            let Meta { lang: language, word_error_rate, .. } = raw.meta;
            let [corrected, raw] = [(corrected.id, corrected.text), (raw.id, raw.text)]
                .map(|(id, text)| Document { id, text });
            pages.push(Page { corrected, raw, language, word_error_rate });
        }
        match open.is_empty() {
            true => Ok(pages),
            false => Err(format!("{} pages have no copy", open.len()).into()),
        }
    }

    fn index<'a>(
        &self,
        name: &str,
        setting: &Setting,
        documents: impl IntoIterator<Item = &'a Document>,
    ) -> Result<Searcher> {
        let config = Config::new(&setting.scheme, &setting.analyzer, true)?;
        let name = format!("{name}-{}-{}", setting.scheme, setting.analyzer);
        let path = self.work.join(name);
        if path.exists() {
            std::fs::remove_dir_all(&path)?;
        }
        index(&path, config, documents)
    }

    /// How often the copy is the first hit, and the cost.
    fn first(&self, pages: &[Page], others: &[Document], settings: &[Setting]) -> Result {
        println!(
            "Copy first, by language; and as ratios to the first setting: fingerprints, `.sig`"
        );
        println!(
            "files, whole index, time of signing, time of a search for a page with ten hits (the"
        );
        println!("median, without signing) by processor.");
        println!();
        let columns = format!("{}, all", languages(pages).join(", "));
        println!(
            "| setting | query corrected: {columns} | query recognized: {columns} | fingerprints \
             | `.sig` | index | signing | search |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        let mut base: Option<[f64; 5]> = None;
        for setting in settings {
            let raw = self.index("raw", setting, pages.iter().map(|p| &p.raw).chain(others))?;
            let corrected =
                self.index("corrected", setting, pages.iter().map(|p| &p.corrected).chain(others))?;
            let mut times = Times::default();
            print!("| {} |", setting.name);
            for (searcher, is_of_raw) in [(&raw, false), (&corrected, true)] {
                let mut found: HashMap<&str, [usize; 2]> = HashMap::new();
                for page in pages {
                    let (query, copy) = match is_of_raw {
                        false => (&page.corrected, &page.raw),
                        true => (&page.raw, &page.corrected),
                    };
                    let is_first = is_first(searcher, setting, query, copy, &mut times)?;
                    for language in [page.language.as_str(), "all"] {
                        let [count, first] = found.entry(language).or_default();
                        (*count, *first) = (*count + 1, *first + usize::from(is_first));
                    }
                }
                let shares = languages(pages).into_iter().chain(["all"]);
                let shares = shares.map(|language| {
                    let [count, first] = found[language];
                    format!("{:.4}", first as f64 / count as f64)
                });
                print!(" {} |", shares.collect::<Vec<_>>().join(", "));
            }
            let cost = cost(&raw, setting, pages, times)?;
            let base = base.get_or_insert(cost);
            for (cost, base) in cost.iter().zip(base) {
                print!(" {:.2} |", cost / *base);
            }
            println!();
        }
        println!();
        Ok(())
    }

    /// Near-duplicates among all pages, corrected and recognized, by threshold.
    fn duplicates(&self, pages: &[Page], settings: &[Setting]) -> Result {
        println!("Pairs of a page with its copy among all pairs: precision, recall and F1 by");
        println!("`--min-resemblance`.");
        println!();
        let languages = languages(pages);
        println!("| setting | threshold | {} | all |", languages.join(" | "));
        println!("|---|---|{}---|", "---|".repeat(languages.len()));
        for setting in settings {
            let both = pages.iter().flat_map(|page| [&page.corrected, &page.raw]);
            let searcher = self.index("both", setting, both)?;
            let at = |ids: [&str; 2]| {
                let is_of = |page: &&Page| {
                    ids.contains(&page.raw.id.as_str()) || ids.contains(&page.corrected.id.as_str())
                };
                pages.iter().filter(is_of).collect::<Vec<_>>()
            };
            let thresholds = Thresholds::default().min_resemblance(THRESHOLDS[0]);
            let all = MaxDf::Documents(u64::MAX);
            let options = PairOptions::default().thresholds(thresholds).max_df(Some(all));
            // By language, the resemblance of every pair, with a flag for copies.
            let mut found: HashMap<&str, Vec<(f64, bool)>> = HashMap::new();
            for pair in pairs(&searcher, &options).threads(1) {
                let pair = pair?;
                let snapshot = searcher.snapshot();
                let (a, b) = (snapshot.id(pair.a)?, snapshot.id(pair.b)?);
                let of = at([&a, &b]);
                let verdict = (pair.similarity.resemblance, of.len() == 1);
                for language in [of[0].language.as_str(), "all"] {
                    found.entry(language).or_default().push(verdict);
                }
            }
            for threshold in THRESHOLDS {
                print!("| {} | {threshold} |", setting.name);
                for language in languages.iter().copied().chain(["all"]) {
                    let is_of = |page: &&Page| language == "all" || page.language == language;
                    let copies = pages.iter().filter(is_of).count() as f64;
                    let pairs = found.get(language).into_iter().flatten();
                    let pairs = pairs.filter(|(resemblance, _)| *resemblance >= threshold);
                    let (mut right, mut all) = (0.0, 0.0);
                    for (_, is_copy) in pairs {
                        (right, all) = (right + f64::from(u8::from(*is_copy)), all + 1.0);
                    }
                    let f1 = 2.0 * right / (copies + all);
                    print!(" {:.3} {:.3} {f1:.3} |", right / f64::max(all, 1.0), right / copies);
                }
                println!();
            }
        }
        println!();
        Ok(())
    }

    /// Passages of pages with their copies, and with other pages.
    fn passages(&self, pages: &[Page], settings: &[Setting]) -> Result {
        println!(
            "Passages of the corrected page with the recognized one, by the share of wrong words:"
        );
        println!("share of the words of the page in passages, passages a page.");
        println!();
        let mut heads: Vec<String> = RATES.map(|rate| format!("from {rate}")).to_vec();
        heads.push("us a pair".to_owned());
        println!("| setting | {} |", heads.join(" | "));
        println!("|---|{}", "---|".repeat(heads.len()));
        for setting in settings {
            let (scheme, analyzer) =
                (cento::scheme::parse(&setting.scheme)?, setting.analyzer.parse::<Analyzer>()?);
            // The pages, the words, the words in passages, the passages.
            let mut rows = [[0usize; 4]; RATES.len()];
            let started = cpu_seconds();
            for page in pages {
                let (text, copy) = (&page.corrected.text, &page.raw.text);
                let found = cento::compare(&scheme, &analyzer, text, copy)?;
                let ranges: Vec<(u32, u32)> = found.passages.iter().map(|p| p.a).collect();
                let words = words(text);
                let covered = words.iter().filter(|&&word| is_in(&ranges, word)).count();
                let at = RATES.iter().rposition(|&rate| rate <= page.word_error_rate).unwrap_or(0);
                let add = [1, words.len(), covered, ranges.len()];
                rows[at].iter_mut().zip(add).for_each(|(sum, add)| *sum += add);
            }
            let took = (cpu_seconds() - started) / pages.len().max(1) as f64;
            print!("| {} |", setting.name);
            for [pages, words, covered, passages] in rows {
                match pages {
                    0 => print!(" |"),
                    _ => print!(
                        " {:.3} {:.1} ({pages}) |",
                        covered as f64 / words as f64,
                        passages as f64 / pages as f64
                    ),
                }
            }
            println!(" {:.0} |", took * 1e6);
        }
        println!();
        for setting in settings {
            let raw = self.index("raw", setting, pages.iter().map(|page| &page.raw))?;
            wrong::print(&raw, setting, pages)?;
        }
        println!();
        Ok(())
    }
}

/// Searches for a page and returns whether its copy is the first hit.
fn is_first(
    searcher: &Searcher,
    setting: &Setting,
    query: &Document,
    copy: &Document,
    times: &mut Times,
) -> Result<bool> {
    let config = searcher.snapshot().config();
    let mut signing = Times::default();
    signing.time(|| config.sign(&query.text))?;
    let text = Query::text(query.text.clone()).counts_only(true).rank(setting.rank);
    let started = Instant::now();
    let hits = searcher.search(&text)?.hits;
    let took = started.elapsed().as_secs_f64() - signing.quantile(0.5) / 1e6;
    times.push(std::time::Duration::from_secs_f64(took.max(0.0)));
    Ok(hits.first().is_some_and(|hit| hit.id == copy.id))
}

/// Returns the fingerprints, the bytes of signatures and of the index, the time of signing the
/// pages, and of a search.
fn cost(raw: &Searcher, setting: &Setting, pages: &[Page], mut times: Times) -> Result<[f64; 5]> {
    let stats = raw.snapshot().stats()?;
    let config = Config::new(&setting.scheme, &setting.analyzer, true)?;
    let mut least = f64::MAX;
    for _ in 0..3 {
        let started = cpu_seconds();
        for page in pages {
            config.sign(&page.raw.text)?;
        }
        least = least.min(cpu_seconds() - started);
    }
    let whole = stats.bytes.signatures + stats.bytes.text + stats.bytes.other;
    let [postings, signatures, whole] =
        [stats.postings, stats.bytes.signatures, whole].map(|n| n as f64);
    Ok([postings, signatures, whole, least, times.quantile(0.5)])
}

/// Returns the languages of the pages, in order.
fn languages(pages: &[Page]) -> Vec<&str> {
    let mut all: Vec<&str> = pages.iter().map(|page| page.language.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the places of the words of a text.
fn words(text: &str) -> Vec<(u32, u32)> {
    let start = |word: &str| (word.as_ptr() as usize - text.as_ptr() as usize) as u32;
    text.split_whitespace().map(|word| (start(word), start(word) + word.len() as u32)).collect()
}

/// Returns whether the middle of a word is in one of the ranges.
fn is_in(ranges: &[(u32, u32)], (start, end): (u32, u32)) -> bool {
    let middle = start + (end - start) / 2;
    ranges.iter().any(|&(first, last)| first <= middle && middle < last)
}
