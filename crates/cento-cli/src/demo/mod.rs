//! `cento demo` shows what cento finds in files of the user.

mod files;
mod next;

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, FromArgMatches};

use self::files::{Files, is_mostly_programs, is_program, package, repository, shown};
use self::next::Next;
use super::memory;
use super::output::{bytes, count, counted};
use super::parse::parse_bytes;
use super::progress::{AddProgress, metered, stop_flag};
use super::side_by_side::SideBySide;
use super::terminal::{line, tell};
use super::{Cento, Result, VerbOutcome};
use cento::index::{Config, Index};
use cento::scheme::DEFAULT_SPEC;
use cento::search::{Query, Searcher};
use cento::{Error, Passage};
use cento_report::{
    Counting, IndexState, MeasuredDocument, Place, ReuseReport, ReuseSource, Run, percent,
};
use cento_source::{AddOptions, SourceOptions, check_there};

/// Compare all files in a folder with each other, and write a report.
///
/// This is `cento pairs FOLDER --report FILE` in one short command. If most of the files are source
/// code, cento adds --for code. At the end it tells you where the report is. With --against, cento
/// also compares your files with earlier ones, but not the earlier ones with each other.
///
/// Without a folder, cento compares the sources that Cargo has downloaded, and shows you which
/// packages share text or code. It skips files that every project repeats: licenses, manifests,
/// changelogs and generated files. It uses no network. The index is temporary, and the report
/// stays.
#[derive(Debug, Args)]
pub struct Demo {
    /// Folder, file or archive to compare.
    dir: Option<PathBuf>,
    /// Also compare your files with these earlier ones: a folder, a file, an archive or an index.
    #[arg(long, value_name = "INDEX|PATH", requires = "dir")]
    against: Option<PathBuf>,
    /// Use at most this much text of the sources that Cargo has downloaded.
    #[arg(
        long, value_name = "SIZE", default_value = "64MiB", value_parser = parse_bytes,
        conflicts_with = "dir"
    )]
    bytes: usize,
    /// Open the report with the default program of your system.
    #[arg(long)]
    open: bool,
}

/// Documents whose near-duplicates are looked for.
const SAMPLE_DOCUMENTS: usize = 3000;

const PAIRS_SHOWN: usize = 6;

/// Minimum number of fingerprints that a pair shares: about fifty words.
const OVERLAP_MIN: u32 = 8;

/// Range of lengths, in tokens, of the passage to show with its changes.
const EDITED_TOKENS: Range<u32> = 30..120;

/// Length in words of the passage to search for.
const PASSAGE_WORDS: usize = 60;

impl Demo {
    pub(super) fn run(self) -> Result {
        if let Some(dir) = &self.dir {
            return self.run_pairs(dir);
        }
        let Some(root) = cargo_sources() else {
            tell!(
                "cento: Cargo has not downloaded any sources on this machine; name a folder with \
                 text, as in `cento demo ~/Documents`"
            );
            return Ok(VerbOutcome::Bad);
        };
        // The commands at the end are for any directory.
        let root = std::path::absolute(&root).map_err(|e| Error::io("find", &root, e))?;
        let mut out = io::stdout().lock();
        let files = Files::below(&root, self.bytes as u64);
        if files.paths.is_empty() {
            let what = "there is no text and no program in it, by the names and sizes of its files";
            return Err(Error::input(root.display().to_string(), what).into());
        }
        line!(
            out,
            "Reading {} below {}",
            counted(files.paths.len() as u64, "file"),
            root.display()
        )?;
        if files.repeated > 0 {
            line!(
                out,
                "Skipping {} that every project repeats: licenses, changelogs, generated files",
                counted(files.repeated, "file")
            )?;
        }
        let temporary = tempfile::tempdir().map_err(|e| Error::io("create", "a directory", e))?;
        let searcher = index(&temporary.path().join("index"), &files.paths, &mut out)?;
        let pairs = striking_pairs(&searcher, &root, &mut out)?;
        if pairs.is_empty() {
            line!(out, "No two of them are near-duplicates.")?;
            return Ok(VerbOutcome::Nothing);
        }
        let compared = compare(&searcher, pairs)?;
        show_pairs(&compared, &root, &mut out)?;
        show_edited_passage(&compared, &root, &mut out)?;
        search_passage(&searcher, &compared[0], &root, &mut out)?;
        let next = Next::new(&compared[0].pair, &root);
        let report = write_report(&searcher, compared, &root)?;
        line!(out)?;
        line!(out, "Report, with these passages side by side: {}", report.display())?;
        next.write(&mut out)?;
        self.open(&report)?;
        Ok(VerbOutcome::Found)
    }

    /// Compares the files below `dir` by running `cento pairs`.
    fn run_pairs(&self, dir: &Path) -> Result {
        check_there([&dir.to_owned()])?;
        let report = new_report(b"")?;
        let mut line: Vec<OsString> = vec!["cento".into(), "pairs".into()];
        line.extend(["--report".into(), report.clone().into()]);
        if is_mostly_programs(dir) && !Index::exists(dir) {
            line.extend(["--for", "code"].map(OsString::from));
        }
        if let Some(against) = &self.against {
            line.extend(["--against".into(), against.into()]);
        }
        line.extend(["--".into(), dir.into()]);
        let matches = crate::command().try_get_matches_from(line).expect("it is a command line");
        let pairs = Cento::from_arg_matches(&matches).expect("it was parsed").verb.run();
        if pairs.is_err() || report.metadata().is_ok_and(|file| file.len() == 0) {
            let _ = std::fs::remove_file(&report);
            return pairs;
        }
        let mut out = io::stdout().lock();
        line!(out)?;
        line!(out, "Report, with the passages side by side: {}", report.display())?;
        drop(out);
        self.open(&report)?;
        pairs
    }

    fn open(&self, report: &Path) -> Result<()> {
        if self.open {
            let failed = |error| Error::io("open", report, io::Error::other(error));
            opener::open(report).map_err(failed)?;
        }
        Ok(())
    }
}

/// Returns the directory with the sources downloaded by Cargo, if any.
fn cargo_sources() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"))?;
        Some(Path::new(&home).join(".cargo"))
    })?;
    let sources = home.join("registry").join("src");
    let has_entries = sources.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    has_entries.then_some(sources)
}

fn index(place: &Path, files: &[PathBuf], out: &mut impl Write) -> Result<Searcher> {
    let index = Index::create(place, Config::new(DEFAULT_SPEC, "words", true)?)?;
    let memory_bytes = memory::default_bytes();
    let source = metered(files, SourceOptions::default());
    let progress = AddProgress::quiet(&source);
    let options = AddOptions { memory_bytes, source, ..AddOptions::default() };
    let report = cento_source::add(&index, files, &options, &stop_flag(), &mut |event| {
        progress.tell(event);
    });
    progress.finish();
    let report = report?;
    let snapshot = index.snapshot()?;
    let stats = snapshot.stats()?;
    line!(
        out,
        "Indexed {}, {} of text, in {:.1} s of wall time{}",
        counted(stats.documents, "document"),
        bytes(report.bytes),
        report.took_us as f64 / 1e6,
        if cfg!(debug_assertions) {
            " (debug build: many times slower than a release build)"
        } else {
            ""
        },
    )?;
    line!(
        out,
        "The index has {} of fingerprints, and {} of compressed texts",
        bytes(stats.bytes.signatures),
        bytes(stats.bytes.text),
    )?;
    Ok(Searcher::new(snapshot))
}

/// Two files of different packages.
struct PackagePair {
    a: String,
    b: String,
    /// The number of shared runs of words. `resemblance` is the share.
    overlap: u32,
    resemblance: f64,
}

/// A pair with the texts and the shared passages.
struct ComparedPair {
    pair: PackagePair,
    a: String,
    b: String,
    passages: Vec<Passage>,
}

/// Returns the pairs with the largest overlap, at most one per two directories. Skips identical
/// files, and files from the same package or repository, which are expected to be similar.
fn striking_pairs(
    searcher: &Searcher,
    root: &Path,
    out: &mut impl Write,
) -> Result<Vec<PackagePair>> {
    let begun = Instant::now();
    let documents = searcher.snapshot().documents();
    let step = (documents as usize).div_ceil(SAMPLE_DOCUMENTS).max(1);
    let mut repositories = HashMap::new();
    let mut repository_of = |id: &str| -> Option<String> {
        let package = package(&shown(Path::new(id), root));
        repositories.entry(package).or_insert_with(|| repository(Path::new(id), root)).clone()
    };
    let (mut searches, mut pairs) = (0, Vec::new());
    let mut related: HashMap<String, Vec<String>> = HashMap::new();
    for address in searcher.snapshot().live().step_by(step) {
        searches += 1;
        let id = searcher.snapshot().id(address)?;
        let query = Query::id(&id).min_resemblance(0.2).min_overlap(OVERLAP_MIN);
        for hit in searcher.search(&query)?.hits {
            let resemblance = hit.similarity.resemblance;
            related.entry(id.clone()).or_default().push(hit.id.clone());
            let packages = [&id, &hit.id].map(|id| package(&shown(Path::new(id), root)));
            let is_expected = packages[0] == packages[1] || {
                let repository = repository_of(&id);
                repository.is_some() && repository == repository_of(&hit.id)
            };
            if resemblance < 0.98 && !is_expected {
                pairs.push(PackagePair {
                    a: id.clone(),
                    b: hit.id,
                    overlap: hit.overlap,
                    resemblance,
                });
            }
        }
    }
    line!(
        out,
        "Searched for {} of the {} in {:.1} s of wall time",
        count(searches),
        counted(documents, "document"),
        begun.elapsed().as_secs_f64()
    )?;
    pairs.sort_by(|a, b| b.overlap.cmp(&a.overlap).then_with(|| (&a.a, &a.b).cmp(&(&b.a, &b.b))));
    let (mut seen, mut copies) = (HashSet::new(), HashSet::new());
    pairs.retain(|pair| {
        let ids = [&pair.a, &pair.b];
        let mut packages = ids.map(|id| package(&shown(Path::new(id), root)));
        packages.sort();
        // Shows a package or file only once, because copies of a single file would fill the table.
        let is_new = packages.iter().all(|package| !seen.contains(package))
            && ids.iter().all(|id| !copies.contains(id.as_str()));
        if is_new {
            seen.extend(packages);
            let related = ids.into_iter().filter_map(|id| related.get(id)).flatten();
            copies.extend(related.map(String::as_str));
        }
        is_new
    });
    pairs.truncate(PAIRS_SHOWN);
    Ok(pairs)
}

fn show_pairs(compared: &[ComparedPair], root: &Path, out: &mut impl Write) -> Result<()> {
    line!(out)?;
    line!(out, "Files of different packages that share most text, and are not identical:")?;
    line!(out)?;
    line!(out, "  text in common")?;
    for ComparedPair { pair, .. } in compared {
        let [a, b] = [&pair.a, &pair.b].map(|id| shown(Path::new(id), root));
        line!(out, "  {:>14}  {a}", percent(pair.resemblance))?;
        line!(out, "  {:14}  {b}", "")?;
    }
    line!(out)?;
    line!(
        out,
        "  Text in common: runs of words that both files have, as a share of the runs of both."
    )?;
    Ok(())
}

/// Compares the texts of pairs, and puts the most similar pair first.
fn compare(searcher: &Searcher, pairs: Vec<PackagePair>) -> Result<Vec<ComparedPair>> {
    let text = |id: &str| -> cento::Result<String> {
        let address = searcher.snapshot().find(id)?;
        let document = address.map(|address| searcher.snapshot().document(address)).transpose()?;
        Ok(document.and_then(|document| document.text).unwrap_or_default())
    };
    let config = searcher.snapshot().config();
    let compared = pairs.into_iter().map(|pair| {
        let (a, b) = (text(&pair.a)?, text(&pair.b)?);
        let found = cento::compare(&config.scheme, &config.analyzer, &a, &b)?;
        // The search only estimated the resemblance, so this replaces the estimate.
        let pair = PackagePair { resemblance: found.similarity.resemblance, ..pair };
        Ok(ComparedPair { pair, a, b, passages: found.passages })
    });
    let mut compared = compared.collect::<Result<Vec<ComparedPair>>>()?;
    compared.sort_by(|a, b| b.pair.resemblance.total_cmp(&a.pair.resemblance));
    Ok(compared)
}

/// Shows the changes in a shared passage of a pair.
fn show_edited_passage(compared: &[ComparedPair], root: &Path, out: &mut impl Write) -> Result<()> {
    let edited = compared.iter().find_map(|compared| {
        let passages = compared.passages.iter();
        let edited = passages.filter(|passage| EDITED_TOKENS.contains(&passage.tokens));
        edited
            .filter(|passage| (0.6..0.95).contains(&passage.similarity))
            .max_by_key(|passage| passage.tokens)
            .map(|passage| (compared, passage))
    });
    let Some((ComparedPair { pair, a, b, .. }, passage)) = edited else { return Ok(()) };
    line!(out)?;
    line!(
        out,
        "A passage of {} that two of them share, {} alike:",
        counted(passage.tokens.into(), "word"),
        percent(passage.similarity)
    )?;
    line!(out)?;
    let columns = SideBySide::new();
    columns.headings(out, [&pair.a, &pair.b].map(|id| shown(Path::new(id), root)))?;
    match is_program(Path::new(&pair.a)) && is_program(Path::new(&pair.b)) {
        true => columns.programs(out, lines(a, passage.a), lines(b, passage.b))?,
        false => columns.texts(out, cut(a, passage.a), cut(b, passage.b))?,
    }
    Ok(())
}

/// Returns the complete lines around a byte range of a text.
fn lines(text: &str, (start, end): (u32, u32)) -> &str {
    let start = text[..start as usize].rfind('\n').map_or(0, |at| at + 1);
    let end = text[end as usize..].find('\n').map_or(text.len(), |at| at + end as usize);
    &text[start..end]
}

fn cut(text: &str, (start, end): (u32, u32)) -> &str {
    &text[start as usize..end as usize]
}

/// Searches for words from the middle of the longest passage of a pair.
fn search_passage(
    searcher: &Searcher,
    ComparedPair { a, passages, .. }: &ComparedPair,
    root: &Path,
    out: &mut impl Write,
) -> Result<()> {
    let longest = passages.iter().max_by_key(|passage| passage.tokens);
    let words = longest.map_or(a.as_str(), |passage| cut(a, passage.a));
    let words: Vec<&str> = words.split_whitespace().collect();
    let middle = words.len().saturating_sub(PASSAGE_WORDS) / 2;
    let passage: Vec<&str> = words.into_iter().skip(middle).take(PASSAGE_WORDS).collect();
    let (length, passage) = (passage.len(), passage.join(" "));
    let start: String = passage.chars().take(60).collect();
    let answer = searcher.search(&Query::text(&passage).limit(5).passages(true))?;
    line!(out)?;
    line!(out, "Where else are these {}?", counted(length as u64, "word"))?;
    line!(out, "  \"{start}...\"")?;
    line!(out)?;
    line!(out, "  found there")?;
    for hit in &answer.hits {
        let name = shown(Path::new(&hit.id), root);
        let line = hit.passages.iter().flatten().find_map(|passage| passage.b_line);
        let line = line.map(|line| format!(", line {}", count(line.into())));
        let contained = percent(hit.similarity.containment_of_a);
        line!(out, "  {contained:>11}  {name}{}", line.unwrap_or_default())?;
    }
    line!(out)?;
    line!(
        out,
        "Answered in {:.1} ms of wall time, with passages, from an index of {}",
        answer.took_us as f64 / 1e3,
        counted(searcher.snapshot().documents(), "document")
    )?;
    Ok(())
}

/// Writes the report of the pairs to a new file, which stays.
fn write_report(searcher: &Searcher, compared: Vec<ComparedPair>, root: &Path) -> Result<PathBuf> {
    let documents = searcher.snapshot().documents();
    let index = IndexState { place: root.display().to_string(), generation: None, documents };
    let title = Some("Text that different packages share".to_owned());
    let programs = compared.iter().filter(|compared| is_program(Path::new(&compared.pair.a)));
    let is_code = 2 * programs.count() >= compared.len();
    let run = Run { title, index: Some(index), is_code, ..Run::new("demo") };
    let searched = compared.into_iter().map(|ComparedPair { pair, a, b, passages }| {
        let source = ReuseSource {
            id: shown(Path::new(&pair.b), root),
            meta: serde_json::Map::new(),
            text: Some(b.into()),
            passages: passages.into_iter().map(Place::of_pair).collect(),
            complete: true,
        };
        MeasuredDocument {
            name: shown(Path::new(&pair.a), root),
            text: a.into(),
            sources: vec![source],
            counting: Counting::default(),
            more: false,
            complete: true,
        }
    });
    let html = ReuseReport::new(run, searched.collect(), &[])?.html();
    new_report(html.as_bytes())
}

/// Writes a new file in the temporary directory, which stays.
fn new_report(html: &[u8]) -> Result<PathBuf> {
    let named = tempfile::Builder::new().prefix("cento-demo-").suffix(".html").tempfile();
    let failed =
        |error: io::Error| Error::io("write", "a report in the temporary directory", error);
    let mut file = named.map_err(failed)?;
    file.write_all(html).map_err(failed)?;
    let (_, path) = file.keep().map_err(|error| failed(error.error))?;
    Ok(path)
}
