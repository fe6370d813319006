//! What would a competent engineer build with tantivy alone, and how does cento compare?
//!
//! Two ways: every run of five words is a term; or the *same* winnowed fingerprints are u64 terms.
//! Both without frequencies or positions, searched by an OR of constant-score terms, ten hits. The
//! baselines end with document addresses; cento's answers have ids, measures and meta. All engines
//! answer the same queries in turns, one thread, after a round that is not counted.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cento::Stop;
use cento::index::{Config, Index};
use cento::search::{Query, Searcher};
use cento_source::AddOptions;
use clap::Args;
use tantivy::collector::TopDocs;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, TermQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{IndexWriter, TantivyDocument, Term};

use crate::Result;
use crate::cento::{Document, documents};
use crate::measure::{Times, config, cpu_seconds, directory_bytes, keys, queries};

/// Queries that one engine answers before it is the next one's turn.
const TURN: usize = 50;

/// Compare cento with two ways to do it with tantivy alone.
#[derive(Debug, Args)]
pub struct Baselines {
    /// The corpus: a JSON lines file.
    #[arg(long)]
    corpus: PathBuf,
    /// A directory for the indexes; those that are there are used again.
    #[arg(long)]
    work: PathBuf,
    /// Queries of each kind.
    #[arg(long, default_value = "500")]
    queries: usize,
    /// The seed.
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Leave out the baseline with five-word terms, which is slow to build.
    #[arg(long)]
    no_shingles: bool,
}

impl Baselines {
    pub(crate) fn run(self) -> Result {
        std::fs::create_dir_all(&self.work)?;
        let bytes: usize = documents(&self.corpus)?.map(|d| d.map_or(0, |d| d.text.len())).sum();
        println!("{:.1} MB of text, {} queries of each kind", bytes as f64 / 1e6, self.queries);
        println!("| engine | ingest, MB a second | MB a second of processor | size, MB |");
        println!("|---|---|---|---|");
        let built = |name: &str, build: &dyn Fn(&Path) -> Result| -> Result<PathBuf> {
            let path = self.work.join(name);
            if path.exists() {
                println!("| {name} | | | {:.1} |", directory_bytes(&path)? as f64 / 1e6);
                return Ok(path);
            }
            let (started, cpu) = (Instant::now(), cpu_seconds());
            build(&path)?;
            let mb = bytes as f64 / 1e6;
            println!(
                "| {name} | {:.1} | {:.1} | {:.1} |",
                mb / started.elapsed().as_secs_f64(),
                mb / (cpu_seconds() - cpu),
                directory_bytes(&path)? as f64 / 1e6
            );
            Ok(path)
        };
        let cento = built("cento-no-text", &|path| self.build_cento(path, false))?;
        built("cento-with-text", &|path| self.build_cento(path, true))?;
        let fingerprints = Fingerprints { config: config(false)? };
        let keyed = built("u64-terms", &|path| self.build_tantivy(path, &fingerprints))?;
        let shingled = if self.no_shingles {
            None
        } else {
            Some(built("five-word-terms", &|path| self.build_tantivy(path, &Shingles))?)
        };
        let searcher = Searcher::new(Index::open(&cento)?.snapshot()?);
        let mut engines: Vec<(&str, Box<Answer<'_>>)> = vec![
            (
                "cento",
                Box::new(|text| {
                    Ok(searcher.search(&Query::text(text).counts_only(true))?.hits.len())
                }),
            ),
            ("u64 terms", answer(&keyed, fingerprints)?),
        ];
        if let Some(shingled) = &shingled {
            engines.push(("five-word terms", answer(shingled, Shingles)?));
        }
        engines.push(("tokenise and winnow only", {
            let config = config(false)?;
            Box::new(move |text| Ok(config.sign(text)?.1.len()))
        }));
        let (whole, passages) = queries(&self.corpus, self.queries, self.seed)?;
        for (kind, texts) in [("whole documents", &whole), ("passages of 100 words", &passages)] {
            println!("\n| {kind} | p50, us | p99, us | p50 beside cento |\n|---|---|---|---|");
            let mut times = vec![Times::default(); engines.len()];
            // In turns of some queries: one by one, every engine would find the processor's caches
            // full of another's data, which no service does.
            for round in 0..2 {
                for texts in texts.chunks(TURN) {
                    for ((_, answer), times) in engines.iter().zip(&mut times) {
                        for text in texts {
                            let started = Instant::now();
                            std::hint::black_box(answer(text)?);
                            if round > 0 {
                                times.push(started.elapsed());
                            }
                        }
                    }
                }
            }
            let first = times[0].quantile(0.5);
            for ((name, _), mut times) in engines.iter().zip(times.clone()) {
                let (p50, p99) = (times.quantile(0.5), times.quantile(0.99));
                println!("| {name} | {p50:.1} | {p99:.1} | {:.2} |", p50 / first);
            }
        }
        Ok(())
    }

    fn build_cento(&self, path: &Path, store_text: bool) -> Result {
        let index = Index::create(path, config(store_text)?)?;
        let stop = Stop::new();
        let inputs = [self.corpus.clone()];
        cento_source::add(&index, &inputs, &AddOptions::default(), &stop, &mut |_| {})?;
        // Like the baselines: measured when merging has come to rest, in one segment.
        index.compact(1)?;
        Ok(())
    }

    fn build_tantivy(&self, path: &Path, terms: &impl Terms) -> Result {
        let mut schema = Schema::builder();
        let id = schema.add_text_field("id", STRING | FAST);
        let field = terms.field(&mut schema);
        std::fs::create_dir_all(path)?;
        let index = tantivy::Index::create_in_dir(path, schema.build())?;
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

/// Looks a text up; the number of hits.
type Answer<'a> = dyn Fn(&str) -> Result<usize> + 'a;

/// What a text is to a baseline.
trait Terms {
    fn field(&self, schema: &mut tantivy::schema::SchemaBuilder) -> Field;
    fn add(&self, text: &str, field: Field, document: &mut TantivyDocument) -> Result;
    fn terms(&self, text: &str, field: Field) -> Result<Vec<Term>>;
}

/// The name of the field with the terms.
const FIELD: &str = "terms";

fn answer<'a>(path: &Path, terms: impl Terms + 'a) -> Result<Box<Answer<'a>>> {
    let index = tantivy::Index::open_in_dir(path)?;
    let field = index.schema().get_field(FIELD)?;
    let searcher = index.reader()?.searcher();
    Ok(Box::new(move |text| {
        let clauses = terms.terms(text, field)?.into_iter().map(|term| {
            let term = TermQuery::new(term, IndexRecordOption::Basic);
            let query = ConstScoreQuery::new(Box::new(term), 1.0);
            (Occur::Should, Box::new(query) as Box<dyn tantivy::query::Query>)
        });
        let query = BooleanQuery::new(clauses.collect());
        let found = searcher.search(&query, &TopDocs::with_limit(10).order_by_score())?;
        Ok(found.len())
    }))
}

/// The fingerprints of cento's default scheme.
struct Fingerprints {
    config: Config,
}

impl Terms for Fingerprints {
    fn field(&self, schema: &mut tantivy::schema::SchemaBuilder) -> Field {
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

/// Every run of five words.
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
    fn field(&self, schema: &mut tantivy::schema::SchemaBuilder) -> Field {
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
