//! Signature extraction: segments of typical length.
//!
//! Signature extraction (Finkel, Zaslavsky, Monostori and Schmidt 2002, section 2) cuts the text at
//! hashed breakpoints and keeps the chunks whose length is near the median, because short chunks
//! carry little information and long chunks do not survive a copy. Digests have 40 bits.

use super::breaking::segments;
#[cfg(test)]
use super::family::Laws;
use super::family::{Family, L_MAX, SEGMENTS, SchemeBuilder};
use super::ngram;
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::runtime::Stop;
use crate::spec::Parameter;
use std::ops::Range;

pub(super) const FAMILY: Family = Family {
    name: "se",
    parameters: &[
        Parameter::number("c", 10, 1, L_MAX, "the mean length of a segment, in tokens"),
        Parameter::switch(
            "variance",
            1,
            "1 keeps those within some standard deviations of the median length, 0 as many as the \
             root of their number",
        ),
    ],
    summary: "segments as of `breaking`, of nearly median length, `c` tokens in the mean",
    density: "varies",
    source: "Finkel, Zaslavsky, Monostori and Schmidt 2002, section 2",
    example: "se(c=10,variance=1)",
    kind: SEGMENTS,
    build: SchemeBuilder::Alone(|spec| {
        let culling = if spec.is_on("variance") { Culling::Variance } else { Culling::Sqrt };
        Box::new(Se { c: spec.get("c") as usize, culling })
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["se(c=3)", "se(c=3,variance=0)"],
        pins: &[
            ("se", "words", 2994561618750700487),
            ("se(variance=0)", "words", 2994561618750700487),
        ],
        ..Laws::NONE
    },
};

/// The rule that selects chunks (section 2.2), where n is the number of chunks, m the median
/// length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Culling {
    /// The ceil(sqrt(n)) chunks with lengths nearest to m. Among equally near chunks the earlier is
    /// kept.
    Sqrt,
    /// The chunks within b standard deviations of m. b grows from 0.1 in tenths until at least
    /// sqrt(n) chunks are kept.
    Variance,
}

/// `se(c,variance)`: culled segments with mean length `c`.
#[derive(Debug)]
struct Se {
    c: usize,
    culling: Culling,
}

/// Returns the chunks that are kept, in order.
fn cull(mut chunks: Vec<Range<usize>>, culling: Culling) -> Vec<Range<usize>> {
    let n = chunks.len();
    if n == 0 {
        return chunks;
    }
    let mut lengths: Vec<usize> = chunks.iter().map(Range::len).collect();
    lengths.sort_unstable();
    // Twice the median, because a doubled median is a whole number.
    let median2 = lengths[(n - 1) / 2] + lengths[n / 2];
    let off2 = |chunk: &Range<usize>| (2 * chunk.len()).abs_diff(median2);
    let root = (n as f64).sqrt();
    match culling {
        Culling::Sqrt => {
            chunks.sort_by_key(off2);
            chunks.truncate(root.ceil() as usize);
            chunks.sort_unstable_by_key(|chunk| chunk.start);
        }
        Culling::Variance => {
            let mean = lengths.iter().sum::<usize>() as f64 / n as f64;
            let squares = lengths.iter().map(|&len| (len as f64 - mean) * (len as f64 - mean));
            let deviation = (squares.sum::<f64>() / n as f64).sqrt();
            let within = |chunk: &Range<usize>, b: f64| off2(chunk) as f64 / 2.0 <= b * deviation;
            let enough =
                |b: f64| chunks.iter().filter(|chunk| within(chunk, b)).count() as f64 >= root;
            // The median is within one standard deviation of the mean, so b = n at the latest
            // includes every chunk.
            let b = (1..=10 * n).map(|tenths| tenths as f64 / 10.0).find(|&b| enough(b));
            let b = b.unwrap_or(f64::INFINITY);
            chunks.retain(|chunk| b.is_infinite() || within(chunk, b));
        }
    }
    chunks
}

impl SchemeMethod for Se {
    fn segment_tokens(&self) -> Option<u32> {
        Some(self.c as u32)
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        let chunks = segments(hashes, self.c).collect();
        signature.extend(
            cull(chunks, self.culling)
                .into_iter()
                .map(|chunk| ngram::fingerprint(ngram::value(&hashes[chunk.clone()]), chunk.start)),
        );
        Ok(())
    }
}
