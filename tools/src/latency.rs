//! Measures the latency of searches and how the latency grows with the corpus.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cento::Stop;
use cento::Tokens;
use cento::index::{Index, MaxDf, WriterOptions};
use cento::search::{Answer, Query, Searcher};
use clap::Args;

use crate::Result;
use crate::cento::{Document, documents};
use crate::measure::{Times, config, queries, snapshot};

/// Measure the latency of searches against the size of the corpus and the number of segments.
#[derive(Debug, Args)]
pub struct Latency {
    /// The corpus: a JSON lines file. Smaller corpora are made of the first documents.
    #[arg(long)]
    corpus: PathBuf,
    /// A directory for the indexes; those that are there are used again.
    #[arg(long)]
    work: PathBuf,
    /// Sizes of the corpora, in megabytes of text.
    #[arg(long, value_delimiter = ',', default_value = "30,100,300,1000")]
    sizes: Vec<usize>,
    /// Numbers of segments of an index.
    #[arg(long, value_delimiter = ',', default_value = "1,16")]
    segments: Vec<usize>,
    /// Limits of document frequency.
    #[arg(long, value_delimiter = ',', default_value = "default")]
    max_df: Vec<MaxDf>,
    /// Queries of each kind, made of the smallest corpus.
    #[arg(long, default_value = "500")]
    queries: usize,
    /// Estimate the resemblance of hits too.
    #[arg(long)]
    estimates: bool,
    /// Only queries of this kind.
    #[arg(long, value_parser = ["whole", "passage"])]
    only: Option<String>,
    /// Find the passages of hits too, in indexes with texts.
    #[arg(long)]
    passages: bool,
    /// Instead of searches, measure reading the texts of their hits and splitting these into words,
    /// without which there are no passages.
    #[arg(long = "texts", conflicts_with = "passages")]
    only_texts: bool,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Draw the medians against the size: an SVG file.
    #[arg(long)]
    plot: Option<PathBuf>,
}

/// The median times of each kind of query, as pairs of corpus size and time.
type Curves = BTreeMap<String, Vec<(f64, f64)>>;

impl Latency {
    pub(crate) fn run(self) -> Result {
        std::fs::create_dir_all(&self.work)?;
        let smallest = self.sizes.iter().min().copied().ok_or("give a size")?;
        let sample = self.work.join(format!("sample-{smallest}.jsonl"));
        write_first(&self.corpus, smallest * 1_000_000, &sample)?;
        let (whole, passages) = queries(&sample, self.queries, self.seed)?;
        println!(
            "| MB | segments | documents | max-df | kind | p50, us | p99, us | postings a query | hits |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        let mut curves = Curves::new();
        let store_text = self.passages || self.only_texts;
        for &size in &self.sizes {
            for &segments in &self.segments {
                let texts = if store_text { "-texts" } else { "" };
                let path = self.work.join(format!("{size}-{segments}{texts}"));
                if !path.exists() {
                    build((&self.corpus, size * 1_000_000), segments, store_text, &path)?;
                }
                let searcher = Searcher::new(snapshot(&path)?);
                let found = searcher.snapshot().segments().len();
                let count = searcher.snapshot().documents();
                let names = if self.only_texts {
                    ["whole, texts", "passage, texts"]
                } else {
                    ["whole", "passage"]
                };
                let kinds = [(names[0], &whole), (names[1], &passages)];
                let is_asked = |&(_, (kind, _)): &(_, (&str, _))| {
                    self.only.as_ref().is_none_or(|only| kind.starts_with(only.as_str()))
                };
                for (&max_df, (kind, texts)) in self
                    .max_df
                    .iter()
                    .flat_map(|max_df| kinds.map(|kind| (max_df, kind)))
                    .filter(is_asked)
                {
                    let (mut times, mut postings, mut hits) = (Times::default(), 0, 0);
                    for round in 0..2 {
                        for text in texts {
                            let max_df = Some(max_df);
                            let (estimates, passages) = (self.estimates, self.passages);
                            let query = Query::text(text.as_str());
                            let query =
                                query.max_df(max_df).counts_only(!estimates).passages(passages);
                            let started = Instant::now();
                            let answer = searcher.search(&query)?;
                            let took = if self.only_texts {
                                read_texts(&searcher, &answer)?
                            } else {
                                started.elapsed()
                            };
                            if round > 0 {
                                times.push(took);
                                postings += answer.query.postings;
                                hits += answer.hits.len();
                            }
                        }
                    }
                    let plural = if found == 1 { "segment" } else { "segments" };
                    let curve = curves.entry(format!("{kind}, {found} {plural}")).or_default();
                    curve.push((size as f64, times.quantile(0.5)));
                    let mean = |sum: f64| sum / texts.len() as f64;
                    println!(
                        "| {size} | {found} | {count} | {max_df} | {kind} | {:.1} | {:.1} | {:.0} | {:.1} |",
                        times.quantile(0.5),
                        times.quantile(0.99),
                        mean(postings as f64),
                        mean(hits as f64)
                    );
                }
            }
        }
        match &self.plot {
            Some(path) => plot(path, &curves),
            None => Ok(()),
        }
    }
}

/// Returns the time for reading the texts of an answer's hits and splitting the texts into words.
fn read_texts(searcher: &Searcher, answer: &Answer) -> Result<Duration> {
    let snapshot = searcher.snapshot();
    let mut addresses = Vec::new();
    for hit in &answer.hits {
        addresses.extend(snapshot.find(&hit.id)?);
    }
    let analyzer = &snapshot.config().analyzer;
    let started = Instant::now();
    for address in addresses {
        let mut tokens = Tokens::default();
        let text = snapshot.document(address)?.text.ok_or("a hit has no text")?;
        analyzer.analyze(&text, &mut tokens, Stop::NEVER)?;
    }
    Ok(started.elapsed())
}

/// Draws curves on logarithmic axes beside a line that grows in proportion to the corpus.
fn plot(path: &Path, curves: &Curves) -> Result {
    use plotters::prelude::*;

    let points = || curves.values().flatten();
    let least = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(f64::MAX, f64::min);
    let most = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(0.0, f64::max);
    let (left, right) = (least(|point| point.0), most(|point| point.0));
    let (bottom, top) = (least(|point| point.1) / 2.0, most(|point| point.1) * 20.0);
    let area = SVGBackend::new(path, (720, 480)).into_drawing_area();
    area.fill(&WHITE)?;
    let axes = ((left..right).log_scale(), (bottom..top).log_scale());
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(axes.0, axes.1)?;
    chart
        .configure_mesh()
        .x_labels(4)
        .x_desc("MB of text")
        .y_desc("median, microseconds")
        .draw()?;
    let colors = [BLUE, RED, GREEN, MAGENTA, CYAN, BLACK];
    for ((name, points), color) in curves.iter().zip(colors.into_iter().cycle()) {
        chart
            .draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color));
    }
    let like_size = [(left, bottom), (right, bottom * right / left)];
    chart
        .draw_series(LineSeries::new(like_size, BLACK.mix(0.3)))?
        .label("as the size")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], BLACK.mix(0.3)));
    let mut labels = chart.configure_series_labels();
    labels
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()?;
    Ok(area.present()?)
}

/// Iterates over the first documents of a corpus until their texts have `bytes_max` bytes.
pub fn first(corpus: &Path, bytes_max: usize) -> Result<impl Iterator<Item = Result<Document>>> {
    let mut bytes = 0;
    Ok(documents(corpus)?.take_while(move |document| {
        let before = bytes;
        bytes += document.as_ref().map_or(0, |document| document.text.len());
        before < bytes_max
    }))
}

/// Writes the documents of [`first`] to a JSON lines file.
pub fn write_first(corpus: &Path, bytes_max: usize, out: &Path) -> Result {
    use std::io::Write;

    let mut out = std::io::BufWriter::new(std::fs::File::create(out)?);
    for document in first(corpus, bytes_max)? {
        writeln!(out, "{}", serde_json::to_string(&document?)?)?;
    }
    Ok(out.flush()?)
}

/// Makes an index of the documents of [`first`], in segments with equal numbers of documents.
pub fn build(
    (corpus, bytes_max): (&Path, usize),
    segments: usize,
    store_text: bool,
    path: &Path,
) -> Result {
    let count = first(corpus, bytes_max)?.count();
    let index = Index::create(path, config(store_text)?)?;
    let options = WriterOptions::default().merge(false).memory_bytes(1usize << 30);
    let mut writer = index.writer(options)?;
    for (i, document) in first(corpus, bytes_max)?.enumerate() {
        let Document { id, text } = document?;
        let document = cento::index::Document::new(id, text);
        writer.add(document)?;
        if (i + 1) % count.div_ceil(segments) == 0 {
            writer.commit()?;
        }
    }
    writer.finish()?;
    if segments == 1 {
        index.compact(1)?;
    }
    Ok(())
}
