//! Files left out by their names.
//!
//! Patterns of the user decide first. In submissions, libraries and files that programs write are
//! left out as well, because all submissions share them, as are data and files in other languages.

use std::path::Path;

use cento::text::code::languages_of;
use cento::{Error, Result};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::compressed::Compression;
use crate::format::has_ending;

/// The files that are left out by their names; by default every file passes.
///
/// A pattern without `/` applies to the name of a file or of any directory above it, one with `/`
/// to the path below the directory or archive given as an input. The inputs themselves are subject
/// to the patterns alone, and archives are opened whatever is included.
#[derive(Debug, Clone, Default)]
pub struct PathFilter {
    include: Option<GlobSet>,
    exclude: GlobSet,
    /// The patterns as given, to compare runs.
    patterns: [Vec<String>; 2],
    libraries: Option<Libraries>,
    leaves_out_data: bool,
    /// A programming language, and whether it also applies to files given as inputs.
    language: Option<(String, bool)>,
}

/// The directories that hold libraries.
#[derive(Debug, Clone, Copy)]
struct Libraries {
    /// Directories of the first level belong to people, and only certain names are those of
    /// libraries.
    first_is_a_person: bool,
    /// Names that directories of prose may have count, too.
    of_programs: bool,
}

/// The reason why a hidden file or directory is left out.
pub const HIDDEN: &str = "it is hidden";

/// Why a list of records is no part of a document of several files.
pub(crate) const LIST: &str = "it is a list of records";

/// Why a link is not followed.
pub(crate) const LINK: &str = "it is a link";

/// Why JSON without a text is no list of records.
pub(crate) const NO_TEXT_FIELD: &str =
    "it is JSON, and no object in a place of records has the field with the text";

/// Why an empty file is no part of a document that has other files.
pub(crate) const EMPTY_PART: &str = "it is empty, and its document has other files";

/// Why nothing is read of a directory.
pub(crate) const NO_FILES: &str = "it has no files";

/// Why nothing is read of a directory where ignore files are obeyed: they exclude without a word.
pub(crate) const NO_FILES_LEFT: &str = "it has no files that .gitignore and .ignore do not exclude";

/// Why nothing is read of a file that holds documents: a table without rows, an empty archive.
pub(crate) const NO_DOCUMENTS: &str = "it has no documents";

const BY_EXCLUDE: &str = "--exclude leaves it out";
const BY_INCLUDE: &str = "no pattern of --include is for it";
const LIBRARY: &str = "it is a library, or made by a program";
const DATA: &str = "it holds data, by its name";
/// Why a file or a record is left out where programs in one language are read.
pub const OTHER_LANGUAGE: &str = "it does not have a file extension of the language";

/// A pattern that is not for all files leaves out the others.
const READ_ALL: &str = "--include '*' reads it";

/// What a user of the command can do about files that are left out for these reasons.
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

/// Names of directories that never hold the authors' own work.
const CERTAIN: [&str; 24] = [
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
    "CMakeFiles",
    "DerivedData",
    "__MACOSX",
    "__pycache__",
    "bower_components",
    "jspm_packages",
    "node_modules",
    "site-packages",
    "third_party",
    "vcpkg_installed",
    "venv",
];

/// Names of directories of libraries that may also hold the authors' own work.
const VENDORED: [&str; 2] = ["vendor", "Pods"];

/// Names of directories that compilers fill. Below `src` they are names of packages.
const BUILT: [&str; 7] =
    ["bin", "build", "cmake-build-debug", "cmake-build-release", "dist", "obj", "target"];

/// The endings of names of files that programs write.
const WRITTEN: &[&str] = &[".min.js", ".min.css", ".map", ".lock"];

/// The endings of names of data.
const ENDINGS_OF_DATA: &[&str] = &[
    ".arrow", ".csv", ".feather", ".geojson", ".ipc", ".jl", ".json", ".jsonl", ".ndjson",
    ".parquet", ".tab", ".tsv", ".yaml", ".yml",
];

/// The endings of names of data that is a list of records.
const LISTS: &[&str] =
    &[".arrow", ".csv", ".feather", ".ipc", ".jl", ".jsonl", ".ndjson", ".parquet", ".tab", ".tsv"];

/// The endings of names of archives, without the one of a compressed file.
const ARCHIVES: &[&str] = &[".tar", ".tgz", ".zip"];

/// Returns whether this is a reason to leave out a file by its name, or as an empty part of a
/// document.
#[must_use]
pub fn is_by_name(why: &str) -> bool {
    [EMPTY_PART, HIDDEN, BY_EXCLUDE, BY_INCLUDE, LIBRARY, DATA, OTHER_LANGUAGE].contains(&why)
}

/// Returns whether this is the reason of a file that the user's own patterns leave out.
#[must_use]
pub fn is_by_pattern(why: &str) -> bool {
    [BY_EXCLUDE, BY_INCLUDE].contains(&why)
}

/// Returns what a user of the command can do about a file that is left out for this reason, if
/// there is something: a clause that names options.
#[must_use]
pub fn advice(why: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(reason, _)| *reason == why).map(|(_, advice)| *advice)
}

/// Returns whether a file is an archive, by its name.
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

    /// Also leaves out libraries and generated files, unless a pattern includes them.
    /// `first_is_a_person`: directories of the first level belong to people; `of_programs`: names
    /// that directories of prose may have count, too.
    #[must_use]
    pub fn without_libraries(self, first_is_a_person: bool, of_programs: bool) -> PathFilter {
        PathFilter { libraries: Some(Libraries { first_is_a_person, of_programs }), ..self }
    }

    /// Also leaves out files that hold data according to their names, unless a pattern includes
    /// them.
    #[must_use]
    pub fn without_data(self) -> PathFilter {
        PathFilter { leaves_out_data: true, ..self }
    }

    /// Also leaves out files that are not in this programming language according to their names,
    /// unless a pattern includes them; with `also_named`, files given as inputs too.
    #[must_use]
    pub fn in_language(self, language: &str, also_named: bool) -> PathFilter {
        PathFilter { language: Some((language.to_owned(), also_named)), ..self }
    }

    /// Leaves out no file for its language.
    #[must_use]
    pub fn in_any_language(self) -> PathFilter {
        PathFilter { language: None, ..self }
    }

    /// Returns whether files in other languages are left out.
    #[must_use]
    pub fn asks_language(&self) -> bool {
        self.language.is_some()
    }

    /// Returns the patterns, which identify a run.
    #[must_use]
    pub fn patterns(&self) -> &[Vec<String>; 2] {
        &self.patterns
    }

    /// Returns whether a file holds data, by its name.
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

    /// Returns the position of the first directory that holds a library, if there is one.
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

/// Returns whether a file is not in this language by its name. Each record of a list has its own
/// name.
fn is_other(name: &str, language: &str) -> bool {
    !languages_of(name).contains(&language) && !has_ending(Compression::of_name(name).1, LISTS)
}

/// Returns whether one of the patterns matches this path, or the name at its end.
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
        check(&filter, "ann/a.min.js", Some(("ann/a.min.js", LIBRARY)));
        // Such a name may be a person's, a program's or a package's.
        for own in
            ["vendor/b.go", "bin/b.rs", "ann/src/bin/b.rs", "ann/src/build/B.java", "ann/dist"]
        {
            check(&filter, own, None);
        }
        check(&filter, "node_modules/b.js", Some(("node_modules", LIBRARY)));
        let prose = PathFilter::default().without_libraries(false, false);
        check(&prose, "ann/target/b.txt", None);
        check(&prose, "ann/venv/b.txt", Some(("ann/venv", LIBRARY)));
        // A directory included by its own name is read; a pattern for files matches none in a
        // library.
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
