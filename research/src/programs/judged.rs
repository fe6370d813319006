//! Measures scores on pairs of programs that people have judged.
//!
//! The programs form a single collection of many tasks. The pairs are divided into halves without a
//! common program, and a threshold is always chosen on the opposite half. Programs connected by
//! judged pairs solve the same task, so every large group is also measured as a separate
//! collection.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use cento_collections::pairs::{Pair, PairOptions, has_scores, pairs};
use cento_collections::{PairRank, Thresholds};

use super::figures::{Scored, auc, best, f1, precision, recall};
use super::searcher;
use crate::Result;

/// A pair of indexes of programs, the smaller index first.
type Places = (usize, usize);

/// A pair with its score.
type Score = (&'static str, fn(&Pair) -> f64);

const SCORE: &str = "**score**";

const SCORES: [Score; 5] = [
    ("resemblance", |pair| pair.similarity.resemblance),
    ("containment", |pair| pair.similarity.containment_of_a.max(pair.similarity.containment_of_b)),
    ("weighted resemblance", |pair| pair.weighted.map_or(0.0, |weighted| weighted.resemblance)),
    ("weighted containment", |pair| {
        pair.weighted.map_or(0.0, |by| by.containment_of_a.max(by.containment_of_b))
    }),
    (SCORE, |pair| pair.score.unwrap_or(0.0)),
];

/// Scheme and analyzer of each method of comparison.
const SETTINGS: [(&str, &str); 2] =
    [("winnow(k=5,w=4)", "code(language=java)"), ("kgram(k=3)", "words")];

/// Minimum size of a group of programs, connected by judged pairs, to be measured as a collection
/// of a single task.
const TASK_PROGRAMS_MIN: usize = 13;

/// Thresholds of the score, for the table of precision and recall.
const THRESHOLDS: [f64; 7] = [0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6];

/// Prints, for each score, AUC and F1 on the judged pairs, the best of all pairs, precision and
/// recall by threshold, and figures for collections of a single task.
pub(super) fn print(corpus: &Path, judged: &Path) -> Result {
    let (mut ids, mut texts) = (HashMap::new(), Vec::new());
    for document in crate::cento::documents(corpus)? {
        let document = document?;
        ids.insert(document.id, texts.len());
        texts.push(document.text);
    }
    let judged = read(judged, &ids)?;
    let groups = groups(&judged, texts.len());
    let halves = halves(&groups);
    let copies = judged.values().filter(|is_copy| **is_copy).count();
    println!("{} programs, {} judged pairs, {copies} of them copies\n", texts.len(), judged.len());
    println!(
        "| by | score | AUC | halves | F1, threshold of the other half | thresholds | \
         best {copies} of all pairs: copies, judged otherwise, not judged |"
    );
    println!("|---|---|---|---|---|---|---|");
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut by_score = Vec::new();
    for setting in SETTINGS {
        let found = all_pairs(setting, &texts)?;
        for (name, score) in scores_of(setting) {
            let by: HashMap<Places, f64> =
                found.iter().map(|(places, pair)| (*places, score(pair))).collect();
            let of = |half: bool| -> Vec<Scored> {
                let wanted = judged.iter().filter(|((a, _), _)| halves[*a] == half);
                wanted.map(|(pair, copy)| (by.get(pair).copied().unwrap_or(0.0), *copy)).collect()
            };
            let counts = counts(&by, &judged, copies);
            let both = [of(false), of(true)];
            println!(
                "| {} | {name} | {} | {}, {}, {} |",
                super::name(setting.0, setting.1),
                figures_of(&both),
                counts[0],
                counts[1],
                counts[2]
            );
            if *name == SCORE {
                by_score = both.concat();
            }
        }
    }
    println!("\nJudged pairs with at least a score\n");
    println!("| score | precision | recall | F1 |");
    println!("|---|---|---|---|");
    for threshold in THRESHOLDS {
        println!(
            "| {threshold} | {:.3} | {:.3} | {:.3} |",
            precision(&by_score, threshold),
            recall(&by_score, threshold),
            f1(&by_score, threshold)
        );
    }
    print_tasks(&texts, &judged, &groups)
}

/// Prints AUC and F1 if each task is a collection.
fn print_tasks(texts: &[&str], judged: &BTreeMap<Places, bool>, groups: &[usize]) -> Result {
    let tasks = tasks(groups);
    let sizes: Vec<String> = tasks.iter().map(|task| task.len().to_string()).collect();
    println!("\nEach task a collection; programs: {}\n", sizes.join(", "));
    println!("| by | score | AUC | halves | F1, threshold of the other half | thresholds |");
    println!("|---|---|---|---|---|---|");
    for setting in SETTINGS {
        let scores = scores_of(setting);
        let mut scored = vec![[Vec::new(), Vec::new()]; scores.len()];
        for (number, task) in tasks.iter().enumerate() {
            let texts: Vec<&str> = task.iter().map(|&place| texts[place]).collect();
            let found: HashMap<Places, Pair> = all_pairs(setting, &texts)?.into_iter().collect();
            for (places, is_copy) in judged {
                let Ok(a) = task.binary_search(&places.0) else { continue };
                let b = task.binary_search(&places.1).map_err(|_| "a pair of two groups")?;
                for (scored, (_, score)) in scored.iter_mut().zip(scores) {
                    let score = found.get(&(a, b)).map_or(0.0, score);
                    scored[number % 2].push((score, *is_copy));
                }
            }
        }
        for (both, (name, _)) in scored.iter().zip(scores) {
            println!("| {} | {name} | {} |", super::name(setting.0, setting.1), figures_of(both));
        }
    }
    Ok(())
}

/// Scores the pairs by one setting.
fn scores_of((_, analyzer): (&str, &str)) -> &'static [Score] {
    if analyzer == "words" { &SCORES[..SCORES.len() - 1] } else { &SCORES }
}

/// Finds the pairs of a collection of these programs.
fn all_pairs(setting: (&str, &str), texts: &[&str]) -> Result<Vec<(Places, Pair)>> {
    let searcher = searcher(setting, texts, true)?;
    let rank = if has_scores(&searcher) { PairRank::Score } else { PairRank::Overlap };
    let options = PairOptions::default().thresholds(Thresholds::default().min_overlap(1));
    let options = options.weighted(true).rank(rank);
    let mut found = Vec::new();
    for pair in pairs(&searcher, &options) {
        let pair = pair?;
        let place = |address| -> Result<usize> { Ok(searcher.snapshot().id(address)?.parse()?) };
        let (a, b) = (place(pair.a)?, place(pair.b)?);
        found.push(((a.min(b), a.max(b)), pair));
    }
    Ok(found)
}

/// Returns the cells: AUC of all pairs and by half, F1 by half with the threshold of the opposite
/// half, and the two thresholds.
fn figures_of(halves: &[Vec<Scored>; 2]) -> String {
    let [one, other] = halves;
    let thresholds = [best(one).0, best(other).0];
    format!(
        "{:.3} | {:.3}, {:.3} | {:.3}, {:.3} | {:.2}, {:.2}",
        auc(&halves.concat()),
        auc(one),
        auc(other),
        f1(one, thresholds[1]),
        f1(other, thresholds[0]),
        thresholds[0],
        thresholds[1]
    )
}

/// Counts, among the pairs with the highest scores, copies, pairs judged as independent, and
/// unjudged pairs.
fn counts(
    by: &HashMap<Places, f64>,
    judged: &BTreeMap<Places, bool>,
    of_the_best: usize,
) -> [usize; 3] {
    let mut ranked: Vec<(&Places, &f64)> = by.iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
    let mut counts = [0; 3];
    for (pair, _) in ranked.into_iter().take(of_the_best) {
        counts[judged.get(pair).map_or(2, |copy| usize::from(!copy))] += 1;
    }
    counts
}

/// Reads lines of two ids, and 1 for a copy or 0, with tabs between them, below a heading.
fn read(path: &Path, ids: &HashMap<String, usize>) -> Result<BTreeMap<Places, bool>> {
    let mut judged = BTreeMap::new();
    for line in std::fs::read_to_string(path)?.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [a, b, copied] = fields[..] else { return Err(format!("not a pair: {line}").into()) };
        let place = |id: &str| ids.get(id).copied().ok_or(format!("no program {id}"));
        let (a, b) = (place(a)?, place(b)?);
        judged.insert((a.min(b), a.max(b)), copied == "1");
    }
    Ok(judged)
}

/// Returns the group of every program, identified by the group's first member. Judged pairs connect
/// programs to groups.
fn groups(judged: &BTreeMap<Places, bool>, count: usize) -> Vec<usize> {
    let mut group: Vec<usize> = (0..count).collect();
    for &(a, b) in judged.keys() {
        let (from, to) = (group[a].max(group[b]), group[a].min(group[b]));
        group.iter_mut().filter(|own| **own == from).for_each(|own| *own = to);
    }
    group
}

/// Returns the half of each program. Every second group is in the second half.
fn halves(groups: &[usize]) -> Vec<bool> {
    let names: BTreeSet<usize> = groups.iter().copied().collect();
    let half: HashMap<usize, bool> =
        names.into_iter().enumerate().map(|(number, name)| (name, number % 2 == 1)).collect();
    groups.iter().map(|name| half[name]).collect()
}

/// Returns the large groups, the largest first, with the places of their programs, ascending.
fn tasks(groups: &[usize]) -> Vec<Vec<usize>> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, name) in groups.iter().enumerate() {
        members.entry(*name).or_default().push(place);
    }
    let mut tasks: Vec<Vec<usize>> =
        members.into_values().filter(|task| task.len() >= TASK_PROGRAMS_MIN).collect();
    tasks.sort_by_key(|task| std::cmp::Reverse(task.len()));
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_have_no_program_and_no_judged_pair_in_common() {
        let pairs = [(0, 3), (3, 5), (1, 2), (4, 6), (2, 7)];
        let judged = pairs.into_iter().map(|pair| (pair, true)).collect();
        let groups = groups(&judged, 9);
        assert_eq!(groups, [0, 1, 1, 0, 4, 0, 4, 1, 8]);
        let halves = halves(&groups);
        assert_eq!(halves, [false, true, true, false, false, false, false, true, true]);
        assert!(pairs.iter().all(|&(a, b)| halves[a] == halves[b]));
    }

    #[test]
    fn tasks_are_the_large_groups() {
        let groups: Vec<usize> = (0..40).map(|place| [0, 1, 0, 3][place % 4].min(place)).collect();
        let tasks = tasks(&groups);
        assert_eq!(tasks, [(0..40).step_by(2).collect::<Vec<_>>()]);
    }

    #[test]
    fn the_best_pairs_are_counted_by_their_judgement() {
        let by = HashMap::from([((0, 1), 0.9), ((0, 2), 0.8), ((1, 2), 0.7), ((2, 3), 0.1)]);
        let judged = BTreeMap::from([((0, 1), true), ((0, 2), false), ((2, 3), true)]);
        assert_eq!(counts(&by, &judged, 3), [1, 1, 1]);
        assert_eq!(counts(&by, &judged, 9), [2, 1, 1]);
    }
}
