//! The settings to try.

use serde::Serialize;

use cento::index::{Config, Preset, PresetRank};
use cento::search::Rank;
use cento_api::error::Result;
use cento_text::text::code::with_language;

/// A way to sign documents and to rank hits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// The preset with the same parts, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// The specification of the scheme.
    pub scheme: String,
    /// The specification of the analyzer.
    pub analyzer: String,
    /// The ranking of searches.
    pub rank: Rank,
    /// The threshold to judge, if it is given instead of chosen.
    #[serde(skip)]
    pub threshold: Option<f64>,
}

/// Settings in addition to the presets: segments, longer, shorter and more runs of words, letters,
/// and stems.
const OTHERS: [(&str, &str, Rank); 8] = [
    ("breaking(p=6)", "words", Rank::Overlap),
    ("winnow(k=3,w=10)", "words", Rank::Overlap),
    ("winnow(k=5,w=4)", "words", Rank::Overlap),
    ("kgram(k=2)", "words", Rank::Overlap),
    ("kgram(k=3)", "words", Rank::Weight),
    ("kgram(k=1)", "words", Rank::Weight),
    ("kgram(k=2)", "avtor", Rank::Weight),
    ("winnow(k=8,w=4)", "chars", Rank::Overlap),
];

/// Settings for programs in addition to the presets. `code` gets the language.
const OF_PROGRAMS: [(&str, &str, Rank); 8] = [
    ("winnow(k=5,w=10)", "code", Rank::Overlap),
    ("kgram(k=5)", "code", Rank::Overlap),
    ("kgram(k=3)", "code", Rank::Weight),
    ("winnow(k=5,w=4)", "words", Rank::Overlap),
    ("kgram(k=3)", "words", Rank::Overlap),
    ("kgram(k=3)", "words", Rank::Weight),
    ("kgram(k=2)", "words", Rank::Weight),
    ("winnow(k=8,w=10)", "chars", Rank::Overlap),
];

impl Setting {
    /// Returns the setting of a preset. The preset for programs needs a language.
    ///
    /// ```
    /// use cento::Preset;
    /// use cento_collections::tune::Setting;
    ///
    /// let setting = Setting::of_preset(Preset::Code, Some("java"));
    /// assert!(setting.analyzer.contains("language=java"));
    /// ```
    #[must_use]
    pub fn of_preset(preset: Preset, language: Option<&str>) -> Setting {
        let rank = match preset.rank() {
            Some(PresetRank::Weight) => Rank::Weight,
            Some(PresetRank::Score) | None => Rank::Overlap,
        };
        let analyzer = match language {
            Some(language) => with_language(preset.analyzer(), language),
            None => preset.analyzer().to_owned(),
        };
        let scheme = preset.scheme().to_owned();
        Setting { preset: Some(preset), scheme, analyzer, rank, threshold: None }
    }

    /// Returns a setting without a preset.
    #[must_use]
    pub fn new(scheme: &str, analyzer: &str, rank: Rank) -> Setting {
        let (scheme, analyzer) = (scheme.to_owned(), analyzer.to_owned());
        Setting { preset: None, scheme, analyzer, rank, threshold: None }
    }

    /// Returns the setting with a given threshold.
    #[must_use]
    pub fn with_threshold(self, threshold: f64) -> Setting {
        Setting { threshold: Some(threshold), ..self }
    }

    /// Returns the configuration of an index with this setting, which stores texts.
    ///
    /// # Errors
    /// When this build has no such scheme or analyzer.
    pub fn config(&self) -> Result<Config> {
        Config::new(&self.scheme, &self.analyzer, true)
    }

    /// Tells whether two settings sign texts alike, so that they can share an index.
    pub(super) fn signs_as(&self, other: &Setting) -> bool {
        self.scheme == other.scheme && self.analyzer == other.analyzer
    }

    fn is_as(&self, other: &Setting) -> bool {
        self.signs_as(other) && self.rank == other.rank
    }

    /// Returns the arguments of `cento create` for an index with this setting.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let part = |name: &str, value: &str, default: &str| match value == default {
            true => Vec::new(),
            false => vec![name.to_owned(), value.to_owned()],
        };
        let (mut arguments, scheme, analyzer) = match self.preset {
            Some(preset) => {
                (vec!["--for".into(), preset.name().into()], preset.scheme(), preset.analyzer())
            }
            None => (Vec::new(), Preset::scheme_or(None, None), Preset::analyzer_or(None, None)),
        };
        arguments.extend(part("--scheme", &self.scheme, scheme));
        arguments.extend(part("--analyzer", &self.analyzer, analyzer));
        arguments
    }
}

/// Returns the settings to try for a purpose, the default first: the presets, and settings around
/// them. Programs need the name of their language.
#[must_use]
pub fn settings(purpose: Option<Preset>, language: Option<&str>) -> Vec<Setting> {
    let is_code = purpose == Some(Preset::Code);
    let (presets, others): (Vec<Preset>, &[_]) = match is_code {
        true => (vec![Preset::Essays, Preset::Code], &OF_PROGRAMS),
        false => {
            let of_text = |preset: &Preset| *preset != Preset::Code;
            (Preset::ALL.iter().copied().filter(of_text).collect(), &OTHERS)
        }
    };
    let of_language = |preset: Preset| language.filter(|_| preset == Preset::Code);
    let mut all: Vec<Setting> =
        presets.into_iter().map(|preset| Setting::of_preset(preset, of_language(preset))).collect();
    for &(scheme, analyzer, rank) in others {
        let analyzer = match language {
            Some(language) if analyzer == "code" => with_language(analyzer, language),
            _ => analyzer.to_owned(),
        };
        let setting = Setting::new(scheme, &analyzer, rank);
        // A preset may have the same parts.
        if all.iter().any(|other| other.is_as(&setting)) {
            continue;
        }
        // Settings with a common index are adjacent, so the index is made once.
        let place = all.iter().rposition(|other| other.signs_as(&setting));
        all.insert(place.map_or(all.len(), |place| place + 1), setting);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_can_be_used_and_the_default_is_the_first() {
        for (purpose, language) in [(None, None), (Some(Preset::Code), Some("java"))] {
            let all = settings(purpose, language);
            assert!((9..=14).contains(&all.len()), "{}", all.len());
            assert_eq!(all[0].arguments(), ["--for", "essays"]);
            for setting in &all {
                setting.config().unwrap();
                assert_eq!(all.iter().filter(|other| other.is_as(setting)).count(), 1);
            }
            for pair in all.windows(3) {
                assert!(!pair[0].signs_as(&pair[2]) || pair[0].signs_as(&pair[1]), "{pair:?}");
            }
        }
    }

    #[test]
    fn the_arguments_make_the_setting() {
        let setting = Setting::new("kgram(k=2)", "words", Rank::Weight);
        assert_eq!(setting.arguments(), ["--scheme", "kgram(k=2)"]);
        let code = Setting::of_preset(Preset::Code, Some("java"));
        assert_eq!(code.arguments(), ["--for", "code", "--analyzer", "code(language=java)"]);
        assert!(Setting::new("winnow(k=5,w=10)", "words", Rank::Overlap).arguments().is_empty());
    }
}
