//! Checks searches against brute force, and measures the cost of stop-fingerprints.
//!
//! Brute force compares the fingerprints of every document with every query. The expected hits of a
//! threshold are the documents with at least that containment.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use cento::Stop;
use cento::index::{Index, MaxDf};
use cento::search::{Query, Searcher};
use cento_source::AddOptions;
use clap::Args;

use crate::Result;
use crate::cento::documents;
use crate::measure::{config, queries};

/// Compare thresholds with brute force.
#[derive(Debug, Args)]
pub struct Exact {
    /// The corpus: a JSON lines file.
    #[arg(long)]
    corpus: PathBuf,
    /// A directory for the index; one that is there is used again.
    #[arg(long)]
    work: PathBuf,
    /// Queries; half of them whole documents, half passages of 100 words.
    #[arg(long, default_value = "500")]
    queries: usize,
    /// The number of documents a commit, so that there are several segments.
    #[arg(long, default_value = "700")]
    commit_every: usize,
    /// The minimum containments to search for.
    #[arg(long, value_delimiter = ',', default_value = "0.1,0.3,0.5,0.8")]
    thresholds: Vec<f64>,
    /// Limits of document frequency whose cost is measured.
    #[arg(long, value_delimiter = ',', default_value = "default,100,300,1000,3000,10000")]
    max_df: Vec<MaxDf>,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

impl Exact {
    pub(crate) fn run(self) -> Result {
        if !self.work.exists() {
            let index = Index::create(&self.work, config(false)?)?;
            let commit_every = Some(self.commit_every);
            let options = AddOptions { commit_every, ..AddOptions::default() };
            let stop = Stop::new();
            let inputs = [self.corpus.clone()];
            cento_source::add(&index, &inputs, &options, &stop, &mut |_| {})?;
        }
        let searcher = Searcher::new(Index::open(&self.work)?.snapshot()?);
        let config = searcher.snapshot().config();
        let keys = |text: &str| -> Result<HashSet<u64>> {
            Ok(config.sign(text)?.1.iter().map(|fingerprint| fingerprint.key).collect())
        };
        let (whole, passages) = queries(&self.corpus, self.queries / 2, self.seed)?;
        let texts: Vec<String> = whole.into_iter().chain(passages).collect();
        let wanted = texts.iter().map(|text| keys(text)).collect::<Result<Vec<_>>>()?;
        let mut overlaps: Vec<BTreeMap<String, u32>> = vec![BTreeMap::new(); texts.len()];
        for document in documents(&self.corpus)? {
            let document = document?;
            let has = keys(&document.text)?;
            for (wanted, overlaps) in wanted.iter().zip(&mut overlaps) {
                let overlap = has.iter().filter(|key| wanted.contains(key)).count() as u32;
                if overlap > 0 {
                    overlaps.insert(document.id.clone(), overlap);
                }
            }
        }
        println!(
            "{} documents in {} segments, {} queries",
            searcher.snapshot().documents(),
            searcher.snapshot().segments().len(),
            texts.len()
        );
        println!(
            "| max-df | containment | expected | found | wrong | recall | queries without loss |"
        );
        println!("|---|---|---|---|---|---|---|");
        let all = MaxDf::Documents(u64::MAX);
        for max_df in std::iter::once(all).chain(self.max_df.iter().copied()) {
            for &threshold in &self.thresholds {
                let (mut expected, mut found, mut wrong, mut whole) = (0, 0, 0, 0);
                for ((text, wanted), overlaps) in texts.iter().zip(&wanted).zip(&overlaps) {
                    let meets =
                        |overlap: u32| f64::from(overlap) / wanted.len() as f64 >= threshold;
                    let count = overlaps.values().filter(|&&overlap| meets(overlap)).count();
                    let query = Query::text(text.as_str())
                        .min_containment(threshold)
                        .limit(usize::MAX)
                        .max_df(max_df);
                    let hits = searcher.search(&query)?.hits;
                    let is_right = |hit: &&cento::search::Hit| {
                        overlaps.get(&hit.id) == Some(&hit.overlap) && meets(hit.overlap)
                    };
                    let right = hits.iter().filter(is_right).count();
                    expected += count;
                    found += right;
                    wrong += hits.len() - right;
                    whole += usize::from(right == count);
                }
                let name = if max_df == all { "none".into() } else { max_df.to_string() };
                println!(
                    "| {name} | {threshold} | {expected} | {found} | {wrong} | {:.4} | {:.4} |",
                    found as f64 / f64::from(expected.max(1) as u32),
                    whole as f64 / texts.len() as f64
                );
            }
        }
        Ok(())
    }
}
