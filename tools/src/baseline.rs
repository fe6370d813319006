//! Compares cento with the two indexes that an engineer would build with tantivy alone.
//!
//! The terms of the first index are all runs of five words. The terms of the second index are the
//! winnowed fingerprints of cento as u64. Neither index stores frequencies or positions, and both
//! are searched for ten hits by an OR of constant-score terms. The baselines return document
//! addresses, while cento also returns ids, measures and meta. All engines answer the same queries
//! in turns on one thread, after a warm-up round.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cento::Stop;
use cento::index::{Config, Index};
use cento::search::{Query, Searcher};
use cento::tantivy::collector::TopDocs;
use cento::tantivy::merge_policy::NoMergePolicy;
use cento::tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, TermQuery};
use cento::tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use cento::tantivy::{IndexWriter, TantivyDocument, Term};
use cento_source::AddOptions;
use clap::Args;

use crate::Result;
use crate::cento::{Document, documents};
use crate::measure::{Times, config, cpu_seconds, directory_bytes, keys, queries};

pub const CENTO: &str = "cento";
pub const U64_TERMS: &str = "u64 terms";
pub const FIVE_WORD_TERMS: &str = "five-word terms";

/// The number of queries in a row for the same engine.
const TURN: usize = 50;

/// Compare cento with two ways to do it with tantivy alone.
#[derive(Debug, Args)]
pub struct Baselines {
    /// The corpus: a JSON lines file.
    #[arg(long)]
    pub corpus: PathBuf,
    /// A directory for the indexes; those that are there are used again.
    #[arg(long)]
    pub work: PathBuf,
    /// Queries of each kind.
    #[arg(long, default_value = "500")]
    pub queries: usize,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    pub seed: u64,
    /// Leave out the baseline with five-word terms, which is slow to build.
    #[arg(long)]
    pub no_shingles: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Building {
    pub seconds: f64,
    pub processor_seconds: f64,
}

pub struct Engine {
    pub name: &'static str,
    /// `None` if the index existed before, or the engine needs no index.
    pub built: Option<Building>,
    pub index_bytes: Option<u64>,
    /// The times of whole documents, then of passages of 100 words.
    pub times: Option<[Times; 2]>,
}

impl Baselines {
    pub(crate) fn run(self) -> Result {
        let bytes: usize = documents(&self.corpus)?.map(|d| d.map_or(0, |d| d.text.len())).sum();
        println!("{:.1} MB of text, {} queries of each kind", bytes as f64 / 1e6, self.queries);
        let mut engines = self.measure()?;
        println!("| engine | ingest, MB a second | MB a second of processor | size, MB |");
        println!("|---|---|---|---|");
        for engine in &engines {
            let Some(index_bytes) = engine.index_bytes else { continue };
            let rate = |seconds: fn(&Building) -> f64| {
                let rate = |built| format!("{:.1}", bytes as f64 / 1e6 / seconds(built));
                engine.built.as_ref().map(rate).unwrap_or_default()
            };
            println!(
                "| {} | {} | {} | {:.1} |",
                engine.name,
                rate(|built| built.seconds),
                rate(|built| built.processor_seconds),
                index_bytes as f64 / 1e6
            );
        }
        for (at, kind) in ["whole documents", "passages of 100 words"].into_iter().enumerate() {
            println!("\n| {kind} | p50, us | p99, us | p50 beside cento |\n|---|---|---|---|");
            let mut first = None;
            for Engine { name, times, .. } in &mut engines {
                let Some(times) = times else { continue };
                let (p50, p99) = (times[at].quantile(0.5), times[at].quantile(0.99));
                let first = *first.get_or_insert(p50);
                println!("| {name} | {p50:.1} | {p99:.1} | {:.2} |", p50 / first);
            }
        }
        Ok(())
    }

    pub fn measure(&self) -> Result<Vec<Engine>> {
        std::fs::create_dir_all(&self.work)?;
        let mut measured = Vec::new();
        let mut built = |name: &'static str, build: &dyn Fn(&Path) -> Result| -> Result<PathBuf> {
            let path = self.work.join(name.replace(' ', "-"));
            let mut built = None;
            if !path.exists() {
                let (started, cpu) = (Instant::now(), cpu_seconds());
                build(&path)?;
                let seconds = started.elapsed().as_secs_f64();
                built = Some(Building { seconds, processor_seconds: cpu_seconds() - cpu });
            }
            let index_bytes = Some(directory_bytes(&path)?);
            measured.push(Engine { name, built, index_bytes, times: None });
            Ok(path)
        };
        let cento = built(CENTO, &|path| self.build_cento(path, false))?;
        built("cento, texts stored", &|path| self.build_cento(path, true))?;
        let fingerprints = Fingerprints { config: config(false)? };
        let keyed = built(U64_TERMS, &|path| self.build_tantivy(path, &fingerprints))?;
        let shingled = if self.no_shingles {
            None
        } else {
            Some(built(FIVE_WORD_TERMS, &|path| self.build_tantivy(path, &Shingles))?)
        };
        let searcher = Searcher::new(Index::open(&cento)?.snapshot()?);
        let mut engines: Vec<(&'static str, Box<Answer<'_>>)> = vec![
            (
                CENTO,
                Box::new(|text| {
                    Ok(searcher.search(&Query::text(text).counts_only(true))?.hits.len())
                }),
            ),
            (U64_TERMS, answer(&keyed, fingerprints)?),
        ];
        if let Some(shingled) = &shingled {
            engines.push((FIVE_WORD_TERMS, answer(shingled, Shingles)?));
        }
        engines.push(("tokenize and winnow only", {
            let config = config(false)?;
            Box::new(move |text| Ok(config.sign(text)?.1.len()))
        }));
        let (whole, passages) = queries(&self.corpus, self.queries, self.seed)?;
        let mut times = vec![[Times::default(), Times::default()]; engines.len()];
        for (at, texts) in [&whole, &passages].into_iter().enumerate() {
            // An engine answers several queries in a row. Alternating after each query would fill
            // the processor's caches with the data of another engine, which no service does.
            for round in 0..2 {
                for texts in texts.chunks(TURN) {
                    for ((_, answer), times) in engines.iter().zip(&mut times) {
                        for text in texts {
                            let started = Instant::now();
                            std::hint::black_box(answer(text)?);
                            if round > 0 {
                                times[at].push(started.elapsed());
                            }
                        }
                    }
                }
            }
        }
        for ((name, _), times) in engines.iter().zip(times) {
            match measured.iter_mut().find(|engine| engine.name == *name) {
                Some(engine) => engine.times = Some(times),
                None => {
                    let (built, index_bytes) = (None, None);
                    measured.push(Engine { name, built, index_bytes, times: Some(times) });
                }
            }
        }
        Ok(measured)
    }

    fn build_cento(&self, path: &Path, store_text: bool) -> Result {
        let index = Index::create(path, config(store_text)?)?;
        let stop = Stop::new();
        let inputs = [self.corpus.clone()];
        cento_source::add(&index, &inputs, &AddOptions::default(), &stop, &mut |_| {})?;
        // Merges to a single segment like the baselines, so that every engine is measured after
        // merging.
        index.compact(1)?;
        Ok(())
    }

    fn build_tantivy(&self, path: &Path, terms: &impl Terms) -> Result {
        let mut schema = Schema::builder();
        let id = schema.add_text_field("id", STRING | FAST);
        let field = terms.field(&mut schema);
        std::fs::create_dir_all(path)?;
        let index = cento::tantivy::Index::create_in_dir(path, schema.build())?;
        let mut writer = index.writer_with_num_threads(2, 512 << 20)?;
        for document in documents(&self.corpus)? {
            let Document { id: name, text } = document?;
            let mut document = TantivyDocument::new();
            document.add_text(id, name);
            terms.add(&text, field, &mut document)?;
            writer.add_document(document)?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        let segments = index.searchable_segment_ids()?;
        if segments.len() > 1 {
            let mut writer: IndexWriter = index.writer_with_num_threads(1, 64 << 20)?;
            writer.set_merge_policy(Box::new(NoMergePolicy));
            writer.merge(&segments).wait()?;
            writer.wait_merging_threads()?;
        }
        Ok(())
    }
}

/// Looks up a text and returns the number of hits.
type Answer<'a> = dyn Fn(&str) -> Result<usize> + 'a;

trait Terms {
    fn field(&self, schema: &mut cento::tantivy::schema::SchemaBuilder) -> Field;
    fn add(&self, text: &str, field: Field, document: &mut TantivyDocument) -> Result;
    fn terms(&self, text: &str, field: Field) -> Result<Vec<Term>>;
}

const FIELD: &str = "terms";

fn answer<'a>(path: &Path, terms: impl Terms + 'a) -> Result<Box<Answer<'a>>> {
    let index = cento::tantivy::Index::open_in_dir(path)?;
    let field = index.schema().get_field(FIELD)?;
    let searcher = index.reader()?.searcher();
    Ok(Box::new(move |text| {
        let clauses = terms.terms(text, field)?.into_iter().map(|term| {
            let term = TermQuery::new(term, IndexRecordOption::Basic);
            let query = ConstScoreQuery::new(Box::new(term), 1.0);
            (Occur::Should, Box::new(query) as Box<dyn cento::tantivy::query::Query>)
        });
        let query = BooleanQuery::new(clauses.collect());
        let found = searcher.search(&query, &TopDocs::with_limit(10).order_by_score())?;
        Ok(found.len())
    }))
}

/// Terms that are the fingerprints of cento's default scheme.
struct Fingerprints {
    config: Config,
}

impl Terms for Fingerprints {
    fn field(&self, schema: &mut cento::tantivy::schema::SchemaBuilder) -> Field {
        schema.add_u64_field(FIELD, INDEXED)
    }

    fn add(&self, text: &str, field: Field, document: &mut TantivyDocument) -> Result {
        keys(&self.config, text)?.into_iter().for_each(|key| document.add_u64(field, key));
        Ok(())
    }

    fn terms(&self, text: &str, field: Field) -> Result<Vec<Term>> {
        Ok(keys(&self.config, text)?
            .into_iter()
            .map(|key| Term::from_field_u64(field, key))
            .collect())
    }
}

/// Terms that are the distinct runs of five lower-case words.
struct Shingles;

impl Shingles {
    fn shingles(text: &str) -> Vec<String> {
        let lower = text.to_lowercase();
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let mut shingles: Vec<String> = words.windows(5).map(|five| five.join(" ")).collect();
        shingles.sort_unstable();
        shingles.dedup();
        shingles
    }
}

impl Terms for Shingles {
    fn field(&self, schema: &mut cento::tantivy::schema::SchemaBuilder) -> Field {
        let terms = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_index_option(IndexRecordOption::Basic)
            .set_fieldnorms(false);
        schema.add_text_field(FIELD, TextOptions::default().set_indexing_options(terms))
    }

    fn add(&self, text: &str, field: Field, document: &mut TantivyDocument) -> Result {
        Self::shingles(text).iter().for_each(|shingle| document.add_text(field, shingle));
        Ok(())
    }

    fn terms(&self, text: &str, field: Field) -> Result<Vec<Term>> {
        let shingles = Self::shingles(text);
        Ok(shingles.iter().map(|shingle| Term::from_field_text(field, shingle)).collect())
    }
}
