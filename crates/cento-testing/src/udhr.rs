//! Recall of edited copies in the scripts of the world, and of texts of a few words.
//!
//! The text is the Universal Declaration of Human Rights (tests/data/udhr). Edits are made to
//! words: the text between spaces or, in a script without spaces between words, runs of about the
//! mean length of a word. `cento-research scripts` prints the figures; tests/it/scripts.rs holds
//! them.

use std::collections::BTreeSet;
use std::ops::Range;

use cento::Stop;
use cento::hash::mix64;
use cento::index::{Config, Document, Index, SignedDocument, WriterOptions};
use cento::search::{Hit, Query, Rank, Searcher};
use cento::tantivy::directory::RamDirectory;

/// A translation of the declaration.
#[derive(Debug)]
pub struct Language {
    /// Its code in ISO 639-3.
    pub code: &'static str,
    /// The English name of the language.
    pub name: &'static str,
    /// For languages without spaces between words: the letters of a word.
    letters: Option<usize>,
    text: &'static str,
}

macro_rules! language {
    ($code:literal, $name:literal, $letters:expr) => {
        Language {
            code: $code,
            name: $name,
            letters: $letters,
            text: include_str!(concat!("../../../tests/data/udhr/", $code, ".txt")),
        }
    };
}

/// All translations. English is for comparisons with the translations.
pub static LANGUAGES: [Language; 8] = [
    language!("eng", "English", None),
    language!("deu", "German", None),
    language!("rus", "Russian", None),
    language!("arb", "Arabic", None),
    language!("hin", "Hindi", None),
    language!("cmn", "Chinese", Some(2)),
    language!("jpn", "Japanese", Some(2)),
    language!("tha", "Thai", Some(4)),
];

/// Numbers that are the same for the same seed.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix64(self.0)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn percent(&mut self, share: u32) -> bool {
        self.next() % 100 < u64::from(share)
    }
}

impl Language {
    /// The articles, in their order.
    fn articles(&self) -> Vec<&'static str> {
        self.text.trim_end().split("\n\n").collect()
    }

    /// Splits a text into words. A piece reaches to the next word, so that the pieces together are
    /// the text.
    fn words<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut words = Vec::new();
        let (mut start, mut letters, mut has_ended) = (0, 0, false);
        for (at, c) in text.char_indices() {
            // Above and below a letter of Thai.
            if matches!(c, '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}') {
                continue;
            }
            if !c.is_alphanumeric() {
                has_ended |= c.is_whitespace() || self.letters.is_some();
                continue;
            }
            if letters > 0 && (has_ended || self.letters == Some(letters)) {
                words.push(&text[start..at]);
                (start, letters) = (at, 0);
            }
            letters += 1;
            has_ended = false;
        }
        words.push(&text[start..]);
        words
    }

    /// The words with edits to about `percent` in a hundred: a third are deleted, a third replaced
    /// by other words of the declaration, and a third change places with the next.
    fn edit(&self, words: &[&str], percent: u32, rng: &mut Rng) -> String {
        let others = self.words(self.text);
        let (mut edited, mut at) = (String::new(), 0);
        while at < words.len() {
            let word = words[at];
            at += 1;
            if !rng.percent(percent) {
                edited += word;
                continue;
            }
            match rng.below(3) {
                0 => {}
                1 => edited += others[rng.below(others.len())],
                _ if at < words.len() => {
                    edited += words[at];
                    edited += word;
                    at += 1;
                }
                _ => edited += word,
            }
        }
        edited
    }
}

/// How a collection is searched.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The specification of the scheme.
    pub scheme: &'static str,
    /// The order of the hits.
    pub rank: Rank,
}

/// The kind of text that a query is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole article of the declaration.
    Copy,
    /// Forty words of an article, between two articles that are not in the index.
    Passage,
}

/// The queries of one language, kind and share of edits, and their hits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Found {
    /// The number of queries of this kind.
    pub queries: usize,
    /// Queries whose best hit is their source text.
    pub first: usize,
    /// Wrong hits that contain at least [`CONTAINMENT`] of the query, over all queries.
    pub others: usize,
    /// Copied bytes of query and text, over all queries.
    copied: usize,
    /// The copied bytes in passages.
    covered: usize,
    /// The bytes in passages that were not copied.
    beside: usize,
}

impl Found {
    /// The share of the queries whose best hit is right.
    pub fn first_share(&self) -> f64 {
        self.first as f64 / self.queries as f64
    }

    /// The share of the copied bytes that passages with the right text cover.
    pub fn covered_share(&self) -> f64 {
        self.covered as f64 / self.copied as f64
    }

    /// The share of passage bytes that are not copied.
    pub fn beside_share(&self) -> f64 {
        self.beside as f64 / (self.beside + self.covered).max(1) as f64
    }
}

/// A hit that contains less of a short text is no evidence.
pub const CONTAINMENT: f64 = 0.3;

/// One in `HOST_EVERY` articles is not in the index, but surrounds passages.
const HOST_EVERY: usize = 3;

/// The words of a passage.
const PASSAGE_WORDS: usize = 40;

/// An index of articles in all languages.
#[derive(Debug)]
pub struct Articles {
    searcher: Searcher,
    rank: Rank,
}

impl Articles {
    /// Makes the index.
    ///
    /// # Errors
    /// When the scheme cannot be used.
    pub fn new(setting: Setting) -> cento::Result<Articles> {
        let mut documents = Vec::new();
        for language in &LANGUAGES {
            for (number, article) in language.articles().into_iter().enumerate() {
                if !number.is_multiple_of(HOST_EVERY) {
                    documents.push((format!("{}-{}", language.code, number + 1), article));
                }
            }
        }
        Ok(Articles { searcher: index(setting.scheme, &documents)?, rank: setting.rank })
    }

    /// Searches for edited articles, or edited passages of articles, several times per article.
    ///
    /// # Errors
    /// When a search fails.
    pub fn find(
        &self,
        language: &Language,
        kind: Kind,
        percent: u32,
        rounds: u64,
    ) -> cento::Result<Found> {
        let articles = language.articles();
        let mut found = Found::default();
        for (number, article) in articles.iter().enumerate() {
            if number.is_multiple_of(HOST_EVERY) {
                continue;
            }
            for round in 0..rounds {
                let mut rng = Rng(mix64(number as u64) ^ mix64(round + 1000));
                let words = language.words(article);
                let (query, copied, original) = match kind {
                    Kind::Copy => {
                        let copy = language.edit(&words, percent, &mut rng);
                        let length = copy.len();
                        (copy, 0..length, 0..article.len())
                    }
                    Kind::Passage if words.len() < PASSAGE_WORDS => continue,
                    Kind::Passage => {
                        let first = rng.below(words.len() - PASSAGE_WORDS + 1);
                        let passage = &words[first..first + PASSAGE_WORDS];
                        let start: usize = words[..first].iter().map(|word| word.len()).sum();
                        let length: usize = passage.iter().map(|word| word.len()).sum();
                        let mut host =
                            || articles[HOST_EVERY * rng.below(articles.len() / HOST_EVERY)];
                        let (before, after) = (host(), host());
                        let passage = language.edit(passage, percent, &mut rng);
                        let from = before.len() + 2;
                        let copied = from..from + passage.len();
                        (format!("{before}\n\n{passage}\n\n{after}"), copied, start..start + length)
                    }
                };
                let id = format!("{}-{}", language.code, number + 1);
                let hits = search(&self.searcher, query, self.rank, true)?;
                found.add(&hits, &id, copied, original);
            }
        }
        Ok(found)
    }
}

impl Found {
    fn add(&mut self, hits: &[Hit], id: &str, copied: Range<usize>, original: Range<usize>) {
        self.queries += 1;
        self.first += usize::from(hits.first().is_some_and(|hit| hit.id == id));
        let others = hits
            .iter()
            .filter(|hit| hit.id != id && hit.similarity.containment_of_a >= CONTAINMENT);
        self.others += others.count();
        self.copied += copied.len() + original.len();
        let hit = hits.iter().find(|hit| hit.id == id);
        let passages = hit.and_then(|hit| hit.passages.as_deref()).unwrap_or_default();
        let sides = [
            (copied, passages.iter().map(|passage| passage.a).collect::<Vec<_>>()),
            (original, passages.iter().map(|passage| passage.b).collect()),
        ];
        for (wanted, ranges) in sides {
            let end = ranges.iter().map(|range| range.1 as usize).max().unwrap_or(0);
            let mut is_in = vec![false; end.max(wanted.end)];
            for (start, end) in ranges {
                is_in[start as usize..end as usize].fill(true);
            }
            let count = |bytes: &[bool]| bytes.iter().filter(|&&is_in| is_in).count();
            let covered = count(&is_in[wanted]);
            let all = count(&is_in);
            self.covered += covered;
            self.beside += all - covered;
        }
    }
}

/// How the query differs from a text of a few words in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The query is an unchanged copy.
    None,
    /// One word is another.
    Replaced,
    /// There is one word more.
    Added,
}

/// The changes to measure, the exact copy first.
pub const CHANGES: [Change; 3] = [Change::None, Change::Replaced, Change::Added];

/// Texts of a few words in all languages: the middles of paragraphs.
#[derive(Debug)]
pub struct ShortTexts {
    texts: Vec<(&'static Language, String, &'static str)>,
    searcher: Searcher,
    rank: Rank,
}

impl ShortTexts {
    /// Makes an index of texts of `words` words each.
    ///
    /// # Errors
    /// When the scheme cannot be used.
    pub fn new(setting: Setting, words: usize) -> cento::Result<ShortTexts> {
        let mut texts = Vec::new();
        let mut seen = BTreeSet::new();
        for language in &LANGUAGES {
            for (number, paragraph) in language.text.split_terminator('\n').enumerate() {
                let all = language.words(paragraph);
                let Some(rest) = all.len().checked_sub(words) else { continue };
                let bytes = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
                let start = bytes(&all[..rest / 2]);
                let text = &paragraph[start..start + bytes(&all[rest / 2..][..words])];
                let text = text.trim_end();
                if seen.insert(text) {
                    texts.push((language, format!("{}-{number}", language.code), text));
                }
            }
        }
        let documents: Vec<_> = texts.iter().map(|(_, id, text)| (id.clone(), *text)).collect();
        let searcher = index(setting.scheme, &documents)?;
        Ok(ShortTexts { texts, searcher, rank: setting.rank })
    }

    /// Searches for every text of a language, changed.
    ///
    /// # Errors
    /// When a search fails.
    pub fn find(&self, language: &Language, change: Change) -> cento::Result<Found> {
        let mut found = Found::default();
        let others = language.words(language.text);
        let own = self.texts.iter().filter(|(other, ..)| other.code == language.code);
        for (number, (_, id, text)) in own.enumerate() {
            let mut rng = Rng(mix64(number as u64) ^ mix64(2000));
            let mut words = language.words(text);
            let (at, other) = (rng.below(words.len()), others[rng.below(others.len())]);
            match change {
                Change::None => {}
                Change::Replaced => words[at] = other,
                Change::Added => words.insert(at, other),
            }
            let hits = search(&self.searcher, words.concat(), self.rank, false)?;
            found.add(&hits, id, 0..0, 0..0);
        }
        Ok(found)
    }
}

/// The hits of a text.
fn search(
    searcher: &Searcher,
    text: String,
    rank: Rank,
    passages: bool,
) -> cento::Result<Vec<Hit>> {
    let query = Query::text(text).passages(passages).rank(rank);
    Ok(searcher.search(&query)?.hits)
}

fn index(scheme: &str, documents: &[(String, &str)]) -> cento::Result<Searcher> {
    let config = Config::new(scheme, "words", true)?;
    let index = Index::create_in(RamDirectory::create(), "ram", config)?;
    let mut writer = index.writer(WriterOptions::default())?;
    for (id, text) in documents {
        let document = Document::new(id, *text);
        writer.add_signed(SignedDocument::new(document, index.config(), Stop::NEVER)?)?;
    }
    writer.finish()?;
    Ok(Searcher::new(index.snapshot()?))
}
