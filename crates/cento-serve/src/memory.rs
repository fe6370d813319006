//! How much memory may the texts of requests take?
//!
//! Bodies are let in by their size, but a text may take a hundred times its size while it is compared. So what
//! the texts of a request take is found out first, which itself takes little, and then taken from one budget
//! for all requests. A request that has to wait has nothing of the budget yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cento::budget::{ByteBudget, Permit};
use cento::index::{Config, Signature};
use cento::search::memory::{QueryMemory, RESERVED_BYTES_MIN, of_comparison, of_search};
use cento::stop::Stop;
use cento::{Error, Result};

/// Shorter texts take at most what is not reserved.
const TEXT_BYTES_MIN: usize = 8 << 10;

/// Takes what it takes to search for these texts, waiting for as long as the request is wanted.
///
/// # Errors
/// [`Error::Memory`] when there is never that much, [`Error::Cancelled`] after `stop`.
pub fn for_searches<'a>(
    budget: &Arc<ByteBudget>,
    config: &Config,
    texts: impl IntoIterator<Item = &'a str>,
    stop: &AtomicBool,
) -> Result<Option<Permit>> {
    let (mut bytes, mut text_bytes, mut part) = (0usize, 0, Vec::new());
    for text in texts {
        text_bytes += text.len();
        if text_bytes <= TEXT_BYTES_MIN {
            continue;
        }
        let (cost, scratch) = cost_of(config, text, &mut part, stop)?;
        bytes = bytes.saturating_add(of_search(&cost)).saturating_add(scratch);
    }
    reserve(budget, bytes, stop)
}

/// The same, to compare two texts with each other.
///
/// # Errors
/// As [`for_searches`].
pub fn for_comparison(
    budget: &Arc<ByteBudget>,
    config: &Config,
    [query, document]: [&str; 2],
    stop: &AtomicBool,
) -> Result<Option<Permit>> {
    if query.len() + document.len() <= TEXT_BYTES_MIN {
        return Ok(None);
    }
    let mut part = Vec::new();
    let (query, query_scratch) = cost_of(config, query, &mut part, stop)?;
    let (document, document_scratch) = cost_of(config, document, &mut part, stop)?;
    let scratch = query_scratch.saturating_add(document_scratch);
    reserve(budget, of_comparison(&query, &document).saturating_add(scratch), stop)
}

/// Where a search takes the memory for stored texts from, beside what has been taken for its own.
pub fn room(budget: &Arc<ByteBudget>, own: Option<&Permit>) -> Option<QueryMemory> {
    let own_bytes = own.map_or(0, Permit::bytes);
    Some(QueryMemory { budget: budget.clone(), own_bytes })
}

/// The keys of these texts, whose tokens are not held.
///
/// # Errors
/// When a text is too large to be analysed; [`Error::Cancelled`] after `stop`.
pub fn keys_of(config: &Config, texts: &[String], stop: Stop<'_>) -> Result<Vec<u64>> {
    let (mut keys, mut part) = (Vec::new(), Vec::new());
    for text in texts {
        let signed = config.sign_within(text, usize::MAX, &mut part, stop)?;
        let signature = signed.fingerprints.expect("nothing is too large");
        keys.extend(signature.iter().map(|fingerprint| fingerprint.key));
    }
    Ok(keys)
}

/// What it takes to sign a text, and to analyse it.
fn cost_of(
    config: &Config,
    text: &str,
    part: &mut Vec<u64>,
    stop: &AtomicBool,
) -> Result<(Signature, usize)> {
    let stop = Stop::on(stop);
    stop.check()?;
    Ok((config.cost_of_signing(text, part, stop)?, config.analyzer.scratch_bytes(text.len())))
}

fn reserve(budget: &Arc<ByteBudget>, bytes: usize, stop: &AtomicBool) -> Result<Option<Permit>> {
    let is_wanted = || !stop.load(Ordering::Relaxed);
    if bytes <= RESERVED_BYTES_MIN {
        return Ok(None);
    }
    let max = budget.bytes_max();
    if bytes > max {
        return Err(Error::memory("the comparison of these texts", bytes, max));
    }
    budget.enter_while(bytes, &is_wanted).map(Some).ok_or(Error::Cancelled)
}
