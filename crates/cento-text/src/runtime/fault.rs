//! Hooks that let a test make cento fail.
//!
//! The hooks are at a few points of the code that no input can make fail. A test provides a
//! function, which is called there and panics or returns an error. Without a function nothing
//! happens. No option of the command line and no environment variable can install a function.

use std::fmt;
use std::io;
use std::sync::Arc;

/// A point of the code that a test can make fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// A service is signing a document.
    Sign,
    /// A writer is about to hand a document to tantivy.
    Add,
    /// A document arrives in a segment, on a thread of tantivy.
    Index,
    /// A writer is about to commit changes, or is checking whether it could.
    Commit,
    /// A segment is checked for being full. If the check fails, the segment counts as full and is
    /// written.
    Fill,
    /// The writer is about to open the new commit.
    OpenCommitted,
    /// A file of a merged shard, or the shard's directory, is about to be removed.
    RemoveOfShard,
    /// A service is about to open the new commit, to search in it.
    Publish,
}

/// The function of a test. The text is the id of the document, or empty at points without one.
type Hook = dyn Fn(Point, &str) -> io::Result<()> + Send + Sync;

/// The function that a test provides, or nothing.
#[derive(Clone, Default)]
pub struct Faults(Option<Arc<Hook>>);

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Faults({})", if self.0.is_some() { "some" } else { "none" })
    }
}

impl Faults {
    /// Calls `hook` at every point.
    pub fn new(hook: impl Fn(Point, &str) -> io::Result<()> + Send + Sync + 'static) -> Faults {
        Faults(Some(Arc::new(hook)))
    }

    /// Tells whether a test provided a function.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Calls the function of the test, if there is one.
    ///
    /// # Errors
    /// The errors that the test's function returns.
    pub fn at(&self, point: Point, id: &str) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |hook| hook(point, id))
    }
}
