use super::*;
use cento_api::Hit;

fn event(cursor: u64, watch: &str) -> WatchEvent {
    let hit = serde_json::json!({
        "id": format!("d{cursor}"), "overlap": 1, "fingerprints": 1, "meta": {},
        "resemblance": 1.0, "containment_of_a": 1.0, "containment_of_b": 1.0,
        "exact": true,
    });
    let hit: Hit = serde_json::from_value(hit).unwrap();
    WatchEvent { cursor, watch: watch.into(), commit: cursor, time: 0, hit }
}

/// Adds a commit with two events.
fn add(log: &mut EventLog, commit: u64) {
    let mut batch = log.batch(0).unwrap();
    for watch in ["a", "b"] {
        let cursor = batch.next();
        batch.push(&event(cursor, watch)).unwrap();
    }
    batch.end(commit).unwrap();
}

fn cursors(reader: &EventReader, after: u64, watch: Option<&str>, limit: usize) -> Vec<u64> {
    let read = reader.read(after, watch.map(|name| (name, 0)), limit, Stop::NEVER).unwrap();
    read.events.iter().map(|event| event.cursor).collect()
}

#[test]
fn events_are_read_after_a_cursor_and_the_next_one_passes_those_of_other_watches() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = EventLog::open(dir.path(), 7).unwrap().with_bytes_max(1, u64::MAX);
    assert_eq!((log.matched(), log.reader().next()), (7, 1));
    (8..12).for_each(|commit| add(&mut log, commit));
    for reader in [log.reader().clone(), EventReader::open(dir.path()).unwrap()] {
        assert_eq!(cursors(&reader, 0, None, 100), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(cursors(&reader, 3, None, 2), [4, 5]);
        assert_eq!(cursors(&reader, 2, Some("b"), 100), [4, 6, 8]);
        let read = reader.read(2, Some(("b", 0)), 2, Stop::NEVER).unwrap();
        assert_eq!((read.next, read.more, read.missed), (6, true, false));
        // Events up to commit 4 belong to a previous watch with the name.
        let read = reader.read(0, Some(("b", 4)), 100, Stop::NEVER).unwrap();
        assert!(read.events.iter().map(|event| event.cursor).eq([6, 8]), "{read:?}");
        let read = reader.read(0, Some(("nobody", 0)), 2, Stop::NEVER).unwrap();
        assert_eq!((read.events.len(), read.next, read.more), (0, 8, false));
        // No event has had this cursor.
        let read = reader.read(100, None, 2, Stop::NEVER).unwrap();
        assert_eq!((read.next, read.missed), (8, true));
    }
    drop(log);
    let log = EventLog::open(dir.path(), 0).unwrap();
    assert_eq!((log.matched(), log.reader().next()), (11, 9));
}

#[test]
fn the_oldest_events_go_when_the_log_is_too_large_and_a_reader_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = EventLog::open(dir.path(), 0).unwrap().with_bytes_max(300, 2000);
    (1..20).for_each(|commit| add(&mut log, commit));
    let read = log.reader().read(0, None, 1000, Stop::NEVER).unwrap();
    let first = read.events[0].cursor;
    assert!(first > 1 && read.missed && read.next == 38, "{first}");
    assert!(!log.reader().read(first - 1, None, 1000, Stop::NEVER).unwrap().missed);
    let bytes: u64 =
        fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes < 3500, "{bytes}");
}

#[test]
fn a_batch_that_was_given_up_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = EventLog::open(dir.path(), 0).unwrap();
    add(&mut log, 1);
    let mut batch = log.batch(0).unwrap();
    batch.push(&event(3, "lost")).unwrap();
    drop(batch);
    assert_eq!(cursors(log.reader(), 0, None, 100), [1, 2]);
    add(&mut log, 2);
    assert_eq!(cursors(log.reader(), 0, None, 100), [1, 2, 3, 4]);
}

#[test]
fn a_log_that_is_put_back_gives_no_cursor_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = EventLog::open(dir.path(), 0).unwrap();
    let add_at = |log: &mut EventLog, commit: u64, time: u64, events: usize| {
        let mut batch = log.batch(time).unwrap();
        for _ in 0..events {
            let cursor = batch.next();
            batch.push(&event(cursor, "a")).unwrap();
        }
        assert_eq!(batch.end(commit).unwrap(), events as u64);
    };
    add_at(&mut log, 1, 1000, 2);
    let path = log.path.clone();
    let copy = fs::read(&path).unwrap();
    // Commits without events do not change the cursor, and clocks may go back.
    add_at(&mut log, 2, 1500, 0);
    assert_eq!(log.reader().next(), 1002);
    add_at(&mut log, 3, 2000, 3);
    add_at(&mut log, 4, 1800, 1);
    assert_eq!(cursors(log.reader(), 0, None, 100), [1000, 1001, 2000, 2001, 2002, 2003]);
    drop(log);
    fs::write(&path, copy).unwrap();
    let mut log = EventLog::open(dir.path(), 0).unwrap();
    // The reader has seen more events than the restored log has, so it learns that events are
    // missing.
    assert!(log.reader().read(2003, None, 100, Stop::NEVER).unwrap().missed);
    add_at(&mut log, 2, 3000, 1);
    let read = log.reader().read(2003, None, 100, Stop::NEVER).unwrap();
    assert_eq!((read.events[0].cursor, read.next, read.missed), (3000, 3000, false));
    drop(log);
    let reader = EventReader::open(dir.path()).unwrap();
    assert_eq!(cursors(&reader, 1001, None, 100), [3000]);
}

#[test]
fn rewritten_events_keep_their_cursors_and_batches() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = EventLog::open(dir.path(), 0).unwrap().with_bytes_max(500, u64::MAX);
    (1..6).for_each(|commit| add(&mut log, commit));
    let rename = |event: &mut WatchEvent| {
        let is_one = event.hit.id == "d2" || event.hit.id == "d10";
        event.hit.id = if is_one { "gone".into() } else { event.hit.id.clone() };
        is_one
    };
    assert_eq!(log.rewrite(&mut { rename }).unwrap(), 2);
    assert_eq!(log.rewrite(&mut { rename }).unwrap(), 0);
    // New events follow the rewritten bytes, and the log is intact.
    add(&mut log, 6);
    drop(log);
    let log = EventLog::open(dir.path(), 0).unwrap();
    assert_eq!((log.matched(), log.reader().next()), (6, 13));
    let events = log.reader().read(0, None, 100, Stop::NEVER).unwrap().events;
    let ids: Vec<&str> = events.iter().map(|event| event.hit.id.as_str()).collect();
    let expected = ["d1", "gone", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "gone", "d11", "d12"];
    assert_eq!(ids, expected);
    for first in firsts(dir.path()).unwrap() {
        let path = path_of(dir.path(), first);
        assert_eq!(last_batch(&path).unwrap().0, fs::metadata(&path).unwrap().len());
    }
}

#[test]
fn damage_before_the_last_batch_is_an_error_and_not_an_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = EventLog::open(dir.path(), 0).unwrap();
    (1..4).for_each(|commit| add(&mut log, commit));
    let path = log.path.clone();
    drop(log);
    let whole = fs::read(&path).unwrap();
    let markers: Vec<usize> = whole
        .windows(MARKER.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == MARKER)
        .map(|(at, _)| at)
        .collect();
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        EventLog::open(dir.path(), 0).map(|log| log.reader().next())
    };
    assert!(changed(markers[1] - 10).unwrap_err().to_string().contains("damaged"));
    // The last batch may have been cut off.
    assert_eq!(changed(markers[3] - 10).unwrap(), 5);
}
