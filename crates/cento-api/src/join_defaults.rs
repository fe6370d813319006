//! Defaults of a preset for joins; [`Preset`](crate::Preset) has the rule.

use crate::{
    ClusterOptions, DedupOptions, PairOptions, PairRank, PresetRank, PresetUse, Thresholds,
};

impl PairOptions {
    /// Returns the options with the defaults of a preset, for the pairs of stored documents: its
    /// threshold unless one is set, its rank if there is a limit. A preset ranks by the score only
    /// if the documents have scores.
    #[must_use]
    pub fn with_defaults(mut self, preset: &mut PresetUse, has_scores: bool) -> PairOptions {
        self.set_threshold(preset);
        if self.rank.is_none() && self.limit.is_some() {
            self.rank = preset.rank(|rank| match rank {
                PresetRank::Weight => Some(PairRank::Weight),
                PresetRank::Score => has_scores.then_some(PairRank::Score),
            });
        }
        self
    }

    /// Returns the options with the defaults of a preset, for the most similar of some texts: they
    /// are too few to be weighed, so of ranks only the score is a default.
    #[must_use]
    pub fn with_defaults_of_texts(
        mut self,
        preset: &mut PresetUse,
        has_scores: bool,
    ) -> PairOptions {
        self.set_threshold(preset);
        if self.rank.is_none() {
            self.rank = preset.rank(|rank| match rank {
                PresetRank::Weight => None,
                PresetRank::Score => has_scores.then_some(PairRank::Score),
            });
        }
        self
    }

    fn set_threshold(&mut self, preset: &mut PresetUse) {
        if !self.has_threshold() {
            self.thresholds = preset.thresholds();
        }
    }
}

impl ClusterOptions {
    /// Returns the options with the threshold of a preset, unless one is set.
    #[must_use]
    pub fn with_defaults(mut self, preset: &mut PresetUse) -> ClusterOptions {
        if self.thresholds.is_none() {
            self.thresholds = preset.thresholds();
        }
        self
    }
}

impl DedupOptions {
    /// Returns the options with the least resemblance of a preset, unless one is set or texts must
    /// be identical.
    #[must_use]
    pub fn with_defaults(mut self, preset: &mut PresetUse) -> DedupOptions {
        if self.min_resemblance.is_none() && !self.exact {
            self.min_resemblance = preset.dedup_min_resemblance();
        }
        self
    }
}

impl PresetUse {
    fn thresholds(&mut self) -> Thresholds {
        Thresholds::default().min_resemblance(self.min_resemblance())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Preset, PresetDefaults};

    /// Returns the options with the defaults of a preset, and the defaults that were used.
    fn with(preset: Preset, options: PairOptions, has_scores: bool) -> (PairOptions, bool) {
        let mut used = PresetUse::of(Some(preset));
        let options = options.with_defaults(&mut used, has_scores);
        (options, used.defaults().is_some())
    }

    #[test]
    fn a_threshold_that_is_given_wins_and_zero_switches_that_of_the_preset_off() {
        let plain = PairOptions::default();
        let none = Thresholds::default();
        let of_web = none.min_resemblance(0.8);
        let (options, is_used) = with(Preset::Web, plain.clone(), false);
        assert_eq!((options.effective_thresholds(), is_used), (of_web, true));
        for given in [
            plain.clone().thresholds(none.min_resemblance(0.0)),
            plain.clone().thresholds(none.min_overlap(3u32)),
            plain.clone().min_passage(20u32),
            plain.clone().min_margin(0.1),
            plain.clone().min_similarity(0.0),
        ] {
            assert_eq!(with(Preset::Web, given.clone(), true), (given, false));
        }
        assert_eq!(with(Preset::Essays, plain.clone(), false), (plain, false));
    }

    #[test]
    fn clusters_and_duplicates_take_the_threshold_too() {
        let mut used = PresetUse::of(Some(Preset::Ocr));
        let clusters = ClusterOptions::default().with_defaults(&mut used);
        assert_eq!(clusters.effective_thresholds(), Thresholds::default().min_resemblance(0.05));
        let least = |used: Option<PresetDefaults>| used.and_then(|used| used.min_resemblance);
        assert_eq!(least(used.defaults()), Some(0.05));
        let dedup = |options: DedupOptions| {
            let mut used = PresetUse::of(Some(Preset::Ocr));
            (options.with_defaults(&mut used).resemblance(), least(used.defaults()))
        };
        let plain = DedupOptions::default();
        // What two pages share is no reason to drop one of them.
        assert_eq!(dedup(plain), (Some(0.6), Some(0.6)));
        for preset in Preset::ALL {
            assert!(preset.dedup_min_resemblance() >= preset.min_resemblance(), "{preset}");
        }
        assert_eq!(dedup(plain.min_resemblance(0.0)), (Some(0.0), None));
        assert_eq!(dedup(plain.exact(true)), (None, None));
        assert_eq!(plain.with_defaults(&mut PresetUse::of(None)).resemblance(), Some(0.8));
    }

    #[test]
    fn a_preset_ranks_pairs_with_a_limit_and_by_the_score_only_where_there_is_one() {
        let best = PairOptions::default().limit(5usize);
        let rank = |preset, options: &PairOptions, has_scores| {
            let (options, is_used) = with(preset, options.clone(), has_scores);
            (options.rank, is_used)
        };
        assert_eq!(rank(Preset::Code, &best, true), (Some(PairRank::Score), true));
        assert_eq!(rank(Preset::Code, &best, false), (None, false));
        assert_eq!(rank(Preset::Code, &PairOptions::default(), true), (None, false));
        let given = best.clone().rank(PairRank::Overlap);
        assert_eq!(rank(Preset::Code, &given, true), (Some(PairRank::Overlap), false));
        assert_eq!(rank(Preset::Rewritten, &best, false), (Some(PairRank::Weight), true));
        for (preset, has_scores, expected) in [
            (Preset::Code, true, Some(PairRank::Score)),
            (Preset::Code, false, None),
            (Preset::Rewritten, true, None),
        ] {
            let mut used = PresetUse::of(Some(preset));
            let options = PairOptions::default().with_defaults_of_texts(&mut used, has_scores);
            assert_eq!((options.rank, used.defaults().is_some()), (expected, expected.is_some()));
        }
    }
}
