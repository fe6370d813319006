//! Withdraws documents from an index.

use cento::index::{Document, Index, WriterOptions};
use cento::{Result, Stop};
use cento_collections::withdraw::{Plan, WithdrawOptions, Withdrawal};

use super::config;

/// Options for a writer without merges.
pub fn options() -> WriterOptions {
    WriterOptions::default().merge(false)
}

/// Withdraws a document, and compares the result with the plan.
pub fn withdraw(index: &Index, id: &str, options: &WithdrawOptions) -> Result<Withdrawal> {
    let mut writer = index.writer(self::options())?;
    let plan = Plan::new(writer.committed()?, id, options, &Stop::default())?;
    let planned = plan.withdrawal().clone();
    let done = plan.apply(&mut writer, &Stop::default())?;
    assert_eq!(Withdrawal { withdrawn: planned.withdrawn.clone(), ..done.clone() }, planned);
    Ok(done)
}

/// Adds documents in separate segments, at different times.
pub fn fill(index: &Index, documents: &[(&str, &str)]) {
    let mut writer = index.writer(options()).unwrap();
    for (id, text) in documents {
        writer.add(Document::new(*id, *text)).unwrap();
        writer.commit().unwrap();
    }
}

/// Returns an index of these documents.
pub fn in_memory(documents: &[(&str, &str)]) -> Index {
    let index = Index::in_memory(config()).unwrap();
    fill(&index, documents);
    index
}
