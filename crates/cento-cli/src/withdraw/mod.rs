//! `cento withdraw`

mod files;
mod record;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{ArgAction, ArgGroup, Args};
use serde::Serialize;

use super::key;
use super::outfile::is_stream;
use super::output::{self, Format, count, counted};
use super::progress::stop_flag;
use super::target::{Target, TargetArgs};
use super::terminal::{Id, line, note, tell};
use super::{Outcome, Result};
use cento::Error;
use cento::index::{Index, Withdrawals, Writer, WriterOptions};
use cento::runtime::replace;
use cento_client::Client;
use cento_client::api::{ForgetResponse, ListedWithdrawal, WithdrawRequest, WithdrawResponse};
use cento_collections::watch::Watches;
use cento_collections::withdraw::{
    self, CutDocument, LeftPassages, LeftText, Plan, RecordCheck, RemovalReason, RemovedDocument,
    WithdrawOptions, Withdrawal, WithdrawnFile,
};
use files::Files;

/// Withdraw a document: with its copies, and the passages quoted from it.
///
/// Lists the texts that are removed, cut and left, then removes and cuts them. Copies are removed,
/// whether they were added earlier or later, and passages are cut out of other documents; a
/// document that would lose most of its text is removed. From then on the index refuses the
/// document and its copies, by its signature: it keeps no text of it. No file of the index has
/// bytes of its text afterwards, and the events of watches lose its meta object. Commits that were
/// pushed to a store, copies of the index elsewhere, and watches for its text still have it. Meta
/// objects of other documents are not searched. The index must store texts.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("task").args(["list", "forget", "check"]))]
pub struct Withdraw {
    #[command(flatten)]
    target: TargetArgs,
    /// Id of the document.
    #[arg(
        value_name = "ID",
        num_args = 1,
        action = ArgAction::Set,
        required_unless_present_any = ["task", "url"],
        conflicts_with = "task",
    )]
    id: Vec<DocumentId>,
    /// Only list what would be removed, cut and left.
    #[arg(long, conflicts_with = "task")]
    dry_run: bool,
    #[command(flatten)]
    options: WithdrawOptions,
    /// Also remove and cut in these files: JSON lines, perhaps compressed with gzip or Zstandard,
    /// and Parquet. All are read before the first is replaced; all other fields and records stay
    /// as they are.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["task", "url"])]
    files: Vec<PathBuf>,
    /// JSON field or column of these files that holds the id.
    #[arg(long, value_name = "FIELD", default_value = "id")]
    id_field: String,
    /// JSON field or column of these files that holds the text.
    #[arg(long, value_name = "FIELD", default_value = "text")]
    text_field: String,
    /// Write a record to this file: the documents that were removed and cut, and the time; it has
    /// no text.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "dry_run"])]
    record: Option<PathBuf>,
    /// List the documents that were withdrawn.
    #[arg(long)]
    list: bool,
    /// Lift the withdrawal of the document with this id: it may be added again.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    forget: Option<String>,
    /// Look for all that this record of a withdrawal names: its texts by their digests, copies by
    /// the signature, and passages by two fingerprints near each other.
    #[arg(long, value_name = "RECORD", conflicts_with = "url")]
    check: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// The id of a document on the command line.
#[derive(Debug, Clone)]
struct DocumentId(String);

impl From<&str> for DocumentId {
    fn from(id: &str) -> DocumentId {
        DocumentId(id.to_owned())
    }
}

impl From<PathBuf> for DocumentId {
    /// Converts an argument that was parsed as the directory of an index.
    fn from(id: PathBuf) -> DocumentId {
        DocumentId(id.to_string_lossy().into_owned())
    }
}

/// The result of a check.
#[derive(Serialize)]
struct Checked {
    id: String,
    withdrawn: String,
    problems: Vec<String>,
    left: Vec<String>,
    single: Vec<String>,
}

/// The number of documents that are named of those that have a single fingerprint.
const NAMED_MAX: usize = 5;

impl Withdraw {
    pub(super) fn run(mut self) -> Result {
        let mut ids = std::mem::take(&mut self.id);
        let target = self.target.target(&mut ids)?;
        let is_task = self.list || self.forget.is_some() || self.check.is_some();
        let id = match (&ids[..], is_task) {
            ([DocumentId(id)], false) => Some(id.clone()),
            ([], true) => None,
            _ => return Err(Error::argument("id", "name one document to withdraw").into()),
        };
        self.options.check()?;
        let earlier = self.earlier_record(id.as_deref())?;
        if let Some(path) = &self.record {
            // Before anything is withdrawn.
            replace::beside(path).map_err(|e| Error::io("write the record", path, e))?;
        }
        let Some(id) = id else {
            return match (target, &self.forget, &self.check) {
                (Target::Index(path), None, Some(record)) => self.check(&path, record),
                (Target::Index(path), Some(id), _) => {
                    let mut writer = key::open(&path)?.writer(WriterOptions::default())?;
                    let forgotten = withdraw::forget(&mut writer, id)?;
                    writer.finish()?;
                    self.forgotten(forgotten)
                }
                (Target::Service(client), Some(id), _) => {
                    let forgotten = client.forget_withdrawal(id)?.forgotten;
                    self.forgotten(forgotten)
                }
                (Target::Index(path), None, None) => {
                    let all = key::open(&path)?.withdrawals()?;
                    self.print_list(all.iter().map(ListedWithdrawal::of))
                }
                (Target::Service(client), None, _) => {
                    self.print_list(client.withdrawals()?.withdrawals.into_iter())
                }
            };
        };
        let response = match target {
            Target::Index(path) => self.withdraw(&path, &id, earlier)?,
            Target::Service(client) => self.send(&client, id)?,
        };
        if let (Some(path), true) = (&self.record, response.done)
            && let Err(error) = record::write(path, &response.withdrawal)
        {
            self.print(&response)?;
            tell!(
                "cento: `{}` is withdrawn, and the record of it is not written; run the command \
                 again, without files, to write it",
                response.withdrawal.id
            );
            return Err(error.into());
        }
        self.print(&response)
    }

    /// Withdraws a document from an index, and from the files that are named: from these first, so
    /// that a run that was cut off can be repeated while the index has the text.
    fn withdraw(
        &self,
        path: &Path,
        id: &str,
        earlier: Option<Withdrawal>,
    ) -> cento::Result<WithdrawResponse> {
        let stop = stop_flag();
        let index = key::open(path)?;
        let files = Files::open(&self.files, &self.id_field, &self.text_field)?;
        if self.dry_run {
            let snapshot = index.snapshot()?;
            let plan = match Plan::new(&snapshot, id, &self.options, &stop) {
                Err(Error::UnknownId { .. }) => {
                    self.check_no_files(&index.withdrawals()?, id)?;
                    let withdrawal = withdraw::earlier_record(&snapshot, id, &stop)?;
                    return Ok(WithdrawResponse { done: false, again: true, withdrawal });
                }
                plan => plan?,
            };
            let found = files.read(&plan, false, &stop)?.findings();
            let withdrawal = plan.with_files(found).withdrawal().clone();
            return Ok(WithdrawResponse { done: false, again: false, withdrawal });
        }
        let mut writer = index.writer(WriterOptions::default().merge(false))?;
        let plan = match Plan::new(writer.committed()?, id, &self.options, &stop) {
            Err(Error::UnknownId { .. }) => {
                self.check_no_files(writer.withdrawals(), id)?;
                let withdrawal = withdraw::complete(&mut writer, id, &stop)?;
                forget_events(&index)?;
                return Ok(WithdrawResponse { done: true, again: true, withdrawal });
            }
            plan => plan?,
        };
        let planned = plan.withdrawal().clone();
        let earlier = self.earlier_files(earlier, &planned)?;
        let read = files.read(&plan, true, &stop)?;
        let mut done = Vec::new();
        let withdrawn = read.replace(&mut done).and_then(|()| {
            let all = all_files(earlier.clone(), done.clone());
            let withdrawal = plan.with_files(all).apply(&mut writer, &stop)?;
            forget_events(&index).map(|()| withdrawal)
        });
        match withdrawn {
            Ok(withdrawal) => Ok(WithdrawResponse { done: true, again: false, withdrawal }),
            Err(error) => {
                self.record_cut_off(&writer, &planned, all_files(earlier, done))?;
                Err(error)
            }
        }
    }

    /// Refuses to overwrite the file of the record.
    fn not_over(&self, what: &str) -> Error {
        let path = self.record.iter().map(|path| path.display().to_string()).collect::<String>();
        let what = format!("{what}; name a new file for the record, nothing was withdrawn");
        Error::input(path, what)
    }

    /// Reads the record that is replaced, if there is one.
    ///
    /// # Errors
    /// When the file is no record, or that of another document: it is not overwritten.
    fn earlier_record(&self, id: Option<&str>) -> cento::Result<Option<Withdrawal>> {
        let Some(path) = self.record.as_ref().filter(|path| path.exists()) else { return Ok(None) };
        if is_stream(path) {
            return Err(self.not_over("it is a pipe or a device, which keeps no record"));
        }
        let earlier = record::read(path).map_err(|error| match error {
            Error::Input { what, .. } => self.not_over(&what),
            error => error,
        })?;
        if id.is_some_and(|id| earlier.id != id) {
            return Err(self.not_over(&format!("it has the record of `{}`", earlier.id)));
        }
        Ok(Some(earlier))
    }

    /// Returns the files that an earlier run, which was cut off, had rewritten by its record.
    ///
    /// # Errors
    /// When the record is that of another text.
    fn earlier_files(
        &self,
        earlier: Option<Withdrawal>,
        planned: &Withdrawal,
    ) -> cento::Result<Vec<WithdrawnFile>> {
        let Some(earlier) = earlier else { return Ok(Vec::new()) };
        if earlier.digest != planned.digest {
            let Withdrawal { id, withdrawn, .. } = &earlier;
            return Err(self.not_over(&format!(
                "it has the record of another text that was withdrawn as `{id}` on {withdrawn}"
            )));
        }
        // Only the record of such a run says that nothing was removed.
        Ok(if earlier.removed.is_empty() { earlier.files } else { Vec::new() })
    }

    /// Names the files that a run has rewritten, which was cut off after that, and writes a record
    /// of them.
    fn record_cut_off(
        &self,
        writer: &Writer,
        planned: &Withdrawal,
        done: Vec<WithdrawnFile>,
    ) -> cento::Result<()> {
        let (id, digest) = (&planned.id, &planned.digest);
        let is_same = |one: &&Withdrawal| (&one.id, &one.digest) == (id, digest);
        let committed = writer.withdrawals().iter().find(is_same).cloned();
        let changed = done.iter().filter(|file| !file.removed.is_empty() || !file.cut.is_empty());
        let changed: Vec<&str> = changed.map(|file| &*file.file).collect();
        if changed.is_empty() && committed.is_none() {
            return Ok(());
        }
        let record = match committed {
            Some(record) => {
                tell!(
                    "cento: `{id}` was withdrawn from the index; run the command again without \
                       files, so that no bytes of it are left"
                );
                record
            }
            None => {
                let files = changed.join(", ");
                tell!(
                    "cento: these files were rewritten: {files}; the index still has `{id}`: \
                       run the command again when the cause of the error is removed"
                );
                Withdrawal { removed: Vec::new(), cut: Vec::new(), files: done, ..planned.clone() }
            }
        };
        self.record.as_ref().map_or(Ok(()), |path| record::write(path, &record))
    }

    /// Refuses files together with a document that was withdrawn before.
    fn check_no_files(&self, withdrawals: &Withdrawals, id: &str) -> cento::Result<()> {
        if let (Some(Withdrawal { withdrawn, .. }), false) =
            (withdrawals.find(id), self.files.is_empty())
        {
            let what = format!(
                "the document `{id}` was withdrawn on {withdrawn} already, and its text, by which \
                 passages are found in files, is not kept; name files together with the first \
                 withdrawal"
            );
            return Err(Error::argument("files", what));
        }
        Ok(())
    }

    fn send(&self, client: &Client, id: String) -> cento::Result<WithdrawResponse> {
        let (options, dry_run) = (self.options.clone(), self.dry_run);
        client.withdraw(&WithdrawRequest { id, dry_run, options })
    }

    fn check(&self, path: &Path, record: &Path) -> Result {
        let withdrawal = record::read(record)?;
        let found = withdraw::check(&key::open(path)?, &withdrawal, &stop_flag())?;
        let Withdrawal { id, withdrawn, .. } = withdrawal;
        let outcome = match (found.problems.is_empty(), found.left.is_empty()) {
            (false, _) => Outcome::Nothing,
            (true, false) => Outcome::Incomplete,
            (true, true) => Outcome::Found,
        };
        let RecordCheck { problems, left, single, fingerprints, needed, near_tokens, .. } = found;
        if self.format == Format::Json {
            output::print_json(&Checked { id, withdrawn, problems, left, single })?;
            return Ok(outcome);
        }
        for sentence in problems.iter().chain(&left) {
            tell!("cento: {sentence}");
        }
        if outcome == Outcome::Found {
            let fingerprints = counted(fingerprints.into(), "fingerprint");
            let evidence = match needed {
                1 => format!("one of its {fingerprints}"),
                _ => format!("two of its {fingerprints} within {near_tokens} tokens"),
            };
            note!(
                "`{id}`, which was withdrawn on {withdrawn}: no document has a text of the record, \
                 is a copy, or has {evidence}"
            );
        }
        if !single.is_empty() {
            let documents = counted(single.len() as u64, "document");
            let mut named: Vec<String> =
                single.iter().take(NAMED_MAX).map(|id| Id(id).to_string()).collect();
            named.extend((single.len() > NAMED_MAX).then(|| "...".to_owned()));
            note!(
                "{documents} with fingerprints of it that are no evidence of a passage: {}; \
                 search for the text to see whether they quote it",
                named.join(", ")
            );
        }
        Ok(outcome)
    }

    fn forgotten(&self, forgotten: u64) -> Result {
        match self.format {
            Format::Json => output::print_json(&ForgetResponse { forgotten })?,
            Format::Human => note!("{} lifted", counted(forgotten, "withdrawal")),
        }
        Ok(if forgotten > 0 { Outcome::Found } else { Outcome::Nothing })
    }

    fn print_list(&self, all: impl Iterator<Item = ListedWithdrawal>) -> Result {
        let mut out = BufWriter::new(io::stdout().lock());
        let mut is_any = false;
        for listed in all {
            is_any = true;
            if self.format == Format::Json {
                output::print_json_to(&mut out, &listed)?;
                continue;
            }
            let ListedWithdrawal { id, withdrawn, tokens, removed, cut, .. } = listed;
            let (tokens, removed, cut) = (count(tokens.into()), count(removed), count(cut));
            line!(
                out,
                "{withdrawn:>20} {tokens:>10} tokens {removed:>6} removed {cut:>6} cut  {}",
                Id(&id)
            )?;
        }
        out.flush()?;
        Ok(if is_any { Outcome::Found } else { Outcome::Nothing })
    }

    fn print(&self, response: &WithdrawResponse) -> Result {
        let Withdrawal { id, withdrawn, removed, cut, files, left, .. } = &response.withdrawal;
        let is_complete = left.is_complete() && files.iter().all(|file| file.left.is_complete());
        let outcome = if is_complete { Outcome::Found } else { Outcome::Incomplete };
        if self.format == Format::Json {
            output::print_json(response)?;
            return Ok(outcome);
        }
        if response.again {
            let files = match response.done {
                true => ", and no file of the index has bytes of it",
                false => "",
            };
            note!(
                "`{id}` was withdrawn on {withdrawn} already{files}; its text is not kept, so that \
                 no passages were looked for, but its digests and fingerprints"
            );
            return Ok(outcome);
        }
        let mut out = BufWriter::new(io::stdout().lock());
        print_part(&mut out, id, (removed, cut, left), response.done)?;
        for WithdrawnFile { file, removed, cut, left, .. } in files {
            line!(out, "{file}:")?;
            print_part(&mut out, id, (removed, cut, left), response.done)?;
        }
        out.flush()?;
        let count_of = |count: usize, what| counted(count as u64, what);
        let removed = count_of(removed.len(), "document");
        let cut = count_of(cut.len(), "document");
        match response.done {
            true => note!("removed {removed}, cut passages out of {cut}"),
            false => note!("would remove {removed}, cut passages out of {cut}"),
        }
        if !left.earlier.is_empty() || files.iter().any(|file| !file.left.earlier.is_empty()) {
            match response.done {
                true => note!(
                    "passages of documents that were not added later were left without \
                     `--cut-earlier`"
                ),
                false => note!(
                    "`--cut-earlier` also cuts passages of documents that were not added later"
                ),
            }
        }
        for WithdrawnFile { file, documents, no_documents, removed, cut, .. } in files {
            let all = counted(*documents, "document");
            let (removed, cut) = (count(removed.len() as u64), count(cut.len() as u64));
            note!("{file}: {removed} removed, {cut} cut of {all}");
            if *no_documents > 0 {
                let (records, verb) = match no_documents {
                    1 => ("1 record".to_owned(), "stays as it is"),
                    _ => (counted(*no_documents, "record"), "stay as they are"),
                };
                tell!("cento: {file}: {records} without a text {verb}");
            }
        }
        if response.done {
            note!(
                "earlier commits in stores, copies of the index or of the files, and watches for \
                 its text still have the document, and meta objects of other documents may; `cento \
                 store push` tells how many commits in a store have it, and removes them with \
                 --keep"
            );
        }
        Ok(outcome)
    }
}

/// Adds files to those that an earlier run had rewritten.
fn all_files(earlier: Vec<WithdrawnFile>, files: Vec<WithdrawnFile>) -> Vec<WithdrawnFile> {
    let mut all = earlier;
    for file in files {
        match all.iter_mut().find(|other| other.file == file.file) {
            Some(other) => {
                other.removed.extend(file.removed);
                other.cut.extend(file.cut);
                (other.documents, other.left) = (file.documents, file.left);
            }
            None => all.push(file),
        }
    }
    all
}

/// Takes the data of withdrawn documents out of the events of watches.
fn forget_events(index: &Index) -> cento::Result<()> {
    if let Some(mut watches) = Watches::open_if_any(index)? {
        watches.forget_withdrawn()?;
    }
    Ok(())
}

/// Writes the texts that are removed, cut and left in an index or a file.
fn print_part(
    out: &mut impl Write,
    withdrawn: &str,
    (removed, cut, left): (&[RemovedDocument], &[CutDocument], &LeftText),
    is_done: bool,
) -> io::Result<()> {
    let (removes, cuts, leaves) = match is_done {
        true => ("removed", "cut", "left"),
        false => ("remove", "cut", "leave"),
    };
    for document in removed {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let why = match document.reason {
            RemovalReason::Withdrawn => "the withdrawn document".to_owned(),
            RemovalReason::Exact => "the same text".to_owned(),
            RemovalReason::Near => format!("a copy, resemblance {}", percent(document.resemblance)),
            RemovalReason::LittleLeft => format!("{} of it is quoted", percent(document.quoted)),
        };
        let earlier = if document.added_earlier { ", added earlier" } else { "" };
        line!(out, "{removes:<8} {}: {why}{earlier}", Id(&document.id))?;
    }
    for document in cut {
        let (tokens, all) = (count(document.cut_tokens.into()), count(document.tokens.into()));
        let passages = counted(document.passages.len() as u64, "passage");
        line!(out, "{cuts:<8} {}: {passages}, {tokens} of {all} tokens", Id(&document.id))?;
    }
    for LeftPassages { id, tokens, earlier, same_time } in &left.earlier {
        let source = match earlier {
            Some(earlier) if earlier != id => format!("`{}` had them", Id(earlier)),
            Some(_) => "it had them".to_owned(),
            None => "an earlier document had them".to_owned(),
        };
        let (tokens, withdrawn) = (count((*tokens).into()), Id(withdrawn));
        let why = match same_time {
            true => format!("when `{withdrawn}` was added: nothing shows which had them first"),
            false => format!("before `{withdrawn}` was added"),
        };
        line!(out, "{leaves:<8} {}: {tokens} tokens, because {source} {why}", Id(id))?;
    }
    let reasons: [(&[LeftPassages], &str); 4] = [
        (&left.edited, "in passages that were edited too much to be cut"),
        (&left.kept, "because it is to be kept"),
        (&left.unfinished, "or more: the search for edited passages was cut short"),
        (&left.whole, "which are the whole text, too short to be cut"),
    ];
    for (documents, why) in reasons {
        for LeftPassages { id, tokens, .. } in documents {
            line!(out, "{leaves:<8} {}: {} tokens {why}", Id(id), count((*tokens).into()))?;
        }
    }
    if left.shorter_documents > 0 {
        let (documents, longest) =
            (counted(left.shorter_documents, "document"), left.shorter_tokens);
        line!(
            out,
            "{leaves:<8} runs of 5 to {longest} tokens, too short to be cut, in {documents}"
        )?;
    }
    Ok(())
}
