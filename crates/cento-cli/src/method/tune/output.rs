//! The findings of `cento method tune` in a terminal.

use std::io::{self, Write};

use cento::search::Rank;
use cento_collections::tune::{By, SettingReport, TuneReport};
use cento_report::decimals;

use crate::output::{bytes, count, counted};
use crate::terminal::line;
use cento_report::similarity;

/// Length of the longest bar.
const BAR: usize = 40;

/// Returns commands that use the setting.
pub fn commands(best: &SettingReport, by: By) -> Vec<String> {
    let quoted = |argument: &String| match argument.contains(['(', ')', ',', '=']) {
        true => format!("'{argument}'"),
        false => argument.clone(),
    };
    let create = ["cento", "create", "NEW.idx"].map(str::to_owned);
    let create: Vec<String> = create.into_iter().chain(best.create.iter().map(quoted)).collect();
    let threshold = format!("{} {}", best.threshold_option, best.threshold);
    let rank = if best.setting.rank == Rank::Overlap { "" } else { " --rank weight" };
    let mut all = vec![create.join(" "), format!("cento search NEW.idx FILE{rank} {threshold}")];
    if by == By::Resemblance {
        all.push(format!("cento pairs NEW.idx {threshold}"));
    }
    all
}

/// Writes the findings: a line a setting, its recall by kind, and the curve of the best.
pub fn print(out: &mut impl Write, report: &TuneReport, commands: &[String]) -> io::Result<()> {
    line!(
        out,
        "{:>6}  {:<14}  {:>6}  {:>7}  {:>6}  {:>5}  {:>6}  {:>9}  setting",
        "recall",
        "95 in 100",
        "first",
        "false/q",
        "prints",
        "add",
        "search",
        "threshold"
    )?;
    for setting in &report.settings {
        line!(
            out,
            "{:>6}  {}-{}  {:>7}  {:>7}  {:>6}  {:>5}  {:>6}  {:>9}  {}",
            similarity(setting.recall.value),
            similarity(setting.recall.low),
            format_args!("{:<7}", similarity(setting.recall.high)),
            similarity(setting.first.value),
            decimals(setting.false_hits_a_query(), 3),
            ratio(setting.fingerprints_ratio),
            ratio(setting.add_ratio),
            ratio(setting.search_ratio),
            setting.threshold,
            described(setting)
        )?;
    }
    for other in &report.not_tried {
        let (scheme, analyzer) = (&other.setting.scheme, &other.setting.analyzer);
        line!(out, "not tried: {scheme} over {analyzer}: {}", other.reason)?;
    }
    print_kinds(out, report)?;
    let Some(best) = report.best.map(|best| &report.settings[best]) else {
        line!(out)?;
        return line!(out, "Nothing was found with any setting.");
    };
    print_curve(out, best, report.by)?;
    line!(out)?;
    line!(
        out,
        "Best: {}; F1 {}, {} of fingerprints in {}",
        described(best),
        similarity(best.f1),
        bytes(best.bytes),
        counted(report.documents, "document")
    )?;
    commands.iter().try_for_each(|command| line!(out, "    {command}"))
}

fn ratio(ratio: f64) -> String {
    format!("x{ratio:.1}")
}

/// Returns the name of a setting, with the parts of a preset.
fn described(setting: &SettingReport) -> String {
    match setting.setting.preset {
        Some(_) => {
            let (scheme, analyzer) = (&setting.setting.scheme, &setting.setting.analyzer);
            format!("{}: {scheme} over {analyzer}", setting.name())
        }
        None => setting.name(),
    }
}

fn print_kinds(out: &mut impl Write, report: &TuneReport) -> io::Result<()> {
    let Some(first) = report.settings.first().filter(|first| first.kinds.len() > 1) else {
        return Ok(());
    };
    line!(out)?;
    line!(out, "Recall by kind of query:")?;
    let letters = || ('a'..='z').map(String::from);
    for (letter, kind) in letters().zip(&first.kinds) {
        line!(out, "  {letter}  {}, {}", kind.kind, counted(kind.recall.of, "original"))?;
    }
    let columns = |all: &mut dyn Iterator<Item = String>| {
        all.map(|cell| format!("{cell:>5}  ")).collect::<String>()
    };
    let number = first.kinds.len();
    line!(out, "{}setting", columns(&mut letters().take(number)))?;
    for setting in &report.settings {
        let shares = setting.kinds.iter().take(letters().count());
        let shares = &mut shares.map(|kind| similarity(kind.recall.value));
        line!(out, "{}{}", columns(shares), setting.name())?;
    }
    Ok(())
}

fn print_curve(out: &mut impl Write, best: &SettingReport, by: By) -> io::Result<()> {
    line!(out)?;
    line!(out, "Originals found with {}, by {} of the texts:", best.name(), by.name())?;
    line!(out, "{:>10}  {:>9}  {:>5}  {:>6}", by.name(), "originals", "found", "passed")?;
    for bin in best.curve.iter().filter(|bin| bin.found.of > 0) {
        let bar = "#".repeat((bin.passed.value * BAR as f64).round() as usize);
        let (found, passed) = (similarity(bin.found.value), similarity(bin.passed.value));
        let originals = count(bin.found.of);
        let row = format!("{:>8.1} +  {originals:>9}  {found:>5}  {passed:>6}  {bar}", bin.from);
        line!(out, "{}", row.trim_end())?;
    }
    Ok(())
}
