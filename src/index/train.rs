//! How often does each q-gram occur in a collection?

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{DocAddress, Index};
use crate::error::{Error, Result};
use crate::replace;
use crate::scheme::frequency::{FrequencyCounter, FrequencyTable};
use crate::scheme::spex::Repeated;
use crate::source::{self, SourceOptions};
use crate::text::{Analyzer, Tokens};

/// What is counted, and how.
#[derive(Debug, Clone)]
pub struct Training {
    /// How text is cut into tokens.
    pub analyzer: Analyzer,
    /// The tokens of a gram.
    pub q: usize,
    /// Only grams that occur twice or more, found by the passes of SPEX: the inputs are read q times.
    /// Takes 256 MiB for counters, and little for the grams.
    pub spex: bool,
    /// How sources are read.
    pub source: SourceOptions,
}

/// Writes the frequency table of a collection to `out`: of the texts of an index if `inputs` is one,
/// else of files and directories. What is no document is told to `skipped`.
///
/// # Errors
/// When a source or an index cannot be read, or not as often as needed, the index keeps no texts, or
/// `out` cannot be written; `out` is then as it was.
pub fn train(
    inputs: &[PathBuf],
    training: &Training,
    out: &Path,
    skipped: &mut dyn FnMut(&str),
) -> Result<FrequencyTable> {
    let Training { analyzer, q, spex, source } = training;
    let name = analyzer.to_string();
    let is_readable_again = |input: &PathBuf| {
        std::fs::metadata(input).is_ok_and(|found| found.is_file() || found.is_dir())
    };
    if let Some(input) = inputs.iter().find(|input| *spex && *q > 1 && !is_readable_again(input)) {
        let what = "the passes of SPEX read everything several times; name a file or directory";
        return Err(Error::input(input.display().to_string(), what));
    }
    let mut tokens = Tokens::default();
    let mut before: Option<Repeated> = None;
    for length in 1..if *spex { *q } else { 1 } {
        let mut pass = Repeated::new(length, &name);
        let mut add = |text: &str| -> Result<()> {
            analyzer.analyze(text, &mut tokens)?;
            pass.add(&tokens.hashes, before.as_ref());
            Ok(())
        };
        // The last pass tells what was left out.
        read(inputs, source, &mut add, &mut |_| {})?;
        before = Some(pass);
    }
    let mut counter = FrequencyCounter::new(*q, &name).at_least(if *spex { 2 } else { 1 });
    let mut add = |text: &str| -> Result<()> {
        analyzer.analyze(text, &mut tokens)?;
        let added = counter.add(&tokens, before.as_ref());
        added.map_err(|e| Error::io("write", "a temporary file", e))
    };
    read(inputs, source, &mut add, skipped)?;
    let written = replace::file_with(out, |file| {
        let mut buffer = std::io::BufWriter::new(file);
        counter.write(&mut buffer)?;
        buffer.flush()
    });
    written.map_err(|e| Error::io("write", out, e))?;
    FrequencyTable::open(out)
}

/// Gives `add` the text of every document.
fn read(
    inputs: &[PathBuf],
    options: &SourceOptions,
    add: &mut dyn FnMut(&str) -> Result<()>,
    skipped: &mut dyn FnMut(&str),
) -> Result<()> {
    match inputs {
        [index] if Index::exists(index) => add_index(index, add),
        _ => source::for_each_text(inputs, options, add, skipped),
    }
}

fn add_index(path: &Path, add: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    let snapshot = Index::open(path)?.snapshot()?;
    for (segment, view) in (0u32..).zip(snapshot.segments()) {
        let documents = 0..view.signatures.header().documents;
        for doc in documents.filter(|&doc| view.is_alive(doc)) {
            let Some(text) = snapshot.document(DocAddress { segment, doc })?.text else {
                let what = "it keeps no texts to be counted; name the files";
                return Err(Error::index(path, what));
            };
            add(&text)?;
        }
    }
    Ok(())
}
