//! Offsets in characters of a `str` from offsets in bytes.

use cento::{Answer, Passage, Searcher, Subject, Unit};
use cento_report::PartedText;

/// The bytes of a text as code points, which index a `str` of Python.
pub struct CodePoints<'a> {
    text: &'a str,
    is_ascii: bool,
    /// The last requested byte and its code point. Counting continues there.
    last: (usize, usize),
}

impl<'a> CodePoints<'a> {
    /// Starts at the first byte of this text.
    pub fn new(text: &'a str) -> CodePoints<'a> {
        CodePoints { text, is_ascii: text.is_ascii(), last: (0, 0) }
    }

    /// Returns the number of code points before a byte, which begins one or is the end.
    pub fn at(&mut self, byte: u32) -> u32 {
        if self.is_ascii {
            return byte;
        }
        let byte = (byte as usize).min(self.text.len());
        let (from, count) = if byte >= self.last.0 { self.last } else { (0, 0) };
        let bytes = &self.text.as_bytes()[from..byte];
        let count = count + bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        self.last = (byte, count);
        count as u32
    }

    /// Converts a range of bytes to one of code points.
    pub fn range(&mut self, (start, end): (u32, u32)) -> (u32, u32) {
        (self.at(start), self.at(end))
    }
}

/// Counts passages in code points of both texts. Ranges of tokens stay unchanged.
pub fn convert(passages: &mut [Passage], a: &str, b: &str) {
    let (mut in_a, mut in_b) = (CodePoints::new(a), CodePoints::new(b));
    for passage in passages.iter_mut().filter(|passage| passage.unit == Unit::Bytes) {
        passage.a = in_a.range(passage.a);
        for range in &mut passage.matched_ranges {
            *range = in_a.range(*range);
        }
        passage.b = in_b.range(passage.b);
    }
}

/// Returns the text of a stored document, with its parts; empty if there is no such text.
pub fn stored(searcher: &Searcher, id: &str) -> cento::Result<PartedText> {
    let snapshot = searcher.snapshot();
    let Some(address) = snapshot.find(id)? else { return Ok(PartedText::default()) };
    Ok(PartedText::of(snapshot.document(address)?).unwrap_or_default())
}

/// Returns the answer with passages and spans in code points; `None` if it has neither.
pub fn of_answer(
    searcher: &Searcher,
    subject: &Subject,
    answer: &Answer,
) -> cento::Result<Option<Answer>> {
    let has_any = |passages: &Vec<Passage>| !passages.is_empty();
    let has_passages = answer.hits.iter().any(|hit| hit.passages.as_ref().is_some_and(has_any));
    if !has_passages && answer.trace.is_none() {
        return Ok(None);
    }
    let own;
    let query: &str = match subject {
        Subject::Text(text) => text,
        Subject::Id(id) => {
            own = stored(searcher, id)?;
            &own
        }
        Subject::Signature { .. } => "",
    };
    let mut answer = answer.clone();
    for hit in &mut answer.hits {
        if let Some(passages) = hit.passages.as_mut().filter(|passages| has_any(passages)) {
            convert(passages, query, &stored(searcher, &hit.id)?);
        }
    }
    let mut in_query = CodePoints::new(query);
    for span in answer.trace.iter_mut().flat_map(|trace| &mut trace.spans) {
        span.a = in_query.range(span.a);
        let carriers = [&mut span.best, &mut span.first].into_iter().chain(&mut span.others);
        for carrier in carriers.filter(|carrier| carrier.unit == Unit::Bytes) {
            let document = stored(searcher, &carrier.id)?;
            carrier.b = CodePoints::new(&document).range(carrier.b);
        }
    }
    Ok(Some(answer))
}
