//! Checks that `.gitignore` files are safe to read.
//!
//! The library that reads these files parses nested braces by recursion. A line of nothing but
//! braces, in a different user's directory, would overflow the stack and end the process. A
//! directory with too many nested braces is refused.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use cento::{Error, Reason, Refusal, Result};

/// The ignore files of a directory.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The maximum size of an ignore file, in bytes.
const BYTES_MAX: u64 = 1 << 20;

/// The maximum number of opening braces in a line.
const BRACES_MAX: usize = 64;

/// Refuses a directory if an ignore file in it or in a parent is unsafe.
///
/// # Errors
/// For the first unsafe file, with its path.
pub fn check_with_parents(dir: &Path) -> Result<()> {
    let Ok(real) = dir.canonicalize() else { return Ok(()) };
    real.ancestors().try_for_each(check)
}

/// Refuses a directory with an unsafe ignore file.
///
/// # Errors
/// For the first unsafe file, with its path.
pub fn check(dir: &Path) -> Result<()> {
    for name in FILES {
        let path = dir.join(name);
        // The library skips a missing or inaccessible file, too.
        let Ok(found) = path.metadata() else { continue };
        // Not opened, because opening a pipe waits for a writer.
        let why = match found.is_file() || found.is_dir() {
            true => File::open(&path).ok().and_then(fault),
            false => Some("it is not a regular file".into()),
        };
        if let Some(why) = why {
            let refusal = Refusal::new(Reason::UnusableIgnoreFile, why);
            return Err(Error::io("read", &path, refusal.into()));
        }
    }
    Ok(())
}

fn fault(file: File) -> Option<String> {
    let mut bytes = 0;
    let mut lines = BufReader::new(file.take(BYTES_MAX + 1));
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return None,
            Ok(len) => bytes += len as u64,
        }
        if bytes > BYTES_MAX {
            return Some(format!(
                "it has more than {BYTES_MAX} bytes of rules for ignored files; shorten it"
            ));
        }
        if line.iter().filter(|&&byte| byte == b'{').count() > BRACES_MAX {
            return Some(format!(
                "a line of its rules for ignored files has more than {BRACES_MAX} braces; remove \
                 the line"
            ));
        }
    }
}
