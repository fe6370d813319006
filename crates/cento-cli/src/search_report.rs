//! The report of a search.

use std::collections::HashMap;

use cento::search::Answer;
use cento::{Analyzer, Error};
use cento_report::{MeasuredDocument, NotCompared, PartedText};

use super::output;

/// The query with its name for people.
pub struct Subject {
    /// The name: a path, an id.
    pub name: String,
    /// The query's text with its parts.
    pub text: PartedText,
}

/// Collects the answers of a run for the report, as far as the memory allows.
pub struct CollectedAnswers {
    /// The documents, in the order of the queries.
    pub searched: Vec<MeasuredDocument>,
    /// Documents and sources that the report omits or shows in part, with the reasons.
    pub left_out: Vec<NotCompared>,
    /// Cached texts of sources, because successive queries often share sources.
    texts: HashMap<String, Option<PartedText>>,
    held: usize,
    /// The memory, in bytes, for the collected answers.
    bytes_max: usize,
    /// Bytes in use, out of `bytes_max`.
    bytes: usize,
    /// The maximum number of hits that the user asked for.
    limit: Option<usize>,
}

/// Texts of sources are held up to this many bytes, and read again otherwise.
const HELD_BYTES_MAX: usize = 64 << 20;

/// How many times a document's text is in memory while the report is made: in parts, and with
/// markup.
const TEXT_TIMES: usize = 8;

/// How many times a source's text is in memory.
const SOURCE_TIMES: usize = 2;

/// Bytes of a passage besides the text, in the report and as markup.
const PASSAGE_BYTES: usize = 1024;

impl CollectedAnswers {
    /// Creates an empty collection of answers to searches with this limit. It may use this number
    /// of bytes.
    pub fn within(bytes_max: usize, limit: Option<usize>) -> CollectedAnswers {
        CollectedAnswers {
            searched: Vec::new(),
            left_out: Vec::new(),
            texts: HashMap::new(),
            held: 0,
            bytes_max,
            bytes: 0,
            limit,
        }
    }

    /// Adds an answer. `text_of` reads stored texts, and `analyzer` is the analyzer of the index.
    /// When the memory does not suffice for a source, the report omits the source and every later
    /// source.
    ///
    /// # Errors
    /// When a text cannot be read.
    pub fn add(
        &mut self,
        Subject { name, text }: Subject,
        answer: &Answer,
        mut text_of: impl FnMut(&str) -> cento::Result<Option<PartedText>>,
        analyzer: &Analyzer,
    ) -> cento::Result<()> {
        let own = text.len().saturating_mul(TEXT_TIMES);
        if !self.take(own) {
            self.note(name, "the report does not have it".into());
            return Ok(());
        }
        let (mut left_out, limit) = (0, self.limit);
        let mut passages = HashMap::new();
        for hit in &answer.hits {
            passages.insert(hit.id.as_str(), hit.passages.as_ref().map_or(0, Vec::len));
        }
        let held = |id: &str| {
            let text = if left_out > 0 { None } else { self.text(id, &mut text_of)? };
            let bytes = text.as_ref().map_or(0, |text| text.len().saturating_mul(SOURCE_TIMES));
            let places = passages.get(id).map_or(0, |count| count * PASSAGE_BYTES);
            if left_out == 0 && self.take(bytes.saturating_add(places)) {
                return Ok(text);
            }
            left_out += 1;
            Ok(None)
        };
        let mut searched = MeasuredDocument::new(name, text, answer, held, analyzer, limit)?;
        if left_out > 0 {
            let with_passages = searched.sources.iter().filter(|found| !found.passages.is_empty());
            let kept = with_passages.count() - left_out;
            let mut number = 0;
            searched.sources.retain(|found| {
                number += usize::from(!found.passages.is_empty());
                number <= kept
            });
            searched.more = true;
            let sources = output::counted(left_out as u64, "source");
            self.note(searched.name.clone(), format!("the report lacks the last {sources} of it"));
        }
        self.searched.push(searched);
        Ok(())
    }

    /// Reserves `bytes` of the memory, and returns whether they were available.
    fn take(&mut self, bytes: usize) -> bool {
        let taken = self.bytes.saturating_add(bytes);
        let fits = taken <= self.bytes_max;
        if fits {
            self.bytes = taken;
        }
        fits
    }

    fn note(&mut self, name: String, what: String) {
        let max = output::bytes(self.bytes_max as u64);
        let reason = format!(
            "{what}, because half of --memory, {max}, does not suffice for it; raise it, lower \
             --limit, or search for fewer texts at a time"
        );
        self.left_out.push(NotCompared::new(name, reason));
    }

    fn text(
        &mut self,
        id: &str,
        text_of: &mut impl FnMut(&str) -> cento::Result<Option<PartedText>>,
    ) -> cento::Result<Option<PartedText>> {
        if let Some(text) = self.texts.get(id) {
            return Ok(text.clone());
        }
        let text = text_of(id)?;
        let held_max = HELD_BYTES_MAX.min(self.bytes_max / 4);
        self.held += text.as_ref().map_or(0, |text| text.len());
        if self.held > held_max {
            self.texts.clear();
            self.held = text.as_ref().map_or(0, |text| text.len());
        }
        self.texts.insert(id.to_owned(), text.clone());
        Ok(text)
    }
}

/// Makes the error when there is no text to show.
pub fn without_text(name: &str) -> Error {
    let what = "its text is not stored, and a report shows it; search with the file instead, or \
                without --report";
    Error::input(name, what)
}
