//! Signs documents on several threads on their way into an index.
//!
//! The caller's thread takes documents from an iterator and passes them to the signing threads.
//! Signed documents come back in input order, whatever the number of threads, and the memory for
//! documents in flight is bounded.

use std::iter::Fuse;
use std::sync::Arc;
use std::time::Instant;
use std::vec;

use derive_setters::Setters;

use super::signer::{DocumentSigner, IsKnown, Prepared, SignOutcome};
use super::{AddReport, Document, Index, Outcome, SignedDocument, Writer};
use crate::error::{Error, Result};
use crate::runtime::Stop;
use crate::runtime::pipeline::FeedHandle;
use crate::text::is_white_space;

/// Options for signing many documents.
#[derive(Debug, Clone, Setters)]
#[non_exhaustive]
#[setters(into)]
pub struct SigningOptions {
    /// The number of signing threads, at least 1.
    pub threads: usize,
    /// Bytes for documents between input and output. A larger single document is allowed.
    pub memory_bytes: usize,
    /// Bytes for one document whose signature takes more than is usual for its size. A document
    /// above this limit is refused.
    pub document_bytes_max: usize,
    /// Set this to end signing early.
    pub stop: Stop,
}

impl Default for SigningOptions {
    /// One thread per processor, 128 MiB, and 256 MiB for one document.
    fn default() -> SigningOptions {
        SigningOptions {
            threads: crate::available_threads(),
            memory_bytes: 128 << 20,
            document_bytes_max: 256 << 20,
            stop: Stop::default(),
        }
    }
}

/// The most documents, and the most bytes of text, in a batch. Documents go to a thread in batches
/// because handing over a small document costs more than signing it.
const BATCH_MAX: (usize, usize) = (32, 64 << 10);

impl Index {
    /// Signs documents on several threads, with the scheme and analyzer of the index, and returns
    /// them in input order. The iterator reads ahead in bounded memory. Dropping it ends the
    /// threads and waits for them.
    ///
    /// [`Writer::add_all`] also adds the documents. Use this iterator to continue after a document
    /// that cannot be added, or to commit now and then:
    ///
    /// ```
    /// use cento::{Config, Document, Error, Index, SigningOptions, WriterOptions};
    ///
    /// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// let mut writer = index.writer(WriterOptions::default())?;
    /// let lines = ["a first line", "\0\u{1}\u{2}\u{3}", "a third line"];
    /// let documents = lines.iter().enumerate();
    /// let documents = documents.map(|(i, line)| Ok(Document::new(i.to_string(), *line)));
    /// for signed in index.sign_all(documents, &SigningOptions::default()) {
    ///     match signed {
    ///         Ok(signed) => drop(writer.add_signed(signed)?),
    ///         Err(Error::Input { place, .. }) => assert_eq!(place, "document \"1\""),
    ///         Err(error) => return Err(error),
    ///     }
    /// }
    /// writer.finish()?;
    /// assert_eq!(index.snapshot()?.documents(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The iterator passes on errors of the input, and reports documents that cannot be signed or
    /// that an index cannot hold. It continues after either. After [`SigningOptions::stop`] was
    /// set, the last item is [`Error::Cancelled`].
    ///
    /// # Panics
    /// When the iterator of the documents panics.
    pub fn sign_all<D, E>(
        &self,
        documents: D,
        options: &SigningOptions,
    ) -> SignedDocuments<D::IntoIter, E>
    where
        D: IntoIterator<Item = std::result::Result<Document, E>>,
        E: From<Error> + Send + 'static,
    {
        let signer = DocumentSigner::new(self.config(), self.faults());
        SignedDocuments { signing: SignedInput::start(documents.into_iter(), signer, options) }
    }
}

impl Writer {
    /// Adds documents in input order, as [`add`](Self::add) does, and signs them on several
    /// threads. Documents that have not changed since the last commit are not signed.
    ///
    /// The input yields documents or errors, for example when a file cannot be read. An iterator
    /// over plain documents becomes an input with `map(Ok::<_, cento::Error>)`.
    ///
    /// ```
    /// use std::fs;
    /// use cento::{Config, Document, Index, SigningOptions, WriterOptions};
    ///
    /// type Failure = Box<dyn std::error::Error + Send + Sync>;
    /// # let dir = tempfile::tempdir()?;
    /// # for (name, text) in [("a.txt", "the text of one"), ("b.txt", "the text of another")] {
    /// #     fs::write(dir.path().join(name), text)?;
    /// # }
    /// # let dir = dir.path();
    /// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// let mut writer = index.writer(WriterOptions::default())?;
    /// let documents = fs::read_dir(dir)?.map(|entry| -> Result<_, Failure> {
    ///     let path = entry?.path();
    ///     Ok(Document::new(path.display().to_string(), fs::read_to_string(&path)?))
    /// });
    /// let report = writer.add_all(documents, &SigningOptions::default().threads(2usize))?;
    /// assert_eq!(report.added, 2);
    /// writer.finish()?;
    /// # Ok::<(), Failure>(())
    /// ```
    ///
    /// # Errors
    /// The first error of the input, of a document that cannot be signed, or of the index.
    /// Documents before the error have been added, documents after it have not. The writer stays
    /// usable after an error of the input or an [`Error::Input`]. [`Error::Cancelled`] after
    /// [`SigningOptions::stop`] was set.
    pub fn add_all<D, E>(
        &mut self,
        documents: D,
        options: &SigningOptions,
    ) -> std::result::Result<AddReport, E>
    where
        D: IntoIterator<Item = std::result::Result<Document, E>>,
        E: From<Error> + Send + 'static,
    {
        let started = Instant::now();
        let committed = self.committed()?.clone();
        let is_known: IsKnown =
            Arc::new(move |document, digest| committed.holds(document, digest).unwrap_or(false));
        let signer = DocumentSigner::new(self.index().config(), self.index().faults())
            .is_known(is_known)
            .keeps_texts(self.index().config().store_text);
        let mut report = AddReport::default();
        let mut signing = SignedInput::start(documents.into_iter(), signer, options);
        while let Some(outcome) = signing.next() {
            let outcome = match outcome? {
                // The last commit has this text, but this writer has replaced or removed it since.
                SignOutcome::Known(document, digest) if !self.holds(&document, digest)? => {
                    signing.signer.sign_alone(document, digest)?
                }
                outcome => outcome,
            };
            match outcome {
                SignOutcome::Known(document, _) => {
                    report.unchanged += 1;
                    report.bytes += document.text.len() as u64;
                    report.empty += u64::from(document.text.chars().all(is_white_space));
                }
                SignOutcome::Signed { signed, text_bytes } => {
                    let is_empty = signed.token_count == 0;
                    *match self.add_signed(signed)? {
                        Outcome::Added => &mut report.added,
                        Outcome::Replaced => &mut report.replaced,
                        Outcome::Unchanged => &mut report.unchanged,
                    } += 1;
                    report.empty += u64::from(is_empty);
                    report.bytes += text_bytes as u64;
                }
            }
        }
        report.took_us = started.elapsed().as_micros() as u64;
        Ok(report)
    }
}

/// Signed documents in input order, from [`Index::sign_all`].
#[must_use = "an iterator gives nothing before the first call of `next`"]
pub struct SignedDocuments<J: Iterator<Item = std::result::Result<Document, E>>, E> {
    signing: SignedInput<J, E>,
}

impl<J, E> std::fmt::Debug for SignedDocuments<J, E>
where
    J: Iterator<Item = std::result::Result<Document, E>>,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedDocuments").finish_non_exhaustive()
    }
}

impl<J, E> Iterator for SignedDocuments<J, E>
where
    J: Iterator<Item = std::result::Result<Document, E>>,
    E: From<Error> + Send + 'static,
{
    type Item = std::result::Result<SignedDocument, E>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.signing.next()?.and_then(|outcome| match outcome {
            SignOutcome::Signed { signed, .. } => Ok(signed),
            SignOutcome::Known(document, _) => {
                Err(Error::internal(document.id, "no document is known").into())
            }
        }))
    }
}

/// The documents of an input in input order. Unchanged documents are known, not signed.
struct SignedInput<J: Iterator<Item = std::result::Result<Document, E>>, E> {
    batches: FeedHandle<DocumentBatches<J>, Vec<std::result::Result<Prepared, E>>>,
    /// What remains of the batch that is being returned.
    current: vec::IntoIter<std::result::Result<Prepared, E>>,
    signer: DocumentSigner,
    stop: Stop,
    /// Whether the iterator has returned its last item.
    is_over: bool,
}

impl<J, E> SignedInput<J, E>
where
    J: Iterator<Item = std::result::Result<Document, E>>,
    E: From<Error> + Send + 'static,
{
    fn start(documents: J, signer: DocumentSigner, options: &SigningOptions) -> SignedInput<J, E> {
        let SigningOptions { threads, memory_bytes, document_bytes_max, ref stop } = *options;
        let signer = signer.document_bytes_max(document_bytes_max).stop(stop.clone());
        let share = 1 + signer.bytes_a_byte();
        let work = |stop: &Stop| {
            let (signer, mut part) = (signer.clone().stop(stop.clone()), Vec::new());
            move |batch: DocumentBatch<E>| {
                let mut bytes_left = signer.reserved(batch.text_bytes);
                let mut prepare = |document: Document| -> Result<Prepared> {
                    signer.prepare(document.checked()?, &mut bytes_left, &mut part)
                };
                let prepared = batch.documents.into_iter();
                prepared.map(|document| Ok(prepare(document?)?)).collect()
            }
        };
        let documents = DocumentBatches { documents: documents.fuse(), share };
        let batches =
            FeedHandle::start(documents, |batch| batch.share, threads, memory_bytes, stop, work);
        SignedInput {
            batches,
            current: Vec::new().into_iter(),
            signer,
            stop: stop.clone(),
            is_over: false,
        }
    }

    fn next(&mut self) -> Option<std::result::Result<SignOutcome, E>> {
        while !self.is_over {
            if self.stop.is_set() {
                break;
            }
            match self.current.next() {
                Some(Ok(prepared)) => match self.signer.finish(prepared) {
                    Err(Error::Cancelled) => break,
                    finished => return Some(finished.map_err(E::from)),
                },
                Some(Err(error)) => return Some(Err(error)),
                None => match self.batches.next() {
                    Some(Ok(batch)) => self.current = batch.into_iter(),
                    Some(Err(error)) => {
                        self.is_over = true;
                        return Some(Err(error.into()));
                    }
                    None => return None,
                },
            }
        }
        // Cancelled: report this once, then end.
        let is_first = !std::mem::replace(&mut self.is_over, true);
        is_first.then(|| Err(Error::Cancelled.into()))
    }
}

/// Documents that go to a thread together.
struct DocumentBatch<E> {
    documents: Vec<std::result::Result<Document, E>>,
    text_bytes: usize,
    /// The bytes reserved for this batch.
    share: usize,
}

/// The documents of an input in batches.
struct DocumentBatches<J> {
    documents: Fuse<J>,
    /// The bytes to reserve per byte of text.
    share: usize,
}

impl<J, E> Iterator for DocumentBatches<J>
where
    J: Iterator<Item = std::result::Result<Document, E>>,
{
    type Item = DocumentBatch<E>;

    fn next(&mut self) -> Option<DocumentBatch<E>> {
        let (documents_max, bytes_max) = BATCH_MAX;
        let (mut documents, mut text_bytes) = (Vec::new(), 0);
        while documents.len() < documents_max && text_bytes < bytes_max {
            let Some(document) = self.documents.next() else { break };
            text_bytes += document.as_ref().map_or(0, |document| document.text.len());
            documents.push(document);
        }
        let share = self.share.saturating_mul(text_bytes);
        (!documents.is_empty()).then_some(DocumentBatch { documents, text_bytes, share })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;

    use super::*;
    use crate::index::{Config, WriterOptions};
    use crate::runtime::Faults;

    fn config() -> Config {
        Config::new("kgram(k=3)", "words", true).unwrap()
    }

    fn document(number: usize) -> Document {
        Document::new(number.to_string(), format!("the text of number {number} and more words"))
    }

    fn numbered(count: usize) -> impl Iterator<Item = Result<Document>> {
        (0..count).map(|number| Ok(document(number)))
    }

    fn options(threads: usize, memory_bytes: usize) -> SigningOptions {
        SigningOptions::default().threads(threads).memory_bytes(memory_bytes)
    }

    fn writer(index: &Index) -> Writer {
        index.writer(WriterOptions::default().memory_bytes(0usize)).unwrap()
    }

    type Content = (Vec<Vec<u8>>, BTreeMap<String, Option<String>>);

    /// The signature files of an index, and its texts by id.
    fn content(dir: &Path) -> Content {
        let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let is_signatures = |path: &PathBuf| path.extension().is_some_and(|e| e == "sig");
        let mut bytes: Vec<_> =
            files.filter(is_signatures).map(|path| std::fs::read(path).unwrap()).collect();
        bytes.sort();
        let snapshot = Index::open(dir).unwrap().snapshot().unwrap();
        let documents = snapshot.live().map(|address| {
            let stored = snapshot.document(address).unwrap();
            (stored.id, stored.text)
        });
        (bytes, documents.collect())
    }

    /// Adds documents in two commits, and returns [`content`] and the outcomes.
    fn added(
        documents: &[Document],
        committed: usize,
        add: &dyn Fn(&mut Writer, &[Document]) -> AddReport,
    ) -> (Content, AddReport) {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::create(dir.path().join("idx"), config()).unwrap();
        let options = WriterOptions::default().memory_bytes(0usize).merge(false);
        let mut writer = index.writer(options).unwrap();
        let (first, rest) = documents.split_at(committed);
        add(&mut writer, first);
        writer.commit().unwrap();
        let report = add(&mut writer, rest);
        writer.finish().unwrap();
        (content(&dir.path().join("idx")), AddReport { took_us: 0, ..report })
    }

    fn one_by_one(writer: &mut Writer, documents: &[Document]) -> AddReport {
        let mut report = AddReport::default();
        for document in documents {
            match writer.add(document.clone()).unwrap() {
                Outcome::Added => report.added += 1,
                Outcome::Replaced => report.replaced += 1,
                Outcome::Unchanged => report.unchanged += 1,
            }
            report.empty += u64::from(document.text.trim().is_empty());
            report.bytes += document.text.len() as u64;
        }
        report
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]
        #[test]
        fn adding_all_documents_is_adding_one_after_the_other(
            documents in prop::collection::vec((0u8..40, 0usize..200, 0u8..12), 0..150),
            committed in any::<prop::sample::Index>(),
        ) {
            // Some ids occur again, with the same or a different text. Some texts are empty, and
            // some signatures are much larger than the text.
            let documents: Vec<Document> = documents.iter().map(|&(id, words, kind)| {
                let text = match kind {
                    0 => "\u{fdfa} ".repeat(20 * words),
                    _ => format!("w{kind} {id} ").repeat(words),
                };
                Document::new(id.to_string(), text)
            }).collect();
            let committed = committed.index(documents.len() + 1);
            let expected = added(&documents, committed, &one_by_one);
            for (threads, memory_bytes) in [(1, 1), (2, 4000), (8, 128 << 20)] {
                let all = added(&documents, committed, &|writer, documents| {
                    let input = documents.iter().cloned().map(Ok::<_, Error>);
                    writer.add_all(input, &options(threads, memory_bytes)).unwrap()
                });
                prop_assert!(all == expected, "{} threads, {} bytes", threads, memory_bytes);
            }
        }
    }

    #[test]
    fn documents_come_signed_in_their_order() {
        let index = Index::in_memory(config()).unwrap();
        for (threads, memory_bytes) in [(1, 1), (3, 1), (3, 1 << 20)] {
            let signed = index.sign_all(numbered(500), &options(threads, memory_bytes));
            let signed: Vec<_> = signed.collect::<Result<_>>().unwrap();
            assert_eq!(signed.len(), 500);
            for (number, signed) in signed.iter().enumerate() {
                let alone = SignedDocument::new(document(number), &config(), Stop::NEVER).unwrap();
                assert_eq!(signed.document, alone.document);
                assert_eq!(signed.signature, alone.signature);
            }
        }
    }

    #[test]
    fn an_error_of_the_input_comes_in_its_turn() {
        let failing = || {
            numbered(300).chain([Err(Error::arguments("unreadable"))]).chain(numbered(10).skip(5))
        };
        let index = Index::in_memory(config()).unwrap();
        let signed: Vec<_> = index.sign_all(failing(), &options(2, 1 << 20)).collect();
        assert_eq!(signed.len(), 306);
        let message = |error: &Error| error.to_string();
        assert_eq!(signed[300].as_ref().map_err(message).err().unwrap(), "unreadable");
        assert!(signed.iter().enumerate().all(|(at, signed)| signed.is_ok() == (at != 300)));
        let mut writer = writer(&index);
        let added = writer.add_all(failing(), &options(2, 1 << 20));
        assert_eq!(added.unwrap_err().to_string(), "unreadable");
        // Only documents before the error are there, and the writer works.
        assert_eq!(writer.uncommitted(), 300);
        writer.add_all(numbered(301), &options(2, 1 << 20)).unwrap();
        writer.finish().unwrap();
        assert_eq!(index.snapshot().unwrap().documents(), 301);
    }

    #[test]
    fn a_document_that_is_refused_takes_no_other_with_it() {
        let index = Index::in_memory(config()).unwrap();
        let faults = |_, id: &str| {
            assert_ne!(id, "7", "a defect");
            Ok(())
        };
        index.set_faults(Faults::new(faults));
        let large = Document::new("large", "\u{fdfa} ".repeat(1 << 16));
        let documents = || {
            let bad = [Document::new("", "without an id"), large.clone()].map(Ok::<_, Error>);
            numbered(9).chain(bad).chain([Ok(document(9))])
        };
        let small = options(2, 1 << 20).document_bytes_max(1usize << 20);
        let signed: Vec<_> = index.sign_all(documents(), &small).collect();
        let shown = signed.iter().map(|signed| match signed {
            Ok(signed) => signed.document.id.clone(),
            Err(error) => format!("{:?}", error.reason()),
        });
        let shown: Vec<String> = shown.collect();
        let expected = [
            "0",
            "1",
            "2",
            "3",
            "4",
            "5",
            "6",
            "Internal",
            "8",
            "InvalidInput",
            "DocumentTooLarge",
            "9",
        ];
        assert_eq!(shown, expected);
        // With enough memory, the large document is signed in its turn.
        let signed: Vec<_> = index.sign_all(documents(), &options(2, 1)).collect();
        assert_eq!(signed[10].as_ref().unwrap().document.id, "large");
        let mut writer = writer(&index);
        let added = writer.add_all(documents(), &small);
        assert!(matches!(added, Err(Error::Internal { .. })), "{added:?}");
        assert_eq!(writer.uncommitted(), 7);
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let index = Index::in_memory(config()).unwrap();
        let stop = Stop::new();
        let endless = || (0..).map(|number| Ok::<_, Error>(document(number)));
        let told = endless().inspect(|item| {
            if item.as_ref().is_ok_and(|document| document.id == "5000") {
                stop.set();
            }
        });
        let stopped = options(2, 1 << 20).stop(stop.clone());
        let mut writer = writer(&index);
        assert!(matches!(writer.add_all(told, &stopped), Err(Error::Cancelled)));
        assert!(writer.is_usable() && writer.uncommitted() <= 5000);
        let mut signed = index.sign_all(endless(), &stopped);
        assert!(matches!(signed.next(), Some(Err(Error::Cancelled))));
        assert!(signed.next().is_none());
    }

    #[test]
    fn dropping_it_ends_its_threads() {
        let alive = Arc::new(());
        let held = alive.clone();
        let faults = Faults::new(move |_, _| {
            let _held = &held;
            Ok(())
        });
        for taken in [0, 1, 100] {
            let signer = DocumentSigner::new(&config(), faults.clone());
            let mut signing =
                SignedInput::start(numbered(usize::MAX), signer, &options(2, 1 << 20));
            assert!((0..taken).all(|_| signing.next().is_some_and(|outcome| outcome.is_ok())));
        }
        // No thread still holds the faults.
        drop(faults);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
