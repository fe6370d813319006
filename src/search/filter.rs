//! Filters: restrict hits by id, meta object, time of addition and words in a row.
//!
//! A filter is a tantivy query, except for words, which are looked for in the stored texts. It is
//! not run over the index. Instead, the candidates of a search are looked up in it, so the cost is
//! proportional to the number of candidates.

mod advice;
mod condition;
mod dates;
mod fields;
mod limits;
mod phrase;
mod ranges;

use tantivy::TantivyError;
use tantivy::query::QueryParser;
use tantivy::query_grammar::{
    Delimiter, Occur, UserInputAst, UserInputBound, UserInputLeaf, UserInputLiteral, parse_query,
    parse_query_lenient,
};
use tantivy::schema::Type;

use self::advice::no_query;
use self::condition::{Condition, NO_PHRASE, field_of, has_phrase};
pub use self::phrase::Phrase;

use self::fields::{FieldFault, NamedFields, check_value, is_of_meta};
use crate::error::{Error, Result};
use crate::index::{Snapshot, term_of, words};
use crate::runtime::Stop;

/// The field with the caller's id.
const ID: &str = "id";
/// The field with the meta object.
const META: &str = "meta";
/// The text, for conditions on words. A member of `meta` with this name is `meta.text`.
const TEXT: &str = "text";
/// The field with the time of addition.
const ADDED: &str = "added";

/// A parsed filter, ready to be applied to documents.
pub struct Filter<'a> {
    snapshot: &'a Snapshot,
    text: &'a str,
    condition: Condition,
}

impl Filter<'_> {
    /// Parses the filter `text`. A field that the index does not have belongs to `meta`, and
    /// `id:abc*` matches every id with that prefix. Regular expressions are refused: tantivy
    /// compiles them by recursion, and a counted repetition costs out of proportion to its length.
    ///
    /// # Errors
    /// When the text is not a query, contains a regular expression or a field that no document has,
    /// compares values that cannot be compared, or is larger or deeper than is safe to parse.
    pub fn new<'a>(snapshot: &'a Snapshot, text: &'a str) -> Result<Filter<'a>> {
        Filter::parsed(snapshot, text, true)
    }

    /// Parses the filter of a standing query, whose fields may occur only in later documents.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), except for fields that no document has.
    pub fn standing<'a>(snapshot: &'a Snapshot, text: &'a str) -> Result<Filter<'a>> {
        Filter::parsed(snapshot, text, false)
    }

    /// Returns the fields in a filter that no document here has, although documents of other shards
    /// may.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), except for fields that no document has.
    pub fn missing_fields(snapshot: &Snapshot, text: &str) -> Result<Vec<String>> {
        let ast = Filter::ast(snapshot, text)?;
        let missing = NamedFields::of(&ast).missing(snapshot);
        let missing = missing.map_err(|fault| field_fault(snapshot, text, fault))?;
        Ok(missing.into_iter().map(str::to_owned).collect())
    }

    /// Parses the filter without looking at documents.
    fn ast(snapshot: &Snapshot, text: &str) -> Result<UserInputAst> {
        limits::check(text).map_err(|what| refused(text, &what))?;
        let schema = snapshot.tantivy().schema();
        let mut ast =
            parse_query(text).map_err(|_| refused(text, &no_query(text, fault_of(text))))?;
        let mut seen = FilterCost::default();
        qualify(
            &mut ast,
            &|field| {
                let name = field.split('.').next().unwrap_or(field);
                field != TEXT && schema.get_field(name).is_err()
            },
            &mut seen,
        );
        for (is_wrong, why) in [
            (seen.has_pattern, NO_PATTERNS),
            (seen.number_prefix, NO_NUMBER_PREFIXES),
            (seen.has_no_condition, NO_CONDITION),
            (seen.other_text, NO_PHRASE),
        ] {
            if is_wrong {
                return Err(refused(text, why));
            }
        }
        limits::check_scans(seen.scans).map_err(|what| refused(text, &what))?;
        dates::spread(&mut ast, &is_of_meta).map_err(|what| refused(text, &what))?;
        ranges::unify(&mut ast, &is_of_meta).map_err(|what| refused(text, &what))?;
        Ok(ast)
    }

    fn parsed<'a>(snapshot: &'a Snapshot, text: &'a str, must_exist: bool) -> Result<Filter<'a>> {
        let searcher = snapshot.tantivy();
        let meta = searcher.schema().get_field(META).map_err(|e| refused(text, &words(&e)))?;
        let ast = Filter::ast(snapshot, text)?;
        if must_exist {
            let checked = NamedFields::of(&ast).check(snapshot, meta);
            checked.map_err(|fault| field_fault(snapshot, text, fault))?;
        }
        let parser = QueryParser::for_index(searcher.index(), vec![meta]);
        Ok(Filter { snapshot, text, condition: Condition::of(snapshot, text, &parser, ast)? })
    }

    /// Keeps only the documents of a segment that match. `docs` ascend.
    ///
    /// # Errors
    /// When the index cannot be read. [`Error::Cancelled`] soon after `stop`.
    pub fn retain(&self, segment: usize, docs: &mut Vec<u32>, stop: &Stop) -> Result<()> {
        self.condition.retain((self.snapshot, self.text), segment as u32, docs, stop)
    }
}

/// Returns whether a filter looks for words in texts, so that it may read every text of the index.
///
/// ```
/// assert!(cento::search::reads_texts("topic:sea AND text:\"went up\""));
/// assert!(!cento::search::reads_texts("topic:sea"));
/// ```
#[must_use]
pub fn reads_texts(filter: &str) -> bool {
    limits::check(filter).is_ok() && parse_query(filter).is_ok_and(|ast| has_phrase(&ast))
}

/// Checks that a document has a value in this field of `meta`, which `argument` names, unless there
/// are no documents.
///
/// # Errors
/// When no document has the field, which is then misspelled, or the index cannot be read.
pub fn check_field(snapshot: &Snapshot, argument: &'static str, field: &str) -> Result<()> {
    let meta = snapshot.tantivy().schema().get_field(META);
    let meta = meta.map_err(|e| Error::argument(argument, words(&e)))?;
    check_value(snapshot, meta, field).map_err(|fault| match fault {
        FieldFault::Refused(what) => Error::argument(argument, what),
        FieldFault::Failed(error) => failed(snapshot, field, error),
    })
}

/// Returns the byte where a text is not a query, and why, if the parser tells.
fn fault_of(filter: &str) -> Option<(usize, String)> {
    let (_, faults) = parse_query_lenient(filter);
    faults.into_iter().next().map(|fault| (fault.pos, fault.message))
}

/// Makes the error for a filter whose fields cannot be used or looked up.
fn field_fault(snapshot: &Snapshot, text: &str, fault: FieldFault) -> Error {
    match fault {
        FieldFault::Refused(what) => refused(text, &what),
        FieldFault::Failed(error) => failed(snapshot, text, error),
    }
}

/// The parts of a filter that are limited or refused.
#[derive(Default)]
struct FilterCost {
    /// The number of parts that may examine every document.
    scans: usize,
    /// Whether the filter contains a regular expression.
    has_pattern: bool,
    /// Whether the filter contains the prefix of a number.
    number_prefix: bool,
    /// Whether the filter, or a pair of parentheses, has no condition. It would match everything.
    has_no_condition: bool,
    /// Whether texts are looked at in another way than for words in a row.
    other_text: bool,
}

/// Why a filter without a condition is refused: an unset variable must not select all documents.
const NO_CONDITION: &str = "it has no condition; `*` matches every document";

/// Why a filter with the prefix of a number is refused.
const NO_NUMBER_PREFIXES: &str = "`*` stands for the end of a text; for numbers write a range, \
                                  such as `year:[2000 TO 2009]`";

/// Why a filter with a regular expression is refused.
const NO_PATTERNS: &str = "text between slashes is a regular expression, which filters do not \
                           support; use a prefix of an id (`id:2024/*`) or a set (`lang: IN [de \
                           fr]`), and quote a value that contains slashes (`id:\"/a/b\"`)";

/// Makes the error for a filter that cannot be evaluated, because values are not comparable or the
/// index cannot be read.
fn failed(snapshot: &Snapshot, filter: &str, error: TantivyError) -> Error {
    match error {
        TantivyError::InvalidArgument(_)
        | TantivyError::FieldNotFound(_)
        | TantivyError::SchemaError(_) => refused(filter, &words(&error)),
        error => snapshot.index().error("look for the documents of a filter in", error),
    }
}

fn refused(filter: &str, why: &str) -> Error {
    let shown = |text: &str, max: usize| match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    };
    let (filter, why) = (shown(filter, FILTER_CHARS_SHOWN), shown(why, REASON_CHARS_SHOWN));
    Error::argument("filter", format!("invalid filter `{filter}`: {why}"))
}

/// The most characters of a filter, and of a reason that may quote it, in an error message.
const FILTER_CHARS_SHOWN: usize = 120;
const REASON_CHARS_SHOWN: usize = 400;

/// Returns the prefix of a literal with a star at the end, if it has one.
fn prefix_of(literal: &UserInputLiteral) -> Option<&str> {
    match literal.delimiter {
        Delimiter::None => literal.phrase.strip_suffix('*'),
        _ => literal.prefix.then_some(&literal.phrase),
    }
}

/// Returns the range of the ids or texts with a prefix. tantivy supports prefixes only in phrases,
/// and takes the star for a part of the text.
fn texts_with(prefix: &str, field: &str) -> UserInputLeaf {
    // The smallest string after every string with the prefix ends in the successor of the prefix's
    // last character. The last character of Unicode has no successor.
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
    UserInputLeaf::Range { field: Some(field.into()), lower, upper }
}

/// Prepends `meta.` to fields that the index does not have, and counts the limited parts.
fn qualify(ast: &mut UserInputAst, is_unknown: &dyn Fn(&str) -> bool, seen: &mut FilterCost) {
    let leaf = match ast {
        UserInputAst::Clause(clauses) => {
            seen.has_no_condition |= clauses.is_empty();
            clauses.iter_mut().for_each(|(_, clause)| qualify(clause, is_unknown, seen));
            // A clause of negations means "all documents except", which tantivy needs explicitly.
            if clauses.iter().all(|(occur, _)| *occur == Some(Occur::MustNot)) {
                let all = UserInputAst::Leaf(Box::new(UserInputLeaf::All));
                clauses.push((Some(Occur::Must), all));
            }
            return;
        }
        UserInputAst::Boost(inner, _) => return qualify(inner, is_unknown, seen),
        UserInputAst::Leaf(leaf) => leaf.as_mut(),
    };
    if let UserInputLeaf::Literal(literal) = &*leaf
        && let (Some(field), Some(prefix)) = (&literal.field_name, prefix_of(literal))
        && field != ADDED
        && field != TEXT
    {
        let is_text = field == ID || ranges::type_of(prefix) == Type::Str;
        seen.number_prefix |= !is_text && !dates::is_date(prefix);
        *leaf = texts_with(prefix, field);
    }
    // Every document has an id, and tantivy tests existence only for columns.
    if matches!(leaf, UserInputLeaf::Exists { field } if field == ID) {
        *leaf = UserInputLeaf::All;
    }
    let is_scan = match leaf {
        UserInputLeaf::Range { .. } | UserInputLeaf::Exists { .. } => true,
        UserInputLeaf::Literal(_)
        | UserInputLeaf::Set { .. }
        | UserInputLeaf::Regex { .. }
        | UserInputLeaf::All => false,
    };
    let is_of_text = field_of(leaf) == Some(TEXT);
    let is_phrase = matches!(leaf, UserInputLeaf::Literal(words) if prefix_of(words).is_none());
    seen.other_text |= is_of_text && !is_phrase;
    seen.scans += usize::from(is_scan || is_of_text);
    seen.has_pattern |= matches!(leaf, UserInputLeaf::Regex { .. });
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
    // tantivy looks up the texts of a set unchanged.
    if let UserInputLeaf::Set { field: Some(field), elements } = leaf
        && is_of_meta(field)
    {
        elements.iter_mut().for_each(|text| *text = term_of(text).into_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Document;

    use crate::index::{Config, Index, WriterOptions};
    use proptest::prelude::*;
    use std::sync::LazyLock;

    fn snapshot() -> Snapshot {
        let config = Config::new("kgram(k=1)", "words", false).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false)).unwrap();
        for (id, lang, year) in [("a1", "de", 1), ("a2", "en", 2), ("b (1).txt", "fr", 3)] {
            let meta = serde_json::json!({"lang": lang, "year": year, "a": {"b": "c d"}});
            let meta = meta.as_object().unwrap().clone();
            writer.add(Document::new(id, "text").with_meta(meta)).unwrap();
        }
        writer.finish().unwrap();
        index.snapshot().unwrap()
    }

    static SNAPSHOT: LazyLock<Snapshot> = LazyLock::new(snapshot);

    /// Evaluates a filter on a thread with a quarter of the usual stack. Returns the matching
    /// documents.
    fn passing(text: &str) -> Result<Vec<u32>> {
        LazyLock::force(&SNAPSHOT);
        let text = text.to_owned();
        let asked = move || {
            let filter = Filter::new(&SNAPSHOT, &text)?;
            let mut docs = vec![0, 1, 2];
            filter.retain(0, &mut docs, Stop::NEVER)?;
            Ok(docs)
        };
        std::thread::Builder::new().stack_size(512 << 10).spawn(asked).unwrap().join().unwrap()
    }

    #[track_caller]
    fn check_refused(text: &str, why: &str) {
        let error = passing(text).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(error.len() < 1000, "{error}");
    }

    #[test]
    fn a_deep_filter_is_refused() {
        let deep = "more than 32 possibly nested parentheses and NOTs";
        check_refused(&"(".repeat(2187), deep);
        check_refused(&("NOT ".repeat(486) + "lang:de"), deep);
        for (open, close) in [
            ("(", ")"),
            ("lang:(", ")"),
            ("(-", ")"),
            ("NOT\n(", ")"),
            ("-NOT (", ")"),
            ("\"x\"NOT (", ")"),
            // A closing parenthesis in a quotation closes nothing.
            ("(')' AND ", ""),
            ("(\")\" AND ", ""),
            ("(lang:')' AND ", ")"),
            ("(id:/[)]/ AND ", ""),
            ("(lang:\\) AND ", ""),
        ] {
            check_refused(&format!("{}lang:de{}", open.repeat(200), close.repeat(200)), deep);
        }
    }

    #[test]
    fn the_deepest_filters_are_answered_on_a_small_stack() {
        for (open, levels, close) in [
            ("(", 32, ")"),
            ("NOT ", 32, ""),
            ("lang:(", 32, ")"),
            ("NOT (", 16, ")"),
            ("(+", 32, ")^2"),
        ] {
            let text = format!("{}lang:de{}", open.repeat(levels), close.repeat(levels));
            assert_eq!(passing(&text).unwrap(), [0], "{text}");
        }
        let nested = "year:9 OR (year:8 OR NOT (lang:x AND -lang:(";
        let text = format!("{}de{}", nested.repeat(8), ")))".repeat(8));
        assert!(passing(&text).is_ok());
    }

    #[test]
    fn a_filter_compares_whole_values_as_written() {
        // Regression: `tenant:acme` selected every tenant with this word in its name.
        let index = Index::in_memory(Config::new("kgram(k=1)", "words", false).unwrap()).unwrap();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false)).unwrap();
        let long = |end: &str| "x".repeat(1000) + end;
        let values = ["acme", "Acme", "acme two", "two acme", "de-AT", &long("a"), &long("b")];
        for (id, value) in values.iter().enumerate() {
            let meta = serde_json::json!({"of": [value, "other"], "n": id});
            let document = Document::new(id.to_string(), "text");
            writer.add(document.with_meta(meta.as_object().unwrap().clone())).unwrap();
        }
        writer.finish().unwrap();
        let snapshot = index.snapshot().unwrap();
        let all: Vec<u32> = (0..values.len() as u32).collect();
        let check = |text: &str, expected: &[u32]| {
            let mut docs = all.clone();
            let filter = Filter::new(&snapshot, text).unwrap();
            filter.retain(0, &mut docs, Stop::NEVER).unwrap();
            assert_eq!(docs, expected, "{text}");
        };
        for (id, value) in values.iter().enumerate() {
            check(&format!("of:\"{value}\""), &[id as u32]);
            check(&format!("of: IN ['{value}' none]"), &[id as u32]);
        }
        check("of:de", &[]);
        check("of:other", &all);
        check("of:acme*", &[0, 2]);
        check("of:\"acme \"*", &[2]);
        check("of:xxx* AND -n:5", &[6]);
        let error = Filter::new(&snapshot, "n:2*").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("for numbers write a range"), "{error}");
    }

    #[test]
    fn a_filter_without_a_condition_selects_nothing() {
        // Regression: an unset variable selected every document, also to be removed.
        for text in ["", "  ", "()", "lang:de AND ()", "NOT ()"] {
            assert!(passing(text).is_err(), "{text}");
        }
        check_refused("", "it has no condition");
        assert_eq!(passing("*").unwrap(), [0, 1, 2]);
    }

    #[test]
    fn a_wide_filter_is_answered() {
        let groups = vec!["(lang:de AND year:[1 TO 1])"; 30].join(" OR ");
        assert_eq!(passing(&groups).unwrap(), [0]);
        let ids: Vec<String> = (0..600).map(|i| format!("'a ({i}).txt'")).collect();
        assert_eq!(passing(&format!("id: IN [{} a2]", ids.join(" "))).unwrap(), [1]);
        for (filter, docs) in
            [("id:*", vec![0, 1, 2]), ("id:[a2 TO *]", vec![1, 2]), ("id:{* TO a2}", vec![0])]
        {
            assert_eq!(passing(filter).unwrap(), docs, "{filter}");
        }
        assert_eq!(passing("id:'b (1).txt' OR (lang:(de OR en) AND NOT a.b:'c d')").unwrap(), [2]);
    }

    #[test]
    fn a_negation_beside_a_clause_only_leaves_documents_out() {
        for (filter, docs) in [
            ("lang:de -year:2", &[0][..]),
            ("-year:2 (lang:de OR lang:en)", &[0]),
            ("-year:2", &[0, 2]),
            ("-year:2 -lang:de", &[2]),
        ] {
            assert_eq!(passing(filter).unwrap(), docs, "{filter}");
        }
    }

    #[test]
    fn a_range_from_a_whole_number_to_a_fraction_is_answered() {
        for (filter, expected) in [
            ("year:[1 TO 2.5]", &[0, 1][..]),
            ("year:{1 TO 2.5]", &[1]),
            ("year:[0.5 TO 2}", &[0]),
            ("year:[0.5 TO 2]", &[0, 1]),
            ("-year:[1.5 TO 3]", &[0]),
            ("year:[0 TO 2.5]^2 AND lang:de", &[0]),
            ("meta.year:{-0.5 TO 0]", &[]),
        ] {
            assert_eq!(passing(filter).unwrap(), expected, "{filter}");
        }
    }

    #[test]
    fn a_range_between_different_types_is_refused() {
        for filter in [
            "year:[1747 TO ?]",
            "year:[a TO 5]",
            "year:[-1 TO 18446744073709551615]",
            "year:[0.5 TO 4503599627370496]",
            "meta.year:{2020-01-01T00:00:00Z TO 5.5}",
            "lang:de OR (x OR meta:[true TO 1])",
        ] {
            check_refused(filter, "their types differ");
        }
        assert!(passing("added:[1 TO a]").is_err());
    }

    #[test]
    fn a_filter_beyond_a_limit_is_refused_with_the_limit() {
        check_refused(&"a ".repeat(10_000), "it has 20000 bytes; the maximum is 16384");
        check_refused(&"a ".repeat(5_000), "more than 4096 words and signs");
        check_refused(&format!("{}a:1", "a.".repeat(5_000)), "1024 bytes without a space");
        check_refused(&format!("{}a:1", "a.".repeat(200)), "more than 32 parts");
        check_refused(&format!("{}a:1", "a.\\ ".repeat(200)), "more than 32 parts");
        check_refused(&"a\t".repeat(5_000), "1024 bytes without a space");
        for clause in ["id:a@*", "year:>@", "year:[@ TO *]", "(lang:*)^@", "lang:\"a @\"*"] {
            let clauses = |count: usize| {
                let clauses = (0..count).map(|i| clause.replace('@', &i.to_string()));
                clauses.collect::<Vec<_>>().join(" OR ")
            };
            check_refused(&clauses(33), "more than 32 ranges");
            assert!(passing(&clauses(32)).is_ok(), "{clause}");
        }
        check_refused(&format!("lang:{}", "\u{1b}[2J".repeat(3)), "a control character");
        check_refused("lang\0:de", "a control character");
    }

    #[test]
    fn a_regular_expression_is_refused_before_it_is_compiled() {
        let no_patterns = "filters do not support; use a prefix of an id";
        for filter in [
            // Compiling this expression overflowed any stack.
            "id:/(a?){0,100000}/",
            "id:/(a?){0,4000}/",
            "id:/((((((a{99}){99}){99}){99}){99}){99})/",
            "lang:de AND NOT (a.b:/d.*/ OR x)",
            "/d.*/",
            "id:/home/",
        ] {
            check_refused(filter, no_patterns);
        }
        let many = (900..932).map(|count| format!("id:/(a?){{0,{count}}}/")).collect::<Vec<_>>();
        check_refused(&many.join(" OR "), no_patterns);
        assert_eq!(passing("lang:'/d.*/' OR id:\"/home/a.txt\" OR id:a1").unwrap(), [0]);
    }

    #[test]
    fn a_filter_of_a_cancelled_search_is_not_run() {
        let filter = Filter::new(&SNAPSHOT, "lang:de").unwrap();
        let stop = Stop::when(|| true);
        let stopped = filter.retain(0, &mut vec![0, 1, 2], &stop);
        assert!(matches!(stopped, Err(Error::Cancelled)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn any_filter_is_answered_or_refused(
            parts in prop::collection::vec(prop::sample::select(vec![
                "(", ")", "NOT ", "AND ", "OR ", "+", "-", ":", ".", "[", "]", "{", "}", "\"", "'", "*",
                "lang:", "year:", "id:", "de", "a", "1", " ", " TO ", "IN ", "/", "\\", "^", "~", "^2",
                "<", ">=", "\0", "\u{1}", "\u{e9}", "\t", "added:", "text:", "a.b:", "(", "(", "NOT ",
            ]), 0..120),
            repeat in 1usize..40,
        ) {
            let _ = passing(&parts.concat());
            let _ = passing(&parts[..parts.len().min(6)].concat().repeat(repeat));
        }
    }
}
