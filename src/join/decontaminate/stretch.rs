//! The stretch of a document that has most of a text.

use std::ops::Range;

use super::SHORT;
use super::wanted::Wanted;
use crate::error::Result;
use crate::join::ranges::joined;
use crate::runtime::Stop;

/// A stretch of a document where a text occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The tokens of the document, from the first common run to the last.
    pub tokens: Range<usize>,
    /// The number of tokens of the text that occur there, and of its own.
    pub matched: (u32, u32),
    /// The tokens of the document in common runs: ascending ranges that do not touch.
    pub of_document: Vec<Range<usize>>,
    /// The tokens of the text in common runs.
    pub of_text: Vec<Range<usize>>,
}

/// The runs of a document between two places.
#[derive(Debug, Clone)]
pub(super) struct Region<'a> {
    /// The hashes of all its tokens.
    pub tokens: &'a [u64],
    /// The values of all its runs.
    pub runs: &'a [u64],
    /// The places of the runs that count.
    pub places: Range<usize>,
}

/// The tokens of a text that a stretch has.
struct Cover<'a> {
    wanted: &'a Wanted,
    k: usize,
    /// How often the stretch has each run.
    runs: Vec<u32>,
    /// How many of the runs cover each token.
    tokens: Vec<u32>,
    /// The number of covered tokens, and of own ones.
    matched: (u32, u32),
}

impl Cover<'_> {
    fn new(wanted: &Wanted, k: usize) -> Cover<'_> {
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
                    self.matched.1 += u32::from(self.wanted.is_own(token));
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
                    self.matched.1 -= u32::from(self.wanted.is_own(token));
                }
            }
        }
    }

    /// Removes a run if no token is lost.
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

/// Returns the stretch of a region where the text occurs: of several the one with most of its
/// tokens, then most of its own, then the first; `None` if it occurs in none.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub(super) fn best(
    wanted: &Wanted,
    region: Region<'_>,
    k: usize,
    stop: &Stop,
) -> Result<Option<Stretch>> {
    if wanted.tokens.len() < SHORT {
        return verbatim(wanted, region, stop);
    }
    let mut common: Vec<(usize, usize)> = Vec::new();
    for place in region.places {
        stop.check_at(place)?;
        common.extend(wanted.number_of(region.runs[place]).map(|run| (place, run)));
    }
    let mut cover = Cover::new(wanted, k);
    let (mut first, mut end) = (0, 0);
    let mut best: Option<((u32, u32), Range<usize>)> = None;
    while let Some(&(start, run)) = common.get(first) {
        stop.check_at(first)?;
        while let Some(&(_, run)) =
            common.get(end).filter(|(place, _)| place + k <= start + wanted.window())
        {
            cover.add(run);
            end += 1;
        }
        let is_better = best.as_ref().is_none_or(|(matched, _)| cover.matched > *matched);
        if cover.matched.0 >= wanted.least().0 && cover.matched.1 >= wanted.least().1 && is_better {
            best = Some((cover.matched, first..end));
        }
        cover.remove(run);
        first += 1;
    }
    Ok(best.map(|(matched, range)| tightened(wanted, &common[range], k, matched)))
}

/// Makes a stretch of these common runs, without those at its ends that nothing depends on.
fn tightened(
    wanted: &Wanted,
    mut common: &[(usize, usize)],
    k: usize,
    matched: (u32, u32),
) -> Stretch {
    let mut cover = Cover::new(wanted, k);
    common.iter().for_each(|&(_, run)| cover.add(run));
    while let Some((&(_, run), rest)) = common.split_last()
        && cover.is_removed(run)
    {
        common = rest;
    }
    while let Some((&(_, run), rest)) = common.split_first()
        && cover.is_removed(run)
    {
        common = rest;
    }
    let of_document = joined(common.iter().map(|&(place, _)| place..place + k));
    let covered = cover.tokens.iter().enumerate().filter(|(_, count)| **count > 0);
    let of_text = joined(covered.map(|(place, _)| place..place + 1));
    let ends = (of_document.first(), of_document.last());
    let (Some(first), Some(last)) = ends else { unreachable!("a stretch has a run") };
    Stretch { tokens: first.start..last.end, matched, of_document, of_text }
}

/// Returns the first place of a region where the text occurs word for word.
fn verbatim(wanted: &Wanted, region: Region<'_>, stop: &Stop) -> Result<Option<Stretch>> {
    let len = wanted.tokens.len();
    for place in region.places {
        stop.check_at(place)?;
        if region.tokens.get(place..place + len) == Some(&wanted.tokens) {
            let tokens = place..place + len;
            return Ok(Some(Stretch {
                tokens: tokens.clone(),
                matched: (len as u32, wanted.own()),
                of_document: vec![tokens],
                of_text: std::iter::once(0..len).collect(),
            }));
        }
    }
    Ok(None)
}
