//! Scores and ranks candidates.

use std::cmp::Ordering;

use super::candidate::Candidate;
use super::query::Query;
use super::searcher::Searcher;
use super::weigh::{self, Weigh, WeightedOverlap};
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::overlap::Overlap;
use crate::runtime::Stop;
use crate::similarity::Similarity;
use cento_api::{Rank, ShardCandidate};

/// A hit without its meta object.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The place of the document.
    pub address: DocAddress,
    /// The id. Empty until it is read.
    pub id: String,
    /// The overlap of the query (side a) and the document.
    pub overlap: Overlap,
    /// The weighted overlap. The weight of the document is 0 until it is needed.
    pub weighted: Option<WeightedOverlap>,
    /// The similarity of the texts, if it decided or both texts have been read.
    pub similarity: Option<Similarity>,
    /// The number of distinct short runs of the query in the text, for ties.
    pub runs: Option<u32>,
    /// The score that ranks before the overlap. 0 for every document if the overlap ranks first.
    score: f64,
}

impl Scored {
    pub fn new(counted: Candidate, in_query: u32, in_document: u32) -> Scored {
        let Candidate { address, overlap, .. } = counted;
        let overlap = Overlap::new(overlap, in_query, in_document);
        let (id, weighted, similarity, runs) = (String::new(), None, None, None);
        Scored { address, id, overlap, weighted, similarity, runs, score: 0.0 }
    }

    /// Returns the document at `address` that a shard returned as a candidate.
    pub fn of_candidate(named: &ShardCandidate, address: DocAddress, in_query: u32) -> Scored {
        let ShardCandidate { id, overlap, fingerprints, weight, similarity, runs, .. } = named;
        let counted = Candidate { address, overlap: *overlap, weight: *weight };
        let scored = Scored::new(counted, in_query, *fingerprints);
        Scored { id: id.clone(), similarity: *similarity, runs: *runs, ..scored }
    }

    /// Returns the document in the form that a shard sends.
    pub fn into_candidate(self) -> ShardCandidate {
        ShardCandidate {
            id: self.id,
            overlap: self.overlap.shared,
            fingerprints: self.overlap.in_b,
            weight: self.weighted.map_or(0, |weighted| weighted.shared),
            similarity: self.similarity,
            runs: self.runs,
            digest: None,
            shared: Vec::new(),
            excerpts: None,
        }
    }

    /// Adds the weight of the shared fingerprints. `in_query` is the weight of the query.
    pub fn weighed(self, shared: u64, in_query: u64, rank: Rank) -> Scored {
        let weighted = Some(WeightedOverlap { shared, in_query, in_document: 0 });
        let score = match rank {
            Rank::Overlap => 0.0,
            Rank::Weight | Rank::Passages => weigh::score(shared, self.overlap.in_b),
        };
        Scored { weighted, score, ..self }
    }

    /// Makes the runs of the query rank before the overlap, and the hit before hits without them.
    pub fn rank_by_runs(&mut self) {
        self.score = f64::from(self.runs.unwrap_or(0)) + 1.0;
    }

    /// Orders better hits first. Equal hits differ only in their ids.
    pub fn cmp_score(&self, other: &Scored) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        let by_overlap = by_score.then_with(|| other.overlap.shared.cmp(&self.overlap.shared));
        let resemblance = |scored: &Scored| scored.overlap.resemblance();
        by_overlap.then_with(|| resemblance(other).total_cmp(&resemblance(self)))
    }

    /// Orders better hits first. No two hits are equal, because documents with the same id are in
    /// different indexes.
    pub fn cmp_rank(&self, other: &Scored) -> Ordering {
        let by_id = self.cmp_score(other).then_with(|| self.id.cmp(&other.id));
        by_id.then_with(|| self.address.cmp(&other.address))
    }
}

/// Computes the weights of the fingerprints of weighed hits.
pub fn weigh_documents<'a>(
    searcher: &Searcher,
    hits: impl Iterator<Item = &'a mut Scored>,
    query: &Query,
) -> Result<()> {
    let is_unknown = |weighted: &&mut WeightedOverlap| weighted.in_document == 0;
    let unknown = hits.filter_map(|hit| {
        let weighted = hit.weighted.as_mut().filter(is_unknown)?;
        Some((hit.address, weighted))
    });
    let (addresses, unknown): (Vec<_>, Vec<_>) = unknown.unzip();
    let (weigh, memory) = (Weigh::new(searcher.snapshot()), query.memory.as_ref());
    let weights = searcher.weights_of_documents(&addresses, weigh, memory, query.stop())?;
    unknown.into_iter().zip(weights).for_each(|(of, weight)| of.in_document = weight);
    Ok(())
}

/// Returns the best `limit` hits, best first, with their ids.
pub fn best(
    snapshot: &Snapshot,
    mut hits: Vec<Scored>,
    limit: usize,
    stop: &Stop,
) -> Result<Vec<Scored>> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    if hits.len() > limit {
        hits.select_nth_unstable_by(limit - 1, Scored::cmp_score);
        let last = hits[limit - 1].clone();
        // Keep every hit that ties with the last, because the ids decide between them, not the
        // places of the documents.
        hits.retain(|hit| hit.cmp_score(&last) != Ordering::Greater);
    }
    name(snapshot, &mut hits, stop)?;
    hits.sort_unstable_by(Scored::cmp_rank);
    hits.truncate(limit);
    Ok(hits)
}

/// Reads the ids of hits.
pub fn name(snapshot: &Snapshot, hits: &mut [Scored], stop: &Stop) -> Result<()> {
    for (at, hit) in hits.iter_mut().enumerate() {
        // Reading an id takes some microseconds, so check the stop only now and then.
        if at.is_multiple_of(64) {
            stop.check()?;
        }
        hit.id = snapshot.id(hit.address)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document, Index, MaxDf, WriterOptions};

    /// Sets the threshold of a measure.
    type WithLeast<'a> = &'a dyn Fn(Query, f64) -> Query;

    #[test]
    fn a_document_is_a_hit_exactly_up_to_its_own_measures() {
        let index = Index::in_memory(Config::new("kgram(k=1)", "words", false).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for i in 0..24u32 {
            // Some words of the query, and words from elsewhere.
            let words =
                (0..=i % 9).map(|n| format!("w{n} ")).chain((0..i / 9).map(|n| format!("x{n} ")));
            writer.add(Document::new(i.to_string(), words.collect::<String>())).unwrap();
        }
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let query = Query::text("w0 w1 w2 w3 w4 w5 w6 w7 w8")
            .limit(usize::MAX)
            .max_df(MaxDf::Documents(u64::MAX))
            .rank(Rank::Weight);
        let is_hit = |query: &Query, id: &str| {
            searcher.search(query).unwrap().hits.iter().any(|hit| hit.id == id)
        };
        let all = searcher.search(&query).unwrap().hits;
        assert_eq!(all.len(), 24);
        for hit in all {
            let (similarity, weighted) = (hit.similarity, hit.weighted.unwrap());
            let with: [(f64, WithLeast); 4] = [
                (similarity.containment_of_a, &|query, least| query.min_containment(least)),
                (similarity.resemblance, &|query, least| query.min_resemblance(least)),
                (weighted.containment_of_a, &|query, least| query.min_weighted_containment(least)),
                (weighted.resemblance, &|query, least| query.min_weighted_resemblance(least)),
            ];
            for (number, (own, with)) in with.into_iter().enumerate() {
                let what = format!("document {}, measure {number}, {own}", hit.id);
                assert!(is_hit(&with(query.clone(), own), &hit.id), "{what}");
                let above = own + 1e-6;
                assert!(above > 1.0 || !is_hit(&with(query.clone(), above), &hit.id), "{what}");
            }
            assert!(is_hit(&query.clone().min_overlap(hit.overlap), &hit.id));
            assert!(!is_hit(&query.clone().min_overlap(hit.overlap + 1), &hit.id));
        }
    }
}
