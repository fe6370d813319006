//! Judges the states left by crashes after every change of a run.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::judge::Judged;
use super::model::{Change, LostSyncs, Tree, Way, write_tree};
use super::scenario::Contents;
use super::story::allowed;
use super::{Bench, FIRST_SEED, Tally, locked};

/// A state after a crash, with the permitted contents.
struct CrashState<'a> {
    tree: Tree,
    allowed: &'a [Option<Contents>],
    /// The number of changes before the crash.
    after: usize,
    /// Whether the run had ended, and so has acknowledged everything.
    has_ended: bool,
}

impl CrashState<'_> {
    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.tree, self.allowed, self.has_ended).hash(&mut hasher);
        hasher.finish()
    }
}

impl Bench<'_> {
    /// Judges the states after crashes. Returns the hashes of all judged states.
    pub(super) fn crash(&self, tally: &mut Tally) -> HashSet<u64> {
        let lost = if self.options.broken_sync { LostSyncs::All } else { LostSyncs::None };
        let seen = Mutex::new(HashSet::new());
        let shared = Mutex::new(tally);
        self.in_parallel(
            &|job, jobs| {
                self.each_state(lost, (job, jobs), 0, |way, state| {
                    let mut seen = locked(&seen);
                    if !seen.insert(state.hash()) {
                        return true;
                    }
                    let repeats = seen.len().is_multiple_of(self.options.repeat_every.max(1))
                        || self.options.at.is_some()
                        || state.has_ended;
                    drop(seen);
                    let judged = self.judge_state(&state, job, way, repeats);
                    let mut tally = locked(&shared);
                    tally.count(way);
                    tally.repeated += usize::from(repeats);
                    let allowed = state.allowed;
                    match judged {
                        Ok(place) if allowed[place].is_none() => tally.absent += 1,
                        Ok(place) if allowed[place] == allowed[0] => tally.last += 1,
                        Ok(_) => tally.under_way += 1,
                        Err(what) => tally.bad.push(self.told(state.after, way, &what)),
                    }
                    true
                })
            },
            &shared,
        );
        seen.into_inner().unwrap_or_default()
    }

    /// Loses every sync in turn, and counts the syncs without which a state is bad. Skips states in
    /// `sound`, which were judged without losing a sync.
    pub(super) fn lose_each_sync(&self, sound: &HashSet<u64>, tally: &mut Tally) {
        let changes = self.recording.changes.iter().enumerate();
        let is_sync = |(_, change): &(usize, &Change)| matches!(change, Change::Sync { .. });
        let syncs: Vec<usize> = changes.filter(is_sync).map(|(number, _)| number).collect();
        let next = AtomicUsize::new(0);
        let shared = Mutex::new(tally);
        self.in_parallel(
            &|job, _| {
                while let Some(&lost) = syncs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (mut seen, mut bad) = (HashSet::new(), false);
                    self.each_state(LostSyncs::One(lost), (0, 1), lost, |way, state| {
                        let hash = state.hash();
                        if way > 0 && !sound.contains(&hash) && seen.insert(hash) {
                            bad = self.judge_state(&state, job, way, state.has_ended).is_err();
                        }
                        !bad
                    })?;
                    let mut tally = locked(&shared);
                    tally.syncs += 1;
                    tally.needed += usize::from(bad);
                    if !bad {
                        let (verb, told) = (self.judge.scenario.name, &self.recording.told[lost]);
                        let states = seen.len();
                        tally.idle.push(format!(
                            "{verb}: without `{told}`, change {lost}, {states} other states are \
                             all sound"
                        ));
                    }
                }
                Ok(())
            },
            &shared,
        );
    }

    /// Calls `judge` with the states after every chosen change from number `from` on, until `judge`
    /// returns false. Divides the states among `jobs` callers.
    fn each_state(
        &self,
        lost: LostSyncs,
        (job, jobs): (usize, usize),
        from: usize,
        mut judge: impl FnMut(u64, CrashState<'_>) -> bool,
    ) -> Judged {
        let options = self.options;
        let changes = &self.recording.changes;
        let mut disk = self.recording.disk(lost).map_err(|e| e.to_string())?;
        let every = usize::from(options.every);
        for after in 0..=changes.len() {
            if let Some(at) = after.checked_sub(1) {
                disk.change(&changes[at]);
            }
            let has_ended = after == changes.len();
            let is_chosen = match options.at {
                Some(at) => at == after,
                None => (after % every == 0 || has_ended) && after >= from,
            };
            if !is_chosen || (after / every) % jobs != job {
                continue;
            }
            let allowed = allowed(&self.milestones, after);
            let ways = 0..FIRST_SEED + options.seeds;
            let wanted = options.seed.filter(|_| options.at.is_some());
            for way in wanted.map_or(ways, |way| way..way + 1) {
                let tree = disk.after(Way::number(way));
                if !judge(way, CrashState { tree, allowed: &allowed, after, has_ended }) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the place of the contents among the allowed ones.
    fn judge_state(
        &self,
        state: &CrashState<'_>,
        job: usize,
        way: u64,
        repeats: bool,
    ) -> Judged<usize> {
        let dir = self.work.join(format!("job{job}"));
        write_tree(&dir, &state.tree).map_err(|e| e.to_string())?;
        let place = self.judge.place(&dir, state.allowed)?;
        if state.has_ended {
            let kept = self.judge.keeps_what_it_told(&dir, way == 0);
            kept.map_err(|what| format!("the run has ended, but {what}"))?;
        }
        if repeats {
            match self.judge.is_withdrawn(state.allowed) {
                true => self.judge.forget(&dir, way + state.after as u64, state.has_ended)?,
                false => self.judge.repeat(&dir)?,
            }
        }
        Ok(place)
    }
}
