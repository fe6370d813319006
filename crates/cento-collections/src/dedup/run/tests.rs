use super::*;

#[test]
fn records_that_change_places_with_their_ids_are_other_records() {
    let known = |id: &str, text: &str| {
        let document = Document::new(id, text);
        let digest = Digest::of(text.as_bytes());
        Record::Document(SignedDocument::of(document, digest, 0, Vec::new()))
    };
    assert_ne!(next_hash(0, &known("a", "b")), next_hash(0, &known("b", "a")));
    assert_ne!(next_hash(0, &known("a", "a")), next_hash(0, &known("b", "b")));
    let skipped = Record::Skipped { place: "a".into(), why: "" };
    let failed = Record::Failed(Error::input("a", ""));
    assert_ne!(next_hash(0, &skipped), next_hash(0, &failed));
}
