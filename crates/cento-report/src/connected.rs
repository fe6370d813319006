//! Documents that pairs connect, whether a report shows the pairs or not.

use std::collections::{HashMap, HashSet};

use cento::Result;
use cento::index::{DocAddress, Snapshot};
use cento_api::PairOptions;
use cento_collections::Scope;
use cento_collections::links::Links;
use cento_collections::pairs::PairReport;

use crate::document_name::named;
use crate::group::Group;
use crate::number::count;

/// A document that a pair connects with another document.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LinkEnd {
    /// The id, with the index if the documents come from several indexes.
    pub name: String,
    /// The number of tokens.
    pub tokens: u32,
    /// The group, if pairs are of documents of different groups.
    pub group: Option<Group>,
}

/// Two connected documents.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DescribedLink {
    /// The documents, in the order of the pair.
    pub ends: [LinkEnd; 2],
    /// The resemblance of the documents, 0 to 1.
    pub resemblance: f64,
}

/// The documents that pairs connect, by name.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DescribedLinks {
    /// Pairs that connect documents, the most similar first.
    pub links: Vec<DescribedLink>,
    /// The number of pairs that meet the thresholds.
    pub total: u64,
    /// The clusters are of this number of most similar pairs.
    pub examined: u64,
    /// Every link of this number of most similar pairs is listed.
    pub listed: u64,
}

impl LinkEnd {
    fn read(snapshot: &Snapshot, address: DocAddress, scope: &Scope) -> Result<LinkEnd> {
        let (id, index) = (snapshot.id(address)?, snapshot.name_of(address));
        let tokens = snapshot.segment(address).signatures.document(address.doc)?.tokens;
        let group = Group::of(scope, snapshot, &id, index)?;
        Ok(LinkEnd { name: named(&id, index), tokens, group })
    }
}

impl DescribedLinks {
    /// Reads the names and groups of linked documents. `a` has the first documents, and `b` the
    /// second documents.
    ///
    /// # Errors
    /// When a document cannot be read.
    pub fn read(links: &Links, a: &Snapshot, b: &Snapshot, scope: &Scope) -> Result<Self> {
        let described = links.links.iter().map(|link| -> Result<DescribedLink> {
            let ends = [LinkEnd::read(a, link.a, scope)?, LinkEnd::read(b, link.b, scope)?];
            Ok(DescribedLink { ends, resemblance: link.resemblance })
        });
        Ok(DescribedLinks {
            links: described.collect::<Result<_>>()?,
            total: links.total,
            examined: links.examined,
            listed: links.listed,
        })
    }

    /// Renames the second documents, if an id can be in both of two indexes.
    #[must_use]
    pub fn rename_second(mut self, rename: impl Fn(&str) -> String) -> DescribedLinks {
        for link in &mut self.links {
            link.ends[1].name = rename(&link.ends[1].name);
        }
        self
    }

    /// Says how many pairs the clusters come from, or `None` if they come from all pairs.
    #[must_use]
    pub fn clusters_of(&self) -> Option<String> {
        (self.examined < self.total).then(|| clusters_of(self.examined, self.total))
    }

    /// Says how many pairs the edges come from, or `None` if they come from all pairs.
    #[must_use]
    pub fn edges_of(&self) -> Option<String> {
        (self.listed < self.total).then(|| {
            format!(
                "the {} most similar of {} pairs are drawn, and further pairs only where they \
                 connect more documents; a higher --min-similarity draws all that meet it",
                count(self.listed),
                count(self.total)
            )
        })
    }

    pub(crate) fn ends(&self) -> impl Iterator<Item = &LinkEnd> {
        self.links.iter().flat_map(|link| &link.ends)
    }

    /// Adds the groups of documents that are in no shown pair.
    pub(crate) fn add_groups(&self, groups: &mut HashMap<String, Group>) {
        for LinkEnd { name, group, .. } in self.ends() {
            if let Some(group) = group {
                groups.entry(name.clone()).or_insert_with(|| group.clone());
            }
        }
    }

    /// Returns the links whose pairs are not shown, by the numbers of the documents, with their
    /// similarities.
    pub(crate) fn beyond(
        &self,
        shown: &[(PairReport, f64)],
        numbers: &HashMap<String, usize>,
    ) -> Vec<(usize, usize, f64)> {
        let numbers = |names: [&String; 2]| names.map(|name| numbers[name]);
        let shown: HashSet<[usize; 2]> =
            shown.iter().map(|(pair, _)| numbers([&pair.a, &pair.b])).collect();
        let beyond = self.links.iter().filter_map(|DescribedLink { ends: [a, b], resemblance }| {
            let [a, b] = numbers([&a.name, &b.name]);
            (!shown.contains(&[a, b])).then_some((a, b, *resemblance))
        });
        beyond.collect()
    }
}

/// Says that the clusters are of some pairs only.
pub(crate) fn clusters_of(examined: u64, total: u64) -> String {
    format!(
        "the clusters are of the {} most similar of {} pairs, so they may lack documents; a higher \
         --min-similarity has fewer pairs",
        count(examined),
        count(total)
    )
}

/// A list of more pairs is too long to read.
const READABLE_PAIRS: u64 = 100;

/// Returns whether a threshold helps more than a longer list: nothing says how similar a pair must
/// be, and the list of all pairs would be too long to read.
#[must_use]
pub fn needs_threshold(options: &PairOptions, total: u64) -> bool {
    total > READABLE_PAIRS && !options.has_threshold()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::PairsReport;
    use crate::pairs::tests::{joined, pair};
    use crate::run::Run;

    fn link(a: &str, b: &str) -> DescribedLink {
        let end = |name: &str| LinkEnd { name: name.to_owned(), tokens: 9, group: None };
        DescribedLink { ends: [end(a), end(b)], resemblance: 0.5 }
    }

    fn report(examined: u64, anonymous: bool) -> PairsReport {
        let mut found = joined(vec![pair("ann", "bob", 0.9)]);
        let links = vec![link("ann", "bob"), link("bob", "cas"), link("zoe", "yks")];
        found.links = DescribedLinks { links, total: 30, examined, listed: 0 };
        found.total = 30;
        PairsReport::new(Run::new("pairs"), found, anonymous)
    }

    #[test]
    fn clusters_have_documents_of_pairs_that_are_not_shown() {
        // Only the shown pair made a cluster, so `cas` was missing.
        let found = report(30, false);
        let clusters: Vec<_> = found.clusters.iter().map(|one| one.members.join(" ")).collect();
        assert_eq!(clusters, ["ann bob cas", "yks zoe"]);
        assert_eq!((found.clusters[0].size, found.documents.len()), (3, 5));
        let html = found.html();
        assert!(html.contains("The clusters are of all pairs"), "{html}");
        assert!(["cas", "yks"].iter().all(|name| html.contains(name)), "{html}");
        assert_eq!(html.matches("<line class=\"edge\"").count(), 3, "{html}");
        let all = report(30, true);
        let all = format!("{}{}", serde_json::to_string(&all).unwrap(), all.html());
        assert!(["ann", "bob", "cas", "zoe", "yks"].iter().all(|name| !all.contains(name)));
    }

    #[test]
    fn clusters_of_some_pairs_say_of_how_many() {
        let found = report(20, false);
        assert_eq!(found.examined_pairs, Some(20));
        let said = "the 20 most similar of 30 pairs";
        assert!(found.html().contains(said) && found.csv().unwrap().contains(said));
        assert!(!report(30, false).html().contains("the 30 most similar"));
    }

    #[test]
    fn many_pairs_without_a_threshold_need_one() {
        let options = PairOptions::default();
        assert!(needs_threshold(&options, 1770) && !needs_threshold(&options, 60));
        assert!(!needs_threshold(&options.min_similarity(0.5), 1770));
    }
}
