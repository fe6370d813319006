//! Ranks all programs of a task by similarity to the original, and measures the ranks of the
//! copies.

use super::figures::{Scored, auc, average_precision};
use super::{Compared, Program, Role, scores};
use crate::Result;

/// The name of a ranking, and the score of a program against the original of its task.
type Ranking<'a> = (String, Box<dyn Fn(usize, usize) -> f64 + 'a>);

/// Prints AUC and average precision of all copies by ranking, level and task.
pub(super) fn print(programs: &[Program], compared: &[Compared]) -> Result {
    let tokens = &compared[0].tokens;
    let by_score = scores_in_tasks(programs)?;
    let mut rankings: Vec<Ranking<'_>> = Vec::new();
    let by_tokens = |a: usize, b: usize| ratio(tokens[a], tokens[b]);
    rankings.push(("lengths in tokens alone".into(), Box::new(by_tokens)));
    let bytes = |place: usize| programs[place].text.len() as u32;
    rankings
        .push(("lengths in bytes alone".into(), Box::new(move |a, b| ratio(bytes(a), bytes(b)))));
    for way in compared {
        rankings.push((way.name.clone(), Box::new(move |a, b| way.similarity[a][b])));
        if !way.keys.is_empty() {
            let name = format!("{}, containment", way.name);
            rankings.push((name, Box::new(move |a, b| way.containment[a][b])));
        }
    }
    rankings.push(("**score**".into(), Box::new(|a, b| by_score[a][b])));
    println!("Copies above independent solutions, AUC and average precision; by level AUC\n");
    println!("| ranking | AUC | AP | L1 | L2 | L3 | L4 | L5 | L6 |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, score) in &rankings {
        let all = scored(programs, score, None, None);
        print!("| {name} | {:.3} | {:.3} |", auc(&all), average_precision(&all));
        for level in 1..=6 {
            print!(" {:.3} |", auc(&scored(programs, score, None, Some(level))));
        }
        println!();
    }
    println!("\nBy task: AUC, average precision\n");
    println!("| ranking | 1 | 2 | 3 | 4 | 5 | 6 | 7 | mean |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, score) in &rankings {
        print!("| {name} |");
        let mut sums = (0.0, 0.0);
        for task in 1..=7 {
            let all = scored(programs, score, Some(task), None);
            let (auc, precision) = (auc(&all), average_precision(&all));
            sums = (sums.0 + auc, sums.1 + precision);
            print!(" {auc:.3}, {precision:.3} |");
        }
        println!(" {:.3}, {:.3} |", sums.0 / 7.0, sums.1 / 7.0);
    }
    Ok(())
}

/// Returns cento's scores of the pairs of each task, with the task's programs as a collection.
fn scores_in_tasks(programs: &[Program]) -> Result<Vec<Vec<f64>>> {
    let mut found = vec![vec![0.0; programs.len()]; programs.len()];
    for task in 1..=7 {
        let members: Vec<usize> =
            (0..programs.len()).filter(|&place| programs[place].task == task).collect();
        let texts: Vec<&str> = members.iter().map(|&place| &*programs[place].text).collect();
        for (row, &a) in scores(&texts)?.iter().zip(&members) {
            row.iter().zip(&members).for_each(|(score, &b)| found[a][b] = *score);
        }
    }
    Ok(found)
}

/// Prints how often independent solutions of a task are alike, by the tokens of the shorter
/// solution.
pub(super) fn print_lengths(programs: &[Program], way: &Compared) {
    println!("\nIndependent solutions of one task by the tokens of the shorter, {}\n", way.name);
    println!("| tokens | pairs | resemblance .8 and more, tasks 1 3 5 7 | tasks 2 4 6 | equal |");
    println!("|---|---|---|---|---|");
    let bounds = [0, 50, 75, 100, 125, 150, 200, 300, u32::MAX];
    for range in bounds.windows(2) {
        // Pairs and alike pairs, for odd tasks and for even tasks.
        let (mut pairs, mut alike, mut equal) = ([0, 0], [0, 0], 0);
        for a in 0..programs.len() {
            for b in 0..a {
                let (one, other) = (&programs[a], &programs[b]);
                let is_copy = |role| matches!(role, Role::Copy(_));
                let shorter = way.tokens[a].min(way.tokens[b]);
                if one.task != other.task
                    || is_copy(one.role)
                    || is_copy(other.role)
                    || !(range[0]..range[1]).contains(&shorter)
                {
                    continue;
                }
                let half = usize::from(one.task.is_multiple_of(2));
                pairs[half] += 1;
                alike[half] += u32::from(way.similarity[a][b] >= 0.8);
                equal += u32::from(way.similarity[a][b] == 1.0);
            }
        }
        let share = |half: usize| match pairs[half] {
            0 => "--".to_owned(),
            count => format!("{:.3} of {count}", f64::from(alike[half]) / f64::from(count)),
        };
        let label = match range[1] {
            u32::MAX => format!("{} and more", range[0]),
            end => format!("{} to {}", range[0], end - 1),
        };
        println!("| {label} | {} | {} | {} | {equal} |", pairs[0] + pairs[1], share(0), share(1));
    }
}

fn ratio(a: u32, b: u32) -> f64 {
    f64::from(a.min(b)) / f64::from(a.max(b).max(1))
}

/// Returns scores against the originals, for a single task or all tasks, with copies of a single
/// level or all levels.
fn scored(
    programs: &[Program],
    score: &dyn Fn(usize, usize) -> f64,
    task: Option<u32>,
    level: Option<u32>,
) -> Vec<Scored> {
    let mut found = Vec::new();
    for (place, program) in programs.iter().enumerate() {
        if task.is_some_and(|task| task != program.task) {
            continue;
        }
        let is_original = |other: &&(usize, &Program)| {
            other.1.task == program.task && other.1.role == Role::Original
        };
        let original = programs.iter().enumerate().collect::<Vec<_>>();
        let Some((original, _)) = original.iter().find(is_original) else { continue };
        match program.role {
            Role::Copy(own) if level.is_none_or(|level| level == own) => {
                found.push((score(*original, place), true));
            }
            Role::Independent => found.push((score(*original, place), false)),
            _ => {}
        }
    }
    found
}
