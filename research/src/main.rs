//! Evaluates cento: repeats the tables of the papers behind its methods, and makes the measurements
//! behind its defaults.
//!
//! RESULTS.md and docs/QUALITY.md have the results. The code is only kept running, and changes when
//! the library changes.

mod ablation;
mod advice;
mod duplicates;
mod estimate;
mod evaluate;
mod evidence;
mod exact;
mod lineage;
mod notices;
mod pan;
mod programs;
mod recall;
mod recognized;
mod retrieval;
mod reused;
mod scripts;
mod sentences;
mod truth;
mod verdicts;

use cento_tools::{Result, cento, corpus, measure};
use clap::{Parser, Subcommand};

/// Evaluate the results of cento.
#[derive(Debug, Parser)]
struct Tools {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, Subcommand)]
enum Tool {
    Ablation(ablation::Ablation),
    Advice(advice::Advice),
    Dedup(duplicates::Dedup),
    Duplicates(duplicates::Duplicates),
    Estimate(estimate::Estimate),
    Evaluate(evaluate::Evaluate),
    Evidence(evidence::Evidence),
    Exact(exact::Exact),
    Lineage(lineage::Lineage),
    Notices(notices::Notices),
    Pan(pan::Pan),
    Programs(programs::Programs),
    Recall(recall::Recall),
    Recognized(recognized::Recognized),
    Retrieval(retrieval::Retrieval),
    Reused(reused::Reused),
    Scripts(scripts::Scripts),
    Sentences(sentences::Sentences),
    Verdicts(verdicts::Verdicts),
}

fn main() -> Result {
    match Tools::parse().tool {
        Tool::Ablation(tool) => tool.run(),
        Tool::Advice(tool) => tool.run(),
        Tool::Dedup(tool) => tool.run(),
        Tool::Duplicates(tool) => tool.run(),
        Tool::Estimate(tool) => tool.run(),
        Tool::Evaluate(tool) => tool.run(),
        Tool::Evidence(tool) => tool.run(),
        Tool::Exact(tool) => tool.run(),
        Tool::Lineage(tool) => tool.run(),
        Tool::Notices(tool) => tool.run(),
        Tool::Pan(tool) => tool.run(),
        Tool::Programs(tool) => tool.run(),
        Tool::Recall(tool) => tool.run(),
        Tool::Recognized(tool) => tool.run(),
        Tool::Retrieval(tool) => tool.run(),
        Tool::Reused(tool) => tool.run(),
        Tool::Scripts(tool) => tool.run(),
        Tool::Sentences(tool) => tool.run(),
        Tool::Verdicts(tool) => tool.run(),
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
