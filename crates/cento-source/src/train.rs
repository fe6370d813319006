//! Frequency tables made from files.

use std::path::{Path, PathBuf};

use cento::index::{Index, Training};
use cento::scheme::frequency::FrequencyTable;
use cento::{Error, Result};

use crate::{ReadError, SourceOptions, documents};

/// Writes the frequency table of a collection to `out`. `inputs` is an index with texts, or files
/// and directories. Records and files that are not documents are reported to `skipped`.
///
/// # Errors
/// When a source or an index cannot be read, or not as often as needed, when the index keeps no
/// texts, or when `out` cannot be written. `out` is then unchanged.
pub fn train(
    inputs: &[PathBuf],
    source: &SourceOptions,
    training: &Training,
    out: &Path,
    skipped: &mut dyn FnMut(ReadError),
) -> Result<FrequencyTable> {
    let passes = training.passes();
    let is_readable_again = |input: &PathBuf| {
        std::fs::metadata(input).is_ok_and(|found| found.is_file() || found.is_dir())
    };
    if let Some(input) = inputs.iter().find(|input| passes > 1 && !is_readable_again(input)) {
        let what = "SPEX reads the input several times, but this can be read only once; name a \
                    file or directory";
        return Err(Error::input(input.display().to_string(), what));
    }
    if let [index] = inputs
        && Index::exists(index)
    {
        let opened = Index::open(index)?;
        if opened.snapshot()?.documents() == 0 {
            return Err(no_text(inputs));
        }
        return training.write_of(&opened, out);
    }
    let mut pass = 0;
    training.write(
        &mut |add| {
            pass += 1;
            let mut is_any = false;
            let add = &mut |text: &str| {
                is_any = true;
                add(text)
            };
            // The last pass reports the inputs left out.
            match pass == passes {
                true => for_each_text(inputs, source, add, skipped)?,
                false => for_each_text(inputs, source, add, &mut |_| {})?,
            }
            source.check_fields()?;
            // With an empty table, every fingerprint would count as rare.
            if is_any { Ok(()) } else { Err(no_text(inputs)) }
        },
        out,
    )
}

fn no_text(inputs: &[PathBuf]) -> Error {
    let names: Vec<String> = inputs.iter().map(|path| path.display().to_string()).collect();
    Error::input(names.join(", "), "there is no text to count, so no table was written")
}

/// Calls `add` with the text of every document of `inputs`. Parts that are not documents are
/// reported to `skipped`.
///
/// # Errors
/// The first error of `add`, or when a source cannot be read.
fn for_each_text(
    inputs: &[PathBuf],
    source: &SourceOptions,
    add: &mut dyn FnMut(&str) -> Result<()>,
    skipped: &mut dyn FnMut(ReadError),
) -> Result<()> {
    for document in documents(inputs, source) {
        match document {
            Ok((document, _)) => add(&document.text)?,
            Err(ReadError::Unread(error)) => return Err(error),
            Err(other) => skipped(other),
        }
    }
    Ok(())
}
