//! Reads which documents belong to the same series.
//!
//! A series is a group of documents with the same value of a field of `meta`, or with the same
//! fields in their ids by a pattern, such as a newspaper, an author or a repository.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cento_api::{BoilerplateShare, NamePattern};
use serde_json::{Map, Value};

pub use super::Scope;
use super::numbering::Numbering;
use cento::index::{DocAddress, Snapshot};
use cento::search::RepeatedPassages;
use cento_api::error::{Error, Result};
use cento_api::suggest::did_you_mean;
use cento_text::field_date::{field_of, group_key};
use cento_text::runtime::Stop;

/// The series of each document of one or two snapshots.
#[derive(Debug)]
pub struct Series {
    within: bool,
    /// For each snapshot the series by document number, 0 for documents without the field.
    codes: Vec<Vec<u32>>,
    without_field: u64,
    /// Why no pair is possible: all documents are in one series, or no two documents share a
    /// series.
    unpaired: Option<String>,
}

impl Series {
    /// Reads the series of the scope, or `None` if the scope keeps pairs everywhere.
    ///
    /// # Errors
    /// When no document has the field, which is then misspelled or elsewhere, or a segment is
    /// damaged.
    pub fn read(scope: &Scope, snapshots: &[&Snapshot]) -> Result<Option<Series>> {
        let (within, field) = match scope {
            Scope::Everywhere => return Ok(None),
            Scope::Within(field) => (true, field),
            Scope::Across(field) => (false, field),
        };
        let key = GroupKey::new(field)?;
        let mut values: HashMap<String, u32> = HashMap::new();
        let mut codes = Vec::new();
        let (mut documents, mut without_field, mut fields) = (0, 0, BTreeSet::new());
        for snapshot in snapshots {
            let numbering = Numbering::new(snapshot);
            let mut of_snapshot = vec![0; numbering.end() as usize];
            for (number, code) in (0u64..).zip(&mut of_snapshot) {
                let address = numbering.address(number);
                if !snapshot.segment(address).is_alive(address.doc) {
                    continue;
                }
                documents += 1;
                let value = match key.is_of_ids() {
                    true => {
                        let id = snapshot.id(address)?;
                        let value = key.of_id(&id);
                        if value.is_none() && fields.is_empty() {
                            fields.insert(id);
                        }
                        value
                    }
                    false => {
                        let meta = snapshot.meta(address)?;
                        let value = key.of_meta(&meta);
                        // The names are needed only for the error that no document has the field.
                        if value.is_none() && values.is_empty() && fields.len() < FIELDS_MAX {
                            add_fields(&meta, "", &mut fields);
                        }
                        value
                    }
                };
                match value {
                    Some(value) => {
                        let next = values.len() as u32 + 1;
                        *code = *values.entry(value).or_insert(next);
                    }
                    None => without_field += 1,
                }
            }
            codes.push(of_snapshot);
        }
        if values.is_empty() && without_field > 0 {
            return Err(key.unknown("series", &fields));
        }
        let count = values.len() as u64 + without_field;
        let unpaired = match within {
            false => {
                let value = values.keys().next().filter(|_| count == 1);
                value.map(|value| described(field, value))
            }
            true => (count == documents).then(|| format!("by `{field}`")),
        };
        Ok(Some(Series { within, codes, without_field, unpaired }))
    }

    /// Refuses a search that cannot find a pair among this number of documents, because the scope
    /// is across series and all documents are in one series, or the scope is within series and no
    /// two documents share a series. The caller probably meant another field or pattern.
    ///
    /// # Errors
    /// When there are at least two documents, and no pair is kept.
    pub(super) fn check_has_pairs(&self, documents: u64) -> Result<()> {
        let Some(why) = self.unpaired.as_ref().filter(|_| documents > 1) else { return Ok(()) };
        let (argument, what) = match self.within {
            false => ("group_by", format!("all {documents} documents are of one group ({why})")),
            true => ("within", format!("no two of {documents} documents are of one group {why}")),
        };
        Err(Error::argument(argument, format!("{what}, so there are no pairs to compare")))
    }

    /// Returns the number of documents without the field. They are in no series.
    #[must_use]
    pub fn documents_without_field(&self) -> u64 {
        self.without_field
    }

    /// Tells whether pairs are kept within series, rather than across.
    #[must_use]
    pub(super) fn is_within(&self) -> bool {
        self.within
    }

    /// Returns the code of the series of a document in the first (0) or last (1) snapshot. 0 means
    /// that the document has no series.
    #[must_use]
    pub(super) fn code(&self, side: usize, number: u64) -> u32 {
        self.codes[side.min(self.codes.len() - 1)][number as usize]
    }

    /// Counts the kept pairs among these documents of the first snapshot.
    pub(super) fn pair_count(&self, numbers: &[u64]) -> u64 {
        let mut sizes: HashMap<u32, u64> = HashMap::new();
        for &number in numbers {
            *sizes.entry(self.code(0, number)).or_default() += 1;
        }
        let in_series = sizes.iter().filter(|(code, _)| **code != 0);
        let within = in_series.map(|(_, size)| pair_count(*size)).sum();
        if self.within { within } else { pair_count(numbers.len() as u64) - within }
    }

    /// Tells whether the pair of document `a` of the first snapshot and `b` of the last snapshot is
    /// kept.
    #[must_use]
    pub fn keeps(&self, a: u64, b: u64) -> bool {
        let (first, last) = (&self.codes[0], &self.codes[self.codes.len() - 1]);
        let (a, b) = (first[a as usize], last[b as usize]);
        let is_same = a != 0 && a == b;
        is_same == self.within
    }
}

/// Finds the passages that at least this share of the documents have, and at least five documents.
/// In a scope across groups, the documents of a group count as one, because text that an author
/// repeats in twelve attempts is no boilerplate. `threads` threads read the texts.
///
/// ```
/// # use cento::{Config, Document, Index, Searcher, WriterOptions};
/// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// # let mut writer = index.writer(WriterOptions::default())?;
/// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
/// # let meta = |date: &str| [("date".to_owned(), date.into())].into_iter().collect();
/// # writer.add(Document::new("first", poem).with_meta(meta("1900")))?;
/// # let copy = format!("{poem} the chimney");
/// # writer.add(Document::new("second", copy).with_meta(meta("1901")))?;
/// # writer.add(Document::new("other", "a text about clocks that has no copy in the index"))?;
/// # writer.finish()?;
/// # let searcher = Searcher::new(index.snapshot()?);
/// use cento::{BoilerplateShare, Stop};
/// use cento_collections::{Scope, series::repeated_passages};
///
/// // Two documents share the poem, but fewer than five documents never make boilerplate.
/// let snapshot = searcher.snapshot();
/// let share = BoilerplateShare::new(0.5)?;
/// let found = repeated_passages(snapshot, &Scope::Everywhere, share, 1, Stop::NEVER)?;
/// assert!(found.passages.is_empty());
/// # Ok::<(), cento::Error>(())
/// ```
///
/// # Errors
/// When no document has the field of the scope, the index stores no texts, or a file is damaged.
/// [`Error::Cancelled`] soon after `stop`.
#[doc(alias = "boilerplate")]
pub fn repeated_passages(
    snapshot: &Snapshot,
    scope: &Scope,
    share: BoilerplateShare,
    threads: usize,
    stop: &Stop,
) -> Result<RepeatedPassages> {
    let series = Series::read(scope, &[snapshot])?.filter(|series| !series.within);
    let Some(series) = series else { return snapshot.repeated_passages(share, threads, stop) };
    let numbering = Numbering::new(snapshot);
    let group_of = |address| {
        let code = series.code(0, numbering.number(address));
        (code != 0).then_some(u64::from(code))
    };
    snapshot.repeated_passages_of_groups(share, &group_of, threads, stop)
}

/// Finds the passages in at least this share of a group's documents, and in at least five
/// documents. The frame of a site is on most of its pages, but on few pages of a crawl.
///
/// # Errors
/// The errors of [`repeated_passages`].
pub fn repeated_passages_within(
    snapshot: &Snapshot,
    field: &str,
    share: BoilerplateShare,
    threads: usize,
    stop: &Stop,
) -> Result<RepeatedPassages> {
    let scope = Scope::Within(field.to_owned());
    let Some(series) = Series::read(&scope, &[snapshot])? else {
        return snapshot.repeated_passages(share, threads, stop);
    };
    let numbering = Numbering::new(snapshot);
    let mut groups: BTreeMap<u32, Vec<DocAddress>> = BTreeMap::new();
    for address in snapshot.live() {
        groups.entry(series.code(0, numbering.number(address))).or_default().push(address);
    }
    // Documents without the field are in no group.
    groups.remove(&0);
    let of_group = |addresses: &Vec<DocAddress>| {
        snapshot.repeated_passages_among(addresses, share, threads, stop)
    };
    let groups = groups.values().map(of_group).collect::<Result<Vec<_>>>()?;
    Ok(RepeatedPassages::of_groups(groups))
}

/// Returns the number of pairs among `documents` documents.
pub(super) fn pair_count(documents: u64) -> u64 {
    documents * documents.saturating_sub(1) / 2
}

/// What defines a group of documents: a field of `meta`, or a pattern for the ends of ids.
#[derive(Debug, Clone)]
pub(super) struct GroupKey {
    field: String,
    pattern: Option<NamePattern>,
}

impl GroupKey {
    pub fn new(field: &str) -> Result<GroupKey> {
        let pattern =
            NamePattern::is_pattern(field).then(|| NamePattern::new(field)).transpose()?;
        Ok(GroupKey { field: field.to_owned(), pattern })
    }

    /// Tells whether ids decide, rather than a field.
    pub fn is_of_ids(&self) -> bool {
        self.pattern.is_some()
    }

    /// Returns the field or the pattern, as written in the options.
    pub fn name(&self) -> &str {
        &self.field
    }

    /// Returns the value that the documents of a group share, if ids decide and `id` fits the
    /// pattern.
    pub fn of_id(&self, id: &str) -> Option<String> {
        let fields = self.pattern.as_ref()?.of_end(id)?;
        Some(serde_json::to_string(&fields).unwrap_or_default())
    }

    /// Returns the value that the documents of a group share, by meta object. `null` counts as
    /// missing.
    pub fn of_meta(&self, meta: &Map<String, Value>) -> Option<String> {
        field_of(meta, &self.field).filter(|value| !value.is_null()).map(group_key)
    }

    /// Makes the error that no document has the field, which lists `fields`, or that no id fits the
    /// pattern, which shows the first of `fields` as an example of an id.
    pub fn unknown(&self, argument: &'static str, fields: &BTreeSet<String>) -> Error {
        match self.pattern {
            Some(_) => unfit(&self.field, fields.first()),
            None => unknown(argument, &self.field, fields),
        }
    }
}

/// The maximum number of field names to collect when a field is unknown, and the number to show.
pub(super) const FIELDS_MAX: usize = 1000;
const FIELDS_SHOWN: usize = 20;

/// Adds the names of the fields of `meta`, with dots before the members of objects.
pub(super) fn add_fields(meta: &Map<String, Value>, before: &str, fields: &mut BTreeSet<String>) {
    for (name, value) in meta {
        match value {
            Value::Object(members) => add_fields(members, &format!("{before}{name}."), fields),
            _ => drop(fields.insert(format!("{before}{name}"))),
        }
    }
}

/// Describes the value of a field, or the values of the fields of a pattern, as read from `codes`.
fn described(field: &str, value: &str) -> String {
    let shown = |name: &str, value: &Value| match value {
        Value::String(text) => format!("`{name}` is {text}"),
        value => format!("`{name}` is {value}"),
    };
    match serde_json::from_str(value) {
        Ok(Value::Array(fields)) if NamePattern::is_pattern(field) => {
            let of = |one: &Value| Some(shown(one.get(0)?.as_str()?, one.get(1)?));
            fields.iter().filter_map(of).collect::<Vec<_>>().join(", ")
        }
        Ok(value) => shown(field, &value),
        Err(_) => format!("`{field}`"),
    }
}

fn unfit(pattern: &str, id: Option<&String>) -> Error {
    let example = id.map_or(String::new(), |id| format!("; an id is `{id}`"));
    Error::argument("series", format!("no id ends as the pattern `{pattern}` asks{example}"))
}

/// Makes the error for a field that no document has. `argument` is the option with the field's
/// name.
pub(super) fn unknown(argument: &'static str, field: &str, fields: &BTreeSet<String>) -> Error {
    let shown: Vec<_> =
        fields.iter().take(FIELDS_SHOWN).map(|field| format!("`{field}`")).collect();
    let there = match fields.len().saturating_sub(shown.len()) {
        _ if fields.is_empty() => "no document has any `meta`".to_owned(),
        0 => format!("the fields there are {}", shown.join(", ")),
        more => format!("the fields there are {} and {more} more", shown.join(", ")),
    };
    let meant = did_you_mean(field, fields.iter().map(String::as_str));
    Error::argument(argument, format!("no document has the field `{field}`{meant}; {there}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::index::{Config, Document, Index, SignedDocument, WriterOptions};
    use proptest::prelude::*;

    fn snapshot(metas: &[Value]) -> Snapshot {
        let index = Index::in_memory(Config::new("kgram(k=1)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for (number, meta) in metas.iter().enumerate() {
            let document = Document::new(number.to_string(), "some words")
                .with_meta(meta.as_object().unwrap().clone());
            writer
                .add_signed(SignedDocument::new(document, index.config(), Stop::NEVER).unwrap())
                .unwrap();
        }
        writer.finish().unwrap();
        index.snapshot().unwrap()
    }

    #[test]
    fn a_field_that_no_document_has_is_refused_by_name() {
        let check = |metas: &[Value], expected: &str| {
            let snapshot = snapshot(metas);
            for scope in [Scope::Across("sereis".into()), Scope::Within("sereis".into())] {
                let error = Series::read(&scope, &[&snapshot]).unwrap_err().to_string();
                assert!(error.contains("`sereis`") && error.contains(expected), "{error}");
            }
        };
        let meta = serde_json::json!({"series": "gazette", "of": {"year": 1841}});
        check(
            &[meta.clone(), serde_json::json!({"place": "Turin"})],
            "`of.year`, `place`, `series`",
        );
        check(&[serde_json::json!({}), serde_json::json!({})], "no document has any `meta`");
        let many: Map<String, Value> = (10..40).map(|n| (format!("f{n}"), n.into())).collect();
        check(&[many.into()], "`f29` and 10 more");
        // `null` counts as a missing field.
        check(&[serde_json::json!({"sereis": null})], "`sereis`");
    }

    #[test]
    fn a_pattern_reads_the_series_from_the_ids() {
        let metas = [serde_json::json!({}), serde_json::json!({})];
        let snapshot = snapshot(&metas);
        // The ids are 0 and 1.
        let series = |pattern: &str| Series::read(&Scope::Across(pattern.into()), &[&snapshot]);
        let all = series("{one}").unwrap().unwrap();
        assert_eq!((all.keeps(0, 1), all.documents_without_field()), (true, 0));
        let error = series("{author}/{*}").unwrap_err().to_string();
        assert!(error.contains("no id ends as the pattern `{author}/{*}` asks; an id is `0`"));
    }

    #[test]
    fn no_pairs_within_or_across_groups_are_refused() {
        let meta = |value: Value| serde_json::json!({"student": value});
        let check = |metas: &[Value], scope: Scope, expected: &str| {
            let snapshot = snapshot(metas);
            let series = Series::read(&scope, &[&snapshot]).unwrap().unwrap();
            let found = series.check_has_pairs(snapshot.documents());
            let said = found.err().map_or(String::new(), |error| error.to_string());
            assert_eq!(said, expected);
        };
        let across = |by: &str| Scope::Across(by.into());
        let year = meta(2026.into());
        check(
            &[year.clone(), year.clone()],
            across("student"),
            "all 2 documents are of one group (`student` is 2026), so there are no pairs to \
             compare",
        );
        check(
            &[meta("ann".into()), meta("ann".into()), meta("ann".into())],
            across("student"),
            "all 3 documents are of one group (`student` is ann), so there are no pairs to compare",
        );
        check(&[year.clone(), serde_json::json!({})], across("student"), "");
        check(&[year.clone(), meta("ann".into())], across("student"), "");
        let within = |by: &str| Scope::Within(by.into());
        check(&[year.clone(), year.clone(), serde_json::json!({})], within("student"), "");
        check(
            &[year.clone(), meta("ann".into()), serde_json::json!({})],
            within("student"),
            "no two of 3 documents are of one group by `student`, so there are no pairs to compare",
        );
        check(
            &[year.clone(), year.clone()],
            within("{number}"),
            "no two of 2 documents are of one group by `{number}`, so there are no pairs to \
             compare",
        );
        check(std::slice::from_ref(&year), within("student"), "");
        check(std::slice::from_ref(&year), across("student"), "");
        check(&[year], across("{number}"), "");
        assert_eq!(described("{a}/{*}", r#"[["a","2026"],["b","x"]]"#), "`a` is 2026, `b` is x");
    }

    #[test]
    fn documents_without_the_field_are_counted() {
        let metas =
            [serde_json::json!({"series": 1}), serde_json::json!({}), serde_json::json!({})];
        let (snapshot, scope) = (snapshot(&metas), Scope::Across("series".into()));
        let series = Series::read(&scope, &[&snapshot]).unwrap().unwrap();
        assert_eq!(series.documents_without_field(), 2);
        // An index without documents has no pairs, and no field is misspelled.
        let empty = self::snapshot(&[]);
        assert!(Series::read(&scope, &[&empty]).unwrap().is_some());
    }

    proptest! {
        #[test]
        fn as_many_pairs_are_counted_as_are_kept(
            codes in prop::collection::vec(0u32..4, 0..12), is_within: bool,
        ) {
            let some = (0..codes.len() as u64).filter(|number| number % 5 != 1);
            let numbers: Vec<u64> = some.collect();
            let codes_of = vec![codes.clone()];
            let series = Series {
                within: is_within,
                codes: codes_of,
                without_field: 0,
                unpaired: None,
            };
            let mut kept = 0;
            for (at, &a) in numbers.iter().enumerate() {
                for &b in &numbers[at + 1..] {
                    let [one, other] = [a, b].map(|number| codes[number as usize]);
                    // A document without a series is in none, rather than in a series of documents
                    // without the field.
                    let is_kept = (one != 0 && one == other) == is_within;
                    prop_assert_eq!(series.keeps(a, b), is_kept);
                    kept += u64::from(is_kept);
                }
            }
            prop_assert_eq!(series.pair_count(&numbers), kept);
        }
    }
}
