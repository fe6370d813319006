//! Finds the similar pairs of a collection, by all runs of tokens.
//!
//! Only tokens come from the library, so that its fingerprints, estimates and measures cannot
//! confirm themselves. Documents with the same runs form a group. Groups are joined by prefix
//! filtering (Bayardo et al. 2007): two sets that are alike enough share one of their rarest
//! members, so only the rarest members are in the inverted index.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use cento::Stop;
use cento::text::{Analyzer, Tokens};

use crate::Result;
use crate::cento::Document;

/// Upper bounds of the classes of sizes, in words. The last class has no bound.
pub const SIZES: [u32; 3] = [15, 30, 60];

/// Names of the classes of sizes, in order.
pub const SIZE_NAMES: [&str; 4] = ["up to 14", "15-29", "30-59", "60 and more"];

/// A number for each class of sizes.
pub type BySize<T> = [T; SIZE_NAMES.len()];

/// Returns the class of a text with this number of words.
pub fn size_class(words: u32) -> usize {
    SIZES.iter().filter(|&&size| words >= size).count()
}

/// Documents, and the similar pairs.
pub struct Truth {
    /// Ids of the documents, in the order of the corpus.
    pub documents: Vec<Document>,
    /// Index of each document, by id.
    pub numbers: HashMap<String, usize>,
    /// Number of words of each document.
    pub words: Vec<u32>,
    /// Index of the group of each document.
    pub group_of: Vec<usize>,
    /// Documents with the same runs.
    pub groups: Vec<Group>,
    /// The similar groups of a group, with the resemblance, by group.
    pub alike: Vec<Vec<(u32, f64)>>,
}

/// Documents with the same runs.
pub struct Group {
    /// Ranks of the runs by rarity, ascending.
    runs: Vec<u32>,
    /// Indexes of the documents, ascending.
    pub members: Vec<usize>,
}

impl Truth {
    /// Compares all documents by runs of `k` tokens of this analyzer, and finds all pairs with a
    /// resemblance of at least `least`.
    pub fn new(
        documents: Vec<Document>,
        (analyzer, k): (&Analyzer, usize),
        least: f64,
    ) -> Result<Truth> {
        let counted = Analyzer::default();
        let mut words = Vec::with_capacity(documents.len());
        let mut runs = Vec::with_capacity(documents.len());
        for document in &documents {
            let mut tokens = Tokens::default();
            analyzer.analyze(&document.text, &mut tokens, Stop::NEVER)?;
            runs.push(runs_of(&tokens.hashes, k));
            if *analyzer != counted {
                tokens = Tokens::default();
                counted.analyze(&document.text, &mut tokens, Stop::NEVER)?;
            }
            words.push(tokens.hashes.len() as u32);
        }
        let numbers = documents.iter().enumerate();
        let numbers: HashMap<String, usize> =
            numbers.map(|(number, document)| (document.id.clone(), number)).collect();
        if numbers.len() < documents.len() {
            return Err("two documents have one id".into());
        }
        let (groups, group_of) = grouped(ranked(runs));
        let alike = join(&groups, least);
        Ok(Truth { documents, numbers, words, group_of, groups, alike })
    }

    /// Returns the index of the document with this id.
    pub fn number(&self, id: &str) -> Result<usize> {
        let unknown = || format!("a verdict names {id}, which is no document of the corpus");
        Ok(*self.numbers.get(id).ok_or_else(unknown)?)
    }

    /// Returns the resemblance of two documents.
    pub fn resemblance(&self, a: usize, b: usize) -> f64 {
        let [a_in, b_in] = [a, b].map(|document| self.group_of[document]);
        let [x, y] = [a_in, b_in].map(|group| &self.groups[group].runs);
        if x.is_empty() || y.is_empty() {
            return f64::from(self.documents[a].text == self.documents[b].text);
        }
        if a_in == b_in {
            return 1.0;
        }
        let shared = shared(x, y, 0).unwrap_or(0);
        shared as f64 / (x.len() + y.len() - shared) as f64
    }

    /// Returns whether a document has at least one run.
    pub fn has_runs(&self, document: usize) -> bool {
        !self.groups[self.group_of[document]].runs.is_empty()
    }

    /// Returns the size class of a pair, which is the class of the shorter text.
    pub fn class(&self, a: usize, b: usize) -> usize {
        size_class(self.words[a].min(self.words[b]))
    }

    /// Counts the pairs whose resemblance is at least `least`, by the size of the shorter text.
    pub fn pairs(&self, least: f64) -> BySize<u64> {
        let sizes = |group: usize| {
            let mut sizes = [0u64; SIZE_NAMES.len()];
            for &member in &self.groups[group].members {
                sizes[size_class(self.words[member])] += 1;
            }
            sizes
        };
        let mut pairs = [0; SIZE_NAMES.len()];
        for (group, alike) in self.alike.iter().enumerate() {
            let own = sizes(group);
            let mut larger = 0;
            for class in (0..SIZE_NAMES.len()).rev() {
                if !self.groups[group].runs.is_empty() {
                    pairs[class] += own[class] * own[class].saturating_sub(1) / 2;
                    pairs[class] += own[class] * larger;
                }
                larger += own[class];
            }
            for &(other, resemblance) in alike {
                if (other as usize) < group && resemblance >= least {
                    let others = sizes(other as usize);
                    for (a, &own) in own.iter().enumerate() {
                        for (b, &others) in others.iter().enumerate() {
                            pairs[a.min(b)] += own * others;
                        }
                    }
                }
            }
        }
        pairs
    }

    /// Calls `each` with all pairs of resemblance `least` or more, until `each` returns false.
    pub fn for_each_pair(&self, least: f64, each: &mut dyn FnMut(usize, usize) -> bool) {
        for (number, group) in self.group_of.iter().enumerate() {
            if !self.has_runs(number) {
                continue;
            }
            let alike = self.alike[*group].iter().filter(|alike| alike.1 >= least);
            for other in alike.map(|alike| alike.0 as usize).chain([*group]) {
                let before = self.groups[other].members.iter().take_while(|&&other| other < number);
                for &other in before {
                    if !each(other, number) {
                        return;
                    }
                }
            }
        }
    }
}

/// Hasher for the sets of this module.
struct Mixer(std::hash::RandomState);

impl Mixer {
    fn run(&self, tokens: &[u64]) -> u64 {
        let mut hasher = self.0.build_hasher();
        for &token in tokens {
            hasher.write_u64(token);
        }
        hasher.finish()
    }
}

/// Returns the distinct runs of `k` tokens. A shorter text is a single run.
fn runs_of(tokens: &[u64], k: usize) -> Vec<u64> {
    thread_local! {
        // The same hasher for all documents, because equal runs must have equal numbers.
        static MIXER: Mixer = Mixer(std::hash::RandomState::new());
    }
    let k = k.min(tokens.len());
    if k == 0 {
        return Vec::new();
    }
    let mut runs: Vec<u64> =
        MIXER.with(|mixer| tokens.windows(k).map(|run| mixer.run(run)).collect());
    // The run of a short text has a different length, which no longer text has.
    runs.sort_unstable();
    runs.dedup();
    runs
}

/// Returns the runs of each document as ranks, the rarest run first.
fn ranked(documents: Vec<Vec<u64>>) -> Vec<Vec<u32>> {
    let mut all: Vec<u64> = documents.iter().flatten().copied().collect();
    all.sort_unstable();
    let mut frequencies: Vec<(u32, u64)> =
        all.chunk_by(|a, b| a == b).map(|equal| (equal.len() as u32, equal[0])).collect();
    drop(all);
    frequencies.sort_unstable();
    let ranks: HashMap<u64, u32> =
        (0..).zip(&frequencies).map(|(rank, run)| (run.1, rank)).collect();
    let rank = |runs: Vec<u64>| {
        let mut ranked: Vec<u32> = runs.iter().map(|run| ranks[run]).collect();
        ranked.sort_unstable();
        ranked
    };
    documents.into_iter().map(rank).collect()
}

/// Returns the groups of documents with the same runs, the group with the fewest runs first, and
/// the group of each document.
fn grouped(documents: Vec<Vec<u32>>) -> (Vec<Group>, Vec<usize>) {
    let mut order: Vec<usize> = (0..documents.len()).collect();
    order.sort_by(|&a, &b| {
        let [x, y] = [a, b].map(|at| &documents[at]);
        (x.len(), x, a).cmp(&(y.len(), y, b))
    });
    let mut group_of = vec![0; documents.len()];
    let mut groups: Vec<Group> = Vec::new();
    for document in order {
        let runs = &documents[document];
        match groups.last_mut() {
            Some(group) if group.runs == *runs => group.members.push(document),
            _ => groups.push(Group { runs: runs.clone(), members: vec![document] }),
        }
        group_of[document] = groups.len() - 1;
    }
    (groups, group_of)
}

/// Returns the number of runs in common, if there are at least `least`.
fn shared(x: &[u32], y: &[u32], least: usize) -> Option<usize> {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < x.len() && j < y.len() {
        if shared + (x.len() - i).min(y.len() - j) < least {
            return None;
        }
        shared += usize::from(x[i] == y[j]);
        let (one, other) = (x[i], y[j]);
        i += usize::from(one <= other);
        j += usize::from(other <= one);
    }
    (shared >= least).then_some(shared)
}

/// Finds, for each group, the groups with a resemblance of at least `least`. `groups` must be in
/// ascending order of size.
fn join(groups: &[Group], least: f64) -> Vec<Vec<(u32, f64)>> {
    // A little lower, so that rounding loses no pair. The found pairs are compared exactly.
    let low = least - 1e-9;
    let ranks = groups.iter().filter_map(|group| group.runs.last()).max();
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); ranks.map_or(0, |&rank| rank as usize + 1)];
    // Groups before this index of a list are too small for every later group.
    let mut starts: Vec<u32> = vec![0; lists.len()];
    let mut alike: Vec<Vec<(u32, f64)>> = vec![Vec::new(); groups.len()];
    let mut is_met = vec![false; groups.len()];
    let mut met: Vec<u32> = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        let runs = &group.runs;
        let size = runs.len();
        if size == 0 {
            continue;
        }
        let size_min = (low * size as f64).ceil() as usize;
        for &run in &runs[..size + 1 - size_min.clamp(1, size)] {
            let (list, start) = (&lists[run as usize], &mut starts[run as usize]);
            while (*start as usize) < list.len()
                && groups[list[*start as usize] as usize].runs.len() < size_min
            {
                *start += 1;
            }
            for &other in &list[*start as usize..] {
                if !std::mem::replace(&mut is_met[other as usize], true) {
                    met.push(other);
                }
            }
        }
        for other in met.drain(..) {
            is_met[other as usize] = false;
            let others = &groups[other as usize].runs;
            let both = size + others.len();
            let shared_min = (low / (1.0 + low) * both as f64).ceil() as usize;
            if let Some(shared) = shared(runs, others, shared_min) {
                let resemblance = shared as f64 / (both - shared) as f64;
                if resemblance >= least {
                    alike[number].push((other, resemblance));
                    alike[other as usize].push((number as u32, resemblance));
                }
            }
        }
        // Later groups are no smaller.
        let shared_min = (2.0 * low / (1.0 + low) * size as f64).ceil() as usize;
        for &run in &runs[..size + 1 - shared_min.clamp(1, size)] {
            lists[run as usize].push(number as u32);
        }
    }
    alike
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    fn document(id: usize, text: String) -> Document {
        Document { id: id.to_string(), text }
    }

    fn truth(texts: Vec<String>, least: f64) -> Truth {
        let documents = (0..).zip(texts).map(|(id, text)| document(id, text)).collect();
        Truth::new(documents, (&Analyzer::default(), 3), least).expect("texts")
    }

    /// Texts of few words. Many texts are edited copies.
    fn texts(rng: &mut Rng) -> Vec<String> {
        let mut texts: Vec<Vec<String>> = Vec::new();
        for _ in 0..200 {
            let mut words = match texts.is_empty() || rng.bool() {
                true => (0..rng.usize(0..40)).map(|_| format!("w{}", rng.u8(0..60))).collect(),
                false => texts[rng.usize(0..texts.len())].clone(),
            };
            for _ in 0..rng.usize(0..3).min(words.len()) {
                let at = rng.usize(0..words.len());
                words[at] = format!("w{}", rng.u8(0..60));
            }
            texts.push(words);
        }
        texts.into_iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn the_join_finds_the_pairs_that_comparing_all_finds() {
        for seed in 0..20 {
            let mut rng = Rng::with_seed(seed);
            let truth = truth(texts(&mut rng), 0.4);
            for least in [0.4, 0.55, 0.85, 1.0] {
                let mut found = Vec::new();
                truth.for_each_pair(least, &mut |a, b| {
                    found.push((a, b));
                    true
                });
                found.sort_unstable();
                let pairs = (0..truth.documents.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
                let mut expected: Vec<(usize, usize)> = pairs
                    .filter(|&(a, b)| truth.has_runs(a) && truth.resemblance(a, b) >= least)
                    .collect();
                expected.sort_unstable();
                assert_eq!(found, expected, "seed {seed}, {least}");
                assert_eq!(truth.pairs(least).iter().sum::<u64>(), found.len() as u64);
            }
        }
    }

    #[test]
    fn resemblance_is_the_share_of_runs_in_both() {
        let texts = ["a b c d e", "A b c, d x", "a b", "a b!", ""].map(str::to_owned);
        let truth = truth(texts.to_vec(), 0.1);
        // abc bcd cde and abc bcd cdx share two of four runs.
        assert_eq!(truth.resemblance(0, 1), 0.5);
        assert_eq!(truth.resemblance(0, 2), 0.0);
        assert_eq!(truth.resemblance(2, 3), 1.0);
        assert_eq!(truth.resemblance(2, 4), 0.0);
    }

    #[test]
    fn sizes_are_those_of_the_shorter_text() {
        assert_eq!([0, 14, 15, 29, 30, 59, 60].map(size_class), [0, 0, 1, 1, 2, 2, 3]);
    }
}
