//! The new text of each day.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use cento_api::{NOVELTY, NewText, Novelty};
use serde::Deserialize;

use crate::error::Result;
use crate::index::{Snapshot, date_of};

impl Snapshot {
    /// Returns how much of the text added on each day was new, ordered by day. Empty if the index
    /// does not record novelty. Takes a pass over the meta objects of every document.
    ///
    /// # Errors
    /// When a file is damaged.
    pub fn new_text(&self) -> Result<Vec<NewText>> {
        let mut days: BTreeMap<String, NewText> = BTreeMap::new();
        for address in self.live().filter(|_| self.config().records_novelty) {
            let meta = self.meta(address)?;
            // A document may have been added with such a member, which is kept unchanged.
            let Some(novelty) = meta.get(NOVELTY).and_then(|told| Novelty::deserialize(told).ok())
            else {
                continue;
            };
            let segment = self.segment(address);
            let tokens = u64::from(segment.signatures.document(address.doc)?.tokens);
            let micros = segment.added_micros(address.doc)?;
            let time = UNIX_EPOCH + Duration::from_micros(micros.try_into().unwrap_or(0));
            let mut day = date_of(time);
            day.truncate("2026-11-29".len());
            let of = days.entry(day.clone()).or_insert(NewText { day, ..NewText::default() });
            let part = |share: f64| (share.clamp(0.0, 1.0) * tokens as f64).round() as u64;
            of.documents += 1;
            of.tokens += tokens;
            of.new += part(novelty.new);
            of.common += part(novelty.common);
        }
        Ok(days.into_values().collect())
    }
}
