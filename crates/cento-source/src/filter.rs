//! Skips files by their names.
//!
//! The user's patterns decide first. In submissions, libraries and generated files are skipped,
//! too, because all submissions share them. So are data and files in other languages.

use std::path::Path;

use cento::text::code::languages_of;
use cento::{Error, Result};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::compressed::Compression;
use crate::format::has_ending;

/// Skips files by their names. By default, every file passes.
///
/// A pattern without `/` applies to the name of a file or of any directory above. A pattern with
/// `/` applies to the path below the directory or archive given as an input. Only patterns apply to
/// the inputs themselves. Archives are opened whatever is included.
///
/// ```
/// use std::path::Path;
/// use cento_source::PathFilter;
///
/// let filter = PathFilter::new(&["*.txt".to_owned()], &["draft*".to_owned()])?;
/// assert_eq!(filter.why_not(Path::new("essays/ann.txt")), None);
/// assert!(filter.why_not(Path::new("essays/draft1.txt")).is_some());
/// assert!(filter.why_not(Path::new("essays/ann.jpg")).is_some());
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PathFilter {
    include: Option<GlobSet>,
    exclude: GlobSet,
    /// The patterns as given, to compare runs.
    patterns: [Vec<String>; 2],
    libraries: Option<Libraries>,
    leaves_out_data: bool,
    /// The programming language that is read, and whether files given as inputs are checked, too.
    language: Option<(String, bool)>,
}

/// Which directories count as libraries.
#[derive(Debug, Clone, Copy)]
struct Libraries {
    /// Directories of the first level belong to people, so only names that are certain count there.
    first_is_a_person: bool,
    /// Whether names such as `bin` count, which directories of prose may also have.
    of_programs: bool,
}

/// The reason why a hidden file or directory is left out.
pub const HIDDEN: &str = "it is hidden";

/// Why a file of a WACZ file is left out. Its list of pages has no more than they have themselves.
pub(crate) const ABOUT_PAGES: &str =
    "it is about the pages of a web archive (WACZ), which are read from `archive`";

/// Why a list of records is no part of a document of several files.
pub(crate) const LIST: &str = "it is a list of records";

/// Why a link is not followed.
pub(crate) const LINK: &str = "it is a link";

/// Why JSON without a text is no list of records.
pub(crate) const NO_TEXT_FIELD: &str =
    "it is JSON, and no object in a place of records has the field with the text";

/// Why an empty file is not a part of a document with further files.
pub(crate) const EMPTY_PART: &str = "it is empty, and its document has other files";

/// Why nothing is read of an empty directory.
pub(crate) const NO_FILES: &str = "it has no files";

/// Why nothing is read of a directory, if ignore files may have excluded its files silently.
pub(crate) const NO_FILES_LEFT: &str = "it has no files that .gitignore and .ignore do not exclude";

/// Why nothing is read of a file without documents, such as a table without rows.
pub(crate) const NO_DOCUMENTS: &str = "it has no documents";

const BY_EXCLUDE: &str = "--exclude leaves it out";
const BY_INCLUDE: &str = "no pattern of --include is for it";
const LIBRARY: &str = "it is a library, or made by a program";
const DATA: &str = "it holds data, by its name";
/// Why a file or a record is skipped if only one programming language is read.
pub const OTHER_LANGUAGE: &str = "it does not have a file extension of the language";

/// Any pattern of `--include` would do, but a narrower pattern excludes the remaining files.
const READ_ALL: &str = "--include '*' reads it";

/// What a user of the command can do about a file skipped for this reason.
const ADVICE: [(&str, &str); 7] = [
    (HIDDEN, "--all reads it"),
    (LIST, "--by file compares those"),
    (LINK, "--follow-links follows the links in directories"),
    (
        NO_TEXT_FIELD,
        "name that with --text-field, of a benchmark with --question-field, or read the file as it \
         is with --html source",
    ),
    (LIBRARY, READ_ALL),
    (DATA, READ_ALL),
    (OTHER_LANGUAGE, READ_ALL),
];

/// Directory names that never hold the authors' own work. `extern`, `external` and `deps` are not
/// among them, because programs have modules of their own with such names.
const CERTAIN: [&str; 29] = [
    ".git",
    ".gradle",
    ".hg",
    ".idea",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".pytest_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vs",
    ".vscode",
    "3rd_party",
    "3rdparty",
    "CMakeFiles",
    "DerivedData",
    "__MACOSX",
    "__pycache__",
    "_vendor",
    "bower_components",
    "jspm_packages",
    "node_modules",
    "site-packages",
    "third-party",
    "third_party",
    "thirdparty",
    "vcpkg_installed",
    "venv",
];

/// Directory names of libraries that may also hold the authors' own work.
const VENDORED: [&str; 2] = ["vendor", "Pods"];

/// Directories filled by compilers. Below `src`, such a name is a package.
const BUILT: [&str; 7] =
    ["bin", "build", "cmake-build-debug", "cmake-build-release", "dist", "obj", "target"];

/// File-name extensions of generated files.
const WRITTEN: &[&str] = &[".min.js", ".min.css", ".map", ".lock"];

/// The endings of names of data.
const ENDINGS_OF_DATA: &[&str] = &[
    ".arrow", ".csv", ".feather", ".geojson", ".ipc", ".jl", ".json", ".jsonl", ".ndjson",
    ".parquet", ".tab", ".tsv", ".yaml", ".yml",
];

/// File-name extensions of lists of records.
const LISTS: &[&str] =
    &[".arrow", ".csv", ".feather", ".ipc", ".jl", ".jsonl", ".ndjson", ".parquet", ".tab", ".tsv"];

/// File-name extensions of archives, without compression.
const ARCHIVES: &[&str] = &[".tar", ".tgz", ".zip"];

/// Returns whether this is a reason to leave out a file by its name, or as an empty part of a
/// document.
#[must_use]
pub fn is_by_name(why: &str) -> bool {
    [EMPTY_PART, ABOUT_PAGES, HIDDEN, BY_EXCLUDE, BY_INCLUDE, LIBRARY, DATA, OTHER_LANGUAGE]
        .contains(&why)
}

/// Returns whether this is the reason of a file that the user's own patterns leave out.
#[must_use]
pub fn is_by_pattern(why: &str) -> bool {
    [BY_EXCLUDE, BY_INCLUDE].contains(&why)
}

/// Returns what a user of the command can do about a file skipped for this reason, as a clause with
/// options.
#[must_use]
pub fn advice(why: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(reason, _)| *reason == why).map(|(_, advice)| *advice)
}

/// Returns whether the name of a file is the name of an archive.
pub(crate) fn is_archive(name: &str) -> bool {
    has_ending(Compression::of_name(name).1, ARCHIVES)
}

impl PathFilter {
    /// Returns a filter that reads only files which a pattern of `include` matches, if there are
    /// any, and no file which a pattern of `exclude` matches.
    ///
    /// # Errors
    /// When a pattern is invalid.
    pub fn new(include: &[String], exclude: &[String]) -> Result<PathFilter> {
        let include_set = if include.is_empty() { None } else { Some(set_of(include)?) };
        Ok(PathFilter {
            include: include_set,
            exclude: set_of(exclude)?,
            patterns: [include.to_vec(), exclude.to_vec()],
            ..PathFilter::default()
        })
    }

    /// Also skips libraries and generated files, unless a pattern includes them.
    /// `first_is_a_person` says that directories of the first level belong to people. With
    /// `of_programs`, names count that directories of prose may have, too.
    #[must_use]
    pub fn without_libraries(self, first_is_a_person: bool, of_programs: bool) -> PathFilter {
        PathFilter { libraries: Some(Libraries { first_is_a_person, of_programs }), ..self }
    }

    /// Also skips files with the names of data files, unless a pattern includes the files.
    #[must_use]
    pub fn without_data(self) -> PathFilter {
        PathFilter { leaves_out_data: true, ..self }
    }

    /// Also skips files in other programming languages by their names, unless a pattern includes
    /// them. `also_named` applies this to files given as inputs, too.
    #[must_use]
    pub fn in_language(self, language: &str, also_named: bool) -> PathFilter {
        PathFilter { language: Some((language.to_owned(), also_named)), ..self }
    }

    /// Skips no file because of its language.
    #[must_use]
    pub fn in_any_language(self) -> PathFilter {
        PathFilter { language: None, ..self }
    }

    /// Returns whether files in other languages are skipped.
    #[must_use]
    pub fn asks_language(&self) -> bool {
        self.language.is_some()
    }

    /// Returns the patterns, which identify a run.
    #[must_use]
    pub fn patterns(&self) -> &[Vec<String>; 2] {
        &self.patterns
    }

    /// Returns whether the name shows that a file holds data.
    #[must_use]
    pub fn is_data(name: &str) -> bool {
        has_ending(Compression::of_name(name).1, ENDINGS_OF_DATA)
    }

    /// Returns the reason why a file at this path below an input is left out, if it is.
    #[must_use]
    pub fn why_not(&self, below: &Path) -> Option<&'static str> {
        self.left_out(below).map(|(_, why)| why)
    }

    /// Returns the path of the directory or file that is left out, with the reason.
    #[must_use]
    pub fn left_out(&self, below: &Path) -> Option<(String, &'static str)> {
        if self.include.is_none()
            && self.exclude.is_empty()
            && self.libraries.is_none()
            && !self.leaves_out_data
            && self.language.is_none()
        {
            return None;
        }
        let text = below.to_string_lossy();
        let ends =
            text.char_indices().filter(|(_, c)| *c == '/' || *c == std::path::MAIN_SEPARATOR);
        let ends: Vec<usize> = ends.map(|(at, _)| at).chain([text.len()]).collect();
        let starts = [0].into_iter().chain(ends.iter().map(|end| end + 1));
        let parts: Vec<(&str, &str)> =
            starts.zip(&ends).map(|(start, &end)| (&text[..end], &text[start..end])).collect();
        if let Some((path, _)) = parts.iter().find(|(path, name)| is_for(&self.exclude, path, name))
        {
            return Some(((*path).to_owned(), BY_EXCLUDE));
        }
        let (_, file) = *parts.last()?;
        let includes = |part: &(&str, &str)| {
            self.include.as_ref().is_some_and(|include| is_for(include, part.0, part.1))
        };
        let is_archive = is_archive(file);
        let is_included = parts.iter().any(includes);
        if self.include.is_some() && !is_included && !is_archive {
            return Some((text.into_owned(), BY_INCLUDE));
        }
        if let Some(depth) = self.library(&parts)
            && !parts[..=depth].iter().any(includes)
        {
            return Some((parts[depth].0.to_owned(), LIBRARY));
        }
        if is_included || is_archive {
            return None;
        }
        let why = match &self.language {
            _ if self.libraries.is_some() && has_ending(file, WRITTEN) => LIBRARY,
            _ if self.leaves_out_data && PathFilter::is_data(file) => DATA,
            Some((language, _)) if is_other(file, language) => OTHER_LANGUAGE,
            _ => return None,
        };
        Some((text.into_owned(), why))
    }

    /// Returns the position of the first directory that is a library.
    fn library(&self, parts: &[(&str, &str)]) -> Option<usize> {
        let Libraries { first_is_a_person, of_programs } = self.libraries?;
        let mut is_source = false;
        let dirs = &parts[..parts.len() - 1];
        dirs.iter().enumerate().position(|(depth, (_, name))| {
            let is_person = depth == 0 && first_is_a_person;
            let is_built = BUILT.contains(name) && !is_source;
            let may_be = of_programs && !is_person && (is_built || VENDORED.contains(name));
            is_source |= *name == "src";
            CERTAIN.contains(name) || may_be
        })
    }

    /// Returns whether a directory of this name never holds the authors' own work.
    pub(crate) fn is_library(name: &str) -> bool {
        CERTAIN.contains(&name)
    }

    /// Returns the reason why a file given as an input is left out, if it is.
    #[must_use]
    pub fn why_not_named(&self, path: &Path) -> Option<&'static str> {
        let name = path.file_name()?.to_string_lossy();
        let includes = |include: &GlobSet| include.is_match(&*name);
        let is_archive = is_archive(&name);
        match (&self.include, &self.language) {
            _ if self.exclude.is_match(&*name) => Some(BY_EXCLUDE),
            _ if is_archive => None,
            (Some(include), _) => (!includes(include)).then_some(BY_INCLUDE),
            (None, Some((language, true))) if is_other(&name, language) => Some(OTHER_LANGUAGE),
            _ => None,
        }
    }
}

/// Returns whether the name shows a different language. Lists of records pass, because each record
/// has a name.
fn is_other(name: &str, language: &str) -> bool {
    !languages_of(name).contains(&language) && !has_ending(Compression::of_name(name).1, LISTS)
}

/// Returns whether a pattern matches the path or the file name.
fn is_for(set: &GlobSet, path: &str, name: &str) -> bool {
    !set.is_empty() && (set.is_match(name) || set.is_match(path))
}

fn set_of(patterns: &[String]) -> Result<GlobSet> {
    let refused = |error: globset::Error| {
        let pattern = error.glob().unwrap_or_default().to_owned();
        Error::input(pattern, format!("it is no pattern: {}", error.kind()))
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern).trim_matches('/');
        set.add(GlobBuilder::new(pattern).literal_separator(true).build().map_err(refused)?);
    }
    set.build().map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(include: &[&str], exclude: &[&str]) -> PathFilter {
        let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        PathFilter::new(&owned(include), &owned(exclude)).unwrap()
    }

    #[track_caller]
    fn check(filter: &PathFilter, path: &str, expected: Option<(&str, &str)>) {
        let found = filter.left_out(Path::new(path));
        assert_eq!(found.as_ref().map(|(path, why)| (&**path, *why)), expected, "{path}");
    }

    #[test]
    fn patterns_are_for_names_and_paths() {
        let filter = of(&["*.ts", "docs/*.md"], &["tests", "a/b/**"]);
        check(&filter, "x/y.ts", None);
        check(&filter, "docs/a.md", None);
        check(&filter, "x/docs/a.md", Some(("x/docs/a.md", BY_INCLUDE)));
        check(&filter, "x/tests/y/z.ts", Some(("x/tests", BY_EXCLUDE)));
        check(&filter, "a/b/c.ts", Some(("a/b/c.ts", BY_EXCLUDE)));
        check(&filter, "x/y.zip", None);
        assert_eq!(filter.why_not_named(Path::new("d/e.md")), Some(BY_INCLUDE));
        assert_eq!(filter.why_not_named(Path::new("tests/e.ts")), None);
        check(&PathFilter::default(), "node_modules/x.js", None);
        assert!(PathFilter::new(&["a[".into()], &[]).is_err());
    }

    #[test]
    fn libraries_and_build_output_are_left_out_of_submissions() {
        let filter = PathFilter::default().without_libraries(true, true);
        check(&filter, "ann/node_modules/a/b.js", Some(("ann/node_modules", LIBRARY)));
        check(&filter, "ann/x/target/b.rs", Some(("ann/x/target", LIBRARY)));
        check(&filter, "ann/vendor/b.go", Some(("ann/vendor", LIBRARY)));
        check(&filter, "ann/src/_vendor/b.py", Some(("ann/src/_vendor", LIBRARY)));
        check(&filter, "ann/3rdparty/b.c", Some(("ann/3rdparty", LIBRARY)));
        check(&filter, "ann/a.min.js", Some(("ann/a.min.js", LIBRARY)));
        // Such names may also be people, programs or packages.
        for own in [
            "vendor/b.go",
            "bin/b.rs",
            "ann/src/bin/b.rs",
            "ann/src/build/B.java",
            "ann/dist",
            "ann/external/b.py",
            "ann/deps/b.ts",
        ] {
            check(&filter, own, None);
        }
        check(&filter, "node_modules/b.js", Some(("node_modules", LIBRARY)));
        let prose = PathFilter::default().without_libraries(false, false);
        check(&prose, "ann/target/b.txt", None);
        check(&prose, "ann/venv/b.txt", Some(("ann/venv", LIBRARY)));
        // A pattern with the name of a directory includes the directory. A pattern for files
        // includes no file in a library.
        let filter = of(&["vendor", "*.js"], &[]).without_libraries(true, true);
        check(&filter, "ann/vendor/b.go", None);
        check(&filter, "ann/node_modules/b.js", Some(("ann/node_modules", LIBRARY)));
    }

    #[test]
    fn data_and_other_languages_are_left_out_unless_they_are_included() {
        let filter = PathFilter::default().without_data().in_language("java", false);
        check(&filter, "ann/stock.json", Some(("ann/stock.json", DATA)));
        check(&filter, "ann/stock.csv.gz", Some(("ann/stock.csv.gz", DATA)));
        check(&filter, "ann/README", Some(("ann/README", OTHER_LANGUAGE)));
        check(&filter, "ann/A.java", None);
        check(&filter, "ann.tar.gz", None);
        assert_eq!(filter.why_not_named(Path::new("README")), None);
        let all = of(&["*"], &[]).without_data().in_language("java", true);
        check(&all, "ann/stock.json", None);
        check(&all, "ann/README", None);
    }
}
