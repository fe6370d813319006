//! `cento completions` and `cento man`

use std::io::{self, Write};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::terminal::tell;
use super::{Cento, Outcome, Result};

/// Print the completion script for a shell.
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cento::command(), "cento", &mut script);
        io::stdout().lock().write_all(&script)?;
        Ok(Outcome::Found)
    }
}

/// Print the manual page of cento or of one of its commands.
#[derive(Debug, Args)]
pub struct Man {
    /// Command.
    verb: Option<String>,
}

impl Man {
    pub(super) fn run(self) -> Result {
        let mut command = Cento::command();
        command.build();
        let page = match &self.verb {
            None => command,
            Some(verb) => {
                let Some(found) = command.find_subcommand(verb) else {
                    tell!("cento: unknown command `{verb}`; `cento help` lists all commands");
                    return Ok(Outcome::Bad);
                };
                found.clone()
            }
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(page).render(&mut text)?;
        io::stdout().lock().write_all(&text)?;
        Ok(Outcome::Found)
    }
}
