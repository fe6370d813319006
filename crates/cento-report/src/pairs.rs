//! Pairs of similar documents and their passages.

use std::cmp::Reverse;
use std::collections::HashMap;

use cento::scheme::Scheme;
use cento::{Analyzer, Passage, Similarity, Unit};
use cento_api::Sources;
use cento_api::part::part_at;
use cento_api::whole::is_zero;
use cento_collections::most_similar::Histogram;
use cento_collections::pairs::PairReport;
use serde::Serialize;

use crate::connected::DescribedLinks;
use crate::graph::Cluster;
use crate::group::{Group, Members};
use crate::link::link;
use crate::omission::NotCompared;
use crate::parted_text::PartedText;
use crate::reuse::Place;
use crate::run::Run;

/// A report of pairs of documents.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct PairsReport {
    /// The origin of the numbers.
    pub run: Run,
    /// The number of documents that were compared.
    pub compared: u64,
    /// The definition of the similarities, for the reader.
    pub measure: String,
    /// All pairs by similarity, including pairs below the thresholds, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
    /// The documents of the pairs, then the other documents of the clusters, by their numbers
    /// from 1.
    pub documents: Vec<Member>,
    /// The shown pairs, best first.
    pub pairs: Vec<PairEntry>,
    /// The number of all pairs that meet the thresholds.
    pub total: u64,
    /// Whether some pairs are not shown.
    pub more: bool,
    /// The inputs that were not compared, or only in part.
    pub not_compared: Vec<NotCompared>,
    /// The inputs with parts that a reader does not see, with a description of these parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<NotCompared>,
    /// The number of documents that lack the field for choosing pairs.
    #[serde(skip_serializing_if = "is_zero")]
    pub documents_without_field: u64,
    /// The number of pairs of a new document and an indexed document that were compared by
    /// fingerprints alone, because other documents resemble the new document more.
    #[serde(skip_serializing_if = "is_zero")]
    pub estimated_pairs: u64,
    /// The documents that pairs connect, or groups of documents if pairs are of different groups.
    /// In an anonymous report groups have numbers.
    pub clusters: Vec<Cluster>,
    /// The clusters are of this number of most similar pairs, if there are too many pairs to
    /// examine them all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examined_pairs: Option<u64>,
    /// Where the text of each new document came from, if new documents are compared with known
    /// ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Sources>,
    #[serde(skip)]
    pub(crate) limit_option: &'static str,
    /// The pairs that are not shown, but connect documents: two numbers and the resemblance.
    #[serde(skip)]
    pub(crate) links: Vec<(usize, usize, f64)>,
    /// The number of documents in shown pairs, which are the first documents.
    #[serde(skip)]
    pub(crate) documents_in_pairs: usize,
}

/// A document of a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Member {
    /// The number, in the order of first pairs.
    pub number: usize,
    /// The id, or the number in a report without names.
    pub name: String,
    /// The address, if the id is an address of http or https.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The number of tokens.
    pub tokens: u32,
    /// The name of the group, if pairs are of documents of different groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The number of the cluster.
    pub cluster: usize,
    /// The parts of the text that are specified boilerplate, in bytes: ascending and disjoint.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<(u32, u32)>,
    #[serde(skip)]
    pub(crate) text: Option<PartedText>,
    /// Distinguishes the group from other groups.
    #[serde(skip)]
    pub(crate) group_key: Option<String>,
}

/// Two documents with their similarity and passages.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairEntry {
    /// The number of the first document.
    pub a: usize,
    /// The number of the second document.
    pub b: usize,
    /// The similarity of the documents, 0 to 1.
    pub similarity: f64,
    /// The similarity of the texts, by runs of words.
    #[serde(flatten)]
    pub texts: Similarity,
    /// The number of distinct common fingerprints.
    pub overlap: u32,
    /// How much two programs suggest that one was copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Whether one document is a program too short for meaningful numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_short: Option<bool>,
    /// The common passages. `document` is in document a, `source` in document b.
    pub passages: Vec<Place>,
    /// Whether the passages are complete.
    pub complete: bool,
    /// Whether the pair joins its documents in a cluster.
    #[serde(skip)]
    pub(crate) is_edge: bool,
}

impl Member {
    fn group(&self) -> Option<Group> {
        let (key, name) = self.group_key.clone().zip(self.group.clone())?;
        Some(Group { key, name })
    }
}

impl PairEntry {
    /// Tells whether one document is a program too short for meaningful numbers.
    pub(crate) fn is_too_short(&self) -> bool {
        self.too_short == Some(true)
    }
}

/// Returns the unit of the similarities: the runs of words that the scheme compares, or
/// fingerprints if the scheme has no runs.
#[must_use]
pub fn compared_units(scheme: &Scheme, analyzer: &Analyzer) -> String {
    let is_code = analyzer.is_of_programs();
    let words = match analyzer.tokens_a_word() {
        _ if is_code => "tokens",
        1 => "words",
        _ => "letters",
    };
    match scheme.compared_run_tokens(is_code) {
        None => "fingerprints".to_owned(),
        Some(1) => words.to_owned(),
        Some(run) => format!("runs of {run} {words}"),
    }
}

/// Returns the definition of the similarities of `pairs`.
#[must_use]
pub fn symmetric_measure(scheme: &Scheme, analyzer: &Analyzer) -> String {
    let units = compared_units(scheme, analyzer);
    let less = match units.starts_with("runs") {
        true => "; one edited word changes all runs that have it, so passages share more",
        false => "",
    };
    format!("twice the {units} that both have, as a share of the {units} of both together{less}")
}

/// Found pairs, and the known data of their documents.
#[derive(Debug, Clone, Default)]
pub struct DescribedPairs {
    /// The number of documents that were compared.
    pub compared: u64,
    /// The definition of the similarities, for the reader.
    pub measure: String,
    /// The number of pairs by similarity, if counted.
    pub histogram: Option<Histogram>,
    /// The pairs, best first, with their similarities.
    pub pairs: Vec<(PairReport, f64)>,
    /// The number of pairs that meet the thresholds. `pairs` has the best pairs.
    pub total: u64,
    /// The option that shows more pairs, such as `--limit`, or empty.
    pub limit_option: &'static str,
    /// The inputs that were not compared.
    pub not_compared: Vec<NotCompared>,
    /// The inputs with parts that a reader does not see.
    pub warnings: Vec<NotCompared>,
    /// The number of documents that lack the field for choosing pairs.
    pub documents_without_field: u64,
    /// The number of pairs that were compared by their fingerprints alone.
    pub estimated_pairs: u64,
    /// The texts of the documents, as far as known, by name.
    pub texts: HashMap<String, PartedText>,
    /// For each text, the parts that are specified boilerplate, in bytes.
    pub boilerplate: HashMap<String, Vec<(u32, u32)>>,
    /// Where the text of each new document came from, if new documents are compared with known
    /// ones.
    pub sources: Vec<Sources>,
    /// The groups of documents, if pairs are of documents of different groups.
    pub groups: HashMap<String, Group>,
    /// The documents that all pairs connect, including the pairs that are not in `pairs`.
    pub links: DescribedLinks,
}

impl PairsReport {
    /// Makes a report of pairs. `anonymous` replaces names by numbers that reveal nothing about the
    /// names. The numbers of documents and groups follow the similarity of pairs, then the numbers
    /// of words. The numbers of parts follow their places, and other inputs are numbered too.
    #[must_use]
    pub fn new(run: Run, joined: DescribedPairs, anonymous: bool) -> PairsReport {
        let DescribedPairs {
            compared, measure, histogram, pairs, mut texts, mut boilerplate, ..
        } = joined;
        let (total, limit_option) = (joined.total.max(pairs.len() as u64), joined.limit_option);
        let run = if anonymous { run.without_names() } else { run };
        let mut not_compared = joined.not_compared;
        if anonymous {
            not_compared = NotCompared::numbered(not_compared);
        }
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut documents: Vec<Member> = Vec::new();
        let (mut groups, mut group_names) = (joined.groups, HashMap::new());
        let links = joined.links;
        links.add_groups(&mut groups);
        let of_pairs =
            pairs.iter().flat_map(|(pair, _)| [(&pair.a, pair.tokens_a), (&pair.b, pair.tokens_b)]);
        for (id, tokens) in of_pairs.chain(links.ends().map(|end| (&end.name, end.tokens))) {
            if numbers.contains_key(id) {
                continue;
            }
            let number = documents.len() + 1;
            numbers.insert(id.clone(), number);
            let (name, link) = match anonymous {
                true => (format!("Document {number}"), None),
                false => (id.clone(), link(id).map(str::to_owned)),
            };
            let mut text = texts.remove(id);
            if let Some(text) = text.as_mut().filter(|_| anonymous) {
                let parts = (1..).zip(&mut text.parts);
                parts.for_each(|(number, part)| part.name = format!("Part {number}"));
            }
            let boilerplate = boilerplate.remove(id).unwrap_or_default();
            let group = groups.remove(id).map(|Group { key, name }| {
                let count = group_names.len() + 1;
                let name = if anonymous { format!("Group {count}") } else { name };
                let name = group_names.entry(key.clone()).or_insert(name).clone();
                (key, name)
            });
            let ((group_key, group), cluster) = (group.unzip(), 0);
            let one =
                Member { number, name, link, tokens, group, cluster, boilerplate, text, group_key };
            documents.push(one);
        }
        let (mut sources, mut warnings) = (joined.sources, joined.warnings);
        if anonymous {
            number_names(&numbers, &mut sources, &mut warnings);
        }
        let mut members = Members::default();
        let edges = pairs.iter().filter(|(pair, _)| pair.is_edge());
        let edges = edges.map(|(pair, _)| [&pair.a, &pair.b]);
        let linked = links.links.iter().map(|link| link.ends.each_ref().map(|end| &end.name));
        for ids in edges.chain(linked) {
            let sides = ids.map(|id| &documents[numbers[id] - 1]);
            let groups = sides.map(Member::group);
            let [a, b] = sides.map(|document| document.name.as_str());
            members.connect([(a, groups[0].as_ref()), (b, groups[1].as_ref())]);
        }
        let (clusters, membership) = members.clusters();
        for document in &mut documents {
            document.cluster = membership.of(&document.name, document.group().as_ref());
        }
        let of_pairs = pairs.iter().map(|(pair, _)| numbers[&pair.a].max(numbers[&pair.b]));
        let documents_in_pairs = of_pairs.max().unwrap_or(0);
        let examined_pairs = (links.examined < links.total).then_some(links.examined);
        let links = links.beyond(&pairs, &numbers);
        let pairs = pairs.into_iter().map(|(pair, similarity)| {
            let (a, b) = (numbers[&pair.a], numbers[&pair.b]);
            entry(pair, a, b, similarity, &documents)
        });
        let pairs: Vec<_> = pairs.collect();
        let more = (pairs.len() as u64) < total;
        PairsReport {
            run,
            compared,
            measure,
            histogram,
            documents,
            pairs,
            total,
            more,
            not_compared,
            warnings,
            documents_without_field: joined.documents_without_field,
            estimated_pairs: joined.estimated_pairs,
            clusters,
            examined_pairs,
            sources,
            limit_option,
            links,
            documents_in_pairs,
        }
    }

    /// Returns the numbered pairs with a program that is too short to judge, or the remaining
    /// pairs.
    pub(crate) fn numbered(&self, too_short: bool) -> impl Iterator<Item = (usize, &PairEntry)> {
        (1..).zip(&self.pairs).filter(move |(_, pair)| pair.is_too_short() == too_short)
    }

    pub(crate) fn member(&self, number: usize) -> &Member {
        &self.documents[number - 1]
    }
}

/// Replaces names by numbers. Documents in pairs keep their numbers, and other documents get the
/// next numbers in an order that does not depend on names.
fn number_names(
    numbers: &HashMap<String, usize>,
    sources: &mut [Sources],
    warnings: &mut [NotCompared],
) {
    let mut numbers = numbers.clone();
    sources.sort_by_key(|one| {
        let counts = (one.tokens, one.known, one.shared, one.new, one.complete);
        (numbers.get(&one.name).copied().unwrap_or(usize::MAX), Reverse(counts))
    });
    for one in &mut *sources {
        one.name = numbered(&mut numbers, &one.name);
    }
    warnings.sort_by(|a, b| {
        let number = |one: &NotCompared| numbers.get(&one.name).copied().unwrap_or(usize::MAX);
        (number(a), &a.reason).cmp(&(number(b), &b.reason))
    });
    for warning in warnings {
        warning.name = numbered(&mut numbers, &warning.name);
    }
}

/// Returns the name of a document with its number, or else the next number.
fn numbered(numbers: &mut HashMap<String, usize>, name: &str) -> String {
    let next = numbers.len() + 1;
    format!("Document {}", numbers.entry(name.to_owned()).or_insert(next))
}

fn entry(pair: PairReport, a: usize, b: usize, similarity: f64, documents: &[Member]) -> PairEntry {
    // A passage in tokens, or beyond a text, cannot be shown: its text is not stored.
    let is_in = |number: usize, (start, end): (u32, u32)| {
        let text = documents[number - 1].text.as_deref();
        text.is_some_and(|text| text.get(start as usize..end as usize).is_some())
    };
    // Uses the names in this report, because an anonymous report lacks the true names.
    let part = |number: usize, (start, _): (u32, u32)| {
        let text = documents[number - 1].text.as_ref()?;
        part_at(&text.parts, start).map(|part| part.name.clone())
    };
    let placed = |passage: Passage| {
        let (a_part, b_part) = (part(a, passage.a), part(b, passage.b));
        Place::of_pair(Passage { a_part, b_part, ..passage })
    };
    let is_edge = pair.is_edge();
    let passages = pair.passages.into_iter().flatten();
    let passages = passages
        .filter(|p| p.unit == Unit::Bytes && is_in(a, p.a) && is_in(b, p.b))
        .map(placed)
        .collect();
    PairEntry {
        a,
        b,
        similarity,
        texts: pair.similarity,
        overlap: pair.overlap,
        score: pair.score,
        too_short: pair.too_short,
        passages,
        complete: pair.passages_complete != Some(false),
        is_edge,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use cento::Part;
    use cento_api::{SourceRanges, SourcedDocument};
    use serde_json::json;

    use super::*;

    pub(crate) fn pair(a: &str, b: &str, similarity: f64) -> (PairReport, f64) {
        let report = json!({
            "a": a, "b": b, "overlap": 9, "fingerprints_a": 10, "fingerprints_b": 11, "tokens_a": 30, "tokens_b": 40,
            "containment_of_a": 0.9, "containment_of_b": 0.8, "resemblance": similarity, "exact": false,
            "category": null,
            "passages": [{"a": [0, 4], "b": [1, 5], "tokens": 4, "similarity": 0.5}],
        });
        (serde_json::from_value(report).unwrap(), similarity)
    }

    pub(crate) fn joined(pairs: Vec<(PairReport, f64)>) -> DescribedPairs {
        let ids = pairs.iter().flat_map(|(pair, _)| [pair.a.clone(), pair.b.clone()]);
        let texts = ids.map(|id| (id, "one two".into())).collect();
        let histogram = Some(Histogram { none: 6, ..Histogram::default() });
        let total = pairs.len() as u64;
        let joined = DescribedPairs {
            compared: 5,
            histogram,
            pairs,
            total,
            texts,
            ..DescribedPairs::default()
        };
        DescribedPairs { measure: "similarity".into(), limit_option: "--limit", ..joined }
    }

    #[test]
    fn numbers_follow_the_pairs_and_clusters_the_documents() {
        let joined = joined(vec![pair("z", "b", 0.9), pair("x", "y", 0.5), pair("a", "b", 0.4)]);
        let report = PairsReport::new(Run::new("pairs"), joined, false);
        let named: Vec<_> =
            report.documents.iter().map(|d| (d.number, d.name.as_str(), d.cluster)).collect();
        assert_eq!(named, [(1, "z", 1), (2, "b", 1), (3, "x", 2), (4, "y", 2), (5, "a", 1)]);
        assert_eq!((report.pairs[2].a, report.pairs[2].b), (5, 2));
        assert_eq!(report.pairs[0].passages.len(), 1);
    }

    #[test]
    fn clusters_have_groups_once_where_they_are_known() {
        // Each attempt of an author was a separate member.
        let found = || {
            let pairs = [("ann/1", "bob/1", 0.9), ("ann/2", "bob/1", 0.5), ("zoe", "cas/1", 0.4)];
            let mut found = joined(pairs.map(|(a, b, x)| pair(a, b, x)).to_vec());
            for id in ["ann/1", "ann/2", "bob/1", "cas/1"] {
                let name = id[..3].to_owned();
                found.groups.insert(id.into(), Group { key: format!("\"{name}\""), name });
            }
            found
        };
        let members = |report: &PairsReport| -> Vec<Vec<String>> {
            report.clusters.iter().map(|cluster| cluster.members.clone()).collect()
        };
        let named = PairsReport::new(Run::new("pairs"), found(), false);
        assert_eq!(members(&named), [["ann", "bob"], ["cas", "zoe"]]);
        let clusters: Vec<usize> = named.documents.iter().map(|one| one.cluster).collect();
        assert_eq!(clusters, [1, 1, 1, 2, 2]);
        let html = named.html();
        let (_, table) = html.split_once("<th scope=\"col\">Groups</th>").unwrap();
        let (table, _) = table.split_once("</table>").unwrap();
        let row = table.split("<tr>").find(|row| row.contains(">ann<")).unwrap();
        let numbers: Vec<&str> = row.split("class=\"badge").skip(1).collect();
        let is_of = |badge: &&str, number: usize| badge.contains(&format!(">{number}</span>"));
        assert!(numbers.len() == 3 && is_of(&numbers[0], 1) && is_of(&numbers[1], 3), "{row}");
        assert_eq!((row.matches(">ann<").count(), row.matches(">bob<").count()), (1, 1), "{row}");
        let unnamed = PairsReport::new(Run::new("pairs"), found(), true);
        assert_eq!(members(&unnamed), [["Group 1", "Group 2"], ["Document 4", "Group 3"]]);
        let all = format!("{}{}", serde_json::to_string(&unnamed).unwrap(), unnamed.html());
        assert!(["ann", "bob", "cas", "zoe"].iter().all(|name| !all.contains(name)), "{all}");
    }

    /// Returns a document of nine tokens. An old document has five of the tokens.
    fn sourced(name: &str) -> SourcedDocument {
        let (id, index) = ("old".into(), Some("2024".into()));
        SourcedDocument {
            name: name.into(),
            places: (0..9).collect(),
            boilerplate: Vec::new(),
            sources: vec![SourceRanges { id, index, ranges: vec![(0, 5)] }],
            complete: true,
        }
    }

    #[test]
    fn a_new_document_is_listed_with_the_one_that_it_is_most_alike() {
        let mut found = joined(vec![pair("ann", "bob", 0.9), pair("cas", "ann", 0.4)]);
        found.sources = ["ann", "cas", "zoe"].map(|name| sourced(name).sums()).to_vec();
        let html = PairsReport::new(Run::new("pairs"), found, false).html();
        let (_, table) = html.split_once("<h2>New documents</h2>").unwrap();
        let (table, _) = table.split_once("</table>").unwrap();
        let rows: Vec<&str> = table.split("<tr>").skip(2).collect();
        assert!(rows[0].contains("bob") && rows[0].contains("#pair1"), "{}", rows[0]);
        assert!(rows[1].contains("ann") && rows[1].contains("#pair2"), "{}", rows[1]);
        assert!(!rows[2].contains("#pair"), "{}", rows[2]);
    }

    #[test]
    fn a_report_without_names_has_no_name() {
        let joined = joined(vec![pair("ann", "https://bob.example/", 0.9)]);
        let report = PairsReport::new(Run::new("pairs"), joined, true);
        let all = format!("{}{}", serde_json::to_string(&report).unwrap(), report.html());
        assert!(!all.contains("ann") && !all.contains("bob"), "{all}");
        assert!(all.contains("Document 1") && all.contains("Document 2"));
    }

    #[test]
    fn a_passage_names_its_parts_and_in_an_anonymous_report_their_numbers() {
        let report = |anonymous| {
            let mut found = joined(vec![pair("ann", "bob", 0.9)]);
            let passages = found.pairs[0].0.passages.as_mut().unwrap();
            (passages[0].a, passages[0].b) = ((4, 7), (0, 3));
            (passages[0].a_part, passages[0].b_part) = (Some("two.c".into()), Some("bob.c".into()));
            let parts = |names: [&str; 2]| {
                let parts = vec![Part::new(names[0], 0), Part::new(names[1], 4)];
                PartedText { text: "one\ntwo".into(), parts }
            };
            found.texts.insert("ann".into(), parts(["ann.c", "two.c"]));
            found.texts.insert("bob".into(), parts(["bob.c", "two.c"]));
            PairsReport::new(Run::new("pairs"), found, anonymous)
        };
        let named = report(false);
        let place = &named.pairs[0].passages[0];
        let parts = (place.part.as_deref(), place.source_part.as_deref());
        assert_eq!(parts, (Some("two.c"), Some("bob.c")));
        let html = named.html();
        assert!(html.contains("<bdi>ann</bdi>, <bdi>two.c</bdi>"), "{html}");
        assert!(html.contains("<bdi>bob</bdi>, <bdi>bob.c</bdi>"), "{html}");
        let unnamed = report(true);
        let all = format!("{}{}", serde_json::to_string(&unnamed).unwrap(), unnamed.html());
        assert!(["ann", "bob", "two.c"].iter().all(|name| !all.contains(name)), "{all}");
        assert!(all.contains("<bdi>Part 2</bdi>") && all.contains("<bdi>Part 1</bdi>"), "{all}");
    }

    #[test]
    fn boilerplate_of_pairs_is_gray() {
        let mut found = joined(vec![pair("a", "b", 0.9)]);
        found.boilerplate.insert("a".into(), vec![(0, 2), (99, 120)]);
        let html = PairsReport::new(Run::new("pairs"), found, false).html();
        assert!(html.contains(r#"<span class="excluded boilerplate">on</span>"#), "{html}");
        assert!(html.contains("of the first document, 0.0\u{a0}% of the second"), "{html}");
    }

    #[test]
    fn a_list_that_is_cut_says_of_how_many_it_is() {
        let cut = || DescribedPairs { total: 1180, ..joined(vec![pair("a", "b", 0.9)]) };
        let report = PairsReport::new(Run::new("pairs"), cut(), false);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!((&json["total"], &json["more"]), (&json!(1180), &json!(true)));
        let said = "1 of 1,180 pairs shown; --limit 1180 shows all";
        assert!(report.html().contains(said) && report.csv().unwrap().contains(said));
        let report = PairsReport::new(Run::new("pairs"), joined(vec![pair("a", "b", 0.9)]), false);
        assert!(!report.more && !report.html().contains("shows all"));
    }

    #[test]
    fn similarities_are_of_runs_of_what_the_analyzer_reads() {
        let units = |scheme: &str, analyzer: &str| {
            let config = cento::Config::new(scheme, analyzer, true).unwrap();
            compared_units(&config.scheme, &config.analyzer)
        };
        assert_eq!(units("winnow(k=5,w=10)", "words"), "runs of 5 words");
        assert_eq!(units("winnow(k=7,w=10)", "letters"), "runs of 7 letters");
        assert_eq!(units("kgram(k=1)", "words"), "words");
    }

    #[test]
    fn inputs_not_compared_are_named_with_their_reason_and_not_in_an_anonymous_report() {
        let not_compared = || {
            vec![
                NotCompared::new("zoe/scan.pdf", "it has no text"),
                NotCompared::new("bob.zip", "cannot open bob.zip: cut short"),
            ]
        };
        let all = |anonymous| {
            let found = DescribedPairs {
                not_compared: not_compared(),
                ..joined(vec![pair("x", "y", 0.9)])
            };
            let report = PairsReport::new(Run::new("pairs"), found, anonymous);
            [report.html(), serde_json::to_string(&report).unwrap(), report.csv().unwrap()]
        };
        for form in all(false) {
            for expected in ["zoe/scan.pdf", "it has no text", "bob.zip", "cut short"] {
                assert!(form.contains(expected), "{expected}: {form}");
            }
        }
        for form in all(true) {
            assert!(!form.contains("zoe") && !form.contains("bob"), "{form}");
            assert!(form.contains("Not compared 2") && form.contains("cannot open it"), "{form}");
        }
    }
}
