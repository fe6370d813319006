//! Starts a separate service for every route, and sends requests.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

use super::StatedBound::{Budget, PerDocument};
use super::{CORPUS, Corpus, INDEX, PeakRow, QUERY, StatedBound, peak};
use crate::Result;
use crate::service::Running;

/// The bounds of a service by route.
pub const BOUNDS: &[(&str, StatedBound)] = &[
    ("/v1/documents", Budget),
    ("/v1/search", Budget),
    ("/v1/report", Budget),
    ("/v1/compare", Budget),
    ("/v1/passages", Budget),
    ("/v1/pairs", Budget),
    ("/v1/grouping", Budget),
    ("/v1/families", PerDocument(3000)),
    ("/v1/lineage", PerDocument(3000)),
    ("/v1/compact", PerDocument(3000)),
];

/// The number of documents that `pairs` compares: the maximum of a service.
const COMPARED: usize = 1000;
/// The number of names that `grouping` gets.
const NAMES: usize = 20_000;

fn bodies(corpus: &Corpus) -> Result<Vec<(&'static str, String)>> {
    let query = fs::read_to_string(corpus.path(QUERY))?;
    let lines = fs::read_to_string(corpus.path(CORPUS))?;
    let documents: Vec<Value> = lines
        .lines()
        .take(COMPARED)
        .map(serde_json::from_str)
        .collect::<std::result::Result<_, _>>()?;
    let again = documents.iter().map(|document| {
        let id = format!("new{}", document["id"].as_str().unwrap_or_default());
        format!("{}\n", json!({"id": id, "text": document["text"]}))
    });
    let names: Vec<String> =
        (0..NAMES).map(|n| format!("class/{}/{}/file{n}.txt", n % 40, n % 900)).collect();
    Ok(vec![
        ("/v1/search", json!({"text": query, "passages": true, "limit": 100}).to_string()),
        ("/v1/report", json!({"search": {"text": query}}).to_string()),
        ("/v1/compare", json!({"a": {"text": query}, "b": {"text": query}}).to_string()),
        ("/v1/passages", json!({"text": query, "hit": documents[2]["id"]}).to_string()),
        ("/v1/pairs", json!({"documents": documents}).to_string()),
        ("/v1/grouping", json!({"names": names, "by": "directory"}).to_string()),
        ("/v1/families", json!({"date": "date"}).to_string()),
        ("/v1/lineage", json!({"date": "date"}).to_string()),
        ("/v1/documents", again.collect()),
        ("/v1/compact", "{}".to_owned()),
    ])
}

pub fn measure(
    cento: &Path,
    corpus: &Corpus,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<PeakRow>> {
    let mut rows = Vec::new();
    let memory = format!("{}MiB", corpus.memory);
    for (route, body) in bodies(corpus)?.into_iter().filter(|(route, _)| is_wanted(route)) {
        let (_, bound) =
            BOUNDS.iter().find(|(name, _)| *name == route).ok_or("a route has no bound")?;
        let args = ["--memory", &memory, "--timeout", "10min"];
        let mut service = Running::start(cento, &corpus.path(INDEX), &args)?;
        let peak = peak::during(service.id(), || post(&service.url, route, &body))?;
        service.kill()?;
        eprintln!("{} documents: {route}: {:.0} MB", corpus.documents, peak.memory_mb);
        rows.push(PeakRow { name: format!("`{route}`"), bound: *bound, peak });
    }
    Ok(rows)
}

/// Posts a body, and reads the whole answer, which must be a success.
fn post(url: &str, route: &str, body: &str) -> Result {
    let address = url.strip_prefix("http://").ok_or("the service has no plain URL")?;
    let address = address.trim_end_matches('/');
    // Many documents are JSON lines.
    let kind = if route == "/v1/documents" { "application/x-ndjson" } else { "application/json" };
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST {route} HTTP/1.1\r\nHost: {address}\r\nContent-Type: {kind}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    match answer.starts_with("HTTP/1.1 2") {
        true => Ok(()),
        false => Err(format!("{route}: {answer:.500}").into()),
    }
}
