//! The file with the address of a running service.
//!
//! The file is in the directory of the index, and [`ServiceFile::of`] reads it.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use cento::runtime::replace;
use cento_api::ServiceFile;

/// Removes the file when the service ends, unless another process owns the file by then.
pub struct ServiceFileGuard {
    file: PathBuf,
    written: Vec<u8>,
}

impl Drop for ServiceFileGuard {
    fn drop(&mut self) {
        if fs::read(&self.file).is_ok_and(|found| found == self.written) {
            let _ = fs::remove_file(&self.file);
        }
    }
}

/// Writes the address of the service of the index at `path`. Only the holder of the writer's lock
/// may call this, because the file belongs to that process.
pub fn announce(path: &Path, address: SocketAddr, started: u64) -> ServiceFileGuard {
    let file = ServiceFile::file(path);
    let own = ServiceFile { url: url(address), pid: std::process::id(), started };
    let written = serde_json::to_vec(&own).expect("an address is JSON");
    if let Err(error) = replace::file(&file, &written) {
        tracing::warn!(%error, "commands on this machine will not find the service by its index");
    }
    ServiceFileGuard { file, written }
}

/// Returns the address for clients on the same machine.
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
