//! Models a disk and the states that a power cut may leave after the writes of a process.
//!
//! The model promises as little as POSIX. A sync of a file makes its content durable, and a sync of
//! a directory makes changes of names durable. Before the sync, a write may have happened
//! completely, partly (its beginning, or all but a hole) or not at all, or the file may have its
//! new length without the bytes. Each change of names happens independently and atomically, as a
//! rename does. The model does not see writes through memory maps, and cento makes no such writes.
//!
//! ext4 (`data=ordered`, the default) and xfs promise more than this, so what holds here holds
//! there: both make changes of names durable in their order, and a sync of a new file also keeps
//! its name (Pillai et al. 2014, "All File Systems Are Not Created Equal", table 1). A model of one
//! file system was rejected, because a program that passes it may need that order, and lose data on
//! another file system.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fastrand::Rng;

use crate::Result;

/// The number of a file or directory in the table, which also keeps removed files and directories.
pub type Inode = usize;

pub const ROOT: Inode = 0;

/// A change that a process made, or a request to make changes durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Bytes are written at an offset of a file.
    Write {
        file: Inode,
        /// The offset of the first byte.
        at: usize,
        bytes: Vec<u8>,
    },
    /// A file gets a new length.
    Resize {
        file: Inode,
        /// The new length in bytes.
        len: usize,
    },
    /// The changes of a file or directory before the change with this number become durable.
    Sync {
        inode: Inode,
        /// The number of the first change that was made after the beginning of the sync.
        before: usize,
    },
    /// Several names change or lose their targets atomically.
    Names(Vec<Name>),
}

/// A directory, a name in the directory, and the new target of the name.
pub type Name = (Inode, String, Option<Inode>);

/// Files and directories by path. The content of a directory is `None`.
pub type Tree = BTreeMap<String, Option<Vec<u8>>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A kill of the process: all changes survive.
    Killed,
    /// A power cut: no unsynced change survives.
    Nothing,
    /// A power cut: names survive without contents.
    Names,
    /// A power cut: contents survive without names.
    Contents,
    /// A power cut: names and lengths survive, and contents are zeros.
    Lengths,
    /// A power cut: the seed selects the surviving part.
    Any(u64),
}

impl Way {
    /// Returns the way with this number. Numbers from 5 are seeds.
    pub fn number(number: u64) -> Way {
        match number {
            0 => Way::Killed,
            1 => Way::Nothing,
            2 => Way::Names,
            3 => Way::Contents,
            4 => Way::Lengths,
            seed => Way::Any(seed),
        }
    }
}

#[derive(Debug, Clone)]
enum Node {
    File { durable: Vec<u8>, pending: Vec<(usize, Change)> },
    Dir { durable: BTreeMap<String, (usize, Option<Inode>)>, pending: Vec<(usize, Vec<Name>)> },
}

/// Syncs that do nothing, to show that states without these syncs are recognized as bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostSyncs {
    None,
    All,
    /// The sync that is the change with this number.
    One(usize),
}

/// A disk with durable contents and pending changes.
#[derive(Debug, Clone)]
pub struct Disk {
    nodes: Vec<Node>,
    changes: usize,
    lost: LostSyncs,
}

impl Disk {
    /// Makes a disk with the contents of `tree`.
    ///
    /// # Errors
    /// When the parent of a path is missing or is a file.
    pub fn new(tree: &Tree, lost: LostSyncs) -> Result<Disk> {
        let mut disk = Disk { nodes: Vec::new(), changes: 0, lost };
        disk.add(true);
        for (path, content) in tree {
            let inode = disk.add(content.is_none());
            if let (Node::File { durable, .. }, Some(content)) = (&mut disk.nodes[inode], content) {
                durable.clone_from(content);
            }
            let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
            let dir = disk.find(dir).ok_or_else(|| format!("{path} is in no directory"))?;
            match &mut disk.nodes[dir] {
                Node::Dir { durable, .. } => durable.insert(name.to_owned(), (0, Some(inode))),
                Node::File { .. } => return Err(format!("{path} is in a file").into()),
            };
        }
        Ok(disk)
    }

    /// Adds a file or directory that does not have a name yet.
    pub fn add(&mut self, is_dir: bool) -> Inode {
        self.nodes.push(match is_dir {
            true => Node::Dir { durable: BTreeMap::new(), pending: Vec::new() },
            false => Node::File { durable: Vec::new(), pending: Vec::new() },
        });
        self.nodes.len() - 1
    }

    #[cfg(test)]
    fn changes(&self) -> usize {
        self.changes
    }

    pub fn is_dir(&self, inode: Inode) -> bool {
        matches!(self.nodes[inode], Node::Dir { .. })
    }

    /// Returns the entries of a directory as a process sees them.
    pub fn names(&self, dir: Inode) -> BTreeMap<String, Inode> {
        self.names_after(dir, &mut |_| true)
    }

    /// Returns the file or directory at this path as a process sees it.
    pub fn find(&self, path: &str) -> Option<Inode> {
        let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
        parts.into_iter().try_fold(ROOT, |dir, name| {
            if self.is_dir(dir) { self.names(dir).get(name).copied() } else { None }
        })
    }

    pub fn len(&self, file: Inode) -> usize {
        self.content(file, &mut apply).len()
    }

    pub fn change(&mut self, change: &Change) {
        let number = self.changes;
        self.changes += 1;
        match change {
            Change::Write { file, .. } | Change::Resize { file, .. } => {
                if let Node::File { pending, .. } = &mut self.nodes[*file] {
                    pending.push((number, change.clone()));
                }
            }
            Change::Names(names) => {
                let dirs: BTreeSet<Inode> = names.iter().map(|name| name.0).collect();
                for dir in dirs {
                    let own = names.iter().filter(|name| name.0 == dir).cloned().collect();
                    if let Node::Dir { pending, .. } = &mut self.nodes[dir] {
                        pending.push((number, own));
                    }
                }
            }
            Change::Sync { inode, before } => match self.lost {
                LostSyncs::All => {}
                LostSyncs::One(lost) if lost == number => {}
                LostSyncs::None | LostSyncs::One(_) => self.sync(*inode, *before),
            },
        }
    }

    fn sync(&mut self, inode: Inode, before: usize) {
        let mut settled = BTreeSet::new();
        match &mut self.nodes[inode] {
            Node::File { durable, pending } => {
                for (_, change) in pending.extract_if(.., |(number, _)| *number < before) {
                    apply(durable, &change);
                }
            }
            Node::Dir { pending, .. } => {
                let numbers = pending.iter().map(|(number, _)| *number);
                settled.extend(numbers.filter(|number| *number < before));
            }
        }
        // A rename between two directories is durable in both directories or in neither.
        for node in self.nodes.iter_mut().filter(|_| !settled.is_empty()) {
            let Node::Dir { durable, pending } = node else { continue };
            for (number, names) in pending.extract_if(.., |(number, _)| settled.contains(number)) {
                for (_, name, inode) in names {
                    let known = durable.entry(name).or_insert((0, None));
                    if known.0 <= number {
                        *known = (number, inode);
                    }
                }
            }
        }
    }

    fn names_after(
        &self,
        dir: Inode,
        happens: &mut dyn FnMut(usize) -> bool,
    ) -> BTreeMap<String, Inode> {
        let Node::Dir { durable, pending } = &self.nodes[dir] else { return BTreeMap::new() };
        let mut names = durable.clone();
        for (number, changed) in pending.iter().filter(|(number, _)| happens(*number)) {
            for (_, name, inode) in changed {
                let known = names.entry(name.clone()).or_insert((0, None));
                if known.0 <= *number {
                    *known = (*number, *inode);
                }
            }
        }
        names.into_iter().filter_map(|(name, (_, inode))| Some((name, inode?))).collect()
    }

    fn content(&self, file: Inode, happens: &mut dyn FnMut(&mut Vec<u8>, &Change)) -> Vec<u8> {
        let Node::File { durable, pending } = &self.nodes[file] else { return Vec::new() };
        let mut content = durable.clone();
        pending.iter().for_each(|(_, change)| happens(&mut content, change));
        content
    }

    pub fn after(&self, way: Way) -> Tree {
        let mut rng = match way {
            Way::Any(seed) => Rng::with_seed(seed ^ (self.changes as u64).rotate_left(32)),
            _ => Rng::with_seed(0),
        };
        // The share of surviving changes differs between crashes. With a single share, most crashes
        // would be alike.
        let share = [0.1, 0.5, 0.9][rng.usize(..3)];
        let mut decided: BTreeMap<usize, bool> = BTreeMap::new();
        let mut tree = Tree::new();
        let mut open = vec![(String::new(), ROOT)];
        while let Some((path, dir)) = open.pop() {
            let names = self.names_after(dir, &mut |number| match way {
                Way::Killed | Way::Names | Way::Lengths => true,
                Way::Nothing | Way::Contents => false,
                Way::Any(_) => *decided.entry(number).or_insert_with(|| rng.f64() < share),
            });
            for (name, inode) in names {
                let path = if path.is_empty() { name } else { format!("{path}/{name}") };
                if self.is_dir(inode) {
                    tree.insert(path.clone(), None);
                    open.push((path, inode));
                } else {
                    let mut cut = |content: &mut Vec<u8>, change: &Change| {
                        cut(content, change, way, &mut rng)
                    };
                    let content = self.content(inode, &mut cut);
                    tree.insert(path, Some(content));
                }
            }
        }
        tree
    }
}

/// Applies the part of a change that survives a crash to the content of a file.
fn cut(content: &mut Vec<u8>, change: &Change, way: Way, rng: &mut Rng) {
    match way {
        Way::Killed | Way::Contents => apply(content, change),
        Way::Nothing | Way::Names => {}
        Way::Lengths => apply_without(content, change, 0..usize::MAX),
        Way::Any(_) => match (rng.u8(..5), change) {
            (0, _) => {}
            (1, change) => apply_without(content, change, 0..usize::MAX),
            (2, Change::Write { file, at, bytes }) => {
                let bytes = bytes[..rng.usize(..=bytes.len())].to_vec();
                apply(content, &Change::Write { file: *file, at: *at, bytes });
            }
            (3, Change::Write { bytes, .. }) => {
                let from = rng.usize(..=bytes.len());
                apply_without(content, change, from..rng.usize(from..=bytes.len()));
            }
            (_, change) => apply(content, change),
        },
    }
}

/// Applies a change with zeros instead of these bytes of a write.
fn apply_without(content: &mut Vec<u8>, change: &Change, hole: std::ops::Range<usize>) {
    let mut change = change.clone();
    if let Change::Write { bytes, .. } = &mut change {
        let end = hole.end.min(bytes.len());
        bytes[hole.start..end].fill(0);
    }
    apply(content, &change);
}

fn apply(content: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { at, bytes, .. } => {
            let end = at + bytes.len();
            content.resize(content.len().max(end), 0);
            content[*at..end].copy_from_slice(bytes);
        }
        Change::Resize { len, .. } => content.resize(*len, 0),
        Change::Sync { .. } | Change::Names(_) => {}
    }
}

/// Reads a directory of the real file system.
///
/// # Errors
/// When a file or directory cannot be read, or a name is not UTF-8.
pub fn read_tree(root: &Path) -> Result<Tree> {
    let mut tree = Tree::new();
    let mut open = vec![String::new()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(root.join(&dir))? {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|_| "a name is no text")?;
            let path = if dir.is_empty() { name } else { format!("{dir}/{name}") };
            if entry.file_type()?.is_dir() {
                tree.insert(path.clone(), None);
                open.push(path);
            } else {
                tree.insert(path, Some(std::fs::read(entry.path())?));
            }
        }
    }
    Ok(tree)
}

/// Replaces the contents of a directory of the real file system with `tree`.
///
/// # Errors
/// When a file or directory cannot be written.
pub fn write_tree(root: &Path, tree: &Tree) -> Result {
    if root.exists() {
        std::fs::remove_dir_all(root)?;
    }
    std::fs::create_dir_all(root)?;
    for (path, content) in tree {
        match content {
            None => std::fs::create_dir(root.join(path))?,
            Some(content) => std::fs::write(root.join(path), content)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: std::ops::Range<u64> = 5..300;

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().map(|(name, text)| ((*name).into(), Some(text.as_bytes().to_vec()))).collect()
    }

    /// Returns the possible files after power cuts.
    fn outcomes(disk: &Disk) -> BTreeSet<Vec<(String, String)>> {
        let text = |tree: Tree| -> Vec<(String, String)> {
            let files = tree.into_iter().filter_map(|(name, content)| Some((name, content?)));
            files.map(|(name, c)| (name, String::from_utf8_lossy(&c).into_owned())).collect()
        };
        (1..5).chain(ANY).map(|way| text(disk.after(Way::number(way)))).collect()
    }

    fn check(disk: &Disk, expected: &[&[(&str, &str)]]) {
        let own = |(name, text): &(&str, &str)| ((*name).into(), (*text).into());
        let expected: BTreeSet<Vec<(String, String)>> =
            expected.iter().map(|files| files.iter().map(own).collect()).collect();
        assert_eq!(outcomes(disk), expected);
    }

    fn new_file(disk: &mut Disk, name: &str, text: &str) -> Inode {
        let file = disk.add(false);
        disk.change(&Change::Names(vec![(ROOT, name.into(), Some(file))]));
        disk.change(&Change::Write { file, at: 0, bytes: text.into() });
        file
    }

    fn sync(disk: &mut Disk, inode: Inode) {
        let before = disk.changes();
        disk.change(&Change::Sync { inode, before });
    }

    #[test]
    fn unsynced_writes_are_there_or_lost_or_torn_or_zeros() {
        let mut disk = Disk::new(&Tree::new(), LostSyncs::None).unwrap();
        new_file(&mut disk, "a", "xy");
        let kept = ["", "x", "xy", "\0\0", "\0y", "x\0"].map(|text| [("a", text)]);
        let mut states: Vec<&[(&str, &str)]> = vec![&[]];
        states.extend(kept.iter().map(|state| state.as_slice()));
        check(&disk, &states);
        assert_eq!(disk.after(Way::Killed), tree(&[("a", "xy")]));
    }

    #[test]
    fn a_synced_file_is_whole_and_has_perhaps_no_name() {
        let mut disk = Disk::new(&Tree::new(), LostSyncs::None).unwrap();
        let file = new_file(&mut disk, "a", "xy");
        sync(&mut disk, file);
        check(&disk, &[&[], &[("a", "xy")]]);
        sync(&mut disk, ROOT);
        check(&disk, &[&[("a", "xy")]]);
    }

    #[test]
    fn a_synced_name_says_nothing_of_the_content() {
        let mut disk = Disk::new(&Tree::new(), LostSyncs::None).unwrap();
        new_file(&mut disk, "a", "x");
        sync(&mut disk, ROOT);
        check(&disk, &[&[("a", "")], &[("a", "x")], &[("a", "\0")]]);
    }

    #[test]
    fn a_rename_is_atomic_and_durable_after_the_directory() {
        let mut disk = Disk::new(&tree(&[("a", "old"), ("b", "new")]), LostSyncs::None).unwrap();
        let b = disk.find("b");
        disk.change(&Change::Names(vec![(ROOT, "b".into(), None), (ROOT, "a".into(), b)]));
        check(&disk, &[&[("a", "new")], &[("a", "old"), ("b", "new")]]);
        sync(&mut disk, ROOT);
        check(&disk, &[&[("a", "new")]]);
    }

    #[test]
    fn an_exchange_across_directories_happens_in_both() {
        let mut before = tree(&[("a", "1"), ("d/b", "2")]);
        before.insert("d".into(), None);
        let mut disk = Disk::new(&before, LostSyncs::None).unwrap();
        let [a, b, d] = ["a", "d/b", "d"].map(|path| disk.find(path));
        let names = vec![(ROOT, "a".into(), b), (d.unwrap(), "b".into(), a)];
        disk.change(&Change::Names(names));
        check(&disk, &[&[("a", "1"), ("d/b", "2")], &[("a", "2"), ("d/b", "1")]]);
        sync(&mut disk, d.unwrap());
        check(&disk, &[&[("a", "2"), ("d/b", "1")]]);
    }

    #[test]
    fn changes_of_names_happen_each_for_itself() {
        let mut disk = Disk::new(&tree(&[("a", ""), ("b", "")]), LostSyncs::None).unwrap();
        disk.change(&Change::Names(vec![(ROOT, "a".into(), None)]));
        disk.change(&Change::Names(vec![(ROOT, "b".into(), None)]));
        check(&disk, &[&[], &[("a", "")], &[("b", "")], &[("a", ""), ("b", "")]]);
    }

    #[test]
    fn a_sync_covers_the_changes_before_it_began() {
        let mut disk = Disk::new(&tree(&[("a", "")]), LostSyncs::None).unwrap();
        let file = disk.find("a").unwrap();
        disk.change(&Change::Write { file, at: 0, bytes: b"x".into() });
        let before = disk.changes();
        disk.change(&Change::Write { file, at: 1, bytes: b"y".into() });
        disk.change(&Change::Sync { inode: file, before });
        check(&disk, &[&[("a", "x")], &[("a", "xy")], &[("a", "x\0")]]);
    }

    #[test]
    fn a_broken_sync_keeps_nothing() {
        let mut disk = Disk::new(&Tree::new(), LostSyncs::All).unwrap();
        let file = new_file(&mut disk, "a", "x");
        sync(&mut disk, file);
        sync(&mut disk, ROOT);
        assert_eq!(disk.after(Way::Nothing), Tree::new());
    }

    #[test]
    fn a_tree_is_read_as_it_was_written() {
        let dir = std::env::temp_dir().join(format!("cento-faults-{}", std::process::id()));
        let mut expected = tree(&[("a", "1"), ("d/b", "2")]);
        expected.insert("d".into(), None);
        write_tree(&dir, &expected).unwrap();
        assert_eq!(read_tree(&dir).unwrap(), expected);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
