//! The command `cento`: its verbs, options and exit status.
//!
//! You add files to an index with `cento add corpus.idx documents/`, and find the documents that
//! share text with yours with `cento search corpus.idx text.txt --passages`. `cento help` lists all
//! verbs, and `cento help VERB` explains a verb to you.
//!
//! Data goes to standard output, progress and messages to standard error. The exit status is as
//! with grep: 0 found, 1 nothing found, 2 error. It is 3 if the work was done, but not with all of
//! your input, and 130 if you stopped the run, by Ctrl-C for example.
//!
//! Each verb has a file.

mod add;
mod advice;
mod boilerplate;
mod check;
mod cluster;
mod collection;
mod compact;
mod compare;
mod config;
mod create;
mod decontaminate;
mod dedup;
mod demo;
mod documents;
mod extract;
mod failpoint;
mod families;
mod grouping;
mod hangup;
mod help;
mod hints;
mod info;
mod join;
mod key;
mod language;
mod left_out;
mod lineage;
mod list_format;
mod lock_holder;
mod memory;
mod merge;
mod messages;
mod method;
mod missing;
mod network_out;
mod outfile;
mod output;
mod pairs;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet_file.rs"]
mod parquet_file;
#[cfg(feature = "parquet")]
mod parquet_file;
mod parse;
mod progress;
mod recover;
mod remove;
mod report_args;
mod rows_out;
mod search;
mod search_report;
mod send;
mod serve;
mod side_by_side;
mod signals;
mod similar_id;
mod stats;
mod store;
mod target;
mod terminal;
mod tokens;
mod unwritten;
mod usage;
mod wait;
mod watch;
mod whole;
mod withdraw;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, ValueEnum};

use cento::Error;
use hints::ErrorWithHint;
use terminal::tell;

// musl's allocator has a single lock for all threads, so `pairs` takes 1.7 times the processor
// time.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Find near-duplicate and reused text.
///
/// cento keeps an index of documents on disk, and finds the documents that are near-duplicates of
/// your document or share passages with it.
#[derive(Debug, Parser)]
#[command(name = "cento", version, max_term_width = 100)]
pub struct Cento {
    /// Write no progress, notes and summaries, only errors and results.
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Use colors. Default: on a terminal, unless the environment has NO_COLOR.
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto", global = true)]
    color: ColorChoice,
    #[command(subcommand)]
    verb: Verb,
}

/// Declares the verbs with their arguments, and dispatches to the verb of the command line.
macro_rules! verbs {
    ($verbs:ident { $($(#[$cfg:meta])* $verb:ident($arguments:ty),)* }) => {
        #[derive(Debug, clap::Subcommand)]
        enum $verbs {
            $($(#[$cfg])* $verb($arguments),)*
        }

        impl $verbs {
            fn run(self) -> $crate::Result {
                match self {
                    $($(#[$cfg])* $verbs::$verb(verb) => verb.run(),)*
                }
            }
        }
    };
}
use verbs;

verbs!(Verb {
    Create(create::Create),
    Add(add::Add),
    Search(Box<search::Search>),
    Trace(Box<search::TraceText>),
    Compare(compare::Compare),
    Pairs(Box<pairs::Pairs>),
    Families(Box<families::FamilyList>),
    Lineage(Box<lineage::LineageList>),
    Cluster(cluster::Cluster),
    Dedup(Box<dedup::Dedup>),
    Decontaminate(Box<decontaminate::Decontaminate>),
    List(documents::List),
    Show(documents::Show),
    Export(documents::Export),
    Remove(remove::Remove),
    Withdraw(Box<withdraw::Withdraw>),
    Compact(compact::Compact),
    Merge(merge::Merge),
    Stats(stats::Stats),
    Check(check::Check),
    Recover(recover::Recover),
    Method(method::Method),
    Watch(watch::Watch),
    Demo(demo::Demo),
    Serve(Box<serve::Serve>),
    Store(store::Store),
    Info(info::Info),
});

/// How a verb that did not fail ended. Decides on the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VerbOutcome {
    /// Something was found, or the work was done.
    Found,
    /// The search found nothing.
    Nothing,
    /// Something is wrong, and has been reported.
    Bad,
    /// The work was done, but input was refused, or files were skipped despite `--strict`. Messages
    /// name the input.
    Incomplete,
}

/// The reason why a verb failed.
#[derive(Debug)]
enum VerbFailure {
    Cento(Error),
    /// Writing the output failed, for example because the reader has exited.
    Output(io::Error),
}

type Result<T = VerbOutcome> = std::result::Result<T, VerbFailure>;

impl VerbOutcome {
    /// Returns the outcome of a completed run. Refused input takes precedence over results.
    fn of_inputs(is_any_refused: bool, has_results: bool) -> VerbOutcome {
        match has_results {
            _ if is_any_refused => VerbOutcome::Incomplete,
            true => VerbOutcome::Found,
            false => VerbOutcome::Nothing,
        }
    }
}

impl From<Error> for VerbFailure {
    fn from(error: Error) -> VerbFailure {
        VerbFailure::Cento(error)
    }
}

impl From<io::Error> for VerbFailure {
    fn from(error: io::Error) -> VerbFailure {
        VerbFailure::Output(error)
    }
}

/// Returns the command with every option.
fn command() -> clap::Command {
    let command = Cento::command();
    let command = config::with_variables(command);
    help::arranged(command)
}

/// Parses the command line of this process, and returns the path of the key file, if given. Returns
/// the exit status if parsing already did everything, such as printing the help.
fn parse() -> std::result::Result<(Cento, Option<PathBuf>), ExitCode> {
    let given: Vec<_> = std::env::args_os().collect();
    let color = color_of(&given);
    terminal::set_colors(color);
    let command = command().color(color);
    let matches = {
        let failed = |error: &Error| {
            tell!("cento: {}", ErrorWithHint(error));
            ExitCode::from(2)
        };
        let given =
            config::ExpandedCommandLine::new(&command, given).map_err(|error| failed(&error))?;
        let matches = command.clone().try_get_matches_from(&given.arguments);
        let matches = matches.map_err(|error| match given.explain(&command, &error) {
            Some(explained) => failed(&explained),
            None => usage::advised(error, &command, &given.arguments).exit(),
        })?;
        if let Some(text) = given.printed(&command, &matches) {
            use std::io::Write;
            let _ = io::stdout().lock().write_all(text.as_bytes());
            return Err(ExitCode::SUCCESS);
        }
        matches
    };
    let key_file = key::file(&matches);
    Ok((Cento::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()), key_file))
}

/// Returns the value of --color before the command line is parsed: errors of the parser have
/// colors, too.
fn color_of(given: &[OsString]) -> ColorChoice {
    let mut given = given.iter().skip(1).take_while(|arg| *arg != "--");
    let mut last = None;
    while let Some(arg) = given.next() {
        let arg = arg.to_string_lossy();
        let value = match arg.strip_prefix("--color=") {
            Some(value) => Some(value.to_owned()),
            None if arg == "--color" => given.next().map(|value| value.to_string_lossy().into()),
            None => None,
        };
        last = value.or(last);
    }
    let choice = last.and_then(|value| ColorChoice::from_str(&value, false).ok());
    choice.unwrap_or(ColorChoice::Auto)
}

/// Runs the command line of this process.
fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(served) = cento_source::serve_as_worker(&arguments) {
        return served.map_or_else(
            |error| {
                tell!("{error}");
                ExitCode::from(2)
            },
            |()| ExitCode::SUCCESS,
        );
    }
    let (Cento { quiet, verb, .. }, key_file) = match parse() {
        Ok(cento) => cento,
        Err(status) => return status,
    };
    terminal::set_quiet(quiet);
    if let Some(Err(error)) = key_file.as_deref().map(key::set) {
        tell!("cento: {}", ErrorWithHint(&error));
        return ExitCode::from(2);
    }
    match verb.run() {
        Ok(VerbOutcome::Found) => ExitCode::SUCCESS,
        Ok(VerbOutcome::Nothing) => ExitCode::from(1),
        Ok(VerbOutcome::Bad) => ExitCode::from(2),
        Ok(VerbOutcome::Incomplete) => ExitCode::from(3),
        // The reader has seen enough, as in `cento search ... | head`.
        Err(VerbFailure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(VerbFailure::Output(error)) => {
            tell!("cento: cannot write the output: {error}");
            ExitCode::from(2)
        }
        // Reported at the request to stop.
        Err(VerbFailure::Cento(Error::Cancelled)) => ExitCode::from(130),
        Err(VerbFailure::Cento(error)) => {
            tell!("cento: {}", ErrorWithHint(&error));
            ExitCode::from(2)
        }
    }
}
