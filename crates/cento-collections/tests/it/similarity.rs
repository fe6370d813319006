//! Thresholds apply to texts: every conclusion is compared with the runs of words in the texts.

use std::collections::{BTreeMap, BTreeSet};

use cento::Stop;
use cento::hash::mix64;
use cento::index::{Config, Document, Index, WriterOptions};
use cento::search::{Boilerplate, Query, Searcher, SimilarTo};
use cento::tantivy::collector::DocSetCollector;
use cento::tantivy::directory::RamDirectory;
use cento::{Error, Similarity};
use cento_collections::Thresholds;
use cento_collections::cluster::{ClusterOptions, clusters};
use cento_collections::dedup::{DedupOptions, Evidence, Verdict};
use cento_collections::pairs::{PairOptions, PairReport, Pairs, pairs};

use crate::common::stream;

/// Schemes of runs of words, with the length of a run.
const SCHEMES: [(&str, usize); 5] = [
    ("winnow(k=3,w=6)", 3),
    ("winnow(k=5,w=10)", 5),
    ("mod(k=3,p=4)", 3),
    ("kgram(k=3)", 3),
    ("minhash(k=3,b=16,r=2)", 3),
];

/// Texts of a few to several hundred words, in families of six versions with different edits.
fn texts() -> Vec<(String, String)> {
    let text = |seed: u64| {
        let (family, version) = (seed / 6, seed % 6);
        let word = |i: u64| {
            let edit = mix64(seed << 32 ^ mix64(i / (3 + family % 5)));
            let own = edit % 40 < version * 2;
            format!("w{}", mix64((if own { seed } else { family }) << 20 ^ i) % 3000)
        };
        let len = if family.is_multiple_of(3) { 8 } else { 20 };
        (0..len + mix64(family) % 400).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..90).map(|seed| (format!("doc{seed:02}"), text(seed))).collect()
}

/// Notices of a few words that share a stock phrase and are about different things.
fn notices() -> Vec<(String, String)> {
    let notice = |seed: u64| {
        let word = |i: u64| format!("n{}", mix64(seed << 8 ^ i) % 900);
        let own: Vec<String> = (0..3 + mix64(seed) % 8).map(word).collect();
        format!("{} vs 25 cts prior Pay on the last of the month {}", own.join(" "), word(40))
    };
    (0..60).map(|seed| (format!("notice{seed:02}"), notice(seed))).collect()
}

fn config(scheme: &str, store_text: bool) -> Config {
    Config::new(scheme, "words", store_text).unwrap()
}

/// An index of texts, in several segments.
fn index(scheme: &str, store_text: bool, texts: &[(String, String)]) -> Searcher {
    let config = config(scheme, store_text);
    let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
    let options = WriterOptions::default().merge(false);
    let mut writer = index.writer(options).unwrap();
    for (at, (id, text)) in texts.iter().enumerate() {
        writer.add(Document::new(id, text)).unwrap();
        if at % 25 == 24 {
            writer.commit().unwrap();
        }
    }
    writer.finish().unwrap();
    Searcher::new(index.snapshot().unwrap())
}

/// The runs of `k` words of a text, by definition.
fn runs(text: &str, k: usize) -> BTreeSet<Vec<&str>> {
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(k.min(words.len())).map(<[_]>::to_vec).collect()
}

/// The resemblance, and the share of the first text that is in the second.
fn truth(a: &str, b: &str, k: usize) -> (f64, f64) {
    let (a, b) = (runs(a, k), runs(b, k));
    let shared = a.intersection(&b).count() as f64;
    (shared / a.union(&b).count() as f64, shared / a.len() as f64)
}

fn all_pairs(searcher: &Searcher, against: Option<&Searcher>, least: f64) -> Vec<PairReport> {
    let thresholds = Thresholds::default().min_resemblance(least);
    let found = pairs(searcher, &PairOptions::default().thresholds(thresholds));
    let found = against.into_iter().fold(found, Pairs::against);
    let other = against.unwrap_or(searcher).snapshot();
    found.map(|pair| pair.unwrap().report(searcher.snapshot(), other).unwrap()).collect()
}

/// Searches for each text with a threshold on texts. Documents clearly above the threshold must be
/// found, and documents clearly below it must not.
fn assert_hits(
    searcher: &Searcher,
    texts: &[(String, String)],
    (k, least, room): (usize, f64, f64),
) {
    for (own, text) in texts.iter().step_by(7) {
        for is_contained in [false, true] {
            let (min_containment, min_resemblance) =
                if is_contained { (least, 0.0) } else { (0.0, least) };
            let query = Query::text(text.as_str())
                .min_containment(min_containment)
                .min_resemblance(min_resemblance)
                .limit(usize::MAX);
            let hits = searcher.search(&query).unwrap().hits;
            let found: BTreeSet<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
            for (id, other) in texts {
                let truth = truth(text, other, k);
                let share = if is_contained { truth.1 } else { truth.0 };
                let name = format!("{own} {id}: {share} for {least}");
                assert!(share >= least - room || !found.contains(id.as_str()), "{name}");
                assert!(share < least + 0.1 || found.contains(id.as_str()), "{name} is missed");
                if let Some(hit) = hits.iter().find(|hit| hit.id == *id && hit.similarity.exact) {
                    assert!((hit.similarity.resemblance - truth.0).abs() < 1e-9, "{name}");
                    assert!((hit.similarity.containment_of_a - truth.1).abs() < 1e-9, "{name}");
                }
            }
            let one = query.clone().limit(1);
            assert_eq!(searcher.search(&one).unwrap().hits[..], hits[..1]);
            let similar = SimilarTo::new(searcher, &query).unwrap();
            let tantivy = searcher.snapshot().tantivy();
            assert_eq!(tantivy.search(&similar, &DocSetCollector).unwrap().len(), hits.len());
        }
    }
}

#[test]
fn a_search_finds_the_documents_whose_texts_meet_the_threshold() {
    for (scheme, k) in &SCHEMES[..4] {
        for texts in [texts(), notices()] {
            for least in [0.3, 0.5, 0.8, 0.95] {
                assert_hits(&index(scheme, true, &texts), &texts, (*k, least, 0.1));
            }
        }
    }
}

#[test]
fn pairs_are_those_whose_texts_are_alike() {
    for (scheme, k) in SCHEMES {
        for texts in [texts(), notices()] {
            let searcher = index(scheme, true, &texts);
            let by_id: BTreeMap<&str, &str> =
                texts.iter().map(|(id, text)| (&id[..], &text[..])).collect();
            for least in [0.3, 0.7, 0.9] {
                let (mut found, mut expected) = (BTreeSet::new(), BTreeSet::new());
                for pair in all_pairs(&searcher, None, least) {
                    let truth = truth(by_id[&pair.a[..]], by_id[&pair.b[..]], k);
                    assert!(pair.similarity.exact, "{scheme} {pair:?}");
                    assert!((pair.similarity.resemblance - truth.0).abs() < 1e-9, "{pair:?}");
                    assert!((pair.similarity.containment_of_a - truth.1).abs() < 1e-9, "{pair:?}");
                    found.insert((pair.a.clone().min(pair.b.clone()), pair.a.max(pair.b)));
                }
                for (a, text) in &texts {
                    let others = texts.iter().filter(|(b, _)| a < b);
                    let alike = others.filter(|(_, other)| truth(text, other, k).0 >= least);
                    expected.extend(alike.map(|(b, _)| (a.clone(), b.clone())));
                }
                // Bands of MinHash find approximate candidates.
                match scheme.starts_with("minhash") {
                    true => assert!(found.is_subset(&expected), "{scheme} {least}"),
                    false => assert_eq!(found, expected, "{scheme} {least}"),
                }
                // A join of two indexes finds a pair from both sides, and a document with itself.
                let both = all_pairs(&searcher, Some(&searcher), least);
                let ids: BTreeSet<(String, String)> =
                    both.iter().map(|pair| (pair.a.clone(), pair.b.clone())).collect();
                for (a, b) in &found {
                    assert!(ids.contains(&(a.clone(), b.clone())), "{scheme} {a} {b}");
                    assert!(ids.contains(&(b.clone(), a.clone())), "{scheme} {b} {a}");
                }
            }
        }
    }
}

#[test]
fn members_of_a_cluster_are_like_its_representative() {
    for (scheme, k) in SCHEMES {
        for texts in [texts(), notices()] {
            let searcher = index(scheme, true, &texts);
            let options =
                ClusterOptions::default().thresholds(Thresholds::default().min_resemblance(0.7));
            let text = |id: &str| &texts.iter().find(|text| text.0 == id).unwrap().1;
            let mut members = BTreeSet::new();
            for cluster in clusters(&searcher, &options).map(Result::unwrap) {
                for member in &cluster.members {
                    let truth = truth(text(&cluster.representative), text(&member.id), k);
                    assert!(truth.0 >= 0.7 && member.similarity.exact, "{scheme} {member:?}");
                    assert!((member.similarity.resemblance - truth.0).abs() < 1e-9);
                    members.insert((cluster.representative.clone(), member.id.clone()));
                }
            }
            if scheme.starts_with("minhash") {
                continue;
            }
            // The oldest document represents a cluster, and similar free documents join.
            let (mut taken, mut stars) = (BTreeSet::new(), BTreeSet::new());
            for (a, text) in &texts {
                if !taken.insert(a) {
                    continue;
                }
                for (b, other) in &texts {
                    if truth(text, other, k).0 >= 0.7 && taken.insert(b) {
                        stars.insert((a.clone(), b.clone()));
                    }
                }
            }
            assert_eq!(members, stars, "{scheme}");
        }
    }
}

#[test]
fn without_texts_nothing_is_a_pair_on_thin_evidence() {
    for (scheme, k) in &SCHEMES[..4] {
        let texts = [texts(), notices()].concat();
        let searcher = index(scheme, false, &texts);
        let text = |id: &str| &texts.iter().find(|text| text.0 == id).unwrap().1;
        for least in [0.5, 0.8, 0.9] {
            let found = all_pairs(&searcher, None, least);
            for pair in &found {
                let truth = truth(text(&pair.a), text(&pair.b), *k).0;
                assert!(truth >= least - 0.3, "{scheme} {least}: {truth} {pair:?}");
                let Similarity { exact, resemblance, .. } = pair.similarity;
                assert!(!exact || (resemblance - truth).abs() < 1e-9, "{pair:?}");
            }
            assert!(!found.is_empty(), "{scheme} {least}");
        }
    }
}

#[test]
fn with_boilerplate_pairs_are_alike_in_the_rest_of_their_texts() {
    let sheet: Vec<String> = (0..40).map(|n| format!("sheet{n}")).collect();
    let sheet = sheet.join(" ");
    let texts: Vec<(String, String)> =
        texts().into_iter().map(|(id, text)| (id, format!("{sheet} {text}"))).collect();
    for (scheme, k) in &SCHEMES[..4] {
        let searcher = index(scheme, true, &texts);
        let mut boilerplate = Boilerplate::new(searcher.snapshot().config()).unwrap();
        boilerplate.add_text(&sheet, Stop::NEVER).unwrap();
        let searcher = searcher.excluding(boilerplate, Stop::NEVER).unwrap();
        let of_sheet = runs(&sheet, *k);
        let left: Vec<BTreeSet<Vec<&str>>> = texts
            .iter()
            .map(|(_, text)| runs(text, *k).difference(&of_sheet).cloned().collect())
            .collect();
        for least in [0.3, 0.6] {
            let found = all_pairs(&searcher, None, least);
            let mut missed = 0;
            for (at, (a, _)) in texts.iter().enumerate() {
                for (other, (b, _)) in texts.iter().enumerate().skip(at + 1) {
                    let shared = left[at].intersection(&left[other]).count() as f64;
                    let truth = shared / left[at].union(&left[other]).count() as f64;
                    let names = [a.as_str(), b.as_str()];
                    let pair = found
                        .iter()
                        .find(|pair| names == [&pair.a, &pair.b] || names == [&pair.b, &pair.a]);
                    match pair {
                        Some(pair) => {
                            assert!(pair.similarity.exact && truth >= least, "{scheme} {pair:?}");
                            assert!((pair.similarity.resemblance - truth).abs() < 1e-9, "{pair:?}");
                        }
                        None => missed += u32::from(truth >= least),
                    }
                }
            }
            assert_eq!(missed, 0, "{scheme} {least}");
            assert!(!found.is_empty(), "{scheme} {least}");
        }
    }
}

#[test]
fn the_most_similar_pairs_are_those_whose_texts_are_alike() {
    for (scheme, k) in &SCHEMES[..4] {
        let texts = texts();
        let searcher = index(scheme, true, &texts);
        let of = |min_resemblance, min_similarity| {
            let thresholds = Thresholds::default().min_resemblance(min_resemblance);
            let options = PairOptions::default().thresholds(thresholds).limit(usize::MAX);
            let options = options.min_similarity(min_similarity);
            pairs(&searcher, &options).most_similar().unwrap().pairs
        };
        let all = of(0.0, 0.0);
        let text = |id: &str| &texts.iter().find(|text| text.0 == id).unwrap().1;
        for pair in &all {
            let truth = truth(text(&pair.pair.a), text(&pair.pair.b), *k).0;
            assert!((pair.symmetric - 2.0 * truth / (1.0 + truth)).abs() < 1e-9, "{pair:?}");
        }
        for least in [0.3, 0.7, 1.0] {
            let enough = all.iter().filter(|pair| pair.pair.similarity.resemblance >= least);
            let expected: Vec<_> = enough.cloned().collect();
            assert!(!expected.is_empty() && expected.len() < all.len(), "{scheme} {least}");
            assert_eq!(of(least, 0.0), expected, "{scheme} {least}");
            assert_eq!(of(0.0, 2.0 * least / (1.0 + least)), expected, "{scheme} {least}");
        }
    }
}

/// The verdict on each text. The index is committed after this number of texts.
fn verdicts(
    scheme: &str,
    store_text: bool,
    options: &DedupOptions,
    by: (&[(String, String)], usize),
) -> Vec<(String, Verdict)> {
    verdicts_with(scheme, store_text, options, (64 << 20, false), by)
}

/// Like [`verdicts`], with this memory, and with a temporary index if requested.
fn verdicts_with(
    scheme: &str,
    store_text: bool,
    options: &DedupOptions,
    how: (usize, bool),
    (texts, commit_at): (&[(String, String)], usize),
) -> Vec<(String, Verdict)> {
    let index =
        Index::create_in(RamDirectory::create(), "ram", config(scheme, store_text)).unwrap();
    let documents: Vec<Document> = texts.iter().map(|(id, text)| Document::new(id, text)).collect();
    let parts = documents.chunks(commit_at);
    parts.flat_map(|part| stream::verdicts_with(&index, options, how, part)).collect()
}

#[test]
fn duplicates_are_those_whose_texts_are_alike_wherever_they_are() {
    for (scheme, k) in &SCHEMES[..4] {
        for (texts, least) in [(texts(), 0.4), (texts(), 0.8), (notices(), 0.5), (notices(), 0.8)] {
            let mut kept: Vec<&(String, String)> = Vec::new();
            let mut expected = Vec::new();
            for one in &texts {
                let alike = kept.iter().map(|other| truth(&one.1, &other.1, *k).0);
                let best = alike.fold(0.0, f64::max);
                let is_dropped = best >= least;
                if !is_dropped {
                    kept.push(one);
                }
                expected.push((one.0.clone(), is_dropped));
            }
            let near = DedupOptions::default().min_resemblance(least);
            let all = |verdicts: &[(String, Verdict)]| -> Vec<(String, bool)> {
                verdicts.iter().map(|(id, verdict)| (id.clone(), !verdict.is_kept())).collect()
            };
            let stored = verdicts(scheme, true, &near, (&texts, usize::MAX));
            assert_eq!(all(&stored), expected, "{scheme} {least}");
            for (_, verdict) in &stored {
                if let Verdict::Near { evidence: Evidence { exact, .. }, .. } = verdict {
                    assert!(exact);
                }
            }
            // Neither commits nor the storage of texts change a verdict.
            assert_eq!(verdicts(scheme, true, &near, (&texts, 7)), stored);
            for memory_bytes in [64 << 20, 1 << 16] {
                let (how, by) = ((memory_bytes, true), (&texts[..], usize::MAX));
                assert_eq!(verdicts_with(scheme, false, &near, how, by), stored);
            }
        }
    }
}

#[test]
fn without_texts_nothing_is_dropped_on_thin_evidence() {
    for (scheme, k) in &SCHEMES[..4] {
        let texts = [texts(), notices()].concat();
        let text = |id: &str| &texts.iter().find(|text| text.0 == id).unwrap().1;
        for least in [0.5, 0.8] {
            let near = DedupOptions::default().min_resemblance(least);
            let all = verdicts(scheme, false, &near, (&texts, usize::MAX));
            assert_eq!(verdicts(scheme, false, &near, (&texts, 7)), all, "{scheme}");
            let dropped: Vec<_> = all
                .iter()
                .filter_map(|(id, verdict)| match verdict {
                    Verdict::Near { of, resemblance, evidence, .. } => {
                        Some((truth(text(id), text(of), *k).0, *resemblance, evidence.exact))
                    }
                    _ => None,
                })
                .collect();
            assert!(!dropped.is_empty());
            for (truth, resemblance, exact) in dropped {
                assert!(truth >= least - 0.3, "{scheme} {least}: {truth}");
                assert!(!exact || (resemblance - truth).abs() < 1e-9, "{scheme}");
            }
        }
    }
}

#[test]
fn notices_that_share_a_stock_phrase_are_no_duplicates() {
    // Once the second notice was dropped, because the phrase had the only fingerprint of the
    // notices.
    let texts = [
        ("a", "Qtly div 25 cts vs 25 cts prior Pay April 30 Record April 16 Reuter"),
        ("b", "Semi-annual 30 cts vs 25 cts prior Pay June 30 Record June 15 Reuter"),
    ]
    .map(|(id, text)| (id.to_owned(), text.to_owned()));
    let near = DedupOptions::default().min_resemblance(0.8);
    for store_text in [true, false] {
        let all = verdicts("winnow(k=5,w=10)", store_text, &near, (&texts, usize::MAX));
        let kept = all.iter().filter(|(_, verdict)| verdict.is_kept());
        assert_eq!(kept.count(), 2, "{all:?}");
    }
}

#[test]
fn a_story_with_a_corrected_word_is_a_duplicate_however_many_fingerprints_differ() {
    // Two of 60 words are corrected, so 50 of 66 runs are equal, and fewer than 8 in 10
    // fingerprints.
    let word = |i: u64| format!("w{}", mix64(i) % 5000);
    for seed in 0..30u64 {
        let story: Vec<String> = (0..120).map(|i| word(seed << 20 ^ i)).collect();
        let mut corrected = story.clone();
        corrected[30 + seed as usize] = "corrected".into();
        let texts = [("a".to_owned(), story.join(" ")), ("b".to_owned(), corrected.join(" "))];
        assert!(truth(&texts[0].1, &texts[1].1, 5).0 > 0.9);
        let near = DedupOptions::default().min_resemblance(0.9);
        let all = verdicts("winnow(k=5,w=10)", true, &near, (&texts, usize::MAX));
        assert!(matches!(all[1].1, Verdict::Near { .. }), "{seed}: {:?}", all[1]);
    }
}

#[test]
fn a_text_without_a_token_is_not_compared() {
    // Once a text without words shared nothing with any text, without a reason.
    for (spec, empty, why) in [
        ("words", "\u{ad} \n", "it has no words"),
        ("code(language=java)", "// a comment\n", "without comments and layout nothing is left"),
    ] {
        let config = Config::new("winnow(k=5,w=10)", spec, true).unwrap();
        let text = "class A { int b; }";
        for (a, b, place) in [(empty, text, "first"), (text, empty, "second")] {
            let error = cento::compare(&config.scheme, &config.analyzer, a, b).unwrap_err();
            let said = format!("the {place} text: there is nothing to compare: {why}");
            assert!(error.to_string().starts_with(&said), "{error}");
        }
    }
}

#[test]
fn a_comparison_of_two_texts_is_exact_unless_it_is_of_sketches() {
    let texts = texts();
    let (a, b) = (&texts[0].1, &texts[3].1);
    let similarity = |scheme: &str| {
        let Config { scheme, analyzer, .. } = config(scheme, true);
        cento::compare(&scheme, &analyzer, a, b).unwrap().similarity
    };
    for (scheme, k) in SCHEMES {
        let (found, truth) = (similarity(scheme), truth(a, b, k));
        assert!(found.exact && (found.resemblance - truth.0).abs() < 1e-9, "{scheme}");
        assert_eq!(found.standard_error, Some(0.0));
    }
    // Texts whose fingerprints are segments are compared by runs, whatever their length.
    let long = |family: usize| {
        let texts = texts.iter().skip(family).step_by(6).take(5);
        texts.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" ")
    };
    let (a, b) = (&long(0), &long(3));
    let similarity = |scheme: &str| {
        let Config { scheme, analyzer, .. } = config(scheme, true);
        cento::compare(&scheme, &analyzer, a, b).unwrap().similarity
    };
    for scheme in ["breaking(p=6)", "se"] {
        let (found, truth) = (similarity(scheme), truth(a, b, 5));
        assert!(found.exact && (found.resemblance - truth.0).abs() < 1e-9, "{scheme}");
    }
    let found = similarity("lsh(b=16,r=8,w=50)");
    assert!(found.of_sketches && !found.exact && found.standard_error.is_none());
}

#[test]
fn the_runs_of_texts_decide_about_hits_whose_fingerprints_are_segments() {
    let texts = texts();
    let searcher = index("breaking(p=6)", true, &texts);
    let least = 0.5;
    let mut found = 0;
    for (id, text) in &texts {
        let query = Query::text(text).min_resemblance(least).limit(1000usize);
        for hit in searcher.search(&query).unwrap().hits {
            let other = &texts.iter().find(|(other, _)| *other == hit.id).unwrap().1;
            let truth = truth(text, other, 5).0;
            assert!(hit.similarity.exact && truth >= least, "{id} {hit:?}");
            assert!((hit.similarity.resemblance - truth).abs() < 1e-9, "{id} {hit:?}");
            found += usize::from(*id != hit.id);
        }
    }
    assert!(found > 0);
}

#[test]
fn every_hit_says_how_well_its_similarity_is_known() {
    let texts = texts();
    let hits = |scheme: &str, query: Query| {
        let hits = index(scheme, true, &texts).search(&query).unwrap().hits;
        assert!(hits.len() > 1);
        hits
    };
    let text = &texts[20].1;
    assert!(text.split(' ').count() > 100);
    let plain = hits("winnow(k=5,w=10)", Query::text(text).counts_only(true));
    let closer = hits("winnow(k=5,w=10)", Query::text(text));
    let error = |hit: &cento::Hit| hit.similarity.standard_error.unwrap();
    let mut is_closer = false;
    for (plain, closer) in plain.iter().zip(&closer) {
        assert!(!plain.similarity.exact && !closer.similarity.exact && error(closer) > 0.0);
        is_closer |= error(closer) < error(plain);
    }
    assert!(is_closer);
    // Passages need the texts, so the numbers are exact.
    let read = hits("winnow(k=5,w=10)", Query::text(text).passages(true));
    for hit in &read {
        let other = &texts.iter().find(|text| text.0 == hit.id).unwrap().1;
        let truth = truth(text, other, 5);
        assert!(hit.similarity.exact && (hit.similarity.resemblance - truth.0).abs() < 1e-9);
    }
    let sketches = hits("breaking(p=6)", Query::text(text));
    assert!(sketches.iter().all(|hit| hit.similarity.of_sketches));
}

#[test]
fn texts_that_cannot_be_alike_are_not_read() {
    // A damaged page shows that once the signature of every candidate was read, however little it
    // shared.
    let dir = tempfile::tempdir().unwrap();
    let query: String = (0..60).map(|word| format!("q{word} ")).collect();
    let rest: String = (0..20_000).map(|word| format!("r{word} ")).collect();
    let index = Index::create(dir.path(), config("winnow(k=5,w=10)", false)).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add(Document::new("far", query.clone() + &rest)).unwrap();
    writer.add(Document::new("near", query.clone() + "and more")).unwrap();
    writer.finish().unwrap();
    let files = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let file = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "sig"));
    let file = file.unwrap();
    let whole = std::fs::read(&file).unwrap();
    let found = |min_resemblance: f64| {
        let query = Query::text(query.as_str()).min_resemblance(min_resemblance);
        let searcher = Searcher::new(Index::open(dir.path())?.snapshot()?);
        let hits = searcher.search(&query)?.hits;
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

#[test]
fn nearly_no_hit_whose_edits_are_closer_than_windows_is_lost_by_its_estimate() {
    // One in every nine words is changed. Once the estimate was up to fifteen standard errors too
    // low, the search did not read the texts, and one pair in ten was lost.
    let mut pairs = Vec::new();
    for every in 6..13 {
        for (at, len) in [100, 200, 400].iter().cycle().take(36).enumerate() {
            let seed = every << 16 | (at as u64) << 8;
            let word = |i: u64| format!("w{}", mix64(seed << 20 ^ i));
            let other = |i: u64| match (i + at as u64).is_multiple_of(every) {
                true => format!("changed{i}"),
                false => word(i),
            };
            let id = format!("{every}-{at}");
            let text =
                |word: &dyn Fn(u64) -> String| (0..*len).map(word).collect::<Vec<_>>().join(" ");
            pairs.push((id, text(&word), text(&other)));
        }
    }
    let stored: Vec<_> = pairs.iter().map(|(id, text, _)| (id.clone(), text.clone())).collect();
    let searcher = index("winnow(k=5,w=10)", true, &stored);
    let (mut asked, mut lost) = (0, Vec::new());
    for (id, text, other) in &pairs {
        let (resemblance, containment) = truth(other, text, 5);
        if resemblance < 0.05 {
            continue;
        }
        let queries = [
            Query::text(other.as_str()).min_resemblance(resemblance * 0.99),
            Query::text(other.as_str()).min_containment(containment * 0.99),
        ];
        for query in queries {
            asked += 1;
            let hits = searcher.search(&query).unwrap().hits;
            match hits.iter().find(|hit| hit.id == *id) {
                Some(hit) => assert!(hit.similarity.exact, "{hit:?}"),
                None => lost.push(id),
            }
        }
    }
    assert!(asked > 400 && lost.len() * 25 <= asked, "{} of {asked}: {lost:?}", lost.len());
}
