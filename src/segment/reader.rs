//! Reads a segment: fingerprints, documents and signatures.
//!
//! Opening reads the frame of the file and the separators of the term index. Everything else is
//! read, and compared with its checksum, on demand. Any number of threads may share a reader.

use ownedbytes::OwnedBytes;

use super::documents::{self, DistinctColumn, Document};
use super::file::SigFile;
use super::filter::{Filters, KeyHash};
use super::forward::ForwardList;
use super::ids::{self, Identities};
use super::layout::BLOCK_TERMS;
use super::layout::{Counts, Footer, Header, Section};
use super::postings::{Candidates, List, Postings};
use super::read_ahead::ReadAhead;
use super::term_index::TermIndex;
use crate::error::Corruption;
use crate::hash::Digest;
use crate::scheme::Fingerprint;

/// An open `.sig` file.
pub struct SegmentReader {
    file: SigFile,
    index: TermIndex,
    filters: Filters,
}

impl std::fmt::Debug for SegmentReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SegmentReader").finish_non_exhaustive()
    }
}

/// A fingerprint that occurs in the segment.
#[derive(Debug, Clone, Copy)]
pub struct Term<'a> {
    /// The place among the segment's terms in key order.
    pub ordinal: u32,
    postings: PostingsPlace<'a>,
}

#[derive(Debug, Clone, Copy)]
enum PostingsPlace<'a> {
    Inline(Postings),
    List(List<'a>),
}

impl SegmentReader {
    /// Opens the `.sig` file in `bytes`. `file` is the name for messages.
    ///
    /// # Errors
    /// When the header, section table or term index is damaged, or the file has another version.
    pub fn open(file: impl Into<String>, bytes: OwnedBytes) -> Result<SegmentReader, Corruption> {
        SegmentReader::open_ahead(file, bytes, ReadAhead::default())
    }

    /// Like [`open`](Self::open), but requests bytes through `read_ahead`, now and later.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_ahead(
        file: impl Into<String>,
        bytes: OwnedBytes,
        read_ahead: ReadAhead,
    ) -> Result<SegmentReader, Corruption> {
        let file = SigFile::open(file, bytes, read_ahead)?;
        if file.footer.counts.terms > u64::from(u32::MAX) {
            let what = "there are more than 2^32 terms";
            return Err(file.corruption(Section::Terms, 0, what));
        }
        if documents::section_bytes(&file) != file.len(Section::Documents) {
            return Err(file.corruption(
                Section::Documents,
                0,
                "its length does not match its columns",
            ));
        }
        if !file.header.signatures {
            check_without_signatures(&file)?;
        }
        let (index, filters) = (TermIndex::open(&file)?, Filters::open(&file)?);
        Ok(SegmentReader { file, index, filters })
    }

    /// Returns the header of the segment.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.file.header
    }

    /// Returns the counts of the segment.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.file.footer.counts
    }

    /// Returns the term with this key, or `None` if the segment does not have it.
    ///
    /// # Errors
    /// When the bytes are damaged.
    #[inline]
    pub fn find(&self, key: u64) -> Result<Option<Term<'_>>, Corruption> {
        let Some(group) = self.index.group_of(key) else {
            return Ok(None);
        };
        let hash = KeyHash::of(key);
        let line = self.filters.line_of(hash, group);
        if !hash.may_be_in(self.filters.read(&self.file, line)?) {
            return Ok(None);
        }
        let Some(block_at) = self.index.block_of(&self.file, group, key)? else {
            return Ok(None);
        };
        let block = self.index.read(&self.file, block_at)?;
        let Some(index) = block.find(key) else {
            return Ok(None);
        };
        let ordinal = (block_at * BLOCK_TERMS + index) as u32;
        self.term(ordinal, block.postings(index)).map(Some)
    }

    /// Returns the number of blocks of the dictionary.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.index.blocks()
    }

    /// Appends the terms of a block in order, each with key and document frequency.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub fn terms_of_block(
        &self,
        block: usize,
        terms: &mut Vec<(u64, u32)>,
    ) -> Result<(), Corruption> {
        let block = self.index.read(&self.file, block)?;
        let (mut keys, mut postings) = (Vec::new(), Vec::new());
        block.keys(&mut keys);
        block.all_postings(&mut postings);
        for (key, postings) in keys.into_iter().zip(postings) {
            let df = match postings {
                Postings::One(_) => 1,
                Postings::Two(..) => 2,
                Postings::List(at) => List::open(&self.file, at)?.df,
            };
            terms.push((key, df));
        }
        Ok(())
    }

    #[inline]
    pub(super) fn term(&self, ordinal: u32, postings: Postings) -> Result<Term<'_>, Corruption> {
        let documents = self.file.header.documents;
        let postings = match postings {
            Postings::One(doc) | Postings::Two(_, doc) if doc >= documents => {
                let what = format!("term {ordinal} in document {doc} of {documents}");
                return Err(self.file.corruption(Section::Terms, 0, what));
            }
            Postings::List(at) => PostingsPlace::List(List::open(&self.file, at)?),
            inline => PostingsPlace::Inline(inline),
        };
        Ok(Term { ordinal, postings })
    }

    /// Appends the documents of a term of this segment to `docs`, ascending.
    ///
    /// # Errors
    /// When the posting list is damaged.
    pub fn documents_of(&self, term: &Term<'_>, docs: &mut Vec<u32>) -> Result<(), Corruption> {
        match term.postings {
            PostingsPlace::Inline(postings) => docs.extend(inline_docs(&postings)),
            PostingsPlace::List(list) => list.decode(&self.file, docs)?,
        }
        Ok(())
    }

    /// Returns whether, for a set of `candidates` documents,
    /// [`documents_among`](Self::documents_among) is faster than decoding the documents of `term`
    /// and testing each.
    #[inline]
    #[must_use]
    pub fn is_probed(term: &Term<'_>, candidates: usize) -> bool {
        matches!(term.postings, PostingsPlace::List(list) if list.is_probed(candidates))
    }

    /// Calls `each` with the documents of a term among `candidates`, ascending, without decoding
    /// the remaining documents (DivideSkip).
    ///
    /// # Errors
    /// When the posting list is damaged.
    pub fn documents_among(
        &self,
        term: &Term<'_>,
        candidates: &Candidates,
        each: impl FnMut(u32),
    ) -> Result<(), Corruption> {
        match term.postings {
            PostingsPlace::Inline(postings) => {
                inline_docs(&postings).filter(|&doc| candidates.contains(doc)).for_each(each);
            }
            PostingsPlace::List(list) => list.among(&self.file, candidates)?.for_each(each),
        }
        Ok(())
    }

    /// Reads the row of document `doc`.
    ///
    /// # Errors
    /// When the bytes are damaged, or there is no such document.
    pub fn document(&self, doc: u32) -> Result<Document, Corruption> {
        documents::read(&self.file, doc)
    }

    /// Returns the id of document `doc`.
    ///
    /// # Errors
    /// When the bytes are damaged, or there is no such document.
    pub fn id(&self, doc: u32) -> Result<String, Corruption> {
        ids::id(&self.file, doc)
    }

    /// Returns the digest of the text of document `doc`.
    ///
    /// # Errors
    /// When the bytes are damaged, or there is no such document.
    pub fn digest(&self, doc: u32) -> Result<Digest, Corruption> {
        ids::digest(&self.file, doc)
    }

    /// Returns the documents whose text has this digest, ascending, among documents that
    /// `is_wanted` accepts. Nothing is read of other documents.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub fn documents_with(
        &self,
        digest: Digest,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Result<Vec<u32>, Corruption> {
        let mut docs = Vec::new();
        documents::with_digest(&self.file, digest, &mut docs)?;
        let mut found = Vec::new();
        for doc in docs.into_iter().filter(|&doc| is_wanted(doc)) {
            if self.digest(doc)? == digest {
                found.push(doc);
            }
        }
        Ok(found)
    }

    /// Returns the documents with the smallest text digests among those that `is_wanted` accepts,
    /// with at most `count` texts. This is a sample that does not depend on the order of documents.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub fn with_least_digests(
        &self,
        count: usize,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Result<Vec<u32>, Corruption> {
        documents::with_least_digests(&self.file, count, is_wanted)
    }

    /// Replaces `sizes` with the number of distinct fingerprints of each of `docs`.
    ///
    /// # Errors
    /// When the bytes are damaged, or there is no such document.
    pub fn distinct_of(&self, docs: &[u32], sizes: &mut Vec<u32>) -> Result<(), Corruption> {
        documents::distinct_of(&self.file, docs, sizes)
    }

    /// Returns the number of distinct fingerprints of every document.
    ///
    /// # Errors
    /// When the column is damaged.
    pub fn distinct(&self) -> Result<DistinctColumn<'_>, Corruption> {
        documents::distinct_column(&self.file)
    }

    /// Replaces `ordinals` and `positions` with the signature of document `doc`.
    ///
    /// # Errors
    /// When the bytes are damaged, or there is no such document.
    pub fn forward(
        &self,
        doc: u32,
        ordinals: &mut Vec<u32>,
        positions: &mut Vec<u32>,
    ) -> Result<(), Corruption> {
        self.forward_list(doc)?.decode(&self.file, ordinals, positions)
    }

    /// Appends the term ordinals of the signature of document `doc` to `ordinals`.
    pub(crate) fn forward_ordinals(
        &self,
        doc: u32,
        ordinals: &mut Vec<u32>,
    ) -> Result<(), Corruption> {
        self.forward_list(doc)?.decode_ordinals(&self.file, ordinals)
    }

    /// Returns the forward list of document `doc` in place, for readers that need little of it.
    pub(crate) fn forward_list(&self, doc: u32) -> Result<ForwardList<'_>, Corruption> {
        if !self.header().signatures {
            let what = format!("that of document {doc} is wanted, but signatures are not stored");
            return Err(self.file.corruption(Section::Forward, 0, what));
        }
        let row = self.document(doc)?;
        let at = usize::try_from(row.forward_at).unwrap_or(usize::MAX);
        ForwardList::open(&self.file, at)
    }

    /// Returns the signature of document `doc`, ordered by position.
    ///
    /// # Errors
    /// When the bytes are damaged, or there is no such document.
    pub fn signature(&self, doc: u32) -> Result<Vec<Fingerprint>, Corruption> {
        let (mut ordinals, mut positions) = (Vec::new(), Vec::new());
        self.forward(doc, &mut ordinals, &mut positions)?;
        let keyed = self.keys_at(&ordinals)?.into_iter().zip(positions);
        Ok(keyed.map(|(key, position)| Fingerprint { key, position }).collect())
    }

    /// Returns a reader of ids and digests, fastest in document order.
    pub(super) fn identities(&self) -> Identities<'_> {
        Identities::new(&self.file)
    }

    pub(super) fn file(&self) -> &SigFile {
        &self.file
    }

    pub(super) fn index(&self) -> &TermIndex {
        &self.index
    }

    pub(super) fn filters(&self) -> &Filters {
        &self.filters
    }
}

/// Refuses content that a segment without signatures cannot have.
fn check_without_signatures(file: &SigFile) -> Result<(), Corruption> {
    if file.len(Section::Forward) > 0 {
        let what = "there are bytes of signatures, but they are not stored";
        return Err(file.corruption(Section::Forward, 0, what));
    }
    let Footer { counts, widths, .. } = &file.footer;
    if (widths.ordinal, widths.forward, counts.occurrences) != (0, 0, 0) {
        let at = file.start(Section::Checksums) + file.len(Section::Checksums) as u64;
        let what = "it counts fingerprints of signatures, but no signatures are stored";
        return Err(Corruption::new(file.name(), "footer", at, what));
    }
    Ok(())
}

/// Returns the documents of postings in the dictionary. Empty for a list.
pub(super) fn inline_docs(postings: &Postings) -> impl Iterator<Item = u32> + use<> {
    let (first, second) = match *postings {
        Postings::One(doc) => (Some(doc), None),
        Postings::Two(first, second) => (Some(first), Some(second)),
        Postings::List(..) => (None, None),
    };
    first.into_iter().chain(second)
}

impl Term<'_> {
    /// Returns the documents, if the dictionary itself has them because there are at most two.
    #[inline]
    #[must_use]
    pub fn inline(&self) -> Option<impl Iterator<Item = u32> + use<>> {
        match &self.postings {
            PostingsPlace::Inline(postings) => Some(inline_docs(postings)),
            PostingsPlace::List(_) => None,
        }
    }

    /// Returns the number of documents with this fingerprint, deleted documents included.
    #[inline]
    #[must_use]
    pub fn df(&self) -> u32 {
        match &self.postings {
            PostingsPlace::Inline(Postings::One(_)) => 1,
            PostingsPlace::Inline(_) => 2,
            PostingsPlace::List(list) => list.df,
        }
    }
}
