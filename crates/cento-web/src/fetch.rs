//! Fetching of pages from unknown hosts.
//!
//! Each address is checked before it is requested: the one that the engine named, and each redirect
//! target. Hosts are resolved once, by [`PublicOnly`], and the connection goes to the addresses
//! that it returns, so no second answer of a name server can lead elsewhere.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use cento::Refusal;
use cento_client::client::{is_about_certificates, trusting_the_system};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::http::header::{CONTENT_TYPE, LOCATION};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body};

use super::address::{is_public, parts, redirected};
use super::robots::{AGENT, Robots};

/// The maximum number of redirects that are followed.
const REDIRECTS_MAX: usize = 5;

/// The maximum length of a robots.txt; the rest is not read (RFC 9309, section 2.5).
const ROBOTS_BYTES_MAX: usize = 500 << 10;

/// The maximum length of an answer of a search engine.
const ANSWER_BYTES_MAX: u64 = 8 << 20;

/// Why a page or an answer is missing: programs tell the reasons apart that an option or the system
/// decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// The page is larger than the limit.
    PageTooLarge,
    /// The request took longer than the limit.
    TimedOut,
    /// No authority that is trusted has signed the certificate of the host.
    Certificate,
    /// The address has https, and this build lacks the feature `tls`.
    NeedsTls,
    /// Anything else.
    Other,
}

/// A page or an answer that is missing.
#[derive(Debug)]
pub struct Missing {
    /// The reason, as a clause.
    pub why: String,
    /// The kind of reason.
    pub kind: FailureKind,
}

impl<T: Into<String>> From<T> for Missing {
    fn from(why: T) -> Missing {
        Missing { why: why.into(), kind: FailureKind::Other }
    }
}

/// Limits on fetching.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The maximum length of a page.
    pub bytes: usize,
    /// The maximum time for each request.
    pub time: Duration,
    /// The time between two requests to a host.
    pub interval: Duration,
    /// Whether requests to this machine are allowed.
    pub allows_loopback: bool,
}

/// A page.
#[derive(Debug)]
pub struct Page {
    /// The final address, after redirects.
    pub address: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// The type that the host names.
    kind: Option<String>,
    /// The encoding that the host names.
    pub charset: Option<String>,
}

impl Page {
    /// Returns the extension for a file of this type; `txt` if the type is unknown.
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

/// Fetches pages.
#[derive(Debug)]
pub struct Fetcher {
    agent: Agent,
    limits: Limits,
    /// The rules by scheme and host.
    robots: HashMap<String, Robots>,
    /// The time of the last request to each host.
    asked: HashMap<String, Instant>,
}

fn config(time: Duration) -> Config {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .max_redirects(0)
        .timeout_global(Some(time))
        .user_agent(format!("{AGENT}/{}", env!("CARGO_PKG_VERSION")));
    trusting_the_system(config).build()
}

impl Fetcher {
    /// Creates a fetcher that has sent no requests.
    pub fn new(limits: Limits) -> Fetcher {
        let allows_loopback = limits.allows_loopback;
        let resolver = PublicOnly::and(move |address| allows_loopback && address.is_loopback());
        let agent = Agent::with_parts(config(limits.time), DefaultConnector::default(), resolver);
        Fetcher { agent, limits, robots: HashMap::new(), asked: HashMap::new() }
    }

    /// Fetches the page at an address, or the page that it redirects to.
    pub fn fetch(&mut self, address: &str) -> Result<Page, Missing> {
        let mut address = address.to_owned();
        for _ in 0..=REDIRECTS_MAX {
            let (origin, path) = parts(&address)
                .ok_or("it is no plain address of http or https, and was not fetched")?;
            let (origin, path) = (origin.to_owned(), path.to_owned());
            if origin.starts_with("https") && !cfg!(feature = "tls") {
                let why = Refusal::unsupported("https", "tls", "cento-web").what;
                return Err(Missing { why, kind: FailureKind::NeedsTls });
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
                return Err(format!("the host answered with status {}", status.as_u16()).into());
            }
            let kind = response.body().mime_type().map(str::to_ascii_lowercase);
            let charset = response.body().charset().map(str::to_owned);
            let limit = self.limits.bytes as u64;
            let bytes = response.body_mut().with_config().limit(limit).read_to_vec();
            let bytes = bytes.map_err(|error| match error {
                ureq::Error::BodyExceedsLimit(_) => Missing {
                    why: format!("it is larger than {limit} bytes"),
                    kind: FailureKind::PageTooLarge,
                },
                other => self.missing(&other),
            })?;
            return Ok(Page { address: format!("{origin}{path}"), bytes, kind, charset });
        }
        Err(format!("it redirects more than {REDIRECTS_MAX} times").into())
    }

    /// Returns the rules of a host, which are requested once.
    fn robots(&mut self, origin: &str) -> Result<Robots, Missing> {
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
            // The file is missing (RFC 9309, section 2.3.1.3), or it has moved.
            300..=499 => Robots::default(),
            _ => Robots::nothing(),
        };
        self.robots.insert(origin.to_owned(), robots.clone());
        Ok(robots)
    }

    /// Sends a request to a host, after the delay that the host requires.
    fn get(&mut self, origin: &str, path: &str) -> Result<ureq::http::Response<Body>, Missing> {
        let now = Instant::now();
        if let Some(last) = self.asked.get(origin) {
            let next = *last + self.limits.interval;
            std::thread::sleep(next.saturating_duration_since(now));
        }
        self.asked.insert(origin.to_owned(), Instant::now());
        self.agent.get(format!("{origin}{path}")).call().map_err(|error| self.missing(&error))
    }

    fn missing(&self, error: &ureq::Error) -> Missing {
        match error {
            ureq::Error::Timeout(_) => Missing {
                why: format!("it took longer than {:?}", self.limits.time),
                kind: FailureKind::TimedOut,
            },
            ureq::Error::Other(other) => other.to_string().into(),
            other => failed("", other),
        }
    }
}

/// Formats a failure after these words.
fn failed(before: &str, error: &ureq::Error) -> Missing {
    let kind = match is_about_certificates(error) {
        true => FailureKind::Certificate,
        false => FailureKind::Other,
    };
    Missing { why: format!("{before}{error}"), kind }
}

/// A client for one service that the user has named, at any address.
#[derive(Debug)]
pub struct Asker {
    agent: Agent,
}

impl Asker {
    /// Creates a client with this time limit.
    pub fn new(time: Duration) -> Asker {
        Asker { agent: Agent::new_with_config(config(time)) }
    }

    /// Returns the status of an answer, and its body.
    pub fn get(&self, url: &str, query: &[(&str, &str)]) -> Result<(u16, Vec<u8>), Missing> {
        let asked =
            query.iter().fold(self.agent.get(url), |asked, (name, value)| asked.query(name, value));
        let failed = |error: ureq::Error| failed("the query to the search engine failed: ", &error);
        let mut response = asked.call().map_err(failed)?;
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        Ok((response.status().as_u16(), body.map_err(failed)?))
    }
}

/// Posts to receivers that clients of a service name, at public addresses and at those that the
/// operator allows. Follows no redirect, reads no body of an answer, and takes a bounded time.
#[derive(Debug)]
pub struct Poster {
    agent: Agent,
    time: Duration,
}

/// The maximum length of the head of an answer to a post.
const HEAD_BYTES_MAX: usize = 16 << 10;

impl Poster {
    /// Creates a poster with this time limit for a post; `is_allowed` tells whether an address that
    /// is not public may be used.
    pub fn new(
        time: Duration,
        is_allowed: impl Fn(IpAddr) -> bool + Send + Sync + 'static,
    ) -> Poster {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .max_redirects(0)
            .max_idle_connections(0)
            .max_response_header_size(HEAD_BYTES_MAX)
            .timeout_global(Some(time))
            .user_agent(format!("{AGENT}/{}", env!("CARGO_PKG_VERSION")));
        let config = trusting_the_system(config).build();
        let resolver = PublicOnly::and(is_allowed);
        let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
        Poster { agent, time }
    }

    /// Posts JSON with one more header; returns the status of the answer.
    ///
    /// # Errors
    /// The reason, as a clause.
    pub fn post(&self, url: &str, header: (&str, &str), body: &[u8]) -> Result<u16, String> {
        check_address(url).map_err(|refusal| refusal.what)?;
        let request = self.agent.post(url).header(CONTENT_TYPE, "application/json");
        match request.header(header.0, header.1).send(body) {
            Ok(response) => Ok(response.status().as_u16()),
            Err(ureq::Error::Timeout(_)) => Err(format!("it took longer than {:?}", self.time)),
            Err(ureq::Error::Other(other)) => Err(other.to_string()),
            Err(other) => Err(other.to_string()),
        }
    }

    /// Refuses an address that is never posted to: one that is not of http or https, and one that
    /// names a host by an address that is neither public nor allowed.
    ///
    /// # Errors
    /// The reason, as a clause.
    pub fn check(&self, url: &str, is_allowed: &dyn Fn(IpAddr) -> bool) -> Result<(), Refusal> {
        check_address(url)?;
        let uri: Uri = url.parse().map_err(|_| Refusal::from("it is not an address"))?;
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match host.parse::<IpAddr>() {
            Ok(address) if !is_public(address) && !is_allowed(address) => {
                let what = format!(
                    "its address {address} is not public; `cento serve --webhook-network` allows \
                     networks that are not public"
                );
                Err(what.into())
            }
            _ => Ok(()),
        }
    }
}

fn check_address(url: &str) -> Result<(), Refusal> {
    if parts(url).is_none() {
        return Err("it is no plain address of http or https".into());
    }
    if url.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("https"))
        && !cfg!(feature = "tls")
    {
        return Err(Refusal::unsupported("https", "tls", "cento-web"));
    }
    Ok(())
}

/// Resolves only hosts of the public internet, and others that are allowed.
struct PublicOnly {
    resolver: DefaultResolver,
    is_allowed: Box<Allows>,
}

/// Tells whether an address that is not public may be used.
type Allows = dyn Fn(IpAddr) -> bool + Send + Sync;

impl PublicOnly {
    fn and(is_allowed: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> PublicOnly {
        PublicOnly { resolver: DefaultResolver::default(), is_allowed: Box::new(is_allowed) }
    }
}

impl fmt::Debug for PublicOnly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicOnly").finish_non_exhaustive()
    }
}

impl Resolver for PublicOnly {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.resolver.resolve(uri, config, timeout)?;
        let is_allowed =
            |address: &SocketAddr| is_public(address.ip()) || (self.is_allowed)(address.ip());
        // A private address among public ones is an attack or a mistake.
        match found.iter().find(|address| !is_allowed(address)) {
            Some(address) => {
                let what = format!("its address {} is not public, and is not used", address.ip());
                Err(ureq::Error::Other(what.into()))
            }
            None => Ok(found),
        }
    }
}
