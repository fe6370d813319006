//! The naive matcher: a document matches a watch if both have a run of equal words.
//!
//! The runs of made-up texts are short or long, never between, so that no method of finding
//! passages can see it otherwise.

use std::collections::{BTreeMap, BTreeSet};

use cento_api::WatchEvent;
use fastrand::Rng;

use crate::Result;

/// Runs of this many words match. Shorter ones have at most [`SHORT`].
const LONG: usize = 30;

/// The longest run that does not match.
const SHORT: usize = 8;

/// The number of different words.
const WORDS: u32 = 50_000;

/// A made-up text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    words: Vec<u32>,
    /// Its value in the meta object of a document.
    pub is_even: bool,
}

impl Text {
    /// Returns the words.
    pub fn text(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| format!("w{word}")).collect();
        words.join(" ")
    }

    fn random(count: usize, rng: &mut Rng) -> Text {
        let words = (0..count).map(|_| rng.u32(..WORDS)).collect();
        Text { words, is_even: rng.bool() }
    }

    /// Adds words of another text, and others after them.
    fn copy(&mut self, other: &Text, count: usize, rng: &mut Rng) {
        let count = count.min(other.words.len());
        let from = rng.usize(..=other.words.len() - count);
        self.words.extend(&other.words[from..from + count]);
        self.words.extend(Text::random(10, rng).words);
    }

    /// Returns the length of the longest run of words that both have.
    fn longest_run(&self, other: &Text) -> usize {
        let mut longest = 0;
        let (mut above, mut row) = (vec![0; other.words.len() + 1], vec![0; other.words.len() + 1]);
        for word in &self.words {
            for (at, own) in other.words.iter().enumerate() {
                row[at + 1] = if word == own { above[at] + 1 } else { 0 };
                longest = longest.max(row[at + 1]);
            }
            std::mem::swap(&mut above, &mut row);
        }
        longest
    }
}

/// What a watch is for.
#[derive(Debug, Clone)]
pub enum Subject {
    Text(Text),
    /// A text, in documents whose meta object has `even` only.
    TextInEven(Text),
    /// A stored document.
    Document(String),
}

/// The events of one request.
#[derive(Debug, Clone, Default)]
struct Expected {
    /// The length of the run of each watch and document.
    pairs: BTreeMap<(String, String), usize>,
    /// A watch that was removed right after it, perhaps before it was matched.
    removed: BTreeSet<String>,
}

/// What an index has, and the events that there must be.
#[derive(Debug, Clone, Default)]
pub struct Model {
    pub documents: BTreeMap<String, Text>,
    pub watches: BTreeMap<String, Subject>,
    expected: Vec<Expected>,
}

impl Model {
    /// Makes up the text of a watch.
    pub fn watched_text(rng: &mut Rng) -> Text {
        Text::random(100, rng)
    }

    /// Makes up the text of a document, which has runs of some watches: one of each text, since two
    /// short ones that are near each other in both texts are a passage.
    pub fn text(&self, rng: &mut Rng) -> Text {
        let mut text = Text::random(30, rng);
        let mut copied: Vec<&Text> = Vec::new();
        for _ in 0..rng.usize(..4) {
            let count = rng.usize(..self.watches.len().max(1));
            let Some(subject) = self.watches.values().nth(count) else { continue };
            let count = if rng.bool() { rng.usize(..=SHORT) } else { rng.usize(LONG..60) };
            // Several watches may be for one document.
            let subject = self.text_of(subject).filter(|subject| !copied.contains(subject));
            let Some(subject) = subject else { continue };
            text.copy(subject, count, rng);
            copied.push(subject);
        }
        text
    }

    fn text_of<'a>(&'a self, subject: &'a Subject) -> Option<&'a Text> {
        match subject {
            Subject::Text(text) | Subject::TextInEven(text) => Some(text),
            Subject::Document(id) => self.documents.get(id),
        }
    }

    /// Commits documents: those of a request, each once.
    ///
    /// # Errors
    /// When a run is neither short nor long.
    pub fn commit(&mut self, added: &[(String, Text)]) -> Result {
        let is_changed = |(id, text): &&(String, Text)| self.documents.get(id) != Some(text);
        let changed: Vec<(String, Text)> = added.iter().filter(is_changed).cloned().collect();
        self.documents.extend(changed.iter().cloned());
        let mut expected = Expected::default();
        for (name, subject) in &self.watches {
            let Some(watched) = self.text_of(subject) else { continue };
            for (id, text) in &changed {
                let run = watched.longest_run(text);
                match subject {
                    Subject::Document(own) if own == id => continue,
                    Subject::TextInEven(_) if !text.is_even => continue,
                    _ if run <= SHORT => continue,
                    _ if run < LONG => return Err(format!("a run of {run} words").into()),
                    _ => {}
                }
                expected.pairs.insert((name.clone(), id.clone()), run);
            }
        }
        self.expected.push(expected);
        Ok(())
    }

    /// Removes a watch.
    pub fn remove_watch(&mut self, name: &str) {
        self.watches.remove(name);
        if let Some(last) = self.expected.last_mut() {
            last.removed.insert(name.to_owned());
        }
    }

    /// Compares all events with those that must be there, in order; returns their number.
    ///
    /// # Errors
    /// When one is missing, or there twice, or out of order, or not expected.
    pub fn check(&self, events: &[WatchEvent]) -> Result<usize> {
        let mut rest = events.iter().peekable();
        let (mut last, mut cursor) = (0, 0);
        for (number, expected) in self.expected.iter().enumerate() {
            let mut found = BTreeSet::new();
            let mut before: Option<&WatchEvent> = None;
            while let Some(event) = rest.next_if(|event| {
                let pair = (event.watch.clone(), event.hit.id.clone());
                expected.pairs.contains_key(&pair) && !found.contains(&pair)
            }) {
                let is_next = event.cursor > cursor && event.commit > last;
                cursor = event.cursor;
                let is_after = |before: &WatchEvent| {
                    (before.commit, &before.watch) <= (event.commit, &event.watch)
                };
                if !is_next || !before.is_none_or(is_after) {
                    return Err(format!("out of order: {event:?} after {before:?}").into());
                }
                let pair = (event.watch.clone(), event.hit.id.clone());
                let passages = event.hit.passages.as_deref().unwrap_or_default();
                let longest = passages.iter().map(|passage| passage.matched as usize).max();
                // Sentences that have most of a run, each matched as a whole, take its place.
                let run = expected.pairs[&pair];
                if longest.unwrap_or(0) * 2 <= run {
                    let texts = (self.watches.get(&pair.0), self.documents.get(&pair.1));
                    let what = format!("{pair:?}: a run of {run} words of {texts:?}: {passages:?}");
                    return Err(what.into());
                }
                found.insert(pair);
                before = Some(event);
            }
            last = before.map_or(last, |event| event.commit);
            let mut wanted = expected.pairs.keys();
            let is_missing = |pair: &&(String, String)| {
                !found.contains(*pair) && !expected.removed.contains(&pair.0)
            };
            if let Some(missing) = wanted.find(is_missing) {
                let next = rest.peek().map(|event| (&event.watch, &event.hit.id, event.cursor));
                let of = self.expected.len();
                let what =
                    format!("request {number} of {of}: {missing:?} has no event; {next:?} is next");
                return Err(what.into());
            }
        }
        match rest.next() {
            Some(event) => Err(format!("not expected, or there twice: {event:?}").into()),
            None => Ok(events.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of runs of words that the text has of the other.
    fn runs(text: &Text, of: &Text) -> usize {
        let place = |word| of.words.iter().position(|other| other == word);
        let places: Vec<Option<usize>> = text.words.iter().map(place).collect();
        let begins = |at: usize| match (at.checked_sub(1).and_then(|at| places[at]), places[at]) {
            (_, None) => false,
            (before, Some(place)) => before.is_none_or(|before| before + 1 != place),
        };
        (0..places.len()).filter(|at| begins(*at)).count()
    }

    #[test]
    fn a_document_has_one_run_of_a_document_that_several_watches_are_for() {
        // Of two short runs cento made a passage, which the naive matcher does not see.
        let mut rng = Rng::with_seed(1);
        // No word of it is a random one of other texts.
        let own = Text { words: (WORDS..WORDS + 100).collect(), is_even: false };
        let mut model = Model::default();
        model.documents.insert("own".into(), own.clone());
        for name in ["one", "two", "three"] {
            model.watches.insert(name.into(), Subject::Document("own".into()));
        }
        let found: Vec<usize> = (0..200).map(|_| runs(&model.text(&mut rng), &own)).collect();
        assert!(found.contains(&1) && found.iter().all(|runs| *runs <= 1), "{found:?}");
    }
}
