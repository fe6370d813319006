use super::*;

fn file(path: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::read_to_string(root.join(path)).expect("it is in the repository")
}

fn kept() -> Vec<Kept> {
    serde_json::from_str(&file(crate::bench::KEPT)).expect("they are figures")
}

fn recorded() -> Option<Run> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let is_recorded = root.join(crate::bench::RECORD).exists();
    let run = || serde_json::from_str(&file(crate::bench::RECORD)).expect("it is a run");
    is_recorded.then(run)
}

/// Returns a run of a debug build with 2 MB. The figures are meaningless, because tests only look
/// at the form.
fn sample() -> Run {
    serde_json::from_str(include_str!("sample.json")).expect("it is a run")
}

#[test]
fn the_document_is_the_rendering_of_the_recorded_run() {
    let rendered = render(recorded().as_ref(), &kept()).expect("it can be rendered");
    assert!(
        rendered == file(crate::bench::DOCUMENT),
        "docs/BENCHMARKS.md is not the rendering of tools/bench.json and tools/bench-kept.json; \
         `cargo run -p cento-tools -- bench --render` writes it"
    );
}

#[test]
fn every_section_of_a_run_is_rendered() {
    let rendered = render(Some(&sample()), &kept()).expect("it can be rendered");
    let headings: Vec<&str> =
        rendered.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let expected = [
        "At a glance",
        "Commands",
        "Beside others",
        "Scaling",
        "The service",
        "Options",
        "Instruction counts",
        "Longer runs",
    ];
    assert_eq!(headings, expected);
    let section = |heading: &str| {
        let from = rendered.split(&format!("## {heading}\n")).nth(1).expect("it is there");
        from.split("\n## ").next().unwrap_or_default().to_string()
    };
    let rows = |text: &str| text.lines().filter(|line| line.starts_with('|')).count() - 2;
    assert_eq!(rows(&section("At a glance")), 8);
    assert_eq!(rows(&section("The service")), sample().service.len());
    assert!(section("Commands").contains("| `dedup --min-resemblance 0.8` | "));
    let json = serde_json::to_string(&sample()).expect("it can be written");
    let read: Run = serde_json::from_str(&json).expect("it can be read");
    assert_eq!(read, sample());
}

#[test]
fn the_document_is_short_and_tells_no_history() {
    let sample = render(Some(&sample()), &kept()).expect("it can be rendered");
    for document in [file(crate::bench::DOCUMENT), sample] {
        assert!(document.lines().count() <= LINES_MAX);
        let words = document.split(|letter: char| !letter.is_alphanumeric());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        for word in ["before", "now", "then", "today"] {
            assert!(!words.iter().any(|other| other == word), "the document has `{word}`");
        }
    }
}

#[test]
fn a_row_that_was_not_run_has_a_reason_and_no_figure() {
    let (mut run, kept) = (sample(), kept());
    for row in &mut run.sizes {
        row.outcome = Outcome::NotMeasured("the disk is full".into());
    }
    for row in &mut run.neighbors {
        row.outcome = Outcome::NotMeasured("no such module".into());
    }
    let rendered = render(Some(&run), &kept).expect("it can be rendered");
    let is_reason = |line: &&str| line.contains("not measured here: ");
    let lines: Vec<&str> = rendered.lines().filter(is_reason).collect();
    assert_eq!(lines.len(), run.sizes.len() + run.neighbors.len());
    for line in lines {
        let (_, cells) = line.split_once("not measured here: ").expect("it has one");
        assert!(!cells.contains(|letter: char| letter.is_ascii_digit()), "{line}");
    }
}

#[test]
fn a_run_without_a_figure_is_an_error_and_no_empty_cell() {
    let (mut run, kept) = (sample(), kept());
    run.jobs.retain(|job| job.command != "add");
    let error = render(Some(&run), &kept).expect_err("`add` is missing").to_string();
    assert!(error.contains("`add`"), "{error}");
}
