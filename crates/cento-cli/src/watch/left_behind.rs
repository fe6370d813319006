//! Reports watches that a verb does not copy.

use std::path::Path;

use crate::output::count;
use crate::terminal::tell;
use cento::Result;
use cento_collections::watch::count_watches;

/// Reports how many watches of the index at `from` were not copied, and how to copy watches.
/// `place` describes the result, such as `in the store`.
///
/// # Errors
/// When the watches cannot be read.
pub fn tell_left_behind(from: &Path, place: &str) -> Result<()> {
    let watches = count_watches(from)?;
    if watches > 0 {
        let (are, from) = (if watches == 1 { "is" } else { "are" }, from.display());
        let watches = counted_watches(watches);
        tell!("cento: {from}: {watches} {are} not {place}; {}", how_to_copy(&from.to_string()));
    }
    Ok(())
}

/// Returns this number of watches in words.
pub fn counted_watches(watches: u64) -> String {
    match watches {
        1 => "1 watch".to_owned(),
        more => format!("{} watches", count(more)),
    }
}

/// Returns the way to copy the watches of the index in this directory, as a clause.
pub fn how_to_copy(from: &str) -> String {
    format!(
        "copy them with `cento watch list {from} --format json > watches.jsonl` and `cento watch \
         add COPY watches.jsonl`"
    )
}
