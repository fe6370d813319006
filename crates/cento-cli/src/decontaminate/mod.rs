//! `cento decontaminate` finds and removes benchmark questions in a corpus.

mod corpus;
mod lists;
mod spool;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::add::SourceArgs;
use super::advice::{advised, left_out};
use super::dedup::tables::{self, TableFiles};
use super::dedup::tree::{TableInput, Tree};
use super::failpoint::Failpoint;
use super::left_out::FilterArgs;
use super::memory;
use super::outfile::{check_free, table_form};
use super::output::{self, Format, count, counted, not_compared};
use super::parse::{parse_bytes, parse_threads};
use super::progress::{NotRead, Omissions, Spinner, metered, stop_flag};
use super::report_args::{ReportArgs, listed};
use super::terminal::{line, note, tell};
use super::{Result, VerbOutcome};
use cento::text::is_white_space;
use cento::{Error, Stop};
use cento_collections::decontaminate::{
    BenchmarkCounts, Benchmarks, CommonWords, DecontaminateOptions, DecontaminationCounts,
    Question, Scratch, Tally,
};
use cento_collections::dedup::DedupOptions;
use cento_report::{DecontaminationReport, NotCompared, percent};
use cento_source::{
    Annotation, CorpusPart, QuestionError, QuestionFields, SourceOptions, check_there, examined,
    is_by_name, lacks_question, questions,
};
use corpus::{Corpus, CorpusDigest, Out, OutcomeCounts, Treatment};
use lists::{DOCUMENT_COLUMNS, DocumentRow, ListFile, QUESTION_COLUMNS, QuestionRow};
use spool::Spool;

/// Find the questions of benchmarks in a corpus, and write the corpus without them.
///
/// cento compares each document with all questions in one pass. You learn how much of each question
/// occurs in your corpus, where, and in how many documents. Letter case, white space and line
/// breaks do not count. A question is contaminated if a document has at least --min-share of the
/// question's own words. Words that documents have without the rest of a question, such as a
/// quotation, are common, and cento counts them separately. With --out, cento reads the corpus a
/// second time and writes it without the contaminated documents, or as --cut-passages or --annotate
/// say.
#[derive(Debug, Args)]
pub struct Decontaminate {
    /// Files or folders of the corpus, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Benchmark: a file of questions, or a folder of such files. Each record of JSON lines, a
    /// table or Parquet is a question, and so is each line of any other text. Can be repeated.
    #[arg(long, required = true, value_name = "PATH")]
    against: Vec<PathBuf>,
    /// Field or column of a benchmark with the question. If you repeat the option, the values of
    /// all fields together are the question, such as its choices. The first value must be a string.
    /// A path such as `data.paragraphs.qas.question` reads a question from each object at its end,
    /// and the other fields are then fields of this object.
    #[arg(long, value_name = "FIELD", default_value = "question")]
    question_field: Vec<String>,
    /// Field or column of a benchmark with the answer. The counts then say whether the answer
    /// follows the question.
    #[arg(long, value_name = "FIELD")]
    answer_field: Option<String>,
    /// Field or column of a benchmark with the id of the question. Without an id, the number of the
    /// line or row is the id.
    #[arg(long, value_name = "FIELD", default_value = "id")]
    question_id_field: String,
    /// Field or column of a benchmark with the name of the benchmark. Default: the name of the
    /// file, without its extension.
    #[arg(long, value_name = "FIELD")]
    benchmark_field: Option<String>,
    #[command(flatten)]
    options: DecontaminateOptions,
    /// Write the documents to this file, without the contaminated ones. A name that ends in .gz or
    /// .zst makes a compressed file. If the inputs are tables, a name that ends in .csv or .tsv
    /// makes a table with their columns. If the inputs are Parquet files or folders of them, name a
    /// folder, or end the name with /: cento writes a copy of each file there, with the same
    /// columns.
    #[arg(long, value_name = "FILE|DIR/")]
    out: Option<PathBuf>,
    /// Keep contaminated documents, but cut the passages where questions occur. The punctuation and
    /// spaces around a passage go too, and up to 4 more words if the whole line or sentence goes
    /// then.
    #[arg(long, requires = "out", conflicts_with = "annotate")]
    cut_passages: bool,
    /// Drop a document if cento cut passages from it and fewer than this many words are left.
    #[arg(
        long, value_name = "WORDS", requires = "cut_passages",
        default_value_t = DedupOptions::MIN_LEFT,
    )]
    min_left: u32,
    /// Keep all documents, and write the verdict into the member `decontaminate`.
    #[arg(long, requires = "out")]
    annotate: bool,
    /// List in this file the documents where questions, or words of them that are common, occur:
    /// one row for each place of a question. The file is JSON lines, or by the extensions .csv,
    /// .tsv and .parquet a table or Parquet file.
    #[arg(long, value_name = "FILE")]
    documents: Option<PathBuf>,
    /// List all questions in this file, each with its verdict and its strongest evidence, in the
    /// same formats.
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    source: SourceArgs,
    /// Memory for documents that are being searched. Default: 512MiB, or less in a container or
    /// machine with less than 2.2 GiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<usize>,
    /// Number of threads. Default: the number of processors.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Stop at the first record that is not a document, or file that cannot be read. The exit
    /// status is 3 if cento skipped files because they are not text.
    #[arg(long)]
    strict: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
    /// The Parquet files that are copied.
    #[arg(skip)]
    tables: Vec<TableInput>,
}

/// Counts of the files and records that were not searched.
#[derive(Debug, Default, Serialize)]
struct UnsearchedInputs {
    /// Size of the searched texts.
    bytes: u64,
    empty: u64,
    /// Skipped files, including `skipped_by_name`.
    skipped: u64,
    /// The part of `skipped` that was skipped by file name, such as hidden files.
    skipped_by_name: u64,
    /// Records that are not documents, and unreadable files.
    failed: u64,
}

/// The numbers of documents by their verdicts.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Verdicts {
    contaminated_documents: u64,
    /// Documents that only have common words: words of a question that occur elsewhere without it.
    documents_with_common_words: u64,
}

#[derive(Serialize)]
struct DecontaminateSummary<'a> {
    #[serde(flatten)]
    counts: &'a DecontaminationCounts,
    #[serde(flatten)]
    verdicts: Verdicts,
    #[serde(flatten)]
    written: Option<OutcomeCounts>,
    #[serde(flatten)]
    inputs: &'a UnsearchedInputs,
    #[serde(flatten)]
    not_read: &'a NotRead,
}

/// What the first reading has found.
struct FirstPass {
    tally: Tally,
    spool: Spool,
    inputs: UnsearchedInputs,
    omissions: Omissions,
    missing: Vec<NotCompared>,
}

impl Decontaminate {
    pub(super) fn run(mut self) -> Result {
        self.memory = Some(memory::or_default(self.memory));
        self.source.options_within(self.memory())?;
        self.filter.filter()?;
        self.options.check()?;
        self.check_names()?;
        check_there(self.paths.iter().chain(&self.against))?;
        let mut left_out = self.find_tables()?;
        let stop = stop_flag();
        let started = Instant::now();
        let benchmarks = self.read_benchmarks(&mut left_out, &stop)?;
        let FirstPass { tally, mut spool, inputs, omissions, missing } =
            self.search(&benchmarks, left_out, &stop)?;
        let common = tally.common(&benchmarks, &self.options);
        let searched = CorpusDigest { documents: tally.documents(), digest: tally.digest() };
        // Nothing is written under a name that a corrected run needs.
        let is_refused = inputs.failed > 0 && tally.documents() == 0;
        if is_refused {
            (self.out, self.documents, self.questions) = (None, None, None);
        }
        let mut write = |out| self.write(out, &benchmarks, &mut spool, &common, searched, &stop);
        let written = self.out.as_deref().map(&mut write).transpose()?;
        let counts = tally.finish(&common, &self.options);
        let verdicts = self.write_lists(&benchmarks, &counts, &mut spool, &common)?;
        omissions.finish();
        let not_read = omissions.into_lists();
        self.write_report(&counts, &benchmarks, verdicts.contaminated_documents, missing)?;
        let summary = DecontaminateSummary {
            counts: &counts,
            verdicts,
            written,
            inputs: &inputs,
            not_read: &not_read,
        };
        match self.format {
            Format::Json => output::print_json(&summary)?,
            Format::Human => {
                print(&mut io::stdout().lock(), &counts.benchmarks)?;
                note!("{}", summary.line(started.elapsed().as_secs_f64()));
            }
        }
        let is_found = counts.benchmarks.iter().any(|of| of.contaminated > 0);
        Ok(match is_found {
            _ if is_refused => VerbOutcome::Bad,
            _ if inputs.failed > 0 => VerbOutcome::Incomplete,
            _ if self.strict && inputs.skipped > inputs.skipped_by_name => VerbOutcome::Incomplete,
            true => VerbOutcome::Found,
            false => VerbOutcome::Nothing,
        })
    }

    fn memory(&self) -> usize {
        self.memory.unwrap_or_else(memory::default_bytes)
    }

    fn threads(&self) -> usize {
        self.threads.unwrap_or_else(cento::available_threads)
    }

    /// Returns how the corpus is read.
    fn source(&self) -> SourceOptions {
        let keeps_places = self.writes_tables();
        let options = self.source.options_within(self.memory()).expect("it was checked");
        SourceOptions {
            keeps_records: !keeps_places && self.out.is_some(),
            keeps_places,
            needs_text_only: true,
            filter: self.filter.filter().expect("each pattern was checked"),
            meta_fields: options.meta_fields.or_object(),
            ..options
        }
    }

    fn writes_tables(&self) -> bool {
        self.out.as_deref().is_some_and(tables::is_dir)
    }

    /// Refuses existing outputs, and output names that imply a different format.
    fn check_names(&self) -> cento::Result<()> {
        for list in [&self.documents, &self.questions].into_iter().flatten() {
            lists::check_name(list)?;
        }
        let inputs: Vec<PathBuf> = self.paths.iter().chain(&self.against).cloned().collect();
        let written = [&self.out, &self.documents, &self.questions].into_iter().flatten();
        self.report.check_outputs(&inputs, None, written.map(PathBuf::as_path))?;
        let Some(out) = &self.out else { return Ok(()) };
        if self.paths.iter().any(|path| path == Path::new("-")) {
            let what = "with --out the corpus is read twice; name a file instead of -";
            return Err(Error::arguments(what));
        }
        if !self.writes_tables() {
            check_free(out)?;
            table_form(out, &self.paths, &self.source(), self.annotation())?;
        }
        Ok(())
    }

    fn annotation(&self) -> Option<Annotation> {
        self.annotate.then_some(Annotation::Decontaminate)
    }

    /// With a directory as output, finds the Parquet files to copy and makes them the inputs, as if
    /// the user had given each file. Returns the skipped files.
    fn find_tables(&mut self) -> cento::Result<Vec<(String, &'static str)>> {
        if !self.writes_tables() {
            return Ok(Vec::new());
        }
        let Tree { files, left_out } = Tree::of(&self.paths, &self.source())?;
        self.paths = files.iter().map(|file| file.path.clone()).collect();
        // The filter has been applied to the list of files.
        self.filter = FilterArgs::default();
        self.tables = files;
        Ok(left_out)
    }

    /// Reads the questions, and adds the files left out. A benchmark that is read in part has wrong
    /// rates, so a record without a question is an error.
    fn read_benchmarks(
        &self,
        left_out: &mut Vec<(String, &'static str)>,
        stop: &Stop,
    ) -> cento::Result<Arc<Benchmarks>> {
        let fields = QuestionFields {
            question: self.question_field.clone(),
            answer: self.answer_field.clone(),
            id: self.question_id_field.clone(),
            benchmark: self.benchmark_field.clone(),
        };
        let source = self.source.options_within(self.memory())?;
        let mut read: Vec<Question> = Vec::new();
        for question in questions(&self.against, &fields, &source) {
            match question {
                Ok(question) => read.push(question),
                Err(QuestionError::LeftOut { place, why, .. }) => left_out.push((place, why)),
                Err(QuestionError::Refused(error) | QuestionError::Unread(error)) => {
                    return Err(match lacks_question(&error) {
                        true => {
                            let (place, what) = error.place_and_message();
                            let what = format!(
                                "{what}; --question-field, --answer-field and --benchmark-field \
                                 name the fields"
                            );
                            Error::input(place, what)
                        }
                        false => error,
                    });
                }
            }
        }
        if read.is_empty() {
            for (place, why) in left_out {
                note!("cento: {place}: skipped: {}", advised(why));
            }
            return Err(Error::input(listed(&self.against), "there is no question in it"));
        }
        Ok(Arc::new(Benchmarks::new(read, &self.options, stop)?))
    }

    /// Reads the corpus and finds the questions in the documents.
    fn search(
        &self,
        benchmarks: &Arc<Benchmarks>,
        left_out: Vec<(String, &'static str)>,
        stop: &Stop,
    ) -> cento::Result<FirstPass> {
        let mut found = FirstPass {
            tally: Tally::new(benchmarks),
            spool: Spool::new()?,
            inputs: UnsearchedInputs::default(),
            omissions: Omissions::new(self.format == Format::Json),
            missing: Vec::new(),
        };
        for (place, why) in left_out {
            found.skip(&place, why);
        }
        let source = metered(&self.paths, self.source());
        let spinner = Spinner::reading(&source);
        let (threads, memory) = (self.threads(), self.memory());
        let known = Some(benchmarks.clone());
        for part in examined(known, &self.paths, &source, threads, memory, stop) {
            match part? {
                CorpusPart::Document(document, findings) => {
                    let number = found.tally.documents();
                    found.tally.add(&document.id, &document.text, &findings);
                    found.inputs.bytes += document.text.len() as u64;
                    found.inputs.empty += u64::from(document.text.chars().all(is_white_space));
                    if !findings.is_empty() {
                        found.spool.add(number, &document, findings)?;
                    }
                }
                CorpusPart::Skipped { place, why } => found.skip(&place, why),
                CorpusPart::Failed(error) if self.strict => return Err(error),
                CorpusPart::Failed(error) => {
                    found.inputs.failed += 1;
                    found.missing.push(not_compared(&error));
                    if let Some(said) = found.omissions.failed(&error) {
                        tell!("{said}");
                    }
                }
                other => return Err(Error::internal("decontaminate", format!("{other:?}"))),
            }
            spinner.tell(&|| counted(found.tally.documents(), "document"));
        }
        spinner.finish();
        source.check_fields()?;
        Ok(found)
    }

    /// Reads the corpus a second time and writes it as requested.
    fn write(
        &self,
        out: &Path,
        benchmarks: &Benchmarks,
        spool: &mut Spool,
        common: &CommonWords<'_>,
        searched: CorpusDigest,
        stop: &Stop,
    ) -> cento::Result<OutcomeCounts> {
        let source = metered(&self.paths, self.source());
        let treatment = match (self.cut_passages, self.annotate) {
            (true, _) => Treatment::Cut { min_left: self.min_left.max(1) as usize },
            (false, true) => Treatment::Annotate,
            (false, false) => Treatment::Drop,
        };
        let out = match self.writes_tables() {
            true => {
                let (tables, text) = (source.tables.clone(), source.text_field.to_string());
                let annotation = self.annotation();
                let inputs = &self.tables;
                let files = TableFiles::open(tables, out, inputs, text, annotation, false, None)?;
                Out::Tables(Box::new(files))
            }
            false => {
                let form = table_form(out, &self.paths, &source, self.annotation())?;
                corpus::lines(out, form)?
            }
        };
        let mut corpus = Corpus {
            out,
            treatment,
            text_field: &source.text_field,
            benchmarks,
            common,
            scratch: Scratch::default(),
            stop,
            written: OutcomeCounts::default(),
            read: CorpusDigest::default(),
        };
        let (mut at_document, mut at_end) = (Failpoint::at("document"), Failpoint::at("end"));
        let mut with_questions = spool.read()?;
        let mut next = with_questions.next().transpose()?;
        let spinner = Spinner::reading(&source);
        let (threads, memory) = (self.threads(), self.memory());
        for part in examined(None, &self.paths, &source, threads, memory, stop) {
            match part? {
                CorpusPart::Document(document, _) => {
                    let number = corpus.read.documents;
                    let found = next.take_if(|found| found.number == number);
                    if found.is_some() {
                        next = with_questions.next().transpose()?;
                    }
                    corpus.write(&document, found.as_ref())?;
                    at_document.reached();
                }
                CorpusPart::Failed(error) => corpus.refuse(&error)?,
                _ => {}
            }
            spinner.tell(&|| format!("{} written", counted(corpus.written.kept, "document")));
        }
        spinner.finish();
        at_end.reached();
        corpus.finish(searched)
    }

    /// Writes the requested lists, and returns the verdicts on the documents.
    fn write_lists(
        &self,
        benchmarks: &Benchmarks,
        counts: &DecontaminationCounts,
        spool: &mut Spool,
        common: &CommonWords<'_>,
    ) -> cento::Result<Verdicts> {
        let open = |path: &PathBuf| ListFile::create(path, DOCUMENT_COLUMNS);
        let mut documents = self.documents.as_ref().map(open).transpose()?;
        let mut verdicts = Verdicts::default();
        for found in spool.read()? {
            let found = found?;
            for row in DocumentRow::of(&found, benchmarks, common) {
                documents.iter_mut().try_for_each(|list| list.write(&row))?;
            }
            match found.is_contaminated(common) {
                true => verdicts.contaminated_documents += 1,
                false => verdicts.documents_with_common_words += 1,
            }
        }
        documents.map_or(Ok(()), ListFile::finish)?;
        if let Some(path) = &self.questions {
            let mut list = ListFile::create(path, QUESTION_COLUMNS)?;
            for (question, counts) in benchmarks.questions().iter().zip(&counts.questions) {
                list.write(&QuestionRow::of(counts, &question.text))?;
            }
            list.finish()?;
        }
        Ok(verdicts)
    }

    fn write_report(
        &self,
        counts: &DecontaminationCounts,
        benchmarks: &Benchmarks,
        contaminated: u64,
        missing: Vec<NotCompared>,
    ) -> cento::Result<()> {
        if !self.report.is_asked() {
            return Ok(());
        }
        let analyzer = self.options.analyzer.parse()?;
        let mut run = self.report.run("decontaminate", &analyzer)?.with_options(&self.options);
        run = run
            .with("corpus", listed(&self.paths))
            .with("corpus digest (XXH3)", &counts.digest)
            .with("against", listed(&self.against))
            .with("min_share", self.options.min_share)
            .with("run", self.options.run)
            .with("question_field", self.question_field.join(", "));
        if let Some(field) = &self.answer_field {
            run = run.with("answer_field", field);
        }
        for of in &counts.benchmarks {
            run = run.with(format!("digest of {} (XXH3)", of.benchmark), &of.digest);
        }
        let min_share = self.options.min_share;
        let report = DecontaminationReport::new(
            run,
            counts.clone(),
            benchmarks,
            min_share,
            contaminated,
            missing,
        );
        self.report.write_decontamination(&report)
    }
}

impl FirstPass {
    /// Records a skipped file, with place and reason.
    fn skip(&mut self, place: &str, why: &'static str) {
        self.inputs.skipped += 1;
        self.inputs.skipped_by_name += u64::from(is_by_name(why));
        if !is_by_name(why) {
            self.missing.push(left_out(place, why));
        }
        if let Some(said) = self.omissions.left_out(place, why) {
            note!("{said}");
        }
    }
}

impl DecontaminateSummary<'_> {
    /// Summarizes the run in a line.
    fn line(&self, seconds: f64) -> String {
        let mut parts = vec![
            counted(self.counts.documents, "document"),
            format!("{} contaminated", count(self.verdicts.contaminated_documents)),
        ];
        let written = self.written.unwrap_or_default();
        for (number, what) in [
            (self.verdicts.documents_with_common_words, "with common words only"),
            (written.kept, "written"),
            (written.cut, "of these without passages"),
            (written.dropped, "dropped"),
            (self.inputs.skipped, "skipped"),
            (self.inputs.failed, "failed"),
            (self.inputs.empty, "empty"),
        ] {
            if number > 0 {
                parts.push(format!("{} {what}", count(number)));
            }
        }
        let UnsearchedInputs { bytes, .. } = *self.inputs;
        let taken = output::taken(bytes, seconds);
        format!("{}; {} of text{taken}", parts.join(", "), output::bytes(bytes))
    }
}

/// A count of a benchmark.
type Counted = fn(&BenchmarkCounts) -> u64;

/// Prints the rates of the benchmarks.
fn print(out: &mut impl Write, benchmarks: &[BenchmarkCounts]) -> io::Result<()> {
    let has = |of: fn(&BenchmarkCounts) -> u64| benchmarks.iter().any(|b| of(b) > 0);
    let columns: [(&str, Counted, bool); 4] = [
        ("with answer", |of| of.with_answer, has(|of| of.answers)),
        ("common", |of| of.common, has(|of| of.common)),
        ("too short", |of| of.too_short, has(|of| of.too_short)),
        ("empty", |of| of.empty, has(|of| of.empty)),
    ];
    let shown = || columns.iter().filter(|(_, _, is_shown)| *is_shown);
    let width = benchmarks.iter().map(|of| of.benchmark.chars().count()).max().unwrap_or(0).max(9);
    let mut head =
        format!("{:width$} {:>9} {:>12} {:>7}", "benchmark", "questions", "contaminated", "rate");
    shown().for_each(|(name, ..)| head += &format!(" {name:>11}"));
    line!(out, "{head}")?;
    for of in benchmarks {
        let mut row = format!(
            "{:width$} {:>9} {:>12} {:>7}",
            of.benchmark,
            count(of.questions),
            count(of.contaminated),
            percent(of.rate),
        );
        shown().for_each(|(_, number, _)| row += &format!(" {:>11}", count(number(of))));
        line!(out, "{row}")?;
    }
    Ok(())
}
