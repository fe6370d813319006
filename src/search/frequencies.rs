//! Document frequencies: how many documents of the index have a fingerprint?
//!
//! They are sums over the dictionaries of all segments, which count deleted documents too. Where
//! these would decide something, their postings are read and subtracted.

use super::shared::terms_of;
use crate::error::Result;
use crate::index::{SegmentView, Snapshot};
use crate::runtime::Stop;
use crate::segment::Term;

/// The terms of each segment that are among the keys, with their places, and the document frequency
/// of each key, deleted documents included.
pub type LookedUp<'a> = (Vec<Vec<(u32, Term<'a>)>>, Vec<u64>);

/// Looks up the ascending `keys` in all segments.
///
/// # Errors
/// When a segment is damaged; [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn look_up<'a>(snapshot: &'a Snapshot, keys: &[u64], stop: &Stop) -> Result<LookedUp<'a>> {
    let mut dfs = vec![0u64; keys.len()];
    let segments = snapshot.segments().iter().map(|segment| &segment.signatures);
    let terms = terms_of(&segments.collect::<Vec<_>>(), keys, stop)?;
    for (i, term) in terms.iter().flatten() {
        dfs[*i as usize] += u64::from(term.df());
    }
    Ok((terms, dfs))
}

/// Returns, for each of the ascending `keys`, the number of live documents that have it.
///
/// # Errors
/// When a file is damaged; [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn live_frequencies(snapshot: &Snapshot, keys: &[u64], stop: &Stop) -> Result<Vec<u64>> {
    let (terms, mut dfs) = look_up(snapshot, keys, stop)?;
    leave_out_all_deleted(snapshot.segments(), &terms, &mut dfs, stop)?;
    Ok(dfs)
}

/// Subtracts deleted documents from those document frequencies that would exceed `max_df` with
/// them and not without.
///
/// So the choice of stop-fingerprints depends on the documents in the index, not on when it was
/// compacted.
pub fn leave_out_deleted(
    segments: &[SegmentView],
    terms: &[Vec<(u32, Term<'_>)>],
    max_df: u64,
    dfs: &mut [u64],
    stop: &Stop,
) -> Result<()> {
    let deleted: u64 = segments.iter().map(|segment| u64::from(segment.deleted_documents())).sum();
    let is_close = |df: u64| df > max_df && df.saturating_sub(deleted) <= max_df;
    if !dfs.iter().any(|&df| is_close(df)) {
        return Ok(());
    }
    let close: Vec<bool> = dfs.iter().map(|&df| is_close(df)).collect();
    leave_out_deleted_of(segments, terms, |i| close[i as usize], dfs, stop)
}

/// Subtracts deleted documents from all document frequencies: weights depend on the documents in
/// the index alone.
pub fn leave_out_all_deleted(
    segments: &[SegmentView],
    terms: &[Vec<(u32, Term<'_>)>],
    dfs: &mut [u64],
    stop: &Stop,
) -> Result<()> {
    leave_out_deleted_of(segments, terms, |_| true, dfs, stop)
}

/// Subtracts deleted documents from the document frequencies of the keys that `is_wanted` selects.
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
