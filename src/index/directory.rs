//! Is what tantivy reads what was written, and is a commit on disk when it is acknowledged?
//!
//! A thin layer over a tantivy directory (the memory-mapped one, but for tests). It adds three
//! promises to those of the directory beneath: an atomic write is durable when it returns; the
//! list of segments is checked at every read; and a small component is checked against tantivy's
//! own CRC-32 before its first byte is used. The large components have their own checks: pages in
//! `.sig`, digests of the documents in `.store`.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::footer::Footer;
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, FileSlice, Lock, WatchCallback, WatchHandle, WritePtr,
};

use crate::error::Corruption;

/// The file that names the segments of the last commit.
const META: &str = "meta.json";

/// Components that check themselves as they are read.
const SELF_CHECKED: [&str; 2] = ["sig", "store"];

/// A tantivy directory whose commits are durable and whose damage is noticed.
#[derive(Clone)]
pub struct IndexDirectory {
    inner: Box<dyn Directory>,
    /// Components whose checksum has been found right; their names are never used again.
    verified: Arc<Mutex<HashSet<PathBuf>>>,
}

impl IndexDirectory {
    /// A layer over `inner`.
    pub fn new(inner: Box<dyn Directory>) -> IndexDirectory {
        IndexDirectory { inner, verified: Arc::default() }
    }

    fn verify(&self, path: &Path, handle: &Arc<dyn FileHandle>) -> io::Result<()> {
        let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if verified.contains(path) {
            return Ok(());
        }
        verify_component(path, FileSlice::new(handle.clone()))?;
        verified.insert(path.to_owned());
        Ok(())
    }
}

/// Compares a component's body with the CRC-32 in tantivy's footer.
fn verify_component(path: &Path, file: FileSlice) -> io::Result<()> {
    let damage = |what: String| {
        io::Error::other(Corruption::new(path.display().to_string(), "component", 0, what))
    };
    let (footer, body) = Footer::extract_footer(file).map_err(|e| damage(e.to_string()))?;
    let found = crc32fast::hash(&body.read_bytes()?);
    if found != footer.crc {
        return Err(damage(format!("checksum {found:08x}, but {:08x} was written", footer.crc)));
    }
    Ok(())
}

/// Adds to the JSON object `json` a last member with the CRC-32 of all the rest.
fn seal(json: &[u8]) -> Vec<u8> {
    let json = json.trim_ascii_end();
    let crc = crc32fast::hash(json);
    let open = json.strip_suffix(b"}").expect("meta.json is a JSON object");
    [open, format!(",\"cento_crc32\":{crc}}}").as_bytes()].concat()
}

/// The JSON object that was sealed.
fn unseal(sealed: &[u8]) -> Result<Vec<u8>, Corruption> {
    const MEMBER: &[u8] = b",\"cento_crc32\":";
    let damage = |what| Corruption::new(META, "list of segments", 0, what);
    let at = sealed.windows(MEMBER.len()).rposition(|window| window == MEMBER);
    let at = at.ok_or_else(|| damage("its checksum is missing"))?;
    let json = [&sealed[..at], b"}"].concat();
    if seal(&json) != sealed {
        return Err(damage("it does not fit its checksum"));
    }
    Ok(json)
}

impl fmt::Debug for IndexDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IndexDirectory({:?})", self.inner)
    }
}

impl Directory for IndexDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let handle = self.inner.get_file_handle(path)?;
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or("");
        if !SELF_CHECKED.contains(&extension) {
            self.verify(path, &handle)
                .map_err(|e| OpenReadError::wrap_io_error(e, path.to_owned()))?;
        }
        Ok(handle)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.inner.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let bytes = self.inner.atomic_read(path)?;
        if path != Path::new(META) {
            return Ok(bytes);
        }
        unseal(&bytes)
            .map_err(|e| OpenReadError::wrap_io_error(io::Error::other(e), path.to_owned()))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(META) {
            self.inner.atomic_write(path, &seal(data))?;
        } else {
            self.inner.atomic_write(path, data)?;
        }
        // tantivy syncs the directory before the rename only; without this a commit that was
        // acknowledged may be gone after a power cut.
        self.inner.sync_directory()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.inner.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_object_is_json_and_is_given_back() {
        let json = br#"{"segments":[],"opstamp":3}"#;
        let sealed = seal(&[json.as_slice(), b"\n"].concat());
        let value: serde_json::Value = serde_json::from_slice(&sealed).unwrap();
        assert_eq!(value["opstamp"], 3);
        assert_eq!(unseal(&sealed).unwrap(), json);
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert!(unseal(&damaged).is_err(), "byte {at}");
            assert!(unseal(&sealed[..at]).is_err(), "cut to {at}");
        }
    }
}
