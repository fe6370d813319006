//! Groups of documents in clusters, such as the attempts of an author.

use std::collections::HashMap;

use cento::field_date::{field_of, group_key};
use cento::index::Snapshot;
use cento::{Error, Result};
use cento_api::{NameFields, NamePattern};
use cento_collections::Scope;

use crate::graph::{Cluster, clusters};

/// A group of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Distinguishes the group from other groups: the JSON of its fields.
    pub key: String,
    /// The values of the fields.
    pub name: String,
}

impl Group {
    /// Returns the group of a document, in the index `index` if given. `None` if the scope does not
    /// keep pairs of different groups only, or if the document is in no group.
    ///
    /// # Errors
    /// When the document does not exist, or cannot be read.
    pub fn of(
        scope: &Scope,
        snapshot: &Snapshot,
        id: &str,
        index: Option<&str>,
    ) -> Result<Option<Group>> {
        let by = match scope {
            Scope::Across(by) => by,
            Scope::Everywhere | Scope::Within(_) => return Ok(None),
        };
        if NamePattern::is_pattern(by) {
            let pattern = NamePattern::new(by)?;
            let group = |fields: NameFields<'_>| {
                let key = serde_json::to_string(&fields).expect("fields are JSON");
                let values: Vec<String> =
                    fields.into_iter().map(|(_, value)| value.into()).collect();
                Group { key, name: values.join(" ") }
            };
            return Ok(pattern.of_end(id).map(group));
        }
        let address = snapshot.find_in(index, id)?;
        let address = address.ok_or_else(|| Error::UnknownId { id: id.to_owned() })?;
        let meta = snapshot.meta(address)?;
        let value = field_of(&meta, by).filter(|value| !value.is_null());
        let group = |key: String| {
            let name = serde_json::from_str(&key).unwrap_or_else(|_| key.clone());
            Group { key, name }
        };
        Ok(value.map(group_key).map(group))
    }
}

/// The members of clusters: documents, or groups of documents.
#[derive(Debug, Default)]
pub struct Members {
    names: HashMap<String, String>,
    /// The keys of the members, by pair.
    edges: Vec<(String, String)>,
}

impl Members {
    /// Adds a pair of documents, given by name and group, if any.
    pub fn connect(&mut self, sides: [(&str, Option<&Group>); 2]) {
        let [a, b] = sides.map(|(name, group)| {
            let (key, name) = Members::key(name, group);
            self.names.insert(key.clone(), name.to_owned());
            key
        });
        self.edges.push((a, b));
    }

    /// Returns the key and the name of the member that a document belongs to. The keys of a group
    /// and of a document differ even if their names are equal, and so do the keys of groups with
    /// equal names.
    fn key<'a>(name: &'a str, group: Option<&'a Group>) -> (String, &'a str) {
        match group {
            Some(Group { key, name }) => (format!("group {key}"), name),
            None => (format!("document {name}"), name),
        }
    }

    /// Returns the clusters of members, by their names, and the number of each member's cluster.
    /// Clusters are in the order of their first pairs.
    #[must_use]
    pub fn clusters(mut self) -> (Vec<Cluster>, Membership) {
        let by_key = clusters(self.edges.iter().map(|(a, b)| (&**a, &**b)));
        let mut first = HashMap::new();
        for (at, (a, b)) in self.edges.iter().enumerate() {
            for key in [a, b] {
                first.entry(key.clone()).or_insert(at);
            }
        }
        let mut found: Vec<(usize, Vec<(String, String)>)> = Vec::new();
        for cluster in by_key {
            let place = cluster.members.iter().filter_map(|key| first.get(key)).min();
            let place = place.copied().unwrap_or(usize::MAX);
            let mut name =
                |key: String| (self.names.remove(&key).expect("each is in one cluster"), key);
            let mut members: Vec<_> = cluster.members.into_iter().map(&mut name).collect();
            members.sort_unstable();
            found.push((place, members));
        }
        found.sort_unstable();
        let (mut named, mut numbers) = (Vec::new(), HashMap::new());
        for (cluster, (_, found)) in (1..).zip(found) {
            let (size, mut members) = (found.len(), Vec::with_capacity(found.len()));
            for (name, key) in found {
                members.push(name);
                numbers.insert(key, cluster);
            }
            named.push(Cluster { cluster, size, members });
        }
        (named, Membership { numbers })
    }
}

/// The numbers of the clusters of members.
#[derive(Debug)]
pub struct Membership {
    numbers: HashMap<String, usize>,
}

impl Membership {
    /// Returns the number of a document's cluster, or 0 if the document is in no cluster.
    #[must_use]
    pub fn of(&self, name: &str, group: Option<&Group>) -> usize {
        self.numbers.get(&Members::key(name, group).0).copied().unwrap_or_default()
    }
}
