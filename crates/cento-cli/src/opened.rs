//! Which index has a damaged file?
//!
//! The library names the files of an index without its directory. A message needs the directory,
//! because a command line can name several indexes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cento::{Corruption, Error};

/// The directories of the indexes that this process has opened.
static OPENED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Notes that this process opens the index in the directory `path`.
pub fn note(path: &Path) {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if !opened.iter().any(|known| known == path) {
        opened.push(path.to_owned());
    }
}

/// Returns the error with the directory of the index `dir` before a name without a directory.
pub fn placed_in(dir: &Path, error: &Error) -> Option<Error> {
    let is_name = |file: &Path| file.parent() == Some(Path::new(""));
    match error {
        Error::Corrupt(found) if is_name(Path::new(&found.file)) => {
            let Corruption { file, section, offset, what } = found;
            let file = dir.join(file).display().to_string();
            Some(Corruption::new(file, section, *offset, what).into())
        }
        Error::Io { action, path, source } if is_name(path) && is_of_index(path) => {
            // The system's error cannot be cloned.
            let copy = source.raw_os_error().map_or_else(
                || std::io::Error::new(source.kind(), source.to_string()),
                std::io::Error::from_raw_os_error,
            );
            Some(Error::io(action, dir.join(path), copy))
        }
        _ => None,
    }
}

/// Returns the error with the directory before the name of a file, if an opened index has the file.
pub fn placed(error: &Error) -> Option<Error> {
    let name = match error {
        Error::Corrupt(found) => Path::new(&found.file),
        Error::Io { path, .. } => path,
        _ => return None,
    };
    let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = index_of(&opened, name)?;
    placed_in(dir, error)
}

/// Returns the only index, or the only one of several that has a file of this name. Copies of an
/// index have files of the same names, and naming the wrong copy would be worse than naming none.
fn index_of<'a>(opened: &'a [PathBuf], name: &Path) -> Option<&'a Path> {
    if let [only] = opened {
        return Some(only);
    }
    let mut having = opened.iter().filter(|dir| dir.join(name).exists());
    having.next().filter(|_| having.next().is_none()).map(PathBuf::as_path)
}

/// Returns whether a file has the name of a segment or of a list of an index.
fn is_of_index(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_hex = |byte: u8| byte.is_ascii_hexdigit();
    path.ends_with("meta.json") || (stem.len() >= 32 && stem.bytes().take(32).all(is_hex))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_of_the_only_index_that_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let [a, b] = ["a.idx", "b.idx"].map(|name| dir.path().join(name));
        for index in [&a, &b] {
            std::fs::create_dir(index).unwrap();
            std::fs::write(index.join("meta.json"), "{}").unwrap();
        }
        std::fs::write(a.join("x.sig"), "").unwrap();
        let both = [a.clone(), b.clone()];
        assert_eq!(index_of(&both, Path::new("x.sig")), Some(&*a));
        assert_eq!(index_of(&both, Path::new("meta.json")), None);
        assert_eq!(index_of(&both, Path::new("lost.sig")), None);
        assert_eq!(index_of(&both[..1], Path::new("lost.sig")), Some(&*a));
    }

    #[test]
    fn only_names_without_a_directory_get_one() {
        let dir = Path::new("a.idx");
        let shown = |file: &str| {
            let error = Corruption::new(file, "terms", 7, "cut short").into();
            placed_in(dir, &error).map(|error| error.to_string())
        };
        assert_eq!(shown("x.sig").unwrap(), "a.idx/x.sig: terms at byte 7: cut short");
        assert_eq!(shown("b.idx/x.sig"), None);
        let denied = |name: &str| {
            let cause = std::io::ErrorKind::PermissionDenied.into();
            placed_in(dir, &Error::io("read", name, cause)).map(|error| error.to_string())
        };
        let segment = "0123456789abcdef0123456789abcdef.sig";
        assert!(denied(segment).unwrap().contains(&format!("a.idx/{segment}")));
        assert_eq!(denied("essay.txt"), None);
    }
}
