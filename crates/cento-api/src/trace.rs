//! Traces: where does every part of a text come from?

use serde::{Deserialize, Serialize};

use crate::{TimeOrder, Unit};

/// Where every part of a text comes from: the spans that stored documents also have, in order.
///
/// The four shares count the letters and digits of the text, or the tokens of a program, without
/// boilerplate. Together they are 1, unless nothing counts. Only matched words of passages count as
/// reused: an edited word within a span is new.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Trace {
    /// The number of letters and digits, or tokens, that count.
    pub size: u64,
    /// Whether `size` counts letters and digits, or tokens.
    pub unit: CountUnit,
    /// The share that stored documents have, without common and cited text.
    pub reused: f64,
    /// The share in common spans.
    pub common: f64,
    /// The share that stored documents have, and that the text quotes in quotation marks or lists
    /// in its bibliography.
    pub cited: f64,
    /// The share that no stored document has, as far as the search found.
    pub new: f64,
    /// Whether dates or the order of addition decide which document was first. Dates decide if you
    /// requested a field and a carrier has a date.
    pub order: TimeOrder,
    /// The documents that contain the whole text, word for word. Only for a text of 2 to 20 words,
    /// without the option `without`, and if texts are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containing: Option<ContainingDocuments>,
    /// The spans, in the order of the text. Spans do not overlap. The passage with the most
    /// evidence comes first, and documents with passages inside this span are its carriers. The
    /// uncovered part of a further passage becomes a span if it is more than half of the passage.
    /// Otherwise it joins the neighboring span.
    pub spans: Vec<TracedSpan>,
}

/// The documents that contain a text, word for word: without case, punctuation and line breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContainingDocuments {
    /// How many there are. The number is exact, because cento reads all texts that may contain it.
    pub documents: u64,
    /// The ids of the first of them in the order of addition, at most ten.
    pub ids: Vec<String>,
}

/// A span of a text that stored documents have too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TracedSpan {
    /// The range of the span in the text, half-open, in bytes.
    pub a: (u32, u32),
    /// The part of the text where the span begins, if the text has parts. Page and line then count
    /// from the beginning of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_part: Option<String>,
    /// The page on which the span begins, counted from 1, if the text has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_page: Option<u32>,
    /// The line on which the span begins, counted from 1, if the text has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_line: Option<u32>,
    /// The text of the span.
    pub text: String,
    /// The number of words of the span, or tokens of a program.
    pub words: u32,
    /// How many of these words the best carrier has.
    pub matched: u32,
    /// The information of the best carrier's passage, in bits; none without texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<f64>,
    /// How many unrelated documents are expected to have a passage with as much evidence by chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// Whether more than half of the documents of the index, and at least eight, carry the span.
    /// Such a span counts as common, not as reused.
    pub is_common: bool,
    /// The number of documents with the span, or with at least half as much of the span as the best
    /// carrier.
    pub carriers: u64,
    /// Whether the number of carriers is exact, because cento compared all documents that share
    /// fingerprints with the span. If not, documents with few of the fingerprints may be missing.
    /// Documents that cento did not compare count if they have half of the fingerprints.
    pub carriers_exact: bool,
    /// The carrier with the most of the span, or the first of equal carriers.
    pub best: SpanCarrier,
    /// The first carrier, as [`Trace::order`] says.
    pub first: SpanCarrier,
    /// The carriers that you requested, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<SpanCarrier>,
}

/// A stored document that has a span of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpanCarrier {
    /// The id of the stored document.
    pub id: String,
    /// The index with the document, if you searched several indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The date of the document as in `meta`, if dates decide which carrier is first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// When it was added (RFC 3339).
    pub added: String,
    /// The range of the passage, half-open.
    pub b: (u32, u32),
    /// Whether the range counts bytes or tokens.
    #[serde(default, skip_serializing_if = "Unit::is_bytes")]
    pub unit: Unit,
    /// The part of the document where the passage begins, if the document has parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_part: Option<String>,
    /// The page on which the passage begins, counted from 1, if the document has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_page: Option<u32>,
    /// The line on which the passage begins, counted from 1, if the document has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b_line: Option<u32>,
    /// The words of the passage. Only for the best and the first carrier, if texts are stored.
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
