//! Operations on whole indexes: merge, compaction, retraining, transfer, recovery, check, counts.
//!
//! Each operation is a file and uses an index through snapshot and writer. The module `index`
//! itself does not depend on operations.

mod add_indexes;
mod check;
mod compact;
mod conflict;
mod distribution;
mod moved;
mod own_files;
mod purge;
mod recover;
mod retrain;
mod stats;
mod train;
mod transfer;
mod withdrawals;

pub use add_indexes::AddIndexesOptions;
pub use check::{CheckProgress, CheckReport};
pub use compact::Compacting;
pub use distribution::{DfBucket, DfDistribution, PASSAGE_TOKENS};
pub use recover::FoundSegment;
pub use train::{Texts, Training};
pub use transfer::{FileList, ListedFile, OpenCommit, Receiver};
