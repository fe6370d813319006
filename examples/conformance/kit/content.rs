//! The content that a reader must find in a segment.

use std::collections::{BTreeMap, BTreeSet};

use cento::hash::Digest;
use cento::segment::{Counts, FORMAT_VERSION, Header};

/// A document to write: tokens, keys and positions.
pub type Doc = (u32, Vec<(u64, u32)>);

/// The content of a `.sig` file.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    pub header: Header,
    pub counts: Counts,
    /// Keys with their documents.
    pub terms: Vec<(u64, Vec<u32>)>,
    /// Keys with the numbers of their documents.
    pub documents: Vec<Row>,
}

/// A document of a `.sig` file.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub distinct: u32,
    pub tokens: u32,
    /// The offset of the signature in the forward section.
    pub forward_at: u64,
    /// Term ordinals and positions.
    pub signature: Vec<(u32, u32)>,
    pub id: String,
    pub digest: Digest,
}

/// The id of a document and the digest of its text, derived from its fields. Some ids share the
/// first of the two bytes of a letter.
pub fn identity((tokens, signature): &Doc) -> (String, Digest) {
    let keys = signature.iter().map(|pair| pair.0);
    let sum = keys.fold(u64::from(*tokens), u64::wrapping_add);
    let letter = ["o", "o", "o", "\u{f6}", "\u{f8}"][sum as usize % 5];
    (format!("d{letter}c-{sum:x}"), Digest { low: sum, high: 0xd0 })
}

impl Content {
    /// The expected content of a segment of these documents, worked out from segments-format.md.
    pub fn of(header: Header, docs: &[Doc]) -> Content {
        let mut terms: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
        for (doc, (_, signature)) in (0..).zip(docs) {
            for (key, _) in signature {
                terms.entry(*key).or_default().insert(doc);
            }
        }
        let ordinals: BTreeMap<u64, u32> = terms.keys().copied().zip(0..).collect();
        let ordinal_bits = width(terms.len().saturating_sub(1) as u64);
        let mut forward_at = 0;
        let documents: Vec<Row> = docs
            .iter()
            .map(|doc| {
                let ((id, digest), (tokens, signature)) = (identity(doc), doc);
                let signature: Vec<(u32, u32)> =
                    signature.iter().map(|(key, position)| (ordinals[key], *position)).collect();
                let distinct = signature.iter().map(|pair| pair.0).collect::<BTreeSet<_>>().len();
                let at = forward_at;
                let signature = if header.signatures { signature } else { Vec::new() };
                if header.signatures {
                    forward_at += list_bytes(&signature, ordinal_bits);
                }
                let (distinct, tokens) = (distinct as u32, *tokens);
                Row { distinct, tokens, forward_at: at, signature, id, digest }
            })
            .collect();
        let terms: Vec<(u64, Vec<u32>)> =
            terms.into_iter().map(|(key, docs)| (key, docs.into_iter().collect())).collect();
        let counts = Counts {
            terms: terms.len() as u64,
            postings: terms.iter().map(|(_, docs)| docs.len() as u64).sum(),
            occurrences: documents.iter().map(|row| row.signature.len() as u64).sum(),
            tokens: docs.iter().map(|(tokens, _)| u64::from(*tokens)).sum(),
        };
        Content { header, counts, terms, documents }
    }

    /// The content in the shape of the kit, a term and a document a line.
    pub fn json(&self) -> String {
        let Header { key_bits, documents, config, signatures } = self.header;
        let Counts { terms, postings, occurrences, tokens } = self.counts;
        let digits = 2 * self.header.key_bytes();
        let rows = |rows: Vec<String>| match rows.is_empty() {
            true => "[]".to_owned(),
            false => format!("[\n    {}\n  ]", rows.join(",\n    ")),
        };
        let term = |(key, docs): &(u64, Vec<u32>)| format!("[\"{key:0digits$x}\",{}]", list(docs));
        let document = |row: &Row| {
            let Row { distinct, tokens, forward_at, signature, id, digest } = row;
            let Digest { low, high } = digest;
            let pairs = signature.iter().map(|(ordinal, position)| list([ordinal, position]));
            format!(
                "[{distinct},{tokens},{forward_at},{},\"{id}\",\"{high:016x}{low:016x}\"]",
                list(pairs)
            )
        };
        format!(
            "{{\n  \"header\": {{\"version\": {FORMAT_VERSION}, \"key_bits\": {key_bits}, \"documents\": \
             {documents}, \"config\": \"{config:016x}\", \"signatures\": {signatures}}},\n  \
             \"counts\": {{\"terms\": {terms}, \"postings\": {postings}, \"occurrences\": \
             {occurrences}, \"tokens\": {tokens}}},\n  \
             \"terms\": {},\n  \"documents\": {}\n}}\n",
            rows(self.terms.iter().map(term).collect()),
            rows(self.documents.iter().map(document).collect()),
        )
    }
}

fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(","))
}

fn width(value: u64) -> u64 {
    u64::from(u64::BITS - value.leading_zeros())
}

/// The length of a signature in the forward section.
fn list_bytes(signature: &[(u32, u32)], ordinal_bits: u64) -> u64 {
    let n = signature.len() as u64;
    let count_bytes = width(n).div_ceil(7).max(1);
    if n == 0 {
        return count_bytes;
    }
    let before = [0].into_iter().chain(signature.iter().map(|pair| pair.1));
    let differences = signature.iter().zip(before).map(|(pair, before)| pair.1 - before);
    let difference_bits = differences.map(|difference| width(u64::from(difference))).max();
    let columns = [ordinal_bits, difference_bits.unwrap_or(0)];
    count_bytes + 1 + columns.map(|bits| (n * bits).div_ceil(8)).iter().sum::<u64>()
}
