//! Numbers as text for people.

pub use cento_api::number::{count, counted};

/// Writes a similarity or a share, 0 to 1, with three decimals.
#[must_use]
pub fn similarity(share: f64) -> String {
    decimals(share, 3)
}

/// Writes a share in per cent with one decimal.
///
/// ```
/// use cento_report::percent;
///
/// assert_eq!(percent(0.225), "22.5 %");
/// // Only a full copy is shown as 100 %.
/// assert_eq!(percent(0.99999), "99.9 %");
/// ```
#[must_use]
pub fn percent(share: f64) -> String {
    let thousandths = rounded(share, 1000);
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

/// Writes a similarity or a share, 0 to 1, with this number of decimals.
#[must_use]
pub fn decimals(share: f64, places: usize) -> String {
    if !(0.0..=1.0).contains(&share) {
        return format!("{share:.places$}");
    }
    let whole = 10u64.pow(places as u32);
    let parts = rounded(share, whole);
    format!("{}.{:0places$}", parts / whole, parts % whole)
}

/// Rounds a share of 0 to 1 to parts of `whole`, half up. Only 1 becomes `whole`, and only 0
/// becomes 0, because a reader takes 1.000 for a copy and 0.000 for nothing in common.
///
/// All displayed similarities and shares are rounded here. The pages use the same rule.
#[must_use]
pub fn rounded(share: f64, whole: u64) -> u64 {
    if share <= 0.0 {
        return 0;
    }
    if share >= 1.0 {
        return whole;
    }
    ((share * whole as f64).round() as u64).clamp(1, whole - 1)
}

/// Writes how many of a list of `things` are shown, and the option for the whole list, or a tip of
/// several words. Returns `None` for a complete list.
///
/// ```
/// use cento_report::shown_of;
///
/// let note = shown_of(20, 1_500, "pairs", "--limit");
/// assert_eq!(note.as_deref(), Some("20 of 1,500 pairs shown; --limit 1500 shows all"));
/// assert_eq!(shown_of(20, 20, "pairs", "--limit"), None);
/// ```
#[must_use]
pub fn shown_of(shown: u64, total: u64, things: &str, option: &str) -> Option<String> {
    let what = format!("{} of {} {things} shown", count(shown), count(total));
    (shown < total).then(|| match option {
        "" => what,
        tip if tip.contains(' ') => format!("{what}; {tip}"),
        option => format!("{what}; {option} {total} shows all"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_have_their_plural() {
        assert_eq!(counted(1, "family"), "1 family");
        assert_eq!(counted(4, "family"), "4 families");
        assert_eq!(counted(1_000, "key"), "1,000 keys");
        assert_eq!(counted(0, "word"), "0 words");
    }

    #[test]
    fn a_share_is_rounded_and_neither_all_nor_nothing_by_rounding() {
        let check = |share: f64, expected: &str| assert_eq!(similarity(share), expected, "{share}");
        for (share, expected) in [
            (0.0, "0.000"),
            (1e-9, "0.001"),
            (0.0014, "0.001"),
            (0.0625, "0.063"),
            (0.4796, "0.480"),
            (0.9994, "0.999"),
            (0.999_999, "0.999"),
            (1.0, "1.000"),
        ] {
            check(share, expected);
        }
        assert_eq!([0.996, 0.479, 0.001].map(|share| rounded(share, 100)), [99, 48, 1]);
        assert_eq!([percent(0.4796), percent(0.9999)], ["48.0 %", "99.9 %"]);
        assert_eq!([decimals(0.99999, 4), decimals(0.5, 2)], ["0.9999", "0.50"]);
        // Numbers outside of 0 to 1 are not clamped.
        assert_eq!([decimals(1.5, 1), decimals(-0.25, 2)], ["1.5", "-0.25"]);
    }

    #[test]
    fn a_list_that_is_cut_says_of_how_many_it_is() {
        let said = shown_of(20, 1180, "pairs", "--limit");
        assert_eq!(said.unwrap(), "20 of 1,180 pairs shown; --limit 1180 shows all");
        let tip = shown_of(20, 1770, "pairs", "--min-similarity 0.5 shows the similar ones");
        assert!(tip.unwrap().ends_with("shown; --min-similarity 0.5 shows the similar ones"));
        assert_eq!(shown_of(5, 12, "pairs", "").unwrap(), "5 of 12 pairs shown");
        assert_eq!(shown_of(3, 3, "pairs", "--limit"), None);
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1234), "1,234");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!([counted(1, "page"), counted(1000, "page")], ["1 page", "1,000 pages"]);
    }
}
