//! Measures the boundaries of reused passages (PAN, text alignment).
//!
//! Each pair of a suspicious and a source document is aligned as in `cento compare`. The measures
//! come from Potthast et al. (2010): precision and recall count characters of both texts, averaged
//! over detections and over cases. Granularity is the mean number of detections of a detected case.
//! Plagdet is F1 / log2(1 + granularity). Offsets are Unicode code points.
//!
//! A second table has recall by the length of the case. Pairs that share nothing are drawn at
//! random from the same documents, because the corpus has few pairs of very different lengths.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use cento::Stop;
use cento::compare::align::{AlignedPassage, Genre, Side, align};
use cento::text::{Analyzer, Tokens};
use clap::Args;
use serde::Deserialize;

use crate::Result;
use crate::cento::documents;

/// The PAN 2013 text alignment corpus.
#[derive(Debug, Args)]
pub struct Corpus {
    /// The source documents: a JSON lines file.
    #[arg(long)]
    pub sources: PathBuf,
    /// The suspicious documents: a JSON lines file.
    #[arg(long)]
    pub suspicious: PathBuf,
    /// The pairs and their cases: a JSON lines file.
    #[arg(long)]
    pub truth: PathBuf,
}

/// Measure passages against the PAN 2013 text alignment corpus.
#[derive(Debug, Args)]
pub struct Pan {
    #[command(flatten)]
    corpus: Corpus,
    /// How the texts are made into tokens, as `cento info analyzers` lists it.
    #[arg(long, default_value = "words")]
    analyzer: String,
    /// Only every n-th pair.
    #[arg(long, default_value = "1")]
    every: usize,
    /// Only the pairs with a source at an even (0) or odd (1) place in the file of sources: what
    /// is chosen on one half is confirmed on the other.
    #[arg(long, value_parser = clap::value_parser!(u8).range(..2))]
    half: Option<u8>,
    /// Print the detections, and the cases with none, of this category, of all, or those of
    /// unrelated pairs ("all", "unrelated").
    #[arg(long)]
    show: Option<String>,
    /// Align this many pairs drawn at random too, and as many where one document has at least
    /// eight times the words of the other; none of them is in the file of pairs.
    #[arg(long, default_value = "0")]
    unrelated: usize,
}

/// A pair of documents with its labeled cases.
#[derive(Deserialize)]
pub struct Pair {
    /// The category of obfuscation.
    pub cat: String,
    /// Id of the suspicious document.
    pub susp: String,
    /// Id of the source document.
    pub src: String,
    /// The labeled passages, empty for unrelated documents.
    pub cases: Vec<CaseRecord>,
}

/// A passage, in code points.
#[derive(Deserialize)]
pub struct CaseRecord {
    this_offset: usize,
    this_length: usize,
    source_offset: usize,
    source_length: usize,
}

impl CaseRecord {
    /// Returns the range in the suspicious document.
    pub fn this(&self) -> Range<usize> {
        self.this_offset..self.this_offset + self.this_length
    }

    /// Returns the range in the source.
    pub fn source(&self) -> Range<usize> {
        self.source_offset..self.source_offset + self.source_length
    }
}

/// Converts a range of code points to bytes.
pub fn bytes_of(text: &str, points: Range<usize>) -> Range<usize> {
    let mut starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let start = starts.nth(points.start).unwrap_or(text.len());
    let end = if points.is_empty() { Some(start) } else { starts.nth(points.len() - 1) };
    start..end.unwrap_or(text.len())
}

/// A range of the suspicious document and a range of the source, in code points.
#[derive(Debug, Clone)]
struct Region {
    this: Range<usize>,
    source: Range<usize>,
}

impl Region {
    fn len(&self) -> usize {
        self.this.len() + self.source.len()
    }

    fn detects(&self, case: &Region) -> bool {
        intersect(&self.this, &case.this).is_some()
            && intersect(&self.source, &case.source).is_some()
    }
}

fn intersect(a: &Range<usize>, b: &Range<usize>) -> Option<Range<usize>> {
    let range = a.start.max(b.start)..a.end.min(b.end);
    (!range.is_empty()).then_some(range)
}

/// Counts the places covered by a range.
fn union_len(mut ranges: Vec<Range<usize>>) -> usize {
    ranges.sort_unstable_by_key(|range| range.start);
    let (mut len, mut end) = (0, 0);
    for range in ranges {
        len += range.end.saturating_sub(range.start.max(end));
        end = end.max(range.end);
    }
    len
}

/// Returns how much of `one` the detecting ranges among `others` cover, as a share of characters in
/// the two texts.
fn covered(one: &Region, others: &[Region]) -> f64 {
    let detecting = || others.iter().filter(|other| other.detects(one));
    let this = detecting().filter_map(|other| intersect(&one.this, &other.this)).collect();
    let source = detecting().filter_map(|other| intersect(&one.source, &other.source)).collect();
    (union_len(this) + union_len(source)) as f64 / one.len() as f64
}

#[derive(Debug, Default, Clone)]
struct Sums {
    pairs: usize,
    cases: usize,
    detections: usize,
    recall: f64,
    precision: f64,
    detected: usize,
    detecting: usize,
    micros: f64,
}

impl Sums {
    fn add(&mut self, cases: &[Region], detections: &[Region], micros: f64) {
        self.pairs += 1;
        self.micros += micros;
        self.cases += cases.len();
        self.detections += detections.len();
        self.recall += cases.iter().map(|case| covered(case, detections)).sum::<f64>();
        self.precision += detections.iter().map(|found| covered(found, cases)).sum::<f64>();
        for case in cases {
            let count = detections.iter().filter(|found| found.detects(case)).count();
            self.detected += usize::from(count > 0);
            self.detecting += count;
        }
    }

    fn figures(&self) -> Figures {
        let mean = |sum: f64, count: usize| if count == 0 { 0.0 } else { sum / count as f64 };
        let precision = mean(self.precision, self.detections);
        let recall = mean(self.recall, self.cases);
        let granularity =
            if self.detected == 0 { 1.0 } else { mean(self.detecting as f64, self.detected) };
        let f1 = if precision + recall == 0.0 {
            0.0
        } else {
            2.0 * precision * recall / (precision + recall)
        };
        Figures { precision, recall, granularity, plagdet: f1 / (1.0 + granularity).log2() }
    }

    fn print(&self, name: &str) {
        let Figures { precision, recall, granularity, plagdet } = self.figures();
        println!(
            "| {name} | {} | {} | {} | {precision:.4} | {recall:.4} | {granularity:.4} | {plagdet:.4} | {:.0} |",
            self.pairs,
            self.cases,
            self.detections,
            self.micros / self.pairs as f64
        );
    }
}

/// The measures of PAN, averaged.
struct Figures {
    precision: f64,
    recall: f64,
    granularity: f64,
    plagdet: f64,
}

/// The documents and the pairs of the corpus.
pub struct Labelled {
    texts: HashMap<String, Text>,
    pairs: Vec<Pair>,
}

impl Labelled {
    /// Reads the corpus, and makes the texts into tokens.
    pub fn read(corpus: &Corpus, analyzer: &Analyzer) -> Result<Labelled> {
        let mut texts = HashMap::new();
        for path in [&corpus.suspicious, &corpus.sources] {
            for document in documents(path)? {
                let document = document?;
                texts.insert(document.id, Text::new(document.text, analyzer)?);
            }
        }
        let truth = std::fs::read_to_string(&corpus.truth)?;
        let pairs = truth.lines().map(serde_json::from_str);
        Ok(Labelled { texts, pairs: pairs.collect::<std::result::Result<_, _>>()? })
    }

    /// Measures the passages of every n-th pair.
    pub fn plagdet(&self, every: usize) -> Result<f64> {
        let mut sums = Sums::default();
        for pair in self.pairs.iter().step_by(every) {
            let of = |id: &str| self.texts.get(id).ok_or_else(|| format!("no document {id}"));
            let (this, source) = (of(&pair.susp)?, of(&pair.src)?);
            let passages = align(this.side(), source.side(), Genre::Prose, Stop::NEVER)?.passages;
            sums.add(&pair.regions(), &detections(&passages, [this, source]), 0.0);
        }
        Ok(sums.figures().plagdet)
    }
}

impl Labelled {
    /// Measures every n-th pair with passages, with the source as one of several texts in a longer
    /// document.
    pub fn plagdet_among(&self, every: usize, others: usize, analyzer: &Analyzer) -> Result<f64> {
        let mut sums = Sums::default();
        let labelled: Vec<&Pair> =
            self.pairs.iter().filter(|pair| !pair.cases.is_empty()).collect();
        for (at, pair) in labelled.iter().enumerate().step_by(every) {
            let of = |id: &str| self.texts.get(id).ok_or_else(|| format!("no document {id}"));
            let (this, own) = (of(&pair.susp)?, of(&pair.src)?);
            let (mut text, mut before) = (String::new(), 0);
            for other in 0..others {
                if other == others / 2 {
                    before = text.chars().count();
                    text = text + &own.text + "\n\n";
                }
                let place = (at + 37 * (other + 1)) % labelled.len();
                text = text + &of(&labelled[place].src)?.text + "\n\n";
            }
            let source = Text::new(text, analyzer)?;
            let passages = align(this.side(), source.side(), Genre::Prose, Stop::NEVER)?.passages;
            let moved = |region: Region| {
                let Region { this, source } = region;
                Region { this, source: source.start + before..source.end + before }
            };
            let cases: Vec<Region> = pair.regions().into_iter().map(moved).collect();
            sums.add(&cases, &detections(&passages, [this, &source]), 0.0);
        }
        Ok(sums.figures().plagdet)
    }
}

impl Pair {
    fn regions(&self) -> Vec<Region> {
        let region = |case: &CaseRecord| Region { this: case.this(), source: case.source() };
        self.cases.iter().map(region).collect()
    }
}

/// Returns passages of two texts in code points.
fn detections(passages: &[AlignedPassage], [this, source]: [&Text; 2]) -> Vec<Region> {
    let region = |passage: &AlignedPassage| Region {
        this: this.points(&passage.query),
        source: source.points(&passage.hit),
    };
    passages.iter().map(region).collect()
}

/// Lower bounds of the length of a case, in words of the suspicious document, for the rows of the
/// table of recall.
const LENGTHS: [usize; 4] = [0, 30, 50, 100];

/// Recall of cases, by row of the table.
#[derive(Debug, Default, Clone)]
struct ByLength([Recalled; LENGTHS.len()]);

/// Recall of the cases of a row.
#[derive(Debug, Default, Clone)]
struct Recalled {
    cases: usize,
    /// Cases without a detection.
    missed: usize,
    recall: f64,
}

impl ByLength {
    fn add(&mut self, words: usize, case: &Region, detections: &[Region]) {
        let row = LENGTHS.partition_point(|&from| from <= words) - 1;
        let recalled = &mut self.0[row];
        recalled.cases += 1;
        recalled.missed += usize::from(!detections.iter().any(|found| found.detects(case)));
        recalled.recall += covered(case, detections);
    }

    fn print(&self, name: &str) {
        let cell = |of: &Recalled| {
            let share = |sum: f64| if of.cases == 0 { 0.0 } else { sum / of.cases as f64 };
            format!(" | {}, {:.3}, {:.3}", of.cases, share(of.recall), share(of.missed as f64))
        };
        println!("| {name}{} |", self.0.iter().map(cell).collect::<String>());
    }
}

/// A text with tokens, and the byte offsets of code points.
struct Text {
    text: String,
    tokens: Tokens,
    points: Vec<u32>,
}

impl Text {
    fn new(text: String, analyzer: &Analyzer) -> Result<Text> {
        let mut tokens = Tokens::default();
        analyzer.analyze(&text, &mut tokens, Stop::NEVER)?;
        let mut points = vec![0; text.len() + 1];
        let mut point = 0;
        for (at, c) in text.char_indices() {
            points[at..at + c.len_utf8()].fill(point);
            point += 1;
        }
        points[text.len()] = point;
        Ok(Text { text, tokens, points })
    }

    fn side(&self) -> Side<'_> {
        Side { text: &self.text, tokens: &self.tokens, parts: &[] }
    }

    fn points(&self, tokens: &Range<usize>) -> Range<usize> {
        let spans = &self.tokens.spans;
        let point = |byte: u32| self.points[byte as usize] as usize;
        point(spans[tokens.start].start)..point(spans[tokens.end - 1].end)
    }

    /// Counts the words in a range of code points.
    fn words(&self, points: &Range<usize>) -> usize {
        let starts_before = |point: usize| {
            self.tokens
                .spans
                .partition_point(|span| (self.points[span.start as usize] as usize) < point)
        };
        starts_before(points.end) - starts_before(points.start)
    }
}

impl Pan {
    pub(crate) fn run(self) -> Result {
        let analyzer: Analyzer = self.analyzer.parse()?;
        let mut texts: HashMap<String, Text> = HashMap::new();
        let mut ids = [Vec::new(), Vec::new()];
        for (path, ids) in [&self.corpus.suspicious, &self.corpus.sources].into_iter().zip(&mut ids)
        {
            for document in documents(path)? {
                let document = document?;
                ids.push(document.id.clone());
                texts.insert(document.id, Text::new(document.text, &analyzer)?);
            }
        }
        let [suspicious, sources] = &ids;
        let half_of: HashMap<&String, usize> =
            sources.iter().enumerate().map(|(at, id)| (id, at % 2)).collect();
        let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
        let mut by_length: BTreeMap<String, ByLength> = BTreeMap::new();
        let mut all = Sums::default();
        let (mut most_steps, mut cut) = (0, 0);
        let truth = std::fs::read_to_string(&self.corpus.truth)?;
        let pairs: Vec<Pair> =
            truth.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?;
        let labelled: HashSet<_> =
            pairs.iter().map(|pair| (pair.susp.clone(), pair.src.clone())).collect();
        let is_of_half = |source: &String| {
            self.half.is_none_or(|half| half_of.get(source) == Some(&usize::from(half)))
        };
        for pair in pairs.into_iter().step_by(self.every).filter(|pair| is_of_half(&pair.src)) {
            let of = |id: &str| texts.get(id).ok_or_else(|| format!("no document {id}"));
            let (this, source) = (of(&pair.susp)?, of(&pair.src)?);
            let started = Instant::now();
            let alignment = align(this.side(), source.side(), Genre::Prose, Stop::NEVER)?;
            most_steps = most_steps.max(alignment.steps);
            cut += u64::from(!alignment.is_complete);
            let passages = alignment.passages;
            let micros = started.elapsed().as_secs_f64() * 1e6;
            let (detections, cases) = (detections(&passages, [this, source]), pair.regions());
            if self.show.as_ref().is_some_and(|show| *show == pair.cat || show == "all") {
                for (region, passage) in detections.iter().zip(&passages) {
                    let precision = covered(region, &cases);
                    let similarity = passage.similarity;
                    println!(
                        "{} {}: found {region:?}, similarity {similarity:.2}, precision \
                         {precision:.2}",
                        pair.susp, pair.src
                    );
                }
                for case in &cases {
                    println!("  case {case:?}: recall {:.2}", covered(case, &detections));
                }
            }
            for case in &cases {
                let of_category = by_length.entry(pair.cat.clone()).or_default();
                of_category.add(this.words(&case.this), case, &detections);
            }
            sums.entry(pair.cat).or_default().add(&cases, &detections, micros);
            all.add(&cases, &detections, micros);
        }
        println!(
            "| category | pairs | cases | detections | precision | recall | granularity | plagdet | us a pair |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        for (category, sums) in &sums {
            sums.print(category);
        }
        all.print("all");
        println!("at most {most_steps} steps in a stage; {cut} pairs were cut");
        println!();
        println!("cases, recall of characters, share without a detection, by words of the case:");
        println!();
        println!("| category | 1 to 29 | 30 to 49 | 50 to 99 | 100 and more |");
        println!("|---|---|---|---|---|");
        by_length.iter().for_each(|(category, by_length)| by_length.print(category));
        if self.unrelated > 0 {
            println!();
        }
        let mut random = fastrand::Rng::with_seed(0);
        for (kind, ratio_min) in [("any", 1), ("one of eight times the words", 8)] {
            let (mut aligned, mut passages) = (0, 0);
            while aligned < self.unrelated {
                let [this, source] = [suspicious, sources].map(|of| &of[random.usize(..of.len())]);
                let [a, b] = [&texts[this], &texts[source]];
                let [short, long] = {
                    let words = [a, b].map(|text| text.tokens.hashes.len());
                    [words[0].min(words[1]), words[0].max(words[1])]
                };
                let is_known = labelled.contains(&(this.clone(), source.clone()));
                if long < ratio_min * short || is_known || !is_of_half(source) {
                    continue;
                }
                aligned += 1;
                for passage in align(a.side(), b.side(), Genre::Prose, Stop::NEVER)?.passages {
                    passages += 1;
                    if self.show.as_deref() == Some("unrelated") {
                        let places = (a.points(&passage.query), b.points(&passage.hit));
                        println!("{this} {source}: found {places:?}");
                    }
                }
            }
            if aligned > 0 {
                println!("{aligned} unrelated pairs ({kind}): {passages} passages");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(this: Range<usize>, source: Range<usize>) -> Region {
        Region { this, source }
    }

    fn check(cases: &[Region], detections: &[Region]) -> (f64, f64, usize, usize) {
        let mut sums = Sums::default();
        sums.add(cases, detections, 0.0);
        let precision = sums.precision / detections.len() as f64;
        (precision, sums.recall / cases.len() as f64, sums.detecting, sums.detected)
    }

    #[test]
    fn code_points_become_bytes() {
        let text = "a\u{e9}b\u{4e00}";
        for (points, expected) in [(0..4, 0..7), (1..2, 1..3), (2..4, 3..7), (4..4, 7..7)] {
            assert_eq!(bytes_of(text, points.clone()), expected, "{points:?}");
        }
    }

    #[test]
    fn a_perfect_detection_is_perfect() {
        let case = [region(0..10, 20..40)];
        assert_eq!(check(&case, &case), (1.0, 1.0, 1, 1));
    }

    #[test]
    fn a_detection_in_one_text_only_is_left_out() {
        let found = check(&[region(0..10, 20..40)], &[region(0..10, 50..60)]);
        assert_eq!(found, (0.0, 0.0, 0, 0));
    }

    #[test]
    fn overlapping_detections_count_once_for_recall_and_twice_for_granularity() {
        let case = [region(0..10, 0..10)];
        let found = check(&case, &[region(0..6, 0..6), region(4..10, 4..10)]);
        assert_eq!(found, (1.0, 1.0, 2, 1));
        let half = check(&case, &[region(0..20, 0..10)]);
        assert_eq!(half, (20.0 / 30.0, 1.0, 1, 1));
    }
}
