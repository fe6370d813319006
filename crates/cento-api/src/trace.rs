//! Traces: where does every part of a text come from?

use serde::{Deserialize, Serialize};

use crate::{TimeOrder, Unit};

/// Where every part of a text comes from: its spans that stored documents have too, in order.
///
/// The four shares count the letters and digits of the text, or the tokens of a program, without
/// boilerplate. Together they are 1, unless nothing counts. Only matched words of passages count as
/// reused: an edited word within a span is new.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Trace {
    /// The number of letters and digits, or tokens, that count.
    pub size: u64,
    /// What `size` counts.
    pub unit: CountUnit,
    /// The share that stored documents have, and that is neither common nor cited.
    pub reused: f64,
    /// The share in common spans.
    pub common: f64,
    /// The share that stored documents have, and that the text has in quotation marks or in its
    /// bibliography.
    pub cited: f64,
    /// The share that no stored document has, as far as the search found.
    pub new: f64,
    /// What decides which document was first: dates, unless none were requested or no carrier has
    /// one.
    pub order: TimeOrder,
    /// The spans, in the order of the text. They do not overlap: the passage that says most comes
    /// first, and documents with passages within it are its carriers. Of another passage, a part
    /// that no span has begins a span if it is more than half of the passage, and is otherwise
    /// added to the span beside it.
    pub spans: Vec<TracedSpan>,
}

/// A span of a text that stored documents have too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TracedSpan {
    /// Its bytes in the text, half-open.
    pub a: (u32, u32),
    /// The part of the text where it begins, if the text has parts. Page and line then count from
    /// the beginning of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_part: Option<String>,
    /// The page on which it begins, counted from 1, if the text has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_page: Option<u32>,
    /// The line on which it begins, counted from 1, if the text has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_line: Option<u32>,
    /// Its text.
    pub text: String,
    /// Its words, of a program its tokens.
    pub words: u32,
    /// How many of these words the best carrier has too.
    pub matched: u32,
    /// The information of the best carrier's passage, in bits; none without texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<f64>,
    /// How many unrelated documents have a passage that says as much, by chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// Whether more than half of the documents of the index carry it, and at least eight do: then
    /// it counts as common, and not as reused.
    pub is_common: bool,
    /// The number of documents that have it: at least half as much of it as the best carrier has.
    pub carriers: u64,
    /// Whether the number is exact, because all documents that share fingerprints with the span
    /// were compared. If not, documents with few of its fingerprints may be missing, and those that
    /// no comparison was left for are counted if they have half of them.
    pub carriers_exact: bool,
    /// The carrier that has most of it; of equals the first.
    pub best: SpanCarrier,
    /// The first carrier, as [`Trace::order`] says.
    pub first: SpanCarrier,
    /// The carriers that were requested, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<SpanCarrier>,
}

/// A stored document that has a span of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpanCarrier {
    /// Its id.
    pub id: String,
    /// The index that has it, if several were searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Its date as `meta` has it, if there is one and dates decide which carrier is first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// When it was added (RFC 3339).
    pub added: String,
    /// The place of its passage, half-open.
    pub b: (u32, u32),
    /// What the place counts.
    #[serde(default, skip_serializing_if = "Unit::is_bytes")]
    pub unit: Unit,
    /// The part of the document where the passage begins, if the document has parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_part: Option<String>,
    /// The page on which it begins, counted from 1, if the document has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_page: Option<u32>,
    /// The line on which it begins, counted from 1, if the document has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_line: Option<u32>,
    /// The words of its passage, of the best and the first carrier, if texts are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How alike the two passages are, 0 to 1.
    pub similarity: f64,
}

/// What the size of a text counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum CountUnit {
    /// Letters and digits; in a text without any, characters that are not white space.
    #[default]
    Characters,
    /// Tokens of a program.
    Tokens,
}
