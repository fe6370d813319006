//! Options of `cento serve` from the environment and from a file.
//!
//! Variables and keys are derived from the names of the options, so no option can be forgotten.
//! Keys of the file are appended to the command line, unless the command line or a variable sets
//! the option. Then a single parser checks everything, conflicts included.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::memory;
use cento::{Error, Result};
use cento_api::suggest::{did_you_mean, nearest};

/// The only verb with a configuration file.
const VERB: &str = "serve";

/// Options that a file cannot set: options about the configuration, and options of every verb.
const OWN: [&str; 5] = ["config", "print-config", "help", "quiet", "color"];

/// The key, and the variable's name, of the directories to serve, which are no option.
const INDEX: &str = "index";

/// The beginning of the names of variables.
const PREFIX: &str = "CENTO_";

/// Variables with the prefix that are not options of `cento serve`.
const OTHER_VARIABLES: [&str; 3] = ["CENTO_LOG", "CENTO_TOKEN", "CENTO_PAUSE"];

/// Gives every option of `cento serve` a variable: `CENTO_COMMIT_INTERVAL` for `--commit-interval`.
pub fn with_variables(command: Command) -> Command {
    command.mut_subcommand(VERB, |serve| {
        serve.mut_args(|arg| match variable(&arg) {
            // 1 and 0 too, as is usual of variables.
            Some(name) if is_flag(&arg) => arg.env(name).value_parser(parse_flag),
            Some(name) => arg.env(name),
            None => arg,
        })
    })
}

/// Parses the value of a flag in a variable. clap's `BoolishValueParser` accepts the same words,
/// but its error does not list them.
fn parse_flag(value: &str) -> std::result::Result<bool, String> {
    match value.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "y" | "on" | "t" => Ok(true),
        "0" | "false" | "no" | "n" | "off" | "f" => Ok(false),
        _ => Err("expected true or false; 1 and 0, yes and no, on and off mean the same".into()),
    }
}

fn is_flag(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// Returns the variable that sets an argument, or `None` for an argument without a variable.
fn variable(arg: &Arg) -> Option<String> {
    let key = key(arg).filter(|key| *key == "config" || !OWN.contains(key))?;
    // CENTO_LOG sets the level of the log.
    let key = if key == "log" { "log-format" } else { key };
    Some(format!("{PREFIX}{}", key.to_ascii_uppercase().replace('-', "_")))
}

/// Returns the variables of every option, without the prefix.
fn known_variables(command: &Command) -> Vec<String> {
    let serve = command.find_subcommand(VERB).expect("it is a verb");
    let of_options = serve.get_arguments().filter_map(variable);
    let all = of_options.chain(OTHER_VARIABLES.map(String::from));
    all.map(|name| name[PREFIX.len()..].to_owned()).collect()
}

/// Returns variables of this process with the prefix but without a meaning, such as typing errors.
pub fn unknown_variables(command: &Command) -> Vec<String> {
    let known = known_variables(command);
    let given = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let is_unknown = |name: &String| {
        let name = name.strip_prefix(PREFIX);
        name.is_some_and(|name| !is_of_kubernetes(name) && !known.iter().any(|one| one == name))
    };
    given.filter(is_unknown).collect()
}

/// Returns whether Kubernetes may have set the variable, as in pods beside a service called
/// `cento`.
fn is_of_kubernetes(name: &str) -> bool {
    let mut words = name.split('_');
    words.any(|word| word == "PORT") || name.ends_with("SERVICE_HOST")
}

/// Refuses a variable with nearly the name of an option: a service started with CENTO_READONLY
/// would accept writes.
fn check_variables(command: &Command) -> Result<()> {
    let known = known_variables(command);
    for name in unknown_variables(command) {
        if let Some(meant) = nearest(&name[PREFIX.len()..], known.iter().map(String::as_str)) {
            let what = format!("there is no such variable (did you mean `{PREFIX}{meant}`?)");
            return Err(Error::input(name, what));
        }
    }
    Ok(())
}

/// Returns the name of an argument in a file.
fn key(arg: &Arg) -> Option<&str> {
    arg.get_long().or_else(|| (arg.get_id() == INDEX).then_some(INDEX))
}

/// A command line, with the options of a file.
#[derive(Debug)]
pub struct ExpandedCommandLine {
    /// The arguments to parse.
    pub arguments: Vec<OsString>,
    /// The path as given, and the line of each key taken from the file.
    file: Option<(String, BTreeMap<String, usize>)>,
}

impl ExpandedCommandLine {
    /// Reads the file that the command line or a variable names, if any.
    ///
    /// # Errors
    /// When the file cannot be read, is not TOML, or has an unknown key or a value of the wrong
    /// kind. The error has the line.
    pub fn new(command: &Command, given: Vec<OsString>) -> Result<ExpandedCommandLine> {
        let plain = |arguments| Ok(ExpandedCommandLine { arguments, file: None });
        // Options of every verb may precede the verb.
        let before = ["-q", "--quiet", "--color", "auto", "always", "never"];
        let is_before = |arg: &OsString| {
            let arg = arg.to_string_lossy();
            before.contains(&&*arg) || arg.starts_with("--color=")
        };
        let at = given.iter().skip(1).take_while(|arg| is_before(arg)).count() + 1;
        if given.get(at).is_none_or(|verb| verb != VERB) {
            return plain(given);
        }
        // Errors are reported when the complete command line is parsed.
        let lenient = command.clone().ignore_errors(true).try_get_matches_from(&given);
        let Ok(lenient) = lenient else { return plain(given) };
        let Some((_, matches)) = lenient.subcommand() else { return plain(given) };
        check_variables(command)?;
        let Some(path) = matches.get_one::<PathBuf>("config") else { return plain(given) };
        let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
        let place = path.display().to_string();
        let serve = command.find_subcommand(VERB).expect("it is a verb");
        let (added, lines) = ConfigReader { text: &text, place: &place, serve, matches }.read()?;
        let mut arguments = given;
        // Inserted right after the verb, because a later `--` would turn options into values.
        arguments.splice(at + 1..at + 1, added);
        Ok(ExpandedCommandLine { arguments, file: Some((place, lines)) })
    }

    /// Rewrites an error of the parser about an option from the file or a variable, so that the
    /// message points at the line or the variable.
    pub fn explain(&self, command: &Command, error: &clap::Error) -> Option<Error> {
        let named = [ContextKind::InvalidArg, ContextKind::PriorArg].map(|kind| error.get(kind));
        let names = named.into_iter().flatten().flat_map(|value| match value {
            ContextValue::String(name) => vec![name.as_str()],
            ContextValue::Strings(names) => names.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        });
        let mut places = names.filter_map(|name| {
            let name = name.split([' ', '=']).next()?;
            let key = name.trim_start_matches('-');
            if let Some((place, line)) = self.line(key) {
                return Some(format!("{place}:{line}"));
            }
            let is_given = |given: &OsString| given.to_string_lossy().starts_with(name);
            let serve = command.find_subcommand(VERB)?;
            let arg = serve.get_arguments().find(|arg| arg.get_long() == Some(key))?;
            let variable = variable(arg).filter(|name| std::env::var_os(name).is_some());
            variable.filter(|_| !self.arguments.iter().any(is_given))
        });
        let place = places.next()?;
        let said = error.to_string();
        let said = said.strip_prefix("error: ").unwrap_or(&said);
        let said = said.split("\n\n").next().unwrap_or(said).replace('\n', " ");
        Some(Error::input(place, said))
    }

    /// Returns the file and the line that set this key.
    fn line(&self, key: &str) -> Option<(&str, usize)> {
        let (place, lines) = self.file.as_ref()?;
        Some((place, *lines.get(key)?))
    }

    /// Returns the options in effect as an equivalent file, if requested. Tokens are secret, so the
    /// output has only the path of the token file.
    pub fn printed(&self, command: &Command, matches: &ArgMatches) -> Option<String> {
        let (VERB, matches) = matches.subcommand()? else { return None };
        if !matches.get_flag("print_config") {
            return None;
        }
        let serve = command.find_subcommand(VERB).expect("it is a verb");
        let mut text =
            String::from("# The options of `cento serve` in effect, and where they come from.\n");
        for arg in serve.get_arguments() {
            let Some(key) = key(arg).filter(|key| !OWN.contains(key)) else { continue };
            let source = self.source(arg, key, matches);
            match value(arg, key, matches) {
                Some(value) => text.push_str(&format!("{key} = {value}  # {source}\n")),
                None => text.push_str(&format!("# {key} is not set\n")),
            }
        }
        Some(text)
    }

    fn source(&self, arg: &Arg, key: &str, matches: &ArgMatches) -> String {
        match (self.line(key), matches.value_source(arg.get_id().as_str())) {
            (Some((place, line)), _) => format!("{place}:{line}"),
            (None, Some(ValueSource::CommandLine)) => "command line".into(),
            (None, Some(ValueSource::EnvVariable)) => variable(arg).unwrap_or_default(),
            _ => "default".into(),
        }
    }
}

/// Returns the value of an argument in TOML; `None` if the argument has no value.
fn value(arg: &Arg, key: &str, matches: &ArgMatches) -> Option<String> {
    let id = arg.get_id().as_str();
    if is_flag(arg) {
        return Some(matches.get_flag(id).to_string());
    }
    let strings = |id: &str| -> Vec<toml::Value> {
        let values = matches.get_raw(id).into_iter().flatten();
        values.map(|value| value.to_string_lossy().into_owned().into()).collect()
    };
    let mut values = strings(id);
    if key == INDEX {
        values.extend(strings("others"));
    }
    let is_list = matches!(arg.get_action(), ArgAction::Append) || values.len() > 1;
    match (values.pop(), key) {
        (Some(last), _) if is_list => {
            values.push(last);
            Some(toml::Value::Array(values).to_string())
        }
        (Some(last), _) => {
            let number = last.as_str().and_then(|text| text.parse::<i64>().ok());
            Some(number.map_or_else(|| last.to_string(), |number| number.to_string()))
        }
        (None, "memory") => Some(memory::default_bytes().to_string()),
        (None, "threads") => Some(cento::available_threads().to_string()),
        (None, _) => None,
    }
}

/// Converts a file to arguments of the command line.
struct ConfigReader<'a> {
    text: &'a str,
    place: &'a str,
    serve: &'a Command,
    /// The values of the command line and of variables.
    matches: &'a ArgMatches,
}

impl ConfigReader<'_> {
    /// Returns the arguments in the file, and the line number of every key.
    fn read(&self) -> Result<(Vec<OsString>, BTreeMap<String, usize>)> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.refused(at, error.message().to_owned())
        })?;
        let (mut arguments, mut lines) = (Vec::new(), BTreeMap::new());
        for (name, value) in table.get_ref() {
            let at = name.span();
            let name = name.get_ref().as_ref();
            let arg = self.argument(name, &at)?;
            let values = self.values(arg, name, value)?;
            let source = self.matches.value_source(arg.get_id().as_str());
            if matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable)) {
                continue;
            }
            lines.insert(name.to_owned(), self.line(at.start));
            for value in values {
                arguments.push(OsString::from(match name {
                    INDEX => value,
                    _ if is_flag(arg) => format!("--{name}"),
                    _ => format!("--{name}={value}"),
                }));
            }
        }
        Ok((arguments, lines))
    }

    fn argument(&self, name: &str, at: &Range<usize>) -> Result<&Arg> {
        let known = || {
            let keys = self.serve.get_arguments().filter_map(key);
            keys.filter(|key| !OWN.contains(key))
        };
        let arg = self.serve.get_arguments().find(|arg| key(arg) == Some(name));
        arg.filter(|_| !OWN.contains(&name)).ok_or_else(|| {
            let known: Vec<&str> = known().collect();
            let meant = did_you_mean(name, known.iter().copied());
            let what = format!("unknown key `{name}`{meant}; known are {}", known.join(", "));
            self.refused(at.start, what)
        })
    }

    /// Returns the values of a key as on the command line. A flag that is set has an empty value.
    fn values(&self, arg: &Arg, name: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>> {
        let at = value.span().start;
        if is_flag(arg) {
            return match value.get_ref() {
                DeValue::Boolean(true) => Ok(vec![String::new()]),
                DeValue::Boolean(false) => Ok(Vec::new()),
                _ => Err(self.refused(at, format!("`{name}` is true or false"))),
            };
        }
        let is_list = name == INDEX || matches!(arg.get_action(), ArgAction::Append);
        match value.get_ref() {
            DeValue::Array(values) if is_list => {
                values.iter().map(|value| self.single(name, value)).collect()
            }
            _ => Ok(vec![self.single(name, value)?]),
        }
    }

    fn single(&self, name: &str, value: &Spanned<DeValue<'_>>) -> Result<String> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.as_ref().to_owned()),
            DeValue::Integer(number) if number.radix() == 10 => {
                Ok(number.as_str().replace('_', ""))
            }
            other => {
                let what = format!("`{name}` takes a string or a number, not {}", other.type_str());
                Err(self.refused(value.span().start, what))
            }
        }
    }

    fn line(&self, at: usize) -> usize {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    fn refused(&self, at: usize, what: String) -> Error {
        Error::input(format!("{}:{}", self.place, self.line(at)), what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_a_variable_and_a_key_of_its_own() {
        let command = crate::command();
        let serve = command.find_subcommand(VERB).unwrap();
        let mut names = Vec::new();
        for arg in serve.get_arguments() {
            let is_own = arg.is_global_set()
                || ["print_config", "others", "help", "key_file"].contains(&arg.get_id().as_str());
            let name = arg.get_env().map(|name| name.to_string_lossy().into_owned());
            assert_eq!(name.is_none(), is_own, "{}", arg.get_id());
            assert!(is_own || key(arg).is_some(), "{}", arg.get_id());
            names.extend(name);
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert!(names.len() == count && count > 20, "{names:?}");
        // Other programs around cento use these variables, so no option may have the names.
        let known = known_variables(&command);
        let known = || known.iter().map(String::as_str);
        for other in ["URL", "CLI", "HOME", "VERSION", "CORPORA", "QUERIES", "BLESS", "IMAGE"] {
            assert_eq!(nearest(other, known()), None, "{other}");
        }
        let slips = [("READONLY", "READ_ONLY"), ("SHARDDIR", "SHARD_DIR"), ("TRHEADS", "THREADS")];
        for (slip, meant) in slips {
            assert_eq!(nearest(slip, known()), Some(meant), "{slip}");
        }
        // The command reads these variables with a different meaning.
        assert!(!names.iter().any(|name| ["CENTO_LOG", "CENTO_TOKEN"].contains(&name.as_str())));
    }
}
