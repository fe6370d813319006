//! The help is short, true and complete.

use std::collections::BTreeMap;

use super::*;
use crate::command;

/// The short help as a terminal of 100 columns shows it.
fn short(verb: &mut Command) -> String {
    verb.clone().term_width(100).render_help().to_string()
}

fn verbs() -> Vec<Command> {
    let mut command = command();
    command.build();
    below(&command)
}

fn below(command: &Command) -> Vec<Command> {
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    verbs.filter(|verb| verb.get_name() != "help").cloned().collect()
}

/// Every verb with its full name, such as `store push`.
fn all_verbs() -> Vec<(String, Command)> {
    let mut found: Vec<(String, Command)> = Vec::new();
    let mut left: Vec<(String, Command)> =
        verbs().into_iter().map(|verb| (verb.get_name().to_owned(), verb)).collect();
    while let Some((name, verb)) = left.pop() {
        left.extend(
            below(&verb).into_iter().map(|verb| (format!("{name} {}", verb.get_name()), verb)),
        );
        found.push((name, verb));
    }
    found
}

#[test]
fn no_retired_name_is_in_the_help() {
    let list = include_str!("../../../../tests/data/retired-names.txt");
    let retired = list.lines().filter_map(|line| line.split_once('\t')).map(|pair| pair.0);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let has = |text: &str, name: &str| {
        text.match_indices(name).any(|(at, _)| {
            let rest = &text[at + name.len()..];
            !text[..at].ends_with(is_part) && !rest.starts_with(is_part)
        })
    };
    assert!(has("see --cover", "--cover") && !has("--coverage", "--cover"));
    for name in retired {
        for (verb, mut command) in all_verbs() {
            let help = command.render_long_help().to_string();
            assert!(!has(&help, name), "the help of {verb} has `{name}`");
        }
    }
}

#[test]
fn every_verb_is_in_one_group() {
    for verb in verbs() {
        let name = verb.get_name();
        let groups = GROUPS.iter().filter(|(_, verbs)| verbs.contains(&name)).count();
        assert_eq!(groups, 1, "{name}");
    }
    let help = command().render_help().to_string();
    for (heading, _) in GROUPS {
        assert!(help.contains(&format!("\n{heading}:\n")), "{help}");
    }
}

#[test]
fn no_verb_speaks_of_an_option_that_it_does_not_have() {
    for (name, mut verb) in all_verbs() {
        let help = verb.render_long_help().to_string();
        let has = |long: &str| verb.get_arguments().any(|arg| arg.get_long() == Some(long));
        assert!(has("passages") || !help.contains("Implies --passages"), "{help}");
        let is_of_pairs = OF_PAIRS.contains(&&*name);
        assert!(!is_of_pairs || !help.contains("that a hit contains"), "{help}");
    }
}

#[test]
fn the_tables_name_options_that_there_are() {
    let verbs = all_verbs();
    let all: Vec<&str> = verbs
        .iter()
        .flat_map(|(_, verb)| verb.get_arguments().map(|arg| arg.get_id().as_str()))
        .collect();
    let named = HEADINGS.iter().flat_map(|(_, ids)| *ids);
    let unknown: Vec<_> = named.filter(|id| !all.contains(*id)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn the_short_help_of_every_verb_is_written_as_such() {
    let mut wrong = Vec::new();
    let verbs = all_verbs();
    for (name, verb) in verbs.iter().filter(|(_, verb)| !verb.has_subcommands()) {
        let Some(short) = SHORT.iter().find(|short| short.verb == *name) else {
            panic!("{name} has no short help in help/short.rs");
        };
        let arg = |id: &str| verb.get_arguments().find(|arg| arg.get_id() == id);
        let unknown = short.arguments.iter().filter(|(id, _)| arg(id).is_none());
        wrong.extend(unknown.map(|(id, _)| format!("{name} has no argument {id}")));
        let shown: Vec<&Arg> = short.arguments.iter().filter_map(|(id, _)| arg(id)).collect();
        let options = shown.iter().filter(|arg| !arg.is_positional()).count();
        if options > short::OPTIONS_MAX {
            wrong.push(format!("{name} shows {options} options"));
        }
        let is_shown = |arg: &&Arg| short.arguments.iter().any(|(id, _)| arg.get_id() == id);
        let left_out = verb.get_positionals().filter(|arg| !is_shown(arg));
        wrong.extend(left_out.map(|arg| format!("{name} does not show {}", arg.get_id())));
        for (id, text) in short.arguments {
            let long = arg(id).and_then(Arg::get_long_help).map(StyledStr::to_string);
            let is_cut = long.is_some_and(|long| {
                long.strip_prefix(text).is_some_and(|rest| rest.starts_with(','))
            });
            if is_cut {
                wrong.push(format!("{name} {id}: the long help is cut: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let is_verb = |short: &&Short| verbs.iter().any(|(name, _)| name == short.verb);
    let unknown: Vec<&str> =
        SHORT.iter().filter(|short| !is_verb(short)).map(|short| short.verb).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn the_short_help_fits_a_screen_of_24_lines_with_an_example() {
    for (name, mut verb) in all_verbs() {
        let help = short(&mut verb);
        let lines = help.lines().filter(|line| !line.is_empty()).count();
        assert!(lines <= 24, "{lines} lines: {help}");
        let has_example = help.contains("\nExample:\n  cento ");
        let has_examples = EXAMPLES.iter().any(|(of, _)| *of == name);
        assert!(!has_examples || verb.has_subcommands() || has_example, "{help}");
    }
}

#[test]
fn the_fields_that_json_lines_need_are_in_the_short_help() {
    for (name, mut verb) in all_verbs() {
        if ["add", "dedup"].contains(&&*name) {
            let help = short(&mut verb);
            assert!(help.contains("--text-field") && help.contains("--id-field"), "{help}");
        }
    }
}

/// Options whose meaning differs by verb, and options shown before the headings: `--for`, and the
/// subject of a search.
const WITHOUT_HEADING: [&str; 5] = ["exclude", "for", "id", "signature", "text"];

#[test]
fn an_option_of_several_verbs_is_under_a_heading() {
    let mut verbs_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, verb) in all_verbs() {
        let plain = verb.get_arguments().filter(|arg| {
            !arg.is_positional() && !arg.is_hide_set() && arg.get_help_heading().is_none()
        });
        for arg in plain {
            verbs_of.entry(arg.get_id().to_string()).or_default().push(name.clone());
        }
    }
    let is_own = |id: &str| ["help", "version"].contains(&id) || WITHOUT_HEADING.contains(&id);
    verbs_of.retain(|id, verbs| verbs.len() > 1 && !is_own(id));
    assert!(verbs_of.is_empty(), "put these options into HEADINGS of help.rs: {verbs_of:?}");
}

#[test]
fn the_examples_of_every_verb_are_command_lines() {
    let mut wrong = Vec::new();
    let examples_of = |name: &str| EXAMPLES.iter().find(|(of, _)| *of == name);
    for (name, mut verb) in all_verbs() {
        let Some((_, examples)) = examples_of(&name) else {
            // Examples may belong to the verb, to the group above, or to the verbs below.
            let mut verbs = below(&verb).into_iter();
            let has_below = verb.has_subcommands()
                && verbs.all(|verb| examples_of(&format!("{name} {}", verb.get_name())).is_some());
            let is_above = name.split_once(' ').is_some_and(|(of, _)| examples_of(of).is_some());
            assert!(has_below || is_above, "{name} has no examples");
            continue;
        };
        let help = verb.render_long_help().to_string();
        for (line, what) in *examples {
            assert!(line.starts_with(&format!("cento {name}")), "{line}");
            let parsed = command().try_get_matches_from(line.split(' '));
            wrong.extend(parsed.err().map(|error| format!("{line}: {error}")));
            assert!(help.contains(line) && help.contains(what), "{name}: {help}");
        }
    }
    let names: Vec<String> = all_verbs().into_iter().map(|(name, _)| name).collect();
    for (name, _) in EXAMPLES {
        assert!(names.iter().any(|of| of == name), "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
