//! Are two documents of one series?
//!
//! A series is what has the same value of a field of `meta`: a newspaper, an author, a repository.

use std::collections::HashMap;

use serde_json::Value;

use super::numbering::Numbering;
use crate::error::Result;
use crate::index::Snapshot;

/// Which pairs are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All.
    Everywhere,
    /// Those of one series: both documents have the same value of this field.
    Within(String),
    /// Those of different series: the documents do not have the same value of this field.
    Across(String),
}

/// The series of every document of some snapshots, by number.
#[derive(Debug)]
pub struct Series {
    within: bool,
    /// For each snapshot, by the number of the document; 0 if the document has no such field.
    codes: Vec<Vec<u32>>,
}

impl Series {
    /// Reads the field of the scope of all documents; nothing if pairs are kept everywhere.
    ///
    /// # Errors
    /// When a segment is damaged.
    pub fn read(scope: &Scope, snapshots: &[&Snapshot]) -> Result<Option<Series>> {
        let (within, field) = match scope {
            Scope::Everywhere => return Ok(None),
            Scope::Within(field) => (true, field),
            Scope::Across(field) => (false, field),
        };
        let mut values: HashMap<String, u32> = HashMap::new();
        let mut codes = Vec::new();
        for snapshot in snapshots {
            let numbering = Numbering::new(snapshot);
            let mut of_snapshot = vec![0; numbering.end() as usize];
            for (number, code) in (0u64..).zip(&mut of_snapshot) {
                let meta = snapshot.meta(numbering.address(number))?;
                if let Some(value) = field_of(&meta, field).filter(|value| !value.is_null()) {
                    let next = values.len() as u32 + 1;
                    *code = *values.entry(value.to_string()).or_insert(next);
                }
            }
            codes.push(of_snapshot);
        }
        Ok(Some(Series { within, codes }))
    }

    /// Whether pairs are kept within a series, not across.
    #[must_use]
    pub(super) fn is_within(&self) -> bool {
        self.within
    }

    /// A number for the series of a document of the first (0) or last (1) snapshot; 0 if it is of none.
    #[must_use]
    pub(super) fn code(&self, side: usize, number: u64) -> u32 {
        self.codes[side.min(self.codes.len() - 1)][number as usize]
    }

    /// Whether the pair of document `a` of the first snapshot and `b` of the last is kept.
    #[must_use]
    pub fn keeps(&self, a: u64, b: u64) -> bool {
        let (first, last) = (&self.codes[0], &self.codes[self.codes.len() - 1]);
        let (a, b) = (first[a as usize], last[b as usize]);
        let is_same = a != 0 && a == b;
        is_same == self.within
    }
}

/// The value of a field, whose name may have dots for the members of objects.
#[must_use]
pub fn field_of<'a>(meta: &'a serde_json::Map<String, Value>, field: &str) -> Option<&'a Value> {
    if let Some(value) = meta.get(field) {
        return Some(value);
    }
    let (first, rest) = field.split_once('.')?;
    field_of(meta.get(first)?.as_object()?, rest)
}
