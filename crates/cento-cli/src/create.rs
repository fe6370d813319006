//! `cento create`

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::{Outcome, Result};
use cento::index::{Config, Index, MaxDf};
use cento::scheme::DEFAULT_SPEC;
use cento::scheme::frequency::FrequencyTable;

/// Create an empty index.
#[derive(Debug, Args)]
pub struct Create {
    /// The directory of the index; it does not exist or is empty.
    index: PathBuf,
    #[command(flatten)]
    config: ConfigArgs,
    /// Keep no text: smaller, and nobody can read the documents out of the index; passages are
    /// then ranges of tokens.
    #[arg(long)]
    no_text: bool,
    /// Fingerprints in more documents than this find nothing by themselves, unless a search says
    /// otherwise: a number of documents, a share of them such as 0.01, or `default`, the larger of
    /// 10000 and a thousandth of all.
    #[arg(long, value_name = "N|F", default_value = "default")]
    max_df: MaxDf,
}

/// How documents are signed.
#[derive(Debug, Clone, Args)]
pub struct ConfigArgs {
    /// How fingerprints are chosen: winnow(k,w), kgram(k), mod(k,p), breaking(p), dct(p), se(c),
    /// minhash(k,b,r), simhash(k,d) and more; a wrong one is answered with the list.
    #[arg(long, value_name = "SPEC", default_value = DEFAULT_SPEC)]
    pub scheme: String,
    /// How text is cut into tokens: words(nfkc,fold,cjk), avtor(language) for
    /// stems without stop words, code(language) for programs, prefixes(n), chars, consonants, bytes.
    #[arg(long, value_name = "SPEC", default_value = "words")]
    pub analyzer: String,
    /// The table of frequencies for schemes that read one, made by `cento train`.
    #[arg(long, value_name = "FILE")]
    pub frequencies: Option<PathBuf>,
}

/// The table that is named, if one is.
pub fn open_frequencies(path: Option<&Path>) -> cento::Result<Option<Arc<FrequencyTable>>> {
    Ok(path.map(FrequencyTable::open).transpose()?.map(Arc::new))
}

impl ConfigArgs {
    /// The configuration of an index that keeps texts or does not.
    pub fn config(&self, store_text: bool) -> cento::Result<Config> {
        let table = open_frequencies(self.frequencies.as_deref())?;
        Config::with_frequencies(&self.scheme, &self.analyzer, store_text, table)
    }
}

impl Create {
    pub(super) fn run(self) -> Result {
        let config = self.config.config(!self.no_text)?.with_max_df(self.max_df);
        Index::create(&self.index, config)?;
        Ok(Outcome::Found)
    }
}
