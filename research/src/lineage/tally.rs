//! Compares a lineage with the truth.

use std::collections::BTreeMap;
use std::fmt;

use cento_collections::lineage::Descent;

use super::Truth;

/// Counts for the documents of one half.
#[derive(Debug, Default)]
pub struct Tally {
    /// Documents with a true direct ancestor, then how many of these have a found link with a
    /// direct ancestor, with a further document of their history, with an unrelated document, and
    /// with no document.
    versions: u64,
    direct: u64,
    of_history: u64,
    another: u64,
    none: u64,
    /// Documents without a true ancestor, and how many of these got an ancestor outside their
    /// history.
    firsts: u64,
    given: u64,
    /// Links within a history: from the earlier to the later document, and backwards.
    right: u64,
    wrong: u64,
    /// A line for each difference from the truth.
    pub differences: Vec<String>,
}

impl Tally {
    /// Compares an answer with the truth, for one half. Links are looked at from both sides, since
    /// without dates the later document may have been taken for the ancestor.
    pub fn new(truth: &Truth, answer: &[Descent], chosen_by: bool) -> Tally {
        let mut linked: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let by_id: BTreeMap<&str, &Descent> = answer.iter().map(|row| (&*row.id, row)).collect();
        for row in answer {
            if let Some(ancestor) = &row.ancestor {
                linked.entry(&row.id).or_default().push(ancestor);
                linked.entry(ancestor).or_default().push(&row.id);
            }
        }
        let mut tally = Tally::default();
        for (id, known) in truth.iter().filter(|(_, known)| known.chosen_by == chosen_by) {
            let is_of_history = |other: &str| truth[other].history == known.history;
            let row = by_id.get(id.as_str());
            let ancestor = row.and_then(|row| row.ancestor.as_deref());
            let links = linked.get(id.as_str()).map_or(&[][..], |links| links);
            let shown = |what: &str| {
                let shares = row.and_then(|row| row.similarity.as_ref()).map(|found| {
                    format!(
                        "{:.3} new, {:.3} left out",
                        1.0 - found.containment_of_b,
                        1.0 - found.containment_of_a
                    )
                });
                let (ancestor, shares) = (ancestor.unwrap_or("-"), shares.unwrap_or_default());
                format!("{what}: {id} of {ancestor} {shares}; truth: {}", known.direct.join(", "))
            };
            if let Some(ancestor) = ancestor.filter(|ancestor| is_of_history(ancestor)) {
                match truth[ancestor].order < known.order {
                    true => tally.right += 1,
                    false => tally.wrong += 1,
                }
            }
            if known.direct.is_empty() {
                tally.firsts += 1;
                if ancestor.is_some_and(|ancestor| !is_of_history(ancestor)) {
                    tally.given += 1;
                    tally.differences.push(shown("given"));
                }
                continue;
            }
            tally.versions += 1;
            if links.iter().any(|link| known.direct.iter().any(|direct| direct == link)) {
                tally.direct += 1;
                continue;
            }
            let count = match ancestor {
                Some(ancestor) if is_of_history(ancestor) => &mut tally.of_history,
                Some(_) => &mut tally.another,
                None => &mut tally.none,
            };
            *count += 1;
            tally.differences.push(shown("missed"));
        }
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { versions, direct, of_history, another, none, .. } = self;
        let Tally { firsts, given, right, wrong, .. } = self;
        write!(
            f,
            "{versions} | {direct} | {of_history} | {another} | {none} | {firsts} | {given} | \
             {right} | {wrong}"
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Known;
    use super::*;

    #[test]
    fn a_link_counts_from_both_sides_and_its_direction_apart() {
        let known = |order: u64, history: &str, direct: &[&str]| Known {
            order,
            history: history.to_owned(),
            direct: direct.iter().map(|&id| id.to_owned()).collect(),
            chosen_by: true,
        };
        let truth = Truth::from([
            ("a1".to_owned(), known(1, "a", &[])),
            ("a2".to_owned(), known(2, "a", &["a1"])),
            ("a3".to_owned(), known(3, "a", &["a2"])),
            ("b1".to_owned(), known(1, "b", &[])),
            ("b2".to_owned(), known(2, "b", &["b1"])),
        ]);
        let row = |id: &str, ancestor: Option<&str>| -> Descent {
            serde_json::from_value(json!({
                "tree": 1, "depth": 0, "id": id, "tokens": 9, "ancestor": ancestor,
            }))
            .expect("a row")
        };
        let answer =
            [row("a2", None), row("a1", Some("a2")), row("a3", Some("a1")), row("b1", Some("a3"))];
        let tally = Tally::new(&truth, &answer, true);
        assert_eq!(tally.to_string(), "3 | 1 | 1 | 0 | 1 | 2 | 1 | 1 | 1");
        assert_eq!(
            Tally::new(&truth, &answer, false).to_string(),
            "0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0"
        );
    }
}
