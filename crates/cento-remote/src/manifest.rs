//! Manifests: the records of pushes.
//!
//! A manifest is JSON that ends with a digest of all preceding bytes. Manifests come from outside,
//! so names, lengths and numbers must agree with the list of segments, which has a separate
//! checksum and names nothing outside of a directory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use jiff::Timestamp;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use cento::index::FileList;
use cento::{Corruption, Error, Reason, Result};

/// The version of the layout, for `cento_manifest`.
const FORMAT: u32 = 1;

/// The directory of the parts of files.
pub const PARTS: &str = "data";

/// The ending of a file with withdrawals.
const WITHDRAWALS_ENDING: &str = ".withdrawn";

/// The maximum size of a manifest, enough for the parts of some 30 TB.
pub const MANIFEST_BYTES_MAX: u64 = 64 << 20;

/// The maximum size of a part, because a part is in memory. cento writes smaller parts.
const PART_BYTES_MAX: u64 = 64 << 20;

const DIGEST_MEMBER: &[u8] = b",\"xxh3\":\"";

/// An XXH3-128 digest. In JSON, 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PartDigest(u128);

impl PartDigest {
    /// Returns the digest of these bytes.
    pub fn of(bytes: &[u8]) -> PartDigest {
        PartDigest(xxh3_128(bytes))
    }
}

impl std::fmt::Display for PartDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl From<PartDigest> for String {
    fn from(digest: PartDigest) -> String {
        digest.to_string()
    }
}

impl TryFrom<String> for PartDigest {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<PartDigest, String> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(&text, 16).ok().filter(|_| is_hex);
        number.map(PartDigest).ok_or_else(|| format!("{text:?} is not a digest"))
    }
}

/// A file in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The number of the manifest that the push of this file started from.
    pub since: u64,
    /// The length in bytes of all parts but the last.
    pub part_bytes: u64,
    /// The digests of the parts, in order.
    pub parts: Vec<PartDigest>,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name of the file.
    pub name: String,
    /// The range of bytes in the file.
    pub range: Range<u64>,
    /// The digest of the part's bytes.
    pub digest: PartDigest,
    /// The path of the object.
    pub path: Path,
}

impl StoredFile {
    /// Returns a file whose parts are not known yet.
    pub fn new(bytes: u64, since: u64, part_bytes: u64) -> StoredFile {
        StoredFile { bytes, since, part_bytes, parts: Vec::new() }
    }

    /// Returns the ranges of the parts.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let (bytes, part_bytes) = (self.bytes, self.part_bytes);
        (0..bytes.div_ceil(part_bytes))
            .map(move |at| at * part_bytes..bytes.min((at + 1) * part_bytes))
    }

    /// Returns the object of a part of the file with this name.
    pub fn path(&self, name: &str, number: usize, digest: PartDigest) -> Path {
        Path::from(format!("{PARTS}/{:020}-{name}-{number:06}-{digest}", self.since))
    }

    /// Returns the parts of the file with this name.
    pub fn parts(&self, name: &str) -> Vec<Part> {
        let parts = self.ranges().zip(&self.parts).enumerate();
        let part = |(number, (range, &digest))| Part {
            name: name.to_owned(),
            range,
            digest,
            path: self.path(name, number, digest),
        };
        parts.map(part).collect()
    }
}

/// Returns the number of the manifest that the push of this part started from. `None` if the path
/// is not the path of a part.
pub fn since_of(path: &Path) -> Option<u64> {
    let (since, _) = path.as_ref().strip_prefix(PARTS)?.strip_prefix('/')?.split_once('-')?;
    if since.len() == 20 { since.parse().ok() } else { None }
}

/// Returns the beginning that the paths of all parts of a file have in common, if the part with
/// this path belongs to a file of withdrawals.
pub fn file_of_withdrawals(path: &Path) -> Option<&str> {
    let file = path.as_ref().rsplitn(3, '-').nth(2)?;
    file.ends_with(WITHDRAWALS_ENDING).then_some(file)
}

/// The manifest before the next manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Base {
    /// The number, or 0 before the first manifest.
    pub number: u64,
    /// The id. `None` before the first manifest, or if the manifest is damaged.
    pub id: Option<PartDigest>,
}

impl From<&Manifest> for Base {
    fn from(manifest: &Manifest) -> Base {
        Base { number: manifest.number, id: Some(manifest.id) }
    }
}

/// The last object of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The number: 1 more than the manifest at the start of the push.
    pub number: u64,
    /// A random id, which differs from the ids of other manifests with the same number.
    pub id: PartDigest,
    /// The id of the manifest at the start of the push, or `None` if the manifest could not be
    /// read.
    pub parent: Option<PartDigest>,
    /// The number of the manifest that was restored, if this manifest is a copy.
    pub restored: Option<u64>,
    /// The time of creation, by the clock of the pushing machine.
    pub created: Timestamp,
    /// The number of watches of the index. No store contains watches.
    pub watches: u64,
    /// The list of segments.
    pub list: FileList,
    /// The files in the list, and the frequency table, by name.
    pub files: BTreeMap<String, StoredFile>,
}

#[derive(Serialize, Deserialize)]
struct ManifestJson {
    cento_manifest: u32,
    number: u64,
    id: PartDigest,
    parent: Option<PartDigest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restored: Option<u64>,
    created: String,
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    watches: u64,
    list: String,
    files: Vec<(String, StoredFile)>,
}

/// The fields common to all versions of the layout.
#[derive(Deserialize)]
struct LayoutVersion {
    cento_manifest: u32,
}

impl Manifest {
    /// Returns a manifest of these files, to follow `base`.
    pub fn after(base: Base, list: FileList, files: BTreeMap<String, StoredFile>) -> Manifest {
        Manifest {
            number: base.number + 1,
            id: PartDigest(fastrand::u128(..)),
            parent: base.id,
            restored: None,
            created: Timestamp::now(),
            watches: 0,
            list,
            files,
        }
    }

    /// Returns a copy, to follow `current`.
    pub fn restored_after(&self, current: Base) -> Manifest {
        let copy = Manifest::after(current, self.list.clone(), self.files.clone());
        Manifest { restored: Some(self.number), watches: self.watches, ..copy }
    }

    /// Returns the size of all files in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }

    /// Returns the size in bytes of the files that are not in `other`.
    pub fn bytes_beside(&self, other: Option<&Manifest>) -> u64 {
        let is_known = |name: &str, file: &StoredFile| {
            other.is_some_and(|other| other.files.get(name) == Some(file))
        };
        let new = self.files.iter().filter(|(name, file)| !is_known(name, file));
        new.map(|(_, file)| file.bytes).sum()
    }

    /// Returns the objects of all parts.
    pub fn paths(&self) -> BTreeSet<Path> {
        let parts = self.files.iter().flat_map(|(name, file)| file.parts(name));
        parts.map(|part| part.path).collect()
    }

    /// Returns the manifest as stored, with the digest at its end.
    pub fn to_bytes(&self) -> Vec<u8> {
        let written = ManifestJson {
            cento_manifest: FORMAT,
            number: self.number,
            id: self.id,
            parent: self.parent,
            restored: self.restored,
            created: self.created.to_string(),
            watches: self.watches,
            list: String::from_utf8_lossy(self.list.as_bytes()).into_owned(),
            files: self.files.clone().into_iter().collect(),
        };
        let mut bytes = serde_json::to_vec(&written).expect("a manifest is JSON");
        let digest = PartDigest::of(&bytes);
        bytes.pop();
        bytes.extend_from_slice(DIGEST_MEMBER);
        bytes.extend_from_slice(format!("{digest}\"}}").as_bytes());
        bytes
    }

    /// Reads the manifest with this number.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the manifest is damaged, or no push can have written it.
    /// [`Error::Index`] for another version. `name` is the manifest's name in messages.
    pub fn parse(name: &str, number: u64, bytes: &[u8]) -> Result<Manifest> {
        let damage = |what: String| Error::from(Corruption::new(name, "manifest", 0, what));
        let at = bytes.len().checked_sub(DIGEST_MEMBER.len() + 34);
        let ends = at.is_some_and(|at| bytes[at..].starts_with(DIGEST_MEMBER));
        let Some(at) = at.filter(|_| ends) else {
            return Err(damage(
                "it has no digest at its end; it is cut off, or no manifest".into(),
            ));
        };
        let json = [&bytes[..at], b"}"].concat();
        let digest = format!("{}\"}}", PartDigest::of(&json));
        if bytes[at + DIGEST_MEMBER.len()..] != *digest.as_bytes() {
            return Err(damage("it does not match its digest".into()));
        }
        let version: LayoutVersion =
            serde_json::from_slice(&json).map_err(|e| damage(e.to_string()))?;
        // A valid manifest of a different version is not damaged, and must not be replaced like a
        // damaged manifest.
        if version.cento_manifest != FORMAT {
            let what = format!(
                "it is a manifest of version {}, but this version of cento reads {FORMAT}",
                version.cento_manifest
            );
            return Err(Error::index(name, Reason::OtherVersion, what));
        }
        let written: ManifestJson =
            serde_json::from_slice(&json).map_err(|e| damage(e.to_string()))?;
        if written.number != number {
            return Err(damage(format!("it is the manifest {}", written.number)));
        }
        let created = written.created.parse().map_err(|e: jiff::Error| damage(e.to_string()))?;
        let list = FileList::parse(written.list.into_bytes());
        let list = list.map_err(|e| damage(format!("its list of segments: {e}")))?;
        let count = written.files.len();
        let files: BTreeMap<String, StoredFile> = written.files.into_iter().collect();
        if files.len() != count {
            return Err(damage("it names a file twice".into()));
        }
        let manifest = Manifest {
            number,
            id: written.id,
            parent: written.parent,
            restored: written.restored,
            created,
            watches: written.watches,
            list,
            files,
        };
        manifest.check().map_err(damage)?;
        Ok(manifest)
    }

    /// Compares the files with the list of segments. Returns any difference as a clause.
    fn check(&self) -> std::result::Result<(), String> {
        let table = self.list.table();
        let listed = self.list.files().map(|file| (file.name, Some(file.bytes)));
        let expected: BTreeMap<&str, Option<u64>> =
            listed.chain(table.map(|table| (table, None))).collect();
        if let Some(name) = self.files.keys().find(|name| !expected.contains_key(name.as_str())) {
            return Err(format!(
                "it has the file {name:?}, which the list of segments does not name"
            ));
        }
        for (name, bytes) in expected {
            let Some(file) = self.files.get(name) else {
                return Err(format!("it does not have the file {name}"));
            };
            if bytes.is_some_and(|bytes| bytes != file.bytes) {
                return Err(format!("it has another length of {name} than the list of segments"));
            }
            if !(1..=PART_BYTES_MAX).contains(&file.part_bytes) {
                return Err(format!("parts of {} bytes are not allowed ({name})", file.part_bytes));
            }
            if file.bytes.div_ceil(file.part_bytes) != file.parts.len() as u64 {
                return Err(format!("{name} has {} parts for its length", file.parts.len()));
            }
            if file.since >= self.number {
                return Err(format!("{name} comes from the later manifest {}", file.since));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    use cento::index::{Config, Index, WriterOptions};

    /// Returns the list of segments of an index with a single document.
    pub fn list() -> FileList {
        let index = Index::in_memory(Config::new("winnow", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        writer.add(cento::Document::new("a", "a text of a few words")).unwrap();
        writer.finish().unwrap();
        index.open_commit().unwrap().list().clone()
    }

    fn manifest() -> Manifest {
        let list = list();
        let file = |bytes| {
            let mut file = StoredFile::new(bytes, 0, 100);
            file.parts =
                file.ranges().map(|range| PartDigest::of(&range.start.to_le_bytes())).collect();
            file
        };
        let files = list.files().map(|listed| (listed.name.to_owned(), file(listed.bytes)));
        Manifest::after(Base::default(), list.clone(), files.collect())
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written_and_any_damage_is_noticed() {
        let manifest = manifest();
        let bytes = manifest.to_bytes();
        assert_eq!(Manifest::parse("m", 1, &bytes).unwrap(), manifest);
        assert_eq!(manifest.list.documents(), 1);
        assert!(serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Manifest::parse("m", 1, &damaged).is_err(), "byte {at}");
        }
        for at in 0..bytes.len() {
            assert!(Manifest::parse("m", 1, &bytes[..at]).is_err(), "cut to {at}");
        }
        assert!(Manifest::parse("m", 2, &bytes).is_err());
    }

    #[test]
    fn a_hostile_manifest_is_refused() {
        let check = |change: &dyn Fn(&mut Manifest), expected: &str| {
            let mut hostile = manifest();
            change(&mut hostile);
            let error = Manifest::parse("m", 1, &hostile.to_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        let file = |manifest: &mut Manifest| manifest.files.pop_first().unwrap();
        check(
            &|m| {
                let (_, file) = file(m);
                m.files.insert("../../.ssh/authorized_keys".into(), file);
            },
            "../../.ssh/authorized_keys",
        );
        check(&|m| drop(file(m)), "it does not have the file");
        check(&|m| m.files.values_mut().for_each(|file| file.bytes = u64::MAX), "another length");
        check(
            &|m| m.files.values_mut().for_each(|file| file.part_bytes = u64::MAX),
            "are not allowed",
        );
        check(&|m| m.files.values_mut().for_each(|file| file.part_bytes = 0), "are not allowed");
        check(&|m| m.files.values_mut().for_each(|file| file.parts.clear()), "0 parts");
        check(&|m| m.files.values_mut().for_each(|file| file.since = 9), "later manifest 9");
    }

    #[test]
    fn a_file_that_is_named_twice_is_refused() {
        let bytes = manifest().to_bytes();
        let text = String::from_utf8(bytes).unwrap();
        let (_, rest) = text.split_once("\"files\":[").unwrap();
        let first = &rest[..rest.find("]}],").unwrap() + 4];
        let doubled = text.replace("\"files\":[", &format!("\"files\":[{first}"));
        let at = doubled.len() - DIGEST_MEMBER.len() - 34;
        let json = format!("{}}}", &doubled[..at]);
        let digest = PartDigest::of(json.as_bytes());
        let doubled = format!("{},\"xxh3\":\"{digest}\"}}", &doubled[..at]);
        let error = Manifest::parse("m", 1, doubled.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("names a file twice"), "{error}");
    }

    #[test]
    fn a_path_names_the_manifest_that_its_push_was_made_from() {
        let file = StoredFile::new(10, 7, 4);
        assert_eq!(file.ranges().collect::<Vec<_>>(), [0..4, 4..8, 8..10]);
        let path = file.path("frequencies.cento", 2, PartDigest(5));
        assert_eq!(since_of(&path), Some(7));
        for other in ["data/x", "data/7-x", "manifests/00000000000000000007-x", "data/x-y"] {
            assert_eq!(since_of(&Path::from(other)), None, "{other}");
        }
    }
}
