//! What do the committed documents, and other indexes, say of the documents of a batch?
//!
//! The larger part of the work, and the part that needs no order: many threads do it at once.

use std::cmp::Reverse;
use std::sync::atomic::AtomicBool;

use super::recent::Recent;
use super::verdict::{Holder, Reason};
use super::{DedupOptions, Record};
use crate::error::Result;
use crate::index::{DocAddress, MaxDf, Signed};
use crate::ordered::in_order;
use crate::scheme::distinct_keys;
use crate::search::{Estimates, Searcher};
use crate::stop::Stop;

/// The maximum number of documents in which passages are looked for: those that share most.
const SOURCES_MAX: usize = 16;

/// What stops depends on how much has been committed, and verdicts must not.
const NO_STOPS: MaxDf = MaxDf::Documents(u64::MAX);

/// The documents that were committed before the batch.
pub struct Committed<'a> {
    /// Those that this run and earlier ones have kept.
    pub own: &'a Searcher,
    /// Other indexes.
    pub against: &'a [Searcher],
    /// How duplicates are found.
    pub options: &'a DedupOptions,
}

/// What is known of a document before those of its batch are looked at.
pub struct Prepared {
    /// Its distinct fingerprints, ascending.
    pub keys: Vec<u64>,
    /// Why it is dropped, if for a committed document.
    pub reason: Option<Reason>,
    /// The committed documents that may have passages of it, and how many fingerprints they share.
    pub sources: Vec<(u32, Source)>,
}

/// A committed document.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The place of its searcher.
    searcher: usize,
    address: DocAddress,
}

impl Committed<'_> {
    fn searchers(&self) -> impl Iterator<Item = &Searcher> {
        [self.own].into_iter().chain(self.against)
    }

    /// The document with this id in the index of the searcher at this place; of several others the index is
    /// named by its path.
    fn holder(&self, searcher: usize, id: String) -> Holder {
        let others = Some(self.against).filter(|others| others.len() > 1);
        let other = searcher.checked_sub(1).and_then(|at| others?.get(at));
        let path = other.map(|other| other.snapshot().index().path().display().to_string());
        Holder { id, index: path }
    }

    /// Searches for all signed documents of a batch.
    ///
    /// # Errors
    /// When an index cannot be read.
    pub fn look_up(&self, batch: &[Record]) -> Result<Vec<Option<Prepared>>> {
        let mut prepared = Vec::with_capacity(batch.len());
        let work = |at: u64| match &batch[at as usize] {
            Record::Document(signed) => self.look_up_one(signed).map(Some),
            _ => Ok(None),
        };
        let (threads, never) = (self.options.threads, AtomicBool::new(false));
        in_order(threads, 0..batch.len() as u64, &never, &work, &mut |_, one| {
            prepared.push(one);
            Ok(())
        })?;
        Ok(prepared)
    }

    fn look_up_one(&self, signed: &Signed) -> Result<Prepared> {
        let mut keys = distinct_keys(&signed.signature);
        if let Some(boilerplate) = &self.options.boilerplate {
            keys.retain(|&key| !boilerplate.has(key));
        }
        let size = keys.len() as u32;
        let (mut reason, mut sources) = (None, Vec::new());
        let seeks_passages = self.options.passage.is_some();
        let least = if seeks_passages { Some(1) } else { self.options.overlap_min(size) };
        for (at, searcher) in self.searchers().enumerate() {
            let snapshot = searcher.snapshot();
            if let Some(id) = snapshot.find_digest(signed.digest)? {
                reason = Reason::better(reason, Some(Reason::exact(self.holder(at, id))));
                continue;
            }
            let Some(least) = least.filter(|_| size > 0) else { continue };
            let mut estimates = None;
            for found in searcher.neighbours(&keys, least, Some(NO_STOPS), None, Stop::NEVER)? {
                let of = || Ok(self.holder(at, snapshot.id(found.address)?));
                let mut estimate = || {
                    if estimates.is_none() {
                        // None would have been found to be wanting before the run began.
                        searcher.estimator_needed()?;
                        let own = (signed.token_count, &signed.signature[..]);
                        estimates = searcher.estimates(own, &keys, Stop::NEVER);
                    }
                    let estimate = estimates.as_mut().map(|estimates: &mut Estimates<'_>| {
                        estimates.with(found.address, found.fingerprints)
                    });
                    Ok(estimate.transpose()?.map_or(0.0, |estimate| estimate.resemblance))
                };
                let other = Reason::of(self.options, found.with(size), &mut estimate, &of)?;
                reason = Reason::better(reason, other);
                if seeks_passages {
                    sources.push((found.overlap, Source { searcher: at, address: found.address }));
                }
            }
        }
        Ok(Prepared { keys, reason, sources })
    }

    /// The documents, with their texts, in which passages are looked for: of committed and recent
    /// ones those that share most, and of equal ones the first ids.
    ///
    /// # Errors
    /// When a document cannot be read.
    pub fn texts(
        &self,
        mut sources: Vec<(u32, Source)>,
        recent: Vec<(&Recent, u32)>,
    ) -> Result<Vec<(Holder, String)>> {
        let mut overlaps: Vec<u32> = sources.iter().map(|source| source.0).collect();
        overlaps.extend(recent.iter().map(|recent| recent.1));
        overlaps.sort_unstable_by_key(|&overlap| Reverse(overlap));
        let least = overlaps.get(SOURCES_MAX - 1).copied().unwrap_or(0);
        sources.retain(|source| source.0 >= least);
        let searchers: Vec<&Searcher> = self.searchers().collect();
        let mut chosen: Vec<(u32, String, Option<Source>, &str)> = Vec::new();
        for (overlap, source) in sources {
            let id = searchers[source.searcher].snapshot().id(source.address)?;
            chosen.push((overlap, id, Some(source), ""));
        }
        for (recent, overlap) in recent.into_iter().filter(|recent| recent.1 >= least) {
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
