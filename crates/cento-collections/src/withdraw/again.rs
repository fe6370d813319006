//! Repeats, completes and lifts earlier withdrawals.

use super::{Withdrawal, check};
use cento::index::{Snapshot, Writer, hex_of};
use cento_api::error::{Error, Result};
use cento_api::reason::{Reason, Refusal};
use cento_text::hash::Digest;
use cento_text::runtime::Stop;

/// Completes a committed withdrawal that may have been interrupted after the commit. Afterwards no
/// file of the directory has bytes of removed documents. Returns the record.
///
/// # Errors
/// The errors of [`earlier_record`] and of [`Writer::purge`].
pub fn complete(writer: &mut Writer, id: &str, stop: &Stop) -> Result<Withdrawal> {
    if writer.withdrawals().find(id).is_some() {
        writer.purge()?;
    }
    earlier_record(writer.committed()?, id, stop)
}

/// Returns the record of the withdrawal of a document that is no longer in the index. Repeating a
/// withdrawal answers with this record, because without the text nothing can be searched for.
///
/// # Errors
/// [`Error::UnknownId`] if no document with this id was withdrawn. [`Error::Input`] with the reason
/// [`Reason::Withdrawn`] if documents outside the record have the text or passages of it
/// ([`check`]). The message lists these documents. [`Error::Cancelled`] soon after `stop`.
pub fn earlier_record(snapshot: &Snapshot, id: &str, stop: &Stop) -> Result<Withdrawal> {
    let withdrawals = snapshot.index().withdrawals()?;
    let known = withdrawals.find(id).cloned();
    let withdrawal = known.ok_or_else(|| Error::UnknownId { id: id.to_owned() })?;
    let found = check::documents(snapshot, &withdrawal, stop)?.problems;
    if found.is_empty() {
        return Ok(withdrawal);
    }
    let what = format!(
        "it was withdrawn on {} already, and its text, by which copies and passages are found, is \
         not kept, but {}; to find what was added since, lift the withdrawal, add the document \
         again, and withdraw it again",
        withdrawal.withdrawn,
        found.join("; "),
    );
    Err(Error::input(format!("document `{id}`"), Refusal::new(Reason::Withdrawn, what)))
}

/// Refuses a document that has the id of a withdrawn document, but a different text.
pub(super) fn check_is_not_reused(snapshot: &Snapshot, id: &str, digest: Digest) -> Result<()> {
    let (withdrawals, digest) = (snapshot.index().withdrawals()?, hex_of(digest));
    let is_known = withdrawals.iter().any(|one| one.id == id && one.digest == digest);
    match withdrawals.find(id).filter(|_| !is_known) {
        None => Ok(()),
        Some(Withdrawal { withdrawn, .. }) => {
            let what = format!(
                "another text was withdrawn under this id on {withdrawn}, and the one that has it \
                 now is not that; to withdraw this one too, say that the id is reused \
                 (`reused_id`)"
            );
            Err(Error::input(format!("document `{id}`"), Refusal::new(Reason::Withdrawn, what)))
        }
    }
}

/// Lifts all withdrawals of the document with this id, so that it may be added again. Returns their
/// number.
///
/// ```
/// use cento::{Config, Document, Index, Stop, WriterOptions};
/// use cento_collections::withdraw::{Plan, WithdrawOptions, forget};
///
/// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// let mut writer = index.writer(WriterOptions::default())?;
/// let poem = "all depends upon a red wheel barrow glazed with rain beside the white chickens";
/// writer.add(Document::new("poem", poem))?;
/// writer.commit()?;
/// let plan = Plan::new(writer.committed()?, "poem", &WithdrawOptions::default(), Stop::NEVER)?;
/// plan.apply(&mut writer, Stop::NEVER)?;
/// assert!(writer.add(Document::new("poem", poem)).is_err());
/// // After you lift the withdrawal, the text is welcome again.
/// assert_eq!(forget(&mut writer, "poem")?, 1);
/// assert!(writer.add(Document::new("poem", poem)).is_ok());
/// # Ok::<(), cento::Error>(())
/// ```
///
/// # Errors
/// When the index cannot be written.
pub fn forget(writer: &mut Writer, id: &str) -> Result<u64> {
    let mut withdrawals = writer.withdrawals().clone();
    let forgotten = withdrawals.forget(id);
    if forgotten > 0 {
        writer.commit_withdrawals(withdrawals)?;
    }
    Ok(forgotten as u64)
}
