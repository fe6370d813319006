//! The key of keyed indexes, which `--key-file` names.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::builder::PathBufValueParser;
use clap::{Arg, ArgMatches};

use cento::Key;
use cento::index::{Config, Index};

/// The key of this command line.
static KEY: OnceLock<Key> = OnceLock::new();

const KEY_FILE: &str = "key_file";

/// Verbs that neither open an index nor create an index with new fingerprints.
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

/// Returns the key option for a verb that may need a key. `verb` is the full name, with the group.
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

/// Returns the path of the key file on the command line.
pub fn file(matches: &ArgMatches) -> Option<PathBuf> {
    let mut of_verb = matches;
    while let Some((_, matches)) = of_verb.subcommand() {
        of_verb = matches;
    }
    of_verb.try_get_one::<PathBuf>(KEY_FILE).ok().flatten().cloned()
}

/// Reads the key file for the whole process.
///
/// # Errors
/// When the file cannot be read, is not a key, or is not secret.
pub fn set(file: &Path) -> cento::Result<()> {
    let key = Key::read(file)?;
    KEY.get_or_init(|| key);
    Ok(())
}

/// Returns the key of this process, if the command line gave a key file.
pub fn given() -> Option<&'static Key> {
    KEY.get()
}

/// Opens an index with the key of this process.
///
/// # Errors
/// When the index cannot be opened, or has a different key or no key.
pub fn open(path: impl AsRef<Path>) -> cento::Result<Index> {
    Index::open(path).and_then(unlocked)
}

/// Opens an index for searching, with the key.
///
/// # Errors
/// As [`open`].
pub fn open_for_search(path: impl AsRef<Path>) -> cento::Result<Index> {
    Index::open_for_search(path).and_then(unlocked)
}

fn unlocked(index: Index) -> cento::Result<Index> {
    given().map_or(Ok(()), |key| index.unlock(key))?;
    Ok(index)
}

/// Returns the configuration for a new index, with the key of this process if given.
///
/// # Errors
/// When the scheme does not support keys.
pub fn of_new(config: Config) -> cento::Result<Config> {
    given().map_or(Ok(config.clone()), |key| config.with_key(key))
}
