//! cento: a persistent on-disk search engine for near-duplicate and reused text.
//!
//! An [`Index`] is a directory. One [`Writer`] at a time adds, replaces and removes documents. Any
//! number of [`Searcher`]s, in any number of processes, answer a [`Query`] from the last commit:
//!
//! ```
//! use cento::{Config, Document, Index, Query, Searcher, Stop, WriterOptions};
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("corpus.idx");
//!
//! // Write: of every 10 runs of 5 words keep one as a fingerprint, and keep the texts too.
//! let index = Index::create(&path, Config::new("winnow(k=5,w=10)", "words", true)?)?;
//! let mut writer = index.writer(WriterOptions::default())?;
//! let oath = "I will support and defend the Constitution of the United States against all \
//!     enemies, foreign and domestic; I will bear true faith and allegiance to the same";
//! writer.add(Document::new("oath", oath))?;
//! let framed = format!("On that cold day in January they all stood up and said: {oath}.");
//! writer.add(Document::new("copy", framed))?;
//! writer.add(Document::new("other", "Nothing of it is in this text, which is about the weather."))?;
//! writer.commit()?;
//!
//! // Search: which documents have at least 30 % of a text, and which passages?
//! let searcher = Searcher::new(index.snapshot()?);
//! let query = Query::text(oath).min_containment(0.3).passages(true);
//! let answer = searcher.search(&query)?;
//! assert_eq!(answer.hits.len(), 2);
//! assert_eq!((answer.hits[0].id.as_str(), answer.hits[0].similarity.containment_of_a), ("oath", 1.0));
//! let passages = answer.hits[1].passages.as_deref().unwrap_or_default();
//! assert_eq!(passages[0].a, (0, oath.len() as u32));
//!
//! // Remove.
//! assert!(writer.remove("copy")?);
//! writer.commit()?;
//! assert_eq!(Searcher::new(index.snapshot()?).search(&query)?.hits.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This page lists the types and calls that most programs need. The modules have the rest:
//! [`index`] is about stored documents and their changes, [`search`] about queries and answers,
//! [`mod@compare`] about two texts without an index. [`text`] and [`scheme`] make fingerprints from
//! texts, [`segment`] handles `.sig` files, and [`runtime`] provides threads, memory and
//! cancellation. The package `cento-collections` works on whole collections: pairs, clusters,
//! duplicates.
//!
//! Which scheme? [`scheme`] lists them. `winnow(k=5,w=10)` is right for finding passages in any
//! kind of text. The package `cento-source` turns files and archives into documents, and
//! `cento-serve` is an HTTP service.

// Signatures and answers must not depend on the compiler's Unicode version, nor on the logarithms
// of the platform (clippy.toml). Tests may compare with either.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod index;
pub mod search;
pub mod segment;

use cento_text::{automaton, key, number, period, sampling};

pub use cento_text::{compare, field_date, hash, runtime, scheme, spec, text};

use cento_api::{error, overlap, reason, similarity};

pub use cento_api::{
    Category, ConflictKind, Corruption, Error, NOVELTY, NewText, Novelty, NoveltySource, Overlap,
    Part, PartText, Reason, Refusal, Result, Similarity, UnseenText,
};
pub use compare::measure::Measure;
pub use compare::{
    CitedPart, CompareOptions, Comparison, Origin, Passage, Passages, TextPair, Unit, compare_by,
};
pub use hash::Digest;
pub use index::{
    AddIndexesOptions, AddReport, AddedIndexes, Bytes, CheckReport, Compacting, Compaction, Config,
    DfBucket, DfDistribution, DocAddress, Document, Index, LockWait, MaxDf, OnConflict, Outcome,
    Preset, PresetDefaults, PresetRank, SignedDocument, SignedDocuments, SigningOptions, Snapshot,
    Stats, StoredDocument, Training, Writer, WriterOptions,
};
pub use key::{CheckValue, Key};
pub use runtime::{ByteBudget, Stop, available_threads};
pub use scheme::estimate::Estimator;
pub use search::{
    Answer, Boilerplate, BoilerplateShare, CandidateTexts, Goal, Hit, Query, QueryInfo,
    QueryMemory, Rank, RepeatedPassage, RepeatedPassages, SearchOptions, Searcher, SimilarTo,
    Stopped, Subject, Thresholds, Verified,
};
/// The type of [`Document::meta`].
pub use serde_json::Map;
/// The tantivy that cento is built on, for queries that combine with [`SimilarTo`].
pub use tantivy;
pub use text::{Analyzer, Span, Tokens};
