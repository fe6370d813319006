//! `cento info completions` and `cento info man`, which generate files for shells and manuals.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cento::Error;
use clap::Args;
use clap_complete::Shell;

use crate::terminal::tell;
use crate::{Result, VerbOutcome, command};

/// Print the completion script for a shell.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell to complete commands in.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "cento", &mut script);
        io::stdout().lock().write_all(&script)?;
        Ok(VerbOutcome::Found)
    }
}

/// Print the manual page of cento, or of a verb.
#[derive(Debug, Args)]
pub struct Man {
    /// Verb, such as `search` or `store push`.
    #[arg(value_name = "VERB")]
    verbs: Vec<String>,
    /// Write all pages to this directory: cento.1, cento-search.1 and so on. cento creates the
    /// directory.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "verbs")]
    out: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self) -> Result {
        if let Some(out) = &self.out {
            write_pages(out)?;
            return Ok(VerbOutcome::Found);
        }
        let mut command = command();
        command.build();
        let named = self.verbs.iter().try_fold(&command, |found, verb| found.find_subcommand(verb));
        let Some(page) = named else {
            let verbs = self.verbs.join(" ");
            tell!("cento: unknown command `{verbs}`; `cento help` lists all commands");
            return Ok(VerbOutcome::Bad);
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(page.clone()).render(&mut text)?;
        io::stdout().lock().write_all(&text)?;
        Ok(VerbOutcome::Found)
    }
}

/// Writes a manual page for cento and for every verb.
fn write_pages(out: &Path) -> cento::Result<()> {
    let written =
        std::fs::create_dir_all(out).and_then(|()| clap_mangen::generate_to(command(), out));
    written.map_err(|e| Error::io("write manual pages into", out, e))
}
