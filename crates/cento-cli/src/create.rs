//! `cento create` makes an empty index, and options of every verb that makes an index.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::key;
use super::{Result, VerbOutcome, language};
use cento::index::{Config, Index, MaxDf, Preset};
use cento::scheme;
use cento::scheme::frequency::FrequencyTable;
use cento::text::code::lacks_language;
use cento::{Error, Reason};
use cento_source::SourceOptions;

/// Create an empty index.
#[derive(Debug, Args)]
pub struct Create {
    /// Directory of your index. It must not exist, or must be empty.
    index: PathBuf,
    #[command(flatten)]
    config: ConfigArgs,
    /// Store no text. The index is smaller and does not reveal the documents. Passages are then
    /// ranges of tokens.
    #[arg(long)]
    no_text: bool,
    /// Store the texts even in an index with a key (--key-file). The key does not protect stored
    /// texts.
    #[arg(long, conflicts_with = "no_text")]
    store_text: bool,
    /// Whether the index stores the signatures of documents or computes them from the texts.
    #[arg(long, value_enum, default_value_t = Signatures::Stored)]
    signatures: Signatures,
    /// Ignore fingerprints that occur in more documents than this when looking for candidates,
    /// unless a search overrides it: a number of documents, a share such as 0.01, or `default`
    /// (10000 or a thousandth of all documents, whichever is larger).
    #[arg(long, value_name = "N|F", default_value = "default")]
    max_df: MaxDf,
    /// Record for each document, when you add it, how much of it the index did not have before. The
    /// member cento_novelty of its meta object then has the shares `new` and `common`, and the
    /// documents that had most of the rest first. `cento stats` shows the new text of each day.
    #[arg(long)]
    novelty: bool,
    /// Do nothing if the index already exists, whatever its settings.
    #[arg(long)]
    if_missing: bool,
}

/// Whether the signatures of stored documents are stored too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Signatures {
    /// The index stores them.
    Stored,
    /// cento computes them from the stored texts when it needs them. The index is smaller and
    /// merges faster, but estimates, pairs and searches for stored documents take longer. The
    /// answers are the same.
    Computed,
}

impl Signatures {
    /// Returns the choice recorded in an index.
    pub fn of_index(config: &Config) -> Signatures {
        if config.store_signatures { Signatures::Stored } else { Signatures::Computed }
    }

    /// Returns the name of the choice on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Signatures::Stored => "stored",
            Signatures::Computed => "computed",
        }
    }

    /// Returns a configuration with this choice.
    pub fn of(self, config: Config) -> cento::Result<Config> {
        match self {
            Signatures::Stored => Ok(config),
            Signatures::Computed => config.without_signatures(),
        }
    }
}

/// Options for signing documents.
#[derive(Debug, Clone, Args)]
pub struct ConfigArgs {
    /// Kind of documents. It sets the scheme, the analyzer, and the defaults for the ranking and
    /// for the minimum resemblance of near-duplicates. `cento info presets` shows the settings of
    /// each kind. A new index keeps its kind for later calls. --scheme and --analyzer override
    /// their part.
    #[arg(id = "for", long = "for", value_name = "PURPOSE", value_enum)]
    pub preset: Option<Preset>,
    /// How fingerprints are chosen, such as winnow(k=3,w=10). `cento info schemes` lists all
    /// schemes. Default: the scheme of --for, or winnow(k=5,w=10). `reuse` means pairs(n=100) with
    /// the analyzer avtor(stop=2), for rewritten text. Search such an index with --rank weight or
    /// --rank passages.
    #[arg(long, value_name = "SPEC")]
    pub scheme: Option<String>,
    /// How text is split into tokens, such as avtor(language=en) for stems without stop words, or
    /// code(language=java) for source code. `cento info analyzers` lists all analyzers. Default:
    /// the analyzer of --for, or words. If you name files, `code` alone takes the language that all
    /// their names end in.
    #[arg(long, value_name = "SPEC")]
    pub analyzer: Option<String>,
    /// Frequency table for schemes that need one. `cento method train` makes it.
    #[arg(long, value_name = "FILE")]
    pub frequencies: Option<PathBuf>,
}

/// Opens the frequency table, if the user gave a path.
pub fn open_frequencies(path: Option<&Path>) -> cento::Result<Option<Arc<FrequencyTable>>> {
    Ok(path.map(FrequencyTable::open).transpose()?.map(Arc::new))
}

impl ConfigArgs {
    /// Returns whether the user has named any part.
    pub fn is_given(&self) -> bool {
        let ConfigArgs { preset, scheme, analyzer, frequencies } = self;
        preset.is_some() || scheme.is_some() || analyzer.is_some() || frequencies.is_some()
    }

    /// Returns the specification of the scheme.
    pub fn scheme(&self) -> &str {
        Preset::scheme_or(self.preset, self.scheme.as_deref())
    }

    /// Returns the specification of the analyzer.
    pub fn analyzer(&self) -> &str {
        Preset::analyzer_or(self.preset, self.analyzer.as_deref())
    }

    fn with_analyzer(&self, analyzer: String) -> ConfigArgs {
        ConfigArgs { analyzer: Some(analyzer), ..self.clone() }
    }

    /// Returns whether the scheme reads a frequency table.
    pub fn reads_table(&self) -> bool {
        let name = self.scheme().split('(').next().unwrap_or_default().trim();
        scheme::families().iter().any(|family| family.name == name && family.table().is_some())
    }

    /// Returns whether the user chose an analyzer, directly or with a preset.
    pub fn analyzer_is_given(&self) -> bool {
        self.preset.is_some() || self.analyzer.is_some()
    }

    /// Completes the analyzer with the language of most of these programs.
    pub fn with_commonest(
        &self,
        inputs: &[PathBuf],
        options: &SourceOptions,
    ) -> cento::Result<ConfigArgs> {
        Ok(self.with_analyzer(language::commonest(self.analyzer(), inputs, options)?))
    }

    /// Makes the configuration for an index of these documents.
    pub fn config_of(
        &self,
        store_text: bool,
        inputs: &[PathBuf],
        options: &SourceOptions,
    ) -> cento::Result<Config> {
        let analyzer = language::of_documents(self.analyzer(), inputs, options)?;
        self.with_analyzer(analyzer).config(store_text)
    }

    /// Opens an existing index, and refuses settings that differ from the index.
    pub fn opened(
        &self,
        path: &Path,
        no_text: bool,
        signatures: Option<Signatures>,
        inputs: &[PathBuf],
        options: &SourceOptions,
    ) -> cento::Result<Index> {
        let index = key::open(path)?;
        let config = index.config();
        let (own_scheme, own_analyzer) = (config.scheme.to_string(), config.analyzer.to_string());
        let table = open_frequencies(self.frequencies.as_deref())?;
        let completed = |spec: &str| language::of_documents(spec, inputs, options);
        let analyzer = self.analyzer.as_deref().map(completed).transpose()?;
        let wanted = Config::with_frequencies(
            self.scheme.as_deref().unwrap_or(&own_scheme),
            analyzer.as_deref().unwrap_or(&own_analyzer),
            config.store_text && !no_text,
            table.or_else(|| config.frequencies.clone()),
        )?;
        if wanted.scheme.to_string() != own_scheme
            || wanted.analyzer.to_string() != own_analyzer
            || wanted.store_text != config.store_text
            || signatures.is_some_and(|asked| asked != Signatures::of_index(config))
            || self.preset.is_some_and(|asked| config.preset != Some(asked))
            || wanted.frequencies_digest() != config.frequencies_digest()
        {
            let signatures = Signatures::of_index(config).name();
            let text = if config.store_text { "with text" } else { "without text" };
            let purpose = config.preset.map_or(String::new(), |preset| format!("--for {preset} "));
            let what = format!(
                "the index was created with {purpose}--scheme {own_scheme} --analyzer \
                 {own_analyzer} --signatures {signatures}, {text}, which cannot be changed; omit \
                 these options, or create another index"
            );
            return Err(Error::index(path, Reason::OtherSettings, what));
        }
        Ok(index)
    }

    /// Makes the configuration for comparing these programs, in their most frequent language.
    pub fn config_of_most(
        &self,
        inputs: &[PathBuf],
        options: &SourceOptions,
    ) -> cento::Result<Config> {
        let analyzer = language::commonest(self.analyzer(), inputs, options)?;
        self.with_analyzer(analyzer).config(true)
    }

    /// Makes the configuration for comparing these files with each other.
    pub fn config_of_files(&self, files: &[&Path]) -> cento::Result<Config> {
        let analyzer = language::of_files(self.analyzer(), files)?;
        self.with_analyzer(analyzer).config(false)
    }

    /// Makes the configuration of an index, with or without stored text.
    pub fn config(&self, store_text: bool) -> cento::Result<Config> {
        if lacks_language(self.analyzer()) {
            let why = "there are no files whose names would say it";
            return Err(language::unnamed(self.analyzer(), why));
        }
        let table = open_frequencies(self.frequencies.as_deref())?;
        let config = Config::with_frequencies(self.scheme(), self.analyzer(), store_text, table)?;
        key::of_new(config.with_preset(self.preset))
    }
}

/// Returns whether a new index stores texts. A keyed index stores texts only on request.
pub fn stores_text(no_text: bool, store_text: bool) -> bool {
    store_text || !(no_text || key::given().is_some())
}

impl Create {
    pub(super) fn run(self) -> Result {
        if self.if_missing && Index::exists(&self.index) {
            return Ok(VerbOutcome::Found);
        }
        let store_text = stores_text(self.no_text, self.store_text);
        let config = self.config.config(store_text)?.with_max_df(self.max_df);
        let config = self.signatures.of(config)?;
        let config = if self.novelty { config.with_novelty()? } else { config };
        Index::create(&self.index, config)?;
        Ok(VerbOutcome::Found)
    }
}
