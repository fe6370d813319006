//! The key of keyed indexes, which `--key-file` names.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::builder::PathBufValueParser;
use clap::{Arg, ArgMatches};

use cento::Key;
use cento::index::{Config, Index};

/// The key of this command line.
static KEY: OnceLock<Key> = OnceLock::new();

/// The name of the option.
const KEY_FILE: &str = "key_file";

/// The verbs that neither open an index nor make one with fingerprints of their own.
const WITHOUT_KEY: &[&str] = &[
    "compare",
    "decontaminate",
    "demo",
    "info",
    "merge",
    "method train",
    "store history",
    "store pull",
    "store restore",
];

/// Returns the option of a verb that may need the key; `verb` is its name, with that of its group.
pub fn option(verb: &str) -> Option<Arg> {
    let has_none = |name: &&str| verb == *name || verb.starts_with(&format!("{name} "));
    if WITHOUT_KEY.iter().any(has_none) {
        return None;
    }
    let help = "File with the key of keyed indexes: 32 hexadecimal digits that only you can read. \
                The fingerprints of a new index then depend on the key, and the index stores no \
                text unless you say --store-text";
    let arg = Arg::new(KEY_FILE).long("key-file").value_name("FILE").help(help);
    Some(arg.value_parser(PathBufValueParser::new()))
}

/// Returns the file that a command line names.
pub fn file(matches: &ArgMatches) -> Option<PathBuf> {
    let mut of_verb = matches;
    while let Some((_, matches)) = of_verb.subcommand() {
        of_verb = matches;
    }
    of_verb.try_get_one::<PathBuf>(KEY_FILE).ok().flatten().cloned()
}

/// Reads the key that the command line names.
///
/// # Errors
/// When it cannot be read, is no key, or is no secret.
pub fn set(file: &Path) -> cento::Result<()> {
    let key = Key::read(file)?;
    KEY.get_or_init(|| key);
    Ok(())
}

/// Returns the key, if the command line names one.
pub fn given() -> Option<&'static Key> {
    KEY.get()
}

/// Opens an index with the key.
///
/// # Errors
/// When it cannot be opened, or has another key, or none.
pub fn open(path: impl AsRef<Path>) -> cento::Result<Index> {
    unlocked(Index::open(path)?)
}

/// Opens an index for searching, with the key.
///
/// # Errors
/// As [`open`].
pub fn open_for_search(path: impl AsRef<Path>) -> cento::Result<Index> {
    unlocked(Index::open_for_search(path)?)
}

fn unlocked(index: Index) -> cento::Result<Index> {
    given().map_or(Ok(()), |key| index.unlock(key))?;
    Ok(index)
}

/// Returns the configuration for new indexes: that with the key, if there is one.
///
/// # Errors
/// When the scheme cannot have a key.
pub fn of_new(config: Config) -> cento::Result<Config> {
    given().map_or(Ok(config.clone()), |key| config.with_key(key))
}
