//! `cento check` verifies the files of an index.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::key;
use super::output::{self, Format, count};
use super::progress::Progress;
use super::terminal::line;
use super::{Result, VerbOutcome};
use cento::index::{CheckProgress, CheckReport};
use cento::{Corruption, Error};

/// Read a whole index and report all damage.
///
/// cento also lists files in the directory that belong to no commit, because they may have texts
/// that were removed since. A pull, an addition or a merge that was cut off leaves such files, and
/// the next change of the index removes them. If you have no other problem, the exit status is 3.
/// cento does not look for such files while another process writes to the index.
#[derive(Debug, Args)]
pub struct Check {
    /// Directory of your index.
    index: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Serialize)]
struct CheckSummary<'a> {
    ok: bool,
    segments: usize,
    /// The number of segments with damage.
    damaged: usize,
    problems: &'a [Corruption],
    /// Files of no commit.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unlisted: &'a [String],
}

/// The progress line of a check: first of the bytes of the files, then of the documents.
#[derive(Default)]
struct ShownCheck {
    bytes: OnceCell<Progress>,
    documents: OnceCell<Progress>,
}

impl ShownCheck {
    fn set(&self, at: CheckProgress) {
        match at {
            CheckProgress::Bytes { done, of } => {
                let kilobytes = |bytes: u64| bytes.div_ceil(1000);
                let line = self.bytes.get_or_init(|| Progress::new(kilobytes(of), "kB"));
                line.set(kilobytes(done));
            }
            CheckProgress::Documents { done, of } => {
                let line = self.documents.get_or_init(|| {
                    self.bytes.get().into_iter().for_each(Progress::finish);
                    Progress::new(of, "documents")
                });
                line.set(done);
            }
            _ => {}
        }
    }

    fn finish(&self) {
        [&self.bytes, &self.documents]
            .into_iter()
            .filter_map(OnceCell::get)
            .for_each(Progress::finish);
    }
}

impl Check {
    pub(super) fn run(self) -> Result {
        let shown = ShownCheck::default();
        let checked =
            key::open(&self.index).and_then(|index| index.check_with(&|at| shown.set(at)));
        shown.finish();
        let CheckReport { segments, damaged, problems, unlisted, .. } = match checked {
            // As in the other problems, the name of the file is enough: the index is given.
            Err(Error::Corrupt(Corruption { file, section, offset, what })) => {
                let name = Path::new(&file).strip_prefix(&self.index);
                let name = name.map_or(file.clone(), |name| name.display().to_string());
                CheckReport::of(vec![Corruption::new(name, section, offset, what)])
            }
            other => other?,
        };
        let ok = problems.is_empty();
        match self.format {
            Format::Json => {
                let (problems, unlisted) = (&problems, &unlisted);
                output::print_json(&CheckSummary { ok, segments, damaged, problems, unlisted })?
            }
            Format::Human => {
                let mut out = io::stdout().lock();
                for problem in &problems {
                    line!(out, "{problem}")?;
                }
                let all = output::counted(segments as u64, "segment");
                match damaged {
                    0 if ok => line!(out, "{all}: no problems")?,
                    0 if segments == 0 => line!(out, "no segment was read: damaged")?,
                    0 => line!(out, "{all}: damaged outside of them")?,
                    damaged => line!(out, "{} of {all}: damaged", count(damaged as u64))?,
                }
                for name in &unlisted {
                    line!(out, "{name}: of no commit; it may have texts that were removed")?;
                }
                if !unlisted.is_empty() {
                    let advice = "a pull, addition or merge that was cut off has left these files; \
                                  the next change of the index removes them, `cento compact` at \
                                  once";
                    line!(out, "{advice}")?;
                }
                if !ok {
                    let index = self.index.display();
                    line!(
                        out,
                        "restore the index from a backup, or add the documents to a new one; \
                         `cento recover {index} --to NEW` makes an index of the segments that are \
                         whole"
                    )?;
                }
            }
        }
        Ok(match (ok, unlisted.is_empty()) {
            (true, true) => VerbOutcome::Found,
            (true, false) => VerbOutcome::Incomplete,
            (false, _) => VerbOutcome::Bad,
        })
    }
}
