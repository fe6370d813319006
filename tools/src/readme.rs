//! Compares the table of commands in a README with a program.

use std::collections::BTreeSet;

/// Returns the commands in the table of a README, and the subcommands of `program`.
pub fn commands<'a>(
    readme: &'a str,
    program: &'a clap::Command,
) -> (BTreeSet<&'a str>, BTreeSet<&'a str>) {
    let rows = readme.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let listed = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    (listed, program.get_subcommands().map(|command| command.get_name()).collect())
}
