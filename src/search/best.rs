//! The passage of all documents that is most like the query.
//!
//! The best near duplicate text of Sun, Qin and Wang (2013): definition 1 and algorithms 1 to 3.
//! Shared fingerprints whose windows may overlap or touch are merged. Around them, the longest text
//! that can have produced them is a candidate (section 5). The best candidate has the most q-grams
//! of the query (one-sided Jaccard of multisets). Among equals the shorter text wins. A heap of
//! upper bounds avoids comparing most candidates (section 6).
//!
//! The best candidate is then cut to the tokens between its first and last q-gram of the query. The
//! paper keeps as many tokens around the fingerprints as may have produced them, which includes
//! parts of the sentences before and after. The cut does not change the similarity. The place in
//! the query is cut in the same way.
//!
//! In two places, the paper's algorithms 2 and 3 would not give the answer of algorithm 1: they
//! stop at a bound equal to the best similarity, where a shorter text may tie, and they allow
//! |grams_c| (1 - max_sim) errors, which is too few for candidates longer than the query. The
//! bounds here are exact.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::ops::Range;

use crate::compare::align::within;
use crate::error::Result;
use crate::hash::{BuildKeyHasher, mix64};
use crate::runtime::Stop;

/// The parameters of a winnowing scheme, which determine how candidate texts are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// The number of tokens of a q-gram.
    pub q: usize,
    /// The number of q-grams of a window.
    pub w: usize,
}

/// A candidate text: a range of tokens of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The place of the document in the caller's list.
    pub document: usize,
    /// The half-open range of tokens.
    pub tokens: Range<usize>,
}

/// The best candidate, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The candidate with the most common q-grams.
    pub candidate: Candidate,
    /// The number of q-grams in common with the query.
    pub common: usize,
    /// The number of candidates that were compared.
    pub calculated: usize,
}

/// Returns the candidate texts around shared fingerprints in a document of `len` tokens.
/// `positions` ascend (section 5, `GenCandTexts`).
pub fn candidates(
    document: usize,
    positions: &[u32],
    len: usize,
    windows: Windows,
) -> Vec<Candidate> {
    let Windows { q, w } = windows;
    let are_continuous = |a: &u32, b: &u32| (b - a) as usize <= 2 * w + q - 2;
    let text = |merged: &[u32]| {
        let (first, last) = (merged[0] as usize, merged[merged.len() - 1] as usize);
        let start = (first + 1).saturating_sub(w);
        Candidate { document, tokens: start..(last + w + q - 1).min(len) }
    };
    positions.chunk_by(are_continuous).map(text).collect()
}

/// Cuts a candidate text at the tokens where parts of its document begin, into candidates.
pub fn within_parts(candidate: Candidate, breaks: &[usize]) -> impl Iterator<Item = Candidate> {
    let Candidate { document, tokens } = candidate;
    let inner = within(breaks, &tokens).iter().copied();
    let starts = std::iter::once(tokens.start).chain(inner.clone());
    let ends = inner.chain(std::iter::once(tokens.end));
    starts.zip(ends).map(move |(start, end)| Candidate { document, tokens: start..end })
}

/// The q-grams of the query and their counts.
pub struct Grams {
    q: usize,
    counts: HashMap<u64, u32, BuildKeyHasher>,
    total: usize,
}

impl Grams {
    /// Returns the q-grams of `tokens`. Fewer than q tokens make a single gram.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn new(tokens: &[u64], q: usize, stop: &Stop) -> Result<Grams> {
        let q = q.min(tokens.len()).max(1);
        let mut counts: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
        for (at, gram) in tokens.windows(q).enumerate() {
            stop.check_at(at)?;
            *counts.entry(hash(gram)).or_default() += 1;
        }
        Ok(Grams { q, counts, total: (tokens.len() + 1).saturating_sub(q) })
    }

    /// Returns the range from the first to the last q-gram of `tokens` in the query, or every token
    /// if the query has no q-gram of `tokens`.
    pub fn narrowed(&self, tokens: &[u64]) -> Range<usize> {
        let is_had = |gram: &[u64]| self.counts.contains_key(&hash(gram));
        let mut had = tokens.windows(self.q).map(is_had);
        let (first, last) = (had.clone().position(|had| had), had.rposition(|had| had));
        first.zip(last).map_or(0..tokens.len(), |(first, last)| first..last + self.q)
    }

    /// Returns the tokens of the query in q-grams of `tokens`, as ascending disjoint ranges.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn matched(&self, query: &[u64], tokens: &[u64], stop: &Stop) -> Result<Vec<Range<usize>>> {
        let had: HashSet<u64, BuildKeyHasher> = tokens.windows(self.q).map(hash).collect();
        let mut matched: Vec<Range<usize>> = Vec::new();
        for (at, gram) in query.windows(self.q).enumerate() {
            stop.check_at(at)?;
            if had.contains(&hash(gram)) {
                match matched.last_mut() {
                    Some(last) if last.end >= at => last.end = at + self.q,
                    _ => matched.push(at..at + self.q),
                }
            }
        }
        Ok(matched)
    }

    fn count_in(&self, len: usize) -> usize {
        (len + 1).saturating_sub(self.q)
    }

    /// `CalcSim2`: returns how many q-grams of `tokens` the query has, if at least `min`.
    fn common(&self, tokens: &[u64], min: usize, stop: &Stop) -> Result<Option<usize>> {
        let Some(errors_max) = self.count_in(tokens.len()).checked_sub(min) else {
            return Ok(None);
        };
        let (mut common, mut errors) = (0, 0);
        let mut seen: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
        for (at, gram) in tokens.windows(self.q).map(hash).enumerate() {
            stop.check_at(at)?;
            let has = self.counts.get(&gram).copied().unwrap_or(0);
            let seen = seen.entry(gram).or_default();
            *seen += 1;
            if *seen <= has {
                common += 1;
            } else {
                errors += 1;
                if errors > errors_max {
                    return Ok(None);
                }
            }
        }
        Ok(Some(common))
    }
}

fn hash(gram: &[u64]) -> u64 {
    gram.iter().fold(0, |hash, &token| mix64(hash ^ token))
}

/// A candidate not yet compared. The largest possible number of common q-grams comes first, then
/// the first document.
struct OpenCandidate {
    bound: usize,
    candidate: Candidate,
}

impl Ord for OpenCandidate {
    fn cmp(&self, other: &OpenCandidate) -> Ordering {
        // Visit the candidates of a document together, so that its text is read once.
        let place =
            |open: &OpenCandidate| Reverse((open.candidate.document, open.candidate.tokens.start));
        self.bound.cmp(&other.bound).then_with(|| place(self).cmp(&place(other)))
    }
}

impl PartialOrd for OpenCandidate {
    fn partial_cmp(&self, other: &OpenCandidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OpenCandidate {
    fn eq(&self, other: &OpenCandidate) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for OpenCandidate {}

/// Returns the best candidate (algorithm 2). Ties go to the shortest candidate, then to the first.
/// `None` if no candidate shares a q-gram with the query.
///
/// # Errors
/// When `tokens_of` fails. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn best(
    candidates: Vec<Candidate>,
    query: &Grams,
    tokens_of: &mut dyn FnMut(usize) -> Result<Vec<u64>>,
    stop: &Stop,
) -> Result<Option<Best>> {
    let bound = |candidate: &Candidate| query.count_in(candidate.tokens.len()).min(query.total);
    let mut open: BinaryHeap<OpenCandidate> = candidates
        .into_iter()
        .map(|candidate| OpenCandidate { bound: bound(&candidate), candidate })
        .collect();
    let (mut calculated, mut best): (usize, Option<(usize, Candidate)>) = (0, None);
    let mut text: Option<(usize, Vec<u64>)> = None;
    while let Some(OpenCandidate { bound, candidate }) = open.pop() {
        stop.check()?;
        let reached = best.as_ref().map_or(1, |(common, _)| *common);
        if bound < reached {
            break;
        }
        if text.as_ref().is_none_or(|(document, _)| *document != candidate.document) {
            text = Some((candidate.document, tokens_of(candidate.document)?));
        }
        let tokens = text.as_ref().map_or(&[][..], |(_, tokens)| tokens);
        calculated += 1;
        let common = query.common(&tokens[candidate.tokens.clone()], reached, stop)?;
        let Some(common) = common else { continue };
        let rank = |candidate: &Candidate| {
            (candidate.tokens.len(), candidate.document, candidate.tokens.start)
        };
        let is_better = best.as_ref().is_none_or(|(before, other)| {
            common > *before || common == *before && rank(&candidate) < rank(other)
        });
        if common > 0 && is_better {
            best = Some((common, candidate));
        }
    }
    Ok(best.map(|(common, candidate)| Best { candidate, common, calculated }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn continuous_signatures_are_merged_and_widened() {
        let windows = Windows { q: 3, w: 4 };
        // Positions that differ by at most 2 w + q - 2 = 9 are merged.
        let found = candidates(7, &[2, 11, 21, 40], 42, windows);
        let text = |tokens| Candidate { document: 7, tokens };
        assert_eq!(found, [text(0..17), text(18..27), text(37..42)]);
    }

    #[test]
    fn a_candidate_is_cut_where_parts_begin() {
        let check = |tokens: Range<usize>, expected: &[Range<usize>]| {
            let candidate = Candidate { document: 7, tokens };
            let pieces = within_parts(candidate, &[3, 9]).map(|piece| piece.tokens);
            assert_eq!(pieces.collect::<Vec<_>>(), expected);
        };
        check(0..12, &[0..3, 3..9, 9..12]);
        check(3..9, std::slice::from_ref(&(3..9)));
        check(4..10, &[4..9, 9..10]);
    }

    proptest! {
        #[test]
        fn a_narrowed_text_has_as_much_of_the_query_and_ends_with_it(
            query in prop::collection::vec(0u64..6, 1..20),
            text in prop::collection::vec(0u64..9, 0..40),
            q in 1usize..4,
        ) {
            let grams = Grams::new(&query, q, Stop::NEVER).unwrap();
            let narrowed = &text[grams.narrowed(&text)];
            let common =
                |tokens: &[u64]| grams.common(tokens, 0, Stop::NEVER).unwrap().unwrap_or(0);
            prop_assert_eq!(common(narrowed), common(&text));
            let matched = grams.matched(&query, narrowed, Stop::NEVER).unwrap();
            let is_in_gram = |at: usize| {
                let mut grams = query.windows(grams.q).enumerate();
                grams.any(|(start, gram)| {
                    (start..start + gram.len()).contains(&at)
                        && text.windows(gram.len()).any(|other| other == gram)
                })
            };
            let expected: Vec<usize> = (0..query.len()).filter(|&at| is_in_gram(at)).collect();
            prop_assert!(matched.windows(2).all(|two| two[0].end < two[1].start));
            prop_assert_eq!(matched.into_iter().flatten().collect::<Vec<_>>(), expected);
            if common(&text) > 0 {
                for end in [&narrowed[..grams.q], &narrowed[narrowed.len() - grams.q..]] {
                    prop_assert!(query.windows(grams.q).any(|gram| gram == end));
                }
            }
        }
    }

    /// Definition 1 with equation 1, candidate by candidate (algorithm 1).
    fn naive(
        candidates: &[Candidate],
        query: &[u64],
        q: usize,
        documents: &[Vec<u64>],
    ) -> Option<(usize, Candidate)> {
        let grams =
            |tokens: &[u64]| -> Vec<Vec<u64>> { tokens.windows(q).map(<[u64]>::to_vec).collect() };
        let wanted = grams(query);
        let mut best: Option<(usize, Candidate)> = None;
        for candidate in candidates {
            let mut left = wanted.clone();
            for gram in grams(&documents[candidate.document][candidate.tokens.clone()]) {
                if let Some(at) = left.iter().position(|other| *other == gram) {
                    left.swap_remove(at);
                }
            }
            let common = wanted.len() - left.len();
            let rank = |candidate: &Candidate| {
                (candidate.tokens.len(), candidate.document, candidate.tokens.start)
            };
            let is_better = best.as_ref().is_none_or(|(before, other)| {
                common > *before || common == *before && rank(candidate) < rank(other)
            });
            if common > 0 && is_better {
                best = Some((common, candidate.clone()));
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_heap_changes_nothing_but_the_work(
            query in proptest::collection::vec(0u64..4, 3..30),
            documents in proptest::collection::vec(proptest::collection::vec(0u64..4, 5..60), 1..6),
            texts in proptest::collection::vec((0usize..6, 0usize..60, 3usize..40), 1..20),
            q in 1usize..4,
        ) {
            let texts: Vec<Candidate> = texts
                .into_iter()
                .map(|(document, start, len)| {
                    let document = document % documents.len();
                    let start = start % documents[document].len();
                    let end = documents[document].len().min(start + len);
                    Candidate { document, tokens: start..end }
                })
                .collect();
            let expected = naive(&texts, &query, q, &documents);
            let mut tokens_of = |document: usize| Ok(documents[document].clone());
            let grams = Grams::new(&query, q, Stop::NEVER).unwrap();
            let found = best(texts.clone(), &grams, &mut tokens_of, Stop::NEVER).unwrap();
            if let Some(best) = &found {
                prop_assert!(best.calculated <= texts.len());
            }
            prop_assert_eq!(found.map(|best| (best.common, best.candidate)), expected);
        }
    }
}
