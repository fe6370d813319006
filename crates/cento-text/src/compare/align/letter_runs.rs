//! Finds short runs of letters in common.
//!
//! Two successive runs at about the same distance in both texts may be in a passage (the two hits
//! of Altschul et al. 1997, page 3391).

use super::hash_filter::HashFilter;
use super::places::Places;
use crate::error::Result;
use crate::hash::mix64;
use crate::runtime::Stop;

/// Extends the hash of letters by a letter: a polynomial over the letters.
fn with_letter(hash: u64, letter: u16) -> u64 {
    hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(letter.into())
}

/// The runs of letters of a query.
pub struct LetterRuns {
    /// The number of letters of a run.
    len: usize,
    known: HashFilter,
    places: Places,
}

impl LetterRuns {
    /// Returns the number of letters of a run for a text with this many letters. Runs are longer in
    /// a longer text, where chance makes more of them.
    fn len_for(letters: usize) -> usize {
        match letters {
            0..=0x4000 => 6,
            0x4001..=0x2_0000 => 7,
            _ => 8,
        }
    }

    /// Collects the runs of a query.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn new(query: &[u16], stop: &Stop) -> Result<LetterRuns> {
        let len = LetterRuns::len_for(query.len());
        let known = HashFilter::new(Hashes::new(query, len), stop)?;
        let places = Places::new(Hashes::new(query, len), stop)?;
        Ok(LetterRuns { len, known, places })
    }

    /// Returns the number of letters of a run.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the hashes of the runs of a document.
    pub fn hashes<'a>(&self, document: &'a [u16]) -> Hashes<'a> {
        Hashes::new(document, self.len)
    }

    /// Returns whether the query may have a run.
    #[inline]
    pub fn may_have(&self, hash: u64) -> bool {
        self.known.may_have(hash)
    }

    /// Fills `places` with the places of a run in the query, the last place first, or leaves it
    /// empty if there are too many. Returns the number of places compared.
    pub fn places(&self, query: &[u16], run: &[u16], hash: u64, places: &mut Vec<u32>) -> u64 {
        self.places.find(hash, |at| query[at..].starts_with(run), places)
    }
}

/// The hashes of all runs of a text, in order.
pub struct Hashes<'a> {
    letters: &'a [u16],
    /// The first letter of the next run.
    at: usize,
    len: usize,
    sum: u64,
    /// The factor of the letter that leaves a run.
    leaving: u64,
}

impl Hashes<'_> {
    fn new(letters: &[u16], len: usize) -> Hashes<'_> {
        let sum = letters.iter().take(len - 1).fold(0, |sum, &letter| with_letter(sum, letter));
        let leaving = (1..len).fold(1, |power, _| with_letter(power, 0));
        Hashes { letters, at: 0, len, sum, leaving }
    }
}

impl Iterator for Hashes<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let &last = self.letters.get(self.at + self.len - 1)?;
        let sum = with_letter(self.sum, last);
        let first = u64::from(self.letters[self.at]);
        self.sum = sum.wrapping_sub(first.wrapping_mul(self.leaving));
        self.at += 1;
        Some(mix64(sum))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.letters.len() + 1).saturating_sub(self.at + self.len);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Hashes<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_runs_have_equal_hashes_and_are_found(
            query in proptest::collection::vec(0u16..2, 0..40),
            document in proptest::collection::vec(0u16..2, 0..40),
        ) {
            let runs = LetterRuns::new(&query, Stop::NEVER).unwrap();
            let hashes: Vec<u64> = runs.hashes(&document).collect();
            prop_assert_eq!(hashes.len(), document.windows(runs.len()).len());
            prop_assert_eq!(runs.hashes(&document).len(), hashes.len());
            let mut places = Vec::new();
            for (&hash, run) in hashes.iter().zip(document.windows(runs.len())) {
                let naive = run.iter().fold(0, |sum, &letter| with_letter(sum, letter));
                prop_assert_eq!(hash, mix64(naive));
                let of_query = query.windows(runs.len()).enumerate();
                let same = of_query.filter(|(_, other)| *other == run).map(|(at, _)| at as u32);
                let same: Vec<u32> = same.collect();
                runs.places(&query, run, hash, &mut places);
                places.reverse();
                // With more places, only some or no places are found.
                if same.len() <= 2 {
                    prop_assert_eq!(&places, &same);
                }
                prop_assert!(places.iter().all(|place| same.contains(place)));
                prop_assert!(places.is_empty() || runs.may_have(hash));
            }
        }
    }

    #[test]
    fn runs_of_longer_texts_have_more_letters() {
        let lens = [0, 16_384, 16_385, 131_072, 131_073].map(LetterRuns::len_for);
        assert_eq!(lens, [6, 6, 7, 7, 8]);
        assert_eq!(LetterRuns::new(&[], Stop::NEVER).unwrap().hashes(&[1; 9]).len(), 4);
    }
}
