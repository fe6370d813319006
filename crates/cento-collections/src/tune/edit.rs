//! Makes the edits that are planted into copies, with a given strength.
//!
//! An edit depends only on the words of the text and on a random generator.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::random::Random;
use super::words::{split, words};
use cento_api::error::Result;
use cento_text::runtime::Stop;
use cento_text::text::{Analyzer, Tokens};

/// The change that an edit makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Words: a third of the edited words are deleted, a third are replaced by words of other
    /// documents, and a third change places with the next word.
    Words,
    /// Words and their order: half of the edited words are deleted, half are replaced by words of
    /// other documents, and then groups of five words are shuffled (the random text operations of
    /// Potthast et al. 2010).
    Rewritten,
    /// Letters: an edited word has a missing letter or a wrong letter, as OCR makes them. One in
    /// eight edited words is joined with the next word.
    Letters,
    /// The names of a program: an edited name is replaced everywhere in the program.
    Names,
}

/// The part of a document that is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// The whole document is copied.
    Copy,
    /// Sixty words of the document, between words of a document that is not indexed.
    Passage,
}

/// A planted edit: the copied part, the change, and its strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// The part of the document that is copied.
    pub extent: Extent,
    /// The change to the copied part.
    pub change: Change,
    /// How many words or names in a hundred are edited.
    pub percent: u32,
}

impl Edit {
    pub(super) const fn new(extent: Extent, change: Change, percent: u32) -> Edit {
        Edit { extent, change, percent }
    }

    /// Returns the kind of copy that the edit makes, without its strength.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match (self.extent, self.change) {
            (Extent::Copy, Change::Words) => "copy",
            (Extent::Passage, Change::Words) => "passage",
            (Extent::Copy, Change::Rewritten) => "rewritten copy",
            (Extent::Passage, Change::Rewritten) => "rewritten passage",
            (Extent::Copy, Change::Letters) => "recognized copy",
            (Extent::Passage, Change::Letters) => "recognized passage",
            (Extent::Copy, Change::Names) => "renamed copy",
            (Extent::Passage, Change::Names) => "renamed passage",
        }
    }

    /// Returns the kind and the strength, such as `passage, 10 %`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}, {} %", self.kind(), self.percent)
    }
}

/// Makes texts with edits.
pub(super) struct Editor<'a> {
    /// Words of other documents.
    pub others: &'a [String],
    /// The analyzer that recognizes names in programs.
    pub programs: Option<&'a Analyzer>,
}

/// Letters that OCR confuses, as pairs of the printed and the recognized letters.
const CONFUSED: [(&str, &str); 16] = [
    ("rn", "m"),
    ("m", "rn"),
    ("e", "c"),
    ("c", "e"),
    ("l", "1"),
    ("i", "l"),
    ("o", "0"),
    ("u", "n"),
    ("n", "u"),
    ("h", "b"),
    ("t", "f"),
    ("f", "s"),
    ("s", "f"),
    ("a", "o"),
    ("g", "q"),
    ("b", "h"),
];

/// One in this many edited words is joined with the next word.
const JOINED: usize = 8;

const SHUFFLED: usize = 5;

impl Editor<'_> {
    /// Returns the words with an edit. Unless the strength is 0, at least one word is edited.
    ///
    /// # Errors
    /// [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn edited(
        &self,
        text: &[&str],
        edit: Edit,
        random: &mut Random,
        stop: &Stop,
    ) -> Result<String> {
        if edit.change == Change::Names {
            return self.renamed(&text.concat(), edit.percent, random, stop);
        }
        let mut is_edited: Vec<bool> = text.iter().map(|_| random.percent(edit.percent)).collect();
        if edit.percent > 0 && !text.is_empty() && !is_edited.contains(&true) {
            is_edited[random.below(text.len())] = true;
        }
        let mut out: Vec<String> = Vec::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            stop.check_at(at)?;
            let (word, gap) = split(text[at]);
            at += 1;
            if !is_edited[at - 1] {
                out.push(text[at - 1].to_owned());
                continue;
            }
            let next = text.get(at).map(|next| split(next));
            match (edit.change, next) {
                (Change::Letters, Some(_)) if random.below(JOINED) == 0 => out.push(word.into()),
                (Change::Letters, _) => out.push(misread(word, random) + gap),
                (Change::Rewritten, _) => match random.below(2) {
                    0 => {}
                    _ => out.push(self.other(random) + gap),
                },
                (_, next) => match (random.below(3), next) {
                    (0, _) if text.len() > 1 => {}
                    (1, Some((next, next_gap))) => {
                        out.extend([format!("{next}{gap}"), format!("{word}{next_gap}")]);
                        at += 1;
                    }
                    _ => out.push(self.other(random) + gap),
                },
            }
        }
        if edit.change == Change::Rewritten {
            for run in out.chunks_mut(SHUFFLED) {
                random.shuffle(run);
            }
        }
        Ok(out.concat())
    }

    fn other(&self, random: &mut Random) -> String {
        match self.others.len() {
            0 => String::new(),
            number => self.others[random.below(number)].clone(),
        }
    }

    /// Returns a program with some names replaced. A name is replaced by the same name everywhere.
    ///
    /// A word is a name if a different word has the same token, because the analyzer compares
    /// programs whatever their names are.
    fn renamed(
        &self,
        text: &str,
        percent: u32,
        random: &mut Random,
        stop: &Stop,
    ) -> Result<String> {
        let Some(analyzer) = self.programs else { return Ok(text.to_owned()) };
        let mut tokens = Tokens::default();
        analyzer.analyze(text, &mut tokens, stop)?;
        let of_span = |at: usize| {
            let span = tokens.spans[at];
            &text[span.start as usize..span.end as usize]
        };
        let mut by_hash: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
        for (at, &hash) in tokens.hashes.iter().enumerate() {
            if is_name(of_span(at)) {
                by_hash.entry(hash).or_default().insert(of_span(at));
            }
        }
        let names = by_hash.into_values().filter(|words| words.len() > 1);
        let all: BTreeSet<&str> = names.flatten().collect();
        let mut new: BTreeMap<&str, String> = BTreeMap::new();
        for (number, name) in all.into_iter().enumerate() {
            if random.percent(percent) {
                new.insert(name, format!("{}{number}", ["item", "part", "one"][random.below(3)]));
            }
        }
        let (mut out, mut end) = (String::with_capacity(text.len()), 0);
        for at in 0..tokens.spans.len() {
            let span = tokens.spans[at];
            // Tokens of programs may have no text, or share the text of another token.
            if (span.start as usize) < end {
                continue;
            }
            if let Some(name) = new.get(of_span(at)) {
                out.push_str(&text[end..span.start as usize]);
                out.push_str(name);
                end = span.end as usize;
            }
        }
        out.push_str(&text[end..]);
        Ok(out)
    }
}

/// Tells whether a word can be a name of a program.
fn is_name(word: &str) -> bool {
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    word.bytes().all(is_of_names) && word.bytes().next().is_some_and(|b| !b.is_ascii_digit())
}

/// Returns a word with a wrong or missing letter.
fn misread(word: &str, random: &mut Random) -> String {
    let places: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
    if places.is_empty() {
        return String::new();
    }
    let (before, rest) = word.split_at(places[random.below(places.len())]);
    let confused = CONFUSED.iter().find(|(there, _)| rest.starts_with(there));
    let is_missing = random.below(4) == 0 && places.len() > 1;
    match confused.filter(|_| !is_missing) {
        Some((there, read)) => format!("{before}{read}{}", &rest[there.len()..]),
        None => {
            let after: String = rest.chars().skip(1).collect();
            let wrong = ["'", "i", "x", "r"][random.below(4)];
            let wrong = match () {
                () if is_missing => "",
                () if rest.starts_with(wrong) => "v",
                () => wrong,
            };
            format!("{before}{wrong}{after}")
        }
    }
}

pub(super) const PASSAGE_WORDS: usize = 60;

/// The minimum number of words of a passage. Shorter texts have no passage to copy.
pub(super) const PASSAGE_WORDS_MIN: usize = 15;

/// The number of words before and after a passage.
const HOST_WORDS: usize = 100;

/// A copy with an edit, and its text before the edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copy {
    pub text: String,
    pub before: String,
}

impl Editor<'_> {
    /// Makes a copy of a document with an edit. Text of `host` surrounds passages.
    ///
    /// Returns `None` if the document is too short or the edit changes nothing.
    ///
    /// # Errors
    /// [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn copy(
        &self,
        document: &str,
        host: &str,
        edit: Edit,
        random: &mut Random,
        stop: &Stop,
    ) -> Result<Option<Copy>> {
        let all = words(document, stop)?;
        if all.is_empty() {
            return Ok(None);
        }
        if edit.extent == Extent::Copy {
            let text = self.edited(&all, edit, random, stop)?;
            let is_changed = edit.percent == 0 || text != document;
            let before = document.to_owned();
            return Ok(Some(Copy { text, before }).filter(|_| is_changed));
        }
        let length = PASSAGE_WORDS.min(all.len() / 2);
        if length < PASSAGE_WORDS_MIN {
            return Ok(None);
        }
        let first = random.below(all.len() - length + 1);
        let passage = &all[first..first + length];
        let edited = self.edited(passage, edit, random, stop)?;
        let host = words(host, stop)?;
        let host = &host[..host.len().min(2 * HOST_WORDS)];
        let (start, end) = host.split_at(host.len() / 2);
        let around = |passage: &str| format!("{}\n{passage}\n{}", start.concat(), end.concat());
        Ok(Some(Copy { text: around(&edited), before: around(&passage.concat()) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "The keeper of the lighthouse counted the ships that passed the rocks at \
                        night, and wrote their names into a book which nobody has ever read. When \
                        the lamp went out he lit another one, and went on counting until the sun \
                        had risen above the hills on the other side of the bay.";

    fn edited(change: Change, percent: u32, seed: u64) -> String {
        let others = ["alpha", "beta", "gamma"].map(str::to_owned);
        let editor = Editor { others: &others, programs: None };
        let edit = Edit::new(Extent::Copy, change, percent);
        let random = &mut Random::new(seed, 1);
        editor.copy(TEXT, "", edit, random, Stop::NEVER).unwrap().unwrap().text
    }

    /// The share of the words of the text that the copy lacks.
    fn changed(copy: &str) -> f64 {
        let (a, b) = (words(TEXT, Stop::NEVER).unwrap(), words(copy, Stop::NEVER).unwrap());
        let b: BTreeSet<&str> = b.into_iter().map(|word| split(word).0).collect();
        let lost = a.iter().filter(|word| !b.contains(split(word).0));
        lost.count() as f64 / a.len() as f64
    }

    #[test]
    fn an_edit_is_as_strong_as_it_says_and_the_same_for_the_same_seed() {
        for change in [Change::Words, Change::Rewritten, Change::Letters] {
            let mean = |percent| {
                let all = (0..200).map(|seed| changed(&edited(change, percent, seed)));
                all.sum::<f64>() / 200.0
            };
            let (weak, strong) = (mean(10), mean(50));
            assert!((0.02..0.15).contains(&weak), "{change:?} {weak}");
            assert!((0.15..0.6).contains(&strong), "{change:?} {strong}");
            assert_eq!(edited(change, 10, 3), edited(change, 10, 3));
            assert_ne!(edited(change, 10, 3), edited(change, 10, 4));
        }
        assert_eq!(edited(Change::Words, 0, 1), TEXT);
        // At least one word of a short text changes.
        assert!((0..50).all(|seed| edited(Change::Letters, 1, seed) != TEXT));
    }

    #[test]
    fn a_wrong_letter_leaves_the_rest_of_its_word() {
        for seed in 0..500 {
            let word = misread("thermometer", &mut Random::new(seed, 0));
            assert_ne!(word, "thermometer");
            assert!((10..=12).contains(&word.len()), "{word}");
        }
        assert_eq!(misread("", &mut Random::new(1, 0)), "");
    }

    #[test]
    fn a_passage_is_surrounded_and_a_short_text_has_none() {
        let editor = Editor { others: &[], programs: None };
        let edit = Edit::new(Extent::Passage, Change::Words, 0);
        let copy = |document: &str| {
            let random = &mut Random::new(1, 1);
            editor.copy(document, "before it and behind", edit, random, Stop::NEVER).unwrap()
        };
        let Copy { text, before } = copy(TEXT).unwrap();
        assert_eq!(text, before);
        let passage = text.strip_prefix("before it \n").unwrap();
        let passage = passage.strip_suffix("\nand behind").unwrap();
        assert!(TEXT.contains(passage) && words(passage, Stop::NEVER).unwrap().len() > 20);
        assert_eq!(copy("a text of a few words"), None);
    }

    #[test]
    fn a_program_with_other_names_is_the_same_program() {
        let analyzer: Analyzer = "code(language=java)".parse().unwrap();
        let program = "class Counter {\n  int total;\n  int add(int value, int times) {\n    for \
                       (int i = 0; i < times; i++) total += value;\n    return total;\n  }\n}\n";
        let editor = Editor { others: &[], programs: Some(&analyzer) };
        let edit = Edit::new(Extent::Copy, Change::Names, 100);
        let copy = editor.copy(program, "", edit, &mut Random::new(1, 1), Stop::NEVER);
        let copy = copy.unwrap().unwrap().text;
        for name in ["total", "value", "times"] {
            assert!(!copy.contains(name), "{copy}");
        }
        assert!(copy.contains("for (int") && copy.contains("return"), "{copy}");
        let tokens = |text: &str| {
            let mut tokens = Tokens::default();
            analyzer.analyze(text, &mut tokens, Stop::NEVER).unwrap();
            tokens.hashes
        };
        assert_eq!(tokens(&copy), tokens(program));
    }
}
