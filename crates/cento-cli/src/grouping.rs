//! Options that group files into documents.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::Value;

use super::advice::with_advice;
use super::terminal::note;
use cento::{Map, Stop};
use cento_source::{By, Grouping, PathFilter, SourceOptions};

/// The option that names the unit of a document.
#[derive(Debug, Clone, Args)]
pub struct UnitArgs {
    /// What counts as one document. `file`: each file. `directory`: all files of each folder or
    /// archive in PATH. If you name several PATHs, each PATH is one document, unless most of them
    /// hold only folders. `archive`: all files of each archive. Or a pattern of paths such as
    /// '{document}{_LATE?}_{*}_{*}_{part}': {document} tells documents apart, {part} names the file
    /// in its document, other fields become fields of `meta`, {*} is any text, and {TEXT?} is a
    /// text that may be missing.
    #[arg(long, value_name = "UNIT|PATTERN", default_value = "file")]
    by: By,
}

/// Options that group files into documents.
#[derive(Debug, Clone, Args)]
pub struct GroupingArgs {
    #[command(flatten)]
    unit: UnitArgs,
    /// Set this field of `meta` in all documents, such as term=2026. Can be repeated.
    #[arg(id = "meta", long = "meta", value_name = "NAME=VALUE", value_parser = parse_member)]
    members: Vec<(String, Value)>,
}

/// Parses `field=value`. A value in the form of an integer becomes a number.
fn parse_member(text: &str) -> Result<(String, Value), String> {
    let expected = "expected a name and a value, such as term=2026";
    let (name, value) =
        text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or(expected)?;
    // An integer in a different form, such as 07, stays a text.
    let number = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
    Ok((name.to_owned(), number.map_or_else(|| Value::String(value.to_owned()), Value::from)))
}

impl UnitArgs {
    /// Tells whether documents may have several files.
    pub fn is_grouped(&self) -> bool {
        self.by != By::File
    }

    /// Leaves out libraries and data, which are not the own work of an author.
    pub fn without_data(&self, filter: PathFilter) -> PathFilter {
        match self.is_grouped() {
            true => filter.without_libraries(true, true).without_data(),
            false => filter,
        }
    }

    /// Returns the options with the documents that the files of `inputs` make. Reports where
    /// documents begin, if not obvious. If no file is a program in the language that the filter
    /// asks for, files in any language are read.
    ///
    /// # Errors
    /// Like [`Grouping::of`].
    pub fn grouped(
        &self,
        inputs: &[PathBuf],
        options: SourceOptions,
        stop: &Stop,
    ) -> cento::Result<SourceOptions> {
        let mut options = options;
        let mut grouping = Grouping::of(&self.by, inputs, &options, stop)?;
        let is_empty = grouping.as_ref().is_some_and(Grouping::is_empty);
        if is_empty && options.filter.asks_language() {
            // No program has a name in this language.
            options.filter = options.filter.in_any_language();
            grouping = Grouping::of(&self.by, inputs, &options, stop)?;
        }
        let remarks = grouping.iter().flat_map(Grouping::remarks);
        let said = remarks.map(|remark| with_advice(&remark.fact, remark.advice.as_deref()));
        let said: Vec<String> = said.collect();
        if !said.is_empty() {
            note!("cento: --by {}: {}", self.by, said.join("; "));
        }
        Ok(SourceOptions { grouping: grouping.map(Arc::new), ..options })
    }
}

impl GroupingArgs {
    /// Tells whether documents may have several files.
    pub fn is_grouped(&self) -> bool {
        self.unit.is_grouped()
    }

    /// Returns the unit as typed by the user.
    pub fn by(&self) -> String {
        self.unit.by.to_string()
    }

    /// Leaves out libraries and data, which are not the own work of an author.
    pub fn without_data(&self, filter: PathFilter) -> PathFilter {
        self.unit.without_data(filter)
    }

    /// Returns the options with the documents that the files of `inputs` make, and their meta
    /// fields.
    ///
    /// # Errors
    /// Like [`UnitArgs::grouped`].
    pub fn grouped(
        &self,
        inputs: &[PathBuf],
        options: SourceOptions,
        stop: &Stop,
    ) -> cento::Result<SourceOptions> {
        let meta: Map<String, Value> = self.members.iter().cloned().collect();
        Ok(SourceOptions { meta, ..self.unit.grouped(inputs, options, stop)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_meta_are_numbers_or_texts() {
        assert_eq!(parse_member("term=2026"), Ok(("term".into(), 2026.into())));
        assert_eq!(parse_member("term=07"), Ok(("term".into(), "07".into())));
        assert_eq!(parse_member("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert!(parse_member("term").is_err() && parse_member("=x").is_err());
    }
}
