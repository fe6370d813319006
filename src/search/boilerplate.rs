//! Boilerplate: text that does not count.
//!
//! Templates, licenses and question sheets are known text and no evidence of copying. The
//! fingerprints of boilerplate are removed from every document and query, so overlap, containment
//! and resemblance refer to the remaining text. Every run of boilerplate counts, even if the scheme
//! selects only some: at the edges of boilerplate, and in short boilerplate, a document selects
//! other fingerprints than the boilerplate alone. When texts are aligned, the words of boilerplate
//! match nothing: no passage begins or ends in boilerplate, and none of its words count as reused.
//!
//! Programs are different, because their fingerprints do not include names, and every run of five
//! tokens of a template occurs in many unrelated programs. A line of a program is therefore
//! boilerplate only if it consists of runs of [`WRITTEN_RUN`] words and signs that are written as
//! in the template, apart from layout and comments. The fingerprints of stored programs still
//! count, the fingerprints of a query count where the text is not written like the template, and
//! the texts decide. In an index without texts, fingerprints are removed as for prose.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use cento_api::CitedPart;

use crate::compare::passages::bytes;
use crate::compare::runs::{Place, Runs, hide};
use crate::compare::{remove_within, tokens_between};
use crate::error::{Error, Result};
use crate::hash::{BuildKeyHasher, Digest, hash_bytes};
use crate::index::{Config, Snapshot};
use crate::runtime::Stop;
use crate::scheme::{Estimator, Fingerprint, distinct_keys};
use crate::search::shared::terms_of;
use crate::text::cited::cited;
use crate::text::ranges::joined;
use crate::text::written::WrittenTokens;
use crate::text::{Analyzer, Tokens};

/// The words and signs of a run of a program. A shorter stretch of code is not a passage by itself.
const WRITTEN_RUN: usize = 9;

/// The tokens of a run if the scheme does not determine the length.
const RUN_TOKENS: usize = 5;

/// Returns whether boilerplate is recognized by the words of programs, which needs stored texts.
pub(super) fn is_as_written(config: &Config) -> bool {
    config.store_text && config.analyzer.is_of_programs()
}

/// Returns the length of a run of boilerplate, in tokens, or for programs in words and signs.
pub(super) fn run_tokens_of(config: &Config) -> usize {
    if is_as_written(config) {
        return WRITTEN_RUN;
    }
    config.scheme.run_tokens().unwrap_or(RUN_TOKENS)
}

/// Text that does not count, read as an index reads texts.
///
/// Adding a text signs it. [`Searcher::excluding`](super::Searcher::excluding) then counts the
/// postings of its fingerprints, in time proportional to the number of documents of the index.
///
/// ```
/// use cento::{Boilerplate, Config, Document, Index, Query, Searcher, Stop, WriterOptions};
///
/// let index = Index::in_memory(Config::new("kgram(k=3)", "words", true)?)?;
/// let mut writer = index.writer(WriterOptions::default())?;
/// writer.add(Document::new("a", "name and class: whales are mammals"))?;
/// writer.commit()?;
///
/// let sheet = Boilerplate::new(index.config())?.with_texts(["name and class:"], Stop::NEVER)?;
/// let searcher = Searcher::new(index.snapshot()?);
/// let query = Query::text("name and class: moons are rocks");
/// assert_eq!(searcher.search(&query)?.hits.len(), 1);
/// assert!(searcher.excluding(sheet, Stop::NEVER)?.search(&query)?.hits.is_empty());
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Boilerplate {
    config: Config,
    keys: HashSet<u64, BuildKeyHasher>,
    /// Whether some keys were added without their texts.
    has_keys_alone: bool,
    /// The runs of tokens of the texts, as signed. For programs, runs as written.
    runs: Runs,
    /// The analyzer of passages and the runs of its tokens, if it is not the index's analyzer.
    of_passages: Option<(Analyzer, Runs)>,
    /// Kinds of cited text that count as boilerplate within each text.
    cited: Vec<CitedPart>,
}

impl Boilerplate {
    /// Creates empty boilerplate for indexes with this configuration.
    ///
    /// # Errors
    /// When a specification cannot be used, which means that `config` could not be used either.
    pub fn new(config: &Config) -> Result<Boilerplate> {
        let runs = Runs::new(run_tokens_of(config));
        let other = config.analyzer.of_passages();
        let of_passages = (other != config.analyzer).then(|| (other, runs.clone()));
        let config = config.with_text(config.store_text)?;
        Ok(Boilerplate {
            config,
            keys: HashSet::default(),
            has_keys_alone: false,
            runs,
            of_passages,
            cited: Vec::new(),
        })
    }

    /// Adds kinds of cited text. A quotation is boilerplate only where it is cited, because a
    /// different text may copy the quoted words.
    fn with_cited(mut self, parts: &[CitedPart]) -> Boilerplate {
        self.cited.extend(parts);
        self.cited.sort_unstable_by_key(|part| part.name());
        self.cited.dedup();
        self
    }

    /// Refuses cited text if an index with this configuration stores no texts.
    fn check_texts(&self, config: &Config) -> Result<()> {
        if self.cited.is_empty() || config.store_text {
            return Ok(());
        }
        let what = "quotations and bibliographies are found in texts, and the index stores none";
        Err(Error::argument("without", what))
    }

    /// Returns whether these kinds of cited text are included.
    pub(super) fn has_cited(&self, parts: &[CitedPart]) -> bool {
        parts.iter().all(|part| self.cited.contains(part))
    }

    /// Adds a text.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn add_text(&mut self, text: &str, stop: &Stop) -> Result<()> {
        self.add_part(text, 0..text.len(), stop)
    }

    /// Adds the tokens of a text in this range of bytes. The whole text is analyzed, because a part
    /// alone may be split into other tokens.
    ///
    /// # Errors
    /// The errors of [`add_text`](Self::add_text).
    pub fn add_part(&mut self, text: &str, bytes: Range<usize>, stop: &Stop) -> Result<()> {
        let (mut tokens, mut signature) = (Tokens::default(), Vec::new());
        self.config.analyzer.analyze(text, &mut tokens, stop)?;
        if is_as_written(&self.config) {
            self.runs.add(hashes_between(&WrittenTokens::of(text, &tokens).pieces, &bytes));
            return Ok(());
        }
        let part = hashes_between(&tokens, &bytes);
        let scheme = &self.config.scheme;
        let mut add = |part: &[u64]| -> Result<()> {
            scheme.sign(part, &mut signature, stop)?;
            self.keys.extend(signature.iter().map(|fingerprint| fingerprint.key));
            Ok(())
        };
        match sampled(&self.config) {
            Some(estimator) => estimator.parts_keeping_all(part).try_for_each(add)?,
            None => add(part)?,
        }
        self.runs.add(part);
        if let Some((analyzer, runs)) = &mut self.of_passages {
            analyzer.analyze(text, &mut tokens, stop)?;
            runs.add(hashes_between(&tokens, &bytes));
        }
        Ok(())
    }

    /// Adds texts.
    ///
    /// # Errors
    /// The errors of [`add_text`](Self::add_text).
    pub fn with_texts<'a>(
        mut self,
        texts: impl IntoIterator<Item = &'a str>,
        stop: &Stop,
    ) -> Result<Boilerplate> {
        texts.into_iter().try_for_each(|text| self.add_text(text, stop))?;
        Ok(self)
    }

    /// Adds fingerprints without their words. Passages still show such text, and similarity is
    /// computed from fingerprints.
    pub fn add_keys(&mut self, keys: impl IntoIterator<Item = u64>) {
        let before = self.keys.len();
        self.keys.extend(keys);
        self.has_keys_alone |= self.keys.len() > before;
    }

    /// Adds the documents of an index that signs in the same way: their texts if the index stores
    /// texts, otherwise only their fingerprints.
    ///
    /// # Errors
    /// When a file is damaged. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn add_index(&mut self, snapshot: &Snapshot, stop: &Stop) -> Result<()> {
        if !snapshot.config().store_text {
            let mut keys = Vec::new();
            snapshot.for_each_term(&mut |key, _| keys.push(key))?;
            self.add_keys(keys);
        } else {
            for address in snapshot.live() {
                stop.check()?;
                let text = snapshot.document(address)?.text.unwrap_or_default();
                self.add_text(&text, stop)?;
            }
        }
        Ok(())
    }

    /// Returns whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.runs.is_empty() && self.cited.is_empty()
    }

    /// Returns the distinct fingerprints, ascending. Empty for programs whose texts are stored,
    /// because their boilerplate is recognized by its words.
    #[must_use]
    pub fn keys(&self) -> Vec<u64> {
        let mut keys: Vec<u64> = self.keys.iter().copied().collect();
        keys.sort_unstable();
        keys
    }

    /// Returns whether this fingerprint is boilerplate.
    #[must_use]
    pub fn has(&self, key: u64) -> bool {
        self.keys.contains(&key)
    }

    /// Returns whether the texts have the run with this hash: a run of tokens as signed, or of
    /// words and signs in programs with stored texts.
    #[must_use]
    pub fn has_run(&self, hash: u64) -> bool {
        self.runs.has(hash)
    }

    /// Returns whether the runs of every fingerprint are known.
    pub(super) fn knows_runs(&self) -> bool {
        !self.has_keys_alone
    }

    /// Returns the estimator of the scheme, if the remaining fingerprints of a document are a
    /// sample of its remaining runs. This requires that the runs of every fingerprint are known.
    pub(super) fn estimator(&self) -> Option<Estimator> {
        let is_sample = self.knows_runs() && !is_as_written(&self.config) && self.cited.is_empty();
        sampled(&self.config).filter(|_| is_sample)
    }

    /// Returns a digest of fingerprints, or of words of programs. Equal boilerplate has equal
    /// digests.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut keys = self.keys();
        if is_as_written(&self.config) {
            keys.extend(self.runs.sorted());
        }
        keys.extend(self.cited.iter().map(|part| hash_bytes(part.name().as_bytes())));
        let keys: Vec<[u8; 8]> = keys.into_iter().map(u64::to_le_bytes).collect();
        Digest::of(keys.as_flattened())
    }

    /// Returns the tokens of a text that are boilerplate, for tokens of the analyzer of passages.
    pub fn mask(&self, text: &str, tokens: &Tokens) -> Vec<Range<usize>> {
        match &self.of_passages {
            Some((_, runs)) => self.with_cited_in(text, tokens, runs.mask(&tokens.hashes)),
            None => self.mask_as_signed(text, tokens),
        }
    }

    /// Returns the tokens of a text that are boilerplate, for tokens of the analyzer of the index.
    pub fn mask_as_signed(&self, text: &str, tokens: &Tokens) -> Vec<Range<usize>> {
        if is_as_written(&self.config) {
            let written = WrittenTokens::of(text, tokens);
            let mask = written.tokens_in(&self.runs.mask(&written.pieces.hashes));
            return self.with_cited_in(text, tokens, mask);
        }
        self.with_cited_in(text, tokens, self.runs.mask(&tokens.hashes))
    }

    /// Adds the tokens of cited text to a mask.
    fn with_cited_in(
        &self,
        text: &str,
        tokens: &Tokens,
        mut mask: Vec<Range<usize>>,
    ) -> Vec<Range<usize>> {
        if self.cited.is_empty() {
            return mask;
        }
        mask.extend(tokens_between(tokens, &cited(text, &self.cited)));
        joined(mask)
    }

    /// Returns the tokens of a text that are boilerplate, for tokens of any analyzer.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub(crate) fn mask_of_any(
        &self,
        text: &str,
        tokens: &Tokens,
        stop: &Stop,
    ) -> Result<Vec<Range<usize>>> {
        let within = |(start, end): (u32, u32)| {
            let first = tokens.spans.partition_point(|span| span.start < start);
            first..tokens.spans.partition_point(|span| span.end <= end).max(first)
        };
        Ok(self.ranges_in(text, stop)?.into_iter().map(within).collect())
    }

    /// Returns the distinct fingerprints of a text that are not boilerplate, ascending.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn keys_left_in(&self, text: &str, stop: &Stop) -> Result<Vec<u64>> {
        let mut tokens = Tokens::default();
        let mut signature = self.config.sign_into(text, &mut tokens, stop)?;
        signature.retain(|fingerprint| !self.has(fingerprint.key));
        if self.depends_on_texts() {
            self.leave_out_masked(&mut signature, text, &tokens);
        }
        Ok(distinct_keys(&signature))
    }

    /// Removes boilerplate from the fingerprints of a query. `text` returns its text, if known.
    ///
    /// # Errors
    /// When a file cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub(super) fn leave_out(
        &self,
        signature: &mut Vec<Fingerprint>,
        text: impl FnOnce() -> Result<Option<String>>,
        stop: &Stop,
    ) -> Result<()> {
        signature.retain(|fingerprint| !self.has(fingerprint.key));
        if !self.depends_on_texts() {
            return Ok(());
        }
        let Some(text) = text()? else { return Ok(()) };
        let mut tokens = Tokens::default();
        self.config.analyzer.analyze(&text, &mut tokens, stop)?;
        self.leave_out_masked(signature, &text, &tokens);
        Ok(())
    }

    /// Returns whether a fingerprint may be boilerplate in some texts only: in programs or cited
    /// text.
    pub(super) fn depends_on_texts(&self) -> bool {
        is_as_written(&self.config) && !self.runs.is_empty() || !self.cited.is_empty()
    }

    /// Removes the fingerprints that lie completely within boilerplate of a text with these tokens.
    fn leave_out_masked(&self, signature: &mut Vec<Fingerprint>, text: &str, tokens: &Tokens) {
        let masked = self.mask_as_signed(text, tokens);
        let len = self.config.scheme.run_tokens().map(|len| len.min(tokens.hashes.len()));
        remove_within(signature, &masked, len);
    }

    /// Hides boilerplate in tokens of the analyzer of the index, so that it matches nothing.
    pub(crate) fn hide_as_signed(&self, text: &str, tokens: &mut Tokens, place: Place) {
        let mask = self.mask_as_signed(text, tokens);
        hide(&mut tokens.hashes, &mask, place);
    }

    /// Hides boilerplate in tokens of any analyzer, so that it matches nothing.
    ///
    /// # Errors
    /// The errors of `mask_of_any`.
    pub fn hide_by(
        &self,
        analyzer: &Analyzer,
        text: &str,
        tokens: &mut Tokens,
        place: Place,
        stop: &Stop,
    ) -> Result<()> {
        if *analyzer == self.config.analyzer {
            self.hide_as_signed(text, tokens, place);
        } else {
            let mask = self.mask_of_any(text, tokens, stop)?;
            hide(&mut tokens.hashes, &mask, place);
        }
        Ok(())
    }

    /// Hides boilerplate in tokens of the analyzer of passages, so that it matches nothing.
    pub fn hide(&self, text: &str, tokens: &mut Tokens, place: Place) {
        let mask = self.mask(text, tokens);
        hide(&mut tokens.hashes, &mask, place);
    }

    /// Returns the byte ranges of a text that are boilerplate, ascending and disjoint.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn ranges_in(&self, text: &str, stop: &Stop) -> Result<Vec<(u32, u32)>> {
        let analyzer = self.config.analyzer.of_passages();
        let mut tokens = Tokens::default();
        analyzer.analyze(text, &mut tokens, stop)?;
        let mut found: Vec<(u32, u32)> = Vec::new();
        for range in self.mask(text, &tokens) {
            let (start, end) = bytes(&tokens, &range);
            match found.last_mut() {
                // Tokens of scripts without spaces overlap.
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => found.push((start, end)),
            }
        }
        Ok(found)
    }
}

/// Returns the estimator of a scheme whose fingerprints are runs.
fn sampled(config: &Config) -> Option<Estimator> {
    config.scheme.estimator().filter(|estimator| !estimator.has_tokens())
}

/// Returns the hashes of the tokens within this range of bytes.
fn hashes_between<'a>(tokens: &'a Tokens, bytes: &Range<usize>) -> &'a [u64] {
    let spans = &tokens.spans;
    let first = spans.partition_point(|span| (span.start as usize) < bytes.start);
    let count = spans[first..].partition_point(|span| span.end as usize <= bytes.end);
    &tokens.hashes[first..first + count]
}

/// Boilerplate, with its number of fingerprints in each document of a snapshot.
#[derive(Debug)]
pub struct IgnoredCounts {
    /// The text that does not count.
    pub boilerplate: Arc<Boilerplate>,
    /// By segment and document, the number of fingerprints that are boilerplate.
    counts: Arc<Vec<Vec<u32>>>,
}

impl IgnoredCounts {
    /// Counts the fingerprints of boilerplate in each document of the snapshot.
    ///
    /// # Errors
    /// When a segment is damaged. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn new(
        snapshot: &Snapshot,
        boilerplate: Arc<Boilerplate>,
        stop: &Stop,
    ) -> Result<IgnoredCounts> {
        boilerplate.check_texts(snapshot.config())?;
        let keys = boilerplate.keys();
        if keys.is_empty() {
            return Ok(IgnoredCounts { boilerplate, counts: Arc::default() });
        }
        let mut counts = Vec::new();
        let mut docs = Vec::new();
        for segment in snapshot.segments() {
            let signatures = &segment.signatures;
            let mut of_segment = vec![0; signatures.header().documents as usize];
            for (_, term) in terms_of(&[signatures], &keys, stop)?.iter().flatten() {
                stop.check()?;
                docs.clear();
                signatures.documents_of(term, &mut docs)?;
                docs.iter().for_each(|&doc| of_segment[doc as usize] += 1);
            }
            counts.push(of_segment);
        }
        Ok(IgnoredCounts { boilerplate, counts: Arc::new(counts) })
    }

    /// Adds these kinds of cited text to `ignored`, and keeps its counts.
    ///
    /// # Errors
    /// When the index stores no texts.
    pub fn with_cited(
        ignored: Option<&IgnoredCounts>,
        snapshot: &Snapshot,
        parts: &[CitedPart],
    ) -> Result<IgnoredCounts> {
        let (boilerplate, counts) = match ignored {
            Some(own) => (Boilerplate::clone(&own.boilerplate), own.counts.clone()),
            None => (Boilerplate::new(snapshot.config())?, Arc::default()),
        };
        let boilerplate = boilerplate.with_cited(parts);
        boilerplate.check_texts(snapshot.config())?;
        // The counts stay: cited text is not boilerplate in other texts.
        Ok(IgnoredCounts { boilerplate: Arc::new(boilerplate), counts })
    }

    /// Returns whether this fingerprint is boilerplate.
    pub fn has(&self, key: u64) -> bool {
        self.boilerplate.has(key)
    }

    /// Returns the number of fingerprints of a document that are boilerplate.
    pub fn count(&self, segment: u32, doc: u32) -> u32 {
        self.counts.get(segment as usize).map_or(0, |counts| counts[doc as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;
    use crate::scheme::run_values;

    fn words(seed: u64, count: u64) -> String {
        (0..count).map(|i| format!("w{} ", mix64(seed << 32 ^ i))).collect()
    }

    #[test]
    fn no_run_of_boilerplate_leaves_a_fingerprint_in_a_text() {
        for scheme in
            ["winnow", "winnow(k=3,w=40)", "mod(k=3,p=4)", "kgram(k=2)", "winnow(k=4,w=1)"]
        {
            let config = Config::new(scheme, "words", true).unwrap();
            let k = config.scheme.run_tokens().unwrap();
            for len in [1, 4, 30, 31, 90, 500] {
                let sheet = words(len, len);
                let mut boilerplate = Boilerplate::new(&config).unwrap();
                boilerplate.add_text(&sheet, Stop::NEVER).unwrap();
                assert!(boilerplate.estimator().is_some());
                for seed in 1000..1020 {
                    let part: Vec<&str> =
                        sheet.split(' ').skip(mix64(seed) as usize % len as usize).collect();
                    let around = [0, 1, 9, 200].map(|count| words(seed, count));
                    let text =
                        format!("{} {} {}", around[seed as usize % 4], part.join(" "), around[3]);
                    let text = if seed % 3 == 0 { part.join(" ") } else { text };
                    let (mut tokens, mut signature) = (Tokens::default(), Vec::new());
                    config.analyzer.analyze(&text, &mut tokens, Stop::NEVER).unwrap();
                    config.scheme.sign(&tokens.hashes, &mut signature, Stop::NEVER).unwrap();
                    let runs: Vec<u64> = run_values(&tokens.hashes, k).collect();
                    for fingerprint in signature {
                        let run = runs[fingerprint.position as usize];
                        assert_eq!(
                            boilerplate.has(fingerprint.key),
                            boilerplate.has_run(run),
                            "{scheme} {len} {seed}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn without_its_texts_or_with_other_fingerprints_it_leaves_no_sample() {
        let new = |scheme| {
            let config = Config::new(scheme, "words", true).unwrap();
            Boilerplate::new(&config).unwrap().with_texts(["a b c d e f"], Stop::NEVER).unwrap()
        };
        assert!(new("pairs(n=40)").estimator().is_none());
        assert!(new("minhash(k=3,b=16,r=2)").estimator().is_none());
        let mut boilerplate = new("winnow");
        assert!(boilerplate.estimator().is_some());
        boilerplate.add_keys([7]);
        assert!(boilerplate.estimator().is_none());
    }
}
