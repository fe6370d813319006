//! Records which documents each commit added.
//!
//! The log starts when it is requested ([`Writer::log_changes`](super::Writer::log_changes)). From
//! then on, each commit with new documents leaves a file with their ids in the directory `.changes`
//! of the index. The file is durable before the commit. Its name contains the opstamp of the
//! commit, so after a crash the list of segments shows whether the commit was made. A reader takes
//! the logged commits in order and removes them when it is done. Segment merges and compactions log
//! nothing.
//!
//! The log does not contain removed documents, nor commits that another process put into the
//! directory as files ([`Receiver`](super::Receiver)).

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Index, Snapshot};
use crate::error::{Corruption, Error, Result};
use crate::reason::Reason;
use crate::runtime::replace;

/// The directory of the log, within the index. Hidden, so that the other verbs ignore the
/// directory.
pub const CHANGES_DIR: &str = ".changes";

/// The directory of the watches, within the index.
pub const WATCHES_DIR: &str = ".watches";

/// The file in [`WATCHES_DIR`] whose lock a process holds while it changes watches.
pub const WATCHES_LOCK: &str = "lock";

/// A commit of the log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoggedCommit {
    /// The number of this commit: ascending, never reused.
    pub number: u64,
    /// tantivy's opstamp of the commit.
    opstamp: u64,
}

impl LoggedCommit {
    fn name(&self) -> String {
        format!("{:016x}-{:016x}", self.number, self.opstamp)
    }

    fn of_name(name: &str) -> Option<LoggedCommit> {
        let (number, opstamp) = name.split_once('-')?;
        let parse = |part: &str| u64::from_str_radix(part, 16).ok();
        let parsed = LoggedCommit { number: parse(number)?, opstamp: parse(opstamp)? };
        (parsed.name() == name).then_some(parsed)
    }
}

/// Read access to the change log of an index.
#[derive(Debug, Clone)]
pub struct ChangeLog {
    dir: PathBuf,
}

impl Index {
    /// Returns the change log, or `None` if the index keeps no log.
    #[must_use]
    pub fn change_log(&self) -> Option<ChangeLog> {
        let dir = self.path().join(CHANGES_DIR);
        dir.is_dir().then_some(ChangeLog { dir })
    }

    /// Returns the index as of its last commit, and the logged commits after `number`, in order.
    /// The snapshot includes every returned commit and no later one.
    ///
    /// # Errors
    /// When the index or the log cannot be read, or the index keeps no log.
    pub fn changes_after(&self, number: u64) -> Result<(Snapshot, Vec<LoggedCommit>)> {
        let Some(log) = self.change_log() else {
            let what = "it does not log its changes";
            return Err(Error::index(self.path(), Reason::Unsuitable, what));
        };
        loop {
            let opstamp = self.opstamp()?;
            let snapshot = self.snapshot()?;
            if self.opstamp()? != opstamp {
                continue;
            }
            let mut commits = log.commits()?;
            commits.retain(|commit| commit.number > number && commit.opstamp <= opstamp);
            return Ok((snapshot, commits));
        }
    }

    /// Returns tantivy's opstamp of the last commit.
    fn opstamp(&self) -> Result<u64> {
        let metas = self.tantivy().load_metas().map_err(|e| self.error("read", e))?;
        Ok(metas.opstamp)
    }
}

impl ChangeLog {
    /// Removes unfinished files, and the files of commits after `opstamp`, which were never made.
    /// Returns the last number, which must not be reused: the commit may have been made and matched
    /// before the index was set back to an earlier commit.
    fn clean(&self, opstamp: u64) -> io::Result<u64> {
        let (mut last, mut is_there, mut others) = (0, true, Vec::new());
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            let commit = entry.file_name().to_str().and_then(LoggedCommit::of_name);
            let is_made = commit.as_ref().is_some_and(|commit| commit.opstamp <= opstamp);
            if let Some(commit) = commit.filter(|commit| commit.number > last) {
                (last, is_there) = (commit.number, is_made);
            }
            if !is_made {
                others.push(entry.path());
            }
        }
        if !is_there {
            self.keep_number(last)?;
        }
        others.iter().try_for_each(fs::remove_file)?;
        Ok(last)
    }

    /// Reserves a number with the file of an empty commit, so that no later commit gets it.
    fn keep_number(&self, number: u64) -> io::Result<()> {
        let name = LoggedCommit { number, opstamp: 0 }.name();
        replace::file(&self.dir.join(name), crc_line(crc32fast::hash(&[])).as_bytes())
    }

    /// Returns every commit of the log in order, whether the commit was made or not.
    fn commits(&self) -> Result<Vec<LoggedCommit>> {
        let failed = |e| Error::io("read", &self.dir, e);
        let mut commits = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            commits.extend(name.to_str().and_then(LoggedCommit::of_name));
        }
        commits.sort_unstable();
        Ok(commits)
    }

    /// Returns the ids of the documents that a commit added or replaced, in order of addition. An
    /// id that was added twice occurs twice.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    pub fn ids(&self, commit: &LoggedCommit) -> Result<Vec<String>> {
        let path = self.dir.join(commit.name());
        let text = fs::read(&path).map_err(|e| Error::io("read", &path, e))?;
        let damaged =
            |what: &str| Error::from(Corruption::new(path.display().to_string(), "ids", 0, what));
        let end = text.len().checked_sub(CRC_BYTES).ok_or_else(|| damaged("it is cut off"))?;
        let (lines, crc) = text.split_at(end);
        if crc != crc_line(crc32fast::hash(lines)).as_bytes() {
            return Err(damaged("it does not match its checksum"));
        }
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).map_err(|_| damaged("no id"))).collect()
    }

    /// Removes the commits before `number`. The commit `number` itself stays, so that no later
    /// commit gets its number.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn forget_before(&self, number: u64) -> Result<()> {
        for commit in self.commits()?.iter().filter(|commit| commit.number < number) {
            let path = self.dir.join(commit.name());
            fs::remove_file(&path).map_err(|e| Error::io("remove", &path, e))?;
        }
        Ok(())
    }
}

/// The length in bytes of the last line, a CRC-32 in hexadecimal.
const CRC_BYTES: usize = 9;

fn crc_line(crc: u32) -> String {
    format!("{crc:08x}\n")
}

/// Write access to the change log of an index.
pub struct ChangeRecorder {
    dir: PathBuf,
    /// The number of the last logged commit.
    last: u64,
    /// The ids added since the last commit.
    pending: Option<PendingIds>,
}

struct PendingIds {
    file: BufWriter<tempfile::NamedTempFile>,
    crc: crc32fast::Hasher,
}

impl ChangeRecorder {
    /// Opens the log for the only writer of the index, if the index keeps a log, and removes the
    /// files of commits that were never made.
    ///
    /// # Errors
    /// When the directory cannot be read or written.
    pub fn open(index: &Index) -> Result<Option<ChangeRecorder>> {
        let Some(log) = index.change_log() else { return Ok(None) };
        let cleaned = log.clean(index.opstamp()?);
        let last = cleaned.map_err(|e| Error::io("write to", &log.dir, e))?;
        Ok(Some(ChangeRecorder { dir: log.dir, last, pending: None }))
    }

    /// Starts the log of an index. Uncommitted changes are not logged. If the index has watches but
    /// lost its log, the watches have already seen numbers, so counting starts from the clock.
    ///
    /// # Errors
    /// When the directory cannot be written, or the index is in memory.
    pub fn begin(index: &Index) -> Result<ChangeRecorder> {
        let dir = index.path().join(CHANGES_DIR);
        if !index.path().is_dir() {
            let what = "it is in memory, and logs no changes";
            return Err(Error::index(index.path(), Reason::Unsuitable, what));
        }
        let made = fs::create_dir(&dir).and_then(|()| replace::sync_name(&dir));
        made.map_err(|e| Error::io("create", &dir, e))?;
        let mut last = 0;
        if index.path().join(WATCHES_DIR).is_dir() {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            last = since.map_or(0, |since| since.as_micros() as u64);
            let kept = ChangeLog { dir: dir.clone() }.keep_number(last);
            kept.map_err(|e| Error::io("write to", &dir, e))?;
        }
        Ok(ChangeRecorder { dir, last, pending: None })
    }

    /// Returns the number of the last logged commit.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Notes a document that the next commit adds or replaces.
    ///
    /// # Errors
    /// When the id cannot be written.
    pub fn note(&mut self, id: &str) -> io::Result<()> {
        let pending = match &mut self.pending {
            Some(pending) => pending,
            none => {
                let file = BufWriter::new(replace::beside(&self.dir.join("changes"))?);
                none.insert(PendingIds { file, crc: crc32fast::Hasher::new() })
            }
        };
        let mut line = serde_json::to_string(id).expect("a text is JSON");
        line.push('\n');
        pending.crc.update(line.as_bytes());
        pending.file.write_all(line.as_bytes())
    }

    /// Makes the noted ids durable. Call this before the commit with this opstamp.
    ///
    /// # Errors
    /// When the ids cannot be written.
    pub fn seal(&mut self, opstamp: u64) -> io::Result<()> {
        let Some(PendingIds { mut file, crc }) = self.pending.take() else { return Ok(()) };
        file.write_all(crc_line(crc.finalize()).as_bytes())?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        let commit = LoggedCommit { number: self.last + 1, opstamp };
        let path = self.dir.join(commit.name());
        file.persist(&path)?;
        replace::sync_name(&path)?;
        self.last = commit.number;
        Ok(())
    }
}

/// Copies the log and the watches of the index at `from` into the directory of a new index with the
/// same documents, whose opstamps start over. Every commit of the log must have been made.
///
/// # Errors
/// When a file cannot be copied, or another process has the watches open.
pub fn carry(from: &Path, index: &Path) -> io::Result<()> {
    let watches = from.join(WATCHES_DIR);
    let mut lock = None;
    if watches.is_dir() {
        let held = fs::File::create(watches.join(WATCHES_LOCK))?;
        held.try_lock().map_err(|_| {
            let what = "another process has the watches of the index open; stop it first";
            io::Error::new(io::ErrorKind::WouldBlock, what)
        })?;
        lock = Some(held);
        copy_all(&watches, &index.join(WATCHES_DIR))?;
    }
    let log = ChangeLog { dir: from.join(CHANGES_DIR) };
    if log.dir.is_dir() {
        let to = index.join(CHANGES_DIR);
        fs::create_dir(&to)?;
        for commit in log.commits().map_err(io::Error::other)? {
            let (name, first) = (commit.name(), LoggedCommit { opstamp: 0, ..commit });
            copy_file(&log.dir.join(name), &to.join(first.name()))?;
        }
        fs::File::open(&to)?.sync_all()?;
    }
    drop(lock);
    fs::File::open(index)?.sync_all()
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    fs::File::open(to)?.sync_all()
}

/// Copies a directory with its subdirectories. The recursion is not deep.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_all(&entry.path(), &to)?,
            false => copy_file(&entry.path(), &to)?,
        }
    }
    fs::File::open(to)?.sync_all()
}
