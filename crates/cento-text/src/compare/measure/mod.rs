//! Measures: definitions of the similarity of two texts.
//!
//! Fingerprints find candidates. A measure then compares both texts and returns a number from 0,
//! nothing in common, to 1. The table shows the cost for texts of n and m tokens, and the purpose:
//!
//! | specification | of | costs | for |
//! |---|---|---|---|
//! | `containment(k=5)` | runs of k tokens of the first text that the second has | n + m | reuse of a text in a longer one |
//! | `symmetric(k=5)` | twice the common runs of k tokens over the runs of both texts | n + m | copies of like length |
//! | `resemblance(k=5)` | common runs of k tokens over all runs | n + m | near-duplicates |
//! | `qgrams(q=4)` | q-grams of characters of the first text that the second has, counted as often as both have them | n + m | texts with typing errors |
//! | `overlap(n=10)` | tokens of the first text in common stretches of at least n | n + m | exact quotations |
//! | `gzip` | what compressing both texts together by gzip saves, which forgets after 32 KiB | slow | any data; unrelated texts have 0.1 to 0.3 |
//! | `bzip2` | what compressing both texts together by bzip2 saves | slow | any data; unrelated texts have 0.1 to 0.3 |
//! | `ppm` | what compressing both texts together by PPMd saves | slow | any data; unrelated texts have 0.1 to 0.3 |
//! | `cosine` | words, weighted by the logarithm of their frequency, or with a frequency table by TF-IDF | n + m | the same topic |
//! | `style` | the shares of the words the, and, but, so; 0 if neither text has any | n + m | whole documents, roughly |
//! | `levenshtein` | tokens inserted, deleted and replaced | n m / 64 | order, in short texts |
//! | `damerau` | tokens inserted, deleted, replaced and exchanged with their neighbors | n m | order, in short texts |
//! | `lcs` | the longest common subsequence | n m / 64 | order, in short texts |
//! | `hamming` | equal tokens at equal places | n | versions without insertions |
//!
//! Measures know neither fingerprints nor indexes.

mod compression;
mod edit;
mod family;
pub mod overlap;
mod sets;
mod vectors;

pub use family::Family;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::runtime::Stop;
use crate::scheme::frequency::FrequencyTable;
use crate::spec::{Spec, SpecGrammar};
use crate::text::{Analyzer, Side};
use crate::{Error, Reason, Refusal, Result};
use family::{MeasuredTexts, Similarity};

/// A measure of similarity.
///
/// ```
/// use cento_text::{Measure, Stop};
/// use cento_text::text::{Analyzer, Side, Tokens};
///
/// let (mut a, mut b) = (Tokens::default(), Tokens::default());
/// Analyzer::default().analyze("one two three", &mut a, Stop::NEVER)?;
/// Analyzer::default().analyze("one two four", &mut b, Stop::NEVER)?;
/// let measure: Measure = "levenshtein".parse()?;
/// let [a, b] = [("one two three", &a), ("one two four", &b)]
///     .map(|(text, tokens)| Side { text, tokens, parts: &[] });
/// assert!((measure.of(a, b) - 2.0 / 3.0).abs() < 1e-9);
/// # Ok::<(), cento_text::Error>(())
/// ```
///
/// Serializes as its specification, without the collection and the limit of steps.
#[doc(alias = "Jaccard")]
#[doc(alias = "containment")]
#[doc(alias = "Levenshtein")]
#[doc(alias = "cosine")]
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Measure {
    spec: Spec,
    family: &'static Family,
    similarity: Similarity,
    /// The frequencies of words in a collection, for `cosine`.
    collection: Option<Arc<FrequencyTable>>,
    /// The maximum number of steps, if limited.
    steps_max: Option<u64>,
}

impl PartialEq for Measure {
    fn eq(&self, other: &Measure) -> bool {
        let digest = |measure: &Measure| measure.collection.as_ref().map(|table| table.digest());
        self.spec == other.spec && digest(self) == digest(other)
    }
}

impl Eq for Measure {}

/// All measures, in display order.
static FAMILIES: [&Family; 14] = [
    &sets::CONTAINMENT,
    &sets::SYMMETRIC,
    &sets::RESEMBLANCE,
    &sets::QGRAMS,
    &overlap::FAMILY,
    &compression::GZIP,
    &compression::BZIP2,
    &compression::PPM,
    &vectors::COSINE,
    &vectors::STYLE,
    &edit::LEVENSHTEIN,
    &edit::DAMERAU,
    &edit::LCS,
    &edit::HAMMING,
];

static GRAMMAR: SpecGrammar<Family> = SpecGrammar { noun: "measure", families: &FAMILIES };

/// Returns all families of measures.
#[must_use]
pub fn families() -> &'static [&'static Family] {
    &FAMILIES
}

impl Measure {
    /// Returns all measures, with their default parameters.
    #[must_use]
    pub fn all() -> Vec<Measure> {
        let parsed = GRAMMAR.families.iter().map(|family| family.name.parse());
        parsed.map(|measure| measure.expect("a name of the grammar is a measure")).collect()
    }

    /// Returns the measures with these names, where `all` means every measure. Measures that use a
    /// collection weight words by `collection`.
    ///
    /// ```
    /// use cento_text::{Analyzer, Measure};
    ///
    /// let names = ["cosine".to_owned(), "all".to_owned()];
    /// let measures = Measure::parse_all(&names, None, &Analyzer::default())?;
    /// // `all` includes `cosine`, which is not listed twice.
    /// assert_eq!(measures.len(), Measure::all().len());
    /// let unknown = Measure::parse_all(&["cosin".into()], None, &Analyzer::default());
    /// assert!(unknown.unwrap_err().to_string().contains("did you mean `cosine`?"));
    /// # Ok::<(), cento_text::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a name is unknown, or the table does not fit the analyzer.
    pub fn parse_all(
        names: &[String],
        collection: Option<&Arc<FrequencyTable>>,
        analyzer: &Analyzer,
    ) -> Result<Vec<Measure>> {
        let mut measures: Vec<Measure> = Vec::new();
        for name in names {
            let named = match name.as_str() {
                "all" => Measure::all(),
                name => vec![name.parse()?],
            };
            for measure in named {
                // A repeated name adds its measure once.
                if !measures.contains(&measure) {
                    measures.push(measure);
                }
            }
        }
        let weigh = |measure: Measure| match collection {
            Some(table) => measure.in_collection(table, analyzer),
            None => Ok(measure),
        };
        measures.into_iter().map(weigh).collect()
    }

    /// Returns the family of the measure.
    #[must_use]
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// Returns the name, without parameters.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.spec.name()
    }

    /// Returns the measure with weights by rarity in a collection: `cosine` then weights words by
    /// TF-IDF. No other measure changes. `analyzer` is the analyzer of the measured tokens.
    ///
    /// # Errors
    /// When the table does not count the words that this analyzer makes.
    pub fn in_collection(
        self,
        table: &Arc<FrequencyTable>,
        analyzer: &Analyzer,
    ) -> Result<Measure> {
        let header = table.header();
        if header.q != 1 || header.analyzer != analyzer.to_string() {
            let what = format!(
                "TF-IDF needs a frequency table of single tokens by {analyzer}; this one counts \
                 runs of {} tokens by {}",
                header.q, header.analyzer
            );
            let refusal = Refusal::new(Reason::OtherFrequencyTable, what);
            return Err(Error::spec(self.to_string(), refusal));
        }
        let collection = self.family.knows_collections.then(|| table.clone());
        Ok(Measure { collection, ..self })
    }

    /// Returns the measure with a limit of steps: texts that would need more steps are refused
    /// before the first step. A step is about ten nanoseconds.
    #[must_use]
    pub fn within(self, steps_max: u64) -> Measure {
        Measure { steps_max: Some(steps_max), ..self }
    }

    /// Measures as [`of`](Self::of) does, within the limit of steps that [`within`](Self::within)
    /// sets.
    ///
    /// # Errors
    /// When the texts need more steps. [`Error::Cancelled`] soon after `stop`.
    pub fn try_of(&self, a: Side<'_>, b: Side<'_>, stop: &Stop) -> Result<f64> {
        if self.steps_max.is_some_and(|max| (self.family.steps)(a, b) > max) {
            let what = format!(
                "texts of {} and {} tokens are too long for {self}; choose another measure",
                a.tokens.hashes.len(),
                b.tokens.hashes.len()
            );
            return Err(Error::argument("measure", what));
        }
        self.similarity(a, b, stop)
    }

    /// Returns the similarity of the texts, 0 to 1. For asymmetric measures, how much of `a` is in
    /// `b`.
    #[must_use]
    pub fn of(&self, a: Side<'_>, b: Side<'_>) -> f64 {
        let measured = self.similarity(a, b, Stop::NEVER);
        measured.expect("measuring fails only when it is stopped")
    }

    fn similarity(&self, a: Side<'_>, b: Side<'_>, stop: &Stop) -> Result<f64> {
        stop.check()?;
        let collection = self.collection.as_deref();
        let similarity =
            (self.similarity)(&MeasuredTexts { a, b, spec: &self.spec, collection, stop })?;
        Ok(similarity.clamp(0.0, 1.0))
    }
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(spec: &str) -> Result<Measure> {
        let (spec, family) = GRAMMAR.parse(spec)?;
        let similarity = family.similarity;
        Ok(Measure { spec, family, similarity, collection: None, steps_max: None })
    }
}

impl TryFrom<String> for Measure {
    type Error = Error;

    fn try_from(name: String) -> Result<Measure> {
        name.parse()
    }
}

impl From<Measure> for String {
    fn from(measure: Measure) -> String {
        measure.to_string()
    }
}

impl fmt::Display for Measure {
    /// Writes the specification, without parentheses if there are no parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spec.to_string().trim_end_matches("()"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Tokens;
    use proptest::prelude::*;

    fn of(measure: &str, a: &str, b: &str) -> f64 {
        let tokens = |text: &str| {
            let mut tokens = Tokens::default();
            Analyzer::default().analyze(text, &mut tokens, Stop::NEVER).unwrap();
            tokens
        };
        let (x, y) = (tokens(a), tokens(b));
        let measure: Measure = measure.parse().unwrap();
        measure
            .of(Side { text: a, tokens: &x, parts: &[] }, Side { text: b, tokens: &y, parts: &[] })
    }

    #[test]
    fn a_measure_that_is_named_twice_is_taken_once() {
        let names = ["lcs", "all", "lcs()", "all", "qgrams(q=4)", "qgrams(q=5)"].map(String::from);
        let measures = Measure::parse_all(&names, None, &Analyzer::default()).unwrap();
        assert_eq!(measures.len(), Measure::all().len() + 1);
        assert_eq!(measures[0].name(), "lcs");
    }

    #[test]
    fn small_texts_have_the_similarities_of_the_definitions() {
        let check = |measure, a, b, expected: f64| {
            let found = of(measure, a, b);
            assert!((found - expected).abs() < 1e-9, "{measure}: {found}, not {expected}");
        };
        let (a, b) = ("a b c d e", "a b c x e f g");
        // Pairs ab bc cd de, and ab bc cx xe ef fg.
        check("containment(k=2)", a, b, 2.0 / 4.0);
        check("containment(k=2)", b, a, 2.0 / 6.0);
        check("symmetric(k=2)", a, b, 4.0 / 10.0);
        check("resemblance(k=2)", a, b, 2.0 / 8.0);
        // aa aa ab, and aa ab bb: the common q-grams are one aa and the ab.
        check("qgrams(q=2)", "aaab", "aabb", 2.0 / 3.0);
        check("overlap(n=2)", "q a b c q d e", "d e a b c", 5.0 / 7.0);
        check("overlap(n=3)", "q a b c q d e", "d e a b c", 3.0 / 7.0);
        check("levenshtein", a, b, 1.0 - 3.0 / 7.0);
        check("damerau", "a b c", "b a c", 1.0 - 1.0 / 3.0);
        check("lcs", "a b c d", "b a c d", 3.0 / 4.0);
        check("hamming", "a b c d", "a x c", 2.0 / 4.0);
        // Weights 1 + ln 2 and 1 in the first text, 1 and 1 in the second.
        let weight = 1.0 + 2f64.ln();
        let expected = weight / ((weight * weight + 1.0).sqrt() * 2f64.sqrt());
        check("cosine", "a a b", "a c", expected);
        check("style", "the and but so", "the and but so", 1.0);
        let distance = (0.5f64 * 0.5 + 0.5 * 0.5).sqrt();
        check("style", "the x", "and x", 1.0 - distance / 2f64.sqrt());
        // Two Russian texts were equal by their shares of four English words, which were 0.
        let one = "\u{43c}\u{44b}\u{448}\u{44c} \u{441}\u{44a}\u{435}\u{43b}\u{430}";
        let other = "\u{434}\u{43e}\u{436}\u{434}\u{44c} \u{438}\u{434}\u{451}\u{442}";
        check("style", one, other, 0.0);
        check("style", one, one, 1.0);
        check("style", one, "x and x", 1.0 - (1.0 / 3.0) / 2f64.sqrt());
    }

    #[test]
    fn a_collection_makes_rare_words_count_more() {
        use crate::scheme::frequency::testing::{table, tokens};
        let analyzer = Analyzer::default();
        let texts = ["the the the the red".to_owned(), "the the the blue".to_owned()];
        let collection = table("words", 1, &texts);
        let measure: Measure = "cosine".parse().unwrap();
        let weighted = measure.clone().in_collection(&collection, &analyzer).unwrap();
        assert_ne!(weighted, measure);
        let of = |measure: &Measure, a: &str, b: &str| {
            let (x, y) = (tokens("words", a), tokens("words", b));
            measure.of(
                Side { text: a, tokens: &x, parts: &[] },
                Side { text: b, tokens: &y, parts: &[] },
            )
        };
        // Nine tokens: "the" weighs ln(1 + 9 / 7), words that occur once or never weigh ln 10.
        let (the, rare) = ((16f64 / 7.0).ln(), 10f64.ln());
        let expected = the * the / (the * the + rare * rare);
        assert!((of(&weighted, "the red", "the green") - expected).abs() < 1e-9);
        assert!(of(&measure, "the red", "the green") > 2.0 * expected);
        assert!(measure.in_collection(&table("words", 2, &texts), &analyzer).is_err());
    }

    #[test]
    fn compressors_notice_copies() {
        // Text that does not compress by itself, shorter than gzip's window.
        let text = |seed: u64| {
            let word = |i| format!("{:x} ", crate::hash::mix64(seed << 32 | i));
            (0..800).map(word).collect::<String>()
        };
        for measure in ["gzip", "bzip2", "ppm"] {
            let (copy, other) = (of(measure, &text(1), &text(1)), of(measure, &text(1), &text(2)));
            assert!(copy > 0.6, "{measure}: {copy}");
            assert!(other < 0.15, "{measure}: {other}");
        }
    }

    #[test]
    fn a_measure_ends_at_the_check_that_finds_it_cancelled() {
        use crate::runtime::stop::testing::After;
        let text = |seed: u64| -> (String, Tokens) {
            let word = |i| format!("{:x} ", crate::hash::mix64(seed << 32 | i) >> 44);
            let text = (0..12_000).map(word).collect::<String>();
            let mut tokens = Tokens::default();
            Analyzer::default().analyze(&text, &mut tokens, Stop::NEVER).unwrap();
            (text, tokens)
        };
        let ((a, x), (b, y)) = (text(1), text(2));
        let [a, b] = [(&a, &x), (&b, &y)].map(|(text, tokens)| Side { text, tokens, parts: &[] });
        for measure in Measure::all() {
            // Two measures only count, and are done before a second check.
            let looks_max = u64::from(!["style", "hamming"].contains(&measure.name()));
            let flag = After::looks(looks_max);
            let stopped = measure.try_of(a, b, flag.stop());
            assert!(matches!(stopped, Err(Error::Cancelled)), "{measure}");
            assert_eq!(flag.count(), looks_max + 1, "{measure}");
        }
    }

    #[test]
    fn measures_print_as_they_are_read() {
        for measure in Measure::all() {
            assert_eq!(measure.to_string().parse::<Measure>().unwrap(), measure);
        }
        assert_eq!("gzip".parse::<Measure>().unwrap().to_string(), "gzip");
        assert!("telepathy".parse::<Measure>().is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn equal_texts_are_equal_and_all_are_within_bounds(
            a in "([a-d]{1,2}[ .]){0,60}", b in "([a-d]{1,2}[ .]){0,60}",
        ) {
            // Compressors are slow without optimization, and have a separate test.
            let quick = |measure: &Measure| !["gzip", "bzip2", "ppm"].contains(&measure.name());
            for measure in Measure::all().into_iter().filter(quick) {
                let name = measure.to_string();
                let found = of(&name, &a, &b);
                prop_assert!((0.0..=1.0).contains(&found), "{}: {}", name, found);
                if a.split(['.', ' ']).filter(|word| !word.is_empty()).count() >= 10 {
                    prop_assert!((of(&name, &a, &a) - 1.0).abs() < 1e-9, "{}", name);
                }
            }
        }
    }
}
