//! The documents of sources, one after the other.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::PathBuf;

use cento::index::Document;
use cento::{Error, Result};
use crossbeam::channel::{Receiver, bounded};

use crate::{InFile, Item, SourceOptions};

/// A part of a source that is not a document.
#[derive(Debug)]
pub enum NoDocument {
    /// A file that is left out.
    LeftOut {
        /// Its place.
        place: String,
        /// Why, as a clause.
        why: &'static str,
    },
    /// A record or file that is refused.
    Refused(Error),
    /// A source that cannot be read, or not to its end.
    Unread(Error),
}

/// Returns the documents of `inputs` in order: an iterator, whose thread ends when it is dropped,
/// or soon after [`SourceOptions::stop`] is set.
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
/// An error is a part that is not a document; the iterator goes on after it.
pub fn documents(inputs: &[PathBuf], options: &SourceOptions) -> Documents {
    let (items_tx, items) = bounded(ITEMS_AHEAD);
    let (inputs, source) = (inputs.to_vec(), options.clone());
    // Not joined: it may be waiting for standard input.
    std::thread::spawn(move || {
        let read = Error::catch("the thread that reads the input", || {
            crate::read(&inputs, &source, &mut |item| match items_tx.send(Ok(item)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            });
            Ok(())
        });
        // Without an error the rest of the input would silently be missing.
        if let Err(error) = read {
            let _ = items_tx.send(Err(error));
        }
    });
    Documents { items, options: options.clone(), ready: VecDeque::new() }
}

/// The number of items that are read ahead.
const ITEMS_AHEAD: usize = 1;

/// The documents of sources: [`documents`].
#[must_use = "an iterator gives nothing before the first call of `next`"]
pub struct Documents {
    items: Receiver<Result<Item>>,
    options: SourceOptions,
    /// The documents of the last item.
    ready: VecDeque<std::result::Result<(Document, InFile), NoDocument>>,
}

impl std::fmt::Debug for Documents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Documents").finish_non_exhaustive()
    }
}

impl Iterator for Documents {
    type Item = std::result::Result<(Document, InFile), NoDocument>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            return Some(Err(match self.items.recv().ok()? {
                Ok(Item::Chunk(chunk)) => {
                    chunk.documents_in_file(&self.options, |document| {
                        self.ready.push_back(document.map_err(NoDocument::Refused));
                    });
                    continue;
                }
                Ok(Item::Skipped { place, why, .. }) => NoDocument::LeftOut { place, why },
                Ok(Item::Failed(error @ Error::Input { .. })) => NoDocument::Refused(error),
                Ok(Item::Failed(error)) | Err(error) => NoDocument::Unread(error),
            }));
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
        assert!(matches!(&read[3000], Err(NoDocument::Refused(_))), "{:?}", read[3000]);
        assert!(matches!(&read[3001], Err(NoDocument::LeftOut { .. })), "{:?}", read[3001]);
        assert_eq!(read[3002].as_ref().unwrap().0.text, "a text");
        assert!(matches!(&read[3003], Err(NoDocument::Unread(_))), "{:?}", read[3003]);
        assert_eq!(all().take(5).filter(|document| document.is_ok()).count(), 5);
    }
}
