//! `cento serve`

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::civil::Time;
use tracing_subscriber::EnvFilter;

use super::output::parse_bytes;
use super::progress::stop_flag_saying;
use super::terminal::{printable, tell};
use super::{Outcome, Result};
use cento::Error;
use cento::scheme::frequency::FrequencyTable;
use cento_serve::{DEFAULT_PORT, Service, Settings, Tokens};

/// Answer queries and take documents over HTTP.
///
/// The API is documented at /openapi.json, and / is a page for people. SIGTERM or Ctrl-C finish what
/// has been begun and commit what has been acknowledged; a second time ends at once.
#[derive(Debug, Args)]
pub struct Serve {
    /// The directory of the index.
    index: PathBuf,
    /// Where to listen; beyond the loopback address only with --tokens.
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT)))]
    listen: SocketAddr,
    /// A file with a line `read TOKEN` or `write TOKEN` for each who may: send it as `Authorization:
    /// Bearer TOKEN`.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Let everybody who reaches the address read and write.
    #[arg(long, conflicts_with = "tokens")]
    no_tokens: bool,
    /// Commit what has been acknowledged within this time, such as 500ms, 5s or 10m.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    commit_interval: Duration,
    /// Compact every day at this time, by the local clock, such as 03:00.
    #[arg(long, value_name = "HH:MM", value_parser = parse_time)]
    compact_at: Option<Time>,
    /// Refuse larger bodies.
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = parse_bytes)]
    max_body: usize,
    /// Refuse batches of more searches.
    #[arg(long, value_name = "N", default_value = "1000")]
    max_batch: usize,
    /// Answer at most so many requests at a time; others are told to come back.
    #[arg(long, value_name = "N", default_value = "256")]
    max_requests: usize,
    /// Keep at most so many connections open.
    #[arg(long, value_name = "N", default_value = "1024")]
    max_connections: usize,
    /// Give up a request after this time.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    timeout: Duration,
    /// When told to stop, finish requests that have been begun within this time, and then merges; what has
    /// been acknowledged is committed however long that takes.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    grace: Duration,
    /// Memory for requests and for documents on their way into the index.
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = parse_bytes)]
    memory: usize,
    /// Threads that search; as many as there are processors if not given.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// A table by `cento train -q 1` of a collection: the measure cosine then weighs words by TF-IDF.
    #[arg(long, value_name = "FILE")]
    collection: Option<PathBuf>,
    /// Log every request, not only what goes wrong.
    #[arg(long)]
    log_requests: bool,
    /// The form of the log, which goes to standard error.
    #[arg(long, value_enum, default_value = "human")]
    log: LogFormat,
}

/// The form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// For people.
    Human,
    /// For programs: one JSON object a line.
    Json,
}

/// A time of the day that was typed.
fn parse_time(text: &str) -> std::result::Result<Time, String> {
    Time::strptime("%H:%M", text).map_err(|_| "give a time of the day, such as 03:00".into())
}

/// A time that was typed.
fn parse_duration(text: &str) -> std::result::Result<Duration, String> {
    let refused = "give a time, such as 500ms, 5s or 10m";
    let span: jiff::SignedDuration = text.parse().map_err(|_| refused)?;
    match Duration::try_from(span) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(refused.into()),
    }
}

impl Serve {
    pub(super) fn run(self) -> Result {
        let stop = stop_flag_saying("stopping; what has been acknowledged is committed");
        log_to_stderr(self.log);
        let settings = self.settings()?;
        let service = Service::bind(&self.index, settings)?;
        let address = service.address();
        tracing::info!(url = %format!("http://{address}"), index = %printable(&self.index.to_string_lossy()), "serving");
        service.run(stop)?;
        tracing::info!("stopped");
        Ok(Outcome::Found)
    }

    fn settings(&self) -> cento::Result<Settings> {
        let tokens = match &self.tokens {
            None => Tokens::default(),
            Some(path) => {
                let text = std::fs::read_to_string(path);
                let text = text.map_err(|e| Error::io("read", path, e))?;
                Tokens::parse(&text, &path.display().to_string())?
            }
        };
        if !self.listen.ip().is_loopback() && tokens.is_empty() && !self.no_tokens {
            let what = format!(
                "everybody who reaches {} could read and write; say with --tokens who may, or \
                 --no-tokens if that is meant",
                self.listen
            );
            return Err(Error::Query { what });
        }
        let table = self.collection.as_deref().map(FrequencyTable::open).transpose()?;
        let defaults = Settings::default();
        Ok(Settings {
            listen: self.listen,
            tokens,
            body_bytes_max: self.max_body,
            batch_max: self.max_batch,
            requests_max: self.max_requests,
            connections_max: self.max_connections,
            timeout: self.timeout,
            grace: self.grace,
            threads: self.threads.unwrap_or(defaults.threads),
            memory_bytes: self.memory,
            commit_interval: self.commit_interval,
            compact_at: self.compact_at,
            collection: table.map(Arc::new),
            log_requests: self.log_requests,
            faults: defaults.faults,
        })
    }
}

/// What is told of is what `CENTO_LOG` says, by default `info` of cento and `warn` of what it uses.
fn log_to_stderr(format: LogFormat) {
    let filter = EnvFilter::try_from_env("CENTO_LOG");
    let filter = filter.unwrap_or_else(|_| EnvFilter::new("warn,cento=info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let set = match format {
        LogFormat::Human => log.try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    if let Err(error) = set {
        tell!("cento: no log: {error}");
    }
}
