//! Cuts questions out of documents.

use cento_api::Part;

use super::benchmarks::{Benchmarks, Scratch};
use super::finding::Finding;
use crate::cutting::{around, clean_cuts, cut_out, whole_letters};
use cento::index::Document;
use cento_api::error::Result;
use cento_text::runtime::Stop;

impl Benchmarks {
    /// Returns the text and the parts of a document without the passages of questions, or `None` if
    /// `is_cut` approves no finding. Marks, blanks and few words that belong to a passage are cut
    /// too.
    ///
    /// No approved finding remains. The text is searched again after each cut, because words that
    /// come together can form a question.
    ///
    /// ```
    /// use cento_collections::decontaminate::{Benchmarks, DecontaminateOptions, Question, Scratch};
    /// use cento::{Document, Stop};
    ///
    /// let text = "Which planet of the solar system has the most moons?".to_owned();
    /// let question = Question { text, ..Question::default() };
    /// let benchmarks =
    ///     Benchmarks::new(vec![question], &DecontaminateOptions::default(), Stop::NEVER)?;
    /// let page = "A quiz for you. Which planet of the solar system has the most moons? Write \
    ///             your answer down! Again: which planet of the solar system has the most moons?";
    /// let (document, mut scratch) = (Document::new("page", page), Scratch::default());
    /// let cut = benchmarks.cut_out(&document, |_| true, &mut scratch, Stop::NEVER)?;
    /// assert_eq!(cut.unwrap().0, "A quiz for you. Write your answer down!");
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the text is too large to be analyzed. [`Error::Cancelled`](cento::Error::Cancelled)
    /// soon after `stop`.
    pub fn cut_out(
        &self,
        document: &Document,
        is_cut: impl Fn(&Finding) -> bool,
        scratch: &mut Scratch,
        stop: &Stop,
    ) -> Result<Option<(String, Vec<Part>)>> {
        let mut rest: Option<Document> = None;
        for round in 0.. {
            let before = rest.as_ref().unwrap_or(document);
            let findings = self.findings(&before.text, scratch, stop)?;
            let found = findings.iter().filter(|finding| is_cut(finding));
            let passages = apart(found.map(|finding| finding.bytes), around(round), &before.text);
            let (text, parts) = cut_out(before, &clean_cuts(before, &passages));
            // The line feeds between parts stay, even if a passage includes them.
            if text.len() == before.text.len() {
                break;
            }
            rest = Some(Document { text, parts, ..Document::new("", "") });
        }
        Ok(rest.map(|rest| (rest.text, rest.parts)))
    }
}

/// Widens passages by `around` bytes on each side, and returns ascending, disjoint ranges of whole
/// letters.
fn apart(passages: impl Iterator<Item = (u32, u32)>, around: u32, text: &str) -> Vec<(u32, u32)> {
    let wider = |(start, end): (u32, u32)| {
        (start.saturating_sub(around), end.saturating_add(around).min(text.len() as u32))
    };
    let mut passages: Vec<(u32, u32)> = passages.map(wider).collect();
    passages.sort_unstable();
    let mut at = 0;
    for (start, end) in &mut passages {
        *start = (*start).max(at);
        *end = (*end).max(*start);
        at = *end;
    }
    whole_letters(text, &passages)
}
