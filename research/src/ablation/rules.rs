//! The rules of an alignment, and the code in place of each when it is off.

/// A rule: a constant, or an expression.
pub struct Rule {
    /// Its file in `crates/cento-text/src/compare/align`.
    pub file: &'static str,
    /// The constant; of an expression a short name.
    pub name: &'static str,
    /// The expression; empty for a constant.
    pub code: &'static str,
    /// The code in its place when it is off.
    pub without: &'static str,
    /// Its subject.
    pub what: &'static str,
}

impl Rule {
    /// Its name, below that of its file.
    pub fn id(&self) -> String {
        format!("{}::{}", self.file.trim_end_matches(".rs"), self.name)
    }

    /// Returns whether it, or its file, is named so.
    pub fn is(&self, name: &str) -> bool {
        self.id() == name || self.file == name
    }

    /// Its place among all.
    pub fn number(&self) -> usize {
        RULES.iter().position(|rule| rule.id() == self.id()).unwrap_or(RULES.len())
    }
}

macro_rules! rules {
    ($($file:literal { $($name:ident $(= $code:literal)? => $without:literal: $what:literal;)* })*) => {
        /// All rules, file by file.
        pub const RULES: &[Rule] = &[$($(Rule {
            file: $file,
            name: stringify!($name),
            code: concat!("" $(, $code)?),
            without: $without,
            what: $what,
        },)*)*];
    };
}

rules! {
    "mod.rs" {
        is_evident = "few_words::is_evident(copied, query, document)" => "true": "copies of few different words are chance";
        words_enough = "words >= tokens.min(PASSAGE_TOKENS_MIN) as u64 * WORD" => "true": "letters are parts of words";
        phrases = "copied::without_phrases(copied, steps)?" => "copied": "phrases of longer copies";
        noisy_words = "query.is_mostly_words(&noisy.query) && document.is_mostly_words(&noisy.hit)" => "true": "noisy numbers";
        the_noisy = "noisy::passages(pair, &prepared.noise, &copied, steps)?" => "Vec::<Aligned>::new()": "all noisy passages";
        copies = "rewritten.retain(|_| is_copy.next() != Some(true))" => "()": "rewritten passages that are copies within other text";
        trim_ends = "trim_ends(&mut rewritten, &places, (q, d), steps)?" => "()": "stretches of one text at the ends of rewritten passages";
        in_summary = "Around::new(&summaries).parted(rewritten, steps)?" => "(rewritten, Vec::new())": "rewritten passages within summaries";
        in_noisy = "Around::new(&noisy).parted(rewritten, steps)?" => "(rewritten, Vec::new())": "rewritten passages within noisy ones";
        noisy_inside = "Around::new(&whole).parted(noisy, steps)?" => "(noisy, Vec::new())": "noisy passages within others";
        copied_inside = "around.holds(&passage, steps)?" => "false": "copied passages within others";
        is_free = "2 * copied_in_hit.covered(hit) <= hit.len()" => "true": "passages whose counterpart is copied elsewhere";
    }
    "candidates.rs" {
        COPIED_TOKENS_MIN => "1 << 30": "words of a copy that is not searched further";
        mostly_words = "query.is_mostly_words(&passage.query)\n            && document.is_mostly_words(&passage.hit)" => "true": "rewritten rows of numbers";
        few_words = "!query.has_few_words(&passage.query)\n            && !document.has_few_words(&passage.hit)" => "true": "rewritten text of few different words";
        the_rewritten = "judged(rewritten, (query, document), steps)?" => "Vec::new()": "all rewritten passages";
        the_summaries = "judged(summarised, (query, document), steps)?" => "Vec::new()": "all summaries";
    }
    "adjoining.rs" {
        GAP_TOKENS_MAX => "0": "words between adjoining passages";
    }
    "alike.rs" {
        COSINE_MIN => "0.0": "cosine of two sentences";
        DICE_MIN_HUNDREDTHS => "20": "Dice coefficient of two sentences";
        SENTENCES_OF_WORD => "(1 << 20, 1 << 20)": "frequent words bring up no sentence";
    }
    "around.rs" {
        COPY_SHARE => "2.0": "share of a copy in a rewritten passage";
        RUN_TOKENS_MIN => "0": "words in a row of such a copy";
        COPIES_SHARE => "2.0": "share of all copies in it";
        REST_TOKENS_MIN => "0": "words beside them";
        REST_SIMILARITY_MIN => "2.0": "similarity of these";
        STRETCH_TOKENS_MIN => "1 << 30": "words of a stretch of one text";
        COUNTERPART_TOKENS_MAX => "0": "words of the other text there";
        TRIMMED_SHARE => "0.0": "common words that remain";
    }
    "bands.rs" {
        DISTANCE_LETTERS_MAX => "1 << 20": "distance of two runs of letters";
    }
    "chain.rs" {
        CROSSING_MAX => "2.0": "chains that cross better ones";
    }
    "copied.rs" {
        SEED_OCCURRENCES_MAX => "1 << 16": "frequent seeds";
        GAP_TOKENS_MAX => "40": "words of a gap";
        DENSITY_MIN => "0.0": "share that is unchanged";
        best_stretch = "best_stretch(&runs)" => "&runs[..]": "runs at ends too short for their gap";
        copied_again = "with_copied_again(matched(runs, query, document), &chain, matches, steps)?" => "matched(runs, query, document)": "clauses that one text has more often";
        at_distance = "run.query - from == run.hit - of_hit" => "false": "equal words in gaps of equal length";
    }
    "few_words.rs" {
        DIFFERENT_MIN => "0.0": "few different words";
        CHANCE_MAX => "1.0": "copies of few words by chance";
        EARLIER => "0": "numbers that follow from others";
    }
    "joined.rs" {
        MATCHED_IN_TEN => "5": "letters of a matched word";
    }
    "letter_runs.rs" {
        PLACES_MAX => "1 << 20": "frequent runs of letters";
    }
    "local.rs" {
        DROP => "16": "wrong letters that end an alignment";
        TRIAL => "(32, 0)": "alignments that are tried first";
    }
    "noise.rs" {
        PLACES_MAX => "16": "frequent words";
        DISTANCE_MAX => "64": "distance of unchanged words";
        STRETCHES_MIN => "1": "stretches of nearly equal words";
        AROUND => "1 << 20": "words around them";
        LETTERS_MIN => "1": "letters of nearly equal words";
        is_name = "a.is_name || b.is_name" => "false": "names of programs";
        has_digit = "a.has_digit && b.has_digit" => "false": "words with digits";
    }
    "noisy.rs" {
        SCORE_MIN => "16": "score of a noisy passage";
        NEARLY_EQUAL_ONE_IN => "1 << 20": "share of nearly equal words";
        CLEAN_TOKENS_MIN => "1 << 30": "texts with a long run have no noise";
        are_joined = "!tokens.iter().any(|tokens| tokens.is_empty()) && odd.iter().any(|odd| !odd.is_empty())" => "false": "all passages of joined or cut words";
        JOINED_ONE_IN => "1 << 20": "share of joined words";
        starts = "!kinds.are_noisy\n                && query.word_starts.of(i as usize + 1, len - 1)\n                    == document.word_starts.of(j + 1, len - 1)" => "false": "joined words begin at other letters";
    }
    "rewritten.rs" {
        PASSAGE_COSINE_MIN => "0.0": "cosine of the sides";
        GAP_SENTENCES_MAX => "0": "sentences between two pairs";
        LENGTHS_RATIO_MAX => "1 << 20": "ratio of the sides";
        PASSAGE_BYTES_MIN => "0": "bytes of a side";
        SIMILARITY_MIN => "0.0": "similarity of the sides";
        SIMILARITY_OF_ONE_MIN => "0.4": "similarity of a single pair";
        best = "found.extend(best.filter(|seeds| seeds.len() > 1))" => "drop(best)": "clusters of the most similar sentences";
        smaller = "gap_max > 0 && group.len() > 1" => "false": "clusters with smaller gaps";
    }
    "sentences.rs" {
        SENTENCE_TOKENS_MIN => "0": "words of a sentence, at least";
        SENTENCE_TOKENS_MAX => "1 << 30": "words of a sentence, at most";
        goes_on = "is_blank && (is_joined || after.starts_with(is_small))" => "false": "sentences that go on after an empty line";
    }
    "spacing.rs" {
        JOINED_TENTHS_MIN => "1 << 20": "letters of joined words";
        SHORT_JOINED_TENTHS_MIN => "85": "the same in short stretches";
        CUT_TENTHS_MAX => "0": "letters of cut words";
        LETTERS_MIN => "16": "letters of a passage";
        IDEOGRAPHS_MIN => "0": "ideographs of a passage";
        AROUND => "0": "words around a stretch";
    }
    "summarised.rs" {
        LENGTHS_RATIO_MIN => "0": "ratio of the sides";
        SUMMARY_TOKENS_MIN => "0": "words of a summary";
        LONG_TOKENS_MAX => "1 << 30": "words of the text summed up";
        SHARE_MIN => "0.4": "share of the weight";
        SCORE_MIN => "24.0": "score of a stretch";
        SCORE_OF_REST_MIN => "-1e9": "score of the rest";
        EXPLAINED_TOKENS_MIN => "1 << 30": "rewritten passages explain words";
        EXPLAINED_SIMILARITY_MIN => "0.0": "similarity of those";
        NEAR_SHARE_MAX => "2.0": "a short place has all the words";
        PAIRS_MIN => "0.0": "pairs of adjacent words";
        PAIRS_STEP => "0.0": "more pairs for longer places";
        CHANCE => "0.0": "share by chance";
        CHANCE_WEIGHT => "1e-9": "its weight";
        EXCESS_MIN => "0.0": "share beyond that around";
        SENTENCES_OF_WORD => "(1 << 20, 1 << 20)": "frequent words are no evidence";
        exceeds_chance = "self.exceeds_chance((short, &words), &long, around, &has)" => "true": "the shares by chance and around, together";
        is_most = "sentences.tokens(&long).len() * 2 >= self.other.tokens.len()" => "false": "most of a text is all of it";
    }
    "tables.rs" {
        LITERALS_MIN => "1 << 30": "tables of other values in programs";
    }
    "tiles.rs" {
        OCCURRENCES_MAX => "1 << 30": "frequent seeds of programs";
    }
}
