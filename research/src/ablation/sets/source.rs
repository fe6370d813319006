//! Sets of source code with known copies.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use cento::compare::align::Genre;
use cento::text::Analyzer;
use fastrand::Rng;

use super::{Counts, Text, auc};
use crate::Result;
use crate::cento::documents;

fn java() -> Result<Analyzer> {
    Ok("code(language=java)".parse()?)
}

fn programs(path: &Path) -> Result<Vec<(String, Text)>> {
    let java = java()?;
    documents(path)?
        .map(|program| {
            let program = program?;
            Ok((program.id, Text::new(program.text, &java)?))
        })
        .collect()
}

pub fn irplag(dir: &Path) -> Result<f64> {
    let programs = programs(&dir.join("irplag.jsonl.zst"))?;
    let task = |id: &str| id.split('/').next().unwrap_or_default().to_owned();
    let role = |id: &str| id.split('/').nth(1).unwrap_or_default().to_owned();
    let originals: HashMap<String, &Text> = programs
        .iter()
        .filter(|(id, _)| role(id) == "original")
        .map(|(id, text)| (task(id), text))
        .collect();
    let mut scored = Vec::new();
    for (id, text) in programs.iter().filter(|(id, _)| role(id) != "original") {
        let original = originals.get(&task(id)).ok_or_else(|| format!("no original of {id}"))?;
        let is_copy = role(id) == "plagiarized";
        scored.push((text.matched_share(original, Genre::Program)?, is_copy));
    }
    Ok(auc(&scored))
}

pub fn contests(dir: &Path) -> Result<f64> {
    let programs: HashMap<String, Text> =
        programs(&dir.join("contest-programs-dev.jsonl.zst"))?.into_iter().collect();
    let judged = std::fs::read_to_string(dir.join("contest-programs-dev-pairs.tsv"))?;
    let mut scored = Vec::new();
    for line in judged.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let of = |id: &str| programs.get(id).ok_or_else(|| format!("no program {id}"));
        let (a, b) = (of(fields[0])?, of(fields[1])?);
        scored.push((a.matched_share(b, Genre::Program)?, fields[2] == "1"));
    }
    Ok(auc(&scored))
}

pub fn submissions(dir: &Path) -> Result<f64> {
    let programs = programs(&dir.join("progpedia-dev.jsonl.zst"))?;
    let judged = std::fs::read_to_string(dir.join("progpedia-dev-pairs.tsv"))?;
    let pairs = judged.lines().filter_map(|line| line.split_once('\t'));
    let copies: HashSet<(&str, &str)> = pairs.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
    let name = |id: &str| id.split('/').next().unwrap_or_default().to_owned();
    let submitted = || programs.iter().filter(|(id, _)| !id.starts_with("base"));
    let mut scored = Vec::new();
    for (at, (a_id, a)) in submitted().enumerate() {
        for (b_id, b) in submitted().skip(at + 1) {
            let is_copy = copies.contains(&(name(a_id).as_str(), name(b_id).as_str()));
            scored.push((a.matched_share(b, Genre::Program)?, is_copy));
        }
    }
    Ok(auc(&scored))
}

/// Programs with a table of constants.
const TABLES: usize = 300;

pub fn constants(dir: &Path) -> Result<f64> {
    let java = java()?;
    let path = dir.join("contest-programs-dev.jsonl.zst");
    let mut bodies = documents(&path)?;
    let (mut rng, mut counts) = (Rng::with_seed(1), Counts::default());
    let table = |rng: &mut Rng, count: usize| {
        (0..count).map(|_| rng.u32(..1000).to_string()).collect::<Vec<_>>()
    };
    for at in 0..TABLES {
        let count = 4 + at % 60;
        let values = table(&mut rng, count);
        let mut others = match at % 3 {
            0 => table(&mut rng, count),
            _ => values.clone(),
        };
        if at % 3 == 2 {
            for value in others.iter_mut().step_by(5) {
                *value = "7".to_owned();
            }
        }
        let mut program = |values: &[String]| -> Result<String> {
            let body = bodies.next().ok_or("too few programs")??.text;
            Ok(format!("class T {{ int[] values = {{ {} }}; }}\n{body}", values.join(", ")))
        };
        let [a, b] = [program(&values)?, program(&others)?];
        // Bodies of different programs have no labels; the declaration has.
        let declaration = format!("class T {{ int[] values = {{ {} }}; }}", values.join(", "));
        let len = Text::new(declaration, &java)?.len();
        let (a, b) = (Text::new(a, &java)?, Text::new(b, &java)?);
        let is_copy = at % 3 != 0;
        // Fewer literals are a list of arguments, which any two programs have in common.
        let expected = (0..a.len()).map(|at| (at < len && count >= 16).then_some(is_copy));
        counts.add(&a.marked(&b, Genre::Program)?, expected);
    }
    Ok(counts.f1())
}
