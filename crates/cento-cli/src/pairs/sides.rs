//! The files of the documents of pairs.

use std::collections::HashMap;

use serde::Serialize;

use crate::output::named;
use cento::index::DocAddress;
use cento::search::Searcher;
use cento::{Error, Overlap, Stop};
use cento_collections::Scope;
use cento_collections::pairs::PairReport;
use cento_report::{Cluster, DescribedLinks, Group, Members};

/// Two files of different documents with common fingerprints.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct FilePair {
    /// The file of the first document.
    pub a: String,
    /// The file of the second document.
    pub b: String,
    /// Distinct fingerprints in common.
    pub overlap: u32,
}

/// Maximum number of pairs of files to show for a pair of documents.
const FILE_PAIRS_MAX: usize = 5;

/// The files of a document, with their distinct fingerprints in ascending order.
type Files = Vec<(String, Vec<u64>)>;

/// The documents of pairs.
pub struct Sides<'a> {
    searcher: &'a Searcher,
    /// The files of the documents of shown pairs.
    files: HashMap<DocAddress, Files>,
}

impl<'a> Sides<'a> {
    /// `searcher` must cover every document of the pairs.
    pub fn new(searcher: &'a Searcher) -> Sides<'a> {
        Sides { searcher, files: HashMap::new() }
    }

    /// Returns the document with this id, in `index` if given.
    fn address(&self, id: &str, index: Option<&str>) -> cento::Result<DocAddress> {
        let found = self.searcher.snapshot().find_in(index, id)?;
        found.ok_or_else(|| Error::UnknownId { id: id.to_owned() })
    }

    /// Returns the clusters of documents that shown pairs and links connect. Where pairs are of
    /// documents of different groups, the clusters are of groups, by their names.
    ///
    /// # Errors
    /// When a document cannot be read.
    pub fn clusters<'b>(
        &self,
        pairs: impl Iterator<Item = &'b PairReport>,
        links: &DescribedLinks,
        scope: &Scope,
    ) -> cento::Result<Vec<Cluster>> {
        let snapshot = self.searcher.snapshot();
        let mut members = Members::default();
        for pair in pairs {
            let (index_a, index_b) = (pair.index_a.as_deref(), pair.index_b.as_deref());
            let (a, b) = (named(&pair.a, index_a), named(&pair.b, index_b));
            let group_a = Group::of(scope, snapshot, &pair.a, index_a)?;
            let group_b = Group::of(scope, snapshot, &pair.b, index_b)?;
            members.connect([(&a, group_a.as_ref()), (&b, group_b.as_ref())]);
        }
        for link in &links.links {
            members.connect(link.ends.each_ref().map(|end| (&*end.name, end.group.as_ref())));
        }
        Ok(members.clusters().0)
    }

    /// Returns the pairs of files of two documents with most in common, and the number of pairs
    /// with something in common. Boilerplate does not count.
    ///
    /// # Errors
    /// When a text cannot be read or signed.
    pub fn files(&mut self, pair: &PairReport) -> cento::Result<(Vec<FilePair>, usize)> {
        let a = self.address(&pair.a, pair.index_a.as_deref())?;
        let b = self.address(&pair.b, pair.index_b.as_deref())?;
        for address in [a, b] {
            if !self.files.contains_key(&address) {
                self.files.insert(address, files_of(self.searcher, address)?);
            }
        }
        let mut pairs = Vec::new();
        for (one, keys) in &self.files[&a] {
            for (other, other_keys) in &self.files[&b] {
                let overlap = Overlap::of(keys, other_keys).shared;
                if overlap > 0 {
                    pairs.push(FilePair { a: one.clone(), b: other.clone(), overlap });
                }
            }
        }
        // Stable: of equals the first names.
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.overlap));
        let total = pairs.len();
        pairs.truncate(FILE_PAIRS_MAX);
        Ok((pairs, total))
    }
}

/// Returns the path of a part. The id of a document of a single file is the path.
fn path_of(id: &str, part: &str) -> String {
    let is_file = id.strip_suffix(part).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    if is_file { id.to_owned() } else { format!("{id}/{part}") }
}

/// Returns the files of a document, or the document as a single file if it has no parts.
fn files_of(searcher: &Searcher, address: DocAddress) -> cento::Result<Vec<(String, Vec<u64>)>> {
    let snapshot = searcher.snapshot();
    let document = snapshot.document(address)?;
    let id = document.id;
    let text = document.text.unwrap_or_default();
    let parts: Vec<(String, &str)> = match document.parts.is_empty() {
        true => vec![(id, &text)],
        false => cento_api::part::part_texts(&document.parts, &text)
            .map(|(name, text)| (path_of(&id, name), text))
            .collect(),
    };
    let keys = |text: &str| -> cento::Result<Vec<u64>> {
        if let Some(boilerplate) = searcher.boilerplate() {
            return boilerplate.keys_left_in(text, Stop::NEVER);
        }
        let mut keys: Vec<u64> =
            snapshot.config().sign(text)?.1.iter().map(|found| found.key).collect();
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    };
    parts.into_iter().map(|(name, text)| Ok((name, keys(text)?))).collect()
}
