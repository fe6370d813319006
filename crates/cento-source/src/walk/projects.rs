//! The macros that the files of a LaTeX project share.
//!
//! A chapter uses macros of the main file, and chapter and main file use macros of included files
//! and packages. LaTeX reads these files for every chapter. cento looks for the macros only in
//! inputs, because no other file is yours to read.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::includes::files_taken;
use crate::charset::decode_undoubted;
use crate::format::has_ending;
use crate::{SourceOptions, tex};

/// The maximum number of files per project.
const FILES_MAX: usize = 1000;

/// The maximum size of the definitions of a project, in bytes.
const DEFINITIONS_BYTES_MAX: usize = 1 << 20;

/// The definitions of a project, by the files of the project.
type FileProjects = HashMap<PathBuf, Arc<str>>;

/// The LaTeX projects among the inputs.
#[derive(Debug, Default)]
pub struct Projects {
    inputs: HashSet<PathBuf>,
    /// The projects whose main files are inputs. `None` until a file needs a project.
    named: Option<FileProjects>,
    /// The projects whose main files are in a directory.
    by_directory: HashMap<PathBuf, FileProjects>,
}

impl Projects {
    pub fn of(inputs: &[impl AsRef<Path>]) -> Projects {
        let inputs = inputs.iter().map(|input| clean(input.as_ref())).collect();
        Projects { inputs, named: None, by_directory: HashMap::new() }
    }

    /// Returns the definitions of the file's project, unless the file is a project of its own.
    pub fn definitions(&mut self, file: &Path, options: &SourceOptions) -> Option<Arc<str>> {
        let file = clean(file);
        if self.named.is_none() {
            self.named = Some(self.projects(sorted(self.inputs.iter().cloned()), options));
        }
        if let Some(found) = self.named.as_ref().and_then(|named| named.get(&file)) {
            return Some(found.clone());
        }
        // A chapter most likely belongs to the nearest main file.
        let directories = file.ancestors().skip(1).take_while(|of| self.is_input(of));
        let directories: Vec<&Path> = directories.collect();
        self.by_directory.retain(|of, _| directories.contains(&&**of));
        directories.into_iter().find_map(|directory| {
            if !self.by_directory.contains_key(directory) {
                let found = self.projects(files_of(directory), options);
                self.by_directory.insert(directory.to_owned(), found);
            }
            self.by_directory[directory].get(&file).cloned()
        })
    }

    /// Returns the projects of several files whose main files are among `files`.
    fn projects(&self, files: Vec<PathBuf>, options: &SourceOptions) -> FileProjects {
        let (mut projects, mut read) = (FileProjects::new(), HashMap::new());
        for main in files {
            if !has_ending(&main.to_string_lossy(), tex::FORMAT.endings) {
                continue;
            }
            let mut project = Project { of: self, read: &mut read, files: Vec::new(), options };
            let is_main = project.file(&main).is_some_and(|file| file.is_main);
            if !is_main {
                continue;
            }
            let definitions = project.collect(&main);
            let files = project.files;
            if files.len() > 1 && !definitions.is_empty() {
                let definitions: Arc<str> = definitions.into();
                for file in files {
                    projects.entry(file).or_insert_with(|| definitions.clone());
                }
            }
        }
        projects
    }

    /// Returns whether a clean path is an input or below one.
    fn is_input(&self, path: &Path) -> bool {
        let is_above = |of: &Path| of.as_os_str().is_empty() && path.starts_with("..");
        path.ancestors().any(|of| self.inputs.contains(of) && !is_above(of))
    }
}

/// A file of a project.
#[derive(Debug)]
struct ProjectFile {
    is_main: bool,
    includes: Vec<String>,
    definitions: String,
}

/// A project while its files are found.
struct Project<'a> {
    of: &'a Projects,
    /// The files read, or `None` for unreadable files.
    read: &'a mut HashMap<PathBuf, Option<Arc<ProjectFile>>>,
    /// The files found.
    files: Vec<PathBuf>,
    options: &'a SourceOptions,
}

impl Project<'_> {
    /// Finds all files of the project, and returns their definitions. A file may use or replace the
    /// macros of an included file, so the definitions of the including file come later.
    fn collect(&mut self, main: &Path) -> String {
        let directory = main.parent().unwrap_or(Path::new(""));
        let mut seen = HashSet::from([main.to_owned()]);
        let mut definitions = String::new();
        // A stack instead of a recursion, because a chain of includes may be long.
        let mut open = vec![(main.to_owned(), false)];
        while let Some((path, has_includes)) = open.pop() {
            let Some(file) = self.file(&path) else { continue };
            if has_includes {
                if definitions.len() + file.definitions.len() <= DEFINITIONS_BYTES_MAX {
                    definitions.push_str(&file.definitions);
                }
                self.files.push(path);
                continue;
            }
            let own = path.parent().unwrap_or(Path::new("")).to_owned();
            open.push((path, true));
            for name in file.includes.iter().rev() {
                let places = [directory, &own].map(|from| clean(&from.join(name)));
                let found = places.into_iter().find(|place| self.file(place).is_some());
                let found = found.filter(|_| seen.len() < FILES_MAX);
                if let Some(found) = found.filter(|found| seen.insert(found.clone())) {
                    open.push((found, false));
                }
            }
        }
        definitions
    }

    /// Reads a file, if the inputs contain the file.
    fn file(&mut self, path: &Path) -> Option<Arc<ProjectFile>> {
        if let Some(read) = self.read.get(path) {
            return read.clone();
        }
        let read = self.read_file(path).map(Arc::new);
        self.read.insert(path.to_owned(), read.clone());
        read
    }

    fn read_file(&self, path: &Path) -> Option<ProjectFile> {
        // Before the file is opened: to read a pipe or device may never end.
        let found = self.of.is_input(path).then(|| fs::symlink_metadata(path))?.ok()?;
        if !found.is_file() || found.len() > self.options.record_bytes_max as u64 {
            return None;
        }
        let bytes = fs::read(path).ok()?;
        let source = decode_undoubted(&bytes, self.options.label()).ok()?;
        Some(ProjectFile {
            is_main: tex::is_main(&source),
            includes: files_taken(&bytes),
            definitions: tex::definition_sources(&source),
        })
    }
}

/// Returns the files in a directory, in the order of their names.
fn files_of(directory: &Path) -> Vec<PathBuf> {
    let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let entries = fs::read_dir(here).into_iter().flatten().flatten();
    sorted(entries.map(|entry| directory.join(entry.file_name())))
}

fn sorted(files: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = files.collect();
    files.sort_unstable();
    files
}

/// Removes `.` from a path, and each `..` that follows the name of a directory.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if clean.file_name().is_some() => _ = clean.pop(),
            part => clean.push(part),
        }
    }
    clean
}
