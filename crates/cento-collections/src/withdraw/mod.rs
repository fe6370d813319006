//! Withdrawal of a document: with its copies, and the passages quoted from it.
//!
//! All stored texts are read, so that no finding depends on fingerprints: a fingerprint in many
//! documents hides none, and every run of the least length of a passage is found, whatever the
//! scheme, and by all words, so that no finding depends on what the analyzer leaves out. Copies are
//! removed. Passages are cut: runs of equal tokens, and edited passages that
//! are as similar as copies. A text is searched again after each cut, until nothing is found,
//! because parts that come together can make a passage. A document that loses most of its tokens is
//! removed.
//!
//! Passages that a document which was added earlier has are not the withdrawn document's, and those
//! of one that was added at the same time may not be: they are listed, and stay unless the options
//! say otherwise. Copies do not count as earlier documents:
//! they are removed, and the list says which were added earlier.
//!
//! [`Plan::new`] lists all that; [`Plan::apply`] does it in one commit, which also makes the index
//! refuse the document from then on ([`Withdrawals`](cento::index::Withdrawals)), and then removes
//! the bytes of the old texts from the directory.

mod again;
mod check;
mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::SystemTime;

pub use cento_api::{
    CutDocument, LeftPassages, LeftText, RemovalReason, RemovedDocument, WithdrawOptions,
    Withdrawal, WithdrawnFile,
};

use cento_api::Part;

use super::cutting;
use again::check_is_not_reused;
pub use again::{complete, earlier_record, forget};
use cento::index::{
    Config, DocAddress, Document, IdSource, SignedDocument, Snapshot, Writer, date_of, hex_of,
};
use cento::search::ForeignSignature;
use cento_api::error::{Error, Result};
use cento_api::reason::{ConflictKind, Reason};
use cento_text::hash::Digest;
use cento_text::runtime::Stop;
use cento_text::runtime::ordered::in_order;
use cento_text::text::Tokens;
pub use check::{RecordCheck, check};
use source::{Found, Source};

/// The default minimum length of a passage: that of search.
const PASSAGE_TOKENS: u32 = 12;

/// The least number of tokens of a passage of programs, where shorter runs are common.
const PROGRAM_PASSAGE_TOKENS: u32 = 25;

/// The number of documents that a thread reads at a time.
const BATCH: usize = 64;

/// A withdrawal before it is made: what would be removed, cut and left.
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
/// assert_eq!(plan.withdrawal().cut[0].id, "essay");
/// plan.apply(&mut writer, &stop)?;
/// assert_eq!(index.snapshot()?.documents(), 1);
/// assert!(writer.add(Document::new("again", poem)).is_err());
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Debug)]
pub struct Plan {
    snapshot: Snapshot,
    source: Source,
    least: f64,
    digest: Digest,
    withdrawal: Withdrawal,
    /// The addresses of the documents that are cut.
    cut: Vec<DocAddress>,
    /// The documents that have passages of it and were not added later.
    earlier: Vec<Earlier>,
}

/// A document that was not added later than the withdrawn one.
#[derive(Debug)]
struct Earlier {
    id: String,
    /// The tokens of the withdrawn document in passages that it has too.
    ranges: Vec<Range<usize>>,
    /// Whether it was added at the same time.
    same_time: bool,
}

/// What becomes of a text.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fate {
    /// It stays as it is.
    Kept,
    /// It is removed.
    Removed {
        /// The reason.
        reason: RemovalReason,
        /// How much it resembles the withdrawn document.
        resemblance: f64,
        /// The share of its tokens that are in passages.
        quoted: f64,
    },
    /// Passages are cut.
    Cut {
        /// The bytes that are cut.
        passages: Vec<(u32, u32)>,
        /// The tokens before.
        tokens: u32,
        /// The tokens that are cut.
        cut_tokens: u32,
        /// The text that is left.
        text: String,
        /// The parts of that text, each with the rest of its own text.
        parts: Vec<Part>,
    },
}

impl Plan {
    /// Finds what the withdrawal of the document with this id removes, cuts and leaves.
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
            min_passage: source.passage_tokens() as u32,
            removed: vec![RemovedDocument {
                id: id.to_owned(),
                digest: hex_of(digest),
                reason: RemovalReason::Withdrawn,
                resemblance: 1.0,
                quoted: 1.0,
                added_earlier: false,
            }],
            cut: Vec::new(),
            files: Vec::new(),
            left: LeftText::default(),
        };
        let (snapshot, cut, earlier) = (snapshot.clone(), Vec::new(), Vec::new());
        let mut plan = Plan { snapshot, source, least, digest, withdrawal, cut, earlier };
        let sharing = plan.sharing(address, stop)?;
        if !options.cut_earlier {
            plan.earlier = plan.earlier(address, &sharing, stop)?;
            let hidden: Vec<Range<usize>> =
                plan.earlier.iter().flat_map(|found| &found.ranges).cloned().collect();
            plan.source.hide(&hidden);
        }
        plan.find(address, &sharing, &kept, stop)?;
        Ok(plan)
    }

    /// Returns what would be removed, cut and left; the same as the record of the withdrawal when
    /// it is made.
    #[must_use]
    pub fn withdrawal(&self) -> &Withdrawal {
        &self.withdrawal
    }

    /// Returns the digest of a text as the record has it: a keyed one if the index has a key.
    ///
    /// # Errors
    /// When the key is not known.
    pub fn digest_of(&self, text: &str) -> Result<String> {
        Ok(hex_of(self.snapshot.config().text_digest(text)?))
    }

    /// Adds files that were rewritten to the record.
    #[must_use]
    pub fn with_files(mut self, files: Vec<WithdrawnFile>) -> Plan {
        self.withdrawal.files = files;
        self
    }

    /// Decides what becomes of a text outside of the index, such as a record of a file, that is
    /// called `id`; adds to `left` what stays of the withdrawn text.
    ///
    /// # Errors
    /// When it is too large; [`Error::Cancelled`] soon after `stop`.
    pub fn decide(
        &self,
        id: &str,
        (text, parts): (&str, &[Part]),
        left: &mut LeftText,
        stop: &Stop,
    ) -> Result<Fate> {
        if self.snapshot.config().text_digest(text)? == self.digest {
            let reason = RemovalReason::Exact;
            return Ok(Fate::Removed { reason, resemblance: 1.0, quoted: 1.0 });
        }
        if !self.source.may_be_in(text, &mut Tokens::default(), stop)? {
            return Ok(Fate::Kept);
        }
        let found = self.source.found_in(text, stop)?;
        let source = match found.earlier_tokens {
            0 => None,
            _ => self.earlier_source(id, text, stop)?,
        };
        let mut fate = self.fate(found, (id, source), left);
        if let Fate::Cut { passages, text: rest, parts: of_rest, .. } = &mut fate
            && !parts.is_empty()
        {
            (*passages, *of_rest) = cutting::within_parts(passages, parts);
            *rest = cutting::cut(text, passages);
        }
        Ok(fate)
    }

    /// Returns the document that has passages which a text of this id shares with the withdrawn
    /// one and was not added later: one that was added before it rather than at the same time; of
    /// several itself, or else the first.
    fn earlier_source(&self, id: &str, text: &str, stop: &Stop) -> Result<Option<&Earlier>> {
        let shared = self.source.in_passages_of(text, stop)?;
        let meets = |ranges: &[Range<usize>]| {
            let meets = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
            ranges.iter().any(|a| shared.iter().any(|b| meets(a, b)))
        };
        let sources = self.earlier.iter().filter(|found| meets(&found.ranges));
        Ok(sources.min_by_key(|found| (found.same_time, found.id != id, &found.id)))
    }

    /// Decides by the findings in a text, which has an id, and passages of an earlier document.
    fn fate(
        &self,
        found: Found,
        (id, source): (&str, Option<&Earlier>),
        left: &mut LeftText,
    ) -> Fate {
        let quoted = f64::from(found.cut_tokens) / f64::from(found.tokens.max(1));
        let resemblance = found.resemblance;
        let removed = |reason| Fate::Removed { reason, resemblance, quoted };
        if found.is_copy {
            return removed(RemovalReason::Near);
        }
        if found.left.is_some() && (quoted >= self.least || found.cut_tokens == found.tokens) {
            return removed(RemovalReason::LittleLeft);
        }
        let stays = |tokens| left_of(id, tokens);
        if found.earlier_tokens > 0 {
            let earlier = source.map(|source| source.id.clone());
            let same_time = source.is_some_and(|source| source.same_time);
            left.earlier.push(LeftPassages { earlier, same_time, ..stays(found.earlier_tokens) });
        } else if found.has_whole {
            left.whole.push(stays(self.source.tokens() as u32));
        } else if found.shorter_tokens > 0 {
            left.shorter_documents += 1;
            left.shorter_tokens = left.shorter_tokens.max(found.shorter_tokens);
        }
        if found.edited_tokens > 0 {
            left.edited.push(stays(found.edited_tokens));
        }
        if !found.is_complete {
            left.unfinished.push(stays(found.edited_tokens));
        }
        let Found { cuts: passages, tokens, cut_tokens, left: rest, .. } = found;
        match rest {
            Some(text) => Fate::Cut { passages, tokens, cut_tokens, text, parts: Vec::new() },
            None => Fate::Kept,
        }
    }

    /// Returns the documents that have a run in common with the withdrawn one, in stored order.
    fn sharing(&self, own: DocAddress, stop: &Stop) -> Result<Vec<DocAddress>> {
        let live: Vec<DocAddress> = self.snapshot.live().filter(|at| *at != own).collect();
        let batches: Vec<&[DocAddress]> = live.chunks(BATCH).collect();
        let mut sharing = Vec::new();
        let read = |number: u64| {
            let mut tokens = Tokens::default();
            let mut found = Vec::new();
            for &address in batches[number as usize] {
                stop.check()?;
                let digest = self.snapshot.segment(address).signatures.digest(address.doc)?;
                let text = self.snapshot.text(address)?.unwrap_or_default();
                if digest == self.digest || self.source.may_be_in(&text, &mut tokens, stop)? {
                    found.push(address);
                }
            }
            Ok(found)
        };
        self.in_order(batches.len(), stop, &read, &mut |found| sharing.extend(found))?;
        Ok(sharing)
    }

    /// Returns when a document was added, in microseconds since 1970.
    fn added(&self, address: DocAddress) -> Result<i64> {
        self.snapshot.segment(address).added_micros(address.doc)
    }

    /// Returns the documents that were not added later and are no copies of the withdrawn one, with
    /// its tokens in passages of theirs.
    fn earlier(
        &self,
        own: DocAddress,
        sharing: &[DocAddress],
        stop: &Stop,
    ) -> Result<Vec<Earlier>> {
        let since = self.added(own)?;
        let mut earlier = Vec::new();
        let read = |number: u64| {
            let address = sharing[number as usize];
            let added = self.added(address)?;
            if added > since {
                return Ok(None);
            }
            let text = self.snapshot.text(address)?.unwrap_or_default();
            if self.source.resemblance(&text, stop)?.1 {
                return Ok(None);
            }
            let ranges = self.source.in_passages_of(&text, stop)?;
            let (id, same_time) = (self.snapshot.id(address)?, added == since);
            Ok((!ranges.is_empty()).then_some(Earlier { id, ranges, same_time }))
        };
        self.in_order(sharing.len(), stop, &read, &mut |found| earlier.extend(found))?;
        Ok(earlier)
    }

    /// Decides what becomes of each document; `own` is the one to withdraw.
    fn find(
        &mut self,
        own: DocAddress,
        sharing: &[DocAddress],
        kept: &BTreeSet<DocAddress>,
        stop: &Stop,
    ) -> Result<()> {
        let (mut removed, mut cut) = (Vec::new(), Vec::new());
        let mut left = LeftText::default();
        let config = self.snapshot.config();
        let since = self.added(own)?;
        let read = |number: u64| {
            let address = sharing[number as usize];
            let is_earlier = self.added(address)? < since;
            let id = self.snapshot.id(address)?;
            let text = self.snapshot.text(address)?.unwrap_or_default();
            let parts = self.snapshot.parts(address)?;
            let digest = config.text_digest(&text)?;
            let mut left = LeftText::default();
            let fate = self.decide(&id, (&text, &parts), &mut left, stop)?;
            // Of a document that is cut: before and after.
            let digests = match &fate {
                Fate::Cut { text: rest, .. } => (digest, config.text_digest(rest)?),
                _ => (digest, digest),
            };
            Ok(((address, is_earlier), id, digests, fate, left))
        };
        let mut sink = |((address, added_earlier), id, digests, fate, mut of_document): (
            (DocAddress, bool),
            String,
            (Digest, Digest),
            Fate,
            LeftText,
        )| {
            let digest = hex_of(digests.0);
            match fate {
                Fate::Kept => {}
                Fate::Removed { .. } | Fate::Cut { .. } if kept.contains(&address) => {
                    let tokens = match &fate {
                        Fate::Cut { cut_tokens, .. } => *cut_tokens,
                        _ => self.source.tokens() as u32,
                    };
                    of_document = LeftText::default();
                    of_document.kept.push(left_of(&id, tokens));
                }
                Fate::Removed { reason, resemblance, quoted } => {
                    removed.push(RemovedDocument {
                        id,
                        digest,
                        reason,
                        resemblance,
                        quoted,
                        added_earlier,
                    });
                }
                Fate::Cut { passages, tokens, cut_tokens, text: _, parts: _ } => {
                    let left = hex_of(digests.1);
                    let document = CutDocument { id, digest, left, tokens, cut_tokens, passages };
                    cut.push((document, address));
                }
            }
            add_left(&mut left, of_document);
        };
        self.in_order(sharing.len(), stop, &read, &mut sink)?;
        // By id: the order of segments is chance.
        removed.sort_unstable_by(|a: &RemovedDocument, b| a.id.cmp(&b.id));
        cut.sort_unstable_by(|a: &(CutDocument, _), b| a.0.id.cmp(&b.0.id));
        let LeftText { earlier, edited, kept, unfinished, whole, .. } = &mut left;
        let lists = [earlier, edited, kept, unfinished, whole];
        lists.into_iter().for_each(|list| list.sort_unstable_by(|a, b| a.id.cmp(&b.id)));
        self.withdrawal.removed.extend(removed);
        (self.withdrawal.cut, self.cut) = cut.into_iter().unzip();
        self.withdrawal.left = left;
        Ok(())
    }

    fn in_order<T: Send>(
        &self,
        count: usize,
        stop: &Stop,
        work: &(dyn Fn(u64) -> Result<T> + Sync),
        sink: &mut dyn FnMut(T),
    ) -> Result<()> {
        in_order(cento::available_threads(), 0..count as u64, stop, work, &mut |_, found| {
            sink(found);
            Ok(())
        })
    }

    /// Makes the withdrawal: removes and cuts the documents and refuses them from then on, in one
    /// commit; reads the cut documents again; then removes the bytes of the old texts from the
    /// directory. Returns the record.
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
        let changed = self.change(writer, stop).inspect_err(|_| writer.abandon())?;
        let mut withdrawals = writer.withdrawals().clone();
        let refused = withdrawals.push(changed.clone());
        refused.map_err(|what| Error::internal("a withdrawal", what))?;
        writer.commit_withdrawals(withdrawals)?;
        self.check_gone(writer, &changed)?;
        writer.purge()?;
        Ok(changed)
    }

    /// Removes and cuts the documents; returns the record.
    fn change(&self, writer: &mut Writer, stop: &Stop) -> Result<Withdrawal> {
        let mut withdrawal = self.withdrawal.clone();
        for removed in &withdrawal.removed {
            stop.check()?;
            writer.remove(&removed.id)?;
        }
        for (cut, &address) in withdrawal.cut.iter().zip(&self.cut) {
            stop.check()?;
            let stored = self.snapshot.document(address)?;
            let text = cutting::cut(&stored.text.unwrap_or_default(), &cut.passages);
            let parts = cutting::within_parts(&cut.passages, &stored.parts).1;
            let source = IdSource::at(self.snapshot.id_place(address)?);
            let document = Document::new(stored.id, text).with_parts(parts);
            let document = document.with_meta(stored.meta).with_id_source(source);
            let signed = SignedDocument::new(document, self.snapshot.config(), stop)?;
            writer.add_at(signed, (&self.snapshot, address))?;
        }
        withdrawal.withdrawn = date_of(SystemTime::now());
        Ok(withdrawal)
    }

    /// Reads the changed documents of the commit again: none may have anything to cut.
    fn check_gone(&self, writer: &mut Writer, withdrawal: &Withdrawal) -> Result<()> {
        let snapshot = writer.committed()?.clone();
        let is_left = |id: &str| Error::internal("a withdrawal", format!("`{id}` is not as cut"));
        for removed in &withdrawal.removed {
            if snapshot.find(&removed.id)?.is_some() {
                return Err(is_left(&removed.id));
            }
        }
        let unfinished = &withdrawal.left.unfinished;
        let is_searched = |cut: &&CutDocument| unfinished.iter().all(|left| left.id != cut.id);
        for cut in withdrawal.cut.iter().filter(is_searched) {
            let address = snapshot.find(&cut.id)?.ok_or_else(|| is_left(&cut.id))?;
            let text = snapshot.text(address)?.unwrap_or_default();
            let fate = self.decide(&cut.id, (&text, &[]), &mut LeftText::default(), Stop::NEVER)?;
            if !matches!(fate, Fate::Kept) {
                return Err(is_left(&cut.id));
            }
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
    for other in &options.keep {
        if other == id {
            let what = format!("`{id}` is to be withdrawn, and cannot be kept");
            return Err(Error::argument("keep", what));
        }
        let address = snapshot.find(other)?;
        // Not that of an unknown document, which means the one to withdraw.
        kept.insert(address.ok_or_else(|| {
            Error::argument("keep", format!("no document has the id `{other}`, to be kept"))
        })?);
    }
    Ok(kept)
}

/// Returns a document with tokens that stay.
fn left_of(id: &str, tokens: u32) -> LeftPassages {
    LeftPassages { id: id.to_owned(), tokens, earlier: None, same_time: false }
}

fn add_left(all: &mut LeftText, one: LeftText) {
    all.earlier.extend(one.earlier);
    all.edited.extend(one.edited);
    all.kept.extend(one.kept);
    all.unfinished.extend(one.unfinished);
    all.whole.extend(one.whole);
    all.shorter_documents += one.shorter_documents;
    all.shorter_tokens = all.shorter_tokens.max(one.shorter_tokens);
}
