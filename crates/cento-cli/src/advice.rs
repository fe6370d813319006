//! What a user can do about a file that is left out.

use cento_report::NotCompared;
use cento_source::advice;

/// Returns a reason, with the advice for a user of the command.
pub fn with_advice(reason: &str, advice: Option<&str>) -> String {
    advice.map_or_else(|| reason.to_owned(), |advice| format!("{reason}; {advice}"))
}

/// Returns the reason for leaving out a file, with the advice for that reason.
pub fn advised(why: &str) -> String {
    with_advice(why, advice(why))
}

/// Returns an input that is not compared because it is left out.
pub fn left_out(name: impl Into<String>, why: &str) -> NotCompared {
    NotCompared::new(name, advised(why))
}
