//! Counts q-grams in a collection.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};
use crate::index::Index;
use crate::reason::Reason;
use crate::runtime::Stop;
use crate::runtime::replace;
use crate::scheme::frequency::{FrequencyCounter, FrequencyTable};
use crate::scheme::spex::RepeatedChunks;
use crate::text::{Analyzer, Tokens};

/// The settings for counting q-grams.
#[derive(Debug, Clone)]
pub struct Training {
    /// Splits text into tokens.
    pub analyzer: Analyzer,
    /// The number of tokens of a gram.
    pub q: usize,
    /// Whether to keep only grams that occur at least twice, found with SPEX, which reads the texts
    /// q times. Needs 256 MiB for counters and little memory for grams.
    pub spex: bool,
}

/// Passes every text of a collection to its argument, in any order, up to the first error.
pub type Texts<'a> = dyn FnMut(&mut dyn FnMut(&str) -> Result<()>) -> Result<()> + 'a;

impl Training {
    /// Returns how many times the texts are read.
    #[must_use]
    pub fn passes(&self) -> usize {
        if self.spex { self.q.max(1) } else { 1 }
    }

    /// Writes the frequency table of a collection to `out`. `texts` is called once per
    /// [pass](Self::passes).
    ///
    /// # Errors
    /// The first error of `texts`, and when a text cannot be analyzed or `out` cannot be written.
    /// An existing `out` is unchanged then.
    pub fn write(&self, texts: &mut Texts<'_>, out: &Path) -> Result<FrequencyTable> {
        let Training { analyzer, q, spex } = self;
        let name = analyzer.to_string();
        let mut tokens = Tokens::default();
        let mut before: Option<RepeatedChunks> = None;
        for length in 1..self.passes() {
            let mut pass = RepeatedChunks::new(length, &name);
            texts(&mut |text| {
                analyzer.analyze(text, &mut tokens, Stop::NEVER)?;
                pass.add(&tokens.hashes, before.as_ref());
                Ok(())
            })?;
            before = Some(pass);
        }
        let mut counter = FrequencyCounter::new(*q, &name).at_least(if *spex { 2 } else { 1 });
        texts(&mut |text| {
            analyzer.analyze(text, &mut tokens, Stop::NEVER)?;
            let added = counter.add(&tokens, before.as_ref());
            added.map_err(|e| Error::io("write", "a temporary file", e))
        })?;
        let written = replace::file_with(out, |file| {
            let mut buffer = std::io::BufWriter::new(file);
            counter.write(&mut buffer)?;
            buffer.flush()
        });
        written.map_err(|e| Error::io("write", out, e))?;
        FrequencyTable::open(out)
    }

    /// Writes the frequency table of the texts of an index to `out`.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write), and when the index stores no text.
    pub fn write_of(&self, index: &Index, out: &Path) -> Result<FrequencyTable> {
        let snapshot = index.snapshot()?;
        self.write(
            &mut |add| {
                snapshot.live().try_for_each(|address| {
                    let Some(text) = snapshot.document(address)?.text else {
                        let what = "the index stores no text to count; name the files instead";
                        return Err(Error::index(index.path(), Reason::NoTexts, what));
                    };
                    add(&text)
                })
            },
            out,
        )
    }
}
