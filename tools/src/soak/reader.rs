//! A client that sends requests to all read-only routes, and follows a watch.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};

use super::requests::{Connection, Statuses};
use super::writer::text;
use crate::Result;

pub struct Reader {
    number: u64,
    rng: Rng,
    /// The cursor of the events to come; 0 after a restart, because a copy from a store has another
    /// log.
    cursor: u64,
}

impl Reader {
    pub fn new(number: u64, seed: u64) -> Reader {
        Reader { number, rng: Rng::with_seed(seed), cursor: 0 }
    }

    /// Asks until the service is gone.
    pub fn work(
        &mut self,
        url: &str,
        is_done: &AtomicBool,
        pause: u64,
        statuses: &Statuses,
    ) -> Result {
        let connection = Connection { url, statuses };
        self.cursor = 0;
        let watch = json!({"name": format!("family{}", self.number), "text": self.text()});
        connection.send("POST", "/v1/watches", Some(&watch))?;
        while !is_done.load(Ordering::Relaxed) {
            self.ask(connection)?;
            std::thread::sleep(Duration::from_millis(self.rng.u64(..=2 * pause)));
        }
        Ok(())
    }

    fn id(&mut self) -> String {
        format!("c{}-{}-0", self.rng.u64(..3), self.rng.u64(..1500))
    }

    /// A text that shares a passage with many documents.
    fn text(&mut self) -> String {
        text("query", self.rng.u64(..40))
    }

    fn ask(&mut self, connection: Connection) -> Result {
        let (id, other, text) = (self.id(), self.id(), self.text());
        let post = |path: &str, body: Value| connection.send("POST", path, Some(&body));
        let get = |path: &str| connection.send("GET", path, None);
        match self.rng.u8(..24) {
            0 => drop(get("/healthz")?),
            1 => drop(get("/readyz")?),
            2 => drop(get("/metrics")?),
            3 => drop(get("/v1/stats")?),
            4 => drop(get("/v1/documents?limit=20&filter=client:1")?),
            5 => drop(get("/v1/withdrawals")?),
            6 => drop(get("/v1/watches")?),
            7 => drop(get("/openapi.json")?),
            8 => drop(post("/v1/search", json!({"text": text, "passages": true}))?),
            9 => drop(post(
                "/v1/search",
                json!({"text": text, "min_containment": 0.1, "filter": "patch:1"}),
            )?),
            10 => drop(post("/v1/search", json!({"text": text, "goal": "trace"}))?),
            11 => drop(post("/v1/search", json!({"id": id}))?),
            12 => drop(post("/v1/compare", json!({"a": {"id": id}, "b": {"id": other}}))?),
            13 => drop(post("/v1/passages", json!({"text": text, "hit": id}))?),
            14 => drop(post("/v1/report", json!({"search": {"text": text}}))?),
            15 => self.shards(connection, &text)?,
            16 => drop(post("/v1/grouping", json!({"names": [id, other]}))?),
            17 => {
                let search = json!({"text": text}).to_string() + "\n";
                drop(connection.send_lines("/v1/search", &format!("{search}{search}"))?);
            }
            // What reads the whole index is asked less often.
            18 if self.rng.u8(..10) == 0 => drop(post("/v1/families", json!({}))?),
            19 if self.rng.u8(..10) == 0 => drop(post("/v1/lineage", json!({}))?),
            20 => drop(post(
                "/v1/search",
                json!({"text": text, "filter": "text:\"family1word1 family1word2\""}),
            )?),
            21 => drop(get(&format!("/v1/documents/{id}"))?),
            _ => self.events(connection)?,
        }
        Ok(())
    }

    /// Asks as the head of several shards does.
    fn shards(&mut self, connection: Connection, text: &str) -> Result {
        let search = json!({"text": text, "limit": 5});
        let body = json!({"search": search, "sample": false});
        let reply = connection.send("POST", "/v1/shard/frequencies", Some(&body))?;
        if reply.status != 200 {
            return Ok(());
        }
        let frequencies: Value = serde_json::from_str(&reply.body)?;
        let body = json!({"search": search, "frequencies": frequencies, "most": 5});
        connection.send("POST", "/v1/shard/candidates", Some(&body))?;
        Ok(())
    }

    /// Reads the next events, whose cursors must ascend.
    fn events(&mut self, connection: Connection) -> Result {
        let path = format!("/v1/events?after={}&limit=100", self.cursor);
        let reply = connection.send("GET", &path, None)?;
        if reply.status != 200 {
            return Ok(());
        }
        let answer: Value = serde_json::from_str(&reply.body)?;
        let mut last = self.cursor;
        for event in answer["events"].as_array().into_iter().flatten() {
            let cursor = event["cursor"].as_u64().ok_or("an event without a cursor")?;
            if cursor <= last {
                return Err(format!("event {cursor} comes after {last}").into());
            }
            last = cursor;
        }
        self.cursor = answer["next"].as_u64().ok_or("no next cursor")?;
        match self.cursor < last {
            true => Err(format!("the next cursor {} is before event {last}", self.cursor).into()),
            false => Ok(()),
        }
    }
}
