//! Document frequencies: how many documents of the index have a fingerprint.
//!
//! A document frequency is a sum over the dictionaries of every segment, which also count deleted
//! documents. Where deleted documents could change a decision, their postings are read and
//! subtracted.

use cento_api::ShardFrequencies;

use super::shared::terms_of;
use crate::error::Result;
use crate::index::{DocAddress, SegmentView, Snapshot};
use crate::runtime::Stop;
use crate::segment::{Term, Terms};

/// How many frequencies to read between two checks of a stop, which takes some milliseconds.
const TERMS_AT_ONCE: usize = 1 << 14;

/// For each segment, the terms among the keys with their places. Then the document frequency of
/// each key, deleted documents included.
pub type LookedUp<'a> = (Vec<Terms<'a>>, Vec<u64>);

/// Looks up the ascending `keys` in every segment.
///
/// # Errors
/// When a segment is damaged. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn look_up<'a>(snapshot: &'a Snapshot, keys: &[u64], stop: &Stop) -> Result<LookedUp<'a>> {
    let segments = snapshot.segments().iter().map(|segment| &segment.signatures);
    let terms = terms_of(&segments.collect::<Vec<_>>(), keys, stop)?;
    let dfs = sums(&terms, keys.len());
    Ok((terms, dfs))
}

/// Returns, for each of the ascending `keys`, the number of live documents with the key.
///
/// # Errors
/// When a file is damaged. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn live_frequencies(snapshot: &Snapshot, keys: &[u64], stop: &Stop) -> Result<Vec<u64>> {
    let (terms, mut dfs) = look_up(snapshot, keys, stop)?;
    leave_out_all_deleted(snapshot.segments(), &terms, &mut dfs, stop)?;
    Ok(dfs)
}

/// Returns, for each term of the segment `own` with one of the ascending ordinals, the number of
/// live documents of the snapshot with its key. `own` must have no deleted documents.
///
/// Signatures have ordinals, and an ordinal leads directly to a document frequency, so the segment
/// is not searched for keys. Keys are read only if other segments may have them.
///
/// # Errors
/// When a file is damaged. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn live_frequencies_at(
    snapshot: &Snapshot,
    own: usize,
    ordinals: &[u32],
    stop: &Stop,
) -> Result<Vec<u64>> {
    let segments = snapshot.segments();
    assert_eq!(segments[own].deleted_documents(), 0, "deleted documents would be counted");
    let signatures = &segments[own].signatures;
    let others = segments.iter().enumerate().filter(|(at, _)| *at != own);
    let others: Vec<_> = others.map(|(_, segment)| &segment.signatures).collect();
    let mut all = Vec::with_capacity(ordinals.len());
    for part in ordinals.chunks(TERMS_AT_ONCE) {
        stop.check()?;
        let own_dfs = signatures.dfs_at(part)?.into_iter().map(u64::from);
        if others.is_empty() {
            all.extend(own_dfs);
            continue;
        }
        let mut terms = terms_of(&others, &signatures.keys_at(part)?, stop)?;
        let mut dfs = sums(&terms, part.len());
        terms.insert(own, Vec::new());
        leave_out_all_deleted(segments, &terms, &mut dfs, stop)?;
        all.extend(own_dfs.zip(dfs).map(|(here, elsewhere)| here + elsewhere));
    }
    Ok(all)
}

/// Returns the document frequency of each of `keys` keys, as the sum over these terms.
fn sums(terms: &[Terms<'_>], keys: usize) -> Vec<u64> {
    let mut dfs = vec![0; keys];
    for (i, term) in terms.iter().flatten() {
        dfs[*i as usize] += u64::from(term.df());
    }
    dfs
}

/// Subtracts deleted documents from document frequencies that exceed `max_df` only because of
/// deleted documents.
///
/// The choice of stop-fingerprints therefore depends on the live documents, not on the time of the
/// last compaction.
pub fn leave_out_deleted(
    snapshot: &Snapshot,
    terms: &[Vec<(u32, Term<'_>)>],
    max_df: u64,
    dfs: &mut [u64],
    stop: &Stop,
) -> Result<()> {
    let deleted = snapshot.deleted_documents();
    if !dfs.iter().any(|&df| is_close(df, max_df, deleted)) {
        return Ok(());
    }
    let close: Vec<bool> = dfs.iter().map(|&df| is_close(df, max_df, deleted)).collect();
    leave_out_deleted_of(snapshot.segments(), terms, |i| close[i as usize], dfs, stop)
}

/// Returns whether this number of deleted documents may decide if a fingerprint is stopped.
fn is_close(df: u64, max_df: u64, deleted: u64) -> bool {
    df > max_df && df.saturating_sub(deleted) <= max_df
}

/// Subtracts deleted documents from every document frequency, because weights must depend only on
/// live documents.
pub fn leave_out_all_deleted(
    segments: &[SegmentView],
    terms: &[Vec<(u32, Term<'_>)>],
    dfs: &mut [u64],
    stop: &Stop,
) -> Result<()> {
    leave_out_deleted_of(segments, terms, |_| true, dfs, stop)
}

/// Subtracts deleted documents from the document frequencies of keys selected by `is_wanted`.
fn leave_out_deleted_of(
    segments: &[SegmentView],
    terms: &[Vec<(u32, Term<'_>)>],
    is_wanted: impl Fn(u32) -> bool,
    dfs: &mut [u64],
    stop: &Stop,
) -> Result<()> {
    let mut docs = Vec::new();
    for (segment, terms) in segments.iter().zip(terms).filter(|(s, _)| s.deleted_documents() > 0) {
        for (i, term) in terms.iter().filter(|(i, _)| is_wanted(*i)) {
            stop.check()?;
            docs.clear();
            segment.signatures.documents_of(term, &mut docs)?;
            dfs[*i as usize] -= docs.iter().filter(|&&doc| !segment.is_alive(doc)).count() as u64;
        }
    }
    Ok(())
}

/// Returns which of the `keys` keys occur in a live document that is not excluded.
pub fn known(
    segments: &[SegmentView],
    terms: &[Terms<'_>],
    keys: usize,
    excluded: &[DocAddress],
    stop: &Stop,
) -> Result<Vec<bool>> {
    let mut is_known = vec![false; keys];
    let mut docs = Vec::new();
    for (at, (segment, terms)) in (0u32..).zip(segments.iter().zip(terms)) {
        let is_there = |doc| {
            let address = DocAddress { segment: at, doc };
            segment.is_alive(doc) && excluded.binary_search(&address).is_err()
        };
        let excluded_here = excluded.iter().filter(|excluded| excluded.segment == at).count();
        let gone_max = segment.deleted_documents() + excluded_here as u32;
        for (at, (i, term)) in terms.iter().enumerate() {
            stop.check_at(at)?;
            let is_known = &mut is_known[*i as usize];
            // A term with more documents than can be gone is certainly in a remaining document, so
            // its list need not be read.
            if !*is_known && term.df() <= gone_max {
                docs.clear();
                segment.signatures.documents_of(term, &mut docs)?;
                *is_known = docs.iter().any(|&doc| is_there(doc));
            } else {
                *is_known = true;
            }
        }
    }
    Ok(is_known)
}

/// Returns the document frequencies over every shard for stop-fingerprints and weights, computed
/// like [`leave_out_deleted`] and [`leave_out_all_deleted`] do for an index.
pub fn added_up(collection: &ShardFrequencies, max_df: u64, is_weighed: bool) -> Vec<u64> {
    let deleted = collection.deleted.iter().copied().chain(std::iter::repeat(0));
    let live = collection.dfs.iter().zip(deleted).map(|(&df, deleted)| {
        let decides = is_weighed || is_close(df, max_df, collection.deleted_documents);
        if decides { df.saturating_sub(deleted) } else { df }
    });
    live.collect()
}

/// Returns for each fingerprint whether a document of any shard has it, like [`known`].
pub fn known_in(collection: &ShardFrequencies) -> Vec<bool> {
    let mut is_known: Vec<bool> = collection.dfs.iter().map(|&df| df > 0).collect();
    for &place in &collection.gone {
        if let Some(is_known) = is_known.get_mut(place as usize) {
            *is_known = false;
        }
    }
    is_known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document, Index, WriterOptions};

    #[test]
    fn frequencies_by_ordinal_are_those_by_key_whatever_other_segments_have() {
        let config = Config::new("kgram(k=1)", "words", false).unwrap();
        for segments in 1u64..4 {
            let index = Index::in_memory(config.clone()).unwrap();
            let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
            for segment in 0..segments {
                // Words of one, two, a few and many documents, and words of this segment only.
                for i in 0..300 {
                    let word = |of: u64| format!("d{of}x{} ", i / of);
                    let words: String = [1, 2, 20, 300].into_iter().map(word).collect();
                    let own = format!("s{segment}x{}", i % 7);
                    writer.add(Document::new(format!("{segment}-{i}"), words + &own)).unwrap();
                }
                writer.commit().unwrap();
            }
            if segments > 1 {
                // Every segment except the last keeps all its documents.
                for i in 0..40 {
                    assert!(writer.remove(&format!("{}-{i}", segments - 1)).unwrap());
                }
            }
            writer.finish().unwrap();
            let snapshot = index.snapshot().unwrap();
            assert_eq!(snapshot.segments().len() as u64, segments);
            let whole = snapshot.segments().iter().enumerate();
            for (own, segment) in whole.filter(|(_, segment)| segment.deleted_documents() == 0) {
                let ordinals: Vec<u32> = (0..segment.signatures.counts().terms as u32).collect();
                let keys = segment.signatures.keys_at(&ordinals).unwrap();
                let by_key = live_frequencies(&snapshot, &keys, Stop::NEVER).unwrap();
                let found = live_frequencies_at(&snapshot, own, &ordinals, Stop::NEVER).unwrap();
                assert_eq!(found, by_key);
                assert!([1, 2, 20, 300].iter().all(|df| segments > 1 || found.contains(df)));
            }
        }
    }
}
