//! The memory for searching for a text, or for comparing two texts.
//!
//! A program that answers many queries at a time takes these numbers from a shared [`ByteBudget`]
//! before each query. The memory of the query itself is known then, but not the memory of the
//! stored texts that it will be compared with. [`Query::memory`](super::Query::memory) therefore
//! passes the budget on, and the memory for a stored text is reserved when the text is read.

use std::sync::{Arc, Mutex, PoisonError};

use crate::compare::align::runs_bytes;
use crate::error::{Error, Result};
use crate::index::{Config, DocAddress, FINGERPRINT_BYTES as SIGNED_BYTES, Signature, Snapshot};
use crate::runtime::Stop;
use crate::runtime::{ByteBudget, Permit};
use crate::scheme::{Fingerprint, TOKEN_BYTES};
use crate::text::Analyzer;

/// Bytes per fingerprint of a query: the fingerprint, a sorted copy, key, position, and matches.
const FINGERPRINT_BYTES: usize = 64;

/// Bytes per token of a query while passages are looked for, without runs: the hash and place,
/// entries in the tables of seeds and of words, and the place in a sentence. A text of 229,380
/// distinct words takes 162 bytes per word, because its tables have just doubled. Up to 12 more
/// bytes are for places, if the text is not a clean copy.
const QUERY_TOKEN_BYTES: usize = 176;

/// Bytes per token of the document that the query is compared with. Measured: 97 bytes.
pub(super) const DOCUMENT_TOKEN_BYTES: usize = 100;

/// Smaller amounts are not reserved, because a thread takes that much anyway.
pub const RESERVED_BYTES_MIN: usize = 4 << 20;

/// Returns the bytes needed to search for a text with this signature.
#[must_use]
pub fn of_search(text: &Signature) -> usize {
    text.bytes.saturating_add(text.count.saturating_mul(FINGERPRINT_BYTES))
}

/// Returns the bytes needed to look up all runs of a text of this many tokens.
pub(super) fn of_runs(tokens: u32) -> usize {
    (tokens as usize).saturating_mul(SIGNED_BYTES + FINGERPRINT_BYTES)
}

/// Returns the bytes needed to compare two texts.
#[must_use]
pub fn of_comparison(query: &Signature, document: &Signature) -> usize {
    let texts = of_search(query).saturating_add(of_search(document));
    texts.saturating_add(of_passages(query.tokens, document.tokens))
}

/// Returns the bytes needed to find the passages of two documents with these numbers of tokens.
#[must_use]
pub fn of_passages(query_tokens: u32, document_tokens: u32) -> usize {
    of_query(query_tokens).saturating_add(of_tokens(document_tokens))
}

/// Returns the bytes needed to sign a stored text of this size again.
fn of_signing(config: &Config, text_bytes: usize, tokens: u32) -> usize {
    // Most schemes sign the tokens as they come, without holding them.
    let held = if config.scheme.signer().is_none() { TOKEN_BYTES } else { 0 };
    let signature = (tokens as usize).saturating_mul(SIGNED_BYTES + held);
    signature.saturating_add(config.analyzer.scratch_bytes(text_bytes))
}

/// Returns the bytes of the tokens of a query while passages are looked for.
pub(super) fn of_query(tokens: u32) -> usize {
    let tokens = tokens as usize;
    tokens.saturating_mul(QUERY_TOKEN_BYTES).saturating_add(runs_bytes(tokens))
}

/// Returns the bytes of the tokens of a document while passages are looked for.
pub(super) fn of_tokens(tokens: u32) -> usize {
    (tokens as usize).saturating_mul(DOCUMENT_TOKEN_BYTES)
}

/// The source of the memory for the stored texts of a search, and for its answer.
///
/// The memory of the answer is returned when the last copy is dropped. Keep a copy for as long as
/// you keep the answer.
#[derive(Debug, Clone)]
pub struct QueryMemory {
    /// The budget that memory is taken from.
    pub budget: Arc<ByteBudget>,
    /// The bytes that the search already holds from the budget, and keeps meanwhile.
    pub own_bytes: usize,
    answer: Arc<Mutex<AnswerMemory>>,
}

/// The memory of an answer.
#[derive(Debug, Default)]
struct AnswerMemory {
    permits: Vec<Permit>,
    /// The bytes without a permit, because they are few.
    without_permit: usize,
}

impl QueryMemory {
    /// Returns the memory of a search that already holds `own_bytes` of this budget.
    #[must_use]
    pub fn new(budget: Arc<ByteBudget>, own_bytes: usize) -> QueryMemory {
        QueryMemory { budget, own_bytes, answer: Arc::default() }
    }

    /// Reserves memory for a part of the answer, such as "passages". `held` are the bytes already
    /// reserved by the caller.
    ///
    /// # Errors
    /// The errors of [`reserve`].
    pub(super) fn keep(&self, held: usize, bytes: usize, what: &str) -> Result<()> {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer.without_permit = answer.without_permit.saturating_add(bytes);
        let kept: usize = answer.permits.iter().map(Permit::bytes).sum();
        let (held, bytes) = (held.saturating_add(kept), answer.without_permit);
        let what = || format!("an answer with {} bytes of {what}", kept.saturating_add(bytes));
        if let Some(permit) = take(Some(self), held, bytes, what)? {
            answer.permits.push(permit);
            answer.without_permit = 0;
        }
        Ok(())
    }
}

/// The source of the memory for stored documents that given documents are compared with.
#[derive(Debug, Clone)]
pub struct StoredMemory {
    /// The budget, and how much the given documents hold.
    pub memory: QueryMemory,
    /// The first stored document. The given documents have smaller addresses.
    pub first: DocAddress,
}

impl StoredMemory {
    /// Reserves memory for a stored text of this many bytes, and of this many tokens at
    /// `token_bytes` each. Nothing is reserved for a given document. The first permit is only
    /// needed while the text is split. Never blocks.
    ///
    /// # Errors
    /// The errors of `reserve`.
    pub fn reserve(
        &self,
        address: DocAddress,
        analyzer: &Analyzer,
        text_bytes: usize,
        tokens: u32,
        token_bytes: usize,
    ) -> Result<[Option<Permit>; 2]> {
        if address < self.first {
            return Ok([None, None]);
        }
        let memory = Some(&self.memory);
        let scratch = reserve_scratch(memory, 0, analyzer, text_bytes)?;
        let held = scratch.as_ref().map_or(0, Permit::bytes);
        let bytes = (tokens as usize).saturating_mul(token_bytes);
        Ok([scratch, reserve(memory, held, bytes, tokens)?])
    }
}

/// Bytes per token of a text compared by runs: a run in a set with the number of repetitions, and a
/// hash while the text is read.
pub(super) const RUN_TOKEN_BYTES: usize = 64;

/// Reserves `bytes` for comparing a text of this many tokens, if there is a budget and the amount
/// is not small.
///
/// Never blocks, to avoid deadlock: this query already holds memory, and other holders may be
/// waiting for it. Queries that are waiting for memory do not prevent this query from taking the
/// remaining memory. `held` are the bytes already reserved by the caller.
///
/// # Errors
/// [`Error::Memory`] when not enough memory is left, or when the budget can never provide it in
/// addition to the memory of the query.
pub(super) fn reserve(
    room: Option<&QueryMemory>,
    held: usize,
    bytes: usize,
    tokens: u32,
) -> Result<Option<Permit>> {
    take(room, held, bytes, || format!("comparing with a text of {tokens} tokens"))
}

/// Like [`reserve`], for the temporary memory for splitting a text of this many bytes into tokens.
///
/// # Errors
/// The errors of [`reserve`].
pub(super) fn reserve_scratch(
    room: Option<&QueryMemory>,
    held: usize,
    analyzer: &Analyzer,
    text_bytes: usize,
) -> Result<Option<Permit>> {
    let bytes = analyzer.scratch_bytes(text_bytes);
    take(room, held, bytes, || format!("splitting a text of {text_bytes} bytes into tokens"))
}

/// Returns the signature of a stored document. If signatures are not stored, reserves memory like
/// [`reserve`] while the signature is computed from the text.
///
/// # Errors
/// The errors of [`reserve`]. When the document is damaged. [`Error::Cancelled`] soon after `stop`.
pub(super) fn signature(
    snapshot: &Snapshot,
    address: DocAddress,
    room: Option<&QueryMemory>,
    stop: &Stop,
) -> Result<Vec<Fingerprint>> {
    let reserve = |text_bytes: usize, tokens: u32| {
        let bytes = of_signing(snapshot.config(), text_bytes, tokens);
        take(room, 0, bytes, || format!("signing a stored text of {text_bytes} bytes again"))
    };
    snapshot.signature_within(address, reserve, stop)
}

fn take(
    room: Option<&QueryMemory>,
    held: usize,
    bytes: usize,
    what: impl FnOnce() -> String,
) -> Result<Option<Permit>> {
    let Some(room) = room.filter(|_| bytes > RESERVED_BYTES_MIN) else { return Ok(None) };
    if let Some(permit) = room.budget.try_take(bytes) {
        return Ok(Some(permit));
    }
    let needed = room.own_bytes.saturating_add(held).saturating_add(bytes);
    Err(Error::memory(what(), needed, room.budget.bytes_max()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Document, Index, WriterOptions};
    use crate::search::{Goal, Query, Rank, Searcher};

    const WORDS: &str = "a few words of which none is the name of any document ";

    /// Creates an index with a long text. Returns the temporary memory for splitting the text, too.
    fn of_a_long_text(without_signatures: bool) -> (Searcher, usize) {
        let mut config = Config::new("winnow(k=5,w=10)", "avtor(language=none)", true).unwrap();
        if without_signatures {
            config = config.without_signatures().unwrap();
        }
        let scratch = config.analyzer.scratch_bytes(4_000 * WORDS.len());
        assert!(scratch > RESERVED_BYTES_MIN);
        let index = Index::in_memory(config).unwrap();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false)).unwrap();
        writer.add(Document::new("long", WORDS.repeat(4_000))).unwrap();
        writer.add(Document::new("short", WORDS.repeat(2))).unwrap();
        writer.finish().unwrap();
        (Searcher::new(index.snapshot().unwrap()), scratch)
    }

    /// Asserts that a search finds something with `enough` memory, and is refused with less than
    /// the memory for splitting the text into tokens.
    #[track_caller]
    fn assert_takes(searcher: &Searcher, query: &Query, enough: usize, scratch: usize) {
        let search = |bytes: usize| {
            let memory = QueryMemory::new(ByteBudget::new(bytes), 0);
            searcher.search(&query.clone().memory(memory))
        };
        assert!(!search(enough).unwrap().hits.is_empty());
        let error = search(scratch - 1).unwrap_err();
        assert!(matches!(error, Error::Memory { is_for_now: false, .. }), "{error}");
    }

    #[test]
    fn the_temporary_memory_of_an_analyser_counts_in_the_budget() {
        // The memory was once reserved only for texts of requests, and stored texts came on top.
        let (searcher, scratch) = of_a_long_text(false);
        for query in [
            Query::text(WORDS).passages(true),
            Query::text(WORDS).verify("overlap".parse::<crate::Measure>().unwrap()),
            Query::text(WORDS).goal(Goal::Passage),
        ] {
            let enough = scratch + of_tokens(40_000) + of_query(40_000);
            assert_takes(&searcher, &query, enough, scratch);
        }
    }

    #[test]
    fn the_memory_for_signing_a_stored_text_again_counts_in_the_budget() {
        let [(unsigned, scratch), (signed, _)] = [true, false].map(of_a_long_text);
        // Long enough to be sampled, so that the long document is among the first read.
        let text = || Query::text(WORDS.repeat(4));
        for query in [Query::id("long"), text(), text().budget(2), text().rank(Rank::Weight)] {
            let enough = scratch + 44_000 * SIGNED_BYTES;
            assert_takes(&unsigned, &query, enough, scratch);
            let none = QueryMemory::new(ByteBudget::new(0), 0);
            assert!(signed.search(&query.memory(none)).is_ok());
        }
    }

    #[test]
    fn the_memory_for_passages_without_texts_counts_in_the_budget() {
        let config = Config::new("winnow(k=5,w=10)", "words", false).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false)).unwrap();
        writer.add(Document::new("long", WORDS.repeat(8_000))).unwrap();
        writer.add(Document::new("other", WORDS.repeat(7_000))).unwrap();
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let search = |bytes: usize| {
            let memory = Some(QueryMemory::new(ByteBudget::new(bytes), 0));
            searcher.search(&Query::id("long").memory(memory).passages(true))
        };
        let error = search(RESERVED_BYTES_MIN).unwrap_err();
        assert!(matches!(error, Error::Memory { is_for_now: false, .. }), "{error}");
        assert!(!search(3 * RESERVED_BYTES_MIN).unwrap().hits.is_empty());
    }

    #[test]
    fn passages_of_an_answer_are_taken_of_the_budget() {
        // Only the memory for finding passages was once reserved, for one document after another.
        const CHUNKS: u32 = 2_000;
        let chunk = |i: u32| (0..20).map(|j| format!("w{i}x{j} ")).collect::<String>();
        let config = Config::new("winnow(k=5,w=10)", "words", false).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false)).unwrap();
        // In reverse order of the query, so that each chunk of two fingerprints is a passage.
        let text: String = (0..CHUNKS).rev().map(chunk).collect();
        for i in 0..30 {
            writer.add(Document::new(format!("document {i}"), format!("own{i} {text}"))).unwrap();
        }
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let query = Query::text((0..CHUNKS).map(chunk).collect::<String>()).passages(true);
        let search = |bytes: usize, limit: usize| {
            let memory = Some(QueryMemory::new(ByteBudget::new(bytes), 0));
            searcher.search(&query.clone().memory(memory).limit(limit))
        };
        let error = search(RESERVED_BYTES_MIN, 30).unwrap_err();
        assert!(matches!(error, Error::Memory { is_for_now: false, .. }), "{error}");
        assert!(error.to_string().contains("bytes of passages"), "{error}");
        assert_eq!(search(RESERVED_BYTES_MIN, 3).unwrap().hits.len(), 3);
        let hits = search(4 * RESERVED_BYTES_MIN, 30).unwrap().hits;
        assert_eq!(hits.len(), 30);
        assert!(hits.iter().all(|hit| hit.passages.as_ref().unwrap().len() > 1_500));
    }

    #[test]
    fn a_text_that_never_fits_is_distinct_from_one_that_does_not_fit_now() {
        let budget = ByteBudget::new(100 << 20);
        let is_for_now = |own: usize, bytes: usize| {
            let room = QueryMemory::new(budget.clone(), own << 20);
            match reserve(Some(&room), 10 << 20, bytes << 20, 1) {
                Ok(permit) => permit.is_none().then_some(true),
                Err(Error::Memory { is_for_now, .. }) => Some(is_for_now),
                Err(error) => panic!("{error}"),
            }
        };
        let own = budget.enter(50 << 20);
        assert_eq!(is_for_now(40, 50), None);
        // The error once always suggested trying again.
        assert_eq!(is_for_now(40, 51), Some(false));
        let others = budget.enter(10 << 20);
        assert_eq!(is_for_now(40, 50), Some(true));
        drop((own, others));
    }
}
