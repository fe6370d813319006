//! When is it that time of the day again?

use jiff::Zoned;
use jiff::civil::Time;

/// A time of every day, by the clock on the wall.
#[derive(Debug, Clone)]
pub struct Daily {
    time: Time,
    next: Zoned,
}

impl Daily {
    /// From now on.
    pub fn new(time: Time, now: &Zoned) -> Daily {
        Daily { time, next: next(time, now) }
    }

    /// Whether the time has come since this was last asked.
    pub fn is_due(&mut self, now: &Zoned) -> bool {
        let is_due = *now >= self.next;
        if is_due {
            self.next = next(self.time, now);
        }
        is_due
    }
}

/// The next moment at which it is this time. Where the clock is put forward over it, the moment when
/// that is done; where it is twice, the first.
fn next(time: Time, now: &Zoned) -> Zoned {
    let mut date = now.date();
    loop {
        let at = date.to_datetime(time).to_zoned(now.time_zone().clone());
        match (at, date.tomorrow()) {
            (Ok(at), _) if at > *now => return at,
            (_, Ok(tomorrow)) => date = tomorrow,
            // The end of the calendar.
            (_, Err(_)) => return Zoned::new(jiff::Timestamp::MAX, now.time_zone().clone()),
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
        let mut daily = Daily::new(jiff::civil::time(3, 0, 0, 0), &zoned("2026-11-21T02:59[UTC]"));
        assert!(!daily.is_due(&zoned("2026-11-21T02:59:59[UTC]")));
        assert!(daily.is_due(&zoned("2026-11-21T03:00:01[UTC]")));
        assert!(!daily.is_due(&zoned("2026-11-21T03:00:02[UTC]")));
        assert!(!daily.is_due(&zoned("2026-11-22T02:59:59[UTC]")));
        // The machine slept over two of them: one is made up for.
        assert!(daily.is_due(&zoned("2026-11-24T12:00[UTC]")));
        assert!(!daily.is_due(&zoned("2026-11-24T12:00:01[UTC]")));
    }

    #[test]
    fn a_time_that_the_clock_leaves_out_or_has_twice_comes_once() {
        let time = jiff::civil::time(2, 30, 0, 0);
        // Clocks go from 2 to 3 on 29 March, and from 3 to 2 on 25 October 2026.
        let check = |now: &str, expected: &str| {
            assert_eq!(next(time, &zoned(now)), zoned(expected));
        };
        check("2026-03-29T00:00+01:00[Europe/Berlin]", "2026-03-29T03:30+02:00[Europe/Berlin]");
        check("2026-10-25T00:00+02:00[Europe/Berlin]", "2026-10-25T02:30+02:00[Europe/Berlin]");
        check("2026-10-25T02:45+02:00[Europe/Berlin]", "2026-10-26T02:30+01:00[Europe/Berlin]");
    }
}
