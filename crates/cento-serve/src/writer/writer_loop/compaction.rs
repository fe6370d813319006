//! Compaction while documents are added.

use super::WriterLoop;
use crate::command::{Command, Reply};
use crate::failure::Failure;
use cento::index::Compaction;
use cento::{Error, Result};
use cento_api::http::CompactResponse;

/// The maximum number of attempts when other merges interfere.
const COMPACTION_TRIES: u32 = 10;

/// A compaction in progress.
pub(super) struct Running {
    pub segments: usize,
    pub tries: u32,
    pub reply: Option<Reply<CompactResponse>>,
}

impl WriterLoop {
    pub(super) fn begin_compaction(&mut self) {
        // Commit first. The compaction then drops the deleted documents.
        self.commit();
        let Some(running) = &mut self.running else { return };
        running.tries += 1;
        let segments = running.segments;
        let documents = self.published.current().snapshot().documents();
        let documents_min = documents_min(running.tries, documents);
        self.tell_compacting(true);
        let begun = Error::catch("a compaction", || {
            self.writer()?.begin_compaction(segments, documents_min)
        });
        let compacting = match begun {
            Ok(compacting) => compacting,
            Err(error) => return self.end_compaction(Err(error)),
        };
        let commands = self.commands.clone();
        let waiting = std::thread::Builder::new().spawn(move || {
            let done = Error::catch("a compaction", || compacting.wait());
            let _ = commands.send(Command::Compacted(done));
        });
        if let Err(error) = waiting {
            self.end_compaction(Err(Error::io("start", "a thread", error)));
        }
    }

    pub(super) fn end_compaction(&mut self, result: Result<Compaction>) {
        let Some(running) = &mut self.running else { return };
        if matches!(result, Err(Error::Conflict { .. })) && running.tries < COMPACTION_TRIES {
            return self.begin_compaction();
        }
        let reply = running.reply.take();
        self.running = None;
        match &result {
            Ok(done) => {
                self.publish();
                self.metrics.compactions.inc();
                let Compaction { segments_before, segments_after, purged } = *done;
                tracing::info!(segments_before, segments_after, purged, "compacted");
            }
            Err(error) => tracing::error!(%error, "the index could not be compacted"),
        }
        self.tell_compacting(false);
        if let Some(reply) = reply {
            let response = |done| CompactResponse { done: true, compaction: Some(done) };
            reply.send(result.map(response).map_err(|error| match error {
                Error::Conflict { kind, .. } => Failure::from(Error::conflict(
                    kind,
                    "documents were replaced faster than segments could be merged; try again",
                )),
                error => Failure::from(error),
            }));
        }
    }
}

/// Returns the minimum number of documents in the segments of attempt `tries`. Small segments
/// disappear in the meantime. In a small index, trying again with all segments costs little.
fn documents_min(tries: u32, documents: u64) -> u32 {
    let share = match tries {
        1 => 0,
        tries => (documents / 10_000).saturating_mul(8u64.saturating_pow(tries - 2)),
    };
    let least = 8u64.saturating_pow(tries.saturating_sub(5)) - 1;
    u32::try_from(share.max(least)).unwrap_or(u32::MAX)
}
