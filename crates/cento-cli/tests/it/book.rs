//! Runs the examples of the book in docs/, and compares their output with the book.
//!
//! A block of a chapter, indented by four spaces, has commands after `$ `, and below each command
//! the output. Each chapter runs in its own directory with the files of docs/samples. `...` matches
//! any text, and a line of `...` any lines. Durations, sizes except of texts, times and names of
//! segments may differ. `<!-- not run: REASON -->` before a block skips the block. `CENTO_BLESS=1`
//! replaces output that differs and has no `...`.

mod curl;
mod session;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::common::run::Dir;
use session::Session;

/// A command of a chapter, and the output shown below.
struct Example {
    /// The line of the command, counted from 0.
    line: usize,
    command: String,
    /// Lines of the chapter with the output.
    output: std::ops::Range<usize>,
}

/// The commands of a chapter, and the reasons for skipping commands.
fn examples(lines: &[&str]) -> (Vec<Example>, Vec<String>) {
    let (mut examples, mut omitted) = (Vec::new(), Vec::new());
    let mut reason = None;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if let Some(comment) = line.strip_prefix("<!-- not run: ") {
            reason = Some(comment.trim_end_matches(" -->").to_owned());
        }
        if !line.starts_with("    ") || (at > 0 && !lines[at - 1].is_empty()) {
            at += 1;
            continue;
        }
        let end = block_end(lines, at);
        let commands = commands(lines, at..end);
        match reason.take() {
            Some(reason) => {
                let is_command = |line: &&&str| is_unprompted(line) || line.starts_with("    $ ");
                let number = lines[at..end].iter().filter(is_command).count();
                assert!(number > 0, "a reason before a block without a command: {reason}");
                omitted.extend(std::iter::repeat_n(reason, number));
            }
            None => {
                let unprompted = lines[at..end].iter().find(|line| is_unprompted(line));
                let is_output = commands.first().is_some_and(|first| first.line == at);
                assert!(
                    is_output || unprompted.is_none(),
                    "line {}: write `$ ` before the command, or say why it is not run",
                    at + 1
                );
                examples.extend(commands);
            }
        }
        at = end;
    }
    (examples, omitted)
}

/// Whether a line of a block is a command of cento without a prompt.
fn is_unprompted(line: &str) -> bool {
    line.trim_start().starts_with("cento ")
}

/// The end of the indented block that begins at `at`, without trailing empty lines.
fn block_end(lines: &[&str], at: usize) -> usize {
    let mut end = at;
    for (number, line) in lines.iter().enumerate().skip(at) {
        if line.starts_with("    ") {
            end = number + 1;
        } else if !line.is_empty() {
            break;
        }
    }
    end
}

/// The commands of a block.
fn commands(lines: &[&str], block: std::ops::Range<usize>) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut at = block.start;
    while at < block.end {
        let Some(first) = lines[at].strip_prefix("    $ ") else {
            at += 1;
            continue;
        };
        let line = at;
        let mut command = first.to_owned();
        while command.ends_with('\\') && at + 1 < block.end {
            at += 1;
            command = format!("{}{}", command.trim_end_matches('\\'), lines[at].trim_start());
        }
        at += 1;
        let start = at;
        while at < block.end && !lines[at].starts_with("    $ ") {
            at += 1;
        }
        let shown = lines[start..at].iter().rposition(|line| !line.is_empty());
        let end = shown.map_or(start, |last| start + last + 1);
        found.push(Example { line, command, output: start..end });
    }
    found
}

/// Numbers that differ from run to run, and the replacements.
static MASKS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let masks = [
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?", "TIME"),
        (r"\b\d[\d,.]* [mu]?s\b", "DURATION"),
        (r" \(\d[\d,.]* [KMG]?B/s\)", ""),
        // Sizes of texts are fixed by the samples, while sizes of index files vary.
        (r"\b(\d[\d,.]*) ((?:[kKMGT]i?)?B) of text\b", "${1}_$2 of text"),
        (r"\b\d[\d,.]* (?:[kKMGT]i?)?B\b", "SIZE"),
        (r#""(took_us|started)":\d+"#, "\"$1\":N"),
        (r"\b[0-9a-f]{32}\b", "SEGMENT"),
    ];
    masks.map(|(pattern, mask)| (Regex::new(pattern).unwrap(), mask)).into()
});

/// A line without varying numbers, and without the spaces that align the numbers.
fn masked(line: &str) -> String {
    let line = line.trim_end();
    let replace = |text: String, (pattern, mask): &(Regex, &str)| {
        pattern.replace_all(&text, *mask).into_owned()
    };
    let text = MASKS.iter().fold(line.to_owned(), replace);
    if text == line { text } else { text.split_whitespace().collect::<Vec<_>>().join(" ") }
}

/// Whether a command wrote the output that the chapter shows.
fn is_as_shown(shown: &[&str], written: &str) -> bool {
    let shown = shown.iter().map(|line| line.strip_prefix("    ").unwrap_or(line));
    let mut shown: String = shown.map(|line| masked(line) + "\n").collect();
    let mut written: String = written.lines().map(|line| masked(line) + "\n").collect();
    if shown.starts_with(['{', '[']) {
        // A chapter wraps JSON, and a terminal shows one line.
        shown.retain(|c| !c.is_whitespace());
        written.retain(|c| !c.is_whitespace());
    }
    let escaped = regex::escape(&format!("\n{shown}"));
    let any_lines = escaped.replace("\n\\.\\.\\.\n", "\n(?s:.*)");
    let pattern = any_lines.replace("\\.\\.\\.", ".*?");
    Regex::new(&format!("^{pattern}$")).unwrap().is_match(&format!("\n{written}"))
}

/// The chapters below a directory of docs/, in the order of their names.
fn chapters(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    found.sort();
    found
}

/// Runs the examples of a chapter. Returns differences with their places.
fn run(chapter: &Path, samples: &Path) -> (usize, Vec<String>, Vec<String>) {
    let text = fs::read_to_string(chapter).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (examples, omitted) = examples(&lines);
    let mut session = Session::new(samples);
    let mut differences = Vec::new();
    let mut blessed: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    for (number, example) in examples.iter().enumerate() {
        let next = examples.get(number + 1).map(|next| &*next.command);
        let place = format!("{}:{}", chapter.display(), example.line + 1);
        let written = session.run(&example.command, next == Some("echo $?"));
        let written = written.unwrap_or_else(|why| panic!("{place}: {why}"));
        let shown = &lines[example.output.clone()];
        if is_as_shown(shown, &written) {
            continue;
        }
        let is_abbreviated = shown.iter().any(|line| line.contains("..."));
        if std::env::var_os("CENTO_BLESS").is_some() && !is_abbreviated {
            let indented = written.lines().map(|line| format!("    {line}\n"));
            let indented: String = indented.map(|line| line.trim_end().to_owned() + "\n").collect();
            for line in example.output.clone() {
                blessed[line].clear();
            }
            // An example without output has no line to replace.
            let command_end = example.output.start - 1;
            if example.output.is_empty() {
                blessed[command_end].push_str(&indented);
            } else {
                blessed[example.output.start] = indented;
            }
            continue;
        }
        let shown = shown.join("\n");
        differences.push(format!("{place}: {}\nshown:\n{shown}\nis:\n{written}", example.command));
    }
    let blessed = blessed.concat();
    if blessed != text {
        fs::write(chapter, blessed).unwrap();
    }
    (examples.len(), omitted, differences)
}

/// Runs the examples of the chapters in a directory of docs/.
fn check(dir: &str) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut report = format!("examples of docs/{dir}:");
    let (mut total, mut all_omitted, mut differences) = (0, Vec::new(), Vec::new());
    for chapter in chapters(&docs.join(dir)) {
        let (number, omitted, different) = run(&chapter, &docs.join("samples"));
        total += number;
        all_omitted.extend(omitted);
        differences.extend(different);
    }
    report += &format!(" {total} run, {} not run", all_omitted.len());
    all_omitted.sort();
    for reasons in all_omitted.chunk_by(|a, b| a == b) {
        report += &format!("\n  {} {}", reasons.len(), reasons[0]);
    }
    // The test harness captures the output of `eprintln!` in a test that succeeds.
    std::io::stderr().write_all(format!("{report}\n").as_bytes()).unwrap();
    assert!(total > 0, "no example in docs/{dir}");
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

/// The rows of the table of jobs in a page.
fn jobs(page: &str) -> Vec<String> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(docs.join(page)).unwrap();
    let table = text.lines().skip_while(|line| !line.starts_with("| you have |"));
    table.skip(2).take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
}

#[test]
fn the_commands_for_each_job_run() {
    let rows = jobs("docs/howto/which.md");
    assert_eq!(rows, jobs("README.md"), "the table in README.md is another one");
    assert_eq!(rows.len(), 8);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut session = Session::new(&docs.join("samples"));
    for row in rows {
        let commands: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        assert_eq!(commands.len(), 2, "{row}");
        for command in commands {
            let written = session.run(command, false).unwrap_or_else(|why| panic!("{why}"));
            assert!(session.found(), "{command} finds nothing: {written}");
        }
    }
}

/// Verbs that need a running service, or are a service.
const OF_SERVICES: [&str; 2] = ["info health", "serve"];

#[test]
fn the_example_of_each_short_help_runs() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut session = Session::new(&docs.join("samples"));
    for name in ["articles", "press"] {
        session.run(&format!("cento add {name}.idx {name}.jsonl"), false).unwrap();
    }
    let mut number = 0;
    let dir = Dir::new();
    for (verb, _) in dir.all_verbs() {
        let help = dir.run(&verb.split(' ').chain(["-h"]).collect::<Vec<_>>()).out;
        let Some((_, example)) = help.split_once("\nExample:\n  ") else { continue };
        if OF_SERVICES.contains(&&*verb) {
            continue;
        }
        let line = example.lines().next().unwrap();
        session.run(line, false).unwrap_or_else(|why| panic!("{verb}: {why}"));
        number += 1;
    }
    assert!(number >= 35, "{number} examples");
}

#[test]
fn examples_of_the_tutorials() {
    check("tutorials");
}

#[test]
fn examples_of_the_how_tos() {
    check("howto");
}

#[test]
fn examples_of_the_concepts() {
    check("concepts");
}

#[test]
fn examples_of_the_reference() {
    check("reference");
}

#[test]
fn output_that_differs_is_noticed() {
    let shown = ["    2 added; 1.28 kB of text in 0.1 s", "    a ...", "    ...", "    end"];
    assert!(is_as_shown(&shown, "2 added; 1.28 kB of text in 3.0 s (2 MB/s)\na b c\nx\ny\nend\n"));
    assert!(!is_as_shown(&shown, "2 added; 7 B of text in 3.0 s\na b c\nx\nend\n"));
    assert!(!is_as_shown(&shown, "3 added; 1.28 kB of text in 3.0 s\na b c\nx\nend\n"));
    assert!(!is_as_shown(&shown, "2 added; 1.28 kB of text in 3.0 s\na b c\nx\nend\nmore\n"));
    let json = ["    {\"a\": 1, ...,", "     \"b\": [2]}"];
    assert!(is_as_shown(&json, "{\"a\":1,\"c\":3,\"b\":[2]}\n"));
    assert!(!is_as_shown(&json, "{\"a\":1,\"c\":3,\"b\":[3]}\n"));
}

#[test]
fn commands_and_reasons_are_read_as_they_are_written() {
    let lines = [
        "Text.",
        "",
        "    $ cento a \\",
        "          b",
        "    out",
        "",
        "    $ cento c",
        "",
        "<!-- not run: needs s3 -->",
        "",
        "    cento store push x",
        "    cento store pull x",
        "",
        "    no command",
    ];
    let (examples, omitted) = examples(&lines);
    let commands: Vec<_> = examples.iter().map(|example| &*example.command).collect();
    assert_eq!(commands, ["cento a b", "cento c"]);
    assert_eq!((examples[0].output.clone(), examples[1].output.clone()), (4..5, 7..7));
    assert_eq!(omitted, ["needs s3", "needs s3"]);
}
