//! Is a text in any byte of a directory? A check that knows nothing of indexes and stores.

use std::fs;
use std::path::{Path, PathBuf};

/// What a frame of Zstandard begins with.
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The largest content of a frame that is looked at, in bytes.
const CONTENT_BYTES_MAX: usize = 64 << 20;

/// Returns the files below `dir` that have `text` in their bytes, or in the content of a frame of
/// Zstandard that begins anywhere in them.
///
/// # Panics
/// When a file cannot be read.
#[must_use]
pub fn files_with(dir: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if has(&fs::read(&path).unwrap(), text.as_bytes()) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn has(bytes: &[u8], text: &[u8]) -> bool {
    let is_in = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    let starts = bytes.windows(FRAME.len()).enumerate().filter(|(_, window)| *window == FRAME);
    is_in(bytes) || starts.map(|(at, _)| content(&bytes[at..])).any(|content| is_in(&content))
}

/// Returns the content of the frame at the beginning, if the frame is complete.
fn content(bytes: &[u8]) -> Vec<u8> {
    use std::io::Read;
    let mut content = Vec::new();
    if let Ok(frame) = zstd::Decoder::with_buffer(bytes) {
        // What follows the frame is no frame; what came before that counts.
        let _ = frame.single_frame().take(CONTENT_BYTES_MAX as u64).read_to_end(&mut content);
    }
    content
}
