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
mod rounds;
mod settle;
mod writer;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use fastrand::Rng;

use self::reader::Reader;
use self::rounds::Rounds;
use self::writer::Writer;
use crate::Result;

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

/// The longest time between two restarts.
const ROUND_MAX: Duration = Duration::from_secs(120);

/// The shortest time between two restarts.
const ROUND_MIN: Duration = Duration::from_secs(2);

impl Soak {
    pub(crate) fn run(self) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        let mut writers: Vec<Writer> =
            (0..self.clients).map(|number| Writer::new(number, rng.u64(..))).collect();
        let mut readers: Vec<Reader> =
            (0..self.clients).map(|number| Reader::new(number, rng.u64(..))).collect();
        let mut rounds = Rounds::new(&self, rng.fork())?;
        let all = Duration::from_secs_f64(self.minutes * 60.0);
        let started = Instant::now();
        while started.elapsed() < all {
            let left = all.saturating_sub(started.elapsed());
            let is_last = left <= all / 3;
            let time = match is_last {
                true => left,
                false => ROUND_MAX.min(left - all / 3).mul_f64(0.1 + 0.9 * rng.f64()),
            };
            rounds.run(time.max(ROUND_MIN), is_last, &mut writers, &mut readers)?;
        }
        println!("{rounds}");
        if let Some(path) = &self.curve {
            fs::write(path, rounds.curve.csv())?;
        }
        let acknowledged: u64 = writers.iter().map(Writer::acknowledged).sum();
        if acknowledged == 0 {
            return Err("no change was acknowledged".into());
        }
        println!(
            "{acknowledged} acknowledged changes, all kept; check is clean; nothing withdrawn is \
             left in any file"
        );
        rounds.curve.judge()
    }
}
