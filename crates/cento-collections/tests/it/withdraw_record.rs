//! What the record of a withdrawal tells, and what a repetition does.

use cento::index::{Document, Index};
use cento::{Reason, Stop};
use cento_collections::withdraw::{RecordCheck, WithdrawOptions, Withdrawal, check, complete};

use crate::common::withdrawals::{fill, in_memory, options, withdraw};
use crate::common::{config, contents, words};

fn checked(index: &Index, record: &Withdrawal) -> RecordCheck {
    check(index, record, Stop::NEVER).unwrap()
}

const ILSE: &str = "The cartographer Ilse Brandt spent eleven winters on the island of Jorvey \
    measuring the retreat of its only glacier. When the harbour froze in the year of the great \
    frost she walked across to the mainland with a sledge of instruments behind her. Her final \
    map, drawn in three colours upon linen, hangs today in the reading room of the naval college.";

#[test]
fn a_check_names_documents_that_were_added_later_with_a_sentence_of_it() {
    // The fingerprints of a sentence span fewer tokens than the shortest passage has.
    let index = in_memory(&[("ilse", ILSE)]);
    let record = withdraw(&index, "ilse", &WithdrawOptions::default()).unwrap();
    assert_eq!(checked(&index, &record).problems, Vec::<String>::new());
    let kettles = "Copper kettles were made in the valley of the Ouse from about the middle of \
                   the fifteenth century.";
    let sentences: Vec<&str> = ILSE.split_inclusive(". ").collect();
    let later = [
        ("later1", format!("{} {kettles}", sentences[1])),
        ("later2", format!("{kettles} {} So they say.", sentences[2])),
        ("other", format!("{kettles} {}", words(3, 60))),
    ];
    let later = later.each_ref().map(|(id, text)| (*id, text.as_str()));
    fill(&index, &later);
    let found = checked(&index, &record);
    assert_eq!(found.problems.len(), 2, "{found:?}");
    for (problem, id) in found.problems.iter().zip(["later1", "later2"]) {
        let begin = format!("the document `{id}` has a passage of about ");
        assert!(problem.starts_with(&begin), "{problem}");
    }
    assert_eq!((found.needed, found.near_tokens), (2, 12));
    assert!(found.quoting.is_empty());
}

#[test]
fn a_single_fingerprint_is_named_and_is_no_evidence() {
    let own = words(1, 200);
    let index = in_memory(&[("own", &own)]);
    let record = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    // Each run of five tokens with a fingerprint becomes a document.
    let tokens: Vec<&str> = own.split(' ').collect();
    for (_, position) in record.signature.fingerprints.iter().take(3) {
        let run = tokens[*position as usize..][..5].join(" ");
        fill(&index, &[(&format!("d{position}"), &run)]);
    }
    let found = checked(&index, &record);
    assert_eq!((found.problems.len(), found.single.len()), (0, 3), "{found:?}");
}

#[test]
fn a_check_names_the_documents_that_quote_it_by_the_record() {
    let own = words(1, 100);
    let earlier = format!("{} {}", words(2, 60), words(1, 30));
    let index = in_memory(&[("earlier", &earlier), ("own", &own), ("copy", &own)]);
    let keep = WithdrawOptions::default().keep_copy(vec!["copy".to_owned()]);
    let record = withdraw(&index, "own", &keep).unwrap();
    let found = checked(&index, &record);
    assert!(found.problems.is_empty(), "{found:?}");
    let [copy, of_earlier] = &found.quoting[..] else { panic!("{found:?}") };
    assert_eq!(copy, "the document `copy` quotes 100 tokens of it");
    assert_eq!(of_earlier, "the document `earlier` quotes 30 tokens of it");
    // A document that is gone by now quotes nothing.
    let mut writer = index.writer(options()).unwrap();
    writer.remove("copy").unwrap();
    writer.finish().unwrap();
    assert_eq!(checked(&index, &record).quoting.len(), 1);
}

#[test]
fn a_document_with_a_whole_short_text_quotes_it() {
    let poem = "An old silent pond; a frog jumps in.";
    let essay = format!("Of the shortest I like one: {poem} It needs no rhyme.");
    let index = in_memory(&[("poem", poem), ("essay", &essay)]);
    let record = withdraw(&index, "poem", &WithdrawOptions::default()).unwrap();
    let whole: Vec<_> = record.quoting.iter().map(|one| (&*one.id, one.quoted_tokens)).collect();
    assert_eq!(whole, [("essay", 8)]);
    assert!(!record.is_complete());
    let found = checked(&index, &record);
    assert!(found.quoting[0].contains("`essay` quotes 8 tokens"), "{found:?}");
}

#[test]
fn a_correction_of_metadata_makes_no_document_later_than_its_quotations() {
    let (own, quote) = (words(1, 60), format!("{} {}", words(2, 40), words(1, 20)));
    let meta = |year: u32| serde_json::json!({"year": year}).as_object().unwrap().clone();
    // The metadata changes in a later commit, and in the commit of the document itself.
    for commits in [true, false] {
        let index = Index::in_memory(config()).unwrap();
        let mut writer = index.writer(options()).unwrap();
        writer.add(Document::new("own", own.as_str()).with_meta(meta(1))).unwrap();
        writer.add(Document::new("quote", quote.as_str())).unwrap();
        if commits {
            writer.commit().unwrap();
        }
        writer.add(Document::new("own", own.as_str()).with_meta(meta(2))).unwrap();
        writer.finish().unwrap();
        let record = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
        assert_eq!(record.quoting.len(), 1, "{commits}");
        assert!(!record.quoting[0].added_earlier, "{commits}");
    }
}

#[test]
fn a_new_text_of_an_id_is_added_when_it_comes() {
    let index = in_memory(&[("own", &words(1, 60)), ("other", &words(2, 60))]);
    let added = |id: &str| {
        let snapshot = index.snapshot().unwrap();
        let address = snapshot.find(id).unwrap().unwrap();
        snapshot.segment(address).added_micros(address.doc).unwrap()
    };
    assert!(added("own") < added("other"));
    fill(&index, &[("own", &words(3, 60))]);
    assert!(added("own") > added("other"));
}

#[test]
fn a_repetition_names_the_quotations_that_were_added_since() {
    let own = words(1, 100);
    let index = in_memory(&[("own", &own), ("other", &words(2, 60))]);
    let done = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    let again = || {
        let mut writer = index.writer(options()).unwrap();
        complete(&mut writer, "own", Stop::NEVER)
    };
    assert_eq!(again().unwrap(), done);
    let quote = format!("{} {}", words(3, 60), words(1, 40));
    fill(&index, &[("quote", &quote)]);
    let error = again().unwrap_err();
    assert_eq!(error.reason(), Reason::Withdrawn, "{error}");
    assert!(error.to_string().contains("the document `quote` has a passage"), "{error}");
    // Do what the message says.
    let mut writer = index.writer(options()).unwrap();
    assert_eq!(cento_collections::withdraw::forget(&mut writer, "own").unwrap(), 1);
    writer.finish().unwrap();
    fill(&index, &[("own", &own)]);
    let done = withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    assert_eq!((&*done.quoting[0].id, done.quoting[0].added_earlier), ("quote", true));
    assert_eq!(again().unwrap(), done);
}

#[test]
fn another_text_under_the_id_of_a_withdrawn_one_is_not_removed_by_a_repetition() {
    let index = in_memory(&[("own", &words(1, 100))]);
    withdraw(&index, "own", &WithdrawOptions::default()).unwrap();
    let innocent = words(7, 80);
    fill(&index, &[("own", &innocent)]);
    let error = withdraw(&index, "own", &WithdrawOptions::default()).unwrap_err();
    assert_eq!(error.reason(), Reason::Withdrawn, "{error}");
    assert_eq!(contents(&index.snapshot().unwrap())["own"], innocent);
    let meant = WithdrawOptions::default().reused_id(true);
    withdraw(&index, "own", &meant).unwrap();
    assert!(contents(&index.snapshot().unwrap()).is_empty());
    assert_eq!(index.withdrawals().unwrap().len(), 2, "both are refused");
}
