//! A client that changes documents and remembers what was acknowledged.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cento_testing::http::Reply;
use fastrand::Rng;
use serde_json::{Value, json};

use super::model::{Change, PossibleStates, State};
use super::requests::{Connection, Statuses};
use crate::Result;

/// Documents of a writer at a time.
const SLOTS: usize = 1500;

/// The number of withdrawals that a writer keeps. Older withdrawals are lifted, so that the number
/// levels off.
const WITHDRAWALS: usize = 50;

/// Writes the documents `c{number}-{slot}-{generation}`, which no other client changes.
pub struct Writer {
    number: u64,
    rng: Rng,
    pub documents: BTreeMap<String, PossibleStates>,
    generations: Vec<u64>,
    last_version: u64,
    /// Changes that were accepted and wait for a commit.
    accepted: Vec<(String, Change)>,
    last_change: Change,
    /// Words that no file may have any more.
    pub withdrawn: Vec<String>,
    standing: VecDeque<String>,
    acknowledged: u64,
}

impl Writer {
    pub fn new(number: u64, seed: u64) -> Writer {
        Writer {
            number,
            rng: Rng::with_seed(seed),
            documents: BTreeMap::new(),
            generations: vec![0; SLOTS],
            last_version: 0,
            accepted: Vec::new(),
            last_change: 0,
            withdrawn: Vec::new(),
            standing: VecDeque::new(),
            acknowledged: 0,
        }
    }

    /// The number of changes that were acknowledged as committed.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// The service has ended: nothing waits for a commit, and absent documents need no memory.
    pub fn settled(&mut self) {
        self.accepted.clear();
        self.documents.retain(|_, possible| possible.certain() != Some(None));
    }

    /// Changes documents until the service is gone.
    pub fn work(
        &mut self,
        url: &str,
        is_done: &AtomicBool,
        pause: u64,
        statuses: &Statuses,
    ) -> Result {
        let connection = Connection { url, statuses };
        while !is_done.load(Ordering::Relaxed) {
            match self.rng.u8(..100) {
                0..60 => self.add(connection)?,
                60..75 => self.remove(connection)?,
                75..85 => self.patch(connection)?,
                85..88 => self.withdraw(connection)?,
                88..89 => {
                    drop(connection.send("POST", "/v1/compact", Some(&json!({"wait": false})))?)
                }
                89..94 => self.commit(connection)?,
                _ => self.look(connection)?,
            }
            std::thread::sleep(Duration::from_millis(self.rng.u64(..=2 * pause)));
        }
        Ok(())
    }

    fn id(&self, slot: usize) -> String {
        format!("c{}-{slot}-{}", self.number, self.generations[slot])
    }

    fn add(&mut self, connection: Connection) -> Result {
        let start = self.rng.usize(..SLOTS);
        let count = self.rng.usize(1..=20);
        let (mut lines, mut changes) = (String::new(), Vec::new());
        for slot in (start..start + count).map(|slot| slot % SLOTS) {
            self.last_version += 1;
            let (id, version) = (self.id(slot), self.last_version);
            let meta = json!({"version": version, "patch": 0, "client": self.number});
            let line = json!({"id": id, "text": text(&id, version), "meta": meta});
            writeln!(lines, "{line}")?;
            changes.push((id, Some((version, 0))));
        }
        let reply = connection.send_lines(&self.path("/v1/documents"), &lines)?;
        if reply.status == 200 && value(&reply)["failed"] != json!(0) {
            return Err(format!("documents were refused: {}", reply.body).into());
        }
        self.note(changes, &reply);
        Ok(())
    }

    fn remove(&mut self, connection: Connection) -> Result {
        let Some((id, _)) = self.any() else { return Ok(()) };
        let reply = match self.rng.bool() {
            true => {
                let path = self.path(&format!("/v1/documents/{id}"));
                connection.send("DELETE", &path, None)?
            }
            false => {
                let path = self.path("/v1/remove");
                connection.send("POST", &path, Some(&json!({"ids": [id]})))?
            }
        };
        if reply.status != 404 {
            self.note(vec![(id, None)], &reply);
        }
        Ok(())
    }

    fn patch(&mut self, connection: Connection) -> Result {
        let Some((id, Some((version, patch)))) = self.any() else { return Ok(()) };
        let path = self.path(&format!("/v1/documents/{id}"));
        let meta = json!({"meta": {"version": version, "patch": patch + 1, "client": self.number}});
        let reply = connection.send("PATCH", &path, Some(&meta))?;
        if reply.status == 404 {
            return Err(format!("{id} was committed and is not found").into());
        }
        self.note(vec![(id, Some((version, patch + 1)))], &reply);
        Ok(())
    }

    fn withdraw(&mut self, connection: Connection) -> Result {
        let Some((id, Some((version, _)))) = self.any() else { return Ok(()) };
        let reply = connection.send("POST", "/v1/withdrawals", Some(&json!({"id": id})))?;
        if reply.status == 404 {
            return Err(format!("{id} was committed and cannot be withdrawn").into());
        }
        let slot = id.split('-').nth(1).and_then(|slot| slot.parse::<usize>().ok());
        let slot = slot.ok_or("an id without a slot")?;
        self.generations[slot] += 1;
        let change = self.attempted(&id, None, reply.status);
        if reply.status == 200 {
            self.committed(&id, change);
            self.withdrawn.push(marker(&id, version));
            self.standing.push_back(id);
        }
        if self.standing.len() > WITHDRAWALS
            && let Some(id) = self.standing.pop_front()
        {
            connection.send("POST", "/v1/withdrawals/forget", Some(&json!({"id": id})))?;
        }
        Ok(())
    }

    fn commit(&mut self, connection: Connection) -> Result {
        if connection.send("POST", "/v1/commit", None)?.status == 200 {
            self.all_committed();
        }
        Ok(())
    }

    /// Reads a document with a certain state, and searches for the document by its text.
    fn look(&mut self, connection: Connection) -> Result {
        let Some((id, state)) = self.any() else { return Ok(()) };
        let reply = connection.send("GET", &format!("/v1/documents/{id}"), None)?;
        let document = value(&reply);
        let meta = &document["meta"];
        match (reply.status, state) {
            (200, Some((version, patch)))
                if meta["version"] == json!(version) && meta["patch"] == json!(patch) => {}
            (404, None) => {}
            (200 | 404, _) => {
                return Err(format!("{id} is not {state:?}: {} {document}", reply.status).into());
            }
            _ => {}
        }
        let Some((version, _)) = state else { return Ok(()) };
        let query = json!({"text": text(&id, version), "limit": 1});
        let reply = connection.send("POST", "/v1/search", Some(&query))?;
        let answer = value(&reply);
        match reply.status == 200 && answer["hits"][0]["id"] != json!(id) {
            true => Err(format!("{id} is not the first hit for its text: {answer}").into()),
            false => Ok(()),
        }
    }

    /// Returns any document whose state is certain.
    fn any(&mut self) -> Option<(String, State)> {
        let slot = self.rng.usize(..SLOTS);
        let id = self.id(slot);
        let state = self.documents.get(&id)?.certain()?;
        let waits = self.accepted.iter().any(|(accepted, _)| *accepted == id);
        (!waits).then_some((id, state))
    }

    /// The path of a change with an optional wait for the commit.
    fn path(&mut self, path: &str) -> String {
        match self.rng.bool() {
            true => format!("{path}?commit=wait"),
            false => path.to_owned(),
        }
    }

    /// Remembers what the answer says of these changes.
    fn note(&mut self, changes: Vec<(String, State)>, reply: &Reply) {
        for (id, state) in changes {
            let change = self.attempted(&id, state, reply.status);
            if matches!(reply.status, 200 | 202) {
                self.accepted.push((id, change));
            }
        }
        if reply.status == 200 && value(reply)["committed"] == json!(true) {
            self.all_committed();
        }
    }

    fn attempted(&mut self, id: &str, state: State, status: u16) -> Change {
        self.last_change += 1;
        let change = self.last_change;
        let possible = self.documents.entry(id.to_owned()).or_insert_with(PossibleStates::absent);
        possible.attempted(change, state, status);
        change
    }

    fn all_committed(&mut self) {
        for (id, change) in std::mem::take(&mut self.accepted) {
            self.committed(&id, change);
        }
    }

    fn committed(&mut self, id: &str, change: Change) {
        if let Some(possible) = self.documents.get_mut(id) {
            possible.committed(change);
            self.acknowledged += 1;
        }
    }
}

/// A word that only this version of the document has.
pub fn marker(id: &str, version: u64) -> String {
    format!("marker{}v{version}end", id.replace('-', "i"))
}

/// A text of a hundred words, of which thirty are in many other texts too.
pub fn text(id: &str, version: u64) -> String {
    let family = version % 40;
    let shared = (0..30).map(|word| format!("family{family}word{word}"));
    let own = (0..70).map(|word| format!("{}x{word}", marker(id, version)));
    let words: Vec<String> =
        std::iter::once(marker(id, version)).chain(shared).chain(own).collect();
    words.join(" ")
}

fn value(reply: &Reply) -> Value {
    serde_json::from_str(&reply.body).unwrap_or_default()
}
