//! Repeats the tables of the papers with cento's schemes and measures.
//!
//! Each paper has a sub-command, and whole collections have one. A sub-command prints its tables
//! and writes them to a section of `target/evaluation.md`. `research/RESULTS.md` has a short form.

mod collection;
mod finkel;
mod potthast;
mod revisions;
mod seo;
mod sharapova;
mod sun;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento::Stop;
use cento::index::Config;
use cento::scheme::frequency::{FrequencyCounter, FrequencyTable};
use cento::text::{Analyzer, Tokens};
use clap::{Args, Subcommand};

use crate::Result;

/// Make the tables of the papers again.
#[derive(Debug, Args)]
pub struct Evaluate {
    #[command(subcommand)]
    paper: Paper,
    /// The file whose section is replaced.
    #[arg(long, global = true, default_value = "target/evaluation.md")]
    results: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Paper {
    Finkel(finkel::Finkel),
    Seo(seo::Seo),
    Potthast(potthast::Potthast),
    Sun(sun::Sun),
    Sharapova(sharapova::Sharapova),
    Collection(collection::Collection),
}

impl Evaluate {
    pub(crate) fn run(self) -> Result {
        let (name, text) = match self.paper {
            Paper::Finkel(paper) => ("finkel", paper.run()?),
            Paper::Seo(paper) => ("seo", paper.run()?),
            Paper::Potthast(paper) => ("potthast", paper.run()?),
            Paper::Sun(paper) => ("sun", paper.run()?),
            Paper::Collection(paper) => ("collection", paper.run()?),
            Paper::Sharapova(paper) => ("sharapova", paper.run()?),
        };
        print!("{text}");
        replace_section(&self.results, name, &text)
    }
}

/// Replaces the text of the section `name`, or appends the section if it is missing.
fn replace_section(path: &Path, name: &str, text: &str) -> Result {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
    let section = format!("{begin}{text}{end}");
    let before = std::fs::read_to_string(path).unwrap_or_default();
    let after = match (before.find(&begin), before.find(&end)) {
        (Some(from), Some(to)) => {
            format!("{}{section}{}", &before[..from], &before[to + end.len()..])
        }
        _ => format!("{before}{}{section}", if before.is_empty() { "" } else { "\n" }),
    };
    Ok(std::fs::write(path, after)?)
}

/// Returns a configuration that keeps texts. Unless `q` is 0, the scheme reads a table of the runs
/// of `q` tokens in these texts.
pub fn trained(scheme: &str, analyzer: &str, q: usize, texts: &[&str]) -> Result<Config> {
    let analyzer: Analyzer = analyzer.parse()?;
    let name = analyzer.to_string();
    let table = if q == 0 {
        None
    } else {
        let mut counter = FrequencyCounter::new(q, &name);
        let mut tokens = Tokens::default();
        for text in texts {
            analyzer.analyze(text, &mut tokens, Stop::NEVER)?;
            counter.add(&tokens, None)?;
        }
        let mut bytes = Vec::new();
        counter.write(&mut bytes)?;
        Some(Arc::new(FrequencyTable::new("memory", bytes)?))
    };
    Ok(Config::with_frequencies(scheme, &name, true, table)?)
}

/// Counts the keys that two ascending sets share.
fn common(a: &[u64], b: &[u64]) -> usize {
    a.iter().filter(|key| b.binary_search(key).is_ok()).count()
}

/// Returns a share, or 0 if the whole is 0.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_and_the_others_stay() {
        let path = std::env::temp_dir().join(format!("cento-results-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        for (name, text) in [("a", "1\n"), ("b", "2\n"), ("a", "3\n")] {
            replace_section(&path, name, text).expect("the file can be written");
        }
        let text = std::fs::read_to_string(&path).expect("it was written");
        let _ = std::fs::remove_file(&path);
        let expected = "<!-- a -->\n3\n<!-- end of a -->\n\n<!-- b -->\n2\n<!-- end of b -->\n";
        assert_eq!(text, expected);
    }
}
