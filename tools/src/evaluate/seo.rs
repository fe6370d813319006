//! Seo and Croft 2008: which scheme tells the six categories of text reuse apart?

use std::collections::HashMap;
use std::fmt::Write as _;

use cento::index::Config;
use cento::search::Category;
use clap::Args;

use super::revisions::Revisions;
use super::{common, keys, share};
use crate::Result;

/// Table 3 in shape, on pairs of revisions.
#[derive(Debug, Args)]
pub struct Seo {
    #[command(flatten)]
    revisions: Revisions,
    /// At most so many pairs of each category.
    #[arg(long, default_value = "200")]
    each: usize,
}

/// The schemes of the paper with its parameters, and the default one.
const SCHEMES: [&str; 7] = [
    "kgram(k=3)",
    "mod(k=3,p=6)",
    "winnow(k=3,w=10)",
    "breaking(p=3)",
    "dct(p=3)",
    "se(c=10)",
    "winnow(k=5,w=10)",
];

const CATEGORIES: [Category; 6] =
    [Category::C1, Category::C2, Category::C3, Category::C4, Category::C5, Category::C6];

impl Seo {
    pub(super) fn run(self) -> Result<String> {
        let (pairs, texts) = self.revisions.read()?;
        let mut counts: HashMap<Option<Category>, usize> = HashMap::new();
        let mut labelled = Vec::new();
        for pair in pairs {
            let label = Category::of(pair.containment, pair.containment_back);
            let count = counts.entry(label).or_default();
            *count += 1;
            if *count <= self.each {
                labelled.push((pair, label));
            }
        }
        let mut out = format!(
            "## Seo and Croft 2008: categories of text reuse\n\nF1 of each category and mean number of distinct fingerprints of a document. \
             {} pairs of revisions, at most {} of a category and as many that have none; labels are the categories of their exact containments \
             (sets of five-word shingles), which fits schemes with k = 5 best.\n\n| scheme |",
            labelled.len(),
            self.each
        );
        for category in CATEGORIES {
            let pairs = labelled.iter().filter(|(_, label)| *label == Some(category)).count();
            write!(out, " {category:?} ({pairs}) |")?;
        }
        out += " mean F1 | fingerprints |\n|---|---|---|---|---|---|---|---|---|\n";
        for scheme in SCHEMES {
            let config = Config::new(scheme, "words", false)?;
            let mut signatures: HashMap<&str, Vec<u64>> = HashMap::new();
            for id in labelled.iter().flat_map(|(pair, _)| [&pair.a, &pair.b]) {
                let text = texts.get(id).ok_or_else(|| format!("no document {id}"))?;
                signatures.insert(id, keys(&config, text)?);
            }
            let found: Vec<Option<Category>> = labelled
                .iter()
                .map(|(pair, _)| {
                    let (a, b) = (&signatures[pair.a.as_str()], &signatures[pair.b.as_str()]);
                    let both = common(a, b);
                    Category::of(share(both, a.len()), share(both, b.len()))
                })
                .collect();
            write!(out, "| `{scheme}` |")?;
            let mut sum = 0.0;
            for category in CATEGORIES.map(Some) {
                let is = |label: &Option<Category>| *label == category;
                let expected = labelled.iter().filter(|(_, label)| is(label)).count();
                let claimed = found.iter().filter(|label| is(label)).count();
                let both = labelled.iter().zip(&found);
                let right = both.filter(|((_, label), found)| is(label) && is(found)).count();
                let f1 = share(2 * right, expected + claimed);
                sum += f1 / 6.0;
                write!(out, " {f1:.3} |")?;
            }
            let fingerprints: usize = signatures.values().map(Vec::len).sum();
            writeln!(out, " {sum:.3} | {:.0} |", share(fingerprints, signatures.len()))?;
        }
        out.push('\n');
        robustness(&mut out)?;
        Ok(out)
    }
}

/// How many fingerprints of segments survive one replaced word?
fn robustness(out: &mut String) -> Result {
    *out += "Fingerprints that survive when one word in twenty is replaced by another:\n\n| p | breaking | dct |\n|---|---|---|\n";
    let word = |seed: u64, i: u64| format!("w{}", cento::hash::mix64(seed << 32 | i) % 20_000);
    let text = |seed: u64, replaced: bool| {
        let drawn =
            |i: u64| if replaced && i % 20 == 7 { word(seed + 999, i) } else { word(seed, i) };
        (0..2000).map(drawn).collect::<Vec<_>>().join(" ")
    };
    for p in [3, 4, 6, 8] {
        write!(out, "| {p} |")?;
        for scheme in ["breaking", "dct"] {
            let config = Config::new(&format!("{scheme}(p={p})"), "words", false)?;
            let (mut kept, mut all) = (0, 0);
            for seed in 1..=50 {
                let (a, b) =
                    (keys(&config, &text(seed, false))?, keys(&config, &text(seed, true))?);
                kept += common(&a, &b);
                all += a.len();
            }
            write!(out, " {:.3} |", share(kept, all))?;
        }
        out.push('\n');
    }
    out.push('\n');
    Ok(())
}
