//! Restricts duplicates to documents of one group, or of different groups.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::DedupSettings;
use super::record_fields::{add_fields_of_document, field_of_document};
use crate::Scope;
use crate::series::{FIELDS_MAX, GroupKey};
use cento::index::{DocAddress, Document, SignedDocument, Snapshot};
use cento_api::error::{Error, Result};
use cento_text::field_date::field_of;
use cento_text::hash::{Digest, hash_bytes, mix64};

/// Which documents may be duplicates of each other, by group.
#[derive(Debug, Clone)]
pub struct GroupScope {
    is_within: bool,
    key: GroupKey,
}

/// A hash that identifies a group, or `None` for a document without a group.
pub type Group = Option<u64>;

impl GroupScope {
    /// Returns the scope, or `None` if any two documents may be duplicates.
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

    /// Copies the field that decides from the record of a document into its meta object, where the
    /// index keeps the group for comparison with later documents.
    pub fn complete(&self, document: &mut Document) {
        if !self.key.is_of_ids()
            && self.key.of_meta(&document.meta).is_none()
            && let Some(value) = field_of_document(document, self.key.name())
        {
            document.meta.insert(self.key.name().to_owned(), value.into_owned());
        }
    }

    /// Returns a meta object with only the field that decides. Empty if ids decide.
    pub fn field_in(&self, document: &Document) -> Map<String, Value> {
        let name = self.key.name();
        let value = field_of(&document.meta, name).filter(|_| !self.key.is_of_ids());
        value.map(|value| (name.to_owned(), value.clone())).into_iter().collect()
    }

    pub fn of(&self, document: &Document) -> Group {
        let value = match self.key.is_of_ids() {
            true => self.key.of_id(&document.id),
            false => self.key.of_meta(&document.meta),
        };
        value.map(|value| hash_bytes(value.as_bytes()))
    }

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

    /// Returns the digest for looking up a text of this group. Within groups, the digest depends on
    /// the group. `None` if the document has no group to be found in.
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

    /// Makes the error that no document has the field. `examples` are the existing fields, or an
    /// id.
    pub fn unknown(&self, examples: &BTreeSet<String>) -> Error {
        let argument = if self.is_within { "within" } else { "group_by" };
        self.key.unknown(argument, examples)
    }

    /// Collects the fields, or the id, of a document without a group as `examples`.
    pub fn add_example(&self, document: &Document, examples: &mut BTreeSet<String>) {
        if self.key.is_of_ids() {
            if examples.is_empty() {
                examples.insert(document.id.clone());
            }
        } else if examples.len() < FIELDS_MAX {
            add_fields_of_document(document, examples);
        }
    }
}

impl DedupSettings {
    /// Returns the group of a document, if groups decide.
    pub(super) fn group(&self, document: &Document) -> Group {
        self.scope.as_ref().and_then(|scope| scope.of(document))
    }

    /// Tells whether groups allow the documents to be duplicates.
    pub(super) fn keeps(&self, a: Group, b: Group) -> bool {
        self.scope.as_ref().is_none_or(|scope| scope.keeps(a, b))
    }

    /// Returns the digest for looking up the text of a document among the texts of the run.
    pub(super) fn text_digest(&self, signed: &SignedDocument) -> Option<Digest> {
        match &self.scope {
            None => Some(signed.digest),
            Some(scope) => scope.digest(signed.digest, scope.of(&signed.document)),
        }
    }

    /// Returns the digest for looking up a text before cuts. Across groups the digest is useless,
    /// because it would lead to only one of several documents with the text.
    pub(super) fn whole_digest(&self, signed: &SignedDocument) -> Option<Digest> {
        let is_across = self.scope.as_ref().is_some_and(|scope| !scope.is_within);
        self.text_digest(signed).filter(|_| !is_across)
    }
}

/// Tells whether the run has met the field that defines groups.
#[derive(Debug, Default)]
pub struct GroupUse {
    is_met: bool,
    /// The existing fields, or an id, for the error message.
    examples: BTreeSet<String>,
}

impl GroupUse {
    /// Takes note of the next document, and completes its meta object.
    pub fn meet(&mut self, scope: &GroupScope, document: &mut Document) {
        scope.complete(document);
        self.is_met |= scope.of(document).is_some();
        if !self.is_met {
            scope.add_example(document, &mut self.examples);
        }
    }

    /// Refuses a run whose documents all lack the field.
    ///
    /// # Errors
    /// When documents were met, and no document has the field.
    pub fn check(&self, scope: &GroupScope, documents: u64) -> Result<()> {
        if self.is_met || documents == 0 { Ok(()) } else { Err(scope.unknown(&self.examples)) }
    }
}

/// The documents of an index that a document may be a duplicate of.
pub struct DuplicateScope<'a> {
    scope: Option<(&'a GroupScope, Group)>,
    snapshot: &'a Snapshot,
    failure: RefCell<Option<Error>>,
}

impl<'a> DuplicateScope<'a> {
    /// Admits the documents that the scope allows as duplicates of `document`.
    pub fn new(
        scope: Option<&'a GroupScope>,
        document: &Document,
        snapshot: &'a Snapshot,
    ) -> DuplicateScope<'a> {
        let scope = scope.map(|scope| (scope, scope.of(document)));
        DuplicateScope { scope, snapshot, failure: RefCell::default() }
    }

    /// Tells whether the document at this address is admitted. An error counts as a no.
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

    /// Reports whether a group could not be read.
    ///
    /// # Errors
    /// The first error of [`has`](Self::has).
    pub fn finish(self) -> Result<()> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }
}
