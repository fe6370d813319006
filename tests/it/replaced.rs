//! Documents that are replaced and removed again and again before a commit, over several segments.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{Model, config, document, holds, words};
use cento::Stop;
use cento::index::{Index, Outcome, SignedDocument, Snapshot, WriterOptions};
use cento::runtime::{Faults, Point};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Add { id: u8, text: u8 },
    Remove { id: u8 },
    Commit,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        16 => (0u8..4, 0u8..5).prop_map(|(id, text)| Step::Add { id, text }),
        4 => (0u8..4).prop_map(|id| Step::Remove { id }),
        2 => Just(Step::Commit),
        1 => Just(Step::Reopen),
    ]
}

/// Makes the writer flush a segment after `every` documents, however small.
fn flushed_after(every: u32) -> Faults {
    let arrived = AtomicU32::new(0);
    Faults::new(move |point, _| match point {
        Point::Index => {
            arrived.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        Point::Fill if arrived.load(Ordering::Relaxed) >= every => {
            arrived.store(0, Ordering::Relaxed);
            Err(io::ErrorKind::OutOfMemory.into())
        }
        _ => Ok(()),
    })
}

/// A naive index of documents, with the number of the last addition of each.
#[derive(Debug, Clone, Default)]
struct Naive {
    documents: Vec<(String, String, u32)>,
    added: u32,
}

impl Naive {
    fn add(&mut self, id: &str, text: String) -> Outcome {
        let before = self.documents.iter().position(|document| document.0 == id);
        if before.is_some_and(|at| self.documents[at].1 == text) {
            return Outcome::Unchanged;
        }
        self.remove(id);
        self.added += 1;
        self.documents.push((id.to_owned(), text, self.added));
        if before.is_some() { Outcome::Replaced } else { Outcome::Added }
    }

    fn remove(&mut self, id: &str) -> bool {
        let before = self.documents.len();
        self.documents.retain(|document| document.0 != id);
        self.documents.len() < before
    }

    fn model(&self) -> Model {
        self.documents.iter().map(|(id, text, _)| (id.clone(), text.clone())).collect()
    }

    /// Returns whether the live documents of each segment are in order of addition.
    fn is_in_order(&self, snapshot: &Snapshot) -> bool {
        let number = |id: &str| self.documents.iter().find(|document| document.0 == id).unwrap().2;
        let live: Vec<_> = snapshot.live().collect();
        live.windows(2).all(|pair| {
            let [a, b] = [pair[0], pair[1]].map(|address| snapshot.id(address).unwrap());
            pair[0].segment != pair[1].segment || number(&a) < number(&b)
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_document_changed_many_times_before_a_commit_has_its_last_version(
        steps in proptest::collection::vec(step(), 1..60),
        every in 1u32..8,
        merge in any::<bool>(),
    ) {
        let index = Index::in_memory(config()).unwrap();
        index.set_faults(flushed_after(every));
        let options = WriterOptions::default().memory_bytes(0usize).merge(merge);
        let (mut committed, mut current) = (Naive::default(), Naive::default());
        let mut writer = Some(index.writer(options).unwrap());
        for step in steps {
            let own = writer.get_or_insert_with(|| index.writer(options).unwrap());
            match step {
                Step::Add { id, text } => {
                    let (id, text) = (format!("doc{id}"), words(u64::from(text), 12));
                    let signed = SignedDocument::new(document(&id, &text), index.config(), Stop::NEVER).unwrap();
                    let outcome = own.add_signed(signed).unwrap();
                    prop_assert_eq!(outcome, current.add(&id, text));
                }
                Step::Remove { id } => {
                    let id = format!("doc{id}");
                    prop_assert_eq!(own.remove(&id).unwrap(), current.remove(&id));
                }
                Step::Commit => {
                    own.commit().unwrap();
                    committed = current.clone();
                    prop_assert_eq!(holds(&index, &committed.model()), Ok(()));
                    prop_assert!(merge || committed.is_in_order(&index.snapshot().unwrap()));
                }
                Step::Reopen => {
                    // The old writer goes first, because it holds the lock.
                    drop(writer.take());
                    current = committed.clone();
                }
            }
        }
        let Some(own) = writer.take() else { return Ok(()) };
        own.finish().unwrap();
        prop_assert_eq!(holds(&index, &current.model()), Ok(()));
    }
}
