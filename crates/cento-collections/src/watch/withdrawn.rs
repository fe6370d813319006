//! Which events lose their data? Those of withdrawn documents.
//!
//! An event has the meta object of its document, such as the title, and the places of its passages.
//! When the document is withdrawn, or removed as a copy of one, the event keeps its cursor, the id
//! and the measures, and loses the rest. The name of the file with the withdrawals tells whether
//! there are new ones; it is noted when all events have been changed, so that a process that was
//! killed meanwhile leaves the work to the next.

use std::collections::HashMap;
use std::fs;

use super::{Watches, dir_of};
use cento::index::seconds_of;
use cento_api::WatchEvent;
use cento_api::error::{Error, Result};
use cento_text::runtime::replace;

/// The file that has the name of the file with the withdrawals whose events have been changed.
const FORGOTTEN: &str = "forgotten";

impl Watches {
    /// Takes the data of withdrawn documents out of the log of events, durably: meta objects and
    /// passages. Returns the number of events that lost any. [`match_commits`](Self::match_commits)
    /// does it too.
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
            // The id may be that of another document by now. One that is gone needs no data,
            // whenever its event was found: matching may have seen the commit before.
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

/// Takes the data of the document out of an event; returns whether there was any.
fn strip(event: &mut WatchEvent) -> bool {
    let hit = &mut event.hit;
    let had = !hit.meta.is_empty() || hit.passages.is_some();
    hit.meta.clear();
    (hit.passages, hit.passages_complete) = (None, None);
    had
}
