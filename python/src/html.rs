//! HTML pages of answers and comparisons: the reports of `cento search` and `cento compare`.

use cento::{Analyzer, Answer, Error, Passage, Searcher, Subject};
use cento_api::Part;
use cento_report::{Counting, MeasuredDocument, PartedText, Place, ReuseReport, ReuseSource, Run};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::Map;

use crate::error::Failure;
use crate::offsets::stored;
use crate::run;

/// The texts that were searched for, and the index.
pub struct AskedSources {
    pub searcher: Searcher,
    pub subject: Subject,
    /// The parts of a text, if it has any.
    pub parts: Vec<Part>,
    /// The maximum number of hits that the caller asked for.
    pub limit: Option<usize>,
}

/// Makes the page of an answer with passages; `None` if the text of the query is unknown.
pub fn of_answer(asked: &AskedSources, answer: &Answer) -> cento::Result<Option<String>> {
    let AskedSources { searcher, subject, parts, limit } = asked;
    let snapshot = searcher.snapshot();
    let (name, text) = match subject {
        Subject::Text(text) => {
            let (text, parts) = (text.clone(), parts.clone());
            ("the text".to_owned(), PartedText { text, parts })
        }
        Subject::Id(id) => (id.clone(), stored(searcher, id)?),
        Subject::Signature { .. } => return Ok(None),
    };
    if text.is_empty() {
        return Ok(None);
    }
    let text_of = |id: &str| match snapshot.find(id)? {
        Some(address) => Ok(PartedText::of(snapshot.document(address)?)),
        None => Ok(None),
    };
    let analyzer = &snapshot.config().analyzer;
    let searched = MeasuredDocument::new(name, text, answer, text_of, analyzer, *limit)?;
    let config = snapshot.config();
    let run = Run::new("search").with("scheme", &config.scheme).with("analyzer", &config.analyzer);
    Ok(Some(ReuseReport::new(run, vec![searched], &[])?.html()))
}

/// The parts of a comparison of two texts as JSON that describe passages.
#[derive(Deserialize)]
struct Common {
    passages: Vec<Passage>,
    complete: bool,
}

/// Makes the page of a comparison of two texts, which is given as JSON with offsets in bytes.
#[pyfunction]
pub fn comparison_page(
    py: Python<'_>,
    a: &str,
    b: &str,
    line: &str,
    analyzer: &str,
) -> PyResult<String> {
    run::short(py, || {
        let Common { passages, complete } = serde_json::from_str(line)
            .map_err(|e| Error::internal("a comparison", e.to_string()))?;
        let passages = passages.into_iter().map(Place::of_pair).collect();
        let (id, text) = ("b".into(), Some(b.into()));
        let source = ReuseSource { id, text, meta: Map::new(), passages, complete };
        let (name, text) = ("a".into(), a.into());
        let tokens = analyzer.parse::<Analyzer>()?.program_tokens(a)?;
        let counting = Counting { tokens, ..Counting::default() };
        let sources = vec![source];
        let searched =
            MeasuredDocument { name, text, sources, counting, more: false, complete: true };
        let report = ReuseReport::new(Run::new("compare"), vec![searched], &[])?;
        Ok(report.html())
    })
}

/// Makes the page of an answer, if its query was kept.
pub fn page(
    py: Python<'_>,
    asked: Option<&AskedSources>,
    answer: &Answer,
) -> PyResult<Option<String>> {
    let Some(asked) = asked else { return Ok(None) };
    let made = py.detach(|| Error::catch("a report", || of_answer(asked, answer)));
    Ok(made.map_err(Failure)?)
}
