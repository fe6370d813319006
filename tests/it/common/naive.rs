//! A second reader of `.sig` files, made from segments-format.md alone: slow, simple, and without
//! a line of the real one. Damaged files are not its business: of those it panics.

/// Tokens, distinct fingerprints, keys with positions.
pub type NaiveDocument = (u32, u32, Vec<(u64, u32)>);

/// Everything that a `.sig` file says.
#[derive(Debug, Default, PartialEq)]
pub struct Naive {
    /// Keys are smaller than two to the power of this.
    pub key_bits: u8,
    /// Keys and their documents.
    pub terms: Vec<(u64, Vec<u32>)>,
    /// The documents, by their ordinals.
    pub documents: Vec<NaiveDocument>,
}

/// A whole number, the least byte first.
pub fn uint(bytes: &[u8]) -> u64 {
    bytes.iter().enumerate().map(|(i, &byte)| u64::from(byte) << (8 * i)).sum()
}

/// Bit by bit (section 2).
fn column(bytes: &[u8], index: usize, width: usize) -> u64 {
    let bit = |at: usize| u64::from(bytes[at / 8] >> (at % 8) & 1);
    (0..width).map(|i| bit(index * width + i) << i).sum()
}

fn column_bytes(count: usize, width: usize) -> usize {
    (count * width).div_ceil(8)
}

fn width(number: u64) -> usize {
    (0..64).rev().find(|&bit| number >> bit & 1 == 1).map_or(0, |bit| bit + 1)
}

/// Takes `len` bytes off the front.
fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = bytes.split_at(len);
    *bytes = tail;
    head
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = take(bytes, 1)[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    unreachable!()
}

/// A 32-bit Roaring bitmap in the portable serialisation.
fn bitmap(mut bytes: &[u8]) -> Vec<u32> {
    let cookie = uint(take(&mut bytes, 4));
    let (count, runs) = if cookie & 0xffff == 12347 {
        let count = (cookie >> 16) as usize + 1;
        (count, take(&mut bytes, count.div_ceil(8)).to_vec())
    } else {
        assert_eq!(cookie, 12346);
        let count = uint(take(&mut bytes, 4)) as usize;
        (count, vec![0; count.div_ceil(8)])
    };
    let heads: Vec<(u32, usize)> = (0..count)
        .map(|_| {
            let key = uint(take(&mut bytes, 2)) as u32;
            (key << 16, uint(take(&mut bytes, 2)) as usize + 1)
        })
        .collect();
    if cookie == 12346 || count >= 4 {
        take(&mut bytes, 4 * count);
    }
    let mut values = Vec::new();
    for (i, (base, cardinality)) in heads.into_iter().enumerate() {
        if runs[i / 8] >> (i % 8) & 1 == 1 {
            for _ in 0..uint(take(&mut bytes, 2)) {
                let start = uint(take(&mut bytes, 2)) as u32;
                let more = uint(take(&mut bytes, 2)) as u32;
                values.extend((start..=start + more).map(|low| base + low));
            }
        } else if cardinality <= 4096 {
            values.extend((0..cardinality).map(|_| base + uint(take(&mut bytes, 2)) as u32));
        } else {
            let bits = take(&mut bytes, 8192);
            values.extend(
                (0..65536).filter(|&low| column(bits, low, 1) == 1).map(|low| base + low as u32),
            );
        }
    }
    values
}

/// Whether the filter of a block has all bits of a key (section 5).
fn passes(filter: &[u8], key: u64) -> bool {
    let mut hash = key;
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    let words = filter.len() / 8;
    let word = (((hash >> 32) as u128 * words as u128) >> 32) as usize;
    let bits = uint(&filter[8 * word..8 * word + 8]);
    [0, 6, 12, 18].iter().all(|shift| bits >> (hash >> shift & 63) & 1 == 1)
}

impl Naive {
    /// What the bytes of a `.sig` file say, without tantivy's footer.
    pub fn read(file: &[u8]) -> Naive {
        assert_eq!(&file[..8], b"CENTOSIG");
        assert_eq!(uint(&file[8..10]), 1);
        let key_bits = file[10];
        let documents = uint(&file[12..16]);
        let footer = &file[file.len() - 156..];
        let section = |i: usize| {
            let (at, len) =
                (uint(&footer[16 * i..16 * i + 8]), uint(&footer[16 * i + 8..16 * i + 16]));
            &file[at as usize..(at + len) as usize]
        };
        let [terms, _, postings, forward, rows, checksums] = [0, 1, 2, 3, 4, 5].map(section);
        let checked = file.len() - 156 - checksums.len();
        for (page, crc) in file[..checked].chunks(4096).zip(checksums.chunks(4)) {
            assert_eq!(u64::from(crc32fast::hash(page)), uint(crc));
        }
        let mut naive = Naive { key_bits, ..Naive::default() };
        naive.read_terms(terms, postings, documents);
        assert_eq!(naive.terms.len() as u64, uint(&footer[96..104]));
        naive.read_documents(forward, rows, documents as usize, &footer[128..132]);
        naive
    }

    fn read_terms(&mut self, mut terms: &[u8], postings: &[u8], documents: u64) {
        let key_bytes = usize::from(self.key_bits).div_ceil(8);
        let doc_bits = width(documents.saturating_sub(1));
        while !terms.is_empty() {
            let head = take(&mut terms, 11);
            let n = usize::from(head[0]) + 1;
            let [low_bits, upper_bytes, gap_bits, list_bits] =
                [1, 2, 3, 4].map(|i| usize::from(head[i]));
            let lists_base = uint(&head[5..11]);
            let first = uint(take(&mut terms, key_bytes));
            let filter = take(&mut terms, 8 * n.div_ceil(8));
            let upper = take(&mut terms, upper_bytes);
            let low = take(&mut terms, column_bytes(n, low_bits));
            let tags = take(&mut terms, column_bytes(n, 2));
            let tags: Vec<u64> = (0..n).map(|i| column(tags, i, 2)).collect();
            let count = |wanted: &[u64]| tags.iter().filter(|tag| wanted.contains(tag)).count();
            let ones = take(&mut terms, column_bytes(count(&[0]), doc_bits));
            let twos = take(&mut terms, column_bytes(count(&[1]), doc_bits + gap_bits));
            let lists = take(&mut terms, column_bytes(count(&[2, 3]), list_bits));
            let set: Vec<usize> =
                (0..8 * upper_bytes).filter(|&p| column(upper, p, 1) == 1).collect();
            let mut seen = [0; 3];
            for (i, &tag) in tags.iter().enumerate() {
                let key = first + (((set[i] - i) as u64) << low_bits) + column(low, i, low_bits);
                let kind = tag.min(2) as usize;
                let at = seen[kind];
                seen[kind] += 1;
                let docs = match tag {
                    0 => vec![column(ones, at, doc_bits) as u32],
                    1 => {
                        let pair = column(twos, at, doc_bits + gap_bits);
                        let a = pair % (1 << doc_bits);
                        vec![a as u32, (a + (pair >> doc_bits) + 1) as u32]
                    }
                    _ => {
                        let offset = lists_base + column(lists, at, list_bits);
                        list(&postings[offset as usize..], tag)
                    }
                };
                assert!(passes(filter, key), "{key} is in the filter of its block");
                self.terms.push((key, docs));
            }
        }
    }

    fn read_documents(&mut self, forward: &[u8], mut rows: &[u8], documents: usize, widths: &[u8]) {
        let [ordinal, distinct, tokens, offset] = [0, 1, 2, 3].map(|i| usize::from(widths[i]));
        let columns = [distinct, tokens, offset]
            .map(|width| (take(&mut rows, column_bytes(documents, width)), width));
        for doc in 0..documents {
            let [distinct, tokens, at] = columns.map(|(bytes, width)| column(bytes, doc, width));
            let mut list = &forward[at as usize..];
            let n = varint(&mut list) as usize;
            let mut signature = Vec::new();
            if n > 0 {
                let width = usize::from(take(&mut list, 1)[0]);
                let ordinals = take(&mut list, column_bytes(n, ordinal));
                let deltas = take(&mut list, column_bytes(n, width));
                let mut position = 0;
                for i in 0..n {
                    position += column(deltas, i, width) as u32;
                    signature.push((self.terms[column(ordinals, i, ordinal) as usize].0, position));
                }
            }
            self.documents.push((tokens as u32, distinct as u32, signature));
        }
    }
}

fn list(mut bytes: &[u8], tag: u64) -> Vec<u32> {
    let df = varint(&mut bytes) as usize;
    if tag == 3 {
        let len = varint(&mut bytes) as usize;
        let docs = bitmap(&bytes[..len]);
        assert_eq!(docs.len(), df);
        return docs;
    }
    let mut docs = vec![varint(&mut bytes) as u32];
    while docs.len() < df {
        let last = docs[docs.len() - 1];
        docs.push(last + varint(&mut bytes) as u32 + 1);
    }
    docs
}
