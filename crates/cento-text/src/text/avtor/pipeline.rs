//! The pipeline of AVTOR.NET for words.
//!
//! The pipeline of Sharapova and Sharapova (2018), section 3.3: markup is removed, letters of a
//! wrong script are replaced, stop words and words of little meaning are omitted, and the remaining
//! words are stemmed. If no word would remain, all words are kept. If the detected language is
//! unlisted, the first letters of a word replace its stem.
//!
//! In a sentence, omitted words are evidence. `stop=2` therefore keeps all words in a text of at
//! most [`SHORT_WORDS`], and marks the words to omit for the scheme `pairs`.

use super::detect::detect;
use super::edit::{EditedText, MovedTokens};
use super::language::{AvtorLanguage, StopWords};
use super::vocabulary::{BoundedVocabulary, WordOutcome};
use super::{homoglyphs, markup};
use crate::Result;
use crate::hash::hash_bytes;
use crate::runtime::Stop;
use crate::spec::Spec;
use crate::text::family::{SAMPLE, Tokenize};
use crate::text::mark::marked;
use crate::text::normalize::normal_form;
use crate::text::prepared::{FORM, UNITS, letters};
use crate::text::tokenize::tokenize;
use crate::text::unicode::is_number;
use crate::text::{Span, Take};
use frostem::Stemmer;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// The index in the list of names that means to detect the language.
const DETECTED: usize = 0;

/// The maximum number of words of a text that keeps and marks all words: a sentence or a few.
const SHORT_WORDS: usize = 100;

/// The lengths of words with meaning, in letters. Other words, and words with a digit, mean little.
const LETTERS: std::ops::RangeInclusive<usize> = 2..=30;

/// The analyzer: the tokens of a text are the results of the steps for its words.
#[derive(Debug)]
pub(super) struct Avtor {
    steps: AvtorSteps,
    /// A vocabulary for each text that was analyzed at the same time, of at most two megabytes.
    vocabularies: Mutex<Vec<BoundedVocabulary>>,
}

impl Avtor {
    pub(super) fn new(spec: &Spec) -> Avtor {
        Avtor { steps: AvtorSteps::new(spec), vocabularies: Mutex::default() }
    }

    /// Returns the vocabularies that earlier texts left. The list is valid even after a panic.
    fn vocabularies(&self) -> std::sync::MutexGuard<'_, Vec<BoundedVocabulary>> {
        self.vocabularies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The enabled steps of AVTOR.NET.
#[derive(Debug, Clone, Copy)]
struct AvtorSteps {
    /// The index of the language in the list of names.
    language: usize,
    markup: bool,
    homoglyphs: bool,
    stop: bool,
    /// Whether a short text keeps the words to omit, marked.
    marks: bool,
    filter: bool,
    stem: bool,
}

/// The maximum temporary memory of the steps for each byte of a text: two edited texts, where each
/// byte may be a separate piece.
const BYTES_A_BYTE: usize = 50;

/// Texts that each of the steps changes.
const PROSE: [&str; 3] = [
    SAMPLE,
    "<em>Two</em> caf&eacute;s and thousand connections of 1999 were made by these machines, and t\u{435}sting them was hard.",
    "\u{42d}\u{442}\u{438} \u{43a}\u{43e}\u{448}\u{43a}\u{438} \u{431}\u{44b}\u{43b}\u{438} \u{432} \u{434}\u{43e}\u{43c}\u{430}\u{445}",
];

/// A text in an unlisted language.
const UNLISTED: &str = "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, \
                        aliam Aquitani, tertiam qui ipsorum lingua Celtae appellantur.";

impl AvtorSteps {
    fn new(spec: &Spec) -> AvtorSteps {
        AvtorSteps {
            language: spec.get("language") as usize,
            markup: spec.is_on("markup"),
            homoglyphs: spec.is_on("homoglyphs"),
            stop: spec.get("stop") > 0,
            marks: spec.get("stop") == 2,
            filter: spec.is_on("filter"),
            stem: spec.is_on("stem"),
        }
    }

    /// Tells whether the steps omit or change words.
    fn leaves_out(self) -> bool {
        self.stop || self.filter || self.stem
    }

    /// Returns the specification of the analyzer that leaves all words unchanged.
    fn of_all_words(self) -> String {
        let [markup, homoglyphs] = [self.markup, self.homoglyphs].map(u32::from);
        format!(
            "avtor(language=none,markup={markup},homoglyphs={homoglyphs},stop=0,filter=0,stem=0)"
        )
    }
}

impl Tokenize for Avtor {
    fn tokenize(&self, text: &str, tokens: &mut impl Take, stop: &Stop) -> Result<()> {
        let mut vocabulary = self.vocabularies().pop();
        let outcome = avtor(text, self.steps, &mut vocabulary, tokens, stop);
        self.vocabularies().extend(vocabulary);
        outcome
    }

    fn scratch_bytes(&self, text_bytes: usize) -> usize {
        text_bytes.saturating_mul(BYTES_A_BYTE)
    }

    fn of_passages(&self) -> Option<String> {
        self.steps.leaves_out().then(|| self.steps.of_all_words())
    }

    fn of_all_words(&self, with_tags: bool) -> Option<String> {
        // An address in angle brackets also looks like a tag.
        let steps = AvtorSteps { markup: self.steps.markup && !with_tags, ..self.steps };
        let leaves_out_tags = steps.markup != self.steps.markup;
        (leaves_out_tags || steps.leaves_out()).then(|| steps.of_all_words())
    }

    fn samples(&self) -> Vec<Cow<'static, str>> {
        // Only the analyzer that detects languages may find no language.
        let unlisted = (self.steps.language == DETECTED).then_some(UNLISTED);
        PROSE.into_iter().chain(unlisted).map(Cow::from).collect()
    }

    fn table_hashes(&self) -> Vec<u64> {
        let likes = self.steps.homoglyphs.then(homoglyphs::likes_hash);
        language_hashes(self.steps.language).into_iter().chain(likes).collect()
    }
}

/// Appends the tokens that the steps make from the words of `text`. `vocabulary` caches outcomes,
/// and is created when first needed.
fn avtor(
    text: &str,
    steps: AvtorSteps,
    vocabulary: &mut Option<BoundedVocabulary>,
    tokens: &mut impl Take,
    stop: &Stop,
) -> Result<()> {
    let mut edits: Vec<EditedText> = Vec::new();
    if let Some(edited) = steps.markup.then(|| markup::strip(text)).flatten() {
        edits.push(edited);
        stop.check()?;
    }
    let plain = edits.last().map_or(text, |edited| &edited.text);
    if let Some(edited) = steps.homoglyphs.then(|| homoglyphs::replace(plain)).flatten() {
        edits.push(edited);
    }
    stop.check()?;
    let plain = edits.last().map_or(text, |edited| &edited.text);
    let origin = |span| edits.iter().rev().fold(span, |span, edited| edited.origin(span));
    let words = WordPipeline::new(steps, plain);
    if words.are_left() {
        return tokenize(plain, FORM, UNITS, &mut MovedTokens { tokens, origin }, stop);
    }
    let vocabulary = vocabulary.get_or_insert_with(BoundedVocabulary::new);
    let first = tokens.taken();
    for keeps_all in [false, true] {
        let mut made = StemSink::new(&words, vocabulary, keeps_all, tokens, origin);
        made.waiting = (steps.marks && !keeps_all).then(Vec::new);
        tokenize(plain, FORM, UNITS, &mut made, stop)?;
        made.mark();
        made.pass_on();
        if tokens.taken() > first {
            break;
        }
    }
    Ok(())
}

/// Receives the words of a text, and passes on their outcomes as tokens.
struct StemSink<'a, T, F> {
    words: &'a WordPipeline<'a>,
    vocabulary: &'a mut BoundedVocabulary,
    /// Whether to pass on all words, because otherwise no word would remain.
    keeps_all: bool,
    /// The words so far, while the text may be short and would then keep all words.
    waiting: Option<Vec<(WordOutcome, Span)>>,
    /// The number of words of the text so far, omitted words included.
    met: u64,
    tokens: &'a mut T,
    origin: F,
    /// The outcomes that were not passed on yet, and their places in the edited text.
    hashes: [u64; HELD],
    spans: [Span; HELD],
    held: usize,
}

/// The number of outcomes that are collected before they are passed on. A processor can hardly
/// predict whether a word is omitted. To avoid a branch, every outcome is written, and the next
/// outcome overwrites an omitted one.
const HELD: usize = 64;

impl<'a, T: Take, F: Fn(Span) -> Span> StemSink<'a, T, F> {
    fn new(
        words: &'a WordPipeline<'a>,
        vocabulary: &'a mut BoundedVocabulary,
        keeps_all: bool,
        tokens: &'a mut T,
        origin: F,
    ) -> StemSink<'a, T, F> {
        let (hashes, spans) = ([0; HELD], [Span { start: 0, end: 0 }; HELD]);
        let waiting = None;
        StemSink {
            words,
            vocabulary,
            keeps_all,
            waiting,
            met: 0,
            tokens,
            origin,
            hashes,
            spans,
            held: 0,
        }
    }

    fn pass_on(&mut self) {
        let spans = self.spans[..self.held].iter().map(|&span| (self.origin)(span));
        self.tokens.take_all(self.hashes[..self.held].iter().copied(), spans);
        self.held = 0;
    }

    /// Collects a word, unless the word is omitted.
    #[inline(always)]
    fn take_kept(&mut self, outcome: WordOutcome, span: Span) {
        self.hashes[self.held] = outcome.hash;
        self.spans[self.held] = span;
        self.held += usize::from(outcome.is_kept | self.keeps_all);
        if self.held == HELD {
            self.pass_on();
        }
    }

    /// Stores a word of a text that may be short.
    #[cold]
    fn hold(&mut self, mut waiting: Vec<(WordOutcome, Span)>, outcome: WordOutcome, span: Span) {
        waiting.push((outcome, span));
        if waiting.len() <= SHORT_WORDS {
            self.waiting = Some(waiting);
        } else {
            waiting.into_iter().for_each(|(outcome, span)| self.take_kept(outcome, span));
        }
    }

    /// Takes all words of a short text, with omitted words marked. Takes nothing if all words are
    /// omitted.
    fn mark(&mut self) {
        let waiting = self.waiting.take().unwrap_or_default();
        if !waiting.iter().any(|(outcome, _)| outcome.is_kept) {
            return;
        }
        for (WordOutcome { hash, is_kept }, span) in waiting {
            let hash = if is_kept { hash } else { marked(hash) };
            self.tokens.take(hash, (self.origin)(span));
        }
    }
}

impl<T: Take, F: Fn(Span) -> Span> Take for StemSink<'_, T, F> {
    #[inline(always)]
    fn take(&mut self, hash: u64, span: Span) {
        let WordPipeline { text, number, .. } = *self.words;
        let length = (span.end - span.start) as usize;
        let word = &text.as_bytes()[span.start as usize..];
        let make = || self.words.outcome(hash, span);
        let outcome = self.vocabulary.outcome(word, length, hash, number, make);
        match self.waiting.take() {
            None => self.take_kept(outcome, span),
            Some(waiting) => self.hold(waiting, outcome, span),
        }
        self.met += 1;
    }

    fn taken(&self) -> u64 {
        self.met
    }
}

/// The processing of the words of a text, which depends on its language.
struct WordPipeline<'a> {
    text: &'a str,
    /// The number of the text's language, 255 if unknown.
    number: u8,
    stop_words: Option<&'static StopWords>,
    stemmer: Option<Stemmer>,
    /// Whether the first letters of a word replace its stem, because no stemmer knows the language.
    is_cut: bool,
    filter: bool,
}

impl WordPipeline<'_> {
    fn new(steps: AvtorSteps, text: &str) -> WordPipeline<'_> {
        let language = match steps.language {
            _ if !steps.stop && !steps.stem => None,
            DETECTED => detect(text),
            number => AvtorLanguage::of(number),
        };
        let stop_words = language
            .filter(|_| steps.stop)
            .map(|language| language.stop_words(|word| normal_form(word, FORM)));
        let stemmer = language.filter(|_| steps.stem).map(AvtorLanguage::stemmer);
        let number = language.map_or(u8::MAX, AvtorLanguage::number);
        let is_cut = steps.stem && steps.language == DETECTED && language.is_none();
        WordPipeline { text, number, stop_words, stemmer, is_cut, filter: steps.filter }
    }

    /// Returns whether every word stays unchanged.
    fn are_left(&self) -> bool {
        self.stop_words.is_none() && self.stemmer.is_none() && !self.is_cut && !self.filter
    }

    /// Returns the outcome of the word at `span` with this hash.
    #[cold]
    fn outcome(&self, hash: u64, span: Span) -> WordOutcome {
        let letters = letters(self.text, hash, span);
        let is_kept = self.stop_words.is_none_or(|words| !words.contains(&hash))
            && !(self.filter && letters.as_deref().is_some_and(says_little));
        let hash = match (&self.stemmer, letters) {
            (Some(stemmer), Some(letters)) if letters.len() <= STEMMED_BYTES_MAX => {
                hash_bytes(stemmer.stem(&letters).as_bytes())
            }
            (None, Some(letters)) if self.is_cut => hash_bytes(beginning(&letters).as_bytes()),
            _ => hash,
        };
        WordOutcome { hash, is_kept }
    }
}

/// The number of letters that replace the stem of a word in a language without a stemmer.
///
/// Of 37 sentences of Aquinas that quote a verse of the Vulgate by its sense, 0.541 find the verse
/// among ten, with every letter 0.459, with five letters 0.514. Of 101 literal quotations, 0.851
/// find the verse first, as with every letter. The sentences also chose the number.
const BEGINNING_LETTERS: usize = 6;

/// Returns the first letters of a word.
fn beginning(word: &str) -> &str {
    let end = word.char_indices().nth(BEGINNING_LETTERS).map_or(word.len(), |(at, _)| at);
    &word[..end]
}

/// The maximum length of a stemmed word: the time for a stem grows with the square of the length.
const STEMMED_BYTES_MAX: usize = 1 << 10;

/// Returns the effects of languages on words, as numbers that differ between versions of a library.
fn language_hashes(language: usize) -> Vec<u64> {
    let mut hashes = Vec::new();
    for language in AvtorLanguage::all(language) {
        let stemmer = language.stemmer();
        for word in language.stop_list() {
            let word = normal_form(word, FORM);
            hashes
                .extend([hash_bytes(word.as_bytes()), hash_bytes(stemmer.stem(&word).as_bytes())]);
        }
    }
    hashes
}

/// Returns whether a word is a number, a code, a single letter or a heap of letters. In scripts
/// written without spaces every pair of letters is a word.
fn says_little(word: &str) -> bool {
    !LETTERS.contains(&word.chars().count()) || word.chars().any(|c| is_number(c) || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Tokens;
    use crate::text::mark::is_marked;
    use crate::text::prepared::prefixes;
    use proptest::prelude::*;

    fn avtor(text: &str, steps: AvtorSteps, tokens: &mut Tokens) {
        super::avtor(text, steps, &mut None, tokens, Stop::NEVER).unwrap();
    }

    const ALL: AvtorSteps = AvtorSteps {
        language: 6,
        markup: true,
        homoglyphs: true,
        stop: true,
        marks: false,
        filter: true,
        stem: true,
    };

    /// Checks the outcomes of words, given as their texts and expected stems.
    fn check(steps: AvtorSteps, text: &str, expected: &[(&str, &str)]) {
        let mut tokens = Tokens::default();
        avtor(text, steps, &mut tokens);
        let found = tokens
            .hashes
            .iter()
            .copied()
            .zip(tokens.spans.iter().map(|span| &text[span.start as usize..span.end as usize]));
        let expected = expected.iter().map(|(word, origin)| (hash_bytes(word.as_bytes()), *origin));
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{text}");
    }

    #[test]
    fn words_are_prepared_and_know_where_they_stand() {
        let text = "<p>The Connections of <b>caf&eacute;s</b>, in 1999: a t\u{435}st";
        check(
            ALL,
            text,
            &[("connect", "Connections"), ("caf\u{e9}", "caf&eacute;s"), ("test", "t\u{435}st")],
        );
        check(
            AvtorSteps { stem: false, ..ALL },
            "Testing the tests",
            &[("testing", "Testing"), ("tests", "tests")],
        );
        check(AvtorSteps { stop: false, ..ALL }, "in tests", &[("in", "in"), ("test", "tests")]);
        check(AvtorSteps { filter: false, ..ALL }, "x 12", &[("x", "x"), ("12", "12")]);
        check(AvtorSteps { markup: false, ..ALL }, "<em>", &[("em", "em")]);
        check(
            AvtorSteps { homoglyphs: false, ..ALL },
            "t\u{435}st",
            &[("t\u{435}st", "t\u{435}st")],
        );
        check(
            AvtorSteps { language: 1, ..ALL },
            "the tests",
            &[("the", "the"), ("tests", "tests")],
        );
        let russian = "\u{43a}\u{43e}\u{448}\u{43a}\u{430}\u{43c}\u{438}";
        check(
            AvtorSteps { language: 16, ..ALL },
            russian,
            &[("\u{43a}\u{43e}\u{448}\u{43a}", russian)],
        );
    }

    #[test]
    fn in_an_unlisted_language_the_first_letters_are_the_stem() {
        let detected = AvtorSteps { language: DETECTED, ..ALL };
        let thai = "\u{e01}\u{e23}\u{e38}\u{e07}";
        let georgian = ["\u{10e5}\u{10d0}\u{10da}\u{10d0}\u{10e5}\u{10d8}", "\u{10e1}"];
        let cities = format!("{} {}{}", georgian[0], georgian[0], georgian[1]);
        let inflected = georgian.concat();
        check(detected, &cities, &[(georgian[0], georgian[0]), (georgian[0], &inflected)]);
        // Without a language, or without stems, words stay whole.
        for steps in [AvtorSteps { language: 1, ..ALL }, AvtorSteps { stem: false, ..detected }] {
            check(steps, &cities, &[(georgian[0], georgian[0]), (&inflected, &inflected)]);
        }
        check(AvtorSteps { filter: false, ..detected }, &inflected, &[(georgian[0], &inflected)]);
        assert_eq!(beginning(thai), thai);
    }

    #[test]
    fn a_text_is_not_left_without_words() {
        check(ALL, "the 12", &[("the", "the"), ("12", "12")]);
        check(ALL, "<br>", &[]);
        check(ALL, "", &[]);
    }

    #[test]
    fn a_character_that_expands_to_several_words_gives_these_words() {
        // A square of kana, a fraction after a number, "a.m." in one character.
        for (one, several) in [
            ("\u{3300}", "\u{30a2}\u{30d1}\u{30fc}\u{30c8}"),
            ("1\u{bd}", "11\u{2044}2"),
            ("\u{33c2}", "a.m."),
        ] {
            for steps in [Some(ALL), None] {
                let hashes = |text: &str| {
                    let mut tokens = Tokens::default();
                    match steps {
                        Some(steps) => {
                            avtor(text, AvtorSteps { filter: false, ..steps }, &mut tokens)
                        }
                        None => prefixes(text, FORM, 64, &mut tokens, Stop::NEVER).unwrap(),
                    }
                    tokens.hashes
                };
                assert_eq!(hashes(one), hashes(several), "{one}");
            }
        }
    }

    /// Applies the steps to the words of a text without markup and homoglyphs, word by word.
    fn word_by_word(text: &str, steps: AvtorSteps) -> Tokens {
        let mut words = Tokens::default();
        tokenize(text, FORM, UNITS, &mut words, Stop::NEVER).unwrap();
        let words: Vec<(u64, Span)> = words.hashes.into_iter().zip(words.spans).collect();
        let language = match steps.language {
            DETECTED => detect(text),
            number => AvtorLanguage::of(number),
        };
        let mut tokens = Tokens::default();
        for keeps_all in [false, true] {
            for &(hash, span) in &words {
                let letters = letters(text, hash, span);
                let is_stop = language.is_some_and(|language| {
                    language.stop_words(|word| normal_form(word, FORM)).contains(&hash)
                });
                let is_code = letters.as_deref().is_some_and(says_little);
                let cut = letters.clone();
                let stem = language
                    .filter(|_| steps.stem)
                    .zip(letters)
                    .map(|(language, word)| hash_bytes(language.stemmer().stem(&word).as_bytes()));
                let is_kept = !(steps.stop && is_stop || steps.filter && is_code);
                let hash = stem.unwrap_or(hash);
                let is_cut = steps.stem && steps.language == DETECTED && language.is_none();
                let first = |word: String| word.chars().take(6).collect::<String>();
                let cut = cut.filter(|_| is_cut).map(|word| hash_bytes(first(word).as_bytes()));
                let hash = cut.unwrap_or(hash);
                if keeps_all || is_kept {
                    tokens.take(hash, span);
                } else if steps.marks && words.len() <= SHORT_WORDS {
                    tokens.take(marked(hash), span);
                }
            }
            if tokens.hashes.iter().any(|&hash| !is_marked(hash)) {
                break;
            }
            tokens = Tokens::default();
        }
        tokens
    }

    proptest! {
        #[test]
        fn earlier_words_change_no_later_ones(
            texts in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![
                "the ", "The ", "THE ", "running ", "Running ", "runs, ", "Kinder ", "kinder ",
                "und ", "12 ", "a1 ", "x ", "\u{c9}t\u{e9} ", "\u{e9}t\u{e9}s ", "E\u{301}t\u{e9} ",
                "\u{43a}\u{43e}\u{448}\u{43a}\u{430}\u{43c}\u{438} ", "\u{41a}\u{43e}\u{448}\u{43a}\u{438} ",
                "\u{438} ", "\u{3300} ", "\u{4e00}\u{4e8c}\u{4e09} ", "don't ", "... ", "1\u{bd} ",
            ]), 0..12), 1..6),
            language in 0..super::super::LANGUAGES.len(), stop: bool, marks: bool, filter: bool,
            stem: bool, times in prop::sample::select(vec![1, 1, 9, 12]),
        ) {
            let (markup, homoglyphs, marks) = (false, false, stop && marks);
            let steps = AvtorSteps { language, markup, homoglyphs, stop, marks, filter, stem };
            let mut vocabulary = None;
            for text in texts {
                let (text, mut tokens) = (text.concat().repeat(times), Tokens::default());
                super::avtor(&text, steps, &mut vocabulary, &mut tokens, Stop::NEVER).unwrap();
                prop_assert_eq!(tokens, word_by_word(&text, steps), "{}", text);
            }
        }
    }
}
