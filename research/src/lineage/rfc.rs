//! Facts from the headers of RFCs: dates, and lists of obsolete RFCs.

use std::collections::{BTreeMap, BTreeSet};

use super::{Known, Truth};
use crate::Result;
use crate::notices::MONTHS;

/// The header is within this number of lines.
const HEADER_LINES: usize = 60;

/// Returns the truth for RFCs with ids such as `rfc2616`. Histories are divided into two halves.
pub fn truth<'a>(texts: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Truth> {
    let mut named: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (id, text) in texts {
        let number = id.strip_prefix("rfc").and_then(|number| number.parse().ok());
        let number = number.ok_or_else(|| format!("{id}: an id such as rfc2616 was expected"))?;
        named.insert(number, obsoleted(text));
    }
    // Ignores RFCs outside of the corpus, and RFCs that are not older.
    let numbers: BTreeSet<u64> = named.keys().copied().collect();
    for (number, older) in &mut named {
        older.retain(|older| older < number && numbers.contains(older));
    }
    let mut all: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    let mut history: BTreeMap<u64, u64> = BTreeMap::new();
    for (&number, older) in &named {
        let before = older.iter().flat_map(|older| all[older].iter().copied().chain([*older]));
        let before = before.collect();
        all.insert(number, before);
        let mut joined: BTreeSet<u64> = older.iter().map(|older| history[older]).collect();
        joined.insert(number);
        let first = joined.first().copied().unwrap_or(number);
        history.insert(number, first);
        history.values_mut().filter(|of| joined.contains(of)).for_each(|of| *of = first);
    }
    let firsts: BTreeSet<u64> = history.values().copied().collect();
    let places: BTreeMap<u64, usize> = firsts.into_iter().zip(0..).collect();
    let known = |(number, older): (&u64, &BTreeSet<u64>)| {
        let is_direct = |of: &&u64| !older.iter().any(|between| all[between].contains(*of));
        let direct = older.iter().filter(is_direct).map(|of| format!("rfc{of}")).collect();
        let history = history[number];
        let chosen_by = places[&history] % 2 == 0;
        let known = Known { order: *number, history: format!("rfc{history}"), direct, chosen_by };
        (format!("rfc{number}"), known)
    };
    Ok(named.iter().map(known).collect())
}

/// Returns the numbers of the field `Obsoletes` of the header.
fn obsoleted(text: &str) -> BTreeSet<u64> {
    let mut numbers = BTreeSet::new();
    let mut lines = text.lines().take(HEADER_LINES);
    let Some(first) = lines.find_map(|line| line.trim_start().strip_prefix("Obsoletes")) else {
        return numbers;
    };
    let first = first.trim_start_matches([':', ' ']);
    for (at, line) in [first].into_iter().chain(lines).enumerate() {
        // The right column has authors and the date.
        let left = line.trim_start().split("   ").next().unwrap_or_default();
        let left = left.split("NIC").next().unwrap_or_default();
        let words = left.split([' ', ',', '#', '(', ')', '&', ';', '.']);
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let number = |word: &&str| {
            word.trim_start_matches("RFC-").trim_start_matches("RFC").parse::<u64>().ok()
        };
        let is_list = words
            .iter()
            .all(|word| number(word).is_some() || ["RFC", "RFCs", "RFC's", "and"].contains(word));
        if words.is_empty() || (at > 0 && !is_list) {
            break;
        }
        numbers.extend(words.iter().filter_map(number));
    }
    numbers
}

/// Returns the date of the header: a day or a month.
pub fn date(text: &str) -> Option<String> {
    let words: Vec<&str> = text
        .lines()
        .take(HEADER_LINES)
        .flat_map(|line| line.split([' ', ',', '-']))
        .filter(|word| !word.is_empty())
        .collect();
    let number = |at: Option<usize>, least: u32, most: u32| {
        let number = words.get(at?)?.parse::<u32>().ok()?;
        (least..=most).contains(&number).then_some(number)
    };
    let year = |at: usize| number(Some(at), 1969, 1999);
    (0..words.len()).find_map(|at| {
        let is_month = |month: &&&str| {
            words[at].eq_ignore_ascii_case(month)
                || (words[at].len() == 3 && month[..3].eq_ignore_ascii_case(words[at]))
        };
        let month = 1 + MONTHS.iter().position(|month| is_month(&month))?;
        match (number(Some(at + 1), 1, 31), year(at + 1)) {
            (_, Some(year)) => Some(match number(at.checked_sub(1), 1, 31) {
                Some(day) => format!("{year}-{month:02}-{day:02}"),
                None => format!("{year}-{month:02}"),
            }),
            (Some(day), None) => Some(format!("{}-{month:02}-{day:02}", year(at + 2)?)),
            (None, None) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_names_obsoleted_rfcs_in_its_left_column() {
        let check = |text: &str, expected: &[u64]| {
            assert_eq!(obsoleted(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
        };
        check(
            "Obsoletes: 2400, 2300,                 R. Braden\n1800, 1780     June 1999\nSTD: 1",
            &[1780, 1800, 2300, 2400],
        );
        check("x\nObsoletes: RFCs 66, 80\nUpdates: RFCs 98, 101\n", &[66, 80]);
        check("Obsoletes: RFC 88 (NIC 5668)                15 July 1971\n", &[88]);
        check("Obsoletes:  None\n\n132", &[]);
        check("Obsoletes: #132\n\n 140", &[132]);
        check("Obsoletes: RFC821, RFC-822 and 823   May 25, 1971\nNIC: 7191", &[821, 822, 823]);
    }

    #[test]
    fn a_date_is_as_precise_as_the_header() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(date(text).as_deref(), expected, "{text}");
        };
        check("Steve Crocker\n   7 April 1969\n", Some("1969-04-07"));
        check("ISI\n   September 1981\n", Some("1981-09"));
        check("Obsoletes: 123    May 25, 1971\n", Some("1971-05-25"));
        check("15-JUL-71", None);
        check("may 2 or more", None);
    }

    #[test]
    fn a_direct_ancestor_is_obsoleted_by_no_other_one() {
        let texts = [
            ("rfc1", "x"),
            ("rfc2", "Obsoletes: 1"),
            ("rfc3", "Obsoletes: 1, 2, 9"),
            ("rfc4", "Obsoletes: 5"),
            ("rfc5", ""),
        ];
        let truth = truth(texts.into_iter()).expect("the ids are numbers");
        assert_eq!(truth["rfc3"].direct, ["rfc2"]);
        assert_eq!(truth["rfc3"].history, "rfc1");
        // A later RFC is no ancestor.
        assert!(truth["rfc4"].direct.is_empty());
        assert!(truth["rfc1"].chosen_by && !truth["rfc4"].chosen_by && truth["rfc5"].chosen_by);
    }
}
