//! Tools for developers of cento, which break cento, measure its speed, and write source files.
//!
//! Most tools use only the command line of cento, while the tools that measure latency use the
//! library. Each tool prints the table of its results. README.md lists the tools. The programs that
//! measure quality are in research/.

mod baseline;
mod bench;
mod bounds;
mod commits;
mod faults;
mod hostile;
mod kills;
mod latency;
mod lifecycle;
mod memory;
mod merging;
mod mutate;
mod opening;
mod scale;
mod service;
mod soak;
mod stores;
mod unicode;
mod watches;

use cento_tools::{Result, cento, corpus, measure};
use clap::{Parser, Subcommand};

/// Break cento, measure its speed, and write files of its source.
#[derive(Debug, Parser)]
struct Tools {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, Subcommand)]
enum Tool {
    Bench(bench::Bench),
    Bounds(bounds::Bounds),
    Counts(cento_counts::Counts),
    Plant(corpus::Plant),
    Repeat(corpus::Repeat),
    Lifecycle(lifecycle::Lifecycle),
    Latency(latency::Latency),
    Opening(opening::Opening),
    Commits(commits::Commits),
    Scale(scale::Scale),
    Baselines(baseline::Baselines),
    Faults(faults::Faults),
    Service(service::Service),
    Soak(soak::Soak),
    Stores(stores::Stores),
    Kills(kills::Kills),
    Memory(memory::Memory),
    Mutate(mutate::Mutate),
    Merging(merging::Merging),
    Hostile(hostile::Hostile),
    Unicode(unicode::Unicode),
    Watches(watches::Watches),
}

fn main() -> Result {
    match Tools::parse().tool {
        Tool::Bench(tool) => tool.run(),
        Tool::Bounds(tool) => tool.run(),
        Tool::Counts(tool) => tool.run(&["counts"]),
        Tool::Plant(tool) => tool.run(),
        Tool::Repeat(tool) => tool.run(),
        Tool::Lifecycle(tool) => tool.run(),
        Tool::Opening(tool) => tool.run(),
        Tool::Latency(tool) => tool.run(),
        Tool::Commits(tool) => tool.run(),
        Tool::Scale(tool) => tool.run(),
        Tool::Baselines(tool) => tool.run(),
        Tool::Faults(tool) => tool.run(),
        Tool::Kills(tool) => tool.run(),
        Tool::Memory(tool) => tool.run(),
        Tool::Mutate(tool) => tool.run(),
        Tool::Merging(tool) => tool.run(),
        Tool::Hostile(tool) => tool.run(),
        Tool::Service(tool) => tool.run(),
        Tool::Soak(tool) => tool.run(),
        Tool::Stores(tool) => tool.run(),
        Tool::Unicode(tool) => tool.run(),
        Tool::Watches(tool) => tool.run(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Tools;

    #[test]
    fn the_readme_lists_all_commands() {
        let program = Tools::command();
        let (listed, commands) =
            cento_tools::readme::commands(include_str!("../README.md"), &program);
        assert_eq!(listed, commands);
    }
}
