//! Fuzzes the logs of an index with watches: changes and events.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use cento::Stop;
use cento::index::{Config, Index, WriterOptions};
use cento_collections::watch::EventReader;

use super::choice;

/// A directory with an index that logs its changes, which one input has at a time.
fn index() -> &'static Mutex<(tempfile::TempDir, Index)> {
    static INDEX: OnceLock<Mutex<(tempfile::TempDir, Index)>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let dir = tempfile::tempdir().expect("there is room for a directory");
        let config = Config::new("winnow(k=2,w=2)", "words", true).expect("it is a configuration");
        let index = Index::create(dir.path().join("idx"), config).expect("the directory is empty");
        let mut writer = index.writer(WriterOptions::default()).expect("there is no other");
        writer.log_changes().expect("the directory can be written");
        drop(writer);
        Mutex::new((dir, index))
    })
}

/// Valid logs, as a start for the fuzzer.
pub fn files() -> Vec<(String, Vec<u8>)> {
    let event = "{\"cursor\":1,\"watch\":\"w\",\"commit\":1,\"time\":0,\"hit\":{}}\n";
    let ids = "\"a\"\n\"b\"\n";
    [("events", 1, event), ("changes", 3, ids)]
        .map(|(name, kind, lines)| (name.into(), [&[kind][..], lines.as_bytes()].concat()))
        .into()
}

/// Reads a log or finds it damaged. The first byte selects the log of events or of changes. If the
/// byte is odd, the checksums are made to match.
pub fn logs(data: &[u8]) {
    let (kind, bytes) = choice(data);
    let held = index().lock().unwrap_or_else(PoisonError::into_inner);
    let (dir, index) = &*held;
    let is_sealed = kind % 2 == 1;
    match kind / 2 % 2 {
        0 => events(&dir.path().join("events"), bytes, is_sealed),
        _ => changes(index, bytes, is_sealed),
    }
}

fn events(dir: &Path, bytes: &[u8], is_sealed: bool) {
    fs::create_dir_all(dir).expect("the directory can be written");
    let mut bytes = bytes.to_vec();
    if is_sealed {
        let (matched, next) = (1u64, bytes.len() as u64 % 256);
        let mut lines = crc32fast::Hasher::new();
        lines.update(&bytes);
        lines.update(&matched.to_le_bytes());
        lines.update(&next.to_le_bytes());
        let crc = lines.finalize();
        let marker = format!("{{\"matched\":{matched},\"next\":{next},\"crc\":{crc}}}\n");
        bytes.extend(marker.as_bytes());
    }
    fs::write(dir.join("0000000000000001.jsonl"), bytes).expect("the directory can be written");
    let Ok(reader) = EventReader::open(dir) else { return };
    for after in [0, 1, u64::MAX] {
        let Ok(found) = reader.read(after, None, 10, Stop::NEVER) else { continue };
        assert!(found.events.len() <= 10 && found.next <= reader.next());
        assert!(found.events.iter().all(|event| event.cursor < reader.next()));
    }
}

fn changes(index: &Index, bytes: &[u8], is_sealed: bool) {
    let mut bytes = bytes.to_vec();
    if is_sealed {
        let crc = crc32fast::hash(&bytes);
        bytes.extend(format!("{crc:08x}\n").as_bytes());
    }
    let path = index.path().join(".changes/0000000000000001-0000000000000000");
    let len = bytes.len();
    fs::write(path, bytes).expect("the directory can be written");
    let (_, commits) = index.changes_after(0).expect("names are right");
    let log = index.change_log().expect("it logs its changes");
    assert_eq!(commits.len(), 1);
    if let Ok(ids) = log.ids(&commits[0]) {
        assert!(3 * ids.len() <= len + 1);
    }
}
