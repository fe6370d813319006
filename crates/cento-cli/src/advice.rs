//! Advice for the user about skipped files.

use cento_report::NotCompared;
use cento_source::advice;

/// Returns a reason, with the advice for a user of the command.
pub fn with_advice(reason: &str, advice: Option<&str>) -> String {
    advice.map_or_else(|| reason.to_owned(), |advice| format!("{reason}; {advice}"))
}

/// Returns the reason for skipping a file, with the advice for that reason.
pub fn advised(why: &str) -> String {
    with_advice(why, advice(why))
}

/// Makes the entry for an input that was skipped and therefore not compared.
pub fn left_out(name: impl Into<String>, why: &str) -> NotCompared {
    NotCompared::new(name, advised(why))
}
