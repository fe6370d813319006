//! The key of keyed indexes, which `--key-file` names.

use std::path::Path;
use std::sync::OnceLock;

use cento::Key;
use cento::index::{Config, Index};

/// The key of this command line.
static KEY: OnceLock<Key> = OnceLock::new();

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
