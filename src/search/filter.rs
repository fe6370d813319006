//! Which documents may be hits, by what the caller knows of them?
//!
//! A filter is a tantivy query. It is not run over the index: the candidates of a search are
//! looked up in it, so that its cost follows them.

use tantivy::query::{EnableScoring, QueryParser, Weight};
use tantivy::query_grammar::{UserInputAst, UserInputLeaf, parse_query};
use tantivy::{DocSet, TERMINATED};

use crate::error::{Error, Result};
use crate::index::Snapshot;

/// The field with what the caller knows of a document.
const META: &str = "meta";

/// A filter, ready to be asked.
pub struct Filter<'a> {
    snapshot: &'a Snapshot,
    text: &'a str,
    weight: Box<dyn Weight>,
}

impl Filter<'_> {
    /// The filter that `text` describes; a field that the index does not have is one of `meta`.
    ///
    /// # Errors
    /// When it is no query, or compares things that cannot be compared.
    pub fn new<'a>(snapshot: &'a Snapshot, text: &'a str) -> Result<Filter<'a>> {
        let searcher = snapshot.tantivy();
        let schema = searcher.schema();
        let meta = schema.get_field(META).map_err(|e| refused(text, &e.to_string()))?;
        let mut ast = parse_query(text).map_err(|_| refused(text, "it is no query"))?;
        qualify(&mut ast, &|field| {
            let name = field.split('.').next().unwrap_or(field);
            schema.get_field(name).is_err()
        });
        let parser = QueryParser::for_index(searcher.index(), vec![meta]);
        let query = parser.build_query_from_user_input_ast(ast);
        let query = query.map_err(|e| refused(text, &e.to_string()))?;
        let weight = query.weight(EnableScoring::disabled_from_searcher(searcher));
        let weight = weight.map_err(|e| refused(text, &e.to_string()))?;
        Ok(Filter { snapshot, text, weight })
    }

    /// Keeps those of the ascending documents of a segment that pass.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn retain(&self, segment: usize, docs: &mut Vec<u32>) -> Result<()> {
        if docs.is_empty() {
            return Ok(());
        }
        let reader = self.snapshot.tantivy().segment_reader(segment as u32);
        let scorer = self.weight.scorer(reader, 1.0);
        let mut passing = scorer.map_err(|e| refused(self.text, &e.to_string()))?;
        let mut at = passing.doc();
        docs.retain(|&doc| {
            if at < doc && at != TERMINATED {
                at = passing.seek(doc);
            }
            at == doc
        });
        Ok(())
    }
}

fn refused(filter: &str, why: &str) -> Error {
    Error::Query { what: format!("the filter `{filter}` cannot be used: {why}") }
}

/// Puts `meta.` before the fields of a query that the index does not have.
fn qualify(ast: &mut UserInputAst, is_unknown: &dyn Fn(&str) -> bool) {
    let leaf = match ast {
        UserInputAst::Clause(clauses) => {
            return clauses.iter_mut().for_each(|(_, clause)| qualify(clause, is_unknown));
        }
        UserInputAst::Boost(inner, _) => return qualify(inner, is_unknown),
        UserInputAst::Leaf(leaf) => leaf.as_mut(),
    };
    let field = match leaf {
        UserInputLeaf::Literal(literal) => literal.field_name.as_mut(),
        UserInputLeaf::Range { field, .. }
        | UserInputLeaf::Set { field, .. }
        | UserInputLeaf::Regex { field, .. } => field.as_mut(),
        UserInputLeaf::Exists { field } => Some(field),
        UserInputLeaf::All => None,
    };
    if let Some(field) = field.filter(|field| is_unknown(field)) {
        *field = format!("{META}.{field}");
    }
}
