//! How much of the inputs has been read.

use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::{SourceOptions, files_below};

/// Measures the progress of a run in bytes on disk, so a compressed file counts with its compressed
/// size. The reader announces every opened file.
#[derive(Debug, Default)]
pub struct ReadMeter {
    place: Mutex<MeterPlace>,
    /// The size of all inputs, once known.
    total: OnceLock<u64>,
}

/// The place in the inputs.
#[derive(Debug, Default)]
struct MeterPlace {
    /// The bytes in files before the current file.
    before: u64,
    /// The current file and its length. The handle is cloned from the reader's handle, so the two
    /// share a position.
    current: Option<(File, u64)>,
}

impl ReadMeter {
    /// Returns a meter for these inputs, or `None` if an input such as standard input has no known
    /// size. A thread adds up the sizes of files in directories, so that reading can begin
    /// immediately.
    #[must_use]
    pub fn of(inputs: &[PathBuf], options: &SourceOptions) -> Option<Arc<ReadMeter>> {
        let is_known =
            |input: &PathBuf| input.metadata().is_ok_and(|found| found.is_file() || found.is_dir());
        if !inputs.iter().all(is_known) {
            return None;
        }
        let meter = Arc::new(ReadMeter::default());
        let (inputs, options, of) = (inputs.to_vec(), options.clone(), meter.clone());
        // Not joined, because the run may end first.
        std::thread::spawn(move || {
            let _ = of.total.set(inputs.iter().map(|input| bytes_in(input, &options)).sum());
        });
        Some(meter)
    }

    /// Records that the reader has opened `file`.
    pub(crate) fn begin(&self, file: &File) {
        let len = file.metadata().map_or(0, |found| found.len());
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        place.before += place.current.take().map_or(0, |(_, len)| len);
        place.current = file.try_clone().ok().map(|file| (file, len));
    }

    /// Returns the number of bytes read and the total, or `None` while the total is unknown.
    #[must_use]
    pub fn read(&self) -> Option<(u64, u64)> {
        let total = *self.total.get().filter(|&&total| total > 0)?;
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        let in_current = place.current.as_mut().map_or(0, |(file, len)| {
            let position = file.stream_position().unwrap_or(0);
            position.min(*len)
        });
        Some(((place.before + in_current).min(total), total))
    }
}

/// Returns the size of a file, or the total size of the files that are read below a directory.
fn bytes_in(input: &Path, options: &SourceOptions) -> u64 {
    let len = |path: &Path| path.metadata().map_or(0, |found| found.len());
    match input.is_dir() {
        true => files_below(input, options).flatten().map(|file| len(&file.path)).sum(),
        false => len(input),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents;

    fn total_of(meter: &ReadMeter) -> u64 {
        *meter.total.wait()
    }

    #[test]
    fn what_is_read_adds_up_to_the_sizes_of_all_files() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes);
        std::fs::create_dir(dir.path().join("below")).unwrap();
        let line = "{\"text\":\"some words of a line\"}\n";
        write("a.jsonl", line.repeat(100_000).as_bytes()).unwrap();
        write("b.bin", &[0; 70_000]).unwrap();
        write("below/c.txt", b"other words").unwrap();
        let inputs = [dir.path().join("a.jsonl"), dir.path().to_owned()];
        let options = SourceOptions::default();
        let meter = ReadMeter::of(&inputs, &options);
        let options = SourceOptions { read_meter: meter.clone(), ..options };
        let meter = meter.unwrap();
        let lines = 100_000 * line.len() as u64;
        let total = lines + (lines + 70_000 + 11);
        assert_eq!(total_of(&meter), total);
        assert_eq!(meter.read(), Some((0, total)));
        let mut read = documents(&inputs, &options);
        assert!(read.next().is_some());
        let (at_first, _) = meter.read().unwrap();
        assert!(0 < at_first && at_first < lines, "{at_first} of {total}");
        read.for_each(drop);
        assert_eq!(meter.read(), Some((total, total)));
    }

    #[test]
    fn standard_input_has_no_size() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let inputs = [file.path().to_owned(), PathBuf::from("-")];
        assert!(ReadMeter::of(&inputs, &SourceOptions::default()).is_none());
        // A total of zero gives no share.
        let meter = ReadMeter::of(&inputs[..1], &SourceOptions::default()).unwrap();
        assert_eq!((total_of(&meter), meter.read()), (0, None));
    }
}
