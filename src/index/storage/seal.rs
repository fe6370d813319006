//! The files of a commit, with their lengths and checksums.
//!
//! tantivy's list of segments contains segments, not the content of their files, so a file swapped
//! between segments would be accepted silently. cento adds the length and CRC-32 of every component
//! to the list, and a CRC-32 of the whole list at its end. Layout: segments-format.md, "The
//! directory".

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::{Deserialize, Serialize};

use crate::error::Corruption;

/// The file with the list of segments of the last commit.
pub const META: &str = "meta.json";

/// The extensions of the components that every segment has.
pub const COMPONENTS: [&str; 7] = ["fast", "fieldnorm", "idx", "pos", "sig", "store", "term"];

/// The extension of the file with the withdrawals, which belongs to no segment.
pub const WITHDRAWALS: &str = "withdrawn";

const ADOPTED_MEMBER: &[u8] = b",\"cento_adopted\":";
const FILES_MEMBER: &[u8] = b",\"cento_files\":";
const CRC_MEMBER: &[u8] = b",\"cento_crc32\":";

/// The length and checksum of a component, as of the commit that first listed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ListedComponent", into = "ListedComponent")]
pub struct Component {
    /// The length of the file in bytes, tantivy's footer included.
    pub len: u64,
    /// The CRC-32 of the content before tantivy's footer.
    pub crc: u32,
    /// The CRC-32 of the last [`TAIL_BYTES`] of the file, or of a shorter file as a whole. The file
    /// can be opened after comparing the tail only. `None` for a file with checksums of its own.
    pub tail: Option<u32>,
}

/// How many bytes at the end tantivy reads when it opens a component, to find each field or column.
pub const TAIL_BYTES: usize = 4096;

/// A component in the form of the list.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ListedComponent {
    WithTail(u64, u32, u32),
    Whole(u64, u32),
}

impl From<ListedComponent> for Component {
    fn from(listed: ListedComponent) -> Component {
        match listed {
            ListedComponent::WithTail(len, crc, tail) => Component { len, crc, tail: Some(tail) },
            ListedComponent::Whole(len, crc) => Component { len, crc, tail: None },
        }
    }
}

impl From<Component> for ListedComponent {
    fn from(Component { len, crc, tail }: Component) -> ListedComponent {
        match tail {
            Some(tail) => ListedComponent::WithTail(len, crc, tail),
            None => ListedComponent::Whole(len, crc),
        }
    }
}

/// The components of a commit, by file name.
pub type Components = BTreeMap<String, Component>;

/// The adopted segments of other indexes, by their original names, with the number of deleted
/// documents at the time.
pub type Adopted = BTreeMap<String, u32>;

/// Segments that are being adopted.
#[derive(Debug)]
pub struct Adoption {
    /// The new names of the segments, without hyphens.
    pub segments: BTreeSet<String>,
    /// The segments that they were adopted from.
    pub from: Adopted,
}

/// A change of the withdrawals for the next commit. A merge in the background may write a list
/// before, with the opstamp of the last commit. A commit that removes documents has a greater
/// opstamp.
#[derive(Debug)]
pub struct WithdrawalsChange {
    /// The name of the new file. `None` if there are no withdrawals left.
    pub file: Option<String>,
    /// The smallest opstamp of a commit that makes the change.
    pub from: u64,
}

/// A list of segments with cento's additions.
#[derive(Debug, PartialEq, Eq)]
pub struct SealedSegments {
    /// From [`seal`], the list in written form. From [`unseal`], tantivy's own list.
    pub json: Vec<u8>,
    /// The files of the segments.
    pub components: Components,
    /// The segments of other indexes that have been adopted.
    pub adopted: Adopted,
}

/// The fields of tantivy's list that cento reads.
#[derive(Deserialize)]
struct SealedList {
    segments: Vec<SealedSegment>,
    #[serde(default)]
    opstamp: u64,
    #[serde(default)]
    schema: Vec<SealedField>,
    #[serde(default)]
    index_settings: SealedSettings,
}

#[derive(Deserialize)]
struct SealedField {
    name: String,
}

#[derive(Default, Deserialize)]
struct SealedSettings {
    docstore_compression: Option<String>,
}

#[derive(Deserialize)]
struct SealedSegment {
    segment_id: String,
    deletes: Option<SealedDeletes>,
}

#[derive(Deserialize)]
struct SealedDeletes {
    opstamp: u64,
}

impl SealedSegment {
    /// Returns the prefix of the file names of the segment.
    fn name(&self) -> String {
        self.segment_id.replace('-', "")
    }
}

impl SealedList {
    /// Returns the names of the files that the list implies.
    fn file_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for segment in &self.segments {
            let uuid = segment.name();
            names.extend(COMPONENTS.iter().map(|extension| format!("{uuid}.{extension}")));
            let deletes = segment.deletes.as_ref();
            names.extend(deletes.map(|deletes| format!("{uuid}.{}.del", deletes.opstamp)));
        }
        names
    }

    /// Refuses forged content that makes tantivy panic. The error is a clause.
    fn check(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        if let Some(field) = self.schema.iter().find(|field| !names.insert(&field.name)) {
            return Err(format!("its schema contains the field {:?} twice", field.name));
        }
        match &self.index_settings.docstore_compression {
            Some(name) if !is_compression(name) => Err(format!(
                "its texts are compressed as {name:?}, which is not a known compression"
            )),
            _ => Ok(()),
        }
    }
}

/// Returns whether tantivy writes this name for a compression of texts.
fn is_compression(name: &str) -> bool {
    let level =
        name.strip_prefix("zstd(compression_level=").and_then(|rest| rest.strip_suffix(')'));
    matches!(name, "none" | "zstd") || level.is_some_and(|level| level.parse::<i32>().is_ok())
}

/// What a list takes over from the previous list.
#[derive(Debug, Clone, Copy)]
pub struct CarriedList<'a> {
    /// The adopted segments of the previous list.
    pub adopted: &'a Adopted,
    /// Segments that are being adopted. Only listed segments are recorded, because a merge may
    /// write a list before the commit does.
    pub adoption: Option<&'a Adoption>,
    /// The file with the withdrawals in the previous list.
    pub withdrawals: Option<&'a str>,
    /// A change of the withdrawals, made only if the list belongs to a later commit.
    pub change: Option<&'a WithdrawalsChange>,
}

impl CarriedList<'_> {
    /// Returns the file with the withdrawals for a list with this opstamp.
    fn withdrawals_at(&self, opstamp: u64) -> Option<&str> {
        match self.change {
            Some(change) if opstamp >= change.from => change.file.as_deref(),
            _ => self.withdrawals,
        }
    }
}

/// Adds the following to tantivy's list `json`: the adopted segments, the length and checksum of
/// each file (returned by `component`), and the CRC-32 of the whole. `carried` comes from the
/// previous list.
///
/// # Errors
/// When `component` fails, or `json` is not a list of segments.
pub fn seal(
    json: &[u8],
    carried: CarriedList<'_>,
    mut component: impl FnMut(&str) -> io::Result<Component>,
) -> io::Result<SealedSegments> {
    let mut components = Components::new();
    let list: SealedList = serde_json::from_slice(json)?;
    let withdrawals = carried.withdrawals_at(list.opstamp).map(str::to_owned);
    for name in list.file_names().into_iter().chain(withdrawals) {
        let found = component(&name)?;
        components.insert(name, found);
    }
    let mut adopted = carried.adopted.clone();
    if let Some(adoption) = carried.adoption
        && list.segments.iter().any(|segment| adoption.segments.contains(&segment.name()))
    {
        adopted.extend(adoption.from.clone());
    }
    let open = json.trim_ascii_end().strip_suffix(b"}").expect("a list is a JSON object");
    let mut sealed = open.to_vec();
    if !adopted.is_empty() {
        sealed.extend_from_slice(ADOPTED_MEMBER);
        serde_json::to_writer(&mut sealed, &adopted)?;
    }
    sealed.extend_from_slice(FILES_MEMBER);
    serde_json::to_writer(&mut sealed, &components)?;
    sealed.push(b'}');
    let crc = crc32fast::hash(&sealed);
    sealed.pop();
    sealed.extend_from_slice(CRC_MEMBER);
    sealed.extend_from_slice(format!("{crc}}}").as_bytes());
    Ok(SealedSegments { json: sealed, components, adopted })
}

/// Splits a sealed list into tantivy's list and cento's additions.
///
/// # Errors
/// When the list is not as it was written, or lacks a file of a segment.
pub fn unseal(sealed: &[u8]) -> Result<SealedSegments, Corruption> {
    let damage = |what: String| Corruption::new(META, "list of segments", 0, what);
    let at = rfind(sealed, CRC_MEMBER).ok_or_else(|| damage("its checksum is missing".into()))?;
    let mut checked = [&sealed[..at], b"}"].concat();
    let crc = crc32fast::hash(&checked);
    if sealed[at + CRC_MEMBER.len()..] != *format!("{crc}}}").as_bytes() {
        return Err(damage("it does not match its checksum".into()));
    }
    // A string inside JSON contains no bare quotes, so the last match is the member itself.
    let at = rfind(&checked, FILES_MEMBER).ok_or_else(|| damage("it lists no files".into()))?;
    let files = &checked[at + FILES_MEMBER.len()..checked.len() - 1];
    let components: Components = serde_json::from_slice(files)
        .map_err(|e| damage(format!("its list of files is invalid: {e}")))?;
    checked.truncate(at);
    let mut adopted = Adopted::new();
    if let Some(at) = rfind(&checked, ADOPTED_MEMBER) {
        adopted = serde_json::from_slice(&checked[at + ADOPTED_MEMBER.len()..])
            .map_err(|e| damage(format!("its list of adopted segments is invalid: {e}")))?;
        checked.truncate(at);
    }
    checked.push(b'}');
    let list: SealedList = serde_json::from_slice(&checked).map_err(|e| damage(e.to_string()))?;
    list.check().map_err(damage)?;
    if let Some(name) = list.file_names().iter().find(|name| !components.contains_key(*name)) {
        return Err(damage(format!("it lists no checksum for {name}")));
    }
    Ok(SealedSegments { json: checked, components, adopted })
}

/// Returns the file with the withdrawals in a list, if any.
#[must_use]
pub fn withdrawals_of(components: &Components) -> Option<&str> {
    let is_file = |name: &&String| name.rsplit_once('.').is_some_and(|(_, ext)| ext == WITHDRAWALS);
    components.keys().find(is_file).map(String::as_str)
}

/// Returns the opstamp of tantivy's list `json`.
///
/// # Errors
/// When `json` is not a list of segments.
pub fn opstamp_of(json: &[u8]) -> io::Result<u64> {
    Ok(serde_json::from_slice::<SealedList>(json)?.opstamp)
}

fn rfind(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::rfind(bytes, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] = br#"{
  "segments": [{
    "segment_id": "0123abcd-0000-0000-0000-000000000001",
    "max_doc": 3,
    "deletes": {"num_deleted_docs": 1, "opstamp": 7}
  }],
  "payload": ",\"cento_files\":{}",
  "opstamp": 3
}"#;

    fn of<'a>(adopted: &'a Adopted, adoption: Option<&'a Adoption>) -> CarriedList<'a> {
        CarriedList { adopted, adoption, withdrawals: None, change: None }
    }

    fn component(name: &str) -> io::Result<Component> {
        let tail = (!name.ends_with("sig")).then_some(7);
        Ok(Component { len: name.len() as u64, crc: 9, tail })
    }

    #[test]
    fn a_sealed_list_is_json_and_is_given_back() {
        for adopted in [Adopted::new(), Adopted::from([("ab".into(), 0), ("cd".into(), 7)])] {
            let sealed = seal(&[LIST, b"\n"].concat(), of(&adopted, None), component).unwrap();
            let SealedSegments { json, components, .. } = &sealed;
            assert_eq!(components.len(), COMPONENTS.len() + 1);
            assert!(components.contains_key("0123abcd000000000000000000000001.7.del"));
            let value: serde_json::Value = serde_json::from_slice(json).unwrap();
            let listed = |extension: &str| {
                let name = format!("0123abcd000000000000000000000001.{extension}");
                value["cento_files"][name].clone()
            };
            assert_eq!(listed("sig"), serde_json::json!([36, 9]));
            assert_eq!(listed("fast"), serde_json::json!([37, 9, 7]));
            let unsealed = unseal(json).unwrap();
            assert_eq!(unsealed.json, LIST);
            assert_eq!((&unsealed.components, &unsealed.adopted), (components, &adopted));
            for at in 0..json.len() {
                let mut damaged = json.clone();
                damaged[at] ^= 1;
                assert!(unseal(&damaged).is_err(), "byte {at}");
                assert!(unseal(&json[..at]).is_err(), "cut to {at}");
            }
        }
    }

    #[test]
    fn adopted_names_are_recorded_with_their_segments_and_not_before() {
        // A merge in the background may write a list between the decision to adopt and the commit.
        let from = Adopted::from([("ef".into(), 1)]);
        let adoption = |name: &str| Adoption { segments: [name.into()].into(), from: from.clone() };
        let before = Adopted::from([("ab".into(), 0)]);
        let early = adoption("00000000000000000000000000000009");
        let early = seal(LIST, of(&before, Some(&early)), component).unwrap();
        assert_eq!(early.adopted, before);
        let with = adoption("0123abcd000000000000000000000001");
        let with = seal(LIST, of(&before, Some(&with)), component).unwrap();
        assert_eq!(with.adopted, Adopted::from([("ab".into(), 0), ("ef".into(), 1)]));
    }

    #[test]
    fn withdrawals_change_with_the_commit_and_not_with_a_merge_before_it() {
        // Otherwise the documents would be refused, and still be present after a crash.
        let name = |number: u32| format!("{number:032x}.{WITHDRAWALS}");
        let adopted = Adopted::new();
        let listed = |withdrawals: Option<&str>, file: Option<String>, from| {
            let change = WithdrawalsChange { file, from };
            let carried = CarriedList { withdrawals, change: Some(&change), ..of(&adopted, None) };
            let sealed = seal(LIST, carried, component).unwrap();
            let components = unseal(&sealed.json).unwrap().components;
            withdrawals_of(&components).map(str::to_owned)
        };
        assert_eq!(opstamp_of(LIST).unwrap(), 3);
        let (old, new) = (name(1), name(2));
        assert_eq!(listed(Some(&old), Some(new.clone()), 4), Some(old.clone()));
        assert_eq!(listed(Some(&old), Some(new.clone()), 3), Some(new.clone()));
        assert_eq!(listed(None, Some(new.clone()), 4), None);
        assert_eq!(listed(Some(&old), None, 3), None);
        let carried = CarriedList { withdrawals: Some(&old), ..of(&adopted, None) };
        let sealed = seal(LIST, carried, component).unwrap();
        assert_eq!(withdrawals_of(&sealed.components), Some(&*old));
    }

    /// Returns the error for a list with these files and a matching checksum.
    fn refusal(list: &[u8], files: &[u8]) -> String {
        let open = list.trim_ascii_end().strip_suffix(b"}").unwrap();
        let mut forged = [open, FILES_MEMBER, files, b"}"].concat();
        let crc = crc32fast::hash(&forged);
        forged.pop();
        forged.extend(format!(",\"cento_crc32\":{crc}}}").bytes());
        unseal(&forged).unwrap_err().to_string()
    }

    #[test]
    fn a_list_that_leaves_out_a_file_is_refused() {
        let error = refusal(LIST, b"{}");
        assert!(error.contains("lists no checksum for 0123abcd"), "{error}");
    }

    #[test]
    fn a_forged_schema_or_compression_is_refused() {
        let twice = br#"{"segments":[],"schema":[{"name":"id"},{"name":"text"},{"name":"id"}]}"#;
        let error = refusal(twice, b"{}");
        assert!(error.contains("the field \"id\" twice"), "{error}");
        for name in ["zstd ", "zstdx", "zstd\u{e9}", "zstd(compression_level=x)", "brotli", ""] {
            let list = format!(
                r#"{{"segments":[],"index_settings":{{"docstore_compression":"{name}"}}}}"#
            );
            let error = refusal(list.as_bytes(), b"{}");
            assert!(error.contains("not a known compression"), "{name}: {error}");
        }
        assert!(is_compression("zstd(compression_level=1)") && is_compression("none"));
    }
}
