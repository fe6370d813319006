//! The documents of a corpus, searched for the questions of benchmarks on several threads.

use std::path::PathBuf;
use std::sync::Arc;

use cento::index::Document;
use cento::runtime::pipeline::FeedHandle;
use cento::{Error, Result, Stop};
use cento_collections::decontaminate::{Benchmarks, Finding, Scratch};

use crate::documents::{Chunks, read};
use crate::{Chunk, ReadChunk, ReadError, SourceOptions};

/// A part of a corpus, in the order of the input.
#[derive(Debug)]
#[non_exhaustive]
pub enum CorpusPart {
    /// A document, with the questions found in the text.
    Document(Document, Vec<Finding>),
    /// A file that was skipped.
    Skipped {
        /// The path of the file.
        place: String,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A record that is not a document, or an unreadable file.
    Failed(Error),
}

/// The memory per byte of input apart from the search: the chunk, the text, and the text again
/// while a JSON string is read.
const READ_BYTES_A_BYTE: usize = 4;

/// The memory per byte of text during a search: tokens and runs.
const SEARCH_BYTES_A_BYTE: usize = 16;

/// Returns the documents of `inputs` with the questions that occur in their texts, found by
/// `threads` threads in `memory_bytes` bytes. Without benchmarks, returns only the documents.
///
/// # Errors
/// The iterator gives an error, and ends: [`Error::Cancelled`] after `stop`, [`Error::Internal`]
/// when a thread panics.
pub fn examined(
    benchmarks: Option<Arc<Benchmarks>>,
    inputs: &[PathBuf],
    source: &SourceOptions,
    threads: usize,
    memory_bytes: usize,
    stop: &Stop,
) -> impl Iterator<Item = Result<CorpusPart>> + use<> {
    let source = source.clone();
    let chunks: Chunks = read(inputs, &source);
    let share = |chunk: &ReadChunk| {
        let bytes = chunk.as_ref().map_or(0, |chunk| chunk.bytes.len());
        bytes.saturating_mul(READ_BYTES_A_BYTE + SEARCH_BYTES_A_BYTE)
    };
    let work = |stop: &Stop| {
        let (benchmarks, source, stop) = (benchmarks.clone(), source.clone(), stop.clone());
        let mut scratch = Scratch::default();
        move |chunk: ReadChunk| match chunk {
            Ok(chunk) => of_chunk(&chunk, benchmarks.as_deref(), &source, &mut scratch, &stop),
            Err(ReadError::LeftOut { place, why, .. }) => {
                Ok(vec![CorpusPart::Skipped { place, why }])
            }
            Err(ReadError::Refused(error) | ReadError::Unread(error)) => {
                Ok(vec![CorpusPart::Failed(error)])
            }
        }
    };
    let examined = FeedHandle::start(chunks, share, threads, memory_bytes, stop, work);
    examined.flat_map(|batch| match batch.and_then(|batch| batch) {
        Ok(batch) => batch.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    })
}

/// Examines the documents of a chunk.
///
/// # Errors
/// [`Error::Cancelled`] soon after `stop`.
fn of_chunk(
    chunk: &Chunk,
    benchmarks: Option<&Benchmarks>,
    source: &SourceOptions,
    scratch: &mut Scratch,
    stop: &Stop,
) -> Result<Vec<CorpusPart>> {
    let mut examined = Vec::new();
    for document in chunk.documents(source) {
        let found = document.and_then(|(document, _)| {
            let findings = match benchmarks {
                Some(benchmarks) => benchmarks.findings(&document.text, scratch, stop)?,
                None => Vec::new(),
            };
            Ok(CorpusPart::Document(document, findings))
        });
        examined.push(match found {
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => CorpusPart::Failed(error),
            Ok(found) => found,
        });
    }
    Ok(examined)
}
