//! Finds the setting that finds the copies of a collection with few false hits, and measures its
//! cost.
//!
//! Documents are indexed with each setting. Then queries with known originals are searched for:
//! pairs labeled by a person ([`labelled`]), or copies with planted edits ([`planted`]). One half
//! of the queries chooses the threshold of each setting and the best setting. The other half, from
//! different documents, gives every figure of the report.
//!
//! A hit is *right* if the query was made from the document, or a label says that both are the
//! same. A hit is *false* if a label says that it is different. If no label says so of any pair, a
//! hit is false if it is not right and shares no text with the query as it was before the edit: no
//! twelve words in a row or, for texts with fewer than 24 words, no half of the shorter text. So a
//! quotation is no false hit.
//!
//! Documents with the same text count as one, and judged hits have distinct texts. Planted queries,
//! and labeled queries if no label says different, are judged by the first ten hits, which a search
//! shows. Other labeled queries are judged by the first 200.
//!
//! The threshold is the strictest threshold whose F1 is at most 0.01 below the best. The best
//! setting has the fewest fingerprints among the settings whose F1 is at most 0.01 below the best.
//! So neither choice depends on time. Times are wall times of this run, to compare only with each
//! other.
//!
//! ```
//! use cento::{Document, Stop};
//! use cento_collections::tune::{By, TuneOptions, edits, planted, settings, tune};
//! # let dir = tempfile::tempdir()?;
//!
//! let text = |of: u64| (0..90).map(move |at| format!("word{} ", (of * 37 + at * at) % 1009));
//! let document = |of: u64| Document::new(of.to_string(), text(of).collect::<String>());
//! let documents = (0..24).map(document).collect();
//! let cases = planted(documents, &edits(None), None, 1, Stop::NEVER)?;
//! let settings = settings(None, None);
//! let options = TuneOptions::new(&settings[..2], By::Containment, dir.path());
//! let report = tune(&cases, &options, &mut |_| {})?;
//! let best = &report.settings[report.best.expect("copies are found")];
//! assert!(best.recall.value > 0.5 && best.false_hits == 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod case;
mod common_text;
mod copies;
mod edit;
mod interval;
mod labels;
mod random;
mod report;
mod sample;
mod setting;
mod threshold;
mod trial;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cento_api::number::counted;

use cento_api::error::{Error, Result};
use cento_api::reason::Reason;
use cento_text::runtime::Stop;
use common_text::CommonTexts;
use copies::TrialTexts;
use threshold::{LOSS, QueryScores};
use trial::{Trial, TrialAnswers, TrialIndex};

pub use case::{Case, Cases, UNRELATED, edits, planted};
pub use edit::{Change, Edit, Extent};
pub use interval::Share;
pub use labels::{LabelFault, LabelledPair, PairText, label_fault, labelled};
pub use report::{By, CurveBin, KindReport, NotTried, SettingReport, TuneReport};
pub use sample::Sample;
pub use setting::{Setting, settings};
pub use threshold::Point;

/// The options of a run.
#[derive(Debug, Clone)]
pub struct TuneOptions<'a> {
    /// The settings to try. Ratios are relative to the first setting.
    pub settings: &'a [Setting],
    /// The measure that thresholds apply to.
    pub by: By,
    /// A directory for the indexes. An index is removed after its trials.
    pub dir: &'a Path,
    /// Stops the run early.
    pub stop: Stop,
}

impl<'a> TuneOptions<'a> {
    /// Returns the options for these settings.
    #[must_use]
    pub fn new(settings: &'a [Setting], by: By, dir: &'a Path) -> TuneOptions<'a> {
        TuneOptions { settings, by, dir, stop: Stop::default() }
    }
}

/// The minimum number of wanted documents in a half. With fewer, even a share of 1 has an interval
/// that begins below 0.5.
const ORIGINALS_MIN: u64 = 5;

/// Below this number of wanted documents in a half, intervals are wider than 0.3.
const WANTED_MIN: u64 = 30;

/// The number of bins of a curve.
const BINS: usize = 10;

/// Tries all settings. Calls `searched` with the number of searches so far, out of [`searches`].
///
/// # Errors
/// When a half of the queries has too few originals, a setting cannot be used, or an index cannot
/// be written. [`Error::Cancelled`] soon after the run is stopped.
pub fn tune(
    cases: &Cases,
    options: &TuneOptions<'_>,
    searched: &mut dyn FnMut(u64),
) -> Result<TuneReport> {
    let wanted = |is_for_choosing| {
        let of_half = cases.cases.iter().filter(|case| case.is_for_choosing == is_for_choosing);
        of_half.map(|case| case.same.len() as u64).sum::<u64>()
    };
    let halves = [wanted(true), wanted(false)];
    let fewest = halves[0].min(halves[1]);
    if fewest < ORIGINALS_MIN {
        let what = format!(
            "too few originals: {} {} {} in all, and one half of the queries has {fewest}; each \
             half needs at least {ORIGINALS_MIN}",
            counted(cases.cases.len() as u64, "query"),
            if cases.cases.len() == 1 { "has" } else { "have" },
            halves[0] + halves[1],
        );
        return Err(Error::arguments(what));
    }
    let number = |is_for_choosing| {
        cases.cases.iter().filter(|case| case.is_for_choosing == is_for_choosing).count() as u64
    };
    let mut report = TuneReport {
        documents: cases.documents.len() as u64,
        text_bytes: cases.documents.iter().map(|document| document.text.len() as u64).sum(),
        queries_to_choose: number(true),
        queries_to_judge: number(false),
        by: options.by,
        hits_judged: trial::texts_max(cases) as u64,
        judged_by_labels: cases.has_different,
        best: None,
        warnings: Vec::new(),
        settings: Vec::new(),
        not_tried: Vec::new(),
    };
    if fewest < WANTED_MIN {
        report.warnings.push(format!(
            "only {} in a half of the queries: too few to tell settings apart, and the intervals \
             of the shares are wide",
            counted(fewest, "original"),
        ));
    }
    let texts = TrialTexts::of(&cases.documents);
    let mut common = CommonTexts::default();
    let mut shared: Option<(&Setting, TrialIndex, PathBuf)> = None;
    let mut done = 0;
    for (number, setting) in options.settings.iter().enumerate() {
        options.stop.check()?;
        if !matches!(&shared, Some((last, ..)) if last.signs_as(setting)) {
            if let Some((_, index, path)) = shared.take() {
                drop(index);
                remove(&path)?;
            }
            let path = options.dir.join(format!("trial-{number}"));
            match TrialIndex::new(&path, setting, cases, &options.stop) {
                Ok(index) => shared = Some((setting, index, path)),
                // A build with fewer features tries fewer settings, and reports the remaining
                // settings.
                Err(Error::Spec { reason: Reason::Unsupported { feature }, .. }) => {
                    let reason = format!("this build lacks the feature `{feature}`");
                    report.not_tried.push(NotTried { setting: setting.clone(), reason });
                    continue;
                }
                Err(error) => return Err(error),
            }
        }
        let Some((_, index, _)) = &shared else { continue };
        let trial =
            Trial { setting, by: options.by, index, cases, texts: &texts, stop: &options.stop };
        let found = trial_report(&trial, report.settings.first(), &mut common, &mut || {
            done += 1;
            searched(done);
        })?;
        report.settings.push(found);
    }
    if let Some((_, index, path)) = shared {
        drop(index);
        remove(&path)?;
    }
    report.best = best(&report.settings);
    Ok(report)
}

/// Returns the number of searches of a run.
#[must_use]
pub fn searches(cases: &Cases, settings: &[Setting]) -> u64 {
    let judged = cases.cases.iter().filter(|case| !case.is_for_choosing).count();
    (settings.len() * (cases.cases.len() + judged)) as u64
}

fn remove(path: &Path) -> Result<()> {
    std::fs::remove_dir_all(path).map_err(|e| Error::io("remove", path, e))
}

/// Returns the place of the setting with the fewest fingerprints among the settings close to the
/// best.
fn best(settings: &[SettingReport]) -> Option<usize> {
    let most = settings.iter().map(|setting| setting.f1_to_choose).fold(0.0, f64::max);
    let good = settings
        .iter()
        .enumerate()
        .filter(|(_, setting)| setting.f1_to_choose > 0.0 && setting.f1_to_choose >= most - LOSS);
    // Among equals the first setting wins.
    good.min_by_key(|(_, setting)| setting.fingerprints).map(|(place, _)| place)
}

/// Tries one setting. Ratios are relative to `first`.
fn trial_report(
    trial: &Trial<'_>,
    first: Option<&SettingReport>,
    common: &mut CommonTexts,
    searched: &mut dyn FnMut(),
) -> Result<SettingReport> {
    let choosing = trial.answers(None, &|case| case.is_for_choosing, common, searched)?;
    let judging = trial.answers(None, &|case| !case.is_for_choosing, common, searched)?;
    let points = threshold::points(&choosing.scores);
    let chosen = threshold::choose(&points).expect("there are thresholds");
    // A given threshold may be between the thresholds that are tried.
    let threshold = trial.setting.threshold.unwrap_or(chosen.threshold);
    let f1_to_choose = f1_at(&choosing.scores, threshold);
    let judged = trial.answers(Some(threshold), &|case| !case.is_for_choosing, common, searched)?;
    let cases = trial.cases.cases.iter().filter(|case| !case.is_for_choosing);
    let mut kinds: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (case, scores) in cases.zip(&judged.scores).filter(|(case, _)| !case.same.is_empty()) {
        let (found, wanted) = kinds.entry(&case.kind).or_default();
        *found += scores.right.len() as u64;
        *wanted += scores.wanted;
    }
    let sum = |of: &dyn Fn(&QueryScores) -> u64| judged.scores.iter().map(of).sum::<u64>();
    let wanted = sum(&|scores| scores.wanted);
    let right = sum(&|scores| scores.right.len() as u64);
    let false_hits = sum(&|scores| scores.wrong.len() as u64);
    let with_false_hit = sum(&|scores| u64::from(!scores.wrong.is_empty()));
    let mut took: Vec<u64> = choosing.took_us.iter().chain(&judging.took_us).copied().collect();
    took.sort_unstable();
    let search_us = took.get(took.len() / 2).copied().unwrap_or(0);
    let TrialIndex { add_us, bytes, postings, .. } = *trial.index;
    let ratio =
        |own: u64, of: fn(&SettingReport) -> u64| own as f64 / first.map_or(own, of).max(1) as f64;
    Ok(SettingReport {
        create: trial.setting.arguments(),
        threshold_option: trial.by.option(trial.setting.rank),
        threshold,
        f1_to_choose,
        f1: threshold::f1(right, false_hits, wanted),
        recall: Share::new(right, wanted),
        kinds: kinds
            .into_iter()
            .map(|(kind, (found, wanted))| KindReport {
                kind: kind.to_owned(),
                recall: Share::new(found, wanted),
            })
            .collect(),
        first: Share::new(judging.first.iter().sum(), wanted),
        first_to_choose: Share::new(
            choosing.first.iter().sum(),
            choosing.scores.iter().map(|scores| scores.wanted).sum(),
        ),
        false_hits,
        with_false_hit: Share::new(with_false_hit, judged.scores.len() as u64),
        unjudged: judged.unjudged.iter().sum(),
        fingerprints: postings,
        fingerprints_ratio: ratio(postings, |first| first.fingerprints),
        bytes,
        add_us,
        add_ratio: ratio(add_us, |first| first.add_us),
        search_us,
        search_ratio: ratio(search_us, |first| first.search_us),
        curve: curve(&judging, &judged),
        thresholds: threshold::points(&judging.scores),
        setting: trial.setting.clone(),
    })
}

fn f1_at(scores: &[QueryScores], least: f64) -> f64 {
    let meet = |all: &Vec<f64>| all.iter().filter(|&&score| score >= least).count() as u64;
    let right = scores.iter().map(|scores| meet(&scores.right)).sum();
    let wrong = scores.iter().map(|scores| meet(&scores.wrong)).sum();
    threshold::f1(right, wrong, scores.iter().map(|scores| scores.wanted).sum())
}

/// Counts the wanted documents by similarity: documents found without a threshold, and with the
/// threshold.
fn curve(without: &TrialAnswers, with: &TrialAnswers) -> Vec<CurveBin> {
    let bin = |similarity: f64| ((similarity * BINS as f64) as usize).min(BINS - 1);
    let bins = (0..BINS).map(|number| {
        let in_bin = |answers: &TrialAnswers| {
            let all = answers.wanted.iter().filter(|(similarity, _)| bin(*similarity) == number);
            let (mut found, mut of) = (0, 0);
            for (_, is_found) in all {
                (found, of) = (found + u64::from(*is_found), of + 1);
            }
            Share::new(found, of)
        };
        let from = number as f64 / BINS as f64;
        CurveBin { from, found: in_bin(without), passed: in_bin(with) }
    });
    bins.collect()
}

#[cfg(test)]
mod tests;
