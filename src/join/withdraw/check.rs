//! Is anything of a withdrawn document in an index? By its record, without its text.

use std::collections::BTreeSet;

use cento_api::{MaxDf, Withdrawal};

use crate::error::{Error, Result};
use crate::index::{Index, Withdrawals, digest_of_hex};
use crate::runtime::Stop;
use crate::search::{ForeignSignature, Query, Searcher};

/// Returns the contradictions of an index to the record of a withdrawal, such as a text that is
/// there again: each as a sentence. Nothing if all is as recorded.
///
/// The texts of the record are looked for by their digests, copies by the signature, which is
/// compared with those of all documents, and passages by shared fingerprints, as a search for the
/// signature finds them. Documents that the record names as left are not reported again.
///
/// # Errors
/// When the signature was made otherwise than the index makes them, the index cannot be read, or
/// the record is invalid; [`Error::Cancelled`] soon after `stop`.
pub fn check(index: &Index, record: &Withdrawal, stop: &Stop) -> Result<Vec<String>> {
    let invalid = |what: String| Error::input("the record", what);
    let snapshot = index.snapshot()?;
    let mut problems = Vec::new();
    let known = index.withdrawals()?;
    let is_same = |one: &Withdrawal| (&one.id, &one.digest) == (&record.id, &record.digest);
    if !known.iter().any(is_same) {
        problems.push(format!("the index does not refuse the document `{}`", record.id));
    }
    let removed = record.removed.iter().map(|removed| &removed.digest);
    let texts: BTreeSet<&String> =
        removed.chain(record.cut.iter().map(|cut| &cut.digest)).chain([&record.digest]).collect();
    let left = &record.left;
    let left: BTreeSet<&str> = [&left.earlier, &left.edited, &left.kept, &left.unfinished]
        .into_iter()
        .flatten()
        .map(|left| left.id.as_str())
        .collect();
    let mut named: BTreeSet<String> = BTreeSet::new();
    for hex in texts {
        let digest = digest_of_hex(hex).ok_or_else(|| invalid(format!("{hex:?} is no digest")))?;
        if let Some(id) = snapshot.find_digest(digest)?
            && !left.contains(id.as_str())
            && named.insert(id.clone())
        {
            problems.push(format!("the document `{id}` has a text that was removed or cut"));
        }
    }
    let mut refused = Withdrawals::default();
    refused.push(record.clone()).map_err(invalid)?;
    for address in snapshot.live() {
        stop.check()?;
        if let Some(what) = refused.of_stored(&snapshot, address, stop)? {
            let id = snapshot.id(address)?;
            if !left.contains(id.as_str()) && named.insert(id.clone()) {
                problems.push(format!("the document `{id}`: {what}"));
            }
        }
    }
    let subject = ForeignSignature::subject_of(record.signature.clone(), snapshot.config())?;
    let mut query = Query::new(subject)
        .max_df(MaxDf::Documents(u64::MAX))
        .limit(usize::MAX)
        .passages(true)
        .min_passage(record.min_passage);
    query.stop = stop.clone();
    for hit in Searcher::new(snapshot.clone()).search(&query)?.hits {
        let tokens = hit.passages.iter().flatten().map(|passage| passage.matched).max();
        let tokens = tokens.unwrap_or(0);
        if tokens >= record.min_passage
            && !left.contains(hit.id.as_str())
            && named.insert(hit.id.clone())
        {
            let what = format!("has a passage of about {tokens} tokens, by its fingerprints");
            problems.push(format!("the document `{}` {what}", hit.id));
        }
    }
    if index.has_removed_documents()? {
        problems.push(
            "segments have documents that were removed or replaced, perhaps those of the record; \
             `cento compact` writes them without"
                .into(),
        );
    }
    Ok(problems)
}
