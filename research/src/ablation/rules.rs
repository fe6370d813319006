//! Lists the rules of an alignment, with the code that replaces a rule when it is off, and the
//! bounds, which no figure measures.

/// A rule: a constant, or an expression.
pub struct Rule {
    /// The file of the rule in `crates/cento-text/src/compare/align`.
    pub file: &'static str,
    /// The name of the constant, or a short name for an expression.
    pub name: &'static str,
    /// The expression, empty for a constant.
    pub code: &'static str,
    /// The replacement code when the rule is off.
    pub without: &'static str,
    /// The subject of the rule, for the table.
    pub what: &'static str,
}

impl Rule {
    /// Returns the name of the rule, below the name of its file.
    pub fn id(&self) -> String {
        format!("{}::{}", self.file.trim_end_matches(".rs"), self.name)
    }

    /// Returns whether the rule or its file has this name.
    pub fn is(&self, name: &str) -> bool {
        self.id() == name || self.file == name
    }

    /// The index of the rule in [`RULES`].
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
        COPIED_TOKENS_MIN => "1 << 30": "words of a copy that is not searched further (bounds work, too)";
        SIMILARITY_OF_ONE_MIN => "0.4": "similarity of a single pair";
        is_evident = "few_words::is_evident(copied, query, document)" => "true": "copies of few different words are chance";
        words_enough = "words >= tokens.min(PASSAGE_TOKENS_MIN) as u64 * WORD" => "true": "letters are parts of words";
        phrases = "copied::without_phrases(copied, steps)?" => "copied": "phrases of longer copies";
        the_noisy = "noisy::passages(pair, &prepared.noise, &copied, steps)?" => "Vec::<Aligned>::new()": "all noisy passages";
        copies = "rewritten.retain(|_| is_copy.next() != Some(true))" => "()": "rewritten passages that are copies within other text";
        trim_ends = "trim_ends(&mut rewritten, &places, tokens, steps)?" => "()": "stretches of one text at the ends of rewritten passages";
        in_summary = "Around::new(&summaries).parted(rewritten, steps)?" => "(rewritten, Vec::new())": "rewritten passages within summaries";
        copied_inside = "around.holds(&passage, steps)?" => "false": "copied passages within others";
    }
    "candidates.rs" {
        few_words = "!pair.query.has_few_words(&passage.query)\n            && !pair.document.has_few_words(&passage.hit)" => "true": "rewritten text of few different words";
        the_rewritten = "judged(rewritten, pair, steps)?" => "Vec::new()": "all rewritten passages";
        the_summaries = "judged(summarized, pair, steps)?" => "Vec::new()": "all summaries";
    }
    "adjoining.rs" {
        gap = "2 * GAP_TOKENS_MAX" => "0": "words between adjoining passages";
    }
    "alike.rs" {
        COSINE_MIN => "0.0": "cosine of two sentences, and of the sides of a passage";
        DICE_MIN_HUNDREDTHS => "20": "Dice coefficient of two sentences";
    }
    "around.rs" {
        COPY_SHARE => "2.0": "share of copies in a rewritten passage";
        REST_TOKENS_MIN => "0": "words beside them";
        TRIMMED_SHARE => "0.0": "common words that remain";
    }
    "chain.rs" {
        CROSSING_MAX => "2.0": "chains that cross better ones";
    }
    "copied.rs" {
        SEED_OCCURRENCES_MAX => "1 << 8": "frequent seeds (bounds work)";
        GAP_TOKENS_MAX => "40": "words of a gap";
        best_stretch = "best_stretch(&runs)" => "&runs[..]": "runs at ends too short for their gap";
        copied_again = "with_copied_again(matched(runs, query, document), &chain, matches, steps)?" => "matched(runs, query, document)": "clauses that one text has more often";
        at_distance = "run.query - from == run.hit - of_hit" => "false": "equal words in gaps of equal length";
    }
    "few_words.rs" {
        DIFFERENT_MIN => "0.0": "few different words";
        CHANCE_MAX => "1.0": "copies of few words by chance";
        EARLIER => "0": "numbers that follow from others";
    }
    "local.rs" {
        DROP => "16": "wrong letters that end an alignment (bounds work)";
    }
    "noise.rs" {
        DISTANCE_MAX => "64": "distance of unchanged words";
        STRETCHES_MIN => "1": "stretches of nearly equal words (bounds work)";
        is_name = "a.is_name || b.is_name" => "false": "names of programs";
        has_digit = "a.has_digit && b.has_digit" => "false": "words with digits";
    }
    "noisy.rs" {
        are_joined = "!tokens.iter().any(|tokens| tokens.is_empty()) && odd.iter().any(|odd| !odd.is_empty())" => "false": "all passages of joined or cut words";
        starts = "!kinds.are_noisy\n                && query.word_starts.of(i as usize + 1, len - 1)\n                    == document.word_starts.of(j + 1, len - 1)" => "false": "joined words begin at other letters (bounds work)";
    }
    "places.rs" {
        PLACES_MAX => "8": "places of frequent words and runs of letters (bounds work)";
    }
    "rewritten.rs" {
        GAP_SENTENCES_MAX => "0": "sentences between two pairs";
        PASSAGE_BYTES_MIN => "0": "bytes of a side";
        SIMILARITY_MIN => "0.0": "similarity of the sides";
        best = "found.extend(best.filter(|seeds| seeds.len() > 1))" => "drop(best)": "clusters of the most similar sentences";
    }
    "sentences.rs" {
        SENTENCE_TOKENS_MIN => "0": "words of a sentence, at least";
        SENTENCE_TOKENS_MAX => "1 << 30": "words of a sentence, at most";
        goes_on = "is_blank && (is_joined || after.starts_with(is_small))" => "false": "sentences that go on after an empty line";
    }
    "spacing.rs" {
        JOINED_TENTHS_MIN => "1 << 20": "letters of joined words";
        CUT_TENTHS_MAX => "0": "letters of cut words";
        AROUND => "0": "words around odd stretches, and around noisy ones";
        LETTERS_MIN => "16": "letters of a noisy passage, or a joined one";
    }
    "summarized.rs" {
        SUMMARY_TOKENS_MIN => "0": "words of a summary";
        LONG_TOKENS_MAX => "1 << 30": "words of the text summed up";
        SHARE_MIN => "0.4": "share of the weight";
        SCORE_MIN => "24.0": "score of a stretch";
        SCORE_OF_REST_MIN => "-1e9": "score of the rest";
        explained = "passage.similarity >= SIMILARITY_OF_ONE_MIN && tokens >= COPIED_TOKENS_MIN" => "false": "rewritten passages explain words";
        NEAR_SHARE_MAX => "2.0": "a short place has all the words";
        PAIRS_STEP => "0.0": "pairs of adjacent words, more for longer places";
        CHANCE => "0.0": "share by chance";
        CHANCE_WEIGHT => "1e-9": "weight of the share by chance";
        EXCESS_MIN => "0.0": "share beyond the text around";
        exceeds_chance = "self.exceeds_chance(short, &words, &long, around, &has)" => "true": "the shares by chance and around, together";
        is_most = "sentences.tokens(&long).len() * 2 >= self.other.tokens.len()" => "false": "most of a text is all of it";
    }
    "tables.rs" {
        LITERALS_MIN => "1 << 30": "tables of other values in programs";
    }
    "vocabulary.rs" {
        SENTENCES_OF_WORD => "(1 << 20, 1 << 20)": "frequent words bring up no sentence (bounds work)";
    }
}

/// Constants that are not rules: bounds of work and memory, array lengths, and units of the figures
/// above, by name, with the subject.
pub const BOUNDS: &[(&str, &str)] = &[
    ("alike::SEEDS_MAX", "memory: pairs of alike sentences"),
    ("alike::SEED_BYTES", "memory: of one of them"),
    ("bands::BAND_BITS", "unit: distances in both texts that are about the same"),
    ("chain::OPEN_MAX", "work: chains that a run may continue"),
    ("chain::TOKEN_SCORE", "unit: score of a token, beside the cost of one in a gap"),
    ("copied::SEED_TOKENS", "work: tokens of a run that is looked up"),
    ("copied::RUNS_MAX", "memory: runs that are chained"),
    ("equal_runs::GROWTH", "memory: room for runs that is taken too early"),
    ("hash_filter::BITS_A_HASH", "memory: filters before look-ups"),
    ("local::ROWS_MAX", "memory: letters of an alignment"),
    ("local::GIVEN_UP", "unit: score of a cell that is not computed"),
    ("mod::PASSAGE_TOKENS_MIN", "definition: tokens of a passage"),
    ("mod::LOOKUPS_AT_ONCE", "work: look-ups between two checks"),
    ("mod::LOOKUP_STEPS", "unit: steps of a look-up"),
    ("mod::COMPARED_A_STEP", "unit: tokens compared in a step"),
    ("mod::NONE", "unit: no place"),
    ("mod::STAGE_STEPS_MAX", "work: steps of a stage, beside those of each token"),
    ("noise::LETTERS_MAX", "work: letters of a word that are compared"),
    ("noisy::LETTERS_MAX", "memory: letters of a text"),
    ("noisy::ALIGNED_TOKENS_MAX", "memory: tokens of all alignments of letters"),
    ("noisy::JOINED_LETTERS_MAX", "memory: letters of few tokens"),
    ("parted::ALIGNED_TOKENS_MAX", "work: tokens that are aligned again"),
    ("spacing::STRETCH", "definition: tokens of an odd stretch"),
    ("spacing::WORD_LETTERS", "unit: letters of a word"),
    ("tiles::TILE_TOKENS_MIN", "definition: tokens of a passage of programs"),
];
