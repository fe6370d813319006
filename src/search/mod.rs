//! Search: stored documents that share text with a document.
//!
//! The input is a document, the output is hits. The steps are: signature, look-up of its
//! fingerprints in every segment, pruning by document frequency, counting, scoring. Measures follow
//! Broder's terms: containment C(Q,D) is the share of the query's distinct fingerprints that the
//! document has; resemblance is the share of both documents' fingerprints that both have.

mod answer;
mod best;
mod boilerplate;
mod candidates;
mod cost;
mod cover;
mod estimates;
mod evidence;
mod extent;
mod filter;
mod fingerprints;
mod frequencies;
mod hit_details;
mod listing;
pub mod memory;
mod neighbours;
mod options;
mod patience;
mod query;
mod query_signature;
mod run_sets;
mod score;
mod shared;
mod similar;
mod similar_to;
mod stopped;
mod thresholds;
mod verify;
mod weigh;

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Instant;

pub use crate::index::MaxDf;
pub use answer::{Answer, CandidateTexts, Hit, QueryInfo, Stopped, Weighted};
pub use cost::Cost;
use crossbeam::queue::ArrayQueue;
pub use estimates::Estimates;
pub use memory::QueryMemory;
pub use neighbours::{Neighbour, Texts};
pub(crate) use options::check_share;
#[cfg(feature = "clap")]
pub(crate) use options::share;
pub use options::{Goal, Rank, SearchOptions};
pub use query::{Query, Subject};
pub(crate) use run_sets::{RunMaker, StoredRuns, kept_runs};
pub use similar_to::SimilarTo;
pub use stopped::StopCounts;
pub use thresholds::Thresholds;
pub use verify::Verified;
pub(crate) use weigh::{Weigh, WeightedOverlap, least_weight};

use crate::compare::passages::{self, Passage, Passages, Unit};
use crate::error::{Error, Result};
use crate::index::{DocAddress, Snapshot};
use crate::runtime::Permit;
use crate::runtime::Stop;
use crate::text::Analyzed;
use crate::text::unseen::Unseen;
use best::{Grams, Windows};
pub use boilerplate::Boilerplate;
use boilerplate::Ignored;
use candidates::{Candidate, CandidateSet, Counters, Request};
use evidence::Evidence;
use extent::Extent;
use filter::Filter;
use hit_details::HitDetails;
use patience::Patience;
use query_signature::QuerySignature;
use score::Scored;
use shared::SharedFingerprints;
use similar::Similarities;

/// Answers queries over one snapshot of an index.
///
/// Cheap to make and clone; threads can share it. A search reads the posting lists of the query's
/// fingerprints; thresholds and passages also read the texts of hits.
///
/// ```
/// # use cento::{Config, Document, Index, Query, Searcher, WriterOptions};
/// let index = Index::in_memory(Config::new("kgram(k=3)", "words", true)?)?;
/// let mut writer = index.writer(WriterOptions::default())?;
/// writer.add(Document::new("fox", "the quick brown fox jumps over the lazy dog"))?;
/// writer.commit()?;
/// let answer = Searcher::new(index.snapshot()?).search(&Query::text("a quick brown fox"))?;
/// assert_eq!(answer.hits[0].id, "fox");
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Clone)]
pub struct Searcher {
    snapshot: Snapshot,
    ignored: Option<Arc<Ignored>>,
    spare: Arc<ArrayQueue<Scratch>>,
}

impl std::fmt::Debug for Searcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Searcher").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}

/// The number of simultaneous queries that reuse the memory of earlier ones.
const SPARE_MAX: usize = 64;

/// Within a budget, this many times the requested hits are examined closely.
const RECOUNTED_PER_HIT: usize = 4;

/// The memory that one query leaves to the next.
#[derive(Default)]
struct Scratch {
    counters: Counters,
    part: Vec<u64>,
}

impl Searcher {
    /// Creates a searcher over `snapshot`.
    #[must_use]
    pub fn new(snapshot: Snapshot) -> Searcher {
        Searcher { snapshot, ignored: None, spare: Arc::new(ArrayQueue::new(SPARE_MAX)) }
    }

    /// Returns a searcher that excludes this text, such as that of templates: every number of
    /// fingerprints is as if no document and no query had those of it, and no passage begins or
    /// ends in it or counts a word of it as matched. The best passage and measures that verify
    /// compare whole texts, and include it.
    ///
    /// # Errors
    /// When a segment is damaged; [`Error::Cancelled`] soon after `stop` is set.
    pub fn excluding(
        self,
        boilerplate: impl Into<Arc<Boilerplate>>,
        stop: &Stop,
    ) -> Result<Searcher> {
        let ignored = Ignored::new(&self.snapshot, boilerplate.into(), stop)?;
        Ok(Searcher { ignored: Some(Arc::new(ignored)), ..self })
    }

    /// Returns the text to ignore, if there is any.
    #[must_use]
    pub fn boilerplate(&self) -> Option<&Arc<Boilerplate>> {
        self.ignored.as_ref().map(|ignored| &ignored.boilerplate)
    }

    /// Returns the snapshot.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Finds the documents that share fingerprints with the query, best first: by overlap, then by
    /// resemblance, then by id.
    ///
    /// With no more stop-fingerprints than `max_df` allows, the hits are exactly the documents
    /// that meet the thresholds. A stop-fingerprint counts for documents that are found through
    /// another fingerprint, so every number of a hit is exact in any case.
    ///
    /// # Errors
    /// When the query names no stored document, its filter cannot be parsed, or a file is damaged;
    /// [`Error::Cancelled`] soon after the flag `stop` of the query is set.
    pub fn search(&self, query: &Query) -> Result<Answer> {
        let started = Instant::now();
        query.check()?;
        let (query, defaults) = query.with_defaults(self.snapshot.preset());
        let query = &*query;
        let mut scratch = self.spare.pop().unwrap_or_default();
        let subject = self.resolve(query, &mut scratch)?;
        let (found, scored) = self.scored(&subject, query, &mut scratch)?;
        // After an error the counters would not be all zero; then they are not kept.
        let _ = self.spare.push(scratch);
        let (hits, extent, candidates) = if query.options.goal == Goal::Passage {
            let (hits, candidates) = self.best(&subject, query, scored, &found)?;
            let extent = Extent { more: false, total: Some(hits.len()) };
            (hits, extent, Some(candidates))
        } else {
            let (hits, extent) = self.hits(&subject, query, scored, &found)?;
            (hits, extent, None)
        };
        let is_complete = found.unread == 0;
        let explained = (query.options.goal == Goal::Cover).then(|| {
            let added: u32 = hits.iter().filter_map(|hit: &Hit| hit.adds).sum();
            f64::from(added) / f64::from(subject.keys.len().max(1) as u32)
        });
        Ok(Answer {
            query: QueryInfo {
                boilerplate: self.boilerplate_of(&subject, query)?,
                ..subject.info(&found)
            },
            hits,
            explained,
            candidates,
            more: extent.more,
            total: extent.total.filter(|_| is_complete).map(|total| total as u64),
            complete: is_complete,
            defaults,
            took_us: started.elapsed().as_micros() as u64,
        })
    }

    /// Returns the best of the documents, or those of the cover, with all that the query requests
    /// of them, and their number.
    fn hits(
        &self,
        subject: &QuerySignature,
        query: &Query,
        scored: Vec<Scored>,
        found: &CandidateSet,
    ) -> Result<(Vec<Hit>, Extent)> {
        let mut evidence = self.evidence(subject, query)?;
        let met = scored.len();
        let chosen = self.choose(scored, &subject.keys, query, evidence.as_mut())?;
        let (mut patience, mut shown) = (Patience::of(query), hit_details::List::of(query));
        // Whether documents that may be hits are left out.
        let mut is_cut = query.options.goal == Goal::Hits && chosen.len() < met;
        for (scored, adds) in chosen {
            let is_enough = patience.is_enough(shown.len());
            if is_enough && !patience.goes_on() {
                is_cut = true;
                break;
            }
            query.stop().check()?;
            let (mut verified, mut passages, mut scored) = (None, None, scored);
            if let Some(evidence) = &mut evidence {
                verified = evidence.verify(scored.address)?;
                if verified.as_ref().is_some_and(|verified| !verified.meets(query)) {
                    continue;
                }
                passages = evidence.passages(scored.address)?;
                patience.look(passages.as_ref().is_none_or(|passages| !passages.found.is_empty()));
                let may_have_any = passages.as_ref().is_none_or(Passages::may_have_any);
                if query.options.min_passage.is_some() && !may_have_any {
                    continue;
                }
                if is_enough {
                    is_cut = true;
                    break;
                }
                if let Some(passages) = &passages {
                    evidence.keep(passages)?;
                }
                scored.similarity = evidence.similarity(scored.address)?.or(scored.similarity);
            }
            shown.push(HitDetails::new((scored, adds), verified, passages));
        }
        let passed = shown.len();
        let mut shown = shown.finish();
        shown.truncate(query.shown(shown.iter().map(HitDetails::may_have_passage)));
        let extent = match query.options.goal == Goal::Cover || query.is_demanding() {
            true => Extent::of_those_looked_at(shown.len(), passed, is_cut),
            false => Extent::of_all(shown.len(), met, found.is_pruned),
        };
        let mut similarities = self.similarities(subject, found, query)?;
        let hits = shown.into_iter().map(|shown| self.hit(shown, &mut similarities, query));
        Ok((hits.collect::<Result<_>>()?, extent))
    }

    /// Returns all documents that meet the query's thresholds, with their containment.
    fn matches(&self, query: &Query) -> Result<Vec<(DocAddress, f64)>> {
        let query = query.clone().limit(usize::MAX);
        let mut scratch = self.spare.pop().unwrap_or_default();
        let subject = self.resolve(&query, &mut scratch)?;
        let scored = self.scored(&subject, &query, &mut scratch)?.1;
        let _ = self.spare.push(scratch);
        let similarity = |scored: &Scored| match scored.similarity {
            Some(similarity) => Ok(similarity),
            None => self.similarity_of_counts(subject.tokens, scored.overlap, scored.address),
        };
        let matched = |scored: Scored| Ok((scored.address, similarity(&scored)?.containment_of_a));
        scored.into_iter().map(matched).collect()
    }

    /// Returns the candidates, and the documents among them that meet the thresholds.
    fn scored(
        &self,
        subject: &QuerySignature,
        query: &Query,
        scratch: &mut Scratch,
    ) -> Result<(CandidateSet, Vec<Scored>)> {
        let mut found = self.find(subject, query, scratch)?;
        let mut documents = std::mem::take(&mut found.documents);
        if found.unread > 0 {
            documents = self.recount(&subject.keys, &found.weights, documents, query)?;
        }
        let mut similarities = self.similarities(subject, &found, query)?;
        let by = (subject, similarities.sampling());
        let mut scored = score::scored(self, &documents, by, &found, query)?;
        if query.is_of_texts() {
            let mut meeting = Vec::with_capacity(scored.len());
            for mut scored in scored {
                query.stop().check()?;
                scored.similarity = similarities.meeting(&scored)?;
                if scored.similarity.is_some() {
                    meeting.push(scored);
                }
            }
            scored = meeting;
        }
        Ok((found, scored))
    }

    /// Returns the hits to show, best first, each with the number of fingerprints that it adds if a
    /// cover is requested. If hits are verified, or need a passage, these are all, because some may
    /// not pass.
    fn choose(
        &self,
        mut hits: Vec<Scored>,
        keys: &[u64],
        query: &Query,
        evidence: Option<&mut Evidence<'_>>,
    ) -> Result<Vec<(Scored, Option<u32>)>> {
        if query.options.goal != Goal::Cover {
            // Candidates for passages are the same number, whichever of them are hits.
            let may_miss_passage =
                query.options.min_passage.is_some() && !Patience::of(query).counts_all();
            let limit = match query.options.verify.is_some() || may_miss_passage {
                true => usize::MAX,
                false => query.looked_at(),
            };
            let best = score::best(&self.snapshot, hits, limit, query.stop())?;
            return Ok(best.into_iter().map(|scored| (scored, None)).collect());
        }
        // A document that does not pass explains nothing.
        let is_demanding = query.options.verify.is_some() || query.options.min_passage.is_some();
        if let Some(evidence) = evidence.filter(|_| is_demanding) {
            let mut passing = Vec::with_capacity(hits.len());
            for hit in hits {
                query.stop().check()?;
                let is_alike =
                    evidence.verify(hit.address)?.is_none_or(|verified| verified.meets(query));
                if is_alike && evidence.may_have_passage(hit.address)? {
                    passing.push(hit);
                }
            }
            hits = passing;
        }
        let stop = query.stop();
        score::name(&self.snapshot, &mut hits, stop)?;
        let adds_min = query.thresholds.overlap();
        // One more tells whether there are more.
        let limits = (query.looked_at().saturating_add(1), adds_min);
        let shared = SharedFingerprints::within(query.memory.as_ref());
        let cover = cover::cover(&self.snapshot, keys, hits, limits, shared, stop)?;
        Ok(cover.into_iter().map(|chosen| (chosen.scored, Some(chosen.adds))).collect())
    }

    /// Returns the document with the passage most like the query, and the number of texts
    /// considered.
    fn best(
        &self,
        subject: &QuerySignature,
        query: &Query,
        mut documents: Vec<Scored>,
        counted: &CandidateSet,
    ) -> Result<(Vec<Hit>, CandidateTexts)> {
        let config = self.snapshot.config();
        let refused = |what: &str| Error::argument("goal", what);
        let (Some(q), Some(w)) = (config.scheme.span(), config.scheme.window()) else {
            let what = "only a winnowing scheme, such as winnow(k,w), can find the best passage";
            return Err(refused(what));
        };
        let windows = Windows { q, w };
        let text = self.text_of(subject, query)?.filter(|_| config.store_text);
        let Some(text) = text else {
            return Err(refused(
                "the best passage is found by comparing texts, but the index or the query has no \
                 text",
            ));
        };
        let bytes = memory::of_tokens(subject.tokens);
        let room = memory::reserve(query.memory.as_ref(), 0, bytes, subject.tokens)?;
        let held = room.as_ref().map_or(0, Permit::bytes);
        let stop = query.stop();
        let analyzed = |text: String, tokens: u32, room: Option<&QueryMemory>, held: usize| {
            let _scratch = memory::reserve_scratch(room, held, &config.analyzer, text.len())?;
            Analyzed::with_room(text, tokens, &config.analyzer, stop)
        };
        // The memory of a text that is no stored document is taken before the search.
        let stored = query.memory.as_ref().filter(|_| subject.address.is_some());
        let Analyzed { text, tokens } = analyzed(text, subject.tokens, stored, held)?;
        // Of equal passages the one of the first id is best, wherever it is stored.
        score::name(&self.snapshot, &mut documents, stop)?;
        documents.sort_unstable_by(|a, b| (&a.id, a.address).cmp(&(&b.id, b.address)));
        let mut shared = SharedFingerprints::within(query.memory.as_ref());
        let mut texts = Vec::new();
        for (at, document) in documents.iter().enumerate() {
            let address = document.address;
            shared.read(&self.snapshot, (&subject.keys, &[]), address, stop)?;
            let positions: Vec<u32> = shared.occurrences().iter().map(|found| found.1).collect();
            let len = self.snapshot.segment(address).signatures.document(address.doc)?.tokens;
            texts.extend(best::candidates(at, &positions, len as usize, windows));
        }
        let all = texts.len();
        let grams = Grams::new(&tokens.hashes, windows.q, stop)?;
        let document_at = |address: DocAddress| -> Result<Analyzed> {
            let signed = self.snapshot.segment(address).signatures.document(address.doc)?;
            let bytes = memory::of_tokens(signed.tokens);
            let memory = query.memory.as_ref();
            let _room = memory::reserve(memory, held, bytes, signed.tokens)?;
            let text = self.snapshot.document(address)?.text.unwrap_or_default();
            analyzed(text, signed.tokens, memory, held.saturating_add(bytes))
        };
        let mut hashes_of = |at: usize| Ok(document_at(documents[at].address)?.tokens.hashes);
        let found = best::best(texts, &grams, &mut hashes_of, stop)?;
        let Some(found) = found else {
            return Ok((Vec::new(), CandidateTexts { texts: all, calculated: 0 }));
        };
        let best = documents.swap_remove(found.candidate.document);
        let other = document_at(best.address)?;
        let in_query = passages::bytes(&tokens, &(0..tokens.hashes.len()));
        let in_hit = passages::bytes(&other.tokens, &found.candidate.tokens);
        let len = found.candidate.tokens.len() as u32;
        let passage = Passage::new(in_query, in_hit, Unit::Bytes, len, found.similarity);
        let hit_tokens = &other.tokens.hashes[found.candidate.tokens.clone()];
        let passage = passages::with_words_of_both(passage, &tokens, hit_tokens);
        let place = 0..tokens.hashes.len() as u32;
        let passages = Passages::new(vec![(passage, place)], true);
        let passages = Some(passages.placed(&text, &other.text));
        let best = HitDetails::new((best, None), None, passages);
        let hit = self.hit(best, &mut self.similarities(subject, counted, query)?, query)?;
        Ok((vec![hit], CandidateTexts { texts: all, calculated: found.calculated }))
    }

    /// Returns the text of the query, if it is known.
    fn text_of(&self, subject: &QuerySignature, query: &Query) -> Result<Option<String>> {
        match (&query.subject, subject.address) {
            (Subject::Text(text), _) => Ok(Some(text.clone())),
            (Subject::Id(_), Some(address)) => Ok(self.snapshot.document(address)?.text),
            _ => Ok(None),
        }
    }

    fn evidence<'a>(
        &'a self,
        subject: &'a QuerySignature,
        query: &'a Query,
    ) -> Result<Option<Evidence<'a>>> {
        if !query.needs_passages() && query.options.verify.is_none() {
            return Ok(None);
        }
        let text = self.text_of(subject, query)?;
        Evidence::new(self, subject, query, text).map(Some)
    }

    /// Returns the boilerplate in the text of the query, if passages are looked for.
    fn boilerplate_of(&self, subject: &QuerySignature, query: &Query) -> Result<Vec<(u32, u32)>> {
        let Some(boilerplate) = self.boilerplate().filter(|_| query.needs_passages()) else {
            return Ok(Vec::new());
        };
        let Some(text) = self.text_of(subject, query)? else { return Ok(Vec::new()) };
        let (memory, tokens) = (query.memory.as_ref(), subject.tokens);
        let room = memory::reserve(memory, 0, memory::of_tokens(tokens), tokens)?;
        let held = room.as_ref().map_or(0, Permit::bytes);
        let analyzer = &self.snapshot.config().analyzer;
        let _scratch = memory::reserve_scratch(memory, held, analyzer, text.len())?;
        boilerplate.ranges_in(&text, query.stop())
    }

    fn find(
        &self,
        subject: &QuerySignature,
        query: &Query,
        scratch: &mut Scratch,
    ) -> Result<CandidateSet> {
        let max_df = query.options.max_df.unwrap_or(self.snapshot.config().max_df);
        let filter = query.options.filter.as_deref();
        let filter = filter.map(|text| Filter::new(&self.snapshot, text)).transpose()?;
        let excluded = subject.excluded(&self.snapshot, &query.options.exclude_id)?;
        let has_text = !matches!(query.subject, Subject::Signature { .. });
        let sampling = self.sampling(has_text && self.can_read_runs());
        let size = sampling.size(subject.keys.len() as u32, || Ok::<_, Error>(subject.tokens))?;
        let request = Request {
            keys: &subject.keys,
            overlap_min: score::overlap_min(query, sampling, size),
            // A document of the best by overlap may still lack resemblance or a passage, or fail
            // verification, and one that is not among them add more to a cover or have the best
            // passage.
            best: if query.is_of_texts()
                || query.options.goal != Goal::Hits
                || query.options.verify.is_some()
                || query.options.min_passage.is_some()
                || query.is_weighed()
            {
                usize::MAX
            } else {
                // One more tells whether there are more.
                query.looked_at().saturating_add(1)
            },
            max_df: max_df.limit(self.snapshot.documents()),
            budget: query.options.budget.unwrap_or(u64::MAX),
            weighed: query
                .is_weighed()
                .then(|| (Weigh::new(&self.snapshot), query.least_weighted())),
            filter: filter.as_ref(),
            excluded: &excluded,
            keeps_terms: query.shows_estimates() && self.estimator().is_some(),
            stop: query.stop(),
        };
        query.stop().check()?;
        candidates::find(&self.snapshot, &request, &mut scratch.counters)
    }

    /// Returns the candidates that look best, with their true overlap: counts within a budget may
    /// be too low.
    fn recount(
        &self,
        keys: &[u64],
        weights: &[u64],
        mut found: Vec<Candidate>,
        query: &Query,
    ) -> Result<Vec<Candidate>> {
        // By count, then by place, so that the same ones are taken every time.
        found.sort_unstable_by_key(|counted| {
            (Reverse(counted.weight), Reverse(counted.overlap), counted.address)
        });
        found.truncate(query.looked_at().max(1).saturating_mul(RECOUNTED_PER_HIT));
        found.sort_unstable_by_key(|counted| counted.address);
        let mut shared = SharedFingerprints::within(query.memory.as_ref());
        for counted in &mut found {
            shared.read(&self.snapshot, (keys, &[]), counted.address, query.stop())?;
            let shared = shared.keys();
            counted.overlap = shared.len() as u32;
            if !weights.is_empty() {
                counted.weight = shared.iter().map(|&key| weights[key as usize]).sum();
            }
        }
        Ok(found)
    }

    fn resolve(&self, query: &Query, scratch: &mut Scratch) -> Result<QuerySignature> {
        let mut resolved = self.resolve_whole(query, scratch)?;
        if let Some(ignored) = &self.ignored {
            resolved.leave_out(ignored);
        }
        Ok(resolved)
    }

    fn resolve_whole(&self, query: &Query, scratch: &mut Scratch) -> Result<QuerySignature> {
        let (config, stop) = (self.snapshot.config(), query.stop());
        match &query.subject {
            Subject::Text(text) => {
                let signed = config.sign_within(text, usize::MAX, &mut scratch.part, stop)?;
                let signature = signed.fingerprints.expect("nothing is too large");
                let resolved = QuerySignature::new(signed.tokens, signature);
                Ok(QuerySignature { unseen: Unseen::of(text), ..resolved })
            }
            Subject::Signature { tokens, fingerprints } => {
                Ok(QuerySignature::new(*tokens, fingerprints.clone()))
            }
            Subject::Id(id) => {
                let Some(address) = self.snapshot.find(id)? else {
                    return Err(Error::UnknownId { id: id.clone() });
                };
                let segment = &self.snapshot.segment(address).signatures;
                let tokens = segment.document(address.doc)?.tokens;
                let memory = query.memory.as_ref();
                let signature = memory::signature(&self.snapshot, address, memory, stop)?;
                let resolved = QuerySignature::new(tokens, signature);
                Ok(QuerySignature { id: Some(id.clone()), address: Some(address), ..resolved })
            }
        }
    }

    fn hit(
        &self,
        shown: HitDetails,
        similarities: &mut Similarities<'_>,
        query: &Query,
    ) -> Result<Hit> {
        let by_passages = query.ranked_by() == Rank::Passages;
        let passage_tokens = by_passages.then_some(shown.passage_tokens);
        let HitDetails { mut scored, adds, verified, passages, is_without_passages, .. } = shown;
        score::weigh_document(self, &mut scored, query)?;
        let passages =
            passages.filter(|_| query.shows_passages() || query.options.goal == Goal::Passage);
        let passages_complete = passages.as_ref().map(|passages| passages.complete);
        let passages_complete = if is_without_passages { Some(false) } else { passages_complete };
        let similarity = match scored.similarity {
            Some(similarity) => similarity,
            None => similarities.shown(&scored)?,
        };
        Ok(Hit {
            meta: self.snapshot.meta(scored.address)?,
            similarity: similarity.into(),
            index: self.snapshot.name_of(scored.address).map(str::to_owned),
            id: scored.id,
            overlap: scored.overlap.shared,
            fingerprints: scored.overlap.in_b,
            weighted: scored.weighted.map(WeightedOverlap::measures),
            passage_tokens,
            adds,
            verified,
            passages: passages.map(|passages| passages.found),
            passages_complete,
        })
    }
}
