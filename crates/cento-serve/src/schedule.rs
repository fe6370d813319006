//! A time of day, and its next occurrence.

use std::time::SystemTime;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// A time of every day, in local time.
#[derive(Debug, Clone)]
pub struct Daily {
    time: Time,
    /// `None` after the last occurrence in the calendar.
    next: Option<Zoned>,
}

/// Returns the local time, if the calendar includes it.
pub fn now(time: SystemTime) -> Option<Zoned> {
    Some(Timestamp::try_from(time).ok()?.to_zoned(TimeZone::system()))
}

impl Daily {
    /// Returns the schedule from now on, which is empty without a current time.
    pub fn new(time: Time, now: Option<&Zoned>) -> Daily {
        Daily { time, next: now.and_then(|now| next(time, now)) }
    }

    /// Tells whether the time has come since the last check.
    pub fn is_due(&mut self, now: &Zoned) -> bool {
        let is_due = self.next.as_ref().is_some_and(|next| now >= next);
        if is_due {
            self.next = next(self.time, now);
        }
        is_due
    }
}

/// Returns the next moment with this local time. If the clock is put forward over the time, returns
/// the moment of the change. If the time occurs twice, returns the first occurrence. Returns `None`
/// after the end of the calendar, which is the year 9999.
fn next(time: Time, now: &Zoned) -> Option<Zoned> {
    let mut date = now.date();
    loop {
        match date.to_datetime(time).to_zoned(now.time_zone().clone()) {
            Ok(at) if at > *now => return Some(at),
            _ => date = date.tomorrow().ok()?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zoned(text: &str) -> Zoned {
        text.parse().unwrap()
    }

    #[test]
    fn it_is_due_once_a_day() {
        let start = zoned("2026-11-21T02:59[UTC]");
        let mut daily = Daily::new(jiff::civil::time(3, 0, 0, 0), Some(&start));
        assert!(!daily.is_due(&zoned("2026-11-21T02:59:59[UTC]")));
        assert!(daily.is_due(&zoned("2026-11-21T03:00:01[UTC]")));
        assert!(!daily.is_due(&zoned("2026-11-21T03:00:02[UTC]")));
        assert!(!daily.is_due(&zoned("2026-11-22T02:59:59[UTC]")));
        // The machine slept over two occurrences, but only a single occurrence is made up for.
        assert!(daily.is_due(&zoned("2026-11-24T12:00[UTC]")));
        assert!(!daily.is_due(&zoned("2026-11-24T12:00:01[UTC]")));
    }

    #[test]
    fn a_time_that_the_clock_leaves_out_or_has_twice_comes_once() {
        let time = jiff::civil::time(2, 30, 0, 0);
        // Clocks go from 2 to 3 on 29 March, and from 3 to 2 on 25 October 2026.
        let check = |now: &str, expected: &str| {
            assert_eq!(next(time, &zoned(now)), Some(zoned(expected)));
        };
        check("2026-03-29T00:00+01:00[Europe/Berlin]", "2026-03-29T03:30+02:00[Europe/Berlin]");
        check("2026-10-25T00:00+02:00[Europe/Berlin]", "2026-10-25T02:30+02:00[Europe/Berlin]");
        check("2026-10-25T02:45+02:00[Europe/Berlin]", "2026-10-26T02:30+01:00[Europe/Berlin]");
    }

    #[test]
    fn at_the_end_of_the_calendar_it_is_never_due_again() {
        let time = jiff::civil::time(3, 0, 0, 0);
        for zone in ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Berlin"] {
            let zone = TimeZone::get(zone).unwrap();
            let last = Timestamp::MAX.to_zoned(zone.clone());
            let before = &last - jiff::Span::new().days(3);
            let mut daily = Daily::new(time, Some(&before));
            let mut due = 0;
            for hour in 0..=72 {
                due += u32::from(daily.is_due(&(&before + jiff::Span::new().hours(hour))));
            }
            assert!((2..=3).contains(&due), "{due} times in {zone:?}");
            assert!(!daily.is_due(&last) && !daily.is_due(&last));
        }
    }

    #[test]
    fn a_clock_beyond_the_calendar_shows_nothing() {
        // Once the end of the calendar made the writer panic every second.
        let year = std::time::Duration::from_secs(365 * 86_400);
        assert!(now(SystemTime::UNIX_EPOCH + year * 50).is_some());
        assert_eq!(now(SystemTime::UNIX_EPOCH + year * 8100), None);
        assert_eq!(Daily::new(jiff::civil::time(3, 0, 0, 0), None).next, None);
    }
}
