//! Is a file a report or network of this crate?
//!
//! If you repeat a command, the new report replaces the earlier report, but never an essay that
//! happens to have the same name. HTML has a place for a mark. The other formats are known by their
//! first bytes.

/// The beginnings of reports as JSON and csv, and of networks.
const BEGINNINGS: [&str; 10] = [
    "{\n  \"run\": {",
    "a,b,similarity,",
    "document,size,unit,",
    "family,documents,tokens,",
    "tree,depth,id,",
    "benchmark,questions,contaminated,",
    "setting,scheme,analyzer,",
    "graph pairs {",
    "digraph pairs {",
    concat!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
        "  <key id=\"label\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>"
    ),
];

/// The mark in reports as HTML.
const GENERATOR: &str = "<meta name=\"generator\" content=\"cento ";

/// The first bytes of a file that [`is_own_file`] needs.
pub const OWN_FILE_BYTES: usize = 4096;

/// Returns whether a file with this beginning is a report or network that this crate made.
///
/// ```
/// use std::path::Path;
/// use cento_report::{Network, is_own_file};
///
/// let network = Network::of_file(Path::new("class.dot"))?.write(&[("ann", "ben", 0.7)]);
/// assert!(is_own_file(network.as_bytes()));
/// assert!(!is_own_file(b"name,grade\nann,1.3\n"));
/// # Ok::<(), cento::Error>(())
/// ```
#[must_use]
pub fn is_own_file(beginning: &[u8]) -> bool {
    let beginning = &beginning[..beginning.len().min(OWN_FILE_BYTES)];
    BEGINNINGS.iter().any(|own| beginning.starts_with(own.as_bytes()))
        || beginning.windows(GENERATOR.len()).any(|part| part == GENERATOR.as_bytes())
}
