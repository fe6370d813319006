//! Dates in the fields of documents.
//!
//! The value of a field is a date, a year or a number. A bare number is ambiguous, so the values of
//! the same field in all documents decide.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use crate::period::{Time, date, digits, period, year};

/// Returns the value of a field. A dot in `field` leads into the member of an object, unless `meta`
/// has the whole name as a key. `meta.year` is the field `year`, as in a filter, unless `meta` has
/// a member `meta` with it.
///
/// ```
/// use cento_text::field_date::field_of;
///
/// let meta = serde_json::json!({"work": {"year": 1851}});
/// let year = field_of(meta.as_object().unwrap(), "work.year");
/// assert_eq!(year, Some(&serde_json::json!(1851)));
/// assert_eq!(field_of(meta.as_object().unwrap(), "meta.work.year"), year);
/// ```
#[must_use]
pub fn field_of<'a>(meta: &'a Map<String, Value>, field: &str) -> Option<&'a Value> {
    member_of(meta, field).or_else(|| member_of(meta, field.strip_prefix("meta.")?))
}

fn member_of<'a>(meta: &'a Map<String, Value>, field: &str) -> Option<&'a Value> {
    if let Some(value) = meta.get(field) {
        return Some(value);
    }
    let (first, rest) = field.split_once('.')?;
    member_of(meta.get(first)?.as_object()?, rest)
}

/// Returns the value of a group of documents, as JSON. A number and a string with its digits are
/// one group, as a filter finds both: tables and programs write either.
///
/// ```
/// use cento_text::field_date::group_key;
/// use serde_json::json;
///
/// assert_eq!(group_key(&json!(2020)), group_key(&json!("2020")));
/// assert_eq!(group_key(&json!(2020.0)), r#""2020""#);
/// assert_eq!(group_key(&json!(true)), r#""true""#);
/// assert_ne!(group_key(&json!("007")), group_key(&json!(7)));
/// assert_ne!(group_key(&json!("[7]")), group_key(&json!([7])));
/// ```
#[must_use]
pub fn group_key(value: &Value) -> String {
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    let text = match value {
        Value::Array(_) | Value::Object(_) | Value::String(_) => return value.to_string(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) if float.fract() == 0.0 && float.abs() <= WHOLE_MAX => {
                (float as i64).to_string()
            }
            _ => number.to_string(),
        },
        Value::Null | Value::Bool(_) => value.to_string(),
    };
    Value::String(text).to_string()
}

/// The value of a field, before the values of all documents are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldDate {
    /// A number, which may be a year.
    Number(f64),
    /// Four digits, which are a number if no document has a date in the field.
    Year(i64),
    /// A date, at least a year long or more precise.
    Date(Time),
}

/// Orders times. A document without a time comes last. Among periods with the same beginning the
/// shorter period comes first.
pub fn compare(a: Option<Time>, b: Option<Time>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.start.total_cmp(&b.start).then(a.end.total_cmp(&b.end)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

impl FieldDate {
    /// Returns the time. Beside dates, four digits are a year and other numbers are no dates. A
    /// number of three digits could be a year (JSON cannot write leading zeros) or something else,
    /// so it is no date.
    pub fn time(self, has_dates: bool) -> Option<Time> {
        match self {
            FieldDate::Date(time) => Some(time),
            FieldDate::Year(year) if has_dates => period(&[year]),
            FieldDate::Year(year) => FieldDate::Number(year as f64).time(has_dates),
            FieldDate::Number(number) if !has_dates => {
                Some(Time { start: number, end: number, has_zone: false })
            }
            FieldDate::Number(number) => {
                let is_year = number.fract() == 0.0 && (1_000.0..10_000.0).contains(&number);
                is_year.then(|| period(&[number as i64])).flatten()
            }
        }
    }
}

/// Tells whether numbers are years and days: `1901`, and `18990512` for 1899-05-12. As numbers, the
/// day would be later than any year. If every number of a field is a year or a day, and both occur,
/// the numbers cannot be part of a series.
fn are_years_and_days(written: impl Iterator<Item = FieldDate>) -> bool {
    let (mut has_year, mut has_day) = (false, false);
    for written in written {
        let (whole, is_year) = match written {
            FieldDate::Number(number) if number.fract() == 0.0 => {
                (number as i64, YEARS.contains(&(number as i64)))
            }
            FieldDate::Number(_) => (0, false),
            FieldDate::Year(year) => (year, year < YEARS.end),
            FieldDate::Date(_) => return false,
        };
        let (year, month, day) = (whole / 10_000, whole / 100 % 100, whole % 100);
        let is_day = YEARS.contains(&year) && period(&[year, month, day]).is_some();
        if !is_year && !is_day {
            return false;
        }
        (has_year, has_day) = (has_year || is_year, has_day || is_day);
    }
    has_year && has_day
}

/// The range of numbers that are years, where days are written as numbers.
const YEARS: std::ops::Range<i64> = 1000..3000;

/// Reads a value, or returns `None` if the value is no date.
pub fn read(value: &Value) -> Option<FieldDate> {
    match value {
        Value::Number(number) => number.as_f64().map(|number| FieldDate::Number(number + 0.0)),
        Value::String(text) => match text.trim_ascii() {
            short if short.len() <= 4 => Some(match year(short) {
                Some(year) => FieldDate::Year(year),
                None => FieldDate::Number(digits(short, short.len())? as f64),
            }),
            text => date(text).map(FieldDate::Date),
        },
        _ => None,
    }
}

/// Returns a value as text, a string without its quotation marks.
#[must_use]
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the times of all values of a field, in the same order. `None` where a value is no date.
///
/// ```
/// use cento_text::field_date::{read, times};
/// use serde_json::json;
///
/// // A year next to a date is a year. It begins before any month of the year.
/// let read: Vec<_> = [json!("1901"), json!("1901-05")].iter().map(read).collect();
/// let times = times(&read);
/// assert!(times[0].unwrap().start < times[1].unwrap().start);
/// ```
#[must_use]
pub fn times(values: &[Option<FieldDate>]) -> Vec<Option<Time>> {
    let has_dates = values.iter().any(|value| matches!(value, Some(FieldDate::Date(_))))
        || are_years_and_days(values.iter().copied().flatten());
    values.iter().map(|value| value.and_then(|value| value.time(has_dates))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seconds(value: Value) -> Option<(f64, f64)> {
        match read(&value)? {
            FieldDate::Number(number) => Some((number, number)),
            FieldDate::Year(year) => Some((year as f64, year as f64)),
            FieldDate::Date(time) => Some((time.start, time.end)),
        }
    }

    #[test]
    fn dates_are_periods_as_long_as_they_are_imprecise() {
        const DAY: f64 = 86_400.0;
        let check = |text: &str, start: f64, end: f64| {
            assert_eq!(seconds(json!(text)), Some((start, end)), "{text}");
        };
        check("1970-01", 0.0, 31.0 * DAY);
        check("1970-01-02", DAY, 2.0 * DAY);
        check("2000-02-29", 951_782_400.0, 951_782_400.0 + DAY);
        check("2000-12", 975_628_800.0, 978_307_200.0);
        check("1969-12-31", -DAY, 0.0);
        check("1970-01-01T01:00:01.5+01:00", 1.5, 1.5);
        check("1970-01-01 10:30", 37_800.0, 37_800.0);
        check("1970-01-01T00:00:00Z", 0.0, 0.0);
        check("1970-01-01t00:00:00.250z", 0.25, 0.25);
        check("1969-12-31T23:59:60-00:00", 0.0, 0.0);
        check(" 1970-01-02 ", DAY, 2.0 * DAY);
        assert_eq!(seconds(json!(1.5)), Some((1.5, 1.5)));
        assert_eq!(seconds(json!("1999")), Some((1999.0, 1999.0)));
    }

    #[test]
    fn what_is_no_date_is_not_read() {
        for text in [
            "",
            "May 1999",
            "1999-13",
            "1999-00",
            "1999-02-29",
            "1999-1-1",
            "1999-01-01T25:00",
            "1999-01T10:00",
            "1999-01-01T10:00:0x",
            "99999",
            "1999-01-01-01",
            "x999-01",
            // Library catalogs, and forms of other standards.
            "1901?",
            "[1901]",
            "ca. 1901",
            "c1901",
            "190-",
            "190?",
            "190X",
            "1901~",
            "1901/1903",
            "1901-1903",
            "1901-02/1901-03",
            "20210304",
            "2021-W09-4",
            "2021-063",
            "04.03.2021",
            "3/4/2021",
            "Thu, 04 Mar 2021 10:00:00 GMT",
            "0000-00-00",
            "0000-05",
            "0000-05-01",
            "-0044",
            "2021-03-04T10:00:00+0100",
            "2021-03-04T10:00:00+25:00",
            "2021-03-04T10:00:00+01:60",
            "2021-03-04T10:00:00 CET",
            "2021-03-04T24:00:00Z",
            "\u{0661}999",
        ] {
            assert_eq!(read(&json!(text)), None, "{text}");
        }
        assert_eq!(read(&json!(true)), None);
        assert_eq!(read(&json!(["1999-01"])), None);
    }

    fn time(value: Value) -> Time {
        read(&value).and_then(|written| written.time(true)).unwrap()
    }

    #[test]
    fn a_number_of_four_digits_beside_dates_is_a_year() {
        let [day, year, next] = [json!("1970-01-01"), json!(1970), json!("1971")].map(time);
        assert_eq!(Some(next), period(&[1971]));
        // A day is neither earlier nor later than its year.
        assert!(!day.is_before(year) && !year.is_before(day) && year.is_before(next));
        // An hour, a short year, and a time in seconds are no years.
        for value in [json!(1.5), json!(99), json!("99"), json!(20_210_304), json!(1_614_852_000)] {
            assert_eq!(read(&value).and_then(|written| written.time(true)), None, "{value}");
        }
        let alone = read(&json!(17)).and_then(|written| written.time(false));
        assert_eq!(alone.map(|time| (time.start, time.end)), Some((17.0, 17.0)));
    }

    #[test]
    fn a_text_of_four_digits_is_a_year_from_the_first_on() {
        let [first, early, month] = ["0001", "0987", "0999-05"].map(|text| time(json!(text)));
        assert_eq!((Some(first), Some(early)), (period(&[1]), period(&[987])));
        assert!(first.is_before(early) && early.is_before(month));
        // A number cannot begin with 0, so neither the year 0 nor fewer than four digits are a
        // year.
        for value in [json!("0000"), json!("987"), json!(987), json!(1)] {
            assert_eq!(read(&value).and_then(|written| written.time(true)), None, "{value}");
        }
    }

    #[test]
    fn a_date_without_a_zone_may_be_that_of_any() {
        let check = |one: &str, other: &str, is_before: bool| {
            let [one_time, other_time] = [one, other].map(|text| time(json!(text)));
            assert_eq!(one_time.is_before(other_time), is_before, "{one} {other}");
            assert!(!other_time.is_before(one_time), "{one} {other}");
        };
        check("2021-03-04T23:30:00-05:00", "2021-03-05T04:31:00Z", true);
        check("2021-03-04T12:00:00+01:00", "2021-03-04T11:00:00Z", false);
        // In the last zone the day was over twelve hours later, in the first zone it began fourteen
        // hours earlier.
        check("2021-03-04", "2021-03-05T11:59:59Z", false);
        check("2021-03-04", "2021-03-05T12:00:00Z", true);
        check("2021-03-03T10:00:00Z", "2021-03-04", true);
        check("2021-03-03T10:00:01Z", "2021-03-04", false);
        check("2021-03-04 09:00", "2021-03-04 10:00", true);
    }
}
