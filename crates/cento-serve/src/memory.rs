//! Memory for the texts of requests.
//!
//! Bodies are admitted by their size, but a text may take a hundred times its size while it is
//! compared. So the memory for the texts of a request is computed first, which itself takes little,
//! and then taken from one budget for all requests. A request that has to wait holds none of the
//! budget yet.

use std::sync::Arc;

use cento::Stop;
use cento::index::{Config, Signature};
use cento::runtime::{ByteBudget, Permit};
use cento::search::memory::{
    QueryMemory, RESERVED_BYTES_MIN, of_comparison, of_passages, of_search,
};
use cento::{Error, Result};

/// Shorter texts fit into the memory that is not reserved.
const TEXT_BYTES_MIN: usize = 8 << 10;

/// Reserves the memory to search for `texts`, the first list, without boilerplate, the second;
/// waits for as long as the request is wanted.
///
/// # Errors
/// [`Error::Memory`] when there is never that much, [`Error::Cancelled`] after `stop`.
pub fn for_searches(
    budget: &Arc<ByteBudget>,
    config: &Config,
    texts: (&[&str], &[&str]),
    stop: &Stop,
) -> Result<Option<Permit>> {
    let bytes = of_searches(budget, config, texts, 0, stop)?;
    reserve(budget, bytes, stop)
}

/// Reserves the memory to find the pairs of `documents`, searching for each, without `boilerplate`;
/// returns the number of threads to use as well. If passages are found, each thread compares two
/// documents at a time. The memory for other documents is taken when they are read ([`room`]).
///
/// # Errors
/// As [`for_searches`].
pub fn for_pairs(
    budget: &Arc<ByteBudget>,
    config: &Config,
    (documents, boilerplate): (&[&str], &[&str]),
    finds_passages: bool,
    stop: &Stop,
) -> Result<(Option<Permit>, usize)> {
    let mut threads = cento::available_threads();
    let texts = (documents, boilerplate);
    let mut bytes = of_searches(budget, config, texts, RUN_TOKEN_BYTES, stop)?;
    let text_bytes: usize = documents.iter().map(|text| text.len()).sum();
    if finds_passages && text_bytes > TEXT_BYTES_MIN {
        let pair = of_largest_pair(budget, config, documents, stop)?;
        // Beside other requests, unless the pair is too large for that.
        let rest = (budget.bytes_max() / 2).saturating_sub(bytes);
        threads = threads.min(rest / pair.max(1)).max(1);
        bytes = bytes.saturating_add(pair.saturating_mul(threads));
    }
    Ok((reserve(budget, bytes, stop)?, threads))
}

/// Returns the memory, in bytes, to find the passages of any two of these documents.
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

/// The memory, in bytes, of a token of a text that is compared by its runs: a run in a set, and a
/// hash while the text is read.
const RUN_TOKEN_BYTES: usize = 40;

/// Returns the memory, in bytes, to search for these texts without boilerplate, the second list,
/// with `token_bytes` bytes for each token of the texts.
fn of_searches(
    budget: &Arc<ByteBudget>,
    config: &Config,
    (texts, boilerplate): (&[&str], &[&str]),
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
        let bytes = costs.iter().map(|Cost { signature, scratch }| {
            let tokens = (signature.tokens as usize).saturating_mul(token_bytes);
            of_search(signature).saturating_add(*scratch).saturating_add(tokens)
        });
        Ok(bytes.fold(0, usize::saturating_add))
    };
    Ok(of(texts, token_bytes)?.saturating_add(of(boilerplate, BOILERPLATE_TOKEN_BYTES)?))
}

/// The maximum memory of a report: texts of its sources, values computed from them, and the file.
const REPORT_BYTES: usize = 64 << 20;

/// Reserves the memory for a report on a text of `text_bytes` bytes; returns the maximum total size
/// of the texts of its sources.
///
/// # Errors
/// As [`for_searches`].
pub fn for_report(
    budget: &Arc<ByteBudget>,
    text_bytes: usize,
    stop: &Stop,
) -> Result<(Option<Permit>, usize)> {
    let sources = REPORT_BYTES.min(budget.bytes_max() / 2);
    // The text is held as its parts, each with markup.
    let bytes = sources.saturating_add(text_bytes.saturating_mul(8));
    Ok((reserve(budget, bytes, stop)?, sources / 4))
}

/// The memory for a request about all documents of the index.
pub struct CollectionMemory {
    permit: Option<Permit>,
    /// The part of it for the search, in bytes.
    pub bytes: usize,
    /// The part of it for boilerplate, in bytes.
    boilerplate_bytes: usize,
}

impl CollectionMemory {
    /// Gives back the memory of the search once everything has been found, so that other requests
    /// need not wait for the client: the rest of the answer takes `bytes` bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(permit) = &mut self.permit {
            permit.shrink_to(bytes.saturating_add(self.boilerplate_bytes));
        }
    }
}

/// Reserves the memory for a request about all documents of the index, without boilerplate: half of
/// all, so that searches go on beside it, and other such requests wait.
///
/// # Errors
/// As [`for_searches`].
pub fn for_collection(
    budget: &Arc<ByteBudget>,
    config: &Config,
    boilerplate: &[&str],
    stop: &Stop,
) -> Result<CollectionMemory> {
    let bytes = budget.bytes_max() / 2;
    let boilerplate_bytes = of_searches(budget, config, (&[], boilerplate), 0, stop)?;
    let permit = reserve(budget, bytes.saturating_add(boilerplate_bytes), stop)?;
    Ok(CollectionMemory { permit, bytes, boilerplate_bytes })
}

/// The memory, in bytes, of a name of a file while documents are made of files, besides its bytes:
/// the name, its input, its document, and the answer that has it. Measured: 1,060 bytes a name for
/// names of one to five letters that are an input each.
const NAME_BYTES: usize = 1280;

/// The number of times that the bytes of the names are held meanwhile: in the request, its values,
/// the documents and the answer while it grows.
const NAME_COPIES: usize = 10;

/// Reserves the memory to make documents of the files that are named in the JSON of `body`, before
/// it is parsed: one letter may be a name.
///
/// # Errors
/// As [`for_searches`].
pub fn for_names(budget: &Arc<ByteBudget>, body: &[u8], stop: &Stop) -> Result<Option<Permit>> {
    // Quotes in a name count, too.
    let names = body.iter().filter(|&&byte| byte == b'"').count() / 2;
    let bytes = names * NAME_BYTES + body.len().saturating_mul(NAME_COPIES);
    let max = budget.bytes_max();
    if bytes > max {
        let what = format!("grouping the files named in {} bytes", body.len());
        return Err(Error::memory(what, bytes, max));
    }
    reserve(budget, bytes, stop)
}

/// Reserves the memory to compare two texts with each other.
///
/// # Errors
/// As [`for_searches`].
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

/// Returns the budget for the stored texts that a search reads, beside the memory reserved for its
/// own.
pub fn room(budget: &Arc<ByteBudget>, own: Option<&Permit>) -> Option<QueryMemory> {
    let own_bytes = own.map_or(0, Permit::bytes);
    Some(QueryMemory { budget: budget.clone(), own_bytes })
}

/// The memory to sign a text, and, for a while, to analyze it.
struct Cost {
    signature: Signature,
    scratch: usize,
}

/// Returns the memory to sign and to analyze each of these texts; to compute it they are analyzed,
/// one after the other, within the budget.
fn costs_of(
    budget: &Arc<ByteBudget>,
    config: &Config,
    texts: &[&str],
    stop: &Stop,
) -> Result<Vec<Cost>> {
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or_default();
    let _scratch = reserve(budget, config.analyzer.scratch_bytes(longest), stop)?;
    let (mut part, stop) = (Vec::new(), stop);
    let cost = |text: &&str| {
        stop.check()?;
        let signature = config.cost_of_signing(text, &mut part, stop)?;
        Ok::<_, Error>(Cost { signature, scratch: config.analyzer.scratch_bytes(text.len()) })
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
    fn the_memory_for_a_text_is_reserved_before_it_is_analysed() {
        // The text was once analyzed with no memory reserved, to compute its cost.
        let config = Config::new("winnow(k=5,w=10)", "avtor(language=none)", true).unwrap();
        let text = "a few words ".repeat(20_000);
        let scratch = config.analyzer.scratch_bytes(text.len());
        let budget = ByteBudget::new(scratch + (1 << 20));
        let held = budget.try_enter(2 << 20).unwrap();
        let stop = Stop::new();
        std::thread::scope(|scope| {
            let costs =
                scope.spawn(|| costs_of(&budget, &config, &[text.as_str()], &stop).map(|_| ()));
            // The thread waits for the held memory, although its work would be done immediately.
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
