//! Shards: indexes that together answer like a single index with their documents.
//!
//! A search over shards has the stages of a search over a single index, with messages in between:
//!
//! 1. [`Searcher::frequencies`]: counts the documents of a shard with each fingerprint.
//!    [`add_up_frequencies`] computes the sums, which decide about stop-fingerprints and weights.
//! 2. [`Searcher::candidates`]: finds the documents of a shard that may be hits, given the sums.
//! 3. [`Searcher::spans`]: compares the texts of the winners.
//!
//! `next_step` conducts the search: it examines the merged candidates by the rules of a single
//! index, or traces the query in them, and returns which documents it needs to know next. It sends
//! no requests. Transport, retries and unavailable shards are up to the caller. Each message
//! contains the commit that it belongs to, and a shard refuses to continue a search of another
//! commit.

mod addition;
mod answer;
mod conductor;
mod known_hits;
mod named_candidates;
mod query_tokens;
mod refusal;
mod shard_archive;
mod text_sample;
mod trace_candidates;
mod trace_step;
mod winners;

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use cento_api::{Goal, ShardCandidates, ShardFrequencies, ShardSpans, ShardWinners};

pub use self::addition::add_up_frequencies;
pub use self::conductor::next_step;
use self::refusal::check;
use super::candidates::CandidateSet;
use super::chance::Chance;
use super::filter::Filter;
use super::frequencies::{known, leave_out_all_deleted, look_up};
use super::pruning::Pruning;
use super::query::Query;
use super::query_signature::QuerySignature;
use super::retrieve::Search;
use super::sample::Sample;
use super::score;
use super::searcher::Searcher;
use super::ties;
use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::reason::ConflictKind;
use crate::runtime::Stop;

/// An upper bound of the number of documents, because JSON readers round larger numbers.
const DOCUMENTS_MAX: u64 = 1 << 53;

impl Searcher {
    /// Returns the digest of the commit. A request only continues answers of the same commit.
    /// Copies of an index have the same digest.
    #[must_use]
    pub fn commit(&self) -> &str {
        self.shard.commit.get_or_init(|| format!("{:016x}", self.snapshot.generation()))
    }

    /// Counts the documents with each fingerprint of a query. `with_sample` adds the sample of the
    /// texts, which is the same for every query of a commit.
    ///
    /// # Errors
    /// When shards cannot answer the query together, or a file is damaged. [`Error::Cancelled`]
    /// soon after the query is stopped.
    pub fn frequencies(&self, query: &Query, with_sample: bool) -> Result<ShardFrequencies> {
        check(query)?;
        let searcher = self.without(&query.options.without)?;
        let (snapshot, config, stop) = (&self.snapshot, self.snapshot.config(), query.stop());
        let subject = QuerySignature::of(&searcher, query, &mut Vec::new())?;
        let (terms, dfs) = look_up(snapshot, &subject.keys, stop)?;
        let segments = snapshot.segments();
        let deleted_documents = snapshot.deleted_documents();
        let mut deleted = Vec::new();
        if deleted_documents > 0 {
            let mut live = dfs.clone();
            leave_out_all_deleted(segments, &terms, &mut live, stop)?;
            deleted = dfs.iter().zip(live).map(|(df, live)| df - live).collect();
        }
        let excluded = subject.excluded(snapshot, &query.options.exclude_id)?;
        let known = known(segments, &terms, dfs.len(), &excluded, stop)?;
        let is_gone = |place: &u32| dfs[*place as usize] > 0 && !known[*place as usize];
        let missing_fields = match &query.options.filter {
            Some(filter) => Filter::missing_fields(snapshot, filter)?,
            None => Vec::new(),
        };
        Ok(ShardFrequencies {
            commits: vec![self.commit().to_owned()],
            settings: format!("{:016x}", config.digest()),
            fingerprints: digest_of(&subject.keys),
            preset: snapshot.preset(),
            max_df: query.options.max_df.unwrap_or(config.max_df),
            documents: snapshot.documents(),
            deleted_documents,
            gone: (0..dfs.len() as u32).filter(is_gone).collect(),
            dfs,
            deleted,
            missing_fields,
            sample: match with_sample {
                true => self.sample(stop)?.map(text_sample::to_json),
                false => None,
            },
        })
    }

    /// Returns the sample of the texts of the shard.
    fn sample(&self, stop: &Stop) -> Result<Option<&Sample>> {
        if self.shard.sample.get().is_none() {
            let _ = self.shard.sample.set(Sample::of(&[&self.snapshot], stop)?);
        }
        Ok(self.shard.sample.get().and_then(Option::as_ref))
    }

    /// Finds the best `most` documents that may be hits, given the frequencies over every shard.
    ///
    /// # Errors
    /// When the frequencies belong to another query or commit, when the filter contains a field
    /// that no document of any shard has, or when a file is damaged. [`Error::Cancelled`] soon
    /// after the query is stopped.
    pub fn candidates(
        &self,
        query: &Query,
        frequencies: &ShardFrequencies,
        most: usize,
    ) -> Result<ShardCandidates> {
        check(query)?;
        self.check_commit(frequencies.commits.iter())?;
        if frequencies.documents > 0
            && let Some(field) = frequencies.missing_fields.first()
        {
            let what = format!("no document of any shard has the field `{field}`");
            return Err(Error::argument("filter", what));
        }
        let (query, _) = query.with_defaults(frequencies.preset);
        let searcher = self.without(&query.options.without)?;
        let mut scratch = self.spare.pop().unwrap_or_default();
        let subject = QuerySignature::of(&searcher, &query, &mut scratch.part)?;
        check_frequencies(frequencies, &subject.keys)?;
        let all = Some(frequencies);
        let (search, documents) =
            Search::retrieve(&searcher, &query, subject, all, &mut scratch.counters)?;
        let mut meeting = search.meeting(&documents)?;
        let _ = self.spare.push(scratch);
        let met = meeting.len() as u64;
        let pruning = Pruning::of(&query, searcher.ignored.is_some());
        search.count_ties(&mut meeting)?;
        // Any tie of the shard may be the first hit of all shards, even if only one is requested.
        let tied = if ties::are_ordered(&query) { ties::TIES_MAX + 1 } else { 0 };
        let most = pruning.hits.min(most).max(tied);
        let best = score::best(&searcher.snapshot, meeting, most, query.stop())?;
        let (candidates, tokens) = search.named(best)?;
        let containing = match query.options.goal {
            Goal::Trace => search.containing_here(true)?,
            Goal::Hits | Goal::Passage => None,
        };
        let Search { subject, found, .. } = &search;
        let kept_max = pruning.by_overlap.min(pruning.by_weight);
        Ok(ShardCandidates {
            commit: self.commit().to_owned(),
            query: subject.info(&searcher, &query, found)?,
            weight: found.weights.iter().sum(),
            met,
            kept_max: (kept_max < usize::MAX).then_some(kept_max as u64),
            candidates,
            tokens,
            containing,
        })
    }

    /// Compares the winners of a shard with the query, or reads the requested excerpts of them.
    ///
    /// # Errors
    /// When the winners belong to another commit, or a document cannot be read or does not have an
    /// excerpt. [`Error::Cancelled`] soon after the query is stopped.
    pub fn spans(&self, query: &Query, winners: &ShardWinners) -> Result<ShardSpans> {
        check(query)?;
        self.check_commit(std::iter::once(&winners.commit))?;
        let (mut query, _) = query.with_defaults(winners.preset);
        if query.options.goal == Goal::Trace {
            // The trace of all shards is made from the passages.
            query.to_mut().options.passages = true;
        }
        let searcher = self.without(&query.options.without)?;
        let commit = self.commit().to_owned();
        let searcher = match self.model(&query, winners)? {
            RatingInput::Nothing => searcher,
            RatingInput::Model(model) => {
                let chance = Arc::new(Mutex::new(Some(Some(model))));
                Cow::Owned(Searcher { chance, ..searcher.into_owned() })
            }
            RatingInput::Sample => {
                return Ok(ShardSpans { commit, needs_sample: true, hits: Vec::new() });
            }
        };
        let subject = QuerySignature::of(&searcher, &query, &mut Vec::new())?;
        let found = CandidateSet::default();
        let search = Search { searcher: &searcher, query: &query, subject, found };
        let hits = search.spans_of(&winners.winners)?;
        Ok(ShardSpans { commit, needs_sample: false, hits })
    }

    /// Returns the model of chance over every shard, if passages are rated with it.
    fn model(&self, query: &Query, winners: &ShardWinners) -> Result<RatingInput> {
        if !query.needs_passages() || !self.snapshot.config().store_text {
            return Ok(RatingInput::Nothing);
        }
        let Some(digest) = &winners.sample_digest else {
            let what = "passages are rated by a sample of all shards; name its digest";
            return Err(Error::argument("sample_digest", what));
        };
        if let Some(model) = self.shard.model(digest, winners.documents) {
            return Ok(RatingInput::Model(model));
        }
        let Some(sample) = &winners.sample else { return Ok(RatingInput::Sample) };
        let sample = text_sample::of_json(sample)?;
        if text_sample::hex_of(sample.digest()) != *digest {
            return Err(Error::argument("sample", "the sample has another digest"));
        }
        let model = Arc::new(Chance::new(sample, winners.documents));
        self.shard.keep_model(digest, winners.documents, &model);
        Ok(RatingInput::Model(model))
    }

    /// Refuses to continue a search of other commits.
    fn check_commit<'a>(&self, mut commits: impl Iterator<Item = &'a String>) -> Result<()> {
        if commits.any(|commit| commit == self.commit()) {
            return Ok(());
        }
        let what = "the shard has another commit than the answer that this request continues; \
                    begin again with the frequencies";
        Err(Error::conflict(ConflictKind::Commit, what))
    }
}

/// The requirements for rating passages.
enum RatingInput {
    /// Nothing, because passages are not rated.
    Nothing,
    /// A model, which is available.
    Model(Arc<Chance>),
    /// A model whose sample is missing.
    Sample,
}

/// Refuses frequencies that belong to a query with other fingerprints.
fn check_frequencies(frequencies: &ShardFrequencies, keys: &[u64]) -> Result<()> {
    let ShardFrequencies { dfs, deleted, gone, fingerprints, .. } = frequencies;
    let is_complete =
        dfs.len() == keys.len() && (deleted.is_empty() || deleted.len() == keys.len());
    let is_in_bounds = gone.len() <= keys.len()
        && frequencies.documents < DOCUMENTS_MAX
        && dfs.iter().all(|&df| df < DOCUMENTS_MAX);
    if is_complete && is_in_bounds && *fingerprints == digest_of(keys) {
        return Ok(());
    }
    let what = "the frequencies are not those of this query; begin again with the frequencies";
    Err(Error::argument("frequencies", what))
}

fn digest_of(keys: &[u64]) -> String {
    let keys: Vec<[u8; 8]> = keys.iter().map(|key| key.to_le_bytes()).collect();
    text_sample::hex_of(Digest::of(keys.as_flattened()))
}
