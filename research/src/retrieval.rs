//! Finds the documents that a text borrows from, without a list of candidates.
//! (PAN, source retrieval)
//!
//! Each suspicious document of the PAN text alignment corpus is searched for, whole, in an index of
//! all sources. Recall is the share of its labeled sources among the first hits. A document also
//! borrows from sources without a label, which are hits too, so recall at few hits says less than
//! it seems to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cento::index::Config;
use cento::search::{Query, Rank, Searcher};
use clap::Args;

use crate::Result;
use crate::cento::{Document, documents};
use crate::measure::{Times, index, texts};
use crate::pan::{Corpus, Pair};

/// Measure source retrieval on the PAN 2013 text alignment corpus.
#[derive(Debug, Args)]
pub struct Retrieval {
    #[command(flatten)]
    corpus: Corpus,
    /// A new directory for indexes.
    #[arg(long)]
    work: PathBuf,
    /// A scheme. `reuse` is the scheme for rewritten text. Can be repeated.
    #[arg(long, default_values_t = ["winnow(k=5,w=10)".to_owned(), "winnow(k=3,w=10)".to_owned(), "reuse".to_owned()])]
    scheme: Vec<String>,
    /// The analyzer of all the schemes.
    #[arg(long, default_value = "words")]
    analyzer: String,
    /// The candidates whose passages are looked for.
    #[arg(long, default_value = "50")]
    candidates: usize,
    /// Only every n-th suspicious document.
    #[arg(long, default_value = "1")]
    every: usize,
}

/// Numbers of hits at which to measure recall.
const AT: [usize; 3] = [10, 50, 1000];

const RANKS: [Rank; 3] = [Rank::Overlap, Rank::Weight, Rank::Passages];

/// Labeled sources of a suspicious document, by category.
type Sources = BTreeMap<String, BTreeSet<String>>;

#[derive(Default, Clone, Copy)]
struct Row {
    sources: usize,
    found: [usize; AT.len()],
}

impl Retrieval {
    pub(crate) fn run(self) -> Result {
        let mut truth: BTreeMap<String, Sources> = BTreeMap::new();
        for line in std::fs::read_to_string(&self.corpus.truth)?.lines() {
            let pair: Pair = serde_json::from_str(line)?;
            if !pair.cases.is_empty() {
                let sources = truth.entry(pair.susp).or_default();
                sources.entry(pair.cat).or_default().insert(pair.src);
            }
        }
        let mut suspicious = HashMap::new();
        for document in documents(&self.corpus.suspicious)? {
            let document = document?;
            suspicious.insert(document.id, document.text);
        }
        let sources = texts(&self.corpus.sources)?;
        println!("Recall at {AT:?} hits, by category; microseconds a search.");
        println!();
        for scheme in &self.scheme {
            let searcher = self.index(scheme, &sources)?;
            let queries = || truth.keys().filter_map(|id| suspicious.get(id));
            times(&searcher, queries().step_by(self.every.max(1)))?;
            for rank in RANKS {
                let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
                let mut took = Duration::ZERO;
                let queries = truth.iter().step_by(self.every.max(1));
                let count = queries.clone().count();
                for (id, by_category) in queries {
                    let text = suspicious.get(id).ok_or_else(|| format!("no document {id}"))?;
                    let limit = AT[AT.len() - 1];
                    let mut query = Query::text(text.clone()).counts_only(true);
                    (query.options.rank, query.options.limit, query.options.candidates) =
                        (Some(rank), Some(limit), Some(self.candidates));
                    if rank == Rank::Passages {
                        query.options.limit = Some(self.candidates);
                    }
                    let started = Instant::now();
                    let hits = searcher.search(&query)?.hits;
                    took += started.elapsed();
                    let places: HashMap<&str, usize> =
                        hits.iter().enumerate().map(|(at, hit)| (hit.id.as_str(), at)).collect();
                    for (category, sources) in by_category {
                        let row = rows.entry(category).or_default();
                        row.sources += sources.len();
                        for source in sources {
                            let Some(&place) = places.get(source.as_str()) else { continue };
                            for (found, at) in row.found.iter_mut().zip(AT) {
                                *found += usize::from(place < at);
                            }
                        }
                    }
                }
                print(scheme, rank, &rows, took / count.max(1) as u32);
            }
        }
        Ok(())
    }

    /// Makes an index of the sources and prints its cost.
    fn index(&self, scheme: &str, sources: &[Document]) -> Result<Searcher> {
        let config = Config::new(scheme, &self.analyzer, true)?;
        let bytes = sources.iter().map(|source| source.text.len()).sum::<usize>() as f64 / 1e6;
        let started = Instant::now();
        for source in sources {
            config.sign(&source.text)?;
        }
        let signed = bytes / started.elapsed().as_secs_f64();
        let started = Instant::now();
        let searcher = index(&self.work.join(scheme), config, sources)?;
        let indexed = bytes / started.elapsed().as_secs_f64();
        let stats = searcher.snapshot().stats()?;
        println!(
            "`{}` over `{}`: {:.0} fingerprints a document; signed at {signed:.1} MB/s by one \
             thread, indexed at {indexed:.1} MB/s; signatures {:.1} MB of {bytes:.1} MB",
            searcher.snapshot().config().scheme,
            searcher.snapshot().config().analyzer,
            stats.postings as f64 / stats.documents as f64,
            stats.bytes.signatures as f64 / 1e6,
        );
        println!();
        Ok(searcher)
    }
}

/// Measures the time to sign queries and to search interactively, with few hits.
fn times<'a>(searcher: &Searcher, queries: impl Iterator<Item = &'a String>) -> Result {
    let config = searcher.snapshot().config();
    let (mut signing, mut by_rank) = (Times::default(), [Times::default(), Times::default()]);
    for text in queries {
        // The first search reads files that later searches find in memory.
        searcher.search(&Query::text(text.clone()).counts_only(true))?;
        signing.time(|| config.sign(text))?;
        for (rank, times) in [Rank::Overlap, Rank::Weight].into_iter().zip(&mut by_rank) {
            let query = Query::text(text.clone()).counts_only(true).rank(rank);
            times.time(|| searcher.search(&query))?;
        }
    }
    let [overlap, weight] = by_rank.map(|mut times| times.quantile(0.5));
    println!(
        "Medians in microseconds: a query is signed in {:.0}, searched for with ten hits in \
         {overlap:.0} by overlap and {weight:.0} by weight",
        signing.quantile(0.5),
    );
    println!();
    Ok(())
}

fn print(scheme: &str, rank: Rank, rows: &BTreeMap<&str, Row>, took: Duration) {
    println!("| {scheme} by {rank:?} | at {} | {} | {} |", AT[0], AT[1], AT[2]);
    println!("|---|---|---|---|");
    for (category, row) in rows {
        let [first, second, third] =
            row.found.map(|found| found as f64 / row.sources.max(1) as f64);
        println!("| {category} ({}) | {first:.3} | {second:.3} | {third:.3} |", row.sources);
    }
    println!("| us a search | {} |", took.as_micros());
    println!();
}
