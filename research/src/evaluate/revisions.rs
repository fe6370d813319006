//! Pairs of revisions with exact similarities: the labelled pairs of two papers.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use fastrand::Rng;

use crate::Result;
use crate::cento::documents;
use crate::truth::{Truth, truths};

/// The source of the pairs.
#[derive(Debug, Args)]
pub struct Revisions {
    /// The revisions: a JSON lines file.
    #[arg(long)]
    corpus: PathBuf,
    /// Files of exact similarities of sets of five-word shingles.
    #[arg(long, required = true)]
    truth: Vec<PathBuf>,
    /// The seed that chooses pairs.
    #[arg(long, default_value = "1")]
    seed: u64,
}

impl Revisions {
    /// The pairs, in random order, and the texts.
    pub fn read(&self) -> Result<(Vec<Truth>, HashMap<String, String>)> {
        let mut pairs = Vec::new();
        for path in &self.truth {
            pairs.extend(truths(path)?);
        }
        Rng::with_seed(self.seed).shuffle(&mut pairs);
        let mut texts = HashMap::new();
        for document in documents(&self.corpus)? {
            let document = document?;
            texts.insert(document.id, document.text);
        }
        Ok((pairs, texts))
    }
}
