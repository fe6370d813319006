//! Fuzzes the files of an index except signatures: an untrusted index opens, or is refused.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cento::Stop;
use cento::index::Document;
use cento::index::SignedDocument;
use cento::index::{Config, Index, WriterOptions};
use cento::scheme;
use cento::scheme::frequency::FrequencyTable;
use cento::search::{Query, Searcher};
use cento::tantivy::Directory;
use cento::tantivy::directory::RamDirectory;
use serde_json::{Value, json};
use std::sync::Arc;

use super::{choice, text};

/// Name of the list of segments.
pub const META: &str = "meta.json";

/// Text before the checksum in the list of segments.
const CRC_MEMBER: &[u8] = b",\"cento_crc32\":";

const TEXT: &str = "one two three four five six seven eight nine ten eleven twelve thirteen";

/// Makes an index in memory with some documents, the third one removed.
pub fn small_index(directory: RamDirectory) -> Index {
    let config = Config::new("winnow(k=2,w=2)", "words", true).expect("they are specifications");
    let index = Index::create_in(directory, "an index in memory", config).expect("memory suffices");
    let options = WriterOptions::default().merge(false);
    let mut writer = index.writer(options).expect("there is no other writer");
    for number in 0..8 {
        let language = if number % 2 == 0 { "de" } else { "en" };
        let Value::Object(meta) = json!({
            "lang": language, "year": 2015 + number, "tags": ["a", {"b": number}], "score": 0.5,
        }) else {
            unreachable!("it is an object")
        };
        let text = format!("{TEXT} and number {number} {}", "more of it ".repeat(number));
        let document = Document::new(format!("doc{number}"), text).with_meta(meta);
        let signed = SignedDocument::new(document, index.config(), Stop::NEVER)
            .expect("a short text can be signed");
        writer.add_signed(signed).expect("memory takes it");
        if number == 4 {
            writer.commit().expect("memory takes it");
        }
    }
    writer.remove("doc2").expect("it is there");
    writer.finish().expect("memory takes it");
    index
}

/// The files of [`small_index`], with names that are always the same.
fn files() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let directory = RamDirectory::create();
        let index = small_index(directory.clone());
        let snapshot = index.snapshot().expect("it was just written");
        let mut segments: Vec<(u32, String)> = snapshot
            .tantivy()
            .segment_readers()
            .iter()
            .map(|segment| (segment.max_doc(), segment.segment_id().uuid_string()))
            .collect();
        segments.sort();
        let named = |text: &str| {
            let mut text = text.to_owned();
            for (number, (_, uuid)) in segments.iter().enumerate() {
                let parts = [&uuid[..8], &uuid[8..12], &uuid[12..16], &uuid[16..20], &uuid[20..]];
                text = text.replace(uuid, &format!("{number:032}"));
                text = text.replace(&parts.join("-"), &hyphened(number));
            }
            text
        };
        let managed = snapshot.tantivy().index().directory().list_managed_files();
        let paths = managed.into_iter().chain([".managed.json".into()]);
        let paths = paths.filter(|path: &PathBuf| path.extension() != Some("lock".as_ref()));
        let mut files: Vec<(String, Vec<u8>)> = paths
            .filter_map(|path| {
                let mut bytes = directory.atomic_read(&path).ok()?;
                let name = named(path.to_str()?);
                if path.extension() == Some("json".as_ref()) {
                    bytes = named(&String::from_utf8(bytes).ok()?).into_bytes();
                }
                if name == META {
                    bytes = sealed(&unsealed(&bytes));
                }
                Some((name, bytes))
            })
            .collect();
        files.sort();
        files.dedup();
        assert!(is_index(&files), "the files make an index");
        files
    })
}

/// Returns the name of a segment as written in `meta.json`.
fn hyphened(number: usize) -> String {
    format!("00000000-0000-0000-0000-{number:012}")
}

/// Returns whether the index with these files opens.
fn is_index(files: &[(String, Vec<u8>)]) -> bool {
    let directory = RamDirectory::create();
    for (name, bytes) in files {
        directory.atomic_write(Path::new(name), bytes).expect("memory takes it");
    }
    Index::open_in(directory, "an index in memory").is_ok_and(|index| index.snapshot().is_ok())
}

/// Valid files: the list of segments, and short files of a segment.
pub fn parts() -> Vec<(String, Vec<u8>)> {
    let (_, meta) = files().iter().find(|(name, _)| name == META).expect("it has a list");
    let sealed = [&[0][..], meta].concat();
    let open = [&[1][..], &unsealed(meta)].concat();
    let mut parts = vec![("sealed".into(), sealed), ("open".into(), open)];
    for (number, (name, bytes)) in (2..).zip(files()) {
        let name = name.rsplit('.').next().unwrap_or(name);
        let name = format!("{number:02}_{name}");
        parts.push((name, [&[number][..], bytes].concat()));
    }
    parts
}

/// Valid frequency tables, as a start for the fuzzer.
pub fn tables() -> Vec<(String, Vec<u8>)> {
    let table =
        |kind: u8, q, analyzer| [&[kind][..], &super::spec::table(q, analyzer).bytes()].concat();
    vec![
        ("words".into(), table(0, 1, "words")),
        ("chars".into(), table(1, 3, "chars")),
        ("pairs".into(), table(1, 2, "words")),
    ]
}

/// Opens an index with one untrusted file. The first byte selects the file: 0 is the list of
/// segments, `meta.json`, as given, 1 is the list with a matching checksum, and higher values are
/// further files.
pub fn index(data: &[u8]) {
    let (kind, rest) = choice(data);
    let mut files = files().to_vec();
    let (name, bytes) = match kind {
        0 => (META.to_owned(), rest.to_vec()),
        1 => (META.to_owned(), sealed(rest)),
        number => (files[(number - 2) % files.len()].0.clone(), rest.to_vec()),
    };
    files.push((name, bytes));
    let directory = RamDirectory::create();
    for (name, bytes) in &files {
        directory.atomic_write(Path::new(name), bytes).expect("memory takes it");
    }
    let Ok(index) = Index::open_in(directory, "an untrusted index") else { return };
    let problems = index.check();
    let Ok(snapshot) = index.snapshot() else { return };
    let documents = snapshot.documents();
    let answer = Searcher::new(snapshot).search(&Query::text(TEXT));
    if let (Ok(report), Ok(answer)) = (problems, answer) {
        assert!(!report.problems.is_empty() || answer.hits.len() as u64 <= documents);
    }
}

/// Removes the checksum from a list of segments.
pub fn unsealed(meta: &[u8]) -> Vec<u8> {
    let at = meta.windows(CRC_MEMBER.len()).rposition(|window| window == CRC_MEMBER);
    [&meta[..at.expect("cento ends its list with a checksum")], b"}"].concat()
}

/// Adds a checksum to a JSON object.
pub fn sealed(json: &[u8]) -> Vec<u8> {
    let json = json.trim_ascii_end();
    let Some(open) = json.strip_suffix(b"}") else { return json.to_vec() };
    let crc = crc32fast::hash(json);
    [open, CRC_MEMBER, format!("{crc}}}").as_bytes()].concat()
}

/// Reads a frequency table. If the first byte is odd, the checksum is made to match.
pub fn frequencies(data: &[u8]) {
    let (kind, rest) = choice(data);
    let mut bytes = rest.to_vec();
    if kind % 2 == 1 {
        forge(&mut bytes);
    }
    let Ok(table) = FrequencyTable::new("an untrusted table", bytes.clone()) else { return };
    assert_eq!(table.bytes(), bytes);
    let (mut grams, mut last) = (0u32, None);
    table.for_each(&mut |key, count| {
        // A forged table may give one gram two counts, which is harmless.
        if kind % 2 == 0 && grams < 1000 && last < Some(key) {
            assert_eq!(table.count(key), count, "{key}");
        }
        (last, grams) = (Some(key), grams + 1);
    });
    assert!(table.count(0) < u64::MAX);
    let scheme::frequency::Header { q, analyzer, .. } = table.header().clone();
    let table = Arc::new(table);
    for scheme in with_tables(q) {
        let Ok(config) = Config::with_frequencies(&scheme, &analyzer, true, Some(table.clone()))
        else {
            continue;
        };
        text::sign(&config.scheme, &text::analyzed(&config.analyzer, TEXT));
    }
}

/// Returns specifications of every scheme that reads a table of runs of `q` tokens, with default
/// and with minimum values of the further parameters.
fn with_tables(q: usize) -> Vec<String> {
    let families = scheme::families().iter().filter_map(|family| {
        let run = match family.table()? {
            scheme::Table::Tokens => None,
            scheme::Table::Runs(parameter) | scheme::Table::Repeated(parameter) => Some(parameter),
        };
        let least = family.parameters.iter().map(|it| match Some(it.name) == run {
            true => format!("{}={q}", it.name),
            false => format!("{}={}", it.name, it.written(it.min)),
        });
        let least = least.collect::<Vec<_>>().join(",");
        let run = run.map(|parameter| format!("{parameter}={q}")).unwrap_or_default();
        Some([run, least].map(|parameters| format!("{}({parameters})", family.name)))
    });
    families.flatten().collect()
}

/// Appends the checksum of the map after the header, as the fst crate does.
fn forge(bytes: &mut [u8]) {
    let Some(head) = bytes.iter().position(|&byte| byte == b'\n') else { return };
    let Some((map, end)) = bytes[head + 1..].split_last_chunk_mut::<4>() else { return };
    let mut crc = !0u32;
    for &byte in map.iter() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    *end = (!crc).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
}
