//! Documents with parts: the files of a submission, the chapters of a book.

use cento::index::{Config, Document, Index, Outcome, Part, WriterOptions};
use cento::{Digest, SignedDocument, Snapshot, Stop, StoredDocument};
use proptest::prelude::*;

use crate::common::config;

fn stored(snapshot: &Snapshot, id: &str) -> StoredDocument {
    snapshot.document(snapshot.find(id).unwrap().unwrap()).unwrap()
}

/// Parts of any names and texts, and how they are added: in how many commits, and merged or not.
fn documents() -> impl Strategy<Value = Vec<Vec<(String, String)>>> {
    let part = ("[a-c/.]{1,3}", "[a-c .\n\u{c}\u{e9}]{0,40}");
    let parts = prop::collection::vec(part, 0..5).prop_map(|mut parts| {
        parts.sort();
        parts.dedup_by(|one, other| one.0 == other.0);
        parts
    });
    prop::collection::vec(parts, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn parts_are_read_as_they_were_added(documents in documents(), commits in any::<u8>()) {
        for store_text in [true, false] {
            let config = Config::new("winnow(k=5,w=10)", "words", store_text).unwrap();
            let index = Index::in_memory(config.clone()).unwrap();
            let mut writer = index.writer(WriterOptions::default()).unwrap();
            for (number, parts) in documents.iter().enumerate() {
                writer.add(Document::of_parts(number.to_string(), parts.clone())).unwrap();
                if commits >> number & 1 == 1 {
                    writer.commit().unwrap();
                }
            }
            writer.commit().unwrap();
            writer.begin_compaction(1, 0).unwrap().wait().unwrap();
            writer.finish().unwrap();
            let snapshot = index.snapshot().unwrap();
            for (number, parts) in documents.iter().enumerate() {
                let found = stored(&snapshot, &number.to_string());
                let expected = Document::of_parts("", parts.clone());
                let names = |parts: &[Part]| -> Vec<(String, u32)> {
                    parts.iter().map(|part| (part.name.clone(), part.start)).collect()
                };
                prop_assert_eq!(names(&found.parts), names(&expected.parts));
                match found.text {
                    Some(text) => {
                        let found = Document::new("", text).with_parts(found.parts);
                        let texts: Vec<_> = found.part_texts().collect();
                        let expected: Vec<_> =
                            parts.iter().map(|(name, text)| (&name[..], &text[..])).collect();
                        prop_assert_eq!(texts, expected);
                    }
                    // The tokens before a part are those of the text before it.
                    None => for part in &found.parts {
                        let before = &expected.text[..part.start as usize];
                        let count = config.sign(before).unwrap().0;
                        prop_assert_eq!(part.first_token, Some(count));
                    },
                }
            }
            prop_assert_eq!(index.check().unwrap().problems, vec![]);
        }
    }
}

#[test]
fn a_document_whose_parts_are_others_has_changed() {
    let index = Index::in_memory(config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let document = |parts: &[(&str, &str)]| Document::of_parts("a", parts.iter().copied());
    let versions = [
        document(&[("x", "one two"), ("y", "three")]),
        document(&[("x", "one two"), ("z", "three")]),
        document(&[("x", "one two\nthree")]),
        Document::new("a", "one two\nthree"),
        document(&[("x", "one two"), ("y", "three")]),
    ];
    for (at, version) in versions.iter().enumerate() {
        let digest = Digest::of(version.text.as_bytes());
        let expected = if at == 0 { Outcome::Added } else { Outcome::Replaced };
        assert!(!writer.holds(version, digest).unwrap());
        assert_eq!(writer.add(version.clone()).unwrap(), expected, "{at}");
        for is_committed in [false, true] {
            assert!(writer.holds(version, digest).unwrap());
            assert_eq!(writer.add(version.clone()).unwrap(), Outcome::Unchanged, "{at}");
            if !is_committed {
                writer.commit().unwrap();
            }
        }
        let snapshot = index.snapshot().unwrap();
        assert!(snapshot.holds(version, digest).unwrap());
        assert!(!snapshot.holds(&versions[(at + 1) % 4], digest).unwrap());
        assert_eq!(snapshot.documents(), 1);
        assert_eq!(stored(&snapshot, "a").parts, version.parts);
        let address = snapshot.find("a").unwrap().unwrap();
        assert_eq!(snapshot.parts(address).unwrap(), version.parts);
    }
}

#[test]
fn a_document_with_parts_that_do_not_fit_its_text_is_refused() {
    let index = Index::in_memory(config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let twice = Document::of_parts("a", [("x", "one"), ("x", "two")]);
    let moved = Document::new("b", "one two").with_parts(vec![Part::new("x", 4)]);
    for document in [twice, moved] {
        let error = writer.add(document).unwrap_err().to_string();
        assert!(error.contains("part"), "{error}");
    }
    assert_eq!(writer.uncommitted(), 0);
}

#[test]
fn a_signed_document_without_text_knows_where_its_parts_begin() {
    // A signer hands on documents without their texts where the index stores none.
    let config = Config::new("winnow(k=5,w=10)", "words", false).unwrap();
    let document = Document::of_parts("a", [("x", "one two"), ("empty", ""), ("y", "three")]);
    let signed = SignedDocument::new(document, &config, Stop::NEVER).unwrap();
    let first = signed.document.parts.iter().map(|part| part.first_token);
    assert_eq!(first.collect::<Vec<_>>(), [Some(0), Some(2), Some(2)]);
}
