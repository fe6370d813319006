//! The Parquet files of the inputs, and the places of their copies in the output.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cento::{Error, Result};
use cento_source::{FileBelow, ReadError, SourceOptions, files_below, is_parquet, place_of};

/// A Parquet file, and the place of its copy in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInput {
    /// The path of the file to copy.
    pub path: PathBuf,
    /// The file's name in the places of rows, as messages and ids show it.
    pub place: Arc<str>,
    /// The copy, below the directory of the output.
    pub copy: PathBuf,
}

/// The Parquet files below the inputs.
#[derive(Debug, Default)]
pub struct Tree {
    /// In the order of the inputs, and of paths within a directory.
    pub files: Vec<TableInput>,
    /// Skipped files of directories, with the reasons.
    pub left_out: Vec<(String, &'static str)>,
}

/// The reason why a file is not copied.
const NO_TABLE: &str = "it is no Parquet file, and only those are copied";

/// Why `_metadata` and `_common_metadata`, which Spark writes, are not copied.
const DESCRIPTION: &str = "it describes the other files, and has no rows of its own";
const DESCRIPTIONS: [&str; 2] = ["_metadata", "_common_metadata"];

impl Tree {
    /// Finds the files of these inputs. The copy of a file keeps the path below the input
    /// directory. The copy of a single file keeps the path below the last directory that is not
    /// `key=value`. If two copies would collide, every copy keeps the path below the common
    /// directory.
    ///
    /// # Errors
    /// When an input is neither a Parquet file nor a directory with Parquet files, or is given
    /// twice.
    pub fn of(inputs: &[PathBuf], options: &SourceOptions) -> Result<Tree> {
        let mut tree = Tree::default();
        for input in inputs {
            let refused = |what: &str| Err(Error::input(input.display().to_string(), what));
            if input.is_dir() {
                let before = tree.files.len();
                tree.add_directory(input, options)?;
                if tree.files.len() == before {
                    return refused("there is no Parquet file in it");
                }
            } else if let Some(why) = options.filter.why_not_named(input) {
                tree.left_out.push((place_of(input).to_string(), why));
            } else if input == Path::new("-") || !is_parquet(input)? {
                return refused(
                    "it is no Parquet file; where the output is a directory, all inputs are \
                     Parquet files or directories of them",
                );
            } else {
                tree.push(input.clone(), below_partitions(input));
            }
        }
        tree.part()?;
        Ok(tree)
    }

    fn add_directory(&mut self, dir: &Path, options: &SourceOptions) -> Result<()> {
        for found in files_below(dir, options) {
            match found {
                Ok(FileBelow { path, below }) => self.add_file(path, below)?,
                Err(ReadError::LeftOut { place, why, .. }) => self.left_out.push((place, why)),
                Err(ReadError::Refused(error) | ReadError::Unread(error)) => return Err(error),
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: PathBuf, below: PathBuf) -> Result<()> {
        let describes =
            DESCRIPTIONS.iter().any(|name| path.file_name().is_some_and(|n| n == *name));
        match describes {
            true => self.left_out.push((place_of(&path).to_string(), DESCRIPTION)),
            false if !is_parquet(&path)? => {
                self.left_out.push((place_of(&path).to_string(), NO_TABLE));
            }
            false => self.push(path, below),
        }
        Ok(())
    }

    fn push(&mut self, path: PathBuf, copy: PathBuf) {
        let place = place_of(&path);
        self.files.push(TableInput { path, place, copy });
    }

    /// Gives each file a different path of the copy.
    fn part(&mut self) -> Result<()> {
        let mut copies = HashSet::new();
        if self.files.iter().all(|file| copies.insert(&file.copy)) {
            return Ok(());
        }
        let whole: Vec<PathBuf> =
            self.files.iter().map(|file| absolute(&file.path)).collect::<Result<_>>()?;
        let mut seen = HashSet::new();
        if let Some(at) = whole.iter().position(|path| !seen.insert(path)) {
            let shown = self.files[at].path.display().to_string();
            return Err(Error::input(shown, "this file is named twice; name it once"));
        }
        let mut common = whole[0].parent().map_or_else(PathBuf::new, Path::to_owned);
        while !whole.iter().all(|path| path.starts_with(&common)) && common.pop() {}
        for (file, whole) in self.files.iter_mut().zip(&whole) {
            whole.strip_prefix(&common).unwrap_or(whole).clone_into(&mut file.copy);
        }
        Ok(())
    }
}

/// Returns the absolute path of a file, without resolving the last link.
fn absolute(path: &Path) -> Result<PathBuf> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let dir = dir.canonicalize().map_err(|e| Error::io("read", path, e))?;
    Ok(path.file_name().map_or_else(|| dir.clone(), |name| dir.join(name)))
}

/// Returns the name of a file, with the `key=value` directories above.
fn below_partitions(path: &Path) -> PathBuf {
    let is_partition = |part: &Component<'_>| match part {
        Component::Normal(name) => name.to_string_lossy().contains('='),
        _ => false,
    };
    let parts: Vec<Component<'_>> = path.components().collect();
    let (name, dirs) = parts.split_last().expect("a file has a name");
    let count = dirs.iter().rev().take_while(|part| is_partition(part)).count();
    dirs[dirs.len() - count..].iter().chain([name]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(inputs: &[&str], expected: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        let files = ["h/y=1/p.parquet", "h/y=2/p.parquet", "h/_metadata", "k/y=1/p.parquet"];
        for name in files.into_iter().chain(["a/p.parquet", "b/c/p.parquet", "h/_SUCCESS"]) {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, if name.ends_with('S') { "" } else { "PAR1" }).unwrap();
        }
        let inputs: Vec<PathBuf> = inputs.iter().map(|name| dir.path().join(name)).collect();
        let found = Tree::of(&inputs, &SourceOptions::default()).map(|tree| {
            tree.files.iter().map(|file| file.copy.display().to_string()).collect::<Vec<_>>()
        });
        assert_eq!(
            found.map_err(|error| error.to_string()).as_deref(),
            Ok(&expected.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()[..])
        );
    }

    #[test]
    fn copies_are_where_the_files_are() {
        check(&["h"], &["y=1/p.parquet", "y=2/p.parquet"]);
        check(&["h/y=1/p.parquet", "h/y=2/p.parquet"], &["y=1/p.parquet", "y=2/p.parquet"]);
        check(&["a/p.parquet"], &["p.parquet"]);
        check(&["a/p.parquet", "b/c/p.parquet"], &["a/p.parquet", "b/c/p.parquet"]);
        let both = ["h/y=1/p.parquet", "h/y=2/p.parquet", "k/y=1/p.parquet"];
        check(&["h", "k"], &both);
    }

    #[test]
    fn files_left_out_of_a_directory_are_named() {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in [("_metadata", "PAR1"), ("_SUCCESS", ""), ("p.parquet", "PAR1")] {
            std::fs::write(dir.path().join(name), bytes).unwrap();
        }
        let inputs = [dir.path().to_owned()];
        let tree = Tree::of(&inputs, &SourceOptions::default()).unwrap();
        let why: Vec<_> = tree.left_out.iter().map(|(_, why)| *why).collect();
        assert_eq!((tree.files.len(), why), (1, vec![NO_TABLE, DESCRIPTION]));
        let twice = [dir.path().join("p.parquet"), dir.path().join("./p.parquet")];
        let said = Tree::of(&twice, &SourceOptions::default()).unwrap_err().to_string();
        assert!(said.contains("named twice"), "{said}");
        std::fs::remove_file(dir.path().join("p.parquet")).unwrap();
        let said = Tree::of(&inputs, &SourceOptions::default()).unwrap_err().to_string();
        assert!(said.contains("no Parquet file in it"), "{said}");
    }
}
