//! A second reader, written from the document, must find the same contents in a real index.

use std::collections::BTreeMap;

use crate::common::naive::Naive;
use crate::common::{add, config, naive_withdrawals, without_footer, words};
use cento::hash::Digest;
use cento::index::{Index, WriterOptions};
use cento::{Preset, Stop};
use cento_collections::withdraw::{Plan, WithdrawOptions};

#[test]
fn the_document_is_enough_to_read_a_real_index() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for doc in 0..600 {
        // A passage in every document, a passage in every fifth document, and unique text.
        let text =
            format!("{} {} {}", words(1, 40), words(100 + doc % 5, 40), words(1000 + doc, 60));
        let text = if doc == 17 { String::new() } else { text };
        add(&mut writer, &format!("doc{doc}"), &text).unwrap();
        if doc == 450 {
            writer.commit().unwrap();
        }
    }
    writer.finish().unwrap();
    compare(&index);
    index.compact(1).unwrap();
    compare(&index);
}

/// Compares the readers on every segment.
fn compare(index: &Index) {
    let snapshot = index.snapshot().unwrap();
    for (view, segment) in snapshot.segments().iter().zip(snapshot.tantivy().segment_readers()) {
        let path = index.path().join(format!("{}.sig", segment.segment_id().uuid_string()));
        let bytes = std::fs::read(path).unwrap();
        let naive = Naive::read(without_footer(&bytes));
        let real = &view.signatures;
        assert!(
            naive.terms.iter().any(|(_, docs)| docs.len() > 256) || naive.documents.len() < 300
        );
        assert_eq!(naive.terms.len() as u64, real.counts().terms);
        for (ordinal, (key, docs)) in naive.terms.iter().enumerate() {
            let term = real.find(*key).unwrap().unwrap();
            let mut found = Vec::new();
            real.documents_of(&term, &mut found).unwrap();
            assert_eq!((term.ordinal as usize, &found), (ordinal, docs));
        }
        assert_eq!(naive.documents.len(), real.header().documents as usize);
        for (doc, (id, [low, high])) in (0..).zip(&naive.ids) {
            let (low, high) = (*low, *high);
            assert_eq!(real.id(doc).unwrap(), *id);
            assert_eq!(real.digest(doc).unwrap(), Digest { low, high });
            let with = (0..).zip(&naive.ids).filter(|(_, other)| other.1 == [low, high]);
            let with: Vec<u32> = with.map(|(doc, _)| doc).collect();
            let all = |_| true;
            assert_eq!(real.documents_with(Digest { low, high }, all).unwrap(), with);
            // The low half of a digest finds candidates, but only the whole digest counts.
            assert!(real.documents_with(Digest { low, high: !high }, all).unwrap().is_empty());
        }
        for (doc, (tokens, distinct, signature)) in (0..).zip(&naive.documents) {
            let row = real.document(doc).unwrap();
            assert_eq!((row.tokens, row.distinct), (*tokens, *distinct));
            let found: Vec<(u64, u32)> =
                real.signature(doc).unwrap().iter().map(|f| (f.key, f.position)).collect();
            assert_eq!(&found, signature);
        }
    }
}

/// A hash of the parameters of `signature`, in the order of their names (section 4).
fn config_number(params: &BTreeMap<String, serde_json::Value>) -> u64 {
    let mut bytes = Vec::new();
    for (name, value) in
        params.iter().filter(|(name, _)| !["max_df", "preset"].contains(&name.as_str()))
    {
        let value = value.as_str().map_or(value.to_string(), str::to_owned);
        for text in [name, &value] {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
    }
    xxhash_rust::xxh3::xxh3_64(&bytes)
}

#[test]
fn the_document_is_enough_to_tell_whose_a_segment_is() {
    let presets = [None, Some(Preset::Corpus), Some(Preset::Rewritten)];
    for (documents, preset) in [1, 7, 100].into_iter().zip(presets) {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::create(dir.path(), config().with_preset(preset)).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        let texts: Vec<String> = (0..documents).map(|doc| words(doc, 12)).collect();
        for (doc, text) in texts.iter().enumerate() {
            add(&mut writer, &format!("doc{doc}"), text).unwrap();
        }
        writer.finish().unwrap();
        let meta = std::fs::read(dir.path().join("meta.json")).unwrap();
        let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
        let fields = meta["schema"].as_array().unwrap();
        let field = fields.iter().find(|field| field["name"] == "signature").unwrap();
        let params = serde_json::from_value(field["options"]["params"].clone()).unwrap();
        let header = *index.snapshot().unwrap().segments()[0].signatures.header();
        assert_eq!(header.config, config_number(&params));
    }
}

#[test]
fn the_document_is_enough_to_read_what_was_withdrawn() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let texts = [
        ("own", words(1, 100)),
        ("copy", words(1, 100)),
        ("quoting", format!("{} {} {}", words(2, 60), words(1, 30), words(3, 60))),
        ("second", words(4, 50)),
        ("other", words(5, 80)),
    ];
    for (id, text) in &texts {
        add(&mut writer, id, text).unwrap();
        writer.commit().unwrap();
    }
    let signature_of = |index: &Index, id: &str| {
        let snapshot = index.snapshot().unwrap();
        let signature = snapshot.signature(snapshot.find(id).unwrap().unwrap(), Stop::NEVER);
        signature.unwrap().iter().map(|f| (f.key, f.position)).collect::<Vec<_>>()
    };
    let mut expected = Vec::new();
    for (id, tokens, removed) in [("own", 100, 2), ("second", 50, 1)] {
        let signature = signature_of(&index, id);
        let snapshot = writer.committed().unwrap();
        let plan = Plan::new(snapshot, id, &WithdrawOptions::default(), Stop::NEVER).unwrap();
        plan.apply(&mut writer, Stop::NEVER).unwrap();
        expected.push((id, tokens, signature, removed));
    }
    let names = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> =
        names.filter(|path| path.extension().is_some_and(|end| end == "withdrawn")).collect();
    assert_eq!(files.len(), 1);
    let naive = naive_withdrawals::read(&std::fs::read(&files[0]).unwrap());
    assert_eq!(naive.len(), expected.len());
    let digest = |text: &str| {
        let digest = Digest::of(text.as_bytes());
        [digest.low, digest.high]
    };
    for (found, (id, tokens, signature, removed)) in naive.iter().zip(expected) {
        let (_, text) = texts.iter().find(|(other, _)| *other == id).unwrap();
        assert_eq!((&*found.id, found.digest), (id, digest(text)));
        assert_eq!((found.tokens, &found.signature), (tokens, &signature));
        assert_eq!(found.texts, vec![digest(text); removed]);
        assert_eq!((found.min_resemblance, found.min_passage), (0.8, 12));
    }
    assert_eq!(naive[0].quoting, [digest(&texts[2].1)]);
}
