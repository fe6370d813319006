//! Messages between the service and its clients.
//!
//! These types are the bodies of requests and answers of HTTP API v1, used by both sides. Answers
//! have the form of `--format json` on the command line. New versions may add fields, but rename
//! none.

mod compare;
mod documents;
mod families;
mod files;
mod grouping;
mod maintenance;
mod pairs;
mod report;
#[cfg(feature = "openapi")]
mod schema;
mod search;
mod shards;
mod signature;
mod watches;
mod withdrawals;

pub use compare::{CompareRequest, CompareResponse, PassagesRequest, PassagesResponse, TextOrId};
pub use documents::{
    AddResponse, AddedDocument, Commit, DocumentBody, DocumentOfParts, DocumentResponse,
    ListRequest, ListResponse, ListedDocument, PatchRequest, PatchResponse, RecordError,
    RemoveRequest, RemoveResponse, StoredPart, When,
};
pub use families::{
    FamiliesRequest, FamiliesResponse, FamiliesSummary, LineageRequest, LineageResponse,
    LineageSummary, ValueWithoutDate,
};
pub use files::{
    CompareFilesRequest, FileAnswer, FileBody, FileReason, FileText, FilesRequest, NotRead,
    OnlyFilesRequest, PairsFilesRequest, SearchFilesResponse, TextsResponse,
};
pub use grouping::{FileOfDocument, FilesOfDocument, GroupingRequest, GroupingResponse};
pub use maintenance::{
    CommitResponse, CompactRequest, CompactResponse, Following, Health, MergeRequest, Run,
    StatsResponse,
};
pub use pairs::{DocumentBoilerplate, PairsRequest, PairsResponse};
pub use report::{PairsReportRequest, ReportRequest};
pub use search::{CANDIDATES_MAX, HITS_MAX, SearchRequest};
pub use shards::{ShardCandidatesRequest, ShardFrequenciesRequest, ShardSpansRequest};
pub use signature::SignatureBody;
pub use watches::{EventsRequest, ListWatchesRequest, ListWatchesResponse, WatchRequest};
pub use withdrawals::{
    ForgetRequest, ForgetResponse, ListedWithdrawal, WithdrawRequest, WithdrawResponse,
    WithdrawalsResponse,
};

use serde::{Deserialize, Serialize};

/// The reason for refusing a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// The reason.
    pub error: ErrorInfo,
}

/// The reason for an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorInfo {
    /// The code, for programs: it does not change.
    #[cfg_attr(feature = "openapi", schema(example = "invalid_argument"))]
    pub code: String,
    /// A sentence, for people.
    pub message: String,
    /// The field of the request that cannot be used, if the code is `invalid_argument` and the
    /// cause is a single field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// The feature that the service was built without, if the code is `unsupported`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// The missing field of a record, if the code is `missing_field`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The number of the request, for finding it in the logs of the service and of proxies; missing
    /// from the single answers to a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
