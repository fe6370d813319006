//! Damage to header, footer, section table, counts and pages.

use cento::hash::mix64;

use super::super::content::Doc;
use super::super::parts::{self, SECTIONS};
use super::super::valid;
use super::Kind::*;
use super::Noticed::*;
use super::{Damaged, Maker, add, put};

pub fn header(make: &mut Maker<'_>) {
    let mut header = |name, kind, at: usize, value: u8, about| {
        make.forged((name, kind, "header", Open, about), |parts| parts.header[at] = value);
    };
    header("header_magic", Magic, 0, b'c', "the file begins with other letters");
    header("header_version_0", Version, 8, 0, "version 0");
    header("header_version_2", Version, 8, 2, "version 2");
    header("header_version_257", Version, 9, 1, "version 257: the high byte counts");
    header("header_key_bits_0", Parameter, 10, 0, "keys of 0 bits");
    header("header_key_bits_65", Parameter, 10, 65, "keys of 65 bits");
    header("header_signatures", Parameter, 11, 2, "signatures are stored or not: byte 11 is 2");
    header("header_reserved_24", Reserved, 24, 1, "byte 24 is not 0");
    header("header_reserved_39", Reserved, 39, 1, "byte 39 is not 0");
    make.forged(
        ("header_unsigned", Layout, "forward", Open, "signatures despite the header"),
        |parts| parts.header[11] = 1,
    );
    make.forged(
        ("header_documents", Layout, "documents", Open, "a document more than the columns have"),
        |parts| parts.header[12] += 1,
    );
    make.raw(
        ("header_page", Checksum, "header", Open, "another config; the checksum is as it was"),
        |bytes| bytes[16] ^= 1,
    );
}

pub fn cut(make: &mut Maker<'_>) {
    let (checksums, _) = parts::section(&make.valid.bytes, parts::CHECKSUMS);
    let end = make.valid.bytes.len();
    let mut cut = |name: &str, kind, section, len: usize| {
        let about = format!("only the first {len} of {end} bytes");
        make.raw((&format!("cut_{name}"), kind, section, Open, &about), |bytes| {
            bytes.truncate(len)
        });
    };
    cut("to_nothing", Magic, "header", 0);
    cut("in_magic", Magic, "header", 7);
    cut("in_header", Magic, "header", 39);
    cut("after_header", Magic, "footer", 40);
    let starts: Vec<(usize, usize)> =
        (0..SECTIONS.len()).map(|i| parts::section(&make.valid.bytes, i)).collect();
    let mut cut = |name: &str, len: usize| {
        let about = format!("only the first {len} of {end} bytes");
        let label = (&*format!("cut_{name}"), Magic, "footer", Open, &*about);
        make.raw(label, |bytes| bytes.truncate(len));
    };
    for (section, (start, len)) in SECTIONS.iter().zip(starts).filter(|(_, (_, len))| *len > 0) {
        cut(&format!("in_{}", section.replace(' ', "_")), start + len / 2);
    }
    cut("in_checksums", checksums + 2);
    cut("after_checksums", checksums + 4);
    cut("in_footer", end - 100);
    cut("at_last_byte", end - 1);
    make.raw(("appended_byte", Magic, "footer", Open, "a byte after the end"), |bytes| {
        bytes.push(0)
    });
    make.raw(
        ("appended_file", Layout, "checksums", Open, "a second copy of the file's content inside"),
        |bytes| {
            let at = parts::footer_at(bytes);
            let copy = bytes[..at].to_vec();
            bytes.splice(at..at, copy);
        },
    );
}

pub fn footer(make: &mut Maker<'_>) {
    let at = parts::footer_at(&make.valid.bytes);
    let label = |name, kind, about| (name, kind, "footer", Open, about);
    make.raw(label("footer_magic", Magic, "the file ends with other letters"), |bytes| {
        bytes[at + 191] = b'c';
    });
    make.raw(label("footer_field", Checksum, "a count changed, the checksum not"), |bytes| {
        bytes[at + 128] ^= 1;
    });
    make.raw(label("footer_checksum", Checksum, "another checksum"), |bytes| bytes[at + 176] ^= 1);
    make.raw(label("footer_reserved", Reserved, "reserved bytes that are not 0"), |bytes| {
        bytes[at + 183] = 1;
    });
    let mut footer = |name, at: usize, value: u8, about| {
        make.footer(label(name, Parameter, about), |footer| footer[at] = value);
    };
    footer("footer_block_320", 166, 64, "blocks of 320 terms");
    footer("footer_group_65", 168, 65, "groups of 65 blocks");
    footer("footer_filter_8", 169, 8, "filters of 8 bits a key");
    footer("footer_ids_17", 165, 17, "groups of 17 ids");
    footer("footer_varint_511", 170, 255, "varint lists of up to 511 documents");
    footer("footer_width_ordinal", 160, 65, "term ordinals of 65 bits");
    footer("footer_width_forward", 163, 65, "forward offsets of 65 bits");
    footer("footer_width_ids", 164, 65, "offsets of groups of ids of 65 bits");
    make.footer(
        ("footer_width_tokens", Layout, "documents", Open, "tokens of 4 bits in columns of 3"),
        |footer| footer[162] = 6,
    );
    let label = |name, about| (name, Checksum, "checksums", Open, about);
    make.footer(label("checksums_of_checksums", "another checksum of the checksums"), |footer| {
        footer[172] ^= 1;
    });
    make.raw(label("checksums_byte", "a byte of the checksums"), |bytes| bytes[at - 1] ^= 0x80);
}

pub fn section_table(make: &mut Maker<'_>) {
    let mut table = |name, section, about, edit: fn(&mut [u8])| {
        make.footer((name, Layout, section, Open, about), edit);
    };
    table("table_first_not_at_40", "terms", "the first section begins at 41", |f| put(f, 0, 41));
    table("table_gap", "postings", "a byte that no section has", |f| add(f, 48, 1));
    table("table_overlap", "term index", "the second section begins within the first", |f| {
        add(f, 16, -1);
    });
    table("table_swapped", "forward", "two sections have changed places", |f| {
        let (forward, ids) = (f[64..80].to_vec(), f[80..96].to_vec());
        f[64..80].copy_from_slice(&ids);
        f[80..96].copy_from_slice(&forward);
    });
    table("table_beyond_the_file", "forward", "a section longer than the file", |f| {
        put(f, 72, 100_000);
    });
    table("table_length_of_64_bits", "terms", "a length of 2^64 - 1", |f| put(f, 8, u64::MAX));
    table("table_wraps", "term index", "an offset that is right modulo 2^32 only", |f| {
        add(f, 16, 1 << 32);
    });
    table("table_ends_early", "checksums", "no bytes for the checksums", |f| put(f, 120, 0));
    table(
        "table_checksums_short",
        "checksums",
        "the documents have a byte of the checksums",
        |f| {
            add(f, 104, 1);
            add(f, 112, 1);
            add(f, 120, -1);
        },
    );
}

pub fn counts(make: &mut Maker<'_>) {
    let mut count = |name, kind, section, noticed, about, at, more| {
        make.footer((name, kind, section, noticed, about), |footer| add(footer, at, more));
    };
    count("count_terms_more", Bounds, "terms", Read, "4 terms counted, 3 there", 128, 1);
    count("count_terms_less", Encoding, "terms", Read, "2 terms counted, 3 there", 128, -1);
    count("count_terms_none", Encoding, "term index", Open, "0 terms counted, 3 there", 128, -3);
    let about = "257 terms counted, and one block";
    count("count_blocks", Encoding, "term index", Open, about, 128, 254);
    let about = "16,385 terms counted, and no entry for all blocks";
    count("count_groups", Bounds, "term index", Open, about, 128, 16_382);
    count("count_terms_2_32", Range, "terms", Open, "2^32 terms counted", 128, (1 << 32) - 3);
    count("count_postings", Count, "terms", Check, "7 postings counted, 6 there", 136, 1);
    count("count_occurrences", Count, "documents", Check, "8 counted, 7 there", 144, 1);
    count("count_tokens", Count, "documents", Check, "20 tokens counted, 21 there", 152, -1);
}

/// With this number of `paged_documents` a page begins in the section, while no byte of the
/// format changes.
const PAGE_DOCUMENTS: [usize; 7] = [1423, 658, 600, 463, 228, 228, 76];

/// Documents of three fingerprints. Every section gets a part.
fn paged_documents(count: usize) -> Vec<Doc> {
    let doc = |i| (9, vec![(1 + i % 7, 0), (mix64(i) >> 24, 1), (1 << 39 | (i % 60), 8)]);
    (0..count as u64).map(doc).collect()
}

/// For each section, a segment with a page that begins with a damaged byte of the section.
pub fn pages() -> Vec<Damaged> {
    let mut made = Vec::new();
    for (section, (name, hint)) in SECTIONS.into_iter().zip(PAGE_DOCUMENTS).enumerate() {
        let paged = |count| {
            let valid = valid::of("", "", &paged_documents(count));
            let page = page_in(&valid.bytes, section)?;
            Some((count, valid, page))
        };
        let found = [hint].into_iter().chain(1..2200).find_map(paged);
        let Some((count, valid, page)) = found else { panic!("no page begins in the {name}") };
        if count != hint {
            println!("PAGE_DOCUMENTS of the {name} is better {count} than {hint}");
        }
        let noticed = if name == "term index" { Open } else { Read };
        let mut make = Maker { valid: &valid, made: Vec::new() };
        let about = format!("the byte at {page}, in the {name}, is not what its checksum says");
        let label =
            (&*format!("page_{}", name.replace(' ', "_")), Checksum, name, noticed, &*about);
        make.raw(label, |bytes| bytes[page] ^= 0x10);
        made.append(&mut make.made);
    }
    made
}

/// The begin of a page within a section; the term index, which is read at open, is in other pages
/// or it is the section.
fn page_in(bytes: &[u8], section: usize) -> Option<usize> {
    let (start, len) = parts::section(bytes, section);
    let page = start.next_multiple_of(4096);
    let (index, index_len) = parts::section(bytes, 1);
    let is_apart = section == 1 || page + 4096 <= index || page >= index + index_len;
    (page < start + len && is_apart).then_some(page)
}
