//! A second reader of the file of withdrawals, made from segments-format.md alone ("Withdrawals").
//! Damaged files cause a panic.

use serde_json::Value;

use crate::naive::uint;

/// A withdrawal, as far as an index obeys it.
#[derive(Debug, Clone, PartialEq)]
pub struct NaiveWithdrawal {
    /// The id of the document.
    pub id: String,
    /// The digest of the text, low half first.
    pub digest: [u64; 2],
    /// The digests of the texts that were removed.
    pub texts: Vec<[u64; 2]>,
    /// The digests of quoting texts that are not refused.
    pub quoting: Vec<[u64; 2]>,
    /// The number of tokens.
    pub tokens: u32,
    /// Keys with their positions.
    pub signature: Vec<(u64, u32)>,
    /// The minimum resemblance of a copy.
    pub min_resemblance: f64,
    /// The minimum length of a passage, in tokens.
    pub min_passage: u64,
}

/// Reads the bytes of a `.withdrawn` file, with tantivy's footer.
#[must_use]
pub fn read(file: &[u8]) -> Vec<NaiveWithdrawal> {
    let (body, crc) = split(file);
    assert_eq!(u64::from(crc32fast::hash(body)), crc);
    let mut lines = std::str::from_utf8(body).unwrap().lines();
    assert_eq!(lines.next(), Some("{\"cento_withdrawals\":1}"));
    lines.map(|line| withdrawal(&serde_json::from_str(line).unwrap())).collect()
}

/// Returns the lines of a file, and their checksum from the footer.
#[must_use]
pub fn split(file: &[u8]) -> (&[u8], u64) {
    let (rest, magic) = file.split_at(file.len() - 4);
    assert_eq!(uint(magic), 1337);
    let (rest, len) = rest.split_at(rest.len() - 4);
    let (body, footer) = rest.split_at(rest.len() - uint(len) as usize);
    let footer: Value = serde_json::from_slice(footer).unwrap();
    (body, footer["crc"].as_u64().unwrap())
}

/// The high half comes first.
fn digest(hex: &Value) -> [u64; 2] {
    let hex = hex.as_str().unwrap();
    assert_eq!(hex.len(), 32);
    let half = |digits| u64::from_str_radix(digits, 16).unwrap();
    [half(&hex[16..]), half(&hex[..16])]
}

fn withdrawal(record: &Value) -> NaiveWithdrawal {
    let digests = |list: &str| {
        let texts = record[list].as_array().into_iter().flatten();
        texts.map(|text| digest(&text["digest"])).collect()
    };
    let fingerprints = record["signature"]["fingerprints"].as_array().unwrap();
    let fingerprint = |pair: &Value| {
        let key = pair[0].as_str().unwrap().parse().unwrap();
        (key, pair[1].as_u64().unwrap() as u32)
    };
    NaiveWithdrawal {
        id: record["id"].as_str().unwrap().to_owned(),
        digest: digest(&record["digest"]),
        texts: digests("removed"),
        quoting: digests("quoting"),
        tokens: record["signature"]["tokens"].as_u64().unwrap() as u32,
        signature: fingerprints.iter().map(fingerprint).collect(),
        min_resemblance: record["min_resemblance"].as_f64().unwrap(),
        min_passage: record["min_passage"].as_u64().unwrap(),
    }
}
