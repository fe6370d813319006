//! `/healthz`, `/readyz`, `/metrics`, `/openapi.json` and `GET /v1/stats`

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::exposition::Format;
use crate::failure::Failure;
use cento_api::http::{Following, Health, StatsResponse};

fn ok(app: &App) -> Json<Health> {
    let ms = |time: Duration| time.as_millis() as u64;
    let following = app.following().map(|following| Following {
        manifest: following.served(),
        newest: following.newest(),
        lag_ms: ms(following.lag()),
        unseen_ms: ms(following.unseen()),
        restarted: following.is_restarted(),
    });
    Json(Health { status: "ok".into(), started: app.status.started, following })
}

/// Check that the process is running.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/healthz",
    tag = "status",
    responses(super::errors::Errors, (status = 200, description = "It is", body = Health))
))]
pub async fn healthz(State(app): State<Arc<App>>) -> Json<Health> {
    ok(&app)
}

/// Check that the service accepts requests, and can write.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/readyz",
    tag = "status",
    responses(super::errors::Errors, (status = 200, description = "It does", body = Health))
))]
pub async fn readyz(State(app): State<Arc<App>>) -> Result<Json<Health>, Failure> {
    check_ready(&app)?;
    Ok(ok(&app))
}

fn check_ready(app: &App) -> Result<(), Failure> {
    if app.is_draining.load(Ordering::Relaxed) {
        return Err(Failure::unavailable("the service stops soon; send requests to another"));
    }
    if app.status.failed.load(Ordering::Acquire) {
        return Err(Failure::unavailable("the last write failed; searches continue"));
    }
    if app.status.stale.load(Ordering::Relaxed) {
        let message = "the last commit cannot be opened; searches see the one before";
        return Err(Failure::unavailable(message));
    }
    if app.following().is_some_and(|following| following.is_late()) {
        let message = "the index that is served is older than allowed; searches continue";
        return Err(Failure::unavailable(message));
    }
    Ok(())
}

/// The document of this API.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/openapi.json",
    tag = "status",
    responses(super::errors::Errors, (status = 200, description = "OpenAPI 3.1", content_type = "application/json"))
))]
pub async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], crate::known_fields::OPENAPI).into_response()
}

/// Return the metrics, for Prometheus.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/metrics",
    tag = "status",
    security(("token" = [])),
    responses((
        status = 200,
        description = "OpenMetrics 1.0, or the text format 0.0.4 to those that accept it more",
        content((String = "application/openmetrics-text"), (String = "text/plain"))
    ), super::errors::Errors)
))]
pub async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    if let Some(following) = app.following() {
        following.measure(&app.metrics);
    }
    app.metrics.ready.set(check_ready(&app).is_ok().into());
    let format = Format::accepted(&headers);
    let text = format.write(app.metrics.text());
    let headers = [(header::CONTENT_TYPE, format.content_type()), (header::VARY, "accept")];
    (headers, text).into_response()
}

/// Return the size of the index, and the work in progress.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/stats",
    tag = "status",
    security(("token" = [])),
    responses(super::errors::Errors, (status = 200, description = "As of the last commit", body = StatsResponse))
))]
pub async fn stats(State(app): State<Arc<App>>) -> Result<Json<StatsResponse>, Failure> {
    let searcher = app.searcher();
    let index = app.run(move |_| searcher.snapshot().stats()).await?;
    let status = &app.status;
    Ok(Json(StatsResponse {
        index,
        stores_text: app.searcher().snapshot().config().store_text,
        version: env!("CARGO_PKG_VERSION").into(),
        uncommitted: status.uncommitted.load(Ordering::Relaxed),
        run: status.run(),
        compacting: status.compacting.load(Ordering::Relaxed),
    }))
}
