//! Watches compared with a naive matcher, which searches the documents of a commit for each watch.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cento::hash::mix64;
use cento::index::{Config, Document, Index, Writer, WriterOptions};
use cento::{AddIndexesOptions, Error, Hit, Query, Rank, Reason, Searcher, Stop, Subject};
use cento_api::http::WatchRequest;
use cento_api::{PartText, Thresholds, WatchEvent, WatchOptions};
use cento_collections::watch::Watches;
use proptest::prelude::*;
use serde_json::json;

/// A text of `length` words. Texts of a family share most words.
pub fn text(family: u64, seed: u64, length: u64) -> String {
    let word = |i: u64| {
        let changed = mix64(seed ^ i << 20).is_multiple_of(9);
        format!("w{} ", mix64((if changed { seed + 1000 } else { family }) ^ i << 40) % 500)
    };
    (0..length).map(word).collect()
}

fn document(id: u64, seed: u64) -> Document {
    let mut meta = serde_json::Map::new();
    meta.insert("even".into(), json!(seed.is_multiple_of(2)));
    Document::new(format!("d{id}"), text(seed % 3, seed, 20 + seed % 30)).with_meta(meta)
}

/// A watch request of this kind.
fn request(kind: u64, seed: u64) -> WatchRequest {
    let name = Some(format!("watch {seed} of {kind}"));
    let text = Some(text(seed % 3, seed, 30));
    let request = WatchRequest { name, text, ..WatchRequest::default() };
    let with = |thresholds| WatchRequest { thresholds, ..request.clone() };
    match kind % 6 {
        0 => request,
        1 => with(Thresholds::default().min_containment(0.4)),
        2 => with(Thresholds::default().min_overlap(3u32)),
        3 => WatchRequest {
            options: WatchOptions::default().filter("even:true").min_passage(5u32),
            ..request
        },
        4 => WatchRequest { text: None, id: Some(format!("d{}", seed % 4)), ..request },
        _ => with(Thresholds::default().min_weighted_containment(0.3)),
    }
}

/// The search for a watch, as the guide describes it.
fn query(request: &WatchRequest, stores_text: bool) -> Query {
    let subject = match (&request.text, &request.id) {
        (Some(text), _) => Subject::Text(text.clone()),
        (None, Some(id)) => Subject::Id(id.clone()),
        _ => unreachable!("these tests have no signatures"),
    };
    let mut query = Query::new(subject).limit(usize::MAX).rank(Rank::Overlap);
    query.thresholds = request.thresholds;
    query.options.filter.clone_from(&request.options.filter);
    query.options.min_passage = request.options.min_passage;
    if request.thresholds.is_none() && request.options.min_passage.is_none() {
        query.options.min_passage = Some(12);
    }
    query.passages(stores_text)
}

/// The events of a commit by definition.
fn naive(index: &Index, watches: &[WatchRequest], ids: &[String]) -> BTreeMap<String, Vec<Hit>> {
    let snapshot = index.snapshot().unwrap();
    let searcher = Searcher::new(snapshot);
    let found = watches.iter().filter_map(|request| {
        let query = query(request, index.config().store_text);
        let mut hits = match searcher.search(&query) {
            Err(Error::UnknownId { .. }) => return None,
            answer => answer.unwrap().hits,
        };
        hits.retain(|hit| ids.contains(&hit.id));
        hits.sort_by(|a, b| a.id.cmp(&b.id));
        Some((request.name.clone().unwrap(), hits))
    });
    found.filter(|(_, hits)| !hits.is_empty()).collect()
}

fn by_watch(events: &[WatchEvent]) -> BTreeMap<String, Vec<Hit>> {
    let mut found: BTreeMap<String, Vec<Hit>> = BTreeMap::new();
    for event in events {
        found.entry(event.watch.clone()).or_default().push(event.hit.clone());
    }
    found.values_mut().for_each(|hits| hits.sort_by(|a, b| a.id.cmp(&b.id)));
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// The last file of the log of events.
fn last_file(path: &Path) -> std::path::PathBuf {
    let mut files: Vec<_> = fs::read_dir(path.join(".watches/events"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.pop().unwrap()
}

/// Cuts the log off within the last batch, as a crash would, in copies of the index. Checks that
/// the events are then matched again.
fn check_crashes(path: &Path, before: u64, expected: &[WatchEvent]) {
    let after = fs::metadata(last_file(path)).unwrap().len();
    for at in [before, before + 1, (before + after) / 2, after - 1] {
        let dir = tempfile::tempdir().unwrap();
        copy(path, dir.path());
        let file = fs::OpenOptions::new().write(true).open(last_file(dir.path())).unwrap();
        file.set_len(at.max(before)).unwrap();
        let index = Index::open(dir.path()).unwrap();
        let mut watches = Watches::open(&index).unwrap();
        watches.match_commits(Stop::NEVER).unwrap();
        let mut found = watches.reader().events(0, None, usize::MAX, Stop::NEVER).unwrap().events;
        assert!(found.is_sorted_by(|one, next| one.cursor < next.cursor));
        // The events of a cut-off batch get the time of the next matching.
        for (event, expected) in found.iter_mut().zip(expected) {
            (event.time, event.cursor) = (expected.time, expected.cursor);
        }
        assert_eq!(found, expected, "cut off at byte {at} of {before} to {after}");
    }
}

/// An operation on an index.
#[derive(Debug, Clone)]
enum Step {
    Add(u64, u64),
    Remove(u64),
    Commit,
    Compact,
    Watch(u64, u64),
    Forget(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u64..8, 0u64..60).prop_map(|(id, seed)| Step::Add(id, seed)),
        1 => (0u64..8).prop_map(Step::Remove),
        4 => Just(Step::Commit),
        1 => Just(Step::Compact),
        3 => (0u64..6, 0u64..60).prop_map(|(kind, seed)| Step::Watch(kind, seed)),
        1 => (0usize..4).prop_map(Step::Forget),
        1 => Just(Step::Reopen),
    ]
}

struct Trial {
    index: Index,
    writer: Option<Writer>,
    /// Whether segments are merged in the background.
    merges: bool,
    watches: Option<Watches>,
    requests: Vec<WatchRequest>,
    /// The documents of the next commit.
    changed: Vec<String>,
    events: Vec<WatchEvent>,
}

impl Trial {
    fn begin(path: &Path, store_text: bool, merges: bool) -> Trial {
        let config = Config::new("winnow(k=3,w=4)", "words", store_text).unwrap();
        let index = Index::create(path, config).unwrap();
        let mut writer = index.writer(WriterOptions::default().merge(merges)).unwrap();
        writer.log_changes().unwrap();
        let watches = Some(Watches::open(&index).unwrap());
        let (requests, changed, events) = (Vec::new(), Vec::new(), Vec::new());
        Trial { index, writer: Some(writer), merges, watches, requests, changed, events }
    }

    fn writer(&mut self) -> &mut Writer {
        let options = WriterOptions::default().merge(self.merges);
        self.writer.get_or_insert_with(|| self.index.writer(options).unwrap())
    }

    fn watches(&mut self) -> &mut Watches {
        self.watches.get_or_insert_with(|| Watches::open(&self.index).unwrap())
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Add(id, seed) => {
                let document = document(id, seed);
                let own = document.id.clone();
                if self.writer().add(document).unwrap() != cento::Outcome::Unchanged {
                    self.changed.push(own);
                }
            }
            Step::Remove(id) => {
                self.writer().remove(&format!("d{id}")).unwrap();
            }
            Step::Commit => self.commit(),
            Step::Compact => {
                self.commit();
                self.writer = None;
                self.index.compact(1).unwrap();
            }
            Step::Watch(kind, seed) => {
                // The watch is added while documents are uncommitted, and must match them.
                let request = request(kind, seed);
                if self.requests.iter().any(|other| other.name == request.name) {
                    return;
                }
                match self.watches().add(request.clone()) {
                    Ok(watch) => {
                        assert_eq!(Some(watch.name), request.name);
                        self.requests.push(request);
                    }
                    Err(Error::UnknownId { .. }) => assert!(request.id.is_some()),
                    Err(error) => panic!("{error}"),
                }
            }
            Step::Forget(number) => {
                if number < self.requests.len() {
                    let name = self.requests.remove(number).name.unwrap();
                    assert!(self.watches().remove(&name, Stop::NEVER).unwrap().0);
                    assert!(!self.watches().remove(&name, Stop::NEVER).unwrap().0);
                }
            }
            Step::Reopen => {
                self.watches = None;
                self.commit();
                self.writer = None;
            }
        }
    }

    fn commit(&mut self) {
        self.writer().commit().unwrap();
        let ids = std::mem::take(&mut self.changed);
        let after = self.events.last().map_or(0, |event| event.cursor);
        self.watches();
        let before = fs::metadata(last_file(self.index.path())).unwrap().len();
        self.watches().match_commits(Stop::NEVER).unwrap();
        let found = self.watches().reader().events(after, None, usize::MAX, Stop::NEVER).unwrap();
        assert!(!found.more && !found.missed);
        let cursors: Vec<u64> = found.events.iter().map(|event| event.cursor).collect();
        assert!(cursors.is_sorted_by(|one, next| one < next), "{cursors:?}");
        assert_eq!(by_watch(&found.events), naive(&self.index, &self.requests, &ids));
        let is_new = !found.events.is_empty();
        self.events.extend(found.events);
        // A merge would remove files while the index is copied.
        if is_new && !self.merges && self.events.len().is_multiple_of(3) {
            check_crashes(self.index.path(), before, &self.events);
        }
        // Matching again finds nothing new.
        assert_eq!(self.watches().match_commits(Stop::NEVER).unwrap(), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn the_events_of_each_commit_are_those_of_the_naive_matcher_also_after_crashes(
        steps in prop::collection::vec(step(), 15..45),
        (store_text, merges) in any::<(bool, bool)>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut trial = Trial::begin(&dir.path().join("it"), store_text, merges);
        for step in &steps {
            trial.take(step);
        }
        trial.commit();
    }
}

/// Parts with these names and texts.
pub fn parts(parts: &[(&str, &str)]) -> Vec<PartText> {
    let part =
        |(name, text): &(&str, &str)| PartText { name: (*name).into(), text: (*text).into() };
    parts.iter().map(part).collect()
}

/// An index with a watch that every document of these tests matches.
pub fn watched(path: &Path) -> (Index, Writer, Watches) {
    let config = Config::new("winnow(k=3,w=4)", "words", true).unwrap();
    let index = Index::create(path, config).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.log_changes().unwrap();
    let mut watches = Watches::open(&index).unwrap();
    let (name, text) = (Some("all".to_owned()), Some(text(0, 0, 40)));
    watches.add(WatchRequest { name, text, ..WatchRequest::default() }).unwrap();
    (index, writer, watches)
}

fn ids(watches: &Watches) -> Vec<String> {
    let found = watches.reader().events(0, None, usize::MAX, Stop::NEVER).unwrap();
    found.events.into_iter().map(|event| event.hit.id).collect()
}

#[test]
fn documents_of_a_commit_that_was_not_made_are_not_matched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("it");
    let (index, mut writer, mut watches) = watched(&path);
    writer.add(Document::new("a", text(0, 0, 40))).unwrap();
    writer.commit().unwrap();
    watches.match_commits(Stop::NEVER).unwrap();
    // A crash between the log of changes and the commit leaves the old list of segments.
    let list = fs::read(path.join("meta.json")).unwrap();
    writer.add(Document::new("b", text(0, 0, 41))).unwrap();
    writer.commit().unwrap();
    drop(writer);
    fs::write(path.join("meta.json"), list).unwrap();
    let index = {
        drop(index);
        Index::open(&path).unwrap()
    };
    drop(watches);
    let mut watches = Watches::open(&index).unwrap();
    assert_eq!(watches.match_commits(Stop::NEVER).unwrap(), 0);
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add(Document::new("c", text(0, 0, 42))).unwrap();
    writer.commit().unwrap();
    assert_eq!(watches.match_commits(Stop::NEVER).unwrap(), 1);
    assert_eq!(ids(&watches), ["a", "c"]);
}

#[test]
fn a_match_that_is_stopped_leaves_no_event_and_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (_index, mut writer, mut watches) = watched(&dir.path().join("it"));
    for number in 0..20 {
        writer.add(Document::new(number.to_string(), text(0, 0, 40 + number))).unwrap();
    }
    writer.commit().unwrap();
    let stop = Stop::new();
    stop.set();
    assert!(matches!(watches.match_commits(&stop), Err(Error::Cancelled)));
    assert!(ids(&watches).is_empty());
    assert_eq!(watches.match_commits(Stop::NEVER).unwrap(), 20);
}

#[test]
fn documents_of_merged_indexes_are_matched_and_those_that_are_known_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let (index, mut writer, mut watches) = watched(&dir.path().join("it"));
    let shard = Index::create(dir.path().join("shard"), index.config().clone()).unwrap();
    let mut of_shard = shard.writer(WriterOptions::default()).unwrap();
    of_shard.add(Document::new("new", text(0, 0, 50))).unwrap();
    of_shard.add(Document::new("removed", text(0, 0, 51))).unwrap();
    of_shard.commit().unwrap();
    of_shard.remove("removed").unwrap();
    of_shard.finish().unwrap();
    for _ in 0..2 {
        writer.add_indexes(std::slice::from_ref(&shard), AddIndexesOptions::default()).unwrap();
        watches.match_commits(Stop::NEVER).unwrap();
        assert_eq!(ids(&watches), ["new"]);
    }
}

#[test]
fn watches_and_commits_that_wait_for_them_survive_retraining() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("it");
    let table = {
        let config = Config::new("kgram(k=2)", "words", true).unwrap();
        let plain = Index::create(dir.path().join("plain"), config.clone()).unwrap();
        let mut writer = plain.writer(WriterOptions::default()).unwrap();
        writer.add(Document::new("a", text(0, 0, 60))).unwrap();
        writer.finish().unwrap();
        let training = cento::Training { analyzer: config.analyzer, q: 2, spex: false };
        training.write_of(&plain, dir.path().join("table").as_path()).unwrap()
    };
    let table = Some(std::sync::Arc::new(table));
    let config = Config::with_frequencies("fbw(q=2)", "words", true, table).unwrap();
    let index = Index::create(&path, config).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.log_changes().unwrap();
    let mut watches = Watches::open(&index).unwrap();
    let (name, subject) = (Some("all".to_owned()), Some(text(0, 0, 40)));
    watches.add(WatchRequest { name, text: subject, ..WatchRequest::default() }).unwrap();
    let of_watch = [("one", counted(0..60)), ("two", counted(60..120))];
    let of_watch = of_watch.each_ref().map(|(name, text)| (*name, text.as_str()));
    let (name, of_watch) = (Some("parted".to_owned()), Some(parts(&of_watch)));
    watches.add(WatchRequest { name, parts: of_watch, ..WatchRequest::default() }).unwrap();
    writer.add(Document::new("before", text(0, 0, 45))).unwrap();
    writer.finish().unwrap();
    // Another process has the watches open.
    assert_eq!(index.retrain().unwrap_err().reason(), Reason::Io);
    drop(watches);
    let index = index.retrain().unwrap();
    let mut watches = Watches::open(&index).unwrap();
    assert_eq!(watches.match_commits(Stop::NEVER).unwrap(), 1);
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add(Document::new("after", text(0, 0, 40))).unwrap();
    writer.add(Document::new("whole", counted(0..120))).unwrap();
    writer.finish().unwrap();
    assert_eq!(watches.match_commits(Stop::NEVER).unwrap(), 2);
    assert_eq!(ids(&watches), ["before", "after", "whole"]);
    let found = watches.reader().events(0, Some("parted"), 10, Stop::NEVER).unwrap().events;
    let passages = found[0].hit.passages.as_ref().unwrap();
    let named: Vec<_> = passages.iter().map(|passage| passage.a_part.as_deref()).collect();
    assert_eq!(named, [Some("one"), Some("two")]);
}

#[test]
fn commits_that_wait_are_matched_together_and_a_document_has_the_event_of_its_last_version() {
    let dir = tempfile::tempdir().unwrap();
    let (_index, mut writer, mut watches) = watched(&dir.path().join("it"));
    for number in 0..3 {
        writer.add(Document::new("a", text(0, 0, 40 + number))).unwrap();
        writer.add(Document::new(format!("b{number}"), text(0, 0, 40 + number))).unwrap();
        writer.commit().unwrap();
    }
    writer.remove("b1").unwrap();
    writer.commit().unwrap();
    watches.match_commits(Stop::NEVER).unwrap();
    let found = watches.reader().events(0, Some("all"), usize::MAX, Stop::NEVER).unwrap().events;
    let found: Vec<_> = found.iter().map(|event| (event.hit.id.as_str(), event.commit)).collect();
    assert_eq!(found, [("b0", 1), ("a", 3), ("b2", 3)]);
}

/// Words with the numbers of this range.
pub fn counted(words: std::ops::Range<u32>) -> String {
    words.map(|word| format!("c{word} ")).collect()
}

/// Adds a document that matches, and returns the documents of all events.
fn added(index: &Index, id: &str, length: u64) -> Vec<String> {
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add(Document::new(id, text(0, 0, length))).unwrap();
    writer.finish().unwrap();
    let mut watches = Watches::open(index).unwrap();
    watches.match_commits(Stop::NEVER).unwrap();
    ids(&watches)
}

#[test]
fn an_index_that_a_pull_puts_back_still_has_events() {
    // The list of a former commit ends with an earlier operation than the log of changes.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("it");
    let (index, writer, watches) = watched(&path);
    drop((writer, watches));
    assert_eq!(added(&index, "a", 40), ["a"]);
    let commit = index.open_commit().unwrap();
    assert_eq!(added(&index, "b", 41), ["a", "b"]);
    assert_eq!(added(&index, "c", 42), ["a", "b", "c"]);
    let list = commit.list();
    for file in list.files() {
        let bytes = commit.read(file.name, 0..file.bytes).unwrap();
        fs::write(path.join(file.name), bytes).unwrap();
    }
    cento::index::Receiver::begin(&path).unwrap().finish(list).unwrap();
    drop(index);
    let index = Index::open(&path).unwrap();
    assert_eq!(added(&index, "d", 43), ["a", "b", "c", "d"]);
    assert_eq!(added(&index, "b", 44), ["a", "b", "c", "d", "b"]);
}

#[test]
fn watches_without_their_log_of_changes_go_on_when_another_begins() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("it");
    let (index, writer, watches) = watched(&path);
    drop((writer, watches));
    assert_eq!(added(&index, "a", 40), ["a"]);
    assert_eq!(added(&index, "b", 41), ["a", "b"]);
    // A copy by file names may omit the log of changes.
    fs::remove_dir_all(path.join(".changes")).unwrap();
    assert_eq!(Watches::open(&index).unwrap_err().reason(), Reason::Unsuitable);
    drop(Watches::begin(&index).unwrap());
    assert_eq!(added(&index, "c", 42), ["a", "b", "c"]);
}

#[test]
fn the_watch_of_a_document_that_a_pull_replaces_follows_it() {
    let dir = tempfile::tempdir().unwrap();
    let (path, other) = (dir.path().join("it"), dir.path().join("other"));
    let (index, mut writer, mut watches) = watched(&path);
    let add = |writer: &mut Writer, id: &str, words: String| {
        writer.add(Document::new(id, words)).unwrap();
        writer.commit().unwrap();
    };
    add(&mut writer, "own", text(7, 7, 40));
    let (name, id) = (Some("of it".to_owned()), Some("own".to_owned()));
    watches.add(WatchRequest { name, id, ..WatchRequest::default() }).unwrap();
    drop((writer, watches));
    copy(&path, &other);
    let mut writer = Index::open(&other).unwrap().writer(WriterOptions::default()).unwrap();
    add(&mut writer, "own", text(8, 8, 40));
    drop(writer);
    let commit = Index::open(&other).unwrap().open_commit().unwrap();
    for file in commit.list().files() {
        let bytes = commit.read(file.name, 0..file.bytes).unwrap();
        fs::write(path.join(file.name), bytes).unwrap();
    }
    cento::index::Receiver::begin(&path).unwrap().finish(commit.list()).unwrap();
    drop(index);
    let index = Index::open(&path).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    add(&mut writer, "as it was", text(7, 7, 40));
    add(&mut writer, "as it is", text(8, 8, 40));
    let mut watches = Watches::open(&index).unwrap();
    watches.match_commits(Stop::NEVER).unwrap();
    assert_eq!(ids(&watches), ["as it is"]);
}

#[test]
fn events_of_an_unknown_watch_are_an_error_also_while_another_process_matches() {
    let dir = tempfile::tempdir().unwrap();
    let (index, mut writer, mut watches) = watched(&dir.path().join("it"));
    writer.add(Document::new("a", text(0, 0, 40))).unwrap();
    writer.commit().unwrap();
    watches.match_commits(Stop::NEVER).unwrap();
    let read = |name| cento_collections::watch::caught_up(&index, 0, Some(name), 10, Stop::NEVER);
    let (found, is_elsewhere) = read("all").unwrap();
    assert_eq!((found.events.len(), is_elsewhere), (1, true));
    assert_eq!(read("unknown").unwrap_err().reason(), Reason::UnknownId);
    drop(watches);
    assert_eq!(read("unknown").unwrap_err().reason(), Reason::UnknownId);
}

#[test]
fn an_index_that_logs_no_changes_has_no_watches() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::new("winnow(k=3,w=4)", "words", true).unwrap();
    let index = Index::create(dir.path().join("it"), config.clone()).unwrap();
    assert!(!Watches::exist(&index));
    assert_eq!(Watches::open(&index).unwrap_err().reason(), Reason::Unsuitable);
    let error = Index::in_memory(config).unwrap().writer(WriterOptions::default()).unwrap();
    let mut error = error;
    assert!(error.log_changes().unwrap_err().to_string().contains("in memory"));
}
