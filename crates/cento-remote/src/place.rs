//! The directory that a URL names.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use cento::{Error, Reason, Result};

/// The reason for refusing a URL that does not name a store.
pub const URL: Reason<'static> = Reason::InvalidArgument { argument: Some("url") };

/// Returns the directory that `url` names, absolute and without `..`. The directory need not exist.
/// `None` if `url` names no directory.
///
/// # Errors
/// When a `file:` URL names another machine, or a relative path. When the directory cannot be
/// looked up.
pub fn directory(url: &str) -> Result<Option<PathBuf>> {
    let Some(rest) = url.strip_prefix("file:") else {
        return match url.contains("://") {
            true => Ok(None),
            false if lacks_slashes(url) => {
                let (scheme, rest) = url.split_once(':').unwrap_or_default();
                let what = format!("write it as {scheme}://{}", rest.trim_start_matches('/'));
                Err(Error::index(url, URL, what))
            }
            false => resolved(Path::new(url)).map(Some),
        };
    };
    let path = rest.strip_prefix("//localhost").or(rest.strip_prefix("//")).unwrap_or(rest);
    if !path.starts_with('/') {
        let what = "write file:/// and the absolute path of a directory";
        return Err(Error::index(url, URL, what));
    }
    resolved(&unescaped(url, path)?).map(Some)
}

/// Returns whether a URL lacks its slashes, like `s3:bucket`, which would be a directory.
fn lacks_slashes(url: &str) -> bool {
    ["s3:", "gs:", "az:", "http:", "https:"].iter().any(|scheme| url.starts_with(scheme))
}

/// Refuses the URL of a store in the directory of the index that is pushed there.
///
/// # Errors
/// When the store is in that directory or below, or cannot be looked up.
pub fn check_outside(url: &str, index: &Path) -> Result<()> {
    let index = resolved(index)?;
    if directory(url)?.is_some_and(|store| store.starts_with(&index)) {
        let what = "it is in the directory of the index that is to be pushed; name another";
        return Err(Error::index(url, URL, what));
    }
    Ok(())
}

/// Returns the target of this path: its existing part without links and `..`, then the rest.
///
/// The system resolves `a/..`, which is not the parent of `a` if `a` is a link.
fn resolved(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).map_err(|e| Error::io("find", path, e))?;
    let mut found = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::ParentDir => drop(found.pop()),
            Component::CurDir => {}
            component => found.push(component),
        }
        match found.canonicalize() {
            Ok(real) => found = real,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("find", &found, error)),
        }
    }
    Ok(found)
}

/// Returns the path in a `file:` URL, with `%20` and other escapes decoded.
fn unescaped(url: &str, path: &str) -> Result<PathBuf> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let escaped = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::index(url, URL, "the path in it is not UTF-8"))?;
    Ok(OsString::from(text).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_one_name_however_it_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b c")).unwrap();
        let check = |url: &str, expected: &str| {
            let url = url.replace("ROOT", root.to_str().unwrap());
            assert_eq!(directory(&url).unwrap(), Some(root.join(expected)), "{url}");
        };
        check("ROOT/a/../a/./b c/", "a/b c");
        check("ROOT//a//b c", "a/b c");
        check("file://ROOT/a/b%20c", "a/b c");
        check("file://ROOT/a/b c", "a/b c");
        check("file:ROOT/a", "a");
        check("file://localhostROOT/a/..", "");
        // Directories that do not exist yet.
        check("ROOT/new/er/../est", "new/est");
        check("ROOT/100%", "100%");
        check("ROOT/a%20b", "a%20b");
        check("file://ROOT/100%", "100%");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("a/b c"), root.join("link")).unwrap();
            check("ROOT/link", "a/b c");
            check("ROOT/link/../x", "a/x");
        }
        let relative = directory("some/../thing").unwrap().unwrap();
        assert_eq!(relative, Path::new(".").canonicalize().unwrap().join("thing"));
        assert_eq!(directory("s3://bucket/a").unwrap(), None);
        for url in ["file://host/a", "file:a", "file://"] {
            assert!(directory(url).unwrap_err().to_string().contains("file:///"), "{url}");
        }
        assert!(directory("file:///%ff").is_err());
    }
}
