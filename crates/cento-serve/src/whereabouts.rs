//! Where is the service of this index?
//!
//! A small file in its directory says so, as long as the service runs, so that `cento compact` finds it.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use cento::replace;

/// The file; hidden, as the lock is.
const FILE: &str = ".service.json";

/// Where the service of an index listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whereabouts {
    /// Its address.
    pub url: String,
    /// Its process.
    pub pid: u32,
    /// When it was started, in microseconds since 1970; it says the same of itself at `/healthz`.
    pub started: u64,
}

/// Takes the file away when the service ends.
pub struct Announced(PathBuf);

impl Drop for Announced {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Whereabouts {
    /// Says where the service of the index at `path` is. Only who holds the lock of the writer may.
    pub(super) fn announce(path: &Path, address: SocketAddr, started: u64) -> Announced {
        let file = path.join(FILE);
        let own = Whereabouts { url: url(address), pid: std::process::id(), started };
        let written = serde_json::to_vec(&own).map_err(Into::into);
        let written: std::io::Result<()> = written.and_then(|json| replace::file(&file, &json));
        if let Err(error) = written {
            tracing::warn!(%error, "commands on this machine will not find the service by its index");
        }
        Announced(file)
    }

    /// Where the service of the index at `path` said it was. It may be gone.
    pub fn of(path: &Path) -> Option<Whereabouts> {
        serde_json::from_slice(&fs::read(path.join(FILE)).ok()?).ok()
    }
}

/// The address for who is on the same machine.
fn url(address: SocketAddr) -> String {
    let mut address = address;
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{address}")
}
