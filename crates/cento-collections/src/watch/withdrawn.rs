//! Removes the data of withdrawn documents from events.
//!
//! An event has the meta object of its document, such as the title, and the places of passages.
//! When the document is withdrawn, or removed as a copy of a withdrawn document, the event keeps
//! only its cursor, the id and the measures. New withdrawals are recognized by the name of the file
//! with the withdrawals, which is noted after all events have been changed. If the process is
//! killed before that, the next process repeats the work.

use std::collections::HashMap;
use std::fs;

use super::{Watches, dir_of};
use cento::index::seconds_of;
use cento_api::WatchEvent;
use cento_api::error::{Error, Result};
use cento_text::runtime::replace;

/// This file holds the name of the withdrawals file whose events have all been changed.
const FORGOTTEN: &str = "forgotten";

impl Watches {
    /// Removes meta objects and passages of withdrawn documents from the log of events, durably.
    /// Returns the number of changed events. [`match_commits`](Self::match_commits) does this as
    /// well.
    ///
    /// # Errors
    /// When a file is damaged, or cannot be read or written.
    pub fn forget_withdrawn(&mut self) -> Result<u64> {
        let Some(name) = self.index.withdrawals_file()? else { return Ok(0) };
        let path = dir_of(&self.index).join(FORGOTTEN);
        if fs::read(&path).is_ok_and(|noted| noted == name.as_bytes()) {
            return Ok(0);
        }
        let withdrawals = self.index.withdrawals()?;
        let mut removed: HashMap<&str, u64> = HashMap::new();
        for withdrawal in withdrawals.iter() {
            let at = seconds_of(&withdrawal.withdrawn).unwrap_or(u64::MAX);
            for document in &withdrawal.removed {
                let last = removed.entry(&document.id).or_default();
                *last = at.max(*last);
            }
        }
        let snapshot = self.index.snapshot()?;
        let mut failed = None;
        let mut change = |event: &mut WatchEvent| {
            let Some(withdrawn) = removed.get(event.hit.id.as_str()) else { return false };
            // A different document may have the id by now, so only events from before the
            // withdrawal change. If no document has the id, every event does, because matching may
            // have read an older commit.
            let is_gone = snapshot.find(&event.hit.id).map(|found| found.is_none());
            let is_gone = is_gone.unwrap_or_else(|error| {
                failed.get_or_insert(error);
                false
            });
            (is_gone || event.time <= *withdrawn) && strip(event)
        };
        let changed = self.log.rewrite(&mut change)?;
        if let Some(error) = failed {
            return Err(error);
        }
        replace::file(&path, name.as_bytes()).map_err(|e| Error::io("write to", &path, e))?;
        Ok(changed)
    }
}

/// Removes the data of the document from an event. Returns whether there was any.
fn strip(event: &mut WatchEvent) -> bool {
    let hit = &mut event.hit;
    let had = !hit.meta.is_empty() || hit.passages.is_some();
    hit.meta.clear();
    (hit.passages, hit.passages_complete) = (None, None);
    had
}
