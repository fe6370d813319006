//! `cento dedup` writes a corpus without duplicates.

mod files;
pub mod record;
pub mod tables;
pub mod tree;
mod verdict_counts;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::add::{SourceArgs, check_no_index};
use super::boilerplate::{NamedBoilerplate, read, without};
use super::create::{ConfigArgs, stores_text};
use super::failpoint::Failpoint;
use super::left_out::FilterArgs;
use super::memory;
use super::outfile::{check_apart, check_lines, is_taken, listed, path_name, table_form};
use super::output::{self, Format};
use super::parse::{parse_bytes, parse_threads};
use super::progress::{NotRead, Spinner, metered, stop_flag};
use super::terminal::{self, note, tell};
use super::unwritten::remove_if_empty;
use super::wait::LocalWaitArgs;
use super::{Result, VerbOutcome};
use crate::key;
use cento::hash::hash_fields;
use cento::index::{Config, Index, Preset, PresetDefaults, WriterOptions};
use cento::search::{Boilerplate, Searcher};
use cento::{Error, Reason, Stop};
use cento_api::Prefer;
use cento_collections::dedup::{self, DedupOptions, Event, Progress, Record};
use cento_source::{Annotation, SourceOptions, TableForm, check_there};
use files::Files;
use tree::{TableInput, Tree};
use verdict_counts::VerdictCounts;

/// Write the documents that are not duplicates, and list the others.
///
/// cento compares every document with the documents before it, in one pass, and with the indexes
/// that you name. It keeps the first of several duplicates, or with --prefer the one you prefer
/// most. It lists every dropped document with the reason and the document that it duplicates.
///
/// A document is no duplicate of itself, so you can repeat a batch and correct it. If an index has
/// the document under the same id from an earlier run, with the same text, cento keeps it as
/// unchanged. If its text has changed, the new version replaces the old one.
///
/// Fingerprints find candidates, and the texts decide. With --index, these are the texts that the
/// index stores. Without it, cento keeps the texts of this run in a temporary file. If no texts are
/// stored, an estimate decides, and the list tells you so. Two programs must also share half of
/// their names, numbers and strings, and have 50 tokens, unless their texts are equal. Rarity does
/// not count, because it changes with every batch: a verdict does not depend on when you commit.
#[derive(Debug, Args)]
pub struct Dedup {
    /// Files or folders to deduplicate, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Index to compare with. cento adds the kept documents to it, so that tomorrow's batch is
    /// compared with today's. A kept document replaces the stored document with its id. If the
    /// index does not exist, cento creates it.
    #[arg(long, value_name = "INDEX")]
    index: Option<PathBuf>,
    /// Index to compare with, which cento does not change. Can be repeated.
    #[arg(long, value_name = "INDEX")]
    against: Vec<PathBuf>,
    #[command(flatten)]
    options: DedupOptions,
    /// Ignore this boilerplate, such as templates: files, folders or an index. Can be repeated.
    #[arg(long, short = 'b', value_name = "PATH")]
    boilerplate: Vec<PathBuf>,
    /// Drop nothing. Write all documents with their verdicts in the member `dedup`.
    #[arg(long, conflicts_with = "cut_passages")]
    annotate: bool,
    /// Write to this file instead of standard output. With --index, you can then resume an
    /// interrupted run. A name that ends in .gz or .zst makes a compressed file. If the inputs are
    /// tables, a name that ends in .csv or .tsv makes a table with their columns. If the inputs are
    /// Parquet files or folders of them, name a folder, or end the name with /: cento writes a copy
    /// of each file there, with the same columns and the rows that are kept, and with subfolders
    /// such as year=2024.
    #[arg(long, value_name = "FILE|DIR/")]
    out: Option<PathBuf>,
    /// List dropped documents in this file instead of on standard error, as one JSON line per
    /// document. A name that ends in .gz or .zst makes a compressed file.
    #[arg(long, value_name = "FILE")]
    dropped: Option<PathBuf>,
    /// Resume the interrupted run that wrote to --out and --dropped. Use the same documents and
    /// options.
    #[arg(long, requires_all = ["index", "out"])]
    resume: bool,
    /// Start again although a run was interrupted. Its kept documents stay in the index.
    #[arg(long, requires = "index", conflicts_with = "resume")]
    restart: bool,
    #[command(flatten)]
    config: DedupConfigArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    source: SourceArgs,
    /// Memory for documents that are not committed yet. Default: 512MiB, or less in a
    /// container or machine with less than 2.2 GiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<usize>,
    /// Number of threads. Default: the number of processors.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    #[command(flatten)]
    wait: LocalWaitArgs,
    /// Stop at the first record that is not a document, or file that cannot be read. The exit
    /// status is 3 if cento skipped files because they are not text.
    #[arg(long)]
    strict: bool,
    /// Format of the summary.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
    /// The Parquet files that are copied.
    #[arg(skip)]
    tables: Vec<TableInput>,
}

/// The configuration of a new index.
#[derive(Debug, Clone, Args)]
struct DedupConfigArgs {
    /// Kind of documents. It sets the scheme and the analyzer of a new index, and the default of
    /// --min-resemblance. `cento info presets` shows the settings of each kind. A new index keeps
    /// its kind for later calls. --scheme and --analyzer override their part.
    #[arg(id = "for", long = "for", value_name = "PURPOSE", value_enum)]
    preset: Option<Preset>,
    /// How a new index chooses fingerprints. Default: the scheme of --for, the scheme of --against,
    /// or winnow(k=5,w=10).
    #[arg(long, value_name = "SPEC")]
    scheme: Option<String>,
    /// How a new index splits text into tokens. Default: the analyzer of --for, the analyzer of
    /// --against, or words.
    #[arg(long, value_name = "SPEC")]
    analyzer: Option<String>,
    /// Frequency table of a new index, for schemes that need one.
    #[arg(long, value_name = "FILE")]
    frequencies: Option<PathBuf>,
    /// Store no text in a new index.
    #[arg(long, requires = "index", conflicts_with = "cut_passages")]
    no_text: bool,
}

/// The index of a run.
enum RunIndex {
    Opened(Index),
    /// An index to create once every check of the options and inputs has passed.
    Planned(Box<Config>),
}

impl RunIndex {
    fn config(&self) -> &Config {
        match self {
            RunIndex::Opened(index) => index.config(),
            RunIndex::Planned(config) => config,
        }
    }
}

#[derive(Serialize)]
struct DedupReport<'a> {
    #[serde(flatten)]
    summary: &'a VerdictCounts,
    /// The preset's defaults that affected the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    defaults: Option<PresetDefaults>,
    /// The files not read since the run began or was resumed.
    #[serde(flatten)]
    not_read: &'a NotRead,
}

impl Dedup {
    pub(super) fn run(mut self) -> Result {
        self.memory = Some(memory::or_default(self.memory));
        self.source.options_within(self.memory())?;
        self.filter.filter()?;
        self.check_names()?;
        self.check_apart()?;
        let stop = stop_flag();
        let started = Instant::now();
        check_there(&self.paths)?;
        check_no_index(&self.paths)?;
        let boilerplate_paths = NamedBoilerplate::paths_alone(
            &self.boilerplate,
            "cannot be used here, because documents are read one after the other",
        )?;
        let left_out = self.find_tables()?;
        let against = self.against.iter().map(|path| {
            let searcher = Searcher::new(key::open(path)?.snapshot()?);
            without(searcher, &self.boilerplate, self.threads())
        });
        let against = against.collect::<cento::Result<Vec<_>>>()?;
        let temporary = match self.index {
            Some(_) => None,
            None => Some(
                tempfile::tempdir().map_err(|e| Error::io("create", "a temporary directory", e))?,
            ),
        };
        let path = match (&self.index, &temporary) {
            (Some(path), _) => path.clone(),
            (None, Some(dir)) => dir.path().join("index"),
            (None, None) => unreachable!("there is a temporary directory if no index is named"),
        };
        let own = self.open_or_plan(&path, &against, &stop)?;
        // A refused run leaves no file and no index.
        let (name, seeks_passages) = (self.index.as_deref(), self.options.cut_passages.is_some());
        dedup::check_against(own.config(), name, &against, seeks_passages)?;
        // A temporary index does not store texts, but the run has the texts at hand.
        let config = own.config().clone();
        let config = if temporary.is_some() { config.with_text(true)? } else { config };
        let boilerplate = read(&boilerplate_paths, &config)?.map(Arc::new);
        let run = self.identify(own.config(), &against, boilerplate.as_deref());
        let from = self.start(&own, &path, run)?;
        let is_done = from.done;
        let mut files = Files::open(&self, &from.note)?;
        let is_new = matches!(own, RunIndex::Planned(_));
        let index = match own {
            RunIndex::Opened(index) => index,
            RunIndex::Planned(config) => Index::create(&path, *config)?,
        };
        if from.note.is_null() {
            for (place, why) in left_out {
                files.tell(Event::Skipped { place, why }, self.annotate)?;
            }
        }
        let source = metered(&self.paths, self.source());
        let spinner = Spinner::reading(&source);
        // The earlier run was interrupted after finishing, so nothing is left to do.
        let mut defaults = None;
        let end = match is_done {
            true => {
                note!(
                    "cento: the run had ended already, so nothing was read again; new documents \
                     need a run without --resume, and another --out"
                );
                Ok(())
            }
            false => {
                let (paths, threads, memory) = (&self.paths, self.threads(), self.memory());
                let mut records =
                    cento_source::dedup_records(&index, paths, &source, threads, memory, &stop);
                let is_read = Cell::new(false);
                let records = std::iter::from_fn(|| {
                    let next = records.next();
                    is_read.set(next.is_none());
                    next
                });
                let mut run = dedup::Dedup::new(&index, &self.options, records)
                    .against(&against)
                    .boilerplate(boilerplate)
                    .threads(self.threads())
                    .memory_bytes(self.memory())
                    .resumable(self.is_resumable())
                    .temporary(self.index.is_none())
                    .strict(self.strict)
                    .from(from)
                    .stop(&stop);
                defaults = run.defaults();
                self.write(&mut run, &mut files, &spinner, &source, &is_read)
            }
        };
        spinner.finish();
        if let Err(error) = end {
            if matches!(error, Error::Cancelled) && self.index.is_some() && self.out.is_some() {
                note!("cento: repeat the command with --resume to continue from the last commit");
            }
            // A resumed run would end with the same error.
            if matches!(error, Error::InvalidArgument { .. }) {
                files.discard();
                match is_new {
                    true => remove_if_empty(index),
                    false if self.is_resumable() => {
                        note!("cento: the index has the beginning of this run: add --restart");
                    }
                    false => {}
                }
            }
            return Err(error.into());
        }
        let lacks_field = self.index.is_some() && self.source.tell_fields(&source);
        let is_refused = files.summary.failed > 0 && !files.summary.has_read();
        let (summary, not_read) = match lacks_field || is_refused {
            true => files.discard(),
            false => files.finish()?,
        };
        if is_new && is_refused {
            remove_if_empty(index);
        }
        self.tell_guarantee(&config);
        self.tell(&summary, &not_read, defaults, started)?;
        Ok(match summary.kept {
            _ if lacks_field || is_refused => VerbOutcome::Bad,
            _ if summary.failed > 0 => VerbOutcome::Incomplete,
            _ if self.strict && summary.skipped > summary.skipped_by_name => {
                VerbOutcome::Incomplete
            }
            0 => VerbOutcome::Nothing,
            _ => VerbOutcome::Found,
        })
    }

    fn source(&self) -> SourceOptions {
        let keeps_places = self.writes_tables();
        let filter = self.filter.filter().expect("each pattern was checked");
        let options = self.source.options_within(self.memory()).expect("it was checked");
        // Fields decide about duplicates, and an index stores them. A record has its fields at
        // hand, but the copy of a table has no records.
        let groups = self.options.within.is_some() || self.options.group_by.is_some();
        let meta_fields = match self.index.is_some() || (keeps_places && groups) {
            true => options.meta_fields,
            false => options.meta_fields.or_object(),
        };
        SourceOptions {
            keeps_records: !keeps_places,
            keeps_places,
            needs_text_only: true,
            filter,
            meta_fields,
            ..options
        }
    }

    fn tell(
        &self,
        summary: &VerdictCounts,
        not_read: &NotRead,
        defaults: Option<PresetDefaults>,
        started: Instant,
    ) -> io::Result<()> {
        output::tell_defaults(defaults);
        let report = DedupReport { summary, defaults, not_read };
        match self.format {
            // Documents have standard output for themselves.
            Format::Json if self.out.is_none() => tell!("{}", terminal::json(&report)?),
            Format::Json => output::print_json(&report)?,
            Format::Human => {
                let seconds = started.elapsed().as_secs_f64();
                note!("{}{}", summary.line(), output::taken(summary.bytes, seconds));
            }
        }
        Ok(())
    }

    /// Says which passages the scheme may miss.
    fn tell_guarantee(&self, config: &Config) {
        let Some(wanted) = self.options.cut_passages else { return };
        let (scheme, sure) = (&config.scheme, config.scheme.guarantee());
        let found = match sure {
            Some(sure) if sure <= wanted as usize => return,
            Some(sure) => format!("is sure to find passages of {sure} tokens or more"),
            None => "is not sure to find passages of any length".into(),
        };
        note!(
            "cento: {scheme} {found}; an index with --scheme 'kgram(k={wanted})' finds all of \
             {wanted}"
        );
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

    /// Returns the memory to use, which is known when the run begins.
    fn memory(&self) -> usize {
        self.memory.unwrap_or_else(memory::default_bytes)
    }

    /// Returns whether the output is a directory of Parquet files.
    fn writes_tables(&self) -> bool {
        self.out.as_deref().is_some_and(tables::is_dir)
    }

    /// Writes the events of a run until the run ends.
    fn write(
        &self,
        run: &mut dedup::Dedup<impl Iterator<Item = cento::Result<Record>>>,
        files: &mut Files,
        spinner: &Spinner,
        source: &SourceOptions,
        is_read: &Cell<bool>,
    ) -> cento::Result<()> {
        let mut added = files.summary.kept;
        let (mut at_commit, mut at_document) = (Failpoint::at("commit"), Failpoint::at("document"));
        while let Some(event) = run.next() {
            match event? {
                Event::Committing => {
                    // A record read later may have had the field.
                    match &self.index {
                        _ if !is_read.get() => {}
                        Some(_) => source.check_fields_to_add(added)?,
                        None => source.check_fields()?,
                    }
                    added = files.summary.kept;
                    run.set_note(files.note()?);
                    // Reached before the commit, when both files are durable.
                    at_commit.reached();
                }
                event => {
                    files.tell(event, self.annotate)?;
                    if files.is_holding() && source.check_fields().is_ok() {
                        files.release()?;
                    }
                    at_document.reached();
                }
            }
            spinner.tell(&|| files.summary.line());
        }
        Ok(())
    }

    fn threads(&self) -> usize {
        self.threads.unwrap_or_else(cento::available_threads)
    }

    fn is_resumable(&self) -> bool {
        self.index.is_some() && self.out.is_some()
    }

    /// Opens the index of the run, or plans the one to create.
    fn open_or_plan(
        &self,
        path: &Path,
        against: &[Searcher],
        stop: &Stop,
    ) -> cento::Result<RunIndex> {
        let DedupConfigArgs { preset, scheme, analyzer, frequencies, no_text } =
            self.config.clone();
        let keeps_text = self.index.is_some() && stores_text(no_text, false);
        let store_text = self.options.cut_passages.is_some() || keeps_text;
        let given = ConfigArgs { preset, scheme, analyzer, frequencies };
        if Index::exists(path) {
            let index = given.opened(path, no_text, None, &self.paths, &self.source())?;
            let index = index.with_lock_wait(self.wait.lock_wait(stop.clone()));
            // Takes the writer's lock before reading the index, because a run that is still active
            // looks like an interrupted run.
            drop(index.writer(WriterOptions::default().memory_bytes(0usize).merge(false))?);
            return Ok(RunIndex::Opened(index));
        }
        let config = match against.first().map(|first| first.snapshot().config()) {
            Some(config) if !given.is_given() => config.with_text(store_text)?,
            _ => given.config_of(store_text, &self.paths, &self.source())?,
        };
        Ok(RunIndex::Planned(Box::new(config)))
    }

    /// Refuses output names that imply a different format, and copies of tables in a different
    /// order.
    fn check_names(&self) -> cento::Result<()> {
        let sorts = self.options.prefer.as_ref().is_some_and(|prefer| *prefer != Prefer::None);
        if self.index.is_some() && self.options.prefer == Some(Prefer::None) {
            let what = "--prefer none reads all documents before it keeps the first one, and adds \
                        to no index; give it without --index, and add what it writes";
            return Err(Error::argument("prefer", what));
        }
        if self.writes_tables() && sorts {
            let what = "a directory as --out has a copy of each Parquet file, with its rows in \
                        their order, and --prefer writes the best first; write a file instead";
            return Err(Error::argument("prefer", what));
        }
        if let Some(dropped) = &self.dropped {
            check_lines(dropped, "JSON lines")?;
        }
        self.table_form().map(|_| ())
    }

    /// Returns the table format, if the output's name implies a table.
    fn table_form(&self) -> cento::Result<Option<TableForm>> {
        let Some(out) = self.out.as_deref().filter(|_| !self.writes_tables()) else {
            return Ok(None);
        };
        table_form(out, &self.paths, &self.source(), self.annotate.then_some(Annotation::Dedup))
    }

    /// Refuses to write into an input, or two outputs into one file.
    fn check_apart(&self) -> cento::Result<()> {
        let written = [&self.out, &self.dropped, &self.index];
        let others = self.against.iter().chain(&self.boilerplate).chain(&self.config.frequencies);
        let read: Vec<PathBuf> = self.paths.iter().chain(others).cloned().collect();
        check_apart(&read, written.into_iter().flatten().map(PathBuf::as_path))
    }

    /// Returns a number for the output. A run resumes the output only if the numbers are equal.
    fn identify(
        &self,
        config: &Config,
        against: &[Searcher],
        boilerplate: Option<&Boilerplate>,
    ) -> u64 {
        // Left out of the number: threads, memory and stopping at a bad record do not change the
        // output.
        let SourceOptions {
            id_field,
            text_field,
            meta_fields,
            field_use: _,
            read_meter: _,
            encoding,
            record_bytes_max,
            read_hidden,
            obeys_ignore_files,
            follow_links,
            keeps_records,
            requires_id,
            takes_meta_changes: _,
            meta_change_advice: _,
            needs_text_only,
            takes_any_id: _,
            html,
            extraction,
            readers,
            keeps_places,
            tables,
            window_bytes_max: _,
            filter,
            grouping: _,
            meta: _,
            tells_unseen: _,
            stop: _,
        } = &self.source();
        let generations = against.iter().map(|other| other.snapshot().generation());
        hash_fields(&BTreeMap::from([
            ("paths", listed(self.paths.iter().map(|path| path_name(path)))),
            ("out", listed(self.out.iter().map(|path| path_name(path)))),
            ("dropped", listed(self.dropped.iter().map(|path| path_name(path)))),
            ("annotate", self.annotate.to_string()),
            ("against", listed(generations)),
            ("scheme", config.scheme.to_string()),
            ("analyzer", config.analyzer.to_string()),
            ("options", serde_json::to_string(&self.options).expect("they are numbers")),
            ("boilerplate", listed(boilerplate.iter().map(|own| format!("{:?}", own.digest())))),
            ("resumable", self.is_resumable().to_string()),
            ("id_field", id_field.clone()),
            ("text_field", listed(text_field.names())),
            ("meta_fields", format!("{meta_fields:?}")),
            ("encoding", listed(encoding)),
            ("record_bytes_max", record_bytes_max.to_string()),
            ("read_hidden", read_hidden.to_string()),
            ("obeys_ignore_files", obeys_ignore_files.to_string()),
            ("follow_links", follow_links.to_string()),
            ("keeps_records", keeps_records.to_string()),
            ("requires_id", requires_id.to_string()),
            ("needs_text_only", needs_text_only.to_string()),
            ("html", format!("{html:?}")),
            ("extraction", extraction.is_some().to_string()),
            ("readers", format!("{:?}", readers.commands().collect::<Vec<_>>())),
            ("keeps_places", keeps_places.to_string()),
            ("tables", tables.is_some().to_string()),
            ("patterns", listed(filter.patterns().iter().map(listed))),
        ]))
    }

    /// Returns where the run begins.
    fn start(&self, own: &RunIndex, path: &Path, run: u64) -> cento::Result<Progress> {
        let is_of_interest =
            |progress: &Progress| !progress.done || (self.resume && progress.run == run);
        let before = match own {
            RunIndex::Opened(index) => Progress::of(index)?.filter(is_of_interest),
            RunIndex::Planned(_) => None,
        };
        let refused = |reason, what: &str| Err(Error::index(path, reason, what));
        match (before, self.resume) {
            (Some(before), true) if before.run == run => Ok(before),
            (Some(_), true) => refused(
                Reason::OtherSettings,
                "the interrupted run had other inputs or options; repeat the command with those",
            ),
            (Some(_), false) if !self.restart => refused(
                Reason::Interrupted,
                "an earlier run was interrupted; continue it with --resume and the same inputs and \
                 options, or start another with --restart, which compares with what it kept",
            ),
            (None, true) if !self.writes_tables() && self.out.as_deref().is_some_and(is_taken) => {
                refused(Reason::Unsuitable, "there is no interrupted run to resume; omit --resume")
            }
            // No earlier run, or a run interrupted before the first checkpoint.
            _ => Ok(Progress { run, ..Progress::default() }),
        }
    }
}
