//! Compares the events of a service that is killed repeatedly with the events of the naive matcher.
//!
//! One client sends one request after another: single documents and batches, new versions,
//! removals, watches, compactions. The service is killed at random moments, even during its start.
//! While no service runs, the index is renamed, copied, replaced by an earlier copy, pushed to a
//! store, or replaced by the pushed state. The index shows the outcome of the interrupted request.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cento::Stop;
use cento::index::Index;
use cento_api::WatchEvent;
use cento_client::Client;
use cento_client::api::{Commit, CompactRequest, DocumentBody, WatchRequest};
use cento_collections::watch::{Watches as Open, caught_up};
use fastrand::Rng;
use serde_json::json;

use super::naive::{Model, Subject, Text};
use super::{Watches, fresh};
use crate::Result;
use crate::service::Running;

/// The initial number of watches if the option is missing or 0.
const WATCHES: usize = 40;

#[derive(Debug, Clone)]
enum Request {
    Add(Vec<(String, Text)>),
    Remove(String),
    Watch(String, Subject),
    Unwatch(String),
    Compact,
}

struct Kept {
    path: PathBuf,
    model: Model,
}

struct Trial<'a> {
    options: &'a Watches,
    rng: Rng,
    path: PathBuf,
    model: Model,
    /// The number of the last name.
    number: usize,
    commits: usize,
    kills: usize,
    /// How often the index was renamed, copied, replaced by a copy, and pulled.
    moves: [usize; 4],
    saved: Option<Kept>,
    pushed: Option<Kept>,
}

impl Watches {
    pub(super) fn compare(&self, milliseconds: u64) -> Result {
        let mut trial = Trial {
            options: self,
            rng: Rng::with_seed(self.seed),
            path: self.work.join("compared.idx"),
            model: Model::default(),
            number: 0,
            commits: 0,
            kills: 0,
            moves: [0; 4],
            saved: None,
            pushed: None,
        };
        fresh(&trial.path)?;
        trial.run(&["create", &trial.path.to_string_lossy()])?;
        trial.begin()?;
        while trial.commits < self.commits {
            trial.live(milliseconds)?;
            if trial.rng.u8(..4) == 0 {
                trial.between()?;
            }
        }
        let events = trial.check()?;
        let [renamed, copied, put_back, pulled] = trial.moves;
        println!(
            "{} acknowledged commits, {} kills, renamed {renamed} times, copied {copied}, put back \
             {put_back}, pulled {pulled}; {} documents, {} watches: {events} events, each of the \
             naive matcher once and in order",
            trial.commits,
            trial.kills,
            trial.model.documents.len(),
            trial.model.watches.len(),
        );
        Ok(())
    }
}

impl Trial<'_> {
    fn run(&self, args: &[&str]) -> Result {
        let mut command = Command::new(&self.options.cento);
        let ended = command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).output()?;
        match ended.status.success() {
            true => Ok(()),
            false => {
                let what = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
                Err(format!("cento {}: {what}", args.join(" ")).into())
            }
        }
    }

    fn name(&mut self, kind: &str) -> String {
        self.number += 1;
        format!("{kind}-{:06}", self.number)
    }

    /// Adds the first watches, and the watched documents.
    fn begin(&mut self) -> Result {
        let service = Running::start(&self.options.cento, &self.path, &[])?;
        let client = Client::new(&service.url, None)?;
        let count = self.options.watches.first().copied().filter(|&count| count > 0);
        let mut own = Vec::new();
        for _ in 0..4 {
            own.push((self.name("own"), Model::watched_text(&mut self.rng)));
        }
        let add = Request::Add(own);
        ask(&client, &add)?;
        self.done(add)?;
        for _ in 0..count.unwrap_or(WATCHES) {
            let watch = self.new_watch();
            ask(&client, &watch)?;
            self.done(watch)?;
        }
        Ok(())
    }

    fn live(&mut self, milliseconds: u64) -> Result {
        if self.rng.u8(..4) == 0 {
            self.kill_while_it_starts()?;
        }
        let mut service = Running::start(&self.options.cento, &self.path, &[])?;
        let client = Client::new(&service.url, None)?;
        let time = Duration::from_millis(self.rng.u64(..milliseconds));
        let is_killed = AtomicBool::new(false);
        let under_way = std::thread::scope(|scope| -> Result<Request> {
            let killed = &is_killed;
            let killing = scope.spawn(move || {
                std::thread::sleep(time);
                killed.store(true, Ordering::SeqCst);
                service.kill().map_err(|e| e.to_string())
            });
            let under_way = loop {
                let request = self.next();
                match ask(&client, &request) {
                    Ok(()) => self.done(request)?,
                    Err(_) if is_killed.load(Ordering::SeqCst) => break request,
                    Err(error) => return Err(format!("{request:?}: {error}").into()),
                }
            };
            killing.join().map_err(|_| "the thread that kills panicked")??;
            Ok(under_way)
        })?;
        self.kills += 1;
        self.settle(under_way)
    }

    fn kill_while_it_starts(&mut self) -> Result {
        let mut command = Command::new(&self.options.cento);
        command.arg("serve").arg(&self.path).args(["--listen", "127.0.0.1:0"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(Duration::from_millis(self.rng.u64(..200)));
        child.kill()?;
        child.wait()?;
        self.kills += 1;
        Ok(())
    }

    fn next(&mut self) -> Request {
        match self.rng.u8(..100) {
            0 => Request::Compact,
            1..=2 => self.new_watch(),
            3 => match self.any(|model| model.watches.keys().collect()) {
                Some(name) if self.model.watches.len() > 10 => Request::Unwatch(name),
                _ => self.new_watch(),
            },
            4..=9 => match self.any_document() {
                Some(id) => Request::Remove(id),
                None => self.new_documents(1),
            },
            10..=19 => {
                let count = self.rng.usize(2..8);
                self.new_documents(count)
            }
            _ => self.new_documents(1),
        }
    }

    fn any(&mut self, of: impl Fn(&Model) -> Vec<&String>) -> Option<String> {
        let names = of(&self.model);
        self.rng.choice(names).cloned()
    }

    fn any_document(&mut self) -> Option<String> {
        self.any(|model| model.documents.keys().collect())
    }

    /// Makes an addition of documents. Some documents are new versions, and some are unchanged.
    fn new_documents(&mut self, count: usize) -> Request {
        let mut documents: Vec<(String, Text)> = Vec::new();
        for _ in 0..count {
            let kind = self.rng.u8(..10);
            let old = if kind < 2 { self.any_document() } else { None };
            let id = old.unwrap_or_else(|| self.name("d"));
            let text = match self.model.documents.get(&id) {
                Some(text) if kind == 0 => text.clone(),
                // A document that a watch may be for contains no run of another watch.
                _ if id.starts_with("own") => Model::watched_text(&mut self.rng),
                _ => self.model.text(&mut self.rng),
            };
            if documents.iter().all(|(other, _)| *other != id) {
                documents.push((id, text));
            }
        }
        Request::Add(documents)
    }

    fn new_watch(&mut self) -> Request {
        let own =
            self.any(|model| model.documents.keys().filter(|id| id.starts_with("own")).collect());
        let text = Model::watched_text(&mut self.rng);
        let subject = match (self.rng.u8(..5), own) {
            (0, Some(id)) => Subject::Document(id),
            (1, _) => Subject::TextInEven(text),
            _ => Subject::Text(text),
        };
        Request::Watch(self.name("watch"), subject)
    }

    /// Notes an acknowledged request, or a request that the index contains.
    fn done(&mut self, request: Request) -> Result {
        match request {
            Request::Add(documents) => {
                self.commits += 1;
                self.model.commit(&documents)?;
            }
            Request::Remove(id) => {
                self.commits += 1;
                self.model.documents.remove(&id);
            }
            Request::Watch(name, subject) => drop(self.model.watches.insert(name, subject)),
            Request::Unwatch(name) => self.model.remove_watch(&name),
            Request::Compact => {}
        }
        Ok(())
    }

    /// Determines the outcome of the interrupted request and notes the request.
    fn settle(&mut self, request: Request) -> Result {
        let index = Index::open(&self.path)?;
        let snapshot = index.snapshot()?;
        let text_of = |id: &str| -> Result<Option<String>> {
            let Some(address) = snapshot.find(id)? else { return Ok(None) };
            Ok(snapshot.document(address)?.text)
        };
        match request {
            Request::Add(documents) => {
                let mut added = Vec::new();
                for (id, text) in documents {
                    if text_of(&id)?.is_some_and(|own| own == text.text()) {
                        added.push((id, text));
                    }
                }
                self.model.commit(&added)?;
            }
            Request::Remove(id) if text_of(&id)?.is_none() => {
                self.model.documents.remove(&id);
            }
            Request::Watch(name, _) | Request::Unwatch(name)
                if Open::open(&index)?.reader().get(&name).is_some()
                    == self.model.watches.contains_key(&name) => {}
            Request::Remove(_) | Request::Compact => {}
            request => self.done(request)?,
        }
        if snapshot.documents() != self.model.documents.len() as u64 {
            let what = (snapshot.documents(), self.model.documents.len());
            return Err(format!("{what:?} documents in the index and acknowledged").into());
        }
        Ok(())
    }

    /// Moves or replaces the index while no service uses it.
    fn between(&mut self) -> Result {
        let own = self.path.to_string_lossy().into_owned();
        match self.rng.u8(..7) {
            0 => {
                let path = self.options.work.join(self.name("renamed"));
                std::fs::rename(&self.path, &path)?;
                self.path = path;
                self.moves[0] += 1;
            }
            1 => {
                let path = self.options.work.join(self.name("copied"));
                copy(&self.path, &path)?;
                fresh(&self.path)?;
                self.path = path;
                self.moves[1] += 1;
            }
            2 => {
                let path = self.options.work.join("saved");
                fresh(&path)?;
                copy(&self.path, &path)?;
                self.saved = Some(Kept { path, model: self.model.clone() });
            }
            3 => {
                let Some(Kept { path, model }) = self.saved.take() else { return Ok(()) };
                fresh(&self.path)?;
                std::fs::rename(path, &self.path)?;
                self.model = model;
                self.moves[2] += 1;
            }
            4 => {
                let path = self.options.work.join("store");
                fresh(&path)?;
                self.run(&["store", "push", &own, &path.to_string_lossy()])?;
                self.pushed = Some(Kept { path, model: self.model.clone() });
            }
            5 => {
                let Some(Kept { path, model }) = self.pushed.take() else { return Ok(()) };
                // Waiting commits are matched first, because documents that a pull replaces have no
                // events.
                self.check()?;
                self.run(&["store", "pull", &path.to_string_lossy(), &own, "--force"])?;
                self.model.documents = model.documents;
                self.moves[3] += 1;
            }
            _ => drop(self.check()?),
        }
        Ok(())
    }

    /// Matches waiting commits, compares all events with the model, and returns the number of
    /// events.
    fn check(&self) -> Result<usize> {
        let index = Index::open(&self.path)?;
        let problems = index.check()?.problems;
        if !problems.is_empty() {
            return Err(format!("{problems:?}").into());
        }
        let mut events: Vec<WatchEvent> = Vec::new();
        let mut after = 0;
        loop {
            let (found, is_elsewhere) = caught_up(&index, after, None, 10_000, Stop::NEVER)?;
            if found.missed || is_elsewhere {
                return Err("events are missing".into());
            }
            after = found.next;
            events.extend(found.events);
            if !found.more {
                let count = self.model.check(&events)?;
                // The message shows the progress of a long run that is stopped.
                let (commits, kills) = (self.commits, self.kills);
                eprintln!("{commits} commits, {kills} kills: {count} events as expected");
                return Ok(count);
            }
        }
    }
}

fn ask(client: &Client, request: &Request) -> Result {
    let body = |(id, text): &(String, Text)| {
        let mut meta = serde_json::Map::new();
        meta.insert("even".into(), json!(text.is_even));
        DocumentBody { id: id.clone(), text: text.text(), meta, id_place: None }
    };
    match request {
        Request::Add(documents) => match &documents[..] {
            [one] => drop(client.add(&body(one), Commit::Wait)?),
            many => {
                let mut lines = Vec::new();
                for document in many {
                    serde_json::to_writer(&mut lines, &body(document))?;
                    lines.push(b'\n');
                }
                client.add_lines(&lines, Commit::Wait)?;
            }
        },
        Request::Remove(id) => drop(client.remove(vec![id.clone()], Commit::Wait)?),
        Request::Watch(name, subject) => {
            let mut request = WatchRequest { name: Some(name.clone()), ..WatchRequest::default() };
            match subject {
                Subject::Text(text) => request.text = Some(text.text()),
                Subject::TextInEven(text) => {
                    request.text = Some(text.text());
                    request.options.filter = Some("even:true".into());
                }
                Subject::Document(id) => request.id = Some(id.clone()),
            }
            client.add_watch(&request)?;
        }
        Request::Unwatch(name) => drop(client.remove_watch(name)?),
        Request::Compact => {
            client.compact(&CompactRequest { segments: 1, wait: true })?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result {
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to)?,
            false => drop(std::fs::copy(entry.path(), to)?),
        }
    }
    Ok(())
}
