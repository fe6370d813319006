//! Files skipped because of their names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::advice::with_advice;
use super::terminal::note;
use cento::CitedPart;
use cento_report::counted;
use cento_source::{PathFilter, advice, place_of};

/// Patterns of names that select the files to read.
#[derive(Debug, Clone, Default, Args)]
pub struct FilterArgs {
    /// Read only files that match this pattern, such as '*.java'. A pattern is compared with the
    /// name of the file and of each folder above it, and a pattern with a / with the path below the
    /// folder that you name. Can be repeated.
    #[arg(long, value_name = "GLOB", value_parser = parse_glob)]
    include: Vec<String>,
    /// Skip files that match this pattern, such as node_modules or '*.min.js'. Can be repeated.
    #[arg(long, value_name = "GLOB", value_parser = parse_excluded)]
    exclude: Vec<String>,
}

/// Checks that the text is a valid pattern.
fn parse_glob(text: &str) -> Result<String, String> {
    let pattern = text.to_owned();
    PathFilter::new(std::slice::from_ref(&pattern), &[]).map_err(|error| error.to_string())?;
    Ok(pattern)
}

/// Checks that the text is a valid pattern. Refuses names of cited parts, which belong to
/// `--without`.
fn parse_excluded(text: &str) -> Result<String, String> {
    if <CitedPart as ValueEnum>::from_str(text, true).is_ok() {
        return Err(format!(
            "here --exclude takes the names of files; --without {text} leaves out parts of texts, \
             where texts are compared; a file of this name is './{text}'"
        ));
    }
    parse_glob(text)
}

impl FilterArgs {
    /// Makes the filter of `--include` and `--exclude`.
    ///
    /// # Errors
    /// When the compiled patterns are too large together.
    pub fn filter(&self) -> cento::Result<PathFilter> {
        PathFilter::new(&self.include, &self.exclude)
    }
}

/// Files that were skipped because of their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The file, or the directory if every file in the directory was skipped.
    pub name: String,
    /// The number of files. A hidden directory counts as one file, because cento does not open it.
    pub files: u64,
    /// Why, as a clause.
    pub reason: &'static str,
    /// How to get the file read, if there is a way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<&'static str>,
}

/// Every file skipped because of its name.
#[derive(Debug, Default)]
pub struct LeftOuts {
    list: Vec<LeftOut>,
    places: HashMap<(String, &'static str), usize>,
}

/// Maximum number of entries to list on standard error.
const TOLD_MAX: usize = 10;

impl LeftOuts {
    /// Notes a file of `inputs` that `filter` skipped.
    pub fn note(
        &mut self,
        place: &str,
        reason: &'static str,
        inputs: &[PathBuf],
        filter: &PathFilter,
    ) {
        let dir = inputs.iter().find_map(|input| {
            let input = place_of(input);
            let input = Path::new(&*input);
            let input = input.strip_prefix(".").unwrap_or(input);
            let below = Path::new(place).strip_prefix(input).ok()?;
            let (left_out, why) = filter.left_out(below)?;
            (why == reason).then(|| input.join(left_out).display().to_string())
        });
        let name = dir.unwrap_or_else(|| place.to_owned());
        let number = self.list.len();
        let number = *self.places.entry((name.clone(), reason)).or_insert(number);
        if number == self.list.len() {
            self.list.push(LeftOut { name, files: 0, reason, advice: advice(reason) });
        }
        self.list[number].files += 1;
    }

    /// Returns the entries for a report.
    pub fn list(&self) -> &[LeftOut] {
        &self.list
    }

    /// Lists the entries on standard error.
    pub fn tell(&self) {
        for LeftOut { name, files, reason, advice } in self.list.iter().take(TOLD_MAX) {
            let reason = with_advice(reason, *advice);
            match files {
                1 => note!("cento: {name}: skipped: {reason}"),
                _ => note!("cento: {name}: {} skipped: {reason}", counted(*files, "file")),
            }
        }
        if let Some(more) = self.list.get(TOLD_MAX..).filter(|more| !more.is_empty()) {
            let files = counted(more.iter().map(|left| left.files).sum(), "more file");
            note!("cento: {files} skipped; --format json lists them all");
        }
    }

    /// Returns number and names of the files, for the foot of a report, or `None` without files.
    pub fn summary(&self) -> Option<(String, String)> {
        let files: u64 = self.list.iter().map(|left| left.files).sum();
        let names = self.list.iter().take(TOLD_MAX).map(|left| left.name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        let more = if self.list.len() > TOLD_MAX { ", ..." } else { "" };
        (files > 0).then(|| (counted(files, "file"), format!("{names}{more}")))
    }
}
