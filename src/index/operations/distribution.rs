//! Document frequencies of fingerprints, and the cost of limiting them.
//!
//! The dictionaries of the segments are read side by side, so that a frequency covers the whole
//! index. Deleted documents count until they are compacted away. A sample of documents shows the
//! cost of the limit.

use serde::Serialize;

use crate::error::Result;
use crate::index::Snapshot;
use crate::runtime::Stop;
use crate::segment::SegmentReader;

/// The distribution of document frequencies, and what stop-fingerprints cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DfDistribution {
    /// Buckets from the rarest to the most frequent fingerprints.
    pub distribution: Vec<DfBucket>,
    /// Fingerprints in more documents than this are stop-fingerprints.
    pub max_df: u64,
    /// The stop-fingerprints together.
    pub stopped: DfBucket,
    /// The number of sampled documents.
    pub sampled_documents: u64,
    /// The share of sampled documents with stop-fingerprints only, which not even a full copy
    /// finds.
    pub documents_lost: f64,
    /// The share of passages of [`PASSAGE_TOKENS`] tokens in the sample with stop-fingerprints
    /// only. A copy of such a passage does not find the document.
    pub passages_lost: f64,
}

/// Fingerprints with a document frequency of at most `df_max`, and above the previous bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DfBucket {
    /// The largest document frequency of the bucket.
    pub df_max: u64,
    /// The number of distinct fingerprints.
    pub terms: u64,
    /// The number of pairs of a fingerprint and a document.
    pub postings: u64,
}

/// The tokens of a sampled passage.
pub const PASSAGE_TOKENS: u32 = 100;

/// The number of terms between two calls for progress.
const TERMS_PER_STEP: u64 = 4096;

/// The most documents that are sampled.
const SAMPLE_DOCUMENTS: u64 = 4000;

impl Snapshot {
    /// Returns how fingerprints are distributed over documents, and what the limit of document
    /// frequency costs. Reads every dictionary: about a second for 20 million fingerprints.
    ///
    /// # Errors
    /// When a segment is damaged.
    pub fn df_distribution(&self) -> Result<DfDistribution> {
        self.df_distribution_with(&|_| {})
    }

    /// Like [`df_distribution`](Snapshot::df_distribution), and calls `progress` now and then with
    /// the number of postings counted so far.
    ///
    /// # Errors
    /// When a segment is damaged.
    pub fn df_distribution_with(&self, progress: &dyn Fn(u64)) -> Result<DfDistribution> {
        let max_df = self.config().max_df.limit(self.documents());
        let mut buckets = [DfBucket::default(); 65];
        let mut stopped = DfBucket::default();
        let mut stop_keys = Vec::new();
        let (mut terms, mut postings) = (0u64, 0);
        self.for_each_term(&mut |key, df| {
            (terms, postings) = (terms + 1, postings + df);
            if terms.is_multiple_of(TERMS_PER_STEP) {
                progress(postings);
            }
            let bucket = &mut buckets[(u64::BITS - (df - 1).leading_zeros()) as usize];
            bucket.terms += 1;
            bucket.postings += df;
            if df > max_df {
                stopped.df_max = stopped.df_max.max(df);
                stopped.terms += 1;
                stopped.postings += df;
                stop_keys.push(key);
            }
        })?;
        let buckets = (0u32..).zip(buckets).filter(|(_, bucket)| bucket.terms > 0);
        let distribution =
            buckets.map(|(bits, bucket)| DfBucket { df_max: 1 << bits, ..bucket }).collect();
        let sample = self.sample(&stop_keys)?;
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        Ok(DfDistribution {
            distribution,
            max_df,
            stopped,
            sampled_documents: sample.documents,
            documents_lost: share(sample.documents_lost, sample.documents),
            passages_lost: share(sample.passages_lost, sample.passages),
        })
    }

    /// Calls `each` with every fingerprint in ascending order and its document frequency. Deleted
    /// documents count until the index is compacted.
    ///
    /// # Errors
    /// When a segment is damaged.
    pub fn for_each_term(&self, each: &mut dyn FnMut(u64, u64)) -> Result<()> {
        let segments = self.segments().iter();
        let mut open = segments
            .map(|segment| TermCursor::new(&segment.signatures))
            .collect::<Result<Vec<_>>>()?;
        loop {
            open.retain(|head| head.next.is_some());
            let least = open.iter().filter_map(|head| head.next.map(|next| next.0)).min();
            let Some(key) = least else { return Ok(()) };
            let mut df = 0;
            for head in &mut open {
                if let Some((_, more)) = head.next.filter(|next| next.0 == key) {
                    df += u64::from(more);
                    head.advance()?;
                }
            }
            each(key, df);
        }
    }

    fn sample(&self, stop_keys: &[u64]) -> Result<SampleTotals> {
        let mut sample = SampleTotals::default();
        let step = self.documents().div_ceil(SAMPLE_DOCUMENTS).max(1);
        for address in self.live().skip(step as usize - 1).step_by(step as usize) {
            let signature = self.signature(address, Stop::NEVER)?;
            let is_stopped = |key| stop_keys.binary_search(&key).is_ok();
            sample.add(signature.iter().map(|found| (is_stopped(found.key), found.position)));
        }
        Ok(sample)
    }
}

/// A read position in the dictionary of a segment.
struct TermCursor<'a> {
    segment: &'a SegmentReader,
    block: usize,
    terms: Vec<(u64, u32)>,
    at: usize,
    next: Option<(u64, u32)>,
}

impl TermCursor<'_> {
    fn new(segment: &SegmentReader) -> Result<TermCursor<'_>> {
        let mut head = TermCursor { segment, block: 0, terms: Vec::new(), at: 0, next: None };
        head.advance()?;
        Ok(head)
    }

    fn advance(&mut self) -> Result<()> {
        while self.at == self.terms.len() && self.block < self.segment.blocks() {
            self.terms.clear();
            self.segment.terms_of_block(self.block, &mut self.terms)?;
            (self.block, self.at) = (self.block + 1, 0);
        }
        self.next = self.terms.get(self.at).copied();
        self.at = self.terms.len().min(self.at + 1);
        Ok(())
    }
}

/// Totals over the sampled documents.
#[derive(Default)]
struct SampleTotals {
    documents: u64,
    documents_lost: u64,
    passages: u64,
    passages_lost: u64,
}

impl SampleTotals {
    /// Adds a document, given by its fingerprints: whether stopped, and the position.
    fn add(&mut self, fingerprints: impl Iterator<Item = (bool, u32)>) {
        let mut any_kept = false;
        let mut passage: Option<(u32, bool)> = None;
        for (is_stopped, position) in fingerprints {
            any_kept |= !is_stopped;
            let number = position / PASSAGE_TOKENS;
            match &mut passage {
                Some((current, kept)) if *current == number => *kept |= !is_stopped,
                _ => {
                    self.end_passage(passage.replace((number, !is_stopped)));
                }
            }
        }
        self.documents += u64::from(passage.is_some());
        self.documents_lost += u64::from(passage.is_some() && !any_kept);
        self.end_passage(passage);
    }

    fn end_passage(&mut self, passage: Option<(u32, bool)>) {
        if let Some((_, kept)) = passage {
            self.passages += 1;
            self.passages_lost += u64::from(!kept);
        }
    }
}
