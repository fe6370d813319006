//! Duplicates within groups, or across them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Settings;
use super::record_fields::field_of_document;
use crate::Scope;
use crate::series::{FIELDS_MAX, GroupKey, add_fields};
use cento::index::{DocAddress, Document, SignedDocument, Snapshot};
use cento_api::error::{Error, Result};
use cento_text::field_date::field_of;
use cento_text::hash::{Digest, hash_bytes, mix64};

/// The documents that may be duplicates of each other, by their groups.
#[derive(Debug, Clone)]
pub struct GroupScope {
    is_within: bool,
    key: GroupKey,
}

/// A number of a group; `None` for a document that is in none.
pub type Group = Option<u64>;

impl GroupScope {
    /// Returns the scope, unless all documents may be duplicates of each other.
    ///
    /// # Errors
    /// When the pattern of a group is invalid.
    pub fn new(scope: &Scope) -> Result<Option<GroupScope>> {
        let (is_within, by) = match scope {
            Scope::Everywhere => return Ok(None),
            Scope::Within(by) => (true, by),
            Scope::Across(by) => (false, by),
        };
        Ok(Some(GroupScope { is_within, key: GroupKey::new(by)? }))
    }

    /// Puts the field that decides into the meta object of a document, if its record has it
    /// elsewhere: the index keeps the group for documents that come later.
    pub fn complete(&self, document: &mut Document) {
        if !self.key.is_of_ids()
            && self.key.of_meta(&document.meta).is_none()
            && let Some(value) = field_of_document(document, self.key.name())
        {
            document.meta.insert(self.key.name().to_owned(), value.into_owned());
        }
    }

    /// Returns the field that makes the group of a document, for a meta object without others.
    pub fn field_in(&self, document: &Document) -> Map<String, Value> {
        let name = self.key.name();
        let value = field_of(&document.meta, name).filter(|_| !self.key.is_of_ids());
        value.map(|value| (name.to_owned(), value.clone())).into_iter().collect()
    }

    /// Returns the group of a document.
    pub fn of(&self, document: &Document) -> Group {
        let value = match self.key.is_of_ids() {
            true => self.key.of_id(&document.id),
            false => self.key.of_meta(&document.meta),
        };
        value.map(|value| hash_bytes(value.as_bytes()))
    }

    /// Returns the group of a document of an index.
    fn of_stored(&self, snapshot: &Snapshot, address: DocAddress) -> Result<Group> {
        let value = match self.key.is_of_ids() {
            true => self.key.of_id(&snapshot.id(address)?),
            false => self.key.of_meta(&snapshot.meta(address)?),
        };
        Ok(value.map(|value| hash_bytes(value.as_bytes())))
    }

    /// Tells whether documents of these groups may be duplicates.
    pub fn keeps(&self, a: Group, b: Group) -> bool {
        (a.is_some() && a == b) == self.is_within
    }

    /// Returns the digest to look up a text of this group: within groups each has its own.
    pub fn digest(&self, text: Digest, group: Group) -> Option<Digest> {
        match (self.is_within, group) {
            (false, _) => Some(text),
            (true, None) => None,
            (true, Some(group)) => {
                let Digest { low, high } = text;
                Some(Digest { low: low ^ group, high: high ^ mix64(group) })
            }
        }
    }

    /// Makes the error that no document has the field; `examples` are the fields that there are, or
    /// an id.
    pub fn unknown(&self, examples: &BTreeSet<String>) -> Error {
        let argument = if self.is_within { "within" } else { "group_by" };
        self.key.unknown(argument, examples)
    }

    /// Adds to the fields that there are those of a document without a group.
    pub fn add_example(&self, document: &Document, examples: &mut BTreeSet<String>) {
        if self.key.is_of_ids() {
            if examples.is_empty() {
                examples.insert(document.id.clone());
            }
        } else if examples.len() < FIELDS_MAX {
            add_fields(&document.meta, "", examples);
        }
    }
}

impl Settings {
    /// Returns the group of a document, if groups decide.
    pub(super) fn group(&self, document: &Document) -> Group {
        self.scope.as_ref().and_then(|scope| scope.of(document))
    }

    /// Tells whether documents of these groups may be duplicates of each other.
    pub(super) fn keeps(&self, a: Group, b: Group) -> bool {
        self.scope.as_ref().is_none_or(|scope| scope.keeps(a, b))
    }

    /// Returns the digest to look up the text of a document among those of the run.
    pub(super) fn text_digest(&self, signed: &SignedDocument) -> Option<Digest> {
        match &self.scope {
            None => Some(signed.digest),
            Some(scope) => scope.digest(signed.digest, scope.of(&signed.document)),
        }
    }

    /// Returns that of a text that passages were cut from. Across groups it would be that of one
    /// document of several.
    pub(super) fn whole_digest(&self, signed: &SignedDocument) -> Option<Digest> {
        let is_across = self.scope.as_ref().is_some_and(|scope| !scope.is_within);
        self.text_digest(signed).filter(|_| !is_across)
    }
}

/// Whether a run has met the field that makes groups.
#[derive(Debug, Default)]
pub struct GroupUse {
    is_met: bool,
    /// The fields that there are instead, or an id.
    examples: BTreeSet<String>,
}

impl GroupUse {
    /// Notes the next document, and completes it.
    pub fn meet(&mut self, scope: &GroupScope, document: &mut Document) {
        scope.complete(document);
        self.is_met |= scope.of(document).is_some();
        if !self.is_met {
            scope.add_example(document, &mut self.examples);
        }
    }

    /// Refuses a run over documents without the field.
    ///
    /// # Errors
    /// That no document has it.
    pub fn check(&self, scope: &GroupScope, documents: u64) -> Result<()> {
        if self.is_met || documents == 0 { Ok(()) } else { Err(scope.unknown(&self.examples)) }
    }
}

/// The documents of an index that a document may be a duplicate of.
pub struct Admitted<'a> {
    scope: Option<(&'a GroupScope, Group)>,
    snapshot: &'a Snapshot,
    failure: RefCell<Option<Error>>,
}

impl<'a> Admitted<'a> {
    /// Admits the documents of the snapshot that the scope allows for a document.
    pub fn new(
        scope: Option<&'a GroupScope>,
        document: &Document,
        snapshot: &'a Snapshot,
    ) -> Admitted<'a> {
        let scope = scope.map(|scope| (scope, scope.of(document)));
        Admitted { scope, snapshot, failure: RefCell::default() }
    }

    /// Tells whether the document at this address is admitted.
    pub fn has(&self, address: DocAddress) -> bool {
        let Some((scope, group)) = self.scope else { return true };
        match scope.of_stored(self.snapshot, address) {
            Ok(other) => scope.keeps(group, other),
            Err(error) => {
                self.failure.borrow_mut().get_or_insert(error);
                false
            }
        }
    }

    /// Returns the first error of reading the groups of documents.
    ///
    /// # Errors
    /// That one.
    pub fn finish(self) -> Result<()> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }
}
