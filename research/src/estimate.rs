//! Measures how far the similarity of fingerprints is from the similarity of the texts.
//!
//! The truth is the resemblance and the containments of sets of runs of words, with the run length
//! of the scheme. Words are lower-cased letters, digits and underscores. Pairs come from files of
//! exact similarities of revisions, or from a corpus, where pairs share runs. Rows have the
//! measures over fingerprints, the estimates, and the result of `--verify` for both texts.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use cento::Measure;
use cento::Stop;
use cento::scheme::{self, Fingerprint, KeyedSignature};
use cento::text::{Side, Tokens, analyzer::Analyzer};
use cento::{Overlap, hash::hash_bytes};
use clap::Args;

use crate::Result;
use crate::cento::documents;
use crate::truth::truths;

/// Compare estimated similarities with exact ones.
#[derive(Debug, Args)]
pub struct Estimate {
    /// The documents: a JSON lines file.
    #[arg(long)]
    corpus: PathBuf,
    /// Files of exact similarities of revisions, whose pairs are compared: tab-separated, with a
    /// line of headings. Without one, pairs of the corpus that share runs of five words are.
    #[arg(long)]
    truth: Vec<PathBuf>,
    /// The schemes whose estimates are measured.
    #[arg(
        long = "scheme",
        value_name = "SPEC",
        default_values = ["winnow(k=5,w=10)", "winnow(k=3,w=10)", "winnow(k=5,w=4)", "mod(k=5,p=6)", "kgram(k=5)"]
    )]
    schemes: Vec<String>,
    /// The maximum number of pairs of each tenth of resemblance.
    #[arg(long, default_value = "200")]
    each: usize,
    /// Without files of similarities, only documents of at least this many words. A sketch of a
    /// short one may be its least run, which winnowing keeps too: then the measured quantity would
    /// choose the pairs.
    #[arg(long, default_value = "500")]
    min_words: usize,
    /// The seed that chooses them.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// Length of the runs, in words, that decide which pairs to compare.
const RUN: usize = 5;

/// Range of resemblance that the summary covers.
const RANGE: (f64, f64) = (0.2, 0.95);

/// Samples a run in this many. A sampled run makes a pair a candidate, unless more than [`COMMON`]
/// documents have the run.
const SKETCH: &str = "mod(k=5,p=25)";
const COMMON: usize = 25;

/// Absolute and signed errors.
#[derive(Default, Clone, Copy)]
struct Sum(f64, f64);

/// Errors of many pairs.
#[derive(Default)]
struct Row {
    pairs: usize,
    /// Errors of resemblance and of containment: by fingerprints, estimated, verified.
    sums: [[Sum; 3]; 2],
    /// Pairs with an error of the estimated resemblance below one, and below two, standard errors.
    within: [usize; 2],
}

/// Returns the words of a text as hashes.
fn words(text: &str) -> Vec<u64> {
    let text = text.to_lowercase();
    let words =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(|word| hash_bytes(word.as_bytes())).collect()
}

/// The distinct runs of `k` words of a text, ascending.
fn runs(text: &str, k: usize) -> Vec<u64> {
    let words = words(text);
    let bytes = |run: &[u64]| run.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut runs: Vec<u64> = words.windows(k).map(|run| hash_bytes(&bytes(run))).collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

impl Estimate {
    pub(crate) fn run(self) -> Result {
        let mut texts: HashMap<String, String> = HashMap::new();
        for document in documents(&self.corpus)? {
            let document = document?;
            texts.insert(document.id, document.text);
        }
        let mut pairs = match self.truth.is_empty() {
            true => candidates(&texts, self.min_words)?,
            false => {
                let mut pairs = Vec::new();
                for path in &self.truth {
                    pairs.extend(truths(path)?.into_iter().map(|truth| (truth.a, truth.b)));
                }
                pairs
            }
        };
        fastrand::Rng::with_seed(self.seed).shuffle(&mut pairs);
        let pairs = self.chosen(pairs, &texts)?;
        println!(
            "| scheme | resemblance | pairs | resemblance: error | bias | estimate: error | bias | \
             within 1 | 2 | verified: error | bias | containment: error | bias | estimate: error | \
             bias | verified: error | bias |"
        );
        println!("|---{}|", "|---".repeat(16));
        for spec in &self.schemes {
            report(spec, &pairs, &texts)?;
        }
        Ok(())
    }

    /// Returns the pairs with their tenth of resemblance, at most as many of each tenth as
    /// requested.
    fn chosen(
        &self,
        pairs: Vec<(String, String)>,
        texts: &HashMap<String, String>,
    ) -> Result<Vec<(String, String)>> {
        let mut known: HashMap<String, Vec<u64>> = HashMap::new();
        let (mut counts, mut chosen) = ([0; 11], Vec::new());
        for (a, b) in pairs {
            for id in [&a, &b] {
                if !known.contains_key(id) {
                    let text = texts.get(id).ok_or_else(|| format!("no document {id}"))?;
                    known.insert(id.clone(), runs(text, RUN));
                }
            }
            let resemblance = Overlap::of(&known[&a], &known[&b]).resemblance();
            // The last row is for equal texts.
            let count = &mut counts[(resemblance * 10.0) as usize];
            if *count < self.each {
                *count += 1;
                chosen.push((a, b));
            }
        }
        Ok(chosen)
    }
}

/// Finds the pairs of documents that share more than a tenth, by a sketch.
fn candidates(texts: &HashMap<String, String>, min_words: usize) -> Result<Vec<(String, String)>> {
    let sketch = scheme::parse(SKETCH)?;
    let mut ids: Vec<&String> = texts.keys().collect();
    ids.sort_unstable();
    let mut lists: HashMap<u64, Vec<u32>> = HashMap::new();
    let (mut sizes, mut tokens, mut signature) = (Vec::new(), Tokens::default(), Vec::new());
    for (at, id) in (0u32..).zip(&ids) {
        Analyzer::default().analyze(&texts[*id], &mut tokens, Stop::NEVER)?;
        sketch.sign(&tokens.hashes, &mut signature, Stop::NEVER)?;
        if tokens.hashes.len() < min_words {
            signature.clear();
        }
        let keys: HashSet<u64> = signature.iter().map(|fingerprint| fingerprint.key).collect();
        sizes.push(keys.len());
        keys.into_iter().for_each(|key| lists.entry(key).or_default().push(at));
    }
    let mut shared: HashMap<(u32, u32), usize> = HashMap::new();
    for list in lists.values().filter(|list| list.len() <= COMMON) {
        for (at, &b) in list.iter().enumerate() {
            list[..at].iter().for_each(|&a| *shared.entry((a, b)).or_default() += 1);
        }
    }
    let is_like = |&((a, b), shared): &((u32, u32), usize)| {
        shared * 10 > sizes[a as usize] + sizes[b as usize] - shared
    };
    let mut pairs: Vec<(u32, u32)> =
        shared.into_iter().filter(is_like).map(|(pair, _)| pair).collect();
    pairs.sort_unstable();
    let name = |at: u32| ids[at as usize].clone();
    Ok(pairs.into_iter().map(|(a, b)| (name(a), name(b))).collect())
}

/// A text with the signature of the scheme.
struct Made {
    tokens: Tokens,
    signature: Vec<Fingerprint>,
    keys: Vec<u64>,
    runs: Vec<u64>,
}

/// Prints a row for each tenth of resemblance.
fn report(spec: &str, pairs: &[(String, String)], texts: &HashMap<String, String>) -> Result {
    let scheme = scheme::parse(spec)?;
    let (Some(estimator), Some(k)) = (scheme.estimator(), scheme.span()) else {
        return Err(format!("{spec} does not estimate the similarity of texts").into());
    };
    let measures = [format!("resemblance(k={k})"), format!("containment(k={k})")];
    let [resemblance, containment] = measures.map(|name| name.parse::<Measure>());
    let measures = [resemblance?, containment?];
    let mut made: HashMap<&str, Made> = HashMap::new();
    let mut rows: Vec<Row> = (0..=10).map(|_| Row::default()).collect();
    let mut all = Row::default();
    for (a, b) in pairs {
        for id in [a, b] {
            if !made.contains_key(id.as_str()) {
                let (mut tokens, mut signature) = (Tokens::default(), Vec::new());
                Analyzer::default().analyze(&texts[id], &mut tokens, Stop::NEVER)?;
                scheme.sign(&tokens.hashes, &mut signature, Stop::NEVER)?;
                let mut keys: Vec<u64> = signature.iter().map(|found| found.key).collect();
                keys.sort_unstable();
                keys.dedup();
                made.insert(id, Made { tokens, signature, keys, runs: runs(&texts[id], k) });
            }
        }
        let (made_a, made_b) = (&made[a.as_str()], &made[b.as_str()]);
        let truth = Overlap::of(&made_a.runs, &made_b.runs);
        let found = Overlap::of(&made_a.keys, &made_b.keys);
        let [signed_a, signed_b] = [made_a, made_b].map(|made| KeyedSignature {
            tokens: made.tokens.hashes.len() as u32,
            fingerprints: &made.signature,
            keys: &made.keys,
        });
        let estimate = estimator.compare(found, signed_a, signed_b);
        let sides = [(a, made_a), (b, made_b)].map(|(id, made)| Side {
            text: &texts[id],
            tokens: &made.tokens,
            parts: &[],
        });
        let verify = |measure: &Measure| measure.try_of(sides[0], sides[1], Stop::NEVER);
        let verified = [verify(&measures[0])?, verify(&measures[1])?];
        let truths = [truth.resemblance(), truth.containment()];
        let said = [
            [found.resemblance(), estimate.resemblance, verified[0]],
            [found.containment(), estimate.containment_of_a, verified[1]],
        ];
        let off = (estimate.resemblance - truths[0]).abs();
        let within =
            [1.0, 2.0].map(|times| off <= times * estimate.standard_error.unwrap_or(0.0) + 1e-9);
        let tenth = (truths[0] * 10.0) as usize;
        rows[tenth].add(&truths, &said, within);
        if (RANGE.0..=RANGE.1).contains(&truths[0]) {
            all.add(&truths, &said, within);
        }
    }
    for (tenth, row) in rows.iter().enumerate() {
        let (from, to) = (tenth as f64 / 10.0, (tenth + 1) as f64 / 10.0);
        row.print(spec, &format!("{from:.1} to {:.1}", to.min(1.0)));
    }
    all.print(spec, &format!("{} to {}", RANGE.0, RANGE.1));
    Ok(())
}

impl Row {
    fn add(&mut self, truths: &[f64; 2], said: &[[f64; 3]; 2], within: [bool; 2]) {
        self.pairs += 1;
        for ((sums, said), truth) in self.sums.iter_mut().zip(said).zip(truths) {
            for (sum, said) in sums.iter_mut().zip(said) {
                *sum = Sum(sum.0 + (said - truth).abs(), sum.1 + said - truth);
            }
        }
        for (count, within) in self.within.iter_mut().zip(within) {
            *count += usize::from(within);
        }
    }

    fn print(&self, spec: &str, name: &str) {
        if self.pairs == 0 {
            return;
        }
        let pairs = self.pairs as f64;
        let cell = |sum: &Sum| format!("{:.4} | {:+.4}", sum.0 / pairs, sum.1 / pairs);
        let [[found, estimated, verified], containment] = &self.sums;
        let [one, two] = self.within.map(|count| format!("{:.2}", count as f64 / pairs));
        let rest = containment.iter().map(cell).collect::<Vec<_>>().join(" | ");
        println!(
            "| {spec} | {name} | {} | {} | {} | {one} | {two} | {} | {rest} |",
            self.pairs,
            cell(found),
            cell(estimated),
            cell(verified)
        );
    }
}
