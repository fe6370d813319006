//! Networks of documents for Gephi, Cytoscape, NetworkX and Graphviz.
//!
//! Nodes are documents with the number of their cluster, edges are pairs with their similarity.
//! GraphML (<http://graphml.graphdrawing.org>) is XML. The language of Graphviz is DOT.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use cento::{Error, Result};
use cento_collections::lineage::DirectionBy;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::graph::{Direction, Edge, Told, clusters, dot};
use crate::number::decimals;

/// A file format of networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// The XML format GraphML.
    GraphMl,
    /// The language of Graphviz.
    Dot,
}

impl Network {
    /// Returns the format that the ending of a file indicates.
    ///
    /// # Errors
    /// [`Error::Input`](Error) for any other ending.
    pub fn of_file(path: &Path) -> Result<Network> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "graphml" => Ok(Network::GraphMl),
            "dot" | "gv" => Ok(Network::Dot),
            _ => Err(Error::input(
                path.display().to_string(),
                "a network is written as .graphml or .dot; end the name of the file in one of them",
            )),
        }
    }

    /// Writes a network. XML cannot represent control characters, so control characters in ids
    /// become spaces.
    ///
    /// ```
    /// use std::path::Path;
    /// use cento_report::Network;
    ///
    /// let network = Network::of_file(Path::new("class.dot"))?;
    /// let graph = network.write(&[("ann", "ben", 0.7)]);
    /// assert!(graph.contains("\"ann\" -- \"ben\""));
    /// # Ok::<(), cento::Error>(())
    /// ```
    #[must_use]
    pub fn write(self, edges: &[Edge<'_>]) -> String {
        let edges: Vec<Told<'_>> = edges.iter().map(|&edge| (edge, None)).collect();
        self.write_with(Direction::None, &edges)
    }

    /// Writes a network whose edges lead from the first document to the second, each with the
    /// reason for its direction. Every edge has a direction, because few programs read networks of
    /// mixed edges.
    #[must_use]
    pub fn write_directed(self, edges: &[(Edge<'_>, DirectionBy)]) -> String {
        let edges: Vec<Told<'_>> = edges.iter().map(|&(edge, by)| (edge, Some(by))).collect();
        self.write_with(Direction::FirstToSecond, &edges)
    }

    fn write_with(self, direction: Direction, edges: &[Told<'_>]) -> String {
        match self {
            Network::Dot => dot(direction, edges),
            Network::GraphMl => xml(|out| graphml(out, direction, edges)),
        }
    }
}

/// Returns the documents of a network with the numbers of their clusters, in the order of ids.
fn nodes(edges: &[Told<'_>]) -> BTreeMap<String, usize> {
    let pairs = edges.iter().map(|&((a, b, _), _)| (a, b));
    let clusters = clusters(pairs).into_iter();
    clusters
        .flat_map(|found| found.members.into_iter().map(move |id| (id, found.cluster)))
        .collect()
}

type Out = Writer<Vec<u8>>;

/// The name of the edge attribute with the reason for the direction.
const BY: &str = "direction_by";

fn xml(write: impl FnOnce(&mut Out) -> io::Result<()>) -> String {
    let mut out = Writer::new_with_indent(Vec::new(), b' ', 2);
    out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))
        .and_then(|()| write(&mut out))
        .expect("memory takes every byte");
    let mut text = String::from_utf8(out.into_inner()).expect("ids are UTF-8");
    text.push('\n');
    text
}

/// Replaces the characters that XML cannot represent.
fn printable(text: &str) -> String {
    let is_none = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if is_none(c) { ' ' } else { c }).collect()
}

fn reason(by: DirectionBy) -> &'static str {
    match by {
        DirectionBy::Date => "date",
        DirectionBy::Length => "length",
        DirectionBy::Added => "added",
        DirectionBy::Unknown => "unknown",
    }
}

fn number(similarity: f64) -> String {
    decimals(similarity, 4)
}

fn graphml(out: &mut Out, direction: Direction, edges: &[Told<'_>]) -> io::Result<()> {
    let nodes = nodes(edges);
    let numbers = numbers(&nodes);
    let root = out
        .create_element("graphml")
        .with_attribute(("xmlns", "http://graphml.graphdrawing.org/xmlns"));
    root.write_inner_content(|out| {
        let keys =
            [("label", "node", "string"), ("cluster", "node", "int"), ("weight", "edge", "double")];
        let by = (direction == Direction::FirstToSecond).then_some((BY, "edge", "string"));
        for (id, of, kind) in keys.into_iter().chain(by) {
            let key = [("id", id), ("for", of), ("attr.name", id), ("attr.type", kind)];
            out.create_element("key").with_attributes(key).write_empty()?;
        }
        let graph = out.create_element("graph").with_attribute(("edgedefault", direction.name()));
        graph.write_inner_content(|out| {
            let data = |out: &mut Out, key: &str, value: &str| -> io::Result<()> {
                let data = out.create_element("data").with_attribute(("key", key));
                data.write_text_content(BytesText::new(value))?;
                Ok(())
            };
            for (id, cluster) in &nodes {
                let number = format!("n{}", numbers[id.as_str()]);
                let node = out.create_element("node").with_attribute(("id", &*number));
                node.write_inner_content(|out| {
                    data(out, "label", &printable(id))?;
                    data(out, "cluster", &cluster.to_string())
                })?;
            }
            for ((a, b, similarity), by) in edges {
                let [a, b] = [a, b].map(|id| format!("n{}", numbers[*id]));
                let edge = [("source", &*a), ("target", &*b)];
                let edge = out.create_element("edge").with_attributes(edge);
                edge.write_inner_content(|out| {
                    data(out, "weight", &number(*similarity))?;
                    by.map_or(Ok(()), |by| data(out, BY, reason(by)))
                })?;
            }
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(())
}

/// The number of each document in the network.
fn numbers(nodes: &BTreeMap<String, usize>) -> BTreeMap<&str, usize> {
    nodes.keys().enumerate().map(|(at, id)| (id.as_str(), at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quick_xml::Reader;

    const EDGES: [Edge<'static>; 3] =
        [("b", "a", 0.25), ("a", "c<&\">\u{1}", 1.0), ("x", "y", 0.5)];

    /// The values of an attribute of all elements with this name, or their texts.
    fn values(text: &str, element: &str, attribute: Option<&str>) -> Vec<String> {
        let (mut reader, mut found, mut is_in) = (Reader::from_str(text), Vec::new(), false);
        loop {
            match reader.read_event().unwrap() {
                Event::Start(e) | Event::Empty(e) if e.name().as_ref() == element => {
                    is_in = attribute.is_none();
                    let named = attribute.and_then(|name| e.try_get_attribute(name).unwrap());
                    found.extend(named.map(|a| {
                        a.normalized_value(quick_xml::XmlVersion::Explicit1_0).unwrap().into_owned()
                    }));
                }
                Event::Text(text) if is_in => found.push(text.to_string()),
                Event::End(_) => is_in = false,
                Event::Eof => return found,
                _ => {}
            }
        }
    }

    #[test]
    fn a_network_in_graphml_has_labels_clusters_and_weights() {
        let text = Network::GraphMl.write(&EDGES);
        assert_eq!(values(&text, "node", Some("id")), ["n0", "n1", "n2", "n3", "n4"]);
        assert_eq!(values(&text, "edge", Some("source")), ["n1", "n0", "n3"]);
        assert_eq!(values(&text, "edge", Some("target")), ["n0", "n2", "n4"]);
        let data = values(&text, "data", None).concat();
        assert!(data.starts_with("a1b1c") && data.contains("x2") && data.contains("y2"), "{data}");
        assert!(data.ends_with("0.25001.00000.5000"), "{data}");
        assert!(text.contains("c&lt;&amp;") && !text.contains('\u{1}'), "{text}");
    }

    #[test]
    fn edges_have_a_direction_if_it_was_requested() {
        let by_date = EDGES.map(|edge| (edge, DirectionBy::Date));
        let check = |form: Network, undirected: &str, directed: &str| {
            assert!(form.write(&EDGES).contains(undirected), "{undirected}");
            let text = form.write_directed(&by_date);
            assert!(text.contains(directed) && !text.contains(undirected), "{text}");
        };
        check(Network::GraphMl, "\"undirected\"", "\"directed\"");
        check(Network::Dot, "\"b\" -- \"a\"", "\"b\" -> \"a\"");
        assert!(Network::Dot.write_directed(&by_date).starts_with("digraph"));
    }

    #[test]
    fn an_edge_has_the_reason_for_its_direction() {
        let [a, b, c] = EDGES;
        let edges = [(a, DirectionBy::Date), (b, DirectionBy::Length), (c, DirectionBy::Added)];
        let graphml = Network::GraphMl.write_directed(&edges);
        let data = values(&graphml, "data", None).concat();
        for reason in ["date", "length", "added"] {
            assert_eq!(data.matches(reason).count(), 1, "{graphml}");
        }
        assert_eq!(graphml.matches("<data key=\"direction_by\">").count(), 3, "{graphml}");
        let dot = Network::Dot.write_directed(&edges);
        assert_eq!(
            (dot.matches("dashed").count(), dot.matches("dir=none").count()),
            (2, 1),
            "{dot}"
        );
    }

    #[test]
    fn the_ending_of_a_file_names_the_form() {
        for (name, form) in
            [("b.GraphML", Network::GraphMl), ("c.dot", Network::Dot), ("d.gv", Network::Dot)]
        {
            assert_eq!(Network::of_file(Path::new(name)).unwrap(), form, "{name}");
        }
        let error = Network::of_file(Path::new("pairs.svg")).unwrap_err().to_string();
        assert!(error.contains("pairs.svg") && error.contains(".graphml"), "{error}");
    }

    #[test]
    fn a_network_without_pairs_is_empty() {
        for form in [Network::GraphMl, Network::Dot] {
            let text = form.write(&[]);
            assert!(!text.contains("node id") && !text.contains("<edge "), "{text}");
        }
    }
}
