//! Where can a test make cento fail?
//!
//! A few places that no input reaches: a test gives a function that is called there, and panics or
//! gives an error. Without one nothing happens; no option of the command line and no environment
//! leads here.

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
    /// What has been changed is about to be committed, or whether it could be is being tried.
    Commit,
    /// A segment is asked whether it is full; if this fails it is, and is written.
    Fill,
    /// What has just been committed is about to be opened by its writer.
    OpenCommitted,
    /// A file of a shard that has been merged is about to be removed, or its directory.
    RemoveOfShard,
    /// A service is about to open what has been committed, to search it.
    Publish,
}

/// What happens at a place, with the id of the document that is there, if one is.
type Hook = dyn Fn(Point, &str) -> io::Result<()> + Send + Sync;

/// What happens at each place.
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

    /// Whether there is anything to be called.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Fails, or does nothing.
    ///
    /// # Errors
    /// Those of the test.
    pub fn at(&self, point: Point, id: &str) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |hook| hook(point, id))
    }
}
