//! Which period does a written date mean?
//!
//! A date may be less precise than another date, so a date is a period: `1999-05` is a whole month.

/// A period, in seconds since 1970, or in the unit of a field of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    /// The first moment of the period.
    pub start: f64,
    /// The first moment after the period. A number ends where it begins.
    pub end: f64,
    /// Whether the time zone is known.
    pub has_zone: bool,
}

/// How many seconds the clock of a time zone is behind UTC at most, and ahead of UTC at most.
const ZONE_BEFORE: f64 = 12.0 * 3600.0;
const ZONE_AFTER: f64 = 14.0 * 3600.0;

impl Time {
    /// Tells whether this period certainly ends before the other begins, in whatever time zones.
    pub fn is_before(self, other: Time) -> bool {
        let room = match (self.has_zone, other.has_zone) {
            (false, true) => ZONE_BEFORE,
            (true, false) => ZONE_AFTER,
            _ => 0.0,
        };
        self.end + room <= other.start && self.start < other.start
    }
}

/// The length of every day in seconds, since Unix time has no leap seconds.
pub const SECONDS_A_DAY: i64 = 86_400;

/// Reads a number of exactly `count` digits.
pub fn digits(text: &str, count: usize) -> Option<i64> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Reads a year of exactly four digits, `0001` to `9999`.
pub fn year(text: &str) -> Option<i64> {
    digits(text, 4).filter(|year| *year > 0)
}

/// Reads `2021-03`, `2021-03-04`, or a day with a time of day after `T` or a space.
///
/// ```
/// use cento_text::period::date;
///
/// let (may, day) = (date("1999-05").unwrap(), date("1999-06-01").unwrap());
/// assert!(may.is_before(day));
/// // A day within the month is neither certainly before nor certainly after it.
/// assert!(!may.is_before(date("1999-05-31").unwrap()));
/// assert_eq!(date("next Tuesday"), None);
/// ```
pub fn date(text: &str) -> Option<Time> {
    let (day, time) = match text.split_once(['T', 't', ' ']) {
        Some((day, time)) => (day, Some(time)),
        None => (text, None),
    };
    let mut parts = day.split('-');
    let mut fields = vec![year(parts.next()?)?];
    for part in parts {
        fields.push(digits(part, 2)?);
    }
    if fields.len() > 3 {
        return None;
    }
    let day = period(&fields)?;
    match time {
        None => Some(day),
        Some(time) if fields.len() == 3 => {
            let (seconds, has_zone) = time_of_day(time)?;
            let second = day.start + seconds;
            Some(Time { start: second, end: second, has_zone })
        }
        Some(_) => None,
    }
}

/// Reads `10:00`, `10:00:00` or `10:00:00.5`, with `Z` or an offset such as `+01:00` after it.
/// Returns the seconds since midnight in UTC, and whether the text has a time zone.
fn time_of_day(text: &str) -> Option<(f64, bool)> {
    let zone = text.find(['Z', 'z', '+', '-']);
    let (clock, offset) = match zone {
        None => (text, 0),
        Some(at) if text[at..].eq_ignore_ascii_case("Z") => (&text[..at], 0),
        Some(at) => {
            let (sign, rest) = (if text.as_bytes()[at] == b'-' { -1 } else { 1 }, &text[at + 1..]);
            let (hours, minutes) = rest.split_once(':')?;
            let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            (&text[..at], sign * (hours * 3600 + minutes * 60))
        }
    };
    let mut parts = clock.split(':');
    let (hours, minutes) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let seconds: f64 = match parts.next() {
        None => 0.0,
        Some(seconds) => {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
            digits(whole, 2)?;
            digits(fraction, fraction.len()).filter(|_| !fraction.is_empty())?;
            seconds.parse().ok()?
        }
    };
    let is_time = hours < 24 && minutes < 60 && seconds < 61.0 && parts.next().is_none();
    let second = (hours * 3600 + minutes * 60 - offset) as f64 + seconds;
    is_time.then_some((second, zone.is_some()))
}

/// Returns the period of a year, a month or a day, or `None` if the calendar has no such day.
pub fn period(fields: &[i64]) -> Option<Time> {
    let (year, month, day) = (fields[0], fields.get(1).copied(), fields.get(2).copied());
    let (from, to) = match (month, day) {
        (None, _) => (days(year, 1, 1)?, days(year + 1, 1, 1)?),
        (Some(12), None) => (days(year, 12, 1)?, days(year + 1, 1, 1)?),
        (Some(month), None) => (days(year, month, 1)?, days(year, month + 1, 1)?),
        (Some(month), Some(day)) => {
            let first = days(year, month, 1)?;
            let next = if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
            let from = first + day - 1;
            if day < 1 || from >= next? {
                return None;
            }
            (from, from + 1)
        }
    };
    let [start, end] = [from, to].map(|day| (day * SECONDS_A_DAY) as f64);
    Some(Time { start, end, has_zone: false })
}

/// Returns the number of days from 1970-01-01 to a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) {
        return None;
    }
    // A year that begins in March has the leap day as its last day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(365 * year + leaps + (153 * month + 2) / 5 + day - 1 + MARCH_FIRST_OF_YEAR_0)
}

/// Returns the year, the month and the day, given the number of days since 1970-01-01.
pub fn day_of(days: i64) -> [i64; 3] {
    const DAYS_OF_400_YEARS: i64 = 146_097;
    let since = days - MARCH_FIRST_OF_YEAR_0;
    let (era, day) = (since.div_euclid(DAYS_OF_400_YEARS), since.rem_euclid(DAYS_OF_400_YEARS));
    // The last day of 4 years, and of 400 years, is the day that years of 365 days lack.
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let is_next_year = month >= 10;
    let month = if is_next_year { month - 9 } else { month + 3 };
    [era * 400 + year + i64::from(is_next_year), month, day]
}

/// The first day of this module's calendar, as the number of days since 1970-01-01.
const MARCH_FIRST_OF_YEAR_0: i64 = -719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_that_whose_number_it_has() {
        let (first, last) = (days(1600, 2, 28).unwrap(), days(2404, 3, 1).unwrap());
        for day in first..=last {
            let [year, month, date] = day_of(day);
            assert_eq!(days(year, month, date), Some(day), "{year}-{month}-{date}");
            assert!(period(&[year, month, date]).is_some(), "{year}-{month}-{date}");
        }
    }
}
