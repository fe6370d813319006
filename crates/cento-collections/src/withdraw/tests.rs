//! Documents whose order of addition is not known.

use super::*;
use cento::index::{Config, Index, WriterOptions};

/// A sentence of this number of words, which no other has.
fn words(name: char, count: usize) -> String {
    (0..count).map(|at| format!("{name}{at} ")).collect()
}

#[test]
fn no_passage_of_a_document_that_was_added_at_the_same_time_is_cut() {
    let index = Index::in_memory(Config::new("kgram(k=4)", "words", true).unwrap()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add(Document::new("z-source", words('a', 60))).unwrap();
    writer.commit().unwrap();
    let snapshot = index.snapshot().unwrap();
    let quoter = words('b', 30) + &words('a', 40) + &words('c', 30);
    let quoter = Document::new("a-quoter", quoter);
    let quoter = SignedDocument::new(quoter, index.config(), Stop::NEVER).unwrap();
    let source = snapshot.find("z-source").unwrap().unwrap();
    writer.add_at(quoter, (&snapshot, source)).unwrap();
    writer.commit().unwrap();
    let snapshot = index.snapshot().unwrap();
    let plan = |id, options: &WithdrawOptions| {
        Plan::new(&snapshot, id, options, Stop::NEVER).unwrap().withdrawal().clone()
    };
    for (id, other) in [("z-source", "a-quoter"), ("a-quoter", "z-source")] {
        let plan = plan(id, &WithdrawOptions::default());
        assert_eq!((plan.removed.len(), &plan.cut[..]), (1, &[][..]), "{id}");
        let left =
            LeftPassages { earlier: Some(other.into()), same_time: true, ..left_of(other, 40) };
        assert_eq!(plan.left.earlier, [left], "{id}");
        // The passage may be the withdrawn document's own.
        assert!(!plan.left.is_complete(), "{id}");
    }
    let plan = plan("z-source", &WithdrawOptions::default().cut_earlier(true));
    assert_eq!((plan.cut[0].id.as_str(), plan.cut[0].cut_tokens), ("a-quoter", 40));
    assert!(plan.left.is_complete());
}
