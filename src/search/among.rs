//! A search that is restricted to a few documents.
//!
//! The search decides exactly as a search of the whole index, but reads the signatures of the given
//! documents instead of the posting lists of the query. Its cost depends on the number of
//! documents, not on the size of the index.

use super::candidate::Candidate;
use super::candidates::CandidateSet;
use super::filter::Filter;
use super::frequencies::{leave_out_all_deleted, leave_out_deleted, look_up};
use super::query::Query;
use super::query_signature::QuerySignature;
use super::retrieve::Search;
use super::searcher::Searcher;
use super::shared::SharedFingerprints;
use super::weigh::Weigh;
use crate::error::{Error, Result};
use crate::index::DocAddress;
use crate::segment::Terms;
use cento_api::{Goal, Hit};

impl Searcher {
    /// Returns the hits among `documents`, best first. They are the hits of
    /// [`search`](Self::search) for the same query without a limit, with the same numbers. The
    /// limit and the budget of the query are ignored.
    ///
    /// # Errors
    /// When the goal of the query is not [`Goal::Hits`], and the errors of
    /// [`search`](Self::search).
    pub fn search_among(&self, query: &Query, documents: &[DocAddress]) -> Result<Vec<Hit>> {
        query.check()?;
        if query.options.goal != Goal::Hits {
            let what = "a search among given documents has the goal `hits`";
            return Err(Error::argument("goal", what));
        }
        let (query, _) = query.with_defaults(self.snapshot.preset());
        let query = &query.into_owned().limit(usize::MAX);
        let searcher = self.without(&query.options.without)?;
        let mut scratch = self.spare.pop().unwrap_or_default();
        let subject = QuerySignature::of(&searcher, query, &mut scratch.part)?;
        let _ = self.spare.push(scratch);
        let (search, candidates) = Search::among(&searcher, query, subject, documents)?;
        let meeting = search.meeting(&candidates)?;
        Ok(search.hits(meeting)?.hits)
    }
}

impl<'a> Search<'a> {
    /// Finds the candidates of a query with this signature among `documents`.
    fn among(
        searcher: &'a Searcher,
        query: &'a Query,
        subject: QuerySignature,
        documents: &[DocAddress],
    ) -> Result<(Search<'a>, Vec<Candidate>)> {
        let (snapshot, stop) = (&searcher.snapshot, query.stop());
        let max_df = query.options.max_df.unwrap_or(snapshot.config().max_df);
        let max_df = max_df.limit(snapshot.documents());
        let documents = wanted(searcher, query, &subject, documents)?;
        let (terms, mut dfs) = look_up(snapshot, &subject.keys, stop)?;
        let segments = snapshot.segments();
        match query.is_weighed() {
            false => leave_out_deleted(snapshot, &terms, max_df, &mut dfs, stop)?,
            true => leave_out_all_deleted(segments, &terms, &mut dfs, stop)?,
        }
        let weights = match query.is_weighed() {
            true => Weigh::new(snapshot).weights(&dfs),
            false => Vec::new(),
        };
        let keys = subject.keys.len() as u32;
        let overlap_min = searcher.overlap_min(query, subject.tokens, keys)?;
        let places = |terms: &Terms<'_>| terms.iter().map(|(i, term)| (term.ordinal, *i)).collect();
        let terms: Vec<Vec<(u32, u32)>> = terms.iter().map(places).collect();
        let mut shared = SharedFingerprints::within(query.memory.as_ref());
        let mut candidates = Vec::new();
        for address in documents {
            shared.read(snapshot, (&subject.keys, &terms), address, stop)?;
            let keys = shared.keys();
            // Stop-fingerprints alone do not make a candidate.
            let is_found = keys.iter().any(|&key| dfs[key as usize] <= max_df);
            if is_found && keys.len() as u32 >= overlap_min {
                let overlap = keys.len() as u32;
                let weight = match weights.is_empty() {
                    true => 0,
                    false => keys.iter().map(|&key| weights[key as usize]).sum(),
                };
                candidates.push(Candidate { address, overlap, weight });
            }
        }
        let found = CandidateSet { weights, terms, ..CandidateSet::default() };
        Ok((Search { searcher, query, subject, found }, candidates))
    }
}

/// Returns the documents that may be hits: live, not excluded, and matching the filter.
fn wanted(
    searcher: &Searcher,
    query: &Query,
    subject: &QuerySignature,
    documents: &[DocAddress],
) -> Result<Vec<DocAddress>> {
    let snapshot = &searcher.snapshot;
    let excluded = subject.excluded(snapshot, &query.options.exclude_id)?;
    let mut documents = documents.to_vec();
    documents.sort_unstable();
    documents.dedup();
    documents.retain(|address| {
        snapshot.segment(*address).is_alive(address.doc) && excluded.binary_search(address).is_err()
    });
    let Some(filter) = query.options.filter.as_deref() else { return Ok(documents) };
    let filter = Filter::standing(snapshot, filter)?;
    let mut passing = Vec::with_capacity(documents.len());
    for own in documents.chunk_by(|a, b| a.segment == b.segment) {
        let segment = own[0].segment;
        let mut docs: Vec<u32> = own.iter().map(|address| address.doc).collect();
        filter.retain(segment as usize, &mut docs, query.stop())?;
        passing.extend(docs.into_iter().map(|doc| DocAddress { segment, doc }));
    }
    Ok(passing)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::{Config, Document, Index, MaxDf, WriterOptions};
    use crate::search::Rank;
    use crate::search::Thresholds;
    use serde_json::{Map, json};

    /// Returns a text from few distinct words, so that many texts share runs.
    fn text(words: &[u8]) -> String {
        words.iter().map(|word| format!("w{} ", word % 7)).collect()
    }

    /// Orders hits with as many shared fingerprints by id. Their texts order them only if they are
    /// at most four, and among chosen documents there may be fewer.
    fn by_id_among_equals(mut hits: Vec<Hit>) -> Vec<Hit> {
        for equal in hits.chunk_by_mut(|a, b| a.overlap == b.overlap) {
            equal.sort_by(|a, b| a.id.cmp(&b.id));
        }
        hits
    }

    fn query_of(kind: u8, text: String) -> Query {
        let query = Query::text(text);
        match kind % 8 {
            0 => query,
            1 => query.min_containment(0.5),
            2 => query.min_resemblance(0.3),
            3 => query.min_overlap(2u32).filter("even:true"),
            4 => query.min_passage(3u32).passages(true),
            5 => query.min_weighted_containment(0.4),
            6 => query.rank(Rank::Weight).min_weighted_resemblance(0.2),
            _ => query.verify("cosine").min_similarity(0.5).max_df(MaxDf::Documents(2)),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn a_search_among_documents_finds_the_hits_of_a_search_that_are_among_them(
            texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..24), 1..16),
            query in prop::collection::vec(any::<u8>(), 1..24),
            (kind, chosen, commits, scheme) in (any::<u8>(), any::<u32>(), 1usize..4, 0usize..3),
        ) {
            let scheme = ["kgram(k=2)", "winnow(k=2,w=3)", "minhash(k=2,b=8,r=1)"][scheme];
            let config = Config::new(scheme, "words", true).unwrap();
            let index = Index::in_memory(config.with_max_df(MaxDf::Documents(4))).unwrap();
            let mut writer = index.writer(WriterOptions::default()).unwrap();
            for (number, words) in texts.iter().enumerate() {
                let mut meta = Map::new();
                meta.insert("even".into(), json!(number % 2 == 0));
                let id = (number % 12).to_string();
                writer.add(Document::new(id, text(words)).with_meta(meta)).unwrap();
                if number % commits == 0 {
                    writer.commit().unwrap();
                }
            }
            writer.finish().unwrap();
            let snapshot = index.snapshot().unwrap();
            let all: Vec<DocAddress> = snapshot.live().collect();
            let is_chosen = |at: usize| chosen >> (at % 32) & 1 == 1;
            let chosen = all.iter().enumerate().filter(|(at, _)| is_chosen(*at));
            let chosen: Vec<DocAddress> = chosen.map(|(_, address)| *address).collect();
            let ids: Vec<String> =
                chosen.iter().map(|address| snapshot.id(*address).unwrap()).collect();
            let searcher = Searcher::new(snapshot);
            let query = query_of(kind, text(&query)).limit(usize::MAX);
            let mut expected = searcher.search(&query).unwrap().hits;
            expected.retain(|hit| ids.contains(&hit.id));
            let found = searcher.search_among(&query, &chosen).unwrap();
            prop_assert_eq!(by_id_among_equals(found), by_id_among_equals(expected));
        }
    }

    #[test]
    fn another_goal_than_hits_is_refused_among_documents() {
        let index = Index::in_memory(Config::new("kgram(k=1)", "words", true).unwrap()).unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let query = Query::text("a").goal(Goal::Trace);
        assert!(query.thresholds == Thresholds::default());
        let error = searcher.search_among(&query, &[]).unwrap_err();
        assert!(error.to_string().contains("goal `hits`"), "{error}");
    }
}
