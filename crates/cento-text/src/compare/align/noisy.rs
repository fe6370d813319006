//! Finds passages with wrong letters, such as OCR text and historical spelling.
//!
//! If a third of the words have a wrong letter, hardly a run of words is left, but runs of letters
//! are. Two short runs that follow each other at about the same distance in both texts start a
//! local alignment of letters (Altschul et al. 1997, "Gapped BLAST and PSI-BLAST", pages 3391 and
//! 3392). A high score and nearly equal words make the alignment a passage. Without nearly equal
//! words, the text belongs to `copied` or `rewritten`. Spaces are not compared, so joined or cut
//! words do not matter.
//!
//! [`Words::noisy_places`] decides where to align letters. It compares words, so it misses words
//! whose spaces are lost or that are cut into letters. `spacing` finds stretches of such words.
//! Their letters are aligned with the other text outside its long copied passages, and `joined`
//! makes the passages.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::ops::Range;

use super::bands::Bands;
use super::chain::CoveredRanges;
use super::copied::CopiedPassage;
use super::joined::{LetteredText, add, joined};
use super::letter_runs::LetterRuns;
use super::local::{Aligner, Pair};
use super::noise::Words;
use super::order::OrderedPair;
use super::spacing::{self, LETTERS_MIN};
use super::{
    AlignedPassage, COPIED_TOKENS_MIN, LOOKUP_STEPS, LOOKUPS_AT_ONCE, PASSAGE_TOKENS_MIN, Side,
    TextPair,
};
use crate::compare::runs::{Place, is_hidden};
use crate::error::Result;
use crate::runtime::{Steps, Stop};
use crate::text::{Letters, TOKEN_LETTERS_MAX};

/// Maximum number of letters of a text. The letters take the memory of the query's runs of words
/// (`runs_bytes`), which are no longer needed: 20 bytes for each letter.
const LETTERS_MAX: usize = 3 << 19;

/// Maximum number of tokens in the kept alignments, per token of the longer text. Two are enough
/// for the best alignments, since half of an alignment is in no better alignment.
const ALIGNED_TOKENS_MAX: usize = 8;

/// Maximum number of letters for each token if words were joined, and the minimum of that limit.
/// The limit follows the tokens because few tokens leave little memory of runs to reuse.
const JOINED_LETTERS_MAX: (usize, usize) = (50, 1 << 16);

/// The words of a query, computed at the first document that is not a clean copy. Letters are
/// computed anew for every noisy document, to save memory beside the runs of words.
#[derive(Default)]
pub struct QueryNoise(OnceCell<Words>);

impl QueryNoise {
    fn words(&self, query: &[u64], stop: &Stop) -> Result<&Words> {
        if let Some(words) = self.0.get() {
            return Ok(words);
        }
        let words = Words::new(query, stop)?;
        Ok(self.0.get_or_init(|| words))
    }
}

/// Selects the tokens to leave out of the alignment.
#[derive(Clone, Copy)]
struct UnalignedTokens<'a> {
    but: &'a CoveredRanges,
    /// Whether words may be joined, so that tokens are long.
    are_joined: bool,
}

/// Returns the letters of a text, and whether the limit left room for every letter.
fn letters(
    side: Side<'_>,
    place: Place,
    UnalignedTokens { but, are_joined }: UnalignedTokens<'_>,
    stop: &Stop,
) -> Result<(Letters, bool)> {
    let tokens = &side.tokens.hashes;
    let mut left_out = vec![false; tokens.len()];
    for (from, to) in but.touching(&(0..tokens.len())) {
        left_out[from..to].fill(true);
    }
    let is_left_out = |at: usize| left_out[at] || is_hidden(tokens[at], at, place);
    // Hidden tokens get a code that is no letter and differs between the texts, so hidden tokens
    // never match.
    let instead = if place == Place::Query { 2 } else { 3 };
    let (of_token, letters_max) = match are_joined {
        false => (TOKEN_LETTERS_MAX, LETTERS_MAX),
        true => {
            let (a_token, least) = JOINED_LETTERS_MAX;
            let letters_max = tokens.len().saturating_mul(a_token).max(least).min(LETTERS_MAX);
            (letters_max, letters_max)
        }
    };
    Letters::new(side, &is_left_out, instead, of_token, letters_max, stop)
}

/// Returns the noisy passages of two texts, in the order of the query. A similarity of 0 means that
/// the caller has to compute it. `noise` must come from the prepared text.
///
/// Words and letters are looked up in the shorter text, which comes second. Noting its words takes
/// less time, and finding a word there says more, because a shorter text has fewer words by chance.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn passages(
    pair: OrderedPair<'_>,
    noise: &QueryNoise,
    copied: &[CopiedPassage],
    steps: &mut Steps<'_>,
) -> Result<Vec<AlignedPassage>> {
    let found = in_shorter(pair.turned(), noise, copied, steps)?;
    let mut passages: Vec<AlignedPassage> =
        found.into_iter().map(AlignedPassage::mirrored).collect();
    passages.sort_unstable_by_key(|aligned| (aligned.query.start, aligned.hit.start));
    Ok(passages)
}

/// Returns the noisy passages of two texts, with the shorter text as the query. In `copied` the
/// shorter text is the document.
fn in_shorter(
    pair: OrderedPair<'_>,
    noise: &QueryNoise,
    copied: &[CopiedPassage],
    steps: &mut Steps<'_>,
) -> Result<Vec<AlignedPassage>> {
    let OrderedPair { query, document, .. } = pair;
    let (tokens, stop) = ([query, document].map(|side| &side.tokens.hashes[..]), steps.stop());
    let is_covered = |side, place| letters_outside(side, copied, place) < LETTERS_MIN;
    if is_covered(query, |copied| &copied.hit) || is_covered(document, |copied| &copied.query) {
        return Ok(Vec::new());
    }
    // A copied passage with many gaps is not clean, because it may have joined words.
    let is_clean = |copied: &&CopiedPassage| {
        let matched: usize = copied.matched.iter().map(Range::len).sum();
        let len = copied.query.len().max(copied.hit.len());
        copied.in_runs >= COPIED_TOKENS_MIN && 2 * matched >= len
    };
    let clean = |place: fn(&CopiedPassage) -> &Range<usize>| {
        let mut covered = CoveredRanges::default();
        copied.iter().filter(is_clean).for_each(|copied| covered.insert(place(copied).clone()));
        covered
    };
    let but = [clean(|copied| &copied.hit), clean(|copied| &copied.query)];
    let odd = [
        spacing::odd_stretches(query, &but[0], steps)?,
        spacing::odd_stretches(document, &but[1], steps)?,
    ];
    let are_joined =
        !tokens.iter().any(|tokens| tokens.is_empty()) && odd.iter().any(|odd| !odd.is_empty());
    // A run as long as a copy shows that the text has no noise.
    let is_long = |run: &Range<usize>| run.len() >= COPIED_TOKENS_MIN;
    let is_clean = copied.iter().any(|copied| copied.matched.iter().any(is_long))
        || tokens[0].len().min(tokens[1].len()) < PASSAGE_TOKENS_MIN;
    let noisy = match is_clean {
        true => CoveredRanges::default(),
        false if pair.is_turned => {
            Words::new(tokens[0], stop)?.noisy_places(query, document, steps)?
        }
        false => noise.words(tokens[0], stop)?.noisy_places(query, document, steps)?,
    };
    let are_noisy = !noisy.is_empty();
    if !are_joined && !are_noisy {
        return Ok(Vec::new());
    }
    let kinds = PassageKinds { are_joined, are_noisy };
    let [mut but_query, mut but_document] = but;
    if !are_noisy && odd[1].is_empty() {
        but_query = all_but(&odd[0], but_query, tokens[0].len());
    } else if !are_noisy && odd[0].is_empty() {
        but_document = all_but(&odd[1], but_document, tokens[1].len());
    }
    if !are_joined {
        (but_query, but_document) = (CoveredRanges::default(), noisy.gaps(tokens[1].len()));
    }
    let but = [&but_query, &but_document].map(|but| UnalignedTokens { but, are_joined });
    let places = pair.places();
    let (of_query, is_all) = letters(query, places[0], but[0], stop)?;
    let (of_document, is_whole) = letters(document, places[1], but[1], stop)?;
    if !(is_all && is_whole) {
        steps.cut();
    }
    let runs = LetterRuns::new(&of_query.codes, stop)?;
    let query = LetteredText::new(query, &of_query);
    let document = LetteredText::new(document, &of_document);
    steps.begin_stage();
    let found = alignments(&query, &runs, &document, kinds, steps)?;
    let found = best(found, steps)?.into_iter().filter(|(_, found)| found.is_passage);
    Ok(found.map(|(_, found)| found.aligned).collect())
}

/// Counts the bytes of the tokens outside copied passages. A passage needs at least `LETTERS_MIN`
/// bytes: its minimum score counts letters, and ideographs have three bytes each.
fn letters_outside(
    side: Side<'_>,
    copied: &[CopiedPassage],
    place: fn(&CopiedPassage) -> &Range<usize>,
) -> usize {
    let spans = &side.tokens.spans;
    let mut covered = CoveredRanges::default();
    copied.iter().for_each(|copied| covered.insert(place(copied).clone()));
    let outside = covered.gaps(spans.len()).ranges().into_iter().flatten();
    outside.map(|at| (spans[at].end - spans[at].start) as usize).sum()
}

/// Returns the ranges of `count` tokens that are in `covered` or outside `stretches`.
fn all_but(stretches: &CoveredRanges, covered: CoveredRanges, count: usize) -> CoveredRanges {
    let mut left_out = stretches.gaps(count);
    covered.touching(&(0..count)).for_each(|(from, to)| left_out.insert(from..to));
    left_out
}

/// Kinds of passages to look for in two texts.
#[derive(Clone, Copy)]
struct PassageKinds {
    /// Words were joined or cut, in at least one text.
    are_joined: bool,
    /// Words have wrong letters.
    are_noisy: bool,
}

impl PassageKinds {
    /// Returns the minimum score, which is lower where words were joined.
    fn score_min(self) -> u32 {
        if self.are_joined { PASSAGE_TOKENS_MIN as u32 } else { LETTERS_MIN as u32 }
    }
}

/// Keeps the alignments that are best for most of their places in the longer text, best first.
///
/// Alignments of clean passages also compete. In a repetitive text, the places beside the copied
/// place are less alike and thus look noisier, so a clean alignment must be able to win.
fn best(
    mut found: Vec<(u32, LetterAlignment)>,
    steps: &mut Steps<'_>,
) -> Result<Vec<(u32, LetterAlignment)>> {
    let enough = steps.take_each(found.len(), 2 * LOOKUP_STEPS)?;
    found.sort_by_key(|(score, _)| Reverse(*score));
    found.truncate(enough);
    let mut taken = CoveredRanges::default();
    found.retain(|(_, found)| taken.take(&found.aligned.hit));
    Ok(found)
}

/// An alignment of letters, converted to tokens.
struct LetterAlignment {
    aligned: AlignedPassage,
    /// Whether this is a noisy passage or a passage of joined words, not a copied passage.
    is_passage: bool,
}

/// Returns the alignments long enough for a passage, with scores.
fn alignments(
    query: &LetteredText<'_>,
    runs: &LetterRuns,
    document: &LetteredText<'_>,
    kinds: PassageKinds,
    steps: &mut Steps<'_>,
) -> Result<Vec<(u32, LetterAlignment)>> {
    let letters = TextPair::new(&query.letters.codes[..], &document.letters.codes[..]);
    let TextPair { a: q, b: d } = letters;
    let len = runs.len();
    let mut bands = Bands::new(q.len(), d.len());
    let (mut aligner, mut pairs, mut places) = (Aligner::default(), Vec::new(), Vec::new());
    let aligned_max = document.tokens.len() * ALIGNED_TOKENS_MAX;
    let (mut found, mut left) = (Vec::new(), aligned_max);
    let mut due = 0;
    for (j, hash) in runs.hashes(d).enumerate() {
        due += 1;
        if !runs.may_have(hash) && due < LOOKUPS_AT_ONCE as u64 {
            continue;
        }
        due += LOOKUP_STEPS / 2 * (1 + runs.places(q, &d[j..j + len], hash, &mut places));
        if !steps.take(std::mem::take(&mut due))? {
            return Ok(found);
        }
        for &i in &places {
            if !bands.bring_up((i, j as u32), len as u32) {
                continue;
            }
            // Skip runs whose words begin at the same letters, because joined words do not. Two
            // programs often share such runs: long names that begin and end at the same letters.
            if !kinds.are_noisy
                && query.word_starts.of(i as usize + 1, len - 1)
                    == document.word_starts.of(j + 1, len - 1)
            {
                continue;
            }
            let Some(score) = aligner.around(letters, (i, j as u32), &mut pairs, steps)? else {
                return Ok(found);
            };
            pairs.iter().for_each(|&pair| bands.pass(pair));
            if score < kinds.score_min() {
                continue;
            }
            if let Some(passage) = passage_of(&pairs, score, query, document, kinds) {
                let tokens = passage.aligned.hit.len();
                if tokens > left {
                    found = best(found, steps)?;
                    let kept = found.iter().map(|(_, found)| found.aligned.hit.len());
                    left = aligned_max.saturating_sub(kept.sum());
                }
                if tokens > left {
                    steps.cut();
                    return Ok(found);
                }
                left -= tokens;
                found.push((score, passage));
            }
        }
    }
    steps.take(due)?;
    Ok(found)
}

/// Converts an alignment of letters to tokens. Returns `None` for a kind outside `kinds` if the
/// alignment is shorter than a noisy passage.
fn passage_of(
    pairs: &[Pair],
    score: u32,
    query: &LetteredText<'_>,
    document: &LetteredText<'_>,
    kinds: PassageKinds,
) -> Option<LetterAlignment> {
    let (first, last) = (pairs.first()?, pairs.last()?);
    let in_query = whole_tokens(query.letters, first.0 as usize..last.0 as usize + 1);
    let hit = whole_tokens(document.letters, first.1 as usize..last.1 as usize + 1);
    if in_query.is_empty() || hit.is_empty() {
        return None;
    }
    let (mut matched, mut matched_in_hit) = (Vec::<Range<usize>>::new(), Vec::new());
    let (mut a, mut b) = (in_query.start, hit.start);
    let of_query = |token| query.letters.of_token(token);
    let of_document = |token| document.letters.of_token(token);
    let tokens_of = |&(i, j): &Pair| {
        while of_query(a).end <= i as usize {
            a += 1;
        }
        while of_document(b).end <= j as usize {
            b += 1;
        }
        (a, b)
    };
    // Skip the letters of tokens that are left out at the ends.
    let start = (of_query(in_query.start).start, of_document(hit.start).start);
    let is_inside = |&&(i, j): &&Pair| i as usize >= start.0 && j as usize >= start.1;
    let inside: Vec<(usize, usize)> = pairs.iter().filter(is_inside).map(tokens_of).collect();
    let mut in_joined = 0;
    for common in inside.chunk_by(|one, other| one == other) {
        let (a, b) = common[0];
        if query.tokens[a] != document.tokens[b] {
            let (one, other) = (of_query(a).len(), of_document(b).len());
            let (less, letters) = (one.min(other), one.max(other));
            let is_near = super::noise::are_nearly_equal(common.len(), letters);
            if !is_near && 2 * common.len() >= less {
                in_joined += common.len();
            }
        } else if in_query.contains(&a) && hit.contains(&b) {
            add_new(&mut matched, a);
            add_new(&mut matched_in_hit, b);
        }
    }
    let is_long =
        in_query.len().min(hit.len()) >= PASSAGE_TOKENS_MIN && score >= LETTERS_MIN as u32;
    if kinds.are_joined && in_joined > 0 {
        let aligned = joined(pairs, score, query, in_query, document, hit)?;
        return Some(LetterAlignment { aligned, is_passage: true });
    }
    let aligned =
        AlignedPassage { matched, matched_in_hit, ..AlignedPassage::unmatched(&in_query, &hit) };
    let aligned = AlignedPassage { similarity: 0.0, by_letters: true, ..aligned };
    is_long.then_some(LetterAlignment { aligned, is_passage: kinds.are_noisy })
}

/// Appends a token to ascending ranges, unless the last range already has it.
fn add_new(matched: &mut Vec<Range<usize>>, token: usize) {
    if matched.last().is_none_or(|last| last.end <= token) {
        add(matched, token);
    }
}

/// Returns the tokens with at least half of their letters in `range`.
fn whole_tokens(letters: &Letters, range: Range<usize>) -> Range<usize> {
    let token = |letter: usize| {
        let at = letters.token_of(letter);
        (at, letters.of_token(at))
    };
    let (first, its) = token(range.start);
    let first = first + usize::from(2 * (range.start - its.start) > its.len());
    let (last, its) = token(range.end - 1);
    let end = last + usize::from(2 * (range.end - its.start) >= its.len());
    first..end.max(first)
}

#[cfg(test)]
pub mod testing {
    use crate::hash::mix64;
    use std::fmt::Write;

    /// Makes words, always the same for a seed. Every second word is from the 60 most frequent
    /// words.
    pub fn text(seed: u64, words: u64) -> String {
        let mut text = String::new();
        for at in 0..words {
            let drawn = mix64(seed << 32 | at);
            let word =
                if drawn.is_multiple_of(2) { (drawn >> 1) % 60 } else { (drawn >> 1) % 5000 };
            let mut letters = mix64(word ^ 0x7e57);
            let space = if at == 0 { "" } else { " " };
            text.push_str(space);
            for _ in 0..2 + letters % 7 + u64::from(word > 60) * 2 {
                letters = mix64(letters);
                let _ =
                    write!(text, "{}", char::from(b"eeeetaoinshrdlucmf"[(letters % 18) as usize]));
            }
        }
        text
    }

    /// Returns a text with wrong, lost and added letters: of a hundred letters, as many as `share`.
    pub fn misread(text: &str, share: u64, seed: u64) -> String {
        let mut misread = String::new();
        for (at, c) in (0u64..).zip(text.chars()) {
            let drawn = mix64(mix64(seed ^ 0x5eed) ^ at);
            if c == ' ' || drawn % 100 >= share {
                misread.push(c);
                continue;
            }
            let other = char::from(b'a' + ((drawn >> 8) % 26) as u8);
            match (drawn >> 16) % 6 {
                0 => {}
                1 => misread.extend([c, other]),
                _ => misread.push(other),
            }
        }
        misread
    }
}

#[cfg(test)]
mod tests {
    use super::super::joined::testing::aligned;
    use super::super::testing::analyzed;
    use super::super::{Genre, align};
    use super::testing::{misread, text};
    use super::*;
    use crate::compare::runs::hide;
    use crate::text::AnalyzedText;

    fn passages(a: &AnalyzedText, b: &AnalyzedText) -> Vec<AlignedPassage> {
        let (pair, noise) = (OrderedPair::new(a.side(), b.side()), QueryNoise::default());
        let steps = &mut Steps::unbounded(Stop::NEVER);
        let found = super::passages(pair, &noise, &[], steps).unwrap();
        assert!(steps.is_complete());
        let turned =
            |aligned: AlignedPassage| if pair.is_turned { aligned.mirrored() } else { aligned };
        found.into_iter().map(turned).collect()
    }

    /// The share of the words of the first text that are in the second.
    fn share_equal(one: &str, other: &str) -> f64 {
        let pairs = one.split(' ').zip(other.split(' '));
        pairs.clone().filter(|(a, b)| a == b).count() as f64 / pairs.count() as f64
    }

    #[test]
    fn a_copy_with_wrong_letters_is_one_passage_between_other_text() {
        for seed in 0..10 {
            let copied = text(seed, 120);
            let document = format!("{} {copied} {}", text(seed + 20, 80), text(seed + 30, 90));
            for share in [8, 15, 25] {
                let misread = misread(&copied, share, seed);
                assert!(share_equal(&copied, &misread) < 0.7);
                let query = format!("{} {misread} {}", text(seed + 40, 70), text(seed + 50, 60));
                let found = passages(&analyzed(&query), &analyzed(&document));
                assert_eq!(found.len(), 1, "{seed} {share}: {found:?}");
                let near = |range: &Range<usize>, from: usize| {
                    range.start.abs_diff(from) <= 4 && range.end.abs_diff(from + 120) <= 4
                };
                let AlignedPassage { query, hit, .. } = &found[0];
                assert!(near(query, 70) && near(hit, 80), "{seed} {share}: {found:?}");
            }
        }
    }

    #[test]
    fn matched_words_of_a_noisy_passage_are_equal_and_in_order() {
        for seed in 0..10 {
            let own = text(seed, 150);
            let other = misread(&own, 12, seed);
            let [a, b] = [&own, &other].map(analyzed);
            let found = align(a.side(), b.side(), Genre::Prose, Stop::NEVER).unwrap().passages;
            assert_eq!(found.len(), 1, "{seed}");
            let equal: Vec<usize> =
                (0..150).filter(|&at| a.tokens.hashes[at] == b.tokens.hashes[at]).collect();
            let matched: Vec<usize> = found[0].matched.iter().cloned().flatten().collect();
            // A word may match by chance, instead of its neighbor.
            let as_expected = matched.iter().filter(|at| equal.contains(at)).count();
            assert!(as_expected + 4 >= matched.len(), "{seed}: {matched:?} {equal:?}");
            assert!(as_expected + 4 >= equal.len(), "{seed}: {matched:?} {equal:?}");
            // Nearly equal words are not matched.
            assert!(found[0].similarity < 0.75, "{seed}: {}", found[0].similarity);
        }
    }

    #[test]
    fn words_that_are_joined_or_cut_are_in_the_passage() {
        let own = text(1, 150);
        let misread = misread(&own, 12, 1);
        let mut joined = String::new();
        for (at, word) in misread.split(' ').enumerate() {
            joined.push_str(word);
            joined.push_str(match at % 12 {
                3 => "",
                9 => "-\n",
                _ => " ",
            });
        }
        let (a, b) = (analyzed(&own), analyzed(&joined));
        assert!(b.tokens.hashes.len() < 140);
        let found = passages(&a, &b);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].query.len() > 140 && found[0].hit.len() + 8 > b.tokens.hashes.len());
    }

    #[test]
    fn texts_of_the_same_words_have_no_noisy_passage() {
        for seed in 0..20 {
            let own = text(seed, 400);
            let (a, b) = (analyzed(&own), analyzed(text(seed + 100, 400)));
            assert!(passages(&a, &b).is_empty(), "{seed}");
            // Even where noise is expected, unrelated texts do not align.
            let all = UnalignedTokens { but: &CoveredRanges::default(), are_joined: false };
            let [q, d] = [(&a, Place::Query), (&b, Place::Document)]
                .map(|(text, place)| letters(text.side(), place, all, Stop::NEVER).unwrap().0);
            let runs = LetterRuns::new(&q.codes, Stop::NEVER).unwrap();
            let (q, d) = (LetteredText::new(a.side(), &q), LetteredText::new(b.side(), &d));
            let steps = &mut Steps::unbounded(Stop::NEVER);
            let kinds = PassageKinds { are_joined: true, are_noisy: true };
            assert!(alignments(&q, &runs, &d, kinds, steps).unwrap().is_empty(), "{seed}");
        }
    }

    #[test]
    fn a_clean_copy_is_no_noisy_passage() {
        let own = text(1, 300);
        let (a, b) = (analyzed(&own), analyzed(format!("{} {own}", text(2, 50))));
        assert!(passages(&a, &b).is_empty());
        // Replaced words are not noise.
        let others = text(3, 300);
        let words = own.split(' ').zip(others.split(' ')).enumerate();
        let words = words.map(|(at, (own, other))| if at % 6 == 1 { other } else { own });
        let changed = words.collect::<Vec<_>>().join(" ");
        assert!(passages(&a, &analyzed(&changed)).is_empty());
    }

    #[test]
    fn a_noisy_passage_beside_a_copied_one_is_joined_with_it() {
        // Regression: the joined passage lost its matched words, and was dropped for having no
        // words.
        for seed in 0..10 {
            let (noisy, clean) = (text(seed, 120), text(seed + 50, 30));
            let other = format!("{} {clean}", misread(&noisy, 12, seed));
            let (found, shares) = aligned(&format!("{noisy} {clean}"), &other);
            assert!(shares.iter().all(|&share| share > 0.9), "{seed}: {found:?}");
            assert!(found.iter().all(|found| found.matched_tokens() > 0), "{seed}: {found:?}");
        }
    }

    #[test]
    fn hidden_words_are_in_no_noisy_passage() {
        let own = text(1, 200);
        let (a, mut b) = (analyzed(&own), analyzed(misread(&own, 12, 1)));
        let hidden = 60..110;
        hide(&mut b.tokens.hashes, std::slice::from_ref(&hidden), Place::Document);
        let found = passages(&a, &b);
        assert!(
            found.iter().all(|found| {
                found.hit.end <= hidden.start + 1 || found.hit.start + 1 >= hidden.end
            }),
            "{found:?}"
        );
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
