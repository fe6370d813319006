//! Analyzes the file names of an input and their directories.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use cento::{Result, Stop};

use super::Container;
use crate::directory::place_of;
use crate::filter::{LIST, PathFilter, is_archive, is_by_name};
use crate::read_error::ReadError;
use crate::{Chunk, SourceOptions, walk};

/// The names of the files of an input.
#[derive(Debug)]
pub(super) struct InputNames {
    /// The place of the input.
    pub place: String,
    /// Whether the input is a list of records.
    pub is_list: bool,
    /// The paths of files that are read.
    pub files: Vec<String>,
    /// The paths of files that are skipped by their names.
    pub by_name: Vec<String>,
    is_dir: bool,
    is_on_disk: bool,
}

/// The innermost directory whose parents contain nothing else except notes.
///
/// The core is computed from the list of files, because a tree of directories took three hundred
/// times the bytes of deep paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Core<'a> {
    /// The names of the directories that lead to the core.
    pub path: Vec<&'a str>,
    /// Whether the core holds documents of several people. It must have only directories, at least
    /// two of them with names that distinguish people. With a note such as a README, which an
    /// export may put beside the submissions, three are needed, because the project of a single
    /// person may have two.
    pub is_course: bool,
}

/// Directory names within programs and papers. Such names do not distinguish people.
const OF_PROJECTS: [&str; 34] = [
    "app",
    "assets",
    "bin",
    "build",
    "code",
    "com",
    "config",
    "css",
    "data",
    "dist",
    "doc",
    "docs",
    "figures",
    "images",
    "img",
    "include",
    "java",
    "js",
    "lib",
    "libs",
    "main",
    "org",
    "out",
    "public",
    "python",
    "res",
    "resources",
    "scripts",
    "source",
    "src",
    "static",
    "test",
    "tests",
    "util",
];

/// Returns whether a file name is the name of a note about the directory.
fn is_note(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["readme", "liesmich"].iter().any(|start| name.starts_with(start))
}

/// Returns whether a file is a list of records, by its contents or name.
pub fn is_list(chunk: &Chunk) -> bool {
    !chunk.kind.is_whole_file() || PathFilter::is_data(&chunk.path)
}

/// Returns the parts of a path below a root, which may be the path itself.
pub fn parts_below<'a>(root: &str, path: &'a str) -> Vec<&'a str> {
    let root = root.trim_end_matches('/');
    let below = match root {
        "" | "." => Some(path.trim_start_matches('/')),
        _ => path.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/')),
    };
    below
        .unwrap_or_default()
        .split(['/', std::path::MAIN_SEPARATOR])
        .filter(|p| !p.is_empty())
        .collect()
}

impl InputNames {
    fn new(place: String, is_dir: bool, is_on_disk: bool) -> InputNames {
        let (files, by_name) = (Vec::new(), Vec::new());
        InputNames { place, is_list: false, files, by_name, is_dir, is_on_disk }
    }

    /// Takes the paths of files below a place, and the paths of files skipped by name, from a list
    /// that was read elsewhere.
    pub fn listed<'a>(
        place: &str,
        files: impl Iterator<Item = &'a str>,
        by_name: Vec<String>,
    ) -> InputNames {
        let mut names = InputNames::new(place.to_owned(), false, false);
        names.by_name = by_name;
        names.files.extend(files.map(str::to_owned));
        names.is_dir = names.is_container() && !is_archive(place);
        names
    }

    /// Reads the names of the files of an input.
    pub fn read(input: &Path, options: &SourceOptions, stop: &Stop) -> Result<InputNames> {
        let mut names = InputNames::new(place_of(input).to_string(), input.is_dir(), true);
        walk::names(input, options, &mut |found| {
            match found {
                Ok(chunk) if *chunk.path == *names.place && is_list(&chunk) => names.is_list = true,
                Ok(chunk) => names.files.push(chunk.path.to_string()),
                Err(ReadError::LeftOut { place, why, .. }) if is_by_name(why) => {
                    names.by_name.push(place);
                }
                Err(ReadError::LeftOut { place, why, .. }) => {
                    names.is_list |= place == names.place && why == LIST;
                }
                // Reported later, when the files are read.
                Err(ReadError::Refused(_) | ReadError::Unread(_)) => {}
            }
            match stop.is_set() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        stop.check()?;
        Ok(names)
    }

    /// Returns whether the input is a directory or an archive.
    pub fn is_container(&self) -> bool {
        let is_below = |path: &String| !parts_below(&self.place, path).is_empty();
        self.is_dir || self.files.iter().any(is_below)
    }

    /// Returns a description of the input.
    pub fn container(&self) -> Container {
        let has_files = self.is_container();
        let is_archive = has_files && !self.is_dir;
        Container { place: self.place.clone(), has_files, is_archive, is_on_disk: self.is_on_disk }
    }

    /// Returns whether any file is in a directory or archive below the input.
    pub fn has_dirs(&self) -> bool {
        self.files.iter().any(|path| parts_below(&self.place, path).len() > 1)
    }

    /// Returns the innermost directory whose parents contain nothing else except notes.
    pub fn core(&self) -> Core<'_> {
        let paths = || self.files.iter().map(|path| parts_below(&self.place, path));
        // The directories common to all files, apart from notes.
        let mut path: Vec<&str> = Vec::new();
        let mut is_open = true;
        for parts in paths() {
            let Some((file, dirs)) = parts.split_last() else { continue };
            let common = path.iter().zip(dirs).take_while(|(a, b)| a == b).count();
            let is_note = is_note(file);
            match dirs.len() > common {
                // So far, the parents contained only notes.
                true if is_open && common == path.len() => path = dirs.to_vec(),
                true => {
                    path.truncate(common);
                    is_open = false;
                }
                false if is_note => {}
                false => path.truncate(common),
            }
            is_open &= is_note;
        }
        let own = path.iter().take_while(|name| !OF_PROJECTS.contains(name)).count();
        path.truncate(own);
        let (mut has_files, mut has_notes) = (false, false);
        let mut dirs = BTreeSet::new();
        for parts in paths().filter(|parts| parts.starts_with(&path)) {
            match &parts[path.len()..] {
                [] => {}
                [file] if is_note(file) => has_notes = true,
                [_] => has_files = true,
                // Three names suffice for any decision.
                [dir, ..] if !OF_PROJECTS.contains(dir) && dirs.len() < 3 => {
                    dirs.insert(*dir);
                }
                [..] => {}
            }
        }
        let least = if has_notes { 3 } else { 2 };
        let is_course = !has_files && dirs.len() >= least;
        Core { path, is_course }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 5] = ["a", "b", "c", "src", "README"];

    /// A directory of a tree, which defines the core.
    #[derive(Default)]
    struct Dir<'a> {
        dirs: BTreeMap<&'a str, Dir<'a>>,
        has_files: bool,
        has_notes: bool,
    }

    /// Finds the core in a tree of all directories.
    fn naive(names: &InputNames) -> Core<'_> {
        let mut tree = Dir::default();
        for path in &names.files {
            let parts = parts_below(&names.place, path);
            let Some((file, dirs)) = parts.split_last() else { continue };
            let dir = dirs.iter().fold(&mut tree, |dir, name| dir.dirs.entry(name).or_default());
            match is_note(file) {
                true => dir.has_notes = true,
                false => dir.has_files = true,
            }
        }
        let (mut path, mut dir) = (Vec::new(), &tree);
        while let (false, 1, Some((name, only))) =
            (dir.has_files, dir.dirs.len(), dir.dirs.first_key_value())
        {
            if OF_PROJECTS.contains(name) {
                break;
            }
            path.push(*name);
            dir = only;
        }
        let own = dir.dirs.keys().filter(|name| !OF_PROJECTS.contains(name)).count();
        let least = if dir.has_notes { 3 } else { 2 };
        Core { path, is_course: !dir.has_files && own >= least }
    }

    proptest! {
        #[test]
        fn the_core_is_that_of_a_tree_of_all_directories(
            paths in prop::collection::vec(
                prop::collection::vec(prop::sample::select(NAMES.to_vec()), 1..5), 0..8,
            ),
            is_below in any::<bool>(),
        ) {
            let start = if is_below { "x/" } else { "x/only/" };
            let path = |parts: &Vec<&str>| format!("{start}{}", parts.join("/"));
            let files: Vec<String> = paths.iter().map(path).collect();
            let names = InputNames::listed("x", files.iter().map(String::as_str), Vec::new());
            prop_assert_eq!(names.core(), naive(&names));
            let has_dirs = files.iter().any(|path| path.matches('/').count() > 1);
            prop_assert_eq!(names.has_dirs(), has_dirs);
            prop_assert_eq!(names.is_container(), !files.is_empty());
        }
    }
}
