//! Files of withdrawals, written from segments-format.md ("Withdrawals"), sound and damaged.

use serde_json::{Value, json};

/// A valid or damaged file of withdrawals.
pub struct WithdrawalsFile {
    pub about: &'static str,
    pub bytes: Vec<u8>,
    /// The records, as far as a writer obeys them; a file without must be refused.
    pub records: Option<Vec<Value>>,
}

/// Returns the valid and the damaged files.
pub fn all() -> Vec<WithdrawalsFile> {
    let records = [record(1, &[("5", 0), ("7", 3), ("5", 9)]), record(2, &[])];
    let sound = lines(1, &records);
    let mut flipped = file(&sound);
    flipped[30] ^= 1;
    let cut = file(&sound)[1..].to_vec();
    let changed = |from: &str, to: &str| {
        let changed = sound.replacen(from, to, 1);
        assert_ne!(changed, sound, "{from} is in it");
        file(&changed)
    };
    let refused = |about, bytes| WithdrawalsFile { about, bytes, records: None };
    vec![
        WithdrawalsFile {
            about: "two records, one without a fingerprint",
            bytes: file(&sound),
            records: Some(records.iter().map(obeyed).collect()),
        },
        WithdrawalsFile {
            about: "no record",
            bytes: file(&lines(1, &[])),
            records: Some(Vec::new()),
        },
        refused("a byte does not fit the checksum", flipped),
        refused("the first byte is missing", cut),
        refused("another version", file(&lines(2, &records))),
        refused("a digest of 31 digits", changed("\"digest\":\"0", "\"digest\":\"")),
        refused("a key that is no number", changed("[\"7\",3]", "[\"x\",3]")),
        refused("positions that do not ascend", changed("[\"7\",3]", "[\"7\",10]")),
        refused("a position beyond the tokens", changed("[\"5\",9]", "[\"5\",100]")),
        refused("a line that is not JSON", changed("{\"digest\"", "[\"digest\"")),
    ]
}

/// The members of a record that a writer obeys.
fn obeyed(record: &Value) -> Value {
    let digests = |list: &str| -> Vec<&Value> {
        let texts = record[list].as_array().into_iter().flatten();
        texts.map(|text| &text["digest"]).collect()
    };
    json!({
        "id": record["id"],
        "digest": record["digest"],
        "texts": digests("removed"),
        "quoting": digests("quoting"),
        "tokens": record["signature"]["tokens"],
        "fingerprints": record["signature"]["fingerprints"],
        "min_resemblance": record["min_resemblance"],
        "min_passage": record["min_passage"],
    })
}

fn digest(number: u64) -> String {
    format!("{number:032x}")
}

/// A record of a document, of a copy that was removed and of a text that quotes it.
fn record(number: u64, fingerprints: &[(&str, u32)]) -> Value {
    json!({
        "id": format!("withdrawn-{number}"),
        "withdrawn": "2026-01-31T12:00:00Z",
        "digest": digest(number),
        "signature": {
            "scheme": "kgram(k=3)", "analyzer": "words", "key_bits": 40,
            "tokens": 100, "fingerprints": fingerprints,
        },
        "min_resemblance": 0.8,
        "min_passage": 12,
        "removed": [{
            "id": format!("copy-{number}"), "digest": digest(number + 10),
            "reason": "near", "resemblance": 0.9,
        }],
        "quoting": [{
            "id": format!("quoting-{number}"), "digest": digest(number + 20),
            "tokens": 200, "quoted_tokens": 20, "passages": [[5, 25]],
        }],
    })
}

fn lines(version: u32, records: &[Value]) -> String {
    let head = json!({ "cento_withdrawals": version }).to_string();
    let records = records.iter().map(Value::to_string);
    std::iter::once(head).chain(records).map(|line| line + "\n").collect()
}

/// The file with these lines: with the footer of a component of tantivy.
fn file(lines: &str) -> Vec<u8> {
    let version = json!({ "major": 0, "minor": 27, "patch": 0, "index_format_version": 7 });
    let crc = crc32fast::hash(lines.as_bytes());
    let footer = json!({ "version": version, "crc": crc }).to_string();
    let mut bytes = lines.as_bytes().to_vec();
    bytes.extend(footer.as_bytes());
    bytes.extend((footer.len() as u32).to_le_bytes());
    bytes.extend(1337u32.to_le_bytes());
    bytes
}
