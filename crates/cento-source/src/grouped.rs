//! Reads inputs whose documents have several files.
//!
//! The files of a document are held until the last file is read. If the files of many documents
//! alternate, as in some archives, a bound limits the bytes that are held.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cento::Refusal;
use cento::index::IdSource;

use crate::chunk::{Chunk, ChunkKind, ChunkParts};
use crate::filter::{EMPTY_PART, LIST, NO_FILES};
use crate::grouping::{GroupPlace, Grouping, NO_MATCH};
use crate::read_error::{Emit, ReadChunk, ReadError};
use crate::{EMPTY, SourceOptions, too_long, unread, walk};

/// Reads all `inputs` like [`crate::read`], until `emit` breaks off.
pub fn read(inputs: &[PathBuf], options: &SourceOptions, emit: Emit<'_>) {
    let Some(grouping) = options.grouping.as_deref() else {
        return walk::read(inputs, options, emit);
    };
    let mut collector = Collector {
        grouping,
        record_bytes_max: options.record_bytes_max,
        open: HashMap::new(),
        begun: 0,
        held_bytes: 0,
        seen: HashSet::new(),
        is_several: inputs.len() > 1,
        told: HashSet::new(),
        left_out: HashSet::new(),
        emit,
    };
    for (number, input) in inputs.iter().enumerate() {
        let flow = Cell::new(ControlFlow::Continue(()));
        walk::read(std::slice::from_ref(input), options, &mut |found| {
            flow.set(collector.take(number, found));
            flow.get()
        });
        if flow.get().is_break() {
            return;
        }
    }
    // Needs no check, because the emitted items already report the end.
    let _ = collector.finish();
}

/// The maximum size of held files of incomplete documents, in multiples of the maximum record.
const HELD_RECORDS_MAX: usize = 2;

struct Collector<'a> {
    grouping: &'a Grouping,
    record_bytes_max: usize,
    open: HashMap<String, OpenDocument>,
    /// The number of documents begun so far, which numbers them in the order of their first files.
    begun: u64,
    held_bytes: usize,
    /// The files already read, if inputs overlap.
    seen: HashSet<String>,
    /// Whether there are several inputs, which may overlap.
    is_several: bool,
    /// The paths already reported, if there are several inputs.
    told: HashSet<String>,
    /// The files already reported as skipped, if there are several inputs.
    left_out: HashSet<String>,
    emit: Emit<'a>,
}

/// A document whose last file has not been read.
#[derive(Default)]
struct OpenDocument {
    number: u64,
    /// The number of files that were read, or skipped for a reason besides the name.
    files: u32,
    bytes: usize,
    parts: Vec<(String, Chunk)>,
    fields: Vec<(String, String)>,
    empty: Vec<String>,
    /// Why the document is not read.
    refused: Option<Refusal>,
}

impl Collector<'_> {
    fn take(&mut self, input: usize, found: ReadChunk) -> ControlFlow<()> {
        // A path in several inputs is reported once.
        if let Err(error) = &found
            && self.is_several
            && !self.told.insert(error.to_string())
        {
            return ControlFlow::Continue(());
        }
        match found {
            Ok(chunk) if self.grouping.is_list(input, &chunk) => {
                self.leave_out(chunk.path.to_string(), LIST)
            }
            Ok(chunk) => match self.grouping.place(input, &chunk.path) {
                Some(place) => self.file(place, chunk),
                None => self.leave_out(chunk.path.to_string(), NO_MATCH),
            },
            Err(ReadError::LeftOut { place, why, .. }) if why == NO_FILES => {
                let is_input = self.grouping.is_input(input, &place);
                match is_input || self.grouping.is_document(input, &place) {
                    true => self.leave_out(place, why),
                    // The surrounding document has further files.
                    false => ControlFlow::Continue(()),
                }
            }
            Err(ReadError::LeftOut { place, why, .. }) if why == EMPTY => {
                match self.grouping.place(input, &place) {
                    Some(found) if found.document != place => self.empty(found, place),
                    _ => self.leave_out(place, why),
                }
            }
            Err(error) => (self.emit)(Err(error)),
        }
    }

    fn leave_out(&mut self, place: String, why: &'static str) -> ControlFlow<()> {
        if self.is_several && !self.left_out.insert(place.clone()) {
            return ControlFlow::Continue(());
        }
        (self.emit)(Err(ReadError::LeftOut { place, why, feature: None }))
    }

    fn open(&mut self, id: &str) -> &mut OpenDocument {
        self.begun += 1;
        let number = self.begun;
        self.open
            .entry(id.to_owned())
            .or_insert_with(|| OpenDocument { number, ..OpenDocument::default() })
    }

    fn file(&mut self, place: GroupPlace, chunk: Chunk) -> ControlFlow<()> {
        if self.grouping.repeats() && !self.seen.insert(chunk.path.to_string()) {
            return ControlFlow::Continue(());
        }
        let (max, bytes) = (self.record_bytes_max, chunk.bytes.len());
        let held = self.held_bytes + bytes;
        let GroupPlace { document, part, fields } = place;
        let open = self.open(&document);
        open.files += 1;
        open.bytes += bytes;
        if open.refused.is_none() && open.bytes > max {
            open.refused = Some(too_long(max));
        } else if open.refused.is_none() && held > max.saturating_mul(HELD_RECORDS_MAX) {
            let what = format!(
                "its files are far apart in the input, among those of other documents, and more \
                 than {} bytes would wait; name directories, or archives of single documents",
                max.saturating_mul(HELD_RECORDS_MAX)
            );
            open.refused = Some(what.into());
        }
        let mut freed = 0;
        match open.refused {
            None => {
                for field in fields {
                    if !open.fields.contains(&field) {
                        open.fields.push(field);
                    }
                }
                open.parts.push((part, chunk));
            }
            Some(_) => freed = open.parts.drain(..).map(|(_, chunk)| chunk.bytes.len()).sum(),
        }
        let is_held = open.refused.is_none();
        self.held_bytes = self.held_bytes - freed + if is_held { bytes } else { 0 };
        self.end_if_complete(&document)
    }

    /// Records an empty file, which is reported together with its document.
    fn empty(&mut self, place: GroupPlace, path: String) -> ControlFlow<()> {
        let open = self.open(&place.document);
        open.files += 1;
        open.empty.push(path);
        self.end_if_complete(&place.document)
    }

    fn end_if_complete(&mut self, id: &str) -> ControlFlow<()> {
        match self.open.get(id) {
            Some(open) if open.files >= self.grouping.files_of(id) => self.end(id),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Passes on a document and its reports.
    fn end(&mut self, id: &str) -> ControlFlow<()> {
        let Some(open) = self.open.remove(id) else { return ControlFlow::Continue(()) };
        let held: usize = open.parts.iter().map(|(_, chunk)| chunk.bytes.len()).sum();
        self.held_bytes -= held;
        let why = if open.parts.is_empty() { EMPTY } else { EMPTY_PART };
        for path in open.empty {
            self.leave_out(path, why)?;
        }
        if let Some(why) = open.refused {
            return (self.emit)(Err(unread(id, why).into()));
        }
        if open.parts.is_empty() {
            return ControlFlow::Continue(());
        }
        let id_source = match std::path::absolute(Path::new(id)) {
            Ok(path) => IdSource::file(&path),
            Err(_) => IdSource::STREAM,
        };
        let parts = Some(Box::new(ChunkParts::new(open.parts, open.fields)));
        let (path, kind) = (id.into(), ChunkKind::File);
        (self.emit)(Ok(Chunk {
            path,
            bytes: Vec::new(),
            kind,
            id_source,
            parts,
            definitions: None,
        }))
    }

    /// Passes on the remaining documents, in the order of their first files.
    fn finish(&mut self) -> ControlFlow<()> {
        let mut left: Vec<(u64, String)> =
            self.open.iter().map(|(id, open)| (open.number, id.clone())).collect();
        left.sort_unstable();
        left.iter().try_for_each(|(_, id)| self.end(id))?;
        let grouping = self.grouping;
        grouping.emptied().try_for_each(|error| (self.emit)(Err(error)))
    }
}
