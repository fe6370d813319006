//! Operations that remove documents compare all words, even words omitted by the analyzer.

use std::collections::HashSet;

use cento::hash::mix64;
use cento::index::{Config, Document, Index};
use cento::search::{Boilerplate, Searcher};
use cento::{Error, Preset, Reason, Stop};
use cento_collections::cluster::{ClusterOptions, clusters};
use cento_collections::dedup::{DedupOptions, Verdict};
use cento_collections::withdraw::WithdrawOptions;
use cento_collections::{Linkage, Thresholds};

use crate::common::stream;
use crate::common::withdrawals::{fill, options, withdraw};

/// Notices of different companies, which differ only in numbers.
const NOTICES: [&str; 2] = [
    "Qtly div 25 cts vs 25 cts prior Pay April 30 Record April 16 Reuter",
    "Qtly div 20 cts vs 16 cts prior Pay April 24 Record April 10 Reuter",
];

/// Settings that make the notices alike or equal.
const SETTINGS: [(&str, &str); 5] = [
    ("pairs(n=100)", "avtor(stop=2)"),
    ("winnow(k=5,w=10)", "avtor(language=en)"),
    ("minhash(k=5,b=16,r=8)", "avtor(language=en)"),
    ("breaking(p=6)", "avtor(language=en)"),
    ("kgram(k=3)", "prefixes(n=1)"),
];

fn documents(texts: &[String]) -> Vec<Document> {
    let document = |(at, text): (usize, &String)| Document::new(at.to_string(), text);
    texts.iter().enumerate().map(document).collect()
}

fn notices() -> Vec<Document> {
    documents(&NOTICES.map(str::to_owned))
}

fn index_of(config: Config, documents: &[Document]) -> Index {
    let index = Index::in_memory(config).unwrap();
    let texts = documents.iter().map(|one| (one.id.as_str(), one.text.as_str()));
    fill(&index, &texts.collect::<Vec<_>>());
    index
}

fn words(seed: u64, count: u64) -> String {
    let word = |i| format!("w{}", mix64(seed << 32 ^ i) % 5000);
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// The runs of 5 words of a text.
fn runs(text: &str) -> HashSet<Vec<&str>> {
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(5.min(words.len())).map(<[_]>::to_vec).collect()
}

fn resemblance(a: &HashSet<Vec<&str>>, b: &HashSet<Vec<&str>>) -> f64 {
    let shared = a.intersection(b).count();
    shared as f64 / (a.len() + b.len() - shared) as f64
}

/// The number of cluster members that are no representatives, with this minimum resemblance.
fn clustered(index: &Index, linkage: Linkage, least: f64) -> usize {
    let thresholds = Thresholds::default().min_resemblance(least);
    let options = ClusterOptions::default().thresholds(thresholds).linkage(linkage);
    let searcher = Searcher::new(index.snapshot().unwrap());
    clusters(&searcher, &options).map(|cluster| cluster.unwrap().members.len()).sum()
}

#[test]
fn notices_of_other_numbers_are_no_duplicates_by_any_analyzer() {
    for (scheme, analyzer) in SETTINGS {
        let config = |store_text| Config::new(scheme, analyzer, store_text).unwrap();
        for how in [(64 << 20, true), (64 << 20, false)] {
            let index = Index::in_memory(config(!how.1)).unwrap();
            let all = DedupOptions::default().min_resemblance(0.8).min_containment(0.8);
            for (id, verdict) in stream::verdicts_with(&index, &all, how, &notices()) {
                assert!(verdict.is_kept(), "{scheme} {analyzer} {id}: {verdict:?}");
            }
        }
        let index = index_of(config(true), &notices());
        for linkage in [Linkage::Star, Linkage::Single] {
            assert_eq!(clustered(&index, linkage, 0.5), 0, "{scheme} {analyzer}");
        }
    }
}

#[test]
fn words_in_angle_brackets_are_words() {
    let notice = |by: &str| format!("<{by}> wrote this file and you can do what you want with it");
    let authors = ["phk at the old laboratory in Copenhagen", "sam of the new one in another town"];
    let texts = documents(&authors.map(notice));
    for analyzer in ["avtor(stop=2)", "avtor(language=none,stop=0,filter=0,stem=0)"] {
        let index = Index::in_memory(Config::new("pairs(n=100)", analyzer, true).unwrap()).unwrap();
        let near = DedupOptions::default().min_resemblance(0.8);
        let verdicts = stream::verdicts(&index, &near, &texts);
        assert!(verdicts.iter().all(|(_, verdict)| verdict.is_kept()), "{analyzer} {verdicts:?}");
    }
}

#[test]
fn a_withdrawn_notice_takes_no_other_with_it_and_its_copies_do_not_come_back() {
    for (scheme, analyzer) in SETTINGS {
        let index = index_of(Config::new(scheme, analyzer, true).unwrap(), &notices());
        let done = withdraw(&index, "0", &WithdrawOptions::default()).unwrap();
        assert_eq!(done.removed.len(), 1, "{scheme} {analyzer} {done:?}");
        let mut writer = index.writer(options()).unwrap();
        // The other notice may be added again, even under a new id, but a copy of the withdrawn
        // notice may not.
        writer.add(Document::new("again", format!("{} .", NOTICES[1]))).unwrap();
        let copy = format!("{} .", NOTICES[0].to_uppercase());
        let refused = writer.add(Document::new("copy", copy)).unwrap_err();
        assert_eq!(refused.reason(), Reason::Withdrawn, "{scheme} {analyzer}: {refused}");
    }
}

#[test]
fn passages_are_cut_only_where_all_words_are_the_same() {
    let own = |at: usize| {
        format!("{} {} {}", words(8 + at as u64, 30), NOTICES[at], words(at as u64, 30))
    };
    let texts = documents(&[own(0), own(1)]);
    for (scheme, analyzer) in SETTINGS {
        let index = Index::in_memory(Config::new(scheme, analyzer, true).unwrap()).unwrap();
        let cut = DedupOptions::default().exact(true).cut_passages(5u32);
        for (id, verdict) in stream::verdicts(&index, &cut, &texts) {
            assert_eq!(verdict.cut().len(), 0, "{scheme} {analyzer} {id}: {verdict:?}");
        }
    }
}

#[test]
fn near_copies_are_duplicates_by_all_of_their_words() {
    let text = words(1, 80);
    let near = text.replacen(text.split(' ').nth(40).unwrap(), "other", 1);
    let truth = resemblance(&runs(&text), &runs(&near));
    assert!(truth > 0.8);
    for (scheme, analyzer) in SETTINGS {
        let index = Index::in_memory(Config::new(scheme, analyzer, true).unwrap()).unwrap();
        let near = documents(&[text.clone(), near.clone()]);
        let options = DedupOptions::default().min_resemblance(0.8);
        let verdicts = stream::verdicts(&index, &options, &near);
        // If the analyzer omits no word, its runs are the runs of the scheme.
        let Verdict::Near { resemblance, evidence, .. } = &verdicts[1].1 else {
            panic!("{scheme} {analyzer}: {verdicts:?}")
        };
        assert!(evidence.exact && (resemblance - truth).abs() < 1e-9, "{scheme} {analyzer}");
    }
}

#[test]
fn where_words_are_left_out_and_no_texts_are_at_hand_nothing_is_decided() {
    let config = |store_text| Config::preset(Preset::Rewritten, store_text).unwrap();
    let near = DedupOptions::default().min_resemblance(0.8);
    let refusal = |error: Error| {
        assert_eq!(error.reason(), Reason::NoTexts);
        assert!(error.to_string().contains("leaves words out"), "{error}");
    };
    let bare = Index::in_memory(config(false)).unwrap();
    refusal(stream::refusal(&bare, &near, &[]));
    let whole = Index::in_memory(config(true)).unwrap();
    let against = [Searcher::new(bare.snapshot().unwrap())];
    refusal(stream::refusal(&whole, &near, &against));
    // Boilerplate known only by fingerprints cannot be removed from all words.
    let mut boilerplate = Boilerplate::new(whole.config()).unwrap();
    boilerplate.add_keys([1]);
    let searcher = Searcher::new(whole.snapshot().unwrap());
    let searcher = searcher.excluding(boilerplate, Stop::NEVER).unwrap();
    let options = ClusterOptions::default().thresholds(Thresholds::default().min_resemblance(0.5));
    for searcher in [&searcher, &against[0]] {
        refusal(clusters(searcher, &options).next().unwrap().unwrap_err());
    }
    // Equal texts can be recognized without the texts.
    let exact = DedupOptions::default().exact(true);
    let texts = documents(&[NOTICES[0].to_owned(), NOTICES[0].to_owned()]);
    let verdicts = stream::verdicts(&bare, &exact, &texts);
    assert!(matches!(verdicts[1].1, Verdict::Exact { .. }), "{verdicts:?}");
}

#[test]
fn documents_of_segments_are_duplicates_by_their_texts() {
    // Copies with up to 15 of 100 words replaced, in texts of 20 to 400 words.
    let version = |seed: u64| {
        let (family, version) = (seed / 5, seed % 5);
        let edited = |i: u64| mix64(seed << 32 ^ mix64(i)) % 100 < version * version;
        let own = |i: u64| if edited(i) { seed << 20 ^ i } else { family << 40 ^ i };
        let word = |i: u64| format!("w{}", mix64(own(i)) % 5000);
        (0..20 + mix64(family) % 380).map(word).collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = (0..125).map(version).collect();
    let documents = documents(&texts);
    let runs: Vec<_> = texts.iter().map(|text| runs(text)).collect();
    let least = 0.8;
    let mut kept: Vec<usize> = Vec::new();
    for (at, own) in runs.iter().enumerate() {
        if kept.iter().all(|&other| resemblance(own, &runs[other]) < least) {
            kept.push(at);
        }
    }
    for scheme in ["breaking(p=6)", "breaking(p=6,revised=0)"] {
        let config = Config::new(scheme, "words", true).unwrap();
        let index = Index::in_memory(config.clone()).unwrap();
        let near = DedupOptions::default().min_resemblance(least);
        let verdicts = stream::verdicts(&index, &near, &documents);
        let found = verdicts.iter().filter(|(_, verdict)| verdict.is_kept());
        let found: Vec<usize> = found.map(|(id, _)| id.parse().unwrap()).collect();
        assert_eq!(found, kept, "{scheme}");
        let index = index_of(config, &documents);
        let dropped = clustered(&index, Linkage::Star, least);
        assert_eq!(texts.len() - dropped, kept.len(), "{scheme}");
    }
    assert!(kept.len() < 100, "{}", kept.len());
}
