//! Which contents may the index have after each change of a run?
//!
//! A commit whose sync has ended is acknowledged, so its contents or later ones must be there. A
//! commit under way may be there.

use std::path::Path;

use super::judge::{Judged, look};
use super::model::{Change, LostSyncs, Way, write_tree};
use super::record::Recording;
use super::scenario::{Contents, INDEX, Scenario};
use crate::Result;

/// A point of the run where the allowed contents of the index change.
pub struct Milestone {
    /// The number of changes before the contents are visible.
    pub from: usize,
    /// The number of changes before the contents are acknowledged.
    pub durable: usize,
    pub contents: Option<Contents>,
    pub segments: usize,
}

/// Finds the contents of the index during the recorded run, with the first change of each.
pub fn milestones(
    recording: &Recording,
    dir: &Path,
    writes_beside: bool,
) -> Result<Vec<Milestone>> {
    let mut disk = recording.disk(LostSyncs::None)?;
    let mut found: Vec<Milestone> = Vec::new();
    for from in 0..=recording.changes.len() {
        let mut durable = 0;
        if let Some(at) = from.checked_sub(1) {
            disk.change(&recording.changes[at]);
            // Contents that no sync makes durable are acknowledged by the end of the run.
            durable = recording.durable_after(at).unwrap_or(recording.changes.len());
            let is_list = match &recording.changes[at] {
                Change::Names(names) => {
                    names.iter().any(|(_, name, _)| name == "meta.json" || name == INDEX)
                }
                _ => false,
            };
            if !is_list && !writes_beside {
                continue;
            }
            // The contents of a directory are no more durable than the directory.
            durable = durable.max(found.last().map_or(0, |before| before.durable));
        }
        write_tree(dir, &disk.after(Way::Killed))?;
        let (contents, segments) = look(dir)?.map_or((None, 0), |(c, s)| (Some(c), s));
        if writes_beside && found.last().is_some_and(|before| before.contents == contents) {
            continue;
        }
        found.push(Milestone { from, durable, contents, segments });
    }
    Ok(found)
}

/// Checks that the index went through the expected contents during the run.
pub fn check_story(scenario: &Scenario, milestones: &[Milestone], was_there: bool) -> Judged {
    let mut last = None;
    for (number, milestone) in milestones.iter().enumerate() {
        let Some(contents) = &milestone.contents else {
            match last.is_none() && !was_there {
                true => continue,
                false => return Err(format!("{}: the index went away", scenario.name)),
            }
        };
        let place = scenario.story.iter().rposition(|story| story == contents);
        if place.is_none() || place < last {
            return Err(format!("{}: commit {number} is not as it should be", scenario.name));
        }
        last = place;
    }
    match last.is_some_and(|last| last + 1 == scenario.story.len()) {
        true => Ok(()),
        false => Err(format!("{}: the run did not come to its end", scenario.name)),
    }
}

/// Returns the allowed contents of the index after `n` changes: the last acknowledged contents and
/// all later contents.
pub fn allowed(milestones: &[Milestone], n: usize) -> Vec<Option<Contents>> {
    let is_acknowledged = |milestone: &Milestone| milestone.durable <= n;
    let first = milestones.iter().rposition(is_acknowledged).unwrap_or(0);
    let begun = milestones[first..].iter().take_while(|milestone| milestone.from <= n);
    begun.map(|milestone| milestone.contents.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::model::Tree;
    use super::super::trace::with_hex_strings;
    use super::*;

    /// A commit as cento makes it: a new list beside the old list, synced, renamed, and the
    /// directory synced.
    const COMMIT: [&str; 6] = [
        "1 openat(AT_FDCWD, \"/r/.tmp\", O_RDWR|O_CREAT|O_EXCL, 0666) = 3",
        "1 write(3, \"new\", 3) = 3",
        "1 fsync(3) = 0",
        "1 renameat(AT_FDCWD, \"/r/.tmp\", AT_FDCWD, \"/r/meta.json\") = 0",
        "1 openat(AT_FDCWD, \"/r\", O_RDONLY|O_DIRECTORY) = 4",
        "1 fsync(4) = 0",
    ];

    fn contents(list: &str) -> Option<Contents> {
        Some(Contents::from([("list".to_owned(), list.to_owned())]))
    }

    /// Returns the number of states after power cuts with neither an acknowledged list nor the list
    /// under way.
    fn losses(log: &[&str], lost: LostSyncs) -> usize {
        let before = Tree::from([("meta.json".to_owned(), Some(b"old".to_vec()))]);
        let log = with_hex_strings(&format!("{}\n", log.join("\n")));
        let recording = Recording::new(before, "/r", &log).unwrap();
        let renamed = recording.told.iter().position(|told| told.starts_with("rename"));
        let renamed = renamed.unwrap_or(0);
        let durable = recording.durable_after(renamed).unwrap_or(recording.changes.len());
        let list = |from, durable, list| Milestone {
            from,
            durable,
            contents: contents(list),
            segments: 1,
        };
        let milestones = [list(0, 0, "old"), list(renamed + 1, durable, "new")];
        let mut disk = recording.disk(lost).unwrap();
        let mut losses = 0;
        for n in 0..=recording.changes.len() {
            if let Some(at) = n.checked_sub(1) {
                disk.change(&recording.changes[at]);
            }
            let allowed = allowed(&milestones, n);
            losses += (1..100)
                .map(|way| disk.after(Way::number(way)))
                .filter(|tree| {
                    let list = tree.get("meta.json").cloned().flatten().unwrap_or_default();
                    !allowed.contains(&contents(&String::from_utf8_lossy(&list)))
                })
                .count();
        }
        losses
    }

    #[test]
    fn a_commit_without_any_one_of_its_syncs_is_found_to_lose_something() {
        assert_eq!(losses(&COMMIT, LostSyncs::None), 0);
        assert!(losses(&COMMIT, LostSyncs::All) > 0);
        // The syncs are the changes with these numbers. Opening a directory is no change.
        assert!(losses(&COMMIT, LostSyncs::One(2)) > 0);
        assert!(losses(&COMMIT, LostSyncs::One(4)) > 0);
        assert_eq!(losses(&COMMIT, LostSyncs::One(3)), 0);
        // A program without these operations, or with a rename before the sync.
        let without = |skipped: &[usize]| -> Vec<&str> {
            let kept = COMMIT.iter().enumerate().filter(|(at, _)| !skipped.contains(at));
            kept.map(|(_, call)| *call).collect()
        };
        assert!(losses(&without(&[2]), LostSyncs::None) > 0);
        assert!(losses(&without(&[5]), LostSyncs::None) > 0);
        assert!(losses(&without(&[2, 5]), LostSyncs::None) > 0);
        let late = [0, 1, 3, 2, 4, 5].map(|at| COMMIT[at]);
        assert!(losses(&late, LostSyncs::None) > 0);
    }
}
