//! `/v1/withdrawals`

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};

use crate::app::{App, StopOnDrop};
use crate::command::Command;
use crate::failure::Failure;
use crate::turns::client_of;
use cento::{Error, Stop};
use cento_api::http::{
    ForgetRequest, ForgetResponse, ListedWithdrawal, WithdrawRequest, WithdrawResponse,
    WithdrawalsResponse,
};
use cento_collections::withdraw::{self, Plan};

/// Withdraw a document with its copies, and list the documents that quote it.
///
/// The document and its copies are removed in one commit; from then on the service refuses them
/// (`withdrawn`). Documents that quote it stay. All texts are read, and other changes wait
/// meanwhile; searches continue. With `dry_run` nothing is changed; additions and removals that
/// were accepted before are committed.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/withdrawals",
    operation_id = "withdraw",
    tag = "documents",
    security(("token" = [])),
    request_body = WithdrawRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "Withdrawn, or with `dry_run` found", body = WithdrawResponse),
        (status = 409, description = "A compaction is running, or no texts are stored",
            body = cento_api::http::ErrorBody),
    )
))]
pub async fn withdraw(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<WithdrawResponse>, Failure> {
    let client = client_of(&request);
    let request: WithdrawRequest = app.write_body(request).await?.json()?;
    request.options.check()?;
    if request.dry_run {
        // Commit first, because the real withdrawal would see the accepted changes.
        app.command(Command::Commit).await?;
        let searcher = app.searcher();
        let found = app.in_turn(client, move |stop, turn| {
            turn.wait(&stop)?;
            let WithdrawRequest { id, options, .. } = &request;
            let snapshot = searcher.snapshot();
            let (withdrawal, again) = match Plan::new(snapshot, id, options, &stop) {
                Err(Error::UnknownId { .. }) => {
                    (withdraw::earlier_record(snapshot, id, &stop)?, true)
                }
                plan => (plan?.withdrawal().clone(), false),
            };
            Ok(WithdrawResponse { done: false, again, withdrawal })
        });
        return Ok(Json(found.await?));
    }
    // The stop is set when the client has gone. A committed withdrawal is completed nevertheless.
    let stop = StopOnDrop(Stop::new());
    let own = stop.0.clone();
    let done = app.command(|reply| Command::Withdraw { request, stop: own, reply });
    Ok(Json(done.await?))
}

/// List the withdrawn documents.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/withdrawals",
    operation_id = "withdrawals",
    tag = "documents",
    security(("token" = [])),
    responses(
        super::errors::Errors,
        (status = 200, description = "The withdrawn documents", body = WithdrawalsResponse),
    )
))]
pub async fn list(State(app): State<Arc<App>>) -> Result<Json<WithdrawalsResponse>, Failure> {
    let searcher = app.searcher();
    let listed = app.run(move |_| {
        let all = searcher.snapshot().index().withdrawals()?;
        Ok(WithdrawalsResponse { withdrawals: all.iter().map(ListedWithdrawal::of).collect() })
    });
    Ok(Json(listed.await?))
}

/// Lift the withdrawal of a document: it may be added again.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/withdrawals/forget",
    operation_id = "forget_withdrawal",
    tag = "documents",
    security(("token" = [])),
    request_body = ForgetRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "Lifted: durably", body = ForgetResponse),
    )
))]
pub async fn forget(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<ForgetResponse>, Failure> {
    let ForgetRequest { id } = app.write_body(request).await?.json()?;
    Ok(Json(app.command(|reply| Command::Forget { id, reply }).await?))
}
