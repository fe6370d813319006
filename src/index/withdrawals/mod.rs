//! Withdrawn documents, which an index refuses to add again.
//!
//! The index keeps a record of each withdrawal with the signature of the document, but without its
//! text. The list of segments contains the file of the records. Therefore the same commit removes a
//! document and starts to refuse it, and whatever carries the list carries the refusals: a copy, a
//! push, a merge. Other modules remove the documents themselves. Layout: segments-format.md,
//! "Withdrawals".

mod file;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use cento_api::http::SignatureBody;
use cento_api::{QuotingDocument, RemovedDocument, Withdrawal};
use tantivy::directory::FileSlice;
use tantivy::time::OffsetDateTime;
use tantivy::time::format_description::well_known::Rfc3339;

use super::storage::component::{footer, verify_body};
use super::{Config, DocAddress, Index, SignedDocument, Snapshot};
use crate::error::{Corruption, Error, Result};
use crate::hash::{BuildKeyHasher, Digest};
use crate::overlap::Overlap;
use crate::reason::{Reason, Refusal};
use crate::runtime::Stop;
use crate::scheme::{Fingerprint, KeyedSignature, distinct_keys};
use crate::similarity::Similarity;

/// The withdrawals of an index.
#[derive(Debug, Clone, Default)]
pub struct Withdrawals {
    /// The withdrawals with their signatures, ordered by time.
    all: Vec<Arc<SignedWithdrawal>>,
    /// By digest of a removed text, the place of its withdrawal in `all`.
    texts: HashMap<Digest, usize>,
    /// By key, the places of the withdrawals whose signature has the key.
    by_key: HashMap<u64, Vec<u32>, BuildKeyHasher>,
}

/// A withdrawal with its signatures in comparable form.
#[derive(Debug)]
struct SignedWithdrawal {
    withdrawal: Withdrawal,
    fingerprints: Vec<Fingerprint>,
    keys: Vec<u64>,
    /// The digests of texts that quote the withdrawn text and were kept.
    quoting: HashSet<Digest>,
    /// The fingerprints of all words and their keys, if the analyzer of the index leaves words out.
    words: Option<(Vec<Fingerprint>, Vec<u64>)>,
}

/// A text to compare with the withdrawals.
#[derive(Debug, Clone, Copy)]
pub struct CheckedText<'a> {
    /// The digest as the index stores it, keyed if the index has a key.
    pub digest: Digest,
    /// The number of tokens.
    pub tokens: u32,
    /// The fingerprints, ordered by position.
    pub signature: &'a [Fingerprint],
    /// The text, if available. Needed only when the analyzer of the index leaves words out.
    pub text: Option<&'a str>,
}

impl SignedDocument {
    /// Returns the text of the document in the form for checking.
    pub fn checked_text(&self) -> CheckedText<'_> {
        let SignedDocument { document, digest, token_count, signature } = self;
        let text = Some(&document.text[..]);
        CheckedText { digest: *digest, tokens: *token_count, signature, text }
    }
}

/// Why a text is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefusalEvidence {
    /// The text has the digest of a removed text.
    Digest,
    /// The signatures resemble each other.
    Resemblance,
    /// The signature contains most of the withdrawn signature.
    Containment,
}

impl Index {
    /// Returns the withdrawals as of the last commit.
    ///
    /// # Errors
    /// When the withdrawals cannot be read or are damaged.
    pub fn withdrawals(&self) -> Result<Withdrawals> {
        self.list()?;
        self.listed_withdrawals()
    }

    /// Returns the name of the file with the withdrawals as of the last commit, or `None` without
    /// withdrawals. The name changes whenever the withdrawals change.
    ///
    /// # Errors
    /// When the list of segments cannot be read.
    pub fn withdrawals_file(&self) -> Result<Option<String>> {
        self.list()?;
        Ok(self.directory().withdrawals())
    }

    /// Returns the withdrawals according to the list of segments that was last read.
    pub(super) fn listed_withdrawals(&self) -> Result<Withdrawals> {
        let Some(name) = self.directory().withdrawals() else { return Ok(Withdrawals::default()) };
        let failed = |e: io::Error| self.error("read the withdrawals of", e.into());
        let bytes = self.directory().read_checked(&name).map_err(failed)?;
        Withdrawals::from_file(&self.path().join(name).display().to_string(), &bytes)
    }
}

/// Formats a time for records, in seconds.
#[must_use]
pub fn date_of(time: SystemTime) -> String {
    let time = OffsetDateTime::from(time).replace_nanosecond(0).expect("0 is a nanosecond");
    time.format(&Rfc3339).unwrap_or_default()
}

/// Parses the result of [`date_of`] into seconds since 1970.
#[must_use]
pub fn seconds_of(date: &str) -> Option<u64> {
    let time = OffsetDateTime::parse(date, &Rfc3339).ok()?;
    u64::try_from(time.unix_timestamp()).ok()
}

/// Formats a digest for records, as 32 hexadecimal digits.
#[must_use]
pub fn hex_of(digest: Digest) -> String {
    format!("{:016x}{:016x}", digest.high, digest.low)
}

/// Parses the result of [`hex_of`].
#[must_use]
pub fn digest_of_hex(hex: &str) -> Option<Digest> {
    let is_hex = hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u128::from_str_radix(hex, 16).ok()).flatten().map(Digest::from)
}

impl Withdrawals {
    /// Returns whether there are no withdrawals.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the number of withdrawals.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the withdrawals, ordered by time.
    pub fn iter(&self) -> impl Iterator<Item = &Withdrawal> {
        self.all.iter().map(|signed| &signed.withdrawal)
    }

    /// Returns the last withdrawal of the document with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Withdrawal> {
        self.all.iter().rev().map(|signed| &signed.withdrawal).find(|one| one.id == id)
    }

    /// Adds a withdrawal. An earlier withdrawal of the same document and text is replaced.
    ///
    /// # Errors
    /// When a digest or the signature cannot be decoded. The error is a clause.
    pub fn push(&mut self, withdrawal: Withdrawal) -> std::result::Result<(), String> {
        let is_other = |signed: &&Arc<SignedWithdrawal>| !signed.withdrawal.is_same(&withdrawal);
        let mut all: Vec<Arc<SignedWithdrawal>> =
            self.all.iter().filter(is_other).cloned().collect();
        all.push(Arc::new(SignedWithdrawal::new(withdrawal)?));
        *self = Withdrawals::of(all)?;
        Ok(())
    }

    /// Removes the withdrawals of the document with this id. Returns their number.
    pub fn forget(&mut self, id: &str) -> usize {
        let before = self.all.len();
        let mut all = std::mem::take(&mut self.all);
        all.retain(|signed| signed.withdrawal.id != id);
        *self = Withdrawals::of(all).expect("each was read before");
        before - self.all.len()
    }

    /// Returns the union with the withdrawals of a second index. If both indexes have withdrawn a
    /// document, the lists of quoting documents are merged.
    #[must_use]
    pub fn union(&self, other: &Withdrawals) -> Withdrawals {
        let mut all: Vec<Arc<SignedWithdrawal>> = Vec::new();
        for signed in self.all.iter().chain(&other.all) {
            let is_same =
                |one: &&mut Arc<SignedWithdrawal>| one.withdrawal.is_same(&signed.withdrawal);
            match all.iter_mut().find(is_same) {
                None => all.push(signed.clone()),
                Some(known) if known.quoting.is_superset(&signed.quoting) => {}
                Some(known) => {
                    let mut withdrawal = known.withdrawal.clone();
                    let others = signed.withdrawal.quoting.iter();
                    let is_new = |quoting: &&QuotingDocument| {
                        withdrawal.quoting.iter().all(|own| own.digest != quoting.digest)
                    };
                    let others: Vec<_> = others.filter(is_new).cloned().collect();
                    withdrawal.quoting.extend(others);
                    *known =
                        Arc::new(SignedWithdrawal::new(withdrawal).expect("both were read before"));
                }
            }
        }
        Withdrawals::of(all).expect("each was read before")
    }

    fn of(all: Vec<Arc<SignedWithdrawal>>) -> std::result::Result<Withdrawals, String> {
        let (mut texts, mut by_key) = (HashMap::new(), HashMap::<u64, Vec<u32>, _>::default());
        for (at, signed) in all.iter().enumerate() {
            for digest in digests(&signed.withdrawal) {
                texts.insert(digest_in(digest)?, at);
            }
            for &key in &signed.keys {
                by_key.entry(key).or_default().push(at as u32);
            }
        }
        Ok(Withdrawals { all, texts, by_key })
    }

    /// Refuses a withdrawn document.
    ///
    /// An index refuses withdrawn texts, and texts whose signatures prove that they resemble or
    /// contain a withdrawn text. Quoting texts on the record were kept, and are not refused. If the
    /// analyzer of the index leaves words out, signatures prove nothing, so signatures of every
    /// word are compared instead.
    ///
    /// # Errors
    /// [`Error::Input`] with the reason [`Reason::Withdrawn`].
    pub fn check(&self, config: &Config, signed: &SignedDocument) -> Result<()> {
        match self.refusal(config, signed.checked_text())? {
            None => Ok(()),
            Some(what) => {
                let place = format!("document `{}`", signed.document.id);
                Err(Error::input(place, Refusal::new(Reason::Withdrawn, what)))
            }
        }
    }

    /// Returns why a text is refused, as a clause, or `None` if it is not.
    ///
    /// # Errors
    /// When the text is too large to be analyzed.
    pub fn refusal(&self, config: &Config, text: CheckedText<'_>) -> Result<Option<String>> {
        let Some((at, evidence)) = self.evidence(config, text)? else { return Ok(None) };
        let Withdrawal { id, withdrawn, digest: own, .. } = &self.all[at].withdrawal;
        let what = match evidence {
            RefusalEvidence::Digest if hex_of(text.digest) == *own => "it is",
            RefusalEvidence::Digest => "its text was removed with",
            RefusalEvidence::Resemblance => "it is a copy of",
            RefusalEvidence::Containment => "its text contains that of",
        };
        Ok(Some(format!("{what} the document `{id}`, which was withdrawn on {withdrawn}")))
    }

    /// Returns the withdrawal that refuses a text, if any.
    ///
    /// # Errors
    /// The errors of [`refusal`](Self::refusal).
    pub fn refused_for(
        &self,
        config: &Config,
        text: CheckedText<'_>,
    ) -> Result<Option<&Withdrawal>> {
        Ok(self.evidence(config, text)?.map(|(at, _)| &self.all[at].withdrawal))
    }

    /// Returns the place of the withdrawal that refuses a text, with the evidence.
    fn evidence(
        &self,
        config: &Config,
        text: CheckedText<'_>,
    ) -> Result<Option<(usize, RefusalEvidence)>> {
        if self.is_empty() {
            return Ok(None);
        }
        let known = self.texts.get(&text.digest).map(|&at| (at, RefusalEvidence::Digest));
        if known.is_some() { Ok(known) } else { self.resembling(config, text) }
    }

    /// Returns the place of the first withdrawal whose text is resembled or contained by the text.
    fn resembling(
        &self,
        config: &Config,
        CheckedText { digest, tokens, signature, text }: CheckedText<'_>,
    ) -> Result<Option<(usize, RefusalEvidence)>> {
        let keys = distinct_keys(signature);
        let mut shared: BTreeMap<u32, u32> = BTreeMap::new();
        let refuses = |at: &&u32| !self.all[**at as usize].quoting.contains(&digest);
        for at in keys.iter().filter_map(|key| self.by_key.get(key)).flatten().filter(refuses) {
            *shared.entry(*at).or_default() += 1;
        }
        if shared.is_empty() {
            return Ok(None);
        }
        if let Some(words) = config.of_all_words()? {
            return self.resembling_words(&words, shared.into_keys(), text);
        }
        let evidence = |(at, shared): (u32, u32)| {
            let SignedWithdrawal { withdrawal, fingerprints, keys: own, .. } =
                &*self.all[at as usize];
            let overlap = Overlap::new(shared, own.len() as u32, keys.len() as u32);
            let own_tokens = withdrawal.signature.tokens;
            let similarity = match config.scheme.estimator() {
                None => Similarity::of_sketches(overlap),
                Some(estimator) => {
                    let a = KeyedSignature { tokens: own_tokens, fingerprints, keys: own };
                    let b = KeyedSignature { tokens, fingerprints: signature, keys: &keys };
                    estimator.compare(overlap, a, b)
                }
            };
            evidence_of(withdrawal, own_tokens, &similarity)
        };
        let found = |found: (u32, u32)| Some((found.0 as usize, evidence(found)?));
        Ok(shared.into_iter().find_map(found))
    }

    /// Returns why a stored document would be refused, as a clause, or `None` if it would not.
    ///
    /// # Errors
    /// When the document cannot be read. [`Error::Cancelled`] soon after `stop`.
    pub(crate) fn of_stored(
        &self,
        snapshot: &Snapshot,
        address: DocAddress,
        stop: &Stop,
    ) -> Result<Option<String>> {
        let segment = &snapshot.segment(address).signatures;
        let tokens = segment.document(address.doc)?.tokens;
        let signature = snapshot.signature(address, stop)?;
        let config = snapshot.config();
        let text = config.leaves_words_out().then(|| snapshot.text(address)).transpose()?.flatten();
        let (digest, text) = (segment.digest(address.doc)?, text.as_deref());
        self.refusal(config, CheckedText { digest, tokens, signature: &signature, text })
    }

    /// Refuses a snapshot of the index `name` that has a withdrawn document. Only segments for
    /// which `is_of_interest` is true are read. Removed documents count too, because their segments
    /// still have the texts.
    ///
    /// # Errors
    /// The refusal with the id of the document, and when a document cannot be read.
    pub(super) fn check_all(
        &self,
        snapshot: &Snapshot,
        name: &Path,
        is_of_interest: impl Fn(usize) -> bool,
    ) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        for (segment, view) in (0u32..).zip(snapshot.segments()) {
            if !is_of_interest(segment as usize) {
                continue;
            }
            for doc in 0..view.live_documents() + view.deleted_documents() {
                let address = DocAddress { segment, doc };
                if let Some(why) = self.of_stored(snapshot, address, Stop::NEVER)? {
                    let id = snapshot.id(address)?;
                    let what = match view.is_alive(doc) {
                        true => format!(
                            "nothing was merged: the document `{id}`: {why}; withdraw it \
                             from this index too, or lift the withdrawal"
                        ),
                        false => format!(
                            "nothing was merged: the document `{id}`, which was removed or \
                             replaced: {why}; the files still have its text: compact this \
                             index"
                        ),
                    };
                    return Err(Error::index(name, Reason::Withdrawn, what));
                }
            }
        }
        Ok(())
    }
}

/// Decodes a digest of a record.
///
/// # Errors
/// When the text is not 32 hexadecimal digits. The error is a clause.
fn digest_in(hex: &str) -> std::result::Result<Digest, String> {
    digest_of_hex(hex).ok_or_else(|| format!("{hex:?} is no digest"))
}

/// Returns the digests of the texts that a withdrawal removed.
pub fn digests(withdrawal: &Withdrawal) -> impl Iterator<Item = &String> {
    let removed = withdrawal.removed.iter().map(|RemovedDocument { digest, .. }| digest);
    // The document itself comes last and wins: its text must not be attributed to a removed copy.
    removed.chain(std::iter::once(&withdrawal.digest))
}

impl SignedWithdrawal {
    fn new(withdrawal: Withdrawal) -> std::result::Result<SignedWithdrawal, String> {
        let fingerprints = fingerprints_of(&withdrawal.signature)?;
        let words = withdrawal.words.as_ref().map(fingerprints_of).transpose()?;
        let words = words.map(|words| {
            let keys = distinct_keys(&words);
            (words, keys)
        });
        let keys = distinct_keys(&fingerprints);
        let quoting = withdrawal.quoting.iter().map(|quoting| digest_in(&quoting.digest));
        let quoting = quoting.collect::<std::result::Result<_, String>>()?;
        Ok(SignedWithdrawal { withdrawal, fingerprints, keys, quoting, words })
    }
}

/// Decodes the fingerprints of a signature in JSON.
fn fingerprints_of(signature: &SignatureBody) -> std::result::Result<Vec<Fingerprint>, String> {
    let read = |(key, position): &(String, u32)| {
        let key = key.parse().map_err(|_| format!("{key:?} is no fingerprint"))?;
        Ok(Fingerprint { key, position: *position })
    };
    let fingerprints: Vec<Fingerprint> =
        signature.fingerprints.iter().map(read).collect::<std::result::Result<_, String>>()?;
    if !fingerprints.is_sorted_by_key(|fingerprint| fingerprint.position) {
        return Err("its fingerprints are not in order".into());
    }
    if fingerprints.last().is_some_and(|last| last.position >= signature.tokens) {
        return Err("a fingerprint is beyond its tokens".into());
    }
    Ok(fingerprints)
}

/// Returns the evidence in the similarity between a withdrawn text of `own_tokens` tokens (side a)
/// and another text.
fn evidence_of(
    withdrawal: &Withdrawal,
    own_tokens: u32,
    similarity: &Similarity,
) -> Option<RefusalEvidence> {
    let least = withdrawal.min_resemblance;
    // A text shorter than a passage occurs in many texts by chance.
    let is_passage = own_tokens >= withdrawal.min_passage;
    match () {
        () if similarity.resembles(least) => Some(RefusalEvidence::Resemblance),
        () if similarity.of_sketches => None,
        () if is_passage && similarity.contains_a(least) => Some(RefusalEvidence::Containment),
        () => None,
    }
}

impl Withdrawals {
    /// Parses the file `name` of a list of segments, from bytes that another program has stored.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Withdrawals> {
        let failed = |e| Error::io("read", name, e);
        let file = FileSlice::from(bytes);
        verify_body(name, file.clone()).map_err(failed)?;
        let body = footer(name, file).and_then(|(_, body)| body.read_bytes()).map_err(failed)?;
        Withdrawals::from_file(name, &body)
    }

    /// Returns the withdrawals that `other` lacks.
    pub fn missing_in<'a>(
        &'a self,
        other: &'a Withdrawals,
    ) -> impl Iterator<Item = &'a Withdrawal> {
        let is_missing = |own: &&Withdrawal| !other.iter().any(|other| other.is_same(own));
        self.iter().filter(is_missing)
    }

    /// Parses the file `name`, whose checksum has been verified.
    pub(super) fn from_file(name: &str, bytes: &[u8]) -> Result<Withdrawals> {
        let damage = |at: usize, what: String| -> Error {
            Corruption::new(name, "withdrawals", at as u64, what).into()
        };
        let mut all = Vec::new();
        for (at, withdrawal) in file::read(bytes).map_err(|(at, what)| damage(at, what))? {
            all.push(Arc::new(SignedWithdrawal::new(withdrawal).map_err(|what| damage(at, what))?));
        }
        Withdrawals::of(all).map_err(|what| damage(0, what))
    }

    /// Serializes the withdrawals into the bytes of a file.
    pub(super) fn to_file(&self) -> Vec<u8> {
        file::write(self.iter())
    }
}
