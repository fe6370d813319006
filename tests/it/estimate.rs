//! Thresholds of estimated resemblance against brute force: every pair is estimated.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use cento::hash::mix64;
use cento::index::{Config, Document, Index, WriterOptions};
use cento::join::Thresholds;
use cento::join::cluster::{ClusterOptions, Linkage, Prefer, cluster};
use cento::join::dedup::{DedupOptions, Verdict};
use cento::join::pairs::{Pair, PairOptions, pairs};
use cento::join::pairwise::{PairwiseOptions, SymmetricPair, most_similar};
use cento::search::{Boilerplate, Query, Searcher, SimilarTo};
use cento::tantivy::collector::DocSetCollector;
use cento::tantivy::directory::RamDirectory;
use cento::{Error, Estimate, HitEstimate};

use crate::common::stream;

const SCHEMES: [&str; 4] = ["winnow(k=3,w=6)", "winnow(k=5,w=10)", "mod(k=3,p=4)", "kgram(k=3)"];

/// In families of six versions, each with other edits; a few words to several hundred.
fn texts() -> Vec<(String, String)> {
    let text = |seed: u64| {
        let (family, version) = (seed / 6, seed % 6);
        let word = |i: u64| {
            let edit = mix64(seed << 32 ^ mix64(i / (3 + family % 5)));
            let own = edit % 40 < version * 2;
            format!("w{}", mix64((if own { seed } else { family }) << 20 ^ i) % 3000)
        };
        (0..20 + mix64(family) % 400).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..60).map(|seed| (format!("doc{seed:02}"), text(seed))).collect()
}

fn config(scheme: &str) -> Config {
    Config::new(scheme, "words", true).unwrap()
}

/// An index of all texts, in several segments.
fn index(scheme: &str) -> Searcher {
    let index = Index::create_in(RamDirectory::create(), "ram", config(scheme)).unwrap();
    let options = WriterOptions { merge: false, ..WriterOptions::default() };
    let mut writer = index.writer(options).unwrap();
    for (at, (id, text)) in texts().iter().enumerate() {
        writer.add(Document::new(id, text)).unwrap();
        if at % 25 == 24 {
            writer.commit().unwrap();
        }
    }
    writer.finish().unwrap();
    Searcher::new(index.snapshot().unwrap())
}

/// The estimate of two texts, from signatures that are made here.
fn estimate(scheme: &str, a: &str, b: &str) -> Estimate {
    let config = config(scheme);
    let [a, b] = [a, b].map(|text| config.sign(text).unwrap());
    let estimator = config.scheme.estimator().unwrap();
    estimator.compare((a.0, &a.1), (b.0, &b.1))
}

fn shared(scheme: &str, a: &str, b: &str) -> bool {
    let keys = |text| -> BTreeSet<u64> {
        config(scheme).sign(text).unwrap().1.iter().map(|f| f.key).collect()
    };
    !keys(a).is_disjoint(&keys(b))
}

#[test]
fn a_search_finds_exactly_the_documents_of_which_enough_is_estimated() {
    for scheme in SCHEMES {
        let (searcher, texts) = (index(scheme), texts());
        for (own, text) in texts.iter().step_by(7) {
            for least in [0.2, 0.5, 0.8, 0.95, 1.0] {
                let query = Query {
                    min_estimated_resemblance: least,
                    limit: usize::MAX,
                    ..Query::text(text.as_str())
                };
                let hits = searcher.search(&query).unwrap().hits;
                let found: BTreeSet<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
                let mut expected = BTreeSet::new();
                for (id, other) in &texts {
                    let estimate = estimate(scheme, text, other);
                    if estimate.resemblance >= least && shared(scheme, text, other) {
                        expected.insert(id.as_str());
                        let hit = hits.iter().find(|hit| hit.id == *id);
                        let shown = hit.and_then(|hit| hit.estimate);
                        assert_eq!(shown, Some(HitEstimate::from(estimate)), "{scheme} {own} {id}");
                    }
                }
                assert_eq!(found, expected, "{scheme} {own} {least}");
                let one = Query { limit: 1, ..query.clone() };
                assert_eq!(searcher.search(&one).unwrap().hits[..], hits[..1]);
                let similar = SimilarTo::new(&searcher, &query).unwrap();
                let tantivy = searcher.snapshot().tantivy();
                let matches = tantivy.search(&similar, &DocSetCollector).unwrap();
                assert_eq!(matches.len(), expected.len());
            }
        }
    }
}

fn pair_ids(
    a: &Searcher,
    b: Option<&Searcher>,
    scheme: &str,
    thresholds: Thresholds,
) -> BTreeSet<(String, String)> {
    let options = PairOptions { thresholds, estimates: true, ..PairOptions::default() };
    let (texts, stop) = (texts(), AtomicBool::new(false));
    let text = |id: &str| &texts.iter().find(|text| text.0 == id).unwrap().1;
    let mut found = BTreeSet::new();
    let other = b.unwrap_or(a);
    pairs(a, b, &options, 0, &stop, &mut |_, pairs| {
        for pair in pairs {
            let pair = pair.report(a.snapshot(), other.snapshot()).unwrap();
            let expected = estimate(scheme, text(&pair.a), text(&pair.b));
            assert_eq!(pair.estimate, Some(expected), "{} {}", pair.a, pair.b);
            // Of one index the document that is stored first comes first.
            let is_swapped = b.is_none() && pair.a > pair.b;
            let ids = if is_swapped { (pair.b, pair.a) } else { (pair.a, pair.b) };
            assert!(found.insert(ids));
        }
        Ok(())
    })
    .unwrap();
    found
}

#[test]
fn pairs_and_clusters_are_those_of_which_enough_is_estimated() {
    for scheme in SCHEMES {
        let (searcher, texts, stop) = (index(scheme), texts(), AtomicBool::new(false));
        for least in [0.3, 0.7, 0.9] {
            let thresholds = Thresholds { estimated_resemblance: least, ..Thresholds::default() };
            let meets = |a: &str, b: &str| {
                estimate(scheme, a, b).resemblance >= least && shared(scheme, a, b)
            };
            let (mut expected, mut both) = (BTreeSet::new(), BTreeSet::new());
            for (a_id, a) in &texts {
                for (b_id, _) in texts.iter().filter(|(_, b)| meets(a, b)) {
                    both.insert((a_id.clone(), b_id.clone()));
                    if a_id < b_id {
                        expected.insert((a_id.clone(), b_id.clone()));
                    }
                }
            }
            assert_eq!(pair_ids(&searcher, None, scheme, thresholds), expected);
            assert_eq!(pair_ids(&searcher, Some(&searcher), scheme, thresholds), both);
            let options = ClusterOptions {
                thresholds,
                linkage: Linkage::Star,
                prefer: Prefer::Oldest,
                max_df: None,
                threads: 2,
            };
            let clusters = cluster(&searcher, &options, &stop, &mut |_, _| {}).unwrap();
            for cluster in &clusters {
                for member in &cluster.members {
                    let text = |id: &str| &texts.iter().find(|text| text.0 == id).unwrap().1;
                    let of = text(&cluster.representative);
                    let expected = estimate(scheme, of, text(&member.id));
                    assert_eq!(member.estimate, Some(expected), "{scheme} {}", member.id);
                }
            }
            let members: BTreeSet<(String, String)> = clusters
                .into_iter()
                .flat_map(|cluster| {
                    let of = cluster.representative;
                    cluster.members.into_iter().map(move |member| (of.clone(), member.id))
                })
                .collect();
            // The oldest represents, whoever is similar to it and in no cluster yet joins it.
            let (mut taken, mut stars) = (BTreeSet::new(), BTreeSet::new());
            for (a, _) in &texts {
                if !taken.insert(a.clone()) {
                    continue;
                }
                for (b, _) in &texts {
                    if both.contains(&(a.clone(), b.clone())) && taken.insert(b.clone()) {
                        stars.insert((a.clone(), b.clone()));
                    }
                }
            }
            assert_eq!(members, stars, "{scheme} {least}");
        }
    }
}

#[test]
fn pairwise_shows_the_pairs_of_which_enough_is_estimated() {
    for scheme in SCHEMES {
        let (searcher, stop) = (index(scheme), AtomicBool::new(false));
        let of = |estimated_resemblance_min| {
            let options = PairwiseOptions {
                limit: usize::MAX,
                estimated_resemblance_min,
                estimates: true,
                ..PairwiseOptions::default()
            };
            most_similar(&searcher, &options, &stop).unwrap().pairs
        };
        let all = of(0.0);
        for least in [0.3, 0.7, 1.0] {
            let enough = |pair: &SymmetricPair| pair.pair.estimate.unwrap().resemblance >= least;
            let expected: Vec<_> = all.iter().filter(|pair| enough(pair)).cloned().collect();
            assert!(!expected.is_empty() && expected.len() < all.len(), "{scheme} {least}");
            assert_eq!(of(least), expected, "{scheme} {least}");
        }
    }
}

#[test]
fn pairs_have_estimates_if_they_are_asked_for() {
    let (searcher, stop) = (index(SCHEMES[0]), AtomicBool::new(false));
    let all = |options: &PairOptions| {
        let mut all = Vec::new();
        pairs(&searcher, None, options, 0, &stop, &mut |_, found| {
            all.extend(found);
            Ok(())
        })
        .unwrap();
        all
    };
    let shown = all(&PairOptions { estimates: true, ..PairOptions::default() });
    assert!(!shown.is_empty() && shown.iter().all(|pair| pair.estimate.is_some()));
    let plain = all(&PairOptions::default());
    assert!(plain.iter().all(|pair| pair.estimate.is_none()));
    let ids = |pairs: &[Pair]| pairs.iter().map(|pair| (pair.a, pair.b)).collect::<Vec<_>>();
    assert_eq!(ids(&plain), ids(&shown));
    // A threshold implies them.
    let thresholds = Thresholds { estimated_resemblance: 0.1, ..Thresholds::default() };
    let enough = all(&PairOptions { thresholds, ..PairOptions::default() });
    assert!(!enough.is_empty() && enough.iter().all(|pair| pair.estimate.is_some()));
    let similar = |estimates| {
        let options = PairwiseOptions { estimates, ..PairwiseOptions::default() };
        most_similar(&searcher, &options, &stop).unwrap().pairs
    };
    assert!(similar(true).iter().all(|pair| pair.pair.estimate.is_some()));
    assert!(similar(false).iter().all(|pair| pair.pair.estimate.is_none()));
}

/// Who is dropped for whom; the index is committed after so many documents.
fn dropped(scheme: &str, least: f64, commit_at: usize) -> Vec<(String, String)> {
    let index = Index::create_in(RamDirectory::create(), "ram", config(scheme)).unwrap();
    let options = DedupOptions { near_estimated: Some(least), ..stream::exact() };
    let documents: Vec<Document> =
        texts().iter().map(|(id, text)| Document::new(id, text)).collect();
    let mut dropped = Vec::new();
    for part in documents.chunks(commit_at) {
        for (id, verdict) in stream::verdicts(&index, &options, part) {
            if let Verdict::Near { of, .. } | Verdict::Exact { of, .. } = verdict {
                dropped.push((id, of));
            }
        }
    }
    dropped
}

#[test]
fn duplicates_are_those_of_which_enough_is_estimated_wherever_they_are() {
    for scheme in SCHEMES {
        for least in [0.4, 0.8] {
            let (mut kept, mut expected): (Vec<(String, String)>, Vec<String>) = Default::default();
            for (id, text) in texts() {
                let is_near = |(_, other): &&(String, String)| {
                    *other == text
                        || shared(scheme, &text, other)
                            && estimate(scheme, &text, other).resemblance >= least
                };
                match kept.iter().find(is_near) {
                    Some(_) => expected.push(id),
                    None => kept.push((id, text)),
                }
            }
            let all_recent = dropped(scheme, least, usize::MAX);
            let ids: Vec<String> = all_recent.iter().map(|dropped| dropped.0.clone()).collect();
            assert_eq!(ids, expected, "{scheme} {least}");
            assert_eq!(all_recent, dropped(scheme, least, 7), "{scheme} {least}");
        }
    }
}

#[test]
fn a_comparison_has_the_estimate_if_the_scheme_can_say() {
    let texts = texts();
    let (a, b) = (&texts[0].1, &texts[3].1);
    let estimate_of = |scheme| {
        let Config { scheme, analyzer, .. } = config(scheme);
        cento::compare(&scheme, &analyzer, a, b).unwrap().estimate
    };
    for scheme in SCHEMES {
        assert_eq!(estimate_of(scheme), Some(estimate(scheme, a, b)));
    }
    assert_eq!(estimate_of("every(k=3,l=4)"), None);
}

#[test]
fn who_asks_for_an_estimate_that_there_is_not_is_told() {
    let check = |searcher: &Searcher, expected: &str| {
        let query = Query { min_estimated_resemblance: 0.5, ..Query::text("a b c d e f") };
        let error = searcher.search(&query).unwrap_err();
        assert!(matches!(error, Error::Query { .. }));
        assert!(error.to_string().contains(expected), "{error}");
        let thresholds = Thresholds { estimated_resemblance: 0.5, ..Thresholds::default() };
        let options = PairOptions { thresholds, ..PairOptions::default() };
        let stop = AtomicBool::new(false);
        let error = pairs(searcher, None, &options, 0, &stop, &mut |_, _| Ok(())).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(&index("every(k=3,l=4)"), "every(k=3,l=4) does not estimate");
    let searcher = index("winnow(k=3,w=6)");
    let mut boilerplate = Boilerplate::new(searcher.snapshot().config()).unwrap();
    boilerplate.add_keys([1, 2, 3]);
    let searcher = searcher.without(boilerplate).unwrap();
    check(&searcher, "boilerplate");
    let query = Query { estimates: true, ..Query::text(texts()[0].1.as_str()) };
    let hits = searcher.search(&query).unwrap().hits;
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit.estimate.is_none()));
}

#[test]
fn signatures_that_cannot_have_enough_are_not_read() {
    // Of every candidate the signature was read, however little it shares: a damaged page shows it.
    let dir = tempfile::tempdir().unwrap();
    let query: String = (0..60).map(|word| format!("q{word} ")).collect();
    let rest: String = (0..20_000).map(|word| format!("r{word} ")).collect();
    let index = Index::create(dir.path(), config("winnow(k=5,w=10)")).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add(Document::new("far", query.clone() + &rest)).unwrap();
    writer.add(Document::new("near", query.clone() + "and more")).unwrap();
    writer.finish().unwrap();
    let files = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let file = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "sig"));
    let file = file.unwrap();
    let whole = std::fs::read(&file).unwrap();
    let found = |min_estimated_resemblance: f64| {
        let query = Query { min_estimated_resemblance, ..Query::text(query.as_str()) };
        let searcher = Searcher::new(Index::open(dir.path())?.snapshot()?);
        let hits = searcher.search(&Query { estimates: true, ..query })?.hits;
        Ok::<_, Error>(hits.into_iter().map(|hit| hit.id).collect::<Vec<_>>())
    };
    assert_eq!((found(0.0).unwrap().len(), found(0.5).unwrap()), (2, vec!["near".to_owned()]));
    let mut unread = 0;
    for at in (0..whole.len()).step_by(2048) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&file, &bytes).unwrap();
        unread += usize::from(found(0.0).is_err() && found(0.5).is_ok());
    }
    assert!(unread > 0, "the signature of `far` is on no page of its own");
}
