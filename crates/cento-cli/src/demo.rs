//! `cento demo`

use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use ignore::WalkBuilder;

use super::memory;
use super::output::{bytes, count};
use super::progress::{AddProgress, stop_flag};
use super::side_by_side::SideBySide;
use super::terminal::{line, tell};
use super::values::parse_bytes;
use super::{Outcome, Result};
use cento::Error;
use cento::index::{Config, Index};
use cento::scheme::DEFAULT_SPEC;
use cento::search::{Query, Searcher};
use cento_source::AddOptions;

/// Demonstrate cento on text that is already on this machine.
///
/// Without a directory, uses the sources that Cargo has downloaded: READMEs, licences, changelogs
/// and code. The index is temporary.
#[derive(Debug, Args)]
pub struct Demo {
    /// Directory with text.
    dir: Option<PathBuf>,
    /// Maximum amount of text to use.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = parse_bytes)]
    bytes: usize,
}

/// Extensions of the files to read in Cargo's sources.
const TEXT_EXTENSIONS: [&str; 4] = ["md", "txt", "rs", "toml"];

/// Documents whose near-duplicates are looked for.
const SAMPLE_DOCUMENTS: usize = 3000;

/// Pairs that are shown.
const PAIRS_SHOWN: usize = 6;

/// The length of the passage that is shown with its changes.
const EDITED_TOKENS: Range<u32> = 30..120;

/// Words of the passage that is searched for.
const PASSAGE_WORDS: usize = 60;

impl Demo {
    pub(super) fn run(self) -> Result {
        let Some(root) = self.dir.clone().or_else(cargo_sources) else {
            tell!(
                "cento: Cargo has not downloaded any sources on this machine; name a directory \
                 with text, as in `cento demo ~/Documents`"
            );
            return Ok(Outcome::Bad);
        };
        let mut out = io::stdout().lock();
        let files = files(&root, self.bytes);
        line!(out, "Reading {} files below {}", count(files.len() as u64), root.display())?;
        let temporary = tempfile::tempdir().map_err(|e| Error::io("create", "a directory", e))?;
        let index = Index::create(
            temporary.path().join("index"),
            Config::new(DEFAULT_SPEC, "words", true)?,
        )?;
        let progress = AddProgress::quiet();
        let memory_bytes = memory::default_bytes();
        let options = AddOptions { memory_bytes, ..AddOptions::default() };
        let report = cento_source::add(&index, &files, &options, &stop_flag(), &mut |event| {
            progress.tell(event);
        });
        progress.finish();
        let report = report?;
        let snapshot = index.snapshot()?;
        let stats = snapshot.stats()?;
        line!(
            out,
            "{} documents, {} of text, indexed in {:.1} s: {} fingerprints in {}, texts in {}",
            count(stats.documents),
            bytes(report.bytes),
            report.took_us as f64 / 1e6,
            count(stats.fingerprints),
            bytes(stats.bytes.signatures),
            bytes(stats.bytes.text),
        )?;
        line!(out)?;
        let searcher = Searcher::new(snapshot);
        let pairs = striking_pairs(&searcher, &root)?;
        if pairs.is_empty() {
            line!(out, "There are no near-duplicates among them.")?;
            return Ok(Outcome::Nothing);
        }
        line!(out, "Near-duplicates in different directories, not identical:")?;
        line!(out)?;
        line!(out, "  resemblance  shared fingerprints")?;
        for pair in &pairs {
            let (a, b) = (shown(&pair.a, &root), shown(&pair.b, &root));
            line!(out, "  {:>11.2}  {:>19}  {a}", pair.resemblance, pair.overlap)?;
            line!(out, "{:36}{b}", "")?;
        }
        show_edited_passage(&searcher, &pairs, &root, &mut out)?;
        search_passage(&searcher, &pairs[0].a, &root, &mut out)?;
        Ok(Outcome::Found)
    }
}

/// Returns the directory of the sources that Cargo has downloaded.
fn cargo_sources() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"))?;
        Some(Path::new(&home).join(".cargo"))
    })?;
    let sources = home.join("registry").join("src");
    let has_entries = sources.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    has_entries.then_some(sources)
}

/// Returns the text files below `root`, in the order of their names, up to `bytes_max`.
fn files(root: &Path, bytes_max: usize) -> Vec<PathBuf> {
    let mut taken = 0;
    let mut files = Vec::new();
    for entry in
        WalkBuilder::new(root).git_ignore(false).sort_by_file_path(Path::cmp).build().flatten()
    {
        let path = entry.path();
        let is_text = match path.extension().and_then(|extension| extension.to_str()) {
            Some(extension) => TEXT_EXTENSIONS.contains(&extension),
            None => true,
        };
        let len =
            entry.metadata().ok().filter(|metadata| metadata.is_file()).map(|m| m.len() as usize);
        if let (true, Some(len)) = (is_text, len) {
            if taken + len > bytes_max {
                continue;
            }
            taken += len;
            files.push(entry.into_path());
        }
    }
    files
}

struct Pair {
    a: String,
    b: String,
    overlap: u32,
    resemblance: f64,
}

/// Returns the pairs that share most, identical texts and pairs within a directory left out.
fn striking_pairs(searcher: &Searcher, root: &Path) -> cento::Result<Vec<Pair>> {
    let step = (searcher.snapshot().documents() as usize).div_ceil(SAMPLE_DOCUMENTS).max(1);
    let mut pairs = Vec::new();
    for address in searcher.snapshot().live().step_by(step) {
        let id = searcher.snapshot().id(address)?;
        let query = Query::id(&id).min_resemblance(0.3).min_overlap(10);
        for hit in searcher.search(&query)?.hits {
            let resemblance = hit.similarity.resemblance;
            if resemblance < 0.98 && package(&hit.id, root) != package(&id, root) {
                pairs.push(Pair { a: id.clone(), b: hit.id, overlap: hit.overlap, resemblance });
            }
        }
    }
    pairs.sort_by(|a, b| b.overlap.cmp(&a.overlap).then_with(|| (&a.a, &a.b).cmp(&(&b.a, &b.b))));
    // Each directory once: a licence that all have would fill the table.
    let mut seen = HashSet::new();
    pairs.retain(|pair| {
        let packages = [package(&pair.a, root), package(&pair.b, root)];
        let is_new = packages.iter().all(|package| !seen.contains(package));
        if is_new {
            seen.extend(packages);
        }
        is_new
    });
    pairs.truncate(PAIRS_SHOWN);
    Ok(pairs)
}

/// Returns the directory of a file: for Cargo's sources the package without its version.
fn package(id: &str, root: &Path) -> String {
    let path = shown(id, root);
    let mut parts = path.split('/');
    let first = parts.next().unwrap_or_default();
    // Below `registry/src` the first directory is that of the registry.
    let name = if first.contains("crates.io") { parts.next().unwrap_or(first) } else { first };
    name.trim_end_matches(|c: char| c.is_ascii_digit() || ".+-".contains(c)).to_owned()
}

/// Returns an id as it is shown: the path below `root`.
fn shown(id: &str, root: &Path) -> String {
    let path = Path::new(id);
    let path = path.strip_prefix(root).unwrap_or(path).display().to_string();
    match path.split_once('/') {
        Some((registry, rest)) if registry.contains("crates.io") => rest.to_owned(),
        _ => path,
    }
}

/// Shows the changes in a passage that a pair has in common.
fn show_edited_passage(
    searcher: &Searcher,
    pairs: &[Pair],
    root: &Path,
    out: &mut impl Write,
) -> Result<()> {
    let text = |id: &str| -> cento::Result<String> {
        let address = searcher.snapshot().find(id)?;
        let document = address.map(|address| searcher.snapshot().document(address)).transpose()?;
        Ok(document.and_then(|document| document.text).unwrap_or_default())
    };
    let mut edited = None;
    for pair in pairs {
        let (a, b) = (text(&pair.a)?, text(&pair.b)?);
        let config = searcher.snapshot().config();
        let comparison = cento::compare(&config.scheme, &config.analyzer, &a, &b)?;
        edited = comparison
            .passages
            .into_iter()
            .filter(|passage| EDITED_TOKENS.contains(&passage.tokens))
            .filter(|passage| (0.6..0.95).contains(&passage.similarity))
            .max_by_key(|passage| passage.tokens)
            .map(|passage| (pair, a, b, passage));
        if edited.is_some() {
            break;
        }
    }
    let Some((pair, a, b, passage)) = edited else { return Ok(()) };
    let cut = |text: &str, (start, end): (u32, u32)| text[start as usize..end as usize].to_owned();
    line!(out)?;
    line!(
        out,
        "A passage that two of them share, {} tokens, similarity {}:",
        passage.tokens,
        cento_report::decimals(passage.similarity, 2)
    )?;
    line!(out)?;
    let columns = SideBySide::new();
    columns.headings(out, [shown(&pair.a, root), shown(&pair.b, root)])?;
    columns.texts(out, &cut(&a, passage.a), &cut(&b, passage.b))?;
    Ok(())
}

/// Searches for a passage from the middle of a document.
fn search_passage(searcher: &Searcher, id: &str, root: &Path, out: &mut impl Write) -> Result<()> {
    let Some(address) = searcher.snapshot().find(id)? else { return Ok(()) };
    let text = searcher.snapshot().document(address)?.text.unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let middle = words.len().saturating_sub(PASSAGE_WORDS) / 2;
    let passage: Vec<&str> = words.into_iter().skip(middle).take(PASSAGE_WORDS).collect();
    let passage = passage.join(" ");
    let start: String = passage.chars().take(70).collect();
    let answer = searcher.search(&Query::text(&passage).limit(5).passages(true))?;
    line!(out)?;
    line!(out, "Documents with this passage of {PASSAGE_WORDS} words, \"{start}...\":")?;
    line!(out)?;
    line!(out, "  containment")?;
    for hit in &answer.hits {
        let place = hit.passages.iter().flatten().next().map(|passage| passage.hit);
        let place = place.map(|(start, end)| format!(", bytes {start} to {end}"));
        let name = shown(&hit.id, root);
        let contained = hit.similarity.containment_of_query;
        line!(out, "  {contained:>11.2}  {name}{}", place.unwrap_or_default())?;
    }
    line!(out)?;
    line!(out, "Answered in {} us.", answer.took_us)?;
    Ok(())
}
