//! SPEX: a search for chunks that can occur twice, without counting all chunks.
//!
//! SPEX (Bernstein and Zobel 2004): a chunk of n tokens occurs twice only if both its chunks of n -
//! 1 tokens do. A collection is therefore read once for each length: the first pass counts tokens,
//! and each later pass counts only chunks whose parts were found twice. Chunks with equal hashes
//! share a counter, so a pass may let too many chunks through, but never too few. The last pass
//! counts exactly, and has few chunks left to count. Nine chunks in ten occur once, so the table of
//! repeated chunks is a fraction of the table of all chunks. The counters of two passes take 256
//! MiB.

use super::grams::Grams;

/// The number of counters of a pass, a byte each.
const COUNTERS: usize = 1 << 27;

/// The chunks that a pass found at least twice, and perhaps a few more.
#[derive(Debug)]
pub struct RepeatedChunks {
    grams: Grams,
    counters: Vec<u8>,
}

impl RepeatedChunks {
    /// Counts chunks of `q` tokens that the analyzer of this specification makes.
    #[must_use]
    pub fn new(q: usize, analyzer: &str) -> RepeatedChunks {
        RepeatedChunks { grams: Grams::new(q, analyzer), counters: vec![0; COUNTERS] }
    }

    /// Adds the chunks of a document whose parts the pass `before` found twice. Without a pass, all
    /// chunks.
    pub fn add(&mut self, tokens: &[u64], before: Option<&RepeatedChunks>) {
        let may_repeat = candidates(tokens, before);
        for (key, may_repeat) in self.grams.keys(tokens).zip(may_repeat) {
            if may_repeat {
                let counter = &mut self.counters[place(key)];
                *counter = counter.saturating_add(1);
            }
        }
    }

    fn has_twice(&self, key: u64) -> bool {
        self.counters[place(key)] >= 2
    }
}

/// Returns, for each chunk of a document in order, whether both parts were found twice.
pub fn candidates<'a>(
    tokens: &'a [u64],
    before: Option<&'a RepeatedChunks>,
) -> impl Iterator<Item = bool> + 'a {
    let all = std::iter::repeat_n(true, if before.is_none() { tokens.len() } else { 0 });
    let mut last = None;
    let pairs = before
        .into_iter()
        .flat_map(|before| before.grams.keys(tokens).map(|key| before.has_twice(key)));
    all.chain(pairs.filter_map(move |is_twice| {
        let last = last.replace(is_twice);
        last.map(|last| last && is_twice)
    }))
}

fn place(key: u64) -> usize {
    (crate::hash::mix64(key) % COUNTERS as u64) as usize
}
