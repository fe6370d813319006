//! Measures the share of reused text that a search finds and a report shows, by the limit of hits.
//!
//! Each suspicious document of the PAN text alignment corpus that borrows text is searched for,
//! whole and with passages, in an index of all sources: without a limit, and with several limits. A
//! character of a labeled case is found if it is in a passage with its source. The share is the
//! share of bytes, without white space, in any passage.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cento::index::Config;
use cento::search::{Goal, Query, Rank, Searcher};
use cento::text::kind::no_text_in;
use clap::Args;

use crate::Result;
use crate::cento::documents;
use crate::measure::{index, texts};
use crate::pan::{Corpus, Pair, bytes_of};

/// Measure what searches without and with a limit find on the PAN 2013 text alignment corpus.
#[derive(Debug, Args)]
pub struct Reused {
    #[command(flatten)]
    corpus: Corpus,
    /// A new directory for indexes.
    #[arg(long)]
    work: PathBuf,
    /// A scheme. Can be repeated.
    #[arg(long, default_values_t = ["reuse".to_owned(), "winnow(k=5,w=10)".to_owned()])]
    scheme: Vec<String>,
    /// Limits to compare with searches without one; the last is what shares are compared with.
    #[arg(long, value_delimiter = ',', default_values_t = [10, 20, 50, 100, 200, 1000])]
    limit: Vec<usize>,
    /// Number of suspicious documents, evenly chosen. Default: all.
    #[arg(long, default_value_t = usize::MAX)]
    documents: usize,
}

/// A suspicious document with its cases.
struct Suspicious {
    text: String,
    /// Category, source and byte range of each case.
    cases: Vec<(String, String, Range<usize>)>,
}

/// The findings of all searches with the same limit.
#[derive(Default)]
struct Row {
    /// Found bytes and all bytes, by category.
    by_category: BTreeMap<String, (usize, usize)>,
    shares: Vec<f64>,
    hits: usize,
    took: Duration,
}

impl Reused {
    pub(crate) fn run(self) -> Result {
        let suspicious = self.suspicious()?;
        let sources = texts(&self.corpus.sources)?;
        for scheme in &self.scheme {
            let config = Config::new(scheme, "words", true)?;
            let searcher = index(&self.work.join(scheme), config, &sources)?;
            println!("`{scheme}`, {} documents\n", suspicious.len());
            println!(
                "| rank | limit | found by category | all | share | less | p90 | p99 | by more than .01 | hits | ms |"
            );
            println!("|---|---|---|---|---|---|---|---|---|---|---|");
            for (name, rank, goal) in [
                ("overlap", Rank::Overlap, Goal::Hits),
                ("weight", Rank::Weight, Goal::Hits),
                ("passages", Rank::Passages, Goal::Hits),
                ("trace", Rank::Overlap, Goal::Trace),
            ] {
                let limits = [None].into_iter().chain(self.limit.iter().copied().map(Some));
                let kind = Query::text("").rank(rank).goal(goal).passages(true);
                let rows = limits.map(|limit| {
                    let query = kind.clone().limit(limit);
                    Ok((limit, row(&searcher, &query, &suspicious)?))
                });
                let rows = rows.collect::<Result<Vec<(Option<usize>, Row)>>>()?;
                for (limit, found) in &rows {
                    let limit = limit.map_or("none".into(), |limit| limit.to_string());
                    print(name, &limit, found, &rows[rows.len() - 1].1);
                }
            }
            println!();
        }
        Ok(())
    }

    fn suspicious(&self) -> Result<Vec<Suspicious>> {
        let mut pairs: BTreeMap<String, Vec<Pair>> = BTreeMap::new();
        for line in std::fs::read_to_string(&self.corpus.truth)?.lines() {
            let pair: Pair = serde_json::from_str(line)?;
            if !pair.cases.is_empty() {
                pairs.entry(pair.susp.clone()).or_default().push(pair);
            }
        }
        let mut texts: HashMap<String, String> = HashMap::new();
        for document in documents(&self.corpus.suspicious)? {
            let document = document?;
            texts.insert(document.id, document.text);
        }
        let mut all = Vec::new();
        for (id, pairs) in pairs {
            let text = texts.remove(&id).ok_or_else(|| format!("no document {id}"))?;
            if no_text_in(&text).is_some() {
                continue;
            }
            let cases = pairs.into_iter().flat_map(|Pair { cat, src, cases, .. }| {
                let case = |case: &crate::pan::CaseRecord| {
                    (cat.clone(), src.clone(), bytes_of(&text, case.this()))
                };
                cases.iter().map(case).collect::<Vec<_>>()
            });
            let cases = cases.collect();
            all.push(Suspicious { text, cases });
        }
        let count = self.documents.min(all.len());
        let chosen: Vec<usize> = (0..count).map(|at| at * all.len() / count.max(1)).collect();
        let mut number = 0..all.len();
        all.retain(|_| number.next().is_some_and(|number| chosen.binary_search(&number).is_ok()));
        Ok(all)
    }
}

/// Searches for every suspicious document.
fn row(searcher: &Searcher, query: &Query, suspicious: &[Suspicious]) -> Result<Row> {
    let mut row = Row::default();
    for Suspicious { text, cases } in suspicious {
        let mut query = query.clone();
        query.subject = cento::search::Subject::Text(text.clone());
        let started = Instant::now();
        let hits = searcher.search(&query)?.hits;
        row.took += started.elapsed();
        row.hits += hits.len();
        let mut by_source: HashMap<&str, Vec<Range<usize>>> = HashMap::new();
        for hit in &hits {
            let passages = hit.passages.iter().flatten();
            let ranges = passages.map(|passage| passage.a.0 as usize..passage.a.1 as usize);
            by_source.insert(&hit.id, ranges.collect());
        }
        for (category, source, case) in cases {
            let is_in = |byte: &usize| {
                by_source
                    .get(source.as_str())
                    .into_iter()
                    .flatten()
                    .any(|range| range.contains(byte))
            };
            let (found, all) = row.by_category.entry(category.clone()).or_default();
            *found += case.clone().filter(is_in).count();
            *all += case.len();
        }
        let mut is_reused = vec![false; text.len()];
        for range in by_source.into_values().flatten() {
            is_reused[range].fill(true);
        }
        let is_word = |byte: &(u8, bool)| !byte.0.is_ascii_whitespace();
        let words = || text.bytes().zip(is_reused.iter().copied()).filter(is_word);
        let reused = words().filter(|byte| byte.1).count();
        row.shares.push(reused as f64 / words().count().max(1) as f64);
    }
    Ok(row)
}

fn print(name: &str, limit: &str, row: &Row, reference: &Row) {
    let share = |(found, all): (usize, usize)| format!("{:.3}", found as f64 / all.max(1) as f64);
    let by_category: Vec<String> = row.by_category.values().copied().map(share).collect();
    let sum = row.by_category.values().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let count = row.shares.len().max(1) as f64;
    let mut less: Vec<f64> =
        reference.shares.iter().zip(&row.shares).map(|(all, share)| all - share).collect();
    less.sort_by(f64::total_cmp);
    let quantile = |share: f64| less.get((less.len() as f64 * share) as usize).copied();
    println!(
        "| {name} | {limit} | {} | {} | {:.3} | {:.4} | {:.3} | {:.3} | {:.3} | {:.1} | {:.1} |",
        by_category.join(" "),
        share(sum),
        row.shares.iter().sum::<f64>() / count,
        less.iter().sum::<f64>() / count,
        quantile(0.9).unwrap_or(0.0),
        quantile(0.99).unwrap_or(0.0),
        less.iter().filter(|&&less| less > 0.01).count() as f64 / count,
        row.hits as f64 / count,
        row.took.as_secs_f64() * 1e3 / count,
    );
}
