//! Reloading of a service's tokens.
//!
//! The token file is read every second, and after SIGHUP. Changes are detected by content:
//! Kubernetes replaces a secret through links, and file times are coarse. An unreadable file leaves
//! the tokens as they were.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crossbeam::channel::{Receiver, RecvTimeoutError};

use cento::{Error, Result};
use cento_serve::Tokens;

/// The time between two looks at the file.
const INTERVAL: Duration = Duration::from_secs(1);

/// Reads the tokens in a file, and returns the file's content as well.
///
/// # Errors
/// When the file cannot be read, or has an invalid line. The error has the number of the line.
pub fn read(path: &Path) -> Result<(Tokens, Vec<u8>)> {
    let bytes = fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let tokens = parse(path, &bytes)?;
    tell_if_open(path);
    Ok((tokens, bytes))
}

/// Logs a warning if further users of the machine can read the tokens. Unlike a key, such a file is
/// accepted, because secrets in Kubernetes are world-readable by default.
#[cfg(unix)]
fn tell_if_open(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path).map_or(0, |found| found.permissions().mode());
    if mode & 0o007 != 0 {
        let message =
            "every user of this machine can use or change the tokens; `chmod o=` prevents that";
        tracing::warn!(file = %path.display(), "{message}");
    }
}

#[cfg(not(unix))]
fn tell_if_open(_: &Path) {}

fn parse(path: &Path, bytes: &[u8]) -> Result<Tokens> {
    let place = path.display().to_string();
    let text = str::from_utf8(bytes).map_err(|_| Error::input(&place, "the file is not UTF-8"))?;
    Tokens::parse(text, &place)
}

/// Replaces `tokens` from the file at `path` when the content differs from `known`, and at each
/// message of `asked`. Returns when every sender of `asked` is dropped.
pub fn follow(path: PathBuf, tokens: Tokens, known: Vec<u8>, asked: Receiver<()>) {
    let look = move || {
        let mut known = Some(known);
        loop {
            let is_asked = match asked.recv_timeout(INTERVAL) {
                Ok(()) => true,
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let found = fs::read(&path);
            if !is_asked && found.as_ref().ok() == known.as_ref() {
                continue;
            }
            let read = match &found {
                Ok(bytes) => parse(&path, bytes),
                Err(error) => Err(Error::io("read", &path, error.kind().into())),
            };
            match read {
                Ok(new) => {
                    tell_if_open(&path);
                    tokens.replace(new);
                    tracing::info!("the tokens have been read again");
                }
                Err(error) => {
                    tracing::error!(
                        %error,
                        "the tokens cannot be read again; those before stay valid"
                    );
                }
            }
            known = found.ok();
        }
    };
    if let Err(error) = std::thread::Builder::new().name("tokens".into()).spawn(look) {
        tracing::error!(%error, "new tokens will not be read");
    }
}
