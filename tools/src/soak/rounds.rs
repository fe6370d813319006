//! Consecutive runs of the service: disturbances, and the end of every run.

use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::Soak;
use super::clock::FakeClock;
use super::curve::Curve;
use super::reader::Reader;
use super::requests::Statuses;
use super::settle::settle;
use super::writer::Writer;
use crate::Result;
use crate::service::Running;

/// The largest file system that is filled, in bytes.
const FILLED_BYTES_MAX: u64 = 8_000_000_000;

/// How a run of the service ends.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Killed,
    Terminated,
    /// Terminated, and the index is replaced by a copy that went through a store.
    Exchanged,
}

/// How often each thing happened.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    killed: u64,
    terminated: u64,
    exchanged: u64,
    filled: u64,
    jumps: u64,
}

/// Runs of the service with one index.
pub struct Rounds<'a> {
    options: &'a Soak,
    index: PathBuf,
    clock: FakeClock,
    rng: Rng,
    statuses: Statuses,
    tally: Tally,
    pub curve: Curve,
}

impl<'a> Rounds<'a> {
    /// Creates an empty index.
    pub fn new(options: &'a Soak, rng: Rng) -> Result<Rounds<'a>> {
        fs::create_dir_all(&options.work)?;
        let index = options.work.join("soak.idx");
        let _ = fs::remove_dir_all(&index);
        let (clock, curve) = (FakeClock::new(&options.work)?, Curve::new(&index));
        let (statuses, tally) = (Statuses::default(), Tally::default());
        let rounds = Rounds { options, index, clock, rng, statuses, tally, curve };
        rounds.must(&["create", &rounds.index.to_string_lossy()])?;
        Ok(rounds)
    }

    /// Runs the service for this time with all clients, ends it, and compares the index with what
    /// the writers know. The last run ends without a kill.
    pub fn run(
        &mut self,
        time: Duration,
        is_last: bool,
        writers: &mut [Writer],
        readers: &mut [Reader],
    ) -> Result {
        self.curve.begin_round(is_last);
        let ending = match self.rng.u8(..4) {
            _ if is_last => Ending::Terminated,
            0 | 1 => Ending::Killed,
            2 => Ending::Terminated,
            _ => Ending::Exchanged,
        };
        let args = ["--commit-interval", "100ms", "--memory", "64MiB"];
        let environment = self.clock.environment();
        let mut service =
            Running::start_with(&self.options.cento, &self.index, &args, &environment)?;
        self.with_clients(&mut service, time, ending, writers, readers)?;
        match ending {
            Ending::Killed => self.tally.killed += 1,
            Ending::Terminated => self.tally.terminated += 1,
            Ending::Exchanged => {
                self.exchange()?;
                self.tally.exchanged += 1;
            }
        }
        settle(&self.index, writers)
    }

    /// Lets all clients work until the service has ended.
    fn with_clients(
        &mut self,
        service: &mut Running,
        time: Duration,
        ending: Ending,
        writers: &mut [Writer],
        readers: &mut [Reader],
    ) -> Result {
        let (url, pause, is_done) =
            (service.url.clone(), self.options.pause, AtomicBool::new(false));
        let statuses = std::mem::take(&mut self.statuses);
        let worked = std::thread::scope(|scope| -> Result {
            let (url, is_done, statuses) = (&url, &is_done, &statuses);
            let mut clients = Vec::new();
            for writer in writers {
                let mut work = move || writer.work(url, is_done, pause, statuses);
                clients.push(scope.spawn(move || work().map_err(|e| e.to_string())));
            }
            for reader in readers {
                let mut work = move || reader.work(url, is_done, pause, statuses);
                clients.push(scope.spawn(move || work().map_err(|e| e.to_string())));
            }
            // Clients go on until the service is gone, so that requests are cut off too.
            let ended = self.disturb(service.id(), time).and_then(|()| end(service, ending));
            is_done.store(true, Ordering::Relaxed);
            for client in clients {
                client.join().map_err(|_| "a client panicked")??;
            }
            ended
        });
        self.statuses = statuses;
        worked
    }

    /// Lets the service run for this time. Fills the disk and sets the clock now and then.
    fn disturb(&mut self, service: u32, time: Duration) -> Result {
        let until = Instant::now() + time;
        while Instant::now() < until {
            std::thread::sleep(Duration::from_secs(1).min(until - Instant::now()));
            self.curve.sample(service)?;
            if self.rng.u8(..20) == 0 {
                self.clock.jump(&mut self.rng)?;
                self.tally.jumps += 1;
            }
            let full = Duration::from_millis(self.rng.u64(200..4000));
            if self.rng.u8(..40) == 0 && fill(&self.options.work, full)? {
                self.tally.filled += 1;
            }
        }
        Ok(())
    }

    /// Pushes the index to a new store, pulls into a new directory, and replaces the index by the
    /// copy.
    fn exchange(&self) -> Result {
        let index = &self.index;
        let work = &self.options.work;
        let (store, copy) = (work.join("soak.store"), work.join("soak.copy"));
        for old in [&store, &copy] {
            let _ = fs::remove_dir_all(old);
        }
        let (at, to) = (index.to_string_lossy(), copy.to_string_lossy());
        let url = format!("file://{}", std::path::absolute(&store)?.display());
        self.must(&["store", "push", &at, &url])?;
        self.must(&["store", "pull", &url, &to])?;
        fs::remove_dir_all(index)?;
        fs::rename(&copy, index)?;
        fs::remove_dir_all(&store)?;
        Ok(())
    }

    fn must(&self, args: &[&str]) -> Result {
        let output = Command::new(&self.options.cento).args(args).args(["--quiet"]).output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("cento {} failed: {stderr}", args.join(" ")).into()),
        }
    }
}

impl fmt::Display for Rounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { killed, terminated, exchanged, filled, jumps } = self.tally;
        writeln!(f, "{}\n{}", self.curve.table(), self.statuses.table())?;
        write!(
            f,
            "{killed} kills, {terminated} restarts, {exchanged} exchanges through a store, \
             {filled} full disks, {jumps} jumps of the clock"
        )
    }
}

/// Ends the service, which must not have ended by itself, and must obey a request to end.
fn end(service: &mut Running, ending: Ending) -> Result {
    if let Some(status) = service.ended()? {
        return Err(format!("the service ended by itself: {status}").into());
    }
    match ending {
        Ending::Killed => service.kill(),
        Ending::Terminated | Ending::Exchanged => {
            let status = service.terminate()?;
            match status.success() && status.signal().is_none() {
                true => Ok(()),
                false => Err(format!("after SIGTERM the service ended with {status}").into()),
            }
        }
    }
}

/// Fills the file system of the directory for this time, unless the file system is large.
fn fill(dir: &Path, time: Duration) -> Result<bool> {
    let space = rustix::fs::statvfs(dir)?;
    if space.f_blocks * space.f_frsize > FILLED_BYTES_MAX {
        return Ok(false);
    }
    let ballast = dir.join("ballast");
    let until = Instant::now() + time;
    let block = vec![0x5a; 64 << 10];
    let mut file = fs::File::create(&ballast)?;
    while Instant::now() < until {
        // What the service frees is taken at once.
        while std::io::Write::write_all(&mut file, &block).is_ok() {}
        std::thread::sleep(Duration::from_millis(5));
    }
    fs::remove_file(&ballast)?;
    Ok(true)
}
