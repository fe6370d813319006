//! The ids of documents.
//!
//! Ids added one after another usually share a prefix, so an id is stored as its difference from
//! the previous id. Groups are short enough to be decoded for a single id. Layout:
//! segments-format.md, "Ids".

use std::io;
use std::ops::Range;

use super::bits::{put_varint, take_array, take_varint};
use super::documents;
use super::file::SigFile;
use super::layout::{ID_GROUP, Section};
use super::postings::Spool;
use crate::error::Corruption;
use crate::hash::Digest;

/// The bytes of a digest.
const DIGEST_BYTES: usize = 16;

/// The id of a document and the digest of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity<'a> {
    /// The caller's id of the document.
    pub id: &'a str,
    /// The digest of the text.
    pub digest: Digest,
}

/// Collects the ids of a segment.
pub struct IdsWriter {
    spool: Spool,
    places: Vec<u64>,
    group: IdGroup,
}

/// The encoded ids and digests of consecutive documents.
#[derive(Default)]
struct IdGroup {
    documents: usize,
    digests: Vec<u8>,
    ids: Vec<u8>,
    last: Vec<u8>,
}

impl IdGroup {
    fn push(&mut self, identity: Identity<'_>) {
        let id = identity.id.as_bytes();
        let shared = self.last.iter().zip(id).take_while(|(a, b)| a == b).count();
        put_varint(&mut self.ids, shared as u64);
        put_varint(&mut self.ids, (id.len() - shared) as u64);
        self.ids.extend_from_slice(&id[shared..]);
        self.digests.extend_from_slice(&identity.digest.to_le_bytes());
        self.last.truncate(shared);
        self.last.extend_from_slice(&id[shared..]);
        self.documents += 1;
    }

    fn clear(&mut self) {
        self.documents = 0;
        self.digests.clear();
        self.ids.clear();
        self.last.clear();
    }
}

impl IdsWriter {
    /// Creates an empty section, which is collected in `spool`.
    pub fn new(spool: Spool) -> IdsWriter {
        IdsWriter { spool, places: Vec::new(), group: IdGroup::default() }
    }

    /// Appends the next document.
    pub fn push(&mut self, identity: Identity<'_>) -> io::Result<()> {
        self.group.push(identity);
        if self.group.documents == ID_GROUP { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> io::Result<()> {
        self.places.push(self.spool.written());
        self.spool.append(&self.group.digests)?;
        self.spool.append(&self.group.ids)?;
        self.group.clear();
        Ok(())
    }

    /// Returns the bytes of the section, and the offset of each group.
    pub fn finish(mut self) -> io::Result<(Spool, Vec<u64>)> {
        if self.group.documents > 0 {
            self.end_group()?;
        }
        Ok((self.spool, self.places))
    }
}

/// Returns the digest of the text of document `doc`.
///
/// # Errors
/// When the bytes are damaged or there is no such document.
pub fn digest(file: &SigFile, doc: u32) -> Result<Digest, Corruption> {
    let (group, index) = place_of(file, doc)?;
    Ok(Decoder::open(file, group)?.digest(index))
}

/// Returns the id of document `doc`.
///
/// # Errors
/// When the bytes are damaged or there is no such document.
pub fn id(file: &SigFile, doc: u32) -> Result<String, Corruption> {
    Ok(Identities::new(file).get(doc)?.id.to_owned())
}

/// Reads ids and digests. For ascending documents, each id is decoded once.
pub struct Identities<'a> {
    file: &'a SigFile,
    decoder: Option<Decoder<'a>>,
    id: Vec<u8>,
}

impl<'a> Identities<'a> {
    /// Creates a reader of the identities of the documents of `file`.
    pub fn new(file: &'a SigFile) -> Identities<'a> {
        Identities { file, decoder: None, id: Vec::new() }
    }

    /// Reads the identity of document `doc`.
    ///
    /// # Errors
    /// When the bytes are damaged or there is no such document.
    pub fn get(&mut self, doc: u32) -> Result<Identity<'_>, Corruption> {
        let (group, index) = place_of(self.file, doc)?;
        let before = self.decoder.take().filter(|d| d.group == group && d.read <= index);
        let decoder = self.decoder.insert(match before {
            Some(decoder) => decoder,
            None => Decoder::open(self.file, group)?,
        });
        while decoder.read <= index {
            decoder.next(&mut self.id)?;
        }
        match str::from_utf8(&self.id) {
            Ok(id) => Ok(Identity { id, digest: decoder.digest(index) }),
            Err(_) => Err(decoder.damage("an id that is not UTF-8")),
        }
    }
}

/// Returns whether a group has exactly the bytes that the writer produces.
///
/// # Errors
/// When the bytes are damaged, or an id cannot be decoded.
pub fn is_as_written(file: &SigFile, group: usize) -> Result<bool, Corruption> {
    let mut decoder = Decoder::open(file, group)?;
    let (mut id, mut written) = (Vec::new(), IdGroup::default());
    for index in 0..decoder.digests.len() / DIGEST_BYTES {
        decoder.next(&mut id)?;
        let Ok(id) = str::from_utf8(&id) else { return Ok(false) };
        written.push(Identity { id, digest: decoder.digest(index) });
    }
    Ok(decoder.rest.is_empty() && decoder.ids == written.ids)
}

/// Returns the group of document `doc`, and its place in the group.
fn place_of(file: &SigFile, doc: u32) -> Result<(usize, usize), Corruption> {
    documents::check_exists(file, doc)?;
    Ok((doc as usize / ID_GROUP, doc as usize % ID_GROUP))
}

/// Decodes the ids of a group, beginning with the first.
struct Decoder<'a> {
    file: &'a SigFile,
    group: usize,
    /// The number of decoded ids.
    read: usize,
    start: usize,
    digests: &'a [u8],
    ids: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    fn open(file: &'a SigFile, group: usize) -> Result<Decoder<'a>, Corruption> {
        let Range { start, end } = documents::ids_of_group(file, group)?;
        let bytes = file.read(Section::Ids, start, end.saturating_sub(start))?;
        let documents = file.header.documents as usize - group * ID_GROUP;
        let digests = documents.min(ID_GROUP) * DIGEST_BYTES;
        let Some((digests, ids)) = bytes.split_at_checked(digests) else {
            return Err(file.corruption(Section::Ids, start, "a group without room for digests"));
        };
        Ok(Decoder { file, group, read: 0, start, digests, ids, rest: ids })
    }

    /// Returns the digest of a document of the group.
    fn digest(&self, index: usize) -> Digest {
        let mut bytes = &self.digests[DIGEST_BYTES * index..];
        let bytes = take_array(&mut bytes).expect("a group has a digest for each document");
        Digest::from(u128::from_le_bytes(bytes))
    }

    /// Changes `id` from the previous id to the next. The first id does not depend on `id`.
    fn next(&mut self, id: &mut Vec<u8>) -> Result<(), Corruption> {
        let mut rest = self.rest;
        let mut number = || take_varint(&mut rest).and_then(|n| usize::try_from(n).ok());
        let parts = number().zip(number());
        let before = if self.read == 0 { 0 } else { id.len() };
        let parts = parts.filter(|&(shared, len)| shared <= before && len <= rest.len());
        let (shared, len) = parts.ok_or_else(|| self.damage("an id that cannot be read"))?;
        let (own, rest) = rest.split_at(len);
        self.rest = rest;
        id.truncate(shared);
        id.extend_from_slice(own);
        self.read += 1;
        Ok(())
    }

    fn damage(&self, what: &str) -> Corruption {
        self.file.corruption(Section::Ids, self.start, what)
    }
}
