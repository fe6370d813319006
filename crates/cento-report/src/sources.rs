//! Counts where the text of new documents is from.

use std::collections::BTreeMap;

use cento::index::Snapshot;
use cento::join::most_similar::SymmetricPair;
use cento::search::Searcher;
use cento::{Result, Stop, Tokens, Unit};
use cento_api::Sources;

/// Counts what each document of `new` has from where, according to the passages of `pairs`: those
/// of pairs within `new`, and with known documents, which name their index. `searcher` has all of
/// them, and the boilerplate. Returns nothing for an index that stores no texts.
///
/// # Errors
/// When a text cannot be read; [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
pub fn sources_of(
    new: &Snapshot,
    searcher: &Searcher,
    pairs: &[SymmetricPair],
    stop: &Stop,
) -> Result<Vec<Sources>> {
    let config = new.config();
    if !config.store_text {
        return Ok(Vec::new());
    }
    let mut ranges: BTreeMap<&str, [Vec<(u32, u32)>; 2]> = BTreeMap::new();
    for SymmetricPair { pair, .. } in pairs {
        for passage in pair.passages.iter().flatten().filter(|p| p.unit == Unit::Bytes) {
            let is_known = pair.index_a.is_some() || pair.index_b.is_some();
            let kind = usize::from(!is_known);
            if pair.index_a.is_none() {
                let own = &mut ranges.entry(&pair.a).or_default()[kind];
                own.extend(passage.matched_in_a());
            }
            if pair.index_b.is_none() {
                ranges.entry(&pair.b).or_default()[kind].push(passage.b);
            }
        }
    }
    let mut all = Vec::new();
    for address in new.live() {
        let document = new.document(address)?;
        let text = document.text.unwrap_or_default();
        let mut tokens = Tokens::default();
        config.analyzer.of_passages().analyze(&text, &mut tokens, stop)?;
        let boilerplate = match searcher.boilerplate() {
            Some(boilerplate) => boilerplate.ranges_in(&text, stop)?,
            None => Vec::new(),
        };
        let [known, shared] = ranges.remove(document.id.as_str()).unwrap_or_default();
        let starts = tokens.spans.iter().map(|span| span.start);
        all.push(Sources::of(document.id, starts, [boilerplate, known, shared]));
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}
