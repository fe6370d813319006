//! The indexes offered to clients for merges.
//!
//! The operator chooses a directory for these indexes. Clients give names relative to the
//! directory, which cannot lead elsewhere: not upwards, not to a different root, and not through
//! symbolic links. A missing directory and a directory outside are refused in the same words, so
//! that clients learn nothing else about the machine.

use std::path::{Component, Path, PathBuf};

use axum::http::StatusCode;

use super::failure::Failure;
use cento::{Error, Index, Reason, Result};

/// The maximum number of shards in a request.
const SHARDS_MAX: usize = 1000;

/// The directory of the indexes.
pub struct Shards {
    /// The directory, without symbolic links.
    root: PathBuf,
}

impl Shards {
    /// Returns the indexes below the directory `root`.
    ///
    /// # Errors
    /// When `root` is no directory.
    pub fn below(root: &Path) -> Result<Shards> {
        let root = root.canonicalize().map_err(|e| Error::io("find", root, e))?;
        match root.is_dir() {
            true => Ok(Shards { root }),
            false => Err(Error::index(root, Reason::Unsuitable, "it is not a directory")),
        }
    }

    /// Returns the directories of the shards with these names.
    ///
    /// # Errors
    /// When a name is invalid, or there is no index with the name.
    pub fn find(&self, names: &[String]) -> std::result::Result<Vec<PathBuf>, Failure> {
        if names.is_empty() || names.len() > SHARDS_MAX {
            let message = format!("`shards` must name between 1 and {SHARDS_MAX} indexes");
            return Err(Failure::argument("shards", message));
        }
        names.iter().map(|name| self.find_one(name)).collect()
    }

    fn find_one(&self, name: &str) -> std::result::Result<PathBuf, Failure> {
        let missing = || {
            let message =
                format!("there is no index `{name}` in the directory of this service's shards");
            Failure::new(StatusCode::NOT_FOUND, "not_found", message)
        };
        let is_normal = |part| matches!(part, Component::Normal(_));
        let mut parts = Path::new(name).components().peekable();
        // File systems may give any meaning to a NUL or a backslash in a name.
        if parts.peek().is_none() || !parts.all(is_normal) || name.contains(['\0', '\\']) {
            return Err(missing());
        }
        let path = self.root.join(name);
        let is_here = path.canonicalize().is_ok_and(|found| found == path);
        if is_here && Index::exists(&path) { Ok(path) } else { Err(missing()) }
    }

    /// Returns the answer for shards that could not be merged into `index`, without any path.
    pub fn failure(&self, index: &Path, error: &Error) -> Failure {
        let is_about_shards = match error {
            Error::Index { .. } | Error::Locked { .. } => true,
            Error::Corrupt(corruption) => Path::new(&corruption.file).starts_with(&self.root),
            _ => false,
        };
        if !is_about_shards {
            return Failure::from(error);
        }
        let below = format!("{}{}", self.root.display(), std::path::MAIN_SEPARATOR);
        let mut message = error.to_string().replace(&below, "");
        if index.is_absolute() {
            message = message.replace(&index.display().to_string(), "the index of the service");
        }
        match error.reason() {
            Reason::InvalidArgument { .. } => Failure::argument("shards", message),
            reason => Failure::of_reason(StatusCode::CONFLICT, reason, message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::index::Config;

    #[test]
    fn names_lead_nowhere_but_into_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("shards");
        for place in ["shards/one", "shards/sub/two", "outside"] {
            let path = dir.path().join(place);
            std::fs::create_dir_all(&path).unwrap();
            Index::create(&path, Config::new("winnow(k=5,w=10)", "words", true).unwrap()).unwrap();
        }
        std::fs::create_dir(root.join("empty")).unwrap();
        let shards = Shards::below(&root).unwrap();
        for name in ["one", "sub/two", "sub//two"] {
            let found = shards.find(&[name.to_owned()]);
            assert!(found.is_ok_and(|found| Index::exists(&found[0])), "{name}");
        }
        let outside = dir.path().join("outside").display().to_string();
        let mut refused = vec![
            "",
            ".",
            "..",
            "../outside",
            "one/../../outside",
            "./one",
            "empty",
            "none",
            "one\0",
            "/",
        ];
        refused.extend(["sub\\two", "one/meta.json", &outside]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
            std::os::unix::fs::symlink(dir.path(), root.join("up")).unwrap();
            refused.extend(["link", "up/outside", "up/shards/one"]);
        }
        for name in refused {
            let failure = shards.find(&["one".to_owned(), name.to_owned()]).unwrap_err();
            assert_eq!(
                (failure.status, failure.code),
                (StatusCode::NOT_FOUND, "not_found"),
                "{name}"
            );
            assert!(!failure.message.contains(&*root.to_string_lossy()), "{}", failure.message);
        }
        assert!(shards.find(&[]).is_err());
        assert!(shards.find(&vec!["one".to_owned(); SHARDS_MAX + 1]).is_err());
        assert!(Shards::below(&root.join("none")).is_err());
    }
}
