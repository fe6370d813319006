//! The verdict on a document and its reason.

use cento_api::Part;
use serde::Serialize;

use super::DedupSettings;
use super::recent::Prefix;
use crate::cut_out;
use cento::index::Document;
use cento_api::error::Result;
use cento_api::overlap::Overlap;
use cento_api::similarity::{Similarity, is_false};
use cento_text::sampling::{Sampling, Size};

/// The verdict on a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Verdict {
    /// The document is kept, without the cut passages.
    Kept {
        /// The passages that were cut out, in the order of the text.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        cut: Vec<CutPassage>,
        /// The id in the index, if another document has the document's own id.
        #[serde(skip_serializing_if = "Option::is_none")]
        kept_as: Option<String>,
        /// Whether the document replaces an earlier version with another text.
        #[serde(skip_serializing_if = "is_false")]
        replaces: bool,
    },
    /// The document is kept and brings nothing new: an index has had the same text under the
    /// document's id since before the run.
    Unchanged {
        /// The passages that were cut out, in the order of the text.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        cut: Vec<CutPassage>,
        /// The id in the index, if another document has the document's own id.
        #[serde(skip_serializing_if = "Option::is_none")]
        kept_as: Option<String>,
    },
    /// The text, or what remains after cuts, equals the text of another document. `Near` and
    /// `Contained` refer to the same text.
    Exact {
        /// The id of the document with the same text.
        of: String,
        /// The index of that document, if there are several to compare with.
        #[serde(skip_serializing_if = "Option::is_none")]
        index: Option<String>,
    },
    /// The document resembles another document.
    Near {
        /// The id of the similar document.
        of: String,
        /// The index of that document, if there are several to compare with.
        #[serde(skip_serializing_if = "Option::is_none")]
        index: Option<String>,
        /// The resemblance of the texts, 0 to 1.
        resemblance: f64,
        /// How the resemblance is known.
        #[serde(flatten)]
        evidence: Evidence,
    },
    /// Another document contains enough of the document.
    Contained {
        /// The id of the containing document.
        of: String,
        /// The index of that document, if there are several to compare with.
        #[serde(skip_serializing_if = "Option::is_none")]
        index: Option<String>,
        /// The share of the text that the containing document has, 0 to 1.
        containment: f64,
        /// How the containment is known.
        #[serde(flatten)]
        evidence: Evidence,
    },
    /// The text consists of passages of other documents, except perhaps for a few words.
    Passages {
        /// The passages that were cut out, in the order of the text.
        cut: Vec<CutPassage>,
    },
    /// An index refuses the document, because it was withdrawn or copies a withdrawn document. This
    /// may be the index of the run or an index to compare with.
    Withdrawn {
        /// The id of the withdrawn document.
        of: String,
        /// When the document was withdrawn, as RFC 3339.
        withdrawn: String,
    },
}

/// How a similarity is known: computed from texts, estimated, or taken from sketches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Evidence {
    /// Whether both texts were compared.
    pub exact: bool,
    /// The standard error of an estimated resemblance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Whether the similarity is the similarity of sketches.
    #[serde(skip_serializing_if = "is_false")]
    pub of_sketches: bool,
}

impl Evidence {
    fn of(similarity: &Similarity) -> Evidence {
        let Similarity { exact, standard_error, of_sketches, .. } = *similarity;
        Evidence { exact, standard_error: standard_error.filter(|_| !exact), of_sketches }
    }
}

/// A passage that was cut out, with the marks, blanks and few words that belong to the passage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CutPassage {
    /// The bytes of the text, half-open.
    pub bytes: (u32, u32),
    /// The number of tokens in the passage.
    pub tokens: u32,
    /// The id of a document that has the passage.
    pub of: String,
    /// The index of that document, if there are several to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
}

impl Verdict {
    /// Tells whether the document is kept, with or without cuts.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        matches!(self, Verdict::Kept { .. } | Verdict::Unchanged { .. })
    }

    /// Returns the name of the verdict in JSON: `kept`, `unchanged`, `exact`, `near`, `contained`,
    /// `passages` or `withdrawn`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Verdict::Kept { .. } => "kept",
            Verdict::Unchanged { .. } => "unchanged",
            Verdict::Exact { .. } => "exact",
            Verdict::Near { .. } => "near",
            Verdict::Contained { .. } => "contained",
            Verdict::Passages { .. } => "passages",
            Verdict::Withdrawn { .. } => "withdrawn",
        }
    }

    /// Returns the id of the duplicated document. `None` unless the verdict is about a single
    /// document.
    #[must_use]
    pub fn of(&self) -> Option<&str> {
        match self {
            Verdict::Exact { of, .. }
            | Verdict::Near { of, .. }
            | Verdict::Contained { of, .. } => Some(of),
            Verdict::Kept { .. }
            | Verdict::Unchanged { .. }
            | Verdict::Passages { .. }
            | Verdict::Withdrawn { .. } => None,
        }
    }

    /// Returns the passages that were cut out, in the order of the text. Empty for other verdicts.
    #[must_use]
    pub fn cut(&self) -> &[CutPassage] {
        match self {
            Verdict::Kept { cut, .. }
            | Verdict::Unchanged { cut, .. }
            | Verdict::Passages { cut } => cut,
            _ => &[],
        }
    }
}

/// A document and its verdict.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// The document with its original id and text.
    pub document: Document,
    /// The verdict on the document.
    pub verdict: Verdict,
}

impl Decision {
    /// Returns the kept text, without the passages that were cut out, and its parts.
    ///
    /// ```
    /// use cento_collections::dedup::{Dedup, DedupOptions, Event, Record};
    /// use cento::{Config, Document, Index, SignedDocument, Stop};
    ///
    /// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// let notice = "All rights of this text are reserved by the owner of the page.";
    /// let news = ["One item is about whales.", "Another is about clocks and how they work."];
    /// let texts = news.map(|item| format!("{notice} {item}"));
    /// let records = texts.into_iter().enumerate().map(|(id, text)| {
    ///     let document = Document::new(id.to_string(), text);
    ///     Ok(Record::Document(SignedDocument::new(document, index.config(), Stop::NEVER)?))
    /// });
    /// // Cut passages of ten words or more that an earlier document has.
    /// let options = DedupOptions::default().cut_passages(10u32);
    /// let mut kept = Vec::new();
    /// for event in Dedup::new(&index, &options, records) {
    ///     if let Event::Decided(decision) = event? {
    ///         kept.push(decision.kept_text().0);
    ///     }
    /// }
    /// assert!(kept[0].contains("reserved") && !kept[1].contains("reserved"));
    /// # Ok::<(), cento::Error>(())
    /// ```
    #[must_use]
    pub fn kept_text(&self) -> (String, Vec<Part>) {
        let cut: Vec<_> = self.verdict.cut().iter().map(|cut| cut.bytes).collect();
        cut_out(&self.document, &cut)
    }
}

/// A document that has the text of another document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The id of the document.
    pub id: String,
    /// The index of the document, if there are several to compare with.
    pub index: Option<String>,
}

impl Holder {
    /// Creates the holder for a document that this run has kept.
    pub fn own(id: &str) -> Holder {
        Holder { id: id.to_owned(), index: None }
    }
}

/// The reason to drop a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// 2 for the same text, 1 for resemblance, 0 for containment. A higher rank is better.
    rank: u8,
    similarity: f64,
    evidence: Evidence,
    of: Holder,
}

/// Returns how many fingerprints beyond the shortest prefix to search with, for documents that must
/// share `least`. A longer prefix allows skipping the most frequent fingerprints.
fn longer(least: u32) -> usize {
    (least as usize * 5 / 8).max(1)
}

impl DedupSettings {
    /// Returns how many fingerprints of a document of this size to index.
    pub(super) fn indexed(&self, sampling: Sampling, own: Size) -> usize {
        let size = own.fingerprints as usize;
        match self.min_resemblance {
            // The shared part may be anywhere in a document, so every fingerprint is indexed.
            _ if self.min_containment.is_some() || self.cut_passages.is_some() => size,
            Some(near) if size > 0 => {
                let least = sampling.least_shared(near, own);
                (size - (least as usize).min(size) + longer(least)).min(size)
            }
            _ => 0,
        }
    }

    /// Returns the prefix to search with for a document of this size that must share `least`
    /// fingerprints with the documents found.
    pub(super) fn prefix(&self, sampling: Sampling, own: Size, least: u32) -> Prefix {
        let size = own.fingerprints;
        let probed = ((size - least.min(size)) as usize + longer(least)).min(size as usize);
        let needed = match self.min_resemblance {
            // A smaller document indexes a shorter prefix. It has at least `least` fingerprints.
            Some(near) if self.indexed(sampling, own) < size as usize => {
                let smallest = Size { fingerprints: least, is_all: false };
                longer(sampling.least_shared(near, smallest)).min(longer(least))
            }
            _ => longer(least),
        };
        Prefix { probed, needed }
    }

    /// Returns the minimum overlap of a document of this size with a reason to drop the document,
    /// or `None` if only the same text is a reason.
    pub(super) fn overlap_min(&self, sampling: Sampling, own: Size) -> Option<u32> {
        let least = self.min_resemblance.into_iter().chain(self.min_containment).reduce(f64::min);
        least.map(|share| sampling.least_shared(share, own))
    }

    /// Tells whether texts of these sizes can share enough for a reason to drop the first.
    pub(super) fn may_fit(&self, sampling: Sampling, [own, other]: [Size; 2]) -> bool {
        let Some(near) = self.min_resemblance.filter(|_| self.min_containment.is_none()) else {
            return true;
        };
        let (a, b) = (own.fingerprints, other.fingerprints);
        let most = Overlap::new(a.min(b), a, b);
        sampling.may_resemble(near, most, [own.is_all, other.is_all])
    }

    /// Tells whether texts of these sizes with this overlap may be a reason to drop the first.
    pub(super) fn may_drop(&self, sampling: Sampling, overlap: Overlap, of: [Size; 2]) -> bool {
        let all = of.map(|size| size.is_all);
        self.min_resemblance.is_some_and(|near| sampling.may_resemble(near, overlap, all))
            || self.min_containment.is_some_and(|share| sampling.may_contain_a(share, overlap, all))
    }

    /// Returns the rank and the value of a similarity that is a reason to drop the first of two
    /// documents.
    fn met(&self, similarity: &Similarity) -> Option<(u8, f64)> {
        let near = self.min_resemblance.filter(|&near| similarity.resembles(near));
        if near.is_some() {
            return Some((1, similarity.resemblance));
        }
        let contained = self.min_containment.filter(|&share| similarity.contains_a(share));
        contained.map(|_| (0, similarity.containment_of_a))
    }

    /// Tells whether this similarity is a reason to drop the first of two documents.
    pub(super) fn is_met(&self, similarity: &Similarity) -> bool {
        self.met(similarity).is_some()
    }
}

impl Reason {
    /// Creates the reason of having the same text as the document `of`.
    pub fn exact(of: Holder) -> Reason {
        let evidence = Evidence { exact: true, standard_error: None, of_sketches: false };
        Reason { rank: 2, similarity: 1.0, evidence, of }
    }

    /// Returns the reason to drop the first document because of the document `of`, if there is a
    /// reason.
    pub fn of(
        options: &DedupSettings,
        similarity: &Similarity,
        of: &dyn Fn() -> Result<Holder>,
    ) -> Result<Option<Reason>> {
        let Some((rank, value)) = options.met(similarity) else { return Ok(None) };
        let evidence = Evidence::of(similarity);
        Ok(Some(Reason { rank, similarity: value, evidence, of: of()? }))
    }

    /// Returns the id of the document that is the reason, if the index of the run may have that
    /// document.
    pub fn of_own(&self) -> Option<&str> {
        self.of.index.is_none().then_some(&self.of.id)
    }

    /// Tells whether the reason is the same text.
    pub fn is_exact(&self) -> bool {
        self.rank == 2
    }

    /// Returns the better of two reasons, and among equal ones the reason with the smaller id.
    pub fn better(a: Option<Reason>, b: Option<Reason>) -> Option<Reason> {
        let (Some(first), Some(second)) = (&a, &b) else { return a.or(b) };
        let order = first.rank.cmp(&second.rank);
        let order = order.then(first.similarity.total_cmp(&second.similarity));
        if order.then_with(|| second.of.id.cmp(&first.of.id)).is_ge() { a } else { b }
    }

    pub fn verdict(self) -> Verdict {
        let Reason { rank, similarity, evidence, of: Holder { id: of, index } } = self;
        match rank {
            2 => Verdict::Exact { of, index },
            1 => Verdict::Near { of, index, resemblance: similarity, evidence },
            _ => Verdict::Contained { of, index, containment: similarity, evidence },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_kind_of_a_verdict_is_its_name_in_json() {
        let (of, index) = (String::from("a"), None);
        let evidence = Evidence { exact: true, standard_error: None, of_sketches: false };
        let (resemblance, containment) = (0.9, 0.9);
        for (verdict, other) in [
            (Verdict::Kept { cut: Vec::new(), kept_as: None, replaces: false }, None),
            (Verdict::Unchanged { cut: Vec::new(), kept_as: None }, None),
            (Verdict::Exact { of: of.clone(), index: index.clone() }, Some("a")),
            (
                Verdict::Near { of: of.clone(), index: index.clone(), resemblance, evidence },
                Some("a"),
            ),
            (Verdict::Contained { of, index, containment, evidence }, Some("a")),
            (Verdict::Passages { cut: Vec::new() }, None),
        ] {
            assert_eq!(serde_json::to_value(&verdict).unwrap()["verdict"], verdict.kind());
            assert_eq!(verdict.is_kept(), matches!(verdict.kind(), "kept" | "unchanged"));
            assert_eq!(verdict.of(), other);
        }
    }

    fn reason() -> impl Strategy<Value = Option<Reason>> {
        let evidence = Evidence { exact: true, standard_error: None, of_sketches: false };
        let reason = (0u8..3, 0u32..3, "[ab]").prop_map(move |(rank, tenths, id)| Reason {
            rank,
            similarity: f64::from(tenths) / 10.0,
            evidence,
            of: Holder::own(&id),
        });
        prop::option::of(reason)
    }

    proptest! {
        #[test]
        fn the_best_reason_is_found_in_any_order(reasons in prop::collection::vec(reason(), 0..6)) {
            let all = reasons.iter().flatten();
            // The order is the same text, resemblance, containment, then similarity, then the
            // smallest id.
            let best = all.min_by(|a, b| {
                let by_rank = b.rank.cmp(&a.rank);
                let by_similarity = by_rank.then(b.similarity.total_cmp(&a.similarity));
                by_similarity.then_with(|| a.of.id.cmp(&b.of.id))
            });
            let forwards = reasons.iter().cloned().fold(None, Reason::better);
            let backwards = reasons.iter().rev().cloned().fold(None, Reason::better);
            let all = reasons.iter().cloned();
            let from_right = all.rfold(None, |best, next| Reason::better(next, best));
            for found in [forwards, backwards, from_right] {
                prop_assert_eq!(found.as_ref(), best);
            }
        }

        #[test]
        fn documents_whose_sizes_do_not_fit_are_no_reason(
            (in_a, in_b) in (1u32..60, 1u32..60), all: [bool; 2], shared in 1u32..60,
            near in prop::option::of(1u32..11), contained in prop::option::of(1u32..11),
        ) {
            let share = |tenths: Option<u32>| tenths.map(|tenths| f64::from(tenths) / 10.0);
            let settings = DedupSettings {
                min_resemblance: share(near),
                min_containment: share(contained),
                cut_passages: None,
                min_left: 0,
                only_against: false,
                scope: None,
                boilerplate: None,
                threads: 1,
                memory_bytes: 0,
                resumable: false,
                temporary: false,
                strict: false,
                keeps_none: false,
            };
            let overlap = Overlap::new(shared.min(in_a).min(in_b), in_a, in_b);
            let of = [(in_a, all[0]), (in_b, all[1])]
                .map(|(fingerprints, is_all)| Size { fingerprints, is_all });
            let estimator = cento_text::scheme::parse("winnow").unwrap().estimator().unwrap();
            let of_runs =
                [Sampling::Runs, Sampling::Rest, Sampling::Other].map(|of| of(estimator));
            for sampling in [Sampling::Sketches, Sampling::Unknown].into_iter().chain(of_runs) {
                if settings.may_drop(sampling, overlap, of) {
                    prop_assert!(settings.may_fit(sampling, of), "{sampling:?}");
                    let least = settings.overlap_min(sampling, of[0]);
                    let has_least = least.is_some_and(|least| overlap.shared >= least);
                    prop_assert!(has_least, "{sampling:?}");
                }
            }
        }
    }
}
