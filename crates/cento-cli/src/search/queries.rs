//! Reads the queries of a search, and records queries without an answer.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::slice;

use serde::Serialize;

use super::{Search, UserQuery};
use crate::advice::advised;
use crate::messages::Messages;
use crate::method::fingerprint;
use crate::output;
use crate::progress::{Spinner, metered};
use crate::{Result, VerbFailure};
use cento::index::Document;
use cento::{Error, Reason, Refusal, Stop};
use cento_report::{NotCompared, PartedText};
use cento_source::{InFile, ReadError, SourceOptions, documents, is_by_name, left_out};

/// Queries or parts of queries without an answer, with the reasons.
#[derive(Default)]
pub struct UnansweredQueries {
    /// Every unanswered query, in order.
    pub list: Vec<NotCompared>,
    messages: Messages,
}

/// The last line of an answer in JSON, if a query was not answered.
#[derive(Serialize)]
pub struct End<'a> {
    /// The number of answered queries.
    pub answered: u64,
    /// Queries that were answered in part or not at all, with reasons.
    pub not_compared: &'a [NotCompared],
}

impl UnansweredQueries {
    /// Reports and records an unanswered query or part.
    fn note(&mut self, error: &Error) {
        self.messages.tell_error(error);
        self.list.push(output::not_compared(error));
    }

    /// Reports the number of messages not shown. Returns whether any query was not answered.
    pub fn finish(&self) -> bool {
        self.messages.finish();
        !self.list.is_empty()
    }
}

/// Returns the error of a single query, with its name. Fails with an error that would stop the next
/// query as well.
fn of_one(name: &str, error: Error) -> std::result::Result<Error, Error> {
    let is_of_text = matches!(
        error.reason(),
        Reason::InvalidInput
            | Reason::RecordTooLong
            | Reason::DocumentTooLarge
            | Reason::MissingField { .. }
            | Reason::InvalidArgument { argument: Some("text") }
            | Reason::MemoryLimit
            | Reason::Timeout
            | Reason::PoisonousDocument
            | Reason::Internal
    );
    match error {
        Error::Input { reason, what, .. } => Ok(Error::input(name, Refusal::new(reason, what))),
        Error::Memory { what, .. } if is_of_text => {
            Ok(Error::input(name, Refusal::new(Reason::MemoryLimit, what)))
        }
        Error::Internal { what, .. } => Ok(Error::internal(name, what)),
        Error::Service { message, .. } if is_of_text => Ok(Error::input(name, message)),
        error => Err(error),
    }
}

type Each<'a> = dyn FnMut(String, Option<String>, UserQuery) -> Result<()> + 'a;

impl Search {
    /// Calls `each` with every query: its name for people, and its id if any, which is the id of a
    /// record or the path of a file. Reports and skips queries, or parts of queries, that cannot be
    /// read or answered.
    ///
    /// # Errors
    /// When `each` fails for a reason outside of the query.
    pub(super) fn for_each_query(
        &self,
        unanswered: &mut UnansweredQueries,
        each: &mut Each<'_>,
    ) -> Result<()> {
        if let Some(text) = &self.text {
            return each(
                "--text".into(),
                None,
                UserQuery::Text(text.clone().into(), InFile::default()),
            );
        }
        if let Some(id) = &self.id {
            return each(id.clone(), None, UserQuery::Id(id.clone()));
        }
        let options = self.source.options();
        if let Some(path) = &self.signature {
            let name = path.display().to_string();
            let signature = fingerprint::read(path, options.record_bytes_max)?;
            return each(name, None, UserQuery::Signature(signature));
        }
        // A query is not stored, so the limits of an index are no reason to refuse one.
        let meta_fields = options.meta_fields.or_object();
        let options = SourceOptions {
            needs_text_only: true,
            takes_any_id: true,
            meta_fields,
            filter: self.filter.filter()?,
            ..options
        };
        let stdin = [PathBuf::from("-")];
        let files = if self.files.is_empty() { &stdin[..] } else { &self.files };
        let options = metered(files, options);
        // On a terminal the answers show the progress, and a progress line would interrupt the
        // answers.
        let spinner = (!io::stdout().is_terminal()).then(|| Spinner::reading(&options));
        let mut queries = 0;
        let each: &mut Each<'_> = &mut |name, id, asked| {
            queries += 1;
            spinner.iter().for_each(|line| line.show(&output::counted(queries, "query")));
            each(name, id, asked)
        };
        if self.unit.is_grouped() {
            // The files of a document may be in several inputs.
            let filter = self.unit.without_data(options.filter.clone());
            let options = SourceOptions { filter, ..options };
            let options = self.unit.grouped(&self.files, options, Stop::NEVER)?;
            for_each_document(&self.files, &options, unanswered, each)?;
            options.check_fields()?;
            return Ok(());
        }
        for path in files {
            if path == Path::new("-") && !self.jsonl {
                self.standard_input(&options, unanswered, each)?;
            } else {
                for_each_document(slice::from_ref(path), &options, unanswered, each)?;
            }
        }
        options.check_fields()?;
        Ok(())
    }

    fn standard_input(
        &self,
        options: &SourceOptions,
        unanswered: &mut UnansweredQueries,
        each: &mut Each<'_>,
    ) -> Result<()> {
        let mut missing = |missing: &Error| unanswered.note(missing);
        let read = cento_source::read_text_in_file(Path::new("-"), options, &mut missing);
        match read {
            Ok((text, in_file)) => {
                let asked = UserQuery::Text(text.into(), in_file);
                answered("standard input".into(), None, asked, unanswered, each)
            }
            Err(error) => {
                unanswered.note(&of_standard_input(error));
                Ok(())
            }
        }
    }
}

/// Names the option that reads a list of records on standard input.
fn of_standard_input(error: Error) -> Error {
    match error {
        Error::Input { reason, what, .. } if what == cento_source::SEVERAL_TEXTS => {
            let what = format!("{what}; --jsonl takes each of them as a query");
            Error::input("standard input", Refusal::new(reason, what))
        }
        error => error,
    }
}

/// Calls `each` with the documents of files, directories and archives.
fn for_each_document(
    paths: &[PathBuf],
    options: &SourceOptions,
    unanswered: &mut UnansweredQueries,
    each: &mut Each<'_>,
) -> Result<()> {
    for document in documents(paths, options) {
        match document {
            Ok((Document { id, text, parts, .. }, in_file)) => {
                let asked = UserQuery::Text(PartedText { text, parts }, in_file);
                answered(id.clone(), Some(id), asked, unanswered, each)?;
            }
            Err(ReadError::LeftOut { place, why, .. }) if is_by_name(why) => {
                let said = advised(why);
                unanswered.messages.tell(&place, &said);
            }
            Err(ReadError::LeftOut { place, why, feature }) => {
                let refusal = match feature {
                    None => format!("{why}; a query needs text").into(),
                    feature => left_out(why, feature),
                };
                unanswered.note(&Error::input(place, refusal));
            }
            Err(ReadError::Refused(error) | ReadError::Unread(error)) => unanswered.note(&error),
        }
    }
    Ok(())
}

/// Calls `each`, and notes an error in the query.
fn answered(
    name: String,
    id: Option<String>,
    asked: UserQuery,
    unanswered: &mut UnansweredQueries,
    each: &mut Each<'_>,
) -> Result<()> {
    match each(name.clone(), id, asked) {
        Err(VerbFailure::Cento(error)) => {
            unanswered.note(&of_one(&name, error)?);
            Ok(())
        }
        end => end,
    }
}
