//! What writers know of their documents.

use std::collections::VecDeque;

/// A state of a document: the version of the text and the number in the meta object, or `None`
/// without a document.
pub type State = Option<(u64, u64)>;

/// A number that identifies a change of a document.
pub type Change = u64;

/// The possible states of a document, the latest last. More than one state after a change that was
/// not acknowledged.
#[derive(Debug, Clone)]
pub struct PossibleStates {
    states: Vec<(Change, State)>,
    /// The last changes with the status of their answers, for messages.
    history: VecDeque<(State, u16)>,
}

const HISTORY: usize = 8;

impl PossibleStates {
    pub fn absent() -> PossibleStates {
        PossibleStates { states: vec![(0, None)], history: VecDeque::new() }
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

    /// Tells whether the document can be in this state.
    pub fn has(&self, state: State) -> bool {
        self.states.iter().any(|&(_, possible)| possible == state)
    }

    /// The document is in this state.
    pub fn settle(&mut self, state: State) {
        self.states = vec![(0, state)];
    }
}
