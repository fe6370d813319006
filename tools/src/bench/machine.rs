//! Describes the machine and the state of the source.

use std::fs;
use std::process::Command;

use super::record::Machine;
use crate::Result;

/// Describes this machine. `command` is the command line that repeats the run.
pub fn describe(command: String) -> Result<Machine> {
    let processors = read("/proc/cpuinfo")?;
    let model = value(&processors, "model name").or_else(|| value(&processors, "Model"));
    let memory = read("/proc/meminfo")?;
    let total = value(&memory, "MemTotal").and_then(|total| total.split(' ').next()?.parse().ok());
    let kib: f64 = total.ok_or("/proc/meminfo has no MemTotal")?;
    let load = read("/proc/loadavg")?;
    let load = load.split(' ').next().and_then(|load| load.parse().ok());
    Ok(Machine {
        processor: model.unwrap_or_else(|| std::env::consts::ARCH.into()),
        cores: std::thread::available_parallelism()?.get(),
        memory_gib: (kib / (1 << 20) as f64 * 10.0).round() / 10.0,
        kernel: format!("Linux {}", read("/proc/sys/kernel/osrelease")?.trim()),
        load: load.ok_or("/proc/loadavg has no load")?,
        commit: commit()?,
        date: cento::tantivy::time::OffsetDateTime::now_utc().date().to_string(),
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.into(),
        command,
    })
}

/// Returns the commit, with a remark if files other than the results have changed since.
fn commit() -> Result<String> {
    let git = |args: &[&str]| -> Result<String> {
        let output = Command::new("git").args(args).output()?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().into()),
            false => Err(format!("git {} failed: {}", args.join(" "), output.status).into()),
        }
    };
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let results = [":!docs/BENCHMARKS.md", ":!tools/bench.json"];
    let changed = git(&["status", "--porcelain", "--", ".", results[0], results[1]])?;
    Ok(if changed.is_empty() { commit } else { format!("{commit} with changes") })
}

fn read(path: &str) -> Result<String> {
    Ok(fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?)
}

fn value(text: &str, name: &str) -> Option<String> {
    let mut values = text.lines().filter_map(|line| line.split_once(':'));
    let found = values.find(|(key, _)| key.trim() == name);
    found.map(|(_, value)| value.trim().into())
}
