//! Runs the verbs, with files made by earlier verbs.

use std::path::Path;
use std::process::Command;

use super::StatedBound::{Budget, Fixed, PerDocument};
use super::{CORPUS, Corpus, INDEX, OTHERS, PeakRow, QUERIES, QUERY, StatedBound, peak};
use crate::Result;

/// The bound of each verb.
pub const BOUNDS: &[(&str, StatedBound)] = &[
    ("add", Budget),
    ("dedup", Budget),
    ("decontaminate", Budget),
    ("search", Budget),
    ("trace", Budget),
    ("compare", Fixed),
    ("list", PerDocument(3000)),
    ("export", PerDocument(3000)),
    ("stats", Fixed),
    ("check", PerDocument(3000)),
    ("pairs", PerDocument(3000)),
    ("cluster", PerDocument(3000)),
    ("families", PerDocument(3000)),
    ("lineage", PerDocument(3000)),
    ("merge", PerDocument(3000)),
    ("compact", PerDocument(3000)),
    ("remove", PerDocument(3000)),
    ("withdraw", PerDocument(3000)),
    ("recover", PerDocument(3000)),
    ("store push", Fixed),
    ("store pull", Fixed),
    ("watch add", Fixed),
    ("watch events", Fixed),
    ("method analyze", PerDocument(3000)),
    ("method boilerplate", PerDocument(3000)),
    ("method train", PerDocument(3000)),
];

/// A scheme that finds passages, which the scheme of the preset does not.
const SEGMENTS: &str = "breaking(p=6)";

/// The runs, in order: the verb, the case, and the arguments after the verb.
const RUNS: &[(&str, &str, &[&str])] = &[
    ("add", "a new index", &[INDEX, CORPUS, "--for", "corpus", "--scheme", SEGMENTS]),
    ("list", "", &[INDEX]),
    ("export", "", &[INDEX]),
    ("stats", "", &[INDEX]),
    ("check", "", &[INDEX]),
    ("search", "500 queries, passages", &[INDEX, QUERIES, "--passages"]),
    ("search", "a report", &[INDEX, QUERY, "--report", "search.html"]),
    ("trace", "", &[INDEX, QUERY]),
    ("compare", "", &[QUERY, QUERY]),
    ("pairs", "an index", &[INDEX, "--out", "pairs.jsonl", "--format", "json"]),
    ("pairs", "files", &[CORPUS, "--for", "corpus", "--scheme", SEGMENTS]),
    ("cluster", "an index", &[INDEX]),
    (
        "families",
        "an index",
        &[INDEX, "--date", "date", "--out", "families.jsonl", "--format", "json"],
    ),
    (
        "lineage",
        "an index",
        &[INDEX, "--date", "date", "--out", "lineage.jsonl", "--format", "json"],
    ),
    (
        "dedup",
        "",
        &[
            CORPUS,
            "--for",
            "corpus",
            "--scheme",
            SEGMENTS,
            "--out",
            "kept.jsonl",
            "--dropped",
            "dropped.jsonl",
        ],
    ),
    (
        "decontaminate",
        "",
        &[CORPUS, "--against", QUERIES, "--question-field", "text", "--out", "clean.jsonl"],
    ),
    ("method analyze", "", &[INDEX]),
    ("method boilerplate", "", &[INDEX]),
    ("method train", "", &[CORPUS, "--out", "table.cento"]),
    ("watch add", "500 watches", &[INDEX, QUERIES]),
    ("watch events", "", &[INDEX]),
    ("store push", "", &[INDEX, "store"]),
    ("store pull", "", &["store", "pulled.idx"]),
    ("merge", "into a new index", &["merged.idx", INDEX]),
    ("add", "every document replaced", &[INDEX, OTHERS]),
    ("remove", "all of one date", &[INDEX, "--filter", "meta.date:2024-01-01"]),
    ("compact", "", &[INDEX]),
    ("withdraw", "", &[INDEX, "folder1/1"]),
    ("recover", "", &[INDEX]),
];

pub fn measure(
    cento: &Path,
    corpus: &Corpus,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<PeakRow>> {
    let mut rows: Vec<PeakRow> = Vec::new();
    for (verb, case, args) in RUNS {
        let (_, bound) =
            BOUNDS.iter().find(|(name, _)| name == verb).ok_or("a verb has no bound")?;
        let is_first = *args == RUNS[0].2;
        if !is_first && !is_wanted(verb) {
            continue;
        }
        let mut command = Command::new(cento);
        command.args(verb.split(' ')).args(*args).current_dir(&corpus.dir);
        if *bound == Budget {
            command.args(["--memory", &format!("{}MiB", corpus.memory)]);
        }
        let peak = peak::of(&mut command)?;
        let case = if case.is_empty() { String::new() } else { format!(", {case}") };
        eprintln!("{} documents: {verb}{case}: {:.0} MB", corpus.documents, peak.memory_mb);
        rows.push(PeakRow { name: format!("`{verb}`{case}"), bound: *bound, peak });
    }
    Ok(rows)
}
