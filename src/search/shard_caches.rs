//! The caches of a searcher over a shard, kept between requests.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::chance::Chance;
use super::sample::Sample;

/// The number of cached models of chance: one for the last commits of every shard, and its
/// predecessor, which running searches may still use.
const MODELS_KEPT: usize = 2;

/// A model of chance over every shard, with the digest of its sample and the number of documents.
type Model = (String, u64, Arc<Chance>);

/// The caches of a searcher over a shard.
#[derive(Default)]
pub struct ShardCaches {
    /// The digest of the commit.
    pub commit: OnceLock<String>,
    /// The sample of the texts of the shard.
    pub sample: OnceLock<Option<Sample>>,
    /// The models over every shard, newest last.
    models: Mutex<Vec<Model>>,
}

impl ShardCaches {
    /// Returns the model for the sample with this digest and this number of documents.
    pub fn model(&self, digest: &str, documents: u64) -> Option<Arc<Chance>> {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let found = models.iter().find(|model| model.0 == digest && model.1 == documents);
        found.map(|(.., model)| model.clone())
    }

    /// Caches a model, in place of the oldest model.
    pub fn keep_model(&self, digest: &str, documents: u64, model: &Arc<Chance>) {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if models.len() >= MODELS_KEPT {
            models.remove(0);
        }
        models.push((digest.to_owned(), documents, model.clone()));
    }
}
