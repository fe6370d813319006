//! Potthast and Stein 2008: precision and recall of fingerprinting over similarity.

use std::collections::HashMap;
use std::fmt::Write as _;

use cento::index::Config;
use clap::Args;

use super::revisions::Revisions;
use super::{common, keys, share};
use crate::Result;

/// Figure 3 in shape, on pairs of revisions.
#[derive(Debug, Args)]
pub struct Potthast {
    #[command(flatten)]
    revisions: Revisions,
    /// At most so many pairs of each tenth of similarity.
    #[arg(long, default_value = "300")]
    each: usize,
}

/// A scheme, and the share of fingerprints that makes two documents near-duplicates; 0 if one
/// fingerprint does.
const METHODS: [(&str, f64); 9] = [
    ("breaking(p=6)", 0.5),
    ("kgram(k=5)", 0.5),
    ("winnow(k=5,w=10)", 0.5),
    ("mod(k=5,p=6)", 0.5),
    ("minhash(k=5,b=16,r=8)", 0.0),
    ("supershingle(k=5)", 0.0),
    ("megashingle(k=5)", 0.0),
    ("simhash(k=2,d=3)", 0.0),
    ("lsh(b=16,r=8,w=50)", 0.0),
];

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
        for (scheme, share_min) in METHODS {
            let config = Config::new(scheme, "words", false)?;
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
        out.push('\n');
        Ok(out)
    }
}
