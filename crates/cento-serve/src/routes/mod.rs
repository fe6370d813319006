//! Which questions does the service answer?
//!
//! One file a kind of question. The document of the API is made of the same functions.

mod compare;
mod documents;
mod maintenance;
mod page;
mod pairwise;
mod search;
mod status;

use std::sync::Arc;

use axum::body::Bytes;
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::{Router, http};
use serde_json::{Map, Value, json};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::app::App;
use super::failure::Failure;
use super::guard;
use cento_client::api::ErrorBody;

/// What the document says of the API as a whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "cento",
        description = "Which stored documents are near-duplicates of this one, which ones does it \
                       borrow from, and exactly which passages?"
    ),
    components(schemas(ErrorBody)),
    modifiers(&Tokens)
)]
struct Document;

/// Every route but those that say otherwise wants a token, if the service has tokens.
struct Tokens;

impl utoipa::Modify for Tokens {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
    }
}

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
) -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Document::openapi())
        .merge(readers)
        .merge(writers)
        .merge(everybody())
        .split_for_parts()
}

/// The document of the API, as JSON; of a service that has tokens or not.
pub fn openapi_json(has_tokens: bool) -> Bytes {
    let (_, document) = routed(readers(), writers());
    let mut document = serde_json::to_value(document).expect("the document is made of strings");
    if !has_tokens {
        for operation in operations(&mut document) {
            operation.remove("security");
        }
    }
    let schemas = &mut document["components"]["schemas"];
    // What serde checks and its types do not say.
    for name in ["SearchRequest", "PassagesRequest"] {
        let one = ["text", "id", "signature"].map(|field| json!({"required": [field]}));
        schemas[name]["oneOf"] = json!(one);
    }
    for variant in schemas["TextOrId"]["oneOf"].as_array_mut().into_iter().flatten() {
        variant["additionalProperties"] = json!(false);
    }
    schemas["DocumentBody"]["properties"]["id"]["type"] = json!(["string", "integer"]);
    document.to_string().into()
}

fn operations(document: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let paths = document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut);
    let methods = paths.filter_map(Value::as_object_mut).flat_map(Map::values_mut);
    methods.filter_map(Value::as_object_mut)
}

/// All routes.
pub fn router(app: Arc<App>) -> Router {
    let readers = readers().route_layer(from_fn_with_state(app.clone(), guard::readers));
    let writers = writers().route_layer(from_fn_with_state(app.clone(), guard::writers));
    let (router, _) = routed(readers, writers);
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
