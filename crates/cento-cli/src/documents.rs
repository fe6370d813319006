//! The verbs `list`, `show` and `export`, which print stored documents.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::key;
use super::list_format::{ListFormat, ListOut};
use super::output::{self, Format, bytes, count, counted};
use super::progress::{Progress, stop_flag};
use super::terminal::{self, Id, line, tell};
use super::watch::tell_left_behind;
use super::{Result, VerbFailure, VerbOutcome};
use cento::Stop;
use cento::index::{DocAddress, Snapshot};
use cento::search::Searcher;
use cento::{Error, Part, PartText, Reason};
use cento_api::part::{exchanged_parts, part_texts};

/// List the documents of an index.
///
/// The columns are tokens, bytes of the text, the time of addition, and the id. --format json adds
/// `meta`. Documents are in stored order: by segment, and within a segment as you added them. This
/// order changes when segments are merged. cento lists one whole commit, even if another process
/// writes meanwhile.
#[derive(Debug, Args)]
pub struct List {
    /// Directory of your index.
    index: PathBuf,
    /// List only documents that match this query, such as 'meta.lang:de'. Queries are as in `cento
    /// search --filter`.
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    filter: Option<String>,
    /// Output format. The columns of csv and tsv are the JSON fields.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

/// Show a stored document: its text, its meta object, and its fingerprints with their places. If a
/// document has parts, each part has a heading.
#[derive(Debug, Args)]
pub struct Show {
    /// Directory of your index.
    index: PathBuf,
    /// Id of the document.
    id: String,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// Write the documents of an index as JSON lines that `cento add` reads.
///
/// A line has `id`, `text`, `meta`, the time when the document was `added`, and `id_place` if cento
/// made the id from a path. A document with parts has `parts` instead of `text`, each with `name`
/// and `text`. The documents are in order of addition. `cento add NEW.idx FILE` makes an index with
/// the same documents in the same order, and the time of this command as their time of addition. An
/// export has no withdrawals, so the new index accepts withdrawn texts again, and cento tells you
/// how many there are. The index must store texts.
#[derive(Debug, Args)]
pub struct Export {
    /// Directory of your index.
    index: PathBuf,
    /// Export only documents that match this query, such as 'meta.lang:de'. Queries are as in
    /// `cento search --filter`.
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    filter: Option<String>,
}

/// The columns of a table of documents.
const COLUMNS: &[&str] = &["id", "tokens", "bytes", "parts", "added", "meta"];

/// A document in a list.
#[derive(Debug, Serialize)]
struct ListedRow {
    id: String,
    tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    /// The number of parts, if the document has parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<String>,
    meta: Map<String, Value>,
}

/// A document in the format of an export.
#[derive(Debug, Serialize)]
struct ExportedDocument {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartText>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    meta: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_place: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<String>,
}

/// A fingerprint, and the position of its text in tokens.
#[derive(Debug, Serialize)]
struct PlacedFingerprint {
    fingerprint: u64,
    position: u32,
}

#[derive(Debug, Serialize)]
struct ShownDocument {
    #[serde(flatten)]
    listed: ListedRow,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    part_names: Vec<String>,
    text: Option<String>,
    fingerprints: Vec<PlacedFingerprint>,
}

/// Returns the time when a document was added, as RFC 3339.
fn added(snapshot: &Snapshot, address: DocAddress) -> cento::Result<Option<String>> {
    Ok(Timestamp::from_second(snapshot.added(address)?).ok().map(|time| time.to_string()))
}

/// The text of a document with the parts.
struct DocumentText {
    text: Option<String>,
    parts: Vec<Part>,
}

fn listed(snapshot: &Snapshot, address: DocAddress) -> cento::Result<(ListedRow, DocumentText)> {
    let document = snapshot.document(address)?;
    let listed = ListedRow {
        id: document.id,
        tokens: snapshot.segment(address).signatures.document(address.doc)?.tokens,
        bytes: document.text.as_ref().map(String::len),
        parts: Some(document.parts.len()).filter(|&parts| parts > 0),
        added: added(snapshot, address)?,
        meta: document.meta,
    };
    Ok((listed, DocumentText { text: document.text, parts: document.parts }))
}

/// Calls `each` with the documents of an index that pass a filter, until the output fails or Ctrl-C
/// comes; returns whether there were any.
fn for_each(
    index: &PathBuf,
    filter: Option<&str>,
    mut each: impl FnMut(&Snapshot, DocAddress) -> Result<()>,
) -> Result<bool> {
    let searcher = Searcher::new(key::open(index)?.snapshot()?);
    let stop = stop_flag();
    let (mut failure, mut is_any) = (None, false);
    let listed = searcher.for_each_document(filter, &stop, &mut |address| {
        is_any = true;
        match each(searcher.snapshot(), address) {
            Ok(()) => Ok(()),
            Err(VerbFailure::Cento(error)) => Err(error),
            Err(error) => {
                failure = Some(error);
                Err(Error::Cancelled)
            }
        }
    });
    match failure {
        Some(failure) => Err(failure),
        None => Ok(listed.map(|()| is_any)?),
    }
}

fn outcome(is_any: bool) -> VerbOutcome {
    if is_any { VerbOutcome::Found } else { VerbOutcome::Nothing }
}

impl List {
    pub(super) fn run(self) -> Result {
        let mut out = ListOut::new(BufWriter::new(io::stdout().lock()), self.format, COLUMNS)?;
        let is_any = for_each(&self.index, self.filter.as_deref(), |snapshot, address| {
            let (listed, _) = listed(snapshot, address)?;
            out.write(&listed, |out| {
                let size = listed.bytes.map_or("-".into(), |len| bytes(len as u64));
                let added = listed.added.as_deref().unwrap_or_default();
                let tokens = count(listed.tokens.into());
                line!(out, "{tokens:>10} {size:>12} {added:>20}  {}", Id(&listed.id))
            })?;
            Ok(())
        })?;
        out.flush()?;
        Ok(outcome(is_any))
    }
}

impl Show {
    pub(super) fn run(self) -> Result {
        let snapshot = key::open(&self.index)?.snapshot()?;
        let Some(address) = snapshot.find(&self.id)? else {
            return Err(Error::UnknownId { id: self.id }.into());
        };
        let (listed, DocumentText { text, parts }) = listed(&snapshot, address)?;
        let signature = snapshot.signature(address, Stop::NEVER)?;
        let placed = |found: &cento::scheme::Fingerprint| PlacedFingerprint {
            fingerprint: found.key,
            position: found.position,
        };
        let fingerprints: Vec<PlacedFingerprint> = signature.iter().map(placed).collect();
        let mut out = BufWriter::new(io::stdout().lock());
        match self.format {
            Format::Json => {
                let part_names = parts.into_iter().map(|part| part.name).collect();
                let shown = ShownDocument { listed, part_names, text, fingerprints };
                output::print_json_to(&mut out, &shown)?;
            }
            Format::Human => {
                let added = listed.added.unwrap_or_default();
                line!(out, "{}: {} tokens, added {added}", listed.id, count(listed.tokens.into()))?;
                if !listed.meta.is_empty() {
                    writeln!(out, "{}", terminal::json(&listed.meta)?)?;
                }
                match &text {
                    Some(text) if parts.is_empty() => {
                        line!(out)?;
                        text.lines().try_for_each(|text| line!(out, "{text}"))?;
                    }
                    Some(text) => {
                        for (name, text) in part_texts(&parts, text) {
                            line!(out)?;
                            line!(out, "--- {name}")?;
                            text.lines().try_for_each(|text| line!(out, "{text}"))?;
                        }
                    }
                    None => {
                        line!(out, "the index stores no texts")?;
                        parts.iter().try_for_each(|part| line!(out, "--- {}", part.name))?;
                    }
                }
                line!(out)?;
                line!(out, "{:>13} {:>8}", "fingerprint", "token")?;
                for PlacedFingerprint { fingerprint, position } in &fingerprints {
                    line!(out, "{fingerprint:>13} {position:>8}")?;
                }
            }
        }
        out.flush()?;
        Ok(VerbOutcome::Found)
    }
}

impl Export {
    pub(super) fn run(self) -> Result {
        let mut out = BufWriter::new(io::stdout().lock());
        let index = key::open(&self.index)?;
        let searcher = Searcher::new(index.snapshot()?);
        let (snapshot, stop) = (searcher.snapshot(), stop_flag());
        let documents = searcher.documents_as_added(self.filter.as_deref(), &stop)?;
        // On a terminal the documents themselves show how far the export is.
        let progress = (!io::stdout().is_terminal())
            .then(|| Progress::new(documents.len() as u64, "documents"));
        for (done, &address) in (1..).zip(&documents) {
            stop.check()?;
            let document = snapshot.document(address)?;
            let Some(text) = document.text else {
                let what = "the index stores no texts, so its documents cannot be exported";
                return Err(Error::index(&self.index, Reason::NoTexts, what).into());
            };
            let parts = exchanged_parts(&document.parts, &text);
            let exported = ExportedDocument {
                id: document.id,
                text: parts.is_empty().then_some(text),
                parts,
                meta: document.meta,
                id_place: snapshot.id_place(address)?,
                added: added(snapshot, address)?,
            };
            output::print_json_to(&mut out, &exported)?;
            progress.iter().for_each(|progress| progress.set(done));
        }
        drop(progress);
        out.flush()?;
        let withdrawn = index.withdrawals()?.iter().count() as u64;
        if withdrawn > 0 {
            let (are, they) = if withdrawn == 1 { ("is", "it") } else { ("are", "they") };
            tell!(
                "cento: {}: {} {are} not in the export: an index that is made of it takes the \
                 texts again that {they} refused",
                self.index.display(),
                counted(withdrawn, "withdrawal")
            );
        }
        tell_left_behind(&self.index, "in the export")?;
        Ok(outcome(!documents.is_empty()))
    }
}
