//! Counts the chance passages of a query, and compares with the number that cento expects.

use std::path::PathBuf;

use cento::compare::align::{Genre, Side, align};
use cento::compare::background::Background;
use cento::compare::chance::{ChanceLaws, Scored};
use cento::compare::common_runs::{Sums, equal_runs};
use cento::runtime::Stop;
use cento::text::{Analyzer, Tokens};
use cento_tools::Result;
use cento_tools::cento::documents;
use clap::Args;

/// Count the passages between unrelated texts, beside the number that is expected by chance.
#[derive(Debug, Args)]
pub struct Evidence {
    /// Texts that are not related
    #[arg(long)]
    corpus: PathBuf,
    /// How they are read
    #[arg(long, default_value = "words")]
    analyzer: String,
    /// The number of queries
    #[arg(long, default_value_t = 50)]
    queries: usize,
    /// The maximum number of texts in an archive.
    #[arg(long, default_value_t = 1000)]
    archive: usize,
    /// Texts of the sample that the law is fitted to
    #[arg(long, default_value_t = 64)]
    sample: usize,
    /// Print the best passages
    #[arg(long)]
    show: bool,
}

impl Evidence {
    pub fn run(self) -> Result {
        let analyzer = self.analyzer.parse::<Analyzer>()?.of_passages();
        let mut texts = Vec::new();
        for document in documents(&self.corpus)? {
            let document = document?;
            let mut tokens = Tokens::default();
            analyzer.analyze(&document.text, &mut tokens, Stop::NEVER)?;
            if tokens.hashes.len() >= 20 {
                texts.push((document.id, document.text, tokens));
            }
        }
        fastrand::seed(7);
        fastrand::shuffle(&mut texts);
        let hashes: Vec<&[u64]> = texts.iter().map(|text| &text.2.hashes[..]).collect();
        let queries = self.queries.min(texts.len() / 3);
        let rest = &hashes[queries..];
        let started = std::time::Instant::now();
        let model = Background::new(rest);
        let built = started.elapsed();
        let sample = &rest[..self.sample.min(rest.len())];
        let laws = ChanceLaws::of_texts(sample, &model);
        println!("{} texts, model {built:?}, law {:?} {laws:?}", texts.len(), started.elapsed());
        let genre = Genre::of(&analyzer);
        let archives = [100, 1000, 10_000, 100_000].into_iter();
        for archive in archives.filter(|&archive| archive <= self.archive.max(100)) {
            let archive = archive.min(rest.len());
            let stated = [1.0, 0.1, 0.01, 0.001];
            let mut observed = [0u32; 4];
            let (mut known, mut share) = ([0.0; 4], 0.0);
            for query in &texts[..queries] {
                let bits = Sums::new(&model.bits(&query.2.hashes, 0));
                let side = Side { text: &query.1, tokens: &query.2, parts: &[] };
                let mut covered = vec![f64::INFINITY; query.2.hashes.len()];
                for document in &texts[queries..queries + archive] {
                    let other = Side { text: &document.1, tokens: &document.2, parts: &[] };
                    let found = align(side, other, genre, Stop::NEVER)?;
                    let mut best = f64::INFINITY;
                    for passage in &found.passages {
                        let hit = &document.2.hashes[passage.hit.clone()];
                        let matched = equal_runs(&query.2.hashes, &passage.matched, hit);
                        let score = bits.score(&matched, hit.len());
                        let lens = (query.2.hashes.len(), document.2.hashes.len());
                        let runs = matched.iter().map(|run| bits.of(run));
                        let (best_run, tokens) = (runs.fold(0.0, f64::max), passage.query.len());
                        let runs = matched.len();
                        let scored = Scored { score, best_run, runs, tokens, lens };
                        let expected = laws.expected(&scored, archive as u64);
                        best = best.min(expected);
                        for run in &passage.matched {
                            covered[run.clone()].iter_mut().for_each(|at| *at = at.min(expected));
                        }
                        if self.show && expected < 0.01 {
                            let (from, to) = (passage.query.start, passage.query.end - 1);
                            let place = query.2.spans[from].start..query.2.spans[to].end;
                            let text = &query.1[place.start as usize..place.end as usize];
                            let text: String = text.chars().take(300).collect();
                            let ids = [&query.0, &document.0];
                            println!("{expected:.2e}, {score:.0} bits, {ids:?}: {text:?}");
                        }
                    }
                    for (observed, stated) in observed.iter_mut().zip(stated) {
                        *observed += u32::from(best <= stated);
                    }
                }
                let len = covered.len() as f64;
                for (known, stated) in known.iter_mut().zip(stated) {
                    *known += covered.iter().filter(|&&at| at <= stated).count() as f64 / len;
                }
                share += covered.iter().filter(|&&at| at < f64::INFINITY).count() as f64 / len;
            }
            let a_query = observed.map(|n| f64::from(n) / queries as f64);
            let known = known.map(|sum| (1000.0 * sum / queries as f64).round() / 1000.0);
            println!(
                "archive {archive}: at 1, .1, .01, .001 documents a query {a_query:?}, share of a \
                 query {known:?}; by any passage {:.3}",
                share / queries as f64
            );
        }
        Ok(())
    }
}
