//! Finds the first document among versions without dates.
//!
//! A single version says little about its direction, because it may add or leave out text. All
//! versions of a document say more. The most similar documents are linked to a tree (a maximum
//! spanning tree of resemblance). With the right root, versions add most and leave out least if
//! links lead away from the root. If documents of the tree have dates, the path from the earliest
//! to the latest must lead away from the root.

use std::cmp::Reverse;

use crate::sets::Sets;
use cento_api::error::Result;
use cento_text::runtime::Stop;

/// Two documents that share text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    pub a: u32,
    pub b: u32,
    pub resemblance: f64,
    /// How much more `b` adds than it leaves out of `a`. Negative if `b` leaves out more.
    pub growth: i64,
}

/// The place of a document in its tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The number of links to the root.
    pub level: u32,
    /// Whether the link towards the root has a certain direction, because a root behind the
    /// document would make versions add less.
    pub tells_direction: bool,
}

/// More than the growth of a whole tree, so that dates count for more than lengths.
const BY_DATE: i128 = 1 << 96;

/// Returns the places of the documents. `ends` gets ascending documents and returns the earliest
/// and the latest by date, if their dates differ.
///
/// # Errors
/// [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
pub fn places(
    documents: usize,
    mut links: Vec<Link>,
    ends: impl Fn(&[u32]) -> Option<(u32, u32)>,
    stop: &Stop,
) -> Result<Vec<Place>> {
    links.sort_by(|one, other| {
        let by_resemblance = other.resemblance.total_cmp(&one.resemblance);
        by_resemblance.then((one.a, one.b).cmp(&(other.a, other.b)))
    });
    let mut near: Vec<Vec<(u32, i64)>> = vec![Vec::new(); documents];
    let mut sets = Sets::new(documents);
    for (at, &Link { a, b, growth, .. }) in links.iter().enumerate() {
        stop.check_at(at)?;
        if sets.unite(a as usize, b as usize) {
            near[a as usize].push((b, growth));
            near[b as usize].push((a, -growth));
        }
    }
    let mut places = vec![Place::default(); documents];
    let mut is_done = vec![false; documents];
    for start in 0..documents as u32 {
        stop.check_at(start as usize)?;
        if is_done[start as usize] || near[start as usize].is_empty() {
            continue;
        }
        for (document, place) in of_tree(&near, start, &ends) {
            is_done[document as usize] = true;
            places[document as usize] = place;
        }
    }
    Ok(places)
}

/// A document of a tree, listed after its predecessor on the path from the start.
struct TreeVisit {
    document: u32,
    /// The place of the predecessor in the list, 0 for the first document.
    from: usize,
    level: u32,
    growth: i128,
}

fn visits(near: &[Vec<(u32, i64)>], start: u32) -> Vec<TreeVisit> {
    let mut visits = vec![TreeVisit { document: start, from: 0, level: 0, growth: 0 }];
    let mut at = 0;
    while at < visits.len() {
        let TreeVisit { document, from, level, .. } = visits[at];
        let before = visits[from].document;
        for &(next, growth) in &near[document as usize] {
            if at == 0 || next != before {
                let growth = i128::from(growth);
                visits.push(TreeVisit { document: next, from: at, level: level + 1, growth });
            }
        }
        at += 1;
    }
    visits
}

/// Returns the places of the documents in the tree of `start`.
fn of_tree(
    near: &[Vec<(u32, i64)>],
    start: u32,
    ends: &impl Fn(&[u32]) -> Option<(u32, u32)>,
) -> Vec<(u32, Place)> {
    let mut visited = visits(near, start);
    let mut members: Vec<u32> = visited.iter().map(|visit| visit.document).collect();
    members.sort_unstable();
    if let Some((earliest, latest)) = ends(&members) {
        // Count how often the path from the earliest to the latest begins or ends behind a
        // document.
        let begins = |visit: &TreeVisit| {
            i128::from(visit.document == earliest) - i128::from(visit.document == latest)
        };
        let mut behind: Vec<i128> = visited.iter().map(begins).collect();
        for at in (1..visited.len()).rev() {
            behind[visited[at].from] += behind[at];
            visited[at].growth -= behind[at] * BY_DATE;
        }
    }
    // The growth of all links with this document as the root, compared with `start` as the root. A
    // link turns around if the root is behind it.
    let mut gains = vec![0i128; visited.len()];
    for at in 1..visited.len() {
        gains[at] = gains[visited[at].from] - 2 * visited[at].growth;
    }
    let best = (0..visited.len()).max_by_key(|&at| (gains[at], Reverse(visited[at].document)));
    let best = best.unwrap_or(0);
    let (root, most) = (visited[best].document, gains[best]);
    let mut gain_of: Vec<(u32, i128)> =
        visited.iter().zip(&gains).map(|(visit, &gain)| (visit.document, gain)).collect();
    gain_of.sort_unstable();
    let from_root = visits(near, root);
    let gain = |visit: &TreeVisit| {
        let at = gain_of.binary_search_by_key(&visit.document, |&(document, _)| document);
        at.map_or(i128::MIN, |at| gain_of[at].1)
    };
    let mut best_behind: Vec<i128> = from_root.iter().map(gain).collect();
    for at in (1..from_root.len()).rev() {
        let from = from_root[at].from;
        best_behind[from] = best_behind[from].max(best_behind[at]);
    }
    let place = |(visit, &behind): (&TreeVisit, &i128)| {
        (visit.document, Place { level: visit.level, tells_direction: behind < most })
    };
    from_root.iter().zip(&best_behind).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn levels(documents: usize, links: &[(u32, u32, i64)]) -> Vec<(u32, bool)> {
        let links = links.iter().map(|&(a, b, growth)| Link { a, b, resemblance: 0.5, growth });
        let places = places(documents, links.collect(), |_| None, Stop::NEVER).unwrap();
        places.iter().map(|place| (place.level, place.tells_direction)).collect()
    }

    #[test]
    fn one_version_that_leaves_out_does_not_turn_a_history_round() {
        let found = levels(4, &[(0, 1, 5), (1, 2, -2), (2, 3, 6)]);
        assert_eq!(found, [(0, false), (1, true), (2, true), (3, true)]);
        let found = levels(4, &[(3, 2, 5), (2, 1, -2), (1, 0, 6)]);
        assert_eq!(found, [(3, true), (2, true), (1, true), (0, false)]);
    }

    #[test]
    fn copies_do_not_tell_which_was_first() {
        assert_eq!(levels(3, &[(0, 1, 0), (1, 2, 4)]), [(0, false), (1, false), (2, true)]);
    }

    #[test]
    fn dates_count_for_more_than_lengths() {
        let links = [(0, 1, -5), (1, 2, -9)];
        let links = links.map(|(a, b, growth)| Link { a, b, resemblance: 0.5, growth });
        let places = places(3, links.to_vec(), |_| Some((0, 2)), Stop::NEVER).unwrap();
        assert_eq!(places.iter().map(|place| place.level).collect::<Vec<_>>(), [0, 1, 2]);
    }

    proptest! {
        /// Compares the root with a trial of every root.
        #[test]
        fn the_root_is_that_of_a_trial_of_all(
            some in prop::collection::vec((any::<prop::sample::Index>(), -9i64..9), 1..12),
        ) {
            let tree: Vec<(u32, u32, i64)> = (1u32..).zip(&some)
                .map(|(b, (a, growth))| (a.index(b as usize) as u32, b, *growth))
                .collect();
            let total = |root: u32| {
                let (mut reached, mut total) = (vec![root], 0);
                let mut left = tree.clone();
                while !left.is_empty() {
                    left.retain(|&(a, b, growth)| {
                        let (is_a, is_b) = (reached.contains(&a), reached.contains(&b));
                        match (is_a, is_b) {
                            (true, _) => { total += growth; reached.push(b); false }
                            (_, true) => { total -= growth; reached.push(a); false }
                            _ => true,
                        }
                    });
                }
                total
            };
            let all = 0..=some.len() as u32;
            let expected = all.max_by_key(|&root| (total(root), Reverse(root))).unwrap();
            let found = levels(some.len() + 1, &tree);
            let root = found.iter().position(|&(level, _)| level == 0);
            prop_assert_eq!(root, Some(expected as usize));
        }
    }
}
