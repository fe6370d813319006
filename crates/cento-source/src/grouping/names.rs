//! The names of the files of an input, and the directories that they make.

use std::collections::BTreeMap;
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
pub(super) struct Names {
    /// The place of the input.
    pub place: String,
    /// Whether it is a list of records.
    pub is_list: bool,
    /// The paths of the files that are read.
    pub files: Vec<String>,
    /// The paths of those that are left out by their names.
    pub by_name: Vec<String>,
    /// The directories and archives of the files that are read.
    pub tree: Dir,
    is_dir: bool,
    is_on_disk: bool,
}

/// A directory, or an archive.
#[derive(Debug, Default)]
pub(super) struct Dir {
    /// The directories in it.
    pub dirs: BTreeMap<String, Dir>,
    /// Whether files are directly in it.
    has_files: bool,
    /// Whether notes are, such as a README, which an export puts beside the hand-ins.
    has_notes: bool,
}

/// Names of directories within a program or a paper: they do not tell people apart.
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

/// Tells whether a file is a note on the files beside it, by its name.
fn is_note(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["readme", "liesmich"].iter().any(|start| name.starts_with(start))
}

/// Tells whether a file is a list of records, by its form or its name.
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

impl Names {
    fn new(place: String, is_dir: bool, is_on_disk: bool) -> Names {
        let (files, by_name, tree) = (Vec::new(), Vec::new(), Dir::default());
        Names { place, is_list: false, files, by_name, tree, is_dir, is_on_disk }
    }

    /// Takes the paths of files below a place, which were read elsewhere, and of those that are
    /// left out by their names.
    pub fn listed<'a>(
        place: &str,
        files: impl Iterator<Item = &'a str>,
        by_name: Vec<String>,
    ) -> Names {
        let mut names = Names::new(place.to_owned(), false, false);
        names.by_name = by_name;
        files.for_each(|path| names.push(path));
        names.is_dir = names.is_container() && !is_archive(place);
        names
    }

    /// Reads the names of the files of an input.
    pub fn read(input: &Path, options: &SourceOptions, stop: &Stop) -> Result<Names> {
        let mut names = Names::new(place_of(input).to_string(), input.is_dir(), true);
        walk::names(input, options, &mut |found| {
            match found {
                Ok(chunk) if *chunk.path == *names.place && is_list(&chunk) => names.is_list = true,
                Ok(chunk) => names.push(&chunk.path),
                Err(ReadError::LeftOut { place, why, .. }) if is_by_name(why) => {
                    names.by_name.push(place);
                }
                Err(ReadError::LeftOut { place, why, .. }) => {
                    names.is_list |= place == names.place && why == LIST;
                }
                // The reader of the files reports it.
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

    fn push(&mut self, path: &str) {
        let parts = parts_below(&self.place, path);
        if let Some((file, dirs)) = parts.split_last() {
            let dir = dirs
                .iter()
                .fold(&mut self.tree, |dir, name| dir.dirs.entry((*name).to_owned()).or_default());
            match is_note(file) {
                true => dir.has_notes = true,
                false => dir.has_files = true,
            }
        }
        self.files.push(path.to_owned());
    }

    /// Tells whether it is a directory or an archive.
    pub fn is_container(&self) -> bool {
        let Dir { dirs, has_files, has_notes } = &self.tree;
        self.is_dir || *has_files || *has_notes || !dirs.is_empty()
    }

    /// Describes the input.
    pub fn container(&self) -> Container {
        let has_files = self.is_container();
        let is_archive = has_files && !self.is_dir;
        Container { place: self.place.clone(), has_files, is_archive, is_on_disk: self.is_on_disk }
    }
}

impl Dir {
    /// Returns the directory that is in no need of those around it: each of them has nothing else
    /// in it but notes; and their number.
    pub fn core(&self) -> (usize, &Dir) {
        let (mut depth, mut dir) = (0, self);
        while let (false, 1, Some((name, only))) =
            (dir.has_files, dir.dirs.len(), dir.dirs.first_key_value())
        {
            if OF_PROJECTS.contains(&name.as_str()) {
                break;
            }
            (depth, dir) = (depth + 1, only);
        }
        (depth, dir)
    }

    /// Returns the names of the outermost `depth` directories that have nothing beside them.
    pub fn path_to(&self, depth: usize) -> Vec<&str> {
        let (mut path, mut dir) = (Vec::new(), self);
        while let Some((name, only)) = dir.dirs.first_key_value().filter(|_| path.len() < depth) {
            path.push(name.as_str());
            dir = only;
        }
        path
    }

    /// Tells whether it holds documents of several people: it has directories alone, and at
    /// least two of them have names that tell them apart; beside notes, at least three: a project
    /// of one person may have two.
    pub fn is_course(&self) -> bool {
        let own = self.dirs.keys().filter(|name| !OF_PROJECTS.contains(&name.as_str()));
        let least = if self.has_notes { 3 } else { 2 };
        !self.has_files && own.count() >= least
    }
}
