//! Is one of two texts a duplicate, if a run has to decide about the two alone?
//!
//! A cluster of machines finds candidates by exchanging fingerprints, and compares the texts of a
//! candidate pair on the machine that has received both. The verdict must equal the verdict of a
//! run over all documents, so both use the same functions.

use super::committed::{CommittedDocuments, RecentTexts};
use super::recent::{Recent, common};
use super::{DedupOptions, DedupSettings};
use crate::defaults::EffectiveOptions;
use crate::{OverlapMinimum, Thresholds};
use cento::index::{Config, Index, SignedDocument};
use cento::search::Searcher;
use cento_api::error::{Error, Result};
use cento_text::runtime::Stop;
use cento_text::scheme::distinct_keys;

/// Decides about pairs of texts without an index of the documents.
///
/// ```
/// use cento_collections::dedup::{DedupOptions, DuplicateJudge};
/// use cento::{Config, Document, SignedDocument, Stop};
///
/// let config = Config::new("winnow(k=5,w=10)", "words", true)?;
/// let judge = DuplicateJudge::new(&config, &DedupOptions::default().min_resemblance(0.5))?;
/// let texts = ["one two three four five six", "one two three four five six seven", "other words"];
/// let sign = |text: &&str| SignedDocument::new(Document::new("a", *text), &config, Stop::NEVER);
/// let signed = texts.iter().map(sign).collect::<cento::Result<Vec<_>>>()?;
/// let found = judge.duplicates(&signed, &[(1, 0), (2, 0)], Stop::NEVER)?;
/// assert_eq!(found, [true, false]);
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Debug)]
pub struct DuplicateJudge {
    /// The searcher of an empty index, which has the settings.
    empty: Searcher,
    settings: DedupSettings,
}

impl DuplicateJudge {
    /// Creates a judge for texts that are signed with `config`.
    ///
    /// # Errors
    /// When an option is out of bounds, or a verdict would depend on more than two texts.
    pub fn new(config: &Config, options: &DedupOptions) -> Result<DuplicateJudge> {
        let EffectiveOptions { options, .. } = EffectiveOptions::of_dedup(options, config.preset);
        options.check()?;
        let settings = DedupSettings::of(&options);
        let is_scoped = options.within.is_some() || options.group_by.is_some();
        if settings.cut_passages.is_some() || settings.only_against || is_scoped {
            let what = "a verdict on two texts alone knows no passages to cut, other indexes or \
                        groups; leave these options out";
            return Err(Error::argument("options", what));
        }
        let config = Config { store_text: true, ..config.clone() };
        let empty = Searcher::new(Index::in_memory(config)?.snapshot()?);
        Ok(DuplicateJudge { empty, settings })
    }

    /// Returns how many fingerprints duplicates share at least.
    #[must_use]
    pub fn overlap_minimum(&self) -> OverlapMinimum {
        let maker = self.empty.verdict_maker().filter(|_| self.settings.compares_texts());
        let (near, contained) = (self.settings.min_resemblance, self.settings.min_containment);
        let share = near.into_iter().chain(contained).reduce(f64::min);
        let thresholds = share.map(|share| Thresholds::default().min_resemblance(share));
        OverlapMinimum {
            sampling: self.empty.sampling(maker.as_ref()),
            thresholds,
            is_mutual: contained.is_none(),
        }
    }

    /// Tells for each pair of documents, given by their places, whether a run that has kept the
    /// second drops the first. The texts of the documents must differ.
    ///
    /// # Errors
    /// When a temporary file cannot be written or read. [`Error::Cancelled`] soon after `stop`.
    pub fn duplicates(
        &self,
        documents: &[SignedDocument],
        pairs: &[(usize, usize)],
        stop: &Stop,
    ) -> Result<Vec<bool>> {
        let maker = self.empty.verdict_maker().filter(|_| self.settings.compares_texts());
        let texts = RecentTexts::new(maker, true);
        let committed = CommittedDocuments::new(&self.empty, &[], &self.settings, &texts);
        let recent = |signed| recent_of(&committed, &texts, signed);
        let recent = documents.iter().map(recent).collect::<Result<Vec<_>>>()?;
        let mut verdicts = Vec::with_capacity(pairs.len());
        for &(own, other) in pairs {
            stop.check()?;
            let document = (&documents[own], own, &recent[own]);
            verdicts.push(is_duplicate(&committed, document, (other, &recent[other]))?);
        }
        Ok(verdicts)
    }
}

/// Prepares a document to be compared with, as if it had been kept.
fn recent_of(
    committed: &CommittedDocuments<'_>,
    texts: &RecentTexts,
    signed: &SignedDocument,
) -> Result<Recent> {
    let keys = distinct_keys(&signed.signature);
    let size = committed.own(signed, &keys).size;
    let place =
        texts.maker.as_ref().map(|_| texts.spool.push(&signed.document.text)).transpose()?;
    Ok(Recent {
        id: signed.document.id.clone(),
        keys,
        size,
        tokens: signed.token_count,
        signature: None,
        place,
        indexed: 0,
        text: None,
        group: None,
    })
}

fn is_duplicate(
    committed: &CommittedDocuments<'_>,
    (signed, number, own): (&SignedDocument, usize, &Recent),
    (other_number, other): (usize, &Recent),
) -> Result<bool> {
    let (sampling, settings) = (committed.sampling(), committed.options);
    let least = settings.overlap_min(sampling, own.size).filter(|_| !own.keys.is_empty());
    let Some(least) = least else { return Ok(false) };
    let shared = common(&own.keys, &other.keys, least);
    if shared < least || !settings.may_fit(sampling, [own.size, other.size]) {
        return Ok(false);
    }
    // The cache has the runs of a document that is in many pairs.
    let runs = committed.texts.runs(number, own)?;
    let mut compared = committed.own(signed, &own.keys).with_runs(runs);
    Ok(committed.reason_of(signed, &mut compared, other_number, other, shared)?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dedup::{Dedup, Event, Record};
    use cento::index::{Document, Preset};
    use cento_text::hash::mix64;

    /// Texts of all lengths. Most texts have the words of an earlier text, with some words
    /// replaced, and some texts repeat themselves.
    fn texts(count: u64) -> Vec<String> {
        let text = |number: u64| {
            let (of, edits) = (number % (count / 3), 20 + mix64(number) % 80);
            let len = 3 + mix64(of) % if of.is_multiple_of(2) { 40 } else { 200 };
            let word = |at: u64| match mix64(number << 20 ^ at) % edits {
                0 if number != of => format!("n{number}w{at}"),
                _ => format!("o{of}w{}", at % if of.is_multiple_of(5) { 7 } else { 1000 }),
            };
            (0..len).map(word).collect::<Vec<_>>().join(" ")
        };
        (0..count).map(text).collect()
    }

    /// Compares each verdict on a pair with a run over the two documents.
    fn check(config: &Config, options: &DedupOptions) {
        let sign = |(at, text): (usize, String)| {
            SignedDocument::new(Document::new(at.to_string(), text), config, Stop::NEVER).unwrap()
        };
        let signed: Vec<_> = texts(45).into_iter().enumerate().map(sign).collect();
        let of = |number: usize| (0..45).filter(move |other| other % 15 == number % 15);
        let pairs: Vec<_> = (0..45).flat_map(|at| of(at).map(move |other| (at, other))).collect();
        let pairs: Vec<_> = pairs
            .into_iter()
            .filter(|&(a, b)| signed[a].document.text != signed[b].document.text)
            .collect();
        let judge = DuplicateJudge::new(config, options).unwrap();
        let found = judge.duplicates(&signed, &pairs, Stop::NEVER).unwrap();
        let minimum = judge.overlap_minimum();
        let mut duplicates = 0;
        for (&(own, other), is_duplicate) in pairs.iter().zip(found) {
            let index = Index::in_memory(config.clone()).unwrap();
            let records = [other, own].map(|at| Ok(Record::Document(signed[at].clone())));
            let decided = Dedup::new(&index, options, records).filter_map(|event| match event {
                Ok(Event::Decided(decision)) => Some(decision.verdict.is_kept()),
                other => other.map(|_| None).unwrap(),
            });
            assert_eq!(decided.last(), Some(!is_duplicate), "{config:?} {own} {other}");
            duplicates += usize::from(is_duplicate);
            if is_duplicate {
                let keys = [own, other].map(|at| distinct_keys(&signed[at].signature));
                let shared = common(&keys[0], &keys[1], 0);
                let is_enough = |at: usize, keys: &[u64]| {
                    let least = minimum.of(keys.len() as u32, signed[at].token_count);
                    least.is_some_and(|least| shared >= least)
                };
                let of = [is_enough(own, &keys[0]), is_enough(other, &keys[1])];
                assert!(if minimum.is_mutual() { of == [true; 2] } else { of != [false; 2] });
            }
        }
        assert!((5..pairs.len()).contains(&duplicates), "{duplicates} of {}", pairs.len());
    }

    #[test]
    fn a_verdict_on_two_texts_is_the_verdict_of_a_run_over_them() {
        let plain = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
        for options in [
            DedupOptions::default().min_resemblance(0.5),
            DedupOptions::default().min_resemblance(0.8),
            DedupOptions::default().min_resemblance(0.9).min_containment(0.6),
        ] {
            check(&plain, &options);
        }
        for preset in [Preset::Corpus, Preset::Ocr, Preset::Rewritten] {
            check(&Config::preset(preset, true).unwrap(), &DedupOptions::default());
        }
    }

    #[test]
    fn options_that_look_beyond_two_texts_are_refused() {
        let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
        for options in [
            DedupOptions::default().cut_passages(20u32),
            DedupOptions::default().only_against(true),
            DedupOptions::default().within("author"),
        ] {
            let error = DuplicateJudge::new(&config, &options).unwrap_err().to_string();
            assert!(error.contains("two texts alone"), "{error}");
        }
    }
}
