//! `cento completions` and `cento man`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cento::Error;
use clap::Args;
use clap_complete::Shell;

use super::terminal::tell;
use super::{Outcome, Result, command};

/// Print the completion script for a shell.
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "cento", &mut script);
        io::stdout().lock().write_all(&script)?;
        Ok(Outcome::Found)
    }
}

/// Print the manual page of cento or of one of its commands.
#[derive(Debug, Args)]
pub struct Man {
    /// Command.
    verb: Option<String>,
    /// Write all pages to this directory, which is created: cento.1, cento-search.1 and so on.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "verb")]
    out: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self) -> Result {
        if let Some(out) = &self.out {
            write_pages(out)?;
            return Ok(Outcome::Found);
        }
        let mut command = command();
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

/// Writes the page of cento and that of each verb.
fn write_pages(out: &Path) -> cento::Result<()> {
    let written =
        std::fs::create_dir_all(out).and_then(|()| clap_mangen::generate_to(command(), out));
    written.map_err(|e| Error::io("write manual pages into", out, e))
}
