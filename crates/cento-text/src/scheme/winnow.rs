//! Winnowing: fingerprints that documents with a common passage are certain to share.
//!
//! Winnowing (Schleimer, Wilkerson and Aiken 2003) keeps the k-gram of minimum value of every `w`
//! consecutive k-grams. A passage of `w + k - 1` tokens contains `w` k-grams, and every document
//! with the passage keeps the same value of these k-grams.
//!
//! Among equal values, winnowing keeps the value that the previous window kept, or else the
//! rightmost: the paper's *robust* winnowing (section 5.1). In a line of dots or a table of zeros,
//! robust winnowing keeps one k-gram in `w`. To keep the rightmost of every window would keep every
//! k-gram.
//!
//! A short text, with at most [`ALL_RUNS_WINDOWS`] windows' worth of k-grams, keeps all k-grams.
//! Winnowing would keep one or a few, and a single stock phrase would then decide for the whole
//! text: among the notices of fewer than 30 words that shared all of their fingerprints, half had a
//! resemblance below 0.5. The winnowed fingerprints are among all k-grams, so the guarantee holds
//! for short texts too.

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, K, K_GRAMS, SchemeBuilder, W_MAX};
use super::ngram::{self, GramValues, Rolling};
use super::{Fingerprint, SchemeMethod, Signer};
use crate::Result;
use crate::runtime::Stop;
use crate::scheme::Estimator;
use crate::spec::Parameter;

pub(super) const FAMILY: Family = Family {
    name: "winnow",
    parameters: &[
        K,
        Parameter::number("w", 10, 1, W_MAX, "of `w` runs in a row at least one is kept"),
    ],
    summary: "the least of every `w` runs in a row",
    density: "2 / (w + 1)",
    source: "Schleimer, Wilkerson and Aiken 2003; robust winnowing, section 5.1",
    example: "winnow(k=5,w=10)",
    kind: K_GRAMS,
    build: SchemeBuilder::Alone(|spec| {
        Box::new(Winnow::new(spec.get("k") as usize, spec.get("w") as usize))
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["winnow(k=3,w=4)"],
        pins: &[
            ("winnow", "words", 1878468975791577025),
            ("winnow(k=5,w=4)", "words", 2883167435455026790),
        ],
        ..Laws::NONE
    },
};

/// A text of at most this many times `w` k-grams keeps every k-gram. A longer text keeps at least
/// six fingerprints, enough to estimate similarities.
const ALL_RUNS_WINDOWS: usize = 3;

/// `winnow(k,w)`: the minimum k-gram of every `w`, or all k-grams of a short text.
#[derive(Debug)]
struct Winnow {
    k: usize,
    w: usize,
}

/// The number of values in memory, enough for the largest window.
const BUFFER: usize = 1024;
const _: () = assert!(BUFFER >= 2 * W_MAX as usize);

impl Winnow {
    fn new(k: usize, w: usize) -> Winnow {
        assert!((1..=W_MAX as usize).contains(&w), "the grammar bounds w");
        Winnow { k, w }
    }

    /// Returns the maximum number of k-grams of a text that keeps all k-grams.
    fn all_runs_max(&self) -> usize {
        ALL_RUNS_WINDOWS * self.w
    }
}

impl SchemeMethod for Winnow {
    fn window(&self) -> Option<usize> {
        Some(self.w)
    }

    fn chosen_run_tokens(&self) -> Option<usize> {
        Some(self.k)
    }

    fn estimator(&self) -> Option<Estimator> {
        Some(Estimator::of_windows(self.k as u32, self.w as u32, self.all_runs_max() as u32))
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        if ngram::sign_short(hashes, self.k, signature) {
            return Ok(());
        }
        let values = GramValues::new(hashes, self.k);
        let runs = hashes.len() + 1 - self.k;
        if runs <= self.all_runs_max() {
            signature.reserve_exact(runs);
            let values = values.enumerate();
            signature.extend(values.map(|(position, value)| ngram::fingerprint(value, position)));
            return Ok(());
        }
        signature.reserve_exact(expected(hashes.len(), self.w));
        winnow(values, self.w, |value, position| {
            signature.push(ngram::fingerprint(value, position));
        });
        Ok(())
    }

    fn signer(&self) -> Option<Box<dyn Signer + '_>> {
        Some(Box::new(Winnowing {
            rolling: Rolling::new(self.k),
            windows: OpenWindows::new(self.w),
            all_runs_max: self.all_runs_max(),
            first: Vec::new(),
        }))
    }
}

/// Winnows as tokens arrive.
struct Winnowing {
    rolling: Rolling,
    windows: OpenWindows,
    all_runs_max: usize,
    /// The values so far, while the text may be short.
    first: Vec<u64>,
}

impl Winnowing {
    /// Returns whether there are more values than in a short text.
    fn is_long(&self) -> bool {
        self.first.len() > self.all_runs_max
    }
}

impl Signer for Winnowing {
    fn push(&mut self, hashes: &[u64], signature: &mut Vec<Fingerprint>) {
        let was_long = self.is_long();
        let (_, mut values) = self.rolling.push(hashes);
        let mut keep = |value, position| signature.push(ngram::fingerprint(value, position));
        if !was_long {
            let room = self.all_runs_max + 1 - self.first.len();
            self.first.extend(values.by_ref().take(room));
            if self.first.len() <= self.all_runs_max {
                return;
            }
            self.windows.push(self.first.iter().copied(), &mut keep);
        }
        self.windows.push(values, keep);
    }

    fn finish(mut self: Box<Self>, signature: &mut Vec<Fingerprint>) {
        if self.rolling.sign_short(signature) {
            return;
        }
        let mut keep = |value, position| signature.push(ngram::fingerprint(value, position));
        if self.is_long() {
            self.windows.finish(keep);
        } else {
            self.first.iter().enumerate().for_each(|(position, &value)| keep(value, position));
        }
    }
}

/// Returns a little more than the usual number of fingerprints for this many values. Among random
/// values, two in w + 1 are kept (Schleimer, Wilkerson and Aiken 2003).
fn expected(values: usize, w: usize) -> usize {
    let kept = 2 * values / (w + 1);
    kept + kept / 8 + 4
}

/// Calls `keep` with the minimum of every `w` values in a row and its position. Fewer values than
/// `w` count as one window.
#[inline(always)]
pub(super) fn winnow(
    values: impl Iterator<Item = u64>,
    w: usize,
    mut keep: impl FnMut(u64, usize),
) {
    let mut windows = OpenWindows::new(w);
    windows.push(values, &mut keep);
    windows.finish(keep);
}

/// The undecided windows of a sequence of values.
struct OpenWindows {
    w: usize,
    buffer: [u64; BUFFER],
    held: usize,
    /// The position of `buffer[0]`.
    base: usize,
    /// The index of the value kept last, and of the next value to compare with it. `None` at first.
    last: Option<(usize, usize)>,
}

impl OpenWindows {
    fn new(w: usize) -> OpenWindows {
        OpenWindows { w, buffer: [0; BUFFER], held: 0, base: 0, last: None }
    }

    /// Takes values, and keeps the minimum of each complete window.
    #[inline(always)]
    fn push(&mut self, mut values: impl Iterator<Item = u64>, mut keep: impl FnMut(u64, usize)) {
        loop {
            self.held += fill(&mut self.buffer[self.held..], &mut values);
            if self.held < BUFFER {
                return;
            }
            self.slide(&mut keep);
        }
    }

    /// Processes the remaining values at the end of the sequence.
    #[inline(always)]
    fn finish(&mut self, mut keep: impl FnMut(u64, usize)) {
        if self.held > 0 {
            self.slide(&mut keep);
        }
    }

    /// Processes all complete windows, and makes room for further values.
    #[inline(always)]
    fn slide(&mut self, keep: &mut impl FnMut(u64, usize)) {
        let OpenWindows { w, buffer, held, base, last } = self;
        let (mut least, mut next) = last.unwrap_or_else(|| {
            let next = (*w).min(*held);
            let least = ngram::rightmost_least(&buffer[..next]);
            keep(buffer[least], *base + least);
            (least, next)
        });
        loop {
            let end = (*held).min(least + *w);
            if let Some(less) = first_below(buffer[least], &buffer[next..end]) {
                least = next + less;
                next = least + 1;
            } else if end < *held {
                // The value kept last is in every complete window but this one. Scanning the window
                // is cheaper than keeping candidates in order, because that happens once in w
                // values (measured against a monotone queue and against two stacks).
                least += 1 + ngram::rightmost_least(&buffer[least + 1..=end]);
                next = end + 1;
            } else {
                break;
            }
            keep(buffer[least], *base + least);
        }
        // Moves all values that later windows can contain to the front.
        buffer.copy_within(least..*held, 0);
        *base += least;
        *held -= least;
        // `end` is the end of the values in the buffer, so the following values have not been
        // compared.
        *last = Some((0, *held));
    }
}

/// Fills the buffer from its start. Returns the number of values, less than the buffer's length
/// only at the end of the sequence.
#[inline(always)]
fn fill(buffer: &mut [u64], values: &mut impl Iterator<Item = u64>) -> usize {
    let mut filled = 0;
    for (slot, value) in buffer.iter_mut().zip(values) {
        *slot = value;
        filled += 1;
    }
    filled
}

#[inline(always)]
fn first_below(limit: u64, values: &[u64]) -> Option<usize> {
    values.iter().position(|&value| value < limit)
}
