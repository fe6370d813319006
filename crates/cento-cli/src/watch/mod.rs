//! `cento watch` manages standing queries and shows their events.

mod left_behind;
mod listed;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::add::SourceArgs;
use crate::key;
use crate::list_format::{ListFormat, ListOut};
use crate::messages::Messages;
use crate::method::fingerprint;
use crate::output::{self, count, counted};
use crate::progress::stop_flag;
use crate::target::{Target, TargetArgs};
use crate::terminal::{Id, line, note, tell};
use crate::wait::WaitArgs;
use crate::{Result, VerbOutcome, verbs};
use cento::{Document, Error, Reason, Stop};
use cento_api::part::exchanged_parts;
use cento_api::{Thresholds, WatchEvents, WatchOptions, WatchedKind, Webhook};
use cento_client::Client;
use cento_client::api::{EventsRequest, ListWatchesRequest, WatchRequest};
use cento_collections::watch::{Watches, caught_up, listed_watches, saved_watches, unknown};
use cento_source::{ReadError, SourceOptions, documents};
pub use left_behind::{counted_watches, how_to_copy, tell_left_behind};

/// Get notified of new documents that share text with yours.
///
/// A watch is your text, a stored document or a signature, with the conditions of a search. cento
/// compares each document that you add later with all watches of the index. Each match is an event,
/// with its passages. A service compares each commit at once. Without a service, `cento watch
/// events` compares the documents that were added since.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct Watch {
    #[command(subcommand)]
    verb: WatchVerb,
}

verbs!(WatchVerb {
    Add(Box<AddWatch>),
    List(ListWatches),
    Remove(RemoveWatch),
    Events(Events),
});

/// Watch for new documents that share text with your files.
///
/// Each file is a watch with its path as name, and so is each record of a list, with its id. A
/// watch without a condition reports passages of at least 12 tokens. If you name a file that `cento
/// watch list --format json` wrote, you get the same watches with their conditions.
#[derive(Debug, Args)]
struct AddWatch {
    #[command(flatten)]
    target: TargetArgs,
    /// Files or folders with the text to watch for, or - for standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Watch for this text.
    #[arg(
        long, value_name = "TEXT", conflicts_with_all = ["id", "signature"],
        allow_hyphen_values = true,
    )]
    text: Option<String>,
    /// Watch for documents like the stored document with this id.
    #[arg(long, conflicts_with = "signature", allow_hyphen_values = true)]
    id: Option<String>,
    /// Watch for a signature. `cento method fingerprint --format json` makes one.
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Name of the watch, if you add only one. Default: the path of the file, or a generated name.
    #[arg(long)]
    name: Option<String>,
    /// Address that the service posts events to.
    #[arg(long, value_name = "URL", requires = "secret_file")]
    webhook: Option<String>,
    /// File with the key that signs the posts, at least 16 bytes. A line end after the key does not
    /// count. To change the key of a watch, remove the watch first. Watches in a list have webhooks
    /// without keys, so give the key for them without --webhook.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    #[command(flatten)]
    thresholds: Thresholds,
    #[command(flatten)]
    options: WatchOptions,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    wait: WaitArgs,
    /// Output format. The columns of csv and tsv are the JSON fields.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

/// List the watches, in the order of their names.
///
/// With --format json, each line also has the text or signature of its watch, so that `cento watch
/// add` can make the same watches in another index. A service lists no texts.
#[derive(Debug, Args)]
struct ListWatches {
    #[command(flatten)]
    target: TargetArgs,
    /// Output format. The columns of csv and tsv are the JSON fields.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

/// Remove watches, and keep their events.
#[derive(Debug, Args)]
struct RemoveWatch {
    #[command(flatten)]
    target: TargetArgs,
    /// Names of the watches.
    #[arg(value_name = "NAME")]
    names: Vec<PathBuf>,
    #[command(flatten)]
    wait: WaitArgs,
}

/// Show the events of watches after a cursor.
///
/// If no service has the index open, cento first compares the watches with the documents that were
/// added since. The exit status is 1 if there are no events.
#[derive(Debug, Args)]
struct Events {
    #[command(flatten)]
    target: TargetArgs,
    /// Show the events after this cursor, the first number of a line.
    #[arg(long, value_name = "CURSOR", default_value = "0")]
    after: u64,
    /// Show the events of this watch only.
    #[arg(long, value_name = "NAME")]
    watch: Option<String>,
    /// Maximum number of events.
    #[arg(long, short = 'n', value_name = "N", default_value = "1000")]
    limit: usize,
    /// Output format. The columns of csv and tsv are the JSON fields.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

const WATCH_COLUMNS: &[&str] =
    &["name", "kind", "id", "tokens", "fingerprints", "commit", "created", "webhook", "problem"];

const EVENT_COLUMNS: &[&str] = &["cursor", "watch", "commit", "time", "hit"];

/// The number of watches in a request.
const PAGE: usize = 1000;

impl Watch {
    pub(super) fn run(self) -> Result {
        self.verb.run()
    }
}

fn write_watches<W: Write>(out: &mut ListOut<W>, watches: &[cento_api::Watch]) -> io::Result<()> {
    for watch in watches {
        out.write(watch, |out| {
            let tokens = count(watch.tokens.into());
            let kind = match watch.kind {
                WatchedKind::Text => "text",
                WatchedKind::Document => "document",
                WatchedKind::Signature => "signature",
            };
            let problem = watch.problem.as_deref().map(|why| format!(": {why}"));
            line!(out, "{tokens:>10} {kind:<9}  {}{}", Id(&watch.name), problem.unwrap_or_default())
        })?;
    }
    Ok(())
}

impl AddWatch {
    fn run(mut self: Box<Self>) -> Result {
        let target = self.target.target(&mut self.files)?;
        let mut is_any_refused = false;
        let requests = self.requests(&mut is_any_refused)?;
        let (messages, is_one) = (Messages::default(), requests.len() == 1);
        let (mut only, mut watches) = (None, Vec::new());
        let mut refused = |error: Error| {
            is_any_refused = true;
            let error = without_hint(error);
            match is_one {
                true => only = Some(error),
                false => messages.tell_error(&error),
            }
        };
        match target {
            Target::Index(path) => {
                watches =
                    Watches::begin(&self.wait.open(&path)?)?.add_each(requests, &mut refused)?;
            }
            Target::Service(client) => {
                for request in &requests {
                    match client.add_watch(request) {
                        Ok(watch) => watches.push(watch),
                        Err(error) if is_of_request(&error) => refused(error),
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
        messages.finish();
        if let Some(error) = only {
            return Err(error.into());
        }
        let mut out =
            ListOut::new(BufWriter::new(io::stdout().lock()), self.format, WATCH_COLUMNS)?;
        write_watches(&mut out, &watches)?;
        out.finish()?.flush()?;
        Ok(match watches.is_empty() {
            true if is_any_refused => VerbOutcome::Bad,
            is_empty => VerbOutcome::of_inputs(is_any_refused, !is_empty),
        })
    }

    /// Returns a request for every watch in the arguments.
    fn requests(&self, is_any_refused: &mut bool) -> cento::Result<Vec<WatchRequest>> {
        let common = WatchRequest {
            name: self.name.clone(),
            webhook: self.webhook()?,
            thresholds: self.thresholds,
            options: self.options.clone(),
            ..WatchRequest::default()
        };
        if let Some(text) = self.text.clone() {
            return Ok(vec![WatchRequest { text: Some(text), ..common }]);
        }
        if let Some(id) = self.id.clone() {
            return Ok(vec![WatchRequest { id: Some(id), ..common }]);
        }
        let options = self.source.options();
        if let Some(path) = &self.signature {
            let signature = Some(fingerprint::read(path, options.record_bytes_max)?);
            return Ok(vec![WatchRequest { signature, ..common }]);
        }
        if self.files.is_empty() {
            let what = "nothing to watch for; name files, or give --text, --id or --signature";
            return Err(Error::arguments(what));
        }
        cento_source::check_there(&self.files)?;
        if let Some(listed) = self.listed()? {
            return Ok(listed);
        }
        if self.secret_file.is_some() && self.webhook.is_none() {
            return Err(Error::argument("secret_file", "--secret-file needs --webhook"));
        }
        let (mut requests, messages) = (Vec::new(), Messages::default());
        let options = SourceOptions { requires_id: false, ..options };
        for document in documents(&self.files, &options) {
            match document {
                Ok((Document { id, text, parts, .. }, _)) => {
                    let name = Some(common.name.clone().unwrap_or(id));
                    let (text, parts) = match parts.is_empty() {
                        true => (Some(text), None),
                        false => (None, Some(exchanged_parts(&parts, &text))),
                    };
                    requests.push(WatchRequest { name, text, parts, ..common.clone() });
                }
                Err(ReadError::Unread(error)) => return Err(error),
                Err(no_document) => {
                    *is_any_refused |= matches!(no_document, ReadError::Refused(_));
                    messages.tell_no_document(&no_document);
                }
            }
        }
        messages.finish();
        options.check_fields()?;
        if self.name.is_some() && requests.len() > 1 {
            let what = format!("--name is for one watch, and these are {}", requests.len());
            return Err(Error::argument("name", what));
        }
        Ok(requests)
    }

    /// Returns the watches of a list from `cento watch list`, if the only file is such a list.
    fn listed(&self) -> cento::Result<Option<Vec<WatchRequest>>> {
        let [path] = &self.files[..] else { return Ok(None) };
        let listed = listed::requests_in(path, self.secret()?.as_deref())?;
        let has_conditions = !self.thresholds.is_none() || self.options != WatchOptions::default();
        if listed.is_some() && (has_conditions || self.name.is_some() || self.webhook.is_some()) {
            let what = "the watches of a list have names, conditions and webhooks of their own; \
                        leave out the options";
            return Err(Error::input(path.display().to_string(), what));
        }
        Ok(listed)
    }

    fn webhook(&self) -> cento::Result<Option<Webhook>> {
        match (self.webhook.clone(), self.secret()?) {
            (Some(url), Some(secret)) => Ok(Some(Webhook { url, secret })),
            _ => Ok(None),
        }
    }

    fn secret(&self) -> cento::Result<Option<String>> {
        let Some(path) = &self.secret_file else { return Ok(None) };
        let secret = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
        Ok(Some(secret.trim_end_matches(['\r', '\n']).to_owned()))
    }
}

/// Returns the error about a watch of the same name without the hint that `cento add` replaces
/// documents: watches are not replaced.
fn without_hint(error: Error) -> Error {
    match error.reason() {
        Reason::IdTaken => Error::arguments(error.to_string()),
        _ => error,
    }
}

/// Returns whether the service refused this watch only, so that the next watch is worth trying.
fn is_of_request(error: &Error) -> bool {
    matches!(
        error.reason(),
        Reason::InvalidInput | Reason::InvalidArgument { .. } | Reason::UnknownId | Reason::IdTaken
    )
}

impl ListWatches {
    fn run(mut self) -> Result {
        let mut out =
            ListOut::new(BufWriter::new(io::stdout().lock()), self.format, WATCH_COLUMNS)?;
        let mut is_any = false;
        match self.target.only_target()? {
            Target::Index(path) => {
                let index = key::open(&path)?;
                // Opening brings the watches up to date with the index. If a service holds the
                // lock, the service does so.
                match Watches::open_if_any(&index) {
                    Err(Error::Locked { .. }) => {}
                    opened => drop(opened?),
                }
                if self.format == ListFormat::Json {
                    for watch in saved_watches(&index)? {
                        is_any = true;
                        out.write(&watch, |_| Ok(()))?;
                    }
                } else {
                    let watches = listed_watches(&index)?;
                    is_any = !watches.is_empty();
                    write_watches(&mut out, &watches)?;
                }
            }
            Target::Service(client) => {
                let mut request =
                    ListWatchesRequest { limit: Some(PAGE), ..ListWatchesRequest::default() };
                loop {
                    let page = client.list_watches(&request)?;
                    is_any |= !page.watches.is_empty();
                    write_watches(&mut out, &page.watches)?;
                    request.cursor = page.cursor;
                    if request.cursor.is_none() {
                        break;
                    }
                }
            }
        }
        out.finish()?.flush()?;
        Ok(if is_any { VerbOutcome::Found } else { VerbOutcome::Nothing })
    }
}

impl RemoveWatch {
    fn run(mut self) -> Result {
        let target = self.target.target(&mut self.names)?;
        if self.names.is_empty() {
            return Err(Error::argument("name", "no names; name the watches to remove").into());
        }
        let mut removed = 0;
        /// Removes a watch by name, and returns whether the watch existed.
        type RemoveOne = Box<dyn FnMut(&str) -> cento::Result<bool>>;
        let mut remove: RemoveOne = match target {
            Target::Index(path) => {
                let stop = stop_flag();
                let index = self.wait.open_until(&path, stop.clone())?;
                let mut watches = Watches::open_if_any(&index)?;
                Box::new(move |name| match watches.as_mut() {
                    Some(own) => own.remove(name, &stop).map(|(is_removed, _)| is_removed),
                    None => Ok(false),
                })
            }
            Target::Service(client) => Box::new(move |name| match client.remove_watch(name) {
                Err(error) if error.reason() == Reason::UnknownId => Ok(false),
                removed => removed.map(|_| true),
            }),
        };
        for name in &self.names {
            let name = name.to_string_lossy();
            match remove(&name)? {
                true => removed += 1,
                false => tell!("cento: {}", unknown(&name)),
            }
        }
        note!("{} removed", count(removed));
        Ok(if removed > 0 { VerbOutcome::Found } else { VerbOutcome::Nothing })
    }
}

impl Events {
    fn run(mut self) -> Result {
        let found = match self.target.only_target()? {
            Target::Index(path) => self.matched(&path, &stop_flag())?,
            Target::Service(client) => self.asked(&client)?,
        };
        match found.missed {
            // The log was replaced: the cursor belongs to an earlier log.
            true if found.next < self.after => tell!(
                "cento: the last event has the cursor {}, so the cursor {} is of another log; \
                 was a copy of the index put back? Events that it did not have are lost; go on \
                 with --after {}",
                found.next,
                self.after,
                found.next
            ),
            true => tell!("cento: events after the cursor {} are no longer kept", self.after),
            false => {}
        }
        let mut out =
            ListOut::new(BufWriter::new(io::stdout().lock()), self.format, EVENT_COLUMNS)?;
        for event in &found.events {
            let hit = &event.hit;
            out.write(event, |out| {
                // Without stored texts, or after a withdrawal, the passages are unknown, which
                // differs from no passages.
                let found = hit.passages.as_deref().map_or(String::new(), |passages| {
                    let matched: u64 =
                        passages.iter().map(|passage| u64::from(passage.matched)).sum();
                    let passages = counted(passages.len() as u64, "passage");
                    format!(", {} in {passages}", counted(matched, "word"))
                });
                line!(
                    out,
                    "{}  {}  {}  {} of watch{found}",
                    event.cursor,
                    Id(&event.watch),
                    Id(&hit.id),
                    output::share(hit.similarity.containment_of_a, hit.similarity.exact),
                )
            })?;
        }
        out.finish()?.flush()?;
        match (found.more, found.events.is_empty()) {
            (true, _) => note!("there are more: --after {}", found.next),
            (false, false) => note!("for later events: --after {}", found.next),
            (false, true) => {}
        }
        Ok(if found.events.is_empty() { VerbOutcome::Nothing } else { VerbOutcome::Found })
    }

    /// Matches documents added since the last call, then reads the events of the index at `path`.
    fn matched(&self, path: &Path, stop: &Stop) -> cento::Result<WatchEvents> {
        let (index, watch) = (key::open(path)?, self.watch.as_deref());
        let (events, is_matched_elsewhere) =
            caught_up(&index, self.after, watch, self.limit, stop)?;
        if is_matched_elsewhere {
            note!("another process matches the watches of this index");
        }
        Ok(events)
    }

    fn asked(&self, client: &Client) -> cento::Result<WatchEvents> {
        let request = EventsRequest {
            after: Some(self.after),
            limit: Some(self.limit.clamp(1, PAGE)),
            wait: None,
        };
        client.events(self.watch.as_deref(), &request)
    }
}
