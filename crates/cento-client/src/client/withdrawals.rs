//! Withdrawal of documents by a service.

use cento_api::Result;

use super::{Client, Load, WITHDRAWALS, json};
use crate::api::{
    ForgetRequest, ForgetResponse, WithdrawRequest, WithdrawResponse, WithdrawalsResponse,
};

impl Client {
    /// Withdraws a document and its copies, or lists the copies and the quoting documents.
    ///
    /// # Errors
    /// As [`search`](Client::search).
    pub fn withdraw(&self, request: &WithdrawRequest) -> Result<WithdrawResponse> {
        self.post(WITHDRAWALS, json(request)?)
    }

    /// Returns the withdrawn documents.
    ///
    /// # Errors
    /// As [`search`](Client::search).
    pub fn withdrawals(&self) -> Result<WithdrawalsResponse> {
        self.parse(&self.ask("GET", WITHDRAWALS, &Load::Nothing)?)
    }

    /// Lifts the withdrawal of the document with this id.
    ///
    /// # Errors
    /// As [`search`](Client::search).
    pub fn forget_withdrawal(&self, id: &str) -> Result<ForgetResponse> {
        self.post("/v1/withdrawals/forget", json(&ForgetRequest { id: id.to_owned() })?)
    }
}
