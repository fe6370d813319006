//! The layout of a `.store`, and a reader that checks it.
//!
//! tantivy's own reader trusts every number in the file and checks no checksum: damaged bytes make
//! it panic, or allocate more memory than exists. Here every number that leads to a block of texts
//! is checked before tantivy sees the file ([`check`]), and texts are read without tantivy
//! ([`Store`]). The layout is tantivy's, whose version is pinned:
//!
//! - blocks of documents, one after another: the length (`u32`), then a zstd frame of this length
//!   with documents, the place of each document (`u32`), and the number of documents (`u32`),
//! - the index: the number of layers and the end of each layer (counted from the first), then the
//!   layers, from the top layer down to the layer that leads to the blocks,
//! - version 2 (`u32`), the length of the blocks (`u64`), a code for zstd (`u8`), 15 bytes.
//!
//! A layer is a list of nodes. A node has the number of entries, the first document and the first
//! byte, then for each entry the number of documents and of bytes. An entry of the last layer
//! represents a block, an entry of another layer represents a node of the next layer. Numbers have
//! seven bits a byte, low bits first, and the high bit marks the last byte.

use std::cell::RefCell;
use std::ops::{Deref, Range};
use std::sync::Arc;

use tantivy::directory::OwnedBytes;
use zstd::bulk::Decompressor;

use super::byte_lru::{ByteLru, InMemory, LruShare};

/// The bytes after the index.
const TAIL_BYTES: usize = 28;
/// tantivy's version of this layout.
const VERSION: u64 = 2;
/// tantivy's code for zstd, the only compression that cento writes.
const ZSTD: u8 = 4;
/// Each layer has an eighth of the entries of the next, so 32 layers would lead to 2^96 blocks.
const LAYERS_MAX: u64 = 32;

thread_local! {
    /// One per thread, because creating it takes 160 KB and more time than a block of short texts.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The offset of the damage, or of a byte before it, and a description.
pub type Damage = (usize, &'static str);

/// A range of documents, and the bytes with these documents.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BlockEntry {
    documents: Range<u32>,
    bytes: Range<usize>,
}

/// The parts of a store.
struct StoreParts {
    /// The length of the blocks together.
    blocks_len: usize,
    /// The layers of the index, top layer first.
    layers: Vec<Range<usize>>,
}

impl StoreParts {
    fn find(file: &[u8]) -> Result<StoreParts, Damage> {
        let tail = file.len().checked_sub(TAIL_BYTES).ok_or((0, "it is cut short"))?;
        if uint(&file[tail..tail + 4]) != VERSION {
            return Err((tail, "a version of the store that cento does not write"));
        }
        if file[tail + 12] != ZSTD {
            return Err((tail + 12, "a compression that cento does not write"));
        }
        let blocks_len = usize::try_from(uint(&file[tail + 4..tail + 12])).unwrap_or(usize::MAX);
        if blocks_len > tail {
            return Err((tail + 4, "its index lies outside of it"));
        }
        let outside = (blocks_len, "layers of the index that lie outside of it");
        let mut rest = &file[blocks_len..tail];
        let count = number(&mut rest).filter(|&count| count <= LAYERS_MAX).ok_or(outside)?;
        let ends: Option<Vec<u64>> = (0..count).map(|_| number(&mut rest)).collect();
        let (mut layers, mut start) = (Vec::new(), 0);
        for end in ends.ok_or(outside)? {
            let end = usize::try_from(end).ok().filter(|&end| start < end && end <= rest.len());
            let end = end.ok_or(outside)?;
            layers.push(tail - rest.len() + start..tail - rest.len() + end);
            start = end;
        }
        if start != rest.len() {
            return Err(outside);
        }
        Ok(StoreParts { blocks_len, layers })
    }

    /// Counts the documents in the first layer. It is short, and covers every document.
    fn documents(&self, file: &[u8]) -> Result<u32, Damage> {
        let Some(layer) = self.layers.first() else { return Ok(0) };
        let mut documents = 0;
        walk(file, layer, &mut |entry| documents = entry.documents.end, &mut |_| {})?;
        Ok(documents)
    }

    /// Finds the block of document `doc`, visiting one node per layer, if there is such a block.
    fn block_of(&self, file: &[u8], doc: u32) -> Result<Option<BlockEntry>, Damage> {
        let mut found: Option<BlockEntry> = None;
        for layer in &self.layers {
            let BlockEntry { documents, bytes } = match found {
                None => BlockEntry { documents: 0..u32::MAX, bytes: 0..layer.len() },
                Some(found) => found,
            };
            if bytes.end > layer.len() {
                return Err((layer.start, "layers of the index that do not fit each other"));
            }
            found = None;
            let nodes = layer.start + bytes.start..layer.start + bytes.end;
            let mut each = |entry: BlockEntry| {
                if entry.documents.contains(&doc) {
                    found = Some(entry);
                }
            };
            walk_nodes(file, nodes, documents.start, None, &mut each, &mut |_| {})?;
            if found.is_none() {
                return Ok(None);
            }
        }
        let leads_out = found.as_ref().is_some_and(|block| block.bytes.end > self.blocks_len);
        if leads_out {
            return Err((self.blocks_len, "an index that leads beyond the last block"));
        }
        Ok(found)
    }
}

/// Calls `each_entry` with every entry of a layer, and `each_node` with the documents and bytes of
/// every node.
fn walk(
    file: &[u8],
    layer: &Range<usize>,
    each_entry: &mut dyn FnMut(BlockEntry),
    each_node: &mut dyn FnMut(BlockEntry),
) -> Result<(), Damage> {
    walk_nodes(file, layer.clone(), 0, Some(0), each_entry, each_node)
}

/// Visits consecutive nodes. The first node begins with this document and, if known, this byte.
fn walk_nodes(
    file: &[u8],
    nodes: Range<usize>,
    mut document: u32,
    mut byte: Option<usize>,
    each_entry: &mut dyn FnMut(BlockEntry),
    each_node: &mut dyn FnMut(BlockEntry),
) -> Result<(), Damage> {
    let mut rest = &file[nodes.clone()];
    while !rest.is_empty() {
        let at = nodes.end - rest.len();
        let damage = || (at, "an index that does not go from block to block");
        let first = document;
        let count = number32(&mut rest).filter(|&count| count > 0).ok_or_else(damage)?;
        let is_first = number32(&mut rest) == Some(document);
        let starts = number(&mut rest).and_then(|starts| usize::try_from(starts).ok());
        let starts = starts.filter(|&starts| is_first && byte.is_none_or(|byte| byte == starts));
        let mut end = starts.ok_or_else(damage)?;
        for _ in 0..count {
            let documents = number32(&mut rest).filter(|&documents| documents > 0);
            let document_end = documents.and_then(|documents| document.checked_add(documents));
            let bytes = number32(&mut rest).filter(|&bytes| bytes > 0);
            let byte_end = bytes.and_then(|bytes| end.checked_add(bytes as usize));
            let (document_end, byte_end) = document_end.zip(byte_end).ok_or_else(damage)?;
            each_entry(BlockEntry { documents: document..document_end, bytes: end..byte_end });
            (document, end) = (document_end, byte_end);
        }
        byte = Some(end);
        let bytes = at - nodes.start..nodes.end - rest.len() - nodes.start;
        each_node(BlockEntry { documents: first..document, bytes });
    }
    Ok(())
}

/// Returns the length of the blocks of a store. `file` is the component without tantivy's footer.
///
/// # Errors
/// The damage and its offset.
pub fn blocks_len(file: &[u8]) -> Result<usize, Damage> {
    StoreParts::find(file).map(|parts| parts.blocks_len)
}

/// Checks that every number of a store leads to where tantivy expects, up to the blocks. `file` is
/// the component without tantivy's footer.
///
/// Reads the index, about a thousandth of the file, but not the blocks.
///
/// # Errors
/// The damage and its offset.
pub fn check(file: &[u8]) -> Result<(), Damage> {
    let parts = StoreParts::find(file)?;
    // The entries of the previous layer, which describe the nodes of this layer.
    let mut expected: Option<Vec<BlockEntry>> = None;
    for layer in &parts.layers {
        let (mut entries, mut nodes) = (Vec::new(), Vec::new());
        let is_last = layer.end == file.len() - TAIL_BYTES;
        let mut end = 0;
        let mut each = |entry: BlockEntry| {
            end = entry.bytes.end;
            if !is_last {
                entries.push(entry);
            }
        };
        walk(file, layer, &mut each, &mut |node| nodes.push(node))?;
        if expected.is_some_and(|expected| expected != nodes) {
            return Err((layer.start, "layers of the index that do not fit each other"));
        }
        if is_last && end != parts.blocks_len {
            return Err((layer.start, "an index that does not lead to all blocks"));
        }
        expected = Some(entries);
    }
    if parts.layers.is_empty() && parts.blocks_len > 0 {
        return Err((parts.blocks_len, "an index that leads to no block"));
    }
    Ok(())
}

/// The texts of a segment.
pub struct Store {
    file: OwnedBytes,
    parts: StoreParts,
    documents: u32,
    /// A cache of recently used blocks.
    kept: LruShare<Block>,
}

/// A decompressed block of documents.
pub struct Block {
    bytes: Vec<u8>,
    /// The offset of the table with the places of the documents.
    places: usize,
}

impl InMemory for Block {
    fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

/// The bytes of a document, within its block.
pub struct DocumentBytes {
    block: Arc<Block>,
    range: Range<usize>,
}

impl Deref for DocumentBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.block.bytes[self.range.clone()]
    }
}

impl Store {
    /// Opens the store in `file`, a component without tantivy's footer. `kept` caches its blocks.
    ///
    /// # Errors
    /// When the boundaries of the parts of the file are invalid.
    pub fn open(file: OwnedBytes, kept: &Arc<ByteLru<Block>>) -> Result<Store, Damage> {
        let parts = StoreParts::find(&file)?;
        let documents = parts.documents(&file)?;
        Ok(Store { file, parts, documents, kept: kept.share() })
    }

    /// Returns the number of documents, deleted documents included.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// Returns the bytes of document `doc`.
    ///
    /// # Errors
    /// When there is no such document, or its block is damaged.
    pub fn document(&self, doc: u32) -> Result<DocumentBytes, Damage> {
        let entry = self.parts.block_of(&self.file, doc)?;
        let entry = entry.ok_or((self.file.len(), "no block with it"))?;
        let block = self.block(&entry)?;
        let index = (doc - entry.documents.start) as usize;
        let place = |index: usize| uint(&block.bytes[block.places + 4 * index..][..4]) as usize;
        let is_last = doc + 1 == entry.documents.end;
        let range = place(index)..if is_last { block.places } else { place(index + 1) };
        if range.start > range.end || range.end > block.places {
            return Err((entry.bytes.start, "a block whose documents lie outside of it"));
        }
        Ok(DocumentBytes { block, range })
    }

    fn block(&self, entry: &BlockEntry) -> Result<Arc<Block>, Damage> {
        self.kept.get(entry.documents.start, || {
            let block = Block::decode(&self.file[entry.bytes.clone()], entry.documents.len());
            block.ok_or((entry.bytes.start, "a block that cannot be decoded"))
        })
    }
}

impl Block {
    /// Decompresses a block with this number of documents.
    fn decode(bytes: &[u8], documents: usize) -> Option<Block> {
        let (len, frame) = bytes.split_at_checked(4)?;
        let len = usize::try_from(uint(len)).ok()?;
        // Compare with the length in the frame: a damaged length must not be allocated.
        if zstd::zstd_safe::get_frame_content_size(frame).ok()? != Some(len as u64) {
            return None;
        }
        let bytes = DECOMPRESSOR.with_borrow_mut(|context| match context {
            Some(context) => context.decompress(frame, len).ok(),
            None => context.insert(Decompressor::new().ok()?).decompress(frame, len).ok(),
        })?;
        let places_end = bytes.len().checked_sub(4)?;
        let places = places_end.checked_sub(documents.checked_mul(4)?)?;
        let fits = bytes.len() == len && uint(&bytes[places_end..]) == documents as u64;
        fits.then_some(Block { bytes, places })
    }
}

/// Reads an unsigned little-endian integer of up to 8 bytes.
fn uint(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Takes a number of seven bits a byte, low bits first. The high bit marks the last byte.
pub(super) fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 127) << shift;
        if byte & 128 != 0 {
            return Some(number);
        }
    }
    None
}

/// Takes a number of 32 bits in at most five bytes, like tantivy.
fn number32(bytes: &mut &[u8]) -> Option<u32> {
    let before = bytes.len();
    let found = number(bytes)?;
    u32::try_from(found).ok().filter(|_| before - bytes.len() <= 5)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::OnceLock;

    use proptest::prelude::*;
    use tantivy::directory::FileSlice;
    use tantivy::store::StoreReader;

    use super::*;
    use crate::index::Document;

    use crate::index::{Config, Index, WriterOptions};

    /// Returns the store of 75 documents, made once.
    fn large() -> &'static [u8] {
        static LARGE: OnceLock<Vec<u8>> = OnceLock::new();
        LARGE.get_or_init(|| store(75))
    }

    /// Creates a store of documents without tokens, about one document per block.
    fn store(documents: usize) -> Vec<u8> {
        let index = Index::in_memory(Config::new("kgram(k=5)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for doc in 0..documents {
            let text = " ".repeat(17_000 + doc);
            let document = Document::new(doc.to_string(), text);
            writer.add(document).unwrap();
        }
        writer.finish().unwrap();
        let metas = index.tantivy().searchable_segment_metas().unwrap();
        let path = PathBuf::from(format!("{}.store", metas[0].id().uuid_string()));
        index.directory().open_store(&path).unwrap().read_bytes().unwrap().to_vec()
    }

    fn opened(file: impl Into<Vec<u8>>) -> Result<Store, Damage> {
        Store::open(OwnedBytes::new(file.into()), &Arc::new(ByteLru::new(KEPT_BYTES)))
    }

    /// The size of several blocks.
    const KEPT_BYTES: usize = 2 << 20;

    fn tantivys(file: &[u8]) -> StoreReader {
        StoreReader::open(FileSlice::from(file.to_vec()), 1).unwrap()
    }

    #[test]
    fn documents_are_those_that_tantivy_reads() {
        for documents in [1, 2, 7, 8, 9, 75] {
            let file = store(documents);
            check(&file).unwrap();
            let (store, tantivys) = (opened(&*file).unwrap(), tantivys(&file));
            assert_eq!(store.documents() as usize, documents);
            for doc in 0..documents as u32 {
                let expected = tantivys.get_document_bytes(doc).unwrap();
                assert!(*store.document(doc).unwrap() == *expected, "{doc} of {documents}");
            }
            assert!(store.document(documents as u32).is_err());
            assert!(store.kept.cache().memory_bytes() <= KEPT_BYTES);
        }
    }

    #[test]
    fn tantivy_can_read_whatever_index_is_found_sound() {
        let whole = large();
        let from = blocks_len(whole).unwrap();
        let mut sound = 0;
        for at in from..whole.len() {
            for change in [0x01, 0x80, 0x7f, 0xff] {
                let mut file = whole.to_vec();
                file[at] ^= change;
                if check(&file).is_ok() {
                    sound += 1;
                    let tantivys = tantivys(&file);
                    (0..75).for_each(|doc| assert!(tantivys.get_document_bytes(doc).is_ok()));
                }
            }
            assert!(check(&whole[..at]).is_err(), "cut to {at}");
        }
        // The 15 bytes at the end have no meaning.
        assert_eq!(sound, 15 * 4);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_damaged_block_is_an_error(changes in prop::collection::vec((any::<u16>(), 1u8..), 1..4)) {
            let mut file = large().to_vec();
            let blocks_len = blocks_len(&file).unwrap();
            for (at, change) in changes {
                file[usize::from(at) % blocks_len] ^= change;
            }
            check(&file).unwrap();
            let store = opened(file).unwrap();
            // Either an error, or other bytes, which do not match their digest, but no panic.
            (0..75).for_each(|doc| drop(store.document(doc)));
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let sound = check(&bytes);
            let opened = opened(bytes);
            prop_assert!(sound.is_err() || opened.is_ok());
            if let Ok(store) = opened {
                (0..4).for_each(|doc| drop(store.document(doc)));
            }
        }
    }

    #[test]
    fn a_length_that_is_damaged_asks_for_no_memory() {
        let mut file = store(1);
        file[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        let store = opened(file).unwrap();
        assert!(store.document(0).is_err());
    }
}
