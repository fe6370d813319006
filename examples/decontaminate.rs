//! You train a model, and want to know which questions of a benchmark are in your training
//! documents. An index has the documents, and each question is a query.
//!
//! `cargo run --example decontaminate`

use std::path::Path;

use cento::{Config, Document, Index, Query, Result, Searcher, WriterOptions};

const TRAINING: [(&str, &str); 2] = [
    (
        "forum/17",
        "I found this one hard. A train leaves Vienna at nine and travels at eighty kilometres an \
         hour; a second one leaves Prague an hour later. When do they meet? My answer was noon.",
    ),
    (
        "forum/18",
        "Does anybody know a good recipe for bread without yeast that works in a small oven?",
    ),
];

const QUESTIONS: [(&str, &str); 2] = [
    (
        "q1",
        "A train leaves Vienna at nine and travels at eighty kilometres an hour; a second one \
         leaves Prague an hour later. When do they meet?",
    ),
    (
        "q2",
        "A farmer has seventeen sheep and all but nine run away in the night. How many sheep does \
         the farmer have left?",
    ),
];

/// Indexes the training documents, and returns each question with the documents that have eight of
/// ten of its runs of words.
pub fn contaminated(dir: &Path) -> Result<Vec<(&'static str, Vec<String>)>> {
    let index =
        Index::create(dir.join("training.idx"), Config::new("winnow(k=5,w=10)", "words", true)?)?;
    let mut writer = index.writer(WriterOptions::default())?;
    for (id, text) in TRAINING {
        writer.add(Document::new(id, text))?;
    }
    writer.finish()?;
    let searcher = Searcher::new(index.snapshot()?);
    let hits = |question: &str| -> Result<Vec<String>> {
        let answer = searcher.search(&Query::text(question).min_containment(0.8))?;
        Ok(answer.hits.into_iter().map(|hit| hit.id).collect())
    };
    QUESTIONS.into_iter().map(|(id, question)| Ok((id, hits(question)?))).collect()
}

/// Prints the questions that occur in the corpus.
pub fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    for (question, documents) in contaminated(dir.path())? {
        match documents.is_empty() {
            true => println!("{question}: clean"),
            false => println!("{question}: in {}", documents.join(", ")),
        }
    }
    Ok(())
}
