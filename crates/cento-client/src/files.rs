//! Files as texts and documents.

use crate::api::{FileBody, GroupingRequest, GroupingResponse, TextsResponse};
use crate::client::{Client, Load, json};
use crate::multipart::Multipart;
use cento_api::Result;

impl Client {
    /// Returns the texts of the documents in files. The service stores nothing.
    ///
    /// # Errors
    /// As [`search`](Client::search).
    pub fn texts(&self, files: &[FileBody<'_>]) -> Result<TextsResponse> {
        self.post("/v1/texts", Load::Files(Multipart::new(files, None)))
    }

    /// Makes documents of several files, by the names of the files.
    ///
    /// # Errors
    /// As [`search`](Client::search).
    pub fn grouping(&self, request: &GroupingRequest) -> Result<GroupingResponse> {
        self.post("/v1/grouping", json(request)?)
    }
}
