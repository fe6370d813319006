//! Ranges whose ends are dates.
//!
//! In `meta` a date is a time (`2021-03-04T10:00:00Z`, which tantivy stores as a time), a text
//! (`2021-03-04`, `2021-03`, `2021-03-04T10:00`), or a number, which is a year. tantivy compares
//! the end of a range only with values of the same form, so a range of dates becomes one range per
//! form. A date is a period: a range from a year starts at its beginning, and a range up to a year
//! stops at its end.

use tantivy::query_grammar::{Occur, UserInputAst, UserInputBound, UserInputLeaf};

use tantivy::schema::Type;

use super::ADDED;
use super::ranges::{end, type_of};
use crate::period::{SECONDS_A_DAY, Time, date, day_of, period, year};

/// The years whose times tantivy can store.
const YEARS_OF_TIMES: [i64; 2] = [1678, 2262];

/// The first and the last number that counts as a year. In texts, years start at `0001`.
const YEARS: [i64; 2] = [1000, 9999];

/// Texts before and after every text that begins with a digit.
const BEFORE_DIGITS: &str = "/~";
const AFTER_DIGITS: &str = ":";

/// Replaces ranges of dates over `meta` with a range for each form of a date, and dates of `added`
/// with times.
///
/// # Errors
/// When `added` is compared with a value other than a date. The error is a clause.
pub(super) fn spread(ast: &mut UserInputAst, is_meta: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let leaf = match ast {
        UserInputAst::Clause(clauses) => {
            return clauses.iter_mut().try_for_each(|(_, clause)| spread(clause, is_meta));
        }
        UserInputAst::Boost(inner, _) => return spread(inner, is_meta),
        UserInputAst::Leaf(leaf) => leaf.as_mut(),
    };
    match leaf {
        UserInputLeaf::Range { field: Some(field), lower, upper } if field == ADDED => {
            let ends = [end(lower).map(RangeEnd::added), end(upper).map(RangeEnd::added)];
            let [least, most] = ends.map(Option::transpose);
            if let Some(RangeEnd { date: Some(time), is_time: false }) = least? {
                *lower = DateCut::lower(lower, time).time(true);
            }
            if let Some(RangeEnd { date: Some(time), is_time: false }) = most? {
                *upper = DateCut::upper(upper, time).time(false);
            }
        }
        UserInputLeaf::Literal(literal) if literal.field_name.as_deref() == Some(ADDED) => {
            if let RangeEnd { date: Some(time), is_time: false } = RangeEnd::added(&literal.phrase)?
            {
                let lower = DateCut { at: time.start, is_after: false }.time(true);
                let upper = DateCut { at: time.end, is_after: false }.time(false);
                *leaf = UserInputLeaf::Range { field: Some(ADDED.into()), lower, upper };
            }
        }
        UserInputLeaf::Range { field: Some(field), lower, upper } if is_meta(field) => {
            for text in [end(lower), end(upper)].into_iter().flatten() {
                check_day(text)?;
            }
            if let Some(forms) = forms(field, lower, upper) {
                let clauses = forms.into_iter().map(|form| (Some(Occur::Should), form.into()));
                *ast = UserInputAst::Clause(clauses.collect());
            }
        }
        _ => {}
    }
    Ok(())
}

/// Returns the ranges that a range of dates means, or `None` if the ends are not dates.
fn forms(
    field: &str,
    lower: &UserInputBound,
    upper: &UserInputBound,
) -> Option<Vec<UserInputLeaf>> {
    let (least, most) = (end(lower), end(upper));
    let ends: Vec<RangeEnd> = least.iter().chain(&most).map(|text| RangeEnd::of(text)).collect();
    if ends.is_empty() || ends.iter().any(|end| end.date.is_none()) {
        return None;
    }
    let of = |text: Option<&str>| text.and_then(|text| RangeEnd::of(text).date);
    let from = of(least).map(|date| DateCut::lower(lower, date));
    let to = of(most).map(|date| DateCut::upper(upper, date));
    // A time stays as written, to the last fraction of a second.
    let is_time = |text: Option<&str>| text.is_none_or(|text| RangeEnd::of(text).is_time);
    let is_of_years = least.iter().chain(&most).all(|text| text.len() == YEAR_DIGITS);
    let range = |lower, upper| UserInputLeaf::Range { field: Some(field.to_owned()), lower, upper };
    let numbers = match is_of_years {
        // Four digits may be a number of any meaning.
        true => range(lower.clone(), upper.clone()),
        false => range(
            UserInputBound::Inclusive(
                from.map_or(0, DateCut::first_year).max(YEARS[0]).to_string(),
            ),
            UserInputBound::Inclusive(to.map_or(YEARS[1], DateCut::last_year).to_string()),
        ),
    };
    let texts = range(
        from.map_or(UserInputBound::Inclusive(BEFORE_DIGITS.into()), |cut| cut.text(true)),
        to.map_or(UserInputBound::Exclusive(AFTER_DIGITS.into()), |cut| cut.text(false)),
    );
    let times = range(
        from.filter(|_| !is_time(least)).map_or_else(|| lower.clone(), |cut| cut.time(true)),
        to.filter(|_| !is_time(most)).map_or_else(|| upper.clone(), |cut| cut.time(false)),
    );
    Some(vec![numbers, texts, times])
}

/// Refuses a day or a time that does not exist, such as `2021-02-31`. As a text it would leave out
/// documents without a word, because times and years are not texts. Other texts may be anything:
/// `2021-13` is a number of a magazine.
fn check_day(text: &str) -> Result<(), String> {
    let day = text.split(['T', 't', ' ']).next().unwrap_or_default();
    let parts: Vec<&str> = day.split('-').collect();
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = |text: &str| (1..=2).contains(&text.len()) && digits(text);
    let is_day = match parts[..] {
        [year, month, day] => {
            year.len() == YEAR_DIGITS && digits(year) && is_short(month) && is_short(day)
        }
        _ => false,
    };
    match is_day && !is_date(text) {
        true => Err(format!(
            "`{text}` is no date; dates are written as 2021, 2021-03, 2021-03-04 or \
             2021-03-04T10:00:00Z"
        )),
        false => Ok(()),
    }
}

/// Returns whether a text is a date, a month or a year.
pub(super) fn is_date(text: &str) -> bool {
    RangeEnd::of(text).date.is_some()
}

/// The end of a range, as a date.
struct RangeEnd {
    date: Option<Time>,
    /// Whether tantivy reads the end as a time.
    is_time: bool,
}

const YEAR_DIGITS: usize = 4;

impl RangeEnd {
    fn of(text: &str) -> RangeEnd {
        let date = match year(text) {
            Some(year) => period(&[year]),
            None => date(text),
        };
        RangeEnd { date, is_time: type_of(text) == Type::Date }
    }

    /// Parses a value that `added` is compared with.
    fn added(text: &str) -> Result<RangeEnd, String> {
        let end = RangeEnd::of(text);
        match end.date {
            Some(_) => Ok(end),
            None => Err(format!(
                "`{text}` is no date; `added` is compared with dates such as 2021, 2021-03, \
                 2021-03-04 or 2021-03-04T10:00:00Z"
            )),
        }
    }
}

/// A boundary between times: before or after everything that begins at `at`.
#[derive(Clone, Copy)]
struct DateCut {
    at: f64,
    is_after: bool,
}

impl DateCut {
    /// Returns the beginning of a range.
    fn lower(bound: &UserInputBound, date: Time) -> DateCut {
        let is_excluded = matches!(bound, UserInputBound::Exclusive(_));
        DateCut::beside(date, is_excluded)
    }

    /// Returns the end of a range.
    fn upper(bound: &UserInputBound, date: Time) -> DateCut {
        let is_included = matches!(bound, UserInputBound::Inclusive(_));
        DateCut::beside(date, is_included)
    }

    /// Returns the boundary before or after a period.
    fn beside(date: Time, is_after: bool) -> DateCut {
        let is_instant = date.start == date.end;
        DateCut {
            at: if is_after { date.end } else { date.start },
            is_after: is_after && is_instant,
        }
    }

    /// Returns the day, and the second within the day.
    fn place(self) -> ([i64; 3], f64) {
        let day = (self.at / SECONDS_A_DAY as f64).floor();
        (day_of(day as i64), self.at - day * SECONDS_A_DAY as f64)
    }

    /// Makes the bound for times.
    fn time(self, is_lower: bool) -> UserInputBound {
        let [min, max] =
            YEARS_OF_TIMES.map(|year| period(&[year]).map_or(0.0, |period| period.start));
        let ([year, month, day], second) = DateCut { at: self.at.clamp(min, max), ..self }.place();
        let text = format!("{year:04}-{month:02}-{day:02}T{}Z", clock(second));
        self.bound(text, is_lower)
    }

    /// Makes the bound for texts. Every text of a year sorts after the bound before its first day,
    /// also the year alone.
    fn text(self, is_lower: bool) -> UserInputBound {
        let ([year, month, day], second) = self.place();
        let text = match (month, day, second) {
            _ if self.is_after => format!("{year:04}-{month:02}-{day:02}T{}", clock(second)),
            // A bare year would be read as a number.
            (1, 1, 0.0) => format!("{:04}~", year - 1),
            (_, 1, 0.0) => format!("{year:04}-{month:02}"),
            (_, _, 0.0) => format!("{year:04}-{month:02}-{day:02}"),
            _ => {
                let clock = clock(second);
                let clock = clock.strip_suffix(":00").unwrap_or(&clock);
                format!("{year:04}-{month:02}-{day:02}T{clock}")
            }
        };
        self.bound(text, is_lower)
    }

    fn bound(self, text: String, is_lower: bool) -> UserInputBound {
        match self.is_after == is_lower {
            true => UserInputBound::Exclusive(text),
            false => UserInputBound::Inclusive(text),
        }
    }

    /// Returns the first year that begins after this boundary.
    fn first_year(self) -> i64 {
        let ([year, ..], _) = self.place();
        year + i64::from(self.is_after || !self.begins_year())
    }

    /// Returns the last year that begins before this boundary.
    fn last_year(self) -> i64 {
        let ([year, ..], _) = self.place();
        year - i64::from(!self.is_after && self.begins_year())
    }

    fn begins_year(self) -> bool {
        matches!(self.place(), ([_, 1, 1], 0.0))
    }
}

/// Formats the time of day, to the microsecond.
fn clock(second: f64) -> String {
    let whole = second.floor();
    let (minute, micros) = (whole as i64 / 60, ((second - whole) * 1e6).round() as i64);
    let text = format!("{:02}:{:02}:{:02}", minute / 60, minute % 60, whole as i64 % 60);
    match micros {
        0 => text,
        // Rounding up would give the next second.
        micros => format!("{text}.{:06}", micros.min(999_999)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use serde_json::json;

    use crate::error::Result;
    use crate::index::{Config, Document, Index, Snapshot, WriterOptions};
    use crate::runtime::Stop;
    use crate::search::filter::Filter;

    /// Values of the field `date`, and of other fields.
    const DATES: [&str; 8] = [
        "2020",
        "2021",
        "2021-03",
        "2021-03-04",
        "2021-03-04T10:00",
        "2021-03-04T10:00:00Z",
        "2021-12-31T23:59:59.5Z",
        "2022-01-01",
    ];

    static SNAPSHOT: LazyLock<Snapshot> = LazyLock::new(|| {
        let config = Config::new("kgram(k=1)", "words", false).unwrap();
        let index = Index::in_memory(config).unwrap();
        let options = WriterOptions::default().memory_bytes(0usize).merge(false);
        let mut writer = index.writer(options).unwrap();
        for (number, date) in DATES.iter().enumerate() {
            let meta = json!({"date": date, "year": 2015 + number, "other": "none"});
            let meta = meta.as_object().unwrap().clone();
            writer.add(Document::new(date.to_string(), "text").with_meta(meta)).unwrap();
        }
        writer.finish().unwrap();
        index.snapshot().unwrap()
    });

    fn passing(filter: &str) -> Result<Vec<u32>> {
        let filter = Filter::new(&SNAPSHOT, filter)?;
        let mut docs = (0..DATES.len() as u32).collect();
        filter.retain(0, &mut docs, Stop::NEVER)?;
        Ok(docs)
    }

    #[track_caller]
    fn check(filter: &str, expected: &[&str]) {
        let found = passing(filter).unwrap();
        let found: Vec<&str> = found.iter().map(|doc| DATES[*doc as usize]).collect();
        assert_eq!(found, expected, "{filter}");
    }

    #[test]
    fn a_range_of_dates_includes_dates_of_every_form() {
        // A bound of another precision than the dates once matched nothing.
        check("date:[2021 TO 2021]", &DATES[1..7]);
        check("date:[2021 TO 2023]", &DATES[1..]);
        check("date:[2021-01-01 TO *]", &DATES[1..]);
        check("date:[2021-01-01T00:00:00Z TO *]", &DATES[1..]);
        check("date:[2021-02 TO *]", &DATES[2..]);
        check("date:[2021-03-04 TO 2021-03-04]", &DATES[3..6]);
        check("date:[2021-03-04 TO 2021-12]", &DATES[3..7]);
        check("date:[* TO 2020]", &DATES[..1]);
        check("date:[* TO 2021}", &DATES[..1]);
        check("date:{2020 TO 2022}", &DATES[1..7]);
        check("date:{2021 TO *]", &DATES[7..]);
        check("date:>=2022", &DATES[7..]);
        check("date:>2021-03-04", &DATES[6..]);
        check("date:<=2021-03", &DATES[..6]);
        check("date:[2021-03-04T10:00:00Z TO 2021-03-04T10:00:00Z]", &DATES[4..6]);
        check("date:{2021-03-04T10:00:00Z TO *]", &DATES[6..]);
        check("date:[* TO 2021-12-31T23:59:59.4Z]", &DATES[..6]);
        check("date:[2021-12-31T23:59:59.5Z TO *]", &DATES[6..]);
        check("date:[2021-03-04T12:00:00+02:00 TO 2021-03-04T10:00]", &DATES[4..6]);
        check("NOT meta.date:[2021 TO 2021]", &[DATES[0], DATES[7]]);
        check("date:[1500 TO 1600]", &[]);
        check("date:[1500 TO 3000]", &DATES);
        check("other:[1000 TO *]", &[]);
    }

    #[test]
    fn a_day_that_does_not_exist_is_refused() {
        // As texts these ends left out the times and years of the range.
        for end in ["2021-02-31", "2021-13-01", "2021-3-4"] {
            for filter in [format!("date:[2021 TO {end}]"), format!("date:>={end}")] {
                let error = passing(&filter).unwrap_err().to_string();
                assert!(error.contains(&format!("`{end}` is no date")), "{filter}: {error}");
            }
        }
        assert!(passing("date:[2021 TO 2021-03-04T25:00:00Z]").is_err());
        // These may be anything.
        for end in ["2021-13", "2021-02-31-a", "978-3-16-148410-0"] {
            assert!(passing(&format!("other:[* TO {end}]")).is_ok(), "{end}");
        }
    }

    #[test]
    fn a_range_includes_early_years() {
        let config = Config::new("kgram(k=1)", "words", false).unwrap();
        let index = Index::in_memory(config).unwrap();
        let options = WriterOptions::default().memory_bytes(0usize).merge(false);
        let mut writer = index.writer(options).unwrap();
        let dates = [json!("0987"), json!("0999-05"), json!("1001"), json!(987), json!(1001)];
        for (number, date) in dates.iter().enumerate() {
            let meta = json!({ "date": date }).as_object().unwrap().clone();
            writer.add(Document::new(number.to_string(), "text").with_meta(meta)).unwrap();
        }
        writer.finish().unwrap();
        let snapshot = index.snapshot().unwrap();
        let check = |filter: &str, expected: &[u32]| {
            let mut docs = (0..dates.len() as u32).collect();
            Filter::new(&snapshot, filter).unwrap().retain(0, &mut docs, Stop::NEVER).unwrap();
            assert_eq!(docs, expected, "{filter}");
        };
        check("date:[0900-01 TO 1100-12]", &[0, 1, 2, 4]);
        check("date:[0990-01-01 TO *]", &[1, 2, 4]);
        check("date:[* TO 0999-12]", &[0, 1]);
        check("date:{0987 TO 0999-05-31]", &[1]);
        // Ends with four digits may be numbers of any meaning.
        check("date:[0900 TO 1100]", &[0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_range_of_numbers_is_one_of_numbers_and_of_years() {
        check("year:[2019 TO *]", &DATES[4..]);
        check("year:[* TO 2019}", &DATES[..4]);
        check("year:[2016 TO 2017]", &DATES[1..3]);
        check("year:{2016 TO 20000]", &DATES[2..]);
        check("year:[2016 TO 2017.5]", &DATES[1..3]);
        // A year begins with its first day.
        check("year:[2019-01-01 TO 2020-12]", &DATES[4..6]);
        check("year:[2019-01-02 TO 2019-12-31T23:00:00Z]", &[]);
        check("year:{2019-01-01T00:00:00Z TO *]", &DATES[5..]);
        check("year:[* TO 2019-01-01T00:00:00Z]", &DATES[..5]);
    }

    #[test]
    fn the_time_of_addition_is_compared_with_dates() {
        let all = &DATES[..];
        check("added:[2020 TO *]", all);
        check("added:[2020-01 TO 2200-12-31]", all);
        check("added:[* TO 2020]", &[]);
        check("added:{2020-01-01 TO 2250}", all);
        check("added:2020-01-01", &[]);
        check("added:[1500 TO 3000]", all);
        for filter in ["added:[yesterday TO *]", "added:[2020-13 TO *]", "added:5"] {
            let error = passing(filter).unwrap_err().to_string();
            assert!(error.contains("is no date"), "{error}");
            assert!(error.contains("2021, 2021-03, 2021-03-04"), "{error}");
        }
    }
}
