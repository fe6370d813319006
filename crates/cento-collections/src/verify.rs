//! The similarity of the texts of two documents, as exactly as the available data allow.
//!
//! Where both texts can be read, their runs are compared, and the similarity is exact. It is also
//! exact, without reading, where the fingerprints of both are all of their runs. Otherwise it is
//! estimated from their signatures, or is that of their sketches.

use std::sync::Arc;

use super::pair::{PROGRAM_TOKENS_MIN, is_too_short};
use cento::index::{DocAddress, SignedDocument};
use cento::search::{Estimates, Neighbour, RunMaker, Searcher, StoredRuns};
use cento_api::error::{Error, Result};
use cento_api::overlap::Overlap;
use cento_api::reason::Reason;
use cento_api::similarity::Similarity;
use cento_text::compare::runs::{ProgramWords, RunSet};
use cento_text::runtime::Stop;
use cento_text::sampling::{Sampling, Size};
use cento_text::scheme::Estimator;
use cento_text::text::written::shared_words;

/// A program is a duplicate of another only if at least this share of the names, numbers and texts
/// in quotes of the one with fewer of them is in both: a reader calls a program with other words no
/// duplicate, and tables of other numbers have the same code.
pub(super) const OWN_WORDS_OF_DUPLICATE: f64 = 0.5;

/// Tells whether at least this share of the words of the program with fewer of them is in both, and
/// neither is too short to tell.
pub(super) fn share_words(a: &ProgramWords, b: &ProgramWords, least: f64) -> bool {
    a.tokens.min(b.tokens) >= PROGRAM_TOKENS_MIN && shared_words(&a.own, &b.own) >= least
}

/// Refuses to decide about documents that would be compared without some of their words: those of
/// an index whose analyzer leaves words out, where the texts are not at hand.
///
/// # Errors
/// If it would.
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

/// A document that is compared with others.
pub(super) struct Own<'a> {
    source: Source<'a>,
    /// Its distinct fingerprints, ascending.
    keys: &'a [u64],
    pub size: Size,
    /// The runs of its text, once they are needed.
    runs: Option<Arc<RunSet>>,
}

/// The source of the text and the signature of a document.
enum Source<'a> {
    Stored { searcher: &'a Searcher, address: DocAddress, runs: Option<&'a StoredRuns<'a>> },
    Signed { signed: &'a SignedDocument, maker: Option<&'a RunMaker> },
}

impl<'a> Own<'a> {
    /// Creates a stored document with these keys.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn stored(
        (searcher, address): (&'a Searcher, DocAddress),
        keys: &'a [u64],
        sampling: Sampling,
        runs: Option<&'a StoredRuns<'a>>,
    ) -> Result<Own<'a>> {
        let size = searcher.size_by(sampling, address, keys.len() as u32)?;
        let source = Source::Stored { searcher, address, runs };
        Ok(Own { source, keys, size, runs: None })
    }

    /// Creates a document at hand with these keys.
    pub fn signed(
        signed: &'a SignedDocument,
        keys: &'a [u64],
        sampling: Sampling,
        maker: Option<&'a RunMaker>,
    ) -> Own<'a> {
        let size = sampling.size(keys.len() as u32, || Ok::<_, ()>(signed.token_count));
        let size = size.expect("the number of tokens is known");
        Own { source: Source::Signed { signed, maker }, keys, size, runs: None }
    }

    /// Returns its distinct fingerprints, ascending.
    pub fn keys(&self) -> &'a [u64] {
        self.keys
    }

    /// Returns the runs of its text; `None` if it has no text.
    ///
    /// # Errors
    /// When the text cannot be read; [`Error::Cancelled`](cento::Error::Cancelled) soon after
    /// `stop`.
    pub fn runs(&mut self, stop: &Stop) -> Result<Option<Arc<RunSet>>> {
        if self.runs.is_none() {
            self.runs = match &self.source {
                Source::Stored { runs, address, .. } => {
                    runs.map(|runs| runs.of(*address, stop)).transpose()?
                }
                Source::Signed { signed, maker } => {
                    let runs = maker.map(|maker| maker.of_text(&signed.document.text, stop));
                    runs.transpose()?.map(Arc::new)
                }
            };
        }
        Ok(self.runs.clone())
    }

    /// Returns the runs of its text if they have been needed.
    pub fn made_runs(self) -> Option<Arc<RunSet>> {
        self.runs
    }

    /// Tells whether the words of this program and another, of these runs, are evidence that one is
    /// a version of the other: at least this share of the names, numbers and texts in quotes of the
    /// program with fewer of them is in both, and neither is too short to tell. Fingerprints and
    /// runs lack these words. `None` if a text is not at hand.
    ///
    /// # Errors
    /// As [`runs`](Self::runs).
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

    /// Tells whether its text is known to repeat itself.
    ///
    /// # Errors
    /// As [`runs`](Self::runs).
    pub fn repeats_itself(&mut self, stop: &Stop) -> Result<bool> {
        Ok(self.runs(stop)?.is_some_and(|runs| runs.repeats_itself()))
    }

    /// Returns its similarity with a text of these runs, each counted as often as both have it, if
    /// it repeats itself; `None` also if a text is not at hand.
    ///
    /// # Errors
    /// As [`runs`](Self::runs).
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

    /// Takes the runs of its text, if they are known.
    pub fn with_runs(self, runs: Option<Arc<RunSet>>) -> Own<'a> {
        Own { runs, ..self }
    }

    /// Begins to estimate its similarity with documents of `searched`.
    fn estimates<'b>(&self, searched: &'b Searcher, stop: &'b Stop) -> Result<Option<Estimates<'b>>>
    where
        'a: 'b,
    {
        match &self.source {
            Source::Stored { searcher, address, .. } => {
                let snapshot = searcher.snapshot();
                let tokens = snapshot.segment(*address).signatures.document(address.doc)?.tokens;
                let signature = snapshot.signature(*address, stop)?;
                Ok(searched.estimates((tokens, &signature), self.keys, stop))
            }
            Source::Signed { signed, .. } => {
                let own = (signed.token_count, &signed.signature[..]);
                Ok(searched.estimates(own, self.keys, stop))
            }
        }
    }
}

/// Compares documents with those of one index.
pub(super) struct Verifier<'a> {
    searched: &'a Searcher,
    sampling: Sampling,
    /// The runs of the documents of the index, if texts decide.
    runs: Option<StoredRuns<'a>>,
}

impl<'a> Verifier<'a> {
    /// Creates a verifier for the index of `searched`, whose texts can be read through `runs`.
    pub fn new(searched: &'a Searcher, runs: Option<StoredRuns<'a>>) -> Verifier<'a> {
        let sampling = searched.sampling(runs.as_ref().map(|runs| runs.maker()));
        Verifier { searched, sampling, runs }
    }

    /// Returns the searcher over the index.
    pub fn searched(&self) -> &'a Searcher {
        self.searched
    }

    /// Returns the relation of shared fingerprints to texts here.
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// Returns the reader of the runs of the index's texts, if texts decide.
    pub fn runs(&self) -> Option<&StoredRuns<'a>> {
        self.runs.as_ref()
    }

    /// Begins to compare a document with others.
    pub fn begin(&self) -> Verification<'_> {
        Verification { verifier: self, estimates: None }
    }
}

/// Compares one document with those of an index.
pub(super) struct Verification<'a> {
    verifier: &'a Verifier<'a>,
    /// Set once a similarity has been estimated.
    estimates: Option<Estimates<'a>>,
}

impl<'a> Verification<'a> {
    /// Returns the size of a document that shares fingerprints.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn size(&self, found: Neighbour) -> Result<Size> {
        let Verifier { searched, sampling, .. } = self.verifier;
        searched.size_by(*sampling, found.address, found.fingerprints)
    }

    /// Returns the runs of a document; `None` if its text is not at hand.
    ///
    /// # Errors
    /// As [`with`](Self::with).
    pub fn runs(&self, address: DocAddress, stop: &Stop) -> Result<Option<Arc<RunSet>>> {
        self.verifier.runs.as_ref().map(|runs| runs.of(address, stop)).transpose()
    }

    /// Tells whether the document at this address, which is similar to `own`, may be a version of
    /// it: programs that share fewer words than `least`, a share, are not, and short ones resemble
    /// each other by chance. Of programs without texts, the size of the other decides; that of
    /// `own` was checked before.
    ///
    /// # Errors
    /// As [`with`](Self::with).
    pub fn is_evident(
        &self,
        own: &mut Own<'_>,
        (address, least): (DocAddress, f64),
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

    /// Returns the similarity of `own`, the first, and the document found, whose size is `size`.
    ///
    /// # Errors
    /// When a document cannot be read; [`Error::Cancelled`](cento::Error::Cancelled) soon after
    /// `stop`.
    pub fn with<'b>(
        &mut self,
        own: &mut Own<'b>,
        (found, size): (Neighbour, Size),
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

/// Tells whether the fingerprints of two texts are all of their runs, and nothing else.
pub(super) fn is_exact(sampling: Sampling, a: Size, b: Size) -> bool {
    match sampling {
        // Among those of short texts are single tokens, which are the same in any order.
        Sampling::Runs(estimator) => !estimator.has_tokens() && a.is_all && b.is_all,
        _ => false,
    }
}

/// Estimates the similarity of texts whose signatures are at hand, or returns that of their
/// sketches.
pub(super) fn of_signatures(
    estimator: Option<Estimator>,
    overlap: Overlap,
    a: cento_text::scheme::Keyed<'_>,
    b: cento_text::scheme::Keyed<'_>,
) -> Similarity {
    match estimator {
        Some(estimator) => estimator.compare_keyed(overlap, a, b),
        None => Similarity::of_sketches(overlap),
    }
}
