//! Withdrawal of a document: with its copies, and a list of the documents that quote it.
//!
//! All stored texts are read, so that no finding depends on fingerprints: a fingerprint in many
//! documents hides none, and every run of the least length of a passage is found, whatever the
//! scheme, and by all words, so that no finding depends on what the analyzer leaves out. Copies are
//! removed. Documents that quote the withdrawn one stay as they are and are listed with their
//! passages: runs of equal tokens, and edited passages.
//!
//! [`Plan::new`] lists all that; [`Plan::apply`] removes the copies in one commit, which also makes
//! the index refuse the document from then on ([`Withdrawals`](cento::index::Withdrawals)). Then it
//! removes the bytes of the old texts from the directory.

mod again;
mod check;
mod source;

use std::collections::BTreeSet;
use std::time::SystemTime;

pub use cento_api::{QuotingDocument, RemovalReason, RemovedDocument, WithdrawOptions, Withdrawal};

use again::check_is_not_reused;
pub use again::{complete, earlier_record, forget};
use cento::index::{Config, DocAddress, Snapshot, Writer, date_of, hex_of};
use cento::search::ForeignSignature;
use cento_api::error::{Error, Result};
use cento_api::reason::{ConflictKind, Reason};
use cento_text::hash::Digest;
use cento_text::runtime::Stop;
use cento_text::runtime::ordered::in_order;
use cento_text::text::Tokens;
pub use check::{RecordCheck, check};
use source::Source;

/// The default minimum length of a passage: that of search.
const PASSAGE_TOKENS: u32 = 12;

/// The least number of tokens of a passage of programs, where shorter runs are common.
const PROGRAM_PASSAGE_TOKENS: u32 = 25;

/// The number of documents that a thread reads at a time.
const BATCH: usize = 64;

/// A withdrawal before it is made: what would be removed, and what quotes it.
///
/// ```
/// use cento_collections::withdraw::{Plan, WithdrawOptions};
/// use cento::{Config, Document, Index, Stop, WriterOptions};
///
/// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// let mut writer = index.writer(WriterOptions::default())?;
/// let poem = "all depends upon a red wheel barrow glazed with rain beside the white chickens";
/// writer.add(Document::new("poem", poem))?;
/// writer.add(Document::new("essay", format!("Of all his poems I like this one best: {poem}. \
///     It has four stanzas of two lines each, and it names no feeling at all.")))?;
/// writer.commit()?;
///
/// let (options, stop) = (WithdrawOptions::default(), Stop::default());
/// let plan = Plan::new(writer.committed()?, "poem", &options, &stop)?;
/// assert_eq!(plan.withdrawal().quoting[0].id, "essay");
/// plan.apply(&mut writer, &stop)?;
/// assert_eq!(index.snapshot()?.documents(), 1);
/// assert!(writer.add(Document::new("again", poem)).is_err());
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Debug)]
pub struct Plan {
    snapshot: Snapshot,
    source: Source,
    digest: Digest,
    withdrawal: Withdrawal,
}

/// A document that has something of the withdrawn one.
enum RelatedDocument {
    Copy(RemovedDocument),
    Quoting(QuotingDocument),
}

impl Plan {
    /// Finds what the withdrawal of the document with this id removes, and what quotes it.
    ///
    /// Reads all texts. The answer is the same with any number of threads.
    ///
    /// # Errors
    /// When the options are out of bounds, or name a document that is not stored; when the index
    /// stores no texts, or cannot be read; [`Error::UnknownId`] if no document has the id;
    /// [`Error::Input`] with the reason [`Reason::Withdrawn`] if another text was withdrawn under
    /// the id, and the options do not say that this one is meant;
    /// [`Error::Cancelled`] soon after `stop`.
    pub fn new(
        snapshot: &Snapshot,
        id: &str,
        options: &WithdrawOptions,
        stop: &Stop,
    ) -> Result<Plan> {
        options.check()?;
        let config = snapshot.config();
        if !config.store_text {
            let what = "it stores no texts, so that copies and passages cannot be found; remove \
                        the document instead";
            return Err(Error::index(snapshot.index().path(), Reason::NoTexts, what));
        }
        let kept = kept_of(snapshot, id, options)?;
        let unknown = || Error::UnknownId { id: id.to_owned() };
        let address = snapshot.find(id)?.ok_or_else(unknown)?;
        let text = snapshot.text(address)?.unwrap_or_default();
        let digest = config.text_digest(&text)?;
        if !options.reused_id {
            check_is_not_reused(snapshot, id, digest)?;
        }
        let signed = |config: &Config| -> Result<_> {
            Ok(ForeignSignature::new(config, &text, &mut Tokens::default())?.body(config))
        };
        let signature = signed(config)?;
        let words = config.of_all_words()?.map(|words| signed(&words)).transpose()?;
        let least = options.resemblance();
        let source = Source::new(text, config, (least, options.min_passage), stop)?;
        let withdrawal = Withdrawal {
            id: id.to_owned(),
            withdrawn: date_of(SystemTime::now()),
            digest: hex_of(digest),
            signature,
            words,
            min_resemblance: least,
            min_passage: source.min_passage(),
            removed: vec![RemovedDocument {
                id: id.to_owned(),
                digest: hex_of(digest),
                reason: RemovalReason::Withdrawn,
                resemblance: 1.0,
                added_earlier: false,
            }],
            quoting: Vec::new(),
        };
        let mut plan = Plan { snapshot: snapshot.clone(), source, digest, withdrawal };
        plan.find(address, &kept, stop)?;
        Ok(plan)
    }

    /// Returns what would be removed, and what quotes it; the same as the record of the withdrawal
    /// when it is made.
    #[must_use]
    pub fn withdrawal(&self) -> &Withdrawal {
        &self.withdrawal
    }

    /// Finds the copies and the documents that quote the one at `own`, of all others.
    fn find(&mut self, own: DocAddress, kept: &BTreeSet<DocAddress>, stop: &Stop) -> Result<()> {
        let live: Vec<DocAddress> = self.snapshot.live().filter(|at| *at != own).collect();
        let batches: Vec<&[DocAddress]> = live.chunks(BATCH).collect();
        let since = self.added(own)?;
        let read = |number: u64| {
            let mut tokens = Tokens::default();
            let mut found = Vec::new();
            for &address in batches[number as usize] {
                stop.check()?;
                let is_kept = kept.contains(&address);
                found.extend(self.related(address, (since, is_kept), &mut tokens, stop)?);
            }
            Ok(found)
        };
        let (mut removed, mut quoting) = (Vec::new(), Vec::new());
        let mut sink = |found: Vec<RelatedDocument>| {
            for document in found {
                match document {
                    RelatedDocument::Copy(document) => removed.push(document),
                    RelatedDocument::Quoting(document) => quoting.push(document),
                }
            }
            Ok(())
        };
        let threads = cento::available_threads();
        let count = batches.len() as u64;
        in_order(threads, 0..count, stop, &read, &mut |_, found| sink(found))?;
        // By id: the order of segments is chance.
        removed.sort_unstable_by(|a: &RemovedDocument, b| a.id.cmp(&b.id));
        quoting.sort_unstable_by(|a: &QuotingDocument, b| a.id.cmp(&b.id));
        self.withdrawal.removed.extend(removed);
        self.withdrawal.quoting = quoting;
        Ok(())
    }

    /// Returns what a document has of the withdrawn one, which was added at `since`. A copy that is
    /// kept quotes all of it.
    fn related(
        &self,
        address: DocAddress,
        (since, is_kept): (i64, bool),
        tokens: &mut Tokens,
        stop: &Stop,
    ) -> Result<Option<RelatedDocument>> {
        let stored = self.snapshot.segment(address).signatures.digest(address.doc)?;
        let text = self.snapshot.text(address)?.unwrap_or_default();
        let is_same = stored == self.digest;
        if !is_same && !self.source.may_be_in(&text, tokens, stop)? {
            return Ok(None);
        }
        let (resemblance, is_copy) = match is_same {
            true => (1.0, true),
            false => self.source.resemblance(&text, stop)?,
        };
        let added_earlier = self.added(address)? < since;
        if is_copy && !is_kept {
            let reason = if is_same { RemovalReason::Exact } else { RemovalReason::Near };
            let (id, digest) = (self.snapshot.id(address)?, hex_of(stored));
            let copy = RemovedDocument { id, digest, reason, resemblance, added_earlier };
            return Ok(Some(RelatedDocument::Copy(copy)));
        }
        let found = self.source.quoted_in(&text, stop)?;
        if found.passages.is_empty() && !found.cut_short && !is_copy {
            return Ok(None);
        }
        Ok(Some(RelatedDocument::Quoting(QuotingDocument {
            id: self.snapshot.id(address)?,
            digest: hex_of(stored),
            added_earlier,
            ..found
        })))
    }

    /// Returns when a document was added, in microseconds since 1970.
    fn added(&self, address: DocAddress) -> Result<i64> {
        self.snapshot.segment(address).added_micros(address.doc)
    }

    /// Makes the withdrawal: removes the documents and refuses them from then on, in one commit;
    /// then removes the bytes of the old texts from the directory. Returns the record.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the index has changed since the plan was made: nothing was done.
    /// [`Error::Cancelled`] if `stop` is set before the commit: the writer is then unusable, and
    /// the index as it was. When the index cannot be written. When the old texts cannot be removed
    /// from the directory, after the commit: [`Writer::purge`] tries that again.
    pub fn apply(self, writer: &mut Writer, stop: &Stop) -> Result<Withdrawal> {
        writer.commit()?;
        if writer.committed()?.generation() != self.snapshot.generation() {
            let what = "the index has changed since the document was looked for; try again";
            return Err(Error::conflict(ConflictKind::Writer, what));
        }
        writer.begin_one_commit();
        self.remove(writer, stop).inspect_err(|_| writer.abandon())?;
        let done = Withdrawal { withdrawn: date_of(SystemTime::now()), ..self.withdrawal };
        let mut withdrawals = writer.withdrawals().clone();
        let refused = withdrawals.push(done.clone());
        refused.map_err(|what| Error::internal("a withdrawal", what))?;
        writer.commit_withdrawals(withdrawals)?;
        let snapshot = writer.committed()?;
        for removed in &done.removed {
            if snapshot.find(&removed.id)?.is_some() {
                let what = format!("`{}` is still there", removed.id);
                return Err(Error::internal("a withdrawal", what));
            }
        }
        writer.purge()?;
        Ok(done)
    }

    fn remove(&self, writer: &mut Writer, stop: &Stop) -> Result<()> {
        for removed in &self.withdrawal.removed {
            stop.check()?;
            writer.remove(&removed.id)?;
        }
        Ok(())
    }
}

/// Returns the documents that are to be kept.
fn kept_of(
    snapshot: &Snapshot,
    id: &str,
    options: &WithdrawOptions,
) -> Result<BTreeSet<DocAddress>> {
    let mut kept = BTreeSet::new();
    for other in &options.keep_copy {
        if other == id {
            let what = format!("`{id}` is to be withdrawn, and cannot be kept");
            return Err(Error::argument("keep_copy", what));
        }
        let address = snapshot.find(other)?;
        // Not that of an unknown document, which means the one to withdraw.
        kept.insert(address.ok_or_else(|| {
            Error::argument("keep_copy", format!("no document has the id `{other}`, to be kept"))
        })?);
    }
    Ok(kept)
}
