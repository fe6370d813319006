//! Finds the fields in a filter, and checks that the fields exist.
//!
//! tantivy accepts a query on an unknown field. The query matches nothing, and the negation
//! everything. cento refuses the filter.

use std::collections::BTreeSet;

use cento_api::suggest::did_you_mean;
use tantivy::TantivyError;
use tantivy::query_grammar::{UserInputAst, UserInputLeaf};
use tantivy::schema::Field;

use super::{ADDED, ID, META, TEXT, advice};
use crate::index::Snapshot;

/// The most fields of a segment that are looked up for a message.
const LOOKED_UP_MAX: usize = 200;
/// The most fields that a message lists.
const SHOWN_MAX: usize = 10;
/// The most bytes of a field name in a message.
const NAME_BYTES_MAX: usize = 40;

/// The byte at the end of a path in a term of a JSON field.
const END_OF_PATH: u8 = 0;
/// The byte between two members of a path.
const MEMBER: u8 = 1;

/// The fields in a filter.
#[derive(Default)]
pub(super) struct NamedFields<'a> {
    /// The paths of fields of `meta`, including `meta`.
    valued: BTreeSet<&'a str>,
    /// Fields tested for existence. An object exists if a member exists.
    existing: BTreeSet<&'a str>,
    /// A word without a field.
    stray: Option<&'a str>,
}

/// Why a filter is refused, or could not be evaluated.
pub(super) enum FieldFault {
    Refused(String),
    Failed(TantivyError),
}

impl From<TantivyError> for FieldFault {
    fn from(error: TantivyError) -> FieldFault {
        FieldFault::Failed(error)
    }
}

impl From<std::io::Error> for FieldFault {
    fn from(error: std::io::Error) -> FieldFault {
        FieldFault::Failed(error.into())
    }
}

impl<'a> NamedFields<'a> {
    /// Collects the fields of a filter whose fields of `meta` are already qualified.
    pub(super) fn of(ast: &'a UserInputAst) -> NamedFields<'a> {
        let mut fields = NamedFields::default();
        fields.collect(ast);
        fields
    }

    fn collect(&mut self, ast: &'a UserInputAst) {
        let leaf = match ast {
            UserInputAst::Clause(clauses) => {
                return clauses.iter().for_each(|(_, clause)| self.collect(clause));
            }
            UserInputAst::Boost(inner, _) => return self.collect(inner),
            UserInputAst::Leaf(leaf) => leaf.as_ref(),
        };
        let (field, word) = match leaf {
            UserInputLeaf::Literal(literal) => {
                (literal.field_name.as_deref(), literal.phrase.as_str())
            }
            UserInputLeaf::Range { field, .. } => (field.as_deref(), "[ TO ]"),
            UserInputLeaf::Set { field, .. } => (field.as_deref(), "IN [ ]"),
            UserInputLeaf::Regex { field, .. } => (field.as_deref(), "/ /"),
            UserInputLeaf::Exists { field } => {
                if is_of_meta(field) {
                    self.existing.insert(field);
                }
                return;
            }
            UserInputLeaf::All => return,
        };
        match field.filter(|field| *field != META) {
            Some(field) if is_of_meta(field) => drop(self.valued.insert(field)),
            Some(_) => {}
            None => self.stray = self.stray.or(Some(word)),
        }
    }

    /// Checks that every field occurs in a document, unless there are no documents.
    pub(super) fn check(&self, snapshot: &Snapshot, meta: Field) -> Result<(), FieldFault> {
        let missing = self.missing(snapshot)?;
        match missing.first().filter(|_| snapshot.documents() > 0) {
            Some(field) => Err(unknown(snapshot, meta, field)?),
            None => Ok(()),
        }
    }

    /// Returns the fields that no document has.
    pub(super) fn missing(&self, snapshot: &Snapshot) -> Result<Vec<&'a str>, FieldFault> {
        if let Some(word) = self.stray {
            return Err(FieldFault::Refused(advice::stray(short(word).as_str())));
        }
        let mut missing = Vec::new();
        for field in &self.valued {
            if !is_there(snapshot, field, false)? {
                missing.push(*field);
            }
        }
        for field in self.existing.iter().filter(|field| **field != META) {
            if !is_there(snapshot, field, true)? {
                missing.push(*field);
            }
        }
        Ok(missing)
    }
}

/// Checks that a document has a value in this field of `meta`, unless there are no documents.
pub(super) fn check_value(snapshot: &Snapshot, meta: Field, field: &str) -> Result<(), FieldFault> {
    // A dot may also be part of the name.
    for path in [field.to_owned(), field.replace('.', "\\.")] {
        if is_there(snapshot, &format!("{META}.{path}"), false)? {
            return Ok(());
        }
    }
    match snapshot.documents() {
        0 => Ok(()),
        _ => Err(unknown(snapshot, meta, &format!("{META}.{field}"))?),
    }
}

pub(super) fn is_of_meta(field: &str) -> bool {
    field.split('.').next() == Some(META)
}

/// Returns whether a document has a value in the field or, with `has_members`, in a member of it.
fn is_there(snapshot: &Snapshot, field: &str, has_members: bool) -> tantivy::Result<bool> {
    for reader in snapshot.searchers().flat_map(|searcher| searcher.segment_readers()) {
        let columns = reader.fast_fields();
        if !columns.dynamic_column_handles(field)?.is_empty()
            || has_members && !columns.dynamic_subpath_column_handles(field)?.is_empty()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes the error for a field that no document has.
fn unknown(snapshot: &Snapshot, meta: Field, field: &str) -> Result<FieldFault, FieldFault> {
    let mut there = BTreeSet::new();
    for reader in snapshot.searchers().flat_map(|searcher| searcher.segment_readers()) {
        let terms = reader.inverted_index(meta)?;
        // One look-up per field, because the terms of a field are contiguous, followed by its
        // members.
        let mut from = Vec::new();
        for _ in 0..LOOKED_UP_MAX {
            let mut next = terms.terms().range().ge(&from).into_stream()?;
            if !next.advance() {
                break;
            }
            let path = next.key().split(|&byte| byte == END_OF_PATH).next().unwrap_or_default();
            from = [path, &[END_OF_PATH + 1]].concat();
            there.insert(String::from_utf8_lossy(path).replace(char::from(MEMBER), "."));
        }
    }
    let is_more = there.len() > SHOWN_MAX;
    let names: Vec<String> =
        there.iter().take(SHOWN_MAX).map(|name| format!("`{}`", short(name))).collect();
    let shown = match (names.is_empty(), is_more) {
        (true, _) => "no document has any `meta`".to_owned(),
        (false, false) => format!("the fields there are {}", names.join(", ")),
        (false, true) => format!("the fields there are {} and more", names.join(", ")),
    };
    let name = field.split_once('.').map_or(field, |(_, path)| path);
    let known = there.iter().map(String::as_str).chain([ID, ADDED, TEXT]);
    let meant = did_you_mean(name, known);
    let what = format!("no document has the field `{}` in its `meta`{meant}; {shown}", short(name));
    Ok(FieldFault::Refused(what))
}

fn short(name: &str) -> String {
    match name.len() > NAME_BYTES_MAX {
        true => format!("{}...", &name[..name.floor_char_boundary(NAME_BYTES_MAX)]),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::index::{Config, Document, Index, Snapshot, WriterOptions};
    use crate::search::filter::Filter;

    /// Makes a snapshot with a segment for each list of meta objects.
    fn snapshot(segments: &[&[Value]]) -> Snapshot {
        let config = Config::new("kgram(k=1)", "words", false).unwrap();
        let index = Index::in_memory(config).unwrap();
        let options = WriterOptions::default().memory_bytes(0usize).merge(false);
        let mut writer = index.writer(options).unwrap();
        for (at, metas) in segments.iter().enumerate() {
            for (number, meta) in metas.iter().enumerate() {
                let meta = meta.as_object().unwrap().clone();
                writer
                    .add(Document::new(format!("{at}-{number}"), "text").with_meta(meta))
                    .unwrap();
            }
            writer.commit().unwrap();
        }
        writer.finish().unwrap();
        index.snapshot().unwrap()
    }

    fn two_segments() -> Snapshot {
        let first =
            [json!({"topic": "sea", "a": {"b": 1, "c.d": true}, "at": "2021-03-04T10:00:00Z"})];
        snapshot(&[&first, &[json!({"empty": "", "none": null, "Who": ["x"]}), json!({})]])
    }

    #[test]
    fn a_filter_on_a_field_that_no_document_has_is_refused_and_names_the_fields_there_are() {
        // Such a filter once silently matched nothing, and its negation everything.
        let snapshot = two_segments();
        let there = "the fields there are `Who`, `a.b`, `a.c.d`, `at`, `empty`, `topic`";
        for (filter, field) in [
            ("nofield:1", "nofield"),
            ("Topic:sea", "Topic"),
            ("NOT toppic:sea", "toppic"),
            ("topic:sea OR (id:x AND -meta.x.y:[1 TO 2])", "x.y"),
            ("x: IN [1 2]", "x"),
            ("x:*", "x"),
            ("a:1", "a"),
            ("none:x", "none"),
            ("topic.b:*", "topic.b"),
            ("x:[2021 TO *]", "x"),
        ] {
            let error = Filter::new(&snapshot, filter).err().unwrap().to_string();
            let what = format!("no document has the field `{field}` in its `meta`");
            assert!(error.contains(&what) && error.contains(there), "{filter}: {error}");
            assert!(Filter::standing(&snapshot, filter).is_ok(), "{filter}");
        }
        let error = Filter::new(&snapshot, "Topic:sea").err().unwrap().to_string();
        assert!(error.contains("did you mean `topic`?"), "{error}");
    }

    #[test]
    fn a_filter_on_a_field_that_a_document_has_is_answered() {
        let snapshot = two_segments();
        for filter in [
            "topic:lake",
            "meta.topic:x",
            "a.b:2",
            "a:*",
            "meta:*",
            "a.c.d:true",
            "a.c:*",
            "at:[2021 TO *]",
            "empty:x",
            "Who:x",
            "id:x OR added:[2021 TO *]",
            "*",
        ] {
            assert!(Filter::new(&snapshot, filter).is_ok(), "{filter}");
        }
    }

    #[test]
    fn a_word_in_no_field_is_refused() {
        let snapshot = two_segments();
        for (filter, word) in [("sea", "`sea`"), ("topic:sea AND (-lake)", "`lake`")] {
            let error = Filter::new(&snapshot, filter).err().unwrap().to_string();
            assert!(error.contains(&format!("{word} is in no field")), "{error}");
        }
    }

    #[test]
    fn an_index_without_documents_has_any_field() {
        assert!(Filter::new(&snapshot(&[]), "nofield:1").is_ok());
        let error = Filter::new(&snapshot(&[&[json!({})]]), "x:1").err().unwrap().to_string();
        assert!(error.contains("no document has any `meta`"), "{error}");
    }

    #[test]
    fn a_message_names_a_few_of_many_fields() {
        let meta: serde_json::Map<_, _> =
            (0..600).map(|at| (format!("f{at:04}{}", "x".repeat(60)), json!(at))).collect();
        let error = Filter::new(&snapshot(&[&[Value::Object(meta)]]), "g:1").err().unwrap();
        let error = error.to_string();
        assert!(error.contains("`f0000xx") && error.contains("..."), "{error}");
        assert!(error.len() < 600, "{error}");
    }
}
