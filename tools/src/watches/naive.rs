//! The naive matcher: a document matches a watch if both texts share a long run of words.
//!
//! The runs of synthetic texts are either short or long, so that every method of finding passages
//! agrees with the matcher.

use std::collections::{BTreeMap, BTreeSet};

use cento_api::WatchEvent;
use fastrand::Rng;

use crate::Result;

/// Runs of at least this many words match. Shorter runs have at most [`SHORT`] words.
const LONG: usize = 30;

/// The maximum length of a run that does not match.
const SHORT: usize = 8;

/// The number of different words in synthetic texts.
const WORDS: u32 = 50_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    words: Vec<u32>,
    /// The value of `even` in the meta object of the document.
    pub is_even: bool,
}

impl Text {
    pub fn text(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| format!("w{word}")).collect();
        words.join(" ")
    }

    fn random(count: usize, rng: &mut Rng) -> Text {
        let words = (0..count).map(|_| rng.u32(..WORDS)).collect();
        Text { words, is_even: rng.bool() }
    }

    /// Appends `count` words of another text and ten random words.
    fn copy(&mut self, other: &Text, count: usize, rng: &mut Rng) {
        let count = count.min(other.words.len());
        let from = rng.usize(..=other.words.len() - count);
        self.words.extend(&other.words[from..from + count]);
        self.words.extend(Text::random(10, rng).words);
    }

    /// Returns the length of the longest common run of words.
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

#[derive(Debug, Clone)]
pub enum Subject {
    Text(Text),
    /// A text, in documents whose meta object has a true `even`.
    TextInEven(Text),
    Document(String),
}

#[derive(Debug, Clone, Default)]
struct Expected {
    /// The length of the shared run for each watch and document.
    pairs: BTreeMap<(String, String), usize>,
    /// Watches that were removed right after the request, perhaps before the commit was matched.
    removed: BTreeSet<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Model {
    pub documents: BTreeMap<String, Text>,
    pub watches: BTreeMap<String, Subject>,
    expected: Vec<Expected>,
}

impl Model {
    pub fn watched_text(rng: &mut Rng) -> Text {
        Text::random(100, rng)
    }

    /// Makes up the text of a document with runs of some watches. A watched text gives only a
    /// single run, because two short runs that are near each other in the two texts form a passage.
    pub fn text(&self, rng: &mut Rng) -> Text {
        let mut text = Text::random(30, rng);
        let mut copied: Vec<&Text> = Vec::new();
        for _ in 0..rng.usize(..4) {
            let count = rng.usize(..self.watches.len().max(1));
            let Some(subject) = self.watches.values().nth(count) else { continue };
            let count = if rng.bool() { rng.usize(..=SHORT) } else { rng.usize(LONG..60) };
            // Several watches may be for the same document.
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

    /// Commits the documents of a request, which contains each id once.
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

    pub fn remove_watch(&mut self, name: &str) {
        self.watches.remove(name);
        if let Some(last) = self.expected.last_mut() {
            last.removed.insert(name.to_owned());
        }
    }

    /// Compares all events with the expected events in order, and returns the number of events.
    ///
    /// # Errors
    /// When an event is missing, duplicated, out of order or unexpected.
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
                // Sentences with most of a run may replace the run, because sentences are matched
                // as a whole.
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

    /// Returns the number of runs of words copied from a text.
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
        // cento joined two short runs into a passage, which the naive matcher does not see.
        let mut rng = Rng::with_seed(1);
        // No random text contains these words.
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
