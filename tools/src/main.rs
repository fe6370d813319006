//! Tools for those who work on cento: making corpora, and measuring what cento finds in them.
//!
//! Most know cento only by its command line; those that measure latency use the library. Each
//! prints the table that it is for.

mod baseline;
mod bench;
mod cento;
mod commits;
mod corpus;
mod counts;
mod duplicates;
mod estimate;
mod evaluate;
mod exact;
mod faults;
mod finkel;
mod hostile;
mod kills;
mod latency;
mod lifecycle;
mod measure;
mod memory;
mod merging;
mod mutate;
mod notices;
mod opening;
mod pan;
mod programs;
mod recall;
mod retrieval;
mod reused;
mod scale;
mod scripts;
mod service;
mod stores;
mod truth;
mod unicode;
mod verdicts;

use clap::{Parser, Subcommand};

/// A result with any error.
type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Make corpora and measure what cento finds in them.
#[derive(Debug, Parser)]
struct Tools {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, Subcommand)]
enum Tool {
    Bench(bench::Bench),
    Counts(counts::Counts),
    Plant(corpus::Plant),
    Repeat(corpus::Repeat),
    Duplicates(duplicates::Duplicates),
    Dedup(duplicates::Dedup),
    Recall(recall::Recall),
    Retrieval(retrieval::Retrieval),
    Reused(reused::Reused),
    Scripts(scripts::Scripts),
    Finkel(finkel::Finkel),
    Lifecycle(lifecycle::Lifecycle),
    Latency(latency::Latency),
    Opening(opening::Opening),
    Commits(commits::Commits),
    Scale(scale::Scale),
    Baselines(baseline::Baselines),
    Pan(pan::Pan),
    Programs(programs::Programs),
    Exact(exact::Exact),
    Faults(faults::Faults),
    Estimate(estimate::Estimate),
    Service(service::Service),
    Stores(stores::Stores),
    Kills(kills::Kills),
    Memory(memory::Memory),
    Mutate(mutate::Mutate),
    Notices(notices::Notices),
    Merging(merging::Merging),
    Hostile(hostile::Hostile),
    Evaluate(evaluate::Evaluate),
    Unicode(unicode::Unicode),
    Verdicts(verdicts::Verdicts),
}

fn main() -> Result {
    match Tools::parse().tool {
        Tool::Bench(tool) => tool.run(),
        Tool::Counts(tool) => tool.run(),
        Tool::Plant(tool) => tool.run(),
        Tool::Repeat(tool) => tool.run(),
        Tool::Duplicates(tool) => tool.run(),
        Tool::Dedup(tool) => tool.run(),
        Tool::Recall(tool) => tool.run(),
        Tool::Retrieval(tool) => tool.run(),
        Tool::Reused(tool) => tool.run(),
        Tool::Scripts(tool) => tool.run(),
        Tool::Finkel(tool) => tool.run(),
        Tool::Lifecycle(tool) => tool.run(),
        Tool::Opening(tool) => tool.run(),
        Tool::Latency(tool) => tool.run(),
        Tool::Commits(tool) => tool.run(),
        Tool::Scale(tool) => tool.run(),
        Tool::Baselines(tool) => tool.run(),
        Tool::Pan(tool) => tool.run(),
        Tool::Programs(tool) => tool.run(),
        Tool::Exact(tool) => tool.run(),
        Tool::Faults(tool) => tool.run(),
        Tool::Estimate(tool) => tool.run(),
        Tool::Kills(tool) => tool.run(),
        Tool::Memory(tool) => tool.run(),
        Tool::Mutate(tool) => tool.run(),
        Tool::Notices(tool) => tool.run(),
        Tool::Merging(tool) => tool.run(),
        Tool::Hostile(tool) => tool.run(),
        Tool::Service(tool) => tool.run(),
        Tool::Stores(tool) => tool.run(),
        Tool::Evaluate(tool) => tool.run(),
        Tool::Unicode(tool) => tool.run(),
        Tool::Verdicts(tool) => tool.run(),
    }
}
