//! Orders the documents of a collection by preference.

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

/// The live documents of a snapshot in order of preference.
pub(super) struct Preference {
    /// Document numbers, the most preferred first. Among equals the smallest id is preferred.
    pub order: Vec<u64>,
    /// The number of documents without the field that decides, or without a date in it if dates
    /// decide. 0 if no field does.
    pub without_field: u64,
}

/// The value that decides about a document. Smaller is better, unless the greatest is preferred.
#[derive(Debug)]
pub(super) enum PreferenceKey {
    /// The time of addition, or the negated length.
    Own(i64),
    Nothing,
    Field(PreferenceValue),
}

/// The value of a field in a form that compares with other values.
#[derive(Debug)]
pub(super) struct PreferenceValue {
    number: Option<(i64, i128)>,
    /// The text of a value that is no number, else empty.
    text: String,
    written: Option<FieldDate>,
}

impl Preference {
    /// Orders the documents.
    ///
    /// # Errors
    /// When no document has the field, which is then misspelled or elsewhere, or a file is damaged.
    /// [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn new(
        snapshot: &Snapshot,
        numbering: &Numbering,
        prefer: &Prefer,
        stop: &Stop,
    ) -> Result<Preference> {
        let mut ranked: Vec<(PreferenceKey, String, u64)> = Vec::new();
        let (mut without_field, mut fields) = (0, BTreeSet::new());
        for (at, address) in snapshot.live().enumerate() {
            stop.check_at(at)?;
            let held = held(snapshot, address, prefer)?;
            if matches!(held, PreferenceKey::Nothing) {
                without_field += 1;
                // The names are needed only for the error that no document has the field.
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
        let is_last = |(held, ..): &&(PreferenceKey, _, _)| matches!(held, PreferenceKey::Nothing);
        let without_field = ranked.iter().rev().take_while(is_last).count() as u64;
        let order = ranked.into_iter().map(|(_, _, number)| number).collect();
        Ok(Preference { order, without_field })
    }
}

/// Sorts documents by preference, and equal documents by id. If most values are dates, other values
/// count as missing, because a single typing error would otherwise make cento compare all dates as
/// texts.
pub(super) fn sort<T>(ranked: &mut [(PreferenceKey, String, T)], prefer: &Prefer) {
    let descends = matches!(prefer, Prefer::Greatest(_));
    let are_dates = are_dates(ranked.iter().filter_map(|(held, ..)| held.field()));
    for (held, ..) in ranked.iter_mut().filter(|_| are_dates) {
        if held.field().is_some_and(|field| field.time().is_none()) {
            *held = PreferenceKey::Nothing;
        }
    }
    ranked.sort_by(|(a, a_id, _), (b, b_id, _)| {
        let by_value = match (a, b) {
            (PreferenceKey::Own(a), PreferenceKey::Own(b)) => a.cmp(b),
            (PreferenceKey::Field(a), PreferenceKey::Field(b)) => {
                let by_value = a.compare(b, are_dates);
                if descends { by_value.reverse() } else { by_value }
            }
            // A document without the field comes last in both directions.
            (a, b) => matches!(a, PreferenceKey::Nothing).cmp(&matches!(b, PreferenceKey::Nothing)),
        };
        by_value.then_with(|| a_id.cmp(b_id))
    });
}

/// Tells whether most fields are dates or years. If all are plain numbers, the answer is no.
fn are_dates<'a>(fields: impl Iterator<Item = &'a PreferenceValue>) -> bool {
    let (mut all, mut dates, mut numbers) = (0, 0, 0);
    for field in fields {
        all += 1;
        dates += usize::from(field.time().is_some());
        numbers += usize::from(field.number.is_some());
    }
    2 * dates > all && numbers < all
}

impl PreferenceValue {
    fn of(value: &Value) -> PreferenceValue {
        let written = read(value);
        match value {
            Value::Number(number) => {
                // The bits of a float, flipped so that integers order like floats, with equal
                // zeros. Floats cannot distinguish large integers, so the integer itself decides
                // among equal floats.
                let float = number.as_f64().unwrap_or(0.0) + 0.0;
                let bits = float.to_bits() as i64;
                let order = bits ^ ((bits >> 63) as u64 >> 1) as i64;
                let whole = number.as_i128().unwrap_or(float as i128);
                PreferenceValue { number: Some((order, whole)), text: String::new(), written }
            }
            Value::String(text) => PreferenceValue { number: None, text: text.clone(), written },
            other => PreferenceValue { number: None, text: other.to_string(), written },
        }
    }

    /// Returns the time, if the value is a date or a year.
    fn time(&self) -> Option<Time> {
        self.written.and_then(|written| written.time(true))
    }

    /// Compares by time if `are_dates`. Otherwise numbers come before strings.
    fn compare(&self, other: &PreferenceValue, are_dates: bool) -> Ordering {
        if are_dates {
            return compare(self.time(), other.time());
        }
        let key = |field: &PreferenceValue| (field.number.is_none(), field.number);
        key(self).cmp(&key(other)).then_with(|| self.text.cmp(&other.text))
    }
}

impl PreferenceKey {
    /// Returns the value of the field that decides, if there is one.
    fn field(&self) -> Option<&PreferenceValue> {
        match self {
            PreferenceKey::Field(field) => Some(field),
            _ => None,
        }
    }

    /// Returns the value for preferring long documents.
    pub fn longest(tokens: u32) -> PreferenceKey {
        PreferenceKey::Own(-i64::from(tokens))
    }

    /// Returns the value for preferring by a field. `null` counts as a missing field.
    pub fn value(value: Option<&Value>) -> PreferenceKey {
        match value {
            None | Some(Value::Null) => PreferenceKey::Nothing,
            Some(value) => PreferenceKey::Field(PreferenceValue::of(value)),
        }
    }
}

fn held(snapshot: &Snapshot, address: DocAddress, prefer: &Prefer) -> Result<PreferenceKey> {
    let segment = snapshot.segment(address);
    Ok(match prefer {
        Prefer::Oldest | Prefer::None => PreferenceKey::Own(segment.added_micros(address.doc)?),
        Prefer::Longest => PreferenceKey::longest(segment.signatures.document(address.doc)?.tokens),
        Prefer::Least(field) | Prefer::Greatest(field) => {
            PreferenceKey::value(field_of(&snapshot.meta(address)?, field))
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
            assert!(
                error.contains("no document has the field `dat` (did you mean `date`?)"),
                "{error}"
            );
            assert!(error.ends_with("the fields there are `date`, `of.year`"), "{error}");
        }
        // `null` counts as a missing field.
        assert!(preference(&[json!({"dat": null})], "dat").is_err());
        // An index without documents has no clusters, and no field is misspelled.
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
        // Dates as strings and numbers. The document without a date comes last in both directions.
        let dates =
            [json!("1996-12-31"), json!(1997), json!("1998-05"), json!(null), json!("0987")];
        check(&dates, &[4, 0, 1, 2], &[3]);
        // With its time zone, the second value is the earlier time.
        let zoned = [json!("1998-05-02T22:00:00Z"), json!("1998-05-03T01:00:00+05:00")];
        check(&zoned, &[1, 0], &[]);
        // Eight digits beside a year form a number if every value is a number.
        check(&[json!(18_990_512), json!(1901)], &[1, 0], &[]);
        // A value that is no date comes last among dates.
        let free = [json!("1998-05"), json!("May 1997"), json!("1996-12"), json!(1997), json!("x")];
        check(&free, &[2, 3, 0], &[1, 4]);
        // Half of the values are no dates, so numbers come first, then strings as written.
        check(&[json!("1996-12"), json!(1997), json!("ca. 1900"), json!(20)], &[3, 1, 0, 2], &[]);
        check(&[json!("9"), json!("10")], &[1, 0], &[]);
    }
}
