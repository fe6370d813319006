//! Measures programs that remove near-duplicates with `python/bench/compare.py`.

use std::path::Path;
use std::process::Command;

use super::record::{Neighbor, Outcome, Row};
use crate::Result;

/// The programs under their names in the script.
const PROGRAMS: [&str; 4] = ["command-lines", "rensa", "datasketch", "text-dedup"];

/// The path of the script from the root of the repository.
const SCRIPT: &str = "python/bench/compare.py";

/// Measures the programs that the interpreter provides, and records why programs are missing.
pub fn measure(
    python: Option<&Path>,
    cento: &Path,
    work: &Path,
    megabytes: usize,
    threshold: f64,
) -> Result<Vec<Row<Neighbor>>> {
    let Some(python) = python else {
        let why = "`--python` names no interpreter that has it";
        let row = |name: &&str| missing(name, why);
        return Ok(PROGRAMS.iter().map(row).collect());
    };
    let directory = work.join("neighbors");
    let script = |args: &[&str]| -> Result<String> {
        let mut command = Command::new(python);
        command.arg(SCRIPT).arg(args[0]).arg(&directory).args(&args[1..]);
        command.env("CENTO_CLI", cento).env("THRESHOLD", threshold.to_string());
        let output = command.output().map_err(|e| format!("{}: {e}", python.display()))?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{SCRIPT} failed: {}: {told}", output.status).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    };
    script(&["make", &megabytes.to_string()])?;
    let mut args = vec!["all"];
    args.extend(PROGRAMS);
    let told = script(&args)?;
    Ok(PROGRAMS.iter().map(|name| row(name, &told)).collect())
}

fn missing(name: &str, why: &str) -> Row<Neighbor> {
    Row { name: shown(name).into(), outcome: Outcome::NotMeasured(why.into()) }
}

fn shown(name: &str) -> &str {
    if name == "command-lines" { "`cento dedup`" } else { name }
}

/// Reads the row of a program from the script's table, or the last message of a program that
/// failed.
fn row(name: &str, told: &str) -> Row<Neighbor> {
    let is_of_it =
        |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', ':']));
    let Some(line) = told.lines().find(is_of_it) else {
        return missing(name, "the script does not show it");
    };
    if let Some(why) = line.strip_prefix(&format!("{name}: ")) {
        return missing(name, why);
    }
    let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
    let numbers: Option<Vec<f64>> = cells.iter().skip(1).map(|cell| cell.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[mb_per_second, mb_per_processor_second, peak_mb, ref recall @ .., precision, _]) => {
            let recall = recall.to_vec();
            Row {
                name: cells[0].replace("command-lines", "`cento dedup`"),
                outcome: Outcome::Measured(Neighbor {
                    mb_per_second,
                    mb_per_processor_second,
                    peak_mb,
                    recall,
                    precision,
                }),
            }
        }
        _ => missing(name, "its row cannot be read"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_missing_has_its_reason_and_no_number() {
        let told = "10 documents, 1.0 MB, threshold 0.7\n\
                    program | MB/s | of a processor | MB of memory | 0 % | 1 % | precision | lost\n\
                    rensa 0.5.0 | 25.1 | 15.6 | 395 | 1.000 | 0.996 | 0.995 | 0\n\
                    text-dedup: ModuleNotFoundError: No module named 'datasets'\n";
        let rensa = row("rensa", told);
        assert_eq!(rensa.name, "rensa 0.5.0");
        let Outcome::Measured(rensa) = rensa.outcome else { panic!("it is measured") };
        assert_eq!(
            (rensa.mb_per_second, rensa.recall, rensa.precision),
            (25.1, vec![1.0, 0.996], 0.995)
        );
        for (name, why) in [("text-dedup", "No module"), ("datasketch", "does not show it")] {
            let Outcome::NotMeasured(reason) = row(name, told).outcome else {
                panic!("{name} has figures")
            };
            assert!(reason.contains(why), "{reason}");
        }
    }
}
