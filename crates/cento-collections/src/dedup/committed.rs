//! Compares a batch with the documents before it and with other indexes.
//!
//! This is most of the work of a run. The order of the batch does not matter here, so many threads
//! share the work.

use std::cmp::Reverse;
use std::sync::Arc;

use super::super::verify::{
    ComparedDocument, OWN_WORDS_OF_DUPLICATE, Verifier, is_exact, of_signatures,
};
use super::identity::{EarlierDocuments, StoredVersion};
use super::recent::{Recent, RecentDocuments};
use super::scope::DuplicateScope;
use super::spool::Spool;
use super::unwritten::place_of;
use super::verdict::{Holder, Reason};
use super::{DedupSettings, Record};
use cento::index::{DocAddress, LruShare, MaxDf, SignedDocument};
use cento::search::{NeighborLimits, RunMaker, Searcher, StoredRuns, kept_runs};
use cento_api::error::{Error, Result};
use cento_api::overlap::Overlap;
use cento_api::similarity::Similarity;
use cento_text::compare::runs::RunSet;
use cento_text::hash::Digest;
use cento_text::runtime::Stop;
use cento_text::runtime::ordered::in_order;
use cento_text::sampling::Sampling;
use cento_text::scheme::{KeyedSignature, distinct_keys};

/// The maximum number of documents to look for passages in. Documents that share most come first.
const SOURCES_MAX: usize = 16;

/// Stop-fingerprints would depend on how much has been committed, and verdicts must not.
const NO_STOPS: MaxDf = MaxDf::Documents(u64::MAX);

/// Documents that were decided on before the batch.
pub struct CommittedDocuments<'a> {
    /// Documents that this run and earlier runs have kept and committed.
    pub own: &'a Searcher,
    /// Other indexes to compare with.
    pub against: &'a [Searcher],
    /// One verifier per index, this run's own index first.
    pub verifiers: Vec<Verifier<'a>>,
    pub options: &'a DedupSettings,
    /// Reads the texts of uncommitted documents.
    pub texts: &'a RecentTexts,
}

/// The texts that this run has kept, for comparison if texts decide.
pub struct RecentTexts {
    /// Makes the runs of kept texts. `None` if kept texts are not at hand or do not decide.
    pub maker: Option<RunMaker>,
    /// Makes the runs of incoming documents. `None` if texts do not decide.
    pub own: Option<RunMaker>,
    pub spool: Arc<Spool>,
    /// The runs of uncommitted documents, which have numbers from 0, in a cache for committed
    /// documents too.
    pub kept: LruShare<RunSet>,
}

impl RecentTexts {
    /// Creates the texts of a new run. `own` makes the runs of incoming documents. Kept documents
    /// are compared by text only if their texts `are_at_hand`.
    pub fn new(own: Option<RunMaker>, are_at_hand: bool) -> RecentTexts {
        let (kept, maker) = (kept_runs().share(), own.clone().filter(|_| are_at_hand));
        RecentTexts { maker, own, spool: Arc::default(), kept }
    }

    /// Creates the texts for documents after a commit. Texts that `are_stored` by now leave the
    /// spool.
    pub fn after_commit(&self, are_stored: bool) -> RecentTexts {
        RecentTexts {
            maker: self.maker.clone(),
            own: self.own.clone(),
            spool: if are_stored { Arc::default() } else { self.spool.clone() },
            kept: self.kept.cache().share(),
        }
    }

    /// Returns the runs of the uncommitted document with this number, if texts decide.
    pub fn runs(&self, number: usize, recent: &Recent) -> Result<Option<Arc<RunSet>>> {
        let Some((maker, place)) = self.maker.as_ref().zip(recent.place) else { return Ok(None) };
        let read = || maker.of_text(&self.spool.read(place)?, Stop::NEVER);
        self.kept.get(number as u32, read).map(Some)
    }
}

/// Findings about a document that do not depend on earlier documents of its batch.
pub struct Prepared {
    /// The distinct fingerprints of the document, ascending.
    pub keys: Vec<u64>,
    /// The runs of the document, if they were needed.
    pub runs: Option<Arc<RunSet>>,
    /// The best reason to drop the document because of a document before the batch.
    pub reason: Option<Reason>,
    /// Committed documents that may have passages of the document, each with the number of shared
    /// fingerprints.
    pub sources: Vec<(u32, Source)>,
    /// Earlier versions of the document itself.
    pub stored: Stored,
}

/// Versions of a document in indexes, which are no reason to drop the document.
#[derive(Debug, Clone, Default)]
pub struct Stored {
    /// Versions by id, at most one for each index.
    pub versions: Vec<StoredVersion>,
    /// The document with the same id in the index of the run, as of before the run.
    pub earlier: Option<DocAddress>,
}

impl Stored {
    /// Returns the version in the index of the run.
    pub fn own(&self) -> Option<&StoredVersion> {
        self.versions.iter().find(|version| version.is_own())
    }

    /// Tells whether the index of the run has a version with this text.
    pub fn has_own(&self, text: Digest) -> bool {
        self.own().is_some_and(|own| own.text == text)
    }

    /// Tells whether any index has a version with this text.
    pub fn has(&self, text: Digest) -> bool {
        self.versions.iter().any(|version| version.text == text)
    }

    fn is_at(&self, searcher: usize, address: DocAddress) -> bool {
        self.versions.iter().any(|own| (own.searcher, own.address) == (searcher, address))
    }
}

/// Returns the documents in the index of the run that documents of a batch correct.
pub fn corrected<'b>(
    batch: &'b [Record],
    stored: &'b [Option<Stored>],
) -> impl Iterator<Item = DocAddress> + 'b {
    batch.iter().zip(stored).filter_map(|(record, stored)| {
        let Record::Document(signed) = record else { return None };
        let own = stored.as_ref()?.own()?;
        (own.text != signed.digest).then_some(own.address)
    })
}

/// A committed document that may have passages of the incoming document.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The number of the searcher, 0 for the index of the run.
    pub searcher: usize,
    /// The address in the snapshot of that searcher.
    pub address: DocAddress,
}

impl<'a> CommittedDocuments<'a> {
    /// Combines the index of the run and other indexes.
    pub fn new(
        own: &'a Searcher,
        against: &'a [Searcher],
        options: &'a DedupSettings,
        texts: &'a RecentTexts,
    ) -> CommittedDocuments<'a> {
        let stores_text = own.snapshot().config().store_text;
        let own_runs = texts.maker.as_ref().and_then(|maker| match stores_text {
            true => own.stored_runs(Some(maker.clone()), texts.kept.cache(), None),
            false => Some(spooled_runs(own, maker, texts)),
        });
        let others = against.iter().map(|other| {
            let maker = other.verdict_maker().filter(|_| texts.own.is_some());
            Verifier::new(other, other.stored_runs(maker, texts.kept.cache(), None))
        });
        let verifiers = [Verifier::new(own, own_runs)].into_iter().chain(others).collect();
        CommittedDocuments { own, against, verifiers, options, texts }
    }
}

/// Reads the runs of documents in a temporary index, whose texts are spooled.
fn spooled_runs<'a>(own: &'a Searcher, maker: &RunMaker, texts: &'a RecentTexts) -> StoredRuns<'a> {
    let snapshot = own.snapshot();
    let read = |address| {
        let place = place_of(snapshot, address)?
            .ok_or_else(|| Error::internal("dedup", "a document has lost the place of its text"))?;
        texts.spool.read(place)
    };
    StoredRuns::new(snapshot, maker.clone(), Box::new(read), texts.kept.cache())
}

impl CommittedDocuments<'_> {
    fn searchers(&self) -> impl Iterator<Item = &Searcher> {
        [self.own].into_iter().chain(self.against)
    }

    /// Names the document with this id in the index of this searcher. Names the index too, by its
    /// path, if there are several other indexes.
    fn holder(&self, searcher: usize, id: String) -> Holder {
        let others = Some(self.against).filter(|others| others.len() > 1);
        let other = searcher.checked_sub(1).and_then(|at| others?.get(at));
        let path = other.map(|other| other.snapshot().index().path().display().to_string());
        Holder { id, index: path }
    }

    /// Finds the earlier versions of all signed documents of a batch.
    ///
    /// # Errors
    /// When an index cannot be read. [`Error::Cancelled`] soon after `stop`.
    pub fn stored_versions(
        &self,
        batch: &[Record],
        earlier: &EarlierDocuments,
        stop: &Stop,
    ) -> Result<Vec<Option<Stored>>> {
        let are_repeated = earlier.repeated(batch);
        self.of_documents(batch, stop, &|at, signed| self.stored(signed, earlier, are_repeated[at]))
    }

    /// Makes something of each signed document of a batch, in parallel.
    fn of_documents<T: Send>(
        &self,
        batch: &[Record],
        stop: &Stop,
        of: &(impl Fn(usize, &SignedDocument) -> Result<T> + Sync),
    ) -> Result<Vec<Option<T>>> {
        let mut made = Vec::with_capacity(batch.len());
        let work = |at: u64| match &batch[at as usize] {
            Record::Document(signed) => of(at as usize, signed).map(Some),
            _ => Ok(None),
        };
        in_order(self.options.threads, 0..batch.len() as u64, stop, &work, &mut |_, one| {
            made.push(one);
            Ok(())
        })?;
        Ok(made)
    }

    /// Looks up all signed documents of a batch with these earlier versions, among committed
    /// documents and the recent documents before the batch.
    ///
    /// # Errors
    /// When an index cannot be read. [`Error::Cancelled`] soon after `stop`.
    pub fn look_up(
        &self,
        batch: &[Record],
        stored: &[Option<Stored>],
        recent: &RecentDocuments,
        earlier: &EarlierDocuments,
        stop: &Stop,
    ) -> Result<Vec<Option<Prepared>>> {
        self.of_documents(batch, stop, &|at, signed| {
            let stored = stored[at].clone().unwrap_or_default();
            self.look_up_one(signed, recent, earlier, stored)
        })
    }

    /// Returns how shared fingerprints relate to the similarity of the texts that this run keeps.
    pub fn sampling(&self) -> Sampling {
        self.verifiers[0].sampling()
    }

    /// Confirms a reason with evidence beyond runs. Programs must share words, because runs lack
    /// names and numbers. A text that repeats itself must share its runs as often, because sets of
    /// runs count a run once.
    fn with_evidence(
        &self,
        reason: Option<Reason>,
        own: &mut ComparedDocument<'_>,
        runs: impl FnOnce() -> Result<Option<Arc<RunSet>>>,
    ) -> Result<Option<Reason>> {
        if reason.is_none() {
            return Ok(None);
        }
        let is_evident = if self.own.snapshot().config().analyzer.is_of_programs() {
            let least = OWN_WORDS_OF_DUPLICATE;
            own.shares_words(runs()?.as_deref(), least, Stop::NEVER)?.unwrap_or(false)
        } else if own.repeats_itself(Stop::NEVER)? {
            let counted = own.counting_repeats(runs()?.as_deref(), Stop::NEVER)?;
            counted.is_none_or(|similarity| self.options.is_met(&similarity))
        } else {
            true
        };
        Ok(reason.filter(|_| is_evident))
    }

    /// Prepares an incoming document with these keys for comparison.
    pub fn own<'b>(&'b self, signed: &'b SignedDocument, keys: &'b [u64]) -> ComparedDocument<'b> {
        ComparedDocument::signed(signed, keys, self.sampling(), self.texts.own.as_ref())
    }

    /// Finds earlier versions of a document. If the id `is_repeated` in the batch, the stored
    /// document is a version of the earlier occurrence. With `only_against`, documents have no
    /// versions.
    fn stored(
        &self,
        signed: &SignedDocument,
        earlier: &EarlierDocuments,
        is_repeated: bool,
    ) -> Result<Stored> {
        if self.options.only_against {
            return Ok(Stored::default());
        }
        let document = &signed.document;
        let earlier = if is_repeated { None } else { earlier.find(&document.id)? };
        let mut versions = Vec::new();
        for (at, searcher) in self.searchers().enumerate() {
            if at > 0 || earlier.is_some() {
                let snapshot = searcher.snapshot();
                versions.extend(StoredVersion::find(at, snapshot, document, signed.digest)?);
            }
        }
        Ok(Stored { versions, earlier })
    }

    /// Looks up a signed document among committed and recent documents. Its own versions do not
    /// count. If the index of the run has a version with the same text, that index is not searched
    /// at all, because an earlier run has already kept the text.
    ///
    /// # Errors
    /// When an index cannot be read.
    pub fn look_up_one(
        &self,
        signed: &SignedDocument,
        recent: &RecentDocuments,
        earlier: &EarlierDocuments,
        stored: Stored,
    ) -> Result<Prepared> {
        let mut keys = distinct_keys(&signed.signature);
        if let Some(boilerplate) = &self.options.boilerplate {
            keys.retain(|&key| !boilerplate.has(key));
        }
        let mut sources = Vec::new();
        let mut own = self.own(signed, &keys);
        let mut reason = None;
        let is_itself = |at: usize, address| {
            stored.is_at(at, address) || (at == 0 && earlier.is_replaced(address))
        };
        let is_kept = stored.has_own(signed.digest);
        let scope = self.options.scope.as_ref();
        for (at, searcher) in self.searchers().enumerate().skip(usize::from(is_kept)) {
            let admitted = DuplicateScope::new(scope, &signed.document, searcher.snapshot());
            let other = |address| !is_itself(at, address) && admitted.has(address);
            if let Some(id) = searcher.snapshot().find_digest_among(signed.digest, other)? {
                reason = Reason::better(reason, Some(Reason::exact(self.holder(at, id))));
            }
            admitted.finish()?;
        }
        for at in usize::from(is_kept)..self.verifiers.len() {
            // No reason beats the same text, and every index has been searched for it above.
            if reason.as_ref().is_none_or(|reason: &Reason| !reason.is_exact()) {
                let snapshot = self.verifiers[at].searched().snapshot();
                let admitted = DuplicateScope::new(scope, &signed.document, snapshot);
                let admits = |address| !is_itself(at, address) && admitted.has(address);
                let found = self.look_up_in(at, &mut own, &mut sources, admits)?;
                admitted.finish()?;
                reason = Reason::better(reason, found);
            }
        }
        if !is_kept && reason.as_ref().is_none_or(|reason| !reason.is_exact()) {
            reason = Reason::better(reason, self.among_recent(signed, &mut own, recent, 0)?);
        }
        let runs = own.made_runs();
        Ok(Prepared { keys, runs, reason, sources, stored })
    }

    /// Returns the best reason to drop a document because of an admitted document in the index at
    /// this place. Adds documents that may have its passages to `sources`.
    fn look_up_in(
        &self,
        at: usize,
        own: &mut ComparedDocument<'_>,
        sources: &mut Vec<(u32, Source)>,
        admits: impl Fn(DocAddress) -> bool,
    ) -> Result<Option<Reason>> {
        let verifier = &self.verifiers[at];
        let searcher = verifier.searched();
        let (snapshot, sampling) = (searcher.snapshot(), verifier.sampling());
        let seeks_passages = self.options.cut_passages.is_some();
        let (keys, size) = (own.keys(), own.size);
        let least = if seeks_passages { Some(1) } else { self.options.overlap_min(sampling, size) };
        let Some(least) = least.filter(|_| size.fingerprints > 0) else { return Ok(None) };
        let mut verification = verifier.begin();
        let mut reason = None;
        let (overlap_min, max_df) = (least, Some(NO_STOPS));
        let limits = NeighborLimits { overlap_min, share_min: 0.0, max_df, except: None };
        for found in searcher.neighbors(keys, limits, Stop::NEVER)? {
            let of = || Ok(self.holder(at, snapshot.id(found.address)?));
            let other = verification.size(found)?;
            let overlap = found.with(size.fingerprints);
            let may_drop = self.options.may_drop(sampling, overlap, [size, other]);
            if !(may_drop || seeks_passages) || !admits(found.address) {
                continue;
            }
            if may_drop {
                let similarity = verification.with(own, found, other, Stop::NEVER)?;
                let other = Reason::of(self.options, &similarity, &of)?;
                let runs = || verification.runs(found.address, Stop::NEVER);
                let other = self.with_evidence(other, own, runs)?;
                reason = Reason::better(reason, other);
            }
            if seeks_passages {
                sources.push((found.overlap, Source { searcher: at, address: found.address }));
            }
        }
        Ok(reason)
    }

    /// Returns the best reason to drop a document because of an uncommitted document with a number
    /// of at least `from`.
    ///
    /// # Errors
    /// When a text cannot be read.
    pub fn among_recent(
        &self,
        signed: &SignedDocument,
        own: &mut ComparedDocument<'_>,
        recent: &RecentDocuments,
        from: usize,
    ) -> Result<Option<Reason>> {
        let group = self.options.group(&signed.document);
        let same = self.options.text_digest(signed).and_then(|digest| recent.find_digest(digest));
        if let Some(recent) = same.filter(|recent| self.options.keeps(group, recent.group)) {
            return Ok(Some(Reason::exact(Holder::own(&recent.id))));
        }
        let (sampling, size) = (self.sampling(), own.size);
        let least = self.options.overlap_min(sampling, size);
        let Some(least) = least.filter(|_| size.fingerprints > 0) else { return Ok(None) };
        let prefix = self.options.prefix(sampling, size, least);
        let mut reason = None;
        let admitted = |other| self.options.may_fit(sampling, [size, other]);
        let found = recent.neighbors(from, own.keys(), prefix, least, admitted);
        for (number, other, shared) in found {
            let found = self.reason_of(signed, own, number, other, shared)?;
            reason = Reason::better(reason, found);
        }
        Ok(reason)
    }

    /// Returns the reason to drop a document because of the uncommitted document with this number,
    /// if both share this number of fingerprints.
    ///
    /// # Errors
    /// When a text cannot be read.
    pub fn reason_of(
        &self,
        signed: &SignedDocument,
        own: &mut ComparedDocument<'_>,
        number: usize,
        other: &Recent,
        shared: u32,
    ) -> Result<Option<Reason>> {
        let (sampling, size) = (self.sampling(), own.size);
        let group = self.options.group(&signed.document);
        let overlap = Overlap::new(shared, size.fingerprints, other.size.fingerprints);
        if !self.options.may_drop(sampling, overlap, [size, other.size])
            || !self.options.keeps(group, other.group)
        {
            return Ok(None);
        }
        let similarity = self.with_recent(signed, own, number, other, overlap)?;
        let of = || Ok(Holder::own(&other.id));
        let found = similarity.map(|found| Reason::of(self.options, &found, &of));
        let runs = || self.texts.runs(number, other);
        self.with_evidence(found.transpose()?.flatten(), own, runs)
    }

    /// Returns the similarity with an uncommitted document, or `None` if it is certainly no reason
    /// to drop.
    fn with_recent(
        &self,
        signed: &SignedDocument,
        own: &mut ComparedDocument<'_>,
        number: usize,
        recent: &Recent,
        overlap: Overlap,
    ) -> Result<Option<Similarity>> {
        if is_exact(self.sampling(), own.size, recent.size) {
            return Ok(Some(Similarity::exact(overlap)));
        }
        if let Some(other) = self.texts.runs(number, recent)?
            && let Some(own) = own.runs(Stop::NEVER)?
        {
            let runs = match self
                .options
                .min_resemblance
                .filter(|_| self.options.min_containment.is_none())
            {
                Some(near) => own.resembling(&other, near),
                None => Some(own.overlap(&other)),
            };
            return Ok(runs.map(Similarity::exact));
        }
        let first = KeyedSignature {
            tokens: signed.token_count,
            fingerprints: &signed.signature,
            keys: own.keys(),
        };
        Ok(Some(of_signatures(self.own.estimator(), overlap, first, recent.signature())))
    }

    /// Returns the documents to look for passages in, with their texts: the documents that share
    /// most, and among equals the smallest ids.
    ///
    /// # Errors
    /// When a document cannot be read.
    pub fn texts(
        &self,
        mut sources: Vec<(u32, Source)>,
        recent: Vec<(usize, &Recent, u32)>,
    ) -> Result<Vec<(Holder, String)>> {
        let mut overlaps: Vec<u32> = sources.iter().map(|source| source.0).collect();
        overlaps.extend(recent.iter().map(|recent| recent.2));
        overlaps.sort_unstable_by_key(|&overlap| Reverse(overlap));
        let least = overlaps.get(SOURCES_MAX - 1).copied().unwrap_or(0);
        sources.retain(|source| source.0 >= least);
        let searchers: Vec<&Searcher> = self.searchers().collect();
        let mut chosen: Vec<(u32, String, Option<Source>, &str)> = Vec::new();
        for (overlap, source) in sources {
            let id = searchers[source.searcher].snapshot().id(source.address)?;
            chosen.push((overlap, id, Some(source), ""));
        }
        for (_, recent, overlap) in recent.into_iter().filter(|recent| recent.2 >= least) {
            let text = recent.text.as_deref().unwrap_or_default();
            chosen.push((overlap, recent.id.clone(), None, text));
        }
        chosen.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        chosen.truncate(SOURCES_MAX);
        let text = |(_, id, source, text): (u32, String, Option<Source>, &str)| {
            let text = match source {
                None => text.to_owned(),
                Some(Source { searcher, address }) => {
                    searchers[searcher].snapshot().document(address)?.text.unwrap_or_default()
                }
            };
            let holder = match source {
                None => Holder { id, index: None },
                Some(Source { searcher, .. }) => self.holder(searcher, id),
            };
            Ok((holder, text))
        };
        chosen.into_iter().map(text).collect()
    }
}
