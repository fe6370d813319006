//! Which documents of a collection are preferred?

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::Value;

use super::Prefer;
use super::numbering::Numbering;
use super::series::{FIELDS_MAX, add_fields, unknown};
use cento::index::{DocAddress, Snapshot};
use cento_api::error::Result;
use cento_text::field_date::{FieldDate, compare, field_of, read};
use cento_text::period::Time;
use cento_text::runtime::Stop;

/// The live documents of a snapshot in the order of preference.
pub(super) struct Preference {
    /// The numbers of the documents, the most preferred first; of equals the one with the least id.
    pub order: Vec<u64>,
    /// The number of documents without the field that decides, if one does.
    pub without_field: u64,
}

/// What decides about a document; less is better.
#[derive(Debug)]
pub(super) enum Held {
    /// The time of its addition, or its length.
    Own(i64),
    /// It does not have the field.
    Nothing,
    /// The value of the field.
    Field(Field),
}

/// The value of a field, as it is compared with others of its kind.
#[derive(Debug)]
pub(super) struct Field {
    number: Option<(i64, i128)>,
    /// The text of a value that is no number.
    text: String,
    written: Option<FieldDate>,
}

impl Preference {
    /// Orders the documents.
    ///
    /// # Errors
    /// When no document has the field, which is then misspelled or elsewhere, or a file is damaged;
    /// [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn new(
        snapshot: &Snapshot,
        numbering: &Numbering,
        prefer: &Prefer,
        stop: &Stop,
    ) -> Result<Preference> {
        let mut ranked: Vec<(Held, String, u64)> = Vec::new();
        let (mut without_field, mut fields) = (0, BTreeSet::new());
        for (at, address) in snapshot.live().enumerate() {
            stop.check_at(at)?;
            let held = held(snapshot, address, prefer)?;
            if matches!(held, Held::Nothing) {
                without_field += 1;
                // Needed only for the error that no document has the field.
                if without_field as usize == at + 1 && fields.len() < FIELDS_MAX {
                    add_fields(&snapshot.meta(address)?, "", &mut fields);
                }
            }
            ranked.push((held, snapshot.id(address)?, numbering.number(address)));
        }
        if let Prefer::Least(field) | Prefer::Greatest(field) = prefer
            && without_field as usize == ranked.len()
            && !ranked.is_empty()
        {
            return Err(unknown("prefer", field, &fields));
        }
        sort(&mut ranked, prefer);
        let order = ranked.into_iter().map(|(_, _, number)| number).collect();
        Ok(Preference { order, without_field })
    }
}

/// Puts documents, each with its id, into the order of preference; of equals, that with the least
/// id is first.
pub(super) fn sort<T>(ranked: &mut [(Held, String, T)], prefer: &Prefer) {
    let descends = matches!(prefer, Prefer::Greatest(_));
    let are_dates = are_dates(ranked.iter().filter_map(|(held, ..)| match held {
        Held::Field(field) => Some(field),
        _ => None,
    }));
    ranked.sort_by(|(a, a_id, _), (b, b_id, _)| {
        let by_value = match (a, b) {
            (Held::Own(a), Held::Own(b)) => a.cmp(b),
            (Held::Field(a), Held::Field(b)) => {
                let by_value = a.compare(b, are_dates);
                if descends { by_value.reverse() } else { by_value }
            }
            // One without the field is last in both directions.
            (a, b) => matches!(a, Held::Nothing).cmp(&matches!(b, Held::Nothing)),
        };
        by_value.then_with(|| a_id.cmp(b_id))
    });
}

/// Tells whether all of these are dates or years, and not all of them numbers.
fn are_dates<'a>(mut fields: impl Iterator<Item = &'a Field>) -> bool {
    let mut are_numbers = true;
    let are_dates = fields.all(|field| {
        are_numbers &= field.number.is_some();
        field.time().is_some()
    });
    are_dates && !are_numbers
}

impl Field {
    fn of(value: &Value) -> Field {
        let written = read(value);
        match value {
            Value::Number(number) => {
                // The bits of a number in the order of the numbers, both zeros the same; of whole
                // ones that are too large to be distinguished that way, themselves.
                let float = number.as_f64().unwrap_or(0.0) + 0.0;
                let bits = float.to_bits() as i64;
                let order = bits ^ ((bits >> 63) as u64 >> 1) as i64;
                let whole = number.as_i128().unwrap_or(float as i128);
                Field { number: Some((order, whole)), text: String::new(), written }
            }
            Value::String(text) => Field { number: None, text: text.clone(), written },
            other => Field { number: None, text: other.to_string(), written },
        }
    }

    /// Returns the time, if it is a date or a year.
    fn time(&self) -> Option<Time> {
        self.written.and_then(|written| written.time(true))
    }

    /// Compares two values, which `are_dates` if all are: else numbers come before texts.
    fn compare(&self, other: &Field, are_dates: bool) -> Ordering {
        if are_dates {
            return compare(self.time(), other.time());
        }
        let key = |field: &Field| (field.number.is_none(), field.number);
        key(self).cmp(&key(other)).then_with(|| self.text.cmp(&other.text))
    }
}

impl Held {
    /// Returns what decides about a document of this length.
    pub fn longest(tokens: u32) -> Held {
        Held::Own(-i64::from(tokens))
    }

    /// Returns what decides about a document with this value of a field, if that does.
    pub fn value(value: Option<&Value>) -> Held {
        match value {
            None | Some(Value::Null) => Held::Nothing,
            Some(value) => Held::Field(Field::of(value)),
        }
    }
}

fn held(snapshot: &Snapshot, address: DocAddress, prefer: &Prefer) -> Result<Held> {
    let segment = snapshot.segment(address);
    Ok(match prefer {
        Prefer::Oldest | Prefer::None => Held::Own(segment.added_micros(address.doc)?),
        Prefer::Longest => Held::longest(segment.signatures.document(address.doc)?.tokens),
        Prefer::Least(field) | Prefer::Greatest(field) => {
            Held::value(field_of(&snapshot.meta(address)?, field))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::index::{Config, Document, Index, WriterOptions};
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
    #[test]
    fn dates_and_years_are_compared_by_time_and_one_direction_reverses_the_other() {
        let check = |dates: &[Value], order: &[u64], last: &[u64]| {
            let metas: Vec<Value> = dates.iter().map(|date| json!({ "date": date })).collect();
            let reverse: Vec<u64> = order.iter().rev().copied().collect();
            for (prefer, order) in [("date", order), ("-date", &reverse)] {
                let found = preference(&metas, prefer).unwrap();
                assert_eq!(found.order, [order, last].concat(), "{prefer} {dates:?}");
            }
        };
        // Texts and numbers; the document without a date is last both times.
        let dates =
            [json!("1996-12-31"), json!(1997), json!("1998-05"), json!(null), json!("0987")];
        check(&dates, &[4, 0, 1, 2], &[3]);
        // The first is earlier: of the zone.
        let zoned = [json!("1998-05-02T22:00:00Z"), json!("1998-05-03T01:00:00+05:00")];
        check(&zoned, &[1, 0], &[]);
        // A day of a year of numbers alone is a number.
        check(&[json!(18_990_512), json!(1901)], &[1, 0], &[]);
        // Not all are dates: numbers, then texts as they are written.
        check(&[json!("1996-12"), json!(1997), json!("ca. 1900"), json!(20)], &[3, 1, 0, 2], &[]);
        check(&[json!("9"), json!("10")], &[1, 0], &[]);
    }
}
