use super::*;
use cento::index::Document;
use cento::search::Rank;
use cento::{Map, Measure};
use cento_text::text::{AnalyzedText, Analyzer};
use random::Random;
use serde_json::Value;

/// A text of common words, which every text has in a different order.
fn prose(of: u64, words: usize) -> String {
    let random = &mut Random::new(7, of);
    (0..words).map(|_| format!("w{} ", random.below(300))).collect()
}

fn documents(number: u64) -> Vec<Document> {
    (0..number).map(|of| Document::new(format!("d{of}"), prose(of, 150))).collect()
}

fn run(cases: &Cases, settings: &[Setting], by: By) -> TuneReport {
    let dir = tempfile::tempdir().unwrap();
    let mut last = 0;
    let report = tune(cases, &TuneOptions::new(settings, by, dir.path()), &mut |done| last = done);
    let report = report.unwrap();
    assert_eq!(last, searches(cases, settings), "progress ends at the end");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "an index was left behind");
    report
}

fn words(scheme: &str) -> Setting {
    Setting::new(scheme, "words", Rank::Overlap)
}

#[test]
fn planted_copies_are_found_and_a_run_repeats_itself() {
    let cases = planted(documents(60), &edits(None), None, 1, Stop::NEVER).unwrap();
    let settings = [words("winnow(k=5,w=10)"), words("kgram(k=3)"), words("winnow(k=9,w=40)")];
    let report = run(&cases, &settings, By::Containment);
    let [default, dense, sparse] = &report.settings[..] else { panic!("three settings") };
    assert!(dense.recall.value > default.recall.value, "{dense:?}");
    assert!(default.recall.value > sparse.recall.value, "{sparse:?}");
    assert_eq!(default.fingerprints_ratio, 1.0);
    assert!(dense.fingerprints_ratio > 4.0 && sparse.fingerprints_ratio < 0.5);
    assert_eq!(report.best, Some(1));
    assert_eq!(
        default.recall.of,
        cases
            .cases
            .iter()
            .filter(|case| !case.is_for_choosing)
            .map(|case| case.same.len() as u64)
            .sum::<u64>()
    );
    let kinds: u64 = default.kinds.iter().map(|kind| kind.recall.part).sum();
    assert_eq!(kinds, default.recall.part);
    let without_times = |report: &TuneReport| {
        fn strip(value: &mut Value) {
            match value {
                Value::Object(fields) => {
                    let is_time = |name: &str| name.ends_with("_us") || name == "add_ratio";
                    let kept = std::mem::take(fields)
                        .into_iter()
                        .filter(|(name, _)| !is_time(name) && name != "search_ratio");
                    *fields = kept.collect::<Map<_, _>>();
                    fields.values_mut().for_each(strip);
                }
                Value::Array(items) => items.iter_mut().for_each(strip),
                _ => {}
            }
        }
        let mut value = serde_json::to_value(report).unwrap();
        strip(&mut value);
        value
    };
    let again = planted(documents(60), &edits(None), None, 1, Stop::NEVER).unwrap();
    let again = run(&again, &settings, By::Containment);
    assert_eq!(without_times(&again), without_times(&report));
}

#[test]
fn a_copy_that_was_not_planted_is_no_false_hit_and_a_chance_hit_is_one() {
    let mut all = documents(40);
    // Every document has a copy with one more word.
    let twice: Vec<Document> = all
        .iter()
        .map(|Document { id, text, .. }| Document::new(format!("{id}-again"), format!("{text}end")))
        .collect();
    all.extend(twice);
    let edits = edits(Some(cento::index::Preset::Corpus));
    let cases = planted(all, &edits, None, 1, Stop::NEVER).unwrap();
    let report = run(&cases, &[words("kgram(k=5)"), words("kgram(k=1)")], By::Containment);
    let [runs, single] = &report.settings[..] else { panic!("two settings") };
    assert!(runs.false_hits == 0 && runs.recall.value > 0.98, "{runs:?}");
    // Every text has the single words, so without a threshold all ten hits would be judged.
    let least = single.thresholds.first().unwrap();
    assert!(least.false_hits > 5 * report.queries_to_judge, "{least:?}");
    assert!(single.threshold > 0.5, "{}", single.threshold);
}

/// Each document with none to fourteen copies.
fn copied(documents: &[Document]) -> Vec<Document> {
    let copies = |(at, document): (usize, &Document)| {
        let copy = |of: usize| match of {
            0 => document.clone(),
            _ => Document::new(format!("{}-{of}", document.id), document.text.clone()),
        };
        (0..=at * 7 % 15).map(copy).collect::<Vec<_>>()
    };
    documents.iter().enumerate().flat_map(copies).collect()
}

#[test]
fn copies_of_the_original_are_the_original() {
    // A training corpus with duplicates. Once the ten hits were copies of a single document, and
    // the original came first by chance.
    let (once, edits) = (documents(40), edits(Some(cento::index::Preset::Corpus)));
    let settings = [words("kgram(k=3)"), words("winnow(k=5,w=10)"), words("kgram(k=1)")];
    let expected = planted(once.clone(), &edits, None, 1, Stop::NEVER).unwrap();
    let expected = run(&expected, &settings, By::Resemblance);
    let cases = planted(copied(&once), &edits, None, 1, Stop::NEVER).unwrap();
    let found = run(&cases, &settings, By::Resemblance);
    assert!(found.documents > 4 * expected.documents);
    for (found, expected) in found.settings.iter().zip(&expected.settings) {
        // This includes hits beyond the original.
        let figures = |report: &SettingReport| {
            let SettingReport { threshold, f1, recall, first, false_hits, .. } = report;
            (*threshold, *f1, *recall, *first, *false_hits, report.curve.clone())
        };
        assert_eq!(figures(found), figures(expected));
        assert!(found.first.value > 0.9, "{found:?}");
    }
    // The reference compares every distinct text of the index with every query.
    let setting = &found.settings[2];
    let measure: Measure = "resemblance(k=1)".parse().unwrap();
    let analyzed =
        |text: &str| AnalyzedText::new(text.to_owned(), &Analyzer::default(), Stop::NEVER).unwrap();
    let mut texts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for document in &cases.documents {
        texts.entry(&document.text).or_default().push(&document.id);
    }
    let (mut right, mut wrong, mut first, mut wanted) = (0, 0, 0, 0);
    for case in cases.cases.iter().filter(|case| !case.is_for_choosing) {
        let query = analyzed(&case.query);
        let unedited = case.unedited.as_ref().unwrap_or(&case.query);
        let mut all: Vec<(f64, bool, bool)> = texts
            .iter()
            .map(|(text, ids)| {
                let is_same = case.same.iter().any(|id| ids.contains(&&**id));
                let is_common = common_text::is_common(unedited, text, Stop::NEVER).unwrap();
                (measure.of(query.side(), analyzed(text).side()), is_same, is_common)
            })
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        first += u64::from(!case.same.is_empty() && all[0].1);
        wanted += case.same.len() as u64;
        all.truncate(10);
        let passing = || all.iter().filter(|(score, ..)| *score >= setting.threshold);
        right += passing().filter(|(_, is_same, _)| *is_same).count() as u64;
        wrong += passing().filter(|(_, is_same, common)| !is_same && !common).count() as u64;
    }
    let figures = (setting.recall.part, setting.false_hits, setting.first.part);
    assert_eq!((figures, setting.recall.of), ((right, wrong, first), wanted));
    assert_eq!(setting.f1, threshold::f1(right, wrong, wanted));
}

#[test]
fn copies_of_labelled_documents_count_as_these() {
    let all = copied(&documents(50));
    let id = |id: &str| PairText::Id(id.to_owned());
    let pair = |a: &str, b: &str, is_same| LabelledPair { a: id(a), b: id(b), is_same, kind: None };
    // `d8` has eleven copies including the query, so ten hits would all be copies.
    let mut documents = all;
    let mut pairs = Vec::new();
    for of in 0..40 {
        let text = documents.iter().find(|document| document.id == format!("d{of}")).unwrap();
        let text = format!("{} end", text.text);
        for copy in 0..20 {
            documents.push(Document::new(format!("q{of}-{copy}"), text.clone()));
        }
        pairs.push(pair(&format!("q{of}-0"), &format!("d{of}"), true));
    }
    let cases = labelled(documents.clone(), &pairs, 3).unwrap();
    let report = run(&cases, &[words("kgram(k=3)")], By::Resemblance);
    let found = &report.settings[0];
    assert!(found.recall.value == 1.0 && found.first.value == 1.0, "{found:?}");
    assert_eq!((report.judged_by_labels, report.hits_judged), (false, 10));
    // A copy of a document labeled different counts as different, but once.
    let labels: Vec<LabelledPair> = (0..40)
        .flat_map(|of| {
            let query = format!("q{of}-0");
            [pair(&query, &format!("d{of}"), true), pair(&query, &format!("q{of}-1"), false)]
        })
        .collect();
    let cases = labelled(documents, &labels, 3).unwrap();
    let report = run(&cases, &[words("kgram(k=3)")], By::Resemblance);
    let found = &report.settings[0];
    assert_eq!((found.false_hits, found.recall.value), (found.recall.of, 1.0), "{found:?}");
    assert_eq!((report.judged_by_labels, report.hits_judged), (true, 200));
}

#[test]
fn labels_decide_what_is_false_and_other_hits_are_not_judged() {
    let all = documents(60);
    let id = |of: usize| PairText::Id(format!("d{of}"));
    let pair = |a, b, is_same| LabelledPair { a, b, is_same, kind: None };
    let mut pairs = Vec::new();
    for (of, Document { text, .. }) in all.iter().enumerate().take(30) {
        let copy = format!("{} {}", &text[..text.len() / 2], prose(1000 + of as u64, 60));
        pairs.push(pair(PairText::Text(copy.clone()), id(of), true));
        // A label may call a copy different.
        pairs.push(pair(PairText::Text(format!("{text} end")), id(of), of % 2 == 0));
    }
    let cases = labelled(all, &pairs, 3).unwrap();
    let report = run(&cases, &[words("kgram(k=3)")], By::Containment);
    let found = &report.settings[0];
    assert!(report.judged_by_labels);
    assert_eq!(found.recall.value, 1.0, "{found:?}");
    let different = cases.cases.iter().filter(|case| !case.is_for_choosing);
    let different: usize = different.map(|case| case.different.len()).sum();
    assert!(different > 3 && found.false_hits == different as u64, "{found:?}");
}

#[test]
fn the_figures_are_those_of_brute_force() {
    let cases = planted(documents(50), &edits(None), None, 2, Stop::NEVER).unwrap();
    let report = run(&cases, &[words("kgram(k=2)")], By::Resemblance);
    let found = &report.settings[0];
    let measure: Measure = "resemblance(k=2)".parse().unwrap();
    let analyzed =
        |text: &str| AnalyzedText::new(text.to_owned(), &Analyzer::default(), Stop::NEVER).unwrap();
    let (mut right, mut wrong) = (0, 0);
    let mut bins = [[0; 2]; BINS];
    for case in cases.cases.iter().filter(|case| !case.is_for_choosing) {
        let query = analyzed(&case.query);
        let unedited = case.unedited.as_ref().unwrap_or(&case.query);
        for document in &cases.documents {
            let resemblance = measure.of(query.side(), analyzed(&document.text).side());
            let passes = resemblance >= found.threshold;
            let is_same = case.same.contains(&document.id);
            let is_common = common_text::is_common(unedited, &document.text, Stop::NEVER).unwrap();
            right += u64::from(passes && is_same);
            wrong += u64::from(passes && !is_same && !is_common);
            if is_same {
                let bin = &mut bins[((resemblance * BINS as f64) as usize).min(BINS - 1)];
                *bin = [bin[0] + u64::from(passes), bin[1] + 1];
            }
        }
    }
    assert_eq!((found.recall.part, found.false_hits), (right, wrong));
    let curve = found.curve.iter().map(|bin| [bin.passed.part, bin.passed.of]);
    assert_eq!(curve.collect::<Vec<_>>(), bins);
    // Pairs below the threshold do not pass, and pairs above it do.
    for bin in found.curve.iter().filter(|bin| bin.passed.of > 0) {
        let (least, most) = (bin.from, bin.from + 0.1);
        assert!(most > found.threshold || bin.passed.part == 0, "{bin:?}");
        assert!(least < found.threshold || bin.passed.value == 1.0, "{bin:?}");
    }
}

#[test]
fn the_smallest_of_equally_good_settings_is_the_best() {
    let edits = [Edit::new(Extent::Copy, Change::Words, 5)];
    let cases = planted(documents(80), &edits, None, 1, Stop::NEVER).unwrap();
    let settings = [words("kgram(k=3)"), words("winnow(k=3,w=4)"), words("winnow(k=3,w=10)")];
    let report = run(&cases, &settings, By::Containment);
    assert!(report.settings.iter().all(|setting| setting.recall.value > 0.95));
    assert_eq!(report.best, Some(2));
    assert_eq!(report.warnings, Vec::<String>::new());
}

#[test]
fn too_few_queries_are_refused_or_warned_of() {
    let pair = |of: u64| LabelledPair {
        a: PairText::Id(format!("d{of}")),
        b: PairText::Text(prose(of, 150)),
        is_same: true,
        kind: None,
    };
    let dir = tempfile::tempdir().unwrap();
    let settings = [words("kgram(k=3)")];
    let options = TuneOptions::new(&settings, By::Resemblance, dir.path());
    let cases = labelled(documents(20), &[pair(1)], 1).unwrap();
    let error = tune(&cases, &options, &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::InvalidArgument { .. }), "{error}");
    assert!(error.to_string().contains("1 query has 1 in all"), "{error}");
    let pairs: Vec<LabelledPair> = (0..20).map(pair).collect();
    let report = run(&labelled(documents(20), &pairs, 1).unwrap(), &settings, By::Resemblance);
    assert!(report.warnings[0].starts_with("only "), "{:?}", report.warnings);
    let recall = report.settings[0].recall;
    assert!(recall.value == 1.0 && recall.low < 0.9, "{recall:?}");
}

#[test]
fn a_run_is_stopped() {
    let cases = planted(documents(30), &edits(None), None, 1, Stop::NEVER).unwrap();
    let settings = settings(None, None);
    let dir = tempfile::tempdir().unwrap();
    let stop = Stop::new();
    let options = TuneOptions::new(&settings, By::Containment, dir.path());
    let options = TuneOptions { stop: stop.clone(), ..options };
    let mut after = 0;
    let found = tune(&cases, &options, &mut |done| {
        after = done;
        stop.set();
    });
    assert!(matches!(found, Err(Error::Cancelled)));
    assert_eq!(after, 1);
}
