//! Settings of an index by its purpose.
//!
//! A preset is a scheme, an analyzer, a ranking and a threshold that suit a kind of text, chosen by
//! the figures of docs/concepts/presets.md. The index keeps the name of its preset, so that later
//! calls take their defaults from the preset.
//!
//! All interfaces follow one rule: your option wins over the preset, and the preset wins over the
//! default of the call. A ranking applies to searches and pairs. A threshold applies only to
//! decisions about near-duplicates (pairs, clusters, deduplication). It never applies to searches,
//! because a search for a quotation would find nothing in an index of near-duplicates. The library
//! applies the rule, and reports the defaults that it used ([`PresetDefaults`]).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::suggest::did_you_mean;

/// An alias for the scheme `pairs(n=100)` over the analyzer `avtor(stop=2)`: see
/// `Config::with_frequencies` of the library.
pub const REUSE: &str = "reuse";

/// The scheme for reused text that was rewritten.
///
/// The scheme works on stems without stop words. Pairs of stems survive when words are replaced,
/// omitted or moved. Single stems survive in a sentence where no pair does.
pub const REUSE_SPEC: &str = "pairs(n=100)";

/// The analyzer for rewritten text. In a text of a few sentences, stop words stay.
pub const REUSE_ANALYZER: &str = "avtor(stop=2)";

/// The purpose of an index, which sets its scheme, its analyzer and defaults of later calls.
///
/// ```
/// use cento_api::Preset;
///
/// let preset: Preset = "corpus".parse()?;
/// assert_eq!((preset.name(), preset.analyzer()), ("corpus", "words"));
/// assert!(Preset::ALL.contains(&preset));
/// # Ok::<(), cento_api::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Essays, theses and articles.
    Essays,
    /// Web pages, news and training data: whole documents, not their passages.
    Corpus,
    /// Source code: copies with other names and another layout.
    Code,
    /// OCR text and early printed books.
    Ocr,
    /// Rewritten text, quotations, and texts of a few words.
    Rewritten,
}

/// The ranking that a preset sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum PresetRank {
    /// Hits and pairs by the weight of the fingerprints in common.
    Weight,
    /// Pairs of programs by their score.
    Score,
}

/// What a preset sets.
struct PresetSettings {
    name: &'static str,
    purpose: &'static str,
    scheme: &'static str,
    analyzer: &'static str,
    rank: Option<PresetRank>,
    min_resemblance: Option<f64>,
    dedup_min_resemblance: Option<f64>,
}

/// The specification of the default scheme.
///
/// On 366 MB of English documentation it keeps 10.4 M fingerprints, 28 a kilobyte.
pub const DEFAULT_SPEC: &str = "winnow(k=5,w=10)";

/// The scheme for texts with wrong letters, with runs of letters.
///
/// The value of a run alone decides whether it is chosen. A wrong letter therefore changes only the
/// seven runs that contain the letter. With windows, it would change neighboring choices, too.
/// `p=9` is the densest choice whose signatures have at most three times the bytes of the default
/// scheme. research/RESULTS.md has the figures.
const LETTERS_SPEC: &str = "mod(k=7,p=9)";

/// The minimum resemblance for dropping a document with wrong letters. Finding a pair requires far
/// less, but two different pages that share an item meet that, too, and the remaining text of a
/// dropped page is lost. Of 752 different pages, 0.05 drops 152 pages, 0.5 drops two, and 0.6 drops
/// no page (QUALITY.md). The containments are at least as large as the resemblance.
const NOISY_DUPLICATES: f64 = 0.6;

const WORDS: &str = "words";

/// Settings in the order of [`Preset::ALL`].
const SETTINGS: [PresetSettings; 5] = [
    PresetSettings {
        name: "essays",
        purpose: "essays, theses and articles: every shared passage of 14 words or more",
        scheme: DEFAULT_SPEC,
        analyzer: WORDS,
        rank: None,
        min_resemblance: None,
        dedup_min_resemblance: None,
    },
    PresetSettings {
        name: "corpus",
        purpose: "web pages, news, training data: whole near-duplicates, by 16 numbers each",
        scheme: "minhash(k=5,b=16,r=8)",
        analyzer: WORDS,
        rank: None,
        min_resemblance: Some(0.8),
        dedup_min_resemblance: Some(0.8),
    },
    PresetSettings {
        name: "code",
        purpose: "source code: copies with other names and another layout",
        scheme: "winnow(k=5,w=4)",
        analyzer: "code",
        rank: Some(PresetRank::Score),
        min_resemblance: None,
        dedup_min_resemblance: None,
    },
    PresetSettings {
        name: "ocr",
        purpose: "OCR text and early prints: words with wrong letters or in another spelling",
        scheme: LETTERS_SPEC,
        analyzer: "letters(folds=marks+uv+ij+ligatures+forms+umlauts+hyphens)",
        rank: None,
        min_resemblance: Some(0.05),
        dedup_min_resemblance: Some(NOISY_DUPLICATES),
    },
    PresetSettings {
        name: "rewritten",
        purpose: "rewritten text, quotations and titles: words replaced, moved or omitted",
        scheme: REUSE_SPEC,
        analyzer: REUSE_ANALYZER,
        rank: Some(PresetRank::Weight),
        min_resemblance: None,
        dedup_min_resemblance: None,
    },
];

impl Preset {
    /// All presets, in the order of printed lists.
    pub const ALL: &'static [Preset] =
        &[Preset::Essays, Preset::Corpus, Preset::Code, Preset::Ocr, Preset::Rewritten];

    fn settings(self) -> &'static PresetSettings {
        &SETTINGS[self as usize]
    }

    /// Returns the name, such as `essays`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.settings().name
    }

    /// Returns the kind of texts that the preset suits, as a clause.
    #[must_use]
    pub fn purpose(self) -> &'static str {
        self.settings().purpose
    }

    /// Returns the specification of the scheme.
    #[must_use]
    pub fn scheme(self) -> &'static str {
        self.settings().scheme
    }

    /// Returns the specification of the analyzer. `code`, for source code, needs a language before
    /// it can be used.
    #[must_use]
    pub fn analyzer(self) -> &'static str {
        self.settings().analyzer
    }

    /// Returns the ranking of searches and pairs, or `None` if the preset sets no ranking.
    #[must_use]
    pub fn rank(self) -> Option<PresetRank> {
        self.settings().rank
    }

    /// Returns the minimum resemblance of near-duplicates, or `None` if the preset sets no
    /// threshold.
    #[must_use]
    pub fn min_resemblance(self) -> Option<f64> {
        self.settings().min_resemblance
    }

    /// Returns the minimum resemblance of a dropped duplicate, or `None` if the preset sets no
    /// threshold. At least the minimum for near-duplicates.
    #[must_use]
    pub fn dedup_min_resemblance(self) -> Option<f64> {
        self.settings().dedup_min_resemblance
    }

    /// Returns the scheme of a new index: `given`, else that of the preset, else the default.
    #[must_use]
    pub fn scheme_or(preset: Option<Preset>, given: Option<&str>) -> &str {
        given.or(preset.map(Preset::scheme)).unwrap_or(DEFAULT_SPEC)
    }

    /// Returns the analyzer of a new index: `given`, else that of the preset, else the default.
    #[must_use]
    pub fn analyzer_or(preset: Option<Preset>, given: Option<&str>) -> &str {
        given.or(preset.map(Preset::analyzer)).unwrap_or(WORDS)
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Preset {
    type Err = Error;

    /// Finds a preset by its name.
    fn from_str(name: &str) -> Result<Preset, Error> {
        let names = || Preset::ALL.iter().map(|preset| preset.name());
        Preset::ALL.iter().copied().find(|preset| preset.name() == name).ok_or_else(|| {
            let meant = did_you_mean(name, names());
            let all = names().collect::<Vec<_>>().join(", ");
            Error::argument("preset", format!("no such preset: `{name}`{meant}; there are {all}"))
        })
    }
}

/// The values of an option, each with its purpose.
#[cfg(feature = "clap")]
impl clap::ValueEnum for Preset {
    fn value_variants<'a>() -> &'a [Preset] {
        Preset::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.name()).help(self.purpose()))
    }
}

impl PresetRank {
    /// Returns the name of the ranking in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PresetRank::Weight => "weight",
            PresetRank::Score => "score",
        }
    }
}

/// The defaults of a preset that the call used where you had set nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PresetDefaults {
    /// The preset of the index.
    pub preset: Preset,
    /// The minimum resemblance of near-duplicates, if the preset's value was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_resemblance: Option<f64>,
    /// The ranking, if the preset's ranking was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<PresetRank>,
}

impl fmt::Display for PresetDefaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PresetDefaults { preset, min_resemblance, rank } = self;
        write!(f, "{preset}: ")?;
        let threshold = min_resemblance.map(|least| format!("min_resemblance {least}"));
        let rank = rank.map(|rank| format!("rank {}", rank.name()));
        let used: Vec<String> = [threshold, rank].into_iter().flatten().collect();
        f.write_str(&used.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_has_one_name_everywhere() {
        assert_eq!(Preset::ALL.len(), SETTINGS.len());
        for &preset in Preset::ALL {
            let name = preset.to_string();
            assert_eq!(name.parse::<Preset>().unwrap(), preset);
            assert_eq!(serde_json::to_value(preset).unwrap(), serde_json::json!(name));
            assert_eq!(format!("{preset:?}").to_lowercase(), name);
            if let Some(rank) = preset.rank() {
                assert_eq!(serde_json::to_value(rank).unwrap(), serde_json::json!(rank.name()));
            }
        }
    }

    #[test]
    fn a_misspelt_preset_is_refused_with_the_one_that_was_meant() {
        let error = "essay".parse::<Preset>().unwrap_err().to_string();
        assert!(error.contains("did you mean `essays`?"), "{error}");
        for preset in Preset::ALL {
            assert!(error.contains(preset.name()), "{error}");
        }
    }

    #[test]
    fn what_is_named_wins_over_the_preset_and_the_preset_over_the_default() {
        let corpus = Some(Preset::Corpus);
        assert_eq!(Preset::scheme_or(corpus, Some("kgram(k=2)")), "kgram(k=2)");
        assert_eq!(Preset::scheme_or(corpus, None), "minhash(k=5,b=16,r=8)");
        assert_eq!(Preset::scheme_or(None, None), DEFAULT_SPEC);
        assert_eq!(Preset::analyzer_or(Some(Preset::Rewritten), None), "avtor(stop=2)");
        assert_eq!(Preset::analyzer_or(Some(Preset::Rewritten), Some("words")), "words");
        assert_eq!(Preset::analyzer_or(None, None), "words");
    }
}
