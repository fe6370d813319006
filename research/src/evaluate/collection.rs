//! Measures whole collections: pairs against brute force, the cost of pairs, the histogram of
//! Finkel et al., planted duplicates, clusters.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cento::index::{Config, DocAddress, Index, MaxDf};
use cento::search::Searcher;
use cento::{Overlap, Stop};
use cento_collections::Thresholds;
use cento_collections::cluster::{ClusterOptions, Linkage, Prefer, clusters};
use cento_collections::pairs::{Pair, PairOptions, pairs};
use clap::Args;

use crate::Result;
use crate::cento::Document;
use crate::measure::{index, texts};

/// Pairs and clusters of whole collections.
#[derive(Debug, Args)]
pub struct Collection {
    /// The RFCs: a JSON lines file.
    #[arg(long)]
    rfc: PathBuf,
    /// The licenses: a JSON lines file.
    #[arg(long)]
    licenses: PathBuf,
    /// A large collection to take parts from: a JSON lines file.
    #[arg(long)]
    large: PathBuf,
    /// Articles with planted near-duplicates, and the pairs of these, as ARTICLES,TRUTH.
    #[arg(long, value_name = "FILE,FILE")]
    planted: Vec<String>,
    /// A new directory for indexes.
    #[arg(long)]
    work: PathBuf,
}

/// The paper's counts: pairs of RFCs by symmetric similarity, from [0.9, 1) to [0, 0.1).
const HISTOGRAM: [u32; 10] = [5, 24, 30, 60, 87, 168, 301, 2046, 2865, 1083];

impl Collection {
    pub(super) fn run(self) -> Result<String> {
        let mut out = String::from("## Whole collections\n\n");
        let (rfc, licenses) = (texts(&self.rfc)?, texts(&self.licenses)?);
        let default = "winnow(k=5,w=10)";
        out += "All pairs by the default scheme, two threads, and beside them brute force over the fingerprints of the first 3,000 documents: pairs that both \
                have, that are missing, that are too many.\n\n| corpus | documents | thresholds | pairs | s | brute force |\n|---|---|---|---|---|---|\n";
        for (name, documents) in [("RFCs", &rfc), ("licences", &licenses)] {
            let whole = self.index(name, default, documents)?;
            let sample = &documents[..documents.len().min(3000)];
            let part = self.index(&format!("{name}-part"), default, sample)?;
            for (what, thresholds) in [
                ("overlap 1", Thresholds::default()),
                ("containment 0.5", Thresholds::default().min_containment(0.5)),
                ("resemblance 0.8", Thresholds::default().min_resemblance(0.8)),
            ] {
                let (count, seconds) = timed(&whole, thresholds, None)?;
                let (same, missing, wrong) = against_brute_force(&part, thresholds)?;
                writeln!(
                    out,
                    "| {name} | {} | {what} | {count} | {seconds:.2} | {same} / {missing} / {wrong} |",
                    documents.len()
                )?;
            }
        }
        out.push('\n');
        self.histogram(&rfc, &mut out)?;
        drop((rfc, licenses));
        self.scaling(&mut out)?;
        self.planted(&mut out)?;
        self.clusters(&mut out)?;
        Ok(out)
    }

    fn index(&self, name: &str, scheme: &str, documents: &[Document]) -> Result<Searcher> {
        let path = self.work.join(name);
        index(&path, Config::new(scheme, "words", false)?, documents)?;
        let index = Index::open(&path)?;
        index.compact(1)?;
        Ok(Searcher::new(index.snapshot()?))
    }

    /// Repeats Finkel et al. 2002, section 3: pairs by symmetric similarity.
    fn histogram(&self, rfc: &[Document], out: &mut String) -> Result {
        *out += "Finkel et al. 2002, section 3: pairs of RFCs by symmetric similarity, as this is published and for two schemes. Theirs is of their SE with text-file \
                 chunking over some 3,000 files, without pairs of trivially identical ones; of the last column, from 0 to 0.1, only pairs with a digest in common \
                 count.\n\n| | [.9, 1) | [.8, .9) | [.7, .8) | [.6, .7) | [.5, .6) | [.4, .5) | [.3, .4) | [.2, .3) | [.1, .2) | (0, .1) | 1 |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n| theirs |";
        for count in HISTOGRAM {
            write!(out, " {count} |")?;
        }
        *out += " |\n";
        for scheme in ["se(c=10)", "kgram(k=10)"] {
            let searcher = self.index(&format!("histogram-{scheme}"), scheme, rfc)?;
            let (mut counts, mut equal) = ([0u64; 10], 0u64);
            for_each_pair(&searcher, Thresholds::default().min_overlap(1), None, &mut |pair| {
                let similarity = pair.overlap.symmetric();
                match similarity >= 1.0 {
                    true => equal += 1,
                    false => counts[9 - (similarity * 10.0) as usize] += 1,
                }
            })?;
            write!(out, "| `{scheme}` |")?;
            counts.iter().try_for_each(|count| write!(out, " {count} |"))?;
            writeln!(out, " {equal} |")?;
        }
        out.push('\n');
        Ok(())
    }

    /// Measures the cost of all pairs by size of the collection.
    fn scaling(&self, out: &mut String) -> Result {
        *out += "Cost against the size of the collection (the RFCs repeated with edits; containment 0.5), with stop-fingerprints in more than 1,000 documents and with \
                 none; last the exponent between the ends.\n\n| | 1 | 2 | 4 | 8 | exponent |\n|---|---|---|---|---|---|\n";
        let all = texts(&self.large)?;
        let parts: Vec<usize> = [8, 4, 2, 1].iter().map(|part| all.len() / part).collect();
        let mut rows = vec![Vec::new(); 3];
        for &part in &parts {
            let searcher =
                self.index(&format!("scaling-{part}"), "winnow(k=5,w=10)", &all[..part])?;
            let thresholds = Thresholds::default().min_containment(0.5);
            for (row, max_df) in [(1, Some(1000)), (2, Some(u64::MAX))] {
                let (_, seconds) = timed(&searcher, thresholds, max_df)?;
                rows[row].push(seconds);
            }
            rows[0].push(part as f64);
        }
        for (name, row) in
            ["documents", "stopped above 1,000, s", "none stopped, s"].iter().zip(&rows)
        {
            write!(out, "| {name} |")?;
            for value in row {
                match *name {
                    "documents" => write!(out, " {value} |")?,
                    _ => write!(out, " {value:.2} |")?,
                }
            }
            writeln!(out, " {:.2} |", (row[3] / row[0]).log(8.0))?;
        }
        out.push('\n');
        Ok(())
    }

    fn planted(&self, out: &mut String) -> Result {
        *out += "Planted near-duplicates among news articles: pairs above a resemblance (of fingerprints), and how many of the planted ones are among them.\n\n\
                 | corpus | planted | 0.1 | 0.2 | 0.3 | 0.5 |\n|---|---|---|---|---|---|\n";
        for (number, files) in self.planted.iter().enumerate() {
            let (articles, truth) = files.split_once(',').ok_or("give ARTICLES,TRUTH")?;
            let articles = texts(Path::new(articles))?;
            let truth = std::fs::read_to_string(truth)?;
            let sorted = |a: &str, b: &str| (a.min(b).to_owned(), a.max(b).to_owned());
            let truth: HashSet<(String, String)> = truth
                .lines()
                .filter_map(|line| line.split_once(' '))
                .map(|(a, b)| sorted(a, b))
                .collect();
            let searcher =
                self.index(&format!("planted-{number}"), "winnow(k=5,w=10)", &articles)?;
            write!(out, "| {} articles | {} |", articles.len(), truth.len())?;
            for resemblance in [0.1, 0.2, 0.3, 0.5] {
                let (mut found, mut right) = (0, 0);
                let thresholds = Thresholds::default().min_resemblance(resemblance);
                let snapshot = searcher.snapshot();
                let mut failure = Ok(());
                for_each_pair(&searcher, thresholds, None, &mut |pair| {
                    found += 1;
                    match (snapshot.id(pair.a), snapshot.id(pair.b)) {
                        (Ok(a), Ok(b)) => right += u32::from(truth.contains(&sorted(&a, &b))),
                        (Err(error), _) | (_, Err(error)) => failure = Err(error),
                    }
                })?;
                failure?;
                write!(out, " {found}, planted {right} |")?;
            }
            out.push('\n');
        }
        out.push('\n');
        Ok(())
    }

    /// Shows the clusters that chaining makes of the licenses.
    fn clusters(&self, out: &mut String) -> Result {
        *out += "Clusters of the licenses at a resemblance of 0.5 (the longest represents): by stars, where every member resembles the representative, and by single \
                 linkage, where it resembles some member.\n\n| linkage | clusters | documents | largest | least resemblance to the representative in it | s |\n|---|---|---|---|---|---|\n";
        let searcher = Searcher::new(Index::open(self.work.join("licences"))?.snapshot()?);
        for (name, linkage) in [("star", Linkage::Star), ("single", Linkage::Single)] {
            let options = ClusterOptions::default().linkage(linkage).prefer(Prefer::Longest);
            let options = options.thresholds(Thresholds::default().min_resemblance(0.5));
            let started = Instant::now();
            let found = clusters(&searcher, &options).threads(2);
            let clusters = found.collect::<cento::Result<Vec<_>>>()?;
            let seconds = started.elapsed().as_secs_f64();
            let documents: u64 = clusters.iter().map(|cluster| cluster.size).sum();
            let largest = clusters.first().ok_or("there are no clusters")?;
            let least = largest.members.last().map_or(1.0, |member| member.similarity.resemblance);
            writeln!(
                out,
                "| {name} | {} | {documents} | {} | {least:.3} | {seconds:.1} |",
                clusters.len(),
                largest.size
            )?;
        }
        out.push('\n');
        Ok(())
    }
}

fn for_each_pair(
    searcher: &Searcher,
    thresholds: Thresholds,
    max_df: Option<u64>,
    each: &mut dyn FnMut(Pair),
) -> Result {
    let max_df = max_df.map(MaxDf::Documents);
    let options = PairOptions::default().thresholds(thresholds).max_df(max_df);
    for pair in pairs(searcher, &options).threads(2) {
        each(pair?);
    }
    Ok(())
}

fn timed(searcher: &Searcher, thresholds: Thresholds, max_df: Option<u64>) -> Result<(u64, f64)> {
    let started = Instant::now();
    let mut count = 0;
    for_each_pair(searcher, thresholds, max_df, &mut |_| count += 1)?;
    Ok((count, started.elapsed().as_secs_f64()))
}

/// Counts pairs that agree with brute force, missing pairs, and wrong pairs.
fn against_brute_force(searcher: &Searcher, thresholds: Thresholds) -> Result<(u64, u64, u64)> {
    let snapshot = searcher.snapshot();
    let documents = snapshot.segments()[0].signatures.header().documents;
    let address = |doc| DocAddress { segment: 0, doc };
    let mut by_key: HashMap<u64, Vec<u32>> = HashMap::new();
    let mut sizes = Vec::new();
    for doc in 0..documents {
        let keys = searcher.keys_of(address(doc), Stop::NEVER)?;
        sizes.push(keys.len() as u32);
        for key in keys {
            by_key.entry(key).or_default().push(doc);
        }
    }
    let mut overlaps: HashMap<(u32, u32), u32> = HashMap::new();
    for docs in by_key.values() {
        for (i, &a) in docs.iter().enumerate() {
            for &b in &docs[i + 1..] {
                *overlaps.entry((a, b)).or_default() += 1;
            }
        }
    }
    overlaps.retain(|&(a, b), overlap| {
        let overlap = Overlap::new(*overlap, sizes[a as usize], sizes[b as usize]);
        thresholds.meets(&cento::Similarity::of_sketches(overlap))
    });
    let (mut same, mut wrong) = (0, 0);
    for_each_pair(searcher, thresholds, Some(u64::MAX), &mut |pair| match overlaps
        .remove(&(pair.a.doc, pair.b.doc))
    {
        Some(overlap) if overlap == pair.overlap.shared => same += 1,
        _ => wrong += 1,
    })?;
    Ok((same, overlaps.len() as u64, wrong))
}
