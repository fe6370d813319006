//! Lists the documents of an index as a stream.
//!
//! A thread reads the documents in stored order, a batch at a time, and waits while two batches are
//! not taken. So the memory does not depend on the number of documents.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{ListBuilder, StringBuilder, StructBuilder};
use arrow_array::{ArrayRef, RecordBatch, StringArray, TimestampMicrosecondArray, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use cento::index::{DocAddress, Snapshot};
use cento::{Error, Searcher, Stop, StoredDocument};
use cento_api::part::part_texts;
use crossbeam::channel::{Receiver, bounded};
use pyo3::prelude::*;

use crate::entry::{BATCH_BYTES, BATCH_DOCUMENTS};
use crate::error::Failure;
use crate::open_index::OpenIndex;
use crate::run;
use crate::stream::{RowSource, Stream, Turns};

/// The maximum number of batches that wait to be read.
const WAITING: usize = 2;

/// Batches that a thread reads.
struct ListingThread<T> {
    stop: Stop,
    batches: Receiver<cento::Result<Vec<T>>>,
    /// The first batch, read before the call returned, so that the call itself refuses an unusable
    /// filter.
    first: Mutex<Option<Vec<T>>>,
}

impl<T: Send + 'static> ListingThread<T> {
    /// Starts to read the documents that pass `filter`, or all documents. `each` reads a document
    /// and counts its bytes.
    fn start(
        py: Python<'_>,
        index: &OpenIndex,
        filter: Option<String>,
        each: fn(&Snapshot, DocAddress) -> cento::Result<(T, usize)>,
    ) -> PyResult<ListingThread<T>> {
        let searcher = run::short(py, || index.searcher())?;
        let (sender, batches) = bounded(WAITING);
        let stop = Stop::new();
        let flag = stop.clone();
        std::thread::spawn(move || {
            let send = |batch| sender.send(Ok(batch)).map_err(|_| Error::Cancelled);
            let ended = Error::catch("listing documents", || {
                list(&searcher, filter.as_deref(), &flag, each, send)
            });
            if let Err(error) = ended {
                let _ = sender.send(Err(error));
            }
        });
        let listing = ListingThread { stop, batches, first: Mutex::default() };
        let first = listing.receive(py)?;
        *listing.first.lock().unwrap_or_else(PoisonError::into_inner) = first;
        Ok(listing)
    }

    fn receive(&self, py: Python<'_>) -> PyResult<Option<Vec<T>>> {
        Ok(run::receive(py, &self.batches)?.transpose().map_err(Failure)?)
    }

    /// Returns the next batch; `None` at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Vec<T>>> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        first.map_or_else(|| self.receive(py), |first| Ok(Some(first)))
    }
}

impl<T> Drop for ListingThread<T> {
    fn drop(&mut self) {
        self.stop.set();
    }
}

/// Passes the documents of an index to `send`, in batches.
fn list<T>(
    searcher: &Searcher,
    filter: Option<&str>,
    stop: &Stop,
    each: fn(&Snapshot, DocAddress) -> cento::Result<(T, usize)>,
    send: impl Fn(Vec<T>) -> cento::Result<()>,
) -> cento::Result<()> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    searcher.for_each_document(filter, stop, &mut |address| {
        stop.check()?;
        let (read, size) = each(searcher.snapshot(), address)?;
        batch.push(read);
        bytes += size;
        if batch.len() >= BATCH_DOCUMENTS || bytes >= BATCH_BYTES {
            bytes = 0;
            return send(std::mem::take(&mut batch));
        }
        Ok(())
    })?;
    if batch.is_empty() { Ok(()) } else { send(batch) }
}

/// The id, the text, the meta object as JSON and the parts, with their texts, of a document.
pub type DocumentTuple = (String, Option<String>, String, Vec<(String, Option<String>)>);

/// Returns a stored document as the values of the fields of `Document`; the meta object is JSON.
pub fn values_of(document: StoredDocument) -> cento::Result<DocumentTuple> {
    let StoredDocument { id, text, parts, meta, .. } = document;
    let parts = match &text {
        Some(text) => part_texts(&parts, text)
            .map(|(name, text)| (name.to_owned(), Some(text.to_owned())))
            .collect(),
        None => parts.into_iter().map(|part| (part.name, None)).collect(),
    };
    let meta = serde_json::to_string(&meta);
    Ok((id, text, meta.map_err(|e| Error::internal("a document", e.to_string()))?, parts))
}

/// The documents of an index.
#[pyclass(frozen, module = "cento._native")]
pub struct Documents {
    listing: ListingThread<DocumentTuple>,
}

/// Starts to read documents.
pub fn documents(py: Python<'_>, index: &OpenIndex, filter: Option<String>) -> PyResult<Documents> {
    let listing = ListingThread::start(py, index, filter, |snapshot, address| {
        let values = values_of(snapshot.document(address)?)?;
        let bytes = values.1.as_ref().map_or(0, String::len) + values.2.len();
        Ok((values, bytes))
    })?;
    Ok(Documents { listing })
}

#[pymethods]
impl Documents {
    /// Returns the next documents; `None` at the end.
    fn read(&self, py: Python<'_>) -> PyResult<Option<Vec<DocumentTuple>>> {
        self.listing.next(py)
    }
}

/// The ids of the documents of an index.
#[pyclass(frozen, module = "cento._native")]
pub struct Ids {
    listing: ListingThread<String>,
}

/// Starts to read ids.
pub fn ids(py: Python<'_>, index: &OpenIndex) -> PyResult<Ids> {
    let listing = ListingThread::start(py, index, None, |snapshot, address| {
        let id = snapshot.id(address)?;
        let bytes = id.len();
        Ok((id, bytes))
    })?;
    Ok(Ids { listing })
}

#[pymethods]
impl Ids {
    /// Returns the next ids; `None` at the end.
    fn read(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        self.listing.next(py)
    }
}

/// A document as a row: its values, its number of tokens, and the time of addition, in microseconds
/// since 1970.
struct ListingRow {
    values: DocumentTuple,
    tokens: u32,
    added: i64,
}

/// The rows of an index, as [`Writer.add_arrow`](crate::writer) takes them.
struct StoredRows {
    listing: Turns<ListingThread<ListingRow>>,
    schema: SchemaRef,
}

/// Makes a stream of the documents that pass a filter, or of all documents.
pub fn rows(py: Python<'_>, index: &OpenIndex, filter: Option<String>) -> PyResult<Stream> {
    let listing = ListingThread::start(py, index, filter, |snapshot, address| {
        let values = values_of(snapshot.document(address)?)?;
        let segment = snapshot.segment(address);
        let tokens = segment.signatures.document(address.doc)?.tokens;
        let bytes = values.1.as_ref().map_or(0, String::len) + values.2.len();
        Ok((ListingRow { values, tokens, added: segment.added_micros(address.doc)? }, bytes))
    })?;
    let field = |name: &str, kind, is_nullable| Field::new(name, kind, is_nullable);
    let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let item = Field::new_struct("item", members(), true);
    let schema = Arc::new(Schema::new(vec![
        field("id", DataType::Utf8, false),
        field("text", DataType::Utf8, true),
        field("parts", DataType::List(Arc::new(item)), true),
        field("meta", DataType::Utf8, false),
        field("tokens", DataType::UInt32, false),
        field("added", time, false),
    ]));
    let source = StoredRows { listing: Turns::new(listing), schema: schema.clone() };
    Ok(Stream::new(source, schema))
}

/// The members of a part.
fn members() -> Fields {
    ["name", "text"].map(|name| Field::new(name, DataType::Utf8, true)).to_vec().into()
}

impl RowSource for StoredRows {
    fn next(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        self.listing.next(|listing| {
            let Some(rows) = listing.next(py)? else { return Ok(None) };
            let batch = RecordBatch::try_new(self.schema.clone(), columns(&rows));
            let failed = |e: ArrowError| Failure(Error::internal("a table", e.to_string()));
            Ok(Some(batch.map_err(failed)?))
        })
    }

    fn close(&self, _py: Python<'_>) {
        self.listing.close();
    }

    fn call(&self) -> &'static str {
        "to_arrow"
    }
}

/// Makes the columns of rows. A document with parts has no text of its own.
fn columns(rows: &[ListingRow]) -> Vec<ArrayRef> {
    let text = |row: &ListingRow| row.values.1.clone().filter(|_| row.values.3.is_empty());
    let part = StructBuilder::from_fields(members(), 0);
    let mut parts: ListBuilder<StructBuilder> = ListBuilder::new(part);
    for ListingRow { values: (_, _, _, own), .. } in rows {
        for (name, text) in own {
            let part = parts.values();
            for (at, value) in [(0, Some(name)), (1, text.as_ref())] {
                let column = part.field_builder::<StringBuilder>(at).expect("it is of strings");
                column.append_option(value);
            }
            part.append(true);
        }
        parts.append(!own.is_empty());
    }
    let added = TimestampMicrosecondArray::from_iter_values(rows.iter().map(|row| row.added));
    vec![
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.values.0))),
        Arc::new(StringArray::from_iter(rows.iter().map(text))),
        Arc::new(parts.finish()),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.values.2))),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.tokens))),
        Arc::new(added.with_timezone("UTC")),
    ]
}
