//! Removal of documents, and changes of meta objects, by the writer's thread.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{ChangeEffect, WriterLoop};
use crate::command::Reply;
use crate::failure::Failure;
use crate::writer::pending::{Change, PendingChange};
use cento::index::Outcome;
use cento::search::Searcher;
use cento::{Error, Stop};
use cento_api::http::{Commit, PatchResponse, RemoveResponse};

impl WriterLoop {
    /// Removes documents by id.
    pub(super) fn remove(&mut self, ids: Vec<String>) -> Result<RemoveResponse, Failure> {
        self.check_writing()?;
        let mut response = none_removed();
        let mut seen = HashSet::new();
        for id in ids {
            // A repeated id is removed once.
            if !seen.insert(id.clone()) {
                continue;
            }
            match self.remove_one(id.clone())? {
                Some(ChangeEffect { is_changed: false, .. }) => response.missing.push(id),
                made => response.removed += u64::from(made.is_some()),
            }
        }
        self.metrics.arrived("removed", response.removed);
        Ok(response)
    }

    fn remove_one(&mut self, id: String) -> Result<Option<ChangeEffect>, Failure> {
        self.change(PendingChange::new(Change::Remove(id), self.command))
    }

    /// Removes all documents matching a filter. This runs on the writer's thread rather than with
    /// the searches, so that no change comes between the search and the removal.
    pub(super) fn remove_matching(
        &mut self,
        filter: &str,
        stop: &Stop,
    ) -> Result<RemoveResponse, Failure> {
        self.commit();
        self.check_writing()?;
        let searcher = Searcher::new(self.writer()?.committed()?.clone());
        let (mut response, mut failure) = (none_removed(), None);
        let found = searcher.for_each_document(Some(filter), stop, &mut |address| {
            let removed = self.remove_one(searcher.snapshot().id(address)?);
            // Kept changes take memory, which a commit frees.
            if self.keeps_much() {
                self.commit();
            }
            let written = removed.and_then(|made| self.check_writing().map(|()| made));
            match written {
                Ok(made) => response.removed += u64::from(made.is_some_and(|made| made.is_changed)),
                Err(error) => {
                    failure = Some(error);
                    return Err(Error::Cancelled);
                }
            }
            Ok(())
        });
        self.metrics.arrived("removed", response.removed);
        match failure {
            Some(failure) => Err(failure),
            None => Ok(found.map(|()| response)?),
        }
    }

    /// Changes the meta object of a document.
    pub(super) fn patch(
        &mut self,
        id: String,
        patch: Map<String, Value>,
    ) -> Result<PatchResponse, Failure> {
        self.check_writing()?;
        let change = Change::Patch(id.clone(), patch);
        let changed = match self.change(PendingChange::new(change, self.command))? {
            Some(ChangeEffect { outcome: None, .. }) => return Err(Error::UnknownId { id }.into()),
            Some(made) => made.outcome != Some(Outcome::Unchanged),
            None => false,
        };
        self.metrics.arrived(if changed { "replaced" } else { "unchanged" }, 1);
        Ok(PatchResponse { changed, committed: false })
    }

    /// Answers a request whose changes were made, or could not be. `finish` records in the answer
    /// whether they are committed.
    pub(super) fn answer_made<T: Send + 'static>(
        &mut self,
        made: Result<T, Failure>,
        commit: Commit,
        reply: Reply<T>,
        finish: impl FnOnce(T, bool) -> T + Send + 'static,
    ) {
        let response = match made {
            Ok(response) => response,
            Err(failure) => {
                self.failed();
                return reply.send(Err(failure));
            }
        };
        self.answer(commit, reply, move |is_committed, refused| match refused.first() {
            Some(refused) => Err(Failure::poisonous(&refused.id)),
            None => Ok(finish(response, is_committed)),
        });
    }
}

/// Records in the answer to a removal whether it is committed.
pub(super) fn removed(response: RemoveResponse, committed: bool) -> RemoveResponse {
    RemoveResponse { committed, ..response }
}

/// Records in the answer to a patch whether it is committed.
pub(super) fn patched(response: PatchResponse, committed: bool) -> PatchResponse {
    PatchResponse { committed, ..response }
}

fn none_removed() -> RemoveResponse {
    RemoveResponse { removed: 0, missing: Vec::new(), committed: false }
}
