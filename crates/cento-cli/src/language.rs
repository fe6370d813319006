//! In which language are the programs that the user names?

use std::path::{Path, PathBuf};

use cento::Error;
use cento::text::code::{ByName, lacks_language, with_language};
use cento_source::{SourceOptions, for_each_name};

/// Returns an analyzer's specification with the language, if it is `code` without one: that of the
/// names of all documents of `inputs`.
///
/// # Errors
/// When the names do not agree on a language.
pub fn of_documents(
    analyzer: &str,
    inputs: &[PathBuf],
    options: &SourceOptions,
) -> cento::Result<String> {
    completed(analyzer, |names| for_each_name(inputs, options, &mut |name| names.add(name)))
}

/// Returns the same for single files.
///
/// # Errors
/// When the names do not agree on a language.
pub fn of_files(analyzer: &str, files: &[&Path]) -> cento::Result<String> {
    completed(analyzer, |names| files.iter().for_each(|file| names.add(&file.to_string_lossy())))
}

fn completed(analyzer: &str, read: impl FnOnce(&mut ByName)) -> cento::Result<String> {
    if !lacks_language(analyzer) {
        return Ok(analyzer.to_owned());
    }
    let mut names = ByName::default();
    read(&mut names);
    names.language().map(|language| with_language(analyzer, language)).map_err(|why| {
        let example = with_language(analyzer, "java");
        let what = format!(
            "it names no language, and {why}; name the language, as in --analyzer '{example}'"
        );
        Error::spec(analyzer, what)
    })
}
