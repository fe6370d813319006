//! Hashes of the words of a document that are neither rare nor frequent in a collection.
//!
//! - `imatch(min,ppm,n)`: one hash of all distinct words that occur at least `min` times, and in at
//!   most `ppm` of a million places (I-Match, Chowdhury et al. 2002). Each of `n` further hashes
//!   covers a random two thirds of the words (Kolcz, Chowdhury and Alspector 2004), so that a
//!   changed word spoils only two thirds of the hashes.
//! - `keywords(min,ppm,t)`: one hash of the same words, if the document has the word at least `t`
//!   times: the signature of key words of Ilyinsky et al. 2002 (Sharapova and Sharapova 2018,
//!   section 2.3 g).

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, Kind, SchemeBuilder, Table};
use super::frequency::FrequencyTable;
use super::grams::Grams;
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::hash::mix64;
use crate::runtime::Stop;
use crate::spec::{Parameter, Spec};
use std::sync::Arc;

/// The minimum count of a word, in both families.
const MIN: Parameter = Parameter::number(
    "min",
    2,
    0,
    u32::MAX,
    "words that the collection has less often are left out",
);

/// The maximum share of a word, in both families.
const PPM: Parameter = Parameter::number(
    "ppm",
    1000,
    1,
    1_000_000,
    "words that make up more of the collection are left out, in millionths",
);

pub(super) const IMATCH: Family = Family {
    name: "imatch",
    parameters: &[
        MIN,
        PPM,
        Parameter::number("n", 6, 0, 64, "random parts of the words, each a fingerprint more"),
    ],
    summary: "the words that are neither rare nor frequent, as a whole",
    density: "n + 1 a document",
    source: "Chowdhury et al. 2002; Kolcz, Chowdhury and Alspector 2004",
    example: "imatch(min=2,ppm=1000,n=6)",
    kind: Kind::Sketch,
    build: SchemeBuilder::With(Table::Tokens, |spec, table| {
        Box::new(CountedWords::new(spec, table, u64::from(spec.get("n")), 1))
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["imatch(min=1,ppm=50000)"],
        pins: &[
            ("imatch", "words", 17323700433483141484),
            ("imatch(min=1,ppm=50000)", "words", 8277105190860421120),
        ],
        ..Laws::NONE
    },
};

pub(super) const KEYWORDS: Family = Family {
    name: "keywords",
    parameters: &[
        MIN,
        PPM,
        Parameter::number("t", 2, 1, 1000, "how often the document must have a key word"),
    ],
    summary: "the words of `imatch` that the document has `t` times, as a whole",
    density: "1 a document",
    source: "Ilyinsky et al. 2002; Sharapova and Sharapova 2018, section 2.3 g",
    example: "keywords(min=2,ppm=1000,t=2)",
    kind: Kind::Sketch,
    build: SchemeBuilder::With(Table::Tokens, |spec, table| {
        Box::new(CountedWords::new(spec, table, 0, spec.get("t") as usize))
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["keywords(min=1,ppm=50000)"],
        pins: &[
            ("keywords", "words", 3580146687545192618),
            ("keywords(min=1,ppm=50000,t=1)", "words", 1604320277456730629),
        ],
        has_one: true,
        ..Laws::NONE
    },
};

/// A hash of the words between two counts that a document has at least `times` times, and a further
/// hash for each of the `lexicons`, of a random part of the words.
#[derive(Debug)]
struct CountedWords {
    min: u64,
    ppm: u64,
    lexicons: u64,
    times: usize,
    grams: Grams,
    table: Arc<FrequencyTable>,
}

impl CountedWords {
    fn new(spec: &Spec, table: Arc<FrequencyTable>, lexicons: u64, times: usize) -> CountedWords {
        let [min, ppm] = ["min", "ppm"].map(|name| u64::from(spec.get(name)));
        let grams = Grams::new(1, &table.header().analyzer);
        CountedWords { min, ppm, lexicons, times, grams, table }
    }
}

/// Returns the hash of the `words` in a lexicon, or of `all` words of the document if no word is in
/// the lexicon.
fn match_key(words: &[u64], all: &[u64], lexicon: u64) -> u64 {
    let is_dropped =
        |word: u64| lexicon > 0 && mix64(word ^ mix64(lexicon)).is_multiple_of(LEXICON_PARTS);
    let hash =
        |words: &mut dyn Iterator<Item = &u64>| words.fold(lexicon, |key, &word| mix64(key ^ word));
    let mut kept = words.iter().filter(|word| !is_dropped(**word)).peekable();
    if kept.peek().is_some() { hash(&mut kept) } else { hash(&mut all.iter()) }
}

/// A random lexicon lacks one word in this many.
const LEXICON_PARTS: u64 = 3;

impl SchemeMethod for CountedWords {
    fn key_bits(&self) -> u8 {
        u64::BITS as u8
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, stop: &Stop) -> Result<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        let mut all: Vec<u64> = self.grams.keys(hashes).collect();
        all.sort_unstable();
        let same = all.chunk_by(|a, b| a == b);
        let words: Vec<u64> =
            same.filter(|same| same.len() >= self.times).map(|same| same[0]).collect();
        all.dedup();
        let most = u128::from(self.table.header().grams) * u128::from(self.ppm) / 1_000_000;
        let bounds = self.min..=u64::try_from(most).unwrap_or(u64::MAX);
        // The counts are looked up once for all lexicons.
        let mut known = Vec::new();
        for (at, &word) in words.iter().enumerate() {
            stop.check_at(at)?;
            if bounds.contains(&self.table.count(word)) {
                known.push(word);
            }
        }
        for lexicon in 0..=self.lexicons {
            stop.check()?;
            let key = match_key(&known, &all, lexicon);
            signature.push(Fingerprint { key, position: 0 });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::scheme::frequency::testing::{sign, table};
    use std::collections::HashSet;

    #[test]
    fn key_words_are_those_that_a_document_has_often() {
        let texts = ["red green blue red green blue", "once"].map(str::to_owned);
        let table = table("words", 1, &texts);
        let key = |text: &str| -> u64 { sign("keywords(ppm=500000,t=2)", &table, text)[0].key };
        let original = key("red red green green blue");
        assert_eq!(key("once green green unknown unknown red red red"), original);
        assert_ne!(key("red red green green blue blue"), original);
        assert_ne!(key("red green blue"), original);
        // If no key word is frequent in the document, all words count, and only a copy can be
        // found.
        let unlike = ["red green blue", "red blue", "the red the", "the green the", "the the"];
        let keys: HashSet<u64> = unlike.into_iter().map(key).collect();
        assert_eq!(keys.len(), unlike.len());
        assert_eq!(key("green blue red"), key("red green blue"));
    }

    #[test]
    fn i_match_sees_neither_order_nor_frequent_nor_unknown_words() {
        let frequent = "the ".repeat(100);
        let texts = ["red green blue red green blue", &frequent, "once"].map(str::to_owned);
        let table = table("words", 1, &texts);
        let keys = |text: &str| -> HashSet<u64> {
            sign("imatch(ppm=500000)", &table, text).iter().map(|f| f.key).collect()
        };
        let original = keys("red green blue");
        assert_eq!(original.len(), 7);
        assert_eq!(keys("the blue, the green, the red unknown once"), original);
        assert!(keys("the the unknown").is_disjoint(&original));
        // A lexicon without the missing word still agrees.
        let lacking = ["red green", "red blue", "green blue"].map(keys);
        assert!(lacking.iter().any(|lacking| !lacking.is_disjoint(&original)));
        assert!(lacking.iter().all(|lacking| *lacking != original));
    }
}
