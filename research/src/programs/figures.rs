//! Computes figures of rankings: AUC, average precision and F1.

/// A score, and whether the program with this score is a copy.
pub(super) type Scored = (f64, bool);

/// Returns the AUC: of all pairs of a copy and an independent program, the share where the copy
/// scores higher. A tie counts half.
pub(super) fn auc(scored: &[Scored]) -> f64 {
    let (mut sum, mut count) = (0.0, 0u64);
    for (copy, _) in scored.iter().filter(|(_, is_copy)| *is_copy) {
        for (other, _) in scored.iter().filter(|(_, is_copy)| !is_copy) {
            sum += if copy > other { 1.0 } else { 0.5 * f64::from(u8::from(copy == other)) };
            count += 1;
        }
    }
    sum / count.max(1) as f64
}

/// Returns the mean precision at the rank of each copy. In a tie, copies come last.
pub(super) fn average_precision(scored: &[Scored]) -> f64 {
    let mut ranked = scored.to_vec();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let (mut copies, mut sum) = (0u32, 0.0);
    for (rank, (_, is_copy)) in (1u32..).zip(ranked) {
        if is_copy {
            copies += 1;
            sum += f64::from(copies) / f64::from(rank);
        }
    }
    sum / f64::from(copies.max(1))
}

/// Returns the threshold with the maximum F1, and that F1. In a tie, the maximum threshold wins.
pub(super) fn best(scored: &[Scored]) -> (f64, f64) {
    let mut ranked = scored.to_vec();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all = ranked.iter().filter(|(_, is_copy)| *is_copy).count();
    let (mut right, mut best) = (0, (1.0, 0.0));
    for (place, &(score, is_copy)) in ranked.iter().enumerate() {
        right += usize::from(is_copy);
        let is_last_of_equals = ranked.get(place + 1).is_none_or(|next| next.0 < score);
        let f1 = 2.0 * right as f64 / (place + 1 + all) as f64;
        if is_last_of_equals && f1 > best.1 {
            best = (score, f1);
        }
    }
    best
}

/// Counts of copies and of independent programs with at least a score.
fn found(scored: &[Scored], threshold: f64) -> (f64, f64) {
    let (copies, others): (Vec<Scored>, Vec<Scored>) =
        scored.iter().filter(|(score, _)| *score >= threshold).partition(|(_, is_copy)| *is_copy);
    (copies.len() as f64, others.len() as f64)
}

/// The number of all copies, whatever the score.
fn copies(scored: &[Scored]) -> f64 {
    scored.iter().filter(|(_, is_copy)| *is_copy).count() as f64
}

/// The F1 if the pairs with at least this score are called copies.
pub(super) fn f1(scored: &[Scored], threshold: f64) -> f64 {
    let (right, wrong) = found(scored, threshold);
    2.0 * right / (right + wrong + copies(scored)).max(1.0)
}

/// The precision: the share of copies among the pairs with at least this score.
pub(super) fn precision(scored: &[Scored], threshold: f64) -> f64 {
    let (right, wrong) = found(scored, threshold);
    right / (right + wrong).max(1.0)
}

/// The recall: the share of the copies that have at least this score.
pub(super) fn recall(scored: &[Scored], threshold: f64) -> f64 {
    found(scored, threshold).0 / copies(scored).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORED: [Scored; 5] =
        [(0.9, true), (0.8, false), (0.5, true), (0.5, false), (0.1, false)];

    #[test]
    fn equal_scores_are_half_right_for_auc_and_no_rank_of_their_own() {
        // .9 is above three programs. .5 is below one, ties with one, and is above one.
        assert_eq!(auc(&SCORED), (3.0 + 1.5) / 6.0);
        // The copy with .5 comes last of the four programs above .1.
        assert_eq!(average_precision(&SCORED), f64::midpoint(1.0, 2.0 / 4.0));
        assert_eq!(auc(&[]), 0.0);
    }

    #[test]
    fn the_best_threshold_takes_all_of_equal_scores() {
        // At .9: a single copy, no error. At .5: two copies, two errors, with the same F1 but a
        // lower threshold.
        assert_eq!(best(&SCORED), (0.9, 2.0 / 3.0));
        assert_eq!(f1(&SCORED, 0.9), 2.0 / 3.0);
        assert_eq!(f1(&SCORED, 0.5), 2.0 / 3.0);
        assert_eq!(f1(&SCORED, 1.0), 0.0);
        assert_eq!(best(&[(0.5, true), (0.5, false)]), (0.5, 2.0 / 3.0));
    }

    #[test]
    fn precision_counts_pairs_with_at_least_the_threshold() {
        assert_eq!(precision(&SCORED, 0.5), 0.5);
        assert_eq!(precision(&SCORED, 0.9), 1.0);
        assert_eq!(recall(&SCORED, 0.5), 1.0);
        assert_eq!(recall(&SCORED, 0.6), 0.5);
    }
}
