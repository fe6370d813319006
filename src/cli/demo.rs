//! `cento demo`

use super::{Outcome, Result};

/// placeholder
#[derive(Debug, clap::Args)]
pub struct Demo {}

impl Demo {
    pub(super) fn run(self) -> Result {
        Ok(Outcome::Found)
    }
}
