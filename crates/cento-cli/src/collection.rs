//! Files where an index is expected: an index of them, which is removed when the command ends.

use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use tempfile::TempDir;

use super::VerbOutcome;
use super::add::SourceArgs;
use super::advice;
use super::create::ConfigArgs;
use super::grouping::GroupingArgs;
use super::join::JoinArgs;
use super::left_out::{FilterArgs, LeftOuts};
use super::memory;
use super::output::{self, NotCompared, counted};
use super::progress::{AddProgress, metered};
use super::report_args;
use super::terminal::{note, tell};
use cento::index::{Config, Index};
use cento::search::Searcher;
use cento::text::code::{lacks_language, language_in};
use cento::{Error, Stop};
use cento_collections::Scope;
use cento_report::IndexState;
use cento_source::{AddOptions, Event, SourceOptions, check_there, is_by_name};

/// The kind of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Indexes,
    Files,
}

impl Kind {
    /// Returns the common kind of these paths.
    ///
    /// # Errors
    /// When indexes and files are mixed, or a path does not exist.
    pub fn of(paths: &[PathBuf]) -> cento::Result<Kind> {
        check_there(paths)?;
        let (indexes, files): (Vec<&Path>, Vec<&Path>) =
            paths.iter().map(PathBuf::as_path).partition(|path| Index::exists(path));
        match (indexes.first(), files.first()) {
            (Some(_), None) => Ok(Kind::Indexes),
            (None, _) => Ok(Kind::Files),
            (Some(index), Some(file)) => {
                let what = format!(
                    "{} is an index, and {} is not; name only indexes, or only files, or add the \
                     files to an index with `cento add`",
                    index.display(),
                    file.display()
                );
                Err(Error::argument("paths", what))
            }
        }
    }
}

/// The ids of the options on the command line.
#[derive(Debug)]
pub struct GivenIds(Vec<String>);

impl GivenIds {
    /// Refuses options that do not apply to this kind of inputs: options for indexes only, or for
    /// files only. `subject` is the noun for the results of the verb.
    ///
    /// # Errors
    /// When the command line has such an option.
    pub fn check<OfIndexes: Args, OfFiles: Args>(
        &self,
        kind: Kind,
        paths: &[PathBuf],
        subject: &str,
    ) -> cento::Result<()> {
        let (others, only, is) = match kind {
            Kind::Indexes => (OfFiles::augment_args(Command::new("")), "files", "an index"),
            Kind::Files => (OfIndexes::augment_args(Command::new("")), "indexes", "no index"),
        };
        let is_other = |id: &&String| others.get_arguments().any(|arg| arg.get_id() == id.as_str());
        match self.0.iter().find(is_other) {
            None => Ok(()),
            Some(id) => {
                let (option, first) = (id.replace('_', "-"), paths[0].display());
                let is_config = ConfigArgs::augment_args(Command::new(""))
                    .get_arguments()
                    .any(|arg| arg.get_id() == id.as_str());
                let cure = match kind {
                    Kind::Indexes if is_config => "leave it out, because the index has its own",
                    Kind::Indexes => "leave it out, or name the files in place of the index",
                    Kind::Files => "leave it out, or add the files to an index (`cento add`)",
                };
                let what =
                    format!("--{option} is for {subject} of {only}, and {first} is {is}; {cure}");
                Err(Error::arguments(what))
            }
        }
    }
}

impl FromArgMatches for GivenIds {
    fn from_arg_matches(matches: &ArgMatches) -> Result<GivenIds, clap::Error> {
        let is_given =
            |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        Ok(GivenIds(matches.ids().filter(is_given).map(ToString::to_string).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = GivenIds::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for GivenIds {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

/// Options for reading files, and for signing them.
#[derive(Debug, Args)]
pub struct CollectionArgs {
    #[command(flatten)]
    pub grouping: GroupingArgs,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    source: SourceArgs,
}

/// An index of files, in a temporary directory.
pub struct TemporaryIndex<'a> {
    pub index: Index,
    paths: &'a [PathBuf],
    grouping: &'a GroupingArgs,
    source: SourceOptions,
    /// Removed with this value.
    _dir: TempDir,
}

/// The inputs that became documents, and the remaining inputs.
pub struct InputOutcomes {
    pub left_out: LeftOuts,
    pub documents: u64,
    pub not_compared: Vec<NotCompared>,
    pub warnings: Vec<NotCompared>,
}

impl CollectionArgs {
    /// Returns whether an option sets the scheme or the analyzer.
    pub fn is_config_given(&self) -> bool {
        self.config.is_given()
    }

    /// Creates an empty temporary index for the files at `paths`. `known` is the configuration of
    /// the index to compare with, if any, so that the signatures are comparable.
    ///
    /// # Errors
    /// When options contradict each other, or the directory cannot be created.
    pub fn create<'a>(
        &'a self,
        paths: &'a [PathBuf],
        known: Option<&Config>,
    ) -> cento::Result<TemporaryIndex<'a>> {
        let dir =
            tempfile::tempdir().map_err(|e| Error::io("create", "a temporary directory", e))?;
        let (config, source) = self.config_and_source(paths, known)?;
        let index = Index::create(dir.path().join("index"), config)?;
        Ok(TemporaryIndex { index, paths, grouping: &self.grouping, source, _dir: dir })
    }

    /// Returns the configuration, `known` if given, and the options for reading files. The options
    /// skip libraries by name, for programs also files in a different language, and for documents
    /// of several files also data.
    fn config_and_source(
        &self,
        paths: &[PathBuf],
        known: Option<&Config>,
    ) -> cento::Result<(Config, SourceOptions)> {
        let analyzer = match known {
            Some(known) => known.analyzer.to_string(),
            None => self.config.analyzer().to_owned(),
        };
        let is_grouped = self.grouping.is_grouped();
        let infers = lacks_language(&analyzer);
        let is_program = infers || language_in(&analyzer).is_some();
        let filter = self.filter.filter()?;
        let filter = filter.without_libraries(is_grouped, is_grouped || is_program);
        let filter = if is_grouped { filter.without_data() } else { filter };
        let options = SourceOptions { filter, tells_unseen: true, ..self.source.options() };
        let config = match known {
            Some(known) => known.clone(),
            None => self.config.config_of_most(paths, &options)?,
        };
        let filter = match language_in(&config.analyzer.to_string()) {
            Some(language) => options.filter.in_language(language, infers),
            None => options.filter,
        };
        Ok((config, SourceOptions { filter, ..options }))
    }
}

impl TemporaryIndex<'_> {
    /// Reads the files. Reports skipped and unreadable files, and documents without text if
    /// `tells_empty`.
    ///
    /// # Errors
    /// When the index cannot be written; [`Error::Cancelled`] after `stop`.
    pub fn read(&self, tells_empty: bool, stop: &Stop) -> cento::Result<InputOutcomes> {
        let added = self.read_by(&self.source, tells_empty, stop)?;
        let added = if added.documents == 0 && self.source.filter.asks_language() {
            // No program has a name in this language.
            let filter = self.source.filter.clone().in_any_language();
            let source = SourceOptions { filter, ..self.source.clone() };
            self.read_by(&source, tells_empty, stop)?
        } else {
            added
        };
        added.left_out.tell();
        Ok(added)
    }

    fn read_by(
        &self,
        source: &SourceOptions,
        tells_empty: bool,
        stop: &Stop,
    ) -> cento::Result<InputOutcomes> {
        let source = &self.grouping.grouped(self.paths, source.clone(), stop)?;
        let options = AddOptions {
            memory_bytes: memory::default_bytes(),
            numbers_ids: true,
            source: metered(self.paths, source.clone()),
            ..AddOptions::default()
        };
        let progress = AddProgress::new(false, &options.source);
        let (mut not_compared, mut warnings) = (Vec::new(), Vec::new());
        let mut left_out = LeftOuts::default();
        let added = cento_source::add(&self.index, self.paths, &options, stop, &mut |event| {
            match &event {
                Event::Skipped(place, why) if is_by_name(why) => {
                    return left_out.note(place, why, self.paths, &source.filter);
                }
                Event::Skipped(place, why) => not_compared.push(advice::left_out(*place, why)),
                Event::Failed(error) => not_compared.push(output::not_compared(error)),
                Event::Empty(_) if !tells_empty => return,
                Event::Empty(_) => {}
                Event::Unseen(id, unseen) => warnings.extend(output::warnings(id, unseen)),
                // Never happens, because ids are numbered.
                Event::Replaced(_) | Event::Progress(_) => {}
            }
            progress.tell(event);
        });
        progress.finish();
        let documents = added?.added;
        source.check_fields()?;
        Ok(InputOutcomes { documents, not_compared, left_out, warnings })
    }
}

/// Options of a verb that joins the documents of indexes, or of files.
#[derive(Debug, Args)]
pub struct InputArgs {
    #[command(flatten)]
    given: GivenIds,
    #[command(flatten)]
    collection: CollectionArgs,
}

/// The documents to join.
pub struct Inputs<'a> {
    pub searcher: Searcher,
    pub kind: Kind,
    is_any_refused: bool,
    /// Removed after the search.
    _temporary: Option<TemporaryIndex<'a>>,
}

impl InputArgs {
    /// Opens the indexes at `paths` as if they were one, or reads the files there. `subject` is
    /// what the verb finds.
    ///
    /// # Errors
    /// When an index cannot be opened, an option does not apply, or there are no documents;
    /// [`Error::Cancelled`] after `stop`.
    pub fn open<'a>(
        &'a self,
        paths: &'a [PathBuf],
        join: &JoinArgs,
        subject: &str,
        stop: &Stop,
    ) -> cento::Result<Inputs<'a>> {
        let kind = Kind::of(paths)?;
        self.given.check::<NoArgs, CollectionArgs>(kind, paths, subject)?;
        if kind == Kind::Indexes {
            let searcher = join.searcher_of_pairs(paths, &Scope::Everywhere)?;
            return Ok(Inputs { searcher, kind, is_any_refused: false, _temporary: None });
        }
        let temporary = self.collection.create(paths, None)?;
        let InputOutcomes { documents, not_compared, warnings, .. } = temporary.read(true, stop)?;
        for NotCompared { name, reason } in &warnings {
            tell!("cento: {name} {reason}");
        }
        let is_any_refused = tell_not_compared(&not_compared);
        if documents == 0 {
            return Err(Error::argument("paths", "there is no document in them"));
        }
        let searcher = join.searcher_of(temporary.index.snapshot()?)?;
        Ok(Inputs { searcher, kind, is_any_refused, _temporary: Some(temporary) })
    }
}

impl InputArgs {
    /// As [`open`](Self::open), for verbs whose answers do not name the index of a document.
    ///
    /// # Errors
    /// As [`open`](Self::open), and when there are several indexes.
    pub fn open_one<'a>(
        &'a self,
        paths: &'a [PathBuf],
        join: &JoinArgs,
        subject: &str,
        stop: &Stop,
    ) -> cento::Result<Inputs<'a>> {
        if paths.len() > 1 && Kind::of(paths)? == Kind::Indexes {
            let what = format!(
                "{subject} are found in one index; `cento merge` makes one index of several"
            );
            return Err(Error::argument("paths", what));
        }
        self.open(paths, join, subject, stop)
    }
}

impl Inputs<'_> {
    /// Returns the outcome of a search with or without results.
    pub fn outcome(&self, has_results: bool) -> VerbOutcome {
        VerbOutcome::of_inputs(self.is_any_refused, has_results)
    }

    /// Describes the documents for the foot of a report.
    pub fn state(&self, paths: &[PathBuf]) -> IndexState {
        let snapshot = self.searcher.snapshot();
        let generation = (self.kind == Kind::Indexes).then(|| snapshot.generation().to_string());
        IndexState {
            place: report_args::listed(paths),
            generation,
            documents: snapshot.documents(),
        }
    }
}

#[derive(Debug, Args)]
struct NoArgs {}

/// Reports the number of inputs that were not compared; returns whether there are any.
pub fn tell_not_compared(list: &[NotCompared]) -> bool {
    if !list.is_empty() {
        // Earlier messages have the name and the reason for every text.
        note!("cento: {} not compared, or only in part", counted(list.len() as u64, "text"));
    }
    !list.is_empty()
}
