//! Advice about command lines that the parser refuses.
//!
//! The parser suggests names with similar spelling. This module knows the verbs and options of
//! related programs, and recognizes a path in the place of a verb.

use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::path::Path;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::help::EXAMPLES;
use TipPlace::{Anywhere, NoVerb, Verbs, With};
use cento::index::Index;
use cento_api::suggest::nearest;

/// Verbs that have moved, and the command lines to use now.
const MOVED: [(&str, &str); 14] = [
    ("analyze", "cento method analyze"),
    ("boilerplate", "cento method boilerplate"),
    ("completions", "cento info completions"),
    ("fingerprint", "cento method fingerprint"),
    ("health", "cento info health"),
    ("history", "cento store history"),
    ("man", "cento info man"),
    ("passages", "cento pairs --min-passage 20 --context 40"),
    ("pull", "cento store pull"),
    ("push", "cento store push"),
    ("restore", "cento store restore"),
    ("train", "cento method train"),
    ("tune", "cento method tune"),
    ("web", "cento-web"),
];

/// Groups of verbs of related programs, and cento's command line for each group.
const VERBS_OF_OTHERS: &[(&[&str], &str)] = &[
    (&["find", "query", "grep", "lookup", "match", "ask"], "cento search INDEX FILE"),
    (&["index", "import", "insert", "update", "ingest", "load", "build"], "cento add INDEX PATH"),
    (&["init", "new"], "cento create INDEX"),
    (&["ls", "documents", "docs"], "cento list INDEX"),
    (&["diff", "cmp", "align"], "cento compare FILE FILE"),
    (&["version"], "cento --version"),
    (&["compress", "defrag", "cleanup"], "cento compact INDEX"),
    (&["delete", "rm", "del"], "cento remove INDEX ID"),
    (&["get", "cat", "view", "print"], "cento show INDEX ID"),
    (&["dump", "backup"], "cento export INDEX"),
    (&["similar", "similarity", "plagiarism", "scan", "detect"], "cento pairs PATH"),
    (&["duplicates", "dupes", "deduplicate", "dedupe", "unique", "uniq"], "cento dedup PATH"),
    (&["clusters", "groups", "group"], "cento cluster INDEX"),
    (&["status", "count", "size"], "cento stats INDEX"),
    (&["verify", "validate", "fsck", "test"], "cento check INDEX"),
    (&["optimize", "optimise", "vacuum", "gc"], "cento compact INDEX"),
    (&["server", "start", "run", "listen", "ui"], "cento serve INDEX"),
    (&["report", "html"], "cento pairs PATH --report report.html"),
    (&["contamination", "leakage"], "cento decontaminate CORPUS --against BENCHMARK"),
    (&["formats", "schemes", "presets"], "cento info"),
    (&["upload", "publish", "sync"], "cento store push INDEX URL"),
    (&["download", "fetch", "clone"], "cento store pull URL INDEX"),
];

/// Where a tip about an option applies.
enum TipPlace {
    /// In verbs with this option of cento.
    With(&'static str),
    /// In these verbs.
    Verbs(&'static [&'static str]),
    /// Without a verb.
    NoVerb,
    Anywhere,
}

/// Options that cento lacks, mostly of related programs, and what to do instead. The first matching
/// tip is given.
const OPTION_TIPS: &[(&[&str], TipPlace, &str)] = &[
    (
        &["--top", "--top-k", "--k", "-k", "--max", "--count", "--num"],
        With("limit"),
        "`--limit N` does that",
    ),
    (
        &["--threshold", "--min", "--similarity", "--cutoff", "-t"],
        With("min-resemblance"),
        "`--min-resemblance X or --min-containment X, from 0 to 1` does that",
    ),
    (&["--query", "-q", "--string"], With("text"), "`--text TEXT` does that"),
    (&["--json"], With("format"), "`--format json` does that"),
    (&["--csv"], With("format"), "`--format csv` does that"),
    (&["--tsv"], With("format"), "`--format tsv` does that"),
    (&["--output", "-o", "--save"], With("out"), "`--out FILE` does that"),
    (&["--output", "-o", "--save"], With("report"), "`--report FILE.html` does that"),
    (
        &["--port", "--host", "--bind", "--addr", "--address", "-p"],
        With("listen"),
        "`--listen 127.0.0.1:7227` does that",
    ),
    (&["--language", "--lang"], With("analyzer"), "`--analyzer 'code(language=java)'` does that"),
    (&["--ignore", "--skip"], With("exclude"), "`--exclude GLOB` does that"),
    (&["--template"], With("boilerplate"), "`--boilerplate PATH` does that"),
    (&["--archive", "--old", "--reference"], With("against"), "`--against PATH` does that"),
    (&["--column", "--field", "--text"], With("text-field"), "`--text-field FIELD` does that"),
    (&["-v"], NoVerb, "`cento --version` prints the version"),
    (&["-r", "--recursive"], Anywhere, "folders are read with all folders in them"),
    (
        &["--for", "--scheme", "--analyzer"],
        Verbs(&["search", "trace"]),
        "the index has this setting: give it when you make the index, as in `cento add x.idx \
         FILES --for code`",
    ),
    (
        &["--out", "--output", "-o", "--format", "--json", "--csv"],
        Verbs(&["export"]),
        "the documents go to standard output as JSON lines: `cento export x.idx > x.jsonl`",
    ),
    (
        &["--repair", "--fix", "--recover"],
        Verbs(&["check"]),
        "`cento recover INDEX --to NEW` makes an index of the undamaged segments",
    ),
    (
        &["--keep", "--first", "--last"],
        Verbs(&["dedup"]),
        "`--prefer` decides which duplicate stays",
    ),
    (&["--verbose", "-v"], Anywhere, "cento reports everything already; `--quiet` turns it off"),
];

/// A command line, and the verb at its start.
struct UsageLine<'a> {
    verb: &'a Command,
    /// The words of the verb, without the program's name.
    names: Vec<&'a str>,
    /// The arguments after the verb.
    rest: &'a [OsString],
}

impl<'a> UsageLine<'a> {
    fn of(command: &'a Command, given: &'a [OsString]) -> UsageLine<'a> {
        let mut line = UsageLine { verb: command, names: Vec::new(), rest: &[] };
        for (at, argument) in given.iter().enumerate().skip(1) {
            match argument.to_str().and_then(|name| line.verb.find_subcommand(name)) {
                Some(verb) => {
                    line.verb = verb;
                    line.names.push(verb.get_name());
                    line.rest = &given[at + 1..];
                }
                None if argument.to_string_lossy().starts_with('-') => {}
                None => break,
            }
        }
        line
    }

    fn has(&self, long: &str) -> bool {
        self.verb.get_arguments().any(|arg| arg.get_long() == Some(long))
    }

    fn is_at(&self, place: &TipPlace) -> bool {
        match place {
            With(long) => self.has(long),
            Verbs(verbs) => matches!(self.names[..], [verb] if verbs.contains(&verb)),
            NoVerb => self.names.is_empty(),
            Anywhere => true,
        }
    }

    fn typed(&self) -> String {
        ["cento"].iter().chain(&self.names).copied().collect::<Vec<_>>().join(" ")
    }
}

/// Adds advice to the error about a command line.
pub fn advised(error: clap::Error, command: &Command, given: &[OsString]) -> clap::Error {
    let line = UsageLine::of(command, given);
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let advice = match error.kind() {
        ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand).and_then(|typed| {
            if line.names.is_empty() {
                let next = given.iter().skip_while(|given| given.to_str() != Some(typed)).nth(1);
                verb(typed, next.and_then(|next| next.to_str()))
                    .or_else(|| similar(typed, command))
                    .or_else(|| no_path(typed))
            } else {
                own(typed, &line)
            }
        }),
        ErrorKind::UnknownArgument => text(ContextKind::InvalidArg).and_then(|typed| {
            let verb = before_verb(typed, command, given).filter(|_| line.names.is_empty());
            verb.or_else(|| option(typed, &line, text(ContextKind::SuggestedArg)))
        }),
        ErrorKind::MissingRequiredArgument => missing(&line),
        ErrorKind::InvalidValue if text(ContextKind::InvalidArg) == Some("--html <HTML>") => {
            Some("`--report FILE.html` writes a report; --html is about the HTML pages read".into())
        }
        ErrorKind::InvalidValue
            if text(ContextKind::InvalidValue) == Some("html") && line.has("report") =>
        {
            Some("`--report FILE.html` writes a report for people".into())
        }
        ErrorKind::ValueValidation => return number(error),
        _ => None,
    };
    match advice {
        Some(advice) => with_tip(error, advice),
        None => error,
    }
}

/// Replaces the suggestions of the parser.
fn with_tip(mut error: clap::Error, tip: String) -> clap::Error {
    if error.get(ContextKind::SuggestedArg).is_some() {
        // The usage shows the suggested option, which this advice replaces.
        error.remove(ContextKind::Usage);
    }
    for kind in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg] {
        error.remove(kind);
    }
    let tips = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
    error.insert(ContextKind::Suggested, tips);
    error
}

/// Returns what to type instead of this verb. `next` is the next word of the command line.
fn verb(typed: &str, next: Option<&str>) -> Option<String> {
    if let Some((old, new)) = MOVED.iter().find(|(old, _)| *old == typed) {
        return Some(format!("`cento {old}` is `{new}` now"));
    }
    let path = Path::new(typed);
    if Index::exists(path) {
        let what = "is an index; a verb comes before it, such as";
        return Some(format!(
            "{typed} {what} `cento search {typed} FILE` or `cento stats {typed}`"
        ));
    }
    if path.is_dir() {
        return Some(format!("`cento demo {typed}` compares all files in this folder"));
    }
    if path.is_file() {
        let line = match next.map(Path::new) {
            Some(index) if Index::exists(index) => format!("search {} {typed}", index.display()),
            Some(other) if other.is_file() => format!("compare {typed} {}", other.display()),
            _ => format!("compare {typed} FILE"),
        };
        return Some(format!("{typed} is a file; a verb comes before it, such as `cento {line}`"));
    }
    let of_others = VERBS_OF_OTHERS.iter().find(|(names, _)| names.contains(&typed));
    of_others.map(|(_, line)| format!("`{line}` does that"))
}

/// Returns only the most similar verb, while the parser lists every verb with some similarity.
fn similar(typed: &str, command: &Command) -> Option<String> {
    let names = command.get_subcommands().map(Command::get_name);
    let meant = nearest(typed, names)?;
    Some(format!("did you mean `cento {meant}`? `cento help` lists all verbs"))
}

/// Explains that neither a verb nor a path has this name.
fn no_path(typed: &str) -> Option<String> {
    let is_path = typed.contains(['/', '\\', '.']);
    is_path.then(|| {
        format!("{typed} does not exist; `cento demo FOLDER` compares the files of a folder")
    })
}

/// Returns what to type after a verb that has verbs below.
fn own(typed: &str, line: &UsageLine<'_>) -> Option<String> {
    let names = line.verb.get_subcommands().filter(|verb| !verb.is_hide_set());
    let names: Vec<&str> = names.map(Command::get_name).filter(|name| *name != "help").collect();
    let list = format!("after `{}` comes one of {}", line.typed(), names.join(", "));
    match line.names[..] {
        ["info"] if Index::exists(Path::new(typed)) => {
            Some(format!("`cento stats {typed}` describes an index; {list}"))
        }
        _ => Some(list),
    }
}

/// Returns where to type this option of a verb, which is before the verb.
fn before_verb(typed: &str, command: &Command, given: &[OsString]) -> Option<String> {
    let name = typed.split('=').next()?;
    let is_meant = |verb: &&Command| {
        verb.get_arguments().any(|arg| {
            arg.get_long().is_some_and(|long| name == format!("--{long}"))
                || arg.get_short().is_some_and(|short| name == format!("-{short}"))
        })
    };
    let words = given.iter().skip(1).filter_map(|word| word.to_str());
    let verb = words.filter_map(|word| command.find_subcommand(word)).find(is_meant)?;
    Some(format!("options come after the verb, as in `cento {} {name} ...`", verb.get_name()))
}

/// Returns what to type instead of this option. `similar` is the suggestion of the parser.
fn option(typed: &str, line: &UsageLine<'_>, similar: Option<&str>) -> Option<String> {
    if typed.parse::<f64>().is_ok() {
        return Some("a value is not negative here".into());
    }
    let mut after = line.rest.iter().skip_while(|given| given.to_str() != Some(typed)).skip(1);
    let is_report = |path: &OsString| path.to_string_lossy().ends_with(".html");
    if typed == "-r" && line.has("report") && after.next().is_some_and(is_report) {
        return Some("`--report FILE.html` writes a report".into());
    }
    // A second file is meant as the output.
    let is_output = !typed.starts_with('-') && line.is_at(&Verbs(&["export"]));
    let typed = if is_output { "--out" } else { typed };
    let mut tips = OPTION_TIPS.iter().filter(|(options, ..)| options.contains(&typed));
    if let Some((.., tip)) = tips.find(|(_, place, _)| line.is_at(place)) {
        return Some((*tip).into());
    }
    // The parser also suggests names that share a few letters, such as --format for --sort.
    let is_likely = |similar: &str| {
        let extends = typed.len() >= "--id".len() && similar.starts_with(&format!("{typed}-"));
        extends
            || nearest(typed.trim_start_matches('-'), [similar.trim_start_matches('-')]).is_some()
    };
    let list = || match line.names.is_empty() {
        true => "options come after the verb, and `cento VERB --help` lists them".into(),
        false => format!("`{} --help` lists all options", line.typed()),
    };
    (!similar.is_some_and(is_likely)).then(list)
}

/// Returns a command line with the missing argument.
fn missing(line: &UsageLine<'_>) -> Option<String> {
    let given: Vec<_> = line.rest.iter().map(|path| path.to_string_lossy()).collect();
    match (&line.names[..], &given[..]) {
        (["decontaminate"], [corpus, benchmark]) if !corpus.starts_with('-') => Some(format!(
            "--against names the benchmark, as in `cento decontaminate {corpus} --against \
             {benchmark}`"
        )),
        (["add"], [only]) if Path::new(&**only).exists() && !Index::exists(&**only) => {
            Some(format!("the index comes before the files: `cento add x.idx {only}`"))
        }
        (names, _) => {
            let name = names.join(" ");
            let (_, examples) = EXAMPLES.iter().find(|(verb, _)| *verb == name)?;
            examples.first().map(|(line, _)| format!("for example `{line}`"))
        }
    }
}

/// Says in plain words which numbers an option takes.
fn number(error: clap::Error) -> clap::Error {
    use std::error::Error;
    let text = |kind| error.get(kind).map(ToString::to_string);
    let (Some(option), Some(value), Some(cause)) =
        (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue), error.source())
    else {
        return error;
    };
    let option = option.split([' ', '=']).next().unwrap_or_default();
    let expected = if let Some(cause) = cause.downcast_ref::<ParseIntError>() {
        match cause.kind() {
            IntErrorKind::PosOverflow => "a smaller number",
            _ => "a whole number",
        }
        .to_owned()
    } else if cause.is::<ParseFloatError>() {
        "a number".to_owned()
    } else if let Some((_, range)) = cause.to_string().split_once(" is not in ") {
        range_in_words(range)
    } else {
        return error;
    };
    let all = if value == "all" { "; a large one, such as 1000000, shows all" } else { "" };
    let message = format!("{option} takes {expected}, not \"{value}\"{all}\n");
    clap::Error::raw(ErrorKind::ValueValidation, message)
}

/// Describes a range of numbers such as `1..` or `2..=64`.
fn range_in_words(range: &str) -> String {
    match range.split_once("..") {
        Some((least, "" | "=4294967295")) => format!("a whole number of at least {least}"),
        Some((least, most)) => {
            format!("a whole number from {least} to {}", most.trim_start_matches('='))
        }
        None => "another number".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let given: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = crate::command().try_get_matches_from(&given).unwrap_err();
        advised(error, &crate::command(), &given).to_string()
    }

    #[test]
    fn a_verb_that_has_moved_is_told_with_its_new_place() {
        for (old, new) in MOVED {
            let shown = shown(&format!("cento {old}"));
            assert!(shown.contains(&format!("`cento {old}` is `{new}` now")), "{shown}");
            assert!(!shown.contains("similar"), "{shown}");
        }
        let shown = shown("cento serach");
        assert!(shown.contains("did you mean `cento search`?"), "{shown}");
    }

    #[test]
    fn the_command_lines_for_the_verbs_of_others_are_ones() {
        let mut lines: Vec<&str> = MOVED.iter().map(|(_, new)| *new).collect();
        lines.extend(VERBS_OF_OTHERS.iter().map(|(_, line)| *line));
        for line in lines.into_iter().filter(|line| *line != "cento-web") {
            let is_verb = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
            let verb = line.split(' ').take_while(is_verb).chain(["--help"]);
            let kind = crate::command().try_get_matches_from(verb).unwrap_err().kind();
            assert_eq!(kind, ErrorKind::DisplayHelp, "{line}");
        }
        for (names, line) in VERBS_OF_OTHERS {
            for name in *names {
                let shown = shown(&format!("cento {name} x"));
                assert!(shown.contains(&format!("`{line}` does that")), "{name}: {shown}");
            }
        }
    }

    #[test]
    fn ranges_are_said_in_words() {
        assert_eq!(range_in_words("1.."), "a whole number of at least 1");
        assert_eq!(range_in_words("2..=64"), "a whole number from 2 to 64");
        let shown = shown("cento pairs x --min-passage 0");
        let expected = "error: --min-passage takes a whole number of at least 1, not \"0\"\n";
        assert!(shown.starts_with("error: --min-passage takes a"), "{shown}");
        assert_eq!(shown.lines().next(), expected.lines().next());
    }
}
