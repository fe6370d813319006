//! A sample of the texts of a collection.
//!
//! The sample consists of the documents whose texts have the smallest digests. Equal collections
//! therefore have equal samples, whatever the order of additions and merges, and the sample of
//! several shards can be made from the samples of the shards.

use crate::compare::background::COUNTED_TOKENS_MAX;
use crate::error::Result;
use crate::hash::{Digest, hash_bytes};
use crate::index::{DocAddress, Snapshot};
use crate::runtime::Stop;
use crate::text::Tokens;

/// The number of documents of a sample.
const SAMPLED_MAX: usize = 1024;

/// The number of bytes used from each text.
const SAMPLED_BYTES: usize = 64 << 10;

/// A text of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleText {
    /// The digest of the document.
    pub digest: Digest,
    /// The hash of the used part. Unlike digests, hashes do not depend on the key of an index.
    pub hash: u64,
    /// The hashes of the tokens.
    pub tokens: Vec<u64>,
}

/// A sample, ordered by digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub texts: Vec<SampleText>,
}

/// A document that may be in the sample: digest, place of the snapshot, address.
type Candidate = (Digest, usize, DocAddress);

impl Sample {
    /// Samples the documents of snapshots. `None` if a snapshot stores no texts.
    ///
    /// # Errors
    /// When a file cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn of(snapshots: &[&Snapshot], stop: &Stop) -> Result<Option<Sample>> {
        if snapshots.iter().any(|snapshot| !snapshot.config().store_text) {
            return Ok(None);
        }
        let mut candidates: Vec<Candidate> = Vec::new();
        for (at, snapshot) in snapshots.iter().enumerate() {
            for (segment, view) in (0u32..).zip(snapshot.segments()) {
                let is_alive = |doc| view.is_alive(doc);
                for doc in view.signatures.with_least_digests(SAMPLED_MAX, is_alive)? {
                    stop.check()?;
                    let digest = view.signatures.digest(doc)?;
                    candidates.push((digest, at, DocAddress { segment, doc }));
                }
            }
        }
        candidates.sort_unstable_by_key(|(digest, at, address)| (order(*digest), *at, *address));
        // A text counts once, however many documents have it.
        candidates.dedup_by_key(|(digest, ..)| *digest);
        let read = candidates.into_iter().map(|(digest, at, address)| {
            stop.check()?;
            let snapshot = snapshots[at];
            let text = snapshot.text(address)?.unwrap_or_default();
            let text = &text[..text.floor_char_boundary(SAMPLED_BYTES)];
            let mut tokens = Tokens::default();
            snapshot.config().analyzer.of_passages().analyze(text, &mut tokens, stop)?;
            Ok(SampleText { digest, hash: hash_bytes(text.as_bytes()), tokens: tokens.hashes })
        });
        Ok(Some(Sample { texts: within_room(read)? }))
    }

    /// Returns the sample of the union of the collections with these samples.
    #[must_use]
    pub fn of_all(samples: impl IntoIterator<Item = Sample>) -> Sample {
        let mut texts: Vec<SampleText> = samples.into_iter().flat_map(|one| one.texts).collect();
        texts.sort_by_key(|text| order(text.digest));
        texts.dedup_by_key(|text| text.digest);
        let texts = within_room(texts.into_iter().map(Ok)).expect("nothing is read");
        Sample { texts }
    }

    /// Returns a digest of the sample. Equal samples have equal digests.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let digests: Vec<[u8; 16]> =
            self.texts.iter().map(|text| text.digest.to_le_bytes()).collect();
        Digest::of(digests.as_flattened())
    }
}

/// Returns the sort key of a text. The key must begin like the order of documents within a segment,
/// because a segment only returns its first documents. With a different key, the sample would
/// depend on the number of documents in each segment.
fn order(digest: Digest) -> (u32, Digest) {
    (digest.low as u32, digest)
}

/// Takes texts, which ascend by digest, until the sample is full.
fn within_room(texts: impl Iterator<Item = Result<SampleText>>) -> Result<Vec<SampleText>> {
    let (mut sampled, mut room) = (Vec::new(), COUNTED_TOKENS_MAX);
    for text in texts.take(SAMPLED_MAX) {
        let text = text?;
        room = room.saturating_sub(text.tokens.len());
        sampled.push(text);
        if room == 0 {
            break;
        }
    }
    Ok(sampled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document, Index, WriterOptions};

    /// Samples an index of these documents, with a commit after every `commit` documents.
    fn sample(documents: impl Iterator<Item = u64>, commit: u64) -> Sample {
        let index = Index::in_memory(Config::new("kgram(k=1)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
        for (at, number) in (1..).zip(documents) {
            writer.add(Document::new(number.to_string(), format!("word{number} and"))).unwrap();
            if at % commit == 0 {
                writer.commit().unwrap();
            }
        }
        writer.finish().unwrap();
        Sample::of(&[&index.snapshot().unwrap()], Stop::NEVER).unwrap().unwrap()
    }

    #[test]
    fn a_sample_depends_neither_on_segments_nor_on_shards() {
        // More documents than a sample has, in a single segment and in several smaller ones.
        let number = 3 * SAMPLED_MAX as u64;
        let whole = sample(0..number, u64::MAX);
        assert_eq!(whole.texts.len(), SAMPLED_MAX);
        assert_eq!(sample(0..number, 700), whole);
        let shards = (0..4).map(|shard| sample((shard..number).step_by(4), u64::MAX));
        assert_eq!(Sample::of_all(shards), whole);
    }
}
