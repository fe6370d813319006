//! Defines the runs that are interrupted, with the states before and the allowed states afterward.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fastrand::Rng;
use serde_json::json;

/// The texts of documents by id. The functions [`withdrawal`], [`watch`] and [`event`] give the
/// names of withdrawals, watches and events.
pub type Contents = BTreeMap<String, String>;

pub const INDEX: &str = "index.cento";
pub const OUT: &str = "out.jsonl";
const REPORT: &str = "report.jsonl";
const INPUT: &str = "input.jsonl";
const BASE: &str = "base.jsonl";
const TABLE: &str = "table.cento";
pub const ONE: &str = "one.jsonl";
const CHECKPOINT: &str = "out.jsonl.checkpoint";
/// A directory in place of an object store, and the published index.
const STORE: &str = "store";
const SOURCE: &str = "source.cento";
const PUSH: [&str; 4] = ["store", "push", SOURCE, STORE];
const PULL: [&str; 4] = ["store", "pull", STORE, INDEX];
/// Indexes that are merged, with their documents.
const SHARDS: [(&str, &str); 2] =
    [("shard0.cento", "shard0.jsonl"), ("shard1.cento", "shard1.jsonl")];

pub struct Scenario {
    pub name: &'static str,
    /// The files that exist before the setup.
    pub files: Vec<(&'static str, String)>,
    /// Commands that complete the initial state.
    pub setup: Vec<Vec<&'static str>>,
    pub run: Vec<&'static str>,
    /// The contents of the index during the run, in order. The last contents are final.
    pub story: Vec<Contents>,
    /// The contents of the index after the run has been repeated.
    pub end: Contents,
    /// Files with the same bytes no matter how often the run was interrupted.
    pub outputs: Vec<&'static str>,
    /// Commands that leave an index with the final contents, if the run has ended well.
    pub shown_by: Vec<Vec<&'static str>>,
    /// The text that the run withdraws.
    pub withdrawn: Option<String>,
    /// Whether renames are delayed, so that checkpoints become due, which are written every few
    /// seconds.
    pub is_slow: bool,
    pub has_errors: bool,
    pub merges: bool,
    /// Whether the run writes files of the index that no list of segments names.
    pub writes_beside: bool,
}

pub fn withdrawal(id: &str) -> (String, String) {
    (format!("withdrawal of {id}"), String::new())
}

pub fn watch(name: &str) -> (String, String) {
    (format!("watch {name}"), String::new())
}

/// Returns the entry of an event of a watch and a document. `number` is the number in the log.
pub fn event(number: u64, watch: &str, id: &str) -> (String, String) {
    (format!("event {number}"), format!("{watch} {id}"))
}

impl Scenario {
    fn new(name: &'static str, run: &[&'static str], story: Vec<Contents>) -> Scenario {
        Scenario {
            name,
            files: Vec::new(),
            setup: Vec::new(),
            run: run.to_vec(),
            end: story.last().cloned().unwrap_or_default(),
            story,
            outputs: Vec::new(),
            shown_by: Vec::new(),
            withdrawn: None,
            is_slow: false,
            has_errors: true,
            merges: false,
            writes_beside: false,
        }
    }

    /// Returns the commands that complete the run in `dir` after a fault. `holds_index` says
    /// whether an index exists.
    pub fn repeat(&self, dir: &Path, holds_index: bool) -> Vec<Vec<&'static str>> {
        match self.name {
            // An existing index is complete. The addition then shows that the index is writable.
            "create" | "create-table" => {
                let create = (!holds_index).then(|| self.run.clone());
                create.into_iter().chain([vec!["add", INDEX, ONE]]).collect()
            }
            // A pull retrieves the contents of the store.
            "push" => vec![PUSH.to_vec(), PULL.to_vec()],
            "dedup" => vec![[&self.run[..], &["--resume"]].concat()],
            "pairs" => {
                if dir.join(CHECKPOINT).exists() {
                    return vec![[&self.run[..], &["--resume"]].concat()];
                }
                // A completed run leaves no checkpoint.
                let is_done = std::fs::metadata(dir.join(OUT)).is_ok_and(|found| found.len() > 0);
                if is_done { Vec::new() } else { vec![self.run.clone()] }
            }
            // Removed shards have already been merged.
            "merge-move" => {
                let is_gone = |shard: &str| !dir.join(shard).join("meta.json").exists();
                let gone =
                    SHARDS.map(|(shard, _)| shard).into_iter().filter(|shard| is_gone(shard));
                let gone: Vec<&str> = gone.collect();
                if gone.len() == SHARDS.len() {
                    return Vec::new();
                }
                let left = self.run.iter().copied().filter(|word| !gone.contains(word));
                vec![left.collect()]
            }
            _ => vec![self.run.clone()],
        }
    }

    /// Returns whether the contents are allowed during the run or its repetition.
    pub fn allows(&self, contents: &Contents) -> bool {
        if self.story.contains(contents) || self.end == *contents {
            return true;
        }
        // A repeated addition restores earlier versions of documents before the last versions.
        let Some(documents) = self.added() else { return false };
        let mut reachable = BTreeSet::new();
        for story in &self.story {
            let mut now = story.clone();
            for (id, text) in &documents {
                now.insert(id.clone(), text.clone());
                reachable.insert(now.clone());
            }
        }
        reachable.contains(contents)
    }

    /// Returns the added documents if the run is an addition.
    fn added(&self) -> Option<Vec<(String, String)>> {
        let input = self.files.iter().find(|(name, _)| *name == INPUT)?;
        (self.run.first() == Some(&"add")).then(|| parse(&input.1))
    }

    /// Returns the files that a message may name.
    pub fn names(&self) -> [&'static str; 10] {
        [INDEX, OUT, REPORT, INPUT, BASE, TABLE, SHARDS[0].0, SHARDS[1].0, STORE, SOURCE]
    }
}

fn text(number: u64, words: usize) -> String {
    let mut rng = Rng::with_seed(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let words = (0..words).map(|_| format!("w{}", rng.u32(..2000)));
    words.collect::<Vec<_>>().join(" ")
}

fn lines(documents: &[(String, String)]) -> String {
    let line = |(id, text): &(String, String)| format!("{}\n", json!({"id": id, "text": text}));
    documents.iter().map(line).collect()
}

fn parse(lines: &str) -> Vec<(String, String)> {
    let document = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        (text("id"), text("text"))
    };
    lines.lines().map(document).collect()
}

fn documents(prefix: &str, seed: u64, count: u64) -> Vec<(String, String)> {
    let document = |i| (format!("{prefix}{i}"), text(seed + i, 30 + (i as usize * 7) % 30));
    (0..count).map(document).collect()
}

fn contents(documents: &[(String, String)]) -> Contents {
    documents.iter().cloned().collect()
}

/// Returns the contents after adding `documents` to `before`, a document at a time.
fn one_by_one(before: Contents, documents: &[(String, String)]) -> Vec<Contents> {
    let mut story = vec![before];
    for (id, text) in documents {
        let mut next = story[story.len() - 1].clone();
        next.insert(id.clone(), text.clone());
        story.push(next);
    }
    story
}

const ADD_BASE: [&str; 7] = ["add", INDEX, BASE, "--commit-every", "4", "--threads", "1"];
const SCHEME: [&str; 6] = ["--scheme", "fbw(q=4)", "--analyzer", "chars", "--frequencies", TABLE];

const WITHDRAWN: &str = "base3";

/// Every document of a segment, and some documents of further segments.
const REMOVED: [&str; 6] = ["base1", "base4", "base5", "base6", "base7", "base9"];

pub fn all() -> Vec<Scenario> {
    let base = documents("base", 100, 12);
    let with_base = |scenario: Scenario| Scenario {
        files: vec![(BASE, lines(&base)), (ONE, lines(&documents("one", 900, 1)))],
        ..scenario
    };
    let filled = |scenario: Scenario| {
        let scenario = with_base(scenario);
        Scenario { setup: vec![ADD_BASE.to_vec()], ..scenario }
    };
    let one = contents(&documents("one", 900, 1));
    let create = |name, run: &[&'static str]| {
        let scenario = with_base(Scenario::new(name, run, vec![Contents::new()]));
        Scenario { end: one.clone(), ..scenario }
    };
    let mut run = vec!["create", INDEX];
    run.extend(SCHEME);
    let train = vec!["method", "train", BASE, "--out", TABLE];
    let create_table = Scenario { setup: vec![train.clone()], ..create("create-table", &run) };

    let mut remaining = contents(&base);
    remaining.retain(|id, _| !REMOVED.contains(&id.as_str()));
    let mut remove = vec!["remove", INDEX];
    remove.extend(REMOVED);
    let mut compact =
        filled(Scenario::new("compact", &["compact", INDEX], vec![remaining.clone()]));
    compact.setup.push(remove.clone());
    let run = ["compact", INDEX, "--retrain"];
    let mut retrain = with_base(Scenario::new("retrain", &run, vec![contents(&base)]));
    let mut add = ADD_BASE.to_vec();
    add.extend(SCHEME);
    retrain.setup = vec![train, add];
    retrain.outputs = vec!["index.cento/frequencies.cento"];

    vec![
        create("create", &["create", INDEX]),
        create_table,
        addition(),
        merging(),
        filled(Scenario::new("remove", &remove, vec![contents(&base), remaining])),
        compact,
        retrain,
        dedup(),
        pairs(),
        pairs_add(),
        withdraw(),
        watch_add(),
        watch_events(),
        merge("merge", &[]),
        merge("merge-move", &["--move"]),
        push(),
        pull(),
    ]
}

/// Merges two indexes into a third index. Some documents replace older versions, and a document was
/// removed.
fn merge(name: &'static str, options: &[&'static str]) -> Scenario {
    let base = documents("base", 100, 12);
    let mut shards = [documents("one", 1000, 5), documents("two", 1100, 5)];
    shards[0].push(("base3".into(), text(1200, 40)));
    shards[1].push(("one2".into(), text(1201, 40)));
    let mut merged = contents(&base);
    shards.iter().flatten().for_each(|(id, text)| drop(merged.insert(id.clone(), text.clone())));
    merged.remove("two1");
    let mut files = vec![(BASE, lines(&base))];
    let mut setup = vec![ADD_BASE.to_vec()];
    for ((index, input), documents) in SHARDS.into_iter().zip(&shards) {
        files.push((input, lines(documents)));
        setup.push(vec!["add", index, input, "--threads", "1"]);
    }
    setup.push(vec!["remove", SHARDS[1].0, "two1"]);
    let mut run = vec!["merge", INDEX, SHARDS[0].0, SHARDS[1].0, "--on-conflict", "later"];
    run.extend(options);
    let story = vec![contents(&base), merged];
    Scenario { files, setup, ..Scenario::new(name, &run, story) }
}

struct Published {
    files: Vec<(&'static str, String)>,
    setup: Vec<Vec<&'static str>>,
    /// The documents of the first push, which were pulled.
    before: Contents,
    /// The contents of the index before the second push.
    changed: Contents,
}

/// Makes an index that was pushed, pulled and changed. An added document replaced an older version.
fn published() -> Published {
    let base = documents("base", 100, 12);
    let mut more = documents("more", 400, 3);
    more.push(("base3".into(), text(600, 40)));
    let mut changed = contents(&base);
    changed.extend(more.iter().cloned());
    let files = vec![(BASE, lines(&base)), (ONE, lines(&more))];
    let add = |file| vec!["add", SOURCE, file, "--threads", "1"];
    let setup = vec![add(BASE), PUSH.to_vec(), PULL.to_vec(), add(ONE)];
    Published { files, setup, before: contents(&base), changed }
}

/// Pushes a second time. A pull then shows the result.
fn push() -> Scenario {
    let Published { files, setup, before, changed } = published();
    let scenario = Scenario::new("push", &PUSH, vec![before]);
    Scenario { files, setup, end: changed, shown_by: vec![PULL.to_vec()], ..scenario }
}

fn pull() -> Scenario {
    let Published { files, mut setup, before, changed } = published();
    setup.push(PUSH.to_vec());
    Scenario { files, setup, ..Scenario::new("pull", &PULL, vec![before, changed]) }
}

/// Makes a new index in eleven commits, with replaced documents and merges.
fn addition() -> Scenario {
    let mut added = documents("doc", 200, 16);
    added.extend(documents("doc", 300, 3));
    added.extend(documents("more", 400, 3));
    let run = ["add", INDEX, INPUT, "--commit-every", "2", "--threads", "2", "--format", "json"];
    let story = one_by_one(Contents::new(), &added);
    let scenario = Scenario::new("add", &run, story);
    // Making every call of a long run fail would take too long. `add-merging` covers these faults.
    let has_errors = false;
    Scenario { files: vec![(INPUT, lines(&added))], has_errors, merges: true, ..scenario }
}

/// Adds to an index of seven segments, so the next segments are merged with the old segments.
fn merging() -> Scenario {
    let base = documents("base", 100, 14);
    let mut added = documents("doc", 500, 3);
    added.push(("base3".into(), text(600, 40)));
    let run = ["add", INDEX, INPUT, "--commit-every", "2", "--threads", "1", "--format", "json"];
    let setup = vec!["add", INDEX, BASE, "--commit-every", "2", "--threads", "1"];
    let files = vec![(BASE, lines(&base)), (INPUT, lines(&added))];
    let story = one_by_one(contents(&base), &added);
    Scenario {
        files,
        setup: vec![setup],
        merges: true,
        ..Scenario::new("add-merging", &run, story)
    }
}

/// Deduplicates a stream, mostly of copies, with enough records for commits during the run.
fn dedup() -> Scenario {
    const RECORDS: u64 = 2_200;
    const NEW_EVERY: u64 = 100;
    let mut rng = Rng::with_seed(7);
    let record = |i: u64| {
        let of =
            if i.is_multiple_of(NEW_EVERY) { i / NEW_EVERY } else { rng.u64(..=i / NEW_EVERY) };
        (format!("record{i}"), text(700 + of, 30))
    };
    let records: Vec<(String, String)> = (0..RECORDS).map(record).collect();
    let kept: Vec<_> = records.iter().step_by(NEW_EVERY as usize).cloned().collect();
    let mut run = vec!["dedup", INPUT, "--index", INDEX, "--out", OUT, "--dropped", REPORT];
    run.extend(["--memory", "2k", "--threads", "2", "--format", "json"]);
    let story = one_by_one(Contents::new(), &kept);
    let scenario = Scenario::new("dedup", &run, story);
    let outputs = vec![OUT, REPORT];
    Scenario { files: vec![(INPUT, lines(&records))], outputs, ..scenario }
}

fn pairs() -> Scenario {
    let shared = text(800, 40);
    let mut base = documents("base", 100, 12);
    base.iter_mut().for_each(|(_, text)| *text = format!("{text} {shared}"));
    let run = ["pairs", INDEX, "--out", OUT, "--threads", "1", "--format", "json"];
    let scenario = Scenario::new("pairs", &run, vec![contents(&base)]);
    let (files, setup) = (vec![(BASE, lines(&base))], vec![ADD_BASE.to_vec()]);
    Scenario { files, setup, outputs: vec![OUT], is_slow: true, ..scenario }
}

/// Compares new documents with the documents of an index, and adds the new documents.
fn pairs_add() -> Scenario {
    let base = documents("base", 100, 12);
    let mut new = documents("new", 500, 4);
    // The exit status would not be 0 without a pair.
    new[0].1 = format!("{} {}", new[0].1, base[0].1);
    // The document replaces another document and is not compared with the old version.
    new.push(("base3".into(), text(600, 40)));
    let run = ["pairs", INPUT, "--against", INDEX, "--add", "--threads", "1", "--format", "json"];
    let mut all = contents(&base);
    all.extend(new.iter().cloned());
    let (files, setup) =
        (vec![(BASE, lines(&base)), (INPUT, lines(&new))], vec![ADD_BASE.to_vec()]);
    let scenario = Scenario::new("pairs-add", &run, vec![contents(&base), all]);
    Scenario { files, setup, ..scenario }
}

/// Withdraws a document and its copy. No document quotes the text, so the exit status is 0.
fn withdraw() -> Scenario {
    let mut base = documents("base", 100, 12);
    let own = base[3].1.clone();
    base.push(("copy".into(), own.clone()));
    let mut left = contents(&base);
    left.remove(WITHDRAWN);
    left.remove("copy");
    left.extend([withdrawal(WITHDRAWN)]);
    let run = ["withdraw", INDEX, WITHDRAWN, "--format", "json"];
    let files = vec![(BASE, lines(&base)), (ONE, lines(&documents("one", 900, 1)))];
    let scenario = Scenario::new("withdraw", &run, vec![contents(&base), left]);
    let setup = vec![ADD_BASE.to_vec()];
    Scenario { files, setup, withdrawn: Some(own), ..scenario }
}

const WATCHED: [&str; 3] = ["base1", "base2", "base3"];

/// Adds the first watches of an index.
fn watch_add() -> Scenario {
    let base = documents("base", 100, 12);
    let run = ["watch", "add", INDEX, INPUT, "--min-containment", "0.5"];
    let mut watched = contents(&base);
    watched.extend(WATCHED.map(watch));
    let files = vec![(BASE, lines(&base)), (INPUT, lines(&base[1..4]))];
    let scenario = Scenario::new("watch-add", &run, vec![contents(&base), watched]);
    Scenario { files, setup: vec![ADD_BASE.to_vec()], writes_beside: true, ..scenario }
}

fn watch_events() -> Scenario {
    let base = documents("base", 100, 12);
    let new: Vec<_> =
        base[2..5].iter().map(|(id, text)| (format!("of-{id}"), text.clone())).collect();
    let mut before = contents(&base);
    before.extend(new.iter().cloned());
    before.extend(WATCHED.map(watch));
    let mut first = before.clone();
    first.extend([event(1, "base2", "of-base2"), event(2, "base3", "of-base3")]);
    let files = vec![(BASE, lines(&base)), (INPUT, lines(&base[1..4])), (ONE, lines(&new))];
    let setup = vec![
        ADD_BASE.to_vec(),
        vec!["watch", "add", INDEX, INPUT, "--min-containment", "0.5"],
        vec!["add", INDEX, ONE, "--commit-every", "2", "--threads", "1"],
    ];
    let run = ["watch", "events", INDEX, "--format", "json"];
    let scenario = Scenario::new("watch-events", &run, vec![before, first]);
    Scenario { files, setup, writes_beside: true, ..scenario }
}
