//! Measures thresholds in collections that did not choose them.
//!
//! A collection has some tasks, each with an original, several independent solutions, and copies of
//! random levels. The pairs of an original and its copies are to be found. Half of the tasks choose
//! a threshold, in collections of few programs. The second half judges it, in small and in large
//! collections. Then the halves change roles.

use super::figures::{Scored, best, f1};
use super::{Compared, Program, Role, scores};
use crate::Result;

/// The halves of the tasks.
const HALVES: [&[u32]; 2] = [&[1, 3, 5, 7], &[2, 4, 6]];

/// The shape of a small collection: tasks, independent solutions per task, copies per original.
const SMALL: (usize, usize, usize) = (1, 7, 1);
/// The shape of a large collection: everything available.
const LARGE: (usize, usize, usize) = (4, 15, 2);

/// Rank of the neighbor that margins were measured from, until cento used evidence instead.
const MARGIN_RANK: usize = 6;
/// Alternative ranks, for comparison.
const RANKS: [usize; 5] = [2, 4, MARGIN_RANK, 8, 12];

/// A way to score the pairs of a collection.
#[derive(Clone, Copy, PartialEq)]
enum Score {
    Resemblance,
    Containment,
    /// Resemblance with fingerprints weighted by how rare they are within the collection.
    Weighted,
    /// Resemblance, less the resemblance of the neighbor of this rank.
    Margin(usize),
    /// The margin, with weighted fingerprints.
    WeightedMargin(usize),
    /// cento's score of pairs of programs.
    Programs,
}

pub(super) fn print(
    programs: &[Program],
    compared: &[Compared],
    count: usize,
    seed: u64,
) -> Result {
    println!(
        "\nF1 with the threshold of the other half of the tasks, of {count} collections each\n"
    );
    println!("| by | score | threshold | small | large | large, best threshold |");
    println!("|---|---|---|---|---|---|");
    for way in compared {
        let mut scores = vec![Score::Resemblance];
        if !way.keys.is_empty() {
            scores.extend([Score::Containment, Score::Weighted]);
        }
        scores.extend(RANKS.map(Score::Margin));
        if !way.keys.is_empty() {
            scores.push(Score::WeightedMargin(MARGIN_RANK));
        }
        if way.is_default() {
            scores.push(Score::Programs);
        }
        for score in scores {
            let (mut thresholds, mut judged) = (Vec::new(), [0.0; 3]);
            for (chooser, judge) in [(0, 1), (1, 0)] {
                let pool = |half: usize, shape, salt: u64| -> Result<Vec<Scored>> {
                    let mut rng = fastrand::Rng::with_seed(seed * 1000 + salt);
                    let one = |_| {
                        let members = collection(programs, HALVES[half], shape, &mut rng);
                        scored(programs, way, &members, score)
                    };
                    let found = (0..count).map(one).collect::<Result<Vec<_>>>()?;
                    Ok(found.into_iter().flatten().collect::<Vec<Scored>>())
                };
                let (threshold, _) = best(&pool(chooser, SMALL, chooser as u64)?);
                let (small, large) = (
                    pool(judge, SMALL, 10 + judge as u64)?,
                    pool(judge, LARGE, 20 + judge as u64)?,
                );
                thresholds.push(format!("{threshold:.2}"));
                judged[0] += f1(&small, threshold) / 2.0;
                judged[1] += f1(&large, threshold) / 2.0;
                judged[2] += best(&large).1 / 2.0;
            }
            println!(
                "| {} | {} | {} | {:.3} | {:.3} | {:.3} |",
                way.name,
                score.name(),
                thresholds.join(", "),
                judged[0],
                judged[1],
                judged[2]
            );
        }
    }
    Ok(())
}

impl Score {
    fn name(self) -> String {
        match self {
            Score::Resemblance => "resemblance".into(),
            Score::Containment => "containment".into(),
            Score::Weighted => "weighted resemblance".into(),
            Score::Margin(MARGIN_RANK) => format!("**margin**, rank {MARGIN_RANK}"),
            Score::Margin(rank) => format!("margin, rank {rank}"),
            Score::WeightedMargin(rank) => format!("margin of weighted, rank {rank}"),
            Score::Programs => "**score**".into(),
        }
    }
}

/// Draws the programs of a random collection of this shape.
fn collection(
    programs: &[Program],
    tasks: &[u32],
    (tasks_max, independent, copies): (usize, usize, usize),
    rng: &mut fastrand::Rng,
) -> Vec<usize> {
    let mut tasks = tasks.to_vec();
    rng.shuffle(&mut tasks);
    tasks.truncate(tasks_max);
    let mut members = Vec::new();
    for task in tasks {
        let mut of = |is: &dyn Fn(Role) -> bool, count: usize| {
            let mut found: Vec<usize> = (0..programs.len())
                .filter(|&place| programs[place].task == task && is(programs[place].role))
                .collect();
            rng.shuffle(&mut found);
            members.extend(found.into_iter().take(count));
        };
        of(&|role| role == Role::Original, 1);
        of(&|role| matches!(role, Role::Copy(_)), copies);
        of(&|role| role == Role::Independent, independent);
    }
    members.sort_unstable();
    members
}

/// Scores all pairs of a collection.
fn scored(
    programs: &[Program],
    way: &Compared,
    members: &[usize],
    score: Score,
) -> Result<Vec<Scored>> {
    let plain = match score {
        Score::Containment => select(&way.containment, members),
        Score::Weighted | Score::WeightedMargin(_) => weighted(way, members),
        Score::Resemblance | Score::Margin(_) => select(&way.similarity, members),
        Score::Programs => {
            let texts: Vec<&str> = members.iter().map(|&place| &*programs[place].text).collect();
            scores(&texts)?
        }
    };
    let similarity = match score {
        Score::Margin(rank) | Score::WeightedMargin(rank) => margins(&plain, rank),
        _ => plain,
    };
    let mut found = Vec::new();
    for a in 0..members.len() {
        for b in 0..a {
            let (one, other) = (&programs[members[a]], &programs[members[b]]);
            let is_derived = |role| role != Role::Independent;
            let is_copy = one.task == other.task && is_derived(one.role) && is_derived(other.role);
            found.push((similarity[a][b], is_copy));
        }
    }
    Ok(found)
}

fn select(all: &[Vec<f64>], members: &[usize]) -> Vec<Vec<f64>> {
    members.iter().map(|&a| members.iter().map(|&b| all[a][b]).collect()).collect()
}

/// Returns resemblances. Fingerprints are weighted by the logarithm of their rarity.
fn weighted(way: &Compared, members: &[usize]) -> Vec<Vec<f64>> {
    let mut counts = std::collections::HashMap::new();
    for &member in members {
        way.keys[member].iter().for_each(|key| *counts.entry(*key).or_insert(0u32) += 1);
    }
    let weight = |key: &u64| (1.0 + members.len() as f64 / f64::from(counts[key])).ln();
    let sums: Vec<f64> =
        members.iter().map(|&member| way.keys[member].iter().map(weight).sum()).collect();
    let pair = |a: usize, b: usize| {
        let (one, other) = (&way.keys[members[a]], &way.keys[members[b]]);
        let shared = one.iter().filter(|key| other.binary_search(key).is_ok());
        let shared: f64 = shared.map(weight).sum();
        shared / (sums[a] + sums[b] - shared).max(f64::MIN_POSITIVE)
    };
    (0..members.len()).map(|a| (0..members.len()).map(|b| pair(a, b)).collect()).collect()
}

/// Returns the margins over the neighbor of this rank, computed by definition.
fn margins(similarity: &[Vec<f64>], rank: usize) -> Vec<Vec<f64>> {
    let count = similarity.len();
    let sorted: Vec<Vec<(f64, usize)>> = (0..count)
        .map(|of| {
            let others = (0..count).filter(|&other| other != of);
            let mut others: Vec<_> = others.map(|other| (similarity[of][other], other)).collect();
            others.sort_by(|a, b| b.0.total_cmp(&a.0));
            others
        })
        .collect();
    let ranked = |of: usize, without: usize| {
        let mut others = sorted[of].iter().filter(|(_, other)| *other != without);
        others.nth(rank - 1).map_or(0.0, |(similarity, _)| *similarity)
    };
    let margin = |a: usize, b: usize| similarity[a][b] - ranked(a, b).max(ranked(b, a));
    (0..count)
        .map(|a| (0..count).map(|b| if a == b { 0.0 } else { margin(a, b) }).collect())
        .collect()
}
