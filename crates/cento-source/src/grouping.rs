//! Decides which files form a document together.
//!
//! All file names are read first. Their common directories show where documents begin, and the
//! number of files shows when a document is complete, so that the document can be passed on
//! immediately.

mod listed;
mod names;
mod proposal;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cento::{Error, Result, Stop};
use cento_api::NamePattern;

use crate::directory::place_of;
use crate::filter::{PathFilter, is_archive};
use crate::read_error::ReadError;
use crate::{Chunk, SourceOptions};
pub use listed::{GroupedFiles, ListedFiles};
use names::{Core, InputNames, is_list, parts_below};

/// The rule for the files of a document.
///
/// ```
/// use cento_source::By;
///
/// assert!(matches!("directory".parse(), Ok(By::Directory)));
/// // A pattern of names needs to say what the document is.
/// assert!("{document}_{*}_{part}".parse::<By>().is_ok());
/// assert!("{author}_{part}".parse::<By>().unwrap_err().contains("{document}"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum By {
    /// Each file is a document.
    #[default]
    File,
    /// All files below a directory or in an archive. A single input contains the directories and
    /// archives of the documents. Each of several inputs is a document, unless most inputs hold
    /// only directories.
    Directory,
    /// All files in an archive. The outermost archive counts, unless most outermost archives hold
    /// only archives.
    Archive,
    /// All files whose paths have the same value of `{document}`. Other fields become fields of
    /// `meta`, and `{part}` is the name of the file within its document.
    Pattern(NamePattern),
}

/// The fields of a pattern with a meaning of their own.
const DOCUMENT: &str = "document";
const PART: &str = "part";

impl FromStr for By {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<By, String> {
        match text {
            "file" => Ok(By::File),
            "directory" => Ok(By::Directory),
            "archive" => Ok(By::Archive),
            _ if !NamePattern::is_pattern(text) => Err("expected file, directory, archive, or a \
                                                        pattern such as '{document}_{*}_{part}'"
                .into()),
            _ => {
                let pattern = NamePattern::new(text).map_err(|error| error.to_string())?;
                let has_document = pattern.fields().any(|field| field == DOCUMENT);
                match has_document {
                    true => Ok(By::Pattern(pattern)),
                    false => Err("the pattern has no field {document}".into()),
                }
            }
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            By::File => "file",
            By::Directory => "directory",
            By::Archive => "archive",
            By::Pattern(pattern) => pattern.as_str(),
        })
    }
}

/// The documents of some inputs, with several files per document.
#[derive(Debug)]
pub struct Grouping {
    by: By,
    roots: Vec<Root>,
    /// The number of files of each document, by id.
    files: HashMap<String, u32>,
    /// Documents without any file left, because every file is skipped by its name.
    emptied: Vec<String>,
    /// Whether a file is in several inputs.
    repeats: bool,
    /// Where the documents begin, if the choice is not obvious.
    remarks: Vec<Remark>,
}

/// A remark about how files were grouped, with advice for users of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The fact, as a clause.
    pub fact: String,
    /// What a user can do, as a clause with options. `None` if nothing can be done.
    pub advice: Option<String>,
}

impl Remark {
    fn new(fact: impl Into<String>, advice: impl Into<Option<String>>) -> Remark {
        Remark { fact: fact.into(), advice: advice.into() }
    }
}

/// An input with its level of documents.
#[derive(Debug)]
struct Root {
    container: Container,
    level: GroupLevel,
}

/// The kind of an input.
#[derive(Debug, Clone)]
pub(crate) struct Container {
    place: String,
    /// Whether the input is a directory or an archive.
    has_files: bool,
    is_archive: bool,
    /// Whether the files are on disk. Otherwise only their names are known.
    is_on_disk: bool,
}

/// Where the documents begin in a directory or archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GroupLevel {
    /// The whole input is a document.
    Whole,
    /// Each directory or file at this depth is a document.
    Below(usize),
    /// Each archive is a document. `inner` selects innermost instead of outermost archives.
    Archives { inner: bool },
    /// The pattern decides. `from_name` lets it begin at the name of the input.
    Pattern { from_name: bool },
}

/// Why nothing is left of a document.
const NOTHING_LEFT: &str = "all of its files are skipped because of their names";

/// Why a file is in no document.
pub(crate) const NO_MATCH: &str = "its path does not fit the pattern";

/// The document that a file belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GroupPlace {
    /// The id of the document.
    pub document: String,
    /// The name of the file within the document.
    pub part: String,
    /// The fields of the pattern.
    pub fields: Vec<(String, String)>,
}

impl Grouping {
    /// Reads the file names of `inputs` and groups the files into documents. Returns `None` if each
    /// file is a document.
    ///
    /// # Errors
    /// When an input can be read only once, or all inputs are lists of records, which have no
    /// directories. [`Error::Cancelled`] after `stop`.
    pub fn of(
        by: &By,
        inputs: &[PathBuf],
        options: &SourceOptions,
        stop: &Stop,
    ) -> Result<Option<Grouping>> {
        if *by == By::File {
            return Ok(None);
        }
        let mut all = Vec::new();
        for input in inputs {
            check_twice(input)?;
            all.push(InputNames::read(input, options, stop)?);
        }
        if let Some(list) = all.first().filter(|_| all.iter().all(|names| names.is_list)) {
            let what = "its documents are in no directories; use --by file, or name directories \
                        or archives without it";
            return Err(Error::input(&*list.place, what));
        }
        let mut grouping = Grouping::of_all(by, &all, stop)?;
        if *by == By::Directory {
            let names = all.iter().flat_map(|names| &names.files).cloned().collect::<Vec<_>>();
            if let pattern @ By::Pattern(_) = By::proposed(&names, stop)? {
                let fact = "the names look like a download from a learning platform";
                let advice = format!("--by '{pattern}' makes one document of each submission");
                grouping.remarks.push(Remark::new(fact, advice));
            }
        }
        Ok(Some(grouping))
    }

    /// Groups the files of these inputs into documents.
    fn of_all(by: &By, all: &[InputNames], stop: &Stop) -> Result<Grouping> {
        let (levels, remark) = match by {
            By::Archive => (archives(all), None),
            By::Pattern(_) => {
                let from_name = all.len() > 1;
                (all.iter().map(|_| GroupLevel::Pattern { from_name }).collect(), None)
            }
            By::Directory | By::File => directories(all),
        };
        let root = |(names, level): (&InputNames, GroupLevel)| Root {
            container: names.container(),
            level,
        };
        let roots = all.iter().zip(levels).map(root).collect();
        let mut grouping = Grouping {
            by: by.clone(),
            roots,
            files: HashMap::new(),
            emptied: Vec::new(),
            repeats: false,
            remarks: remark.into_iter().collect(),
        };
        let mut seen = HashSet::new();
        let mut deeper = Deeper::default();
        for (number, names) in all.iter().enumerate() {
            for file in &names.files {
                stop.check()?;
                if !seen.insert(file) {
                    grouping.repeats = true;
                } else if let Some(place) = grouping.place(number, file) {
                    deeper.note(&place.part);
                    *grouping.files.entry(place.document).or_default() += 1;
                }
            }
        }
        if let By::Pattern(pattern) = by {
            grouping.remarks.extend(deeper.remark(pattern));
        }
        let mut emptied = HashSet::new();
        for (number, names) in all.iter().enumerate() {
            for file in &names.by_name {
                let place = grouping.place(number, file).filter(|place| place.document != *file);
                let Some(GroupPlace { document, .. }) = place else { continue };
                // A directory that a program adds, such as __MACOSX, is not a submission.
                let parts = parts_below(&names.place, &document);
                if parts.into_iter().any(PathFilter::is_library) {
                    continue;
                }
                if !grouping.files.contains_key(&document) && emptied.insert(document.clone()) {
                    grouping.emptied.push(document);
                }
            }
        }
        Ok(grouping)
    }

    /// Returns whether no document has a file, because every file is skipped by its name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns remarks about where the documents begin, empty if the choice is obvious.
    #[must_use]
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// Tells whether this is the place of the input itself.
    pub(crate) fn is_input(&self, input: usize, place: &str) -> bool {
        self.roots[input].container.place == place
    }

    /// Returns whether a directory without readable files would be a document of its own.
    pub(crate) fn is_document(&self, input: usize, dir: &str) -> bool {
        let below = parts_below(&self.roots[input].container.place, dir);
        if below.into_iter().any(PathFilter::is_library) {
            return false;
        }
        let place = self.place(input, &format!("{dir}/file"));
        place.is_some_and(|place| place.document == dir && self.files_of(dir) == 0)
    }

    /// Returns the number of files of a document.
    pub(crate) fn files_of(&self, document: &str) -> u32 {
        self.files.get(document).copied().unwrap_or(0)
    }

    /// Returns whether inputs overlap. A shared file is read once.
    pub(crate) fn repeats(&self) -> bool {
        self.repeats
    }

    /// Returns a report for each document without files.
    pub(crate) fn emptied(&self) -> impl Iterator<Item = ReadError> + '_ {
        self.emptied.iter().map(|id| ReadError::LeftOut {
            place: id.clone(),
            why: NOTHING_LEFT,
            feature: None,
        })
    }

    /// Returns whether a chunk has records, or its file was given as an input and holds data.
    pub(crate) fn is_list(&self, input: usize, chunk: &Chunk) -> bool {
        !chunk.kind.is_whole_file()
            || (*chunk.path == *self.roots[input].container.place && is_list(chunk))
    }

    /// Returns the document of the file at `path`, or `None` if the file belongs to no document.
    /// `input` is the index of the input.
    pub(crate) fn place(&self, input: usize, path: &str) -> Option<GroupPlace> {
        let root = &self.roots[input];
        let alone =
            || GroupPlace { document: path.to_owned(), part: file_name(path), fields: vec![] };
        let below = parts_below(&root.container.place, path);
        match (root.level, &self.by) {
            (GroupLevel::Pattern { from_name }, By::Pattern(pattern)) => {
                let from_name = from_name || !root.container.has_files;
                matched(pattern, path, below.len(), from_name)
            }
            _ if below.is_empty() => Some(alone()),
            (GroupLevel::Whole, _) => Some(split(path, below.len())),
            (GroupLevel::Below(depth), _) => match below.len().checked_sub(depth + 1) {
                Some(rest @ 1..) => Some(split(path, rest)),
                _ => Some(alone()),
            },
            (GroupLevel::Archives { inner }, _) => {
                let ends = archives_in(&root.container, &below);
                let end = if inner { ends.get(1) } else { ends.first() };
                Some(end.map_or_else(alone, |end| split(path, below.len() - end)))
            }
            (GroupLevel::Pattern { .. }, _) => Some(alone()),
        }
    }
}

/// Detects a pattern with fewer directories than the paths.
#[derive(Debug, Default)]
struct Deeper {
    /// A part with a directory.
    example: Option<String>,
    /// Whether some file is not in a directory of its document.
    is_other: bool,
}

impl Deeper {
    fn note(&mut self, part: &str) {
        match part.contains('/') {
            true if self.example.is_none() => self.example = Some(part.to_owned()),
            true => {}
            false => self.is_other = true,
        }
    }

    /// Returns a remark if `{part}` has a directory in all files. The document may then begin a
    /// level deeper.
    fn remark(self, pattern: &NamePattern) -> Option<Remark> {
        let example = self.example.filter(|_| !self.is_other)?;
        if !pattern.fields().any(|field| field == PART) {
            return None;
        }
        let fact = format!("{{part}} has a directory in all files, such as `{example}`");
        let advice = format!(
            "--by '{{*}}/{pattern}' begins one directory further down",
            pattern = pattern.as_str()
        );
        Some(Remark::new(fact, advice))
    }
}

/// Refuses an input that can be read only once, because names and contents are read separately.
fn check_twice(input: &Path) -> Result<()> {
    let is_stream = input == Path::new("-")
        || input.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    match is_stream {
        false => Ok(()),
        true => {
            let what = "its documents are in no directories; use --by file, or name directories \
                        or archives, which are read twice";
            Err(Error::input(place_of(input).to_string(), what))
        }
    }
}

/// Splits a path before the last `rest` components.
fn split(path: &str, rest: usize) -> GroupPlace {
    let cut = path.rmatch_indices(['/', std::path::MAIN_SEPARATOR]).nth(rest - 1);
    let cut = cut.map_or(0, |(at, _)| at);
    let part = path[cut..].trim_start_matches(['/', std::path::MAIN_SEPARATOR]).to_owned();
    GroupPlace { document: path[..cut].to_owned(), part, fields: Vec::new() }
}

fn file_name(path: &str) -> String {
    path.rsplit(['/', std::path::MAIN_SEPARATOR]).next().unwrap_or(path).to_owned()
}

/// Returns the place that a pattern finds in a path with `below` components below the input. The
/// pattern may begin at any of these components, or at the name of the input, which is tried first
/// if `from_name` is set, else last.
fn matched(pattern: &NamePattern, path: &str, below: usize, from_name: bool) -> Option<GroupPlace> {
    // Found once, because a search for each separator took quadratic time for deep paths.
    let separators = path.rmatch_indices(['/', std::path::MAIN_SEPARATOR]).map(|(at, _)| at + 1);
    let mut starts: Vec<usize> = separators.chain([0]).take(below + 1).collect();
    let of_input = if starts.len() > below { starts.pop() } else { None };
    starts.reverse();
    let at = if from_name { 0 } else { starts.len() };
    starts.insert(at, of_input.unwrap_or(0));
    starts.into_iter().find_map(|start| {
        let fields = pattern.of_path(&path[start..])?;
        let value = |name: &str| fields.iter().find(|field| field.0 == name).map(|field| field.1);
        let document = value(DOCUMENT)?;
        let begin = document.as_ptr() as usize - path.as_ptr() as usize;
        // The directories before the document distinguish documents with equal names.
        let dir = path[..begin].rfind(['/', std::path::MAIN_SEPARATOR]).map_or(0, |at| at + 1);
        // So do named fields before the document in the file name, such as the term or the author.
        let is_own = |value: &str| {
            let at = value.as_ptr() as usize - path.as_ptr() as usize;
            (dir..=begin).contains(&at)
        };
        let own = fields.iter().map(|field| field.1).filter(|value| is_own(value));
        let own: Vec<&str> = own.collect();
        let rest = path[begin + document.len()..].split_once('/').map(|(_, rest)| rest.to_owned());
        let part = value(PART).map(str::to_owned).or(rest).unwrap_or_else(|| file_name(path));
        let others = fields.iter().filter(|(name, _)| ![DOCUMENT, PART].contains(name));
        Some(GroupPlace {
            document: format!("{}{}", &path[..dir], own.join("_")),
            part,
            fields: others.map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
        })
    })
}

/// Returns the depths of the archives along a path. 0 means that the input is an archive.
fn archives_in(root: &Container, below: &[&str]) -> Vec<usize> {
    let mut ends = Vec::new();
    if root.is_archive {
        ends.push(0);
    }
    let mut path = PathBuf::from(&root.place);
    for (number, part) in below[..below.len().saturating_sub(1)].iter().enumerate() {
        path.push(part);
        // On disk, an archive may have any name. Within archives, the extension decides.
        let is_file = || root.is_on_disk && !root.is_archive && path.is_file();
        if is_archive(part) || (ends.is_empty() && is_file()) {
            ends.push(number + 1);
        }
    }
    ends
}

/// Returns the levels of `--by archive`.
fn archives(all: &[InputNames]) -> Vec<GroupLevel> {
    // The inner archives by outermost archive, with a flag for other files.
    let mut outer: BTreeMap<String, (HashSet<String>, bool)> = BTreeMap::new();
    for names in all {
        for file in &names.files {
            let below = parts_below(&names.place, file);
            let ends = archives_in(&names.container(), &below);
            let Some(&first) = ends.first() else { continue };
            let found = outer.entry(split(file, below.len() - first).document).or_default();
            match ends.get(1) {
                Some(second) => {
                    found.0.insert(split(file, below.len() - second).document);
                }
                None => found.1 = true,
            }
        }
    }
    let courses = outer
        .values()
        .filter(|(inner, has_files)| inner.len() > 1 && (outer.len() == 1 || !has_files));
    let inner = courses.count() * 2 > outer.len();
    all.iter().map(|_| GroupLevel::Archives { inner }).collect()
}

/// Returns the levels of `--by directory`, with a remark if the levels are not obvious.
fn directories(all: &[InputNames]) -> (Vec<GroupLevel>, Option<Remark>) {
    if let [names] = all {
        let Core { path, is_course } = names.core();
        let depth = if is_course { path.len() } else { 0 };
        let remark = (depth > 0).then(|| {
            let path = format!("{}/{}", names.place, path.join("/"));
            Remark::new(format!("the directories in {path} are the documents"), None)
        });
        return (vec![GroupLevel::Below(depth)], remark);
    }
    let containers = all.iter().filter(|names| names.is_container());
    let cores: Vec<Core<'_>> = containers.map(InputNames::core).collect();
    let courses = cores.iter().filter(|core| core.is_course).count();
    // A directory with a single subdirectory may be a course with one participant, or a person's.
    let is_unclear = |core: &&Core<'_>| !core.is_course && !core.path.is_empty();
    let unclear = cores.iter().filter(is_unclear).count();
    let is_of_courses = courses > cores.len() - courses - unclear && courses >= unclear;
    let level = |names: &InputNames| match (is_of_courses, names.core()) {
        (false, _) => GroupLevel::Whole,
        (true, Core { path, is_course: true }) => GroupLevel::Below(path.len()),
        (true, _) if !names.has_dirs() => GroupLevel::Whole,
        (true, _) => GroupLevel::Below(0),
    };
    let (fact, advice) = match is_of_courses {
        true => (
            "each folder inside the ones that you name is one document, because most of these hold \
             only folders",
            "--by '{document}/{part}' makes one document of each folder that you name",
        ),
        false => (
            "each folder or archive that you name is one document",
            "--by '{*}/{document}/{part}' makes documents of the directories in them",
        ),
    };
    let remark = (!cores.is_empty()).then(|| Remark::new(fact, advice.to_owned()));
    (all.iter().map(level).collect(), remark)
}

#[cfg(test)]
mod tests;
