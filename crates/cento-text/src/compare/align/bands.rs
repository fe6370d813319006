//! Decides which runs of letters start an alignment.
//!
//! Two successive runs at about the same distance in both texts start an alignment, unless an
//! alignment has passed through both runs (the two hits of Altschul et al. 1997, page 3391).

use super::local::{DROP, Pair};

/// Logarithm of a band's width: differences of places in the two texts that differ by less share a
/// band.
const BAND_BITS: u32 = 4;

/// Bands of diagonals: the difference of the places in the two texts.
pub struct Bands {
    query_letters: usize,
    /// For each band, the end in the document of the last run.
    ends: Vec<u32>,
    /// Per band, the end in the document of the alignments through the band.
    passed: Vec<u32>,
}

impl Bands {
    /// Creates the bands of texts with this many letters.
    pub fn new(query_letters: usize, document_letters: usize) -> Bands {
        let count = ((query_letters + document_letters) >> BAND_BITS) + 2;
        Bands { query_letters, ends: vec![0; count], passed: vec![0; count] }
    }

    fn distance(&self, (i, j): Pair) -> usize {
        self.query_letters + j as usize - i as usize
    }

    /// Records a run of `len` letters and returns whether it starts an alignment: a second run was
    /// shortly before, and no alignment has passed through both runs.
    pub fn bring_up(&mut self, pair: Pair, len: u32) -> bool {
        let distance = self.distance(pair);
        let band = distance >> BAND_BITS;
        // The nearer of the two neighboring bands.
        let is_upper = distance >> (BAND_BITS - 1) & 1 == 1;
        let near = if is_upper { band + 1 } else { band.saturating_sub(1) };
        let start = pair.1;
        if self.passed[band].max(self.passed[near]) > start {
            return false;
        }
        // An alignment spans at most half as many wrong letters in a row.
        let follows = |end: u32| end > 0 && end <= start && start - end <= 2 * DROP as u32;
        let is_second = follows(self.ends[band]) || follows(self.ends[near]);
        // Overlapping runs count as one run.
        if is_second || self.ends[band] <= start {
            self.ends[band] = start + len;
        }
        is_second
    }

    /// Records that an alignment passed through a pair of letters.
    pub fn pass(&mut self, pair: Pair) {
        let band = self.distance(pair) >> BAND_BITS;
        let passed = &mut self.passed[band];
        *passed = (*passed).max(pair.1 + 1);
    }
}
