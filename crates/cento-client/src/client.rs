//! A blocking client for Rust programs.
//!
//! Every route has a method, which blocks. Threads can share a client, which keeps its connections
//! open. If a service is busy, the client repeats the request for a while, as often as the service
//! permits. All requests can be repeated: adding a document that is stored already changes nothing.
//! An address with `https` needs the feature `tls`. The authorities of the system check
//! certificates. On Unix other than macOS, the environment variables `SSL_CERT_FILE` and
//! `SSL_CERT_DIR` select other authorities.
//!
//! ```no_run
//! use cento_client::Client;
//! use cento_client::api::SearchRequest;
//!
//! let client = Client::new("http://127.0.0.1:7227", None)?;
//! let request = SearchRequest { text: Some("the text".into()), ..SearchRequest::default() };
//! for hit in client.search(&request)?.hits {
//!     println!("{} {:.3}", hit.id, hit.similarity.containment_of_a);
//! }
//! # Ok::<(), cento_api::Error>(())
//! ```

mod documents;
mod families;
mod withdrawals;

use std::io;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::config::ConfigBuilder;
use ureq::http::{Response, StatusCode, header};
use ureq::typestate::AgentScope;
use ureq::{Agent, Body};

use crate::api::{
    AddResponse, Commit, CommitResponse, CompactRequest, CompactResponse, CompareRequest,
    CompareResponse, DocumentBody, DocumentOfParts, ErrorBody, ErrorInfo, FileBody, Health,
    MergeRequest, PairsReportRequest, PairsRequest, PairsResponse, PassagesRequest,
    PassagesResponse, ReportRequest, SearchFilesResponse, SearchRequest, StatsResponse,
};
use crate::multipart::Multipart;
use cento_api::{AddedIndexes, Answer, Error, Reason, Refusal, Result};

const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// The maximum size of a body that is sent at once. For a larger body, the client first asks
/// whether the service accepts it. Otherwise a service that refuses the body closes the connection
/// during the transfer, and its answer may be lost.
const ASKED_FIRST_BYTES: usize = 256 << 10;

/// How long a request to a busy service is repeated.
const PATIENCE: Duration = Duration::from_secs(30);

const COMPACT: &str = "/v1/compact";
const MERGE: &str = "/v1/merge";
const WITHDRAWALS: &str = "/v1/withdrawals";
const FAMILIES: &str = "/v1/families";
const LINEAGE: &str = "/v1/lineage";

/// The maximum time for an answer, longer than the time limit of a healthy service. A compaction, a
/// merge, families or a lineage may take any time.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client of a service.
///
/// Methods block. Threads can share a client, which keeps its connections open. While the service
/// is busy, the client repeats a request for 30 seconds.
///
/// # Errors
/// An answer other than success is [`Error::Service`], with the code and the message of the
/// service. An unreachable service is [`Error::Io`].
///
/// # Examples
/// ```
/// use cento_client::Client;
/// use cento_client::api::{Commit, DocumentBody};
///
/// # fn run() -> cento_api::Result<()> {
/// let client = Client::new("http://127.0.0.1:7227", None)?;
/// let body = DocumentBody {
///     id: "a".into(),
///     text: "some text".into(),
///     meta: Default::default(),
///     id_place: None,
/// };
/// let added = client.add(&body, Commit::Wait)?;
/// println!("{} added, {} replaced", added.report.added, added.report.replaced);
/// # Ok(())
/// # }
/// assert!(Client::new("an address", None).is_err());
/// ```
pub struct Client {
    agent: Agent,
    /// The agent for requests that may take any time.
    patient: Agent,
    url: String,
    authorization: Option<String>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Makes the authorities of the system check certificates, including authorities that
/// administrators add. The default list is compiled in.
#[doc(hidden)]
#[must_use]
pub fn trusting_the_system(config: ConfigBuilder<AgentScope>) -> ConfigBuilder<AgentScope> {
    #[cfg(feature = "tls")]
    let config = {
        use ureq::tls::{RootCerts, TlsConfig};
        config.tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
    };
    config
}

/// The question of a supervisor to a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// Is the service running? A service that cannot write, because its disk is full, still is.
    Alive,
    /// Does the service accept requests, and can it write?
    Ready,
}

pub(crate) enum Load<'a> {
    Nothing,
    Files(Multipart),
    Json(Vec<u8>),
    Lines(&'a [u8]),
}

impl Client {
    /// Returns a client of the service at `url`, such as `http://127.0.0.1:7227`, with a token if
    /// the service has tokens. Ignores proxies.
    ///
    /// ```
    /// use cento_client::Client;
    ///
    /// let client = Client::new("http://127.0.0.1:7227/", Some("secret-token"))?;
    /// assert_eq!(client.url(), "http://127.0.0.1:7227");
    /// assert!(Client::new("127.0.0.1:7227", None).is_err());
    /// # Ok::<(), cento_api::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `url` is not such an address, or has `https` without the feature `tls`. Does not check
    /// whether a service is running there.
    pub fn new(url: &str, token: Option<&str>) -> Result<Client> {
        let refused = |what: &str| Error::input(url, what);
        let parsed: ureq::http::Uri = url.parse().map_err(|_| refused("it is not a URL"))?;
        if !matches!(parsed.scheme_str(), Some("http" | "https")) || parsed.host().is_none() {
            return Err(refused("expected the URL of a service, such as http://127.0.0.1:7227"));
        }
        if parsed.scheme_str() == Some("https") && !cfg!(feature = "tls") {
            let refusal = Refusal::unsupported("https", "tls", "cento-client");
            return Err(Error::input(url, refusal));
        }
        if token.is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err(refused("the token contains characters that are not allowed"));
        }
        let config = |read_timeout| {
            let config = Agent::config_builder()
                .http_status_as_error(false)
                .proxy(None)
                .max_redirects(0)
                .timeout_connect(Some(CONNECT_TIMEOUT))
                .timeout_per_read(read_timeout)
                .timeout_per_write(Some(ANSWER_TIMEOUT))
                .user_agent(concat!("cento/", env!("CARGO_PKG_VERSION")));
            trusting_the_system(config).build()
        };
        Ok(Client {
            agent: Agent::new_with_config(config(Some(ANSWER_TIMEOUT))),
            patient: Agent::new_with_config(config(None)),
            url: url.trim_end_matches('/').to_owned(),
            authorization: token.map(|token| format!("Bearer {token}")),
        })
    }

    /// Finds the documents that share text with a query.
    ///
    /// # Errors
    /// Here and below: when the service cannot be reached, or refuses the request
    /// ([`Error::Service`]).
    pub fn search(&self, request: &SearchRequest) -> Result<Answer> {
        self.post("/v1/search", json(request)?)
    }

    /// Searches for several queries in a single request. Returns the answer to each query.
    ///
    /// # Errors
    /// When the batch as a whole is refused.
    pub fn search_all(&self, requests: &[SearchRequest]) -> Result<Vec<Result<Answer>>> {
        let mut lines = Vec::new();
        for request in requests {
            serde_json::to_writer(&mut lines, request).map_err(unwritable)?;
            lines.push(b'\n');
        }
        let answers = self.ask("POST", "/v1/search", &Load::Lines(&lines))?;
        let lines = answers.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let answers: Vec<Result<Answer>> = lines
            .map(|line| match serde_json::from_slice::<ErrorBody>(line) {
                Ok(body) => Err(self.refused(body)),
                Err(_) => self.parse(line),
            })
            .collect();
        if answers.len() == requests.len() { Ok(answers) } else { Err(self.unexpected()) }
    }

    /// Reports how much of a document is reused, as an HTML file.
    ///
    /// # Errors
    /// As [`search`](Self::search), and when the answer is not text.
    pub fn report(&self, request: &ReportRequest) -> Result<String> {
        let html = self.ask("POST", "/v1/report", &json(request)?)?;
        String::from_utf8(html).map_err(|_| self.unexpected())
    }

    /// Reports which of a handful of documents are most alike, and where, as an HTML file.
    ///
    /// # Errors
    /// As [`report`](Self::report).
    pub fn pairs_report(&self, request: &PairsReportRequest) -> Result<String> {
        let html = self.ask("POST", "/v1/pairs/report", &json(request)?)?;
        String::from_utf8(html).map_err(|_| self.unexpected())
    }

    /// Compares two documents.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn compare(&self, request: &CompareRequest) -> Result<CompareResponse> {
        self.post("/v1/compare", json(request)?)
    }

    /// Shows the passages that a query shares with a stored document.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn passages(&self, request: &PassagesRequest) -> Result<PassagesResponse> {
        self.post("/v1/passages", json(request)?)
    }

    /// Compares a few documents pairwise.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn pairs(&self, request: &PairsRequest) -> Result<PairsResponse> {
        self.post("/v1/pairs", json(request)?)
    }

    /// Adds a document.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn add(&self, document: &DocumentBody, commit: Commit) -> Result<AddResponse> {
        self.post(&with(commit, "/v1/documents"), json(document)?)
    }

    /// Adds a document of parts.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn add_of_parts(&self, document: &DocumentOfParts, commit: Commit) -> Result<AddResponse> {
        self.post(&with(commit, "/v1/documents"), json(document)?)
    }

    /// Adds documents, one per line of JSON.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn add_lines(&self, lines: &[u8], commit: Commit) -> Result<AddResponse> {
        self.post(&with(commit, "/v1/documents"), Load::Lines(lines))
    }

    /// Adds the documents in files, with ids from the names of the files. The response lists the
    /// files and records that could not be read.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn add_files(&self, files: &[FileBody<'_>], commit: Commit) -> Result<AddResponse> {
        self.post(&with(commit, "/v1/documents"), Load::Files(Multipart::new(files, None)))
    }

    /// Finds the documents that share text with the documents in files. The request must have
    /// neither text nor id.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn search_files(
        &self,
        files: &[FileBody<'_>],
        request: &SearchRequest,
    ) -> Result<SearchFilesResponse> {
        self.post("/v1/search", self.files(files, request)?)
    }

    /// Compares two files, in parts `a` and `b`, or a single file with the text or the document
    /// that `request` names.
    ///
    /// # Errors
    /// As [`search`](Self::search), and when a file does not contain exactly one text.
    pub fn compare_files(
        &self,
        files: &[FileBody<'_>],
        request: &CompareRequest,
    ) -> Result<CompareResponse> {
        self.post("/v1/compare", self.files(files, request)?)
    }

    /// Compares the documents in files pairwise, and with the documents of the request.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn pairs_of_files(
        &self,
        files: &[FileBody<'_>],
        request: &PairsRequest,
    ) -> Result<PairsResponse> {
        self.post("/v1/pairs", self.files(files, request)?)
    }

    fn files<T: Serialize>(&self, files: &[FileBody<'_>], request: &T) -> Result<Load<'static>> {
        let request = serde_json::to_vec(request).map_err(unwritable)?;
        Ok(Load::Files(Multipart::new(files, Some(&request))))
    }

    /// Commits all additions and removals.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn commit(&self) -> Result<CommitResponse> {
        self.post("/v1/commit", Load::Nothing)
    }

    /// Merges segments of the index.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn compact(&self, request: &CompactRequest) -> Result<CompactResponse> {
        self.post(COMPACT, json(request)?)
    }

    /// Merges finished indexes from the shard directory of the service, all indexes or none.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn merge(&self, request: &MergeRequest) -> Result<AddedIndexes> {
        self.post(MERGE, json(request)?)
    }

    /// Returns the size of the index.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn stats(&self) -> Result<StatsResponse> {
        self.parse(&self.ask("GET", "/v1/stats", &Load::Nothing)?)
    }

    /// Returns whether the service is running, and since when.
    ///
    /// # Errors
    /// When the service is not running.
    pub fn health(&self) -> Result<Health> {
        self.parse(&self.ask("GET", "/healthz", &Load::Nothing)?)
    }

    /// Sends a single request, and waits no longer than `timeout` for the answer.
    ///
    /// # Errors
    /// When there is no answer within that time, or the answer is negative.
    pub fn probe(&self, probe: Probe, timeout: Duration) -> Result<Health> {
        let path = match probe {
            Probe::Alive => "/healthz",
            Probe::Ready => "/readyz",
        };
        let request = self.agent.get(format!("{}{path}", self.url));
        let sent = request.config().timeout_global(Some(timeout)).build().call();
        let mut response = sent.map_err(|e| self.unreachable(e))?;
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let body = body.map_err(|e| self.unreachable(e))?;
        if response.status().is_success() { self.parse(&body) } else { Err(self.refusal(&body)) }
    }

    pub(crate) fn post<T: DeserializeOwned>(&self, path: &str, load: Load<'_>) -> Result<T> {
        self.parse(&self.ask("POST", path, &load)?)
    }

    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.parse(&self.ask("GET", path, &Load::Nothing)?)
    }

    pub(crate) fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.parse(&self.ask("DELETE", path, &Load::Nothing)?)
    }

    fn parse<T: DeserializeOwned>(&self, json: &[u8]) -> Result<T> {
        serde_json::from_slice(json).map_err(|_| self.unexpected())
    }

    /// Returns the body of the answer from a service that may be busy at first.
    fn ask(&self, method: &str, path: &str, load: &Load<'_>) -> Result<Vec<u8>> {
        let until = Instant::now() + PATIENCE;
        loop {
            let mut response = self.send(method, path, load)?;
            let status = response.status();
            let pause = retry_after(&response);
            let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
            let body = body.map_err(|e| self.unreachable(e))?;
            if status.is_success() {
                return Ok(body);
            }
            match pause {
                // The pause may be long, because the service, or a proxy instead of it, chooses the
                // pause.
                Some(pause) if pause < until.saturating_duration_since(Instant::now()) => {
                    std::thread::sleep(pause);
                }
                _ => return Err(self.refusal(&body)),
            }
        }
    }

    fn send(&self, method: &str, path: &str, load: &Load<'_>) -> Result<Response<Body>> {
        let url = format!("{}{path}", self.url);
        let (kind, body) = match load {
            Load::Nothing => (None, &[][..]),
            Load::Json(json) => (Some("application/json"), &json[..]),
            Load::Lines(lines) => (Some("application/x-ndjson"), *lines),
            Load::Files(files) => (Some(files.content_type()), files.body()),
        };
        let sent = if method == "GET" || method == "DELETE" {
            let mut request = match method {
                "GET" => self.agent.get(url),
                _ => self.agent.delete(url),
            };
            if let Some(authorization) = &self.authorization {
                request = request.header(header::AUTHORIZATION, authorization);
            }
            request.call()
        } else {
            let agent = if [COMPACT, MERGE, WITHDRAWALS, FAMILIES, LINEAGE].contains(&path) {
                &self.patient
            } else {
                &self.agent
            };
            let mut request = match method {
                "PATCH" => agent.patch(url),
                _ => agent.post(url),
            };
            if let Some(authorization) = &self.authorization {
                request = request.header(header::AUTHORIZATION, authorization);
            }
            if let Some(kind) = kind {
                request = request.header(header::CONTENT_TYPE, kind);
            }
            if body.len() > ASKED_FIRST_BYTES {
                request = request.header(header::EXPECT, "100-continue");
            }
            request.send(body)
        };
        sent.map_err(|e| self.unreachable(e))
    }

    fn unreachable(&self, error: ureq::Error) -> Error {
        let is_certificate = is_about_certificates(&error);
        let source = match error {
            _ if is_certificate => Refusal::new(Reason::Certificate, error.to_string()).into(),
            ureq::Error::Io(error) => error,
            other => io::Error::other(other),
        };
        let action = match source.kind() {
            io::ErrorKind::ConnectionRefused => "connect to",
            _ => "ask",
        };
        Error::io(action, &self.url, source)
    }

    fn refusal(&self, body: &[u8]) -> Error {
        let refusal = serde_json::from_slice(body);
        refusal.map_or_else(|_| self.unexpected(), |body| self.refused(body))
    }

    fn refused(&self, body: ErrorBody) -> Error {
        let ErrorInfo { code, message, argument, feature, field, .. } = body.error;
        let detail = argument.or(feature).or(field);
        Error::Service { url: self.url.clone(), code, detail, message }
    }

    /// Returns the URL of the service.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the error for an answer that no service of this version gives.
    #[must_use]
    pub fn unexpected(&self) -> Error {
        let message = "the answer is not that of a cento service of this version; check the URL \
                       and both versions";
        let code = "unexpected".into();
        Error::Service { url: self.url.clone(), code, detail: None, message: message.into() }
    }
}

/// Returns whether a connection failed because of a certificate, or because there are no
/// authorities to check certificates.
#[doc(hidden)]
#[must_use]
#[cfg(feature = "tls")]
pub fn is_about_certificates(error: &ureq::Error) -> bool {
    // The verifier returns `General` if it has no authorities.
    let is_one = |error: &rustls::Error| {
        matches!(error, rustls::Error::InvalidCertificate(_) | rustls::Error::General(_))
    };
    match error {
        ureq::Error::Io(error) => {
            let held = error.get_ref().and_then(|held| held.downcast_ref::<rustls::Error>());
            held.is_some_and(is_one)
        }
        ureq::Error::Rustls(error) => is_one(error),
        _ => false,
    }
}

/// Without TLS no connection has a certificate.
#[doc(hidden)]
#[must_use]
#[cfg(not(feature = "tls"))]
pub fn is_about_certificates(_: &ureq::Error) -> bool {
    false
}

/// Returns how long a busy service asks clients to wait.
fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let is_busy = matches!(
        response.status(),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    );
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    is_busy.then(|| Duration::from_secs(seconds))
}

pub(crate) fn json<T: Serialize>(value: &T) -> Result<Load<'static>> {
    serde_json::to_vec(value).map(Load::Json).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::internal("a request", format!("it cannot be written as JSON: {error}"))
}

fn with(commit: Commit, path: &str) -> String {
    match commit {
        Commit::Auto => path.to_owned(),
        Commit::Wait => format!("{path}?commit=wait"),
    }
}

/// Returns the id as a segment of a path.
pub(crate) fn percent_encoded(id: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    id.bytes().map(encode).collect()
}
