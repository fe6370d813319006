//! Which documents of a collection are preferred?

use std::collections::BTreeSet;

use serde_json::Value;

use super::Prefer;
use super::numbering::Numbering;
use super::series::{FIELDS_MAX, add_fields, field_of, unknown};
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::runtime::Stop;

/// The live documents of a snapshot in the order of preference.
pub(super) struct Preference {
    /// The numbers of the documents, the most preferred first; of equals the one with the least id.
    pub order: Vec<u64>,
    /// The number of documents without the field that decides, if one does.
    pub without_field: u64,
}

/// The rank of a document by preference; less is better.
type Rank = (u8, i64, i128, Option<String>);

/// The first part of the rank of a document without the field that decides.
const WITHOUT_FIELD: u8 = 2;

impl Preference {
    /// Orders the documents.
    ///
    /// # Errors
    /// When no document has the field, which is then misspelled or elsewhere, or a file is damaged;
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn new(
        snapshot: &Snapshot,
        numbering: &Numbering,
        prefer: &Prefer,
        stop: &Stop,
    ) -> Result<Preference> {
        let mut ranked: Vec<(Rank, String, u64)> = Vec::new();
        let (mut without_field, mut fields) = (0, BTreeSet::new());
        for (at, address) in snapshot.live().enumerate() {
            stop.check_at(at)?;
            let rank = rank(snapshot, address, prefer)?;
            if rank.0 == WITHOUT_FIELD {
                without_field += 1;
                // Needed only for the error that no document has the field.
                if without_field as usize == at + 1 && fields.len() < FIELDS_MAX {
                    add_fields(&snapshot.meta(address)?, "", &mut fields);
                }
            }
            ranked.push((rank, snapshot.id(address)?, numbering.number(address)));
        }
        if let Prefer::Least(field) | Prefer::Greatest(field) = prefer
            && without_field as usize == ranked.len()
            && !ranked.is_empty()
        {
            return Err(unknown("prefer", field, &fields));
        }
        let descends = matches!(prefer, Prefer::Greatest(_));
        ranked.sort_unstable_by(|(a, a_id, _), (b, b_id, _)| {
            let by_value = (a.1, a.2, &a.3).cmp(&(b.1, b.2, &b.3));
            let by_value = if descends { by_value.reverse() } else { by_value };
            a.0.cmp(&b.0).then(by_value).then_with(|| a_id.cmp(b_id))
        });
        let order = ranked.into_iter().map(|(_, _, number)| number).collect();
        Ok(Preference { order, without_field })
    }
}

fn rank(snapshot: &Snapshot, address: DocAddress, prefer: &Prefer) -> Result<Rank> {
    let segment = snapshot.segment(address);
    Ok(match prefer {
        Prefer::Oldest => (0, segment.added_micros(address.doc)?, 0, None),
        Prefer::Longest => {
            let tokens = segment.signatures.document(address.doc)?.tokens;
            (0, -i64::from(tokens), 0, None)
        }
        Prefer::Least(field) | Prefer::Greatest(field) => {
            let meta = snapshot.meta(address)?;
            match field_of(&meta, field) {
                None | Some(Value::Null) => (WITHOUT_FIELD, 0, 0, None),
                Some(Value::Number(value)) => {
                    // The bits of a number in the order of the numbers, both zeros the same; of
                    // whole ones that are too large to be distinguished that way, themselves.
                    let float = value.as_f64().unwrap_or(0.0) + 0.0;
                    let bits = float.to_bits() as i64;
                    let order = bits ^ ((bits >> 63) as u64 >> 1) as i64;
                    let whole = value.as_i128().unwrap_or(float as i128);
                    (0, order, whole, None)
                }
                Some(Value::String(text)) => (1, 0, 0, Some(text.clone())),
                Some(other) => (1, 0, 0, Some(other.to_string())),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document, Index, WriterOptions};
    use serde_json::json;

    fn preference(metas: &[Value], prefer: &str) -> Result<Preference> {
        let config = Config::new("kgram(k=1)", "words", false).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
        for (number, meta) in metas.iter().enumerate() {
            let meta = meta.as_object().unwrap().clone();
            writer.add(Document::new(number.to_string(), "text").with_meta(meta)).unwrap();
        }
        writer.finish().unwrap();
        let snapshot = index.snapshot().unwrap();
        let numbering = Numbering::new(&snapshot);
        let found = Preference::new(&snapshot, &numbering, &prefer.to_owned().into(), Stop::NEVER)?;
        let id = |&number: &u64| snapshot.id(numbering.address(number)).unwrap().parse().unwrap();
        let order = found.order.iter().map(id).collect();
        Ok(Preference { order, ..found })
    }

    #[test]
    fn a_field_that_no_document_has_is_refused_and_documents_without_it_are_counted() {
        let metas = [json!({"date": 3, "of": {"year": 1}}), json!({}), json!({"date": 2})];
        let check = |prefer: &str, order: &[u64], without_field: u64| {
            let found = preference(&metas, prefer).unwrap();
            assert_eq!((&*found.order, found.without_field), (order, without_field), "{prefer}");
        };
        check("date", &[2, 0, 1], 1);
        check("-date", &[0, 2, 1], 1);
        check("of.year", &[0, 1, 2], 2);
        check("longest", &[0, 1, 2], 0);
        for prefer in ["dat", "-dat"] {
            let error = preference(&metas, prefer).err().unwrap().to_string();
            assert!(error.contains("no document has the field `dat` in its `meta`"), "{error}");
            assert!(error.ends_with("the fields there are `date`, `of.year`"), "{error}");
        }
        // It is as if the value were missing.
        assert!(preference(&[json!({"dat": null})], "dat").is_err());
        // An index without documents has no clusters, and nothing is misspelled.
        assert!(preference(&[], "dat").unwrap().order.is_empty());
    }
}
