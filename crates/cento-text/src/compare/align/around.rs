//! Finds the passages around a passage, and decides whether a rewritten passage is only a copy
//! within other text.

use std::ops::Range;

use super::chain::CoveredRanges;
use super::copied::CopiedPassage;
use super::{AlignedPassage, PASSAGE_TOKENS_MIN, TextPair, similarity_steps};
use crate::error::Result;
use crate::runtime::Steps;

/// Maximum share of a rewritten passage's common words within a copied passage. Above the limit,
/// the remaining words are unlike, and the passage is only a copy surrounded by different text. The
/// limit also holds for the sum of the copied passages if there is much text beside the copies.
const COPY_SHARE: f64 = 0.85;

/// Minimum tokens on each side that count as text beside the copied passages. Fewer tokens are
/// inserted words.
const REST_TOKENS_MIN: usize = 25;

/// A passage is trimmed only if this share of its common words remains. If more words would be
/// lost, words of the stretch were moved, not added.
const TRIMMED_SHARE: f64 = 0.9;

/// Returns, for each rewritten passage, whether copied passages explain the common words: nearly
/// every word, or most words if there is much text beside the copies. Words that any two texts
/// share do not count.
pub fn copies(
    rewritten: &[AlignedPassage],
    copied: &[CopiedPassage],
    steps: &mut Steps<'_>,
) -> Result<Vec<bool>> {
    let around = Around::new(rewritten);
    let mut is_copy = vec![false; rewritten.len()];
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); rewritten.len()];
    for (number, CopiedPassage { query, hit, matched, .. }) in copied.iter().enumerate() {
        let part =
            AlignedPassage { matched: matched.clone(), ..AlignedPassage::unmatched(query, hit) };
        around.each(&part, steps, &mut |at| {
            let common = rewritten[at].common();
            is_copy[at] |= part.matched_tokens() as f64 >= COPY_SHARE * common;
            inside[at].push(number);
            true
        })?;
    }
    for (at, inside) in inside.iter().enumerate().filter(|(_, inside)| !inside.is_empty()) {
        let AlignedPassage { query, hit, .. } = &rewritten[at];
        let matched =
            |&number: &usize| copied[number].matched.iter().map(Range::len).sum::<usize>();
        let in_copies: usize = inside.iter().map(matched).sum();
        let is_most = in_copies as f64 >= COPY_SHARE * rewritten[at].common();
        let rest = |of: &Range<usize>, place: fn(&CopiedPassage) -> &Range<usize>| {
            let mut taken = CoveredRanges::default();
            inside.iter().for_each(|&number| taken.insert(place(&copied[number]).clone()));
            of.len() - taken.covered(of)
        };
        let (of_query, of_hit) = (rest(query, |one| &one.query), rest(hit, |one| &one.hit));
        is_copy[at] |= is_most && of_query.min(of_hit) >= REST_TOKENS_MIN;
    }
    Ok(is_copy)
}

/// Cuts off the ends of rewritten passages where only a single text has a stretch of words beyond
/// `parts`, the copied and noisy passages in it, whose ends are known to the word.
///
/// Rewritten passages consist of whole sentences, and one text may have joined its own sentence to
/// the shared sentence.
pub fn trim_ends(
    rewritten: &mut [AlignedPassage],
    parts: &[(&Range<usize>, &Range<usize>)],
    tokens: TextPair<&[u64]>,
    steps: &mut Steps<'_>,
) -> Result<()> {
    let around = Around::new(rewritten);
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); rewritten.len()];
    for (number, &(query, hit)) in parts.iter().enumerate() {
        let part = AlignedPassage::unmatched(query, hit);
        around.each(&part, steps, &mut |at| {
            inside[at].push(number);
            true
        })?;
    }
    for (whole, inside) in rewritten.iter_mut().zip(inside) {
        let inside = || inside.iter().map(|&number| parts[number]);
        // The first part and the last part, if the same part comes first (or last) in both texts.
        let first = inside().min_by_key(|(query, _)| query.start);
        if let Some((query, hit)) =
            first.filter(|first| inside().all(|(_, hit)| first.1.start <= hit.start))
        {
            let before =
                |whole: &Range<usize>, part: &Range<usize>| part.start.saturating_sub(whole.start);
            let cut = without_stretch(before(&whole.query, query), before(&whole.hit, hit));
            let in_query = whole.query.start + cut.0..whole.query.end;
            let in_hit = whole.hit.start + cut.1..whole.hit.end;
            if !whole.shorten(in_query, in_hit, tokens, steps)? {
                break;
            }
        }
        let last = inside().max_by_key(|(query, _)| query.end);
        if let Some((query, hit)) =
            last.filter(|last| inside().all(|(_, hit)| last.1.end >= hit.end))
        {
            let after =
                |whole: &Range<usize>, part: &Range<usize>| whole.end.saturating_sub(part.end);
            let cut = without_stretch(after(&whole.query, query), after(&whole.hit, hit));
            let in_query = whole.query.start..whole.query.end - cut.0;
            let in_hit = whole.hit.start..whole.hit.end - cut.1;
            if !whole.shorten(in_query, in_hit, tokens, steps)? {
                break;
            }
        }
    }
    Ok(())
}

/// Returns how many tokens to cut off each side, of the tokens beyond the shared part.
fn without_stretch(of_query: usize, of_hit: usize) -> (usize, usize) {
    let (shorter, longer) = (of_query.min(of_hit), of_query.max(of_hit));
    // The side without a stretch has fewer tokens there than a passage. The tokens may be words
    // with wrong letters, so the same number of tokens remains on both sides.
    let is_stretch = shorter < PASSAGE_TOKENS_MIN && longer >= shorter + PASSAGE_TOKENS_MIN;
    if is_stretch { (of_query - shorter, of_hit - shorter) } else { (0, 0) }
}

/// Passages, in an order to look up those around a given passage.
pub struct Around<'a> {
    passages: &'a [AlignedPassage],
    /// Indexes of `passages`, by start in the query.
    order: Vec<u32>,
    /// Length of the longest passage in the query, which bounds the search backwards.
    len_max: usize,
    /// Tokens of the query inside any passage.
    covered: CoveredRanges,
}

impl<'a> Around<'a> {
    /// Sorts the passages by start in the query.
    pub fn new(passages: &'a [AlignedPassage]) -> Around<'a> {
        let mut order: Vec<u32> = (0..passages.len() as u32).collect();
        order.sort_unstable_by_key(|&at| passages[at as usize].query.start);
        let mut covered = CoveredRanges::default();
        passages.iter().for_each(|passage| covered.insert(passage.query.clone()));
        let len_max = passages.iter().map(|passage| passage.query.len()).max().unwrap_or(0);
        Around { passages, order, len_max, covered }
    }

    /// Splits `passages` into passages outside every passage of `self`, and passages inside one.
    pub fn parted(
        &self,
        passages: Vec<AlignedPassage>,
        steps: &mut Steps<'_>,
    ) -> Result<(Vec<AlignedPassage>, Vec<AlignedPassage>)> {
        let (mut outside, mut inside) = (Vec::new(), Vec::new());
        for passage in passages {
            let part = if self.holds(&passage, steps)? { &mut inside } else { &mut outside };
            part.push(passage);
        }
        Ok((outside, inside))
    }

    /// Returns whether a single passage of `self` holds most of `part`, on both sides.
    pub fn holds(&self, part: &AlignedPassage, steps: &mut Steps<'_>) -> Result<bool> {
        let mut is_held = false;
        self.each(part, steps, &mut |_| {
            is_held = true;
            false
        })?;
        Ok(is_held)
    }

    /// Calls `each` with the index of every passage that holds most of `part`, on both sides. Stops
    /// when the call returns `false` or the steps run out.
    fn each(
        &self,
        part: &AlignedPassage,
        steps: &mut Steps<'_>,
        each: &mut dyn FnMut(usize) -> bool,
    ) -> Result<()> {
        // Most parts are near no passage, so a cheap test comes first.
        if self.covered.covered(&part.query) * 2 <= part.query.len() {
            return Ok(());
        }
        let start = |at: &u32| self.passages[*at as usize].query.start;
        let first = self.order.partition_point(|at| start(at) + self.len_max < part.query.start);
        for &at in self.order[first..].iter().take_while(|at| start(at) < part.query.end) {
            if !steps.take(1)? {
                return Ok(());
            }
            if self.passages[at as usize].holds(part) && !each(at as usize) {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl AlignedPassage {
    /// Replaces the passage by a shorter passage within it, if most of the common tokens remain.
    /// Returns `false` if comparing the sides takes too many steps.
    fn shorten(
        &mut self,
        query: Range<usize>,
        hit: Range<usize>,
        tokens: TextPair<&[u64]>,
        steps: &mut Steps<'_>,
    ) -> Result<bool> {
        if query == self.query && hit == self.hit {
            return Ok(true);
        }
        let is_taken = steps.take(similarity_steps(&query, &hit))?;
        if is_taken {
            let shorter = AlignedPassage::of(query, hit, tokens);
            if shorter.common() >= TRIMMED_SHARE * self.common() {
                *self = shorter;
            }
        }
        Ok(is_taken)
    }

    /// Returns the number of tokens common to both sides.
    fn common(&self) -> f64 {
        self.similarity * (self.query.len() + self.hit.len()) as f64 / 2.0
    }

    /// Returns whether most of `other` is in this passage, on both sides.
    fn holds(&self, other: &AlignedPassage) -> bool {
        shared(&self.query, &other.query) * 2 > other.query.len()
            && shared(&self.hit, &other.hit) * 2 > other.hit.len()
    }
}

/// Returns the number of places that two ranges share.
fn shared(a: &Range<usize>, b: &Range<usize>) -> usize {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

#[cfg(test)]
mod tests {
    use super::super::testing::analyzed;
    use super::super::{Genre, align};
    use crate::hash::mix64;
    use crate::runtime::Stop;
    use crate::text::AnalyzedText;

    fn words(seed: u64, count: usize) -> String {
        let word = |at| format!("{:05x}", mix64(seed << 32 | at) >> 44);
        (0..count as u64).map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_run_copied_into_a_sentence_of_other_words_is_that_run_alone() {
        // Regression: the sentences around a run of 31 to 38 words became a rewritten passage,
        // because they share that many words of 40 to 60.
        for (len, around) in (31..=38).flat_map(|len| [3, 6, 9].map(|around| (len, around))) {
            let text = |seed: u64| {
                let own = |at: u64| words(seed << 8 | at, around);
                let run = words(len as u64, len);
                let text = format!("{}. {} {run} {}. {}.", own(1), own(2), own(3), own(4));
                analyzed(text)
            };
            let [query, document] = [text(71), text(72)];
            let found = align(query.side(), document.side(), Genre::Prose, Stop::NEVER).unwrap();
            let places: Vec<_> = found
                .passages
                .iter()
                .map(|found| (found.query.clone(), found.hit.clone()))
                .collect();
            let run = 2 * around..2 * around + len;
            assert_eq!(places, [(run.clone(), run)], "{len} within {around}");
        }
    }

    #[test]
    fn sentences_copied_from_one_text_around_other_text_are_passages_of_their_own() {
        // Regression: a single rewritten passage matched the words that any two texts share.
        let [first, last] = [words(1, 17), words(2, 33)];
        // A quarter of the words are words that any two texts share.
        let of_any = ["the", "of", "and", "in", "to", "a"];
        let own = |seed: u64| -> String {
            let word = |at: u64| match mix64(seed << 8 | at) % 8 {
                0 | 1 => of_any[mix64(seed << 16 | at) as usize % 6].to_owned(),
                _ => words(seed << 8 | at, 1),
            };
            (0..46).map(|at| word(at) + if at % 23 == 22 { ". " } else { " " }).collect()
        };
        let text = |middle: String| {
            let text = format!("{first}. {middle} {last}.");
            analyzed(text)
        };
        let [query, document] = [text(own(71)), text(own(72))];
        let found = align(query.side(), document.side(), Genre::Prose, Stop::NEVER).unwrap();
        let places: Vec<_> = found
            .passages
            .iter()
            .map(|found| (found.query.clone(), found.matched_tokens()))
            .collect();
        let after = 17 + 2 * 23;
        assert_eq!(places, [(0..17, 17), (after..after + 33, 33)]);
    }

    #[test]
    fn each_copy_of_a_refrain_is_that_refrain() {
        // The second and the third began in the one before, and went through a verse.
        let refrain =
            "Turn, wheel, turn, the river is long\nTurn, wheel, turn, and sing me a song\n";
        let poem = format!(
            "The miller rose before the sun\nAnd counted all his sacks\n{refrain}\n\
             His daughter swept the wooden floor\nThe carter greased his axle\n{refrain}\n\
             The winter came, the water froze\nNo flour for the baker\n{refrain}"
        );
        let [poem, refrain] = [poem, refrain.to_owned()].map(analyzed);
        let found = align(poem.side(), refrain.side(), Genre::Prose, Stop::NEVER).unwrap();
        let places: Vec<_> =
            found.passages.iter().map(|found| (found.query.clone(), found.hit.clone())).collect();
        let all = 0..15;
        assert_eq!(places, [(11..26, all.clone()), (37..52, all.clone()), (63..78, all)]);
    }

    /// Checks that two texts have a single passage, between these words.
    fn check_between([a, b]: [&str; 2], ends: [&str; 2]) {
        let texts = [a, b].map(analyzed);
        let [query, document] = texts.each_ref().map(AnalyzedText::side);
        let found = align(query, document, Genre::Prose, Stop::NEVER).unwrap().passages;
        let [found] = &found[..] else { panic!("{found:?}") };
        for (side, place) in [(query, &found.query), (document, &found.hit)] {
            let spans = &side.tokens.spans[place.clone()];
            let text = &side.text[spans[0].start as usize..spans[place.len() - 1].end as usize];
            assert!(text.starts_with(ends[0]) && text.ends_with(ends[1]), "{text}");
        }
    }

    #[test]
    fn a_sentence_joined_to_a_noisy_copy_is_not_part_of_the_passage() {
        // It was 41 % of the passage, on one side alone.
        let report = "Mr. Thompson moved that the amount be increased by twenty pounds a year, and \
            pointed out that the district had grown by nearly four thousand souls since the last \
            appointment was made, The Sheringham lifeboat, launched with great difficulty through \
            a tremendous surf, succeeded in taking off eleven men, who were landed in an exhausted \
            condition at Cromer and conveyed to the Red Lion inn, where every attention was paid \
            to them by the inhabitants.";
        let letter = "Extract from a private letter. The Sheringham lifeboat, launched with gteat \
            difficulty through a tremendous surf, succeeded in taking off eleven men, who were \
            1anded in an cxhausted condition at Cromer and conveyed to the Red Lion inn, where \
            every attentian was paid to them by the inhabitants.";
        let ends = ["The Sheringham lifeboat", "by the inhabitants"];
        check_between([report, letter], ends);
        check_between([letter, report], ends);
    }

    #[test]
    fn a_sentence_that_goes_on_after_a_noisy_quotation_is_not_part_of_the_passage() {
        let poem = "Shall I compare thee to a summer's day?\nThou art more lovely and more \
            temperate:\nRough winds do shake the darling buds of May,\n";
        let essay = "The poet writes as follows.\nShall I eompare thee to a summer's day?\nThou \
            arl more lovely and more temperate:\nRough winds do shake the darling buds of May,\n\
            Such were the lines that he addressed to his friend, and which every schoolboy has \
            construed since.\n";
        // Too few words precede the first misread word to be part of the passage.
        let ends = ["thee to", "buds of May"];
        check_between([poem, essay], ends);
        check_between([essay, poem], ends);
    }
}
