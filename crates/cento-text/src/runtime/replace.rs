//! Atomic replacement of the content of a file.
//!
//! The new file is written beside the old file, and then renamed over it. The new file has an
//! unpredictable name and must not exist before, because other users who can write to the directory
//! could otherwise place a symbolic link there.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Replaces the contents of the file at `path` by `bytes` durably. A power cut during the call
/// leaves the old or the new contents, a power cut after the call the new contents. A pipe or a
/// device is written to instead of replaced.
///
/// # Errors
/// When the bytes cannot be written: the file is unchanged. When the directory cannot be synced: a
/// power cut may then restore the old contents.
pub fn file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    file_if(path, bytes, || Ok(()))
}

/// Does what [`file()`] does, if `check` succeeds. `check` is called last before the new file is
/// renamed.
///
/// # Errors
/// The errors of [`file()`] and of `check`. If `check` fails, the file is unchanged.
pub fn file_if(path: &Path, bytes: &[u8], check: impl Fn() -> io::Result<()>) -> io::Result<()> {
    file_again(path, |file| file.write_all(bytes), check)
}

/// Like [`file_with`], but tries again if the new file vanishes meanwhile. A process that opens the
/// writer of an index removes seemingly unfinished files from the index's directory. This happens
/// once per opening, so a few attempts are enough.
fn file_again(
    path: &Path,
    mut write: impl FnMut(&mut File) -> io::Result<()>,
    check: impl Fn() -> io::Result<()>,
) -> io::Result<()> {
    const TRIES: usize = 10;
    for _ in 1..TRIES {
        match written(path, &mut write, &check) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
    }
    written(path, write, check)
}

/// Replaces the contents of the file at `path` by the output of `write`, as durably as [`file()`].
///
/// # Errors
/// As [`file()`].
pub fn file_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    written(path, write, || Ok(()))
}

fn written(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
    check: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    if path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        // Renaming a file over /dev/null would harm the whole system.
        check()?;
        return write(&mut File::options().write(true).open(path)?);
    }
    let mut new = beside(path)?;
    write(new.as_file_mut())?;
    new.as_file().sync_all()?;
    check()?;
    new.persist(path)?;
    sync_name(path)
}

/// Creates a new file in the directory of `path`, to replace it. Dropping the new file removes it.
///
/// # Errors
/// When the file cannot be created.
pub fn beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    // Keeps the default prefix, because the writer of an index recognizes unfinished files by this
    // prefix.
    let mut builder = tempfile::Builder::new();
    // The builder's default is 0600. The mask of the user decides, as for any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let parent = parent(path);
    builder.tempfile_in(parent).map_err(|error| match parent.metadata() {
        Err(missing) => missing,
        // The error message contains the path of the new file, which means nothing to the caller.
        Ok(_) => error.kind().into(),
    })
}

/// Makes durable which file, if any, has the name `path`.
///
/// # Errors
/// When the directory cannot be synced.
pub fn sync_name(path: &Path) -> io::Result<()> {
    // Other systems cannot open a directory to sync it, and need not.
    if cfg!(unix) { File::open(parent(path))?.sync_all() } else { Ok(()) }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        file(&path, b"one").unwrap();
        file(&path, b"other").unwrap();
        let refused = file_with(&path, |file| {
            file.write_all(b"half of a th")?;
            Err(io::Error::other("no"))
        });
        assert!(refused.is_err());
        assert!(file_if(&path, b"third", || Err(io::Error::other("no"))).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"other");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_and_not_replaced() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        symlink("/dev/null", &path).unwrap();
        file(&path, b"one").unwrap();
        assert!(path.metadata().unwrap().file_type().is_char_device());
    }

    #[test]
    fn a_file_is_replaced_though_a_writer_removes_unfinished_ones() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        file(&path, b"one").unwrap();
        let mut tries = 0;
        let write = |file: &mut File| {
            tries += 1;
            if tries < 3 {
                for entry in std::fs::read_dir(dir.path())?.flatten() {
                    if entry.path() != path {
                        std::fs::remove_file(entry.path())?;
                    }
                }
            }
            file.write_all(b"other")
        };
        file_again(&path, write, || Ok(())).unwrap();
        assert_eq!((tries, std::fs::read(&path).unwrap()), (3, b"other".to_vec()));
        // Without the directory, every attempt fails.
        let missing = dir.path().join("none");
        let said = file(&missing.join("a"), b"one").unwrap_err().to_string();
        assert_eq!(said, missing.metadata().unwrap_err().to_string());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_not_followed() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("a"), dir.path().join("other"));
        std::fs::write(&other, "precious").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        file(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&other).unwrap(), b"precious");
        assert!(path.symlink_metadata().unwrap().is_file());
        // As open to other users as a file created in the ordinary way.
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), mode(&other));
    }
}
