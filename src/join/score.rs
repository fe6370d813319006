//! Scores: how much two programs suggest that one was copied.
//!
//! The score of a pair is the likeness of its texts (`compare/programs`), unless programs are so
//! alike that they solve one task: that is, the sixth best other neighbour of either has a
//! likeness of more than [`TASK_LIKENESS`]. Independent solutions of one task are alike, the more
//! so the more of them there are, so the score is then reduced by the share that this neighbour,
//! the better of both, has above it. That is what a [`margin`](super::margin) does, where it helps:
//! among programs of many tasks, small groups of copies keep their scores.
//!
//! Where a task leaves no choice of code, words decide: the reduction is smaller by the share that
//! the pair is more alike in words than its sixth best other neighbours are, so that it does not
//! hide a copy with the names of its original.
//!
//! Of the neighbours of a program, the [`NEIGHBOURS`] with the greatest resemblance of fingerprints
//! are looked at, and those with as much as the last of them, if they have a resemblance of
//! [`NEIGHBOUR_RESEMBLANCE`].
//!
//! Runs are weighed by the programs that have them. Of more than [`COUNTED_MAX`] programs a sample
//! is counted: those with the least hashes of their ids, wherever they are stored. New programs are
//! a sample apart from the archive that they are compared with, which may be of other tasks.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::margin::{MARGIN_RANK, SeriesKeys, Standing};
use super::nearest::{Near, Nearest};
use super::numbering::Numbering;
use super::program_texts::{ProgramTexts, ScoredTexts};
use super::series::Series;
use crate::compare::programs::{
    Likeness, PARTS, ProgramRuns, ProgramWeight, RunFrequencies, RunWeights,
};
use crate::error::{Error, Result};
use crate::hash::hash_bytes;
use crate::index::{DocAddress, MaxDf};
use crate::runtime::Stop;
use crate::runtime::ordered::in_order;
use crate::search::Searcher;

/// Programs whose sixth best neighbour is less alike need not solve one task. With this level,
/// judged pairs of contest programs, of many tasks, are ranked as well as without a reduction, and
/// pairs of the few tasks of IR-Plag better (research/RESULTS.md, "Copies of programs").
const TASK_LIKENESS: f64 = 0.4;

/// The neighbours of a program whose likeness is computed: more than twice the rank of the one that
/// decides.
const NEIGHBOURS: usize = 16;

/// The least resemblance of fingerprints of these neighbours: those with less do not reach
/// [`TASK_LIKENESS`] (research/RESULTS.md, "Copies of programs").
const NEIGHBOUR_RESEMBLANCE: f64 = 0.2;

/// The maximum number of programs whose runs are counted: a sixteenth of a collection ranks judged
/// pairs no worse (research/RESULTS.md, "Copies of programs").
const COUNTED_MAX: usize = 1024;

/// A program that is compared with others.
struct Program {
    runs: Arc<ProgramRuns>,
    weight: ProgramWeight,
}

/// The likeness of a program to its neighbours.
#[derive(Debug, Clone, Copy)]
struct Level {
    /// That of code and words together.
    both: Standing,
    /// That of words alone.
    words: Standing,
    /// The resemblance of fingerprints, if as many neighbours were found as a margin needs.
    near: Option<Standing>,
}

impl Level {
    /// Returns the likeness, and that of words alone, of the neighbours that decide when those of
    /// one series do not count.
    fn without(self, series: u64) -> (f64, f64) {
        (self.both.without(series), self.words.without(series))
    }
}

/// The programs of one index.
struct Programs {
    texts: Arc<ProgramTexts>,
    numbering: Numbering,
    weights: Vec<OnceLock<ProgramWeight>>,
    levels: Vec<OnceLock<Level>>,
}

impl Programs {
    fn new(texts: Arc<ProgramTexts>) -> Programs {
        let numbering = Numbering::new(texts.searcher().snapshot());
        let (weights, levels) = (0..numbering.end()).map(|_| Default::default()).unzip();
        Programs { texts, numbering, weights, levels }
    }

    /// Chooses those of the programs with these numbers whose runs are counted, at most
    /// `counted_max`.
    fn sample(&self, numbers: Range<u64>, counted_max: usize, stop: &Stop) -> Result<Sample<'_>> {
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
        Ok(Sample { side: self, numbers, parts: u32::try_from(parts).unwrap_or(u32::MAX) })
    }
}

/// Some programs; each represents others too.
struct Sample<'a> {
    side: &'a Programs,
    numbers: Vec<u64>,
    /// The parts of programs that each represents.
    parts: u32,
}

impl Sample<'_> {
    /// Returns the number of tokens of its programs.
    fn tokens(&self) -> Result<u64> {
        let mut tokens = 0;
        for &number in &self.numbers {
            let address = self.side.numbering.address(number);
            let segment = self.side.texts.searcher().snapshot().segment(address);
            tokens += u64::from(segment.signatures.document(address.doc)?.tokens);
        }
        Ok(tokens)
    }

    /// Counts the runs of its programs, which `threads` threads read.
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

/// The scores of pairs of one index, or of two.
pub(super) struct Scores {
    a: Programs,
    /// The programs of the other index; `None` if there is only one index.
    b: Option<Programs>,
    run_weights: RunWeights,
    max_df: Option<MaxDf>,
    keys: SeriesKeys,
}

impl Scores {
    /// Reads programs of one index, for its pairs, or those of one program of it and one of the
    /// other. The first `new` programs of the first are new to the others.
    ///
    /// # Errors
    /// When the documents are no programs or their texts are not stored; when a file is damaged;
    /// [`Error::Cancelled`] soon after `stop`.
    pub(super) fn new(
        (texts, new): (ScoredTexts, u64),
        by: (Option<MaxDf>, Option<&Arc<Series>>),
        threads: usize,
        stop: &Stop,
    ) -> Result<Scores> {
        Scores::with_sample((texts, new), by, COUNTED_MAX, threads, stop)
    }

    fn with_sample(
        (texts, new): (ScoredTexts, u64),
        (max_df, series): (Option<MaxDf>, Option<&Arc<Series>>),
        counted_max: usize,
        threads: usize,
        stop: &Stop,
    ) -> Result<Scores> {
        if !has_scores(texts.a.searcher()) || !has_scores(texts.other().searcher()) {
            return Err(Error::argument("rank", no_scores(&texts)));
        }
        let ScoredTexts { a: own, b: other } = texts.clone();
        let (a, b) = (Programs::new(own), other.map(Programs::new));
        let new = new.min(a.numbering.end());
        let mut samples = vec![
            a.sample(0..new, counted_max, stop)?,
            a.sample(new..a.numbering.end(), counted_max, stop)?,
        ];
        if let Some(b) = &b {
            samples.push(b.sample(0..b.numbering.end(), counted_max, stop)?);
        }
        let tokens = samples.iter().map(Sample::tokens).sum::<Result<u64>>()?;
        let mut frequencies = RunFrequencies::new(tokens);
        for sample in &samples {
            sample.count(&mut frequencies, threads, stop)?;
        }
        drop(samples);
        let against = texts.b.as_ref().map(|texts| texts.searcher());
        let keys = SeriesKeys::new(texts.a.searcher(), against, series);
        Ok(Scores { a, b, run_weights: frequencies.weights(), max_df, keys })
    }

    fn program(&self, side: &Programs, address: DocAddress, stop: &Stop) -> Result<Program> {
        let runs = side.texts.runs(address, stop)?;
        let weight = &side.weights[side.numbering.number(address) as usize];
        let weight = *weight.get_or_init(|| self.run_weights.of(&runs));
        Ok(Program { runs, weight })
    }

    fn likeness(&self, a: &Program, b: &Program) -> Likeness {
        self.run_weights.likeness((&a.runs, a.weight), (&b.runs, b.weight))
    }

    /// Returns the likeness of a program of `own` to its neighbours among those of `among`.
    fn level(
        &self,
        (own, among, side): (&Programs, &Programs, usize),
        (address, program): (DocAddress, &Program),
        stop: &Stop,
    ) -> Result<Level> {
        let level = &own.levels[own.numbering.number(address) as usize];
        if let Some(level) = level.get() {
            return Ok(*level);
        }
        let keys = own.texts.searcher().keys_of(address, stop)?;
        let other = if self.b.is_some() { 1 - side } else { side };
        let nearest = Nearest {
            among: among.texts.searcher(),
            max_df: self.max_df,
            resemblance_min: NEIGHBOUR_RESEMBLANCE,
            except: self.b.is_none().then_some(address),
            series: self.keys.of(side, address),
            series_of: |address| self.keys.of(other, address),
            has_series: self.keys.has_series(),
        };
        let found = nearest.find(&keys, NEIGHBOURS, stop)?;
        let near = found.iter().map(|near| (near.series, near.resemblance)).collect();
        let near = (found.len() > MARGIN_RANK).then(|| Standing::of(near));
        let (mut both, mut words) = (Vec::new(), Vec::new());
        for Near { series, address, .. } in found {
            let likeness = self.likeness(program, &self.program(among, address, stop)?);
            both.push((series, likeness.both()));
            words.push((series, likeness.words));
        }
        let (both, words) = (Standing::of(both), Standing::of(words));
        let found = Level { both, words, near };
        // Another thread may have computed the same level meanwhile.
        Ok(*level.get_or_init(|| found))
    }

    /// Returns how the documents of a pair resemble their neighbours, as far as it is known from
    /// levels that have been computed.
    pub(super) fn standings(&self, (a, b): (DocAddress, DocAddress)) -> [Option<Standing>; 2] {
        let sides = [(&self.a, a), (self.b.as_ref().unwrap_or(&self.a), b)];
        sides
            .map(|(side, address)| side.levels[side.numbering.number(address) as usize].get()?.near)
    }

    /// Returns the likeness of a pair, and its programs.
    fn pair(
        &self,
        (a, b): (DocAddress, DocAddress),
        stop: &Stop,
    ) -> Result<(Likeness, [Program; 2])> {
        let other = self.b.as_ref().unwrap_or(&self.a);
        let programs = [self.program(&self.a, a, stop)?, self.program(other, b, stop)?];
        Ok((self.likeness(&programs[0], &programs[1]), programs))
    }

    /// Returns a number that the score of a pair is not above.
    ///
    /// # Errors
    /// When a file is damaged; [`Error::Cancelled`] soon after `stop`.
    pub(super) fn bound(&self, pair: (DocAddress, DocAddress), stop: &Stop) -> Result<f64> {
        Ok(self.pair(pair, stop)?.0.both())
    }

    /// Returns the score of a pair, 0 to 1; `None` if it is not above a bound that suffices.
    ///
    /// # Errors
    /// When a file is damaged; [`Error::Cancelled`] soon after `stop`.
    pub(super) fn of(
        &self,
        (a, b): (DocAddress, DocAddress),
        suffices: &dyn Fn(f64) -> bool,
        stop: &Stop,
    ) -> Result<Option<f64>> {
        let (one, other) = (&self.a, self.b.as_ref().unwrap_or(&self.a));
        let (likeness, [first, second]) = self.pair((a, b), stop)?;
        if likeness.both() == 0.0 {
            return Ok(Some(0.0));
        }
        let reduced = |(both, words): (f64, f64)| {
            let excess = (both - TASK_LIKENESS).max(0.0);
            let margin_of_words = (likeness.words - words).max(0.0);
            likeness.both() * (1.0 - excess * (1.0 - margin_of_words))
        };
        let side = usize::from(self.b.is_some());
        let of_first = self.level((one, other, 0), (a, &first), stop)?;
        let first = of_first.without(self.keys.of(side, b));
        // The level of the second can only reduce the score further.
        if suffices(reduced(first)) {
            return Ok(None);
        }
        let of_second = self.level((other, one, side), (b, &second), stop)?;
        let second = of_second.without(self.keys.of(0, a));
        Ok(Some(reduced((first.0.max(second.0), first.1.max(second.1)))))
    }
}

/// Says why the pairs of these texts have no scores.
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

/// Tells whether pairs of an index have scores: it is of programs, and stores their texts.
#[must_use]
pub fn has_scores(searcher: &Searcher) -> bool {
    let config = searcher.snapshot().config();
    config.store_text && config.analyzer.is_of_programs()
}

#[cfg(test)]
#[cfg(feature = "code")]
mod tests;
