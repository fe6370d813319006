//! The content of the `.sig` file, and how segments are written.
//!
//! A `.sig` file has the signatures of the documents of a segment: a dictionary of fingerprints,
//! their posting lists, and the ids and signatures of documents. The file is immutable: written
//! once by the builder or by a merge, and read in place. Except for `plugin`, this module knows
//! only bytes and ordinals, neither tantivy nor text. Layout: segments-format.md.

mod bits;
mod block;
mod builder;
mod check;
mod documents;
mod file;
mod filter;
mod forward;
mod ids;
mod keys;
mod layout;
mod look_up;
mod merge;
mod pages;
pub(crate) mod plugin;
mod postings;
mod prefetch;
mod radix;
mod read_ahead;
mod reader;
mod sieve;
mod term_index;
mod terms;
mod writer;

pub use builder::SegmentBuilder;
pub use documents::{DistinctColumn, Document};
pub(crate) use forward::ForwardList;
pub use ids::Identity;
pub use layout::{Counts, FORMAT_VERSION, Header, Section};
pub use look_up::Terms;
pub use look_up::find_in;
pub use merge::{MergeOptions, MergeSource, merge, merge_work};
pub use postings::Candidates;
pub use radix::sort_from;
pub(crate) use read_ahead::ReadAhead;
pub use reader::{SegmentReader, Term};
