//! The documents with questions, in a temporary file between the two readings of a corpus.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};

use serde::{Deserialize, Serialize};

use cento::index::Document;
use cento::{Error, Result};
use cento_collections::decontaminate::{CommonWords, Finding};

/// A document where questions occur.
#[derive(Debug, Serialize, Deserialize)]
pub struct WithQuestions {
    /// The position of the document in the corpus.
    pub number: u64,
    /// The id of the document.
    pub id: String,
    /// The questions found in the document.
    pub findings: Vec<Finding>,
    /// The text of each passage, truncated to `PASSAGE_BYTES_MAX`.
    pub passages: Vec<String>,
}

impl WithQuestions {
    /// Tells whether a question occurs in the document, not only common words.
    pub fn is_contaminated(&self, common: &CommonWords<'_>) -> bool {
        self.findings.iter().any(|finding| !common.has(finding))
    }
}

/// Maximum number of bytes to show of a passage.
const PASSAGE_BYTES_MAX: usize = 2000;

/// A file of documents with questions, in their order.
pub struct Spool {
    out: BufWriter<File>,
}

/// Makes the error for a failure of the temporary file.
fn failed(error: impl Into<io::Error>) -> Error {
    Error::io("use", "a temporary file", error.into())
}

impl Spool {
    /// Creates an empty temporary file, which is removed at the end of the run.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn new() -> Result<Spool> {
        Ok(Spool { out: BufWriter::new(tempfile::tempfile().map_err(failed)?) })
    }

    /// Appends a document.
    ///
    /// # Errors
    /// When writing fails.
    pub fn add(&mut self, number: u64, document: &Document, findings: Vec<Finding>) -> Result<()> {
        let text = &document.text;
        let passage = |finding: &Finding| {
            let (start, end) = (finding.bytes.0 as usize, finding.bytes.1 as usize);
            let end = text.floor_char_boundary(end.min(start + PASSAGE_BYTES_MAX));
            text[start..end].to_owned()
        };
        let passages = findings.iter().map(passage).collect();
        let line = WithQuestions { number, id: document.id.clone(), findings, passages };
        serde_json::to_writer(&mut self.out, &line).map_err(failed)?;
        self.out.write_all(b"\n").map_err(failed)
    }

    /// Returns the documents from the first on.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&mut self) -> Result<impl Iterator<Item = Result<WithQuestions>> + use<>> {
        self.out.flush().map_err(failed)?;
        let mut file = self.out.get_ref().try_clone().map_err(failed)?;
        file.rewind().map_err(failed)?;
        let lines = BufReader::new(file).lines();
        Ok(lines.map(|line| serde_json::from_str(&line.map_err(failed)?).map_err(failed)))
    }
}
