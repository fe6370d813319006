//! What becomes of a document, and why?

use serde::Serialize;

use super::DedupOptions;
use super::recent::Prefix;
use crate::error::Result;
use crate::index::Document;
use crate::overlap::{Overlap, least_overlap};

/// What becomes of a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Verdict {
    /// It is kept, without these passages.
    Kept {
        /// What was cut out, in the order of the text.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        cut: Vec<Cut>,
        /// The id that it has in the index, if another document has its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        kept_as: Option<String>,
    },
    /// Its text is that of another document.
    Exact {
        /// The id of that document.
        of: String,
        /// Which index has it, if there are several to compare with.
        #[serde(skip_serializing_if = "Option::is_none")]
        index: Option<String>,
    },
    /// It resembles another document.
    Near {
        /// The id of that document.
        of: String,
        /// Which index has it, if there are several to compare with.
        #[serde(skip_serializing_if = "Option::is_none")]
        index: Option<String>,
        /// How much.
        resemblance: f64,
    },
    /// It is contained in another document.
    Contained {
        /// The id of that document.
        of: String,
        /// Which index has it, if there are several to compare with.
        #[serde(skip_serializing_if = "Option::is_none")]
        index: Option<String>,
        /// How much of it.
        containment: f64,
    },
    /// All of it consists of passages of other documents.
    Passages {
        /// What was cut out.
        cut: Vec<Cut>,
    },
}

/// A passage that was cut out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cut {
    /// The bytes of the text, half-open.
    pub bytes: (u32, u32),
    /// The tokens in it.
    pub tokens: u32,
    /// A document that has it.
    pub of: String,
    /// Which index has that document, if there are several to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
}

/// A document and what becomes of it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Decision<'a> {
    /// The document.
    pub document: &'a Document,
    /// What becomes of it.
    pub verdict: &'a Verdict,
}

impl Decision<'_> {
    /// The text that is kept: the whole text, without what was cut out.
    #[must_use]
    pub fn kept_text(&self) -> String {
        let cut = match self.verdict {
            Verdict::Kept { cut, .. } | Verdict::Passages { cut } => &cut[..],
            _ => &[],
        };
        let text = &self.document.text;
        let (mut kept, mut at) = (String::new(), 0);
        for cut in cut {
            kept += &text[at..cut.bytes.0 as usize];
            at = cut.bytes.1 as usize;
        }
        kept + &text[at..]
    }
}

/// A document that has what another one repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its id.
    pub id: String,
    /// Its index, if there are several to compare with.
    pub index: Option<String>,
}

impl Holder {
    /// One that this run has kept.
    pub fn own(id: &str) -> Holder {
        Holder { id: id.to_owned(), index: None }
    }
}

/// Why a document is dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// 2 for the same text, 1 for resemblance, 0 for containment; more is better.
    rank: u8,
    similarity: f64,
    of: Holder,
}

/// The number of additional fingerprints by which a document is found, if it must share `least` with
/// others: with more of them, the lists that are followed are rarer.
fn longer(least: u32) -> usize {
    (least as usize * 3 / 8).max(1)
}

impl DedupOptions {
    /// The number of its `size` fingerprints by which a document must be indexed.
    pub(super) fn indexed(&self, size: usize) -> usize {
        match self.near {
            // What stands in a document may be anywhere in it.
            _ if self.contained.is_some() || self.passage.is_some() => size,
            Some(near) if size > 0 => {
                let least = least_overlap(near, size as u32);
                size - least as usize + longer(least)
            }
            _ => 0,
        }
    }

    /// How a document of `size` fingerprints is searched for, if it must have `least` in common with
    /// what is found.
    pub(super) fn prefix(&self, size: u32, least: u32) -> Prefix {
        let probed = (size - least) as usize + longer(least);
        let needed = match self.near {
            // The other may be smaller, and found by fewer. It has `least` itself.
            Some(near) if self.indexed(size as usize) < size as usize => {
                longer(least_overlap(near, least)).min(longer(least))
            }
            _ => longer(least),
        };
        Prefix { probed, needed }
    }

    /// The least overlap of a document of `size` fingerprints with another that can be a reason to
    /// drop it; none if nothing but the same text can.
    pub(super) fn overlap_min(&self, size: u32) -> Option<u32> {
        let least = self.near.into_iter().chain(self.contained).reduce(f64::min);
        least.map(|share| least_overlap(share, size))
    }
}

impl Reason {
    /// The same text as the document `of`.
    pub fn exact(of: Holder) -> Reason {
        Reason { rank: 2, similarity: 1.0, of }
    }

    /// Returns the reason to drop a document, the first, for another, called `of`, if there is one. `estimate` gives the
    /// estimated resemblance of both.
    pub fn of(
        options: &DedupOptions,
        overlap: Overlap,
        estimate: &mut dyn FnMut() -> Result<f64>,
        of: &dyn Fn() -> Result<Holder>,
    ) -> Result<Option<Reason>> {
        let (resemblance, containment) = (overlap.resemblance(), overlap.containment());
        let mut is_near = options.near.is_some_and(|near| resemblance >= near);
        if let (true, Some(least)) = (is_near, options.near_estimated) {
            is_near = estimate()? >= least;
        }
        let (rank, similarity) = if is_near {
            (1, resemblance)
        } else if options.contained.is_some_and(|contained| containment >= contained) {
            (0, containment)
        } else {
            return Ok(None);
        };
        Ok(Some(Reason { rank, similarity, of: of()? }))
    }

    /// Returns the better of two; of equal ones, that of the first id.
    pub fn better(a: Option<Reason>, b: Option<Reason>) -> Option<Reason> {
        let (Some(first), Some(second)) = (&a, &b) else { return a.or(b) };
        let order = first.rank.cmp(&second.rank);
        let order = order.then(first.similarity.total_cmp(&second.similarity));
        if order.then_with(|| second.of.id.cmp(&first.of.id)).is_ge() { a } else { b }
    }

    /// What becomes of the document.
    pub fn verdict(self) -> Verdict {
        let Reason { rank, similarity, of: Holder { id: of, index } } = self;
        match rank {
            2 => Verdict::Exact { of, index },
            1 => Verdict::Near { of, index, resemblance: similarity },
            _ => Verdict::Contained { of, index, containment: similarity },
        }
    }
}
