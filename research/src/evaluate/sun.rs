//! Sun, Qin and Wang 2013: stability of winnowing, and the best passage.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use cento::Stop;
use cento::index::{Config, Index, Training};
use cento::search::{Query, Searcher};
use cento_source::{AddOptions, SourceOptions, train};
use clap::Args;
use fastrand::Rng;

use crate::Result;
use crate::cento::documents;
use crate::measure::Times;
use crate::pan::{Corpus, Pair, bytes_of};

/// Table 1 by simulation, and figure 1 in shape on the PAN 2013 corpus.
#[derive(Debug, Args)]
pub struct Sun {
    #[command(flatten)]
    corpus: Corpus,
    /// An empty directory for the indexes.
    #[arg(long)]
    work: PathBuf,
    /// Cases of each category.
    #[arg(long, default_value = "100")]
    each: usize,
    /// Windows that are drawn for each number.
    #[arg(long, default_value = "100000")]
    windows: usize,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// q, w, and the paper's averages for m = 1 to 4 changed characters, in hundredths.
const TABLE_1: [(usize, usize, [f64; 4]); 2] =
    [(50, 100, [52.25, 25.70, 12.51, 6.11]), (4, 146, [94.77, 89.82, 85.12, 80.67])];

impl Sun {
    pub(super) fn run(self) -> Result<String> {
        let mut rng = Rng::with_seed(self.seed);
        let mut out = String::from(
            "## Sun et al. 2013: stability\n\nTable 1: the probability, in hundredths, that the signature of a window stays the same when m of its characters \
             are changed. Worst case: (w - m q) / (w + m q), and the simulation with changes that touch m q of the w q-grams. Average: theirs, and the \
             simulation with changes anywhere.\n\n| q | w | m | worst case: formula | simulated | average: theirs | simulated |\n|---|---|---|---|---|---|---|\n",
        );
        for (q, w, theirs) in TABLE_1 {
            for (m, theirs) in (1..).zip(theirs) {
                let touched = m * q;
                let formula = (w as f64 - touched as f64).max(0.0) / (w + touched) as f64;
                let worst = self.share(&mut rng, w, |_, changed| {
                    changed.iter_mut().take(touched).for_each(|gram| *gram = true);
                });
                let average = self.share(&mut rng, w, |rng, changed| {
                    // A character is part of the q-grams that begin at most q - 1 characters
                    // earlier.
                    let mut places: Vec<usize> = (0..w + q - 1).collect();
                    rng.shuffle(&mut places);
                    for place in &places[..m] {
                        let from = (place + 1).saturating_sub(q);
                        changed[from..w.min(place + 1)].fill(true);
                    }
                });
                writeln!(
                    out,
                    "| {q} | {w} | {m} | {:.2} | {:.2} | {theirs:.2} | {:.2} |",
                    100.0 * formula,
                    100.0 * worst,
                    100.0 * average
                )?;
            }
        }
        out.push('\n');
        self.figure_1(&mut rng, &mut out)?;
        Ok(out)
    }

    /// Measures index size and time, precision, recall and F1 by obfuscation, and the documents
    /// that the heap skips.
    fn figure_1(&self, rng: &mut Rng, out: &mut String) -> Result {
        let cases = self.cases(rng)?;
        *out += "Figure 1 in shape, on the PAN 2013 training corpus, over characters as in the paper, and by the default scheme and `reuse`: each case is a query for the best passage (`search --goal passage`). Recall is \
                 the share of the source of the case that was found, precision the share of what was found that is of it, averaged over the cases; \
                 F1 of the averages by obfuscation and for all. Skipped: candidate texts that the heap leaves uncompared.\n\n\
                 | scheme | signatures, MB | indexed in, s | query, median ms |";
        for category in cases.keys() {
            write!(out, " {category} ({}) |", cases[category].len())?;
        }
        *out += " precision | recall | F1 | skipped |\n|---|---|---|---|";
        *out += &"---|".repeat(cases.len() + 4);
        out.push('\n');
        for (scheme, analyzer, q) in SCHEMES {
            let path = self.work.join(scheme.replace(['(', ')', ',', '='], "-"));
            let started = Instant::now();
            let searcher = self.index((scheme, analyzer), q, &path)?;
            let seconds = started.elapsed().as_secs_f64();
            let (mut row, mut all, mut times) = (String::new(), Sums::default(), Times::default());
            let (mut texts, mut calculated) = (0, 0);
            for cases in cases.values() {
                let mut sums = Sums::default();
                for case in cases {
                    let query = Query::text(case.text.as_str()).goal(cento::Goal::Passage);
                    let started = Instant::now();
                    let answer = searcher.search(&query)?;
                    times.push(started.elapsed());
                    let candidates = answer.candidates.unwrap_or_default();
                    texts += candidates.texts;
                    calculated += candidates.calculated;
                    let found = answer.hits.first().and_then(|hit| {
                        let passage = hit.passages.as_ref()?.first()?;
                        Some((hit.id.as_str(), passage.b))
                    });
                    sums.add(case, found);
                }
                write!(row, " {:.3} |", sums.f1())?;
                all.join(&sums);
            }
            writeln!(
                out,
                "| `{scheme}` | {:.1} | {seconds:.1} | {:.1} |{row} {:.3} | {:.3} | {:.3} | {:.2} % |",
                searcher.snapshot().stats()?.bytes.signatures as f64 / 1e6,
                times.quantile(0.5) / 1e3,
                all.precision / all.cases,
                all.recall / all.cases,
                all.f1(),
                100.0 * (1.0 - calculated as f64 / texts.max(1) as f64)
            )?;
        }
        out.push('\n');
        Ok(())
    }

    /// Draws cases of each category, with the text of the suspicious passage.
    fn cases(&self, rng: &mut Rng) -> Result<BTreeMap<String, Vec<Case>>> {
        let mut texts: HashMap<String, String> = HashMap::new();
        for path in [&self.corpus.sources, &self.corpus.suspicious] {
            for document in documents(path)? {
                let document = document?;
                texts.insert(document.id, document.text);
            }
        }
        let mut cases: BTreeMap<String, Vec<Case>> = BTreeMap::new();
        for line in std::fs::read_to_string(&self.corpus.truth)?.lines() {
            let pair: Pair = serde_json::from_str(line)?;
            let of = |id: &str| texts.get(id).ok_or_else(|| format!("no document {id}"));
            let (this, source) = (of(&pair.susp)?, of(&pair.src)?);
            for case in &pair.cases {
                let text = this[bytes_of(this, case.this())].to_owned();
                let case =
                    Case { text, source: pair.src.clone(), bytes: bytes_of(source, case.source()) };
                cases.entry(pair.cat.clone()).or_default().push(case);
            }
        }
        for cases in cases.values_mut() {
            rng.shuffle(cases);
            cases.truncate(self.each);
        }
        Ok(cases)
    }

    fn index(&self, (scheme, analyzer): (&str, &str), q: usize, path: &Path) -> Result<Searcher> {
        std::fs::create_dir_all(&self.work)?;
        let inputs = [self.corpus.sources.clone()];
        let table = if scheme.starts_with("fbw") {
            let training = Training { analyzer: analyzer.parse()?, q, spex: false };
            let out = path.with_extension("table");
            Some(Arc::new(train(&inputs, &SourceOptions::default(), &training, &out, &mut |_| {})?))
        } else {
            None
        };
        let index = Index::create(path, Config::with_frequencies(scheme, analyzer, true, table)?)?;
        let stop = Stop::new();
        cento_source::add(&index, &inputs, &AddOptions::default(), &stop, &mut |_| {})?;
        Ok(Searcher::new(index.snapshot()?))
    }

    /// Measures how often the minimum of `w` random values stays the minimum if the values marked
    /// by `change` are drawn again.
    fn share(&self, rng: &mut Rng, w: usize, change: impl Fn(&mut Rng, &mut [bool])) -> f64 {
        let mut same = 0;
        for _ in 0..self.windows {
            let values: Vec<u64> = (0..w).map(|_| rng.u64(..)).collect();
            let mut changed = vec![false; w];
            change(rng, &mut changed);
            let new: Vec<u64> = values
                .iter()
                .zip(&changed)
                .map(|(&value, &changed)| if changed { rng.u64(..) } else { value })
                .collect();
            same += usize::from(values.iter().min() == new.iter().min());
        }
        same as f64 / self.windows as f64
    }
}

/// Schemes of the paper's experiments over characters, the default scheme, and the scheme for
/// rewritten text, with their q.
const SCHEMES: [(&str, &str, usize); 6] = [
    ("winnow(k=50,w=100)", "chars", 50),
    ("winnow(k=10,w=140)", "chars", 10),
    ("fbw(q=4,w=146)", "chars", 4),
    ("fbw(q=5,w=145)", "chars", 5),
    ("winnow(k=5,w=10)", "words", 5),
    (cento::index::REUSE, "words", 2),
];

/// A passage that was reused.
struct Case {
    /// The text in the suspicious document.
    text: String,
    /// The id of the source document.
    source: String,
    /// The range of the passage in the source.
    bytes: std::ops::Range<usize>,
}

/// Sums of the figures over cases.
#[derive(Default)]
struct Sums {
    cases: f64,
    precision: f64,
    recall: f64,
}

impl Sums {
    fn add(&mut self, case: &Case, found: Option<(&str, (u32, u32))>) {
        self.cases += 1.0;
        let Some((_, (start, end))) = found.filter(|(id, _)| *id == case.source) else { return };
        let (start, end) = (start as usize, end as usize);
        let both = case.bytes.end.min(end).saturating_sub(case.bytes.start.max(start)) as f64;
        self.precision += both / (end - start).max(1) as f64;
        self.recall += both / case.bytes.len().max(1) as f64;
    }

    fn join(&mut self, other: &Sums) {
        self.cases += other.cases;
        self.precision += other.precision;
        self.recall += other.recall;
    }

    fn f1(&self) -> f64 {
        let sum = self.precision + self.recall;
        if sum == 0.0 { 0.0 } else { 2.0 * self.precision * self.recall / sum / self.cases }
    }
}
