//! The log of events.
//!
//! The log is a sequence of files with lines of JSON. The name of a file is the first cursor in the
//! file. The events of a commit are a batch that ends with a marker: a line with the number of the
//! commit, the next cursor and a checksum of the batch. A batch without a marker was cut off, and
//! the next writer removes it, so the log has the events of a commit once or not at all. Each file
//! begins with a marker, so the last file alone gives the state of the log. When the log takes more
//! than [`EVENTS_BYTES_MAX`], the oldest files are removed.
//!
//! A cursor is at least the time of its batch in microseconds, and greater than every previous
//! cursor. So a log that is restored from a copy does not reuse cursors that readers have seen
//! already.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use cento_api::error::{Corruption, Error, Result};
use cento_api::json::heap_bytes;
use cento_api::{WatchEvent, WatchEvents};
use cento_text::runtime::{Stop, replace};

/// The maximum size of the log in bytes. A larger log loses its oldest file.
pub const EVENTS_BYTES_MAX: u64 = 256 << 20;

/// The size in bytes that makes the next batch begin a new file.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The memory in bytes of the events that one call returns, with their JSON, unless a single event
/// takes more.
pub const READ_BYTES_MAX: usize = 8 << 20;

/// The line that ends a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Marker {
    /// The last commit whose events are in the log.
    matched: u64,
    /// The cursor of the next event.
    next: u64,
    /// The checksum of the batch's lines, `matched` and `next`.
    crc: u32,
}

/// What decides whether an event belongs to a watch.
#[derive(Deserialize)]
struct EventOrigin<'a> {
    #[serde(borrow)]
    watch: Cow<'a, str>,
    commit: u64,
}

/// How the line of a marker begins. No event begins like this.
const MARKER: &[u8] = b"{\"matched\":";

impl Marker {
    fn new(matched: u64, next: u64, mut lines: crc32fast::Hasher) -> Marker {
        lines.update(&matched.to_le_bytes());
        lines.update(&next.to_le_bytes());
        Marker { matched, next, crc: lines.finalize() }
    }

    fn line(&self) -> String {
        serde_json::to_string(self).expect("numbers are JSON") + "\n"
    }
}

/// Reads the durable part of the log, from any number of threads.
#[derive(Debug, Clone)]
pub struct EventReader {
    dir: PathBuf,
    /// The cursor of the next event. Events with smaller cursors are durable.
    next: Arc<AtomicU64>,
}

/// The log, for its only writer.
#[derive(Debug)]
pub struct EventLog {
    reader: EventReader,
    file: File,
    path: PathBuf,
    /// The length of the file up to the end of its last whole batch.
    len: u64,
    matched: u64,
    bytes_max: (u64, u64),
}

/// The events of a commit while they are written. Dropping the batch leaves no trace in the log.
pub struct Batch<'a> {
    log: &'a mut EventLog,
    file: BufWriter<File>,
    lines: crc32fast::Hasher,
    bytes: u64,
    /// The cursor of the first event.
    first: u64,
    next: u64,
    is_ended: bool,
}

fn path_of(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{first:016x}.jsonl"))
}

/// Returns the first cursors of the files, ascending.
fn firsts(dir: &Path) -> Result<Vec<u64>> {
    let failed = |e| Error::io("read", dir, e);
    let mut firsts = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let stem = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
        firsts.extend(stem.and_then(|stem| u64::from_str_radix(stem, 16).ok()));
    }
    firsts.sort_unstable();
    Ok(firsts)
}

fn damaged(path: &Path, at: u64, what: &str) -> Error {
    Corruption::new(path.display().to_string(), "events", at, what).into()
}

/// Reads a file up to its last whole batch. Returns the length of this part and its last marker, if
/// any. A batch after this part was cut off.
fn last_batch(path: &Path) -> Result<(u64, Option<Marker>)> {
    let failed = |e| Error::io("read", path, e);
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let (mut at, mut line) = (0u64, Vec::new());
    let (mut end, mut last) = (0, None);
    let mut lines = crc32fast::Hasher::new();
    let mut is_cut = false;
    loop {
        line.clear();
        let read = file.read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 {
            return Ok((end, last));
        }
        at += read as u64;
        if !line.starts_with(MARKER) {
            lines.update(&line);
            continue;
        }
        let marker = serde_json::from_slice::<Marker>(&line).ok();
        let marker = marker.filter(|marker| {
            let own = std::mem::take(&mut lines);
            // Cursors begin at 1, so a marker with 0 is damaged.
            marker.next > 0
                && line.ends_with(b"\n")
                && Marker::new(marker.matched, marker.next, own) == *marker
        });
        match marker {
            // Only the last batch may be cut off, because earlier batches were durable before it
            // began.
            Some(_) if is_cut => return Err(damaged(path, end, "a batch of events is damaged")),
            Some(_) => (end, last) = (at, marker),
            None => is_cut = true,
        }
    }
}

/// Returns the first `len` bytes of a file, which are whole batches, with events changed and
/// checksums renewed, and the number of changed events.
fn rewritten(
    path: &Path,
    len: u64,
    change: &mut dyn FnMut(&mut WatchEvent) -> bool,
) -> Result<(Vec<u8>, u64)> {
    let failed = |e| Error::io("read", path, e);
    let mut file = BufReader::new(File::open(path).map_err(failed)?.take(len));
    let (mut bytes, mut line, mut changed) = (Vec::new(), Vec::new(), 0);
    let mut lines = crc32fast::Hasher::new();
    loop {
        line.clear();
        if file.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok((bytes, changed));
        }
        let broken = |_| damaged(path, bytes.len() as u64, "a line is not as it was written");
        if line.starts_with(MARKER) {
            let Marker { matched, next, .. } = serde_json::from_slice(&line).map_err(broken)?;
            let marker = Marker::new(matched, next, std::mem::take(&mut lines));
            bytes.extend_from_slice(marker.line().as_bytes());
            continue;
        }
        let mut event = serde_json::from_slice::<WatchEvent>(&line).map_err(broken)?;
        if change(&mut event) {
            changed += 1;
            line = (serde_json::to_string(&event).expect("an event is JSON") + "\n").into_bytes();
        }
        lines.update(&line);
        bytes.extend_from_slice(&line);
    }
}

impl EventLog {
    /// Opens the log in the directory. A new log begins without events, after the commit with the
    /// number `matched`.
    ///
    /// # Errors
    /// When the log is damaged, or cannot be read or written.
    pub fn open(dir: &Path, matched: u64) -> Result<EventLog> {
        fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
        replace::sync_name(dir).map_err(|e| Error::io("sync", dir, e))?;
        loop {
            let Some(&first) = firsts(dir)?.last() else {
                let reader = EventReader { dir: dir.to_owned(), next: Arc::default() };
                return EventLog::begin(reader, 1, matched);
            };
            let path = path_of(dir, first);
            let failed = |e| Error::io("write to", &path, e);
            let (len, marker) = last_batch(&path)?;
            let Some(marker) = marker else {
                // A file without any whole batch was cut off while it was begun.
                fs::remove_file(&path).map_err(failed)?;
                continue;
            };
            let file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
            file.set_len(len).and_then(|()| file.sync_all()).map_err(failed)?;
            let reader =
                EventReader { dir: dir.to_owned(), next: Arc::new(AtomicU64::new(marker.next)) };
            let (matched, bytes_max) = (marker.matched, (FILE_BYTES_MAX, EVENTS_BYTES_MAX));
            return Ok(EventLog { reader, file, path, len, matched, bytes_max });
        }
    }

    /// Begins a file with a marker.
    fn begin(reader: EventReader, next: u64, matched: u64) -> Result<EventLog> {
        let path = path_of(&reader.dir, next);
        let marker = Marker::new(matched, next, crc32fast::Hasher::new()).line();
        let begin = || {
            let mut file = File::create(&path)?;
            file.write_all(marker.as_bytes())?;
            file.sync_all()?;
            replace::sync_name(&path)?;
            Ok(file)
        };
        let file = begin().map_err(|e| Error::io("write to", &path, e))?;
        reader.next.store(next, Ordering::Release);
        let bytes_max = (FILE_BYTES_MAX, EVENTS_BYTES_MAX);
        Ok(EventLog { reader, file, path, len: marker.len() as u64, matched, bytes_max })
    }

    /// Makes files short, for a test.
    #[cfg(test)]
    pub fn with_bytes_max(self, file: u64, all: u64) -> EventLog {
        EventLog { bytes_max: (file, all), ..self }
    }

    /// Returns the part of the log that may be read from other threads.
    pub fn reader(&self) -> &EventReader {
        &self.reader
    }

    /// Returns the number of the last commit whose events are in the log.
    pub fn matched(&self) -> u64 {
        self.matched
    }

    /// Changes events in place and returns the number of changed events. `change` tells whether it
    /// has changed an event. Each affected file is replaced atomically. Cursors and batches stay
    /// the same.
    ///
    /// # Errors
    /// When a file is damaged, or cannot be read or replaced. Previous files have been replaced by
    /// then.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(&mut WatchEvent) -> bool) -> Result<u64> {
        let mut changed = 0;
        for first in firsts(&self.reader.dir)? {
            let path = path_of(&self.reader.dir, first);
            let (len, _) = last_batch(&path)?;
            let (bytes, of_file) = rewritten(&path, len, change)?;
            if of_file == 0 {
                continue;
            }
            let failed = |e| Error::io("write to", &path, e);
            replace::file(&path, &bytes).map_err(failed)?;
            if path == self.path {
                self.file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
                self.len = bytes.len() as u64;
            }
            changed += of_file;
        }
        Ok(changed)
    }

    /// Begins the events of a commit, matched at this time in microseconds since 1970.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn batch(&mut self, time: u64) -> Result<Batch<'_>> {
        if self.len >= self.bytes_max.0 && self.next() > 1 {
            let bytes_max = self.bytes_max;
            *self = EventLog::begin(self.reader.clone(), self.next(), self.matched)?;
            self.bytes_max = bytes_max;
            self.forget()?;
        }
        let failed = |e| Error::io("write to", &self.path, e);
        // Truncating also removes the remainder of an abandoned batch.
        self.file.set_len(self.len).map_err(failed)?;
        self.file.seek(SeekFrom::Start(self.len)).map_err(failed)?;
        let file = BufWriter::new(self.file.try_clone().map_err(failed)?);
        let first = self.next().max(time);
        let lines = crc32fast::Hasher::new();
        Ok(Batch { log: self, file, lines, bytes: 0, first, next: first, is_ended: false })
    }

    fn next(&self) -> u64 {
        self.reader.next()
    }

    /// Removes the oldest files while the log is too large.
    fn forget(&self) -> Result<()> {
        let mut sizes = Vec::new();
        for first in firsts(&self.reader.dir)? {
            let path = path_of(&self.reader.dir, first);
            let found = fs::metadata(&path).map_err(|e| Error::io("read", &path, e))?;
            sizes.push((path, found.len()));
        }
        let mut bytes: u64 = sizes.iter().map(|(_, len)| len).sum();
        sizes.pop();
        for (path, len) in sizes {
            if bytes <= self.bytes_max.1 {
                break;
            }
            fs::remove_file(&path).map_err(|e| Error::io("remove", &path, e))?;
            bytes -= len;
        }
        Ok(())
    }
}

impl Batch<'_> {
    /// Returns the cursor of the next event of the batch.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Writes an event with the next cursor.
    ///
    /// # Errors
    /// When the event cannot be written.
    ///
    /// # Panics
    /// When the cursor of the event is not [`next`](Self::next).
    pub fn push(&mut self, event: &WatchEvent) -> Result<()> {
        assert_eq!(event.cursor, self.next, "cursors ascend by one");
        let line = serde_json::to_string(event).expect("an event is JSON") + "\n";
        self.lines.update(line.as_bytes());
        self.bytes += line.len() as u64;
        self.next += 1;
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|e| Error::io("write to", &self.log.path, e))
    }

    /// Ends the batch with the number of its commit, which makes the events durable. Returns the
    /// number of events.
    ///
    /// # Errors
    /// When the marker cannot be written. The log is then as before.
    pub fn end(mut self, commit: u64) -> Result<u64> {
        let events = self.next - self.first;
        let next = if events > 0 { self.next } else { self.log.next() };
        let marker = Marker::new(commit, next, std::mem::take(&mut self.lines)).line();
        let write = |file: &mut BufWriter<File>| -> io::Result<()> {
            file.write_all(marker.as_bytes())?;
            file.flush()?;
            file.get_ref().sync_data()
        };
        let written = write(&mut self.file);
        written.map_err(|e| Error::io("write to", &self.log.path, e))?;
        self.is_ended = true;
        self.log.len += self.bytes + marker.len() as u64;
        self.log.matched = commit;
        self.log.reader.next.store(next, Ordering::Release);
        Ok(events)
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if !self.is_ended {
            // If this fails, the next batch or the next writer truncates the file.
            let _ = self.log.file.set_len(self.log.len);
        }
    }
}

impl EventReader {
    /// Opens the log in the directory, with the events that are durable now. Another process may
    /// write to the log.
    ///
    /// # Errors
    /// When the log is damaged or cannot be read.
    pub fn open(dir: &Path) -> Result<EventReader> {
        let firsts = if dir.is_dir() { firsts(dir)? } else { Vec::new() };
        for first in firsts.into_iter().rev() {
            if let (_, Some(marker)) = last_batch(&path_of(dir, first))? {
                let next = Arc::new(AtomicU64::new(marker.next));
                return Ok(EventReader { dir: dir.to_owned(), next });
            }
        }
        Ok(EventReader { dir: dir.to_owned(), next: Arc::new(AtomicU64::new(1)) })
    }

    /// Returns the cursor of the next event.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next.load(Ordering::Acquire)
    }

    /// Returns events after a cursor, at most `limit` and [`READ_BYTES_MAX`]. `watch` restricts the
    /// events to the watch with this name that was created after this commit, because earlier
    /// events belong to a previous watch with the name.
    ///
    /// # Errors
    /// When a file is damaged or cannot be read. [`Error::Cancelled`] soon after `stop`.
    pub fn read(
        &self,
        after: u64,
        watch: Option<(&str, u64)>,
        limit: usize,
        stop: &Stop,
    ) -> Result<WatchEvents> {
        loop {
            let next = self.next();
            if after.saturating_add(1) == next {
                // Many readers wait for the next event, so they read no file before it is there.
                return Ok(WatchEvents { next: after, ..WatchEvents::default() });
            }
            let firsts = if next > 1 { firsts(&self.dir)? } else { Vec::new() };
            match self.read_from(&firsts, after, next, watch, limit, stop) {
                // Another thread has removed the file, so look for the oldest file again.
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                read => return read,
            }
        }
    }

    fn read_from(
        &self,
        firsts: &[u64],
        after: u64,
        next: u64,
        watch: Option<(&str, u64)>,
        limit: usize,
        stop: &Stop,
    ) -> Result<WatchEvents> {
        let oldest = firsts.first().copied().unwrap_or(1);
        // A cursor that no event has yet comes from a previous log.
        let is_foreign = after >= next;
        let missed = after.saturating_add(1) < oldest || is_foreign;
        let after = after.min(next - 1);
        let mut found = WatchEvents { events: Vec::new(), next: after, more: false, missed };
        let start = firsts.partition_point(|first| *first <= after.saturating_add(1));
        let mut bytes = 0;
        for &first in &firsts[start.saturating_sub(1)..] {
            let path = path_of(&self.dir, first);
            let failed = |e| Error::io("read", &path, e);
            let mut file = BufReader::new(File::open(&path).map_err(failed)?);
            let (mut at, mut line) = (0u64, Vec::new());
            loop {
                stop.check()?;
                line.clear();
                let read = file.read_until(b'\n', &mut line).map_err(failed)?;
                if read == 0 {
                    break;
                }
                at += read as u64;
                if line.starts_with(MARKER) {
                    continue;
                }
                let cursor = cursor_of(&line);
                // A batch that is being written has cursors from `next` on.
                if cursor.is_some_and(|cursor| cursor <= after) {
                    continue;
                }
                if cursor.is_none_or(|cursor| cursor >= next) {
                    break;
                }
                let broken = |_| damaged(&path, at, "an event is not JSON");
                if let Some((name, since)) = watch {
                    let origin: EventOrigin<'_> = serde_json::from_slice(&line).map_err(broken)?;
                    if origin.watch != name || origin.commit <= since {
                        continue;
                    }
                }
                let event: WatchEvent = serde_json::from_slice(&line).map_err(broken)?;
                let first = bytes == 0;
                bytes += 2 * line.len() + heap_bytes(&event.hit.meta);
                if found.events.len() >= limit || (bytes > READ_BYTES_MAX && !first) {
                    found.more = true;
                    return Ok(found);
                }
                found.next = event.cursor;
                found.events.push(event);
            }
        }
        found.next = found.next.max(next - 1);
        Ok(found)
    }
}

/// Returns the cursor of an event from the beginning of its line, without parsing the event.
fn cursor_of(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(b"{\"cursor\":")?;
    let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests;
