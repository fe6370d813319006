//! Counts the instructions of operations: the library as a program.

use cento_counts::{Counts, Result};
use clap::Parser;

#[derive(Debug, Parser)]
struct Program {
    #[command(flatten)]
    counts: Counts,
}

fn main() -> Result {
    Program::parse().counts.run(&[])
}
