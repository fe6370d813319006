//! The stored conformance kit equals the generator's output, and cento passes the kit.

#[path = "../../examples/conformance/kit/mod.rs"]
mod kit;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use cento::Corruption;
use cento::segment::{Candidates, SegmentReader};
use kit::Kit;
use kit::content::{Content, Row};
use kit::damaged::Noticed;
use ownedbytes::OwnedBytes;

use crate::common::naive_withdrawals;

/// The kit, freshly generated.
static KIT: LazyLock<Kit> = LazyLock::new(Kit::new);

/// Returns the generated files of the kit in the repository.
fn stored() -> BTreeMap<String, Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let mut stored = BTreeMap::new();
    for dir in ["valid", "damaged"] {
        for entry in std::fs::read_dir(root.join(dir)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{dir}/{}", entry.file_name().into_string().unwrap());
            stored.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    stored.insert("manifest.json".into(), std::fs::read(root.join("manifest.json")).unwrap());
    stored
}

fn open(name: &str, bytes: &[u8]) -> Result<SegmentReader, Corruption> {
    SegmentReader::open(name, OwnedBytes::new(bytes.to_vec()))
}

/// The content of the segment, as a search and a check would read it.
fn read(reader: &SegmentReader) -> Result<Content, Corruption> {
    let mut keys = Vec::new();
    (0..reader.blocks()).try_for_each(|block| reader.terms_of_block(block, &mut keys))?;
    let mut terms = Vec::new();
    for (ordinal, (key, df)) in (0..).zip(keys) {
        let mut docs = Vec::new();
        // If a key is in its block but is not found, only `check` has to notice.
        if let Some(term) = reader.find(key)? {
            reader.documents_of(&term, &mut docs)?;
            let mut among = Vec::new();
            reader.documents_among(&term, &Candidates::new(docs.clone()), |doc| among.push(doc))?;
            let is_it = (term.ordinal, term.df(), &among) == (ordinal, docs.len() as u32, &docs);
            assert!(is_it && df == term.df() || !reader.check().is_empty(), "key {key:#x}");
        }
        terms.push((key, docs));
    }
    let mut documents = Vec::new();
    for doc in 0..reader.header().documents {
        let row = reader.document(doc)?;
        let (mut ordinals, mut positions) = (Vec::new(), Vec::new());
        if reader.header().signatures {
            reader.forward(doc, &mut ordinals, &mut positions)?;
        }
        documents.push(Row {
            distinct: row.distinct,
            tokens: row.tokens,
            forward_at: row.forward_at,
            signature: ordinals.into_iter().zip(positions).collect(),
            id: reader.id(doc)?,
            digest: reader.digest(doc)?,
        });
    }
    Ok(Content { header: *reader.header(), counts: *reader.counts(), terms, documents })
}

#[test]
fn the_kit_equals_the_output_of_its_generator() {
    // On failure, run `cargo run --package cento --example conformance`, and explain the change in
    // the commit.
    let (stored, written) = (stored(), KIT.files());
    assert!(stored.keys().eq(written.keys()), "files are missing or too many");
    for (name, bytes) in &written {
        assert!(stored[name] == *bytes, "conformance/{name} differs from the file written now");
    }
}

#[test]
fn sound_files_are_read_as_the_kit_says() {
    for valid in &KIT.valid {
        let reader = open(valid.name, &valid.bytes).unwrap();
        assert_eq!(reader.check(), [], "{}", valid.name);
        assert_eq!(read(&reader).unwrap().json(), valid.content.json(), "{}", valid.name);
    }
}

#[test]
fn damaged_files_are_refused_when_and_where_the_kit_says() {
    let mut wrong = Vec::new();
    for damaged in &KIT.damaged {
        let refused = match open(&damaged.name, &damaged.bytes) {
            Err(problem) => Some((Noticed::Open, problem)),
            Ok(reader) => {
                let noticed = read(&reader).map_or(Noticed::Read, |_| Noticed::Check);
                // A defect that reading notices must be noticed by `check`, too, with its own
                // section.
                reader.check().into_iter().next().map(|problem| (noticed, problem))
            }
        };
        let expected = Some((damaged.noticed, damaged.section));
        let place = refused.as_ref().map(|(noticed, problem)| (*noticed, problem.section));
        if place != expected {
            wrong.push(format!("{}: {refused:?} instead of {expected:?}", damaged.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_bitmaps_have_the_values_that_the_kit_says() {
    for bitmap in &KIT.bitmaps {
        let found = roaring::RoaringBitmap::deserialize_from(&bitmap.bytes[..]).unwrap();
        let expected = bitmap.ranges.iter().flat_map(|&(first, last)| first..=last);
        assert!(found.into_iter().eq(expected), "{}", bitmap.about);
    }
}

#[test]
fn the_transducers_have_the_entries_that_the_kit_says() {
    for transducer in &KIT.transducers {
        let map = fst::Map::new(&transducer.bytes[..]).unwrap();
        assert_eq!(map.stream().into_byte_vec(), transducer.entries, "{}", transducer.about);
    }
}

#[test]
fn the_withdrawals_are_read_or_refused_as_the_kit_says() {
    for file in &KIT.withdrawals {
        let found = cento::index::Withdrawals::parse("kit.withdrawn", file.bytes.clone());
        let Some(records) = &file.records else {
            assert!(found.is_err(), "{}: not refused", file.about);
            continue;
        };
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", file.about));
        let found = found.iter().map(|withdrawal| {
            let texts: Vec<_> = withdrawal.removed.iter().map(|text| &text.digest).collect();
            let quoting: Vec<_> = withdrawal.quoting.iter().map(|text| &text.digest).collect();
            serde_json::json!({
                "id": withdrawal.id,
                "digest": withdrawal.digest,
                "texts": texts,
                "quoting": quoting,
                "tokens": withdrawal.signature.tokens,
                "fingerprints": withdrawal.signature.fingerprints,
                "min_resemblance": withdrawal.min_resemblance,
                "min_passage": withdrawal.min_passage,
            })
        });
        assert_eq!(found.collect::<Vec<_>>(), *records, "{}", file.about);
        if let [first, ..] = &records[..] {
            let naive = naive_withdrawals::read(&file.bytes);
            assert_eq!((naive.len(), Some(&*naive[0].id)), (records.len(), first["id"].as_str()));
        }
    }
}
