//! `cento method boilerplate` proposes passages that most documents have.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use crate::boilerplate::{nothing_proposed, unit};
use crate::collection::{CollectionArgs, Kind};
use crate::join::union;
use crate::key;
use crate::list_format::{ListFormat, ListOut};
use crate::outfile::{self, NewFile};
use crate::output::{self, count, print_json_to};
use crate::progress::stop_flag;
use crate::terminal::{Id, line, note};
use crate::{Result, VerbOutcome};
use cento::index::Snapshot;
use cento::search::{BoilerplateShare, RepeatedPassage};
use cento::{Error, Stop};
use cento_collections::series::{repeated_passages, repeated_passages_within};
use cento_collections::{PairOptions, Scope};

/// Show the passages that most of your documents repeat.
///
/// Assignments, licenses, headers and menus are in nearly all documents, so two documents that
/// share them prove nothing. You see each such passage with the number of documents that have it,
/// the most frequent first. The list is a proposal. Write it with --format json or --out, remove
/// the lines of passages that you want to count, and give the file to the option -b of other verbs,
/// which then ignore the passages. `-b auto` of these verbs accepts all passages. To remove the
/// passages from a corpus, add the list to an index and give the index to `cento dedup
/// --only-against --cut-passages 5`.
///
/// cento proposes a passage if three of four documents have it, and at least five documents,
/// because what a few people have in common may be copied. Exact copies count as one document. With
/// --group-by, the documents of a group, such as the attempts of an author, count as one too.
#[derive(Debug, Args)]
pub struct Boilerplate {
    /// Files, folders and archives, or directories of indexes that store texts. cento takes several
    /// indexes as one.
    #[arg(value_name = "INDEX|PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Minimum share of the different documents that have a passage.
    #[arg(long, value_name = "F", default_value_t = BoilerplateShare::default())]
    min_share: BoilerplateShare,
    /// Count the documents of a group once. A group has the same value of this field of `meta`, or
    /// the same fields in the ends of its ids by a pattern such as `{author}/{*}`. A document
    /// without the field is a group of its own.
    #[arg(long, value_name = "FIELD|PATTERN")]
    group_by: Option<String>,
    /// Look for the passages of each group separately, such as the menus of a site, which few
    /// documents of a crawl have. A group has the same value of this field of `meta`, or the same
    /// fields in the ends of its ids by a pattern.
    #[arg(long, value_name = "FIELD|PATTERN", conflicts_with = "group_by")]
    within: Option<String>,
    /// Show at most this many passages.
    #[arg(long, short = 'n', value_name = "N", default_value = "10")]
    limit: usize,
    /// Also write all passages to this new file, as JSON lines that -b reads.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Output format. The columns of csv and tsv are the JSON fields.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
    #[command(flatten)]
    collection: CollectionArgs,
}

/// The columns of a table of passages.
const COLUMNS: &[&str] = &["documents", "of_documents", "tokens", "example", "bytes", "text"];

impl Boilerplate {
    pub(super) fn run(self) -> Result {
        let stop = &stop_flag();
        if let Some(out) = &self.out {
            outfile::check_lines(out, "passages")?;
            outfile::check_apart(&self.paths, [&**out])?;
        }
        let out = self.out.as_deref().map(NewFile::create).transpose()?;
        let scope = self.scope()?;
        let (snapshot, is_any_refused) = self.snapshot(stop)?;
        let (share, threads) = (self.min_share, cento::available_threads());
        let found = match &self.within {
            Some(field) => repeated_passages_within(&snapshot, field, share, threads, stop)?,
            None => repeated_passages(&snapshot, &scope, share, threads, stop)?,
        };
        if let Some(out) = out {
            write(out, &found.passages)?;
        }
        let shown = &found.passages[..self.limit.min(found.passages.len())];
        let mut out = ListOut::new(io::BufWriter::new(io::stdout().lock()), self.format, COLUMNS)?;
        for (at, passage) in shown.iter().enumerate() {
            out.write(passage, |out| print(out, passage, unit(&found), at > 0))?;
        }
        out.flush()?;
        if let Some(said) = nothing_proposed(&found) {
            // Of fewer documents no share is enough.
            let advice = match found.of_documents < found.documents_min {
                true => "",
                false => "; --min-share lowers the share",
            };
            note!("{said}{advice}");
        }
        if shown.len() < found.passages.len() {
            let all = Some(found.passages.len() as u64);
            note!("{}", output::cut(shown.len() as u64, all, "passage", "--limit"));
        }
        Ok(VerbOutcome::of_inputs(is_any_refused, !found.passages.is_empty()))
    }

    /// Returns the scope of pairs of different groups.
    fn scope(&self) -> cento::Result<Scope> {
        let (within, group_by) = (self.within.clone(), self.group_by.clone());
        let options = PairOptions { within, group_by, ..PairOptions::default() };
        options.check()?;
        options.scope()
    }

    /// Returns the documents, and whether any document was refused.
    fn snapshot(&self, stop: &Stop) -> cento::Result<(Snapshot, bool)> {
        let kind = Kind::of(&self.paths)?;
        if kind == Kind::Indexes {
            if self.collection.grouping.is_grouped() {
                let what = "--by is for files; an index has its documents already";
                return Err(Error::argument("by", what));
            }
            return Ok((union(&self.paths, self.paths.iter().map(key::open))?, false));
        }
        let temporary = self.collection.create(&self.paths, None)?;
        let added = temporary.read(true, stop)?;
        // The snapshot holds open files, so the temporary directory may be removed.
        Ok((temporary.index.snapshot()?, !added.not_compared.is_empty()))
    }
}

fn write(mut out: NewFile, passages: &[RepeatedPassage]) -> cento::Result<()> {
    let written = passages.iter().try_for_each(|passage| print_json_to(&mut out, passage));
    written.map_err(|error| out.failed(error))?;
    out.finish()
}

fn print(
    out: &mut impl Write,
    passage: &RepeatedPassage,
    unit: &str,
    is_next: bool,
) -> io::Result<()> {
    let RepeatedPassage { documents, of_documents, tokens, example, text, .. } = passage;
    if is_next {
        line!(out)?;
    }
    let (documents, of) = (count(*documents), count(*of_documents));
    let units = format!("{}s", unit.trim_start_matches("different "));
    line!(out, "in {documents} of {of} {units}, {tokens} tokens, such as {}:", Id(example))?;
    text.lines().try_for_each(|line| line!(out, "    {line}"))
}
