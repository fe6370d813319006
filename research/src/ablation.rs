//! Measures the worth of each rule of an alignment.
//!
//! The rules of `crates/cento-text/src/compare/align` are plain constants and expressions. This
//! tool copies the sources, makes each rule of [`RULES`] depend on an environment variable, and
//! builds the copy once. The copy then measures all [`SETS`] with all rules, and again without each
//! rule.
//!
//! A figure in the table is the gain by a rule: the figure with all rules, less the figure without
//! the rule. A rule that adds less than .002 on every set is not worth its lines.

mod rules;
mod sets;
mod switch;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;

use crate::Result;
use rules::{BOUNDS, RULES, Rule};
use sets::{SETS, Set};

/// Measure the effect of every rule of an alignment, by removing the rule.
#[derive(Debug, Args)]
pub struct Ablation {
    /// The directory with the corpora.
    #[arg(long)]
    corpora: PathBuf,
    /// The directory where a copy of the sources is built.
    #[arg(long)]
    work: PathBuf,
    /// The root of the repository.
    #[arg(long, default_value = ".")]
    root: PathBuf,
    /// Only this rule. Can be repeated.
    #[arg(long)]
    rule: Vec<String>,
    /// Only this set. Can be repeated.
    #[arg(long)]
    set: Vec<String>,
    /// The number of processes that measure.
    #[arg(long, default_value = "2")]
    jobs: usize,
    /// Measure the sets once, with the rules of this program.
    #[arg(long)]
    once: bool,
}

impl Ablation {
    pub(crate) fn run(self) -> Result {
        let wanted: Vec<&Set> = SETS.iter().filter(|set| self.wants(set.name)).collect();
        if self.once {
            for set in wanted {
                let started = Instant::now();
                let figure = (set.measure)(&self.corpora)?;
                println!("{}\t{figure:.6}\t{:.1} s", set.name, started.elapsed().as_secs_f64());
            }
            return Ok(());
        }
        switch::copy(&self.root, &self.work)?;
        let program = build(&self.work)?;
        let is_wanted =
            |rule: &&Rule| self.rule.is_empty() || self.rule.iter().any(|name| rule.is(name));
        let rules: Vec<&Rule> = RULES.iter().filter(is_wanted).collect();
        let numbers = rules.iter().map(|rule| rule.number().to_string());
        let numbers: Vec<String> = [String::new()].into_iter().chain(numbers).collect();
        let figures = self.measure(&program, &numbers)?;
        print(&wanted, &rules, &figures);
        Ok(())
    }

    fn wants(&self, set: &str) -> bool {
        self.set.is_empty() || self.set.iter().any(|name| name == set)
    }

    /// Measures the sets once for every rule in `without`, with the rule switched off.
    fn measure(&self, program: &Path, without: &[String]) -> Result<Vec<Vec<f64>>> {
        let next = AtomicUsize::new(0);
        let figures = Mutex::new(vec![Vec::new(); without.len()]);
        let work = || -> std::result::Result<(), String> {
            while let Some(rule) = without.get(next.fetch_add(1, Ordering::Relaxed)) {
                let at = without.iter().position(|number| number == rule).unwrap_or_default();
                let measured = self.once_without(program, rule).map_err(|e| e.to_string())?;
                eprintln!("{rule}: {measured:?}");
                figures.lock().map_err(|e| e.to_string())?[at] = measured;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(work)).collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().map_err(|_| "a thread died".to_owned())?)
        })?;
        Ok(figures.into_inner()?)
    }

    fn once_without(&self, program: &Path, rule: &str) -> Result<Vec<f64>> {
        let mut command = Command::new(program);
        command.args(["ablation", "--once", "--work", "."]).arg("--corpora").arg(&self.corpora);
        command.args(self.set.iter().flat_map(|set| ["--set", set]));
        let output = command.env(switch::VARIABLE, rule).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(format!("measuring without {rule} failed: {}", output.status).into());
        }
        let lines = String::from_utf8(output.stdout)?;
        let figure = |line: &str| line.split('\t').nth(1).and_then(|figure| figure.parse().ok());
        lines
            .lines()
            .map(|line| figure(line).ok_or_else(|| format!("no figure: {line}").into()))
            .collect()
    }
}

/// Prints the gain by rule and set.
fn print(sets: &[&Set], rules: &[&Rule], figures: &[Vec<f64>]) {
    for set in sets {
        let kind = if set.chose_rules { "chose rules" } else { "did not choose any" };
        println!("- {}, {kind}: {}", set.name, set.figure);
    }
    let heads: Vec<&str> = sets.iter().map(|set| set.name).collect();
    println!("\n| rule: without it | subject | {} |", heads.join(" | "));
    println!("|---|---|{}", "---:|".repeat(heads.len()));
    let all = &figures[0];
    let cells: Vec<String> = all.iter().map(|figure| format!("{figure:.4}")).collect();
    println!("| all rules | | {} |", cells.join(" | "));
    for (rule, figures) in rules.iter().zip(&figures[1..]) {
        let worth = all.iter().zip(figures).map(|(all, without)| all - without);
        let cell = |worth: f64| if worth == 0.0 { String::new() } else { format!("{worth:.4}") };
        let cells: Vec<String> = worth.map(cell).collect();
        let Rule { without, what, .. } = rule;
        println!("| `{}`: `{without}` | {what} | {} |", rule.id(), cells.join(" | "));
    }
    println!("\n| bound | subject |\n|---|---|");
    BOUNDS.iter().for_each(|(name, what)| println!("| `{name}` | {what} |"));
}

/// Builds this program from the copy.
fn build(work: &Path) -> Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "--manifest-path"])
        .arg(work.join("research/Cargo.toml"))
        .arg("--target-dir")
        .arg(work.join("target"))
        .envs([("CARGO_PROFILE_RELEASE_LTO", "off"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")])
        .status()?;
    match status.success() {
        true => Ok(work.join("target/release/cento-research")),
        false => Err("the copy of the sources does not compile".into()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::rules::{BOUNDS, RULES, Rule};
    use super::switch;

    #[test]
    fn each_rule_is_in_the_sources() {
        let directory = Path::new("..").join(switch::DIRECTORY);
        switch::switch_all(&mut switch::files(&directory).unwrap()).unwrap();
    }

    #[test]
    fn each_constant_is_a_rule_or_a_bound_and_they_are_few() {
        let directory = Path::new("..").join(switch::DIRECTORY);
        let is_test = |name: &str| ["formulaic.rs", "hostile.rs", "order.rs"].contains(&name);
        let mut constants = Vec::new();
        for (name, text) in switch::files(&directory).unwrap() {
            if is_test(&name) {
                continue;
            }
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            for line in code.lines().map(str::trim_start) {
                let declared = ["const ", "pub const ", "pub(crate) const "];
                let Some(rest) = declared.iter().find_map(|by| line.strip_prefix(by)) else {
                    continue;
                };
                let Some((constant, _)) = rest.split_once(": ") else { continue };
                if constant.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
                    constants.push(format!("{}::{constant}", name.trim_end_matches(".rs")));
                }
            }
        }
        let mut rows: Vec<String> =
            RULES.iter().filter(|rule| rule.code.is_empty()).map(Rule::id).collect();
        rows.extend(BOUNDS.iter().map(|(name, _)| (*name).to_owned()));
        rows.sort_unstable();
        constants.sort_unstable();
        assert_eq!(constants, rows);
        assert!(constants.len() <= 63, "{}", constants.len());
    }
}
