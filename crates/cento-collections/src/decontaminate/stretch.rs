//! Finds the stretches of a document that have most of a text.

use std::cmp::Reverse;
use std::ops::Range;

use super::SHORT;
use super::wanted::WantedText;
use cento_api::error::Result;
use cento_text::runtime::Stop;
use cento_text::text::ranges::joined;

/// A stretch of a document where a text occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextOccurrence {
    /// The tokens of the document, from the first common run to the last.
    pub tokens: Range<usize>,
    /// The number and the weight of the text's tokens that occur there.
    pub matched: (u32, u64),
    /// The tokens of the document in common runs, as ascending ranges that do not touch.
    pub of_document: Vec<Range<usize>>,
    /// The tokens of the text in common runs, as ascending ranges that do not touch.
    pub of_text: Vec<Range<usize>>,
}

/// The runs of a document between two places.
#[derive(Debug, Clone)]
pub(super) struct Region<'a> {
    /// The hashes of all tokens of the document.
    pub tokens: &'a [u64],
    /// The values of all runs of the document.
    pub runs: &'a [u64],
    /// The places of the runs that count.
    pub places: Range<usize>,
}

/// The tokens of a text that a stretch has.
struct Cover<'a> {
    wanted: &'a WantedText,
    k: usize,
    /// How often the stretch has each run of the text.
    runs: Vec<u32>,
    /// How many of these runs cover each token of the text.
    tokens: Vec<u32>,
    /// The number and the weight of covered tokens.
    matched: (u32, u64),
}

impl Cover<'_> {
    fn new(wanted: &WantedText, k: usize) -> Cover<'_> {
        let (runs, tokens) = (vec![0; wanted.runs().len()], vec![0; wanted.tokens.len()]);
        Cover { wanted, k, runs, tokens, matched: (0, 0) }
    }

    fn add(&mut self, run: usize) {
        self.runs[run] += 1;
        if self.runs[run] > 1 {
            return;
        }
        for &place in self.wanted.places(run) {
            for token in place as usize..place as usize + self.k {
                self.tokens[token] += 1;
                if self.tokens[token] == 1 {
                    self.matched.0 += 1;
                    self.matched.1 += u64::from(self.wanted.weights()[token]);
                }
            }
        }
    }

    fn remove(&mut self, run: usize) {
        self.runs[run] -= 1;
        if self.runs[run] > 0 {
            return;
        }
        for &place in self.wanted.places(run) {
            for token in place as usize..place as usize + self.k {
                self.tokens[token] -= 1;
                if self.tokens[token] == 0 {
                    self.matched.0 -= 1;
                    self.matched.1 -= u64::from(self.wanted.weights()[token]);
                }
            }
        }
    }

    /// Removes a run if that loses no token.
    fn is_removed(&mut self, run: usize) -> bool {
        let before = self.matched;
        self.remove(run);
        let is_same = self.matched == before;
        if !is_same {
            self.add(run);
        }
        is_same
    }
}

/// A place of a region with a run of the text, and the number of the run.
type Common = (usize, usize);

/// Returns stretches of a region where the text occurs, without overlaps. A stretch where the text
/// occurs is missing only if it overlaps a returned stretch. The first stretch has most tokens,
/// then most weight, then is the shortest, so that it does not begin in one copy of the text and
/// end in the next copy. Among equals the first in the region wins.
///
/// # Errors
/// [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
pub(super) fn all(
    wanted: &WantedText,
    region: Region<'_>,
    k: usize,
    stop: &Stop,
) -> Result<Vec<TextOccurrence>> {
    if wanted.tokens.len() < SHORT {
        return verbatim(wanted, region, stop);
    }
    let mut common: Vec<Common> = Vec::new();
    for place in region.places {
        stop.check_at(place)?;
        common.extend(wanted.number_of(region.runs[place]).map(|run| (place, run)));
    }
    let mut found = Vec::new();
    if let Some((_, best)) = strongest(wanted, &common, usize::MAX, k, stop)? {
        let (before, after) = beside(&common, &best.tokens, k);
        found.push(best);
        add_others(wanted, before, k, stop, &mut found)?;
        add_others(wanted, after, k, stop, &mut found)?;
    }
    Ok(found)
}

/// Adds the stretches of these common runs where the text occurs, from the first on. Always taking
/// the strongest would cost as many passes as there are stretches.
fn add_others(
    wanted: &WantedText,
    mut common: &[Common],
    k: usize,
    stop: &Stop,
    found: &mut Vec<TextOccurrence>,
) -> Result<()> {
    while let Some((first, stretch)) = strongest(wanted, common, wanted.window(), k, stop)? {
        let (before, after) = beside(common, &stretch.tokens, k);
        // The slice has at most two windows, because the text does not occur earlier.
        add_others(wanted, before.get(first..).unwrap_or_default(), k, stop, found)?;
        found.push(stretch);
        common = after;
    }
    Ok(())
}

/// Returns the common runs before these tokens and after them.
fn beside<'a>(
    common: &'a [Common],
    tokens: &Range<usize>,
    k: usize,
) -> (&'a [Common], &'a [Common]) {
    let before = common.partition_point(|(place, _)| place + k <= tokens.start);
    let after = common.partition_point(|(place, _)| *place < tokens.end);
    (&common[..before], &common[after..])
}

/// Returns the strongest stretch of these common runs where the text occurs, with the number of the
/// run where the first stretch may begin. Considers only stretches that end within `reach` places
/// of the first.
fn strongest(
    wanted: &WantedText,
    common: &[Common],
    reach: usize,
    k: usize,
    stop: &Stop,
) -> Result<Option<(usize, TextOccurrence)>> {
    let mut cover = Cover::new(wanted, k);
    let mut first = 0;
    let mut first_end: Option<usize> = None;
    let mut best: Option<(Strength, Range<usize>)> = None;
    for (last, &(place, run)) in common.iter().enumerate() {
        stop.check_at(last)?;
        if first_end.is_some_and(|end| place - end >= reach) {
            break;
        }
        cover.add(run);
        while common[first].0 + wanted.window() < place + k {
            cover.remove(common[first].1);
            first += 1;
        }
        // Drop runs at the beginning whose tokens are all covered by other runs.
        while first < last && cover.is_removed(common[first].1) {
            first += 1;
        }
        if cover.matched.0 >= wanted.least().0 && cover.matched.1 >= wanted.least().1 {
            first_end = first_end.or(Some(place));
            let strength = (cover.matched, Reverse(place - common[first].0));
            if best.as_ref().is_none_or(|(other, _)| strength > *other) {
                best = Some((strength, first..last + 1));
            }
        }
    }
    let stretch = best.map(|(_, range)| of_runs(wanted, &common[range], k));
    let begin = |end: usize| common.partition_point(|(place, _)| place + wanted.window() < end + k);
    Ok(first_end.map(begin).zip(stretch))
}

/// The number and the weight of covered tokens, and the length of a stretch.
type Strength = ((u32, u64), Reverse<usize>);

fn of_runs(wanted: &WantedText, common: &[Common], k: usize) -> TextOccurrence {
    let mut cover = Cover::new(wanted, k);
    common.iter().for_each(|&(_, run)| cover.add(run));
    let of_document = joined(common.iter().map(|&(place, _)| place..place + k));
    let covered = cover.tokens.iter().enumerate().filter(|(_, count)| **count > 0);
    let of_text = joined(covered.map(|(place, _)| place..place + 1));
    let ends = (of_document.first(), of_document.last());
    let (Some(first), Some(last)) = ends else { unreachable!("a stretch has a run") };
    let (tokens, matched) = (first.start..last.end, cover.matched);
    TextOccurrence { tokens, matched, of_document, of_text }
}

/// Returns the places of a region where the text occurs word for word.
fn verbatim(wanted: &WantedText, region: Region<'_>, stop: &Stop) -> Result<Vec<TextOccurrence>> {
    let len = wanted.tokens.len();
    let mut found: Vec<TextOccurrence> = Vec::new();
    for place in region.places {
        stop.check_at(place)?;
        let is_free = found.last().is_none_or(|last| last.tokens.end <= place);
        if is_free && region.tokens.get(place..place + len) == Some(&wanted.tokens) {
            let tokens = place..place + len;
            found.push(TextOccurrence {
                tokens: tokens.clone(),
                matched: (len as u32, wanted.weight()),
                of_document: vec![tokens],
                of_text: std::iter::once(0..len).collect(),
            });
        }
    }
    Ok(found)
}
