//! Measures how well scores separate copies of programs from independent solutions of the same
//! task.
//!
//! IR-Plag (Karnalim, Budi, Toba and Joy 2019) has seven tasks with an original each, copies of six
//! levels of disguise, and independent solutions. The first part ranks copies above independent
//! solutions by level and by task, beside a ranking by length alone. The second part makes
//! collections of several tasks with few copies each: half of the tasks choose the threshold, and
//! the second half judges it. `--judged` instead takes pairs of programs of many tasks that people
//! have judged.

mod collections;
mod figures;
mod judged;
mod ranking;

use std::collections::HashMap;
use std::path::PathBuf;

use cento::index::{Config, Document, Index, SignedDocument, WriterOptions};
use cento::search::Searcher;
use cento::{Overlap, Stop};
use cento_collections::pairs::{PairOptions, pairs};
use cento_collections::{PairRank, Thresholds};
use clap::Args;

use crate::Result;
use crate::cento::documents;

/// Measure what tells copies of programs from independent solutions.
#[derive(Debug, Args)]
pub struct Programs {
    /// IR-Plag as JSON lines, with the paths of the files as ids; with --judged, other programs.
    #[arg(long)]
    corpus: PathBuf,
    /// Judged pairs of the programs: lines of two ids, and 1 for a copy or 0, with tabs between
    /// them, below a heading.
    #[arg(long, value_name = "FILE")]
    judged: Option<PathBuf>,
    /// Similarities by another program, NAME=FILE: lines of two ids and a number with tabs between
    /// them.
    #[arg(long = "other", value_name = "NAME=FILE")]
    others: Vec<String>,
    /// Write the programs as files below this directory, for other programs, and end.
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
    /// Random collections of each kind.
    #[arg(long, default_value = "40")]
    collections: usize,
    /// The seed that chooses them.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// The role of a program in its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Original,
    /// A copy of this level, 1 to 6.
    Copy(u32),
    Independent,
}

/// A program of a task.
struct Program {
    id: String,
    task: u32,
    role: Role,
    text: String,
}

/// The similarities of all pairs of programs by the same method of comparison.
struct Compared {
    name: String,
    /// Ascending keys of each program, empty for similarities from an external program.
    keys: Vec<Vec<u64>>,
    tokens: Vec<u32>,
    similarity: Vec<Vec<f64>>,
    containment: Vec<Vec<f64>>,
}

/// The methods of comparison, by name.
const SETTINGS: [(&str, &str); 3] = [
    ("winnow(k=5,w=4)", "code(language=java)"),
    ("winnow(k=10,w=4)", "code(language=java)"),
    ("winnow(k=5,w=4)", "words"),
];

impl Programs {
    pub(crate) fn run(self) -> Result {
        if let Some(judged) = &self.judged {
            return judged::print(&self.corpus, judged);
        }
        let programs = self.read()?;
        if let Some(dir) = &self.export {
            for program in &programs {
                let path = dir.join(&program.id);
                std::fs::create_dir_all(path.parent().ok_or("an id is no path")?)?;
                std::fs::write(path, &program.text)?;
            }
            return Ok(());
        }
        let mut compared = Vec::new();
        for (scheme, analyzer) in SETTINGS {
            compared.push(Compared::by_cento(scheme, analyzer, &programs)?);
        }
        for other in &self.others {
            let (name, path) = other.split_once('=').ok_or("--other is NAME=FILE")?;
            compared.push(Compared::by_other(name, path, &programs)?);
        }
        ranking::print(&programs, &compared)?;
        ranking::print_lengths(&programs, &compared[0]);
        collections::print(&programs, &compared, self.collections, self.seed)
    }

    fn read(&self) -> Result<Vec<Program>> {
        let mut programs = Vec::new();
        for document in documents(&self.corpus)? {
            let document = document?;
            let parts: Vec<&str> = document.id.split('/').collect();
            let task = parts[0].strip_prefix("case-").ok_or("no task in an id")?.parse()?;
            let role = match parts[1] {
                "original" => Role::Original,
                "plagiarized" => {
                    Role::Copy(parts[2].strip_prefix('L').ok_or("no level in an id")?.parse()?)
                }
                _ => Role::Independent,
            };
            programs.push(Program { id: document.id, task, role, text: document.text });
        }
        programs.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(programs)
    }
}

/// Makes an index of programs. The id is the position in the list.
fn searcher((scheme, analyzer): (&str, &str), texts: &[&str], has_texts: bool) -> Result<Searcher> {
    let index = Index::in_memory(Config::new(scheme, analyzer, has_texts)?)?;
    let mut writer = index.writer(WriterOptions::default())?;
    for (place, text) in texts.iter().enumerate() {
        let document = Document::new(place.to_string(), (*text).to_owned());
        writer.add_signed(SignedDocument::new(document, index.config(), Stop::NEVER)?)?;
    }
    writer.finish()?;
    Ok(Searcher::new(index.snapshot()?))
}

/// Returns cento's scores of the pairs of a collection.
fn scores(texts: &[&str]) -> Result<Vec<Vec<f64>>> {
    let searcher = searcher(SETTINGS[0], texts, true)?;
    let thresholds = Thresholds::default().min_overlap(1);
    let options = PairOptions::default().thresholds(thresholds).rank(PairRank::Score);
    let mut scores = vec![vec![0.0; texts.len()]; texts.len()];
    for pair in pairs(&searcher, &options) {
        let pair = pair?;
        let place = |address| -> Result<usize> { Ok(searcher.snapshot().id(address)?.parse()?) };
        let (a, b) = (place(pair.a)?, place(pair.b)?);
        let score = pair.score.ok_or("a pair has no score")?;
        (scores[a][b], scores[b][a]) = (score, score);
    }
    Ok(scores)
}

impl Compared {
    /// Returns whether cento's preset compares this way.
    fn is_default(&self) -> bool {
        let (scheme, analyzer) = SETTINGS[0];
        self.name == name(scheme, analyzer)
    }

    fn by_cento(scheme: &str, analyzer: &str, programs: &[Program]) -> Result<Compared> {
        let config = Config::new(scheme, analyzer, false)?;
        let (mut keys, mut tokens) = (Vec::new(), Vec::new());
        for program in programs {
            let (found, signature) = config.sign(&program.text)?;
            let mut own: Vec<u64> = signature.iter().map(|fingerprint| fingerprint.key).collect();
            own.sort_unstable();
            own.dedup();
            keys.push(own);
            tokens.push(found);
        }
        let by = |measure: fn(Overlap) -> f64| -> Vec<Vec<f64>> {
            let row =
                |a: &Vec<u64>| keys.iter().map(|b| measure(Overlap::of(a, b))).collect::<Vec<_>>();
            keys.iter().map(row).collect()
        };
        let (similarity, containment) = (by(Overlap::resemblance), by(Overlap::max_containment));
        let name = name(scheme, analyzer);
        Ok(Compared { name, keys, tokens, similarity, containment })
    }

    fn by_other(name: &str, path: &str, programs: &[Program]) -> Result<Compared> {
        let places: HashMap<&str, usize> =
            programs.iter().enumerate().map(|(place, program)| (&*program.id, place)).collect();
        let mut similarity = vec![vec![0.0; programs.len()]; programs.len()];
        for line in std::fs::read_to_string(path)?.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [a, b, value] = fields[..] else { return Err(format!("{path}: {line}").into()) };
            let place = |id| places.get(id).copied().ok_or(format!("{path}: no program {id}"));
            let (a, b, value) = (place(a)?, place(b)?, value.parse()?);
            similarity[a][b] = value;
            similarity[b][a] = value;
        }
        let (keys, tokens, containment) = (Vec::new(), Vec::new(), similarity.clone());
        Ok(Compared { name: name.to_owned(), keys, tokens, similarity, containment })
    }
}

fn name(scheme: &str, analyzer: &str) -> String {
    format!("`{scheme}`, `{analyzer}`")
}
