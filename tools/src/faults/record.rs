//! Reconstructs the changes that a run makes in a directory, in order.

use std::collections::HashMap;

use super::model::{Change, Disk, Inode, LostSyncs, Name, ROOT, Tree};
use super::trace::{self, Call, Event};
use crate::Result;

/// The traced calls, which change files or the meaning of a descriptor.
pub const TRACED: &str = "openat,open,creat,close,write,pwrite64,writev,pwritev,pwritev2,ftruncate,\
                          truncate,fallocate,fsync,fdatasync,sync_file_range,rename,renameat,\
                          renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,\
                          symlinkat,dup,dup2,dup3,fcntl,lseek,copy_file_range,sendfile,splice,\
                          chdir,fchdir,read,readv";

/// The directory with the paths of open files.
const HELD: &str = "/proc/self/fd/";

/// A recorded run, which can be interrupted after every change.
pub struct Recording {
    before: Tree,
    /// For each created file and directory, whether the entry is a directory.
    made: Vec<bool>,
    pub changes: Vec<Change>,
    pub told: Vec<String>,
}

impl Recording {
    /// Reads the log of a run in the directory `root`, which contained `before`.
    ///
    /// # Errors
    /// When the log cannot be read, or contains a call that the model does not know.
    pub fn new(before: Tree, root: &str, log: &str) -> Result<Recording> {
        let recording =
            Recording { before, made: Vec::new(), changes: Vec::new(), told: Vec::new() };
        recording.read(root, log)
    }

    /// Returns the first `n` changes, followed by a kill and by the changes of another run in the
    /// directory `root`. The other run saw all earlier changes, synced or not.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn go_on(&self, n: usize, root: &str, log: &str) -> Result<Recording> {
        let recording = Recording {
            before: self.before.clone(),
            made: self.made.clone(),
            changes: self.changes[..n].to_vec(),
            told: self.told[..n].to_vec(),
        };
        recording.read(root, log)
    }

    fn read(self, root: &str, log: &str) -> Result<Recording> {
        let mut disk = self.disk(LostSyncs::None)?;
        self.changes.iter().for_each(|change| disk.change(change));
        let mut reader = Reader {
            root: format!("{}/", root.trim_end_matches('/')),
            disk,
            files: Vec::new(),
            descriptors: HashMap::new(),
            begun: HashMap::new(),
            recording: self,
        };
        for event in trace::parse(log)? {
            match event {
                Event::Begin(call) => reader.begin(call)?,
                Event::End(thread, returned) => reader.end(thread, returned)?,
            }
        }
        Ok(reader.recording)
    }

    /// Returns the disk before the first change.
    ///
    /// # Errors
    /// When no such disk can exist.
    pub fn disk(&self, lost: LostSyncs) -> Result<Disk> {
        let mut disk = Disk::new(&self.before, lost)?;
        for &is_dir in &self.made {
            disk.add(is_dir);
        }
        Ok(disk)
    }

    /// Returns the number of changes until the first sync that makes the numbered change of names
    /// durable, including the sync. Returns `None` without such a sync.
    pub fn durable_after(&self, number: usize) -> Option<usize> {
        let Change::Names(names) = &self.changes[number] else { return None };
        let dirs: Vec<Inode> = names.iter().map(|name| name.0).collect();
        let is_durable = |change: &Change| match change {
            Change::Sync { inode, before } => dirs.contains(inode) && *before > number,
            _ => false,
        };
        Some(self.changes.iter().position(is_durable)? + 1)
    }
}

struct Open {
    inode: Inode,
    path: String,
    at: usize,
    appends: bool,
}

struct Begun {
    call: Call,
    /// The number of changes before the call.
    before: usize,
    /// The open file of the first argument when the call began.
    file: Option<usize>,
}

struct Reader {
    root: String,
    /// The disk as a process sees it.
    disk: Disk,
    files: Vec<Open>,
    descriptors: HashMap<i64, usize>,
    begun: HashMap<u32, Begun>,
    recording: Recording,
}

struct Place {
    dir: Inode,
    /// Empty if the place is the directory itself.
    name: String,
    path: String,
}

impl Reader {
    fn begin(&mut self, call: Call) -> Result {
        let descriptor = call.number(0).ok();
        let file = descriptor.and_then(|descriptor| self.descriptors.get(&descriptor)).copied();
        // Another thread may receive the same descriptor before the end of the call is logged.
        if let ("close", Some(descriptor)) = (&*call.name, descriptor) {
            self.descriptors.remove(&descriptor);
        }
        let before = self.recording.changes.len();
        self.begun.insert(call.thread, Begun { call, before, file });
        Ok(())
    }

    fn end(&mut self, thread: u32, returned: i64) -> Result {
        let begun = self.begun.remove(&thread).ok_or("a call ends that has not begun")?;
        let Begun { call, before, file } = &begun;
        match &*call.name {
            "openat" => self.open(call, 0, call.bytes(1)?, 2, returned),
            "open" => self.open(call, usize::MAX, call.bytes(0)?, 1, returned),
            "write" | "pwrite64" | "writev" | "pwritev" => self.write(call, *file, returned),
            "read" | "readv" => {
                if let Some(file) = *file {
                    self.files[file].at += returned as usize;
                }
                Ok(())
            }
            "lseek" => {
                if let Some(file) = *file {
                    self.files[file].at = returned as usize;
                }
                Ok(())
            }
            "ftruncate" => match *file {
                Some(file) => self.resize(file, call.number(1)? as usize),
                None => Ok(()),
            },
            "fsync" | "fdatasync" => {
                if let Some(file) = *file {
                    let Open { inode, path, .. } = &self.files[file];
                    let told = format!("{} {path}", call.name);
                    self.change(Change::Sync { inode: *inode, before: *before }, told);
                }
                Ok(())
            }
            "rename" => self.rename(call, [None, None], [0, 1], 2),
            "renameat" | "renameat2" => self.rename(call, [Some(0), Some(2)], [1, 3], 4),
            "link" => self.link(call, [None, None], [0, 1]),
            "linkat" => self.link(call, [Some(0), Some(2)], [1, 3]),
            "unlink" | "rmdir" => self.name(call, None, 0, None),
            "unlinkat" => self.name(call, Some(0), 1, None),
            "mkdir" => self.name(call, None, 0, Some(true)),
            "mkdirat" => self.name(call, Some(0), 1, Some(true)),
            "dup" => self.duplicate(*file, returned),
            "dup2" | "dup3" => self.duplicate(*file, returned),
            "fcntl" if call.arg(1)?.starts_with("F_DUPFD") => self.duplicate(*file, returned),
            "fcntl" if call.arg(1)? == "F_SETFL" && file.is_some() => self.unknown(call),
            "close" | "fcntl" => Ok(()),
            // The model knows these calls only on files outside the directory.
            "fallocate" | "pwritev2" | "sync_file_range" | "copy_file_range" | "sendfile"
            | "splice"
                if file.is_none() =>
            {
                Ok(())
            }
            _ => self.unknown(call),
        }
    }

    /// Returns the two places of a call that moves or links, or `None` if the two places are
    /// outside.
    fn places(
        &self,
        call: &Call,
        dirs: [Option<usize>; 2],
        paths: [usize; 2],
    ) -> Result<Option<(Place, Place)>> {
        let from = self.place(call, dirs[0], &call.bytes(paths[0])?)?;
        let to = self.place(call, dirs[1], &call.bytes(paths[1])?)?;
        match (from, to) {
            (None, None) => Ok(None),
            (Some(from), Some(to)) => Ok(Some((from, to))),
            _ => self.unknown(call).map(|()| None),
        }
    }

    fn unknown(&self, call: &Call) -> Result {
        Err(format!("the model does not know {}({})", call.name, call.args.join(", ")).into())
    }

    fn change(&mut self, change: Change, told: String) {
        self.disk.change(&change);
        self.recording.changes.push(change);
        self.recording.told.push(told);
    }

    fn make(&mut self, is_dir: bool) -> Inode {
        self.recording.made.push(is_dir);
        self.disk.add(is_dir)
    }

    /// Returns the file or directory of a descriptor, or `None` if the descriptor leads outside.
    fn inode_of(&self, descriptor: &str) -> Result<Option<Inode>> {
        let file = self.descriptors.get(&descriptor.parse()?);
        Ok(file.map(|&file| self.files[file].inode))
    }

    /// Returns the place of a path relative to the directory in argument `at`, or `None` if the
    /// place is outside.
    fn place(&self, call: &Call, at: Option<usize>, path: &[u8]) -> Result<Option<Place>> {
        let path = std::str::from_utf8(path)?;
        let (from, below) = if let Some(held) = path.strip_prefix(HELD) {
            // The path begins at a directory that the process holds open.
            let (descriptor, below) = held.split_once('/').unwrap_or((held, ""));
            let Some(dir) = self.inode_of(descriptor)? else { return Ok(None) };
            (dir, below)
        } else if path.starts_with('/') {
            match format!("{path}/").strip_prefix(&self.root) {
                Some(_) => (ROOT, &path[self.root.len().min(path.len())..]),
                None => return Ok(None),
            }
        } else {
            match at.map(|at| call.arg(at)).transpose()? {
                None | Some("AT_FDCWD") => (ROOT, path),
                Some(descriptor) => match self.inode_of(descriptor)? {
                    Some(dir) => (dir, path),
                    None => return Ok(None),
                },
            }
        };
        let mut parents = vec![from];
        let mut parts = below.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
        while let Some(part) = parts.next() {
            let dir = *parents.last().expect("the first is never taken away");
            if part == ".." {
                if parents.len() == 1 {
                    return Err(format!("{path} leads out of where it began").into());
                }
                parents.pop();
            } else if parts.peek().is_none() {
                let (name, path) = (part.to_owned(), below.to_owned());
                return Ok(Some(Place { dir, name, path }));
            } else {
                let next = self.disk.names(dir).get(part).copied();
                parents.push(next.ok_or_else(|| format!("{path} is unknown to the model"))?);
            }
        }
        let dir = *parents.last().expect("the first is never taken away");
        Ok(Some(Place { dir, name: String::new(), path: below.to_owned() }))
    }

    fn at(&self, place: &Place) -> Option<Inode> {
        match place.name.is_empty() {
            true => Some(place.dir),
            false => self.disk.names(place.dir).get(&place.name).copied(),
        }
    }

    fn open(&mut self, call: &Call, at: usize, path: Vec<u8>, flags: usize, fd: i64) -> Result {
        self.descriptors.remove(&fd);
        let at = (at != usize::MAX).then_some(at);
        let Some(place) = self.place(call, at, &path)? else { return Ok(()) };
        let inode = if call.has(flags, "O_TMPFILE") {
            self.make(false)
        } else {
            match self.at(&place) {
                Some(inode) => inode,
                None if call.has(flags, "O_CREAT") => {
                    let inode = self.make(false);
                    let names = vec![(place.dir, place.name.clone(), Some(inode))];
                    self.change(Change::Names(names), format!("create {}", place.path));
                    inode
                }
                None => return Err(format!("{} is unknown to the model", place.path).into()),
            }
        };
        let appends = call.has(flags, "O_APPEND");
        self.files.push(Open { inode, path: place.path, at: 0, appends });
        let file = self.files.len() - 1;
        self.descriptors.insert(fd, file);
        match call.has(flags, "O_TRUNC") && self.disk.len(inode) > 0 {
            true => self.resize(file, 0),
            false => Ok(()),
        }
    }

    fn resize(&mut self, file: usize, len: usize) -> Result {
        let Open { inode, path, .. } = &self.files[file];
        let told = format!("resize {path} to {len}");
        self.change(Change::Resize { file: *inode, len }, told);
        Ok(())
    }

    fn write(&mut self, call: &Call, file: Option<usize>, written: i64) -> Result {
        let Some(file) = file else { return Ok(()) };
        let mut bytes = match call.name.ends_with('v') {
            true => trace::buffers(call.arg(1)?)?,
            false => call.bytes(1)?,
        };
        bytes.truncate(written as usize);
        let is_at = call.name.starts_with('p');
        let Open { inode, path, at, appends } = &self.files[file];
        let from = match (is_at, appends) {
            (true, _) => call.number(3)? as usize,
            (false, true) => self.disk.len(*inode),
            (false, false) => *at,
        };
        let told = format!("write {} bytes to {path}", bytes.len());
        let (inode, end) = (*inode, from + bytes.len());
        if !is_at {
            self.files[file].at = end;
        }
        self.change(Change::Write { file: inode, at: from, bytes }, told);
        Ok(())
    }

    fn duplicate(&mut self, file: Option<usize>, descriptor: i64) -> Result {
        match file {
            Some(file) => self.descriptors.insert(descriptor, file),
            None => self.descriptors.remove(&descriptor),
        };
        Ok(())
    }

    fn rename(
        &mut self,
        call: &Call,
        dirs: [Option<usize>; 2],
        paths: [usize; 2],
        flags: usize,
    ) -> Result {
        let Some((from, to)) = self.places(call, dirs, paths)? else { return Ok(()) };
        let (moved, replaced) = (self.at(&from), self.at(&to));
        let is_exchange = call.has(flags, "RENAME_EXCHANGE");
        let left = if is_exchange { replaced } else { None };
        let told = format!("{} {} to {}", call.name, from.path, to.path);
        let names: Vec<Name> = vec![(from.dir, from.name, left), (to.dir, to.name, moved)];
        self.change(Change::Names(names), told);
        Ok(())
    }

    fn link(&mut self, call: &Call, dirs: [Option<usize>; 2], paths: [usize; 2]) -> Result {
        let Some((from, to)) = self.places(call, dirs, paths)? else { return Ok(()) };
        let told = format!("{} {} to {}", call.name, from.path, to.path);
        let Some(file) = self.at(&from) else { return self.unknown(call) };
        self.change(Change::Names(vec![(to.dir, to.name, Some(file))]), told);
        Ok(())
    }

    /// Removes a name, or gives the name to a new directory.
    fn name(
        &mut self,
        call: &Call,
        dir: Option<usize>,
        path: usize,
        is_dir: Option<bool>,
    ) -> Result {
        let Some(place) = self.place(call, dir, &call.bytes(path)?)? else { return Ok(()) };
        let inode = is_dir.map(|is_dir| self.make(is_dir));
        let told = format!("{} {}", call.name, place.path);
        self.change(Change::Names(vec![(place.dir, place.name, inode)]), told);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::Way;
    use super::*;

    fn hex(text: &str) -> String {
        trace::in_hex(text)
    }

    /// Returns the tree after a run with this log in an empty directory `/r`. The strings of the
    /// log are plain.
    fn after(log: &str) -> (Recording, Tree) {
        let quoted = trace::with_hex_strings(log);
        let recording = Recording::new(Tree::new(), "/r", &quoted).unwrap();
        let mut disk = recording.disk(LostSyncs::None).unwrap();
        recording.changes.iter().for_each(|change| disk.change(change));
        let tree = disk.after(Way::Killed);
        (recording, tree)
    }

    fn file(text: &str) -> Option<Vec<u8>> {
        Some(text.as_bytes().to_vec())
    }

    #[test]
    fn a_renamed_file_holds_its_bytes() {
        let (recording, tree) = after(
            "1 openat(AT_FDCWD, \"/r/.tmp\", O_RDWR|O_CREAT|O_EXCL, 0666) = 3\n\
             1 write(3, \"ab\", 2) = 2\n\
             1 write(3, \"cde\", 3) = 1\n\
             1 fsync(3) = 0\n\
             1 renameat(AT_FDCWD, \"/r/.tmp\", AT_FDCWD, \"a\") = 0\n\
             1 close(3) = 0\n\
             1 openat(AT_FDCWD, \"/r\", O_RDONLY|O_DIRECTORY) = 3\n\
             1 fdatasync(3) = 0\n",
        );
        assert_eq!(tree, Tree::from([("a".into(), file("abc"))]));
        assert_eq!(recording.told[4], "renameat .tmp to a");
        assert_eq!(recording.durable_after(4), Some(6));
    }

    #[test]
    fn changes_outside_of_the_root_are_ignored() {
        let (recording, tree) = after(
            "1 openat(AT_FDCWD, \"/root/x\", O_RDWR|O_CREAT, 0666) = 3\n\
             1 write(3, \"ab\", 2) = 2\n\
             1 mkdir(\"/rr\", 0777) = 0\n",
        );
        assert!(tree.is_empty() && recording.changes.is_empty());
    }

    #[test]
    fn offsets_are_those_of_the_open_file_however_often_it_is_duplicated() {
        let (_, tree) = after(
            "1 openat(AT_FDCWD, \"a\", O_RDWR|O_CREAT, 0666) = 3\n\
             1 fcntl(3, F_DUPFD_CLOEXEC, 3) = 4\n\
             1 write(4, \"abc\", 3) = 3\n\
             1 write(3, \"d\", 1) = 1\n\
             1 lseek(3, 1, SEEK_SET) = 1\n\
             1 read(4, \"b\", 1) = 1\n\
             1 write(3, \"X\", 1) = 1\n\
             1 pwrite64(3, \"Y\", 1, 0) = 1\n\
             1 ftruncate(3, 3) = 0\n\
             1 openat(AT_FDCWD, \"a\", O_WRONLY|O_APPEND) = 5\n\
             1 write(5, \"z\", 1) = 1\n",
        );
        assert_eq!(tree, Tree::from([("a".into(), file("YbXz"))]));
    }

    #[test]
    fn a_file_without_a_name_is_written_nowhere() {
        let (_, tree) = after(
            "1 openat(AT_FDCWD, \"/r\", O_RDWR|O_TMPFILE, 0600) = 3\n1 write(3, \"a\", 1) = 1\n",
        );
        assert!(tree.is_empty());
    }

    #[test]
    fn directories_are_exchanged_and_emptied_by_descriptor() {
        let (_, tree) = after(
            "1 mkdir(\"a\", 0777) = 0\n\
             1 openat(AT_FDCWD, \"a/old\", O_WRONLY|O_CREAT, 0666) = 3\n\
             1 mkdir(\"b\", 0777) = 0\n\
             1 mkdir(\"b/c\", 0777) = 0\n\
             1 renameat2(AT_FDCWD, \"b/c\", AT_FDCWD, \"/r/a\", RENAME_EXCHANGE) = 0\n\
             1 openat(AT_FDCWD, \"b\", O_RDONLY|O_DIRECTORY) = 4\n\
             1 openat(4, \"c\", O_RDONLY|O_DIRECTORY) = 5\n\
             1 unlinkat(5, \"old\", 0) = 0\n\
             1 unlinkat(4, \"c\", AT_REMOVEDIR) = 0\n",
        );
        assert_eq!(tree, Tree::from([("a".into(), None), ("b".into(), None)]));
    }

    #[test]
    fn a_name_in_a_directory_that_is_held_open_is_known() {
        // The writer of an index uses these paths for every file.
        let (recording, tree) = after(
            "1 mkdir(\"a\", 0777) = 0\n\
             1 openat(AT_FDCWD, \"/r/a\", O_RDONLY|O_DIRECTORY) = 3\n\
             1 openat(AT_FDCWD, \"/proc/self/fd/3/.tmp\", O_RDWR|O_CREAT, 0666) = 4\n\
             1 write(4, \"x\", 1) = 1\n\
             1 renameat(AT_FDCWD, \"/proc/self/fd/3/.tmp\", AT_FDCWD, \"/proc/self/fd/3/b\") = 0\n\
             1 openat(AT_FDCWD, \"/proc/self/fd/3\", O_RDONLY) = 5\n\
             1 fsync(5) = 0\n\
             1 openat(AT_FDCWD, \"/proc/self/fd/9/c\", O_RDWR|O_CREAT, 0666) = 6\n",
        );
        assert_eq!(tree, Tree::from([("a".into(), None), ("a/b".into(), file("x"))]));
        assert_eq!(recording.durable_after(3), Some(5));
    }

    #[test]
    fn a_link_is_the_same_file_by_another_name() {
        let (_, tree) = after(
            "1 mkdir(\"a\", 0777) = 0\n\
             1 openat(AT_FDCWD, \"b\", O_WRONLY|O_CREAT, 0666) = 3\n\
             1 linkat(AT_FDCWD, \"b\", AT_FDCWD, \"a/c\", 0) = 0\n\
             1 write(3, \"x\", 1) = 1\n\
             1 unlink(\"b\") = 0\n",
        );
        assert_eq!(tree, Tree::from([("a".into(), None), ("a/c".into(), file("x"))]));
    }

    #[test]
    fn a_descriptor_is_free_when_its_closing_begins() {
        let (_, tree) = after(
            "1 openat(AT_FDCWD, \"a\", O_WRONLY|O_CREAT, 0666) = 3\n\
             1 close(3 <unfinished ...>\n\
             2 openat(AT_FDCWD, \"b\", O_WRONLY|O_CREAT, 0666) = 3\n\
             1 <... close resumed>) = 0\n\
             2 write(3, \"x\", 1) = 1\n",
        );
        assert_eq!(tree, Tree::from([("a".into(), file("")), ("b".into(), file("x"))]));
    }

    #[test]
    fn a_sync_covers_the_calls_before_it_began() {
        let (recording, _) = after(
            "1 openat(AT_FDCWD, \"a\", O_WRONLY|O_CREAT, 0666) = 3\n\
             1 fsync(3 <unfinished ...>\n\
             2 write(3, \"x\", 1) = 1\n\
             1 <... fsync resumed>) = 0\n",
        );
        assert_eq!(recording.changes[2], Change::Sync { inode: 1, before: 1 });
    }

    #[test]
    fn unsynced_changes_of_a_killed_process_are_not_durable_for_the_next_one() {
        let (killed, _) = after("1 mkdir(\"a\", 0777) = 0\n1 mkdir(\"b\", 0777) = 0\n");
        let log = format!("1 mkdir(\"{}\", 0777) = 0\n", hex("/other/a/c"));
        let both = killed.go_on(1, "/other", &log).unwrap();
        let mut disk = both.disk(LostSyncs::None).unwrap();
        both.changes.iter().for_each(|change| disk.change(change));
        let tree = Tree::from([("a".into(), None), ("a/c".into(), None)]);
        assert_eq!(disk.after(Way::Killed), tree);
        assert_eq!(disk.after(Way::Nothing), Tree::new());
    }

    #[test]
    fn calls_unknown_to_the_model_are_refused() {
        let open = format!("1 openat(AT_FDCWD, \"{}\", O_RDWR|O_CREAT) = 3\n", hex("a"));
        let refused = |call: &str| Recording::new(Tree::new(), "/r", &format!("{open}{call}\n"));
        assert!(refused("1 fallocate(3, 0, 0, 100) = 0").is_err());
        assert!(refused("1 fallocate(4, 0, 0, 100) = 0").is_ok());
        assert!(refused(&format!("1 symlink(\"{0}\", \"{0}\") = 0", hex("a"))).is_err());
    }
}
