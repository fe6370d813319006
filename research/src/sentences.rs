//! Measures whether a rewritten sentence finds its original among many sentences.
//!
//! All original sentences are indexed, and every rewritten sentence is searched for. The question
//! is whether the original is the first hit by weight. Originals with equal words count as the same
//! sentence. Even and odd queries are counted apart, so that a setting chosen on even queries can
//! be confirmed on odd queries.

use std::collections::HashMap;
use std::path::PathBuf;

use cento::index::Config;
use cento::search::{Query, Rank};
use clap::Args;
use serde::Deserialize;

use crate::Result;
use crate::cento::{Document, json_lines};
use crate::measure::{Times, index};

/// Measure which rewritten sentences find their original.
#[derive(Debug, Args)]
pub struct Sentences {
    /// Pairs of sentences: JSON lines with `id`, `text`, `rewritten` and `meta.same`, which tells
    /// whether a person rewrote the first sentence as the second.
    #[arg(long)]
    corpus: PathBuf,
    /// A new directory for indexes.
    #[arg(long)]
    work: PathBuf,
    /// A scheme. `reuse` is the scheme for rewritten text. Can be repeated.
    #[arg(long, default_values_t = ["winnow(k=5,w=10)", "reuse", "kgram(k=1)"].map(String::from))]
    scheme: Vec<String>,
    /// The analyzer, but for `reuse`, which has its own.
    #[arg(long, default_value = "words")]
    analyzer: String,
}

#[derive(Deserialize)]
struct Pair {
    id: String,
    text: String,
    rewritten: String,
    meta: Meta,
}

#[derive(Deserialize)]
struct Meta {
    same: bool,
}

impl Sentences {
    pub(crate) fn run(self) -> Result {
        let pairs: Vec<Pair> = json_lines(&self.corpus)?.collect::<Result<_>>()?;
        let originals: Vec<Document> = pairs
            .iter()
            .map(|pair| Document { id: pair.id.clone(), text: pair.text.clone() })
            .collect();
        let text_of: HashMap<&str, &str> =
            pairs.iter().map(|pair| (pair.id.as_str(), pair.text.as_str())).collect();
        println!("| scheme | queries | original first | halves | fingerprints | us a search |");
        println!("|---|---|---|---|---|---|");
        for scheme in &self.scheme {
            let config = Config::new(scheme, &self.analyzer, true)?;
            let searcher = index(&self.work.join(scheme), config, &originals)?;
            let (mut found, mut asked, mut times) = ([0usize; 2], [0usize; 2], Times::default());
            for (at, pair) in pairs.iter().filter(|pair| pair.meta.same).enumerate() {
                let query = Query::text(pair.rewritten.clone())
                    .rank(Rank::Weight)
                    .limit(1usize)
                    .counts_only(true);
                let hits = times.time(|| searcher.search(&query))?.hits;
                let is_first =
                    hits.first().is_some_and(|hit| text_of[hit.id.as_str()] == pair.text);
                found[at % 2] += usize::from(is_first);
                asked[at % 2] += 1;
            }
            let share = |found: usize, asked: usize| found as f64 / asked.max(1) as f64;
            let stats = searcher.snapshot().stats()?;
            println!(
                "| `{}` over `{}` | {} | {:.3} | {:.3}, {:.3} | {:.1} | {:.0} |",
                searcher.snapshot().config().scheme,
                searcher.snapshot().config().analyzer,
                asked[0] + asked[1],
                share(found[0] + found[1], asked[0] + asked[1]),
                share(found[0], asked[0]),
                share(found[1], asked[1]),
                stats.postings as f64 / stats.documents as f64,
                times.quantile(0.5),
            );
        }
        Ok(())
    }
}
