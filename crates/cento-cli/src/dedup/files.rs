//! The outputs of a run: kept and dropped documents, and messages.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{annotated, json, record, selection, with_text, write_record};
use super::tables::TableFiles;
use super::{Dedup, VerdictCounts};
use crate::outfile::{OutFile, check_free};
use crate::output::{Format, not_compared};
use crate::progress::{NotRead, Omissions};
use crate::terminal::{self, note, tell};
use crate::unwritten::UnwrittenFile;
use cento::Error;
use cento_collections::dedup::{Decision, Event, Verdict};
use cento_report::NotCompared;
use cento_source::{Annotation, Selection, TableForm, TextField, is_by_name, is_by_pattern};

/// Where kept documents go.
enum KeptOutput {
    /// Lines of a file, or of standard output; the rows of a table if it has a form.
    Lines(Box<OutFile>, Option<TableForm>),
    /// Rows of Parquet files.
    Tables(Box<TableFiles>),
}

/// The maximum number of bytes to hold back from standard output.
const HELD_BYTES_MAX: usize = 8 << 20;

/// The outputs, and a summary of the written documents.
pub struct Files {
    out: KeptOutput,
    /// The first lines for standard output, which cannot be taken back, as long as no record had a
    /// field that an option names.
    held: Option<Vec<u8>>,
    /// `None` writes to standard error.
    dropped: Option<OutFile>,
    /// The files that this run created.
    created: Vec<UnwrittenFile>,
    /// Whether an index has the kept documents, so that the files of a failed run are needed.
    has_index: bool,
    /// The field of a record with the text.
    text_field: TextField,
    /// Counts of documents by result.
    pub summary: VerdictCounts,
    omissions: Omissions,
}

/// A line about a dropped document.
#[derive(Serialize)]
struct DroppedLine<'a> {
    id: &'a str,
    #[serde(flatten)]
    verdict: &'a Verdict,
}

/// A line about an item that is not a document.
#[derive(Serialize)]
struct NoDocument<'a> {
    /// The file, and the position of the record.
    place: &'a str,
    /// `failed` for refused input, `left_out` for input that is not text.
    verdict: &'a str,
    reason: &'a str,
}

/// The note of a commit about the outputs.
#[derive(Serialize, Deserialize)]
struct OutputsNote {
    /// The lengths of both files. For Parquet output, `out` is the length of the current selection,
    /// and `table` is the number of the input.
    out: u64,
    dropped: u64,
    #[serde(default)]
    table: usize,
    summary: VerdictCounts,
}

impl Files {
    /// Opens the outputs, at the positions noted by the last commit, if any.
    ///
    /// # Errors
    /// When a file cannot be opened, or exists already.
    pub fn open(args: &Dedup, note: &Value) -> cento::Result<Files> {
        let note: Option<OutputsNote> = serde_json::from_value(note.clone()).ok();
        if note.is_none() {
            let lines = args.out.as_deref().filter(|_| !args.writes_tables());
            lines.into_iter().chain(args.dropped.as_deref()).try_for_each(check_free)?;
        }
        let mut created = Vec::new();
        let mut open = |path: &Path, length: Option<u64>| match length {
            None | Some(0) if !path.exists() => {
                let (file, unwritten) = UnwrittenFile::create(path)?;
                created.push(unwritten);
                Ok(file)
            }
            length => OutFile::resume(path, length.unwrap_or(0)),
        };
        let (at_out, at_dropped) = (note.as_ref().map(|n| n.out), note.as_ref().map(|n| n.dropped));
        let source = args.source();
        let out = match args.out.as_deref() {
            None => KeptOutput::Lines(Box::new(OutFile::stdout()), None),
            Some(path) if !args.writes_tables() => {
                let form = args.table_form()?;
                let mut out = open(path, at_out)?;
                if let (true, Some(form)) = (out.is_empty(), &form) {
                    write!(out, "{}", form.head()).map_err(|e| out.failed(e))?;
                }
                KeptOutput::Lines(Box::new(out), form)
            }
            Some(dir) => {
                let at = note.as_ref().map(|note| (note.table, note.out));
                let text = source.text_field.to_string();
                let annotation = args.annotate.then_some(Annotation::Dedup);
                let (inputs, is_resumable) = (&args.tables, args.index.is_some());
                let files = TableFiles::open(
                    source.tables,
                    dir,
                    inputs,
                    text,
                    annotation,
                    is_resumable,
                    at,
                )?;
                KeptOutput::Tables(Box::new(files))
            }
        };
        let dropped = args.dropped.as_deref().map(|path| open(path, at_dropped)).transpose()?;
        let summary = note.map(|note| note.summary).unwrap_or_default();
        let text_field = source.text_field;
        let omissions = Omissions::new(args.format == Format::Json);
        let has_index = args.index.is_some();
        let held = args.out.is_none().then(Vec::new);
        Ok(Files { out, held, dropped, created, has_index, text_field, summary, omissions })
    }

    /// Tells whether lines are held back, which the next document may release.
    pub fn is_holding(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !held.is_empty())
    }

    /// Writes the lines held back, and all later lines at once.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn release(&mut self) -> cento::Result<()> {
        match (self.held.take(), &mut self.out) {
            (Some(held), KeptOutput::Lines(out, _)) => {
                out.write_all(&held).map_err(|e| out.failed(e))
            }
            _ => Ok(()),
        }
    }

    /// Writes what happened.
    ///
    /// # Errors
    /// When it cannot be written; when a Parquet file cannot be read, and so not be copied.
    pub fn tell(&mut self, event: Event, annotates: bool) -> cento::Result<()> {
        match event {
            Event::Decided(decision) => self.decided(decision, annotates)?,
            Event::Skipped { place, why } => {
                self.summary.skipped += 1;
                self.summary.skipped_by_name += u64::from(is_by_name(why));
                // Users know the files that their own patterns skip, and there may be thousands.
                if !is_by_pattern(why) {
                    let verdict = "left_out";
                    self.dropped_line(&NoDocument { place: &place, verdict, reason: why })?;
                }
                if let Some(said) = self.omissions.left_out(&place, why) {
                    note!("{said}");
                }
            }
            Event::Failed(error) => {
                self.summary.failed += 1;
                self.summary.unread += u64::from(matches!(error, Error::Io { .. }));
                let NotCompared { name, reason } = not_compared(&error);
                let verdict = "failed";
                self.dropped_line(&NoDocument { place: &name, verdict, reason: &reason })?;
                if let Some(said) = self.omissions.failed(&error) {
                    tell!("{said}");
                }
                if let KeptOutput::Tables(tables) = &mut self.out {
                    let place = match &error {
                        Error::Input { place, .. } if !tables.is_input(place) => place,
                        _ => {
                            let what = "a Parquet file could not be read, and so not be copied";
                            return Err(Error::input("the output", what));
                        }
                    };
                    tables.select(place, Selection::Dropped)?;
                }
            }
            Event::Empty(id) => {
                self.summary.empty += 1;
                if let Some(said) = self.omissions.empty(&id) {
                    note!("{said}");
                }
            }
            // `note` handles this event.
            Event::Committing => {}
            other => return Err(Error::internal("dedup", format!("{other:?} is unknown"))),
        }
        Ok(())
    }

    /// Makes both files durable, and returns the note for the commit.
    ///
    /// # Errors
    /// When writing or syncing fails.
    pub fn note(&mut self) -> cento::Result<Value> {
        let ((table, out), dropped) = self.sync()?;
        if self.has_index {
            self.created.iter_mut().for_each(UnwrittenFile::keep);
        }
        let own = OutputsNote { out, dropped, table, summary: self.summary };
        Ok(serde_json::to_value(own).expect("numbers are JSON"))
    }

    /// Adds a line to the file of dropped documents, if requested. Messages report the item in any
    /// case.
    fn dropped_line(&mut self, line: &NoDocument<'_>) -> cento::Result<()> {
        let Some(dropped) = &mut self.dropped else { return Ok(()) };
        writeln!(dropped, "{}", terminal::json(line).expect("it has names for keys only"))
            .map_err(|e| dropped.failed(e))
    }

    /// Makes both files durable. Returns the lengths, the first with the number of the input.
    fn sync(&mut self) -> cento::Result<((usize, u64), u64)> {
        let out = match &mut self.out {
            KeptOutput::Lines(out, _) => (0, out.sync().map_err(|e| out.failed(e))?),
            KeptOutput::Tables(tables) => tables.sync()?,
        };
        let dropped = match &mut self.dropped {
            Some(dropped) => dropped.sync().map_err(|e| dropped.failed(e))?,
            None => 0,
        };
        Ok((out, dropped))
    }

    fn decided(&mut self, decision: Decision, annotates: bool) -> cento::Result<()> {
        let Decision { document, verdict, .. } = &decision;
        let summary = &mut self.summary;
        summary.bytes += document.text.len() as u64;
        let is_kept = verdict.is_kept();
        let is_cut = is_kept && !verdict.cut().is_empty();
        summary.cut += u64::from(is_cut);
        // An unchanged kept document needs no line.
        let mut is_listed = !is_kept || is_cut;
        match verdict {
            Verdict::Kept { kept_as, replaces, .. } => {
                summary.kept += 1;
                summary.replaced += u64::from(*replaces);
                is_listed |= *replaces || kept_as.is_some();
            }
            Verdict::Unchanged { kept_as, .. } => {
                summary.kept += 1;
                summary.unchanged += 1;
                is_listed |= kept_as.is_some();
            }
            Verdict::Exact { .. } => summary.exact += 1,
            Verdict::Near { evidence, .. } => {
                summary.near += 1;
                summary.estimated += u64::from(!evidence.exact);
            }
            Verdict::Contained { evidence, .. } => {
                summary.contained += 1;
                summary.estimated += u64::from(!evidence.exact);
            }
            Verdict::Passages { .. } => summary.passages += 1,
            Verdict::Withdrawn { .. } => summary.withdrawn += 1,
        }
        let cut_text = is_cut.then(|| decision.kept_text());
        if is_kept {
            let text = cut_text.as_ref().map_or(&document.text, |(text, _)| text);
            self.summary.kept_bytes += text.len() as u64;
        }
        match &mut self.out {
            KeptOutput::Lines(out, form) if is_kept || annotates => {
                let line = match cut_text {
                    _ if annotates => annotated(document, Annotation::Dedup, verdict)?.into(),
                    Some((text, parts)) => {
                        with_text(document, &text, &parts, &self.text_field)?.into()
                    }
                    None => record(document),
                };
                let written = match &mut self.held {
                    Some(held) => write_record(held, form.as_ref(), &line),
                    None => write_record(out, form.as_ref(), &line),
                };
                written.map_err(|e| out.failed(e))?;
                if self.held.as_ref().is_some_and(|held| held.len() > HELD_BYTES_MAX) {
                    self.release()?;
                }
            }
            KeptOutput::Lines(..) => {}
            KeptOutput::Tables(tables) => {
                let annotation = annotates.then(|| json(verdict));
                let text = cut_text.as_ref().map(|(text, _)| text.as_str());
                let selection = selection(annotation.as_deref(), text, is_kept);
                tables.select(document.record.as_deref().unwrap_or_default(), selection)?;
            }
        }
        if is_listed {
            let line = terminal::json(&DroppedLine { id: &document.id, verdict });
            let line = line.expect("it has names for keys only");
            match &mut self.dropped {
                Some(dropped) => writeln!(dropped, "{line}").map_err(|e| dropped.failed(e))?,
                // The annotations say as much.
                None if annotates => {}
                None => tell!("{line}"),
            }
        }
        Ok(())
    }

    /// Removes the outputs created by this run, because they would stop a corrected run.
    pub fn discard(self) -> (VerdictCounts, NotRead) {
        self.created.into_iter().for_each(UnwrittenFile::discard);
        if let KeptOutput::Tables(tables) = self.out {
            tables.discard();
        }
        self.omissions.finish();
        (self.summary, self.omissions.into_lists())
    }

    /// Completes the outputs.
    ///
    /// # Errors
    /// When writing or syncing fails.
    pub fn finish(mut self) -> cento::Result<(VerdictCounts, NotRead)> {
        self.release()?;
        self.sync()?;
        self.created.iter_mut().for_each(UnwrittenFile::keep);
        match &mut self.out {
            KeptOutput::Lines(out, _) => out.finish().map_err(|e| out.failed(e))?,
            KeptOutput::Tables(tables) => tables.finish()?,
        }
        if let Some(dropped) = &mut self.dropped {
            dropped.finish().map_err(|e| dropped.failed(e))?;
        }
        self.omissions.finish();
        Ok((self.summary, self.omissions.into_lists()))
    }
}
