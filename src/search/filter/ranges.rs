//! Can the two ends of a range be compared with the same values?
//!
//! tantivy takes the type of a range over `meta` from one end and answers an end of another type
//! with a panic, also if one is a whole number and the other a fraction.

use tantivy::json_utils::convert_to_fast_value_and_append_to_json_term;
use tantivy::query_grammar::{Occur, UserInputAst, UserInputBound, UserInputLeaf};
use tantivy::schema::{Field, Term, Type};

/// Makes two ranges of each whose ends are numbers of different types, with one end each.
///
/// # Errors
/// When the ends of a range over `meta` are of types that cannot be compared, as a clause.
pub(super) fn split(ast: &mut UserInputAst, is_meta: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let leaf = match ast {
        UserInputAst::Clause(clauses) => {
            return clauses.iter_mut().try_for_each(|(_, clause)| split(clause, is_meta));
        }
        UserInputAst::Boost(inner, _) => return split(inner, is_meta),
        UserInputAst::Leaf(leaf) => leaf,
    };
    let UserInputLeaf::Range { field: Some(name), lower, upper } = leaf.as_ref() else {
        return Ok(());
    };
    let (Some(least), Some(most)) = (end(lower), end(upper)) else { return Ok(()) };
    let types = [least, most].map(type_of);
    if !is_meta(name) || types[0] == types[1] {
        return Ok(());
    }
    if !types.iter().all(|end| matches!(end, Type::I64 | Type::U64 | Type::F64)) {
        return Err(format!("`{least}` and `{most}` are no ends of one range: their types differ"));
    }
    let half = |lower: &UserInputBound, upper: &UserInputBound| {
        let (field, lower, upper) = (Some(name.clone()), lower.clone(), upper.clone());
        let range = UserInputLeaf::Range { field, lower, upper };
        (Some(Occur::Must), UserInputAst::Leaf(Box::new(range)))
    };
    let unbounded = UserInputBound::Unbounded;
    *ast = UserInputAst::Clause(vec![half(lower, &unbounded), half(&unbounded, upper)]);
    Ok(())
}

fn end(bound: &UserInputBound) -> Option<&str> {
    match bound {
        UserInputBound::Inclusive(text) | UserInputBound::Exclusive(text) => Some(text),
        UserInputBound::Unbounded => None,
    }
}

/// What tantivy takes an end for.
fn type_of(end: &str) -> Type {
    let empty = Term::from_field_json_path(Field::from_field_id(0), "", false);
    let term = convert_to_fast_value_and_append_to_json_term(&empty, end, false);
    let value = term.as_ref().and_then(|term| term.value().as_json_value_bytes());
    value.map_or(Type::Str, |value| value.typ())
}
