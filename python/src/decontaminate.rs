//! Questions of benchmarks in texts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cento::{Error, Result};
use cento_collections::decontaminate::{
    Benchmarks as Questions, CarriedWords, CarrierCounts, CommonWords, DecontaminateOptions,
    Finding, Question, Scratch, WordCarriers,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::convert::{text_of, to_json};
use crate::offsets::CodePoints;
use crate::query::Options;
use crate::run;

/// The questions of benchmarks, ready to be found.
#[pyclass(frozen, module = "cento._native")]
pub struct Benchmarks {
    pub questions: Questions,
    options: DecontaminateOptions,
}

/// Whether the words of a finding are common, its own share, and the documents with the words.
type Verdict = (bool, f64, u64);

/// The words of a question that a document has: the number of the question, the surroundings, and a
/// bit for each token.
type WordTuple<'py> = (usize, u32, Bound<'py, PyBytes>);

/// The number of documents of a corpus, and for each question with words in them its number, how
/// many they are, and by token how many unrelated ones: numbers of 4 bytes, the lowest first, to
/// which zeros may be added.
pub type CountTuples = (u64, Vec<(usize, u64, PyBackedBytes)>);

/// A benchmark, the id of a question, the question, its answer.
type QuestionTuple = (String, String, String, Option<String>);

#[pymethods]
impl Benchmarks {
    #[new]
    fn new(
        py: Python<'_>,
        questions: Vec<QuestionTuple>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Benchmarks> {
        let options: DecontaminateOptions = Options(options).read(&[])?;
        let question = |(benchmark, id, text, answer)| Question { benchmark, id, text, answer };
        let questions = questions.into_iter().map(question).collect();
        let questions = run::long(py, |stop| Questions::new(questions, &options, stop))?;
        Ok(Benchmarks { questions, options })
    }

    /// Returns the reason why the question of this number is not searched for, if it is not.
    fn unusable(&self, question: usize) -> Option<&'static str> {
        self.questions.unusable(question).map(cento_collections::decontaminate::Unusable::why)
    }

    /// Returns the words of questions that each document has, whose findings are in JSON.
    fn carried_words<'py>(
        &self,
        py: Python<'py>,
        documents: Vec<String>,
    ) -> PyResult<Vec<WordTuple<'py>>> {
        let documents = run::long(py, |_| findings_of(&documents))?;
        let words = documents.iter().flat_map(|of| CarriedWords::all(&self.questions, of));
        let tuple = |of: CarriedWords| (of.question, of.surroundings, PyBytes::new(py, &of.tokens));
        Ok(words.map(tuple).collect())
    }

    /// Returns the verdict on each finding of each document, whose findings are in JSON. These are
    /// all documents of the corpus, unless `counts` tells about all.
    #[pyo3(signature = (documents, counts = None))]
    fn weigh(
        &self,
        py: Python<'_>,
        documents: Vec<String>,
        counts: Option<CountTuples>,
    ) -> PyResult<Vec<Vec<Verdict>>> {
        run::long(py, |_| {
            let documents = findings_of(&documents)?;
            let common = match &counts {
                Some(counts) => self.common(&CorpusCounts::new(&self.questions, counts)?),
                None => {
                    let mut carriers = WordCarriers::new(&self.questions);
                    documents.iter().for_each(|findings| carriers.add(findings));
                    carriers.common(&self.questions, &self.options)
                }
            };
            let verdict = |finding: &Finding| {
                (common.has(finding), common.own_share(finding), common.carriers(finding))
            };
            Ok(documents.iter().map(|findings| findings.iter().map(verdict).collect()).collect())
        })
    }

    /// Returns the findings in each text, as JSON; places are in code points unless in bytes.
    fn findings(
        &self,
        py: Python<'_>,
        texts: Vec<Bound<'_, PyAny>>,
        threads: Option<usize>,
        as_bytes: bool,
    ) -> PyResult<Vec<String>> {
        let texts: Vec<&str> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| text_of(text, &format!("text {at}"), "text"))
            .collect::<PyResult<_>>()?;
        let threads = threads.unwrap_or_else(cento::available_threads);
        let mut found = run::long(py, |stop| {
            in_threads(&texts, threads, |text, scratch| {
                self.questions.findings(text, scratch, stop)
            })
        })?;
        for (findings, text) in found.iter_mut().zip(&texts).filter(|_| !as_bytes) {
            convert(findings, text);
        }
        found.iter().map(to_json).collect()
    }
}

impl Benchmarks {
    /// Returns the verdict on words of the questions, according to counts of a whole corpus.
    pub fn common(
        &self,
        CorpusCounts { documents, of_questions }: &CorpusCounts,
    ) -> CommonWords<'_> {
        CommonWords::new(&self.questions, &self.options, *documents, of_questions.clone())
    }
}

/// The counts of a whole corpus, for a process with a part of the corpus.
pub struct CorpusCounts {
    documents: u64,
    of_questions: Vec<CarrierCounts>,
}

impl CorpusCounts {
    /// Reads the counts of these questions.
    ///
    /// # Errors
    /// When they are counts of others.
    pub fn new(questions: &Questions, (documents, counts): &CountTuples) -> Result<CorpusCounts> {
        let mut of_questions = vec![CarrierCounts::default(); questions.questions().len()];
        for (number, documents, carriers) in counts {
            let Some(of) = of_questions.get_mut(*number) else {
                return Err(Error::argument("counts", "they are not of these questions"));
            };
            let (carriers, _) = carriers.as_chunks::<4>();
            let of_tokens = carriers.iter().take(questions.tokens(*number));
            let carriers = of_tokens.map(|bytes| u32::from_le_bytes(*bytes)).collect();
            *of = CarrierCounts { documents: *documents, carriers };
        }
        Ok(CorpusCounts { documents: *documents, of_questions })
    }
}

/// Reads the findings of each document from JSON.
fn findings_of(documents: &[String]) -> Result<Vec<Vec<Finding>>> {
    let read = |line: &String| {
        serde_json::from_str(line).map_err(|error| Error::argument("found", error.to_string()))
    };
    documents.iter().map(read).collect()
}

/// Does `work` on each item with this number of threads; returns the results in order.
pub fn in_threads<I: Sync, T: Send + Default + Clone>(
    items: &[I],
    threads: usize,
    work: impl Fn(&I, &mut Scratch) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(vec![T::default(); items.len()]);
    let work = || -> Result<()> {
        let mut scratch = Scratch::default();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return Ok(()) };
            let made = work(item, &mut scratch)?;
            done.lock().expect("no thread panics with it")[at] = made;
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.clamp(1, items.len().max(1)))
            .map(|_| scope.spawn(|| Error::catch("a search for questions", work)))
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().expect("it is caught"));
        ended.collect::<Vec<_>>().into_iter().collect::<Result<Vec<()>>>()
    })?;
    Ok(done.into_inner().expect("no thread panics with it"))
}

/// Counts the places of findings in code points.
fn convert(findings: &mut [Finding], text: &str) {
    let mut places = CodePoints::new(text);
    for finding in findings {
        finding.bytes = places.range(finding.bytes);
        if let Some(bytes) = finding.answer.as_mut().and_then(|answer| answer.bytes.as_mut()) {
            *bytes = places.range(*bytes);
        }
    }
}
