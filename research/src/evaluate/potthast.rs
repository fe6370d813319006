//! Potthast and Stein 2008: precision and recall of fingerprinting over similarity.

use std::collections::HashMap;
use std::fmt::Write as _;

use cento::index::Config;
use clap::Args;

use super::revisions::Revisions;
use super::{common, share, trained};
use crate::Result;
use crate::measure::keys;

/// Figure 3 in shape, on pairs of revisions.
#[derive(Debug, Args)]
pub struct Potthast {
    #[command(flatten)]
    revisions: Revisions,
    /// The maximum number of pairs of each tenth of similarity.
    #[arg(long, default_value = "300")]
    each: usize,
}

struct Method {
    scheme: &'static str,
    analyzer: &'static str,
    /// The tokens of the grams in the table, or 0 without a table.
    q: usize,
    /// The share of fingerprints that makes two documents near-duplicates, or 0 if a single
    /// fingerprint does.
    share_min: f64,
    /// The size of a fingerprint by table 2.
    size: &'static str,
}

const fn method(scheme: &'static str, q: usize, share_min: f64, size: &'static str) -> Method {
    Method { scheme, analyzer: "words", q, share_min, size }
}

const METHODS: [Method; 17] = [
    method("rare(k=5,f=1)", 5, 0.5, "O(d)"),
    method("spex(k=5)", 5, 0.5, "O(r d)"),
    method("imatch(min=2,ppm=1000,n=6)", 1, 0.0, "O(k)"),
    method("kgram(k=5)", 0, 0.5, ""),
    method("anchor(k=5,p=6)", 0, 0.5, "O(d)"),
    method("breaking(p=6)", 0, 0.5, "O(d)"),
    method("winnow(k=5,w=10)", 0, 0.5, "O(d)"),
    method("mod(k=5,p=6)", 0, 0.5, ""),
    method("random(k=5,l=6,seed=1)", 0, 0.5, "O(k)"),
    method("every(k=5,l=6)", 0, 0.5, "O(d)"),
    method("minhash(k=5,b=16,r=8)", 0, 0.0, "O(k)"),
    method("supershingle(k=5)", 0, 0.0, "O(k)"),
    method("megashingle(k=5)", 0, 0.0, "O(k)"),
    Method { analyzer: "prefixes", ..method("fuzzy(c=16,r=3,n=3,w=60)", 1, 0.0, "O(k)") },
    method("simhash(k=2,d=3)", 0, 0.0, ""),
    method("lsh(b=16,r=8,w=50)", 0, 0.0, "O(k)"),
    method("keywords(min=2,ppm=1000,t=2)", 1, 0.0, ""),
];

/// Lengths of the texts to count fingerprints of, in words.
const LENGTHS: [usize; 5] = [1000, 2000, 4000, 8000, 16000];

const SIMILARITIES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

impl Potthast {
    pub(super) fn run(self) -> Result<String> {
        let (pairs, texts) = self.revisions.read()?;
        let mut counts = [0; 11];
        let mut chosen = Vec::new();
        for pair in pairs {
            let count = &mut counts[(pair.resemblance * 10.0) as usize];
            *count += 1;
            if *count <= self.each {
                chosen.push(pair);
            }
        }
        let mut out = format!(
            "## Potthast and Stein 2008: precision and recall over similarity\n\n{} pairs of revisions, at most {} of each tenth of exact resemblance. \
             A method takes a pair for near-duplicates if at least half of their fingerprints are common (resemblance), or, for the small sketches, one is. \
             Precision / recall with respect to the pairs of at least the similarity at the head of the column; last the mean number of distinct \
             fingerprints of a document.\n\n| scheme |",
            chosen.len(),
            self.each
        );
        for similarity in SIMILARITIES {
            write!(out, " {similarity} |")?;
        }
        out += " fingerprints |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
        let all: Vec<&str> = texts.values().map(String::as_str).collect();
        let mut sizes = String::new();
        for Method { scheme, analyzer, q, share_min, size } in METHODS {
            let config = trained(scheme, analyzer, q, &all)?;
            counts_by_length(scheme, size, &config, &texts, &mut sizes)?;
            let mut signatures: HashMap<&str, Vec<u64>> = HashMap::new();
            for id in chosen.iter().flat_map(|pair| [&pair.a, &pair.b]) {
                if !signatures.contains_key(id.as_str()) {
                    let text = texts.get(id).ok_or_else(|| format!("no document {id}"))?;
                    signatures.insert(id, keys(&config, text)?);
                }
            }
            let found: Vec<bool> = chosen
                .iter()
                .map(|pair| {
                    let (a, b) = (&signatures[pair.a.as_str()], &signatures[pair.b.as_str()]);
                    let both = common(a, b);
                    both > 0 && share(both, a.len() + b.len() - both) >= share_min
                })
                .collect();
            write!(out, "| `{scheme}` |")?;
            for similarity in SIMILARITIES {
                let is_alike: Vec<bool> =
                    chosen.iter().map(|pair| pair.resemblance >= similarity).collect();
                let right = found.iter().zip(&is_alike).filter(|(a, b)| **a && **b).count();
                let count = |of: &[bool]| of.iter().filter(|&&yes| yes).count();
                write!(
                    out,
                    " {:.2} / {:.2} |",
                    share(right, count(&found)),
                    share(right, count(&is_alike))
                )?;
            }
            let fingerprints: usize = signatures.values().map(Vec::len).sum();
            writeln!(out, " {:.0} |", share(fingerprints, signatures.len()))?;
        }
        write!(
            out,
            "\nTable 2 by counts: fingerprints of texts by their number of words (20 texts each, made of revisions of different documents), which is also the number of \
             look-ups of a query, and what a document adds to the index; last, what the words times 16 multiply them by, and the paper's complexity, in the length d \
             of the document or a constant k. Random choice is a fixed number in the paper and one of every l here.\n\n| scheme |"
        )?;
        for length in LENGTHS {
            write!(out, " {length} |")?;
        }
        out += " x 16 | paper |\n|---|---|---|---|---|---|---|---|\n";
        out += &sizes;
        out.push('\n');
        Ok(out)
    }
}

/// Appends the numbers of fingerprints by length of the text.
fn counts_by_length(
    scheme: &str,
    size: &str,
    config: &Config,
    texts: &HashMap<String, String>,
    out: &mut String,
) -> Result {
    let mut ids: Vec<&String> = texts.keys().collect();
    ids.sort_unstable();
    let step = ids.len() / 400;
    let mut words = ids.iter().step_by(step.max(1)).flat_map(|id| texts[*id].split_whitespace());
    let mut means = Vec::new();
    write!(out, "| `{scheme}` |")?;
    for length in LENGTHS {
        let mut count = 0;
        for _ in 0..20 {
            let text: Vec<&str> = words.by_ref().take(length).collect();
            count += config.sign(&text.join(" "))?.1.len();
        }
        means.push(count as f64 / 20.0);
        write!(out, " {:.0} |", means[means.len() - 1])?;
    }
    writeln!(out, " {:.1} | {size} |", means[means.len() - 1] / means[0])?;
    Ok(())
}
