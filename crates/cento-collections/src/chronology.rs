//! The order of documents in time.
//!
//! Documents are ordered by a field of `meta` with dates or numbers, or else by their time of
//! addition. Documents added in the same microsecond are ordered by id, which says nothing about
//! time. Dates differ in precision: `1999` is neither earlier nor later than `1999-05`. So a date
//! is a period, and one date is earlier than another if its period ends before the other begins. A
//! date without a time zone may be in any zone when it is compared with a date that has a zone.

use std::collections::BTreeSet;

use cento_api::DirectionBy;
use serde_json::{Map, Value};

use super::numbering::Numbering;
use super::series::{FIELDS_MAX, add_fields, unknown};
use cento::index::{DocAddress, Snapshot};
use cento_api::error::{Error, Result};
use cento_text::field_date::{FieldDate, compare, field_of, read, shown, times};
use cento_text::period::Time;
use cento_text::runtime::Stop;

pub use cento_api::{DateRelation, TimeOrder};

/// A value of the date field that is no date.
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
    /// Document numbers by rank.
    numbers: Vec<u64>,
    /// Ranks by document number, `u32::MAX` for deleted documents.
    ranks: Vec<u32>,
    /// Dates by rank, `None` for documents without a date.
    times: Vec<Option<Time>>,
    /// Times of addition by rank, in microseconds since 1970.
    added: Vec<i64>,
    /// The number of documents without a date, 0 if times of addition decide.
    pub undated: u64,
    /// The first value that is no date, if any.
    pub no_date: Option<NoDate>,
    /// One microsecond after the latest time of addition, in microseconds since 1970.
    pub cursor: u64,
}

impl Chronology {
    /// Orders the live documents of `snapshot` by a field of `meta`, or by time of addition if
    /// `field` is `None`.
    ///
    /// # Errors
    /// When no document has a date in this field, or a file is damaged. [`Error::Cancelled`] soon
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
        let written: Vec<Option<FieldDate>> = found.iter().map(|&(written, ..)| written).collect();
        let times = times(&written);
        for ((written, _, id, number), time) in found.iter().zip(&times) {
            if time.is_none() && written.is_some() {
                undated += 1;
                if let (Some(field), None) = (field, &no_date) {
                    // Read again, because `0099` is no number in JSON and has to be shown as
                    // written.
                    let meta: Map<String, Value> = snapshot.meta(numbering.address(*number))?;
                    let value = field_of(&meta, field).map(shown).unwrap_or_default();
                    no_date = Some(NoDate { id: id.clone(), value });
                }
            }
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

    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the memory that the chronology takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<u64>()
            + self.ranks.capacity() * size_of::<u32>()
            + self.times.capacity() * size_of::<Option<Time>>()
            + self.added.capacity() * size_of::<i64>()
    }

    /// Returns the address of the document with this rank.
    pub fn address(&self, rank: u32) -> DocAddress {
        self.numbering.address(self.numbers[rank as usize])
    }

    /// Returns the rank of the live document with this number.
    pub fn rank_of_number(&self, number: u64) -> u32 {
        self.ranks[number as usize]
    }

    pub fn rank(&self, address: DocAddress) -> u32 {
        self.ranks[self.numbering.number(address) as usize]
    }

    /// Returns the date of the document with this rank, if known.
    pub fn time(&self, rank: u32) -> Option<Time> {
        self.times[rank as usize]
    }

    /// Compares the dates of documents `one` and `other`, given by rank.
    pub fn relation(&self, one: u32, other: u32) -> DateRelation {
        match self.time(one).zip(self.time(other)) {
            Some((one, other)) if one.is_before(other) => DateRelation::Earlier,
            Some((one, other)) if other.is_before(one) => DateRelation::Later,
            Some((one, other)) if one == other => DateRelation::SameDate,
            _ => DateRelation::Unknown,
        }
    }

    /// Returns what decides the order of two documents whose dates do not.
    pub fn by_addition(&self, one: u32, other: u32) -> DirectionBy {
        match self.added[one as usize] == self.added[other as usize] {
            true => DirectionBy::Unknown,
            false => DirectionBy::Added,
        }
    }

    /// Returns the date of the document with this rank as written in `meta`, if known.
    ///
    /// # Errors
    /// When the meta object cannot be read.
    pub fn date(&self, snapshot: &Snapshot, rank: u32) -> Result<Option<String>> {
        let Some(field) = self.field.as_ref().filter(|_| self.time(rank).is_some()) else {
            return Ok(None);
        };
        let meta: Map<String, Value> = snapshot.meta(self.address(rank))?;
        Ok(field_of(&meta, field).map(shown))
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_of_four_digits_is_a_year_beside_dates_and_a_number_beside_numbers() {
        let dates = [json!("0999-05"), json!("0987"), json!("1999")];
        assert_eq!(in_order(&dates).0, "bac");
        // Without dates, `0987` is a number among numbers.
        let numbers = [json!("0987"), json!(17), json!("1001")];
        assert_eq!(in_order(&numbers).0, "bac");
        // Beside a day that is written as a number, `0987` is a year.
        let (order, found) = in_order(&[json!(18_990_512), json!("0987"), json!(1902)]);
        assert_eq!((&*order, found.undated), ("bca", 1));
    }

    /// Returns the order of documents with these dates, named `a`, `b` and so on, and the
    /// chronology.
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
        // The value is shown as written.
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
        // By date 1899-05-12 is before 1901, although 18990512 is the greater number.
        let day = json!(18_990_512);
        check(&[day.clone(), json!("1901"), json!(1902)], "bca", Some("18990512"));
        check(&[json!("18990512"), json!("1901"), json!(1902)], "bca", Some("18990512"));
        // If all values are days, their order as numbers is right. The same holds if all are plain
        // numbers.
        check(&[json!(19_010_101), day.clone()], "ba", None);
        check(&[json!(2616), json!(17), json!(18_990_512)], "bac", None);
        check(&[json!(1901), json!(18_991_399)], "ab", None);
    }
}
