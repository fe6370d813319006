//! Adds the segments of indexes to an index, without building segments again.
//!
//! Nothing in a segment depends on its index, so the segments of the added indexes, the *shards*,
//! are adopted unchanged: the files are copied or linked under new names, and a single commit lists
//! the copies. The commit also records the adopted segments ([`Adopted`]), so that a repetition
//! after a success or a crash adds nothing twice. Files of an interrupted run are collected.
//!
//! Adding does not merge segments. The writer or [`Index::compact`] merges later.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use derive_setters::Setters;
use tantivy::directory::error::LockError;
use tantivy::directory::{DirectoryLock, INDEX_WRITER_LOCK, TerminatingWrite};
use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::merge_policy::NoMergePolicy;
use tantivy::{Directory, HasLen};

use super::conflict::{self, Elsewhere};
use super::moved::{self, Moving};
use super::own_files;
use super::withdrawals;
use crate::error::{Error, Result};
use crate::index::AddedIndexes;
use crate::index::Index;
use crate::index::OnConflict;
use crate::index::Snapshot;
use crate::index::Withdrawals;
use crate::index::Writer;
use crate::index::WriterOptions;
use crate::index::policy::TieredMergePolicy;
use crate::index::storage::component::{damage, footer, verify_end, verify_whole};
use crate::index::storage::directory::is_denied;
use crate::index::storage::seal::{Adopted, Adoption, Component};
use crate::reason::{ConflictKind, Reason};

/// Options for merging indexes.
#[derive(Debug, Clone, Copy, Default, Setters)]
#[non_exhaustive]
pub struct AddIndexesOptions {
    /// What happens when two of the indexes have a document with the same id.
    pub on_conflict: OnConflict,
    /// Link the files of the shards instead of copying, where the file system can, and remove the
    /// shards once the commit is durable.
    pub remove: bool,
}

/// A shard, locked against other writers.
struct Shard<'a> {
    index: &'a Index,
    /// A snapshot of the shard. `None` if the shard has no new segments.
    snapshot: Option<Snapshot>,
    /// The places of the new segments in the snapshot.
    new: Vec<usize>,
    lock: Option<DirectoryLock>,
}

/// Returns the shards as input for the comparison with the withdrawals.
fn incoming<'a>(shards: &'a [Shard<'_>]) -> Vec<withdrawals::Incoming<'a>> {
    let new = |shard: &'a Shard<'_>| Some((shard.snapshot.as_ref()?, &shard.new[..]));
    shards.iter().map(|shard| (shard.index, new(shard))).collect()
}

/// The number of bytes copied at a time.
const COPIED_BYTES: usize = 1 << 20;

/// tantivy's opstamp of the deletions in adopted segments. No later commit has this opstamp,
/// because adding segments uses up an opstamp.
const OPERATION: u64 = 0;

impl Index {
    /// Takes the segments of finished indexes, the `shards`, into the index at `path` in one
    /// commit. If there is no index at `path`, it is created with the configuration of the first
    /// shard. See [`Writer::add_indexes`].
    ///
    /// ```
    /// use cento::{Config, Document, Index, AddIndexesOptions, WriterOptions};
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let path = |name: &str| dir.path().join(name);
    /// for (name, text) in [("a", "a text of one machine"), ("b", "a text of another machine")] {
    ///     let shard = Index::create(path(name), Config::new("winnow(k=5,w=10)", "words", true)?)?;
    ///     let mut writer = shard.writer(WriterOptions::default())?;
    ///     writer.add(Document::new(name, text))?;
    ///     writer.finish()?;
    /// }
    /// let merged = Index::add_indexes(path("all"), &[path("a"), path("b")], AddIndexesOptions::default())?;
    /// assert_eq!(merged.documents, 2);
    /// // A second time there is nothing new.
    /// let merged = Index::add_indexes(path("all"), &[path("a"), path("b")], AddIndexesOptions::default())?;
    /// assert_eq!((merged.documents, merged.known), (0, 2));
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Writer::add_indexes`], [`Index::open`] and [`Index::create`].
    pub fn add_indexes(
        path: impl AsRef<Path>,
        shards: &[impl AsRef<Path>],
        options: AddIndexesOptions,
    ) -> Result<AddedIndexes> {
        let path = path.as_ref();
        let mut removed = 0;
        let mut shards: Vec<&Path> = shards.iter().map(AsRef::as_ref).collect();
        if options.remove {
            removed = moved::finish(path, &mut shards)?;
        }
        let shards = shards.into_iter().map(Index::open).collect::<Result<Vec<_>>>()?;
        let without_merges = WriterOptions::default().merge(false);
        let (writer, mut merged) = match shards.first() {
            Some(first) if !Index::exists(path) => {
                // Check everything that may be refused before an index is created.
                check_distinct(None, &shards)?;
                let mut merged = AddedIndexes::default();
                let locked = lock_all(first, Adopted::new(), &shards, options, &mut merged)?;
                let resolved = resolve(path, None, &locked, options)?;
                let withdrawals = withdrawals::of_all(None, &incoming(&locked))?;
                let config = first.config().with_text(first.config().store_text)?;
                let mut writer = Index::create(path, config)?.writer(without_merges)?;
                if !writer.committed()?.segments().is_empty() {
                    let what =
                        "another process has added documents to it since it was created; try again";
                    return Err(Error::conflict(
                        ConflictKind::Writer,
                        format!("{}: {what}", path.display()),
                    ));
                }
                writer.take_in(locked, resolved, withdrawals, options, &mut merged)?;
                (writer, merged)
            }
            _ => {
                let mut writer = Index::open(path)?.writer(without_merges)?;
                let merged = writer.add_indexes(&shards, options)?;
                (writer, merged)
            }
        };
        writer.finish()?;
        merged.removed += removed;
        Ok(merged)
    }

    /// Prevents other processes from writing to this shard. Without the permission to write, the
    /// shard is read unlocked.
    fn lock_shard(&self, options: AddIndexesOptions) -> Result<Option<DirectoryLock>> {
        match self.tantivy().directory().acquire_lock(&INDEX_WRITER_LOCK) {
            Ok(lock) => Ok(Some(lock)),
            Err(LockError::IoError(error)) if is_denied(&error) && !options.remove => Ok(None),
            Err(error) => Err(self.error("write to", error.into())),
        }
    }
}

impl Writer {
    /// Adopts the segments of other indexes, the `shards`, unchanged and atomically in one commit.
    /// Documents added earlier are committed first.
    ///
    /// Ids stay unique: `options` decide between documents with the same id. Segments adopted
    /// before are skipped, so a repetition adds nothing. A shard that was compacted meanwhile has
    /// new segments, whose documents conflict with the documents adopted before. Documents that a
    /// shard removed after it was merged stay in this index. The limit of document frequency of
    /// this index does not change.
    ///
    /// Reads every id of the index and the shards, and each file of the shards once.
    ///
    /// # Errors
    /// When a shard has another scheme, analyzer, frequency table or schema, when it is damaged,
    /// being written ([`Error::Locked`]) or listed twice, and when an id occurs twice although
    /// `options` do not allow it. Nothing has been adopted then. When the commit cannot be opened
    /// or a shard cannot be removed afterwards, every segment has been adopted.
    pub fn add_indexes(
        &mut self,
        shards: &[Index],
        options: AddIndexesOptions,
    ) -> Result<AddedIndexes> {
        self.commit()?;
        self.committed()?;
        let index = self.index().clone();
        check_distinct(Some(&index), shards)?;
        let mut merged = AddedIndexes::default();
        let adopted = index.directory().adopted();
        let shards = lock_all(&index, adopted, shards, options, &mut merged)?;
        let resolved = resolve(index.path(), Some(self.committed()?), &shards, options)?;
        let refused = self.withdrawals.clone();
        let withdrawals =
            withdrawals::of_all(Some((&refused, self.committed()?)), &incoming(&shards))?;
        self.take_in(shards, resolved, withdrawals, options, &mut merged)?;
        Ok(merged)
    }

    /// Adopts the new segments and the withdrawals of the shards in one commit, and removes the
    /// shards if requested.
    fn take_in(
        &mut self,
        shards: Vec<Shard<'_>>,
        resolved: ResolvedIds,
        withdrawals: Withdrawals,
        options: AddIndexesOptions,
        merged: &mut AddedIndexes,
    ) -> Result<()> {
        let is_new = withdrawals.iter().ne(self.withdrawals.iter());
        let withdrawals = is_new.then_some(withdrawals);
        if shards.iter().any(|shard| !shard.new.is_empty()) {
            // Collect the remains of an interrupted merge first: the copies need the space.
            self.collect();
            let index = self.index().clone();
            let taken = take_all(&index, &shards, &resolved, options, merged);
            index.directory().end_announcement();
            let taken = taken.inspect_err(|_| self.collect())?;
            merged.replaced = resolved.replaced;
            self.log_adopted(&shards, &resolved)?;
            self.commit_adopted(taken, resolved, withdrawals)?;
        } else if let Some(withdrawals) = withdrawals {
            self.commit_withdrawals(withdrawals)?;
        }
        if !options.remove {
            return Ok(());
        }
        let index = self.index().clone();
        // Another index may have taken the path of a shard meanwhile.
        let check = |shard: &Index| {
            let checked = shard.directory().check_writer();
            checked.map_err(|e| shard.error("remove", e.into()))
        };
        shards.iter().try_for_each(|shard| check(shard.index))?;
        let places = shards.iter().map(|shard| shard.index.path());
        let mut moving = Moving::begin(&index, places)?;
        for Shard { index: shard, snapshot, lock, .. } in shards {
            drop(snapshot);
            check(shard)?;
            moved::remove(shard.path(), lock, &index.faults())?;
            merged.removed += 1;
            moving.ended(shard.path());
        }
        moving.end()
    }

    /// Writes the documents of the new segments to the change log, if the index has one.
    fn log_adopted(&mut self, shards: &[Shard<'_>], resolved: &ResolvedIds) -> Result<()> {
        if !self.logs_changes() {
            return Ok(());
        }
        let mut deleted = resolved.deleted.iter();
        for shard in shards {
            let Some(snapshot) = &shard.snapshot else { continue };
            for &at in &shard.new {
                let replaced = deleted.next().map_or(&[][..], Vec::as_slice);
                let view = &snapshot.segments()[at];
                for doc in view.live().filter(|doc| replaced.binary_search(doc).is_err()) {
                    let id = view.signatures.id(doc)?;
                    self.log_change(&id)?;
                }
            }
        }
        Ok(())
    }

    /// Removes files that no commit lists.
    fn collect(&mut self) {
        let collected = self.tantivy_writer().garbage_collect_files().wait();
        if let Err(error) = collected {
            log::warn!("{}", self.index().error("collect files of", error));
        }
    }

    /// Commits segments whose files are already in place.
    fn commit_adopted(
        &mut self,
        taken: TakenSegments,
        resolved: ResolvedIds,
        withdrawals: Option<Withdrawals>,
    ) -> Result<()> {
        let index = self.index().clone();
        let names = |metas: &[SegmentMeta]| metas.iter().map(SegmentMeta::id).collect();
        let ids: HashSet<SegmentId> = names(&taken.metas);
        let segments: BTreeSet<String> = ids.iter().map(SegmentId::uuid_string).collect();
        index.directory().record(Adoption { segments, from: taken.from });
        let change = self.begin_change();
        let writer = self.tantivy_writer();
        // A merge before the commit would create a segment that `Elsewhere` does not exclude, so
        // its documents would be deleted.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let mut added = taken.metas.into_iter().try_for_each(|meta| writer.add_segment(meta));
        if added.is_ok() && !resolved.replaced_ids.is_empty() {
            let older = Elsewhere::new(resolved.replaced_ids, ids);
            added = writer.delete_query(Box::new(older)).map(|_| ());
        }
        added.map_err(|e| index.error("add segments to", e))?;
        let before = index.directory().withdrawals();
        if let Some(withdrawals) = &withdrawals {
            self.write_withdrawals(withdrawals)?;
        }
        self.commit_change(change)?;
        if let Some(withdrawals) = withdrawals {
            self.end_change_of_withdrawals(before.as_deref(), withdrawals);
        }
        if self.merges() {
            self.tantivy_writer().set_merge_policy(Box::new(TieredMergePolicy));
        }
        if let Err(error) = self.committed() {
            // Without the snapshot, the writer would not know the documents of the new segments.
            self.begin_change().abandon();
            return Err(error);
        }
        Ok(())
    }
}

/// The decisions about ids that occur twice.
#[derive(Default)]
struct ResolvedIds {
    /// For each new segment, the documents that a later document replaces, ascending.
    deleted: Vec<Vec<u32>>,
    /// The ids of the replaced documents of the index itself.
    replaced_ids: Vec<tantivy::Term>,
    /// The total number of replaced documents.
    replaced: u64,
}

/// Decides which documents stay, among the index at `path` (if it has documents) and the shards.
fn resolve(
    path: &Path,
    own: Option<&Snapshot>,
    shards: &[Shard<'_>],
    options: AddIndexesOptions,
) -> Result<ResolvedIds> {
    let Some(first) = shards.iter().find(|shard| !shard.new.is_empty()) else {
        return Ok(ResolvedIds::default());
    };
    let mut sources =
        own.map_or(Vec::new(), |own| conflict::sources(0, own, 0..own.segments().len()));
    let own_segments = sources.len();
    for (number, shard) in (1..).zip(shards) {
        if let Some(snapshot) = &shard.snapshot {
            sources.extend(conflict::sources(number, snapshot, shard.new.iter().copied()));
        }
    }
    let found = conflict::find(&sources, first.index, options.on_conflict == OnConflict::Later)?;
    if let Some(clash) = found.clash {
        let holder = |number: usize| match number {
            0 => path.display(),
            _ => shards[number - 1].index.path().display(),
        };
        let what = format!(
            "the document `{}` is in {} and in {}, so nothing was merged; remove it from one of \
             them, or let the later one win",
            clash.id,
            holder(clash.holders.0),
            holder(clash.holders.1)
        );
        return Err(Error::index(path, Reason::SharedId, what));
    }
    let deleted = found.deleted.into_iter().skip(own_segments).collect();
    Ok(ResolvedIds { deleted, replaced_ids: found.own, replaced: found.replaced })
}

/// Segments whose files are in place but not committed.
#[derive(Default)]
struct TakenSegments {
    metas: Vec<SegmentMeta>,
    from: Adopted,
}

/// Refuses a merge of an index with itself, and a shard that is listed twice.
fn check_distinct(index: Option<&Index>, shards: &[Index]) -> Result<()> {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let own = index.and_then(|index| index.path().canonicalize().ok());
    for shard in shards {
        // An index in memory has no path.
        let Ok(path) = shard.path().canonicalize() else { continue };
        if own.as_ref() == Some(&path) {
            let what = "an index cannot be merged with itself";
            return Err(Error::index(
                shard.path(),
                Reason::InvalidArgument { argument: None },
                what,
            ));
        }
        if !seen.insert(path) {
            return Err(Error::index(
                shard.path(),
                Reason::InvalidArgument { argument: None },
                "it is named twice",
            ));
        }
    }
    Ok(())
}

/// Locks every shard, checks that the shard fits `index`, and finds the segments that are not in
/// `known`.
fn lock_all<'a>(
    index: &Index,
    mut known: Adopted,
    shards: &'a [Index],
    options: AddIndexesOptions,
    merged: &mut AddedIndexes,
) -> Result<Vec<Shard<'a>>> {
    let mut locked = Vec::new();
    for shard in shards {
        index.check_fits(shard)?;
        let lock = shard.lock_shard(options)?;
        shard.check_same()?;
        if options.remove {
            own_files::check_all_own(shard.path())?;
        }
        let (snapshot, new) = open_shard(shard, &known, merged)?;
        // Adopt a segment once, even if one shard is a copy of another.
        for reader in snapshot.iter().flat_map(|snapshot| snapshot.tantivy().segment_readers()) {
            known.entry(reader.segment_id().uuid_string()).or_insert(reader.num_deleted_docs());
        }
        locked.push(Shard { index: shard, snapshot, new, lock });
    }
    Ok(locked)
}

/// Opens a shard if it has segments that are not in `known`, and returns their positions.
fn open_shard(
    shard: &Index,
    known: &Adopted,
    merged: &mut AddedIndexes,
) -> Result<(Option<Snapshot>, Vec<usize>)> {
    let metas = shard.tantivy().searchable_segment_metas().map_err(|e| shard.error("read", e))?;
    for meta in &metas {
        if let Some(&deleted) = known.get(&meta.id().uuid_string()) {
            merged.known += 1;
            merged.removed_since += u64::from(meta.num_deleted_docs().saturating_sub(deleted));
        }
    }
    // A shard whose removal has begun cannot be opened, but needs no opening either.
    if metas.iter().all(|meta| known.contains_key(&meta.id().uuid_string())) {
        return Ok((None, Vec::new()));
    }
    let snapshot = shard.snapshot()?;
    let readers = snapshot.tantivy().segment_readers();
    let is_new =
        |reader: &tantivy::SegmentReader| !known.contains_key(&reader.segment_id().uuid_string());
    let new = (0..readers.len()).filter(|&at| is_new(&readers[at])).collect();
    Ok((Some(snapshot), new))
}

/// Assigns ids to new segments, and records the names of the files before the files exist.
fn announce(index: &Index, shards: &[Shard<'_>]) -> Result<Vec<SegmentId>> {
    let (mut ids, mut names) = (Vec::new(), Vec::new());
    for shard in shards {
        let Some(snapshot) = &shard.snapshot else { continue };
        let components = shard.index.directory().listed();
        for &at in &shard.new {
            let id = SegmentId::generate_random();
            let (name, new) = (
                snapshot.tantivy().segment_readers()[at].segment_id().uuid_string(),
                id.uuid_string(),
            );
            let files =
                components.range(name.clone()..).map_while(|(file, _)| file.strip_prefix(&name));
            let files = files.filter(|rest| !rest.ends_with(".del"));
            names.extend(files.map(|rest| format!("{new}{rest}")));
            names.push(format!("{new}.{OPERATION}.del"));
            ids.push(id);
        }
    }
    let noted = index.directory().announce(names);
    noted.map_err(|e| index.error("write to", e.into()))?;
    Ok(ids)
}

/// Copies or links the files of the new segments.
fn take_all(
    index: &Index,
    shards: &[Shard<'_>],
    resolved: &ResolvedIds,
    options: AddIndexesOptions,
    merged: &mut AddedIndexes,
) -> Result<TakenSegments> {
    let mut taken = TakenSegments::default();
    let mut deleted = resolved.deleted.iter();
    let mut ids = announce(index, shards)?.into_iter();
    for shard in shards {
        let Some(snapshot) = &shard.snapshot else { continue };
        let components = shard.index.directory().listed();
        for &at in &shard.new {
            let deleted = deleted.next().expect("there are as many as new segments");
            let id = ids.next().expect("there are as many as new segments");
            let reader = &snapshot.tantivy().segment_readers()[at];
            let name = reader.segment_id().uuid_string();
            taken.from.insert(name.clone(), reader.num_deleted_docs());
            let live = reader.num_docs() - deleted.len() as u32;
            if live == 0 {
                continue;
            }
            let meta = index.tantivy().new_segment_meta(id, reader.max_doc());
            let meta = match reader.max_doc() - live {
                0 => meta,
                count => meta.with_delete_meta(count, OPERATION),
            };
            meta.untrack_temp_docstore();
            let new = meta.id().uuid_string();
            for (file, &component) in components.range(name.clone()..) {
                let Some(rest) = file.strip_prefix(&name) else { break };
                let copied = if !rest.ends_with(".del") {
                    PathBuf::from(format!("{new}{rest}"))
                } else if deleted.is_empty() {
                    PathBuf::from(format!("{new}.{OPERATION}.del"))
                } else {
                    continue;
                };
                merged.bytes += component.len;
                let is_linked = take(index, shard.index, file, component, &copied, options.remove)?;
                merged.linked += usize::from(is_linked);
            }
            if !deleted.is_empty() {
                write_alive(index, reader, deleted, &meta)?;
            }
            merged.segments += 1;
            merged.documents += u64::from(live);
            taken.metas.push(meta);
        }
    }
    Ok(taken)
}

/// Copies a file of a shard to `new` and compares the content with the entry in the list. With
/// `link`, links it instead if possible. Returns whether the file was linked.
fn take(
    index: &Index,
    shard: &Index,
    name: &str,
    component: Component,
    new: &Path,
    link: bool,
) -> Result<bool> {
    let failed = |e: std::io::Error| shard.error("read", e.into());
    let file = shard.directory().open_unchecked(Path::new(name));
    let file = file.map_err(|e| shard.error("read", e.into()))?;
    let directory = index.tantivy().directory();
    if let (true, Some(root), Some(_)) = (link, shard.directory().own(), index.directory().own()) {
        verify_whole(name, file.clone(), component).map_err(failed)?;
        index.directory().link_next(new, root.join(name));
        match directory.open_write(new) {
            Ok(_) => return Ok(true),
            // The shard is on another file system, or the file system has no links.
            Err(error) => log::debug!("cannot link {name}: {error}"),
        }
    }
    verify_end(name, &file, component).map_err(failed)?;
    let body = footer(name, file).map_err(failed)?.1;
    let write = |e: std::io::Error| index.error("write to", e.into());
    let mut out = directory.open_write(new).map_err(|e| index.error("write to", e.into()))?;
    let mut crc = crc32fast::Hasher::new();
    for from in (0..body.len()).step_by(COPIED_BYTES) {
        let part =
            body.read_bytes_slice(from..body.len().min(from + COPIED_BYTES)).map_err(failed)?;
        crc.update(&part);
        std::io::Write::write_all(&mut out, &part).map_err(write)?;
    }
    if crc.finalize() != component.crc {
        let what = "its content does not match its checksum";
        return Err(failed(damage(name, what)));
    }
    // Also writes tantivy's footer.
    out.terminate().map_err(write)?;
    Ok(false)
}

/// Writes the alive bitset of a new segment: the live documents of the shard, without `deleted`.
fn write_alive(
    index: &Index,
    reader: &tantivy::SegmentReader,
    deleted: &[u32],
    meta: &SegmentMeta,
) -> Result<()> {
    let mut alive = tantivy::BitSet::with_max_value(reader.max_doc());
    for doc in reader.doc_ids_alive() {
        alive.insert(doc);
    }
    for &doc in deleted {
        alive.remove(doc);
    }
    let path = meta.relative_path(tantivy::index::SegmentComponent::Delete);
    let failed = |e: std::io::Error| index.error("write to", e.into());
    let out = index.tantivy().directory().open_write(&path);
    let mut out = out.map_err(|e| index.error("write to", e.into()))?;
    tantivy::fastfield::write_alive_bitset(&alive, &mut out).map_err(failed)?;
    out.terminate().map_err(failed)
}
