//! Files of a request.
//!
//! Files are read as `cento add` reads them, and their texts replace texts in JSON. The texts count
//! against the limit of the body. Room is taken during the extraction of texts, and the extracting
//! processes end when the client has gone.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::app::App;
use super::body::{Body, Part, parse};
use super::failure::Failure;
use super::ingest::PATCH_ADVICE;
use super::turns::Job;
use cento::Stop;
use cento::index::Document;
use cento::runtime::Permit;
use cento::{Error, Result};
use cento_api::AddReport;
use cento_api::http::{FileReason, NotRead};
use cento_source::{
    FieldUse, InFile, Origins, ReadError, SourceOptions, count_failed, count_skipped, read_bytes,
};

/// The part with the JSON of the request.
const REQUEST: &str = "request";

/// The memory of a document without its text, in bytes.
const DOCUMENT_BYTES: usize = 64;

/// The maximum number of unread files in an answer.
const NOT_READ_MAX: usize = 1000;

/// A document from a file.
pub struct FileDocument {
    /// The name of the part with the file.
    pub part: String,
    /// The document with its text.
    pub document: Document,
    /// The name of the list, if the document is a record of a list.
    pub list: Option<Arc<str>>,
    /// Further findings in the file.
    pub in_file: InFile,
}

/// The files of a request, and its JSON part.
pub struct Files {
    request: Map<String, Value>,
    /// The names of the parts with files, in order.
    pub parts: Vec<String>,
    /// The documents in the files.
    pub documents: Vec<FileDocument>,
    /// The unread files and records, with reasons.
    pub not_read: NotRead,
    /// The numbers of unread files and records, counted as by `cento add`.
    pub counts: AddReport,
    /// Fields of records missing from the documents.
    pub fields_not_kept: Vec<String>,
    /// The room for the texts.
    pub room: Permit,
}

impl Files {
    /// Reads the files of a request from the parts with these names.
    ///
    /// # Errors
    /// When there is no file, a part is unknown, the JSON part is repeated, or the texts are too
    /// large.
    pub async fn read(
        app: &Arc<App>,
        body: Body,
        names: &'static [&'static str],
    ) -> std::result::Result<Files, Failure> {
        let client = body.client();
        let (parts, room) = body.into_files(app.settings.batch_max).await?;
        let mut request = None;
        let mut files = Vec::new();
        for part in parts {
            match part.name.as_str() {
                REQUEST if request.is_some() => return Err(sent_again(REQUEST)),
                REQUEST => request = Some(parse(&part.bytes)?),
                name if names.contains(&name) => files.push(part),
                name => {
                    let known = names.join("`, `");
                    let message = format!(
                        "the part `{name}` is unknown; name files `{known}`, and the JSON of the \
                         request `{REQUEST}`"
                    );
                    return Err(Failure::bad_request(message));
                }
            }
        }
        if files.is_empty() {
            return Err(Failure::bad_request(format!("there is no part `{}`", names[0])));
        }
        let request = request.unwrap_or_default();
        let names = files.iter().map(|part| part.name.clone()).collect();
        let (source, bytes_max) = (app.settings.source.clone(), app.settings.body_bytes_max);
        app.in_turn(client, move |stop, job| {
            let mut reading = FilesRead {
                documents: Vec::new(),
                not_read: NotRead::default(),
                counts: AddReport::default(),
                bytes: 0,
                room,
            };
            let field_use = Arc::new(FieldUse::default());
            let options = SourceOptions {
                record_bytes_max: bytes_max,
                meta_change_advice: Some(PATCH_ADVICE),
                field_use: Some(field_use.clone()),
                stop: stop.clone(),
                ..source
            };
            for part in files {
                reading.file(part, &options, bytes_max, &stop, job)?;
            }
            let FilesRead { documents, not_read, counts, room, .. } = reading;
            let fields_not_kept =
                field_use.left_out_names().into_iter().map(str::to_owned).collect();
            Ok(Files { request, parts: names, documents, not_read, counts, fields_not_kept, room })
        })
        .await
    }

    /// Parses the JSON part of the request. `defaults` are for fields that the files replace.
    ///
    /// # Errors
    /// When the part is not JSON of this type.
    pub fn request<T: DeserializeOwned>(
        &mut self,
        defaults: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> std::result::Result<T, Failure> {
        for (name, value) in defaults {
            self.request.entry(name).or_insert(value);
        }
        let request = Value::Object(std::mem::take(&mut self.request));
        parse(request.to_string().as_bytes()).map_err(|failure| failure.at(REQUEST))
    }

    /// Refuses fields of the JSON part, for routes that would ignore them.
    ///
    /// # Errors
    /// When there are any.
    pub fn without_request(self) -> std::result::Result<Files, Failure> {
        let Some(name) = self.request.keys().next() else { return Ok(self) };
        let message = format!(
            "`{REQUEST}`: `{name}`: this route reads only files; omit the part, and send records \
             with their `meta` as application/x-ndjson to `/v1/documents`"
        );
        Err(Failure::bad_request(message))
    }

    /// Returns this field of the JSON part.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.request.get(name)
    }

    /// Takes out the documents of the parts with this name.
    pub fn take(&mut self, name: &str) -> Vec<FileDocument> {
        self.documents.extract_if(.., |document| document.part == name).collect()
    }
}

/// Refuses a second part with the same name.
pub fn sent_again(part: &str) -> Failure {
    Failure::bad_request(format!("the part `{part}` was sent more than once; send it once"))
}

struct FilesRead {
    documents: Vec<FileDocument>,
    not_read: NotRead,
    counts: AddReport,
    bytes: usize,
    room: Permit,
}

impl FilesRead {
    fn file(
        &mut self,
        part: Part,
        options: &SourceOptions,
        bytes_max: usize,
        stop: &Stop,
        job: &mut Job,
    ) -> Result<()> {
        let Part { name, file, bytes } = part;
        let file = file.filter(|file| !file.is_empty()).unwrap_or_else(|| name.clone());
        job.wait(stop)?;
        for chunk in read_bytes(&file, bytes.into(), options) {
            match chunk {
                Ok(chunk) => {
                    // Wait for a turn before each file, so that a large archive does not block
                    // clients.
                    job.wait(stop)?;
                    let list = (!chunk.kind.is_whole_file()).then(|| chunk.path.clone());
                    for document in chunk.documents(options) {
                        self.take(&name, &list, document, bytes_max)?;
                    }
                }
                Err(ReadError::LeftOut { place, why, .. }) => {
                    count_skipped(&mut self.counts, why);
                    let reason = || FileReason { path: place, reason: why.into() };
                    let NotRead { left_out, not_read_more, .. } = &mut self.not_read;
                    push_bounded(left_out, not_read_more, reason);
                }
                Err(ReadError::Refused(error) | ReadError::Unread(error)) => {
                    self.take(&name, &None, Err(error), bytes_max)?;
                }
            }
            stop.check()?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        part: &str,
        list: &Option<Arc<str>>,
        document: Result<(Document, InFile)>,
        bytes_max: usize,
    ) -> Result<()> {
        let (document, in_file) = match document {
            Ok(read) => read,
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => {
                count_failed(&mut self.counts, &error);
                let NotRead { unread_files, not_read_more, .. } = &mut self.not_read;
                push_bounded(unread_files, not_read_more, || reason(&error));
                return Ok(());
            }
        };
        let bytes = document.text.len() + document.id.len() + part.len() + DOCUMENT_BYTES;
        self.bytes += bytes;
        let held = bytes + in_file.origins.as_ref().map_or(0, Origins::bytes);
        if self.bytes > bytes_max {
            let what =
                format!("the texts of the files exceed {bytes_max} bytes; send less at a time");
            return Err(Error::Memory { what, is_for_now: false });
        }
        if !self.room.try_grow(held) {
            let what = "too many bytes of requests and answers are in flight; try again later";
            return Err(Error::Memory { what: what.into(), is_for_now: true });
        }
        let (part, list) = (part.to_owned(), list.clone());
        self.documents.push(FileDocument { part, document, list, in_file });
        Ok(())
    }
}

/// Appends to a list of unread files, or counts in `more` if the list is long.
fn push_bounded(list: &mut Vec<FileReason>, more: &mut u64, reason: impl FnOnce() -> FileReason) {
    if list.len() < NOT_READ_MAX {
        list.push(reason());
    } else {
        *more += 1;
    }
}

/// Returns the place of an error, such as the name of a file, and the reason.
fn reason(error: &Error) -> FileReason {
    let (path, reason) = error.place_and_message();
    FileReason { path, reason }
}
