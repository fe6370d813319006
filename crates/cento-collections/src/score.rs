//! Scores how strongly two programs suggest copying.
//!
//! The score of a pair is the likeness of the texts (`compare/programs`), whatever the scores of
//! other pairs are. Reducing it by the likeness of the sixth best neighbor hid groups of more than
//! six copies, because the neighbors of a member are members too (research/RESULTS.md, "Copies of
//! programs"). Where many programs solve one task, the evidence of the passages tells copies from
//! chance.
//!
//! A run weighs less the more programs have it. Beyond [`COUNTED_MAX`] programs only a sample is
//! counted: the programs whose ids have the smallest hashes, wherever they are stored. New programs
//! are sampled apart from the archive, because the archive may hold programs for other tasks.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::numbering::Numbering;
use super::program_texts::{ProgramTexts, ScoredTexts};
use cento::index::DocAddress;
use cento::search::Searcher;
use cento_api::error::{Error, Result};
use cento_text::compare::programs::{
    PARTS, ProgramWeight, RunFrequencies, RunWeights, WeighedProgram,
};
use cento_text::hash::hash_bytes;
use cento_text::runtime::Stop;
use cento_text::runtime::ordered::in_order;

/// The maximum number of programs whose runs are counted. Counting a sixteenth of a collection
/// ranked judged pairs no worse (research/RESULTS.md, "Copies of programs").
const COUNTED_MAX: usize = 1024;

/// The programs of one index, with weights that are computed when first needed.
struct Programs {
    texts: Arc<ProgramTexts>,
    numbering: Numbering,
    weights: Vec<OnceLock<ProgramWeight>>,
}

impl Programs {
    fn new(texts: Arc<ProgramTexts>) -> Programs {
        let numbering = Numbering::new(texts.searcher().snapshot());
        let weights = (0..numbering.end()).map(|_| OnceLock::new()).collect();
        Programs { texts, numbering, weights }
    }

    /// Samples at most `counted_max` of the programs with these numbers.
    fn sample(
        &self,
        numbers: Range<u64>,
        counted_max: usize,
        stop: &Stop,
    ) -> Result<ProgramSample<'_>> {
        let snapshot = self.texts.searcher().snapshot();
        let (mut chosen, mut all) = (Vec::new(), 0u64);
        for number in numbers {
            stop.check_at(number as usize)?;
            let address = self.numbering.address(number);
            if !snapshot.segment(address).is_alive(address.doc) {
                continue;
            }
            all += 1;
            chosen.push((hash_bytes(snapshot.id(address)?.as_bytes()), number));
            if chosen.len() >= counted_max.saturating_mul(4) {
                chosen.select_nth_unstable(counted_max);
                chosen.truncate(counted_max);
            }
        }
        chosen.sort_unstable();
        chosen.truncate(counted_max);
        let parts = all * u64::from(PARTS) / (chosen.len() as u64).max(1);
        let numbers = chosen.into_iter().map(|(_, number)| number).collect();
        Ok(ProgramSample { side: self, numbers, parts: u32::try_from(parts).unwrap_or(u32::MAX) })
    }
}

/// Programs of a sample. A sampled program represents several programs.
struct ProgramSample<'a> {
    side: &'a Programs,
    numbers: Vec<u64>,
    /// The weight of a sampled program, in [`PARTS`]-ths of a program.
    parts: u32,
}

impl ProgramSample<'_> {
    /// Returns the number of tokens of the sampled programs.
    fn tokens(&self) -> Result<u64> {
        let mut tokens = 0;
        for &number in &self.numbers {
            let address = self.side.numbering.address(number);
            let segment = self.side.texts.searcher().snapshot().segment(address);
            tokens += u64::from(segment.signatures.document(address.doc)?.tokens);
        }
        Ok(tokens)
    }

    /// Counts the runs of the sampled programs, read by `threads` threads.
    fn count(&self, frequencies: &mut RunFrequencies, threads: usize, stop: &Stop) -> Result<()> {
        let read = |at: u64| {
            let number = self.numbers[at as usize];
            self.side.texts.runs(self.side.numbering.address(number), stop)
        };
        in_order(threads, 0..self.numbers.len() as u64, stop, &read, &mut |_, runs| {
            frequencies.count(&runs, self.parts);
            Ok(())
        })
    }
}

/// The scores of pairs within one index, or across two.
pub(super) struct PairScores {
    a: Programs,
    /// The programs of the second index. `None` if there is only one index.
    b: Option<Programs>,
    run_weights: RunWeights,
}

impl PairScores {
    /// Reads the programs to pair, within one index or across two. The first `new` programs of the
    /// first index are sampled apart from the remaining programs.
    ///
    /// # Errors
    /// When the documents are no programs, their texts are not stored, or a file is damaged.
    /// [`Error::Cancelled`] soon after `stop`.
    pub(super) fn new(
        texts: ScoredTexts,
        new: u64,
        threads: usize,
        stop: &Stop,
    ) -> Result<PairScores> {
        PairScores::with_sample(texts, new, COUNTED_MAX, threads, stop)
    }

    fn with_sample(
        texts: ScoredTexts,
        new: u64,
        counted_max: usize,
        threads: usize,
        stop: &Stop,
    ) -> Result<PairScores> {
        if !has_scores(texts.a.searcher()) || !has_scores(texts.other().searcher()) {
            return Err(Error::argument("rank", no_scores(&texts)));
        }
        let ScoredTexts { a: own, b: other } = texts;
        let (a, b) = (Programs::new(own), other.map(Programs::new));
        let new = new.min(a.numbering.end());
        let mut samples = vec![
            a.sample(0..new, counted_max, stop)?,
            a.sample(new..a.numbering.end(), counted_max, stop)?,
        ];
        if let Some(b) = &b {
            samples.push(b.sample(0..b.numbering.end(), counted_max, stop)?);
        }
        let tokens = samples.iter().map(ProgramSample::tokens).sum::<Result<u64>>()?;
        let mut frequencies = RunFrequencies::new(tokens);
        for sample in &samples {
            sample.count(&mut frequencies, threads, stop)?;
        }
        drop(samples);
        Ok(PairScores { a, b, run_weights: frequencies.weights() })
    }

    fn program(&self, side: &Programs, address: DocAddress, stop: &Stop) -> Result<WeighedProgram> {
        let runs = side.texts.runs(address, stop)?;
        let weight = &side.weights[side.numbering.number(address) as usize];
        let weight = *weight.get_or_init(|| self.run_weights.of(&runs));
        Ok(WeighedProgram { runs, weight })
    }

    /// Returns the score of a pair, from 0 to 1.
    ///
    /// # Errors
    /// When a file is damaged. [`Error::Cancelled`] soon after `stop`.
    pub(super) fn of(&self, a: DocAddress, b: DocAddress, stop: &Stop) -> Result<f64> {
        let other = self.b.as_ref().unwrap_or(&self.a);
        let (a, b) = (self.program(&self.a, a, stop)?, self.program(other, b, stop)?);
        Ok(self.run_weights.likeness(&a, &b).both())
    }
}

/// Explains why the pairs of these texts have no scores.
fn no_scores(texts: &ScoredTexts) -> String {
    let mut configs =
        [&texts.a, texts.other()].map(|texts| texts.searcher().snapshot().config()).into_iter();
    match configs.find(|config| !config.analyzer.is_of_programs()) {
        Some(config) => format!(
            "the score is that of programs, and the texts are read by the analyzer `{}`: read them \
             as programs, with `--for code`",
            config.analyzer
        ),
        None => "the score is that of programs by their texts, and an index stores no texts".into(),
    }
}

/// Tells whether pairs of an index have scores, which takes an index of programs with stored texts.
#[must_use]
pub fn has_scores(searcher: &Searcher) -> bool {
    let config = searcher.snapshot().config();
    config.store_text && config.analyzer.is_of_programs()
}

#[cfg(test)]
mod tests;
