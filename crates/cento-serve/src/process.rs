//! Metrics of the process: processor time, memory and files.
//!
//! The metrics have the names that are usual for other programs, without a prefix. Resident memory
//! includes pages of mapped files, which the system takes back when necessary. Anonymous memory
//! cannot be taken back.

use std::fmt;
use std::time::{Duration, SystemTime};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

/// Reads the values from the system whenever the metrics are read.
#[derive(Debug)]
pub struct Process {
    started: SystemTime,
}

impl Process {
    /// Returns the metrics of this process, which has just started.
    pub fn new() -> Process {
        Process { started: SystemTime::now() }
    }
}

/// The values from Linux, or no values on other systems.
#[derive(Debug, Default)]
struct Usage {
    cpu: Option<Duration>,
    resident_bytes: Option<u64>,
    anonymous_bytes: Option<u64>,
    virtual_bytes: Option<u64>,
    threads: Option<u64>,
    files: Option<u64>,
    files_max: Option<u64>,
}

#[cfg(target_os = "linux")]
fn usage() -> Usage {
    use rustix::process::{Resource, getrlimit};
    use rustix::time::{ClockId, clock_gettime};

    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = |name| number(&status, name).and_then(|kib| kib.checked_mul(1 << 10));
    // One of the open files is the handle of the directory `fd`.
    let files = std::fs::read_dir("/proc/self/fd").ok();
    Usage {
        cpu: clock_gettime(ClockId::ProcessCPUTime).try_into().ok(),
        resident_bytes: kib("VmRSS:"),
        anonymous_bytes: kib("RssAnon:"),
        virtual_bytes: kib("VmSize:"),
        threads: number(&status, "Threads:"),
        files: files.map(|files| files.count().saturating_sub(1) as u64),
        files_max: getrlimit(Resource::Nofile).current,
    }
}

#[cfg(not(target_os = "linux"))]
fn usage() -> Usage {
    Usage::default()
}

/// Returns the memory of this process without mapped files, in KiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn anonymous_kib() -> Option<u64> {
    number(&std::fs::read_to_string("/proc/self/status").ok()?, "RssAnon:")
}

/// Returns the number in a line `NAME NUMBER`, which may end with a unit.
#[cfg(target_os = "linux")]
fn number(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let usage = usage();
        let started = self.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut write = |name: &str, help: &str, unit: Option<&Unit>, value: &dyn MetricValue| {
            value.encode(&mut encoder, name, help, unit)
        };
        if let Some(cpu) = usage.cpu {
            let value = ConstCounter::new(cpu.as_secs_f64());
            write("process_cpu", "Processor time used", Some(&Unit::Seconds), &value)?;
        }
        let help = "Time of the start of the process, since 1970";
        let value = ConstGauge::new(started.as_secs_f64());
        write("process_start_time", help, Some(&Unit::Seconds), &value)?;
        let anonymous = "Memory that only ending the process gives back: without mapped files";
        for (name, help, unit, value) in [
            (
                "process_resident_memory",
                "Memory in use, with pages of mapped files",
                Some(&Unit::Bytes),
                usage.resident_bytes,
            ),
            (
                "process_resident_anonymous_memory",
                anonymous,
                Some(&Unit::Bytes),
                usage.anonymous_bytes,
            ),
            (
                "process_virtual_memory",
                "Addresses in use, with all of mapped files",
                Some(&Unit::Bytes),
                usage.virtual_bytes,
            ),
            ("process_threads", "Threads", None, usage.threads),
            ("process_open_fds", "Open files and connections", None, usage.files),
            ("process_max_fds", "Limit of open files and connections", None, usage.files_max),
        ] {
            if let Some(value) = value {
                write(name, help, unit, &ConstGauge::new(value))?;
            }
        }
        Ok(())
    }
}

/// A value of a metric.
trait MetricValue {
    fn encode(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
    ) -> Result<(), fmt::Error>;
}

impl<T: EncodeMetric> MetricValue for T {
    fn encode(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
    ) -> Result<(), fmt::Error> {
        let kind = self.metric_type();
        EncodeMetric::encode(self, encoder.encode_descriptor(name, help, unit, kind)?)
    }
}
