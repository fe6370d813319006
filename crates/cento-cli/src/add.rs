//! `cento add` reads files and records into an index or a service.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::create::{ConfigArgs, Signatures, stores_text};
use super::extract::{ReaderArgs, extraction, tables};
use super::grouping::GroupingArgs;
use super::left_out::FilterArgs;
use super::memory;
use super::output::{self, Format};
use super::parse::{parse_bytes, parse_encoding, parse_threads};
use super::progress::{AddProgress, NotRead, metered, stop_flag, summary};
use super::send::{SendOptions, send};
use super::target::{Target, TargetArgs};
use super::terminal::{note, tell};
use super::unwritten::remove_if_empty;
use super::wait::WaitArgs;
use super::{VerbFailure, VerbOutcome};
use cento::Error;
use cento::Stop;
use cento::index::{Index, Preset};
use cento::text::code::language_in;
use cento_client::Client;
use cento_source::{
    self, AddOptions, AddReport, Html, MetaFields, NO_FIELD, SourceOptions, check_there,
};

/// Add documents to an index, and replace documents with the same id.
///
/// If your index does not exist, cento creates it. With --url, cento sends your documents to a
/// service.
///
/// A file of JSON objects (one per line, in an array, or in an array that is a member of an object)
/// or a table (.csv, .tsv) has one document per record. Any other file is one document with its
/// path as id: text, HTML, and, if your build has these features, docx, doc, odt, rtf, pdf, epub,
/// pptx and odp. Files can be compressed (.gz, .zst, .bz2, .xz) and packed in .tar and .zip
/// archives. cento leaves a document unchanged if the index already has it with the same text and
/// meta, so you can repeat an interrupted run.
///
/// A record with an id and a meta object and no other field changes the meta object of the stored
/// document and keeps its text: cento sets the members of the record, and removes members with the
/// value null.
///
/// If cento cannot read a file or record, it tells you which one and why. The exit status is 3 if a
/// record or file was rejected, and 2 if nothing was added. An id that cento made from a file name
/// never replaces a document that came from somewhere else.
#[derive(Debug, Args)]
pub struct Add {
    #[command(flatten)]
    target: TargetArgs,
    /// Files or folders to add, or - for standard input.
    #[arg(value_name = "PATH", required_unless_present = "url")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    grouping: GroupingArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    config: NewConfigArgs,
    /// Memory for documents that are being added. Default: 512MiB, or less in a
    /// container or machine with less than 2.2 GiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<usize>,
    /// Number of threads that read and fingerprint. Default: the number of processors.
    #[arg(long, value_name = "N", value_parser = parse_threads, conflicts_with = "url")]
    threads: Option<usize>,
    /// Commit after every N documents, not only at the end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    commit_every: Option<u64>,
    /// Stop at the first record that is not a document, or file that cannot be read. The exit
    /// status is 3 if cento skipped files because they are not text.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    wait: WaitArgs,
    /// Also replace documents with the same id that came from another place. You need this only for
    /// ids that cento made from file names.
    #[arg(long)]
    replace: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// Options for reading documents.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// JSON field or column with the id. NONE numbers the records.
    #[arg(long, value_name = "FIELD", default_value = "id")]
    id_field: String,
    /// JSON field or column with the text: a string, a list of strings, the messages of a chat, or
    /// a path such as `doc.pages[].text` or `messages.user`. If you repeat the option, cento joins
    /// the texts. A record may then lack some of the fields.
    #[arg(long, value_name = "FIELD", default_value = "text")]
    text_field: Vec<String>,
    /// JSON field or column to keep in the meta object, so that you can filter by it. cento keeps
    /// all members of an object, and any other value under the name of its field. NONE keeps no
    /// field. Can be repeated. Default: the members of `meta`, and all other fields that fit.
    #[arg(long, value_name = "FIELD")]
    meta_field: Vec<String>,
    /// Encoding of text files. Default: detected for each file.
    #[arg(long, value_name = "NAME", value_parser = parse_encoding)]
    encoding: Option<String>,
    /// Maximum length of a line or file. cento rejects longer ones. Default: 64MiB, but with `add`
    /// and `dedup` at most an eighth of --memory.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    max_record_bytes: Option<usize>,
    /// Also read hidden files in folders and archives.
    #[arg(long)]
    all: bool,
    /// Skip files that .gitignore and .ignore files in the folders exclude.
    #[arg(long)]
    ignore_files: bool,
    /// Follow links in folders. cento always follows a link that you name.
    #[arg(long)]
    follow_links: bool,
    /// Which part of HTML pages to read.
    #[arg(long, value_enum, default_value = "content")]
    html: HtmlArg,
    #[command(flatten)]
    readers: ReaderArgs,
}

/// The parts of HTML pages to read.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum HtmlArg {
    /// The content: the part with many words and few tags, without menus.
    Content,
    /// All visible text, menus included.
    All,
    /// The unchanged file, with its markup.
    Source,
}

impl From<HtmlArg> for Html {
    fn from(html: HtmlArg) -> Html {
        match html {
            HtmlArg::Content => Html::Content,
            HtmlArg::All => Html::All,
            HtmlArg::Source => Html::Source,
        }
    }
}

/// A record may take one part in `RECORD_SHARE` of the memory. While a record is read, signed and
/// stored, memory holds about twelve copies: in the reader's buffers, as text, and in the buffers
/// of tantivy's document store, which double and wait for the compressor. Ten documents of 20 MB
/// took 250 MiB, whatever the budget was.
const RECORD_SHARE: usize = 8;

/// The minimum limit of a record: twelve times this fits into the memory that the budget does not
/// count.
const RECORD_BYTES_MIN: usize = 1 << 20;

impl SourceArgs {
    /// Reports record fields that no document keeps. Returns whether a field of --meta-field is
    /// missing in every record, which is reported as an error.
    pub fn tell_fields(&self, source: &SourceOptions) -> bool {
        let Some(fields) = &source.field_use else { return false };
        if let Some(names) = fields.left_out() {
            let advice = match source.meta_fields {
                MetaFields::Named(_) => "--meta-field NAME keeps one",
                MetaFields::All if names == "added" => "each document gets a new time",
                MetaFields::All => "in a record too long, twice, or bytes",
            };
            note!("cento: fields not kept: {names} ({advice})");
        }
        let missing = fields.missing(&source.meta_fields);
        if let Some(missing) = &missing {
            tell!(
                "cento: {missing}. The documents were added without it: repeat the command with \
                 the right --meta-field, which replaces them"
            );
        }
        missing.is_some()
    }

    /// Returns the options for reading files without a limit from a memory budget.
    pub fn options(&self) -> SourceOptions {
        let defaults = SourceOptions::default();
        SourceOptions {
            id_field: self.id_field.clone(),
            text_field: self.text_field.clone().into(),
            meta_fields: match &self.meta_field[..] {
                [] => MetaFields::All,
                [none] if none == NO_FIELD => MetaFields::Named(Vec::new()),
                fields => MetaFields::Named(fields.to_vec()),
            },
            encoding: self.encoding.clone(),
            record_bytes_max: self.max_record_bytes.unwrap_or(defaults.record_bytes_max),
            read_hidden: self.all,
            obeys_ignore_files: self.ignore_files,
            follow_links: self.follow_links,
            keeps_records: false,
            requires_id: false,
            html: self.html.into(),
            extraction: extraction(),
            readers: self.readers.readers(),
            tables: tables(),
            // Finds misspelled fields.
            field_use: Some(Arc::default()),
            ..defaults
        }
    }

    /// Returns the options for reading records within `memory` bytes. Up to half of `memory` may go
    /// to the window of a compressed stream, if half exceeds the usual maximum.
    ///
    /// # Errors
    /// When the options request longer records than fit.
    pub fn options_within(&self, memory: usize) -> cento::Result<SourceOptions> {
        let options = self.options();
        let max = (memory / RECORD_SHARE).max(RECORD_BYTES_MIN);
        if self.max_record_bytes.is_some_and(|bytes| bytes > max) {
            let what = format!(
                "--max-record-bytes is at most an eighth of --memory, {max} bytes; give a smaller \
                 one, or more --memory"
            );
            return Err(Error::arguments(what));
        }
        let record_bytes_max = options.record_bytes_max.min(max);
        let window_bytes_max = options.window_bytes_max.max(memory / 2);
        Ok(SourceOptions { record_bytes_max, window_bytes_max, ..options })
    }
}

/// The configuration of an index that does not exist yet.
#[derive(Debug, Clone, Args)]
struct NewConfigArgs {
    /// Kind of documents in a new index. It sets the scheme, the analyzer, and the defaults for the
    /// ranking and for the minimum resemblance of near-duplicates. `cento info presets` shows what
    /// each kind sets. --scheme and --analyzer override their part.
    #[arg(id = "for", long = "for", value_name = "PURPOSE", value_enum, conflicts_with = "url")]
    preset: Option<Preset>,
    /// How a new index chooses fingerprints. Default: the scheme of --for, or winnow(k=5,w=10).
    #[arg(long, value_name = "SPEC", conflicts_with = "url")]
    scheme: Option<String>,
    /// How a new index splits text into tokens. Default: the analyzer of --for, or words.
    #[arg(long, value_name = "SPEC", conflicts_with = "url")]
    analyzer: Option<String>,
    /// Store no text in a new index.
    #[arg(long, conflicts_with = "url")]
    no_text: bool,
    /// Store the texts even in a new index with a key (--key-file). The key does not protect stored
    /// texts.
    #[arg(long, conflicts_with_all = ["url", "no_text"])]
    store_text: bool,
    /// Whether a new index stores signatures or computes them from the texts. Default: stored.
    #[arg(long, value_enum, conflicts_with = "url")]
    signatures: Option<Signatures>,
    /// Frequency table of a new index, for schemes that need one.
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    frequencies: Option<PathBuf>,
}

/// The report as JSON.
#[derive(Serialize)]
struct AddSummary<'a> {
    #[serde(flatten)]
    report: &'a AddReport,
    #[serde(flatten)]
    not_read: &'a NotRead,
}

/// Refuses an index among the paths, because the files of an index are not documents.
pub fn check_no_index(paths: &[PathBuf]) -> cento::Result<()> {
    let Some(index) = paths.iter().find(|path| Index::exists(path)) else { return Ok(()) };
    let name = index.display();
    let what = format!(
        "{name} is an index, not documents; `cento merge` combines indexes, `cento cluster {name}` \
         finds its duplicates, and `cento export {name}` writes its documents"
    );
    Err(Error::argument("paths", what))
}

impl Add {
    pub(super) fn run(mut self) -> super::Result {
        // Installed before anything is created, so that even the first Ctrl-C stops cleanly.
        let stop = stop_flag();
        let target = self.target.target(&mut self.paths)?;
        if self.paths.is_empty() {
            let what = "no input; name files or directories, or - for standard input";
            return Err(Error::argument("paths", what).into());
        }
        if let Target::Index(path) = &target
            && path.is_file()
        {
            let what = "there is no index here";
            return Err(Error::index(path, cento::Reason::NotFound, what).into());
        }
        check_there(&self.paths)?;
        check_no_index(&self.paths)?;
        // The service uses the memory of its own process.
        let memory = match &target {
            Target::Index(_) => memory::or_default(self.memory),
            Target::Service(_) => 0,
        };
        let source = match target {
            Target::Index(_) => self.source.options_within(memory)?,
            Target::Service(_) => self.source.options(),
        };
        let filter = self.grouping.without_data(self.filter.filter()?);
        let source = SourceOptions { filter, takes_meta_changes: true, ..source };
        let is_new = matches!(&target, Target::Index(path) if !Index::exists(path));
        let index = match target {
            Target::Index(path) => self.open_or_create(&path, &source)?,
            Target::Service(client) => {
                let source = match self.grouping.is_grouped() {
                    true => self.in_language(&client.stats()?.index.analyzer, source),
                    false => source,
                };
                let source = self.grouping.grouped(&self.paths, source, &stop)?;
                return self.send(&client, source, &stop);
            }
        };
        let source = self.in_language(&index.config().analyzer.to_string(), source);
        let source = self.grouping.grouped(&self.paths, source, &stop)?;
        let defaults = AddOptions::default();
        let options = AddOptions {
            threads: self.threads.unwrap_or(defaults.threads),
            memory_bytes: memory,
            commit_every: self.commit_every.map(|every| every as usize),
            strict: self.strict,
            replaces_any: self.replace,
            numbers_ids: false,
            source: metered(&self.paths, source),
        };
        let progress = AddProgress::new(self.format == Format::Json, &options.source);
        let index = index.with_lock_wait(self.wait.lock_wait(stop.clone()));
        let added = cento_source::add(&index, &self.paths, &options, &stop, &mut |event| {
            progress.tell(event);
        });
        let not_read = progress.finish();
        let added = added.map_err(Into::into);
        let outcome = added.and_then(|added| self.tell(&added, &not_read, &options.source));
        let is_refused = matches!(
            outcome,
            Ok(VerbOutcome::Bad) | Err(VerbFailure::Cento(Error::InvalidArgument { .. }))
        );
        if is_new && is_refused {
            remove_if_empty(index);
        }
        outcome
    }

    /// Leaves out files that are not in the language of this analyzer, where documents have several
    /// files.
    fn in_language(&self, analyzer: &str, source: SourceOptions) -> SourceOptions {
        let filter = match language_in(analyzer).filter(|_| self.grouping.is_grouped()) {
            Some(language) => source.filter.in_language(language, false),
            None => source.filter,
        };
        SourceOptions { filter, ..source }
    }

    fn send(&self, client: &Client, source: SourceOptions, stop: &Stop) -> super::Result {
        let options = SendOptions {
            source: metered(&self.paths, source),
            commit_every: self.commit_every,
            strict: self.strict,
            replaces_any: self.replace,
        };
        let progress = AddProgress::new(self.format == Format::Json, &options.source);
        let sent = send(client, &self.paths, &options, stop, &mut |event| progress.tell(event));
        let not_read = progress.finish();
        self.tell(&sent?, &not_read, &options.source)
    }

    fn tell(
        &self,
        report: &AddReport,
        not_read: &NotRead,
        source: &SourceOptions,
    ) -> super::Result {
        let lacks_field = self.source.tell_fields(source);
        match self.format {
            Format::Json => output::print_json(&AddSummary { report, not_read })?,
            Format::Human => {
                let seconds = report.took_us as f64 / 1e6;
                note!("{}{}", summary(report), output::taken(report.bytes, seconds));
            }
        }
        let landed = report.added + report.replaced + report.unchanged;
        let has_nothing = landed == 0 && report.skipped > 0;
        if has_nothing && report.failed == 0 {
            not_read.tell_first();
        }
        Ok(match () {
            () if has_nothing || lacks_field => VerbOutcome::Bad,
            () if report.failed > 0 && landed == 0 => VerbOutcome::Bad,
            () if report.failed > 0 => VerbOutcome::Incomplete,
            () if self.strict && report.skipped > report.skipped_by_name => VerbOutcome::Incomplete,
            () => VerbOutcome::Found,
        })
    }

    fn open_or_create(&self, path: &Path, source: &SourceOptions) -> cento::Result<Index> {
        let NewConfigArgs {
            preset,
            scheme,
            analyzer,
            no_text,
            store_text,
            signatures,
            frequencies,
        } = self.config.clone();
        let config = ConfigArgs { preset, scheme, analyzer, frequencies };
        // A submission may have a README.
        let config = match self.grouping.is_grouped() && config.analyzer_is_given() {
            true => config.with_commonest(&self.paths, source)?,
            false => config,
        };
        if !Index::exists(path) {
            let store_text = stores_text(no_text, store_text);
            let config = config.config_of(store_text, &self.paths, source)?;
            return Index::create(path, signatures.unwrap_or(Signatures::Stored).of(config)?);
        }
        config.opened(path, no_text, signatures, &self.paths, source)
    }
}
