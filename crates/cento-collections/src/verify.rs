//! Computes the similarity of two texts as exactly as the available data allow.
//!
//! If both texts can be read, their runs are compared, and the similarity is exact. It is exact
//! without reading if the fingerprints of both texts are all of their runs. Otherwise the
//! similarity is estimated from signatures, or computed from sketches.

use std::sync::Arc;

use super::pair::{PROGRAM_TOKENS_MIN, is_too_short};
use cento::index::{DocAddress, SignedDocument};
use cento::search::{Estimates, Neighbor, RunMaker, Searcher, StoredRuns};
use cento_api::error::{Error, Result};
use cento_api::overlap::Overlap;
use cento_api::reason::Reason;
use cento_api::similarity::Similarity;
use cento_text::compare::runs::{ProgramWords, RunSet};
use cento_text::runtime::Stop;
use cento_text::sampling::{Sampling, Size};
use cento_text::scheme::{Estimator, KeyedSignature};
use cento_text::text::written::shared_words;

/// The minimum share of names, numbers and quoted strings that a duplicate program has in common,
/// by the program with fewer of them. A reader does not call a program with other words a
/// duplicate, and tables of different numbers have the same code.
pub(super) const OWN_WORDS_OF_DUPLICATE: f64 = 0.5;

/// Tells whether two programs share this share of words, by the program with fewer words, and
/// neither program is too short.
pub(super) fn share_words(a: &ProgramWords, b: &ProgramWords, least: f64) -> bool {
    a.tokens.min(b.tokens) >= PROGRAM_TOKENS_MIN && shared_words(&a.own, &b.own) >= least
}

/// Refuses to decide about documents whose comparison would omit some of their words. This happens
/// if the analyzer of the index omits words and the texts are not at hand.
///
/// # Errors
/// [`Reason::NoTexts`], if the comparison would omit words.
pub(super) fn check_all_words(searcher: &Searcher, are_at_hand: bool) -> Result<()> {
    let (config, path) = (searcher.snapshot().config(), searcher.snapshot().index().path());
    let analyzer = &config.analyzer;
    let leaves_out = !analyzer.is_of_programs() && analyzer.of_all_words() != *analyzer;
    let lacks = match searcher.verdict_maker() {
        _ if !leaves_out => return Ok(()),
        Some(_) if are_at_hand => return Ok(()),
        Some(_) => "it stores no texts, so that not all words can be compared",
        None => {
            "the texts of the boilerplate, which all words could be compared without, are not known"
        }
    };
    let what = format!(
        "its analyzer, `{analyzer}`, leaves words out, so that documents which say different \
         things can look alike, and {lacks}; decide about equal texts only, or use texts or \
         another analyzer"
    );
    Err(Error::index(path, Reason::NoTexts, what))
}

/// A document that is compared with documents of an index.
pub(super) struct ComparedDocument<'a> {
    source: TextSource<'a>,
    keys: &'a [u64],
    pub size: Size,
    /// The runs of the text, read when first needed.
    runs: Option<Arc<RunSet>>,
}

/// Where the text and the signature of a document come from.
enum TextSource<'a> {
    Stored { searcher: &'a Searcher, address: DocAddress, runs: Option<&'a StoredRuns<'a>> },
    Signed { signed: &'a SignedDocument, maker: Option<&'a RunMaker> },
}

impl<'a> ComparedDocument<'a> {
    /// Creates a stored document with these keys.
    ///
    /// # Errors
    /// When the document cannot be read.
    pub fn stored(
        searcher: &'a Searcher,
        address: DocAddress,
        keys: &'a [u64],
        sampling: Sampling,
        runs: Option<&'a StoredRuns<'a>>,
    ) -> Result<ComparedDocument<'a>> {
        let size = searcher.size_by(sampling, address, keys.len() as u32)?;
        let source = TextSource::Stored { searcher, address, runs };
        Ok(ComparedDocument { source, keys, size, runs: None })
    }

    /// Creates a document that is not in an index yet, with these keys.
    pub fn signed(
        signed: &'a SignedDocument,
        keys: &'a [u64],
        sampling: Sampling,
        maker: Option<&'a RunMaker>,
    ) -> ComparedDocument<'a> {
        let size = sampling.size(keys.len() as u32, || Ok::<_, ()>(signed.token_count));
        let size = size.expect("the number of tokens is known");
        ComparedDocument { source: TextSource::Signed { signed, maker }, keys, size, runs: None }
    }

    pub fn keys(&self) -> &'a [u64] {
        self.keys
    }

    /// Returns the runs of the text, or `None` if there is no text.
    ///
    /// # Errors
    /// When the text cannot be read. [`Error::Cancelled`](cento::Error::Cancelled) soon after
    /// `stop`.
    pub fn runs(&mut self, stop: &Stop) -> Result<Option<Arc<RunSet>>> {
        if self.runs.is_none() {
            self.runs = match &self.source {
                TextSource::Stored { runs, address, .. } => {
                    runs.map(|runs| runs.of(*address, stop)).transpose()?
                }
                TextSource::Signed { signed, maker } => {
                    let runs = maker.map(|maker| maker.of_text(&signed.document.text, stop));
                    runs.transpose()?.map(Arc::new)
                }
            };
        }
        Ok(self.runs.clone())
    }

    /// Returns the runs of the text if they were ever needed.
    pub fn made_runs(self) -> Option<Arc<RunSet>> {
        self.runs
    }

    /// Tells whether the words of two programs are evidence of versions: at least the share `least`
    /// of the names, numbers and quoted strings in the program with fewer of them is common, and
    /// neither program is too short. Fingerprints and runs lack these words. `None` if a text is
    /// not at hand.
    ///
    /// # Errors
    /// The errors of [`runs`](Self::runs).
    pub fn shares_words(
        &mut self,
        other: Option<&RunSet>,
        least: f64,
        stop: &Stop,
    ) -> Result<Option<bool>> {
        let Some(other) = other else { return Ok(None) };
        let Some(own) = self.runs(stop)? else { return Ok(None) };
        Ok(own.program().zip(other.program()).map(|(a, b)| share_words(a, b, least)))
    }

    /// Tells whether the text is known to repeat itself.
    ///
    /// # Errors
    /// The errors of [`runs`](Self::runs).
    pub fn repeats_itself(&mut self, stop: &Stop) -> Result<bool> {
        Ok(self.runs(stop)?.is_some_and(|runs| runs.repeats_itself()))
    }

    /// Returns the similarity with a text of these runs, counting repeated runs with multiplicity.
    /// `None` if this text has no repetition, or if a text is missing.
    ///
    /// # Errors
    /// The errors of [`runs`](Self::runs).
    pub fn counting_repeats(
        &mut self,
        other: Option<&RunSet>,
        stop: &Stop,
    ) -> Result<Option<Similarity>> {
        let own = self.runs(stop)?;
        Ok(own
            .zip(other)
            .and_then(|(own, other)| own.repeated_overlap(other))
            .map(Similarity::exact))
    }

    /// Supplies the runs of the text, if known already.
    pub fn with_runs(self, runs: Option<Arc<RunSet>>) -> ComparedDocument<'a> {
        ComparedDocument { runs, ..self }
    }

    /// Begins to estimate the similarity with documents of `searched`.
    fn estimates<'b>(&self, searched: &'b Searcher, stop: &'b Stop) -> Result<Option<Estimates<'b>>>
    where
        'a: 'b,
    {
        match &self.source {
            TextSource::Stored { searcher, address, .. } => {
                let snapshot = searcher.snapshot();
                let tokens = snapshot.segment(*address).signatures.document(address.doc)?.tokens;
                let signature = snapshot.signature(*address, stop)?;
                Ok(searched.estimates(tokens, &signature, self.keys, stop))
            }
            TextSource::Signed { signed, .. } => {
                let (tokens, signature) = (signed.token_count, &signed.signature);
                Ok(searched.estimates(tokens, signature, self.keys, stop))
            }
        }
    }
}

/// Compares documents with the documents of one index.
pub(super) struct Verifier<'a> {
    searched: &'a Searcher,
    sampling: Sampling,
    /// Reads the runs of the documents in the index, if texts decide.
    runs: Option<StoredRuns<'a>>,
}

impl<'a> Verifier<'a> {
    /// Creates a verifier for the index of `searched`, whose texts can be read through `runs`.
    pub fn new(searched: &'a Searcher, runs: Option<StoredRuns<'a>>) -> Verifier<'a> {
        let sampling = searched.sampling(runs.as_ref().map(|runs| runs.maker()));
        Verifier { searched, sampling, runs }
    }

    pub fn searched(&self) -> &'a Searcher {
        self.searched
    }

    /// Returns how shared fingerprints relate to the similarity of texts in this index.
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// Returns the reader of the runs in the index, if texts decide.
    pub fn runs(&self) -> Option<&StoredRuns<'a>> {
        self.runs.as_ref()
    }

    /// Begins to compare one document with documents of the index.
    pub fn begin(&self) -> Verification<'_> {
        Verification { verifier: self, estimates: None }
    }
}

/// Compares one document with documents of an index.
pub(super) struct Verification<'a> {
    verifier: &'a Verifier<'a>,
    /// Set once a similarity had to be estimated.
    estimates: Option<Estimates<'a>>,
}

impl<'a> Verification<'a> {
    /// Returns the size of a neighbor.
    ///
    /// # Errors
    /// When the document cannot be read.
    pub fn size(&self, found: Neighbor) -> Result<Size> {
        let Verifier { searched, sampling, .. } = self.verifier;
        searched.size_by(*sampling, found.address, found.fingerprints)
    }

    /// Returns the runs of a document, or `None` if its text is not at hand.
    ///
    /// # Errors
    /// The errors of [`with`](Self::with).
    pub fn runs(&self, address: DocAddress, stop: &Stop) -> Result<Option<Arc<RunSet>>> {
        self.verifier.runs.as_ref().map(|runs| runs.of(address, stop)).transpose()
    }

    /// Tells whether the document at this address, which is similar to `own`, may be a version of
    /// it. Programs need the share `least` of common words, and short programs resemble each other
    /// by chance. Without the texts of programs, the length of the document at this address
    /// decides. The caller has checked the length of `own`.
    ///
    /// # Errors
    /// The errors of [`with`](Self::with).
    pub fn is_evident(
        &self,
        own: &mut ComparedDocument<'_>,
        address: DocAddress,
        least: f64,
        stop: &Stop,
    ) -> Result<bool> {
        let searched = self.verifier.searched;
        if !searched.snapshot().config().analyzer.is_of_programs() {
            return Ok(true);
        }
        let runs = self.runs(address, stop)?;
        match own.shares_words(runs.as_deref(), least, stop)? {
            Some(shares) => Ok(shares),
            None => Ok(!is_too_short(searched, address)?),
        }
    }

    /// Returns the similarity of `own` (the first document) and a neighbor of size `size`.
    ///
    /// # Errors
    /// When a document cannot be read. [`Error::Cancelled`](cento::Error::Cancelled) soon after
    /// `stop`.
    pub fn with<'b>(
        &mut self,
        own: &mut ComparedDocument<'b>,
        found: Neighbor,
        size: Size,
        stop: &'a Stop,
    ) -> Result<Similarity>
    where
        'b: 'a,
    {
        let overlap = found.with(own.size.fingerprints);
        let Verifier { searched, sampling, runs } = self.verifier;
        if is_exact(*sampling, own.size, size) {
            return Ok(Similarity::exact(overlap));
        }
        if let Some(runs) = runs
            && let Some(own) = own.runs(stop)?
        {
            return Ok(Similarity::exact(own.overlap(&*runs.of(found.address, stop)?)));
        }
        if self.estimates.is_none() {
            self.estimates = own.estimates(searched, stop)?;
        }
        match &mut self.estimates {
            Some(estimates) => estimates.with(found.address, found.fingerprints),
            None => Ok(Similarity::of_sketches(overlap)),
        }
    }
}

/// Tells whether the fingerprints of two texts are all of their runs, and nothing but runs.
pub(super) fn is_exact(sampling: Sampling, a: Size, b: Size) -> bool {
    match sampling {
        // Fingerprints of short texts include single tokens, which are equal whatever the order of
        // tokens.
        Sampling::Runs(estimator) => !estimator.has_tokens() && a.is_all && b.is_all,
        _ => false,
    }
}

/// Returns the similarity of texts whose signatures are at hand: an estimate, or the similarity of
/// the sketches if the scheme has no estimator.
pub(super) fn of_signatures(
    estimator: Option<Estimator>,
    overlap: Overlap,
    a: KeyedSignature<'_>,
    b: KeyedSignature<'_>,
) -> Similarity {
    match estimator {
        Some(estimator) => estimator.compare(overlap, a, b),
        None => Similarity::of_sketches(overlap),
    }
}
