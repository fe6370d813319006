//! Tokens that differ between two sequences, within a number of comparisons.

use std::cell::Cell;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::error::Result;
use crate::runtime::Stop;

const COMPARISONS_A_LOOK: u64 = 1 << 18;

/// Counts the comparisons of tokens. Without a limit two texts of a megabyte might take hours,
/// because the number of comparisons is the product of tokens and differences.
///
/// ```
/// use cento_text::{Stop, compare::difference::Comparisons};
///
/// let few = Comparisons::new(2, Stop::NEVER).differences(&[1, 2, 3, 4], &[5, 6, 7, 8])?;
/// assert!(few.is_none());
/// let enough = Comparisons::new(1000, Stop::NEVER).differences(&[1, 2, 3], &[1, 9, 3])?;
/// assert_eq!(enough.map(|stretches| stretches.len()), Some(3));
/// # Ok::<(), cento_text::Error>(())
/// ```
#[derive(Debug)]
pub struct Comparisons<'a> {
    made: Cell<u64>,
    max: u64,
    stop: &'a Stop,
}

impl<'a> Comparisons<'a> {
    /// Allows this number of comparisons, until `stop` is set.
    pub fn new(max: u64, stop: &'a Stop) -> Comparisons<'a> {
        Comparisons { made: Cell::new(0), max, stop }
    }

    /// Returns the equal stretches of two sequences, and the different stretches. `None` if the
    /// comparisons run out.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after the stop.
    pub fn differences(&self, a: &[u64], b: &[u64]) -> Result<Option<Vec<DiffOp>>> {
        let counted = |hashes: &[u64]| -> Vec<CountedToken<'_>> {
            hashes.iter().map(|&hash| CountedToken { hash, by: self }).collect()
        };
        let differences = capture_diff_slices(Algorithm::Myers, &counted(a), &counted(b));
        self.stop.check()?;
        Ok((!self.is_over()).then_some(differences))
    }

    fn is_over(&self) -> bool {
        self.made.get() > self.max
    }
}

/// A token whose comparisons are counted. After too many comparisons all tokens are equal, because
/// `similar` cannot be interrupted, but soon ends if everything is equal.
#[derive(Clone, Copy)]
struct CountedToken<'a> {
    hash: u64,
    by: &'a Comparisons<'a>,
}

impl PartialEq for CountedToken<'_> {
    fn eq(&self, other: &Self) -> bool {
        let Comparisons { made, max, stop } = self.by;
        if self.by.is_over() {
            return true;
        }
        made.set(made.get() + 1);
        if made.get().is_multiple_of(COMPARISONS_A_LOOK) && stop.check().is_err() {
            made.set(max + 1);
        }
        self.hash == other.hash
    }
}

impl Eq for CountedToken<'_> {}

impl PartialOrd for CountedToken<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CountedToken<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.hash.cmp(&other.hash)
    }
}

impl Hash for CountedToken<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}
