//! A second reader of `.sig` files, made from segments-format.md alone: slow, simple, and without a
//! line of the real one. Damaged files cause a panic.

/// Tokens, distinct fingerprints, keys with positions.
pub type NaiveDocument = (u32, u32, Vec<(u64, u32)>);

/// The content of a `.sig` file.
#[derive(Debug, Default, PartialEq)]
pub struct Naive {
    /// Keys are smaller than two to the power of this.
    pub key_bits: u8,
    /// Keys and their documents.
    pub terms: Vec<(u64, Vec<u32>)>,
    /// The documents, by their ordinals; without signatures if these are not stored.
    pub documents: Vec<NaiveDocument>,
    /// Their ids, and the digests of their texts, low half first.
    pub ids: Vec<(String, [u64; 2])>,
}

/// A whole number, the least byte first.
pub fn uint(bytes: &[u8]) -> u64 {
    bytes.iter().enumerate().map(|(i, &byte)| u64::from(byte) << (8 * i)).sum()
}

/// The number in `width` bits from the bit `start` on, bit by bit.
fn bits(bytes: &[u8], start: usize, width: usize) -> u64 {
    (0..width).map(|i| u64::from(bytes[(start + i) / 8] >> ((start + i) % 8) & 1) << i).sum()
}

/// Reads an entry of a packed column (section 2 of the format).
fn column(bytes: &[u8], index: usize, width: usize) -> u64 {
    bits(bytes, index * width, width)
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

/// A 32-bit Roaring bitmap in the portable serialization.
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

/// Whether the filter of a group has all bits of a key (section 5).
fn passes(filter: &[u8], key: u64) -> bool {
    let mut hash = key;
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    let lines = filter.len() / 64;
    let line = (((hash >> 32) as u128 * lines as u128) >> 32) as usize;
    [0, 9, 18, 27]
        .iter()
        .all(|shift| column(&filter[64 * line..], (hash >> shift) as usize % 512, 1) == 1)
}

impl Naive {
    /// Reads the bytes of a `.sig` file, without tantivy's footer.
    pub fn read(file: &[u8]) -> Naive {
        assert_eq!(&file[..8], b"CENTOSIG");
        assert_eq!(uint(&file[8..10]), 1);
        let key_bits = file[10];
        let has_signatures = file[11] == 0;
        let documents = uint(&file[12..16]);
        let footer = &file[file.len() - 192..];
        let section = |i: usize| {
            let (at, len) =
                (uint(&footer[16 * i..16 * i + 8]), uint(&footer[16 * i + 8..16 * i + 16]));
            &file[at as usize..(at + len) as usize]
        };
        let [terms, index, filter, postings, forward, ids, rows, checksums] =
            [0, 1, 2, 3, 4, 5, 6, 7].map(section);
        let filter_at = uint(&footer[32..40]) as usize;
        let checked = file.len() - 192 - checksums.len();
        for (page, crc) in file[..checked].chunks(4096).zip(checksums.chunks(4)) {
            assert_eq!(u64::from(crc32fast::hash(page)), uint(crc));
        }
        let mut naive = Naive { key_bits, ..Naive::default() };
        let count = uint(&footer[128..136]) as usize;
        naive.read_terms(count, terms, index, postings, documents);
        naive.check_filter(&filter[(64 - filter_at % 64) % 64..]);
        let widths = &footer[160..165];
        let forward = has_signatures.then_some(forward);
        let (places, entries) = naive.read_documents(forward, rows, documents as usize, widths);
        naive.read_ids(ids, &places);
        naive.check_digests(entries);
        naive
    }

    /// Reads the terms. Every block must be where the term index says, without further blocks.
    fn read_terms(
        &mut self,
        count: usize,
        mut terms: &[u8],
        mut index: &[u8],
        postings: &[u8],
        documents: u64,
    ) {
        let key_bytes = usize::from(self.key_bits).div_ceil(8);
        let doc_bits = width(documents.saturating_sub(1));
        let section = terms.len();
        let (mut group_at, mut lists_base) = (0, 0);
        for block in 0..count.div_ceil(256) {
            if block % 64 == 0 {
                group_at = uint(take(&mut index, 6)) as usize;
                lists_base = uint(take(&mut index, 6));
            }
            let n = (count - 256 * block).min(256);
            let first = uint(take(&mut index, key_bytes));
            let offset = uint(take(&mut index, 3)) as usize;
            assert_eq!(section - terms.len(), group_at + offset, "block {block}");
            let [low_bits, upper_bytes, value_bits, gap_bits] =
                [0; 4].map(|_| usize::from(take(&mut index, 1)[0]));
            assert!(value_bits >= doc_bits);
            let upper = take(&mut terms, upper_bytes);
            let several = take(&mut terms, column_bytes(n, 1));
            let entries = take(&mut terms, column_bytes(n, low_bits + value_bits));
            let several: Vec<bool> = (0..n).map(|i| column(several, i, 1) == 1).collect();
            let of_several = several.iter().filter(|&&several| several).count();
            let flags = take(&mut terms, column_bytes(of_several, 1));
            let flags: Vec<bool> = (0..of_several).map(|i| column(flags, i, 1) == 1).collect();
            let twos = flags.iter().filter(|&&is_list| !is_list).count();
            let gaps = take(&mut terms, column_bytes(twos, gap_bits));
            let set: Vec<usize> =
                (0..8 * upper_bytes).filter(|&p| column(upper, p, 1) == 1).collect();
            let (mut flag, mut two) = (0, 0);
            for (i, is_several) in several.into_iter().enumerate() {
                let bit = i * (low_bits + value_bits);
                let low = bits(entries, bit, low_bits);
                let value = bits(entries, bit + low_bits, value_bits);
                let key = first + (((set[i] - i) as u64) << low_bits) + low;
                let docs = if !is_several {
                    vec![value as u32]
                } else if flags[flag] {
                    list(&postings[(lists_base + value) as usize..])
                } else {
                    two += 1;
                    vec![value as u32, (value + column(gaps, two - 1, gap_bits) + 1) as u32]
                };
                flag += usize::from(is_several);
                self.terms.push((key, docs));
            }
        }
        assert!(terms.is_empty());
    }

    fn check_filter(&self, mut filter: &[u8]) {
        for group in self.terms.chunks(256 * 64) {
            let filter = take(&mut filter, 64 * (group.len() * 6).div_ceil(512));
            for (key, _) in group {
                assert!(passes(filter, *key), "{key} is in the filter of its group");
            }
        }
        assert!(filter.is_empty());
    }

    /// Gives the places of the groups of ids, and the entries that lead from digests to documents.
    fn read_documents<'a>(
        &mut self,
        forward: Option<&[u8]>,
        mut rows: &'a [u8],
        documents: usize,
        widths: &[u8],
    ) -> (Vec<usize>, &'a [u8]) {
        let [ordinal, distinct, tokens, offset, ids] =
            [0, 1, 2, 3, 4].map(|i| usize::from(widths[i]));
        let columns = [distinct, tokens, offset]
            .map(|width| (take(&mut rows, column_bytes(documents, width)), width));
        for doc in 0..documents {
            let [distinct, tokens, at] = columns.map(|(bytes, width)| column(bytes, doc, width));
            let list = forward.map(|forward| &forward[at as usize..]);
            let signature = list.map_or(Vec::new(), |list| self.read_signature(list, ordinal));
            self.documents.push((tokens as u32, distinct as u32, signature));
        }
        let groups = documents.div_ceil(16);
        let places = take(&mut rows, column_bytes(groups, ids));
        let places = (0..groups).map(|group| column(places, group, ids) as usize).collect();
        (places, rows)
    }

    /// Whether the entries are digests with document numbers, in order.
    fn check_digests(&self, entries: &[u8]) {
        let documents = self.ids.len();
        let doc_bits = width(documents.saturating_sub(1) as u64);
        assert_eq!(entries.len(), column_bytes(documents, 32 + doc_bits));
        let lows = self.ids.iter().map(|(_, [low, _])| low & u64::from(u32::MAX));
        let mut expected: Vec<(u64, u64)> = lows.zip(0..).collect();
        expected.sort_unstable();
        for (at, (low, doc)) in expected.into_iter().enumerate() {
            assert_eq!(column(entries, at, 32 + doc_bits), low << doc_bits | doc);
        }
    }

    fn read_signature(&self, mut list: &[u8], ordinal: usize) -> Vec<(u64, u32)> {
        let n = varint(&mut list) as usize;
        if n == 0 {
            return Vec::new();
        }
        let width = usize::from(take(&mut list, 1)[0]);
        let ordinals = take(&mut list, column_bytes(n, ordinal));
        let deltas = take(&mut list, column_bytes(n, width));
        let mut position = 0;
        let occurrence = |i| {
            position += column(deltas, i, width) as u32;
            (self.terms[column(ordinals, i, ordinal) as usize].0, position)
        };
        (0..n).map(occurrence).collect()
    }

    fn read_ids(&mut self, ids: &[u8], places: &[usize]) {
        for (group, &place) in places.iter().enumerate() {
            let mut bytes = &ids[place..];
            let n = (self.documents.len() - 16 * group).min(16);
            let digests: Vec<[u64; 2]> =
                (0..n).map(|_| [0; 2].map(|_| uint(take(&mut bytes, 8)))).collect();
            let mut id = Vec::new();
            for digest in digests {
                let (shared, more) = (varint(&mut bytes) as usize, varint(&mut bytes) as usize);
                id = [&id[..shared], take(&mut bytes, more)].concat();
                self.ids.push((String::from_utf8(id.clone()).unwrap(), digest));
            }
        }
    }
}

fn list(mut bytes: &[u8]) -> Vec<u32> {
    let df = varint(&mut bytes) as usize;
    if df > 256 {
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
