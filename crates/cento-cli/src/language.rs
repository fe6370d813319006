//! The programming language of the user's files.

use std::path::{Path, PathBuf};

use cento::Error;
use cento::text::code::{ByName, lacks_language, languages, languages_of, with_language};
use cento_source::{SourceOptions, document_names};

/// Completes the analyzer `code` with the language that the names of all documents of `inputs`
/// agree on. Returns any different specification unchanged.
///
/// # Errors
/// When the names do not agree on a language.
pub fn of_documents(
    analyzer: &str,
    inputs: &[PathBuf],
    options: &SourceOptions,
) -> cento::Result<String> {
    completed(analyzer, |names| document_names(inputs, options).for_each(|name| names.add(&name)))
}

/// Returns such a specification for single files.
///
/// # Errors
/// When the names do not agree on a language.
pub fn of_files(analyzer: &str, files: &[&Path]) -> cento::Result<String> {
    completed(analyzer, |names| files.iter().for_each(|file| names.add(&file.to_string_lossy())))
}

/// Completes the analyzer `code` with the language of most files of `inputs`, judged by name.
/// Returns any different specification unchanged. Files without a language, or in a rarer language,
/// do not count.
///
/// # Errors
/// When no name implies a language.
pub fn commonest(
    analyzer: &str,
    inputs: &[PathBuf],
    options: &SourceOptions,
) -> cento::Result<String> {
    commonest_of(analyzer, document_names(inputs, options))
}

/// Like [`commonest`], for documents with these names.
///
/// # Errors
/// When no name implies a language.
pub fn commonest_of(analyzer: &str, names: impl Iterator<Item = String>) -> cento::Result<String> {
    if !lacks_language(analyzer) {
        return Ok(analyzer.to_owned());
    }
    // In order of first appearance, which breaks ties.
    let mut counts: Vec<(&str, u64)> = Vec::new();
    let mut first = None;
    for name in names {
        first.get_or_insert_with(|| name.clone());
        for language in languages_of(&name) {
            match counts.iter_mut().find(|(known, _)| *known == language) {
                Some((_, count)) => *count += 1,
                None => counts.push((language, 1)),
            }
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max();
    // Among equally common languages, prefers a language that this build can read.
    let common = || counts.iter().filter(|(_, count)| Some(*count) == most);
    let is_built = |language: &str| languages().any(|built| built == language);
    let found = common().find(|(language, _)| is_built(language)).or_else(|| common().next());
    match found {
        Some((language, _)) => Ok(with_language(analyzer, language)),
        None => Err(unnamed(analyzer, &no_language(first.as_deref()))),
    }
}

/// Explains why no file name implies a language. `first` is the first name.
fn no_language(first: Option<&str>) -> String {
    match first {
        None => "there are no files whose names would tell".into(),
        Some(name) => {
            format!("files such as `{name}` have the extension of no language that cento knows")
        }
    }
}

/// Returns the error for an analyzer of programs without a language.
pub fn unnamed(analyzer: &str, why: &str) -> Error {
    let example = with_language(analyzer, "java");
    let what =
        format!("it names no language, and {why}; name the language, as in --analyzer '{example}'");
    Error::spec(analyzer, what)
}

fn completed(analyzer: &str, read: impl FnOnce(&mut ByName)) -> cento::Result<String> {
    if !lacks_language(analyzer) {
        return Ok(analyzer.to_owned());
    }
    let mut names = ByName::default();
    read(&mut names);
    let language = names.language().map_err(|why| unnamed(analyzer, &why))?;
    Ok(with_language(analyzer, language))
}
