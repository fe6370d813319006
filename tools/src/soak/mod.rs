//! Runs a service for hours under everything that goes wrong: kills, restarts, a full disk, a clock
//! that jumps, an index that is exchanged for a copy from a store.
//!
//! Writers change documents and remember what was acknowledged, and readers ask all routes.
//! Whenever the service has ended, its index must hold what the writers remember, and no byte of
//! what they withdrew. The last third of the time has no restart, so that memory, files and
//! connections that are never given back show in the curve.

mod clock;
mod curve;
mod model;
mod reader;
mod requests;
mod settle;
mod writer;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use fastrand::Rng;

use self::clock::FakeClock;
use self::curve::Curve;
use self::reader::Reader;
use self::requests::Statuses;
use self::writer::Writer;
use crate::Result;
use crate::service::Running;

/// Run a service for hours with kills, full disks, clock jumps and exchanged indexes.
#[derive(Debug, Args)]
pub struct Soak {
    /// A directory for the index. The disk is filled only if its file system has at most 8 GB:
    /// mount -t tmpfs -o size=1g tmpfs DIR.
    #[arg(long)]
    work: PathBuf,
    /// Path of the cento program to test.
    #[arg(long, default_value = "target/release/cento")]
    cento: PathBuf,
    /// How long, in minutes.
    #[arg(long, default_value = "90")]
    minutes: f64,
    /// Clients that write at a time, and as many that read.
    #[arg(long, default_value = "3")]
    clients: u64,
    /// How long a client waits between two requests, in milliseconds.
    #[arg(long, default_value = "20")]
    pause: u64,
    /// Where to write the curve, as csv.
    #[arg(long)]
    curve: Option<PathBuf>,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// The largest file system that is filled, in bytes.
const FILLED_BYTES_MAX: u64 = 8_000_000_000;

/// The longest time between two restarts.
const ROUND_MAX: Duration = Duration::from_secs(120);

/// How a run of the service ends.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Killed,
    Terminated,
    /// Terminated, and the index is replaced by a copy that went through a store.
    Exchanged,
}

/// How often each thing happened.
#[derive(Debug, Default)]
struct Tally {
    killed: u64,
    terminated: u64,
    exchanged: u64,
    filled: u64,
    jumps: u64,
}

impl Soak {
    pub(crate) fn run(self) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        fs::create_dir_all(&self.work)?;
        let index = self.work.join("soak.idx");
        let _ = fs::remove_dir_all(&index);
        self.must(&["create", &index.to_string_lossy()])?;
        let clock = FakeClock::new(&self.work)?;
        let mut writers: Vec<Writer> =
            (0..self.clients).map(|number| Writer::new(number, rng.u64(..))).collect();
        let mut readers: Vec<Reader> =
            (0..self.clients).map(|number| Reader::new(number, rng.u64(..))).collect();
        let (statuses, mut tally) = (Statuses::default(), Tally::default());
        let mut curve = Curve::new(&index);
        let all = Duration::from_secs_f64(self.minutes * 60.0);
        let started = Instant::now();
        while started.elapsed() < all {
            let left = all.saturating_sub(started.elapsed());
            let is_last = left <= all / 3;
            let time = match is_last {
                true => left,
                false => ROUND_MAX.min(left - all / 3).mul_f64(0.1 + 0.9 * rng.f64()),
            };
            let time = time.max(Duration::from_secs(2));
            curve.begin_round(is_last);
            let mut service = Running::start_with(
                &self.cento,
                &index,
                &["--commit-interval", "100ms", "--memory", "64MiB"],
                &clock.environment(),
            )?;
            let (url, is_done) = (service.url.clone(), AtomicBool::new(false));
            std::thread::scope(|scope| -> Result {
                let (url, is_done, statuses) = (&url, &is_done, &statuses);
                let mut clients = Vec::new();
                for writer in &mut writers {
                    clients.push(scope.spawn(move || {
                        writer.work(url, is_done, self.pause, statuses).map_err(|e| e.to_string())
                    }));
                }
                for reader in &mut readers {
                    clients.push(scope.spawn(move || {
                        reader.work(url, is_done, self.pause, statuses).map_err(|e| e.to_string())
                    }));
                }
                let disturbed =
                    self.disturb(time, service.id(), &clock, &mut curve, &mut rng, &mut tally);
                let ending = match rng.u8(..4) {
                    _ if is_last => Ending::Terminated,
                    0 | 1 => Ending::Killed,
                    2 => Ending::Terminated,
                    _ => Ending::Exchanged,
                };
                // Clients go on until the service is gone, so that requests are cut off too.
                let ended = disturbed.and_then(|()| end(&mut service, ending));
                is_done.store(true, Ordering::Relaxed);
                for client in clients {
                    client.join().map_err(|_| "a client panicked")??;
                }
                ended?;
                match ending {
                    Ending::Killed => tally.killed += 1,
                    Ending::Terminated => tally.terminated += 1,
                    Ending::Exchanged => {
                        self.exchange(&index)?;
                        tally.exchanged += 1;
                    }
                }
                Ok(())
            })?;
            settle::settle(&index, &mut writers)?;
        }
        clock.remove();
        report(&curve, &statuses, &tally);
        if let Some(path) = &self.curve {
            fs::write(path, curve.csv())?;
        }
        let acknowledged: u64 = writers.iter().map(Writer::acknowledged).sum();
        if acknowledged == 0 {
            return Err("no change was acknowledged".into());
        }
        println!(
            "{acknowledged} acknowledged changes, all kept; check is clean; nothing withdrawn is \
             left in any file"
        );
        curve.judge()
    }

    /// Lets the service run for this time, fills its disk and sets its clock now and then.
    fn disturb(
        &self,
        time: Duration,
        service: u32,
        clock: &FakeClock,
        curve: &mut Curve,
        rng: &mut Rng,
        tally: &mut Tally,
    ) -> Result {
        let until = Instant::now() + time;
        while Instant::now() < until {
            std::thread::sleep(Duration::from_secs(1).min(until - Instant::now()));
            curve.sample(service)?;
            if rng.u8(..20) == 0 {
                clock.jump(rng)?;
                tally.jumps += 1;
            }
            if rng.u8(..40) == 0 && fill(&self.work, Duration::from_millis(rng.u64(200..4000)))? {
                tally.filled += 1;
            }
        }
        Ok(())
    }

    /// Pushes the index to a new store, pulls it into a new directory, and puts that in its place.
    fn exchange(&self, index: &Path) -> Result {
        let (store, copy) = (self.work.join("soak.store"), self.work.join("soak.copy"));
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
        let output = Command::new(&self.cento).args(args).args(["--quiet"]).output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("cento {} failed: {stderr}", args.join(" ")).into()),
        }
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

/// Fills the file system of the directory for this time, unless it is a large one.
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

fn report(curve: &Curve, statuses: &Statuses, tally: &Tally) {
    println!("{}", curve.table());
    println!("{}", statuses.table());
    println!(
        "{} kills, {} restarts, {} exchanges through a store, {} full disks, {} jumps of the clock",
        tally.killed, tally.terminated, tally.exchanged, tally.filled, tally.jumps
    );
}
