//! `cento compare` measures the similarity of two texts.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::Map;

use super::add::HtmlArg;
use super::create::{ConfigArgs, open_frequencies};
use super::extract::{ReaderArgs, source_options, without_text_field};
use super::hints::ErrorWithHint;
use super::output::{self, Format, counted, percent};
use super::parse::parse_encoding;
use super::report_args::ReportArgs;
use super::side_by_side::SideBySide;
use super::target::ServiceArgs;
use super::terminal::{line, tell};
use super::whole::LengthArgs;
use super::{Result, VerbOutcome};
use cento::Stop;
use cento::compare::COMPARED;
use cento::scheme;
use cento::{Analyzer, CompareOptions, Comparison, Config, Error, Measure, TextPair};
use cento_client::api::{CompareRequest, TextOrId};
use cento_report::{
    Counting, MeasuredDocument, NotCompared, Place, ReuseReport, ReuseSource, compared_units,
};
use cento_source::{InFile, SourceOptions, read_text_in_file};

/// Show the passages that two files have in common, side by side.
///
/// You can compare what `cento add` reads. cento rejects files that are empty or cannot be read,
/// because they would seem to have nothing in common. With --url, it uses the scheme and analyzer
/// of the service's index. On a terminal, words of a passage that the other file does not have at
/// that place are colored, and so are moved sentences, unless NO_COLOR is set.
#[derive(Debug, Args)]
pub struct Compare {
    /// First file, or - for standard input.
    a: PathBuf,
    /// Second file, or - for standard input.
    b: PathBuf,
    #[command(flatten)]
    options: CompareOptions,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    service: ServiceArgs,
    /// Encoding of the files. Default: detected.
    #[arg(long, value_name = "NAME", value_parser = parse_encoding)]
    encoding: Option<String>,
    #[command(flatten)]
    length: LengthArgs,
    #[command(flatten)]
    readers: ReaderArgs,
    /// Which part of HTML pages to read.
    #[arg(long, value_enum, default_value = "content")]
    html: HtmlArg,
    #[command(flatten)]
    report: ReportArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// The answer as JSON, like a line of `cento pairs`.
#[derive(Serialize)]
struct CompareAnswer<'a> {
    a: String,
    b: String,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

impl Compare {
    pub(super) fn run(self) -> Result {
        self.report.check_outputs(&[self.a.clone(), self.b.clone()], None, None)?;
        let mut missing = Vec::new();
        let (a, a_file) = self.text(&self.a, &mut missing)?;
        let (b, b_file) = self.text(&self.b, &mut missing)?;
        let mut comparison = match self.service.client()? {
            None => self.compare(&a, &b)?,
            Some(_) if self.config.frequencies.is_some() => {
                let what = "--frequencies cannot be used with --url; give it to `cento serve`";
                return Err(Error::argument("frequencies", what).into());
            }
            Some(_) if self.config.is_given() => {
                let what = "--for, --scheme and --analyzer cannot be used with --url: those of the \
                            service's index are used";
                return Err(Error::arguments(what).into());
            }
            Some(client) => {
                let (a, b) = (TextOrId::Text(a.clone()), TextOrId::Text(b.clone()));
                let options = self.options.clone();
                client.compare(&CompareRequest { a, b, options })?.comparison
            }
        };
        if let Some(origins) = &a_file.origins {
            origins.place_a(&mut comparison.passages);
        }
        if let Some(origins) = &b_file.origins {
            origins.place_b(&mut comparison.passages);
        }
        let names = [&self.a, &self.b].map(|path| path.display().to_string());
        for (unseen, in_file) in comparison.unseen.iter_mut().zip([&a_file, &b_file]) {
            *unseen = unseen.with_hidden(in_file.hidden_characters);
        }
        let unseen = names.iter().zip(&comparison.unseen);
        let warnings: Vec<_> =
            unseen.flat_map(|(name, unseen)| output::warnings(name, unseen)).collect();
        if self.format == Format::Json {
            let [a, b] = names;
            output::print_json(&CompareAnswer { a, b, comparison: &comparison })?;
        } else {
            let (analyzer, units) = self.analyzer_and_units()?;
            let is_code = analyzer.spec().name() == "code";
            print_human(&names, [&a, &b], &comparison, &units, is_code)?;
            output::print_warnings(&mut io::stdout().lock(), &warnings)?;
        }
        if self.report.is_asked() {
            self.report([&a, &b], &comparison, missing, warnings)?;
        }
        let is_overlap_enough = self.options.min_passage.is_none() && comparison.overlap > 0;
        let found = is_overlap_enough || !comparison.passages.is_empty();
        Ok(if found { VerbOutcome::Found } else { VerbOutcome::Nothing })
    }
}

impl Compare {
    /// Writes the report: how much of the first file is in the second.
    fn report(
        &self,
        [a, b]: [&str; 2],
        comparison: &Comparison,
        missing: Vec<NotCompared>,
        warnings: Vec<NotCompared>,
    ) -> cento::Result<()> {
        let (client, analyzer) = (self.service.client()?, self.analyzer_and_units()?.0);
        let run = self.report.run("compare", &analyzer)?;
        let run = match client {
            Some(client) => run.with("service", client.url()),
            None => run.with("scheme", self.config.scheme()).with("analyzer", &analyzer),
        };
        let run =
            run.with_options(&CompareOptions::default().min_passage(self.options.min_passage));
        let places = comparison.passages.iter().cloned();
        let source = ReuseSource {
            id: self.b.display().to_string(),
            meta: Map::new(),
            text: Some(b.into()),
            passages: places.map(Place::of_pair).collect(),
            complete: comparison.complete,
        };
        let searched = MeasuredDocument {
            name: self.a.display().to_string(),
            text: a.into(),
            sources: vec![source],
            counting: Counting { tokens: analyzer.program_tokens(a)?, ..Counting::default() },
            more: false,
            complete: true,
        };
        let mut report = ReuseReport::new(run, vec![searched], &self.options.without)?;
        report.not_compared = missing;
        report.warnings = warnings;
        self.report.write_reuse(&report)
    }

    /// Returns whether the table is for the measures, and not for the scheme.
    fn weighs_measures(&self) -> bool {
        !self.options.measures.is_empty() && !self.config.reads_table()
    }

    fn config(&self) -> cento::Result<Config> {
        let mut config = self.config.clone();
        if self.weighs_measures() {
            config.frequencies = None;
        }
        config.config_of_files(&[&self.a, &self.b])
    }

    /// Returns the analyzer, and what the shares of the texts count.
    fn analyzer_and_units(&self) -> cento::Result<(Analyzer, String)> {
        match self.service.client()? {
            Some(client) => {
                let index = client.stats()?.index;
                let analyzer: Analyzer = index.analyzer.parse()?;
                let units = match scheme::parse(&index.scheme) {
                    Ok(scheme) => compared_units(&scheme, &analyzer),
                    // Only the service has the table of this scheme.
                    Err(_) => "runs of words".to_owned(),
                };
                Ok((analyzer, units))
            }
            None => {
                let Config { scheme, analyzer, .. } = self.config()?;
                let units = compared_units(&scheme, &analyzer);
                Ok((analyzer, units))
            }
        }
    }

    /// Reads the text of a file and the text's place in the file, and notes unreadable parts.
    /// Refuses an empty text, which would seem to have nothing in common with the second text.
    fn text(
        &self,
        path: &Path,
        not_read: &mut Vec<NotCompared>,
    ) -> cento::Result<(String, InFile)> {
        let (encoding, html) = (self.encoding.clone(), self.html.into());
        let (readers, record_bytes_max) = (self.readers.readers(), self.length.bytes_max());
        let options =
            SourceOptions { encoding, html, readers, record_bytes_max, ..source_options() };
        let mut missing = |missing: &Error| {
            tell!("cento: {}", ErrorWithHint(missing));
            not_read.push(output::not_compared(missing));
        };
        let read = read_text_in_file(path, &options, &mut missing).map_err(without_text_field)?;
        match read.0.trim().is_empty() {
            true => Err(Error::input(path.to_string_lossy(), "it is empty")),
            false => Ok(read),
        }
    }

    fn compare(&self, a: &str, b: &str) -> cento::Result<Comparison> {
        let config = self.config()?;
        let table = self.config.frequencies.as_deref().filter(|_| self.weighs_measures());
        let table = open_frequencies(table)?;
        let measures =
            Measure::parse_all(&self.options.measures, table.as_ref(), &config.analyzer)?;
        // Ctrl-C ends the process: there is nothing to be put in order.
        let Config { scheme, analyzer, .. } = &config;
        let (texts, options) = (TextPair::new(a, b), &self.options);
        let compared = cento::compare_by(scheme, analyzer, texts, &measures, options, Stop::NEVER);
        compared.map_err(|error| self.named(error))
    }

    /// Adds the file name to an error about the text.
    fn named(&self, error: Error) -> Error {
        let Error::Input { place, reason, what } = error else { return error };
        let texts = COMPARED.into_iter().zip([&self.a, &self.b]);
        let file = texts.into_iter().find(|&(text, _)| text == place);
        let place = file.map_or(place, |(_, file)| file.display().to_string());
        Error::Input { place, reason, what }
    }
}

fn print_human(
    names: &[String; 2],
    texts: [&str; 2],
    comparison: &Comparison,
    units: &str,
    is_code: bool,
) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let Comparison { overlap, passages, .. } = comparison;
    let of_texts = &comparison.similarity;
    let (a, b) = (of_texts.containment_of_a, of_texts.containment_of_b);
    let share = |share| output::share(share, of_texts.exact);
    let category = comparison.category.map_or(String::new(), |category| format!(", {category:?}"));
    line!(
        out,
        "{} of {} is in {}, {} of {} is in {}, by {units}; resemblance {}, {} in \
         common{category}; {}",
        share(a),
        names[0],
        names[1],
        share(b),
        names[1],
        names[0],
        share(of_texts.resemblance),
        counted((*overlap).into(), "fingerprint"),
        counted(passages.len() as u64, "passage")
    )?;
    for (measure, found) in &comparison.measures {
        line!(out, "{} by {measure}", percent(*found))?;
    }
    if !comparison.complete {
        line!(out, "{}", output::MORE_PASSAGES)?;
    }
    let columns = SideBySide::new();
    for passage in passages {
        let range = |(start, end): (u32, u32)| format!("{start}..{end}");
        line!(out)?;
        let size = output::tokens_of(passage.tokens, passage.matched);
        line!(out, "{size}, similarity {}", percent(passage.similarity))?;
        columns.headings(
            &mut out,
            [
                format!(
                    "{} {}{}",
                    names[0],
                    range(passage.a),
                    output::place(passage.a_part.as_deref(), passage.a_page, passage.a_line)
                ),
                format!(
                    "{} {}{}",
                    names[1],
                    range(passage.b),
                    output::place(passage.b_part.as_deref(), passage.b_page, passage.b_line)
                ),
            ],
        )?;
        if passage.a_origin.is_some() || passage.b_origin.is_some() {
            columns
                .headings(&mut out, [passage.a_origin, passage.b_origin].map(output::in_page))?;
        }
        let cut = |text: &str, (start, end): (u32, u32)| text[start as usize..end as usize].into();
        let pieces: [String; 2] = [cut(texts[0], passage.a), cut(texts[1], passage.b)];
        match is_code {
            true => columns.programs(&mut out, &pieces[0], &pieces[1])?,
            false => columns.texts(&mut out, &pieces[0], &pieces[1])?,
        }
    }
    out.flush()
}
