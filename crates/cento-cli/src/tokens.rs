//! Reloading of the tokens of a service.
//!
//! Their file is read every second, and after SIGHUP. It is compared by its bytes: a secret of
//! Kubernetes is replaced through links, and times of files are coarse. Tokens that cannot be read
//! replace none.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crossbeam::channel::{Receiver, RecvTimeoutError};

use cento::{Error, Result};
use cento_serve::Tokens;

/// The time between two looks at the file.
const INTERVAL: Duration = Duration::from_secs(1);

/// Reads the tokens in a file, and its bytes.
///
/// # Errors
/// When it cannot be read, or has an invalid line; with the number of the line.
pub fn read(path: &Path) -> Result<(Tokens, Vec<u8>)> {
    let bytes = fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let tokens = parse(path, &bytes)?;
    tell_if_open(path);
    Ok((tokens, bytes))
}

/// Reports in the log that other users of the machine can read the tokens. They are not refused,
/// as a key is: secrets of Kubernetes are readable by all unless told otherwise.
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

/// Replaces `tokens` by those in the file at `path` when its bytes differ from `known`, and at each
/// message of `asked`; ends when no sender of `asked` is left.
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
