//! The kind of text that two documents share.
//!
//! Seo and Croft (2008), tables 5 and 7, distinguished these kinds by reading. Here the evidence is
//! whether all tokens are equal, which tokens differ within shared passages, where the passages are
//! and how long, and how many documents have their fingerprints. The limits are not from the paper.
//! They were chosen on revisions, licenses and RFCs.

use serde::Serialize;
use similar::DiffOp;

use cento::index::DocAddress;
use cento::search::Searcher;
use cento_api::error::Result;
use cento_text::compare::align::{AlignedPassage, Genre, align};
use cento_text::compare::difference::Comparisons;
use cento_text::compare::runs::Place;
use cento_text::runtime::Stop;

/// How a document of a pair reuses text of its partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// All tokens are equal: the same document under another name ("URL aliasing").
    ExactAlias,
    /// The same text except for a few words here and there, in places that are made to be filled.
    Template,
    /// Headers and footers: the shared passages begin or end the documents, and many others.
    Frame,
    /// Phrases and boilerplate that many documents have, a few words at a time.
    CommonPhrase,
    /// Text that a document took from its partner, or both documents from a third.
    TextReuse,
}

/// The maximum number of words on either side of a slot that a template leaves to fill.
const SLOT_TOKENS_MAX: usize = 3;

/// The minimum number of slots of a template, and the maximum number of shared tokens for each
/// slot.
const SLOTS_MIN: usize = 3;
const TOKENS_A_SLOT_MAX: usize = 60;

/// The minimum share of differing tokens within the passages of a template that are in slots.
const SLOT_SHARE_MIN: f64 = 0.6;

/// The length of a header or footer, as a share of its document.
const FRAME_SHARE: f64 = 0.15;

/// Passages of common phrases are shorter than this number of tokens.
const PHRASE_TOKENS_MAX: usize = 40;

/// The minimum median document frequency of shared fingerprints for common passages.
const COMMON_DF_MIN: u64 = 8;

/// The maximum number of token comparisons in a search for differences, about a second. Tokens
/// times differences are compared, so without a bound two texts of a megabyte might take hours.
const COMPARISONS_MAX: u64 = 1 << 27;

/// Returns the pattern of the text that two stored documents share, or `None` if there are too many
/// differences.
///
/// # Errors
/// When a document cannot be read. [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
pub fn of(
    searcher: &Searcher,
    a: DocAddress,
    b: DocAddress,
    stop: &Stop,
) -> Result<Option<Pattern>> {
    let snapshot = searcher.snapshot();
    let read = |address| snapshot.analyzed_for_passages(address, stop);
    let (mut a_text, mut b_text) = (read(a)?, read(b)?);
    if a_text.tokens.hashes == b_text.tokens.hashes {
        return Ok(Some(Pattern::ExactAlias));
    }
    if let Some(boilerplate) = searcher.boilerplate() {
        boilerplate.hide(&a_text.text, &mut a_text.tokens, Place::Query);
        boilerplate.hide(&b_text.text, &mut b_text.tokens, Place::Document);
    }
    let [x, y] = [&a_text.tokens.hashes[..], &b_text.tokens.hashes[..]];
    let genre = Genre::of(&snapshot.config().analyzer);
    let passages = align(a_text.side(), b_text.side(), genre, stop)?.passages;
    let Some(is_template) = is_template(x, y, &passages, COMPARISONS_MAX, stop)? else {
        return Ok(None);
    };
    if is_template {
        return Ok(Some(Pattern::Template));
    }
    Ok(Some(classify(x, y, &passages, median_df(searcher, a, b, stop)?)))
}

/// Returns the median document frequency of the shared fingerprints.
fn median_df(searcher: &Searcher, a: DocAddress, b: DocAddress, stop: &Stop) -> Result<u64> {
    let (a, b) = (searcher.keys_of(a, stop)?, searcher.keys_of(b, stop)?);
    let shared: Vec<u64> = a.into_iter().filter(|key| b.binary_search(key).is_ok()).collect();
    let mut dfs = vec![0u64; shared.len()];
    for segment in searcher.snapshot().segments() {
        for (at, term) in segment.signatures.find_all(&shared)? {
            dfs[at as usize] += u64::from(term.df());
        }
    }
    dfs.sort_unstable();
    Ok(dfs.get(dfs.len() / 2).copied().unwrap_or(0))
}

/// Returns the pattern of a pair that is no template.
fn classify(a: &[u64], b: &[u64], passages: &[AlignedPassage], median_df: u64) -> Pattern {
    let is_common = median_df >= COMMON_DF_MIN;
    let longest = passages.iter().map(|passage| passage.query.len()).max().unwrap_or(0);
    let at_edge = |range: &std::ops::Range<usize>, len: usize| {
        let edge = (len as f64 * FRAME_SHARE).ceil() as usize;
        range.end <= edge || range.start >= len - edge
    };
    let is_edge = |passage: &AlignedPassage| {
        at_edge(&passage.query, a.len()) && at_edge(&passage.hit, b.len())
    };
    if is_common && !passages.is_empty() && passages.iter().all(is_edge) {
        return Pattern::Frame;
    }
    if longest < PHRASE_TOKENS_MAX && (is_common || longest == 0) {
        return Pattern::CommonPhrase;
    }
    Pattern::TextReuse
}

/// Tells whether the passages cover half of the shorter document and differ in small slots. Returns
/// `None` if the answer takes more comparisons than allowed.
fn is_template(
    a: &[u64],
    b: &[u64],
    passages: &[AlignedPassage],
    comparisons_max: u64,
    stop: &Stop,
) -> Result<Option<bool>> {
    let covered: usize = passages.iter().map(|passage| passage.query.len()).sum();
    if 2 * covered < a.len().min(b.len()) {
        return Ok(Some(false));
    }
    let by = Comparisons::new(comparisons_max, stop);
    let (mut slots, mut in_slots, mut differing) = (0, 0, 0);
    for passage in passages {
        let (x, y) = (&a[passage.query.clone()], &b[passage.hit.clone()]);
        let Some(differences) = by.differences(x, y)? else { return Ok(None) };
        for op in differences {
            match op {
                DiffOp::Equal { .. } => {}
                DiffOp::Replace { old_len, new_len, .. } => {
                    differing += old_len.max(new_len);
                    if old_len.max(new_len) <= SLOT_TOKENS_MAX {
                        slots += 1;
                        in_slots += old_len.max(new_len);
                    }
                }
                DiffOp::Insert { new_len: len, .. } | DiffOp::Delete { old_len: len, .. } => {
                    differing += len;
                }
            }
        }
    }
    let is_template = slots >= SLOTS_MIN
        && slots * TOKENS_A_SLOT_MAX >= covered
        && in_slots as f64 >= SLOT_SHARE_MIN * differing as f64;
    Ok(Some(is_template))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::index::Document;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use cento::index::{Config, Index, WriterOptions};

    /// Returns the pattern of the first two of these documents.
    fn pattern(texts: &[String]) -> Pattern {
        let config = Config::new("winnow(k=3,w=4)", "words", true).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let index = Index::create(dir.path().join("idx"), config).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for (i, text) in texts.iter().enumerate() {
            let document = Document::new(format!("{i:03}"), text);
            writer.add(document).unwrap();
        }
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let find = |id| searcher.snapshot().find(id).unwrap().unwrap();
        of(&searcher, find("000"), find("001"), Stop::NEVER).unwrap().unwrap()
    }

    fn words(seed: u64, count: u64) -> String {
        let word = |i| format!("w{}", cento_text::hash::mix64(seed << 32 | i) % 5000);
        (0..count).map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn differences_are_looked_for_within_a_bound_and_a_stop() {
        // Comparing texts with nothing in common takes as many comparisons as their lengths
        // squared.
        let [a, b] = [0, 1].map(|seed| (0..4_000u64).map(|i| 2 * i + seed).collect::<Vec<u64>>());
        let all = |len| {
            let (query, hit, matched, matched_in_hit) = (0..len, 0..len, Vec::new(), Vec::new());
            AlignedPassage {
                query,
                hit,
                similarity: 0.0,
                matched,
                matched_in_hit,
                by_letters: false,
            }
        };
        let told =
            |len: usize, max, stop| is_template(&a[..len], &b[..len], &[all(len)], max, stop);
        assert_eq!(told(100, 1 << 20, Stop::NEVER).unwrap(), Some(false));
        assert_eq!(told(4_000, 1 << 20, Stop::NEVER).unwrap(), None);
        let looks = Arc::new(AtomicU64::new(0));
        let counted = looks.clone();
        let stop = Stop::when(move || counted.fetch_add(1, Ordering::Relaxed) >= 2);
        let stopped = told(4_000, u64::MAX - 1, &stop);
        assert!(matches!(stopped, Err(cento::Error::Cancelled)));
        assert!(looks.load(Ordering::Relaxed) <= 4, "{looks:?}");
    }

    #[test]
    fn patterns_are_distinct() {
        let text = words(1, 200);
        assert_eq!(pattern(&[text.clone(), format!(" {text}.")]), Pattern::ExactAlias);
        let filled = |seed: u64| {
            let slot = |i: u64| format!("{} {}", words(100 + i, 20), words(seed * 1000 + i, 1));
            (0..8).map(slot).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(pattern(&[filled(1), filled(2)]), Pattern::Template);
        // A header and a footer that all twelve documents have.
        let framed: Vec<String> = (0..12)
            .map(|i| format!("{} {} {}", words(1, 50), words(10 + i, 800), words(2, 50)))
            .collect();
        assert_eq!(pattern(&framed), Pattern::Frame);
        // The same text in the middle of two documents, and nowhere else.
        let quoted =
            |seed| format!("{} {} {}", words(seed, 200), words(1, 150), words(seed + 1, 200));
        assert_eq!(pattern(&[quoted(20), quoted(30)]), Pattern::TextReuse);
        let phrased: Vec<String> = (0..12)
            .map(|i| format!("{} {} {}", words(40 + i, 200), words(3, 20), words(60 + i, 200)))
            .collect();
        assert_eq!(pattern(&phrased), Pattern::CommonPhrase);
    }
}
