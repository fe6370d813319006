//! The passages that a collection repeats most, such as licenses, headers and disclaimers.
//!
//! Passages are reassembled from frequent fingerprints. Each of the most frequent fingerprints is
//! looked up in a few of its documents. There the passage extends over neighboring fingerprints as
//! long as their document frequency is at least half. The longest such passage is reported.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::ops::Range;

use serde::Serialize;

use crate::error::Result;
use crate::hash::BuildKeyHasher;
use crate::index::DocAddress;
use crate::index::Snapshot;
use crate::runtime::Stop;
use crate::scheme::Fingerprint;
use crate::text::Analyzed;

/// A passage that many documents have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RepeatedPassage {
    /// The document frequency of the most frequent fingerprint of the passage. Deleted documents
    /// count until they are compacted away.
    pub documents: u64,
    /// The length of the passage in tokens.
    pub tokens: u32,
    /// The id of a document with the passage.
    pub id: String,
    /// The half-open byte range of the passage in that document. `None` if no text is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<(u32, u32)>,
    /// The text of the passage. `None` if the index stores no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The number of most frequent fingerprints that are examined.
const TERMS_MAX: usize = 50_000;

/// The number of documents examined per fingerprint.
const EXAMPLES_MAX: usize = 16;

/// A fingerprint in fewer documents is not boilerplate.
const DF_MIN: u64 = 3;

impl Snapshot {
    /// Returns at most `count` passages, most frequent first.
    ///
    /// # Errors
    /// When a file is damaged.
    pub fn repeated_passages(&self, count: usize) -> Result<Vec<RepeatedPassage>> {
        let mut heap: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
        self.for_each_term(&mut |key, df| {
            if df >= DF_MIN {
                heap.push(Reverse((df, key)));
                if heap.len() > TERMS_MAX {
                    heap.pop();
                }
            }
        })?;
        let mut terms: Vec<(u64, u64)> = heap.into_iter().map(|Reverse(term)| term).collect();
        // Order equally frequent fingerprints by key, so that the answer is deterministic.
        terms.sort_unstable_by_key(|&(df, key)| (Reverse(df), key));
        let dfs: HashMap<u64, u64, BuildKeyHasher> =
            terms.iter().map(|&(df, key)| (key, df)).collect();
        let mut shown: HashSet<u64, BuildKeyHasher> = HashSet::default();
        let mut found = Vec::new();
        for (df, key) in terms {
            if found.len() == count {
                break;
            }
            if shown.contains(&key) {
                continue;
            }
            let belongs = |key: u64| dfs.get(&key).is_some_and(|other| 2 * other >= df);
            let mut longest: Option<Run> = None;
            for address in documents_with(self, key)? {
                let run = Run::around(self, address, key, &belongs)?;
                let is_longer = |run: &Run| {
                    longest.as_ref().is_none_or(|longest| run.tokens.len() > longest.tokens.len())
                };
                longest = run.filter(is_longer).or(longest);
            }
            if let Some(run) = longest {
                found.push(show(self, &run, df)?);
                shown.extend(run.keys);
            }
        }
        Ok(found)
    }
}

/// Neighboring fingerprints in a document.
struct Run {
    address: DocAddress,
    tokens: Range<u32>,
    keys: Vec<u64>,
}

impl Run {
    /// Returns the run of fingerprints around `key` in a document, as far as `belongs` is true.
    fn around(
        snapshot: &Snapshot,
        address: DocAddress,
        key: u64,
        belongs: &dyn Fn(u64) -> bool,
    ) -> Result<Option<Run>> {
        let segment = &snapshot.segment(address).signatures;
        let signature = snapshot.signature(address, Stop::NEVER)?;
        let Some(at) = signature.iter().position(|fingerprint| fingerprint.key == key) else {
            return Ok(None);
        };
        let belongs = |fingerprint: &&Fingerprint| belongs(fingerprint.key);
        let after = signature[at..].iter().take_while(belongs).count();
        let before = signature[..at].iter().rev().take_while(belongs).count();
        // `key` itself belongs to the run, so the run is not empty.
        let (first, last) = (at - before, at + after - 1);
        let tokens = segment.document(address.doc)?.tokens;
        let end = match snapshot.config().scheme.extent() {
            Some(extent) => extent.end(&signature, last, tokens),
            // The fingerprint represents the whole document.
            None => tokens,
        };
        let keys = signature[first..=last].iter().map(|fingerprint| fingerprint.key).collect();
        Ok(Some(Run { address, tokens: signature[first].position..end, keys }))
    }
}

/// Returns up to [`EXAMPLES_MAX`] live documents with this fingerprint.
fn documents_with(snapshot: &Snapshot, key: u64) -> Result<Vec<DocAddress>> {
    let (mut found, mut docs) = (Vec::new(), Vec::new());
    for (segment, view) in (0u32..).zip(snapshot.segments()) {
        for (_, term) in view.signatures.find_all(&[key])? {
            docs.clear();
            view.signatures.documents_of(&term, &mut docs)?;
            let alive = docs.iter().filter(|&&doc| view.is_alive(doc));
            let room = EXAMPLES_MAX - found.len();
            found.extend(alive.take(room).map(|&doc| DocAddress { segment, doc }));
        }
    }
    Ok(found)
}

fn show(snapshot: &Snapshot, run: &Run, documents: u64) -> Result<RepeatedPassage> {
    let range = &run.tokens;
    let stored = snapshot.document(run.address)?;
    let shown = RepeatedPassage {
        documents,
        tokens: range.end - range.start,
        id: stored.id,
        bytes: None,
        text: None,
    };
    let Some(text) = stored.text else { return Ok(shown) };
    let Analyzed { text, tokens, .. } =
        Analyzed::new(text, &snapshot.config().analyzer, Stop::NEVER)?;
    let spans = &tokens.spans[range.start as usize..range.end as usize];
    let bytes = spans.first().zip(spans.last()).map(|(first, last)| (first.start, last.end));
    let text = bytes.map(|(start, end)| text[start as usize..end as usize].to_owned());
    Ok(RepeatedPassage { bytes, text, ..shown })
}
