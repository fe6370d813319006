//! Iterators over the chunks and the documents of sources.

use std::collections::VecDeque;
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;

use cento::index::Document;
use cento::{Error, Result};
use crossbeam::channel::{Receiver, Sender, bounded};

use crate::read_error::{Emit, ReadChunk, ReadError};
use crate::{InFile, SourceOptions, grouped, walk};

/// Reads all `inputs` in order, and directories in the order of their file names. A thread reads
/// one chunk ahead. It ends when the iterator is dropped, or soon after [`SourceOptions::stop`] is
/// set.
///
/// The kind of a file follows from its first bytes, then from its name. The members of an archive
/// are documents or further archives, like the attachments of a mail. A list of records (JSON
/// lines, other JSON with records, a table) has a document per record. Any other file is one
/// document with the path as its id. `-` is standard input, which has no name, so that only the
/// first bytes count. All kinds may be compressed. Links and hidden files in directories are
/// skipped unless the options include them, but an input that is itself a link or hidden is read.
/// `.gitignore` and `.ignore` are obeyed only on request.
///
/// # Errors
/// A part of the input that is not a document gives an error, and the iterator continues.
pub fn read(inputs: &[PathBuf], options: &SourceOptions) -> Chunks {
    let (inputs, options) = (inputs.to_vec(), options.clone());
    Chunks::start(1, move |emit| grouped::read(&inputs, &options, emit))
}

/// Reads a file with this name from memory, like [`read`], and holds one chunk at a time.
///
/// ```
/// use cento_source::{SourceOptions, read_bytes};
///
/// let lines = b"{\"id\": \"a\", \"text\": \"one\"}\n{\"id\": \"b\", \"text\": \"two\"}\n";
/// let chunks = read_bytes("lines.jsonl", lines.to_vec(), &SourceOptions::default());
/// assert!(chunks.count() > 0);
/// ```
///
/// # Errors
/// The errors of [`read`].
pub fn read_bytes(name: &str, bytes: Vec<u8>, options: &SourceOptions) -> Chunks {
    let (name, options) = (name.to_owned(), options.clone());
    Chunks::start(0, move |emit| walk::read_bytes(&name, bytes, &options, emit))
}

/// The chunks of sources: [`read`].
#[must_use = "an iterator gives nothing before the first call of `next`"]
pub struct Chunks {
    chunks: Receiver<ReadChunk>,
    /// A message requests one more chunk.
    wanted: Sender<()>,
}

impl Chunks {
    /// Starts a thread, which reads `ahead` chunks ahead. The thread has a stack of its own,
    /// because readers of nested archives are recursive.
    fn start(ahead: usize, read: impl FnOnce(Emit<'_>) + Send + 'static) -> Chunks {
        let (out, chunks) = bounded(ahead + 1);
        let (wanted, is_wanted) = bounded::<()>(ahead + 1);
        for _ in 0..ahead {
            let _ = wanted.send(());
        }
        // Not joined, because the thread may be waiting for standard input.
        std::thread::spawn(move || {
            let wait = || match is_wanted.recv() {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            if wait().is_break() {
                return;
            }
            let read = Error::catch("the thread that reads the input", || {
                read(&mut |chunk| {
                    // Without a taker there is no request either.
                    let _ = out.send(chunk);
                    wait()
                });
                Ok(())
            });
            // Without this error, the remaining input would silently be missing.
            if let Err(error) = read {
                let _ = out.send(Err(ReadError::Unread(error)));
            }
        });
        Chunks { chunks, wanted }
    }
}

impl fmt::Debug for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").finish_non_exhaustive()
    }
}

impl Iterator for Chunks {
    type Item = ReadChunk;

    fn next(&mut self) -> Option<ReadChunk> {
        // At the end of the input the message is not received.
        let _ = self.wanted.try_send(());
        self.chunks.recv().ok()
    }
}

/// Returns the documents of [`read`] in order, each with the data of its file beside the text.
///
/// ```
/// use cento_source::{SourceOptions, documents};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("lines.jsonl");
/// # std::fs::write(&path, "{\"id\": \"a\", \"text\": \"b\"}\nno JSON\n").unwrap();
/// let read: Vec<_> = documents(&[path], &SourceOptions::default()).collect();
/// assert_eq!(read[0].as_ref().unwrap().0.id, "a");
/// assert!(read[1].is_err());
/// ```
///
/// # Errors
/// The errors of [`read`].
pub fn documents(inputs: &[PathBuf], options: &SourceOptions) -> Documents {
    Documents { chunks: read(inputs, options), options: options.clone(), ready: VecDeque::new() }
}

/// The documents of sources: [`documents`].
#[must_use = "an iterator gives nothing before the first call of `next`"]
#[derive(Debug)]
pub struct Documents {
    chunks: Chunks,
    options: SourceOptions,
    /// The documents of the last chunk.
    ready: VecDeque<Result<(Document, InFile)>>,
}

impl Iterator for Documents {
    type Item = std::result::Result<(Document, InFile), ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready.map_err(ReadError::Refused));
            }
            match self.chunks.next()? {
                Ok(chunk) => self.ready.extend(chunk.documents(&self.options)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_in_order_with_the_parts_that_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let line = |id: usize| format!("{{\"id\":\"{id}\",\"text\":\"b\"}}\n");
        let lines: String = (0..3000).map(line).chain(["no JSON\n".into()]).collect();
        let inputs = [
            write("lines.jsonl", lines.as_bytes()),
            write("empty.txt", b""),
            write("a.txt", b"a text"),
            dir.path().join("missing.txt"),
        ];
        let all = || documents(&inputs, &SourceOptions::default());
        let read: Vec<_> = all().collect();
        assert_eq!(read.len(), 3004);
        for (id, document) in read[..3000].iter().enumerate() {
            assert_eq!(document.as_ref().unwrap().0.id, id.to_string());
        }
        assert!(matches!(&read[3000], Err(ReadError::Refused(_))), "{:?}", read[3000]);
        assert!(matches!(&read[3001], Err(ReadError::LeftOut { .. })), "{:?}", read[3001]);
        assert_eq!(read[3002].as_ref().unwrap().0.text, "a text");
        assert!(matches!(&read[3003], Err(ReadError::Unread(_))), "{:?}", read[3003]);
        assert_eq!(all().take(5).filter(|document| document.is_ok()).count(), 5);
    }

    #[test]
    fn no_more_chunks_are_read_than_are_asked_for() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicUsize, Ordering};
        for ahead in [0, 1] {
            let count = Arc::new(AtomicUsize::new(0));
            let (counted, (ended_in, ended)) = (count.clone(), bounded(1));
            let mut chunks = Chunks::start(ahead, move |emit| {
                let each = (0..10).try_for_each(|_| {
                    counted.fetch_add(1, Ordering::SeqCst);
                    emit(Err(ReadError::Refused(Error::input("a place", "a reason"))))
                });
                ended_in.send(each.is_break()).unwrap();
            });
            for asked in 1..=7 {
                assert!(matches!(chunks.next(), Some(Err(ReadError::Refused(_)))));
                let read = count.load(Ordering::SeqCst);
                assert!((asked..=asked + ahead).contains(&read), "{read} of {asked}");
            }
            drop(chunks);
            assert!(ended.recv().unwrap(), "the thread goes on without a taker");
        }
    }

    #[test]
    fn a_panic_of_the_reader_is_an_error_and_not_the_end() {
        let mut chunks = Chunks::start(1, |_| panic!("a defect"));
        let error = chunks.next().unwrap().unwrap_err();
        assert!(matches!(error, ReadError::Unread(Error::Internal { .. })), "{error}");
        assert!(chunks.next().is_none());
    }
}
