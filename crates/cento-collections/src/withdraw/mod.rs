//! Withdraws a document with its copies, and lists the documents that quote it.
//!
//! All stored texts are read, so no finding depends on fingerprints. A frequent fingerprint hides
//! no document, and every run of at least the minimum length of a passage is found, whatever the
//! scheme. All words count, even if the analyzer omits some. Copies are removed. Documents that
//! quote the withdrawn document are not changed. They are listed with their passages: runs of equal
//! tokens, and edited passages.
//!
//! [`Plan::new`] finds the documents. [`Plan::apply`] removes the copies in one commit, and from
//! this commit on the index refuses the document ([`Withdrawals`](cento::index::Withdrawals)). Then
//! the bytes of the old texts are removed from the directory.

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

/// The default minimum length of a passage in tokens, as in a search.
const PASSAGE_TOKENS: u32 = 12;

/// The minimum length of a passage of programs in tokens. Shorter shared runs are common there.
const PROGRAM_PASSAGE_TOKENS: u32 = 25;

/// The number of documents that a thread reads at a time.
const BATCH: usize = 64;

/// A withdrawal before it is made: the documents to remove, and the documents that quote.
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
#[doc(alias = "takedown")]
#[derive(Debug)]
pub struct Plan {
    snapshot: Snapshot,
    source: Source,
    digest: Digest,
    withdrawal: Withdrawal,
}

/// A document that has text of the withdrawn document.
enum RelatedDocument {
    Copy(RemovedDocument),
    Quoting(QuotingDocument),
}

impl Plan {
    /// Finds the documents that withdrawing the document with this id removes, and the documents
    /// that quote it.
    ///
    /// Reads all texts. The number of threads does not change the result.
    ///
    /// # Errors
    /// When the options are out of bounds or refer to a document that is not stored, or the index
    /// stores no texts or cannot be read. [`Error::UnknownId`] if no document has the id.
    /// [`Error::Input`] with the reason [`Reason::Withdrawn`] if a different text was withdrawn
    /// under the id, and the options do not say that the id is reused. [`Error::Cancelled`] soon
    /// after `stop`.
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
        let source = Source::new(text, config, least, options.min_passage, stop)?;
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

    /// Returns the record that making the withdrawal would store, with a provisional date.
    #[must_use]
    pub fn withdrawal(&self) -> &Withdrawal {
        &self.withdrawal
    }

    /// Finds the copies of the document at `own`, and the documents that quote it.
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
                found.extend(self.related(address, since, is_kept, &mut tokens, stop)?);
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
        // Sort by id, because the order of segments depends on timing.
        removed.sort_unstable_by(|a: &RemovedDocument, b| a.id.cmp(&b.id));
        quoting.sort_unstable_by(|a: &QuotingDocument, b| a.id.cmp(&b.id));
        self.withdrawal.removed.extend(removed);
        self.withdrawal.quoting = quoting;
        Ok(())
    }

    /// Compares a document with the withdrawn document, which was added at `since`. A copy that is
    /// kept counts as quoting all of the text.
    fn related(
        &self,
        address: DocAddress,
        since: i64,
        is_kept: bool,
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

    /// Removes the documents and makes the index refuse them from now on, in one commit. Then
    /// removes the bytes of the old texts from the directory. Returns the record.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the index has changed since the plan was made. Nothing has been
    /// done then. [`Error::Cancelled`] if `stop` is set before the commit. The index is then
    /// unchanged and the writer unusable. Other errors when the index cannot be written or, after
    /// the commit, the old texts cannot be removed from the directory. [`Writer::purge`] retries
    /// the removal.
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

/// Returns the documents that the options keep as copies.
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
        // `UnknownId` would mean that the document to withdraw is missing.
        kept.insert(address.ok_or_else(|| {
            Error::argument("keep_copy", format!("no document has the id `{other}`, to be kept"))
        })?);
    }
    Ok(kept)
}
