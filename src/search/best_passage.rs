//! The goal `passage`: the passage of all documents that is most like the query.
//!
//! Texts around shared fingerprints are cut out of the documents and compared ([`best`]).

use super::best::{self, Grams, Windows};
use super::extent::Extent;
use super::hit_details::HitDetails;
use super::memory::{self, QueryMemory};
use super::outcome::GoalOutcome;
use super::retrieve::Search;
use super::score::{self, Scored};
use super::shared::SharedFingerprints;
use crate::compare::align::breaks;
use crate::compare::passages::{self, Genre};
use crate::error::{Error, Result};
use crate::index::{DocAddress, StoredDocument};
use crate::runtime::Permit;
use crate::text::AnalyzedText;
use cento_api::CandidateTexts;

impl Search<'_> {
    /// Returns the document with the passage most like the query, and how many texts were
    /// considered.
    ///
    /// # Errors
    /// When the index or the query has no text, when the scheme does not winnow, or when a document
    /// cannot be read. [`Error::Cancelled`] soon after the query is stopped.
    pub fn best_passage(&self, mut documents: Vec<Scored>) -> Result<GoalOutcome> {
        let Search { searcher, query, subject, .. } = self;
        let snapshot = &searcher.snapshot;
        let windows = self.windows()?;
        let text = subject.text(snapshot, query)?.filter(|_| snapshot.config().store_text);
        let Some(text) = text else {
            return Err(refused(
                "the best passage is found by comparing texts, but the index or the query has no \
                 text",
            ));
        };
        let bytes = memory::of_tokens(subject.tokens);
        let room = memory::reserve(query.memory.as_ref(), 0, bytes, subject.tokens)?;
        let held = room.as_ref().map_or(0, Permit::bytes);
        // Unless the query is a stored document, its memory was reserved before the search.
        let stored = query.memory.as_ref().filter(|_| subject.address.is_some());
        let query_text = self.analyzed(text, subject.tokens, stored, held)?;
        // Among equal passages the smallest id wins, so that the answer does not depend on storage.
        score::name(snapshot, &mut documents, query.stop())?;
        documents.sort_unstable_by(|a, b| (&a.id, a.address).cmp(&(&b.id, b.address)));
        let texts = self.candidate_texts(&documents, windows, held)?;
        let all = texts.len();
        let grams = Grams::new(&query_text.tokens.hashes, windows.q, query.stop())?;
        let mut hashes_of =
            |at: usize| Ok(self.document(documents[at].address, held)?.tokens.hashes);
        let found = best::best(texts, &grams, &mut hashes_of, query.stop())?;
        let Some(found) = found else {
            return Ok(outcome(Vec::new(), CandidateTexts { texts: all, calculated: 0 }));
        };
        let best = documents.swap_remove(found.candidate.document);
        let document = self.document(best.address, held)?;
        let of_text = found.candidate.tokens.start;
        let narrowed = grams.narrowed(&document.tokens.hashes[found.candidate.tokens.clone()]);
        let tokens = of_text + narrowed.start..of_text + narrowed.end;
        let of_hit = &document.tokens.hashes[tokens.clone()];
        let matched = grams.matched(&query_text.tokens.hashes, of_hit, query.stop())?;
        let genre = Genre::of(&snapshot.config().analyzer);
        let (own, other) = (query_text.side(), document.side());
        let passages = passages::of_place(matched, tokens, own, other, genre);
        let hits = self.hits_of(vec![HitDetails::new(best, None, None, Some(passages))])?;
        Ok(outcome(hits, CandidateTexts { texts: all, calculated: found.calculated }))
    }

    /// Returns the windows of the scheme.
    fn windows(&self) -> Result<Windows> {
        let scheme = &self.searcher.snapshot.config().scheme;
        let windows = scheme.run_tokens().zip(scheme.window()).map(|(q, w)| Windows { q, w });
        windows.ok_or_else(|| {
            refused("only a winnowing scheme, such as winnow(k,w), can find the best passage")
        })
    }

    /// Returns the texts around the shared fingerprints of the documents. A text stays within a
    /// part of its document. `held` bytes have been reserved before.
    fn candidate_texts(
        &self,
        documents: &[Scored],
        windows: Windows,
        held: usize,
    ) -> Result<Vec<best::Candidate>> {
        let Search { searcher, query, subject, .. } = self;
        let snapshot = &searcher.snapshot;
        let mut shared = SharedFingerprints::within(query.memory.as_ref());
        let mut texts = Vec::new();
        for (at, document) in documents.iter().enumerate() {
            let address = document.address;
            shared.read(snapshot, (&subject.keys, &[]), address, query.stop())?;
            let positions: Vec<u32> = shared.occurrences().iter().map(|found| found.1).collect();
            let len = snapshot.segment(address).signatures.document(address.doc)?.tokens;
            let found = best::candidates(at, &positions, len as usize, windows);
            if found.is_empty() || snapshot.parts(address)?.is_empty() {
                texts.extend(found);
                continue;
            }
            let breaks = breaks(self.document(address, held)?.side());
            texts.extend(found.into_iter().flat_map(|text| best::within_parts(text, &breaks)));
        }
        Ok(texts)
    }

    /// Reads and analyzes a stored document. `held` bytes have been reserved before.
    fn document(&self, address: DocAddress, held: usize) -> Result<AnalyzedText> {
        let Search { searcher, query, .. } = self;
        let snapshot = &searcher.snapshot;
        let signed = snapshot.segment(address).signatures.document(address.doc)?;
        let bytes = memory::of_tokens(signed.tokens);
        let memory = query.memory.as_ref();
        let _room = memory::reserve(memory, held, bytes, signed.tokens)?;
        let StoredDocument { text, parts, .. } = snapshot.document(address)?;
        let text = text.unwrap_or_default();
        let document = self.analyzed(text, signed.tokens, memory, held.saturating_add(bytes))?;
        Ok(document.with_parts(parts))
    }

    fn analyzed(
        &self,
        text: String,
        tokens: u32,
        room: Option<&QueryMemory>,
        held: usize,
    ) -> Result<AnalyzedText> {
        let analyzer = &self.searcher.snapshot.config().analyzer;
        let _scratch = memory::reserve_scratch(room, held, analyzer, text.len())?;
        AnalyzedText::with_room(text, tokens, analyzer, self.query.stop())
    }
}

fn refused(what: &str) -> Error {
    Error::argument("goal", what)
}

fn outcome(hits: Vec<super::Hit>, candidates: CandidateTexts) -> GoalOutcome {
    let extent = Extent { more: false, total: Some(hits.len()) };
    GoalOutcome { candidates: Some(candidates), ..GoalOutcome::new(hits, extent) }
}

#[cfg(test)]
mod tests {
    use crate::index::{Config, Document, Index, WriterOptions};
    use crate::search::{Goal, Query, Searcher};

    #[test]
    fn the_best_passage_of_a_copied_sentence_is_that_sentence() {
        let index = Index::in_memory(Config::new("winnow", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        let words = |range: std::ops::Range<u32>| -> String {
            range.map(|word| format!("word{word} ")).collect()
        };
        writer.add(Document::new("doc", words(0..80))).unwrap();
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let answer = searcher.search(&Query::text(words(30..51)).goal(Goal::Passage)).unwrap();
        let passage = &answer.hits[0].passages.as_deref().unwrap()[0];
        let (start, end) = (words(0..30).len() as u32, words(0..51).trim_end().len() as u32);
        assert_eq!((passage.b, passage.tokens, passage.matched), ((start, end), 21, 21));
    }

    #[test]
    fn the_place_in_the_query_is_that_of_the_runs_that_the_hit_has_too() {
        // The place was once the whole query, including words that only the query has.
        let index = Index::in_memory(Config::new("winnow", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        let words = |kind: &str, range: std::ops::Range<u32>| -> String {
            range.map(|word| format!("{kind}{word} ")).collect()
        };
        writer.add(Document::new("doc", words("word", 0..80))).unwrap();
        writer.finish().unwrap();
        let (before, copied) = (words("own", 0..70), words("word", 30..60));
        let query = format!("{before}{copied}{}", words("other", 0..90));
        let searcher = Searcher::new(index.snapshot().unwrap());
        let answer = searcher.search(&Query::text(query).goal(Goal::Passage)).unwrap();
        let passage = &answer.hits[0].passages.as_deref().unwrap()[0];
        let start = before.len() as u32;
        assert_eq!(passage.a, (start, start + copied.trim_end().len() as u32));
        assert_eq!((passage.tokens, passage.matched, passage.similarity), (30, 30, 1.0));
    }

    #[test]
    fn the_best_passage_is_within_a_part() {
        let config = Config::new("winnow(k=3,w=4)", "words", true).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false)).unwrap();
        let words = |range: std::ops::Range<u32>| -> String {
            range.map(|word| format!("word{word} ")).collect()
        };
        // The query matches the end of one part and the beginning of the next.
        let parts = [("a", words(100..160) + &words(0..20)), ("b", words(20..50))];
        writer.add(Document::of_parts("parted", parts.clone())).unwrap();
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let answer = searcher.search(&Query::text(words(0..50)).goal(Goal::Passage)).unwrap();
        let [hit] = &answer.hits[..] else { panic!("{:?}", answer.hits) };
        let [passage] = hit.passages.as_deref().unwrap() else { panic!("{hit:?}") };
        assert_eq!(passage.b_part.as_deref(), Some("b"));
        let start = parts[0].1.len() as u32 + 1;
        assert!(passage.b.0 >= start, "{passage:?}");
    }
}
