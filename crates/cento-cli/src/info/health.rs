//! `cento info health` checks whether a service is alive.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;

use crate::hints::ErrorWithHint;
use crate::terminal::tell;
use crate::{Result, VerbOutcome};
use cento_client::DEFAULT_PORT;
use cento_client::client::{Client, Probe};

/// Check whether a service is alive.
///
/// Use this for the health check of a container, because it needs no token and no other program.
/// The exit status is 0 if the service is alive, and 1 if it is not, or does not answer within 5
/// seconds.
#[derive(Debug, Args)]
pub struct Health {
    /// URL of the service.
    #[arg(default_value_t = format!("http://127.0.0.1:{DEFAULT_PORT}"))]
    url: String,
    /// Also check whether the service can write. It cannot while its disk is full.
    #[arg(long)]
    ready: bool,
}

/// The maximum time to wait for the answer.
const WAIT: Duration = Duration::from_secs(5);

impl Health {
    pub(super) fn run(self) -> Result {
        let client = Client::new(&self.url, None)?;
        let probe = if self.ready { Probe::Ready } else { Probe::Alive };
        match client.probe(probe, WAIT) {
            Ok(health) => {
                writeln!(io::stdout().lock(), "{}", health.status)?;
                Ok(VerbOutcome::Found)
            }
            // The answer to the question, and no misuse of this command.
            Err(error) => {
                tell!("cento: {}", ErrorWithHint(&error));
                Ok(VerbOutcome::Nothing)
            }
        }
    }
}
