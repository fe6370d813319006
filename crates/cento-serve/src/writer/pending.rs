//! Changes that have been accepted but not committed.
//!
//! When a change triggers a defect, tantivy loses everything since the last commit. So changes are
//! kept here in order until a commit has them. The owner limits their size.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::command::ReceivedDocument;
use cento::hash::Digest;
use cento::index::SignedDocument;
use cento::index::canonical_json;
use cento::index::{Outcome, Writer};
use cento::{Result, Stop};
use cento_api::json::heap_bytes;

/// The memory of a change without its texts, in bytes: a place in a list that grows by doubling,
/// and the allocator's overhead for id, text and signature.
const CHANGE_BYTES: usize = 512;

/// The memory of a parsed meta object for each byte of its JSON. Small members have nodes of a map
/// and separate strings.
const PATCH_BYTES: usize = 16;

/// The maximum number of remembered documents with a defect.
const POISONS_MAX: usize = 1024;

/// A change of the index.
pub enum Change {
    /// A document is added.
    Add(ReceivedDocument),
    /// The document with this id is removed.
    Remove(String),
    /// A merge patch changes the meta object of the document with this id.
    Patch(String, Map<String, Value>),
}

/// The state of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The change was made, but is not committed.
    Pending,
    /// The change is durable.
    Committed,
    /// The change triggers a defect.
    Refused,
}

/// The reported outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentResult {
    /// The sender has received no answer.
    Nothing,
    /// The sender knows the change as accepted, so the loss of the change would be counted.
    Accepted,
    /// The sender knows the command as failed. The change may still be made.
    Failed,
}

/// A change with its state.
pub struct PendingChange {
    /// The document, removal or patch.
    pub change: Change,
    /// The number of the change's command.
    pub command: u64,
    /// The outcome known to the sender.
    pub reported: SentResult,
    pub state: State,
    /// The outcome of adding the document the first time.
    pub outcome: Option<Outcome>,
    /// Whether the command has counted the change.
    pub is_counted: bool,
}

/// A refused change, for the answer to its sender.
pub struct RefusedChange {
    /// The id of the document.
    pub id: String,
    /// The line of the document, if the request had several.
    pub line: Option<u64>,
    /// The bytes of the document's text.
    pub bytes: u64,
    /// Whether the document has no token.
    pub is_empty: bool,
    /// The outcome that was counted before the refusal, if any.
    pub counted: Option<Outcome>,
}

impl PendingChange {
    /// Returns a change before the first attempt.
    pub fn new(change: Change, command: u64) -> PendingChange {
        let (reported, state) = (SentResult::Nothing, State::Pending);
        PendingChange { change, command, reported, state, outcome: None, is_counted: false }
    }

    /// Makes the change. Returns false if there was nothing to change.
    ///
    /// # Errors
    /// When the change cannot be made.
    pub fn make(&mut self, writer: &mut Writer) -> Result<bool> {
        match &self.change {
            Change::Add(ReceivedDocument { signed, .. }) => {
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

    /// Returns the report for refusing the change.
    pub fn refused(&self) -> RefusedChange {
        let (line, bytes, is_empty) = match &self.change {
            Change::Add(ReceivedDocument { line, signed }) => {
                (*line, signed.document.text.len() as u64, signed.token_count == 0)
            }
            Change::Remove(_) | Change::Patch(..) => (None, 0, false),
        };
        let counted = self.outcome.filter(|_| self.is_counted);
        RefusedChange { id: self.id().to_owned(), line, bytes, is_empty, counted }
    }

    /// Returns the approximate memory of the change, in bytes.
    pub fn bytes(&self) -> usize {
        let own = match &self.change {
            Change::Add(ReceivedDocument { signed, .. }) => {
                let meta = heap_bytes(&signed.document.meta);
                signed.document.text.len() + size_of_val(&signed.signature[..]) + meta
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
    pub fn push(&mut self, kept: PendingChange) {
        self.bytes += kept.bytes();
        self.list.push(kept);
    }

    /// Returns the approximate memory of the changes, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Empties the list and returns its changes.
    pub fn take(&mut self) -> Vec<PendingChange> {
        std::mem::take(self).list
    }

    /// Records the only answer to a command.
    pub fn answered(&mut self, command: u64, reported: SentResult) {
        // Commands have ascending numbers.
        let start = self.list.partition_point(|kept| kept.command < command);
        let own = self.list[start..].iter_mut().take_while(|kept| kept.command == command);
        own.for_each(|kept| kept.reported = reported);
    }
}

/// The documents with defects, found in this run.
#[derive(Default)]
pub struct Poisons(VecDeque<Digest>);

impl Poisons {
    /// Remembers a document by id, text and meta object.
    pub fn add(&mut self, signed: &SignedDocument) {
        if self.0.len() == POISONS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(identity(signed));
    }

    /// Tells whether this document triggered a defect.
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
        // Once 256 bytes were counted, and a small document took twice as much.
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
        // Once changes before the last command were treated as never reported.
        let mut changes = Changes::default();
        for command in [1, 1, 4, 4, 7] {
            changes.push(PendingChange::new(Change::Remove("a".into()), command));
        }
        changes.answered(1, SentResult::Failed);
        changes.answered(3, SentResult::Accepted);
        changes.answered(4, SentResult::Accepted);
        let told: Vec<SentResult> = changes.take().iter().map(|kept| kept.reported).collect();
        assert_eq!(
            told,
            [
                SentResult::Failed,
                SentResult::Failed,
                SentResult::Accepted,
                SentResult::Accepted,
                SentResult::Nothing
            ]
        );
    }
}
