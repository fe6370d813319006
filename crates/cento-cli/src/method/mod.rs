//! `cento method`: what helps to choose scheme, analyzer, thresholds and boilerplate.

mod analyze;
mod boilerplate;
pub mod fingerprint;
mod train;
mod tune;

use clap::Args;

use super::{Result, verbs};

/// Choose a method for a collection: tune, analyze, boilerplate, train, fingerprint.
///
/// Start with `tune`, which tries settings on a sample of your documents. `analyze` and
/// `boilerplate` show what the documents of a collection share, `train` counts the runs of tokens
/// that some schemes need, and `fingerprint` shows what a setting keeps of one document.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct Method {
    #[command(subcommand)]
    verb: MethodVerb,
}

verbs!(MethodVerb {
    Tune(Box<tune::Tune>),
    Analyze(analyze::Analyze),
    Boilerplate(Box<boilerplate::Boilerplate>),
    Train(train::Train),
    Fingerprint(fingerprint::Fingerprint),
});

impl Method {
    pub(super) fn run(self) -> Result {
        self.verb.run()
    }
}
