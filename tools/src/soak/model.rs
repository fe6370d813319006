//! What writers know of their documents, and the comparison with an index that nobody writes.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use cento::index::Index;
use cento_testing::raw::files_with;

use super::writer::Writer;
use crate::Result;

/// A state of a document: the version of its text and the number in its meta object, or `None` if
/// there is no such document.
pub type State = Option<(u64, u64)>;

/// A number that tells one change of a document from the others.
pub type Change = u64;

/// The states that a document can be in, the latest last. More than one after a change that was not
/// acknowledged.
#[derive(Debug, Clone)]
pub struct Possible {
    states: Vec<(Change, State)>,
    /// The last changes with the status of their answers, for messages.
    history: VecDeque<(State, u16)>,
}

const HISTORY: usize = 8;

impl Possible {
    pub fn absent() -> Possible {
        Possible { states: vec![(0, None)], history: VecDeque::new() }
    }

    /// The state, if it is certain.
    pub fn certain(&self) -> Option<State> {
        match self.states[..] {
            [(_, state)] => Some(state),
            _ => None,
        }
    }

    /// This change was answered with this status.
    pub fn attempted(&mut self, change: Change, state: State, status: u16) {
        self.states.push((change, state));
        self.history.push_back((state, status));
        if self.history.len() > HISTORY {
            self.history.pop_front();
        }
    }

    /// The change is committed, so nothing before it remains.
    pub fn committed(&mut self, change: Change) {
        self.states.retain(|&(other, _)| other >= change);
    }

    /// The document is in this state.
    fn settle(&mut self, state: State) {
        self.states = vec![(0, state)];
    }
}

/// Compares the index with what the writers know, and lets them know what it holds.
///
/// # Errors
/// If the index is not sound, a document is in a state in which it cannot be, or a text that was
/// withdrawn is in a file.
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
        if !text.contains(&super::writer::marker(&id, version)) {
            return Err(format!("{id} has another text than version {version}: {text}").into());
        }
        if found.insert(id.clone(), state).is_some() {
            return Err(format!("{id} is there twice").into());
        }
    }
    for writer in writers {
        for (id, possible) in &mut writer.documents {
            let state = found.remove(id).unwrap_or_default();
            if !possible.states.iter().any(|&(_, possible)| possible == state) {
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
