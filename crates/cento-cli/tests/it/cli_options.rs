//! Options that every verb has: --quiet and --color.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::common::run::{Dir, Run, line};
use crate::common::words;

/// Two documents that share text, and a binary file.
fn collection() -> Dir {
    let dir = Dir::new();
    fs::create_dir(dir.path("in")).unwrap();
    dir.write("in/a.txt", words(1, 80));
    dir.write("in/b.txt", format!("{} {}", words(1, 60), words(2, 30)));
    dir.write("in/c.png", b"\x89PNG\r\n\x1a\n");
    dir
}

#[test]
fn quiet_leaves_out_notes_and_summaries_and_no_result() {
    let dir = collection();
    let said = dir.run(&["add", "loud", "in"]);
    assert!(said.err.contains("skipped") && said.err.contains("2 added"), "{}", said.err);
    for quiet in [&["-q", "add", "before", "in"][..], &["add", "after", "in", "--quiet"]] {
        let run = dir.run(quiet);
        assert_eq!((run.status, &*run.err, &*run.out), (0, "", ""), "{quiet:?}");
    }
    for verb in [
        &["pairs", "loud"][..],
        &["cluster", "loud"],
        &["pairs", "loud", "--min-passage", "20", "--context", "40"],
        &["list", "loud"],
    ] {
        let (loud, quiet) = (dir.run(verb), dir.run(&[verb, &["-q"]].concat()));
        assert!(!loud.out.is_empty() && loud.out == quiet.out, "{verb:?}: {}", quiet.out);
        assert_eq!((quiet.status, &*quiet.err), (0, ""), "{verb:?}");
    }
    assert!(dir.run(&["pairs", "loud"]).err.contains("1 pair of 2 documents"));
}

#[test]
fn quiet_leaves_errors() {
    let dir = collection();
    let error = dir.run(&["-q", "search", "none", "in/a.txt"]);
    assert!(
        error.status == 2 && error.err.starts_with("cento: none does not exist"),
        "{}",
        error.err
    );
    dir.write("bad.jsonl", [line("x", "some words", json!({})), "{\"id\":\n".into()].concat());
    let refused = dir.run(&["add", "idx", "bad.jsonl", "-q"]);
    assert_eq!(refused.status, 3);
    assert!(
        refused.err.contains("bad.jsonl:2") && refused.err.lines().count() == 1,
        "{}",
        refused.err
    );
}

fn with(dir: &Dir, args: &[&str], variables: &[(&str, &str)]) -> Run {
    let mut command = dir.command(args);
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").envs(variables.iter().copied());
    command.stdin(Stdio::null()).output().unwrap().into()
}

#[test]
fn colors_are_for_terminals_unless_they_are_asked_for() {
    let dir = collection();
    assert_eq!(dir.run(&["add", "idx", "in"]).status, 0);
    let list: &[&str] = &["list", "idx"];
    let wrong: &[&str] = &["list", "none"];
    let has_colors = |run: &Run| run.out.contains('\u{1b}') || run.err.contains('\u{1b}');
    for (args, variables, expected) in [
        (list, &[][..], false),
        (wrong, &[], false),
        (&["list", "idx", "--color", "always"], &[], true),
        (&["--color=always", "list", "none"], &[], true),
        (&["list", "--help", "--color=always"], &[], true),
        (&["list", "--colour", "--color", "always"], &[], true),
        (&["list", "idx", "--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
        (list, &[("CLICOLOR_FORCE", "1")], true),
        (list, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        // The user has the last word.
        (&["list", "idx", "--color", "always"], &[("NO_COLOR", "1")], true),
        // Output for programs is without colors.
        (&["list", "idx", "--format", "json", "--color", "always"], &[], false),
        (&["list", "idx", "--format", "csv", "--color", "always"], &[], false),
        (&["pairs", "idx", "--out", "pairs.txt", "-q", "--color", "always"], &[], false),
    ] {
        let run = with(&dir, args, variables);
        assert_eq!(has_colors(&run), expected, "{args:?} {variables:?}: {} {}", run.out, run.err);
    }
    assert!(!fs::read_to_string(dir.path("pairs.txt")).unwrap().contains('\u{1b}'));
    let colored = with(&dir, &["list", "idx", "--color", "always"], &[]).out;
    assert!(colored.contains("\u{1b}[1min/a.txt\u{1b}[0m"), "{colored}");
    let wrong = dir.run(&["list", "idx", "--color", "green"]);
    assert!(wrong.status == 2 && wrong.err.contains("always"), "{}", wrong.err);
}

#[test]
fn the_options_of_a_service_are_read_from_a_file_also_after_common_options() {
    let dir = collection();
    dir.write("cento.toml", "shutdown-timeout = \"77s\"\n");
    let args = ["serve", "idx", "--config", "cento.toml", "--print-config"];
    for before in [&[][..], &["-q"], &["--color", "never"], &["--quiet", "--color=auto"]] {
        let run = dir.run(&[before, &args].concat());
        assert_eq!(run.status, 0, "{before:?}: {}", run.err);
        assert!(run.out.contains("77s") && !run.out.contains("quiet"), "{before:?}: {}", run.out);
    }
}
