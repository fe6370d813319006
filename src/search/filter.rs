//! Which documents may be hits, by what the caller knows of them?
//!
//! A filter is a tantivy query. It is not run over the index: the candidates of a search are
//! looked up in it, so that its cost follows them.

use tantivy::query::{EnableScoring, QueryParser, Weight};
use tantivy::query_grammar::{
    Delimiter, Occur, UserInputAst, UserInputBound, UserInputLeaf, UserInputLiteral, parse_query,
};
use tantivy::{DocSet, TERMINATED};

use crate::error::{Error, Result};
use crate::index::Snapshot;

/// The field with the caller's id.
const ID: &str = "id";
/// The field with what the caller knows of a document.
const META: &str = "meta";

/// A filter, ready to be asked.
pub struct Filter<'a> {
    snapshot: &'a Snapshot,
    text: &'a str,
    weight: Box<dyn Weight>,
}

impl Filter<'_> {
    /// The filter that `text` describes; a field that the index does not have is one of `meta`, and
    /// `id:abc*` means all ids that begin so.
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
        let mut parser = QueryParser::for_index(searcher.index(), vec![meta]);
        parser.allow_regexes();
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

/// The range of ids that begin as the literal says, if it is such a one. tantivy knows prefixes of
/// phrases only, and takes the star for a part of the id.
fn id_prefix(literal: &UserInputLiteral) -> Option<UserInputLeaf> {
    if literal.field_name.as_deref() != Some(ID) {
        return None;
    }
    let prefix = match literal.delimiter {
        Delimiter::None => literal.phrase.strip_suffix('*')?,
        _ if literal.prefix => &literal.phrase,
        _ => return None,
    };
    // The least string after all that begin with the prefix ends in its last character's
    // successor; there is none after the last character of all.
    let mut chars: Vec<char> = prefix.chars().collect();
    let mut upper = UserInputBound::Unbounded;
    while let Some(last) = chars.pop() {
        if let Some(next) = (last..=char::MAX).nth(1) {
            chars.push(next);
            upper = UserInputBound::Exclusive(chars.into_iter().collect());
            break;
        }
    }
    let lower = UserInputBound::Inclusive(prefix.into());
    Some(UserInputLeaf::Range { field: Some(ID.into()), lower, upper })
}

/// Puts `meta.` before the fields of a query that the index does not have.
fn qualify(ast: &mut UserInputAst, is_unknown: &dyn Fn(&str) -> bool) {
    let leaf = match ast {
        UserInputAst::Clause(clauses) => {
            clauses.iter_mut().for_each(|(_, clause)| qualify(clause, is_unknown));
            // "Not this" is said of all documents; tantivy wants to hear it.
            if clauses.iter().all(|(occur, _)| *occur == Some(Occur::MustNot)) {
                let all = UserInputAst::Leaf(Box::new(UserInputLeaf::All));
                clauses.push((Some(Occur::Must), all));
            }
            return;
        }
        UserInputAst::Boost(inner, _) => return qualify(inner, is_unknown),
        UserInputAst::Leaf(leaf) => leaf.as_mut(),
    };
    if let UserInputLeaf::Literal(literal) = &*leaf
        && let Some(range) = id_prefix(literal)
    {
        *leaf = range;
        return;
    }
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
