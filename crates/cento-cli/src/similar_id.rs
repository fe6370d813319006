//! Suggests a stored id in place of an id that no document has.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;

use cento::index::Index;
use cento::search::Searcher;
use cento::text::{Analyzer, Tokens};
use cento::{Result, Stop};

use super::key;

/// The maximum number of documents whose ids are read: more take longer than the hint is worth. A
/// limit of time would give another message on another machine.
const DOCUMENTS_MAX: u64 = 200_000;

/// Returns, for each id, the only id in the indexes on the command line with the same words.
/// Two such ids differ in case, in the normal form of their letters, or in signs.
pub fn similar_ids(ids: &[String]) -> Vec<Option<String>> {
    let searchers = indexes().map(|path| Ok(Searcher::new(key::open(path)?.snapshot()?)));
    // Without a suggestion, the error of the command is still told.
    let searchers: Result<Vec<Searcher>> = searchers.collect();
    searchers.and_then(|searchers| similar(&searchers, ids)).unwrap_or(vec![None; ids.len()])
}

/// Says where the user finds the ids: in the first index on the command line, or in the files. A
/// service does not list its ids.
pub fn where_ids_are() -> Option<String> {
    if let Some(index) = indexes().next() {
        return Some(format!("`cento list {}` shows the ids", index.display()));
    }
    let is_url = |given: OsString| given.to_string_lossy().starts_with("--url");
    let is_of_service = std::env::args_os().any(is_url);
    (!is_of_service).then(|| "the id is that of the record, or else the path of the file".into())
}

/// Returns the indexes on the command line.
fn indexes() -> impl Iterator<Item = PathBuf> {
    std::env::args_os().skip(1).map(PathBuf::from).filter(|path| Index::exists(path))
}

fn similar(searchers: &[Searcher], ids: &[String]) -> Result<Vec<Option<String>>> {
    let documents: u64 = searchers.iter().map(|searcher| searcher.snapshot().documents()).sum();
    if documents > DOCUMENTS_MAX {
        return Ok(vec![None; ids.len()]);
    }
    let mut wanted: HashMap<Vec<u64>, Vec<String>> = HashMap::new();
    for id in ids {
        let words = words_of(id)?;
        if !words.is_empty() {
            wanted.insert(words, Vec::new());
        }
    }
    for searcher in searchers {
        searcher.for_each_document(None, Stop::NEVER, &mut |address| {
            let id = searcher.snapshot().id(address)?;
            match wanted.get_mut(&words_of(&id)?) {
                Some(found) if found.len() < 2 && !found.contains(&id) => found.push(id),
                _ => {}
            }
            Ok(())
        })?;
    }
    let only = |id: &String| match wanted.get(&words_of(id)?).map(Vec::as_slice) {
        Some([only]) => Ok(Some(only.clone())),
        _ => Ok(None),
    };
    ids.iter().map(only).collect()
}

/// Returns the words of an id, which are equal for each case and normal form.
fn words_of(id: &str) -> Result<Vec<u64>> {
    let mut tokens = Tokens::default();
    Analyzer::default().analyze(id, &mut tokens, Stop::NEVER)?;
    Ok(tokens.hashes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::index::{Config, Document, WriterOptions};

    #[test]
    fn an_id_in_another_case_or_normal_form_is_suggested() {
        let index = Index::in_memory(Config::new("winnow", "words", false).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for id in ["essays/Zo\u{eb}.txt", "A1", "a1", "Ann"] {
            writer.add(Document::new(id, "a text")).unwrap();
        }
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let ids = ["essays/Zoe\u{308}.txt", "ANN", "\u{ff21}1", "\u{c0}1", "***", "ben"];
        let ids = ids.map(str::to_owned);
        let found = similar(&[searcher], &ids).unwrap();
        let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
        // The third is as near to `A1` as to `a1`.
        assert_eq!(found, [Some("essays/Zo\u{eb}.txt"), Some("Ann"), None, None, None, None]);
    }
}
