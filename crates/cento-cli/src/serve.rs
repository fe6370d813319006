//! `cento serve` offers indexes over HTTP.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::civil::Time;
use tracing_subscriber::EnvFilter;

use super::extract::{ReaderArgs, source_options};
use super::key;
use super::lock_holder;
use super::memory;
use super::parse::{parse_count, parse_duration, parse_listen, parse_size, parse_threads};
use super::store;
use super::terminal::{self, note, printable, tell};
use super::{Result, VerbFailure, VerbOutcome};
use super::{config, signals, tokens};
use cento::scheme::frequency::FrequencyTable;
use cento::{Error, Refusal, Stop};
use cento_client::WebhookClient;
use cento_remote::{Mirror, Watch};
use cento_serve::{DEFAULT_PORT, IpNet, Origins, Poster, Service, Settings, Tokens};
use cento_serve::{Follow, Newest, Upstream};
use cento_source::SourceOptions;

/// Serve an index over HTTP, with a page for the browser.
///
/// The page is at /, and /openapi.json describes the API. SIGTERM or Ctrl-C finishes the requests
/// in progress and commits all documents that the service has acknowledged. A second signal stops
/// the service immediately.
///
/// With --follow, the service is a copy of an index that you write elsewhere and push to an object
/// store. It fetches each new push, switches to it without failing a request, and rejects writes.
/// Any number of such followers can serve one index.
#[derive(Debug, Args)]
pub struct Serve {
    /// Directory of your index. With --follow: the directory of the copy, which nothing else may
    /// use.
    index: PathBuf,
    /// Directories of more indexes. The service searches all of them as one, writes to none of
    /// them, and sees what other processes commit.
    #[arg(value_name = "INDEX")]
    others: Vec<PathBuf>,
    /// Write nothing, because another process writes to the index, or because this process may only
    /// read it. The service sees new commits. Additions and removals get 403.
    #[arg(long, conflicts_with_all = ["compact_at", "shard_dir"])]
    read_only: bool,
    #[command(flatten)]
    follow: FollowArgs,
    /// Address or host name to listen on. An address other than loopback needs --tokens or
    /// --no-tokens.
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT)), value_parser = parse_listen)]
    listen: SocketAddr,
    /// File of access tokens, with a line `read NAME TOKEN`, `write NAME TOKEN` or `metrics NAME
    /// TOKEN` for each. Clients send the header `Authorization: Bearer TOKEN`. The service reads
    /// the file again when it changes, and after SIGHUP.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Disable authentication. Every client that can reach the address can then read and write.
    #[arg(long, conflicts_with = "tokens")]
    no_tokens: bool,
    /// Maximum time before acknowledged documents are committed, such as 500ms, 5s or 10m.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    commit_interval: Duration,
    /// Compact the index every day at this local time, such as 03:00.
    #[arg(long, value_name = "HH:MM", value_parser = parse_time, conflicts_with = "others")]
    compact_at: Option<Time>,
    /// Let clients that may write merge finished indexes in this directory (`cento merge --url`).
    /// Every user who can write to the directory decides which indexes are merged. Default: clients
    /// cannot merge.
    #[arg(long, value_name = "DIR", conflicts_with = "others")]
    shard_dir: Option<PathBuf>,
    /// Maximum size of a request body, and of the texts of its files together.
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = parse_size)]
    max_body: usize,
    /// Maximum number of searches in a batch.
    #[arg(long, value_name = "N", default_value = "1000")]
    max_batch: usize,
    /// Maximum number of concurrent requests. Any further request gets 429 with Retry-After.
    #[arg(long, value_name = "N", default_value = "256", value_parser = parse_count)]
    max_requests: usize,
    /// Maximum number of open connections.
    #[arg(long, value_name = "N", default_value = "1024", value_parser = parse_count)]
    max_connections: usize,
    /// Abort requests that take longer than this.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    timeout: Duration,
    /// Close a connection after it was idle for this time between two requests. A load balancer in
    /// front must close its connections sooner, because otherwise some of its requests fail.
    #[arg(long, value_name = "TIME", default_value = "75s", value_parser = parse_duration)]
    idle_timeout: Duration,
    /// Let the web pages of this origin, such as https://example.org, use the service with a token.
    /// Can be repeated. Default: only the pages of the service.
    #[arg(long = "cors-origin", value_name = "ORIGIN", value_delimiter = ',')]
    cors_origins: Vec<String>,
    /// Address or network of a proxy, such as 10.0.0.0/8, whose header X-Forwarded-For names the
    /// client in the log. Can be repeated.
    #[arg(long = "trusted-proxy", value_name = "CIDR", value_delimiter = ',', value_parser = parse_network)]
    trusted_proxies: Vec<IpNet>,
    /// Network such as 10.0.0.0/8 that is not public, where the service may post events of watches
    /// all the same. Can be repeated. Default: public addresses only.
    #[arg(long = "webhook-network", value_name = "CIDR", value_delimiter = ',', value_parser = parse_network)]
    webhook_networks: Vec<IpNet>,
    /// On shutdown, first keep answering requests for this time, while /readyz answers 503, so that
    /// a load balancer stops sending them. Default: stop accepting requests immediately.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    drain_time: Option<Duration>,
    /// On shutdown, maximum time to finish the requests in progress, and then merges. The service
    /// commits acknowledged documents however long that takes.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    shutdown_timeout: Duration,
    /// Memory for requests and for documents that are being added. Default: 512MiB, or less in a
    /// container or machine with less than 2.2 GiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<usize>,
    /// Number of threads that search. Default: the number of processors.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Frequency table of a collection, so that the measure cosine weights words by TF-IDF. `cento
    /// method train --run-length 1` makes it.
    #[arg(long, value_name = "FILE")]
    frequencies: Option<PathBuf>,
    #[command(flatten)]
    readers: ReaderArgs,
    /// Log every request, not only failures.
    #[arg(long)]
    log_requests: bool,
    /// Format of the log, which goes to standard error.
    #[arg(long, value_enum, default_value = "human")]
    log: LogFormat,
    /// Read options from this TOML file, under their names: `timeout = "10s"`, and `index` with a
    /// path or several. An option on the command line overrides a variable, and a variable
    /// overrides the file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the options in effect in the form of such a file, and exit.
    #[arg(long)]
    print_config: bool,
}

/// A token file to read again when its content changes.
struct TokenReload {
    path: PathBuf,
    tokens: Tokens,
    /// The file's content at the last read.
    known: Vec<u8>,
}

/// The store to follow, and how.
#[derive(Debug, Args)]
struct FollowArgs {
    /// Serve the index that was pushed to this object store: s3://BUCKET/PATH, file:///PATH and so
    /// on, as for `cento store pull`.
    #[arg(long = "follow", value_name = "URL", conflicts_with_all = ["compact_at", "others", "shard_dir", "read_only"])]
    url: Option<String>,
    /// With --follow: look for a new push after every interval of this length.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration, requires = "url")]
    follow_interval: Duration,
    /// With --follow: maximum size of the copy together with the new one beside it, which shares
    /// the unchanged files. If a push does not fit, the service does not take it and says so in the
    /// log.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "url")]
    cache_size: Option<usize>,
    /// With --follow: /readyz answers 503 if, for longer than this, the copy has been older than
    /// the store or the store has not answered.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "url")]
    max_lag: Option<Duration>,
}

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// Text for people.
    Human,
    /// JSON lines for programs, and nothing else.
    Json,
}

fn parse_time(text: &str) -> std::result::Result<Time, String> {
    Time::strptime("%H:%M", text).map_err(|_| "expected a time of day, such as 03:00".into())
}

/// Parses an address or a network.
fn parse_network(text: &str) -> std::result::Result<IpNet, String> {
    let address = text.parse::<IpAddr>().map(IpNet::from);
    let network = address.or_else(|_| text.parse());
    network.map_err(|_| "expected an address or a network, such as 192.0.2.1 or 10.0.0.0/8".into())
}

impl Serve {
    pub(super) fn run(self) -> Result {
        log_to_stderr(self.log, log_filter(std::env::var_os("CENTO_LOG"))?);
        for name in config::unknown_variables(&super::command()) {
            tracing::warn!("there is no variable {name}, and it is ignored");
        }
        match self.serve() {
            // With a JSON log, a plain line of text would break the program that reads the log.
            Err(VerbFailure::Cento(error)) if self.log == LogFormat::Json => {
                tracing::error!(%error, "cannot serve");
                Ok(VerbOutcome::Bad)
            }
            served => served,
        }
    }

    fn serve(&self) -> Result {
        if self.follow.url.is_some() {
            return self.serve_copy();
        }
        let (settings, reading) = self.settings()?;
        if self.read_only || !self.others.is_empty() {
            let stop = self.stop_flag("stopping", reading);
            let paths: Vec<PathBuf> =
                [&self.index].into_iter().chain(&self.others).cloned().collect();
            return self.run_until(Service::over(&paths, settings)?, stop);
        }
        let message = "stopping; acknowledged documents are being committed";
        let stop = self.stop_flag(message, reading);
        let service = Service::bind(&self.index, settings).map_err(|error| {
            let holder = match lock_holder::described(&self.index) {
                Some(holder) if matches!(error, Error::Locked { .. }) => format!("; {holder}"),
                _ => String::new(),
            };
            let what =
                format!("{error}{holder}; --read-only serves the index without writing to it");
            if needs_no_writer(&error) { Error::arguments(what) } else { error }
        });
        self.run_until(service?, stop)
    }

    /// Serves a copy of an index. The writer of the index is on a different machine.
    fn serve_copy(&self) -> Result {
        let (settings, reading) = self.settings()?;
        let stop = self.stop_flag("stopping", reading);
        let FollowArgs { url, follow_interval, cache_size, max_lag } = &self.follow;
        let remote = store::open(url.as_deref().expect("it is given"))?;
        let bytes_max = cache_size.map_or(u64::MAX, |size| size as u64);
        let mirror = Mirror::begin(remote, &self.index, bytes_max)?;
        let follow = Follow {
            dir: mirror.dir().to_owned(),
            upstream: Box::new(StoreCopies(mirror)),
            interval: *follow_interval,
            lag_max: *max_lag,
        };
        self.run_until(Service::follow(follow, settings)?, stop)
    }

    /// Returns a handle that a request to stop sets, and reports the request. A request to reload
    /// reads the tokens again.
    fn stop_flag(&self, message: &'static str, reading: Option<TokenReload>) -> Stop {
        let (ask, asked) = crossbeam::channel::bounded(1);
        let reload: Option<Box<dyn Fn() + Send>> =
            reading.map(|TokenReload { path, tokens, known }| {
                tokens::follow(path, tokens, known, asked);
                // A full channel already holds a request, so dropping this one loses nothing.
                Box::new(move || {
                    let _ = ask.try_send(());
                }) as Box<dyn Fn() + Send>
            });
        match self.log {
            LogFormat::Human => signals::stop_flag(move || note!("cento: {message}"), reload),
            LogFormat::Json => signals::stop_flag(move || tracing::info!("{message}"), reload),
        }
    }

    fn run_until(&self, service: Service, stop: Stop) -> Result {
        let address = service.address();
        tracing::info!(url = %format!("http://{address}"), index = %printable(&self.names()), "serving");
        service.run(stop)?;
        tracing::info!("stopped");
        Ok(VerbOutcome::Found)
    }

    /// Returns the names of the indexes, as given.
    fn names(&self) -> String {
        let paths = [&self.index].into_iter().chain(&self.others);
        paths.map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the service's settings, and the token file to watch.
    fn settings(&self) -> cento::Result<(Settings, Option<TokenReload>)> {
        let read = self.tokens.as_deref().map(tokens::read).transpose()?;
        let (tokens, known) = read.unwrap_or_default();
        let reading = self.tokens.clone();
        let reading = reading.map(|path| TokenReload { path, tokens: tokens.clone(), known });
        if !self.listen.ip().is_loopback() && tokens.is_empty() && !self.no_tokens {
            let what = format!(
                "without tokens, everybody who can reach {} could read and write; give \
                 --tokens FILE, or --no-tokens if that is intended",
                self.listen
            );
            return Err(Error::argument("tokens", what));
        }
        let origins = Origins::new(self.cors_origins.iter().map(String::as_str));
        let origins = origins.map_err(|what| Error::input("--cors-origin", what))?;
        if !origins.is_empty() && tokens.is_empty() {
            let what = "without tokens, pages of other sites could do everything; --cors-origin \
                        needs --tokens FILE";
            return Err(Error::argument("cors_origin", what));
        }
        let table = self.frequencies.as_deref().map(FrequencyTable::open).transpose()?;
        let defaults = Settings::default();
        let settings = Settings {
            listen: self.listen,
            tokens,
            body_bytes_max: self.max_body,
            batch_max: self.max_batch,
            requests_max: self.max_requests,
            connections_max: self.max_connections,
            timeout: self.timeout,
            idle_timeout: self.idle_timeout,
            cors_origins: origins,
            trusted_proxies: self.trusted_proxies.clone(),
            drain: self.drain_time.unwrap_or_default(),
            shutdown_timeout: self.shutdown_timeout,
            threads: self.threads.unwrap_or(defaults.threads),
            memory_bytes: memory::or_default_saying(self.memory, |said| tracing::warn!("{said}")),
            commit_interval: self.commit_interval,
            compact_at: self.compact_at,
            shard_dir: self.shard_dir.clone(),
            frequencies: table.map(Arc::new),
            key: key::given().cloned(),
            log_requests: self.log_requests,
            source: SourceOptions { readers: self.readers.readers(), ..source_options() },
            poster: Some(Arc::new(WebPoster::new(self.webhook_networks.clone()))),
            webhook_backoff: defaults.webhook_backoff,
            faults: defaults.faults,
        };
        Ok((settings, reading))
    }
}

/// The maximum time of a post to a webhook.
const POST_TIMEOUT: Duration = Duration::from_secs(10);

/// Posts events to public addresses and to the allowed private networks.
struct WebPoster(WebhookClient);

impl WebPoster {
    fn new(networks: Vec<IpNet>) -> WebPoster {
        let is_allowed = move |address| networks.iter().any(|one| one.contains(&address));
        WebPoster(WebhookClient::new(POST_TIMEOUT, is_allowed))
    }
}

impl Poster for WebPoster {
    fn check(&self, url: &str) -> std::result::Result<(), Refusal> {
        self.0.check(url)
    }

    fn post(
        &self,
        url: &str,
        header: &str,
        value: &str,
        body: &[u8],
    ) -> std::result::Result<u16, String> {
        self.0.post(url, header, value, body)
    }
}

/// Returns whether the error means that this process can only read the index.
fn needs_no_writer(error: &Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    match error {
        Error::Locked { .. } => true,
        // Ports below 1024 are denied too, and a service that only reads must read.
        Error::Io { action, source, .. } if !["listen on", "open", "read"].contains(action) => {
            matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem)
        }
        _ => false,
    }
}

/// The copies of an index in an object store, for a service.
struct StoreCopies(Mirror);

impl Upstream for StoreCopies {
    fn newest(&self, served: Option<u64>) -> cento::Result<Newest> {
        let (commit, is_restarted) = self.0.newest(served)?;
        Ok(Newest { commit, is_restarted })
    }

    fn present(&self) -> Option<(u64, PathBuf)> {
        self.0.present()
    }

    fn fetch(&self, commit: u64, served: Option<u64>, stop: &Stop) -> cento::Result<PathBuf> {
        self.0.fetch(commit, served, Watch { progress: &|_| {}, stop })
    }

    fn keep_only(&self, commit: u64) {
        self.0.keep_only(commit);
    }
}

/// The levels of the log.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Returns the filter that the variable `CENTO_LOG` sets. Default: `info` for cento, `warn` for
/// dependencies.
///
/// # Errors
/// When the value has a word that is no level. The library would take it for the name of a part,
/// and log nothing else.
fn log_filter(given: Option<OsString>) -> cento::Result<EnvFilter> {
    let Some(given) = given.filter(|given| !given.is_empty()) else {
        return Ok(EnvFilter::new("warn,cento=info"));
    };
    let given = given.to_string_lossy();
    let directives: Vec<&str> = given.split(',').map(str::trim).collect();
    let refused = |what: String| Error::input("CENTO_LOG", what);
    for directive in &directives {
        let level = directive.rsplit_once('=').map_or(*directive, |(_, level)| level);
        if !LEVELS.contains(&level.to_ascii_lowercase().as_str()) {
            return Err(refused(format!(
                "`{level}` is no level of the log; the levels are {}, and warn,cento=debug sets \
                 the level of one part",
                LEVELS.join(", ")
            )));
        }
    }
    EnvFilter::try_new(directives.join(",")).map_err(|error| refused(error.to_string()))
}

/// Starts the log.
fn log_to_stderr(format: LogFormat, filter: EnvFilter) {
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(terminal::err_has_colors());
    let set = match format {
        LogFormat::Human => log.try_init(),
        LogFormat::Json => {
            std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a defect")));
            log.json().flatten_event(true).try_init()
        }
    };
    if let Err(error) = set {
        tell!("cento: cannot start the log: {error}");
    }
}
