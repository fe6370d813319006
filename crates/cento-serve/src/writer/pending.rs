//! Changes that have been accepted and not committed yet.
//!
//! When a change triggers a defect, tantivy loses everything since the last commit. So changes are
//! kept here, in order, until a commit has them; the owner limits their size.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::command::Received;
use cento::hash::Digest;
use cento::index::SignedDocument;
use cento::index::canonical_json;
use cento::index::{Outcome, Writer};
use cento::{Result, Stop};

/// The memory of each change besides its texts: its place in a list that grows by doubling, and the
/// allocator's overhead for its id, its text and its signature.
const CHANGE_BYTES: usize = 512;

/// The memory of a byte of a meta object as JSON, once it is parsed: small members have nodes of a
/// map, and strings of their own.
const PATCH_BYTES: usize = 16;

/// The number of documents that triggered a defect which are remembered.
const POISONS_MAX: usize = 1024;

/// A change of the index.
pub enum Change {
    /// A document is added.
    Add(Received),
    /// The document with this id is removed.
    Remove(String),
    /// The meta object of the document with this id is changed by a merge patch.
    Patch(String, Map<String, Value>),
}

/// The state of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It has been made, and is not committed.
    Pending,
    /// It is durable.
    Committed,
    /// It triggers a defect.
    Refused,
}

/// The result that the sender of a change was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reported {
    /// Nothing yet.
    Nothing,
    /// It was accepted: if the change is lost, that is counted.
    Accepted,
    /// Its command failed: the change may still be made, but no client relies on it.
    Failed,
}

/// A change, and its state.
pub struct PendingChange {
    /// The change.
    pub change: Change,
    /// The number of its command.
    pub command: u64,
    /// The result that its sender was given.
    pub reported: Reported,
    /// Its state.
    pub state: State,
    /// The outcome of adding the document, when it was first added.
    pub outcome: Option<Outcome>,
    /// Whether its command has counted it.
    pub is_counted: bool,
}

/// A change that was refused.
pub struct Refused {
    /// The id of the document.
    pub id: String,
    /// Its line, if it was one of several.
    pub line: Option<u64>,
    /// The bytes of its text.
    pub bytes: u64,
    /// Whether it has no token.
    pub is_empty: bool,
    /// The outcome that it was counted as before it was refused, if it was counted.
    pub counted: Option<Outcome>,
}

impl PendingChange {
    /// A change that has not been made yet.
    pub fn new(change: Change, command: u64) -> PendingChange {
        let (reported, state) = (Reported::Nothing, State::Pending);
        PendingChange { change, command, reported, state, outcome: None, is_counted: false }
    }

    /// Makes the change; false if there was nothing to change.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(&mut self, writer: &mut Writer) -> Result<bool> {
        match &self.change {
            Change::Add(Received { signed, .. }) => {
                let outcome = writer.add_signed(signed)?;
                self.outcome.get_or_insert(outcome);
                Ok(outcome != Outcome::Unchanged)
            }
            Change::Remove(id) => writer.remove(id),
            Change::Patch(id, patch) => {
                let outcome = writer.patch_meta(id, patch, Stop::NEVER)?;
                self.outcome = self.outcome.or(outcome);
                Ok(outcome.is_some_and(|outcome| outcome != Outcome::Unchanged))
            }
        }
    }

    /// Returns the id of the document.
    pub fn id(&self) -> &str {
        match &self.change {
            Change::Add(received) => &received.signed.document.id,
            Change::Remove(id) | Change::Patch(id, _) => id,
        }
    }

    /// Returns the report of the change for when it is refused.
    pub fn refused(&self) -> Refused {
        let (line, bytes, is_empty) = match &self.change {
            Change::Add(Received { line, signed }) => {
                (*line, signed.document.text.len() as u64, signed.token_count == 0)
            }
            Change::Remove(_) | Change::Patch(..) => (None, 0, false),
        };
        let counted = self.outcome.filter(|_| self.is_counted);
        Refused { id: self.id().to_owned(), line, bytes, is_empty, counted }
    }

    /// Returns the approximate memory that it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let own = match &self.change {
            Change::Add(Received { signed, .. }) => {
                // The meta object was parsed from JSON, which is limited.
                signed.document.text.len() + size_of_val(&signed.signature[..])
            }
            Change::Remove(_) => 0,
            Change::Patch(_, patch) => PATCH_BYTES * canonical_json(patch).len(),
        };
        CHANGE_BYTES + self.id().len() + own
    }
}

/// The changes since the last commit, in order.
#[derive(Default)]
pub struct Changes {
    list: Vec<PendingChange>,
    bytes: usize,
}

impl Changes {
    /// Appends a change.
    pub fn push(&mut self, kept: PendingChange) {
        self.bytes += kept.bytes();
        self.list.push(kept);
    }

    /// Returns the approximate memory that they take, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of changes.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns all changes, and keeps none.
    pub fn take(&mut self) -> Vec<PendingChange> {
        std::mem::take(self).list
    }

    /// Notes the answer to a command; its sender receives no other.
    pub fn answered(&mut self, command: u64, reported: Reported) {
        // Commands have ascending numbers.
        let start = self.list.partition_point(|kept| kept.command < command);
        let own = self.list[start..].iter_mut().take_while(|kept| kept.command == command);
        own.for_each(|kept| kept.reported = reported);
    }
}

/// The documents that triggered a defect in this run.
#[derive(Default)]
pub struct Poisons(VecDeque<Digest>);

impl Poisons {
    /// Remembers a document: this text and meta under this id.
    pub fn add(&mut self, signed: &SignedDocument) {
        if self.0.len() == POISONS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(identity(signed));
    }

    /// Returns whether the document is one of them.
    pub fn has(&self, signed: &SignedDocument) -> bool {
        !self.0.is_empty() && self.0.contains(&identity(signed))
    }
}

fn identity(signed: &SignedDocument) -> Digest {
    let meta = canonical_json(&signed.document.meta);
    let id = signed.document.id.as_bytes();
    Digest::of_parts(&[id, &signed.digest.to_le_bytes(), meta.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_change_is_not_underestimated() {
        // 256 bytes were counted, and a small document took twice as much.
        assert!(
            2 * size_of::<PendingChange>() + 64 <= CHANGE_BYTES,
            "{}",
            size_of::<PendingChange>()
        );
        let kept = PendingChange::new(Change::Remove("a".repeat(10)), 1);
        assert_eq!(kept.bytes(), CHANGE_BYTES + 10);
    }

    #[test]
    fn a_command_is_answered_wherever_its_changes_stand() {
        // The changes of commands before the last one once stayed as if they had not been reported.
        let mut changes = Changes::default();
        for command in [1, 1, 4, 4, 7] {
            changes.push(PendingChange::new(Change::Remove("a".into()), command));
        }
        changes.answered(1, Reported::Failed);
        changes.answered(3, Reported::Accepted);
        changes.answered(4, Reported::Accepted);
        let told: Vec<Reported> = changes.take().iter().map(|kept| kept.reported).collect();
        assert_eq!(
            told,
            [
                Reported::Failed,
                Reported::Failed,
                Reported::Accepted,
                Reported::Accepted,
                Reported::Nothing
            ]
        );
    }
}
