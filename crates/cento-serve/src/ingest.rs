//! Brings documents from requests to the writer.
//!
//! A few threads parse and sign documents, and the writer's thread takes the results. Searches have
//! priority over the whole pipeline. Callers bound the bytes in this pipeline.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam::channel::{Receiver, Sender, bounded};

use super::allocator;
use super::command::{ArrivedDocuments, Command, ERRORS_MAX, ReceivedDocument};
use super::failure::Failure;
use super::priority;
use cento::Error;
use cento::Stop;
use cento::index::{Document, DocumentSigner, Index};
use cento::runtime::{ByteBudget, Permit};
use cento::search::memory::RESERVED_BYTES_MIN;
use cento_api::http::{AddResponse, RecordError};
use cento_api::json::heap_bytes;
use cento_source::{MetaFields, SourceOptions, parse_record, records};

/// The threads that parse and sign documents.
pub struct Signers {
    threads: Vec<JoinHandle<()>>,
}

impl Signers {
    /// Starts the threads, which send results to `commands`. A thread ends when no sender of
    /// requests is left.
    ///
    /// # Errors
    /// When the system refuses to start a thread.
    pub fn start(
        threads: usize,
        index: &Index,
        commands: &Sender<Command>,
        memory: &Arc<ByteBudget>,
    ) -> cento::Result<(Signers, Sender<ArrivedDocuments>)> {
        let (sender, receiver) = bounded(QUEUE_REQUESTS_MAX);
        let start = |_| {
            let (index, commands, receiver) = (index.clone(), commands.clone(), receiver.clone());
            let memory = memory.clone();
            std::thread::Builder::new().name("signer".into()).spawn(move || {
                priority::give_way();
                sign_all(&index, &receiver, &commands, &memory);
            })
        };
        let threads = (0..threads.max(1)).map(start).collect::<std::io::Result<_>>();
        let threads = threads.map_err(|e| Error::io("start", "the threads that sign", e))?;
        Ok((Signers { threads }, sender))
    }

    /// Waits until all documents are signed.
    pub fn join(self) {
        for thread in self.threads {
            // The thread has already answered after a panic.
            let _ = thread.join();
        }
    }
}

/// The maximum number of waiting requests with documents. Further requests are turned away.
const QUEUE_REQUESTS_MAX: usize = 256;

fn sign_all(
    index: &Index,
    requests: &Receiver<ArrivedDocuments>,
    commands: &Sender<Command>,
    memory: &Arc<ByteBudget>,
) {
    // Signing a sample determines this number, so compute the number only once.
    let bytes_a_byte = index.config().signing_bytes_a_byte();
    let signer = DocumentSigner::new(index.config(), index.faults());
    for ArrivedDocuments { body, is_lines, commit, mut room, reply } in requests {
        let started = Instant::now();
        let computing = room.metrics.computing();
        let reply = Arc::new(reply);
        let waiting = reply.clone();
        let stop = Stop::when(move || waiting.is_unwanted());
        let taken = &mut room.signatures;
        let signer = signer.clone().stop(stop.clone());
        let usual = body.len().saturating_mul(bytes_a_byte + META_BYTES_A_BYTE);
        let signed = catch_unwind(AssertUnwindSafe(|| {
            sign_within(&signer, &body, is_lines, usual, memory, taken, &stop)
        }));
        let mut signed = signed.unwrap_or_else(|_| {
            tracing::error!("a request triggered a defect; please report it");
            Err(Failure::internal())
        });
        if reply.is_unwanted() {
            room.metrics.stopped_computations.inc();
            signed = Err(Error::Cancelled.into());
        }
        drop((body, computing, stop, signer));
        let reply = Arc::into_inner(reply).expect("its other owner, the condition, is dropped");
        match signed {
            Ok((documents, response)) => {
                let command = Command::Add { documents, response, commit, started, room, reply };
                // If the writer has ended, the reply is dropped, and the waiting request notices.
                let _ = commands.send(command);
            }
            Err(failure) => {
                // Some documents may have been made, even if the client is gone.
                allocator::give_back_if_grown();
                reply.send(Err(failure));
            }
        }
    }
}

/// What to do with a record that only changes the meta object of a stored document.
pub const PATCH_ADVICE: &str =
    "to change the meta object of a stored document, send it to PATCH /v1/documents/{id}";

/// The usual memory of meta objects, in bytes, per byte of a body. Documents of 100 bytes with two
/// fields take eight, and objects that are made for it a hundred.
const META_BYTES_A_BYTE: usize = 8;

/// Returns the failure of a record without its place, which is reported separately.
fn unplaced(error: Error) -> Failure {
    match error {
        Error::Input { reason, what, .. } => {
            Failure::of_reason(axum::http::StatusCode::BAD_REQUEST, reason, what)
        }
        error => Failure::from(error),
    }
}

/// The signed documents of a request, and the response.
type Added = (Vec<ReceivedDocument>, AddResponse);

/// Signs the documents of a request, and reports records that are no documents. Signatures and meta
/// objects beyond `usual` bytes together take memory from `memory`. A request takes all of this
/// memory at once, because two requests with parts of the memory would wait for each other.
fn sign_within(
    signer: &DocumentSigner,
    body: &[u8],
    is_lines: bool,
    usual: usize,
    memory: &Arc<ByteBudget>,
    taken: &mut Option<Permit>,
    stop: &Stop,
) -> Result<Added, Failure> {
    let needed = match sign(signer, body, is_lines, usual + RESERVED_BYTES_MIN, stop)? {
        Ok(added) => return Ok(added),
        Err(needed) => needed,
    };
    let (bytes, max) = (needed.total(), memory.bytes_max());
    if bytes > max {
        return Err(needed.refusal(max).into());
    }
    *taken = Some(
        memory
            .enter_while(bytes, &|| stop.check().is_ok())
            .ok_or(Failure::from(Error::Cancelled))?,
    );
    sign(signer, body, is_lines, usize::MAX, stop)?.map_err(|_| Failure::internal())
}

/// The memory that the documents of a request take, in bytes.
#[derive(Debug, Clone, Copy, Default)]
struct NeededMemory {
    signatures: usize,
    meta: usize,
}

impl NeededMemory {
    fn total(self) -> usize {
        self.signatures.saturating_add(self.meta)
    }

    /// Returns the error for documents that take more than `bytes_max` bytes.
    fn refusal(self, bytes_max: usize) -> Error {
        let [all, meta] = [self.total(), self.meta].map(|bytes| bytes.div_ceil(1 << 20));
        let max = bytes_max >> 20;
        let what = match self.meta > self.signatures {
            true => format!(
                "these documents need {all} MiB of memory, {meta} MiB of it for `meta`, but at \
                 most {max} MiB are allowed; send fewer documents at a time, or smaller meta \
                 objects"
            ),
            false => format!(
                "signing these documents needs {all} MiB of memory, but at most {max} MiB are \
                 allowed; send less text at a time"
            ),
        };
        Error::Memory { what, is_for_now: false }
    }
}

/// Signs the documents if their signatures and meta objects take at most `bytes_max` bytes.
/// Otherwise returns the memory that they take.
fn sign(
    signer: &DocumentSigner,
    body: &[u8],
    is_lines: bool,
    bytes_max: usize,
    stop: &Stop,
) -> Result<Result<Added, NeededMemory>, Failure> {
    let options = SourceOptions {
        requires_id: true,
        meta_change_advice: Some(PATCH_ADVICE),
        meta_fields: MetaFields::object(),
        record_bytes_max: usize::MAX,
        ..SourceOptions::default()
    };
    let (mut documents, mut response) = (Vec::new(), AddResponse::default());
    let (mut needed, mut part) = (NeededMemory::default(), Vec::new());
    let mut add = |line: Option<u64>, document: Document| -> Result<(), Failure> {
        // Signatures and meta objects beyond the limit are counted but not kept.
        let bytes_left = bytes_max.saturating_sub(needed.total());
        let signed =
            signer.sign(&document, bytes_left, &mut part).map_err(|error| match error {
                Error::Internal { .. } => {
                    tracing::error!(%error, "a document triggers a defect");
                    Failure::poisonous(&document.id)
                }
                error if is_lines => unplaced(error),
                error => Failure::from(error),
            })?;
        let meta_bytes = heap_bytes(&document.meta);
        needed.signatures = needed.signatures.saturating_add(signed.bytes);
        needed.meta = needed.meta.saturating_add(meta_bytes);
        response.report.bytes += document.text.len() as u64;
        response.report.empty += u64::from(signed.tokens == 0);
        match signed.fingerprints {
            Some(signature) if needed.total() <= bytes_max => {
                let signed = signer.combine(document, signed.tokens, signature);
                let signed = signed.map_err(Failure::from)?;
                documents.push(ReceivedDocument { line, signed });
            }
            _ => documents = Vec::new(),
        }
        Ok(())
    };
    if !is_lines {
        let document = parse_record(body, &options).map_err(Failure::from)?;
        add(None, document)?;
        return Ok(if needed.total() > bytes_max {
            Err(needed)
        } else {
            Ok((documents, response))
        });
    }
    let mut errors = Vec::new();
    let mut failed = 0;
    let place = |line| format!("line {line}");
    for (line, document) in records(body, 1, &options, place) {
        let added = document.map_err(unplaced).and_then(|document| add(Some(line), document));
        let Err(Failure { code, message, .. }) = added else { continue };
        failed += 1;
        if errors.len() < ERRORS_MAX {
            errors.push(RecordError { line, code: code.to_owned(), message });
        }
    }
    // Unsigned records have not failed if the client has gone.
    stop.check()?;
    (response.report.failed, response.errors) = (failed, errors);
    Ok(if needed.total() > bytes_max { Err(needed) } else { Ok((documents, response)) })
}
