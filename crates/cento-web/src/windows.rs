//! The words of a text that are sent to a search engine.

use std::cmp::Reverse;
use std::path::Path;

use cento::Stop;
use cento::index::Index;
use cento::scheme::frequency::FrequencyTable;
use cento::search::{Query, Searcher};
use cento::{Analyzer, Key, Tokens};

/// A collection that counts the occurrences of a run of words.
#[derive(Debug)]
pub struct Collection(WindowKind);

#[derive(Debug)]
enum WindowKind {
    /// An index, which counts the documents with fingerprints of the run.
    Index(Searcher),
    /// A table, which counts the occurrences of the grams of the run.
    Table(FrequencyTable, Analyzer),
}

impl Collection {
    /// Opens an index, with its key if it has one, or a table that `cento method train` wrote.
    ///
    /// # Errors
    /// When `path` is neither, when the index has a different key, or when this build lacks the
    /// analyzer of the table.
    pub fn open(path: &Path, key: Option<&Key>) -> cento::Result<Collection> {
        if !path.is_file() {
            let index = Index::open_for_search(path)?;
            key.map_or(Ok(()), |key| index.unlock(key))?;
            let searcher = Searcher::new(index.snapshot()?);
            return Ok(Collection(WindowKind::Index(searcher)));
        }
        let table = FrequencyTable::open(path)?;
        let analyzer = table.header().analyzer.parse()?;
        Ok(Collection(WindowKind::Table(table, analyzer)))
    }

    fn occurrences(&self, run: &str) -> cento::Result<u64> {
        match &self.0 {
            WindowKind::Index(searcher) => {
                let query = Query::text(run).limit(1);
                Ok(searcher.search(&query)?.query.postings)
            }
            WindowKind::Table(table, analyzer) => {
                let mut tokens = Tokens::default();
                analyzer.analyze(run, &mut tokens, Stop::NEVER)?;
                Ok(table.occurrences(&tokens))
            }
        }
    }
}

/// Returns a query for each window of a text: the run of words that is rarest in a collection.
/// Among equally rare runs, or without a collection, the run with most letters is taken, then the
/// first run. A window with fewer words than a run is one query. A remainder shorter than half a
/// window belongs to the last window.
///
/// # Errors
/// When the collection cannot be read.
pub fn queries(
    text: &str,
    window: usize,
    run: usize,
    frequencies: Option<&Collection>,
) -> cento::Result<Vec<String>> {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    let words: Vec<&str> = text.split_whitespace().map(bare).filter(is_word).collect();
    let mut queries = Vec::new();
    let mut start = 0;
    while start < words.len() {
        let is_last = words.len() - start < window + window / 2;
        let end = if is_last { words.len() } else { start + window };
        queries.push(rarest(&words[start..end], run, frequencies)?);
        start = end;
    }
    Ok(queries)
}

fn rarest(words: &[&str], run: usize, frequencies: Option<&Collection>) -> cento::Result<String> {
    let mut best: Option<((u64, Reverse<usize>), String)> = None;
    for run in words.windows(run.min(words.len())) {
        let text = run.join(" ");
        let common = frequencies.map_or(Ok(0), |collection| collection.occurrences(&text))?;
        let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
        let rank = (common, Reverse(letters));
        if best.as_ref().is_none_or(|(least, _)| rank < *least) {
            best = Some((rank, text));
        }
    }
    Ok(best.map_or_else(String::new, |(_, text)| text))
}

/// Returns a word without the punctuation around it, because search engines read that as operators.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Returns at most `max` of the queries, evenly spread.
pub fn spread(queries: Vec<String>, max: usize) -> Vec<String> {
    let all = queries.len();
    if all <= max {
        return queries;
    }
    let wanted = |at: &usize| (at * max) / all != ((at + 1) * max) / all;
    queries.into_iter().enumerate().filter(|(at, _)| wanted(at)).map(|(_, query)| query).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_gets_the_rarest_run_of_each_window() {
        let text = "a b longest words here c d. e f g \"unbelievably\" (rare) - h i";
        let found = queries(text, 7, 3, None).unwrap();
        assert_eq!(found, ["longest words here", "g unbelievably rare"]);
        assert_eq!(queries("two words", 100, 8, None).unwrap(), ["two words"]);
        assert!(queries(" - ... ", 100, 8, None).unwrap().is_empty());
    }

    #[test]
    fn queries_are_spread_over_the_text() {
        let all: Vec<String> = (0..10).map(|n: u8| n.to_string()).collect();
        assert_eq!(spread(all.clone(), 3), ["3", "6", "9"]);
        assert_eq!(spread(all.clone(), 10), all);
    }
}
