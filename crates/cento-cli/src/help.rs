//! Arrangement of the help: groups of verbs, headings of options, short help, examples.
//!
//! Options are defined in the structs of the verbs. This module decides for every verb what the
//! help shows first.

use clap::builder::StyledStr;
use clap::{Arg, Command};

use super::key;

pub use examples::EXAMPLES;
use short::{SHORT, Short};

/// The verbs by purpose. The verbs that most people meet first come first.
pub const GROUPS: [(&str, &[&str]); 5] = [
    ("Collections", &["demo", "pairs", "dedup", "cluster", "decontaminate", "families", "lineage"]),
    ("Search", &["search", "trace", "compare", "watch"]),
    (
        "Index",
        &[
            "add", "create", "list", "show", "export", "remove", "withdraw", "compact", "merge",
            "stats", "check", "recover",
        ],
    ),
    ("Service and stores", &["serve", "store"]),
    ("Methods", &["method", "info"]),
];

/// Headings of options that many verbs share, and the options.
const HEADINGS: [(&str, &[&str]); 7] = [
    (
        "Thresholds",
        &[
            "min_containment",
            "min_resemblance",
            "min_overlap",
            "min_weighted_containment",
            "min_weighted_resemblance",
            "min_passage",
            "max_expected",
            "min_similarity",
            "min_explained",
            "min_share",
            "min_left",
        ],
    ),
    (
        "Which documents",
        &[
            "against",
            "only_against",
            "add",
            "by",
            "meta",
            "group_by",
            "within",
            "filter",
            "exclude_id",
            "boilerplate",
            "without",
            "prefer",
            "sample",
            "date",
            "since",
            "document",
            "min_documents",
            "force",
        ],
    ),
    (
        "Scheme and analyzer",
        &[
            "scheme",
            "analyzer",
            "frequencies",
            "no_text",
            "store_text",
            "signatures",
            "max_df",
            "like",
            "key_file",
        ],
    ),
    (
        "Reading files",
        &[
            "include",
            "id_field",
            "text_field",
            "meta_field",
            "encoding",
            "max_record_bytes",
            "all",
            "ignore_files",
            "follow_links",
            "html",
            "jsonl",
            "readers",
            "strict",
        ],
    ),
    (
        "Output",
        &[
            "format",
            "out",
            "resume",
            "weighted",
            "measures",
            "clusters",
            "graph",
            "passages",
            "context",
            "reports",
            "title",
            "anonymous",
            "cut_passages",
            "limit",
            "rank",
            "carriers",
            "verify",
            "dry_run",
            "dropped",
            "annotate",
            "quiet",
            "color",
        ],
    ),
    ("Service", &["url", "token"]),
    (
        "Time and memory",
        &["threads", "memory", "candidates", "counts_only", "parallel", "timeout", "wait"],
    ),
];

/// Display order that puts the options of every verb last under a heading.
const LAST: usize = 900;

/// Returns the command with groups of verbs, headings of options, and examples.
pub fn arranged(command: Command) -> Command {
    // Global options appear only in the long help, so that the short help stays short.
    let common = command.get_arguments().filter(|arg| arg.is_global_set()).cloned();
    let common: Vec<Arg> =
        common.map(|arg| arg.hide_short_help(true).display_order(LAST)).collect();
    let arranged = verbs(command, "", &common);
    let groups = groups(&arranged);
    arranged.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\nOptions:\n{{options}}\n\n\
         `cento VERB -h` shows the options that you need most, and --help shows all of them.\n"
    ))
}

/// Lists the verbs in groups, a line per verb.
fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (heading, verbs) in GROUPS {
        text += &format!("\n{heading}:\n");
        for name in verbs {
            let verb = command.find_subcommand(name).expect("the groups list verbs");
            let about = verb.get_about().map(StyledStr::to_string).unwrap_or_default();
            text += &format!("  {name:<13} {about}\n");
        }
    }
    text
}

/// Arranges the verbs of a command. `words` is the prefix of the verbs' names.
fn verbs(command: Command, words: &str, common: &[Arg]) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |of_verb| {
            let words = format!("{words}{name}");
            // A verb without verbs below gets the option of the key.
            let key_file = key::option(&words).filter(|_| !of_verb.has_subcommands());
            let of_verb = verb(of_verb.args(common).args(key_file), &words);
            verbs(of_verb, &format!("{words} "), common)
        })
    })
}

/// Gives a verb its short help, and puts the options under headings.
fn verb(command: Command, name: &str) -> Command {
    let command = command.mut_args(|arg| under_heading(adapted(name, arg)));
    let examples = EXAMPLES.iter().find(|(verb, _)| *verb == name).map(|(_, examples)| *examples);
    let command = match examples {
        Some(examples) => command.after_long_help(shown("Examples", examples)),
        None => command,
    };
    match SHORT.iter().find(|short| short.verb == name) {
        Some(short) => with_short(command, short, examples),
        None => command,
    }
}

/// Gives a verb its short help, and keeps the long help.
fn with_short(command: Command, short: &Short, examples: Option<&[(&str, &str)]>) -> Command {
    let about = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
    let command = command.about(short.about).long_about(about);
    let is_hidden = |id: &str| !short.arguments.iter().any(|(shown, _)| *shown == id);
    let ids = command.get_arguments().map(|arg| arg.get_id().as_str());
    let hidden = ids.filter(|id| *id != "help" && is_hidden(id)).count();
    let command = command.mut_args(|arg| {
        let id = arg.get_id().to_string();
        let Some((_, text)) = short.arguments.iter().find(|(shown, _)| *shown == id) else {
            return arg.hide_short_help(true);
        };
        let long = arg.get_long_help().or(arg.get_help()).cloned().unwrap_or_default();
        arg.help(*text).long_help(long)
    });
    match examples.and_then(|examples| examples.first()) {
        Some(example) => {
            let example = shown("Example", &[*example]);
            let name = short.verb;
            command.after_help(format!(
                "{example}\n\n`cento {name} --help` shows {hidden} more options."
            ))
        }
        None => command,
    }
}

fn shown(heading: &str, examples: &[(&str, &str)]) -> String {
    let lines = examples.iter().map(|(line, what)| format!("  {line}\n      {what}"));
    format!("{heading}:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Verbs without a query.
const OF_PAIRS: [&str; 3] = ["pairs", "cluster", "dedup"];

/// Adapts an option to this verb, because several verbs share the definition.
fn adapted(verb: &str, arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "min_containment" if OF_PAIRS.contains(&verb) => {
            arg.help("Minimum share of either document that the other contains, 0 to 1")
        }
        "min_weighted_containment" if OF_PAIRS.contains(&verb) => arg.help(
            "Minimum share of either document's fingerprints that the other contains, weighted by \
             rarity in the index, 0 to 1",
        ),
        _ => arg,
    }
}

fn under_heading(arg: Arg) -> Arg {
    let id = arg.get_id().to_string();
    let heading = HEADINGS.iter().find(|(_, ids)| ids.contains(&id.as_str()));
    let arg = match heading {
        Some((heading, _)) if arg.get_help_heading().is_none() && !arg.is_positional() => {
            arg.help_heading(*heading)
        }
        _ => arg,
    };
    // `--for` sets several options, so the help shows it first.
    let arg = if id == "for" { arg.display_order(0) } else { arg };
    without_full_stop(arg)
}

/// Removes the full stop from an option's texts, because clap's own options have no full stop.
fn without_full_stop(arg: Arg) -> Arg {
    let Some(help) = arg.get_help().map(StyledStr::to_string) else { return arg };
    let long = arg.get_long_help().map_or(help.clone(), StyledStr::to_string);
    arg.help(help.trim_end_matches('.').to_owned()).long_help(long)
}

mod examples;
mod short;
#[cfg(test)]
mod tests;
