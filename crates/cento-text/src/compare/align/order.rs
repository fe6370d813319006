//! Decides which of two texts is aligned as the query.
//!
//! Some stages are asymmetric: if two passages share most of their places in the query, only one is
//! taken, and frequent words of the document bring up nothing. To get the same passages whichever
//! text is searched for, the longer text is always the query here (if equally long, the greater
//! text). Each part of the longer text is then in one passage, beside the place of the shorter text
//! that fits best. The opposite order would find less of a clause that the longer text repeats.
//!
//! The searched text is prepared once, and its seeds and words serve in either order. Only `noisy`
//! looks up letters and nearly equal words in the shorter text, because its words are recorded
//! sooner.

use super::{AlignedPassage, Side};
use crate::compare::TextPair;
use crate::compare::runs::Place;

/// Two texts, the longer text first unless turned.
#[derive(Clone, Copy)]
pub struct OrderedPair<'a> {
    /// The text that is aligned as the query, usually the longer text.
    pub query: Side<'a>,
    /// The text that is aligned as the document.
    pub document: Side<'a>,
    /// Whether the text that is searched for takes the role of the document.
    pub is_turned: bool,
}

impl<'a> OrderedPair<'a> {
    /// Puts the searched text and a document in order.
    pub fn new(query: Side<'a>, document: Side<'a>) -> OrderedPair<'a> {
        let pair = OrderedPair { query, document, is_turned: false };
        let start = |side: Side<'_>| side.tokens.spans.first().map(|first| first.start);
        let key = |side: Side<'a>| (side.tokens.hashes.len(), side.text, start(side));
        if key(document) > key(query) { pair.turned() } else { pair }
    }

    /// Returns the pair with its texts exchanged.
    pub fn turned(self) -> OrderedPair<'a> {
        let OrderedPair { query, document, is_turned } = self;
        OrderedPair { query: document, document: query, is_turned: !is_turned }
    }

    /// Returns the hashes of the tokens of both texts.
    pub fn tokens(&self) -> TextPair<&'a [u64]> {
        TextPair::new(&self.query.tokens.hashes, &self.document.tokens.hashes)
    }

    /// Returns, for each text of the pair, the side as which its tokens were hidden.
    pub fn places(&self) -> [Place; 2] {
        let places = [Place::Query, Place::Document];
        if self.is_turned { [places[1], places[0]] } else { places }
    }

    /// Converts a value of the searched text and a value of the document to the order of the pair,
    /// or back.
    pub fn in_order<T>(&self, [known, other]: [T; 2]) -> [T; 2] {
        if self.is_turned { [other, known] } else { [known, other] }
    }
}

impl AlignedPassage {
    /// Returns the passage with its sides exchanged.
    pub(super) fn mirrored(self) -> AlignedPassage {
        let AlignedPassage { query, hit, matched, matched_in_hit, .. } = self;
        AlignedPassage {
            query: hit,
            hit: query,
            matched: matched_in_hit,
            matched_in_hit: matched,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::noisy::testing::{misread, text};
    use super::super::{Genre, align};
    use super::*;
    use crate::compare::runs::hide;
    use crate::hash::mix64;
    use crate::runtime::Stop;
    use crate::text::{AnalyzedText, Analyzer};
    use proptest::prelude::*;

    /// How a stretch of a text derives from a source.
    #[derive(Debug, Clone, Copy)]
    enum Stretch {
        Copied,
        Repeated,
        WordsRemoved,
        Shuffled,
        Summarized,
        Misread,
        Joined,
        Other,
    }

    const STRETCHES: [Stretch; 8] = [
        Stretch::Copied,
        Stretch::Repeated,
        Stretch::WordsRemoved,
        Stretch::Shuffled,
        Stretch::Summarized,
        Stretch::Misread,
        Stretch::Joined,
        Stretch::Other,
    ];

    impl Stretch {
        /// Makes a stretch of this kind from text.
        fn of(self, text: &str, seed: u64) -> String {
            let words = || text.split(' ').enumerate();
            let but = |one_in: u64| {
                let is_left_out =
                    move |at: usize| mix64(seed << 16 | at as u64).is_multiple_of(one_in);
                let kept = words().filter(move |&(at, _)| !is_left_out(at));
                kept.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
            };
            match self {
                Stretch::Copied => text.to_owned(),
                Stretch::Repeated => [text, text].join(" "),
                Stretch::WordsRemoved => but(6),
                Stretch::Summarized => but(2),
                Stretch::Shuffled => {
                    let mut words: Vec<(usize, &str)> = words().collect();
                    words.sort_by_key(|&(at, _)| (at / 12, mix64(seed ^ at as u64)));
                    words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
                }
                Stretch::Misread => misread(text, 15, seed),
                Stretch::Joined => text.replace(' ', ""),
                Stretch::Other => super::super::noisy::testing::text(seed + 1000, 60),
            }
        }
    }

    /// A stretch as its kind, its source, and the seed of its changes.
    fn stretches() -> impl Strategy<Value = Vec<(Stretch, usize, u64)>> {
        let stretch = (prop::sample::select(&STRETCHES[..]), 0usize..4, 0u64..99);
        prop::collection::vec(stretch, 1..6)
    }

    /// Returns a text of stretches of these sources.
    fn of_stretches(sources: &[String], stretches: &[(Stretch, usize, u64)]) -> String {
        let of = |&(kind, source, seed): &(Stretch, usize, u64)| kind.of(&sources[source], seed);
        stretches.iter().map(of).collect::<Vec<_>>().join(". ")
    }

    fn analyzed(text: &str, analyzer: &str) -> AnalyzedText {
        let analyzer: Analyzer = analyzer.parse().unwrap();
        AnalyzedText::new(text.to_owned(), &analyzer, Stop::NEVER).unwrap()
    }

    /// Checks that two texts have the same passages whichever is the query, and returns their
    /// number; `hide` tokens of both.
    fn check(a: &str, b: &str, analyzer: &str, hidden: &[std::ops::Range<usize>]) -> usize {
        let genre = Genre::of(&analyzer.parse().unwrap());
        let found = |query: &str, document: &str| {
            let [mut query, mut document] = [query, document].map(|text| analyzed(text, analyzer));
            for (text, place) in [(&mut query, Place::Query), (&mut document, Place::Document)] {
                let count = text.tokens.hashes.len();
                let hidden = hidden.iter().filter(|range| range.end <= count).cloned();
                hide(&mut text.tokens.hashes, &hidden.collect::<Vec<_>>(), place);
            }
            align(query.side(), document.side(), genre, Stop::NEVER).unwrap()
        };
        let (one, other) = (found(a, b), found(b, a));
        let mut mirrored: Vec<AlignedPassage> =
            other.passages.into_iter().map(AlignedPassage::mirrored).collect();
        mirrored.sort_by_key(|passage| (passage.query.start, passage.hit.start));
        let mut passages = one.passages;
        passages.sort_by_key(|passage| (passage.query.start, passage.hit.start));
        assert_eq!(passages, mirrored, "\n{a}\n\n{b}");
        assert_eq!(one.is_complete, other.is_complete);
        passages.len()
    }

    proptest! {
        #[test]
        fn two_texts_have_the_same_passages_whichever_is_the_query(
            (a, b) in (stretches(), stretches()), hidden in 0usize..200,
        ) {
            let sources: Vec<String> = (0..4).map(|seed| text(seed, 70)).collect();
            let texts = [of_stretches(&sources, &a), of_stretches(&sources, &b)];
            let all = sources.join(". ");
            check(&texts[0], &texts[1], "words", &[]);
            check(&all, &texts[1], "words", &[]);
            check(&texts[0], &all, "words", std::slice::from_ref(&(hidden..hidden + 9)));
        }

        #[test]
        fn programs_have_the_same_passages_whichever_is_the_query(
            a in prop::collection::vec(0usize..9, 20..90),
            b in prop::collection::vec(0usize..9, 20..90),
        ) {
            let program = |statements: &[usize]| -> String {
                let of = [
                    "x = y;", "f(x);", "if (x) {", "}", "x++;", "g(1, 2);", "return;", "a[i] = 0;",
                    "{1, 2, 3, 4, 5, 6, 7, 8, 9},",
                ];
                statements.iter().map(|&at| of[at].to_owned() + "\n").collect()
            };
            check(&program(&a), &program(&b), "code(language=c)", &[]);
        }

        #[test]
        fn letters_without_spaces_have_the_same_passages_whichever_is_the_query(
            parts in prop::collection::vec((0u64..3, 0u64..60, 5u64..60, 0u64..9), 2..6),
        ) {
            let of = |source: u64, at: u64| {
                let drawn = mix64(source << 32 | at) % if at.is_multiple_of(3) { 40 } else { 5000 };
                char::from_u32(0x4e00 + drawn as u32).unwrap()
            };
            let a: String = (0..300).map(|at| of(at / 100, at % 100)).collect();
            let b = parts.iter().map(|&(source, from, len, wrong)| {
                let is_wrong = |at: u64| wrong > 0 && at.is_multiple_of(wrong + 2);
                let letter = |at| of(if is_wrong(at) { 9 } else { source }, at);
                let end = if wrong == 5 { "\u{3002}" } else { "\u{ff0c}" };
                (from..from + len).map(letter).collect::<String>() + end
            });
            let b: String = b.collect();
            check(&a, &b, "words", &[]);
            let spaced: String = b.chars().flat_map(|letter| [letter, ' ']).collect();
            check(&b, &spaced, "words", &[]);
        }

        #[test]
        fn tables_have_the_same_passages_whichever_is_the_query(
            a in prop::collection::vec((0usize..4, 0u64..12), 10..60),
            b in prop::collection::vec((0usize..4, 0u64..12), 10..60),
        ) {
            let table = |rows: &[(usize, u64)]| {
                let mut table = String::new();
                for (year, &(name, drawn)) in rows.iter().enumerate() {
                    let name = ["Leeds", "Derby", "Reading", "yes"][name];
                    let year = 1950 + (year + drawn as usize) % 40;
                    writeln!(table, "{year};{name};{};{}", drawn % 7, mix64(drawn) % 90).unwrap();
                }
                table
            };
            check(&table(&a), &table(&b), "words", &[]);
        }
    }

    #[test]
    fn the_words_that_are_matched_are_the_same_whichever_text_is_the_query() {
        // A pair of texts had 24 matched words, but 19 after exchanging the texts.
        let sources: Vec<String> = (0..3).map(|seed| text(seed, 40)).collect();
        let refrain = sources[0].as_str();
        let a = [refrain, &sources[1], refrain, refrain].join(". ");
        let b = [&sources[2], refrain].join(". ");
        assert_eq!(check(&a, &b, "words", &[]), 3);
        assert_eq!(check(&b, &a, "words", &[]), 3);
        assert_eq!(check(&a, &a, "words", &[]), 1);
    }

    #[test]
    fn many_sentences_have_the_same_passages_whichever_is_the_query() {
        // More sentences than are compared without numbering words, and a summary among them.
        for seed in 0..12 {
            let sources: Vec<String> = (0..4).map(|at| text(seed << 8 | at, 300)).collect();
            let ended: Vec<String> = sources
                .iter()
                .map(|source| {
                    let words = source.split(' ').enumerate();
                    let end = |at: usize| if at % 11 == 10 { ". " } else { " " };
                    words.map(|(at, word)| word.to_owned() + end(at)).collect()
                })
                .collect();
            let all = ended.join(". ");
            let kinds = [Stretch::Shuffled, Stretch::Summarized, Stretch::WordsRemoved];
            let changed = |(at, source): (usize, &String)| {
                kinds[(at + seed as usize) % kinds.len()].of(source, seed)
            };
            let other: Vec<String> = ended[..3].iter().enumerate().map(changed).collect();
            assert!(check(&all, &other.join(". "), "words", &[]) > 0);
            check(&other[0], &all, "words", &[]);
        }
    }
}
