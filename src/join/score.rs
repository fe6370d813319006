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
//! are looked at, and those with as much as the last of them.

use std::sync::{Arc, OnceLock};

use super::margin::{SeriesKeys, Standing};
use super::numbering::Numbering;
use super::series::Series;
use crate::compare::programs::{Likeness, ProgramRuns, ProgramWeight, RunFrequencies, RunWeights};
use crate::error::{Error, Result};
use crate::index::{ByteLru, DocAddress, InMemory, MaxDf, Owner};
use crate::runtime::Stop;
use crate::runtime::ordered::in_order;
use crate::search::{Neighbour, Searcher};

/// Programs whose sixth best neighbour is less alike need not solve one task. With this level,
/// judged pairs of contest programs, of many tasks, are ranked as well as without a reduction, and
/// pairs of the few tasks of IR-Plag better (research/RESULTS.md, "Copies of programs").
const TASK_LIKENESS: f64 = 0.4;

/// The neighbours of a program whose likeness is computed: more than twice the rank of the one that
/// decides.
const NEIGHBOURS: usize = 16;

/// The memory for the runs of programs that are kept, in bytes; those of 50,000 usual ones.
const KEPT_BYTES: usize = 128 << 20;

impl InMemory for ProgramRuns {
    fn memory_bytes(&self) -> usize {
        self.bytes()
    }
}

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
}

impl Level {
    /// Returns the likeness, and that of words alone, of the neighbours that decide when those of
    /// one series do not count.
    fn without(self, series: u64) -> (f64, f64) {
        (self.both.without(series), self.words.without(series))
    }
}

/// The programs of one index.
struct Programs<'a> {
    searcher: &'a Searcher,
    numbering: Numbering,
    /// The owner of the runs of each segment.
    owners: Vec<Owner>,
    weights: Vec<OnceLock<ProgramWeight>>,
    levels: Vec<OnceLock<Level>>,
}

impl<'a> Programs<'a> {
    fn new(searcher: &'a Searcher, kept: &ByteLru<ProgramRuns>) -> Programs<'a> {
        let numbering = Numbering::new(searcher.snapshot());
        let owners = searcher.snapshot().segments().iter().map(|_| kept.owner()).collect();
        let (weights, levels) = (0..numbering.end()).map(|_| Default::default()).unzip();
        Programs { searcher, numbering, owners, weights, levels }
    }

    fn runs(
        &self,
        address: DocAddress,
        kept: &ByteLru<ProgramRuns>,
        stop: &Stop,
    ) -> Result<Arc<ProgramRuns>> {
        kept.get(self.owners[address.segment as usize], address.doc, || {
            let snapshot = self.searcher.snapshot();
            let text = snapshot.text(address)?.unwrap_or_default();
            let mask = |tokens: &[u64]| match self.searcher.boilerplate() {
                Some(boilerplate) => boilerplate.mask_as_signed(tokens),
                None => Vec::new(),
            };
            ProgramRuns::of_text(&text, &snapshot.config().analyzer, mask, stop)
        })
    }

    /// Counts the runs of all programs, which `threads` threads read.
    fn count(
        &self,
        frequencies: &mut RunFrequencies,
        kept: &ByteLru<ProgramRuns>,
        threads: usize,
        stop: &Stop,
    ) -> Result<()> {
        let snapshot = self.searcher.snapshot();
        let read = |number: u64| {
            let address = self.numbering.address(number);
            let is_alive = snapshot.segment(address).is_alive(address.doc);
            is_alive.then(|| self.runs(address, kept, stop)).transpose()
        };
        in_order(threads, 0..self.numbering.end(), stop, &read, &mut |_, runs| {
            runs.iter().for_each(|runs| frequencies.count(runs));
            Ok(())
        })
    }

    /// Returns the number of tokens of all programs.
    fn tokens(&self) -> Result<u64> {
        let mut tokens = 0;
        for number in 0..self.numbering.end() {
            let address = self.numbering.address(number);
            let document =
                self.searcher.snapshot().segment(address).signatures.document(address.doc)?;
            tokens += u64::from(document.tokens);
        }
        Ok(tokens)
    }
}

/// The scores of pairs of one index, or of two.
pub(super) struct Scores<'a> {
    a: Programs<'a>,
    /// The programs of the other index; `None` if there is only one index.
    b: Option<Programs<'a>>,
    kept: ByteLru<ProgramRuns>,
    run_weights: RunWeights,
    max_df: Option<MaxDf>,
    keys: SeriesKeys,
}

impl<'a> Scores<'a> {
    /// Reads the programs of `searcher`, for its pairs, or those of one program of it and one of
    /// `against`.
    ///
    /// # Errors
    /// When the documents are no programs or their texts are not stored; when a file is damaged;
    /// [`Error::Cancelled`] soon after `stop`.
    pub(super) fn new(
        searcher: &'a Searcher,
        against: Option<&'a Searcher>,
        (max_df, series): (Option<MaxDf>, Option<&Arc<Series>>),
        threads: usize,
        stop: &Stop,
    ) -> Result<Scores<'a>> {
        if !has_scores(searcher) || !against.is_none_or(has_scores) {
            let what = "the score is that of programs with their texts, and an index has another \
                        analyzer than `code` or stores no texts";
            return Err(Error::argument("rank", what));
        }
        let kept = ByteLru::new(KEPT_BYTES);
        let a = Programs::new(searcher, &kept);
        let b = against.map(|against| Programs::new(against, &kept));
        let sides = || [Some(&a), b.as_ref()].into_iter().flatten();
        let mut tokens = 0u64;
        for side in sides() {
            tokens += side.tokens()?;
        }
        let mut frequencies = RunFrequencies::new(tokens);
        for side in sides() {
            side.count(&mut frequencies, &kept, threads, stop)?;
        }
        let keys = SeriesKeys::new(searcher, against, series);
        Ok(Scores { a, b, kept, run_weights: frequencies.weights(), max_df, keys })
    }

    fn program(&self, side: &Programs<'_>, address: DocAddress, stop: &Stop) -> Result<Program> {
        let runs = side.runs(address, &self.kept, stop)?;
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
        (own, among, side): (&Programs<'_>, &Programs<'_>, usize),
        (address, program): (DocAddress, &Program),
        stop: &Stop,
    ) -> Result<Level> {
        let level = &own.levels[own.numbering.number(address) as usize];
        if let Some(level) = level.get() {
            return Ok(*level);
        }
        let keys = own.searcher.keys_of(address, stop)?;
        let except = self.b.is_none().then_some(address);
        let found = among.searcher.neighbours(&keys, 1, self.max_df, except, stop)?;
        let size = keys.len() as u32;
        let resemblance = |found: &Neighbour| found.with(size).resemblance();
        let (series, other) =
            (self.keys.of(side, address), if self.b.is_some() { 1 - side } else { side });
        let of = |found: &Neighbour| (resemblance(found), self.keys.of(other, found.address));
        let found = found.iter().map(|found| (of(found), found.address));
        let mut found: Vec<_> = found.filter(|((_, other), _)| *other != series).collect();
        // Of each series, the one that resembles the program most; of equals, the first.
        found.sort_unstable_by(|(a, one), (b, other)| {
            a.1.cmp(&b.1).then(b.0.total_cmp(&a.0)).then(one.cmp(other))
        });
        found.dedup_by_key(|((_, series), _)| *series);
        if found.len() > NEIGHBOURS {
            let (_, last, _) =
                found.select_nth_unstable_by(NEIGHBOURS - 1, |a, b| b.0.0.total_cmp(&a.0.0));
            let resemblance_min = last.0.0;
            found.retain(|((resemblance, _), _)| *resemblance >= resemblance_min);
        }
        let (mut both, mut words) = (Vec::new(), Vec::new());
        for ((_, series), address) in found {
            let likeness = self.likeness(program, &self.program(among, address, stop)?);
            both.push((series, likeness.both()));
            words.push((series, likeness.words));
        }
        let (both, words) = (Standing::of(both), Standing::of(words));
        let found = Level { both, words };
        // Another thread may have computed the same level meanwhile.
        Ok(*level.get_or_init(|| found))
    }

    /// Returns the score of a pair, 0 to 1.
    ///
    /// # Errors
    /// When a file is damaged; [`Error::Cancelled`] soon after `stop`.
    pub(super) fn of(&self, (a, b): (DocAddress, DocAddress), stop: &Stop) -> Result<f64> {
        let (one, other) = (&self.a, self.b.as_ref().unwrap_or(&self.a));
        let (first, second) = (self.program(one, a, stop)?, self.program(other, b, stop)?);
        let likeness = self.likeness(&first, &second);
        if likeness.both() == 0.0 {
            return Ok(0.0);
        }
        let side = usize::from(self.b.is_some());
        let of_first = self.level((one, other, 0), (a, &first), stop)?;
        let of_second = self.level((other, one, side), (b, &second), stop)?;
        let (first, first_words) = of_first.without(self.keys.of(side, b));
        let (second, second_words) = of_second.without(self.keys.of(0, a));
        let excess = (first.max(second) - TASK_LIKENESS).max(0.0);
        let margin_of_words = (likeness.words - first_words.max(second_words)).max(0.0);
        Ok(likeness.both() * (1.0 - excess * (1.0 - margin_of_words)))
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
mod tests {
    use super::*;
    use crate::hash::mix64;
    use crate::index::{Config, Document, Index, WriterOptions};
    use crate::join::pairs::{Pair, pairs};
    use crate::join::{PairOptions, PairRank, Thresholds};
    use crate::overlap::Overlap;

    fn searcher(texts: &[String]) -> Searcher {
        let config = Config::new("winnow(k=5,w=4)", "code(language=java)", true).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer = index.writer(WriterOptions::default().memory_bytes(0usize)).unwrap();
        for (number, text) in texts.iter().enumerate() {
            writer.add(Document::new(format!("{number:03}"), text.clone())).unwrap();
            if number == texts.len() / 2 {
                writer.commit().unwrap();
            }
        }
        writer.finish().unwrap();
        Searcher::new(index.snapshot().unwrap())
    }

    /// Returns a program of statements that follow from the seeds.
    fn program(seeds: &[u64]) -> String {
        let statement = |seed: &u64| {
            let (form, name, number) = (mix64(*seed) % 7, seed % 5, mix64(seed + 1) % 9);
            match form {
                0 => format!("int v{name} = read({number});"),
                1 => format!("if (v{name} > {number}) {{ v{name}++; }}"),
                2 => format!("for (int i = 0; i < {number}; i++) {{ v{name} += i; }}"),
                3 => format!("out.println(v{name} + \"{number}\");"),
                4 => format!("while (v{name}-- > 0) step(v{name}, {number});"),
                5 => format!("v{name} = Math.max(v{name}, a[{number}]);"),
                _ => format!("long[] w{name} = new long[{number}];"),
            }
        };
        let body: String = seeds.iter().map(statement).collect();
        format!("class P {{ void run() {{ {body} }} }}")
    }

    /// Returns programs of one task: each has some of the statements of others.
    fn task(count: u64, salt: u64) -> Vec<String> {
        let seed = |number: u64, at: u64| match mix64(number * 64 + at + salt) % 3 {
            0 => number * 64 + at + salt,
            _ => at + salt,
        };
        (0..count)
            .map(|number| program(&(0..30).map(|at| seed(number, at)).collect::<Vec<_>>()))
            .collect()
    }

    fn scored(searcher: &Searcher, against: Option<&Searcher>, threads: usize) -> Vec<Pair> {
        let thresholds = Thresholds::default().min_overlap(1);
        let options = PairOptions::default().thresholds(thresholds).rank(PairRank::Score);
        let found = pairs(searcher, &options).threads(threads);
        against
            .into_iter()
            .fold(found, |found, other| found.against(other))
            .map(Result::unwrap)
            .collect()
    }

    /// Returns the likeness of each pair of programs, and the level of each without each other.
    fn by_definition(texts: &[String]) -> Vec<Vec<f64>> {
        let config = Config::new("winnow(k=5,w=4)", "code(language=java)", true).unwrap();
        let keys = |text: &String| -> Vec<u64> {
            let (_, signature) = config.sign(text).unwrap();
            let mut keys: Vec<u64> = signature.iter().map(|found| found.key).collect();
            keys.sort_unstable();
            keys.dedup();
            keys
        };
        let keys: Vec<Vec<u64>> = texts.iter().map(keys).collect();
        let runs: Vec<ProgramRuns> = texts
            .iter()
            .map(|text| {
                ProgramRuns::of_text(text, &config.analyzer, |_| vec![], Stop::NEVER).unwrap()
            })
            .collect();
        let tokens: u64 = texts.iter().map(|text| u64::from(config.sign(text).unwrap().0)).sum();
        let mut frequencies = RunFrequencies::new(tokens);
        runs.iter().for_each(|runs| frequencies.count(runs));
        let weights = frequencies.weights();
        let all = 0..texts.len();
        let alike = |a: usize, b: usize| {
            weights.likeness((&runs[a], weights.of(&runs[a])), (&runs[b], weights.of(&runs[b])))
        };
        let resemblance = |a: usize, b: usize| Overlap::of(&keys[a], &keys[b]).resemblance();
        let level = |of: usize, without: usize, by: fn(Likeness) -> f64| {
            let others = all.clone().filter(|&other| other != of && resemblance(of, other) > 0.0);
            let mut others: Vec<usize> = others.collect();
            others.sort_by(|&a, &b| resemblance(of, b).total_cmp(&resemblance(of, a)));
            let last = others.get(NEIGHBOURS - 1).map_or(0.0, |&last| resemblance(of, last));
            others.retain(|&other| resemblance(of, other) >= last && other != without);
            let mut likenesses: Vec<f64> =
                others.iter().map(|&other| by(alike(of, other))).collect();
            likenesses.sort_by(|a, b| b.total_cmp(a));
            likenesses.get(5).copied().unwrap_or(0.0)
        };
        let score = |a: usize, b: usize| {
            let level = |by| level(a, b, by).max(level(b, a, by));
            let margin = (alike(a, b).words - level(|likeness| likeness.words)).max(0.0);
            let excess = (level(Likeness::both) - TASK_LIKENESS).max(0.0);
            alike(a, b).both() * (1.0 - excess * (1.0 - margin))
        };
        all.clone().map(|a| all.clone().map(|b| score(a, b)).collect()).collect()
    }

    #[test]
    fn scores_are_those_of_the_definition_for_any_number_of_threads() {
        let mut texts = task(28, 1000);
        texts.extend(task(5, 7000));
        let (searcher, expected) = (searcher(&texts), by_definition(&texts));
        let found = scored(&searcher, None, 1);
        assert_eq!(found, scored(&searcher, None, 3));
        assert!(found.len() > 300);
        let number = |address| searcher.snapshot().id(address).unwrap().parse::<usize>().unwrap();
        let (mut lowered, mut last) = (0, f64::INFINITY);
        for pair in &found {
            let (a, b, score) = (number(pair.a), number(pair.b), pair.score.unwrap());
            assert_eq!(score, expected[a][b], "{a} {b}");
            assert!((0.0..=last).contains(&score));
            last = score;
            lowered += usize::from(pair.similarity.resemblance > 0.5 && score < 0.4);
        }
        assert!(lowered > 0, "programs of one task are alike, and have low scores");
    }

    #[test]
    fn equal_programs_have_the_score_of_one_unless_many_are_equal() {
        let unusual = program(&(50..80).collect::<Vec<_>>());
        let mut texts = task(4, 900);
        texts.extend([unusual.clone(), unusual.clone()]);
        let best = |texts: &[String]| scored(&searcher(texts), None, 2)[0].score.unwrap();
        assert_eq!(best(&texts), 1.0);
        // Programs with seven equals solve a task that leaves no choice.
        assert!((best(&vec![unusual; 8]) - TASK_LIKENESS).abs() < 1e-9);
    }

    #[test]
    fn a_copy_with_the_names_of_its_original_stands_out_where_all_code_is_equal() {
        let base = program(&(50..80).collect::<Vec<_>>());
        let renamed = |author: u64| {
            (0..5).fold(base.clone(), |text, name| {
                text.replace(&format!("v{name}"), &format!("of{author}name{name}"))
            })
        };
        let mut texts: Vec<String> = (0..12).map(renamed).collect();
        texts.push(texts[3].replace(';', ";\n"));
        let found = scored(&searcher(&texts), None, 2);
        assert!(found.iter().all(|pair| pair.similarity.resemblance == 1.0));
        let scores = [0, 1].map(|place| found[place].score.unwrap());
        assert!(scores[0] > 0.85 && scores[1] < 0.6, "{scores:?}");
    }

    #[test]
    fn pairs_of_two_indexes_are_scored_by_the_programs_of_the_other() {
        let copy = program(&(300..330).collect::<Vec<_>>());
        let (mut here, mut there) = (task(9, 40), task(9, 4040));
        here.push(copy.clone());
        there.push(copy.replace("v2", "x"));
        let found = scored(&searcher(&here), Some(&searcher(&there)), 2);
        let best = &found[0];
        assert!(best.score.unwrap() > 0.7 && found[1].score < best.score, "{found:?}");
    }

    #[test]
    fn documents_without_texts_or_of_prose_have_no_score() {
        for (analyzer, stores) in [("code(language=java)", false), ("words", true)] {
            let index = Index::in_memory(Config::new("winnow", analyzer, stores).unwrap()).unwrap();
            let searcher = Searcher::new(index.snapshot().unwrap());
            assert!(!has_scores(&searcher));
            let found = pairs(&searcher, &PairOptions::default().rank(PairRank::Score)).next();
            assert!(matches!(found, Some(Err(Error::InvalidArgument { .. }))), "{found:?}");
        }
    }

    #[test]
    fn programs_that_are_too_short_to_tell_come_after_all_others() {
        let short = "class A { int f(int x) { return x + 1; } }".to_owned();
        let mut texts = vec![short.clone(), short];
        texts.extend(task(4, 1));
        let searcher = searcher(&texts);
        for rank in [PairRank::Overlap, PairRank::Similarity, PairRank::Weight, PairRank::Score] {
            let thresholds = Thresholds::default().min_overlap(1);
            let options = PairOptions::default().thresholds(thresholds).rank(rank);
            let found = pairs(&searcher, &options).map(Result::unwrap);
            let apart: Vec<bool> = found.map(|pair| pair.too_short.unwrap()).collect();
            assert!(apart.is_sorted() && apart.contains(&true) && !apart[0], "{rank:?} {apart:?}");
        }
    }
}
