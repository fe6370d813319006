//! The evidence of a hit in addition to its counts.
//!
//! Passages, and measures over whole texts, both need the stored text of the hit.

use std::ops::Range;
use std::sync::Arc;

use super::boilerplate::Boilerplate;
use super::chance::QueryInformation;
use super::memory::{self, QueryMemory};
use super::query::{Query, Subject};
use super::query_signature::QuerySignature;
use super::run_sets::RunMaker;
use super::searcher::Searcher;
use super::shared::SharedFingerprints;
use super::verify;
use crate::compare::align::breaks;
use crate::compare::measure::Measure;
use crate::compare::passages::{self, Genre, Passages, Prepared};
use crate::compare::runs::{Place, RunSet};
use crate::compare::{SharedKeys, TextPair};
use crate::error::{Error, Result};
use crate::index::{AnalyzedDocument, DocAddress, Snapshot, StoredDocument, TokenKind};
use crate::runtime::Permit;
use crate::runtime::Stop;
use crate::similarity::Similarity;
use crate::text::{AnalyzedText, Analyzer, Side, Tokens};
use cento_api::part::part_at_token;
use cento_api::{MAX_EXPECTED, Part, Passage, Verified};

/// Compares the query with its hits, text by text.
pub struct Evidence<'a> {
    searcher: &'a Searcher,
    snapshot: &'a Snapshot,
    /// Text that never belongs to a passage.
    boilerplate: Option<&'a Boilerplate>,
    subject: &'a QuerySignature,
    /// The text of the query, if it is known and the index stores texts to compare it with.
    text: Option<String>,
    /// The parts of the query. Empty for most queries.
    parts: Vec<Part>,
    tokens: Tokens,
    /// If passages and signatures use different tokens, because of the analyzer or boilerplate: the
    /// analyzer of passages, and the query in its tokens.
    whole_words: Option<(Analyzer, Tokens)>,
    measure: Option<Measure>,
    /// Makes the runs for similarity, if similarity is measured on texts.
    run_maker: Option<RunMaker>,
    /// The runs of the query, made on demand.
    runs: Option<RunSet>,
    needs_passages: bool,
    min_passage: Option<u32>,
    /// Passages expected more often than this by chance are dropped.
    max_expected: f64,
    /// The information of the query's tokens, computed on demand.
    information: QueryInformation,
    /// The prepared alignment of the query, made for the first passages.
    prepared: Option<Prepared>,
    stop: &'a Stop,
    shared: SharedFingerprints,
    /// The last document, which is first verified and then searched for passages.
    last: Option<LastBackground>,
    memory: Option<QueryMemory>,
    /// Permits for the tokens of the query.
    rooms: Vec<Permit>,
}

struct LastBackground {
    address: DocAddress,
    kind: TokenKind,
    document: Arc<AnalyzedDocument>,
    /// The permit for the tokens.
    room: Option<Permit>,
}

/// Counts the tokens of a text. This takes as long as analyzing, but no memory.
fn count(analyzer: &Analyzer, text: &str, stop: &Stop) -> Result<u32> {
    analyzer.for_each_part(text, &mut Vec::new(), &mut |_| {}, stop)
}

fn held_in<'a>(permits: impl IntoIterator<Item = &'a Permit>) -> usize {
    permits.into_iter().map(Permit::bytes).sum()
}

impl<'a> Evidence<'a> {
    /// Creates the evidence that `query` requests, if any.
    ///
    /// # Errors
    /// When verification is requested without texts, or the text of the query cannot be read.
    pub fn of(
        searcher: &'a Searcher,
        subject: &'a QuerySignature,
        query: &'a Query,
    ) -> Result<Option<Evidence<'a>>> {
        if !query.needs_passages() && query.options.verify.is_none() {
            return Ok(None);
        }
        let text = subject.text(searcher.snapshot(), query)?;
        Evidence::new(searcher, subject, query, text).map(Some)
    }

    /// Creates the evidence. `text` is the text of the query, if known.
    fn new(
        searcher: &'a Searcher,
        subject: &'a QuerySignature,
        query: &'a Query,
        text: Option<String>,
    ) -> Result<Evidence<'a>> {
        let snapshot = searcher.snapshot();
        let boilerplate = searcher.boilerplate().map(|boilerplate| &**boilerplate);
        let config = snapshot.config();
        let text = text.filter(|_| config.store_text);
        let parts =
            if query.needs_passages() { subject.parts(snapshot, query)? } else { Vec::new() };
        let mut tokens = Tokens::default();
        let mut rooms = Vec::new();
        let of_passages = config.analyzer.of_passages();
        let are_others = of_passages != config.analyzer || boilerplate.is_some();
        let mut whole_words =
            (are_others && query.needs_passages()).then(|| (of_passages, Tokens::default()));
        if let Some(text) = &text {
            let bytes = memory::of_query(subject.tokens);
            rooms.extend(memory::reserve(query.memory.as_ref(), 0, bytes, subject.tokens)?);
            // Unless the query is a stored document, its memory was reserved before the search.
            let stored = query.memory.as_ref().filter(|_| subject.address.is_some());
            let held = held_in(&rooms);
            let scratch = memory::reserve_scratch(stored, held, &config.analyzer, text.len())?;
            tokens = Tokens::with_room(subject.tokens, text);
            config.analyzer.analyze(text, &mut tokens, query.stop())?;
            if let Some((analyzer, tokens)) = &mut whole_words {
                let count = count(analyzer, text, query.stop())?;
                let held = held.saturating_add(held_in(&scratch));
                let bytes = memory::of_query(count);
                rooms.extend(memory::reserve(query.memory.as_ref(), held, bytes, count)?);
                *tokens = Tokens::with_room(count, text);
                analyzer.analyze(text, tokens, query.stop())?;
                if let Some(boilerplate) = boilerplate {
                    boilerplate.hide(text, tokens, Place::Query);
                }
            }
        } else if query.options.verify.is_some() {
            let what = "verification compares texts, but the index or the query has none; search \
                        without it";
            return Err(Error::argument("verify", what));
        }
        Ok(Evidence {
            searcher,
            snapshot,
            boilerplate,
            subject,
            text,
            parts,
            tokens,
            whole_words,
            measure: query.measure(&config.analyzer)?,
            run_maker: searcher.run_maker(),
            runs: None,
            needs_passages: query.needs_passages(),
            min_passage: query.options.min_passage,
            max_expected: query.options.max_expected.unwrap_or(MAX_EXPECTED),
            information: QueryInformation::default(),
            prepared: None,
            stop: query.stop(),
            shared: SharedFingerprints::within(query.memory.as_ref()),
            last: None,
            memory: query.memory.clone(),
            rooms,
        })
    }

    /// Returns the measured similarity of the document at `address`, if a measure was requested.
    ///
    /// # Errors
    /// When the document cannot be read.
    pub fn verify(&mut self, address: DocAddress) -> Result<Option<Verified>> {
        let Some(measure) = self.measure.clone() else { return Ok(None) };
        let document = self.document(address, TokenKind::Signed)?;
        let verified = |query| verify::verified(&measure, query, document.side(), self.stop);
        self.query(TokenKind::Signed).map(verified).transpose()
    }

    /// Returns the similarity of the query and the document at `address`, if the text of the
    /// document was the last one read. If passages use other tokens than signatures, the text is
    /// split once more.
    ///
    /// # Errors
    /// When the document cannot be read.
    pub fn similarity(&mut self, address: DocAddress) -> Result<Option<Similarity>> {
        let is_read = self.last.as_ref().is_some_and(|last| last.address == address);
        if !is_read || self.text.is_none() || self.run_maker.is_none() {
            return Ok(None);
        }
        let document = self.document(address, TokenKind::Signed)?;
        let (Some(maker), Some(text)) = (&self.run_maker, &self.text) else { return Ok(None) };
        let own = self.runs.get_or_insert_with(|| maker.of_tokens(text, &self.tokens));
        Ok(Some(Similarity::exact(maker.overlap(own, &document))))
    }

    /// Returns the tokens of the query that signatures use, if its text is known.
    pub fn signed(&self) -> Option<&Tokens> {
        self.query(TokenKind::Signed).map(|query| query.tokens)
    }

    /// Returns the words of the query that passages count, if its text is known.
    pub fn words(&self) -> Option<&Tokens> {
        self.query(TokenKind::OfPassages).map(|query| query.tokens)
    }

    /// Returns the query with these tokens, if its text is known.
    fn query(&self, kind: TokenKind) -> Option<Side<'_>> {
        let tokens = match (&self.whole_words, kind) {
            (Some((_, tokens)), TokenKind::OfPassages) => tokens,
            _ => &self.tokens,
        };
        self.text.as_deref().map(|text| Side { text, tokens, parts: &self.parts })
    }

    fn document(&mut self, address: DocAddress, kind: TokenKind) -> Result<Arc<AnalyzedDocument>> {
        // Both kinds are the same, unless the analyzer leaves words out or there is boilerplate.
        let kind = if self.whole_words.is_some() { kind } else { TokenKind::Signed };
        let is_last = |last: &&LastBackground| (last.address, last.kind) == (address, kind);
        if let Some(last) = self.last.as_ref().filter(is_last) {
            return Ok(last.document.clone());
        }
        // Free the memory of the last document first.
        self.last = None;
        // With boilerplate, tokens of passages depend on this searcher, so they cannot be shared.
        let is_kept = kind == TokenKind::Signed || self.boilerplate.is_none();
        let kept = is_kept.then(|| self.snapshot.kept_document(address, kind)).flatten();
        let (document, room) = match kept {
            Some(document) => {
                let room = self.room_for(address, kind, &document.text, |_| {
                    Ok(document.tokens.hashes.len() as u32)
                })?;
                (document, room.0)
            }
            None => self.read(address, kind)?,
        };
        self.last = Some(LastBackground { address, kind, document: document.clone(), room });
        Ok(document)
    }

    /// Reads a document, splits its text into tokens, and caches it for later queries.
    fn read(
        &self,
        address: DocAddress,
        kind: TokenKind,
    ) -> Result<(Arc<AnalyzedDocument>, Option<Permit>)> {
        let StoredDocument { text, parts, .. } = self.snapshot.document(address)?;
        let text = text.unwrap_or_default();
        let analyzer = self.analyzer(kind);
        let (room, tokens) =
            self.room_for(address, kind, &text, |text| count(analyzer, text, self.stop))?;
        let mut document =
            AnalyzedText::with_room(text, tokens, analyzer, self.stop)?.with_parts(parts);
        let hidden = self.boilerplate.filter(|_| kind == TokenKind::OfPassages);
        if let Some(boilerplate) = hidden {
            boilerplate.hide(&document.text, &mut document.tokens, Place::Document);
        }
        let document = Arc::new(AnalyzedDocument::new(document));
        if hidden.is_none() {
            self.snapshot.keep_document(address, kind, &document);
        }
        Ok((document, room))
    }

    /// Returns the analyzer for these tokens.
    fn analyzer(&self, kind: TokenKind) -> &Analyzer {
        match (&self.whole_words, kind) {
            (Some((analyzer, _)), TokenKind::OfPassages) => analyzer,
            _ => &self.snapshot.config().analyzer,
        }
    }

    /// Reserves memory for the tokens of a text, and returns their number. `count` counts tokens of
    /// passages. A cached document reserves as much as any other, so whether a query has enough
    /// memory does not depend on earlier queries.
    fn room_for(
        &self,
        address: DocAddress,
        kind: TokenKind,
        text: &str,
        count: impl FnOnce(&str) -> Result<u32>,
    ) -> Result<(Option<Permit>, u32)> {
        let (memory, held) = (self.memory.as_ref(), held_in(&self.rooms));
        let scratch = memory::reserve_scratch(memory, held, self.analyzer(kind), text.len())?;
        let tokens = match (&self.whole_words, kind) {
            (Some(_), TokenKind::OfPassages) => count(text)?,
            _ => self.snapshot.segment(address).signatures.document(address.doc)?.tokens,
        };
        let held = held.saturating_add(held_in(&scratch));
        let bytes = memory::of_tokens(tokens);
        Ok((memory::reserve(memory, held, bytes, tokens)?, tokens))
    }

    /// Returns the passages of sufficient length that the query shares with the document at
    /// `address`, if passages were requested.
    ///
    /// With both texts, passages come from the alignment, and passages that chance explains are
    /// dropped. If the texts have no passages, and a text is short or short passages are requested,
    /// the fingerprints decide, which compare the tokens of signatures. Without texts, every
    /// passage of the fingerprints is returned, unless it is shorter than requested. If the
    /// analyzer reads letters, such a passage is measured in letters, and a word counts as its
    /// average number of letters.
    ///
    /// # Errors
    /// When the document cannot be read.
    pub fn passages(&mut self, address: DocAddress) -> Result<Option<Passages>> {
        if !self.needs_passages {
            return Ok(None);
        }
        let tokens_min = self.min_passage.unwrap_or(0);
        let Some(aligned) = self.aligned(address)? else {
            let a_word = self.snapshot.config().analyzer.tokens_a_word();
            let found = self.of_fingerprints(address)?;
            return Ok(Some(found.of_at_least(tokens_min.saturating_mul(a_word))));
        };
        let aligned = match self.query(TokenKind::OfPassages) {
            Some(query) => aligned.without_sparse_ends(query),
            None => aligned,
        };
        let aligned = self.rated(aligned.of_at_least(tokens_min), address)?;
        let least = match self.min_passage {
            Some(least) => least as usize,
            None => self.words_of_shorter(address)?,
        };
        // A program has no passages other than runs of equal tokens.
        let is_enough = self.genre() == Genre::Program || least >= passages::PASSAGE_TOKENS_MIN;
        if !aligned.found.is_empty() || is_enough {
            return Ok(Some(aligned));
        }
        let Passages { mut found, complete, .. } = self.of_fingerprints(address)?;
        if self.min_passage.is_none() {
            // In a short text, the passage must cover every token of the signature.
            let all = self.shorter(address, TokenKind::Signed)?;
            found.retain(|passage| passage.tokens as usize >= all);
        }
        let found = self.by_text(found, address)?;
        let found = Passages::new(found, aligned.complete && complete);
        let found = match self.query(TokenKind::OfPassages) {
            Some(query) => found.in_words_of(query).of_at_least(tokens_min),
            None => found.of_at_least(tokens_min),
        };
        let found = self.rated(found, address)?;
        let document = self.document(address, TokenKind::Signed)?;
        let query = self.text.as_deref().unwrap_or_default();
        Ok(Some(found.placed((query, &self.parts), (&document.text, &document.parts))))
    }

    /// Rates passages found in texts, and drops the ones that chance explains.
    fn rated(&mut self, passages: Passages, address: DocAddress) -> Result<Passages> {
        if passages.found.is_empty() {
            return Ok(passages);
        }
        let Some(chance) = self.searcher.chance(self.stop)? else { return Ok(passages) };
        let document = self.document(address, TokenKind::OfPassages)?;
        let Some(query) = self.query(TokenKind::OfPassages) else { return Ok(passages) };
        let of_query = match self.subject.address {
            Some(address) => chance.has_counted(self.snapshot, address)?,
            None => chance.has_counted_text(query.tokens),
        };
        let of_document = chance.has_counted(self.snapshot, address)?;
        let counted = usize::from(of_query) + usize::from(of_document);
        let tokens = TextPair::new(query.tokens, &document.tokens);
        Ok(self.information.rated(passages, &chance, self.max_expected, tokens, counted))
    }

    /// Returns the genre of the query and the documents.
    fn genre(&self) -> Genre {
        Genre::of(&self.snapshot.config().analyzer)
    }

    /// Returns the smaller number of tokens, of the query or of the document at `address`.
    fn shorter(&mut self, address: DocAddress, kind: TokenKind) -> Result<usize> {
        let document = self.document(address, kind)?.tokens.hashes.len();
        let query = self.query(kind);
        Ok(query.map_or(document, |query| query.tokens.hashes.len().min(document)))
    }

    /// Returns the words of the side with fewer tokens, the query or the document at `address`.
    fn words_of_shorter(&mut self, address: DocAddress) -> Result<usize> {
        let genre = self.genre();
        let document = self.document(address, TokenKind::OfPassages)?;
        let query = self.query(TokenKind::OfPassages).unwrap_or(document.side());
        Ok(passages::words_of_shorter(query, document.side(), genre))
    }

    /// Converts passages of tokens to passages of bytes, each with its range of tokens of passages.
    fn by_text(
        &mut self,
        found: Vec<Passage>,
        address: DocAddress,
    ) -> Result<Vec<(Passage, Range<u32>)>> {
        let document = self.document(address, TokenKind::Signed)?;
        let whole_words = self.whole_words.as_ref().map_or(&self.tokens, |(_, tokens)| tokens);
        let by_text = |passage: Passage| {
            let passage = passages::in_bytes(passage, &self.tokens, &document.tokens);
            let place = passages::tokens_in(whole_words, passage.a);
            let matched = passage.matched_in_a().iter();
            let matched = matched.map(|&range| passages::tokens_in(whole_words, range));
            let matched: Vec<Range<u32>> = matched.collect();
            let passage = Passage { tokens: place.len() as u32, ..passage };
            (passages::with_matched_tokens(passage, matched.into_iter(), whole_words), place)
        };
        let found = found.into_iter().map(by_text);
        // A passage of nothing but boilerplate matches nothing.
        Ok(found.filter(|(passage, _)| passage.matched > 0).collect())
    }

    /// Returns the passages in the alignment with the document at `address`. `None` without texts.
    fn aligned(&mut self, address: DocAddress) -> Result<Option<Passages>> {
        if self.text.is_none() {
            return Ok(None);
        }
        let document = self.document(address, TokenKind::OfPassages)?;
        if self.prepared.is_none() {
            let genre = self.genre();
            let prepared = |query| Prepared::new(query, genre, self.stop);
            self.prepared = self.query(TokenKind::OfPassages).map(prepared).transpose()?;
        }
        let query = self.query(TokenKind::OfPassages).zip(self.prepared.as_ref());
        let between = |(query, prepared)| {
            passages::between_prepared(query, prepared, document.side(), self.stop)
        };
        query.map(between).transpose()
    }

    /// Reserves memory for passages that are kept until the answer is complete.
    ///
    /// # Errors
    /// [`Error::Memory`] when not enough memory is left.
    pub fn keep(&mut self, passages: &Passages) -> Result<()> {
        match &self.memory {
            Some(memory) => memory.keep(held_in(&self.rooms), passages.bytes(), "passages"),
            None => Ok(()),
        }
    }

    fn of_fingerprints(&mut self, address: DocAddress) -> Result<Passages> {
        let QuerySignature { signature, keys, tokens, .. } = self.subject;
        self.shared.read(self.snapshot, (keys, &[]), address, self.stop)?;
        let segment = &self.snapshot.segment(address).signatures;
        let parts = self.snapshot.parts(address)?;
        let breaks = if self.parts.is_empty() && parts.is_empty() {
            [Vec::new(), Vec::new()]
        } else {
            self.breaks_of_signed(address, &parts)?
        };
        let shared = SharedKeys {
            signature,
            keys,
            occurrences: self.shared.occurrences(),
            extent: self.snapshot.config().scheme.extent(),
            tokens: (*tokens, segment.document(address.doc)?.tokens),
            genre: self.genre(),
            breaks: breaks.each_ref().map(|breaks| &breaks[..]),
        };
        let held = held_in(&self.rooms) + self.last.as_ref().map_or(0, |last| held_in(&last.room));
        let matching = shared.matching(self.stop)?;
        let bytes = shared.passages_bytes(&matching);
        let _room = memory::reserve(self.memory.as_ref(), held, bytes, shared.tokens.1)?;
        let mut found = shared.passages(&matching, self.stop)?;
        for passage in &mut found.found {
            passage.a_part = named(&self.parts, passage.a.0);
            passage.b_part = named(&parts, passage.b.0);
        }
        Ok(found)
    }

    /// Returns the first tokens (of the kind in signatures) of the parts of the query and of the
    /// document at `address`, whose parts are `parts`.
    fn breaks_of_signed(&mut self, address: DocAddress, parts: &[Part]) -> Result<[Vec<usize>; 2]> {
        let Some(text) = &self.text else {
            let first = |parts: &[Part]| -> Vec<usize> {
                let first = parts.iter().skip(1).filter_map(|part| part.first_token);
                first.map(|token| token as usize).collect()
            };
            return Ok([first(&self.parts), first(parts)]);
        };
        let query = breaks(Side { text, tokens: &self.tokens, parts: &self.parts });
        let document = self.document(address, TokenKind::Signed)?;
        Ok([query, breaks(document.side())])
    }
}

/// Returns the name of the part with this token, if the first tokens of parts are recorded.
fn named(parts: &[Part], token: u32) -> Option<String> {
    part_at_token(parts, token).map(|part| part.name.clone())
}

impl Searcher {
    /// Returns the passages that `subject` shares with the stored document `id`, even if a search
    /// would not find the document.
    ///
    /// # Errors
    /// The errors of [`search`](Self::search).
    pub fn passages(&self, subject: &Subject, id: &str, stop: &Stop) -> Result<Passages> {
        self.passages_of(&Query { stop: stop.clone(), ..Query::new(subject.clone()) }, id)
    }

    /// Returns the passages that the document `id` shares with the subject of a query. The memory
    /// budget of the query applies.
    ///
    /// # Errors
    /// The errors of [`search`](Self::search).
    pub fn passages_of(&self, query: &Query, id: &str) -> Result<Passages> {
        let unknown = || Error::UnknownId { id: id.to_owned() };
        let address = self.snapshot.find(id)?.ok_or_else(unknown)?;
        let query = query.clone().passages(true);
        let resolved = QuerySignature::of(self, &query, &mut Vec::new())?;
        let mut evidence = Evidence::of(self, &resolved, &query)?;
        let found = evidence.as_mut().map(|evidence| evidence.passages(address)).transpose()?;
        Ok(found.flatten().unwrap_or_else(Passages::none))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;
    use crate::index::{Config, Document, Index, WriterOptions};

    #[test]
    fn the_minimum_of_a_passage_counts_words_also_over_letters_without_texts() {
        let quoted = "the moon was a ghostly galleon tossed upon cloudy seas, the road was a \
                      ribbon of moonlight over the purple moor, and the highwayman came riding";
        let document = format!("The house stood empty for years. {quoted}. Later it burned down.");
        let query = format!("An old song says that {quoted}, up to some inn door.");
        assert_eq!(quoted.split(' ').count(), 26);
        for (scheme, analyzer) in
            [("kgram(k=8)", "letters"), ("kgram(k=8)", "chars"), ("kgram(k=6)", "consonants")]
        {
            let config = Config::new(scheme, analyzer, false).unwrap();
            let index = Index::in_memory(config).unwrap();
            let mut writer = index.writer(WriterOptions::default()).unwrap();
            writer.add(Document::new("d", document.as_str())).unwrap();
            writer.finish().unwrap();
            let searcher = Searcher::new(index.snapshot().unwrap());
            let hits = |words: u32| {
                let query = Query::text(query.as_str()).min_passage(words);
                searcher.search(&query).unwrap().hits.len()
            };
            assert_eq!([12, 20, 30, 60].map(hits), [1, 1, 0, 0], "{analyzer}");
        }
    }

    #[test]
    fn answers_are_the_same_whatever_documents_are_kept() {
        let words = |seed: u64, count: u64| -> String {
            (0..count).map(|at| format!("w{} ", mix64(seed << 32 | at) % 400)).collect()
        };
        let text = |n: u64| format!("{} {} {}", words(n, 90), words(n / 4 + 90, 40), words(n, 20));
        for (analyzer, has_boilerplate) in
            [("words", false), ("words", true), ("avtor(stop=2)", false), ("letters", false)]
        {
            let config = Config::new("kgram(k=4)", analyzer, true).unwrap();
            let template = Boilerplate::new(&config).unwrap();
            let template = Arc::new(template.with_texts([&*words(91, 40)], Stop::NEVER).unwrap());
            let index = Index::in_memory(config).unwrap();
            let mut writer = index.writer(WriterOptions::default()).unwrap();
            for n in 0..24 {
                writer.add(Document::new(n.to_string(), text(n))).unwrap();
            }
            writer.finish().unwrap();
            let searcher = |index: &Index| {
                let searcher = Searcher::new(index.snapshot().unwrap());
                match has_boilerplate {
                    true => searcher.excluding(template.clone(), Stop::NEVER).unwrap(),
                    false => searcher,
                }
            };
            let queries = (0..24).map(|n| {
                let query = Query::text(format!("{} {}", text(n), words(n + 300, 30)));
                query.passages(true).max_expected(1e9)
            });
            let answer = |query: &Query| searcher(&index).search(query).unwrap().hits;
            let queries: Vec<Query> = queries.collect();
            let first: Vec<_> = queries.iter().map(answer).collect();
            assert!(first.iter().flatten().any(|hit| hit.passages.iter().flatten().count() > 0));
            let again: Vec<_> = queries.iter().rev().map(answer).collect();
            assert!(again.iter().rev().eq(&first), "{analyzer}");
        }
    }
}
