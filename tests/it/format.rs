//! The writer writes the bytes of segments-format.md, and old files stay readable.

use std::path::Path;

use crate::common::example;
use cento::segment::{FORMAT_VERSION, SegmentReader};
use ownedbytes::OwnedBytes;

/// The bytes of the dump in segments-format.md.
fn documented() -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("segments-format.md")).unwrap();
    let (_, rest) = text.split_once("```dump\n").expect("the document has a dump");
    let (dump, _) = rest.split_once("```").unwrap();
    dump.lines()
        .flat_map(|line| line.split('|').next().unwrap().split_whitespace())
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}

#[test]
fn the_dump_in_the_document_equals_the_written_bytes() {
    assert_eq!(documented(), example::small());
}

#[test]
fn the_dump_in_the_document_can_be_read() {
    let reader = SegmentReader::open("dump", OwnedBytes::new(documented())).unwrap();
    assert_eq!(reader.check(), []);
    assert_eq!(*reader.header(), example::HEADER);
    for (doc, (tokens, signature)) in example::DOCUMENTS.iter().enumerate() {
        assert_eq!(reader.document(doc as u32).unwrap().tokens, *tokens);
        let found = reader.signature(doc as u32).unwrap();
        let found: Vec<(u64, u32)> = found.iter().map(|f| (f.key, f.position)).collect();
        assert_eq!(&found, signature);
        let identity = (reader.id(doc as u32).unwrap(), reader.digest(doc as u32).unwrap());
        assert_eq!(identity, example::identity(*tokens, signature));
    }
}

#[test]
fn the_golden_file_is_read_and_written_again() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join(format!("tests/golden/v{FORMAT_VERSION}.sig"));
    let golden = std::fs::read(path).unwrap();
    assert!(golden == example::golden(), "the writer writes other bytes than it did");
    let reader = SegmentReader::open("golden", OwnedBytes::new(golden)).unwrap();
    assert_eq!(reader.check(), []);
    let term = reader.find(7).unwrap().unwrap();
    let mut docs = Vec::new();
    reader.documents_of(&term, &mut docs).unwrap();
    assert!(docs.iter().copied().eq(0..400));
}
