//! `cento recover` makes a new index from the undamaged parts of an index.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::key;
use super::output::{self, Format, bytes, count};
use super::terminal::{line, tell};
use super::watch::tell_left_behind;
use super::{Result, VerbOutcome};
use cento::index::{FoundSegment, Index};
use cento::{Error, Reason};

/// Rescue the undamaged segments of an index whose list of segments is lost, damaged or too old.
///
/// cento reads every file and compares it with its checksum. Without `--to`, it lists the segments.
/// `--to` links or copies the undamaged segments into a new directory and makes an index of them.
/// Nothing in your old directory changes. If segments are damaged, the exit status is 2, even if
/// the others were recovered. If --segment says which ones to recover, the exit status is 0.
/// --segment also takes a segment whose list of deleted documents is lost. Documents that were
/// removed or replaced then come back, cento tells you how many, and the exit status is 2.
#[derive(Debug, Args)]
pub struct Recover {
    /// Directory of your index.
    index: PathBuf,
    /// Make an index of the undamaged segments in this directory, which must not exist, or must be
    /// empty.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Only this segment. Can be repeated. Default: all undamaged segments.
    #[arg(long, value_name = "NAME", requires = "to")]
    segment: Vec<String>,
    /// An index that was created with the same options, for a directory whose list of segments
    /// cannot be read. An empty index will do.
    #[arg(long, value_name = "INDEX", requires = "to")]
    like: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Serialize)]
struct RecoverSummary<'a> {
    segments: &'a [FoundSegment],
    /// The live documents of the new index.
    #[serde(skip_serializing_if = "Option::is_none")]
    documents: Option<u64>,
}

impl Recover {
    pub(super) fn run(self) -> Result {
        if let Some(to) = self.to.as_ref().filter(|to| Index::exists(to)) {
            let what =
                format!("{} exists and is an index; --to needs a new directory", to.display());
            return Err(Error::argument("to", what).into());
        }
        let segments = Index::segments_in(&self.index)?;
        if segments.is_empty() && !Index::exists(&self.index) {
            let what = "there are no files of an index here";
            return Err(Error::index(&self.index, Reason::NotFound, what).into());
        }
        let documents = match &self.to {
            Some(to) => {
                let like = self.like.as_ref().map(key::open).transpose()?;
                let made = Index::recover(&self.index, to, like.as_ref(), &self.segment)?;
                tell_left_behind(&self.index, "in the new index")?;
                Some(made.snapshot()?.documents())
            }
            None => None,
        };
        let damaged = segments.iter().filter(|segment| segment.problem.is_some()).count() as u64;
        match self.format {
            Format::Json => output::print_json(&RecoverSummary { segments: &segments, documents })?,
            Format::Human => self.print(&segments, documents)?,
        }
        if !self.segment.is_empty() {
            let is_named = |found: &&FoundSegment| self.segment.contains(&found.segment);
            let undeleted = segments.iter().filter(is_named).map(|found| found.undeleted);
            return Ok(self.tell_undeleted(undeleted.map(u64::from).sum()));
        }
        if damaged == 0 {
            return Ok(VerbOutcome::Found);
        }
        let damaged = output::counted(damaged, "damaged segment");
        match &self.to {
            Some(to) => tell!("cento: {}: without the documents of {damaged}", to.display()),
            None => tell!("cento: {}: {damaged}", self.index.display()),
        }
        let undeleted: u64 = segments.iter().map(|segment| u64::from(segment.undeleted)).sum();
        if undeleted > 0 {
            let documents = output::counted(undeleted, "removed or replaced document");
            tell!(
                "cento: {}: lists of deleted documents are lost; --to with --segment takes their \
                 segments all the same, with {documents} live again",
                self.index.display()
            );
        }
        Ok(VerbOutcome::Bad)
    }

    /// Reports how many removed or replaced documents are live again.
    fn tell_undeleted(&self, undeleted: u64) -> VerbOutcome {
        if undeleted == 0 {
            return VerbOutcome::Found;
        }
        let (are, were) = if undeleted == 1 { ("is", "was") } else { ("are", "were") };
        let documents = output::counted(undeleted, "document");
        let to = self.to.as_ref().expect("--segment requires --to").display();
        tell!("cento: {to}: {documents} that {were} removed or replaced {are} live again");
        VerbOutcome::Bad
    }

    fn print(&self, segments: &[FoundSegment], documents: Option<u64>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        line!(
            out,
            "{:<32} {:>12} {:>10} {:>12}  state",
            "segment",
            "documents",
            "deleted",
            "size"
        )?;
        for segment in segments {
            let FoundSegment { segment: name, documents, deleted, bytes: size, .. } = segment;
            let state = match (&segment.problem, segment.listed) {
                (Some(problem), _) => format!("damaged: {problem}"),
                (None, true) => "whole, listed".into(),
                (None, false) => "whole, not listed".into(),
            };
            let [documents, deleted] = [documents, deleted].map(|number| count(u64::from(*number)));
            let size = bytes(*size);
            line!(out, "{name:<32} {documents:>12} {deleted:>10} {size:>12}  {state}")?;
        }
        if let (Some(documents), Some(to)) = (documents, &self.to) {
            line!(out, "{}: {}", to.display(), output::counted(documents, "document"))?;
        }
        Ok(())
    }
}
