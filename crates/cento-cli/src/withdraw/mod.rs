//! `cento withdraw`

mod files;
mod record;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use serde::Serialize;

use super::key;
use super::output::{self, Format, count, counted};
use super::progress::stop_flag;
use super::target::{Target, TargetArgs};
use super::terminal::{Id, line, note, tell};
use super::{Outcome, Result};
use cento::Error;
use cento::index::{Writer, WriterOptions};
use cento::join::withdraw::{
    self, CutDocument, LeftPassages, LeftText, Plan, RemovalReason, RemovedDocument,
    WithdrawOptions, Withdrawal, WithdrawnFile,
};
use cento_client::Client;
use cento_client::api::{ForgetResponse, ListedWithdrawal, WithdrawRequest, WithdrawResponse};
use files::Files;

/// Withdraw a document: with its copies, and the passages quoted from it.
///
/// Lists the texts that are removed, cut and left, then removes and cuts them. Copies are removed,
/// and passages are cut out of other documents; a document that would lose most of its text is
/// removed. From then on the
/// index refuses the document and its copies, by its signature: it keeps no text of it. No file of
/// the index has bytes of it afterwards. Commits that were pushed to a store, copies of the index
/// elsewhere, and watches for its text still have it. The index must store texts.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("task").args(["list", "forget", "check"]))]
pub struct Withdraw {
    #[command(flatten)]
    target: TargetArgs,
    /// Id of the document.
    #[arg(
        value_name = "ID",
        required_unless_present_any = ["task", "url"],
        conflicts_with = "task",
    )]
    id: Vec<DocumentId>,
    /// Only list what would be removed, cut and left.
    #[arg(long, conflicts_with = "task")]
    dry_run: bool,
    #[command(flatten)]
    options: WithdrawOptions,
    /// Also remove and cut in these files: JSON lines, perhaps compressed, and Parquet. Each is
    /// replaced at once; all other fields and records stay as they are.
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
    /// Check that nothing that this record names is in the index.
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
}

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
            Target::Index(path) => self.withdraw(&path, &id)?,
            Target::Service(client) => self.send(&client, id)?,
        };
        if let (Some(path), true) = (&self.record, response.done) {
            record::write(path, &response.withdrawal)?;
        }
        self.print(&response)
    }

    /// Withdraws a document from an index, and from the files that are named: from these first, so
    /// that a run that was cut off can be repeated while the index has the text.
    fn withdraw(&self, path: &Path, id: &str) -> cento::Result<WithdrawResponse> {
        let stop = stop_flag();
        let index = key::open(path)?;
        let mut files = Files::open(&self.files, &self.id_field, &self.text_field)?;
        if self.dry_run {
            let plan = Plan::new(&index.snapshot()?, id, &self.options, &stop)?;
            let found = files.examine(&plan, false, &stop)?;
            let withdrawal = plan.with_files(found).withdrawal().clone();
            return Ok(WithdrawResponse { done: false, again: false, withdrawal });
        }
        let mut writer = index.writer(WriterOptions::default().merge(false))?;
        let plan = match Plan::new(writer.committed()?, id, &self.options, &stop) {
            Err(Error::UnknownId { .. }) => return self.again(&mut writer, id),
            plan => plan?,
        };
        let found = files.examine(&plan, true, &stop)?;
        let withdrawal = plan.with_files(found).apply(&mut writer, &stop)?;
        Ok(WithdrawResponse { done: true, again: false, withdrawal })
    }

    /// Completes an earlier withdrawal, which may have been cut off after its commit.
    fn again(&self, writer: &mut Writer, id: &str) -> cento::Result<WithdrawResponse> {
        if let (Some(Withdrawal { withdrawn, .. }), false) =
            (writer.withdrawals().find(id), self.files.is_empty())
        {
            let what = format!(
                "the document `{id}` was withdrawn on {withdrawn} already, and its text, by which \
                 passages are found in files, is not kept; name files together with the first \
                 withdrawal"
            );
            return Err(Error::argument("files", what));
        }
        let withdrawal = withdraw::complete(writer, id)?;
        Ok(WithdrawResponse { done: true, again: true, withdrawal })
    }

    fn send(&self, client: &Client, id: String) -> cento::Result<WithdrawResponse> {
        let (options, dry_run) = (self.options.clone(), self.dry_run);
        client.withdraw(&WithdrawRequest { id, dry_run, options })
    }

    fn check(&self, path: &Path, record: &Path) -> Result {
        let withdrawal = record::read(record)?;
        let problems = withdraw::check(&key::open(path)?, &withdrawal, &stop_flag())?;
        let Withdrawal { id, withdrawn, .. } = withdrawal;
        let checked = Checked { id, withdrawn, problems };
        match self.format {
            Format::Json => output::print_json(&checked)?,
            Format::Human => {
                for problem in &checked.problems {
                    tell!("cento: {problem}");
                }
                if checked.problems.is_empty() {
                    let Checked { id, withdrawn, .. } = &checked;
                    note!("nothing of `{id}`, which was withdrawn on {withdrawn}, is in the index");
                }
            }
        }
        Ok(if checked.problems.is_empty() { Outcome::Found } else { Outcome::Nothing })
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
        let mut out = BufWriter::new(io::stdout().lock());
        print_part(&mut out, (removed, cut, left), response.done)?;
        for WithdrawnFile { file, removed, cut, left, .. } in files {
            line!(out, "{file}:")?;
            print_part(&mut out, (removed, cut, left), response.done)?;
        }
        out.flush()?;
        let count_of = |count: usize, what| counted(count as u64, what);
        let removed = count_of(removed.len(), "document");
        let cut = count_of(cut.len(), "document");
        match (response.done, response.again) {
            (_, true) => note!("`{id}` was withdrawn on {withdrawn}; nothing of it is in a file"),
            (true, _) => note!("removed {removed}, cut passages out of {cut}"),
            (false, _) => note!("would remove {removed}, cut passages out of {cut}"),
        }
        for WithdrawnFile { file, documents, no_documents, removed, cut, .. } in files {
            let all = counted(*documents, "document");
            let (removed, cut) = (count(removed.len() as u64), count(cut.len() as u64));
            note!("{file}: {removed} removed, {cut} cut of {all}");
            if *no_documents > 0 {
                let records = counted(*no_documents, "record");
                tell!("cento: {file}: {records} without a text stay as they are");
            }
        }
        if response.done {
            note!(
                "earlier commits in stores, copies of the index or of the files, and watches for \
                 its text still have the document; `cento push` removes old commits with --keep"
            );
        }
        Ok(outcome)
    }
}

/// Writes the texts that are removed, cut and left in an index or a file.
fn print_part(
    out: &mut impl Write,
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
        line!(out, "{removes:<8} {}: {why}", Id(&document.id))?;
    }
    for document in cut {
        let (tokens, all) = (count(document.cut_tokens.into()), count(document.tokens.into()));
        let passages = counted(document.passages.len() as u64, "passage");
        line!(out, "{cuts:<8} {}: {passages}, {tokens} of {all} tokens", Id(&document.id))?;
    }
    let reasons: [(&[LeftPassages], &str); 4] = [
        (&left.earlier, "in passages that a document added earlier has"),
        (&left.edited, "in passages that were edited too much to be cut"),
        (&left.kept, "because it is to be kept"),
        (&left.unfinished, "or more: the search for edited passages was cut short"),
    ];
    for (documents, why) in reasons {
        for LeftPassages { id, tokens } in documents {
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
