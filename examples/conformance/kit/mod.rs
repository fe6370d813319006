//! The conformance kit.
//!
//! The kit has sound segments with the content that a reader must find, damaged segments with the
//! reason to refuse them, and bitmaps and transducers of every shape. The public writer makes the
//! sound files. Their content comes from the documents that were written and not from a reader, so
//! that a fault of cento's reader cannot hide. conformance/README.md describes all files.

pub mod bitmaps;
pub mod content;
pub mod damaged;
pub mod parts;
pub mod transducers;
pub mod valid;
pub mod withdrawals;

use std::collections::BTreeMap;

use serde_json::json;

use bitmaps::Bitmap;
use damaged::Damaged;
use transducers::Transducer;
use valid::Valid;
use withdrawals::WithdrawalsFile;

/// Everything in the kit that is generated.
pub struct Kit {
    /// Segments that must be read.
    pub valid: Vec<Valid>,
    /// Segments that must be refused.
    pub damaged: Vec<Damaged>,
    /// Posting lists of shapes that would need too large a segment.
    pub bitmaps: Vec<Bitmap>,
    /// Transducers of a term index that would need too large a segment.
    pub transducers: Vec<Transducer>,
    /// Files of withdrawals; some must be refused.
    pub withdrawals: Vec<WithdrawalsFile>,
}

impl Kit {
    /// The kit as this version of cento writes it.
    pub fn new() -> Kit {
        let valid = valid::all();
        let damaged = damaged::all(&valid);
        let (bitmaps, transducers) = (bitmaps::all(), transducers::all());
        Kit { valid, damaged, bitmaps, transducers, withdrawals: withdrawals::all() }
    }

    /// The files, by their paths below `conformance/`.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for valid in &self.valid {
            files.insert(format!("valid/{}.sig", valid.name), valid.bytes.clone());
            files.insert(format!("valid/{}.json", valid.name), valid.content.json().into_bytes());
        }
        for damaged in &self.damaged {
            files.insert(format!("damaged/{}.sig", damaged.name), damaged.bytes.clone());
        }
        let count = 2 * self.valid.len() + self.damaged.len();
        assert_eq!(files.len(), count, "no two files have one name");
        files.insert("manifest.json".into(), self.manifest().into_bytes());
        files
    }

    fn manifest(&self) -> String {
        let valid = self.valid.iter().map(|valid| {
            json!({
                "file": format!("valid/{}.sig", valid.name),
                "content": format!("valid/{}.json", valid.name),
                "about": valid.about,
            })
        });
        let damaged = self.damaged.iter().map(|damaged| {
            json!({
                "file": format!("damaged/{}.sig", damaged.name),
                "from": damaged.from.as_ref().map(|from| format!("valid/{from}.sig")),
                "kind": damaged.kind.name(),
                "section": damaged.section,
                "noticed": damaged.noticed.name(),
                "about": damaged.about,
            })
        });
        let bitmaps = self.bitmaps.iter().map(|bitmap| {
            let bytes = hex(&bitmap.bytes);
            json!({ "about": bitmap.about, "ranges": bitmap.ranges, "bytes": bytes })
        });
        let transducers = self.transducers.iter().map(|transducer| {
            let entries = transducer.entries.iter().map(|(key, value)| json!([hex(key), value]));
            let entries: Vec<_> = entries.collect();
            json!({
                "about": transducer.about,
                "entries": entries,
                "bytes": hex(&transducer.bytes),
            })
        });
        let withdrawals = self.withdrawals.iter().map(|file| {
            let bytes = hex(&file.bytes);
            json!({ "about": file.about, "records": file.records, "bytes": bytes })
        });
        let rows = |rows: Vec<String>| rows.join(",\n    ");
        format!(
            "{{\n  \"version\": {},\n  \"valid\": [\n    {}\n  ],\n  \"damaged\": [\n    {}\n  ],\n  \
             \"bitmaps\": [\n    {}\n  ],\n  \"transducers\": [\n    {}\n  ],\n  \
             \"withdrawals\": [\n    {}\n  ]\n}}\n",
            cento::segment::FORMAT_VERSION,
            rows(valid.map(|row| row.to_string()).collect()),
            rows(damaged.map(|row| row.to_string()).collect()),
            rows(bitmaps.map(|row| row.to_string()).collect()),
            rows(transducers.map(|row| row.to_string()).collect()),
            rows(withdrawals.map(|row| row.to_string()).collect()),
        )
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
