//! Clusters of documents that pairs connect, and their drawing.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use serde::Serialize;

use crate::number::decimals;
use cento_collections::lineage::DirectionBy;

/// The ids of two documents, and their similarity, 0 to 1, or another weight.
pub type Edge<'a> = (&'a str, &'a str, f64);

/// An edge, and the reason for its direction, if the edge has a direction.
pub(crate) type Told<'a> = (Edge<'a>, Option<DirectionBy>);

/// Documents, or groups of documents, that pairs connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cluster {
    /// The number of the cluster, from 1 for the largest.
    pub cluster: usize,
    /// The number of its members.
    pub size: usize,
    /// The ids of documents, or the names of groups, in order.
    pub members: Vec<String>,
}

/// Returns the clusters of documents that pairs connect, the largest first. Clusters of equal size
/// are in the order of their first ids.
///
/// ```
/// let pairs = [("ann", "ben"), ("ben", "cem"), ("dee", "eva")];
/// let clusters = cento_report::clusters(pairs.into_iter());
/// assert_eq!(clusters.len(), 2);
/// assert_eq!(clusters[0].members, ["ann", "ben", "cem"]);
/// ```
pub fn clusters<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Cluster> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut parents: Vec<usize> = Vec::new();
    let root = |parents: &[usize], mut at: usize| {
        while parents[at] != at {
            at = parents[at];
        }
        at
    };
    for (a, b) in pairs {
        let [a, b] = [a, b].map(|id| {
            let number = *numbers.entry(id).or_insert(parents.len());
            if number == parents.len() {
                parents.push(number);
            }
            root(&parents, number)
        });
        parents[a] = b;
    }
    let mut members: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (id, &number) in &numbers {
        members.entry(root(&parents, number)).or_default().push((*id).to_owned());
    }
    let mut clusters: Vec<Vec<String>> = members.into_values().collect();
    clusters.iter_mut().for_each(|ids| ids.sort_unstable());
    clusters.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    let numbered = (1..).zip(clusters);
    numbered.map(|(cluster, members)| Cluster { cluster, size: members.len(), members }).collect()
}

/// The direction of the edges of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Both documents are alike.
    None,
    /// An edge leads from the first document to the second.
    FirstToSecond,
}

impl Direction {
    /// Returns the name of the direction in GraphML.
    pub fn name(self) -> &'static str {
        match self {
            Direction::None => "undirected",
            Direction::FirstToSecond => "directed",
        }
    }
}

/// Returns pairs with their similarities, and the reasons for their direction, as a graph in the
/// language of Graphviz. Documents of a cluster stay together.
pub fn dot(direction: Direction, edges: &[Told<'_>]) -> String {
    let (kind, edge) = match direction {
        Direction::None => ("graph", "--"),
        Direction::FirstToSecond => ("digraph", "->"),
    };
    let mut text = format!("{kind} pairs {{\n    node [shape=box];\n");
    for Cluster { cluster, members, .. } in clusters(edges.iter().map(|&((a, b, _), _)| (a, b))) {
        let ids = members.iter().map(|id| quoted(id)).collect::<Vec<_>>().join("; ");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    subgraph cluster_{cluster} {{ {ids}; }}");
    }
    for ((a, b, similarity), by) in edges {
        // Lengths suggest a direction, but not for certain. The order of addition suggests no
        // direction.
        let style = match by {
            None | Some(DirectionBy::Date) => "",
            Some(DirectionBy::Length) => ", style=dashed",
            Some(DirectionBy::Added | DirectionBy::Unknown) => ", style=dashed, dir=none",
        };
        let (a, b, width) = (quoted(a), quoted(b), 1.0 + 4.0 * similarity.min(1.0));
        let _ = writeln!(
            text,
            "    {a} {edge} {b} [label=\"{}\", weight={:.0}, penwidth={width:.1}{style}];",
            decimals(*similarity, 2),
            100.0 * similarity
        );
    }
    text + "}\n"
}

fn quoted(id: &str) -> String {
    let mut quoted = String::from("\"");
    for c in id.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_connected_by_pairs_are_a_cluster() {
        let found = clusters([("b", "a"), ("x", "y"), ("c", "d"), ("b", "c")].into_iter());
        let members: Vec<_> = found.iter().map(|cluster| cluster.members.join(" ")).collect();
        assert_eq!(members, ["a b c d", "x y"]);
        assert_eq!((found[0].cluster, found[0].size), (1, 4));
    }

    #[test]
    fn names_cannot_leave_their_quotes() {
        let drawn = dot(Direction::None, &[(("a\"b", "c\\\n", 0.5), None)]);
        assert!(
            drawn.contains(r#""a\"b" -- "c\\ " [label="0.50", weight=50, penwidth=3.0];"#),
            "{drawn}"
        );
        assert!(drawn.contains(r#"subgraph cluster_1 { "a\"b"; "c\\ "; }"#), "{drawn}");
    }
}
