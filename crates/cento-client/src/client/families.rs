//! Families of passages, and the lineage of documents, in the index of a service.

use serde::de::DeserializeOwned;

use cento_api::Result;

use super::{Client, FAMILIES, LINEAGE, Load, json};
use crate::api::{
    FamiliesRequest, FamiliesResponse, FamiliesSummary, LineageRequest, LineageResponse,
    LineageSummary,
};

impl Client {
    /// Finds the families of passages: every reused passage once, with the documents that carry the
    /// passage. Waits as long as the service takes.
    ///
    /// # Errors
    /// As [`search`](Client::search).
    pub fn families(&self, request: &FamiliesRequest) -> Result<FamiliesResponse> {
        let (summary, families) = self.lines(FAMILIES, json(request)?)?;
        let FamiliesSummary { lines, .. } = summary;
        self.counted(lines, families.len())?;
        Ok(FamiliesResponse { summary, families })
    }

    /// Finds the lineage of documents: the ancestor of each version. Waits as long as the service
    /// takes.
    ///
    /// # Errors
    /// As [`search`](Client::search).
    pub fn lineage(&self, request: &LineageRequest) -> Result<LineageResponse> {
        let (summary, documents) = self.lines(LINEAGE, json(request)?)?;
        let LineageSummary { lines, .. } = summary;
        self.counted(lines, documents.len())?;
        Ok(LineageResponse { summary, documents })
    }

    /// Returns the first line of an answer, and the remaining lines.
    fn lines<S: DeserializeOwned, T: DeserializeOwned>(
        &self,
        path: &str,
        load: Load<'_>,
    ) -> Result<(S, Vec<T>)> {
        let answer = self.ask("POST", path, &load)?;
        let mut lines = answer.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let summary = self.parse(lines.next().unwrap_or_default())?;
        Ok((summary, lines.map(|line| self.parse(line)).collect::<Result<_>>()?))
    }

    /// Checks that an answer has as many lines as the summary states.
    fn counted(&self, expected: u64, found: usize) -> Result<()> {
        if expected == found as u64 { Ok(()) } else { Err(self.unexpected()) }
    }
}
