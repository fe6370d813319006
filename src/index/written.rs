//! Converts a document into tantivy's form.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde_json::{Map, Value};
use tantivy::schema::OwnedValue;
use tantivy::{DateTime, TantivyDocument};

use super::SignedDocument;
use super::canonical;
use super::parts;
use super::schema::Fields;

/// Returns tantivy's document without the signature. `meta` is the meta object, and `json` the same
/// object as canonical JSON.
pub fn written(
    fields: &Fields,
    signed: &SignedDocument,
    meta: &Map<String, Value>,
    json: &str,
    added: DateTime,
) -> TantivyDocument {
    let mut document = TantivyDocument::new();
    document.add_text(fields.id, &signed.document.id);
    if let Some(text) = fields.text {
        document.add_text(text, &signed.document.text);
    }
    if let Some(digest) = parts::digest(&signed.document.parts) {
        document.add_text(fields.parts, parts::stored(&signed.document.parts));
        document.add_u64(fields.parts_digest, digest);
    }
    if let Some(place) = signed.document.id_source.place() {
        document.add_u64(fields.place, place);
    }
    if !meta.is_empty() {
        document.add_object(fields.meta, object_of(meta));
        document.add_bytes(fields.meta_json, json.as_bytes());
    }
    document.add_date(fields.added, added);
    document
}

/// Converts a time with nanosecond resolution. Times after 2262 become the last representable time.
pub fn date(time: SystemTime) -> DateTime {
    let nanos = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |n| -n),
    };
    DateTime::from_timestamp_nanos(nanos)
}

/// Converts a meta object for tantivy, with members ordered by name. If two members mean the same
/// path, as in `{"a": {"b": 1}, "a.b": 2}`, the order makes the first one the same everywhere.
fn object_of(meta: &Map<String, Value>) -> BTreeMap<String, OwnedValue> {
    meta.iter().map(|(key, value)| (key.clone(), owned(value))).collect()
}

fn owned(value: &Value) -> OwnedValue {
    match value {
        Value::Object(object) => {
            let members = canonical::sorted(object).into_iter();
            OwnedValue::Object(members.map(|(key, value)| (key.clone(), owned(value))).collect())
        }
        Value::Array(values) => OwnedValue::Array(values.iter().map(owned).collect()),
        scalar => scalar.clone().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_clock_that_is_wrong_by_thousands_of_years_stops_no_writer() {
        let year = Duration::from_secs(365 * 86_400);
        let after = |years| date(SystemTime::UNIX_EPOCH + year * years);
        assert_eq!(after(1), DateTime::from_timestamp_secs(365 * 86_400));
        assert!(after(1) < after(200) && after(200) < after(8100));
        assert_eq!(after(8100), after(9000));
        let before = SystemTime::UNIX_EPOCH.checked_sub(year * 3000);
        assert!(before.is_none_or(|before| date(before) < after(0)));
    }
}
