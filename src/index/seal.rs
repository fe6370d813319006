//! Which files does a commit consist of, and what is in them?
//!
//! tantivy's list of segments names segments, not what their files hold: a file of another segment
//! in the place of one would be taken without a word. cento adds the length and the CRC-32 of every
//! component to the list, and at its end a CRC-32 of the whole list. Layout: segments-format.md,
//! "The directory".

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::{Deserialize, Serialize};

use crate::error::Corruption;

/// The file that names the segments of the last commit.
pub const META: &str = "meta.json";

/// The components that every segment has, by the extensions of their files.
const COMPONENTS: [&str; 7] = ["fast", "fieldnorm", "idx", "pos", "sig", "store", "term"];

const FILES_MEMBER: &[u8] = b",\"cento_files\":";
const CRC_MEMBER: &[u8] = b",\"cento_crc32\":";

/// What a component holds, as of the commit that first named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u32)", into = "(u64, u32)")]
pub struct Component {
    /// The length of the file in bytes, tantivy's footer included.
    pub len: u64,
    /// The CRC-32 of all before tantivy's footer.
    pub crc: u32,
}

impl From<(u64, u32)> for Component {
    fn from((len, crc): (u64, u32)) -> Component {
        Component { len, crc }
    }
}

impl From<Component> for (u64, u32) {
    fn from(component: Component) -> (u64, u32) {
        (component.len, component.crc)
    }
}

/// The components of a commit by the names of their files.
pub type Components = BTreeMap<String, Component>;

/// What cento reads of tantivy's list.
#[derive(Deserialize)]
struct List {
    segments: Vec<Segment>,
    #[serde(default)]
    schema: Vec<Field>,
    #[serde(default)]
    index_settings: Settings,
}

#[derive(Deserialize)]
struct Field {
    name: String,
}

#[derive(Default, Deserialize)]
struct Settings {
    docstore_compression: Option<String>,
}

#[derive(Deserialize)]
struct Segment {
    segment_id: String,
    deletes: Option<Deletes>,
}

#[derive(Deserialize)]
struct Deletes {
    opstamp: u64,
}

impl List {
    /// The names of the files that it stands for.
    fn file_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for segment in &self.segments {
            let uuid = segment.segment_id.replace('-', "");
            names.extend(COMPONENTS.iter().map(|extension| format!("{uuid}.{extension}")));
            let deletes = segment.deletes.as_ref();
            names.extend(deletes.map(|deletes| format!("{uuid}.{}.del", deletes.opstamp)));
        }
        names
    }

    /// Refuses, with the reason as a clause, what a forged list may say and tantivy answers with a
    /// panic.
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

/// Whether that is a compression of texts, as tantivy writes it.
fn is_compression(name: &str) -> bool {
    let level =
        name.strip_prefix("zstd(compression_level=").and_then(|rest| rest.strip_suffix(')'));
    matches!(name, "none" | "zstd") || level.is_some_and(|level| level.parse::<i32>().is_ok())
}

/// Adds to tantivy's list `json` what its files hold, which `component` knows, and the CRC-32 of it
/// all.
///
/// # Errors
/// When `component` fails, or `json` is no list of segments.
pub fn seal(
    json: &[u8],
    mut component: impl FnMut(&str) -> io::Result<Component>,
) -> io::Result<(Vec<u8>, Components)> {
    let mut files = Components::new();
    let list: List = serde_json::from_slice(json)?;
    for name in list.file_names() {
        let found = component(&name)?;
        files.insert(name, found);
    }
    let open = json.trim_ascii_end().strip_suffix(b"}").expect("a list is a JSON object");
    let mut sealed = [open, FILES_MEMBER].concat();
    serde_json::to_writer(&mut sealed, &files)?;
    sealed.push(b'}');
    let crc = crc32fast::hash(&sealed);
    sealed.pop();
    sealed.extend_from_slice(CRC_MEMBER);
    sealed.extend_from_slice(format!("{crc}}}").as_bytes());
    Ok((sealed, files))
}

/// tantivy's list that was sealed, and what its files hold.
///
/// # Errors
/// When the list is not as it was written, or a file of a segment is not in it.
pub fn unseal(sealed: &[u8]) -> Result<(Vec<u8>, Components), Corruption> {
    let damage = |what: String| Corruption::new(META, "list of segments", 0, what);
    let at = rfind(sealed, CRC_MEMBER).ok_or_else(|| damage("its checksum is missing".into()))?;
    let mut checked = [&sealed[..at], b"}"].concat();
    let crc = crc32fast::hash(&checked);
    if sealed[at + CRC_MEMBER.len()..] != *format!("{crc}}}").as_bytes() {
        return Err(damage("it does not match its checksum".into()));
    }
    // A string inside JSON holds no bare quotes, so that the last match is the member itself.
    let at = rfind(&checked, FILES_MEMBER).ok_or_else(|| damage("it lists no files".into()))?;
    let files = &checked[at + FILES_MEMBER.len()..checked.len() - 1];
    let files: Components = serde_json::from_slice(files)
        .map_err(|e| damage(format!("its list of files is invalid: {e}")))?;
    checked.truncate(at);
    checked.push(b'}');
    let list: List = serde_json::from_slice(&checked).map_err(|e| damage(e.to_string()))?;
    list.check().map_err(damage)?;
    if let Some(name) = list.file_names().iter().find(|name| !files.contains_key(*name)) {
        return Err(damage(format!("it lists no checksum for {name}")));
    }
    Ok((checked, files))
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

    #[test]
    fn a_sealed_list_is_json_and_is_given_back() {
        let component = |name: &str| Ok(Component { len: name.len() as u64, crc: 9 });
        let (sealed, files) = seal(&[LIST, b"\n"].concat(), component).unwrap();
        assert_eq!(files.len(), COMPONENTS.len() + 1);
        assert!(files.contains_key("0123abcd000000000000000000000001.7.del"), "{files:?}");
        let value: serde_json::Value = serde_json::from_slice(&sealed).unwrap();
        assert_eq!(value["cento_files"]["0123abcd000000000000000000000001.sig"][1], 9);
        assert_eq!(unseal(&sealed).unwrap(), (LIST.to_vec(), files));
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert!(unseal(&damaged).is_err(), "byte {at}");
            assert!(unseal(&sealed[..at]).is_err(), "cut to {at}");
        }
    }

    /// What is said of a list with these files whose checksum fits.
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
