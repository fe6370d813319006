//! How much memory may the texts of requests take?
//!
//! Bodies are let in by their size, but a text may take a hundred times its size while it is compared. So what
//! the texts of a request take is found out first, which itself takes little, and then taken from one budget
//! for all requests. A request that has to wait has nothing of the budget yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cento::budget::{ByteBudget, Permit};
use cento::index::{Config, Signature};
use cento::search::memory::{RESERVED_BYTES_MIN, of_comparison, of_search};
use cento::stop::Stop;
use cento::{Error, Result};

/// Shorter texts take at most what is not reserved.
const TEXT_BYTES_MIN: usize = 32 << 10;

/// Takes what it takes to search for these texts, waiting for as long as the request is wanted.
///
/// # Errors
/// [`Error::Memory`] when there is never so much, [`Error::Cancelled`] after `stop`.
pub fn for_searches<'a>(
    budget: &Arc<ByteBudget>,
    config: &Config,
    texts: impl IntoIterator<Item = &'a str>,
    stop: &AtomicBool,
) -> Result<Option<Permit>> {
    reserve(budget, config, texts, stop, of_search)
}

/// The same, to compare them with each other.
///
/// # Errors
/// As [`for_searches`].
pub fn for_comparison<'a>(
    budget: &Arc<ByteBudget>,
    config: &Config,
    texts: impl IntoIterator<Item = &'a str>,
    stop: &AtomicBool,
) -> Result<Option<Permit>> {
    reserve(budget, config, texts, stop, of_comparison)
}

fn reserve<'a>(
    budget: &Arc<ByteBudget>,
    config: &Config,
    texts: impl IntoIterator<Item = &'a str>,
    stop: &AtomicBool,
    cost: impl Fn(&Signature) -> usize,
) -> Result<Option<Permit>> {
    let is_wanted = || !stop.load(Ordering::Relaxed);
    let (mut bytes, mut text_bytes, mut part) = (0usize, 0, Vec::new());
    for text in texts {
        text_bytes += text.len();
        if text_bytes <= TEXT_BYTES_MIN {
            continue;
        }
        if !is_wanted() {
            return Err(Error::Cancelled);
        }
        bytes =
            bytes.saturating_add(cost(&config.cost_of_signing(text, &mut part, Stop::on(stop))?));
        bytes = bytes.saturating_add(config.analyzer.scratch_bytes(text.len()));
    }
    if bytes <= RESERVED_BYTES_MIN {
        return Ok(None);
    }
    let max = budget.bytes_max();
    if bytes > max {
        return Err(Error::memory("what is asked of these texts", bytes, max));
    }
    budget.enter_while(bytes, &is_wanted).map(Some).ok_or(Error::Cancelled)
}
