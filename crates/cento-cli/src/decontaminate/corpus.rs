//! The second reading of a corpus, which writes the corpus without the questions.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::spool::WithQuestions;
use crate::dedup::record::{annotated, json, record, selection, with_text, write_record};
use crate::dedup::tables::TableFiles;
use crate::outfile::NewFile;
use cento::hash::Digest;
use cento::index::Document;
use cento::{Error, Result, Stop};
use cento_collections::decontaminate::{Benchmarks, CommonWords, Finding, Scratch};
use cento_collections::has_words;
use cento_source::{Annotation, Selection, TableForm, TextField};

/// What becomes of documents with questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// Contaminated documents are dropped.
    Drop,
    /// The passages with questions are cut out, and documents with fewer words left are left out.
    Cut {
        /// The least number of words, at least 1.
        min_left: usize,
    },
    /// Every document is kept and gets a verdict.
    Annotate,
}

/// The destination of documents.
pub enum Out {
    /// A file of lines, or the rows of a table if a table form is given.
    Lines(Box<NewFile>, Option<TableForm>),
    /// Rows of Parquet files.
    Tables(Box<TableFiles>),
}

/// Counts of documents by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeCounts {
    /// Written, completely or in part.
    pub kept: u64,
    /// Dropped because of questions in the text.
    pub dropped: u64,
    /// The part of `kept` that lost passages.
    pub cut: u64,
}

/// The corpus to write.
pub struct Corpus<'a> {
    pub out: Out,
    pub treatment: Treatment,
    pub text_field: &'a TextField,
    pub benchmarks: &'a Benchmarks,
    /// Common words of questions, which stay in the text.
    pub common: &'a CommonWords<'a>,
    pub scratch: Scratch,
    pub stop: &'a Stop,
    pub written: OutcomeCounts,
    pub read: CorpusDigest,
}

/// Identifies the documents of a corpus, in the order in which they were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CorpusDigest {
    pub documents: u64,
    pub digest: Digest,
}

/// The verdict on a document as written in the annotation.
#[derive(Serialize)]
struct VerdictNote<'a> {
    verdict: &'static str,
    /// The question with the greatest share in the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    benchmark: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    /// The number of questions. A question may have several passages.
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<usize>,
    /// The bytes of their passages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passages: Vec<(u32, u32)>,
}

impl Corpus<'_> {
    /// Writes a document as the options say, given the questions found in the first reading.
    ///
    /// # Errors
    /// When writing fails, or the document changed since the first reading.
    pub fn write(&mut self, document: &Document, found: Option<&WithQuestions>) -> Result<()> {
        let CorpusDigest { documents, digest } = self.read;
        let parts = [&digest.to_le_bytes()[..], document.id.as_bytes(), document.text.as_bytes()];
        self.read = CorpusDigest { documents: documents + 1, digest: Digest::of_parts(&parts) };
        if found.is_some_and(|found| found.id != document.id || !fits(found, &document.text)) {
            return Err(changed());
        }
        let findings = found.map(|found| &*found.findings).unwrap_or_default();
        let (common, own): (Vec<&Finding>, Vec<&Finding>) =
            findings.iter().partition(|finding| self.common.has(finding));
        let is_cut = |finding: &Finding| !self.common.has(finding);
        let cut_text = match self.treatment {
            Treatment::Cut { min_left } if !own.is_empty() => {
                let rest =
                    self.benchmarks.cut_out(document, is_cut, &mut self.scratch, self.stop)?;
                rest.filter(|(text, _)| has_words(text, min_left))
            }
            _ => None,
        };
        let is_kept = own.is_empty() || cut_text.is_some() || self.treatment == Treatment::Annotate;
        let annotation = (self.treatment == Treatment::Annotate)
            .then(|| verdict(self.benchmarks, &own, &common));
        self.written.kept += u64::from(is_kept);
        self.written.dropped += u64::from(!is_kept);
        self.written.cut += u64::from(cut_text.is_some());
        match &mut self.out {
            Out::Lines(..) if !is_kept => {}
            Out::Lines(out, form) => {
                let line = match (&annotation, &cut_text) {
                    (Some(verdict), _) => {
                        annotated(document, Annotation::Decontaminate, verdict)?.into()
                    }
                    (None, Some((text, parts))) => {
                        with_text(document, text, parts, self.text_field)?.into()
                    }
                    (None, None) => record(document),
                };
                let written = write_record(out, form.as_ref(), &line);
                written.map_err(|e| out.failed(e))?;
            }
            Out::Tables(tables) => {
                let annotation = annotation.map(|verdict| json(&verdict));
                let text = cut_text.as_ref().map(|(text, _)| text.as_str());
                let selection = selection(annotation.as_deref(), text, is_kept);
                tables.select(document.record.as_deref().unwrap_or_default(), selection)?;
            }
        }
        Ok(())
    }

    /// Leaves out a record that is no document.
    ///
    /// # Errors
    /// When a Parquet file could not be read, and so not be copied.
    pub fn refuse(&mut self, error: &Error) -> Result<()> {
        let Out::Tables(tables) = &mut self.out else { return Ok(()) };
        match error {
            Error::Input { place, .. } if !tables.is_input(place) => {
                tables.select(place, Selection::Dropped)
            }
            _ => {
                let what = "a Parquet file could not be read, and so not be copied";
                Err(Error::input("the output", what))
            }
        }
    }

    /// Completes the output, if the documents equal the searched documents.
    ///
    /// # Errors
    /// When writing fails, or the corpus changed between the two readings.
    pub fn finish(self, searched: CorpusDigest) -> Result<OutcomeCounts> {
        if self.read != searched {
            return Err(changed());
        }
        match self.out {
            Out::Lines(out, _) => out.finish()?,
            Out::Tables(mut tables) => tables.finish()?,
        }
        Ok(self.written)
    }
}

/// Returns the verdict on a document from its questions and common words.
fn verdict<'a>(
    benchmarks: &'a Benchmarks,
    own: &[&Finding],
    common: &[&Finding],
) -> VerdictNote<'a> {
    let (verdict, findings) = match (own, common) {
        ([], []) => ("clean", own),
        ([], _) => ("common", common),
        _ => ("contaminated", own),
    };
    // Of equal shares the first.
    let best = findings.iter().rev().max_by(|a, b| a.share.total_cmp(&b.share));
    let question = best.map(|finding| &benchmarks.questions()[finding.question]);
    VerdictNote {
        verdict,
        benchmark: question.map(|question| &*question.benchmark),
        question: question.map(|question| &*question.id),
        share: best.map(|finding| finding.share),
        questions: best.map(|_| findings.chunk_by(|a, b| a.question == b.question).count()),
        passages: findings.iter().map(|finding| finding.bytes).collect(),
    }
}

fn changed() -> Error {
    let what = "it was changed while it was read; start again when nothing writes to it";
    Error::input("the corpus", what)
}

/// Tells whether the passages are places of a text.
fn fits(found: &WithQuestions, text: &str) -> bool {
    found.findings.iter().all(|f| text.get(f.bytes.0 as usize..f.bytes.1 as usize).is_some())
}

/// Creates the file of lines, with the head of a table.
///
/// # Errors
/// When it cannot be written.
pub fn lines(path: &Path, form: Option<TableForm>) -> Result<Out> {
    let mut out = NewFile::create(path)?;
    if let Some(form) = &form {
        write!(out, "{}", form.head()).map_err(|e| out.failed(e))?;
    }
    Ok(Out::Lines(Box::new(out), form))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento_collections::decontaminate::{DecontaminateOptions, Tally};

    fn document(id: &str, text: &str) -> Document {
        Document::new(id, text)
    }

    #[test]
    fn a_corpus_that_was_changed_meanwhile_is_not_written() {
        let question = "a question of nine words that occurs in one text";
        let questions = vec![cento_collections::decontaminate::Question {
            text: question.into(),
            ..Default::default()
        }];
        let options = DecontaminateOptions::default();
        let benchmarks = Benchmarks::new(questions, &options, Stop::NEVER).unwrap();
        let first = [document("a", question), document("b", "other words")];
        let mut tally = Tally::new(&benchmarks);
        first.iter().for_each(|document| tally.add(&document.id, &document.text, &[]));
        let searched = CorpusDigest { documents: tally.documents(), digest: tally.digest() };
        let common = tally.common(&benchmarks, &options);
        let findings = benchmarks.findings(question, &mut Scratch::default(), Stop::NEVER).unwrap();
        let found =
            WithQuestions { number: 0, id: "a".into(), findings, passages: vec![question.into()] };
        let dir = tempfile::tempdir().unwrap();
        let check = |name: &str, second: &[Document], is_same: bool| {
            let path = dir.path().join(name);
            let mut corpus = Corpus {
                out: lines(&path, None).unwrap(),
                treatment: Treatment::Drop,
                text_field: &"text".into(),
                benchmarks: &benchmarks,
                common: &common,
                scratch: Scratch::default(),
                stop: Stop::NEVER,
                written: OutcomeCounts::default(),
                read: CorpusDigest::default(),
            };
            let written = second.iter().enumerate().try_for_each(|(number, document)| {
                corpus.write(document, (number == 0).then_some(&found))
            });
            let done = written.and_then(|()| corpus.finish(searched));
            assert_eq!(done.is_ok(), is_same, "{name}: {done:?}");
            assert_eq!(path.exists(), is_same, "{name}");
        };
        check("same", &first, true);
        check("text", &[first[0].clone(), document("b", "changed words")], false);
        check("fewer", &first[..1], false);
        check("id", &[document("c", question), first[1].clone()], false);
        check("shorter", &[document("a", "\u{e9}"), first[1].clone()], false);
    }
}
