//! Submissions of several files, compared pairwise and with earlier years.

use crate::common::{Service, body, created, words};
use cento_api::{PartText, Reason};
use cento_client::api::{
    AddedDocument, Commit, DocumentOfParts, GroupingRequest, PairsReportRequest, PairsRequest,
};
use serde_json::Map;

fn submission(id: &str, parts: &[(&str, &str)]) -> DocumentOfParts {
    let part = |&(name, text): &(&str, &str)| PartText { name: name.into(), text: text.into() };
    let parts = parts.iter().map(part).collect();
    DocumentOfParts { id: id.into(), parts, meta: Map::new(), id_place: None }
}

/// A class: bob has a file of ann, and cas has a submission by dan from last year.
fn class() -> PairsRequest {
    let (ann, dan) = (words(1, 60), words(4, 60));
    let of_cas = format!("own\n{dan}");
    let documents: Vec<AddedDocument> = vec![
        submission("26/ann", &[("list", &ann), ("main", &words(2, 60))]).into(),
        submission("26/bob", &[("main", &words(3, 60)), ("own", &ann)]).into(),
        submission("26/cas", &[("main", &of_cas)]).into(),
    ];
    PairsRequest { documents, against_index: true, sources: true, ..PairsRequest::default() }
}

/// A service over last year's submissions, with two similar submissions.
fn last_year() -> (crate::common::Dir, Service) {
    let dir = created();
    let service = Service::start(&dir);
    let client = service.client();
    for (id, parts) in [
        ("25/dan", [("a", words(4, 60)), ("b", words(5, 60))]),
        ("25/eva", [("a", words(6, 60)), ("b", words(5, 60))]),
    ] {
        let parts = parts.each_ref().map(|(name, text)| (*name, text.as_str()));
        client.add_of_parts(&submission(id, &parts), Commit::Wait).unwrap();
    }
    (dir, service)
}

#[test]
fn submissions_are_compared_with_each_other_and_those_of_the_index_but_not_these_with_each_other() {
    let (_dir, service) = last_year();
    let client = service.client();
    let found = client.pairs(&class()).unwrap();
    let mut pairs: Vec<_> = found
        .pairs
        .iter()
        .map(|found| {
            let passage = &found.pair.passages.as_deref().unwrap()[0];
            let parts = (passage.a_part.as_deref().unwrap(), passage.b_part.as_deref().unwrap());
            let index = found.pair.index_b.as_deref();
            (found.pair.a.as_str(), found.pair.b.as_str(), index, parts, passage.a_line)
        })
        .collect();
    pairs.sort_unstable();
    let expected = [
        ("26/ann", "26/bob", None, ("list", "own"), None),
        ("26/cas", "25/dan", Some("the index"), ("main", "a"), Some(2)),
    ];
    assert_eq!(pairs, expected);
    let sources: Vec<_> = found
        .sources
        .iter()
        .map(|one| {
            let counts = [one.new, one.known, one.shared];
            (one.name.as_str(), one.tokens, counts)
        })
        .collect();
    // The text with the largest known or shared part is first.
    let expected =
        [("26/cas", 61, [1, 60, 0]), ("26/ann", 120, [60, 0, 60]), ("26/bob", 120, [60, 0, 60])];
    assert_eq!((&sources[..], found.earlier_versions.len()), (&expected[..], 0));
    // Without the index, only the documents of the request are compared.
    let alone = client.pairs(&PairsRequest { against_index: false, ..class() }).unwrap();
    assert_eq!((alone.pairs.len(), alone.sources[2].new), (1, 61));
    // The report shows the parts and the sources.
    let (not_compared, warnings) = (Vec::new(), Vec::new());
    let request = PairsReportRequest { pairs: class(), anonymous: false, not_compared, warnings };
    let report = client.pairs_report(&request).unwrap();
    for expected in ["25/dan in the index", "<bdi>26/cas</bdi>, <bdi>main</bdi>"] {
        assert!(report.contains(expected), "{expected}: {report}");
    }
}

#[test]
fn a_submission_that_is_filed_is_an_earlier_version_of_itself() {
    let (_dir, service) = last_year();
    let client = service.client();
    for document in class().documents {
        let AddedDocument::Parts(document) = document else { panic!("it has parts") };
        client.add_of_parts(&document, Commit::Wait).unwrap();
    }
    let again = client.pairs(&class()).unwrap();
    assert_eq!(again.earlier_versions, ["26/ann", "26/bob", "26/cas"]);
    let first = last_year().1.client().pairs(&class()).unwrap();
    assert_eq!((again.pairs, again.sources), (first.pairs, first.sources));
}

#[test]
fn boilerplate_is_gray_in_documents_of_the_index_too() {
    let (_dir, service) = last_year();
    let request = PairsRequest { boilerplate: vec![words(4, 30)], ..class() };
    let found = service.client().pairs(&request).unwrap();
    let gray: Vec<_> =
        found.boilerplate.iter().map(|one| (one.id.as_str(), one.index.as_deref())).collect();
    assert_eq!(gray, [("26/cas", None), ("25/dan", Some("the index"))]);
    assert_eq!((found.sources[2].known, found.sources[2].boilerplate), (30, 30));
}

#[test]
fn a_long_document_of_the_index_takes_memory_only_when_it_is_compared() {
    // Once every comparison with the index reserved memory for the longest document, and was
    // refused if the memory was too small.
    let dir = created();
    let full = Service::start(&dir);
    let long: String = (0..120_000).map(|number| format!("n{number} ")).collect();
    full.client().add(&body("long", &long), Commit::Wait).unwrap();
    full.client().add(&body("short", &words(4, 60)), Commit::Wait).unwrap();
    full.stop();
    let service = Service::with(&dir, |settings| settings.memory_bytes = 8 << 20);
    let of = |text: &str| PairsRequest {
        documents: vec![body("new", text).into()],
        against_index: true,
        sources: true,
        ..PairsRequest::default()
    };
    let found = service.client().pairs(&of(&words(4, 60))).unwrap();
    assert_eq!((found.pairs.len(), &*found.pairs[0].pair.b), (1, "short"));
    let refused = service.client().pairs(&of(&long[..600])).unwrap_err().to_string();
    assert!(refused.contains("120000 tokens"), "{refused}");
}

#[test]
fn a_document_of_a_comparison_without_parts_is_refused() {
    let (_dir, service) = last_year();
    let refused = |documents: Vec<AddedDocument>| {
        let request = PairsRequest { documents, ..PairsRequest::default() };
        service.client().pairs(&request).unwrap_err().to_string()
    };
    let one = || body("x", "some words").into();
    let empty = refused(vec![one(), submission("none", &[]).into()]);
    assert!(empty.contains("`none` has no parts"), "{empty}");
    let twice = refused(vec![one(), submission("y", &[("a", "b"), ("a", "c")]).into()]);
    assert!(twice.contains("two of its parts have the name \"a\""), "{twice}");
}

#[test]
fn names_of_files_become_documents() {
    let (_dir, service) = last_year();
    let client = service.client();
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let zip = names(&["in.zip/ann/a.c", "in.zip/ann/lib.min.js", "in.zip/bob/a.c", "in.zip/c"]);
    let request = GroupingRequest { names: zip, by: Some("directory".into()) };
    let found = client.grouping(&request).unwrap();
    let shown: Vec<_> = found
        .documents
        .iter()
        .map(|one| (one.id.as_str(), one.parts[0].name.as_str(), one.parts[0].file))
        .collect();
    let expected = [("in.zip/ann", "a.c", 0), ("in.zip/bob", "a.c", 2), ("in.zip/c", "c", 3)];
    assert_eq!(shown, expected);
    let left = &found.left_out[0];
    let expected = ("in.zip/ann/lib.min.js", "it is a library, or made by a program");
    assert_eq!((left.path.as_str(), left.reason.as_str()), expected);
    // Answers must not mention options of the command, which clients lack.
    let most = names(&["in/ann/a.c", "in/.git/x", "in/data.csv", "out/bob/b.c", "list.csv"]);
    for by in ["directory", "{document}_{part}"] {
        let request = GroupingRequest { names: most.clone(), by: Some(by.into()) };
        let found = client.grouping(&request).unwrap();
        assert!(found.left_out.len() > 1, "{found:?}");
        let reasons = found.left_out.iter().map(|left| &left.reason).chain(&found.said);
        reasons.for_each(|reason| assert!(!reason.contains("--"), "{by}: {reason}"));
    }
    let canvas = names(&["ann_1_2_a.c", "bob_LATE_3_4_a.c"]);
    let found = client.grouping(&GroupingRequest { names: canvas, by: None }).unwrap();
    assert_eq!(found.by, "{name}{_LATE?}_{document}_{*}_{part}");
    assert_eq!(
        (found.documents[1].id.as_str(), &found.documents[1].meta["name"]),
        ("bob_3", &"bob".into())
    );
    let refused = |request: &GroupingRequest| client.grouping(request).unwrap_err().to_string();
    let long = GroupingRequest { names: vec!["a".repeat(1025)], by: None };
    assert!(refused(&long).contains("the maximum is 1024"));
    let by = GroupingRequest { names: vec![], by: Some("{part}".into()) };
    assert!(refused(&by).contains("no field {document}"));
}

#[test]
fn names_that_take_more_memory_than_there_is_are_refused_before_they_are_read() {
    // Once a body of 4.9 MB took 1,594 MB instead of 64 MiB. Three bodies ended the service.
    let dir = created();
    let service = Service::with(&dir, |settings| settings.memory_bytes = 32 << 20);
    let client = service.client();
    let short: Vec<String> = (0..50_000).map(|i| format!("{i:x}")).collect();
    let refused = client.grouping(&GroupingRequest { names: short, by: None }).unwrap_err();
    assert_eq!(refused.reason(), Reason::MemoryLimit, "{refused}");
    assert!(refused.to_string().contains("at most 16 MiB are allowed"), "{refused}");
    // Deep names within the memory are accepted.
    let dirs = "a/".repeat(480);
    let deep: Vec<String> = (0..500).map(|i| format!("in/{dirs}{i}.txt")).collect();
    let request = GroupingRequest { names: deep, by: Some("directory".into()) };
    assert_eq!(client.grouping(&request).unwrap().documents.len(), 1);
}
