//! Measures memory for hostile texts.
//!
//! Allocated bytes are counted, so the numbers are equal on every machine. The tests run one at a
//! time, because they share the counter.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cento::Stop;
use cento::compare;
use cento::index::{Config, Index};
use cento::runtime::Faults;
use cento::search::{Query, Searcher, memory};
use cento_source::{AddOptions, AddReport, By, Event, Grouping, SourceOptions, add, parse_record};

use cento_source::pipeline::{Output, Outputs, PipelineOptions};

/// The system's allocator, with a counter.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

#[expect(unsafe_code, reason = "an allocator is unsafe; this one hands everything to the system's")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Large blocks are moved by their pages and are not there twice.
        grow(size.saturating_sub(layout.size()));
        NOW.fetch_sub(layout.size().saturating_sub(size), Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the peak memory of `work`, beyond the memory in use before, and the result.
fn peak_of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let done = work();
    (PEAK.load(Ordering::Relaxed).saturating_sub(before), done)
}

const MB: usize = 1_000_000;

/// Texts of this many bytes, with their kinds.
fn texts(bytes: usize) -> [(&'static str, String); 4] {
    let prose =
        "The quick brown fox jumps over the lazy dog 1234, while nobody in particular looks. ";
    [
        ("dots", ".".repeat(bytes)),
        ("letters", "a ".repeat(bytes / 2)),
        // Each character decomposes to eighteen letters, which is slow.
        ("ligatures", "\u{fdfa}".repeat(bytes / 12)),
        ("prose", prose.repeat(bytes / prose.len())),
    ]
}

fn config() -> Config {
    Config::new("winnow(k=5,w=10)", "words", false).unwrap()
}

#[test]
fn a_text_is_signed_without_its_tokens_being_held() {
    // A token took 16 bytes, and 16 more if all tokens are alike. Some tokens and the signature now
    // take 3 MB, whatever the size of the text.
    let _turn = turn();
    let config = config();
    for (name, text) in texts(MB) {
        let (peak, signed) = peak_of(|| config.sign(&text).unwrap());
        assert!(signed.0 > 0);
        assert!(peak < 2 * text.len() + 4 * MB, "{name}: {peak} bytes for {}", text.len());
    }
}

#[test]
fn the_memory_of_signing_is_computed_in_little_memory() {
    let _turn = turn();
    let config = Config::new("kgram(k=5)", "bytes", false).unwrap();
    for (name, text) in texts(MB / 2) {
        let (peak, cost) =
            peak_of(|| config.cost_of_signing(&text, &mut Vec::new(), Stop::NEVER).unwrap());
        assert!(cost.bytes >= 15 * text.len(), "{name}");
        assert!(peak < 3 * MB, "{name}: {peak} bytes");
    }
}

/// Writes a file of JSON lines with all texts, `times` times.
fn lines(dir: &Path, texts: &[&str], times: usize) -> PathBuf {
    let path = dir.join("texts.jsonl");
    let line = |(i, text): (usize, &&str)| format!("{{\"id\":\"{i}\",\"text\":\"{text}\"}}\n");
    let all = texts.repeat(times);
    std::fs::write(&path, all.iter().enumerate().map(line).collect::<String>()).unwrap();
    path
}

/// Adds a file within `memory_bytes`. Returns the peak, the report, and the reported failures.
fn added(path: &Path, config: Config, memory_bytes: usize) -> (usize, AddReport, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path().join("x.idx"), config).unwrap();
    let options = AddOptions { threads: 2, memory_bytes, ..AddOptions::default() };
    let mut failed = Vec::new();
    let (peak, report) = peak_of(|| {
        add(&index, &[path.to_owned()], &options, Stop::NEVER, &mut |event| {
            if let Event::Failed(error) = event {
                failed.push(error.to_string());
            }
        })
    });
    (peak, report.unwrap(), failed)
}

#[test]
fn adding_large_lines_keeps_within_the_memory_it_is_given() {
    let _turn = turn();
    let dir = tempfile::tempdir().unwrap();
    let texts = texts(3 * MB / 2);
    let all: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    let path = lines(dir.path(), &all, 1);
    // tantivy takes 32 MiB at least.
    let (peak, report, failed) = added(&path, config().with_text(true).unwrap(), 64 << 20);
    assert_eq!((report.added, failed.len()), (4, 0), "{failed:?}");
    assert!(peak < 72 << 20, "{peak} bytes");
}

#[test]
fn a_document_that_takes_more_than_there_is_is_refused_and_named() {
    let _turn = turn();
    let dir = tempfile::tempdir().unwrap();
    // All k-grams take 16 bytes per byte of text, ten times the memory of other schemes.
    let large = ".".repeat(3 * MB / 2);
    let path = lines(dir.path(), &["small", &large, "another"], 1);
    let config = Config::new("kgram(k=5)", "words", false).unwrap();
    let (peak, report, failed) = added(&path, config, 64 << 20);
    assert_eq!((report.added, report.failed), (2, 1));
    let expected = "document `1`: fingerprinting its 1500000 bytes of text, of 1500000 tokens, \
                    needs 42 MiB of memory, but a document may use at most 32 MiB; split the text, \
                    or allow 2 times the memory";
    assert_eq!(failed, [expected]);
    assert!(peak < 96 << 20, "{peak} bytes");
}

#[test]
fn a_large_document_that_was_known_and_has_changed_since_is_refused_and_named() {
    // The document was signed without a check of the memory.
    let _turn = turn();
    let dir = tempfile::tempdir().unwrap();
    let config = Config::new("kgram(k=5)", "words", false).unwrap();
    let index = Index::create(dir.path().join("x.idx"), config).unwrap();
    let large = ".".repeat(3 * MB / 2);
    let path = dir.path().join("a.jsonl");
    for (texts, memory_bytes, expected) in [
        (&[&large[..]][..], 512 << 20, (1, 0, 0)),
        (&["small", &large, "smaller"], 64 << 20, (0, 2, 1)),
        (&["small", "smaller"], 64 << 20, (0, 2, 0)),
    ] {
        let line = |text: &&str| format!("{{\"id\":\"a\",\"text\":\"{text}\"}}\n");
        std::fs::write(&path, texts.iter().map(line).collect::<String>()).unwrap();
        let options = AddOptions { threads: 1, memory_bytes, ..AddOptions::default() };
        let mut failed = Vec::new();
        let stop = Stop::new();
        let report = add(&index, std::slice::from_ref(&path), &options, &stop, &mut |event| {
            if let Event::Failed(error) = event {
                failed.push(error.to_string());
            }
        });
        let report = report.unwrap();
        assert_eq!((report.added, report.replaced, report.failed), expected, "{failed:?}");
        let is_named =
            |error: &String| error.contains("document `a`: fingerprinting its 1500000 bytes");
        assert!(failed.iter().all(is_named), "{failed:?}");
    }
}

#[test]
fn a_wrong_meta_object_is_refused_before_it_is_parsed() {
    // 14 MB of such JSON took 1,374 MB when parsed.
    let _turn = turn();
    let many = format!("[{}{{}}]", "{\"\":0},".repeat(MB / 2));
    let options = SourceOptions::default();
    for (line, reason) in [
        (format!(r#"{{"text":"","meta":{{"a":{many}}}}}"#), "bytes as it is written"),
        (format!(r#"{{"text":"","id":{many}}}"#), "`id` is a list, and not an id"),
        (format!(r#"{{"text":{many}}}"#), "`text` is not a string"),
    ] {
        let (peak, parsed) = peak_of(|| parse_record(line.as_bytes(), &options));
        assert!(parsed.unwrap_err().to_string().contains(reason));
        assert!(peak < MB, "{peak} bytes");
    }
}

/// Returns paths of this many bytes, through directories with random names of one letter.
fn deep(count: usize, bytes: usize) -> Vec<String> {
    let mut state = 7u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + ((state >> 40) % 26) as u8)
    };
    let dirs = |_| (0..bytes / 2).flat_map(|_| [letter(), '/']).collect::<String>();
    (0..count).map(dirs).enumerate().map(|(i, dirs)| format!("in/{dirs}{i}.txt")).collect()
}

#[test]
fn documents_of_deep_paths_are_found_in_a_few_times_their_bytes() {
    // A tree of the directories took 330 times as much.
    let _turn = turn();
    let names = deep(1000, 960);
    let bytes: usize = names.iter().map(String::len).sum();
    for by in ["file", "directory", "archive", "{document}_{*}_{part}", "{document}/{part}"] {
        let by: By = by.parse().unwrap();
        let (peak, found) = peak_of(|| Grouping::of_names(&by, &names, Stop::NEVER).unwrap());
        assert!(peak < 8 * bytes, "{by}: {peak} bytes for {bytes}");
        drop(found);
    }
    let (peak, _) = peak_of(|| By::proposed(&names, Stop::NEVER).unwrap());
    assert!(peak < 8 * bytes, "{peak} bytes for {bytes}");
}

#[test]
fn an_archive_of_deep_paths_is_read_in_a_few_times_its_bytes() {
    // 8.4 MB took 4.5 GB and thirteen minutes, and the end of the tree overflowed the stack.
    let _turn = turn();
    let dir = tempfile::tempdir().unwrap();
    let names = [deep(1000, 900), deep(5, 60_000)].concat();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&name[3..], "a text")).collect();
    let archive = cento_testing::archive::stored(&files);
    let path = dir.path().join("deep.zip");
    std::fs::write(&path, &archive).unwrap();
    let by = By::Directory;
    let (peak, (read, unread)) = peak_of(|| {
        let options = SourceOptions::default();
        let inputs = [path];
        let grouping = Grouping::of(&by, &inputs, &options, Stop::NEVER).unwrap();
        let options = SourceOptions { grouping: grouping.map(Arc::new), ..options };
        let (mut read, mut unread) = (0, Vec::new());
        for found in cento_source::documents(&inputs, &options) {
            match found {
                Ok(_) => read += 1,
                Err(error) => unread.push(error.to_string()),
            }
        }
        (read, unread)
    });
    // A document per letter.
    assert_eq!((read, unread.len()), (26, 5));
    assert!(unread[0].contains("its name has 6000"));
    assert!(unread.iter().all(|what| what.len() < 400));
    assert!(peak < 12 * archive.len(), "{peak} bytes for {}", archive.len());
}

#[test]
fn two_large_documents_are_never_signed_at_once() {
    // All four-word k-grams of ligatures exceed the memory that is usually reserved for a text.
    let _turn = turn();
    let dir = tempfile::tempdir().unwrap();
    let large = "\u{fdfa} ".repeat(MB / 16);
    let config = Config::new("kgram(k=5)", "words", false).unwrap();
    let times = Arc::new(AtomicUsize::new(0));
    let counted = times.clone();
    let faults = Faults::new(move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    let options = PipelineOptions {
        threads: 2,
        // The bound admits a single chunk of this size.
        bytes_max: 3 << 20,
        document_bytes_max: 8 << 20,
        keeps_texts: true,
        source: SourceOptions::default(),
        faults,
    };
    let [one, six] = [1, 6].map(|count| {
        let inputs = [lines(dir.path(), &[&large], count)];
        let (peak, signed) = peak_of(|| {
            let outputs = Outputs::new(&inputs, &config, &options, Stop::NEVER, None);
            outputs.filter(|output| matches!(output, Ok(Output::Document(_)))).count()
        });
        assert_eq!(signed, count);
        peak
    });
    // Each document was tried by a thread, which gave up, and then signed alone.
    assert_eq!(times.load(Ordering::Relaxed), 2 * (1 + 6));
    // Six documents may additionally hold a waiting line, and the second thread's buffer for its
    // next text, but no second signature, which takes 4 MB.
    assert!(six < one + 3 * MB, "{six} bytes for six, {one} for one");
}

#[test]
fn a_search_and_a_comparison_take_no_more_than_they_say() {
    let _turn = turn();
    let index = Index::in_memory(config()).unwrap();
    let searcher = Searcher::new(index.snapshot().unwrap());
    // Distinct tokens fill every table with entries.
    let numbers = ("numbers", (0..80_000).map(|i| format!("{i} ")).collect::<String>());
    // Every run of three words has ten places: as many runs as two texts can have for their length.
    let mut state = 1u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + ((state >> 40) % 20) as u8)
    };
    let letters = ("random letters", (0..80_000).flat_map(|_| [letter(), ' ']).collect());
    let config = config();
    for (name, text) in texts(MB / 3).into_iter().chain([numbers, letters]) {
        let signed = config.cost_of_signing(&text, &mut Vec::new(), Stop::NEVER).unwrap();
        let query = Query::text(text.clone());
        let (peak, _) = peak_of(|| searcher.search(&query).unwrap());
        let said = memory::of_search(&signed);
        assert!(peak < said + 2 * MB, "{name}: {peak} bytes to search, {said} said");
        let (peak, _) =
            peak_of(|| compare(&config.scheme, &config.analyzer, &text, &text).unwrap());
        let said = memory::of_comparison(&signed, &signed);
        assert!(peak < said + 2 * MB, "{name}: {peak} bytes to compare, {said} said");
    }
}
