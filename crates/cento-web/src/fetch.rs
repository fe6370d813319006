//! Fetching of pages from unknown hosts.
//!
//! Every address is checked before a request: the address from the engine, and each redirect
//! target. The agent of [`agent`] resolves hosts once and connects to the addresses that were
//! checked, so no second answer of a name server can lead elsewhere.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use cento::Refusal;
use cento_client::address::parts;
use cento_client::client::is_about_certificates;
use cento_client::public_hosts::{AllowedAddresses, agent, config};
use ureq::http::header::LOCATION;
use ureq::{Agent, Body};

use super::redirect::redirected;
use super::robots::Robots;

/// The maximum number of redirects that are followed.
const REDIRECTS_MAX: usize = 5;

/// The maximum length of a robots.txt. Longer files are cut (RFC 9309, section 2.5).
const ROBOTS_BYTES_MAX: usize = 500 << 10;

/// The maximum length of an answer of a search engine.
const ANSWER_BYTES_MAX: u64 = 8 << 20;

/// How much and how long a fetch may read.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The maximum length of a page.
    pub bytes: usize,
    /// The maximum time for each request.
    pub time: Duration,
    /// The minimum time between two requests to the same host.
    pub interval: Duration,
    /// Whether requests to this machine are allowed.
    pub allows_loopback: bool,
}

/// A fetched page, as bytes.
#[derive(Debug)]
pub struct Page {
    /// The final address, after redirects.
    pub address: String,
    /// The body as the host sent it.
    pub bytes: Vec<u8>,
    /// The type that the host declares.
    kind: Option<String>,
    /// The encoding that the host declares.
    pub charset: Option<String>,
}

impl Page {
    /// Returns the extension for a file of this type, or `txt` if the type is unknown.
    pub fn extension(&self) -> &'static str {
        match self.kind.as_deref() {
            Some("text/html" | "application/xhtml+xml") => "html",
            Some("application/pdf") => "pdf",
            Some("application/rtf" | "text/rtf") => "rtf",
            Some("application/msword") => "doc",
            Some("application/epub+zip") => "epub",
            Some(kind) if kind.ends_with("wordprocessingml.document") => "docx",
            Some(kind) if kind.ends_with("opendocument.text") => "odt",
            Some("text/markdown") => "md",
            _ => "txt",
        }
    }
}

/// Fetches pages over HTTP within [`Limits`].
#[derive(Debug)]
pub struct Fetcher {
    agent: Agent,
    limits: Limits,
    /// The rules of each host, by scheme and host.
    robots: HashMap<String, Robots>,
    /// The time of the last request to each host.
    asked: HashMap<String, Instant>,
}

impl Fetcher {
    /// Creates a fetcher that has sent no requests.
    pub fn new(limits: Limits) -> Fetcher {
        let allows_loopback = limits.allows_loopback;
        let allowed =
            AllowedAddresses::new(move |address| allows_loopback && address.is_loopback());
        let agent = agent(config(limits.time).build(), allowed);
        Fetcher { agent, limits, robots: HashMap::new(), asked: HashMap::new() }
    }

    /// Fetches the page at an address, or its redirect target.
    pub fn fetch(&mut self, address: &str) -> Result<Page, String> {
        let mut address = address.to_owned();
        for _ in 0..=REDIRECTS_MAX {
            let (origin, path) = parts(&address)
                .ok_or("it is no plain address of http or https, and was not fetched")?;
            let (origin, path) = (origin.to_owned(), path.to_owned());
            if origin.starts_with("https") && !cfg!(feature = "tls") {
                return Err(Refusal::unsupported("https", "tls", "cento-web").what);
            }
            if !self.robots(&origin)?.allows(&path) {
                return Err("its robots.txt does not allow it".into());
            }
            let mut response = self.get(&origin, &path)?;
            let status = response.status();
            if status.is_redirection() {
                let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
                address = location
                    .and_then(|to| redirected(&address, to))
                    .ok_or("it redirects to no address of http or https")?;
                continue;
            }
            if status != 200 {
                return Err(format!("the host answered with status {}", status.as_u16()));
            }
            let kind = response.body().mime_type().map(str::to_ascii_lowercase);
            let charset = response.body().charset().map(str::to_owned);
            let limit = self.limits.bytes as u64;
            let bytes = response.body_mut().with_config().limit(limit).read_to_vec();
            let bytes = bytes.map_err(|error| match error {
                ureq::Error::BodyExceedsLimit(_) => {
                    format!("it is larger than {limit} bytes (--max-page-bytes)")
                }
                other => self.missing(&other),
            })?;
            return Ok(Page { address: format!("{origin}{path}"), bytes, kind, charset });
        }
        Err(format!("it redirects more than {REDIRECTS_MAX} times"))
    }

    /// Returns the rules of a host, which are requested once.
    fn robots(&mut self, origin: &str) -> Result<Robots, String> {
        if let Some(robots) = self.robots.get(origin) {
            return Ok(robots.clone());
        }
        let mut response = self.get(origin, "/robots.txt")?;
        let robots = match response.status().as_u16() {
            200..=299 => {
                let limit = ROBOTS_BYTES_MAX as u64;
                let mut bytes = Vec::new();
                let reader = response.body_mut().as_reader();
                std::io::Read::read_to_end(&mut std::io::Read::take(reader, limit), &mut bytes)
                    .map_err(|error| format!("its robots.txt cannot be read: {error}"))?;
                Robots::new(&String::from_utf8_lossy(&bytes))
            }
            // The file is missing (RFC 9309, section 2.3.1.3), or has moved.
            300..=499 => Robots::default(),
            _ => Robots::nothing(),
        };
        self.robots.insert(origin.to_owned(), robots.clone());
        Ok(robots)
    }

    /// Sends a request to a host, after the interval since the last request.
    fn get(&mut self, origin: &str, path: &str) -> Result<ureq::http::Response<Body>, String> {
        let now = Instant::now();
        if let Some(last) = self.asked.get(origin) {
            let next = *last + self.limits.interval;
            std::thread::sleep(next.saturating_duration_since(now));
        }
        self.asked.insert(origin.to_owned(), Instant::now());
        self.agent.get(format!("{origin}{path}")).call().map_err(|error| self.missing(&error))
    }

    /// Returns the reason why a page is missing.
    fn missing(&self, error: &ureq::Error) -> String {
        match error {
            ureq::Error::Timeout(_) => {
                format!("it took longer than {:?} (--timeout)", self.limits.time)
            }
            ureq::Error::Other(other) => other.to_string(),
            other => explained(other),
        }
    }
}

/// Describes a failure, with a hint about certificates.
fn explained(error: &ureq::Error) -> String {
    let hint = match is_about_certificates(error) {
        true => {
            "; certificates are checked by the authorities of the system, or those in the PEM file \
             that SSL_CERT_FILE names"
        }
        false => "",
    };
    format!("{error}{hint}")
}

/// A client for a service that the user has chosen, at any address.
#[derive(Debug)]
pub struct Asker {
    agent: Agent,
}

impl Asker {
    /// Creates a client with this time limit.
    pub fn new(time: Duration) -> Asker {
        Asker { agent: Agent::new_with_config(config(time).build()) }
    }

    /// Returns the status and the body of an answer.
    pub fn get(&self, url: &str, query: &[(&str, &str)]) -> Result<(u16, Vec<u8>), String> {
        let asked =
            query.iter().fold(self.agent.get(url), |asked, (name, value)| asked.query(name, value));
        let failed = |error: ureq::Error| {
            format!("the query to the search engine failed: {}", explained(&error))
        };
        let mut response = asked.call().map_err(failed)?;
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        Ok((response.status().as_u16(), body.map_err(failed)?))
    }
}
