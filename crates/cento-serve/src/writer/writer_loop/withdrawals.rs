//! Withdrawal of documents by the writer's thread.

use axum::http::StatusCode;

use super::WriterLoop;
use crate::failure::Failure;
use cento::index::Writer;
use cento::{Error, Result, Stop};
use cento_api::http::{ForgetResponse, WithdrawRequest, WithdrawResponse};
use cento_collections::withdraw::{self, Plan};

impl WriterLoop {
    /// Withdraws a document, or completes an interrupted withdrawal, and publishes the result.
    pub(super) fn withdraw(
        &mut self,
        request: &WithdrawRequest,
        stop: &Stop,
    ) -> std::result::Result<WithdrawResponse, Failure> {
        if self.running.is_some() {
            let what = "a compaction is running; wait until it has finished";
            return Err(Failure::new(StatusCode::CONFLICT, "compacting", what));
        }
        let WithdrawRequest { id, options, .. } = request;
        self.change_withdrawals(|writer| {
            let plan = match Plan::new(writer.committed()?, id, options, stop) {
                Err(Error::UnknownId { .. }) => {
                    let withdrawal = withdraw::complete(writer, id, stop)?;
                    return Ok(WithdrawResponse { done: true, again: true, withdrawal });
                }
                plan => plan?,
            };
            let withdrawal = plan.apply(writer, stop)?;
            Ok(WithdrawResponse { done: true, again: false, withdrawal })
        })
    }

    /// Lifts the withdrawals of a document.
    pub(super) fn forget(&mut self, id: &str) -> std::result::Result<ForgetResponse, Failure> {
        self.change_withdrawals(|writer| {
            Ok(ForgetResponse { forgotten: withdraw::forget(writer, id)? })
        })
    }

    /// Makes a change in a separate commit.
    fn change_withdrawals<T>(
        &mut self,
        change: impl FnOnce(&mut Writer) -> Result<T>,
    ) -> std::result::Result<T, Failure> {
        // Changes from before are committed before.
        self.commit();
        if self.is_failing() {
            return Err(Failure::not_writing());
        }
        let changed = Error::catch("a withdrawal", || change(self.writer()?));
        let is_usable = self.writer.as_ref().is_some_and(Writer::is_usable);
        // A change may fail after its commit, so publish in any case.
        self.publish();
        // The events of watches lose the withdrawn data before the client is answered.
        self.settings.matching.begin();
        self.settings.matching.settle();
        changed.map_err(|error| match error {
            error if is_usable => Failure::from(&error),
            // The change was stopped before its commit, so nothing has changed.
            Error::Cancelled | Error::Internal { .. } => {
                let _ = self.recover();
                Failure::from(&error)
            }
            error => self.give_up(&error),
        })
    }
}
