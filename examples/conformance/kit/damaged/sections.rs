//! Damage within sections, with checksums that fit.

use super::Kind::*;
use super::Maker;
use super::Noticed::*;

/// In the one block of `documented`: head 0, lists_base 5, first 11, filter 16, upper 24, low 25,
/// tags 39, ones 40, twos 41.
pub fn terms(make: &mut Maker<'_>) {
    let mut block = |name, kind, noticed, about, at: usize, value: u8| {
        make.in_section((name, kind, "terms", noticed, about), |terms| terms[at] = value);
    };
    block("block_of_129_terms", Encoding, Read, "a block of 129 terms", 0, 128);
    block("block_low_bits", Encoding, Read, "low parts of 64 bits", 1, 64);
    block("block_gap_bits", Encoding, Read, "differences of 33 bits", 3, 33);
    block("block_list_bits", Encoding, Read, "list offsets of 49 bits", 4, 49);
    block("block_upper_lacks_a_bit", Encoding, Check, "two bits for three keys", 24, 3);
    block("block_upper_has_a_bit_more", Encoding, Check, "four bits for three keys", 24, 0x63);
    block("keys_equal", Order, Check, "the second key is the first", 30, 0);
    block("keys_descend", Order, Check, "the first key is above the second", 25, 0x40);
    block("one_document_too_large", Range, Read, "a term in document 5 of 5", 40, 5);
    block("two_documents_too_large", Range, Read, "a term in documents 4 and 8 of 5", 41, 0x1c);
    make.forged(
        ("key_too_large", Range, "terms", Check, "a key of 38 bits among those of 37"),
        |parts| parts.header[10] = 37,
    );
    let label = |name, kind, about| (name, kind, "terms", Check, about);
    make.in_section(label("block_cut_short", Bounds, "the last column is missing"), |terms| {
        terms.pop();
    });
    let about = "the filter has bits that no key sets";
    make.in_section(label("filter_bits_more", Mismatch, about), |terms| terms[16] = 0xff);
    let about = "the filter has no bit";
    make.in_section(label("filter_empty", Mismatch, about), |terms| terms[16..24].fill(0));
    make.in_section(label("terms_appended", Layout, "a byte after the last block"), |terms| {
        terms.push(0);
    });
    let label = |name, kind, section, about| (name, kind, section, Read, about);
    make.forged(
        label("list_beyond_the_section", Bounds, "postings", "a list at byte 5 of 4"),
        |parts| parts.section("terms")[5] = 5,
    );
    make.forged(
        label("list_of_another_kind", Encoding, "postings", "a bitmap where a varint list is"),
        |parts| parts.section("terms")[39] = 7,
    );
    make.in_section(label("block_cut_in_head", Bounds, "terms", "10 bytes of a block"), |terms| {
        terms.truncate(10);
    });
}

/// The offsets of the blocks, by their heads: full ones, and the last of 60 terms.
pub fn blocks(make: &mut Maker<'_>) {
    make.in_section(
        ("block_of_fewer_terms", Count, "terms", Check, "127 terms in the first block"),
        |terms| terms[0] -= 1,
    );
    make.forged(
        ("first_key_too_low", Mismatch, "term index", Check, "a block with keys of the one before"),
        |parts| {
            let index = entries(parts.section("term index"));
            let second = index[1].1 as usize;
            // The block begins below its separator, and still above the block before.
            let index: Vec<_> = index
                .into_iter()
                .map(|(key, at)| {
                    (if at as usize == second { vec![0, 0, 0, 0, 200] } else { key }, at)
                })
                .collect();
            *parts.section("term index") = transducer(&index);
        },
    );
}

/// The entries of a term index.
fn entries(bytes: &[u8]) -> Vec<(Vec<u8>, u64)> {
    fst::Map::new(bytes).expect("it is sound").stream().into_byte_vec()
}

/// A term index of these entries.
fn transducer(entries: &[(Vec<u8>, u64)]) -> Vec<u8> {
    let mut map = fst::MapBuilder::memory();
    for (key, value) in entries {
        map.insert(key, *value).expect("the keys ascend");
    }
    map.into_inner().expect("memory takes every byte")
}

/// The term index of `documented` has one key, the empty one, and no node.
pub fn term_index(make: &mut Maker<'_>) {
    let mut index = |name, kind, about, edit: fn(&mut Vec<u8>)| {
        make.in_section((name, kind, "term index", Open, about), edit);
    };
    index("index_version", Encoding, "a transducer of version 2", |fst| fst[0] = 2);
    index("index_empty", Encoding, "no transducer", Vec::clear);
    index("index_cut_short", Encoding, "35 bytes", |fst| fst.truncate(35));
    index("index_count", Count, "2 entries counted, 1 there", |fst| fst[16] = 2);
    index("index_root", Encoding, "a root at byte 20, where no node is", |fst| fst[24] = 20);
    index("index_first_block", Order, "the first block at byte 1", |fst| {
        *fst = transducer(&[(vec![], 1)]);
    });
    index("index_key_too_long", Encoding, "a separator of 6 bytes for keys of 5", |fst| {
        *fst = transducer(&[(vec![0; 6], 0)]);
    });
    index("index_no_key", Count, "no entry", |fst| *fst = transducer(&[]));
}

pub fn term_index_of_blocks(make: &mut Maker<'_>) {
    let mut index = |name, kind, noticed, about, edit: fn(&mut Vec<(Vec<u8>, u64)>)| {
        make.in_section((name, kind, "term index", noticed, about), |fst| {
            let mut index = entries(fst);
            edit(&mut index);
            *fst = transducer(&index);
        });
    };
    index("index_block_missing", Count, Open, "the second block is not in it", |index| {
        index.remove(1);
    });
    index("index_blocks_swapped", Order, Open, "two blocks have changed places", |index| {
        (index[1].1, index[2].1) = (index[2].1, index[1].1);
    });
    index("index_block_beyond", Order, Open, "a block beyond the terms", |index| {
        index[5].1 = 1 << 40;
    });
    index("index_block_elsewhere", Mismatch, Check, "a block a byte too far", |index| {
        index[5].1 += 1;
    });
    index("index_separator_too_high", Mismatch, Check, "a block with keys below", |index| {
        index[3].0[4] += 1;
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
}

/// The postings of `documented` are one list: df 3, documents 0, 1, 2.
pub fn postings(make: &mut Maker<'_>) {
    let mut list = |name, kind, about, bytes: &[u8]| {
        make.in_section((name, kind, "postings", Read, about), |postings| {
            *postings = bytes.to_vec();
        });
    };
    list("list_empty", Encoding, "a list of no document", &[0]);
    list("list_of_two", Encoding, "a varint list of two documents", &[2, 0, 0]);
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
            parts.section("terms")[5] = 1;
        },
    );
}

pub fn varint_lists(make: &mut Maker<'_>) {
    make.in_section(
        ("list_of_257_as_varints", Encoding, "postings", Read, "a varint list of 257 documents"),
        |postings| {
            // The list of 256 documents: 1, 3, 5, ...
            let list = [&[0x80, 0x02, 1][..], &[1; 255]].concat();
            let at = postings.windows(list.len()).position(|bytes| bytes == list);
            let at = at.expect("the list is there");
            postings[at] = 0x81;
            postings.insert(at + 3, 0);
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
    bitmap("bitmap_of_256", Encoding, "a bitmap of 256 documents", |list| {
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

/// The signatures of `documented`: `02 02 08 0c`, `02 02 04 08`, `02 03 00 20`, `00`, `01 01 01 01`.
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
            // Document 2 with the signature of document 1; what it then is contradicts the lists too.
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
            // Of the second signature, after n, w and the column of ordinals: 0 and 2^32 - 2.
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
            parts.footer[112..120].copy_from_slice(&(1u64 << 40).to_le_bytes());
            parts.footer[131] = 0;
        },
    );
}

/// The columns of `documented`: distinct `1a 01` of 2 bits, tokens `af 31` of 3, offsets of 4.
pub fn documents(make: &mut Maker<'_>) {
    let mut documents = |name, kind, section, about, at: usize, value: u8| {
        make.forged((name, kind, section, Check, about), |parts| {
            parts.section("documents")[at] = value;
        });
    };
    documents("distinct", Mismatch, "documents", "2 distinct fingerprints of 1", 1, 2);
    documents("tokens", Count, "documents", "a token more than counted", 3, 0x33);
    documents("tokens_too_few", Range, "forward", "a position beyond the tokens", 2, 0x97);
    make.in_section(
        ("documents_cut_short", Layout, "documents", Open, "a byte of the columns is missing"),
        |documents| documents.truncate(6),
    );
    make.in_section(
        ("documents_appended", Layout, "documents", Open, "a byte after the columns"),
        |documents| documents.push(0),
    );
}
