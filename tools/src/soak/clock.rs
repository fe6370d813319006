//! A clock of the service that can be set at run time.

use std::path::{Path, PathBuf};
use std::process::Command;

use fastrand::Rng;

use crate::Result;

/// A library that the service loads first, and a file with the seconds to add to the time.
pub struct FakeClock {
    library: PathBuf,
    offset: PathBuf,
}

const SOURCE: &str = include_str!("clock.c");

const DAY: i64 = 86_400;

/// Seconds from now to about the year 9999.
const FAR: i64 = 7_970 * 365 * DAY;

impl FakeClock {
    /// Compiles the library with `cc` in the directory.
    pub fn new(dir: &Path) -> Result<FakeClock> {
        let dir = std::path::absolute(dir)?;
        let (source, library) = (dir.join("clock.c"), dir.join("clock.so"));
        std::fs::write(&source, SOURCE)?;
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .status();
        if !compiled.is_ok_and(|status| status.success()) {
            return Err("cc could not compile the clock: install a C compiler".into());
        }
        let clock = FakeClock { library, offset: dir.join("clock.offset") };
        clock.set(0)?;
        Ok(clock)
    }

    /// The variables with which the service uses this clock.
    pub fn environment(&self) -> [(&'static str, PathBuf); 2] {
        [("LD_PRELOAD", self.library.clone()), ("SOAK_CLOCK", self.offset.clone())]
    }

    /// Sets the clock forward or back, by a second up to thousands of years, or right again.
    pub fn jump(&self, rng: &mut Rng) -> Result {
        let offsets = [0, 0, 0, 1, -1, 3600, -3600, DAY, -DAY, 400 * DAY, -400 * DAY, FAR];
        self.set(offsets[rng.usize(..offsets.len())])
    }

    // Written in place and not renamed, because the service has mapped the file.
    fn set(&self, seconds: i64) -> Result {
        use std::os::unix::fs::FileExt;
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.offset)?;
        Ok(file.write_all_at(format!("{seconds:020}").as_bytes(), 0)?)
    }
}

impl Drop for FakeClock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.library);
    }
}
