//! The search engine that returns addresses of pages.

use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

use super::fetch::Asker;
use cento::{Error, Refusal, Result};

/// A search engine, as users specify it: `searxng=http://127.0.0.1:8080`.
#[derive(Debug, Clone)]
pub struct EngineAddress {
    url: String,
}

impl FromStr for EngineAddress {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<EngineAddress, String> {
        match text.split_once('=') {
            Some(("searxng", url)) if url.starts_with("http://") || url.starts_with("https://") => {
                Ok(EngineAddress { url: url.trim_end_matches('/').to_owned() })
            }
            _ => Err("expected searxng=URL, such as searxng=http://127.0.0.1:8080".into()),
        }
    }
}

impl EngineAddress {
    /// Returns the engine, whose answers may take this long.
    ///
    /// # Errors
    /// When the address needs TLS, which this build lacks.
    pub(crate) fn open(&self, time: Duration) -> Result<SearxngEngine> {
        if self.url.starts_with("https://") && !cfg!(feature = "tls") {
            let refusal = Refusal::unsupported("https", "tls", "cento-web");
            return Err(Error::input(self.url.as_str(), refusal));
        }
        Ok(SearxngEngine { url: format!("{}/search", self.url), asker: Asker::new(time) })
    }
}

/// SearXNG, by its JSON API (docs.searxng.org, "Search API").
pub(crate) struct SearxngEngine {
    url: String,
    asker: Asker,
}

#[derive(Deserialize)]
struct EngineAnswer {
    results: Vec<NamedEngine>,
}

#[derive(Deserialize)]
struct NamedEngine {
    url: String,
}

impl SearxngEngine {
    /// Returns the addresses in the engine's answer, best first.
    pub(crate) fn search(&self, query: &str) -> std::result::Result<Vec<String>, String> {
        let json = "its settings.yml must list `json` below `search: formats:`, which it does not \
                    by default";
        let (status, body) = self.asker.get(&self.url, &[("q", query), ("format", "json")])?;
        if status != 200 {
            let hint = if status == 403 { format!("; {json}") } else { String::new() };
            return Err(format!("the search engine answered with status {status}{hint}"));
        }
        let answer: EngineAnswer = serde_json::from_slice(&body)
            .map_err(|_| format!("the search engine did not answer with JSON; {json}"))?;
        Ok(answer.results.into_iter().map(|named| named.url).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_has_a_name_and_an_address() {
        assert!("searxng=http://127.0.0.1:8080/".parse::<EngineAddress>().is_ok());
        for bad in ["searxng", "searxng=file:///etc", "other=http://example.org", ""] {
            assert!(bad.parse::<EngineAddress>().is_err(), "{bad}");
        }
    }
}
