//! Analyzers: their specifications, and a check that two builds of cento analyze texts alike.
//!
//! The specification of an [`Analyzer`] identifies it, and an index stores the specification.
//! Because the specification does not contain the version of the Unicode tables, the index also
//! stores [`Analyzer::digest`], a hash of the tokens of a fixed text in many scripts.
//!
//! Except for `avtor`, analyzers do not guess languages. The same rules hold for every text, so
//! that a quotation is found in a text of another language.

use super::family::{AnalyzerMethod, Family};
use super::{PartHashes, Take, Tokens, avtor, chars, code, prepared, tokenize};
use crate::hash::hash_bytes;
use crate::runtime::Stop;
use crate::spec::{Spec, SpecGrammar};
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Turns texts into tokens, in the way that a specification describes.
///
/// `words(nfkc=1,fold=1,cjk=2)`, the default, compares words as readers see them, whatever their
/// encoding. `nfkc=1` makes compatible characters equal (Unicode NFKC), `fold=1` upper and lower
/// case (full case folding), and `cjk=2` cuts runs of letters in scripts without spaces into
/// overlapping pairs. `cjk=0` leaves such runs whole.
///
/// `prefixes(n=1)` takes the first n letters of each word.
/// `avtor(language=auto,markup=1,homoglyphs=1,stop=1,filter=1,stem=1)` is the pipeline of AVTOR.NET
/// (Sharapova and Sharapova 2018), whose steps can be turned off. Stop words and stems depend on
/// the language. Specify the language if texts are short, or all in the same language.
///
/// `code(language=java,names=0)` reads programs in C, C++ (`cpp`), Java, Python and Rust, and with
/// the feature `code-all` in JavaScript, TypeScript, PHP, Ruby, Go, C# and Kotlin. A name, number
/// or string is a token that does not depend on its content, unless `names=1`. A specification must
/// contain the language. [`ByName`](super::code::ByName) finds the language from the names of
/// files.
///
/// `letters()`, `chars()`, `consonants()` and `bytes()` have characters as tokens: letters and
/// digits in the normal form of words with their marks, letters and digits with `_` for everything
/// else, letters without the vowels of ASCII, and every byte.
///
/// `folds` of `words`, `prefixes`, `letters` and `chars` lists spellings that are treated as equal,
/// as in `words(folds=marks+uv)`. The list of analyzers explains all folds.
///
/// ```
/// use cento_text::{Stop, text::{Tokens, analyzer::Analyzer}};
///
/// let analyzer: Analyzer = "words(cjk=1)".parse()?;
/// let mut tokens = Tokens::default();
/// analyzer.analyze("Stra\u{df}e, STRASSE", &mut tokens, Stop::NEVER)?;
/// assert_eq!(tokens.hashes[0], tokens.hashes[1]);
/// assert_eq!((tokens.spans[0].start, tokens.spans[0].end), (0, 7));
/// # Ok::<(), cento_text::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Analyzer {
    spec: Spec,
    family: &'static Family,
    method: Arc<dyn AnalyzerMethod>,
}

impl PartialEq for Analyzer {
    fn eq(&self, other: &Analyzer) -> bool {
        self.spec == other.spec
    }
}

impl Eq for Analyzer {}

/// The specification of the default analyzer.
pub const DEFAULT_SPEC: &str = "words(nfkc=1,fold=1,cjk=2)";

/// All analyzers, in display order.
static FAMILIES: [&Family; 8] = [
    &tokenize::FAMILY,
    &prepared::FAMILY,
    &avtor::FAMILY,
    &code::FAMILY,
    &chars::LETTERS,
    &chars::CHARS,
    &chars::CONSONANTS,
    &chars::BYTES,
];

static GRAMMAR: SpecGrammar<Family> = SpecGrammar { noun: "analyzer", families: &FAMILIES };

/// Returns all families of analyzers.
#[must_use]
pub fn families() -> &'static [&'static Family] {
    &FAMILIES
}

/// The maximum number of tokens that are passed on at a time: as many as a chapter of a book has,
/// so that few texts have more.
pub const PART_TOKENS: usize = 1 << 16;

impl Analyzer {
    /// Returns the family of the analyzer.
    #[must_use]
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// Returns the name and the parameters.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the analyzer whose tokens delimit passages in texts that this analyzer signs.
    ///
    /// The result is a different analyzer if this analyzer omits words, makes stems or reads
    /// letters. Such tokens serve to find documents, but with all words unchanged the ends of a
    /// passage and its changes are more exact, and a reader counts words.
    #[must_use]
    pub fn of_passages(&self) -> Analyzer {
        self.replaced_by(self.method.of_passages())
    }

    /// Returns the analyzer that compares texts before one of the texts is removed.
    ///
    /// The result is a different analyzer if this analyzer omits words, numbers or parts of words:
    /// two texts with different meanings can be equal in everything else. Folded letters are not
    /// omitted, so an analyzer with folds is returned unchanged.
    #[must_use]
    pub fn of_all_words(&self) -> Analyzer {
        self.replaced_by(self.method.of_all_words(true))
    }

    /// Returns the analyzer of all words except the words of tags, if this analyzer omits tags.
    #[must_use]
    pub fn of_all_words_but_tags(&self) -> Analyzer {
        self.replaced_by(self.method.of_all_words(false))
    }

    fn replaced_by(&self, other: Option<String>) -> Analyzer {
        let other = other.map(|spec| spec.parse());
        other.map_or_else(|| self.clone(), |other| other.expect("every build with this one has it"))
    }

    /// Returns the usual number of tokens per word: 1, unless the analyzer reads letters.
    pub fn tokens_a_word(&self) -> u32 {
        self.method.tokens_a_word()
    }

    /// Returns whether the analyzer reads programs.
    #[must_use]
    pub fn is_of_programs(&self) -> bool {
        self.spec().name() == code::FAMILY.name
    }

    /// Returns why a text without a token is not compared, as a clause.
    #[must_use]
    pub fn nothing_to_compare(&self) -> &'static str {
        match self.is_of_programs() {
            true => {
                "there is nothing to compare: without comments and layout nothing is left of it"
            }
            false => "there is nothing to compare: it has no words",
        }
    }

    /// Returns the first byte of each token of a program, ascending, or `None` if the analyzer does
    /// not read programs. Shares of programs count tokens, because names and strings of any length
    /// are one token.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze).
    pub fn program_tokens(&self, text: &str) -> Result<Option<Vec<u32>>> {
        if !self.is_of_programs() {
            return Ok(None);
        }
        let mut tokens = Tokens::default();
        self.analyze(text, &mut tokens, Stop::NEVER)?;
        Ok(Some(tokens.places()))
    }

    /// Returns the bytes of an ASCII text that are tokens, in order, or `None` if the analyzer's
    /// tokens are not bytes.
    pub fn alphabet(&self) -> Option<&'static [u8]> {
        self.method.alphabet()
    }

    /// Replaces the contents of `tokens` by the tokens of `text`, in order.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when the text or the number of its tokens does not fit in 32 bits.
    /// [`Error::Cancelled`] soon after `stop` is set.
    pub fn analyze(&self, text: &str, tokens: &mut Tokens, stop: &Stop) -> Result<()> {
        tokens.hashes.clear();
        tokens.spans.clear();
        check_length(text.len() as u64, "bytes")?;
        caught(|| self.method.push_tokens(text, tokens, stop))?;
        stop.check()?;
        // A character of three bytes can make four words.
        check_length(tokens.taken(), "tokens").map(|_| ())
    }

    /// Calls `each` with the hashes of the tokens of `text`, in order, with at most [`PART_TOKENS`]
    /// hashes at a time. Replaces the contents of `part` by the hashes after the last call. Returns
    /// the number of all tokens.
    ///
    /// The memory does not grow with the number of tokens.
    ///
    /// # Errors
    ///
    /// As [`analyze`](Self::analyze).
    pub fn for_each_part(
        &self,
        text: &str,
        part: &mut Vec<u64>,
        each: &mut dyn FnMut(&[u64]),
        stop: &Stop,
    ) -> Result<u32> {
        part.clear();
        check_length(text.len() as u64, "bytes")?;
        let mut parts = PartHashes { part, handed_on: 0, each };
        caught(|| self.method.push_parts(text, &mut parts, stop))?;
        stop.check()?;
        check_length(parts.taken(), "tokens")
    }

    /// Returns the temporary memory, in bytes, for the analysis of a text of this many bytes,
    /// without the memory of its tokens.
    #[must_use]
    pub fn scratch_bytes(&self, text_bytes: usize) -> usize {
        self.method.scratch_bytes(text_bytes)
    }

    /// Returns the hash of the analyzer's output on a fixed multilingual text.
    ///
    /// Two builds with equal digests can be expected to analyze every text in the same way.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut tokens = Tokens::default();
        let mut bytes = Vec::new();
        for sample in self.method.samples() {
            self.analyze(&sample, &mut tokens, Stop::NEVER)
                .expect("the sample is a few kilobytes long");
            for (hash, span) in tokens.hashes.iter().zip(&tokens.spans) {
                bytes.extend_from_slice(&hash.to_le_bytes());
                bytes.extend_from_slice(&span.start.to_le_bytes());
                bytes.extend_from_slice(&span.end.to_le_bytes());
            }
        }
        for hash in self.method.table_hashes() {
            bytes.extend_from_slice(&hash.to_le_bytes());
        }
        hash_bytes(&bytes)
    }
}

/// Returns the result of an analysis. Catches panics, so that a defect in a library, such as a
/// stemmer or a grammar, affects only the text that triggers the defect.
fn caught(analysis: impl FnOnce() -> Result<()>) -> Result<()> {
    Error::catch("the analysis of a text", analysis)
}

fn check_length(length: u64, unit: &str) -> Result<u32> {
    if let Ok(length) = u32::try_from(length) {
        return Ok(length);
    }
    let what = format!("the document has {length} {unit}; the maximum is {}", u32::MAX);
    Err(Error::input("text", what))
}

impl Default for Analyzer {
    /// Returns the analyzer of [`DEFAULT_SPEC`].
    fn default() -> Analyzer {
        DEFAULT_SPEC.parse().expect("the default specification is one of the grammar")
    }
}

impl FromStr for Analyzer {
    type Err = Error;

    fn from_str(spec: &str) -> Result<Analyzer> {
        let (spec, family) = GRAMMAR.parse(spec)?;
        Ok(Analyzer { method: (family.build)(&spec), spec, family })
    }
}

impl fmt::Display for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokenize::UNITS_MAX;
    use super::*;

    #[test]
    fn specifications_print_canonically() {
        let check = |spec: &str, canonical| {
            assert_eq!(spec.parse::<Analyzer>().unwrap().to_string(), canonical);
        };
        check("words", DEFAULT_SPEC);
        check("chars", "chars()");
        check(
            "avtor(language=ru, stem=0)",
            "avtor(language=ru,markup=1,homoglyphs=1,stop=1,filter=1,stem=0)",
        );
        check("words( cjk = 3, fold=0 )", "words(nfkc=1,fold=0,cjk=3)");
        assert_eq!(Analyzer::default().to_string(), DEFAULT_SPEC);
        for spec in [
            "",
            "letter",
            "words(nfkc=2)",
            "words(cjk=5)",
            "words(stem=1)",
            "avtor(language=xx)",
            "avtor(language=2)",
        ] {
            assert!(matches!(spec.parse::<Analyzer>(), Err(Error::Spec { .. })), "{spec}");
        }
    }

    #[test]
    fn the_digest_tells_the_analysers_apart() {
        let mut digests = Vec::new();
        for nfkc in [0, 1] {
            for fold in [0, 1] {
                for cjk in 0..=UNITS_MAX {
                    let spec = format!("words(nfkc={nfkc},fold={fold},cjk={cjk})");
                    digests.push(spec.parse::<Analyzer>().unwrap().digest());
                }
            }
        }
        for spec in [
            "letters",
            "letters(folds=marks)",
            "words(folds=marks)",
            "chars",
            "consonants",
            "bytes",
            "prefixes",
            "prefixes(n=2)",
            "avtor",
            "avtor(stem=0)",
            "avtor(stop=0)",
            "avtor(filter=0)",
            "avtor(language=none)",
            "avtor(markup=0)",
            "avtor(homoglyphs=0)",
            "avtor(language=ta)",
            "avtor(language=el)",
            "avtor(language=sv)",
            "avtor(language=ru)",
        ] {
            digests.push(spec.parse::<Analyzer>().unwrap().digest());
        }
        let count = digests.len();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), count);
    }

    #[test]
    fn every_analysis_of_a_text_never_changes() {
        // Indexes store this number. A new Unicode table may change the number, and tokens with it.
        // Existing indexes are then refused, so CHANGELOG must mention the change.
        let expected = [
            ("words", 0x1343_6fe0_0f01_70a3),
            ("prefixes", 0x0a2b_85f4_6302_c0c1),
            ("avtor", 0x81af_4854_54dd_1c8e),
            ("avtor(language=none)", 0x0803_f11a_c04b_99ae),
            ("avtor(language=ru)", 0x43bd_59e4_ef49_7bdd),
            ("code(language=c)", 0x116f_6acc_76c8_5f8f),
            ("code(language=cpp)", 0xb1ab_c6f0_9c3d_6e65),
            ("code(language=java)", 0x6a5f_7d47_abc3_3070),
            ("code(language=python)", 0x32c9_dd5c_d920_2218),
            ("code(language=rust)", 0x1434_33f0_2640_8c30),
            ("code(language=rust,names=1)", 0x1d96_281d_ea88_b3c4),
            ("letters", 0xe5ab_41ec_ddf0_8165),
            ("words(folds=marks+uv+ij+ligatures+forms+umlauts+hyphens)", 0x02d1_b122_907f_5037),
            ("letters(folds=marks+uv+ij+ligatures+forms+umlauts+hyphens)", 0x9ce5_13e9_affa_fdc4),
            ("chars", 0xf1d3_f5ea_cc1f_03bb),
            ("consonants", 0x000a_ab74_040d_6acf),
            ("bytes", 0x2a9b_4dfc_fddb_5038),
        ];
        #[cfg(feature = "code-all")]
        let more = [
            ("code(language=javascript)", 0x5a19_27c8_86d6_d545),
            ("code(language=typescript)", 0x5a19_27c8_86d6_d545),
            ("code(language=tsx)", 0x5a19_27c8_86d6_d545),
            ("code(language=php)", 0x8504_8b20_3169_5d37),
            ("code(language=ruby)", 0x3cd1_c4be_a455_3c0c),
            ("code(language=go)", 0x1074_4e5f_9395_ed48),
            ("code(language=csharp)", 0xab66_dec3_8de9_d51b),
            ("code(language=kotlin)", 0x50c5_0426_8ce6_35f1),
        ];
        #[cfg(not(feature = "code-all"))]
        let more: [(&str, u64); 0] = [];
        let mut changed = Vec::new();
        for &(spec, expected) in expected.iter().chain(&more) {
            let digest = spec.parse::<Analyzer>().unwrap().digest();
            if digest != expected {
                changed.push(format!("{spec}: {digest:#018x}"));
            }
        }
        assert!(changed.is_empty(), "{changed:#?}");
        for family in families() {
            let is_pinned = |(spec, _): &(&str, u64)| spec.split('(').next() == Some(family.name);
            assert!(expected.iter().any(is_pinned), "{}", family.name);
        }
    }

    #[test]
    fn passages_of_letters_are_found_in_words() {
        let of_passages = |spec: &str| spec.parse::<Analyzer>().unwrap().of_passages().to_string();
        for spec in ["letters", "chars", "consonants"] {
            assert_eq!(of_passages(spec), DEFAULT_SPEC, "{spec}");
        }
        let folded = "words(nfkc=1,fold=1,cjk=2,folds=uv+hyphens)";
        for spec in ["letters(folds=hyphens+uv)", "chars(folds=uv+hyphens)", folded] {
            assert_eq!(of_passages(spec), folded, "{spec}");
        }
        for spec in ["bytes()", "words(nfkc=1,fold=0,cjk=2)", "prefixes(n=1)"] {
            assert_eq!(of_passages(spec), spec);
        }
    }

    #[test]
    fn what_decides_leaves_out_no_word_and_no_number() {
        let of_all_words =
            |spec: &str| spec.parse::<Analyzer>().unwrap().of_all_words().to_string();
        let notices = ["It paid 25 cts on June 30", "It paid 20 cts on June 24"];
        let folded = "words(nfkc=1,fold=1,cjk=2,folds=uv)";
        for (spec, expected) in [
            ("prefixes(n=1)", DEFAULT_SPEC),
            ("prefixes(n=3,folds=uv)", folded),
            ("consonants", DEFAULT_SPEC),
            ("avtor(stop=2)", "avtor(language=none,markup=0,homoglyphs=1,stop=0,filter=0,stem=0)"),
            ("code(language=java)", "code(language=java,names=1)"),
        ] {
            assert_eq!(of_all_words(spec), expected, "{spec}");
            // An analyzer that omits nothing is returned unchanged.
            assert_eq!(of_all_words(expected), expected);
        }
        for spec in [DEFAULT_SPEC, folded, "letters(folds=uv)", "chars()", "bytes()"] {
            assert_eq!(of_all_words(spec), spec);
        }
        for stem in [0, 1] {
            let given = format!("avtor(language=none,markup=1,stop=0,filter=0,stem={stem})");
            let expected = "avtor(language=none,markup=1,homoglyphs=1,stop=0,filter=0,stem=0)";
            let found = given.parse::<Analyzer>().unwrap().of_all_words_but_tags();
            assert_eq!(found.to_string(), expected);
        }
        for family in families() {
            let analyzer: Analyzer = family.example.parse().unwrap();
            let hashes = notices.map(|notice| {
                let mut tokens = Tokens::default();
                analyzer.of_all_words().analyze(notice, &mut tokens, Stop::NEVER).unwrap();
                tokens.hashes
            });
            assert_ne!(hashes[0], hashes[1], "{}", family.name);
        }
    }

    /// Behaves like a library with a defect.
    #[derive(Debug)]
    struct Defect;

    impl crate::text::family::Tokenize for Defect {
        fn tokenize(&self, text: &str, tokens: &mut impl Take, _: &Stop) -> Result<()> {
            assert!(!text.contains("defect"), "a library has a defect");
            tokens.take(text.len() as u64, crate::text::Span { start: 0, end: 1 });
            Ok(())
        }
    }

    #[test]
    fn a_defect_that_a_text_brings_out_costs_that_text_alone() {
        let analyzer = Analyzer { method: Arc::new(Defect), ..Analyzer::default() };
        let (mut tokens, mut part) = (Tokens::default(), Vec::new());
        for text in ["a defect", "a text"] {
            let is_whole = !text.contains("defect");
            let analyzed = analyzer.analyze(text, &mut tokens, Stop::NEVER);
            let in_parts = analyzer.for_each_part(text, &mut part, &mut |_| {}, Stop::NEVER);
            assert_eq!((analyzed.is_ok(), in_parts.is_ok()), (is_whole, is_whole), "{text}");
            for error in [analyzed.err(), in_parts.err()].into_iter().flatten() {
                assert!(matches!(error, Error::Internal { .. }), "{error}");
            }
        }
        assert_eq!(tokens.hashes.len(), 1);
    }

    #[test]
    fn tokens_are_replaced() {
        let analyzer = Analyzer::default();
        let mut tokens = Tokens::default();
        analyzer.analyze("one two three", &mut tokens, Stop::NEVER).unwrap();
        analyzer.analyze("two", &mut tokens, Stop::NEVER).unwrap();
        assert_eq!(tokens.hashes, [hash_bytes(b"two")]);
        assert_eq!(tokens.spans, [crate::text::Span { start: 0, end: 3 }]);
    }

    #[test]
    fn parts_together_are_the_tokens_of_every_analyser() {
        // Every text has more tokens than a part, some in a single run of letters.
        let texts = [
            "two ".repeat(PART_TOKENS + 1),
            ".".repeat(PART_TOKENS + 1),
            "\u{fdfa}".repeat(PART_TOKENS / 3 + 1),
            "one, two\u{e9} \u{4e00}\u{4e8c}! ".repeat(PART_TOKENS / 3),
        ];
        // Analyzers that examine every word are slow.
        for (spec, texts) in [
            ("words", &texts[..]),
            ("chars", &texts[..]),
            ("letters", &texts[..]),
            ("code(language=c)", &texts[..2]),
            ("prefixes", &texts[..1]),
            ("avtor(filter=0)", &texts[..1]),
        ] {
            let analyzer: Analyzer = spec.parse().unwrap();
            for text in texts {
                let (mut tokens, mut part, mut all) = (Tokens::default(), vec![7], Vec::new());
                analyzer.analyze(text, &mut tokens, Stop::NEVER).unwrap();
                let count = analyzer.for_each_part(
                    text,
                    &mut part,
                    &mut |part| {
                        assert!(part.len() <= PART_TOKENS);
                        all.extend_from_slice(part);
                    },
                    Stop::NEVER,
                );
                all.extend_from_slice(&part);
                assert!(part.len() <= PART_TOKENS && part.capacity() <= 2 * PART_TOKENS, "{spec}");
                assert_eq!(count.unwrap() as usize, tokens.hashes.len(), "{spec}");
                assert!(all == tokens.hashes, "{spec}");
            }
        }
    }

    #[test]
    fn analyzing_ends_at_the_check_that_finds_it_cancelled() {
        use crate::runtime::stop::testing::After;
        // Marks in the wrong order, which no fast path handles; words; the nodes of a program.
        let marks = "a\u{301}\u{323}\u{345}\u{1d15e} ".repeat(20_000);
        let (words, program) = ("one <b>two</b> ".repeat(20_000), "int a = 1; ".repeat(4_000));
        for (spec, text) in [
            ("words", &marks),
            ("words", &words),
            ("chars", &marks),
            ("chars", &words),
            ("letters", &words),
            ("words(folds=marks+hyphens)", &words),
            ("consonants", &words),
            ("bytes", &words),
            ("prefixes", &words),
            ("avtor", &words),
            ("code(language=c)", &program),
            ("code(language=c)", &"(".repeat(20_000)),
        ] {
            let analyzer: Analyzer = spec.parse().unwrap();
            let mut tokens = Tokens::default();
            let flag = After::looks(u64::MAX);
            analyzer.analyze(text, &mut tokens, flag.stop()).unwrap();
            let looks = flag.count();
            assert!(looks >= 4, "{spec}: {looks} looks");
            for looks_max in [0, looks / 2, looks - 1] {
                let flag = After::looks(looks_max);
                let stopped = analyzer.analyze(text, &mut tokens, flag.stop());
                assert!(matches!(stopped, Err(Error::Cancelled)), "{spec}");
                assert_eq!(flag.count(), looks_max + 1, "{spec}");
            }
        }
    }

    #[test]
    fn a_word_of_a_megabyte_has_no_stem() {
        // The time of the stemmer grew with the square of the word's length.
        let analyzer: Analyzer = "avtor(language=en,filter=0)".parse().unwrap();
        let mut tokens = Tokens::default();
        analyzer.analyze(&"ay".repeat(1 << 19), &mut tokens, Stop::NEVER).unwrap();
        assert_eq!(tokens.hashes, [hash_bytes("ay".repeat(1 << 19).as_bytes())]);
    }

    #[test]
    fn a_length_beyond_32_bits_is_an_error() {
        assert!(check_length(u64::from(u32::MAX), "bytes").is_ok());
        let error = check_length(1 << 32, "bytes").unwrap_err().to_string();
        let expected = "text: the document has 4294967296 bytes; the maximum is 4294967295";
        assert_eq!(error, expected);
    }
}
