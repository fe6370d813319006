//! Conversion of answers and lists of pairs into reports.

use std::collections::HashMap;

use cento::compare::shares::Share;
use cento::search::{Answer, Hit, Searcher, Subject};
use cento::text::cited::cited;
use cento::{Analyzer, CitedPart, Passage, Result, Stop, Tokens, Unit};
use cento_collections::Scope;
use cento_collections::pairs::PairReport;

use crate::document_name::named;
use crate::group::Group;
use crate::pairs::DescribedPairs;
use crate::parted_text::PartedText;
use crate::reuse::{Counting, DocumentReport, MeasuredDocument, Place, ReuseSource};

impl MeasuredDocument {
    /// Takes the answer to a search for `text`, with passages. `text_of` reads the text of a source
    /// by its id, and returns `None` for a text that is not stored. `analyzer` is the analyzer of
    /// the index, and `limit` the maximum number of hits that the search was given.
    ///
    /// # Errors
    /// When a text cannot be read or analyzed.
    pub fn new(
        name: String,
        text: PartedText,
        answer: &Answer,
        mut text_of: impl FnMut(&str) -> Result<Option<PartedText>>,
        analyzer: &Analyzer,
        limit: Option<usize>,
    ) -> Result<MeasuredDocument> {
        let mut passages = answer.hits.iter().flat_map(|hit| hit.passages.iter().flatten());
        // Without stored texts, passages are ranges of tokens.
        let mut tokens = Tokens::default();
        if passages.any(|passage| passage.unit == Unit::Tokens) {
            analyzer.analyze(&text, &mut tokens, Stop::NEVER)?;
        }
        let mut sources = Vec::with_capacity(answer.hits.len());
        for hit in &answer.hits {
            let passages = hit.passages.as_deref().unwrap_or_default();
            // A hit without a passage is only counted, so its text is not read.
            let text = if passages.is_empty() { None } else { text_of(&hit.id)? };
            sources.push(found(hit, passages, text, &tokens));
        }
        let boilerplate = answer.query.boilerplate.clone();
        let tokens = analyzer.program_tokens(&text)?;
        let (mut common, mut marked) = (Vec::new(), Vec::new());
        if let Some(trace) = &answer.trace {
            common.extend(trace.spans.iter().filter(|span| span.is_common).map(|span| span.a));
            let parts = [CitedPart::Quotations, CitedPart::Bibliography];
            marked.extend(cited(&text, &parts).into_iter().map(|range| (range.start, range.end)));
        }
        let counting = Counting { boilerplate, tokens, common, cited: marked };
        let complete = answer.complete;
        // A search without a limit drops the hits after the last hit with a passage. If every hit
        // was examined and counted, the dropped hits are no sources.
        let more = answer.more && (limit.is_some() || answer.total.is_none());
        Ok(MeasuredDocument { name, text, sources, counting, more, complete })
    }
}

/// Returns the share of `text` that each hit of the answer to a search for it has in passages, as
/// [`Source::share_in_text`](crate::Source::share_in_text), in the order of the hits.
///
/// # Errors
/// When a passage is not in the text.
pub fn shares_in_text(
    text: PartedText,
    answer: &Answer,
    analyzer: &Analyzer,
    without: &[CitedPart],
) -> Result<Vec<Share>> {
    let mut searched =
        MeasuredDocument::new(String::new(), text, answer, |_| Ok(None), analyzer, None)?;
    // Hits of several indexes may have one id.
    for (at, source) in searched.sources.iter_mut().enumerate() {
        source.id = at.to_string();
    }
    let found = DocumentReport::new(searched, without)?;
    let mut shares = vec![Share { part: 0, of: found.size }; answer.hits.len()];
    for source in found.sources {
        let at: usize = source.id.parse().expect("the id is a number");
        shares[at] = source.share_in_text;
    }
    Ok(shares)
}

impl DescribedPairs {
    /// Takes pairs of an index with their similarities, and reads the texts to show, and missing
    /// passages. A document of a union is named with its index. The last pairs are dropped if all
    /// pairs would take more than about `bytes_max` bytes of memory. `scope` determines the groups
    /// of documents.
    ///
    /// # Errors
    /// When a text cannot be read. [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn read(
        mut pairs: Vec<(PairReport, f64)>,
        searcher: &Searcher,
        scope: &Scope,
        stop: &Stop,
        bytes_max: usize,
    ) -> Result<DescribedPairs> {
        let snapshot = searcher.snapshot();
        let (mut texts, mut boilerplate) = (HashMap::new(), HashMap::new());
        let mut groups: HashMap<String, Option<Group>> = HashMap::new();
        let (mut shown, mut room) = (0, ReportMemory::of(bytes_max));
        for (pair, _) in &mut pairs {
            if pair.passages.is_none() {
                let subject = Subject::Id(pair.a.clone());
                let found = searcher.passages(&subject, &pair.b, stop)?;
                pair.passages_complete = Some(found.complete);
                pair.passages = Some(found.found);
            }
            let sides = [(&mut pair.a, &pair.index_a), (&mut pair.b, &pair.index_b)];
            for (id, index) in sides {
                let name = named(id, index.as_deref());
                if !texts.contains_key(&name)
                    && let Some(address) = snapshot.find_in(index.as_deref(), id)?
                    && let Some(text) = PartedText::of(snapshot.document(address)?)
                {
                    if let Some(named) = searcher.boilerplate() {
                        boilerplate.insert(name.clone(), named.ranges_in(&text, stop)?);
                    }
                    room.take_text(&text);
                    texts.insert(name.clone(), text);
                }
                if !groups.contains_key(&name) {
                    let group = Group::of(scope, snapshot, id, index.as_deref())?;
                    groups.insert(name.clone(), group);
                }
                *id = name;
            }
            room.take_passages(pair);
            if !room.suffices() {
                break;
            }
            shown += 1;
        }
        pairs.truncate(shown);
        let groups = groups.into_iter().filter_map(|(name, group)| Some((name, group?))).collect();
        Ok(DescribedPairs { pairs, texts, boilerplate, groups, ..DescribedPairs::default() })
    }
}

/// The remaining memory for a report of pairs.
#[derive(Debug)]
pub struct ReportMemory {
    left: Option<usize>,
}

impl ReportMemory {
    /// Starts with `bytes_max` bytes.
    #[must_use]
    pub fn of(bytes_max: usize) -> ReportMemory {
        ReportMemory { left: Some(bytes_max) }
    }

    /// Deducts the memory of a document's text, and of the parts that are shown.
    pub fn take_text(&mut self, text: &str) {
        self.take(text.len().saturating_mul(TEXT_TIMES));
    }

    /// Deducts the memory of a pair's passages, in the report and as markup.
    pub fn take_passages(&mut self, pair: &PairReport) {
        self.take(pair.passages.as_ref().map_or(0, Vec::len).saturating_mul(PASSAGE_BYTES));
    }

    /// Returns whether the memory was enough so far.
    #[must_use]
    pub fn suffices(&self) -> bool {
        self.left.is_some()
    }

    fn take(&mut self, bytes: usize) {
        self.left = self.left.and_then(|left| left.checked_sub(bytes));
    }
}

/// The number of copies of a document's text in memory while a report shows its passages.
pub const TEXT_TIMES: usize = 2;

/// The memory for a passage without its text, in the report and as markup, in bytes.
pub const PASSAGE_BYTES: usize = 1024;

fn found(
    hit: &Hit,
    passages: &[Passage],
    text: Option<PartedText>,
    tokens: &Tokens,
) -> ReuseSource {
    ReuseSource {
        id: hit.id.clone(),
        meta: hit.meta.clone(),
        passages: passages.iter().map(|passage| Place::new(passage, tokens)).collect(),
        text,
        complete: hit.passages_complete != Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::index::{Config, Document, Index, WriterOptions};
    use cento_collections::pairs::{PairOptions, pairs};

    #[test]
    fn pairs_that_exceed_the_memory_are_left_out_of_a_report() {
        // Once, the texts and passages of all pairs were in memory, whatever their number.
        let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(0usize).merge(false)).unwrap();
        let text: String = (0..200).map(|word| format!("word{word} ")).collect();
        for id in ["a", "b", "c"] {
            writer.add(Document::new(id, format!("{text} {id}"))).unwrap();
        }
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let found = pairs(&searcher, &PairOptions::default()).most_similar().unwrap();
        let shown = |bytes_max: usize| {
            let pairs = found.pairs.iter().map(|found| (found.pair.clone(), found.symmetric));
            DescribedPairs::read(
                pairs.collect(),
                &searcher,
                &Scope::Everywhere,
                Stop::NEVER,
                bytes_max,
            )
            .unwrap()
            .pairs
            .len()
        };
        let pair = 2 * TEXT_TIMES * (text.len() + 2) + PASSAGE_BYTES;
        assert_eq!([0, pair - 1, pair, usize::MAX].map(shown), [0, 0, 1, 3]);
    }
}
