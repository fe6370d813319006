//! Records which fields of records become no part of a document.
//!
//! The user should learn the names of dropped fields, and of a requested field that no record has,
//! because the name was probably misspelled.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::fields::{SHOWN_MAX, missing_in_all, missing_of_option, short};
use crate::text_field::bit;
use crate::{MetaFields, NO_FIELD, SourceOptions, TextField, USUAL_ID_FIELD};

/// The maximum number of recorded names. Each name has a bit in an `AtomicU64`.
const NAMES_MAX: usize = 32;

/// The maximum length of a recorded name, in bytes. Longer names only set `has_more`.
const NAME_BYTES_MAX: usize = 200;

/// The use of the fields of all records that are read with the same options, on any thread.
///
/// Many threads read at a time, and writes are rare. A name never leaves its first slot, so names
/// are compared without a lock.
#[derive(Debug, Default)]
pub struct FieldUse {
    names: [OnceLock<Box<str>>; NAMES_MAX],
    /// The names of dropped fields, a bit for each slot.
    left_out: AtomicU64,
    /// The names of other fields of records that lack a requested field, a bit for each slot.
    others: AtomicU64,
    /// Whether a document dropped a field that got no slot.
    has_more: AtomicBool,
    /// The requested fields of the meta object found so far, a bit per field.
    met: AtomicU64,
    /// The fields of the text found so far, if there are several, a bit per field.
    met_text: AtomicU64,
    /// Whether any record has the field of the id.
    has_id: AtomicBool,
    /// Whether any record became a document.
    is_any: AtomicBool,
}

/// The fields of a single record, as bits.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct RecordFields {
    left_out: u64,
    others: u64,
    has_more: bool,
    met: u64,
    met_text: u64,
    has_id: bool,
}

impl RecordFields {
    /// Records a dropped field.
    pub fn leave_out(&mut self, all: &FieldUse, name: &str) {
        match all.place(name) {
            Some(place) => self.left_out |= 1 << place,
            None => self.has_more = true,
        }
    }

    /// Notes the field of the meta object with this number in the options.
    pub fn meet(&mut self, number: usize) {
        self.met |= bit(number);
    }

    /// Notes fields of the text, a bit for each.
    pub fn meet_text(&mut self, fields: u64) {
        self.met_text |= fields;
    }

    /// Notes the field of the id.
    pub fn meet_id(&mut self) {
        self.has_id = true;
    }

    /// Notes the names of other fields, as long as no record had the requested field of the id or
    /// one of the text: the user may have meant one of these names.
    pub fn see_others<'a>(
        &mut self,
        all: &FieldUse,
        options: &SourceOptions,
        names: impl IntoIterator<Item = &'a str>,
    ) {
        let SourceOptions { id_field, text_field, .. } = options;
        let has_id = self.has_id || all.has_id.load(Ordering::Relaxed);
        let met = self.met_text | all.met_text.load(Ordering::Relaxed);
        if (is_usual(id_field) || has_id) && first_missing(text_field, met).is_none() {
            return;
        }
        for name in names.into_iter().filter(|name| !text_field.is_in(name)) {
            if let Some(place) = all.place(name) {
                self.others |= 1 << place;
            }
        }
    }
}

/// Returns whether no option names another field for the id. The usual field may be missing.
fn is_usual(id_field: &str) -> bool {
    id_field == USUAL_ID_FIELD || id_field == NO_FIELD
}

/// Returns the first of several text fields that is not among `met`, a bit for each.
fn first_missing(text_field: &TextField, met: u64) -> Option<&str> {
    if text_field.names().count() < 2 {
        return None;
    }
    let mut fields = text_field.names().enumerate();
    fields.find(|(number, _)| met & bit(*number) == 0).map(|(_, missing)| missing)
}

impl FieldUse {
    /// Returns the slot of a name. A new name gets a free slot, if any is left.
    fn place(&self, name: &str) -> Option<usize> {
        if name.len() > NAME_BYTES_MAX {
            return None;
        }
        // The first thread fills a slot, and every thread then sees the same name.
        self.names.iter().position(|own| **own.get_or_init(|| name.into()) == *name)
    }

    /// Adds the fields of a record that became a document. Refused records do not count.
    pub(crate) fn add(&self, record: RecordFields) {
        self.add_change(record);
        if !self.is_any.load(Ordering::Relaxed) {
            self.is_any.store(true, Ordering::Relaxed);
        }
    }

    /// Adds the fields of a record that changes a stored document, and needs no text.
    pub(crate) fn add_change(&self, record: RecordFields) {
        let RecordFields { left_out, others, has_more, met, met_text, has_id } = record;
        // Usually no bit is new. An unconditional write would take the cache line from other
        // processors.
        let add = |all: &AtomicU64, own: u64| {
            if all.load(Ordering::Relaxed) & own != own {
                all.fetch_or(own, Ordering::Relaxed);
            }
        };
        add(&self.left_out, left_out);
        add(&self.others, others);
        add(&self.met, met);
        add(&self.met_text, met_text);
        for (all, own) in [(&self.has_more, has_more), (&self.has_id, has_id)] {
            if own && !all.load(Ordering::Relaxed) {
                all.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Adds the columns of a table. `kept` tells which columns become members of meta objects
    /// although no option names them.
    pub(crate) fn add_columns<'a>(
        &self,
        columns: impl IntoIterator<Item = &'a str>,
        options: &SourceOptions,
        kept: impl Fn(&str) -> bool,
    ) {
        let SourceOptions { id_field, text_field, meta_fields, .. } = options;
        let mut table = RecordFields::default();
        let columns: Vec<&str> = columns.into_iter().collect();
        for &name in &columns {
            table.meet_text(text_field.bits_of(name));
            match meta_fields.number_of(name) {
                _ if name == id_field => table.meet_id(),
                Some(number) => table.meet(number),
                None if text_field.is_in(name) || kept(name) => {}
                None => table.leave_out(self, name),
            }
        }
        table.see_others(self, options, columns);
        self.add(table);
    }

    /// Describes dropped fields by their names in alphabetical order, or returns `None` without
    /// any.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        let names = self.left_out_names();
        let shown = names.iter().take(SHOWN_MAX).map(|name| short(name));
        let mut shown: Vec<String> = shown.collect();
        if names.len() > SHOWN_MAX || self.has_more.load(Ordering::Relaxed) {
            shown.push("and more".into());
        }
        (!shown.is_empty()).then(|| shown.join(", "))
    }

    /// Returns the names of dropped fields in alphabetical order, at most as many as there are
    /// slots.
    #[must_use]
    pub fn left_out_names(&self) -> Vec<&str> {
        self.names_of(self.left_out.load(Ordering::Relaxed))
    }

    fn names_of(&self, bits: u64) -> Vec<&str> {
        let names = self.names.iter().enumerate().filter(|(place, _)| bits >> place & 1 == 1);
        let mut names: Vec<&str> = names.filter_map(|(_, name)| Some(&**name.get()?)).collect();
        names.sort_unstable();
        names
    }

    /// Returns whether there are records and none has the field of the id, so that every record got
    /// a number. The usual field, `id`, may be missing.
    fn lacks_id(&self, id_field: &str) -> bool {
        let is_any = self.is_any.load(Ordering::Relaxed);
        !is_usual(id_field) && is_any && !self.has_id.load(Ordering::Relaxed)
    }

    /// Returns the first of several text fields that no record had, or `None` without records.
    fn missing_text<'a>(&self, text_field: &'a TextField) -> Option<&'a str> {
        let is_any = self.is_any.load(Ordering::Relaxed);
        first_missing(text_field, self.met_text.load(Ordering::Relaxed)).filter(|_| is_any)
    }

    /// Describes the field of the text or of the id that no record had, after the name of its
    /// parameter. Lists the fields that the records have instead.
    pub(crate) fn missing_of(&self, options: &SourceOptions) -> Option<(&'static str, String)> {
        let SourceOptions { id_field, text_field, .. } = options;
        let others = || {
            let left_out = self.left_out.load(Ordering::Relaxed);
            self.names_of(left_out | self.others.load(Ordering::Relaxed))
        };
        if let Some(field) = self.missing_text(text_field) {
            return Some(("text_field", missing_of_option(field, "--text-field", &others())));
        }
        let lacks_id = self.lacks_id(id_field);
        lacks_id.then(|| ("id_field", missing_of_option(id_field, "--id-field", &others())))
    }

    /// Describes the first requested field that no record had, or returns `None` without records.
    #[must_use]
    pub fn missing(&self, meta_fields: &MetaFields) -> Option<String> {
        if !self.is_any.load(Ordering::Relaxed) {
            return None;
        }
        let met = self.met.load(Ordering::Relaxed);
        let mut fields = meta_fields.named().iter().enumerate();
        let (_, missing) = fields.find(|(number, _)| met & bit(*number) == 0)?;
        Some(missing_in_all(missing, &self.left_out_names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &FieldUse, names: &[&str]) {
        let mut record = RecordFields::default();
        names.iter().for_each(|name| record.leave_out(fields, name));
        fields.add(record);
    }

    #[test]
    fn names_are_told_once_and_in_one_order() {
        let fields = FieldUse::default();
        assert_eq!(fields.left_out(), None);
        // The fields of a refused record do not count.
        RecordFields::default().leave_out(&fields, "body");
        of(&fields, &["source", "date"]);
        of(&fields, &["date", "lang", "source"]);
        assert_eq!(fields.left_out().as_deref(), Some("date, lang, source"));
    }

    #[test]
    fn very_many_names_are_not_all_kept() {
        let fields = FieldUse::default();
        for number in 0..1000 {
            of(&fields, &[&format!("f{number:03}")]);
        }
        of(&fields, &[&"x".repeat(1 << 20)]);
        assert_eq!(fields.left_out_names().len(), NAMES_MAX);
        assert!(fields.left_out().is_some_and(|said| said.ends_with("f019, and more")));
    }

    #[test]
    fn a_misspelled_field_of_the_id_is_told_with_the_one_that_is_meant() {
        let misspelled = SourceOptions { id_field: "udi".into(), ..SourceOptions::default() };
        let fields = FieldUse::default();
        assert_eq!(fields.missing_of(&misspelled), None, "there are no records");
        fields.add_columns(["text", "uid", "year"], &misspelled, |_| true);
        let (option, said) = fields.missing_of(&misspelled).unwrap();
        assert_eq!(option, "id_field");
        let expected = "no record has the field `udi` of --id-field (did you mean `uid`?); they \
                        have `uid`, `year`";
        assert_eq!(said, expected);
        fields.add_columns(["udi", "text"], &misspelled, |_| true);
        assert_eq!(fields.missing_of(&misspelled), None);
    }

    #[test]
    fn a_field_that_no_record_has_is_missing() {
        let meta_fields = MetaFields::Named(["date", "sourec"].map(String::from).to_vec());
        let fields = FieldUse::default();
        assert_eq!(fields.missing(&meta_fields), None, "there are no records");
        let options =
            SourceOptions { meta_fields: meta_fields.clone(), ..SourceOptions::default() };
        fields.add_columns(["id", "text", "date", "source"], &options, |_| false);
        let said = fields.missing(&meta_fields).unwrap();
        assert!(said.starts_with("no record has a field `sourec`"), "{said}");
        assert!(said.contains("`source`"), "{said}");
        assert!(!fields.lacks_id("id") && !fields.lacks_id("url"));
        fields.add_columns(["sourec"], &options, |_| false);
        assert_eq!(fields.missing(&meta_fields), None);
    }
}
