//! Cuts passages of other texts out of a document.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use super::verdict::{CutPassage, Holder};
use crate::cutting::{Cutting, around, whole_letters, within_parts};
use crate::seam::{has_words, widened};
use cento::index::Document;
use cento::search::Boilerplate;
use cento_api::error::Result;
use cento_text::compare::measure::overlap::stretches;
use cento_text::compare::runs::Place;
use cento_text::runtime::Stop;
use cento_text::text::{Analyzer, Tokens};

/// A document without passages of other documents, as far as they have been cut.
#[derive(Debug)]
pub struct Rest<'a> {
    document: Cow<'a, Document>,
    /// `None` before the first cut, because most documents have no passages of others.
    cutting: Option<Cutting>,
    cut: Vec<CutPassage>,
    round: u32,
}

/// How much of a text a round of cutting has removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutExtent {
    /// No passage was found.
    Nothing,
    /// Passages were cut, and text remains.
    Part,
    /// Passages were cut, and no word remains.
    All,
}

impl<'a> Rest<'a> {
    /// Begins with the whole document.
    pub fn of(document: &'a Document) -> Rest<'a> {
        Rest { document: Cow::Borrowed(document), cutting: None, cut: Vec::new(), round: 0 }
    }

    /// Returns the document with the remaining text.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the passages that were cut, in the order of the original text.
    pub fn into_cuts(self) -> Vec<CutPassage> {
        self.cut
    }

    /// Cuts every run of at least `len_min` tokens that another text shares, except boilerplate,
    /// with the marks and blanks that belong to the run. A run across several parts is cut from
    /// each part.
    ///
    /// Parts that meet after a cut may form further runs, so the caller repeats the search.
    ///
    /// # Errors
    /// When a text is too large to be analyzed. [`Error::Cancelled`](cento::Error::Cancelled) soon
    /// after `stop`.
    pub fn cut(
        &mut self,
        analyzer: &Analyzer,
        boilerplate: Option<&Boilerplate>,
        others: &[(Holder, String)],
        len_min: usize,
        stop: &Stop,
    ) -> Result<CutExtent> {
        let Document { text, parts, .. } = &*self.document;
        let (mut tokens, mut other) = (Tokens::default(), Tokens::default());
        analyzer.analyze(text, &mut tokens, stop)?;
        if let Some(boilerplate) = boilerplate {
            // Hidden tokens match nothing, so hiding boilerplate on this side is enough.
            boilerplate.hide_by(analyzer, text, &mut tokens, Place::Query, stop)?;
        }
        let (count, around) = (tokens.hashes.len(), around(self.round) as usize);
        let mut ranges: Vec<(Range<usize>, usize)> = Vec::new();
        for (at, (_, text)) in others.iter().enumerate() {
            analyzer.analyze(text, &mut other, stop)?;
            for range in stretches(&tokens.hashes, &other.hashes, len_min, stop)? {
                let start = range.start.saturating_sub(around);
                ranges.push((start..(range.end + around).min(count), at));
            }
        }
        let ranges = apart(ranges);
        if ranges.is_empty() {
            return Ok(CutExtent::Nothing);
        }
        let mut bytes: Vec<(u32, u32)> = Vec::new();
        for (range, _) in &ranges {
            // In scripts without spaces, tokens are overlapping pairs of letters.
            let start = tokens.spans[range.start].start.max(bytes.last().map_or(0, |last| last.1));
            bytes.push((start, tokens.spans[range.end - 1].end.max(start)));
        }
        let mut is_found = vec![false; count];
        ranges.iter().for_each(|(range, _)| is_found[range.clone()].fill(true));
        let mut pieces: Vec<((u32, u32), usize)> = Vec::new();
        for (bytes, (_, at)) in whole_letters(text, &bytes).iter().zip(&ranges) {
            pieces.extend(within_parts(&[*bytes], parts).0.into_iter().map(|piece| (piece, *at)));
        }
        let found: Vec<(u32, u32)> = pieces.iter().map(|(piece, _)| *piece).collect();
        let wide = widened(text, parts, &found);
        let cutting = self.cutting.get_or_insert_with(|| Cutting::new(text));
        for (wide, (_, at)) in wide.iter().zip(pieces) {
            let own = cutting.pieces(wide.0, wide.1);
            for (number, &(start, bytes)) in own.iter().enumerate() {
                let end = own.get(number + 1).map_or(wide.1, |next| next.0);
                let first = tokens.spans.partition_point(|span| span.start < start);
                let after = tokens.spans.partition_point(|span| span.start < end);
                let is_cut = |token: &usize| is_found[*token] || tokens.spans[*token].end <= wide.1;
                self.cut.push(CutPassage {
                    bytes,
                    tokens: (first..after).filter(is_cut).count() as u32,
                    of: others[at].0.id.clone(),
                    index: others[at].0.index.clone(),
                });
            }
        }
        let (within, parts) = within_parts(&wide, parts);
        if !cutting.cut(&within) {
            return Ok(CutExtent::Nothing);
        }
        self.cut.sort_by_key(|cut| cut.bytes);
        let text = cutting.text.clone();
        let document = self.document.to_mut();
        (document.text, document.parts) = (text, parts);
        self.round += 1;
        let is_all = is_found.iter().all(|is| *is) || !has_words(&self.document.text, 1);
        Ok(if is_all { CutExtent::All } else { CutExtent::Part })
    }
}

/// Makes the ranges disjoint by shortening the later range of an overlap.
fn apart(mut ranges: Vec<(Range<usize>, usize)>) -> Vec<(Range<usize>, usize)> {
    ranges.sort_unstable_by_key(|(range, at)| (range.start, Reverse(range.end), *at));
    let mut end = 0;
    ranges.retain_mut(|(range, _)| {
        range.start = range.start.max(end);
        end = end.max(range.end);
        range.start < range.end
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dedup::{Decision, Verdict};
    use cento_text::text::Span;
    use proptest::prelude::*;

    /// Returns the verdict on a document after one round, and the remaining document.
    fn decide_on(
        document: &Document,
        others: &[(Holder, String)],
        len_min: usize,
    ) -> (Verdict, Document) {
        let mut rest = Rest::of(document);
        let analyzer = Analyzer::default();
        let found = rest.cut(&analyzer, None, others, len_min, Stop::NEVER).unwrap();
        let left = rest.document().clone();
        let cut = rest.into_cuts();
        assert_eq!(found == CutExtent::Nothing, cut.is_empty());
        let verdict = match found {
            CutExtent::All => Verdict::Passages { cut },
            _ => Verdict::Kept { cut, kept_as: None, replaces: false },
        };
        let decision = Decision { document: document.clone(), verdict: verdict.clone() };
        assert_eq!(decision.kept_text(), (left.text.clone(), left.parts.clone()));
        (verdict, left)
    }

    /// Returns the verdict on a text after one round, and the remaining text.
    fn decide(text: &str, others: &[&str], len_min: usize) -> (Verdict, String) {
        let holder = |i: usize| Holder::own(&i.to_string());
        let others: Vec<(Holder, String)> =
            (0..).zip(others).map(|(i, text)| (holder(i), (*text).to_owned())).collect();
        let (verdict, left) = decide_on(&Document::new("a", text), &others, len_min);
        (verdict, left.text)
    }

    #[test]
    fn long_enough_runs_are_cut_out() {
        let (verdict, kept) = decide(
            "an own one, two three! four FIVE six",
            &["x two three four y", "five six seven"],
            2,
        );
        assert_eq!(kept, "an own one");
        let Verdict::Kept { cut, .. } = &verdict else { panic!("it is kept") };
        let cuts: Vec<(&str, u32)> = cut.iter().map(|cut| (cut.of.as_str(), cut.tokens)).collect();
        assert_eq!(cuts, [("0", 3), ("1", 2)]);
        let (all, _) = decide("a b c", &["z a b", "b c"], 2);
        assert!(matches!(all, Verdict::Passages { .. }));
        assert_eq!(decide("a b c", &["a x b"], 2).1, "a b c");
        assert_eq!(
            decide("", &["a b"], 1).0,
            Verdict::Kept { cut: Vec::new(), kept_as: None, replaces: false }
        );
    }

    #[test]
    fn a_run_in_several_parts_is_cut_out_of_each() {
        let document =
            Document::of_parts("a", [("x", "own one two"), ("y", "three"), ("z", "four")]);
        let others = [(Holder::own("o"), "one two three four".to_owned())];
        let (verdict, kept) = decide_on(&document, &others, 2);
        let cuts: Vec<_> = verdict.cut().iter().map(|cut| (cut.bytes, cut.tokens)).collect();
        assert_eq!(cuts, [((3, 11), 2), ((12, 17), 1), ((18, 22), 1)]);
        assert_eq!(kept, Document::of_parts("a", [("x", "own"), ("y", ""), ("z", "")]));
        // All text of a document with parts is cut, except the line feeds between the parts.
        let document = Document::of_parts("a", [("x", "one two"), ("y", "three four")]);
        let (verdict, _) = decide_on(&document, &others, 2);
        assert!(matches!(verdict, Verdict::Passages { .. }), "{verdict:?}");
    }

    #[test]
    fn a_run_of_parts_that_meet_is_cut_where_they_were() {
        let document = Document::new("a", "own one two three x y z four five six end");
        let [first, second] = [("o", "x y z"), ("p", "one two three four five six")];
        let others = [first, second].map(|(id, text)| (Holder::own(id), text.to_owned()));
        let (analyzer, mut rest) = (Analyzer::default(), Rest::of(&document));
        for (others, expected) in [
            (&others[..1], CutExtent::Part),
            (&others[1..], CutExtent::Part),
            (&others[..], CutExtent::Nothing),
        ] {
            let found = rest.cut(&analyzer, None, others, 3, Stop::NEVER).unwrap();
            assert_eq!(found, expected);
        }
        assert_eq!(rest.document().text, "own end");
        let cuts = rest.into_cuts().into_iter().map(|cut| (cut.bytes, cut.tokens, cut.of));
        let cuts: Vec<_> = cuts.collect();
        let pieces = [((4, 18), 3, "p"), ((18, 24), 3, "o"), ((24, 38), 3, "p")];
        assert_eq!(cuts, pieces.map(|(bytes, tokens, of)| (bytes, tokens, of.to_owned())));
    }

    proptest! {
        #[test]
        fn the_rest_is_the_part_that_no_run_covers(
            text in "[a-c\u{4e00}-\u{4e02}]( ?[a-c\u{4e00}-\u{4e02}]){0,30}",
            others in prop::collection::vec("([a-c\u{4e00}-\u{4e02}] ?){0,20}", 0..4), len_min in 1usize..5,
        ) {
            let others: Vec<&str> = others.iter().map(String::as_str).collect();
            let (verdict, _) = decide(&text, &others, len_min);
            let (Verdict::Kept { cut, .. } | Verdict::Passages { cut }) = &verdict else {
                panic!("nothing else is decided here")
            };
            let mut tokens = Tokens::default();
            let analyzer = Analyzer::default();
            analyzer.analyze(&text, &mut tokens, Stop::NEVER).unwrap();
            let hashes = |text: &str| {
                let mut tokens = Tokens::default();
                analyzer.analyze(text, &mut tokens, Stop::NEVER).unwrap();
                tokens.hashes
            };
            let others: Vec<Vec<u64>> = others.iter().map(|text| hashes(text)).collect();
            let runs = tokens.hashes.windows(len_min).enumerate().filter(|(_, run)| {
                others.iter().any(|other| other.windows(len_min).any(|of| of == *run))
            });
            let mut covered = vec![false; tokens.hashes.len()];
            runs.for_each(|(at, _)| covered[at..at + len_min].fill(true));
            let count: u32 = cut.iter().map(|cut| cut.tokens).sum();
            // A cut may include the few remaining words of a line or sentence.
            let begins = |span: &&Span| {
                cut.iter().any(|cut| (cut.bytes.0..cut.bytes.1).contains(&span.start))
            };
            let begun = tokens.spans.iter().filter(begins).count();
            let found = covered.iter().filter(|&&is| is).count();
            prop_assert!((found..=begun).contains(&(count as usize)), "{found} {count} {begun}");
            for (span, is_covered) in tokens.spans.iter().zip(covered) {
                let is_cut = cut.iter().any(|cut| cut.bytes.0 <= span.start && span.end <= cut.bytes.1)
                    || cut.windows(2).any(|two| {
                        two[0].bytes.1 == two[1].bytes.0
                            && two[0].bytes.0 <= span.start && span.end <= two[1].bytes.1
                    });
                prop_assert!(is_cut || !is_covered);
            }
            prop_assert!(cut.is_sorted_by(|a, b| a.bytes.1 <= b.bytes.0));
        }
    }
}
