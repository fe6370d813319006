//! The order of documents in time.
//!
//! By a field of `meta`, which has dates or numbers, or else by the time when the documents were
//! added; of the same microsecond, by their ids, which tells nothing. A date may be less precise
//! than another: `1999` is neither earlier nor later than `1999-05`, so a date is a period, and one
//! is earlier than another if it ends before. A date without a time zone may be that of any zone,
//! where it is compared with one that has a zone.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use cento_api::DirectionBy;
use serde_json::{Map, Value};

use super::numbering::Numbering;
use super::series::{FIELDS_MAX, add_fields, field_of, unknown};
use cento::index::{DocAddress, Snapshot};
use cento_api::error::{Error, Result};
use cento_text::period::{Time, date, digits, period, year};
use cento_text::runtime::Stop;

pub use cento_api::{DateRelation, TimeOrder};

/// A value that is no date, by the id of its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoDate {
    pub id: String,
    pub value: String,
}

/// The live documents of a snapshot, the earliest first.
#[derive(Debug)]
pub struct Chronology {
    pub order: TimeOrder,
    field: Option<String>,
    numbering: Numbering,
    /// The numbers of the documents by rank.
    numbers: Vec<u64>,
    /// The ranks of the documents by number; `u32::MAX` for deleted documents.
    ranks: Vec<u32>,
    /// The times of the documents by rank.
    times: Vec<Option<Time>>,
    /// The times when they were added, by rank, in microseconds since 1970.
    added: Vec<i64>,
    /// Documents without a date, if dates decide.
    pub undated: u64,
    /// The first of them with a value that is no date.
    pub no_date: Option<NoDate>,
    /// The time after that of the document that was added last, in microseconds since 1970.
    pub cursor: u64,
}

/// The value of a field, before the values of all documents are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Written {
    Number(f64),
    /// A text of four digits, which is a number without dates beside it.
    Year(i64),
    Date(Time),
}

impl Chronology {
    /// Orders the live documents of `snapshot` by a field of `meta`, or by the time when they were
    /// added.
    ///
    /// # Errors
    /// When no document has a date in this field; when a file is damaged; [`Error::Cancelled`] soon
    /// after `stop`.
    pub fn new(snapshot: &Snapshot, field: Option<&str>, stop: &Stop) -> Result<Chronology> {
        let numbering = Numbering::new(snapshot);
        let mut found = Vec::new();
        let (mut undated, mut no_date, mut fields, mut cursor) = (0, None, BTreeSet::new(), 0);
        for (at, address) in snapshot.live().enumerate() {
            stop.check_at(at)?;
            let (added, id) =
                (snapshot.segment(address).added_micros(address.doc)?, snapshot.id(address)?);
            cursor = cursor.max(u64::try_from(added).unwrap_or(0) + 1);
            let mut written = None;
            if let Some(field) = field {
                let meta = snapshot.meta(address)?;
                let value = field_of(&meta, field).filter(|value| !value.is_null());
                written = value.and_then(read);
                if written.is_none() {
                    undated += 1;
                    if let Some(value) = value.filter(|_| no_date.is_none()) {
                        no_date = Some(NoDate { id: id.clone(), value: shown(value) });
                    } else if value.is_none() && fields.len() < FIELDS_MAX {
                        add_fields(&meta, "", &mut fields);
                    }
                }
            }
            found.push((written, added, id, numbering.number(address)));
        }
        if let Some(field) = field
            && undated as usize == found.len()
            && !found.is_empty()
        {
            return Err(no_dates(field, no_date.as_ref(), &fields));
        }
        let has_dates = found.iter().any(|(written, ..)| matches!(written, Some(Written::Date(_))))
            || are_years_and_days(found.iter().filter_map(|&(written, ..)| written));
        let mut times = Vec::with_capacity(found.len());
        for (written, _, id, number) in &found {
            let time = written.and_then(|written| written.time(has_dates));
            if time.is_none() && written.is_some() {
                undated += 1;
                if let (Some(field), None) = (field, &no_date) {
                    // As it is written: `0099` is no number in JSON.
                    let meta: Map<String, Value> = snapshot.meta(numbering.address(*number))?;
                    let value = field_of(&meta, field).map(shown).unwrap_or_default();
                    no_date = Some(NoDate { id: id.clone(), value });
                }
            }
            times.push(time);
        }
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_unstable_by(|&a, &b| {
            let by_time = compare(times[a], times[b]);
            by_time.then_with(|| (found[a].1, &found[a].2).cmp(&(found[b].1, &found[b].2)))
        });
        let mut ranks = vec![u32::MAX; numbering.end() as usize];
        for (rank, &at) in (0u32..).zip(&order) {
            ranks[found[at].3 as usize] = rank;
        }
        Ok(Chronology {
            order: if field.is_some() { TimeOrder::Date } else { TimeOrder::Added },
            field: field.map(str::to_owned),
            numbers: order.iter().map(|&at| found[at].3).collect(),
            times: order.iter().map(|&at| times[at]).collect(),
            added: order.iter().map(|&at| found[at].1).collect(),
            numbering,
            ranks,
            undated,
            no_date,
            cursor,
        })
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the memory that it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<u64>()
            + self.ranks.capacity() * size_of::<u32>()
            + self.times.capacity() * size_of::<Option<Time>>()
            + self.added.capacity() * size_of::<i64>()
    }

    /// Returns the document of this rank.
    pub fn address(&self, rank: u32) -> DocAddress {
        self.numbering.address(self.numbers[rank as usize])
    }

    /// Returns the rank of the live document with this number.
    pub fn rank_of_number(&self, number: u64) -> u32 {
        self.ranks[number as usize]
    }

    /// Returns the rank of a live document.
    pub fn rank(&self, address: DocAddress) -> u32 {
        self.ranks[self.numbering.number(address) as usize]
    }

    /// Returns the time of the document of this rank, if it has one.
    pub fn time(&self, rank: u32) -> Option<Time> {
        self.times[rank as usize]
    }

    /// Returns how the date of one document relates to that of another.
    pub fn relation(&self, one: u32, other: u32) -> DateRelation {
        match self.time(one).zip(self.time(other)) {
            Some((one, other)) if one.is_before(other) => DateRelation::Earlier,
            Some((one, other)) if other.is_before(one) => DateRelation::Later,
            Some((one, other)) if one == other => DateRelation::SameDate,
            _ => DateRelation::Unknown,
        }
    }

    /// Returns the reason for the order of two documents whose dates do not tell it.
    pub fn by_addition(&self, one: u32, other: u32) -> DirectionBy {
        match self.added[one as usize] == self.added[other as usize] {
            true => DirectionBy::Unknown,
            false => DirectionBy::Added,
        }
    }

    /// Returns the date of the document of this rank as `meta` has it, if it has one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn date(&self, snapshot: &Snapshot, rank: u32) -> Result<Option<String>> {
        let Some(field) = self.field.as_ref().filter(|_| self.time(rank).is_some()) else {
            return Ok(None);
        };
        let meta: Map<String, Value> = snapshot.meta(self.address(rank))?;
        Ok(field_of(&meta, field).map(shown))
    }
}

/// Orders times; documents without one come last. Of periods that begin together the shorter one is
/// first.
pub(super) fn compare(a: Option<Time>, b: Option<Time>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.start.total_cmp(&b.start).then(a.end.total_cmp(&b.end)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn no_dates(field: &str, no_date: Option<&NoDate>, fields: &BTreeSet<String>) -> Error {
    match no_date {
        None => unknown("date", field, fields),
        Some(NoDate { id, value }) => {
            let what = format!(
                "no document has a date in `{field}`: {id} has \"{value}\"; dates are written \
                 2021, 2021-03, 2021-03-04 or 2021-03-04T10:00:00Z"
            );
            Error::argument("date", what)
        }
    }
}

impl Written {
    /// Returns the time. Beside dates, four digits are a year, and other numbers are no dates: a
    /// number of three, which JSON cannot write with four, may be of another sense.
    pub fn time(self, has_dates: bool) -> Option<Time> {
        match self {
            Written::Date(time) => Some(time),
            Written::Year(year) if has_dates => period(&[year]),
            Written::Year(year) => Written::Number(year as f64).time(has_dates),
            Written::Number(number) if !has_dates => {
                Some(Time { start: number, end: number, has_zone: false })
            }
            Written::Number(number) => {
                let is_year = number.fract() == 0.0 && (1_000.0..10_000.0).contains(&number);
                is_year.then(|| period(&[number as i64])).flatten()
            }
        }
    }
}

/// Tells whether numbers are years and days: `1901`, and `18990512` for 1899-05-12. As numbers the
/// day would be later than any year. A field where every number is one or the other, and some are
/// each, has no numbers of another sense, such as those of a series.
fn are_years_and_days(written: impl Iterator<Item = Written>) -> bool {
    let (mut has_year, mut has_day) = (false, false);
    for written in written {
        let (whole, is_year) = match written {
            Written::Number(number) if number.fract() == 0.0 => {
                (number as i64, YEARS.contains(&(number as i64)))
            }
            Written::Number(_) => (0, false),
            Written::Year(year) => (year, year < YEARS.end),
            Written::Date(_) => return false,
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

/// Beside days written as numbers, these numbers are years.
const YEARS: std::ops::Range<i64> = 1000..3000;

/// Reads a value; `None` if it is no date.
pub(super) fn read(value: &Value) -> Option<Written> {
    match value {
        Value::Number(number) => number.as_f64().map(|number| Written::Number(number + 0.0)),
        Value::String(text) => match text.trim_ascii() {
            short if short.len() <= 4 => Some(match year(short) {
                Some(year) => Written::Year(year),
                None => Written::Number(digits(short, short.len())? as f64),
            }),
            text => date(text).map(Written::Date),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seconds(value: Value) -> Option<(f64, f64)> {
        match read(&value)? {
            Written::Number(number) => Some((number, number)),
            Written::Year(year) => Some((year as f64, year as f64)),
            Written::Date(time) => Some((time.start, time.end)),
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
            // Library catalogues, and forms of other standards.
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
        // Neither the year 0 nor fewer than four digits: a number cannot begin with 0.
        for value in [json!("0000"), json!("987"), json!(987), json!(1)] {
            assert_eq!(read(&value).and_then(|written| written.time(true)), None, "{value}");
        }
        let dates = [json!("0999-05"), json!("0987"), json!("1999")];
        assert_eq!(in_order(&dates).0, "bac");
        // Without dates it is a number beside others.
        let numbers = [json!("0987"), json!(17), json!("1001")];
        assert_eq!(in_order(&numbers).0, "bac");
        // Beside a day that is written as a number it is a year.
        let (order, found) = in_order(&[json!(18_990_512), json!("0987"), json!(1902)]);
        assert_eq!((&*order, found.undated), ("bca", 1));
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
        // The day was over twelve hours later in the last zone, and began fourteen hours earlier in
        // the first.
        check("2021-03-04", "2021-03-05T11:59:59Z", false);
        check("2021-03-04", "2021-03-05T12:00:00Z", true);
        check("2021-03-03T10:00:00Z", "2021-03-04", true);
        check("2021-03-03T10:00:01Z", "2021-03-04", false);
        check("2021-03-04 09:00", "2021-03-04 10:00", true);
    }

    /// The order of documents with these dates, which are named `a`, `b` and so on.
    fn in_order(dates: &[Value]) -> (String, Chronology) {
        use cento::index::{Config, Document, Index, WriterOptions};
        let config = Config::new("kgram(k=2)", "words", true).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for (id, date) in ('a'..).zip(dates) {
            let meta = json!({"date": date}).as_object().unwrap().clone();
            writer.add(Document::new(id.to_string(), "some words").with_meta(meta)).unwrap();
        }
        writer.finish().unwrap();
        let snapshot = index.snapshot().unwrap();
        let found = Chronology::new(&snapshot, Some("date"), Stop::NEVER).unwrap();
        let id = |rank| snapshot.id(found.address(rank)).unwrap();
        ((0..dates.len() as u32).map(id).collect(), found)
    }

    #[test]
    fn a_number_beside_dates_that_is_no_year_is_named() {
        let (_, found) = in_order(&[json!("1999-05"), json!(99), json!("1901?")]);
        assert_eq!(found.undated, 2);
        assert_eq!(found.no_date.map(|no_date| no_date.value).as_deref(), Some("1901?"));
        // It is named as it is written.
        let (_, found) = in_order(&[json!("1999-05"), json!("0000")]);
        assert_eq!(found.no_date.map(|no_date| no_date.value).as_deref(), Some("0000"));
    }

    #[test]
    fn a_day_that_is_written_as_a_number_is_no_date_beside_years() {
        let check = |dates: &[Value], order: &str, no_date: Option<&str>| {
            let (found, chronology) = in_order(dates);
            let named = chronology.no_date.map(|no_date| no_date.value);
            assert_eq!((&*found, named.as_deref()), (order, no_date), "{dates:?}");
            assert_eq!(chronology.undated > 0, no_date.is_some(), "{dates:?}");
        };
        // 1899-05-12 is before 1901, and 18990512 is a greater number.
        let day = json!(18_990_512);
        check(&[day.clone(), json!("1901"), json!(1902)], "bca", Some("18990512"));
        check(&[json!("18990512"), json!("1901"), json!(1902)], "bca", Some("18990512"));
        // All days are in order as numbers, and so are numbers in another sense.
        check(&[json!(19_010_101), day.clone()], "ba", None);
        check(&[json!(2616), json!(17), json!(18_990_512)], "bac", None);
        check(&[json!(1901), json!(18_991_399)], "ab", None);
    }
}
