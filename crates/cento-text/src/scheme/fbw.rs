//! Frequency biased winnowing: rare q-grams, which distinguish documents.
//!
//! Frequency biased winnowing (Sun, Qin and Wang 2013, section 4.3) keeps the rarest q-gram of
//! every window, by frequency in the collection. Among equally frequent q-grams the first in the
//! alphabet is kept, among equal q-grams the one that the previous window kept, or else the
//! rightmost. With rare q-grams, posting lists are short even for a small q, which makes signatures
//! stable under edits.

#[cfg(test)]
use super::family::Laws;
use super::family::{Extent, Family, K_MAX, Kind, SchemeBuilder, Table, W_MAX};
use super::frequency::FrequencyTable;
use super::grams::Grams;
use super::winnow::winnow;
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::hash::BuildKeyHasher;
use crate::runtime::Stop;
use crate::spec::{Parameter, Spec};
use std::collections::HashMap;
use std::sync::Arc;

pub(super) const FAMILY: Family = Family {
    name: "fbw",
    parameters: &[
        Parameter::number("q", 4, 1, K_MAX, "the tokens of a run"),
        Parameter::number("w", 146, 1, W_MAX, "of `w` runs in a row at least one is kept"),
    ],
    summary: "the rarest of every `w` runs in a row, by a frequency table",
    density: "2 / (w + 1)",
    source: "Sun, Qin and Wang 2013, section 4.3",
    example: "fbw(q=4,w=146)",
    kind: Kind::Positional { span: |spec| Extent::Exactly(spec.get("q") as usize) },
    build: SchemeBuilder::With(Table::Runs("q"), |spec, table| Box::new(Fbw::new(spec, table))),
    #[cfg(test)]
    laws: Laws {
        small: &["fbw(q=2,w=4)"],
        pins: &[
            ("fbw(q=2,w=4)", "words", 13111225918276004778),
            ("fbw(q=4,w=10)", "chars", 10900617072527885578),
            ("fbw(q=9,w=10)", "chars", 6105564080698840981),
        ],
        ..Laws::NONE
    },
};

/// The bits of a key within a value to be winnowed. The count is in the bits above.
const KEY_SHIFT: u32 = 40;

/// Counts above this limit are treated as equal, so that a count and a key fit into a word. The
/// limit is sixteen million occurrences, and no gram that frequent is rare.
const COUNT_MAX: u64 = (1 << (u64::BITS - KEY_SHIFT)) - 1;

/// `fbw(q,w)`: the rarest q-gram of every `w`, or of all q-grams in a text of fewer.
#[derive(Debug)]
struct Fbw {
    q: usize,
    w: usize,
    grams: Grams,
    table: Arc<FrequencyTable>,
}

impl Fbw {
    fn new(spec: &Spec, table: Arc<FrequencyTable>) -> Fbw {
        let (q, w) = (spec.get("q") as usize, spec.get("w") as usize);
        let grams = Grams::new(q, &table.header().analyzer);
        Fbw { q, w, grams, table }
    }
}

impl SchemeMethod for Fbw {
    fn key_bits(&self) -> u8 {
        self.grams.key_bits()
    }

    fn window(&self) -> Option<usize> {
        Some(self.w)
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, stop: &Stop) -> Result<()> {
        if hashes.len() < self.q {
            // The gram is shorter than q. Its key may collide with the key of a gram that begins
            // with zeros.
            if !hashes.is_empty() {
                signature.push(Fingerprint { key: self.grams.key(hashes), position: 0 });
            }
            return Ok(());
        }
        // A look-up in the table costs more than everything else, and grams repeat.
        let mut seen: HashMap<u64, u64, BuildKeyHasher> = HashMap::default();
        let mut stopped = Ok(());
        let values = self.grams.keys(hashes).enumerate().map_while(|(at, key)| {
            stopped = stop.check_at(at);
            stopped.as_ref().ok()?;
            let count = *seen.entry(key).or_insert_with(|| self.table.count(key).min(COUNT_MAX));
            Some(count << KEY_SHIFT | key)
        });
        winnow(values, self.w, |value, position| {
            let key = value & ((1 << KEY_SHIFT) - 1);
            signature.push(Fingerprint { key, position: position as u32 });
        });
        stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::frequency::testing::{table, tokens};
    use crate::scheme::parse_with;
    use proptest::prelude::*;

    fn positions(spec: &str, table: &Arc<FrequencyTable>, text: &str) -> Vec<usize> {
        let scheme = parse_with(spec, Some(table)).unwrap();
        let mut signature = Vec::new();
        scheme.sign(&tokens("chars", text).hashes, &mut signature, Stop::NEVER).unwrap();
        signature.iter().map(|fingerprint| fingerprint.position as usize).collect()
    }

    #[test]
    fn the_paper_s_example_2() {
        // Frequencies 18, 62, 50, 43, 30, 79, 30 of the 3-grams of "abcdedcba".
        let text = "abcdedcba";
        let frequencies = [18, 62, 50, 43, 30, 79, 30];
        let grams = text.as_bytes().windows(3).zip(frequencies);
        let texts: Vec<String> = grams
            .flat_map(|(gram, count)| vec![String::from_utf8(gram.to_vec()).unwrap(); count])
            .collect();
        // The result is abc, edc and cba. Of edc and cba, equally frequent, cba is first in the
        // alphabet.
        assert_eq!(positions("fbw(q=3,w=4)", &table("chars", 3, &texts), text), [0, 4, 6]);
    }

    proptest! {
        #[test]
        fn the_rarest_of_every_window_is_kept(
            text in "[a-c ]{8,60}", others in proptest::collection::vec("[a-c ]{0,30}", 0..5),
            q in 1usize..5, w in 1usize..9,
        ) {
            let mut count: HashMap<Vec<u8>, usize> = HashMap::new();
            for other in &others {
                let other = other.replace(' ', "_");
                for gram in other.as_bytes().windows(q) {
                    *count.entry(gram.to_vec()).or_default() += 1;
                }
            }
            let signs = text.replace(' ', "_");
            let grams: Vec<&[u8]> = signs.as_bytes().windows(q).collect();
            let rank = |at: usize| {
                let gram = grams[at];
                // ASCII has the underscore before the letters, as the alphabet has.
                (count.get(gram).copied().unwrap_or(0), gram, std::cmp::Reverse(at))
            };
            let mut expected: Vec<usize> = Vec::new();
            for start in 0..grams.len().saturating_sub(w - 1).max(1) {
                let window = start..grams.len().min(start + w);
                let least = window.min_by_key(|&at| rank(at)).unwrap();
                let last = expected.last().filter(|last| **last >= start);
                if last.is_none_or(|last| grams[*last] != grams[least]) {
                    expected.push(least);
                }
            }
            let found = positions(&format!("fbw(q={q},w={w})"), &table("chars", q, &others), &text);
            prop_assert_eq!(found, expected);
        }
    }
}
