//! The rows of Arrow data that a deduplication keeps, as Arrow data.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields, SchemaRef};
use cento::Error;
use cento_collections::dedup::Verdict;
use pyo3::prelude::*;

use crate::dedup::{Dedup, DocumentDecision};
use crate::entry::Refusal;
use crate::error::{Failure, refused};
use crate::stream::{RefusedRows, RowFate, RowSource, Stream, columns_with, staying};

/// The column of verdicts, as `cento dedup --annotate` writes it to Parquet.
const ANNOTATION: &str = "dedup";

/// The rows that stay of a run.
struct KeptRows {
    run: Py<Dedup>,
    schema: SchemaRef,
    /// The column of the texts.
    text: String,
    annotates: bool,
    /// Whether rows that are not documents get a verdict with a reason.
    skips: bool,
    refused: Mutex<RefusedRows>,
}

/// Makes a stream of the rows that stay of a run; with `annotates`, of all, with their verdicts.
#[pyfunction]
pub fn kept_rows(py: Python<'_>, run: Py<Dedup>, annotates: bool, skips: bool) -> PyResult<Stream> {
    let Some(schema) = run.get().schema(py)? else {
        let what = "there is no batch, so nothing says which columns there are; give a table or a \
                    reader, which know theirs";
        return Err(refused(what).into());
    };
    let text = run.get().text()?;
    let schema = columns_with(&schema, annotates.then(|| (ANNOTATION, members(skips))))?;
    let (own, refused) = (schema.clone(), Mutex::default());
    Ok(Stream::new(KeptRows { run, schema, text, annotates, skips, refused }, own))
}

impl RowSource for KeptRows {
    fn next(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        while let Some((batch, decided)) = self.run.get().batch(py)? {
            {
                let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
                let refusals = decided.iter().filter_map(|decided| decided.verdict.as_ref().err());
                refusals.for_each(|refusal| refused.add(refusal));
            }
            let fates: Vec<RowFate<'_>> = decided.iter().map(fate).collect();
            let verdicts = self.annotates.then(|| annotation(&decided, self.skips));
            let batch =
                py.detach(|| staying(&batch, &fates, &self.text, &self.schema, verdicts)).map_err(
                    |error| Failure(Error::input("the Arrow stream", error.to_string())),
                )?;
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn close(&self, py: Python<'_>) {
        self.run.get().close(py, true);
    }

    fn refused(&self) -> (u64, Vec<Refusal>) {
        let RefusedRows(count, first) =
            &*self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        (*count, first.clone())
    }

    fn call(&self) -> &'static str {
        "dedup_arrow"
    }
}

fn fate(decided: &DocumentDecision) -> RowFate<'_> {
    let is_kept = decided.verdict.as_ref().is_ok_and(Verdict::is_kept);
    RowFate { is_kept, text: decided.text.as_deref(), parts: &decided.parts }
}

fn members(skips: bool) -> Fields {
    let text = |name: &str, is_first: bool| Field::new(name, DataType::Utf8, !is_first);
    let share = |name: &str| Field::new(name, DataType::Float64, true);
    let (resemblance, containment) = (share("resemblance"), share("containment"));
    let (of, kept_as, reason) = (text("of", false), text("kept_as", false), text("reason", false));
    let mut members = vec![text("verdict", true), of, resemblance, containment, kept_as];
    members.extend(skips.then_some(reason));
    members.into()
}

/// Makes the column of verdicts.
fn annotation(decided: &[DocumentDecision], skips: bool) -> ArrayRef {
    let each = || decided.iter().map(|decided| decided.verdict.as_ref().ok());
    let kind = |verdict: Option<&Verdict>| verdict.map_or("failed", Verdict::kind);
    let reasons = decided.iter().map(|decided| decided.verdict.as_ref().err());
    let reasons = reasons.map(|refusal| refusal.map(|refusal| refusal.reason.clone()));
    let of = |verdict: &Verdict| match verdict {
        Verdict::Exact { of, .. }
        | Verdict::Near { of, .. }
        | Verdict::Contained { of, .. }
        | Verdict::Withdrawn { of, .. } => Some(of.clone()),
        _ => None,
    };
    let resemblance = |verdict: &Verdict| match verdict {
        Verdict::Near { resemblance, .. } => Some(*resemblance),
        _ => None,
    };
    let containment = |verdict: &Verdict| match verdict {
        Verdict::Contained { containment, .. } => Some(*containment),
        _ => None,
    };
    let kept_as = |verdict: &Verdict| match verdict {
        Verdict::Kept { kept_as, .. } | Verdict::Unchanged { kept_as, .. } => kept_as.clone(),
        _ => None,
    };
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(each().map(kind))),
        Arc::new(StringArray::from_iter(each().map(|verdict| verdict.and_then(of)))),
        Arc::new(Float64Array::from_iter(each().map(|verdict| verdict.and_then(resemblance)))),
        Arc::new(Float64Array::from_iter(each().map(|verdict| verdict.and_then(containment)))),
        Arc::new(StringArray::from_iter(each().map(|verdict| verdict.and_then(kept_as)))),
    ];
    if skips {
        columns.push(Arc::new(StringArray::from_iter(reasons)));
    }
    Arc::new(StructArray::new(members(skips), columns, None))
}
