//! Requests of the clients, and counts of statuses by route.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cento_testing::http::{JSON, LINES, Reply, request, try_exchange};
use serde_json::Value;

use crate::Result;

const WAIT_FOR_END: Duration = Duration::from_millis(500);

/// Counts of statuses by route. Status 0 is no answer.
#[derive(Debug, Default)]
pub struct Statuses {
    counts: Mutex<BTreeMap<(String, u16), u64>>,
}

impl Statuses {
    fn count(&self, route: String, status: u16) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((route, status)).or_default() += 1;
    }

    /// A line for each route.
    pub fn table(&self) -> String {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut table = "| route | answers by status (0: none) |\n|---|---|\n".to_owned();
        let mut routes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for ((route, status), count) in counts.iter() {
            routes.entry(route).or_default().push(format!("{status}: {count}"));
        }
        for (route, statuses) in routes {
            table += &format!("| `{route}` | {} |\n", statuses.join(", "));
        }
        table
    }
}

/// A client of the service at `url`.
#[derive(Clone, Copy)]
pub struct Connection<'a> {
    pub url: &'a str,
    pub statuses: &'a Statuses,
}

impl Connection<'_> {
    /// Sends a request. A missing answer (status 0) is no error, because the service may be gone.
    ///
    /// # Errors
    /// If the service reports a fault, or calls a sound request invalid.
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Reply> {
        let body = body.map(Value::to_string);
        self.send_bytes(method, path, JSON, body.unwrap_or_default().as_bytes())
    }

    pub fn send_lines(&self, path: &str, lines: &str) -> Result<Reply> {
        self.send_bytes("POST", path, LINES, lines.as_bytes())
    }

    pub fn send_bytes(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &[u8],
    ) -> Result<Reply> {
        let address = self.url.trim_start_matches("http://");
        let request = request(address, method, path, headers, body);
        let reply = try_exchange(address, &request).unwrap_or_else(|_| Reply {
            status: 0,
            head: String::new(),
            body: String::new(),
        });
        let route = path.split('?').next().unwrap_or_default();
        let route = match route.split_once("/c") {
            Some((before, id)) if id.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{before}/{{id}}")
            }
            _ => route.to_owned(),
        };
        self.statuses.count(format!("{method} {route}"), reply.status);
        if reply.status == 0 {
            // The service is about to end, or has ended.
            std::thread::sleep(WAIT_FOR_END);
        }
        match reply.status {
            0 | 200 | 202 | 404 | 408 | 409 | 413 | 429 | 503 | 507 => Ok(reply),
            status => Err(format!("{method} {path}: {status} {}", reply.body).into()),
        }
    }
}
