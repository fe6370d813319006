//! The kinds of the nodes of a tree, and their places in the text.

use super::grammar::{NodeGrammar, NodeKind, grammar};
use super::{LANGUAGES, NAMES};
use std::sync::OnceLock;
use tree_sitter::{Language, Node};

/// The kinds of the nodes of a grammar, so that kind names are examined once and not for each node.
pub(super) struct NodeKinds {
    grammar: NodeGrammar,
    /// The properties of the kinds, by number.
    all: Vec<NodeKind>,
}

impl NodeKinds {
    fn new(grammar: NodeGrammar) -> NodeKinds {
        let language = Language::from(grammar.language);
        let name = |number: usize| language.node_kind_for_id(number as u16).unwrap_or_default();
        let all = (0..language.node_kind_count()).map(|number| grammar.kind(name(number)));
        NodeKinds { grammar, all: all.collect() }
    }

    pub(super) fn of(&self, node: Node<'_>) -> NodeKind {
        // The kind of errors has a number beyond the list.
        let kind = self.all.get(usize::from(node.kind_id()));
        kind.copied().unwrap_or_else(|| self.grammar.kind(node.kind()))
    }
}

/// Returns the kinds of the language with this name, which the build must include.
pub(super) fn kinds(name: &str) -> &'static NodeKinds {
    static ALL: [OnceLock<NodeKinds>; LANGUAGES.len()] =
        [const { OnceLock::new() }; LANGUAGES.len()];
    let number = NAMES.iter().position(|known| *known == name).expect("a language has a number");
    ALL[number].get_or_init(|| NodeKinds::new(grammar(name)))
}

pub(super) fn start_of(text: &str, node: Node<'_>) -> usize {
    node.start_byte().min(text.len())
}

/// Returns where a node ends in the text. The parser may read more than the text
/// ([`NodeGrammar::tail`]).
pub(super) fn end_of(text: &str, node: Node<'_>) -> usize {
    node.end_byte().min(text.len())
}
