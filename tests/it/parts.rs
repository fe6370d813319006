//! Documents with parts: the files of a submission, the chapters of a book.

use cento::index::{Config, Document, Index, Outcome, Part, WriterOptions};
use cento::search::Query;
use cento::{
    Digest, Passage, Searcher, SignedDocument, Snapshot, Stop, StoredDocument, Tokens, Unit,
};
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
                    None => for part in &found.parts {
                        let mut tokens = Tokens::default();
                        config.analyzer.analyze(&expected.text, &mut tokens, Stop::NEVER).unwrap();
                        let before = tokens.spans.iter().filter(|span| span.start < part.start);
                        prop_assert_eq!(part.first_token, Some(before.count() as u32));
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
    let twice = Query::of_parts([("x", "one"), ("x", "two")]);
    let mut of_id = Query::id("a");
    of_id.parts = vec![Part::new("x", 0)];
    for query in [twice, of_id] {
        let error = query.check().unwrap_err().to_string();
        assert!(error.contains("parts"), "{error}");
    }
}

#[test]
fn a_signed_document_without_text_knows_where_its_parts_begin() {
    // A signer drops the texts if the index stores no texts.
    let config = Config::new("winnow(k=5,w=10)", "words", false).unwrap();
    let document = Document::of_parts("a", [("x", "one two"), ("empty", ""), ("y", "three")]);
    let signed = SignedDocument::new(document, &config, Stop::NEVER).unwrap();
    let first = signed.document.parts.iter().map(|part| part.first_token);
    assert_eq!(first.collect::<Vec<_>>(), [Some(0), Some(2), Some(2)]);
}

/// Returns two books of chapters. After its own chapter, the second book has a chapter `taken`: the
/// chapter `two` of the first book, and the first half of `three`.
fn books() -> [Document; 2] {
    let words = |of: &str, count| -> String {
        (0..count).map(|at| format!("{of}{at}")).collect::<Vec<_>>().join(" ")
    };
    let [a, b, c, own] = ["a", "b", "c", "d"].map(|of| words(of, 60));
    let lines = |text: &str| text.replace(' ', "\n");
    let half: String = c.split(' ').take(30).collect::<Vec<_>>().join(" ");
    let first = [("one", a), ("two", b.clone()), ("three", format!("{}\n{}", words("e", 3), c))];
    let second = [("mine", own), ("taken", format!("first\n{b} {half}"))];
    let second = second.map(|(name, text)| (name, lines(&text)));
    [Document::of_parts("first", first), Document::of_parts("second", second)]
}

/// The parts and lines of a passage.
fn place(passage: &Passage) -> (Option<&str>, Option<u32>, Option<&str>, Option<u32>) {
    let Passage { a_part, a_line, b_part, b_line, .. } = passage;
    (a_part.as_deref(), *a_line, b_part.as_deref(), *b_line)
}

#[test]
fn a_passage_is_in_one_part_of_each_text_and_its_line_is_counted_there() {
    let books = books();
    for store_text in [true, false] {
        let config = Config::new("winnow(k=5,w=10)", "words", store_text).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        books.iter().for_each(|book| _ = writer.add(book.clone()).unwrap());
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let query = Query::id("second").passages(true);
        let answer = searcher.search(&query).unwrap();
        let passages = answer.hits[0].passages.as_deref().unwrap();
        // Parts split the passage, which would be a single passage of the first book otherwise.
        let found: Vec<_> = passages.iter().map(place).collect();
        if store_text {
            let taken = |line, of, b_line| (Some("taken"), Some(line), Some(of), b_line);
            assert_eq!(found, [taken(2, "two", None), taken(62, "three", Some(2))]);
            let [first, second] = passages else { panic!("{passages:?}") };
            assert_eq!([first.tokens, second.tokens], [60, 30]);
            // With exchanged sides, the passages are the same.
            let from_first = searcher.search(&Query::id("first").passages(true)).unwrap();
            let passages = from_first.hits[0].passages.as_deref().unwrap();
            let found: Vec<_> = passages.iter().map(place).collect();
            let taken = |of, line, b_line| (Some(of), line, Some("taken"), Some(b_line));
            assert_eq!(found, [taken("two", None, 2), taken("three", Some(2), 62)]);
        } else {
            let taken = |of| (Some("taken"), None, Some(of), None);
            assert_eq!(found, [taken("two"), taken("three")]);
            assert!(passages.iter().all(|passage| passage.unit == Unit::Tokens));
        }
        // A query with the parts of the stored document gives the same passages.
        let query = Query::of_parts(books[1].part_texts()).passages(true);
        let answer = searcher.search(&query).unwrap();
        let hit = answer.hits.iter().find(|hit| hit.id == "first").unwrap();
        let stored = searcher.search(&Query::id("second").passages(true)).unwrap();
        assert_eq!(hit.passages, stored.hits[0].passages, "{store_text}");
        // A text without parts has no parts in its passages, but the hit still has.
        let query = Query::text(&*books[1].text).passages(true);
        let answer = searcher.search(&query).unwrap();
        let hit = answer.hits.iter().find(|hit| hit.id == "first").unwrap();
        let parts = hit
            .passages
            .as_deref()
            .unwrap()
            .iter()
            .map(|passage| (passage.a_part.as_deref(), passage.b_part.as_deref()));
        let expected = [(None, Some("two")), (None, Some("three"))];
        assert_eq!(parts.collect::<Vec<_>>(), expected, "{store_text}");
    }
}

#[test]
fn a_document_in_which_a_short_text_is_in_two_parts_does_not_contain_it() {
    let check = |parts: &[(&str, &str)], expected: &[Option<&str>]| {
        let index = Index::in_memory(config()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        writer.add(Document::of_parts("a", parts.iter().copied())).unwrap();
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let query = Query::text("to be or not to be").passages(true);
        let passages = searcher.passages_of(&query, "a").unwrap().found;
        let found: Vec<_> = passages.iter().map(|passage| passage.b_part.as_deref()).collect();
        assert_eq!(found, expected, "{parts:?}");
    };
    check(&[("x", "he said: to be or"), ("y", "not to be, that is it")], &[]);
    check(
        &[("x", "to be or"), ("y", "not to be"), ("z", "he said: to be or not to be, that is it")],
        &[Some("z")],
    );
}
