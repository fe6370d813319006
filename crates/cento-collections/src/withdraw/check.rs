//! Checks by its record, without its text, whether an index still has a withdrawn document.
//!
//! A record has the digests of removed texts and the signature of the withdrawn text. So an equal
//! text is recognized with certainty, and a copy by its signature. For a passage there is only
//! evidence: adjacent shared fingerprints. Passages without shared fingerprints are not found.

use std::collections::{BTreeSet, HashMap};

use cento_api::{QuotingDocument, Withdrawal};

use cento::index::{
    CheckedText, Index, Snapshot, Withdrawals, digest_of_hex, digests_of_withdrawal,
};
use cento::search::{ForeignSignature, Subject};
use cento_api::error::{Error, Result};
use cento_text::runtime::Stop;
use cento_text::scheme::{Fingerprint, distinct_keys};

/// The maximum number of places of a repeated fingerprint to look at.
const PLACES_MAX: usize = 8;

/// What an index still has of a withdrawn document, according to its record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RecordCheck {
    /// Where the index contradicts the record, for example by having the text again, as sentences.
    pub problems: Vec<String>,
    /// The documents in the index that quote the withdrawn document according to the record, as
    /// sentences.
    pub quoting: Vec<String>,
    /// The ids of further documents with a shared fingerprint, which is no evidence of a passage.
    pub single: Vec<String>,
    /// The number of distinct fingerprints of the withdrawn document.
    pub fingerprints: u32,
    /// How many shared fingerprints near each other are evidence of a passage.
    pub needed: u32,
    /// The maximum distance of two fingerprints near each other, in tokens.
    pub near_tokens: u32,
}

/// Compares an index with the record of a withdrawal.
///
/// The removed texts are searched for by their digests, and copies by comparing the signature with
/// the signatures of all documents. Passages are searched for by shared fingerprints. Two of them
/// are evidence if they are in the same order and at most the length of a passage apart.
///
/// # Errors
/// When the index makes signatures differently or cannot be read, or the record is invalid.
/// [`Error::Cancelled`] soon after `stop`.
pub fn check(index: &Index, record: &Withdrawal, stop: &Stop) -> Result<RecordCheck> {
    let mut found = documents(&index.snapshot()?, record, stop)?;
    let known = index.withdrawals()?;
    if !known.iter().any(|one| one.is_same(record)) {
        let what = format!("the index does not refuse the document `{}`", record.id);
        found.problems.insert(0, what);
    }
    if index.has_removed_documents()? {
        found.problems.push(
            "segments have documents that were removed or replaced, perhaps those of the record; \
             `cento compact` writes them without"
                .into(),
        );
    }
    found.problems.extend(index.unlisted_files()?.into_iter().map(|name| {
        format!(
            "the file `{name}` is of no commit, and may have documents that were removed; `cento \
             compact` removes it"
        )
    }));
    Ok(found)
}

/// Searches for documents that have text of a withdrawn document. Problems are about documents
/// only.
pub(super) fn documents(
    snapshot: &Snapshot,
    record: &Withdrawal,
    stop: &Stop,
) -> Result<RecordCheck> {
    let invalid = |what: String| Error::input("the record", what);
    let digest_of =
        |hex: &String| digest_of_hex(hex).ok_or_else(|| invalid(format!("{hex:?} is no digest")));
    let texts: BTreeSet<_> = digests_of_withdrawal(record).map(digest_of).collect::<Result<_>>()?;
    let mut refused = Withdrawals::default();
    refused.push(record.clone()).map_err(invalid)?;
    let config = snapshot.config();
    let subject = ForeignSignature::subject_of(record.signature.clone(), config)?;
    let Subject::Signature { fingerprints, .. } = subject else {
        unreachable!("a signature is a signature")
    };
    let own = OwnFingerprints::new(&fingerprints, config.scheme.run_tokens(), record.min_passage);
    let quoting = quoting_of(record);
    let (mut problems, mut remaining, mut single) = (Vec::new(), Vec::new(), Vec::new());
    for address in snapshot.live() {
        stop.check()?;
        let segment = &snapshot.segment(address).signatures;
        let (digest, tokens) =
            (segment.digest(address.doc)?, segment.document(address.doc)?.tokens);
        let signature = snapshot.signature(address, stop)?;
        let shared = own.shared(&signature);
        let text = config.leaves_words_out().then(|| snapshot.text(address)).transpose()?.flatten();
        let text = CheckedText { digest, tokens, signature: &signature, text: text.as_deref() };
        let what = if texts.contains(&digest) {
            Some(" has a text that was removed".to_owned())
        } else if let Some(what) = refused.refusal(config, text)? {
            Some(format!(": {what}"))
        } else {
            own.evidence(&shared)
        };
        if what.is_none() && shared.is_empty() && quoting.is_empty() {
            continue;
        }
        let id = snapshot.id(address)?;
        match (quoting.get(id.as_str()), what) {
            (Some(tokens), _) => {
                remaining.push((format!("the document `{id}` quotes {tokens} tokens of it"), id));
            }
            (None, Some(what)) => problems.push((format!("the document `{id}`{what}"), id)),
            (None, None) if shared.is_empty() => {}
            (None, None) => single.push(id),
        }
    }
    // Sort by id, because the order of segments depends on timing.
    let sentences = |mut found: Vec<(String, String)>| {
        found.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        found.into_iter().map(|(sentence, _)| sentence).collect()
    };
    single.sort_unstable();
    Ok(RecordCheck {
        problems: sentences(problems),
        quoting: sentences(remaining),
        single,
        fingerprints: own.distinct,
        needed: own.needed,
        near_tokens: own.near,
    })
}

/// Returns the documents that quote the withdrawn document according to the record, with the number
/// of quoted tokens.
fn quoting_of(record: &Withdrawal) -> HashMap<&str, u32> {
    let quoted = |one: &'_ QuotingDocument| one.quoted_tokens;
    record.quoting.iter().map(|one| (one.id.as_str(), quoted(one))).collect()
}

/// The fingerprints of a withdrawn document, for comparison with signatures.
struct OwnFingerprints {
    /// The places of each key in the withdrawn text.
    places: HashMap<u64, Vec<u32>>,
    distinct: u32,
    /// The tokens of a run. A scheme without runs gives no evidence of passages.
    run_tokens: Option<u32>,
    needed: u32,
    near: u32,
}

impl OwnFingerprints {
    fn new(
        fingerprints: &[Fingerprint],
        run_tokens: Option<usize>,
        min_passage: u32,
    ) -> OwnFingerprints {
        let run_tokens = run_tokens.map(|tokens| tokens as u32);
        let distinct = distinct_keys(fingerprints).len() as u32;
        let is_passage = run_tokens.is_some_and(|tokens| tokens >= min_passage);
        let needed = if is_passage || distinct < 2 { 1 } else { 2 };
        let mut places: HashMap<u64, Vec<u32>> = HashMap::new();
        for fingerprint in fingerprints {
            places.entry(fingerprint.key).or_default().push(fingerprint.position);
        }
        OwnFingerprints { places, distinct, run_tokens, needed, near: min_passage }
    }

    /// Returns the places of shared fingerprints in the withdrawn text, ascending, and in the given
    /// text.
    fn shared(&self, signature: &[Fingerprint]) -> Vec<(u32, u32)> {
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let mut shared = Vec::new();
        for fingerprint in signature {
            let Some(places) = self.places.get(&fingerprint.key) else { continue };
            let times = seen.entry(fingerprint.key).or_default();
            *times += 1;
            if *times <= PLACES_MAX {
                let places = places.iter().take(PLACES_MAX);
                shared.extend(places.map(|place| (*place, fingerprint.position)));
            }
        }
        shared.sort_unstable();
        shared
    }

    /// Describes the passage that shared fingerprints are evidence of, if they are.
    fn evidence(&self, shared: &[(u32, u32)]) -> Option<String> {
        let run_tokens = self.run_tokens?;
        // The longest chain up to each place, as number of fingerprints and beginning.
        let mut chains: Vec<(u32, u32)> = Vec::with_capacity(shared.len());
        for (at, &(own, other)) in shared.iter().enumerate() {
            let mut chain = (1, own);
            for (before, &(own_before, other_before)) in shared[..at].iter().enumerate().rev() {
                if own - own_before > self.near {
                    break;
                }
                let is_near = |a: u32, b: u32| (1..=self.near).contains(&b.saturating_sub(a));
                if is_near(own_before, own) && is_near(other_before, other) {
                    let (count, start) = chains[before];
                    chain = chain.max((count + 1, start));
                }
            }
            chains.push(chain);
        }
        let chains = chains.iter().zip(shared);
        let ((count, start), (end, _)) = chains.max_by_key(|((count, _), _)| *count)?;
        (*count >= self.needed).then(|| {
            let tokens = end - start + run_tokens;
            let of = if *count == 1 { "one" } else { &count.to_string() };
            format!(" has a passage of about {tokens} tokens or more, by {of} of its fingerprints")
        })
    }
}
