//! Reading, listing, changing and removing of the documents of a service.

use cento_api::Result;
use serde_json::{Map, Value};

use super::{Client, Load, json, percent_encoded, with};
use crate::api::{
    Commit, DocumentResponse, ListRequest, ListResponse, PatchRequest, PatchResponse,
    RemoveRequest, RemoveResponse,
};

impl Client {
    /// Reads a stored document.
    ///
    /// # Errors
    /// As [`search`](Client::search).
    pub fn document(&self, id: &str) -> Result<DocumentResponse> {
        let path = format!("/v1/documents/{}", percent_encoded(id));
        self.parse(&self.ask("GET", &path, &Load::Nothing)?)
    }

    /// Lists a page of the stored documents, in the order of their ids.
    ///
    /// # Errors
    /// As [`search`](Client::search).
    pub fn list(&self, request: &ListRequest) -> Result<ListResponse> {
        let ListRequest { cursor, limit, filter } = request;
        let limit = limit.map(|limit| limit.to_string());
        let given = [("cursor", cursor), ("limit", &limit), ("filter", filter)];
        let given = given.into_iter().filter_map(|(name, value)| {
            value.as_ref().map(|value| format!("{name}={}", percent_encoded(value)))
        });
        let path = format!("/v1/documents?{}", given.collect::<Vec<_>>().join("&"));
        self.parse(&self.ask("GET", &path, &Load::Nothing)?)
    }

    /// Changes the meta object of a stored document by a merge patch. The text stays.
    ///
    /// # Errors
    /// When the document does not exist. Also as [`search`](Client::search).
    pub fn patch_meta(
        &self,
        id: &str,
        patch: Map<String, Value>,
        commit: Commit,
    ) -> Result<PatchResponse> {
        let path = format!("/v1/documents/{}", percent_encoded(id));
        let load = json(&PatchRequest { meta: patch })?;
        self.parse(&self.ask("PATCH", &with(commit, &path), &load)?)
    }

    /// Removes documents.
    ///
    /// # Errors
    /// As [`search`](Client::search).
    pub fn remove(&self, ids: Vec<String>, commit: Commit) -> Result<RemoveResponse> {
        let request = RemoveRequest { ids: Some(ids), ..RemoveRequest::default() };
        self.remove_as(&request, commit)
    }

    /// Removes the documents listed or found by a request, or only counts the documents.
    ///
    /// # Errors
    /// As [`search`](Client::search).
    pub fn remove_as(&self, request: &RemoveRequest, commit: Commit) -> Result<RemoveResponse> {
        self.post(&with(commit, "/v1/remove"), json(request)?)
    }
}
