//! After random steps of two indexes and a store, withdrawn texts are gone from every byte, or the
//! file that contains them is reported.

use std::fs;
use std::path::Path;
use std::time::Duration;

use cento::{AddIndexesOptions, Error, Index, Result, Stop, WriterOptions};
use cento_collections::withdraw::{self, Plan, WithdrawOptions, Withdrawal};
use cento_remote::{PullOptions, PushOptions, Remote, Retention, Watch};
use cento_testing::raw::files_with;

use super::withdrawn::{age, stop_after};
use super::{Dirs, add, text};

/// The number of random orders, and of steps in each order.
const SEEDS: u64 = 6;
const STEPS: usize = 24;

/// Two indexes that go through the same store, and their history.
struct World {
    dirs: Dirs,
    remote: Remote,
    random: fastrand::Rng,
    /// The number of the next document. Every document has a different text.
    next: usize,
    /// Everything withdrawn anywhere, once, with the number of the document.
    withdrawn: Vec<(usize, Withdrawal)>,
    /// How often a check reported a file with a withdrawn text.
    named: usize,
    steps: Vec<String>,
}

const PLACES: [&str; 2] = ["a", "b"];

impl World {
    fn new(seed: u64) -> World {
        let dirs = Dirs::new();
        let remote = Remote::open(dirs.path("store").to_str().unwrap(), []).unwrap();
        drop(add(&dirs.path("a"), 0..3));
        let random = fastrand::Rng::with_seed(seed);
        let world = World {
            dirs,
            remote,
            random,
            next: 3,
            withdrawn: Vec::new(),
            named: 0,
            steps: Vec::new(),
        };
        world.push("a", None).unwrap();
        world.pull("b", None, false, None).unwrap();
        world
    }

    fn index(&self, place: &str) -> Index {
        Index::open(self.dirs.path(place)).unwrap()
    }

    /// Pushes. A given number of parts cuts the push off afterwards.
    fn push(&self, place: &str, parts: Option<usize>) -> Result<()> {
        let (stop, progress) = stop_after(parts);
        let watch = Watch { progress: &progress, stop: &stop };
        let options = PushOptions { part_bytes: 1000, parallel: 1, ..PushOptions::default() };
        self.remote.push(&self.index(place), &options, watch).map(drop)
    }

    /// Pulls. A given number of parts cuts the pull off afterwards.
    fn pull(
        &self,
        place: &str,
        manifest: Option<u64>,
        force: bool,
        parts: Option<usize>,
    ) -> Result<()> {
        let (stop, progress) = stop_after(parts);
        let watch = Watch { progress: &progress, stop: &stop };
        let options = PullOptions { manifest, force, parallel: 1, ..PullOptions::default() };
        self.remote.pull(&self.dirs.path(place), &options, watch).map(drop)
    }

    /// Replaces the directory of a place by an earlier copy, as if every process had been killed at
    /// the time of the copy.
    fn kill(&self, place: &str, at_the_moment: &Path) {
        fs::remove_dir_all(self.dirs.path(place)).unwrap();
        fs::rename(at_the_moment, self.dirs.path(place)).unwrap();
    }

    fn withdraw(&mut self, place: &str) {
        let index = self.index(place);
        let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
        let snapshot = writer.committed().unwrap().clone();
        let live: Vec<_> = snapshot.live().collect();
        let Some(&address) = self.random.choice(&live) else { return };
        let id = snapshot.id(address).unwrap();
        let options = WithdrawOptions::default();
        let plan = Plan::new(&snapshot, &id, &options, Stop::NEVER).unwrap();
        let withdrawal = plan.apply(&mut writer, Stop::NEVER).unwrap();
        writer.finish().unwrap();
        let number = id.parse().unwrap();
        assert_eq!(self.files_with(place, number), [""; 0], "{:?}", self.steps);
        self.withdrawn.retain(|(other, _)| *other != number);
        self.withdrawn.push((number, withdrawal));
    }

    /// Takes a random step. A step that the index or the store refuses counts as taken.
    fn step(&mut self) {
        let place = self.random.choice(PLACES).unwrap();
        let parts = self.random.usize(1..12);
        let (what, manifest) = (self.random.u8(0..20), self.random.u64(1..4));
        self.steps.push(format!("{what} {place} {parts} {manifest}"));
        let path = self.dirs.path(place);
        let image = self.dirs.path("image");
        match what {
            0 | 1 => {
                drop(add(&path, self.next..self.next + 2));
                self.next += 2;
            }
            2..=4 => self.withdraw(place),
            5 | 6 => drop(self.push(place, None)),
            7 => drop(self.push(place, Some(parts))),
            8 | 9 => drop(self.pull(place, None, false, None)),
            10 => drop(self.pull(place, None, true, None)),
            11 => drop(self.pull(place, Some(manifest), false, None)),
            12..=14 => drop(self.pull(place, Some(manifest), true, Some(parts))),
            15 => {
                let (shard, merged) = (self.dirs.path("shard"), AddIndexesOptions::default());
                drop(add(&shard, self.next..self.next + 1));
                self.next += 1;
                Index::add_indexes(&path, &[&shard], merged).unwrap();
                fs::remove_dir_all(shard).unwrap();
            }
            16 => drop(self.index(place).compact(1).unwrap()),
            17 => drop(self.remote.restore(manifest, parts > 6)),
            18 => {
                let recovered = Index::recover(&path, &image, None, &[]);
                if recovered.is_ok() {
                    self.kill(place, &image);
                }
            }
            _ => self.cut_off_writer(place, &image),
        }
    }

    /// Adds, removes and merges, and is killed before the end.
    fn cut_off_writer(&mut self, place: &str, image: &Path) {
        let index = self.index(place);
        let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
        for _ in 0..2 {
            let document = cento::Document::new(self.next.to_string(), text(self.next));
            writer.add(document).unwrap();
            self.next += 1;
        }
        if self.random.bool() {
            writer.commit().unwrap();
            // The merged files exist, but the list does not name them yet.
            let _running = writer.begin_compaction(1, 0).unwrap();
            copy(&self.dirs.path(place), image);
        } else {
            copy(&self.dirs.path(place), image);
        }
        drop(writer);
        self.kill(place, image);
    }

    /// Withdraws a document whose files come back, because their removal was not durable.
    fn withdraw_before_power_cut(&mut self, place: &str) {
        let path = self.dirs.path(place);
        let image = self.dirs.path("image");
        drop(add(&path, self.next..self.next + 2));
        self.next += 2;
        copy(&path, &image);
        self.withdraw(place);
        for entry in fs::read_dir(&image).unwrap() {
            let entry = entry.unwrap();
            let back = path.join(entry.file_name());
            if !back.exists() {
                fs::rename(entry.path(), back).unwrap();
            }
        }
        fs::remove_dir_all(&image).unwrap();
    }

    /// The names of the files of a place that contain the text of a document, from any part of the
    /// file.
    fn files_with(&self, place: &str, number: usize) -> Vec<String> {
        let needle = &text(number)[..40];
        let found = files_with(&self.dirs.path(place), needle);
        found.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    /// The files of an index do not contain the texts that the index refuses, or a check of the
    /// record reports the files. The next writer and a compaction leave nothing.
    fn check_index(&mut self, place: &str) {
        let index = self.index(place);
        let report = index.check().unwrap();
        assert_eq!(report.problems, [], "{place}: {:?}", self.steps);
        let refused = index.withdrawals().unwrap();
        for (number, record) in &self.withdrawn {
            if !refused.iter().any(|one| one.is_same(record)) {
                continue;
            }
            let files = self.files_with(place, *number);
            let problems = withdraw::check(&index, record, Stop::NEVER).unwrap().problems;
            let is_told = |name: &String| {
                report.unlisted.contains(name) && problems.iter().any(|said| said.contains(name))
            };
            let unnamed = files.iter().filter(|name| !is_told(name)).count();
            let tells_documents = problems.iter().any(|said| !said.contains("is of no commit"));
            assert!(
                unnamed == 0 || tells_documents,
                "{place} has {number} in {files:?}, and a check says {problems:?}: {:?}",
                self.steps
            );
            self.named += files.len() - unnamed;
        }
    }

    /// After a writer and a compaction, a file contains a withdrawn text only if a document does.
    /// Only a pull by force brings such a document.
    fn check_cleaned(&self, place: &str) {
        let index = self.index(place);
        index.compact(1).unwrap();
        let refused = index.withdrawals().unwrap();
        for (number, record) in &self.withdrawn {
            if refused.iter().any(|one| one.is_same(record)) {
                let files = self.files_with(place, *number);
                let problems = withdraw::check(&index, record, Stop::NEVER).unwrap().problems;
                assert_eq!((files, problems), (vec![], vec![]), "{place}: {:?}", self.steps);
            }
        }
    }

    /// Once a push of an index has counted no earlier commits, the store contains nothing that the
    /// index refuses.
    fn check_store(&self) {
        match self.push("a", None) {
            Ok(()) => {}
            // The other index was pushed last.
            Err(Error::Conflict { .. } | Error::Index { .. }) => return,
            Err(error) => panic!("{error}: {:?}", self.steps),
        }
        self.check_store_is_clean(|world| {
            let remote = &world.remote;
            remote.before_withdrawals().unwrap().is_empty() && remote.unnamed_parts().unwrap() == 0
        });
        age(&self.dirs.path("store"), Duration::from_secs(10));
        let retention =
            Retention { keep: 1, keep_for: Duration::ZERO, keep_min_age: Duration::ZERO };
        self.remote.retain(&retention).unwrap();
        assert_eq!(self.remote.before_withdrawals().unwrap(), [0; 0], "{:?}", self.steps);
        assert_eq!(self.remote.unnamed_parts().unwrap(), 0, "{:?}", self.steps);
        self.check_store_is_clean(|_| true);
    }

    /// Searches every object for texts that the pushed index refuses, if the store should be clean.
    fn check_store_is_clean(&self, should_be: impl Fn(&World) -> bool) {
        if !should_be(self) {
            return;
        }
        let refused = self.index("a").withdrawals().unwrap();
        for (number, record) in &self.withdrawn {
            if refused.iter().any(|one| one.is_same(record)) {
                let files = self.files_with("store", *number);
                assert_eq!(files, [""; 0], "{number} is in the store: {:?}", self.steps);
            }
        }
    }
}

/// Copies a directory at one moment. A merge that ends meanwhile removes files that the copied list
/// of segments names, so the copy is then repeated.
fn copy(from: &Path, to: &Path) {
    let list = || fs::read(from.join("meta.json")).unwrap();
    loop {
        let before = list();
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            // A merge may have removed the file since.
            let copied = fs::copy(entry.path(), to.join(entry.file_name()));
            assert!(copied.is_ok() || !entry.path().exists());
        }
        if list() == before {
            return;
        }
        fs::remove_dir_all(to).unwrap();
    }
}

#[test]
fn a_withdrawn_text_is_gone_or_named_after_any_order_of_steps() {
    for seed in 0..SEEDS {
        println!("seed {seed}");
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step();
            PLACES.iter().for_each(|place| world.check_index(place));
        }
        // The random steps rarely leave a file, and how many depends on the machine.
        let named = world.named;
        world.withdraw_before_power_cut("a");
        world.check_index("a");
        assert!(world.named > named, "{:?}", world.steps);
        PLACES.iter().for_each(|place| world.check_cleaned(place));
        world.check_store();
    }
}
