//! Requests for watches over HTTP.

use serde::{Deserialize, Serialize};

use super::SignatureBody;
use crate::{PartText, Thresholds, Watch, WatchOptions, Webhook};

/// A new watch: one of `text`, `parts`, `id` and `signature`, and the conditions for a match.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WatchRequest {
    /// Its name, as the id of a document may be; one made from the request, but for the secret of
    /// its webhook, by default. A watch of this name with other content is a conflict, one with the
    /// same content stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Watch for this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(pattern = r"^[^\x00]*$"))]
    pub text: Option<String>,
    /// Watch for a text of these parts, such as the files of a submission: their texts, joined with
    /// line feeds. Passages of events name their parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<PartText>>,
    /// Watch for documents like the stored document with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Watch for a signature made elsewhere, as `cento method fingerprint --format json` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureBody>,
    /// The receiver of the events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    /// The thresholds that a document must meet.
    #[serde(flatten, deserialize_with = "crate::json::flattened")]
    pub thresholds: Thresholds,
    /// The other conditions.
    #[serde(flatten, deserialize_with = "crate::json::flattened")]
    pub options: WatchOptions,
}

/// The watches to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams))]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct ListWatchesRequest {
    /// The `cursor` of the previous page; leave it out for the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The number of watches in a page, 1 to 1,000; 100 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<usize>,
}

/// A page of watches, in the order of the bytes of their names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListWatchesResponse {
    /// The watches.
    pub watches: Vec<Watch>,
    /// The start of the next page; missing from the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// The events to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams))]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct EventsRequest {
    /// Read the events after this cursor; from the first one that is kept by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// The maximum number of events, 1 to 1,000; 100 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<usize>,
    /// Without an event, wait for one, at most this number of seconds, and at most half of the
    /// time that the service has for a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(maximum = 3600))]
    pub wait: Option<u32>,
}
