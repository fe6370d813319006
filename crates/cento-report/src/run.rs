//! The run that produced a report.

use std::collections::BTreeMap;

use cento::Analyzer;
use serde::Serialize;
use serde_json::{Map, Value};

/// The origin of the numbers of a report, shown at its foot.
///
/// ```
/// use cento_report::Run;
///
/// let run = Run::new("search").with("min_containment", 0.3);
/// assert_eq!(run.parameters["min_containment"], "0.3");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The title, or `None` for the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The action, such as `search`.
    pub action: String,
    /// The options that affect the results, by name.
    pub parameters: BTreeMap<String, String>,
    /// The state of the searched index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexState>,
    /// Whether the documents are programs, which are shown line by line.
    #[serde(skip)]
    pub is_code: bool,
    /// The date of the report as shown to the reader. The caller supplies it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The version of cento.
    pub version: &'static str,
    /// For each option that names inputs, the replacement in a report without names.
    #[serde(skip)]
    pub unnamed: BTreeMap<String, String>,
}

/// The state of a searched index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexState {
    /// The location: a directory, or the address of a service.
    pub place: String,
    /// The number of the commit, in decimal digits, because many readers of JSON round large
    /// numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<String>,
    /// The number of documents.
    pub documents: u64,
}

impl Run {
    /// Creates a run without options.
    #[must_use]
    pub fn new(action: impl Into<String>) -> Run {
        Run { action: action.into(), version: env!("CARGO_PKG_VERSION"), ..Run::default() }
    }

    /// Records how documents were analyzed, which decides how they are shown.
    #[must_use]
    pub fn analyzed_by(self, analyzer: &Analyzer) -> Run {
        Run { is_code: analyzer.spec().name() == "code", ..self }
    }

    /// Adds the options that differ from their defaults, by the names that programs use.
    #[must_use]
    pub fn with_options<T: Serialize + Default>(self, options: &T) -> Run {
        let defaults = fields(&T::default());
        let is_default = |(name, value): &(String, Value)| defaults.get(name) == Some(value);
        fields(options).into_iter().filter(|field| !is_default(field)).fold(
            self,
            |run, (name, value)| match value {
                Value::String(text) => run.with(name, text),
                Value::Bool(true) => run.with(name, "yes"),
                value => run.with(name, value),
            },
        )
    }

    /// Adds an option, or replaces its value.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl ToString) -> Run {
        self.parameters.insert(name.into(), value.to_string());
        self
    }

    /// Adds an option whose value names inputs, and its replacement in a report without names.
    #[must_use]
    pub fn with_names(
        mut self,
        name: impl Into<String>,
        value: impl ToString,
        unnamed: impl ToString,
    ) -> Run {
        let name = name.into();
        self.unnamed.insert(name.clone(), unnamed.to_string());
        self.with(name, value)
    }

    pub(crate) fn without_names(mut self) -> Run {
        self.parameters.extend(std::mem::take(&mut self.unnamed));
        if let Some(index) = &mut self.index {
            index.place = "an index".into();
        }
        self
    }
}

/// Returns the fields of options; empty if the options are not an object.
fn fields(options: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::search::{Goal, SearchOptions, Thresholds};

    #[test]
    fn the_foot_names_all_options_that_are_not_the_defaults_and_no_others() {
        let options = SearchOptions::default().limit(5).goal(Goal::Trace).counts_only(true);
        let thresholds = Thresholds::default().min_overlap(3).min_containment(0.5);
        let run = Run::new("search").with_options(&options).with_options(&thresholds);
        let named: Vec<(&str, &str)> =
            run.parameters.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(
            named,
            [
                ("counts_only", "yes"),
                ("goal", "trace"),
                ("limit", "5"),
                ("min_containment", "0.5"),
                ("min_overlap", "3"),
            ]
        );
    }
}
