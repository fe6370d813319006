//! Sources of packages downloaded by Cargo, as texts for tests on every machine.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// A result whose error says which file cannot be read.
pub type Read<T> = Result<T, Box<dyn Error>>;

/// The extensions of the files that count as text.
const ENDINGS: [&str; 3] = ["md", "rs", "txt"];

/// Returns the directory where Cargo unpacks downloaded packages.
///
/// # Errors
/// If the machine has none.
pub fn registry() -> Read<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    Ok(home.ok_or("neither CARGO_HOME nor HOME is set")?.join("registry/src"))
}

/// Returns the directories of the packages in `Cargo.lock`, ordered by registry and name.
///
/// # Errors
/// If a file or directory cannot be read.
pub fn locked_packages() -> Read<Vec<PathBuf>> {
    let lock = fs::read_to_string("Cargo.lock")
        .map_err(|e| format!("Cargo.lock: {e}; run this in the directory of the repository"))?;
    let locked = names_of(&lock);
    let mut directories = Vec::new();
    for registry in sorted(&registry()?)? {
        let is_locked = |package: &PathBuf| {
            let name = package.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| locked.contains(name))
        };
        directories.extend(sorted(&registry)?.into_iter().filter(is_locked));
    }
    Ok(directories)
}

/// Returns the texts of a file or directory of a package in `Cargo.lock`, ordered by path.
///
/// # Errors
/// If there is no such package, or a file cannot be read.
pub fn texts_of(package: &str, path: &str) -> Read<Vec<String>> {
    let is_it = |directory: &PathBuf| {
        let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.rsplit_once('-').is_some_and(|(name, _)| name == package)
    };
    let directory = locked_packages()?.into_iter().find(is_it);
    let path = directory.ok_or_else(|| format!("no {package} in Cargo.lock"))?.join(path);
    let files = if path.is_dir() { text_files(&path)? } else { vec![path] };
    let read = |file: PathBuf| {
        fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()).into())
    };
    files.into_iter().map(read).collect()
}

/// Returns the files of text below a directory, ordered by path.
///
/// # Errors
/// If a directory cannot be read.
pub fn text_files(directory: &Path) -> Read<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in sorted(directory)? {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() && !path.is_symlink() {
            files.extend(text_files(&path)?);
        } else if ENDINGS.contains(&ending) {
            files.push(path);
        }
    }
    Ok(files)
}

/// Returns `name-version` of every package from a registry.
fn names_of(lock: &str) -> BTreeSet<String> {
    let mut packages = BTreeSet::new();
    for package in lock.split("[[package]]") {
        let value = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_prefix("= \"")?.strip_suffix('"')
        };
        if let (Some(name), Some(version), Some(_)) =
            (value("name"), value("version"), value("source"))
        {
            packages.insert(format!("{name}-{version}"));
        }
    }
    packages
}

fn sorted(directory: &Path) -> Read<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_the_workspace_itself_are_left_out() {
        let lock = "version = 4\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n\n\
                    [[package]]\n\
                    name = \"fst\"\nversion = \"0.4.7\"\nsource = \"registry+https://x\"\n";
        assert_eq!(names_of(lock).into_iter().collect::<Vec<_>>(), ["fst-0.4.7"]);
    }
}
