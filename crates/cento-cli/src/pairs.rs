//! `cento pairs`

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::handout::{self, HandoutArgs};
use super::join::JoinArgs;
use super::outfile::{OutFile, check_lines, is_taken, listed, path_name, promises_json};
use super::output::{self, Format, ListEnd, NotCompared, counted, named, similarity};
use super::pairs_report::{joined_across, report_bytes_max, tell_cut};
use super::pause::Pause;
use super::progress::{Progress, stop_flag};
use super::terminal::{self, line, tell};
use super::values::parse_margin;
use super::whole;
use super::{Failure, Outcome, Result};
use cento::Error;
use cento::hash::hash_fields;
use cento::index::Snapshot;
use cento::join::Thresholds;
use cento::join::pairs::{self, BestPairs, JoinSummary, PairOptions, PairReport};
use cento::join::pairwise::nothing_left;
use cento::join::series::Scope;
use cento::replace;
use cento::search::{Rank, Searcher};
use cento::stop::Stop;
use cento_report::{IndexState, Joined, PairsReport, Run};

/// Find all pairs of documents that share text.
///
/// Compares every document of the index with all others, or with those of another index. Writes
/// pairs as they are found, in the order in which the index stores the documents. Without a
/// threshold of any kind, shows pairs of which one document contains a tenth of the other. Exact copies are
/// found whatever --max-df ignores; those that have no other fingerprints are paired with the first of them only. Where fingerprints are
/// weighted by rarity, this is rarity in the index, with --against in that other index.
#[derive(Debug, Args)]
pub struct Pairs {
    /// Directory of the index; several are taken as one, if they have the same scheme and analyzer.
    #[arg(value_name = "INDEX", required = true)]
    indexes: Vec<PathBuf>,
    /// Only pairs of a document of INDEX and one of this other index, which must have the same
    /// scheme and analyzer.
    #[arg(long, value_name = "INDEX", conflicts_with = "boilerplate")]
    against: Option<PathBuf>,
    #[command(flatten)]
    thresholds: Thresholds,
    /// Only pairs of documents with the same value of this field of `meta`.
    #[arg(long, value_name = "FIELD", conflicts_with = "across")]
    within: Option<String>,
    /// Only pairs of documents with different values of this field of `meta`.
    #[arg(long, value_name = "FIELD")]
    across: Option<String>,
    /// Show the margin of each pair: its resemblance less that of the sixth best other neighbour of
    /// either document, whichever is greater. It tells copies from the usual solutions of a task.
    #[arg(long)]
    relative: bool,
    /// Minimum margin of a pair, -1 to 1; implies --relative.
    #[arg(long, value_name = "X", value_parser = parse_margin, allow_negative_numbers = true)]
    min_margin: Option<f64>,
    /// Show the passages that both documents share.
    #[arg(long)]
    passages: bool,
    /// Only pairs with a passage of at least this many words; shorter passages are not shown. Fewer than 12
    /// words are a passage only if they are all of a text.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    min_passage: Option<u32>,
    /// Show the best pairs first. All are found before the first is shown, and held in memory unless
    /// --limit is given. Default with --report: overlap.
    #[arg(long, value_enum, conflicts_with = "out")]
    rank: Option<RankArg>,
    /// Maximum number of pairs to show, the best ones. Default: all; 200 with --report.
    #[arg(long, short = 'n', value_name = "N", requires = "rank")]
    limit: Option<usize>,
    #[command(flatten)]
    join: JoinArgs,
    #[command(flatten)]
    handout: HandoutArgs,
    /// Leave out names in the report: documents have numbers, by the similarity of their pairs.
    #[arg(long, requires = "handouts")]
    anonymous: bool,
    /// Write to this file instead of standard output, so that an interrupted run can be resumed; compressed
    /// if its name ends in .gz or .zst.
    #[arg(long, value_name = "FILE", conflicts_with = "handouts")]
    out: Option<PathBuf>,
    /// Resume the interrupted run that wrote to --out; use the same index and options.
    #[arg(long, requires = "out")]
    resume: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// The order of pairs.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum RankArg {
    /// By the number of fingerprints in common.
    Overlap,
    /// By weighted resemblance, in which rare fingerprints count for more.
    Weight,
    /// By the tokens in passages in common; takes about a millisecond per pair.
    Passages,
}

impl From<RankArg> for Rank {
    fn from(rank: RankArg) -> Rank {
        match rank {
            RankArg::Overlap => Rank::Overlap,
            RankArg::Weight => Rank::Weight,
            RankArg::Passages => Rank::Passages,
        }
    }
}

/// How far a run has come; beside its output until it ends.
#[derive(Debug, Serialize, Deserialize)]
struct Checkpoint {
    /// Of the index, or both, and of all options that decide what is written.
    run: u64,
    /// The document that comes next.
    next: u64,
    /// The length of the output up to there.
    bytes: u64,
    /// The pairs in it.
    pairs: u64,
}

/// The pairs of a report, unless --limit says otherwise.
const REPORT_PAIRS: usize = 200;

/// A checkpoint is made about as often.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);

impl Pairs {
    pub(super) fn run(self) -> Result {
        self.check_name()?;
        let stop = stop_flag();
        let searcher = self.join.searcher_of_all(&self.indexes)?;
        let against = self.against.as_deref().map(|path| self.join.searcher(path)).transpose()?;
        let options = PairOptions {
            thresholds: self.thresholds(),
            scope: match (&self.within, &self.across) {
                (Some(field), _) => Scope::Within(field.clone()),
                (_, Some(field)) => Scope::Across(field.clone()),
                _ => Scope::Everywhere,
            },
            max_df: self.join.max_df,
            relative: self.relative,
            margin_min: self.min_margin,
            weighted: false,
            passages: self.passages || self.handout.is_asked(),
            min_passage: self.min_passage,
            threads: self.join.threads(),
        };
        // A report begins with the best pairs.
        let rank = self.rank.or(self.handout.is_asked().then_some(RankArg::Overlap));
        if let Some(rank) = rank {
            return self.run_ranked(rank, &searcher, against.as_ref(), &options, &stop);
        }
        let (a, b) = (searcher.snapshot(), against.as_ref().unwrap_or(&searcher).snapshot());
        let run = self.identify(a, b, &options);
        let mut out = Output::open(self.out.as_deref(), self.resume, run)?;
        let end = pairs::document_count(&searcher);
        let progress = Progress::new(end, "documents");
        let mut failure: io::Result<()> = Ok(());
        let from = out.checkpoint.next;
        let mut pause = Pause::at("document");
        let found =
            pairs::pairs(&searcher, against.as_ref(), &options, from, &stop, &mut |next, pairs| {
                // All of a document or nothing: a checkpoint is made between documents.
                let reports = pairs.into_iter().map(|pair| pair.report(a, b));
                let reports = reports.collect::<cento::Result<Vec<_>>>()?;
                out.checkpoint.pairs += reports.len() as u64;
                let write = |pair: &PairReport| write_pair(&mut out.out, pair, self.format);
                failure = reports.iter().try_for_each(write);
                if failure.is_err() {
                    return Err(Error::Cancelled);
                }
                out.checkpoint.next = next;
                progress.set(next);
                out.save_sometimes()?;
                pause.reached();
                Ok(())
            });
        progress.finish();
        failure.map_err(|e| out.failure(e))?;
        let summary = match found {
            Ok(summary) => summary,
            Err(error) => {
                out.save()?;
                if matches!(error, Error::Cancelled) && self.out.is_some() {
                    tell!("cento: repeat the command with --resume to continue from here");
                }
                return Err(error.into());
            }
        };
        let pairs = out.finish()?;
        self.tell_without_field(summary);
        self.join.tell_stopped(against.as_ref().unwrap_or(&searcher), &stop)?;
        if self.format == Format::Human {
            tell!("{} of {}", counted(pairs, "pair"), counted(a.documents(), "document"));
        }
        Ok(if pairs > 0 { Outcome::Found } else { Outcome::Nothing })
    }

    /// The documents of an index, named if it is another one, that are in no pair because nothing of them
    /// can be compared.
    fn nothing_left(
        searcher: &Searcher,
        place: Option<&Path>,
        stop: &AtomicBool,
    ) -> cento::Result<Vec<NotCompared>> {
        let analyzer = &searcher.snapshot().config().analyzer;
        let left = nothing_left(searcher, Stop::on(stop))?.into_iter();
        let named = left.map(|left| {
            let mut named = NotCompared::nothing_left(left, analyzer);
            if let Some(place) = place {
                named.name = output::named(&named.name, Some(&place.display().to_string()));
            }
            named
        });
        Ok(named.collect())
    }

    /// Says how many documents do not have the field that decides.
    fn tell_without_field(&self, summary: JoinSummary) {
        let field = self.within.as_ref().or(self.across.as_ref());
        if let (Some(field), 1..) = (field, summary.documents_without_field) {
            let without = counted(summary.documents_without_field, "document");
            let pairs = match self.within {
                Some(_) => "in no pair",
                None => "of no series, and in pairs with all others",
            };
            tell!("cento: {without} without the field `{field}`: {pairs}");
        }
    }

    /// Refuses an output whose name promises another form than is written.
    fn check_name(&self) -> cento::Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        check_lines(out, "lines")?;
        if self.format == Format::Human && promises_json(out) {
            let what = "its name promises JSON lines; add --format json";
            return Err(Error::input(out.display().to_string(), what));
        }
        Ok(())
    }

    /// Shows the best pairs first.
    fn run_ranked(
        &self,
        rank: RankArg,
        searcher: &Searcher,
        against: Option<&Searcher>,
        options: &PairOptions,
        stop: &AtomicBool,
    ) -> Result {
        let (a, b) = (searcher.snapshot(), against.unwrap_or(searcher).snapshot());
        let limit = if self.handout.is_asked() { REPORT_PAIRS } else { usize::MAX };
        let best = (rank.into(), self.limit.unwrap_or(limit));
        let progress = Progress::new(pairs::document_count(searcher), "documents");
        let mut set = |next| progress.set(next);
        let found = pairs::best_pairs(searcher, against, options, best, stop, &mut set);
        progress.finish();
        let BestPairs { pairs, total, summary, .. } = found?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        let reports = pairs.into_iter().map(|pair| pair.report(a, b));
        let reports = reports.collect::<cento::Result<Vec<_>>>()?;
        for pair in &reports {
            write_pair(&mut out, pair, self.format)?;
        }
        let end = ListEnd::new(reports.len(), total, &[]);
        if self.format == Format::Json {
            end.write(&mut out)?;
        }
        out.flush()?;
        if self.handout.is_asked() {
            let found = Joined {
                total,
                documents_without_field: summary.documents_without_field,
                ..Joined::default()
            };
            let mut not_compared = Pairs::nothing_left(searcher, None, stop)?;
            if let Some(other) = against {
                not_compared.extend(Pairs::nothing_left(other, self.against.as_deref(), stop)?);
            }
            let found = Joined { not_compared, ..found };
            self.report(rank, reports, found, searcher, against)?;
        }
        self.tell_without_field(summary);
        self.join.tell_stopped(against.unwrap_or(searcher), stop)?;
        if self.format == Format::Human {
            tell!("{} of {}", counted(total, "pair"), counted(a.documents(), "document"));
        }
        if let Some(said) = end.said("pairs", "--limit") {
            tell!("{said}");
        }
        Ok(if total > 0 { Outcome::Found } else { Outcome::Nothing })
    }

    /// Writes the report.
    fn report(
        &self,
        rank: RankArg,
        pairs: Vec<PairReport>,
        found: Joined,
        searcher: &Searcher,
        against: Option<&Searcher>,
    ) -> cento::Result<()> {
        let snapshot = searcher.snapshot();
        let index = IndexState {
            place: handout::listed(&self.indexes),
            generation: Some(snapshot.generation().to_string()),
            documents: snapshot.documents(),
        };
        let rank = rank.to_possible_value().map_or(String::new(), |rank| rank.get_name().into());
        let run =
            Run { index: Some(index), ..self.handout.run("pairs", &snapshot.config().analyzer)? }
                .with("rank", &rank);
        let mut run = run.with_options(&self.thresholds());
        for (name, value) in [
            ("against", self.against.as_ref().map(|path| path.display().to_string())),
            ("within", self.within.clone()),
            ("across", self.across.clone()),
            ("max-df", self.join.max_df.map(|limit| limit.to_string())),
            ("min-margin", self.min_margin.map(|margin| margin.to_string())),
            ("min-passage", self.min_passage.map(|tokens| tokens.to_string())),
            ("limit", Some(self.limit.unwrap_or(REPORT_PAIRS).to_string())),
            (
                "boilerplate",
                Some(handout::listed(&self.join.boilerplate)).filter(|paths| !paths.is_empty()),
            ),
        ] {
            run = value.into_iter().fold(run, |run, value| run.with(name, value));
        }
        let all = pairs.len();
        let pairs = pairs.into_iter().map(|pair| {
            let resemblance = pair.similarity.resemblance;
            (pair, resemblance)
        });
        let joined = match (against, &self.against) {
            (Some(other), Some(path)) => {
                let place = path.display().to_string();
                joined_across(pairs.collect(), searcher, (other, &place), report_bytes_max())?
            }
            _ => Joined::read(pairs.collect(), searcher, None, report_bytes_max())?,
        };
        tell_cut(joined.pairs.len(), all);
        let of_other = against.map_or(0, |other| other.snapshot().documents());
        let joined = Joined {
            compared: snapshot.documents() + of_other - found.not_compared.len() as u64,
            not_compared: found.not_compared,
            total: found.total,
            documents_without_field: found.documents_without_field,
            limit_option: "--limit",
            measure: format!(
                "resemblance, the share of the runs of words of both that both have; by {rank}"
            ),
            ..joined
        };
        self.handout.write_pairs(&PairsReport::new(run, joined, self.anonymous))
    }

    fn thresholds(&self) -> Thresholds {
        // A default holds only where the user has set no threshold of any kind.
        let is_set = self.min_passage.is_some() || self.min_margin.is_some();
        let default = if is_set { Thresholds::default() } else { Thresholds::of_pairs() };
        self.thresholds.or(default)
    }

    /// A number for what will be written: that of another index or with other options differs.
    fn identify(&self, a: &Snapshot, b: &Snapshot, options: &PairOptions) -> u64 {
        // Threads change nothing; boilerplate is taken by its name. What is ranked is written nowhere
        // else.
        let PairOptions {
            thresholds,
            scope,
            max_df,
            passages,
            min_passage,
            relative,
            margin_min,
            weighted,
            threads: _,
        } = options;
        let scope = match scope {
            Scope::Everywhere => String::new(),
            Scope::Within(field) => format!("within {field}"),
            Scope::Across(field) => format!("across {field}"),
        };
        let format = match self.format {
            Format::Human => "human",
            Format::Json => "json",
        };
        hash_fields(&BTreeMap::from([
            ("a", a.generation().to_string()),
            ("b", b.generation().to_string()),
            // Of an index and itself, each pair is written from both sides.
            ("against", self.against.is_some().to_string()),
            ("thresholds", serde_json::to_string(thresholds).expect("they are numbers")),
            ("weighted", weighted.to_string()),
            ("scope", scope),
            ("max_df", listed(*max_df)),
            ("passages", passages.to_string()),
            ("relative", relative.to_string()),
            ("margin", listed(*margin_min)),
            ("min_passage", listed(*min_passage)),
            ("format", format.to_owned()),
            ("boilerplate", listed(self.join.boilerplate.iter().map(|path| path_name(path)))),
        ]))
    }
}

/// More than any checkpoint has.
const CHECKPOINT_BYTES_MAX: usize = 64 << 10;

/// Where pairs go.
struct Output {
    out: OutFile,
    /// The file of the checkpoint; none for standard output.
    beside: Option<PathBuf>,
    checkpoint: Checkpoint,
    saved: Instant,
}

impl Output {
    fn open(path: Option<&Path>, resumes: bool, run: u64) -> Result<Output> {
        let mut checkpoint = Checkpoint { run, next: 0, bytes: 0, pairs: 0 };
        let saved = Instant::now();
        let Some(path) = path else {
            return Ok(Output { out: OutFile::stdout(), beside: None, checkpoint, saved });
        };
        let beside = beside(path, "checkpoint");
        // Of a run that was cut off before its first checkpoint there is at most an empty file.
        let is_begun = beside.exists() || is_taken(path);
        let out = if resumes && is_begun {
            let json = whole::read(&beside, CHECKPOINT_BYTES_MAX)?;
            let found: Option<Checkpoint> = serde_json::from_slice(&json).ok();
            checkpoint = found.filter(|found| found.run == run).ok_or_else(|| {
                let what = "the checkpoint belongs to a run with other options, or to another state of \
                            the index; remove it and the output, and start again without --resume";
                Error::input(beside.display().to_string(), what)
            })?;
            OutFile::resume(path, checkpoint.bytes)?
        } else {
            if beside.exists() {
                let what = "an interrupted run wrote here; continue it with --resume, or remove this \
                            file and the output to start again";
                return Err(Error::input(beside.display().to_string(), what).into());
            }
            match path.exists() && !is_taken(path) {
                true => OutFile::resume(path, 0)?,
                false => OutFile::create(path)?,
            }
        };
        let mut output = Output { out, beside: Some(beside), checkpoint, saved };
        output.save()?;
        Ok(output)
    }

    fn save_sometimes(&mut self) -> cento::Result<()> {
        if self.saved.elapsed() < CHECKPOINT_INTERVAL {
            return Ok(());
        }
        self.save()
    }

    /// Makes what has been written durable, and then the note of it.
    fn save(&mut self) -> cento::Result<()> {
        self.saved = Instant::now();
        let Some(beside) = &self.beside else { return Ok(()) };
        self.checkpoint.bytes = self.out.sync().map_err(|e| self.out.failed(e))?;
        let json = serde_json::to_string(&self.checkpoint).expect("numbers are JSON");
        replace::file(beside, json.as_bytes()).map_err(|e| Error::io("write", beside, e))
    }

    /// A failure to write, which names the file if there is one.
    fn failure(&self, error: io::Error) -> Failure {
        match self.out.is_file() {
            true => self.out.failed(error).into(),
            false => error.into(),
        }
    }

    /// The number of pairs; the checkpoint goes.
    fn finish(mut self) -> Result<u64> {
        self.out.finish().map_err(|e| self.failure(e))?;
        if let Some(beside) = &self.beside {
            std::fs::remove_file(beside).map_err(|e| Error::io("remove", beside, e))?;
        }
        Ok(self.checkpoint.pairs)
    }
}

/// The file beside `path` with this extension after its own.
fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

/// Writes a pair.
fn write_pair(out: &mut impl Write, pair: &PairReport, format: Format) -> io::Result<()> {
    if format == Format::Json {
        return writeln!(out, "{}", terminal::json(pair)?);
    }
    let category = pair.category.map_or("--".into(), |category| format!("{category:?}"));
    let share = |share| output::share(share, pair.similarity.exact);
    let margin = pair.margin.map_or(String::new(), |margin| format!("{margin:+.3} "));
    line!(
        out,
        "{margin}{} {} {} {:>6} {category}  {}  {}",
        share(pair.similarity.containment_of_a),
        share(pair.similarity.containment_of_b),
        share(pair.similarity.resemblance),
        pair.overlap,
        named(&pair.a, pair.index_a.as_deref()),
        named(&pair.b, pair.index_b.as_deref())
    )?;
    if let Some(weighted) = &pair.weighted {
        line!(
            out,
            "{} {} {} weighted",
            similarity(weighted.containment_of_a),
            similarity(weighted.containment_of_b),
            similarity(weighted.resemblance)
        )?;
    }
    if let Some(tokens) = pair.passage_tokens {
        line!(out, "    {} in passages", counted(tokens.into(), "token"))?;
    }
    write_passages(out, pair)
}

/// Writes the passages of a pair, if they were asked for.
pub(super) fn write_passages(out: &mut impl Write, pair: &PairReport) -> io::Result<()> {
    for passage in pair.passages.iter().flatten() {
        line!(
            out,
            "    bytes {}..{} of the one{} are {}..{} of the other{}: {}, similarity {}",
            passage.a.0,
            passage.a.1,
            output::place(passage.a_page, passage.a_line),
            passage.b.0,
            passage.b.1,
            output::place(passage.b_page, passage.b_line),
            output::tokens_of(passage.tokens, passage.matched),
            similarity(passage.similarity)
        )?;
    }
    if pair.passages_complete == Some(false) {
        line!(out, "    {}", output::MORE_PASSAGES)?;
    }
    Ok(())
}
