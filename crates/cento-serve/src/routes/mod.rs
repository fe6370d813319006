//! Which questions does the service answer?
//!
//! One file a kind of question. The document of the API is made of the same functions.

mod compare;
mod documents;
mod maintenance;
pub mod openapi;
mod page;
mod pairwise;
mod search;
mod status;

use std::sync::Arc;

use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::{Router, http};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::app::App;
use super::failure::Failure;
use super::guard;

/// The routes for those who may read.
fn readers() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(search::search))
        .routes(routes!(compare::compare))
        .routes(routes!(compare::passages))
        .routes(routes!(pairwise::pairwise))
        .routes(routes!(documents::stored))
        .routes(routes!(status::stats))
        .routes(routes!(status::metrics))
}

/// The routes for those who may write.
fn writers() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(documents::add))
        .routes(routes!(documents::remove_one))
        .routes(routes!(documents::remove))
        .routes(routes!(maintenance::commit))
        .routes(routes!(maintenance::compact))
}

/// The routes for everybody.
fn everybody() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(status::healthz))
        .routes(routes!(status::readyz))
        .routes(routes!(status::openapi))
}

fn routed(
    readers: OpenApiRouter<Arc<App>>,
    writers: OpenApiRouter<Arc<App>>,
    everybody: OpenApiRouter<Arc<App>>,
) -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(openapi::Document::openapi())
        .merge(readers)
        .merge(writers)
        .merge(everybody)
        .split_for_parts()
}

/// All routes.
pub fn router(app: Arc<App>) -> Router {
    let readers = readers().route_layer(from_fn_with_state(app.clone(), guard::readers));
    let writers = writers().route_layer(from_fn_with_state(app.clone(), guard::writers));
    let (router, _) = routed(readers, writers, everybody());
    router
        .merge(page::routes())
        .fallback(|| async {
            Failure::new(
                http::StatusCode::NOT_FOUND,
                "not_found",
                "no such route; see /openapi.json",
            )
        })
        .method_not_allowed_fallback(|| async {
            let message = "the route does not allow this method; see /openapi.json";
            Failure::new(http::StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
        })
        .layer(map_response(explain))
        .layer(CatchPanicLayer::custom(|_| {
            tracing::error!("a request triggered a defect; please report it");
            Failure::internal().into_response()
        }))
        .layer(from_fn_with_state(app.clone(), guard::guard))
        .with_state(app)
}

/// Says in JSON what axum refuses with a plain sentence, such as a parameter that is none.
async fn explain(response: Response) -> Response {
    let is_plain = response
        .headers()
        .get(http::header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if !response.status().is_client_error() || !is_plain {
        return response;
    }
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), 4096).await.unwrap_or_default();
    Failure::new(status, "bad_request", String::from_utf8_lossy(&body)).into_response()
}
