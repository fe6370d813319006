use super::*;
use cento::runtime::Point;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn config() -> Config {
    Config::new("winnow(k=5,w=10)", "words", true).unwrap()
}

fn options(threads: usize, bytes_max: usize) -> PipelineOptions {
    PipelineOptions {
        threads,
        bytes_max,
        document_bytes_max: 1 << 20,
        keeps_texts: true,
        source: SourceOptions::default(),
        faults: Faults::default(),
    }
}

/// A JSON lines file of `count` documents.
fn corpus(dir: &tempfile::TempDir, count: usize) -> Vec<PathBuf> {
    let line =
        |i: usize| format!("{{\"id\":\"{i}\",\"text\":\"{}\"}}\n", "some words ".repeat(i % 50));
    let path = dir.path().join("corpus.jsonl");
    std::fs::write(&path, (0..count).map(line).collect::<String>()).unwrap();
    vec![path]
}

fn run_all(config: &Config, options: &PipelineOptions, inputs: &[PathBuf]) -> Vec<String> {
    let taken = outputs(config, options, inputs, Stop::NEVER).map(|output| match output.unwrap() {
        Output::Document(SignOutcome::Signed { signed, .. }) => {
            format!("{} {:?}", signed.document.id, signed.signature)
        }
        other => format!("{other:?}"),
    });
    taken.collect()
}

fn outputs(config: &Config, options: &PipelineOptions, inputs: &[PathBuf], stop: &Stop) -> Outputs {
    Outputs::new(inputs, config, options, stop, None)
}

#[test]
fn results_come_in_the_order_of_the_input_whatever_the_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = corpus(&dir, 20_000);
    let one = run_all(&config(), &options(1, 1 << 30), &inputs);
    assert_eq!(one.len(), 20_000);
    assert!(one.iter().enumerate().all(|(i, line)| line.starts_with(&format!("{i} "))));
    assert_eq!(run_all(&config(), &options(4, 1 << 30), &inputs), one);
    // The bound is so small that every chunk passes alone.
    assert_eq!(run_all(&config(), &options(4, 1), &inputs), one);
}

#[test]
fn unneeded_texts_are_not_handed_on_but_their_lengths_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut inputs = corpus(&dir, 200);
    // Three bytes decompose to four words each. The fingerprints of the document exceed
    // the usual memory, so the document is signed a second time, alone.
    let large = dir.path().join("large.txt");
    std::fs::write(&large, "\u{fdfa} ".repeat(1 << 16)).unwrap();
    inputs.push(large);
    let config = Config::new("kgram(k=5)", "words", true).unwrap();
    let signed = |keeps_texts| {
        let times = Arc::new(AtomicU64::new(0));
        let counted = times.clone();
        let faults = Faults::new(move |_, id| {
            counted.fetch_add(u64::from(id.ends_with("large.txt")), Ordering::Relaxed);
            Ok(())
        });
        let document_bytes_max = 16 << 20;
        let options =
            PipelineOptions { keeps_texts, document_bytes_max, faults, ..options(2, 1 << 30) };
        let taken = outputs(&config, &options, &inputs, Stop::NEVER).map(|output| match output {
            Ok(Output::Document(SignOutcome::Signed { signed, text_bytes })) => {
                (signed, text_bytes)
            }
            other => panic!("{other:?}"),
        });
        let taken: Vec<_> = taken.collect();
        assert_eq!((taken.len(), times.load(Ordering::Relaxed)), (201, 2));
        taken
    };
    for ((whole, bytes), (short, short_bytes)) in signed(true).into_iter().zip(signed(false)) {
        assert_eq!((whole.document.text.len(), bytes), (short_bytes, short_bytes));
        assert_eq!((whole.digest, &whole.signature), (short.digest, &short.signature));
        assert!(short.document.text.is_empty());
    }
}

#[test]
fn files_that_are_handed_on_together_keep_their_order() {
    let dir = tempfile::tempdir().unwrap();
    // Most files are small. Some exceed a batch, or are skipped.
    for i in 0..300 {
        let words = if i % 70 == 5 { 20_000 } else { i % 40 };
        std::fs::write(dir.path().join(format!("{i:03}.txt")), "words ".repeat(words)).unwrap();
    }
    let inputs = vec![dir.path().join("299.txt"), dir.path().to_owned()];
    let one = run_all(&config(), &options(1, 1 << 30), &inputs);
    assert_eq!(one.len(), 301);
    let names = [299].into_iter().chain(0..300).map(|i| format!("{i:03}.txt"));
    for (line, name) in one.iter().zip(names) {
        assert!(line.contains(&name), "{line} instead of {name}");
    }
    assert_eq!(run_all(&config(), &options(4, 1 << 30), &inputs), one);
    assert_eq!(run_all(&config(), &options(4, 1), &inputs), one);
}

#[test]
fn a_run_that_is_stopped_ends_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = corpus(&dir, 20_000);
    let stop = Stop::new();
    let mut outputs = outputs(&config(), &options(2, 1 << 20), &inputs, &stop);
    assert!(matches!(outputs.next(), Some(Ok(_))));
    stop.set();
    assert!(matches!(outputs.next(), Some(Err(Error::Cancelled))));
    assert!(outputs.next().is_none());
}

#[test]
fn a_run_that_is_dropped_ends_its_threads() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = corpus(&dir, 20_000);
    let alive = Arc::new(());
    let held = alive.clone();
    let is_known: IsKnown = Arc::new(move |_, _| Arc::strong_count(&held) == 0);
    let options = options(2, 1 << 20);
    let mut outputs = Outputs::new(&inputs, &config(), &options, Stop::NEVER, Some(is_known));
    assert!(matches!(outputs.next(), Some(Ok(_))));
    drop(outputs);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn a_panic_outside_of_a_document_ends_the_run_with_an_error() {
    // The item of the panicking thread never arrived, and the run did not end.
    let dir = tempfile::tempdir().unwrap();
    let inputs = corpus(&dir, 20_000);
    let is_known: IsKnown = Arc::new(|document, _| {
        assert_ne!(document.id, "5000", "five thousand");
        false
    });
    for threads in [1, 3] {
        let options = options(threads, 1 << 20);
        let outputs =
            Outputs::new(&inputs, &config(), &options, Stop::NEVER, Some(is_known.clone()));
        let (mut taken, mut error) = (0, None);
        for output in outputs {
            match output {
                Ok(_) => taken += 1,
                Err(failure) => error = Some(failure),
            }
        }
        let error = error.unwrap();
        assert!(matches!(error, Error::Internal { .. }), "{error:?}");
        assert!(error.to_string().contains(", from line "), "{error}");
        assert!(taken < 5000, "{taken}");
    }
}

#[test]
fn a_document_that_brings_out_a_defect_takes_no_other_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.jsonl");
    let lines = ["one two", "one two three", "four"].map(|t| format!("{{\"text\":\"{t}\"}}\n"));
    std::fs::write(&path, lines.concat()).unwrap();
    let faults = Faults::new(|point, id| {
        assert!(point != Point::Sign || !id.ends_with(":2"), "the second line");
        Ok(())
    });
    let options = PipelineOptions { faults, ..options(2, 1 << 20) };
    let taken = run_all(&config(), &options, &[path]);
    assert_eq!(taken.len(), 3);
    assert!(taken[1].contains("x.jsonl:2") && taken[1].contains("Internal"), "{}", taken[1]);
    assert!(taken[0].contains("x.jsonl:1") && taken[2].contains("x.jsonl:3"));
}
