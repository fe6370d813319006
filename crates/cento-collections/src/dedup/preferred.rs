//! Puts the records of a run into order of preference.
//!
//! A run keeps the first of several duplicates. In order of preference the kept documents are the
//! representatives of `cluster`, which resemble no document before them. The order is known only
//! after the last record. In the meantime, texts, records, meta objects and fingerprints wait in a
//! temporary file, and ids and the deciding values in memory.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::vec;

use serde_json::{Map, Value};

use super::Record;
use super::record_fields::{add_fields_of_document, field_of_document};
use super::spool::Spool;
use crate::Prefer;
use crate::preference::{PreferenceKey, sort};
use crate::series::{FIELDS_MAX, unknown};
use cento::index::{Document, SignedDocument};
use cento_api::error::{Error, Result};
use cento_text::scheme::Fingerprint;

/// The records of a run in their original order or, after [`prepare`](Preferred::prepare), in order
/// of preference.
#[derive(Debug)]
pub struct PreferredFirst<R> {
    records: R,
    /// `None` keeps the original order.
    prefer: Option<Prefer>,
    /// Records that are no documents, which come first.
    others: VecDeque<Record>,
    spool: Spool,
    /// The documents in order, once all records have been read.
    order: Option<vec::IntoIter<Waiting>>,
}

/// A document that waits for its turn.
#[derive(Debug, Clone)]
struct Waiting {
    /// The document without its text, record, meta object and fingerprints, which are in the spool.
    signed: SignedDocument,
    text: u64,
    record: Option<u64>,
    meta: Option<u64>,
    fingerprints: u64,
}

impl<R: Iterator<Item = Result<Record>>> PreferredFirst<R> {
    /// Puts records into order of preference. Preferring the oldest keeps their original order.
    pub fn new(records: R, prefer: Option<Prefer>) -> PreferredFirst<R> {
        let prefer = prefer.filter(|prefer| *prefer != Prefer::Oldest);
        PreferredFirst {
            records,
            prefer,
            others: VecDeque::new(),
            spool: Spool::default(),
            order: None,
        }
    }

    /// Reads and sorts the records, if there is a preference.
    ///
    /// # Errors
    /// The first error of the records, or that no document has the field that decides.
    pub fn prepare(&mut self) -> Result<()> {
        if let (Some(prefer), None) = (self.prefer.clone(), &self.order) {
            self.order = Some(self.read(&prefer)?);
        }
        Ok(())
    }

    fn read(&mut self, prefer: &Prefer) -> Result<vec::IntoIter<Waiting>> {
        let mut ranked: Vec<(PreferenceKey, String, Waiting)> = Vec::new();
        let (mut has_field, mut fields) = (false, BTreeSet::new());
        for record in self.records.by_ref() {
            let signed = match record? {
                Record::Document(signed) => signed,
                other => {
                    self.others.push_back(other);
                    continue;
                }
            };
            let held = match prefer {
                Prefer::Least(field) | Prefer::Greatest(field) => {
                    PreferenceKey::value(field_of_document(&signed.document, field).as_deref())
                }
                Prefer::Longest => PreferenceKey::longest(signed.token_count),
                // They are not sorted.
                Prefer::Oldest | Prefer::None => PreferenceKey::Nothing,
            };
            has_field |= !matches!(held, PreferenceKey::Nothing);
            // The names are needed only for the error that no document has the field.
            if !has_field && fields.len() < FIELDS_MAX {
                add_fields_of_document(&signed.document, &mut fields);
            }
            ranked.push((held, signed.document.id.clone(), waiting(&self.spool, signed)?));
        }
        if let Prefer::Least(field) | Prefer::Greatest(field) = prefer
            && !has_field
            && !ranked.is_empty()
        {
            return Err(unknown("prefer", field, &fields));
        }
        if *prefer != Prefer::None {
            sort(&mut ranked, prefer);
        }
        let order: Vec<Waiting> = ranked.into_iter().map(|(_, _, waiting)| waiting).collect();
        Ok(order.into_iter())
    }

    /// Returns the documents that are not taken yet, in their order or in reverse, without taking
    /// them.
    pub fn waiting(&self, in_reverse: bool) -> impl Iterator<Item = Result<Record>> {
        let waiting = self.order.as_ref().map(vec::IntoIter::as_slice).unwrap_or_default();
        let place = move |at| if in_reverse { waiting.len() - 1 - at } else { at };
        (0..waiting.len()).map(move |at| self.take_back(waiting[place(at)].clone()))
    }

    fn take_back(&self, waiting: Waiting) -> Result<Record> {
        let Waiting { mut signed, text, record, meta, fingerprints } = waiting;
        signed.document.text = self.spool.read(text)?;
        let record = record.map(|place| self.spool.read(place)).transpose()?;
        signed.document.record = record.map(String::into_boxed_str);
        if let Some(place) = meta {
            let meta: Map<String, Value> = serde_json::from_str(&self.spool.read(place)?)
                .map_err(|e| Error::internal(&signed.document.id, e.to_string()))?;
            signed.document.meta = meta;
        }
        let bytes = self.spool.read_bytes(fingerprints)?;
        let fingerprint = |(key, position): (&[u8], &[u8])| {
            let number = |bytes: &[u8]| {
                bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
            };
            Fingerprint { key: number(key), position: number(position) as u32 }
        };
        let signature = bytes.chunks_exact(12).map(|own| fingerprint(own.split_at(8)));
        signed.signature = Arc::new(signature.collect());
        Ok(Record::Document(signed))
    }
}

/// Writes the large parts of a document to the spool.
fn waiting(spool: &Spool, mut signed: SignedDocument) -> Result<Waiting> {
    let Document { text, meta, record, .. } = &mut signed.document;
    let text = spool.push(&std::mem::take(text))?;
    let record = record.take().map(|record| spool.push(&record)).transpose()?;
    let meta = match std::mem::take(meta) {
        meta if meta.is_empty() => None,
        meta => Some(spool.push(&Value::Object(meta).to_string())?),
    };
    let signature = std::mem::take(&mut signed.signature);
    let bytes = signature
        .iter()
        .flat_map(|of| of.key.to_le_bytes().into_iter().chain(of.position.to_le_bytes()));
    let fingerprints = spool.push_bytes(&bytes.collect::<Vec<u8>>())?;
    Ok(Waiting { signed, text, record, meta, fingerprints })
}

impl<R: Iterator<Item = Result<Record>>> Iterator for PreferredFirst<R> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Result<Record>> {
        let Some(order) = &mut self.order else { return self.records.next() };
        if let Some(other) = self.others.pop_front() {
            return Some(Ok(other));
        }
        let waiting = order.next()?;
        Some(self.take_back(waiting))
    }
}
