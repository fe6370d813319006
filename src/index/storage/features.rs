//! Features of later versions that a list of segments requires.
//!
//! tantivy ignores unknown members of its list, and drops them from the next list. A later version
//! of cento therefore declares what other versions must know:
//! `"cento_features":{"read":[...],"write":[...]}` contains the features needed to read the index,
//! and the features needed only to write it. An unknown member is ignored by readers if a feature
//! for writers has the same name. Otherwise the list is refused. Layout: segments-format.md,
//! "Compatibility and history".

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;

/// The member with the features.
const FEATURES: &str = "cento_features";

/// The members of tantivy's list.
const MEMBERS: [&str; 6] =
    ["index_settings", "persisted_custom_extensions", "segments", "schema", "opstamp", "payload"];

/// The required features that this version does not know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnknownFeatures {
    /// Features needed to read the index.
    pub read: BTreeSet<String>,
    /// Features needed to write the index.
    pub write: BTreeSet<String>,
}

/// The member in the form that a later version writes.
#[derive(Default, Deserialize)]
#[serde(default)]
struct FeatureList {
    read: BTreeSet<String>,
    write: BTreeSet<String>,
}

/// The members of a list, unparsed.
type Members<'a> = BTreeMap<String, &'a RawValue>;

impl UnknownFeatures {
    /// Returns the features that tantivy's list `json` requires and this version does not know.
    /// This version knows no feature.
    ///
    /// # Errors
    /// When `json` is not a list of segments.
    pub fn of(json: &[u8]) -> serde_json::Result<UnknownFeatures> {
        let members: Members<'_> = serde_json::from_slice(json)?;
        let listed = members.get(FEATURES).map(|value| serde_json::from_str(value.get()));
        let FeatureList { mut read, write } = listed.transpose()?.unwrap_or_default();
        let is_known = |name: &str| name == FEATURES || MEMBERS.contains(&name);
        let others = members.into_keys().filter(|name| !is_known(name) && !write.contains(name));
        read.extend(others);
        Ok(UnknownFeatures { read, write })
    }

    /// Returns why the index cannot be read, as a clause, or `None` if it can.
    pub fn problem_of_readers(&self) -> Option<String> {
        problem(&self.read, "reads it")
    }

    /// Returns why the index cannot be written, as a clause, or `None` if it can.
    pub fn problem_of_writers(&self) -> Option<String> {
        problem(&self.write, "may write to it; this one can read it")
    }
}

fn problem(features: &BTreeSet<String>, what: &str) -> Option<String> {
    let name = features.first()?;
    Some(format!(
        "a later version of cento wrote it with the feature `{name}`, and only a version that \
         knows this feature {what}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document, Index, WriterOptions};
    use crate::reason::Reason;

    #[track_caller]
    fn check(members: &str, read: &[&str], write: &[&str]) {
        let json = format!("{{\"segments\":[],\"opstamp\":1{members}}}");
        let found = UnknownFeatures::of(json.as_bytes()).unwrap();
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(found, UnknownFeatures { read: names(read), write: names(write) }, "{members}");
    }

    #[test]
    fn a_member_that_is_not_known_is_a_feature_for_readers_unless_it_is_one_for_writers() {
        check("", &[], &[]);
        check(r#","payload":"x","schema":[]"#, &[], &[]);
        check(r#","cento_dates":{}"#, &["cento_dates"], &[]);
        let features = r#","cento_features":{"read":["a"],"write":["cento_dates","b"],"x":1}"#;
        check(features, &["a"], &["b", "cento_dates"]);
        check(&format!("{features},\"cento_dates\":{{}}"), &["a"], &["b", "cento_dates"]);
        let unknown = UnknownFeatures::of(br#"{"cento_x":1}"#).unwrap();
        assert!(unknown.problem_of_readers().unwrap().contains("`cento_x`"));
        assert_eq!(unknown.problem_of_writers(), None);
        assert!(UnknownFeatures::of(br#"{"cento_features":[1]}"#).is_err());
    }

    #[test]
    fn an_index_of_a_later_version_is_read_if_it_may_be_and_never_written() {
        // A member of a later version was once accepted, and the next addition dropped it.
        let dir = tempfile::tempdir().unwrap();
        let index = Index::create(dir.path(), Config::new("kgram(k=2)", "words", true).unwrap());
        let mut writer = index.unwrap().writer(WriterOptions::default()).unwrap();
        writer.add(Document::new("a", "some text")).unwrap();
        writer.finish().unwrap();
        let path = dir.path().join("meta.json");
        let written = std::fs::read_to_string(&path).unwrap();
        let with = |members: &str| {
            let (list, _) = written.rsplit_once(",\"cento_crc32\":").unwrap();
            let list =
                list.replacen(",\"cento_files\":", &format!("{members},\"cento_files\":"), 1);
            let crc = crc32fast::hash(format!("{list}}}").as_bytes());
            std::fs::write(&path, format!("{list},\"cento_crc32\":{crc}}}")).unwrap();
            Index::open(dir.path())
        };
        for members in [r#","cento_x":{}"#, r#","cento_features":{"read":["cento_x"]}"#] {
            let error = with(members).unwrap_err();
            assert_eq!(error.reason(), Reason::OtherVersion, "{error}");
            assert!(error.to_string().contains("`cento_x`"), "{error}");
        }
        let for_writers = r#","cento_x":{},"cento_features":{"write":["cento_x"]}"#;
        let index = with(for_writers).unwrap();
        assert_eq!(index.snapshot().unwrap().documents(), 1);
        let refused = index.writer(WriterOptions::default()).err().unwrap();
        assert_eq!(refused.reason(), Reason::OtherVersion, "{refused}");
        assert!(std::fs::read_to_string(&path).unwrap().contains(for_writers));
        with("").unwrap().writer(WriterOptions::default()).unwrap();
    }
}
