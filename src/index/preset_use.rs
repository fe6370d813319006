//! Applies the preset of an index to a call.
//!
//! An option of the caller takes precedence over the preset, and the preset over the default of the
//! call ([`Preset`]). Searches and joins apply this rule in the library, so that every program gets
//! the same answer as the command. They also report which defaults were applied.

use cento_api::{Preset, PresetDefaults, PresetRank};

/// The defaults of a preset for a call, and which of them were used.
#[derive(Debug, Clone, Copy)]
pub struct PresetUse {
    preset: Option<Preset>,
    used: Option<PresetDefaults>,
}

impl PresetUse {
    /// Creates the defaults of the preset of an index. Without a preset, nothing is ever used.
    pub fn of(preset: Option<Preset>) -> PresetUse {
        PresetUse { preset, used: None }
    }

    /// Returns the used defaults, or `None` if no default was used.
    pub fn defaults(&self) -> Option<PresetDefaults> {
        self.used
    }

    /// Uses the threshold for near-duplicates.
    pub fn min_resemblance(&mut self) -> Option<f64> {
        let preset = self.preset?;
        let least = preset.min_resemblance()?;
        self.noted(preset).min_resemblance = Some(least);
        Some(least)
    }

    /// Uses the threshold for dropping duplicates.
    pub fn dedup_min_resemblance(&mut self) -> Option<f64> {
        let preset = self.preset?;
        let least = preset.dedup_min_resemblance()?;
        self.noted(preset).min_resemblance = Some(least);
        Some(least)
    }

    /// Uses the ranking, unless `known` has no equivalent for it.
    pub fn rank<R>(&mut self, known: impl Fn(PresetRank) -> Option<R>) -> Option<R> {
        let preset = self.preset?;
        let rank = preset.rank()?;
        let found = known(rank)?;
        self.noted(preset).rank = Some(rank);
        Some(found)
    }

    fn noted(&mut self, preset: Preset) -> &mut PresetDefaults {
        let none = PresetDefaults { preset, min_resemblance: None, rank: None };
        self.used.get_or_insert(none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_defaults_that_are_used_are_named() {
        let mut used = PresetUse::of(Some(Preset::Corpus));
        assert_eq!(used.defaults(), None);
        assert_eq!(used.rank(Some), None);
        assert_eq!(used.defaults(), None);
        assert_eq!(used.min_resemblance(), Some(0.8));
        let defaults = used.defaults().unwrap();
        assert_eq!(defaults.to_string(), "corpus: min_resemblance 0.8");
        let json = serde_json::json!({"preset": "corpus", "min_resemblance": 0.8});
        assert_eq!(serde_json::to_value(defaults).unwrap(), json);
        let mut used = PresetUse::of(Some(Preset::Code));
        assert_eq!(used.rank(|rank| (rank == PresetRank::Weight).then_some(())), None);
        assert_eq!(used.defaults(), None);
        assert_eq!(used.rank(Some), Some(PresetRank::Score));
        assert_eq!(used.defaults().unwrap().to_string(), "code: rank score");
    }
}
