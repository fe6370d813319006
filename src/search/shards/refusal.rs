//! Refuses queries that several indexes cannot answer together.

use cento_api::Goal;

use super::super::query::{Query, Subject};
use super::super::trace::without_text;
use crate::error::{Error, Result};

/// Refuses a query that several indexes cannot answer together.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) with the name of the option.
pub fn check(query: &Query) -> Result<()> {
    query.check()?;
    let refused = |name: &'static str, what: &str| {
        Err(Error::argument(name, format!("a search over shards has no `{name}`: {what}")))
    };
    if let Subject::Id(_) = query.subject {
        return refused(
            "id",
            "search for the text of the document, and leave it out by exclude_id",
        );
    }
    match (query.options.goal, &query.subject) {
        (Goal::Trace, Subject::Signature { .. }) => return Err(without_text()),
        (Goal::Hits | Goal::Trace, _) => {}
        (Goal::Passage, _) => {
            let what = "the best passage is looked for in all texts together; search one index";
            return refused("goal", what);
        }
    }
    if query.options.budget.is_some() {
        return refused("budget", "which documents it leaves out depends on where they are stored");
    }
    if query.thresholds.min_weighted_resemblance.is_some() {
        let what = "it needs the frequencies of all fingerprints of each candidate; use \
                    min_weighted_containment";
        return refused("min_weighted_resemblance", what);
    }
    if query.passage_bytes_max.is_some() {
        return refused("passage_bytes_max", "limit the number of hits");
    }
    Ok(())
}
