//! Passages of a text that are in other texts.

use std::cmp::Reverse;
use std::ops::Range;

use super::verdict::{Cut, Holder, Verdict};
use crate::compare::measure::overlap::stretches;
use crate::compare::runs::Place;
use crate::error::Result;
use crate::index::Document;
use crate::join::cutting::within_parts;
use crate::runtime::Stop;
use crate::search::Boilerplate;
use crate::text::{Analyzer, Tokens};

/// Cuts out of a document all runs of at least `len_min` tokens that one of the others has too,
/// except for boilerplate. A run in several parts of the document is cut out of each of them.
///
/// # Errors
/// When a text is too large to be analyzed.
pub fn cut(
    (analyzer, boilerplate): (&Analyzer, Option<&Boilerplate>),
    Document { text, parts, .. }: &Document,
    others: &[(Holder, String)],
    len_min: usize,
) -> Result<Verdict> {
    let (mut tokens, mut other) = (Tokens::default(), Tokens::default());
    analyzer.analyze(text, &mut tokens, Stop::NEVER)?;
    if let Some(boilerplate) = boilerplate {
        // The others have no token that matches it.
        boilerplate.hide_as_signed(text, &mut tokens, Place::Query);
    }
    let mut ranges: Vec<(Range<usize>, usize)> = Vec::new();
    for (at, (_, text)) in others.iter().enumerate() {
        analyzer.analyze(text, &mut other, Stop::NEVER)?;
        let found = stretches(&tokens.hashes, &other.hashes, len_min, Stop::NEVER)?.into_iter();
        ranges.extend(found.map(|range| (range, at)));
    }
    let ranges = apart(ranges);
    let cut_tokens: usize = ranges.iter().map(|(range, _)| range.len()).sum();
    let mut cut: Vec<Cut> = Vec::new();
    for (range, at) in ranges {
        // Pairs of letters without spaces between them overlap.
        let end_before = cut.last().map_or(0, |cut| cut.bytes.1);
        let start = tokens.spans[range.start].start.max(end_before);
        let bytes = (start, tokens.spans[range.end - 1].end.max(start));
        let pieces = within_parts(&[bytes], parts).0;
        let starts = || tokens.spans[range.clone()].iter().map(|span| span.start);
        for (number, &bytes) in pieces.iter().enumerate() {
            // A token may begin before its bytes that are cut here, and end in the next part.
            let of_next = pieces.get(number + 1).map_or(u32::MAX, |next| next.0);
            let of_piece = |start: &u32| (number == 0 || *start >= bytes.0) && *start < of_next;
            cut.push(Cut {
                bytes,
                tokens: starts().filter(of_piece).count() as u32,
                of: others[at].0.id.clone(),
                index: others[at].0.index.clone(),
            });
        }
    }
    let is_nothing_left = cut_tokens > 0 && cut_tokens == tokens.hashes.len();
    Ok(if is_nothing_left {
        Verdict::Passages { cut }
    } else {
        Verdict::Kept { cut, kept_as: None }
    })
}

/// Returns the places as ranges that do not overlap: of two that do, the later one is shortened.
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
    use crate::join::dedup::Decision;
    use proptest::prelude::*;

    /// Returns the verdict on a text, and the rest of the text.
    fn decide(text: &str, others: &[&str], len_min: usize) -> (Verdict, String) {
        let holder = |i: usize| Holder::own(&i.to_string());
        let others: Vec<(Holder, String)> =
            (0..).zip(others).map(|(i, text)| (holder(i), (*text).to_owned())).collect();
        let document = Document::new("a", text);
        let verdict = cut((&Analyzer::default(), None), &document, &others, len_min).unwrap();
        let kept = Decision { document: document.clone(), verdict: verdict.clone() }.kept_text().0;
        (verdict, kept)
    }

    #[test]
    fn long_enough_runs_are_cut_out() {
        let (verdict, kept) =
            decide("one, two three! four FIVE six", &["x two three four y", "five six seven"], 2);
        assert_eq!(kept, "one,  ");
        let Verdict::Kept { cut, .. } = &verdict else { panic!("it is kept") };
        let cuts: Vec<(&str, u32)> = cut.iter().map(|cut| (cut.of.as_str(), cut.tokens)).collect();
        assert_eq!(cuts, [("0", 3), ("1", 2)]);
        let (all, _) = decide("a b c", &["z a b", "b c"], 2);
        assert!(matches!(all, Verdict::Passages { .. }));
        assert_eq!(decide("a b c", &["a x b"], 2).1, "a b c");
        assert_eq!(decide("", &["a b"], 1).0, Verdict::Kept { cut: Vec::new(), kept_as: None });
    }

    #[test]
    fn a_run_in_several_parts_is_cut_out_of_each() {
        let document =
            Document::of_parts("a", [("x", "own one two"), ("y", "three"), ("z", "four")]);
        let others = [(Holder::own("o"), "one two three four".to_owned())];
        let verdict = cut((&Analyzer::default(), None), &document, &others, 2).unwrap();
        let cuts: Vec<_> = verdict.cut().iter().map(|cut| (cut.bytes, cut.tokens)).collect();
        assert_eq!(cuts, [((4, 11), 2), ((12, 17), 1), ((18, 22), 1)]);
        let decision = Decision { document, verdict };
        let (text, parts) = decision.kept_text();
        let kept = Document::new("a", text).with_parts(parts);
        assert_eq!(kept, Document::of_parts("a", [("x", "own "), ("y", ""), ("z", "")]));
        // All of a document with parts is cut, but for the line feeds between them.
        let document = Document::of_parts("a", [("x", "one two"), ("y", "three four")]);
        let verdict = cut((&Analyzer::default(), None), &document, &others, 2).unwrap();
        assert!(matches!(verdict, Verdict::Passages { .. }), "{verdict:?}");
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
            prop_assert_eq!(count as usize, covered.iter().filter(|&&is| is).count());
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
