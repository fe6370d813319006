//! The comparison of what the writers know with an index that nobody writes.

use std::collections::BTreeMap;
use std::path::Path;

use cento::index::Index;
use cento_testing::raw::files_with;

use super::model::State;
use super::writer::{Writer, marker};
use crate::Result;

/// Compares the index with the writers' knowledge, and tells the writers the content of the index.
///
/// # Errors
/// If the index is not sound, a document is in an impossible state, or a withdrawn text is in a
/// file.
pub fn settle(path: &Path, writers: &mut [Writer]) -> Result {
    let index = Index::open(path)?;
    let problems = index.check()?.problems;
    if !problems.is_empty() {
        return Err(format!("check: {problems:?}").into());
    }
    let snapshot = index.snapshot()?;
    let mut found: BTreeMap<String, State> = BTreeMap::new();
    for address in snapshot.live() {
        let document = snapshot.document(address)?;
        let number = |name| document.meta.get(name).and_then(serde_json::Value::as_u64);
        let state = number("version").zip(number("patch"));
        let text = document.text.unwrap_or_default();
        let (id, version) = (document.id, state.map_or(0, |(version, _)| version));
        if !text.contains(&marker(&id, version)) {
            return Err(format!("{id} has another text than version {version}: {text}").into());
        }
        if found.insert(id.clone(), state).is_some() {
            return Err(format!("{id} is there twice").into());
        }
    }
    for writer in writers {
        for (id, possible) in &mut writer.documents {
            let state = found.remove(id).unwrap_or_default();
            if !possible.has(state) {
                return Err(format!("{id} is {state:?} and not one of {possible:?}").into());
            }
            possible.settle(state);
        }
        writer.settled();
        for marker in std::mem::take(&mut writer.withdrawn) {
            if let [file, ..] = &files_with(path, &marker)[..] {
                return Err(format!("{} has {marker}, which was withdrawn", file.display()).into());
            }
        }
    }
    match found.pop_first() {
        Some((id, _)) => Err(format!("{id} is there, and nobody added it").into()),
        None => Ok(()),
    }
}
