//! Seo and Croft 2008: the six categories of text reuse, by scheme.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use cento::Category;
use cento::Measure;
use cento::Stop;
use cento::index::Config;
use cento::text::{Analyzer, Side, Tokens};
use clap::Args;
use fastrand::Rng;

use super::revisions::Revisions;
use super::{common, share};
use crate::Result;
use crate::cento::{Document, documents};
use crate::measure::keys;

/// Table 3 in shape, on pairs of revisions and on pairs that were planted.
#[derive(Debug, Args)]
pub struct Seo {
    #[command(flatten)]
    revisions: Revisions,
    /// Articles to make pairs with known reuse from: a JSON lines file.
    #[arg(long)]
    articles: PathBuf,
    /// The maximum number of pairs of each category.
    #[arg(long, default_value = "200")]
    each: usize,
    /// The seed of planted pairs.
    #[arg(long, default_value = "1")]
    seed_of_pairs: u64,
}

/// Schemes of the paper with its parameters, the default scheme, and the scheme for rewritten text.
const SCHEMES: [&str; 8] = [
    "kgram(k=3)",
    "mod(k=3,p=6)",
    "winnow(k=3,w=10)",
    "breaking(p=3)",
    "dct(p=3)",
    "se(c=10)",
    "winnow(k=5,w=10)",
    cento::index::REUSE,
];

const CATEGORIES: [Category; 6] =
    [Category::C1, Category::C2, Category::C3, Category::C4, Category::C5, Category::C6];

/// Two texts, with the category of reuse that their alignment shows.
struct Pair {
    a: String,
    b: String,
    label: Option<Category>,
}

/// Chooses at most `each` pairs per category, and as many pairs without a category.
struct Chooser {
    each: usize,
    analyzer: Analyzer,
    overlap: Measure,
    counts: HashMap<Option<Category>, usize>,
    chosen: Vec<Pair>,
}

impl Chooser {
    fn new(each: usize) -> Result<Chooser> {
        let overlap = "overlap(n=5)".parse()?;
        let (analyzer, counts) = (Analyzer::default(), HashMap::new());
        Ok(Chooser { each, analyzer, overlap, counts, chosen: Vec::new() })
    }

    fn offer(&mut self, a: &str, b: &str) -> Result {
        let (mut x, mut y) = (Tokens::default(), Tokens::default());
        self.analyzer.analyze(a, &mut x, Stop::NEVER)?;
        self.analyzer.analyze(b, &mut y, Stop::NEVER)?;
        let [x, y] = [(a, &x), (b, &y)].map(|(text, tokens)| Side { text, tokens, parts: &[] });
        let label = Category::of(self.overlap.of(x, y), self.overlap.of(y, x));
        let count = self.counts.entry(label).or_default();
        if *count < self.each {
            *count += 1;
            self.chosen.push(Pair { a: a.to_owned(), b: b.to_owned(), label });
        }
        Ok(())
    }
}

impl Seo {
    pub(super) fn run(self) -> Result<String> {
        let mut out = "## Seo and Croft 2008: categories of text reuse\n\nF1 of each category and mean number of distinct fingerprints of a document. A pair's label is the \
             category of its exact alignment: the share of each text's tokens that stand in runs of at least five which the other text has too (`overlap(n=5)`, \
             by a suffix automaton, both ways).\n\n"
            .to_owned();
        let (pairs, texts) = self.revisions.read()?;
        let mut revisions = Chooser::new(self.each)?;
        // Rare categories fill late, so the exact shares of a pair tell first which category is
        // possible.
        for pair in &pairs {
            let guess = Category::of(pair.containment, pair.containment_back);
            if revisions.counts.get(&guess).is_some_and(|count| *count >= self.each) {
                continue;
            }
            let text = |id| texts.get(id).ok_or_else(|| format!("no document {id}"));
            revisions.offer(text(&pair.a)?, text(&pair.b)?)?;
        }
        table("pairs of revisions", &revisions.chosen, &mut out)?;
        let planted = self.planted()?;
        let what = "planted pairs: a part of an article, one word in fifty replaced, within a text \
                    of others";
        table(what, &planted.chosen, &mut out)?;
        robustness(&mut out)?;
        Ok(out)
    }

    /// Pairs of texts with any common share.
    fn planted(&self) -> Result<Chooser> {
        let mut rng = Rng::with_seed(self.seed_of_pairs);
        let articles: Vec<Document> = documents(&self.articles)?.collect::<Result<_>>()?;
        let articles: Vec<Vec<&str>> = articles
            .iter()
            .map(|article| article.text.split_whitespace().collect::<Vec<_>>())
            .filter(|words| words.len() >= 200)
            .collect();
        let mut planted = Chooser::new(self.each)?;
        for _ in 0..40 * self.each {
            let source = rng.choice(&articles).ok_or("there are no articles of 200 words")?;
            let len = ((0.05 + 0.95 * rng.f64()) * source.len() as f64) as usize;
            let start = rng.usize(0..=source.len() - len);
            let word = |rng: &mut Rng| {
                let other = rng.choice(&articles).expect("there are articles");
                other[rng.usize(0..other.len())]
            };
            let mut copy: Vec<&str> = Vec::new();
            for &original in &source[start..start + len] {
                copy.push(if rng.usize(0..50) == 0 { word(&mut rng) } else { original });
            }
            let around = (copy.len() as f64 * (1.0 / (0.05 + 0.95 * rng.f64()) - 1.0)) as usize;
            let other = rng.choice(&articles).expect("there are articles");
            let around = &other[..around.min(other.len())];
            let before = rng.usize(0..=around.len());
            let text = [&around[..before], &copy, &around[before..]].concat().join(" ");
            planted.offer(&source.join(" "), &text)?;
        }
        Ok(planted)
    }
}

/// Appends a table of the figures for these pairs.
fn table(what: &str, pairs: &[Pair], out: &mut String) -> Result {
    write!(out, "{} {what}.\n\n| scheme |", pairs.len())?;
    for category in CATEGORIES {
        let count = pairs.iter().filter(|pair| pair.label == Some(category)).count();
        write!(out, " {category:?} ({count}) |")?;
    }
    *out += " mean F1 | fingerprints |\n|---|---|---|---|---|---|---|---|---|\n";
    for scheme in SCHEMES {
        let config = Config::new(scheme, "words", false)?;
        let mut fingerprints = 0;
        let mut found: Vec<Option<Category>> = Vec::new();
        for pair in pairs {
            let (a, b) = (keys(&config, &pair.a)?, keys(&config, &pair.b)?);
            let both = common(&a, &b);
            fingerprints += a.len() + b.len();
            found.push(Category::of(share(both, a.len()), share(both, b.len())));
        }
        write!(out, "| `{scheme}` |")?;
        let mut sum = 0.0;
        for category in CATEGORIES.map(Some) {
            let expected = pairs.iter().filter(|pair| pair.label == category).count();
            let claimed = found.iter().filter(|label| **label == category).count();
            let both = pairs.iter().zip(&found);
            let right =
                both.filter(|(pair, found)| pair.label == category && **found == category).count();
            let f1 = share(2 * right, expected + claimed);
            sum += f1 / 6.0;
            write!(out, " {f1:.3} |")?;
        }
        writeln!(out, " {sum:.3} | {:.0} |", share(fingerprints, 2 * pairs.len()))?;
    }
    out.push('\n');
    Ok(())
}

/// Measures how many fingerprints of segments survive a replaced word.
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
