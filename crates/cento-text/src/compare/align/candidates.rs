//! Finds rewritten text and summaries beside copied passages.

use std::ops::Range;

use super::alike::{self, seeds, seeds_max};
use super::chain::CoveredRanges;
use super::copied::CopiedPassage;
use super::order::OrderedPair;
use super::rewritten::Candidate;
use super::summarized::{self, FirstLook, Open};
use super::sums::Bags;
use super::vocabulary::{OtherText, Vocabulary};
use super::{
    AlignedPassage, COPIED_TOKENS_MIN, Prepared, TextPair, rewritten, sentences, similarity_steps,
};
use crate::error::Result;
use crate::runtime::Steps;

/// Accepts the candidates that are passages, as far as the steps suffice.
///
/// Text of few different words is rejected, because any two tables share most of their numbers, in
/// whatever order, and all numbers count as one word. A copied table is found as a copied passage.
fn judged(
    candidates: Vec<Candidate>,
    pair: OrderedPair<'_>,
    steps: &mut Steps<'_>,
) -> Result<Vec<AlignedPassage>> {
    steps.begin_stage();
    let mut passages = Vec::new();
    for Candidate { query: in_query, hit: in_hit, similarity_min } in candidates {
        if !steps.take(similarity_steps(&in_query, &in_hit))? {
            break;
        }
        let passage = AlignedPassage::of(in_query, in_hit, pair.tokens());
        if passage.similarity >= similarity_min
            && !pair.query.has_few_words(&passage.query)
            && !pair.document.has_few_words(&passage.hit)
        {
            passages.push(passage);
        }
    }
    Ok(passages)
}

/// Passages beside the copied passages. Passages may contain passages.
#[derive(Default)]
pub struct Candidates {
    /// Rewritten passages, accepted by `judged`.
    pub rewritten: Vec<AlignedPassage>,
    /// Summaries of the query in the document, or of the document in the query.
    pub summarized: Vec<AlignedPassage>,
}

impl Candidates {
    /// Finds the candidates beside `copied`. `prepared` must come from the text that is searched
    /// for.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn new(
        pair: OrderedPair<'_>,
        prepared: &Prepared,
        copied: &[CopiedPassage],
        steps: &mut Steps<'_>,
    ) -> Result<Candidates> {
        let stop = steps.stop();
        // Only the prepared text has known words. A copy of a whole text leaves nothing to find.
        let [known, other] = pair.in_order([pair.query, pair.document]);
        let [in_known, in_other]: [fn(&CopiedPassage) -> &Range<usize>; 2] =
            pair.in_order([|copied| &copied.query, |copied| &copied.hit]);
        let open_in_known = open(&prepared.sentences, copied, in_known);
        if !open_in_known.contains(&true) {
            return Ok(Candidates::default());
        }
        let ranges = sentences::ranges(other, stop)?;
        let open_in_other = open(&ranges, copied, in_other);
        if !open_in_other.contains(&true) {
            return Ok(Candidates::default());
        }
        let words = prepared.words(&known.tokens.hashes, stop)?;
        let other = OtherText::new(words, ranges, &other.tokens.hashes, stop)?;
        let mut look = FirstLook::new(words.count());
        let open = [&open_in_known[..], &open_in_other];
        if !alike::may_be(words, &other, open, &mut look, stop)?
            && !look.may_be(words, &other, open)
        {
            return Ok(Candidates::default());
        }
        let texts = Vocabulary::new(words, other, pair.is_turned, stop)?;
        let open = pair.in_order([open_in_known, open_in_other]);
        Candidates::of(pair, &texts, open, steps)
    }

    /// Finds candidates among the `open` sentences, which no long copied passage touches.
    fn of(
        pair: OrderedPair<'_>,
        texts: &Vocabulary<'_>,
        [open, open_in_hit]: [Vec<bool>; 2],
        steps: &mut Steps<'_>,
    ) -> Result<Candidates> {
        steps.begin_stage();
        let TextPair { a: q, b: d } = pair.tokens();
        let seeds_max = seeds_max(q.len().min(d.len()));
        let seeds = seeds(texts, [&open, &open_in_hit], seeds_max, steps)?;
        let mut bags = Bags::new(texts);
        steps.begin_stage();
        let rewritten = rewritten::passages(pair, &mut bags, seeds, steps)?;
        let rewritten = judged(rewritten, pair, steps)?;
        let open = [
            &Open::new(texts.q(), open, &rewritten, |passage| &passage.query),
            &Open::new(texts.d(), open_in_hit, &rewritten, |passage| &passage.hit),
        ];
        steps.begin_stage();
        let summarized = summarized::passages(pair, texts, open, steps)?
            .into_iter()
            .map(|(query, hit)| Candidate { query, hit, similarity_min: 0.0 })
            .collect();
        let summarized = judged(summarized, pair, steps)?;
        Ok(Candidates { rewritten, summarized })
    }
}

/// Returns, for each sentence, whether no long copied passage touches it.
fn open(
    sentences: &[Range<usize>],
    copied: &[CopiedPassage],
    place: fn(&CopiedPassage) -> &Range<usize>,
) -> Vec<bool> {
    let mut long = CoveredRanges::default();
    for copied in copied.iter().filter(|copied| copied.in_runs >= COPIED_TOKENS_MIN) {
        long.insert(place(copied).clone());
    }
    // A sentence is closed even if only a part of it was copied.
    sentences.iter().map(|sentence| long.covered(sentence) == 0).collect()
}
