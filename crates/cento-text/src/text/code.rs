//! The analysis of programs by structure, and the detection of their language from file names.

mod grammar;
mod kinds;
mod meter;
mod parse;
mod reading;
mod sample;
mod tree;

use super::family::Family;
use crate::spec::Parameter;
use std::sync::Arc;

#[derive(Debug)]
struct CodeLanguage {
    name: &'static str,
    endings: &'static [&'static str],
    /// The feature that this build lacks for the grammar, if any.
    missing: Option<&'static str>,
}

const fn always(name: &'static str, endings: &'static [&'static str]) -> CodeLanguage {
    CodeLanguage { name, endings, missing: None }
}

const fn of_all(name: &'static str, endings: &'static [&'static str]) -> CodeLanguage {
    let missing = if cfg!(feature = "code-all") { None } else { Some("code-all") };
    CodeLanguage { name, endings, missing }
}

/// All languages, including languages that this build lacks. A `.h` file may be C or C++, and the
/// grammar of TypeScript with JSX (`tsx`) can read a TypeScript file.
const LANGUAGES: [CodeLanguage; 13] = [
    always("c", &[".c", ".h"]),
    always("cpp", &[".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx"]),
    always("java", &[".java"]),
    always("python", &[".py", ".pyw", ".pyi"]),
    always("rust", &[".rs"]),
    of_all("javascript", &[".js", ".jsx", ".mjs", ".cjs"]),
    of_all("typescript", &[".ts", ".mts", ".cts"]),
    of_all("tsx", &[".tsx", ".ts"]),
    of_all("php", &[".php", ".phtml"]),
    of_all("ruby", &[".rb", ".rake"]),
    of_all("go", &[".go"]),
    of_all("csharp", &[".cs"]),
    of_all("kotlin", &[".kt", ".kts"]),
];

/// The names of the languages in specifications.
const NAMES: [&str; LANGUAGES.len()] = {
    let mut names = [""; LANGUAGES.len()];
    let mut number = 0;
    while number < names.len() {
        names[number] = LANGUAGES[number].name;
        number += 1;
    }
    names
};

/// For each language, the feature that this build lacks, if any.
const MISSING: [Option<&str>; LANGUAGES.len()] = {
    let mut missing = [None; LANGUAGES.len()];
    let mut number = 0;
    while number < missing.len() {
        missing[number] = LANGUAGES[number].missing;
        number += 1;
    }
    missing
};

pub(super) const FAMILY: Family = Family {
    name: "code",
    parameters: &[
        Parameter::choice("language", &NAMES, "the language of the programs")
            .required()
            .without(&MISSING),
        Parameter::switch("names", 0, "1 leaves names, numbers and strings as they are"),
    ],
    summary: "the tokens of programs, whatever their names, numbers, strings and layout are",
    source: "Finkel, Zaslavsky, Monostori and Schmidt 2002, section 2.1",
    example: "code(language=java)",
    build: |spec| Arc::new(tree::ProgramTokens::new(spec)),
};

/// Returns the names of the languages that this build includes, always in the same order: more
/// features add names at the end.
pub fn languages() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().filter(|language| language.missing.is_none()).map(|language| language.name)
}

/// Finds the language of programs from the names of their files, for specifications without a
/// language.
///
/// ```
/// use cento_text::text::code::ByName;
///
/// let mut language = ByName::default();
/// language.add("src/list.h");
/// language.add("src/list.cpp");
/// assert_eq!(language.language(), Ok("cpp"));
/// language.add("README");
/// assert!(language.language().unwrap_err().contains("README"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ByName {
    /// The first name, and the languages that fit every name so far. `None` before the first name.
    agreed: Option<(String, Vec<&'static str>)>,
    /// The reason why no language fits all names.
    disagreement: Option<String>,
}

impl ByName {
    /// Takes a file name into account. The ending of a compressed file may follow the ending of the
    /// language.
    pub fn add(&mut self, name: &str) {
        if self.disagreement.is_some() {
            return;
        }
        let own = languages_of(name);
        if own.is_empty() {
            self.disagreement = Some(format!(
                "the name `{name}` has the extension of no language that cento knows"
            ));
            return;
        }
        let Some((first, agreed)) = &mut self.agreed else {
            self.agreed = Some((name.to_owned(), own));
            return;
        };
        let both: Vec<_> = agreed.iter().copied().filter(|&name| own.contains(&name)).collect();
        if both.is_empty() {
            let (one, other) = (agreed[0], own[0]);
            let what = format!("`{first}` is {one} by its name, and `{name}` is {other}");
            self.disagreement = Some(what);
        } else {
            *agreed = both;
        }
    }

    /// Returns the common language of all files, by its name in specifications.
    ///
    /// # Errors
    /// The reason, as a clause, if the language is unclear: no file, a file in no known language,
    /// or files in several languages.
    pub fn language(&self) -> Result<&'static str, String> {
        match (&self.disagreement, &self.agreed) {
            (Some(why), _) => Err(why.clone()),
            (None, None) => Err("there are no files whose names would say it".into()),
            (None, Some((_, agreed))) => Ok(agreed[0]),
        }
    }
}

/// Returns the possible languages of a file with this name, the likelier first.
///
/// ```
/// use cento_text::text::code::languages_of;
///
/// assert_eq!(languages_of("src/main.rs"), ["rust"]);
/// assert_eq!(languages_of("list.h"), ["c", "cpp"]);
/// assert!(languages_of("README").is_empty());
/// ```
#[must_use]
pub fn languages_of(name: &str) -> Vec<&'static str> {
    let name = name.to_ascii_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    // A name that is only an ending belongs to a hidden file.
    let ends = |ending: &&str| {
        name.strip_suffix(*ending).is_some_and(|rest| !rest.is_empty() && !rest.ends_with('/'))
    };
    let has_name = |language: &&CodeLanguage| language.endings.iter().any(ends);
    LANGUAGES.iter().filter(has_name).map(|language| language.name).collect()
}

/// Returns whether a specification of the analyzer `code` contains no language.
#[must_use]
pub fn lacks_language(spec: &str) -> bool {
    split(spec).0 == "code" && language_in(spec).is_none()
}

/// Returns the language in a specification of the analyzer `code`. `None` for other analyzers.
///
/// ```
/// use cento_text::text::code::language_in;
///
/// assert_eq!(language_in("code(language=java,names=1)"), Some("java"));
/// assert_eq!(language_in("code"), None);
/// assert_eq!(language_in("words"), None);
/// ```
#[must_use]
pub fn language_in(spec: &str) -> Option<&str> {
    let (name, list) = split(spec);
    let mut values = list.split(',').filter_map(|item| {
        let (key, value) = item.split_once('=').unwrap_or((item, ""));
        (key.trim_ascii() == "language").then_some(value.trim_ascii())
    });
    values.next().filter(|_| name == "code")
}

/// Returns the specification with the language added.
///
/// ```
/// use cento_text::text::code::{lacks_language, with_language};
///
/// assert!(lacks_language("code(names=1)"));
/// assert!(!lacks_language(&with_language("code(names=1)", "java")));
/// ```
#[must_use]
pub fn with_language(spec: &str, language: &str) -> String {
    let (name, list) = split(spec);
    let comma = if list.is_empty() { "" } else { "," };
    format!("{name}(language={language}{comma}{list})")
}

/// Returns the name and the list of parameters of a specification.
fn split(spec: &str) -> (&str, &str) {
    match spec.split_once('(') {
        None => (spec.trim_ascii(), ""),
        Some((name, rest)) => {
            let rest = rest.trim_ascii_end();
            (name.trim_ascii(), rest.strip_suffix(')').unwrap_or(rest).trim_ascii())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: Result<&str, &str>) {
        let mut found = ByName::default();
        names.iter().for_each(|name| found.add(name));
        match (found.language(), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{names:?}"),
            (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
            (found, expected) => panic!("{names:?}: {found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn the_language_is_that_of_all_names() {
        check(&["a/B.java", "c/D.JAVA", "e.java.gz"], Ok("java"));
        check(&["list.h"], Ok("c"));
        check(&["list.h", "list.cpp"], Ok("cpp"));
        check(&["a.ts", "b.tsx"], Ok("tsx"));
        check(&["a.ts"], Ok("typescript"));
        check(&["a.php", "b.phtml"], Ok("php"));
        check(&[], Err("no files"));
        check(&["a.c", "b.cpp"], Err("`a.c` is c by its name, and `b.cpp` is cpp"));
        check(&["a.py", "notes.txt"], Err("`notes.txt`"));
        check(&["a/.java"], Err("no language"));
    }

    #[test]
    fn every_language_is_found_by_each_of_its_endings() {
        for language in &LANGUAGES {
            for ending in language.endings {
                assert!(languages_of(&format!("a{ending}")).contains(&language.name), "{ending}");
            }
        }
    }

    #[test]
    fn a_specification_is_completed() {
        for (spec, completed) in [
            ("code", "code(language=go)"),
            ("code()", "code(language=go)"),
            (" code ( names = 1 ) ", "code(language=go,names = 1)"),
        ] {
            assert!(lacks_language(spec), "{spec}");
            assert_eq!(with_language(spec, "go"), completed);
        }
        for spec in ["words", "code(language=c)", "code(names=1, language = c)", "codes"] {
            assert!(!lacks_language(spec), "{spec}");
        }
    }
}
