//! Fuzzes the file of documents that an index refuses.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cento::index::{Document, Index, WriterOptions};
use cento::tantivy::directory::RamDirectory;
use cento::tantivy::{Directory, version};
use cento::{Reason, Stop};
use cento_collections::withdraw::{Plan, WithdrawOptions};
use cento_testing::naive_withdrawals;
use serde_json::json;

use super::index::{META, sealed, small_index, unsealed};

/// An index with a withdrawal: its list of segments, the name of the file of withdrawals, and the
/// lines of that.
struct Withdrawn {
    files: Vec<(PathBuf, Vec<u8>)>,
    meta: String,
    name: String,
    lines: Vec<u8>,
}

const TEXT: &str = "one two three four five six seven eight nine ten eleven twelve thirteen";

fn withdrawn() -> &'static Withdrawn {
    static WITHDRAWN: OnceLock<Withdrawn> = OnceLock::new();
    WITHDRAWN.get_or_init(|| {
        let directory = RamDirectory::create();
        let index = small_index(directory.clone());
        let mut writer = index.writer(WriterOptions::default()).expect("there is no other");
        let snapshot = writer.committed().expect("it is whole");
        let plan = Plan::new(snapshot, "doc3", &WithdrawOptions::default(), Stop::NEVER);
        let plan = plan.expect("the document is there");
        plan.apply(&mut writer, Stop::NEVER).expect("memory takes it");
        writer.finish().expect("memory takes it");
        let meta = directory.atomic_read(Path::new(META)).expect("it has a list");
        let meta = String::from_utf8(unsealed(&meta)).expect("it is JSON");
        let end = meta.find(".withdrawn\"").expect("the list names the file");
        let start = meta[..end].rfind('"').expect("names are quoted") + 1;
        let name = format!("{}.withdrawn", &meta[start..end]);
        let bytes = directory.atomic_read(Path::new(&name)).expect("the file is there");
        let lines = naive_withdrawals::split(&bytes).0.to_vec();
        let snapshot = index.snapshot().expect("it was just written");
        let managed = snapshot.tantivy().index().directory().list_managed_files();
        let paths = managed.into_iter().chain([".managed.json".into()]);
        let read = |path: PathBuf| Some((path.clone(), directory.atomic_read(&path).ok()?));
        Withdrawn { files: paths.filter_map(read).collect(), meta, name, lines }
    })
}

/// Valid files, as a start for the fuzzer.
pub fn files() -> Vec<(String, Vec<u8>)> {
    vec![("one".into(), withdrawn().lines.clone())]
}

/// The lines of a file of withdrawals, with a footer and an entry in the list of segments that fit:
/// they are refused, or read as by the naive reader, and a document is then added or refused.
pub fn withdrawals(data: &[u8]) {
    let Withdrawn { files, meta, name, .. } = withdrawn();
    let crc = crc32fast::hash(data);
    let footer = json!({"version": version(), "crc": crc}).to_string();
    let mut bytes = [data, footer.as_bytes()].concat();
    bytes.extend((footer.len() as u32).to_le_bytes());
    bytes.extend(1337u32.to_le_bytes());
    let end_crc = crc32fast::hash(&bytes[bytes.len().saturating_sub(4096)..]);
    let entry = format!("\"{name}\":[{},{crc},{end_crc}]", bytes.len());
    let start = meta.find(&format!("\"{name}\":[")).expect("the list names the file");
    let end = start + meta[start..].find(']').expect("the entry has an end") + 1;
    let meta = [&meta[..start], &entry, &meta[end..]].concat();
    let own = RamDirectory::create();
    for (path, bytes) in files {
        own.atomic_write(path, bytes).expect("memory takes it");
    }
    own.atomic_write(Path::new(name), &bytes).expect("memory takes it");
    own.atomic_write(Path::new(META), &sealed(meta.as_bytes())).expect("memory takes it");
    let index = Index::open_in(own, "an untrusted index").expect("the list is right");
    let Ok(read) = index.withdrawals() else { return };
    let naive = naive_withdrawals::read(&bytes);
    assert_eq!(read.len(), naive.len());
    for (withdrawal, naive) in read.iter().zip(&naive) {
        assert_eq!((&withdrawal.id, withdrawal.signature.tokens), (&naive.id, naive.tokens));
        assert_eq!(withdrawal.signature.fingerprints.len(), naive.signature.len());
        assert_eq!(withdrawal.removed.len(), naive.texts.len());
    }
    let mut writer = index.writer(WriterOptions::default()).expect("the withdrawals can be read");
    if let Err(error) = writer.add(Document::new("new", TEXT)) {
        assert_eq!(error.reason(), Reason::Withdrawn);
    }
}
