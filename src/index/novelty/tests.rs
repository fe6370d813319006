use std::collections::HashMap;

use cento_api::{NOVELTY, Novelty};
use proptest::prelude::*;

use super::shares::Shares;
use super::*;
use crate::index::{Config, Document, Index, Outcome, WriterOptions};
use crate::runtime::Stop;
use crate::scheme::Fingerprint;

const SCHEME: &str = "winnow(k=3,w=4)";

fn config(scheme: &str) -> Config {
    Config::new(scheme, "words", true).unwrap().with_novelty().unwrap()
}

/// A document of the naive reference.
struct Naive {
    id: String,
    added: usize,
    signature: Vec<Fingerprint>,
}

/// Computes novelty directly from the definition, over every earlier document.
fn naive(documents: &[Naive], own: &SignedDocument, added: usize) -> Option<Novelty> {
    let others: Vec<&Naive> =
        documents.iter().filter(|other| other.id != own.document.id).collect();
    let origins = own.signature.iter().filter_map(|fingerprint| {
        let has = |other: &&&Naive| other.signature.iter().any(|f| f.key == fingerprint.key);
        let all: Vec<&&Naive> = others.iter().filter(has).collect();
        let first = all.iter().filter(|other| other.added < added).min_by_key(|o| o.added);
        let origin = match all.len() {
            0 => return None,
            n if n >= 8 && 2 * n > others.len() => Origin::Common,
            _ => {
                let added = first?.added;
                let source = Source::Uncommitted(added as u32);
                Origin::One { added: added as i64, source }
            }
        };
        Some((fingerprint.position, origin))
    });
    if own.token_count == 0 {
        return None;
    }
    let shares = Shares::new(origins, 3, own.token_count);
    let id_of = |source| {
        let Source::Uncommitted(added) = source else { unreachable!() };
        let is_it = |other: &&&Naive| other.added == added as usize;
        others.iter().find(is_it).unwrap().id.clone()
    };
    let sources = shares.sources.iter().take(3);
    let sources = sources.map(|&(source, share)| NoveltySource { id: id_of(source), share });
    Some(Novelty { new: shares.new, common: shares.common, sources: sources.collect() })
}

#[derive(Debug, Clone)]
enum Step {
    /// Adds a document of pieces of a vocabulary, each given as (number of the piece, words).
    Add {
        id: u8,
        pieces: Vec<(u8, u8)>,
    },
    /// Adds the same text with another meta object.
    Correct {
        id: u8,
    },
    Remove {
        id: u8,
    },
    Commit,
}

fn step() -> impl Strategy<Value = Step> {
    let pieces = prop::collection::vec((0u8..6, 1u8..20), 0..5);
    prop_oneof![
        8 => (0u8..24, pieces).prop_map(|(id, pieces)| Step::Add { id, pieces }),
        1 => (0u8..24).prop_map(|id| Step::Correct { id }),
        1 => (0u8..24).prop_map(|id| Step::Remove { id }),
        1 => Just(Step::Commit),
    ]
}

fn text(pieces: &[(u8, u8)]) -> String {
    let words = pieces
        .iter()
        .flat_map(|&(piece, words)| (0..words).map(move |word| format!("p{piece}w{word} ")));
    words.collect()
}

/// Adds documents, and compares the recorded novelty with the naive reference.
fn check(steps: &[Step], memory_bytes: usize) {
    let index = Index::in_memory(config(SCHEME)).unwrap();
    let options = WriterOptions::default().memory_bytes(memory_bytes);
    let mut writer = index.writer(options).unwrap();
    let mut documents: Vec<Naive> = Vec::new();
    let (mut expected, mut texts) = (HashMap::new(), HashMap::new());
    for (added, step) in steps.iter().enumerate() {
        match step {
            Step::Add { .. } | Step::Correct { .. } => {
                let (id, text) = match step {
                    Step::Add { id, pieces } => (id, text(pieces)),
                    Step::Correct { id } => (id, texts.get(id).cloned().unwrap_or_default()),
                    _ => unreachable!(),
                };
                let mut document = Document::new(format!("d{id}"), text.clone());
                if matches!(step, Step::Correct { .. }) {
                    document.meta.insert("step".into(), added.into());
                }
                let signed = SignedDocument::new(document, index.config(), Stop::NEVER).unwrap();
                let earlier = documents.iter().find(|other| other.id == signed.document.id);
                let is_same = texts.insert(*id, text.clone()) == Some(text) && earlier.is_some();
                let added = if is_same { earlier.unwrap().added } else { added };
                let novelty = naive(&documents, &signed, added);
                if writer.add_signed(&signed).unwrap() == Outcome::Unchanged {
                    continue;
                }
                documents.retain(|other| other.id != signed.document.id);
                let signature = signed.signature.to_vec();
                let id = signed.document.id.clone();
                expected.insert(id.clone(), novelty);
                documents.push(Naive { id, added, signature });
            }
            Step::Remove { id } => {
                texts.remove(id);
                let id = format!("d{id}");
                writer.remove(&id).unwrap();
                documents.retain(|other| other.id != id);
                expected.remove(&id);
            }
            Step::Commit => writer.commit().unwrap(),
        }
    }
    writer.finish().unwrap();
    let snapshot = index.snapshot().unwrap();
    assert_eq!(snapshot.documents(), expected.len() as u64);
    for (id, novelty) in expected {
        let address = snapshot.find(&id).unwrap().unwrap();
        let meta = snapshot.meta(address).unwrap();
        let recorded = meta
            .get(NOVELTY)
            .map(|novelty| serde_json::from_value::<Novelty>(novelty.clone()).expect("a novelty"));
        assert_eq!(recorded, novelty, "{id}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_recorded_is_what_a_naive_index_says(
        steps in prop::collection::vec(step(), 0..60),
    ) {
        check(&steps, 64 << 20);
    }
}

#[test]
fn an_edited_copy_is_new_where_it_was_edited_widely() {
    let index = Index::in_memory(config("winnow(k=5,w=10)")).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let words = |from: usize, to: usize| -> Vec<String> {
        (from..to).map(|word| format!("w{word}")).collect()
    };
    writer.add(Document::new("first", words(0, 300).join(" "))).unwrap();
    // Every twentieth word of the copy is replaced, and 100 words are new.
    let mut copy = words(0, 300);
    copy.iter_mut().skip(10).step_by(20).for_each(|word| *word = format!("{word}x"));
    copy.extend(words(1000, 1100));
    writer.add(Document::new("copy", copy.join(" "))).unwrap();
    // In a copy of the copy, the edits come from the first copy.
    writer.add(Document::new("again", copy.join(" "))).unwrap();
    writer.finish().unwrap();
    let snapshot = index.snapshot().unwrap();
    let novelty = |id: &str| -> Novelty {
        let address = snapshot.find(id).unwrap().unwrap();
        serde_json::from_value(snapshot.meta(address).unwrap()[NOVELTY].clone()).unwrap()
    };
    assert_eq!(novelty("first").new, 1.0);
    let copy = novelty("copy");
    assert!((0.24..0.32).contains(&copy.new), "{copy:?}");
    assert_eq!(copy.sources.iter().map(|source| &source.id[..]).collect::<Vec<_>>(), ["first"]);
    let again = novelty("again");
    assert!(again.new < 0.03, "{again:?}");
    let sources: Vec<_> = again.sources.iter().map(|source| &source.id[..]).collect();
    assert_eq!(sources, ["copy", "first"]);
}

#[test]
fn documents_that_say_it_keep_it_and_unchanged_ones_stay() {
    let index = Index::in_memory(config(SCHEME)).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let document = Document::new("a", "one two three four five six");
    assert_eq!(writer.add(document.clone()).unwrap(), Outcome::Added);
    writer.commit().unwrap();
    assert_eq!(writer.add(document.clone()).unwrap(), Outcome::Unchanged);
    assert!(writer.committed().unwrap().holds(&document, Digest::of(b"")).is_ok());
    let mut told = Document::new("b", "one two three four five six seven");
    told.meta.insert(NOVELTY.into(), serde_json::json!({"new": 0.5, "common": 0.0}));
    writer.add(told).unwrap();
    writer.finish().unwrap();
    let snapshot = index.snapshot().unwrap();
    let address = snapshot.find("b").unwrap().unwrap();
    assert_eq!(snapshot.meta(address).unwrap()[NOVELTY]["new"], 0.5);
}

#[test]
fn a_scheme_without_places_has_no_novelty() {
    let config = Config::new("minhash", "words", true).unwrap();
    let error = config.with_novelty().unwrap_err();
    assert!(error.to_string().contains("novelty"), "{error}");
}
