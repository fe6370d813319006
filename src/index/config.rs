//! The settings that determine the signatures of an index.
//!
//! The schema of an index records its scheme, analyzer and hash. An index built with a different
//! version of any of the three is refused, because searches would miss the fingerprints.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use cento_api::{REUSE, REUSE_ANALYZER, REUSE_SPEC};
use serde_json::{Map, Value};

use super::{MaxDf, Preset};
use crate::error::{Corruption, Error, Result};
use crate::hash::{Digest, HASH_VERSION, hash_fields};
use crate::key::{CheckValue, Key, Lock};
use crate::reason::{Reason, Refusal};
use crate::runtime::Stop;
use crate::scheme::frequency::FrequencyTable;
use crate::scheme::{self, Fingerprint, Scheme};
use crate::segment::FORMAT_VERSION;
use crate::segment::plugin::Description;
use crate::text::{Analyzer, Tokens};

/// The file with the frequency table, if the scheme uses one.
pub(super) const FREQUENCIES_FILE: &str = "frequencies.cento";

/// The names of every setting that an index may record.
const PARAMS: [&str; 13] = [
    "format",
    "hash",
    "scheme",
    "key_bits",
    "analyzer",
    "analyzer_digest",
    "text",
    "frequencies",
    "key",
    "signatures",
    "max_df",
    "novelty",
    "preset",
];

/// The configuration of an index, fixed when the index is created.
///
/// The index stores the configuration together with a digest of the analyzer's output, and refuses
/// a build that would sign texts differently. Scheme and analyzer are given as specifications such
/// as `winnow(k=5,w=10)` and `words`. [`scheme`](crate::scheme) lists the schemes, and [`Analyzer`]
/// the analyzers. Stored texts take most of the space, and passages and exact similarities need
/// them.
///
/// # Errors
/// A specification that cannot be used is an [`Error::Spec`] with the reason and, for a misspelled
/// name, the likely name.
///
/// # Examples
/// ```
/// use cento::{Config, MaxDf};
///
/// let config = Config::new("winnow(k=5,w=10)", "words", true)?;
/// let config = config.with_max_df(MaxDf::Documents(1_000));
/// let (tokens, fingerprints) = config.sign("one two three four five six")?;
/// assert!(tokens == 6 && !fingerprints.is_empty());
/// assert!(Config::new("winow(k=5)", "words", true).unwrap_err().to_string().contains("winnow"));
/// # Ok::<(), cento::Error>(())
/// ```
#[doc(alias = "shingle")]
#[doc(alias = "MinHash")]
#[doc(alias = "winnowing")]
#[derive(Debug, Clone)]
pub struct Config {
    /// Makes a signature from tokens.
    pub scheme: Scheme,
    /// Splits a text into tokens.
    pub analyzer: Analyzer,
    /// Whether texts are stored. Passages need stored texts.
    pub store_text: bool,
    /// Whether signatures are stored. If not, they are computed from the stored texts on demand.
    pub store_signatures: bool,
    /// Whether the meta object of each added document records, as [`NOVELTY`](cento_api::NOVELTY),
    /// how much of the document was new to the index.
    pub records_novelty: bool,
    /// Fingerprints in more documents are stop-fingerprints, unless a query overrides the limit.
    pub max_df: MaxDf,
    /// The preset of the index. Its ranking and threshold are the defaults of later calls.
    pub preset: Option<Preset>,
    /// The frequency table, if the scheme uses one.
    pub frequencies: Option<Arc<FrequencyTable>>,
}

impl Config {
    /// Makes a configuration from specifications.
    ///
    /// # Errors
    /// When a specification cannot be used.
    pub fn new(scheme: &str, analyzer: &str, store_text: bool) -> Result<Config> {
        Config::with_frequencies(scheme, analyzer, store_text, None)
    }

    /// Makes the configuration of a preset.
    ///
    /// ```
    /// use cento::{Config, Preset};
    ///
    /// let config = Config::preset(Preset::Corpus, true)?;
    /// assert_eq!(config.scheme.to_string(), "minhash(k=5,b=16,r=8)");
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When this build lacks the analyzer, and for [`Preset::Code`], whose analyzer needs a
    /// language. For programs, give the language with [`Config::new`], as in `code(language=java)`,
    /// and add [`with_preset`](Self::with_preset).
    pub fn preset(preset: Preset, store_text: bool) -> Result<Config> {
        let config = Config::new(preset.scheme(), preset.analyzer(), store_text)?;
        Ok(config.with_preset(Some(preset)))
    }

    /// Makes a configuration for a scheme that may need a frequency table.
    ///
    /// The scheme name `reuse` means `pairs(n=100)` over `avtor(stop=2)`, or over `analyzer`
    /// if that is not the default analyzer.
    ///
    /// # Errors
    /// When a specification cannot be used, alone or together with the table.
    pub fn with_frequencies(
        scheme: &str,
        analyzer: &str,
        store_text: bool,
        frequencies: Option<Arc<FrequencyTable>>,
    ) -> Result<Config> {
        let mut analyzer: Analyzer = analyzer.parse()?;
        let mut scheme = scheme;
        if scheme == REUSE {
            scheme = REUSE_SPEC;
            if analyzer == Analyzer::default() {
                analyzer = REUSE_ANALYZER.parse()?;
            }
        }
        if let Some(other) = frequencies
            .as_ref()
            .map(|table| &table.header().analyzer)
            .filter(|other| **other != analyzer.to_string())
        {
            let what = format!("the frequency table was made with another analyzer, {other}");
            let refusal = Refusal::new(Reason::OtherFrequencyTable, what);
            return Err(Error::spec(analyzer.to_string(), refusal));
        }
        Ok(Config {
            scheme: scheme::parse_with(scheme, frequencies.as_ref())?,
            analyzer,
            store_text,
            store_signatures: true,
            records_novelty: false,
            max_df: MaxDf::Default,
            preset: None,
            frequencies,
        })
    }

    /// Sets the limit of document frequency.
    ///
    /// ```
    /// use cento::{Config, MaxDf};
    ///
    /// // Ignore fingerprints that more than 1 % of the documents have.
    /// let config = Config::new("winnow(k=5,w=10)", "words", true)?.with_max_df("0.01".parse()?);
    /// assert_eq!(config.max_df, MaxDf::Share(0.01));
    /// # Ok::<(), cento::Error>(())
    /// ```
    #[must_use]
    pub fn with_max_df(self, max_df: MaxDf) -> Config {
        Config { max_df, ..self }
    }

    /// Makes the index record how much of each added document is new
    /// ([`Novelty`](cento_api::Novelty)).
    ///
    /// ```
    /// use cento::{Config, Document, Index, NOVELTY, WriterOptions};
    ///
    /// let config = Config::new("winnow(k=5,w=10)", "words", true)?.with_novelty()?;
    /// let index = Index::in_memory(config)?;
    /// let mut writer = index.writer(WriterOptions::default())?;
    /// writer.add(Document::new("a", "one two three four five six seven eight nine ten"))?;
    /// writer.add(Document::new("b", "one two three four five six seven eight nine ten"))?;
    /// writer.finish()?;
    /// let snapshot = index.snapshot()?;
    /// let meta = snapshot.meta(snapshot.find("b")?.unwrap())?;
    /// assert_eq!(meta[NOVELTY]["new"], 0.0);
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the fingerprints of the scheme are not runs of a fixed length.
    pub fn with_novelty(self) -> Result<Config> {
        let config = Config { records_novelty: true, ..self };
        config.check()?;
        Ok(config)
    }

    /// Sets or removes the preset, without changing scheme and analyzer.
    #[must_use]
    pub fn with_preset(self, preset: Option<Preset>) -> Config {
        Config { preset, ..self }
    }

    /// Makes the index store texts without signatures. A signature is computed from the text
    /// whenever it is needed, so answers are the same.
    ///
    /// The index is smaller and merges faster. Estimates of similarity, joins, and searches for
    /// stored documents are slower.
    ///
    /// ```
    /// use cento::Config;
    ///
    /// // You need the texts then, because signatures are computed from them.
    /// let config = |store_text| Config::new("winnow(k=5,w=10)", "words", store_text);
    /// assert!(config(true)?.without_signatures().is_ok());
    /// assert!(config(false)?.without_signatures().is_err());
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When texts are not stored either.
    pub fn without_signatures(self) -> Result<Config> {
        let config = Config { store_signatures: false, ..self };
        config.check()?;
        Ok(config)
    }

    /// Returns the number of tokens of a fingerprint, if novelty is recorded.
    ///
    /// # Errors
    /// When the fingerprints of the scheme are not runs of a fixed length.
    pub(super) fn novelty_span(&self) -> Result<Option<u32>> {
        match (self.records_novelty, self.scheme.span()) {
            (false, _) => Ok(None),
            (true, Some(span)) => Ok(Some(span as u32)),
            (true, None) => {
                let what = format!(
                    "novelty needs fingerprints of runs of a fixed length, which the scheme {} \
                     does not have; take another scheme, such as winnow(k=5,w=10)",
                    self.scheme.spec()
                );
                Err(Error::argument("novelty", what))
            }
        }
    }

    /// Refuses a configuration that stores neither texts nor signatures, or that records novelty
    /// with an unsuitable scheme. The public fields can be set by hand, so the builder methods
    /// cannot rule this out.
    pub(super) fn check(&self) -> Result<()> {
        self.novelty_span()?;
        if self.store_text || self.store_signatures {
            return Ok(());
        }
        let what = "an index stores texts or signatures: without texts, store the signatures";
        Err(Error::argument("store_signatures", what))
    }

    /// Returns the configuration for an index with or without stored texts. Without texts,
    /// signatures are stored.
    ///
    /// # Errors
    /// When a specification cannot be used, which means that `self` could not be used either.
    pub fn with_text(&self, store_text: bool) -> Result<Config> {
        let (scheme, analyzer) = (self.scheme.to_string(), self.analyzer.to_string());
        let config =
            Config::with_frequencies(&scheme, &analyzer, store_text, self.frequencies.clone())?;
        let store_signatures = self.store_signatures || !store_text;
        let config = config.with_max_df(self.max_df).with_preset(self.preset);
        let records_novelty = self.records_novelty;
        let config = Config { store_signatures, records_novelty, ..config };
        config.locked_as(self)
    }

    /// Copies the key of `other`, if any, into this configuration.
    pub(super) fn locked_as(self, other: &Config) -> Result<Config> {
        match other.scheme.lock() {
            Some(lock) => self.locked(lock.clone()),
            None => Ok(self),
        }
    }

    /// Makes fingerprints depend on this key.
    ///
    /// ```
    /// use cento::{Config, Key};
    ///
    /// let key = Key::new(*b"sixteen random b");
    /// let config = Config::new("winnow(k=5,w=10)", "words", false)?.with_key(&key)?;
    /// // An index stores the check value, never the key.
    /// assert_eq!(config.key(), Some(key.check_value()));
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the scheme recognizes words by their hashes, or reads a frequency table.
    pub fn with_key(self, key: &Key) -> Result<Config> {
        self.locked(Arc::new(Lock::open(key)))
    }

    fn locked(self, lock: Arc<Lock>) -> Result<Config> {
        Ok(Config { scheme: self.scheme.locked(lock)?, ..self })
    }

    /// Returns the check value of the key that fingerprints depend on, or `None` without a key.
    #[must_use]
    pub fn key(&self) -> Option<CheckValue> {
        self.scheme.lock().map(|lock| lock.check_value())
    }

    /// Returns the key of the fingerprints. `None` without a key, or while the key is unknown.
    pub fn known_key(&self) -> Option<&Key> {
        self.scheme.lock()?.known()
    }

    /// Makes the key known to this configuration, to its clones and to its index.
    ///
    /// # Errors
    /// [`Reason::OtherKey`] when fingerprints depend on a different key, or on no key. Names
    /// `place`.
    pub(super) fn unlock(&self, key: &Key, place: &Path) -> Result<()> {
        let what = match self.scheme.lock() {
            Some(lock) if lock.unlock(key) => return Ok(()),
            Some(lock) => format!(
                "its fingerprints depend on the key with the check value {}, but the key that was \
                 given has {}; give the key that it was created with",
                lock.check_value(),
                key.check_value()
            ),
            None => "its fingerprints depend on no key, but one was given; give none, or create \
                     another index with the key and add the documents to that"
                .to_owned(),
        };
        Err(Error::index(place, Reason::OtherKey, what))
    }

    /// Returns the digest of a text as the index stores it, which depends on the key, if any.
    ///
    /// # Errors
    /// [`Reason::NeedsKey`] while the key is unknown.
    pub fn text_digest(&self, text: &str) -> Result<Digest> {
        match self.scheme.lock() {
            None => Ok(Digest::of(text.as_bytes())),
            Some(lock) => Ok(lock.key(&self.scheme.to_string())?.digest(text)),
        }
    }

    /// Signs a text. Returns its number of tokens and its signature.
    ///
    /// ```
    /// let config = cento::Config::new("kgram(k=2)", "words", true)?;
    /// let (tokens, signature) = config.sign("one two three")?;
    /// assert_eq!((tokens, signature.len()), (3, 2));
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the text is too large to be analyzed.
    pub fn sign(&self, text: &str) -> Result<(u32, Vec<Fingerprint>)> {
        let signed = self.sign_within(text, usize::MAX, &mut Vec::new(), Stop::NEVER)?;
        Ok((signed.tokens, signed.fingerprints.expect("nothing is too large")))
    }

    /// Signs a text, and replaces the contents of `tokens` with the tokens of the text.
    ///
    /// # Errors
    /// When the text is too large to be analyzed. [`Error::Cancelled`] soon after `stop`.
    pub fn sign_into(
        &self,
        text: &str,
        tokens: &mut Tokens,
        stop: &Stop,
    ) -> Result<Vec<Fingerprint>> {
        let mut signature = Vec::new();
        self.analyzer.analyze(text, tokens, stop)?;
        self.scheme.sign(&tokens.hashes, &mut signature, stop)?;
        Ok(signature)
    }

    /// Refuses the configuration of the index at `path` if its signatures are not comparable with
    /// signatures of this configuration.
    ///
    /// # Errors
    /// When the scheme, the analyzer, the frequency table or the key differs.
    pub fn check_signs_as(&self, other: &Config, path: &Path) -> Result<()> {
        self.check_signs_alike("the other index", other, path)
    }

    /// Like [`check_signs_as`](Self::check_signs_as), with a name for this side in the error.
    ///
    /// # Errors
    /// The errors of [`check_signs_as`](Self::check_signs_as).
    pub fn check_signs_alike(
        &self,
        own_name: impl Display,
        other: &Config,
        path: &Path,
    ) -> Result<()> {
        let name = |config: &Config| {
            let table = config
                .frequencies_digest()
                .map_or(String::new(), |digest| format!(" with the frequency table {digest}"));
            let key = config.key().map_or(String::new(), |value| format!(" with the key {value}"));
            format!("{} over {}{table}{key}", config.scheme, config.analyzer)
        };
        let (own, others) = (name(self), name(other));
        if own == others {
            return Ok(());
        }
        let what = format!(
            "it uses {others}, but {own_name} uses {own}: their fingerprints cannot \
             be compared"
        );
        Err(Error::index(path, Reason::OtherScheme, what))
    }

    /// Returns the digest of the frequency table in hexadecimal, if the scheme uses a table.
    #[must_use]
    pub fn frequencies_digest(&self) -> Option<String> {
        self.frequencies.as_ref().map(|table| format!("{:016x}", table.digest()))
    }

    /// Returns the configuration as the schema of the index records it.
    pub(super) fn to_params(&self) -> Value {
        let mut params: Map<String, Value> =
            self.identity().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        params.insert("max_df".into(), self.max_df.to_string().into());
        // These settings do not change signatures, so they are not part of the identity.
        if let Some(preset) = self.preset {
            params.insert("preset".into(), preset.name().into());
        }
        if self.records_novelty {
            params.insert("novelty".into(), true.into());
        }
        params.into()
    }

    /// Returns the settings that decide whether two signatures are comparable, ordered by name. Not
    /// a JSON object, because any crate of the build may change the order of JSON members, and with
    /// it the digest.
    fn identity(&self) -> BTreeMap<&'static str, Value> {
        let mut identity = BTreeMap::from([
            ("format", FORMAT_VERSION.into()),
            ("hash", HASH_VERSION.into()),
            ("scheme", self.scheme.to_string().into()),
            ("key_bits", self.scheme.key_bits().into()),
            ("analyzer", self.analyzer.to_string().into()),
            ("analyzer_digest", format!("{:016x}", self.analyzer.digest()).into()),
            ("text", self.store_text.into()),
        ]);
        if let Some(digest) = self.frequencies_digest() {
            identity.insert("frequencies", digest.into());
        }
        if let Some(value) = self.key() {
            identity.insert("key", value.to_string().into());
        }
        if !self.store_signatures {
            identity.insert("signatures", false.into());
        }
        identity
    }

    /// Returns the description that every segment of such an index carries.
    pub(super) fn description(&self) -> Description {
        Description {
            key_bits: self.scheme.key_bits(),
            config: self.digest(),
            signatures: self.store_signatures,
        }
    }

    /// Reads the configuration that the index at `path` records as `params`. `frequencies` reads
    /// the bytes of the frequency table.
    pub(super) fn from_params(
        path: &Path,
        params: &Value,
        frequencies: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Config> {
        let text = |name: &str| params[name].as_str().unwrap_or("");
        let format = params["format"].as_u64();
        if format != Some(u64::from(FORMAT_VERSION)) {
            let what = format!(
                "the index has format version {}, but this version of cento reads \
                 {FORMAT_VERSION}; use the version that wrote it, or create the index again",
                params["format"]
            );
            return Err(Error::index(path, Reason::OtherVersion, what));
        }
        let mut names = params.as_object().into_iter().flat_map(Map::keys);
        if let Some(name) = names.find(|name| !PARAMS.contains(&name.as_str())) {
            let what = format!(
                "the index was created by a later version of cento with the setting `{name}`, \
                 which this version does not know; use that version"
            );
            return Err(Error::index(path, Reason::OtherVersion, what));
        }
        let table = match &params["frequencies"] {
            Value::Null => None,
            digest => {
                let file = path.join(FREQUENCIES_FILE).display().to_string();
                let table = FrequencyTable::new(&file, frequencies()?)?;
                if *digest != format!("{:016x}", table.digest()) {
                    let what = "it is not the frequency table that the index was created with";
                    return Err(Corruption::new(file, "digest", 0, what).into());
                }
                Some(Arc::new(table))
            }
        };
        let store_text = params["text"] == Value::Bool(true);
        let config = Config::with_frequencies(text("scheme"), text("analyzer"), store_text, table)?;
        let config = match &params["key"] {
            Value::Null => config,
            value => config.locked(Arc::new(Lock::closed(check_value_of(path, value)?)))?,
        };
        // An index without this setting is older than the setting.
        let max_df = params["max_df"].as_str().map_or(Ok(MaxDf::Default), str::parse)?;
        // Without this setting, signatures are stored.
        let store_signatures = params["signatures"] != Value::Bool(false);
        let preset = match &params["preset"] {
            Value::Null => None,
            name => Some(preset_of(path, name)?),
        };
        let config = config.with_max_df(max_df).with_preset(preset);
        let config = Config { store_signatures, ..config };
        if config.check().is_err() {
            let what = "its schema says that neither texts nor signatures are stored, which no \
                        version of cento writes; restore meta.json, or create the index again";
            return Err(Error::index(path, Reason::Unsuitable, what));
        }
        let records_novelty = params["novelty"] == Value::Bool(true);
        let config = Config { records_novelty, ..config };
        if let Err(error) = config.check() {
            let what = format!(
                "its schema says that it records novelty, which no version of cento writes for \
                 such an index ({error}); restore meta.json, or create the index again"
            );
            return Err(Error::index(path, Reason::Unsuitable, what));
        }
        let now = config.identity();
        let differs = now.keys().copied().find(|&name| now[name] != params[name]);
        if let Some(name) = differs {
            let what = format!(
                "the index was created with {name} {}, but this version of cento has {}, so its \
                 fingerprints would not be found; use the version that created it, or create a new \
                 index and add the documents again",
                params[name], now[name]
            );
            return Err(Error::index(path, Reason::OtherVersion, what));
        }
        Ok(config)
    }

    /// Returns the digest that identifies the configuration in each segment.
    pub(crate) fn digest(&self) -> u64 {
        let text = |value: Value| match value {
            Value::String(text) => text,
            scalar => scalar.to_string(),
        };
        let fields = self.identity().into_iter().map(|(name, value)| (name, text(value)));
        hash_fields(&fields.collect())
    }
}

/// Reads the check value of a key that the index at `path` records.
fn check_value_of(path: &Path, value: &Value) -> Result<CheckValue> {
    value.as_str().and_then(CheckValue::parse).ok_or_else(|| {
        let what = format!(
            "its schema has the check value {value} of a key, which no version of cento writes; \
             restore meta.json, or create the index again"
        );
        Error::index(path, Reason::Unsuitable, what)
    })
}

/// Reads the preset that the index at `path` records.
fn preset_of(path: &Path, name: &Value) -> Result<Preset> {
    name.as_str().and_then(|name| name.parse().ok()).ok_or_else(|| {
        let what = format!(
            "the index was created for {name}, a preset that this version of cento does not have; \
             use the version that created it"
        );
        Error::index(path, Reason::OtherVersion, what)
    })
}
