//! `cento withdraw` removes a document with its copies, and refuses the text from then on.

mod record;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{ArgAction, ArgGroup, Args};
use serde::Serialize;

use super::key;
use super::outfile::is_stream;
use super::output::{self, Format, count, counted, percent};
use super::progress::stop_flag;
use super::target::{Target, TargetArgs};
use super::terminal::{Id, line, note, tell};
use super::wait::WaitArgs;
use super::{Result, VerbOutcome};
use cento::index::{Index, Writer, WriterOptions};
use cento::runtime::replace;
use cento::{Error, Stop};
use cento_client::Client;
use cento_client::api::{ForgetResponse, ListedWithdrawal, WithdrawRequest, WithdrawResponse};
use cento_collections::watch::Watches;
use cento_collections::withdraw::{
    self, Plan, QuotingDocument, RecordCheck, RemovalReason, RemovedDocument, WithdrawOptions,
    Withdrawal,
};

/// Remove a document with its copies for good, and list the documents that quote it.
///
/// cento lists your document, its copies and the documents that quote it. Then it removes the
/// document and the copies, whether they were added earlier or later. Documents that quote it stay
/// as they are, and the exit status is 3 if any of them was not added before it. From then on your
/// index rejects the document and its copies, which it recognizes by a signature without keeping
/// their text. Afterwards no file of the index has bytes of the removed texts, and the events of
/// watches lose their meta objects.
///
/// Other places still have the text: commits that you pushed to a store, copies of the index
/// elsewhere, and watches for the text. cento does not search the meta objects of other documents.
/// The index must store texts.
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
    /// Only list what would be removed and what quotes it.
    #[arg(long, conflicts_with = "task")]
    dry_run: bool,
    #[command(flatten)]
    options: WithdrawOptions,
    /// Write a record to this file: the documents that were removed, the documents that quote the
    /// text, and the time. The record has no text.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "dry_run"])]
    record: Option<PathBuf>,
    /// List the documents that were withdrawn.
    #[arg(long)]
    list: bool,
    /// Lift the withdrawal of the document with this id, so that it can be added again.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    forget: Option<String>,
    /// Look for everything that this record of a withdrawal describes: texts by their digests,
    /// copies by the signature, and passages by two fingerprints near each other.
    #[arg(long, value_name = "RECORD", conflicts_with = "url")]
    check: Option<PathBuf>,
    #[command(flatten)]
    wait: WaitArgs,
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
    /// Converts an argument that clap parsed as an index directory.
    fn from(id: PathBuf) -> DocumentId {
        DocumentId(id.to_string_lossy().into_owned())
    }
}

#[derive(Serialize)]
struct CheckResult {
    id: String,
    withdrawn: String,
    problems: Vec<String>,
    quoting: Vec<String>,
    single: Vec<String>,
}

/// Maximum number of documents with a single fingerprint to list by name.
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
        if let Some(path) = &self.record {
            // Before anything is withdrawn.
            self.check_replaced(path, id.as_deref())?;
            replace::beside(path).map_err(|e| Error::io("write the record", path, e))?;
        }
        let Some(id) = id else {
            return match (target, &self.forget, &self.check) {
                (Target::Index(path), None, Some(record)) => self.check(&path, record),
                (Target::Index(path), Some(id), _) => {
                    let mut writer = self.wait.open(&path)?.writer(WriterOptions::default())?;
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
        if let (Some(path), true) = (&self.record, response.done)
            && let Err(error) = record::write(path, &response.withdrawal)
        {
            self.print(&response)?;
            tell!(
                "cento: `{}` is withdrawn, and the record of it is not written; run the command \
                 again to write it",
                response.withdrawal.id
            );
            return Err(error.into());
        }
        self.print(&response)
    }

    fn withdraw(&self, path: &Path, id: &str) -> cento::Result<WithdrawResponse> {
        let stop = stop_flag();
        let index = self.wait.open_until(path, stop.clone())?;
        if self.dry_run {
            let snapshot = index.snapshot()?;
            let (withdrawal, again) = match Plan::new(&snapshot, id, &self.options, &stop) {
                Err(Error::UnknownId { .. }) => {
                    (withdraw::earlier_record(&snapshot, id, &stop)?, true)
                }
                plan => (plan?.withdrawal().clone(), false),
            };
            return Ok(WithdrawResponse { done: false, again, withdrawal });
        }
        let mut writer = index.writer(WriterOptions::default().merge(false))?;
        let (withdrawal, again) = match Plan::new(writer.committed()?, id, &self.options, &stop) {
            Err(Error::UnknownId { .. }) => (withdraw::complete(&mut writer, id, &stop)?, true),
            plan => (self.apply(plan?, &mut writer, &stop)?, false),
        };
        forget_events(&index)?;
        Ok(WithdrawResponse { done: true, again, withdrawal })
    }

    /// Performs a withdrawal. After a failure between commit and end, a message says how to finish.
    fn apply(&self, plan: Plan, writer: &mut Writer, stop: &Stop) -> cento::Result<Withdrawal> {
        let Withdrawal { id, digest, .. } = plan.withdrawal().clone();
        if let Some(path) = self.record.as_ref().filter(|path| path.exists())
            && let Withdrawal { digest: other, withdrawn, .. } = record::read(path)?
            && other != digest
        {
            let what = format!(
                "it has the record of another text that was withdrawn as `{id}` on {withdrawn}"
            );
            return Err(not_over(path, &what));
        }
        plan.apply(writer, stop).inspect_err(|_| {
            if writer.withdrawals().iter().any(|one| (&one.id, &one.digest) == (&id, &digest)) {
                tell!(
                    "cento: `{id}` was withdrawn from the index; run the command again, so that \
                     no bytes of it are left"
                );
            }
        })
    }

    /// Refuses to replace a file other than a record of the withdrawal of `id`.
    fn check_replaced(&self, path: &Path, id: Option<&str>) -> cento::Result<()> {
        if !path.exists() {
            return Ok(());
        }
        if is_stream(path) {
            return Err(not_over(path, "it is a pipe or a device, which keeps no record"));
        }
        let earlier = record::read(path).map_err(|error| match error {
            Error::Input { what, .. } => not_over(path, &what),
            error => error,
        })?;
        if id.is_some_and(|id| earlier.id != id) {
            return Err(not_over(path, &format!("it has the record of `{}`", earlier.id)));
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
        let outcome = match (found.problems.is_empty(), found.quoting.is_empty()) {
            (false, _) => VerbOutcome::Nothing,
            (true, false) => VerbOutcome::Incomplete,
            (true, true) => VerbOutcome::Found,
        };
        let RecordCheck { problems, quoting, single, fingerprints, needed, near_tokens, .. } =
            found;
        if self.format == Format::Json {
            output::print_json(&CheckResult { id, withdrawn, problems, quoting, single })?;
            return Ok(outcome);
        }
        for sentence in problems.iter().chain(&quoting) {
            tell!("cento: {sentence}");
        }
        if outcome == VerbOutcome::Found {
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
        Ok(if forgotten > 0 { VerbOutcome::Found } else { VerbOutcome::Nothing })
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
            let ListedWithdrawal { id, withdrawn, tokens, removed, quoting, .. } = listed;
            let (tokens, removed, quoting) = (count(tokens.into()), count(removed), count(quoting));
            line!(
                out,
                "{withdrawn:>20} {tokens:>10} tokens {removed:>6} removed {quoting:>6} quoting  {}",
                Id(&id)
            )?;
        }
        out.flush()?;
        Ok(if is_any { VerbOutcome::Found } else { VerbOutcome::Nothing })
    }

    fn print(&self, response: &WithdrawResponse) -> Result {
        let WithdrawResponse { done, again, withdrawal } = response;
        let Withdrawal { id, withdrawn, removed, quoting, .. } = withdrawal;
        let outcome = match withdrawal.is_complete() {
            true => VerbOutcome::Found,
            false => VerbOutcome::Incomplete,
        };
        if self.format == Format::Json {
            output::print_json(response)?;
            return Ok(outcome);
        }
        if *again {
            let files = if *done { ", and no file of the index has bytes of it" } else { "" };
            note!(
                "`{id}` was withdrawn on {withdrawn} already{files}; its text is not kept, so that \
                 no passages were looked for, but its digests and fingerprints"
            );
            return Ok(outcome);
        }
        let mut out = BufWriter::new(io::stdout().lock());
        print_removed(&mut out, removed, *done)?;
        print_quoting(&mut out, quoting)?;
        out.flush()?;
        let removed = counted(removed.len() as u64, "document");
        let quoting = match quoting.len() {
            0 => "no document quotes it".to_owned(),
            1 => "1 document quotes it and stays".to_owned(),
            many => format!("{} documents quote it and stay", count(many as u64)),
        };
        if *done {
            note!("removed {removed}; {quoting}");
            note!(
                "earlier commits in stores, copies of the index, and watches for its text still \
                 have the document, and meta objects of other documents may; `cento store push` \
                 tells how many commits in a store have it, and removes them with --keep"
            );
        } else {
            note!("would remove {removed}; {quoting}");
        }
        Ok(outcome)
    }
}

/// Refuses to replace the file of a record.
fn not_over(path: &Path, what: &str) -> Error {
    let what = format!("{what}; name a new file for the record, nothing was withdrawn");
    Error::input(path.display().to_string(), what)
}

/// Takes the data of withdrawn documents out of the events of watches.
fn forget_events(index: &Index) -> cento::Result<()> {
    if let Some(mut watches) = Watches::open_if_any(index)? {
        watches.forget_withdrawn()?;
    }
    Ok(())
}

fn print_removed(
    out: &mut impl Write,
    removed: &[RemovedDocument],
    is_done: bool,
) -> io::Result<()> {
    let removes = if is_done { "removed" } else { "remove" };
    for document in removed {
        let why = match document.reason {
            RemovalReason::Withdrawn => "the withdrawn document".to_owned(),
            RemovalReason::Exact => "the same text".to_owned(),
            RemovalReason::Near => {
                format!("a copy, resemblance {}", percent(document.resemblance))
            }
        };
        let earlier = if document.added_earlier { ", added earlier" } else { "" };
        line!(out, "{removes:<8} {}: {why}{earlier}", Id(&document.id))?;
    }
    Ok(())
}

/// Writes the documents that quote the withdrawn document.
fn print_quoting(out: &mut impl Write, quoting: &[QuotingDocument]) -> io::Result<()> {
    for document in quoting {
        let (quoted, all) = (count(document.quoted_tokens.into()), count(document.tokens.into()));
        let passages = counted(document.passages.len() as u64, "passage");
        let earlier = if document.added_earlier { ", added earlier" } else { "" };
        let more = match document.cut_short {
            true => "; the search for edited passages was cut short, so it may have more",
            false => "",
        };
        let id = Id(&document.id);
        line!(out, "quotes   {id}: {passages}, {quoted} of {all} tokens{earlier}{more}")?;
    }
    Ok(())
}
