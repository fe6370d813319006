//! Watches and their events.

use crate::api::{EventsRequest, ListWatchesRequest, ListWatchesResponse, WatchRequest};
use crate::client::{Client, json, percent_encoded};
use cento_api::{Result, Watch, WatchEvents};

impl Client {
    /// Adds a watch, which the documents of later commits are matched with. Repeating the request
    /// for an existing watch changes nothing.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn add_watch(&self, request: &WatchRequest) -> Result<Watch> {
        self.post("/v1/watches", json(request)?)
    }

    /// Lists a page of the watches, in the order of their names.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn list_watches(&self, request: &ListWatchesRequest) -> Result<ListWatchesResponse> {
        let ListWatchesRequest { cursor, limit } = request;
        let given = [("cursor", cursor.clone()), ("limit", limit.map(|limit| limit.to_string()))];
        self.get(&with_query("/v1/watches", given))
    }

    /// Returns the watch with this name.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn watch(&self, name: &str) -> Result<Watch> {
        self.get(&format!("/v1/watches/{}", percent_encoded(name)))
    }

    /// Removes the watch with this name. Its events stay.
    ///
    /// # Errors
    /// As [`search`](Self::search), and when no watch has the name.
    pub fn remove_watch(&self, name: &str) -> Result<Watch> {
        self.delete(&format!("/v1/watches/{}", percent_encoded(name)))
    }

    /// Reads the events of a watch, or of all watches.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn events(&self, watch: Option<&str>, request: &EventsRequest) -> Result<WatchEvents> {
        let EventsRequest { after, limit, wait } = *request;
        let given = [
            ("after", after.map(|after| after.to_string())),
            ("limit", limit.map(|limit| limit.to_string())),
            ("wait", wait.map(|wait| wait.to_string())),
        ];
        let path = match watch {
            Some(name) => format!("/v1/watches/{}/events", percent_encoded(name)),
            None => "/v1/events".to_owned(),
        };
        self.get(&with_query(&path, given))
    }
}

fn with_query<const N: usize>(path: &str, given: [(&str, Option<String>); N]) -> String {
    let given = given.into_iter().filter_map(|(name, value)| {
        value.map(|value| format!("{name}={}", percent_encoded(&value)))
    });
    format!("{path}?{}", given.collect::<Vec<_>>().join("&"))
}
