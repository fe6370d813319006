//! Changes of the meta object alone.
//!
//! A label such as `reviewed` is often set long after the text was added, by a program that has no
//! copy of the text. The stored text, parts and signature are therefore written again unchanged,
//! without computing fingerprints a second time.

use serde_json::{Map, Value};

use super::{Outcome, Writer, id_digest};
use crate::error::{Error, Result};
use crate::index::{Document, IdSource, SignedDocument, meta_problem};
use crate::reason::{Reason, Refusal};
use crate::runtime::Stop;

impl Writer {
    /// Changes members of the meta object of the document with this id, and keeps its text. Returns
    /// `None` if there is no such document.
    ///
    /// `patch` is a merge patch (RFC 7396): a member with the value null is removed, objects are
    /// merged member by member, and any other value replaces the previous value. The document keeps
    /// its time of addition. If the document has uncommitted changes, they are committed first.
    ///
    /// ```
    /// use cento::{Config, Document, Index, Outcome, Stop, WriterOptions};
    /// use serde_json::{Value, json};
    ///
    /// let Value::Object(patch) = json!({"reviewed": true}) else { unreachable!() };
    /// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// let mut writer = index.writer(WriterOptions::default())?;
    /// writer.add(Document::new("a", "some text"))?;
    /// assert_eq!(writer.patch_meta("a", &patch, Stop::NEVER)?, Some(Outcome::Replaced));
    /// assert_eq!(writer.patch_meta("b", &patch, Stop::NEVER)?, None);
    /// writer.finish()?;
    /// let snapshot = index.snapshot()?;
    /// let found = snapshot.document(snapshot.find("a")?.expect("it was added"))?;
    /// assert_eq!(found.text.as_deref(), Some("some text"));
    /// assert_eq!(found.meta["reviewed"], true);
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Input`] when the index cannot hold the new meta object, or when the document was
    /// withdrawn. The errors of [`add`](Self::add). [`Error::Cancelled`] soon after `stop` is set,
    /// in an index without stored signatures.
    pub fn patch_meta(
        &mut self,
        id: &str,
        patch: &Map<String, Value>,
        stop: &Stop,
    ) -> Result<Option<Outcome>> {
        self.check_usable()?;
        if self.changed.contains_key(&id_digest(id)) {
            self.commit()?;
        }
        let snapshot = self.committed()?;
        let Some(address) = snapshot.find(id)? else { return Ok(None) };
        let stored = snapshot.document(address)?;
        let mut meta = stored.meta.clone();
        merge(&mut meta, patch);
        if meta == stored.meta {
            return Ok(Some(Outcome::Unchanged));
        }
        if let Some(what) = meta_problem(&meta) {
            let what = Refusal::new(Reason::UnusableMeta, what);
            return Err(Error::input(format!("document `{id}`"), what));
        }
        let place = snapshot.id_place(address)?;
        let document = Document::new(stored.id, stored.text.unwrap_or_default());
        let document = document.with_parts(stored.parts).with_meta(meta);
        let segment = &snapshot.segment(address).signatures;
        let signed = SignedDocument::of(
            document.with_id_source(IdSource::at(place)),
            segment.digest(address.doc)?,
            segment.document(address.doc)?.tokens,
            snapshot.signature(address, stop)?,
        );
        self.add_signed(signed).map(Some)
    }
}

/// Applies a merge patch to an object.
fn merge(object: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (name, value) in patch {
        match value {
            Value::Null => drop(object.remove(name)),
            Value::Object(inner) => {
                let member = object.entry(name.clone()).or_insert(Value::Null);
                if !member.is_object() {
                    *member = Value::Object(Map::new());
                }
                if let Value::Object(member) = member {
                    merge(member, inner);
                }
            }
            value => drop(object.insert(name.clone(), value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Index, Part, WriterOptions};
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("{value} is an object") };
        object
    }

    #[test]
    fn a_patch_is_merged_as_rfc_7396_says() {
        for (before, patch, after) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            let mut merged = object(before);
            merge(&mut merged, &object(patch));
            assert_eq!(Value::Object(merged), after);
        }
    }

    /// Checks parts, place of the id, time of addition and signature with these settings.
    fn everything_else_stays(store_text: bool, store_signatures: bool) {
        let config = Config::new("winnow(k=5,w=10)", "words", store_text).unwrap();
        let index = Index::in_memory(Config { store_signatures, ..config }).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        let files = [("x", "one two three four five six"), ("y", "seven eight nine ten eleven")];
        let document = Document::of_parts("a", files).with_id_source(IdSource::made(7));
        writer.add(document.with_meta(object(json!({"n": 1})))).unwrap();
        writer.commit().unwrap();
        let seen = |index: &Index| {
            let snapshot = index.snapshot().unwrap();
            let address = snapshot.find("a").unwrap().unwrap();
            let found = snapshot.document(address).unwrap();
            let parts: Vec<Part> = found.parts;
            let added = snapshot.segment(address).added(address.doc).unwrap();
            let signature = snapshot.signature(address, Stop::NEVER).unwrap();
            let place = snapshot.id_place(address).unwrap();
            ((found.text, parts, added, signature, place), found.meta)
        };
        let (before, _) = seen(&index);
        let patch = object(json!({"n": null, "reviewed": true}));
        for outcome in [Outcome::Replaced, Outcome::Unchanged] {
            let done = writer.patch_meta("a", &patch, Stop::NEVER).unwrap();
            assert_eq!(done, Some(outcome));
        }
        writer.finish().unwrap();
        let (after, meta) = seen(&index);
        assert_eq!(after, before);
        assert_eq!(Value::Object(meta), json!({"reviewed": true}));
        assert_eq!(index.snapshot().unwrap().documents(), 1);
    }

    #[test]
    fn a_patch_changes_the_meta_object_and_nothing_else() {
        for (store_text, store_signatures) in [(true, true), (true, false), (false, true)] {
            everything_else_stays(store_text, store_signatures);
        }
    }

    #[test]
    fn a_patch_sees_what_the_writer_has_not_committed() {
        let index = Index::in_memory(Config::new("kgram(k=2)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        let patch = object(json!({"a": 1}));
        writer.add(Document::new("x", "first version")).unwrap();
        writer.add(Document::new("x", "second version")).unwrap();
        writer.patch_meta("x", &patch, Stop::NEVER).unwrap();
        writer.add(Document::new("y", "another")).unwrap();
        writer.remove("y").unwrap();
        assert_eq!(writer.patch_meta("y", &patch, Stop::NEVER).unwrap(), None);
        writer.finish().unwrap();
        let snapshot = index.snapshot().unwrap();
        let found = snapshot.document(snapshot.find("x").unwrap().unwrap()).unwrap();
        assert_eq!(found.text.as_deref(), Some("second version"));
        assert_eq!(found.meta, patch);
    }
}
