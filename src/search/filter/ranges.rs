//! Gives both ends of a range the same type.
//!
//! tantivy takes the type of a range over `meta` from one end, and panics if the second end has a
//! different type, even for a whole number and a fraction.

use tantivy::json_utils::convert_to_fast_value_and_append_to_json_term;
use tantivy::query_grammar::{UserInputAst, UserInputBound, UserInputLeaf};
use tantivy::schema::{Field, Term, Type};

/// Below this number, every whole number has fractions next to it.
const WHOLE_MAX: f64 = (1u64 << 52) as f64;

/// Gives both ends of a range the same type. A whole number opposite a fraction is replaced by the
/// adjacent fraction that includes the same numbers.
///
/// # Errors
/// When the types of the ends of a range over `meta` are not comparable. The error is a clause.
pub(super) fn unify(ast: &mut UserInputAst, is_meta: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let leaf = match ast {
        UserInputAst::Clause(clauses) => {
            return clauses.iter_mut().try_for_each(|(_, clause)| unify(clause, is_meta));
        }
        UserInputAst::Boost(inner, _) => return unify(inner, is_meta),
        UserInputAst::Leaf(leaf) => leaf.as_mut(),
    };
    let UserInputLeaf::Range { field: Some(field), lower, upper } = leaf else { return Ok(()) };
    let (Some(least), Some(most)) = (end(lower), end(upper)) else { return Ok(()) };
    if !is_meta(field) {
        return Ok(());
    }
    let unified = match (type_of(least), type_of(most)) {
        (one, other) if one == other => return Ok(()),
        (Type::I64, Type::F64) => whole(least).map(|number| *lower = beside(lower, number, true)),
        (Type::F64, Type::I64) => whole(most).map(|number| *upper = beside(upper, number, false)),
        _ => None,
    };
    unified.ok_or_else(|| {
        let (least, most) = (end(lower).unwrap_or_default(), end(upper).unwrap_or_default());
        format!(
            "`{least}` and `{most}` cannot bound a range: their types differ; give two numbers, \
             two dates or two texts, or `*` for an open end"
        )
    })
}

/// Returns an end as written, or `None` if the range is unbounded there.
pub(super) fn end(bound: &UserInputBound) -> Option<&str> {
    match bound {
        UserInputBound::Inclusive(text) | UserInputBound::Exclusive(text) => Some(text),
        UserInputBound::Unbounded => None,
    }
}

/// Returns the type that tantivy assigns to an end.
pub(super) fn type_of(end: &str) -> Type {
    let empty = Term::from_field_json_path(Field::from_field_id(0), "", false);
    let term = convert_to_fast_value_and_append_to_json_term(&empty, end, false);
    term.and_then(|term| term.value().json_path_type()).unwrap_or(Type::Str)
}

/// Returns the whole number in this text, if there are fractions next to it.
fn whole(end: &str) -> Option<f64> {
    end.parse().ok().filter(|number: &f64| number.abs() < WHOLE_MAX)
}

/// Returns a fractional end that includes the same numbers as `bound`, the whole `number`.
fn beside(bound: &UserInputBound, number: f64, is_lower: bool) -> UserInputBound {
    let is_inclusive = matches!(bound, UserInputBound::Inclusive(_));
    let fraction = if is_lower == is_inclusive { number.next_down() } else { number.next_up() };
    let text = format!("{fraction:?}");
    if is_inclusive { UserInputBound::Exclusive(text) } else { UserInputBound::Inclusive(text) }
}
