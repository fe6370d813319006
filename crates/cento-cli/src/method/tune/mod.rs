//! `cento method tune` measures settings on the documents of the user.

mod output;
mod pairs;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::add::SourceArgs;
use crate::advice::left_out;
use crate::key;
use crate::left_out::{FilterArgs, LeftOut, LeftOuts};
use crate::messages::Messages;
use crate::output::{Format, count, counted, print_json};
use crate::progress::{Progress, stop_flag_and};
use crate::report_args::{ReportArgs, listed};
use crate::terminal::{note, tell};
use crate::{Result, VerbOutcome, language};
use cento::index::{Document, Index, Preset};
use cento::text::code::{language_in, languages_of};
use cento::{Analyzer, Error, Stop};
use cento_collections::tune::{
    By, Cases, LabelledPair, Sample, TuneOptions, TuneReport, edits, labelled, planted, searches,
    settings, tune,
};
use cento_report::{NotCompared, TuningReport};
use cento_source::{
    OTHER_LANGUAGE, ReadError, SourceOptions, check_there, document_names, documents, is_by_name,
};
use pairs::ReadPair;

/// Find the setting that suits your collection, by trying a dozen of them.
///
/// cento indexes a sample of your documents with each setting (scheme, analyzer and rank, among
/// them the settings of the presets), and searches for documents whose originals are known: pairs
/// that you labeled (--pairs), or copies of your documents with planted edits. --for decides the
/// kinds of edits: words replaced, deleted and moved, letters wrong as in OCR text, passages within
/// other text. For each setting you see its recall, its false hits, its size and its time, and at
/// the end the commands that use the best setting.
///
/// Half of the queries choose the threshold of each setting and the best setting, and the figures
/// are from the other half. The best setting is the one with the fewest fingerprints among those
/// whose F1 is at most 0.01 below the highest. Ratios of fingerprints and times are relative to the
/// default setting, in this run.
///
/// A false hit is a hit that a label calls different. Without such labels, it is a hit that is not
/// the original, and shares no twelve words in a row with the query as it was before the edit (in
/// texts with fewer than 24 words: half of the words of the shorter text). Documents with the same
/// text count as one. cento judges the ten best hits with different texts, or the 200 best if a
/// label calls any pair different. Your whole collection has more false hits than a sample shows,
/// because it has more documents.
///
/// Labeled pairs are JSON lines with `a` and `b`, ids of documents, or `text_a` and `text_b`, and
/// `same` (or `label`), which is true if one text was made from its partner. You can omit `same`
/// then. Or they are lines of two ids and a label (1 or 0) with tabs between them. cento rejects
/// labels that contradict each other.
///
/// With --for code, cento reads programs in the most common language, by their file names, and
/// skips other files unless --include matches them.
#[derive(Debug, Args)]
pub struct Tune {
    /// Files and folders as for `cento add`, or indexes that store text.
    #[arg(value_name = "PATH", required_unless_present = "pairs")]
    paths: Vec<PathBuf>,
    /// Kind of documents: it decides the kinds of edits to plant, and the measure of the threshold.
    /// Default: edits of several kinds.
    #[arg(id = "for", long = "for", value_name = "PURPOSE", value_enum)]
    preset: Option<Preset>,
    /// Labeled pairs of documents or texts, to use instead of planted edits.
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Maximum number of documents to index, chosen at random, in addition to the documents that
    /// the pairs name. The documents have at most 32 MiB of text.
    #[arg(
        long, value_name = "N", default_value = "1000",
        value_parser = clap::value_parser!(u32).range(10..=100_000),
    )]
    sample: u32,
    /// Number that decides the sample, the edits and the halves.
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Measure that thresholds apply to. Default: containment of the query, for passages. With
    /// --pairs, and for presets with a threshold of resemblance: resemblance.
    #[arg(long, value_enum, value_name = "MEASURE")]
    threshold: Option<ThresholdMeasure>,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    report: ReportArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// The measure that thresholds apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ThresholdMeasure {
    /// The share of the query that a document has.
    Containment,
    /// The shared part, divided by all text of both documents.
    Resemblance,
}

/// The maximum amount of text in a sample.
const SAMPLE_BYTES_MAX: usize = 32 << 20;

/// Why a document is left out of the sample.
const TOO_LONG: &str = "longer than an eighth of the text of a sample";

#[derive(Serialize)]
struct TuneSummary<'a> {
    #[serde(flatten)]
    report: &'a TuneReport,
    commands: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_compared: &'a [NotCompared],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    left_out: &'a [LeftOut],
}

/// Inputs that contribute no document.
#[derive(Default)]
struct UnusedInputs {
    list: Vec<NotCompared>,
    by_name: LeftOuts,
    messages: Messages,
    /// Whether any was refused, and not only left out.
    is_any_refused: bool,
}

impl UnusedInputs {
    fn refuse(&mut self, error: &Error) {
        self.messages.tell_error(error);
        self.list.push(crate::output::not_compared(error));
        self.is_any_refused = true;
    }

    fn leave_out(&mut self, place: &str, why: &str) {
        let left = left_out(place, why);
        self.messages.tell(place, &left.reason);
        self.list.push(left);
    }
}

impl Tune {
    pub(super) fn run(self) -> Result {
        let stop = stop_flag_and(|| note!("cento: stopping"));
        check_there(&self.paths)?;
        let read: Vec<PathBuf> = self.paths.iter().chain(&self.pairs).cloned().collect();
        self.report.check_outputs(&read, None, None)?;
        let mut unused = UnusedInputs::default();
        let pairs = self.read_pairs(&mut unused)?;
        let (language, source) = self.language_and_source(&stop)?;
        let read = ReadOptions { source: &source, language: language.as_deref() };
        let documents = self.sample(pairs.as_deref(), &read, &mut unused, &stop)?;
        unused.by_name.tell();
        let cases = self.cases(documents, pairs, language.as_deref(), &mut unused, &stop)?;
        unused.messages.finish();
        source.check_fields()?;
        let settings = settings(self.preset, language.as_deref());
        let by = self.by();
        let dir =
            tempfile::tempdir().map_err(|e| Error::io("create", "a temporary directory", e))?;
        let options =
            TuneOptions { stop: stop.clone(), ..TuneOptions::new(&settings, by, dir.path()) };
        let progress = Progress::new(searches(&cases, &settings), "searches");
        let report = tune(&cases, &options, &mut |done| progress.set(done));
        progress.finish();
        let report = report?;
        // Before the output, which may have no reader.
        dir.close().map_err(|e| Error::io("remove", "the temporary directory", e))?;
        self.tell(report, unused)
    }

    fn read_pairs(&self, unused: &mut UnusedInputs) -> cento::Result<Option<Vec<ReadPair>>> {
        let Some(path) = &self.pairs else { return Ok(None) };
        pairs::check_apart(path, &self.paths)?;
        let pairs = pairs::read(path, &mut |error| unused.refuse(&error))?;
        if pairs.is_empty() {
            return Err(Error::input(path.display().to_string(), "there are no pairs in it"));
        }
        Ok(Some(pairs))
    }

    /// Returns the language of most programs, and the options for reading documents, which skip
    /// files in any other language.
    fn language_and_source(&self, stop: &Stop) -> cento::Result<(Option<String>, SourceOptions)> {
        let filter = self.filter.filter()?;
        let options = SourceOptions { filter, stop: stop.clone(), ..self.source.options() };
        if self.preset != Some(Preset::Code) {
            return Ok((None, options));
        }
        let filter = options.filter.clone().without_libraries(false, true);
        let options = SourceOptions { filter, ..options };
        let (indexes, files) = self.indexes_and_files();
        let mut ids = Vec::new();
        for path in &indexes {
            let snapshot = key::open(path)?.snapshot()?;
            for address in snapshot.live() {
                stop.check()?;
                ids.push(snapshot.id(address)?);
            }
        }
        let names = document_names(&files, &options).chain(ids);
        let analyzer = language::commonest_of(Preset::analyzer_or(self.preset, None), names)?;
        let language = language_in(&analyzer).map(str::to_owned);
        let filter = match &language {
            Some(language) => options.filter.clone().in_language(language, true),
            None => options.filter.clone(),
        };
        Ok((language, SourceOptions { filter, ..options }))
    }

    fn indexes_and_files(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        self.paths.iter().cloned().partition(|path| Index::exists(path))
    }

    /// Reads the documents, and keeps a sample plus every document that a labeled pair mentions.
    fn sample(
        &self,
        pairs: Option<&[ReadPair]>,
        read: &ReadOptions<'_>,
        unused: &mut UnusedInputs,
        stop: &Stop,
    ) -> cento::Result<Vec<Document>> {
        let named = pairs.into_iter().flat_map(pairs::ids).map(str::to_owned);
        let sample = Sample::new(self.sample as usize, SAMPLE_BYTES_MAX, self.seed);
        let mut sample = sample.keeping(named);
        let (indexes, files) = self.indexes_and_files();
        for path in &indexes {
            offer_index(path, &mut sample, read, unused, stop)?;
        }
        for found in documents(&files, read.source) {
            stop.check()?;
            match found {
                Ok((document, _)) => offer(document, &mut sample, read, unused)?,
                Err(ReadError::LeftOut { place, why, .. }) if is_by_name(why) => {
                    unused.by_name.note(&place, why, &self.paths, &read.source.filter);
                }
                Err(ReadError::LeftOut { place, why, .. }) => unused.leave_out(&place, why),
                Err(ReadError::Refused(error) | ReadError::Unread(error)) => unused.refuse(&error),
            }
        }
        // A stopped reader ends without an error, so an incomplete sample would look complete.
        stop.check()?;
        let seen = sample.seen();
        let documents = sample.into_documents();
        if (documents.len() as u64) < seen {
            let all = counted(seen, "document");
            note!("cento: a sample of {} of {all}", count(documents.len() as u64));
        }
        Ok(documents)
    }

    fn cases(
        &self,
        documents: Vec<Document>,
        pairs: Option<Vec<ReadPair>>,
        language: Option<&str>,
        unused: &mut UnusedInputs,
        stop: &Stop,
    ) -> cento::Result<Cases> {
        let Some(pairs) = pairs else {
            let analyzer = language.map(|language| format!("code(language={language})"));
            let programs = analyzer.map(|analyzer| analyzer.parse::<Analyzer>()).transpose()?;
            return planted(documents, &edits(self.preset), programs.as_ref(), self.seed, stop);
        };
        let known: std::collections::HashSet<&str> =
            documents.iter().map(|document| document.id.as_str()).collect();
        let mut usable: Vec<LabelledPair> = Vec::new();
        for read in pairs {
            let one = std::slice::from_ref(&read);
            let unknown = pairs::ids(one).find(|id| !known.contains(id)).map(str::to_owned);
            match unknown {
                None => usable.push(read.pair),
                Some(id) => {
                    let what = format!("no document has the id `{id}`");
                    unused.refuse(&Error::input(read.place, what));
                }
            }
        }
        labelled(documents, &usable, self.seed)
    }

    fn by(&self) -> By {
        match (self.threshold, self.preset) {
            (Some(ThresholdMeasure::Containment), _) => By::Containment,
            (Some(ThresholdMeasure::Resemblance), _) => By::Resemblance,
            (None, Some(Preset::Essays | Preset::Rewritten)) => By::Containment,
            (None, Some(_)) => By::Resemblance,
            (None, None) if self.pairs.is_some() => By::Resemblance,
            (None, None) => By::Containment,
        }
    }

    fn tell(&self, report: TuneReport, unused: UnusedInputs) -> Result {
        let best = report.best.map(|best| &report.settings[best]);
        let commands = best.map(|best| output::commands(best, report.by)).unwrap_or_default();
        match self.format {
            Format::Json => {
                let (not_compared, left_out) = (&unused.list, unused.by_name.list());
                let report = &report;
                print_json(&TuneSummary { report, commands: &commands, not_compared, left_out })?;
            }
            Format::Human => {
                let mut out = io::BufWriter::new(io::stdout().lock());
                output::print(&mut out, &report, &commands)?;
                out.flush()?;
            }
        }
        for warning in &report.warnings {
            tell!("cento: {warning}");
        }
        let outcome = VerbOutcome::of_inputs(unused.is_any_refused, report.best.is_some());
        if self.report.is_asked() {
            let run = self.report.run("tune", &Analyzer::default())?;
            let run = run.with("paths", listed(&self.paths)).with("seed", self.seed);
            let run = run.with("sample", self.sample);
            let run = self.preset.into_iter().fold(run, |run, preset| run.with("for", preset));
            let run = self.pairs.iter().fold(run, |run, path| run.with("pairs", path.display()));
            let run = match unused.by_name.summary() {
                Some((count, names)) => {
                    run.with_names("skipped by name", format!("{count}: {names}"), count)
                }
                None => run,
            };
            let not_compared = unused.list;
            self.report.write_tuning(&TuningReport {
                run,
                tuning: report,
                commands,
                not_compared,
            })?;
        }
        Ok(outcome)
    }
}

/// How documents are read.
struct ReadOptions<'a> {
    source: &'a SourceOptions,
    /// The language of programs, with --for code.
    language: Option<&'a str>,
}

impl ReadOptions<'_> {
    /// Returns whether the id of a record or stored document looks like a program in another
    /// language. Files were already skipped by name. A pattern of `--include` may allow every
    /// language.
    fn is_in_other_language(&self, id: &str) -> bool {
        let [included, _] = self.source.filter.patterns();
        self.language.is_some_and(|language| {
            let languages = languages_of(id);
            included.is_empty() && !languages.is_empty() && !languages.contains(&language)
        })
    }
}

/// Considers a document for the sample.
fn offer(
    document: Document,
    sample: &mut Sample,
    read: &ReadOptions<'_>,
    unused: &mut UnusedInputs,
) -> cento::Result<()> {
    if read.is_in_other_language(&document.id) {
        unused.by_name.note(&document.id, OTHER_LANGUAGE, &[], &read.source.filter);
        return Ok(());
    }
    let id = document.id.clone();
    if !sample.offer(document)? {
        unused.leave_out(&id, TOO_LONG);
    }
    Ok(())
}

/// Considers the documents of an index for the sample.
fn offer_index(
    path: &Path,
    sample: &mut Sample,
    read: &ReadOptions<'_>,
    unused: &mut UnusedInputs,
    stop: &Stop,
) -> cento::Result<()> {
    let snapshot = key::open(path)?.snapshot()?;
    if !snapshot.config().store_text {
        let what = "the index stores no texts, which are needed to try settings; name the files";
        return Err(Error::input(path.display().to_string(), what));
    }
    for address in snapshot.live() {
        stop.check()?;
        let stored = snapshot.document(address)?;
        offer(Document::new(stored.id, stored.text.unwrap_or_default()), sample, read, unused)?;
    }
    Ok(())
}
