//! `cento remove` removes documents by id.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::key;
use super::output::{self, Format};
use super::progress::stop_flag;
use super::similar_id::{similar_ids, where_ids_are};
use super::target::{Target, TargetArgs};
use super::terminal::{note, tell};
use super::wait::WaitArgs;
use super::{Result, VerbOutcome};
use cento::Error;
use cento::hash::Digest;
use cento::index::{ID_BYTES_MAX, WriterOptions};
use cento::search::Searcher;
use cento_client::Client;
use cento_client::api::{Commit, RemoveRequest, RemoveResponse};

/// Remove documents by their ids, or all documents that match a filter.
///
/// You get the space of removed documents back when segments are merged, at the latest when you run
/// `cento compact`.
#[derive(Debug, Args)]
pub struct Remove {
    #[command(flatten)]
    target: TargetArgs,
    /// Ids of the documents.
    #[arg(value_name = "ID", required_unless_present_any = ["from_file", "filter", "url"])]
    ids: Vec<RemovedId>,
    /// Read ids from this file, one per line, or - for standard input.
    #[arg(long, value_name = "FILE")]
    from_file: Option<PathBuf>,
    /// Remove all documents that match this query, such as 'meta.year:[* TO 2023]'. Queries are as
    /// in `cento list --filter`.
    #[arg(long, value_name = "QUERY", conflicts_with = "from_file", allow_hyphen_values = true)]
    filter: Option<String>,
    /// Only count the documents, and remove none.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    wait: WaitArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// An id from the command line.
#[derive(Debug, Clone)]
struct RemovedId(String);

impl From<&str> for RemovedId {
    fn from(id: &str) -> RemovedId {
        RemovedId(id.to_owned())
    }
}

impl From<PathBuf> for RemovedId {
    /// Converts an argument that clap parsed as an index directory.
    fn from(id: PathBuf) -> RemovedId {
        RemovedId(id.to_string_lossy().into_owned())
    }
}

/// Ids that are sent to a service at a time, in bytes: a service accepts bodies of this length.
const SENT_BYTES_MAX: usize = 1 << 20;

/// Passes the ids of a file to `each`, one id per line; `-` is standard input. Holds only a line in
/// memory.
///
/// # Errors
/// When the file cannot be read, a line is not an id, or `each` fails.
fn for_each_id(
    path: &Path,
    each: &mut dyn FnMut(String) -> cento::Result<()>,
) -> cento::Result<()> {
    let unreadable = |e| Error::io("read", path, e);
    let stream: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(io::stdin().lock()),
        _ => Box::new(File::open(path).map_err(unreadable)?),
    };
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        // Room for the line feed, plus a byte to detect an overlong line.
        let most = ID_BYTES_MAX as u64 + 2;
        let read = stream.by_ref().take(most).read_until(b'\n', &mut line).map_err(unreadable)?;
        if read == 0 {
            break;
        }
        let id = line.strip_suffix(b"\n").unwrap_or(&line);
        // Programs on Windows begin files with a byte order mark.
        let id = id.strip_prefix(b"\xef\xbb\xbf").filter(|_| number == 1).unwrap_or(id);
        let id = id.strip_suffix(b"\r").unwrap_or(id);
        let no_id = |what: String| Error::input(format!("{}:{number}", path.display()), what);
        if id.len() > ID_BYTES_MAX {
            let what = format!("no id has more than {ID_BYTES_MAX} bytes; give one id a line");
            return Err(no_id(what));
        }
        if !id.is_empty() {
            let id = str::from_utf8(id).map_err(|e| no_id(format!("it is not UTF-8: {e}")))?;
            each(id.to_owned())?;
        }
    }
    Ok(())
}

#[derive(Debug, Serialize)]
struct RemoveSummary {
    /// With `--dry-run`, the number of documents that would be removed.
    removed: u64,
    missing: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
}

impl Remove {
    pub(super) fn run(mut self) -> Result {
        let target = self.target.target(&mut self.ids)?;
        if self.filter.is_some() && !self.ids.is_empty() {
            return Err(Error::arguments("give either ids or --filter, not both").into());
        }
        let report = match target {
            Target::Index(path) if self.dry_run => self.count(&path)?,
            Target::Index(path) => self.remove(&path)?,
            Target::Service(client) => self.send(&client)?,
        };
        self.print(&report)
    }

    fn report(&self) -> RemoveSummary {
        RemoveSummary { removed: 0, missing: Vec::new(), dry_run: self.dry_run }
    }

    /// Passes every given id to `each`, without repetitions.
    fn each(&self, each: &mut dyn FnMut(String) -> cento::Result<()>) -> cento::Result<()> {
        let mut seen = HashSet::new();
        let each = &mut |id: String| match seen.insert(Digest::of(id.as_bytes())) {
            true => each(id),
            false => Ok(()),
        };
        self.ids.iter().try_for_each(|id| each(id.0.clone()))?;
        self.from_file.as_deref().map_or(Ok(()), |path| for_each_id(path, each))
    }

    /// Removes the documents from an index. Removes nothing if any id cannot be read.
    fn remove(&self, path: &Path) -> cento::Result<RemoveSummary> {
        let stop = stop_flag();
        let index = self.wait.open_until(path, stop.clone())?;
        let mut writer = index.writer(WriterOptions::default())?;
        let mut report = self.report();
        match &self.filter {
            Some(filter) => report.removed = writer.remove_matching(filter, &stop)?,
            None => self.each(&mut |id| {
                stop.check()?;
                match writer.remove(&id)? {
                    true => report.removed += 1,
                    false => report.missing.push(id),
                }
                Ok(())
            })?,
        }
        writer.finish()?;
        Ok(report)
    }

    /// Counts the documents of an index that a run without `--dry-run` would remove.
    fn count(&self, path: &Path) -> cento::Result<RemoveSummary> {
        let searcher = Searcher::new(key::open(path)?.snapshot()?);
        let mut report = self.report();
        match &self.filter {
            Some(filter) => report.removed = searcher.count_matching(filter, &stop_flag())?,
            None => self.each(&mut |id| {
                match searcher.snapshot().find(&id)? {
                    Some(_) => report.removed += 1,
                    None => report.missing.push(id),
                }
                Ok(())
            })?,
        }
        Ok(report)
    }

    /// Has a service remove the documents.
    fn send(&self, client: &Client) -> cento::Result<RemoveSummary> {
        let mut report = self.report();
        let request = RemoveRequest { dry_run: self.dry_run, ..RemoveRequest::default() };
        if self.filter.is_some() {
            let request = RemoveRequest { filter: self.filter.clone(), ..request };
            report.removed = client.remove_as(&request, Commit::Wait)?.removed;
            return Ok(report);
        }
        let (mut ids, mut bytes, mut are_any) = (Vec::new(), 0, false);
        let mut send = |ids: Vec<String>| -> cento::Result<()> {
            let request = RemoveRequest { ids: Some(ids), ..request.clone() };
            let RemoveResponse { removed, missing, .. } =
                client.remove_as(&request, Commit::Wait)?;
            report.removed += removed;
            report.missing.extend(missing);
            Ok(())
        };
        self.each(&mut |id| {
            are_any = true;
            // Upper bound of the JSON: quotation marks, a comma, and an escape for every byte.
            bytes += 6 * id.len() + 3;
            ids.push(id);
            if bytes < SENT_BYTES_MAX {
                return Ok(());
            }
            bytes = 0;
            send(std::mem::take(&mut ids))
        })?;
        if !are_any {
            return Err(Error::argument("ids", "no ids; name the documents to remove"));
        }
        if !ids.is_empty() {
            send(ids)?;
        }
        Ok(report)
    }

    fn print(&self, report: &RemoveSummary) -> Result {
        match self.format {
            Format::Json => output::print_json(report)?,
            Format::Human => {
                for (id, meant) in report.missing.iter().zip(similar_ids(&report.missing)) {
                    let hint = meant.map(|meant| format!("did you mean `{meant}`?"));
                    let hint = hint.or_else(where_ids_are).map(|hint| format!("; {hint}"));
                    tell!("cento: no document has the id `{id}`{}", hint.unwrap_or_default());
                }
                let would = if report.dry_run { "would be " } else { "" };
                note!("{} {would}removed", output::count(report.removed));
            }
        }
        Ok(if report.removed > 0 { VerbOutcome::Found } else { VerbOutcome::Nothing })
    }
}
