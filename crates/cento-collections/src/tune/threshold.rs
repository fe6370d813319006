//! Chooses the threshold that separates right hits from false hits.

use serde::Serialize;

/// The thresholds to choose from: round numbers, with smaller steps between small numbers.
pub(super) const THRESHOLDS: [f64; 16] =
    [0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// The loss of F1 that a higher threshold or a smaller index is worth. Samples of a hundred differ
/// by more.
pub(super) const LOSS: f64 = 0.01;

/// The scores of one query's hits, for trying thresholds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct QueryScores {
    /// The number of documents to find.
    pub wanted: u64,
    /// The scores of found documents.
    pub right: Vec<f64>,
    /// The scores of false hits.
    pub wrong: Vec<f64>,
}

/// A threshold and its effect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The minimum score of a hit.
    pub threshold: f64,
    /// The share of wanted documents found, 0 to 1.
    pub recall: f64,
    /// The number of false hits.
    pub false_hits: u64,
    /// The harmonic mean of recall and precision. Precision ignores hits that are neither right nor
    /// false.
    pub f1: f64,
}

/// Returns F1 for these numbers of right, false and wanted documents.
pub(super) fn f1(right: u64, wrong: u64, wanted: u64) -> f64 {
    // 2 P R / (P + R) with P = right / (right + wrong) and R = right / wanted.
    match right + wrong + wanted {
        0 => 0.0,
        all => 2.0 * right as f64 / all as f64,
    }
}

pub(super) fn points(scores: &[QueryScores]) -> Vec<Point> {
    let wanted: u64 = scores.iter().map(|scores| scores.wanted).sum();
    let count = |of: fn(&QueryScores) -> &Vec<f64>, least: f64| {
        let all = scores.iter().flat_map(of);
        all.filter(|&&score| score >= least).count() as u64
    };
    let point = |threshold: f64| {
        let right = count(|scores| &scores.right, threshold);
        let false_hits = count(|scores| &scores.wrong, threshold);
        let recall = right as f64 / wanted.max(1) as f64;
        Point { threshold, recall, false_hits, f1: f1(right, false_hits, wanted) }
    };
    THRESHOLDS.into_iter().map(point).collect()
}

/// Returns the highest threshold with next to no loss against the best. False hits grow with a
/// collection, so the strictest of equal thresholds is the safest.
pub(super) fn choose(points: &[Point]) -> Option<Point> {
    let best = points.iter().map(|point| point.f1).fold(0.0, f64::max);
    points.iter().rev().find(|point| point.f1 >= best - LOSS).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(right: &[f64], wrong: &[f64]) -> QueryScores {
        QueryScores { wanted: 1, right: right.to_vec(), wrong: wrong.to_vec() }
    }

    #[test]
    fn the_threshold_is_the_strictest_of_the_best() {
        let check = |all: &[QueryScores], threshold: f64, f1: f64| {
            let chosen = choose(&points(all)).unwrap();
            assert_eq!((chosen.threshold, chosen.f1), (threshold, f1), "{chosen:?}");
        };
        check(&[scores(&[0.55], &[]), scores(&[0.7], &[0.1])], 0.5, 1.0);
        check(&[scores(&[0.55], &[0.6]), scores(&[0.7], &[0.6])], 0.7, 2.0 / 3.0);
        check(&[scores(&[], &[]), scores(&[0.35], &[0.2])], 0.3, 2.0 / 3.0);
        // Without a right hit, finding nothing at all is best.
        check(&[scores(&[], &[0.3])], 0.9, 0.0);
        assert_eq!(choose(&[]), None);
    }

    #[test]
    fn f1_is_the_harmonic_mean() {
        let (right, wrong, wanted) = (6, 2, 10);
        let (precision, recall) = (6.0 / 8.0, 6.0 / 10.0);
        let mean = 2.0 * precision * recall / (precision + recall);
        assert!((f1(right, wrong, wanted) - mean).abs() < 1e-12);
        assert_eq!(f1(0, 0, 0), 0.0);
    }
}
