//! The `.gitignore` files that may be read.
//!
//! The library that reads them parses nested braces by recursion: a line of nothing but braces, in
//! another user's directory, would end the process. Such a directory is refused.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use cento::{Error, Reason, Refusal, Result};

/// The files of a directory that list files to leave out.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The maximum size of one of them, in bytes.
const BYTES_MAX: u64 = 1 << 20;

/// The maximum number of opening braces in a line.
const BRACES_MAX: usize = 64;

/// Refuses a directory if it or one above it has such a file that cannot be read safely.
///
/// # Errors
/// Then, naming the file.
pub fn check_with_parents(dir: &Path) -> Result<()> {
    let Ok(real) = dir.canonicalize() else { return Ok(()) };
    real.ancestors().try_for_each(check)
}

/// Refuses a directory if it has such a file that cannot be read safely.
///
/// # Errors
/// Then, naming the file.
pub fn check(dir: &Path) -> Result<()> {
    for name in FILES {
        let path = dir.join(name);
        // A file that is missing or cannot be opened is not read either.
        let Ok(found) = path.metadata() else { continue };
        // Opening a pipe waits for its writer.
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
