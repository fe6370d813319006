//! Places where a test can make cento fail.
//!
//! These are a few places that no input reaches. A test provides a function that is called there,
//! and panics or returns an error. Without one nothing happens; no option of the command line and
//! no environment variable reaches them.

use std::fmt;
use std::io;
use std::sync::Arc;

/// A place that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// A document is being signed by a service.
    Sign,
    /// A document is about to be handed to tantivy.
    Add,
    /// A document arrives in a segment, on tantivy's own thread.
    Index,
    /// Changes are about to be committed, or a check whether they could be is running.
    Commit,
    /// A segment is checked for being full; if this fails it counts as full, and is written.
    Fill,
    /// The new commit is about to be opened by its writer.
    OpenCommitted,
    /// A file of a merged shard, or its directory, is about to be removed.
    RemoveOfShard,
    /// A service is about to open the new commit, to search it.
    Publish,
}

/// The function called at a place, with the id of the document there, if there is one.
type Hook = dyn Fn(Point, &str) -> io::Result<()> + Send + Sync;

/// The function called at each place.
#[derive(Clone, Default)]
pub struct Faults(Option<Arc<Hook>>);

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Faults({})", if self.0.is_some() { "some" } else { "none" })
    }
}

impl Faults {
    /// Calls `hook` at every place.
    pub fn new(hook: impl Fn(Point, &str) -> io::Result<()> + Send + Sync + 'static) -> Faults {
        Faults(Some(Arc::new(hook)))
    }

    /// Tells whether there is a function to call.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Fails, or does nothing.
    ///
    /// # Errors
    /// The errors of the test's function.
    pub fn at(&self, point: Point, id: &str) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |hook| hook(point, id))
    }
}
