//! Metrics of a running service.
//!
//! The format is OpenMetrics, which `exposition` converts to the classic format. Names do not
//! change, because dashboards and alerts depend on them.

use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::process::Process;
use cento::index::Stats;
use cento::search::Answer;
use cento::segment::FORMAT_VERSION;

/// The labels of requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: String,
    status: u16,
}

/// The labels of requests with a token.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TokenName {
    token: String,
}

/// The labels of received documents.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ArrivalLabels {
    outcome: &'static str,
}

/// The labels of builds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BuildLabels {
    version: &'static str,
    format: u32,
}

/// The labels of bytes of an index.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct IndexPartLabels {
    of: &'static str,
}

type Seconds = Histogram;

pub struct Metrics {
    registry: Registry,
    /// Metrics without the prefix `cento`.
    process: Registry,
    requests: Family<RequestLabels, Seconds, fn() -> Seconds>,
    tokens: Family<TokenName, Counter>,
    postings: Counter,
    stopped: Counter,
    arrived: Family<ArrivalLabels, Counter>,
    merges: Counter,
    commits: Seconds,
    /// Compactions that have succeeded.
    pub compactions: Counter,
    /// Acknowledged documents that could not be committed.
    pub lost: Counter,
    /// Requests between arrival and answer.
    pub in_flight: Gauge,
    /// Computations in progress, including abandoned requests.
    pub computations: Gauge,
    /// Computations stopped because the client had gone or the time was over.
    pub stopped_computations: Counter,
    /// The number of open connections.
    pub connections: Gauge,
    /// Connections refused beyond the maximum number.
    pub turned_away: Counter,
    /// Requests with changes waiting for the writer.
    pub queue_requests: Gauge,
    /// The bytes of requests waiting for the writer.
    pub queue_bytes: Gauge,
    /// Documents changed since the last commit.
    pub uncommitted: Gauge<u64, AtomicU64>,
    /// Documents in the index.
    pub documents: Gauge<u64, AtomicU64>,
    /// Removed or replaced documents that still take space.
    pub deleted: Gauge<u64, AtomicU64>,
    /// Segments of the index.
    pub segments: Gauge<u64, AtomicU64>,
    bytes: Family<IndexPartLabels, Gauge<u64, AtomicU64>>,
    last_commit: Gauge<f64, AtomicU64>,
    /// 1 while `/readyz` answers 200, otherwise 0.
    pub ready: Gauge,
    /// 1 while a compaction is in progress.
    pub compacting: Gauge,
    /// Failures to follow, for a follower.
    pub follow_failures: Counter,
    manifest: Gauge<u64, AtomicU64>,
    manifest_newest: Gauge<u64, AtomicU64>,
    follow_lag: Gauge<f64, AtomicU64>,
    follow_unseen: Gauge<f64, AtomicU64>,
    store_restarted: Gauge,
}

/// A computation in progress, until dropped.
struct Computing(Gauge);

impl Drop for Computing {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Returns buckets from 50 microseconds to 26 seconds, doubling in size.
fn seconds() -> Seconds {
    Histogram::new(exponential_buckets(0.000_05, 2.0, 20))
}

impl Metrics {
    /// Returns metrics with all counts at zero.
    pub fn new() -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("cento"),
            process: Registry::default(),
            requests: Family::new_with_constructor(seconds),
            tokens: Family::default(),
            postings: Counter::default(),
            stopped: Counter::default(),
            arrived: Family::default(),
            merges: Counter::default(),
            commits: seconds(),
            compactions: Counter::default(),
            lost: Counter::default(),
            in_flight: Gauge::default(),
            computations: Gauge::default(),
            stopped_computations: Counter::default(),
            connections: Gauge::default(),
            turned_away: Counter::default(),
            queue_requests: Gauge::default(),
            queue_bytes: Gauge::default(),
            uncommitted: Gauge::default(),
            documents: Gauge::default(),
            deleted: Gauge::default(),
            segments: Gauge::default(),
            bytes: Family::default(),
            last_commit: Gauge::default(),
            ready: Gauge::default(),
            compacting: Gauge::default(),
            follow_failures: Counter::default(),
            manifest: Gauge::default(),
            manifest_newest: Gauge::default(),
            follow_lag: Gauge::default(),
            follow_unseen: Gauge::default(),
            store_restarted: Gauge::default(),
        };
        metrics.register();
        metrics
    }

    /// Returns metrics that include the metrics of a follower.
    pub fn of_follower() -> Metrics {
        let mut metrics = Metrics::new();
        let of = &mut metrics.registry;
        of.register("manifest", "Manifest that is served", metrics.manifest.clone());
        let help = "Newest manifest that is known";
        of.register("manifest_newest", help, metrics.manifest_newest.clone());
        let help = "Time since a newer manifest than the one that is served has been known";
        of.register_with_unit("follow_lag", help, Unit::Seconds, metrics.follow_lag.clone());
        let help = "Time since the store last said which manifest is newest";
        of.register_with_unit("follow_unseen", help, Unit::Seconds, metrics.follow_unseen.clone());
        let help = "1 if the served commit is not in the store any more, else 0";
        of.register("store_restarted", help, metrics.store_restarted.clone());
        let help = "Failures to look for a newer manifest, or to fetch it";
        of.register("follow_failures", help, metrics.follow_failures.clone());
        metrics
    }

    /// Records the progress of a follower: the numbers of the served and the newest commit, how
    /// long the served commit has not been the newest, how long the upstream has been silent, and
    /// whether it began anew.
    pub fn follows(
        &self,
        served: u64,
        newest: u64,
        lag: Duration,
        unseen: Duration,
        is_restarted: bool,
    ) {
        self.manifest.set(served);
        self.manifest_newest.set(newest);
        self.follow_lag.set(lag.as_secs_f64());
        self.follow_unseen.set(unseen.as_secs_f64());
        self.store_restarted.set(is_restarted.into());
    }

    fn register(&mut self) {
        self.process.register_collector(Box::new(Process::new()));
        let of = &mut self.registry;
        let build = Family::<BuildLabels, Gauge>::default();
        let own = BuildLabels { version: env!("CARGO_PKG_VERSION"), format: FORMAT_VERSION.into() };
        build.get_or_create(&own).set(1);
        of.register("build_info", "The version that runs, always 1", build);
        let help = "Time from the head of a request to the head of its answer";
        of.register_with_unit("request_duration", help, Unit::Seconds, self.requests.clone());
        of.register("token_requests", "Requests by the name of their token", self.tokens.clone());
        of.register("postings", "Postings read by searches", self.postings.clone());
        let help = "Stop-fingerprints in queries";
        of.register("fingerprints_stopped", help, self.stopped.clone());
        let help = "Documents received, by result";
        of.register("documents_received", help, self.arrived.clone());
        of.register("segments_merged", "Segments merged into others", self.merges.clone());
        let help = "Time taken by commits";
        of.register_with_unit("commit_duration", help, Unit::Seconds, self.commits.clone());
        of.register("compactions", "Compactions that succeeded", self.compactions.clone());
        let help = "Acknowledged documents that could not be committed";
        of.register("documents_lost", help, self.lost.clone());
        of.register("requests_in_flight", "Requests in progress", self.in_flight.clone());
        let help = "Computations in progress, including those of requests that have ended";
        of.register("computations", help, self.computations.clone());
        let help = "Computations that were stopped because their request had ended";
        of.register("computations_stopped", help, self.stopped_computations.clone());
        of.register("connections", "Open connections", self.connections.clone());
        let help = "Connections that were refused";
        of.register("connections_turned_away", help, self.turned_away.clone());
        let help = "Requests with changes that wait for the writer";
        of.register("ingest_queue_requests", help, self.queue_requests.clone());
        let help = "Bytes of the requests with changes that wait for the writer";
        of.register("ingest_queue_bytes", help, self.queue_bytes.clone());
        let help = "Documents changed since the last commit";
        of.register("documents_uncommitted", help, self.uncommitted.clone());
        of.register("documents", "Documents in the index", self.documents.clone());
        let help = "Documents removed or replaced that still use space";
        of.register("documents_deleted", help, self.deleted.clone());
        of.register("segments", "Segments in the index", self.segments.clone());
        let help = "Bytes of the index on disk";
        of.register_with_unit("index", help, Unit::Bytes, self.bytes.clone());
        let help = "Time since 1970 of the commit or merge that searches see";
        of.register_with_unit(
            "last_commit_timestamp",
            help,
            Unit::Seconds,
            self.last_commit.clone(),
        );
        of.register("ready", "1 if /readyz answers 200, else 0", self.ready.clone());
        of.register("compacting", "1 while a compaction runs, else 0", self.compacting.clone());
    }

    /// Counts a computation as in progress until the returned value is dropped.
    pub fn computing(&self) -> impl Drop + Send + use<> {
        self.computations.inc();
        Computing(self.computations.clone())
    }

    /// Counts an answered request.
    pub fn answered(&self, route: &str, method: &str, status: u16, took: Duration) {
        let labels = RequestLabels { route: route.into(), method: method.into(), status };
        self.requests.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// Counts a request with the token of this name.
    pub fn known_token(&self, name: &str) {
        self.tokens.get_or_create(&TokenName { token: name.into() }).inc();
    }

    /// Counts the work of a search.
    pub fn searched(&self, answer: &Answer) {
        self.postings.inc_by(answer.query.postings);
        self.stopped.inc_by(answer.query.stopped.into());
    }

    /// Counts received documents by outcome.
    pub fn arrived(&self, outcome: &'static str, documents: u64) {
        if documents > 0 {
            self.arrived.get_or_create(&ArrivalLabels { outcome }).inc_by(documents);
        }
    }

    /// Records the duration of a commit.
    pub fn committed(&self, took: Duration) {
        self.commits.observe(took.as_secs_f64());
    }

    /// Sets the total number of merged segments.
    pub fn merged(&self, segments: u64) {
        self.merges.inc_by(segments.saturating_sub(self.merges.get()));
    }

    /// Records the size of the searched index, and the time of its commit.
    pub fn publishes(&self, stats: &Stats, committed: Option<SystemTime>) {
        self.documents.set(stats.documents);
        self.deleted.set(stats.deleted);
        self.segments.set(stats.segments as u64);
        let bytes = &stats.bytes;
        for (of, bytes) in
            [("signatures", bytes.signatures), ("text", bytes.text), ("other", bytes.other)]
        {
            self.bytes.get_or_create(&IndexPartLabels { of }).set(bytes);
        }
        let since = committed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        if let Some(since) = since {
            self.last_commit.set(since.as_secs_f64());
        }
    }

    /// Returns all metrics as text, in OpenMetrics.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let written = encode_registry(&mut text, &self.registry)
            .and_then(|()| encode_registry(&mut text, &self.process))
            .and_then(|()| encode_eof(&mut text));
        written.expect("a string takes every text");
        text
    }
}
