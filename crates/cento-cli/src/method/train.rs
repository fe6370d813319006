//! `cento method train` makes a frequency table from a collection.

use std::path::PathBuf;

use clap::Args;

use crate::add::SourceArgs;
use crate::messages::Messages;
use crate::outfile::{check_apart, check_free, check_own, is_stream};
use crate::output::count;
use crate::progress::{Spinner, metered};
use crate::terminal::note;
use crate::{Result, VerbOutcome, language};
use cento::Error;
use cento::index::Training;
use cento_source::ReadError;

/// Count the runs of tokens of a collection, and write a frequency table.
///
/// Schemes such as fbw(q,w) keep the rare runs of a collection, so they need this table: `cento
/// create INDEX --scheme 'fbw(q=4)' --analyzer chars --frequencies FILE`. An index keeps its own
/// copy of the table. `cento compact --retrain` makes a new one.
#[derive(Debug, Args)]
pub struct Train {
    /// Files and folders as for `cento add`, or one index that stores text.
    #[arg(required = true, value_name = "PATH")]
    inputs: Vec<PathBuf>,
    /// File to write the table to, which must not exist.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Number of tokens in a run, which is q of the scheme. 1 counts single tokens.
    #[arg(
        long, value_name = "N", default_value = "4",
        value_parser = clap::value_parser!(u32).range(1..=64),
    )]
    run_length: u32,
    /// How text is split into tokens.
    #[arg(long, value_name = "SPEC", default_value = "chars")]
    analyzer: String,
    /// Count only runs that occur at least twice, for `--scheme spex`. The table is much smaller.
    /// SPEX reads the documents once for each token of a run, and uses 256 MiB for counters.
    /// Counting all runs uses up to 512 MiB.
    #[arg(long)]
    spex: bool,
    #[command(flatten)]
    source: SourceArgs,
}

impl Train {
    pub(super) fn run(self) -> Result {
        check_own(&self.out, "a frequency table")?;
        if is_stream(&self.out) {
            let what = "it is a pipe or a device, and the table is read again; name a file";
            return Err(Error::input(self.out.display().to_string(), what).into());
        }
        cento_source::check_there(&self.inputs)?;
        check_apart(&self.inputs, [&*self.out])?;
        check_free(&self.out)?;
        // SPEX reads the files several times, so the total size would give wrong progress.
        let (options, spinner) = match self.spex {
            true => (self.source.options(), Spinner::new()),
            false => {
                let options = metered(&self.inputs, self.source.options());
                let spinner = Spinner::reading(&options);
                (options, spinner)
            }
        };
        spinner.show("counting runs");
        let analyzer = language::of_documents(&self.analyzer, &self.inputs, &options)?.parse()?;
        let training = Training { analyzer, q: self.run_length as usize, spex: self.spex };
        let messages = Messages::default();
        let mut is_any_refused = false;
        let mut skipped = |no_document| {
            messages.tell_no_document(&no_document);
            is_any_refused |= matches!(no_document, ReadError::Refused(_));
        };
        let table =
            cento_source::train(&self.inputs, &options, &training, &self.out, &mut skipped)?;
        spinner.finish();
        messages.finish();
        let header = table.header();
        note!(
            "counted {} documents, {} different runs of {} tokens; wrote {}",
            count(header.documents),
            count(header.grams),
            header.q,
            self.out.display()
        );
        Ok(VerbOutcome::of_inputs(is_any_refused, header.documents > 0))
    }
}
