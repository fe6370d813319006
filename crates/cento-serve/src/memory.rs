//! Reserves memory for the texts of requests.
//!
//! Bodies are admitted by size, but comparing a text may take a hundred times its size. So a
//! request first computes the memory for its texts, which takes little memory, and then takes the
//! memory from a shared budget. A waiting request holds none of the budget, so requests cannot
//! block each other.

use std::sync::Arc;

use cento::Stop;
use cento::index::{Config, Signature};
use cento::runtime::{ByteBudget, Permit};
use cento::search::memory::{
    QueryMemory, RESERVED_BYTES_MIN, of_comparison, of_passages, of_search,
};
use cento::{Error, Result};

/// Shorter texts need no reserved memory.
const TEXT_BYTES_MIN: usize = 8 << 10;

/// Reserves the memory for searching for `texts` without `boilerplate`. Waits as long
/// as the request is wanted.
///
/// # Errors
/// [`Error::Memory`] when the budget never has that much, [`Error::Cancelled`] after `stop`.
pub fn for_searches(
    budget: &Arc<ByteBudget>,
    config: &Config,
    texts: &[&str],
    boilerplate: &[&str],
    stop: &Stop,
) -> Result<Option<Permit>> {
    let bytes = of_searches(budget, config, texts, boilerplate, 0, stop)?;
    reserve(budget, bytes, stop)
}

/// Reserves the memory for finding the pairs of `documents`, without `boilerplate`. Also returns
/// the number of threads to use, because a thread needs memory for two documents if passages are
/// found. The memory for stored documents is taken on reading ([`room`]).
///
/// # Errors
/// The errors of [`for_searches`].
pub fn for_pairs(
    budget: &Arc<ByteBudget>,
    config: &Config,
    documents: &[&str],
    boilerplate: &[&str],
    finds_passages: bool,
    stop: &Stop,
) -> Result<(Option<Permit>, usize)> {
    let mut threads = cento::available_threads();
    let mut bytes = of_searches(budget, config, documents, boilerplate, RUN_TOKEN_BYTES, stop)?;
    let text_bytes: usize = documents.iter().map(|text| text.len()).sum();
    if finds_passages && text_bytes > TEXT_BYTES_MIN {
        let pair = of_largest_pair(budget, config, documents, stop)?;
        // Leave half of the budget to other requests, unless the pair is too large.
        let rest = (budget.bytes_max() / 2).saturating_sub(bytes);
        threads = threads.min(rest / pair.max(1)).max(1);
        bytes = bytes.saturating_add(pair.saturating_mul(threads));
    }
    Ok((reserve(budget, bytes, stop)?, threads))
}

/// Returns the memory, in bytes, for finding the passages of the largest pair of documents.
fn of_largest_pair(
    budget: &Arc<ByteBudget>,
    config: &Config,
    documents: &[&str],
    stop: &Stop,
) -> Result<usize> {
    let analyzer = config.analyzer.of_passages();
    let longest = documents.iter().map(|text| text.len()).max().unwrap_or_default();
    let scratch = analyzer.scratch_bytes(longest);
    let _scratch = reserve(budget, scratch, stop)?;
    let mut part = Vec::new();
    let count = |text: &&str| analyzer.for_each_part(text, &mut part, &mut |_| {}, stop);
    let mut tokens: Vec<u32> = documents.iter().map(count).collect::<Result<_>>()?;
    tokens.sort_unstable_by(|a, b| b.cmp(a));
    let [first, second] = [0, 1].map(|at| tokens.get(at).copied().unwrap_or_default());
    let texts = longest.saturating_mul(2).saturating_add(scratch);
    Ok(of_passages(first, second).saturating_add(texts))
}

/// The memory, in bytes, of a token of boilerplate: hash and position while the text is read, and a
/// run in two sets that may have just doubled.
const BOILERPLATE_TOKEN_BYTES: usize = 16 + 2 * 40;

/// The memory, in bytes, of a token in a text that is compared by runs: a run in a set, and a hash
/// while the text is read.
const RUN_TOKEN_BYTES: usize = 40;

/// Returns the memory, in bytes, for searching for texts without boilerplate, with `token_bytes`
/// for each token of the texts.
fn of_searches(
    budget: &Arc<ByteBudget>,
    config: &Config,
    texts: &[&str],
    boilerplate: &[&str],
    token_bytes: usize,
    stop: &Stop,
) -> Result<usize> {
    let mut text_bytes = 0;
    let mut of = |texts: &[&str], token_bytes: usize| -> Result<usize> {
        let texts: Vec<&str> = texts
            .iter()
            .copied()
            .filter(|text| {
                text_bytes += text.len();
                text_bytes > TEXT_BYTES_MIN
            })
            .collect();
        let costs = costs_of(budget, config, &texts, stop)?;
        let bytes = costs.iter().map(|SigningCost { signature, scratch }| {
            let tokens = (signature.tokens as usize).saturating_mul(token_bytes);
            of_search(signature).saturating_add(*scratch).saturating_add(tokens)
        });
        Ok(bytes.fold(0, usize::saturating_add))
    };
    Ok(of(texts, token_bytes)?.saturating_add(of(boilerplate, BOILERPLATE_TOKEN_BYTES)?))
}

/// The maximum memory of a report: texts of sources, values computed from them, and the file.
const REPORT_BYTES: usize = 64 << 20;

/// Reserves the memory for a report on a text of `text_bytes` bytes, whose hits have meta objects
/// of `meta_bytes` bytes. Also returns the maximum total size of the sources' texts.
///
/// # Errors
/// The errors of [`for_searches`].
pub fn for_report(
    budget: &Arc<ByteBudget>,
    text_bytes: usize,
    meta_bytes: usize,
    stop: &Stop,
) -> Result<(Option<Permit>, usize)> {
    let sources = REPORT_BYTES.min(budget.bytes_max() / 2);
    // The text is kept in parts with markup.
    let texts = text_bytes.saturating_mul(8);
    // The hits and the sources of the report have a copy each.
    let metas = meta_bytes.saturating_mul(2);
    let bytes = sources.saturating_add(texts).saturating_add(metas);
    Ok((reserve(budget, bytes, stop)?, sources / 4))
}

/// The memory for a request about all documents of the index.
pub struct CollectionMemory {
    permit: Option<Permit>,
    /// The memory for the search, in bytes.
    pub bytes: usize,
    /// The memory for boilerplate, in bytes.
    boilerplate_bytes: usize,
}

impl CollectionMemory {
    /// Returns the memory of the search once everything has been found, so that other requests need
    /// not wait for a slow client. The remaining answer takes `bytes` bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(permit) = &mut self.permit {
            permit.shrink_to(bytes.saturating_add(self.boilerplate_bytes));
        }
    }
}

/// Reserves the memory for a request about all documents of the index, without boilerplate: half of
/// the budget. Searches continue in the second half, and further requests of this kind wait.
///
/// # Errors
/// The errors of [`for_searches`].
pub fn for_collection(
    budget: &Arc<ByteBudget>,
    config: &Config,
    boilerplate: &[&str],
    stop: &Stop,
) -> Result<CollectionMemory> {
    let bytes = budget.bytes_max() / 2;
    let boilerplate_bytes = of_searches(budget, config, &[], boilerplate, 0, stop)?;
    let permit = reserve(budget, bytes.saturating_add(boilerplate_bytes), stop)?;
    Ok(CollectionMemory { permit, bytes, boilerplate_bytes })
}

/// The memory, in bytes, of a file name while documents are made of files, besides the letters: the
/// name, its input, its document, and the answer. Measured: 1,060 bytes for names of up to five
/// letters, all inputs.
const NAME_BYTES: usize = 1280;

/// The number of copies of a name's letters: in request, values, documents, and growing answer.
const NAME_COPIES: usize = 10;

/// Reserves the memory for making documents of the files named in the JSON of `body`. This comes
/// before parsing, because every letter may be a name.
///
/// # Errors
/// The errors of [`for_searches`].
pub fn for_names(budget: &Arc<ByteBudget>, body: &[u8], stop: &Stop) -> Result<Option<Permit>> {
    // Quotes inside names count too, which only reserves more.
    let names = body.iter().filter(|&&byte| byte == b'"').count() / 2;
    let bytes = names * NAME_BYTES + body.len().saturating_mul(NAME_COPIES);
    let max = budget.bytes_max();
    if bytes > max {
        let what = format!("grouping the files named in {} bytes", body.len());
        return Err(Error::memory(what, bytes, max));
    }
    reserve(budget, bytes, stop)
}

/// Reserves the memory for comparing two texts.
///
/// # Errors
/// The errors of [`for_searches`].
pub fn for_comparison(
    budget: &Arc<ByteBudget>,
    config: &Config,
    [query, document]: [&str; 2],
    stop: &Stop,
) -> Result<Option<Permit>> {
    if query.len() + document.len() <= TEXT_BYTES_MIN {
        return Ok(None);
    }
    let costs = costs_of(budget, config, &[query, document], stop)?;
    let bytes = of_comparison(&costs[0].signature, &costs[1].signature);
    let scratch = costs.iter().map(|cost| cost.scratch).fold(bytes, usize::saturating_add);
    reserve(budget, scratch, stop)
}

/// Returns the budget for stored texts that a search reads, in addition to the memory reserved for
/// the request.
pub fn room(budget: &Arc<ByteBudget>, own: Option<&Permit>) -> Option<QueryMemory> {
    let own_bytes = own.map_or(0, Permit::bytes);
    Some(QueryMemory::new(budget.clone(), own_bytes))
}

/// The memory for signing a text and, temporarily, for analyzing it.
struct SigningCost {
    signature: Signature,
    scratch: usize,
}

/// Returns the memory for signing and analyzing each text. Finding out means analyzing the texts in
/// turn, within the budget.
fn costs_of(
    budget: &Arc<ByteBudget>,
    config: &Config,
    texts: &[&str],
    stop: &Stop,
) -> Result<Vec<SigningCost>> {
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or_default();
    let _scratch = reserve(budget, config.analyzer.scratch_bytes(longest), stop)?;
    let (mut part, stop) = (Vec::new(), stop);
    let cost = |text: &&str| {
        stop.check()?;
        let signature = config.cost_of_signing(text, &mut part, stop)?;
        Ok::<_, Error>(SigningCost {
            signature,
            scratch: config.analyzer.scratch_bytes(text.len()),
        })
    };
    texts.iter().map(cost).collect()
}

fn reserve(budget: &Arc<ByteBudget>, bytes: usize, stop: &Stop) -> Result<Option<Permit>> {
    let is_wanted = || !stop.is_set();
    if bytes <= RESERVED_BYTES_MIN {
        return Ok(None);
    }
    let max = budget.bytes_max();
    if bytes > max {
        return Err(Error::memory("the comparison of these texts", bytes, max));
    }
    budget.enter_while(bytes, &is_wanted).map(Some).ok_or(Error::Cancelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_for_a_text_is_reserved_before_it_is_analyzed() {
        // Once computing the cost of a text used unreserved memory.
        let config = Config::new("winnow(k=5,w=10)", "avtor(language=none)", true).unwrap();
        let text = "a few words ".repeat(20_000);
        let scratch = config.analyzer.scratch_bytes(text.len());
        let budget = ByteBudget::new(scratch + (1 << 20));
        let held = budget.try_enter(2 << 20).unwrap();
        let stop = Stop::new();
        std::thread::scope(|scope| {
            let costs =
                scope.spawn(|| costs_of(&budget, &config, &[text.as_str()], &stop).map(|_| ()));
            // The thread waits for memory, although the work would take no time.
            while budget.try_enter(0).is_some() && !costs.is_finished() {
                std::thread::yield_now();
            }
            assert!(!costs.is_finished());
            drop(held);
            costs.join().unwrap().unwrap();
        });
        let little = ByteBudget::new(scratch - 1);
        let error = costs_of(&little, &config, &[text.as_str()], &stop).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Memory { is_for_now: false, .. }), "{error}");
    }
}
