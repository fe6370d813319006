//! What a searcher over a shard keeps between requests.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::chance::Chance;
use super::sample::Sample;

/// The models of chance that a searcher keeps: that of the last commits of all shards, and the one
/// before, which searches may still use.
const MODELS_KEPT: usize = 2;

/// A model of chance of all shards, with the digest of its sample and the number of documents.
type Model = (String, u64, Arc<Chance>);

/// What a searcher over a shard keeps between requests.
#[derive(Default)]
pub struct ShardCaches {
    /// The digest of the commit.
    pub commit: OnceLock<String>,
    /// The sample of the texts of the shard.
    pub sample: OnceLock<Option<Sample>>,
    /// The models of all shards, the last one last.
    models: Mutex<Vec<Model>>,
}

impl ShardCaches {
    /// Returns the model of the sample with this digest, for this number of documents.
    pub fn model(&self, digest: &str, documents: u64) -> Option<Arc<Chance>> {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let found = models.iter().find(|model| model.0 == digest && model.1 == documents);
        found.map(|(.., model)| model.clone())
    }

    /// Keeps a model, in place of the oldest one.
    pub fn keep_model(&self, digest: &str, documents: u64, model: &Arc<Chance>) {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if models.len() >= MODELS_KEPT {
            models.remove(0);
        }
        models.push((digest.to_owned(), documents, model.clone()));
    }
}
