//! Recovery of an index whose list of segments is lost, damaged or too old.
//!
//! The files of the segments are still in the directory. Recovery links or copies them into a new
//! directory with a new list, and leaves the old directory unchanged. The configuration comes from
//! the old list or, if the list is unreadable, from another index that was created with the same
//! options. Each `.sig` file contains a digest of the configuration, so a wrong configuration is
//! refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use tantivy::Directory;
use tantivy::directory::FileSlice;
use tantivy::fastfield::AliveBitSet;

use super::conflict;
use super::own_files;
use super::withdrawals;
use crate::error::{Error, Result};
use crate::index::storage::component::segment_of;
use crate::index::storage::component::{footer, verify_body};
use crate::index::storage::directory::IndexDirectory;
use crate::index::storage::mmap_directory;
use crate::index::storage::seal::{COMPONENTS, META};
use crate::index::withdrawals::CheckedText;
use crate::index::{Index, Withdrawals, WriterOptions};
use crate::reason::Reason;
use crate::segment::SegmentReader;

/// A segment whose files were found in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FoundSegment {
    /// The prefix of the names of its files: 32 hexadecimal digits.
    pub segment: String,
    /// The number of documents, deleted documents included. 0 if the number is unreadable.
    pub documents: u32,
    /// The number of deleted documents.
    pub deleted: u32,
    /// The total bytes of its files.
    pub bytes: u64,
    /// Whether the list of segments contains the segment.
    pub listed: bool,
    /// The number of removed or replaced documents that would be live again, because the list of
    /// deleted documents is lost.
    pub undeleted: u32,
    /// The damage as a clause, or `None` for an intact segment.
    pub problem: Option<String>,
}

/// A segment with its files and the data for its entry in a list.
struct SegmentCandidate {
    found: FoundSegment,
    files: Vec<String>,
    /// The opstamp of the newest list of deleted documents.
    deletes: Option<u64>,
}

impl Index {
    /// Returns the segments whose files are in the directory `path`, ordered by name. Reads every
    /// file and verifies its checksum.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn segments_in(path: impl AsRef<Path>) -> Result<Vec<FoundSegment>> {
        let candidates = candidates(path.as_ref())?;
        Ok(candidates.into_iter().map(|candidate| candidate.found).collect())
    }

    /// Creates an index in the directory `to`, which must be missing or empty, from intact segments
    /// in the directory `path`: from every intact segment, or only from the listed `segments`. The
    /// new index is configured like `like`, which is required if the list of `path` is lost or
    /// damaged, or else like the index at `path`. A segment whose list of deleted documents is lost
    /// is taken only if `segments` lists it. Its removed and replaced documents are then live
    /// again.
    ///
    /// # Errors
    /// When there is no intact segment or a listed segment is not intact, when the settings of the
    /// index are unknown or the segments were made with other settings, and when an id is live in
    /// two segments. `to` is as before then.
    pub fn recover(
        path: impl AsRef<Path>,
        to: impl AsRef<Path>,
        like: Option<&Index>,
        segments: &[String],
    ) -> Result<Index> {
        let (path, to) = (path.as_ref(), to.as_ref());
        let config = match like {
            Some(like) => like.config().with_text(like.config().store_text)?,
            None => {
                let index = Index::open(path).map_err(|error| {
                    let what = format!(
                        "its list of segments cannot be read ({error}); name an index that was \
                         created in the same way, an empty one will do"
                    );
                    Error::index(path, Reason::Unsuitable, what)
                })?;
                index.config().with_text(index.config().store_text)?
            }
        };
        let candidates = chosen(path, candidates(path)?, segments)?;
        let refused = withdrawals::found_in(path)?;
        // If `to` is in use, this is refused, and nothing in it may be removed.
        let index = Index::create(to, config)?;
        let made = begin(index, &refused).and_then(|()| make(path, to, &candidates));
        // Without a choice, a segment may be the remains of an interrupted pull of an older commit.
        let made = match segments.is_empty() {
            true => made.and_then(|index| refuse(index, path, &refused)),
            false => made,
        };
        if made.is_err()
            && let Err(error) = own_files::remove(to)
        {
            log::warn!("cannot remove {}: {error}", to.display());
        }
        made
    }
}

/// Puts the withdrawals into a new index, before it gets documents.
fn begin(index: Index, refused: &Withdrawals) -> Result<()> {
    if refused.is_empty() {
        return Ok(());
    }
    index.writer(WriterOptions::default().merge(false))?.commit_withdrawals(refused.clone())
}

/// Refuses a recovered index with a withdrawn or cut text, except for copies to be kept.
fn refuse(index: Index, path: &Path, refused: &Withdrawals) -> Result<Index> {
    let snapshot = index.snapshot()?;
    for address in snapshot.live() {
        let digest = snapshot.segment(address).signatures.digest(address.doc)?;
        let text = CheckedText { digest, tokens: 0, signature: &[], text: None };
        if let Some(what) = refused.refusal(snapshot.config(), text)? {
            let segment = snapshot.tantivy().segment_readers()[address.segment as usize]
                .segment_id()
                .uuid_string();
            let what = format!(
                "the segment `{segment}` has the document `{}`: {what}; name the other segments to \
                 recover these alone",
                snapshot.id(address)?
            );
            return Err(Error::index(path, Reason::Withdrawn, what));
        }
    }
    Ok(index)
}

/// Returns the requested segments, and checks that they are intact.
fn chosen(
    path: &Path,
    found: Vec<SegmentCandidate>,
    wanted: &[String],
) -> Result<Vec<SegmentCandidate>> {
    let names: BTreeSet<&str> = found.iter().map(|one| one.found.segment.as_str()).collect();
    if let Some(unknown) = wanted.iter().find(|name| !names.contains(name.as_str())) {
        let what = format!("no files of a segment `{unknown}` are here");
        return Err(Error::index(path, Reason::Unsuitable, what));
    }
    let is_wanted =
        |one: &SegmentCandidate| wanted.is_empty() || wanted.contains(&one.found.segment);
    let is_usable = |one: &SegmentCandidate| {
        one.found.problem.is_none() || (!wanted.is_empty() && one.found.undeleted > 0)
    };
    let (whole, damaged): (Vec<_>, Vec<_>) =
        found.into_iter().filter(is_wanted).partition(is_usable);
    if let (false, Some(one)) = (wanted.is_empty(), damaged.first()) {
        let FoundSegment { segment, problem, .. } = &one.found;
        let what =
            format!("the segment `{segment}` is not whole: {}", problem.as_deref().unwrap_or(""));
        return Err(Error::index(path, Reason::Unsuitable, what));
    }
    if whole.is_empty() {
        let mut what = "no whole segment is here".to_owned();
        if let Some(one) = damaged.iter().find(|one| one.found.undeleted > 0) {
            let FoundSegment { segment, undeleted, .. } = &one.found;
            what.push_str(&format!(
                "; `{segment}` lacks nothing but its list of deleted documents, and is taken if it \
                 is named: documents that were removed or replaced, {undeleted} of them, are then \
                 live again"
            ));
        }
        return Err(Error::index(path, Reason::Unsuitable, what));
    }
    Ok(whole)
}

/// Puts the files of the segments into the new index at `to`, and writes a list for them.
fn make(path: &Path, to: &Path, segments: &[SegmentCandidate]) -> Result<Index> {
    for name in segments.iter().flat_map(|segment| &segment.files) {
        let (from, new) = (path.join(name), to.join(name));
        if std::fs::hard_link(&from, &new).is_err() {
            // The directory is on another file system, or the file system has no links.
            std::fs::copy(&from, &new).map_err(|e| Error::io("copy", &from, e))?;
            let synced = std::fs::File::open(&new).and_then(|file| file.sync_all());
            synced.map_err(|e| Error::io("sync", &new, e))?;
        }
    }
    let index = Index::open(to)?;
    {
        let failed = |e: tantivy::TantivyError| index.error("write to", e);
        let directory = index.directory();
        let _lock = directory
            .acquire_lock(&tantivy::directory::INDEX_WRITER_LOCK)
            .map_err(|e| failed(e.into()))?;
        let files = segments.iter().flat_map(|segment| segment.files.iter().cloned());
        directory.announce(files).map_err(|e| failed(e.into()))?;
        directory.end_announcement();
        let list = directory.atomic_read(Path::new(META)).map_err(|e| failed(e.into()))?;
        let mut list: Value = serde_json::from_slice(&list).expect("it was read before");
        let commit = segments.iter().filter_map(|segment| segment.deletes).max().unwrap_or(0);
        list["opstamp"] = json!(commit + 1);
        list["segments"] = segments.iter().map(SegmentCandidate::listed).collect();
        let list = serde_json::to_vec_pretty(&list).expect("it is JSON");
        directory.atomic_write(Path::new(META), &list).map_err(|e| failed(e.into()))?;
    }
    let index = Index::open(to)?;
    check_ids(&index, segments)?;
    match index.check()?.problems.into_iter().next() {
        Some(problem) => Err(problem.into()),
        None => Ok(index),
    }
}

/// Refuses two segments that have a live document with the same id.
fn check_ids(index: &Index, segments: &[SegmentCandidate]) -> Result<()> {
    let snapshot = index.snapshot()?;
    let sources: Vec<conflict::Source<'_>> = (0..snapshot.segments().len())
        .flat_map(|at| conflict::sources(at, &snapshot, [at]))
        .collect();
    let Some(conflict::Clash { id, holders: (a, b) }) =
        conflict::find(&sources, index, false)?.clash
    else {
        return Ok(());
    };
    let readers = snapshot.tantivy().segment_readers();
    let [a, b] = [a, b].map(|at| readers[at].segment_id().uuid_string());
    let is_listed = |name: &str| segments.iter().any(|s| s.found.segment == name && s.found.listed);
    let listed = |name: &str| if is_listed(name) { ", which the list names," } else { "" };
    let what = format!(
        "the segments `{a}`{} and `{b}`{} both have a document with the id `{id}`: one was merged \
         from the other, or is older, or lacks its list of deleted documents; choose the segments, \
         or make an index of each and merge these",
        listed(&a),
        listed(&b)
    );
    Err(Error::index(index.path(), Reason::Unsuitable, what))
}

impl SegmentCandidate {
    /// Returns the entry of the segment for a list.
    fn listed(&self) -> Value {
        let FoundSegment { segment, documents, deleted, .. } = &self.found;
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &segment[part]);
        let deletes =
            self.deletes.map(|opstamp| json!({"num_deleted_docs": deleted, "opstamp": opstamp}));
        json!({"segment_id": parts.join("-"), "max_doc": documents, "deletes": deletes})
    }
}

/// Finds segments by the names of the files in the directory.
fn candidates(path: &Path) -> Result<Vec<SegmentCandidate>> {
    let failed = |e| Error::io("read", path, e);
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let Some(name) = name.to_str() else { continue };
        if let Some(segment) = segment_of(name) {
            names.entry(segment.to_owned()).or_default().push(name.to_owned());
        }
    }
    let directory = IndexDirectory::new(Box::new(mmap_directory(path)?), None);
    let listed_deletes = listed_deletes(&directory);
    let listed = directory.listed();
    let candidate = |(segment, mut files): (String, Vec<String>)| {
        files.sort_unstable();
        let (deletes, files) = newest(&segment, files);
        let bytes = files
            .iter()
            .filter_map(|name| std::fs::metadata(path.join(name)).ok())
            .map(|found| found.len())
            .sum();
        let is_listed = listed.contains_key(&format!("{segment}.sig"));
        let mut found = FoundSegment {
            segment,
            documents: 0,
            deleted: 0,
            bytes,
            listed: is_listed,
            undeleted: 0,
            problem: None,
        };
        let examined = examine(&directory, &mut found, deletes);
        let examined = examined.and_then(|()| {
            let expected = listed_deletes.get(&found.segment);
            expected.map_or(Ok(()), |&(at, number)| check_deletes(&mut found, deletes, at, number))
        });
        found.problem = examined.err();
        SegmentCandidate { found, files, deletes }
    };
    Ok(names.into_iter().map(candidate).collect())
}

/// Returns, by segment, the opstamp and the number of documents of each list of deleted documents
/// in the list of segments. Empty if the list of segments is damaged.
fn listed_deletes(directory: &IndexDirectory) -> BTreeMap<String, (u64, u32)> {
    let list = directory.atomic_read(Path::new(META)).unwrap_or_default();
    let list: Value = serde_json::from_slice(&list).unwrap_or_default();
    let deletes = |segment: &Value| {
        let name = segment["segment_id"].as_str()?.replace('-', "");
        let deletes = &segment["deletes"];
        let number = u32::try_from(deletes["num_deleted_docs"].as_u64()?).ok()?;
        Some((name, (deletes["opstamp"].as_u64()?, number)))
    };
    list["segments"].as_array().into_iter().flatten().filter_map(deletes).collect()
}

/// Checks that the list of deleted documents on disk, with the opstamp `found_at`, is no older than
/// the list of segments requires. A newer list includes every document of an older one. The error
/// is a clause.
fn check_deletes(
    found: &mut FoundSegment,
    found_at: Option<u64>,
    listed_at: u64,
    number: u32,
) -> std::result::Result<(), String> {
    if found_at.is_some_and(|found_at| found_at >= listed_at) {
        return Ok(());
    }
    found.undeleted = number.saturating_sub(found.deleted);
    Err(format!(
        "{}.{listed_at}.del is missing: {} of its documents that were removed or replaced would be \
         live again",
        found.segment, found.undeleted
    ))
}

/// Returns the opstamp of the newest list of deleted documents, and the files except older lists.
fn newest(segment: &str, files: Vec<String>) -> (Option<u64>, Vec<String>) {
    let number = |name: &str| -> Option<u64> {
        let rest = name.strip_prefix(segment)?.strip_prefix('.')?.strip_suffix(".del")?;
        rest.parse().ok()
    };
    let newest = files.iter().filter_map(|name| number(name)).max();
    let is_part = |name: &String| match number(name) {
        Some(number) => Some(number) == newest,
        None => !name.ends_with(".del"),
    };
    (newest, files.into_iter().filter(is_part).collect())
}

/// Reads and verifies the files of a segment. The error is a clause.
fn examine(
    directory: &IndexDirectory,
    found: &mut FoundSegment,
    deletes: Option<u64>,
) -> std::result::Result<(), String> {
    let segment = found.segment.clone();
    let open = |extension: &str| -> std::result::Result<(String, FileSlice), String> {
        let name = format!("{segment}.{extension}");
        let file = directory.open_unchecked(Path::new(&name));
        let file = file.map_err(|_| format!("{name} is missing"))?;
        verify_body(&name, file.clone()).map_err(|e| e.to_string())?;
        Ok((name, file))
    };
    let body = |(name, file): (String, FileSlice)| {
        let body = footer(&name, file).and_then(|(_, body)| body.read_bytes());
        body.map_err(|e| format!("{name}: {e}"))
    };
    for extension in COMPONENTS {
        let file = open(extension)?;
        if extension == "sig" {
            let name = file.0.clone();
            let signatures = SegmentReader::open(name, body(file)?).map_err(|e| e.to_string())?;
            found.documents = signatures.header().documents;
        }
    }
    if let Some(number) = deletes {
        let alive = body(open(&format!("{number}.del"))?)?;
        if alive.len() < 4 + (found.documents as usize).div_ceil(64) * 8 {
            return Err(format!(
                "the list of its deleted documents has only {} bytes",
                alive.len()
            ));
        }
        let alive = AliveBitSet::open(alive).num_alive_docs() as u32;
        found.deleted = found.documents.saturating_sub(alive);
    }
    Ok(())
}
