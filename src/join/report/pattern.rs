//! What kind of text do two documents share?
//!
//! The kinds that Seo and Croft (2008), tables 5 and 7, told apart by reading; here by what can be
//! seen without: whether all tokens are equal, what differs within the passages in common, where in
//! the documents these stand, how long they are, and in how many documents their fingerprints are.
//! The limits are this module's own, chosen on revisions, licences and RFCs.

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::error::Result;
use crate::index::DocAddress;
use crate::search::Searcher;
use crate::search::align::{Aligned, align};
use crate::stop::Stop;
use crate::text::{Side, Tokens};

/// The kind of text that a pair shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// The same document under another name: all tokens are equal ("URL aliasing").
    ExactAlias,
    /// The same text but for a few words here and there, at places that are made to be filled.
    Template,
    /// Heads and feet: what is common begins or ends both documents, and many others.
    Frame,
    /// Phrases and boilerplate that many documents have, a few words at a time.
    CommonPhrase,
    /// Text that one has from the other, or both from a third.
    TextReuse,
}

/// Places of a template have at most so many words on either side.
const SLOT_TOKENS_MAX: usize = 3;

/// A template has so many of them at least, one in so many tokens.
const SLOTS_MIN: usize = 3;
const TOKENS_A_SLOT_MAX: usize = 60;

/// Of the differences within the passages of a template at least this share is in such places.
const SLOT_SHARE_MIN: f64 = 0.6;

/// A frame stands in the first or the last part of this size of both documents.
const FRAME_SHARE: f64 = 0.15;

/// Passages of phrases are shorter.
const PHRASE_TOKENS_MAX: usize = 40;

/// What so many documents have is common.
const COMMON_DF_MIN: u64 = 8;

/// The pattern of what two stored documents share.
///
/// # Errors
/// When a document cannot be read.
pub fn of(searcher: &Searcher, a: DocAddress, b: DocAddress, stop: Stop<'_>) -> Result<Pattern> {
    let snapshot = searcher.snapshot();
    let read = |address| -> Result<(String, Tokens)> {
        let text = snapshot.document(address)?.text.unwrap_or_default();
        let mut tokens = Tokens::default();
        snapshot.config().analyzer.analyze_until(&text, &mut tokens, stop)?;
        Ok((text, tokens))
    };
    let ((a_text, a_tokens), (b_text, b_tokens)) = (read(a)?, read(b)?);
    if a_tokens.hashes == b_tokens.hashes {
        return Ok(Pattern::ExactAlias);
    }
    let [x, y] =
        [(&a_text, &a_tokens), (&b_text, &b_tokens)].map(|(text, tokens)| Side { text, tokens });
    let passages = align(x, y, stop)?.passages;
    Ok(classify(&a_tokens.hashes, &b_tokens.hashes, &passages, median_df(searcher, a, b)?))
}

/// The median of the numbers of documents that have what both documents have.
fn median_df(searcher: &Searcher, a: DocAddress, b: DocAddress) -> Result<u64> {
    let (a, b) = (searcher.keys_of(a)?, searcher.keys_of(b)?);
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

fn classify(a: &[u64], b: &[u64], passages: &[Aligned], median_df: u64) -> Pattern {
    let is_common = median_df >= COMMON_DF_MIN;
    let longest = passages.iter().map(|passage| passage.query.len()).max().unwrap_or(0);
    if is_template(a, b, passages) {
        return Pattern::Template;
    }
    let at_edge = |range: &std::ops::Range<usize>, len: usize| {
        let edge = (len as f64 * FRAME_SHARE).ceil() as usize;
        range.end <= edge || range.start >= len - edge
    };
    let is_edge =
        |passage: &Aligned| at_edge(&passage.query, a.len()) && at_edge(&passage.hit, b.len());
    if is_common && !passages.is_empty() && passages.iter().all(is_edge) {
        return Pattern::Frame;
    }
    if longest < PHRASE_TOKENS_MAX && (is_common || longest == 0) {
        return Pattern::CommonPhrase;
    }
    Pattern::TextReuse
}

/// Whether the passages, most of both documents, differ by small places that are filled otherwise.
fn is_template(a: &[u64], b: &[u64], passages: &[Aligned]) -> bool {
    let covered: usize = passages.iter().map(|passage| passage.query.len()).sum();
    if 2 * covered < a.len().min(b.len()) {
        return false;
    }
    let (mut slots, mut in_slots, mut differing) = (0, 0, 0);
    for passage in passages {
        let (x, y) = (&a[passage.query.clone()], &b[passage.hit.clone()]);
        for op in capture_diff_slices(Algorithm::Myers, x, y) {
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
    slots >= SLOTS_MIN
        && slots * TOKENS_A_SLOT_MAX >= covered
        && in_slots as f64 >= SLOT_SHARE_MIN * differing as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Document;

    use crate::index::{Config, Index, WriterOptions};

    /// The pattern of the first two of these documents.
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
        of(&searcher, find("000"), find("001"), Stop::NEVER).unwrap()
    }

    fn words(seed: u64, count: u64) -> String {
        let word = |i| format!("w{}", crate::hash::mix64(seed << 32 | i) % 5000);
        (0..count).map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn patterns_are_told_apart() {
        let text = words(1, 200);
        assert_eq!(pattern(&[text.clone(), format!(" {text}.")]), Pattern::ExactAlias);
        let filled = |seed: u64| {
            let slot = |i: u64| format!("{} {}", words(100 + i, 20), words(seed * 1000 + i, 1));
            (0..8).map(slot).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(pattern(&[filled(1), filled(2)]), Pattern::Template);
        // A head and a foot that all twelve have.
        let framed: Vec<String> = (0..12)
            .map(|i| format!("{} {} {}", words(1, 50), words(10 + i, 800), words(2, 50)))
            .collect();
        assert_eq!(pattern(&framed), Pattern::Frame);
        // The same in the middle of two documents, and of no others.
        let quoted =
            |seed| format!("{} {} {}", words(seed, 200), words(1, 150), words(seed + 1, 200));
        assert_eq!(pattern(&[quoted(20), quoted(30)]), Pattern::TextReuse);
        let phrased: Vec<String> = (0..12)
            .map(|i| format!("{} {} {}", words(40 + i, 200), words(3, 20), words(60 + i, 200)))
            .collect();
        assert_eq!(pattern(&phrased), Pattern::CommonPhrase);
    }
}
