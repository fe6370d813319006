//! Applies the defaults of an index's preset to a join.
//!
//! An explicit option wins over the preset, and the preset wins over the default of the join. The
//! join itself applies the defaults, so that every program gets the same answer from the same
//! index.

use super::score::has_scores;
use super::{ClusterOptions, DedupOptions, PairOptions, PairRank, Thresholds};
use cento::index::{Preset, PresetDefaults, PresetRank, PresetUse};
use cento::search::Searcher;

/// The options of a join, completed with the defaults of a preset.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EffectiveOptions<O> {
    pub options: O,
    /// The defaults that took effect. `None` if explicit options override the preset.
    pub defaults: Option<PresetDefaults>,
}

/// What the pairs are for. The purpose decides which ranks of a preset apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairList {
    /// The pairs of a collection. The preset ranks pairs if there is a limit.
    OfCollection,
    /// The most similar pairs of a few texts. Too few texts to weigh fingerprints by rarity, so a
    /// preset can rank pairs by score only.
    MostSimilar,
}

/// Returns the preset if both indexes have the same preset.
fn common_preset(searcher: &Searcher, other: &Searcher) -> Option<Preset> {
    let own = searcher.snapshot().preset()?;
    (other.snapshot().preset() == Some(own)).then_some(own)
}

impl EffectiveOptions<PairOptions> {
    /// Completes the options for pairs within an index, or of an index and `other`.
    pub fn of_pairs(
        options: &PairOptions,
        list: PairList,
        searcher: &Searcher,
        other: &Searcher,
    ) -> EffectiveOptions<PairOptions> {
        let preset = common_preset(searcher, other);
        of_pairs(options, list, preset, || has_scores(searcher) && has_scores(other))
    }
}

fn of_pairs(
    options: &PairOptions,
    list: PairList,
    preset: Option<Preset>,
    have_scores: impl Fn() -> bool,
) -> EffectiveOptions<PairOptions> {
    let (mut options, mut used) = (options.clone(), PresetUse::of(preset));
    if !options.has_threshold() {
        options.thresholds = thresholds(&mut used);
    }
    if options.rank.is_none() && (list == PairList::MostSimilar || options.limit.is_some()) {
        options.rank = used.rank(|rank| match rank {
            PresetRank::Weight => (list == PairList::OfCollection).then_some(PairRank::Weight),
            PresetRank::Score => have_scores().then_some(PairRank::Score),
        });
    }
    if list == PairList::OfCollection && options.limit.is_some() {
        options.rank = options.rank.or(Some(PairRank::Overlap));
    }
    EffectiveOptions { options, defaults: used.defaults() }
}

impl EffectiveOptions<ClusterOptions> {
    /// Completes the options for clusters of an index with this preset.
    pub fn of_clusters(
        options: &ClusterOptions,
        preset: Option<Preset>,
    ) -> EffectiveOptions<ClusterOptions> {
        let (mut options, mut used) = (options.clone(), PresetUse::of(preset));
        if options.thresholds.is_none() {
            options.thresholds = thresholds(&mut used);
        }
        options.thresholds = options.effective_thresholds();
        EffectiveOptions { options, defaults: used.defaults() }
    }
}

impl EffectiveOptions<DedupOptions> {
    /// Completes the options for a dedup run into an index with this preset. The minimum
    /// resemblance of the preset applies unless the options set one or require identical texts.
    pub fn of_dedup(
        options: &DedupOptions,
        preset: Option<Preset>,
    ) -> EffectiveOptions<DedupOptions> {
        let (mut options, mut used) = (options.clone(), PresetUse::of(preset));
        if options.min_resemblance.is_none() && !options.exact {
            options.min_resemblance = used.dedup_min_resemblance();
        }
        EffectiveOptions { options, defaults: used.defaults() }
    }
}

fn thresholds(used: &mut PresetUse) -> Thresholds {
    Thresholds::default().min_resemblance(used.min_resemblance())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(preset: Preset, options: &PairOptions, have_scores: bool) -> (PairOptions, bool) {
        let found = of_pairs(options, PairList::OfCollection, Some(preset), || have_scores);
        (found.options, found.defaults.is_some())
    }

    fn least(used: Option<PresetDefaults>) -> Option<f64> {
        used.and_then(|used| used.min_resemblance)
    }

    #[test]
    fn a_threshold_that_is_given_wins_and_zero_switches_that_of_the_preset_off() {
        let plain = PairOptions::default();
        let none = Thresholds::default();
        let of_corpus = none.min_resemblance(0.8);
        let (options, is_used) = with(Preset::Corpus, &plain, false);
        assert_eq!((options.effective_thresholds(), is_used), (of_corpus, true));
        for given in [
            plain.clone().thresholds(none.min_resemblance(0.0)),
            plain.clone().thresholds(none.min_overlap(3u32)),
            plain.clone().min_passage(20u32),
            plain.clone().min_similarity(0.0),
        ] {
            assert_eq!(with(Preset::Corpus, &given, true), (given, false));
        }
        assert_eq!(with(Preset::Essays, &plain, false), (plain, false));
    }

    #[test]
    fn clusters_and_duplicates_take_the_threshold_too() {
        let ocr = Some(Preset::Ocr);
        let clusters = EffectiveOptions::of_clusters(&ClusterOptions::default(), ocr);
        assert_eq!(clusters.options.thresholds, Thresholds::default().min_resemblance(0.05));
        assert_eq!(least(clusters.defaults), Some(0.05));
        let dedup = |options: DedupOptions| {
            let found = EffectiveOptions::of_dedup(&options, ocr);
            (found.options.resemblance(), least(found.defaults))
        };
        let plain = DedupOptions::default;
        // A text that two pages merely share is no reason to drop a page.
        assert_eq!(dedup(plain()), (Some(0.6), Some(0.6)));
        for preset in Preset::ALL {
            assert!(preset.dedup_min_resemblance() >= preset.min_resemblance(), "{preset}");
        }
        assert_eq!(dedup(plain().min_resemblance(0.0)), (Some(0.0), None));
        assert_eq!(dedup(plain().exact(true)), (None, None));
        let without = EffectiveOptions::of_dedup(&plain(), None);
        assert_eq!(without.options.resemblance(), Some(0.8));
    }

    #[test]
    fn a_preset_ranks_pairs_with_a_limit_and_by_the_score_only_where_there_is_one() {
        let best = PairOptions::default().limit(5usize);
        let rank = |preset, options: &PairOptions, have_scores| {
            let (options, is_used) = with(preset, options, have_scores);
            (options.rank, is_used)
        };
        let overlap = Some(PairRank::Overlap);
        assert_eq!(rank(Preset::Code, &best, true), (Some(PairRank::Score), true));
        assert_eq!(rank(Preset::Code, &best, false), (overlap, false));
        assert_eq!(rank(Preset::Code, &PairOptions::default(), true), (None, false));
        let given = best.clone().rank(PairRank::Overlap);
        assert_eq!(rank(Preset::Code, &given, true), (overlap, false));
        assert_eq!(rank(Preset::Rewritten, &best, false), (Some(PairRank::Weight), true));
        for (preset, have_scores, expected) in [
            (Preset::Code, true, Some(PairRank::Score)),
            (Preset::Code, false, None),
            (Preset::Rewritten, true, None),
        ] {
            let (plain, list) = (PairOptions::default(), PairList::MostSimilar);
            let found = of_pairs(&plain, list, Some(preset), || have_scores);
            assert_eq!(
                (found.options.rank, found.defaults.is_some()),
                (expected, expected.is_some())
            );
        }
    }
}
