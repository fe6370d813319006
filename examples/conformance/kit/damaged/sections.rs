//! Damage within sections, with checksums that fit.

use super::Kind::*;
use super::Maker;
use super::Noticed::*;

/// In the one block of `documented`: upper 0, several 1, entries 2, flags 17, gaps 18.
pub fn terms(make: &mut Maker<'_>) {
    let mut block = |name, kind, noticed, about, at: usize, value: u8| {
        make.in_section((name, kind, "terms", noticed, about), |terms| terms[at] = value);
    };
    block("block_upper_lacks_a_bit", Encoding, Check, "two bits for three keys", 0, 3);
    block("block_upper_has_a_bit_more", Encoding, Check, "four bits for three keys", 0, 0x63);
    block("keys_equal", Order, Check, "the second key is the first", 7, 0);
    block("keys_descend", Order, Check, "the first key is above the second", 2, 0x40);
    block("one_document_too_large", Range, Read, "a term in document 6 of 5", 16, 3);
    block("two_documents_too_large", Range, Read, "a term in documents 1 and 5 of 5", 18, 3);
    make.forged(
        ("key_too_large", Range, "terms", Check, "a key of 38 bits among those of 37"),
        |parts| parts.header[10] = 37,
    );
    let label = |name, kind, about| (name, kind, "terms", Check, about);
    make.in_section(label("block_cut_short", Bounds, "the last column is missing"), |terms| {
        terms.pop();
    });
    make.in_section(label("terms_appended", Layout, "a byte after the last block"), |terms| {
        terms.push(0);
    });
    let about = "10 bytes of a block";
    make.in_section(("block_cut_in_entries", Bounds, "terms", Read, about), |terms| {
        terms.truncate(10);
    });
    let about = "a list that no term has";
    make.forged(("list_unnamed", Layout, "postings", Check, about), |parts| {
        parts.section("terms")[17] = 0;
    });
}

/// In the one record of `documented`: terms_base 0, lists_base 6, first 12, offset 17, widths 20.
pub fn record(make: &mut Maker<'_>) {
    let mut record = |name, kind, section, noticed, about, at: usize, value: u8| {
        make.forged((name, kind, section, noticed, about), |parts| {
            parts.section("term index")[at] = value;
        });
    };
    let about = "a list at byte 5 of 4";
    record("list_beyond_the_section", Bounds, "postings", Read, about, 6, 5);
    let about = "low parts of 64 bits";
    record("block_low_bits", Encoding, "term index", Read, about, 20, 64);
    let about = "high parts of 200 bytes";
    record("block_upper_bytes", Bounds, "terms", Read, about, 21, 200);
    let about = "values of 49 bits";
    record("block_value_bits", Encoding, "term index", Read, about, 22, 49);
    let about = "differences of 33 bits";
    record("block_gap_bits", Encoding, "term index", Read, about, 23, 33);
    let about = "all keys are greater by one";
    record("first_key_other", Mismatch, "filter", Check, about, 12, 0x11);
    let about = "the first block at byte 1";
    record("block_not_at_0", Mismatch, "term index", Check, about, 0, 1);
}

/// The filter of `documented` is one line.
pub fn filter(make: &mut Maker<'_>) {
    let label = |name, kind, noticed, about| (name, kind, "filter", noticed, about);
    let about = "it has bits that no key sets";
    make.in_section(label("filter_bits_more", Mismatch, Check, about), |filter| filter[16] = 0xff);
    make.in_section(label("filter_empty", Mismatch, Check, "it has no bit"), |filter| {
        filter.fill(0);
    });
    make.in_section(label("filter_cut_short", Layout, Open, "63 bytes of a line"), |filter| {
        filter.pop();
    });
    make.in_section(label("filter_appended", Layout, Open, "a second line"), |filter| {
        filter.extend([0; 64]);
    });
    let about = "the bytes before the line are not 0";
    make.forged(label("filter_padding", Reserved, Check, about), |parts| parts.padding = 1);
}

/// The entries of blocks, of 12 bytes each after a head of 12.
pub fn blocks(make: &mut Maker<'_>) {
    let mut entry = |name, kind, section, noticed, about, at: usize, bytes: &[u8]| {
        make.forged((name, kind, section, noticed, about), |parts| {
            parts.section("term index")[at..at + bytes.len()].copy_from_slice(bytes);
        });
    };
    // Offsets are at 5 of an entry, after the first key.
    let about = "the third block far beyond the terms";
    entry("index_block_beyond", Order, "term index", Read, about, 12 + 24 + 5, &[0xff; 3]);
    let about = "the third block where the first is";
    entry("index_block_before", Order, "term index", Read, about, 12 + 24 + 5, &[0; 3]);
    let about = "the last block begins with a key of the one before";
    entry("first_key_too_low", Mismatch, "term index", Check, about, 12 + 36, &[200, 2, 0, 0, 0]);
}

/// A transducer of these entries.
fn transducer(entries: &[(Vec<u8>, u64)]) -> Vec<u8> {
    let mut map = fst::MapBuilder::memory();
    for (key, value) in entries {
        map.insert(key, *value).expect("the keys ascend");
    }
    map.into_inner().expect("memory takes every byte")
}

/// The bytes of the record of `documented`, which the transducer follows.
const RECORD: usize = 24;

/// The transducer of `documented` has one key, the empty one, and no node.
pub fn transducer_of_one(make: &mut Maker<'_>) {
    let mut index = |name, kind, about, edit: fn(&mut Vec<u8>)| {
        make.in_section((name, kind, "term index", Open, about), |index| {
            let mut fst = index.split_off(RECORD);
            edit(&mut fst);
            index.extend(fst);
        });
    };
    index("index_version", Encoding, "a transducer of version 2", |fst| fst[0] = 2);
    index("index_empty", Encoding, "no transducer", Vec::clear);
    index("index_cut_short", Encoding, "35 bytes", |fst| fst.truncate(35));
    index("index_count", Count, "2 entries counted, 1 there", |fst| fst[16] = 2);
    index("index_root", Encoding, "a root at byte 20, where no node is", |fst| fst[24] = 20);
    index("index_first_group", Order, "the first group at byte 1", |fst| {
        *fst = transducer(&[(vec![], 1)]);
    });
    index("index_first_separator", Order, "keys below the first separator", |fst| {
        *fst = transducer(&[(vec![1], 0)]);
    });
    index("index_key_too_long", Encoding, "a separator of 6 bytes for keys of 5", |fst| {
        *fst = transducer(&[(vec![0; 6], 0)]);
    });
    index("index_no_key", Count, "no entry", |fst| *fst = transducer(&[]));
    make.in_section(("index_cut_in_record", Bounds, "term index", Open, "23 bytes"), |index| {
        index.truncate(RECORD - 1)
    });
}

/// `groups` has 64 blocks in the first group, with entries of 9 bytes, and one in the second.
pub fn groups(make: &mut Maker<'_>) {
    const FIRST: usize = 12 + 64 * 9;
    const RECORDS: usize = FIRST + 12 + 9;
    let mut index = |name, kind, noticed, about, edit: fn(&mut Vec<(Vec<u8>, u64)>)| {
        make.in_section((name, kind, "term index", noticed, about), |index| {
            let fst = index.split_off(RECORDS);
            let fst = fst::Map::new(fst).expect("it is sound");
            let mut entries = fst.stream().into_byte_vec();
            edit(&mut entries);
            index.extend(transducer(&entries));
        });
    };
    index("index_group_missing", Count, Open, "the second group is not in it", |index| {
        index.pop();
    });
    index("index_groups_swapped", Order, Open, "two groups have changed places", |index| {
        (index[0].1, index[1].1) = (index[1].1, index[0].1);
    });
    index("index_group_elsewhere", Order, Open, "a group a byte too far", |index| {
        index[1].1 += 1;
    });
    index("index_separator_too_high", Mismatch, Check, "a group with keys below", |index| {
        index[1].0 = vec![0xc0, 1];
    });
    let mut node = |name, about, edit: fn(&mut Vec<u8>, usize)| {
        make.in_section((name, Encoding, "term index", Open, about), |fst| {
            // The root's last byte.
            let root = fst.len() - 21;
            edit(fst, root);
        });
    };
    node("index_root_elsewhere", "a root a byte before the last node's end", |fst, root| {
        fst[root + 9] -= 1;
    });
    node("index_way_out", "a way to a node before the first", |fst, root| fst[root - 3] = 255);
    let about = "the second group a byte too far";
    make.in_section(("index_terms_base", Mismatch, "term index", Read, about), |index| {
        index[FIRST] += 1;
    });
}

/// The postings of `documented` are one list: df 3, documents 0, 1, 2.
pub fn postings(make: &mut Maker<'_>) {
    let mut list = |name, kind, about, bytes: &[u8]| {
        make.in_section((name, kind, "postings", Read, about), |postings| {
            *postings = bytes.to_vec();
        });
    };
    list("list_empty", Encoding, "a list of no document", &[0]);
    list("list_of_two", Encoding, "a list of two documents", &[2, 0, 0]);
    list("list_of_six", Range, "a list of 6 documents of 5", &[6, 0, 0, 0, 0, 0, 0]);
    list("list_cut_short", Bounds, "the last document is missing", &[3, 0, 0]);
    list("list_cut_in_varint", Bounds, "the last varint has no end", &[3, 0, 0, 0x80]);
    list("list_missing", Bounds, "an empty section", &[]);
    list("list_document_too_large", Range, "documents 0, 1 and 5 of 5", &[3, 0, 0, 3]);
    let wraps = [&[3, 0, 0][..], &[0xfe, 0xff, 0xff, 0xff, 0x0f]].concat();
    list("list_document_of_33_bits", Range, "documents 0, 1 and 2^32", &wraps);
    let long = [&[0x83][..], &[0x80; 9], &[0, 0, 0, 0]].concat();
    list("list_varint_too_long", Encoding, "a count of 11 bytes", &long);
    let wide = [&[0x83][..], &[0x80; 8], &[2, 0, 0, 0]].concat();
    list("list_varint_too_wide", Encoding, "a count of 65 bits", &wide);
    make.in_section(
        ("postings_appended", Layout, "postings", Check, "a byte after the last list"),
        |postings| postings.push(0),
    );
    make.forged(
        ("postings_gap", Layout, "postings", Check, "a byte before the first list"),
        |parts| {
            parts.section("postings").insert(0, 0);
            parts.section("term index")[6] = 1;
        },
    );
}

/// The postings of `bitmap_runs`: df 299 in two bytes, the length, cookie 3, flags 7, key 8,
/// cardinality less 1 at 10, runs 12, and then first and length less 1 of each run.
pub fn bitmap(make: &mut Maker<'_>) {
    let mut bitmap = |name, kind, about, edit: fn(&mut Vec<u8>)| {
        make.in_section((name, kind, "postings", Read, about), edit);
    };
    bitmap("bitmap_cookie", Encoding, "another cookie", |list| list[3] = 0);
    bitmap("bitmap_of_256", Bounds, "256 documents, which would be varints", |list| {
        list[..2].copy_from_slice(&[0x80, 0x02]);
    });
    bitmap("bitmap_count", Count, "298 documents counted, 299 there", |list| list[0] -= 1);
    bitmap("bitmap_cardinality", Encoding, "300 values counted, 299 there", |list| list[10] += 1);
    bitmap("bitmap_longer_than_the_section", Bounds, "a length of 127", |list| list[2] = 127);
    bitmap("bitmap_cut_short", Bounds, "the last run is missing", |list| {
        let len = list.len();
        list[2] -= 4;
        list.truncate(len - 4);
    });
    bitmap("bitmap_appended", Encoding, "a byte after the last container", |list| {
        list[2] += 1;
        list.push(0);
    });
    bitmap("bitmap_too_many_containers", Bounds, "65,536 containers counted", |list| {
        list[5..7].copy_from_slice(&[0xff, 0xff]);
    });
    bitmap("bitmap_runs_overlap", Encoding, "the second run begins within the first", |list| {
        list[18] -= 10;
    });
    bitmap("bitmap_run_too_long", Encoding, "a run beyond its container", |list| {
        list[19] = 0xff;
    });
    bitmap("bitmap_document_too_large", Range, "documents up to 300 of 300", |list| list[18] += 1);
    bitmap("bitmap_container_too_large", Range, "documents from 65,536 on", |list| list[8] = 1);
}

/// The postings of `bitmap_array`: df 300 in two bytes, the length in two, cookie 4, count 8,
/// key 12, cardinality less 1, offset 16, then the values 20.
pub fn array(make: &mut Maker<'_>) {
    let mut array = |name, about, edit: fn(&mut Vec<u8>)| {
        make.in_section((name, Encoding, "postings", Read, about), edit);
    };
    array("bitmap_values_swapped", "two values have changed places", |list| {
        (list[22], list[24]) = (list[24], list[22]);
    });
    array("bitmap_values_equal", "a value twice", |list| list[22] = list[24]);
    array("bitmap_offset", "the offset of the container is 2 too large", |list| {
        list[16] += 2;
    });
    array("bitmap_offset_outside", "the container at byte 2^31", |list| list[19] = 0x80);
}

/// The signatures of `documented`: `02 02 08 0c`, `02 02 04 08`, `02 03 00 20`, `00`, `01 01 01
/// 01`.
pub fn forward(make: &mut Maker<'_>) {
    let mut forward = |name, kind, noticed, about, at: usize, value: u8| {
        make.in_section((name, kind, "forward", noticed, about), |forward| forward[at] = value);
    };
    forward("signature_too_long", Range, Read, "8 occurrences of 7", 13, 8);
    forward("signature_beyond_the_section", Bounds, Read, "7 occurrences where 1 is", 13, 7);
    forward("signature_width", Encoding, Read, "position differences of 33 bits", 14, 33);
    forward("signature_term_too_large", Range, Read, "term 3 of 3", 2, 0x0c);
    forward(
        "signature_of_another_term",
        Mismatch,
        Check,
        "a term that the lists do not say",
        15,
        2,
    );
    forward("signature_position", Range, Check, "position 7 of 6 tokens", 11, 0x38);
    let label = |name, kind, noticed, about| (name, kind, "forward", noticed, about);
    make.in_section(
        label("forward_cut_short", Bounds, Read, "the last signature is missing"),
        |forward| forward.truncate(13),
    );
    make.in_section(
        label("forward_appended", Layout, Check, "a byte after the last signature"),
        |forward| forward.push(0),
    );
    make.forged(
        label("signature_elsewhere", Layout, Check, "two documents share bytes"),
        |parts| {
            // Document 2 with the signature of document 1; its content then contradicts the lists
            // too.
            parts.section("documents")[5] = 0xc4;
        },
    );
    make.forged(
        label("signature_offset", Bounds, Read, "a signature that begins at byte 15 of 17"),
        |parts| {
            parts.section("forward").truncate(13);
            parts.section("documents")[6] = 0x0f;
        },
    );
}

/// The third document of `positions` has three occurrences at position 0, the second two.
pub fn positions(make: &mut Maker<'_>) {
    make.in_section(
        ("signature_position_wraps", Range, "forward", Read, "a position of 33 bits"),
        |forward| {
            // The second signature, after n, w and the column of ordinals: 0 and 2^32 - 2.
            let pair = [0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff];
            let at = forward.windows(8).position(|bytes| bytes == pair);
            forward[at.expect("the positions are there")] = 5;
        },
    );
}

/// Occurrences that take no bits: the one signature is its number and a width of 0.
pub fn without_bytes(make: &mut Maker<'_>) {
    make.forged(
        ("signature_without_bytes", Range, "forward", Read, "2^40 occurrences in 7 bytes"),
        |parts| {
            *parts.section("forward") = vec![0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0];
            parts.footer[144..152].copy_from_slice(&(1u64 << 40).to_le_bytes());
            parts.footer[163] = 0;
        },
    );
}

/// The ids of `documented`, a group: 80 bytes of digests, then `doc-2000000017`, `d\u{f8}c-45`,
/// `d\u{f6}c-26`, `doc-0` and `doc-33`, from the bytes 80, 96, 104, 111 and 117.
pub fn ids(make: &mut Maker<'_>) {
    let mut ids = |name, kind, noticed, about, edit: fn(&mut Vec<u8>)| {
        make.in_section((name, kind, "ids", noticed, about), edit);
    };
    ids("ids_begin_too_long", Encoding, Read, "15 bytes of an id of 14", |ids| ids[96] = 15);
    ids("ids_end_too_long", Bounds, Read, "3 bytes where 2 are", |ids| ids[118] = 3);
    ids("ids_not_utf_8", Encoding, Read, "an id that is not UTF-8", |ids| ids[98] = 0xff);
    ids("ids_without_digests", Bounds, Read, "70 bytes for 5 digests", |ids| ids.truncate(70));
    ids("ids_cut_short", Bounds, Read, "the last ids are missing", |ids| ids.truncate(111));
    ids("ids_appended", Layout, Check, "a byte after the last id", |ids| ids.push(0));
    ids("ids_begin_too_short", Encoding, Check, "more of an id than differs", |ids| {
        ids.splice(117..121, *b"\x03\x03-33");
    });
    make.forged(("ids_elsewhere", Layout, "ids", Read, "a group that begins at byte 1"), |parts| {
        parts.section("documents").insert(7, 1);
        parts.footer[164] = 1;
    });
}

/// The columns of `documented`: distinct `1a 01` of 2 bits, tokens `af 31` of 3, offsets of 4, and
/// from byte 7 on digests of 32 bits above documents of 3: 0 of document 3, 0x17 of 0, 0x26 of 2,
/// 0x33 of 4, 0x45 of 1.
pub fn documents(make: &mut Maker<'_>) {
    let mut documents = |name, kind, section, about, at: usize, value: u8| {
        make.forged((name, kind, section, Check, about), |parts| {
            parts.section("documents")[at] = value;
        });
    };
    documents("distinct", Mismatch, "documents", "2 distinct fingerprints of 1", 1, 2);
    documents("tokens", Count, "documents", "a token more than counted", 3, 0x33);
    documents("tokens_too_few", Range, "forward", "a position beyond the tokens", 2, 0x97);
    documents("digest_of_another", Mismatch, "documents", "0 as the digest of document 2", 7, 2);
    documents("digest_of_none", Range, "documents", "0 as the digest of document 5 of 5", 7, 5);
    documents("digests_out_of_order", Order, "documents", "0x17 after 0x800", 8, 0x40);
    // An entry for each document.
    let entries: [u64; 5] = [3, 0x17 << 3, 0x26 << 3 | 2, 0x33 << 3 | 4, 0x45 << 3 | 1];
    let mut digests = |name, about, places: [usize; 5]| {
        make.forged((name, Order, "documents", Check, about), |parts| {
            let documents = parts.section("documents");
            documents[7..].fill(0);
            for (at, place) in places.into_iter().enumerate() {
                let bit = 35 * at;
                let bytes = (entries[place] << (bit % 8)).to_le_bytes();
                let to = &mut documents[7 + bit / 8..];
                to.iter_mut().zip(bytes).for_each(|(to, byte)| *to |= byte);
            }
        });
    };
    digests(
        "digests_swapped",
        "the entries of documents 2 and 4 in each other's place",
        [0, 1, 3, 2, 4],
    );
    digests(
        "digest_twice",
        "the entry of document 2 in the place of that of 4 too",
        [0, 1, 2, 2, 4],
    );
    make.in_section(
        ("documents_cut_short", Layout, "documents", Open, "a byte of the columns is missing"),
        |documents| documents.truncate(28),
    );
    make.in_section(
        ("documents_appended", Layout, "documents", Open, "a byte after the columns"),
        |documents| documents.push(0),
    );
}

/// The documents of `unsigned`: distinct `1a 01` of 2 bits.
pub fn without_signatures(make: &mut Maker<'_>) {
    make.forged(
        ("unsigned_signed", Bounds, "forward", Read, "no signatures despite the header"),
        |parts| parts.header[11] = 0,
    );
    make.footer(
        ("unsigned_occurrences", Parameter, "footer", Open, "7 occurrences that are not stored"),
        |footer| footer[144] = 7,
    );
    make.footer(
        ("unsigned_width", Parameter, "footer", Open, "ordinals of 2 bits that are not stored"),
        |footer| footer[160] = 2,
    );
    make.forged(
        ("unsigned_distinct", Mismatch, "documents", Check, "2 distinct fingerprints of 1"),
        |parts| parts.section("documents")[1] = 2,
    );
}
