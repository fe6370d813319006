//! `cento boilerplate`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::list_format::{ListFormat, ListOut};
use super::output::{self, count};
use super::terminal::{Id, line, note};
use super::{Outcome, Result};
use cento::index::{Index, RepeatedPassage};

/// Show the passages that most documents of an index repeat.
///
/// Licences, headers and disclaimers are in many documents, and say nothing of two that share them.
/// Each passage is shown with the number of documents that have it, the most frequent first. What
/// this command writes with --format json can be given to the option -b of other verbs, which then
/// ignore these passages: remove the lines of those that count.
#[derive(Debug, Args)]
pub struct Boilerplate {
    /// Directory of the index.
    index: PathBuf,
    /// Maximum number of passages to show.
    #[arg(long, short = 'n', value_name = "N", default_value = "10")]
    limit: usize,
    /// Output format. The columns of csv and tsv are the fields of JSON.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

/// The columns of a table of passages.
const COLUMNS: &[&str] = &["documents", "tokens", "id", "bytes", "text"];

impl Boilerplate {
    pub(super) fn run(self) -> Result {
        let snapshot = Index::open(&self.index)?.snapshot()?;
        let mut passages = snapshot.repeated_passages(self.limit.saturating_add(1))?;
        let is_cut = passages.len() > self.limit;
        passages.truncate(self.limit);
        let mut out = ListOut::new(io::BufWriter::new(io::stdout().lock()), self.format, COLUMNS)?;
        for (at, passage) in passages.iter().enumerate() {
            out.write(passage, |out| print(out, passage, at > 0))?;
        }
        out.flush()?;
        if is_cut {
            note!("{}", output::cut(passages.len() as u64, None, "passage", "--limit"));
        }
        Ok(if passages.is_empty() { Outcome::Nothing } else { Outcome::Found })
    }
}

fn print(out: &mut impl Write, passage: &RepeatedPassage, is_next: bool) -> io::Result<()> {
    let RepeatedPassage { documents, tokens, id, text, .. } = passage;
    if is_next {
        line!(out)?;
    }
    line!(out, "in {} documents, {tokens} tokens, such as {}:", count(*documents), Id(id))?;
    let text = text.as_deref().unwrap_or("(the index stores no text)");
    text.lines().try_for_each(|line| line!(out, "    {line}"))
}
